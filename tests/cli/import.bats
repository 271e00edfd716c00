load helper

# import WORDS...: into job.yaml, which has to be valid.
import() {
  jobrun import -- "$@" >job.yaml
  jobrun validate job.yaml
}

# same 'JSON', of job.yaml without its comments
same() {
  /usr/bin/python3 - "$1" <<'PY'
import json, sys, yaml
have = yaml.safe_load(open("job.yaml"))
want = json.loads(sys.argv[1])
assert have == want, json.dumps(have)
PY
}

@test "import reads the command line of the TPU guide" {
  import gcloud ai-platform jobs submit training tpu_mnist_1 \
    --staging-bucket=gs://bucket --package-path=official \
    --module-name=official.vision.image_classification.mnist_main \
    --runtime-version=2.2 --python-version=3.7 --scale-tier=BASIC_TPU \
    --region=us-central1 -- --distribution_strategy=tpu \
    --data_dir=gs://tfds-data/datasets "--model_dir=gs://bucket/a b"
  same '{"jobId": "tpu_mnist_1", "trainingInput": {
    "scaleTier": "BASIC_TPU", "region": "us-central1",
    "runtimeVersion": "2.2", "pythonVersion": "3.7",
    "pythonModule": "official.vision.image_classification.mnist_main",
    "args": ["--distribution_strategy=tpu",
      "--data_dir=gs://tfds-data/datasets", "--model_dir=gs://bucket/a b"]},
    "jobrun": {"staging": "gs://bucket", "source": "."}}'
}

@test "import merges the file of --config, and flags win" {
  cat >config.yaml <<'YAML'
labels: {from: file, other: file}
training_input:
  scaleTier: CUSTOM
  masterType: n1-highcpu-16
  workerType: cloud_tpu
  workerCount: "1"
  region: europe-west4
  args: [from, file]
  workerConfig:
    tpu_tf_version: 2.2
    acceleratorConfig: {type: TPU_V3, count: 8}
  scheduling: {maxRunningTime: 3600s}
YAML
  import gcloud beta ai-platform jobs submit training --config config.yaml \
    job_1 --region us-central1 --labels from=flag \
    --master-image-uri gcr.io/p/i:1 --project p-1
  same '{"jobId": "job_1", "labels": {"from": "flag"}, "trainingInput": {
    "scaleTier": "CUSTOM", "masterType": "n1-highcpu-16",
    "workerType": "cloud_tpu", "workerCount": 1, "region": "us-central1",
    "args": ["from", "file"],
    "masterConfig": {"imageUri": "gcr.io/p/i:1"},
    "workerConfig": {"tpuTfVersion": "2.2",
      "acceleratorConfig": {"type": "TPU_V3", "count": 8}},
    "scheduling": {"maxRunningTime": "3600s"}},
    "jobrun": {"project": "p-1"}}'
}

@test "import takes every flag of ai-platform jobs submit training" {
  import gcloud --quiet ai-platform jobs submit training all --async \
    --enable-web-access --job-dir gs://b/o --kms-key k --kms-keyring r \
    --kms-location us-central1 --kms-project p --labels '^:^a=1:b=2' \
    --master-accelerator type=nvidia-tesla-t4,count=2 \
    --master-machine-type n1-standard-8 --module-name trainer.task \
    --network projects/1/global/networks/default --packages a.tar.gz,gs://b/b.whl \
    --parameter-server-count 1 --parameter-server-machine-type n1-standard-4 \
    --python-version 3.7 --region us-central1 --runtime-version 2.11 \
    --scale-tier custom --service-account a@p.iam.gserviceaccount.com \
    --no-stream-logs --use-chief-in-tf-config=True \
    --worker-accelerator count=1,type=NVIDIA_TESLA_T4 --worker-count 3 \
    --worker-machine-type n1-standard-8 --verbosity=debug
  same '{"jobId": "all", "labels": {"a": "1", "b": "2"}, "trainingInput": {
    "scaleTier": "CUSTOM", "masterType": "n1-standard-8",
    "workerType": "n1-standard-8", "parameterServerType": "n1-standard-4",
    "workerCount": 3, "parameterServerCount": 1,
    "packageUris": ["a.tar.gz", "gs://b/b.whl"],
    "pythonModule": "trainer.task", "region": "us-central1",
    "jobDir": "gs://b/o", "runtimeVersion": "2.11", "pythonVersion": "3.7",
    "masterConfig": {"acceleratorConfig": {"count": 2, "type": "NVIDIA_TESLA_T4"}},
    "workerConfig": {"acceleratorConfig": {"count": 1, "type": "NVIDIA_TESLA_T4"}},
    "encryptionConfig": {"kmsKeyName":
      "projects/p/locations/us-central1/keyRings/r/cryptoKeys/k"},
    "network": "projects/1/global/networks/default",
    "serviceAccount": "a@p.iam.gserviceaccount.com",
    "useChiefInTfConfig": true, "enableWebAccess": true}}'
  grep -q '^# --async: jobrun apply --detach$' job.yaml
}

@test "import reads ai custom-jobs create" {
  import gcloud ai custom-jobs create --region=us-central1 \
    --display-name=my-test --labels=a=b --args=--epochs=5,--fast \
    --command=python,t.py --worker-pool-spec=machine-type=n1-standard-8,replica-count=1,accelerator-type=NVIDIA_TESLA_T4,accelerator-count=1,container-image-uri=gcr.io/p/i:1 \
    --worker-pool-spec=machine-type=n1-standard-4,replica-count=3,container-image-uri=gcr.io/p/i:1
  same '{"jobId": "my_test", "labels": {"a": "b"}, "trainingInput": {
    "scaleTier": "CUSTOM", "masterType": "n1-standard-8",
    "workerType": "n1-standard-4", "workerCount": 3, "region": "us-central1",
    "masterConfig": {"imageUri": "gcr.io/p/i:1",
      "acceleratorConfig": {"count": 1, "type": "NVIDIA_TESLA_T4"},
      "containerCommand": ["python", "t.py"],
      "containerArgs": ["--epochs=5", "--fast"]},
    "workerConfig": {"imageUri": "gcr.io/p/i:1",
      "containerCommand": ["python", "t.py"],
      "containerArgs": ["--epochs=5", "--fast"]}},
    "jobrun": {"provider": "vertex-ai"}}'
  grep -q '^# --display-name=my-test: ' job.yaml
}

@test "import reads the local code and the file of a custom job" {
  mkdir src
  import gcloud ai custom-jobs create --display-name=t --worker-pool-spec='machine-type=n1-standard-4,executor-image-uri=gcr.io/p/i:1,requirements=a;b==1,local-package-path=src,script=task.py'
  same '{"jobId": "t", "trainingInput": {"scaleTier": "CUSTOM",
    "masterType": "n1-standard-4", "masterConfig": {"imageUri": "gcr.io/p/i:1"}},
    "jobrun": {"provider": "vertex-ai", "source": "src", "command": ["python3", "task.py"],
      "setup": ["python3", "-m", "pip", "install", "a", "b==1"]}}'
  import gcloud ai custom-jobs create --display-name=t --args=--a=1,b --worker-pool-spec='machine-type=n1-standard-4,executor-image-uri=gcr.io/p/i:1,local-package-path=src,python-module=trainer.task'
  same '{"jobId": "t", "trainingInput": {"scaleTier": "CUSTOM", "args": ["--a=1", "b"],
    "masterType": "n1-standard-4", "masterConfig": {"imageUri": "gcr.io/p/i:1"}},
    "jobrun": {"provider": "vertex-ai", "source": "src", "command": ["python3", "-m", "trainer.task"]}}'
  # Beside a pool whose image has a program of its own.
  import gcloud ai custom-jobs create --display-name=t --args=--a=1 --worker-pool-spec='machine-type=n1-standard-4,executor-image-uri=gcr.io/p/i:1,local-package-path=src,script=task.py' \
    --worker-pool-spec=machine-type=n1-standard-8,replica-count=2,container-image-uri=gcr.io/p/w:1
  same '{"jobId": "t", "trainingInput": {"scaleTier": "CUSTOM",
    "masterType": "n1-standard-4", "workerType": "n1-standard-8", "workerCount": 2,
    "masterConfig": {"imageUri": "gcr.io/p/i:1", "containerCommand": ["python3", "task.py"], "containerArgs": ["--a=1"]},
    "workerConfig": {"imageUri": "gcr.io/p/w:1", "containerArgs": ["--a=1"]}},
    "jobrun": {"provider": "vertex-ai", "source": "src"}}'
  cat >spec.yaml <<'YAML'
workerPoolSpecs:
  machineSpec: {machineType: n1-highmem-2}
  replicaCount: 1
  containerSpec:
    imageUri: gcr.io/p/i:1
    args: [port=8500]
    env: [{name: A, value: 1}]
  nfsMounts: [{server: s}]
scheduling: {timeout: 7200s, disableRetries: true}
tensorboard: tb
YAML
  import gcloud ai custom-jobs create --display-name=t --config=spec.yaml
  same '{"jobId": "t", "trainingInput": {"scaleTier": "CUSTOM",
    "masterType": "n1-highmem-2", "masterConfig": {"imageUri": "gcr.io/p/i:1",
      "containerArgs": ["port=8500"]},
    "scheduling": {"maxRunningTime": "7200s"}}, "jobrun": {"provider": "vertex-ai", "env": {"A": "1"},
      "vertex-ai": {"tensorboard": "tb", "disableRetries": true,
        "request": {"jobSpec": {"workerPoolSpecs": [{"nfsMounts": [{"server": "s"}]}]}}}}}'
}

@test "import says what is wrong with a command line" {
  local words
  while IFS='|' read -r words message; do
    echo "$words"
    run jobrun import -- $words
    [ "$status" -eq 64 ]
    [ "$output" = "jobrun: error: $message" ]
  done <<'EOF2'
gcloud ai-platform jobs submit training j --regoin=x|gcloud has no flag '--regoin' here; did you mean '--region'?
gcloud ai-platform jobs submit training --region x|'gcloud ai-platform jobs submit training' needs the name of the job
gcloud ai-platform jobs submit training a b|unexpected argument 'b' after 'a'; put the program's own arguments after --
gcloud ai-platform jobs submit training a --region|'--region' needs a value
gcloud ai-platform jobs submit training a --worker-accelerator type=x|--worker-accelerator: needs type=TYPE,count=COUNT, not 'type=x'
gcloud ai-platform jobs submit training a --use-chief-in-tf-config maybe|--use-chief-in-tf-config: takes true or false, not 'maybe'
gcloud compute tpus create|cannot import 'gcloud compute tpus create', only 'gcloud ai-platform jobs submit training', 'gcloud ai custom-jobs create' and 'gcloud ai hp-tuning-jobs create'
gcloud ai custom-jobs create --display-name=t --worker-pool-spec=machin-type=x|--worker-pool-spec: a worker pool has no 'machin-type'; did you mean 'machine-type'?
gcloud ai custom-jobs create --display-name=t|'gcloud ai custom-jobs create' needs --worker-pool-spec, or --config with workerPoolSpecs
EOF2
  # One word is a file.
  run jobrun import nowhere.yml
  [ "$status" -eq 1 ]
  [[ $output == *"cannot open 'nowhere.yml': No such file or directory" ]]
}

@test "import checks what comes out, and the file of --config" {
  printf 'trainingInput: {a: b' >bad.yaml
  run jobrun import -- gcloud ai-platform jobs submit training j --config bad.yaml
  [ "$status" -eq 65 ]
  [[ $output == *"bad.yaml:1:"* ]]
  printf 'trainingInput: {scaleTeir: BASIC}\n' >typo.yaml
  run jobrun import -- gcloud ai-platform jobs submit training j --config typo.yaml
  [ "$status" -eq 65 ]
  [[ $output == *'did you mean "scaleTier"?'* ]]
  # A name with a line end adds no key.
  run jobrun import -- gcloud ai-platform jobs submit training $'j\nfoo: bar'
  [ "$status" -eq 65 ]
  [ "${lines[0]}" = '# From: gcloud ai-platform jobs submit training j foo: bar' ]
}

@test "every field of Vertex AI's jobs is imported and rendered as it was" {
  local schemas=${JOBRUN_API_SCHEMAS:-}
  run python3 "$BATS_TEST_DIRNAME/vertex_whole.py" "$JOBRUN" . ${schemas:+"$schemas/aiplatform.v1.json"}
  echo "$output"
  [ "$status" -eq 0 ]
}

@test "what import cannot say is an error, unless it is told to go without" {
  run jobrun import -- gcloud ai-platform jobs submit training j --flags-file=f.yaml
  [ "$status" -eq 65 ]
  [[ $output == *"# --flags-file=f.yaml: the flags in it are not read"* ]]
  [[ $output == *"1 setting cannot be kept in a job file: see the comments (--lossy drops them)"* ]]
  jobrun import --lossy -- gcloud ai-platform jobs submit training j --flags-file=f.yaml
}

@test "Vertex AI's own words are checked, and jobrun's own refused" {
  local field message
  while IFS='|' read -r field message; do
    printf 'trainingInput: {scaleTier: BASIC}\njobrun: {provider: vertex-ai, vertex-ai: {request: %s}}\n' "$field" >a.yaml
    run jobrun validate a.yaml
    [ "$status" -eq 65 ]
    [[ $output == *"$message"* ]] || { echo "$output"; false; }
  done <<'TABLE'
{jobSpec: {schedulin: {}}}|"request" has no field "jobSpec.schedulin" in the API; did you mean "scheduling"?
{jobSpec: {workerPoolSpecs: [{machineSpec: {a: b}}]}}|has no field "jobSpec.workerPoolSpecs.machineSpec.a"
{displayName: x}|cannot set "displayName": jobrun does
text|must be a map
TABLE
}

@test "Spot, flex-start and reservations of Vertex AI stand in its request" {
  cat >a.yaml <<'YAML'
jobId: spot
trainingInput:
  scaleTier: CUSTOM
  region: us-central1
  masterType: a3-highgpu-8g
  masterConfig: {imageUri: gcr.io/p/i:1}
  scheduling: {maxRunningTime: 86400s, maxWaitTime: 3600s}
jobrun:
  provider: vertex-ai
  vertex-ai:
    strategy: FLEX_START
    reservation: [projects/p/zones/us-central1-a/reservations/r]
    nfsMounts: [{server: 10.0.0.2, path: /x, mountPoint: x}]
YAML
  jobrun render --to vertex-ai a.yaml >body.json 2>err
  [ "$(jq -c .jobSpec.scheduling body.json)" = '{"timeout":"86400s","maxWaitDuration":"3600s","strategy":"FLEX_START"}' ]
  [ "$(jq -c '.jobSpec.workerPoolSpecs[0].machineSpec.reservationAffinity.values' body.json)" = '["projects/p/zones/us-central1-a/reservations/r"]' ]
  [ "$(jq -c '.jobSpec.workerPoolSpecs[0].nfsMounts' body.json)" = '[{"server":"10.0.0.2","path":"/x","mountPoint":"x"}]' ]
  # Which GPUs flex-start has, and for how long.
  sed -i 's/a3-highgpu-8g/n1-standard-8/; s/86400s/700000s/' a.yaml
  run jobrun validate a.yaml
  [ "$status" = 65 ]
  [[ $output == *"error: FLEX_START has machines with NVIDIA_TESLA_A100, NVIDIA_A100_80GB, NVIDIA_H100_80GB, NVIDIA_H100_MEGA_80GB, NVIDIA_H200_141GB, NVIDIA_B200, NVIDIA_L4 only, not without GPUs"* ]]
  [[ $output == *"error: FLEX_START gives machines for 7 days at most"* ]]
}

@test "files of Kubernetes, sbatch, SkyPilot and dstack are imported, and what is lost is listed" {
  cd "$BATS_TEST_DIRNAME/foreign"
  run /usr/bin/python3 ../foreign.py "$JOBRUN" */*
  echo "$output"
  [ "$status" -eq 0 ]
}

@test "import copies no secret, not even into a comment" {
  cat >task.yaml <<'EOF'
name: x
resources: {accelerators: "H100:8"}
run: python3 t.py
secrets: {HF_TOKEN: null, WANDB: hunter2}
EOF
  cat >task.dstack.yml <<'EOF'
type: task
name: x
commands: [python3 t.py]
registry_auth: {username: me, password: hunter2}
EOF
  for file in task.yaml task.dstack.yml; do
    run jobrun import "$file"
    echo "$output"
    [ "$status" = 65 ]
    [[ $output == *"may be a secret, and is not copied"* ]]
    refute grep hunter2 <<<"$output"
    run jobrun import --lossy "$file"
    refute grep hunter2 <<<"$output"
  done
  run jobrun import task.yaml
  [[ $output == *"task.yaml:4: secrets.HF_TOKEN: "* ]]
}
