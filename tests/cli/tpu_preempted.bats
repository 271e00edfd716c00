# TPUs that are taken away while a run goes on, at steps that nobody chose: a
# TPU VM pod, and a TPU node with the VM beside it, which is lost too.
# bats file_tags=server
load helper
load sshd
load google

# tpu_job ID PROVIDER ZONE TYPE COUNT CHECKPOINTS BLOCK
tpu_job() {
  cat >"jobs/$1.yaml" <<YAML
jobId: $1
trainingInput:
  workerConfig:
    acceleratorConfig: {type: $4, count: $5}
jobrun:
  provider: $2
  zone: $3
  grace: 2s
  source: ../src
  command: [bash, train.sh, $1]
  env: {STORAGE_EMULATOR_HOST: "$BASE", GOOGLE_APPLICATION_CREDENTIALS: $GOOGLE_APPLICATION_CREDENTIALS}
  checkpoints: {to: "$6"}
  restart: {maxPreemptions: 3, backoff: 0s}
  $2: {lookEvery: 1s$7}
YAML
}

# Each task says in at/ID.RANK where it is; they end when they may.
trainer() {
  cat <<SH
step=0
[ -z "\${JOBRUN_CHECKPOINT:-}" ] || step=\$(cat "\$JOBRUN_CHECKPOINT")
echo "from \$step" | tee -a $TMP/at/\$1.starts.\$RANK
until [ -e $TMP/at/enough ] && [ \$step -ge 20 ]; do
  step=\$((step + 1))
  echo "| Training Device=xla:0/\$((RANK * 8)) Epoch=1 Step=\$step Loss=1.5"
  if [ \$RANK = 0 ]; then
    echo \$step >\$JOBRUN_CHECKPOINT_DIR/.new
    mv \$JOBRUN_CHECKPOINT_DIR/.new \$JOBRUN_CHECKPOINT_DIR/ckpt-\$step
  fi
  echo \$step >$TMP/at/.\$1.\$RANK
  mv $TMP/at/.\$1.\$RANK $TMP/at/\$1.\$RANK
  sleep 0.2
done
SH
}

# things_are [POD [NODE [VMS]]]: all is well, but for this.
things_are() {
  tell state '{"tpu": {
      "*": {"hosts": 1, "script": [{"state": "READY", "health": "HEALTHY"}]},
      "us-central2-b/pod": {"exists": false, "endpoints": [
        {"ipAddress": "'$SSH_NET'.2", "accessConfig": {"externalIp": "'$SSH_NET'.2"}},
        {"ipAddress": "'$SSH_NET'.3", "accessConfig": {"externalIp": "'$SSH_NET'.3"}}]'"${1:-}"'},
      "europe-west4-a/imagenet": {"exists": false'"${2:-}"'}},
    "compute": {"starting": 0, "addresses": ["'$SSH_NET'.1"]'"${3:-}"'}}'
}

ranks() {
  [ "$1" = pod ] && echo 0 1 || echo 0
}

# started ID N: all its tasks have, N times.
started() {
  local rank
  for rank in $(ranks "$1"); do
    [ -e "at/$1.starts.$rank" ] && [ "$(wc -l <"at/$1.starts.$rank")" -ge "$2" ] || return 1
  done
}

# is_past ID STEPS: all of them, since they last started
is_past() {
  local rank from
  for rank in $(ranks "$1"); do
    from=$(tail -n 1 "at/$1.starts.$rank")
    [ "$(cat "at/$1.$rank" 2>/dev/null || echo 0)" -ge $((${from#from } + $2)) ] || return 1
  done
}

keeps_any() {
  "$JOBRUN" checkpoints --format json "$1" 2>/dev/null | grep -q '"step"'
}

# Each task wrote every step from the one on that its attempt went on from, and
# at least up to where it was seen last; together they are all.
steps_are_whole() {
  local attempt
  for attempt in 1 2 3 4; do
    jobrun logs --attempt "$attempt" "$1" >"log.$1.$attempt"
  done
  python3 - "$1" $(ranks "$1") <<'PY'
import re, sys
job = sys.argv[1]
for rank in sys.argv[2:]:
    seen, last = set(), 0
    for attempt in (1, 2, 3, 4):
        lines = [l for l in open(f"log.{job}.{attempt}") if f"[{rank}]" in l]
        [start] = [int(n) for l in lines for n in re.findall(r"from (\d+)$", l)]
        steps = [int(n) for l in lines for n in re.findall(r"Step=(\d+) Loss=1.5$", l)]
        where = (job, rank, attempt, start, steps)
        assert steps == list(range(start + 1, start + 1 + len(steps))), where
        assert (start > 0) == (attempt > 1), where
        seen.update(steps)
        last = max(seen)
        if attempt < 4:
            assert last >= int(open(f"at/{job}.{attempt}.{rank}").read()), where
    assert last >= 20 and seen == set(range(1, last + 1)), (job, rank, seen)
PY
}

@test "preempted three times at random steps: it goes on from its checkpoint, and nothing stays" {
  start_google
  sshd_up 3
  mkdir jobs src at
  trainer >src/train.sh
  tpu_job pod tpu-vm us-central2-b TPU_V4 16 "$TMP/kept" ''
  tpu_job imagenet tpu-node europe-west4-a TPU_V3 8 gs://b1/kept ', runtimeVersion: pytorch-1.13'
  things_are
  jobrun apply --yes --detach jobs
  for attempt in 1 2 3; do
    for id in pod imagenet; do
      wait_until 60 started "$id" "$attempt"
      wait_until 60 is_past "$id" $((1 + RANDOM % 9))
      wait_until 60 keeps_any "$id"
      for rank in $(ranks "$id"); do cp "at/$id.$rank" "at/$id.$attempt.$rank"; done
    done
    case $attempt in
    1) things_are ', "preempt": true' ', "preempt": true' ;;
    2) things_are ', "preempt": true' '' ', "preempt": "imagenet-0000"' ;;
    3) things_are ', "maintenance": 5' ', "preempt": true' ;;
    esac
  done
  wait_until 60 started pod 4
  wait_until 60 started imagenet 4
  touch at/enough
  timeout 60 "$JOBRUN" wait pod
  timeout 60 "$JOBRUN" wait imagenet
  jobrun status
  for id in pod imagenet; do
    [ "$(field "$id" 'j["state"], j["attempt"], j["restarts"], j["preemptions"]')" = "SUCCEEDED 4 0 3" ]
    steps_are_whole "$id"
  done
  # The pod that was under maintenance was waited for.
  [ "$(asked POST '/nodes.nodeId=pod')" -eq 3 ]
  # But for what was kept of it.
  [ "$(curl -sf "$BASE/_/made" | grep -c instance)" -eq 0 ]
  end_google
  wait_until 15 nothing_runs
}
