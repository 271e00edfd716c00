# Hosts with networks of their own, so that one can be cut off: needs root and
# network namespaces.
# bats file_tags=server
load helper
load sshd
load google

setup_file() {
  [ "$(id -u)" = 0 ] || skip "needs root"
  ip netns add jobrun-probe 2>/dev/null || skip "needs network namespaces"
  ip netns del jobrun-probe
}

# net_up COUNT: h1 … with an address and a link each, all on one bridge
net_up() {
  local i
  NET=jr$((RANDOM % 1000))
  SSH_NET=10.$((100 + RANDOM % 100)).$((RANDOM % 250))
  ip link add "$NET" type bridge
  ip addr add "$SSH_NET.254/24" dev "$NET"
  ip link set "$NET" up
  mkdir -p /run/sshd "$TMP/ssh"
  SSH=$TMP/ssh
  SSH_PORT=2222
  ssh-keygen -q -t ed25519 -N '' -f "$SSH/id"
  for i in $(seq "$1"); do
    ip netns add "$NET-h$i"
    ip link add "$NET-$i" type veth peer name eth0 netns "$NET-h$i"
    ip link set "$NET-$i" master "$NET" up
    ip -n "$NET-h$i" addr add "$SSH_NET.$i/24" dev eth0
    ip -n "$NET-h$i" link set eth0 up
    ip -n "$NET-h$i" link set lo up
    mkdir -p "$SSH/h$i"
    ssh-keygen -q -t ed25519 -N '' -f "$SSH/h$i/key"
    printf 'Host h%s\n  HostName %s.%s\n  HostKeyAlias h%s-%s\n' \
      "$i" "$SSH_NET" "$i" "$i" "$SSH_PORT" >>"$SSH/config"
    sshd_config "h$i"
    nsenter --net="/run/netns/$NET-h$i" /usr/sbin/sshd \
      -f "$SSH/h$i/sshd_config" -E "$SSH/h$i/log"
  done
  printf 'Host *\n  Port %s\n  IdentityFile %s\n  IdentitiesOnly yes\n' \
    "$SSH_PORT" "$SSH/id" >>"$SSH/config"
  export JOBRUN_SSH_CONFIG=$SSH/config
  for i in $(seq "$1"); do wait_until 10 sshd_answers "h$i"; done
}

teardown() {
  local i pid
  sshd_down
  for pid in $(marked); do kill -9 "$pid" 2>/dev/null || true; done
  if [ -n "${NET:-}" ]; then
    for i in 1 2 3 4; do
      ip link del "$NET-$i" 2>/dev/null || true
      ip netns del "$NET-h$i" 2>/dev/null || true
    done
    ip link del "$NET" 2>/dev/null || true
  fi
  cd /
  rm -rf "$TMP"
}

naps_in() {
  local pid
  for pid in $(pgrep -f "sleep $NAP"); do
    [ "$(readlink "/proc/$pid/ns/net")" != \
      "$(nsenter --net="/run/netns/$NET-$1" readlink /proc/self/ns/net)" ] ||
      echo "$pid"
  done
}

@test "a host that is cut off: within 15 s the run fails and says which" {
  local begin
  net_up 3
  host_job a.yaml a h1,h2,h3 "sleep $NAP" '  hostLease: 20s'
  jobrun apply --detach a.yaml
  wait_until 20 state_is a RUNNING
  ip link set "$NET-2" down
  begin=$SECONDS
  run timeout 30 "$JOBRUN" wait a
  [ "$status" -eq 1 ]
  [ $((SECONDS - begin)) -le 15 ]
  [[ $(field a 'j["error"]') == *"worker 0 was lost: host 'h2': it does not answer any more"* ]]
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
  ip link set "$NET-2" down
  sleep 4
  ip link set "$NET-2" up
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
  [[ $output == *"host 'h2': it does not reach 'h1' at $SSH_NET.1 port "*": a firewall rule is missing that lets tcp:"*" in from $SSH_NET.2"* ]]
  refute grep -q '\] never' <<<"$output"
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
  [[ $output =~ "it does not reach '$SSH_NET.3' at $SSH_NET.3 port 8476 (no answer): a firewall rule is missing that lets tcp:8476 in from $SSH_NET."[124]"; try: gcloud compute firewall-rules create pods-jobrun --network=pods --allow=tcp --source-ranges=10.0.0.0/8" ]]
  refute grep -q '\] never' <<<"$output"
  [ "$(curl -sf "$BASE/_/made")" = "[]" ]
  end_google
}
