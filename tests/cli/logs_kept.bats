# Raw logs that are copied elsewhere while the run goes on.
# bats file_tags=server
load helper
load google


teardown() {

  local pid
  for pid in $(marked); do kill -9 "$pid" 2>/dev/null || true; done
  cd /
  rm -rf "$TMP"
}

# copied TO JOB ATTEMPT: each stream's pieces, put together, are the raw log
copied() {
  local log name n=0
  for log in "$JOBRUN_STATE_DIR/runs/$2.$3"/logs/*.std*; do
    name=$(basename "$log")
    cat "$1/$2"/*/"$3/$name"/* | cmp - "$log" || return 1
    n=$((n + 1))
  done
  [ $n -gt 0 ]
}

piece_says() {
  grep -qs "$1" kept/a/*/1/master-0.stdout/*
}

@test "logs are copied while a run goes on, those of each attempt and task, byte for byte" {
  job a.yaml a "echo early; until [ -e $TMP/go ]; do sleep 0.05; done; printf '\\001\\r\\377'; echo bad >&2; [ \$RANK != 0 ] || [ -e again ] || { touch again; exit 3; }" "$WORKERS"
  printf '  logs: {to: kept, every: 1s}\n  restart: {maxRestarts: 1, backoff: 0s}\n' >>a.yaml
  run jobrun plan a.yaml
  [[ $output =~ logs\ +kept ]]
  jobrun apply --detach a.yaml
  wait_until 60 piece_says early
  state_is a RUNNING
  touch go
  timeout 60 "$JOBRUN" wait a
  copied kept a 1
  copied kept a 2
  # Where they go is nothing that the run is made of.
  sed -i 's/to: kept/to: elsewhere/' a.yaml
  run jobrun plan a.yaml
  [[ $output == *"already succeeded"* || $output == *"nothing to do"* ]]
  nothing_runs
}

@test "kill -9 of all of jobrun here: what it had not copied is copied all the same" {
  local s
  job a.yaml a "echo early; seq 5000; touch $TMP/there; sleep $NAP"
  echo '  logs: {to: kept, every: 1h}' >>a.yaml
  jobrun apply --detach a.yaml
  wait_until 60 test -e there
  # Its guard sees to it, or who looks.
  kill -9 "$(tr -d ' \n' <"$JOBRUN_STATE_DIR/runs/a.1/lock")"
  wait_until 60 copied kept a 1
  state_is a FAILED
  rm -r there kept
  jobrun apply --rerun --detach a.yaml
  wait_until 60 test -e there
  s=$(tr -d ' \n' <"$JOBRUN_STATE_DIR/runs/a.2/lock")
  kill -9 "$(ps -o ppid= -p "$s" | tr -d ' ')" "$s"
  wait_until 60 state_is a FAILED
  wait_until 60 copied kept a 2
  wait_until 15 nothing_runs
}

released_after_a_look() {
  jobrun status >/dev/null
  [ ! -e "$JOBRUN_STATE_DIR/runs/a.1/releasing" ]
}

@test "kill -9 of all of jobrun while the last pieces are copied: who looks sees to the rest" {
  local s home
  start_google
  tell faults '[{"do": "status", "status": 503, "path": "/upload/", "count": 100000}]'
  job a.yaml a "echo all of it"
  echo '  logs: {to: "gs://b1/logs", every: 1h}' >>a.yaml
  jobrun apply --detach a.yaml
  home="$JOBRUN_STATE_DIR/runs/a.1"
  wait_until 60 test -e "$home/releasing"
  wait_until 60 state_is a SUCCEEDED
  s=$(tr -d ' \n' <"$home/lock")
  kill -9 "$(ps -o ppid= -p "$s" | tr -d ' ')" "$s"
  [ -e "$home/releasing" ]
  tell faults '[]'
  wait_until 60 released_after_a_look
  [ "$(jobrun cat "$(asked_url)")" = "all of it" ]
  state_is a SUCCEEDED
  end_google
}

@test "a bucket that fails is shown, and fails no run" {
  start_google
  tell faults '[{"do": "status", "status": 403, "path": "/upload/", "count": 1000, "body": {"error": {"code": 403, "message": "no right"}}}]'
  job a.yaml a "echo early; until [ -e $TMP/go ]; do sleep 0.05; done; echo late"
  echo '  logs: {to: "gs://b1/logs", every: 1s}' >>a.yaml
  jobrun apply --detach a.yaml
  wait_until 60 grep -qs "no right" "$JOBRUN_STATE_DIR/runs/a.1/logs.log"
  run jobrun status a
  [[ $output == *"logs: not everything is uploaded yet: gs://b1/logs/a/"*"no right"* ]]
  [[ "$(field a 'j["logs"]["failing"]["text"]')" == *"no right"* ]]
  tell faults '[]'
  touch go
  timeout 60 "$JOBRUN" wait a
  state_is a SUCCEEDED
  [ "$(jobrun cat "$(asked_url)")" = "early
late" ]
  run jobrun status a
  refute grep -q "logs: " <<<"$output"
  end_google
}

# Of the only piece: the first that could be copied had all of it, or there is
# one more.
asked_url() {
  curl -sf "$BASE/_/made" | python3 -c '
import json, sys
print(",".join(sorted("gs://b1/" + m[1].split("b1/", 1)[-1] for m in json.load(sys.stdin) if "master-0.stdout" in m[1])))'
}
