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
  [[ $output == *"create thing 'a-thing-02': it exists, but the job does not have it any more"* ]]
  run jobrun status
  [[ $output == *"a: create thing 'a-thing-02'"* ]]
}

# Someone is at it: the lock is held.
locked() {
  [ -s "$JOBRUN_STATE_DIR/locks/$1" ]
}

@test "a second apply of a job says who is at it, or waits" {
  fake a.yaml a 'resources: 4, width: 1, callTime: 150'
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
  wait_until 10 grep -q "attempt 1 is followed" again.txt
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
