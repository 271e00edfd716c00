# Commands that have threads, once each.  `make test` and `make check-threads`
# run them with ThreadSanitizer, which ends a program that has a race with 66.
# bats file_tags=server
bats_require_minimum_version 1.5.0
load helper

make_jobs() {
  local number
  JOBRUN=${JOBRUN_THREADS:-$JOBRUN}
  mkdir jobs
  for number in $(seq 12); do
    job "jobs/$number.yaml" "j$number" "echo $number" "$WORKERS"
  done
}

@test "threads: many files are read" {
  make_jobs
  run -0 jobrun validate jobs
  run -0 jobrun plan --format json jobs
}

@test "threads: several jobs are applied and followed" {
  local number
  make_jobs
  run -0 jobrun apply jobs
  for number in $(seq 12); do
    [ "$(grep -c "\] $number\$" <<<"$output")" -eq 3 ]
  done
  nothing_runs
}

@test "threads: shards are made, verified and read" {
  local number
  JOBRUN=${JOBRUN_THREADS:-$JOBRUN}
  mkdir in
  for number in $(seq 200); do
    head -c 5000 /dev/urandom >"in/$number.bin"
  done
  run -0 jobrun shard --jobs 3 --samples 10 --name s in out
  run -0 jobrun shard --verify out
  python3 -u -m http.server --bind 127.0.0.1 --directory out 0 >server.log 2>&1 &
  wait_until 10 grep -q 'port [0-9]' server.log
  number=$(grep -o 'port [0-9]*' server.log | tr -dc 0-9)
  run -0 bash -c "'$JOBRUN' cat --raw 'http://127.0.0.1:$number/s-{000000..000019}.tar' | cmp - <(cat out/s-*.tar)"
}
