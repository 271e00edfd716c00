#!/usr/bin/env bats
# init in a repository that has a training script, or a file of another tool.
load helper

FOREIGN=$BATS_TEST_DIRNAME/foreign

scripts() {
  mkdir -p src tests
  cat >src/train.py <<'PY'
try:
    import torch.nn as nn
except ImportError:
    pass
if __name__ == "__main__":
    print("loss=0.5")
PY
  echo 'import torch' >src/model.py
  echo 'import torch' >tests/test_train.py
  echo 'print(1)' >setup.py
}

@test "init finds the training script and writes a job that runs" {
  scripts
  run jobrun init --ci none
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"src/train.py trains with PyTorch"* ]]
  [[ $output == *"jobrun apply jobs/train.yaml"* ]]
  [ ! -e jobs/hello.yaml ]
  [ ! -e hello ]
  grep -qx '  command: \[python3, -u, src/train.py\]' jobs/train.yaml
  refute grep processesPerHost jobs/train.yaml
  run jobrun validate jobs
  [ "$status" -eq 0 ]
  [ -z "$output" ]
  run jobrun apply jobs
  [ "$status" -eq 0 ]
  [[ $output == *loss=0.5* ]]
  # There is a job now, and so nothing is looked for.
  echo 'import jax' >train.py
  jobrun init --ci none
  [ "$(ls jobs)" = "$(printf 'hello.yaml\ntrain.yaml')" ]
  nothing_runs
}

@test "init: modules are found wherever a line imports them" {
  local line
  while IFS= read -r line; do
    rm -rf jobs
    printf '%s\n' "$line" >train.py
    run jobrun init --ci none
    [[ $output == *"train.py trains with PyTorch"* ]] || { echo "$line: $output"; false; }
  done <<'LINES'
import argparse, torch
import argparse,torch.nn as nn, os
import os as o ,  torch
import  torch
  from  torch import nn
LINES
  while IFS= read -r line; do
    rm -rf jobs
    printf '%s\n' "$line" >train.py
    run jobrun init --ci none
    [[ $output != *PyTorch* ]] || { echo "$line: $output"; false; }
  done <<'LINES'
import mytorch
important, torch
print("a, torch")
from argparse import torch
import torch_geometric
LINES
}

@test "init: the script and the place that are named" {
  scripts
  printf 'import jax\njax.distributed.initialize()\n' >'my run.py'
  run jobrun init --ci none --script 'my run.py' --provider slurm
  [ "$status" -eq 0 ]
  [[ $output == *"my run.py trains with JAX"* ]]
  grep -qx 'jobId: my_run' jobs/my_run.yaml
  grep -qx '  provider: slurm' jobs/my_run.yaml
  grep -qx "  command: \\[python3, -u, 'my run.py'\\]" jobs/my_run.yaml
  grep -qx '  # processesPerHost: device' jobs/my_run.yaml
  jobrun validate jobs
  run jobrun init --script none.py new
  [ "$status" -eq 64 ]
  [[ $output == *"cannot read the script 'none.py'"* ]]
  [ ! -e new ]
  run jobrun init --script src/train.py --provider moon
  [ "$status" -eq 64 ]
  [[ $output == *"unknown provider 'moon'; choose one of local, "* ]]
}

@test "init asks on a terminal" {
  scripts
  echo 'import tensorflow' >fit_train.py
  cat >ask.py <<'PY'
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], ["jobrun", "init", "--ci", "none"])
text = b""
def until(what):
    global text
    while what not in text:
        text += os.read(fd, 4096)
    text = text[text.index(what) + len(what):]
until(b"Which script trains? [src/train.py] ")
os.write(fd, b"fit_train.py\n")
until(b"trains with TensorFlow")
until(b"[local] ")
os.write(fd, b"\n")
until(b"jobrun apply jobs/fit_train.yaml")
_, status = os.waitpid(pid, 0)
sys.exit(os.waitstatus_to_exitcode(status))
PY
  timeout 120 python3 ask.py "$JOBRUN"
  grep -qx '  provider: local' jobs/fit_train.yaml
}

@test "init --from a script of sbatch, a task of SkyPilot, of dstack" {
  local file made
  for file in sbatch/hello.sh sky/one.yaml dstack/one.yaml; do
    mkdir -p "${file%/*}"
    cp "$FOREIGN/$file" "$file"
    run jobrun init --ci none --from "$file" "${file%/*}/new"
    echo "$file: $output"
    [ "$status" -eq 0 ]
    made=$(basename "${file%.*}").yaml
    [[ $output == *"jobrun plan ${file%/*}/new/jobs/$made"* ]]
    # All of them, and nothing else, is what CI looks at.
    [ "$(ls "${file%/*}/new/jobs")" = "$made" ]
    grep -qx '  source: ../..' "${file%/*}/new/jobs/$made"
    jobrun validate "${file%/*}/new/jobs"
  done
  run jobrun init --from nothing.yaml other
  [ "$status" -ne 0 ]
  [ ! -e other ]
}

@test "init --from: the program starts where its file is" {
  mkdir -p repo/tasks
  cd repo
  echo here >tasks/word
  printf 'type: task\nname: one\ncommands: [cat word]\nregions: [eu]\n' >tasks/one.yaml
  run jobrun init --ci none --from tasks/one.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"1 setting cannot be kept in a job file: see the comments"* && $output != *lossy* ]]
  grep -qx '  source: ../tasks' jobs/one.yaml
  run jobrun apply jobs
  [ "$status" -eq 0 ]
  [[ $output == *here* ]]
  mv tasks/one.yaml tasks/word .
  rm -r jobs
  jobrun init --ci none --from one.yaml .
  grep -qx '  source: ..' jobs/one.yaml
  nothing_runs
}

@test "init refuses options that would mean nothing" {
  scripts
  cp "$FOREIGN/sbatch/hello.sh" .
  run jobrun init --from hello.sh --provider local new
  [ "$status" -eq 64 ]
  [[ $output == *"leave out --provider"* ]]
  run jobrun init --from hello.sh --script src/train.py new
  [ "$status" -eq 64 ]
  [[ $output == *"leave out --script"* ]]
  run jobrun init --provider slurm new
  [ "$status" -eq 64 ]
  [[ $output == *"name that with --script"* ]]
  [ ! -e new ]
}
