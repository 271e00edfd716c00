# How far a job file reaches that nobody has reviewed.
load helper
bats_require_minimum_version 1.5.0
eval "$(declare -f setup | sed '1s/setup/setup_of_all/')"

# A repository with jobs/, and beside it what is none of its business.
setup() {
  setup_of_all
  export HOME=$TMP/home
  unset KUBECONFIG
  mkdir -p home out repo/.git repo/jobs
  echo "the-secret-line: hunter2" >out/secret.yaml
  cd repo
}

# write FILE JOBRUN-BLOCK: a job of the provider that this says.
write() {
  printf 'jobId: a\ntrainingInput: {scaleTier: BASIC}\njobrun: {command: [/bin/true], %s}\n' "$2" >"$1"
}

# A server that has nothing: nobody waits for it, as for one that is not there.
serve_nothing() {
  mkdir -p "$TMP/nothing"
  python3 -um http.server --bind 127.0.0.1 -d "$TMP/nothing" 0 >"$TMP/http" 2>&1 3>&- &
  SERVING=$!
  wait_until 30 grep -q ' port ' "$TMP/http"
  SERVER=http://127.0.0.1:$(sed -n 's/.* port \([0-9]*\).*/\1/p' "$TMP/http")
}

eval "$(declare -f teardown | sed '1s/teardown/teardown_of_all/')"
teardown() {
  [ -z "${SERVING:-}" ] || kill "$SERVING"
  teardown_of_all
}

kubeconfig() { # USER, CLUSTER: more of each
  printf 'apiVersion: v1\nkind: Config\ncurrent-context: c
clusters: [{name: c, cluster: {server: "%s"%s}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
users: [{name: u, user: {%s}}]\n' "${SERVER:-https://127.0.0.1:1}" "${2:+, $2}" "$1"
}

in_cluster() { # KUBECONFIG
  printf 'jobId: k\ntrainingInput: {scaleTier: BASIC, masterConfig: {imageUri: busybox}}
jobrun: {provider: kubernetes, kubernetes: {kubeconfig: %s}, command: [/bin/true]}\n' "$1"
}

plugin() {
  echo "exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: /bin/sh, args: [-c, 'touch $TMP/ran']}"
}

@test "a kubeconfig of the repository runs no program, at plan and at apply" {
  kubeconfig "$(plugin)" >kc.yaml
  in_cluster ../kc.yaml >jobs/k.yaml
  run jobrun plan jobs
  [ "$status" -eq 0 ]
  [[ $output == *"not looked at: the cluster of the kubeconfig '../kc.yaml'"* ]]
  run -65 jobrun plan --allow-connect jobs
  [[ $output == *"user 'u' of the kubeconfig has 'exec', which one that is in the repository may not"* ]]
  run -65 jobrun apply --yes jobs
  [ ! -e "$TMP/ran" ]
}

@test "a kubeconfig of the repository sends no file, uses no proxy and no file elsewhere" {
  local part
  in_cluster ../kc.yaml >jobs/k.yaml
  for part in "tokenFile: $TMP/out/secret.yaml" "auth-provider: {name: gcp}" \
    "client-key: ../out/secret.yaml, client-certificate-data: eA==" \
    "client-certificate: $TMP/out/secret.yaml"; do
    kubeconfig "$part" >kc.yaml
    run -65 jobrun plan --allow-connect jobs
    echo "$part: $output"
    [[ $output == *"user 'u' of the kubeconfig "* ]]
  done
  kubeconfig "token: x" "proxy-url: 'http://127.0.0.1:1'" >kc.yaml
  run -65 jobrun plan --allow-connect jobs
  [[ $output == *"cluster 'c' of the kubeconfig has 'proxy-url'"* ]]
}

@test "the user's own kubeconfig runs its plugin, also when the file names it" {
  mkdir -p "$HOME/.kube"
  kubeconfig "$(plugin)" >"$HOME/.kube/config"
  in_cluster "$HOME/.kube/config" >jobs/k.yaml
  run jobrun plan jobs
  [ -e "$TMP/ran" ]
}

@test "extends never leads out, by dots, links or a path from the root" {
  local path
  ln -s "$TMP/out/secret.yaml" jobs/link.yaml
  ln -s "$TMP/out" more
  echo 'jobId: x' >.git/x.yaml
  for path in ../../out/secret.yaml "$TMP/out/secret.yaml" link.yaml \
    ../more/secret.yaml ../.git/x.yaml /proc/self/environ /etc/passwd; do
    write jobs/a.yaml "extends: $path"
    run -65 jobrun validate jobs/a.yaml
    echo "$output"
    [[ $output == *"error: \"extends\" \"$path\" leads out of the repository"* ]]
    [[ $output != *the-secret* ]] && [[ $output != *root:* ]]
  done
  echo 'jobrun: {env: {A: b}}' >common.yaml
  write jobs/a.yaml 'extends: ../common.yaml'
  jobrun validate jobs/a.yaml
  JOBRUN_ALLOW_OUTSIDE=$TMP/out
  export JOBRUN_ALLOW_OUTSIDE
  echo 'jobrun: {env: {A: b}}' >"$TMP/out/common.yaml"
  write jobs/a.yaml 'extends: ../../out/common.yaml'
  jobrun validate jobs/a.yaml
}

@test "without a repository a file's own folder is the root; a home directory is none" {
  rmdir .git
  echo 'jobrun: {env: {A: b}}' >common.yaml
  write jobs/a.yaml 'extends: ../common.yaml'
  run -65 jobrun validate jobs/a.yaml
  [[ $output == *'leads out of the folder of the file'* ]]
  mkdir .git
  HOME=$PWD run -65 jobrun validate jobs/a.yaml
  jobrun validate jobs/a.yaml
}

@test "what is read and written outside is told by a plan, and refused where CI is set" {
  mkdir "$TMP/out/src"
  printf x >"$TMP/out/p.tar.gz"
  cat >jobs/a.yaml <<END
jobId: a
trainingInput: {packageUris: [../../out/p.tar.gz]}
jobrun:
  command: [/bin/true]
  source: ../../out/src
  secrets: {HF_TOKEN: {file: $HOME/hf}}
  data: {train: {urls: ["$TMP/out/{0..9}.tar", "../d/{a,../../..}/x"]}}
  checkpoints: {to: ../../kept}
  logs: {to: /nowhere/logs}
END
  run jobrun plan jobs
  [ "$status" -eq 0 ]
  echo "$output"
  [[ $output == *"note: reads outside the repository: $TMP/out/src"* ]]
  [[ $output == *"note: reads outside the repository: $TMP/out/p.tar.gz"* ]]
  [[ $output == *"note: reads outside the repository: $TMP/out/{0..9}.tar"* ]]
  [[ $output == *"note: HF_TOKEN from ~/hf"* ]]
  [[ $output == *"note: writes outside the repository: /nowhere/logs"* ]]
  CI=true run -65 jobrun plan jobs
  [ "$(grep -c 'leads out of the repository \[outside\]' <<<"$output")" -eq 7 ]
  run -65 jobrun validate --untrusted jobs
  [[ $output == *'5:11: error: "source" "../../out/src" leads out of the repository [outside]'* ]]
  [[ $output == *'--allow-outside DIR'* ]]
  CI=true run jobrun validate --allow-outside / jobs
  [ "$status" -eq 0 ]
  CI=false run jobrun validate jobs
  [ "$status" -eq 0 ]
}

@test "an option may lead anywhere: it is the operator's" {
  mkdir "$TMP/out/src"
  write jobs/a.yaml 'env: {A: b}'
  CI=1 run jobrun plan --set "jobrun.source=$TMP/out/src" jobs
  [ "$status" -eq 0 ]
}

@test "a file that is a link is not read where CI is set, if that leads out" {
  ln -s "$TMP/out/secret.yaml" jobs/b.yaml
  CI=1 run -65 jobrun validate jobs/b.yaml
  [[ $output == *'it is a link that leads out of the repository'* ]]
  [[ $output != *the-secret* ]]
}

@test "a login host is contacted by a plan only if that is allowed" {
  write jobs/s.yaml 'provider: slurm, slurm: {loginHost: "u@127.0.0.1:1"}'
  run jobrun plan jobs
  [ "$status" -eq 0 ]
  [[ $output == *"note: not looked at: the login host 'u@127.0.0.1:1', which only the file names (--allow-connect)"* ]]
  run jobrun plan --format json jobs
  [[ $output == *'"notLookedAt":true'* || $output == *'"notLookedAt": true'* ]]
  run -69 jobrun plan --allow-connect jobs
  run -77 jobrun apply jobs
  [[ $output == *"pass --yes or --allow-connect"* ]]
  run -69 jobrun apply --yes jobs
}

@test "a FIFO is waited for nowhere" {
  local where
  mkfifo fifo.yaml
  run -65 timeout 10 "$JOBRUN" validate fifo.yaml
  [[ $output == *"'fifo.yaml' is a pipe, not a file"* ]]
  in_cluster ../fifo.yaml >jobs/k.yaml
  run timeout 10 "$JOBRUN" plan --allow-connect jobs
  [ "$status" -ne 124 ]
  rm jobs/k.yaml
  for where in 'extends: ../fifo.yaml' 'source: ../fifo.yaml' \
    'data: {t: {urls: [a], index: ../fifo.yaml}}'; do
    write jobs/a.yaml "$where"
    run timeout 10 "$JOBRUN" plan jobs
    echo "$where: $status $output"
    [ "$status" -ne 124 ]
  done
  write jobs/a.yaml 'env: {A: b}'
  mkfifo .git/config
  timeout 10 "$JOBRUN" plan jobs
  run timeout 10 "$JOBRUN" plan --prices fifo.yaml jobs
  [[ $output == *"is a pipe, not a file"* ]]
  timeout 10 "$JOBRUN" validate <(cat jobs/a.yaml)
}

@test "what is not part of a job is neither merged nor quoted" {
  local file
  printf 'DB_PASSWORD: hunter2\nAWS_KEY: [hunter2\n' >env.yaml
  printf 'user:hunter2:0\nnot: a: job: hunter2\n' >passwd
  printf '{"type": "service_account", "private_key": "hunter2"}\n' >key.json
  printf 'PASSWORD=hunter2\n\ttoken hunter2\n' >dotenv
  for file in env.yaml passwd key.json dotenv; do
    write jobs/a.yaml "extends: ../$file"
    run -65 jobrun validate jobs/a.yaml
    echo "$output"
    [[ $output == *"\"extends\" \"../$file\" is not part of a job"* ]]
    [[ $output != *hunter2* ]]
    for format in text json sarif github; do
      run -65 jobrun validate --format "$format" "$file"
      echo "$output"
      [[ $output != *hunter2* ]]
    done
  done
  ln -s ../passwd jobs/.jobrun-applyset
  rm jobs/a.yaml
  write jobs/b.yaml "env: {A: b}"
  run jobrun plan jobs
  [[ $output != *hunter2* ]]
}

@test "a misspelt job is quoted all the same" {
  printf 'traininginput: {scaleTier: BASIC}\n' >jobs/a.yaml
  run -65 jobrun validate jobs/a.yaml
  [[ $output == *'1 | traininginput'* ]]
  printf '{"jobId": "a", "trainingInput": {"scaleTeir": 1}}\n' >jobs/a.yaml
  run -65 jobrun validate jobs/a.yaml
  [[ $output == *'1 | {"jobId"'* ]]
}

@test "an exec plugin of the user ends in time, though it closes its output" {
  mkdir -p "$HOME/.kube"
  kubeconfig "exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: /bin/sh, args: [-c, 'exec >&-; sleep $NAP']}" >"$HOME/.kube/config"
  printf 'jobId: k\ntrainingInput: {scaleTier: BASIC, masterConfig: {imageUri: busybox}}
jobrun: {provider: kubernetes, command: [/bin/true]}\n' >jobs/k.yaml
  JOBRUN_EXEC_TIMEOUT=1 run -77 timeout 30 "$JOBRUN" plan jobs
  [[ $output == *"the exec plugin '/bin/sh' took more than 1 s"* ]]
  ! pgrep -f "^sleep $NAP"
}

@test "counts are bounded before anything is generated" {
  local i
  trials() {
    printf 'jobId: %s\ntrainingInput:\n  scaleTier: BASIC\n  masterConfig: {imageUri: busybox}
  hyperparameters: {goal: MAXIMIZE, hyperparameterMetricTag: m, maxTrials: %s, algorithm: RANDOM_SEARCH, params: [{parameterName: x, type: DOUBLE, minValue: 0, maxValue: 1}]}
jobrun: {provider: kubernetes, command: [/bin/true], kubernetes: {launcher: l}}\n' "$1" "$2"
  }
  trials t 400000 >jobs/t.yaml
  run -65 timeout 10 "$JOBRUN" plan jobs
  [[ $output == *'"maxTrials" must be'*10000* ]]
  for i in {1..21}; do trials "t$i" 10000 >"jobs/t$i.yaml"; done
  rm jobs/t.yaml
  run -65 timeout 10 "$JOBRUN" plan jobs
  [[ $output == *'the jobs up to here have more than 200000 trials together [too-many]'* ]]
  rm jobs/*
  printf 'jobId: b\ntrainingInput: {scaleTier: BASIC}\njobrun: {command: [/bin/true], data: {' >jobs/b.yaml
  for i in {1..300}; do printf 'd%s: {urls: ["gs://b/{000000..999998}.tar"]}, ' "$i"; done >>jobs/b.yaml
  printf 'x: {urls: [gs://b/x]}}}\n' >>jobs/b.yaml
  run -65 timeout 10 "$JOBRUN" plan jobs
  [[ $output == *'[too-many]'* ]]
}

@test "sshUser is a user's name, and no line of metadata" {
  printf 'jobId: t\ntrainingInput: {}\njobrun: {provider: tpu-vm, tpu-vm: {sshUser: "root:x\\nevil"}}\n' >jobs/t.yaml
  run -65 jobrun validate jobs
  [[ $output == *'must be the name of a user'* ]]
}

@test "checkpoints and a cache here lead nowhere else where CI is set" {
  mkdir jobs/src
  write jobs/a.yaml 'source: src, data: {t: {urls: [a], cache: /nowhere/c}}, checkpoints: {directory: ../../../ck}'
  CI=1 run -65 jobrun validate jobs
  [[ $output == *'"cache" "/nowhere/c" leads out of the repository'* ]]
  [[ $output == *'"directory" "src/../../../ck" leads out of the repository'* ]]
  CI= run jobrun plan jobs
  [ "$status" -eq 0 ]
  [[ $output == *"note: writes outside the repository: /nowhere/c"* ]]
}

@test "an index that is none is not quoted, and a source that is not there is the file's mistake" {
  echo 'hunter2:x:0' >idx
  write jobs/a.yaml 'data: {t: {urls: [a], index: ../idx}}'
  run jobrun plan jobs
  [[ $output == *"is not an index of shards: it is not JSON"* ]]
  [[ $output != *hunter2* ]]
  write jobs/a.yaml 'source: gone'
  run -65 jobrun plan jobs
  [[ $output == *"jobrun.source: cannot read 'jobs/gone': No such file or directory"* ]]
}

@test "a list beside jobs is refused in a directory, too" {
  printf 'jobId: a\ntrainingInput: {}\n---\n- x\n' >jobs/a.yaml
  run -65 jobrun validate jobs
  [[ $output == *"jobs/a.yaml:4:1: error: a job is a map of keys, but this document of a file with jobs is not"* ]]
  printf -- '- hosts: all\n' >jobs/a.yaml
  printf 'jobId: a\ntrainingInput: {}\n' >jobs/b.yaml
  jobrun validate jobs
}

@test "a link that is swapped while it is read leads nowhere" {
  mkdir jobs/src out2
  echo S >"$TMP/out/f"
  echo p >p.tar.gz
  printf 'jobId: a\ntrainingInput: {packageUris: [../l/p.tar.gz]}\njobrun: {command: [/bin/true]}\n' >jobs/a.yaml
  cp p.tar.gz out2/p.tar.gz
  echo hunter2 >"$TMP/out/p.tar.gz"
  ln -s out2 l
  local outside
  outside=$(sha256sum <"$TMP/out/p.tar.gz")
  (while [ ! -e "$TMP/stop" ]; do
    ln -sfn "$TMP/out" l
    ln -sfn out2 l
  done) &
  local swapper=$! i
  for i in {1..40}; do
    CI=1 jobrun plan --format json jobs >>plans 2>/dev/null || true
  done
  touch "$TMP/stop"
  wait $swapper
  ln -sfn out2 l
  CI=1 jobrun plan --format json jobs >one
  # Every plan that was made is of the file within.
  [ "$(grep -o '"digest2": *"[0-9a-f]*"' plans | sort -u | wc -l)" -le 1 ]
  grep -q . one
}

# straight NAME COMMAND...: whenever a file of that name is opened, it is from
# its folder and through no link, so that none can be swapped in.
straight() {
  local name=$1
  shift
  rm -f trace
  strace -f -qq -s 4096 -o trace -e trace=open,openat,openat2 "$@" >said 2>&1 || true
  grep "/$name\"\|\"$name\"" trace | grep -v ENOENT >opened || true
  cat opened
  grep -q O_NOFOLLOW opened
  ! grep -v "openat([0-9]*, \"$name\", [A-Z_|]*O_NOFOLLOW" opened
}

@test "what a job names is opened from the root on, through no link" {
  command -v strace >/dev/null || skip "needs strace"
  strace -o trace true 2>/dev/null || skip "strace may not trace here"
  echo 'jobrun: {env: {A: b}}' >base.yaml
  echo p >p.tar.gz
  mkdir lib src
  echo x >src/train.py
  echo '*.log' >ignored
  ln -s ../ignored src/.jobrunignore
  write jobs/a.yaml 'extends: ../base.yaml'
  straight base.yaml "$JOBRUN" validate jobs
  printf 'jobId: a\ntrainingInput: {packageUris: [../p.tar.gz]}\njobrun: {command: [/bin/true], source: ../src}\n' >jobs/a.yaml
  straight p.tar.gz "$JOBRUN" plan jobs
  straight ignored "$JOBRUN" plan jobs
  rm jobs/a.yaml
  echo x >ca.crt
  serve_nothing
  kubeconfig "token: x" "certificate-authority: ca.crt" >kc.yaml
  in_cluster ../kc.yaml >jobs/k.yaml
  straight kc.yaml "$JOBRUN" plan --allow-connect jobs
  straight ca.crt "$JOBRUN" plan --allow-connect jobs
}

@test "a source is packed from the root on, through no link" {
  command -v strace >/dev/null || skip "needs strace"
  strace -o trace true 2>/dev/null || skip "strace may not trace here"
  mkdir -p src/pkg
  touch src/pkg/__init__.py
  echo x >src/pkg/train.py
  printf 'jobId: a
trainingInput: {region: us-central1, scaleTier: BASIC, runtimeVersion: "2.11", pythonModule: pkg.train}
jobrun: {provider: ai-platform, project: p-1, staging: gs://b/x, source: ../src}\n' >jobs/a.yaml
  straight train.py "$JOBRUN" plan --offline jobs
  grep -q "gs://b/x/.*tar.gz" said
  straight train.py "$JOBRUN" package src
}

@test "a package is packed with its project only if that is below the root" {
  rmdir .git
  touch jobs/__init__.py setup.py
  echo hunter2 >outside.py
  echo x >jobs/train.py
  printf 'jobId: a
trainingInput: {region: us-central1, scaleTier: BASIC, runtimeVersion: "2.11", pythonModule: jobs.train}
jobrun: {provider: ai-platform, project: p-1, staging: gs://b/x, source: .}\n' >jobs/a.yaml
  local alone whole
  jobrun plan --offline jobs >said 2>&1 || true
  alone=$(grep -o 'jobs-[0-9a-f]*[.]tar[.]gz' said | sort -u)
  mkdir .git
  jobrun plan --offline jobs >said 2>&1 || true
  whole=$(grep -o 'jobs-[0-9a-f]*[.]tar[.]gz' said | sort -u)
  echo "$alone $whole"
  [ -n "$alone" ] && [ -n "$whole" ] && [ "$alone" != "$whole" ]
}

@test "an ignore file that is a link is followed within the repository only" {
  mkdir jobs/src
  printf '*.log\n' >ignored
  echo x | tee jobs/src/train.py >jobs/src/a.log
  write jobs/a.yaml 'source: src'
  ln -s ../../ignored jobs/src/.jobrunignore
  run jobrun plan jobs
  [ "$status" -eq 0 ]
  [[ $output == *"1 by .jobrunignore"* ]]
  ln -sfn "$TMP/out/secret.yaml" jobs/src/.jobrunignore
  run -65 jobrun plan jobs
  echo "$output"
  [[ $output == *".jobrunignore' leads out of '$(realpath .)'"* ]]
  if command -v strace >/dev/null && strace -o trace true 2>/dev/null; then
    strace -f -o trace -e trace=open,openat,openat2 "$JOBRUN" plan jobs || true
    run ! grep secret.yaml trace
    grep '\.jobrunignore' trace >opened || true
    run ! grep -v 'O_NOFOLLOW\|ENOENT' opened
  fi
}

@test "the home directory is understood wherever a file is named" {
  mkdir "$HOME/src" "$HOME/.kube"
  echo x >"$HOME/src/train.py"
  echo 'jobrun: {env: {FROM_HOME: b}}' >"$HOME/base.yaml"
  echo hush >"$HOME/hf"
  echo p >"$HOME/p.tar.gz"
  write jobs/a.yaml 'extends: "~/base.yaml"'
  run -65 jobrun validate jobs
  [[ $output == *'"extends" "~/base.yaml" leads out of the repository'* ]]
  jobrun validate --allow-outside "$HOME" jobs
  printf 'jobId: a\ntrainingInput: {packageUris: ["~/p.tar.gz"]}
jobrun: {command: [sh, -c, "test $HF = hush && cat train.py"], source: "~/src", secrets: {HF: {file: "~/hf"}}}\n' >jobs/a.yaml
  CI=1 run -65 jobrun validate jobs
  [ "$(grep -c 'leads out of the repository \[outside\]' <<<"$output")" -eq 3 ]
  run jobrun plan jobs
  [ "$status" -eq 0 ]
  [[ $output == *"note: HF from ~/hf"* ]]
  [[ $output == *"note: reads outside the repository: ~/src"* ]]
  [[ $output == *"note: reads outside the repository: ~/p.tar.gz"* ]]
  run jobrun apply --yes jobs
  [ "$status" -eq 0 ]
  rm jobs/a.yaml
  kubeconfig "$(plugin)" >"$HOME/.kube/config"
  in_cluster '"~/.kube/config"' >jobs/k.yaml
  run jobrun plan jobs
  [ -e "$TMP/ran" ]
}
