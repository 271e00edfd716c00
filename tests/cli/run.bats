# A local run from its start to its end.
bats_require_minimum_version 1.5.0
load helper

@test "a run that succeeds: lines, state, exit 0" {
  job a.yaml a 'echo hello from $RANK; echo oops >&2' "$WORKERS"
  run --separate-stderr jobrun apply a.yaml
  [ "$status" -eq 0 ]
  [ "${#lines[@]}" -eq 6 ]
  echo "$output" | grep -E '^[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8} 127\.0\.0\.1 \[2\] hello from 2$'
  state_is a SUCCEEDED
  [ "$(field a 'j["exitCode"], [t["exitCode"] for t in j["tasks"]]')" = "0 [0, 0, 0]" ]
  nothing_runs
}

@test "applied again it is unchanged; --rerun runs it again" {
  job a.yaml a 'echo x'
  jobrun apply a.yaml
  run --separate-stderr jobrun apply a.yaml
  [ "$status" -eq 0 ]
  [ -z "$output" ]
  [[ $stderr == *"already succeeded"* ]]
  run jobrun plan --detailed-exitcode a.yaml
  [ "$status" -eq 0 ]
  jobrun apply --rerun a.yaml
  [ "$(field a 'j["attempt"]')" = 2 ]
}

@test "a changed job runs again" {
  job a.yaml a 'echo x'
  jobrun apply a.yaml
  job a.yaml a 'echo y'
  run jobrun plan --detailed-exitcode a.yaml
  [ "$status" -eq 2 ]
  [[ $output == *"changed since attempt 1"* ]]
  run jobrun apply a.yaml
  [[ $output == *"] y"* ]]
}

@test "the first task that fails ends the rest, and is named" {
  job a.yaml a 'if [ "$RANK" = 1 ]; then echo "bad luck" >&2; sleep 0.3; exit 7; fi; sleep 100' "$WORKERS"
  sed -i 's/grace: 2s/grace: 60s/' a.yaml
  local start=$(date +%s%N)
  run jobrun apply a.yaml
  local took=$((($(date +%s%N) - start) / 1000000))
  [ "$status" -eq 1 ]
  [[ $output == *"worker 0 exited with 7: bad luck"* ]]
  [ "$took" -lt 30000 ]
  state_is a FAILED
  [ "$(field a 'j["exitCode"]')" = 7 ]
  nothing_runs
}

@test "a task that ignores SIGTERM is killed soon after the failure, whatever the grace" {
  job a.yaml a 'if [ "$RANK" = 1 ]; then sleep 0.3; exit 7; fi; trap "" TERM; while :; do sleep 0.1; done' "$WORKERS"
  sed -i 's/grace: 2s/grace: 60s/' a.yaml
  local start=$(date +%s%N)
  run jobrun apply a.yaml
  [ "$status" -eq 1 ]
  [ $((($(date +%s%N) - start) / 1000000)) -lt 30000 ]
  nothing_runs
}

@test "the job ends when its master does" {
  job a.yaml a 'if [ "$RANK" = 0 ]; then sleep 0.2; exit 0; fi; sleep 100' "$WORKERS"
  run jobrun apply a.yaml
  [ "$status" -eq 0 ]
  state_is a SUCCEEDED
  nothing_runs
}

@test "a signal that ends a task is named" {
  job a.yaml a 'kill -SEGV $$'
  run jobrun apply a.yaml
  [ "$status" -eq 1 ]
  [[ $output == *"master 0 was killed by SIGSEGV"* ]]
  [ "$(field a 'j["exitCode"]')" = 139 ]
}

@test "scheduling.maxRunningTime holds" {
  job a.yaml a 'sleep 100' '  scheduling: {maxRunningTime: 1s}'
  run jobrun apply a.yaml
  [ "$status" -eq 1 ]
  [[ $output == *"maximum running time of 1s"* ]]
  state_is a CANCELLED
  nothing_runs
}

@test "detached: status, logs -f of one task, cancel" {
  job a.yaml a 'i=0; while :; do echo "line $i of $RANK"; i=$((i+1)); sleep 0.05; done' "$WORKERS"
  run jobrun apply --detach a.yaml
  [ "$status" -eq 0 ]
  wait_until 5 state_is a RUNNING
  [ "$(field a '[(t["type"], t["index"], t["state"]) for t in j["tasks"]]')" = \
    "[('master', 0, 'RUNNING'), ('worker', 0, 'RUNNING'), ('worker', 1, 'RUNNING')]" ]
  jobrun logs -f --task worker --index 1 a >follow.txt &
  local follower=$!
  sleep 0.5
  jobrun cancel a
  wait $follower
  state_is a CANCELLED
  nothing_runs
  # Every line of that task, whole and in order, and no other's.
  refute grep -v '\[2\] line [0-9]* of 2$' follow.txt
  awk '{ if ($6 != n++) exit 1 }' follow.txt
  [ "$(jobrun logs --task worker --index 1 a | wc -l)" -eq "$(wc -l <follow.txt)" ]
}

@test "cancel: SIGTERM first, then after the grace SIGKILL" {
  job a.yaml a 'trap "echo got it" TERM; touch ready; while :; do sleep 0.1; done'
  jobrun apply --detach a.yaml
  wait_until 20 test -e ready
  local start=$(date +%s%N)
  jobrun cancel a
  local took=$((($(date +%s%N) - start) / 1000000))
  [ $took -ge 1900 ] && [ $took -lt 30000 ]
  [[ $(jobrun logs a) == *"got it"* ]]
  nothing_runs
}

@test "cancel --now does not wait" {
  job a.yaml a 'trap "" TERM; while :; do sleep 0.1; done'
  sed -i 's/grace: 2s/grace: 60s/' a.yaml
  jobrun apply --detach a.yaml
  wait_until 5 state_is a RUNNING
  local start=$(date +%s%N)
  jobrun cancel --now a
  [ $((($(date +%s%N) - start) / 1000000)) -lt 30000 ]
  state_is a CANCELLED
  nothing_runs
}

@test "Ctrl-C once cancels with the grace, twice at once; exit 130" {
  job a.yaml a 'trap "" TERM; echo up; while :; do sleep 0.1; done'
  sed -i 's/grace: 2s/grace: 90s/' a.yaml
  "$JOBRUN" apply a.yaml >out.txt 2>err.txt &
  local client=$!
  wait_until 5 grep -q up out.txt
  kill -TERM $client
  sleep 0.5
  kill -0 $client
  kill -TERM $client
  local code=0
  wait $client || code=$?
  [ $code -eq 130 ]
  state_is a CANCELLED
  nothing_runs
}

@test "wait: 0, 1 and 124" {
  job a.yaml a "until [ -e '$PWD/go' ]; do sleep 0.05; done"
  job b.yaml b 'sleep 0.2; exit 3'
  jobrun apply --detach a.yaml b.yaml
  run jobrun wait --timeout 0s a
  [ "$status" -eq 124 ]
  : >go
  run jobrun wait a
  [ "$status" -eq 0 ]
  run jobrun wait b
  [ "$status" -eq 1 ]
}

@test "what a task leaves behind ends with the run, also out of its group" {
  job a.yaml a "setsid sleep $NAP & (sleep $NAP &) ; sleep 0.2; exit 0"
  jobrun apply a.yaml
  nothing_runs
  refute pgrep -f "sleep $NAP"
}

@test "logs: task, index, tail, since, grep, attempt" {
  job a.yaml a 'for i in 1 2 3 4 5; do echo "n=$i"; done' "$WORKERS"
  jobrun apply a.yaml >all.txt
  [ "$(jobrun logs a | wc -l)" -eq 15 ]
  diff <(sort all.txt) <(jobrun logs a | sort)
  [ "$(jobrun logs --task worker --index 0-1 a | wc -l)" -eq 10 ]
  [ "$(jobrun logs --task master --tail 2 a | grep -o 'n=.*' | tr '\n' ' ')" = "n=4 n=5 " ]
  [ "$(jobrun logs --grep 'n=[12]$' a | wc -l)" -eq 6 ]
  [ "$(jobrun logs --since 1h a | wc -l)" -eq 15 ]
  sleep 1.1
  [ "$(jobrun logs --since 1s a | wc -l)" -eq 0 ]
  run jobrun logs --task ps a
  [ "$status" -eq 64 ]
  run jobrun logs --attempt 9 a
  [ "$status" -eq 66 ]
  run jobrun logs --grep '(' a
  [ "$status" -eq 64 ]
}

@test "setup runs once before the tasks; its failure is the run's" {
  job a.yaml a 'cat made' "$WORKERS"
  echo '  setup: [sh, -c, "echo setting up; echo once >>made"]' >>a.yaml
  run jobrun apply a.yaml
  [ "$status" -eq 0 ]
  [ "$(grep -c ' once$' <<<"$output")" -eq 3 ]
  [ "$(wc -l <made)" -eq 1 ]
  sed -i 's/echo once/exit 4; echo once/' a.yaml
  run jobrun apply a.yaml
  [ "$status" -eq 1 ]
  [[ $output == *"setup exited with 4"* ]]
  nothing_runs
}

@test "a Python module out of a package" {
  mkdir -p pkg-0.1/trainer
  echo 'import sys; print("args", sys.argv[1:])' >pkg-0.1/trainer/task.py
  touch pkg-0.1/trainer/__init__.py
  echo 'from setuptools import setup; setup(name="pkg")' >pkg-0.1/setup.py
  tar czf pkg-0.1.tar.gz pkg-0.1
  cat >a.yaml <<EOF
jobId: a
trainingInput:
  packageUris: [pkg-0.1.tar.gz]
  pythonModule: trainer.task
  jobDir: gs://bucket/dir
  args: [--epochs, "3"]
EOF
  rm -rf pkg-0.1
  run jobrun apply a.yaml
  [ "$status" -eq 0 ]
  [[ $output == *"args ['--epochs', '3', '--job-dir', 'gs://bucket/dir']"* ]]
}

@test "a secret reaches the task and nothing else" {
  job a.yaml a 'printf %s "$TOKEN" | wc -c; printf %s "$OTHER" | wc -c'
  cat >>a.yaml <<EOF
  secrets:
    TOKEN: {env: MY_TOKEN}
    OTHER: {file: secret.txt}
EOF
  echo s3cr3t-file >secret.txt
  MY_TOKEN=s3cr3t-variable jobrun apply a.yaml >out.txt 2>&1
  grep -q '\] 15$' out.txt
  grep -q '\] 11$' out.txt
  jobrun plan --format json a.yaml >plan.txt
  jobrun env a.yaml >env.txt 2>&1
  jobrun status --format json a >status.txt
  refute grep -r s3cr3t out.txt plan.txt env.txt status.txt state
  run env -u MY_TOKEN "$JOBRUN" apply --rerun a.yaml
  [ "$status" -eq 65 ]
  [[ $output == *"the variable 'MY_TOKEN' is not set"* ]]
}

@test "delete removes the runs and their files" {
  job a.yaml a 'echo x'
  jobrun apply a.yaml
  jobrun apply --rerun a.yaml
  [ -d state/runs/a.2 ]
  jobrun delete a.yaml
  [ -z "$(ls state/runs)" ]
  run jobrun status a
  [ "$status" -eq 66 ]
  job b.yaml b 'sleep 100'
  jobrun apply -d b.yaml
  run jobrun delete b
  [ "$status" -eq 75 ]
}

@test "delete: a job that is called like a directory, and names that are none" {
  mkdir a
  job a/b.yaml b 'echo x'
  job a.yaml a 'echo x'
  jobrun apply a.yaml a
  jobrun delete a
  [ "$(ls state/runs)" = b.1 ]
  jobrun delete a/
  [ -z "$(ls state/runs)" ]
  for name in '' 'a b' "$(printf 'a%.0s' {1..300})"; do
    run jobrun delete "$name"
    [ "$status" -eq 66 ]
    [[ $output == *"no run with jobId"* ]]
  done
}

@test "what others say moves no cursor" {
  run jobrun status $'a\n\e[2Jb'
  [ "$output" = 'jobrun: error: no run of '\''a\n\x1b[2Jb'\'' here' ]
  job a.yaml a 'exit 3'
  run jobrun apply a.yaml
  /usr/bin/python3 -c '
import sqlite3
db = sqlite3.connect("state/jobrun.db")
db.execute("UPDATE run SET error = char(27) || char(10) || ?", ("quota",))
db.commit()'
  run jobrun status a
  [ "${lines[2]}" = '  \x1b\nquota' ]
  refute grep -q $'\e' <<<"$output"
}

@test "two jobs at once, ports apart" {
  job a.yaml a 'echo port $MASTER_PORT; sleep 0.5' "$WORKERS"
  job b.yaml b 'echo port $MASTER_PORT; sleep 0.5' "$WORKERS"
  run jobrun apply a.yaml b.yaml
  [ "$status" -eq 0 ]
  [ "$(grep -Eo 'port [0-9]+' <<<"$output" | sort -u | wc -l)" -eq 2 ]
}

@test "a port that somebody else has is not given out" {
  python3 -c '
import socket, time
s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
for i in range(100): # another jobrun only looks whether it is free
    try: s.bind(("127.0.0.1", 2222)); s.listen(); break
    except OSError: time.sleep(0.02) # taken for good is as good
print("up", flush=True); time.sleep(100)' >up.txt &
  local holder=$!
  wait_until 5 grep -q up up.txt
  job a.yaml a 'echo "$TF_CONFIG"'
  run jobrun apply a.yaml
  kill $holder
  [ "$status" -eq 0 ]
  [[ $output != *127.0.0.1:2222* ]]
  [[ $output == *'{"cluster":{"master":["127.0.0.1:22'* ]]
}

@test "settings changed while it runs: it needs a yes, then cancels and runs anew" {
  job a.yaml a 'echo one; sleep 100'
  jobrun apply -d a.yaml
  wait_until 5 state_is a RUNNING
  job a.yaml a 'echo two'
  run jobrun apply a.yaml </dev/null
  [ "$status" -eq 1 ]
  state_is a RUNNING
  run jobrun apply --yes a.yaml
  [ "$status" -eq 0 ]
  [[ $output == *"] two"* ]]
  [ "$(field a 'j["attempt"]')" = 2 ]
  nothing_runs
}

@test "apply of a run that is under way follows it" {
  job a.yaml a "echo one; until [ -e $TMP/go ]; do sleep 0.1; done; echo two"
  jobrun apply -d a.yaml
  wait_until 5 state_is a RUNNING
  "$JOBRUN" apply a.yaml >out.txt 2>&1 &
  wait_until 5 grep -q '\] one' out.txt
  touch go
  wait $!
  output=$(cat out.txt)
  [[ $output == *"] one"*"] two"* ]]
  [ "$(field a 'j["attempt"]')" = 1 ]
}

@test "a terminal shows a line before it has ended, and then the whole of it" {
  script -qec true /dev/null || skip "no terminals to be had here"
  job a.yaml a 'echo up; printf "10%%\r20%%"; until [ -e "$JOBRUN_RUN_DIR/go" ]; do sleep 0.05; done; echo " done"'
  TERM=xterm NO_COLOR=1 script -qec "'$JOBRUN' apply a.yaml" /dev/null >out.txt &
  wait_until 5 grep -q '^[^1]*master 0 | 20%' out.txt
  touch state/runs/a.1/output/go
  wait $!
  # Taken back, and then printed once.
  [[ $(cat out.txt) == *$'| 20%\r\e[K'*'| 20% done'* ]]
  [ "$(grep -c 'done' out.txt)" -eq 1 ]
  # Elsewhere there are only whole lines.
  [ "$(jobrun logs a | sed 's/.*\] //')" = $'up\n20% done' ]
  [ "$(cat state/runs/a.1/logs/master-0.stdout)" = $'up\n10%\r20% done' ]
}

@test "bars of several tasks stand under the output, each in its row" {
  script -qec true /dev/null || skip "no terminals to be had here"
  job a.yaml a 'printf "\r\033[32m$RANK: 40%%\033[0m"; until [ -e "$TMP/go" ]; do sleep 0.05; done; printf "\r$RANK: 100%%\n"' "$WORKERS"
  export TMP
  TERM=xterm NO_COLOR=1 script -qec "'$JOBRUN' apply a.yaml" /dev/null >out.txt &
  all_stand() { tr -d '\r' <out.txt | grep -A2 '0: 40%' | grep -A1 '1: 40%' | grep -q '2: 40%'; }
  wait_until 10 all_stand
  touch go
  wait $!
  # Rows are taken away together, and colours pass.
  grep -qF $'\r\e[2A\e[J' out.txt
  grep -qF $'master 0 | \e[32m0: 40%\e[0m' out.txt
  local i name=("master 0" "worker 0" "worker 1")
  for i in 0 1 2; do
    [ "$(grep -c "${name[i]} | $i: 100%" out.txt)" -eq 1 ]
  done
}

@test "bars of several jobs stand under the output, too" {
  local i
  script -qec true /dev/null || skip "no terminals to be had here"
  mkdir jobs
  for i in x y; do
    job jobs/$i.yaml $i "printf '$i: 40%%'; until [ -e '$TMP/go' ]; do sleep 0.05; done; printf '\r$i: done\n'"
  done
  TERM=xterm NO_COLOR=1 script -qec "'$JOBRUN' apply jobs" /dev/null >out.txt &
  # In either order; the last row has no end.
  both_stand() { tr -d '\r' <out.txt | sed '$d' | grep -q '[xy] master 0 | [xy]: 40%$'; }
  wait_until 10 both_stand
  touch go
  wait $!
  grep -qF 'x master 0 | x: done' out.txt
  grep -qF 'y master 0 | y: done' out.txt
}

# bats test_tags=slow
@test "a pipe is given the last state of what stays open" {
  job a.yaml a 'printf "10%%\r20%%"; until [ -e "$TMP/go" ]; do sleep 0.05; done; printf "\r100%%\n"'
  export TMP
  "$JOBRUN" apply a.yaml >out.txt 2>/dev/null &
  wait_until 70 grep -q '\] 20%$' out.txt
  touch go
  wait $!
  [ "$(sed 's/.*\] //' out.txt)" = $'20%\n100%' ]
}

@test "--prefix and --time choose how lines begin, --task whose are shown" {
  job a.yaml a 'echo "I am $RANK"' "$WORKERS"
  [ "$(jobrun apply --no-prefix --task master a.yaml 2>/dev/null)" = "I am 0" ]
  [ "$(jobrun logs --prefix task --time none --task worker --index 1 a)" = "worker 1 | I am 2" ]
  [[ $(jobrun logs --time relative --task master a) == 0:00:0?" "*" [0] I am 0" ]]
  [[ $(jobrun logs --prefix none --time utc --task master a) == 20??-??-??" "??:??:??"Z I am 0" ]]
  [[ $(jobrun logs --no-prefix --time local --task master a) == 20??-??-??" "??:??:??" I am 0" ]]
  run jobrun logs --prefix who a
  [ "$status" -eq 64 ]
  [[ $output == *"--prefix takes host, task or none, not 'who'"* ]]
  run jobrun apply --task boss a.yaml
  [ "$status" -eq 64 ]
  [[ $output == *"--task takes master, worker, ps or evaluator, not 'boss'"* ]]
}

@test "the cause of a failure is the line that tells most, not the last" {
  cat >train.py <<'END'
import atexit, sys
atexit.register(lambda: print("wandb: synced", file=sys.stderr))
def main():
    raise ValueError("no data")
main()
END
  job a.yaml a "python3 '$PWD/train.py'"
  run jobrun apply a.yaml
  [ "$status" -eq 1 ]
  [[ $output == *"master 0 exited with 1: ValueError: no data ("*"/train.py:4 in main)"* ]]
  [[ $(field a 'j["error"]') == *"ValueError: no data ("* ]]
}

@test "what a task wrote is no command to the CI that shows our messages" {
  job a.yaml a 'printf "::error::x\n  ::add-mask::y\n##[group]z\n\033[2Jw\nsection_start:1:s\r\033[0K\n##vso[task.x]v\n::stop-commands::t\n" >&2; exit 3'
  jobrun apply a.yaml >out.txt 2>err.txt || true
  grep -q 'master 0 exited with 3: ' err.txt
  grep -qF 'add-mask::y' err.txt
  refute grep -qE '^[[:space:]]*::' err.txt
  refute grep -qF '##[' err.txt
  refute grep -qF '##vso[' err.txt
  refute grep -qE 'section_(start|end):' err.txt
  refute grep -q $'\e' err.txt
  # What the task wrote is shown as it is, behind its prefix.
  grep -qF '] ::error::x' out.txt
}

@test "no line is torn, lost or reordered: by their hashes" {
  # Short and long lines, in pieces that end anywhere; the first waits.
  cat >write.py <<'END'
import os, random, time
rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
random.seed(rank)
data = b"".join(b"%d %d %s\n" % (rank, n, b"x" * random.choice((3, 80, 9000)))
                for n in range(3000))
at = 0
while at < len(data):
    at += os.write(1, data[at:at + random.randrange(1, 100000)])
open(os.environ["JOBRUN_RUN_DIR"] + "/%d" % rank, "w")
while rank == 0 and len(os.listdir(os.environ["JOBRUN_RUN_DIR"])) < world:
    time.sleep(0.01)
END
  job a.yaml a "exec python3 '$PWD/write.py'" "$WORKERS"
  jobrun apply a.yaml >out.txt 2>err.txt
  local i name=(master-0 worker-0 worker-1)
  for i in 0 1 2; do
    [ "$(sed -n "s/^[^[]* \[$i\] //p" out.txt | sha256sum)" = \
      "$(sha256sum <"state/runs/a.1/logs/${name[i]}.stdout")" ]
    [ "$(grep -c "^$i " "state/runs/a.1/logs/${name[i]}.stdout")" -eq 3000 ]
  done
}

@test "a clock that was set back while a run went on: no negative time" {
  job a.yaml a true
  jobrun apply a.yaml
  python3 - <<'END'
import os, sqlite3
with sqlite3.connect(os.environ["JOBRUN_STATE_DIR"] + "/jobrun.db") as db:
    db.execute("UPDATE run SET end_time_ms = start_time_ms - 259195000")
END
  run jobrun wait a
  [ "$output" = "jobrun: a: SUCCEEDED" ]
  run jobrun status a
  refute grep -E ' -[0-9]+[smhd]' <<<"$output"
}

# shows_no_more ARGUMENT...: it ends when its terminal hangs up.
shows_no_more() {
  run timeout 20 python3 "$BATS_TEST_DIRNAME/hangup.py" "$JOBRUN" "$@"
  [ "$output" = 0 ]
}

@test "a terminal that hangs up: nothing is shown any more, and the run goes on" {
  job a.yaml a "echo hello; echo loss=0.5; until [ -e $TMP/talk ]; do sleep 0.1; done; while sleep 0.1; do echo line; echo loss=0.5; done"
  jobrun apply --detach a.yaml
  wait_until 10 grep -qs loss state/runs/a.1/logs/master-0.stdout
  for talk in "" talk; do
    [ -z "$talk" ] || touch $talk
    shows_no_more logs -f a
    shows_no_more logs --tail 1 -f a
    shows_no_more metrics -f a
    shows_no_more status -w
  done
  # A pipe whose reader is gone says the same.
  timeout 20 "$JOBRUN" logs -f a | true
  state_is a RUNNING
  jobrun cancel --now a
}

@test "where a user has no instance of inotify left, files are looked at by time" {
  without() {
    unshare -Ur sh -c 'echo 0 >/proc/sys/user/max_inotify_instances && exec "$@"' sh "$@"
  }
  without true 2>/dev/null || skip "needs a user namespace with limits of its own"
  job a.yaml a 'for i in 1 2 3; do echo "line $i"; sleep 0.2; done'
  echo '  local: {runsAtOnce: 1}' >>a.yaml
  run without "$JOBRUN" apply a.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output != *"cannot watch"* ]]
  [ "$(grep -c 'line [123]$' <<<"$output")" -eq 3 ]
  run without "$JOBRUN" logs -f a
  [ "$(grep -c 'line [123]$' <<<"$output")" -eq 3 ]
}
