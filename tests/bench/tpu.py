"""A v3-2048, 256 VMs, against a stand-in of the TPU API on this machine: the
plan, with the token that plans need and the look at the TPU; and the time from
a TPU that is ready to the last command that has started, where each VM is an
sshd here, and jobrun has never been there: it brings its agent to each, and
checks that they reach each other.  pdsh only starts the command."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

import table
from hosts import Hosts, find

VMS = 256
STAND_IN = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                        "../stand-ins/google/server.py")
JOB = """\
jobId: {0}
trainingInput:
  scaleTier: CUSTOM
  masterType: n1-highcpu-16
  workerType: cloud_tpu
  workerCount: 1
  workerConfig: {{acceleratorConfig: {{type: TPU_V3, count: {1}}}}}
jobrun:
  provider: tpu-vm
  project: p
  zone: europe-west4-a
  cleanup: never
  command: {2}
  tpu-vm: {{sshKey: {3}/id.pub}}
"""
# It is over when all have begun.
BEGIN = """\
date +%s.%N >{0}/$RANK.new && mv {0}/$RANK.new {0}/$RANK
until [ $RANK != 0 ] || [ -e {0}/255 ]; do sleep 0.1; done
"""


class StandIn:
    def __init__(self, folder):
        self.server = subprocess.Popen(
            [sys.executable, STAND_IN, "--port-file", folder + "/port",
             "--credentials", folder + "/creds"], stdin=subprocess.PIPE)
        while not os.path.exists(folder + "/port"):
            time.sleep(0.01)
        with open(folder + "/port") as file:
            self.base = "http://127.0.0.1:" + file.read().strip()
        os.environ.update(
            CLOUDSDK_API_ENDPOINT_OVERRIDES_TPU=self.base + "/tpu/",
            CLOUDSDK_CONFIG=folder + "/gcloud", NO_GCE_CHECK="true",
            GOOGLE_APPLICATION_CREDENTIALS=folder +
            "/creds/authorized_user.json",
            JOBRUN_STATE_DIR=folder + "/state")

    def tell(self, state):
        urllib.request.urlopen(self.base + "/_/state",
                               json.dumps(state).encode()).close()

    def stop(self):
        self.server.stdin.close()
        self.server.wait()


def write_job(folder, name, cores, command):
    path = "%s/%s.yaml" % (folder, name)
    with open(path, "w") as file:
        file.write(JOB.format(name, cores, json.dumps(command), folder))
    return path


def plan(jobrun, folder):
    argv = {}
    for cores in (8, 2048):
        name = "v3-%d" % cores
        argv[name] = [jobrun, "plan", write_job(folder, "plan%d" % cores,
                                                cores, ["true"])]
    print("plan of a TPU, with a token and a look at the TPU:")
    found = table.measure(argv, 50)
    table.row("v3-8, one VM", "%.1f ms" % (found["v3-8"] * 1e3))
    table.row("v3-2048, %d VMs" % VMS, "%.1f ms" % (found["v3-2048"] * 1e3),
              "less than 20 ms", found["v3-2048"] < 0.020)


def until_begun(argv, begun):
    """Seconds until the last of the hosts has begun."""
    os.mkdir(begun)
    start = time.time()
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    names = os.listdir(begun)
    if len(names) != VMS:
        raise SystemExit("%s started %d of %d" % (argv[0], len(names), VMS))
    last = max(float(open("%s/%s" % (begun, name)).read()) for name in names)
    shutil.rmtree(begun)
    return last - start


def start(jobrun, folder, stand_in):
    hosts = Hosts(folder, VMS)
    os.environ["JOBRUN_SSH_CONFIG"] = hosts.config
    os.environ["PDSH_SSH_ARGS_APPEND"] = "-F " + hosts.config
    addresses = [hosts.address(i) for i in range(1, VMS + 1)]
    stand_in.tell({"tpu": {"*": {"endpoints": [
        {"ipAddress": one, "accessConfig": {"externalIp": one}}
        for one in addresses]}}})
    begun = folder + "/begun"
    command = ["sh", "-c", BEGIN.format(begun)]
    mine = [jobrun, "apply", "--yes", "--rerun",
            write_job(folder, "pod", 2048, command)]
    theirs = [find("pdsh"), "-t", "300", "-R", "ssh", "-f", str(VMS), "-w",
              ",".join(hosts.names),
              "date +%%s.%%N >%s/%%h" % begun]
    try:
        return {"jobrun": until_begun(mine, begun),
                "pdsh": until_begun(theirs, begun)}
    finally:
        hosts.stop()


def main():
    jobrun = os.environ["JOBRUN"]
    folder = tempfile.mkdtemp()
    stand_in = StandIn(folder)
    try:
        plan(jobrun, folder)
        if not find("sshd") or not find("pdsh"):
            print("the start on %d VMs: left out, it needs sshd and pdsh" %
                  VMS)
            return
        found = start(jobrun, folder, stand_in)
        print("from a TPU that is ready to the last of %d commands, %d cores:"
              % (VMS, len(os.sched_getaffinity(0))))
        for name, seconds in found.items():
            table.row(name, "%.2f s" % seconds)
        table.ratio("jobrun / pdsh", found["jobrun"], found["pdsh"], most=1.1)
    finally:
        stand_in.stop()
        shutil.rmtree(folder, ignore_errors=True)


main()
