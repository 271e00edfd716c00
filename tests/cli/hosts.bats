# Tasks on other machines: real sshd, several of them.
# bats file_tags=server
load helper
load sshd
load ddp
load podman

@test "tasks run on their hosts, and what they leave comes back" {
  sshd_up 3
  mkdir src
  echo hello >src/greeting
  host_job a.yaml a h1,h2,h3 \
    'cat greeting; echo $RANK of $WORLD_SIZE at $MASTER_ADDR; echo $RANK >$JOBRUN_RUN_DIR/rank; '"$(all_of 3 RANK)" \
    '  source: src'
  run jobrun apply a.yaml
  [ "$status" -eq 0 ]
  [ "$(grep -c hello <<<"$output")" -eq 3 ]
  [[ $output == *"h1 [0] 0 of 3 at $SSH_NET.1"* ]]
  [[ $output == *"h3 [2] 2 of 3 at $SSH_NET.1"* ]]
  [ "$(cat state/runs/a.1/output/rank)" = 0 ]
  [ "$(cat state/runs/a.1/output/host-2/rank)" = 2 ]
  for host in h1 h2 h3; do host_is_clean $host; done
  wait_until 15 nothing_runs
}

@test "more tasks than hosts: it begins again with the first" {
  sshd_up 2
  host_job a.yaml a h1,h2 'echo on $RANK; '"$(all_of 4 RANK)"
  sed -i 's/workerCount: 1/workerCount: 3/' a.yaml
  run jobrun apply a.yaml
  [ "$status" -eq 0 ]
  [[ $output == *"h1 [2] on 2"* ]]
  [[ $output == *"h2 [3] on 3"* ]]
  [ "$(field a '[t["host"] for t in j["tasks"]]')" = "['h1', 'h2', 'h1', 'h2']" ]
}

@test "the source is shipped once, and again when it has changed" {
  sshd_up 1
  mkdir src
  echo one >src/a
  host_job a.yaml a h1 'cat a' '  source: src'
  jobrun apply a.yaml
  jobrun apply --rerun a.yaml
  [ "$(ls "$SSH/h1/cache/jobrun" | grep -c ship)" -eq 1 ]
  echo two >src/a
  run jobrun apply a.yaml
  [[ $output == *"h1 [0] two"* ]]
  [ "$(ls "$SSH/h1/cache/jobrun" | grep -c ship)" -eq 2 ]
}

@test "the first task that fails ends the others on every host" {
  sshd_up 3
  host_job a.yaml a h1,h2,h3 \
    "[ \$RANK != 1 ] || { sleep 0.5; echo no data >&2; exit 3; }; setsid sleep $NAP & sleep $NAP"
  run jobrun apply a.yaml
  [ "$status" -eq 1 ]
  [[ $output == *"worker 0 exited with 3: no data"* ]]
  refute pgrep -f "sleep $NAP"
  [ "$(field a '[t["state"] for t in j["tasks"]]')" = "['CANCELLED', 'FAILED', 'CANCELLED']" ]
}

@test "a cancelled run has its grace on the hosts" {
  sshd_up 2
  host_job a.yaml a h1,h2 \
    "trap 'echo saved; exit 0' TERM; echo up; while :; do sleep 0.1; done"
  jobrun apply --detach a.yaml
  wait_until 30 state_is a RUNNING
  wait_until 10 grep -q up state/runs/a.1/logs/worker-0.stdout
  jobrun cancel a
  state_is a CANCELLED
  grep -q saved state/runs/a.1/logs/master-0.stdout
  grep -q saved state/runs/a.1/logs/worker-0.stdout
  wait_until 15 nothing_runs
}

@test "a program that cannot start on a host: the state says why" {
  sshd_up 2
  host_job a.yaml a h1,h2 true
  sed -i 's/command: .*/command: [no-such-trainer]/' a.yaml
  run timeout 60 "$JOBRUN" apply a.yaml
  [ "$status" -eq 1 ]
  [[ $(field a 'j["error"]') == *"did not start: command 'no-such-trainer' not found"* ]]
  wait_until 15 nothing_runs
}

@test "a stopped task on a host hears a cancel" {
  local began
  sshd_up 1
  host_job a.yaml a h1 "echo \$\$ >$TMP/pid.new; mv $TMP/pid.new $TMP/pid; exec sleep $NAP"
  sed -i 's/grace: .*/grace: 90s/' a.yaml
  jobrun apply --detach a.yaml
  wait_until 30 test -s pid
  kill -STOP "$(cat pid)"
  began=$SECONDS
  jobrun cancel a
  [ $((SECONDS - began)) -lt 60 ]
  state_is a CANCELLED
  [ "$(field a 'j["tasks"][0]["exitCode"]')" = 143 ]
  wait_until 15 nothing_runs
}

@test "what is cancelled before a host has answered has ended" {
  export JOBRUN_SSH_CONFIG=$TMP/ssh_config
  printf 'Host h1\n  ProxyCommand sleep %s\n' "$NAP" >ssh_config
  host_job a.yaml a h1 'echo never'
  jobrun apply --detach a.yaml
  wait_until 10 state_is a PREPARING
  timeout 20 "$JOBRUN" cancel a
  state_is a CANCELLED
  wait_until 15 nothing_runs
}

supervisor() {
  tr -d ' \n' <state/runs/a.1/lock
}

# Lines with numbers, from two hosts, until they are told to stop.
count_lines() {
  host_job a.yaml a h1,h2 \
    "i=0; until [ -e $TMP/stop ]; do i=\$((i+1)); echo line \$i; [ \$((i % 10)) != 0 ] || sleep 0.01; done; echo \$i >&2"
}

each_line_once() {
  local log
  for log in master-0 worker-0; do
    seq -f 'line %.0f' "$(cat "state/runs/a.1/logs/$log.stderr")" |
      cmp - "state/runs/a.1/logs/$log.stdout"
  done
}

@test "kill -9 of all of jobrun here, twice: the run goes on, each line once" {
  local i s
  sshd_up 2
  count_lines
  jobrun apply --detach a.yaml
  wait_until 30 state_is a RUNNING
  for i in 1 2; do
    sleep 0.3
    s=$(supervisor)
    kill -9 "$(ps -o ppid= -p "$s" | tr -d ' ')" "$s"
    # Any look at the run finds nobody, and starts another supervisor.
    wait_until 30 state_is a RUNNING
  done
  touch stop
  timeout 60 "$JOBRUN" wait a
  each_line_once
  [ "$(jobrun logs a | wc -l)" -eq "$(cat state/runs/a.1/logs/*.std* | wc -l)" ]
  wait_until 15 nothing_runs
}

@test "kill -9 of the supervisor: its guard starts another" {
  sshd_up 2
  count_lines
  jobrun apply --detach a.yaml
  wait_until 30 state_is a RUNNING
  kill -9 "$(supervisor)"
  sleep 1
  touch stop
  timeout 60 "$JOBRUN" wait a
  each_line_once
  state_is a SUCCEEDED
}

@test "a connection that breaks is made again, and no line is lost" {
  sshd_up 2
  count_lines
  jobrun apply --detach a.yaml
  wait_until 30 state_is a RUNNING
  sleep 0.3
  pkill -9 -P "$(supervisor)" ssh
  sleep 1
  touch stop
  timeout 60 "$JOBRUN" wait a
  each_line_once
}

@test "an ssh that is killed before it has connected is started again" {
  sshd_up 1
  host_job a.yaml a h1 'echo there'
  cat >ssh-dies-once <<EOF
#!/bin/sh
mkdir "$TMP/died" 2>/dev/null && kill -9 \$\$
exec ssh "\$@"
EOF
  chmod +x ssh-dies-once
  JOBRUN_SSH=$TMP/ssh-dies-once jobrun apply a.yaml
  [ -d died ]
  [[ $(jobrun logs a) == *"h1 [0] there" ]]
}

@test "a network that is cut at the start fails no run: it is tried again" {
  sshd_up 1
  host_job a.yaml a h1 'echo there'
  # A server that answers no more; a packet that is broken; and who kills what
  # connects on the host.
  cat >ssh-breaks-thrice <<EOF
#!/bin/sh
mkdir "$TMP/one" 2>/dev/null && exit 255
mkdir "$TMP/two" 2>/dev/null && { echo 'Corrupted MAC on input.' >&2; exit 255; }
mkdir "$TMP/three" 2>/dev/null && exit 137
exec ssh "\$@"
EOF
  chmod +x ssh-breaks-thrice
  JOBRUN_SSH=$TMP/ssh-breaks-thrice jobrun apply a.yaml
  [ -d three ]
  [[ $(jobrun logs a) == *"h1 [0] there" ]]
}

@test "much output, and connections that break within it: each byte once" {
  local i log
  sshd_up 2
  host_job a.yaml a h1,h2 \
    "for i in 1 2 3 4 5 6 7 8; do until [ -e $TMP/go.\$i ]; do sleep 0.02; done; seq 200000; seq 50000 >&2; done"
  touch go.1 go.2 go.3 go.4
  jobrun apply --detach a.yaml
  for i in 1 5; do
    touch "go.$i" "go.$((i + 1))" "go.$((i + 2))"
    wait_until 20 larger_than "$((i * 1200000))" worker-0.stdout
    pkill -9 -P "$(supervisor)" ssh
  done
  touch go.8
  timeout 60 "$JOBRUN" wait a
  for i in 1 2 3 4 5 6 7 8; do seq 200000; done >out
  for i in 1 2 3 4 5 6 7 8; do seq 50000; done >err
  for log in master-0 worker-0; do
    cmp out "state/runs/a.1/logs/$log.stdout"
    cmp err "state/runs/a.1/logs/$log.stderr"
  done
}

larger_than() {
  local log=state/runs/a.1/logs/$2
  [ -e "$log" ] && [ "$(stat -c %s "$log")" -gt "$1" ]
}

# The daemons of agents on a host.
agents_on() {
  local pid
  for pid in $(pgrep -x jobrun-host); do
    ! grep -qzF "XDG_STATE_HOME=$SSH/$1/state" "/proc/$pid/environ" ||
      echo "$pid"
  done
}

@test "kill -9 of an agent: nothing of the run is left, and the host is named" {
  sshd_up 2
  host_job a.yaml a h1,h2 "setsid sleep $NAP & sleep $NAP"
  jobrun apply --detach a.yaml
  wait_until 30 state_is a RUNNING
  kill -9 $(agents_on h2)
  run timeout 30 "$JOBRUN" wait a
  [ "$status" -eq 1 ]
  [[ $(field a 'j["error"]') == *"h2"*"agent was killed"* ]]
  wait_until 15 nothing_runs
  refute pgrep -f "sleep $NAP"
}

@test "keys of hosts are learned once, and a changed one is refused" {
  sshd_up 1
  host_job a.yaml a h1 true
  jobrun apply a.yaml
  [ "$(ssh-keygen -F "h1-$SSH_PORT" -f state/known_hosts/a | grep -c h1)" -ge 1 ]
  jobrun apply --rerun a.yaml
  [ "$(ssh-keygen -F "h1-$SSH_PORT" -f state/known_hosts/a | grep -c '^# Host')" -eq 1 ]
  sshd_stop h1
  rm "$SSH/h1/key"
  ssh-keygen -q -t ed25519 -N '' -f "$SSH/h1/key"
  sshd_start h1
  wait_until 5 sshd_answers h1
  run jobrun apply --rerun a.yaml
  [ "$status" -eq 69 ]
  [[ $output == *"host 'h1': its host key has changed"* ]]
}

@test "who is not let in is told so" {
  sshd_up 1
  ssh-keygen -q -t ed25519 -N '' -f other
  sed -i "s,$SSH/id\$,$PWD/other," "$SSH/config"
  host_job a.yaml a h1 true
  run jobrun apply a.yaml
  echo "$status $output"
  [ "$status" -eq 77 ]
  [[ $output == *"host 'h1': ssh is refused"*"by a key or an agent"* ]]
}

@test "preflight: a host that fails it is named, and runs neither setup nor the program" {
  sshd_up 2
  host_job a.yaml a h1,h2 'echo began' \
    "  preflight: {disk: 1MB, command: [sh, -c, 'case \$XDG_STATE_HOME in */h2/*) echo no licence >&2; exit 4;; esac']}
  setup: [sh, -c, 'case \$XDG_STATE_HOME in */h2/*) touch $TMP/ran;; esac']"
  run timeout 60 "$JOBRUN" apply a.yaml
  [ "$status" -eq 1 ]
  [[ $output == *"host 'h2': setup exited with 69: preflight: sh exited with 4"* ]]
  [[ $output != *"] began"* ]]
  [ ! -e ran ]
}

@test "setup runs once on each host, and its failure names the host" {
  sshd_up 2
  host_job a.yaml a h1,h2 'echo never' \
    '  setup: [sh, -c, "case $XDG_STATE_HOME in */h2/*) echo no disk >&2; exit 4;; esac"]'
  run jobrun apply a.yaml
  [ "$status" -eq 1 ]
  [[ $output == *"host 'h2': setup exited with 4: no disk"* ]]
  refute grep -q '\] never' <<<"$output"
  wait_until 15 nothing_runs
}

@test "a host that answers when all is over is told so" {
  sshd_up 2
  cat >late <<'PY'
#!/usr/bin/python3
import os, subprocess, sys, time
agent = subprocess.Popen(["/bin/sh", "-c", os.environ["SSH_ORIGINAL_COMMAND"]],
                         stdout=subprocess.PIPE, bufsize=0)
for line in agent.stdout:
    os.write(1, line)
    if b"jobrun-host: have" in line:
        break
os.chdir(os.path.dirname(sys.argv[0]))
late = agent.stdout.read(65536)
open("greeted", "w")
while late and not os.path.exists("failed"):
    time.sleep(0.1)
time.sleep(0.5)
while late:
    os.write(1, late)
    late = agent.stdout.read(65536)
PY
  chmod +x late
  sshd_stop h1
  sshd_start h1 -o "ForceCommand=$PWD/late"
  wait_until 5 sshd_answers h1
  host_job a.yaml a h1,h2 'echo never' \
    "  setup: [sh, -c, 'until [ -e $TMP/greeted ]; do sleep 0.1; done; touch $TMP/failed; exit 4']"
  run jobrun apply a.yaml
  [ "$status" -eq 1 ]
  [[ $output == *"host 'h2': setup exited with 4"* ]]
  wait_until 15 nothing_runs
  for host in h1 h2; do host_is_clean $host; done
}

@test "secrets reach the tasks, and nothing else" {
  sshd_up 1
  host_job a.yaml a h1 '[ -z "$TOKEN" ] || echo have it; sleep 1' '  secrets: {TOKEN: {env: MY_TOKEN}}'
  MY_TOKEN=geheim-$NAP jobrun apply --detach a.yaml
  wait_until 10 grep -q have state/runs/a.1/logs/master-0.stdout
  refute grep -rqF "geheim-$NAP" state "$SSH"
  refute pgrep -f "geheim-$NAP"
  jobrun wait a
}

@test "what a login shell prints before is no trouble" {
  sshd_up 1
  printf '#!/bin/sh\necho Welcome to h1\necho\nexec /bin/sh -c "$SSH_ORIGINAL_COMMAND"\n' >noisy
  chmod +x noisy
  sshd_stop h1
  sshd_start h1 -o "ForceCommand=$PWD/noisy"
  wait_until 5 sshd_answers h1
  host_job a.yaml a h1 'echo up'
  run jobrun apply a.yaml
  [ "$status" -eq 0 ]
  [[ $output == *"h1 [0] up"* ]]
}

@test "plan lists the hosts, and says what is not copied" {
  host_job a.yaml a h1,h2,h3 true
  sed -i 's/workerCount: 2/workerCount: 1/' a.yaml
  run jobrun plan a.yaml
  [ "$status" -eq 0 ]
  [[ $output == *"hosts"*"h1 h2 h3"* ]]
  [[ $output == *"1 of the 3 hosts get no task"* ]]
  [[ $output == *"jobrun copies nothing to the hosts"* ]]
}

# A program that says how it was called and runs what follows its options.
stand_in() {
  mkdir -p bin
  cat >"bin/$1" <<E
#!/bin/sh
echo "$1 \$*" >>$PWD/$1.log
[ "\$1" = run ] || exit 0
entry=
until [ "\$1" = "$2" ]; do
  case \$1 in --entrypoint=*) entry=\${1#*=} ;; esac
  shift
done
shift
exec \$entry "\$@"
E
  chmod +x "bin/$1"
}

@test "docker: a container for each task, no value in its arguments" {
  sshd_up 1
  stand_in docker img:1
  mkdir src
  sshd_stop h1
  sed -i "s,^SetEnv .*,& PATH=$PWD/bin:/usr/bin:/bin," "$SSH/h1/sshd_config"
  "$(command -v sshd || echo /usr/sbin/sshd)" -f "$SSH/h1/sshd_config"
  wait_until 5 sshd_answers h1
  host_job a.yaml a h1 'pwd; echo $A' \
    '  source: src
  env: {A: seen}
  docker: {image: "img:1", runFlags: [--shm-size=1g]}'
  run jobrun apply a.yaml
  [ "$status" -eq 0 ]
  [[ $output == *"h1 [0] seen"* ]]
  [[ $(head -1 docker.log) == "docker run --rm --init --network=host --name=jobrun-a-"*" -e A"*" --shm-size=1g img:1 sh -c"* ]]
  refute grep -q seen docker.log
  [[ $(tail -1 docker.log) == "docker rm -f jobrun-a-"* ]]
}

@test "container: podman and Charliecloud run a host's tasks, and leave nothing" {
  local runtime
  podman_up
  mkdir -p "$TMP/ssh/h1"
  podman_is_at >"$TMP/ssh/h1/env"
  sshd_up 1
  for runtime in podman charliecloud; do
    if [ $runtime = charliecloud ]; then
      type -P ch-run >/dev/null || continue
      USER=root ch-run --write "$TMP/image" -- /bin/sh -c : || continue
    fi
    host_job a.yaml $runtime h1 '[ -e /usr/bin/env ] || echo "boxed $RANK $A"; echo x >$JOBRUN_RUN_DIR/out; exit 3' "  env: {A: in}
  container: {runtime: $runtime, image: '$([ $runtime = podman ] && echo localhost/box:1 || echo "$TMP/image")'}"
    run jobrun apply a.yaml
    echo "$output"
    [ "$status" = 1 ]
    [[ $output == *"boxed 0 in"* ]]
    [ "$(field $runtime 'j["exitCode"]')" = 3 ]
  done
  host_job a.yaml deaf h1 'trap "" TERM; echo up; while :; do sleep '"$NAP"'; done' "  container: {runtime: podman, image: 'localhost/box:1'}"
  jobrun apply --detach a.yaml
  wait_until 120 eval '[[ $(jobrun logs deaf) == *up* ]]'
  jobrun cancel deaf
  wait_until 120 state_is deaf CANCELLED
  wait_until 120 podman_is_empty
  sed -i 's/jobId: deaf/jobId: lost/' a.yaml
  jobrun apply --detach a.yaml
  wait_until 120 eval '[[ $(jobrun logs lost) == *up* ]]'
  kill -9 $(agents_on h1)
  run timeout 300 "$JOBRUN" wait lost
  [ "$status" = 1 ]
  wait_until 120 podman_is_empty
  refute pgrep -f "sleep $NAP"
  podman_down
}

@test "container: the agent runs a task's image, and its exit code comes back" {
  sshd_up 1
  stand_in docker gcr.io/p/img:1
  mkdir src
  sshd_stop h1
  sed -i "s,^SetEnv .*,& PATH=$PWD/bin:/usr/bin:/bin," "$SSH/h1/sshd_config"
  "$(command -v sshd || echo /usr/sbin/sshd)" -f "$SSH/h1/sshd_config"
  wait_until 5 sshd_answers h1
  host_job a.yaml a h1 'echo $A; exit 7' '  source: src
  env: {A: seen}
  container: {runtime: docker, options: [--more]}'
  sed -i 's,^trainingInput:.*,& {scaleTier: BASIC\, masterConfig: {imageUri: "gcr.io/p/img:1"}},; /scaleTier: CUSTOM/d; /masterType/d' a.yaml
  run jobrun apply a.yaml
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *"h1 [0] seen"* ]]
  [[ $(head -1 docker.log) == "docker run --rm --init --network=host --ipc=host "*"--name=jobrun-a-"*" --more --entrypoint=sh gcr.io/p/img:1 -c"* ]]
  [[ $(head -1 docker.log) == *" --env=A "* ]]
  refute grep -q seen docker.log
  wait_until 5 grep -q '^docker rm -f jobrun-a-' docker.log
}

@test "conda: on hosts and here" {
  sshd_up 1
  stand_in conda torch
  host_job a.yaml a h1 'echo in $CONDA' '  conda: {env: torch}'
  # Shells that ssh starts do not have it in PATH.
  mkdir -p home/miniconda3
  mv bin home/miniconda3/bin
  sed -i "s,command:.*,command: [sh\, -c\, echo in],; s/conda: .*/&/" a.yaml
  HOME=$PWD/home jobrun plan a.yaml | grep -q 'conda.*torch'
  sed '/hosts:/d; s/jobId: a/jobId: b/' a.yaml >b.yaml
  HOME=$PWD/home run jobrun apply b.yaml
  [ "$status" -eq 0 ]
  [[ $output == *"[0] in"* ]]
  [ "$(cat conda.log)" = "conda run --no-capture-output -n torch sh -c echo in" ]
}

@test "DDP trains on four hosts" {
  /usr/bin/python3 -c 'import torch' 2>/dev/null || skip "needs python3-torch"
  sshd_up 4
  mkdir src
  cat >src/train.py <<'E'
import os
import torch
import torch.distributed as dist

os.environ["GLOO_SOCKET_IFNAME"] = "lo"
dist.init_process_group("gloo")
torch.manual_seed(0)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 1))
step = torch.optim.SGD(model.parameters(), lr=0.1)
torch.manual_seed(dist.get_rank())
for i in range(100):
    x = torch.randn(16, 2)
    loss = ((model(x) - x.sum(1, keepdim=True)) ** 2).mean()
    step.zero_grad()
    loss.backward()
    step.step()
print("rank %d of %d: loss %s" % (dist.get_rank(), dist.get_world_size(),
                                  "small" if loss < 1e-3 else loss.item()))
weights = [torch.empty_like(model.module.weight) for _ in range(4)]
dist.all_gather(weights, model.module.weight.data)
assert all(torch.equal(w, weights[0]) for w in weights)
# Without that torch may abort at its end, when a peer has closed first.
dist.barrier()
dist.destroy_process_group()
E
  host_job a.yaml a h1,h2,h3,h4 x '  source: src
  env: {OMP_NUM_THREADS: "1"}'
  sed -i 's,command:.*,command: [/usr/bin/python3\, train.py],' a.yaml
  run jobrun apply a.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  for rank in 0 1 2 3; do
    [[ $output == *"rank $rank of 4: loss small"* ]]
  done
}

@test "env says what a task on a host sees; delete forgets the host's key" {
  sshd_up 2
  host_job a.yaml a h1,h2 'sleep 1'
  [ "$(jobrun env a.yaml --task worker --index 0 | grep -c '^MASTER_ADDR=.*h1')" -eq 1 ]
  jobrun apply a.yaml
  jobrun env a.yaml --task worker --index 0 | grep -q "^MASTER_ADDR=.*$SSH_NET.1"
  [ -e state/known_hosts/a ]
  jobrun delete a
  [ ! -e state/known_hosts/a ]
}

@test "DDP trains in several processes on each of two hosts, by jobrun and by torchrun" {
  has_torchrun
  sshd_up 2
  host_job a.yaml a h1,h2 x
  sed "s/jobId: a/jobId: b/" a.yaml >b.yaml
  ddp a.yaml 4
  ddp b.yaml 2 torchrun
  for job in a b; do
    count=$([ $job = a ] && echo 4 || echo 2)
    run jobrun apply $job.yaml
    echo "$output"
    [ "$status" -eq 0 ]
    is_one_world $count "$output"
  done
  [ "$(field a '[t["host"] for t in j["tasks"]]')" = "['h1', 'h1', 'h1', 'h1', 'h2', 'h2', 'h2', 'h2']" ]
  [ "$(field b '[t["host"] for t in j["tasks"]]')" = "['h1', 'h2']" ]
}
