# Hosts that are cut off, frozen or killed in part, and what becomes of them.
# bats file_tags=server,slow
load helper
load sshd
load hosts_net

setup_file() {
  net_needed
}

teardown() {
  local one
  net_down
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
  [[ $output == *"its host key is not the one that is known"* ]]
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
  [[ $output == *"host 'h1': it may not run the agent there ("*"Permission denied): if that file system is mounted noexec, set jobrun.hostDirectory to a directory of another"* ]]
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
  [[ $output == *"host 'h2': there are only "*" MB free below '$SSH/h2/state/"*"', and a start needs 16 MB: jobrun.hostDirectory names another place"* ]]
  wait_until 20 host_is_clean h2
  wait_until 20 host_is_clean h1
}
