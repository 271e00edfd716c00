# A task that is stopped (SIGSTOP, a debugger) ends as fast as any other when
# it is told to, wherever it runs: SIGCONT goes with each request to end.
# tests/cli/hosts.bats has the same for hosts.
load helper
load task_runner
load sshd

teardown() {
  local pid
  sshd_down
  for pid in $(marked); do kill -9 "$pid" 2>/dev/null || true; done
  cd /
  rm -rf "$TMP"
}

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
  [[ $output == *"a: its supervisor (process $supervisor) was stopped; continuing it to end the run"* ]]
  state_is a CANCELLED
  nothing_runs
}

# A program that needs four seconds to save when it is told to end.
saving() {
  printf 'trap "sleep 4; touch %s/saved; exit 0" TERM; echo $$ >%s/pid.new; mv %s/pid.new %s/pid; while :; do sleep 0.1; done' \
    "$TMP" "$TMP" "$TMP" "$TMP"
}

gone() { ! kill -0 "$1" 2>/dev/null; }

# ms_to_end COMMAND...: milliseconds from asking for the end of the program,
# which is stopped, until it is gone; into `ms`.
ms_to_end() {
  local pid began
  stop_it
  pid=$(cat pid)
  began=${EPOCHREALTIME/./}
  "$@" >/dev/null 2>&1 &
  wait_until 60 gone "$pid"
  ms=$(((${EPOCHREALTIME/./} - began) / 1000))
  [ -e saved ]
  rm saved pid
  wait
}

save_on_local() {
  job a.yaml a "$(saving)"
  sed -i "s/grace: .*/grace: ${GRACE_S}s/" a.yaml
  jobrun apply --rerun --detach a.yaml
  ms_to_end jobrun cancel a
}

save_on_host() {
  host_job h.yaml h h1 "$(saving)"
  sed -i "s/grace: .*/grace: ${GRACE_S}s/" h.yaml
  jobrun apply --rerun --detach h.yaml
  ms_to_end jobrun cancel h
}

# As on Slurm.
save_in_runner() {
  rm -rf R made
  runner_folder a.yaml
  rm -f saved
  runner_task 0 1 &
  ms_to_end kill "$!"
}

save_in_launch() {
  "$JOBRUN" launch --grace "${GRACE_S}s" -- sh -c "$(saving)" &
  ms_to_end kill "$!"
}

# A busy machine is late now and then: three tries, and a second and a half.
# What waits for a grace of its own takes ten more.
# bats test_tags=server
@test "a stopped task that saves for four seconds: the same time everywhere" {
  local try where least most ms
  sshd_up 1
  for try in 1 2 3; do
    least=999999 most=0
    for where in on_local on_host in_runner in_launch; do
      save_$where
      echo "$where: $ms ms"
      [ "$ms" -ge 4000 ]
      least=$((ms < least ? ms : least))
      most=$((ms > most ? ms : most))
    done
    [ $((most * 10)) -gt $((least * 11)) ] || break
  done
  [ $((most * 10)) -le $((least * 11 + 15000)) ]
}
