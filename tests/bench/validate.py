"""jobrun validate: 10,000 small files in one call against the mere parsing of
them, and one file against a program that does nothing."""
import os
import shutil
import subprocess
import sys
import tempfile

import table

FILES = 10000
JOB = """\
# training job {0}
jobId: train_{0}
labels: {{owner: vision, team: research}}
trainingInput:
  scaleTier: CUSTOM
  masterType: n1-highcpu-16
  workerType: n1-highcpu-16
  workerCount: 4
  region: europe-west4
  runtimeVersion: "2.2"
  pythonVersion: "3.7"
  pythonModule: trainer.task
  packageUris:
    - gs://bucket/packages/trainer-0.1.tar.gz
  jobDir: gs://bucket/jobs/{0}
  args:
    - --epochs
    - "90"
    - --batch-size=1024
  scheduling:
    maxRunningTime: 7200s
"""
PYYAML = """
import os, sys, yaml, jsonschema
schema = {"type": "object", "required": ["trainingInput"], "properties": {
    "jobId": {"type": "string", "pattern": "^[A-Za-z][A-Za-z0-9_]*$"},
    "labels": {"type": "object", "additionalProperties": {"type": "string"}},
    "trainingInput": {"type": "object", "properties": {
        "scaleTier": {"enum": ["BASIC", "CUSTOM"]},
        "workerCount": {"type": "integer", "minimum": 0},
        "args": {"type": "array", "items": {"type": "string"}}}}}}
check = jsonschema.Draft7Validator(schema)
for name in sorted(os.listdir(sys.argv[1])):
    with open(os.path.join(sys.argv[1], name)) as file:
        if list(check.iter_errors(yaml.load(file, yaml.CSafeLoader))):
            sys.exit(1)
"""


def make(folder, count):
    os.mkdir(folder)
    for i in range(count):
        with open("%s/job%05d.yaml" % (folder, i), "w") as file:
            file.write(JOB.format(i))


def python_with_yaml():
    for python in "/usr/bin/python3", sys.executable:
        if os.path.exists(python) and subprocess.run(
                [python, "-c", "import jsonschema, yaml; yaml.CSafeLoader"],
                stderr=subprocess.DEVNULL).returncode == 0:
            return python
    return None


def many(jobrun, folder):
    mine = [jobrun, "validate", folder + "/many"]
    commands = {"jobrun": mine}
    if os.environ.get("YAML_EVENTS"):
        commands["events"] = [os.environ["YAML_EVENTS"], folder + "/many"]
    found = table.measure(commands, 9)
    python = python_with_yaml()
    if python:
        found["pyyaml"] = table.seconds([python, "-c", PYYAML,
                                         folder + "/many"])
    print("validate, %d files in one call, %d cores:"
          % (FILES, len(os.sched_getaffinity(0))))
    table.row("jobrun validate", "%.0f ms" % (found["jobrun"] * 1e3))
    if "events" in found:
        table.row("libyaml's events, one thread",
                  "%.0f ms" % (found["events"] * 1e3))
        table.ratio("jobrun / libyaml's events", found["jobrun"],
                    found["events"], most=1.3)
    if python:
        table.row("PyYAML's C loader and jsonschema",
                  "%.0f ms" % (found["pyyaml"] * 1e3))
        table.ratio("PyYAML's C loader and jsonschema / jobrun",
                    found["jobrun"], found["pyyaml"], least=15)
    last = JOB.format("last").encode()
    few = table.peak_kb([jobrun, "validate", folder + "/few", "-"], last)
    most = table.peak_kb(mine + ["-"], last)
    table.row("memory, %d files / 100 files" % FILES,
              "%d / %d kB" % (most, few), "less than 2 MB more",
              most < few + 2048)


def cold(jobrun, folder):
    one = folder + "/few/job00000.yaml"
    found = table.measure({
        "true": [shutil.which("true")],
        "version": [jobrun, "version"],
        "one": [jobrun, "validate", one],
    }, 300)
    print("one file, a process each time:")
    table.row("true", "%.2f ms" % (found["true"] * 1e3))
    table.row("jobrun version", "%.2f ms" % (found["version"] * 1e3))
    table.row("jobrun validate", "%.2f ms" % (found["one"] * 1e3))
    table.ratio("jobrun validate / true", found["one"], found["true"],
                most=1.5)


def main():
    jobrun = os.environ["JOBRUN"]
    folder = tempfile.mkdtemp()
    try:
        make(folder + "/many", FILES)
        make(folder + "/few", 100)
        many(jobrun, folder)
        cold(jobrun, folder)
    finally:
        shutil.rmtree(folder)


main()
