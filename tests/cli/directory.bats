#!/usr/bin/env bats
# Which files of a directory are jobs, which are meant to be, and which are
# somebody else's.

load helper

setup_file() {
  export TRAINING='trainingInput: {scaleTier: BASIC}'
}

# put FILE LINE...
put() {
  local file=jobs/$1
  shift
  mkdir -p jobs
  printf '%s\n' "$@" >"$file"
}

# refused FILE MESSAGE: the directory is, for that file.
refused() {
  run jobrun validate jobs
  [ "$status" -eq 65 ] || { echo "$status $1: $output"; return 1; }
  [[ $output == *"jobs/$1"*"$2"* ]] || { echo "$1: $output"; return 1; }
  rm "jobs/$1"
}

@test "a job with a slip in its first key is not passed over in a directory" {
  put good.yaml 'jobId: good' "$TRAINING"
  put a.yaml 'traininginput:' '  scaleTier: BASIC'
  refused a.yaml 'did you mean "trainingInput"'
  put a.yaml 'traning_input:' '  scaleTier: BASIC'
  refused a.yaml 'did you mean "trainingInput"'
  put a.yaml 'jobId: a' 'training:' '  scaleTier: BASIC'
  refused a.yaml 'trainingInput'
  put a.yaml 'jobrun:' '  command: [python3, train.py]'
  refused a.yaml 'no "trainingInput"'
  put a.yaml 'scaleTier: CUSTOM' 'masterType: n1-standard-4'
  refused a.yaml '"scaleTier" belongs under it'
  put a.yaml '{"jobId": "a", "trainingInputs": {}}'
  refused a.yaml 'did you mean "trainingInput"'
  put a.yaml 'kind: note' '---' 'trainingInputt: {}'
  refused a.yaml 'did you mean "trainingInput"'
  run jobrun validate jobs
  [ "$status" -eq 0 ]
  [ -z "$output" ]
}

@test "a text that is no YAML is refused if a job's key begins a line of it" {
  put a.yaml 'jobId: a' 'traninginput:' '	scaleTier: BASIC'
  refused a.yaml '[yaml'
  put a.yaml "'jobrun': {command: [a}"
  refused a.yaml '[yaml'
  put good.yaml 'jobId: good' "$TRAINING"
  put a.yaml '{{ if .Values.train }}' 'data:' '  trainingInput: {{ .x }}' '{{ end }}'
  run jobrun validate jobs
  [ "$status" -eq 0 ]
  [[ $output == *"jobs/a.yaml: note: skipped 1 file without a job"* ]]
}

@test "other programs' files are skipped, counted once, and refused if strict" {
  put good.yaml 'jobId: good' "$TRAINING"
  put compose.yaml 'services: {a: {image: b}}' 'network: x' 'region: y'
  put deploy.yaml 'apiVersion: v1' 'kind: ConfigMap' 'data: {trainingInput: x}'
  put vertex.yaml 'workerPoolSpecs: []' 'serviceAccount: a' 'network: b'
  put hydra.yaml 'training: {lr: 1}' 'args: [a]'
  put list.yaml '- trainingInput'
  run jobrun validate jobs
  [ "$status" -eq 0 ]
  [ "${#lines[@]}" -eq 2 ]
  [ "${lines[0]}" = "jobs/compose.yaml: note: skipped 5 files without a job, starting with this one [skipped]" ]
  [[ ${lines[1]} == *"--strict"* ]]
  run jobrun validate --strict jobs
  [ "$status" -eq 65 ]
  [ "$(grep -c 'error: not a job file' <<<"$output")" -eq 5 ]
}

@test "a base without a trainingInput is no slip if a job extends it" {
  put base.yaml 'jobrun: {command: [a]}'
  put labels.yaml 'labels: {a: b}'
  put a.yaml 'jobId: a' "$TRAINING" 'jobrun: {extends: [base.yaml, labels.yaml]}'
  run jobrun validate jobs
  [ "$status" -eq 0 ]
  run jobrun validate --strict jobs
  [ "$status" -eq 0 ]
}

@test "each job of a file of several needs a jobId" {
  put a.yaml "$TRAINING" --- 'jobId: b' "$TRAINING"
  refused a.yaml ':1:1: error: each job in a file of several needs a jobId'
  put a.yaml 'jobId: b' "$TRAINING" --- "$TRAINING"
  refused a.yaml ':4:1: error: each job in a file of several needs a jobId'
  put a.yaml 'x: 1' --- "$TRAINING"
  run jobrun validate jobs/a.yaml
  [[ $output != *several* ]]
  put a.yaml "$TRAINING" --- 'jobId: b' "$TRAINING"
  run jobrun validate --job-id c jobs/a.yaml
  [ "$status" -eq 0 ]
}
