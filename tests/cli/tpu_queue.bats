# Places in the queue of TPUs: kept, found, given up.
# bats file_tags=server
load helper
load google

queued() {
  cat >"$1" <<YAML
jobId: wait
trainingInput:
  workerConfig: {acceleratorConfig: {type: TPU_V3, count: 8}}
jobrun:
  provider: tpu-vm
  zone: us-central1-a
  command: [echo, hello]
  tpu-vm: {queued: true${2:+, $2}}
YAML
}

# Another machine, with a state directory of its own.
elsewhere() {
  JOBRUN_STATE_DIR=$TMP/state2 "$JOBRUN" "$@"
}

@test "a place in the queue is up to date, here and elsewhere, and found by who asks for its age" {
  start_google
  tell state '{"tpu": {"*": {"queue": ["WAITING_FOR_RESOURCES"]}}}'
  queued job.yaml 'startupScript: "echo mine", disks: [d]'
  "$JOBRUN" apply --yes job.yaml >out 2>&1 3>&- &
  wait_until 30 grep -q 'WAITING_FOR_RESOURCES in the queue of us-central1-a since 20' out
  run elsewhere plan job.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output != *"± "* ]]
  [[ $output == *"· tpu-vm  wait  is up to date"* ]]
  run elsewhere gc
  echo "$output"
  [[ $output != *"wait"* ]]
  run elsewhere delete --yes job.yaml
  echo "$output"
  [ "$status" -eq 75 ]
  [[ $output == *"tpu-vm 'wait' waits in the queue for another owner, "*"'jobrun gc --older-than 0s' deletes it"* ]]
  [ "$(made)" -eq 1 ]
  run elsewhere gc --older-than 0s --yes
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"tpu-vm  wait"*"1 deleted"* ]]
  [ "$(made)" -eq 0 ]
  # Whoever waits for it sees that, and ends.
  wait $! || true
  end_google
}

@test "a queue that has none gives the next zone its turn; no zone more is 75" {
  start_google
  tell state '{"tpu": {"us-central1-a": {"queue": ["WAITING_FOR_RESOURCES", "FAILED"]},
    "europe-west4-a": {"queue": ["FAILED"]}}}'
  queued job.yaml 'zones: [europe-west4-a]'
  run jobrun apply --yes job.yaml
  echo "$output"
  [ "$status" -eq 75 ]
  [[ $output == *"none of 2 zones has capacity, last europe-west4-a: the queue of europe-west4-a: There is no more capacity"* ]]
  [ "$(asked POST '/queuedResources')" -eq 2 ]
  [ "$(made)" -eq 0 ]
  end_google
}

@test "while it waits for its TPU it is a run: terminal, client and supervisor may go" {
  start_google
  tell state '{"tpu": {"*": {"queue": ["WAITING_FOR_RESOURCES"]}}}'
  queued job.yaml
  run jobrun apply --yes --detach job.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  wait_until 30 made_is 1
  says="waits for tpu-vm 'wait': WAITING_FOR_RESOURCES in the queue of us-central1-a since 20"
  wait_until 30 status_says "$says"
  # Whoever applies it again follows it; closing that terminal ends nothing.
  "$JOBRUN" apply --yes job.yaml >out 2>&1 3>&- &
  wait_until 30 grep -q 'wait: following attempt 1' out
  kill -HUP $!
  wait $! || true
  state_is wait QUEUED
  # Nor do those who were killed take the place with them.
  s=$(tr -d ' \n' <state/runs/wait.1/lock)
  kill -9 "$(ps -o ppid= -p "$s" | tr -d ' ')" "$s"
  wait_until 30 status_says "$says"
  [ "$(asked POST '/queuedResources')" -eq 1 ]
  run jobrun cancel wait
  echo "$output"
  state_is wait CANCELLED
  [ "$(made)" -eq 0 ]
  run jobrun plan job.yaml
  echo "$output"
  [[ $output == *"run     wait  cancelled before it began"* ]]
  end_google
  wait_until 15 nothing_runs
}

status_says() {
  jobrun status wait >status.out 2>&1
  grep -qF "$1" status.out
}

# How often single places were asked for, and nodes that are not there yet.
alone() {
  echo $(($(asked GET '/queuedResources/') + $(asked GET '/nodes/' 4)))
}

listed() {
  [ "$(asked GET '/queuedResources$')" -ge "$1" ]
}

@test "jobs that wait in one zone share a list; what waits has no nodes to ask for" {
  start_google
  # A list is two seconds old at most, not five.
  export JOBRUN_LOOK_MS=400
  tell state '{"page": 100, "tpu": {"*": {"queue": ["WAITING_FOR_RESOURCES"]}}}'
  queued job.yaml
  mkdir jobs
  for n in $(seq 8); do sed "s/jobId: wait/jobId: wait$n/" job.yaml >jobs/$n.yaml; done
  jobrun apply --yes --detach jobs >/dev/null
  wait_until 60 listed 2
  before=$(alone)
  wait_until 60 listed 4
  # Each alone, the eight would have asked for 32 things in this time.
  after=$(alone)
  echo "$before before, $after after two more lists"
  [ $((after - before)) -le 20 ]
  # Whose turn it is, sees it.
  tell state '{"page": 100, "tpu": {"*": {"queue": ["WAITING_FOR_RESOURCES"],
      "script": [{"state": "CREATING"}]},
    "us-central1-a/wait5": {"queue": ["PROVISIONING"]}}}'
  wait_until 30 eval 'jobrun status wait5 | grep -qF "CREATING in us-central1-a"'
  jobrun status wait4 | grep -qF "WAITING_FOR_RESOURCES in the queue of us-central1-a"
  end_google
}

@test "what could not be made is an end like others: the next apply tries again" {
  start_google
  tell state '{"tpu": {"*": {"queue": ["FAILED"]}}}'
  queued job.yaml
  run jobrun apply --yes job.yaml
  [ "$status" -eq 75 ]
  [[ $output == *"wait: FAILED, not started: "*"There is no more capacity"* ]]
  run jobrun plan job.yaml
  echo "$output"
  [[ $output == *"run     wait  not started before: "*"There is no more capacity"* ]]
  end_google
}

@test "a zone that does not offer the type is passed over" {
  start_google
  tell state '{"tpu": {"us-central1-a": {"create": {"now": true, "http": 404,
      "message": "Accelerator type v3-8 was not found in zone us-central1-a"}},
    "europe-west4-a": {"create": {"now": true, "http": 429, "message": "There is no more capacity in the zone",
      "details": [{"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"subject": "p", "description": "none"}]}]}}}}'
  queued job.yaml 'zones: [europe-west4-a]'
  sed -i 's/queued: true, //' job.yaml
  run jobrun apply --yes job.yaml
  echo "$output"
  [ "$status" -eq 75 ]
  [[ $output == *"There is no more capacity in the zone"* ]]
  tell state '{"tpu": {"europe-west4-a": {"script": [{"state": "CREATING"}, {"state": "READY", "health": "HEALTHY"}]}, "us-central1-a": {"create": {"now": true, "http": 404,
      "message": "Accelerator type v3-8 was not found in zone us-central1-a"}}}}'
  "$JOBRUN" apply --yes job.yaml >out 2>&1 3>&- &
  wait_until 30 grep -q 'europe-west4-a; us-central1-a does not offer it' out
  jobrun cancel wait
  wait $! || true
  sed -i 's/zones: .europe-west4-a./readyTimeout: 5m/' job.yaml
  run jobrun apply --yes job.yaml
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *"Accelerator type v3-8 was not found in zone us-central1-a"* ]]
  end_google
}

@test "flex-start: asked for in the API that has it, for as long as the job may run" {
  start_google
  queued job.yaml 'flexStart: true, validFor: 2h'
  sed -i 's/queued: true, //; s/^trainingInput:/&\n  scheduling: {maxRunningTime: 14400s}/' job.yaml
  tell state '{"tpu": {"*": {"queue": ["WAITING_FOR_RESOURCES", "FAILED"]}}}'
  run jobrun plan job.yaml
  echo "$output"
  [[ $output == *"flexStart"*"true"* ]]
  [[ $output == *"tpu-vm 'wait' is a flex-start TPU, which takes preemptible quota: the service deletes it after 4h"* ]]
  run jobrun apply --yes job.yaml
  echo "$output"
  [ "$status" -eq 75 ]
  [ "$(asked POST '/tpu/v2alpha1/projects/proj-1/locations/us-central1-a/queuedResources')" -eq 1 ]
  [ "$(body POST '/queuedResources' 'b["provisioningModel"], b["runDuration"], b["queueingPolicy"]')" = \
    "('FLEX_START', {'maxRunDuration': '14400s'}, {'validUntilDuration': '7200s'})" ]
  [ "$(made)" -eq 0 ]
  sed -i 's/14400s/1000000s/' job.yaml
  run jobrun plan job.yaml
  echo "$output"
  [[ $output == *"a flex-start TPU stays for a week at most: set trainingInput.scheduling.maxRunningTime to 604800s or less"* ]]
  end_google
}

@test "a reservation is asked for by its path in the zone that is tried" {
  start_google
  tell state '{"tpu": {"*": {"queue": ["FAILED"]}}}'
  queued job.yaml 'reservation: ours, zones: [europe-west4-a]'
  run jobrun apply --yes job.yaml
  echo "$output"
  [ "$status" -eq 75 ]
  [ "$(asked POST '/queuedResources')" -eq 2 ]
  [ "$(body POST '/queuedResources' 'b["reservationName"]')" = \
    projects/proj-1/locations/europe-west4-a/reservations/ours ]
  [ "$(made)" -eq 0 ]
  end_google
}
