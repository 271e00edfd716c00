# Names of hardware that are newer than the catalogue.
load helper

# A job with machines and accelerators of that name.
job() { # PROVIDER MACHINE ACCELERATOR
  cat <<YAML
jobId: newer
trainingInput:
  scaleTier: CUSTOM
  region: us-central1
  masterType: $2
  masterConfig:
    imageUri: gcr.io/p/i
    acceleratorConfig: {type: $3, count: 4}
jobrun:
  command: [train]
YAML
  [ -z "$1" ] || echo "  provider: $1"
}

@test "an accelerator that nobody knew is a warning, and the request has its name" {
  local provider
  for provider in local slurm kubernetes vertex-ai tpu-vm ''; do
    job "$provider" z9-highgpu-4g NVIDIA_Z900_999GB >a.yaml
    run jobrun validate a.yaml
    [ "$status" -eq 0 ]
    [[ $output == *'"NVIDIA_Z900_999GB" is not a known accelerator: the catalogue is of 20'* ]]
    [[ $output != *"did you mean"* ]]
    run jobrun validate --strict a.yaml
    [ "$status" -eq 65 ]
  done
  job ai-platform z9-highgpu-4g NVIDIA_Z900_999GB >a.yaml
  run jobrun validate a.yaml
  [ "$status" -eq 65 ]
  [[ $output == *'error: "type" "NVIDIA_Z900_999GB" is not a valid accelerator '* ]]

  job vertex-ai z9-highgpu-4g NVIDIA_Z900_999GB >a.yaml
  run jobrun render --to vertex-ai a.yaml
  [[ $output == *'"acceleratorType": "NVIDIA_Z900_999GB"'* ]]
  [[ $output == *'"machineType": "z9-highgpu-4g"'* ]]
  job kubernetes z9-highgpu-4g NVIDIA_Z900_999GB >a.yaml
  run jobrun render --to kubernetes a.yaml
  [[ $output == *'cloud.google.com/gke-accelerator: nvidia-z900-999gb'* ]]
}

@test "the nearest machine type is of the same family, not of like letters" {
  job vertex-ai a3-highgpu-3g NVIDIA_H100_80GB >a.yaml
  run jobrun validate a.yaml
  [ "$status" -eq 0 ]
  [[ $output == *'the nearest known one is a3-highgpu-'* ]]
  job vertex-ai n1-standrd-8 NVIDIA_TESLA_T4 >a.yaml
  run jobrun validate a.yaml
  [ "$status" -eq 0 ]
  [[ $output == *'did you mean n1-standard-8?'* ]]
  job vertex-ai N1_standard NVIDIA_TESLA_T4 >a.yaml
  run jobrun validate a.yaml
  [ "$status" -eq 65 ]
}

@test "a number in a name says which hardware it is" {
  local type
  for type in NVIDIA_A10 NVIDIA_H20 nvidia-a10 A10 H20; do
    job slurm n1-standard-8 $type >a.yaml
    run jobrun validate a.yaml
    [[ $output == *"$type"* ]]
    [[ $output != *"did you mean"* ]]
  done
  job slurm n1-standard-8 nvidia-h200 >a.yaml
  run jobrun validate a.yaml
  [[ $output == *'did you mean NVIDIA_H200_141GB?'* ]]
  job slurm a4x-maxgpu-8g NVIDIA_GB300 >a.yaml
  run jobrun validate a.yaml
  [[ $output == *'the nearest known one is a4x-maxgpu-4g-metal'* ]]
}

@test "a region and a zone that nobody knew are warnings, other forms are errors" {
  local name
  for name in moon-east1 us-central99; do
    printf 'trainingInput: {scaleTier: BASIC, region: %s}\n' $name >a.yaml
    run jobrun validate a.yaml
    [ "$status" -eq 0 ]
    [[ $output == *'is not a known region'* ]]
  done
  for name in moon-east1-a us-central1-ai1a us-east us-east-1 Us-east1; do
    printf 'trainingInput: {scaleTier: BASIC, region: %s}\n' $name >a.yaml
    run jobrun validate a.yaml
    [ "$status" -eq 65 ]
  done
  for name in moon-east1-a us-central1-ai1a moon-east1-ai12b; do
    printf 'trainingInput: {scaleTier: BASIC}\njobrun: {provider: tpu-vm, zone: %s}\n' $name >a.yaml
    run jobrun validate a.yaml
    [ "$status" -eq 0 ]
  done
  for name in moon-east1 us-central1-ai1 us-central1-aia moon-a; do
    printf 'trainingInput: {scaleTier: BASIC}\njobrun: {provider: tpu-vm, zone: %s}\n' $name >a.yaml
    run jobrun validate a.yaml
    [ "$status" -eq 65 ]
  done
}

@test "reservations are full names in the region of the job, or one word" {
  local list place message
  while IFS='|' read -r list place message; do
    job vertex-ai a3-highgpu-4g NVIDIA_H100_80GB >a.yaml
    printf '  vertex-ai:\n    strategy: SPOT\n    reservation:\n' >>a.yaml
    printf '    - %s\n' $list >>a.yaml
    run jobrun validate a.yaml
    echo "$list: $output"
    if [ "$message" ]; then
      [ "$status" -eq 65 ]
      [[ $output == *"a.yaml:$place:7: error: $message"* ]]
    else
      [ "$status" -eq 0 ]
    fi
  done <<'ROWS'
any||
none||
projects/p/zones/us-central1-a/reservations/r||
projects/p/zones/us-central1-ai1a/reservations/r/reservationBlocks/b/reservationSubBlocks/s||
any projects/p/zones/us-central1-a/reservations/r|15|"any" in "reservation" stands alone
projects/p/zones/us-central1-a/reservations/r none|16|"none" in "reservation" stands alone
ours|15|"ours" in "reservation" is not the full name of a reservation
ANY_RESERVATION|15|"ANY_RESERVATION" in "reservation" is not the full name
projects/p/zones/us-central1-a/reservations/|15|"projects/p/zones/us-central1-a/reservations/" in "reservation" is not
projects/p/reservations/r|15|"projects/p/reservations/r" in "reservation" is not
projects/p/zones/europe-west4-a/reservations/r|15|"projects/p/zones/europe-west4-a/reservations/r" in "reservation" is in zone europe-west4-a, and the job in region us-central1
ROWS
}

@test "an accelerator in small letters is read in capitals" {
  job vertex-ai n1-standard-8 nvidia_tesla_t4 >a.yaml
  run jobrun validate a.yaml
  [ "$status" -eq 0 ]
  [[ $output == *'"type" is written NVIDIA_TESLA_T4'* ]]
  run jobrun render --to vertex-ai a.yaml
  [[ $output == *'"acceleratorType": "NVIDIA_TESLA_T4"'* ]]
}

# The rows of 2025 and 2026: an accelerator, a machine that has it, how many, and
# how Vertex AI gets it.
hardware() {
  cat <<'ROWS'
NVIDIA_H100_80GB a3-highgpu-1g 1 strategy: SPOT
NVIDIA_H100_80GB a3-highgpu-2g 2 strategy: FLEX_START
NVIDIA_H100_80GB a3-highgpu-4g 4 strategy: SPOT
NVIDIA_H100_80GB a3-highgpu-8g 8 strategy: STANDARD
NVIDIA_H100_MEGA_80GB a3-megagpu-8g 8 strategy: FLEX_START
NVIDIA_H200_141GB a3-ultragpu-8g 8 strategy: FLEX_START
NVIDIA_B200 a4-highgpu-8g 8 strategy: SPOT
NVIDIA_GB200 a4x-highgpu-4g 4 reservation: [projects/p/zones/us-central1-b/reservations/r]
NVIDIA_RTX_PRO_6000 g4-standard-48 1 strategy: STANDARD
NVIDIA_RTX_PRO_6000 g4-standard-384 8 strategy: SPOT
ROWS
}

@test "the accelerators of 2026 are said on every provider that has them" {
  local gpu machine count way provider
  while read -r gpu machine count way; do
    for provider in local slurm kubernetes vertex-ai; do
      job $provider $machine $gpu | sed "s/count: 4/count: $count/" >a.yaml
      [ $provider != vertex-ai ] || echo "  vertex-ai: {$way}" >>a.yaml
      run jobrun validate --strict a.yaml
      [ "$status" -eq 0 ]
      [ -z "$output" ]
    done
    run jobrun render --to vertex-ai a.yaml
    [ "$status" -eq 0 ]
    [[ $output == *"\"acceleratorCount\": $count"* ]]
    [[ $output == *"\"acceleratorType\": \"$gpu\""* ]]
    [[ $output == *"\"machineType\": \"$machine\""* ]]
    run jobrun render --to kubernetes a.yaml
    [[ $output == *"nvidia.com/gpu: \"$count\""* ]]
    gpu=${gpu//_/-}
    [[ $output == *"cloud.google.com/gke-accelerator: ${gpu,,}"* ]]
  done < <(hardware)
}

@test "accelerators of AMD are asked for by the resource and the model of theirs" {
  job kubernetes n1-standard-8 AMD_INSTINCT_MI300X >a.yaml
  run jobrun validate --strict a.yaml
  [ "$status" -eq 0 ]
  run jobrun render --to kubernetes a.yaml
  [ "$status" -eq 0 ]
  [[ $output == *'amd.com/gpu: "4"'* ]]
  [[ $output != *nvidia* && $output != *gke-accelerator* ]]
  job slurm n1-standard-8 AMD_INSTINCT_MI300X >a.yaml
  run jobrun plan a.yaml
  [[ $output == *'gpu:mi300x:4'* ]]
  job slurm g4-standard-192 NVIDIA_RTX_PRO_6000 >a.yaml
  run jobrun plan a.yaml
  [[ $output == *'gpu:rtx_pro_6000:4'* ]]
  # Nobody knows what a cluster calls those of another maker.
  job kubernetes n1-standard-8 ACME_Z1 >a.yaml
  run jobrun render --to kubernetes a.yaml
  [[ $output == *'its maker is not known'* ]]
  [[ $output != *nvidia* ]]
}

tpu() { # PROVIDER TYPE COUNT
  cat <<YAML
jobId: slice
trainingInput:
  scaleTier: CUSTOM
  masterType: n1-standard-8
  workerType: cloud_tpu
  workerCount: 1
  masterConfig: {imageUri: gcr.io/p/i}
  workerConfig:
    acceleratorConfig: {type: $2, count: $3}
jobrun:
  provider: $1
  command: [train]
YAML
}

@test "slices of TPUs with three dimensions exist in every size of whole cubes" {
  local type count hosts topology
  while read -r type count hosts topology; do
    tpu kubernetes $type $count >a.yaml
    run jobrun validate --strict a.yaml
    [ "$status" -eq 0 ]
    run jobrun render --to kubernetes a.yaml
    [[ $output == *"cloud.google.com/gke-tpu-topology: $topology"* ]]
    [ "$(jobrun explain tpus --format json | jq -r ".entries[] | select(.type == \"$type\" and .count == $count) | .hosts")" -eq $hosts ]
  done <<'ROWS'
TPU_V5P 384 48 4x4x12
TPU_V5P 640 80 4x4x20
TPU_V5P 768 96 4x8x12
TPU_V5P 12288 1536 16x16x24
TPU_V4 384 48 4x4x12
TPU_V4 1536 192 8x8x12
TPU_V6E 8 1 2x4
TPU_7X 8 1 2x2x1
TPU_7X 128 16 4x4x4
TPU_7X 18432 2304 16x24x24
ROWS
  tpu tpu-vm TPU_V5P 400 >a.yaml
  run jobrun validate a.yaml
  [ "$status" -eq 65 ]
  [[ $output == *'TPU_V5P has no such slice; the nearest are 384, 512'* ]]
}

@test "topologies of tpu-vm are of whole cubes" {
  local topology
  tpu tpu-vm TPU_V4 32 >a.yaml
  echo "  tpu-vm: {topology: 4x4x4}" >>a.yaml
  run jobrun validate a.yaml
  [ "$status" -eq 65 ]
  [[ $output == *"jobrun.tpu-vm.topology is 4x4x4: a v4-32 has 16 chips"* ]]
  for topology in 4x8x12 4x4x24 8x8x6 2x16x12 2x8x24 8x4x12; do
    tpu tpu-vm TPU_V5P 768 >a.yaml
    echo "  tpu-vm: {topology: $topology}" >>a.yaml
    run jobrun validate a.yaml
    case $topology in
      4x*)
        [ "$status" -eq 0 ]
        ;;
      *)
        [ "$status" -eq 65 ]
        [[ $output == *"a.yaml:13:22: error: jobrun.tpu-vm.topology is $topology: no v5p-768 has that shape"* ]]
        run jobrun plan --offline a.yaml
        [[ $output == *"no v5p-768 has that shape"* ]]
        ;;
    esac
  done
}

@test "a machine type that is a host of TPUs keeps them" {
  local machine label topology chips
  while read -r machine label topology chips; do
    printf 'jobId: host\ntrainingInput: {scaleTier: CUSTOM, region: us-central1, masterType: %s, masterConfig: {imageUri: a/b}}\n' \
      $machine >a.yaml
    jobrun render --provider kubernetes --to kubernetes a.yaml >out.yaml
    grep -q "gke-tpu-accelerator: $label\$" out.yaml
    grep -q "gke-tpu-topology: $topology\$" out.yaml
    [ "$(grep -c "google.com/tpu: \"$chips\"" out.yaml)" -eq 2 ]
    [ $machine = ct3-hightpu-4t ] ||
      [ "$(jobrun render --provider vertex-ai --to vertex-ai a.yaml | jq -r '.jobSpec.workerPoolSpecs[0].machineSpec.tpuTopology')" = $topology ]
  done <<'ROWS'
ct6e-standard-4t tpu-v6e-slice 2x2 4
ct5lp-hightpu-1t tpu-v5-lite-podslice 1x1 1
ct5p-hightpu-4t tpu-v5p-slice 2x2x1 4
tpu7x-standard-1t tpu7x 1x1x1 1
ct3-hightpu-4t tpu-v3-device 2x2 4
ROWS
  # The label of the nodes of these is not known.
  sed -i 's/ct3-hightpu-4t/ct5l-hightpu-4t/' a.yaml
  run jobrun render --provider kubernetes --to kubernetes a.yaml
  [[ $output == *"which nodes have the TPUs of ct5l-hightpu-4t"* ]]
}

@test "a machine type that cannot have the job's GPUs is a warning on a cluster" {
  local provider
  for provider in slurm kubernetes; do
    job $provider a3-highgpu-8g NVIDIA_B200 >a.yaml
    run jobrun validate a.yaml
    [ "$status" -eq 0 ]
    [[ $output == *"a.yaml:8:31: warning: a machine of type a3-highgpu-8g has 8 x NVIDIA_H100_80GB, not 4 x NVIDIA_B200"* ]]
    job $provider a3-highgpu-2g NVIDIA_H100_80GB >a.yaml
    run jobrun validate a.yaml
    [[ $output == *"has 2 x NVIDIA_H100_80GB, not 4 x NVIDIA_H100_80GB"* ]]
    # A part of a machine, and a machine without GPUs of its own.
    for machine in a3-highgpu-8g n1-standard-8; do
      job $provider $machine NVIDIA_H100_80GB >a.yaml
      run jobrun validate --strict a.yaml
      [ "$status" -eq 0 ]
    done
  done
}

@test "what Vertex AI does not have is said before it is sent" {
  local machine
  for machine in a4x-maxgpu-4g-metal a3-edgegpu-8g; do
    printf 'jobId: a\ntrainingInput: {scaleTier: CUSTOM, region: us-central1, masterType: %s, masterConfig: {imageUri: a/b}}\njobrun: {provider: vertex-ai}\n' \
      $machine >a.yaml
    run jobrun validate a.yaml
    [ "$status" -eq 0 ]
    [[ $output == *"warning: Vertex AI has no $machine: the catalogue is of 20"* ]]
    run jobrun validate --strict a.yaml
    [ "$status" -eq 65 ]
    jobrun validate --strict --provider kubernetes a.yaml
  done
  printf 'jobId: a\ntrainingInput: {scaleTier: CUSTOM, region: us-central1, masterType: n1-standard-4, pythonModule: a.b, runtimeVersion: "9.9"}\njobrun: {provider: vertex-ai, staging: "gs://a"}\n' >a.yaml
  run jobrun validate a.yaml
  [ "$status" -eq 65 ]
  [[ $output == *'error: Vertex AI has no prebuilt container of runtime 9.9'* ]]
  echo '  vertex-ai: {executorImage: gcr.io/p/i}' >>a.yaml
  sed -i 's/jobrun: {provider: vertex-ai, staging: "gs:\/\/a"}/jobrun:\n  provider: vertex-ai/' a.yaml
  jobrun validate --strict a.yaml
}

@test "TPU7x is at GKE" {
  tpu kubernetes TPU_7X 16 >a.yaml
  run jobrun render --to kubernetes a.yaml
  [[ $output == *'cloud.google.com/gke-tpu-accelerator: tpu7x'* ]]
  [[ $output == *'google.com/tpu: "4"'* ]]
}

# Each accelerator of the catalogue, how many, and a machine that has them: the
# first row of GPUs, each TPU's second slice by each of its names.
catalogue_rows() {
  jobrun explain accelerators --format json | jq -r '[.entries[]] | group_by(.type)[] | .[0] |
    [.type, (.counts[0] // 4), (.machines[0] // "n1-standard-8")] | @tsv'
  jobrun explain tpus --format json | jq -r '[.entries[]] | group_by(.type)[] | .[1] |
    [.type, .count, ""], (if .podType then [.podType, .count, ""] else empty end) | @tsv'
}

@test "what validate takes of the catalogue, plan and render take, too" {
  local provider type count machine n=0
  mkdir all
  while IFS=$'\t' read -r type count machine; do
    n=$((n + 1))
    if [ -n "$machine" ]; then
      job '' "$machine" "$type" | sed "s/count: 4/count: $count/; s/newer/job_$n/" >all/$n.yaml
    else
      tpu local "$type" "$count" | sed "/provider/d; s/slice/job_$n/" >all/$n.yaml
    fi
  done < <(catalogue_rows)
  [ "$n" -ge 30 ]
  grep -q TPU_V4_POD all/*
  for provider in local slurm kubernetes vertex-ai tpu-vm tpu-node; do
    # Vertex AI and its like know which machine has which accelerator.
    [ "$provider" != vertex-ai ] || rm $(grep -l AMD all/*)
    jobrun validate --provider $provider all
    jobrun plan --offline --provider $provider all >plan
    for n in all/*; do
      case $provider in vertex-ai | kubernetes) ;; *) break ;; esac
      jobrun render --to $provider --provider $provider "$n" >body 2>&1 || { cat "$n" body; false; }
    done
  done
}

@test "a runtime version is a prebuilt container of Vertex AI's, or left out" {
  cat >a.yaml <<'YAML'
jobId: r
trainingInput:
  scaleTier: BASIC
  region: europe-west4
  pythonModule: t.task
  packageUris: [gs://b/p.tar.gz]
  runtimeVersion: "2.11"
  pythonVersion: "3.7"
jobrun: {provider: vertex-ai, project: p}
YAML
  run jobrun plan --offline a.yaml
  [[ $output == *"note: trainingInput.runtimeVersion stands for the prebuilt container europe-docker.pkg.dev/vertex-ai/training/tf-cpu.2-11:latest (supported until 2024-11-15)"* ]]
  # An image of one's own is in its place, whatever the version says.
  sed -i 's/project: p/&, vertex-ai: {executorImage: gcr.io\/p\/i}/' a.yaml
  run jobrun plan --offline a.yaml
  [[ $output == *"note: trainingInput.runtimeVersion is left out: jobrun.vertex-ai.executorImage takes its place"* ]]
  [[ $output == *"note: trainingInput.pythonVersion is left out: jobrun.vertex-ai.executorImage takes its place"* ]]
  [[ $output != *"stands for"* ]]
  # No prebuilt container has this version: the plan cannot be applied.
  sed -i 's/, vertex-ai: .*/}/; s/2.11/1.14/' a.yaml
  run jobrun plan --offline a.yaml
  [[ $output == *"trainingInput.runtimeVersion: Vertex AI has no prebuilt container of runtime 1.14 and Python 3.7 with CPUs: set masterConfig.imageUri"* ]]
}

@test "both names of a TPU are one TPU, and Vertex AI gets the name that it knows" {
  local name
  for name in TPU_V4 TPU_V4_POD; do
    tpu vertex-ai $name 32 >a.yaml
    jobrun render --to vertex-ai a.yaml >body.json
    [ "$(jq -c '.jobSpec.workerPoolSpecs[0].machineSpec' body.json)" = '{"machineType":"cloud-tpu","acceleratorType":"TPU_V4_POD","acceleratorCount":32}' ]
    tpu kubernetes $name 32 >a.yaml
    jobrun render --to kubernetes a.yaml >body
    grep -q 'gke-tpu-accelerator: tpu-v4-podslice' body
  done
  tpu vertex-ai TPU_V2_POD 32 >a.yaml
  jobrun render --to vertex-ai a.yaml | grep -q '"acceleratorType": "TPU_V2"'
  tpu vertex-ai TPU_V5P 8 >a.yaml
  run jobrun render --to vertex-ai a.yaml
  [[ $output == *"Vertex AI has no TPU_V5P for training, only TPU_V2, TPU_V3, TPU_V4, TPU_V5_LITEPOD, TPU_V6E"* ]]
}

@test "a TPU that nobody knows needs a row, as its hosts are not known" {
  local provider
  for provider in local slurm kubernetes vertex-ai tpu-vm; do
    tpu $provider TPU_V9 8 >a.yaml
    run jobrun validate a.yaml
    [ "$status" -eq 65 ]
    [[ $output == *'"TPU_V9" is not a known TPU: the catalogue of 20'*' does not say how many hosts it has'* ]]
    [[ $output == *'= a catalogue of your own can have it: see jobrun-explain(1)'* ]]
  done
  cat >own.yaml <<'YAML'
tpus:
- type: TPU_V9
  podType: TPU_V9_POD
  generation: v9
  devicesPerHost: 4
  source: announced, 2026-11
  gkeSlice: tpu9
  vertexMachine: ct9-standard-4t
  slices:
  - {name: v9-4, count: 4, cores: 4, chips: 4, hosts: 1, topology: 2x2}
  - {name: v9-8, count: 8, cores: 8, chips: 8, hosts: 2, topology: 2x4}
YAML
  export JOBRUN_CATALOGUE=own.yaml
  tpu kubernetes TPU_V9_POD 8 >a.yaml
  jobrun validate --strict a.yaml
  jobrun render --to kubernetes a.yaml >body
  grep -q 'gke-tpu-accelerator: tpu9' body
  tpu vertex-ai TPU_V9 8 >a.yaml
  jobrun render --to vertex-ai a.yaml | grep -q ct9-standard-4t
  tpu local TPU_V9 8 >a.yaml
  [ "$(jobrun env a.yaml --task worker | grep '^WORLD_SIZE=')" = WORLD_SIZE=2 ]
}
