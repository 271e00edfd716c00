# What a trainer writes is kept, and the next start goes on from it.
bats_require_minimum_version 1.5.0
# bats file_tags=server
load helper
load google
load sshd

# keeping FILE ID COMMAND CHECKPOINTS [MORE]
keeping() {
  job "$1" "$2" "$3"
  echo "  checkpoints: $4" >>"$1"
  [ -z "${5:-}" ] || echo "  $5" >>"$1"
}

# save N: as a careful trainer does.  START: the step that it goes on from.
TRAINER='
save() { echo "$1" >"$JOBRUN_CHECKPOINT_DIR/.new"; mv "$JOBRUN_CHECKPOINT_DIR/.new" "$JOBRUN_CHECKPOINT_DIR/ckpt-$1.pt"; }
START=0; [ -z "${JOBRUN_CHECKPOINT:-}" ] || START=$(cat "$JOBRUN_CHECKPOINT"); echo "from $START";'

# The steps that are kept, the next one with a star.
kept() {
  jobrun checkpoints --format json "$1" | python3 -c '
import json, sys
print(*[str(c["step"]) + "*" * c["isNext"] for c in json.load(sys.stdin)["checkpoints"]])'
}

@test "a run that was killed goes on from its newest checkpoint" {
  keeping a.yaml a "$TRAINER"'
    for n in 1 2; do echo "Step=$((START + n)) Loss=0.$((9 - n))"; save $((START + n)); sleep 0.7; done
    [ $START -gt 1 ] || kill -9 $$' \
    "{to: kept, keep: 2, metric: loss, goal: MINIMIZE}" 'restart: {maxRestarts: 5, backoff: 0s}'
  run --separate-stderr jobrun apply a.yaml
  [ "$status" -eq 0 ]
  [ "$(grep -o 'from .*' <<<"$output")" = "from 0
from 2" ]
  [[ $stderr == *"a: checkpoints: 'ckpt-1.pt' is uploaded: step 1, loss 0.8, 2 B, in $TMP/kept/a/00000001"* ]]
  [[ $stderr == *"a: checkpoints: resumes from 'ckpt-2.pt' (step 2, loss 0.7), from $JOBRUN_STATE_DIR/runs/a.1/output/checkpoints"* ]]
  # The newest is also the best; of equal ones the newer stays.
  [ "$(kept a)" = "4* 2" ]
  run jobrun checkpoints a
  [[ $output == *"*           4       -           0.7       2 B"*"$TMP/kept/a/00000004/ckpt-4.pt"* ]]
  run jobrun status a
  [[ $output == *"checkpoints: resumes from 'ckpt-2.pt'"* ]]
  [[ $output == *"checkpoints: 'ckpt-4.pt' is uploaded: step 4"* ]]
  [ "$(field a 'j["checkpoints"]["failing"]')" = None ]
  # Another run, with a folder of its own, fetches it.
  run --separate-stderr jobrun apply --rerun a.yaml
  [[ $output == *"from 4"* ]]
  [[ $stderr == *"from $TMP/kept/a/00000004"* ]]
  nothing_runs
}

@test "a plan says what becomes of checkpoints, and the source is not what they change" {
  mkdir src
  keeping a.yaml a 'echo "$JOBRUN_CHECKPOINT_DIR"; echo "${JOBRUN_CHECKPOINT-none}"; echo x >ckpt/a; sleep 0.1' \
    '{directory: ckpt, quietPeriod: 1s}' 'source: src'
  run jobrun plan a.yaml
  [[ $output == *"checkpoints.directory  ckpt"* ]]
  [[ $output == *"checkpoints.resume     the newest"* ]]
  run --separate-stderr jobrun apply a.yaml
  [ "$status" -eq 0 ]
  [[ $output == *"$TMP/src/ckpt"*none* ]]
  # It ended well, so that is whole; and the job has not changed.
  [ "$(jobrun checkpoints a | sed -n 2p | awk '{print $1, $NF}')" = "* $TMP/src/ckpt/a" ]
  run jobrun plan a.yaml
  [[ $output == *"already succeeded"* ]]
  run --separate-stderr jobrun apply --rerun a.yaml
  [[ $output == *"$TMP/src/ckpt/a"* ]]
  [[ "$(jobrun env a.yaml)" == *"JOBRUN_CHECKPOINT_DIR=$TMP/src/ckpt"* ]]
}

@test "what was cut off is not gone on from, and what is broken is passed over" {
  keeping a.yaml a "$TRAINER"'
    [ $START = 0 ] || exit 0
    save 1; sleep 0.3; echo half >"$JOBRUN_CHECKPOINT_DIR/ckpt-2.pt"; kill -9 $$' \
    '{to: kept}' 'restart: {maxRestarts: 1, backoff: 0s}'
  run --separate-stderr jobrun apply a.yaml
  [ "$status" -eq 0 ]
  [[ $output == *"from 1"* ]]
  [[ $stderr == *"'ckpt-2.pt' does not count: its trainer may have ended while writing it"* ]]
  echo 2 >kept/a/00000001/ckpt-1.pt
  run jobrun checkpoints a
  [[ $output == *"marks the checkpoint that the next start resumes from"* ]]
  run --separate-stderr jobrun apply --rerun a.yaml
  [[ $stderr == *"$TMP/kept/a/00000001 does not count: "*"is not what was written"* ]]
  [[ $output == *"from 0"* ]]
}

@test "a file that is closed counts although its program fails, and one that is open does not" {
  # Written in place; with the fourth one it fails.
  keeping a.yaml a 'cd "$JOBRUN_CHECKPOINT_DIR"; echo "from ${JOBRUN_CHECKPOINT##*/}"
    [ -z "${JOBRUN_CHECKPOINT:-}" ] || exit 0
    for n in 1 2 3; do head -c 1000000 /dev/zero >step-$n.pt; done
    exec 5>step-4.pt; echo half >&5; exit 3' \
    '{to: kept, quietPeriod: 1h}' 'restart: {maxRestarts: 1, backoff: 0s}'
  run --separate-stderr jobrun apply a.yaml
  [ "$status" -eq 0 ]
  [[ $output == *"from step-3.pt"* ]]
  [[ $stderr == *"'step-4.pt' does not count: its trainer may have ended while writing it"* ]]
  [ -e kept/a/00000001/step-3.pt ]
  # One that waits for a while in the middle of writing.
  keeping b.yaml b 'cd "$JOBRUN_CHECKPOINT_DIR"; exec 5>step-1.pt; echo half >&5
    touch -d "1 hour ago" step-1.pt; sleep 0.5
    mkdir step-2; exec 6>step-2/x; echo half >&6; touch -d "1 hour ago" step-2/x step-2; sleep 0.5
    echo x >new; mv new step-0.pt; touch '"$TMP"'/written; while [ ! -e '"$TMP"'/go ]; do sleep 0.05; done; kill -9 $$' \
    '{to: kept, quietPeriod: 1s}'
  jobrun apply --detach b.yaml
  wait_until 20 test -e written
  wait_until 20 test -e kept/b/00000001.json
  # Its events have woken the saver up, and it has looked at all.
  [[ $(cat kept/b/*.json) == *step-0.pt* && $(cat kept/b/*.json) != *step-[12]* ]]
  touch go
  wait_until 20 state_is b FAILED
  run jobrun checkpoints b
  [[ $output == *step-0.pt* && $output != *step-[12]* ]]
}

@test "a folder counts only when something says so; another is named, and counts once committed" {
  # All files of each are closed, and left alone, before it fails.
  keeping a.yaml a 'cd "$JOBRUN_CHECKPOINT_DIR"; echo "from ${JOBRUN_CHECKPOINT##*/}"
    [ ! -e '"$TMP"'/over ] || exit 0
    mkdir step-1; echo 1 >step-1/a; ln -s a step-1/latest; jobrun checkpoint commit step-1
    mkdir step-2; echo half >step-2/a; touch -d "1 hour ago" step-2/a step-2
    while [ ! -e '"$TMP"'/kept/a/00000001.json ]; do sleep 0.05; done
    touch '"$TMP"'/over; kill -9 $$' \
    '{directory: '"$TMP"'/ck, to: kept, quietPeriod: 1s}' \
    'restart: {maxRestarts: 1, backoff: 0s}'
  PATH=${JOBRUN%/*}:$PATH run --separate-stderr jobrun apply a.yaml
  [ "$status" -eq 0 ]
  [[ $output == *"from step-1"* ]]
  named="'step-2' is unconfirmed and does not count: nothing says that it is complete; if it is, run 'jobrun checkpoint commit $TMP/ck/step-2'"
  [[ $stderr == *"$named"* ]]
  [ "$(readlink ck/step-1/latest)" = a ]
  grep -q '"link"' kept/a/00000001.json
  # Whole after all.
  "$JOBRUN" checkpoint commit ck/step-2
  run --separate-stderr jobrun apply --rerun a.yaml
  [[ $output == *"from step-2"* ]]
  [[ $stderr != *unconfirmed* ]]
  run "$JOBRUN" checkpoint commit kept/a/00000001.json
  [ "$status" -eq 65 ]
  run "$JOBRUN" checkpoint list x
  [ "$status" -eq 64 ]
  run "$JOBRUN" checkpoint commit nothing
  [ "$status" -eq 1 ]
}

@test "a killed keeper is followed by another; with the supervisor all end" {
  keeping a.yaml a "$TRAINER"' save 1; while [ ! -e go ]; do sleep 0.05; done; save 2; while [ ! -e stop ]; do sleep 0.05; done' \
    '{to: kept}'
  jobrun apply --detach a.yaml 3>&-
  wait_until 20 test -e kept/a/00000001.json
  pkill -9 -x jobrun-keeper -P "$(sed -n 1p "$JOBRUN_STATE_DIR/runs/a.1/lock" | grep -o '[0-9]*' | head -1)"
  sleep 0.5
  touch go
  wait_until 20 test -e kept/a/00000002.json
  kill -9 "$(grep -o '[0-9]*' "$JOBRUN_STATE_DIR/runs/a.1/lock" | head -1)"
  wait_until 20 state_is a FAILED
  wait_until 20 nothing_runs
  [ "$(kept a)" = "2* 1" ]
}

@test "a failing bucket never stops training, and is shown" {
  start_google
  keeping a.yaml a "$TRAINER"' save $((START + 1)); while [ ! -e go ]; do sleep 0.05; done; rm go; save $((START + 2))' \
    '{to: "gs://b1/ckpt"}'
  jobrun apply --detach a.yaml
  wait_until 20 grep -qs "is uploaded" "$JOBRUN_STATE_DIR/runs/a.1/checkpoints.log"
  [ "$(kept a)" = "1*" ]
  tell faults '[{"do": "status", "status": 403, "path": "/upload/", "count": 1000, "body": {"error": {"code": 403, "message": "no right"}}}]'
  touch go
  wait_until 20 grep -qs failing "$JOBRUN_STATE_DIR/runs/a.1/checkpoints.log"
  run jobrun status a
  [[ $output == *"checkpoints are failing: 'ckpt-2.pt' is not uploaded yet: gs://b1/ckpt/a/"*"no right"* ]]
  [[ "$(field a 'j["checkpoints"]["failing"]["text"]')" == *"no right"* ]]
  # A cancel does not wait for the bucket.
  timeout 20 "$JOBRUN" cancel a
  tell faults '[]'
  [ "$(kept a)" = "1*" ]
  run --separate-stderr jobrun apply --rerun --detach a.yaml
  wait_until 20 grep -qs "resumes from 'ckpt-1.pt'" "$JOBRUN_STATE_DIR/runs/a.2/checkpoints.log"
  touch go
  jobrun wait --timeout 30s a
  [ "$(kept a)" = "3* 2 1" ]
  run jobrun checkpoints a
  [[ $output == *"gs://b1/ckpt/a/"*"/ckpt-3.pt"* ]]
  end_google
}

@test "without a bucket that answers nothing is begun anew" {
  keeping a.yaml a "$TRAINER" '{to: "gs://b1/ckpt"}'
  export GOOGLE_APPLICATION_CREDENTIALS=$TMP/none.json
  run --separate-stderr jobrun apply a.yaml
  [ "$status" -eq 77 ]
  [[ $stderr == *"a: jobrun.checkpoints.to: GOOGLE_APPLICATION_CREDENTIALS: cannot open "* ]]
  refute grep -q from <<<"$output"
  keeping b.yaml b true '{to: kept}' 
  jobrun apply b.yaml
  run jobrun checkpoints b
  [ "$output" = "no checkpoints in $TMP/kept/b" ]
  job c.yaml c true
  jobrun apply c.yaml
  run jobrun checkpoints c
  [ "$status" -eq 1 ]
  [[ $output == *"'c' keeps no checkpoints: its file has no jobrun.checkpoints"* ]]
}

@test "launch keeps the checkpoints of its command, and what it writes when it is ended" {
  cat >t.sh <<'SH'
trap 'echo last >"$JOBRUN_CHECKPOINT_DIR/ckpt-2"; exit 0' TERM
echo "from ${JOBRUN_CHECKPOINT:-none} ${LOAD_CHKPT_FILE:-}"
echo first >"$JOBRUN_CHECKPOINT_DIR/.1"; mv "$JOBRUN_CHECKPOINT_DIR/.1" "$JOBRUN_CHECKPOINT_DIR/ckpt-1"
while :; do sleep 0.05; done
SH
  "$JOBRUN" launch --checkpoint-dir out --checkpoint-to kept -- sh t.sh >log 2>&1 3>&- &
  pid=$!
  wait_until 20 test -e kept/00000001.json
  # Its keeper may be killed at any time.
  for child in $(cat "/proc/$pid/task/$pid/children"); do
    [ "$(cat "/proc/$child/comm")" != jobrun-keeper ] || kill -9 "$child"
  done
  kill "$pid"
  wait "$pid"
  [ "$(cat kept/00000002/ckpt-2)" = last ]
  rm -rf out
  run --separate-stderr "$JOBRUN" launch --checkpoint-dir out --checkpoint-to kept -- \
    sh -c 'echo "$JOBRUN_CHECKPOINT"; cat "$LOAD_CHKPT_DIR/$LOAD_CHKPT_FILE"; exit 3'
  [ "$status" -eq 3 ]
  [ "$output" = "$TMP/out/.jobrun-resume-0/ckpt-2
last" ]
  [[ $stderr == *"jobrun: checkpoints: resumes from 'ckpt-2' (step 2), from $TMP/kept/00000002"* ]]
  run "$JOBRUN" launch --checkpoint-to kept -- true
  [ "$status" -eq 64 ]
  [[ $output == *"--checkpoint-dir must say where the command writes its checkpoints"* ]]
}

@test "launch reads the metric in what its command writes, and passes all of it on" {
  cat >t.sh <<'SH'
cd "$JOBRUN_CHECKPOINT_DIR"
echo "from ${JOBRUN_CHECKPOINT##*/}"
# said STEP SCORE: then it is known when the file is written
said() { echo "Step=$1, reached $2 of 10"; until grep -q "^[0-9]* $1 " .jobrun-heard; do sleep 0.02; done; }
n=0
for score in $SCORES; do
  n=$((n + 1))
  said $n $score
  echo $n >.new; mv .new ckpt-$n
  until grep -q . "$KEPT/0000000$n.json"; do sleep 0.02; done
done 2>/dev/null
SH
  launch() {
    rm -rf out
    "$JOBRUN" launch --checkpoint-dir out --checkpoint-to kept --checkpoint-keep 1 --checkpoint-metric score \
      --checkpoint-goal maximize --checkpoint-pattern 'score=reached ([0-9]+)' --checkpoint-resume best -- "$@"
  }
  export KEPT=$TMP/kept SCORES="5 9 7"
  launch sh t.sh >log 2>err
  diff - log <<<"from 
Step=1, reached 5 of 10
Step=2, reached 9 of 10
Step=3, reached 7 of 10"
  # The newest stays, too.
  [ "$(grep -o "uploaded: .*," err)" = "uploaded: step 1, score 5, 2 B,
uploaded: step 2, score 9, 2 B,
uploaded: step 3, score 7, 2 B," ]
  [ "$(ls kept/*.json)" = "kept/00000002.json
kept/00000003.json" ]
  SCORES='' launch sh t.sh 2>&1 | grep -x "from ckpt-2"
  # Every byte, whatever it is; and a reader that leaves is no secret.
  launch sh -c 'head -c 3000000 "$0"; head -c 70000 "$0" >&2; exit 5' "$JOBRUN" >log 2>err || [ $? = 5 ]
  head -c 3000000 "$JOBRUN" | cmp - log
  head -c 70000 "$JOBRUN" | cmp - <(tail -c 70000 err)
  launch sh -c 'exec yes' 2>&1 | head -1
  [ "${PIPESTATUS[0]}" -eq 141 ]
  for wrong in "--checkpoint-metric score" "--checkpoint-goal maximize" "--checkpoint-resume best" \
    "--checkpoint-pattern a=b" "--checkpoint-metric a --checkpoint-goal minimize --checkpoint-pattern =b"; do
    run "$JOBRUN" launch --checkpoint-dir out $wrong -- true
    [ "$status" -eq 64 ]
  done
}

@test "on hosts the first task's checkpoints are kept, and all go on from them" {
  sshd_up 2
  mkdir samples
  for i in $(seq 10 17); do echo "s$i" >samples/$i.txt; done
  jobrun shard --shards 2 --name t samples data
  host_job a.yaml a h1,h2 "$TRAINER"'
    # As the WebDataset library does with a URL that begins so.
    sh -c "${JOBRUN_DATA_TRAIN_PIPES#pipe:}" | tar xO | tr "\\n" " "
    [ $RANK = 0 ] || { touch "'"$TMP"'/told.$START"; exec sleep 20; }
    until [ -e "'"$TMP"'/told.$START" ]; do sleep 0.1; done
    save $((START + 1)); echo torn >"$JOBRUN_CHECKPOINT_DIR/ckpt-7.pt"; [ $START != 0 ] || kill -9 $$' \
    "  checkpoints: {to: $TMP/kept}
  data: {train: {urls: ['data/t-{000000..000001}.tar'], index: data/shards.json}}
  restart: {maxRestarts: 1, backoff: 0s}"
  run --separate-stderr jobrun apply a.yaml
  sshd_down
  echo "$output$stderr"
  [ "$status" -eq 0 ]
  [ "$(grep -c 'from 0' <<<"$output")" -eq 2 ]
  [ "$(grep -c 'from 1' <<<"$output")" -eq 2 ]
  [ "$(grep -c '\[0\] s10 s11 s12 s13' <<<"$output")" -eq 2 ]
  [ "$(grep -c '\[1\] s14 s15 s16 s17' <<<"$output")" -eq 2 ]
  [[ $output == *"jobrun: checkpoints: 'ckpt-1.pt' is uploaded"* ]]
  # The last one ended well: its file in the middle, too, is as it meant it.
  [ "$(cat kept/a/*/ckpt-2.pt)" = 2 ]
  [ "$(kept a)" = "7* 2 1" ]
}

@test "a host on which jobrun does not run says so before the start" {
  sshd_up 1
  # As where the C library is too old; the shell needs no part of it.
  mkdir old
  touch old/libm.so.6
  host_job a.yaml a h1 'echo started' "  checkpoints: {to: $TMP/kept}
  env: {LD_LIBRARY_PATH: $TMP/old}"
  run jobrun apply a.yaml
  sshd_down
  [ "$status" -eq 1 ]
  [[ $output == *"a: FAILED"*"setup exited with 126"*"jobrun does not run on this host, which its tasks need: "*"error while loading shared libraries"* ]]
  refute grep -q '\] started' <<<"$output"
}
