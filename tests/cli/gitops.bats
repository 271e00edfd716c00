# The starter repository and its scripts, against a real Git repository and a
# stand-in for the APIs of GitHub and GitLab.
load helper

EXAMPLE=$BATS_TEST_DIRNAME/../../examples/gitops

setup_file() {
  export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
  export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.org
  export GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@example.org
  export JOBRUN_RETRY_SECONDS=0
  # Of a remote that is a path the clones of two runners are two sets.
  export JOBRUN_PLAN_OPTIONS="--prune --applyset o/r"
  # What the CI system that runs this test says is not meant for the scripts.
  unset GITHUB_ACTIONS GITLAB_CI GITHUB_STEP_SUMMARY GITHUB_PATH GITHUB_TOKEN
}

need() {
  local tool
  for tool; do
    command -v "$tool" >/dev/null || skip "needs $tool"
  done
}

# A bare repository with what init writes on its main branch, and a clone.
repository() {
  need git
  export PATH=$(dirname "$JOBRUN"):$PATH
  git init -q --bare -b main origin.git
  git clone -q origin.git work 2>/dev/null
  cd work
  git checkout -q -b main 2>/dev/null || true
  jobrun init >/dev/null
  git add -A
  git commit -qm 'start'
  git push -q origin main
}

# What a CI runner does first: a clone of its own, at a commit.
runner() {
  rm -rf "$TMP/runner"
  git clone -q "$TMP/origin.git" "$TMP/runner"
  cd "$TMP/runner"
  git checkout -q "${1:-origin/main}"
}

forge() {
  need curl jq unzip
  mkdir -p "$TMP/forge"
  /usr/bin/python3 "$BATS_TEST_DIRNAME/forge.py" "$TMP/forge" 3>&- &
  FORGE=$!
  wait_until 10 test -e "$TMP/forge/port"
  local url
  url=http://127.0.0.1:$(cat "$TMP/forge/port")
  if [ "$1" = github ]; then
    export GITHUB_ACTIONS=true GITHUB_API_URL=$url GITHUB_REPOSITORY=o/r
    export GITHUB_REF=refs/pull/7/merge GITHUB_TOKEN=t0ken
  else
    export GITLAB_CI=true CI_API_V4_URL=$url CI_PROJECT_ID=1
    export CI_MERGE_REQUEST_IID=7 JOBRUN_GITLAB_TOKEN=t0ken
  fi
}

teardown() {
  [ -z "${FORGE:-}" ] || kill "$FORGE" 2>/dev/null || true
  cd /
  local pid
  for pid in $(marked); do kill -9 "$pid" 2>/dev/null || true; done
  rm -rf "$TMP"
}

# comments EXPRESSION, of the list `c` of our comments
comments() {
  /usr/bin/python3 -c "import json; c=json.load(open('$TMP/forge/comments.json')); print($1)"
}

change() {
  sed -i "s/$1/$2/" "$3"
  git commit -qam "$4"
}

@test "init writes the example, and the schema" {
  jobrun init new/repo >out.txt
  diff -r --exclude=job.schema.json --exclude=out --exclude=state "$EXAMPLE" new/repo
  jobrun schema | cmp - new/repo/job.schema.json
  local file
  for file in new/repo/ci/*.sh; do
    case $file in
      */settings.sh | */forge.sh) [ ! -x "$file" ] ;;
      *) [ -x "$file" ] ;;
    esac
    sh -n "$file"
  done
  [ "$(stat -c %a new/repo/README.md)" = "$(printf %o $((0666 & ~$(umask))))" ]
  grep -q '^made      new/repo/jobs/hello.yaml$' out.txt
  tail -2 out.txt >next.txt
  # What it says to do next works.
  PATH=$(dirname "$JOBRUN"):$PATH sh -e next.txt
  state_is hello SUCCEEDED
}

@test "init: whose CI" {
  jobrun init --ci github a
  [ -e a/.github/workflows/jobrun.yml ] && [ ! -e a/.gitlab-ci.yml ] && [ -e a/ci/plan.sh ]
  jobrun init --ci gitlab b
  [ ! -e b/.github ] && [ -e b/.gitlab-ci.yml ] && [ -e b/ci/plan.sh ]
  jobrun init --ci none c
  [ ! -e c/.github ] && [ ! -e c/.gitlab-ci.yml ] && [ ! -e c/ci ] && [ -e c/jobs/hello.yaml ]
  run jobrun init --ci jenkins d
  [ "$status" -eq 64 ]
  [ ! -e d ]
}

@test "init never writes over a file, and says which it left" {
  mkdir -p jobs
  echo mine >README.md
  echo mine >jobs/hello.yaml
  ln -s /nonexistent/x .gitignore
  run jobrun init
  [ "$status" -eq 0 ]
  [[ $output == *"'README.md' exists already; left unchanged"* ]]
  [[ $output == *"'jobs/hello.yaml' exists already; left unchanged"* ]]
  [[ $output == *"'.gitignore' exists already"* ]]
  [[ $output == *"3 files left unchanged; --force overwrites them"* ]]
  [ "$(cat README.md jobs/hello.yaml)" = "mine
mine" ]
  [ -L .gitignore ]
  # What is as it would be written is no matter.
  rm README.md jobs/hello.yaml .gitignore
  jobrun init
  run jobrun init
  [[ $output != *"left unchanged"* ]]
  [[ $output == *"there     README.md"* ]]
  echo mine >README.md
  jobrun init --force
  diff -r --exclude=job.schema.json --exclude=out --exclude=state "$EXAMPLE" .
}

@test "init: what can't be written" {
  echo file >jobs
  run jobrun init
  [ "$status" -eq 1 ]
  [[ $output == *"cannot create directory"*"jobs"* ]]
  run jobrun init ''
  [ "$status" -eq 64 ]
  run jobrun init a b
  [ "$status" -eq 64 ]
  # A pipe is not waited for.
  rm jobs README.md
  mkfifo README.md
  run timeout 60 "$JOBRUN" init
  [ "$status" -eq 0 ]
  [[ $output == *"'README.md' exists already; left unchanged"* ]]
}

@test "init killed at any instant leaves whole files, and goes on" {
  local i file
  for i in 0 1 2 3 4 6 8; do
    rm -rf r
    timeout -s KILL "0.00$i" "$JOBRUN" init r >/dev/null 2>&1 || true
    [ -d r ] || continue
    for file in $(cd r && find . -type f ! -name '*.??????' ! -name job.schema.json); do
      cmp "r/$file" "$EXAMPLE/$file"
    done
  done
  jobrun init r >/dev/null
  find r -name '*.??????' ! -name '*.github' -type f -delete
  diff -r --exclude=job.schema.json --exclude=out --exclude=state "$EXAMPLE" r
  jobrun schema | cmp - r/job.schema.json
}

@test "branch, plan, merge, apply, and nothing to do then" {
  repository
  git checkout -qb faster
  change '"0.1"' '"0.2"' jobs/hello.yaml 'learn faster'
  git push -q origin faster
  runner origin/faster
  ci/plan.sh >plan.txt
  grep -qx '\*\*jobrun plan:\*\* 1 to run' ci/out/comment.md
  grep -q 'lr 0.2' ci/out/comment.md
  [ "$(head -1 ci/out/comment.md)" = '<!-- jobrun plan -->' ]
  /usr/bin/python3 -c "import json; assert json.load(open('ci/out/jobs.sarif'))['version'] == '2.1.0'"
  cp ci/out/jobs.plan "$TMP/reviewed.plan"
  run jobrun status
  [ "$output" = "no runs yet" ]

  cd "$TMP/work"
  git checkout -q main
  git merge -q --no-ff -m 'Merge faster' faster
  git push -q origin main
  runner
  ci/apply.sh "$TMP/reviewed.plan" >apply.txt 2>said.txt
  grep -q 'This is the plan that was reviewed' said.txt
  grep -q Epoch=5 apply.txt
  state_is hello SUCCEEDED
  ci/apply.sh "$TMP/reviewed.plan" 2>said.txt
  grep -q 'There is nothing to do' said.txt
  [ "$(field hello "j['attempt']")" = 1 ]
}

@test "a job that is removed: planned, merged, deleted; the last one, too" {
  repository
  job jobs/other.yaml other true
  git add -A
  git commit -qm 'another'
  git push -q origin main
  runner
  ci/apply.sh
  state_is hello SUCCEEDED
  state_is other SUCCEEDED
  cd "$TMP/work"
  git checkout -qb less
  git rm -q jobs/hello.yaml
  git commit -qm 'less'
  git push -q origin less
  runner origin/less
  ci/plan.sh
  grep -q 'delete.*hello.*gone from the files' ci/out/comment.md
  cp ci/out/jobs.plan "$TMP/reviewed.plan"
  state_is hello SUCCEEDED
  cd "$TMP/work"
  git checkout -q main
  git merge -q --squash less >/dev/null
  git commit -qm 'less, squashed'
  git push -q origin main
  runner
  JOBRUN_STALE=refuse ci/apply.sh "$TMP/reviewed.plan"
  run jobrun status hello
  [ "$status" -eq 66 ]
  state_is other SUCCEEDED
  JOBRUN_STALE=refuse run ci/apply.sh "$TMP/reviewed.plan"
  [ "$status" -eq 0 ]
  [[ $output == *"There is nothing to do"* ]]
  # The folder itself is gone then.
  cd "$TMP/work"
  git rm -q jobs/other.yaml
  git commit -qm 'nothing'
  git push -q origin main
  runner
  [ ! -e jobs ]
  ci/plan.sh >/dev/null
  ci/apply.sh
  run jobrun status
  [ "$output" = "no runs yet" ]
}

@test "options of plans and applies" {
  repository
  export JOBRUN_PLAN_OPTIONS="--set jobrun.env.MARK=7" JOBRUN_APPLY_OPTIONS=--detach
  ci/plan.sh | grep MARK
  run ci/apply.sh
  [ "$status" -eq 0 ]
  [[ $output == *"hello: started; 'jobrun logs -f hello' follows it"* ]]
  wait_until 30 state_is hello SUCCEEDED
  grep -q MARK "$JOBRUN_STATE_DIR"/runs/hello.1/spec.json
}

@test "a plan that was not reviewed: made anew, or refused" {
  repository
  runner
  ci/plan.sh >/dev/null
  cp ci/out/jobs.plan "$TMP/reviewed.plan"
  cd "$TMP/work"
  change '"0.1"' '"0.3"' jobs/hello.yaml 'meanwhile'
  git push -q origin main
  runner
  JOBRUN_STALE=refuse run ci/apply.sh "$TMP/reviewed.plan"
  [ "$status" -eq 75 ]
  [[ $output == *"not the one that was reviewed"*"lr 0.3"*"Nothing was done"* ]]
  JOBRUN_STALE=refuse run ci/apply.sh
  [ "$status" -eq 75 ]
  [[ $output == *"no plan that was reviewed"* ]]
  run jobrun status
  [ "$output" = "no runs yet" ]
  run ci/apply.sh "$TMP/reviewed.plan"
  [ "$status" -eq 0 ]
  state_is hello SUCCEEDED
}

@test "a saved plan that others wrote is not applied" {
  repository
  runner
  jobrun plan --set jobrun.env.EVIL=1 --out "$TMP/evil.plan" jobs
  JOBRUN_STALE=refuse run ci/apply.sh "$TMP/evil.plan"
  [ "$status" -eq 75 ]
  ci/apply.sh "$TMP/evil.plan"
  [ "$(grep -c EVIL "$JOBRUN_STATE_DIR"/runs/hello.1/spec.json)" = 0 ]
}

@test "another apply at it: tried again; a run that fails: 1" {
  repository
  mkdir "$TMP/bin"
  # A jobrun whose first apply finds the lock taken.
  cat >"$TMP/bin/jobrun" <<END
#!/bin/sh
if [ "\$1" = apply ] && [ ! -e "$TMP/once" ]; then touch "$TMP/once"; exit 75; fi
exec "$JOBRUN" "\$@"
END
  chmod +x "$TMP/bin/jobrun"
  PATH=$TMP/bin:$PATH ci/apply.sh
  [ -e "$TMP/once" ]
  state_is hello SUCCEEDED
  change '\[python3' '[sh, -c, exit 4, python3' jobs/hello.yaml 'break it'
  run ci/apply.sh
  [ "$status" -eq 1 ]
}

@test "wrong files: the comment says so, with what is wrong" {
  repository
  sed -i 's/scaleTier/scaleTeir/' jobs/hello.yaml
  GITHUB_ACTIONS=true GITHUB_STEP_SUMMARY=$TMP/summary.md run ci/plan.sh
  [ "$status" -eq 65 ]
  [[ $output == *"::error file=jobs/hello.yaml,line="* ]]
  grep -qx '\*\*jobrun plan:\*\* failed' ci/out/comment.md
  grep -q '^    .*did you mean "scaleTier"?' ci/out/comment.md
  cmp ci/out/comment.md "$TMP/summary.md"
  grep -q unknown-key ci/out/jobs.sarif
  [ ! -e ci/out/jobs.plan ]
}

@test "one comment, which changes with the plan" {
  local system
  for system in github gitlab; do
    cd "$TMP"
    rm -rf origin.git work forge
    repository
    forge $system
    ci/plan.sh >/dev/null
    ci/comment.sh
    [ "$(comments 'len(c)')" = 1 ]
    cp ci/out/comment.md first.md
    sed -i 's/"0.1"/"0.7"/' jobs/hello.yaml
    ci/plan.sh >/dev/null
    run ci/comment.sh
    [ "$status" -eq 0 ]
    [[ $output != *t0ken* ]]
    [ "$(comments 'len(c)')" = 1 ]
    comments 'c[0]' | grep -q 'lr 0.7'
    [ "$(comments 'c[0]')" = "$(cat ci/out/comment.md)" ]
    kill "$FORGE"
    unset GITHUB_ACTIONS GITLAB_CI GITHUB_TOKEN JOBRUN_GITLAB_TOKEN
  done
}

@test "no comment without a token, and none from a fork" {
  repository
  forge github
  ci/plan.sh >/dev/null
  JOBRUN_FORK=true run ci/comment.sh
  [ "$status" -eq 0 ]
  [[ $output == *"No comment"* ]]
  GITHUB_TOKEN='' run ci/comment.sh
  [ "$status" -eq 0 ]
  [ ! -e "$TMP/forge/comments.json" ]
  # A token that is refused is a mistake.
  GITHUB_TOKEN=wrong run ci/comment.sh
  [ "$status" -ne 0 ]
}

@test "the saved plan is found again, and the store never sees the token" {
  local system
  for system in github gitlab; do
    cd "$TMP"
    rm -rf origin.git work forge "$JOBRUN_STATE_DIR"
    repository
    forge $system
    export CI_COMMIT_SHA=$(git rev-parse HEAD)
    run ci/reviewed.sh
    [ "$status" -eq 0 ]
    [[ $output == *"No saved plan was found"* ]]
    ci/plan.sh >/dev/null
    cp ci/out/jobs.plan "$TMP/forge/saved.plan"
    ci/reviewed.sh
    cmp ci/out/reviewed.plan ci/out/jobs.plan
    JOBRUN_STALE=refuse ci/apply.sh
    state_is hello SUCCEEDED
    [ $system = gitlab ] ||
      grep -q "artifacts?name=jobrun-plan-$(git rev-parse 'HEAD^{tree}')$" "$TMP/forge/log"
    kill "$FORGE"
    unset GITHUB_ACTIONS GITLAB_CI GITHUB_TOKEN JOBRUN_GITLAB_TOKEN
  done
}

@test "install.sh builds the commit that was asked for, and no other" {
  need git make
  mkdir src
  cat >src/Makefile <<'END'
all deps:
	@test -z "$(filter deps,$@)" || echo "deps: $(PACKAGES)"
BUILD_PACKAGES = gcc
install:
	mkdir -p $(PREFIX)/bin
	printf '#!/bin/sh\necho jobrun 9\n' >$(PREFIX)/bin/jobrun
	chmod +x $(PREFIX)/bin/jobrun
END
  git init -q src
  git -C src add Makefile
  git -C src commit -qm one
  git -C src tag v9
  local commit
  commit=$(git -C src rev-parse HEAD)
  export JOBRUN_REPOSITORY=$TMP/src JOBRUN_PREFIX=$TMP/there GITHUB_PATH=$TMP/path
  export PATH=/usr/bin:/bin
  run "$EXAMPLE/ci/install.sh"
  [ "$status" -eq 1 ]
  [[ $output == *"Set JOBRUN_REPOSITORY and JOBRUN_REF"* ]]
  JOBRUN_REF=v9 run "$EXAMPLE/ci/install.sh"
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"building v9, commit $commit"*"deps: gcc"*"jobrun 9"* ]]
  [ "$(cat path)" = "$TMP/there/bin" ]
  JOBRUN_REF=$commit "$EXAMPLE/ci/install.sh"
  JOBRUN_REF=0000000000000000000000000000000000000000 run "$EXAMPLE/ci/install.sh"
  [ "$status" -ne 0 ]
}

@test "the workflows pin their actions, ask for little, and hold no logic" {
  /usr/bin/python3 - "$EXAMPLE" <<'PY'
import re, sys, yaml
top = sys.argv[1]
github = yaml.safe_load(open(f"{top}/.github/workflows/jobrun.yml"))
assert github["permissions"] == {}
assert "pull_request_target" not in github[True]  # YAML's "on"
assert github["jobs"]["plan"]["permissions"] == {"contents": "read", "pull-requests": "write"}
assert github["jobs"]["apply"]["permissions"] == {"contents": "read", "actions": "read"}
for job in github["jobs"].values():
    assert job["timeout-minutes"] and job["concurrency"]
    for step in job["steps"]:
        if "uses" in step:
            assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", step["uses"]), step
        else:
            # Nothing that others write is put into a command.
            assert "${{" not in step["run"] and "\n" not in step["run"], step
        if "checkout" in step.get("uses", ""):
            assert step["with"]["persist-credentials"] is False
with_token = [s["run"] for j in github["jobs"].values() for s in j["steps"]
              if "GITHUB_TOKEN" in s.get("env", {})]
assert with_token == ["ci/comment.sh", "ci/reviewed.sh"], with_token
gitlab = yaml.safe_load(open(f"{top}/.gitlab-ci.yml"))
assert gitlab["plan"]["script"] and gitlab["apply"]["resource_group"]
PY
  ! command -v shellcheck >/dev/null || shellcheck -x "$EXAMPLE"/ci/*.sh
}
