# The static program, where it has been built: `make static`, which takes too
# long for every run of the tests.
# bats file_tags=server
load helper

# nginx overwrites its environment, by which others are found.
eval "plain_$(declare -f teardown)"
teardown() {
  [ ! -f nginx.pid ] || kill "$(cat nginx.pid)" 2>/dev/null || true
  plain_teardown
}

STATIC=${JOBRUN_STATIC:-$BATS_TEST_DIRNAME/../../build/jobrun-$(cat "$BATS_TEST_DIRNAME/../../VERSION")-$(uname -m)}

# A folder with the program, /dev/null, /proc, and nothing else.
empty_root() {
  [ -x "$STATIC" ] || skip "no static program: 'make static' builds it"
  [ "$(id -u)" = 0 ] || skip "only root can enter another root"
  mkdir -p root/dev root/proc root/tmp
  cp "$STATIC" root/jobrun
  : >root/dev/null
  unshare -m true 2>/dev/null || skip "no mounts of its own here"
}

# within COMMAND...: in that root
within() {
  unshare -m sh -c 'mount --bind /dev/null root/dev/null &&
    mount -t proc proc root/proc && exec chroot root "$@"' sh "$@"
}

@test "an empty root: version, validate, plan, a run of a static program" {
  empty_root
  [ -x /bin/busybox ] || skip "no static busybox"
  cp /bin/busybox root/busybox
  printf '%s\n' 'jobId: alone' 'trainingInput: {scaleTier: BASIC}' 'jobrun:' \
    '  command: [/busybox, echo, "loss=0.5 step=1"]' \
    '  metrics: {patterns: {loss: "loss=([0-9.]+)"}}' >root/job.yaml
  export JOBRUN_STATE_DIR=/state HOME=/
  run within /jobrun --version
  [ "$output" = "jobrun $(cat "$BATS_TEST_DIRNAME/../../VERSION")" ]
  within /jobrun validate /job.yaml
  run within /jobrun plan /job.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"Plan: 1 to run."* ]]
  run within /jobrun apply --yes /job.yaml
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"loss=0.5 step=1"* ]]
  run within /jobrun metrics alone
  echo "$output"
  [[ $output == *loss*0.5* ]]
  run within /jobrun doctor -o json
  [ "$(jq -r '.checks[] | select(.group == "libraries").state' <<<"$output" |
    sort -u)" = ok ]
}

@test "an empty root: TLS to a server with a certificate of a given CA, and to no other" {
  empty_root
  PATH=$PATH:/usr/sbin
  command -v nginx >/dev/null || skip "needs nginx"
  unset CURL_CA_BUNDLE SSL_CERT_FILE
  openssl req -x509 -newkey rsa:2048 -nodes -days 2 -keyout key.pem \
    -out cert.pem -subj /CN=here -addext subjectAltName=IP:127.0.0.1 2>/dev/null
  mkdir www
  echo "over TLS" >www/file
  port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  printf '%s\n' "daemon off; pid $TMP/nginx.pid; error_log $TMP/error; user $(id -un);" \
    "events {} http { access_log off; server { listen 127.0.0.1:$port ssl;" \
    "ssl_certificate $TMP/cert.pem; ssl_certificate_key $TMP/key.pem;" \
    "root $TMP/www; } }" >nginx.conf
  chmod 755 "$TMP" www
  nginx -e "$TMP/error" -p "$TMP" -c "$TMP/nginx.conf" 3>&- &
  wait_until 30 curl -sf --cacert cert.pem "https://127.0.0.1:$port/file"
  cp cert.pem root/given.pem
  SSL_CERT_FILE=/given.pem run within /jobrun cat "https://127.0.0.1:$port/file"
  given=$output
  run within /jobrun cat "https://127.0.0.1:$port/file"
  refused=$output
  mkdir -p root/etc/ssl/certs
  cp cert.pem root/etc/ssl/certs/ca-certificates.crt
  run within /jobrun cat "https://127.0.0.1:$port/file"
  kill "$(cat nginx.pid)"
  wait
  printf '<%s>\n' "$given" "$refused" "$output"
  [ "$given" = "over TLS" ]
  [[ $refused == *certificate* ]]
  [ "$output" = "over TLS" ]
}

@test "an agent for aarch64 runs a job's tasks on a host of that kind" {
  local agent=$BATS_TEST_DIRNAME/../../build/jobrun-host-aarch64
  [ -x "$agent" ] || skip "no agent for aarch64: 'make agent MACHINE=aarch64' builds it"
  command -v qemu-aarch64-static >/dev/null || skip "needs qemu-aarch64-static"
  run qemu-aarch64-static "$agent"
  [ "$status" -eq 64 ]
  # What runs on the host is the agent, by qemu, and what it starts.
  mkdir -p installed/bin installed/libexec/jobrun host home
  cp "$JOBRUN" installed/bin/jobrun
  printf '%s\n' '#!/bin/sh' "exec qemu-aarch64-static '$(realpath "$agent")' \"\$@\"" \
    >installed/libexec/jobrun/jobrun-host-aarch64
  printf '%s\n' '#!/bin/sh' 'echo aarch64' >host/uname
  printf '%s\n' '#!/bin/sh' 'for word; do command=$word; done' \
    "PATH=$TMP/host:\$PATH HOME=$TMP/home exec sh -c \"\$command\"" >host/ssh
  chmod +x host/* installed/libexec/jobrun/*
  printf '%s\n' 'jobId: arm' 'trainingInput: {scaleTier: BASIC}' \
    'jobrun: {command: [sh, -c, "echo from $(uname -m); exit 3"], hosts: [arm]}' >job.yaml
  PATH=$TMP/host:$PATH run installed/bin/jobrun apply --yes job.yaml
  echo "$output"
  [ "$status" -eq 1 ]
  [[ $output == *"from aarch64"* ]]
  [[ $output == *"exited with 3"* ]]
}
