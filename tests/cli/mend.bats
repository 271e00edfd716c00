# jobrun validate --fix, and the summary.
load helper

wrong() {
  cat <<'YAML'
# A comment stays, and so does é.
jobId: fx
trainingInput:
  masterTyp: n1-standard-8
  scaleTier: custom
  runtimeVersion: 2.10 # quotes
  args: [--epochs, 10, --lr, 0.1, ok]
  enableWebAccess: "true"
  scheduling: {maxRunningTime: "7200"}
jobrun: {provider: local}
YAML
}

@test "--fix shows a diff, and writes it with --yes only" {
  wrong >job.yaml
  chmod 640 job.yaml
  cp job.yaml before.yaml
  run jobrun validate --fix job.yaml
  [ "$status" = 65 ]
  [[ $output == *"+  masterType: n1-standard-8"* ]]
  [[ $output == *"pass --yes to write this"* ]]
  cmp job.yaml before.yaml
  jobrun validate --fix --yes job.yaml >out.diff
  patch -s before.yaml out.diff
  cmp job.yaml before.yaml
  [ "$(stat -c %a job.yaml)" = 640 ]
  grep -qx '  args: \[--epochs, "10", --lr, "0.1", ok\]' job.yaml
  grep -qx '  runtimeVersion: "2.10" # quotes' job.yaml
  grep -qx '  scheduling: {maxRunningTime: "7200s"}' job.yaml
  jobrun validate --strict job.yaml
}

@test "--fix mends the file that a link names, and no bases and aliases" {
  mkdir jobs
  wrong >jobs/real.yaml
  ln -s jobs/real.yaml job.yaml
  jobrun validate --fix --yes job.yaml >/dev/null
  [ -L job.yaml ]
  grep -q 'scaleTier: CUSTOM' jobs/real.yaml
  cat >alias.yaml <<'YAML'
x-v: &v 2.10
trainingInput: {runtimeVersion: *v, args: [*v]}
jobrun: {provider: local}
YAML
  cp alias.yaml before.yaml
  run jobrun validate --fix --yes alias.yaml
  [[ $output == *"nothing can be fixed automatically"* ]]
  cmp alias.yaml before.yaml
}

@test "SARIF has what mends a problem, and what its rule is" {
  wrong >job.yaml
  run jobrun validate --format sarif job.yaml
  python3 -c '
import json, sys
run = json.loads(sys.argv[1])["runs"][0]
rules = run["tool"]["driver"]["rules"]
assert all(r["fullDescription"]["text"] and r["help"]["markdown"] for r in rules)
fixed = {r["ruleId"]: r["fixes"] for r in run["results"] if "fixes" in r}
assert {"unknown-key", "enum-case", "unquoted", "quoted", "duration"} <= set(fixed), fixed
change = fixed["unknown-key"][0]["artifactChanges"][0]["replacements"][0]
assert change["insertedContent"]["text"] == "masterType", change
' "$output"
}

@test "a summary counts errors and files" {
  mkdir jobs
  local i
  for i in 1 2 3 4; do
    printf 'jobId: j%s\ntrainingInput: {scaleTier: BASIC}\n' $i >jobs/$i.yaml
  done
  printf 'jobId: bad\ntrainingInput: {scaleTier: BASC, region: 1, args: x}\n' >jobs/5.yaml
  run jobrun validate jobs
  [ "$status" = 65 ]
  [[ $output == *"3 errors and 1 warning in 1 of 5 files; 'jobrun explain "* ]]
  printf 'trainingInput: {scaleTeir: basic, region: x, args: [1]}\n' >6.yaml
  run jobrun validate 6.yaml
  [[ $output == *"explains it, 'jobrun validate --fix' fixes 2"* ]]
  run jobrun validate --fix 6.yaml
  [[ $output != *"--fix' fixes"* ]]
  run jobrun validate - <6.yaml
  [[ $output != *--fix* ]]
  run jobrun validate jobs/1.yaml
  [ -z "$output" ]
}

@test "--fix keeps the quotes of JSON" {
  printf '%s\n' '{"jobId": "a", "trainingInput": {"scaleTeir": "BASIC", "region": "us-central1",' \
    '  "scheduling": {"maxRunningTime": "7200"}},' \
    ' "jobrun": {"provider": "local"}}' >job.json
  jobrun validate --fix --yes job.json
  python3 -c '
import json
job = json.load(open("job.json"))["trainingInput"]
assert job["scaleTier"] == "BASIC", job
assert job["scheduling"]["maxRunningTime"] == "7200s", job
'
}

@test "--fix writes our name of a key for another tool's, in the same map" {
  printf '%s\n' 'name: a' 'trainingInput:' '  scaleTier: CUSTOM' \
    '  master_machine_type: n1-standard-8' '  timeout: 3600s' >job.yaml
  jobrun validate --fix --yes job.yaml || true
  printf '%s\n' 'jobId: a' 'trainingInput:' '  scaleTier: CUSTOM' \
    '  masterType: n1-standard-8' '  timeout: 3600s' >want.yaml
  cmp job.yaml want.yaml
}

@test "--fix writes quotes and spaces for what looks like them" {
  printf '%s\n' 'jobId: a' 'trainingInput:' $'\u00a0\u00a0scaleTier: BASIC' \
    'jobrun: {provider: local}' >job.yaml
  jobrun validate --fix --yes job.yaml || true
  printf '%s\n' 'jobId: a' 'trainingInput:' '  scaleTier: BASIC' \
    'jobrun: {provider: local}' >want.yaml
  cmp job.yaml want.yaml
  jobrun validate job.yaml
  printf '%s\n' 'trainingInput:' $'  region: \u201cus-central1\u201d' >quotes.yaml
  jobrun validate --fix --yes quotes.yaml || true
  grep -qx '  region: "us-central1"' quotes.yaml
}

@test "--fix keeps anchors and tags, and makes no key twice" {
  cat >job.yaml <<'YAML'
jobId: a
trainingInput:
  scaleTier: &t !!str custom
  &k masterTyp: n1-standard-4
  region: us-central1
  regoin: us-east1
jobrun: {provider: local, command: ["true"], env: {A: &v 2.10}}
YAML
  run jobrun validate --fix --yes job.yaml
  cat job.yaml
  grep -qF '  scaleTier: &t !!str CUSTOM' job.yaml
  grep -qF '  &k masterType: n1' job.yaml
  grep -qF '  regoin: us-east1' job.yaml
  grep -qF '{A: &v "2.10"}' job.yaml
  cat >twice.yaml <<'YAML'
jobId: a
trainingInput: {scaleTeir: BASIC, scaleTire: CUSTOM}
YAML
  jobrun validate --fix --yes twice.yaml || true
  cat twice.yaml
  [ "$(grep -o scaleTier: twice.yaml | wc -l)" -eq 1 ]
}

@test "--fix writes no base, follows no link out, and takes no option for a file" {
  mkdir -p repo/.git out
  cd repo
  printf 'jobrun: {comand: ["true"]}\n' >base.yaml
  printf 'jobId: a\ntrainingInput: {scaleTier: BASIC}\njobrun: {extends: base.yaml}\n' >job.yaml
  cp base.yaml before
  jobrun validate --fix --yes job.yaml || true
  cmp base.yaml before
  printf 'jobId: a\ntrainingInput: {scaleTeir: BASIC}\n' >../out/job.yaml
  cp ../out/job.yaml before
  ln -s ../out/job.yaml link.yaml
  run jobrun validate --fix --yes link.yaml
  echo "$output"
  [[ $output == *"'link.yaml' left unchanged: it is a link that leads elsewhere"* ]]
  cmp ../out/job.yaml before
  printf 'jobId: a\ntrainingInput: {scaleTier: BASIC}\njobrun: {command: ["true"]}\n' >job.yaml
  printf 'jobrun.env.A: custom\n' >'--set jobrun.comand=x'
  run jobrun validate --fix --yes --set trainingInput.scaleTier=custom job.yaml
  echo "$output"
  [ "$status" -ne 1 ]
  [[ $output != *"cannot open"* ]]
  grep -q 'scaleTier: BASIC' job.yaml
}
