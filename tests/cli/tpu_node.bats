# TPU nodes: a stand-in of the APIs, whose VMs' addresses lead to real sshd.
# bats file_tags=server
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

are_made() {
  [ "$(made)" -eq "$1" ]
}

@test "template, group and node are made, used in the form of xla_dist, and deleted" {
  begin
  node_job job.yaml 'echo "| Training Device=xla:0/$((XRT_SHARD_ORDINAL * 8)) Epoch=1 Step=0 Loss=6.87500"; echo "$XRT_LOCAL_WORKER $XRT_MESH_SERVICE_ADDRESS $XRT_TPU_CONFIG"; '"$(all_of 4 XRT_SHARD_ORDINAL)"
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
  [[ $output == *"nothing to clean up"* ]]
  run jobrun delete imagenet
  echo "$output"
  [ "$status" -eq 0 ]
  [ "$(made)" -eq 0 ]
  end_google
}

@test "a TPU node that another owner's run is on is left alone, whatever the second does" {
  begin
  node_job job.yaml "sleep $NAP"
  jobrun apply --yes --detach job.yaml
  wait_until 60 state_is imagenet RUNNING
  other_owner_is_refused tpu-node imagenet
  jobrun cancel imagenet
  [ "$(made)" -eq 0 ]
  end_google
}

is_renewed() {
  [ "$(asked PATCH '/v2/.*/nodes/imagenet')" -ge 1 ]
}

elsewhere_gc_says() {
  JOBRUN_STATE_DIR=$TMP/other "$JOBRUN" gc --provider tpu-node --older-than 0s >gc.out 2>&1
  grep -q "$1" gc.out
}

@test "with this machine gone, TPU and VMs expire with their lease, and gc of another finds them" {
  begin
  node_job job.yaml "sleep $NAP" ', lease: 20s, lookEvery: 1s'
  jobrun apply --yes --detach job.yaml
  wait_until 60 state_is imagenet RUNNING
  # Tasks end as soon as the machines do.
  [ "$(python3 -c 'import json; print(json.load(open("state/runs/imagenet.1/spec.json"))["hosts"]["leaseS"])')" = 20 ]
  wait_until 60 is_renewed
  [ "$(body PATCH '/v2/.*/nodes/imagenet' 'int(b["labels"]["jobrun-expires"]) - __import__("time").time() < 21')" = True ]
  s=$(tr -d ' \n' <state/runs/imagenet.1/lock)
  kill -9 "$(ps -o ppid= -p "$s" | tr -d ' ')" "$s"
  wait_until 90 elsewhere_gc_says 'tpu-node .*imagenet .*it has expired'
  cat gc.out
  grep -q 'instance-group .*imagenet .*it has expired' gc.out
  JOBRUN_STATE_DIR=$TMP/other jobrun gc --yes --provider tpu-node --older-than 0s
  [ "$(made)" -eq 0 ]
  jobrun cancel imagenet || true
  end_google
}

@test "stock-out: the next zone, and the VMs with it; quota: given up; a delete that fails is tried again" {
  begin
  tell state '{"tpu": {"*": {"hosts": 1, "delete": {"code": 13, "message": "An internal error occurred."}, "delete_times": 2,
      "script": [{"state": "READY", "health": "HEALTHY"}]},
    "europe-west4-a": {"create": {"code": 8, "message": "There is no more capacity in the zone"}}}}'
  node_job job.yaml 'echo hello' ', zones: [us-central1-a]'
  sed -i 's/count: 32/count: 8/' job.yaml
  run jobrun plan job.yaml
  echo "$output"
  [[ $output == *"the VMs are made when the TPU is ready, in the zone where it could be had"* ]]
  run jobrun apply --yes job.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *" [0] hello"* ]]
  [ "$(asked POST '/us-central1-a/nodes')" -eq 1 ]
  [ "$(asked POST '/zones/us-central1-a/instanceGroupManagers$')" -eq 1 ]
  [ "$(asked POST '/zones/europe-west4-a/instanceGroupManagers$')" -eq 0 ]
  [ "$(asked DELETE '/us-central1-a/nodes/imagenet')" -eq 3 ]
  [ "$(made)" -eq 0 ]

  tell state '{"tpu": {"*": {"create": {"now": true, "http": 429, "message": "Quota limit TPUV3sPerProjectPerZone has been exceeded. Limit: 0",
    "details": [{"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"subject": "p", "description": "Limit: 0"}]}]}}}}'
  run jobrun apply --yes --rerun job.yaml
  echo "$output"
  [ "$status" -eq 75 ]
  [[ $output == *"none of 2 zones has capacity, last us-central1-a: "*"TPUV3sPerProject"* ]]
  [ "$(made)" -eq 0 ]
  end_google
}

# image_is FROM: vms are there, and the job is one of a v3-8 with this.
image_is() {
  tell state '{"tpu": {"*": {"hosts": 1, "script": [{"state": "READY", "health": "HEALTHY"}]}},
    "compute": {"starting": 0, "addresses": ["'$SSH_NET'.1"], "image": ["PENDING", "READY"],
      "vms": {"mine": {"status": "RUNNING", "disk": "mine-boot"}, "other": {"status": "TERMINATED", "disk": "other-boot"}}},
    "iap": {"hosts": {"imagenet-0000": "'$SSH_NET'.1"}}}'
  node_job job.yaml 'echo hello' ", imageFrom: {$1}"
  sed -i 's/count: 32/count: 8/' job.yaml
}

@test "an image of a VM that was stopped: made first, used, and deleted; none of one that runs, unless the file says to stop it" {
  begin
  image_is 'vm: mine, family: torch-xla'
  run jobrun plan job.yaml
  echo "$output"
  [[ $output == *"+ disk-image         imagenet"*"sourceDisk  mine-boot"*"vmState     RUNNING"* ]]
  run jobrun apply --yes job.yaml
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *"VM 'mine' is RUNNING, but its disk must be idle to make an image: stop it with 'gcloud compute instances stop mine --zone=europe-west4-a --project=proj-1', or set jobrun.tpu-node.imageFrom.stop to true"* ]]
  [ "$(asked POST '/instances/mine/stop')" -eq 0 ]
  [ "$(asked POST '/global/images$')" -eq 0 ]
  [ "$(made)" -eq 0 ]

  run jobrun plan --set jobrun.tpu-node.imageFrom.stop=true job.yaml
  [[ $output == *"stopVm      true"*"VM 'mine' is stopped if it runs, and not started again"* ]]
  # And reached through Identity-Aware Proxy.
  run jobrun apply --yes --set jobrun.tpu-node.imageFrom.stop=true --set jobrun.tpu-node.iap=true job.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [ "$(asked GET '/iap_tunnel/v4/connect.*project=proj-1&instance=imagenet-0000&' 1)" -ge 1 ]
  [[ $output == *"disk-image 'imagenet': PENDING"* ]]
  [[ $output == *" [0] hello"* ]]
  [ "$(asked POST '/instances/mine/stop')" -eq 1 ]
  [ "$(body POST '/global/images$' 'b["sourceDisk"], b["family"], b["labels"]["owner"], b["labels"]["jobrun-job"], int(b["labels"]["jobrun-expires"]) > 0')" = \
    "('projects/proj-1/zones/europe-west4-a/disks/mine-boot', 'torch-xla', 'vision', 'imagenet', True)" ]
  [ "$(body POST '/instanceTemplates$' 'b["properties"]["disks"][0]["initializeParams"]["sourceImage"]')" = global/images/imagenet ]
  [ "$(asked DELETE '/images/imagenet')" -eq 1 ]
  [ "$(made)" -eq 0 ]
  end_google
}

@test "an image that is kept serves the next runs, is nobody's to gc, and goes with the job; one of another VM, or of nobody's, is not taken" {
  begin
  image_is 'vm: other, keep: true'
  run jobrun apply --yes job.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [ "$(made)" -eq 1 ]
  JOBRUN_STATE_DIR=$TMP/other jobrun gc --yes --provider tpu-node --older-than 0s
  jobrun gc --yes --provider tpu-node --older-than 0s
  [ "$(made)" -eq 1 ]
  # It is there still; its VM may go.
  tell state '{"compute": {"starting": 0, "addresses": ["'$SSH_NET'.1"]}}'
  jobrun apply --yes --rerun job.yaml
  [ "$(asked POST '/global/images$')" -eq 1 ]
  # Of another disk it is another image.
  image_is 'vm: other, keep: true'
  run jobrun apply --yes --set jobrun.tpu-node.imageFrom.vm=mine --set jobrun.tpu-node.imageFrom.stop=true job.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [ "$(asked DELETE '/images/imagenet')" -eq 1 ]
  [ "$(body POST '/global/images$' 'b["sourceDisk"]')" = projects/proj-1/zones/europe-west4-a/disks/mine-boot ]
  [ "$(made)" -eq 1 ]
  run jobrun delete imagenet
  echo "$output"
  [ "$status" -eq 0 ]
  [ "$(made)" -eq 0 ]

  # Somebody's, by chance of that name.
  image_is 'vm: other'
  tell state '{"compute": {"images": ["projects/proj-1/global/images/imagenet"]}}'
  run jobrun apply --yes job.yaml
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *"the project has an image 'imagenet' that does not belong to this job"* ]]
  [ "$(made)" -eq 1 ]
  end_google
}

# One more apply, or gc, of who was killed with the Nth of these; N is that of
# the machine, which has a project of its own.  tests/unit/test_tpu_kill.c has
# all requests, without the run between.
KILLS='apply POST global/instanceTemplates
gc POST global/instanceTemplates
gc GET global/operations/
gc POST instanceGroupManagers
apply POST /nodes[?]
gc POST listManagedInstances
apply GET /instances[?]
gc DELETE /nodes/
apply DELETE instanceGroupManagers/
apply DELETE instanceTemplates/'

# The command that is to go on, of the Nth.
goes_on_with() {
  sed -n "$1{s/ .*//;p}" <<<"$KILLS"
}

begin_here() {
  "$JOBRUN" apply --yes job.yaml || echo "killed: $?"
}

end_here() {
  if [ "$(goes_on_with "$1")" = gc ]; then
    jobrun gc --yes --provider tpu-node
  else
    jobrun apply --yes job.yaml
  fi && jobrun status
  echo "exit $?"
}

@test "kill -9 after requests of each kind: one more apply, or gc, and nothing stays" {
  begin
  tell state '{"tpu": {"*": {"hosts": 1, "script": [{"state": "READY", "health": "HEALTHY"}]}},
    "compute": {"starting": 0, "addresses": ["'$SSH_NET'.1"]}}'
  node_job job.yaml 'echo hello'
  # One host stands for all VMs: the jobs must not have one name there.
  sed -i 's/count: 32/count: 8/; s/^jobId: imagenet$/jobId: imagenetNTH/' job.yaml
  JOB=$(cat job.yaml)
  count=$(wc -l <<<"$KILLS")
  python3 - <<PY >faults.json
import json
print(json.dumps([
    {"do": "kill-client", "method": line.split()[1],
     "path": f"/projects/p{n}/.*{line.split()[2]}"}
    for n, line in enumerate("""$KILLS""".splitlines(), 1)]))
PY
  tell faults @faults.json
  each "$count" begin_here
  [ "$(curl -sf "$BASE/_/requests" | grep -o '"fault": "kill-client"' | wc -l)" -eq "$count" ]
  each "$count" end_here
  wait_until 15 are_made 0
  for n in $(seq "$count"); do
    cat "m$n/out"
    [[ $(tail -n 1 "m$n/out") == "exit 0" ]]
    refute grep -q 'not finished' "m$n/out"
  done
  # Those that went on have run once.
  for n in $(seq "$count"); do
    [ "$(goes_on_with "$n")" = gc ] || [ "$(grep -c '\[0\] hello' "m$n/out")" -eq 1 ]
  done
  end_google
  wait_until 15 nothing_runs
}
