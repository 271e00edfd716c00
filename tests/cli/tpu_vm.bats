# TPU VMs: a stand-in of the API, whose addresses lead to real sshd.
# bats file_tags=server
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

# begin [JSON]: as nodes_are
begin() {
  start_google
  sshd_up 4
  nodes_are "$@"
}

@test "a pod is made, runs on four VMs in the form of xla_dist, and is deleted" {
  begin
  pod job.yaml 'echo "| Training Device=xla:0/$((TPU_WORKER_ID * 8)) Epoch=1 Step=0 Loss=6.87500 Rate=258.47"; '"$(all_of 4 TPU_WORKER_ID)"
  run jobrun plan job.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"+ tpu-vm  pod"* ]]
  [[ $output == *"known after apply"* ]]
  [[ $output == *"jobrun deletes tpu-vm 'pod' when the run ends"* ]]
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

@test "a preempted pod is made anew, and the run goes on as another attempt" {
  begin
  # The first attempt waits to be preempted; the second finds it was there.
  pod job.yaml "if [ -e $TMP/was.\$TPU_WORKER_ID ]; then echo resumed; [ \$TPU_WORKER_ID != 0 ] || sleep 2; else touch $TMP/was.\$TPU_WORKER_ID; sleep $NAP; fi" \
    '  restart: {maxPreemptions: 3, backoff: 0s}
  tpu-vm: {lookEvery: 1s}'
  jobrun apply --yes --detach job.yaml
  wait_until 20 test -e was.0 -a -e was.3
  nodes_are '{"*": {"script": [{"state": "READY", "health": "HEALTHY"}]},
    "europe-west4-a/pod": {"preempt": true, "exists": false}}'
  timeout 60 "$JOBRUN" wait pod
  run jobrun status pod
  echo "$output"
  [[ $output == *"SUCCEEDED"*" 2 "* ]]
  [[ $output == *"PREEMPTED"* ]]
  [ "$(jobrun logs pod | grep -c resumed)" -eq 4 ]
  [ "$(asked POST '/nodes')" -eq 2 ]
  [ "$(made)" -eq 0 ]
  refute pgrep -f "sleep $NAP"
  end_google
}

@test "stock-out: the next zone; quota: given up; never READY: deleted" {
  begin '{"europe-west4-a": {"create": {"code": 8, "message": "There is no more capacity in the zone"}}}'
  pod job.yaml 'echo hello' '  tpu-vm: {zones: [us-central1-a]}'
  run jobrun apply --yes job.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"CREATING in us-central1-a"* ]]
  [ "$(made)" -eq 0 ]
  jobrun delete pod

  tell state '{"tpu": {"*": {"create": {"now": true, "http": 429, "message": "Quota limit TPUV3sPodPerProjectPerZoneForTPUAPI has been exceeded. Limit: 0",
    "details": [{"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"subject": "p", "description": "Limit: 0"}]}]}}}}'
  run jobrun apply --yes job.yaml
  echo "$output"
  [ "$status" -eq 75 ]
  [[ $output == *"none of 2 zones has capacity"*"TPUV3sPodPerProject"* ]]
  [ "$(made)" -eq 0 ]

  nodes_are '{"*": {"script": [{"state": "CREATING", "health": "TIMEOUT", "healthDescription": "the TPU does not answer"}]}}'
  sed -i 's/zones: .*}/readyTimeout: 2s}/' job.yaml
  run jobrun apply --yes job.yaml
  echo "$output"
  [ "$status" -eq 124 ]
  [[ $output == *"CREATING, TIMEOUT: the TPU does not answer in europe-west4-a"* ]]
  [[ $output == *"not usable after 2s (CREATING)"* ]]
  [[ $output == *"pod: FAILED, not started: "*"not usable after 2s"* ]]
  [ "$(made)" -eq 0 ]
  end_google
}

@test "a TPU with other hosts than planned is refused, and no program starts" {
  begin
  pod job.yaml "touch $TMP/started"
  sed -i 's/TPU_V3, count: 32/TPU_V6E, count: 8/' job.yaml
  run jobrun plan job.yaml
  echo "$output"
  [[ $output == *"hosts"*"1"*"chips"*"8"* ]]
  tell state "$(python3 - <<'PY'
import json
told = json.load(open("told.json"))
told["tpu"]["*"].update(endpoints=told["tpu"]["*"]["endpoints"][:2], topology="2x4")
print(json.dumps(told))
PY
)"
  run jobrun apply --yes job.yaml
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *"tpu-vm 'pod': it has 2 hosts with 8 chips instead of 1 with 8, which the plan expects: nothing is started on it"* ]]
  refute test -e started
  [ "$(made)" -eq 0 ]
  end_google
  wait_until 15 nothing_runs
}

@test "a TPU that never is usable is made anew, as often as restart allows" {
  begin '{"*": {"sick": 1, "script": [{"state": "READY", "health": "HEALTHY"}]}}'
  # More than one is for machines so slow that a good one takes as long.
  pod job.yaml 'echo hello' '  restart: {maxPreemptions: 5, backoff: 0s}
  tpu-vm: {readyTimeout: 10s}'
  run jobrun apply --yes job.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"pod: SUCCEEDED"* ]]
  [ "$(asked POST '/nodes[?]')" -ge 2 ]
  [ "$(made)" -eq 0 ]
  end_google
}

@test "a delete that fails is tried again, shown by status, and done by the next apply" {
  begin '{"*": {"delete": {"code": 13, "message": "An internal error occurred."}, "delete_times": 2}}'
  pod job.yaml
  run jobrun apply --yes job.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [ "$(asked DELETE '/nodes/pod')" -eq 3 ]
  [ "$(made)" -eq 0 ]
  tell faults '[{"do": "status", "method": "DELETE", "path": "/nodes/pod", "count": 9, "status": 403, "body": "{}"}]'
  run jobrun apply --yes --rerun job.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [ "$(made)" -eq 1 ]
  run jobrun status
  [[ $output == *"not finished"*"pod: delete tpu-vm 'pod': "*"status 403"* ]]
  tell faults '[]'
  run jobrun plan job.yaml
  echo "$output"
  [[ $output == *"- tpu-vm  pod  the run has ended (cleanup: always)"* ]]
  run jobrun apply --yes job.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [ "$(made)" -eq 0 ]
  run jobrun status
  [[ $output != *"not finished"* ]]
  end_google
}

@test "cancelled, killed, interrupted twice: nothing stays" {
  begin
  pod job.yaml "echo up; sleep $NAP"
  jobrun apply --yes --detach job.yaml
  wait_until 20 state_is pod RUNNING
  [ "$(made)" -eq 1 ]
  jobrun cancel pod
  state_is pod CANCELLED
  [ "$(made)" -eq 0 ]
  # kill -9 of all of jobrun; the next command takes it over again.
  jobrun apply --yes --detach --rerun job.yaml
  wait_until 20 state_is pod RUNNING
  s=$(tr -d ' \n' <state/runs/pod.2/lock)
  kill -9 "$(ps -o ppid= -p "$s" | tr -d ' ')" "$s"
  wait_until 10 state_is pod RUNNING
  [ "$(made)" -eq 1 ]
  jobrun cancel --now pod
  [ "$(made)" -eq 0 ]
  # Ctrl-C twice, while it is made and while it runs.
  "$JOBRUN" apply --yes --rerun job.yaml >out 2>&1 3>&- &
  wait_until 20 grep -q '\[0\] up' out
  press_ctrl_c_twice $! out
  wait $! || true
  cat out
  wait_until 30 made_is 0
  refute pgrep -f "sleep $NAP"
  end_google
}

# The Nth machine has a project of its own, and a TPU of one VM.
@test "kill -9 of apply, or of who follows, after a request: one more apply, and nothing stays" {
  begin '{"*": {"hosts": 1}}'
  python3 - <<'PY'
import json
told = json.load(open("told.json"))
told["tpu"]["*"]["endpoints"] = told["tpu"]["*"]["endpoints"][:1]
json.dump(told, open("told.json", "w"))
PY
  tell state @told.json
  pod job.yaml 'echo hello'
  # One host stands for all VMs: the jobs must not have one name there.
  sed -i 's/count: 32/count: 8/; s/^jobId: pod$/jobId: podNTH/' job.yaml
  JOB=$(cat job.yaml)
  # Four are killed themselves, of the others the supervisor;
  # tests/unit/test_tpu_kill.c has all requests.
  trouble 8 '{"do": "kill-after", "pid-file": "?"}'
  each 8 apply_to_die_here
  each 8 apply_again
  [ "$(made)" -eq 0 ]
  # Not all have so many requests.
  [ "$(curl -sf "$BASE/_/requests" | grep -o '"fault": "kill-after"' | wc -l)" -ge 6 ]
  for n in $(seq 8); do
    tail -n 1 "m$n/out" | grep -q 'exit 0' || cat "m$n/out"
    tail -n 1 "m$n/out" | grep -q 'exit 0'
  done
  end_google
}

apply_to_die_here() {
  if [ "$1" -le 4 ]; then
    echo "$BASHPID" >pid
  else
    ln -s "$JOBRUN_STATE_DIR/runs/pod$1.1/lock" pid
  fi
  exec "$JOBRUN" apply --yes job.yaml
}

@test "a port that the pod needs is taken on one VM: the run says so before its start" {
  begin
  pod job.yaml 'echo never'
  # 8476: where PyTorch/XLA's processes listen.
  python3 -c "
import socket, time
s = socket.socket()
s.bind(('$SSH_NET.2', 8476))
s.listen()
open('taken', 'w').close()
time.sleep($NAP)" 3>&- &
  wait_until 10 test -e taken
  run jobrun apply --yes job.yaml
  kill $!
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *"host '$SSH_NET.2': port 8476, which the program needs, is taken"* ]]
  refute grep -q '\] never' <<<"$output"
  [ "$(made)" -eq 0 ]
}

@test "two slices: made, told of each other, lost and made anew, deleted as one" {
  begin
  python3 - "$SSH_NET" >told.json <<'PY'
import json, sys
def ends(*hosts):
    return {"exists": False, "endpoints": [
        {"ipAddress": f"{sys.argv[1]}.{i}",
         "accessConfig": {"externalIp": f"{sys.argv[1]}.{i}"}} for i in hosts]}
print(json.dumps({"tpu": {"us-central2-b/pod-0": ends(1, 2),
                          "us-central2-b/pod-1": ends(3, 4)}}))
PY
  tell state @told.json
  pod job.yaml "echo \"slice \$MEGASCALE_SLICE_ID of \$MEGASCALE_NUM_SLICES at \$MEGASCALE_COORDINATOR_ADDRESS: worker \$TPU_WORKER_ID of \$TPU_WORKER_HOSTNAMES\"; if [ -e $TMP/lost ]; then $(all_of 4 RANK); exit 0; fi; touch $TMP/first.\$RANK; [ \$RANK != 0 ] || sleep $NAP" \
    '  restart: {maxPreemptions: 3, backoff: 0s}
  tpu-vm: {slices: 2, lookEvery: 1s}'
  sed -i 's/TPU_V3, count: 32/TPU_V4, count: 16/; s/europe-west4-a/us-central2-b/' job.yaml
  run jobrun plan job.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"2 x v4-16"* ]]
  [[ $output == *", 32 accelerators,"* ]]
  jobrun apply --yes --detach job.yaml
  wait_until 30 test -e first.0 -a -e first.1 -a -e first.2 -a -e first.3
  touch lost
  # One of them is taken away: both are made anew.
  python3 - <<'PY'
import json
told = json.load(open("told.json"))
told["tpu"]["us-central2-b/pod-1"]["preempt"] = True
json.dump(told, open("told.json", "w"))
PY
  tell state @told.json
  timeout 60 "$JOBRUN" wait pod
  run jobrun logs pod
  echo "$output"
  for i in 1 2 3 4; do
    s=$(((i - 1) / 2))
    [[ $output == *" $SSH_NET.$i [$((i - 1))] slice $s of 2 at $SSH_NET.1:8080: worker $(((i - 1) % 2)) of $SSH_NET.$((2 * s + 1)),$SSH_NET.$((2 * s + 2))"* ]]
  done
  run jobrun status pod
  [[ $output == *"SUCCEEDED"*" 2 "* ]]
  [ "$(asked POST '/queuedResources')" -eq 2 ]
  [ "$(body POST '/queuedResources' 'b["tpu"]["nodeSpec"][0]["multisliceParams"]')" = \
    "{'nodeCount': 2, 'nodeIdPrefix': 'pod'}" ]
  [ "$(made)" -eq 0 ]
  end_google
}

naps_are_over() {
  ! pgrep -xf "sleep $NAP"
}

# What torch_xla's xrt_run_server does, for who looks on: it leaves a server
# that outlives it.  That of the third VM fails when it is told to.
@test "the XRT server is restarted on every VM at each attempt; one that fails is named, with its last words" {
  mkdir bin
  cat >bin/python3 <<SH
#!/bin/bash
echo "\$HOME \$* \$XRT_LOCAL_WORKER \$TPUVM_MODE \${PJRT_DEVICE:-none}" >>$TMP/servers.\${HOME##*/}
[ ! -e $TMP/broken ] || [ "\${HOME##*/}" != h3 ] || { echo oops; echo "No module named torch_xla" >&2; exit 7; }
setsid sleep $NAP &
SH
  chmod +x bin/python3
  SSH_PATH=$PWD/bin:/usr/bin:/bin
  begin
  # The first attempt fails when all are there; later none ends by itself.
  pod job.yaml "touch $TMP/ran.\$RANK; [ ! -e $TMP/broken ] || sleep $NAP; echo \$XRT_TPU_CONFIG; want=4; [ ! -e $TMP/again ] || want=8
    until [ \$(cat $TMP/servers.* | wc -l) -ge \$want ]; do sleep 0.1; done
    [ \$want = 8 ] || { [ \$RANK = 0 ] || sleep $NAP; touch $TMP/again; exit 3; }" \
    '  restart: {maxRestarts: 1, backoff: 0s}
  tpu-vm: {xrtServer: restart}'
  run jobrun plan job.yaml
  echo "$output"
  [[ $output == *"torch_xla.core.xrt_run_server"*"--restart"* ]]
  run jobrun apply --yes job.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"c_localservice;0;$SSH_NET.1:51011|c_localservice;1;$SSH_NET.2:51011|"* ]]
  for i in 1 2 3 4; do
    [ "$(cat "servers.h$i")" = "$(for n in 1 2; do
      echo "$SSH/h$i -m torch_xla.core.xrt_run_server --port 51011 --restart c_localservice:$((i - 1)) 1 none"
    done)" ]
  done
  # What they have left ends with the run.
  wait_until 15 naps_are_over

  rm ran.*
  touch broken
  run jobrun apply --yes --rerun job.yaml --set jobrun.restart.maxRestarts=0
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *"worker 2 exited with 7: the XRT server did not start on $SSH_NET.3 (exit status 7): No module named torch_xla"* ]]
  refute test -e ran.2
  [ "$(made)" -eq 0 ]
  end_google
}

# Addresses that lead nowhere: only the relay knows where the VMs are.
@test "VMs without addresses outside are reached through Identity-Aware Proxy; a connection that is cut goes on" {
  begin '{"*": {"endpoints": [{"ipAddress": "192.0.2.1"}, {"ipAddress": "192.0.2.2"}, {"ipAddress": "192.0.2.3"}, {"ipAddress": "192.0.2.4"}],
    "script": [{"state": "READY", "health": "HEALTHY"}], "unnamed": 1}}'
  tell state '{"iap": {"hosts": {"t1v-n-pod-w-0": "'$SSH_NET'.1", "t1v-n-pod-w-1": "'$SSH_NET'.2",
    "t1v-n-pod-w-2": "'$SSH_NET'.3", "t1v-n-pod-w-3": "'$SSH_NET'.4"}, "cut": [30000, 50000], "cut_input": [100000]}}'
  pod job.yaml "seq -f 'line %06g' 6000; $(all_of 4 RANK)" '  tpu-vm: {iap: true, externalIps: false}'
  run jobrun apply --yes job.yaml
  tail -n 20 <<<"$output"
  [ "$status" -eq 0 ]
  [[ $output == *"READY, but its guest attributes do not say yet what its VMs are called"* ]]
  for i in 0 1 2 3; do
    [ "$(grep "\[$i\] line" <<<"$output" | cut -d']' -f2 | sort | uniq -c | grep -c ' 1 *line ')" -eq 6000 ]
  done
  [ "$(asked GET '/iap_tunnel/v4/connect' 1)" -ge 4 ]
  [ "$(asked GET '/iap_tunnel/v4/reconnect' 1)" -eq 3 ]
  [ "$(body POST '/nodes[?]' 'b["networkConfig"]["enableExternalIps"]')" = False ]
  [ "$(made)" -eq 0 ]

  # Who may not is told so.
  tell faults '[{"do": "status", "path": "/iap_tunnel/", "count": 1000, "status": 403}]'
  run jobrun apply --yes --rerun --set jobrun.tpu-vm.sshTimeout=1s job.yaml
  echo "$output"
  [ "$status" -eq 77 ]
  [[ $output == *"FAILED"*"host 't1v-n-pod-w-"*"not authorised: Identity-Aware Proxy does not connect to 't1v-n-pod-w-"*"iap.tunnelInstances.accessViaIAP"*"roles/iap.tunnelResourceAccessor"* ]]
  [ "$(made)" -eq 0 ]
  end_google
}

@test "a TPU that another owner's run is on is left alone, whatever the second does" {
  begin
  pod job.yaml "sleep $NAP"
  jobrun apply --yes --detach job.yaml
  wait_until 60 state_is pod RUNNING
  other_owner_is_refused tpu-vm pod
  jobrun cancel pod
  [ "$(made)" -eq 0 ]
  end_google
}

# Another machine, with a state directory of its own.
elsewhere() {
  JOBRUN_STATE_DIR=$TMP/state2 "$JOBRUN" "$@"
}

@test "who comes second follows the first one's run to its end, if the job is the same" {
  begin
  pod job.yaml "until [ -e $TMP/go ]; do sleep 0.2; done" '  staging: gs://bucket-1/staging'
  jobrun apply --yes --detach job.yaml
  wait_until 60 state_is pod RUNNING
  run elsewhere plan job.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"run     pod  is running, attempt 1"* ]]
  [[ $output == *"note: run 'pod' is that of another owner, "*", since 20"* ]]
  elsewhere apply --yes job.yaml >second 2>&1 3>&- &
  second=$!
  wait_until 60 grep -q "run 'pod': follows the run of another owner, " second
  # Another version of the job, and who wants it again, are told whose it is.
  run elsewhere apply --yes --set 'trainingInput.args[0]=x' job.yaml
  echo "$output"
  [ "$status" -eq 75 ]
  [[ $output == *"run 'pod' is that of another owner, "*", since 20"*", with other settings: it is free when that run ends"* ]]
  run elsewhere apply --yes --detach --rerun job.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  touch go
  wait $second
  cat second
  grep -q 'pod: SUCCEEDED' second
  [ "$(asked POST '/nodes[?]')" -eq 1 ]
  run elsewhere plan job.yaml
  echo "$output"
  [[ $output == *"pod  already succeeded"* ]]
  end_google
  wait_until 30 nothing_runs
}

@test "of two that apply a job at the same moment one makes a TPU, and both get the end" {
  local n first
  begin
  tell faults '[{"path": "/b/bucket-1/o|/nodes", "do": "delay", "seconds": 0.05, "count": 1000000}]'
  for n in 1 2 3; do
    pod job.yaml "exit 0 # $n" '  staging: gs://bucket-1/staging'
    elsewhere apply --yes job.yaml >second 2>&1 3>&- &
    first=$!
    run jobrun apply --yes job.yaml
    echo "$output"
    [ "$status" -eq 0 ]
    wait $first || { cat second; return 1; }
    [ "$(asked POST '/nodes[?]')" -eq "$n" ]
  done
  end_google
  wait_until 30 nothing_runs
}

@test "a machine that knows nothing of a run that has ended does not run it again" {
  begin
  pod job.yaml 'echo trained'
  run jobrun plan job.yaml
  [[ $output == *"note: jobrun.staging is not set: how the run ends is kept on this machine only"* ]]
  sed -i 's,^  zone:,  staging: gs://bucket-1/staging\n  zone:,' job.yaml
  run jobrun apply --yes job.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output != *"is kept on this machine only"* ]]
  export JOBRUN_STATE_DIR=$TMP/state2
  # The supervisor writes it there when the run is over for whoever follows it.
  wait_until 30 eval 'jobrun plan --detailed-exitcode job.yaml >plan.txt'
  run jobrun plan --detailed-exitcode job.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"pod  already succeeded"* ]]
  jobrun apply --yes job.yaml
  [ "$(asked POST '/nodes[?]')" -eq 1 ]
  # Another job, and one that is wanted again, are other matters.
  run jobrun plan --set 'trainingInput.args[0]=x' job.yaml
  echo "$output"
  [[ $output == *"pod  not run yet"* ]]
  run jobrun plan --rerun job.yaml
  [[ $output == *"pod  again, after attempt 1 (succeeded)"* ]]
  JOBRUN_STATE_DIR=$TMP/state jobrun delete pod
  run jobrun plan job.yaml
  echo "$output"
  [[ $output == *"pod  not run yet"* ]]
  end_google
}

@test "TPUs are labelled with where their job is from" {
  local to
  start_google
  pod pod.yaml
  for to in tpu-vm tpu-node; do
    run jobrun plan --format json --provider $to pod.yaml
    [ "$status" -eq 0 ]
    [[ $output =~ '"jobrun-origin": "'[a-z0-9_]+'-'[0-9a-f]{12}'"' ]]
  done
  end_google
}
