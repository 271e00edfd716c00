load helper

# A fake job with things, and a plan of it in p.json.
fake_job() {
  cat >f.yaml <<END
jobId: f
trainingInput: {scaleTier: BASIC, args: [--lr, "0.1"]}
jobrun:
  provider: fake
  command: [train]
  fake: {resources: 3, ${1:-color: red}}
END
}

# calls WHAT: how often the fake world was asked for it
calls() {
  cat "$JOBRUN_STATE_DIR"/fake-world/calls.log 2>/dev/null | grep -c " $1 " || true
}

refused() {
  run jobrun apply --yes "$1"
  echo "$output"
  [ "$status" -eq 75 ]
}

@test "a saved plan is applied once" {
  fake_job
  jobrun plan --out p.json f.yaml >plan.txt
  grep -q 'Plan: 1 to run, 3 to create' plan.txt
  [ "$(stat -c %a p.json)" = 600 ]
  [ "$(calls create)" = 0 ]
  jobrun apply --yes p.json
  [ "$(calls create)" = 4 ]
  refused p.json
  [[ $output == *"'p.json' was already applied; nothing done"* ]]
  [[ $output == *"thing 'f-thing-01' of job 'f': the plan was create"* ]]
  [ "$(calls create)" = 4 ]
}

@test "a local run: applied, applied again, with --rerun too" {
  job a.yaml a 'echo hi'
  jobrun plan --out p.json a.yaml
  [ "$(jobrun apply p.json | grep -c hi)" = 1 ]
  refused p.json
  [[ $output == *"already applied"* ]]
  # What is said to be typed can be typed.
  run jobrun plan --rerun --out "p's.json" a.yaml
  [[ $output == *"saved: 'jobrun apply 'p'\\''s.json'' does exactly this"* ]]
  jobrun plan --rerun --out p.json a.yaml
  [ "$(jobrun apply p.json | grep -c hi)" = 1 ]
  refused p.json
  [[ $output == *"already applied"* ]]
  [[ $output == *"again, after attempt 2"* ]]
  [ "$(field a "j['attempt']")" = 2 ]
}

@test "the file changed: refused, with the fields" {
  fake_job
  jobrun plan --out p.json f.yaml
  sed -i 's/0\.1/0.2/' f.yaml
  refused p.json
  [[ $output == *"job 'f': trainingInput.args was --lr 0.1, is --lr 0.2"* ]]
  [[ $output == *"'p.json' is stale; nothing done"* ]]
  # What does not count does not count.
  sed -i 's/0\.2/0.1/; 1i # a comment' f.yaml
  jobrun apply --yes p.json
  jobrun plan --rerun --out p.json f.yaml
  echo 'jobId: [' >f.yaml
  refused p.json
  rm f.yaml
  refused p.json
  [ "$(calls create)" = 4 ]
}

@test "the source changed: refused, with the files" {
  mkdir -p src
  touch src/a.py src/b.py src/c.py
  job a.yaml a 'echo hi'
  echo '  source: src' >>a.yaml
  jobrun plan --out p.json a.yaml
  echo 1 >src/a.py
  rm src/b.py
  refused p.json
  [[ $output == *"job 'a': its source has changed: a.py modified, b.py removed"* ]]
  rm -r src
  refused p.json
  run jobrun status
  [ "$output" = "no runs yet" ]
}

@test "the world changed: refused, with the resource and what differs" {
  local world=$JOBRUN_STATE_DIR/fake-world
  fake_job
  jobrun apply --yes f.yaml
  fake_job 'color: blue'
  jobrun plan --out p.json f.yaml
  cp -r "$world" before

  sed -i 's/red/green/' "$world"/thing.f-thing-02.json
  refused p.json
  [[ $output == *"thing 'f-thing-02' of job 'f': color was red, is green"* ]]
  [[ $output != *f-thing-01* ]]

  rm "$world"/thing.f-thing-02.json
  refused p.json
  [[ $output == *"'f-thing-02' of job 'f': the plan was update"*"now it is create (does not exist yet)"* ]]

  # Done by somebody else, in part.
  cp before/thing.* "$world"/
  sed -i 's/red/blue/' "$world"/thing.f-thing-02.json
  refused p.json
  [[ $output == *"is stale"* ]]
  [[ $output == *"'f-thing-02' of job 'f': the plan was update"*"now it is noop"* ]]

  # As it was again: nothing is in the way.
  cp before/thing.* "$world"/
  jobrun apply --yes p.json
}

@test "a run that others started is in the way" {
  job a.yaml a 'echo hi'
  jobrun plan --out p.json a.yaml
  jobrun apply --set 'jobrun.env.N=1' a.yaml
  refused p.json
  [[ $output == *"run 'a' of job 'a'"*"not run yet"*"changed since attempt 1 (succeeded)"* ]]
}

@test "a run that goes on by itself is not in the way" {
  job a.yaml a "sleep $NAP"
  job b.yaml b 'echo hi'
  jobrun apply --detach a.yaml
  jobrun plan --out p.json a.yaml b.yaml
  jobrun cancel a
  wait_until 10 state_is a CANCELLED
  run jobrun apply p.json
  [ "$status" -eq 1 ]
  state_is b SUCCEEDED
}

@test "options are saved, and can't be given again" {
  job a.yaml a 'echo $WHAT'
  sed -i /jobId/d a.yaml
  jobrun plan --job-id x --set jobrun.env.WHAT=first --set-json 'labels={"a":"b"}' \
    --out p.json a.yaml
  for option in --rerun --job-id=y --set=jobrun.env.WHAT=second a.yaml; do
    run jobrun apply "$option" p.json
    [ "$status" -eq 64 ]
    [[ $output == *"is a saved plan, which takes no other files"* ]]
  done
  run jobrun apply p.json
  [ "$status" -eq 0 ]
  [[ $output == *first* ]]
  state_is x SUCCEEDED
}

@test "a directory: a job that came or went" {
  mkdir jobs
  job jobs/a.yaml a true
  job jobs/b.yaml b true
  jobrun plan --out p.json jobs
  job jobs/c.yaml c true
  rm jobs/b.yaml
  refused p.json
  [[ $output == *"job 'b' no longer exists"* ]]
  [[ $output == *"job 'c' is new"* ]]
}

@test "two saved plans of one state are equal to the byte" {
  mkdir -p one/src two/src
  for d in one two; do
    job $d/a.yaml a 'echo hi'
    echo '  source: src' >>$d/a.yaml
    echo 'print(1)' >$d/src/a.py
    (cd $d && jobrun plan --out p.json a.yaml)
  done
  cmp one/p.json two/p.json
  # Made in one place, applied in another.
  (cd two && jobrun apply ../one/p.json)
}

@test "a plan that was tampered with is not what would be done" {
  fake_job
  jobrun plan --out p.json f.yaml
  sed -i 's/"color": "red"/"color": "blue"/' p.json
  refused p.json
  jobrun plan --out p.json f.yaml
  sed -i 's/"jobrunPlan": 1/"jobrunPlan": 2/' p.json
  refused p.json
  jobrun plan --out p.json f.yaml || true
  rm p.json
  jobrun plan --out p.json f.yaml
  truncate -s 300 p.json
  run jobrun apply --yes p.json
  [ "$status" -eq 65 ]
  [[ $output == *"the saved plan is damaged"* ]]
  for bad in '{"jobrunPlan": 1}' '{"jobrunPlan": 1, "inputs": {"paths": [1]}}' \
    '{"jobrunPlan": 1, "inputs": {"paths": ["f.yaml"], "sets": [{"x": 1}]}}' \
    '{"jobrunPlan": 1, "inputs": {"paths": ["f.yaml"]}, "jobs": [1, {"jobId": "f"}]}'; do
    echo "$bad" >p.json
    run jobrun apply --yes p.json
    echo "$output"
    [ "$status" -eq 65 ] || [ "$status" -eq 75 ]
  done
  [ "$(calls create)" = 0 ]
}

@test "a job file in JSON is no saved plan" {
  echo '{"jobId": "a", "trainingInput": {"scaleTier": "BASIC"}, "jobrun": {"command": ["true"]}}' >a.json
  jobrun apply a.json
}

@test "--out writes over saved plans only, and not of standard input" {
  fake_job
  cp f.yaml before
  run jobrun plan --out f.yaml f.yaml
  [ "$status" -eq 64 ]
  cmp f.yaml before
  jobrun plan --out p.json f.yaml
  jobrun plan --out p.json f.yaml
  run jobrun plan --out q.json - <f.yaml
  [ "$status" -eq 64 ]
  [ ! -e q.json ]
}

@test "killed in the middle: the same plan goes on, and is refused when all is done" {
  local call n=0
  # Every call of the provider that changes something, before and after it.
  for call in create:1:kill create:1:kill-after create:2:kill-after \
    create:3:kill create:4:kill create:4:kill-after wait:2:kill; do
    rm -rf state
    fake_job "linked: true, width: 1, failAt: ['$call']"
    jobrun plan --out p.json f.yaml
    run jobrun apply --yes p.json
    [ "$status" -eq 137 ]
    run jobrun apply --yes p.json
    echo "$call: $output"
    [ "$status" -eq 0 ] || [[ $output == *"already applied"* ]]
    [ "$(grep -c ' create .* made' state/fake-world/calls.log)" = 4 ]
    refused p.json
    [[ $output == *"'p.json' was already applied"* ]]
  done
}

@test "a failure in the middle: the same plan goes on when that is mended" {
  fake_job 'width: 1, failAt: ["create:thing-02#1:permanent"]'
  jobrun plan --out p.json f.yaml
  run jobrun apply --yes p.json
  [ "$status" -eq 1 ]
  run jobrun apply --yes p.json
  [ "$status" -eq 0 ]
  [[ $output == *"an earlier 'apply p.json' did not finish; resuming"* ]]
  refused p.json
  [[ $output == *"already applied"* ]]
}

@test "done in part by somebody else, it is not gone on with" {
  fake_job 'width: 1, failAt: ["create:thing-02#1:permanent"]'
  jobrun plan --out p.json f.yaml
  run jobrun apply --yes f.yaml
  [ "$status" -eq 1 ]
  refused p.json
  [[ $output == *"'p.json' is stale"* ]]
  # Nor if what it did was changed by others since.
  rm -r state
  jobrun plan --out p.json f.yaml
  run jobrun apply --yes p.json
  [ "$status" -eq 1 ]
  sed -i s/red/green/ state/fake-world/thing.f-thing-01.json
  refused p.json
  [[ $output == *"'p.json' is stale"* ]]
  [[ $output == *"the plan was create (does not exist yet), now it is update (1 field differs)"* ]]
}
