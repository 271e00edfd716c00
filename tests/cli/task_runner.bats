# Tasks that somebody else starts, by `jobrun launch --run`: what one does
# while another on its node runs `setup` for both.
load helper
load task_runner

# setup_job COMMAND: two tasks on a node, and a setup.
setup_job() {
  job a.yaml a "echo started; exec sleep $NAP" "${WORKERS/2/1}"
  printf '  setup: [sh, -c, %s]\n' "$(python3 -c 'import json,sys; print(json.dumps(sys.argv[1]))' "$1")" >>a.yaml
  runner_folder a.yaml
}

# has_record TASK: it says when the task started and ended.
has_record() {
  grep -q '^start ' "R/attempts/0/tasks/$1" && grep -q '^end ' "R/attempts/0/tasks/$1"
}

gone() {
  refute kill -0 "$@" 2>/dev/null
}

# All that were started end within two seconds of now (four on a busy machine),
# each with its record.
end_within_2s() {
  wait_until 4 nobody_lives
  has_record master-0
  has_record worker-0
  refute grep -rqs started R/attempts/0/logs
  wait_until 4 nothing_runs
}

nobody_lives() {
  local pid
  for pid in "${pids[@]}"; do
    if kill -0 "$pid" 2>/dev/null; then return 1; fi
  done
}

# hears_term PID: it catches SIGTERM or reads it from a descriptor, and is no
# longer ended by it.
hears_term() {
  local mask
  for mask in $(sed -n 's/^Sig\(Blk\|Cgt\):\t//p' "/proc/$1/status"); do
    if ((0x$mask >> 14 & 1)); then return 0; fi
  done
  return 1
}

start_both() {
  pids=()
  runner_task 0 2 &
  pids+=($!)
  runner_task 1 2 &
  pids+=($!)
  wait_until 20 hears_term "${pids[0]}"
  wait_until 20 hears_term "${pids[1]}"
}

@test "setup fails: the task beside it does not wait, and is not to blame" {
  setup_job 'sleep 0.3; exit 9'
  start_both
  wait_until 10 grep -qs '^end ' R/attempts/0/tasks/master-0
  end_within_2s
  grep -q '^told 15 ' R/attempts/0/tasks/worker-0
  refute grep -q '^told ' R/attempts/0/tasks/master-0
  grep -q 'setup exited with 9' R/attempts/0/logs/master-0.stderr
  grep -q 'setup failed' R/attempts/0/logs/worker-0.stderr
}

@test "SIGTERM while one runs setup, and the other waits for it" {
  setup_job "touch $TMP/setting-up; exec sleep $NAP"
  rm -f setting-up
  start_both
  wait_until 20 test -e setting-up
  kill -TERM "${pids[1]}"
  wait_until 4 has_record worker-0
  kill -0 "${pids[0]}"
  kill -TERM "${pids[0]}"
  end_within_2s
  grep -q '^told 15 ' R/attempts/0/tasks/worker-0
  grep -q '^told 15 ' R/attempts/0/tasks/master-0
}

@test "SIGTERM in a setup that makes nothing of it: no task starts" {
  setup_job "trap : TERM; touch $TMP/setting-up; i=0; while [ \$i -lt 5 ]; do sleep 0.1; i=\$((i+1)); done; exit 0"
  rm -f setting-up
  start_both
  wait_until 20 test -e setting-up
  kill -TERM "${pids[0]}"
  end_within_2s
  grep -q '^told 15 ' R/attempts/0/tasks/master-0
}

@test "SIGTERM, and once more while they end: the grace is not longer for that" {
  job a.yaml a "trap : TERM; touch $TMP/up.\$RANK; while :; do sleep 0.1; done" "${WORKERS/2/1}"
  sed -i 's/grace: .*/grace: 1s/' a.yaml
  runner_folder a.yaml
  rm -f up.*
  start_both
  wait_until 20 test -e up.0 -a -e up.1
  kill -TERM "${pids[@]}"
  sleep 0.5
  kill -TERM "${pids[@]}"
  wait_until 4 nobody_lives
  has_record master-0
  has_record worker-0
  wait_until 4 nothing_runs
}

# secret_job [MORE]: two tasks that have read a secret, and go on.
secret_job() {
  job a.yaml a "echo \${#S}; exec sleep $NAP" "${WORKERS/2/1}"
  printf '%s\n' "  secrets: {S: {env: S}}" "$@" >>a.yaml
  S=hush runner_folder a.yaml
  echo '{"S": "hush"}' >R/secrets.json
}

have_read() {
  [ "$(cat R/attempts/0/logs/master-0.stdout R/attempts/0/logs/worker-0.stdout 2>/dev/null | tr '\n' ' ')" = "4 4 " ]
}

@test "the secrets are on the disk until all tasks have read them" {
  secret_job
  pids=()
  runner_task 0 2 &
  pids+=($!)
  wait_until 10 grep -qs 4 R/attempts/0/logs/master-0.stdout
  sleep 1
  [ -e R/secrets.json ]
  runner_task 1 2 &
  pids+=($!)
  wait_until 10 have_read
  wait_until 10 test ! -e R/secrets.json
  kill "${pids[@]}"
  wait_until 10 nobody_lives
}

@test "the secrets of a run that may be restarted stay until its script ends" {
  secret_job '  restart: {maxRestarts: 1, backoff: 0s}'
  start_both
  wait_until 10 have_read
  sleep 1
  [ -e R/secrets.json ]
  kill "${pids[@]}"
  wait_until 10 nobody_lives
  echo 0 >R/attempts/0/begun
  echo 143 >R/attempts/0/status
  jobrun next-attempt --job 7 R
  [ ! -e R/secrets.json ]
}

@test "a program that cannot start: the end is there at once, and the log says why" {
  job a.yaml a true
  runner_folder a.yaml
  # It was there when the job was applied.
  python3 - <<'PY'
import json
spec = json.load(open("R/spec.json"))
spec["command"] = ["no-such-trainer"]
json.dump(spec, open("R/spec.json", "w"))
PY
  run runner_task_and_wait
  [ "$status" -eq 1 ]
  grep -q '^end ' R/attempts/0/tasks/master-0
  grep -q "command 'no-such-trainer' not found in PATH" R/attempts/0/logs/master-0.stderr
}

runner_task_and_wait() {
  (runner_task 0 1)
}
