# Random graphs of jobs that are after each other, while what keeps them ends.
# bats file_tags=slow
load helper

@test "each job of a random graph runs once, after those that it is after" {
  export JOBRUN
  if [ "${JOBRUN_TEST_ALL:-}" = 1 ]; then
    "$BATS_TEST_DIRNAME/../soak/after"
  else
    "$BATS_TEST_DIRNAME/../soak/after" --rounds 4 --seed 17
  fi
}

@test "on Slurm, too" {
  export JOBRUN
  [ "${JOBRUN_TEST_ALL:-}" = 1 ] || skip "takes minutes: make test-all does it"
  run "$BATS_TEST_DIRNAME/../soak/after" --slurm --rounds 50
  echo "$output"
  [ "$status" = 0 ]
}
