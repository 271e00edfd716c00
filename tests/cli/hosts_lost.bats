# Hosts that are cut off, frozen or killed in part, and what becomes of them.
# bats file_tags=server,slow
load helper
load sshd
load hosts_net
load podman

setup_file() {
  net_needed
}

teardown() {
  local one
  net_down
  podman_down
  for one in "${MOUNTED[@]}"; do umount -l "$one"; done
  cd /
  rm -rf "$TMP"
}

attempt_is() {
  [ "$(field "$1" 'j["attempt"]')" = "$2" ]
}

@test "a late end of an attempt is none of the next one's" {
  net_up 2
  host_job a.yaml a h1,h2 "[ -e $TMP/go ] || sleep $NAP; echo done; $(all_of 2 RANK)" \
    '  restart: {maxPreemptions: 3, maxRestarts: 0, backoff: 1s}'
  jobrun apply --detach a.yaml
  wait_until 20 state_is a RUNNING
  net_cut 2
  wait_until 30 attempt_is a 2
  touch go
  net_join 2
  timeout 60 "$JOBRUN" wait a
  [ "$(field a 'j["state"], j["attempt"], j["restarts"], j["preemptions"]')" = "SUCCEEDED 2 0 1" ]
  [ "$(cat state/runs/a.2/logs/worker-0.stdout)" = "done" ]
  [ -z "$(naps_in h2)" ]
}

@test "a container on a host that is lost ends when the host is back, and the run goes on" {
  podman_up
  mkdir -p ssh/h1 ssh/h2
  podman_is_at | tee ssh/h1/env >ssh/h2/env
  net_up 2
  host_job a.yaml a h1,h2 "echo up; [ -e $TMP/go ] || sleep $NAP; touch $TMP/here.\$RANK; until [ -e $TMP/here.1 ]; do sleep 0.1; done" \
    "  restart: {maxPreemptions: 1000, maxRestarts: 0, backoff: 1s}
  container: {runtime: podman, image: 'localhost/box:1', mounts: [$TMP]}"
  jobrun apply --detach a.yaml
  wait_until 120 eval '[ "$(jobrun logs a | grep -c "] up$")" = 2 ]'
  net_cut 2
  wait_until 120 eval '! attempt_is a 1'
  # There it has gone on all the time.
  [ -n "$(naps_in h2)" ]
  touch go
  net_join 2
  timeout 300 "$JOBRUN" wait a
  [ "$(field a 'j["state"], j["restarts"]')" = "SUCCEEDED 0" ]
  [ -z "$(naps_in h2)" ]
  wait_until 120 podman_is_empty
}

connectors() {
  pgrep -f 'jobrun-host|host-.* connect' | while read -r pid; do
    [ "$(readlink "/proc/$pid/ns/net")" != "$(nsenter --net="/run/netns/$NET-$1" readlink /proc/self/ns/net)" ] ||
      ! grep -qz '^connect$' "/proc/$pid/cmdline" || echo "$pid"
  done
}

is_connected() {
  [ -n "$(connectors "$1")" ]
}

# Numbered lines of a master and a worker, until the file `stop` is there.
lines_until_stop() {
  host_job a.yaml a h1,h2 \
    "i=0; until [ -e $TMP/stop ]; do i=\$((i+1)); echo line \$i; sleep 0.01; done; echo \$i >&2; $(all_of 2 RANK)"
}

all_lines_came() {
  local log
  for log in master-0 worker-0; do
    seq -f 'line %.0f' "$(cat "state/runs/a.1/logs/$log.stderr")" |
      cmp - "state/runs/a.1/logs/$log.stdout"
  done
}

@test "what connects on a host is killed: the run goes on" {
  net_up 2
  lines_until_stop
  jobrun apply --detach a.yaml
  wait_until 20 state_is a RUNNING
  for i in 1 2 3; do
    wait_until 20 is_connected h2
    # The agent itself is its parent's child no more, and named otherwise.
    for pid in $(connectors h2); do
      [ "$(cat "/proc/$pid/comm")" = jobrun-host ] || kill -9 "$pid"
    done
    sleep 0.5
  done
  state_is a RUNNING
  touch stop
  timeout 60 "$JOBRUN" wait a
  all_lines_came
}

@test "once a host was greeted, no word of ssh but that of a changed key is the last" {
  net_up 2
  cat >fake-ssh <<'EOF'
#!/bin/sh
[ ! -e "${0%/*}/broken" ] || { echo "$(cat "${0%/*}/broken")" >&2; exit 255; }
exec ssh "$@"
EOF
  chmod +x fake-ssh
  export JOBRUN_SSH=$TMP/fake-ssh
  lines_until_stop
  jobrun apply --detach a.yaml
  wait_until 20 state_is a RUNNING
  echo 'Bad packet length 1397966893.' >broken
  pkill -9 -P "$(tr -d ' \n' <state/runs/a.1/lock)" ssh
  sleep 1
  echo 'me@h2: Permission denied (publickey).' >broken
  sleep 2
  state_is a RUNNING
  rm broken
  touch stop
  timeout 60 "$JOBRUN" wait a
  all_lines_came
  rm -f stop here.*
  jobrun apply --rerun --detach a.yaml
  wait_until 20 state_is a RUNNING
  echo '@    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @' >broken
  pkill -9 -P "$(tr -d ' \n' <state/runs/a.2/lock)" ssh
  run timeout 10 "$JOBRUN" wait a
  [ "$status" -eq 1 ]
  [[ $output == *"its host key has changed"* ]]
}

on_tmpfs() {
  mkdir -p "$1"
  mount -t tmpfs -o "$2" tmpfs "$1" || skip "cannot mount"
  MOUNTED+=("$1")
}

@test "a home without exec is told from a refused login, and hostDirectory is a way out" {
  net_up 1
  on_tmpfs "$SSH/h1/cache" noexec,size=64m
  host_job a.yaml a h1 "echo \$JOBRUN_RUN_DIR; mkdir -p \$JOBRUN_RUN_DIR/x"
  run jobrun apply a.yaml
  [ "$status" -eq 1 ]
  [[ $output == *"host 'h1': it may not run the agent there ("*"Permission denied): if that file system is mounted noexec, set jobrun.hostDirectory to a directory on another"* ]]
  refute grep -q "password" <<<"$output"
  mkdir scratch
  chmod 1777 scratch
  echo "  hostDirectory: $TMP/scratch" >>a.yaml
  run jobrun apply --rerun a.yaml
  [ "$status" -eq 0 ]
  [[ $output == *"$TMP/scratch/jobrun-0/hosts/a."*"/output"* ]]
  [ -e scratch/jobrun-0/host-* ]
  [ -z "$(find scratch/jobrun-0/hosts -mindepth 1 -type d)" ]
  # What others could write to is not run.
  chown 12345 scratch/jobrun-0
  run jobrun apply --rerun a.yaml
  [ "$status" -eq 1 ]
  [[ $output == *"$TMP/scratch/jobrun-0 is of another user"* ]]
  sed -i 's|scratch$|scratch;id|' a.yaml
  run jobrun validate a.yaml
  [ "$status" -eq 65 ]
  [[ $output == *'"hostDirectory" "'*';id" must be an absolute path'* ]]
}

@test "a start that is refused leaves no folder on any host" {
  net_up 2
  on_tmpfs "$SSH/h2/state" size=10m
  host_job a.yaml a h1,h2 "echo never"
  run jobrun apply a.yaml
  [ "$status" -eq 1 ]
  [[ $output == *"host 'h2': only "*" MB free below '$SSH/h2/state/"*"', but a start needs 16 MB: set jobrun.hostDirectory to another place"* ]]
  wait_until 20 host_is_clean h2
  wait_until 20 host_is_clean h1
}

# A run of a master and a worker whose host is cut off until the run has failed.
cut_off_worker() {
  net_up 2
  host_job a.yaml a h1,h2 "i=0; while :; do i=\$((i+1)); echo line \$i; echo \$i >\$JOBRUN_RUN_DIR/.last; mv \$JOBRUN_RUN_DIR/.last \$JOBRUN_RUN_DIR/last; sleep 0.1; done" "${1:-}"
  jobrun apply --detach a.yaml
  wait_until 20 state_is a RUNNING
  wait_until 20 grep -qs 'line 5' state/runs/a.1/logs/worker-0.stdout
  net_cut 2
  wait_until 40 state_is a FAILED
}

none_left() {
  [ "$(field a 'j["leftHosts"]' 2>/dev/null)" = "[]" ]
}

tasks_on() {
  local pid
  for pid in $(net_processes "$1"); do
    ! grep -qz '^JOBRUN_RUN_DIR=' "/proc/$pid/environ" 2>/dev/null || echo "$pid"
  done
}

# Whole lines, in their order, none twice.
lines_in_order() {
  seq -f 'line %.0f' "$(wc -l <"$1")" | cmp - "$1"
}

@test "a host that comes back after its run has failed is ended, and gives what it has" {
  local had
  cut_off_worker
  [ "$(field a 'j["leftHosts"][0]["host"], j["leftHosts"][0]["tasks"], j["leftHosts"][0]["mayRun"]')" = "h2 worker 0 True" ]
  run jobrun status a
  [[ $output == *"host 'h2' was last heard of at "*": worker 0 may still run there for "*", and output since then is missing here"* ]]
  run jobrun logs --task worker a
  [ "$status" -eq 0 ]
  [[ $output == *"warning: host 'h2' was last heard of"* ]]
  # It is not forgotten while it may run.
  run jobrun delete a
  [ "$status" -eq 69 ]
  [[ $output == *"worker 0 may still run there"* ]]
  run jobrun gc
  [[ $output == *"host"*"h2"*"it was cut off from 'a', and tasks may still run there"* ]]
  [ -n "$(tasks_on 2)" ]
  had=$(wc -l <state/runs/a.1/logs/worker-0.stdout)
  net_join 2
  run jobrun cancel a
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"already FAILED"* ]]
  [ -z "$(tasks_on 2)" ]
  none_left
  [ "$(wc -l <state/runs/a.1/logs/worker-0.stdout)" -gt "$had" ]
  lines_in_order state/runs/a.1/logs/worker-0.stdout
  [ "$(cat state/runs/a.1/output/host-1/last)" -gt "$had" ]
  wait_until 15 host_is_clean h2
  jobrun delete a
  wait_until 15 nothing_runs
}

@test "delete --force forgets a host that stays away, and says what may be left there" {
  local s
  cut_off_worker
  s=$(tr -d ' \n' <state/runs/a.1/lock)
  run jobrun delete --force --dry-run a
  [ "$status" -eq 0 ]
  [[ $output == *"host 'h2' was last heard of at "*": worker 0 may still run there for "* ]]
  run jobrun delete a
  [ "$status" -eq 69 ]
  [[ $output == *"worker 0 may still run there"*"; 'jobrun delete --force' forgets it"* ]]
  run jobrun delete --force a
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"a: deleted"*"host 'h2' was last heard of at "*": worker 0 may still run there for "* ]]
  [ ! -e state/runs/a.1 ]
  wait_until 10 eval '! kill -0 '"$s"' 2>/dev/null'
  net_join 2
  [ -n "$(tasks_on 2)" ]
}

@test "a host that was left is found by itself, also once all of jobrun here was killed" {
  local s
  cut_off_worker
  s=$(tr -d ' \n' <state/runs/a.1/lock)
  kill -9 "$(ps -o ppid= -p "$s" | tr -d ' ')" "$s"
  net_join 2
  wait_until 40 none_left
  [ -z "$(tasks_on 2)" ]
  lines_in_order state/runs/a.1/logs/worker-0.stdout
  wait_until 15 nothing_runs
}

@test "a run that succeeds while a host is cut off says what is missing, and has it later" {
  net_up 2
  host_job a.yaml a h1,h2 \
    "[ \$RANK = 1 ] || { until [ -e $TMP/cut ]; do sleep 0.1; done; exit 0; }; i=0; while [ \$i -lt 200 ]; do i=\$((i+1)); echo line \$i; sleep 0.1; done"
  jobrun apply --detach a.yaml
  wait_until 20 state_is a RUNNING
  wait_until 20 grep -qs 'line 5' state/runs/a.1/logs/worker-0.stdout
  net_cut 2
  touch cut
  run timeout 60 "$JOBRUN" wait a
  [ "$status" -eq 0 ]
  [[ $output == *"warning: host 'h2' was last heard of at "*": worker 0 may still run there"* ]]
  net_join 2
  wait_until 40 none_left
  run jobrun logs --task worker a
  refute grep -q warning <<<"$output"
  lines_in_order state/runs/a.1/logs/worker-0.stdout
  [ -z "$(tasks_on 2)" ]
  wait_until 15 nothing_runs
}

spool_blocks() {
  stat -c %b "$SSH/$1"/state/jobrun/hosts/*/spool
}

@test "what came over needs no room on a host: much more output than its disk holds" {
  net_up 1
  on_tmpfs "$SSH/h1/state" size=24m
  host_job a.yaml a h1 \
    "for i in \$(seq 600); do seq -f \"\$i %099.0f\" 1000; sleep 0.01; done; touch $TMP/wrote; until [ -e $TMP/go ]; do sleep 0.1; done"
  jobrun apply --detach a.yaml
  wait_until 60 test -e wrote
  # Whoever comes later is told of events, and of no output.
  pkill -9 -P "$(tr -d ' \n' <state/runs/a.1/lock)" ssh
  [ "$(spool_blocks h1)" -lt 16384 ]
  touch go
  timeout 60 "$JOBRUN" wait a
  [ "$(field a 'j["state"], j["tasks"][0]["lostBytes"], j["tasks"][0]["state"]')" = "SUCCEEDED 0 SUCCEEDED" ]
  for i in $(seq 600); do seq -f "$i %099.0f" 1000; done | cmp - state/runs/a.1/logs/master-0.stdout
}

@test "a host's disk that is full: how much of whose output was lost is said" {
  local total=70000000 had lost
  net_up 1
  on_tmpfs "$SSH/h1/state" size=24m
  # While nobody takes it.
  host_job a.yaml a h1 \
    "echo begin; until [ -e $TMP/cut ]; do sleep 0.1; done; head -c $((total - 12)) /dev/zero | tr '\\0' '\\n'; touch $TMP/wrote; until [ -e $TMP/go ]; do sleep 0.1; done; echo wrote"
  jobrun apply --detach a.yaml
  wait_until 20 grep -qs begin state/runs/a.1/logs/master-0.stdout
  net_cut 1
  touch cut
  wait_until 60 test -e wrote
  net_join 1
  wait_until 20 eval '[ "$(spool_blocks h1)" -lt 8192 ]'
  touch go
  run timeout 60 "$JOBRUN" wait a
  [ "$status" -eq 0 ]
  [[ $output == *"warning: lost "*" MB of the output of master 0: the disk was full"* ]]
  had=$(stat -c %s state/runs/a.1/logs/master-0.stdout)
  lost=$(field a 'j["tasks"][0]["lostBytes"]')
  [ "$lost" -gt 0 ]
  [ $((had + lost)) -eq $total ]
  [ "$(tail -c 6 state/runs/a.1/logs/master-0.stdout)" = wrote ]
}

# jobrun as another machine's: of the same name, with the same path of its store.
elsewhere() {
  mkdir -p other state
  unshare -m sh -c 'mount --bind "$0/other" "$0/state"; exec "$@"' "$TMP" "$@"
}

@test "a run on hosts has an owner: a live one is left alone, a silent one's is picked up" {
  local pid s
  net_up 1
  host_job a.yaml a h1 \
    "echo \$\$ >$TMP/pid; i=0; until [ -e $TMP/stop ]; do i=\$((i+1)); echo line \$i; sleep 0.05; done"
  jobrun apply --detach a.yaml
  wait_until 20 state_is a RUNNING
  wait_until 20 test -s pid
  pid=$(cat pid)
  run elsewhere "$JOBRUN" apply a.yaml
  [ "$status" -eq 75 ]
  [[ $output == *"a: FAILED, not started: host 'h1': 'root@$(hostname)' runs this job there, in the same form, since 20"*"; it was heard "*" s ago"* ]]
  # That was no run of it: the next try needs no --rerun, restart is for others.
  sed 's/echo line/echo LINE/' a.yaml >b.yaml
  echo '  restart: {maxRestarts: 9, maxPreemptions: 9}' >>b.yaml
  run elsewhere "$JOBRUN" apply b.yaml
  [ "$status" -eq 75 ]
  [[ $output == *"'root@$(hostname)' runs this job there, in another form, since 20"* ]]
  elsewhere "$JOBRUN" apply --detach b.yaml
  run elsewhere "$JOBRUN" wait a
  [ "$status" -eq 75 ]
  run elsewhere "$JOBRUN" plan b.yaml
  [[ $output == *"not started before: another owner had it"* ]]
  state_is a RUNNING
  kill -0 "$pid"
  # Nothing is heard of it any more.
  s=$(tr -d ' \n' <state/runs/a.1/lock)
  kill -9 "$(ps -o ppid= -p "$s" | tr -d ' ')" "$s"
  sleep 1
  touch -d '2 minutes ago' "$SSH"/h1/state/jobrun/hosts/a.*/heard
  run elsewhere "$JOBRUN" apply --detach a.yaml
  [ "$status" -eq 0 ]
  wait_until 20 grep -qs 'line 9$' other/runs/a.4/logs/master-0.stdout
  [ "$(cat pid)" = "$pid" ]
  touch stop
  run elsewhere timeout 60 "$JOBRUN" wait a
  [ "$status" -eq 0 ]
  lines_in_order other/runs/a.4/logs/master-0.stdout
}

@test "a run on hosts of another origin gives way to --take-over alone" {
  local pid
  net_up 1
  mkdir -p p1 p2
  host_job p1/a.yaml a h1 "echo \$\$ >$TMP/pid; until [ -e $TMP/stop ]; do sleep 0.1; done"
  sed "s|$TMP/pid|$TMP/pid2|" p1/a.yaml >p2/a.yaml
  jobrun apply --detach p1/a.yaml
  wait_until 20 state_is a RUNNING
  wait_until 20 test -s pid
  pid=$(cat pid)
  run elsewhere "$JOBRUN" apply p2/a.yaml
  [ "$status" -eq 75 ]
  [[ $output == *"host 'h1': 'root@$(hostname)' runs another job of that name there, since 20"*": that one is from dir:$TMP/p1, this one from dir:$TMP/p2; --take-over stops it"* ]]
  kill -0 "$pid"
  # What is refused leaves nothing there.
  [ "$(find "$SSH/h1/state/jobrun/hosts" -maxdepth 1 -name 'a.*' | wc -l)" -eq 1 ]
  # Nor is another job in its way.
  host_job p2/ab.yaml ab h1 true
  elsewhere timeout 60 "$JOBRUN" apply p2/ab.yaml
  elsewhere "$JOBRUN" apply --detach --take-over p2/a.yaml
  wait_until 20 test -s pid2
  wait_until 20 eval '! kill -0 '"$pid"' 2>/dev/null'
  wait_until 40 state_is a FAILED
  kill -0 "$(cat pid2)"
  touch stop
  elsewhere timeout 60 "$JOBRUN" wait a
}

@test "a host that a trial has left is named" {
  net_up 2
  cat >a.yaml <<E
jobId: a
trainingInput:
  hyperparameters:
    goal: MAXIMIZE
    hyperparameterMetricTag: m
    maxTrials: 2
    maxParallelTrials: 2
    maxFailedTrials: 2
    params: [{parameterName: a, type: INTEGER, minValue: 1, maxValue: 2}]
jobrun:
  hosts: [h1, h2]
  command: [sh, -c, 'echo m=1; touch $TMP/began-\${HOME##*/}; until [ -e $TMP/cut ]; do sleep 0.1; done; [ \${HOME##*/} = h1 ] || sleep $NAP']
E
  jobrun apply --detach a.yaml
  wait_until 20 test -e began-h1
  wait_until 20 test -e began-h2
  net_cut 2
  touch cut
  run timeout 60 "$JOBRUN" wait a
  [[ $output == *"warning: host 'h2' was last heard of at "*": master 0 of trial "*" may still run there for "* ]]
  [ "$(field a 'j["leftHosts"][0]["host"], len(j["leftHosts"]), j["leftHosts"][0]["mayRun"]')" = "h2 1 True" ]
  run jobrun delete --force a
  [ "$status" -eq 0 ]
  [[ $output == *"host 'h2' was last heard of at "* ]]
}
