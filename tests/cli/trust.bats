#!/usr/bin/env bats
# A state directory that somebody else can write to is not acted on.

load helper

JOB='jobId: a
trainingInput: {scaleTier: BASIC}
jobrun: {command: ["true"]}'

@test "another user's state directory is refused by every command, and doctor says so" {
  [ "$(id -u)" -eq 0 ] || skip "only root can give a directory away"
  local command
  printf '%s\n' "$JOB" >a.yaml
  run jobrun apply a.yaml
  [ "$status" -eq 0 ]
  chown 65534 "$JOBRUN_STATE_DIR"
  for command in status 'logs a' 'apply a.yaml' 'plan a.yaml' gc 'delete a' 'wait a' 'cancel a'; do
    run jobrun $command
    [ "$status" -eq 77 ] || { echo "$command: $status $output"; return 1; }
    [[ $output == *"belongs to user 65534, not to you (0)"* ]]
  done
  run jobrun doctor
  [ "$status" -eq 77 ]
  [[ $output == *"bad"*"belongs to user 65534"* ]]
  JOBRUN_TRUST_STATE_DIR=1 run jobrun status
  [ "$status" -eq 0 ]
  # A database that was put into a directory of one's own is no better.
  chown 0 "$JOBRUN_STATE_DIR"
  chown 65534 "$JOBRUN_STATE_DIR/jobrun.db"
  run jobrun status
  [ "$status" -eq 77 ]
}

@test "nobody's proxy command is run by a look at their runs" {
  [ "$(id -u)" -eq 0 ] || skip "only root can give a directory away"
  printf '%s\n' "${JOB/jobrun: \{/jobrun: \{hosts: [localhost:1], }" >a.yaml
  jobrun apply --yes --detach a.yaml
  wait_until 5 test -e "$JOBRUN_STATE_DIR/runs/a.1/spec.json"
  kill -9 $(marked)
  wait_until 5 nothing_runs
  python3 - "$JOBRUN_STATE_DIR" "$TMP/pwned" <<'END'
import json, sys
state, mark = sys.argv[1:]
path = state + "/runs/a.1/spec.json"
spec = json.load(open(path))
spec["hosts"]["proxy"] = "touch %s; true" % mark
json.dump(spec, open(path, "w"))
END
  chown -R 65534 "$JOBRUN_STATE_DIR"
  run jobrun status
  [ "$status" -eq 77 ]
  nothing_runs
  [ ! -e "$TMP/pwned" ]
}

@test "a state directory that others can write to is refused, an empty one is mended" {
  printf '%s\n' "$JOB" >a.yaml
  mkdir -m 777 state
  run jobrun apply a.yaml
  [ "$status" -eq 0 ]
  [ "$(stat -c %a state)" = 755 ]
  chmod 777 state
  run jobrun status
  [ "$status" -eq 77 ]
  [[ $output == *"other users can write to '$TMP/state'"*"chmod go-w"* ]]
  run jobrun doctor
  [ "$status" -eq 77 ]
  chmod 755 state
  chmod 777 state/runs
  run jobrun status
  [ "$status" -eq 77 ]
  JOBRUN_TRUST_STATE_DIR=1 run jobrun status
  [ "$status" -eq 0 ]
}
