# What pods of jobs in a cluster look like, and what the cluster says of it.
# bats file_tags=server
load helper
load kubernetes

# Whether a run's object fulfils a condition on its pods' spec `pod`.
pod_has() {
  jobset "$1" | python3 -c '
import json, sys
one = json.load(sys.stdin)["spec"]["replicatedJobs"][0]["template"]["spec"]
pod, meta = one["template"]["spec"], one["template"]["metadata"]
main = pod["containers"][0]
sys.exit(not eval(sys.argv[1]))' "$2"
}

@test "pods have the runtime's seccomp profile, no token, and labels that all know" {
  tell state '{"pods": [{"hold": true}]}'
  pods_of plain 1
  jobrun apply --yes --detach plain.yaml
  pod_has plain 'pod["securityContext"] == {"seccompProfile": {"type": "RuntimeDefault"}}'
  pod_has plain 'pod["automountServiceAccountToken"] is False'
  pod_has plain 'meta["labels"]["app.kubernetes.io/name"] == "plain"'
  pod_has plain 'meta["labels"]["app.kubernetes.io/managed-by"] == "jobrun"'
  pod_has plain 'meta["labels"]["app.kubernetes.io/component"] == "node"'
  jobrun cancel plain
  jobrun delete plain
  # What a file names an account for is that account's token.
  sed -i 's/provider: kubernetes/&, kubernetes: {serviceAccount: reader}/' plain.yaml
  jobrun apply --yes --detach plain.yaml
  pod_has plain '"automountServiceAccountToken" not in pod'
  jobrun cancel plain
  jobrun delete plain
}

@test "pods are as restricted as their namespace asks, or their file" {
  for mode in enforce warn; do
    tell state '{"pods": [{"exit": 0}],
      "labels": {"pod-security.kubernetes.io/'$mode'": "restricted"}}'
    pods_of tight 1
    run jobrun plan tight.yaml
    echo "$output"
    [[ $output == *"namespace 'team' asks for PodSecurity 'restricted'"* ]]
    run jobrun apply --yes tight.yaml
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *"tight: SUCCEEDED"* ]]
    pod_has tight 'pod["securityContext"]["runAsNonRoot"] is True'
    pod_has tight 'main["securityContext"] == {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}'
    jobrun delete tight
  done
  tell state '{"labels": {}}'
  pods_of asked 0
  sed -i 's/provider: kubernetes/&, kubernetes: {podSecurity: restricted, launcher: "jobrun:1",\n    pod: {spec: {securityContext: {runAsUser: 1000}}}}, command: [a]/' asked.yaml
  run jobrun plan asked.yaml
  echo "$output"
  [[ $output == *"podSecurity"*"restricted"* ]]
  jobrun render --to kubernetes asked.yaml >manifests.yaml
  [ "$(grep -c 'allowPrivilegeEscalation: false' manifests.yaml)" -eq 2 ]
  grep -q 'runAsUser: 1000' manifests.yaml
  grep -q 'runAsNonRoot: true' manifests.yaml
  # A file that asks for less gets it.
  tell state '{"labels": {"pod-security.kubernetes.io/warn": "restricted"}}'
  sed -i 's/podSecurity: restricted/podSecurity: baseline/' asked.yaml
  run jobrun plan --format json asked.yaml
  [[ $output != *runAsNonRoot* ]]
  tell state '{"labels": {}}'
}
