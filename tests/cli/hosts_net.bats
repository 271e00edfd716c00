# Hosts with networks of their own, so that one can be cut off: needs root and
# network namespaces.
# bats file_tags=server
load helper
load sshd
load hosts_net
load google

setup_file() {
  net_needed
}

teardown() {
  net_down
  cd /
  rm -rf "$TMP"
}

@test "a host that is cut off: within 15 s the run fails and says which" {
  local begin
  net_up 3
  host_job a.yaml a h1,h2,h3 "sleep $NAP" '  hostLease: 20s'
  jobrun apply --detach a.yaml
  wait_until 20 state_is a RUNNING
  net_cut 2
  begin=$SECONDS
  run timeout 30 "$JOBRUN" wait a
  [ "$status" -eq 1 ]
  # A busy machine takes some of its own.
  [ $((SECONDS - begin)) -le 25 ]
  [[ $(field a 'j["error"]') == *"worker 0 was lost: host 'h2': it no longer answers"* ]]
  [ -z "$(naps_in h1)$(naps_in h3)" ]
  # The one that nobody can reach ends by itself.
  [ -n "$(naps_in h2)" ]
  wait_until 40 eval '[ -z "$(naps_in h2)" ]'
}

@test "a link that is down for a moment does no harm" {
  net_up 2
  host_job a.yaml a h1,h2 \
    "i=0; until [ -e $TMP/stop ]; do i=\$((i+1)); echo line \$i; sleep 0.01; done; echo \$i >&2"
  jobrun apply --detach a.yaml
  wait_until 20 state_is a RUNNING
  net_cut 2
  sleep 4
  net_join 2
  sleep 2
  touch stop
  timeout 60 "$JOBRUN" wait a
  seq -f 'line %.0f' "$(cat state/runs/a.1/logs/worker-0.stderr)" |
    cmp - state/runs/a.1/logs/worker-0.stdout
}

@test "hosts that do not reach each other: the check says so before the start" {
  net_up 2
  ip -n "$NET-h2" route add blackhole "$SSH_NET.1/32"
  host_job a.yaml a h1,h2 'echo never'
  run jobrun apply a.yaml
  [ "$status" -eq 1 ]
  [[ $output == *"host 'h2': it does not reach 'h1' at $SSH_NET.1 port "*": add a firewall rule that allows tcp:"*" from $SSH_NET.2"* ]]
  refute grep -q '\] never' <<<"$output"
}

@test "a host that does not reach its peer is left out of the next attempt where there is another" {
  net_up 3
  ip -n "$NET-h2" route add blackhole "$SSH_NET.1/32"
  host_job a.yaml a h1,h2,h3 'echo on' '  restart: {maxRestarts: 1, backoff: 0s}'
  sed -i 's/workerCount: 2/workerCount: 1/' a.yaml
  run timeout 90 "$JOBRUN" apply a.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"attempt 1 FAILED: host 'h"[12]"': it does not reach 'h"[12]"' at "* ]]
  [[ $(field a 'sorted(t["host"] for t in j["tasks"])') == "['h"[12]"', 'h3']" ]]
}

@test "a firewall that lets all through but a port of TPUs: which, between whom, and the rule" {
  net_up 4
  start_google
  python3 - "$SSH_NET" >told.json <<'PY'
import json, sys
print(json.dumps({"tpu": {"*": {"endpoints": [
    {"ipAddress": f"{sys.argv[1]}.{i}", "port": 8470} for i in (1, 2, 3, 4)]}}}))
PY
  tell state @told.json
  # What answers from there is lost.
  ip -n "$NET-h3" rule add ipproto tcp sport 8476 blackhole ||
    skip "needs rules for ports"
  cat >pod.yaml <<YAML
jobId: pod
trainingInput:
  scaleTier: CUSTOM
  workerType: cloud_tpu
  workerCount: 1
  workerConfig:
    acceleratorConfig: {type: TPU_V3, count: 32}
jobrun:
  provider: tpu-vm
  zone: europe-west4-a
  network: projects/proj-1/global/networks/pods
  command: [echo, never]
YAML
  run jobrun apply --yes pod.yaml
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output =~ "it does not reach '$SSH_NET.3' at $SSH_NET.3 port 8476 (no answer): add a firewall rule that allows tcp:8476 from $SSH_NET."[124]"; try: gcloud compute firewall-rules create pods-jobrun --network=pods --allow=tcp --source-ranges=10.0.0.0/8" ]]
  refute grep -q '\] never' <<<"$output"
  [ "$(curl -sf "$BASE/_/made")" = "[]" ]
  end_google
}
