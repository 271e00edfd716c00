# What a directory had and has no more; and directories as a whole.
load helper

# fake FILE ID FIELDS
fake() {
  cat >"$1" <<END
jobId: $2
trainingInput: {scaleTier: BASIC}
jobrun: {provider: fake, fake: {$3}}
END
}

# What exists in the fake world, by name.
world() {
  (cd "${1:-$JOBRUN_STATE_DIR/fake-world}" && ls | grep json | sed 's/\.json//' | tr '\n' ' ')
}

# The jobs that the store has in sets.
members() {
  python3 - <<'END'
import os, sqlite3
db = sqlite3.connect(os.environ["JOBRUN_STATE_DIR"] + "/jobrun.db")
print(" ".join(row[0] for row in db.execute("select job_id from member order by 1")))
END
}

# repo DIR URL: as a clone of it would be
repo() {
  mkdir -p "$1/.git" "$1/jobs"
  printf '[remote "origin"]\n\turl = %s\n' "$2" >"$1/.git/config"
}

refused() {
  local want=$1
  shift
  run jobrun "$@"
  echo "$output"
  [ "$status" -eq "$want" ]
}

@test "one job that fails does not stop the others, and all are summed up" {
  mkdir jobs
  fake jobs/1.yaml good 'resources: 2'
  fake jobs/2.yaml bad 'resources: 1, exitCode: 3'
  fake jobs/3.yaml worse 'resources: 2, width: 1, failAt: ["create:1:permanent"]'
  fake jobs/4.yaml unread 'resources: 1, failAt: ["read:*:permanent"]'
  fake jobs/5.yaml last 'resources: 1'
  refused 1 apply jobs
  [[ $output == *"jobrun: 5 jobs: 2 succeeded, 3 failed
jobrun:   failed: job 'unread': read thing 'unread-thing-01': failed, as told
jobrun:   failed: job 'bad': run 'bad': FAILED: exited with 3
jobrun:   failed: job 'worse': create thing 'worse-thing-01': failed, as told"* ]]
  [ "$(world)" = "run.bad run.good run.last thing.bad-thing-01 thing.good-thing-01 thing.good-thing-02 thing.last-thing-01 " ]
  fake jobs/3.yaml worse 'resources: 2, width: 1'
  fake jobs/4.yaml unread 'resources: 1'
  refused 1 apply jobs
  [[ $output == *"5 jobs: 2 succeeded, 1 failed, 2 unchanged"*"failed: job 'bad': failed before (exit 3); --rerun runs it again" ]]
  rm jobs/2.yaml
  jobrun apply jobs
}

@test "a job that can't be planned is said, and the others are planned" {
  mkdir jobs
  fake jobs/1.yaml good 'resources: 1'
  fake jobs/2.yaml unread 'resources: 1, failAt: ["read:*:denied"]'
  refused 77 plan --out p jobs
  [[ $output == *"job 'unread': read thing 'unread-thing-01': not allowed, as told"* ]]
  [[ $output == *"good  (fake)"*"Plan: 1 to run, 1 to create."* ]]
  [[ $output == *"not saved"* ]]
  [ ! -e p ]
}

@test "jobs of a directory run at the same time" {
  mkdir jobs
  for i in 1 2 3 4 5 6; do fake jobs/$i.yaml "j$i" 'runTime: 4000'; done
  local start=$SECONDS
  jobrun apply jobs
  [ $((SECONDS - start)) -lt 20 ]
}

@test "what is gone from the directory is pruned, and only when asked" {
  mkdir jobs
  fake jobs/a.yaml a 'resources: 2'
  fake jobs/b.yaml b 'resources: 3, width: 1'
  jobrun apply jobs
  [ "$(members)" = "a b" ]
  rm jobs/b.yaml
  run jobrun plan jobs
  [[ $output == *"Nothing to do."* ]]
  run jobrun plan --detailed-exitcode --prune jobs
  [ "$status" -eq 2 ]
  [[ $output == *"- run    b           gone from the files"* ]]
  [[ $output == *"- thing  b-thing-03  gone from the files"* ]]
  [[ $output == *"Plan: 4 to delete, 3 unchanged."* ]]
  run jobrun plan --prune --format json jobs
  python3 -c '
import json, sys
jobs = {job["jobId"]: job for job in json.loads(sys.argv[1])["jobs"]}
actions = jobs["b"]["actions"]
assert {a["action"] for a in actions} == {"delete"}, actions
assert {a["reason"] for a in actions} == {"gone from the files"}
assert actions[0]["kind"] == "run" and actions[1]["dependsOn"] == ["b/run/b"]' "$output"
  run jobrun plan --prune --format markdown jobs
  [[ $output == *"**Replaced or deleted:**"*"delete run \`b\` of \`b\`: gone from the files"* ]]
  # It deletes, so it needs a yes.
  refused 1 apply --prune jobs
  [[ $output == *"without confirmation"* ]]
  [ "$(members)" = "a b" ]
  jobrun apply --prune --yes jobs
  [ "$(world)" = "run.a thing.a-thing-01 thing.a-thing-02 " ]
  [ "$(members)" = a ]
  run jobrun apply --prune jobs
  [ "$status" -eq 0 ]
  [[ $output == *"Nothing to do."* ]]
}

@test "a run that goes on is cancelled, then deleted" {
  mkdir jobs
  job jobs/a.yaml a true
  job jobs/b.yaml b "sleep $NAP"
  jobrun apply --detach jobs
  wait_until 10 state_is b RUNNING
  rm jobs/b.yaml
  run jobrun plan --prune jobs
  [[ $output == *"gone from the files; attempt 1 is still running: will be cancelled, then deleted"* ]]
  run jobrun apply --prune --yes jobs
  [ "$status" -eq 0 ]
  [[ $output == *"2 jobs: "*"1 deleted"* ]]
  [ ! -e state/runs/b.1 ]
  [ -e state/runs/a.1 ]
  run jobrun status b
  [ "$status" -eq 66 ]
  nothing_runs
}

@test "a saved plan prunes what it says, once" {
  mkdir jobs
  fake jobs/a.yaml a ''
  fake jobs/b.yaml b 'resources: 1'
  jobrun apply jobs
  mv jobs/b.yaml b.yaml
  jobrun plan --prune --out p jobs
  jobrun plan --prune --out q jobs
  cmp p q
  refused 64 apply --prune p
  cp b.yaml jobs/b.yaml
  refused 75 apply --yes p
  [[ $output == *"run 'b' of job 'b': the plan was delete (gone from the files), now it is noop"* ]]
  [[ $output == *"is stale; nothing done"* ]]
  jobrun apply --rerun jobs/b.yaml
  rm jobs/b.yaml
  # The run that was to be deleted is not the one that is there.
  refused 75 apply --yes p
  [[ $output == *"run 'b' of job 'b'"*"is stale"* ]]
  jobrun plan --prune --out p jobs
  cp p q
  sed -i 's/red/blue/' state/fake-world/thing.b-thing-01.json
  refused 75 apply --yes p
  [[ $output == *"thing 'b-thing-01' of job 'b'"* ]]
  sed -i 's/blue/red/' state/fake-world/thing.b-thing-01.json
  refused 1 apply p
  jobrun apply --yes p
  [ "$(world)" = "run.a " ]
  refused 75 apply --yes q
  [[ $output == *"already applied"* ]]
}

@test "clones and runners of a repository prune each other's jobs, with no store of their own" {
  repo one git@host:team/repo.git
  repo two https://bot:secret@host/team/repo
  fake one/jobs/a.yaml a "world: $TMP/world"
  fake one/jobs/b.yaml b "resources: 1, world: $TMP/world"
  JOBRUN_STATE_DIR=$TMP/laptop jobrun apply one/jobs
  cp one/jobs/a.yaml two/jobs/
  run env JOBRUN_STATE_DIR="$TMP/runner" "$JOBRUN" plan --prune two/jobs
  [[ $output == *"Plan: 2 to delete, 1 unchanged."* ]]
  JOBRUN_STATE_DIR=$TMP/runner jobrun apply --prune --yes two/jobs
  [ "$(world world)" = "run.a " ]
  refute grep -r secret "$TMP/runner" "$TMP/world"
}

@test "two repositories never prune each other, at one path either" {
  repo src https://host/one
  fake src/jobs/a.yaml a ''
  jobrun apply src/jobs
  rm -r src
  repo src https://host/two
  fake src/jobs/b.yaml b ''
  jobrun apply --prune --yes src/jobs
  [ "$(world)" = "run.a run.b " ]
  # Nor two directories without a repository, nor two of one repository.
  rm -r src
  mkdir -p src/jobs
  fake src/jobs/c.yaml c ''
  jobrun apply --prune --yes src/jobs
  repo src https://host/two
  mkdir src/more
  fake src/more/d.yaml d ''
  jobrun apply --prune --yes src/more
  [ "$(world)" = "run.a run.b run.c run.d " ]
}

@test "a set has the name that it is given" {
  mkdir one two
  fake one/a.yaml a ''
  fake two/b.yaml b ''
  jobrun apply --applyset team one two
  mkdir three
  cp one/a.yaml three/
  echo team >three/.jobrun-applyset
  run jobrun plan --prune three
  [[ $output == *"- run  b  gone from the files"* ]]
  run jobrun plan --prune --applyset other three
  [[ $output == *"Nothing to do."* ]]
  echo 'a b' >three/.jobrun-applyset
  refused 65 plan three
  refused 64 plan --applyset 'a b' one
}

@test "a job that another set has too is kept" {
  repo one https://host/one
  repo two https://host/two
  fake one/jobs/a.yaml a ''
  fake two/jobs/a.yaml a ''
  fake two/jobs/b.yaml b ''
  jobrun apply one/jobs
  jobrun apply two/jobs
  rm two/jobs/a.yaml
  run jobrun apply --prune two/jobs
  [ "$status" -eq 0 ]
  [[ $output == *"a: kept, because the set 'git:host/one//jobs' has it too"* ]]
  [ "$(world)" = "run.a run.b " ]
  run jobrun plan --prune two/jobs
  [[ $output != *kept* ]]
  rm one/jobs/a.yaml
  jobrun apply --prune --yes one/jobs
  [ "$(world)" = "run.b " ]
}

@test "files, patterns and missing directories are not pruned" {
  mkdir jobs
  fake jobs/a.yaml a ''
  fake jobs/b.yaml b ''
  jobrun apply jobs
  refused 64 apply --yes --prune jobs/a.yaml
  [[ $output == *"'jobs/a.yaml' is a file"* ]]
  refused 64 apply --yes --prune jobs/*.yaml
  refused 64 apply --yes --prune - <jobs/a.yaml
  refused 64 apply --yes --prune job
  [[ $output == *"no directory 'job'"* ]]
  mkdir more
  refused 64 apply --yes --prune jobs more
  [[ $output == *"--applyset NAME"* ]]
  [ "$(world)" = "run.a run.b " ]
}

@test "an empty directory needs a yes, too" {
  mkdir jobs
  fake jobs/a.yaml a ''
  jobrun apply jobs
  rm jobs/a.yaml
  refused 65 apply --yes jobs
  run jobrun plan --prune jobs
  [ "$status" -eq 0 ]
  [[ $output == *"no job left there"* ]]
  refused 1 apply --prune jobs
  [ "$(world)" = "run.a " ]
  jobrun apply --prune --yes jobs
  [ "$(world)" = "" ]
}

@test "a broken file is not a removed job" {
  mkdir jobs
  fake jobs/a.yaml a ''
  fake jobs/b.yaml b ''
  jobrun apply jobs
  # Invalid; no YAML; not readable as a job at all.
  sed -i 's/fake}/fake, wolrd: x}/; s/provider: fake/provdier: fake/' jobs/b.yaml
  refused 65 apply --prune --yes jobs
  echo '{' >jobs/b.yaml
  refused 65 apply --prune --yes jobs
  sed 's/trainingInput/traningInput/' jobs/a.yaml >jobs/b.yaml
  refused 65 apply --prune --yes jobs
  echo 'other: thing' >jobs/b.yaml
  refused 65 apply --prune --yes jobs
  refused 65 plan --prune jobs
  [[ $output == *"job 'b' came from 'jobs/b.yaml', which still exists but holds no job any more"* ]]
  [ "$(world)" = "run.a run.b " ]
  # One that can't be planned keeps its place.
  fake jobs/b.yaml b 'failAt: ["read:*:permanent"]'
  refused 1 apply --prune --yes jobs
  [ "$(world)" = "run.a run.b " ]
  # Another job in its file: that one is gone.
  fake jobs/b.yaml c ''
  jobrun apply --prune --yes jobs
  [ "$(world)" = "run.a run.c " ]
}

@test "a job that is tried on this machine is no other job" {
  mkdir jobs
  fake jobs/a.yaml a ''
  sed -i 's/jobrun: {/jobrun: {command: ["true"], /' jobs/a.yaml
  jobrun apply jobs
  jobrun apply --prune --yes --provider local jobs
  [ "$(world)" = "run.a " ]
  run jobrun plan --prune jobs
  [[ $output == *"Nothing to do."* ]]
  # When it goes, it goes from both.
  rm jobs/a.yaml
  jobrun apply --prune --yes jobs
  [ "$(world)" = "" ]
  [ -z "$(ls state/runs)" ]
  [ "$(members)" = "" ]
}

@test "pruning that is killed at any call is gone on with" {
  local how n killed=1
  mkdir jobs
  fake jobs/a.yaml a ''
  for how in kill kill-after; do
    n=0
    killed=1
    while [ $killed = 1 ]; do
      n=$((n + 1))
      fake jobs/b.yaml b 'resources: 3, width: 1'
      jobrun apply jobs
      rm jobs/b.yaml state/fake-world/calls.log
      echo "*:$n:$how" >state/fake-world/failAt
      run jobrun apply --prune --yes jobs
      if [ "$status" -ne 137 ]; then
        [ "$status" -eq 0 ]
        killed=0
      fi
      rm state/fake-world/failAt
      run jobrun apply --prune --yes jobs
      echo "$how $n: $output"
      [ "$status" -eq 0 ]
      [ "$(world)" = "run.a " ]
      [ "$(members)" = a ]
      jobrun status --format json | python3 -c '
import json, sys
assert not json.load(sys.stdin)["unfinished"]'
    done
    # Each is read and deleted; only the run is cancelled.
    [ $n -ge 9 ]
  done
}

@test "a saved plan that was killed while it pruned goes on, wherever it was" {
  local n=0 killed=1
  mkdir jobs
  fake jobs/a.yaml a ''
  while [ $killed = 1 ]; do
    n=$((n + 1))
    fake jobs/b.yaml b 'resources: 2, width: 1'
    jobrun apply jobs
    rm jobs/b.yaml state/fake-world/calls.log
    fake jobs/c.yaml c 'resources: 1'
    jobrun plan --prune --out p jobs
    echo "*:$((n + 3)):kill-after" >state/fake-world/failAt
    run jobrun apply --yes p
    [ "$status" -eq 137 ] || killed=0
    rm state/fake-world/failAt
    run jobrun apply --yes p
    echo "$n: $output"
    if [ "$status" -ne 0 ]; then
      [[ $output == *"already applied"* ]]
    fi
    [ "$(world)" = "run.a run.c thing.c-thing-01 " ]
    rm jobs/c.yaml
    jobrun apply --prune --yes jobs
    [ "$(members)" = a ]
    jobrun status --format json | python3 -c '
import json, sys
assert not json.load(sys.stdin)["unfinished"]'
  done
  [ $n -ge 5 ]
}

@test "a saved plan is stale when somebody else did a part of it" {
  mkdir jobs
  fake jobs/a.yaml a ''
  fake jobs/b.yaml b 'resources: 1'
  jobrun apply jobs
  rm jobs/b.yaml
  fake jobs/c.yaml c ''
  jobrun plan --prune --out p jobs
  jobrun delete b
  refused 75 apply --yes p
  [[ $output == *"job 'b' no longer exists"*"is stale; nothing done"* ]]
}

@test "a deletion that fails is named, and is done the next time" {
  mkdir jobs
  fake jobs/a.yaml a ''
  fake jobs/b.yaml b 'resources: 2, width: 1'
  fake jobs/c.yaml c 'resources: 1'
  jobrun apply jobs
  rm jobs/b.yaml jobs/c.yaml
  echo 'delete:b-thing-02:permanent' >state/fake-world/failAt
  refused 1 apply --prune --yes jobs
  [[ $output == *"3 jobs: 1 deleted, 1 failed, 1 unchanged"* ]]
  [[ $output == *"failed: job 'b': delete thing 'b-thing-02': failed, as told"* ]]
  [ "$(members)" = "a b" ]
  rm state/fake-world/failAt
  jobrun apply --prune --yes jobs
  [ "$(world)" = "run.a " ]
}
