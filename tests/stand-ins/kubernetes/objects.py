# SPDX-License-Identifier: Apache-2.0
"""The objects of the cluster, as its API server keeps them: versions, field
managers, watches, and what is owned by what."""

import copy
import time
import uuid

from answers import Answer, error, status
from schemas import check_rules

HISTORY = 1000  # events that a watch can begin before


class Kind:
    def __init__(self, group, version, plural, name):
        self.group = group
        self.plural = plural
        self.name = name
        self.api = f"{group}/{version}" if group else version
        self.root = f"apis/{group}/{version}" if group else f"api/{version}"
        self.title = f"{plural}.{group}" if group else plural


KINDS = [
    Kind("", "v1", "secrets", "Secret"),
    Kind("", "v1", "configmaps", "ConfigMap"),
    Kind("", "v1", "services", "Service"),
    Kind("", "v1", "pods", "Pod"),
    Kind("", "v1", "events", "Event"),
    Kind("batch", "v1", "jobs", "Job"),
    Kind("jobset.x-k8s.io", "v1alpha2", "jobsets", "JobSet"),
    Kind("kueue.x-k8s.io", "v1beta2", "workloads", "Workload"),
    Kind("kueue.x-k8s.io", "v1beta1", "workloads", "Workload"),
]
KIND = {kind.name: kind for kind in KINDS}
LOCAL_QUEUE = Kind("visibility.kueue.x-k8s.io", "v1beta1", "localqueues",
                   "LocalQueue")
NAMESPACE = Kind("", "v1", "namespaces", "Namespace")


def now(fraction=False):
    at = time.time()
    text = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at))
    return text + (f".{int(at % 1 * 1e9):09d}Z" if fraction else "Z")


def leaves(value, path=()):
    """The fields that an applied object sets: lists are atomic here."""
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from leaves(item, path + (key,))
    else:
        yield path, value


def get(value, path):
    for key in path:
        if not isinstance(value, dict) or key not in value:
            return None
        value = value[key]
    return value


def put(value, path, item):
    for key in path[:-1]:
        value = value.setdefault(key, {})
    value[path[-1]] = copy.deepcopy(item)


def drop(value, path):
    parent = get(value, path[:-1])
    if isinstance(parent, dict):
        parent.pop(path[-1], None)


def matches(selector, labels):
    for term in filter(None, selector.split(",")):
        key, sign, text = term.partition("=")
        if sign and labels.get(key) != text.lstrip("="):
            return False
        if not sign and key not in labels:
            return False
    return True


def pod_status(state):
    """As kubectl shows it."""
    waiting = [c["state"]["waiting"]["reason"]
               for c in state.get("containerStatuses", [])
               if "waiting" in c["state"]]
    scheduled = not any(c["type"] == "PodScheduled" and c["status"] == "False"
                        for c in state.get("conditions", []))
    phase = state.get("phase", "Pending")
    if phase == "Pending" and scheduled:
        return (waiting + ["ContainerCreating"])[0]
    return phase


class Objects:
    def __init__(self, changed):
        self.version = 1000
        self.items = {}     # (kind name, namespace, name)
        self.managers = {}  # the same, to {manager: {path}}
        self.history = []   # (version, kind name, type, object)
        self.oldest = 0
        self.changed = changed  # a condition to notify

    def find(self, kind, namespace, name):
        item = self.items.get((kind.name, namespace, name))
        if item is None:
            raise error(404, f'{kind.title} "{name}" not found',
                        details={"name": name, "kind": kind.plural})
        return item

    def store(self, item, event):
        kind, meta = item["kind"], item["metadata"]
        self.version += 1
        meta["resourceVersion"] = str(self.version)
        key = kind, meta["namespace"], meta["name"]
        if event == "DELETED":
            self.items.pop(key, None)
            self.managers.pop(key, None)
        else:
            self.items[key] = item
        self.history.append((self.version, kind, event, copy.deepcopy(item)))
        del self.history[:-HISTORY]
        self.changed.notify_all()

    def forget(self):
        """What a watch could go on from is compacted away."""
        self.version += 1
        self.oldest = self.version
        self.history.clear()
        self.changed.notify_all()

    def make(self, kind, namespace, item):
        item = copy.deepcopy(item)
        item.setdefault("apiVersion", kind.api)
        item.setdefault("kind", kind.name)
        item["metadata"].update(namespace=namespace, uid=str(uuid.uuid4()),
                                creationTimestamp=now(), generation=1)
        self.store(item, "ADDED")
        return item

    def apply(self, kind, namespace, name, patch, query, checker, admission):
        """Server-side apply."""
        manager = query.get("fieldManager")
        if not manager:
            raise error(400, "fieldManager: Required value: is required for "
                        "apply patch")
        if (patch.get("apiVersion"), patch.get("kind")) != \
                (kind.api, kind.name):
            raise error(400, "the API version in the data does not match the "
                        "expected API version")
        if patch.get("metadata", {}).get("name", name) != name:
            raise error(400, "the name of the object does not match the name "
                        "on the URL")
        if checker:
            wrong = checker.check(patch)
            if wrong:
                raise error(400, "strict decoding error: " + "; ".join(wrong))
        wrong = check_rules(patch)
        if wrong:
            raise error(422, f'{kind.name} "{name}" is invalid: '
                        + "; ".join(wrong))
        admission(patch)
        key = kind.name, namespace, name
        old = self.items.get(key)
        new = self.merge(key, old, patch, manager,
                         query.get("force") == "true")
        if query.get("dryRun") == "All":
            new["metadata"].setdefault("uid", str(uuid.uuid4()))
            return Answer(200 if old else 201, new)
        if old is None:
            new = self.make(kind, namespace, new)
        elif new != old:
            self.store(new, "MODIFIED")
        self.managers.setdefault(key, {})[manager] = \
            {path for path, _ in leaves(patch)}
        return Answer(200 if old else 201, new)

    def merge(self, key, old, patch, manager, force):
        if old is None:
            return copy.deepcopy(patch)
        new = copy.deepcopy(old)
        owners = self.managers.get(key, {})
        wanted = dict(leaves(patch))
        against = sorted({(who, ".".join(path)) for who, paths in
                          owners.items() if who != manager
                          for path in paths & set(wanted)
                          if get(old, path) != wanted[path]})
        if against and not force:
            raise error(409, f"Apply failed with {len(against)} conflict"
                        f"{'s' if len(against) > 1 else ''}: " + ", ".join(
                            f'conflict with "{who}": .{path}'
                            for who, path in against))
        for path in owners.get(manager, set()) - set(wanted):
            drop(new, path)
        for path, item in wanted.items():
            put(new, path, item)
        self.check_fixed(old, new)
        return new

    @staticmethod
    def check_fixed(old, new):
        fixed = {"Job": ["template", "completions", "completionMode"],
                 "JobSet": ["replicatedJobs"]}.get(old["kind"], [])
        for field in fixed:
            if old["spec"].get(field) != new["spec"].get(field):
                raise error(422, f'{old["kind"]} "{old["metadata"]["name"]}" '
                            f"is invalid: spec.{field}: Invalid value: field "
                            "is immutable")
        if old.get("immutable") and \
                old.get("binaryData") != new.get("binaryData"):
            raise error(422, "data: Forbidden: field is immutable when "
                        "`immutable` is set")

    def patch(self, kind, namespace, name, patch):
        """A merge patch."""
        item = copy.deepcopy(self.find(kind, namespace, name))
        version = patch.get("metadata", {}).get("resourceVersion")
        if version and version != item["metadata"]["resourceVersion"]:
            raise error(409, "the object has been modified; please apply your "
                        "changes to the latest version and try again")

        def merge(to, of):
            for key, value in of.items():
                if value is None:
                    to.pop(key, None)
                elif isinstance(value, dict):
                    merge(to.setdefault(key, {}), value)
                else:
                    to[key] = value
        merge(item, patch)
        self.store(item, "MODIFIED")
        return item

    def owned(self, item):
        uid = item["metadata"]["uid"]
        return [other for other in list(self.items.values())
                if any(o.get("uid") == uid for o in
                       other["metadata"].get("ownerReferences", []))]

    def delete(self, kind, namespace, name, options):
        item = self.find(kind, namespace, name)
        uid = options.get("preconditions", {}).get("uid")
        if uid and uid != item["metadata"]["uid"]:
            raise error(409, "Precondition failed: UID in precondition: "
                        f"{uid}, UID in object meta: "
                        f"{item['metadata']['uid']}")
        policy = options.get("propagationPolicy", "Background")
        if policy == "Foreground" and self.owned(item):
            item = copy.deepcopy(item)
            item["metadata"]["deletionTimestamp"] = now()
            item["metadata"]["finalizers"] = ["foregroundDeletion"]
            self.store(item, "MODIFIED")
            return item
        self.remove(item, policy)
        return status(200, "") | {"status": "Success"}

    def remove(self, item, policy="Background"):
        below = self.owned(item) if policy != "Orphan" else []
        self.store(copy.deepcopy(item), "DELETED")
        for other in below:
            self.remove(other)

    def sweep(self):
        """Ends the deletions in the foreground."""
        for item in list(self.items.values()):
            if "deletionTimestamp" in item["metadata"] and \
                    item["metadata"].get("finalizers"):
                for other in self.owned(item):
                    self.remove(other)
                self.remove(item)

    def list(self, kind, namespace, query):
        items = sorted((item for (name, space, _), item in self.items.items()
                        if name == kind.name and
                        (namespace is None or space == namespace) and
                        self.selected(item, query)),
                       key=lambda item: item["metadata"]["name"])
        start = int(query.get("continue") or 0)
        limit = int(query.get("limit") or 0) or len(items) or 1
        meta = {"resourceVersion": str(self.version)}
        if start + limit < len(items):
            meta["continue"] = str(start + limit)
            meta["remainingItemCount"] = len(items) - start - limit
        return {"kind": kind.name + "List", "apiVersion": kind.api,
                "metadata": meta, "items": items[start:start + limit]}

    def table(self, kind, namespace, query):
        """A line for each, as the printer columns of its kind have it."""
        def row(item):
            state = item.get("status", {})
            ended = [c["type"] for c in state.get("conditions", [])
                     if c["status"] == "True"]
            suspended = item["spec"].get("suspend", False)
            if kind.name == "Pod":
                return [item["metadata"]["name"], pod_status(state)]
            if kind.name == "JobSet":
                return [item["metadata"]["name"],
                        state.get("terminalState", ""),
                        str(state.get("restarts", 0)),
                        "True" if "Completed" in ended else "", suspended]
            return [item["metadata"]["name"],
                    (ended + ["Suspended" if suspended else "Running"])[0]]
        names = ["Name", "TerminalState", "Restarts", "Completed", "Suspended"]
        if kind.name != "JobSet":
            names = ["Name", "Status"]
        items = self.list(kind, namespace, query)["items"]
        return {"kind": "Table", "apiVersion": "meta.k8s.io/v1",
                "columnDefinitions": [{"name": name} for name in names],
                "rows": [{"cells": row(item)} for item in items]}

    @staticmethod
    def selected(item, query):
        for term in filter(None, query.get("fieldSelector", "").split(",")):
            key, _, text = term.partition("=")
            if str(get(item, tuple(key.split("."))) or "") != \
                    text.lstrip("="):
                return False
        return matches(query.get("labelSelector", ""),
                       item["metadata"].get("labels", {}))

    def since(self, kind, namespace, query, version):
        """The events after a version; raises 410 if they are gone."""
        if version < self.oldest:
            raise error(410, f"too old resource version: {version} "
                        f"({self.oldest})")
        return [(at, event, item) for at, name, event, item in self.history
                if at > version and name == kind.name and
                item["metadata"]["namespace"] == namespace and
                self.selected(item, query)]
