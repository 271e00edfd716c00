# 'jobrun cat': nginx and the stand-in for Cloud Storage as servers.  What goes
# wrong on the way is in tests/unit/test_stream.c.
# bats file_tags=server
load helper
load google

# nginx overwrites its environment, by which others are found.
eval "teardown_$(declare -f teardown)"
teardown() {
  [ -z "${SERVER:-}" ] || kill "$SERVER" 2>/dev/null || true
  [ ! -f nginx.pid ] || kill "$(cat nginx.pid)" 2>/dev/null || true
  teardown_teardown
}

# nginx on a free port, with TLS and HTTP/2 on the next one that is free.
start_nginx() {
  PATH=$PATH:/usr/sbin
  command -v nginx >/dev/null || skip "needs nginx"
  mkdir -p www logs
  openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem \
    -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 2>/dev/null
  read -r PORT TLS_PORT < <(python3 -c '
import socket
a, b = socket.socket(), socket.socket()
a.bind(("127.0.0.1", 0)); b.bind(("127.0.0.1", 0))
print(a.getsockname()[1], b.getsockname()[1])')
  cat >nginx.conf <<EOF
daemon off; worker_processes 1; pid $TMP/nginx.pid; error_log $TMP/logs/error;
user $(id -un);
events {}
http {
  log_format short "\$server_protocol \$request_uri \$http_range \$status";
  access_log $TMP/logs/access short;
  client_body_temp_path $TMP/logs; proxy_temp_path $TMP/logs;
  fastcgi_temp_path $TMP/logs; uwsgi_temp_path $TMP/logs;
  scgi_temp_path $TMP/logs;
  server {
    listen 127.0.0.1:$PORT; listen 127.0.0.1:$TLS_PORT ssl http2;
    ssl_certificate $TMP/cert.pem; ssl_certificate_key $TMP/key.pem;
    root $TMP/www;
    location /packed/ { add_header Content-Encoding gzip; }
    location /moved/ { rewrite ^/moved(.*)\$ http://127.0.0.1:$PORT\$1 redirect; }
  }
}
EOF
  nginx -e "$TMP/logs/error" -p "$TMP" -c "$TMP/nginx.conf" 3>&- &
  wait_until 20 curl -s -o /dev/null "http://127.0.0.1:$PORT/"
  HTTP=http://127.0.0.1:$PORT
  HTTPS=https://127.0.0.1:$TLS_PORT
}

stop_nginx() {
  kill "$(cat nginx.pid)"
  wait
}

# Shards of many sizes, and an index of them.
make_shards() {
  local i
  mkdir -p samples
  for i in $(seq 100 139); do
    head -c $((i * 997)) /dev/urandom >samples/$i.bin
    echo $((i % 10)) >samples/$i.cls
  done
  jobrun shard --shards 8 --name t --sha256 samples "${1:-www}" 2>/dev/null
}

# Shards as one tar file: each ends with two blocks of zeroes.
joined() {
  local one
  for one in "${@:1:$#-1}"; do head -c -1024 "$one"; done
  cat "${!#}"
}

# damage FILE OFFSET: another byte there, whatever it was.
damage() {
  python3 -c '
import sys
with open(sys.argv[1], "r+b") as file:
    file.seek(int(sys.argv[2]))
    byte = file.read(1)[0]
    file.seek(int(sys.argv[2]))
    file.write(bytes([byte ^ 1]))' "$@"
}

# The members of a stream, by a reader that stops at the first end.
members() {
  python3 -c '
import sys, tarfile
for one in tarfile.open(fileobj=sys.stdin.buffer, mode="r|*"):
    print(one.name)'
}

@test "files come in order, whole" {
  make_shards shards
  cat shards/t-*.tar >expected
  jobrun cat --raw 'shards/t-{000000..000007}.tar' | cmp - expected
  jobrun cat --raw 'shards/t-{000000..000007}.tar' >file
  cmp file expected
  jobrun cat --raw --index shards/shards.json | cmp - expected
  # Checked by reading, not by splice.
  jobrun cat --raw --index shards/shards.json 'shards/t-{000002,000001}.tar' |
    cmp - <(cat shards/t-000002.tar shards/t-000001.tar)
  { echo a; jobrun cat --raw - shards/t-000000.tar <shards/t-000001.tar; } |
    cmp - <(echo a; cat shards/t-000001.tar shards/t-000000.tar)
}

@test "several tar files come as one, which any reader reads to its end" {
  make_shards shards
  [ "$(jobrun cat 'shards/t-{000000..000007}.tar' | members | sort -u | wc -l)" -eq 80 ]
  [ "$(jobrun cat --index shards/shards.json | members | sort -u | wc -l)" -eq 80 ]
  joined shards/t-*.tar >expected
  jobrun cat 'shards/t-{000000..000007}.tar' | cmp - expected
  jobrun cat 'shards/t-{000000..000007}.tar' >file
  cmp file expected
  jobrun cat shards/t-000000.tar - <shards/t-000001.tar | cmp - <(joined shards/t-00000[01].tar)
  cat shards/t-000001.tar | jobrun cat - shards/t-000000.tar |
    cmp - <(joined shards/t-000001.tar shards/t-000000.tar)
  [ "$(jobrun cat --epochs 3 shards/t-000000.tar | members | wc -l)" -eq $(($(tar tf shards/t-000000.tar | wc -l) * 3)) ]
  # GNU tar fills up its last record, and has names and sizes of its own kind.
  head -c 30000 /dev/zero >zeros
  ln zeros "$(printf 'n%.0s' {1..150})"
  tar cf a.tar zeros
  tar c --format=pax -f b.tar n* zeros
  tar cf empty.tar -T /dev/null
  : >nothing
  [ "$(jobrun cat a.tar empty.tar b.tar nothing a.tar | members | wc -l)" -eq 4 ]
  # One file, and what is no tar file, pass as they are.
  jobrun cat a.tar | cmp - a.tar
  jobrun cat a.tar >file
  cmp file a.tar
  echo text >text
  jobrun cat zeros b.tar | cmp - <(cat zeros b.tar)
  for one in text zeros; do
    cat a.tar a.tar $one b.tar b.tar | tail -c +$(($(stat -c %s a.tar) + 1)) >file
    jobrun cat a.tar a.tar $one b.tar b.tar | tail -c "$(stat -c %s file)" | cmp - file
  done
}

@test "a tar file that others cannot follow is an error" {
  make_shards shards
  local size
  size=$(stat -c %s shards/t-000001.tar)
  head -c $((size - 1100)) shards/t-000001.tar >cut.tar
  run bash -c '"$JOBRUN" cat cut.tar shards/t-000002.tar 2>err | tar t >/dev/null 2>&1; echo "${PIPESTATUS[@]}"'
  [ "$output" = "1 2" ]
  grep -qx "jobrun: error: cut.tar: it starts as a tar file, but ends within a member" err
  { cat shards/t-000001.tar; head -c 600 /dev/urandom; } >more.tar
  refute jobrun cat more.tar shards/t-000002.tar >/dev/null 2>err
  grep -qx "jobrun: error: more.tar: it starts as a tar file, but cannot be joined with others: byte $size is not the header of a member" err
  jobrun cat --raw cut.tar more.tar | cmp - <(cat cut.tar more.tar)
  jobrun cat cut.tar | cmp - cut.tar
  # Two that are one file come as two would.
  cat shards/t-00000[12].tar >two.tar
  jobrun cat two.tar shards/t-000003.tar | cmp - <(joined shards/t-00000[123].tar)
}

@test "without a standard output nothing is written, and that is an error" {
  echo x >a
  run bash -c '"$JOBRUN" cat a 2>&1 >&-'
  [ "$status" -eq 1 ]
  [ "$output" = "jobrun: error: standard output is closed" ]
  mkdir fifos
  mkfifo fifos/0
  cat fifos/0 >b &
  jobrun cat --fifo fifos a >&-
  wait
  cmp a b
}

@test "an index may have the URLs of shards that are elsewhere" {
  start_nginx
  make_shards shards
  mkdir -p www/a www/b
  mv shards/t-000002.tar www/a
  mv shards/t-00000[4-6].tar www/b
  python3 - "$HTTP" <<'E'
import json, sys
index = json.load(open("shards/shards.json"))
for i, folder in (2, "a"), (4, "b"), (5, "b"), (6, "b"):
    one = index["shards"][i]
    one["url"] = f"{sys.argv[1]}/{folder}/{one['name']}"
json.dump(index, open("shards/shards.json", "w"))
E
  jobrun cat --index shards/shards.json | members >all
  [ "$(wc -l <all)" -eq 80 ]
  jobrun cat --index shards/shards.json --list | sed -n 3p | grep -x "$HTTP/a/t-000002.tar"
}

@test "a server that trickles is given up, and one that says no length is read" {
  head -c 100000 /dev/urandom >a
  cat >server.py <<'E'
import http.server, os, time
data = open("a", "rb").read()

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_GET(self):
        self.send_response(200)
        if self.path == "/chunks":
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for i in range(0, len(data), 30000):
                some = data[i:i + 30000]
                self.wfile.write(b"%x\r\n%s\r\n" % (len(some), some))
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            try:
                for i in range(len(data)):
                    self.wfile.write(data[i:i + 1])
                    self.wfile.flush()
                    time.sleep(0.1)
            except OSError:
                pass

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
with open("port.new", "w") as file:
    print(server.server_port, file=file)
os.rename("port.new", "port")
server.serve_forever()
E
  python3 server.py 3>&- &
  SERVER=$!
  wait_until 20 test -e port
  url=http://127.0.0.1:$(cat port)
  jobrun cat "$url/chunks" | cmp - a
  run jobrun cat --stall 1s --patience 1s "$url/trickle"
  [ "$status" -eq 69 ]
  [[ ${lines[-1]} == *"$url/trickle: gave up after "* ]]
}

@test "a public object needs no credentials, nor does an emulator" {
  ! grep -qs ^Google /sys/class/dmi/id/product_name ||
    skip "this machine has credentials of its own"
  start_google
  make_shards shards
  jobrun shard samples gs://b/set 2>/dev/null
  unset GOOGLE_APPLICATION_CREDENTIALS
  run jobrun cat gs://b/set/shard-000000.tar
  [ "$status" -eq 77 ]
  [[ $output == *"gs://b/set/shard-000000.tar: no credentials for Google Cloud: "* ]]
  tell state '{"public": true}'
  jobrun cat --index gs://b/set/shards.json | members | grep -c . | grep -x 80
  jobrun shard samples gs://b/more
  jobrun shard --verify gs://b/more
  end_google
}

@test "what is not what the index says is an error" {
  make_shards shards
  damage shards/t-000003.tar 7000
  # tar stops where the damage is; what reads on sees jobrun's own end.
  run bash -c '"$JOBRUN" cat --index shards/shards.json 2>err |
    { tar t >/dev/null 2>&1; bad=$?; cat >/dev/null; exit $bad; }
    echo "${PIPESTATUS[@]}"'
  [ "$output" = "1 2" ]
  grep -q "t-000003.tar: it arrived corrupted: its CRC-32C" err
  truncate -s -512 shards/t-000001.tar
  refute jobrun cat --index shards/shards.json >/dev/null 2>err
  grep -q "t-000001.tar: it has .* bytes, not the .* of its index" err
  run jobrun cat --index shards/shards.json shards/other.tar
  [ "$status" -eq 65 ]
  [[ $output == *"'shards/other.tar' is not in the index 'shards/shards.json'" ]]
  run jobrun cat shards/nope.tar
  [ "$status" -eq 1 ]
  [ "$output" = "jobrun: error: shards/nope.tar: cannot open it: No such file or directory" ]
  run jobrun cat
  [ "$status" -eq 64 ]
}

@test "nginx: ranges, HTTP/2's own port, redirects, the index" {
  start_nginx
  make_shards
  head -c 9000000 /dev/urandom >www/large
  : >www/empty
  cat www/t-*.tar www/large www/empty >expected
  jobrun cat --raw "$HTTP/t-{000000..000007}.tar" "$HTTP/large" "$HTTP/empty" |
    cmp - expected
  jobrun cat "$HTTP/t-{000000..000007}.tar" | cmp - <(joined www/t-*.tar)
  jobrun cat --raw --read-ahead 1MiB --connections 1 \
    "$HTTP/t-{000000..000007}.tar" "$HTTP/large" "$HTTP/empty" | cmp - expected
  # The large one came in parts.
  [ "$(grep -c 'HTTP/1.1 /large bytes=[0-9-]* 206' logs/access)" -gt 5 ]
  export CURL_CA_BUNDLE=$TMP/cert.pem
  jobrun cat --index "$HTTPS/shards.json" >all
  joined www/t-*.tar | cmp - all
  # On connections of their own.
  grep -q 'HTTP/1.1 /t-000007.tar' logs/access
  jobrun cat "$HTTP/moved/large" | cmp - www/large
  run jobrun cat "$HTTPS/moved/large"
  [ "$status" -ne 0 ]
  [[ $output == *"Protocol \"http\" not supported or disabled"* ]]
  unset CURL_CA_BUNDLE
  refute jobrun cat "$HTTPS/large" >/dev/null 2>err
  grep -q "cannot be trusted" err
  run jobrun cat "$HTTP/nope"
  [ "$status" -eq 1 ]
  [ "$output" = "jobrun: error: $HTTP/nope: it does not exist" ]
  stop_nginx
  run jobrun cat --patience 1s "$HTTP/large"
  [ "$status" -eq 69 ]
  [[ $output == *"gave up after"*"cannot reach"* ]]
}

@test "what comes with an encoding is not passed on as the object" {
  start_nginx
  mkdir www/packed
  seq 300000 | gzip >www/packed/a.tar
  run jobrun cat "$HTTP/packed/a.tar"
  [ "$status" -eq 1 ]
  [ "$output" = "jobrun: error: $HTTP/packed/a.tar: it has the encoding 'gzip', which jobrun does not decode; --raw passes it on as it is" ]
  jobrun cat --raw "$HTTP/packed/a.tar" | cmp - www/packed/a.tar
  jobrun cat --raw --cache kept "$HTTP/packed/a.tar" | cmp - www/packed/a.tar
  refute jobrun cat --cache kept "$HTTP/packed/a.tar" >/dev/null
  stop_nginx
}

@test "a file that is replaced while it is read is an error" {
  start_nginx
  head -c 40000000 /dev/urandom >www/large
  # nginx's ETag is the size and the time to the second.
  touch -d 2001-01-01 www/large
  mkfifo out
  jobrun cat --read-ahead 1MiB --connections 2 "$HTTP/large" >out 2>err &
  local pid=$!
  exec 5<out
  head -c 1000 <&5 >/dev/null
  head -c 40000000 /dev/urandom >www/new
  mv www/new www/large
  cat <&5 >rest
  exec 5<&-
  local status=0
  wait $pid || status=$?
  [ "$status" -eq 1 ]
  grep -q 'large: it changed while it was read' err
  stop_nginx
}

@test "the end of the reader is the end, and nothing is said" {
  start_nginx
  head -c 9000000 /dev/urandom >www/large
  local url
  for url in "$HTTP/large" www/large; do
    run bash -c '"$JOBRUN" cat --epochs 0 '"$url"' 2>err | head -c 100 >/dev/null; echo "${PIPESTATUS[@]}"'
    [ "$output" = "141 0" ]
    [ ! -s err ]
  done
  stop_nginx
}

@test "Cloud Storage: tokens, generations, checksums" {
  start_google
  make_shards shards
  jobrun shard shards/t-*.tar --shards 3 --name g gs://bucket/train 2>/dev/null
  jobrun cat --index gs://bucket/train/shards.json >all
  jobrun cat 'gs://bucket/train/g-{000000..000002}.tar' | cmp - all
  [ "$(tar tf all | sort | uniq | wc -l)" -eq 80 ]
  # A token that ends meanwhile is replaced; busy servers are asked again.
  tell forget '{}'
  tell faults '[{"path": "/storage/.*alt=media", "do": "status", "status": 503, "count": 2}]'
  jobrun cat 'gs://bucket/train/g-{000000..000002}.tar' | cmp - all
  jobrun cat --cache kept 'gs://bucket/train/g-{000000..000002}.tar' | cmp - all
  jobrun cat --cache kept --trace-http trace 'gs://bucket/train/g-{000000..000002}.tar' | cmp - all
  [ "$(grep -c '"status":304' trace)" -eq 3 ]
  run jobrun cat gs://bucket/train/nope.tar
  [ "$status" -eq 1 ]
  [ "$output" = "jobrun: error: gs://bucket/train/nope.tar: it does not exist" ]
  run jobrun cat gs://bucket
  [ "$status" -eq 65 ]
  end_google
}

@test "each consumer has a fifo, and hears what breaks" {
  start_nginx
  make_shards
  mkdir fifos
  mkfifo fifos/0 fifos/1
  "$JOBRUN" cat --fifo fifos --consumers 2 "$HTTP/t-{000000..000003}.tar" 3>&- &
  local pid=$! status=0
  cat fifos/1 >one &
  cat fifos/0 >zero
  wait $pid
  cmp zero <(joined www/t-000000.tar www/t-000002.tar)
  cmp one <(joined www/t-000001.tar www/t-000003.tar)
  [ -e fifos/0.done ] && [ -e fifos/1.done ] && [ ! -e fifos/0 ]
  mkfifo fifos/0
  "$JOBRUN" cat --fifo fifos "$HTTP/t-000000.tar" "$HTTP/nope" 2>err 3>&- &
  pid=$!
  run python3 -c '
import tarfile
n = 0
try:
    for one in tarfile.open("fifos/0", "r|"):
        n += 1
except tarfile.ReadError:
    print(n)'
  wait $pid || status=$?
  [ "$status" -eq 1 ]
  [ "$output" -eq "$(tar tf www/t-000000.tar | wc -l)" ]
  grep -q "/nope: it does not exist" fifos/0.failed
  [ ! -e fifos/0.done ]
  grep -q "consumer 0: $HTTP/nope: it does not exist" err
  run jobrun cat --consumers 2 "$HTTP/nope"
  [ "$status" -eq 64 ]
  stop_nginx
}

@test "a cache saves what was read, whoever is killed" {
  start_nginx
  make_shards
  head -c 9000000 /dev/urandom >www/large
  cat www/t-*.tar www/large >expected
  local urls=("$HTTP/t-{000000..000007}.tar" "$HTTP/large") i
  for i in 1 2 3 4 5 6 7 8; do
    "$JOBRUN" cat --cache kept "${urls[@]}" --epochs 0 >/dev/null 3>&- &
    sleep "0.0$((i * 7 % 10))"
    kill -9 $!
    wait $! || true
    jobrun cat --raw --cache kept "${urls[@]}" | cmp - expected
  done
  : >logs/access
  jobrun cat --raw --cache kept "${urls[@]}" | cmp - expected
  # The server writes its log when a request is over for it.
  wait_until 10 eval '[ "$(grep -c " 304$" logs/access)" -eq 9 ]'
  # The index vouches for all, so only that is fetched; one is damaged.
  jobrun cat --index "$HTTP/shards.json" --cache kept | cmp - <(joined www/t-*.tar)
  find kept -name '*.object' -size -1000k | head -n 1 >one
  damage "$(cat one)" 9000
  : >logs/access
  jobrun cat --index "$HTTP/shards.json" --cache kept | cmp - <(joined www/t-*.tar)
  wait_until 10 eval '[ "$(grep -c "t-00000..tar bytes" logs/access)" -eq 1 ]'
  # Two objects that do not fit in together.
  cp www/large www/larger
  jobrun cat --cache kept --cache-size 10MB "$HTTP/large" "$HTTP/larger" | cmp - <(cat www/large www/large)
  [ "$(du -sb kept | cut -f 1)" -lt 10100000 ]
  chmod o+w kept
  run jobrun cat --cache kept "$HTTP/large"
  [ "$status" -eq 1 ]
  [[ $output == *"--cache: others can write to 'kept'"* ]]
  stop_nginx
}

@test "everyone has a share, and epochs have orders" {
  local i
  for i in 0 1 2 3 4; do echo $i >f$i; done
  jobrun cat --list --split host=0/2 'f{0..4}' | tr '\n' ' ' >a
  jobrun cat --list --split host=1/2 'f{0..4}' | tr '\n' ' ' >b
  [ "$(cat a)" = "f0 f2 f4 " ]
  [ "$(cat b)" = "f1 f3 f0 " ]
  [ "$(jobrun cat --split host=1/2,uneven=drop 'f{0..4}' | tr -d '\n')" = 13 ]
  jobrun cat --list --shuffle 7 --epochs 2 'f{0..4}' >both
  jobrun cat --list --shuffle 7 --epoch 1 'f{0..4}' | diff - <(tail -n 5 both)
  refute diff <(head -n 5 both) <(tail -n 5 both)
  head -n 5 both | sort | diff - <(seq -f f%g 0 4)
  run jobrun cat --split host=2/2 f0
  [ "$status" -eq 64 ]
  [ "$output" = "jobrun: error: --split: 'host=2/2' is not a split such as host=0/2,device=3/8" ]
}
