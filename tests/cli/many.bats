# One way to choose runs, for all commands that take a JOB.

load helper

# labelled FILE ID TEAM COMMAND
labelled() {
  job "$1" "$2" "$4"
  sed -i "1i labels: {team: $3}" "$1"
}

three() {
  mkdir jobs
  labelled jobs/a.yaml train_a vision 'echo from a'
  labelled jobs/b.yaml train_b audio 'echo from b; exit 3'
  labelled jobs/c.yaml other vision 'echo from c'
  jobrun apply jobs >/dev/null 2>&1 || true
}

@test "status: names, patterns, files, labels, states and forms" {
  local words want wrong=0
  three
  # What is said, and which jobs that is, by name.
  while IFS='|' read -r words want; do
    [ -n "$words" ] || continue
    # shellcheck disable=SC2086
    run jobrun status -o name --sort name $words
    if [ "$(echo $output)" != "$(echo $want)" ]; then
      echo "$words: $output"
      wrong=1
    fi
  done <<'TABLE'
train_a other|other train_a
train_*|train_a train_b
t*_[b]|train_b
jobs/c.yaml|other
jobs/a.yaml train_b|train_a train_b
-l team|other train_a train_b
-l team=vision|other train_a
-l team!=vision|train_b
-l team=vision -l nobody|
--state FAILED|train_b
--state failed,QUEUED|train_b
--state SUCCEEDED train_*|train_a
--provider local --limit 9 --since 1h|other train_a train_b
--provider slurm|
--since 0s|
TABLE
  [ $wrong -eq 0 ]
  [ "$(jobrun status --sort -name -o name | head -1)" = train_b ]
  [ "$(jobrun status --limit 1 -o name | wc -l)" -eq 1 ]
  run jobrun status 'nobody*'
  [ "$status" -eq 66 ]
  run jobrun status train_x
  [ "$status" -eq 66 ]
  [[ $output == *"no run of 'train_x' here; did you mean 'train_"* ]]
  run jobrun status --state DONE
  [ "$status" -eq 64 ]
  run jobrun status -o xml
  [ "$status" -eq 64 ]
  [[ $output == *"unknown format 'xml'"* ]]
  [ "$(jobrun status -o custom=jobId,labels.team,state train_b)" = $'train_b\taudio\tFAILED' ]
  jobrun status -o csv --sort name | head -1 | grep -q '^jobId,provider,state,'
  [ "$(jobrun status -o jsonl | wc -l)" -eq 3 ]
  jobrun status -o yaml other | grep -q '^  *jobId: other\|^- jobId: other'
  jobrun status -o wide train_a | grep -q 'team=vision'
}

@test "wait and logs take several" {
  three
  run jobrun wait 'train_*'
  [ "$status" -eq 1 ]
  [[ $output == *"train_a: SUCCEEDED"* && $output == *"train_b: FAILED"* ]]
  run jobrun wait -l team=vision
  [ "$status" -eq 0 ]
  run jobrun logs 'train_*'
  [ "$status" -eq 0 ]
  [[ $output == *"from a"* && $output == *"from b"* ]]
  [[ $output != *"from c"* ]]
  run jobrun logs
  [ "$status" -eq 64 ]
}

@test "logs -f follows those that begin later, too" {
  job a.yaml train_a "until [ -e $TMP/stop ]; do sleep 0.1; done; echo a ends"
  job b.yaml train_b "echo b was here; until [ -e $TMP/stop ]; do sleep 0.1; done"
  jobrun apply --detach a.yaml
  "$JOBRUN" logs -f 'train_*' >out.txt 2>&1 &
  wait_until 30 state_is train_a RUNNING
  jobrun apply --detach b.yaml
  wait_until 30 grep -q 'b was here' out.txt
  touch stop
  wait $!
  grep -q 'a ends' out.txt
}

@test "what ends or deletes lists what was chosen, and needs a yes" {
  job a.yaml train_a "sleep $NAP"
  job b.yaml train_b "sleep $NAP"
  job c.yaml other "sleep $NAP"
  for name in a b c; do jobrun apply --detach $name.yaml; done
  for name in train_a train_b other; do wait_until 30 state_is $name RUNNING; done
  run jobrun cancel 'train_*' </dev/null
  [ "$status" -eq 1 ]
  [[ $output == *"will cancel train_a (local, attempt 1, RUNNING)"* ]]
  [[ $output == *"refusing to cancel 2 runs without confirmation; pass --yes"* ]]
  state_is train_a RUNNING
  run jobrun cancel --yes --state RUNNING 'train_*'
  [ "$status" -eq 0 ]
  state_is train_a CANCELLED
  state_is train_b CANCELLED
  state_is other RUNNING
  run jobrun delete --state CANCELLED </dev/null
  [ "$status" -eq 1 ]
  [[ $output == *"will delete train_b"* ]]
  jobrun delete --yes --state CANCELLED
  [ "$(jobrun status -o name)" = other ]
  jobrun cancel other
  run jobrun cancel
  [ "$status" -eq 64 ]
  run jobrun cancel --yes '*'
  [ "$status" -eq 0 ]
  [[ $output == *"nothing to cancel"* ]]
}

@test "other lists have the forms of status" {
  # Whatever this machine has: nothing of it is asked.
  unset KUBECONFIG KUBERNETES_SERVICE_HOST SLURM_CONF GOOGLE_APPLICATION_CREDENTIALS
  export HOME=$TMP CLOUDSDK_CONFIG=$TMP/gcloud NO_GCE_CHECK=true
  jobrun doctor -o name >names || true
  grep -qx libcurl names
  jobrun doctor -o custom=group,name,state >custom || true
  grep -qx $'libraries\tlibcurl\tok' custom
  [ "$(jobrun doctor -o jsonl | head -n 1 | jq -r .name)" = ssh ]
  jobrun doctor -o csv | head -n 1 | grep -q name
  jobrun doctor -o yaml | grep -q '^checks:'
  run jobrun doctor -o xml
  [ "$status" -eq 64 ]
  [[ $output == *"unknown format 'xml'"* ]]
  [ "$(jobrun devices -o json | jq .formatVersion)" = 1 ]
  [ "$(jobrun gc -o json | jq -c .found)" = "[]" ]
  [[ $(jobrun gc -o yaml) == *"found: []"* ]]
  run jobrun gc -o xml
  [ "$status" -eq 64 ]
  jobrun devices -o name
  job a.yaml a 'cd "$JOBRUN_CHECKPOINT_DIR"; echo 1 >.new; mv .new ckpt-7.pt'
  echo "  checkpoints: {to: $TMP/kept}" >>a.yaml
  jobrun apply a.yaml
  [ "$(jobrun checkpoints -o custom=step a | tail -n 1)" = 7 ]
  jobrun checkpoints -o name a | grep -q kept
}
