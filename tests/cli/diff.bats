# What differs between two runs.
bats_require_minimum_version 1.5.0
load helper

two_runs() {
  mkdir src
  echo 'one' >src/a.txt
  job a.yaml a 'echo "step=1 loss=$LOSS"; echo "step=2 loss=0.5"; cat a.txt'
  printf '  source: src\n  env: {LOSS: "0.8", SAME: "1"}\n' >>a.yaml
  jobrun apply a.yaml
  echo 'two' >src/a.txt
  echo 'new' >src/b.txt
  sed -i 's/"0.8"/"0.25"/; s/a.txt/a.txt; exit 3/' a.yaml
  refute jobrun apply --yes a.yaml
}

@test "settings, environment, files, metrics and outcome; what is equal is left out" {
  two_runs
  run --separate-stderr jobrun diff a
  [ "$status" -eq 0 ]
  echo "$output"
  [ "${lines[0]}" = "a.1 -> a.2" ]
  [[ $output == *"outcome
  state: SUCCEEDED -> FAILED"* ]]
  [[ $output == *"environment
  LOSS: 0.8 -> 0.25"* ]]
  [[ $output == *"source files
  "*"a.txt: "*" -> "* ]]
  [[ $output == *"b.txt: - -> "* ]]
  [[ $output == *"metrics
  loss.best: 0.5 -> 0.25 (-50 %)"* ]]
  [[ $output != *SAME* ]]
  # Both ways, and with itself.
  [[ $(jobrun diff a.2 a.1) == *"loss.best: 0.25 -> 0.5 (+100 %)"* ]]
  [ "$(jobrun diff a.2 a.2)" = "a.2 -> a.2
no difference" ]
}

@test "json and markdown" {
  two_runs
  [ "$(jobrun diff --format json a.1 a.2 | python3 -c '
import json, sys
d = json.load(sys.stdin)
print(d["formatVersion"], d["before"], d["after"])
print([(c["before"], c["after"]) for c in d["changes"] if c["section"] == "environment"])')" = \
    "1 a.1 a.2
[('0.8', '0.25')]" ]
  jobrun diff --format markdown a.1 a.2 | grep -qxF -- '- `LOSS`: `0.8` → `0.25`'
}

@test "a run without one before it, and a name that is none" {
  job a.yaml a true
  jobrun apply a.yaml
  run jobrun diff a
  [ "$status" -eq 64 ]
  [[ $output == *"'a.1' has no previous run; name a second one"* ]]
  run jobrun diff a b
  [ "$status" -ne 0 ]
  [[ $output == *"no run of 'b' here"* ]]
}
