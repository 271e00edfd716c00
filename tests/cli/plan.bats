load helper

@test "plan in JSON has the form that scripts rely on" {
  job a.yaml a 'echo hi' "$WORKERS"
  jobrun plan --format json a.yaml >plan.json
  python3 - <<'EOF'
import json
plan = json.load(open("plan.json"))
assert plan["formatVersion"] == 1
job, = plan["jobs"]
assert job["jobId"] == "a" and job["provider"] == "local"
assert len(job["digest"]) == 64
action, = job["actions"]
assert action["action"] == "run" and action["kind"] == "run"
assert action["dependsOn"] == []
assert {c["path"]: c["after"] for c in action["changes"]}["command"] == ["sh", "-c", "echo hi"]
assert plan["summary"]["run"] == 1 and sum(plan["summary"].values()) == 1
EOF
}

@test "two plans of one state are equal to the byte, wherever they are made" {
  mkdir -p one/src two/src
  for d in one two; do
    job $d/a.yaml a 'echo hi'
    echo '  source: src' >>$d/a.yaml
    echo 'print(1)' >$d/src/a.py
  done
  (cd one && jobrun plan --format json a.yaml) >1.json
  (cd two && jobrun plan --format json a.yaml) >2.json
  cmp 1.json 2.json
  echo 'print(2)' >two/src/a.py
  (cd two && jobrun plan --format json a.yaml) >2.json
  refute cmp 1.json 2.json
}

@test "plan changes nothing" {
  job a.yaml a 'echo hi'
  jobrun plan a.yaml
  run jobrun status
  [ "$output" = "no runs yet" ]
}

@test "the configuration files of the documents are read and planned" {
  local file
  for file in "$BATS_TEST_DIRNAME"/seeds/*.yaml; do
    run jobrun plan "$file"
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *"Plan: 1 to run."* ]]
    run jobrun plan --format json "$file"
    [ "$status" -eq 0 ]
  done
}

@test "a plan names the files of the source that changed, and only those" {
  local i
  mkdir -p src/pkg
  for i in 1 2 3 4 5 6 7 8; do echo "$i" >src/pkg/$i.py; done
  job a.yaml a true
  echo '  source: src' >>a.yaml
  run jobrun plan a.yaml
  [[ $output != *source.files* ]]
  jobrun apply a.yaml
  echo more >>src/pkg/2.py
  chmod +x src/pkg/3.py
  rm src/pkg/1.py
  touch src/pkg/4.py src/pkg/new.py
  run jobrun plan a.yaml
  echo "$output"
  [[ $output == *"source.files     pkg/1.py removed, pkg/2.py modified, pkg/3.py modified, pkg/new.py added"* ]]
  echo more | tee -a src/pkg/4.py src/pkg/5.py >>src/pkg/6.py
  run jobrun plan a.yaml
  [[ $output == *"pkg/3.py modified, pkg/4.py modified, pkg/5.py modified and 2 more"* ]]
  run jobrun plan --format markdown a.yaml
  [[ $output == *"source.files: pkg/1.py removed"*", pkg/new.py added"* ]]
  jobrun plan --format json a.yaml >plan.json
  python3 - <<'END'
import json
action, = json.load(open("plan.json"))["jobs"][0]["actions"]
assert action["files"][0] == {"path": "pkg/1.py", "change": "removed"}
assert len(action["files"]) == 7
assert {c["path"] for c in action["changes"]} == {"source.contents", "source.sha256"} or \
       {c["path"] for c in action["changes"]} == {"source.sha256"}
END
}

@test "a source of very many files is known by its digest alone" {
  mkdir src
  (cd src && seq 1 2001 | xargs touch)
  job a.yaml a true
  echo '  source: src' >>a.yaml
  jobrun apply a.yaml
  rm src/1
  run jobrun plan a.yaml
  [[ $output == *source.sha256* ]]
  [[ $output != *source.files* ]]
}

@test "markdown starts with the summary" {
  job a.yaml a 'echo hi'
  run jobrun plan --format markdown a.yaml
  [ "$status" -eq 0 ]
  [ "${lines[0]}" = '**jobrun plan:** 1 to run' ]
  [[ $output == *'<details><summary><code>a</code></summary>'* ]]
}

@test "plans of one state are equal whatever the locale, umask, time zone and order of files" {
  local i
  mkdir one two
  # Made in another order, they are found in another order.
  for i in 1 2 3 4 5 6 7 8 9; do job one/$i.yaml a$i true; done
  for i in 9 3 5 1 8 7 2 6 4; do job two/$i.yaml a$i true; done
  (cd one && jobrun plan --format json . && jobrun plan --format markdown . && jobrun plan --out ../1.plan .) >1.txt
  (umask 077; cd two
   export LC_ALL=tr_TR.UTF-8 TZ=Asia/Kathmandu COLUMNS=200
   jobrun plan --format json . && jobrun plan --format markdown . && jobrun plan --out ../2.plan .) >2.txt
  cmp 1.txt 2.txt
  cmp 1.plan 2.plan
}

@test "the comment on a change of 1,000 jobs fits, starts with its sum, and says what was cut" {
  mkdir jobs
  python3 - <<'END'
for i in range(1000):
    open("jobs/%04d.yaml" % i, "w").write("""\
jobId: job_with_a_name_%04d
trainingInput:
  scaleTier: CUSTOM
  masterType: n1-standard-4
  args: [--epochs, "%d", --data, "gs://bucket/a/long/path/%04d"]
  scheduling: {maxRunningTime: 3600s}
jobrun: {provider: fake, command: [python3, train.py]}
""" % (i, i, i))
END
  jobrun plan --format markdown jobs >comment.md
  [ "$(wc -m <comment.md)" -lt 60000 ]
  [ "$(wc -c <comment.md)" -gt 40000 ]
  [ "$(head -n 1 comment.md)" = '**jobrun plan:** 1000 to run' ]
  grep -q '^The runs use 1000 machines, 4000 cores, at most 1000.0 machine hours.$' comment.md
  [[ $(tail -n 1 comment.md) == "_Cut to fit into a comment; omitted: "*" of the jobs, 1000 entries with the details of a job. "* ]]
}

@test "a plan shows every field of the file, in every format, and a newline as one" {
  cat >q.yaml <<'END'
jobId: q
trainingInput: {scaleTier: CUSTOM, masterType: n1-standard-4}
jobrun:
  hosts: [h1]
  command: [sh, -c, "a\nb", 'a\nb', "$'a'"]
  docker: {image: x, runFlags: [--privileged, -v, "/:/host"]}
  secrets: {T: {env: HF}, U: {file: u}}
  data: {train: {urls: ["gs://b/{0..9}.tar"]}}
  restart: {maxRestarts: 3, rules: [{exitCodes: ["2"], action: fail}]}
  cleanup: never
  hostLease: 2d
  logs: {to: /logs, every: 5s}
  env: {A: "x\ny", B: 'x\ny', C: '"q"'}
  slurm: {loginHost: h2, export: [NONE]}
  kubernetes: {namespace: other, context: c, volumes: {h: {path: /host, hostPath: /}}}
END
  local format
  for format in text markdown json; do
    jobrun plan --format $format q.yaml >out
    cat out
    for field in docker.runFlags secrets.T.env secrets.U.file data.train.urls 'restart.rules[0].exitCodes' \
      restart.maxRestarts cleanup hostLease logs.every slurm.loginHost kubernetes.namespace \
      kubernetes.context kubernetes.volumes.h.hostPath; do
      grep -qF "jobrun.$field" out || { echo "$format: $field"; return 1; }
    done
  done
  jobrun plan q.yaml >out
  grep -qF "command       sh -c \$'a\\nb' 'a\\nb' '\$'\\''a'\\'''" out
  grep -qF "env.A         \$'x\\ny'" out
  grep -qF 'env.B         x\ny' out
  grep -qF 'env.C         "\"q\""' out
  grep -qF 'jobrun.docker.runFlags                --privileged -v /:/host' out
  refute grep -qF jobrun.command out
  refute grep -qF jobrun.env out
  jobrun plan --out p.json q.yaml
  sed -i 's/"jobrun.cleanup":"never"/"jobrun.cleanup":"always"/; s/"jobrun.cleanup": "never"/"jobrun.cleanup": "always"/' p.json
  run jobrun apply --yes p.json
  echo "$output"
  [ "$status" -eq 75 ]
  [[ $output == *"job 'q': its file's settings have changed"* ]]
}

@test "offline, a TPU's plan has the project and the zone of its file" {
  cat >a.yaml <<'YAML'
jobId: t
trainingInput:
  scaleTier: CUSTOM
  masterType: n1-standard-8
  workerType: cloud_tpu
  workerCount: 1
  workerConfig: {acceleratorConfig: {type: TPU_V3, count: 8}}
jobrun:
  provider: tpu-vm
  project: proj-123
  zone: us-central1-a
  command: [python3, train.py]
YAML
  jobrun plan --offline --provider tpu-vm a.yaml >plan
  grep -q '^ *project  *proj-123$' plan
  grep -q '^ *zone  *us-central1-a$' plan
  jobrun plan --offline --format json a.yaml |
    grep -q '/projects/proj-123/locations/us-central1-a/nodes?nodeId=t"'
  sed -i 's/provider: tpu-vm/provider: tpu-node\n  tpu-node: {runtimeVersion: pytorch-1.13}/' a.yaml
  jobrun plan --offline a.yaml >plan
  [ "$(grep -c '^ *project  *proj-123$' plan)" -ge 2 ]
  refute grep '""' plan
  jobrun plan --offline --format json a.yaml >plan.json
  grep -q '"projects/proj-123/global/instanceTemplates/t"' plan.json
  # Without a project in the file nobody has looked for one.
  sed -i '/project:/d' a.yaml
  jobrun plan --offline --format json a.yaml | grep -q '/projects/-/locations/us-central1-a/'
}
