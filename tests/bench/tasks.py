"""jobrun apply: a run of 2,000 short tasks against xargs, and the memory of the
supervisor of a run with 1,000 tasks at once."""
import os
import shutil
import statistics
import subprocess
import tempfile
import time

import table

SHORT = 2000
MANY = 1000
ROUNDS = 5
JOB = """\
jobId: {0}
trainingInput:
  scaleTier: CUSTOM
  masterType: n1-standard-4
  workerType: n1-standard-4
  workerCount: {1}
  region: us-central1
jobrun:
  provider: local
  command: {2}
  grace: 2s
"""


class Jobs:
    def __init__(self, folder):
        self.folder = folder
        self.env = dict(os.environ, JOBRUN_STATE_DIR=folder + "/state")

    def write(self, name, tasks, command):
        path = "%s/%s.yaml" % (self.folder, name)
        with open(path, "w") as file:
            file.write(JOB.format(name, tasks - 1, command))
        return path

    def run(self, *args):
        done = subprocess.run([os.environ["JOBRUN"], *args], env=self.env,
                              stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)
        if done.returncode:
            raise SystemExit(done.stderr)
        return done.stdout

    def seconds(self, *args):
        start = time.perf_counter()
        self.run(*args)
        return time.perf_counter() - start


def short(jobs):
    path = jobs.write("short", SHORT, '["true"]')
    mine, other = [], []
    for _ in range(ROUNDS):
        mine.append(jobs.seconds("apply", "--yes", "--rerun", path))
        start = time.perf_counter()
        subprocess.run("seq %d | xargs -n1 true" % SHORT, shell=True,
                       check=True)
        other.append(time.perf_counter() - start)
    print("%d short tasks:" % SHORT)
    table.row("jobrun apply", "%.2f s" % statistics.median(mine))
    table.row("xargs -n1", "%.2f s" % statistics.median(other))
    table.ratio("jobrun / xargs", statistics.median(mine),
                statistics.median(other), most=1.3)


def supervisor_kb(jobs, name, tasks):
    """What it takes of its own, and how long all tasks took to start."""
    path = jobs.write(name, tasks, '["sleep", "1000"]')
    start = time.perf_counter()
    jobs.run("apply", "--yes", "--detach", path)
    while "RUNNING" not in jobs.run("status", name).splitlines()[1]:
        time.sleep(0.01)
    taken = time.perf_counter() - start
    with open("%s/state/runs/%s.1/lock" % (jobs.folder, name)) as file:
        pid = int(file.read())
    with open("/proc/%d/smaps_rollup" % pid) as file:
        kb = sum(int(line.split()[1]) for line in file
                 if line.startswith("Private_"))
    jobs.run("cancel", "--now", name)
    return kb, taken


def many(jobs):
    one, _ = supervisor_kb(jobs, "one", 1)
    all_kb, taken = supervisor_kb(jobs, "many", MANY)
    each = (all_kb - one) / (MANY - 1)
    print("%d tasks at once:" % MANY)
    table.row("until all run", "%.2f s" % taken)
    table.row("the supervisor's memory", "%d kB" % all_kb)
    table.row("for each task", "%.1f kB" % each, "at most 64 kB", each <= 64)


def main():
    folder = tempfile.mkdtemp(
        dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
    try:
        jobs = Jobs(folder)
        short(jobs)
        many(jobs)
    finally:
        shutil.rmtree(folder)


main()
