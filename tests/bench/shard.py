"""Shards of 100,000 small files: jobrun against GNU tar, two of them side by
side, bsdtar and Python's tarfile, from a warm cache and, where caches may be
dropped, from a cold one.  FILES and ROUNDS change how much.

All write the same files below one folder; what each has written is read back
and compared, name by name.  Nothing waits for the disk: what is
measured is until the last process ends."""
import hashlib
import mmap
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import table

JOBRUN = os.environ["JOBRUN"]
FILES = int(os.environ.get("FILES", "100000"))
ROUNDS = int(os.environ.get("ROUNDS", "5"))
FOLDERS = 100
SLOW_S = 10  # what takes longer is measured once

PYTHON = """
import os, sys, tarfile
with tarfile.open(sys.argv[2], "w") as out:
    for folder, _, names in os.walk(sys.argv[1]):
        for name in names:
            path = os.path.join(folder, name)
            out.add(path, os.path.relpath(path, sys.argv[1]))
"""


def make(folder):
    """Files of about 10 kB, which no two have alike."""
    noise = random.Random(1).randbytes(1 << 20)
    for i in range(FOLDERS):
        os.makedirs("%s/c%03d" % (folder, i))
        for j in range(FILES // FOLDERS):
            at = (i * 7919 + j * 104729) % (len(noise) - 20000)
            with open("%s/c%03d/%06d.jpg" % (folder, i, j), "wb") as file:
                file.write(noise[at:at + 8000 + at % 4000])


def tools(source, half, out):
    """{name: commands that run side by side}"""
    tar = ["tar", "-C", source, "-cf"]
    all = {
        "jobrun shard": [[JOBRUN, "shard", "--bytes", "64MB", source, out]],
        "one GNU tar": [tar + [out + "/a.tar", "."]],
        "two GNU tars": [tar + [out + "/%d.tar" % i, "-T", half[i]]
                         for i in range(2)],
        "bsdtar": [["bsdtar", "-C", source, "-cf", out + "/a.tar", "."]],
        "Python's tarfile": [[sys.executable, "-c", PYTHON, source,
                              out + "/a.tar"]],
    }
    return {name: commands for name, commands in all.items()
            if shutil.which(commands[0][0])}


def seconds(commands):
    start = time.perf_counter()
    running = [subprocess.Popen(argv, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)
               for argv in commands]
    if any([child.wait() for child in running]):
        raise SystemExit("%s has failed" % commands)
    return time.perf_counter() - start


def members(data):
    """(name, bytes) of the files of an archive; Python's own reader would take
    longer than all that is measured.  Names are short here."""
    at = 0
    while data[at]:
        size = int(data[at + 124:at + 135], 8)
        if data[at + 156] == ord("0"):
            yield (bytes(data[at:at + 100]).rstrip(b"\0"),
                   data[at + 512:at + 512 + size])
        at += 512 + (size + 511) // 512 * 512


def contents(out):
    """{name: digest} of all that is in the archives."""
    found = {}
    for name in sorted(os.listdir(out)):
        if name.endswith(".tar"):
            with open(os.path.join(out, name), "rb") as file:
                data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
                for path, bytes in members(data):
                    found[os.path.normpath(path)] = hashlib.sha1(
                        bytes).digest()
    return found


def drop_caches():
    try:
        with open("/proc/sys/vm/drop_caches", "w") as file:
            file.write("3")
        return True
    except OSError:
        return False


def measure(source, half, out, cold):
    times = {}
    want = None
    for i in range(ROUNDS + (0 if cold else 1)):
        for name, commands in tools(source, half, out).items():
            # No ratio to it is close.
            if times.get(name, [0])[-1] > SLOW_S:
                continue
            # Gone before it is on its way to the disk.
            shutil.rmtree(out, ignore_errors=True)
            os.mkdir(out)
            if cold:
                drop_caches()
            taken = seconds(commands)
            if cold or i:
                times.setdefault(name, []).append(taken)
            else:  # the first warms up, and is looked at
                found = contents(out)
                want = want or found
                if len(found) != FILES or found != want:
                    raise SystemExit("%s has written other bytes" % name)
    return {name: statistics.median(all) for name, all in times.items()}


def report(what, times, bytes):
    print("%s:" % what, flush=True)
    for name, taken in times.items():
        table.row(name, "%.2f GB/s" % (bytes / taken / 1e9))
    mine = times["jobrun shard"]
    for name, taken in times.items():
        if name == "two GNU tars":
            table.row("jobrun shard to two GNU tars",
                      "%.2f x" % (taken / mine), "at least 1.0 x",
                      taken >= mine)
        elif name != "jobrun shard":
            table.ratio("jobrun shard to " + name, mine, taken, least=1)


def main():
    with tempfile.TemporaryDirectory(prefix="jobrun-bench-") as here:
        source, out = here + "/in", here + "/out"
        make(source)
        os.sync()
        half = [here + "/first", here + "/second"]
        for i, path in enumerate(half):
            with open(path, "w") as file:
                for j in range(FOLDERS // 2):
                    file.write("c%03d\n" % (j + i * (FOLDERS // 2)))
        bytes = sum(os.path.getsize(os.path.join(folder, name))
                    for folder, _, names in os.walk(source) for name in names)
        print("shards of %d files, %.2f GB, on %d cores" %
              (FILES, bytes / 1e9, len(os.sched_getaffinity(0))))
        report("warm cache", measure(source, half, out, False), bytes)
        if drop_caches():
            report("cold cache", measure(source, half, out, True), bytes)
        else:
            print("cold cache: caches can't be dropped here")


if __name__ == "__main__":
    main()
