# Values that a plan must not hold, and values that it can't.
load helper

fake_job() {
  cat >f.yaml <<END
jobId: f
trainingInput: {scaleTier: BASIC}
jobrun:
  provider: fake
  command: [train]
  secrets: {TOKEN: {${FROM:-env: MY_TOKEN}}}
  fake: {resources: 3, width: 1, linked: true, password: TOKEN, ${1:-color: red}, world: w}
END
}

# The secret is nowhere but in the world, which is not ours.
hidden() {
  refute grep -rqaF "$1" "$JOBRUN_STATE_DIR" "${@:2}"
  # Nor is what could be tried: digests that have no key.
  refute grep -rqa "$(printf '"%s"' "$1" | sha256sum | cut -c1-64)" "$JOBRUN_STATE_DIR" "${@:2}"
  refute grep -rqa "$(printf '%s' "$1" | sha256sum | cut -c1-64)" "$JOBRUN_STATE_DIR" "${@:2}"
}

@test "a secret reaches the provider and nothing else" {
  export MY_TOKEN=hunter2
  fake_job
  local format
  for format in text json markdown; do
    jobrun plan --format $format f.yaml >plan.$format
    refute grep -q hunter2 plan.$format
    grep -q '(sensitive)' plan.$format
  done
  jobrun plan --out p.json f.yaml
  jobrun apply p.json >apply.txt 2>&1
  [ "$(grep -c '"password":"hunter2"' w/requests.log)" = 3 ]
  jobrun apply f.yaml >again.txt 2>&1
  hidden hunter2 plan.* p.json apply.txt again.txt
  [ "$(stat -c %a "$JOBRUN_STATE_DIR"/key)" = 600 ]
}

@test "what cannot be remembered is said" {
  export MY_TOKEN=hunter2
  fake_job
  job a.yaml a true
  jobrun apply a.yaml
  python3 - <<'END'
import os, sqlite3
db = sqlite3.connect(os.environ["JOBRUN_STATE_DIR"] + "/jobrun.db")
db.execute("CREATE TRIGGER t BEFORE INSERT ON applied BEGIN SELECT RAISE(FAIL, 'not today'); END")
END
  run jobrun apply f.yaml
  [ "$status" -eq 0 ]
  [[ $output == *"thing 'f-thing-01': done, but not recorded: the store '$TMP/state/jobrun.db' failed: not today; later plans cannot tell who changed it"* ]]
}

@test "a secret that changed is seen, and who changed it" {
  export MY_TOKEN=hunter2
  fake_job
  jobrun apply f.yaml
  run jobrun plan f.yaml
  [[ $output == *"Nothing to do."* ]]
  export MY_TOKEN=other
  jobrun plan --format json f.yaml >plan.json
  python3 - <<'END'
import json
actions = json.load(open("plan.json"))["jobs"][0]["actions"]
for a in actions[:3]:
    change, = a["changes"]
    assert change == {"path": "password", "before": "(sensitive)",
                      "after": "(sensitive)", "cause": "file",
                      "sensitive": True}, change
    assert a["request"]["body"]["password"] == "(sensitive)"
END
  run jobrun plan f.yaml
  [[ $output == *"password  (sensitive), changed"* ]]
  run jobrun plan --format markdown f.yaml
  [[ $output == *"password: (sensitive), changed"* ]]
  jobrun plan --out p.json f.yaml
  export MY_TOKEN=hunter2
  sed -i s/hunter2/meddled/ w/thing.f-thing-02.json
  run jobrun plan f.yaml
  echo "$output"
  [[ $output == *"password  (sensitive), changed  (changed outside jobrun)"* ]]
  export MY_TOKEN=other
  jobrun apply p.json
  grep -q '"password": "other"' w/thing.f-thing-02.json
  hidden other p.json
  hidden meddled p.json
}

@test "a secret that can't be read here: planned as unchanged, and said so" {
  export MY_TOKEN=hunter2
  fake_job
  jobrun apply f.yaml
  unset MY_TOKEN
  run jobrun plan f.yaml
  [[ $output == *"f-thing-01  is up to date; a secret of it can't be read here: whether it changed is unknown"* ]]
  [[ $output == *"Nothing to do."* ]]
  fake_job 'color: blue'
  run jobrun apply f.yaml
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *"update thing 'f-thing-01': secret 'TOKEN': the variable 'MY_TOKEN' is not set"* ]]
}

@test "a secret in a file; one that the job does not have" {
  echo from-a-file >token
  FROM='file: token' fake_job
  jobrun apply f.yaml
  grep -q '"password":"from-a-file"' w/requests.log
  hidden from-a-file
  sed -i 's/password: TOKEN/password: TOKN/' f.yaml
  run jobrun apply f.yaml
  [ "$status" -eq 65 ]
  [[ $output == *"jobrun.fake.password names the secret 'TOKN', which jobrun.secrets has not"* ]]
}

@test "values known after apply are shown as such, and filled in" {
  export MY_TOKEN=hunter2
  fake_job
  run jobrun plan f.yaml
  echo "$output"
  [[ $output == *"peers     (known after apply)"* ]]
  jobrun plan --out p.json f.yaml
  grep -q '"unknown": true' p.json
  jobrun apply p.json
  grep -q '"peers":\["f-thing-01.1.fake"\]' w/requests.log
  run jobrun plan f.yaml
  [[ $output == *"Nothing to do."* ]]
  # What is made anew has another address, and those behind it hear of that.
  fake_job 'size: 2'
  sed -i 's/runTime: 0/runTime: 1/' f.yaml
  run jobrun plan --target thing/f-thing-01 --target thing/f-thing-02 f.yaml
  echo "$output"
  [[ $output == *"peers  f-thing-01.1.fake → (known after apply)"* ]]
  jobrun apply --yes f.yaml
  grep -q '"peers":\["f-thing-02.2.fake"\]' w/requests.log
  run jobrun plan f.yaml
  [[ $output == *"Nothing to do."* ]]
}

@test "what a value comes from is asked again if it has none yet" {
  export MY_TOKEN=hunter2
  fake_job 'failAt: ["read:thing-01#2-3:try-again"]'
  jobrun apply f.yaml
  grep -q '"peers":\["f-thing-01.1.fake"\]' w/requests.log
}

@test "apply sends the requests of the plan to the letter" {
  export MY_TOKEN=hunter2
  fake_job
  local change
  for change in 'color: red' 'color: blue' 'size: 7'; do
    fake_job "$change"
    rm -f w/requests.log
    jobrun plan --format json f.yaml >plan.json
    jobrun apply --yes f.yaml
    python3 - <<'END'
import json
sent = {(r["kind"], r["name"]): r["request"]
        for r in map(json.loads, open("w/requests.log"))}
planned = {(a["kind"], a["name"]): a["request"]
           for a in json.load(open("plan.json"))["jobs"][0]["actions"]
           if a["request"]}
assert planned and planned.keys() == sent.keys(), (planned.keys(), sent.keys())

def same(plan, real):
    if plan == "(known after apply)":
        return real.endswith(".fake")
    if plan == "(sensitive)":
        return real == "hunter2"
    if isinstance(plan, dict):
        return plan.keys() == real.keys() and all(same(plan[k], real[k]) for k in plan)
    if isinstance(plan, list):
        return len(plan) == len(real) and all(map(same, plan, real))
    return plan == real

for key in planned:
    assert same(planned[key], sent[key]), (planned[key], sent[key])
END
  done
}
