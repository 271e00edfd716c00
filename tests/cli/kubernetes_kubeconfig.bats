# How a cluster is reached, by what a kubeconfig says, and what it refuses.
# bats file_tags=server
load helper
load kubernetes
load kubernetes_rights

@test "a user may act as another, in groups" {
  tell state '{"pods": [{"exit": 0, "lines": ["here"]}]}'
  sed 's/user: {token:/user: {as: boss, as-groups: [team, "all of us"], token:/' \
    "$KUBECONFIG" >boss
  pods_of acts 0
  from=$(asked 0 .)
  KUBECONFIG=boss jobrun apply --yes acts.yaml
  requests | python3 -c '
import json, sys
all = json.load(sys.stdin)[int(sys.argv[1]):]
assert len(all) > 5 and any("/log?" in one["path"] for one in all)
for one in all:
    assert (one["as"], one["groups"]) == ("boss", ["team", "all of us"]), one' "$from"
  KUBECONFIG=boss jobrun delete acts
  sed 's/as: boss, //' boss >nobody
  KUBECONFIG=nobody run jobrun plan acts.yaml
  echo "$output"
  [[ $output == *"'as-groups' and 'as-uid' need 'as'"* ]]
  # Whom a request cannot name is not left out: it would have all rights.
  sed 's/as: boss/as: "boss\\n"/' boss >broken
  KUBECONFIG=broken run jobrun plan acts.yaml
  echo "$output"
  [[ $output == *"'Impersonate-User' has a line break"* ]]
  sed 's/as-groups: \[[^]]*\]/as-groups: team/' boss >text
  KUBECONFIG=text run jobrun plan acts.yaml
  echo "$output"
  [[ $output == *"'as-groups' is no list"* ]]
}

@test "a server may have a certificate of another name" {
  tell state '{"pods": [{"exit": 0}]}'
  pods_of named 0
  sed 's|https://127.0.0.1:\([0-9]*\)"|https://localhost:\1", tls-server-name: "127.0.0.1"|' \
    "$KUBECONFIG" >named
  grep -q tls-server-name named
  KUBECONFIG=named run jobrun apply --yes named.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"in cluster 'https://localhost:"* ]]
  KUBECONFIG=named jobrun delete named
  sed 's|"127.0.0.1"}|"elsewhere.example"}|; s|"127.0.0.1",|"elsewhere.example",|' named >wrong
  KUBECONFIG=wrong run jobrun plan named.yaml
  [ "$status" -ne 0 ]
}

@test "another authority's certificate is told from a company's proxy" {
  openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 \
    -addext subjectAltName=IP:127.0.0.1 -keyout key.pem -out other.pem 2>/dev/null
  sed "s|$KUBE/cert.pem|$PWD/other.pem|" "$KUBECONFIG" >other
  pods_of wary 0
  KUBECONFIG=other run jobrun apply --yes wary.yaml
  echo "$output"
  [ "$status" -eq 69 ]
  [[ $output == *"cannot be trusted"*"the certificate authority that is named for it vouches for another"* ]]
  [[ $output != *CURL_CA_BUNDLE* ]]
}

@test "what no pod can run, or hold, is said before anything is asked" {
  pods_of bare 0
  sed -i '/workerType/d; /workerCount/d; /imageUri/d; s/provider: kubernetes/&, command: [a]/' bare.yaml
  run jobrun render --to kubernetes bare.yaml
  echo "$output"
  [ "$status" -eq 65 ]
  [[ $output == *"no manifest without an image: set trainingInput.masterConfig.imageUri"* ]]
  refute grep -q "kind: JobSet" <<<"$output"
  pods_of dots 0
  mkdir src
  touch src/..hidden src/main.py
  sed -i 's/provider: kubernetes/&, source: src, command: [a]/' dots.yaml
  run jobrun apply --yes dots.yaml
  echo "$output"
  [ "$status" -eq 65 ]
  [[ $output == *"'..hidden' begins with two dots, which no path in a volume may"* ]]
}

@test "a run that is being ended is not deleted as one that nobody knows" {
  tell state '{"pods": [{"hold": true}]}'
  pods_of ending 0
  jobrun apply --yes --detach ending.yaml
  wait_until 20 state_is ending RUNNING
  # Its pods take their time.
  tell state '{"paused": true}'
  jobrun cancel ending 3>&- &
  cancelling=$!
  wait_until 20 eval 'jobset ending | grep -q deletionTimestamp'
  run jobrun delete ending
  echo "$output"
  [ "$status" -eq 75 ]
  [[ $output == *"it is still being ended"* ]]
  tell state '{"paused": false}'
  wait "$cancelling"
  jobrun delete ending
}

# Credentials for anything else are none of the cluster's.
doctor() {
  env -u GOOGLE_APPLICATION_CREDENTIALS CLOUDSDK_CONFIG="$TMP/gcloud" \
    NO_GCE_CHECK=true "$JOBRUN" doctor "$@"
}

@test "doctor says which cluster answers, to whom, and which rights are missing" {
  tell state '{"kueue": "v1beta2", "role": '"$(role)"'}'
  run doctor
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"ok       kubeconfig                cluster '$BASE' (context 'test'), namespace 'team'"* ]]
  [[ $output == *"ok       version                   v1.33.1"* ]]
  [[ $output == *"ok       identity                  tester"* ]]
  [[ $output == *"ok       JobSet                    jobset.x-k8s.io/v1alpha2"* ]]
  [[ $output == *"ok       Kueue                     kueue.x-k8s.io/v1beta2"* ]]
  [[ $output == *"ok       rights                    all that examples/kubernetes/role.yaml grants"* ]]
  # What is not there is needed by some jobs only.
  tell state '{"kueue": false, "jobset": false, "identity": false, "role": '"$(role pods/log)"'}'
  run doctor
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"missing  identity                  the cluster does not say"* ]]
  [[ $output == *"missing  JobSet                    needed for jobs whose pods are not all alike: install JobSet"* ]]
  [[ $output == *"missing  Kueue                     needed for jobrun.kubernetes.queue: install Kueue"* ]]
  [[ $output == *"missing  right                     the right to get pods/log in namespace 'team': without it there are no logs"* ]]
  [[ $output != *"jobsets in namespace"* && $output != *"workloads in namespace"* ]]
  tell state '{"jobset": true, "identity": true, "role": null}'
  # As somebody else, whom the cluster knows by that name.
  sed 's/user: {token:/user: {as: boss, token:/' "$KUBECONFIG" >boss
  KUBECONFIG=boss run doctor --format json
  [[ $output == *'"boss"'* ]]
  # A login that has ended, and a cluster that is gone.
  sed 's/token: [^}]*}/token: old}/' "$KUBECONFIG" >old
  KUBECONFIG=old run doctor
  echo "$output"
  [ "$status" -eq 77 ]
  [[ $output == *"bad      version                   the cluster does not accept your login (401)"* ]]
  sed 's/127.0.0.1:[0-9]*/127.0.0.1:1/' "$KUBECONFIG" >gone
  KUBECONFIG=gone run doctor
  echo "$output"
  [ "$status" -eq 69 ]
  [[ $output == *"bad      version "* ]]
}

@test "doctor of a job says what its cluster lacks, and which rights for it" {
  pods_of asks 0
  tell state '{"kueue": "v1beta2", "jobset": true, "role": '"$(role)"'}'
  run doctor asks.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"ok       kubeconfig                cluster '$BASE' (context 'test'), namespace 'team'"* ]]
  [[ $output == *"ok       runs as "*" in namespace 'team'"* ]]
  [[ $output == *"ok       plan                      'jobrun apply' can start it"* ]]
  # Rights that it needs, and one that it can do without.
  tell state '{"role": '"$(role jobsets)"'}'
  run doctor asks.yaml
  echo "$output"
  [ "$status" -eq 77 ]
  [[ $output == *"bad      right                     the right to "*"jobsets in namespace 'team'"* ]]
  tell state '{"role": '"$(role pods/log)"'}'
  run doctor asks.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"missing  right                     the right to get pods/log in namespace 'team': without it there are no logs"* ]]
  tell state '{"kueue": false, "role": null}'
  run doctor asks.yaml
  [ "$status" -eq 0 ]
  [[ $output != *Kueue* ]]
  run doctor --set jobrun.kubernetes.queue=team-a asks.yaml
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *"bad      queue                     the cluster has no Kueue: nothing waits in queue 'team-a'"* ]]
  sed 's/127.0.0.1:[0-9]*/127.0.0.1:1/' "$KUBECONFIG" >gone
  KUBECONFIG=gone run doctor asks.yaml
  [ "$status" -eq 69 ]
  [[ $output == *"bad      version "* && $output != *plan* ]]
}
