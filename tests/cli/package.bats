# Source packages: what is in them, and that they never depend on where, when
# or by whom they were made.
bats_require_minimum_version 1.5.0
load helper

# make_package FOLDER: a package with one of its own below it.
make_package() {
  mkdir -p "$1/vision"
  touch "$1/__init__.py" "$1/vision/__init__.py"
  echo 'print("hello from", __name__)' >"$1/vision/main.py"
  echo 'rate: 0.1' >"$1/vision/config.yaml"
}

# The files of an archive, without the folder at its top.
entries() {
  tar tf "$1" | sed 's,^[^/]*/,,' | sort
}

@test "a package gets a setup.py, and its path is what is printed" {
  make_package trainer
  run --separate-stderr jobrun package --module-name trainer.vision.main trainer
  [ "$status" -eq 0 ]
  [[ "$output" =~ ^dist/trainer-[0-9a-f]{12}\.tar\.gz$ ]]
  [[ "$stderr" == "jobrun: 5 files of "*"with a setup.py made for them" ]]
  [ "$(entries "$output")" = "setup.py
trainer/__init__.py
trainer/vision/__init__.py
trainer/vision/config.yaml
trainer/vision/main.py" ]
}

@test "setuptools builds it, with the data files in its packages" {
  python3 -c 'import setuptools' 2>/dev/null || skip "needs setuptools"
  make_package trainer
  tar xzf "$(jobrun package trainer)"
  cd trainer-*/
  python3 setup.py -q build
  cd build/lib
  [ -f trainer/vision/config.yaml ]
  [ "$(python3 -m trainer.vision.main)" = "hello from __main__" ]
}

@test "equal files give equal bytes, whenever, wherever, whoever packs them" {
  make_package a/trainer
  printf 'caf\xc3\xa9' >a/trainer/$'caf\xc3\xa9.txt'
  mkdir b
  cp -r a/trainer b/
  touch -d 2001-01-01 b/trainer/vision/main.py
  chmod 600 b/trainer/vision/config.yaml
  jobrun package -o out a/trainer
  (cd b && umask 0077 && LC_ALL=C TZ=Asia/Tokyo jobrun package trainer)
  cmp out/trainer-*.tar.gz b/dist/trainer-*.tar.gz
  # A change of one letter is another name.
  echo 'rate: 0.2' >b/trainer/vision/config.yaml
  (cd b && jobrun package trainer)
  [ "$(ls b/dist | wc -l)" -eq 2 ]
}

@test "an archive made before is no part of the next, wherever it was put" {
  local first
  make_package trainer
  touch trainer/setup.py
  first=$(jobrun package -o trainer/out trainer)
  [ "$(jobrun package -o trainer/out trainer)" = "$first" ]
  first=$(cd trainer && jobrun package -o . .)
  [ "$(cd trainer && jobrun package -o . .)" = "$first" ]
  first=$(cd trainer && jobrun package .)
  [ "$(cd trainer && jobrun package .)" = "$first" ]
}

@test "a package whose parent is a project is packed with it" {
  mkdir models
  make_package models/official
  echo 'from setuptools import *; setup(name="m", packages=find_packages())' \
    >models/setup.py
  mkdir models/.venv models/x.egg-info
  touch models/.venv/big models/x.egg-info/PKG-INFO
  run --separate-stderr jobrun package models/official
  [ "$status" -eq 0 ]
  refute grep -q "made for" <<<"$stderr"
  entries "$output" | grep -qx official/vision/main.py
  [ "$(entries "$output" | grep -c '^setup.py$')" -eq 1 ]
  refute grep -q 'venv\|egg-info' <<<"$(entries "$output")"
}

@test "modules that lie in a folder are named in its setup.py" {
  mkdir loose
  echo 'print("loose")' >loose/train.py
  tar xzf "$(jobrun package --module-name train loose)"
  grep -qxF '    py_modules=["train", ],' loose-*/setup.py
}

@test "a module that python3 -m would not find is an error" {
  make_package trainer
  run jobrun package --module-name trainer.task trainer
  [ "$status" -eq 65 ]
  [[ "$output" == *"module 'trainer.task' is not in '"*"/trainer': it has neither trainer/task.py nor trainer/task/__main__.py" ]]
  rm trainer/vision/__init__.py
  run jobrun package --module-name trainer.vision.main trainer
  [ "$status" -eq 65 ]
  [[ "$output" == *"'trainer/vision/__init__.py' is missing: without it setuptools skips the package" ]]
  [ ! -e dist ]
}

@test "what .jobrunignore lists stays at home" {
  make_package trainer
  echo secret >trainer/key.pem
  echo '*.pem' >trainer/.jobrunignore
  refute grep -q pem <<<"$(entries "$(jobrun package trainer)")"
}

@test "a folder without Python, and one that is not there, are errors" {
  mkdir empty
  run jobrun package empty
  [ "$status" -eq 65 ]
  [[ "$output" == *"holds no Python files" ]]
  run jobrun package nowhere
  [ "$status" -eq 1 ]
  [[ "$output" == *"cannot read 'nowhere': No such file or directory" ]]
}

@test "a disk that is full leaves no archive and nothing beside it" {
  make_package trainer
  head -c 3000000 /dev/urandom >trainer/data.bin
  run bash -c 'trap "" XFSZ; ulimit -f 1000; "$0" package trainer' "$JOBRUN"
  [ "$status" -eq 1 ]
  [ -z "$(ls -A dist)" ]
}

@test "json names the archive and its digest" {
  local path
  make_package trainer
  jobrun package --format json trainer >made.json
  path=$(sed -n 's/^  "path": "\(.*\)",$/\1/p' made.json)
  grep -qx "  \"sha256\": \"$(sha256sum "$path" | cut -d' ' -f1)\"," made.json
  grep -qx "  \"size\": $(stat -c %s "$path")," made.json
}

@test "a run on this machine finds the module of a package" {
  make_package trainer
  cat >job.yaml <<EOF
jobId: packaged
trainingInput:
  scaleTier: BASIC
  region: us-central1
  packageUris: [$(jobrun package trainer)]
  pythonModule: trainer.vision.main
EOF
  run jobrun apply job.yaml
  [ "$status" -eq 0 ]
  [[ "$output" == *"hello from __main__"* ]]
}
