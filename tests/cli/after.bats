#!/usr/bin/env bats
# Jobs that are after others: planned as a graph, started in order, with and
# without somebody there.

load helper

# step ID AFTER COMMAND: jobs/ID.yaml, with `jobrun.after: AFTER`
step() {
  mkdir -p jobs
  job "jobs/$1.yaml" "$1" "$3"
  [ -z "$2" ] || echo "  after: $2" >>"jobs/$1.yaml"
}

# pending JOB EXPRESSION, of the job's entry `w` under notStarted
pending() {
  jobrun status --format json |
    python3 -c "import json,sys
w={w['jobId']: w for w in json.load(sys.stdin).get('notStarted', [])}.get('$1')
print($2)"
}

is_pending() {
  [ "$(pending "$1" 'w and w["state"]')" = "$2" ]
}

no_run_of() {
  run jobrun status "$1"
  [ "$status" -eq 66 ]
}

# Whoever adopts it may not have looked yet.
ended() {
  [ ! -e "/proc/$1" ] || grep -q '^State:.*Z' "/proc/$1/status"
}

@test "a job starts after those it names, whatever the files are called" {
  step a '[z]' "cat $TMP/z.txt; echo a >$TMP/a.txt"
  step m '[z, {job: a}]' "cat $TMP/z.txt $TMP/a.txt"
  step z '' "echo z >$TMP/z.txt"
  run jobrun plan jobs
  [ "$status" -eq 0 ]
  [[ $output == *"run  a  not run yet; after 'z'"* ]]
  [[ $output == *"run  m  not run yet; after 'z' and 'a'"* ]]
  jobrun plan --format json jobs >plan.json
  python3 - <<'PY'
import json
jobs = json.load(open('plan.json'))['jobs']
assert [j['jobId'] for j in jobs] == ['z', 'a', 'm'], jobs
needs = {j['jobId']: j['actions'][-1]['dependsOn'] for j in jobs}
assert needs == {'z': [], 'a': ['z/run/z'], 'm': ['z/run/z', 'a/run/a']}, needs
PY
  run jobrun apply jobs
  [ "$status" -eq 0 ]
  [[ $output == *"3 jobs: 3 succeeded"* ]]
  run jobrun apply jobs
  [ "$status" -eq 0 ]
  [[ $output == *"Nothing to do."* ]]
  nothing_runs
}

@test "jobs that do not wait for each other run side by side" {
  mkfifo b-to-c c-to-b
  step a '' true
  step b '[a]' "echo 1 >$TMP/b-to-c; read x <$TMP/c-to-b"
  step c '[a]' "read x <$TMP/b-to-c; echo 1 >$TMP/c-to-b"
  run jobrun apply jobs
  [ "$status" -eq 0 ]
  nothing_runs
}

@test "what is behind a failure is skipped with the reason, unless any end does" {
  step a '' 'exit 3'
  step b '[a]' "echo b >>$TMP/never"
  step c '[b]' "echo c >>$TMP/never"
  step d '[{job: a, state: ended}]' 'echo cleaned'
  step e '[{job: c, state: ended}]' 'echo told'
  step f '' 'echo by itself'
  run jobrun apply jobs
  [ "$status" -eq 1 ]
  [[ $output == *"b: SKIPPED: after 'a', which failed"* ]]
  [[ $output == *"c: SKIPPED: after 'b', which was skipped"* ]]
  [[ $output == *"6 jobs: 3 succeeded, 1 failed, 2 skipped"* ]]
  [ ! -e never ]
  jobrun logs d | grep -q cleaned
  jobrun logs e | grep -q told
  run jobrun status
  [[ $output == *"b  SKIPPED  after 'a', which failed"* ]]
  run jobrun status b
  [ "$status" -eq 0 ]
  [[ $output == *"b  SKIPPED  after 'a', which failed"* ]]
  run jobrun wait b
  [ "$status" -eq 1 ]
  [[ $output == *"b: SKIPPED: after 'a', which failed"* ]]
  # A failed run is not repeated, and so nothing behind it starts.
  run jobrun apply jobs
  [ "$status" -eq 1 ]
  [[ $output == *"skipped: after 'a', which failed before"* ]]
  [[ $output == *"skipped: after 'b', which is skipped"* ]]
  step a '' true
  run jobrun apply jobs
  [ "$status" -eq 0 ]
  [[ $output == *"6 jobs: 3 succeeded, 3 unchanged"* ]]
  run jobrun status
  [[ $output != *SKIPPED* ]]
  nothing_runs
}

@test "a circle and an unknown job are found" {
  step a '[c]' true
  step b '[a]' true
  step c '[b]' true
  run jobrun apply jobs
  [ "$status" -eq 65 ]
  [[ $output == *"jobrun.after: circular dependency: a -> c -> b -> a"* ]]
  rm -r jobs
  step a '[a]' true
  run jobrun validate jobs
  [ "$status" -eq 65 ]
  [[ $output == *'jobs/a.yaml:'*'"after" names the job itself'* ]]
  rm -r jobs
  step a '[nobody]' true
  run jobrun plan jobs
  [ "$status" -eq 0 ]
  [[ $output == *"! missing: the job 'nobody' (jobrun.after), which never ran here: name its file too"* ]]
  run jobrun apply jobs
  [ "$status" -eq 65 ]
  no_run_of a
}

@test "a job that ran before counts, though its file is not named" {
  step a '' true
  step b '[a]' "echo from b"
  run jobrun apply jobs/b.yaml
  [ "$status" -eq 65 ]
  jobrun apply jobs/a.yaml
  run jobrun apply jobs/b.yaml
  [ "$status" -eq 0 ]
  [[ $output == *"from b"* ]]
  nothing_runs
}

@test "detached, the order is kept with nobody there" {
  mkfifo go
  step a '' "read x <$TMP/go"
  step b '[a]' 'echo from b'
  step c '[b]' 'echo from c'
  run jobrun apply --detach jobs
  [ "$status" -eq 0 ]
  [[ $output == *"a: started; 'jobrun logs -f a' follows it"* ]]
  [[ $output == *"b: QUEUED: not run yet; after 'a'; process "* ]]
  is_pending b QUEUED
  [ "$(pending b 'w["kept"]')" = True ]
  run jobrun status b
  [[ $output == *"b  QUEUED  after 'a'; process "*" starts it"* ]]
  echo now >go
  run jobrun wait c
  [ "$status" -eq 0 ]
  state_is a SUCCEEDED
  state_is b SUCCEEDED
  jobrun logs c | grep -q 'from c'
  run jobrun status
  [[ $output != *QUEUED* ]]
  wait_until 20 nothing_runs
}

@test "detached, a failure leaves the rest skipped, and says why" {
  mkfifo go
  step a '' "read x <$TMP/go; exit 4"
  step b '[a]' true
  step c '[b]' true
  jobrun apply --detach jobs
  echo now >go
  run jobrun wait c
  [ "$status" -eq 1 ]
  [[ $output == *"c: SKIPPED: after 'b', which was skipped"* ]]
  [ "$(pending b 'w["reason"]')" = "after 'a', which failed" ]
  no_run_of_b=$(jobrun status --format json | grep -c '"jobId": "b"')
  [ "$no_run_of_b" -eq 1 ]
  wait_until 20 nothing_runs
}

@test "a wait for several goes on past one that was skipped" {
  local waiting
  mkfifo go end
  step a '' "read x <$TMP/go; exit 4"
  step b1 '[a]' true
  step b2 '[b1]' true
  step long '' "read x <$TMP/end"
  jobrun apply --detach jobs
  "$JOBRUN" wait b2 long >out 2>&1 &
  waiting=$!
  echo now >go
  wait_until 20 grep -q "b2: SKIPPED: after 'b1', which was skipped" out
  state_is long RUNNING
  echo now >end
  status=0
  wait $waiting || status=$?
  [ "$status" -eq 1 ]
  grep -q 'long: SUCCEEDED' out
  run jobrun wait 'b*'
  [ "$status" -eq 1 ]
  [[ $output == *"b1: SKIPPED: after 'a', which failed"* ]]
  [[ $output == *"b2: SKIPPED: "* ]]
  wait_until 20 nothing_runs
}

@test "killed while it keeps the order: said, and the next apply resumes" {
  mkfifo go
  step a '' "read x <$TMP/go"
  step b '[a]' 'echo from b'
  jobrun apply --detach jobs
  keeper=$(pending b 'w["pid"]')
  kill -9 "$keeper"
  wait_until 10 ended "$keeper"
  wait_until 20 state_is a RUNNING
  run jobrun status
  [[ $output == *"b  QUEUED  after 'a'; the process that was to start it is gone: 'jobrun apply' again"* ]]
  run jobrun wait b
  [ "$status" -eq 1 ]
  [[ $output == *"is gone; run 'jobrun apply' again"* ]]
  jobrun apply --detach jobs
  echo now >go
  run jobrun wait b
  [ "$status" -eq 0 ]
  jobrun logs b | grep -q 'from b'
  [ "$(field a "j['attempt']")" = 1 ]
  wait_until 20 nothing_runs
}

@test "a detached apply that fails at once says so to its caller" {
  step a '' true
  step b '[a, nobody]' true
  run jobrun apply --detach jobs
  [ "$status" -eq 65 ]
  [[ $output == *"which never ran here"* ]]
  no_run_of a
}

@test "detached, whatever fails is in the exit status, though others start" {
  step a '' 'exit 3'
  jobrun apply jobs/a.yaml || true
  step b '[a]' true
  mkfifo go
  step x '' "read x <$TMP/go"
  step y '[x]' true
  run jobrun apply --detach jobs
  [ "$status" -eq 1 ]
  [[ $output == *"x: started"* ]]
  [[ $output == *"y: QUEUED: "* ]]
  echo now >go
  run jobrun wait y
  [ "$status" -eq 0 ]
  wait_until 20 nothing_runs
}

@test "a job that waits is cancelled, and those behind it are skipped" {
  mkfifo go
  step a '' "read x <$TMP/go"
  step b '[a]' "echo b >$TMP/never"
  step c '[b]' "echo c >$TMP/never"
  step d '[{job: b, state: ended}]' 'echo cleaned'
  step e '[a]' 'echo from e'
  jobrun apply --detach jobs
  run jobrun cancel b
  echo "$output"
  [ "$status" -eq 0 ]
  [ "$output" = "jobrun: b: CANCELLED before it started" ]
  is_pending b CANCELLED
  # Nothing waits for the end of another job.
  wait_until 20 is_pending c SKIPPED
  state_is a RUNNING
  [ "$(pending c 'w["reason"]')" = "after 'b', which was cancelled" ]
  run jobrun status b
  [[ $output == *"b  CANCELLED  cancelled before it started"* ]]
  run jobrun cancel b
  [ "$status" -eq 0 ]
  [ "$output" = "jobrun: b: already CANCELLED" ]
  run jobrun wait b
  [ "$status" -eq 1 ]
  [[ $output == *"b: CANCELLED: cancelled before it started"* ]]
  echo now >go
  run jobrun wait e d
  [ "$status" -eq 0 ]
  jobrun logs d | grep -q cleaned
  state_is a SUCCEEDED
  [ ! -e never ]
  wait_until 20 nothing_runs
  # Whoever applies again wants it again.
  run jobrun apply jobs
  [ "$status" -eq 0 ]
  [ -e never ]
}

@test "a pattern cancels those that wait and those that run, listed first" {
  mkfifo go
  step a1 '' "read x <$TMP/go"
  step a2 '[a1]' true
  step a3 '[a2]' true
  jobrun apply --detach jobs
  run jobrun cancel 'a*' </dev/null
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *"will cancel a2 (not started, after 'a1')"* ]]
  state_is a1 RUNNING
  run jobrun cancel --yes 'a*'
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"a2: CANCELLED before it started"* ]]
  [[ $output == *"a3: CANCELLED before it started"* ]]
  state_is a1 CANCELLED
  is_pending a2 CANCELLED
  wait_until 20 nothing_runs
}
