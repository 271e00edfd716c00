# The contract of exit statuses, as one table.

load helper

# A job file for each case, by name.
files() {
  mkdir -p none home
  local machine='trainingInput: {scaleTier: CUSTOM, masterType: n1-standard-4'
  file fails "$machine}" 'command: [sh, -c, exit 3]'
  file slurm "$machine}" 'provider: slurm, command: ["true"]'
  file host "$machine}" 'hosts: [nosuch.invalid], command: ["true"]'
  file refuses "$machine}" 'hosts: ["127.0.0.1:1"], command: ["true"]'
  file bucket "$machine}" \
    'command: ["true"], checkpoints: {directory: out, to: "gs://bucket/x"}'
  file cluster "$machine, masterConfig: {imageUri: busybox}}" \
    'provider: kubernetes, command: ["true"]'
  file source "$machine}" 'command: ["true"], source: nosuch'
  file secret "$machine}" 'command: ["true"], secrets: {K: {env: NO_SUCH_VARIABLE}}'
  file program "$machine}" 'command: [no-such-program]'
  file vertex "$machine, region: us-central1, masterConfig: {imageUri: gcr.io/p/i}}" \
    'provider: vertex-ai, project: p'
  file managed "$machine, region: us-central1, masterConfig: {imageUri: gcr.io/p/i}}" \
    'provider: vertex-ai'
  file vm "trainingInput: {scaleTier: CUSTOM, masterType: n1-standard-4, workerType: cloud_tpu, workerCount: 1, workerConfig: {acceleratorConfig: {type: TPU_V3, count: 8}}}" \
    'provider: tpu-vm, zone: us-central1-a, command: ["true"]'
  file node "trainingInput: {scaleTier: CUSTOM, masterType: n1-standard-4, workerType: cloud_tpu, workerCount: 1, workerConfig: {acceleratorConfig: {type: TPU_V3, count: 8}}}" \
    'provider: tpu-node, zone: us-central1-a, command: ["true"]'
}

file() {
  printf 'jobId: %s\n%s\njobrun: {%s}\n' "$1" "$2" "$3" >"$1.yaml"
}

# STATUS | WORDS | COMMAND: what it says, on either output, holds the words.
TABLE='
1  | exited with 3                          | apply fails.yaml
65 | cannot read                            | validate source.yaml
65 | cannot read                            | plan source.yaml
65 | cannot read                            | apply source.yaml
65 | the variable                           | apply secret.yaml
65 | not found in PATH                      | apply program.yaml
66 | no run of                              | status nosuch
66 | no run of                              | wait nosuch
66 | no run of                              | logs nosuch
66 | no run of                              | cancel nosuch
66 | no run of                              | metrics nosuch
66 | no run of                              | delete nosuch
66 | no run of                              | checkpoints nosuch
66 | has no attempt                         | logs --attempt 9 fails
69 | configuration source                   | apply --yes slurm.yaml
69 | nosuch.invalid                         | apply --yes host.yaml
69 | 127.0.0.1                              | apply --yes refuses.yaml
69 | no cluster is configured               | apply --yes cluster.yaml
77 | ! unknown: what exists                 | plan cluster.yaml
0  | ! unknown: what exists: not checked (  | plan --offline cluster.yaml
77 | no credentials                         | apply --yes bucket.yaml
77 | no credentials                         | apply --yes vertex.yaml
77 | ! unknown: what exists                 | plan vertex.yaml
0  | ! unknown: what exists: not checked (  | plan --offline vertex.yaml
77 | ! unknown: what exists                 | plan managed.yaml
77 | ! unknown: what exists                 | plan vm.yaml
77 | no credentials                         | apply --yes vm.yaml
77 | ! unknown: what exists                 | plan node.yaml
77 | not saved                              | plan --out none/plan vertex.yaml
64 | --out and --offline exclude each       | plan --out none/plan --offline vertex.yaml'

@test "what a command ends with says what was wrong" {
  local status_wanted words command wrong=0
  export HOME=$TMP/home CLOUDSDK_CONFIG=$TMP/none NO_GCE_CHECK=true
  export SLURM_CONF=$TMP/none/slurm.conf
  unset GOOGLE_APPLICATION_CREDENTIALS CLOUDSDK_AUTH_ACCESS_TOKEN \
    GOOGLE_OAUTH_ACCESS_TOKEN GOOGLE_CLOUD_PROJECT GCLOUD_PROJECT \
    KUBECONFIG KUBERNETES_SERVICE_HOST NO_SUCH_VARIABLE
  # Whether Slurm is here or not: its commands find no controller.
  mkdir bin
  for name in sbatch squeue scontrol sacct; do
    printf '#!/bin/sh\necho "%s: fatal: Could not establish a configuration source" >&2\nexit 1\n' \
      $name >bin/$name
    chmod +x bin/$name
  done
  export PATH=$TMP/bin:$PATH
  files
  while IFS='|' read -r status_wanted words command; do
    [ -n "$status_wanted" ] || continue
    words=$(sed 's/^ *//; s/ *$//' <<<"$words")
    # shellcheck disable=SC2086
    run jobrun $command </dev/null
    if [ "$status" -ne $status_wanted ] || [[ $output != *"$words"* ]]; then
      echo "jobrun$command: $status, not $status_wanted with '$words': $output"
      wrong=1
    fi
  done <<<"$TABLE"
  [ ! -e none/plan ]
  [ $wrong -eq 0 ]
}
