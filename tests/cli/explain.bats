load helper

@test "explain shows all about a field" {
  run jobrun explain trainingInput.workerCount
  [ "$status" -eq 0 ]
  [ "${lines[0]}" = "trainingInput.workerCount (or worker_count)" ]
  [[ $output == *"Type:    whole number, 0 to 100000, also in quotes"* ]]
  [[ $output == *"Default: 0"* ]]
  [[ $output == *"How many workers there are besides the master"* ]]
  [[ $output == *Providers*local*"how many processes"* ]]
}

@test "explain takes both spellings, items of lists and tails of paths" {
  local path want
  want=$(jobrun explain trainingInput.hyperparameters.params.type)
  for path in training_input.hyperparameters.params.type \
    'trainingInput.hyperparameters.params[0].type' \
    hyperparameters.params.type params.type; do
    [ "$(jobrun explain "$path")" = "$want" ]
  done
  [ "$(jobrun explain jobrun.secrets.TOKEN.env)" = "$(jobrun explain jobrun.secrets.env)" ]
  run jobrun explain acceleratorConfig
  [ "$status" -eq 64 ]
  [[ $output == *"is ambiguous: trainingInput.masterConfig.acceleratorConfig,"* ]]
}

@test "explain names the nearest field" {
  run jobrun explain trainingInput.wrokerCount
  [ "$status" -eq 64 ]
  [ "$output" = "jobrun: error: no field 'trainingInput.wrokerCount'; did you mean 'trainingInput.workerCount'?" ]
  run jobrun explain workerCuont
  [[ $output == *"did you mean 'trainingInput.workerCount'?" ]]
  run jobrun explain trainingInput.masterConfig.bootDiskType
  [[ $output == *"did you mean 'trainingInput.masterConfig.diskConfig.bootDiskType'?" ]]
  run jobrun explain trainingInput.region.name
  [[ $output == *"'trainingInput.region' has no fields of its own" ]]
}

@test "explain alone is the top level, and -r everything" {
  run jobrun explain
  [ "$status" -eq 0 ]
  [[ $output == *trainingInput*jobrun* ]]
  jobrun explain -r >all
  grep -Eq '^    workerCount +whole number' all || grep -Eq '^  workerCount +whole number' all
  grep -q maxWaitTime all
  grep -q bootDiskSizeGb all
}

@test "explain --format json has every field with its documentation" {
  jobrun explain -r --format json >all.json
  python3 - <<'PY'
import json
all = json.load(open("all.json"))
assert all["formatVersion"] == 1
seen = {}
def walk(fields):
    for f in fields:
        assert f["doc"].strip().endswith("."), f["path"]
        assert f["type"], f["path"]
        seen[f["path"]] = f
        walk(f.get("fields", []))
walk(all["fields"])
tier = seen["trainingInput.scaleTier"]
assert tier["values"][0] == "BASIC" and tier["default"] == "BASIC"
assert seen["trainingInput.scheduling.priority"]["maximum"] == 1000
assert seen["trainingInput.hyperparameters.goal"]["required"] is True
assert seen["trainingInput.workerCount"]["providers"][0]["used"] is True
PY
}

@test "explain lists tables that fit the terminal" {
  run jobrun explain scale-tiers
  [ "$status" -eq 0 ]
  [[ ${lines[0]} == NAME*MASTER*WORKERS* ]]
  [[ $output == *"19 n1-highcpu-16"* ]]
  COLUMNS=80 jobrun explain scale-tiers | awk 'length > 80 { exit 1 }'
  jobrun explain tpus | grep -q '^v3-32 .* 4 .*2,2,1 *jobrun$'
  jobrun explain rules | grep -q ^secret
  jobrun explain providers | grep -q '^local .*processes on this machine'
  jobrun explain --format json tpus | python3 -c '
import json, sys
t = json.load(sys.stdin)
assert t["table"] == "tpus" and len(t["entries"]) > 30
assert all(e["source"] for e in t["entries"])'
}

@test "what explain says of fields for the manual is good roff" {
  jobrun explain --format man >fields
  grep -q '^.SS trainingInput.masterConfig.acceleratorConfig$' fields
  command -v groff >/dev/null || skip "needs groff"
  { echo '.TH X 5 "2026-11-21"'; cat fields; } >page.5
  run groff -ww -man -Tascii -z page.5
  [ "$status" -eq 0 ]
  [ -z "$output" ]
}

@test "a problem is explained by what stands in its brackets" {
  printf '%s\n' 'trainingInput:' '  scaleTier: BASIC_TPU' '  workerConfig:' \
    '    acceleratorConfig: {type: TPU_V3, count: 8}' >job.yaml
  run jobrun validate --provider ai-platform job.yaml
  [[ $output == *"[basic-tpu-is-v2]"* ]]
  run jobrun explain basic-tpu-is-v2
  [ "$status" = 0 ]
  [[ $output == *Why*Wrong*trainingInput*Right*"Looks at"*Source* ]]
  jobrun explain --format json duplicate-key |
    python3 -c 'import json,sys; j = json.load(sys.stdin); assert j["wrong"] and j["right"]'
  # A name of both a field and a rule shows both: a summary names the rule.
  [[ $(jobrun explain region) == trainingInput.region*"region (error)"*Why*Wrong*Right*Source* ]]
  [[ $(jobrun explain --format json region) != *'"rule": "region"'* ]]
  [[ $(jobrun explain '[region]') == "region (error)"* ]]
}
