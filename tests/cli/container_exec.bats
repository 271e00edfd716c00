#!/usr/bin/env bats
# Commands beside tasks that run in containers: in podman's and Charliecloud's,
# here and on a host; in others' by stand-ins that look at their arguments.
# bats file_tags=server

bats_require_minimum_version 1.5.0
load helper
load podman
load sshd
eval "$(declare -f setup | sed '1s/setup/setup_of_all/')"
eval "$(declare -f teardown | sed '1s/teardown/teardown_of_all/')"

setup() {
  setup_of_all
  unset CI
}

teardown() {
  podman_down
  sshd_down
  teardown_of_all
}

# box_job FILE ID CONTAINER COMMAND [HOSTS]
box_job() {
  cat >"$1" <<EOF
jobId: $2
trainingInput: {scaleTier: CUSTOM, masterType: n1-standard-4}
jobrun:
  command: [sh, -c, '$4']
  env: {A: "b  c"}
  grace: 2s
  container: {$3}
$([ -z "${5:-}" ] || echo "  hosts: [$5]")
EOF
}

is_up() { jobrun logs "$1" 2>/dev/null | grep -q up; }
enters() { jobrun exec "$1" -- pwd >exec.out 2>&1; }
naps_nowhere() { ! pgrep -f "sleep $NAP" >/dev/null; }

ch_up() {
  type -P ch-run >/dev/null || skip "charliecloud is not here"
  export USER=${USER:-root}
  ch-run --write "$TMP/image" -- /bin/sh -c : || skip "ch-run cannot run here"
}

# gets_in JOB: where only the image is, with the task's environment
gets_in() {
  local words='[ -e /usr/bin/env ] || echo "in: $A $RANK $PWD"'
  wait_until 60 enters "$1"
  [[ $(jobrun exec "$1" -- sh -c "$words") == "in: b  c 0 "* ]]
  [ "$(echo hello | jobrun exec "$1" -- cat)" = hello ]
  [ "$(jobrun exec "$1" -- echo 'a b' "it's" '$HOME' '')" = "a b it's \$HOME " ]
  run --separate-stderr jobrun exec "$1" -- sh -c 'echo oh >&2; exit 7'
  [ "$status" = 7 ]
  [ -z "$output" ]
  [ "$stderr" = oh ]
  run ! jobrun exec "$1" -- no-such-command
  echo "$output"
  [[ $output == *no-such-command*"not found"* ]]
  # A file of the run comes from outside, as an image may have no tar.
  rm -f copied
  jobrun cp "$1:output/model" copied
  [ "$(cat copied)" = weights ]
}

# killed JOB: nothing of a command stays when its client is killed
killed() {
  rm -f in
  "$JOBRUN" exec "$1" -- sh -c "echo in; exec sleep $NAP" >in &
  wait_until 30 test -s in
  kill -9 $!
  wait_until 60 naps_nowhere
}

@test "podman: a command gets in, and nothing stays when its client is killed" {
  podman_up
  box_job a.yaml a "runtime: podman, image: 'localhost/box:1'" \
    'echo weights >"$JOBRUN_RUN_DIR/model"; echo up; exec sleep 4321'
  jobrun apply --detach a.yaml
  wait_until 60 is_up a
  gets_in a
  shell_follows_size a
  # What a command leaves running there goes on.
  jobrun exec a -- sh -c "sleep $NAP </dev/null >/dev/null 2>&1 &"
  pkill -f "sleep $NAP"
  killed a
  jobrun cancel a
  wait_until 60 nothing_runs
  podman_is_empty
}

@test "charliecloud: a command gets into its namespaces, with its directory" {
  image_folder "$TMP/image"
  ch_up
  box_job a.yaml a "runtime: charliecloud, image: $TMP/image" \
    'echo weights >"$JOBRUN_RUN_DIR/model"; cd /var/tmp; echo up; sleep 4321 & wait'
  jobrun apply --detach a.yaml
  wait_until 60 is_up a
  gets_in a
  [ "$(jobrun exec a -- pwd)" = /var/tmp ]
  shell_follows_size a
  killed a
  jobrun cancel a
  wait_until 30 nothing_runs
}

@test "on a host, with podman and with charliecloud" {
  local program job
  podman_up
  ch_up
  sshd_up 1
  podman_is_at >"$TMP/ssh/h1/env"
  sshd_stop h1
  sshd_start h1
  wait_until 10 sshd_answers h1
  program='echo weights >"$JOBRUN_RUN_DIR/model"; echo up; exec sleep 4321'
  box_job a.yaml a "runtime: podman, image: 'localhost/box:1'" "$program" h1
  box_job b.yaml b "runtime: charliecloud, image: $TMP/image" "$program" h1
  jobrun apply --detach a.yaml b.yaml
  for job in a b; do
    wait_until 60 is_up $job
    gets_in $job
    shell_follows_size $job
    killed $job
  done
  jobrun cancel a b
  wait_until 60 nothing_runs
  podman_is_empty
}

# tool NAME: runs what is behind IMAGE in a namespace of its own.  docker's
# cannot be seen, as if it were another user's: only its exec leads there.
tool() {
  mkdir -p bin
  cat >"bin/$1" <<EOF
#!/bin/sh
printf '%s\\n' "$1 \$*" >>"$TMP/$1.log"
case \$1 in
  rm | --help) echo --container-image; exit ;;
  container) exit 0 ;;
  exec) [ $1 != docker ] || {
    [ "\$1 \$2" = "exec -i" ] || exit 64
    case \$3 in --env=JOBRUN_ENTERED=?*) ;; *) exit 65 ;; esac
    case \$4 in jobrun-$1-*) ;; *) exit 66 ;; esac
    export "\${3#--env=}"
    shift 4
    exec "\$@"
  } ;;
esac
entry=
while :; do
  case \$1 in --entrypoint=*) entry=\${1#*=} ;; IMAGE | docker://IMAGE | sh) break ;; esac
  shift
done
[ "\$1" = sh ] || shift
[ $1 = docker ] || exec unshare -m \$entry "\$@"
env -u JOBRUN_CONTAINER unshare -m \$entry "\$@" &
trap "kill \$!" TERM
wait \$!
EOF
  chmod +x "bin/$1"
}

@test "docker by its exec, apptainer and pyxis by their namespaces" {
  local runtime program
  unshare -m true || skip "no namespaces here"
  for program in docker apptainer srun; do tool $program; done
  export PATH=$PWD/bin:$PATH SLURM_JOB_ID=7 SLURMD_NODENAME=n1
  for runtime in docker apptainer pyxis; do
    box_job a.yaml $runtime "runtime: $runtime, image: IMAGE" \
      'mount -t tmpfs box /mnt && cd /mnt && echo here >"where is it"; echo up; exec sleep 4321'
    jobrun apply --detach a.yaml
    wait_until 60 is_up $runtime
    wait_until 60 enters $runtime
  done
  [ "$(jobrun exec docker -- echo 'a b' '')" = "a b " ]
  grep -qx 'docker exec -i --env=JOBRUN_ENTERED=[0-9-]* jobrun-docker-[0-9a-f]*-0 echo a b ' docker.log
  for runtime in apptainer pyxis; do
    [ "$(jobrun exec $runtime -- cat 'where is it')" = here ]
    [ "$(jobrun exec $runtime -- sh -c 'echo $A $RANK')" = "b c 0" ]
  done
  [ ! -e /mnt/where* ]
  for runtime in docker apptainer pyxis; do killed $runtime; done
  jobrun cancel docker apptainer pyxis
  wait_until 60 nothing_runs
}
