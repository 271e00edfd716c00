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

# host_gpus hN COUNT [MODEL]: before sshd_up, a host whose nvidia-smi lists so
# many, and which has leases of its own.  $SSH/hN/busy: lines "INDEX, PID" of
# processes there.  $SSH/hN/slices: how many slices the first GPU has.
host_gpus() {
  local dir=$TMP/ssh/$1
  mkdir -p "$dir/bin"
  cat >"$dir/bin/nvidia-smi" <<S
#!/bin/sh
case \$1 in
  *compute-apps*)
    [ ! -e $dir/busy ] || sed 's/^/GPU-$1-/' $dir/busy
    exit ;;
  -L)
    echo "GPU 0: a (UUID: GPU-$1-0)"
    for i in \$(seq "\$(cat $dir/slices)"); do echo "  MIG 1g.10gb Device \$i: (UUID: MIG-$1-\$i)"; done
    exit ;;
esac
i=0
while [ \$i -lt $2 ]; do
  [ -e $dir/slices ] && [ \$i = 0 ] && mig=Enabled || mig=Disabled
  echo "\$i, GPU-$1-\$i, ${3:-NVIDIA H100 80GB HBM3}, 00000000:0\$i:00.0, 81559, 3, 97, 34, 0, \$mig"
  i=\$((i + 1))
done
S
  chmod +x "$dir/bin/nvidia-smi"
  echo "JOBRUN_LOCK_DIR=$dir/lock PATH=$dir/bin:$PATH" >"$dir/env"
}

# unshared COMMAND...: where /run/lock can't be written to; skips where that
# can't be had
unshared() {
  unshare -m mount -t tmpfs -o ro jobrun-test /run/lock 2>/dev/null || skip "needs mounts of its own"
  unshare -m sh -c 'mount -t tmpfs -o ro jobrun-test /run/lock && exec "$@"' sh "$@"
}
OWN_ONLY="cannot create '/run/lock/jobrun': Read-only file system: only your own runs share this machine's GPUs out among themselves"
