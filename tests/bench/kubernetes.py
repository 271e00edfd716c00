"""jobrun in a cluster, against its stand-in on this machine: the status of
5,000 runs that wait in a queue, the plan and manifests of 4,096 pods, and the
requests that whoever follows a run makes.  Of what takes time behind the
connection, the stand-in's own share is shown, as curl sees it."""
import os
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

import table

RUNS = 5000
TASKS = 4096
ROUNDS = 7
FOLLOWED = 1, 16, 128
FOLLOW_S = 60
STAND_IN = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                        "../stand-ins/kubernetes/server.py")
JOB = """\
jobId: {0}
trainingInput:
  scaleTier: CUSTOM
  masterType: n1-standard-4
  masterConfig: {{imageUri: "gcr.io/p/i:1"}}
  workerType: n1-standard-4
  workerCount: {1}
jobrun:
  provider: kubernetes
  kubernetes: {{queue: team}}
"""


class StandIn:
    def __init__(self, folder):
        self.process = subprocess.Popen(
            [sys.executable, STAND_IN, "--port-file", folder + "/port",
             "--credentials", folder], stdin=subprocess.PIPE)
        while not os.path.exists(folder + "/port"):
            time.sleep(0.01)
        with open(folder + "/port") as file:
            self.base = "http://127.0.0.1:" + file.read().strip()

    def tell(self, what, body):
        subprocess.run(["curl", "-sf", "-d", body, self.base + "/_/" + what],
                       check=True, stdout=subprocess.DEVNULL)

    def ask(self, what):
        return subprocess.run(["curl", "-sf", self.base + "/_/" + what],
                              check=True, stdout=subprocess.PIPE,
                              text=True).stdout

    def stop(self):
        self.process.stdin.close()
        self.process.wait()


def write(folder, name, tasks):
    path = "%s/%s.yaml" % (folder, name)
    with open(path, "w") as file:
        file.write(JOB.format(name, tasks - 1))
    return path


def remember(folder):
    """One run, made by jobrun, is copied: all wait in the cluster's queue."""
    subprocess.run([os.environ["JOBRUN"], "apply", "--yes", "--detach",
                    write(folder, "job0", 2)], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with sqlite3.connect(folder + "/state/jobrun.db") as db:
        names = [row[1] for row in db.execute("PRAGMA table_info(run)")
                 if row[1] != "id"]
        values = ", ".join(
            "'job' || n" if name == "job_id" else
            "json_set(replace(properties, 'job0', 'job' || n), '$.uid', '')"
            if name == "properties"
            else name for name in names)
        db.execute("WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 "
                   "FROM c WHERE n < %d) INSERT INTO run (%s) SELECT %s "
                   "FROM run, c WHERE job_id = 'job0'"
                   % (RUNS - 1, ", ".join(names), values))
    db.close()
    # The newest is looked at, as if it was asked for.
    shutil.copytree(folder + "/state/runs/job0.1",
                    "%s/state/runs/job%d.1" % (folder, RUNS - 1))


def status(server, folder):
    server.tell("state", '{"paused": true}')
    remember(folder)
    server.tell("many", '{"count": %d, "state": "Suspended"}' % RUNS)
    list_argv = [
        "/usr/bin/curl", "-sf", "-H",
        "Authorization: Bearer token-that-nobody-may-see", "-H",
        "Accept: application/json;as=Table;g=meta.k8s.io;v=v1", server.base +
        "/apis/jobset.x-k8s.io/v1alpha2/namespaces/team/jobsets"
        "?labelSelector=jobrun-attempt&includeObject=None"]
    jobrun = os.environ["JOBRUN"]
    before = server.ask("requests").count('"path"')
    table.seconds([jobrun, "status"])
    asked = server.ask("requests").count('"path"') - before
    ours, theirs, json = [], [], []
    for _ in range(ROUNDS):
        ours.append(table.seconds([jobrun, "status"]))
        json.append(table.seconds([jobrun, "status", "--format", "json"]))
        theirs.append(table.seconds(list_argv))
    print("status of %d runs that wait: %.0f ms (json %.0f ms), %d requests; "
          "of that the stand-in %.0f ms"
          % (RUNS, 1000 * min(ours), 1000 * min(json), asked,
             1000 * min(theirs)))


def large(server, folder):
    path = write(folder, "large", TASKS)
    jobrun = os.environ["JOBRUN"]
    for argv in ([jobrun, "plan", path],
                 [jobrun, "render", "--to", "kubernetes", path]):
        before = server.ask("requests").count('"path"')
        table.seconds(argv)
        asked = server.ask("requests").count('"path"') - before
        taken = min(table.seconds(argv) for _ in range(ROUNDS))
        peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        print("%s of %d tasks: %.0f ms, %d requests (no program of this "
              "bench took more than %d MB)"
              % (argv[1], TASKS, 1000 * taken, asked, peak // 1024))


def follow(server, folder):
    """Of one follower, once its run goes on."""
    jobrun = os.environ["JOBRUN"]
    for pods in FOLLOWED:
        name = "followed%d" % pods
        server.tell("state", '{"pods": [{"hold": true, "lines": ["here"]}]}')
        path = write(folder, name, pods)
        with open(path) as file:
            text = file.read().replace("\n  kubernetes: {queue: team}", "")
        with open(path, "w") as file:
            file.write(text)
        subprocess.run([jobrun, "apply", "--yes", "--detach", path],
                       check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        follower = subprocess.Popen([jobrun, "logs", "-f", name],
                                    stdout=subprocess.PIPE)
        for _ in range(pods):
            follower.stdout.readline()
        before = server.ask("requests").count('"path"')
        time.sleep(FOLLOW_S)
        asked = server.ask("requests").count('"path"') - before
        print("logs -f of %d pods: %.0f requests a minute"
              % (pods, asked * 60 / FOLLOW_S))
        follower.terminate()
        follower.wait()
        subprocess.run([jobrun, "cancel", name], check=True,
                       stderr=subprocess.DEVNULL)


def main():
    for run in (large, status, follow):
        folder = tempfile.mkdtemp()
        server = StandIn(folder)
        os.environ.update(KUBECONFIG=folder + "/kubeconfig",
                          JOBRUN_STATE_DIR=folder + "/state")
        try:
            run(server, folder)
        finally:
            server.stop()
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
