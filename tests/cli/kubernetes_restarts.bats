# What a JobSet makes anew when a run starts again.
# bats file_tags=server
load helper
load kubernetes

# restarting ID HOW [MORE]: a master and a worker, alike, and another pool
restarting() {
  cat >"$1.yaml" <<END
jobId: $1
trainingInput:
  scaleTier: CUSTOM
  masterType: n1-standard-4
  masterConfig: {imageUri: "python:3"}
  workerType: n1-standard-4
  workerCount: 1
  parameterServerType: n1-standard-8
  parameterServerCount: 1
jobrun:
  provider: kubernetes
  command: [a]
  restart: {maxRestarts: 2${3:-}}
  kubernetes: {restart: $2, restartAgent: "agent:1", serviceAccount: reader}
END
}

# attempts JOB: at which attempt the pods of each pool were made
attempts() {
  curl -sf --cacert "$KUBE/cert.pem" -H "Authorization: Bearer $(sed -n \
    's/.*token: \(.*\)}.*/\1/p' "$KUBE/kubeconfig")" \
    "$BASE/api/v1/namespaces/team/pods?labelSelector=jobrun-job%3D$1" |
    python3 -c '
import json, sys
label = "jobset.sigs.k8s.io/"
print(*sorted(one["metadata"]["labels"][label + "replicatedjob-name"] + " " +
              one["metadata"]["labels"][label + "restart-attempt"]
              for one in json.load(sys.stdin)["items"]), sep=", ")'
}

attempts_are() {
  [ "$(attempts "$1")" = "$2" ]
}

says() {
  jobrun status "$1" | grep -qF -- "$2"
}

# spec_has ID CONDITION on the JobSet's spec `s`, the pods' `pod` and the
# program's container `main`
spec_has() {
  jobset "$1" | python3 -c '
import json, sys
s = json.load(sys.stdin)["spec"]
pod = s["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
main = pod["containers"][0]
sys.exit(not eval(sys.argv[1]))' "$2"
}

@test "only the pool whose pod failed is made anew, where the cluster can" {
  tell state '{"features": ["RestartJob"],
    "pods": [{"pod": "^ps/0/0$", "exit": 3}, {"hold": true}]}'
  restarting part pool
  run jobrun plan part.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"restart"*"pool"* ]]
  [[ $output != *"made anew"* ]]
  jobrun apply --yes --detach part.yaml
  wait_until 30 attempts_are part "node 0, node 0, ps 1"
  spec_has part 's["failurePolicy"]["rules"][-1] == {"name": "pool", "action": "RestartJob"}'
  wait_until 30 says part "restarted 1 time"
  jobrun cancel part
  jobrun delete part
  tell state '{"features": []}'
}

@test "containers start again where they are, where the cluster can" {
  tell state '{"features": ["InPlaceRestart"],
    "pods": [{"pod": "^node/1/0$", "lines": ["first"], "exit": 3},
             {"pod": "/0$", "hold": true}, {"lines": ["second"]}]}'
  restarting place in-place
  run jobrun apply --yes place.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"place: SUCCEEDED"* ]]
  spec_has place 's["failurePolicy"]["restartStrategy"] == "InPlaceRestart"'
  spec_has place 'main["restartPolicyRules"] == [{"action": "RestartAllContainers", "exitCodes": {"operator": "NotIn", "values": [0]}}]'
  # The other pool may be over, or have been ended with the run.
  [[ $(attempts place) == "node 0, node 0"* && $(attempts place) != *1* ]]
  [ "$(jobset place | python3 -c '
import json, sys
print(json.load(sys.stdin)["status"]["currentInPlaceRestartAttempt"])')" -eq 1 ]
  jobrun delete place
  # What may not start again ends the pod, and with that the run.
  tell state '{"pods": [{"pod": "^node/1/0$", "exit": 7}, {"hold": true}]}'
  restarting place in-place ', rules: [{exitCodes: ["7"], action: fail}]'
  run jobrun apply --yes place.yaml
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *"worker 0 exited with 7"* ]]
  spec_has place 'main["restartPolicyRules"][0]["exitCodes"]["values"] == [0, 7]'
  jobrun delete place
  # At most so often.
  tell state '{"pods": [{"pod": "^node/1/", "exit": 3}, {"hold": true}]}'
  restarting place in-place
  run jobrun apply --yes place.yaml
  echo "$output"
  [ "$status" -eq 1 ]
  jobrun delete place
  tell state '{"features": []}'
}

@test "a cluster without other ways makes all pods anew, and a plan says so" {
  tell state '{"pods": [{"pod": "^ps/0/0$", "exit": 3}, {"pod": "/0$", "hold": true}, {"exit": 0}]}'
  for how in pool in-place; do
    restarting plain $how
    run jobrun plan plain.yaml
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *"note: jobrun.kubernetes.restart: all pods are made anew: the cluster refuses it: admission webhook"*"feature gate is disabled"* ]]
    run jobrun apply --yes plain.yaml
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *"plain: SUCCEEDED"* ]]
    spec_has plain '"restartStrategy" not in s["failurePolicy"] and "initContainers" not in pod and s["replicatedJobs"][0]["template"]["spec"]["backoffLimit"] == 0'
    jobrun delete plain
  done
}

@test "what another way of restarts needs, and where it has no effect" {
  restarting lacks in-place
  sed -i 's/, restartAgent: "agent:1"//' lacks.yaml
  run jobrun plan lacks.yaml
  echo "$output"
  [[ $output == *"missing: jobrun.kubernetes.restartAgent: restart: in-place takes an agent in each pod"* ]]
  restarting lacks in-place
  sed -i 's/, serviceAccount: reader//' lacks.yaml
  run jobrun plan lacks.yaml
  [[ $output == *"missing: jobrun.kubernetes.serviceAccount: the agent of restart: in-place asks the cluster"* ]]
  restarting lacks pool
  sed -i '/^  restart:/d' lacks.yaml
  run jobrun plan lacks.yaml
  echo "$output"
  [[ $output == *"jobrun.kubernetes.restart is left out: jobrun.restart asks for no restarts"* ]]
}
