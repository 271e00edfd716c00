# A job of Vertex AI, with its source.

mnist() {
  mkdir -p official
  echo 'print("mnist")' >official/mnist_main.py
  touch official/__init__.py
  cat >job.yaml <<'YAML'
jobId: Mnist_1
trainingInput:
  scaleTier: BASIC
  region: europe-west4
  runtimeVersion: "2.11"
  pythonVersion: "3.7"
  pythonModule: official.mnist_main
  args: [--epochs, "2"]
  scheduling: {priority: 5}
jobrun:
  provider: vertex-ai
  staging: gs://bucket-1/staging
  source: official
YAML
}
