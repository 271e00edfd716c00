# What other machines and other people see of runs in a cluster.
# bats file_tags=server
load helper
load kubernetes

gone() {
  [[ $(made) != *'"JobSet"'* ]]
}

# Their ttl is over.
expire() {
  tell state '{"expire": true}'
  wait_until 20 gone
  tell state '{"expire": false}'
}

@test "a success outlives the ttl of its objects, on every machine" {
  tell state '{"pods": [{"exit": 0}]}'
  pods_of once 1
  mkdir src
  echo 'print(1)' >src/main.py
  sed -i 's/provider: kubernetes/&, source: src, command: [a], kubernetes: {ttl: 1h}/' once.yaml
  run jobrun apply --yes once.yaml
  [ "$status" -eq 0 ]
  expire
  wait_until 20 eval '[ "$(made)" = "[[\"ConfigMap\", \"once-succeeded\"]]" ]'
  # A fresh machine, and what cleans up.
  export JOBRUN_STATE_DIR=$TMP/fresh
  run jobrun plan once.yaml
  echo "$output"
  [[ $output == *"already succeeded"* ]]
  run jobrun gc --yes --older-than 0s
  echo "$output"
  run jobrun apply --yes once.yaml
  echo "$output"
  [[ $output == *"already succeeded"* ]]
  [ "$(made)" = '[["ConfigMap", "once-succeeded"]]' ]
  # Another version of the job is another thing.
  sed -i 's/command: \[a\]/command: [b]/' once.yaml
  run jobrun plan once.yaml
  echo "$output"
  [[ $output == *"changed since attempt 1 (succeeded)"* ]]
  tell state '{"pods": [{"exit": 1}]}'
  run jobrun apply --yes once.yaml
  [ "$status" -eq 1 ]
  expire
  [[ $(made) != *succeeded* ]]
  # It goes with its job.
  tell state '{"pods": [{"exit": 0}]}'
  jobrun apply --yes --rerun once.yaml
  expire
  JOBRUN_STATE_DIR=$TMP/third run jobrun delete once.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [ "$(made)" = "[]" ]
}

@test "a success that another machine has seen is one here, when its ttl has passed" {
  tell state '{"pods": [{"exit": 0}]}'
  pods_of seen 0
  sed -i 's/provider: kubernetes/&, kubernetes: {ttl: 1h}/' seen.yaml
  jobrun apply --yes --detach seen.yaml
  (
    export JOBRUN_STATE_DIR=$TMP/other
    jobrun apply --yes seen.yaml
    wait_until 20 state_is seen SUCCEEDED
  )
  expire
  state_is seen SUCCEEDED
  jobrun delete seen
  [ "$(made)" = "[]" ]
}

@test "without the right to leave word of a success a plan says so" {
  pods_of once 0
  sed -i 's/provider: kubernetes/&, kubernetes: {ttl: 1h}/' once.yaml
  tell state '{"role": [{"verbs": ["get", "list", "watch", "create", "patch", "delete", "deletecollection"],
    "apiGroups": ["", "batch", "jobset.x-k8s.io"], "resources": ["jobsets", "pods", "jobs"]}]}'
  run jobrun plan once.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"note: the right to get, create, patch, delete configmaps in namespace 'team': without it other machines run it again when its ttl has passed"* ]]
  tell state '{"role": null}'
}
