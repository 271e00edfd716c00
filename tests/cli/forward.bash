# Connections to a port of a task, for tests of forward: loaded behind the
# helper.

# Writes a program for tasks: a server on a free port, which it writes to
# port-RANK.  It answers /rank, /big, a POST, and /open with the number of its
# connections but this.
server_program() {
  cat >"$TMP/serve.py" <<'E'
import http.server, os
rank, folder = os.environ["RANK"], os.path.dirname(os.path.abspath(__file__))
big = open(folder + "/big", "rb").read()
count = [0]
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def setup(self):
        super().setup()
        count[0] += 1
    def finish(self):
        count[0] -= 1
        super().finish()
    def answer(self, body):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def do_GET(self):
        self.answer({"/rank": rank.encode(), "/big": big,
                     "/open": str(count[0] - 1).encode()}[self.path])
    def do_POST(self):
        self.answer(self.rfile.read(int(self.headers["Content-Length"])))
    def log_message(self, *args):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
name = f"{folder}/port-{rank}"
open(name + ".new", "w").write(str(server.server_port))
os.rename(name + ".new", name)
server.serve_forever()
E
  head -c 3000000 /dev/urandom >"$TMP/big"
}

ask() { curl -sf --noproxy '*' "$@"; }

# has_open PORT COUNT: the task's server has so many connections
has_open() { [ "$(ask "http://127.0.0.1:$1/open")" = "$2" ]; }

has_ended() { ! kill -0 "$1" 2>/dev/null; }

# forward_up WORD...: sets $forward, its pid, and $here, the port here
forward_up() {
  : >forwarded
  "$JOBRUN" forward "$@" >forwarded 2>forward.err 3>&- &
  forward=$!
  wait_until 60 test -s forwarded
  here=$(sed -n 's/^127\.0\.0\.1:\([0-9]*\) leads to port .*/\1/p' forwarded)
}

# reaches JOB OPTION...: the task whose server listens on port-1
reaches() {
  local there here forward i pids=() status=0
  wait_until 60 test -s "$TMP/port-1"
  there=$(cat "$TMP/port-1")
  forward_up "$@" ":$there"
  [ "$(ask "http://127.0.0.1:$here/rank")" = 1 ]
  # Much goes through whole, both ways, and several at once.
  ask --data-binary @"$TMP/big" "http://127.0.0.1:$here/" | cmp - "$TMP/big"
  for i in 1 2 3 4; do
    ask "http://127.0.0.1:$here/big" | cmp - "$TMP/big" &
    pids+=($!)
  done
  for i in "${pids[@]}"; do wait "$i"; done
  [ "$(printf 'GET /rank HTTP/1.0\r\n\r\n' |
    "$JOBRUN" forward "$@" "stdio:$there" | tail -n 1)" = 1 ]
  wait_until 60 has_open "$there" 0
  # One that is open ends with its client, however that ends.
  exec 7<>"/dev/tcp/127.0.0.1/$here"
  wait_until 60 has_open "$there" 1
  kill -9 "$forward"
  wait_until 60 has_open "$there" 0
  exec 7>&-
  cat forward.err
  [ ! -s forward.err ]
  # The end of the run is that of the command.
  forward_up "$@" ":$there"
  exec 7<>"/dev/tcp/127.0.0.1/$here"
  wait_until 60 has_open "$there" 1
  jobrun cancel "$1"
  wait_until 60 has_ended "$forward"
  exec 7>&-
  wait "$forward" || status=$?
  cat forward.err
  [ "$status" = 0 ]
  grep -q CANCELLED forward.err
  run jobrun forward "$@" "$there"
  [ "$status" = 1 ]
}
