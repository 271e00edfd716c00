# What 'status' shows of places that do not answer: a login host, a service.
# bats file_tags=server
load helper

# A login host and a service that take connections, and say nothing.
two_silent_places() {
  mkdir bin
  printf '#!/bin/sh\nexec sleep 1000\n' >bin/ssh
  chmod +x bin/ssh
  export PATH=$TMP/bin:$PATH
  mkfifo alive
  python3 -c '
import os, socket, sys
s = socket.create_server(("127.0.0.1", 0))
open("port.new", "w").write(str(s.getsockname()[1]))
os.rename("port.new", "port")
sys.stdin.read()' <alive 3>&- &
  exec {KEEP}>alive
  wait_until 30 test -s port
  export CLOUDSDK_API_ENDPOINT_OVERRIDES_AIPLATFORM=http://127.0.0.1:$(cat port)/
  export CLOUDSDK_AUTH_ACCESS_TOKEN=token GOOGLE_CLOUD_PROJECT=p NO_GCE_CHECK=true
  remembered far slurm '{"place": "gone:/x", "name": "n", "comment": "c", "id": "7", "program": "p"}'
  remembered cloud vertex-ai '{"name": "projects/p/locations/europe-west4/customJobs/7"}'
}

@test "places that do not answer empty and delay no table: the rest is live" {
  two_silent_places
  job here.yaml here 'until [ -e stop ]; do sleep 0.1; done; exit 3'
  jobrun apply --detach here.yaml
  wait_until 30 state_is here RUNNING
  touch stop
  wait_until 30 state_is here FAILED
  SECONDS=0
  run timeout 100 "$JOBRUN" status
  echo "$SECONDS s: $output"
  # Alone, ssh would be waited for without end, and the service for a minute.
  [ "$SECONDS" -le 20 ]
  [ "$status" -eq 0 ]
  for row in 'far +RUNNING +1  slurm' 'cloud +RUNNING +1  vertex-ai'; do
    grep -qE "^$row " <<<"$output"
    grep -A1 -E "^$row " <<<"$output" | grep -q '^  last known state: '
  done
  grep -qE '^here +FAILED ' <<<"$output"
  [ "$(grep -c 'last known' <<<"$output")" -eq 2 ]
  SECONDS=0
  run timeout 100 "$JOBRUN" status --format json far
  [ "$SECONDS" -le 20 ]
  [[ $output == *'"stale": '* ]]
  exec {KEEP}>&-
}
