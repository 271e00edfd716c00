# Google's services for a test: tests/stand-ins/google/server.py.

GOOGLE=$BATS_TEST_DIRNAME/../stand-ins/google/server.py

# It ends with this test: it reads from a pipe of ours.
start_google() {
  unset GCLOUD_PROJECT CLOUDSDK_AUTH_ACCESS_TOKEN GOOGLE_OAUTH_ACCESS_TOKEN \
    CLOUDSDK_COMPUTE_ZONE CLOUDSDK_CORE_PROJECT
  export CLOUDSDK_CONFIG=$TMP/gcloud NO_GCE_CHECK=true
  mkfifo alive
  python3 "$GOOGLE" --port-file port --credentials creds <alive 3>&- &
  GOOGLE_PID=$!
  exec {KEEP}>alive
  wait_until 30 test -s port
  BASE=http://127.0.0.1:$(cat port)
  export CLOUDSDK_API_ENDPOINT_OVERRIDES_ML=$BASE/ml/
  export CLOUDSDK_API_ENDPOINT_OVERRIDES_AIPLATFORM=$BASE/aiplatform/
  export CLOUDSDK_API_ENDPOINT_OVERRIDES_LOGGING=$BASE/logging/
  export CLOUDSDK_API_ENDPOINT_OVERRIDES_TPU=$BASE/tpu/
  export CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE=$BASE/compute/
  export CLOUDSDK_API_ENDPOINT_OVERRIDES_IAP_TUNNEL=$BASE/iap_tunnel/v4
  export CLOUDSDK_API_ENDPOINT_OVERRIDES_SERVICEUSAGE=$BASE/serviceusage/
  export CLOUDSDK_API_ENDPOINT_OVERRIDES_CLOUDRESOURCEMANAGER=$BASE/cloudresourcemanager/
  export STORAGE_EMULATOR_HOST=$BASE
  export GOOGLE_APPLICATION_CREDENTIALS=$TMP/creds/authorized_user.json
  export GOOGLE_CLOUD_PROJECT=proj-1 JOBRUN_LOOK_MS=20
}

# tell WHAT JSON, see there
tell() {
  curl -sf -d "$2" "$BASE/_/$1" >/dev/null
}

# What broke a discovery document; then what must never be shown is looked for
# in all that was written.
end_google() {
  curl -sf "$BASE/_/wrong" >wrong.json
  curl -sf "$BASE/_/secrets" >secrets.json
  exec {KEEP}>&-
  wait
  rm -rf creds alive
  python3 - <<'PY'
import json, os
wrong = json.load(open("wrong.json"))
assert not wrong, wrong
secrets = [s.encode() for s in json.load(open("secrets.json"))]
assert secrets
for folder, _, names in os.walk("."):
    for name in names:
        path = os.path.join(folder, name)
        if name == "secrets.json" or not os.path.isfile(path):
            continue
        data = open(path, "rb").read()
        for secret in secrets:
            assert secret not in data, (path, secret)
PY
}

# How many things there are that somebody pays for.
made() {
  curl -sf "$BASE/_/made" | python3 -c 'import json,sys; print(len(json.load(sys.stdin)))'
}

made_is() { # COUNT, for wait_until
  [ "$(made)" -eq "$1" ]
}

# asked METHOD PATTERN [2]: how many requests there were, answered with 2xx
asked() {
  curl -sf "$BASE/_/requests" | python3 -c '
import json, re, sys
# With what is behind the path, or without.
def asked_for(path):
    return bool(re.search(sys.argv[2], path) or
                re.search(sys.argv[2], path.split("?")[0]))
print(sum(r["method"] == sys.argv[1] and asked_for(r["path"])
          and (r["status"] or 0) // 100 == int(sys.argv[3]) for r in json.load(sys.stdin)))' \
    "$1" "$2" "${3:-2}"
}

# body METHOD PATTERN EXPRESSION: of what the last such request sent, `b`
body() {
  curl -sf "$BASE/_/requests" | python3 -c '
import json, re, sys
b = [json.loads(r["body"] or "null") for r in json.load(sys.stdin)
     if r["method"] == sys.argv[1] and
     (re.search(sys.argv[2], r["path"]) or
      re.search(sys.argv[2], r["path"].split("?")[0]))][-1]
print(eval(sys.argv[3]))' "$1" "$2" "$3"
}

# While a run is on a TPU, the job of another owner leaves that alone.
# other_owner_is_refused PROVIDER JOB, which runs
other_owner_is_refused() {
  local left more
  left=$(made)
  for more in labels.owner=vision 'trainingInput.args[0]=other'; do
    JOBRUN_STATE_DIR=$TMP/state2 run jobrun plan --set "$more" job.yaml
    echo "$output"
    [[ $output == *"note: $1 '$2' is in use by another owner, "*_* ]]
    JOBRUN_STATE_DIR=$TMP/state2 run jobrun apply --yes --set "$more" job.yaml
    echo "$output"
    [ "$status" -eq 75 ]
    [[ $output == *"$2: FAILED, not started: another owner, "*", has the machines"* ]]
  done
  [ "$(made)" -eq "$left" ]
  # What is left of the refused runs goes; the TPU is not part of that.
  JOBRUN_STATE_DIR=$TMP/state2 run jobrun delete --yes "$2"
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"$2: deleted"*"$1 '$2' is in use by another owner, "*"apply and delete leave it alone"* ]]
  JOBRUN_STATE_DIR=$TMP/state2 run jobrun delete --yes job.yaml
  echo "$output"
  [ "$status" -eq 75 ]
  [[ $output == *"delete '$2': $1 '$2' is in use by another owner, "* ]]
  [ "$(made)" -eq "$left" ]
  [ "$(asked DELETE '/nodes/')" -eq 0 ]
  state_is "$2" RUNNING
}

# Many machines at once: the Nth has the folder mN, the project pN and the
# bucket bN.  each COUNT FUNCTION, called as FUNCTION N in its folder.
each() {
  local n
  for ((n = 1; n <= $1; n++)); do
    (
      mkdir -p "m$n/official"
      cd "m$n"
      export GOOGLE_CLOUD_PROJECT=p$n JOBRUN_STATE_DIR=$TMP/state/$n
      echo 'print("mnist")' >official/mnist_main.py
      touch official/__init__.py
      echo "$JOB" | sed "s/BUCKET/b$n/; s/NTH/$n/" >job.yaml
      "$2" "$n" >>out 2>&1
    ) 3>&- &
  done
  for n in $(jobs -p); do
    [ "$n" = "$GOOGLE_PID" ] || wait "$n" || true
  done
}

# trouble COUNT JSON: the Nth machine has it with its Nth request
trouble() {
  python3 -c '
import json, sys
faults = []
for n in range(1, int(sys.argv[1]) + 1):
    faults.append(dict(json.loads(sys.argv[2]), nth=n,
                       path=f"/p{n}[/:]|/b/b{n}/|/123456789012{n}[/.]"))
    faults[-1]["pid-file"] = f"m{n}/pid"
print(json.dumps(faults))' "$1" "$2" >faults.json
  tell faults @faults.json
}

# Of the Nth, until it is killed.
apply_to_die() {
  echo "$BASHPID" >pid
  exec "$JOBRUN" apply --yes --trace-http trace job.yaml
}

apply_again() {
  jobrun apply --yes --trace-http trace job.yaml
  echo "exit $?"
}

# one_each COUNT PROVIDER: each machine ended well, with one job, one object
# and, of AI Platform, one binding beside those of others
one_each() {
  curl -sf "$BASE/_/made" >made.json
  curl -sf "$BASE/_/policies" >policies.json
  curl -sf "$BASE/_/requests" | python3 -c '
import json, sys
print(sum(r["fault"] is not None for r in json.load(sys.stdin)))' >hit
  python3 - "$@" <<'PY'
import json, sys
policies = json.load(open("policies.json"))
made = [place for place, _ in json.load(open("made.json"))]
for n in range(1, int(sys.argv[1]) + 1):
    assert made.count(f"p{n}") == 1, (n, "jobs", made)
    assert made.count(f"b{n}") == 1, (n, "objects", made)
    if sys.argv[2] == "ai-platform":
        bindings = policies[f"p{n}"]["bindings"]
        assert [len(b["members"]) for b in bindings] == [1, 1, 1], bindings
    out = open(f"m{n}/out").read()
    assert out.endswith("exit 0\n"), (n, out)
PY
}
