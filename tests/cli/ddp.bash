# Processes on two machines that train together: jobrun starts them, or the
# torchrun of this machine does, one on each, by what its options have for
# defaults.

# has_torchrun: skips if this machine has no torch, or no torchrun in PATH
has_torchrun() {
  /usr/bin/python3 -c 'import torch' 2>/dev/null || skip "needs python3-torch"
  type -P torchrun >/dev/null || skip "needs torchrun"
}

# ddp FILE COUNT [torchrun]: a job of a master and a worker asks for so many GPUs
# and runs a process for each.  With Python 3.11 or later the torchrun of torch
# 1.13 trips over the default of --redirects; a rank that is not there says the
# same.
ddp() {
  mkdir -p src
  cp "$BATS_TEST_DIRNAME/ddp.py" src/
  sed -i 's,command:.*,command: ['"${3:-/usr/bin/python3}"'\, ddp.py],
    s/\(master\|worker\)Type:.*/&\n  \1Config: {acceleratorConfig: {type: NVIDIA_TESLA_T4, count: '"$2"'}}/' "$1"
  printf '  source: src\n%s\n  env: {OMP_NUM_THREADS: "1", PET_REDIRECTS: "9:1", PET_TEE: "9:1"}\n' \
    "${3:-  processesPerHost: $2}" | sed 's/^torchrun$//' >>"$1"
}

# is_one_world COUNT OUTPUT: all processes of both machines have met
is_one_world() {
  local i world=$((2 * $1))
  for ((i = 0; i < world; i++)); do
    # Those of one torchrun share its output, so lines can meet.
    [[ $2 == *"rank $i of $world, $((i % $1)) of $1 in group $((i / $1)): sum $((world * (world - 1) / 2))"* ]]
  done
}
