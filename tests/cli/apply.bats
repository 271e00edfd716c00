# What apply leaves behind when it is killed, and two of them at once.
load helper

# fake FILE ID FIELDS
fake() {
  cat >"$1" <<END
jobId: $2
trainingInput: {scaleTier: BASIC}
jobrun: {provider: fake, fake: {$3}}
END
}

# How often something was made, by the fake provider's own log.
made() {
  grep -c ' made' "$JOBRUN_STATE_DIR/fake-world/calls.log"
}

intact() {
  python3 - <<'EOF2'
import os, sqlite3
db = sqlite3.connect(os.environ["JOBRUN_STATE_DIR"] + "/jobrun.db")
assert db.execute("pragma integrity_check").fetchone() == ("ok",)
assert db.execute("select count(*) from journal where outcome is null").fetchone() == (0,)
EOF2
  [ -z "$(ls "$JOBRUN_STATE_DIR/locks")" ]
}

@test "a killed apply is gone on with, and says so" {
  fake a.yaml a 'resources: 6, width: 1, failAt: ["create:4:kill-after"]'
  run jobrun apply a.yaml
  [ "$status" -eq 137 ]
  run jobrun status
  [[ $output == *"a: create thing 'a-thing-04', process "* ]]
  jobrun status --format json | python3 -c '
import json, sys
one, = json.load(sys.stdin)["unfinished"]
assert one["jobId"] == "a" and one["name"] == "a-thing-04", one'
  fake a.yaml a 'resources: 6, width: 1'
  run jobrun apply a.yaml
  [ "$status" -eq 0 ]
  [[ $output == *"an earlier command was interrupted at create thing 'a-thing-04': it exists"* ]]
  run jobrun apply a.yaml
  [ "$status" -eq 0 ]
  [[ $output != *interrupted* ]]
  [ "$(made)" -eq 7 ]
  intact
}

@test "a killed apply that made nothing yet" {
  fake a.yaml a 'resources: 3, width: 1, failAt: ["create:2:kill"]'
  run jobrun apply a.yaml
  [ "$status" -eq 137 ]
  fake a.yaml a 'resources: 1'
  run jobrun apply a.yaml
  [ "$status" -eq 0 ]
  [[ $output == *"create thing 'a-thing-02': it does not exist"* ]]
  intact
}

@test "what was begun and is not wanted any more is told" {
  fake a.yaml a 'resources: 3, width: 1, failAt: ["create:2:kill-after"]'
  run jobrun apply a.yaml
  [ "$status" -eq 137 ]
  fake a.yaml a 'resources: 1'
  run jobrun apply a.yaml
  [ "$status" -eq 0 ]
  [[ $output == *"create thing 'a-thing-02': it exists, but the job no longer has it"* ]]
  run jobrun status
  [[ $output == *"a: create thing 'a-thing-02'"* ]]
}

# Someone is at it: the lock is held.
locked() {
  [ -s "$JOBRUN_STATE_DIR/locks/$1" ]
}

@test "a second apply of a job says who is at it, or waits" {
  fake a.yaml a 'resources: 4, width: 1, callTime: 400'
  jobrun apply a.yaml 3>&- &
  wait_until 10 locked a
  run jobrun apply a.yaml
  echo "$output"
  [ "$status" -eq 75 ]
  [[ $output == *"another jobrun is working on job 'a': process "* ]]
  run jobrun delete a
  [ "$status" -eq 75 ] || [ "$status" -eq 1 ]
  run jobrun apply --lock-timeout 60s a.yaml
  [ "$status" -eq 0 ]
  [[ $output == *"waiting for it"* ]]
  [[ $output == *"Nothing to do."* ]]
  wait
  [ "$(made)" -eq 5 ]
  intact
}

@test "the lock of a killed apply is free at once" {
  fake a.yaml a 'resources: 4, width: 1, callTime: 150'
  "$JOBRUN" apply a.yaml 3>&- &
  wait_until 10 locked a
  kill -9 $!
  wait $! || true
  fake a.yaml a 'resources: 4, width: 1'
  jobrun apply a.yaml
  [ "$(made)" -eq 5 ]
  intact
}

@test "who only follows a run keeps nobody out" {
  job a.yaml a "sleep $NAP"
  "$JOBRUN" apply a.yaml >out.txt 2>&1 3>&- &
  wait_until 10 grep -q "attempt 1 started" out.txt
  "$JOBRUN" apply a.yaml >again.txt 2>&1 3>&- &
  wait_until 10 grep -q "following attempt 1" again.txt
  [ -z "$(ls "$JOBRUN_STATE_DIR/locks")" ]
  jobrun cancel a
  wait
  [ "$(jobrun status --all --format json | grep -c '"attempt"')" -eq 1 ]
}

@test "no supervisor or task holds the lock" {
  job a.yaml a "sleep $NAP"
  jobrun apply --detach a.yaml
  run jobrun apply --detach --rerun a.yaml
  [ "$status" -eq 0 ]
  jobrun cancel a
}

@test "20 at once of one job start one run" {
  local i
  job a.yaml a 'echo x >>"'"$TMP"'/ran"'
  for i in $(seq 20); do
    (jobrun apply --lock-timeout 60s a.yaml >$i.txt 2>&1 3>&-
     echo $? >$i.status) &
  done
  wait
  [ "$(cat ./*.status | sort -u)" = 0 ]
  [ "$(wc -l <ran)" -eq 1 ]
  intact
}

@test "two directories that share a job: one run, no deadlock" {
  local i
  mkdir one two
  fake one/1.yaml first 'resources: 2'
  fake one/2.yaml shared 'resources: 5'
  fake two/1.yaml shared 'resources: 5'
  fake two/2.yaml another 'resources: 2'
  for i in $(seq 10); do
    (timeout 60 "$JOBRUN" apply --lock-timeout 50s one >o$i.txt 2>&1 3>&-
     echo $? >o$i.status) &
    (timeout 60 "$JOBRUN" apply --lock-timeout 50s two >t$i.txt 2>&1 3>&-
     echo $? >t$i.status) &
  done
  wait
  [ "$(cat ./*.status | sort -u)" = 0 ]
  [ "$(made)" -eq 12 ]
  intact
}

# The exit statuses of all that ran at once, each once.
statuses() {
  cat ./*.status | sort -u | tr '\n' ' '
}

@test "50 at once of one job and of two directories that share it: one run each" {
  local i
  mkdir one two
  fake one/1.yaml first 'resources: 1, runTime: 100'
  fake one/2.yaml shared 'resources: 2, runTime: 100'
  fake two/1.yaml shared 'resources: 2, runTime: 100'
  fake two/2.yaml another 'runTime: 100'
  for i in $(seq 50); do
    set -- one two one/2.yaml
    shift $((i % 3))
    (timeout 200 "$JOBRUN" apply --lock-timeout 150s "$1" >$i.txt 2>&1 3>&-
     echo $? >$i.status) &
  done
  wait
  cat ./*.txt | grep error || true
  [ "$(statuses)" = "0 " ]
  [ "$(made)" -eq 6 ]
  [ "$(grep -c 'create run .* made' "$JOBRUN_STATE_DIR/fake-world/calls.log")" -eq 3 ]
  intact
}

@test "two at once without patience: one does it, the others are told who" {
  local i
  fake a.yaml a 'resources: 3, width: 1, callTime: 50'
  for i in 1 2 3 4; do
    (timeout 60 "$JOBRUN" apply a.yaml >$i.txt 2>&1 3>&-; echo $? >$i.status) &
  done
  wait
  [ "$(made)" -eq 4 ]
  grep -qx 0 ./*.status
  for i in 1 2 3 4; do
    grep -qx 0 $i.status || grep -q "another jobrun is working on job 'a'" $i.txt
  done
  intact
}

@test "applying and pruning at once: nothing is lost that has a file" {
  local i
  mkdir old new
  echo set >old/.jobrun-applyset
  cp old/.jobrun-applyset new/
  fake old/a.yaml a 'resources: 1'
  fake old/b.yaml b 'resources: 1'
  fake new/a.yaml a 'resources: 1'
  jobrun apply old
  for i in $(seq 8); do
    (timeout 60 "$JOBRUN" apply --prune --yes --lock-timeout 50s new \
      >$i.txt 2>&1 3>&-; echo $? >$i.status) &
    (timeout 60 "$JOBRUN" apply --lock-timeout 50s new/a.yaml >a$i.txt 2>&1 3>&-
     echo $? >a$i.status) &
  done
  wait
  [ "$(statuses)" = "0 " ]
  [ "$(ls "$JOBRUN_STATE_DIR/fake-world" | grep -c json)" -eq 2 ]
  [ "$(made)" -eq 4 ]
  intact
}

@test "a call that fails names the action, the resource and the way on" {
  fake a.yaml a 'resources: 3, width: 1, failAt: ["create:2:permanent"]'
  run jobrun apply a.yaml
  [ "$status" -eq 1 ]
  [[ $output == *"jobrun: run 'a': not started"* ]]
  [[ $output == *"jobrun: error: create thing 'a-thing-02': failed, as told"* ]]
  [[ $output == *"run the same 'jobrun apply' to resume, or 'jobrun delete a' to undo them"* ]]
  fake a.yaml a 'resources: 3, width: 1'
  run jobrun apply a.yaml
  [ "$status" -eq 0 ]
  [[ $output != *"completed steps are kept"* ]]
  [ "$(made)" -eq 4 ]
  intact
}

@test "no answer, ever: it may have been done, and is looked at" {
  fake a.yaml a 'resources: 1, failAt: ["create:a-thing-01:lost"]'
  run jobrun apply a.yaml
  [ "$status" -eq 69 ]
  [[ $output == *"create thing 'a-thing-01': no answer, as told; trying again"* ]]
  [[ $output == *"error: create thing 'a-thing-01': no answer, as told"* ]]
  fake a.yaml a 'resources: 1'
  run jobrun apply a.yaml
  [ "$status" -eq 0 ]
  [[ $output == *"an earlier command had no answer at create thing 'a-thing-01': it exists"* ]]
  [ "$(made)" -eq 2 ]
  intact
}

@test "SIGTERM and SIGHUP leave a run elsewhere, with 130 if not all was started" {
  fake a.yaml a 'runTime: 60000'
  for signal in TERM HUP; do
    "$JOBRUN" apply a.yaml >out.txt 2>&1 3>&- &
    wait_until 10 test -e state/fake-world/run.a.json
    # SIGHUP is the lowest of the signals that it has blocked.
    wait_until 10 grep -q '^SigBlk:.*[13579bdf]$' /proc/$!/status
    kill -$signal $!
    wait $!
    grep -q "a: continues; 'jobrun logs -f a' follows it, 'jobrun cancel a' stops it" out.txt
  done
  fake b.yaml b 'resources: 4, width: 1, callTime: 200'
  "$JOBRUN" apply b.yaml >out.txt 2>&1 3>&- &
  wait_until 10 test -e state/fake-world/thing.b-thing-02.json
  kill -TERM $!
  status=0
  wait $! || status=$?
  [ "$status" = 130 ]
  [ ! -e state/fake-world/run.b.json ]
}

@test "cancelled in the middle, with Ctrl-C: the rest is done the next time" {
  fake a.yaml a 'resources: 4, width: 1, callTime: 200'
  "$JOBRUN" apply a.yaml >out.txt 2>&1 3>&- &
  wait_until 10 test -e state/fake-world/thing.a-thing-02.json
  kill -INT $!
  wait $! || true
  wait_until 10 refute locked a
  fake a.yaml a 'resources: 4, width: 1'
  grep -q 'completed steps are kept' out.txt
  [ ! -e state/fake-world/run.a.json ]
  jobrun apply a.yaml
  [ "$(made)" -eq 5 ]
  intact
}
