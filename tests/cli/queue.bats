# Runs that wait for each other on one machine: jobrun.local.runsAtOnce.
load helper

# queued FILE ID COMMAND [LIMIT [PRIORITY]]
queued() {
  job "$1" "$2" "$3" "  scheduling: {priority: ${5:-0}}"
  printf '  local: {runsAtOnce: %s}\n' "${4:-1}" >>"$1"
}

waits() {
  [[ $(jobrun status "$1") == *"waits: $2"* ]]
}

# held ID: goes on until the file ID.go is there, and says in `order` that it
# has begun.
held() {
  echo "echo $1 >>$TMP/order; until [ -e $TMP/$1.go ]; do sleep 0.05; done"
}

@test "one run at a time: in order, the greater priority first" {
  queued a.yaml a "$(held a)"
  queued b.yaml b "$(held b)"
  queued c.yaml c "$(held c)"
  queued d.yaml d "$(held d)" 1 5
  touch b.go c.go d.go
  jobrun apply --detach a.yaml
  wait_until 10 state_is a RUNNING
  for id in b c d; do jobrun apply --detach $id.yaml; done
  wait_until 10 waits d "1 of 1 run at once (jobrun.local.runsAtOnce)"
  wait_until 10 waits b "1 run before it in the queue; 1 of 1 run at once"
  wait_until 10 waits c "2 runs before it in the queue; 1 of 1 run at once"
  state_is b QUEUED
  [[ $(field b 'j["waitsFor"]') == "1 run before it"* ]]
  touch a.go
  for id in a b c d; do jobrun wait --timeout 5m $id; done
  [ "$(tr '\n' ' ' <order)" = "a d b c " ]
  [ "$(field b 'j["waitsFor"]')" = None ]
  wait_until 15 nothing_runs
  [ -z "$(ls state/queue | grep -v '^lock$')" ]
}

@test "a run that waits is cancelled at once, and keeps nobody waiting" {
  queued a.yaml a "$(held a)"
  queued b.yaml b "$(held b)"
  queued c.yaml c "$(held c)"
  touch c.go
  jobrun apply --detach a.yaml
  for id in b c; do jobrun apply --detach $id.yaml; done
  wait_until 10 waits c "1 run before"
  jobrun cancel b
  state_is b CANCELLED
  wait_until 10 waits c "1 of 1"
  touch a.go
  jobrun wait --timeout 5m c
  [ "$(tr '\n' ' ' <order)" = "a c " ]
}

@test "whichever supervisor is killed, the others go on in order" {
  for id in a b c d; do queued $id.yaml $id "$(held $id)"; done
  touch d.go
  jobrun apply --detach a.yaml
  wait_until 10 state_is a RUNNING
  for id in b c d; do jobrun apply --detach $id.yaml; done
  wait_until 10 waits d "2 runs before"
  # One that waits, then the one that runs.
  kill -9 "$(supervisor_of b)"
  wait_until 10 waits d "1 run before"
  kill -9 "$(supervisor_of a)"
  wait_until 10 state_is c RUNNING
  state_is d QUEUED
  touch c.go
  jobrun wait --timeout 5m d
  [ "$(tr '\n' ' ' <order)" = "a c d " ]
  state_is a FAILED
  state_is b FAILED
}

# Its lock says whom to signal.
supervisor_of() {
  tr -d ' ' <"state/runs/$1.1/lock"
}

@test "thirty jobs are a queue, not a stampede, by the user's configuration" {
  export XDG_CONFIG_HOME=$TMP/config
  mkdir -p config/jobrun jobs times
  echo 'local: {runsAtOnce: 4}' >config/jobrun/config.yaml
  for i in $(seq 10 39); do
    job jobs/j$i.yaml j$i \
      "date +%s%N >$TMP/times/$i; sleep 0.1; date +%s%N >>$TMP/times/$i"
  done
  jobrun apply --detach jobs/
  for i in $(seq 10 39); do jobrun wait --timeout 10m j$i; done
  python3 - <<'P'
import glob
runs = [tuple(map(int, open(f))) for f in glob.glob("times/*")]
assert len(runs) == 30
steps = sorted([(b, 1) for b, _ in runs] + [(e, -1) for _, e in runs])
at_once = most = 0
for _, step in steps:
    at_once += step
    most = max(most, at_once)
assert most <= 4, most
P
  echo 'local: {runsAtOnce: many}' >config/jobrun/config.yaml
  run jobrun apply --rerun jobs/j10.yaml
  [ "$status" -ne 0 ]
  [[ $output == *"local.runsAtOnce must be a number from 0 to 100000"* ]]
}
