#!/usr/bin/env python3
"""vertex_whole.py JOBRUN FOLDER [DOCUMENT]: requests of Vertex AI with every
field that a CustomJob and a HyperparameterTuningJob can have, imported and
rendered: nothing is lost, nothing is added.  With the discovery document: the
requests have every field of its messages."""

import json
import os
import subprocess
import sys

POOL = {
    "machineSpec": {
        "machineType": "a2-ultragpu-1g", "acceleratorType": "NVIDIA_A100_80GB",
        "acceleratorCount": 1, "gpuPartitionSize": "1g.10gb",
        "reservationAffinity": {
            "reservationAffinityType": "SPECIFIC_RESERVATION",
            "key": "compute.googleapis.com/reservation-name",
            "values": ["projects/p/zones/us-central1-a/reservations/r"]}},
    "replicaCount": "1",
    "diskSpec": {"bootDiskType": "pd-ssd", "bootDiskSizeGb": 200},
    "nfsMounts": [{"server": "10.0.0.2", "path": "/data", "mountPoint": "d"}],
    "lustreMounts": [{"instanceIp": "10.0.0.3", "volumeHandle": "v",
                      "filesystem": "fs", "mountPoint": "l"}],
    "containerSpec": {"imageUri": "gcr.io/p/i:1", "command": ["python", "t.py"],
                      "args": ["--epochs=5"],
                      "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "$(A)"}]}}

SPEC = {
    "workerPoolSpecs": [POOL, {
        "machineSpec": {"machineType": "ct5lp-hightpu-4t", "tpuTopology": "2x2"},
        "replicaCount": "3",
        "containerSpec": {"imageUri": "gcr.io/p/j:2",
                          "env": [{"name": "A", "value": "2"}]}}],
    "scheduling": {"timeout": "7200s", "restartJobOnWorkerRestart": True,
                   "strategy": "SPOT", "maxWaitDuration": "0s",
                   "disableRetries": False},
    "serviceAccount": "s@p.iam.gserviceaccount.com",
    "network": "projects/12345/global/networks/n",
    "reservedIpRanges": ["r1", "r2"],
    "pscInterfaceConfig": {
        "networkAttachment": "projects/p/regions/us-central1/networkAttachments/a",
        "dnsPeeringConfigs": [{"domain": "corp.", "targetProject": "q", "targetNetwork": "n"}]},
    "baseOutputDirectory": {"outputUriPrefix": "gs://bucket/out"},
    "protectedArtifactLocationId": "us-central1",
    "tensorboard": "projects/1/locations/us-central1/tensorboards/2",
    "enableWebAccess": True, "enableDashboardAccess": True,
    "experiment": "projects/p/locations/l/metadataStores/s/contexts/e",
    "experimentRun": "projects/p/locations/l/metadataStores/s/contexts/e-1",
    "persistentResourceId": "pool-1", "models": ["projects/p/locations/l/models/m"]}

PYTHON = {"workerPoolSpecs": [
    {"machineSpec": {"machineType": "n1-standard-8"}, "replicaCount": "2",
     "pythonPackageSpec": {
         "executorImageUri": "us-docker.pkg.dev/vertex-ai/training/tf-cpu.2-11.py310:latest",
         "packageUris": ["gs://b/p.tar.gz"], "pythonModule": "a.b", "args": ["-x"],
         "env": [{"name": "C", "value": "3"}]}},
    {},
    {"machineSpec": {"machineType": "n1-highmem-2"}, "replicaCount": "1",
     "pythonPackageSpec": {
         "executorImageUri": "gcr.io/other:1", "packageUris": ["gs://b/q.tar.gz"],
         "pythonModule": "c", "args": ["-y"], "env": [{"name": "D", "value": "4"}]}}]}

STUDY = {
    "metrics": [{"metricId": "accuracy", "goal": "MAXIMIZE"},
                {"metricId": "latency", "goal": "MINIMIZE",
                 "safetyConfig": {"safetyThreshold": 0.5, "desiredMinSafeTrialsFraction": 0.9}}],
    "parameters": [
        {"parameterId": "lr", "scaleType": "UNIT_LOG_SCALE",
         "doubleValueSpec": {"minValue": 0.001, "maxValue": 0.5, "defaultValue": 0.01},
         "conditionalParameterSpecs": []},
        {"parameterId": "layers", "scaleType": "UNIT_LINEAR_SCALE",
         "integerValueSpec": {"minValue": "1", "maxValue": "8", "defaultValue": "2"},
         "conditionalParameterSpecs": [
             {"parentIntValues": {"values": ["3"]},
              "parameterSpec": {"parameterId": "width", "integerValueSpec": {"minValue": "1", "maxValue": "4"}}}]},
        {"parameterId": "kind",
         "categoricalValueSpec": {"values": ["sgd", "adam"], "defaultValue": "sgd"},
         "conditionalParameterSpecs": [
             {"parentCategoricalValues": {"values": ["adam"]},
              "parameterSpec": {"parameterId": "beta", "doubleValueSpec": {"minValue": 0.8, "maxValue": 0.9}}}]},
        {"parameterId": "batch",
         "discreteValueSpec": {"values": [16.5, 32.5], "defaultValue": 16.5},
         "conditionalParameterSpecs": [
             {"parentDiscreteValues": {"values": [16.5]},
              "parameterSpec": {"parameterId": "m", "doubleValueSpec": {"minValue": 0.5, "maxValue": 0.6}}}]}],
    "algorithm": "RANDOM_SEARCH", "observationNoise": "LOW",
    "measurementSelectionType": "BEST_MEASUREMENT",
    "medianAutomatedStoppingSpec": {"useElapsedDuration": True},
    "studyStoppingConfig": {
        "shouldStopAsap": True, "minNumTrials": 2, "maxNumTrials": 20, "maxNumTrialsNoProgress": 5,
        "maxDurationNoProgress": "3600s", "minimumRuntimeConstraint": {"maxDuration": "60s"},
        "maximumRuntimeConstraint": {"endTime": "2027-01-01T00:00:00Z"}}}

CONVEX = {"metrics": [{"metricId": "m", "goal": "MINIMIZE"}],
          "parameters": [{"parameterId": "x", "doubleValueSpec": {"minValue": 0.5, "maxValue": 1.5}}],
          "convexAutomatedStoppingSpec": {
              "maxStepCount": "9", "minStepCount": "1", "minMeasurementCount": "2",
              "learningRateParameterName": "x", "useElapsedDuration": False,
              "updateAllStoppedTrials": True}}

DECAY = {"metrics": [{"metricId": "m", "goal": "MINIMIZE"}], "algorithm": "GRID_SEARCH",
         "parameters": [{"parameterId": "x", "integerValueSpec": {"minValue": "1", "maxValue": "2"}}],
         "decayCurveStoppingSpec": {"useElapsedDuration": True}}

FLEX = {"workerPoolSpecs": [{
    "machineSpec": {"machineType": "a3-highgpu-1g", "acceleratorType": "NVIDIA_H100_80GB", "acceleratorCount": 1},
    "replicaCount": "1", "containerSpec": {"imageUri": "gcr.io/p/i:1"}}],
        "scheduling": {"strategy": "FLEX_START", "maxWaitDuration": "0s"}}

KEY = {"kmsKeyName": "projects/p/locations/l/keyRings/r/cryptoKeys/k"}
SMALL = {"workerPoolSpecs": [{"machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": "1",
                              "containerSpec": {"imageUri": "gcr.io/p/i:1"}}]}


def tuning(study, **more):
    return dict({"studySpec": study, "maxTrialCount": 4, "parallelTrialCount": 2, "trialJobSpec": SMALL}, **more)


REQUESTS = [
    ("custom-jobs", {"jobSpec": SPEC, "encryptionSpec": KEY, "labels": {"team": "a"}}),
    ("custom-jobs", {"jobSpec": PYTHON}),
    ("custom-jobs", {"jobSpec": FLEX}),
    ("hp-tuning-jobs", tuning(STUDY, maxFailedTrialCount=3, encryptionSpec=KEY)),
    ("hp-tuning-jobs", tuning(CONVEX, trialJobSpec=SPEC)),
    ("hp-tuning-jobs", tuning(DECAY)),
]


def differences(want, have, path=""):
    if isinstance(want, dict) and isinstance(have, dict):
        for key in sorted(set(want) | set(have)):
            if key not in want or key not in have:
                yield f"{path}.{key}: {'lost' if key in want else 'added'}: {want.get(key, have.get(key))!r}"
            else:
                yield from differences(want[key], have[key], f"{path}.{key}")
    elif isinstance(want, list) and isinstance(have, list) and len(want) == len(have):
        for i, (one, other) in enumerate(zip(want, have)):
            yield from differences(one, other, f"{path}[{i}]")
    elif want != have:
        yield f"{path}: {want!r} became {have!r}"


def fields(schemas, name, value, seen):
    """Notes which fields of each message the value has."""
    if isinstance(value, list):
        for item in value:
            fields(schemas, name, item, seen)
        return
    for key, item in value.items():
        seen.add((name, key))
        prop = schemas[name]["properties"][key]
        below = prop.get("$ref") or prop.get("items", {}).get("$ref")
        if below:
            fields(schemas, below, item, seen)


def uncovered(document):
    schemas = json.load(open(document, encoding="utf-8"))["schemas"]
    prefix, seen = "GoogleCloudAiplatformV1", set()
    for kind, request in REQUESTS:
        name = "CustomJob" if kind == "custom-jobs" else "HyperparameterTuningJob"
        fields(schemas, prefix + name, request, seen)
    # The name is jobrun's own, and so are the labels of a tuning job.
    seen |= {(prefix + n, k) for n in ("CustomJob", "HyperparameterTuningJob") for k in ("displayName", "labels")}
    for name in sorted({name for name, _ in seen}):
        for key, prop in schemas[name]["properties"].items():
            if not prop.get("readOnly") and (name, key) not in seen:
                yield f"{name}.{key} is in no request of this test"


def main():
    jobrun, folder, *document = sys.argv[1:]
    found = list(uncovered(document[0])) if document else []
    for i, (kind, request) in enumerate(REQUESTS):
        spec, job = (os.path.join(folder, f"{i}.{end}") for end in ("json", "yaml"))
        with open(spec, "w", encoding="utf-8") as stream:
            json.dump(request, stream)
        words = [jobrun, "import", "--", "gcloud", "ai", kind, "create", "--region=us-central1",
                 "--display-name=whole", f"--config={spec}"]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            found.append(f"{i}: import: {done.stderr}")
            continue
        with open(job, "w", encoding="utf-8") as stream:
            stream.write(done.stdout)
        done = subprocess.run([jobrun, "render", "--to", "vertex-ai", job], capture_output=True, text=True, check=False)
        body = json.loads(done.stdout or "{}")
        body.pop("displayName", None)
        body["labels"] = {k: v for k, v in body.get("labels", {}).items() if not k.startswith("jobrun")}
        if not body["labels"]:
            del body["labels"]
        found += [f"{i}{line}" for line in differences(request, body)]
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
