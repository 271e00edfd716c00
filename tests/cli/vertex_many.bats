# Jobs of Vertex AI that several clients apply, and many jobs side by side.
# bats file_tags=server
load helper
load google
load vertex

# The first to ask for a job has to wait for the service, which the second has
# not: neither can see that of the other before.
two_at_once() {
  tell state '{"jobs": {"*": {"script": ["QUEUED", "RUNNING"]}}}'
  tell faults '[{"path": "/customJobs$", "method": "POST", "do": "delay", "seconds": 4}]'
  "$JOBRUN" apply --yes --detach job.yaml >slow 2>&1 3>&- &
  wait_until 30 is_asked_for
  JOBRUN_STATE_DIR=$TMP/state2 "$JOBRUN" apply --yes --detach job.yaml
}

is_asked_for() {
  curl -sf "$BASE/_/requests" | python3 -c '
import json, sys
sys.exit(not any(r["method"] == "POST" and r["path"].endswith("/customJobs")
                 for r in json.load(sys.stdin)))'
}

posted() {
  [ "$(asked POST '/customJobs$')" -eq "$1" ]
}

@test "of two that were made at once the older stays, and both clients follow it" {
  mnist
  start_google
  two_at_once
  wait $!
  posted 2
  [ "$(asked POST ':cancel$')" -eq 1 ]
  run jobrun plan job.yaml
  echo "$output"
  [[ $output == *"is "*", attempt "* ]]
  # It is one: ending it from the one ends it for the other.
  jobrun cancel Mnist_1
  [ "$(asked POST ':cancel$')" -eq 2 ]
  JOBRUN_STATE_DIR=$TMP/state2 run jobrun status Mnist_1
  echo "$output"
  [[ $output == *CANCELLED* ]]
  end_google
}

# How many jobs there are that nobody has cancelled.
living() {
  curl -sf "$BASE/_/requests" | python3 -c '
import json, sys
done = [r["path"] for r in json.load(sys.stdin)
        if r["method"] == "POST" and r["status"] == 200]
print(sum(path.endswith("/customJobs") for path in done) -
      len({path for path in done if path.endswith(":cancel")}))'
}

@test "applied twice at the same moment, a job is paid for once, however slow the service is" {
  local rounds=10 n first
  [ -z "${JOBRUN_TEST_ALL:-}" ] || rounds=100
  mnist
  start_google
  tell state '{"jobs": {"*": {"script": ["QUEUED", "RUNNING"]}}}'
  tell faults '[{"path": "^/aiplatform/", "do": "delay", "seconds": 0.05, "count": 1000000}]'
  for ((n = 1; n <= rounds; n++)); do
    sed "s/Mnist_1/both$n/" job.yaml >both.yaml
    JOBRUN_STATE_DIR=$TMP/state2 "$JOBRUN" apply --yes --detach both.yaml >out 2>&1 3>&- &
    first=$!
    jobrun apply --yes --detach both.yaml
    wait $first
    [ "$(living)" -eq "$n" ]
  done
  end_google
}

@test "a twin that nobody has cancelled ends with its job's cancel" {
  mnist
  start_google
  two_at_once
  kill -9 $!
  wait $! || true
  wait_until 30 posted 2
  JOBRUN_STATE_DIR=$TMP/state2 run jobrun cancel Mnist_1
  echo "$output"
  [ "$status" -eq 0 ]
  [ "$(asked POST ':cancel$')" -eq 2 ]
  JOBRUN_STATE_DIR=$TMP/state2 run jobrun delete Mnist_1
  echo "$output"
  [ "$status" -eq 0 ]
  end_google
}

@test "of many jobs the logs are asked for seldom" {
  mnist
  start_google
  tell state '{"jobs": {"*": {"script": ["QUEUED", "RUNNING"]}}}'
  mkdir jobs
  for n in $(seq 20); do
    sed "s/Mnist_1/many$n/; s,source: official,source: ../official," job.yaml >jobs/many$n.yaml
  done
  jobrun apply --yes --detach jobs
  for n in 1 2 3; do
    jobrun status >status.out
  done
  grep -q RUNNING status.out
  # Each look asks for each, but for this.
  [ "$(asked POST entries:list)" -ge 1 ]
  [ "$(asked POST entries:list)" -le 30 ]
  for n in $(seq 20); do jobrun cancel many$n; done >/dev/null 2>&1
  end_google
}

listed_more_than() {
  [ "$(asked GET '/customJobs$')" -gt "$1" ]
}

@test "the jobs of a directory are found with one list, and followed with one" {
  local n lists
  mnist
  start_google
  tell state '{"page": 100, "jobs": {"*": {"script": ["QUEUED", "RUNNING"]}}}'
  mkdir jobs
  for n in $(seq 12); do
    sed "s/Mnist_1/many$n/; s,source: official,source: ../official," job.yaml >jobs/many$n.yaml
  done
  jobrun plan jobs >plan.out
  # Two by themselves, then all.
  [ "$(asked GET '/customJobs$')" -eq 3 ]
  jobrun apply --yes --detach jobs
  lists=$(asked GET '/customJobs$')
  "$JOBRUN" apply --yes jobs >out 2>&1 3>&- &
  wait_until 90 listed_more_than $((lists + 6))
  kill -HUP $!
  wait $! || true
  echo "$(asked GET '/customJobs/[0-9]+$') alone"
  [ "$(asked GET '/customJobs/[0-9]+$')" -le 24 ]
  jobrun cancel --yes jobs/ >cancel.out 2>&1
  end_google
}
