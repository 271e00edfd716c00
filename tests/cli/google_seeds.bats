# The command lines and files that Google's guide for TPUs and an article about
# PyTorch gave, on both services, from the command line to the end of the run.
# bats file_tags=server
load helper
load google

# The guide's folder, and its command with what goes before its own arguments:
# FILE FLAG...  It is imported into FILE.
submit() {
  local file=$1
  shift
  jobrun import -- gcloud beta ai-platform jobs submit training "$@" >"$file"
}

guide() {
  mkdir -p models/official/vision/image_classification
  touch models/official/{,vision/,vision/image_classification/}__init__.py
  echo 'print("mnist")' >models/official/vision/image_classification/mnist_main.py
  cat >models/setup.py <<'PY'
from setuptools import find_packages
from setuptools import setup

setup(
    name='official',
    install_requires=['tensorflow-datasets~=3.1'],
    packages=find_packages()
)
PY
  cd models
}

PACKAGE=(--staging-bucket=gs://bucket-1 --package-path=official
  --module-name=official.vision.image_classification.mnist_main
  --python-version=3.7 --region=us-central1)
ARGUMENTS=(-- --distribution_strategy=tpu --data_dir=gs://tfds-data/datasets
  --model_dir=gs://bucket-1/tpu_mnist_1_output)

@test "the guide's example: access, package, BASIC_TPU, log, end" {
  start_google
  guide
  submit ../job.yaml tpu_mnist_1 "${PACKAGE[@]}" --runtime-version=2.2 \
    --scale-tier=BASIC_TPU "${ARGUMENTS[@]}"
  cd ..
  sed -i 's/^  source: .*/  source: models\n  provider: ai-platform\n  ai-platform: {grantTpuAccess: true}/' job.yaml
  cat >state.json <<'JSON'
{"jobs": {"*": {"script": ["QUEUED", "RUNNING", "SUCCEEDED"]}}, "others": 2,
 "log": {"tpu_mnist_1": [{"at": 1, "text": "epoch 1"}, {"at": 3, "text": "epoch 3", "late": 2}, {"at": 2, "text": "epoch 2"}]}}
JSON
  tell state @state.json
  run jobrun plan job.yaml
  echo "$output"
  [[ $output == *"+ service-identity  tpu.googleapis.com "* ]]
  [[ $output == *"member   serviceAccount:service-1234567890121@cloud-tpu.iam.gserviceaccount.com"* ]]
  [ "$(asked POST "generateServiceIdentity|setIamPolicy")" -eq 0 ]
  run jobrun apply --yes job.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"epoch 1"*"epoch 2"*"epoch 3"*"tpu_mnist_1: SUCCEEDED"* ]]
  [ "$(asked POST '/projects/1234567890121/services/tpu.googleapis.com:generateServiceIdentity$')" -eq 1 ]
  [ "$(asked POST ':setIamPolicy$')" -eq 1 ]
  [ "$(asked POST ':setIamPolicy$' 4)" -eq 2 ] # while others changed it
  [ "$(asked POST '/jobs$')" -eq 1 ]
  [ "$(body POST '/jobs$' 'b["trainingInput"]["scaleTier"], b["trainingInput"]["pythonModule"], len(b["trainingInput"]["args"])')" = \
    "('BASIC_TPU', 'official.vision.image_classification.mnist_main', 3)" ]
  # All that was there before is there still, conditions and audit too.
  curl -sf "$BASE/_/policies" | python3 -c '
import json, sys
policy = json.load(sys.stdin)["proj-1"]
roles = [b["role"] for b in policy["bindings"]]
assert roles == ["roles/owner", "roles/ml.serviceAgent", "roles/other0",
                 "roles/other1", "roles/ml.serviceAgent"], policy
assert "condition" in policy["bindings"][1] and policy["auditConfigs"]
assert "condition" not in policy["bindings"][4]'
  run jobrun plan --detailed-exitcode job.yaml
  [ "$status" -eq 0 ]
  jobrun delete tpu_mnist_1
  [ "$(asked POST ':setIamPolicy$')" -eq 1 ]
  end_google
}

# The guide's files, and the article's, each imported with the flags that it
# needs beside it.  $1: the runtime version of those that have no container.
forms() {
  local file
  mkdir -p jobs
  for file in legacy-master tpu-v2 tpu-v3; do
    submit jobs/$file.yaml "${file//-/_}" "${PACKAGE[@]}" --runtime-version="$1" \
      --config="$BATS_TEST_DIRNAME/seeds/$file.yaml" "${ARGUMENTS[@]}"
  done
  for file in containers-v2 containers-v3 pytorch-tpu; do
    submit jobs/$file.yaml "${file//-/_}" --region us-central1 \
      --config "$BATS_TEST_DIRNAME/seeds/$file.yaml"
  done
  sed -i 's/source: .*/source: ../' jobs/*.yaml
}

@test "each form of a file becomes a job of AI Platform, and ends well" {
  start_google
  guide
  tell state '{"jobs": {"*": {"script": ["SUCCEEDED"]}}}'
  forms 2.2
  run jobrun apply --yes --provider ai-platform jobs
  echo "$output"
  [ "$status" -eq 0 ]
  [ "$(asked POST '/ml/v1/projects/proj-1/jobs$')" -eq 6 ]
  [ "$(asked POST '/upload/storage/')" -eq 1 ] # one object for all three
  cd "$TMP"
  end_google
}

@test "each form of a file becomes a custom job of Vertex AI, and ends well" {
  start_google
  guide
  tell state '{"jobs": {"*": {"script": ["SUCCEEDED"]}}}'
  forms 2.2
  # What no container of Vertex AI has is said.
  run jobrun plan --provider vertex-ai jobs/tpu-v2.yaml
  echo "$output"
  [[ $output == *"Vertex AI has no prebuilt container of runtime 2.2 and Python 3.7 with TPUs: set masterConfig.imageUri"* ]]
  sed -i 's/runtimeVersion: .*/runtimeVersion: "2.15"/; s/pythonVersion: .*/pythonVersion: "3.10"/' jobs/*.yaml
  run jobrun apply --yes --provider vertex-ai jobs
  echo "$output"
  [ "$status" -eq 0 ]
  [ "$(asked POST '/customJobs$')" -eq 6 ]
  [ "$(asked POST '/upload/storage/')" -eq 1 ]
  cd "$TMP"
  end_google
}

# Nothing but the labels of its runs at PROVIDER tells what a set had.
fresh_machine() {
  local name
  start_google
  tell state '{"page": 1, "jobs": {"*": {"script": ["SUCCEEDED"]}, "Gone_2": {"script": ["RUNNING"]}}}'
  mkdir jobs
  for name in Stays gone_1 Gone_2; do
    cat >jobs/$name.yaml <<YAML
jobId: $name
trainingInput:
  scaleTier: BASIC
  region: us-central1
  masterConfig: {imageUri: gcr.io/proj-1/trainer:1}
jobrun: {provider: $1}
YAML
  done
  jobrun apply --yes --detach --applyset a/b jobs
  jobrun apply --yes --rerun --detach --applyset a/b jobs/gone_1.yaml
  # Of another set, and of nobody's.
  sed 's/Stays/Other/' jobs/Stays.yaml >other.yaml
  jobrun apply --yes --detach other.yaml
  rm jobs/gone_1.yaml jobs/Gone_2.yaml
  rm -r state
  run jobrun apply --yes --prune --applyset a/b jobs
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"Plan: 2 to delete, 1 unchanged."* ]]
  rm -r state
  run jobrun apply --yes --prune --applyset a/b jobs
  echo "$output"
  [[ $output == *"Nothing to do."* ]]
  # One file is enough to find all runs of its job.
  rm -r state
  jobrun delete other.yaml
  run jobrun delete other.yaml
  [ "$status" -eq 66 ]
  [[ $output == *"nor resources"* ]]
  run jobrun gc
  echo "$output"
  [ "$status" -eq 0 ]
  end_google
}

@test "ai-platform: with the store lost, what a set had is pruned and deleted" {
  fresh_machine ai-platform
}

@test "vertex-ai: with the store lost, what a set had is pruned and deleted" {
  fresh_machine vertex-ai
}
