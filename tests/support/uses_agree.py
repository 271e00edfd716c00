#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what `explain` says of a field with what plans note of it.

    uses_agree.py JOBRUN

For each provider and each field of trainingInput a job sets that field, and is
planned: the plan must note the field if `explain` says that the provider does
not use it, and must not if it does.  Prints each difference; the status is the
number of these, at most 99.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

# Values where the type of the field is not enough.
SAMPLES = {
    "scaleTier": "CUSTOM", "region": "us-central1", "jobDir": "gs://b/x",
    "runtimeVersion": "2.11", "pythonVersion": "3.7", "tpuTfVersion": "2.11",
    "pythonModule": "t.task", "packageUris": ["gs://b/p.tar.gz"],
    "args": ["--x"], "imageUri": "gcr.io/p/image:1",
    "containerCommand": ["a"], "containerArgs": ["b"],
    "masterType": "n1-standard-4", "workerType": "n1-standard-4",
    "parameterServerType": "n1-standard-4", "evaluatorType": "n1-standard-4",
    "kmsKeyName": "projects/p/locations/us-central1/keyRings/r/cryptoKeys/k",
    "network": "projects/1/global/networks/x", "bootDiskType": "pd-ssd",
    "serviceAccount": "a@p.iam.gserviceaccount.com",
    "maxRunningTime": "3600s", "maxWaitTime": "3600s", "labels": {"a": "b"},
}
ROLES = ("worker", "parameterServer", "evaluator")
UNUSED = re.compile(r"(not used|left out)\b|$")


def leaves(field):
    if "fields" not in field:
        yield field
    for below in field.get("fields", []):
        yield from leaves(below)


def sample(field):
    if field["name"] in SAMPLES:
        return SAMPLES[field["name"]]
    if field["type"] == "true or false":
        return True
    if "values" in field:
        return field["values"][-1]
    return max(field.get("minimum", 1), 1)


def put(tree, path, value):
    *way, last = path.split(".")
    for word in way:
        tree = tree.setdefault(word, {})
    tree[last] = value


def make_job(number, field, provider):
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
        put(job, path.rpartition(".")[0] + ".imageUri", SAMPLES["imageUri"])
    if field["name"] == "pythonVersion":
        training["runtimeVersion"] = SAMPLES["runtimeVersion"]
    put(job, path, sample(field))
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


def compare(jobrun, provider, fields):
    """Prints the differences; returns their number, and that of the jobs."""
    folder = tempfile.mkdtemp()
    said = {}
    for number, field in enumerate(fields):
        use = [p for p in field["providers"] if p["name"] == provider][0]
        said["j%d" % number] = field["path"], use.get("use", "")
        with open(f"{folder}/j{number}.yaml", "w", encoding="utf-8") as file:
            json.dump(make_job(number, field, provider), file)
    call = [jobrun, "validate", "--format", "json", folder]
    answer = subprocess.run(call, stdout=subprocess.PIPE, check=False).stdout
    for problem in json.loads(answer)["problems"]:
        name = os.path.basename(problem["file"])[:-5]
        # A rule of the provider's forbids it: there is no plan.
        if problem["severity"] == "error" and name in said:
            del said[name]
            os.remove(f"{folder}/{name}.yaml")
    call = [jobrun, "plan", "--offline", "--format", "json", folder]
    plan = json.loads(subprocess.run(call, stdout=subprocess.PIPE,
                                     check=False).stdout)
    differ = 0
    for job in plan["jobs"]:
        path, use = said[job["jobId"]]
        above = {path[:end.start()] for end in re.finditer(r"\.|$", path)}
        noted = [note for note in job.get("notes", [])
                 if fields_at_head(note) & above]
        if bool(UNUSED.match(use)) != bool(noted):
            print(f"{provider}: {path}: explain: '{use}', plan: {noted}")
            differ += 1
    return differ, len(plan["jobs"])


def main(jobrun):
    call = [jobrun, "explain", "--format", "json"]
    top = json.loads(subprocess.check_output(call + ["-r", "trainingInput"]))
    fields = [field for field in leaves(top)
              if "hyperparameters" not in field["path"]
              and "acceleratorConfig" not in field["path"]]
    fields.append(json.loads(subprocess.check_output(call + ["labels"])))
    differ = 0
    for provider in [p["name"] for p in top["providers"]]:
        more, jobs = compare(jobrun, provider, fields)
        print(f"{provider}: {jobs} of {len(fields)} fields compared")
        differ += more
        if jobs < len(fields) * 3 // 4:
            print(f"{provider}: too few")
            differ += 1
    return min(differ, 99)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
