# A stand-in of a Kubernetes cluster, for the tests of a file: loaded behind
# the helper.

EXAMPLES=$BATS_TEST_DIRNAME/../../examples

setup_file() {
  # One server has the objects, faults and scripts of one test at a time.
  export BATS_NO_PARALLELIZE_WITHIN_FILE=true
  export KUBE=$BATS_FILE_TMPDIR JOBRUN=${JOBRUN:-$PWD/jobrun}
  # kubectl gives its token to nobody without TLS.
  openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 \
    -addext subjectAltName=IP:127.0.0.1 -keyout "$KUBE/key.pem" \
    -out "$KUBE/cert.pem" 2>/dev/null
  mkfifo "$KUBE/alive"
  # It ends with this file: it reads from a pipe of ours.
  python3 "$BATS_TEST_DIRNAME/../stand-ins/kubernetes/server.py" \
    --port-file "$KUBE/port" --credentials "$KUBE" \
    --tls "$KUBE/cert.pem" "$KUBE/key.pem" <"$KUBE/alive" 3>&- &
  exec {KEEP}>"$KUBE/alive"
  until [ -s "$KUBE/port" ]; do sleep 0.1; done
  export BASE=https://127.0.0.1:$(cat "$KUBE/port") KUBECONFIG=$KUBE/kubeconfig
}

# All that a test writes is looked through at its end: outputs, the trace of
# all requests, the store.
eval "kube_$(declare -f setup)"
eval "kube_$(declare -f teardown)"
eval "kube_$(declare -f run)"

setup() {
  kube_setup
  export JOBRUN_TRACE_HTTP=$TMP/trace
}

run() {
  kube_run "$@"
  printf '%s\n' "$output" >>"$TMP/outputs"
}

teardown() {
  local shown
  shown=$(grep -rlF -f <(curl -sf --cacert "$KUBE/cert.pem" "$BASE/_/secrets" |
    python3 -c 'import json, sys; print(*json.load(sys.stdin), sep="\n")') \
    "$TMP" | xargs -r grep -L '^kind: Config$') || true
  kube_teardown
  if [ -n "$shown" ]; then
    echo "a secret is in $shown"
    return 1
  fi
}

# tell WHAT JSON, see the stand-in
tell() {
  curl -sf --cacert "$KUBE/cert.pem" -d "$2" "$BASE/_/$1" >/dev/null
}

made() {
  curl -sf --cacert "$KUBE/cert.pem" "$BASE/_/made"
}

requests() {
  curl -sf --cacert "$KUBE/cert.pem" "$BASE/_/requests"
}

# asked FROM PATTERN: how many requests since the FROMth match
asked() {
  requests | python3 -c '
import json, re, sys
print(sum(bool(re.search(sys.argv[2], one["method"] + " " + one["path"]))
          for one in json.load(sys.stdin)[int(sys.argv[1]):]))' "$@"
}

is_asked() {
  [ "$(asked "$1" "$2")" -ge "$3" ]
}

# pods_of ID WORKERS
pods_of() {
  tell state '{"paused": false}'
  cat >"$1.yaml" <<END
jobId: $1
trainingInput:
  scaleTier: CUSTOM
  masterType: n1-standard-4
  masterConfig: {imageUri: "python:3"}
  workerType: n1-standard-4
  workerCount: $2
jobrun: {provider: kubernetes}
END
}

# The object of a run, as the cluster has it.
jobset() {
  curl -sf --cacert "$KUBE/cert.pem" -H "Authorization: Bearer $(sed -n \
    's/.*token: \(.*\)}.*/\1/p' "$KUBE/kubeconfig")" \
    "$BASE/apis/jobset.x-k8s.io/v1alpha2/namespaces/team/jobsets/$1"
}

# put_up FILE: as 'kubectl apply --server-side' does with manifests
put_up() {
  /usr/bin/python3 - "$1" "$BASE" "$KUBE" <<'END'
import json, re, ssl, sys, urllib.request
import yaml
roots = {"ConfigMap": "api/v1", "Service": "api/v1", "Secret": "api/v1",
         "Job": "apis/batch/v1", "JobSet": "apis/jobset.x-k8s.io/v1alpha2"}
token = re.search("token: ([^}]*)", open(sys.argv[3] + "/kubeconfig").read())[1]
trust = ssl.create_default_context(cafile=sys.argv[3] + "/cert.pem")
for item in yaml.safe_load_all(open(sys.argv[1])):
    kind, name = item["kind"], item["metadata"]["name"]
    urllib.request.urlopen(urllib.request.Request(
        f"{sys.argv[2]}/{roots[kind]}/namespaces/team/{kind.lower()}s/{name}"
        "?fieldManager=kubectl", json.dumps(item).encode(), {
            "Authorization": f"Bearer {token}",
            "Content-Type": "application/apply-patch+yaml"},
        method="PATCH"), context=trust)
END
}
