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
    [[ $output == *'"NVIDIA_Z900_999GB" is no accelerator that is known: the catalogue is of 20'* ]]
    [[ $output != *"did you mean"* ]]
    run jobrun validate --strict a.yaml
    [ "$status" -eq 65 ]
  done
  job ai-platform z9-highgpu-4g NVIDIA_Z900_999GB >a.yaml
  run jobrun validate a.yaml
  [ "$status" -eq 65 ]
  [[ $output == *'error: "type" "NVIDIA_Z900_999GB" is no accelerator '* ]]

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
  [[ $output == *'the nearest that is known is a3-highgpu-'* ]]
  job vertex-ai n1-standrd-8 NVIDIA_TESLA_T4 >a.yaml
  run jobrun validate a.yaml
  [ "$status" -eq 0 ]
  [[ $output == *'did you mean n1-standard-8?'* ]]
  job vertex-ai N1_standard NVIDIA_TESLA_T4 >a.yaml
  run jobrun validate a.yaml
  [ "$status" -eq 65 ]
}

@test "a region and a zone that nobody knew are warnings, other forms are errors" {
  local name
  for name in moon-east1 us-central99; do
    printf 'trainingInput: {scaleTier: BASIC, region: %s}\n' $name >a.yaml
    run jobrun validate a.yaml
    [ "$status" -eq 0 ]
    [[ $output == *'is no region that is known'* ]]
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

@test "an accelerator in small letters is read in capitals" {
  job vertex-ai n1-standard-8 nvidia_tesla_t4 >a.yaml
  run jobrun validate a.yaml
  [ "$status" -eq 0 ]
  [[ $output == *'"type" is written NVIDIA_TESLA_T4'* ]]
  run jobrun render --to vertex-ai a.yaml
  [[ $output == *'"acceleratorType": "NVIDIA_TESLA_T4"'* ]]
}
