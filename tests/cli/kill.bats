# Any process may be killed at any instant, ours too.
# bats file_tags=slow
load helper

supervisor() {
  tr -d ' \n' <state/runs/a.1/lock
}

# Tasks that have children of their own, some of them in other sessions.
start() {
  job a.yaml a "sleep $NAP & setsid sleep $NAP & (setsid sleep $NAP &); echo up; wait; sleep $NAP" "$WORKERS"
  jobrun apply "$@" a.yaml
}

tasks_gone() {
  ! pgrep -f "sleep $NAP" >/dev/null
}

none_of() {
  local pid
  for pid in "$@"; do
    # A zombie is dead: init takes its time.
    ! grep -qs '^State:.[^Z]' "/proc/$pid/status" || return 1
  done
}

@test "kill -9 of the supervisor at ten moments: nothing is left, FAILED" {
  local i
  for i in 0 1 2 3 4 5 6 7 8 9; do
    rm -rf state
    start --detach 2>/dev/null
    sleep "0.$((RANDOM % 30))"
    kill -9 "$(supervisor)"
    wait_until 4 nothing_runs
    tasks_gone
    state_is a FAILED
    [[ $(field a 'j["error"]') == *"supervisor was killed by SIGKILL"* ]]
    run jobrun wait a
    [ "$status" -eq 1 ]
    sqlite_ok
  done
}

sqlite_ok() {
  [ "$(python3 -c 'import sqlite3; print(sqlite3.connect("state/jobrun.db").execute("pragma integrity_check").fetchone()[0])')" = ok ]
}

@test "kill -9 of the guard: the run ends and says so" {
  start --detach
  wait_until 5 state_is a RUNNING
  kill -9 "$(ps -o ppid= -p "$(supervisor)" | tr -d ' ')"
  wait_until 4 nothing_runs
  tasks_gone
  state_is a FAILED
  [[ $(field a 'j["error"]') == *"guard was killed"* ]]
}

@test "kill -9 of both: the next look finds and ends what is left" {
  start --detach
  wait_until 5 state_is a RUNNING
  local s=$(supervisor)
  local tasks=$(field a '*[t["pid"] for t in j["tasks"]]')
  kill -9 "$(ps -o ppid= -p "$s" | tr -d ' ')" "$s"
  # The tasks die with their parent; what they started is marked.
  wait_until 4 none_of $tasks
  state_is a FAILED
  wait_until 4 tasks_gone
  wait_until 4 nothing_runs
  # What it kept for its last words is given back.
  [ ! -e state/runs/a.1/ballast ]
}

@test "kill -9 of a worker at ten moments: the run fails and names it" {
  local i
  for i in 0 1 2 3 4 5 6 7 8 9; do
    rm -rf state
    start --detach 2>/dev/null
    wait_until 5 state_is a RUNNING
    sleep "0.$((RANDOM % 30))"
    kill -9 "$(field a 'j["tasks"][2]["pid"]')"
    wait_until 4 nothing_runs
    tasks_gone
    state_is a FAILED
    [[ $(field a 'j["error"]') == "worker 1 was killed by SIGKILL"* ]]
    [ "$(field a 'j["exitCode"]')" = 137 ]
  done
}

@test "kill -9 of the client: the run goes on, and can be followed again" {
  local i
  for i in 0 1 2 3 4 5 6 7 8 9; do
    rm -rf state
    job a.yaml a 'for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 0.05; done' "$WORKERS"
    "$JOBRUN" apply a.yaml >out.txt 2>&1 &
    local client=$!
    sleep "0.$((RANDOM % 20 + 10))"
    kill -9 $client || true
    wait $client || true
    run jobrun apply a.yaml
    [ "$status" -eq 0 ]
    state_is a SUCCEEDED
    [ "$(field a 'j["attempt"]')" = 1 ]
    [ "$(jobrun logs a | wc -l)" -eq 24 ]
    nothing_runs
    sqlite_ok
  done
}

@test "a closed terminal does not end the run" {
  script -qec true /dev/null || skip "no terminals to be had here"
  job a.yaml a 'echo up; sleep 1; echo done'
  NO_COLOR=1 script -qec "'$JOBRUN' apply a.yaml" /dev/null >out.txt &
  local terminal=$!
  wait_until 5 grep -q '| up' out.txt
  kill -9 $terminal
  run jobrun wait a
  [ "$status" -eq 0 ]
  [[ $(jobrun logs a) == *done* ]]
}
