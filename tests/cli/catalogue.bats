# A catalogue of one's own goes before the one that is compiled in.
load helper

@test "machines and regions of one's own" {
  cat >catalogue.yaml <<'YAML'
families:
- name: z9
  source: ours, 2026-01
  machines:
  - {name: z9-big-1, vcpus: 2, memoryGb: 4}
regionGroups:
- {source: ours, training: true, regions: [{name: moon-east1, zones: ab}]}
YAML
  printf 'trainingInput: {scaleTier: CUSTOM, masterType: z9-big-1, region: moon-east1}\n' >a.yaml
  run jobrun validate a.yaml
  [ "$status" -eq 0 ]
  [[ $output == *'"moon-east1" is not a known region'* ]]
  [[ $output == *'"z9-big-1" is not a known machine type'* ]]
  JOBRUN_CATALOGUE=catalogue.yaml run jobrun validate a.yaml
  [ "$status" -eq 0 ]
  [ -z "$output" ]
}

@test "a catalogue that can't be read is an error that names it" {
  echo 'families: 3' >catalogue.yaml
  printf 'trainingInput: {scaleTier: BASIC}\n' >a.yaml
  JOBRUN_CATALOGUE=catalogue.yaml run jobrun validate a.yaml
  [ "$status" -eq 65 ]
  [[ $output == *"catalogue.yaml:1:11: error: catalogue 'catalogue.yaml': 'families' must be a list"* ]]
  JOBRUN_CATALOGUE=none.yaml run jobrun validate a.yaml
  [ "$status" -eq 65 ]
  [[ $output == *"none.yaml"* ]]
}

@test "what a provider does not use is said in the plan" {
  printf 'trainingInput: {scaleTier: BASIC, network: projects/1/global/networks/x}\njobrun: {command: [a]}\n' >a.yaml
  run jobrun plan a.yaml
  [ "$status" -eq 0 ]
  [[ $output == *"trainingInput.network is not used by provider local"* ]]
}

@test "a field that a provider ignores has one note, with explain's reason" {
  local provider field
  cat >a.yaml <<'YAML'
jobId: unused
trainingInput:
  scaleTier: CUSTOM
  masterType: n1-standard-8
  network: projects/1/global/networks/x
  serviceAccount: a@p.iam.gserviceaccount.com
  enableWebAccess: true
  encryptionConfig: {kmsKeyName: projects/p/locations/us-central1/keyRings/r/cryptoKeys/k}
  scheduling: {maxWaitTime: 3600s}
  masterConfig: {imageUri: gcr.io/p/i, diskConfig: {bootDiskSizeGb: 200}}
jobrun: {command: [a]}
YAML
  for provider in local slurm kubernetes; do
    jobrun plan --offline --provider $provider --format json a.yaml | jq -r '.jobs[0].notes[]' >notes
    for field in network serviceAccount enableWebAccess encryptionConfig scheduling.maxWaitTime masterConfig.diskConfig; do
      [ "$(grep -cE "^(trainingInput[^ ]*, )*trainingInput.$field(,| is | are )" notes)" -eq 1 ] || { echo $provider $field; cat notes; false; }
    done
  done
  jobrun plan --offline --provider slurm a.yaml >plan
  grep -q 'note: trainingInput.network is not used: nodes have their own$' plan
  jobrun explain trainingInput.network | grep -q 'slurm .*not used: nodes have their own$'
}

site_catalogue() {
  cat >"$1" <<'YAML'
currency: EUR
prices:
- {machineType: dgx-h100, perHour: 18.5}
accelerators:
- {type: NVIDIA_H100_80GB, gres: "gpu:h100-sxm", source: "our racks, 2026-11"}
families:
- name: dgx
  source: our racks, 2026-11
  machines:
  - {name: dgx-h100, vcpus: 224, memoryGb: 2048, acceleratorType: NVIDIA_H100_80GB, acceleratorCount: 8}
YAML
}

site_job() {
  mkdir -p "$(dirname "$1")"
  cat >"$1" <<'YAML'
jobId: site
trainingInput: {scaleTier: CUSTOM, masterType: dgx-h100, scheduling: {maxRunningTime: 7200s}}
jobrun: {provider: slurm, command: [python3, train.py]}
YAML
}

@test "catalogues of a user, a repository and an option: what they say is used and named" {
  export HOME=$PWD/home XDG_CONFIG_HOME=
  mkdir -p home/.config/jobrun/catalogue repo/jobs
  git -C repo init -q
  site_job repo/jobs/a.yaml
  run jobrun validate --strict repo/jobs/a.yaml
  [ "$status" -ne 0 ]
  [[ $output == *dgx-h100* ]]
  site_catalogue home/.config/jobrun/catalogue/site.yaml
  jobrun validate --strict repo/jobs/a.yaml
  rm -r home
  # The job's repository counts, not where the command was called.
  site_catalogue repo/jobrun.catalogue
  jobrun validate --strict repo/jobs/a.yaml
  run jobrun render --to slurm repo/jobs/a.yaml
  [[ $output == *"gpu:h100-sxm:8"* ]]
  (cd repo && jobrun explain machine-types --format json) >rows.json
  [ "$(jq -r '.entries[] | select(.name == "dgx-h100") | .origin' rows.json)" = jobrun.catalogue ]
  [ "$(jq -r '.entries[] | select(.name == "n1-standard-4") | .origin' rows.json)" = jobrun ]
  [ "$(jq -r .date rows.json | tr -d 0-9)" = -- ]
  # A row of one's own takes the place of the shipped one.
  (cd repo && jobrun explain accelerators --format json) >rows.json
  [ "$(jq -c '[.entries[] | select(.type == "NVIDIA_H100_80GB") | .origin] | unique' rows.json)" = '["jobrun.catalogue"]' ]
  # An option goes before the repository.
  sed 's/18.5/20/; s/dgx-h100, vcpus: 224/dgx-h100, vcpus: 96/' repo/jobrun.catalogue >other.yaml
  run jobrun explain machine-types --format json --catalogue other.yaml
  [ "$(jq '.entries[] | select(.name == "dgx-h100") | .vcpus' <<<"$output")" = 96 ]
}

@test "the plan says which rows and prices are not jobrun's own" {
  site_job a.yaml
  sed -i 's/provider: slurm/provider: fake/' a.yaml
  site_catalogue own.yaml
  CI= run jobrun plan --catalogue own.yaml a.yaml
  [ "$status" -eq 0 ]
  [[ $output == *"machine type dgx-h100 is from catalogue own.yaml"* ]]
  [[ $output == *"accelerator NVIDIA_H100_80GB is from catalogue own.yaml"* ]]
  [[ $output == *"prices are from catalogue own.yaml"* ]]
  [[ $output == *"37.00 EUR"* ]]
  [[ $output != *"review it"* ]]
  CI=true run jobrun plan --catalogue own.yaml a.yaml
  [[ $output == *"dgx-h100 is from catalogue own.yaml, not jobrun's own: review it"* ]]
}

@test "a catalogue is checked as a job file is" {
  printf 'trainingInput: {scaleTier: BASIC}\n' >a.yaml
  while IFS='|' read -r text message; do
    printf "$text" >bad.yaml
    run jobrun validate --catalogue bad.yaml a.yaml
    [ "$status" -eq 65 ]
    echo "$text: $output"
    [[ $output == *"bad.yaml:"[1-9]*": error: catalogue 'bad.yaml'"*"$message"* ]]
    [[ $output != *"a.yaml:"* ]]
  done <<'TABLE'
families: [{name: a, sorce: b}]|unknown key 'sorce'
families: [{name: a}]|this row lacks 'source'
families:\n- 3|must be a map of keys
families: [{name: a, source: b, machines: [{name: a-1, vcpus: -1, memoryGb: 1}]}]|'vcpus' must be a whole number of 0 or more, not '-1'
families: [{name: a, source: b, machines: [{name: a-1, vcpus: 1, memoryGb: much}]}]|'memoryGb' must be a number, not 'much'
currency: EUR\nprices: [{machineType: n1-standard-4, perHour: 1e308}]|perHour of 'n1-standard-4' must be 0 to 1e+09
families: [{name: a, source: b, machines: [{name: A-1, vcpus: 1, memoryGb: 1}]}]|lower-case letters
families: [{name: a, source: b, machines: [{name: a-1, vcpus: 0, memoryGb: 1}]}]|more than 0
families: [{name: a, source: b, machines: [{name: a-1, vcpus: 1, memoryGb: 1, acceleratorType: NVIDIA_L4}]}]|go together
families: [{name: a, source: b, machines: [{name: a-1, vcpus: 1, memoryGb: 1, acceleratorType: NVIDIA_L44, acceleratorCount: 1}]}]|did you mean 'NVIDIA_L4'?
families: [{name: a, source: b, machines: [{name: a-1, vcpus: 1, memoryGb: 1}, {name: a-1, vcpus: 1, memoryGb: 1}]}]|'a-1' appears twice
accelerators: [{type: nvidia, source: b}]|capitals
accelerators: [{type: NVIDIA_L4, gres: "gpu:l4 --wrap=evil", source: b}]|gres: must be one word
accelerators: [{type: NVIDIA_L4, gres: "gpu:l4\\ntouch pwned", source: b}]|control character
accelerators: [{type: NVIDIA_L4, source: "b\\e[31m"}]|control character
accelerators: [{type: NVIDIA_L4, source: b, fits: [{machines: ["a-1\\tb"], counts: [1]}]}]|control character
regionGroups: [{source: b, regions: [{name: moon-east1, zones: "1"}]}]|letters of its zones
currency: EUR|go together
{currency: EUR, prices: [{machineType: a, perHour: -1}]}|must be 0 to 1e+09, not -1
TABLE
}

@test "a row of a known accelerator that only adds its gres keeps the rest" {
  cat >a.yaml <<'EOF'
jobId: a
trainingInput:
  scaleTier: CUSTOM
  masterType: a3-highgpu-8g
  masterConfig: {acceleratorConfig: {type: NVIDIA_H100_80GB, count: 8}}
jobrun: {provider: slurm, command: [x]}
EOF
  echo 'accelerators: [{type: NVIDIA_H100_80GB, gres: "gpu:hopper", source: ours}]' >own.yaml
  jobrun validate --strict --catalogue own.yaml a.yaml
  jobrun render --to slurm --catalogue own.yaml a.yaml | grep -- "--gres=gpu:hopper:8"
  sed -i 's/provider: slurm, command: .x./provider: vertex-ai/' a.yaml
  jobrun validate --catalogue own.yaml a.yaml
}

@test "a TPU of one's own is planned, and its row says what it lacks" {
  cat >own.yaml <<'YAML'
tpus:
- type: TPU_V9
  generation: v9
  devicesPerHost: 4
  source: ours
  slices:
  - {name: v9-8, count: 8, cores: 8, chips: 8, hosts: 2, topology: 2x4}
YAML
  cat >a.yaml <<'YAML'
jobId: ours
trainingInput: {scaleTier: CUSTOM, region: us-central1, masterType: n1-standard-4, workerType: cloud_tpu, workerCount: 1,
  masterConfig: {imageUri: a/b}, workerConfig: {acceleratorConfig: {type: TPU_V9, count: 8}}}
jobrun: {command: [x], zone: us-central1-a}
YAML
  local provider field
  while read -r provider field; do
    run jobrun plan --offline --catalogue own.yaml --provider $provider a.yaml
    echo "$output"
    [[ $output == *"the row of TPU_V9 in catalogue own.yaml has no $field"* ]]
  done <<'ROWS'
tpu-vm vmRuntime
kubernetes gkeSlice
vertex-ai vertexMachine
ROWS
  sed -i 's/^  source/  vmRuntime: v2-alpha-tpuv9\n  gkeSlice: tpu-v9-slice\n  vertexMachine: ct9-standard-{chips}t\n  source/' own.yaml
  jobrun plan --offline --catalogue own.yaml --provider tpu-vm a.yaml | grep 'acceleratorType *v9-8'
  jobrun render --to kubernetes --catalogue own.yaml --provider kubernetes a.yaml | grep 'gke-tpu-accelerator: tpu-v9-slice'
  jobrun render --to vertex-ai --catalogue own.yaml --provider vertex-ai a.yaml | grep '"machineType": "ct9-standard-4t"'
}
