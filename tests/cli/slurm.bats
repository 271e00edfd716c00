#!/usr/bin/env bats
# On a real Slurm of four nodes; see slurm.bash.

# bats file_tags=server
load helper
eval "$(declare -f setup | sed '1s/setup/setup_of_all/')"
eval "$(declare -f teardown | sed '1s/teardown/teardown_of_all/')"
load sshd
load slurm
load ddp
load podman
load upgrade

setup_file() { slurm_up; }
teardown_file() { slurm_down; }

# The home directory is what a cluster shares.
setup() {
  setup_of_all
  export HOME=$TMP/home
  mkdir -p "$HOME"
}

teardown() {
  scontrol update partitionname=main state=up 2>/dev/null || true
  scancel --me 2>/dev/null || true
  sshd_down
  slurm_kill_steps .
  podman_down
  teardown_of_all
}

apply() { timeout 60 "$JOBRUN" apply --yes "$@"; }
in_queue() { squeue -h -t "${2:-all}" -n "$1" -o %T; }
logs_run_folder() { compgen -G "$HOME/.jobrun/runs/$1/*/attempts/0/tasks/*"; }
# The master, with which the job ends, waits for the files of the others.
LAST='[ $RANK != 0 ] || until [ $(ls | grep -c "^[0-9]*\$") = $WORLD_SIZE ]; do sleep 0.1; done'
logs_have() { jobrun logs "$1" 2>/dev/null | grep -q "$2"; }

@test "a job over four nodes: its plan, its lines, its metrics, its end" {
  mkdir src && echo x >src/data
  export TOKEN=hush-hush
  for i in 0 1 2 3; do echo "shard $i" >train-$i.tar; done
  slurm_job a.yaml four 3 'echo "rank $RANK of $WORLD_SIZE at $MASTER_ADDR"; cat data; $JOBRUN_DATA_TRAIN_STREAM; [ ${#T} = 9 ] && echo told; [ -z "$OTHER" ]; echo "step=1 loss=0.5"; cd $JOBRUN_RUN_DIR; echo $RANK >$RANK; '"$LAST" \
    "  source: src
  data: {train: {urls: ['train-{0..3}.tar']}}
  secrets: {T: {env: TOKEN}}
  env: {A: '\$B \"c\"'}"
  run jobrun plan a.yaml
  [ "$status" = 0 ]
  [[ $output == *"slurm.components  '4 nodes, each with 2 CPUs, 6928 MB'"* ]]
  OTHER=leaks run apply a.yaml
  [ "$status" = 0 ]
  for i in 0 1 2 3; do
    [[ $output == *" n$((i + 1)) [$i] rank $i of 4 at n1"* ]]
    [ "$(cat "$HOME"/.jobrun/runs/four/*/output/$i)" = $i ]
  done
  [[ $output == *"four: SUCCEEDED"* ]]
  [ "$(jobrun logs four | grep -c ' n[1-4] \[[0-3]\] x$')" = 4 ]
  # Each has its share of the data.
  [ "$(jobrun logs four | grep -o 'shard .' | sort -u | wc -l)" = 4 ]
  [ "$(jobrun logs four | grep -c 'shard .')" = 4 ]
  [ "$(jobrun logs four | grep -c ' told$')" = 4 ]
  [[ $(jobrun metrics four) == *loss*0.5* ]]
  [ "$(field four '[t["host"] for t in j["tasks"]]')" = "['n1', 'n2', 'n3', 'n4']" ]
  # What is secret is nowhere when it is over, and never was in the script.
  refute grep -rqs hush-hush "$HOME" "$TMP/state"
  # A machine without a store knows it, too.
  JOBRUN_STATE_DIR=$TMP/other run jobrun plan a.yaml
  [[ $output == *"Plan: nothing to do"* || $output == *"up to date"* || $output == *"succeeded"* ]]
  run jobrun delete four
  [ "$status" = 0 ]
  [ -z "$(ls -A "$HOME/.jobrun/runs")" ]
}

@test "roles that differ are components, and the job ends when its master does" {
  slurm_job a.yaml roles 2 'echo "$TF_CONFIG" | tr -d "\n" | grep -o "\"task\".*index\":[0-9]*"; [ $RANK = 0 ] || exec sleep 60' \
    '  slurm: {machineTypes: true}'
  sed -i 's/masterType: n1-standard-2/masterType: n1-standard-4/' a.yaml
  run apply a.yaml
  [ "$status" = 0 ]
  [[ $output == *'[0] "task":{"type":"master","index":0'* ]]
  [[ $output == *'[2] "task":{"type":"worker","index":1'* ]]
  [ "$(field roles '[t["state"] for t in j["tasks"]]')" = "['SUCCEEDED', 'CANCELLED', 'CANCELLED']" ]
}

@test "four processes on each of two nodes, and setup once on each" {
  slurm_job a.yaml a 1 \
    'echo $RANK of $WORLD_SIZE, $LOCAL_RANK of $LOCAL_WORLD_SIZE in $GROUP_RANK is $SLURM_PROCID, $SLURM_LOCALID; cd $JOBRUN_RUN_DIR; echo $RANK >$RANK; '"$LAST" \
    '  processesPerHost: 4
  setup: [sh, -c, "echo set up"]'
  run jobrun apply --yes a.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  for i in 0 1 2 3 4 5 6 7; do
    cat "$JOBRUN_STATE_DIR"/runs/a.1/logs/*.stdout |
      grep -qx "$i of 8, $((i % 4)) of 4 in $((i / 4)) is $i, $((i % 4))"
  done
  [ "$(cat "$JOBRUN_STATE_DIR"/runs/a.1/logs/*.stdout | grep -c '^set up')" -eq 2 ]
}

@test "the first task that fails is named, with its last words" {
  slurm_job a.yaml bad 2 '[ $RANK != 1 ] || { echo "no data" >&2; exit 3; }; exec sleep 60'
  run apply a.yaml
  [ "$status" = 1 ]
  [[ $output == *"bad: FAILED after"*": worker 0 exited with 3: no data"* ]]
  [ "$(field bad 'j["exitCode"]')" = 3 ]
}

@test "what cannot be submitted is said, and leaves nothing" {
  slurm_job a.yaml wide 0 'true' '  slurm: {partition: no-such}'
  run apply a.yaml
  [ "$status" = 1 ]
  [[ $output == *"sbatch:"*"Invalid partition"* ]]
  [ -z "$(in_queue wide)" ]
  [ -z "$(ls "$HOME/.jobrun/runs/wide")" ]
}

@test "a job that waits says why, and a cancelled one is gone" {
  slurm_job a.yaml big 3 'exec sleep 60' '  slurm: {machineTypes: true}'
  sed -i 's/n1-standard-2/n1-standard-4/' a.yaml
  apply --detach a.yaml
  slurm_job b.yaml later 0 'true' '  slurm: {machineTypes: true}'
  sed -i 's/n1-standard-2/n1-standard-4/' b.yaml
  apply --detach b.yaml
  waits() { [[ $(jobrun status later) == *"it waits until enough nodes are free"* ]]; }
  wait_until 20 waits
  # One call tells of all that wait, and the store has it.
  sed s/later/third/ b.yaml >c.yaml
  apply --detach c.yaml
  mkdir bin
  printf '#!/bin/sh\necho >>%s/asked\nexec %s "$@"\n' "$TMP" "$(command -v squeue)" >bin/squeue
  chmod +x bin/squeue
  wait_until 20 eval '[[ $(jobrun status third) == *"it waits until"* || $(jobrun status third) == *"before it"* ]]'
  PATH=$TMP/bin:$PATH run jobrun status later third
  [ "$(grep -c '^  it waits\|^  jobs with' <<<"$output")" = 2 ]
  [ "$(wc -l <asked)" = 1 ]
  # Who cancelled it is said, unless it was jobrun.
  jobrun cancel third
  scancel -n later
  wait_until 20 state_is later CANCELLED
  [[ $(field later 'j["error"]') == "Slurm's job "*" was cancelled, but not by jobrun: "* ]]
  [ "$(field third 'j["error"]')" = None ]
  timeout 30 "$JOBRUN" cancel big
  state_is big CANCELLED
  [ "$(field big 'j["error"]')" = None ]
  [ -z "$(in_queue big running,pending)" ]
}

@test "signals leave a run that is elsewhere, and a second Ctrl-C cancels it" {
  slurm_job a.yaml far 0 'echo up; exec sleep 600'
  for signal in TERM HUP INT; do
    rm -f out
    "$JOBRUN" apply --yes a.yaml >out 2>&1 3>&- &
    wait_until 30 grep -q ' up$' out
    kill -$signal $!
    status=0
    wait $! || status=$?
    if [ $signal = INT ]; then
      [ "$status" = 130 ]
      grep -q "again to cancel" out
    else
      [ "$status" = 0 ]
    fi
    grep -q "far: continues; 'jobrun logs -f far' follows it, 'jobrun cancel far' stops it" out
    [ "$(in_queue far)" = RUNNING ]
  done
  rm -f out
  "$JOBRUN" apply --yes a.yaml >out 2>&1 3>&- &
  wait_until 30 grep -q ' up$' out
  press_ctrl_c_twice $! out
  status=0
  wait $! || status=$?
  [ "$status" = 130 ]
  state_is far CANCELLED
  [ -z "$(in_queue far running,pending)" ]
}

@test "three machines apply one job at once: one job, and nobody hears of tar" {
  mkdir src && head -c 3000000 /dev/urandom >src/data
  slurm_job a.yaml race 0 'echo up' "  source: src"
  for n in 1 2 3; do
    JOBRUN_STATE_DIR=$TMP/machine$n "$JOBRUN" apply --yes a.yaml >out.$n 2>&1 3>&- &
    pids[n]=$!
  done
  for n in 1 2 3; do
    status=0
    wait "${pids[n]}" || status=$?
    cat out.$n
    [ "$status" = 0 ] || { [ "$status" = 75 ] && grep -q "being started elsewhere" out.$n; }
    refute grep -E "mv: |tar: |cannot create" out.$n
  done
  [ "$(in_queue race | wc -l)" = 1 ]
  [ -z "$(find "$HOME/.jobrun" -name '.new.*')" ]
}

@test "a directory that the nodes do not see is said as such" {
  slurm_has_names || skip "nothing can be mounted here"
  mkdir here
  # Mounted after the nodes have started, so that they have none of it.
  mount -t tmpfs jobrun-test here
  slurm_job a.yaml blind 0 'echo up' "  slurm: {directory: $TMP/here/d, program: $JOBRUN}"
  run apply a.yaml
  umount -l here
  [ "$status" = 1 ]
  [[ $output == *"do the nodes see jobrun.slurm.directory"* ]]
}

# as_nobody COMMAND...: another user of the cluster
as_nobody() {
  setpriv --reuid=nobody --regid=nogroup --clear-groups env \
    HOME="$TMP/nobody" JOBRUN_STATE_DIR="$TMP/nobody/state" "$@"
}

@test "users share an absolute directory, each in a folder that is his own" {
  as_nobody test -x "$JOBRUN" || skip "another user cannot run jobrun here"
  chmod a+r "$SLURM_CONF"
  chmod 711 "$TMP" "$SLURM"
  i=$SLURM
  while i=${i%/*} && [ "$i" ]; do chmod a+x "$i"; done
  install -d -o nobody "$TMP/nobody" "$TMP/nobody/w"
  slurm_job a.yaml team 1 'echo "rank $RANK"' "  slurm: {directory: $TMP/team/jobrun}"
  cp a.yaml nobody/w/
  apply a.yaml
  run as_nobody "$JOBRUN" apply --yes nobody/w/a.yaml
  echo "$output"
  [ "$status" = 0 ]
  for i in root nobody; do
    [ "$(stat -c '%U %a' "$TMP/team/jobrun/$i")" = "$i 700" ]
    [ -x "$(echo "$TMP"/team/jobrun/$i/bin/jobrun-*)" ]
    [ -s "$(echo "$TMP"/team/jobrun/$i/runs/team/*/job.sh)" ]
  done
  # Somebody may have been quicker than its user.
  install -d -o nobody "$TMP/taken/root"
  sed "s,team/jobrun,taken,; s/jobId: team/jobId: late/" a.yaml >b.yaml
  run apply b.yaml
  [ "$status" = 1 ]
  [[ $output == *"cannot use jobrun.slurm.directory: '$TMP/taken/root' is another user's"* ]]
  # Where an earlier version has put the runs of its first user they stay.
  mkdir -p old/runs
  sed "s,team/jobrun,old,; s/jobId: team/jobId: early/" a.yaml >c.yaml
  apply c.yaml
  [ -e "$(echo "$TMP"/old/runs/early/*/slurm.out)" ]
  [ ! -e "$TMP/old/root" ]
}

@test "the script of render --to slurm trains without jobrun" {
  local i
  mkdir -p src alone && echo x >src/data
  slurm_job a.yaml leave 2 'cat data; echo "rank $RANK of $WORLD_SIZE at $MASTER_ADDR:$MASTER_PORT, $A in $JOBRUN_RUN_DIR"; printf "%s\\n" "$TF_CONFIG"; [ $RANK = 0 ] || exec sleep 60; sleep 1' \
    "  source: src
  slurm: {machineTypes: true}
  setup: [sh, -c, 'echo set up on \$SLURMD_NODENAME']
  env: {A: 'a \$B \"64123\" \`c\`'}"
  sed -i 's/masterType: n1-standard-2/masterType: n1-standard-4/' a.yaml
  "$JOBRUN" render --to slurm a.yaml >alone/leave.sh
  refute grep -q jobrun/ alone/leave.sh
  cd alone
  sbatch --test-only leave.sh
  env -u JOBRUN_STATE_DIR PATH=/usr/bin:/bin sbatch --wait leave.sh
  cat leave-*.out
  for i in 0 1 2; do
    grep -Eq "^rank $i of 3 at n1:1[0-9]{4}, a .B \"64123\" .c. in $TMP/alone/leave-[0-9]*/output\$" leave-*.out
  done
  [ "$(grep -c '^x$' leave-*.out)" = 3 ]
  [ "$(grep -c '^set up on n' leave-*.out)" = 3 ]
  # Who its peers are, to every one of them.
  [ "$(grep -o '^{.*}$' leave-*.out | python3 -c 'import json,sys; print(sorted((t["task"]["type"], t["task"]["index"], len(t["cluster"]["worker"]), t["cluster"]["worker"][0].split(":")[0]) for t in map(json.loads, sys.stdin)))')" = "[('master', 0, 2, 'n2'), ('worker', 0, 2, 'n2'), ('worker', 1, 2, 'n2')]" ]
  [ ! -e "$HOME/.jobrun" ]
}

@test "twenty options as they are: sbatch takes them, and tasks see the prolog" {
  slurm_job a.yaml options 0 'echo "at ${A:-nothing}, \$(ulimit -c)"' "  slurm:
    directory: $SLURM/shared
    machineTypes: false
    prolog: [export A=prolog]
    srun: {cpu-bind: none, label: true, slurmd-debug: 1, wait: 60, propagate: CORE}
    sbatch: {exclusive: true, mail-type: [END, FAIL], mail-user: root, begin: now, hint: nomultithread,
      cores-per-socket: 1, sockets-per-node: 1, threads-per-core: 1, contiguous: true, core-spec: 0,
      distribution: block, mincpus: 1, mem-per-cpu: 1M, switches: 1@1, use-min-nodes: true, spread-job: true,
      profile: None, acctg-freq: 30, wait-all-nodes: 1, get-user-env: false, no-kill: true}"
  "$JOBRUN" render --to slurm a.yaml >options.sh
  sbatch --test-only options.sh
  run jobrun plan a.yaml
  [[ $output == *"acctg-freq"*"30"*"wait-all-nodes"* ]]
  apply a.yaml
  jobrun logs options | grep 'at prolog'
}

@test "requeue expedite is asked of an sbatch that knows it, and of no other" {
  local real version
  real=$(type -P sbatch)
  mkdir bin
  # The real one, as another version.
  cat >bin/sbatch <<SH
#!/bin/sh
[ "\$1" != --version ] || exec cat "$TMP/version"
echo "\$*" >>"$TMP/calls"
for a; do
  shift
  [ "\$a" = --requeue=expedite ] || set -- "\$@" "\$a"
done
exec "$real" "\$@"
SH
  chmod +x bin/sbatch
  # Debian's and Ubuntu's have another name.
  for version in 'slurm 24.11.5' 'slurm-wlm 25.05.3' 'slurm 25.11.0' 'slurm-wlm 25.11.2' 'slurm 26.05.1-rc1'; do
    echo "$version" >version
    version=${version#* }
    rm -f calls
    slurm_job a.yaml "e${version//[.-]/_}" 0 'echo up' '  slurm: {machineTypes: false, requeue: expedite}'
    run jobrun plan a.yaml
    echo "$output"
    [[ $output == *"requeue"*"expedite"* ]]
    PATH=$PWD/bin:$PATH apply a.yaml
    [ "$(wc -l <calls)" -eq 1 ]
    case $version in
      24* | 25.05*) refute grep -e --requeue calls ;;
      *) grep -e ' --requeue=expedite ' calls ;;
    esac
  done
  grep -q '^#SBATCH --requeue$' "$HOME"/.jobrun/runs/e24_11_5/*/job.sh
}

@test "containers: an image is run on the nodes, and runtime none runs without" {
  type -P ch-run >/dev/null || skip "charliecloud is not here"
  ldd "$(type -P busybox)" >/dev/null 2>&1 && skip "busybox is not static"
  mkdir -p image/{bin,dev,etc,proc,sys,tmp,run,root,home,usr,var/tmp,mnt}
  touch image/etc/{passwd,group,hosts,resolv.conf}
  cp "$(type -P busybox)" image/bin/
  ln -s busybox image/bin/sh
  USER=root ch-run --write image -- /bin/sh -c : || skip "ch-run cannot run here"
  slurm_job a.yaml boxed 1 '[ -e /usr/bin ] || echo "boxed $RANK $A"; exit 3' "  env: {A: in}
  container: {runtime: charliecloud, image: $PWD/image}"
  run apply a.yaml
  echo "$output"
  [ "$status" = 1 ]
  jobrun logs boxed | grep -q 'boxed 0 in'
  sed -i 's/jobId: boxed/jobId: bare/; s/runtime: charliecloud/runtime: none/; s/exit 3/[ ! -e \/usr\/bin ] || echo bare/' a.yaml
  apply a.yaml
  jobrun logs bare | grep -q bare
  # What the file says beside the image; images of Charliecloud have no more.
  sed -i '/command:/d; /worker/d; s/jobId: bare/jobId: words/; s/runtime: none/runtime: charliecloud/
    s/  scaleTier: .*/&\n  masterConfig: {imageUri: unused, containerCommand: [busybox, echo, the words], containerArgs: [of it]}/' a.yaml
  apply a.yaml
  [ "$(jobrun logs --no-prefix words)" = "the words of it" ]
  sed -i 's/, containerCommand: .*}/}/; s/jobId: words/jobId: entry/' a.yaml
  run apply a.yaml
  [ "$status" -eq 65 ]
  [[ $output == *"charliecloud does not run an image's own entry point: set jobrun.command, or containerCommand beside the image"* ]]
}

@test "podman: an image is run on the nodes, and nothing is left of a deaf task" {
  podman_up
  # As on a cluster: a task has the time for its grace and for what follows it.
  sed -i 's/^KillWait=.*/KillWait=60/' "$SLURM_CONF"
  scontrol reconfigure
  slurm_job a.yaml boxed 1 '[ -e /usr/bin/env ] || echo "boxed $RANK $A"; exit 3' "  env: {A: in, $(podman_is_at | sed 's/=/: /g; s/ \(C\)/, \1/')}
  container: {runtime: podman, image: 'localhost/box:1'}"
  run timeout 300 "$JOBRUN" apply --yes a.yaml
  echo "$output"
  [ "$status" = 1 ]
  jobrun logs boxed | grep -q 'boxed 0 in'
  [ "$(field boxed 'j["exitCode"]')" = 3 ]
  # What the image and the file say, without a command of jobrun's.
  tar -C "$TMP/image" -c . | podman import -q -c 'ENTRYPOINT ["/bin/echo","entry"]' \
    - localhost/box:2 >/dev/null
  sed "/command:/d; /worker/d; s/jobId: boxed/jobId: own/; s/box:1/box:2/
    s/  scaleTier: .*/&\n  masterConfig: {imageUri: 'localhost\/box:2', containerArgs: [mine]}/" a.yaml >own.yaml
  apply own.yaml
  [ "$(jobrun logs --no-prefix own)" = "entry mine" ]
  sed -i "s/jobId: boxed/jobId: deaf/; s/command:.*/command: [sh, -c, 'trap \"\" TERM; echo up; while :; do sleep $NAP; done']/" a.yaml
  apply --detach a.yaml
  wait_until 120 logs_have deaf up
  timeout 300 "$JOBRUN" cancel deaf
  wait_until 120 state_is deaf CANCELLED
  wait_until 120 podman_is_empty
  refute pgrep -f "sleep $NAP"
  sed -i 's/^KillWait=.*/KillWait=2/' "$SLURM_CONF"
  scontrol reconfigure
}

@test "pyxis: each task is a step in the image, in the real Slurm" {
  # The real srun, which has no Pyxis, behind what Pyxis adds.
  mkdir -p "$HOME/bin"
  cat >"$HOME/bin/srun" <<SH
#!/bin/sh
real=$(type -P srun)
[ "\$1" != --help ] || { "\$real" --help; echo "  --container-image=IMAGE"; exit; }
for a; do
  shift
  case \$a in --container-image=*) echo "\$a" >>$TMP/images ;; --container-*) ;; *) set -- "\$@" "\$a" ;; esac
done
exec "\$real" "\$@"
SH
  chmod +x "$HOME/bin/srun"
  slurm_job a.yaml boxed 1 'echo "rank $RANK of $WORLD_SIZE in step $SLURM_STEP_ID"; [ $RANK = 0 ] || exec sleep 60; sleep 1' \
    "  env: {PATH: '$HOME/bin:$PATH'}
  container: {runtime: pyxis, image: 'nvcr.io/nvidia/pytorch:24.05-py3'}"
  run apply a.yaml
  echo "$output"
  [ "$status" = 0 ]
  [ "$(sort -u images)" = '--container-image=nvcr.io#nvidia/pytorch:24.05-py3' ]
  [ "$(wc -l <images)" -eq 2 ]
  for i in 0 1; do jobrun logs boxed | grep -q "rank $i of 2 in step [1-9]"; done
}

@test "what a site says by variables of sbatch holds where the file says nothing" {
  export SBATCH_PARTITION=main SBATCH_TIMELIMIT=7 SBATCH_CONSTRAINT=none SBATCH_GRES=gpu:9
  slurm_job a.yaml site 0 'echo up'
  run apply a.yaml
  [ "$status" = 1 ]
  [[ $output == *nvalid\ feature* ]]
  SBATCH_CONSTRAINT= SBATCH_PARTITION=other run apply a.yaml
  [ "$status" = 1 ]
  [[ $output == *"SBATCH_PARTITION=other is set here, and holds"* ]]
  [[ $output == *"nvalid partition name"* ]]
  unset SBATCH_CONSTRAINT
  run apply a.yaml
  [ "$status" = 0 ]
  scontrol show job | grep -A30 JobName=site | grep -q TimeLimit=00:07:00
  # The file has the last word.
  slurm_job b.yaml own 0 'echo up' '  slurm: {partition: main}'
  SBATCH_PARTITION=other run apply b.yaml
  [ "$status" = 0 ]
  refute grep -q "SBATCH_PARTITION" <<<"$output"
}

@test "a directory that keeps nothing is found before anything is submitted" {
  mkdir ro
  mount -t tmpfs -o noexec jobrun-test ro 2>/dev/null || skip "nothing can be mounted here"
  slurm_job a.yaml mute 0 'echo up' "  slurm: {directory: $TMP/ro/d}"
  run apply a.yaml
  local said=$output
  mount -o remount,ro ro
  run apply a.yaml
  umount -l ro
  [[ $said == *"cannot use jobrun.slurm.directory: '$TMP/ro/d/$(id -un)' is mounted noexec: put jobrun elsewhere, and set jobrun.slurm.program"* ]]
  [[ $output == *"cannot use jobrun.slurm.directory: "*"Read-only file system"* ]]
  [ -z "$(in_queue mute)" ]
}

@test "a task fails: the next attempt begins on the same nodes, and nobody has to look" {
  slurm_job a.yaml again 1 "cd \$JOBRUN_RUN_DIR; n=\$((\$(ls ../attempts | wc -l) - 1)); echo try \$n; [ \$RANK = 1 ] || { touch here.\$n; until [ -e up.2 ]; do sleep 0.1; done; exit 0; }; until [ -e here.\$n ]; do sleep 0.1; done; touch up.\$n; [ \$n = 2 ] || { echo no data \$n >&2; exit 3; }; sleep 60" \
    '  restart: {maxRestarts: 2, backoff: 1s, rules: [{exitCodes: [3], action: restart}, {action: fail}]}'
  sed 's/jobId: again/jobId: enough/; s/up.2/up.9/; s/maxRestarts: 2/maxRestarts: 1/' a.yaml >b.yaml
  run jobrun plan a.yaml
  refute grep -q "jobrun.restart is not used" <<<"$output"
  # Who is cancelled is not started again.
  sed 's/jobId: again/jobId: off/; s/up.2/up.9/; s/; exit 3//' a.yaml >c.yaml
  apply --detach a.yaml b.yaml c.yaml
  wait_until 60 logs_have off "try 0"
  timeout 60 "$JOBRUN" cancel off
  state_is off CANCELLED
  [ "$(field off 'j["attempt"]')" = 1 ]
  ended() { [ "$(in_queue "$1")" = "$2" ]; }
  wait_until 60 ended again COMPLETED
  wait_until 60 ended enough FAILED
  # What was decided there is what is said here.
  run timeout 60 "$JOBRUN" wait again
  [ "$status" = 0 ]
  [ "$(field again '(j["attempt"], j["restarts"], j["preemptions"], j["restartedFor"])')" = "(3, 2, 0, 'worker 0 exited with 3: no data 1')" ]
  for i in 1 2 3; do
    [ "$(jobrun logs --attempt $i again | grep -c "try $((i - 1))")" = 2 ]
  done
  run timeout 60 "$JOBRUN" wait enough
  [ "$status" = 1 ]
  [ "$(field enough '(j["attempt"], j["error"], j["exitCode"])')" = "(2, 'worker 0 exited with 3: no data 1 (not restarted: already restarted 1 time (jobrun.restart.maxRestarts))', 3)" ]
}

@test "a limit of seconds holds to the second, in the words of every provider" {
  slurm_job a.yaml short 1 'trap "exit 0" TERM; echo up; while :; do sleep 0.1; done'
  sed -i 's/^trainingInput:/&\n  scheduling: {maxRunningTime: 3s}/' a.yaml
  run jobrun plan a.yaml
  [[ $output == *"Slurm counts minutes and is asked for 1m00s: jobrun itself ends the run after 3s"* ]]
  [[ $(jobrun render --to slurm a.yaml) == *"--time=0-00:01:00"* ]]
  run apply a.yaml
  [ "$status" = 1 ]
  [ "$(field short '(j["state"], j["error"])')" = "('CANCELLED', 'cancelled for exceeding the maximum running time of 3s (scheduling.maxRunningTime)')" ]
  [ "$(field short '[t["state"] for t in j["tasks"]].count("FAILED")')" = 0 ]
  # Slurm has not ended it: it would have waited for a minute.
  [ "$(in_queue short)" = FAILED ]
}

@test "a node is lost: the run fails and names it, or is queued again and goes on" {
  local i how
  for i in false true; do
    how='slurm: {requeue: false}'
    [ $i = false ] || how='restart: {maxPreemptions: 1}'
    slurm_job $i.yaml lost_$i 1 'cd $JOBRUN_RUN_DIR; echo up; if [ "$JOBRUN_CHECKPOINT" ]; then echo on from $(cat $JOBRUN_CHECKPOINT); touch up.$RANK; until [ -e up.1 ]; do sleep 0.1; done; exit 0; fi; [ $RANK = 1 ] || echo step 7 >$JOBRUN_CHECKPOINT_DIR/7.pt; exec sleep 60' \
      "  $how
  checkpoints: {to: $TMP/kept, keep: 1, quietPeriod: 1s}"
    "$JOBRUN" apply --yes $i.yaml >out 2>&1 3>&- &
    is_up() {
      jobrun checkpoints lost_$i 2>/dev/null | grep -q 7.pt &&
        grep -qs up "$HOME/.jobrun/runs/lost_$i"/*/attempts/0/logs/worker-0.stdout
    }
    wait_until 30 is_up
    slurm_kill n2
    slurm_kill_steps n2
    scontrol update nodename=n2 state=down reason=test
    if [ $i = false ]; then
      wait_until 60 state_is lost_$i FAILED
      [ "$(field lost_$i 'j["error"]')" = "node n2 was lost, and with it worker 0" ]
    else
      wait_until 60 state_is lost_$i SUCCEEDED
      # However many have looked, one has gone on.
      [ "$(field lost_$i '(j["attempt"], j["restarts"], j["preemptions"])')" = "(2, 0, 1)" ]
      # Slurm has been told that this was the last time.
      scontrol show job | grep -A20 "JobName=lost_$i" | grep -q "Requeue=0 Restarts=1"
      wait_until 5 grep -q "attempt 1 FAILED: node n2 was lost, and with it worker 0; attempt 2 starts" out
      [ "$(jobrun logs --attempt 1 lost_$i | grep -c "] up$")" = 2 ]
      [ "$(jobrun logs lost_$i | grep -c "] up$")" = 2 ]
      [ "$(jobrun logs lost_$i | grep -c 'on from step 7')" = 2 ]
    fi
    slurm_start_node n2
    wait_until 20 slurm_is_idle
  done
}

@test "a job that Slurm queues again after its end is taken out of the queue" {
  local how job
  mkdir bin
  printf '#!/bin/sh\n%s "$@"\nkill -9 $PPID\n' "$(command -v scancel)" >bin/scancel
  chmod +x bin/scancel
  for how in 0 3; do
    job=again$how
    slurm_job a.yaml $job 0 "exit $how" '  restart: {maxPreemptions: 1}'
    apply --detach a.yaml
    # Nobody looks until Slurm has it again.
    wait_until 60 eval '[[ $(in_queue $job) = @(COMPLETED|FAILED) ]]'
    scontrol requeuehold "$(squeue -h -t all -n $job -o %i)"
    [ "$(in_queue $job)" = PENDING ]
    # Whoever takes it out is killed at once: that it is CANCELLED now is not
    # how the run has ended.
    PATH=$TMP/bin:$PATH run timeout 60 "$JOBRUN" wait $job
    echo "$status $output"
    [ "$status" = 137 ]
    wait_until 10 eval '[[ $(in_queue $job) != PENDING ]]'
    wait_until 60 state_is $job "$([ $how = 0 ] && echo SUCCEEDED || echo FAILED)"
    wait_until 60 eval '[ -z "$(squeue -h --me)" ]'
  done
}

@test "a node is lost when the master has ended well: the run has succeeded" {
  local i how
  for i in no yes; do
    how='slurm: {requeue: false}'
    [ $i = no ] || how='restart: {maxPreemptions: 1}'
    # The worker does not hear that all is done.
    slurm_job $i.yaml well_$i 1 'trap "" TERM; echo up; [ $RANK = 0 ] || while :; do sleep 0.1; done; until [ -e $JOBRUN_RUN_DIR/go ]; do sleep 0.1; done' \
      "  $how"
    sed -i 's/grace: 2s/grace: 100s/' $i.yaml
    apply --detach $i.yaml
    wait_until 30 eval 'grep -qs up "$HOME"/.jobrun/runs/well_$i/*/attempts/0/logs/worker-0.stdout'
    touch "$(echo "$HOME"/.jobrun/runs/well_$i/*/output)/go"
    wait_until 30 eval 'grep -qs "^end 0" "$HOME"/.jobrun/runs/well_$i/*/attempts/0/tasks/master-0'
    slurm_kill n2
    slurm_kill_steps n2
    scontrol update nodename=n2 state=down reason=test
    run timeout 60 "$JOBRUN" wait well_$i
    echo "$output"
    [ "$status" = 0 ]
    [ "$(field well_$i '(j["state"], j["attempt"], [t["state"] for t in j["tasks"]])')" = "('SUCCEEDED', 1, ['SUCCEEDED', 'CANCELLED'])" ]
    run jobrun plan $i.yaml
    refute grep -q "1 to run" <<<"$output"
    slurm_start_node n2
    wait_until 20 slurm_is_idle
  done
}

@test "a node is away for a moment: nothing waits for its task once the master has ended" {
  local master
  slurm_job away.yaml away 1 'echo up; [ $RANK = 0 ] || exec sleep 600; until [ -e $JOBRUN_RUN_DIR/go ]; do sleep 0.1; done'
  apply --detach away.yaml
  wait_until 30 eval 'grep -qs up "$HOME"/.jobrun/runs/away/*/attempts/0/logs/worker-0.stdout'
  slurm_kill n2
  slurm_kill_steps n2
  slurm_start_node n2
  touch "$(echo "$HOME"/.jobrun/runs/away/*/output)/go"
  master=$(echo "$HOME"/.jobrun/runs/away/*/attempts/0/tasks/master-0)
  wait_until 30 grep -qs "^end 0" "$master"
  # The node's clock is an hour ahead.
  awk '$1 == "end" { $3 = sprintf("%.0f", $3 + 3600000) } 1' "$master" >master
  cat master >"$master"
  # As if that had been seen ten minutes ago.
  seen=$JOBRUN_STATE_DIR/runs/away.1/master-ended.json
  wait_until 30 eval 'jobrun status away >/dev/null; test -s "$seen"'
  echo "{\"seenMs\": $(($(date +%s%3N) - 600000))}" >"$seen"
  run timeout 100 "$JOBRUN" wait away
  echo "$output"
  squeue --me
  [ "$status" = 0 ]
  [ "$(field away '(j["state"], [t["state"] for t in j["tasks"]])')" = "('SUCCEEDED', ['SUCCEEDED', 'CANCELLED'])" ]
  wait_until 30 eval '[ -z "$(in_queue away running,pending,completing)" ]'
  wait_until 20 slurm_is_idle
}

@test "the shared disk is full: the job ends, and says why" {
  mountpoint -q "$SLURM/small" || skip "nothing can be mounted here"
  slurm_job full.yaml full 1 'head -c 4000000 /dev/zero | tr "\0" x | fold; exit 3' \
    "  restart: {maxRestarts: 50, backoff: 0s}
  slurm: {directory: $SLURM/small/d, program: $JOBRUN}"
  apply --detach full.yaml
  wait_until 40 eval '[[ "$(in_queue full)" =~ FAILED ]]'
  run jobrun status full
  [[ $output == *"No space left on device"* ]]
  run jobrun wait full
  [ "$status" = 1 ]
  # Once there is room again the run begins anew.
  rm -rf "$SLURM"/small/d/*/runs/full/*/attempts
  sed -i 's/4000000/40/; s/exit 3/exit 0/' full.yaml
  run apply full.yaml
  [ "$status" = 0 ]
  [[ $output == *"full: SUCCEEDED"* ]]
}

@test "an attempt begins once, also for a controller that has forgotten it" {
  slurm_job a.yaml single 0 'echo began; sleep 600'
  apply --detach a.yaml
  wait_until 30 logs_have single began
  run=$(dirname "$(readlink -f "$HOME"/.jobrun/runs/single/*/job.sh)")
  id=$(readlink "$run/job")
  run "$JOBRUN" next-attempt --job "$id" --queued 0 "$run"
  [ "$output" = "end 1" ]
}

@test "the controller goes and comes back: the run goes on, and nobody says otherwise" {
  slurm_job a.yaml ctl 1 'for i in 1 2 3; do echo line $i; sleep 1; done; until [ -e again ]; do sleep 0.2; done; echo line 4'
  "$JOBRUN" apply --yes a.yaml >out 2>&1 3>&- &
  wait_until 20 grep -q "line 2" out
  # One that is killed at once may have lost that the job runs.
  scontrol shutdown slurmctld
  wait_until 20 test ! -e "/proc/$(cat "$SLURM/pid/slurmctld")"
  away() { [[ $(jobrun status ctl) == *RUNNING*"Slurm does not answer"* ]]; }
  wait_until 30 away
  slurm_start_controller
  touch "$HOME/again"
  # What it still has to clean up takes it another minute.
  wait_until 60 grep -q "ctl: SUCCEEDED" out
  [ "$(grep -c "\[0\] line" out)" = 4 ]
}

# A squeue that answers in an odd way, as long as $TMP/odd is there.
odd_squeue() {
  mkdir -p bin
  printf '#!/bin/sh\n[ ! -e %s/odd ] || { %s; }\nexec %s "$@"\n' \
    "$TMP" "$1" "$(PATH=/usr/bin:/bin command -v squeue)" >bin/squeue
  chmod +x bin/squeue
  PATH=$PWD/bin:$PATH
  touch "$TMP/odd"
}

@test "an odd answer of squeue is no end: Slurm is asked again" {
  for odd in 'exit 0' 'echo garbage; exit 0' 'echo "squeue: error: odd" >&2; exit 1'; do
    odd_squeue "$odd"
    slurm_job a.yaml odd 0 "until [ -e $TMP/go ]; do sleep 0.1; done; echo $RANDOM"
    apply a.yaml >out 2>&1 &
    wait_until 30 logs_run_folder odd
    sleep 2
    [[ $(field odd 'j["state"]') =~ QUEUED|RUNNING ]]
    rm "$TMP/odd"
    touch "$TMP/go"
    wait $!
    grep "odd: SUCCEEDED" out
    rm "$TMP/go"
    jobrun delete odd
  done
}

@test "a controller that is away does not hold back what the folder says" {
  odd_squeue 'echo "slurm_load_jobs error: Unable to contact slurm controller (connect failure)" >&2; exit 1'
  rm "$TMP/odd"
  slurm_job a.yaml held 0 "until [ -e $TMP/go ]; do sleep 0.1; done"
  apply a.yaml >out 2>&1 &
  wait_until 30 logs_run_folder held
  touch "$TMP/odd" "$TMP/go"
  wait_until 20 grep -q "held: SUCCEEDED" out
  wait_until 10 eval '! kill -0 $! 2>/dev/null'
}

@test "what the controller has forgotten is in the accounting, where there is one" {
  local id
  slurm_job a.yaml done 0 'true'
  slurm_job b.yaml gone 0 'true'
  slurm_job c.yaml away 0 'true'
  scontrol update partitionname=main state=down
  apply --detach b.yaml c.yaml
  id=$(squeue -h -n gone -o %i)
  scancel -n gone
  scancel -n away
  # A controller that knows of neither, and a strict sacct.
  mkdir bin
  echo '#!/bin/sh' >bin/squeue
  cat >bin/sacct <<E
#!/bin/sh
case "\$SLURM_TIME_FORMAT \$*" in
  "%s -n -P --noconvert -S uts"*" -o JobID,JobName,State,Submit,Start,End,ElapsedRaw,AllocCPUS,TotalCPU,MaxRSS,NodeList,Comment --name="*) ;;
  *) echo "what? \$*" >&2; exit 1 ;;
esac
[ -e $TMP/on ] || { echo Slurm accounting storage is disabled >&2; exit 1; }
now=\$(date +%s)
echo "$id|gone|CANCELLED by 0|\$now|Unknown|\$now|0|2|00:00:00||None assigned|"
echo "999|done|COMPLETED|\$now|\$now|\$now|10|2|00:00:00||n1|jobrun:somebody:else's"
echo "\$(cat $TMP/next)|done|COMPLETED|\$now|\$now|\$now|10|2|00:00:00||n1|"
echo "\$(cat $TMP/next).0|jobrun-1|COMPLETED|\$now|\$now|\$now|10|2|00:07.500|2147483648|n1|"
E
  chmod +x bin/*
  # Where there is none nothing is said of it.
  PATH=$TMP/bin:$PATH run jobrun status away
  [ "$status" = 0 ]
  [[ $output == *"it never started, and Slurm no longer knows it"* ]]
  refute grep -q "sacct\|accounting" <<<"$output"
  touch on
  PATH=$TMP/bin:$PATH run jobrun status gone
  echo "$output"
  [[ $output == *"gone  CANCELLED"* ]]
  # That is over: what comes now is another run.
  PATH=$TMP/bin:$PATH apply --detach b.yaml
  [ "$(field gone '(j["attempt"], j["state"])')" = "(2, 'QUEUED')" ]
  echo $(($(squeue -h -o %i | sort -n | tail -1) + 1)) >next
  scontrol update partitionname=main state=up
  rm bin/squeue
  PATH=$TMP/bin:$PATH run apply a.yaml
  [ "$status" = 0 ]
  run jobrun status done
  [[ $output == *"used: 8s of CPU time, 20s of CPU time allocated, peak memory of one task 2.1 GB"* ]]
  [ "$(field done 'j["usage"]')" = "{'cpuSeconds': 7.5, 'allocatedCpuSeconds': 20.0, 'maxMemoryBytes': 2147483648}" ]
}

# tuned FILE ID WORKERS COMMAND HYPERPARAMETERS [MORE]: sh -c COMMAND takes what
# follows as $0 ...
tuned() {
  slurm_job "$1" "$2" "$3" "for i in \"\$0\" \"\$@\"; do case \$i in --a=*) a=\${i#--a=};; esac; done; $4" "${6:-}"
  sed -i "s/^jobrun:/  hyperparameters: $5\n&/" "$1"
}
trials() {
  field "$1" '"\n".join("%s %s %s %s %s" % (t["number"], t["state"], t["hyperparameters"]["a"], t["value"], t["step"]) for t in j["trials"])'
}

@test "trials are a job array: values, logs, metric files, restarts, the best" {
  mkdir src && echo x >src/data
  tuned a.yaml grid 1 'cat data; [ $a != 2 ] || [ -e $JOBRUN_RUN_DIR/once ] || { touch $JOBRUN_RUN_DIR/once; echo bad luck >&2; exit 3; }; [ $RANK = 0 ] || exit 0; echo trial $CLOUD_ML_TRIAL_ID of $WORLD_SIZE has $a; echo m=$((a * 10)); [ $a != 4 ] || { echo m=99; echo "{\"global_step\": \"7\", \"m\": \"0.5\"}" >$CLOUD_ML_HP_METRIC_FILE; }' \
    '{goal: MAXIMIZE, hyperparameterMetricTag: m, maxTrials: 9, maxParallelTrials: 2, params: [{parameterName: a, type: INTEGER, minValue: 1, maxValue: 5}]}' \
    '  source: src
  restart: {maxRestarts: 1, backoff: 1s}'
  run jobrun plan a.yaml
  [[ $output == *"slurm.array"*"1-5, 2 at a time"* ]]
  [[ $output == *"trials.search"*"grid of 5 points"* ]]
  sed 's/masterType: .*/masterType: n1-standard-4/' a.yaml >het.yaml
  run jobrun plan het.yaml
  [[ $output == *"Slurm has no arrays of heterogeneous jobs"* ]]
  run apply a.yaml
  echo "$output"
  [ "$status" = 0 ]
  [[ $output == *"grid: the best of 5 trials is 5: m 50 with --a=5"* ]]
  [ "$(trials grid)" = "1 SUCCEEDED 1 10.0 1
2 SUCCEEDED 2 20.0 1
3 SUCCEEDED 3 30.0 1
4 SUCCEEDED 4 0.5 7
5 SUCCEEDED 5 50.0 1" ]
  [ "$(jobrun logs --trial 3 grid | grep -c ' x$')" = 2 ]
  [ "$(jobrun logs --trial 2 grid | grep -o 'trial.*')" = "trial 2 of 2 has 2" ]
  [[ $(jobrun status grid) == *"the best of 5: 'jobrun logs --trial 5"* ]]
  [[ $(jobrun metrics --trial 5 grid) == *50* ]]
  # Another machine knows by the folder that all is done.
  JOBRUN_STATE_DIR=$TMP/other run jobrun plan a.yaml
  [[ $output == *"Plan: nothing to do"* || $output == *"up to date"* || $output == *"succeeded"* ]]
}

@test "too many trials fail, or one is hopeless: the others are told where they run" {
  mkdir src && echo x >src/data
  tuned a.yaml fails 0 '[ $a != 1 ] || { echo m=1; exit; }; [ $a -lt 4 ] || { echo up; exec sleep 60; }; until grep -qs up ../../fails/*/trials/4/attempts/0/logs/*; do sleep 0.1; done; echo bad luck >&2; exit 3' \
    '{goal: MINIMIZE, hyperparameterMetricTag: m, maxTrials: 9, maxParallelTrials: 3, maxFailedTrials: 2, params: [{parameterName: a, type: INTEGER, minValue: 1, maxValue: 9}]}' \
    '  source: src'
  tuned b.yaml early 0 'if [ $a -lt 4 ]; then for s in 1 2 3 4; do echo Step=$s m=$a; done; exit; fi; echo Step=1 m=$a; exec sleep 300' \
    '{goal: MINIMIZE, hyperparameterMetricTag: m, maxTrials: 4, enableTrialEarlyStopping: true, params: [{parameterName: a, type: INTEGER, minValue: 1, maxValue: 4}]}'
  tuned c.yaml off 0 'echo up; exec sleep 300' \
    '{goal: MINIMIZE, hyperparameterMetricTag: m, maxTrials: 9, maxParallelTrials: 2, params: [{parameterName: a, type: INTEGER, minValue: 1, maxValue: 9}]}'
  apply --detach a.yaml b.yaml
  over() { [ -z "$(in_queue "$1" running,pending,completing)" ]; }
  wait_until 60 over fails
  wait_until 60 over early
  run jobrun wait fails
  echo "$output"
  [ "$status" = 1 ]
  [[ $(field fails 'j["error"]') == "2 trials failed (maxFailedTrials); trial "[23]": master 0 exited with 3: bad luck" ]]
  [ "$(trials fails | cut -d" " -f1-2 | head -4)" = "1 SUCCEEDED
2 FAILED
3 FAILED
4 CANCELLED" ]
  [ "$(field fails 'j["bestTrial"]')" = 1 ]
  run jobrun wait early
  [ "$status" = 0 ]
  [ "$(field early '[(t["state"], t["stoppedEarly"], t["value"]) for t in j["trials"]][3], j["bestTrial"]')" = "('CANCELLED', True, 4.0) 1" ]
  # Who is cancelled is not started, nor gone on with.
  apply --detach c.yaml
  ups() { jobrun status off >/dev/null; [ "$(grep -l up "$HOME"/.jobrun/runs/off/*/trials/*/attempts/0/logs/*.stdout | wc -l)" = 2 ]; }
  wait_until 60 ups
  timeout 60 "$JOBRUN" cancel off
  state_is off CANCELLED
  [ "$(trials off | cut -d" " -f1-2)" = "1 CANCELLED
2 CANCELLED" ]
  over off
}

@test "killed after each call, apply goes on: one job, and nothing is left over" {
  local n=0 real
  mkdir bin src && echo x >src/data
  # Each program that it calls counts, and kills it at the nth, done or not.
  for real in sh env scancel; do
    cat >bin/$real <<E
#!/bin/bash
[ -n "\$COUNTED" ] || exec $(command -v $real) "\$@"
n=\$(cat $TMP/count 2>/dev/null || echo 0)
echo \$((n + 1)) >$TMP/count
[ \$n != "\$(cat $TMP/die)" ] || [ -e $TMP/after ] || { kill -9 \$PPID; exit 1; }
$(command -v $real) "\$@"
s=\$?
[ \$n != "\$(cat $TMP/die)" ] || kill -9 \$PPID
exit \$s
E
    chmod +x bin/$real
  done
  export COUNTED=yes # in no job
  slurm_job a.yaml once 1 'echo done' "  source: src"
  killed_at_each once --detach
  [ "$(in_queue once | wc -l)" = 1 ]
  # Of an array also while it is followed.
  tuned a.yaml tries 0 'echo m=$a' \
    '{goal: MAXIMIZE, hyperparameterMetricTag: m, maxTrials: 3, maxParallelTrials: 2, params: [{parameterName: a, type: INTEGER, minValue: 1, maxValue: 3}]}' \
    '  source: src'
  killed_at_each tries
  [ "$(in_queue tries | wc -l)" = 3 ]
  [ "$(trials tries | cut -d" " -f1-2,4)" = "1 SUCCEEDED 1.0
2 SUCCEEDED 2.0
3 SUCCEEDED 3.0" ]
  for n in 1 2 3; do [ "$(jobrun logs --trial $n tries | grep -c "m=$n")" = 1 ]; done
}

# killed_at_each JOB [OPTION]: a.yaml is applied until nothing kills it
killed_at_each() {
  local n
  for n in 0 1 2 3 4 5 6 7 8 9 10; do
    [ $((n % 2)) = 0 ] && rm -f after || touch after
    echo $n >die
    rm -f count
    PATH=$TMP/bin:$PATH run apply ${2:-} a.yaml
  done
  echo none >die
  run apply a.yaml
  echo "$output"
  [ "$status" = 0 ]
  state_is $1 SUCCEEDED
  [ "$(ls "$HOME/.jobrun/runs/$1" | wc -l)" = 1 ]
  [ -z "$(find "$HOME/.jobrun" -name '.new.*')" ]
}

@test "through a login host it is the same" {
  sshd_up 1
  mkdir src && echo over there >src/data
  slurm_job a.yaml far 1 'cat data; echo "rank $RANK"; [ $RANK = 1 ] || exec sleep 60; sleep 1; exit 4' \
    "  source: src
  slurm: {loginHost: h1, directory: $TMP/shared}"
  run timeout 60 env PATH="$(no_slurm)" "$JOBRUN" apply --yes a.yaml
  echo "$output" | tail -5
  [ "$status" = 1 ]
  [[ $output == *"[0] over there"* ]]
  [[ $output == *"[1] rank 1"* ]]
  [[ $output == *"far: FAILED after"*": worker 0 exited with 4"* ]]
  [ -d "$TMP/shared/$(id -un)/runs/far" ]
  # One connection for all of it.
  [ "$(grep -c 'Accepted publickey' "$SSH/h1/log")" = 1 ]
  run env PATH="$(no_slurm)" "$JOBRUN" delete far
  echo "$output"
  [ "$status" = 0 ]
  [ ! -e "$TMP/shared/$(id -un)/runs/far" ]
}

# What a login host's commands do on the way: with the file cut there, the next
# one of this name loses the connection in the middle of its answer.
cutting() {
  mkdir -p bin
  cat >bin/"$1" <<E
#!/bin/sh
[ -e $TMP/cut ] || exec $(command -v "$1") "\$@"
rm $TMP/cut
echo "half of an ans"
pid=\$\$
until [ "\$(cat /proc/\$pid/comm)" = sshd ]; do
  read -r _ _ _ pid _ </proc/\$pid/stat
done
kill -9 \$pid
sleep 1
E
  chmod +x bin/"$1"
}

# The ssh that all calls share; it writes over its variables.
ssh_master() {
  local pid
  for pid in $(pgrep -f '^ssh: .*\[mux\]'); do
    [ "$(readlink "/proc/$pid/cwd")" != "$HOME" ] || echo "$pid"
  done
}

@test "a connection to the login host that is cut, or goes silent: it goes on" {
  local pid sshd i
  SSH_PATH=$TMP/bin:$PATH
  cutting squeue
  sshd_up 1
  slurm_job a.yaml cut 1 "i=0; until [ -e $TMP/stop ]; do i=\$((i+1)); echo line \$i; sleep 0.01; done; echo \$i >&2" \
    "  slurm: {loginHost: h1, directory: $TMP/shared}"
  timeout 240 env PATH="$(no_slurm)" "$JOBRUN" apply --yes a.yaml >out 2>err 3>&- &
  pid=$!
  says() { [ "$(grep -c "$1" err)" -ge "$2" ]; }
  wait_until 30 grep -q "\[1\] line 9" out
  # sshd's process goes, in the middle of an answer.
  touch cut
  wait_until 30 says "login host 'h1': the connection was cut" 1
  wait_until 30 says "it runs" 1
  wait_until 30 eval '[ -n "$(ssh_master)" ]'
  # So does ours.
  kill -9 $(ssh_master)
  wait_until 30 eval '[ -n "$(ssh_master)" ]'
  # Nobody answers, and nobody says that nobody will.
  sshd=$(cat "$SSH/h1/pid")
  kill -STOP "$sshd" $(pgrep -P "$sshd")
  i=$(grep -c "login host 'h1': " err)
  wait_until 60 says "login host 'h1': " $((i + 1))
  kill -CONT "$sshd" $(pgrep -P "$sshd")
  touch stop
  wait "$pid"
  grep -q "cut: SUCCEEDED" err
  # Each line came, and came once.
  for i in 0 1; do
    sed -n "s/^.* \[$i\] line/line/p" out |
      cmp - <(seq -f 'line %.0f' "$(sed -n "s/^.* \[$i\] \([0-9]*\)\$/\1/p" out)")
  done
}

@test "the quickstart as it is, over four nodes: DDP, lines, metrics, accuracy" {
  /usr/bin/python3 -c 'import torch' 2>/dev/null || skip "needs python3-torch"
  slurm_has_names || skip "needs names for the nodes"
  local job=$BATS_TEST_DIRNAME/../../examples/quickstart/job.yaml
  # But for its length.
  cp -r "$(dirname "$job")" q
  sed -i 's/--epochs, "5"/--epochs, "1", --samples, "4000"/' q/job.yaml
  run timeout 300 "$JOBRUN" apply --yes --provider slurm --set trainingInput.workerCount=3 q/job.yaml
  echo "$output" | tail -20
  [ "$status" = 0 ]
  for i in 0 1 2 3; do
    [[ $output == *"[$i] | Training Device="*"Epoch=1"* ]]
  done
  [[ $output == *"quickstart: SUCCEEDED"* ]]
  # All four have learnt the same model.
  [ "$(field quickstart 'sorted(t["host"] for t in j["tasks"])')" = "['n1', 'n2', 'n3', 'n4']" ]
  run jobrun metrics quickstart
  echo "$output"
  [[ $output == *[Ll]oss* && $output == *[Aa]ccuracy* ]]
}

@test "DDP trains in several processes on each of two nodes, by jobrun and by torchrun" {
  has_torchrun
  slurm_has_names || skip "needs names for the nodes"
  slurm_job a.yaml a 1 x "  slurm: {gres: {NVIDIA_TESLA_T4: gpu}}"
  sed "s/jobId: a/jobId: b/" a.yaml >b.yaml
  ddp a.yaml 4
  ddp b.yaml 2 torchrun
  for job in a b; do
    count=$([ $job = a ] && echo 4 || echo 2)
    run timeout 300 "$JOBRUN" apply --yes $job.yaml
    echo "$output"
    [ "$status" = 0 ]
    is_one_world $count "$(jobrun logs $job)"
  done
  [ "$(field a '[t["host"] for t in j["tasks"]]')" = "['n1', 'n1', 'n1', 'n1', 'n2', 'n2', 'n2', 'n2']" ]
  [ "$(field b '[t["host"] for t in j["tasks"]]')" = "['n1', 'n2']" ]
}

# A PATH with what this machine has, but for Slurm's commands.
no_slurm() {
  mkdir -p "$TMP/few"
  local name
  for name in ssh sh env; do ln -sf "$(command -v $name)" "$TMP/few/"; done
  echo "$TMP/few"
}

by_two_versions() {
  slurm_job long.yaml long 0 "exec sleep $NAP"
  first apply --yes --detach long.yaml
  seen_by_all long.yaml
  [[ $output == *"with other settings"* ]]
  slurm_job short.yaml short 0 true
  first apply --yes short.yaml
  seen_by_all short.yaml
  [[ $output == *"changed since attempt 1 (succeeded)"* ]]
  second cancel long
  second delete long
  second delete short
  [ -z "$(ls -A "$HOME/.jobrun/runs")" ]
  rm -rf other
}

@test "a run of Slurm, by one version and then by another" {
  both by_two_versions
}

@test "a run of another project's job of that name is left alone" {
  local p
  for p in p1 p2; do
    mkdir -p $p
    slurm_job $p/config.yaml config 0 "echo $p; sleep 60"
  done
  jobrun apply --yes --detach p1/config.yaml
  squeue -h -o %k | grep -q '^jobrun:config:.*:[a-z0-9_]*_p1-[0-9a-f]\{12\}$'
  for state in "$JOBRUN_STATE_DIR" "$TMP/other"; do
    JOBRUN_STATE_DIR=$state run jobrun apply --yes --detach p2/config.yaml
    echo "$output"
    [ "$status" -eq 75 ]
    [[ $output == *"from dir:$TMP/p1, this one from dir:$TMP/p2;"* ]]
  done
  jobrun cancel --now config
}
