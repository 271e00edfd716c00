load helper

HERE=$BATS_TEST_DIRNAME

digest() {
  jobrun plan --format json "$@" |
    python3 -c 'import json,sys; print(json.load(sys.stdin)["jobs"][0]["digest"])'
}

@test "render --to yaml is the effective job, and reads back as the same" {
  cat >my-job.yaml <<'YAML'
# A comment, an anchor and other spellings.
x-type: &type n1-standard-4
training_input:
  scale_tier: CUSTOM
  masterType: *type
  runtimeVersion: "2.10"
  args: [--epochs, "010", "yes", "", "1:30", " a b ", "it's", "#x", "two
    lines", "a\nb\n", "é"]
  hyperparameters:
    goal: MAXIMIZE
    params:
    - {parameterName: lr, type: DOUBLE, minValue: 1e-7, maxValue: 0.1}
jobrun:
  command: [python3, train.py]
  env: {A: "1", B: "~"}
YAML
  jobrun render --to yaml --job-id my_job my-job.yaml >again.yaml
  grep -qx 'jobId: my_job' again.yaml
  grep -qx '  workerCount: 0' again.yaml
  grep -qx '      maxValue: 0.1' again.yaml
  grep -qx '  runtimeVersion: "2.10"' again.yaml
  refute grep -q anchor again.yaml
  [ "$(digest --job-id my_job my-job.yaml)" = "$(digest again.yaml)" ]
  jobrun render again.yaml | cmp - again.yaml
  # Other readers of YAML take it for the same.
  /usr/bin/python3 - <<'PY'
import yaml
args = yaml.safe_load(open("again.yaml"))["trainingInput"]["args"]
assert args == ["--epochs", "010", "yes", "", "1:30", " a b ", "it's", "#x",
                "two lines", "a\nb\n", "\u00e9"], args
PY
}

@test "every valid sample renders to a valid file that renders to itself" {
  local file
  for file in "$HERE"/validate/valid/*.yaml "$HERE"/seeds/*.yaml; do
    echo "$file"
    jobrun render "$file" >once.yaml 2>/dev/null
    jobrun render once.yaml >twice.yaml
    cmp once.yaml twice.yaml
  done
}

@test "render --to tf-config is what the task of a local run sees" {
  cat >a.yaml <<'YAML'
jobId: a
trainingInput:
  scaleTier: CUSTOM
  masterType: n1-standard-4
  workerType: n1-standard-4
  workerCount: 2
jobrun: {command: [env]}
YAML
  jobrun render --to tf-config --task worker --index 1 a.yaml >tf.json
  grep -q '"worker":\["127.0.0.1:2223","127.0.0.1:2224"\]' tf.json
  # Another run may have the ports, so they are left out of it.
  sed -i 's/127.0.0.1:[0-9]*/HOST/g' tf.json
  jobrun env --task worker --index 1 a.yaml | sed -n 's/^TF_CONFIG=//p' |
    sed 's/127.0.0.1:[0-9]*/HOST/g' | cmp - tf.json
  run jobrun render --to tf-config --task worker --index 2 a.yaml
  [ "$status" -eq 64 ]
  [[ $output == *"'a' has no task worker 2" ]]
  run jobrun render --to tf-confg a.yaml
  [ "$status" -eq 64 ]
  [[ $output == *"did you mean 'tf-config'?"* ]]
}

# tests/cli/vertex: a job, the body that it becomes, and what is said of it.
@test "jobs become Vertex AI's custom jobs, to the letter" {
  local file name
  for file in "$BATS_TEST_DIRNAME"/vertex/*.yaml; do
    name=${file%.yaml}
    echo "$name"
    jobrun render --to vertex-ai "$file" >out.json 2>out.err
    diff -u "$name.json" out.json
    diff -u "$name.err" out.err
  done
}

@test "AI Platform gets the file's own words, and numbers as its API has them" {
  cat >job.yaml <<'EOF'
jobId: plain
labels: {owner: vision}
trainingInput:
  masterType: n1-highmem-8
  scale_tier: CUSTOM
  workerType: n1-standard-4
  worker_count: "3"
  region: us-central1
  runtimeVersion: 2.10
  pythonVersion: "3.7"
  packageUris: [gs://b/t.tar.gz]
  pythonModule: t.task
  scheduling: {maxRunningTime: 7200s}
jobrun: {zone: us-central1-a}
EOF
  run jobrun render --to ai-platform job.yaml
  [ "$status" -eq 0 ]
  grep -qx '    "workerCount": "3",' <<<"$output"
  grep -qx '    "runtimeVersion": "2.10",' <<<"$output"
  grep -qx '      "maxRunningTime": "7200s"' <<<"$output"
  refute grep -q 'jobrun"\|zone' <<<"$output"
}

# What a discovery document does not allow in what render prints.
@test "every body passes Google's discovery documents" {
  local file
  [ -n "${JOBRUN_API_SCHEMAS:-}" ] || skip "JOBRUN_API_SCHEMAS is not set"
  for file in "$BATS_TEST_DIRNAME"/vertex/*.yaml \
    "$BATS_TEST_DIRNAME"/validate/valid/*.yaml; do
    jobrun render --to vertex-ai "$file" >out.json 2>/dev/null || continue
    python3 "$BATS_TEST_DIRNAME/discovery.py" \
      "$JOBRUN_API_SCHEMAS/aiplatform.v1.json" \
      CustomJob,HyperparameterTuningJob out.json
    jobrun render --provider ai-platform --to ai-platform "$file" >out.json \
      2>/dev/null || continue
    python3 "$BATS_TEST_DIRNAME/discovery.py" \
      "$JOBRUN_API_SCHEMAS/ml.v1.json" Job out.json
  done
}

@test "GKE's spot, flex-start and queued nodes, and Kueue's topology, stand in the pods" {
  cat >a.yaml <<'YAML'
jobId: placed
trainingInput:
  scaleTier: CUSTOM
  masterType: n1-standard-4
  masterConfig: {imageUri: a/b}
  scheduling: {maxRunningTime: 7200s}
jobrun:
  provider: kubernetes
  kubernetes: {queue: q, capacity: queued, reservation: r, requiredTopology: cloud.google.com/gce-topology-block}
YAML
  jobrun render --to kubernetes a.yaml >out.yaml
  grep -q 'cloud.google.com/gke-queued: "true"' out.yaml
  grep -q 'cloud.google.com/reservation-name: r' out.yaml
  grep -q 'kueue.x-k8s.io/podset-required-topology: cloud.google.com/gce-topology-block' out.yaml
  grep -q 'provreq.kueue.x-k8s.io/maxRunDurationSeconds: "7200"' out.yaml
  grep -A3 'tolerations:' out.yaml | grep -q 'operator: Exists'
  for capacity in spot flex-start; do
    sed "s/capacity: queued/capacity: $capacity/" a.yaml | jobrun render --to kubernetes - >out.yaml
    grep -q "cloud.google.com/gke-$capacity: \"true\"" out.yaml
    ! grep -q tolerations: out.yaml
  done
}

@test "a script of Slurm is requeued as the job says" {
  printf 'jobId: a\ntrainingInput: {scaleTier: CUSTOM, masterType: n1-standard-4}
jobrun: {command: [/bin/true], slurm: {requeue: false}}\n' >a.yaml
  jobrun render --to slurm a.yaml | grep -q '^#SBATCH --no-requeue$'
  for how in true expedite; do
    sed "s/requeue: false/requeue: $how/" a.yaml >b.yaml
    jobrun render --to slurm b.yaml >b.sh 2>err
    grep -q '^#SBATCH --requeue$' b.sh
    refute grep jobrun.restart err
    [ $how = true ] || grep -q 'sbatch --requeue=expedite' err
  done
  # Slurm cannot count as jobrun.restart does.
  sed 's/requeue: false/requeue: true/; s/slurm:/restart: {maxPreemptions: 2}, slurm:/' a.yaml >b.yaml
  jobrun render --to slurm b.yaml 2>err | grep -q '^#SBATCH --no-requeue$'
  grep -q jobrun.restart err
}

@test "a script of Slurm that would hold the tasks of thousands is refused" {
  printf 'jobId: a\ntrainingInput: {scaleTier: CUSTOM, masterType: n1-standard-4, workerType: n1-standard-4, workerCount: 100000}
jobrun: {command: [/bin/true]}\n' >a.yaml
  run timeout 60 "$JOBRUN" render --to slurm a.yaml
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *"at most 1024 tasks, not 100001"* ]]
}
