# What the runs of a plan will use, and cost where there is a price list.
load helper

# job FILE ID TRAININGINPUT
priced() {
  cat >"$1" <<END
jobId: $2
trainingInput: {region: us-central1, $3}
jobrun: {provider: ${4:-fake}, command: [train]}
END
}

CUSTOM='scaleTier: CUSTOM, masterType: n1-standard-4, workerType: n1-standard-4, workerCount: 2'
GPU=', workerConfig: {acceleratorConfig: {type: NVIDIA_TESLA_T4, count: 2}}'
LIMIT=', scheduling: {maxRunningTime: 5400s}'

prices() {
  cat >prices.yaml <<END
currency: EUR
prices:
- {machineType: n1-standard-4, perHour: 9}
- {machineType: n1-standard-4, region: us-central1, perHour: 0.2}
- {acceleratorType: NVIDIA_TESLA_T4, perHour: 0.35}
END
}

@test "machines, accelerators, cores and hours" {
  priced a.yaml a "$CUSTOM$GPU$LIMIT"
  run jobrun plan a.yaml
  echo "$output"
  [[ $output == *"  uses: 3 machines, 4 accelerators, 12 cores, at most 1h30m"* ]]
  [[ $output != *EUR* ]]
  priced a.yaml a 'scaleTier: STANDARD_1'
  run jobrun plan a.yaml
  [[ $output == *"uses: 8 machines, 52 cores, no time limit"* ]]
  # On this machine machine types do not matter.
  priced a.yaml a "$CUSTOM" local
  run jobrun plan a.yaml
  [[ $output != *uses:* ]]
}

@test "money, from the nearest price and only if all have one" {
  prices
  priced a.yaml a "$CUSTOM$GPU$LIMIT"
  run jobrun plan --prices prices.yaml a.yaml
  echo "$output"
  # (3 * 0.2 + 4 * 0.35) * 1.5
  [[ $output == *"at most 1h30m, at most 3.00 EUR"* ]]
  priced b.yaml b "$CUSTOM"
  run jobrun plan --prices prices.yaml b.yaml
  [[ $output == *"no time limit, 0.6000 EUR per hour"* ]]
  priced c.yaml c 'scaleTier: STANDARD_1'
  export JOBRUN_PRICES=prices.yaml
  run jobrun plan a.yaml b.yaml c.yaml
  echo "$output"
  [[ $output == *"The runs use 14 machines, 4 accelerators, 76 cores, at most 4.5 machine hours, 2 runs without a time limit, at most 3.00 EUR without 2 runs of unknown cost."* ]]
  [[ $output == *"The price list has no price for n1-highcpu-8."* ]]
  run jobrun plan --format markdown a.yaml b.yaml c.yaml
  [[ ${lines[1]} == "The runs use 14 machines"* ]]
  [[ $output == *'`a` (fake, `a.yaml`): 1 to run; not run yet; uses 3 machines, 4 accelerators, 12 cores, at most 1h30m, at most 3.00 EUR'* ]]
  jobrun plan --format json a.yaml c.yaml >plan.json
  python3 - <<'END'
import json
plan = json.load(open("plan.json"))
a, c = plan["jobs"]
assert a["estimate"] == {
    "machines": 3, "accelerators": 4, "cores": 12, "maxRunningSeconds": 5400,
    "items": [{"machineType": "n1-standard-4", "machines": 1},
              {"machineType": "n1-standard-4", "machines": 2,
               "acceleratorType": "NVIDIA_TESLA_T4", "accelerators": 4}],
    "currency": "EUR", "costPerHour": "2.00", "maxCost": "3.00",
    "unpriced": []}, a["estimate"]
assert "maxCost" not in c["estimate"] and "costPerHour" not in c["estimate"]
assert c["estimate"]["unpriced"] == ["n1-highcpu-8"]
assert plan["estimate"]["maxCost"] == "3.00"
assert plan["estimate"]["runsWithoutCost"] == 1
END
}

@test "what will not be started is not counted" {
  prices
  priced a.yaml a "$CUSTOM$LIMIT"
  jobrun apply a.yaml
  run jobrun plan --prices prices.yaml a.yaml
  [[ $output == *"Nothing to do."* ]]
  [[ $output != *uses* ]]
}

@test "a price list that is wrong says where" {
  priced a.yaml a "$CUSTOM"
  local -A want=(
    ["currency: EUR"]="this row lacks 'prices'"
    ["{currency: EUR, prices: [{machineType: x, perHour: a}]}"]="'perHour' must be a number, not 'a'"
    ["{currency: EUR, prices: [{machineTyp: x, perHour: 1}]}"]="unknown key 'machineTyp'"
    ["{currency: EUR, prices: [{perHour: 1}]}"]="prices[0] must have a machineType or an acceleratorType, and not both"
    ["{currency: EUR, prices: [{machineType: x, perHour: -1}]}"]="perHour of 'x' must be 0 to 1e+09, not -1"
    ["{currency: EUR, prices: [{machineType: x, perHour: nan}]}"]="perHour of 'x' must be 0 to 1e+09, not nan"
    ["{currency: EUR, prices: [{machineType: x, perHour: 1}, {machineType: x, perHour: 2}]}"]="'x' has two prices"
    ["# nothing"]="it is empty"
  )
  local text
  for text in "${!want[@]}"; do
    echo "$text" >prices.yaml
    run jobrun plan --prices prices.yaml a.yaml
    echo "$output"
    [ "$status" -eq 65 ]
    [[ $output == *"price list 'prices.yaml': "*"${want[$text]}"* ]]
  done
  run jobrun plan --prices nowhere.yaml a.yaml
  [ "$status" -eq 1 ]
  [[ $output == *"price list: cannot open 'nowhere.yaml'"* ]]
}

@test "the example" {
  run jobrun plan --prices "$BATS_TEST_DIRNAME/../../examples/prices/prices.yaml" \
    "$BATS_TEST_DIRNAME/../../examples/prices/job.yaml"
  [[ $output == *"uses: 5 machines, 4 accelerators, 68 cores, at most 2h00m, at most 8.04 USD"* ]]
}
