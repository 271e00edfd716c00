# What a cluster says of why a run waits, and of how it ended.
# bats file_tags=server
load helper
load kubernetes

says() {
  jobrun status "$1" | tee said | grep -qF -- "$2"
}

# suspend JOBSET true|false: as somebody else does, or Kueue
suspend() {
  curl -sf --cacert "$KUBE/cert.pem" -X PATCH -o /dev/null \
    -H "Authorization: Bearer $(sed -n 's/.*token: \(.*\)}.*/\1/p' "$KUBE/kubeconfig")" \
    -H "Content-Type: application/merge-patch+json" \
    -d '{"spec": {"suspend": '"$2"'}}' \
    "$BASE/apis/jobset.x-k8s.io/v1alpha2/namespaces/team/jobsets/$1"
}

@test "what no pod is admitted for is said, of a JobSet as of a Job" {
  from=$(asked 0 .)
  for controller in jobset job; do
    for why in "exceeded quota: q, requested: pods=1, used: pods=4, limited: pods=4" \
      "maximum cpu usage per Container is 2, but request is 3520m" \
      "error looking up service account team/reader: serviceaccount not found" \
      "no PriorityClass with name high was found" \
      "admission webhook policy.example.com denied the request: no team"; do
      tell state '{"pods": [{"exit": 0}], "noPods": "'"$why"'"}'
      pods_of refused 0
      sed -i '/workerType/d; /workerCount/d; s/provider: kubernetes/&, kubernetes: {controller: '$controller'}/' refused.yaml
      jobrun apply --yes --detach refused.yaml
      wait_until 20 says refused "$why"
      cat said
      grep -q "QUEUED" said
      grep -q "FailedCreate: pods" said
      # The end that it comes to is its own.
      tell state '{"noPods": null}'
      jobrun wait refused
      jobrun delete refused
    done
  done
  # Only events about its own objects are asked for.
  [ "$(asked "$from" '/events[?]')" -ge 1 ]
  [ "$(asked "$from" '/events[?]')" -eq "$(asked "$from" '/events[?].*involvedObject.uid%3D')" ]
}

@test "what PodSecurity refuses is said" {
  tell state '{"pods": [{"exit": 0}], "labels": {"pod-security.kubernetes.io/enforce": "restricted"}}'
  pods_of loose 1
  sed -i 's/provider: kubernetes/&, kubernetes: {podSecurity: baseline}/' loose.yaml
  jobrun apply --yes --detach loose.yaml
  wait_until 20 says loose 'violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false'
  tell state '{"labels": {}}'
  jobrun wait loose
  jobrun delete loose
}

@test "a JobSet that nothing has seen, and a queue without Kueue" {
  pods_of unseen 0
  sed -i 's/provider: kubernetes/&, kubernetes: {queue: gpus}/' unseen.yaml
  tell state '{"paused": true, "pods": [{"hold": true}]}'
  run jobrun plan unseen.yaml
  echo "$output"
  [[ $output == *"note: the cluster has no Kueue: nothing waits in queue 'gpus'"* ]]
  jobrun apply --yes --detach unseen.yaml
  run jobrun status unseen
  echo "$output"
  [[ $output == *"the cluster has no Kueue: nothing waits in queue 'gpus'"* ]]
  tell state '{"paused": false}'
  jobrun cancel unseen
  jobrun delete unseen
  tell state '{"paused": true}'
  sed -i 's/, kubernetes: {queue: gpus}//' unseen.yaml
  jobrun apply --yes --detach unseen.yaml
  wait_until 30 says unseen "nothing has seen JobSet 'unseen' yet: does its controller run?"
  tell state '{"paused": false}'
  jobrun cancel unseen
  jobrun delete unseen
}

@test "a JobSet over its time, and a pod that was evicted, are said" {
  tell state '{"pods": [{"hold": true}]}'
  pods_of long 1
  sed -i 's/  workerCount/  scheduling: {maxRunningTime: 2s}\n&/' long.yaml
  run jobrun apply --yes long.yaml
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *"long: FAILED after "*": it ran for longer than trainingInput.scheduling.maxRunningTime"* ]]
  jobrun delete long
  tell state '{"pods": [{"evicted": "The node was low on resource: memory."}]}'
  pods_of evicted 0
  run jobrun apply --yes evicted.yaml
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *"lost its node: The node was low on resource: memory."* ]]
  jobrun delete evicted
}

@test "a run that somebody suspends in the middle waits, until it goes on" {
  tell state '{"pods": [{"hold": true}]}'
  pods_of halted 1
  jobrun apply --yes --detach halted.yaml
  wait_until 20 state_is halted RUNNING
  suspend halted true
  wait_until 20 says halted suspended
  cat said
  state_is halted QUEUED
  [ "$(field halted '[t["state"] for t in j["tasks"]]')" = "['QUEUED', 'QUEUED']" ]
  suspend halted false
  wait_until 20 state_is halted RUNNING
  jobrun cancel halted
  jobrun delete halted
}
