# What other machines and other people see of runs in a cluster.
# bats file_tags=server
load helper
load kubernetes

gone() {
  [[ $(made) != *'"JobSet"'* ]]
}

# Their ttl is over.
expire() {
  tell state '{"expire": true}'
  wait_until 20 gone
  tell state '{"expire": false}'
}

@test "a success outlives the ttl of its objects, on every machine" {
  tell state '{"pods": [{"exit": 0}]}'
  pods_of once 1
  mkdir src
  echo 'print(1)' >src/main.py
  sed -i 's/provider: kubernetes/&, source: src, command: [a], kubernetes: {ttl: 1h}/' once.yaml
  run jobrun apply --yes once.yaml
  [ "$status" -eq 0 ]
  expire
  wait_until 20 eval '[ "$(made)" = "[[\"ConfigMap\", \"once-succeeded\"]]" ]'
  # A fresh machine, and what cleans up.
  export JOBRUN_STATE_DIR=$TMP/fresh
  # An answer that is none: nobody runs it again for that.
  tell faults '[{"do": "status", "status": 400, "path": "configmaps/once-succeeded$", "count": 100}]'
  run jobrun plan once.yaml
  echo "$output"
  [ "$status" -ne 0 ]
  [[ $output != *"1 to run"* ]]
  tell faults '[]'
  run jobrun plan once.yaml
  echo "$output"
  [[ $output == *"already succeeded"* ]]
  run jobrun gc --yes --older-than 0s
  echo "$output"
  run jobrun apply --yes once.yaml
  echo "$output"
  [[ $output == *"already succeeded"* ]]
  [ "$(made)" = '[["ConfigMap", "once-succeeded"]]' ]
  # Another version of the job is another thing.
  sed -i 's/command: \[a\]/command: [b]/' once.yaml
  run jobrun plan once.yaml
  echo "$output"
  [[ $output == *"changed since attempt 1 (succeeded)"* ]]
  tell state '{"pods": [{"exit": 1}]}'
  run jobrun apply --yes once.yaml
  [ "$status" -eq 1 ]
  expire
  [[ $(made) != *succeeded* ]]
  # It goes with its job.
  tell state '{"pods": [{"exit": 0}]}'
  jobrun apply --yes --rerun once.yaml
  expire
  JOBRUN_STATE_DIR=$TMP/third run jobrun delete once.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [ "$(made)" = "[]" ]
}

@test "a success that another machine has seen is one here, when its ttl has passed" {
  tell state '{"pods": [{"exit": 0}]}'
  pods_of seen 0
  sed -i 's/provider: kubernetes/&, kubernetes: {ttl: 1h}/' seen.yaml
  jobrun apply --yes --detach seen.yaml
  (
    export JOBRUN_STATE_DIR=$TMP/other
    jobrun apply --yes seen.yaml
    wait_until 20 state_is seen SUCCEEDED
  )
  expire
  state_is seen SUCCEEDED
  jobrun delete seen
  [ "$(made)" = "[]" ]
}

@test "without the right to leave word of a success a plan says so" {
  pods_of once 0
  sed -i 's/provider: kubernetes/&, kubernetes: {ttl: 1h}/' once.yaml
  tell state '{"role": [{"verbs": ["get", "list", "watch", "create", "patch", "delete", "deletecollection"],
    "apiGroups": ["", "batch", "jobset.x-k8s.io"], "resources": ["jobsets", "pods", "jobs"]}]}'
  run jobrun plan once.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"note: the right to get, create, patch, delete configmaps in namespace 'team': without it other machines run it again when its ttl has passed"* ]]
  tell state '{"role": null}'
}

@test "a mark of success that nobody may delete is named, and holds up nothing" {
  tell state '{"pods": [{"exit": 0}], "role": [
    {"verbs": ["get", "list", "create", "patch"], "apiGroups": [""], "resources": ["configmaps"]},
    {"verbs": ["get", "list", "watch", "create", "patch", "delete", "deletecollection"],
     "apiGroups": ["", "batch", "jobset.x-k8s.io"], "resources": ["jobsets", "pods", "pods/log", "jobs", "services"]}]}'
  pods_of keeps 0
  sed -i 's/provider: kubernetes/&, kubernetes: {ttl: 1h}/' keeps.yaml
  run jobrun apply --yes keeps.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  run jobrun delete keeps
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"its mark of success stays, so no machine runs it again without --rerun: "*"cannot delete resource \"configmaps\""* ]]
  [[ $output == *"keeps: deleted"* ]]
  run jobrun status keeps
  [ "$status" -eq 66 ]
  [[ $(made) == *'["ConfigMap", "keeps-succeeded"]'* && $(made) != *'["JobSet", "keeps"]'* ]]
  # What comes to nothing later is no success for that.
  run jobrun plan keeps.yaml
  [[ $output == *"already succeeded"* ]]
  tell state '{"pods": [{"hold": true}]}'
  run jobrun apply --yes --rerun --detach keeps.yaml
  [ "$status" -eq 0 ]
  wait_until 30 state_is keeps RUNNING
  curl -sf --cacert "$KUBE/cert.pem" -X DELETE -o /dev/null \
    -H "Authorization: Bearer $(sed -n 's/.*{token: \(.*\)}$/\1/p' "$KUBECONFIG")" \
    "$BASE/apis/jobset.x-k8s.io/v1alpha2/namespaces/team/jobsets/keeps"
  wait_until 30 state_is keeps FAILED
  tell state '{"role": null}'
  jobrun delete keeps
  [[ $(made) != *keeps* ]]
}

# What a colleague has: the job file, a way to the cluster, and no store.
colleague() {
  mkdir -p "$TMP/tmp"
  JOBRUN_STATE_DIR=$TMP/colleague JOBRUN_OWNER=colleague TMPDIR=$TMP/tmp \
    jobrun "$@"
}

# shows COMMAND FILE TEXT
shows() {
  # shellcheck disable=SC2086
  [[ $(colleague $1 "$2") == *"$3"* ]]
}

# Nothing is left of a colleague's look, and nothing of it was stored.
left_nothing() {
  [ ! -e "$TMP/colleague" ]
  [ -z "$(ls -A "$TMP/tmp")" ]
}

@test "a colleague sees a run that goes on by its job file, and adopts nothing" {
  tell state '{"pods": [{"lines": ["step 1"], "hold": true}]}'
  pods_of shared 0
  jobrun apply --yes --detach shared.yaml
  wait_until 60 state_is shared RUNNING
  from=$(requests | python3 -c 'import json, sys; print(len(json.load(sys.stdin)))')
  wait_until 60 shows status shared.yaml "RUNNING "
  wait_until 60 shows "status --format json" shared.yaml '"state": "RUNNING"'
  # It was started when it was, not when it was found.
  started=$(jobset shared | python3 -c '
import json, sys
print(json.load(sys.stdin)["metadata"]["creationTimestamp"].rstrip("Z"))')
  shows "status --format json" shared.yaml "\"createTime\": \"$started"
  left_nothing
  # Another project's job of that name is another job.
  mkdir far
  cp shared.yaml far
  for command in status 'cancel --yes'; do
    # shellcheck disable=SC2086
    run colleague $command far/shared.yaml
    echo "$output"
    [ "$status" -eq 75 ]
    [[ $output == *"the run of 'shared' belongs to another job of that name: that one is from dir:$TMP, this one from dir:$TMP/far; "* ]]
    left_nothing
  done
  colleague logs -f shared.yaml >log 3>&- &
  wait_until 60 grep -q "step 1" log
  # Only to look: nothing was written to the cluster either.
  [ "$(asked "$from" '^(PUT|PATCH|DELETE|POST)')" -eq 0 ]
  # By its name alone there is nowhere to look.
  run colleague status shared
  [ "$status" -eq 66 ]
  run colleague cancel --yes shared.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"will cancel shared (kubernetes, attempt 1, "* ]]
  [[ $output == *"shared: CANCELLED"* ]]
  wait
  left_nothing
  [ "$(made)" = "[]" ]
  run colleague logs shared.yaml
  echo "$output"
  [ "$status" -eq 66 ]
  [[ $output == *"no run of a job in 'shared.yaml' here"* ]]
  left_nothing
}

@test "a colleague waits for the end of a run, and cancels none that has ended" {
  tell state '{"pods": [{"lines": ["loss 0.5"], "exit": 3}]}'
  pods_of ended 0
  run jobrun apply --yes ended.yaml
  [ "$status" -eq 1 ]
  run colleague wait ended.yaml
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *"master 0 exited with 3"* ]]
  shows "logs -f" ended.yaml "loss 0.5"
  wait_until 60 shows status ended.yaml "FAILED "
  run colleague cancel --yes ended.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"nothing to cancel"* ]]
  left_nothing
  [[ $(made) == *'["JobSet", "ended"]'* ]]
  # Another's job with the same file name, at another place.
  sed -i 's/jobId: ended/jobId: other/' ended.yaml
  run colleague status ended.yaml
  echo "$output"
  [ "$status" -eq 66 ]
  left_nothing
}

@test "a colleague's look goes to no cluster that only the file names" {
  tell state '{"pods": [{"hold": true}]}'
  pods_of named 0
  jobrun apply --yes --detach named.yaml
  cp "$KUBECONFIG" mine
  sed -i 's/provider: kubernetes/&, kubernetes: {kubeconfig: mine}/' named.yaml
  from=$(requests | python3 -c 'import json, sys; print(len(json.load(sys.stdin)))')
  run colleague status named.yaml
  echo "$output"
  [ "$status" -eq 66 ]
  [ "$(asked "$from" .)" -eq 0 ]
  left_nothing
  jobrun cancel named
}

# sees TEXT ARGUMENT...: whether it is in what a colleague's command says
sees() {
  local text=$1
  shift
  colleague "$@" >seen 2>&1 || true
  grep -qE -- "$text" seen
}

@test "a colleague finds runs by their labels, and adopts nothing" {
  tell state '{"pods": [{"lines": ["loss 0.5"], "exit": 3}]}'
  pods_of over 0
  run jobrun apply --yes over.yaml
  [ "$status" -eq 1 ]
  tell state '{"pods": [{"lines": ["step 1"], "hold": true}]}'
  pods_of theirs 2
  jobrun apply --yes --detach theirs.yaml
  wait_until 60 state_is theirs RUNNING
  started=$(jobset theirs | python3 -c '
import json, sys
print(json.load(sys.stdin)["metadata"]["creationTimestamp"].rstrip("Z"))')
  # Without the files.
  mkdir elsewhere
  cd elsewhere
  from=$(requests | python3 -c 'import json, sys; print(len(json.load(sys.stdin)))')
  run colleague status theirs
  [ "$status" -eq 66 ]
  [ "$(asked "$from" .)" -eq 0 ]
  wait_until 60 sees '^theirs +RUNNING +1  kubernetes ' status --all
  wait_until 60 sees '^over +FAILED +1  kubernetes ' status -a
  wait_until 60 sees '^  master 0 exited with 3$' status --all over
  wait_until 60 sees '^  worker 1 +RUNNING ' status --all theirs
  refute grep -q '^over' seen
  wait_until 60 sees "\"createTime\": \"$started" status --all --format json 'the*'
  left_nothing
  # A run of one's own is there, too.
  cat >mine.yaml <<'END'
jobId: mine
trainingInput: {scaleTier: BASIC}
jobrun: {command: ["true"]}
END
  colleague apply mine.yaml
  wait_until 60 sees '^theirs +RUNNING ' status --all
  grep -qE '^mine +SUCCEEDED +1  local ' seen
  [ "$(grep -cE '^(mine|theirs|over) ' seen)" -eq 3 ]
  # What one has started oneself comes once.
  run jobrun status --all
  echo "$output"
  [ "$(grep -c '^theirs ' <<<"$output")" -eq 1 ]
  run colleague wait --all over
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *"master 0 exited with 3"* ]]
  wait_until 60 sees 'step 1$' logs --all theirs --index 1
  colleague logs -f --all 'thei*' >log 2>&1 3>&- &
  wait_until 60 grep -q "step 1" log
  # Only to look: nothing was written to the cluster.
  [ "$(asked "$from" '^(PUT|PATCH|DELETE|POST)(?!.*/selfsubject)')" -eq 0 ]
  run colleague cancel --all 'thei*'
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *"will cancel theirs (kubernetes, attempt 1, "*"pass --yes"* ]]
  run colleague cancel --all --yes theirs over
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"theirs: CANCELLED"* ]]
  [[ $output == *"over: already FAILED"* ]]
  [[ $(made) == *'["JobSet", "over"]'* ]]
  wait
  [ -z "$(ls -A "$TMP/tmp")" ]
  run colleague status
  [[ $output != *theirs* && $output != *over* ]]
  cd ..
  # Here it was going when last seen: that it is over is found on the way.
  [ "$(python3 -c '
import sqlite3, sys
print(*sqlite3.connect(sys.argv[1]).execute("SELECT state FROM run WHERE job_id = '"'theirs'"'").fetchone())' \
    "$JOBRUN_STATE_DIR/jobrun.db")" = RUNNING ]
  jobrun delete over theirs
  refute grep -qE '"(over|theirs)' <<<"$(made)"
}

@test "a cluster that does not answer hides no run of one's own from --all" {
  cat >mine.yaml <<'END'
jobId: mine
trainingInput: {scaleTier: BASIC}
jobrun: {command: ["true"]}
END
  jobrun apply mine.yaml
  sed 's/127.0.0.1:[0-9]*/127.0.0.1:1/' "$KUBECONFIG" >gone
  KUBECONFIG=gone run jobrun status --all
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"runs of others may be missing: "* ]]
  [[ $output == *"mine "*SUCCEEDED* ]]
  KUBECONFIG=gone run jobrun logs --all theirs
  [ "$status" -eq 69 ]
}
