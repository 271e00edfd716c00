# The GPUs of a machine that runs take, each for itself alone.
load helper
load nvml

# What the tasks of a run have said, sorted.
said() {
  jobrun logs "$1" | sed 's/^.*\] //' | sort | tr '\n' ';'
}

SEES='echo "$CUDA_DEVICE_ORDER $CUDA_VISIBLE_DEVICES $LOCAL_RANK"'

@test "leases: runs have GPUs of their own, and wait only for busy ones" {
  nvml 4
  gpus a.yaml a "$SEES; $(held a)" 3
  gpus b.yaml b "$SEES; $(held b)" 2
  gpus c.yaml c "$SEES" 1
  jobrun apply --detach a.yaml
  wait_until 10 state_is a RUNNING
  [ "$(jobrun env a.yaml | grep CUDA_VISIBLE_DEVICES)" = "CUDA_VISIBLE_DEVICES=0,1,2" ]
  [[ $(jobrun devices) == *"a.1 by $(id -un)"* ]]
  [ "$(jobrun devices --format json |
    python3 -c 'import json,sys; print([(x["lease"] or {}).get("run") for x in json.load(sys.stdin)["devices"]])')" = \
    "['a.1', 'a.1', 'a.1', None]" ]
  jobrun apply --detach b.yaml
  wait_until 10 waits b "1 of 4 GPUs free, it needs 2; a.1 of $(id -un) holds 3 since 20"
  # There is one for it, but the other was first.
  jobrun apply --detach c.yaml
  wait_until 10 waits c "1 run before it in the queue for GPUs"
  state_is b QUEUED
  touch a.go
  jobrun wait --timeout 5m a
  wait_until 10 state_is b RUNNING
  jobrun wait --timeout 5m c
  touch b.go
  jobrun wait --timeout 5m b
  [ "$(said a)" = "PCI_BUS_ID 0,1,2 0;" ]
  [ "$(said b)" = "PCI_BUS_ID 0,1 0;" ]
  [ "$(said c)" = "PCI_BUS_ID 2 0;" ]
  wait_until 15 nothing_runs
  [ "$(ls lock)" = devices ]
}

@test "leases: more than there are is said before anything is queued" {
  nvml 2:0e5
  gpus a.yaml a true 2
  run jobrun plan a.yaml
  [[ $output == *"it asks for 2 GPUs in all, and this machine has 1 alike that are well"* ]]
  run jobrun apply a.yaml
  [ "$status" -eq 65 ]
  [[ $output == *"jobrun.local: {devices: ignore} runs it without any"* ]]
  run jobrun status a
  [ "$status" -eq 66 ]
  echo '  local: {devices: ignore}' >>a.yaml
  jobrun apply a.yaml
  [ -z "$(jobrun env a.yaml | grep CUDA_VISIBLE)" ]
  # A machine that has none lets it run, but for those who insist.
  nvml 'init!9'
  gpus b.yaml b "$SEES" 2
  jobrun apply b.yaml
  [ "$(said b)" = "  0;" ]
  gpus c.yaml c true 2 "" "  local: {devices: strict}"
  run jobrun apply c.yaml
  [ "$status" -eq 65 ]
  [[ $output == *"it asks for 2 GPUs, but this machine has none"* ]]
}

@test "leases: another type than asked for is in the plan, or refused" {
  nvml 2
  gpus a.yaml a true 1
  [[ $(jobrun plan a.yaml) != *"it asks for"* ]]
  sed -i 's/NVIDIA_H100_80GB/NVIDIA_TESLA_T4/' a.yaml
  [[ $(jobrun plan a.yaml) == *"it asks for NVIDIA_TESLA_T4, and gets NVIDIA H100 80GB HBM3 here"* ]]
  jobrun apply a.yaml
  echo '  local: {devices: strict}' >>a.yaml
  run jobrun apply a.yaml
  [ "$status" -eq 65 ]
  [[ $output == *"jobrun.local.devices is strict"* ]]
}

@test "leases: a process of somebody else's keeps a GPU busy, and is named" {
  sleep $NAP &
  other=$!
  wait_until 10 grep -q sleep /proc/$other/comm
  nvml "2:1=$other"
  gpus a.yaml a "$SEES" 2
  jobrun apply --detach a.yaml
  wait_until 10 waits a "1 of 2 GPUs free, it needs 2; GPU 1 is used by sleep (pid $other of $(id -un))"
  gpus b.yaml b "$SEES" 1
  jobrun apply --detach b.yaml
  wait_until 10 waits b "1 run before it"
  jobrun cancel a
  jobrun wait --timeout 5m b
  gpus a.yaml a "$SEES" 2
  jobrun apply --rerun --share-devices a.yaml
  gpus a.yaml a "$SEES; true" 2
  jobrun apply --detach a.yaml
  wait_until 10 waits a "1 of 2 GPUs free"
  kill $other
  wait $other || true
  jobrun wait --timeout 5m a
  [ "$(said a)" = "PCI_BUS_ID 0,1 0;" ]
}

@test "leases: machines on this one have GPUs of their own, and ranks as apart" {
  nvml 4:3/2
  gpus a.yaml a "$SEES \$GROUP_RANK" 1 "  workerType: n1-standard-4
  workerCount: 2
  workerConfig: {acceleratorConfig: {type: NVIDIA_H100_80GB, count: 1}}"
  jobrun apply a.yaml
  [ "$(said a)" = "PCI_BUS_ID 0 0 0;PCI_BUS_ID 1 0 1;PCI_BUS_ID 2 0 2;" ]
  # Of slices the names.
  nvml 1:0/2
  gpus b.yaml b "$SEES" 1 "" "  processesPerHost: 2"
  jobrun apply b.yaml
  [ "$(said b)" = "PCI_BUS_ID MIG-0-0-0 0;PCI_BUS_ID MIG-0-0-0 1;" ]
}

@test "leases: trials at a time have GPUs of their own" {
  nvml 5
  gpus a.yaml a 'echo "$CUDA_VISIBLE_DEVICES" >>'"$TMP"'/seen; until [ "$(cat '"$TMP"'/seen | wc -l)" -ge 2 ]; do sleep 0.05; done; echo "loss=1"' 2 \
    "  hyperparameters: {goal: MINIMIZE, hyperparameterMetricTag: loss, maxTrials: 4, maxParallelTrials: 3, params: [{parameterName: x, type: DOUBLE, minValue: 0, maxValue: 1}]}"
  [[ $(jobrun plan a.yaml) == *"2 trials run at a time, on 2 GPUs each"* ]]
  jobrun apply a.yaml
  [ "$(sort -u seen | tr '\n' ' ')" = "0,1 2,3 " ]
  [ "$(wc -l <seen)" -eq 4 ]
}

@test "leases: whoever is killed, no GPU is another's before all of it is gone" {
  nvml 2
  gpus a.yaml a "$(held a)" 2
  gpus b.yaml b "$SEES" 2
  gpus c.yaml c "$SEES" 1
  jobrun apply --detach a.yaml
  wait_until 10 state_is a RUNNING
  for id in b c; do jobrun apply --detach $id.yaml; done
  wait_until 10 waits c "1 run before"
  # One that waits, then the one that holds.
  kill -9 "$(tr -d ' ' <state/runs/b.1/lock)"
  wait_until 10 waits c "0 of 2 GPUs free"
  kill -9 "$(tr -d ' ' <state/runs/a.1/lock)"
  jobrun wait --timeout 5m c
  state_is a FAILED
  state_is b FAILED
  wait_until 15 nothing_runs
  [ "$(ls lock)" = devices ]
}

@test "leases: where users can share no folder, each has one, and plan says so" {
  nvml 2
  unset JOBRUN_LOCK_DIR
  gpus a.yaml a "$(held a)" 1
  run unshared "$JOBRUN" plan a.yaml
  [[ $output == *"$OWN_ONLY"* ]]
  unshared "$JOBRUN" apply --detach a.yaml
  wait_until 20 state_is a RUNNING
  unshared "$JOBRUN" devices >said 2>why
  [[ $(cat said) == *"a.1 by $(id -un)"* ]]
  [[ $(cat why) == *"only your own runs share"* ]]
  touch a.go
  jobrun wait --timeout 5m a
}
