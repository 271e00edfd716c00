# SPDX-License-Identifier: Apache-2.0
"""Objects against the OpenAPI document of Kubernetes and JobSet's CRD."""

import json
import os
import re

# Of the trimmed document; what else there is has no schema here.
KINDS = {
    ("v1", "Secret"): "io.k8s.api.core.v1.Secret",
    ("v1", "ConfigMap"): "io.k8s.api.core.v1.ConfigMap",
    ("v1", "Service"): "io.k8s.api.core.v1.Service",
    ("v1", "Pod"): "io.k8s.api.core.v1.Pod",
    ("batch/v1", "Job"): "io.k8s.api.batch.v1.Job",
}
QUANTITY = re.compile(r"[0-9]+(\.[0-9]+)?(m|k|[KMGTPE]i|[MGTPE])?")
NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
LABEL = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?")


class Schemas:
    """`folder` holds kubernetes/swagger.json and kubernetes/jobset-crd.json."""

    def __init__(self, folder):
        base = os.path.join(folder, "kubernetes")
        with open(os.path.join(base, "swagger.json"), encoding="utf-8") as f:
            self.definitions = json.load(f)["definitions"]
        with open(os.path.join(base, "jobset-crd.json"),
                  encoding="utf-8") as f:
            crd = json.load(f)["spec"]
        self.jobset = crd["versions"][0]["schema"]["openAPIV3Schema"]

    def check(self, value):
        """What is wrong with an object, each as a line of text."""
        key = value.get("apiVersion"), value.get("kind")
        found = []
        if key in KINDS:
            schema = {"$ref": "#/definitions/" + KINDS[key]}
        elif key[1] == "JobSet":
            schema = self.jobset
        else:
            return [f"no such kind: {key}"]
        self.walk(value, schema, "", found)
        return found

    def walk(self, value, schema, path, found):
        name = schema.get("$ref", "").rpartition("/")[2]
        if name.endswith("api.resource.Quantity"):
            if not QUANTITY.fullmatch(str(value)):
                found.append(f"{path}: '{value}' is no quantity")
            return
        if name:
            schema = self.definitions[name]
        # In a CRD, what metadata holds is the API server's to check.
        if path == ".metadata" and "properties" not in schema:
            schema = self.definitions[
                "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"]
        if schema.get("x-kubernetes-int-or-string") or \
                schema.get("format") == "int-or-string":
            if not isinstance(value, (int, str)):
                found.append(f"{path}: not an integer or text")
            return
        if "enum" in schema and value not in schema["enum"]:
            found.append(f"{path}: '{value}' is none of {schema['enum']}")
        kind = schema.get("type")
        if kind is None and "properties" in schema:
            kind = "object"
        getattr(self, "as_" + (kind or "any"))(value, schema, path, found)

    def as_object(self, value, schema, path, found):
        if not isinstance(value, dict):
            found.append(f"{path}: not an object")
            return
        known = schema.get("properties", {})
        more = schema.get("additionalProperties")
        for key in schema.get("required", []):
            if key not in value:
                found.append(f"{path}.{key}: required")
        for key, item in value.items():
            if key in known:
                self.walk(item, known[key], f"{path}.{key}", found)
            elif isinstance(more, dict):
                self.walk(item, more, f"{path}.{key}", found)
            elif known and not schema.get(
                    "x-kubernetes-preserve-unknown-fields"):
                found.append(f'unknown field "{path[1:]}.{key}"')

    def as_array(self, value, schema, path, found):
        if not isinstance(value, list):
            found.append(f"{path}: not a list")
            return
        if len(value) > schema.get("maxItems", len(value)):
            found.append(f"{path}: too many")
        keys = schema.get("x-kubernetes-list-map-keys")
        if keys and all(isinstance(item, dict) for item in value):
            seen = [tuple(item.get(k) for k in keys) for item in value]
            for twice in {s for s in seen if seen.count(s) > 1}:
                found.append(f"{path}: {twice} comes twice")
        for i, item in enumerate(value):
            self.walk(item, schema.get("items", {}), f"{path}[{i}]", found)

    @staticmethod
    def as_string(value, schema, path, found):
        if not isinstance(value, str):
            found.append(f"{path}: not text")
        elif len(value) > schema.get("maxLength", len(value)) or \
                not re.search(schema.get("pattern", ""), value):
            found.append(f"{path}: '{value}' has the wrong form")

    @staticmethod
    def as_integer(value, schema, path, found):
        if isinstance(value, bool) or not isinstance(value, int):
            found.append(f"{path}: not an integer")
        elif value < schema.get("minimum", value):
            found.append(f"{path}: {value} is too small")

    @staticmethod
    def as_boolean(value, _schema, path, found):
        if not isinstance(value, bool):
            found.append(f"{path}: not a boolean")

    @staticmethod
    def as_number(value, _schema, path, found):
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            found.append(f"{path}: not a number")

    @staticmethod
    def as_any(_value, _schema, _path, _found):
        pass


def check_rules(value):
    """What the API server checks beside the schema."""
    found = []
    meta = value.get("metadata", {})
    name = meta.get("name", "")
    if not NAME.fullmatch(name) or len(name) > 253:
        found.append(f"metadata.name: Invalid value: \"{name}\"")
    for key, text in meta.get("labels", {}).items():
        if len(text) > 63 or not LABEL.fullmatch(text):
            found.append(f"metadata.labels: Invalid value: \"{text}\"")
        if not LABEL.fullmatch(key.rpartition("/")[2]):
            found.append(f"metadata.labels: Invalid key: \"{key}\"")
    size = sum(len(k) + len(v)
               for k, v in meta.get("annotations", {}).items())
    if size > 262144:
        found.append("metadata.annotations: Too long")
    spec = value.get("spec", {})
    if value.get("kind") == "Job":
        check_job(spec, "spec", name, found)
    if value.get("kind") == "JobSet":
        for i, one in enumerate(spec.get("replicatedJobs", [])):
            check_job(one["template"]["spec"],
                      f"spec.replicatedJobs[{i}].template.spec",
                      f"{name}-{one['name']}-0", found)
    return found


def check_job(spec, path, name, found):
    pod = spec["template"]["spec"]
    longest = f"{name}-{max(spec.get('completions', 1) - 1, 0)}"
    if len(longest) > 63:
        found.append(f"{path}: pod hostname '{longest}' is too long")
    if pod.get("restartPolicy") not in ("Never", "OnFailure"):
        found.append(f"{path}.template.spec.restartPolicy: Required value")
    policy = spec.get("podFailurePolicy")
    if policy and pod["restartPolicy"] != "Never":
        found.append(f"{path}.podFailurePolicy: needs restartPolicy Never")
    if policy and len(policy["rules"]) > 20:
        found.append(f"{path}.podFailurePolicy.rules: Too many")
    by_index = "backoffLimitPerIndex" in spec
    if by_index and pod.get("restartPolicy") != "Never":
        found.append(f"{path}.backoffLimitPerIndex: needs restartPolicy Never")
    if by_index and spec.get("completionMode") != "Indexed":
        found.append(f"{path}.backoffLimitPerIndex: needs an Indexed Job")
    if "maxFailedIndexes" in spec and (
            not by_index or
            not 0 <= spec["maxFailedIndexes"] <= spec["completions"]):
        found.append(f"{path}.maxFailedIndexes: Invalid value")
    for rule in (policy or {}).get("rules", []):
        if rule["action"] == "FailIndex" and not by_index:
            found.append(f"{path}.podFailurePolicy: FailIndex needs "
                         "backoffLimitPerIndex")
        if ("onExitCodes" in rule) == ("onPodConditions" in rule):
            found.append(f"{path}.podFailurePolicy: exactly one of "
                         "onExitCodes and onPodConditions")
        codes = rule.get("onExitCodes", {"operator": "In", "values": [1]})
        values = codes["values"]
        if not 1 <= len(values) <= 255 or values != sorted(set(values)) or \
                (codes["operator"] == "In" and 0 in values):
            found.append(f"{path}.podFailurePolicy: wrong values {values}")
    mounts = {v["name"] for v in pod.get("volumes", [])}
    names = [v["name"] for v in pod.get("volumes", [])]
    if len(names) != len(mounts):
        found.append(f"{path}: two volumes of one name")
    for container in pod["containers"] + pod.get("initContainers", []):
        if not container.get("image"):
            found.append(f"{path}: image: Required value")
        paths = [m["mountPath"] for m in container.get("volumeMounts", [])]
        if len(paths) != len(set(paths)):
            found.append(f"{path}: mountPath must be unique")
        for mount in container.get("volumeMounts", []):
            if mount["name"] not in mounts:
                found.append(f"{path}: no volume '{mount['name']}'")
        resources = container.get("resources", {})
        for key in set(resources.get("limits", {})) | \
                set(resources.get("requests", {})):
            # Whole devices can't be asked for twice over.
            if "/" in key and resources.get("limits", {}).get(key) != \
                    resources.get("requests", {}).get(key):
                found.append(f"{path}: {key}: limit and request differ")
