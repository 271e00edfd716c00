# What validate accepts, plan and render finish; what render writes, validate
# accepts.
load helper

EXAMPLES=$BATS_TEST_DIRNAME/../../examples

@test "a parameter without a type is refused, and plan ends" {
  cat >job.yaml <<'YAML'
jobId: h
trainingInput:
  hyperparameters:
    goal: MAXIMIZE
    params:
    - {parameterName: a, type: }
YAML
  run jobrun validate job.yaml
  [ "$status" = 65 ]
  [[ $output == *'6:26: error: "type" is required'* ]]
  run timeout 20 "$JOBRUN" plan job.yaml
  [ "$status" = 65 ]
}

@test "more machines than a role can have is an error with its place" {
  printf '%s\n' 'trainingInput:' '  scaleTier: CUSTOM' \
    '  masterType: n1-standard-4' '  workerType: n1-standard-4' \
    '  workerCount: 100001' >job.yaml
  run jobrun validate job.yaml
  [ "$status" = 65 ]
  [[ $output == *'job.yaml:5:16: error: "workerCount" must be at most 100000'* ]]
}

@test "what render writes of an example, validate accepts" {
  local file
  cp -r "$EXAMPLES" examples
  for file in examples/*/job.yaml; do
    echo "$file"
    (cd "${file%/*}" && jobrun render job.yaml 2>/dev/null >again.yaml)
    jobrun validate "${file%/*}/again.yaml"
  done
}

# place JSON: the one package of either service's body, and its labels.
place() {
  python3 -c '
import json, sys
body = json.load(open(sys.argv[1]))
pools = body.get("jobSpec", {}).get("workerPoolSpecs")
spec = pools[0]["pythonPackageSpec"] if pools else body["trainingInput"]
print(*spec["packageUris"], *sorted(body["labels"]))' "$1"
}

@test "what render writes for Google names the package that plan uploads" {
  local to
  mkdir -p pkg/t
  touch pkg/t/__init__.py pkg/t/task.py
  for to in vertex-ai ai-platform; do
    cat >job.yaml <<YAML
jobId: s
labels: {owner: me}
trainingInput: {region: us-central1, pythonModule: t.task,
  runtimeVersion: "2.11", scaleTier: BASIC}
jobrun: {provider: $to, source: pkg, staging: gs://b/x}
YAML
    jobrun render --to $to job.yaml >body.json
    run place body.json
    [[ $output == gs://b/x/*/pkg-*.tar.gz\ jobrun-digest*\ jobrun-job\ owner ]]
    sed -i 's/, staging: .*/}/' job.yaml
    run jobrun render --to $to job.yaml
    [ "$status" = 0 ]
    [[ $output == *"needed: where packages are uploaded to"* ]]
  done
}

@test "trials whose pods are not alike render as the JobSet that plan has" {
  cat >job.yaml <<'YAML'
jobId: mixed
trainingInput:
  scaleTier: CUSTOM
  masterType: n1-standard-8
  masterConfig: {imageUri: gcr.io/p/i}
  workerType: n1-standard-4
  workerCount: 2
  hyperparameters:
    goal: MAXIMIZE
    params:
    - {parameterName: a, type: INTEGER, minValue: 1, maxValue: 9}
jobrun: {provider: kubernetes}
YAML
  jobrun validate job.yaml
  jobrun render --to kubernetes job.yaml >objects.yaml
  grep -qx 'kind: JobSet' objects.yaml
}

@test "what explain says that a provider does not use, its plans note" {
  export TMPDIR=$TMP
  run python3 "$BATS_TEST_DIRNAME/../support/uses_agree.py" "$JOBRUN"
  echo "$output"
  [ "$status" -eq 0 ]
}
