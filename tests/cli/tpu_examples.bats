# Both examples of TPUs as they are, but for the programs that they start: the
# stand-in's list of what costs money is empty whatever way they end.
# bats file_tags=server
load helper
load sshd
load google

IMAGENET=$BATS_TEST_DIRNAME/../../examples/tpu-node-imagenet/job.yaml
CIFAR=$BATS_TEST_DIRNAME/../../examples/tpu-vm-cifar-webdataset/job.yaml
READY='{"state": "READY", "health": "HEALTHY"}'
SMALL=(--rerun --set trainingInput.workerConfig.acceleratorConfig.count=8
  --set jobrun.restart.backoff=0s)

# program NAME SCRIPT: one that only the VMs have
program() {
  printf '#!/bin/bash\n%s\n' "$2" >"bin/$1"
  chmod +x "bin/$1"
}

begin() {
  start_google
  mkdir bin
  SSH_PATH=$PWD/bin:/usr/bin:/bin
  program pip3 ''
  program conda 'while [ "$1" != python ]; do shift; done; exec "$@"'
  program python 'exec python3 "$@"'
  # What trains ends when it may, and fails if it shall.
  program python3 "cd $TMP
    echo \"| Training Device=xla:0/\$((RANK * 8)) Epoch=1 Step=0 Loss=6.87500 Rate=258.47 GlobalRate=258.47\"
    touch up.\$CLOUD_ML_JOB_ID
    touch here.\$CLOUD_ML_JOB_ID.\$RANK
    # The run ends with the first, and the others' lines are looked for.
    [ \$RANK != 0 ] ||
      until [ \$(ls here.\$CLOUD_ML_JOB_ID.* | wc -l) -ge \$WORLD_SIZE ]; do sleep 0.1; done
    while [ -e hold ]; do sleep 0.1; done
    [ ! -e fail ]"
  sshd_up 4
  things_are 4 "$READY"
}

# things_are HOSTS STATE
things_are() {
  local i vm all=
  for i in $(seq "$1"); do
    vm=$SSH_NET.$i
    all+=${all:+, }'{"ipAddress": "'$vm'", "port": 8470, "accessConfig": {"externalIp": "'$vm'"}}'
  done
  tell state '{"tpu": {"*": {"script": ['"$2"'], "endpoints": ['"$all"']}},
    "compute": {"starting": 0, "addresses": ["'$SSH_NET'.1", "'$SSH_NET'.2", "'$SSH_NET'.3", "'$SSH_NET'.4"]}}'
}

apply_both() {
  "$JOBRUN" apply --yes "$@" "$IMAGENET" "$CIFAR"
}

# In the background, as $!; what was up before is so no more.
begin_both() {
  rm -f up.*
  "$JOBRUN" apply --yes "$@" "$IMAGENET" "$CIFAR" >out 2>&1 3>&- &
}

both_are_up() {
  [ -e up.imagenet_pod ] && [ -e up.cifar_wds ]
}

are_made() {
  [ "$(made)" -eq "$1" ]
}

# All of jobrun that this test has begun here, at once; what it has begun on
# the VMs stays.
kill_jobrun() {
  local pid pids=
  for pid in $(marked); do
    ! tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null |
      grep -Eq "^($JOBRUN apply|jobrun supervise) " || pids+=" $pid"
  done
  [ -n "$pids" ]
  # One may end by itself this moment.
  kill -9 $pids 2>/dev/null || true
}

@test "success: lines of four workers, metrics, and nothing stays" {
  begin
  run jobrun plan "$IMAGENET" "$CIFAR"
  [[ $output == *"Plan: 2 to run, 4 to create."* ]]
  [ "$(asked POST '/nodes')" -eq 0 ]
  run apply_both
  echo "$output"
  [ "$status" -eq 0 ]
  for i in 0 1 2 3; do
    [ "$(grep -c "^....-..-.. ..:..:.. $SSH_NET.$((i + 1)) \[$i\] | Training Device=xla:0/$((i * 8)) Epoch=1 Step=0 Loss=6.87500 Rate=258.47 " <<<"$output")" -eq 2 ]
  done
  [[ $output == *"2 jobs: 2 succeeded"* ]]
  [ "$(jobrun logs cifar_wds --task worker --index 2 | grep -c 'xla:0/16')" -eq 1 ]
  [[ "$(jobrun metrics imagenet_pod)" == *6.875* ]]
  [ "$(made)" -eq 0 ]
  end_google
}

# It takes connections, and says nothing.
@test "one VM of four that never answers: the run ends, says which, and nothing stays" {
  begin
  kill -STOP "$(cat "$SSH/h3/pid")"
  run apply_both --set jobrun.tpu-node.sshTimeout=1s --set jobrun.tpu-vm.sshTimeout=1s \
    --set jobrun.restart.maxRestarts=0
  kill -CONT "$(cat "$SSH/h3/pid")"
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *"imagenet_pod: FAILED"*"$SSH_NET.3"* ]]
  [[ $output == *"cifar_wds: FAILED"*"$SSH_NET.3"* ]]
  refute test -e up.imagenet_pod -o -e up.cifar_wds
  [ "$(made)" -eq 0 ]
  end_google
}

@test "failure, cancel, Ctrl-C twice, kill -9: nothing stays" {
  begin
  things_are 1 "$READY"
  touch fail
  run apply_both "${SMALL[@]}"
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *"2 jobs: 2 failed"* ]]
  [ "$(made)" -eq 0 ]
  rm fail
  touch hold

  rm -f up.*
  apply_both "${SMALL[@]}" --detach
  wait_until 30 both_are_up
  [ "$(made)" -eq 4 ]
  jobrun cancel imagenet_pod
  jobrun cancel cifar_wds
  [ "$(made)" -eq 0 ]

  begin_both "${SMALL[@]}"
  wait_until 30 both_are_up
  press_ctrl_c_twice $! out
  wait $! || true
  wait_until 30 are_made 0

  # With the tasks under way, and ended when jobrun is back.
  begin_both "${SMALL[@]}"
  wait_until 30 both_are_up
  kill_jobrun
  [ "$(made)" -eq 4 ]
  rm hold
  run timeout 60 "$JOBRUN" apply --yes "${SMALL[@]:1}" "$IMAGENET" "$CIFAR"
  echo "$output"
  [ "$status" -eq 0 ]
  [ "$(made)" -eq 0 ]
  touch hold
  begin_both "${SMALL[@]}"
  wait_until 30 both_are_up
  kill_jobrun
  rm hold
  jobrun gc --yes
  wait_until 30 are_made 0

  # While it is made: whoever looks next has that go on.
  things_are 1 '{"state": "CREATING"}'
  begin_both "${SMALL[@]}"
  wait_until 30 are_made 4
  kill_jobrun
  run jobrun gc --yes
  echo "$output"
  things_are 1 "$READY"
  wait_until 60 are_made 0
  end_google
}
