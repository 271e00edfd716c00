# jobrun launch: the entry point on a training host.
bats_require_minimum_version 1.5.0
# bats file_tags=server
load helper

STAND_IN=$BATS_TEST_DIRNAME/../stand-ins/google/server.py

# Google's metadata server and TPU API, as long as the test.
google() {
  mkfifo input
  exec 9<>input
  python3 "$STAND_IN" --port-file port <input 9>&- &
  disown
  wait_until 20 test -s port
  export HOME=$TMP GCE_METADATA_HOST=127.0.0.1:$(cat port)
  export CLOUDSDK_API_ENDPOINT_OVERRIDES_TPU=http://$GCE_METADATA_HOST/tpu/
  unset GOOGLE_APPLICATION_CREDENTIALS GOOGLE_CLOUD_QUOTA_PROJECT CLOUDSDK_CONFIG
}

# tell WHAT JSON: see the stand-in
tell() {
  python3 - "$(cat port)" "$@" <<'END'
import sys, urllib.request
port, what, text = sys.argv[1:]
urllib.request.urlopen(f"http://127.0.0.1:{port}/_/{what}", text.encode())
END
}

# The variables of a job on AI Platform, as it printed them: Google Cloud's
# article on PyTorch with TPUs there.
article() {
  export TF_CONFIG='{"cluster":{"master":["127.0.0.1:2222"]},"environment":"cloud","task":{"type":"master","index":0},"job":"{\n \"scale_tier\": \"CUSTOM\",\n \"master_type\": \"n1-highcpu-16\",\n \"worker_type\": \"cloud_tpu\",\n \"worker_count\": \"1\",\n \"region\": \"us-central1\",\n \"master_config\": {\n \"image_uri\": \"gcr.io/ml-3d-segmentation/mnist_pytorch_custom_container:mnist_pytorch_tpu\"\n },\n \"worker_config\": {\n \"accelerator_config\": {\n \"count\": \"8\",\n \"type\": \"TPU_V3\"\n },\n \"tpu_tf_version\": \"1.15\"\n }\n}"}'
  export TPU_CONFIG='{"project": "j79edad251b5e3ba2-ml", "zone": "us-central1-b", "tpu_node_name": "cmle-training-14556593641811293930-tpu"}'
}
NODE=us-central1-b/cmle-training-14556593641811293930-tpu

# tpu SCRIPT: what the API says at each look
tpu() {
  tell state '{"tpu": {"'$NODE'": {"endpoints": [{"ipAddress": "10.0.101.2", "port": 8470}], "script": ['"$1"']}}}'
}
CREATING='{"state": "CREATING"}'
READY='{"state": "READY", "health": "HEALTHY"}'

# slurm RANK COUNT: the variables of a task of a step on this host
slurm() {
  export SLURM_JOB_ID=$((BASHPID % 1000 + 1000)) SLURM_PROCID=$1 \
    SLURM_NODEID=0 SLURM_LOCALID=$1 SLURM_STEP_NODELIST=localhost \
    SLURM_STEP_NUM_TASKS=$2 SLURM_STEP_TASKS_PER_NODE=$2
}

# as_pid_1 COMMAND...: in a process namespace of its own
as_pid_1() {
  unshare --pid --fork --mount-proc --kill-child "$@"
}

need_namespaces() {
  unshare --pid --fork --mount-proc true 2>/dev/null ||
    skip "needs the right to make process namespaces"
}

@test "the trainer starts once the TPU is ready, with its address" {
  google
  article
  tpu "$CREATING, $CREATING, $READY"
  jobrun launch --interval 0s -- env >out.txt 2>err.txt
  grep -qx 'XRT_TPU_CONFIG=tpu_worker;0;10.0.101.2:8470' out.txt
  grep -qx 'TPU_IP_ADDRESS=10.0.101.2' out.txt
  # What the service has set stays as it is, to the byte.
  grep -qxF "TF_CONFIG=$TF_CONFIG" out.txt
  grep -qxF "TPU_CONFIG=$TPU_CONFIG" out.txt
  refute grep -q '^PJRT_DEVICE=' out.txt
  [ "$(cat err.txt)" = "jobrun: TPU 'cmle-training-14556593641811293930-tpu' is CREATING: try 1 of 40, again in 0s
jobrun: TPU 'cmle-training-14556593641811293930-tpu' is CREATING: try 2 of 40, again in 0s" ]
}

@test "a TPU that never becomes ready ends in 124, with what was seen last" {
  google
  article
  tpu "$CREATING, {\"state\": \"READY\", \"health\": \"TIMEOUT\"}"
  run jobrun launch --tries 3 --interval 0s -- touch ran
  [ "$status" -eq 124 ]
  [ "${lines[-1]}" = "jobrun: error: TPU 'cmle-training-14556593641811293930-tpu' was not ready after 3 tries, 0s apart: at last it is READY, but TIMEOUT (project 'j79edad251b5e3ba2-ml', zone 'us-central1-b')" ]
  [ ! -e ran ]
}

@test "a TPU that is lost, or that we may not see, is not waited for" {
  google
  article
  tpu '{"state": "PREEMPTED"}'
  run jobrun launch -- true
  [ "$status" -eq 1 ]
  [[ ${lines[-1]} == *"is PREEMPTED, and will not become ready" ]]
  tell faults '[{"match": "/tpu/", "do": "status", "status": 403, "times": 9}]'
  run jobrun launch -- true
  [ "$status" -eq 77 ]
}

@test "--tpu names a node of this machine's zone" {
  google
  tell state '{"tpu": {"europe-west4-a/mine": {}}, "metadata": {"instance/attributes/accelerator-type": ""}}'
  [ "$(jobrun launch --from local --tpu mine -- printenv XRT_TPU_CONFIG)" = "tpu_worker;0;10.240.1.2:8470" ]
  [ "$(jobrun launch --from local --tpu projects/p/locations/europe-west4-a/nodes/mine -- printenv TPU_IP_ADDRESS)" = 10.240.1.2 ]
  run jobrun launch --from local --tpu a/b -- true
  [ "$status" -eq 64 ]
}

@test "a TPU VM says itself where it is" {
  google
  tell state '{"metadata": {
    "instance/attributes/worker-network-endpoints": "a:b:10.0.0.1,a:b:10.0.0.2",
    "instance/attributes/tpu-env": "NODE_ID: '\''pod'\''\n"}}'
  jobrun launch -- env >out.txt
  grep -qx TPU_WORKER_HOSTNAMES=10.0.0.1,10.0.0.2 out.txt
  grep -qx TPU_WORKER_ID=1 out.txt
  grep -qx PJRT_DEVICE=TPU out.txt
  grep -qx CLOUD_ML_JOB_ID=pod out.txt
  refute grep -q XRT out.txt
  jobrun launch --contract xrt -- env >out.txt
  grep -qx XRT_LOCAL_WORKER=c_localservice:1 out.txt
  refute grep -q PJRT out.txt
}

@test "the command's exit status, signal, input and process are its own" {
  run jobrun launch -- sh -c 'exit 7'
  [ "$status" -eq 7 ]
  [ "$(echo hello | jobrun launch -- cat)" = hello ]
  [ "$(echo hello | jobrun launch --supervise -- cat)" = hello ]
  # It is the same process, unless it is to stay.
  [ "$(bash -c 'echo $$; exec "$@"' - "$JOBRUN" launch -- sh -c 'echo $$' | uniq | wc -l)" -eq 1 ]
  for how in --exec --supervise; do
    python3 - "$JOBRUN" $how <<'END'
import signal, subprocess, sys
ended = subprocess.run([sys.argv[1], "launch", sys.argv[2], "--", "sh", "-c",
                        "kill -USR1 $$"])
assert ended.returncode == -signal.SIGUSR1, ended.returncode
END
  done
}

@test "the command's signals are as they were" {
  cat >dispositions.py <<'END'
import re
text = open("/proc/self/status").read()
print(re.findall(r"Sig(?:Blk|Ign):\s*(\w+)", text))
END
  cat >ask.py <<'END'
import signal, subprocess, sys
# Python ignores some of its own accord: give them back.
def plain():
    for number in signal.SIGPIPE, signal.SIGXFSZ: signal.signal(number, signal.SIG_DFL)
def nohup():
    plain()
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
show = ["grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"]
for before in plain, nohup:
    want = subprocess.run(show, preexec_fn=before, stdout=subprocess.PIPE).stdout
    for how in "--exec", "--supervise":
        got = subprocess.run([sys.argv[1], "launch", how, "--"] + show,
                             preexec_fn=before, stdout=subprocess.PIPE).stdout
        assert got == want, (before, how, got, want)
END
  python3 ask.py "$JOBRUN"
}

@test "a command that is not there ends in 127, one that can't be run in 126" {
  run -127 jobrun launch -- no-such-command
  [ "$status" -eq 127 ]
  [ "$output" = "jobrun: error: command 'no-such-command' not found in PATH" ]
  echo nonsense >broken
  chmod +x broken
  for how in --exec --supervise; do
    run jobrun launch $how -- ./broken
    [ "$status" -eq 126 ]
    [[ $output == *"is not a program: name its interpreter first" ]]
  done
}

@test "options end at the command" {
  [ "$(jobrun launch echo --tries x -v)" = "--tries x -v" ]
  run jobrun launch --tries 0 true
  [ "$status" -eq 64 ]
  run jobrun launch --supervise --exec true
  [ "$status" -eq 64 ]
  run jobrun launch --from nowhere true
  [ "$status" -eq 64 ]
  [[ $output == *"unknown place 'nowhere': vertex-ai, ai-platform, slurm, kubernetes, tpu-vm, local"* ]]
  run jobrun launch --contract nothing true
  [ "$status" -eq 64 ]
  run jobrun launch --contract xrt true
  [ "$status" -eq 65 ]
}

@test "sources and packages are unpacked" {
  mkdir -p src pkg-1.0/pkg
  echo 'import pkg; print(pkg.word, open("data").read().strip())' >src/main.py
  echo text >src/data
  echo 'word = "packed"' >pkg-1.0/pkg/__init__.py
  touch pkg-1.0/setup.py
  tar czf src.tar.gz -C src .
  tar czf pkg-1.0.tar.gz pkg-1.0
  mkdir tmp
  export TMPDIR=$PWD/tmp
  [ "$(jobrun launch --source src.tar.gz --package pkg-1.0.tar.gz -- python3 main.py)" = "packed text" ]
  jobrun launch --source src.tar.gz --into here -- touch mark
  [ -e here/source/mark ]
  # It was unpacked there already: nothing is mixed.
  run jobrun launch --source src.tar.gz --into here -- true
  [ "$status" -eq 1 ]
  run jobrun launch --source no-such.tar -- true
  [ "$status" -eq 1 ]
}

@test "nobody starts before all have come" {
  local id=$((BASHPID % 1000 + 1000)) i
  task() {
    slurm "$1" 3
    SLURM_JOB_ID=$id jobrun launch --wait-peers 30s --hostfile "hosts.$1" -- \
      touch "started.$1"
  }
  task 1 &
  task 0 &
  sleep 0.7
  [ ! -e started.0 ]
  [ ! -e started.1 ]
  task 2 &
  wait
  for i in 0 1 2; do
    [ -e started.$i ]
    [ "$(cat hosts.$i)" = "localhost slots=3" ]
  done
}

@test "who does not come is named" {
  slurm 0 3
  run jobrun launch --wait-peers 1s -- true
  [ "$status" -eq 124 ]
  [ "$output" = "jobrun: error: waiting for the other tasks: 2 of 3 tasks had not started after 1s: worker 1 (localhost), worker 2 (localhost)" ]
  slurm 1 3
  run jobrun launch --wait-peers 1s -- true
  [ "$status" -eq 124 ]
  [[ $output == *"did not release us after 1s: Connection refused" ]]
}

@test "a task of another run is turned away" {
  local id=$((BASHPID % 1000 + 1000))
  (
    slurm 0 2
    SLURM_JOB_ID=$id CLOUD_ML_JOB_ID=one jobrun launch --wait-peers 3s -- true
  ) &
  slurm 1 2
  SLURM_JOB_ID=$id CLOUD_ML_JOB_ID=two run jobrun launch --wait-peers 3s -- true
  [ "$status" -eq 1 ]
  [[ $output == *"belongs to another run, or sees other tasks" ]]
  wait || true
}

@test "a supervised command gets signals, and no more than its grace" {
  "$JOBRUN" launch --supervise -- python3 -c '
import signal, sys
signal.signal(signal.SIGTERM, lambda *_: sys.exit(9))
open("ready", "w")
while True: signal.pause()' &
  wait_until 10 test -e ready
  kill -TERM $!
  local status=0
  wait $! || status=$?
  [ "$status" -eq 9 ]
  rm ready
  "$JOBRUN" launch --grace 1s -- sh -c "trap '' TERM; : >ready; while :; do sleep 0.1; done" &
  wait_until 10 test -e ready
  kill -TERM $!
  status=0
  wait $! || status=$?
  [ "$status" -eq 137 ]
}

@test "what a supervised command leaves behind is ended" {
  jobrun launch --supervise -- sh -c "sleep $NAP & exit 0"
  refute pgrep -f "sleep $NAP"
  # So it is when the parent itself is killed.
  "$JOBRUN" launch --supervise -- sleep "$NAP" &
  wait_until 10 pgrep -f "^sleep $NAP" >pid
  kill -9 $!
  wait $! || true
  wait_until 10 refute pgrep -f "^sleep $NAP"
}

@test "as process 1 it reaps, forwards signals and ends as the command does" {
  need_namespaces
  run as_pid_1 "$JOBRUN" launch -- sh -c 'echo $$; exit 7'
  [ "$status" -eq 7 ]
  [ "$output" != 1 ]
  run as_pid_1 "$JOBRUN" launch --exec -- sh -c 'echo $$; exit 7'
  [ "$status" -eq 7 ]
  [ "$output" = 1 ]
  # An orphan that ends is not left as a zombie.
  as_pid_1 "$JOBRUN" launch -- sh -c '(sleep 0.1 & echo $! >orphan); sleep 0.6
    ! grep -q zombie /proc/$(cat orphan)/status 2>/dev/null'
  run as_pid_1 "$JOBRUN" launch -- sh -c 'kill -KILL $$'
  [ "$status" -eq 137 ]
  # Docker's SIGTERM, to a program that has no handler for it.
  as_pid_1 "$JOBRUN" launch -- sleep "$NAP" &
  wait_until 10 pgrep -f "^sleep $NAP" >pid
  kill -TERM "$(pgrep -f "^$JOBRUN launch -- sleep $NAP")"
  local status=0
  wait $! || status=$?
  [ "$status" -eq 143 ]
}

@test "process 1 ends when it is told to while it waits" {
  need_namespaces
  google
  article
  tpu "$CREATING"
  as_pid_1 "$JOBRUN" launch -- true 2>err.txt &
  wait_until 10 grep -q CREATING err.txt
  kill -TERM "$(pgrep -f "^$JOBRUN launch -- true")"
  local status=0
  wait $! || status=$?
  [ "$status" -eq 143 ]
}

@test "a terminal's Ctrl-C comes once, and the command's status is kept" {
  cat >count.py <<'END'
import signal, sys, time
got = []
signal.signal(signal.SIGINT, lambda *_: got.append(1))
print("ready", flush=True)
time.sleep(0.2)
end = time.monotonic() + 1
while time.monotonic() < end: time.sleep(0.05)
sys.exit(40 + len(got))
END
  python3 - "$JOBRUN" <<'END'
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], [sys.argv[1], "launch", "--supervise", "--",
                           "python3", "count.py"])
text = b""
while b"ready" not in text: text += os.read(fd, 100)
os.write(fd, b"\x03")
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
assert status == 41, status
END
}

@test "installed, it needs no library of its host, and installs itself again" {
  google
  article
  tpu "$READY"
  jobrun launch --install here/first
  # It may be moved, and what it runs knows where it is.
  mv here there
  [ "$(there/first/jobrun launch -- printenv XRT_TPU_CONFIG)" = "tpu_worker;0;10.0.101.2:8470" ]
  # The command is not told of them.
  [ -z "$(there/first/jobrun launch -- cat /proc/self/maps | grep "$TMP")" ]
  [ "$(env PATH="$TMP/there/first:$PATH" jobrun version)" = "$("$JOBRUN" version)" ]
  # What an image preloads is for its own programs: jobrun's libc is another.
  run --separate-stderr env LD_PRELOAD=/none.so there/first/jobrun launch -- \
    "$(realpath there/first/jobrun)" launch -- printenv LD_PRELOAD
  [ "$output" = /none.so ]
  [ "$(grep -c none.so <<<"$stderr")" -eq 1 ]
  # What an earlier try has left there is replaced.
  mkdir -p second/jobrun-lib
  echo broken | tee second/jobrun >second/jobrun-lib/libc.so.6
  there/first/jobrun launch --install second
  diff -r there/first second
  run jobrun launch --install /dev/null/x
  [ "$status" -eq 1 ]
  [[ $output == *"install in '/dev/null/x': "*"Not a directory" ]]
  run jobrun launch --install x -- true
  [ "$status" -eq 64 ]
}

@test "a task gets its share of data sets" {
  slurm 1 2
  sets='{"train": {"urls": ["a-{0..4}.tar"], "splitByHost": true, "splitByDevice": true, "drop": true}}'
  jobrun launch --data "$sets" -- env >out.txt
  grep -qx "JOBRUN_DATA_TRAIN=a-1.tar::a-3.tar" out.txt
  grep -qx "JOBRUN_DATA_TRAIN_STREAM=$JOBRUN cat --data train" out.txt
  for n in 0 1 2 3 4; do echo "$n" >"$n.txt" && tar cf "a-$n.tar" "$n.txt"; done
  [ "$(jobrun launch --data "$sets" -- sh -c '$JOBRUN_DATA_TRAIN_STREAM | tar t' | tr '\n' ' ')" = "1.txt 3.txt " ]
  for wrong in '{}' '[1]' '{"a": {}}' '{"a": {"urls": [1]}}' '{"a b": {"urls": ["x"]}}' '{'; do
    run jobrun launch --data "$wrong" -- true
    [ "$status" -eq 65 ]
    [[ $output == "jobrun: error: --data: "* ]]
  done
}

@test "a trial gets its values, and its result is in its log" {
  trials='{"metric": "acc", "names": ["lr", "kind"], "values": [["0.1", "a b"], ["0.01", "$(x)"]], "jobDir": "gs://b/x"}'
  export JOBRUN_RUN_DIR=$TMP/run JOB_COMPLETION_INDEX=1
  run -3 jobrun launch --from=local --trials "$trials" -- sh -c '
    printf "<%s>" "$@"
    echo
    printf "%s %s %s\n" "$CLOUD_ML_TRIAL_ID" "$CLOUD_ML_HP_METRIC_FILE" "$TF_CONFIG"
    echo "{\"acc\": \"0.2\", \"global_step\": \"7\"}" >>"$CLOUD_ML_HP_METRIC_FILE"
    exit 3' sh --epochs 3
  [ "${lines[0]}" = '<--epochs><3><--lr=0.01><--kind=$(x)><--job-dir=gs://b/x/2>' ]
  [[ ${lines[1]} == "2 $TMP/run/trials/2/metric "*'"trial":"2"'* ]]
  [ "${lines[2]}" = "step=7 acc=0.2" ]
  # One that has reported nothing adds nothing.
  [ -z "$(JOB_COMPLETION_INDEX=0 jobrun launch --from=local --trials "$trials" -- true)" ]
  JOB_COMPLETION_INDEX=2 run -65 jobrun launch --from=local --trials "$trials" -- true
  [ "$output" = "jobrun: error: --trials: it has no trial 3" ]
  for wrong in '[1]' '{"metric": "a", "names": ["x"], "values": [[1], [1]]}' '{'; do
    run -65 jobrun launch --from=local --trials "$wrong" -- true
  done
  unset JOB_COMPLETION_INDEX
  run -65 jobrun launch --from=local --trials "$trials" -- true
  [[ $output == *"JOB_COMPLETION_INDEX is not set"* ]]
  run -64 jobrun launch --trials "$trials" --exec -- true
}

@test "launch starts in milliseconds" {
  python3 - "$JOBRUN" <<'END'
import subprocess, sys, time
def best(command):
    times = []
    for _ in range(10):
        start = time.perf_counter()
        subprocess.run(command)
        times.append(time.perf_counter() - start)
    return min(times)
plain = best(["/bin/true"])
ours = best([sys.argv[1], "launch", "--", "/bin/true"])
print(plain, ours)
# A sanitizer's start alone takes a tenth of a second.
assert ours - plain < 0.3
END
}

# What a process is told, in one line.  The master, whose end is that of all here,
# ends last.
WHO='import json, os, time
e = os.environ.get
t = json.loads(e("TF_CONFIG", "{}"))
c = json.loads(e("CLUSTER_SPEC", "{}"))
print(e("RANK"), e("WORLD_SIZE"), e("LOCAL_RANK"), e("LOCAL_WORLD_SIZE"), e("GROUP_RANK"),
      e("MASTER_ADDR"), t["task"]["type"], t["task"]["index"], sum(len(t["cluster"].get(k, [])) for k in ("master", "chief", "worker")),
      len(set(sum(t["cluster"].values(), []))) == len(sum(t["cluster"].values(), [])), e("PET_NNODES"), flush=True)
open(os.path.join(e("HERE"), e("LOCAL_RANK", "0")), "w").close()
while e("RANK") == "0" and len(os.listdir(e("HERE"))) < int(e("LOCAL_WORLD_SIZE")):
    time.sleep(0.05)'

# told: what the processes of this machine are told, one a line, by rank
told() {
  HERE=$(mktemp -d "$TMP/here.XXXXXX") jobrun launch "$@" -- python3 -c "$WHO" | sed 's/^\[[0-9]*\] //' | sort -n
}

@test "several processes: ranks, peers and places in every contract, wherever it is" {
  # Vertex AI: the first of two workers, a master, a parameter server.
  export CLOUD_ML_JOB_ID=1234567890 CLUSTER_SPEC='{"cluster":{"workerpool0":["a-0:2222"],"workerpool1":["b-0:2222","b-1:2222"],"workerpool2":["c-0:2222"]},"environment":"cloud","task":{"type":"workerpool1","index":0,"trial":""},"job":"{}"}'
  [ "$(told --from vertex-ai --processes 4)" = "$(for i in 0 1 2 3; do echo "$((4 + i)) 12 $i 4 1 a-0 worker $((3 + i)) 12 True None"; done)" ]
  [ "$(told --from vertex-ai --processes 1)" = "1 3 0 1 1 a-0 worker 0 3 True 3" ]
  # A torchrun that makes a world of one machine is told of no other.
  [ -z "$(jobrun launch --from vertex-ai -- sh -c 'env | grep ^PET_ || : --standalone')" ]
  # The master's machine has workers, too.
  CLUSTER_SPEC=${CLUSTER_SPEC/\"type\":\"workerpool1\"/\"type\":\"workerpool0\"}
  [ "$(told --from vertex-ai --processes 2)" = "0 6 0 2 0 a-0 chief 0 6 True None
1 6 1 2 0 a-0 worker 0 6 True None" ]
  # A parameter server is one, and knows all workers.
  CLUSTER_SPEC=${CLUSTER_SPEC/\"type\":\"workerpool0\"/\"type\":\"workerpool2\"}
  [ "$(told --from vertex-ai --processes 4)" = "None None None None None None ps 0 12 True None" ]
  unset CLOUD_ML_JOB_ID CLUSTER_SPEC
  # Kubernetes: what the manifest says of the pod is not what it says of a process.
  export KUBERNETES_SERVICE_HOST=10.96.0.1 JOBSET_NAME=a REPLICATED_JOB_NAME=node JOB_INDEX=0 \
    JOB_COMPLETION_INDEX=1 NNODES=2 JOBRUN_TASKS=node/master/1,node/worker/1 RANK=1 WORLD_SIZE=2 LOCAL_RANK=0
  [ "$(told --from kubernetes --processes 3)" = "$(for i in 0 1 2; do echo "$((3 + i)) 6 $i 3 1 a-node-0-0.a worker $((2 + i)) 6 True None"; done)" ]
  unset KUBERNETES_SERVICE_HOST JOBSET_NAME REPLICATED_JOB_NAME JOB_INDEX JOB_COMPLETION_INDEX NNODES \
    JOBRUN_TASKS RANK WORLD_SIZE LOCAL_RANK
  # A single machine.
  run jobrun launch --from local --processes 2 -- sh -c \
    'echo "$RANK $WORLD_SIZE $LOCAL_RANK $LOCAL_WORLD_SIZE $GROUP_RANK"; touch here.$RANK; until [ -e here.1 ]; do sleep 0.1; done'
  [ "$(LC_ALL=C sort <<<"$output")" = "0 2 0 2 0
[1] 1 2 1 2 0" ]
  run jobrun launch --from local --processes 2 --exec -- true
  [ "$status" -eq 64 ]
}

@test "several processes: lines with their rank, the first failure, the master's end, signals" {
  run jobrun launch --from local --processes 3 -- sh -c \
    'echo "at $RANK"; printf "no end %s" $RANK; touch at.$RANK; until [ -e at.1 ] && [ -e at.2 ]; do sleep 0.1; done'
  [ "$status" -eq 0 ]
  [ "$(LC_ALL=C sort <<<"$output")" = "[1] at 1
[1] no end 1
[2] at 2
[2] no end 2
at 0
no end 0" ]
  # One that fails ends the others, and its status counts.
  run jobrun launch --from local --processes 3 -- sh -c "[ \$RANK = 1 ] && exit 7; exec sleep $NAP"
  [ "$status" -eq 7 ]
  # The master's success is that of all.
  run jobrun launch --from local --processes 3 -- sh -c "[ \$RANK = 0 ] && exit 0; exec sleep $NAP"
  [ "$status" -eq 0 ]
  "$JOBRUN" launch --from local --processes 3 --grace 20s -- \
    sh -c "trap 'echo \$RANK >>$TMP/heard; exit 5' TERM; echo \$RANK >>$TMP/up; while :; do sleep 0.1; done" &
  wait_until 20 eval '[ "$(cat up 2>/dev/null | wc -l)" = 3 ]'
  kill -TERM $!
  status=0
  wait $! || status=$?
  [ "$status" -eq 5 ]
  [ "$(sort heard)" = "0
1
2" ]
  refute pgrep -f "sleep $NAP"
  run -127 jobrun launch --from local --processes 2 -- no-such-program
}

@test "several processes: each that is asked to end has its own time for it" {
  # The end of the other, which has no handler, does not hurry rank 0.
  cat >task.sh <<END
end() {
  trap 'touch $TMP/again' TERM
  while kill -0 "\$(cat $TMP/pid.1)" 2>/dev/null; do sleep 0.1; done
  sleep 2
  touch $TMP/saved
  exit 0
}
[ \$RANK = 1 ] || trap end TERM
echo \$\$ >$TMP/pid.\$RANK
while :; do sleep 0.1; done
END
  for how in "" "--grace 60s"; do
    rm -f pid.* saved
    "$JOBRUN" launch --from local --processes 2 $how -- sh task.sh &
    wait_until 20 test -s pid.0
    wait_until 20 test -s pid.1
    kill -TERM $!
    status=0
    wait $! || status=$?
    [ -e saved ]
    [ ! -e again ]
    [ "$status" -eq 143 ]
  done
}
