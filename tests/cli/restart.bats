# A run that fails is started again, as its rules say.
bats_require_minimum_version 1.5.0
# bats file_tags=slow
load helper

# restarting FILE ID COMMAND RESTART: a job with a jobrun.restart
restarting() {
  job "$1" "$2" "$3" "${5:-}"
  echo "  restart: $4" >>"$1"
}

# Counts its starts in its own folder, which all attempts share.
COUNT='n=$(($(cat "$JOBRUN_RUN_DIR/n" 2>/dev/null || echo 0) + 1)); echo $n >"$JOBRUN_RUN_DIR/n"; echo "start $n";'

attempts() {
  jobrun status --all --format json "$1" |
    python3 -c 'import json,sys; print([(j["attempt"], j["state"]) for j in json.load(sys.stdin)["jobs"]][::-1])'
}

@test "a failed run is started again, in the same folder, with logs of its own" {
  restarting a.yaml a "$COUNT [ \$n = 3 ] || exit \$n" '{maxRestarts: 5, backoff: 0s}'
  run --separate-stderr jobrun apply a.yaml
  [ "$status" -eq 0 ]
  [ "$(sed 's/.*\] //' <<<"$output")" = "start 1
start 2
start 3" ]
  [[ $stderr == *"a: attempt 1 FAILED: master 0 exited with 1; attempt 2 starts"* ]]
  [[ $stderr == *"a: attempt 2 FAILED: master 0 exited with 2; attempt 3 starts"* ]]
  [ "$(attempts a)" = "[(1, 'FAILED'), (2, 'FAILED'), (3, 'SUCCEEDED')]" ]
  [ "$(field a 'j["firstAttempt"], j["restarts"], j["preemptions"], j["restartedFor"]')" = \
    "1 2 0 master 0 exited with 2" ]
  [ "$(jobrun logs --attempt 2 a | sed 's/.*\] //')" = "start 2" ]
  run jobrun status a
  [[ $output == *"restarted 2 times, last because attempt 2 FAILED: master 0 exited with 2"* ]]
  # Done is done.
  run --separate-stderr jobrun apply a.yaml
  [[ $stderr == *"already succeeded"* ]]
  # Another run begins anew.
  jobrun apply --rerun a.yaml
  [ "$(field a 'j["attempt"], j["firstAttempt"], j["restarts"]')" = "6 4 2" ]
  nothing_runs
}

@test "apply shows every attempt, however fast they follow each other" {
  local i
  mkdir jobs
  for i in {1..16}; do
    restarting jobs/$i.yaml j$i "$COUNT echo j$i at \$n; [ \$n = 3 ]" \
      '{maxRestarts: 5, backoff: 0s}'
  done
  run --separate-stderr jobrun apply jobs
  [ "$status" -eq 0 ]
  for i in {1..16}; do
    [ "$(grep -oE "j$i at [0-9]+" <<<"$output")" = "j$i at 1
j$i at 2
j$i at 3" ]
    [[ $stderr == *"j$i: attempt 1 started"* ]]
    [ "$(attempts j$i)" = "[(1, 'FAILED'), (2, 'FAILED'), (3, 'SUCCEEDED')]" ]
    [ "$(field j$i 'j["restartedFor"]')" = "master 0 exited with 1" ]
  done
}

@test "apply follows a run from its first attempt, whichever goes on now" {
  restarting a.yaml a "$COUNT [ \$n = 1 ] && exit 1; until [ -e $TMP/go ]; do sleep 0.1; done" \
    '{maxRestarts: 5, backoff: 0s}'
  jobrun apply --detach a.yaml
  wait_until 30 eval '[ "$(attempts a)" = "[(1, '"'FAILED'), (2, 'RUNNING'"')]" ]'
  jobrun apply a.yaml >out 2>err &
  wait_until 30 grep -q 'start 2' out
  touch go
  wait $!
  [ "$(sed 's/.*\] //' out)" = "start 1
start 2" ]
  grep -q "a: following attempt 1" err
  grep -q "a: attempt 1 FAILED: master 0 exited with 1; attempt 2 starts" err
}

@test "after maxRestarts it stays as it is, and says so" {
  restarting a.yaml a 'exit 7' '{maxRestarts: 2, backoff: 0s}'
  run jobrun apply a.yaml
  [ "$status" -eq 1 ]
  [[ $output == *"a: FAILED after 0s: master 0 exited with 7 (not restarted: already restarted 2 times (jobrun.restart.maxRestarts))"* ]]
  [ "$(attempts a)" = "[(1, 'FAILED'), (2, 'FAILED'), (3, 'FAILED')]" ]
}

@test "the first rule that holds decides" {
  restarting a.yaml a "$COUNT [ \$n = 1 ] && kill -SEGV \$\$; exit 3" \
    '{maxRestarts: 5, backoff: 0s, rules: [{exitCodes: ["3"], action: fail}, {signals: [SIGSEGV], action: restart}]}'
  run jobrun apply a.yaml
  [ "$status" -eq 1 ]
  [[ $output == *"attempt 1 FAILED: master 0 was killed by SIGSEGV; attempt 2 starts"* ]]
  [[ $output == *"master 0 exited with 3 (not restarted: by rule 1 of jobrun.restart)"* ]]
}

@test "all tasks of an attempt are gone before the next begins" {
  restarting a.yaml a "if [ \$RANK = 0 ]; then $COUNT [ \$n = 3 ] && exit 0; sleep 0.2; exit 1; fi
    sleep $NAP & exec sleep $NAP" '{maxRestarts: 5, backoff: 0s}' "$WORKERS"
  run jobrun apply a.yaml
  [ "$status" -eq 0 ]
  refute pgrep -f "sleep $NAP"
  wait_until 5 nothing_runs
}

@test "while it waits its state says so, and cancel ends the wait" {
  restarting a.yaml a 'exit 7' '{maxRestarts: 2, backoff: 1h}'
  jobrun apply --detach a.yaml
  second() { [ "$(field a 'j["attempt"], j["state"]')" = "2 QUEUED" ]; }
  wait_until 10 second
  [ "$(field a 'j["restartedFor"], j["notBefore"] > j["createTime"], j["tasks"]')" = \
    "master 0 exited with 7 True []" ]
  run jobrun status a
  [[ $output == *"restarted 1 time, last because attempt 1 FAILED: master 0 exited with 7"* ]]
  [[ $output == *"waits another"*"before it starts"* ]]
  run --separate-stderr jobrun apply --detach a.yaml
  [ "$status" -eq 0 ]
  [ "$(field a 'j["attempt"]')" = 2 ]
  jobrun cancel a
  state_is a CANCELLED
  nothing_runs
  [ "$(attempts a)" = "[(1, 'FAILED'), (2, 'CANCELLED')]" ]
}

@test "who follows goes on into the next attempt" {
  restarting a.yaml a "$COUNT until [ -e go\$n ]; do sleep 0.05; done; [ \$n = 2 ] || exit 1" \
    '{maxRestarts: 5, backoff: 0s}'
  jobrun apply --detach a.yaml
  jobrun logs -f a >logs.txt 2>logs.err &
  local logs=$!
  jobrun wait a 2>wait.err &
  local wait=$!
  jobrun metrics -f --format csv a >metrics.txt 2>&1 &
  local metrics=$!
  wait_until 10 grep -q "start 1" logs.txt
  touch go1
  wait_until 10 grep -q "start 2" logs.txt
  touch go2
  wait "$wait" "$logs" "$metrics"
  grep -q "SUCCEEDED" wait.err
  [ "$(sed 's/.*\] //' logs.txt)" = "start 1
start 2" ]
  grep -q "attempt 1 FAILED: master 0 exited with 1; attempt 2 starts" logs.err
}

@test "a supervisor that is killed while it waits leaves a failed run" {
  restarting a.yaml a 'exit 7' '{maxRestarts: 2, backoff: 1h}'
  jobrun apply --detach a.yaml
  second() { [ "$(field a 'j["attempt"], j["state"]')" = "2 QUEUED" ]; }
  wait_until 10 second
  kill -9 "$(tr -d '\0' <"$JOBRUN_STATE_DIR/runs/a.1/lock")"
  wait_until 10 state_is a FAILED
  [[ $(field a 'j["error"]') == *"the run's supervisor was killed by SIGKILL"* ]]
  wait_until 10 nothing_runs
  # And with its guard, too.
  jobrun apply --rerun --detach a.yaml
  fourth() { [ "$(field a 'j["attempt"], j["state"]')" = "4 QUEUED" ]; }
  wait_until 10 fourth
  kill -9 $(marked)
  wait_until 10 state_is a FAILED
  [[ $(field a 'j["error"]') == *"the run's supervisor and its guard were killed"* ]]
  nothing_runs
}

@test "killed at any instant of a restart: one end, and nothing runs" {
  local i
  for i in 1 2 3 4 5 6 7 8; do
    restarting k.yaml "k$i" "sleep $NAP & sleep 0.0$i; exit 1" '{maxRestarts: 1000, backoff: 0s}'
    jobrun apply --detach k.yaml
    sleep "0.$((i * 7 % 10))$i"
    kill -9 "$(tr -d '\0' <"$JOBRUN_STATE_DIR/runs/k$i.1/lock")"
    wait_until 10 state_is "k$i" FAILED
    # Each attempt but the last has failed by itself, and each has its logs.
    jobrun status --all --format json "k$i" | python3 -c '
import json,os,sys
runs=json.load(sys.stdin)["jobs"][::-1]
assert [r["attempt"] for r in runs] == list(range(1, len(runs) + 1)), runs
for r in runs:
    assert r["state"] == "FAILED" and r["firstAttempt"] == 1, r
    assert r["restarts"] == r["attempt"] - 1, r
    assert os.path.exists("%s/runs/%s.%d/spec.json" % (os.environ["JOBRUN_STATE_DIR"], r["jobId"], r["attempt"]))
for r in runs[:-1]:
    assert r["error"] == "master 0 exited with 1", r
'
    wait_until 10 nothing_runs
    refute pgrep -f "sleep $NAP"
  done
}

@test "a cancel that comes while an attempt fails is not followed by another" {
  restarting a.yaml a "trap 'echo >>$TMP/told' TERM; until [ \$RANK = 1 ] && [ -e $TMP/go ]; do sleep 0.05; done; exit 7" \
    '{maxRestarts: 5, backoff: 0s}' "$WORKERS"
  sed -i 's/grace: .*/grace: 90s/' a.yaml
  jobrun apply --detach a.yaml
  local pid
  pid=$(tr -d '\0' <"$JOBRUN_STATE_DIR/runs/a.1/lock")
  : >go
  # Within the time that the others have to end.
  wait_until 30 test -e told
  kill -TERM "$pid"
  run jobrun wait a
  [ "$status" -eq 1 ]
  [ "$(field a 'j["attempt"]')" = 1 ]
  nothing_runs
}

@test "the time limit is for all attempts together" {
  restarting a.yaml a 'sleep 0.6; exit 1' '{maxRestarts: 100, backoff: 0s}' '  scheduling: {maxRunningTime: 2s}'
  run jobrun apply a.yaml
  [ "$status" -eq 1 ]
  [[ $output == *"cancelled for exceeding the maximum running time of 2s"* ]]
  state_is a CANCELLED
  [ "$(field a 'j["attempt"]')" -le 5 ]
}

@test "setup runs once, packages are unpacked once" {
  restarting a.yaml a "$COUNT [ \$n = 2 ]" '{maxRestarts: 5, backoff: 0s}'
  echo "  setup: [sh, -c, 'echo setup; echo x >>setups']" >>a.yaml
  run jobrun apply a.yaml
  [ "$status" -eq 0 ]
  [ "$(wc -l <setups)" = 1 ]
}
