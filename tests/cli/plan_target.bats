# --target: only this action and what it needs.
load helper

fake_jobs() {
  local id
  for id in f g; do
    cat >$id.yaml <<END
jobId: $id
trainingInput: {scaleTier: BASIC}
jobrun:
  provider: fake
  command: [train]
  fake: {resources: 6, width: 2, world: w}
END
  done
}

names() {
  python3 -c '
import json, sys
for job in json.load(sys.stdin)["jobs"]:
    print(*(a["id"] for a in job["actions"]))'
}

@test "the target, and what it needs, of one job" {
  fake_jobs
  run jobrun plan --target f/thing/f-thing-05 --format json f.yaml g.yaml
  [ "$(names <<<"$output")" = "f/thing/f-thing-01 f/thing/f-thing-03 f/thing/f-thing-05" ]
  [ "$(python3 -c 'import json,sys; print(json.load(sys.stdin)["targets"])' <<<"$output")" = "['f/thing/f-thing-05']" ]
  run jobrun plan --target thing/g-thing-02 --target thing/f-thing-01 f.yaml g.yaml
  echo "$output"
  [[ $output == *"Plan: 2 to create."* ]]
  [[ $output == *"Partial: only thing/g-thing-02, thing/f-thing-01 and what it depends on (--target)."* ]]
  run jobrun plan --format markdown --target thing/g-thing-02 f.yaml g.yaml
  [[ ${lines[0]} == '**jobrun plan:** 1 to create' ]]
  [[ $output == *'**Partial:** only `thing/g-thing-02` and what it depends on'* ]]
}

@test "apply does no more, and the rest is still to be done" {
  fake_jobs
  jobrun apply --yes --target thing/f-thing-03 f.yaml g.yaml
  [ "$(ls w | grep -c '^thing')" = 2 ]
  [ ! -e w/run.f.json ]
  run jobrun plan f.yaml
  [[ $output == *"Plan: 1 to run, 4 to create, 2 unchanged."* ]]
  jobrun apply --target run/f f.yaml
  [ "$(ls w | grep -c '^thing.f')" = 6 ]
  [ -e w/run.f.json ]
}

@test "an unknown target is refused with the nearest" {
  fake_jobs
  run jobrun plan --target f/thing/f-thing-5 f.yaml
  [ "$status" -eq 64 ]
  [[ $output == *"--target: no action 'f/thing/f-thing-5'; did you mean 'f/thing/f-thing-05'?"* ]]
  run jobrun apply --target nothing f.yaml
  [ "$status" -eq 64 ]
  [[ $output == *"no action 'nothing' ('jobrun plan --format json' has their ids)"* ]]
  [ "$(ls w | grep -c '^thing')" = 0 ]
}

@test "a saved plan keeps its targets" {
  fake_jobs
  jobrun plan --out p.json --target thing/f-thing-03 f.yaml
  run jobrun apply --target thing/f-thing-01 p.json
  [ "$status" -eq 64 ]
  run jobrun apply p.json
  [ "$status" -eq 0 ]
  [[ $output == *"Partial: only thing/f-thing-03"* ]]
  [ "$(ls w | grep -c '^thing')" = 2 ]
  [ ! -e w/run.f.json ]
  run jobrun apply p.json
  [ "$status" -eq 75 ]
}
