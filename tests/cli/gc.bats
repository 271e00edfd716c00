# What nobody needs any more, and what a job has made.
load helper

# fake FILE ID FIELDS [JOBRUN FIELDS]
fake() {
  cat >"$1" <<END
jobId: $2
trainingInput: {scaleTier: BASIC}
jobrun: {provider: fake, ${4:-}fake: {$3}}
END
}

world() {
  (cd "${1:-$JOBRUN_STATE_DIR/fake-world}" && ls | grep json | sed 's/\.json//' | tr '\n' ' ')
}

forget_store() {
  rm -f "$JOBRUN_STATE_DIR"/jobrun.db*
}

clean() {
  [ "$(jobrun gc 2>&1)" = "nothing to clean up" ]
}

@test "nothing is found where there is nothing" {
  clean
  fake a.yaml a ''
  jobrun apply a.yaml
  job b.yaml b true
  jobrun apply b.yaml
  clean
  run jobrun gc --format json
  [ "$(python3 -c 'import json,sys; print(json.loads(sys.argv[1])["found"])' "$output")" = "[]" ]
}

@test "what is found is listed in the forms of status" {
  fake a.yaml a 'resources: 2, width: 1, failAt: ["create:2:kill-after"]'
  run jobrun apply a.yaml
  jobrun gc --format json >all.json
  [ "$(jobrun gc -o name)" = "$(jq -r '.found[].name' all.json)" ]
  [ -n "$(jobrun gc -o name)" ]
  [ "$(jobrun gc -o jsonl | jq -r .name)" = "$(jobrun gc -o custom=name)" ]
  jobrun gc -o csv | head -n 1 | grep -q name
}

@test "what no live run owns is found, and deleted only if asked, with the store lost too" {
  fake a.yaml a 'resources: 2, width: 1'
  fake b.yaml b 'resources: 2, width: 1, failAt: ["create:2:kill-after"]'
  fake c.yaml c 'resources: 1, runTime: 600000'
  jobrun apply a.yaml
  run jobrun apply b.yaml
  [ "$status" -eq 137 ]
  jobrun apply --detach c.yaml
  forget_store
  run jobrun gc --provider fake
  [ "$status" -eq 0 ]
  echo "$output"
  [[ $output == *"fake  thing  a-thing-01  (job a, "*" old): the run of its job has ended"* ]]
  [[ $output == *"fake  thing  b-thing-02  (job b, "*" old): no run of its job exists"* ]]
  [[ $output != *c-thing-01* ]]
  [[ $output == *"nothing deleted; pass --yes to delete it"* ]]
  [ "$(world)" = "run.a run.c thing.a-thing-01 thing.a-thing-02 thing.b-thing-01 thing.b-thing-02 thing.c-thing-01 " ]
  run jobrun gc --provider fake --yes
  [ "$status" -eq 0 ]
  [[ $output == *"4 deleted, 0 left"* ]]
  [ "$(world)" = "run.a run.c thing.c-thing-01 " ]
  jobrun gc --provider fake | grep -q 'nothing to clean up'
}

@test "what cleanup keeps is kept" {
  fake a.yaml a 'resources: 1' 'cleanup: never, '
  fake b.yaml b 'resources: 1, exitCode: 1' 'cleanup: onSuccess, '
  fake c.yaml c 'resources: 1' 'cleanup: onSuccess, '
  fake d.yaml d 'resources: 1, exitCode: 1' 'cleanup: always, '
  run jobrun apply a.yaml b.yaml c.yaml d.yaml
  run jobrun gc --yes
  [[ $output == *"2 deleted, 0 left"* ]]
  [ "$(world)" = "run.a run.b run.c run.d thing.a-thing-01 thing.b-thing-01 " ]
  # Without its run there is nothing to keep it for.
  rm state/fake-world/run.a.json
  run jobrun gc
  [[ $output == *"a-thing-01"*"no run of its job exists"* ]]
}

@test "what has expired is no use, if no run lives" {
  fake a.yaml a 'resources: 1' 'cleanup: never, '
  fake b.yaml b 'resources: 1, runTime: 600000' 'cleanup: never, '
  sed -i 's/BASIC/BASIC, scheduling: {maxRunningTime: 60s}/' a.yaml b.yaml
  jobrun apply a.yaml
  jobrun apply --detach b.yaml
  clean
  sed -i 's/"expireTimeMs": [0-9]*/"expireTimeMs": 1000/' state/fake-world/thing.*
  run jobrun gc --yes
  [[ $output == *"a-thing-01"*"it has expired"*"1 deleted, 0 left"* ]]
  [ "$(world)" = "run.a run.b thing.b-thing-01 " ]
}

@test "worlds elsewhere are found by what the store and job files say" {
  fake a.yaml a "resources: 1, world: $TMP/w"
  jobrun apply --applyset s a.yaml
  run jobrun gc
  [[ $output == *a-thing-01* ]]
  forget_store
  clean
  run jobrun gc a.yaml --format json --yes
  python3 -c '
import json, sys
one, = json.loads(sys.argv[1].split("\njobrun: ")[0])["found"]
assert one["kind"] == "thing" and one["jobId"] == "a" and one["deleted"], one
assert one["reason"] == "the run of its job has ended" and one["place"].endswith("/w")' "$output"
  [ "$(world w)" = "run.a " ]
}

@test "who works on a job is not disturbed" {
  fake a.yaml a 'resources: 4, width: 1, callTime: 300'
  "$JOBRUN" apply a.yaml >out.txt 2>&1 3>&- &
  wait_until 10 test -e state/fake-world/thing.a-thing-01.json
  run jobrun gc --yes
  echo "$output"
  [[ $output != *"a-thing"* ]]
  wait $!
  [ "$(world)" = "run.a thing.a-thing-01 thing.a-thing-02 thing.a-thing-03 thing.a-thing-04 " ]
}

@test "a deletion that fails is said, and the others are done" {
  fake a.yaml a 'resources: 1'
  fake b.yaml b 'resources: 1'
  jobrun apply a.yaml b.yaml
  echo 'delete:a-thing-01:permanent' >state/fake-world/failAt
  run jobrun gc --yes
  [ "$status" -eq 1 ]
  [[ $output == *"error: delete thing 'a-thing-01': failed, as told"*"1 deleted, 1 left"* ]]
  rm state/fake-world/failAt
  jobrun gc --yes
  [ "$(world)" = "run.a run.b " ]
  jobrun status --format json | python3 -c '
import json, sys
assert not json.load(sys.stdin)["unfinished"]'
}

@test "local: folders without a record, records without a folder" {
  job a.yaml a 'echo model >"$JOBRUN_RUN_DIR/model"'
  job b.yaml b true
  jobrun apply a.yaml b.yaml
  rm -r state/runs/b.1
  run jobrun gc
  [[ $output == *"local  record  b, attempt 1: the run's folder is gone"* ]]
  [[ $output != *a.1* ]]
  jobrun gc --yes
  run jobrun status b
  [ "$status" -eq 66 ]
  forget_store
  mkdir state/runs/c.1
  run jobrun gc --yes
  [[ $output == *"local  folder  $TMP/state/runs/c.1: the store has no such run"* ]]
  [[ $output == *"1 run unknown to the state directory has logs or output and is kept"* ]]
  [ ! -e state/runs/c.1 ]
  [ -e state/runs/a.1/output/model ]
  run jobrun gc --lost-runs
  [[ $output == *"local  folder  $TMP/state/runs/a.1  ("*"): the store has no such run"* ]]
  [ -e state/runs/a.1/output/model ]
  jobrun gc --lost-runs --yes
  [ ! -e state/runs/a.1 ]
  clean
}

@test "local: a run that lives is left alone, with the store lost too" {
  job a.yaml a "sleep $NAP"
  jobrun apply --detach a.yaml
  wait_until 10 pgrep -f "sleep $NAP"
  forget_store
  jobrun gc --yes
  pgrep -f "sleep $NAP"
  [ -e state/runs/a.1 ]
}

@test "local: processes whose run is over, and locks whose holder is dead" {
  job a.yaml a true
  jobrun apply a.yaml
  JOBRUN_RUN_DIR=$TMP/state/runs/a.1/output sleep "$NAP" 3>&- &
  local pid=$!
  mkdir -p state/locks
  bash -c 'echo "process $$ on $(uname -n), since then" >state/locks/a'
  : >state/jobrun.db.Ab3x9Z
  touch -d '2 hours ago' state/jobrun.db.Ab3x9Z
  : >state/jobrun.db.Ab3x9Y
  run jobrun gc
  echo "$output"
  [[ $output == *"local  process  $pid: its run 'a.1' has no supervisor any more"* ]]
  [[ $output == *"local  lock  a: its holder was killed"* ]]
  [[ $output == *"local  file  $TMP/state/jobrun.db.Ab3x9Z: its writer was killed"* ]]
  [[ $output != *9Y* ]]
  kill -0 $pid
  run jobrun gc --yes
  [ "$status" -eq 0 ]
  [[ $output == *"3 deleted, 0 left"* ]]
  wait_until 10 refute kill -0 $pid
  [ -z "$(ls state/locks)" ]
  [ ! -e state/jobrun.db.Ab3x9Z ]
  [ -e state/jobrun.db.Ab3x9Y ]
  clean
}

@test "a set's member of which nothing exists is forgotten" {
  mkdir jobs
  fake jobs/a.yaml a ''
  jobrun apply --applyset s jobs
  rm state/fake-world/run.a.json
  run jobrun gc --yes
  [[ $output == *"fake  member  a of set 's': nothing of it exists"*"1 deleted"* ]]
  clean
}

@test "wrong usage" {
  run jobrun gc --provider nowhere
  [ "$status" -eq 64 ]
  run jobrun gc --format xml
  [ "$status" -eq 64 ]
}

@test "gc of a store that can't be read finds not nothing" {
  fake a.yaml a 'resources: 1'
  jobrun apply a.yaml
  /usr/bin/python3 -c '
import os, sqlite3
db = sqlite3.connect("state/jobrun.db")
db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
db.close()
with open("state/jobrun.db", "r+b") as f:
    f.seek(4096)
    f.write(b"x" * (os.path.getsize("state/jobrun.db") - 4096))'
  run jobrun gc
  [ "$status" -eq 1 ]
  [[ $output == *"is damaged"* ]]
  [[ $output != *"nothing to clean up"* ]]
}

@test "delete removes all that a job made, wherever" {
  fake a.yaml a 'resources: 3, width: 1'
  fake b.yaml b 'resources: 1'
  jobrun apply a.yaml b.yaml
  sed -i 's/jobrun: {/jobrun: {command: ["true"], /' a.yaml
  jobrun apply --provider local a.yaml
  jobrun delete a
  [ "$(world)" = "run.b thing.b-thing-01 " ]
  [ -z "$(ls state/runs)" ]
  run jobrun delete a
  [ "$status" -eq 66 ]
  # The run goes first, then at once what it was made of.
  sed -n 's/^a delete [a-z]* \([^ ]*\) deleted/\1/p' state/fake-world/calls.log >gone
  [ "$(head -n 1 gone)" = a ]
  [ "$(sort gone | tr '\n' ' ')" = "a a-thing-01 a-thing-02 a-thing-03 " ]
}

@test "delete of a directory, with the store lost, in worlds of their own" {
  mkdir jobs
  fake jobs/a.yaml a "resources: 1, world: $TMP/w"
  fake jobs/b.yaml b "resources: 1, world: $TMP/v"
  fake jobs/c.yaml c "runTime: 600000, world: $TMP/v"
  jobrun apply --detach jobs
  forget_store
  run jobrun delete jobs
  [ "$status" -eq 75 ]
  [[ $output == *"delete 'c': still running; 'jobrun cancel c' stops it"* ]]
  [ "$(world w)" = "" ]
  [ "$(world v)" = "run.c " ]
}

@test "a deletion that was killed is gone on with" {
  fake a.yaml a 'resources: 3, width: 1'
  jobrun apply a.yaml
  echo 'delete:2:kill-after' >state/fake-world/failAt
  run jobrun delete a
  [ "$status" -eq 137 ]
  rm state/fake-world/failAt
  jobrun delete a
  [ "$(world)" = "" ]
  jobrun status --format json | python3 -c '
import json, sys
assert not json.load(sys.stdin)["unfinished"]'
  clean
}
