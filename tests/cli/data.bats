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
