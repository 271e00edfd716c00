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
  [[ $output == *"--yes writes this"* ]]
  cmp job.yaml before.yaml
  jobrun validate --fix --yes job.yaml >out.diff
  patch -s before.yaml out.diff
  cmp job.yaml before.yaml
  [ "$(stat -c %a job.yaml)" = 640 ]
  grep -qx '  args: \[--epochs, "10", --lr, "0.1", ok\]' job.yaml
  grep -qx '  runtimeVersion: "2.10" # quotes' job.yaml
  grep -qx '  scheduling: {maxRunningTime: 7200s}' job.yaml
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
  [[ $output == *"nothing has one certain mend"* ]]
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
  run jobrun validate jobs/1.yaml
  [ -z "$output" ]
}
