#!/usr/bin/env bats
# Command lines of habit: those of kubectl, Terraform, SkyPilot, dstack, TorchX,
# xpk and gcloud mean the same here, or get one line that names what does.

load helper

# habit STATUS TEXT ARGUMENT...: it ends so, and says so; what is refused says it
# in one line.
habit() {
  local want=$1 text=$2
  shift 2
  run jobrun "$@"
  echo "jobrun $*: $status: $output"
  [ "$status" -eq "$want" ]
  [[ $output == *"$text"* ]]
  [ "$want" -ne 64 ] || [ "${#lines[@]}" -eq 1 ] ||
    [[ ${lines[1]} == *"see 'jobrun help"* ]]
}

# A job that has run once.
ran() {
  job job.yaml hello 'echo loss=1'
  run jobrun apply job.yaml
  [ "$status" -eq 0 ]
}

@test "words for status" {
  ran
  for words in ps list ls queue get "get jobs" "get runs" "jobs list" \
    "job ls" "workload list" "get -A" "get jobs --all-namespaces"; do
    habit 0 SUCCEEDED $words
  done
  for words in describe show get "describe job" "get job" "job describe"; do
    habit 0 "hello  SUCCEEDED" $words hello
  done
  habit 0 '"state": "SUCCEEDED"' get jobs -o json
  habit 0 '"state": "SUCCEEDED"' ps --json
  habit 0 hello get hello -o name
}

@test "words for logs" {
  ran
  for words in "tail" "stream-logs" "jobs stream-logs" "logs -n 5" \
    "logs --timestamps" "tail -n 1"; do
    habit 0 loss=1 $words hello
  done
}

@test "a file by -f, and options with one dash" {
  job job.yaml hello 'echo loss=1'
  for words in "plan -f" "plan --filename" "diff" "validate -f"; do
    habit 0 "" $words job.yaml
  done
  habit 0 "hello" diff ./job.yaml
  habit 0 "hello" plan --filename=job.yaml
  habit 0 '"hello"' plan -json job.yaml
  habit 0 '"hello"' plan -o json -f job.yaml
  habit 0 "" plan -out saved -f job.yaml
  [ -s saved ]
  rm saved
  habit 0 "" plan -out=saved job.yaml
  [ -s saved ]
  habit 0 "hello" apply -dry-run -f job.yaml
  habit 0 "hello" apply --dry-run job.yaml
  habit 0 "jobId: hello" render -f job.yaml
  habit 0 "" status
  [[ $output != *hello* ]]
}

@test "words for apply run what they name, and ask as it does" {
  local n=0
  for words in "apply -auto-approve" "apply --auto-approve -f" \
    "run -auto-approve" "submit --yes" "apply -y"; do
    job job.yaml "a$((++n))" 'echo loss=1'
    habit 0 "SUCCEEDED" $words job.yaml
  done
}

@test "stop is cancel" {
  job job.yaml hello "sleep $NAP"
  jobrun apply --detach job.yaml
  wait_until 10 state_is hello RUNNING
  habit 0 "" stop --now hello
  wait_until 10 state_is hello CANCELLED
}

@test "what destroys more here, or costs, is not done but named" {
  ran
  for word in destroy down rm remove terminate kill; do
    habit 64 "'jobrun delete JOB' forgets them" $word hello
    habit 64 "'jobrun cancel JOB' ends a run" $word hello
  done
  habit 64 "unknown option '-f'" delete -f job.yaml
  habit 64 "'jobrun delete FILE'" apply -destroy job.yaml
  for word in up start create; do
    habit 64 "'jobrun plan FILE' shows" $word job.yaml
  done
  habit 64 "'jobrun plan FILE' shows" launch job.yaml
  habit 64 "'jobrun plan --rerun FILE'" restart hello
  habit 64 "'jobrun plan --rerun FILE'" retry hello
  habit 0 "SUCCEEDED" status
  [ "${#lines[@]}" -le 3 ]
}

@test "words for what has another form here" {
  touch job.yaml
  habit 64 "jobrun shell JOB" ssh hello
  habit 64 "jobrun forward JOB PORT" port-forward hello 80
  habit 64 "jobrun logs -f JOB" attach hello
  habit 64 "jobrun status -w" watch
  habit 64 "jobrun devices" top
  habit 64 "status --all JOB" history hello
  habit 64 "jobrun status JOB" output
  habit 64 "jobrun status" state list
  habit 64 "jobrun validate FILE" lint job.yaml
  habit 64 "validate --fix FILE" fmt
  habit 64 "jobrun doctor" check
  habit 64 "plan --prices FILE" cost-report
  habit 64 "jobrun explain" runopts
  habit 64 "jobrun import FILE" convert task.yaml
  habit 64 "jobrun import -- gcloud ai-platform jobs" \
    ai-platform jobs submit training x
  habit 64 "jobrun import -- gcloud ai custom-jobs" ai custom-jobs create
  habit 64 "--set PATH=VALUE" plan -var a=b job.yaml
  habit 64 "'extends'" plan -var-file=x job.yaml
  habit 64 "--set jobrun.env.NAME=VALUE" apply --env A=b job.yaml
  habit 64 "acceleratorConfig.count" apply --gpus A100:8 job.yaml
}

@test "a command that is wrapped keeps its own options" {
  run jobrun launch -- echo -auto-approve -f x --json
  [ "$output" = "-auto-approve -f x --json" ]
  ran
  # A value that looks like an option is a value.
  habit 0 "" logs --grep -json hello
  habit 64 "'helo'" helo
}
