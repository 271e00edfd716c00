# A task that is stopped (SIGSTOP, a debugger) ends as fast as any other when
# it is told to, wherever it runs: SIGCONT goes with each request to end.
# tests/cli/hosts.bats has the same for hosts.
load helper
load task_runner

# The grace is much longer than an end may take here.
GRACE_S=20

# ends_soon COMMAND...: it ends long before the grace is over, with `status`.
ends_soon() {
  local began=$SECONDS
  status=0
  "$@" || status=$?
  [ $((SECONDS - began)) -lt $((GRACE_S / 2)) ]
}

# A job whose task waits, with its pid in the file `pid`.
stoppable() {
  job a.yaml a "echo \$\$ >$TMP/pid.new; mv $TMP/pid.new $TMP/pid; exec sleep $NAP"
  sed -i "s/grace: .*/grace: ${GRACE_S}s/" a.yaml
}

stop_it() {
  wait_until 20 test -s pid
  kill -STOP "$(cat pid)"
  wait_until 5 is_stopped
}

is_stopped() {
  [ "$(ps -o stat= -p "$(cat pid)" | cut -c 1)" = T ]
}

@test "a stopped task of a local run hears a cancel" {
  stoppable
  jobrun apply --detach a.yaml
  stop_it
  ends_soon jobrun cancel a
  [ $status -eq 0 ]
  [ "$(field a 'j["tasks"][0]["exitCode"]')" = 143 ]
  wait_until 5 nothing_runs
}

@test "a stopped task that a batch system started hears SIGTERM and SIGINT" {
  local number
  stoppable
  runner_folder a.yaml
  for number in TERM INT; do
    rm -rf R/attempts pid
    runner_task 0 1 &
    stop_it
    kill -$number $!
    ends_soon wait $!
    [ $status -gt 128 ]
    grep -q '^end ' R/attempts/0/tasks/master-0
  done
  wait_until 5 nothing_runs
}

@test "a stopped command of jobrun launch hears SIGTERM, SIGINT and SIGQUIT" {
  local number supervisor
  for number in TERM INT QUIT; do
    rm -f pid
    # As of an interactive shell: one without job control has background
    # commands ignore SIGINT and SIGQUIT.
    python3 - "$JOBRUN" launch --grace "${GRACE_S}s" -- sh -c \
      "echo \$\$ >pid.new; mv pid.new pid; exec sleep $NAP" <<'E' &
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
signal.signal(signal.SIGQUIT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])
E
    supervisor=$!
    stop_it
    kill -$number $supervisor
    ends_soon wait $supervisor
    [ $status -gt 128 ]
  done
  wait_until 5 nothing_runs
}

# supervising_processes: the supervisor and the guard of run a.1
supervising_processes() {
  local pid
  pid=$(tr -d ' \0\n' <"$JOBRUN_STATE_DIR/runs/a.1/lock")
  echo "$pid" "$(ps -o ppid= -p "$pid" | tr -d ' ')"
}

@test "a stopped supervisor and its guard hear a cancel, which says so" {
  local supervisor guard
  stoppable
  jobrun apply --detach a.yaml
  wait_until 20 test -s pid
  read -r supervisor guard < <(supervising_processes)
  kill -STOP "$guard" "$supervisor"
  run ends_soon timeout 60 "$JOBRUN" cancel a
  [ $status -eq 0 ]
  [[ $output == *"a: its supervisor (process $supervisor) was stopped, and goes on now to end it"* ]]
  state_is a CANCELLED
  nothing_runs
}
