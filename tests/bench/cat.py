"""jobrun cat: 64 shards of 64 MiB from nginx, in order on standard output, into
a pipe: against curl, curl -Z, wget and rclone, and libcurl with 8 transfers at
once that drops what comes.  Without a delay, and through a relay with a round
trip of 20 ms and a window of 4 MiB for each connection; there, who reads one
shard after the other gets a quarter of them, each of which takes as long.
SHARDS=8 makes it short, and PARTS=start,near,far does only some of it."""
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

import table

SHARDS = int(os.environ.get("SHARDS", "64"))
FAR_SHARDS = max(1, SHARDS // 4)
PARTS = os.environ.get("PARTS", "start,near,far").split(",")
SIZE = 64 << 20
ROUNDS = 3
RTT_MS, WINDOW = 20, 4 << 20
JOBRUN = os.environ["JOBRUN"]
CONF = """daemon off; worker_processes 2; pid {0}/pid; error_log {0}/error;
events {{ worker_connections 512; }}
http {{ access_log off; sendfile on; keepalive_requests 1000000;
client_body_temp_path {0}; proxy_temp_path {0}; fastcgi_temp_path {0};
uwsgi_temp_path {0}; scgi_temp_path {0};
server {{ listen 127.0.0.1:{1}; root {0}/www; autoindex on; }} }}
"""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def wait_for(port):
    for _ in range(200):
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise SystemExit("nobody listens at %d" % port)


def through_pipe(argv, size, moved):
    """MB/s of what it moves, of which `size` bytes come out, and the most
    memory that it had, MB."""
    start = time.perf_counter()
    child = subprocess.Popen(argv, stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL)
    buffer, got = bytearray(1 << 20), 0
    while True:
        n = os.readv(child.stdout.fileno(), [buffer])
        if not n:
            break
        got += n
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    taken = time.perf_counter() - start
    if child.returncode or got != size:
        raise SystemExit("%s: %d, %d bytes" % (argv[0], child.returncode, got))
    return moved / taken / 1e6, usage.ru_maxrss * 1024 / 1e6


def speeds(port, shards, in_turn):
    """In MB/s; `in_turn` of the shards for who reads one after the other."""
    urls = ["http://127.0.0.1:%d/s-%02d.tar" % (port, i)
            for i in range(shards)]
    few = urls[:in_turn]
    # What is run, the shards that it reads, and whether they come out.
    commands = {
        "jobrun cat": ([JOBRUN, "cat", urls[0].replace(
            "s-00", "s-{00..%02d}" % (shards - 1))], shards, True),
        "curl": (["curl", "-s", *few], in_turn, True),
        "curl -Z, to files that are dropped": (
            ["curl", "-sZ", "--parallel-max", "8"] +
            [word for url in urls for word in ("-o", "/dev/null", url)],
            shards, False),
        "wget": (["wget", "-qO-", *few], in_turn, True),
        "rclone cat": (["rclone", "cat", "--http-url",
                        "http://127.0.0.1:%d" % port, ":http:/", "--include",
                        "s-{%s}.tar" % ",".join("%02d" % i
                                                for i in range(in_turn))],
                       in_turn, True),
        "libcurl, 8 at once, dropped": (
            [os.environ["BENCH_PARALLEL"], "8", *urls], shards, False),
    }
    found = {name: [] for name, (argv, _, _) in commands.items()
             if shutil.which(argv[0])}
    peak = 0
    for _ in range(ROUNDS):
        for name, all_of_it in found.items():
            argv, count, comes_out = commands[name]
            speed, memory = through_pipe(argv, count * SIZE * comes_out,
                                         count * SIZE)
            all_of_it.append(speed)
            if name == "jobrun cat":
                peak = max(peak, memory)
    return {name: statistics.median(all_of_it)
            for name, all_of_it in found.items()}, peak


def show(title, found, least):
    print(title)
    for name, speed in found.items():
        table.row(name, "%.0f MB/s" % speed)
    for name, ratio in least.items():
        if name in found:
            value = found["jobrun cat"] / found[name]
            table.row("jobrun cat / " + name, "%.2f x" % value,
                      "at least %.1f x" % ratio, value >= ratio)


def starts(folder, port):
    """Seconds of one small shard, from a file and from the server."""
    with open(folder + "/www/one", "wb") as file:
        file.write(os.urandom(10240))
    commands = {"jobrun cat, a file": [JOBRUN, "cat", folder + "/www/one"],
                "jobrun cat, http": [JOBRUN, "cat",
                                     "http://127.0.0.1:%d/one" % port]}
    rclone = shutil.which("rclone")
    if rclone:
        commands["rclone cat, a file"] = [rclone, "cat", folder + "/www/one"]
        commands["rclone cat, http"] = [
            rclone, "cat", "--http-url", "http://127.0.0.1:%d" % port,
            ":http:one"]
    print("start-up, one shard of 10 kB")
    times = table.measure(commands, 11)
    for name, seconds in times.items():
        table.row(name, "%.1f ms" % (seconds * 1000))
    for where in ("a file", "http") if rclone else ():
        table.ratio("rclone / jobrun, " + where, times["jobrun cat, " + where],
                    times["rclone cat, " + where], least=20)


def near(port):
    found, peak = speeds(port, SHARDS, SHARDS)
    show("%d shards of 64 MiB, no delay" % SHARDS, found,
         {"curl": 2, "rclone cat": 1.1})
    limit = ((64 + 16) << 20) / 1e6
    table.row("most memory", "%.0f MB" % peak, "at most %.0f MB" % limit,
              peak <= limit)


def main():
    nginx = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
    if not nginx:
        print("cat: nginx is not installed")
        return
    folder = tempfile.mkdtemp(dir="/dev/shm")
    port, far = free_port(), free_port()
    running = []
    try:
        os.chmod(folder, 0o755)
        os.mkdir(folder + "/www")
        with open(folder + "/data", "wb") as file:
            for _ in range(SIZE >> 20):
                file.write(os.urandom(1 << 20))
        for i in range(SHARDS):
            os.link(folder + "/data", folder + "/www/s-%02d.tar" % i)
        with open(folder + "/conf", "w") as file:
            file.write(CONF.format(folder, port))
        running.append(subprocess.Popen(
            [nginx, "-e", folder + "/error", "-c", folder + "/conf"]))
        running.append(subprocess.Popen(
            [os.environ["BENCH_RELAY"], str(far), str(port), str(RTT_MS),
             str(WINDOW)]))
        wait_for(port)
        wait_for(far)
        if "start" in PARTS:
            starts(folder, port)
        if "near" in PARTS:
            near(port)
        if "far" in PARTS:
            found, _ = speeds(far, FAR_SHARDS, max(1, FAR_SHARDS // 4))
            show("%d shards, %d ms, window 4 MiB" % (FAR_SHARDS, RTT_MS),
                 found, {"curl": 4, "libcurl, 8 at once, dropped": 0.9})
    finally:
        for child in reversed(running):
            child.terminate()
            child.wait()
        shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(main())
