"""A training that reads its samples A from a file each, in random order, B from
640 tar shards, and C from the same shards over HTTP, as 'jobrun cat' streams
them; with 1 to 16 readers, and 0 to 1,000 µs of work for each sample.

All readers and the model run on one core, the server on another, so that B and
C have the same.  Every run begins with a cold cache, and every byte that comes
is in a checksum.  The kinds take turns, so that a change of the machine's mood
falls on all of them alike.  loader/README.md has the method.

READERS=1,16 WORK=200 ROUNDS=1 make it short.  RESULTS=FILE adds what is measured
to what earlier runs have; WRITE=1 puts figures and plot into the README."""
import json
import os
import random
import shutil
import statistics
import subprocess
import tempfile

import loader_plot
import table
from cat import CONF, free_port, wait_for

LOADER, JOBRUN = os.environ["BENCH_LOADER"], os.environ["JOBRUN"]
READERS = [int(n) for n in os.environ.get("READERS", "1,2,4,8,16").split(",")]
WORK_US = [int(n) for n in os.environ.get("WORK", "0,60,200,1000").split(",")]
ROUNDS = int(os.environ.get("ROUNDS", "3"))
RESULTS = os.environ.get("RESULTS")
SHARDS, IN_EACH, CLASSES = 640, 40, 10
# How many shards a run reads: it shall take seconds, not minutes.
PART = {0: 640, 60: 320, 200: 256, 1000: 64}
KINDS = "ABC"
# Where more than this of the time goes into loading, shards gain what is said
# of them; from so much work on, streaming costs less than can be seen.
LOADING, COVERED_US = 0.15, 200
HERE = os.path.dirname(os.path.abspath(__file__))


def make(folder):
    """Images as CIFAR-10 has them: a byte that is the class, and 3072."""
    noise = random.Random(1).randbytes(1 << 20)
    for label in range(CLASSES):
        os.makedirs("%s/images/class-%d" % (folder, label))
    for i in range(SHARDS * IN_EACH):
        label, at = i % CLASSES, i * 7919 % (len(noise) - 3072)
        with open("%s/images/class-%d/%06d.bin" % (folder, label, i),
                  "wb") as file:
            file.write(bytes([label]) + noise[at:at + 3072])
    subprocess.run([JOBRUN, "shard", "--shuffle", "1", "--shards", str(SHARDS),
                    "--name", "train", folder + "/images", folder + "/www"],
                   check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    os.chmod(folder + "/www", 0o755)
    for entry in os.scandir(folder + "/www"):
        os.chmod(entry.path, 0o644)
    os.sync()


def members(folder, shard):
    """The files that are in a shard."""
    with open(shard, "rb") as file:
        data = file.read()
    at = 0
    while data[at]:
        size = int(data[at + 124:at + 135], 8)
        if data[at + 156] == ord("0"):
            yield "%s/images/%s" % (
                folder, data[at:at + 100].rstrip(b"\0").decode())
        at += 512 + (size + 511) // 512 * 512


def drop_by_name(paths):
    for path in paths:
        fd = os.open(path, os.O_RDONLY)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(fd)


def drop_caches(paths):
    """Returns how that was done."""
    try:
        with open("/proc/sys/vm/drop_caches", "w") as file:
            file.write("3")
        return "drop_caches"
    except OSError:
        drop_by_name(paths)
        return "posix_fadvise"


class Place:
    """The data, the server, and who runs where."""

    def __init__(self, folder):
        self.folder = folder
        cores = sorted(os.sched_getaffinity(0))
        self.mine, self.other = {cores[0]}, {cores[-1]}
        self.shards = ["%s/www/train-%06d.tar" % (folder, i)
                       for i in range(SHARDS)]
        self.files = [list(members(folder, shard)) for shard in self.shards]
        self.sums = {}
        self.cold = None
        pass_ns = float(self.run(["calibrate"]))
        self.passes = {us: round(us * 1000 / pass_ns) for us in WORK_US}

    def run(self, args, lines=()):
        done = subprocess.run(
            [LOADER, *args], input="".join(line + "\n" for line in lines),
            stdout=subprocess.PIPE, text=True, check=True,
            preexec_fn=lambda: os.sched_setaffinity(0, self.mine))
        return done.stdout

    def serve(self):
        """Returns the server's process."""
        self.port = free_port()
        with open(self.folder + "/conf", "w") as file:
            file.write(CONF.format(self.folder, self.port))
        server = subprocess.Popen(
            [shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin"),
             "-c", self.folder + "/conf", "-e", self.folder + "/error"],
            preexec_fn=lambda: os.sched_setaffinity(0, self.other))
        wait_for(self.port)
        return server

    def measure(self, kind, readers, work_us, order):
        """Samples per second."""
        part = PART.get(work_us, SHARDS)
        shards = self.shards[:part]
        files = [path for one in self.files[:part] for path in one]
        if part not in self.sums:  # warm, and in another order
            self.sums[part] = json.loads(
                self.run(["files", "1", "0"], files))["sum"]
        random.Random(order).shuffle(files)
        self.cold = drop_caches(files + shards)
        how = [str(readers), str(self.passes[work_us])]
        if kind == "A":
            out = self.run(["files", *how], files)
        elif kind == "B":
            out = self.run(["shards", *how], shards)
        else:
            out = self.run(["stream", *how,
                            "http://127.0.0.1:%d/train-{000000..%06d}.tar" %
                            (self.port, part - 1)])
        found = json.loads(out)
        if (found["samples"], found["sum"]) != (len(files), self.sums[part]):
            raise SystemExit("%s: other bytes came: %s" % (kind, out))
        return found["counted"] / found["seconds"]


def measure_all(place, found):
    """`found`: {"WORK READERS KIND": rates}"""
    for turn in range(ROUNDS):
        for work_us in WORK_US:
            for readers in READERS:
                for i in range(len(KINDS)):
                    kind = KINDS[(i + turn) % len(KINDS)]
                    key = "%d %d %s" % (work_us, readers, kind)
                    rates = found.setdefault(key, [])
                    rates.append(place.measure(kind, readers, work_us,
                                               len(rates)))


def medians(found):
    """{work: {readers: {kind: samples per second}}}"""
    out = {}
    for key, rates in found.items():
        work_us, readers, kind = key.split()
        out.setdefault(int(work_us), {}).setdefault(int(readers), {})[
            kind] = statistics.median(rates)
    return out


def figures(rates):
    """Lines of a table."""
    yield "| work per sample | readers | A files | B shards | C streamed | B/A | C/B |"
    yield "| ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    for work_us in sorted(rates):
        for readers, of in sorted(rates[work_us].items()):
            yield "| %s µs | %d | %s/s | %s/s | %s/s | %.2f | %.2f |" % (
                format(work_us, ","), readers, *(
                    format(round(of[kind]), ",") for kind in KINDS),
                of["B"] / of["A"], of["C"] / of["B"])


def span(values):
    low, high = min(values), max(values)
    return "%.2f x" % low if "%.2f" % low == "%.2f" % high else (
        "%.2f to %.2f x" % (low, high))


def loading_share(work_us, rate):
    """Of the time of A that is not the work's: what can be gained at all."""
    return 1 - rate * work_us / 1e6


def claims(rates):
    """(what, under which condition, the ratios there, the least that they
    should be)"""
    cells = [(work_us, one) for work_us in rates
             for one in rates[work_us].values()]
    for loads in (True, False):
        yield ("B over A", "loading takes A %s %d %% of the time" %
               ("at least" if loads else "less than", LOADING * 100),
               [one["B"] / one["A"] for work_us, one in cells
                if (loading_share(work_us, one["A"]) >= LOADING) == loads],
               1.11 if loads else None)
    for covers in (True, False):
        yield ("C over B", "a sample has %s %d µs of work" %
               ("at least" if covers else "less than", COVERED_US),
               [one["C"] / one["B"] for work_us, one in cells
                if (work_us >= COVERED_US) == covers],
               0.95 if covers else None)


def report(found, cold):
    rates = medians(found)
    lines = list(figures(rates))
    print("\n".join(lines))
    print("Cold by %s.  Shards over files, and streamed shards over local ones:"
          % cold)
    for what, where, ratios, least in claims(rates):
        if ratios:
            print("  where %s, %d of %d:" % (where, len(ratios), sum(
                len(of) for of in rates.values())))
            table.row("  " + what, span(ratios),
                      "at least %.2f x" % least if least else "",
                      min(ratios) >= least if least else None)
    if os.environ.get("WRITE"):
        write(lines, rates)


def write(lines, rates):
    path = HERE + "/loader/README.md"
    with open(path) as file:
        text = file.read()
    mark = "<!-- figures -->\n"
    before, _, after = text.split(mark)
    with open(path, "w") as file:
        file.write(before + mark + "\n".join(lines) + "\n" + mark + after)
    with open(HERE + "/loader/plot.svg", "w") as file:
        file.write(loader_plot.svg(rates))


def main():
    if not shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin"):
        print("loader: nginx is not installed")
        return
    if len(os.sched_getaffinity(0)) < 2:
        print("loader: needs two cores, one of them for the server")
        return
    found = {}
    if RESULTS and os.path.exists(RESULTS):
        with open(RESULTS) as file:
            found = json.load(file)
    folder = tempfile.mkdtemp(prefix="jobrun-bench-")
    server = None
    try:
        os.chmod(folder, 0o755)
        make(folder)
        place = Place(folder)
        server = place.serve()
        measure_all(place, found)
        cold = place.cold
    finally:
        if server:
            server.terminate()
            server.wait()
        shutil.rmtree(folder)
    if RESULTS:
        with open(RESULTS, "w") as file:
            json.dump(found, file)
    report(found, cold)


if __name__ == "__main__":
    main()
