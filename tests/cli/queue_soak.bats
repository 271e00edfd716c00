# Runs of one machine that wait for each other, while some are killed.
# bats file_tags=slow
load helper

SOAK=$BATS_TEST_DIRNAME/../soak/queue

# sample FEW ALL
sample() {
  [ "$JOBRUN_TEST_ALL" = 1 ] && echo "$2" || echo "$1"
}

@test "64 GPUs, random counts and kills: never one twice, none lost, in order" {
  command -v cc >/dev/null || skip "needs a C compiler"
  export JOBRUN
  "$SOAK" --devices 64 --runs "$(sample 16 200)" --kills "$(sample 5 60)"
}

@test "64 GPUs of AMD's: the same" {
  unshare -m mount -t tmpfs jobrun-test /sys/class 2>/dev/null || skip "needs mounts of its own"
  export JOBRUN
  "$SOAK" --devices 64 --amd --runs "$(sample 8 200)" --kills "$(sample 3 60)"
}

@test "thirty jobs, four at a time, are in order, whoever is killed" {
  export JOBRUN
  "$SOAK" --at-once 4 --runs 30 --kills "$(sample 4 8)" --idle-ms "$(sample 0 200)"
}
