#!/usr/bin/env bats
# Commands beside a running task: here, and on hosts with a real sshd.
# bats file_tags=server
load helper
load sshd
load forward

says() { # FILE TEXT
  grep -q -- "$2" "$1" 2>/dev/null
}

# Its start may not be recorded yet.
enters() { # TYPE INDEX
  enters_job a --task "$1" --index "$2"
}

enters_job() { # JOB OPTION...
  jobrun exec "$@" -- true 2>/dev/null
}

# No process has our nap as its last word.
naps_nowhere() {
  ! pgrep -f "sleep $NAP" >/dev/null
}

@test "a command has the directory and the environment of its task" {
  job a.yaml a "cd /usr/lib; echo up; exec sleep $NAP" "$WORKERS"
  jobrun apply --detach a.yaml
  wait_until 20 says state/runs/a.1/logs/worker-1.stdout up
  wait_until 20 enters worker 1
  wait_until 20 enters master 0
  run jobrun exec a --task worker --index 1 -- \
    sh -c 'echo $RANK of $WORLD_SIZE in $PWD; echo $JOBRUN_RUN_DIR'
  [ "$status" -eq 0 ]
  [ "${lines[0]}" = "2 of 3 in /usr/lib" ]
  [ "${lines[1]}" = "$TMP/state/runs/a.1/output" ]
  run jobrun exec a -- sh -c 'echo $RANK; exit 7'
  [ "$status" -eq 7 ]
  [ "$output" = 0 ]
  [ "$(echo hello | jobrun exec a -- cat)" = hello ]
  run jobrun exec a -- no-such-command
  [ "$status" -eq 1 ]
  [[ $output == *"command 'no-such-command' not found"* ]]
  [ "$(echo 'echo $RANK' | SHELL=/bin/sh jobrun shell a --task worker)" = 1 ]
  run jobrun exec a --task worker --index 2 -- true
  [ "$status" -eq 64 ]
  [[ $output == *"a has no task worker 2"* ]]
  run jobrun exec a --task waiter -- true
  [ "$status" -eq 64 ]
  run jobrun exec a
  [ "$status" -eq 64 ]
  jobrun cancel a
  run jobrun exec a -- true
  [ "$status" -eq 1 ]
  [[ $output == *"a has ended (CANCELLED): there is no task to enter"* ]]
  run jobrun exec b -- true
  [ "$status" -eq 66 ]
  nothing_runs
}

# task_pid JOB TYPE [PID]: the pid that is recorded; the new one, as if that
# task had ended and its pid were given away
task_pid() {
  python3 - "$@" <<'E'
import sqlite3, sys
db = sqlite3.connect("state/jobrun.db", timeout=60)
job, kind, *pid = sys.argv[1:]
where = "WHERE run IN (SELECT id FROM run WHERE job_id = ?) AND type = ?"
with db:
    if pid:
        db.execute(f"UPDATE task SET pid = ? {where}", (pid[0], job, kind))
    print(*db.execute(f"SELECT pid FROM task {where}", (job, kind)).fetchone())
E
}

# refused WORDS OPTION...: of jobrun exec
refused() {
  run jobrun exec "${@:2}" -- true
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *"$1"* ]]
}

@test "a process of another run or task is not entered, here or on a host" {
  local job
  job a.yaml a "exec sleep $NAP" "$WORKERS"
  sshd_up 1
  host_job h.yaml h h1 "exec sleep $NAP"
  awk -v more="$WORKERS" '{ print } /masterType/ { print more }' h.yaml >w.yaml
  host_job i.yaml i h1 "exec sleep $NAP"
  jobrun apply --detach a.yaml w.yaml i.yaml
  for job in a h; do
    wait_until 30 enters_job $job --task worker --index 1
    wait_until 30 enters_job $job
  done
  wait_until 30 enters_job i
  for job in a h; do
    task_pid $job worker "$(task_pid $job master)"
    refused "process $(task_pid $job master) is of another task of the run" $job --task worker
  done
  task_pid a master $$
  refused "process $$ is not of the run" a
  task_pid h master "$(task_pid i master)"
  refused "process $(task_pid i master) is not of the run" h
  jobrun cancel a h i
}

@test "on a host, no agent is run from where a link leads" {
  sshd_up 1
  mkdir -m 1777 scratch
  host_job a.yaml a h1 "exec sleep $NAP" "  hostDirectory: $TMP/scratch"
  jobrun apply --detach a.yaml
  wait_until 30 enters master 0
  mv "scratch/jobrun-$(id -u)" mine
  ln -s "$TMP/mine" "scratch/jobrun-$(id -u)"
  run jobrun exec a -- true
  [ "$status" -eq 1 ]
  [[ $output == *"$TMP/scratch/jobrun-$(id -u) is a link"* ]]
  rm "scratch/jobrun-$(id -u)"
  mv mine "scratch/jobrun-$(id -u)"
  jobrun exec a -- true
  jobrun cancel a
}

@test "on a host too, and nothing stays there when the client is killed" {
  sshd_up 2
  host_job a.yaml a h1,h2 "echo up; exec sleep 4321"
  jobrun apply --detach a.yaml
  wait_until 30 says state/runs/a.1/logs/worker-0.stdout up
  wait_until 20 enters worker 0
  wait_until 20 enters master 0
  run jobrun exec a --task worker -- sh -c 'echo $RANK of $WORLD_SIZE at $HOME; exit 5'
  echo "$output"
  [ "$status" -eq 5 ]
  [ "$output" = "1 of 2 at $SSH/h2" ]
  [ "$(echo hello | jobrun exec a -- cat)" = hello ]
  # A word of any form arrives as it is.
  [ "$(jobrun exec a -- printf '%s|' 'a b' "it's" '$HOME' '')" = "a b|it's|\$HOME||" ]
  "$JOBRUN" exec a -- sh -c "echo in >$TMP/in; sleep $NAP; echo never >$TMP/never" &
  client=$!
  wait_until 20 test -s in
  kill -9 $client
  wait_until 20 naps_nowhere
  [ ! -e never ]
  jobrun cancel a
  wait_until 15 nothing_runs
}

# The sshd whose session our nap on a host is in.
session_of_nap() {
  local pid
  pid=$(pgrep -f "^sleep $NAP")
  until [ "$(cat "/proc/$pid/comm")" = sshd ]; do pid=$(ps -o ppid= -p "$pid" | tr -d ' '); done
  echo "$pid"
}

naps() { pgrep -f "^sleep $NAP" >/dev/null; }

@test "nothing stays on a host whose connection is cut, with a terminal or without" {
  local client status=0
  type -P script >/dev/null || skip "needs script"
  sshd_up 1
  host_job a.yaml a h1 "exec sleep 4321"
  jobrun apply --detach a.yaml
  wait_until 30 enters master 0
  "$JOBRUN" exec a -- sleep "$NAP" 2>cut &
  client=$!
  wait_until 20 naps
  kill -9 "$(session_of_nap)"
  wait_until 20 naps_nowhere
  wait "$client" || status=$?
  [ "$status" = 255 ]
  script -qec "$JOBRUN exec a -- sleep $NAP" /dev/null </dev/null >/dev/null 2>&1 &
  client=$!
  wait_until 20 naps
  kill -9 "$(session_of_nap)"
  wait_until 20 naps_nowhere
  wait "$client" || true
  # The task and its agent know nothing of it.
  jobrun exec a -- true
  state_is a RUNNING
  jobrun cancel a
}

@test "forward reaches a port of a task, here and on a host" {
  server_program
  job a.yaml a "exec python3 $TMP/serve.py" "$WORKERS"
  jobrun apply --detach a.yaml
  wait_until 30 test -s port-0
  wait_until 20 enters master 0
  run jobrun forward a "$(cat port-0)"
  echo "$output"
  [ "$status" -eq 64 ]
  [[ $output == *"a runs on this machine: its port $(cat port-0) is 127.0.0.1:$(cat port-0) already"* ]]
  run jobrun forward a stdio:1 </dev/null
  echo "$output"
  [ "$status" -eq 1 ]
  [ "$output" = "jobrun: error: nothing listens on port 1 of the task's machine" ]
  for word in 0 65536 a:1 1:a 70000:1 stdio:x ''; do
    run jobrun forward a "$word"
    [ "$status" -eq 64 ]
    [[ $output == *"'$word' is not [LOCAL:]PORT"* ]]
  done
  run jobrun forward a stdio:1 2
  [ "$status" -eq 64 ]
  run jobrun forward a "$(cat port-0):1"
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *"port $(cat port-0) is in use on this machine; ':1' takes one that is free" ]]
  reaches a --task worker --index 0
  rm port-1
  sshd_up 2
  host_job h.yaml h h1,h2 "exec python3 $TMP/serve.py"
  jobrun apply --detach h.yaml
  wait_until 30 enters_job h --task worker
  reaches h --task worker
  wait_until 15 nothing_runs
}

@test "cp copies files of a run, here and from a host" {
  job a.yaml a 'mkdir "$JOBRUN_RUN_DIR/d"; echo weights >"$JOBRUN_RUN_DIR/d/model"; echo done'
  jobrun apply a.yaml
  jobrun cp a:output/d/model copied
  [ "$(cat copied)" = weights ]
  mkdir into
  jobrun cp a:output/d into
  [ "$(cat into/d/model)" = weights ]
  run jobrun cp a:output/none .
  [ "$status" -eq 1 ]
  [[ $output == *"the run of 'a' has no 'output/none'"* ]]
  run jobrun cp a:../../key .
  [ "$status" -eq 64 ]
  run jobrun cp model .
  [ "$status" -eq 64 ]
  [[ $output == *"'model' is not JOB:PATH"* ]]
  run jobrun cp b:output/x .
  [ "$status" -eq 66 ]
  sshd_up 1
  host_job h.yaml h h1 'cd "$JOBRUN_RUN_DIR"; echo "from the host" >"model 1"; mkdir d; echo deep >d/model; echo up; exec sleep 4321'
  jobrun apply --detach h.yaml
  wait_until 30 says state/runs/h.1/logs/master-0.stdout up
  wait_until 20 jobrun exec h -- true
  mkdir there
  jobrun cp 'h:output/model 1' there
  [ "$(cat 'there/model 1')" = "from the host" ]
  run jobrun cp h:output/none there
  [ "$status" -ne 0 ]
  # It is laid out as from here, whatever is here already.
  jobrun cp h:output/d/model there
  [ "$(cat there/model)" = deep ]
  jobrun cp h:output/d there/e
  [ "$(cat there/e/model)" = deep ]
  mkdir state/runs/h.1/output/d
  echo older >state/runs/h.1/output/d/model
  jobrun cp h:output/d/model there
  [ "$(cat there/model)" = deep ]
  jobrun cp h:output there
  [ "$(cat there/output/d/model)" = deep ]
  [ "$(cat 'there/output/model 1')" = "from the host" ]
  rm -r state/runs/h.1/output/d
  [ -z "$(find there -name '.*')" ]
  jobrun cancel h
  # What was there has come back.
  jobrun cp 'h:output/model 1' back
  [ "$(cat back)" = "from the host" ]
  wait_until 15 nothing_runs
}

@test "cp takes from a host only what it asked for" {
  sshd_up 1
  # The host sends more, which nobody here may have overwritten.
  mkdir bin there
  cat >bin/tar <<'E'
#!/bin/sh
mkdir "$0.d" && cd "$0.d" && echo asked >model && echo more >key || exit 1
chmod 4755 model && mkfifo pipe && PATH=$REST exec tar -cf - model key pipe
E
  chmod +x bin/tar
  host_job h.yaml h h1 "echo up; exec sleep 4321" "  env: {PATH: '$TMP/bin:$PATH', REST: '$PATH'}"
  jobrun apply --detach h.yaml
  wait_until 30 jobrun exec h -- true
  echo mine >there/key
  jobrun cp h:output/model there
  [ "$(cat there/model)" = asked ]
  [ ! -u there/model ]
  [ "$(cat there/key)" = mine ]
  [ "$(ls -A there)" = $'key\nmodel' ]
  jobrun cancel h
}

@test "cp takes the file of the trial that it is asked for" {
  cat >t.yaml <<'E'
jobId: t
trainingInput:
  scaleTier: BASIC
  hyperparameters:
    goal: MAXIMIZE
    hyperparameterMetricTag: m
    maxTrials: 2
    params:
      - {parameterName: x, type: INTEGER, minValue: 1, maxValue: 9, scaleType: UNIT_LINEAR_SCALE}
jobrun:
  command: [sh, -c, 'basename "$(dirname "$JOBRUN_RUN_DIR")" >"$JOBRUN_RUN_DIR/which"; echo "{\"m\": 1}" >>"$CLOUD_ML_HP_METRIC_FILE"']
E
  jobrun apply t.yaml
  jobrun cp --trial 2 t:output/which .
  [ "$(cat which)" = 2 ]
}
