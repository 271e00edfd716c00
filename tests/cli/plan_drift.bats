# What others changed is said apart from what the file changed.
load helper


fake_job() {
  cat >f.yaml <<END
jobId: f
trainingInput: {scaleTier: BASIC}
jobrun:
  provider: fake
  command: [train]
  fake: {resources: 3, ${1:-color: red}, world: w}
END
}

# change JSON of thing N: action ID -> path -> cause
causes() {
  jobrun plan --format json f.yaml | python3 -c '
import json, sys
for a in json.load(sys.stdin)["jobs"][0]["actions"]:
    print(a["name"], a["action"], a.get("drift", "-"),
          *("%s=%s" % (c["path"], c.get("cause", "?")) for c in a["changes"]))'
}

@test "changed outside, in the file, in both, and deleted" {
  fake_job
  jobrun apply f.yaml
  fake_job 'color: blue'
  sed -i 's/red/green/' w/thing.f-thing-01.json
  rm w/thing.f-thing-02.json
  run causes
  echo "$output"
  [[ ${lines[0]} == "f-thing-01 update changed color=both" ]]
  [[ ${lines[1]} == "f-thing-02 create gone color=? size=?" ]]
  [[ ${lines[2]} == "f-thing-03 update - color=file" ]]
  run jobrun plan f.yaml
  [[ $output == *"+ thing  f-thing-02  does not exist yet; it was deleted outside jobrun"* ]]
  [[ $output == *"color  green → blue  (changed in the file and outside jobrun)"* ]]
  [[ $output == *"2 of these were changed or deleted outside jobrun since the last apply."* ]]
  run jobrun plan --format markdown f.yaml
  echo "$output"
  [[ $output == *'- thing `f-thing-01` of `f`: `color`'* ]]
  [[ $output == *'- thing `f-thing-02` of `f`: deleted'* ]]

  fake_job
  run causes
  [[ ${lines[0]} == "f-thing-01 update changed color=outside" ]]
  [[ ${lines[2]} == "f-thing-03 noop -" ]]
  run jobrun plan f.yaml
  echo "$output"
  [[ $output == *"~ thing  f-thing-01  1 field differs; it was changed outside jobrun"* ]]
  [[ $output == *"color  green → red  (changed outside jobrun)"* ]]
  [[ $output == *"1 of these was changed or deleted outside jobrun since the last apply."* ]]

  # Put right again, there is none.
  jobrun apply f.yaml
  run jobrun plan f.yaml
  [[ $output == *"Nothing to do."* ]]
  [[ $output != *outside* ]]
}

@test "with the store lost it is not known, and said so; an apply knows again" {
  fake_job
  jobrun apply f.yaml
  rm -r "$JOBRUN_STATE_DIR"
  fake_job 'color: blue'
  run causes
  [[ ${lines[0]} == "f-thing-01 update unknown color=?" ]]
  run jobrun plan f.yaml
  [[ $output == *"It is not known here whether 3 of these were changed by the files or outside jobrun."* ]]
  [[ $output != *"(changed"* ]]
  # What is up to date is remembered when apply sees it.
  fake_job
  jobrun apply f.yaml
  sed -i 's/red/green/' w/thing.f-thing-01.json
  run causes
  [[ ${lines[0]} == "f-thing-01 update changed color=outside" ]]
}

@test "a change that failed is not one that others made" {
  fake_job
  jobrun apply f.yaml
  fake_job 'color: blue, failAt: ["update:thing-01:lost", "update:thing-02:permanent"]'
  run jobrun apply f.yaml
  [ "$status" -ne 0 ]
  fake_job 'color: green'
  run causes
  echo "$output"
  [[ $output != *changed* ]]
  [[ $output != *outside* ]]
}

@test "the values of a plan saved elsewhere count, not what is known of them there" {
  fake_job
  jobrun apply f.yaml
  fake_job 'color: blue'
  jobrun plan --out known.json f.yaml
  JOBRUN_STATE_DIR=$TMP/other jobrun plan --out unknown.json f.yaml
  refute cmp -s known.json unknown.json
  JOBRUN_STATE_DIR=$TMP/third jobrun apply --yes known.json
  grep -q blue w/thing.f-thing-01.json
}
