# Jobs in a Kubernetes cluster, against a stand-in of it.
# bats file_tags=server
load helper
load upgrade
load kubernetes
load kubernetes_rights

@test "numpy-minimal runs in pods, with its source, and is deleted" {
  tell state '{"pods": [{"run": true}]}'
  image=trainingInput.masterConfig.imageUri=python:3
  run jobrun apply --yes --provider kubernetes --set "$image" \
    "$EXAMPLES/numpy-minimal/job.yaml"
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"[1] "* ]]
  id=$(sed -n 's/^jobId: *//p' "$EXAMPLES/numpy-minimal/job.yaml")
  [[ $output == *"$id: SUCCEEDED"* ]]
  run jobrun plan --provider kubernetes --set "$image" \
    "$EXAMPLES/numpy-minimal/job.yaml"
  [[ $output == *"already succeeded"* ]]
  run jobrun status --format json "$id"
  [[ $output == *'"type": "worker"'* ]]
  jobrun delete "$id"
  [ "$(made)" = "[]" ]
}

@test "what looks like a reference to a variable reaches the program as it is" {
  tell state '{"pods": [{"run": true}]}'
  cat >refs.yaml <<'END'
jobId: refs
trainingInput:
  scaleTier: CUSTOM
  masterType: n1-standard-4
  masterConfig: {imageUri: "python:3"}
  args: ["$(A)", "$(S)", "$$(S)", "$$$", "$x"]
jobrun:
  provider: kubernetes
  env: {A: a, B: "$(A) $$(A) $$"}
  secrets: {S: {env: S}}
  command: [sh, -c, 'printf "<%s>" "$@"; echo "<$B>"; echo "$((1 + 1))"', sh]
END
  S=hush-hush run jobrun apply --yes refs.yaml
  [ "$status" -eq 0 ]
  [[ $output == *'<$(A)><$(S)><$$(S)><$$$><$x><$(A) $$(A) $$>'* ]]
  [[ $output == *"] 2"* ]]
  [[ $output != *hush* ]]
  jobrun delete refs
}

@test "no secret of the namespace is in what a command says or keeps" {
  tell state '{"pods": [{"exit": 0}]}'
  tell make '{"kind": "Secret", "metadata": {"name": "other-1",
    "labels": {"jobrun-job": "other-1"}, "annotations": {"jobrun-job": "other"}},
    "data": {"KEY": "'"$(printf not-for-you | base64)"'"}}'
  # By this gc finds the Secret, and deletes both.
  tell make '{"kind": "ConfigMap", "metadata": {"name": "other-1-00",
    "labels": {"jobrun-job": "other-1"}, "annotations": {"jobrun-job": "other"}}}'
  pods_of hides 1
  sed -i 's/^jobrun: {/&secrets: {KEY: {env: KEY}}, /' hides.yaml
  export KEY=for-the-pods-alone
  jobrun apply --yes hides.yaml
  for command in "plan --format json hides.yaml" "status --format json" \
    "gc --yes --older-than 0s" "delete hides"; do
    run jobrun $command
    echo "$output"
    [ "$status" -eq 0 ]
  done
  grep -q /secrets/hides trace
}

# Four shards of one sample each, a checkpoint each start, and a first start
# that fails.
launched() {
  mkdir -p keep
  for n in 0 1 2 3; do
    echo "$n" >"sample-$n.txt"
    tar cf "keep/train-$n.tar" "sample-$n.txt"
  done
  cat >launched.yaml <<END
jobId: launched
trainingInput:
  scaleTier: CUSTOM
  masterType: n1-standard-4
  masterConfig: {imageUri: "python:3"}
  workerType: n1-standard-8
  workerCount: 1
jobrun:
  provider: kubernetes
  grace: 2s
  restart: {maxRestarts: 3}
  data: {train: {urls: ["/mnt/keep/train-{0..3}.tar"]}}
  checkpoints: {to: /mnt/keep/ckpt, quietPeriod: 1s}
  kubernetes:
    volumes: {keep: {path: /mnt/keep, hostPath: $TMP/keep}}
    launcher: registry.example/jobrun:1
  command:
    - sh
    - -c
    - |
      start=0
      [ -z "\${JOBRUN_CHECKPOINT:-}" ] || start=\$(cat "\$JOBRUN_CHECKPOINT")
      echo "rank \$RANK of \$WORLD_SIZE goes on from \$start" | tee -a /mnt/keep/said
      echo "rank \$RANK reads" \$(\$JOBRUN_DATA_TRAIN_STREAM | tar t) | tee -a /mnt/keep/said
      if [ "\$RANK" != 0 ]; then : >/mnt/keep/done; exit 0; fi
      echo \$((start + 1)) >"\$JOBRUN_CHECKPOINT_DIR/new"
      mv "\$JOBRUN_CHECKPOINT_DIR/new" "\$JOBRUN_CHECKPOINT_DIR/step-\$((start + 1))"
      [ \$start -gt 0 ] || exit 1
      # Its end is that of the others.
      until [ -e /mnt/keep/done ]; do sleep 0.05; done
END
}

@test "pods get jobrun: they stream their data, and a restart goes on from the checkpoint" {
  launched
  run jobrun plan launched.yaml
  echo "$output"
  [[ $output == *"launcher "*"registry.example/jobrun:1"* ]]
  [[ $output == *"checkpoints.to "*"/mnt/keep/ckpt"* ]]
  [[ $output == *"data.train "*"4 shards dealt to 2, 2 each"* ]]
  tell state '{"pods": [{"run": true, "path": "'"$(dirname "$JOBRUN")"'"}]}'
  run jobrun apply --yes launched.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"launched: SUCCEEDED"* ]]
  # A JobSet deletes the pods that have failed, with their logs.
  grep -qx "rank 0 of 2 goes on from 0" keep/said
  [[ $output == *"resumes from 'step-1' (step 1)"* ]]
  [[ $output == *"rank 0 of 2 goes on from 1"* ]]
  [[ $output == *"'step-2' is uploaded"* ]]
  [[ $output == *"rank 0 reads sample-0.txt sample-2.txt"* ]]
  grep -qx "rank 1 reads sample-1.txt sample-3.txt" keep/said
  [ "$(cat keep/ckpt/launched/00000002/step-2)" = 2 ]
  jobrun delete launched
}

@test "a launcher that fails is named, with its last words" {
  launched
  tell state '{"pods": [{"init": {"exit": 127, "message": "starting\nno such program\n"}}]}'
  sed -i 's/maxRestarts: 3/maxRestarts: 0/' launched.yaml
  run jobrun apply --yes launched.yaml
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *"was not started: the container of jobrun.kubernetes.launcher exited with 127: no such program"* ]]
  jobrun delete launched
}

@test "the example's trials run in pods, and the best one is named" {
  tell state '{"pods": [{"run": true, "path": "'"$(dirname "$JOBRUN")"'"}]}'
  in_pods=(--provider kubernetes --set jobrun.kubernetes.launcher=jobrun:1
    --set trainingInput.masterConfig.imageUri=python:3
    --set trainingInput.hyperparameters.maxTrials=3)
  job=$EXAMPLES/hyperparameters/job.yaml
  run jobrun plan "${in_pods[@]}" "$job"
  echo "$output"
  [[ $output == *"trials.count "*"3"* ]]
  [[ $output == *"enableTrialEarlyStopping is left out: nothing compares trials in the cluster"* ]]
  # Nobody follows: the cluster starts one after the other.
  jobrun apply --yes --detach "${in_pods[@]}" "$job"
  run jobrun wait hyperparameters
  echo "$output"
  [ "$status" -eq 0 ]
  run jobrun status hyperparameters
  echo "$output"
  [[ $output == *"* "*"the best of 3"* ]]
  best=$(field hyperparameters 'min(j["trials"], key=lambda t: t["value"])["number"]')
  [[ $output == *"'jobrun logs --trial $best JOB'"* ]]
  # Its values are those that its program had, and its log has its result.
  rate=$(field hyperparameters 'j["trials"][1]["hyperparameters"]["learning-rate"]')
  [[ $(jobrun render --to kubernetes "${in_pods[@]}" "$job" 2>/dev/null) == *"$rate"* ]]
  jobrun logs --trial 2 hyperparameters | grep -q " step=.* test_loss="
  run jobrun apply --yes "${in_pods[@]}" "$job"
  [ "$status" -eq 0 ]
  [ "$(made)" != "[]" ]
  jobrun delete hyperparameters
  [ "$(made)" = "[]" ]
}

# pods FILE ID: a job with all that one can have beside its run
pods() {
  mkdir -p src
  echo 'print("x")' >src/main.py
  cat >"$1" <<END
jobId: $2
trainingInput:
  scaleTier: CUSTOM
  masterType: n1-standard-4
  masterConfig: {imageUri: "python:3"}
jobrun:
  provider: kubernetes
  source: ../src
  command: [python3, main.py]
  secrets: {TOKEN: {env: TOKEN}}
  kubernetes: {controller: ${3:-auto}}
END
}

@test "jobs that are gone from the files are cancelled and deleted with all they have, by any clone" {
  export TOKEN=of-nobody-else
  tell state '{"pods": [{"hold": true}]}'
  mkdir -p one/.git one/jobs two/.git two/jobs
  printf '[remote "origin"]\n\turl = git@host:team/repo.git\n' |
    tee one/.git/config >two/.git/config
  pods one/jobs/stays.yaml stays
  pods one/jobs/job.yaml plain job
  pods one/jobs/set.yaml set
  sed -i 's|../src|../../src|' one/jobs/*.yaml
  jobrun apply --yes --detach one/jobs
  [[ $(made) == *'["Job", "plain"]'*'["JobSet", "set"]'*'["Service", "plain"]'* ]]
  cp one/jobs/stays.yaml two/jobs/
  # Of these runs this machine knows nothing.
  export JOBRUN_STATE_DIR=$TMP/other
  run jobrun plan --prune two/jobs
  echo "$output"
  [[ $output == *"- job "*"plain "*"gone from the files; attempt 1 is still running: will be cancelled, then deleted"* ]]
  [[ $output == *"- service "*"plain "*"gone from the files"* ]]
  [[ $output == *"- job "*"set "*"will be cancelled, then deleted"* ]]
  [[ $output == *"- secret "*"set "*"gone from the files"* ]]
  [[ $output == *"- config-map "*"set-"*"gone from the files"* ]]
  run jobrun apply --prune --yes two/jobs --detach
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $(made) != *plain* ]]
  [[ $(made) != *set-* ]]
  [[ $(made) == *'["JobSet", "stays"]'*'["Secret", "stays"]'* ]]
  jobrun cancel stays
  jobrun delete stays
  [ "$(made)" = "[]" ]
}

@test "gc finds what is left of a run that is gone, and nothing that one needs" {
  export TOKEN=of-nobody-else
  tell state '{"paused": true}'
  mkdir jobs
  pods jobs/left.yaml left
  pods jobs/needed.yaml needed
  jobrun apply --yes --detach --rerun jobs
  # Somebody else deletes a JobSet, and nothing that it owns.
  curl -sf --cacert "$KUBE/cert.pem" -X DELETE -o /dev/null \
    -H "Authorization: Bearer $(sed -n 's/.*{token: \(.*\)}$/\1/p' "$KUBECONFIG")" \
    -d '{"propagationPolicy": "Orphan"}' \
    "$BASE/apis/jobset.x-k8s.io/v1alpha2/namespaces/team/jobsets/left"
  run env JOBRUN_STATE_DIR="$TMP/other" "$JOBRUN" gc --older-than 0s
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"kubernetes  secret  left  (job left, "*" old, in cluster '$BASE' (context 'test'), namespace 'team'): no run of its job exists"* ]]
  [[ $output == *"kubernetes  config-map  left-"* ]]
  [[ $output != *needed* ]]
  run env JOBRUN_STATE_DIR="$TMP/other" "$JOBRUN" delete --dry-run jobs/left.yaml
  echo "$output"
  [[ $output == *"note: in cluster '$BASE' (context 'test'), namespace 'team'"* ]]
  JOBRUN_STATE_DIR=$TMP/other jobrun gc --older-than 0s --yes
  [[ $(made) != *left* ]]
  [[ $(made) == *'["Secret", "needed"]'* ]]
  tell state '{"paused": false, "pods": []}'
  jobrun wait needed
  jobrun delete needed
  [ "$(made)" = "[]" ]
}

@test "gc leaves what a run needs that was rendered and applied by others" {
  tell state '{"pods": [{"hold": true}], "paused": false}'
  for controller in auto job; do
    pods rendered.yaml rendered $controller
    # No manifest has secrets.
    sed -i '/secrets:/d; s|\.\./src|src|' rendered.yaml
    jobrun render --to kubernetes rendered.yaml >manifests.yaml
    put_up manifests.yaml
    run jobrun gc --yes --older-than 0s rendered.yaml
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *"nothing to clean up"* ]]
    [[ $(made) == *'["ConfigMap", "rendered-'* ]]
    jobrun apply --yes --detach rendered.yaml
    jobrun cancel rendered
    jobrun delete rendered
    JOBRUN_STATE_DIR=$TMP/other jobrun gc --yes --older-than 0s
    [ "$(made)" = "[]" ]
  done
}

@test "gc deletes what a lost machine has left in the cluster" {
  tell make '{"kind": "Secret", "metadata": {"name": "left-1a2b3c4d",
    "labels": {"jobrun-job": "left-1a2b3c4d", "jobrun-cleanup": "always"},
    "annotations": {"jobrun-job": "left", "jobrun-digest": "00"}}}'
  # Secrets are not listed: it is found by what its job has beside it.
  tell make '{"kind": "ConfigMap", "metadata": {"name": "left-1a2b3c4d-00",
    "labels": {"jobrun-job": "left-1a2b3c4d", "jobrun-cleanup": "always"},
    "annotations": {"jobrun-job": "left", "jobrun-digest": "00"}}}'
  # Of somebody else.
  tell make '{"kind": "Secret", "metadata": {"name": "theirs"}}'
  run jobrun gc --yes --older-than 0s
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"left-1a2b3c4d  (job left"* ]]
  [ "$(made)" = '[["Secret", "theirs"]]' ]
}

@test "render makes of every example what the API's schemas ask for" {
  [ -d "${JOBRUN_API_SCHEMAS:-}/kubernetes" ] ||
    skip "JOBRUN_API_SCHEMAS names no folder with them"
  for file in "$EXAMPLES"/*/job.yaml; do
    echo ---
    jobrun render --to kubernetes --provider kubernetes "$file" \
      --set trainingInput.masterConfig.imageUri=python:3 \
      --set jobrun.kubernetes.launcher=registry.example/jobrun:1 2>/dev/null
  done >manifests.yaml
  run python3 - "$BATS_TEST_DIRNAME/../stand-ins/kubernetes" manifests.yaml <<'END'
import os
import sys

import yaml

sys.dont_write_bytecode = True
sys.path.append(sys.argv[1])
from schemas import Schemas, check_rules  # noqa: E402

checker = Schemas(os.environ["JOBRUN_API_SCHEMAS"])
kinds = []
for item in yaml.safe_load_all(open(sys.argv[2])):
    if item is None:
        continue
    kinds.append(item["kind"])
    for wrong in checker.check(item) + check_rules(item):
        sys.exit(item["metadata"]["name"] + ": " + wrong)
print(kinds.count("JobSet") + kinds.count("Job"))
END
  echo "$output"
  [ "$status" -eq 0 ]
  [ "$output" -ge 12 ]
}

@test "kubectl applies what render writes, unchanged" {
  command -v kubectl >/dev/null || skip "kubectl is not installed"
  tell state '{"pods": [{"lines": ["x"]}]}'
  jobrun render --to kubernetes "$EXAMPLES/kubernetes/job.yaml" >manifests.yaml
  run kubectl --cache-dir=cache apply --server-side --validate=false \
    -f manifests.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"jobset.jobset.x-k8s.io/kubernetes-hello"*" serverside-applied"* ]]
}

@test "without a cluster a job is planned, and not applied" {
  unset KUBECONFIG
  export HOME=$TMP
  run jobrun plan "$EXAMPLES/kubernetes/job.yaml"
  echo "$output"
  [ "$status" -eq 77 ]
  [[ $output == *"unless it was run: not checked"* ]]
  [[ $output == *"! unknown: what exists: "*"there is no \$KUBECONFIG and no ~/.kube/config"* ]]
  run jobrun apply --yes "$EXAMPLES/kubernetes/job.yaml"
  [ "$status" -eq 69 ]
}

by_two_versions() {
  export TOKEN=of-nobody-else
  mkdir -p jobs
  # An older version asks for more than it needs.
  tell state '{"pods": [{"hold": true}], "finalizers": true}'
  pods jobs/long.yaml long
  first apply --yes --detach jobs/long.yaml
  seen_by_all jobs/long.yaml
  [[ $output == *"with other settings"* ]]
  tell state '{"pods": [], "finalizers": true}'
  pods jobs/short.yaml short
  first apply --yes jobs/short.yaml
  seen_by_all jobs/short.yaml
  [[ $output == *"changed since attempt 1 (succeeded)"* ]]
  second cancel long
  second delete long
  second delete short
  [ "$(made)" = "[]" ]
  rm -rf other
}

@test "a run of a cluster, by one version and then by another" {
  both by_two_versions
}

@test "what a plan may not look at does not make it stale" {
  local cluster=${KUBECONFIG:?}
  tell state '{"pods": [{"run": true}]}'
  mkdir -p repo/.git repo/jobs
  sed "s|$KUBE/cert.pem|cert.pem|" "$cluster" >repo/kc.yaml
  cp "$KUBE/cert.pem" repo
  export KUBECONFIG=$TMP/none HOME=$TMP
  cd repo
  cat >jobs/k.yaml <<'END'
jobId: unseen
trainingInput:
  scaleTier: CUSTOM
  masterType: n1-standard-4
  masterConfig: {imageUri: "python:3"}
jobrun: {provider: kubernetes, command: [echo, hi], kubernetes: {kubeconfig: ../kc.yaml}}
END
  run jobrun plan --out "$TMP/first.plan" jobs
  [ "$status" -eq 0 ]
  [[ $output == *"unseen  unless it was run: not checked"* ]]
  run jobrun apply --yes "$TMP/first.plan"
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"unseen: SUCCEEDED"* ]]
  # It is there by now, and the plan could not know.
  jobrun plan --out "$TMP/second.plan" jobs
  run jobrun apply --yes "$TMP/second.plan"
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"already succeeded"* ]]
  # What was looked at is held against it.
  run jobrun plan --allow-connect jobs
  [[ $output == *"already succeeded"* ]]
  run jobrun delete unseen
}

@test "a run of another project's job of that name is left alone: its annotation says so" {
  tell state '{"pods": [{"script": [{"phase": "Running"}]}], "paused": true}'
  for p in p1 p2; do
    mkdir $p
    cat >$p/config.yaml <<END
jobId: config
trainingInput: {scaleTier: BASIC, args: [$p], masterConfig: {imageUri: "python:3"}}
jobrun: {provider: kubernetes}
END
  done
  run jobrun plan --format json p1/config.yaml
  [[ $output == *'"jobrun-origin": "dir:'$TMP'/p1"'* ]]
  jobrun apply --yes --detach p1/config.yaml
  for state in "$JOBRUN_STATE_DIR" "$TMP/other"; do
    JOBRUN_STATE_DIR=$state run jobrun apply --yes --detach p2/config.yaml
    echo "$output"
    [ "$status" -eq 75 ]
    [[ $output == *"from dir:$TMP/p1, this one from dir:$TMP/p2;"* ]]
  done
  # What is rendered for others says nothing of this machine.
  run jobrun render --to kubernetes p1/config.yaml
  [[ $output != *"$TMP"* ]]
  jobrun cancel --now config
  jobrun delete config
}

@test "cancel asks for the end first, also of pods on a node that hangs" {
  tell state '{"pods": [{"hold": true}], "hung": "stuck-", "hungSeconds": 100}'
  pods_of stuck 1
  jobrun apply --detach --yes stuck.yaml
  wait_until 20 eval 'requests >/dev/null; jobrun status stuck | grep -q RUNNING'
  from=$(asked 0 .)
  run timeout 60 "$JOBRUN" cancel stuck
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"stuck: CANCELLED"* ]]
  first=$(requests | python3 -c '
import json, sys
one = json.load(sys.stdin)[int(sys.argv[1])]
print(one["method"], one["path"].rpartition("/")[2])' "$from")
  [ "$first" = "DELETE stuck" ]
  tell state '{"hung": null}'
  jobrun delete stuck
}

@test "cancel leaves what has ended unseen what it came to" {
  tell state '{"pods": [{"exit": 0}]}'
  pods_of ended 1
  jobrun apply --detach --yes ended.yaml
  wait_until 20 eval "jobset ended | grep -q Completed"
  run jobrun cancel ended
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"ended: SUCCEEDED"* ]]
  run jobrun status ended
  [[ $output == *SUCCEEDED* ]]
  jobrun delete ended
}

@test "a follower does not ask for the log of a pod again and again" {
  tell state '{"pods": [{"hold": true, "lines": ["here"]}]}'
  pods_of many 15
  from=$(asked 0 .)
  jobrun apply --yes many.yaml >out 2>&1 3>&- &
  follower=$!
  wait_until 30 is_asked "$from" '^GET .*/pods/many-.*/log[?]' 16
  wait_until 30 eval '[ "$(grep -c here out)" -ge 16 ]'
  looks=$(asked "$from" '^GET .*/jobsets/many$')
  wait_until 30 is_asked "$from" '^GET .*/jobsets/many$' $((looks + 3))
  n=$(asked "$from" '^GET .*/pods/many-.*/log[?]')
  jobrun cancel many
  wait "$follower" || true
  echo "$n requests"
  # A first look before it follows may have asked for each, too.
  [ "$n" -le 32 ]
  jobrun delete many
}

# The log has SIZE bytes.
logged() {
  [ "$(cat "$JOBRUN_STATE_DIR"/runs/long.1/logs/master-0.stdout | wc -c)" -ge "$1" ]
}

@test "a line longer than memory should hold comes whole, though its reader is killed" {
  tell state '{"pods": [{"run": true}]}'
  cat >long.py <<END
import os, sys, time
sys.stdout.write("x" * 300000)
sys.stdout.flush()
while not os.path.exists("$TMP/go"):
    time.sleep(0.05)
sys.stdout.write("y" * 6000000 + "\\nlast")
END
  cat >job.yaml <<END
jobId: long
trainingInput: {scaleTier: BASIC, masterConfig: {imageUri: "python:3"}}
jobrun: {provider: kubernetes, command: [python3, $TMP/long.py]}
END
  jobrun apply --yes job.yaml >/dev/null 2>&1 3>&- &
  follower=$!
  wait_until 30 logged 200000
  kill -9 "$follower"
  touch "$TMP/go"
  jobrun wait long
  jobrun logs --no-prefix --time none long >out
  python3 -c '
with open("state/runs/long.1/logs/master-0.stdout") as file:
    assert file.read() == "x" * 300000 + "y" * 6000000 + "\nlast\n"'
  jobrun delete long
}

# One 'status': the cluster that says nothing delays no other.
only_away_is_stale() {
  local from=$SECONDS output
  output=$(timeout 100 "$JOBRUN" status)
  echo "$((SECONDS - from)) s: $output"
  # A request alone would be tried for half a minute.
  [ "$((SECONDS - from))" -le 20 ] || exit 1
  [ "$(grep -c 'last known state: ' <<<"$output")" -eq 1 ] &&
    grep -A1 '^away ' <<<"$output" | grep -q '^  last known state: ' &&
    grep -q '^here ' <<<"$output"
}

@test "status shows what was last known of a cluster that does not answer" {
  tell state '{"pods": [{"hold": true}]}'
  pods_of away 1
  pods_of here 1
  jobrun apply --detach --yes here.yaml
  # Another cluster: a server that takes connections, and says nothing.
  python3 -c '
import socket, sys
s = socket.create_server(("127.0.0.1", 0))
open("silent", "w").write(str(s.getsockname()[1]))
sys.stdin.read()' <"$KUBE/alive" 3>&- &
  silent=$!
  wait_until 10 test -s silent
  cp "$KUBE/cert.pem" .
  sed "s|$KUBE/cert.pem|cert.pem|" "$KUBECONFIG" >good
  cp good config
  sed -i 's/provider: kubernetes/&, kubernetes: {kubeconfig: config}/' away.yaml
  jobrun apply --detach --yes away.yaml
  sed -i "s/127.0.0.1:[0-9]*/127.0.0.1:$(cat silent)/" config
  # On a busy machine the other cluster's answer can be late, too.
  wait_until 30 only_away_is_stale
  # Not one that nobody knows any more either.
  rm config
  run jobrun status
  [ "$status" -eq 0 ]
  [[ $output == *"here "* && $output == *"last known state: "* ]]
  run jobrun status --format json
  [[ $output == *'"stale": '* ]]
  kill "$silent"
  cp good config
  jobrun cancel away
  jobrun cancel here
  jobrun delete away here
}

@test "a look from another context is no end of a run, and starts no second" {
  tell state '{"pods": [{"hold": true}]}'
  pods_of stays 1
  run jobrun apply --detach --yes stays.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"in cluster '$BASE' (context 'test'), namespace 'team'"* ]]
  # The same cluster, another namespace.
  sed '/^contexts:/a - name: other\n  context: {cluster: stand-in, user: tester, namespace: elsewhere}' \
    "$KUBECONFIG" | sed 's/^current-context: .*/current-context: other/' >other
  KUBECONFIG=other run jobrun status stays
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output != *FAILED* ]]
  [[ $output == *"in cluster '$BASE' (context 'test'), namespace 'team'"* ]]
  KUBECONFIG=other run jobrun apply --detach --yes stays.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  run made
  echo "made ($status): $output"
  [ "$(grep -o '"JobSet", "stays"' <<<"$output" | wc -l)" -eq 1 ]
  # Another cluster, under the same name.
  python3 "$BATS_TEST_DIRNAME/../stand-ins/kubernetes/server.py" \
    --port-file port2 --credentials second <"$KUBE/alive" 3>&- &
  second=$!
  wait_until 20 test -s port2
  KUBECONFIG=second/kubeconfig run jobrun status stays
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output != *FAILED* ]]
  [[ $output == *"it is in cluster '$BASE' (context 'test'), namespace 'team'"* ]]
  for command in "apply --yes --detach stays.yaml" "cancel stays" "delete stays"; do
    KUBECONFIG=second/kubeconfig run jobrun $command
    echo "$output"
    [ "$status" -ne 0 ]
    [[ $output == *"it is in cluster '$BASE' (context 'test'), namespace 'team'"* ]]
  done
  kill "$second"
  # Somebody else who finds nothing.
  sed 's/user: tester/user: another/; s/name: tester/name: another/' \
    "$KUBECONFIG" >another
  tell faults '[{"do": "status", "status": 404, "path": "jobsets/stays$", "count": 100}]'
  KUBECONFIG=another run jobrun status stays
  tell faults '[]'
  echo "$output"
  [[ $output != *FAILED* ]]
  [[ $output == *"was not found as 'another'"* ]]
  KUBECONFIG=other run jobrun cancel stays
  [ "$status" -eq 0 ]
  [[ $output == *"stays: CANCELLED"* ]]
  jobrun delete stays
}

# Other tests leave other things.
nothing_of_all() {
  refute grep -qE '"(jobset|plain|left)["-]' <<<"$(made)"
}

# Two jobs that need all of the Role: a JobSet in a queue, and a Job.
jobs_of_all() {
  mkdir -p jobs/src
  echo 'print(1)' >jobs/src/main.py
  pods_of jobset 1
  sed 's/kubernetes}/kubernetes, kubernetes: {queue: q}}/' jobset.yaml >jobs/jobset.yaml
  pods_of plain 0
  sed '/workerType\|workerCount/d; s/kubernetes}/kubernetes, kubernetes: {controller: job}, source: src, secrets: {KEY: {env: KEY}}}/' \
    plain.yaml >jobs/plain.yaml
  export KEY=for-the-pods-alone
}

@test "the Role of the example grants all that is asked for, and no more" {
  jobs_of_all
  tell state '{"kueue": true, "pods": [{"hold": true, "lines": ["here"]}],
    "role": '"$(role)"'}'
  run jobrun apply --yes --detach jobs
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output != *"the right to"* ]]
  wait_until 30 state_is plain RUNNING
  wait_until 30 state_is jobset RUNNING
  jobrun apply --yes jobs >followed 2>&1 3>&- &
  follower=$!
  wait_until 30 eval 'used_rights | grep "watch jobsets" >&2'
  wait_until 30 eval 'used_rights | grep "watch jobs$" >&2'
  run jobrun logs plain
  [[ $output == *here* ]]
  jobrun cancel --now plain
  jobrun cancel jobset
  wait "$follower" || true
  # What waits is asked why.
  tell state '{"paused": true}'
  jobrun apply --yes --rerun jobs >followed 2>&1 3>&- &
  follower=$!
  wait_until 30 eval 'used_rights | grep "list events" >&2'
  wait_until 30 eval 'used_rights | grep "list workloads" >&2'
  uid=$(jobset jobset | python3 -c 'import json, sys; print(json.load(sys.stdin)["metadata"]["uid"])')
  tell make '{"kind": "Workload", "metadata": {"name": "jobset-jobset",
    "ownerReferences": [{"uid": "'$uid'"}]}, "status": {}}'
  wait_until 30 eval 'used_rights | grep "get localqueues/pendingworkloads" >&2'
  tell state '{"paused": false}'
  jobrun cancel jobset
  jobrun cancel plain
  wait "$follower" || true
  # What a start that was killed in the middle leaves.
  for kind in ConfigMap Service Secret; do
    tell make '{"kind": "'$kind'", "metadata": {"name": "left",
      "labels": {"jobrun-job": "left", "jobrun-cleanup": "always"},
      "annotations": {"jobrun-job": "left", "jobrun-digest": "00"}}}'
  done
  run jobrun gc --yes --older-than 0s
  echo "$output"
  [ "$status" -eq 0 ]
  jobrun delete plain jobset
  nothing_of_all
  diff <(role_rights) <(used_rights)
  tell state '{"role": null, "kueue": false, "pods": []}'
}

@test "a plan names each right that is missing, and what goes without it" {
  jobs_of_all
  tell state '{"kueue": true}'
  for resource in jobsets jobs pods pods/log events workloads \
    localqueues/pendingworkloads namespaces configmaps services secrets; do
    tell state '{"role": '"$(role $resource)"'}'
    run jobrun plan jobs
    echo "$resource: $output"
    case $resource in
      pods/log | events | workloads | localqueues/* | namespaces)
        [ "$status" -eq 0 ]
        [[ $output == *"note: the right to "*" $resource in namespace 'team': without it "* ]]
        ;;
      *)
        [[ $output == *"missing: the right to "*" $resource in namespace 'team'"* ||
          $output == *"cannot "*"$resource"* ]]
        ;;
    esac
  done
  # Nothing is made where the Role does not suffice.
  tell state '{"role": '"$(role secrets)"'}'
  run jobrun apply --yes jobs
  echo "$output"
  [ "$status" -eq 77 ]
  [[ $output == *"the right to get, create, patch, delete secrets in namespace 'team'"* ]]
  tell state '{"role": null, "kueue": false}'
  nothing_of_all
  # A job without secrets needs no right on them.
  tell state '{"role": '"$(role secrets)"', "pods": []}'
  jobrun apply --yes jobs/jobset.yaml
  jobrun delete jobset
  tell state '{"role": null}'
}
