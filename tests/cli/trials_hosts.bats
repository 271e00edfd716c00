# Trials of hyperparameters on hosts.
# bats file_tags=server
load helper
load sshd

# tuned FILE ID HOSTS TRIALS AT_A_TIME COMMAND [MORE]
tuned() {
  cat >"$1" <<EOF
jobId: $2
trainingInput:
  hyperparameters:
    goal: MAXIMIZE
    hyperparameterMetricTag: m
    maxTrials: $4
    maxParallelTrials: $5
    maxFailedTrials: 2
    params: [{parameterName: a, type: INTEGER, minValue: 1, maxValue: $4}]
jobrun:
  hosts: [$3]
  grace: 2s
  command: [sh, -c, $(printf '%s' "a=\${0#--a=}; $6" | python3 -c 'import json,sys; print(json.dumps(sys.stdin.read()))')]
${7:-}
EOF
}

trials() {
  field "$1" '[(t["number"], t["state"], t["value"]) for t in j["trials"]]'
}

# all_succeeded COUNT: their values are their numbers
all_succeeded() {
  [ "$(trials a)" = "$(python3 -c "print([(i, 'SUCCEEDED', float(i)) for i in range(1, $1 + 1)])")" ]
}

lines_are() {
  [ "$(wc -l <"$1" 2>/dev/null)" = "$2" ]
}

@test "trials that run at a time have hosts of their own, connected to and set up once" {
  sshd_up 2
  tuned a.yaml a h1,h2 6 2 \
    'echo $HOME >$JOBRUN_RUN_DIR/where; ls $JOBRUN_RUN_DIR; echo "{\"m\": $a}" >$CLOUD_ML_HP_METRIC_FILE; echo $CLOUD_ML_TRIAL_ID' \
    '  setup: [sh, -c, "echo x >>$HOME/setups"]'
  # The second is there before the first has ended.
  sed -i "s|; echo \$CLOUD_ML_TRIAL_ID|; echo \$CLOUD_ML_TRIAL_ID; touch $TMP/at\$a; [ \$a != 1 ] \|\| until [ -e $TMP/at2 ]; do sleep 0.05; done|" a.yaml
  run timeout 120 "$JOBRUN" apply a.yaml
  [ "$status" -eq 0 ]
  [[ $output == *"a: the best of 6 trials is 6: m 6 with --a=6"* ]]
  all_succeeded 6
  [ "$(cat "$SSH/h1/setups" "$SSH/h2/setups")" = "x
x" ]
  [ "$(grep -c 'Accepted publickey' "$SSH/h1/log") $(grep -c 'Accepted publickey' "$SSH/h2/log")" = "1 1" ]
  # Each has an empty folder, and what it left there comes back.
  [ "$(cat state/runs/a.1/trials/[12]/output/where)" = "$SSH/h1
$SSH/h2" ]
  [ "$(jobrun logs --trial 5 a | sed 's/.*\] //')" = "where
5" ]
  wait_until 15 nothing_runs
  wait_until 5 host_is_clean h1
  host_is_clean h2
}

@test "a command beside a task of a trial runs on the host of that trial" {
  local n
  sshd_up 2
  tuned a.yaml a h1,h2 2 2 \
    "touch $TMP/at\$a; until [ -e $TMP/go ]; do sleep 0.05; done; echo m=\$a"
  jobrun apply --detach a.yaml
  for n in 1 2; do
    wait_until 60 test -e at$n
    wait_until 30 jobrun exec a --trial $n -- true
    # Its parent is what has come over ssh.
    [ "$(jobrun exec a --trial $n -- \
      sh -c 'tr "\0" "\n" </proc/$PPID/environ; echo $CLOUD_ML_TRIAL_ID' |
      grep -E '^(HOME=|.$)')" = "HOME=$SSH/h$n
$n" ]
  done
  touch go
  wait_until 60 state_is a SUCCEEDED
  wait_until 15 nothing_runs
}

@test "kill -9 of all of jobrun here: trials on hosts go on, none twice" {
  local s
  sshd_up 2
  tuned a.yaml a h1,h2 5 2 \
    "echo \$CLOUD_ML_TRIAL_ID >>$TMP/begun; [ \$a -lt 3 ] || until [ -e $TMP/go ]; do sleep 0.05; done; echo m=\$a"
  jobrun apply --detach a.yaml
  wait_until 60 lines_are begun 4
  s=$(tr -d ' \n' <state/runs/a.1/lock)
  kill -9 "$(ps -o ppid= -p "$s" | tr -d ' ')" "$s"
  state_is a RUNNING
  touch go
  timeout 60 "$JOBRUN" wait a
  all_succeeded 5
  [ "$(sort begun | tr '\n' ' ')" = "1 2 3 4 5 " ]
  [ "$(jobrun logs --trial 4 a | sed 's/.*\] //')" = "m=4" ]
  wait_until 15 nothing_runs
}

@test "a trial on hosts is restarted by the rules; a host that lets nobody in is tried no more" {
  sshd_up 2
  sshd_stop h2
  sshd_start h2 -o AuthorizedKeysFile=none
  wait_until 10 sshd_answers h2
  tuned a.yaml a h1,h2 4 2 \
    "echo try; [ \$a != 1 ] || [ -e \$JOBRUN_RUN_DIR/again ] || { touch \$JOBRUN_RUN_DIR/again; exit 7; }; echo m=\$a" \
    '  restart: {maxRestarts: 1, backoff: 0s}'
  timeout 120 "$JOBRUN" apply a.yaml
  [ "$(field a '[t["state"] for t in j["trials"]]')" = "['SUCCEEDED', 'FAILED', 'SUCCEEDED', 'SUCCEEDED']" ]
  [[ $(field a 'j["trials"][1]["error"]') == "host 'h2': "*"(not restarted: already restarted 1 time (jobrun.restart.maxRestarts))" ]]
  [ "$(cat state/runs/a.1/trials/1/logs/master-0.stdout)" = try ]
  [ "$(cat state/runs/a.1/trials/1/attempt-2/logs/master-0.stdout)" = "try
m=1" ]
  [ "$(jobrun logs --trial 1 a | sed 's/.*\] //')" = "try
m=1" ]
  wait_until 15 nothing_runs
}
