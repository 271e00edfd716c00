# What one job needs, and only that.
load helper

begin() {
  export HOME=$TMP NO_GCE_CHECK=true CLOUDSDK_CONFIG=$TMP/gcloud
  unset GOOGLE_APPLICATION_CREDENTIALS GOOGLE_CLOUD_PROJECT GCLOUD_PROJECT \
    CLOUDSDK_AUTH_ACCESS_TOKEN GOOGLE_OAUTH_ACCESS_TOKEN \
    CLOUDSDK_COMPUTE_ZONE CLOUDSDK_CORE_PROJECT KUBECONFIG \
    KUBERNETES_SERVICE_HOST SLURM_CONF PYTHONPATH
  mkdir bin
  export PATH=$TMP/bin:$PATH
}

# program NAME, with its script as the input
program() {
  { echo '#!/bin/sh'; cat; } >"bin/$1"
  chmod +x "bin/$1"
}

# job LINE...: job.yaml, with these lines below `jobrun:`
job() {
  printf '%s\n' 'jobId: it' 'trainingInput: {scaleTier: BASIC}' \
    'jobrun:' >job.yaml
  printf '  %s\n' "$@" >>job.yaml
}

@test "a job of this machine: modules, secrets, folders, and then its plan" {
  begin
  job 'command: [python3, src/train.py]' 'secrets: {KEY: {env: NO_KEY}}' \
    "logs: {to: $TMP/logs}"
  mkdir -p src lib/nosuchlib
  printf '%s\n' 'import os, helper, nosuchmodule.part' \
    'from nosuchlib import x' \
    'try:' '    import nosuchoption' 'except ImportError:' '    pass' \
    >src/train.py
  : >src/helper.py
  : >lib/nosuchlib/__init__.py
  run jobrun doctor job.yaml
  echo "$output"
  [ "$status" -eq 77 ]
  [[ $output == "it
  ok       provider "* ]]
  [[ $output == *"bad      secret KEY                set the environment variable NO_KEY"* ]]
  [[ $output == *"ok       logs                      $TMP/logs can be written"* ]]
  [[ $output == *"ok       python                    python3 is 3."* ]]
  [[ $output == *"bad      module nosuchmodule       the script imports it"* ]]
  [[ $output == *"bad      module nosuchlib "* ]]
  [[ $output != *nosuchoption* && $output != *helper* && $output != *plan* ]]
  # Nothing that another job needs is looked at.
  [[ $output != *sbatch* && $output != *libcurl* && $output != *kube* ]]
  export NO_KEY=1
  run jobrun doctor job.yaml
  [ "$status" -eq 1 ]
  # What `setup` may install is not held against it.
  run jobrun doctor --set-json 'jobrun.setup=["true"]' job.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"missing  module nosuchmodule       not installed here; jobrun.setup or a package may bring it"* ]]
  [[ $output == *"ok       plan                      'jobrun apply' can start it"* ]]
  sed -i 's/, nosuchmodule.part//' src/train.py
  run jobrun doctor -o json --set-json 'jobrun.env={"PYTHONPATH":"'"$TMP"'/lib"}' job.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [ "$(jq -r '.checks[] | select(.name == "plan").state' <<<"$output")" = ok ]
  [ "$(jq -r '[.checks[].group] | unique[]' <<<"$output")" = it ]
  [ ! -e state ]
}

@test "nothing of a job runs when its modules are looked at" {
  begin
  job 'command: [python3, src/train.py]'
  mkdir src
  echo 'import nosuchmodule' >src/train.py
  # Names that the look itself imports, early and late.
  for name in ast os platform email csv json sitecustomize importlib; do
    echo "open('$TMP/ran', 'w')" | tee "$name.py" >"src/$name.py"
  done
  export PYTHONPATH=src
  run jobrun doctor job.yaml
  echo "$output"
  [[ $output == *"ok       python                    python3 is 3."* ]]
  [[ $output == *"bad      module nosuchmodule "* ]]
  unset PYTHONPATH
  # An interpreter by its path may be one of the file's own.
  printf '#!/bin/sh\ntouch "%s/ran"\n' "$TMP" >python-own
  chmod +x python-own
  job "command: [$TMP/python-own, src/train.py]"
  run jobrun doctor job.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"missing  python                    $TMP/python-own is not run, as only the job file names it"* ]]
  [ ! -e ran ]
}

@test "what a job lacks in its file, its container and its GPUs" {
  begin
  printf '%s\n' 'jobId: it' 'trainingInput: {scaleTier: BASIC}' >job.yaml
  run jobrun doctor job.yaml
  echo "$output"
  [ "$status" -eq 65 ]
  [[ $output == *"bad      settings                  nothing to run: set jobrun.command"* ]]
  job 'command: ["true"]' 'container: {image: i, runtime: apptainer}'
  run jobrun doctor job.yaml
  echo "$output"
  [ "$status" -eq 65 ]
  [[ $output == *"bad      container                 'apptainer' is not installed here"* ]]
  program apptainer </dev/null
  run jobrun doctor job.yaml
  [[ $output == *"ok       container                 apptainer"* ]]
  printf '%s\n' 'jobId: it' 'trainingInput:' '  scaleTier: CUSTOM' \
    '  masterType: n1-standard-4' \
    '  masterConfig: {acceleratorConfig: {type: NVIDIA_TESLA_T4, count: 1}}' \
    'jobrun: {command: ["nosuchprogram"], local: {devices: strict}}' >job.yaml
  run jobrun doctor job.yaml
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *"bad      nosuchprogram             jobrun.command starts it, and PATH has none"* ]]
  [[ $output == *"bad      GPUs "* ]]
  # Two jobs, each in its own group; what is wrong with a file is said first.
  sed 's/jobId: it/jobId: other/' job.yaml >other.yaml
  run jobrun doctor job.yaml other.yaml
  [[ $output == *"it
"*"
other
  ok       provider"* ]]
  echo 'jobId: [1]' >job.yaml
  run jobrun doctor job.yaml
  [ "$status" -eq 65 ]
  [[ $output == *"job.yaml:1:"* && $output != *provider* ]]
}

@test "hosts: login, disk and python of each; not contacted unasked" {
  begin
  job 'command: [python3, train.py]' 'hosts: [good, shut, gone]'
  # The host's name is before the command, which is the last word.
  program ssh <<'END'
for word; do host=$command; command=$word; done
case $host in
good) exec sh -c "$command" ;;
shut) echo "me@shut: Permission denied (publickey)." >&2; exit 255 ;;
esac
echo "ssh: connect to host gone port 22: No route to host" >&2
exit 255
END
  run jobrun doctor job.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"missing  hosts                     not contacted, as only the job file names them: pass --allow-connect"* ]]
  run jobrun doctor --allow-connect job.yaml
  echo "$output"
  [ "$status" -eq 77 ]
  [[ $output == *"ok       good                      ssh logs in, $(uname -m)"* ]]
  [[ $output == *" good disk "*" free in $TMP"* ]]
  [[ $output == *"ok       good python3              3."* ]]
  [[ $output == *"bad      shut "*"Permission denied"* ]]
  [[ $output == *"bad      gone "*"No route to host"* ]]
  [[ $output != *plan* ]]
}

@test "Slurm: nothing there, the controller down, a partition and a request that it refuses" {
  begin
  job 'command: ["true"]' 'provider: slurm' 'slurm: {partition: big}'
  for name in sinfo sbatch squeue; do
    echo 'echo "x: error: Unable to contact slurm controller" >&2; exit 1' |
      program $name
  done
  run jobrun doctor job.yaml
  echo "$output"
  [ "$status" -eq 69 ]
  [[ $output == *"bad      controller                Slurm does not answer: Unable to contact slurm controller"* ]]
  [[ $output != *directory* ]]
  printf 'echo "cpu*"; echo gpu\n' | program sinfo
  run jobrun doctor job.yaml
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *"bad      partition                 there is no 'big' for you, but cpu*, gpu: change jobrun.slurm.partition"* ]]
  sed -i 's/big/cpu/' job.yaml
  program sbatch <<'END'
cat >request
echo "sbatch: error: Batch job submission failed: Invalid account" >&2
exit 1
END
  run jobrun doctor job.yaml
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *"ok       partition                 cpu"* ]]
  [[ $output == *"bad      request                   sbatch: Batch job submission failed: Invalid account"* ]]
  [[ $output == *"ok       directory "*" free"* ]]
  grep -q -e '--partition=cpu' request
  program sbatch <<'END'
echo "sbatch: Job 7 to start at 2026-11-29T02:00:00 using 1 processors on nodes n1 in partition cpu" >&2
END
  : | program squeue
  run jobrun doctor job.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"ok       request                   sbatch has it to start at 2026-11-29T02:00:00 using 1 processors"* ]]
  [[ $output == *"ok       plan "* ]]
  # A login host is contacted only when asked for.
  run jobrun doctor --set jobrun.slurm.loginHost=login job.yaml
  [ "$status" -eq 0 ]
  [[ $output == *"missing  place                     the login host 'login' is not contacted"* ]]
}

@test "Google and Kubernetes without any access say what to set" {
  begin
  printf '%s\n' 'jobId: it' 'trainingInput:' '  scaleTier: CUSTOM' \
    '  masterType: n1-standard-4' \
    '  masterConfig: {imageUri: gcr.io/p/i}' '  region: us-central1' >job.yaml
  run jobrun doctor --provider ai-platform job.yaml
  echo "$output"
  [ "$status" -eq 77 ]
  [[ $output == *"bad      credentials               no credentials for Google Cloud"* ]]
  [[ $output == *"bad      project                   no Google Cloud project is set"* ]]
  [[ $output != *zone* ]]
  run jobrun doctor --provider kubernetes job.yaml
  echo "$output"
  [ "$status" -eq 69 ]
  [[ $output == *"bad      kubeconfig                set KUBECONFIG or write ~/.kube/config"* ]]
}
