#!/usr/bin/env bats
# Deleting: asked on a terminal, shown first, and told what it would end.

load helper

# terminal ANSWER COMMAND...: with a terminal for all three.
terminal() {
  local answer=$1
  shift
  NO_COLOR=1 python3 - "$answer" "$@" <<'END'
import os, pty, sys
answer, command = sys.argv[1], sys.argv[2:]
def read(fd):
    data = os.read(fd, 4096)
    if b"[y/N]" in data:
        os.write(fd, answer.encode() + b"\n")
    return data
sys.exit(os.waitstatus_to_exitcode(pty.spawn(command, read)))
END
}

@test "delete asks on a terminal, and deletes nothing without a yes" {
  job a.yaml a true
  jobrun apply a.yaml
  run terminal n "$JOBRUN" delete a
  [ "$status" -eq 1 ]
  [[ $output == *"- run  a  as asked"*"[y/N]"*"nothing deleted: not confirmed"* ]]
  state_is a SUCCEEDED
  run terminal y "$JOBRUN" delete a
  [ "$status" -eq 0 ]
  [[ $output == *"a: deleted"* ]]
  jobrun apply a.yaml
  run terminal n "$JOBRUN" delete --yes a
  [ "$status" -eq 0 ]
  [[ $output != *"[y/N]"* ]]
}

@test "delete --dry-run shows what would go" {
  job a.yaml a true
  run jobrun delete --dry-run a
  [ "$status" -ne 0 ]
  [ ! -e "$JOBRUN_STATE_DIR" ]
  jobrun apply a.yaml
  run jobrun delete --dry-run a a.yaml
  [ "$status" -eq 0 ]
  [[ $output == *"- run  a  as asked"*"1 to delete"* ]]
  state_is a SUCCEEDED
}

@test "a name of several that nothing has keeps all: the words may be others'" {
  job hello.yaml hello true
  job b.yaml b true
  jobrun apply hello.yaml b.yaml
  run jobrun delete --yes pod hello
  echo "$output"
  [ "$status" -eq 66 ]
  [[ $output == *"no run of 'pod' here, nor resources"* ]]
  [[ $output == *"nothing deleted"* ]]
  state_is hello SUCCEEDED
  run jobrun delete --yes hello 'a b'
  [ "$status" -eq 66 ]
  state_is hello SUCCEEDED
  jobrun delete --yes hello b
  run jobrun status hello
  [ "$status" -eq 66 ]
}

@test "apply --dry-run is plan" {
  job a.yaml a true
  run jobrun apply --dry-run a.yaml
  [ "$status" -eq 0 ]
  [ "$output" = "$(jobrun plan a.yaml)" ]
  [ ! -e "$JOBRUN_STATE_DIR" ]
  jobrun plan --out p a.yaml
  run jobrun apply --dry-run p
  [ "$status" -eq 0 ]
  [[ $output == *"1 to run"* ]]
  run jobrun status a
  [ "$status" -ne 0 ]
}

@test "delete and cancel say what they would end" {
  job a.yaml a "exec sleep $NAP"
  jobrun apply --detach a.yaml
  wait_until 5 state_is a RUNNING
  run jobrun delete a
  [ "$status" -eq 75 ]
  [[ $output == *"still running; 'jobrun cancel a' stops it (attempt 1, for "* ]]
  run jobrun cancel a
  [ "$status" -eq 0 ]
  [[ $output == *"a: cancelling attempt 1 (local), RUNNING for "* ]]
}

@test "delete of a file whose job runs for another project is refused" {
  mkdir p1 p2
  job p1/a.yaml a "exec sleep $NAP"
  cp p1/a.yaml p2
  jobrun apply --detach p1/a.yaml
  wait_until 5 state_is a RUNNING
  run jobrun delete p2/a.yaml
  [ "$status" -eq 75 ]
  [[ $output == *"from dir:$TMP/p1,"*"from dir:$TMP/p2;"* ]]
  run jobrun delete --take-over p2/a.yaml
  [ "$status" -eq 75 ]
  [[ $output == *"still running"* ]]
  jobrun cancel a
}

# A login host that is gone, and one whose cluster answers that nothing is
# there.
two_clusters() {
  mkdir bin
  cat >bin/ssh <<'END'
#!/bin/sh
case "$*" in *gone*) echo "ssh: Could not resolve hostname gone" >&2; exit 255 ;; esac
for line; do :; done
exec sh -c "$line"
END
  chmod +x bin/ssh
  PATH=$TMP/bin:$PATH
  remembered far slurm '{"place": "gone:/x", "name": "n", "comment": "c", "id": "7", "program": "p"}'
}

@test "one dead login host keeps nobody from deleting other jobs" {
  two_clusters
  remembered near slurm '{"place": "there:/x", "name": "n", "comment": "c", "id": "8", "program": "p"}'
  run jobrun delete near
  [[ $output != *gone* ]]
  [ "$status" -ne 69 ] || { echo "$output"; return 1; }
  run jobrun delete far
  [ "$status" -eq 69 ]
  [[ $output == *gone*"; --force forgets it here"* ]]
  run jobrun delete --force far
  [ "$status" -eq 0 ]
  [[ $output == *"far: forgotten"*"slurm (gone:/x): its run, RUNNING when last seen, and its files and logs may remain there"* ]]
  run jobrun status far
  [ "$status" -ne 0 ]
}

@test "gc goes on past a dead login host, and ends with 69" {
  two_clusters
  mkdir -p "$JOBRUN_STATE_DIR/runs/lost.1"
  run jobrun gc --yes --older-than 0s
  [ "$status" -eq 69 ]
  [ "$(grep -c 'hostname gone' <<<"$output")" -eq 1 ]
  [[ $output == *lost.1*"1 deleted"* ]]
  [ ! -e "$JOBRUN_STATE_DIR/runs/lost.1" ]
}

@test "delete of a file leaves what another project's job of that name has left" {
  for p in p1 p2; do
    mkdir -p $p/job
    cat >$p/job/config.yaml <<'END'
trainingInput: {scaleTier: BASIC}
jobrun: {command: [sh, -c, 'echo m >$JOBRUN_RUN_DIR/model']}
END
  done
  jobrun apply p1/job/config.yaml
  run jobrun plan p2/job/config.yaml
  [[ $output == *"succeeded, from dir:$TMP/p1/job"* ]]
  run jobrun delete --yes p2/job/config.yaml
  [ "$status" = 75 ]
  [[ $output == *"that one is from dir:$TMP/p1/job, this one from dir:$TMP/p2/job"* ]]
  run jobrun delete --yes --take-over p2/job/config.yaml
  [ "$status" = 0 ]
}
