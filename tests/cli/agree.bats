# What validate accepts, plan and render finish; what render writes, validate
# accepts.

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
  for file in "$EXAMPLES"/*/job.yaml; do
    echo "$file"
    (cd "${file%/*}" && jobrun render job.yaml 2>/dev/null) >again.yaml
    jobrun validate again.yaml
  done
}
