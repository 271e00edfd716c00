# Jobs of AI Platform Training, against a stand-in of it.
# bats file_tags=server
load helper
load google

mnist() {
  mkdir -p official
  echo 'print("mnist")' >official/mnist_main.py
  touch official/__init__.py
  cat >job.yaml <<'YAML'
jobId: tpu_mnist_1
labels: {owner: vision}
trainingInput:
  scaleTier: BASIC_TPU
  region: us-central1
  runtimeVersion: "2.2"
  pythonVersion: "3.7"
  pythonModule: official.mnist_main
  args: [--distribution_strategy=tpu, "--data_dir=gs://tfds-data/datasets"]
jobrun:
  provider: ai-platform
  staging: gs://bucket-1/staging
  source: official
YAML
}

@test "a package is uploaded, a job made and followed to its end" {
  mnist
  start_google
  run jobrun plan job.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"storage-object  gs://bucket-1/staging/"* ]]
  [[ $output == *"training-job    tpu_mnist_1"* ]]
  [ "$(asked POST .)" -le 1 ] # a token
  run jobrun apply --yes --trace-http trace job.yaml
  echo "$output" | tee out
  [ "$status" -eq 0 ]
  [[ $output == *"tpu_mnist_1: SUCCEEDED"* ]]
  [ "$(asked POST '/ml/v1/projects/proj-1/jobs$')" -eq 1 ]
  [ "$(asked POST '/upload/storage/')" -eq 1 ]
  [ "$(asked PUT '/upload/storage/')" -eq 0 ]
  [ "$(body POST '/jobs$' 'b["jobId"], b["labels"]["owner"], b["labels"]["jobrun-job"], b["trainingInput"]["scaleTier"]')" = \
    "('tpu_mnist_1', 'vision', 'tpu_mnist_1', 'BASIC_TPU')" ]
  [[ $(body POST '/jobs$' 'b["trainingInput"]["packageUris"][0]') == gs://bucket-1/staging/????????????????????????????????????????????????????????????????/official-*.tar.gz ]]
  state_is tpu_mnist_1 SUCCEEDED
  run jobrun apply --yes job.yaml
  [ "$status" -eq 0 ]
  [[ $output == *"already succeeded"* ]]
  # A machine that knows nothing plans the same.
  JOBRUN_STATE_DIR=$TMP/other run jobrun plan --detailed-exitcode job.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"already succeeded"* ]]
  [ ! -e other ]
  end_google
}

@test "whether TPUs may be used is asked once in a plan" {
  local n
  mnist
  start_google
  sed -i 's/  source: official/  source: official\n  ai-platform: {grantTpuAccess: true}/' job.yaml
  for n in 1 2; do
    jobrun plan job.yaml
    [ "$(asked GET ':getConfig$')" -eq "$n" ]
    [ "$(asked POST ':getIamPolicy$')" -eq "$n" ]
  done
  run jobrun apply --yes job.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  run jobrun plan job.yaml
  echo "$output"
  [[ $output == *"iam-binding "*"is up to date"* ]]
  end_google
}

@test "a stored object of the same name and size that is another is replaced" {
  mnist
  start_google
  jobrun plan --format json job.yaml >plan.json
  python3 - >object.json <<'PY'
import json
one = [a for a in json.load(open("plan.json"))["jobs"][0]["actions"]
       if a["kind"] == "storage-object"][0]
name = one["name"]
size = [c["after"] for c in one["changes"] if c["path"] == "size"][0]
print(json.dumps({"bucket": "bucket-1", "text": "x" * size,
                  "name": name.removeprefix("gs://bucket-1/")}))
PY
  tell object @object.json
  run jobrun plan job.yaml
  echo "$output"
  [[ $output == *"± storage-object  gs://bucket-1/staging/"*"crc32c"* ]]
  run jobrun apply --yes job.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  run jobrun plan job.yaml
  echo "$output"
  [[ $output != *"± storage-object"* ]]
  end_google
}

@test "the request of a plan is the one that is sent" {
  mnist
  start_google
  jobrun plan --format json job.yaml >plan.json
  jobrun apply --yes job.yaml
  body POST '/jobs$' 'json.dumps(b)' >sent.json
  python3 - "$BASE" <<'PY'
import json, sys
plan = json.load(open("plan.json"))
run = [a for a in plan["jobs"][0]["actions"] if a["kind"] == "training-job"][0]
assert run["request"]["body"] == json.load(open("sent.json"))
assert run["request"]["url"] == sys.argv[1] + "/ml/v1/projects/proj-1/jobs"
PY
  end_google
}

@test "another digest, and another run of one, get names of their own" {
  mnist
  start_google
  tell state '{"jobs": {"tpu_mnist_1": {"script": ["RUNNING", "FAILED"], "error": "The replica master 0 exited with a non-zero status of 3."}}}'
  run jobrun apply --yes job.yaml
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *"The replica master 0 exited with a non-zero status of 3."* ]]
  run jobrun apply --yes --rerun job.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  sha=$(body POST '/jobs$' 'b["labels"]["jobrun-digest"]')
  [ "$(body POST '/jobs$' 'b["jobId"]')" = "tpu_mnist_1_${sha:0:8}" ]
  echo 'print("changed")' >official/mnist_main.py
  jobrun apply --yes job.yaml
  sha=$(body POST '/jobs$' 'b["labels"]["jobrun-digest"]')
  [ "$(body POST '/jobs$' 'b["jobId"]')" = "tpu_mnist_1_${sha:0:8}" ]
  [ "$(asked POST '/jobs$')" -eq 3 ]
  [ "$(field tpu_mnist_1 'j["attempt"]')" = 3 ]
  end_google
}

@test "a name that somebody else's job has is left to it" {
  mnist
  start_google
  TOKEN=$(curl -sf -d grant_type=refresh_token -d client_id=client-1.apps.googleusercontent.com \
    --data-urlencode client_secret="$(python3 -c 'import json; print(json.load(open("creds/authorized_user.json"))["client_secret"])')" \
    --data-urlencode refresh_token="$(python3 -c 'import json; print(json.load(open("creds/authorized_user.json"))["refresh_token"])')" \
    "$BASE/oauth2/token" | python3 -c 'import json,sys; print(json.load(sys.stdin)["access_token"])')
  curl -sf -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \
    -d '{"jobId": "tpu_mnist_1", "trainingInput": {"scaleTier": "BASIC", "region": "us-central1", "masterConfig": {"imageUri": "gcr.io/x/y"}}}' \
    "$BASE/ml/v1/projects/proj-1/jobs" >/dev/null
  run jobrun apply --yes job.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $(body POST '/jobs$' 'b["jobId"]') == tpu_mnist_1_???????? ]]
  end_google
}

@test "a quota that is too small is said with its numbers, and not retried" {
  mnist
  start_google
  tell state '{"quota": "Quota failure for project proj-1. The request for 8 TPU_V2 accelerators exceeds the allowed maximum of 0 TPU_V2."}'
  run jobrun apply --yes job.yaml
  echo "$output"
  [ "$status" -eq 75 ]
  [[ $output == *"exceeds the allowed maximum of 0 TPU_V2"* ]]
  [ "$(asked POST '/jobs$' 4)" -eq 1 ]
  end_google
}

@test "why it waits is shown; cancel ends it, delete forgets it" {
  mnist
  start_google
  cat >state.json <<'JSON'
{"jobs": {"*": {"script": ["QUEUED"], "position": 7}},
 "log": {"tpu_mnist_1": [
   {"at": 2, "task": "service", "text": "Resources are insufficient in region: us-central1. Please try a different region or use a different accelerator."},
   {"at": 1, "task": "service", "text": "Validating job requirements..."}]}}
JSON
  tell state @state.json
  jobrun apply --yes --detach job.yaml
  run jobrun status tpu_mnist_1
  echo "$output"
  [[ $output == *"QUEUED"*"position 7"*"it says: Resources are insufficient in region: us-central1."* ]]
  run jobrun delete tpu_mnist_1
  [ "$status" -eq 75 ]
  run jobrun cancel tpu_mnist_1
  echo "$output"
  [ "$status" -eq 0 ]
  state_is tpu_mnist_1 CANCELLED
  run jobrun plan job.yaml
  [[ $output == *"tpu_mnist_1  cancelled before it began"* ]]
  jobrun delete tpu_mnist_1
  run jobrun plan job.yaml
  echo "$output"
  [[ $output == *"not run yet"* ]]
  end_google
}

@test "without credentials a plan says what to do" {
  mnist
  export CLOUDSDK_CONFIG=$TMP/none NO_GCE_CHECK=true GOOGLE_CLOUD_PROJECT=p
  unset GOOGLE_APPLICATION_CREDENTIALS CLOUDSDK_AUTH_ACCESS_TOKEN \
    GOOGLE_OAUTH_ACCESS_TOKEN
  run jobrun plan job.yaml
  echo "$output"
  [ "$status" -eq 77 ]
  [[ $output == *"gcloud auth application-default login"* ]]
}

@test "a container needs no package, and what a run lacks is said" {
  start_google
  cat >job.yaml <<'YAML'
jobId: box
trainingInput:
  scaleTier: CUSTOM
  masterType: n1-highcpu-16
  masterConfig: {imageUri: gcr.io/proj-1/trainer:1}
  workerType: cloud_tpu
  workerCount: 1
  workerConfig:
    acceleratorConfig: {type: TPU_V3, count: 8}
    tpuTfVersion: "2.2"
    imageUri: gcr.io/proj-1/trainer:1
  region: us-central1
  args: [--epochs, "2"]
jobrun: {provider: ai-platform}
YAML
  run jobrun apply --yes job.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [ "$(body POST '/jobs$' 'b["trainingInput"]["workerConfig"]["acceleratorConfig"]["count"]')" = 8 ]
  sed -i '/region/d' job.yaml
  run jobrun apply --yes job.yaml
  echo "$output"
  [ "$status" -eq 65 ]
  [[ $output == *"trainingInput.region"* ]]
  end_google
}

@test "the log comes whole and once, however late and out of order it is" {
  mnist
  start_google
  cat >state.json <<'JSON'
{"jobs": {"*": {"script": ["QUEUED", "RUNNING", "RUNNING", "SUCCEEDED"]}},
 "log": {"tpu_mnist_1": [
   {"at": 1, "task": "service", "text": "Waiting for job to be provisioned."},
   {"at": 5, "json": "Epoch=1 Loss=6.875"},
   {"at": 7, "json": "Epoch=3 Loss=5.5"},
   {"at": 6, "json": "Epoch=2 Loss=6.0", "late": 1},
   {"at": 7, "json": "Epoch=3 Loss=5.5"},
   {"at": 2, "text": "a warning\n", "severity": "ERROR", "late": 2},
   {"at": 9, "json": "last", "late": 2}]}}
JSON
  tell state @state.json
  run jobrun apply --yes job.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"service: Waiting for job to be provisioned."* ]]
  # Whoever looks makes nothing of it twice.
  run jobrun logs tpu_mnist_1
  echo "$output"
  [ "$(grep -c 'Epoch=' <<<"$output")" = 4 ]
  [ "$(grep -c 'Epoch=3 Loss=5.5' <<<"$output")" = 2 ]
  [ "$(grep -c 'a warning' <<<"$output")" = 1 ]
  [ "$(grep -c 'last' <<<"$output")" = 1 ]
  grep -q 'a warning' "$JOBRUN_STATE_DIR"/runs/tpu_mnist_1.1/logs/master-0.stderr
  run jobrun metrics tpu_mnist_1
  [ "$status" -eq 0 ]
  [[ $output == *5.5* ]]
  end_google
}

@test "trials have results and logs of their own" {
  start_google
  cat >job.yaml <<'YAML'
jobId: tune
trainingInput:
  scaleTier: BASIC
  region: us-central1
  masterConfig: {imageUri: gcr.io/proj-1/trainer:1}
  hyperparameters:
    goal: MINIMIZE
    hyperparameterMetricTag: loss
    maxTrials: 3
    params:
      - {parameterName: units, type: INTEGER, minValue: 8, maxValue: 64}
jobrun: {provider: ai-platform}
YAML
  cat >state.json <<'JSON'
{"jobs": {"tune": {"script": ["QUEUED", "SUCCEEDED"], "trials": [
   {"trialId": "1", "state": "SUCCEEDED", "hyperparameters": {"units": "32"},
    "startTime": "2026-11-21T02:00:00Z", "endTime": "2026-11-21T02:01:05Z",
    "finalMetric": {"trainingStep": "100", "objectiveValue": 0.5}},
   {"trialId": "2", "state": "SUCCEEDED", "hyperparameters": {"units": "8"},
    "isTrialStoppedEarly": true, "finalMetric": {"trainingStep": "40", "objectiveValue": 0.25}},
   {"trialId": "3", "state": "RUNNING", "hyperparameters": {"units": "64"},
    "allMetrics": [{"trainingStep": "10", "objectiveValue": 0.9}]}]}},
 "log": {"tune": [{"at": 1, "trial": "1", "text": "one"}, {"at": 2, "trial": "2", "text": "two"}]}}
JSON
  tell state @state.json
  run jobrun apply --yes job.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [ "$(field tune 'j["metric"], j["bestTrial"], [(t["state"], t["value"], t["step"], t["stoppedEarly"]) for t in j["trials"]]')" = \
    "loss 2 [('SUCCEEDED', 0.5, 100, False), ('SUCCEEDED', 0.25, 40, True), ('RUNNING', 0.9, 10, False)]" ]
  run jobrun logs --trial 2 tune
  [[ $output == *"] two" && $output != *one* ]]
  end_google
}

@test "a failure names the task and its exit code" {
  start_google
  cat >job.yaml <<'YAML'
jobId: pair
trainingInput:
  scaleTier: CUSTOM
  masterType: n1-standard-4
  masterConfig: {imageUri: gcr.io/proj-1/trainer:1}
  workerType: n1-standard-4
  workerConfig: {imageUri: gcr.io/proj-1/trainer:1}
  workerCount: 2
  region: us-central1
jobrun: {provider: ai-platform}
YAML
  cat >state.json <<'JSON'
{"jobs": {"pair": {"script": ["RUNNING", "FAILED"], "error": "The replica worker 1 ran out-of-memory and exited with a non-zero status of 9(SIGKILL). To find out more about why your job exited please check the logs."}},
 "log": {"pair": [{"at": 1, "task": "worker-replica-1", "severity": "ERROR", "text": "Killed"}]}}
JSON
  tell state @state.json
  run jobrun apply --yes job.yaml
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *"last lines of worker 1's standard error:"*"Killed"* ]]
  [[ $output == *"FAILED after 0s: The replica worker 1 ran out-of-memory"* ]]
  [ "$(field pair 'j["exitCode"], [(t["type"], t["index"], t["state"], t["exitCode"]) for t in j["tasks"]]')" = \
    "137 [('master', 0, 'CANCELLED', None), ('worker', 0, 'CANCELLED', None), ('worker', 1, 'FAILED', 137)]" ]
  end_google
}
