# TPU VMs: a stand-in of the API, whose addresses lead to real sshd.
load helper
load sshd
load google

# pod FILE [COMMAND [MORE]]: a v3-32, four VMs
pod() {
  cat >"$1" <<YAML
jobId: pod
labels: {owner: vision}
trainingInput:
  scaleTier: CUSTOM
  masterType: n1-highcpu-16
  workerType: cloud_tpu
  workerCount: 1
  workerConfig:
    acceleratorConfig: {type: TPU_V3, count: 32}
jobrun:
  provider: tpu-vm
  zone: europe-west4-a
  grace: 2s
  command: [sh, -c, $(printf '%s' "${2:-echo hello}" | python3 -c 'import json,sys; print(json.dumps(sys.stdin.read()))')]
${3:-}
YAML
}

# What the stand-in says of every node; MORE is JSON to merge.
nodes_are() {
  python3 - "$SSH_NET" "${1:-{\}}" >told.json <<'PY'
import json, sys
net, more = sys.argv[1], json.loads(sys.argv[2])
star = {"endpoints": [{"ipAddress": f"{net}.{i}", "port": 8470,
                       "accessConfig": {"externalIp": f"{net}.{i}"}}
                      for i in (1, 2, 3, 4)],
        "script": [{"state": "CREATING"},
                   {"state": "READY", "health": "HEALTHY"}]}
star.update(more.pop("*", {}))
print(json.dumps({"tpu": {"*": star, **more}}))
PY
  tell state @told.json
}

made() {
  curl -sf "$BASE/_/made" | python3 -c 'import json,sys; print(len(json.load(sys.stdin)))'
}

# begin [JSON]: as nodes_are
begin() {
  start_google
  sshd_up 4
  nodes_are "$@"
}

teardown() {
  sshd_down
  local pid
  for pid in $(marked); do kill -9 "$pid" 2>/dev/null || true; done
  cd /
  rm -rf "$TMP"
}

@test "a pod is made, runs on four VMs in the form of xla_dist, and is deleted" {
  begin
  pod job.yaml 'echo "| Training Device=xla:0/$((TPU_WORKER_ID * 8)) Epoch=1 Step=0 Loss=6.87500 Rate=258.47"; [ $TPU_WORKER_ID != 0 ] || sleep 1'
  run jobrun plan job.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"+ tpu-vm  pod"* ]]
  [[ $output == *"known after apply"* ]]
  [[ $output == *"is deleted when the run ends"* ]]
  run jobrun apply --yes job.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"tpu-vm 'pod': CREATING in europe-west4-a"* ]]
  for i in 0 1 2 3; do
    [[ $output == *" $SSH_NET.$((i + 1)) [$i] | Training Device=xla:0/$((i * 8)) Epoch=1 Step=0 Loss=6.87500"* ]]
  done
  [[ $output == *"pod: SUCCEEDED"* ]]
  [ "$(made)" -eq 0 ]
  [ "$(body POST '/nodes' 'b["acceleratorType"], b["labels"]["owner"], b["labels"]["jobrun-job"]')" = \
    "('v3-32', 'vision', 'pod')" ]
  run jobrun apply --yes job.yaml
  [ "$status" -eq 0 ]
  [[ $output == *"already succeeded"* ]]
  [ "$(asked POST '/nodes')" -eq 1 ]
  end_google
  wait_until 15 nothing_runs
}
