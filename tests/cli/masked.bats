#!/usr/bin/env bats
# What a problem shows of a job file: no value of a secret that somebody wrote
# into it, and what a size is meant to be.

load helper

# shows_none PATH...: no format has a secret, and there is at least one problem.
shows_none() {
  local format
  for format in text json sarif github; do
    run jobrun validate --format "$format" "$@"
    [ "$status" -eq 65 ] || { echo "$status"; return 1; }
    [[ $output != *hunter* ]] || { echo "$output"; return 1; }
  done
  run jobrun plan "$@"
  [ "$status" -eq 65 ]
  [[ $output != *hunter* ]] || { echo "$output"; return 1; }
  run jobrun validate "$@"
}

@test "an excerpt hides the value of a secret, in every form" {
  cat >job.yaml <<'END'
jobId: s
trainingInput: {scaleTier: BASIC}
jobrun:
  command: ["true"]
  provider: local
  secrets:
    TOKEN: hunter2
    OTHER: {value: hunter3, file: 9}
    THIRD:
      value: hunter4
      env: "x y hunter5"
    FOUR: {env: A, env: "hunter6 x"}
    FIVE: |
      key: hunter7
      hunter8
    SIX: "hunter9
      hunter10"
    SEVEN:hunter11
    EIGHT: hunter12: hunter13
  env: {SHOWN: [seen]}
END
  shows_none job.yaml
  cat >job.yaml <<'END'
jobId: s
trainingInput: {scaleTier: BASIC}
jobrun:
  command: ["true"]
  secrets:
    TOKEN: hunter2
    OTHER: {value: hunter3, file: 9}
    THIRD:
      value: hunter4
      env: "x y hunter5"
    FOUR: {env: A, env: "hunter6 x"}
  env: {SHOWN: [seen]}
END
  shows_none job.yaml
  [[ $output == *'    TOKEN: *******'* ]]
  [[ $output == *'OTHER: {value: *******, file: 9}'* ]]
  [[ $output == *'{SHOWN: [seen]}'* ]]
  [[ $output == *'must be a map of keys, found "***"'* ]]
}

@test "an excerpt hides a secret in JSON, in braces and in a list" {
  printf '%s\n' '{"jobId": "s", "trainingInput": {}, "jobrun": {"command": ["true"], "secrets":' \
    '{"TOKEN": "hunter2", "B": {"value": "hunter3"}}, "nothere": 1}}' >a.json
  mv a.json a.yaml
  shows_none a.yaml
  [[ $output == *'"nothere": 1'* ]]
  printf '%s\n' 'jobId: s' 'trainingInput: {scaleTier: BASIC}' \
    'jobrun: {command: ["true"], secret: {T: hunter2}, secrets: {T: hunter3}}' >a.yaml
  shows_none a.yaml
  printf '%s\n' 'jobId: s' 'trainingInput: {scaleTier: BASIC}' \
    'jobrun: {command: ["true"], secrets: hunter2, grace: 1s}' >a.yaml
  shows_none a.yaml
  printf '%s\n' 'jobId: s' 'trainingInput: {scaleTier: BASIC}' 'jobrun:' \
    '  command: ["true"]' '  secrets:' \
    '  - TOKEN=hunter2' '  - name: B' '    value: hunter3' >a.yaml
  shows_none a.yaml
  [[ $output == *'write TOKEN: {env: VARIABLE}'* ]]
  printf '%s\n' 'jobId: s' 'trainingInput: {scaleTier: BASIC}' 'jobrun:' \
    '  command: ["true"]' '  secrets:' \
    '  - name: B' '    value: hunter3' >a.yaml
  shows_none a.yaml
  [[ $output == *'write B: {env: VARIABLE}'* ]]
}

@test "where a secret is stays to be seen" {
  printf '%s\n' 'jobId: s' 'trainingInput: {scaleTier: BASIC}' 'jobrun:' \
    '  command: ["true"]' '  secrets:' \
    '    A: {env: MY_TOKEN, file: ~/.token}' >a.yaml
  run jobrun validate a.yaml
  [ "$status" -eq 65 ]
  [[ $output == *'A: {env: MY_TOKEN, file: ~/.token}'* ]]
}

@test "a size with a unit has the hint that is meant" {
  cat >job.yaml <<'END'
jobId: s
trainingInput:
  scaleTier: CUSTOM
  masterType: n1-standard-8
  masterConfig: {diskConfig: {bootDiskSizeGb: 100GB}}
jobrun:
  command: ["true"]
  provider: kubernetes
  data: {d: {urls: [/x], cacheSize: 10 Gb}}
  kubernetes: {volumes: {m: {path: /dev/shm, memory: 8 gb}}}
END
  run jobrun validate job.yaml
  [ "$status" -eq 65 ]
  [[ $output == *'found "100GB" [type]'*'= write 100: it is in GB'* ]]
  [[ $output == *'"cacheSize" "10 Gb" must be'*'= 10GB would be right'* ]]
  [[ $output == *'"memory" "8 gb" must be'*'= 8G would be right'* ]]
  jobrun validate --fix job.yaml | grep -q '^+.*bootDiskSizeGb: 100}'
}
