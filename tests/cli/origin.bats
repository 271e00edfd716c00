#!/usr/bin/env bats
# Whose job a run is of: two projects may have a job of one name.

load helper


# project DIR [PROVIDER YAML]: with a job "config" that naps.
project() {
  mkdir -p "$1"
  job "$1/config.yaml" config "exec sleep $NAP # $1"
}

# repository DIR URL
repository() {
  mkdir -p "$1"
  git -C "$1" init -q
  git -C "$1" remote add origin "$2"
}

# started DIR: its job runs.
started() {
  (cd "$1" && jobrun apply --detach --yes config.yaml)
  wait_until 5 state_is config RUNNING
}

end() {
  jobrun cancel --now config >/dev/null 2>&1 || true
  wait_until 10 nothing_runs
}

@test "a running job of another project is not replaced without --take-over" {
  project p1
  project p2
  started p1
  cd p2
  run jobrun apply --yes config.yaml
  [ "$status" -eq 75 ]
  [[ $output == *"from dir:$TMP/p1,"*"from dir:$TMP/p2;"*"--take-over"* ]]
  run jobrun plan config.yaml
  [ "$status" -eq 75 ]
  state_is config RUNNING
  run jobrun plan --take-over config.yaml
  [ "$status" -eq 0 ]
  [[ $output == *"running, from dir:$TMP/p1, with other settings: will be cancelled"* ]]
  jobrun apply --yes --detach --take-over config.yaml
  run jobrun apply --yes --detach config.yaml
  [ "$status" -eq 0 ]
  cd ../p1
  run jobrun apply --yes config.yaml
  [ "$status" -eq 75 ]
  end
}

@test "a file means its own project's run to every command that takes one" {
  project p1
  project p2
  started p1
  for command in status logs 'logs -f' wait checkpoints 'cancel --yes'; do
    run jobrun $command p2/config.yaml
    echo "$command: $output"
    [ "$status" -eq 75 ]
    [[ $output == *"the run of 'config' belongs to another job of that name: that one is from dir:$TMP/p1, this one from dir:$TMP/p2; "*"give its jobId"* ]]
  done
  state_is config RUNNING
  # Beside others it is left out, and that is said.
  job p2/more.yaml more true
  jobrun apply p2/more.yaml
  run jobrun status p2/
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"more"*"SUCCEEDED"* ]]
  [[ $output == *"the run of 'config' belongs to another job"* ]]
  [[ $output != *RUNNING* ]]
  run jobrun status p1/config.yaml
  [[ $output == *RUNNING* ]]
  jobrun cancel --yes p1/config.yaml
  state_is config CANCELLED
}

@test "what has ended is nobody's: another project's job of that name runs" {
  project p1
  project p2
  started p1
  end
  started p2
  end
}

@test "the same job elsewhere is followed only with --take-over" {
  project p1
  started p1
  mkdir p2
  cp p1/config.yaml p2
  run jobrun apply --yes --detach p2/config.yaml
  [ "$status" -eq 75 ]
  jobrun apply --yes --detach --take-over p2/config.yaml
  run jobrun apply --yes --detach p1/config.yaml
  [ "$status" -eq 75 ]
  end
}

@test "clones of one repository are one origin, and say no password" {
  repository one https://me:geheim@Example.com:443/org/repo.git
  repository two git@example.com:org/repo
  repository three https://example.com/org/fork
  project one/jobs
  started one/jobs
  project two/jobs
  sed -i s,one/jobs,two/jobs, two/jobs/config.yaml
  run jobrun plan two/jobs/config.yaml
  [ "$status" -eq 0 ]
  [[ $output == *"running with other settings"* ]]
  project three/jobs
  run jobrun plan three/jobs/config.yaml
  [ "$status" -eq 75 ]
  [[ $output == *"from git:example.com/org/repo//jobs, "*"git:example.com/org/fork//jobs;"* ]]
  refute grep -rq geheim "$JOBRUN_STATE_DIR"
  end
}

@test "a repository without a remote is known by its first commit" {
  mkdir one
  git -C one init -q
  git -C one -c user.name=a -c user.email=b commit -q --allow-empty -m 1
  project one
  started one
  mv one two
  run jobrun plan two/config.yaml
  [ "$status" -eq 0 ]
  mkdir three
  git -C three init -q
  git -C three -c user.name=a -c user.email=b commit -q --allow-empty -m other
  project three
  run jobrun plan three/config.yaml
  [ "$status" -eq 75 ]
  end
}

@test "pruning a directory ends no run that another has taken over" {
  project set
  jobrun apply --detach --yes set
  wait_until 5 state_is config RUNNING
  project other
  jobrun apply --detach --yes --take-over other/config.yaml
  rm set/config.yaml
  run jobrun apply --prune --yes set
  [ "$status" -eq 75 ]
  [[ $output == *"dir:$TMP/other"*"dir:$TMP/set"* ]]
  state_is config RUNNING
  end
}

@test "two users of one service have two origins: the label tells" {
  mkdir one two
  for p in one two; do
    cat >$p/config.yaml <<END
jobId: config
trainingInput: {scaleTier: BASIC, args: [$p]}
jobrun: {provider: fake, fake: {world: $TMP/world, runTime: 60000}}
END
  done
  JOBRUN_STATE_DIR=$TMP/s1 jobrun apply --yes --detach one/config.yaml
  export JOBRUN_STATE_DIR=$TMP/s2
  run jobrun apply --yes --detach two/config.yaml
  [ "$status" -eq 75 ]
  [[ $output == *"dir:$TMP/one"*"dir:$TMP/two"* ]]
}

# unnamed DIR COMMAND: a config.yaml without a jobId.
unnamed() {
  mkdir -p "$1"
  cat >"$1/config.yaml" <<END
trainingInput: {scaleTier: BASIC}
jobrun: {command: [sh, -c, '$2']}
END
}

@test "a job without a jobId is named after its folder and file" {
  unnamed p1 "exec sleep $NAP"
  unnamed p2 true
  (cd p1 && jobrun apply --detach config.yaml)
  wait_until 5 state_is p1_config RUNNING
  run jobrun apply --yes p2/config.yaml
  [ "$status" -eq 0 ]
  state_is p1_config RUNNING
  state_is p2_config SUCCEEDED
  # Wherever a clone is, and whatever it is called.
  repository here https://example.com/org/ml-models.git
  unnamed here true
  run jobrun plan here/config.yaml
  [[ $output == ml_models_config* ]]
  run jobrun plan --job-id mine here/config.yaml
  [[ $output == mine* ]]
  run jobrun plan - <here/config.yaml
  [[ $output == job* ]]
  jobrun cancel --now p1_config
}

@test "a job that ran under its file's name keeps that, from that file alone" {
  unnamed p1 true
  unnamed p2 true
  jobrun apply --job-id config p1/config.yaml
  python3 - "$JOBRUN_STATE_DIR/jobrun.db" <<'END'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("UPDATE run SET job_file = NULL, job_origin = NULL")
db.commit()
END
  run jobrun plan --detailed-exitcode p1/config.yaml
  [ "$status" -eq 0 ]
  [[ $output == "config "*"already succeeded"* ]]
  run jobrun plan p2/config.yaml
  [[ $output == "p2_config "* ]]
  jobrun apply --rerun --yes p1/config.yaml
  run jobrun plan --detailed-exitcode p1/config.yaml
  [ "$status" -eq 0 ]
  [[ $output == "config "*"already succeeded"* ]]
}
