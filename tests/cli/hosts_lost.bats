# Hosts that are cut off, frozen or killed in part, and what becomes of them.
# bats file_tags=server,slow
load helper
load sshd
load hosts_net

setup_file() {
  net_needed
}

teardown() {
  net_down
  cd /
  rm -rf "$TMP"
}

attempt_is() {
  [ "$(field "$1" 'j["attempt"]')" = "$2" ]
}

@test "a late end of an attempt is none of the next one's" {
  net_up 2
  host_job a.yaml a h1,h2 "[ -e $TMP/go ] || sleep $NAP; echo done; $(all_of 2 RANK)" \
    '  restart: {maxPreemptions: 3, maxRestarts: 0, backoff: 1s}'
  jobrun apply --detach a.yaml
  wait_until 20 state_is a RUNNING
  net_cut 2
  wait_until 30 attempt_is a 2
  touch go
  net_join 2
  timeout 60 "$JOBRUN" wait a
  [ "$(field a 'j["state"], j["attempt"], j["restarts"], j["preemptions"]')" = "SUCCEEDED 2 0 1" ]
  [ "$(cat state/runs/a.2/logs/worker-0.stdout)" = "done" ]
  [ -z "$(naps_in h2)" ]
}
