# Hosts for tests: sshd from the distribution, one process for each, on the
# loopback network, as the user who runs the tests.  SSH_PATH is their PATH.

# sshd_up COUNT: $TMP/ssh/hN/ each with folders of its own, reached as hN by
# the configuration in JOBRUN_SSH_CONFIG.  Their keys are known under other
# names: somebody may know another h1.
sshd_up() {
  local sshd i
  sshd=$(command -v sshd || echo /usr/sbin/sshd)
  [ -x "$sshd" ] || skip "needs openssh-server"
  # As root it wants this; of others it is not asked.
  [ "$(id -u)" != 0 ] || mkdir -p /run/sshd
  SSH=$TMP/ssh
  mkdir -p "$SSH"
  ssh-keygen -q -t ed25519 -N '' -f "$SSH/id"
  # Far from what the kernel gives away by itself.
  SSH_PORT=$((20000 + RANDOM % 8000))
  SSH_NET=127.$((1 + RANDOM % 250)).$((RANDOM % 250))
  export JOBRUN_SSH_CONFIG=$SSH/config
  for i in $(seq "$1"); do
    mkdir -p "$SSH/h$i"
    ssh-keygen -q -t ed25519 -N '' -f "$SSH/h$i/key"
    printf 'Host h%s\n  HostName %s.%s\n  HostKeyAlias h%s-%s\n' \
      "$i" "$SSH_NET" "$i" "$i" "$SSH_PORT" >>"$SSH/config"
    sshd_start "h$i"
  done
  printf 'Host *\n  Port %s\n  IdentityFile %s\n  IdentitiesOnly yes\n' \
    "$SSH_PORT" "$SSH/id" >>"$SSH/config"
  for i in $(seq "$1"); do wait_until 10 sshd_answers "h$i"; done
}

sshd_answers() {
  (: <"/dev/tcp/$SSH_NET.${1#h}/$SSH_PORT") 2>/dev/null
}

# HOME, so that what the user's shell does as it starts is no part of a test.
# More variables of one host: $SSH/hN/env.
sshd_config() {
  local dir=$SSH/$1
  cat >"$dir/sshd_config" <<E
ListenAddress $SSH_NET.${1#h}:$SSH_PORT
HostKey $dir/key
AuthorizedKeysFile $SSH/id.pub
PidFile $dir/pid
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
StrictModes no
UsePAM no
PrintMotd no
MaxStartups 100
SetEnv HOME=$dir XDG_STATE_HOME=$dir/state XDG_CACHE_HOME=$dir/cache JOBRUN_STATE_DIR=$TMP/state${SLURM_CONF:+ SLURM_CONF=$SLURM_CONF}${SSH_PATH:+ PATH=$SSH_PATH} $(cat "$dir/env" 2>/dev/null)
E
}

# sshd_start hN [OPTION...]
sshd_start() {
  local sshd dir=$SSH/$1
  sshd=$(command -v sshd || echo /usr/sbin/sshd)
  sshd_config "$1"
  "$sshd" -f "$dir/sshd_config" -E "$dir/log" "${@:2}"
}

sshd_stop() {
  kill "$(cat "$SSH/$1/pid")"
  wait_until 5 test ! -e "$SSH/$1/pid"
}

sshd_down() {
  local file
  # Why a connection was refused is not said to the client.
  [ -n "${BATS_TEST_COMPLETED:-}" ] || tail -n 5 "$TMP"/ssh/h*/log 2>/dev/null || true
  for file in "$TMP"/ssh/h*/pid; do
    [ ! -f "$file" ] || kill "$(cat "$file")" 2>/dev/null || true
  done
}

# host_job FILE ID HOSTS COMMAND [MORE]: a master and workers, one per host
host_job() {
  local count
  count=$(tr ',' '\n' <<<"$3" | wc -l)
  cat >"$1" <<EOF
jobId: $2
trainingInput:
  scaleTier: CUSTOM
  masterType: n1-standard-4
$([ "$count" = 1 ] || printf '  workerType: n1-standard-4\n  workerCount: %s\n' $((count - 1)))
jobrun:
  hosts: [$3]
  grace: 2s
  command: [sh, -c, $(printf '%s' "$4" | python3 -c 'import json,sys; print(json.dumps(sys.stdin.read()))')]
${5:-}
EOF
}

# all_of N VARIABLE: what ends a task's script, so that the first of N, whose
# end is that of the run, does not end before the others have got so far.
all_of() {
  printf 'touch %s/here.$%s; ' "$TMP" "$2"
  printf '[ $%s != 0 ] || until [ $(ls %s/here.* | wc -l) = %d ]; do sleep 0.1; done' \
    "$2" "$TMP" "$1"
}

# What an agent keeps of runs on a host: nothing, when all is over.
host_is_clean() {
  [ -z "$(find "$SSH/$1/state/jobrun/hosts" -mindepth 1 -type d 2>/dev/null)" ]
}
