# jobrun.data: what a plan says of it, and what tasks are told.
load helper

make_set() {
  local i
  mkdir -p samples
  for i in $(seq 10 29); do echo $i >samples/$i.txt; done
  jobrun shard --shards 5 --name t samples data >/dev/null 2>&1
  cat >job.yaml <<'EOF'
jobId: sets
trainingInput: {scaleTier: CUSTOM, masterType: n1-standard-4, workerType: n1-standard-4, workerCount: 1}
jobrun:
  command: [sh, -c, '$JOBRUN_DATA_TRAIN_STREAM | tar xO; echo $JOBRUN_DATA_TRAIN_SAMPLES']
  data: {train: {urls: ["data/t-{000000..000004}.tar"], index: data/shards.json}}
EOF
}

@test "a plan says who reads what" {
  make_set
  jobrun plan job.yaml | grep -E \
    'data.train +5 shards dealt to 2, 3 each, 12 of 20 samples; 1 shard comes twice'
  rm data/shards.json
  jobrun plan job.yaml | grep -E "data.train +not there yet: cannot open '$TMP/data/shards.json'"
}

@test "what is uneven is dropped, and the plan says so" {
  make_set
  sed -i 's/index:/uneven: drop, shuffle: true, index:/' job.yaml
  jobrun plan job.yaml | grep -E \
    'data.train +5 shards dealt to 2, 2 each, 8 of 20 samples; 1 shard is left out of each epoch; another order'
  jobrun env job.yaml --task worker >env
  grep -qx JOBRUN_DATA_TRAIN_SAMPLES=8 env
  jobrun apply job.yaml >log 2>&1
  jobrun logs sets --task worker | sed 's/.*\] //' >worker
  # 8 samples, and the number of them.
  [ "$(wc -l <worker)" -eq 9 ]
}

@test "an exact split reads each sample once, and tells each process its number" {
  make_set
  sed -i 's/index:/uneven: exact, index:/; s/workerCount: 1/workerCount: 2/' job.yaml
  jobrun plan job.yaml | grep -E \
    'data.train +5 shards dealt to 3, 1 or 2 each, 20 samples$'
  jobrun apply job.yaml >log 2>&1
  for task in "master 0" "worker 0" "worker 1"; do
    set -- $task
    jobrun env job.yaml --task $1 --index $2 >env
    jobrun logs sets --task $1 --index $2 | sed 's/.*\] //' >log
    # Its samples, and how many it was told that there are.
    sed -n 's/^JOBRUN_DATA_TRAIN_SAMPLES=//p' env | diff - <(tail -n 1 log)
    [ "$(wc -l <log)" -eq $(($(tail -n 1 log) + 1)) ]
    head -n -1 log >>all
  done
  grep -qx JOBRUN_DATA_TRAIN_SHARDS=1 env
  cat samples/* | sort | diff - <(sort all)
}

@test "with more processes than shards, an exact split leaves some with nothing" {
  for i in 0 1; do echo $i >f$i; done
  [ "$(jobrun cat --split host=1/3,uneven=exact 'f{0..1}')" = 1 ]
  [ "$(jobrun cat --split host=2/3,uneven=exact --epochs 0 'f{0..1}')" = "" ]
}

@test "every process reads its share" {
  make_set
  jobrun apply job.yaml >log 2>&1
  jobrun logs sets --task master | sed 's/.*\] //' | sort >master
  jobrun logs sets --task worker | sed 's/.*\] //' | sort >worker
  # 12 samples each, and the number of them.
  [ "$(wc -l <master)" -eq 13 ]
  [ "$(wc -l <worker)" -eq 13 ]
  cat master worker | sort -u | grep -vx 12 >all
  { cat samples/*; } | sort -u | grep -vx 12 | diff - all
}

@test "a task finds its URLs" {
  make_set
  jobrun env job.yaml --task worker >env
  grep -qx "JOBRUN_DATA_TRAIN=$TMP/data/t-000001.tar::$TMP/data/t-000003.tar::$TMP/data/t-000000.tar" env
  grep -q "JOBRUN_DATA_TRAIN_PIPES=pipe:.* cat '$TMP/data/t-000001.tar'::pipe:" env
  grep -qx "JOBRUN_DATA_TRAIN_SAMPLES=12" env
  sed -i 's#index:#cache: "/tmp/a b", cacheSize: 5GB, index:#' job.yaml
  CI= jobrun env job.yaml --task worker >env
  grep -q "JOBRUN_DATA_TRAIN_PIPES=pipe:.* cat --cache '/tmp/a b' --cache-size '5GB' '$TMP/data/t-000001.tar'::pipe:" env
  grep -q 'JOBRUN_DATA_TRAIN_SET=.*"cache":"/tmp/a b","cacheSize":"5GB"' env
  run jobrun cat --data train
  [ "$status" -eq 64 ]
  [ "$output" = "jobrun: error: --data: JOBRUN_DATA_TRAIN_SET is not set; this is not a task of a job with jobrun.data.train" ]
}

# share I HOSTS J [OPTION...]: what consumer J/2 of a host reads.
share() {
  "$JOBRUN" cat --index data/shards.json --shuffle 3 --state state \
    --split "host=$1/$2,uneven=exact" --consumer "$3/2" "${@:4}"
}

members() {
  python3 -c '
import sys, tarfile
if sys.stdin.buffer.peek(1):
    for one in tarfile.open(fileobj=sys.stdin.buffer, mode="r|*"):
        print(one.name)'
}

@test "other consumers read exactly the rest of an epoch" {
  local i j n=0
  make_set
  # Each of four takes some, and says so.
  for i in 0 1; do
    for j in 0 1; do
      n=$((n + 1))
      share $i 2 $j | members >read
      head -n $n read >>taken
      share $i 2 $j --taken $n >>state.new
    done
  done
  mv state.new state
  [ "$(wc -l <taken)" -eq 10 ]
  # Six go on, of which some take more, in files of their own.
  mkdir more
  for i in 0 1 2; do
    for j in 0 1; do
      # Shards that some took of are dealt again; not all may get one.
      share $i 3 $j | members >read
      head -n $((i == 2)) read >some
      cat some >>taken
      share $i 3 $j --taken $(wc -l <some) >more/$i.$j
    done
  done
  rm state
  mv more state
  # One reads the rest, and two epochs more.
  jobrun cat --index data/shards.json --shuffle 3 --state state --epochs 2 |
    members >rest
  left=$((20 - $(wc -l <taken)))
  { cat taken; head -n $left rest; } | sort >all
  (cd samples && ls) | sort | diff - all
  [ "$(wc -l <rest)" -eq $((left + 20)) ]
  # An epoch that is over has nothing, the one after it all.
  jobrun cat --index data/shards.json --shuffle 3 --epoch 1 --state state |
    members | sort | diff - <(cd samples && ls | sort)
  jobrun cat --index data/shards.json --shuffle 3 --taken 20 >over
  [ "$(jobrun cat --index data/shards.json --shuffle 3 --epoch 0 --state over)" = "" ]
}

@test "a consumer without a share holds no epoch back" {
  local i
  make_set
  for i in 0 1 2 3 4 5; do
    jobrun cat --index data/shards.json --split host=$i/6,uneven=exact --taken $((i < 5 ? 8000 : 0)) >>state
  done
  [ "$(grep -c '"epoch":2000' state)" -eq 5 ]
  jobrun cat --index data/shards.json --state state | cmp - <(jobrun cat --index data/shards.json)
}

@test "a state of other shards, of another order or with a consumer missing is an error" {
  make_set
  index="--index data/shards.json"
  jobrun cat $index --split host=0/2 --taken 3 >state
  run jobrun cat $index --state state
  [ "$status" -eq 65 ]
  [ "$output" = "jobrun: error: the state 'state' has no line of host=1/2,device=0/1, consumer 0/1" ]
  jobrun cat $index --split host=1/2 --taken 0 >>state
  jobrun cat $index --state state >rest
  run jobrun cat $index --shuffle 1 --state state
  [ "$status" -eq 65 ]
  [ "$output" = "jobrun: error: the state 'state': it is of other shards, or another order" ]
  run jobrun cat --state state data/t-000000.tar
  [ "$status" -eq 64 ]
  [[ $output == *"--state and --taken need --index"* ]]
  # What another set has taken does not matter; nor does a file that is missing.
  jobrun cat $index --state none | cmp - <(jobrun cat $index)
  # One that is further ahead than any can be.
  sed '2s/"epoch":0/"epoch":9000000000000000/' state >far
  run jobrun cat $index --state far
  [ "$status" -eq 65 ]
  [ "$output" = "jobrun: error: the state 'far': it is broken" ]
  # A line that is cut off.
  head -c 100 state >cut
  refute jobrun cat $index --state cut
}

@test "a job resumes in the middle of an epoch, with more processes" {
  /usr/bin/python3 -c 'import torch' 2>/dev/null || skip "needs python3-torch"
  cp "$BATS_TEST_DIRNAME"/../../examples/iterable-dataset/*.{py,yaml} .
  # Whatever this machine's name stands for.
  sed -i 's/  env: { /&GLOO_SOCKET_IFNAME: lo, /' job.yaml
  grep -q 'GLOO_SOCKET_IFNAME: lo, OMP' job.yaml
  mkdir samples
  for i in $(seq 100 199); do echo $i >samples/$i.txt; done
  jobrun shard --shuffle 1 --shards 9 --name train samples data
  # It fails two steps after its second checkpoint.
  sed 's/^  workerCount/  args: [--steps, "7", --save-every, "3"]\n  workerCount/' \
    job.yaml >stopped.yaml
  refute jobrun apply stopped.yaml
  jobrun logs iterable_dataset >log
  # Of its 7 steps, 6 are in the checkpoint.
  sed -n 's/.*step [1-6] sample \(samples\/\)\{0,1\}//p' log >trained
  sed 's/workerCount: 1/workerCount: 2/' job.yaml >again.yaml
  jobrun apply again.yaml
  jobrun logs iterable_dataset >log
  grep -q 'resumes after step 6' log
  grep -q 'done: ' log
  sed -n 's/.*step [0-9]* sample //p' log >>trained
  seq 100 199 | diff - <(sort trained)
}
