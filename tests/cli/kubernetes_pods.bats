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

@test "pods ask for what a node of their machine type can give, and are limited if asked" {
  pods_of fits 0
  sed -i '/workerType/d; /workerCount/d' fits.yaml
  # One of GKE has 3920m and about 12 GiB to give, to its own pods too.
  run jobrun plan --format json fits.yaml
  [[ $output == *'"cpu": "3520m"'*'"memory": "1'[0-9]*'Mi"'* ]]
  jobrun render --to kubernetes fits.yaml >manifests.yaml
  refute grep -q limits: manifests.yaml
  [ "$(sed -n 's/^ *memory: "*\([0-9]*\)Mi"*$/\1/p' manifests.yaml)" -lt 12400 ]
  # The smallest has something left.
  jobrun render --to kubernetes --set trainingInput.masterType=n1-highcpu-2 fits.yaml >small.yaml
  [ "$(sed -n 's/^ *memory: "*\([0-9]*\)Mi"*$/\1/p' small.yaml)" -gt 100 ]
  # A quota that asks for limits of each container gets them.
  sed -i 's/provider: kubernetes/&, kubernetes: {limits: true, launcher: "jobrun:1"}, command: [a]/' fits.yaml
  jobrun render --to kubernetes fits.yaml >manifests.yaml
  [ "$(grep -c limits: manifests.yaml)" -eq 2 ]
  [ "$(grep -c 'cpu: 3520m' manifests.yaml)" -eq 3 ]
  # A site's own nodes keep what its catalogue says.
  printf 'nodes:\n- {of: cpu, fixed: 1, source: ours}\n' >nodes.yaml
  jobrun render --catalogue nodes.yaml --to kubernetes fits.yaml >manifests.yaml
  grep -q 'cpu: 3000m' manifests.yaml
}

@test "all that the cluster warns of is in plan and apply" {
  tell state '{"pods": [{"exit": 0}], "labels": {"pod-security.kubernetes.io/warn": "restricted"},
    "warn": ["spec.old is deprecated", "a \"quoted\" word"]}'
  pods_of warned 0
  sed -i '/workerType/d; /workerCount/d; s/provider: kubernetes/&, kubernetes: {controller: job, podSecurity: baseline}/' warned.yaml
  for command in "plan warned.yaml" "apply --yes warned.yaml"; do
    run jobrun $command
    echo "$output"
    [[ $output == *"note: the cluster warns: spec.old is deprecated"* ]]
    [[ $output == *'note: the cluster warns: a "quoted" word'* ]]
    [[ $output == *'note: the cluster warns: would violate PodSecurity "restricted:latest": allowPrivilegeEscalation != false, runAsNonRoot != true, unrestricted capabilities'* ]]
  done
  tell state '{"labels": {}, "warn": null}'
  jobrun delete warned
}

# whole ID: a Job with a source and a secret
whole() {
  pods_of "$1" 0
  mkdir -p src
  echo 'print(1)' >src/main.py
  sed -i '/workerType/d; /workerCount/d; s/provider: kubernetes/&, kubernetes: {controller: job}, source: src, secrets: {KEY: {env: KEY}}, command: [a]/' "$1.yaml"
  export KEY=for-the-pods-alone
}

@test "what a quota has no room for is known before anything is made" {
  tell state '{"pods": [{"hold": true}]}'
  whole counted
  for kind in configmaps secrets services jobs; do
    tell state '{"quota": {"'$kind'": 0}}'
    run jobrun plan counted.yaml
    echo "$output"
    [ "$status" -eq 75 ]
    [[ $output == *"the cluster refuses it: $kind"*'"counted'*"exceeded quota: q"* ]]
    run jobrun apply --yes counted.yaml
    [ "$status" -eq 75 ]
    [ "$(made)" = "[]" ]
  done
  # A run that another one replaces makes room for it.
  tell state '{"quota": {"jobs": 1}, "pods": [{"exit": 0}]}'
  jobrun apply --yes counted.yaml
  sed -i 's/command: \[a\]/command: [b]/' counted.yaml
  run jobrun plan counted.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"tried beside the run that it replaces, which goes first: "*"exceeded quota"* ]]
  run jobrun apply --yes counted.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  tell state '{"quota": null}'
  jobrun delete counted
}

@test "a source of very many files is no more than a run's annotations hold" {
  tell state '{"pods": [{"exit": 0}]}'
  whole long
  folder=src/$(printf 'a%.0s' {1..120})
  mkdir "$folder"
  for ((i = 0; i < 1200; i++)); do echo "$i" >"$folder/file-with-a-long-name-$i.txt"; done
  run jobrun plan --format json long.yaml
  [ "$status" -eq 0 ]
  [[ $output == *'"dryRun": "accepted"'* ]]
  run jobrun apply --yes long.yaml
  [ "$status" -eq 0 ]
  [[ $output == *"long: SUCCEEDED"* ]]
  jobrun delete long
  [ "$(made)" = "[]" ]
}
