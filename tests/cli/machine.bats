# A state directory that several machines see, each by a name of its own: runs
# of another machine, whose processes cannot be signalled from here.  Needs root.
# bats file_tags=server
load helper
load sshd

setup_file() {
  [ "$(id -u)" = 0 ] && unshare --uts hostname there 2>/dev/null ||
    skip "needs root and UTS namespaces"
}

# there COMMAND...: on the other machine
there() {
  unshare --uts sh -c 'hostname there; exec "$@"' sh "$@"
}

runs_there() {
  job a.yaml a "echo begun; exec sleep $NAP"
  there "$JOBRUN" apply --detach a.yaml
  wait_until 20 state_is a RUNNING
}

stopped_or_gone() {
  local pid
  for pid; do
    [[ $(ps -o stat= -p "$pid") == @([TZ]*|) ]] || return 1
  done
}

# The machine has no power: all are stopped before the first one ends, so that
# none sees that another has ended.  A process that was just starting is in the
# next list.  Children come first: a stopped group whose parent ends is made to
# go on (setpgid(2)).
it_dies() {
  local all=
  until [ -n "$all" ] && [ "$all" = "$(marked)" ]; do
    all=$(marked)
    kill -STOP $all 2>/dev/null || true
    wait_until 10 stopped_or_gone $all
  done
  kill -9 $(sort -rn <<<"$all") 2>/dev/null || true
  wait_until 10 eval '[ -z "$(marked)" ]'
}

# heard_of SECONDS: the last sign of life was so long ago
heard_of() {
  touch -d "-$1 seconds" state/runs/a.1/lock
}

@test "where the lock tells it, the death of a run is seen whatever its machine is called" {
  export JOBRUN_STATE_SHARED=0
  runs_there
  it_dies
  wait_until 10 state_is a FAILED
  [[ $(field a 'j["error"]') == "the run's supervisor and its guard were killed" ]]
}

@test "a run of another machine counts as failed three minutes after that has died" {
  export JOBRUN_STATE_SHARED=1
  runs_there
  it_dies
  heard_of 100
  state_is a RUNNING
  "$JOBRUN" wait a >wait.txt 2>&1 3>&- &
  wait=$!
  "$JOBRUN" logs -f a >logs.txt 2>&1 3>&- &
  logs=$!
  wait_until 20 grep -q begun logs.txt
  heard_of 200
  status=0
  wait $wait || status=$?
  [ $status -eq 1 ]
  wait $logs || true
  state_is a FAILED
  [[ $(field a 'j["error"]') == "machine 'there', where it ran, was not heard of for 3 minutes" ]]
  run jobrun cancel a
  [[ $output == *"already FAILED"* ]]
  jobrun delete --yes a
}

# The guards of runs, on whichever machine.
guards() {
  local pid
  for pid in $(marked); do
    [ "$(cat "/proc/$pid/comm" 2>/dev/null)" != jobrun-guard ] || echo "$pid"
  done
}

guards_are() {
  [ "$(guards | wc -l)" -eq "$1" ]
}

# family PID...: these and all that they have started
family() {
  local pid
  for pid; do
    echo "$pid"
    family $(cat "/proc/$pid/task/$pid/children" 2>/dev/null || true)
  done
}

lines() {
  wc -l <state/runs/a.1/logs/master-0.stdout
}

goes_on() {
  local n
  n=$(lines)
  wait_until 60 eval '[ "$(lines)" -gt '$((n + 3))' ]'
}

@test "a machine that was cut off for long leaves a run on hosts to the one that has it now" {
  export JOBRUN_STATE_SHARED=1
  sshd_up 1
  cat >a.yaml <<END
jobId: a
trainingInput: {scaleTier: CUSTOM, masterType: n1-standard-4}
jobrun:
  hosts: [h1]
  command: [sh, -c, 'i=0; until [ -e $TMP/go ]; do i=\$((i+1)); echo line \$i; sleep 0.2; done; echo last \$i']
END
  there "$JOBRUN" apply --detach a.yaml
  wait_until 30 state_is a RUNNING
  wait_until 30 grep -qs "line 3" state/runs/a.1/logs/master-0.stdout
  wait_until 30 guards_are 1
  # It is cut off from the disk, with its lock, and from the host.
  all=$(family $(guards))
  kill -STOP $all || true
  (cd state/runs/a.1 && cp -p lock new && mv new lock)
  heard_of 200
  jobrun status a
  wait_until 30 guards_are 2
  goes_on
  kill -CONT $all || true
  wait_until 40 guards_are 1
  state_is a RUNNING
  goes_on
  touch go
  timeout 200 "$JOBRUN" wait a
  last=$(sed -n 's/^last //p' state/runs/a.1/logs/master-0.stdout)
  # Each line came, and came once.
  grep '^line' state/runs/a.1/logs/master-0.stdout |
    cmp - <(seq -f 'line %.0f' "$last")
}

@test "a run of another machine that lives goes on, and hears a cancel" {
  export JOBRUN_STATE_SHARED=1
  runs_there
  # It is heard of again.
  heard_of 120
  wait_until 30 eval '[ $(($(date +%s) - $(stat -c %Y state/runs/a.1/lock))) -lt 60 ]'
  state_is a RUNNING
  # Its processes have numbers of that machine.
  wait_until 30 there "$JOBRUN" exec a -- true
  run jobrun exec a -- true
  [ "$status" -eq 1 ]
  [[ $output == *"the run is on machine 'there': enter it there"* ]]
  timeout 120 "$JOBRUN" cancel a
  state_is a CANCELLED
  wait_until 10 nothing_runs
}

@test "a cancel from where processes have other numbers signals nobody else" {
  export JOBRUN_STATE_SHARED=0
  runs_there
  # As a container would see it: the number is that of another process.
  sleep "$NAP" 3>&- &
  other=$!
  cp state/runs/a.1/lock lock
  printf '%-20d\n' "$other" | dd of=state/runs/a.1/lock conv=notrunc status=none
  run timeout 60 "$JOBRUN" cancel a
  echo "$output"
  [ "$status" -ne 0 ]
  [[ $output == *"it runs on machine 'there', or in a container of that name: cancel it there"* ]]
  kill -0 "$other"
  dd if=lock of=state/runs/a.1/lock conv=notrunc status=none
  timeout 60 "$JOBRUN" cancel a
  state_is a CANCELLED
  kill "$other"
}
