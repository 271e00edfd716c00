load helper

@test "plan in JSON has the form that scripts rely on" {
  job a.yaml a 'echo hi' "$WORKERS"
  jobrun plan --format json a.yaml >plan.json
  python3 - <<'EOF'
import json
plan = json.load(open("plan.json"))
assert plan["formatVersion"] == 1
job, = plan["jobs"]
assert job["jobId"] == "a" and job["provider"] == "local"
assert len(job["digest"]) == 64
action, = job["actions"]
assert action["action"] == "run" and action["kind"] == "run"
assert action["dependsOn"] == []
assert {c["path"]: c["after"] for c in action["changes"]}["command"] == ["sh", "-c", "echo hi"]
assert plan["summary"]["run"] == 1 and sum(plan["summary"].values()) == 1
EOF
}

@test "two plans of one state are equal to the byte, wherever they are made" {
  mkdir -p one/src two/src
  for d in one two; do
    job $d/a.yaml a 'echo hi'
    echo '  source: src' >>$d/a.yaml
    echo 'print(1)' >$d/src/a.py
  done
  (cd one && jobrun plan --format json a.yaml) >1.json
  (cd two && jobrun plan --format json a.yaml) >2.json
  cmp 1.json 2.json
  echo 'print(2)' >two/src/a.py
  (cd two && jobrun plan --format json a.yaml) >2.json
  refute cmp 1.json 2.json
}

@test "plan changes nothing" {
  job a.yaml a 'echo hi'
  jobrun plan a.yaml
  run jobrun status
  [ "$output" = "no runs yet" ]
}

@test "the configuration files of the documents are read and planned" {
  local file
  for file in "$BATS_TEST_DIRNAME"/seeds/*.yaml; do
    run jobrun plan "$file"
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *"Plan: 1 to run."* ]]
    run jobrun plan --format json "$file"
    [ "$status" -eq 0 ]
  done
}
