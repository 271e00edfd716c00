# One job from several files, and from the command line.
load helper

# effective PATH...: the job's variables as JSON; they show what was merged
effective() {
  jobrun env --format json "$@"
}

setup_files() {
  mkdir -p jobs .git # what extends stays within
  cat >base.yaml <<'YAML'
trainingInput:
  scale_tier: CUSTOM
  masterType: n1-standard-4
jobrun:
  command: [sh, -c, 'echo base']
  env: {A: "1", B: "2"}
YAML
  cat >jobs/a.yaml <<'YAML'
jobId: a
trainingInput: {scaleTier: CUSTOM}
jobrun:
  extends: ../base.yaml
  env: {B: "3", C: "4"}
YAML
}

@test "a file is merged over the one that it extends" {
  setup_files
  jobrun validate jobs/a.yaml
  run effective jobs/a.yaml
  [[ $output == *'"A": "1"'* ]]
  [[ $output == *'"B": "3"'* ]]
  [[ $output == *'"C": "4"'* ]]
}

@test "chains, lists of files, null takes away" {
  setup_files
  printf 'jobrun: {env: {B: "9", D: "5"}}\n' >jobs/more.yaml
  printf 'jobId: b\njobrun: {extends: [a.yaml, more.yaml], env: {A: null}}\n' >jobs/b.yaml
  run effective jobs/b.yaml
  [[ $output != *'"A"'* ]]
  [[ $output == *'"B": "9"'* ]]
  [[ $output == *'"C": "4"'* ]]
  [[ $output == *'"D": "5"'* ]]
}

@test "problems point into the file that has them, once" {
  setup_files
  sed -i 's/masterType/masterTyp/' base.yaml
  cp jobs/a.yaml jobs/b.yaml
  sed -i 's/jobId: a/jobId: b/' jobs/b.yaml
  run jobrun validate jobs
  [ "$status" -eq 65 ]
  [ "$(grep -c 'error:' <<<"$output")" -eq 1 ]
  [[ $output == *'base.yaml:3:3: error: unknown key "masterTyp"'* ]]
  # Also where the file is named, and for a file that is no YAML.
  [[ $output == *"jobs/a.yaml:4:12:"*"  extends: ../base.yaml"*"extended here"* ]]
  printf 'trainingInput: {scaleTier: BASIC\n' >base.yaml
  run jobrun validate jobs
  [ "$status" -eq 65 ]
  [[ $output == *"base.yaml:1:16: error: "*"jobs/a.yaml:4:12:"*"extended here"* ]]
}

@test "a base in a directory is no job" {
  setup_files
  mv base.yaml jobs/
  sed -i 's,\.\./,,' jobs/a.yaml
  run jobrun plan --format json jobs
  [ "$status" -eq 0 ]
  [[ $output != *'"jobId": "base"'* ]]
  # What it lacks alone is no problem.
  sed -i '/masterType/d' jobs/base.yaml
  sed -i 's/scaleTier: CUSTOM/masterType: n1-standard-4/' jobs/a.yaml
  jobrun validate jobs
}

@test "circles, files that are not there, or hold too much" {
  printf 'jobrun: {extends: b.yaml}\n' >a.yaml
  printf 'jobrun: {extends: c.yaml}\n' >b.yaml
  printf 'jobrun: {extends: a.yaml}\n' >c.yaml
  run jobrun validate a.yaml
  [ "$status" -eq 65 ]
  [[ $output == *'c.yaml:1:19: error:'*'a.yaml:1:19'* ]]
  printf 'jobrun: {extends: a.yaml}\n' >a.yaml
  run jobrun validate a.yaml
  [[ $output == *'a.yaml:1:19: error:'*'is this file itself'* ]]
  printf 'jobrun: {extends: none.yaml}\n' >a.yaml
  run jobrun validate a.yaml
  [[ $output == *'a.yaml:1:19: error:'*"none.yaml': No such file"* ]]
  printf 'jobrun: {}\n---\njobrun: {}\n' >none.yaml
  run jobrun validate a.yaml
  [[ $output == *'several documents'* ]]
  printf -- '- jobrun: a\n' >none.yaml
  run jobrun validate a.yaml
  [[ $output == *'not hold a map'* ]]
  printf 'jobrun: {extends: {a: b}}\n' >a.yaml
  run jobrun validate a.yaml
  [ "$status" -eq 65 ]
  [[ $output == *'must be the path of a file'* ]]
}

@test "--set" {
  setup_files
  run effective --set jobrun.env.A=10 --set jobrun.env.X=yes \
    --set 'jobrun.env.Q="a b"' --set jobrun.env.B= jobs/a.yaml
  [ "$status" -eq 0 ]
  [[ $output == *'"A": "10"'* ]]
  [[ $output == *'"X": "yes"'* ]]
  [[ $output == *'"Q": "a b"'* ]]
  [[ $output != *'"B"'* ]]
  # In the other spelling, in a list, behind its end.
  jobrun validate --set trainingInput.scale_tier=BASIC --set trainingInput.masterType= \
    --set 'trainingInput.args[0]=--x' --set 'trainingInput.args[1]=--y' \
    jobs/a.yaml
  run effective --set-json 'jobrun.env={"Z": "1"}' jobs/a.yaml
  [[ $output == *'"Z": "1"'* ]]
}

@test "--set that does not fit is shown where it is wrong" {
  setup_files
  run jobrun validate --set trainingInput.workerCount=four jobs/a.yaml
  [ "$status" -eq 65 ]
  [[ $output == *'--set trainingInput.workerCount:1:27: error:'* ]]
  run jobrun validate --set trainingInput.scaleTeir=BASIC jobs/a.yaml
  [[ $output == *'--set trainingInput.scaleTeir:1:15: error: unknown key'* ]]
  run jobrun validate --set 'trainingInput.args[7]=x' jobs/a.yaml
  [[ $output == *'trainingInput.args[7]:1:19: error:'* ]]
  run jobrun validate --set 'jobId.x=1' jobs/a.yaml
  [[ $output == *'this is not a map'* ]]
  run jobrun validate --set-json 'trainingInput.args=["a",]' jobs/a.yaml
  [[ $output == *'--set-json trainingInput.args:1:'*'invalid JSON'* ]]
  run jobrun validate --set 'trainingInput.pythonModule="a' jobs/a.yaml
  [[ $output == *':1:28: error: unterminated'* ]]
  run jobrun validate --set jobrun.extends=x jobs/a.yaml
  [ "$status" -eq 65 ]
  local bad
  for bad in x =1 a..b=1 .a=1 'a[=1' 'a[x]=1' '[0]=1' a.=1 'a]=1'; do
    run jobrun validate --set "$bad" jobs/a.yaml
    echo "$bad: $output"
    [ "$status" -eq 64 ] || [[ $output == *'unknown key'* ]]
  done
}

@test "the digest follows what the merged job says" {
  setup_files
  digest() {
    jobrun plan --format json "$@" |
      python3 -c 'import json,sys; print(json.load(sys.stdin)["jobs"][0]["digest"])'
  }
  local one two
  one=$(digest jobs/a.yaml)
  cat >jobs/b.yaml <<'YAML'
jobId: a
trainingInput: {scaleTier: CUSTOM, masterType: n1-standard-4}
jobrun:
  command: [sh, -c, 'echo base']
  env: {A: "1", B: "3", C: "4"}
YAML
  [ "$(digest jobs/b.yaml)" = "$one" ]
  two=$(digest --set jobrun.env.A=2 jobs/a.yaml)
  [ "$two" != "$one" ]
  sed -i 's/A: "1"/A: "2"/' base.yaml
  [ "$(digest jobs/a.yaml)" = "$two" ]
}

@test "directories, patterns, standard input; a file named twice is read once" {
  setup_files
  jobrun validate jobs/a.yaml jobs ./jobs/a.yaml
  ln -s a.yaml jobs/z.yaml
  jobrun validate jobs
  run jobrun validate 'jobs/[ab]*.yaml'
  [ "$status" -eq 0 ]
  run jobrun validate 'jobs/none*'
  [ "$status" -eq 65 ]
  [[ $output == *'no file matches'* ]]
  jobrun validate --job-id x - <base.yaml
  printf 'trainingInput: {scaleTeir: x}\n' >bad.yaml
  run jobrun validate - <bad.yaml
  [[ $output == *'-:1:17: error:'* ]]
  mkdir empty
  run jobrun validate empty
  [ "$status" -eq 65 ]
}

@test "many files: all of their problems, in their order" {
  mkdir many
  local i
  for i in $(seq -w 1 300); do
    printf 'jobId: j%s\ntrainingInput: {scaleTeir: BASIC}\n' "$i" >"many/$i.yaml"
  done
  run jobrun validate many
  [ "$status" -eq 65 ]
  grep -o '^many/[0-9]*' <<<"$output" >seen
  [ "$(wc -l <seen)" -eq 300 ]
  sort -c seen
  run jobrun validate --max-problems 10 many
  [ "$(grep -c 'error:' <<<"$output")" -eq 10 ]
  [[ $output == *'290 more problems are not shown'* ]]
  run jobrun validate --format json --max-problems 10 many
  [[ $output == *'"omitted": 290'* ]]
  printf 'jobId: j150\ntrainingInput: {}\n' >many/150.yaml
  printf 'jobId: j150\ntrainingInput: {}\n' >many/290.yaml
  run jobrun validate many
  [[ $output == *'many/290.yaml:1:8: error: jobId "j150" is taken: many/150.yaml:1'* ]]
}

@test "formats for machines" {
  printf 'trainingInput:\n  scaleTier: "x%%\\n::error::y"\n' >'a,b.yaml'
  run jobrun validate --format github 'a,b.yaml'
  [ "$status" -eq 65 ]
  [ "${#lines[@]}" -eq 1 ]
  [[ $output == '::error file=a%2Cb.yaml,line=2,col=14,'* ]]
  [[ $output == *'x%25\n::error::y'* ]]
  run jobrun validate --format sarif 'a,b.yaml'
  python3 - "$output" <<'PY'
import json, sys
log = json.loads(sys.argv[1])
assert log["version"] == "2.1.0"
run = log["runs"][0]
result = run["results"][0]
rule = run["tool"]["driver"]["rules"][result["ruleIndex"]]
assert rule["id"] == result["ruleId"] == "enum"
place = result["locations"][0]["physicalLocation"]
assert place["artifactLocation"]["uri"] == "a%2Cb.yaml"
assert place["region"]["startLine"] == 2
assert place["region"]["startColumn"] == 14
PY
  run jobrun validate --format xml 'a,b.yaml'
  [ "$status" -eq 64 ]
}

@test "paths of a base are relative to the base" {
  mkdir -p jobs common/src secrets .git
  echo 'echo from the base' >common/src/run.sh
  cat >common/base.yaml <<EOF
trainingInput: {scaleTier: BASIC}
jobrun:
  source: src
  command: [sh, run.sh]
EOF
  printf 'jobId: a\njobrun: {extends: ../common/base.yaml}\n' >jobs/a.yaml
  (cd jobs && jobrun plan --format json a.yaml) >1.json
  jobrun plan --format json jobs/a.yaml >2.json
  cmp 1.json 2.json
  grep -q '"../common/src"' 1.json
  run jobrun apply jobs/a.yaml
  [ "$status" -eq 0 ]
  [[ $output == *"from the base"* ]]
  # What an option says is relative to the job's file, as if it stood there.
  mkdir jobs/other && cp common/src/run.sh jobs/other
  run jobrun apply --set jobrun.source=other jobs/a.yaml
  [ "$status" -eq 0 ]
}
