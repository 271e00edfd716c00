"""The HTTP client against curl: the processor time of uploading 2 GB as
Cloud Storage wants it, checksum and all, and of 10,000 small requests; to a
server on this machine."""
import json
import multiprocessing
import os
import shutil
import socket
import statistics
import subprocess
import tempfile
import threading

import table

SIZE = 2 << 30
REQUESTS = 10000
PARALLEL = 16
ROUNDS = 5


class Server:
    """Takes what comes, as fast as it can; one thread per connection."""

    def __init__(self, crc):
        self.crc = crc
        self.connections = multiprocessing.Value("i", 0)
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.base = "http://127.0.0.1:%d" % self.socket.getsockname()[1]
        self.process = multiprocessing.Process(target=self.serve, daemon=True)
        self.process.start()

    def serve(self):
        while True:
            connection, _ = self.socket.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.connections.value += 1
            threading.Thread(target=self.talk, args=(connection,),
                             daemon=True).start()

    def talk(self, connection):
        rest = b""
        room = bytearray(4 << 20)
        while True:
            while b"\r\n\r\n" not in rest:
                data = connection.recv(65536)
                if not data:
                    return
                rest += data
            head, rest = rest.split(b"\r\n\r\n", 1)
            left = 0
            for line in head.split(b"\r\n")[1:]:
                name, value = line.split(b":", 1)
                if name.lower() == b"content-length":
                    left = int(value)
            if b"expect: 100" in head.lower():
                connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
            take = min(left, len(rest))
            left -= take
            rest = rest[take:]
            while left:
                left -= connection.recv_into(room, min(left, len(room)))
            self.answer(connection, head)

    def answer(self, connection, head):
        more, body = b"", b'{"ok": true}'
        if head.startswith(b"POST") and b"uploadType=resumable" in head:
            more = b"Location: %s/session\r\n" % self.base.encode()
        elif head.startswith(b"PUT"):
            body = json.dumps({"name": "object", "size": str(SIZE),
                               "generation": "1",
                               "crc32c": self.crc}).encode()
        connection.sendall(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n%s"
            b"Content-Length: %d\r\n\r\n%s" % (more, len(body), body))


def cpu(argv):
    """Processor seconds of one run, without what it prints."""
    null = os.open("/dev/null", os.O_RDWR)
    pid = os.posix_spawn(argv[0], argv, os.environ, file_actions=[
        (os.POSIX_SPAWN_DUP2, null, 1), (os.POSIX_SPAWN_DUP2, null, 2)])
    os.close(null)
    _, status, used = os.wait4(pid, 0)
    if status:
        raise SystemExit("%s ended with %d" % (
            " ".join(argv), os.waitstatus_to_exitcode(status)))
    return used.ru_utime + used.ru_stime


def measure(commands):
    used = {name: [] for name in commands}
    for _ in range(ROUNDS):
        for name, argv in commands.items():
            used[name].append(cpu(argv))
    return {name: statistics.median(all) for name, all in used.items()}


def main():
    mine, curl = os.environ.get("BENCH_NET"), shutil.which("curl")
    if not mine or not curl:
        return
    folder = tempfile.mkdtemp(dir="/dev/shm" if os.path.isdir("/dev/shm")
                              else None)
    try:
        path = folder + "/file"
        with open(path, "wb") as file:
            piece = os.urandom(16 << 20)
            for _ in range(SIZE // len(piece)):
                file.write(piece)
        crc = subprocess.check_output([mine, "crc", path], text=True).strip()
        server = Server(crc)
        os.environ.update(STORAGE_EMULATOR_HOST=server.base,
                          GOOGLE_OAUTH_ACCESS_TOKEN="token")
        used = measure({
            "mine": [mine, "upload", path],
            "curl": [curl, "-s", "-T", path, server.base + "/file"]})
        print("upload of %.1f GB to this machine:" % (SIZE / 1e9))
        table.row("jobrun, with its CRC-32C", "%.2f s" % used["mine"])
        table.row("curl -T", "%.2f s" % used["curl"])
        table.ratio("processor time against curl's", used["mine"],
                    used["curl"], most=1.2)
        requests(mine, curl, server)
    finally:
        shutil.rmtree(folder)


def requests(mine, curl, server):
    url = server.base + "/small/"
    before = server.connections.value
    cpu([mine, "get", url, str(REQUESTS), str(PARALLEL)])
    connections = server.connections.value - before
    used = measure({
        "mine": [mine, "get", url, str(REQUESTS), str(PARALLEL)],
        "curl": [curl, "-s", "--parallel", "--parallel-max", str(PARALLEL),
                 "-o", "/dev/null", url + "[1-%d]" % REQUESTS]})
    print("%d small requests, %d under way:" % (REQUESTS, PARALLEL))
    table.row("jobrun", "%.2f s" % used["mine"])
    table.row("curl --parallel", "%.2f s" % used["curl"])
    table.ratio("processor time against curl's", used["mine"], used["curl"],
                most=1.2)
    table.row("connections", connections, "at most %d" % PARALLEL,
              connections <= PARALLEL)


main()
