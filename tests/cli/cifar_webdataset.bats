# examples/cifar-webdataset, from drawn images to a run that was killed and goes
# on: the way of a user, on two hosts.
bats_require_minimum_version 1.5.0
# bats file_tags=server
load helper
load sshd

EXAMPLE=$BATS_TEST_DIRNAME/../../examples/cifar-webdataset

# train EPOCHS [OPTION...]
train() {
  cat >mine.yaml <<E
jobId: images
trainingInput:
  args: [--epochs, "$1", --batch-size, "20"]
jobrun:
  extends: hosts.yaml
  hosts: [h1, h2]
  env: {GLOO_SOCKET_IFNAME: lo}
E
  jobrun apply "${@:2}" mine.yaml
}

# kept EXPRESSION: of the checkpoints that are kept `all`, the best of them `b`
kept() {
  jobrun checkpoints --format json images | python3 -c "
import json, sys
all = json.load(sys.stdin)['checkpoints']
b = max((c for c in all if c.get('value')), key=lambda c: (c['value'], c['step']))
print($1)"
}

@test "images are drawn, sharded, streamed by two hosts, and a killed run goes on from its best checkpoint" {
  /usr/bin/python3 -c 'import torch' 2>/dev/null || skip "needs python3-torch"
  cp "$EXAMPLE"/*.py "$EXAMPLE"/*.yaml .
  cp -r "$EXAMPLE/trainer" .
  /usr/bin/python3 draw.py images 160
  jobrun shard --classes --shuffle 1 --shards 8 --name train images data
  sshd_up 2

  # More epochs than anybody waits for.
  train 100000 --detach 3>&-
  wait_until 120 test -e checkpoints/images/00000003.json
  # Both trainers at one moment.
  kill -9 $(pgrep -f "^/usr/bin/python3 -u train.py --epochs 100000" |
    grep -xF "$(marked)")
  refute jobrun wait --timeout 60s images
  state_is images FAILED
  jobrun logs images >log
  for rank in 0 1; do
    # Each has streamed its share to the end, more than once.
    grep -q "\[$rank\] | Training Device=cpu:0/$rank Epoch=2 Step=0 " log
  done

  # Those of the best accuracies stay, and the newest.
  [ "$(kept 'len(all) <= 3 and b["isNext"]')" = True ]
  epoch=$(kept 'b["step"]')
  run --separate-stderr train $((epoch + 1))
  [ "$status" -eq 0 ]
  [ "$(grep -c "resumes from 'model-$epoch.pt' (step $epoch, accuracy .*), from $TMP/checkpoints/images/" <<<"$output")" -eq 2 ]
  grep -q "\[0\] | Train Epoch=$((epoch + 1)) Accuracy=" <<<"$output"
  refute grep -q "Epoch=$epoch " <<<"$output"
}
