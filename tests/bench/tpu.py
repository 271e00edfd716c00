"""jobrun plan of a v3-2048, 256 VMs, against a stand-in of the TPU API on this
machine: with the token that plans need, and the look at the node."""
import os
import shutil
import subprocess
import sys
import tempfile
import time

import table

STAND_IN = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                        "../stand-ins/google/server.py")
JOB = """\
jobId: pod
trainingInput:
  scaleTier: CUSTOM
  masterType: n1-highcpu-16
  workerType: cloud_tpu
  workerCount: 1
  workerConfig: {{acceleratorConfig: {{type: TPU_V3, count: {0}}}}}
jobrun:
  provider: tpu-vm
  project: p
  zone: europe-west4-a
  command: [python3, train.py]
"""


def start(folder):
    server = subprocess.Popen(
        [sys.executable, STAND_IN, "--port-file", folder + "/port",
         "--credentials", folder + "/creds"], stdin=subprocess.PIPE)
    while not os.path.exists(folder + "/port"):
        time.sleep(0.01)
    with open(folder + "/port") as file:
        base = "http://127.0.0.1:" + file.read().strip()
    os.environ.update(
        CLOUDSDK_API_ENDPOINT_OVERRIDES_TPU=base + "/tpu/",
        CLOUDSDK_CONFIG=folder + "/gcloud", NO_GCE_CHECK="true",
        GOOGLE_APPLICATION_CREDENTIALS=folder + "/creds/authorized_user.json",
        JOBRUN_STATE_DIR=folder + "/state")
    return server


def main():
    jobrun = os.environ["JOBRUN"]
    folder = tempfile.mkdtemp()
    server = start(folder)
    try:
        argv = {}
        for count in (8, 2048):
            path = "%s/v3-%d.yaml" % (folder, count)
            with open(path, "w") as file:
                file.write(JOB.format(count))
            argv["v3-%d" % count] = [jobrun, "plan", path]
        print("plan of a TPU, with a token and a look at the node:")
        found = table.measure(argv, 50)
        table.row("v3-8, one VM", "%.1f ms" % (found["v3-8"] * 1e3))
        table.row("v3-2048, 256 VMs", "%.1f ms" % (found["v3-2048"] * 1e3),
                  "less than 20 ms", found["v3-2048"] < 0.020)
    finally:
        server.stdin.close()
        server.wait()
        shutil.rmtree(folder)


main()
