# Jobs as Vertex AI's custom jobs, against a stand-in of it.
# bats file_tags=server
load helper
load google
load vertex

@test "a package is uploaded, a custom job made and followed to its end" {
  mnist
  start_google
  tell state '{"jobs": {"*": {"script": ["QUEUED", "PREPARING", "SUCCEEDED"]}}}'
  run jobrun plan job.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"trainingInput.scheduling.priority is left out: Vertex AI's queue has no priorities"* ]]
  run jobrun apply --yes --trace-http trace job.yaml
  echo "$output" | tee out
  [ "$status" -eq 0 ]
  [[ $output == *"Mnist_1: SUCCEEDED"* ]]
  [ "$(asked POST '/aiplatform/v1/projects/proj-1/locations/europe-west4/customJobs$')" -eq 1 ]
  [ "$(body POST '/customJobs$' 'b["displayName"], b["labels"]["jobrun-job"]')" = "('Mnist_1', 'mnist_1')" ]
  [[ $(body POST '/customJobs$' 'b["jobSpec"]["workerPoolSpecs"][0]["pythonPackageSpec"]["packageUris"][0]') == gs://bucket-1/staging/*/official-*.tar.gz ]]
  run jobrun apply --yes job.yaml
  [[ $output == *"already succeeded"* ]]
  JOBRUN_STATE_DIR=$TMP/other run jobrun plan job.yaml
  [[ $output == *"already succeeded"* ]]
  run jobrun apply --yes --rerun job.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [ "$(asked POST '/customJobs$')" -eq 2 ]
  jobrun delete Mnist_1
  [ "$(asked DELETE '/customJobs/')" -eq 2 ]
  run jobrun plan job.yaml
  [[ $output == *"not run yet"* ]]
  end_google
}

@test "a lost answer makes no second job" {
  mnist
  start_google
  tell faults '[{"path": "/customJobs$", "method": "POST", "do": "drop-answer"}]'
  run jobrun apply --yes job.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [ "$(asked POST '/customJobs$')" -eq 1 ]
  end_google
}

@test "with hyperparameters it is a tuning job" {
  start_google
  cat >job.yaml <<'YAML'
jobId: tune
trainingInput:
  scaleTier: CUSTOM
  masterType: n1-standard-8
  masterConfig: {imageUri: gcr.io/proj-1/trainer:1}
  region: us-central1
  hyperparameters:
    goal: MAXIMIZE
    hyperparameterMetricTag: accuracy
    maxTrials: 4
    maxParallelTrials: 2
    params:
      - {parameterName: lr, type: DOUBLE, minValue: 0.001, maxValue: 0.1, scaleType: UNIT_LOG_SCALE}
jobrun: {provider: vertex-ai}
YAML
  cat >state.json <<'JSON'
{"jobs": {"tune": {"script": ["QUEUED", "SUCCEEDED"], "trials": [
   {"id": "1", "state": "SUCCEEDED", "parameters": [{"parameterId": "lr", "value": 0.01}],
    "startTime": "2026-11-21T02:00:00Z", "endTime": "2026-11-21T02:01:05Z",
    "finalMeasurement": {"stepCount": "100", "metrics": [{"metricId": "accuracy", "value": 0.9}]}},
   {"id": "2", "state": "INFEASIBLE", "parameters": [{"parameterId": "lr", "value": 0.1}],
    "infeasibleReason": "it diverged"}]}},
 "log": {"4611686018427387905": [
   {"at": 1, "task": "workerpool0-0", "trial": "1", "text": "one"},
   {"at": 2, "task": "workerpool0-0", "trial": "2", "text": "two"},
   {"at": 3, "task": "workerpool0-0", "trial": "1", "text": "three"}]}}
JSON
  tell state @state.json
  run jobrun apply --yes job.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [ "$(asked POST '/hyperparameterTuningJobs$')" -eq 1 ]
  [[ $output == *"trial 1 SUCCEEDED: accuracy 0.9 with --lr=0.01"* ]]
  [[ $output == *"trial 2 FAILED with --lr=0.1: it diverged"* ]]
  run jobrun status tune
  echo "$output"
  [[ $output == *"*      1  SUCCEEDED            0.9       100    1m05s  --lr=0.01"* ]]
  [ "$(field tune 'j["bestTrial"], [t["state"] for t in j["trials"]]')" = "1 ['SUCCEEDED', 'FAILED']" ]
  run jobrun logs --trial 1 tune
  echo "$output"
  [ "$(grep -c '\] one$\|\] three$' <<<"$output")" -eq 2 ]
  [[ $output != *two* ]]
  # As another job: the run of before is found among those of the other kind.
  sed -i '/hyperparameters:/,/params/d; /parameterName/d' job.yaml
  run jobrun plan job.yaml
  echo "$output"
  [[ $output == *"changed since attempt 1 (succeeded)"* ]]
  end_google
}

@test "a failed job is told in the service's words, a cancelled one is run again only if it never began" {
  mnist
  start_google
  tell state '{"jobs": {"*": {"script": ["RUNNING", "FAILED"], "error": "The following quota metrics exceed quota limits: aiplatform.googleapis.com/custom_model_training_cpus"}}}'
  run jobrun apply --yes job.yaml
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *"The following quota metrics exceed quota limits: aiplatform.googleapis.com/custom_model_training_cpus"* ]]
  tell state '{"jobs": {"*": {"script": ["RUNNING"]}}}'
  jobrun apply --yes --rerun --detach job.yaml
  state_is Mnist_1 RUNNING
  jobrun cancel Mnist_1
  state_is Mnist_1 CANCELLED
  run jobrun plan job.yaml
  echo "$output"
  [[ $output == *"cancelled before; --rerun runs it again"* ]]
  # One that never had a machine is another matter.
  tell state '{"jobs": {"*": {"script": ["QUEUED"]}}}'
  jobrun apply --yes --rerun --detach job.yaml
  jobrun cancel Mnist_1
  state_is Mnist_1 CANCELLED
  run jobrun plan job.yaml
  echo "$output"
  [[ $output == *"cancelled before it began"* ]]
  tell state '{"jobs": {"*": {"script": ["RUNNING", "SUCCEEDED"]}}}'
  jobrun apply --yes job.yaml
  state_is Mnist_1 SUCCEEDED
  end_google
}

@test "a run of another project's job of that name is left alone: its label says so" {
  local to name
  start_google
  tell state '{"jobs": {"*": {"script": ["RUNNING"]}}}'
  for to in vertex-ai ai-platform; do
    name=$([ $to = vertex-ai ] && echo customJobs || echo jobs)
    for p in p1 p2; do
      mkdir -p $p/$to
      cat >$p/$to/config.yaml <<YAML
jobId: config
trainingInput: {scaleTier: BASIC, region: us-central1, args: [$p],
  masterConfig: {imageUri: "gcr.io/proj-1/a"}}
jobrun: {provider: $to}
YAML
    done
    jobrun apply --yes --detach p1/$to/config.yaml
    label=$(body POST "/$name\$" 'b["labels"]["jobrun-origin"]')
    [[ $label =~ ^[a-z0-9_]+_p1_[a-z_]+-[0-9a-f]{12}$ ]]
    # From this machine, and from one that knows nothing.
    for state in "$JOBRUN_STATE_DIR" "$TMP/other-$to"; do
      JOBRUN_STATE_DIR=$state run jobrun apply --yes --detach p2/$to/config.yaml
      echo "$output"
      [ "$status" -eq 75 ]
      [[ $output == *"from $label, this one from dir:$TMP/p2/$to;"* ]]
      JOBRUN_STATE_DIR=$state run jobrun plan p1/$to/config.yaml
      [ "$status" -eq 0 ]
    done
    [ "$(asked POST ':cancel$')" -eq 0 ]
    rm -rf "$JOBRUN_STATE_DIR"
  done
  end_google
}

@test "whoever may not list tuning jobs can run others" {
  mnist
  start_google
  tell faults '[{"path": "/hyperparameterTuningJobs", "do": "status", "status": 403, "count": 99, "body": "{}"}]'
  run jobrun apply --yes job.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"Mnist_1: SUCCEEDED"* ]]
  end_google
}

@test "a missing permission is named, and no object twice" {
  mnist
  start_google
  tell faults '[{"path": "/customJobs", "do": "status", "status": 403, "count": 99, "body": "{\"error\": {\"code\": 403, \"message\": \"The caller does not have permission\", \"status\": \"PERMISSION_DENIED\"}}"}]'
  run jobrun plan job.yaml
  echo "$output"
  [ "$status" -eq 77 ]
  [[ $output == *"status 403: The caller does not have permission; this takes the permission aiplatform.customJobs.list"* ]]
  tell faults '[{"path": "/storage/", "do": "status", "status": 403, "count": 99, "body": "{\"error\": {\"code\": 403, \"message\": \"does not have storage.objects.get access\"}}"}]'
  run jobrun plan job.yaml
  echo "$output"
  [ "$status" -eq 77 ]
  [[ $output == *"does not have storage.objects.get access"* ]]
  [ "$(grep -o 'gs://bucket-1' <<<"$output" | wc -l)" -eq 1 ]
  end_google
}

@test "signals leave a run on Vertex AI, and a second Ctrl-C cancels it" {
  mnist
  start_google
  tell state '{"jobs": {"*": {"script": ["RUNNING"]}}}'
  for signal in TERM HUP INT; do
    rm -f out
    "$JOBRUN" apply --yes job.yaml >out 2>&1 3>&- &
    wait_until 30 grep -q 'Mnist_1: .*attempt 1' out
    kill -$signal $!
    status=0
    wait $! || status=$?
    cat out
    if [ $signal = INT ]; then
      [ "$status" = 130 ]
      grep -q "again to cancel" out
    else
      [ "$status" = 0 ]
    fi
    grep -q "'jobrun logs -f Mnist_1' follows it, 'jobrun cancel Mnist_1' " out
    state_is Mnist_1 RUNNING
  done
  [ "$(asked POST ':cancel$')" -eq 0 ]
  rm -f out
  "$JOBRUN" apply --yes job.yaml >out 2>&1 3>&- &
  wait_until 30 grep -q 'Mnist_1: .*attempt 1' out
  press_ctrl_c_twice $! out
  status=0
  wait $! || status=$?
  [ "$status" = 130 ]
  state_is Mnist_1 CANCELLED
  [ "$(asked POST '/customJobs$')" -eq 1 ]
  [ "$(asked POST ':cancel$')" -eq 1 ]
  end_google
}
