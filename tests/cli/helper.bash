# What all command tests share: a store of their own, and a look at what is
# still running.

setup() {
  : "${JOBRUN:=$PWD/jobrun}"
  TMP=$(mktemp -d)
  export JOBRUN_STATE_DIR=$TMP/state
  unset XDG_STATE_HOME NO_COLOR COLUMNS
  # What an operator may allow, or forbid: each test says it by itself.
  unset CI JOBRUN_ALLOW_OUTSIDE JOBRUN_ALLOW_CONNECT
  # A length of sleep that no other process on the machine has.
  NAP=1234.$$$RANDOM
  cd "$TMP"
}

teardown() {
  # Nothing outlives its test, however that ended.
  local pid
  ! declare -F sshd_down >/dev/null || sshd_down
  for pid in $(marked); do kill -9 "$pid" 2>/dev/null || true; done
  cd /
  rm -rf "$TMP"
}

jobrun() {
  "$JOBRUN" "$@"
}

# Whether the program has sanitizers.
sanitized() {
  grep -qa __asan_init "$JOBRUN"
}

# Processes that belong to this test's store: tasks by their environment,
# supervisors by theirs.
marked() {
  local file
  # One grep for all: there may be hundreds of processes, and few CPUs.
  while read -r file; do
    file=${file#/proc/}
    file=${file%/environ}
    [ "$file" = $$ ] || [ "$file" = "$BASHPID" ] || is_ours "$file" ||
      echo "$file"
  done < <(grep -lszF "JOBRUN_STATE_DIR=$TMP/state" /proc/[0-9]*/environ)
}

# Not the test itself, nor what it runs this very moment.
is_ours() {
  local name
  name=$(tr '\0' ' ' <"/proc/$1/cmdline" 2>/dev/null) || return 0
  case $name in
    *bats* | *grep* | *"tr "* | "") return 0 ;;
  esac
  return 1
}

# refute COMMAND...: it must fail.  A plain "!" is not looked at by bats.
refute() {
  if "$@"; then return 1; fi
}

# wait_until SECONDS COMMAND...
# A limit of five seconds or more only keeps a test from hanging for ever, and
# a busy machine may need more; a shorter one is what the test is about.
wait_until() {
  local until=$((SECONDS + ($1 < 5 ? $1 : 4 * $1)))
  shift
  until "$@"; do
    [ $SECONDS -lt $until ] || return 1
    sleep 0.05
  done
}

# Those of them that are the supervisor of a run or its guard, or have ended
# since they were listed.
supervising() {
  local pid words
  for pid in "$@"; do
    words=$(tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null)
    [[ -n $words && $words != "jobrun supervise "* ]] || echo "$pid"
  done
}

supervising_ended() {
  [ -z "$(supervising $(marked))" ]
}

# A run is over before its supervisor and its guard are gone, so these are
# waited for.  Nothing else of it may be left by then.
nothing_runs() {
  local left
  left=$(marked)
  [ -n "$left" ] || return 0
  [ "$left" = "$(supervising $left)" ] || return 1
  wait_until 5 supervising_ended && [ -z "$(marked)" ]
}

# state_is JOB STATE
state_is() {
  [ "$(jobrun status --format json "$1" |
    python3 -c 'import json,sys; print(json.load(sys.stdin)["jobs"][0]["state"])')" = "$2" ]
}

# field JOB EXPRESSION, of the job's object `j` in status --format json
field() {
  jobrun status --format json "$1" |
    python3 -c "import json,sys; j=json.load(sys.stdin)['jobs'][0]; print($2)"
}

# job FILE ID COMMAND [MORE YAML]: a job of one master that runs sh -c COMMAND
job() {
  cat >"$1" <<EOF
jobId: $2
trainingInput:
  scaleTier: CUSTOM
  masterType: n1-standard-4
${4:-}
jobrun:
  grace: 2s
  command: [sh, -c, $(printf '%s' "$3" | python3 -c 'import json,sys; print(json.dumps(sys.stdin.read()))')]
EOF
}

# remembered JOB PROVIDER PROPERTIES: a run of it, as a record of one elsewhere
# that goes on
remembered() {
  job "$1.yaml" "$1" true
  jobrun apply "$1.yaml"
  python3 - "$JOBRUN_STATE_DIR/jobrun.db" "$@" <<'END'
import sqlite3, sys
path, job, provider, properties = sys.argv[1:]
db = sqlite3.connect(path)
db.execute("UPDATE run SET provider = ?, properties = ?, state = 'RUNNING' WHERE job_id = ?",
           (provider, properties, job))
db.commit()
END
}

WORKERS='  workerType: n1-standard-4
  workerCount: 2'

# press_ctrl_c_twice PID FILE: again as soon as FILE, its standard error, asks
# for it
press_ctrl_c_twice() {
  kill -INT "$1"
  wait_until 10 grep -q 'again to cancel' "$2"
  kill -INT "$1"
}

# A shell beside a task of job $1 has a terminal with the size of this one, also
# when that changes, and its status is what it ends with.
shell_follows_size() {
  SHELL=/bin/sh run python3 "$BATS_TEST_DIRNAME/terminal.py" 99x30 "$JOBRUN" shell "$1" -- \
    'keys:echo size `stty size`\r' 'wait:size 30 99' size:60x20 \
    'keys:while [ "`stty size`" != "20 60" ]; do sleep .1; done; echo now `stty size`\r' 'wait:now 20 60' \
    'keys:exit 5\r' end
  echo "$output"
  [ "$status" = 0 ]
  [ "${lines[-1]}" = "exit 5" ]
}
