# Trials of hyperparameters on this machine.
bats_require_minimum_version 1.5.0
load helper

# tuned FILE ID COMMAND HYPERPARAMETERS [MORE OF TRAININGINPUT]
tuned() {
  job "$1" "$2" "$3" "  hyperparameters: $4
${5:-}"
}

GRID='params: [{parameterName: a, type: INTEGER, minValue: 1, maxValue: 3}, {parameterName: c, type: CATEGORICAL, categoricalValues: [x, "y z"]}]'
# sh -c COMMAND takes what follows as $0 ...
SCORE='for i in "$0" "$@"; do case $i in --a=*) a=${i#--a=};; --c=*) c=${i#--c=};; esac; done;'

trials() {
  field "$1" '"\n".join("%s %s %s %s" % (t["number"], t["state"], t["hyperparameters"], t["value"]) for t in j["trials"])'
}

@test "a grid: every point once, the values as arguments, the best named" {
  tuned a.yaml a "$SCORE echo got \"\$0\" \"\$@\"; echo score=\$((a * 10 + \${#c}))" \
    "{goal: MAXIMIZE, hyperparameterMetricTag: score, maxTrials: 20, maxParallelTrials: 2, $GRID}"
  run jobrun plan a.yaml
  [[ $output == *"trials.search"*"grid of 6 points"* ]]
  [[ $output == *"trials.count"*" 6"* ]]
  [[ $output == *"trials.goal"*"maximize score"* ]]
  run --separate-stderr jobrun apply a.yaml
  [ "$status" -eq 0 ]
  [[ $stderr == *"a: the best of 6 trials is 6: score 33 with --a=3 --c=y z"* ]]
  [ "$(trials a)" = "1 SUCCEEDED {'a': '1', 'c': 'x'} 11.0
2 SUCCEEDED {'a': '1', 'c': 'y z'} 13.0
3 SUCCEEDED {'a': '2', 'c': 'x'} 21.0
4 SUCCEEDED {'a': '2', 'c': 'y z'} 23.0
5 SUCCEEDED {'a': '3', 'c': 'x'} 31.0
6 SUCCEEDED {'a': '3', 'c': 'y z'} 33.0" ]
  [ "$(field a 'j["bestTrial"], j["metric"], j["state"]')" = "6 score SUCCEEDED" ]
  [ "$(jobrun logs --trial 4 a | sed 's/.*\] //' | head -1)" = "got --a=2 --c=y z" ]
  run jobrun status a
  echo "$output" | grep -E '^\* +6  SUCCEEDED +33 '
  # Not twice.
  run --separate-stderr jobrun apply a.yaml
  [[ $stderr == *"already succeeded"* ]]
  nothing_runs
}

@test "each trial has its number, its folder and its metric file" {
  tuned a.yaml a 'echo $CLOUD_ML_TRIAL_ID; echo $JOBRUN_RUN_DIR; echo $CLOUD_ML_HP_METRIC_FILE
    python3 -c "import os,json; print(json.loads(os.environ[\"TF_CONFIG\"])[\"task\"][\"trial\"])"
    [ -d $JOBRUN_RUN_DIR ] && echo "{\"global_step\": \"7\", \"m\": \"0.5\"}" >$CLOUD_ML_HP_METRIC_FILE
    echo m=99; echo "$@"' \
    '{goal: MINIMIZE, hyperparameterMetricTag: m, maxTrials: 2, params: [{parameterName: a, type: INTEGER, minValue: 1, maxValue: 2}]}' \
    '  jobDir: gs://b/j
  args: [zero, first]'
  run jobrun apply a.yaml
  [ "$status" -eq 0 ]
  [ "$(jobrun logs --trial 2 a | sed 's/.*\] //')" = "2
$JOBRUN_STATE_DIR/runs/a.1/trials/2/output
$JOBRUN_STATE_DIR/runs/a.1/trials/2/metric
2
m=99
first --a=2 --job-dir gs://b/j/2" ]
  # The file is believed before the output.
  [ "$(field a '[(t["value"], t["step"]) for t in j["trials"]]')" = "[(0.5, 7), (0.5, 7)]" ]
}

@test "no more at a time than maxParallelTrials, and as many as that" {
  tuned a.yaml a 'echo start >>log; sleep 0.4; echo end >>log; echo m=1' \
    '{goal: MINIMIZE, hyperparameterMetricTag: m, maxTrials: 7, maxParallelTrials: 3, params: [{parameterName: a, type: DOUBLE, minValue: 1, maxValue: 2}]}'
  jobrun apply a.yaml
  [ "$(python3 -c '
n = most = 0
for line in open("log"):
    n += 1 if line == "start\n" else -1
    most = max(most, n)
print(most, n)')" = "3 0" ]
  [ "$(grep -c start log)" = 7 ]
}

@test "random values are the same when the run is done again" {
  tuned a.yaml a 'echo m=1' \
    '{goal: MINIMIZE, hyperparameterMetricTag: m, maxTrials: 4, maxParallelTrials: 2, algorithm: RANDOM_SEARCH, params: [{parameterName: a, type: DOUBLE, minValue: 0.001, maxValue: 1, scaleType: UNIT_LOG_SCALE}]}'
  jobrun apply a.yaml
  trials a >first
  jobrun apply --rerun a.yaml
  trials a >second
  cmp first second
  [ "$(sort -u first | wc -l)" = 4 ]
}

@test "maxFailedTrials ends the run, and says which" {
  tuned a.yaml a "$SCORE [ \$a = 1 ] && { echo m=1; exit; }; echo bad luck >&2; exit 3" \
    '{goal: MINIMIZE, hyperparameterMetricTag: m, maxTrials: 9, maxFailedTrials: 2, params: [{parameterName: a, type: INTEGER, minValue: 1, maxValue: 9}]}'
  run --separate-stderr jobrun apply a.yaml
  [ "$status" -eq 1 ]
  [[ $stderr == *"a: FAILED after 0s: 2 trials failed (maxFailedTrials); trial 3: master 0 exited with 3: bad luck"* ]]
  [ "$(field a '[t["state"] for t in j["trials"]]')" = "['SUCCEEDED', 'FAILED', 'FAILED']" ]
  # What went well is still the best.
  [ "$(field a 'j["bestTrial"]')" = 1 ]
}

@test "left open, five failures without a success are enough" {
  tuned a.yaml a 'exit 3' \
    '{goal: MINIMIZE, hyperparameterMetricTag: m, maxTrials: 50, params: [{parameterName: a, type: INTEGER, minValue: 1, maxValue: 99}]}'
  run jobrun apply a.yaml
  [ "$status" -eq 1 ]
  [[ $output == *"5 trials failed, and none succeeded; trial 5: master 0 exited with 3"* ]]
}

@test "trials that report nothing are no success" {
  tuned a.yaml a 'echo other=1' \
    '{goal: MINIMIZE, hyperparameterMetricTag: m, maxTrials: 2, params: [{parameterName: a, type: INTEGER, minValue: 1, maxValue: 9}]}'
  run jobrun apply a.yaml
  [ "$status" -eq 1 ]
  [[ $output == *"no trial reported the metric 'm'"* ]]
  [ "$(field a 'j["bestTrial"], [t["state"] for t in j["trials"]]')" = "None ['SUCCEEDED', 'SUCCEEDED']" ]
}

@test "the hopeless are stopped early" {
  tuned a.yaml a "$SCORE if [ \$a -lt 4 ]; then for s in 1 2 3 4; do echo Step=\$s m=\$a; done; exit; fi
    echo Step=1 m=\$a; sleep $NAP" \
    '{goal: MINIMIZE, hyperparameterMetricTag: m, maxTrials: 4, enableTrialEarlyStopping: true, params: [{parameterName: a, type: INTEGER, minValue: 1, maxValue: 4}]}'
  run timeout 60 "$JOBRUN" apply a.yaml
  [ "$status" -eq 0 ]
  [ "$(field a '[(t["state"], t["stoppedEarly"]) for t in j["trials"]][3], j["bestTrial"]')" = "('CANCELLED', True) 1" ]
  [[ $output == *"trial 4 CANCELLED early: m 4 with --a=4"* ]]
  nothing_runs
}

@test "setup and packages are prepared once, by the first trial" {
  tuned a.yaml a 'echo m=1' \
    '{goal: MINIMIZE, hyperparameterMetricTag: m, maxTrials: 3, maxParallelTrials: 3, params: [{parameterName: a, type: INTEGER, minValue: 1, maxValue: 9}]}'
  echo "  setup: [sh, -c, 'sleep 0.2; echo x >>setups']" >>a.yaml
  run jobrun apply a.yaml
  [ "$status" -eq 0 ]
  [ "$(wc -l <setups)" = 1 ]
  sed -i 's/^  setup:.*/  setup: [sh, -c, "echo no disk >\&2; exit 9"]/' a.yaml
  run jobrun apply a.yaml
  [ "$status" -eq 1 ]
  [[ $output == *"setup exited with 9: no disk"* ]]
  [ "$(field a 'len(j["trials"])')" = 1 ]
}

@test "cancel ends all trials, and starts no others" {
  tuned a.yaml a "sleep $NAP & sleep $NAP" \
    '{goal: MINIMIZE, hyperparameterMetricTag: m, maxTrials: 9, maxParallelTrials: 2, params: [{parameterName: a, type: INTEGER, minValue: 1, maxValue: 9}]}'
  jobrun apply --detach a.yaml
  two() { [ "$(field a '[t["state"] for t in j.get("trials", [])]')" = "['RUNNING', 'RUNNING']" ]; }
  wait_until 10 two
  jobrun cancel a
  state_is a CANCELLED
  [ "$(field a '[t["state"] for t in j["trials"]]')" = "['CANCELLED', 'CANCELLED']" ]
  nothing_runs
  refute pgrep -f "sleep $NAP"
}

@test "kill -9 of the supervisor: all trials end, and are recorded" {
  tuned a.yaml a "sleep $NAP & sleep $NAP" \
    '{goal: MINIMIZE, hyperparameterMetricTag: m, maxTrials: 9, maxParallelTrials: 2, params: [{parameterName: a, type: INTEGER, minValue: 1, maxValue: 9}]}'
  two() { [ "$(field a '[t["state"] for t in j.get("trials", [])]')" = "['RUNNING', 'RUNNING']" ]; }
  jobrun apply --detach a.yaml
  wait_until 10 two
  kill -9 "$(tr -d '\0' <"$JOBRUN_STATE_DIR/runs/a.1/lock")"
  wait_until 10 state_is a FAILED
  [ "$(field a '[t["state"] for t in j["trials"]]')" = "['FAILED', 'FAILED']" ]
  wait_until 10 nothing_runs
  refute pgrep -f "sleep $NAP"
  # And of its guard, too: who looks cleans up.
  jobrun apply --rerun --detach a.yaml
  wait_until 10 two
  kill -9 "$(ps -o ppid= -p "$(tr -d '\0' <"$JOBRUN_STATE_DIR/runs/a.2/lock")" | tr -d ' ')" \
    "$(tr -d '\0' <"$JOBRUN_STATE_DIR/runs/a.2/lock")"
  wait_until 10 state_is a FAILED
  [ "$(field a '[t["state"] for t in j["trials"]]')" = "['FAILED', 'FAILED']" ]
  wait_until 10 nothing_runs
  refute pgrep -f "sleep $NAP"
}

@test "the time limit is for all trials together" {
  tuned a.yaml a 'sleep 0.5; echo m=1' \
    '{goal: MINIMIZE, hyperparameterMetricTag: m, maxTrials: 90, params: [{parameterName: a, type: INTEGER, minValue: 1, maxValue: 99}]}' \
    '  scheduling: {maxRunningTime: 2s}'
  run jobrun apply a.yaml
  [ "$status" -eq 1 ]
  [[ $output == *"cancelled for exceeding the maximum running time of 2s"* ]]
  nothing_runs
}

@test "logs and metrics of a run with trials need a --trial" {
  tuned a.yaml a 'for s in 1 2; do echo Step=$s m=0.$s other=3; done' \
    '{goal: MINIMIZE, hyperparameterMetricTag: m, maxTrials: 1, params: [{parameterName: a, type: INTEGER, minValue: 1, maxValue: 9}]}'
  jobrun apply a.yaml
  run jobrun logs a
  [ "$status" -eq 64 ]
  [[ $output == *"'a' has trials: choose one with --trial; 'jobrun status a' lists them"* ]]
  run jobrun logs --trial 2 a
  [ "$status" -eq 64 ]
  [[ $output == *"attempt 1 of 'a' has no trial 2: 'jobrun status a' lists them"* ]]
  run jobrun metrics a
  [ "$status" -eq 64 ]
  [ "$(jobrun metrics --trial 1 --format csv a | cut -d, -f5- | tail -1)" = "2,m,0.2" ]
}

@test "what can't be had here is said by the plan" {
  tuned a.yaml a 'echo m=1' \
    '{goal: MINIMIZE, resumePreviousJobId: b, maxTrials: 3, params: [{parameterName: a, type: DOUBLE, minValue: 1, maxValue: 9}]}'
  echo "  restart: {maxRestarts: 3}" >>a.yaml
  run jobrun plan a.yaml
  [[ $output == *"only AI Platform resumes trials of another job"* ]]
  [[ $output == *"AI Platform's default search is not available here"* ]]
  run jobrun apply a.yaml
  [ "$status" -eq 65 ]
}

@test "the example names its best trial" {
  command -v python3 >/dev/null || skip "needs python3"
  run jobrun apply "$BATS_TEST_DIRNAME/../../examples/hyperparameters/job.yaml"
  [ "$status" -eq 0 ]
  [[ $output == *"the best of 12 trials is "*": test_loss 0.010"* ]]
}

@test "a trial that ends in NaN has no value, is not the best, and says so" {
  tuned a.yaml a "$SCORE echo loss=0.01; if [ \$a = 2 ]; then echo loss=nan; else echo loss=0.\$a; fi" \
    '{goal: MINIMIZE, hyperparameterMetricTag: loss, maxTrials: 3, params: [{parameterName: a, type: INTEGER, minValue: 1, maxValue: 3}]}'
  run --separate-stderr jobrun apply a.yaml
  [ "$status" -eq 0 ]
  [[ $stderr == *"a: the best of 3 trials is 1: loss 0.1 with --a=1"* ]]
  [[ $stderr == *"trial 2 SUCCEEDED with --a=2: its last value of the metric is not a number"* ]]
  [ "$(trials a)" = "1 SUCCEEDED {'a': '1'} 0.1
2 SUCCEEDED {'a': '2'} None
3 SUCCEEDED {'a': '3'} 0.3" ]
  run jobrun status a
  [[ $output == *"(its last value of the metric is not a number, so it has none)"* ]]
}

@test "all trials end in NaN: the run fails" {
  tuned a.yaml a 'echo loss=0.1; echo loss=inf' \
    '{goal: MINIMIZE, hyperparameterMetricTag: loss, maxTrials: 1, params: [{parameterName: a, type: INTEGER, minValue: 1, maxValue: 3}]}'
  run jobrun apply a.yaml
  [ "$status" -eq 1 ]
  [[ $output == *"no trial reported the metric 'loss' (or all ended with NaN)"* ]]
}

# A pattern that takes 40 ms for a long line of a's.
SLOW='  metrics: {patterns: {slow: "([0-9]*)(a|aa)*(aaa|a)*b"}}'
LONG='line=$(head -c 4000 /dev/zero | tr "\0" a);'

@test "a slow pattern keeps nobody from hearing the time limit, or a cancel" {
  tuned a.yaml a "$LONG"'while :; do yes $line | head -200; sleep 0.2; done' \
    '{goal: MINIMIZE, hyperparameterMetricTag: slow, enableTrialEarlyStopping: true, maxTrials: 1, params: [{parameterName: a, type: INTEGER, minValue: 1, maxValue: 1}]}' \
    '  scheduling: {maxRunningTime: 600s}'
  echo "$SLOW" >>a.yaml
  jobrun apply --detach a.yaml
  wait_until 20 state_is a RUNNING
  sleep 3
  local began=${EPOCHREALTIME/./}
  jobrun cancel --now a
  # On a busy machine, too; without a limit it takes as long as the reading.
  [ $((${EPOCHREALTIME/./} - began)) -lt 15000000 ]
  state_is a CANCELLED
  nothing_runs
}

@test "metrics of lines that are slow to match: soon there, and counted" {
  job a.yaml a "$LONG"'echo loss=1; yes $line | head -1000; echo loss=2; echo 5aab'
  echo "$SLOW" >>a.yaml
  jobrun apply --detach a.yaml
  jobrun wait a
  run timeout 100 "$JOBRUN" metrics a
  [ "$status" -eq 0 ]
  [[ $output == *"jobrun: the pattern of metric 'slow' took too long, and was skipped in "*" lines"* ]]
  [[ $output == *loss*2* ]]
}
