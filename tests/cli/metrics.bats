# Numbers from the output of trainers.
bats_require_minimum_version 1.5.0
load helper

# Three epochs of two steps, as PyTorch/XLA prints them.
TRAIN='for e in 1 2 3; do for s in 10 20; do
  echo "| Training Device=cpu:0/$RANK Epoch=$e Step=$s Loss=0.$((9 - e))$RANK Rate=10$RANK Time=02:38:57"
done; done'

# of EXPRESSION, with the document as `d` and its metrics by name as `m`
of() {
  python3 -c "
import json,sys
d=json.load(sys.stdin)
m={x['name']: x for x in d['metrics']}
print($1)"
}

@test "a table: per task and over all, newest and best" {
  job a.yaml a "$TRAIN" "$WORKERS"
  jobrun apply a.yaml
  run --separate-stderr jobrun metrics a
  [ "$status" -eq 0 ]
  [ "${lines[0]}" = "a, attempt 1: SUCCEEDED" ]
  echo "$output" | grep -E '^Loss +3: mean +18 +0\.61 +- '
  echo "$output" | grep -E '^ +worker 1 +3 +20 +6 +0\.62 +0\.62  ██▅▅▁▁$'
  echo "$output" | grep -E '^Rate +3: sum +18 +303 +- '
}

@test "json: one document with the last, the best and the points" {
  job a.yaml a "$TRAIN; echo Loss=nan"
  jobrun apply a.yaml
  jobrun metrics --format json a >out.json
  [ "$(of 'd["formatVersion"], d["jobId"], d["attempt"], d["state"], list(m)' <out.json)" = \
    "1 a 1 SUCCEEDED ['Loss', 'Rate']" ]
  [ "$(of 'm["Loss"]["goal"], m["Rate"]["goal"], m["Rate"]["total"]' <out.json)" = \
    "minimize maximize {'tasks': 1, 'of': 'sum', 'last': 100.0}" ]
  [ "$(of '[(t["type"], t["count"], t["notFinite"], t["best"]["value"], t["last"]["value"]) for t in m["Loss"]["tasks"]]' <out.json)" = \
    "[('master', 7, 1, 0.6, None)]" ]
  [ "$(of '[(p["epoch"], p["step"], p["value"]) for p in m["Loss"]["tasks"][0]["points"][:2]]' <out.json)" = \
    "[(1.0, 10, 0.8), (1.0, 20, 0.8)]" ]
}

@test "csv has every value in a row" {
  job a.yaml a "$TRAIN" "$WORKERS"
  jobrun apply a.yaml
  run --separate-stderr jobrun metrics --format csv --metric rate --metric loss a
  [ "${#lines[@]}" -eq 37 ]
  [ "${lines[0]}" = "time,task,index,epoch,step,metric,value" ]
  [ "$(jobrun metrics --format csv --metric LOSS --task worker --index 1 a | sed 1d | cut -d, -f2- | head -2)" = \
    "worker,1,1,10,Loss,0.82
worker,1,1,20,Loss,0.82" ]
}

@test "patterns of the job file find more" {
  job a.yaml a 'echo "temp is 44.5 degrees"'
  cat >>a.yaml <<'YAML'
  metrics:
    patterns: {'temperature, C': 'temp is ([0-9.]+)'}
YAML
  run jobrun apply a.yaml
  [ "$status" -eq 0 ]
  refute [[ $output == *"jobrun.metrics is not used"* ]]
  [ "$(jobrun metrics --format csv a | cut -d, -f2- | tail -1)" = 'master,0,,,"temperature, C",44.5' ]
}

@test "a progress bar is read before its line ends" {
  job a.yaml a 'printf "\rEpoch 0: 10%%|#   | 1/10 [00:01<00:09, loss=0.9]"
    printf "\rEpoch 0: 20%%|##  | 2/10 [00:02<00:08, loss=0.7]\r"
    until [ -e go ]; do sleep 0.05; done'
  jobrun apply --detach a.yaml
  has_two() { [ "$(jobrun metrics --format csv --metric loss a | wc -l)" = 3 ]; }
  wait_until 10 has_two
  [ "$(jobrun metrics --format csv a | tail -1 | cut -d, -f2-)" = "master,0,0,2,loss,0.7" ]
  touch go
  jobrun wait a
}

@test "-f gives rows as they come, and ends with the run" {
  job a.yaml a 'echo Loss=1; until [ -e go ]; do sleep 0.05; done; echo Loss=2'
  jobrun apply --detach a.yaml
  jobrun metrics -f --format csv a >out.csv &
  local pid=$!
  wait_until 10 grep -q ',Loss,1$' out.csv
  touch go
  wait "$pid"
  [ "$(cut -d, -f6- out.csv)" = "metric,value
Loss,1
Loss,2" ]
}

@test "on a terminal the newest values stand under the lines" {
  command -v script >/dev/null || skip "needs script"
  job a.yaml a 'echo Loss=0.25; sleep 0.3; echo Loss=0.125; sleep 0.3'
  TERM=xterm script -qec "'$JOBRUN' apply a.yaml" /dev/null </dev/null >out.txt
  # Drawn without a newline, and taken away before what comes next.
  grep -qF $'Loss 0.25 ' out.txt
  grep -qF $'\r\033[K' out.txt
  tail -1 out.txt | grep -q 'SUCCEEDED'
  # Not where nobody could move the cursor.
  TERM=dumb script -qec "'$JOBRUN' apply --rerun a.yaml" /dev/null </dev/null >dumb.txt
  refute grep -qF $'\r\033[K' dumb.txt
}

@test "-o has the forms of status, and csv is that of --format" {
  job a.yaml a "$TRAIN"
  jobrun apply a.yaml
  [ "$(jobrun metrics -o name a)" = $'Loss\nRate' ]
  [ "$(jobrun metrics -o custom=name,tasks.0.best.value a | head -n 1)" = $'Loss\t0.6' ]
  [ "$(jobrun metrics -o jsonl a | jq -r .goal)" = $'minimize\nmaximize' ]
  jobrun metrics -o yaml a | grep -q '^metrics:'
  cmp <(jobrun metrics -o csv a) <(jobrun metrics --format csv a)
  cmp <(jobrun metrics -o json a) <(jobrun metrics --format json a)
  run jobrun metrics -o xml a
  [ "$status" -eq 64 ]
  [[ $output == *"unknown format 'xml'"* ]]
}

@test "no metrics is no error; a metric that is not there is one" {
  job a.yaml a 'echo hello'
  jobrun apply a.yaml
  run --separate-stderr jobrun metrics a
  [ "$status" -eq 0 ]
  [ -z "$output" ]
  [[ $stderr == *"no metrics in the output of 'a'"* ]]
  run jobrun metrics --metric loss a
  [ "$status" -eq 1 ]
  [[ $output == *"the run has no metric 'loss' (yet); 'jobrun metrics a' lists its metrics"* ]]
  run jobrun metrics --format xml a
  [ "$status" -eq 64 ]
  run jobrun metrics --task ps a
  [ "$status" -eq 64 ]
  run jobrun metrics nobody
  [ "$status" -eq 66 ]
}
