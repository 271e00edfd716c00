#!/usr/bin/env bats
# Commands beside tasks in pods: exec, shell and cp over the API server.

# bats file_tags=server
bats_require_minimum_version 1.5.0
load helper
load kubernetes
load forward

# in_pods ID COMMAND [LINE of the block]: a master and a worker that run it
in_pods() {
  tell state '{"exec": null, "role": null, "pods": [{"run": true, "path": "'"$(dirname "$JOBRUN")"'"}]}'
  pods_of "$1" 1
  printf '  command: [sh, -c, %s]\n' "$(python3 -c 'import json, sys; print(json.dumps(sys.argv[1]))' "$2")" >>"$1.tail"
  sed -i 's/^jobrun: .*/jobrun:\n  provider: kubernetes/' "$1.yaml"
  { cat "$1.tail"; [ -z "${3:-}" ] || echo "  $3"; } >>"$1.yaml"
  "$JOBRUN" apply --yes --detach "$1.yaml"
  wait_until 60 enters "$1"
}

# enters JOB [OPTION...]: the task runs, and lets a command in
enters() { jobrun exec "$@" -- true 2>/dev/null; }

naps_nowhere() { ! pgrep -f "sleep $NAP" >/dev/null; }

wrong() { curl -sf --cacert "$KUBE/cert.pem" "$BASE/_/wrong"; }

@test "exec, shell and cp get beside a task in its pod, with its directory and variables" {
  # shellcheck disable=SC2016
  in_pods a 'mkdir -p "$JOBRUN_RUN_DIR/sub"; cd "$JOBRUN_RUN_DIR/sub"; echo "from $RANK" >../out; exec sleep 4321' \
    'kubernetes: {launcher: "registry.example/jobrun:1"}'
  wait_until 60 enters a --task worker
  run --separate-stderr jobrun exec a --task worker -- \
    sh -c 'echo $RANK of $WORLD_SIZE in ${PWD##*/}; echo oh >&2; exit 7'
  echo "$output $stderr"
  [ "$status" = 7 ]
  [ "$output" = "1 of 2 in sub" ]
  [ "$stderr" = oh ]
  [ "$(echo hello | jobrun exec a -- cat)" = hello ]
  [ "$(jobrun exec a -- printf '%s|' 'a b' "it's" '$HOME' '' 'ä&?')" = "a b|it's|\$HOME||ä&?|" ]
  [ "$(echo 'echo $RANK' | SHELL=/bin/sh jobrun shell a --task worker)" = 1 ]
  # Much of it goes both ways as it is.
  head -c 3000000 /dev/urandom >much
  jobrun exec a -- cat <much | cmp - much
  run jobrun exec a -- no-such-command
  [ "$status" = 1 ]
  echo "$output"
  [[ $output == "jobrun: error: command 'no-such-command' not found"* ]]
  run jobrun exec a -- sh -c 'kill -9 $$'
  [ "$status" = 137 ]
  jobrun cp a:output/out --task worker copied
  [ "$(cat copied)" = "from 1" ]
  shell_follows_size a
  [ "$(wrong)" = "[]" ]
  jobrun cancel a
  jobrun delete a
}

@test "forward reaches a port of a pod, or says why not" {
  server_program
  in_pods f "exec python3 $TMP/serve.py"
  run jobrun forward f stdio:1 </dev/null
  echo "$output"
  [ "$status" = 1 ]
  [[ $output == "jobrun: error: port 1 of pod 'f-"*"': error forwarding port 1 to pod "*"connection refused"* ]]
  tell state '{"ports": {"refuse": 500}}'
  run jobrun forward f stdio:1 </dev/null
  [ "$status" = 69 ]
  wait_until 60 test -s port-0
  tell state '{"ports": {"cut": 5}}'
  run jobrun forward f "stdio:$(cat port-0)" < <(printf 'GET /rank HTTP/1.0\r\n\r\n'; sleep 30)
  echo "$output"
  [ "$status" = 69 ]
  tell state '{"ports": null, "role": [{"apiGroups": ["*", "", "batch", "jobset.x-k8s.io"],
    "resources": ["pods", "pods/log", "pods/exec", "jobsets", "jobs", "events"], "verbs": ["get", "list", "watch", "create", "patch", "delete"]}]}'
  run jobrun forward f stdio:1 </dev/null
  echo "$output"
  [ "$status" = 77 ]
  [[ $output == *"that takes the rights get and create on pods/portforward in namespace 'team'" ]]
  tell state '{"role": null}'
  wait_until 60 enters f --task worker
  reaches f --task worker
  [ "$(wrong)" = "[]" ]
  jobrun delete f
}

@test "a pod without jobrun, an old server, refusals and cuts" {
  # shellcheck disable=SC2016
  in_pods b 'exec sleep 4321' 'env: {COLOUR: red}'
  [ "$(jobrun exec b -- sh -c 'echo $COLOUR')" = red ]
  # v4 has no end of the input; it is not read without any.
  tell state '{"exec": {"protocols": ["v4.channel.k8s.io"]}}'
  [ "$(jobrun exec b -- sh -c 'cat; echo done' </dev/null)" = "done" ]
  [ "$(echo hello | jobrun exec b -- head -n 1)" = hello ]
  tell state '{"exec": {"protocols": ["channel.k8s.io"]}}'
  run jobrun exec b -- true
  echo "$output"
  [ "$status" = 77 ]
  tell state '{"exec": {"refuse": 500}}'
  run jobrun exec b -- true
  echo "$output"
  [ "$status" = 69 ]
  [[ $output == *"the server answers 'HTTP/1.1 500"* ]]
  tell state '{"exec": null, "role": [{"apiGroups": ["*", "", "batch", "jobset.x-k8s.io"],
    "resources": ["pods", "pods/log", "jobsets", "jobs", "events"], "verbs": ["get", "list", "watch", "create", "patch", "delete"]}]}'
  run jobrun exec b -- true
  echo "$output"
  [ "$status" = 77 ]
  [[ $output == *"that takes the rights get and create on pods/exec in namespace 'team'" ]]
  # What was cut off goes on nowhere.
  tell state '{"exec": {"cut": 5}, "role": null}'
  run jobrun exec b -- sh -c "sleep $NAP & echo 1234567; wait"
  echo "$output"
  [ "$status" = 69 ]
  [[ $output == *"jobrun: error: the connection to pod 'b-"*"' was cut before the command ended" ]]
  tell state '{"exec": null}'
  wait_until 60 naps_nowhere
  [ "$(wrong)" = "[]" ]
  jobrun cancel b
  run jobrun exec b -- true
  [ "$status" != 0 ]
  jobrun delete b
}

@test "kill -9 of the client leaves nothing in the pod, with a terminal or without" {
  local client
  in_pods c 'exec sleep 4321'
  "$JOBRUN" exec c -- sh -c "echo in >$TMP/in; sleep $NAP; :" &
  client=$!
  wait_until 60 test -s in
  kill -9 $client
  wait_until 60 naps_nowhere
  rm in
  SHELL=/bin/sh python3 "$BATS_TEST_DIRNAME/terminal.py" 80x24 "$JOBRUN" shell c -- \
    "keys:echo in >$TMP/in; sleep $NAP\r" end &
  client=$!
  wait_until 60 test -s in
  kill -9 "$(pgrep -o -f "enter-pod --terminal .* c-node-")"
  wait_until 60 naps_nowhere
  wait $client || true
  # A reader that goes ends it, too.
  # shellcheck disable=SC2016
  run sh -c '"$JOBRUN" exec c -- sh -c "echo first; sleep $1; :" | head -n 1' sh "$NAP"
  [ "$output" = first ]
  wait_until 60 naps_nowhere
  [ "$(wrong)" = "[]" ]
  jobrun cancel c
  wait_until 30 nothing_runs
}
