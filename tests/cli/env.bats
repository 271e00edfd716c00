load helper

# The file with one word in place of every port.
ports_are_free() {
  sed -E 's/(:|PORT=)[0-9]{4,5}/\1PORT/g' "$1"
}

@test "env prints byte for byte what the processes see" {
  local task
  cat >a.yaml <<'EOF'
jobId: a
trainingInput:
  scaleTier: CUSTOM
  masterType: n1-standard-4
  workerType: n1-standard-4
  workerCount: 2
  parameterServerType: n1-standard-4
  parameterServerCount: 1
  evaluatorType: n1-standard-4
  evaluatorCount: 1
jobrun:
  command: [sh, -c, 'python3 -c "import os,json; t=json.loads(os.environ[\"TF_CONFIG\"])[\"task\"]; open(\"%s.%d.env\" % (t[\"type\"], t[\"index\"]),\"w\").write(\"\".join(\"%s=%s\n\" % i for i in os.environ.items()))"; if [ "${RANK-}" = 0 ]; then sleep 1; else sleep 5; fi']
  env: {A: "b c", Q: "it's \"quoted\" $HOME"}
EOF
  for task in "master 0" "worker 1" "ps 0" "evaluator 0"; do
    jobrun env --task ${task% *} --index ${task#* } a.yaml >"before ${task/ /.}.txt"
  done
  jobrun apply a.yaml
  for task in "master 0" "worker 1" "ps 0" "evaluator 0"; do
    jobrun env --task ${task% *} --index ${task#* } a.yaml >"after ${task/ /.}.txt"
    # Before, the ports are those that are usual: others may be taken.
    diff <(ports_are_free "before ${task/ /.}.txt") \
      <(ports_are_free "after ${task/ /.}.txt")
    grep -q ^TF_CONFIG= "after ${task/ /.}.txt"
    # Every line of it is a line of the process's environment.
    [ "$(grep -vxFf "${task/ /.}.env" "after ${task/ /.}.txt" | wc -l)" -eq 0 ]
  done
  sed -n 's/^TF_CONFIG=//p' "after master.0.txt" | python3 -c '
import json, sys
cluster = json.load(sys.stdin)["cluster"]
assert {t: len(l) for t, l in cluster.items()} == {"master": 1, "worker": 2, "ps": 1}
peers = [p.split(":") for l in cluster.values() for p in l]
assert all(host == "127.0.0.1" for host, _ in peers)
assert len({port for _, port in peers}) == 4'
  refute grep -q ^RANK= "after ps.0.txt"
  run jobrun env --task worker --index 2 a.yaml
  [ "$status" -eq 64 ]
}

@test "TF_CONFIG and TPU_CONFIG of a TPU job are those of the service" {
  cat >a.yaml <<'EOF'
jobId: mnist
trainingInput:
  scaleTier: CUSTOM
  masterType: n1-highcpu-16
  workerType: cloud_tpu
  workerCount: 1
  region: us-central1
  masterConfig:
    imageUri: gcr.io/ml-3d-segmentation/mnist_pytorch_custom_container:mnist_pytorch_tpu
  workerConfig:
    acceleratorConfig: {type: TPU_V3, count: 8}
    tpuTfVersion: "1.15"
jobrun:
  command: [env]
EOF
  jobrun env --format json a.yaml >env.json
  python3 - <<'EOF'
import json
env = json.load(open("env.json"))
config = json.loads(env["TF_CONFIG"])
assert list(config) == ["cluster", "environment", "task", "job"]
# 2222 as there, or the next that is free.
assert list(config["cluster"]) == ["master"]
assert config["cluster"]["master"][0].startswith("127.0.0.1:2")
assert config["environment"] == "cloud"
assert config["task"] == {"type": "master", "index": 0}
# To the byte what a job on the service printed.
assert config["job"] == '''{
 "scale_tier": "CUSTOM",
 "master_type": "n1-highcpu-16",
 "worker_type": "cloud_tpu",
 "worker_count": "1",
 "region": "us-central1",
 "master_config": {
  "image_uri": "gcr.io/ml-3d-segmentation/mnist_pytorch_custom_container:mnist_pytorch_tpu"
 },
 "worker_config": {
  "accelerator_config": {
   "count": "8",
   "type": "TPU_V3"
  },
  "tpu_tf_version": "1.15"
 }
}'''
tpu = json.loads(env["TPU_CONFIG"])
assert list(tpu) == ["project", "zone", "tpu_node_name"]
assert tpu["zone"] == "us-central1-b"
assert env["PJRT_DEVICE"] == "CPU" and env["CPU_NUM_DEVICES"] == "8"
assert env["CLOUD_ML_JOB_ID"] == "mnist"
EOF
}

@test "a shell reads env --format shell back" {
  job a.yaml a 'true'
  echo "  env: {Q: \"it's \\\"quoted\\\" \$HOME\"}" >>a.yaml
  eval "$(jobrun env --format shell a.yaml)"
  [ "$Q" = "it's \"quoted\" \$HOME" ]
}
