"""jobrun plan against the fake provider: whole directories, of which the
largest shows whether anything grows faster than their size; and one job."""
import os
import shutil
import statistics
import subprocess
import tempfile
import time

import table

JOB = """\
jobId: train_{0:06d}
labels: {{owner: vision, team: research}}
trainingInput:
  scaleTier: CUSTOM
  masterType: n1-highcpu-16
  workerType: n1-highcpu-16
  workerCount: 4
  region: europe-west4
  args: [--epochs, "90", --batch-size=1024, --seed, "{0}"]
  scheduling: {{maxRunningTime: 7200s}}
jobrun:
  provider: fake
  command: [python3, -u, train.py]
  fake: {{resources: {1}, world: {2}}}
"""


def make(folder, first, count, things=0):
    os.makedirs(folder, exist_ok=True)
    for i in range(first, first + count):
        with open("%s/job%06d.yaml" % (folder, i), "w") as file:
            file.write(JOB.format(i, things, "../world"))


def run(argv):
    """Seconds, and the most memory in MB, as the kernel counted it."""
    with open(os.devnull, "w") as null:
        start = time.perf_counter()
        child = subprocess.Popen(argv, stdout=null, stderr=null)
        _, status, usage = os.wait4(child.pid, 0)
        taken = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit("%s ended with %d" % (" ".join(argv),
                                               child.returncode))
    return taken, usage.ru_maxrss / 1024


def median(argv, rounds):
    runs = [run(argv) for _ in range(rounds)]
    return (statistics.median(one[0] for one in runs),
            max(one[1] for one in runs))


def directories(jobrun, folder):
    print("plan, fake provider, all jobs new:")
    sizes = [(100, 9), (1000, 5), (10000, 3), (100000, 1)]
    found, made = {}, 0
    for size, rounds in sizes:
        make(folder + "/jobs", made, size - made)
        made = size
        found[size] = median([jobrun, "plan", folder + "/jobs"], rounds)
        if size == 10000:
            table.row("10,000 jobs", "%.2f s" % found[size][0],
                      "less than 3 s", found[size][0] < 3)
            table.row("memory", "%.0f MB" % found[size][1],
                      "less than 300 MB", found[size][1] < 300)
        else:
            table.row("{:,} jobs".format(size), "%.3f s" % found[size][0])
    each = {size: taken / size for size, (taken, _) in found.items()}
    table.ratio("a job of 100,000 / a job of 1,000", each[100000], each[1000],
                most=1.5)
    table.ratio("memory, 100,000 / ten times 10,000", found[100000][1],
                10 * found[10000][1], most=1.1)


def applied(jobrun, folder):
    """What is there is read, and compared with what was applied."""
    jobs = folder + "/some"
    make(jobs, 0, 1000, things=3)
    run([jobrun, "apply", "--yes", jobs])
    taken, _ = median([jobrun, "plan", jobs], 5)
    table.row("1,000 jobs of 4 resources, unchanged", "%.2f s" % taken)


def one(jobrun, folder):
    make(folder + "/one", 0, 1)
    file = folder + "/one/job000000.yaml"
    found = table.measure({"plan": [jobrun, "plan", file]}, 100)
    table.row("one job", "%.2f ms" % (found["plan"] * 1e3), "less than 10 ms",
              found["plan"] < 0.010)


def main():
    jobrun = os.environ["JOBRUN"]
    folder = tempfile.mkdtemp()
    os.environ["JOBRUN_STATE_DIR"] = folder + "/state"
    try:
        directories(jobrun, folder)
        applied(jobrun, folder)
        one(jobrun, folder)
    finally:
        shutil.rmtree(folder)


main()
