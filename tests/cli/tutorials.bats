#!/usr/bin/env bats
# Every tutorial of docs/tutorials works as a reader would type it: its files are
# written, and its commands run, in order, in an empty folder and a new home.
# What needs a cloud stands in ```sh, and is not run.

load helper

PAGES=$BATS_TEST_DIRNAME/../../docs/tutorials

# Writes the page's files, whose names stand before their fences, and its
# commands as the script `typed`.
type_page() {
  python3 - "$1" <<'PY'
import os, re, sys

name = fence = None
typed, body = ["set -e -o pipefail"], []
for line in open(sys.argv[1], encoding="utf-8").read().splitlines():
    if fence is not None:
        if line != "```":
            body.append(line)
            continue
        if name and fence in ("yaml", "python", "bash"):
            os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
            with open(name, "w", encoding="utf-8") as file:
                file.write("\n".join(body) + "\n")
        fence, name, body = None, None, []
    elif line.startswith("```"):
        fence = line[3:]
    elif line.startswith("    "):
        typed.append(line.strip())
    elif line:
        found = re.findall(r"`([\w./-]+\.(?:ya?ml|py|sbatch))`", line)
        name = found[-1] if found and line.endswith(":") else None
with open("typed", "w", encoding="utf-8") as file:
    file.write("\n".join(typed) + "\n")
PY
}

type_it() { # PAGE
  mkdir bin work home
  ln -s "$JOBRUN" bin/jobrun
  cd work
  type_page "$PAGES/$1.md"
  cat typed
  PATH=$TMP/bin:$PATH HOME=$TMP/home GIT_CONFIG_GLOBAL=/dev/null \
    GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.org \
    GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@example.org \
    run bash -x typed
  echo "$output"
  [ "$status" = 0 ]
}

@test "every tutorial is tried by a test, and the index names it" {
  local page
  for page in "$PAGES"/*.md; do
    page=${page##*/}
    echo "$page"
    grep -q "type_it ${page%.md}\$" "$BATS_TEST_FILENAME"
    grep -q "(tutorials/$page)" "$PAGES/../README.md"
  done
}

@test "from an AI Platform config" {
  type_it ai-platform
  [[ $output == *"digits: SUCCEEDED"* ]]
  [[ $output == *"chief 0: epoch=3 loss=0.333"* ]]
  [[ $output == *"pythonPackageSpec.pythonModule  trainer.task"* ]]
}

@test "from SkyPilot, dstack and sbatch" {
  type_it other-tools
  [[ $output == *"from_sky: SUCCEEDED"* ]]
  [[ $output == *"a3-highgpu-8g"* ]]
  [[ $output == *"#SBATCH"*"--partition=gpu"* ]]
}

@test "GitOps in ten minutes" {
  type_it gitops
  [[ $output == *"Nothing to do."* ]]
  [[ $output == *"+   command: python3 -u train.py --epochs 5 --lr 0.2"* ]]
  [[ $output == *"hello.1 -> hello.2"* ]]
  [[ $output == *"1 to delete"* ]]
}

@test "a workstation with GPUs for four people" {
  type_it workstation
  [[ $output == *"two_gpus: SUCCEEDED"* ]]
  [[ $output == *"sweep_b"*"SUCCEEDED"* ]]
}

@test "a TPU slice" {
  type_it tpu-slice
  [[ $output == *"slice: SUCCEEDED"* ]]
  [[ $output == *"v5litepod-16"* ]]
  [[ $output == *"loss=0.5"* ]]
}
