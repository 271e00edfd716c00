# Run by `make test` once more with VALGRIND set: no leak, no bad access.
load helper

jobrun() {
  $VALGRIND "$JOBRUN" "$@"
}

@test "commands without leaks" {
  [ -n "${VALGRIND:-}" ] || skip "without valgrind"
  job a.yaml a 'echo hi'
  printf 'jobId: a-\ntrainingInput: {scaleTeir: x}\n' >bad.yaml
  jobrun version
  jobrun help apply
  jobrun validate a.yaml
  run jobrun validate bad.yaml
  [ "$status" -eq 65 ]
  jobrun plan a.yaml
  jobrun plan --format json a.yaml
  jobrun apply a.yaml
  jobrun status a
  jobrun logs a
  jobrun env a.yaml
  run jobrun apply a.yaml
  [ "$status" -eq 0 ]
  jobrun delete a
}

@test "commands that look, convert and ship without leaks" {
  [ -n "${VALGRIND:-}" ] || skip "without valgrind"
  job a.yaml a 'echo loss=1; echo loss=0.5'
  mkdir trainer
  touch trainer/__init__.py trainer/task.py
  printf '#!/bin/sh\n#SBATCH --job-name=x\nsrun python3 train.py\n' >x.sbatch
  jobrun apply a.yaml
  jobrun apply --rerun a.yaml
  jobrun status -o json
  jobrun logs --grep loss --tail 1 a
  jobrun metrics --format json a
  jobrun plot a loss
  jobrun report -o report.html a
  jobrun diff a
  jobrun wait a
  jobrun explain trainingInput.masterType
  jobrun schema >schema.json
  jobrun render --to slurm a.yaml
  jobrun import x.sbatch || [ $? -eq 65 ]
  jobrun package -o out trainer
  jobrun shard trainer shards
  jobrun cat shards/*.tar >joined.tar
  jobrun cancel a
}
