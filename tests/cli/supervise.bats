# What the processes that own a run do when things go wrong around them.
bats_require_minimum_version 1.5.0
load helper

supervisor() {
  tr -d ' \n' <state/runs/a.1/lock
}

@test "too few open files: the run fails and says so" {
  job a.yaml a 'echo x' "$WORKERS"
  # Enough to take the run over, not for the pipes and logs of each task.
  run bash -c "ulimit -n 30; exec '$JOBRUN' apply -d a.yaml"
  [[ $output == *"a: started"* ]]
  wait_until 5 state_is a FAILED
  [[ $(field a 'j["error"]') == "3 tasks need 50 open files here, and the limit is 30"* ]]
  [ "$(field a '{t["state"] for t in j["tasks"]} - {"CANCELLED"}')" = "set()" ]
  nothing_runs
}

@test "a run keeps nothing open that its caller had" {
  job a.yaml a 'ls /proc/self/fd; sleep 100'
  jobrun apply -d a.yaml 7>kept 9>kept
  wait_until 5 state_is a RUNNING
  [[ $(ls -l "/proc/$(supervisor)/fd") != *kept* ]]
  [[ $(ls -l "/proc/$(ps -o ppid= -p "$(supervisor)" | tr -d ' ')/fd") != *kept* ]]
  [[ $(ls -l "/proc/$(field a 'j["tasks"][0]["pid"]')/fd") != *kept* ]]
  jobrun cancel --now a
}

@test "the time limit does not cancel what has succeeded" {
  job a.yaml a '[ "$RANK" = 0 ] && exit 0; trap "" TERM; while :; do sleep 0.1; done' "$WORKERS
  scheduling: {maxRunningTime: 1s}"
  run jobrun apply a.yaml
  [ "$status" -eq 0 ]
  state_is a SUCCEEDED
  nothing_runs
}

@test "applied by two at once it is one run" {
  job a.yaml a 'echo x; sleep 1'
  "$JOBRUN" apply --lock-timeout 20s a.yaml >1.txt 2>&1 &
  local first=$!
  # One waits for the other to start the run, and follows it then.
  run jobrun apply --lock-timeout 20s a.yaml
  [ "$status" -eq 0 ]
  wait $first
  [ "$(grep -c '\] x$' 1.txt)" -eq 1 ]
  [ "$(grep -c '\] x$' <<<"$output")" -eq 1 ]
  [ "$(field a 'j["attempt"]')" = 1 ]
  [ "$(ls state/runs)" = a.1 ]
}

@test "a secret that no variable can hold is refused" {
  job a.yaml a 'echo x'
  printf 'KEY: s3cr\0et' >secret.txt
  echo '  secrets: {TOKEN: {file: secret.txt}}' >>a.yaml
  run jobrun apply a.yaml
  [ "$status" -eq 65 ]
  [[ $output == *"secret 'TOKEN': '"*"secret.txt' holds a zero byte"* ]]
  [[ $output != *s3cr* ]]
}

@test "no core file of what holds secrets; tasks keep the limit of the user" {
  core_limit() { awk '/^Max core file size/ { print $5 }' "/proc/$1/limits"; }
  # In blocks of 1024 bytes here, of 512 in sh.
  ulimit -Sc 4 || skip "core files are limited here"
  # The sanitizer would set the limit itself.
  export ASAN_OPTIONS=disable_coredump=0:${ASAN_OPTIONS:-}
  job a.yaml a 'ulimit -Sc; sleep 100'
  "$JOBRUN" apply a.yaml >out 2>&1 &
  wait_until 10 grep -q '\[0\] 8$' out
  # 1: no collector of cores is started either.
  [ "$(core_limit $!)" = 1 ]
  [ "$(core_limit "$(supervisor)")" = 1 ]
  [ "$(core_limit "$(field a 'j["tasks"][0]["pid"]')")" = 4096 ]
  jobrun cancel --now a
  wait
  run -0 "$JOBRUN" launch -- sh -c 'ulimit -Sc'
  [[ $output == *8 ]]
}
