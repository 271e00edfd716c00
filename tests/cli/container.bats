#!/usr/bin/env bats
# Tasks in containers: by podman where there is one, and by stand-ins that look
# at their arguments.

bats_require_minimum_version 1.5.0
load helper
load podman
eval "$(declare -f setup | sed '1s/setup/setup_of_all/')"
eval "$(declare -f teardown | sed '1s/teardown/teardown_of_all/')"

setup() {
  setup_of_all
  unset CI
}

teardown() {
  podman_down
  teardown_of_all
}

# box_job FILE ID IMAGE COMMAND [MORE]
box_job() {
  cat >"$1" <<EOF
jobId: $2
trainingInput: {scaleTier: BASIC, masterConfig: {imageUri: "$3"}}
jobrun:
  command: [sh, -c, '$4']
  grace: 5s
  container: {${6:-}}
${5:-}
EOF
}

runs_in() { jobrun logs "$1" 2>/dev/null | grep -q "$2"; }

@test "podman: source, run folder, variables and secrets go in, the exit code comes out" {
  podman_up
  mkdir src && echo data >src/file
  export KEY=hidden
  box_job a.yaml boxed localhost/box:1 'cat file; echo "$A $KEY $RANK"; echo x >"$JOBRUN_RUN_DIR/out"; [ ! -e /usr/bin/env ] && exit 7' \
    "  source: src
  env: {A: 'b  c'}
  secrets: {KEY: {env: KEY}}" 'runtime: podman'
  run jobrun plan a.yaml
  [[ $output =~ container.runtime\ +podman ]]
  run jobrun apply a.yaml
  echo "$output"
  [ "$status" = 1 ]
  [[ $output == *"exited with code 7"* ]] || [[ $output == *"exit"*7* ]]
  jobrun logs boxed | grep -q '^.*data$'
  jobrun logs boxed | grep -q 'b  c hidden 0'
  [ "$(find "$JOBRUN_STATE_DIR" -name out -path '*output*' | wc -l)" = 1 ]
  [ -z "$(podman ps -aq)" ]
}

@test "podman: the command replaces the image's entry point, and need not be here" {
  podman_up
  printf '#!/bin/sh\necho "only here: $# $*"\n' >"$TMP/image/bin/box-only"
  chmod +x "$TMP/image/bin/box-only"
  tar -C "$TMP/image" -c . | podman import -q -c 'ENTRYPOINT ["/bin/echo","entry"]' \
    -c 'CMD ["more"]' - localhost/box:2 >/dev/null
  box_job a.yaml words localhost/box:2 ''
  sed -i "s/command: .*/command: [box-only, 'a b']/" a.yaml
  jobrun apply a.yaml
  [[ $(jobrun logs --no-prefix words) == "only here: 1 a b" ]]
  sed -i "s/command: .*/command: [box-only]/" a.yaml
  jobrun apply a.yaml
  [[ $(jobrun logs --no-prefix words) == "only here: 0 " ]]
}

@test "podman: what an image runs, without a command of jobrun's" {
  podman_up
  tar -C "$TMP/image" -c . | podman import -q -c 'ENTRYPOINT ["/bin/echo","entry"]' \
    -c 'CMD ["more"]' - localhost/box:2 >/dev/null
  cat >a.yaml <<EOF
jobId: own
trainingInput:
  scaleTier: CUSTOM
  masterType: n1-standard-4
  masterConfig: {imageUri: localhost/box:2}
  workerType: n1-standard-4
  workerCount: 2
  workerConfig: {containerCommand: [cat, /proc/self/cmdline], containerArgs: ["/etc/passwd"]}
  jobDir: gs://b/to
EOF
  # Bare there is nothing to run.
  run -65 jobrun apply a.yaml
  [[ $output == *"nothing to run: jobrun.container: {} runs trainingInput.masterConfig.imageUri"* ]]
  printf 'jobrun: {container: {}}\n' >>a.yaml
  sed -i '/jobDir/d' a.yaml
  run jobrun plan a.yaml
  [[ $output =~ command\ +ENTRYPOINT ]]
  [[ $output =~ container.workerCommand\ +"cat /proc/self/cmdline /etc/passwd" ]]
  jobrun apply a.yaml
  [ "$(jobrun logs --no-prefix --task master own)" = "entry more" ]
  jobrun logs --no-prefix --task worker own | tr '\0' ' ' | grep -q 'cat /proc/self/cmdline /etc/passwd root:x:0:0'
  # Its arguments take the place of the image's; trials add theirs.
  sed -i 's/jobId: own/jobId: trials/; s/^jobrun:/  args: [mine]\n  hyperparameters: {goal: MAXIMIZE, maxTrials: 2, params: [{parameterName: x, type: DISCRETE, discreteValues: [1, 2]}]}\n&/; /worker/d' a.yaml
  run jobrun apply a.yaml
  jobrun logs --no-prefix --trial 1 trials
  [ "$(jobrun logs --no-prefix --trial 1 trials)" = "entry mine --x=1" ]
}

@test "podman: a cancel reaches the program, and kill -9 of the supervisor leaves nothing" {
  podman_up
  box_job a.yaml stop localhost/box:1 'trap "echo told; exit 3" TERM; echo up; while :; do sleep 0.1; done'
  jobrun apply --detach a.yaml
  wait_until 30 runs_in stop up
  jobrun cancel stop
  wait_until 30 runs_in stop told
  box_job b.yaml killed localhost/box:1 'trap "" TERM; echo up; sleep 987.5 & wait; sleep 987.5'
  jobrun apply --detach b.yaml
  wait_until 30 runs_in killed up
  kill -9 "$(tr -d " \n" <state/runs/killed.1/lock)"
  wait_until 30 state_is killed FAILED
  refute pgrep -f 'sleep 987.5'
  [ -z "$(podman ps -aq)" ]
}

# tool NAME: writes its arguments and environment, and runs what is behind IMAGE.
tool() {
  mkdir -p bin
  cat >"bin/$1" <<EOF
#!/bin/sh
printf '%s\n' "$1 \$*" >>"$TMP/$1.log"
env | sort >"$TMP/$1.env"
[ "\$1" = rm ] && exit
entry=
while [ "\$1" != IMAGE ] && [ "\$1" != docker://IMAGE ]; do
  case \$1 in --entrypoint=*) entry=\${1#*=} ;; esac
  shift
done
shift
[ "\$1" = -- ] && shift
exec \$entry "\$@"
EOF
  chmod +x "bin/$1"
}

@test "each runtime is told in its own words, and no value is among them" {
  local name
  for name in docker apptainer ch-run; do tool "$name"; done
  export PATH=$PWD/bin:$PATH
  for name in docker apptainer charliecloud; do
    box_job a.yaml "$name" IMAGE 'echo "seen $A"' "  env: {A: unseen}" \
      "runtime: $name, mounts: [/data, \"/x:/y:ro\"], workdir: /work, options: [--more]"
    jobrun apply a.yaml
    jobrun logs "$name" | grep -q 'seen unseen'
  done
  refute grep -q unseen docker.log apptainer.log ch-run.log
  [[ $(head -1 docker.log) == "docker run --rm --init --network=host --ipc=host --log-driver=none "*"--name=jobrun-docker-"*" --workdir=/work --volume="*" --volume=/data:/data --volume=/x:/y:ro --env="*" --more --entrypoint=sh IMAGE -c "* ]]
  [[ $(head -1 docker.log) == *" --env=A "* ]]
  [[ $(tail -1 docker.log) == "docker rm -f jobrun-docker-"* ]]
  [[ $(cat apptainer.log) == "apptainer exec "*"--pwd=/work --bind="*" --bind=/data:/data --bind=/x:/y:ro --more docker://IMAGE sh -c "* ]]
  [[ $(cat ch-run.log) == "ch-run --write --cd=/work --bind="*" --bind=/data:/data --bind=/x:/y:ro --more IMAGE -- sh -c "* ]]
  sed -i '/command:/d' a.yaml
  run -65 jobrun apply a.yaml
  [[ $output == *"charliecloud does not run an image's own entry point: set jobrun.command, or containerCommand"* ]]
  # It mounts TMPDIR at /tmp, where the run's folder may be.
  grep -qx TMPDIR=/tmp ch-run.env
}

# srun with Pyxis or without: it refuses words that it does not know.
srun_tool() {
  mkdir -p bin
  cat >bin/srun <<EOF
#!/bin/sh
if [ "\$1" = --help ]; then
  echo "  --overlap"
  [ ! -e $TMP/pyxis ] || echo "      --container-image=[USER@][REGISTRY#]IMAGE[:TAG]|PATH"
  exit
fi
printf '%s\n' "\$@" >"$TMP/srun.log"
while :; do
  case \$1 in
    --overlap | --nodes=1 | --ntasks=1 | --input=none | --cpu-bind=none | --export=ALL | --nodelist=n7 | --no-container-mount-home) shift ;;
    --container-image=* | --container-mounts=/*:/* | --container-workdir=/* | --container-env=*) shift ;;
    -*) echo "srun: unrecognized option '\$1'" >&2; exit 1 ;;
    *) break ;;
  esac
done
exec "\$@"
EOF
  chmod +x bin/srun
  export PATH=$PWD/bin:$PATH SLURMD_NODENAME=n7 SLURM_JOB_ID=7
}

@test "pyxis: a step with the image, its mounts and variables, told in its own words" {
  srun_tool
  box_job a.yaml boxed reg.example.com:5000/team/img:1 'echo "seen $A"; exit 4' "  env: {A: unseen}" \
    'runtime: pyxis, mounts: [/data, "/x:/y:ro"], workdir: /work, options: [--no-container-mount-home]'
  run jobrun apply a.yaml
  [ "$status" = 1 ]
  jobrun logs boxed | grep -q "'srun' runs no containers here, but jobrun.container.runtime is pyxis; 'none' runs without a container"
  touch pyxis
  run jobrun apply --rerun a.yaml
  echo "$output"
  [ "$status" = 1 ]
  [[ $output == *"exited with 4"* ]]
  jobrun logs boxed | grep -q 'seen unseen'
  refute grep -q unseen srun.log
  grep -qx -e '--container-image=reg.example.com:5000#team/img:1' srun.log
  grep -qx -e '--container-workdir=/work' srun.log
  grep -q -e '^--container-mounts=/.*:/.*,/data:/data,/x:/y:ro$' srun.log
  grep -q -e '^--container-env=.*\bA\b' srun.log
  # What has no registry, and files, are as they are.
  while read -r image said; do
    box_job a.yaml boxed "$image" 'true' '' 'runtime: pyxis'
    jobrun apply --rerun a.yaml
    grep -qx -e "--container-image=$said" srun.log
  done <<'ROWS'
ubuntu:22.04 ubuntu:22.04
nvidia/cuda:12.4 nvidia/cuda:12.4
nvcr.io/nvidia/pytorch:24.05-py3 nvcr.io#nvidia/pytorch:24.05-py3
europe-docker.pkg.dev/p/r/i:1 europe-docker.pkg.dev#p/r/i:1
ROWS
  sed -i 's/runtime: pyxis/runtime: pyxis, image: \/images\/a.sqsh/' a.yaml
  jobrun apply --rerun a.yaml
  grep -qx -e "--container-image=/images/a.sqsh" srun.log
}

@test "pyxis: auto asks for no machines outside of an allocation" {
  srun_tool
  touch pyxis
  box_job a.yaml boxed IMAGE 'echo up'
  mkdir -p only && ln -s "$(type -P sh)" "$(type -P cat)" "$(type -P grep)" "$PWD/bin/srun" only/
  PATH=$PWD/only "$JOBRUN" apply --yes a.yaml
  [ -e srun.log ]
  rm srun.log
  unset SLURM_JOB_ID
  PATH=$PWD/only run "$JOBRUN" apply --yes --rerun a.yaml
  echo "$output"
  [ "$status" != 0 ]
  jobrun logs boxed | grep -q 'no container runtime here'
  [ ! -e srun.log ]
}

@test "charliecloud: a run below /tmp, and TMPDIR elsewhere" {
  type -P ch-run >/dev/null || skip "charliecloud is not here"
  image_folder "$TMP/image"
  export USER=${USER:-root} TMPDIR=/var/tmp
  ch-run --write "$TMP/image" -- /bin/sh -c : || skip "ch-run cannot run here"
  JOBRUN_STATE_DIR=$(mktemp -d /tmp/jobrun-box.XXXXXX)
  export JOBRUN_STATE_DIR
  box_job a.yaml ch gcr.io/p/i:1 'echo "$A" >"$JOBRUN_RUN_DIR/out"; ls /usr/bin 2>&1; exit 5' "  env: {A: in}" "runtime: charliecloud, image: $TMP/image"
  run jobrun apply a.yaml
  echo "$output"
  [ "$status" = 1 ]
  [ "$(cat "$(find "$JOBRUN_STATE_DIR" -name out -path '*output*')")" = in ]
  rm -rf "$JOBRUN_STATE_DIR"
}

@test "a runtime that runs no entry points is refused before anything starts" {
  for runtime in charliecloud pyxis; do
    printf 'jobId: e\ntrainingInput: {masterConfig: {imageUri: img:1}}\njobrun: {container: {runtime: %s}}\n' $runtime >a.yaml
    run jobrun plan a.yaml
    [[ $output == *"missing: $runtime does not run an image's own entry point: set jobrun.command, or containerCommand beside the image"* ]]
    run -65 jobrun apply a.yaml
    [ -z "$(jobrun status --output name)" ]
    sed -i 's/imageUri: img:1/&, containerCommand: [train]/' a.yaml
    [[ $(jobrun plan a.yaml) != *missing* ]]
  done
}

@test "a machine without a runtime says how to do without" {
  box_job a.yaml bare IMAGE 'echo up'
  mkdir -p only && ln -s "$(type -P sh)" "$(type -P cat)" only/
  PATH=$PWD/only run "$JOBRUN" apply --yes a.yaml
  jobrun logs bare | grep -q 'no container runtime here (podman, docker, apptainer, ch-run, Pyxis), but the job has an image; jobrun.container: {runtime: none} runs it without one'
  sed -i 's/container: {}/container: {runtime: none}/' a.yaml
  jobrun apply a.yaml
  jobrun logs bare | grep -q up
}
