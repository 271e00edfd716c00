# Epochs and checkpoints while consumers and trainers stop anywhere.
# bats file_tags=slow
load helper

SOAK=$BATS_TEST_DIRNAME/../soak

# sample FEW ALL
sample() {
  [ "${JOBRUN_TEST_ALL:-}" = 1 ] && echo "$2" || echo "$1"
}

# The sample is the same each time; all of it takes a seed of its own.
seed() {
  [ "${JOBRUN_TEST_ALL:-}" = 1 ] && echo "$RANDOM" || echo 17
}

@test "every sample of an epoch comes exactly once, whoever reads it" {
  export JOBRUN SEED
  SEED=$(seed)
  echo "SEED=$SEED"
  "$SOAK/data" "$(sample 6 1000)"
}

@test "what a start resumes from is whole, and nothing safe is dropped" {
  export JOBRUN SEED
  SEED=$(seed)
  echo "SEED=$SEED"
  "$SOAK/checkpoints" "$(sample 4 500)"
}
