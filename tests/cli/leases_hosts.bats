# The GPUs of hosts that runs take, each for itself alone.
# bats file_tags=server
load helper
load sshd
load nvml

SEES='echo "$CUDA_DEVICE_ORDER $CUDA_VISIBLE_DEVICES"'

# there FILE ID HOSTS COMMAND COUNT [MORE OF trainingInput [MORE OF jobrun]]: a
# job of one master, or of as many machines as it says, on these hosts
there() {
  gpus "$1" "$2" "$4" "$5" "${6:-}" "  hosts: [$3]
${7:-}"
}

WORKER='  workerType: n1-standard-4
  workerCount: 1
  workerConfig: {acceleratorConfig: {type: NVIDIA_H100_80GB, count: 2}}'

said() {
  jobrun logs "$1" | sed 's/^.*\] //' | sort | tr '\n' ';'
}

@test "runs on hosts have GPUs of their own, and wait only for busy ones" {
  host_gpus h1 4
  host_gpus h2 2
  sshd_up 2
  there a.yaml a h1 "$SEES; $(held a)" 3
  there b.yaml b h1,h2 "$SEES; sleep 0.2" 2 "$WORKER"
  there c.yaml c h2 "$SEES" 1
  jobrun apply --detach a.yaml
  wait_until 20 state_is a RUNNING
  [ "$(jobrun env a.yaml | grep CUDA_VISIBLE_DEVICES)" = "CUDA_VISIBLE_DEVICES=0,1,2" ]
  [[ $(jobrun devices --hosts h1) == *"a.1 by $(id -un)"* ]]
  jobrun apply --detach b.yaml
  wait_until 20 waits b "host 'h1': 1 of 4 GPUs free, it needs 2; a.1 of $(id -un) holds 3 since 20"
  state_is b QUEUED
  # What another host has is free for others.
  jobrun apply c.yaml
  state_is b QUEUED
  touch a.go
  jobrun wait --timeout 5m a
  jobrun wait --timeout 5m b
  [ "$(said a)" = "PCI_BUS_ID 0,1,2;" ]
  [ "$(said b)" = "PCI_BUS_ID 0,1;PCI_BUS_ID 0,1;" ]
  [ "$(said c)" = "PCI_BUS_ID 0;" ]
  wait_until 15 nothing_runs
  [ "$(ls "$SSH/h1/lock" "$SSH/h2/lock" | grep -c devices)" -eq 2 ]
}

@test "more GPUs than a host has are said before anything starts there" {
  host_gpus h1 4
  host_gpus h2 1
  sshd_up 2
  there a.yaml a h1,h2 true 2 "$WORKER"
  run jobrun apply a.yaml
  [ "$status" -eq 65 ]
  [[ $output == *"host 'h2': it asks for 2 GPUs in all, and this machine has 1 alike"*"'jobrun devices --hosts h2' lists them"* ]]
  run jobrun status a
  [ "$status" -eq 66 ]
  [ ! -e "$SSH/h1/state" ]
  echo '  local: {devices: ignore}' >>a.yaml
  jobrun apply a.yaml
  # A host that can't be asked is asked again when the run reaches it.
  there b.yaml b h2 true 2 "" "  local: {devices: strict}"
  sshd_stop h2
  jobrun apply --detach b.yaml
  sshd_start h2
  run jobrun wait --timeout 5m b
  [ "$status" -ne 0 ]
  [[ $(jobrun status b) == *"host 'h2': it asks for 2 GPUs in all, and this machine has 1 alike"* ]]
}

@test "a process of somebody else's keeps a host's GPU busy, unless it is shared" {
  host_gpus h1 2
  sshd_up 1
  sleep $NAP &
  echo "1, $!" >"$SSH/h1/busy"
  there a.yaml a h1 "$SEES" 2
  jobrun apply --detach a.yaml
  wait_until 20 waits a "host 'h1': 1 of 2 GPUs free, it needs 2; GPU 1 is used by sleep (pid $! of $(id -un))"
  jobrun cancel a
  run jobrun wait --timeout 5m a
  state_is a CANCELLED
  jobrun apply --rerun --share-devices a.yaml
  [ "$(said a)" = "PCI_BUS_ID 0,1;" ]
  kill $!
}

@test "slices of a host's GPU are taken one by one, by their UUIDs" {
  host_gpus h1 1
  sshd_up 1
  echo 3 >"$SSH/h1/slices"
  there a.yaml a h1 "$SEES; $(held a)" 2
  there b.yaml b h1 "$SEES" 2
  jobrun apply --detach a.yaml
  wait_until 20 state_is a RUNNING
  jobrun apply --detach b.yaml
  wait_until 20 waits b "host 'h1': 1 of 3 GPUs free, it needs 2; a.1 of $(id -un) holds 2 since 20"
  touch a.go
  jobrun wait --timeout 5m a b
  [ "$(said a)" = "PCI_BUS_ID MIG-h1-1,MIG-h1-2;" ]
}

@test "trials on hosts have GPUs of their own" {
  host_gpus h1 5
  sshd_up 1
  there a.yaml a h1 'echo "$CUDA_VISIBLE_DEVICES" >>'"$TMP"'/seen; until [ "$(cat '"$TMP"'/seen | wc -l)" -ge 2 ]; do sleep 0.05; done; echo "loss=1"' 2 \
    "  hyperparameters: {goal: MINIMIZE, hyperparameterMetricTag: loss, maxTrials: 3, maxParallelTrials: 3, params: [{parameterName: x, type: DOUBLE, minValue: 0, maxValue: 1}]}"
  jobrun apply a.yaml
  [ "$(sort -u seen | tr '\n' ' ')" = "0,1 2,3 " ]
  [ "$(wc -l <seen)" -eq 3 ]
}

@test "runs that want the same hosts in another order do not wait for each other" {
  host_gpus h1 2
  host_gpus h2 2
  sshd_up 2
  there a.yaml a h1,h2 true 2 "$WORKER"
  there b.yaml b h2,h1 true 2 "$WORKER"
  for _ in 1 2 3; do
    jobrun apply --detach --rerun a.yaml &
    jobrun apply --detach --rerun b.yaml
    wait $!
    jobrun wait --timeout 5m a b
  done
}

# agent_of JOB: the agent's daemon of its run
agent_of() {
  local pid
  for pid in $(pgrep -x jobrun-host); do
    [[ $(readlink "/proc/$pid/cwd") != "$SSH/h1/"*"/$1."* ]] || echo "$pid"
  done
}

# The task leaves a process behind that no signal of the agent's end reaches.
@test "an agent that is killed holds its GPUs until all of its run has ended" {
  host_gpus h1 1
  sshd_up 1
  there a.yaml a h1 "setsid sh -c 'exec 9>>$TMP/used; flock -n 9; touch $TMP/begun; exec sleep $NAP' & wait" 1
  there b.yaml b h1 "exec 9>>$TMP/used; flock -n 9 && echo alone" 1
  jobrun apply --detach a.yaml
  wait_until 20 test -e begun
  jobrun apply --detach b.yaml
  wait_until 20 waits b "host 'h1': 0 of 1 GPUs free"
  kill -9 "$(agent_of a)"
  jobrun wait --timeout 5m b
  [ "$(said b)" = "alone;" ]
  run jobrun wait --timeout 5m a
  state_is a FAILED
}

@test "a host whose users can share no folder says so" {
  local sshd
  sshd=$(type -P sshd || echo /usr/sbin/sshd)
  unshared true
  host_gpus h1 1
  sed -i 's/JOBRUN_LOCK_DIR=[^ ]* //' "$TMP/ssh/h1/env"
  mkdir bin
  { declare -f unshared && echo "unshared $sshd \"\$@\""; } >bin/sshd
  sed -i '1i #!/bin/bash' bin/sshd
  chmod +x bin/sshd
  PATH=$TMP/bin:$PATH sshd_up 1
  there a.yaml a h1 "$(held a)" 1
  there b.yaml b h1 true 1
  jobrun apply --detach a.yaml
  wait_until 20 state_is a RUNNING
  jobrun apply --detach b.yaml
  wait_until 20 eval '[[ $(jobrun status b) == *"0 of 1 GPUs free"*"a.1 of $(id -un)"*"$OWN_ONLY"* ]]'
  jobrun devices --hosts h1 >said 2>why
  [[ $(cat said) == *"a.1 by $(id -un)"* ]]
  [[ $(cat why) == *"host 'h1': "*"only your own runs share"* ]]
  touch a.go
  jobrun wait --timeout 5m a b
}
