# Bad input and a hostile environment: a clear message, the right exit code.
load helper

# fails_with CODE TEXT COMMAND...
fails_with() {
  local code=$1 text=$2
  shift 2
  run jobrun "$@"
  echo "$output"
  [ "$status" -eq "$code" ]
  [[ $output == *"$text"* ]]
}

@test "files that can't be read" {
  fails_with 65 "none.yaml" validate none.yaml
  mkdir d.yaml
  : >empty.yaml
  fails_with 65 "empty.yaml:1:1: error:" validate empty.yaml
  if [ "$(id -u)" != 0 ]; then
    touch secret.yaml && chmod 0 secret.yaml
    fails_with 65 "Permission denied" validate secret.yaml
  fi
}

@test "job files that are wrong" {
  printf 'jobId: a\ntrainingInput: [\n' >a.yaml
  fails_with 65 "a.yaml:" plan a.yaml
  printf 'jobId: a-b\ntrainingInput: {scaleTeir: BASIC}\n' >a.yaml
  fails_with 65 'a.yaml:1:8: error:' apply a.yaml
  [[ $output == *'scaleTier'* ]]
  printf 'jobId: a\n' >a.yaml
  fails_with 65 'trainingInput' validate a.yaml
  job a.yaml same 'echo'
  job b.yaml same 'echo'
  fails_with 65 'a.yaml:1' validate a.yaml b.yaml
}

@test "what is no jobId, no option of the form, no folder to write to" {
  job a.yaml a 'echo'
  fails_with 66 "no run of a job in 'a.yaml' here" logs a.yaml
  fails_with 66 "no run with jobId 'b.yaml'; 'jobrun status' lists the runs" logs b.yaml
  fails_with 66 "no run of 'a' here" logs a
  fails_with 64 "--task and --index are for '--to tf-config'" render --task worker a.yaml
  fails_with 1 "cannot create '$TMP/none/a.plan': No such file" plan --out "$TMP/none/a.plan" a.yaml
}

@test "the list of commands is a table" {
  local column
  # All summaries start at one column.
  column=$(jobrun help | sed -n '/^Commands:/,/^$/{/^  /p}' |
    grep -Eo '^  [a-z]+ +' | awk '{ print length($0) }' | sort -u)
  [ "$(wc -w <<<"$column")" -eq 1 ]
}

@test "several problems are shown in one pass" {
  printf 'jobId: a\ntrainingInput:\n  scaleTier: HUGE\n  workerCount: many\n  masterTyp: x\n' >a.yaml
  run jobrun validate a.yaml
  [ "$(grep -c ': error: ' <<<"$output")" -eq 3 ]
  run jobrun validate --format json a.yaml
  [ "$(python3 -c 'import json,sys; print(len(json.load(sys.stdin)["problems"]))' <<<"$output")" = 3 ]
}

@test "usage" {
  fails_with 64 "did you mean 'apply'" aply
  fails_with 64 "did you mean '--detach'" apply --detahc a.yaml
  fails_with 64 "plan: missing argument PATH...; for the current directory it is '.'" plan
  [ "${lines[-1]}" = "jobrun: see 'jobrun help plan'" ]
  fails_with 64 "cancel: missing argument JOB..." cancel
  fails_with 64 "missing argument COMMAND" launch
  fails_with 64 "usage: jobrun shard [OPTION]... PATH... DIR" shard photos
  fails_with 64 "--shards: '0' is not between 1 and" shard --shards 0 photos out
  fails_with 64 "--attempt: '0' is not between 1 and" logs --attempt 0 a
  fails_with 64 "'jobrun explain providers' lists them" plan --provider slrum a.yaml
  fails_with 64 "'jobrun explain providers' lists them" gc --provider slrum
  job a.yaml a 'echo'
  fails_with 64 "--task takes master, worker, ps or evaluator, not 'boss'" env --task boss a.yaml
  fails_with 64 "cannot read URL 'ftp://host/a.tar'" cat ftp://host/a.tar
  fails_with 64 "unexpected argument" init a b
  fails_with 64 "needs text, json, markdown or html" plan --format
  fails_with 64 "json" plan --format xml a.yaml
  fails_with 64 "" frobnicate
  run jobrun
  [ "$status" -eq 64 ]
  run jobrun help
  [ "$status" -eq 0 ]
}

@test "every command has help and a manual page" {
  local name
  for name in $(jobrun help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
    run jobrun "$name" --help
    [ "$status" -eq 0 ]
    [[ $output == *"Usage: jobrun $name"* ]]
    [ -f "$BATS_TEST_DIRNAME/../../man/jobrun-$name.1" ]
    # No line is wider than a terminal, and there is an example.
    [ -z "$(grep -E '.{81}' <<<"$output")" ]
    [ "$name" = version ] || [[ $output == *jobrun*"jobrun $name"*$'\n'*"jobrun $name"* ]]
  done
}

@test "the help lists every command once, those of every day first" {
  run jobrun help
  [[ $output == *$'Commands:\n Run\n  plan '* ]]
  [ -z "$(sed -n 's/^  \([a-z-]*\)  .*/\1/p' <<<"$output" | sort | uniq -d)" ]
}

@test "a command that is not there, or can't be run" {
  job a.yaml a 'echo'
  sed -i 's/command:.*/command: [no-such-trainer]/' a.yaml
  # A folder that may not be entered has no program: not that root would see.
  mkdir -m 0 locked
  PATH=$PWD/locked:$PATH fails_with 65 "command 'no-such-trainer' not found" \
    apply a.yaml
  state_is a FAILED
  echo 'echo hi' >script.sh
  sed -i 's/command:.*/command: [.\/script.sh]/' a.yaml
  fails_with 65 "script.sh' is not executable" apply a.yaml
  chmod +x script.sh
  fails_with 1 "interpreter" apply --rerun a.yaml
  printf '#!/no/such/shell -e\n' >script.sh
  fails_with 1 "script.sh': its interpreter '/no/such/shell -e' is missing" apply --rerun a.yaml
  nothing_runs
}

@test "an argument or a variable that is too long for a program" {
  local long
  long=$(head -c 140000 /dev/zero | tr '\0' x)
  printf 'trainingInput: {scaleTier: BASIC}\njobrun:\n  command: [echo, %s]\n' "$long" >long.yaml
  fails_with 1 "argument 1 has 140000 bytes, and a program takes 131071: put it into a file" \
    apply long.yaml
  printf 'trainingInput: {scaleTier: BASIC}\njobrun:\n  command: [echo]\n  env: {KEPT: %s}\n' "$long" >env.yaml
  fails_with 1 "variable 'KEPT' has 140005 bytes, and a program takes 131071: put it into a file" \
    apply env.yaml
  nothing_runs
}

@test "nothing to run: planned, not applied" {
  printf 'trainingInput: {scaleTier: BASIC}\n' >a.yaml
  run jobrun plan a.yaml
  [ "$status" -eq 0 ]
  [[ $output == *"nothing to run: set"* ]]
  fails_with 65 "nothing to run: set" apply a.yaml
}

@test "unknown jobs" {
  fails_with 66 "no run of 'x'" status x
  fails_with 66 "no run of 'x'" logs x
  fails_with 66 "no run of 'x'" wait x
  fails_with 66 "no run of 'x'" cancel x
  fails_with 66 "no run of 'x'" delete x
}

@test "a store that is locked, newer, broken or can't be written" {
  job a.yaml a 'echo'
  jobrun apply a.yaml
  python3 -c 'import sqlite3; c=sqlite3.connect("state/jobrun.db"); c.execute("pragma user_version=999")'
  fails_with 1 "newer jobrun" status
  echo garbage >state/jobrun.db
  rm -f state/jobrun.db-wal state/jobrun.db-shm
  fails_with 1 "jobrun.db" status
  : >file
  JOBRUN_STATE_DIR=$TMP/file/state fails_with 1 "JOBRUN_STATE_DIR" apply a.yaml
}

@test "a store that is locked by another process" {
  job a.yaml a 'echo'
  jobrun apply a.yaml
  python3 -c '
import sqlite3, time
c = sqlite3.connect("state/jobrun.db", isolation_level=None)
c.execute("begin exclusive"); print("locked", flush=True); time.sleep(15)' >locked.txt &
  local holder=$!
  wait_until 5 grep -q locked locked.txt
  fails_with 75 "locked by another process" apply --applyset s a.yaml
  kill $holder
}

@test "no TERM, no HOME: plain text, clear words" {
  job a.yaml a 'echo hi'
  run env -u TERM "$JOBRUN" apply a.yaml
  [ "$status" -eq 0 ]
  run env -i PATH="$PATH" "$JOBRUN" apply a.yaml
  [ "$status" -ne 0 ]
  [[ $output == *HOME* ]]
}

@test "output closed or full" {
  job a.yaml a 'i=0; while [ $i -lt 20000 ]; do echo "line $i ................................"; i=$((i+1)); done; touch done'
  jobrun apply a.yaml 2>err.txt | head -n 1
  [ "${PIPESTATUS[0]}" -eq 0 ]
  [ -f done ]
  state_is a SUCCEEDED
  jobrun logs a | head -n 1
  [ "${PIPESTATUS[0]}" -eq 0 ]
  run bash -c "'$JOBRUN' status >/dev/full"
  [ "$status" -eq 1 ]
  [[ $output == *"No space left"* ]]
  nothing_runs
}

@test "a disk with little space left: a run that can be recorded, or none" {
  [ "$(id -u)" = 0 ] || skip "needs a small file system of its own"
  local size code text
  mkdir small
  mount -t tmpfs -o size=1m none small || skip "may not mount"
  umount small
  job a.yaml a 'true'
  for size in 120 160 200 240 280 320 360 400 500 600 700; do
    mount -t tmpfs -o size=${size}k none small
    code=0
    text=$(JOBRUN_STATE_DIR=$TMP/small/state timeout 60 "$JOBRUN" apply a.yaml 2>&1) || code=$?
    [ "$code" -eq 0 ] || text+=$(JOBRUN_STATE_DIR=$TMP/small/state timeout 60 "$JOBRUN" status a 2>&1) || true
    umount -l small
    echo "$size: $code: $text"
    [[ $text != *killed* ]]
    [ "$code" -eq 0 ] || [[ $text == *"No space left"* ]]
    [ "$code" -le 1 ]
  done
  [ "$code" -eq 0 ]
}

@test "a disk that is full: the run goes on, the loss is reported" {
  [ "$(id -u)" = 0 ] || skip "needs a small file system of its own"
  mkdir small
  mount -t tmpfs -o size=3m none small || skip "may not mount"
  job a.yaml a 'i=0; while [ $i -lt 300 ]; do head -c 30000 /dev/zero | tr "\0" x; echo; i=$((i+1)); done; echo end >&2'
  JOBRUN_STATE_DIR=$TMP/small/state run jobrun apply a.yaml
  local code=$status
  umount -l small
  [ "$code" -eq 0 ]
  [[ $output == *"the disk was full"* ]]
}
