# What users of curl expect: HTTP/2, certificates of their own, proxies.  A real
# server, nginx, with a certificate that only we trust.
# bats file_tags=server
load helper
load google

# It ends with this test: nginx is told so, the proxy reads from a pipe of ours.
start_servers() {
  start_google
  NGINX=$(PATH=$PATH:/usr/sbin command -v nginx)
  unset HTTPS_PROXY https_proxy ALL_PROXY all_proxy NO_PROXY no_proxy \
    CURL_CA_BUNDLE SSL_CERT_FILE SSL_CERT_DIR
  openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out ca.pem -days 2 \
    -subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1 2>/dev/null
  mkdir www
  python3 -c 'import sys; sys.stdout.buffer.write(bytes(range(256)) * 4096)' >www/shard.bin
  PORT=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  cat >nginx.conf <<CONF
daemon off;
master_process off;
pid $TMP/nginx.pid;
error_log $TMP/nginx.log;
events {}
http {
  access_log $TMP/access.log;
  client_body_temp_path $TMP/body;
  proxy_temp_path $TMP/proxy;
  fastcgi_temp_path $TMP/fastcgi;
  uwsgi_temp_path $TMP/uwsgi;
  scgi_temp_path $TMP/scgi;
  server {
    listen 127.0.0.1:$PORT ssl http2;
    ssl_certificate $TMP/ca.pem;
    ssl_certificate_key $TMP/key.pem;
    root $TMP/www;
    location /ml/ { proxy_pass $BASE; }
  }
}
CONF
  "$NGINX" -p "$TMP" -c "$TMP/nginx.conf" -e "$TMP/nginx.log" 3>&- &
  NGINX_PID=$!
  mkfifo open
  python3 "$BATS_TEST_DIRNAME/../stand-ins/proxy.py" --port-file proxy_port --log asked <open 3>&- &
  exec {OPEN}>open
  wait_until 30 test -s proxy_port
  wait_until 30 test -s nginx.pid
  URL=https://localhost:$PORT/shard.bin
  PROXY=http://127.0.0.1:$(cat proxy_port)
}

end_servers() {
  kill "$NGINX_PID"
  exec {OPEN}>&-
  rm open
  end_google
}

gets() {
  jobrun cat --patience 5s "$URL" | cmp - www/shard.bin
}

@test "certificates and proxies are as with curl" {
  start_servers
  run jobrun cat --patience 1s "$URL"
  [ "$status" -ne 0 ]
  [[ $output == *"cannot be trusted"*"CURL_CA_BUNDLE"* ]]
  CURL_CA_BUNDLE=$TMP/ca.pem gets
  SSL_CERT_FILE=$TMP/ca.pem gets
  [ ! -s asked ]
  export CURL_CA_BUNDLE=$TMP/ca.pem
  HTTPS_PROXY=$PROXY gets
  [ "$(sort -u asked)" = "CONNECT localhost:$PORT" ]
  : >asked
  https_proxy=$PROXY NO_PROXY=example.com,localhost gets
  [ ! -s asked ]
  ALL_PROXY=$PROXY gets
  [ -s asked ]
  # A proxy that is not there is said, and nothing goes past it.
  : >access.log
  HTTPS_PROXY=http://127.0.0.1:1 run jobrun cat --patience 1s "$URL"
  echo "$output"
  [ "$status" -ne 0 ]
  [ ! -s access.log ]
  end_servers
}

@test "services are spoken to in HTTP/2, through a proxy too" {
  start_servers
  cat >job.yaml <<'YAML'
jobId: two
trainingInput:
  scaleTier: BASIC
  region: us-central1
  masterConfig: {imageUri: gcr.io/proj-1/trainer:1}
jobrun: {provider: ai-platform}
YAML
  export CLOUDSDK_API_ENDPOINT_OVERRIDES_ML=https://localhost:$PORT/ml/
  export CURL_CA_BUNDLE=$TMP/ca.pem HTTPS_PROXY=$PROXY
  jobrun apply --yes --trace-http trace job.yaml
  state_is two SUCCEEDED
  [ "$(sort -u asked)" = "CONNECT localhost:$PORT" ]
  # Both sides agree on what they speak, and one connection is enough.
  grep -q '"protocol":"HTTP/2"' trace
  grep -q '"POST /ml/v1/projects/proj-1/jobs HTTP/2.0" 200' access.log
  refute grep -q 'HTTP/1' access.log
  [ "$(grep /ml/ trace | grep -c '"newConnection":true')" -eq 1 ]
  end_servers
}
