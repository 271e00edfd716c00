# make image: jobrun as an image, and what it puts into containers of others.
bats_require_minimum_version 1.5.0
# bats file_tags=server
load helper

MAKE_IMAGE=$BATS_TEST_DIRNAME/../../packaging/image/oci-archive

# within ROOT COMMAND...: in a container, as far as a test needs one; a pod of
# a Job of one.  The leak check takes the image's own loader for a part of the
# program, with what it keeps.
within() {
  mkdir -p "$1/proc"
  env -i PATH="$PATH" ASAN_OPTIONS=detect_leaks=0 JOBRUN_TASKS=node/master/1 JOB_COMPLETION_INDEX=0 \
    unshare --mount --uts sh -ec \
    'mount --rbind /proc "$1/proc"; hostname run-0; root=$1; shift
    exec chroot "$root" "$@"' sh "$@"
}

# A server that only one authority vouches for: its certificate, in cert.pem.
serve() {
  openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem \
    -days 1 -subj /CN=x -addext subjectAltName=IP:127.0.0.1 2>/dev/null
  echo trusted >served.txt
  python3 - >port <<'END' 2>/dev/null 3>&- &
import http.server, ssl
server = http.server.HTTPServer(("127.0.0.1", 0),
                                http.server.SimpleHTTPRequestHandler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("cert.pem", "key.pem")
server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_port, flush=True)
server.serve_forever()
END
  SERVER=$!
  wait_until 20 test -s port
}

teardown() {
  if [ -n "${SERVER:-}" ]; then kill "$SERVER"; fi
  rm -rf "$TMP"
}

need_chroot() {
  mkdir -p root/proc
  unshare --mount --uts mount --rbind /proc root/proc 2>/dev/null ||
    skip "needs the right to mount"
}

@test "the image is a valid one, and jobrun in it gets into a container of nothing" {
  need_chroot
  serve
  CURL_CA_BUNDLE=cert.pem "$MAKE_IMAGE" "$JOBRUN" image.tar
  # Of every digest and size, of the layout and of what docker reads.
  python3 - image.tar <<'END'
import gzip, hashlib, json, sys, tarfile
tar = tarfile.open(sys.argv[1])
members = {m.name: m for m in tar}
def read(name): return tar.extractfile(members[name]).read()
def blob(at):
    data = read("blobs/" + at["digest"].replace(":", "/"))
    assert hashlib.sha256(data).hexdigest() == at["digest"][7:], at
    assert len(data) == at["size"], at
    return data
assert json.loads(read("oci-layout")) == {"imageLayoutVersion": "1.0.0"}
index = json.loads(read("index.json"))
[manifest_at] = index["manifests"]
manifest = json.loads(blob(manifest_at))
assert manifest["mediaType"] == manifest_at["mediaType"]
config = json.loads(blob(manifest["config"]))
assert config["os"] == "linux" and config["architecture"]
[layer_at] = manifest["layers"]
layer = gzip.decompress(blob(layer_at))
assert config["rootfs"] == {"type": "layers", "diff_ids":
                            ["sha256:" + hashlib.sha256(layer).hexdigest()]}
[docker] = json.loads(read("manifest.json"))
assert docker["Config"] == "blobs/" + manifest["config"]["digest"].replace(":", "/")
assert docker["Layers"] == ["blobs/" + layer_at["digest"].replace(":", "/")]
open("layer.tar", "wb").write(layer)
# Nothing of this machine or this moment, so that the same comes out again.
for one in [tar, tarfile.open("layer.tar")]:
    assert all(m.mtime == m.uid == m.gid == 0 and not m.uname
               for m in one.getmembers())
    assert one.getnames() == sorted(one.getnames())
END
  tar -C root -xf layer.tar
  # As the container that comes first in a pod, with the pod's folder.
  mkdir -p root/target other/jobrun
  within "$TMP/root" /opt/jobrun/jobrun launch --install /target
  diff -r root/opt/jobrun root/target
  # As the program's own, which has neither shell nor library.
  mv root/target other/jobrun/bin
  run --separate-stderr within "$TMP/other" /jobrun/bin/jobrun launch \
    --from=kubernetes --verbose -- /jobrun/bin/jobrun version
  [ "$status" -eq 0 ]
  [ "$output" = "$("$JOBRUN" version)" ]
  [ "$stderr" = "jobrun: kubernetes: master 0 of 1 task, on run-0" ]
  # What was trusted where the image was made is trusted there.
  run within "$TMP/other" /jobrun/bin/jobrun cat \
    "https://127.0.0.1:$(cat port)/served.txt"
  [ "$output" = trusted ]
  # By a link, and by its name alone.
  ln -s bin/jobrun other/jobrun/link
  [ "$(within "$TMP/other" /jobrun/link version)" = "$("$JOBRUN" version)" ]
  rm other/jobrun/bin/jobrun-lib/ld.so
  run -126 within "$TMP/other" /jobrun/bin/jobrun version
  [ "$output" = "jobrun: error: cannot start '/jobrun/bin/jobrun-lib/ld.so': No such file or directory" ]
}

@test "an image is made whole, or not at all" {
  printf '#!/bin/sh\n[ "$1" != launch ]\n' >broken
  chmod +x broken
  run "$MAKE_IMAGE" ./broken image.tar
  [ "$status" -ne 0 ]
  [ ! -e image.tar ]
  run "$MAKE_IMAGE"
  [ "$status" -eq 64 ]
}
