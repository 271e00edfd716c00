#!/usr/bin/env bats
# Commands beside a task of a job on Slurm; a real one of four nodes.

# bats file_tags=server
bats_require_minimum_version 1.5.0
load helper
eval "$(declare -f setup | sed '1s/setup/setup_of_all/')"
eval "$(declare -f teardown | sed '1s/teardown/teardown_of_all/')"
load sshd
load slurm
load forward
load podman

setup_file() { slurm_up; }
teardown_file() { slurm_down; }

setup() {
  setup_of_all
  export HOME=$TMP/home
  mkdir -p "$HOME"
}

teardown() {
  scancel --me 2>/dev/null || true
  sshd_down
  slurm_kill_steps .
  podman_down
  teardown_of_all
}

apply() { timeout 60 "$JOBRUN" apply --yes --detach "$@"; }
# enters JOB [OPTION...]: the task runs, and lets a command in
enters() { jobrun exec "$@" -- true 2>/dev/null; }
boxed() { jobrun exec "$1" -- pwd >/dev/null 2>&1; }
# Only the job's own steps are left.
no_step_is_left() { ! squeue -h -s -o %j | grep -q ^enter-; }
naps_nowhere() { ! pgrep -f "sleep $NAP" >/dev/null; }

@test "exec, shell and cp get beside a task, with its own words alone" {
  slurm_job a.yaml a 1 "cd /usr/lib; echo \"from \$RANK\" >\$JOBRUN_RUN_DIR/out-\$RANK; exec sleep 4321"
  apply a.yaml
  wait_until 30 enters a --task worker
  wait_until 30 enters a
  run --separate-stderr jobrun exec a --task worker -- \
    sh -c 'echo $RANK of $WORLD_SIZE in $PWD on $SLURMD_NODENAME; echo oh >&2; exit 7'
  [ "$status" = 7 ]
  [ "$output" = "1 of 2 in /usr/lib on n2" ]
  [ "$stderr" = oh ]
  [ "$(echo hello | jobrun exec a -- cat)" = hello ]
  [ "$(jobrun exec a -- printf '%s|' 'a b' "it's" '$HOME' '')" = "a b|it's|\$HOME||" ]
  [ "$(echo 'echo $RANK' | SHELL=/bin/sh jobrun shell a --task worker)" = 1 ]
  run jobrun exec a -- no-such-command
  [ "$status" = 1 ]
  echo "$output"
  [ "${#lines[@]}" = 1 ]
  [[ $output == "jobrun: error: command 'no-such-command' not found"* ]]
  run jobrun exec a -- sh -c 'kill -9 $$'
  [ "$status" = 137 ]
  [ -z "$output" ]
  jobrun cp a:output/out-1 --task worker copied
  [ "$(cat copied)" = "from 1" ]
  # A terminal is one there, too, and has the size of this one.
  shell_follows_size a
  jobrun cancel a
  wait_until 15 nothing_runs
}

@test "forward reaches a port of a task on its node" {
  server_program
  slurm_job a.yaml a 1 "exec python3 $TMP/serve.py"
  apply a.yaml
  wait_until 30 enters a --task worker
  reaches a --task worker
  wait_until 30 no_step_is_left
}

@test "nothing stays in the job when the client is killed, or srun" {
  local client who
  slurm_job a.yaml a 0 "exec sleep 4321"
  apply a.yaml
  wait_until 30 enters a
  for who in client srun; do
    "$JOBRUN" exec a -- sh -c "echo in >$TMP/in; exec sleep $NAP" &
    client=$!
    wait_until 20 test -s in
    if [ $who = srun ]; then client=$(pgrep -P $client -x srun); fi
    kill -9 $client
    wait_until 20 naps_nowhere
    wait_until 20 no_step_is_left
    rm in
  done
  # What srun itself says is an error of ours.
  mkdir bin
  printf '#!/bin/sh\necho "srun: error: Unable to create step for job 1: Job/step already completing or completed" >&2\nexit 1\n' >bin/srun
  chmod +x bin/srun
  PATH=$TMP/bin:$PATH run jobrun exec a -- true
  [ "$status" = 1 ]
  [ "$output" = "jobrun: error: srun: Unable to create step for job 1: Job/step already completing or completed" ]
  jobrun cancel a
}

@test "components, trials and a login host have the same way in" {
  sshd_up 1
  slurm_job a.yaml a 1 "exec sleep 4321" "  slurm: {machineTypes: true}"
  sed -i 's/masterType: n1-standard-2/masterType: n1-standard-4/' a.yaml
  slurm_job far.yaml far 1 "exec sleep 4321" "  slurm: {loginHost: h1, directory: $TMP/shared}"
  cat >t.yaml <<E
jobId: t
trainingInput:
  scaleTier: CUSTOM
  masterType: n1-standard-2
  hyperparameters:
    goal: MAXIMIZE
    hyperparameterMetricTag: m
    maxTrials: 2
    maxParallelTrials: 2
    params:
      - {parameterName: x, type: INTEGER, minValue: 1, maxValue: 9, scaleType: UNIT_LINEAR_SCALE}
jobrun:
  provider: slurm
  command: [sh, -c, "exec sleep 4321"]
E
  apply a.yaml far.yaml t.yaml
  wait_until 40 enters a
  wait_until 40 enters a --task worker
  [ "$(jobrun exec a --task worker -- sh -c 'echo $RANK on $SLURMD_NODENAME')" = "1 on $(field a 'j["tasks"][1]["host"]')" ]
  wait_until 40 enters t --trial 2
  [ "$(jobrun exec t --trial 2 -- sh -c 'echo $CLOUD_ML_TRIAL_ID')" = 2 ]
  wait_until 40 enters far --task worker
  run --separate-stderr jobrun exec far --task worker -- sh -c 'echo $RANK; echo oh >&2; exit 6'
  [ "$status" = 6 ]
  [ "$output" = 1 ]
  [ "$stderr" = oh ]
  "$JOBRUN" exec far -- sh -c "echo in >$TMP/in; exec sleep $NAP" &
  wait_until 20 test -s in
  kill -9 $!
  wait_until 20 naps_nowhere
  wait_until 20 no_step_is_left
  jobrun cancel a far t
}

@test "a command gets into the task's container, and ends with its client" {
  local job
  podman_up
  export USER=${USER:-root}
  ch-run --write "$TMP/image" -- /bin/sh -c : || skip "ch-run cannot run here"
  slurm_job a.yaml a 0 'echo weights >$JOBRUN_RUN_DIR/model; exec sleep 4321' "  env: {A: in, $(podman_is_at | sed 's/=/: /g; s/ \(C\)/, \1/')}
  container: {runtime: podman, image: 'localhost/box:1'}"
  slurm_job b.yaml b 0 'echo weights >$JOBRUN_RUN_DIR/model; exec sleep 4321' "  env: {A: in}
  container: {runtime: charliecloud, image: $TMP/image}"
  apply a.yaml b.yaml
  for job in a b; do
    wait_until 90 boxed $job
    run --separate-stderr jobrun exec $job -- sh -c '[ -e /usr/bin/env ] || echo "$A $RANK"; echo oh >&2; exit 7'
    [ "$status" = 7 ]
    [ "$output" = "in 0" ]
    [ "$stderr" = oh ]
    jobrun cp $job:output/model "copied-$job"
    [ "$(cat "copied-$job")" = weights ]
    "$JOBRUN" exec $job -- sh -c "echo in; exec sleep $NAP" >in &
    wait_until 30 test -s in
    kill -9 $!
    wait_until 60 naps_nowhere
    wait_until 30 no_step_is_left
    rm in
  done
  jobrun cancel a b
  wait_until 60 nothing_runs
  wait_until 60 podman_is_empty
}
