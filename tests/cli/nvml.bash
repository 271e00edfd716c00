# GPUs that are not there: by a stand-in for NVML, and leases of the test's own.

# nvml PLAN: the machine has what PLAN says; see the stand-in.
nvml() {
  if [ ! -e "$TMP/lib/libnvidia-ml.so.1" ]; then
    command -v cc >/dev/null || skip "needs a C compiler"
    mkdir -p "$TMP/lib"
    cc -D_GNU_SOURCE -shared -fPIC -o "$TMP/lib/libnvidia-ml.so.1" \
      "$BATS_TEST_DIRNAME/../stand-ins/nvml/nvml.c"
  fi
  export LD_LIBRARY_PATH=$TMP/lib NVML_STAND_IN=$1
  export JOBRUN_LOCK_DIR=$TMP/lock
}

# gpus FILE ID COMMAND COUNT [MORE OF trainingInput [MORE OF jobrun]]: a job of
# one master that has so many
gpus() {
  job "$1" "$2" "$3" "  masterConfig: {acceleratorConfig: {type: NVIDIA_H100_80GB, count: $4}}
${5:-}"
  printf '  provider: local\n%s\n' "${6:-}" >>"$1"
}

waits() {
  [[ $(jobrun status "$1") == *"waits: $2"* ]]
}

# held ID: goes on until the file ID.go is there, and says in `order` that it
# has begun.
held() {
  echo "echo $1 >>$TMP/order; until [ -e $TMP/$1.go ]; do sleep 0.05; done"
}
