"""jobrun at a Slurm cluster, against squeue: the status of 5,000 runs that wait
in the queue of a real slurmctld, and the plan and the script of a job of 4,096
tasks.  Needs what the tests of it need, but no root: no node is up."""
import os
import random
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time

import table

RUNS = 5000
TASKS = 4096
ROUNDS = 9
SUBMITTERS = 2
STATUS_MS = 300
LARGE_MS = 50
LARGE_MB = 50

CONF = """\
ClusterName=bench
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmctldPidFile={folder}/slurmctld.pid
StateSaveLocation={folder}/save
SlurmctldLogFile={folder}/slurmctld.log
SlurmUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
SchedulerType=sched/builtin
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
JobAcctGatherType=jobacct_gather/none
NodeName=n1 NodeAddr=127.0.0.1 Port={node} CPUs=4 RealMemory=32000 State=DOWN
PartitionName=main Nodes=ALL Default=YES State=UP
"""
JOB = """\
jobId: {0}
trainingInput:
  scaleTier: CUSTOM
  masterType: n1-standard-2
{1}
jobrun:
  provider: slurm
  command: [python3, train.py]
"""
WORKERS = """\
  workerType: n1-standard-2
  workerCount: {0}
"""
# Others that wait, in jobs of the same comment but for their names.
SUBMIT = """\
i=$1
while [ $i -lt $2 ]; do
  sbatch -Q --hold --job-name=job$i --comment="$(printf "$3" $i)" \
    --output=/dev/null --wrap=true >/dev/null || exit
  i=$((i + 1))
done
"""


class Controller:
    """munged and slurmctld, and the squeue that is counted."""

    def __init__(self, folder):
        self.folder = folder
        self.processes = []
        port = 27000 + random.randrange(1000)
        os.mkdir(folder + "/save")
        os.mkdir(folder + "/bin")
        with open(folder + "/slurm.conf", "w") as file:
            file.write(CONF.format(
                host=socket.gethostname(), folder=folder, port=port,
                node=port + 1000, user=os.environ.get("USER") or "root"))
        with open(folder + "/munge.key", "wb") as file:
            os.fchmod(file.fileno(), 0o600)
            file.write(os.urandom(128))
        self.squeue = shutil.which("squeue")
        with open(folder + "/bin/squeue", "w") as file:
            os.fchmod(file.fileno(), 0o755)
            file.write("#!/bin/sh\necho >>%s/asked\nexec %s \"$@\"\n"
                       % (folder, self.squeue))
        os.environ.update(SLURM_CONF=folder + "/slurm.conf", HOME=folder,
                          JOBRUN_STATE_DIR=folder + "/state")
        self.spawn(["munged", "-F", "--force",
                    "--key-file=" + folder + "/munge.key",
                    "--socket=" + folder + "/munge.sock",
                    "--pid-file=" + folder + "/munged.pid",
                    "--log-file=" + folder + "/munged.log",
                    "--seed-file=" + folder + "/munge.seed"])
        self.wait(lambda: os.path.exists(folder + "/munge.sock"))
        self.spawn(["slurmctld", "-D"])
        self.wait(lambda: subprocess.run(
            [self.squeue], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL).returncode == 0)

    def spawn(self, argv):
        with open(self.folder + "/out", "a") as out:
            self.processes.append(subprocess.Popen(
                argv, stdin=subprocess.DEVNULL, stdout=out, stderr=out))

    def wait(self, there):
        until = time.monotonic() + 60
        while not there():
            if time.monotonic() > until:
                with open(self.folder + "/out") as out:
                    raise SystemExit("Slurm does not start: " + out.read())
            time.sleep(0.05)

    def asked(self, argv):
        """How often a command calls squeue."""
        before = os.environ["PATH"]
        os.environ["PATH"] = self.folder + "/bin:" + before
        table.seconds(argv)
        os.environ["PATH"] = before
        if not os.path.exists(self.folder + "/asked"):
            return 0
        count = os.path.getsize(self.folder + "/asked")
        os.remove(self.folder + "/asked")
        return count

    def stop(self):
        for process in reversed(self.processes):
            process.terminate()
            process.wait()


def write(folder, name, tasks):
    path = "%s/%s.yaml" % (folder, name)
    more = WORKERS.format(tasks - 1) if tasks > 1 else ""
    with open(path, "w") as file:
        file.write(JOB.format(name, more))
    return path


def submit(folder):
    """One run, made by jobrun, is copied: so many wait in the queue."""
    subprocess.run([os.environ["JOBRUN"], "apply", "--yes", "--detach",
                    write(folder, "job0", 1)], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with sqlite3.connect(folder + "/state/jobrun.db") as db:
        text = db.execute("SELECT properties FROM run").fetchone()[0]
        comment = re.search(r'"comment":"([^"]*)"', text).group(1)
        names = [row[1] for row in db.execute("PRAGMA table_info(run)")
                 if row[1] != "id"]
        values = ", ".join(
            "'job' || n" if name == "job_id" else
            "replace(properties, 'jobrun:job0:', 'jobrun:job' || n || ':')"
            if name == "properties" else name for name in names)
        db.execute("WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 "
                   "FROM c WHERE n < %d) INSERT INTO run (%s) SELECT %s "
                   "FROM run, c WHERE job_id = 'job0'"
                   % (RUNS - 1, ", ".join(names), values))
    db.close()
    comments = comment.replace("job0", "job%d", 1)
    each = (RUNS - 1 + SUBMITTERS - 1) // SUBMITTERS
    calls = [subprocess.Popen(
        ["sh", "-c", SUBMIT, "sh", str(1 + i * each),
         str(min(1 + (i + 1) * each, RUNS)), comments])
        for i in range(SUBMITTERS)]
    if any([call.wait() for call in calls]):
        raise SystemExit("sbatch failed")


def status(controller, folder):
    submit(folder)
    jobrun = os.environ["JOBRUN"]
    commands = {
        "squeue": [controller.squeue, "-h", "--me", "-t", "all", "-o",
                   "%i|%T|%S|%e|%N|%r|%k"],
        "status": [jobrun, "status"],
        "status --format json": [jobrun, "status", "--format", "json"],
    }
    asked = controller.asked(commands["status"])
    used = table.measure_use(commands, ROUNDS)
    print("status of %d runs that wait" % RUNS)
    table.row("calls of squeue", "%d" % asked, "1", asked == 1)
    for name in used:
        ms = 1000 * used[name].seconds
        if name == "status":
            table.row("status, wall", "%.0f ms" % ms,
                      "at most %d ms" % STATUS_MS, ms <= STATUS_MS)
        else:
            table.row("%s, wall" % name, "%.0f ms" % ms)
        table.row("%s, CPU, with all it calls" % name,
                  "%.0f ms" % (1000 * used[name].cpu))
    table.ratio("status, wall, to squeue alone", used["status"].seconds,
                used["squeue"].seconds, most=5)


def large(folder):
    path = write(folder, "large", TASKS)
    jobrun = os.environ["JOBRUN"]
    used = table.measure_use({
        "plan": [jobrun, "plan", path],
        "render": [jobrun, "render", "--to", "slurm", path],
    }, ROUNDS)
    print("a job of %d tasks" % TASKS)
    for name in used:
        ms, mb = 1000 * used[name].seconds, used[name].peak_kb / 1024
        table.row("%s, wall" % name, "%.0f ms" % ms,
                  "at most %d ms" % LARGE_MS, ms <= LARGE_MS)
        table.row("%s, CPU" % name, "%.0f ms" % (1000 * used[name].cpu))
        table.row("%s, memory" % name, "%.0f MB" % mb,
                  "at most %d MB" % LARGE_MB, mb <= LARGE_MB)


def main():
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    for name in "munged", "slurmctld", "sbatch", "squeue":
        if not shutil.which(name):
            print("no %s: left out" % name)
            return
    folder = tempfile.mkdtemp()
    controller = Controller(folder)
    try:
        large(folder)
        status(controller, folder)
    finally:
        controller.stop()
        shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(main())
