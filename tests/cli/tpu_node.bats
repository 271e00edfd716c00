# TPU nodes: a stand-in of the APIs, whose VMs' addresses lead to real sshd.
load helper
load sshd
load google

# node_job FILE [COMMAND [MORE]]: a v3-32, four VMs beside it
node_job() {
  cat >"$1" <<YAML
jobId: imagenet
labels: {owner: vision}
trainingInput:
  scaleTier: CUSTOM
  masterType: n1-standard-16
  workerType: cloud_tpu
  workerCount: 1
  workerConfig:
    acceleratorConfig: {type: TPU_V3, count: 32}
jobrun:
  provider: tpu-node
  zone: europe-west4-a
  grace: 2s
  command: [sh, -c, $(printf '%s' "${2:-echo hello}" | python3 -c 'import json,sys; print(json.dumps(sys.stdin.read()))')]
  tpu-node: {runtimeVersion: pytorch-1.13${3:-}}
YAML
}

begin() {
  start_google
  sshd_up 4
  tell state '{"tpu": {"*": {"hosts": 4, "script": [{"state": "CREATING"}, {"state": "READY", "health": "HEALTHY"}]}},
    "compute": {"addresses": ["'$SSH_NET'.1", "'$SSH_NET'.2", "'$SSH_NET'.3", "'$SSH_NET'.4"]}}'
}

teardown() {
  sshd_down
  local pid
  for pid in $(marked); do kill -9 "$pid" 2>/dev/null || true; done
  cd /
  rm -rf "$TMP"
}

@test "template, group and node are made, used in the form of xla_dist, and deleted" {
  begin
  node_job job.yaml 'echo "| Training Device=xla:0/$((XRT_SHARD_ORDINAL * 8)) Epoch=1 Step=0 Loss=6.87500"; echo "$XRT_LOCAL_WORKER $XRT_MESH_SERVICE_ADDRESS $XRT_TPU_CONFIG"; [ $XRT_SHARD_ORDINAL != 0 ] || sleep 1'
  run jobrun plan job.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"+ instance-template  imagenet"* ]]
  [[ $output == *"+ instance-group     imagenet"* ]]
  [[ $output == *"+ tpu-node           imagenet"* ]]
  [[ $output == *"deprecated TPU nodes in April 2025"* ]]
  run jobrun apply --yes job.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"instance-group 'imagenet': 0 of 4 VMs run"* ]]
  for i in 0 1 2 3; do
    [[ $output == *" $SSH_NET.$((i + 1)) [$i] | Training Device=xla:0/$((i * 8)) Epoch=1 Step=0 Loss=6.87500"* ]]
    [[ $output == *"c_tpu_worker:$i $SSH_NET.1:8477"* ]]
  done
  [[ $output == *"c_tpu_worker;0;10.240.1.2:8470|c_tpu_worker;1;10.240.1.3:8470|"* ]]
  [ "$(made)" -eq 0 ]
  [ "$(body POST '/instanceGroupManagers$' 'b["targetSize"]')" = 4 ]
  [ "$(body POST 'v1/.*/nodes' 'b["acceleratorType"], b["tensorflowVersion"]')" = "('v3-32', 'pytorch-1.13')" ]
  end_google
  wait_until 5 nothing_runs
}

@test "a VM that never runs, a task that fails, gc: nothing stays" {
  begin
  tell state '{"compute": {"stuck": 1}}'
  node_job job.yaml 'echo hello' ', readyTimeout: 2s'
  run jobrun apply --yes job.yaml
  echo "$output"
  [ "$status" -eq 124 ]
  [[ $output == *"not usable after 2s (3 of 4 VMs run; imagenet-0003: CREATING)"* ]]
  [ "$(made)" -eq 0 ]
  tell state '{"compute": {"addresses": ["'$SSH_NET'.1", "'$SSH_NET'.2", "'$SSH_NET'.3", "'$SSH_NET'.4"]}}'
  node_job job.yaml 'exit 3'
  run jobrun apply --yes job.yaml
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *"exited with 3"* ]]
  [ "$(made)" -eq 0 ]
  # What stays as the file says is found by another machine, which knows when
  # it expires; and deleted with the job.
  sed -i 's/grace: 2s/cleanup: never/' job.yaml
  run jobrun apply --yes job.yaml
  [ "$(made)" -eq 3 ]
  JOBRUN_STATE_DIR=$TMP/other run jobrun gc --provider tpu-node --older-than 0s
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"nothing was found"* ]]
  run jobrun delete imagenet
  echo "$output"
  [ "$status" -eq 0 ]
  [ "$(made)" -eq 0 ]
  end_google
}
