# A real Slurm for tests, from the distribution's packages: a controller and
# four nodes, all of them processes on this machine, each slurmd with a name
# and a port of its own.  No namespace, no network but the loopback's, nothing
# outside of $SLURM.  slurmd wants root.

# slurm_up: sets SLURM, its folder, and SLURM_CONF
slurm_up() {
  local i
  PATH=$PATH:/usr/sbin:/sbin
  [ "$(id -u)" = 0 ] || skip "slurmd needs root"
  for i in munged slurmctld slurmd sbatch; do
    command -v $i >/dev/null || skip "needs $i"
  done
  SLURM=$BATS_FILE_TMPDIR/slurm
  export SLURM SLURM_CONF=$SLURM/slurm.conf
  mkdir -p "$SLURM"/{state,spool,log,pid,small}
  # Before the nodes start, which have mounts of their own.
  mount -t tmpfs -o size=3m jobrun-test "$SLURM/small" 2>/dev/null || true
  (umask 077 && head -c128 /dev/urandom >"$SLURM/munge.key")
  slurm_configure
  slurm_spawn munged munged -F --force --key-file="$SLURM/munge.key" \
    --socket="$SLURM/munge.sock" --pid-file="$SLURM/pid/munged.own" \
    --log-file="$SLURM/log/munged.log" --seed-file="$SLURM/munge.seed"
  wait_until 10 test -S "$SLURM/munge.sock"
  slurm_start_controller
  for i in 1 2 3 4; do slurm_start_node n$i; done
  wait_until 30 slurm_is_idle
}

slurm_configure() {
  local port=$((21000 + RANDOM % 6000)) host i
  host=$(hostname)
  cat >"$SLURM_CONF" <<E
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmctldPidFile=$SLURM/pid/slurmctld.own
SlurmdPidFile=$SLURM/pid/%n.own
SlurmdSpoolDir=$SLURM/spool/%n
StateSaveLocation=$SLURM/state
SlurmctldLogFile=$SLURM/log/slurmctld.log
SlurmdLogFile=$SLURM/log/%n.log
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$SLURM/munge.sock,cred_expire=5
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
SchedulerType=sched/backfill
SchedulerParameters=sched_min_interval=50000,bf_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
ReturnToService=2
SlurmctldTimeout=5
SlurmdTimeout=60
InactiveLimit=0
KillWait=2
MinJobAge=300
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
JobAcctGatherType=jobacct_gather/none
GresTypes=gpu
E
  # Four GPUs on each node, which are files.
  touch "$SLURM"/gpu{0,1,2,3}
  echo "Name=gpu File=$SLURM/gpu[0-3]" >"$SLURM/gres.conf"
  for i in 1 2 3 4; do
    echo "NodeName=n$i NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + i))" \
      "CPUs=4 RealMemory=32000 Gres=gpu:4 State=UNKNOWN"
  done >>"$SLURM_CONF"
  echo "PartitionName=main Nodes=ALL Default=YES State=UP" >>"$SLURM_CONF"
}

# slurm_spawn NAME COMMAND...: in a session of its own, and of no test
slurm_spawn() {
  env -u JOBRUN_STATE_DIR setsid "${@:2}" >>"$SLURM/log/$1.out" 2>&1 </dev/null 3>&- &
  echo $! >"$SLURM/pid/$1"
}

slurm_start_controller() { slurm_spawn slurmctld slurmctld -D; }

# What runs on a node finds the others by their names, where this may be done.
slurm_start_node() {
  if slurm_has_names; then
    { cat /etc/hosts && echo "127.0.0.1 n1 n2 n3 n4"; } >"$SLURM/hosts"
    slurm_spawn "$1" unshare -m sh -c 'mount --bind "$2" /etc/hosts && exec slurmd -D -N "$1"' sh "$1" "$SLURM/hosts"
  else
    slurm_spawn "$1" slurmd -D -N "$1"
  fi
}
slurm_has_names() { unshare -m mount --bind /etc/hosts /etc/hosts 2>/dev/null; }

# slurm_kill NAME: with all that it has started in its session
slurm_kill() {
  kill -9 -- "-$(cat "$SLURM/pid/$1")" 2>/dev/null || true
}

slurm_is_idle() { [ "$(sinfo -h -o '%T %D')" = "idle 4" ]; }

# Steps have sessions of their own: what a step runs is told by its
# variables, and the step by being its parent.
slurm_down() {
  local file
  [ -n "${SLURM:-}" ] || return 0
  for file in "$SLURM"/pid/n? "$SLURM/pid/slurmctld" "$SLURM/pid/munged"; do
    [ ! -f "$file" ] || slurm_kill "$(basename "$file")"
  done
  slurm_kill_steps .
  umount -l "$SLURM/small" 2>/dev/null || true
}

# slurm_kill_steps NODE: all that runs there, as when it loses power; "." is any
slurm_kill_steps() {
  local files pid parent file
  files=$(grep -lsz "^SLURM_CONF=$SLURM_CONF\$" /proc/[0-9]*/environ |
    xargs -r grep -lsz "^SLURMD_NODENAME=$1") || true
  for file in $files; do
    pid=${file#/proc/}
    pid=${pid%/environ}
    read -r _ _ _ parent _ <"/proc/$pid/stat" || continue
    if grep -qs slurmstepd "/proc/$parent/cmdline"; then
      kill -9 "$parent" || true
    fi
    kill -9 "$pid" || true
  done 2>/dev/null
}

# slurm_job FILE ID WORKERS COMMAND [MORE]: a master and so many workers
slurm_job() {
  cat >"$1" <<EOF
jobId: $2
trainingInput:
  scaleTier: CUSTOM
  masterType: n1-standard-2
$([ "$3" = 0 ] || printf '  workerType: n1-standard-2\n  workerCount: %s\n' "$3")
jobrun:
  provider: slurm
  grace: 2s
  command: [sh, -c, $(printf '%s' "$4" | python3 -c 'import json,sys; print(json.dumps(sys.stdin.read()))')]
${5:-}
EOF
}
