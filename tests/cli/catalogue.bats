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
  [[ $output == *'"moon-east1" is no region that is known'* ]]
  [[ $output == *'"z9-big-1" is no machine type that is known'* ]]
  JOBRUN_CATALOGUE=catalogue.yaml run jobrun validate a.yaml
  [ "$status" -eq 0 ]
  [ -z "$output" ]
}

@test "a catalogue that can't be read is an error that names it" {
  echo 'families: 3' >catalogue.yaml
  printf 'trainingInput: {scaleTier: BASIC}\n' >a.yaml
  JOBRUN_CATALOGUE=catalogue.yaml run jobrun validate a.yaml
  [ "$status" -eq 65 ]
  [[ $output == *"JOBRUN_CATALOGUE: 'catalogue.yaml'"*"line: 1"* ]]
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
