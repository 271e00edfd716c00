# Hosts with networks of their own, so that one can be cut off and joined again.
# Needs sshd.bash, root and network namespaces.

net_needed() {
  [ "$(id -u)" = 0 ] || skip "needs root"
  ip netns add "jobrun-probe-$$" 2>/dev/null || skip "needs network namespaces"
  ip netns del "jobrun-probe-$$"
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
    net_start "h$i"
  done
  printf 'Host *\n  Port %s\n  IdentityFile %s\n  IdentitiesOnly yes\n' \
    "$SSH_PORT" "$SSH/id" >>"$SSH/config"
  export JOBRUN_SSH_CONFIG=$SSH/config
  for i in $(seq "$1"); do wait_until 10 sshd_answers "h$i"; done
}

# net_start hN: its sshd
net_start() {
  nsenter --net="/run/netns/$NET-$1" /usr/sbin/sshd \
    -f "$SSH/$1/sshd_config" -E "$SSH/$1/log"
}

net_cut() {
  ip link set "$NET-$1" down
}

net_join() {
  ip link set "$NET-$1" up
}

# What runs there: connections, agents, tasks.
net_processes() {
  ip netns pids "$NET-h$1"
}

net_down() {
  local i pid
  sshd_down
  for pid in $(marked); do kill -9 "$pid" 2>/dev/null || true; done
  [ -n "${NET:-}" ] || return 0
  for i in 1 2 3 4; do
    for pid in $(net_processes "$i" 2>/dev/null); do
      kill -9 "$pid" 2>/dev/null || true
    done
    ip link del "$NET-$i" 2>/dev/null || true
    ip netns del "$NET-h$i" 2>/dev/null || true
  done
  ip link del "$NET" 2>/dev/null || true
}

naps_in() {
  local pid
  for pid in $(pgrep -f "sleep $NAP"); do
    [ "$(readlink "/proc/$pid/ns/net")" != \
      "$(nsenter --net="/run/netns/$NET-$1" readlink /proc/self/ns/net)" ] ||
      echo "$pid"
  done
}
