"""jobrun apply: eight tasks that write 500 MB each, against a bare loop that
prefixes lines and keeps nothing, GNU parallel and npm's concurrently; into a
pipe and into a file.  All files are on a tmpfs, in memory that was used just
before: a virtual machine gets what it has not used for a while page by page,
slower than any of these writes, and who keeps logs needs more of it.  MB=50
makes it short."""
import os
import shutil
import subprocess
import tempfile
import time

import table

TASKS = 8
MB = int(os.environ.get("MB", "500"))
# Of the slow ones; what they take grows with the bytes.
SLOW_MB = max(1, MB // 10)
ROUNDS = 3
JOB = """\
jobId: output
trainingInput:
  scaleTier: CUSTOM
  masterType: n1-standard-4
  workerType: n1-standard-4
  workerCount: %d
  region: us-central1
jobrun:
  provider: local
  command: ["%s", "%d"]
"""


def warm(mb, folder):
    """As much memory as logs and output together need is touched."""
    path = folder + "/warm"
    with open(path, "wb") as file:
        os.posix_fallocate(file.fileno(), 0, int(2.5 * TASKS * mb * 1000000))
    os.unlink(path)


def speed(argv, mb, sink, folder):
    """MB of the tasks' output that came out, per second, and whether that was
    all of it."""
    state = folder + "/state"
    env = dict(os.environ, JOBRUN_STATE_DIR=state)
    path = folder + "/out"
    warm(mb, folder)
    start = time.perf_counter()
    if sink == "file":
        with open(path, "wb") as out:
            code = subprocess.run(argv, stdout=out, env=env,
                                  stderr=subprocess.DEVNULL).returncode
        size = os.path.getsize(path)
    else:
        child = subprocess.Popen(argv, stdout=subprocess.PIPE, env=env,
                                 stderr=subprocess.DEVNULL)
        reader = subprocess.Popen(["wc", "-c"], stdin=child.stdout,
                                  stdout=subprocess.PIPE)
        child.stdout.close()
        size = int(reader.communicate()[0])
        code = child.wait()
    taken = time.perf_counter() - start
    shutil.rmtree(state, ignore_errors=True)
    if os.path.exists(path):
        os.unlink(path)
    if code:
        raise SystemExit("%s ended with %d" % (" ".join(argv[:2]), code))
    written = TASKS * mb * 1000000
    return min(size, written) / 1e6 / taken, size >= written


def commands(folder):
    """name: (argv, MB per task)"""
    lines = os.path.abspath(os.environ["BENCH_LINES"])
    job = folder + "/job.yaml"
    with open(job, "w") as file:
        file.write(JOB % (TASKS - 1, lines, MB))
    slow = "%s %d" % (lines, SLOW_MB)
    found = {
        "prefix": ([os.environ["BENCH_PREFIX"], str(TASKS), lines, str(MB)],
                   MB),
        "jobrun": ([os.environ["JOBRUN"], "apply", "--yes", job], MB),
    }
    if shutil.which("parallel"):
        found["parallel"] = (["parallel", "--line-buffer", "--tag",
                              "-j%d" % TASKS, slow + " #", ":::"]
                             + [str(i) for i in range(TASKS)], SLOW_MB)
    if shutil.which("concurrently"):
        found["concurrently"] = (["concurrently"] + [slow] * TASKS, SLOW_MB)
    return found


def measure(folder, sink):
    found = commands(folder)
    speeds = {name: [] for name in found}
    whole = {name: True for name in found}
    for i in range(ROUNDS):
        for name, (argv, mb) in found.items():
            one, all_there = speed(argv, mb, sink, folder)
            speeds[name].append(one)
            whole[name] &= all_there
    best = {name: max(all) for name, all in speeds.items()}
    print("output of %d tasks, %d MB each, into a %s:" % (TASKS, MB, sink))
    for name in best:
        table.row(name, "%.0f MB/s" % best[name],
                  "" if whole[name] else "(lost some of it)",
                  False if name == "jobrun" and not whole[name] else None)
    # Who loses output is no measure.
    best = {name: best[name] for name in best if whole[name]}
    if {"parallel", "jobrun"} <= best.keys():
        table.ratio("jobrun / GNU parallel --line-buffer --tag",
                    best["parallel"], best["jobrun"], least=6)
    if {"concurrently", "jobrun"} <= best.keys():
        table.ratio("jobrun / concurrently", best["concurrently"],
                    best["jobrun"], least=2)
    if "jobrun" not in best:
        return
    share = best["jobrun"] / best["prefix"]
    table.row("jobrun / the bare loop", "%.0f %%" % (share * 100),
              "at least 75 %", share >= 0.75)


def main():
    folder = tempfile.mkdtemp(dir="/dev/shm")
    try:
        measure(folder, "pipe")
        measure(folder, "file")
    finally:
        shutil.rmtree(folder)


main()
