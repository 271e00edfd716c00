# How a cluster is reached, by what a kubeconfig says, and what it refuses.
# bats file_tags=server
load helper
load kubernetes

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
