# Killed, refused and cut off at each request that an apply makes: whatever
# happens, there is one job, one object and one binding in the end.
# bats file_tags=server
load helper
load google

PLATFORM='jobId: mnist
trainingInput:
  scaleTier: BASIC
  region: us-central1
  runtimeVersion: "2.11"
  pythonVersion: "3.7"
  pythonModule: official.mnist_main
jobrun:
  provider: PROVIDER
  staging: gs://BUCKET/staging
  source: official'

# COUNT is more than an apply makes: at_all_requests looks whether that is so.
at_all_requests() {
  [ "$(cat hit)" -lt "$COUNT" ] && [ "$(cat hit)" -ge "$1" ]
}

# Only AI Platform has to be let use TPUs.
prepare() {
  JOB=${PLATFORM/PROVIDER/$1}
  COUNT=14
  if [ "$1" = ai-platform ]; then
    JOB+=$'\n  ai-platform: {grantTpuAccess: true}'
    COUNT=22
  fi
}

killed_at_each_request() {
  prepare "$1"
  start_google
  tell state '{"jobs": {"*": {"script": ["QUEUED", "SUCCEEDED"]}}}'
  trouble "$COUNT" "{\"do\": \"$2\"}"
  each "$COUNT" apply_to_die
  tell faults '[]'
  each "$COUNT" apply_again
  one_each "$COUNT" "$1"
  at_all_requests $((COUNT - 8))
  end_google
}

@test "ai-platform: killed before each request" {
  killed_at_each_request ai-platform kill
}

@test "ai-platform: killed after each request" {
  killed_at_each_request ai-platform kill-after
}

@test "vertex-ai: killed before each request" {
  killed_at_each_request vertex-ai kill
}

@test "vertex-ai: killed after each request" {
  killed_at_each_request vertex-ai kill-after
}

troubled_at_each_request() {
  prepare "$1"
  start_google
  tell state '{"jobs": {"*": {"script": ["QUEUED", "SUCCEEDED"]}}}'
  trouble "$COUNT" "$2"
  each "$COUNT" apply_again
  one_each "$COUNT" "$1"
  at_all_requests $((COUNT - 8))
  end_google
}

BUSY='{"do": "status", "status": 429, "body": "{\"error\": {\"code\": 429, \"status\": \"RESOURCE_EXHAUSTED\", \"message\": \"Too many requests\"}}"}'

@test "ai-platform: 429 at each request" {
  troubled_at_each_request ai-platform "$BUSY"
}

@test "ai-platform: a dropped answer at each request" {
  troubled_at_each_request ai-platform '{"do": "drop-answer"}'
}

@test "vertex-ai: 429 at each request" {
  troubled_at_each_request vertex-ai "$BUSY"
}

@test "vertex-ai: a dropped answer at each request" {
  troubled_at_each_request vertex-ai '{"do": "drop-answer"}'
}

@test "killed while the log is fetched: no line is lost, none comes twice" {
  local n
  JOB=${PLATFORM/PROVIDER/ai-platform}
  JOB=${JOB/BUCKET/bucket}
  start_google
  cat >state.json <<'JSON'
{"jobs": {"*": {"script": ["RUNNING", "RUNNING", "RUNNING", "RUNNING", "RUNNING", "SUCCEEDED"]}},
 "log": {"mnist": [{"at": 1, "text": "one"}, {"at": 2, "text": "two"},
   {"at": 3, "text": "three"}, {"at": 4, "text": "four"}, {"at": 5, "text": "five"}]}}
JSON
  tell state @state.json
  mkdir official
  touch official/__init__.py
  echo 'print("mnist")' >official/mnist_main.py
  echo "$JOB" >job.yaml
  for n in 1 2 3 4; do
    tell faults "[{\"path\": \"entries:list\", \"nth\": $((n % 2 + 1)), \"do\": \"kill-after\", \"pid-file\": \"pid\"}]"
    (apply_to_die) >>first 2>&1 || true
  done
  tell faults '[]'
  jobrun wait mnist
  run jobrun logs mnist
  echo "$output"
  for n in one two three four five; do
    [ "$(grep -c "\] $n\$" <<<"$output")" = 1 ]
  done
  [ "$(asked POST '/jobs$')" -eq 1 ]
  end_google
}
