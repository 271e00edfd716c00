# What is there, and what to do about the rest.
# bats file_tags=server
load helper

GOOGLE=$BATS_TEST_DIRNAME/../stand-ins/google/server.py

# A stand-in that ends with this test: it reads from a pipe of ours.
start_google() {
  mkfifo alive
  python3 "$GOOGLE" --port-file port --credentials creds <alive 3>&- &
  exec {KEEP}>alive
  wait_until 30 test -s port
  BASE=http://127.0.0.1:$(cat port)
  for service in ML COMPUTE TPU STORAGE LOGGING SERVICEUSAGE \
    CLOUDRESOURCEMANAGER AIPLATFORM; do
    export CLOUDSDK_API_ENDPOINT_OVERRIDES_$service=$BASE/
  done
}

end_google() {
  exec {KEEP}>&-
  wait
}

clean() {
  unset GOOGLE_APPLICATION_CREDENTIALS GOOGLE_CLOUD_PROJECT GCLOUD_PROJECT \
    CLOUDSDK_AUTH_ACCESS_TOKEN GOOGLE_OAUTH_ACCESS_TOKEN \
    CLOUDSDK_COMPUTE_ZONE CLOUDSDK_CORE_PROJECT
  export CLOUDSDK_CONFIG=$TMP/gcloud NO_GCE_CHECK=true
  unset KUBECONFIG KUBERNETES_SERVICE_HOST SLURM_CONF
  export HOME=$TMP
}

@test "a machine without credentials is told what to do, and is no failure" {
  clean
  mkdir bin
  printf '#!/bin/sh\n' >bin/ssh
  chmod +x bin/ssh
  PATH=$TMP/bin run "$JOBRUN" doctor
  [ "$status" -eq 0 ]
  [[ $output == *"ok       ssh                       $TMP/bin/ssh"* ]]
  [[ $output == *"missing  sbatch                    needed for the provider slurm"* ]]
  [[ $output == *"ok       libcurl"* ]]
  [[ $output =~ "ok       date                      20"[0-9-]+", "[0-9]+" day"s?" old" ]]
  [[ $output == *"missing  credentials               no credentials for Google Cloud: run 'gcloud auth application-default login'"* ]]
  [[ $output == *"missing  project                   set GOOGLE_CLOUD_PROJECT"* ]]
  [[ $output == *"missing  kubeconfig                needed for the provider kubernetes: set KUBECONFIG or write ~/.kube/config"* ]]
}

@test "a state directory that cannot be used is bad" {
  clean
  run "$JOBRUN" doctor
  [ "$status" -eq 0 ]
  [[ $output == *"missing  directory                 nothing has run here yet"* ]]
  [ ! -e state ]
  mkdir state
  echo "this is no database, whatever it is called" >state/jobrun.db
  run "$JOBRUN" doctor
  [ "$status" -eq 1 ]
  [[ $output == *"bad      directory "*"$TMP/state/jobrun.db"* ]]
  rm state/jobrun.db
  printf '%s\n' 'jobId: a' 'trainingInput: {scaleTier: BASIC}' \
    'jobrun: {command: ["true"]}' >job.yaml
  "$JOBRUN" apply job.yaml
  run "$JOBRUN" doctor
  [ "$status" -eq 0 ]
  [[ $output == *"ok       directory                 $TMP/state"* ]]
}

@test "what is taken is said with its source, and no token" {
  clean
  start_google
  export GOOGLE_APPLICATION_CREDENTIALS=$TMP/creds/service_account.json
  GOOGLE_CLOUD_PROJECT=p-1 CLOUDSDK_COMPUTE_ZONE=us-central1-b \
    run jobrun doctor --format json --trace-http trace
  echo "$output"
  [ "$status" -eq 0 ]
  printf '%s' "$output" >out.json
  curl -s "$BASE/_/secrets" >secrets.json
  end_google
  python3 - <<'PY'
import json
checks = {c["name"]: c for c in json.load(open("out.json"))["checks"]}
assert checks["project"]["value"] == "p-1"
assert checks["project"]["source"] == "GOOGLE_CLOUD_PROJECT"
assert checks["region"]["value"] == "us-central1"
assert checks["access token"]["state"] == "ok"
assert checks["tpu API"]["state"] == "ok", checks
assert "service account trainer@" in checks["credentials"]["value"]
written = open("out.json").read() + open("trace").read()
secrets = json.load(open("secrets.json"))
assert len(secrets) > 20
assert not [s for s in secrets if s in written]
PY
  [ "$(stat -c %a trace)" = 600 ]
}

@test "credentials that are refused end in 77, a dead service in 69" {
  clean
  start_google
  curl -s "$BASE/_/state" -d '{"refresh_revoked": true}'
  GOOGLE_APPLICATION_CREDENTIALS=$TMP/creds/authorized_user.json \
    run jobrun doctor
  [ "$status" -eq 77 ]
  [[ $output == *"bad      access token"*"log in again: gcloud auth application-default login"* ]]
  GOOGLE_APPLICATION_CREDENTIALS=$TMP/creds/service_account.json \
    CLOUDSDK_API_ENDPOINT_OVERRIDES_ML=http://127.0.0.1:1/ run jobrun doctor
  end_google
  echo "$output"
  [ "$status" -eq 69 ]
  [[ $output == *"bad      ml API                    cannot reach 'http://127.0.0.1:1/'"* ]]
  [[ $output == *"ok       tpu API"* ]]
}

@test "a file that is no credential is named" {
  clean
  echo '{"type": "nothing"}' >key.json
  GOOGLE_APPLICATION_CREDENTIALS=key.json run jobrun doctor
  [ "$status" -eq 77 ]
  [[ $output == *"bad      credentials               GOOGLE_APPLICATION_CREDENTIALS: 'key.json' is of type 'nothing'"* ]]
}

@test "wrong usage" {
  run jobrun doctor --format xml
  [ "$status" -eq 64 ]
  [[ $output == *"--format takes text or json, not 'xml'"* ]]
  run jobrun doctor nosuch.yaml
  [ "$status" -eq 65 ]
  [[ $output == *"cannot open 'nosuch.yaml'"* ]]
}

# slurm STATUS TEXT: sinfo prints the text and ends with the status
slurm() {
  mkdir -p bin
  printf '%s\n' '#!/bin/sh' "echo '$2'" "exit $1" >bin/sinfo
  printf '%s\n' '#!/bin/sh' \
    'echo "AccountingStorageType   = accounting_storage/slurmdbd"' >bin/scontrol
  chmod +x bin/*
}

@test "Slurm: a controller that answers, and one that does not" {
  clean
  slurm 0 'gpu* up, 4 nodes'
  PATH=$TMP/bin:$PATH run jobrun doctor
  [[ $output == *"ok       controller                answers"* ]]
  [[ $output == *"ok       partitions                gpu* up, 4 nodes"* ]]
  [[ $output == *"ok       accounting                accounting_storage/slurmdbd"* ]]
  printf '%s\n' '#!/bin/sh' 'echo slurm_load_partitions: Unable to contact slurm controller >&2' \
    'exit 1' >bin/sinfo
  PATH=$TMP/bin:$PATH run jobrun doctor
  [ "$status" -eq 69 ]
  [[ $output == *"bad      controller                sinfo: slurm_load_partitions: Unable to contact slurm controller"* ]]
  [[ $output != *accounting* ]]
  printf '%s\n' '#!/bin/sh' 'echo sinfo: fatal: Could not establish a configuration source >&2' \
    'exit 1' >bin/sinfo
  PATH=$TMP/bin:$PATH run jobrun doctor
  [ "$status" -eq 0 ]
  [[ $output == *"missing  controller                none is configured here: SLURM_CONF names a cluster's file"* ]]
}
