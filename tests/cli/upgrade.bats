# What one version of jobrun has run is known to the next, and to the one
# before.  JOBRUN_OLD names a program of the version before: without it, only
# what that has left in upgrade/ is looked at.
load helper
load google
load upgrade

UPGRADE=$BATS_TEST_DIRNAME/upgrade

# A store that the version before has left, and what its jobs read.
old_store() {
  local file
  mkdir -p "$JOBRUN_STATE_DIR"
  cp -r "$UPGRADE/runs" "$JOBRUN_STATE_DIR"
  for file in "$JOBRUN_STATE_DIR"/runs/*/spec.json; do
    sed -i "s|@STATE@|$JOBRUN_STATE_DIR|; s|@JOBS@|$TMP|" "$file"
  done
  python3 - "$UPGRADE/store.sql" "$JOBRUN_STATE_DIR/jobrun.db" <<'PY'
import sqlite3, sys
sqlite3.connect(sys.argv[2]).executescript(open(sys.argv[1]).read())
PY
  cp "$UPGRADE"/*.yaml .
  touch train-{0..3}.tar
}

ask_store() {
  python3 - "$JOBRUN_STATE_DIR/jobrun.db" "$1" <<'PY'
import sqlite3, sys
for row in sqlite3.connect(sys.argv[1]).execute(sys.argv[2]):
    print(*row)
PY
}

@test "what the version before has run is not run again" {
  old_store
  run jobrun plan --detailed-exitcode done.yaml failed.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"already succeeded"* ]]
  [[ $output == *"failed before (exit 3)"* ]]
  # Its digest is made of what it always was.
  [ "$(jobrun plan --format json done.yaml failed.yaml | grep '"digest"' | cut -d'"' -f4)" = \
    "$(ask_store 'SELECT digest FROM run ORDER BY id')" ]
  # A default may be written down, and a change is still one.
  run jobrun plan --detailed-exitcode --set jobrun.grace=10s \
    --set jobrun.restart.backoff=10s --set trainingInput.workerCount=1 done.yaml
  [ "$status" -eq 0 ]
  run jobrun plan --detailed-exitcode --set jobrun.grace=11s done.yaml
  [ "$status" -eq 2 ]
  [[ $output == *"changed since attempt 1"* ]]
  # The version before may go on with the store.
  [ "$(ask_store 'PRAGMA user_version')" = 5 ]
  run jobrun apply --yes --rerun failed.yaml
  [ "$(ask_store 'SELECT digest, digest2 IS NULL FROM run WHERE job_id = "failed"' | sort -u | wc -l)" = 2 ]
}

@test "digest 2 of a job stays what it is" {
  old_store
  run jobrun plan --format json done.yaml failed.yaml
  [ "$(grep '"digest2"' <<<"$output" | cut -d'"' -f4)" = \
    "9811ccec44769bc51a5d0a361b54c54395567e1233a8cde2b0181db485dde228
2e98db2a42ce70e3abb7129cafedad0b4d579a1dce054fe86e568ca612cfd261" ]
}

local_job() {
  cat >job.yaml <<YAML
jobId: j
trainingInput: {scaleTier: BASIC}
jobrun:
  command: [/bin/sh, -c, '$1']
  grace: 2s
YAML
}

local_ends() {
  local_job 'exit 0'
  first apply --yes job.yaml
  is_left job.yaml
  [[ $output == *"already succeeded"* ]]
  run second plan --detailed-exitcode --set jobrun.grace=3s job.yaml
  [ "$status" -eq 2 ]
  second apply --yes --set jobrun.grace=3s job.yaml
  run first plan --detailed-exitcode --set jobrun.grace=3s job.yaml
  [ "$status" -eq 0 ]
  run first plan --detailed-exitcode job.yaml
  [ "$status" -eq 2 ]
}

local_goes_on() {
  local_job "exec sleep $NAP"
  first apply --yes --detach job.yaml
  is_left job.yaml
  [[ $output == *"is running, attempt 1"* || $output == *"is queued, attempt 1"* ]]
  run second plan --detailed-exitcode --set jobrun.grace=3s job.yaml
  [ "$status" -eq 2 ]
  [[ $output == *"with other settings"* ]]
  second cancel j
  wait_until 10 state_is j CANCELLED
}

saved() {
  local_job 'exit 0'
  first plan --out plan.saved job.yaml
  run second apply --yes plan.saved
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"SUCCEEDED"* ]]
  is_left job.yaml
}

@test "a run of this machine, by one version and then by another" {
  both local_ends
  both local_goes_on
  both saved
}

google_job() {
  cat >job.yaml <<YAML
jobId: $2
labels: {owner: vision}
trainingInput:
  scaleTier: CUSTOM
  masterType: n1-standard-4
  region: us-central1
  masterConfig: {imageUri: gcr.io/p/i}
jobrun:
  provider: $1
YAML
}

google_runs() {
  local provider
  for provider in ai-platform vertex-ai; do
    start_google
    tell state '{"jobs": {"*": {"script": ["RUNNING"]}}}'
    google_job $provider Long_1
    first apply --yes --detach job.yaml
    seen_by_all job.yaml
    [[ $output == *"with other settings"* ]]
    tell state '{"jobs": {"*": {"script": ["SUCCEEDED"]}}}'
    google_job $provider Mnist_1
    first apply --yes job.yaml
    seen_by_all job.yaml
    [[ $output == *"changed since attempt 1 (succeeded)"* ]]
    # The name of the second has digits of a digest in it.
    first plan --out plan.saved --set trainingInput.masterType=n1-highmem-8 job.yaml
    run jobrun apply --yes plan.saved
    echo "$output"
    sed -i 's/n1-standard-4/n1-highmem-8/' job.yaml
    # A plan that another version shows in another way is refused.
    if [ "$status" -ne 0 ]; then
      [ "$status" -eq 75 ]
      [[ $output == *"is stale; nothing done: plan again"* ]]
      jobrun apply --yes job.yaml
    fi
    is_left job.yaml
    run first plan --detailed-exitcode job.yaml
    [ "$status" -eq 0 ]
    end_google
    rm -rf "$JOBRUN_STATE_DIR" other port plan.saved
  done
}

@test "a plan that the version before has saved is applied" {
  start_google
  google_job vertex-ai Mnist_1
  jobrun plan --out new.saved job.yaml
  grep -q '"jobrun-digest-2"' new.saved
  grep -v '"jobrun-digest-2"' new.saved | grep -v '"digest2"' >old.saved
  # What stands before a last line that is gone has no comma.
  python3 - <<'PY'
import json, re
text = re.sub(r",(\s*})", r"\1", open("old.saved").read())
json.loads(text)
open("old.saved", "w").write(text)
PY
  chmod 600 old.saved
  run jobrun apply --yes old.saved
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"Mnist_1: SUCCEEDED"* ]]
  # Whatever another jobrun makes of digest 1, the label decides.
  [[ $(body POST '/customJobs$' 'b["labels"]["jobrun-digest-2"]') == ??????????????????????????????????????????????????????????????? ]]
  sed -i 's/n1-standard-4/n1-standard-8/' job.yaml
  run jobrun apply --yes old.saved
  [ "$status" -ne 0 ]
  end_google
}

@test "a run of a service of Google, by one version and then by another" {
  both google_runs
}

name_is_kept() {
  mkdir -p p1 p2
  local p
  for p in p1 p2; do
    printf '%s\n' 'trainingInput: {scaleTier: BASIC}' \
      'jobrun: {command: ["true"]}' >$p/config.yaml
  done
  first apply --yes p1/config.yaml
  if [ "$FIRST" = "$JOBRUN_OLD" ]; then
    is_left p1/config.yaml
    run second plan --detailed-exitcode p2/config.yaml
    [ "$status" -eq 2 ]
    [[ $output == p2_config* ]]
  fi
}

@test "a job without a jobId keeps the name that an older version gave it" {
  both name_is_kept
}
