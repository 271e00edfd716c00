# Runs on hosts that are restarted: after a failure there, and after a host.
# bats file_tags=server
load helper
load sshd
load nvml

@test "a run on hosts that fails is started again there" {
  sshd_up 2
  host_job a.yaml a h1,h2 'n=$(ls $JOBRUN_RUN_DIR | wc -l); touch $JOBRUN_RUN_DIR/try$n; echo try $n; '"$(all_of 2 RANK)"'; [ $RANK = 0 ] || sleep 60; [ $n = 2 ]' \
    '  restart: {maxRestarts: 5, backoff: 0s}'
  run timeout 60 "$JOBRUN" apply a.yaml
  [ "$status" -eq 0 ]
  [[ $output == *"a: attempt 2 FAILED: master 0 exited with 1"* ]]
  [ "$(field a 'j["attempt"], j["restarts"], j["preemptions"]')" = "3 2 0" ]
  [ -e state/runs/a.1/output/try2 ]
  wait_until 15 nothing_runs
}

@test "a setup that failed, or was ended in the midst of it, is run in the next attempt" {
  sshd_up 2
  host_job a.yaml a h1,h2 'case $XDG_STATE_HOME in */h2/*) me=h2;; *) me=h1;; esac; ls '"$TMP"'/setup.$me' \
    "  restart: {maxRestarts: 2, backoff: 0s}
  setup: [sh, -c, 'case \$XDG_STATE_HOME in */h2/*) me=h2;; *) me=h1;; esac; echo x >>$TMP/tries.\$me; until [ -e $TMP/tries.h1 ] && [ -e $TMP/tries.h2 ]; do sleep 0.05; done; [ \$(wc -l <$TMP/tries.\$me) -ge 2 ] || { [ \$me = h2 ] || exec sleep 1000; exit 4; }; touch $TMP/setup.\$me']"
  run timeout 60 "$JOBRUN" apply a.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"setup exited with 4"* ]]
  [ "$(cat tries.h1 | wc -l) $(cat tries.h2 | wc -l)" = "2 2" ]
}

@test "a host that fails its preflight is left out where there is another" {
  sshd_up 3
  host_job a.yaml a h1,h2,h3 'echo on; '"$(all_of 2 RANK)" \
    "  restart: {maxRestarts: 1, backoff: 0s}
  preflight: {command: [sh, -c, 'case \$XDG_STATE_HOME in */h1/*) echo sick >&2; exit 4;; esac']}"
  sed -i 's/workerCount: 2/workerCount: 1/' a.yaml
  run timeout 60 "$JOBRUN" apply a.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"attempt 1 FAILED: host 'h1': setup exited with 69: preflight: sh exited with 4"* ]]
  [ "$(jobrun logs a --attempt 2 | grep -c '] on')" = 2 ]
  [ "$(field a '[t["host"] for t in j["tasks"]]')" = "['h3', 'h2']" ]
  wait_until 60 nothing_runs
  host_is_clean h1
}

@test "a host whose GPU is sick, or whose disk is full, is left out where there is another" {
  local why
  for i in 1 2 3; do host_gpus h$i 1 "Tesla T4"; done
  sed -i 's/^case/case $1 in *query-gpu=index,ecc*) echo "0, 4"; exit ;; esac\n&/; s/ 34, 0,/ 34, 4,/' "$TMP/ssh/h1/bin/nvidia-smi"
  printf '#!/bin/sh\necho "Filesystem 1024-blocks Used Available Capacity Mounted on"\necho "/dev/x 99 98 1 99%% /"\n' >"$TMP/ssh/h2/bin/df"
  chmod +x "$TMP/ssh/h2/bin/df"
  sshd_up 3
  while IFS='|' read -r id host more why; do
    host_job $id.yaml $id "$host,h3" 'echo on' "  restart: {maxRestarts: 1, backoff: 0s}
  preflight: {devices: true, disk: 1GB}
  $more"
    sed -i '/worker/d; s/masterType:.*/&\n  masterConfig: {acceleratorConfig: {type: NVIDIA_TESLA_T4, count: 1}}/' $id.yaml
    run timeout 300 "$JOBRUN" apply $id.yaml </dev/null
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output =~ attempt\ 1\ FAILED:\ host\ \'$host\':\ $why ]]
    [ "$(field $id '[t["host"] for t in j["tasks"]]')" = "['h3']" ]
  done <<'ROWS'
a|h1||it asks for 1 GPUs in all, and this machine has 0 alike that are well
b|h1|local: {devices: ignore}|setup exited with 69: preflight: GPU 0 has 4 uncorrected memory errors
c|h2||setup exited with 69: preflight: 0 MiB are free in .*, 953 MiB must be
ROWS
}

@test "peers: a host whose clock is off is named, and left out where there is another" {
  sshd_up 4
  echo JOBRUN_TEST_CLOCK_MS=-93000 >"$SSH/h1/env"
  sshd_stop h1
  sshd_start h1
  wait_until 10 sshd_answers h1
  host_job a.yaml a h1,h2,h3,h4 'echo on; '"$(all_of 3 RANK)" \
    '  restart: {maxRestarts: 1, backoff: 0s}
  preflight: {peers: true}'
  sed -i 's/workerCount: 3/workerCount: 2/' a.yaml
  run timeout 60 "$JOBRUN" apply a.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output =~ "attempt 1 FAILED: host 'h1': its clock is "[0-9]+" s behind that of 'h"[23]"', and 5 s are allowed (jobrun.preflight)" ]]
  [ "$(field a '[t["host"] for t in j["tasks"]]')" = "['h4', 'h2', 'h3']" ]
  # As far off as is allowed.
  sed -i 's/{peers: true}/{peers: true, clockSkew: 10m}/; s/maxRestarts: 1/maxRestarts: 0/' a.yaml
  timeout 60 "$JOBRUN" apply --rerun a.yaml
  wait_until 60 nothing_runs
}

@test "peers: what each host sends to the next is measured, and has a floor" {
  sshd_up 3
  host_job a.yaml a h1,h2,h3 'echo on; '"$(all_of 3 RANK)" '  preflight: {bandwidth: 10kB}'
  run timeout 60 "$JOBRUN" apply a.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [ "$(grep -c '] on' <<<"$output")" -eq 3 ]
  sed -i 's/10kB/9000TB/' a.yaml
  run timeout 60 "$JOBRUN" apply --rerun a.yaml
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output =~ "host 'h"[123]"': it sends "[0-9.]+" "[kMGT]?B" a second to 'h"[123]"', and jobrun.preflight.bandwidth is 9.0 PB" ]]
  [[ $output != *"] on"* ]]
  wait_until 60 nothing_runs
}

cut_connections() {
  pkill -9 -P "$(tr -d ' \n' <state/runs/a.1/lock)" ssh
}

# A later attempt, of which nobody here knows anything but what is on disk.
@test "kill -9 of all of jobrun here in a second attempt: it has its own lines, each once" {
  local s log
  sshd_up 2
  host_job a.yaml a h1,h2 \
    "touch \$JOBRUN_RUN_DIR/try\$(ls \$JOBRUN_RUN_DIR | wc -l)
     [ -e \$JOBRUN_RUN_DIR/try1 ] || { seq -f 'early %.0f' 5000; $(all_of 2 RANK); [ \$RANK = 0 ] || sleep 60; exit 3; }
     i=0; until [ -e $TMP/stop ]; do i=\$((i+1)); echo line \$i; [ \$((i % 10)) != 0 ] || sleep 0.01; done; echo \$i >&2" \
    '  restart: {maxRestarts: 1, backoff: 0s}'
  jobrun apply --detach a.yaml
  wait_until 30 grep -qs 'line 20' state/runs/a.2/logs/master-0.stdout
  s=$(tr -d ' \n' <state/runs/a.1/lock)
  kill -9 "$(ps -o ppid= -p "$s" | tr -d ' ')" "$s"
  wait_until 30 state_is a RUNNING
  wait_until 30 cut_connections
  touch stop
  timeout 60 "$JOBRUN" wait a
  for log in master-0 worker-0; do
    seq -f 'line %.0f' "$(cat state/runs/a.2/logs/$log.stderr)" | cmp - state/runs/a.2/logs/$log.stdout
  done
  seq -f 'early %.0f' 5000 | cmp - state/runs/a.1/logs/master-0.stdout
  [ "$(field a 'j["attempt"], j["restarts"], j["state"]')" = "2 1 SUCCEEDED" ]
}

agents() {
  pgrep -x jobrun-host | while read -r pid; do
    ! grep -qzF "XDG_STATE_HOME=$SSH/$1/state" "/proc/$pid/environ" || echo "$pid"
  done
}

@test "a lost host counts as a preemption" {
  sshd_up 2
  host_job a.yaml a h1,h2 "[ -e go ] || { setsid sleep $NAP & sleep $NAP; }" \
    "  restart: {maxPreemptions: 2, backoff: 0s}"
  sed -i "s|\[ -e go \]|[ -e $TMP/go ]|" a.yaml
  jobrun apply --detach a.yaml
  wait_until 20 state_is a RUNNING
  touch go
  kill -9 $(agents h2)
  run timeout 60 "$JOBRUN" wait a
  [ "$status" -eq 0 ]
  [ "$(field a 'j["attempt"], j["restarts"], j["preemptions"]')" = "2 0 1" ]
  [[ $(field a 'j["restartedFor"]') == *"h2"* ]]
  wait_until 15 nothing_runs
  refute pgrep -f "sleep $NAP"
}

@test "a host that is not to be had again is one more preemption" {
  sshd_up 2
  host_job a.yaml a h1,h2 "touch $TMP/there; sleep $NAP" \
    "  restart: {maxRestarts: 5, maxPreemptions: 1, backoff: 0s}"
  jobrun apply --detach a.yaml
  wait_until 20 test -e there
  wait_until 20 state_is a RUNNING
  sshd_stop h2
  sshd_start h2 -o AuthorizedKeysFile=none
  wait_until 10 sshd_answers h2
  wait_until 30 cut_connections
  run timeout 60 "$JOBRUN" wait a
  [ "$status" -eq 1 ]
  [ "$(field a 'j["attempt"], j["restarts"], j["preemptions"]')" = "2 0 1" ]
  [[ $(field a 'j["error"]') == "host 'h2': "*"(not restarted: already restarted 1 time (jobrun.restart.maxPreemptions))" ]]
}
