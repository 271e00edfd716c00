#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what `explain` says of a field with what plans say of it.

    uses_agree.py JOBRUN

For each provider and each field of job files a job sets that field, and what it
needs, and is planned: the plan must note the field if `explain` says that the
provider does not use it, must name it as missing if it is not possible there,
and must do neither if it is used.  Prints each difference; the status is the
number of these, at most 99.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

# Values where the type of the field is not enough, by its path or its name.
SAMPLES = {
    "scaleTier": "CUSTOM", "region": "us-central1", "jobDir": "gs://b/x",
    "runtimeVersion": "2.11", "pythonVersion": "3.7", "tpuTfVersion": "2.11",
    "pythonModule": "t.task", "packageUris": ["gs://b/p.tar.gz"],
    "args": ["--x"], "imageUri": "gcr.io/p/image:1",
    "masterType": "n1-standard-4", "workerType": "n1-standard-4",
    "parameterServerType": "n1-standard-4", "evaluatorType": "n1-standard-4",
    "kmsKeyName": "projects/p/locations/us-central1/keyRings/r/cryptoKeys/k",
    "network": "projects/1/global/networks/x", "bootDiskType": "pd-ssd",
    "serviceAccount": "a@p.iam.gserviceaccount.com",
    "maxRunningTime": "3600s", "maxWaitTime": "3600s", "labels": {"a": "b"},
    "categoricalValues": ["a", "b"], "discreteValues": [1, 2],
    "type": "DOUBLE", "zone": "us-central1-b", "staging": "gs://b/staging",
    "source": "source", "to": "gs://b/to", "mounts": ["/mnt"],
    "urls": ["gs://b/t-{000..009}.tar"], "cache": "/cache",
    "cacheSize": "10GiB", "exitCodes": ["1"], "signals": ["SIGKILL"],
    "patterns": {"loss": "loss=([0-9.]+)"}, "bandwidth": "1G", "disk": "1GiB",
    "processesPerHost": "2", "validAfter": "2030-01-01T00:00:00Z",
    "validUntil": "2030-01-01T00:00:00Z",
    "jobrun.network": "n", "jobrun.secrets.file": "source/secret",
    "jobrun.vertex-ai.reservation": ["any"],
    "jobrun.checkpoints.metric": "loss", "jobrun.tpu-vm.topology": "2x2",
    "jobrun.kubernetes.job": {"spec": {"podReplacementPolicy": "Failed"}},
    "jobrun.kubernetes.pod": {"spec": {"hostNetwork": True}},
    "jobrun.kubernetes.volumes.path": "/x", "hostPath": "/x", "memory": "8Gi",
    "hostDirectory": "/h", "workdir": "/w", "jobrun.slurm.srun": {"mpi": "x"},
    "jobrun.slurm.sbatch": {"exclusive": True}, "jobrun.after.job": "other",
    "jobrun.vertex-ai.customJob": {"jobSpec": {"models": ["x"]}},
    "jobrun.vertex-ai.request": {"jobSpec": {"models": ["x"]}},
}
DATA = {"data": {"a": {"urls": SAMPLES["urls"]}}}
LAUNCHER = {"kubernetes": {"launcher": "i"}}
IMAGE = {"masterConfig": {"imageUri": "i"}}
VOLUME = {"volumes": {"a": {"path": "/x"}}}
GPU = {"masterType": "a2-highgpu-1g", "masterConfig": {
    "acceleratorConfig": {"type": "NVIDIA_TESLA_A100", "count": 1}}}


def tuning(kind, **values):
    """Hyperparameters of one parameter."""
    if kind == "DOUBLE":
        values = {"minValue": 1, "maxValue": 9}
    one = {"parameterName": "p", "type": kind, **values}
    return {"trainingInput": {"hyperparameters": {
        "goal": "MAXIMIZE", "params": [one]}}}


def block(**values):
    return {"jobrun": values}


# What fields need beside them to be valid, by the path that they begin with,
# the shortest first; behind a colon, only with that provider.
BESIDE = {
    "trainingInput.hyperparameters": tuning("DOUBLE"),
    "trainingInput.hyperparameters.params.categoricalValues":
        tuning("CATEGORICAL"),
    "trainingInput.hyperparameters.params.discreteValues": tuning("DISCRETE"),
    "trainingInput.pythonVersion": {
        "trainingInput": {"runtimeVersion": "2.11"}},
    "jobrun.docker": block(docker={"image": "i"}),
    "jobrun.docker:local": block(hosts=["h"]),
    "jobrun.container": {"trainingInput": IMAGE},
    "jobrun.command": {"trainingInput": IMAGE},
    "jobrun.data": block(**DATA),
    "jobrun.data:kubernetes": block(**LAUNCHER),
    "jobrun.checkpoints": block(checkpoints={"directory": "c",
                                             "to": "gs://b/to"}),
    "jobrun.checkpoints:kubernetes": block(**LAUNCHER),
    "jobrun.checkpoints.goal": block(checkpoints={"metric": "loss"}),
    "jobrun.checkpoints.metric": block(checkpoints={"goal": "MINIMIZE"}),
    "jobrun.logs": block(logs={"to": "gs://b/to"}),
    "jobrun.restart": block(restart={"maxRestarts": 1, "rules": [
        {"exitCodes": ["1"], "action": "restart"}]}),
    "jobrun.restart.maxPreemptions:kubernetes": block(
        restart={"maxRestarts": 0}),
    "jobrun.after": block(after=[{"job": "other"}]),
    "jobrun.processesPerHost:kubernetes": block(**LAUNCHER),
    "jobrun.kubernetes.volumes:kubernetes": block(kubernetes=VOLUME),
    "jobrun.kubernetes.restart:kubernetes": block(restart={"maxRestarts": 1}),
    "jobrun.tpu-node.imageFrom:tpu-node": block(
        **{"tpu-node": {"imageFrom": {"vm": "v"}}}),
    "jobrun.vertex-ai.nfsMounts:vertex-ai": block(**{"vertex-ai": {
        "nfsMounts": [{"server": "s", "path": "/p", "mountPoint": "m"}]}}),
    "jobrun.vertex-ai.strategy:vertex-ai": {"trainingInput": GPU},
}
# Fields that no job of this test sets, and why.
NOT_SET = {
    "jobrun.provider": "every job has it",
    "jobrun.extends": "another file, which is merged before there is a job",
}
# Fields that rules refuse with some providers, so that there is no plan.
REFUSED = {
    "trainingInput.parameterServer": "a TPU goes without parameter servers",
    "tpuTfVersion": "only beside a TPU, whose tests set workerConfig whole",
    "jobrun.processesPerHost": "one process per machine",
}
ROLES = ("worker", "parameterServer", "evaluator")
UNUSED = re.compile(r"(not used|left out)\b|$")
SAYS_UNUSED = re.compile(r"\S+(, \S+)* (is|are) (not used|left out)\b")


def leaves(field):
    if "fields" not in field:
        yield field
    for below in field.get("fields", []):
        yield from leaves(below)


def forms(field, found):
    """How the values of messages are written: a list, a map or neither."""
    found[field["path"]] = field["type"].split(" of ")[0]
    for below in field.get("fields", []):
        forms(below, found)
    return found


def sample(field):
    for key in (field["path"], field["name"]):
        if key in SAMPLES:
            return SAMPLES[key]
    kind = field["type"]
    if kind == "true or false":
        return True
    if "values" in field:
        return field["values"][-1]
    if kind == "duration":
        return "3600s"
    if kind == "string":
        return "x"
    if kind == "list of strings":
        return ["x"]
    if kind.startswith("map"):
        return {"x": "y"}
    return max(field.get("minimum", 1), 1)


def put(tree, path, value, form):
    """Sets a field; in a list or a map, that of the first item."""
    *way, last = path.split(".")
    for end, word in enumerate(way, 1):
        kind = form.get(".".join(way[:end]))
        empty = [{}] if kind == "list" else {"a": {}} if kind == "map" else {}
        tree = tree.setdefault(word, empty)
        if kind in ("list", "map"):
            tree = tree[0] if kind == "list" else tree["a"]
    tree[last] = value


def merge(tree, more):
    for key, value in more.items():
        if isinstance(value, dict) and isinstance(tree.get(key), dict):
            merge(tree[key], value)
        else:
            tree[key] = json.loads(json.dumps(value))


def make_job(number, field, provider, form):
    """A job that sets the field, and what that field needs."""
    path = field["path"]
    training = {"scaleTier": "CUSTOM", "masterType": "n1-standard-4",
                "region": "us-central1"}
    job = {"jobId": "j%d" % number, "trainingInput": training,
           "jobrun": {"provider": provider, "project": "p"}}
    if provider.startswith("tpu-"):
        training.update(workerType="cloud_tpu", workerCount=1, workerConfig={
            "acceleratorConfig": {"type": "TPU_V2", "count": 8}})
        job["jobrun"].update(zone="us-central1-b", command=["x"])
    for role in ROLES:
        if path.startswith("trainingInput." + role):
            training.setdefault(role + "Type", "n1-standard-4")
            training.setdefault(role + "Count", 1)
    if field["name"] in ("containerArgs", "containerCommand"):
        put(job, path.rpartition(".")[0] + ".imageUri", "i", form)
    for key, more in BESIDE.items():
        above, _, only = key.partition(":")
        if (path + ".").startswith(above + ".") and only in ("", provider):
            merge(job, more)
    put(job, path, sample(field), form)
    if provider.startswith("tpu-"):
        training["workerType"] = "cloud_tpu"
    return job


def fields_at_head(note):
    """The fields that a note begins with: "A, B are not used" has A and B."""
    found = set()
    for word in note.split():
        found.add(word.rstrip(",:"))
        if not word.endswith(","):
            break
    return found


def names(notes, path):
    """Those that begin with the field, or with a message that it is in."""
    above = {path[:end.start()] for end in re.finditer(r"\.|$", path)}
    return [note for note in notes
            if fields_at_head(note) & above - {"jobrun", "trainingInput"}]


def differs(use, notes, missing):
    impossible = use.startswith("not possible")
    return (bool(UNUSED.match(use)) != bool(notes) or
            impossible != bool(missing))


def chosen(fields, provider, blocks):
    """Of the blocks of other providers only the first field."""
    seen = set()
    for field in fields:
        name = field["path"].split(".")[1:2]
        if name and name[0] in blocks and name[0] != provider:
            if name[0] in seen:
                continue
            seen.add(name[0])
        yield field


def compare(jobrun, provider, fields, form):
    """Prints the differences; returns their number, and that of the jobs."""
    folder = tempfile.mkdtemp()
    said = {}
    noted = {}
    differ = 0
    os.mkdir(folder + "/source")
    with open(folder + "/source/secret", "w", encoding="utf-8") as file:
        file.write("s")
    for number, field in enumerate(fields):
        use = [p for p in field["providers"] if p["name"] == provider][0]
        said["j%d" % number] = field["path"], use.get("use", "")
        with open(f"{folder}/j{number}.yaml", "w", encoding="utf-8") as file:
            json.dump(make_job(number, field, provider, form), file)
    call = [jobrun, "validate", "--format", "json", folder]
    answer = subprocess.run(call, stdout=subprocess.PIPE, check=False).stdout
    for problem in json.loads(answer)["problems"]:
        name = os.path.basename(problem["file"])[:-5]
        # Plans print these, too.
        if problem["rule"] == "unused-block":
            noted[name] = [problem["path"] + " is not used"]
        if problem["severity"] == "error" and name in said:
            path, use = said.pop(name)
            if not any(part in path for part in REFUSED):
                print(f"{provider}: {path}: refused: {problem['message']}")
                differ += 1
            os.remove(f"{folder}/{name}.yaml")
    call = [jobrun, "plan", "--offline", "--format", "json", folder]
    plan = json.loads(subprocess.run(call, stdout=subprocess.PIPE,
                                     stderr=subprocess.DEVNULL,
                                     check=False).stdout)
    for job in plan["jobs"]:
        path, use = said[job["jobId"]]
        notes = noted.get(job["jobId"], []) + job.get("notes", [])
        notes = names(filter(SAYS_UNUSED.match, notes), path)
        missing = names(job.get("missing", []), path)
        if differs(use, notes, missing):
            print(f"{provider}: {path}: explain: '{use}', plan: {notes}, "
                  f"missing: {missing}")
            differ += 1
    return differ, len(plan["jobs"])


def main(jobrun):
    call = [jobrun, "explain", "--format", "json", "-r"]
    tops = [json.loads(subprocess.check_output(call + [name]))
            for name in ("trainingInput", "jobrun", "labels")]
    form = {}
    for top in tops:
        forms(top, form)
    fields = [field for top in tops for field in leaves(top)
              if field["path"] not in NOT_SET
              and "acceleratorConfig" not in field["path"]]
    providers = [p["name"] for p in tops[0]["providers"]]
    differ = 0
    for provider in providers:
        some = list(chosen(fields, provider, providers))
        more, jobs = compare(jobrun, provider, some, form)
        print(f"{provider}: {jobs} of {len(some)} fields compared")
        differ += more
        if jobs < len(some) * 9 // 10:
            print(f"{provider}: too few")
            differ += 1
    return min(differ, 99)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
