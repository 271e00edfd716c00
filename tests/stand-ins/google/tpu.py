# SPDX-License-Identifier: Apache-2.0
"""tpu.googleapis.com, v1 and v2: nodes, queued resources and operations.

state["tpu"] tells how things are to go, by "ZONE/NODE", by "ZONE" or by "*":

    script      [{"state", "health" …} …]: each look takes the next entry; the
                last one stays.  Of a node that is there without having been
                made, and of one that is made
    endpoints   [{"ipAddress", "port"} …]; or "hosts": N, otherwise as many as
                its type has
    topology    what the node says of its chips
    exists      false: it is only there when it is made
    operation_looks     how many looks an operation takes (1)
    create      an error: {"code", "message"} of the operation that makes it,
                as often as "create_times" says (always)
    delete      the same of the one that deletes it, with "delete_times"
    sick        how many of those that are made next never are usable
    preempt     true: it is taken away at the next look, once
    maintenance at how many looks from now on it is under maintenance
    lose        operations are not to be found
    queue       states of the queued resource, one a look
    unnamed     how often its VMs have not said yet what they are called,
                "t1v-n-NODE-w-0" and so on
"""

import re
import time

from answers import error, STATUS
from jobs import check_labels

PARENT = r"(v1|v2alpha1|v2)/projects/([^/]+)/locations/([^/]+)"
NODES = re.compile(PARENT + r"/nodes")
NODE = re.compile(PARENT + r"/nodes/([^/:]+)")
ATTRIBUTES = re.compile(NODE.pattern + r":getGuestAttributes")
QUEUES = re.compile(PARENT + r"/queuedResources")
QUEUE = re.compile(PARENT + r"/queuedResources/([^/:]+)")
OPERATION = re.compile(PARENT + r"/operations/([^/:]+)")
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-"
                  r"[0-9a-f]{12}")
NAME = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")


class Tpu:
    def __init__(self):
        self.nodes = {}       # by full name
        self.queues = {}
        self.operations = {}
        self.requests = {}
        self.count = 0


def tpu_of(server):
    if not hasattr(server, "tpu"):
        server.tpu = Tpu()
    return server.tpu


def made(server):
    settle(server)
    tpu = tpu_of(server)
    return [[name.split("/")[1], name] for name in
            [*tpu.nodes, *tpu.queues]]


def told_of(server, zone, node):
    told = server.state.get("tpu", {})
    out = dict(told.get("*", {}))
    out.update(told.get(zone, {}))
    out.update(told.get(f"{zone}/{node}", {}))
    return out


def error_of(server, zone, node, what):
    """The error that is told for it, if it is not used up."""
    told = server.state.get("tpu", {})
    for key in (f"{zone}/{node}", zone, "*"):
        one = told.get(key, {})
        if what in one:
            left = one.get(what + "_times")
            if left is None:
                return one[what]
            if left > 0:
                one[what + "_times"] = left - 1
                return one[what]
    return None


# The fields of Node that only one version has; both list the nodes of both.
ONLY_V1 = {"ipAddress", "network", "port", "tensorflowVersion",
           "useServiceNetworking"}
ONLY_V2 = {"acceleratorConfig", "dataDisks", "metadata", "networkConfig",
           "queuedResource", "runtimeVersion", "tags"}


def as_seen(version, body):
    other = ONLY_V2 if version == "v1" else ONLY_V1
    out = {key: value for key, value in body.items() if key not in other}
    if version == "v1":
        if "spot" in out.get("schedulingConfig", {}):
            out["schedulingConfig"] = {
                key: value for key, value in out["schedulingConfig"].items()
                if key != "spot"}
        if isinstance(out.get("serviceAccount"), dict):
            out["serviceAccount"] = out["serviceAccount"].get("email", "")
    elif isinstance(out.get("serviceAccount"), str):
        out["serviceAccount"] = {"email": out["serviceAccount"]}
    return out


def hosts_of(name):
    """How many VMs a slice of this name has."""
    kind, _, count = name.rpartition("-")
    if kind in ("v2", "v3", "v4", "v5p"):
        return max(int(count) // 8, 1)
    return 1 if not kind or int(count) <= 8 else int(count) // 4


def node_json(version, name, told, step, body=None):
    hosts = told.get("hosts", hosts_of((body or {}).get("acceleratorType", "")))
    endpoints = [dict(one) for one in told.get("endpoints", [])] or [
        {"ipAddress": f"10.240.1.{i + 2}", "port": 8470}
        for i in range(hosts)]
    out = as_seen(version,
                  body or {"acceleratorType": told.get("type", "v3-8")})
    out.update(name=name, state=step.get("state", "READY"),
               createTime=body["createTime"] if body and "createTime" in body
               else "2026-11-21T02:00:00.123456789Z")
    for key in ("health", "healthDescription", "symptoms"):
        if key in step:
            out[key] = step[key]
    if version == "v2" and "topology" in told:
        out["acceleratorConfig"] = {"type": "V6E", "topology": told["topology"]}
    if version == "v1":
        out.setdefault("tensorflowVersion", told.get("version", "2.2"))
        for one in endpoints:
            one.pop("accessConfig", None)  # a field of v2
    else:
        out.setdefault("runtimeVersion",
                       told.get("version", "tpu-ubuntu2204-base"))
        if "endpoints" not in told:
            for i, one in enumerate(endpoints):
                one["accessConfig"] = {"externalIp": f"203.0.113.{i + 2}"}
    if out["state"] not in ("CREATING",):
        out["networkEndpoints"] = endpoints
    return out


def look(server, version, name, zone, node):
    tpu = tpu_of(server)
    there = tpu.nodes.get(name)
    told = told_of(server, zone, node)
    if there is None:
        # One that is just there, for those who only look.
        one = server.state.get("tpu", {}).get(f"{zone}/{node}")
        if one is None or not one.get("exists", True):
            raise error(404, f"Resource '{name}' was not found")
        there = one
    script = told.get("script") or [{"state": "READY", "health": "HEALTHY"}]
    # Taken away, whatever the script says, until it is deleted.
    if told.get("preempt"):
        server.state["tpu"][f"{zone}/{node}"]["preempt"] = False
        there["preempted"] = True
    if there.get("deleting"):
        script = [{"state": "DELETING"}]
    elif there.get("sick"):
        script = [{"state": "READY", "health": "TIMEOUT",
                   "healthDescription": "the TPU does not answer"}]
    elif there.get("preempted"):
        script = [{"state": "PREEMPTED"}]
    elif told.get("maintenance"):
        server.state["tpu"][f"{zone}/{node}"]["maintenance"] -= 1
        script = [{"state": "READY", "health": "UNHEALTHY_MAINTENANCE"}]
    looks = there.get("looks", 0)
    there["looks"] = looks + 1
    return node_json(version, name, told, script[min(looks, len(script) - 1)],
                     there.get("body"))


def begin(server, version, project, zone, node, act, failure=None):
    tpu = tpu_of(server)
    told = told_of(server, zone, node)
    tpu.count += 1
    name = (f"projects/{project}/locations/{zone}/operations/"
            f"operation-{tpu.count}")
    tpu.operations[name] = {"left": told.get("operation_looks", 1),
                            "act": act, "failure": failure,
                            "since": time.monotonic(),
                            "lost": told.get("lose", False)}
    return {"name": name, "done": False, "metadata": {
        "@type": f"type.googleapis.com/google.cloud.tpu.{version}."
                 "OperationMetadata"}}


def operation(server, name):
    one = tpu_of(server).operations.get(name)
    if one is None:
        raise error(404, f"Resource '{name}' was not found")
    one["left"] -= 1
    if one["left"] <= 0 and one["act"]:
        one["act"]()
        one["act"] = None
    if one["lost"]:
        raise error(404, f"Resource '{name}' was not found")
    if one["left"] > 0:
        return {"name": name, "done": False}
    if one["failure"]:
        return {"name": name, "done": True, "error": one["failure"]}
    return {"name": name, "done": True, "response": {
        "@type": "type.googleapis.com/google.protobuf.Empty"}}


def settle(server):
    """Operations go on while nobody looks at them."""
    for one in tpu_of(server).operations.values():
        if one["act"] and (one["lost"] or
                           time.monotonic() - one["since"] > 2):
            one["act"]()
            one["act"] = None


def check_node(version, node_id, body):
    if not NAME.fullmatch(node_id):
        raise error(400, f"Invalid node id: {node_id}")
    if bool(body.get("acceleratorType")) == bool(
            body.get("acceleratorConfig")):
        raise error(400, "Exactly one of accelerator_type and "
                    "accelerator_config must be set.")
    if version == "v2" and not body.get("runtimeVersion"):
        raise error(400, "runtime_version is required.")
    check_labels(body.get("labels", {}))


def add_node(server, version, project, zone, node_id, body):
    name = f"projects/{project}/locations/{zone}/nodes/{node_id}"
    check_node(version, node_id, body)
    tpu = tpu_of(server)
    if name in tpu.nodes:
        raise error(409, f"Resource '{name}' already exists")
    failure = error_of(server, zone, node_id, "create")
    if failure and failure.get("now"):
        raise error(failure["http"], failure["message"],
                    STATUS.get(failure["http"]), failure.get("details"))
    body = dict(body, createTime=time.strftime("%Y-%m-%dT%H:%M:%SZ",
                                               time.gmtime()))
    there = tpu.nodes[name] = {"body": body, "looks": 0}
    for key in (f"{zone}/{node_id}", zone, "*"):
        one = server.state.get("tpu", {}).get(key, {})
        if one.get("sick", 0) > 0:
            one["sick"] -= 1
            there["sick"] = True
            break

    def end():
        if failure and tpu.nodes.get(name) is there:
            del tpu.nodes[name]
    return begin(server, version, project, zone, node_id, end, failure)


def remove_node(server, version, project, zone, node_id):
    name = f"projects/{project}/locations/{zone}/nodes/{node_id}"
    tpu = tpu_of(server)
    # What is being deleted is not there for another deletion.
    if name not in tpu.nodes or tpu.nodes[name].get("deleting"):
        raise error(404, f"Resource '{name}' was not found")
    failure = error_of(server, zone, node_id, "delete")
    there = tpu.nodes[name]
    there["deleting"] = True

    def end():
        there["deleting"] = False
        if not failure and tpu.nodes.get(name) is there:
            del tpu.nodes[name]
    return begin(server, version, project, zone, node_id, end, failure)


def list_all(server, version, project, zone, query, what):
    start = f"projects/{project}/locations/"
    tpu = tpu_of(server)
    names = [name for name in sorted(tpu.nodes if what == "nodes" else tpu.queues)
             if name.startswith(start) and
             (zone == "-" or name.split("/")[3] == zone)]
    size = min(server.state.get("page", 2),
               int(query.get("pageSize", ["20"])[0]))
    at = int(query.get("pageToken", ["0"])[0])
    out = {}
    for name in names[at:at + size]:
        parts = name.split("/")
        out.setdefault(what, []).append(
            look(server, version, name, parts[3], parts[5])
            if what == "nodes" else
            look_queue(server, name, project, parts[3], parts[5]))
    if len(names) > at + size:
        out["nextPageToken"] = str(at + size)
    return out


def patch_node(server, version, name, zone, node_id, query, body):
    there = tpu_of(server).nodes.get(name)
    if there is None:
        raise error(404, f"Resource '{name}' was not found")
    mask = set(query.get("updateMask", [""])[0].split(","))
    if mask - {"labels", "metadata", "tags", "description"}:
        raise error(400, "Only some fields can be changed.")
    for field in mask:
        there["body"][field] = body.get(field)
    check_labels(there["body"].get("labels", {}))
    return begin(server, version, name.split("/")[1], zone, node_id, None)


# ---- queued resources

def names_of(spec):
    """The nodes of a spec: one, or the slices of several."""
    slices = spec.get("multisliceParams")
    if bool(slices) == bool(spec.get("nodeId")):
        raise error(400, "Exactly one of node_id and multislice_params must "
                    "be set.")
    if not slices:
        return [spec["nodeId"]]
    if slices["nodeCount"] < 2:
        raise error(400, "node_count must be greater than 1.")
    return [f"{slices['nodeIdPrefix']}-{i}"
            for i in range(slices["nodeCount"])]


def nodes_of(there):
    spec = there["body"]["tpu"]["nodeSpec"][0]
    return [f"{spec['parent']}/nodes/{name}" for name in names_of(spec)]


WEEK_S = 7 * 24 * 3600


def check_queue(version, parent, body):
    """How and when it is to be had: one way of each."""
    model = body.get("provisioningModel")
    if model and version != "v2alpha1":
        raise error(404, "Method not found.")
    if ("spot" in body) + ("guaranteed" in body) + bool(model) != 1:
        raise error(400, "One tier has to be asked for.")
    if model:
        limit = body.get("runDuration", {}).get("maxRunDuration", "0s")
        if model != "FLEX_START" or not 0 < int(limit[:-1]) <= WEEK_S:
            raise error(400, "FLEX_START takes a maxRunDuration of up to "
                        "seven days.")
    if len(body.get("queueingPolicy", {})) > 1:
        raise error(400, "One constraint of time can be given.")
    reservation = body.get("reservationName", parent + "/reservations/")
    if not reservation.startswith(parent + "/reservations/"):
        raise error(400, f"The reservation '{reservation}' is in no zone.")


def add_queue(server, version, project, zone, queue_id, body):
    name = f"projects/{project}/locations/{zone}/queuedResources/{queue_id}"
    tpu = tpu_of(server)
    if name in tpu.queues:
        raise error(409, f"Resource '{name}' already exists")
    spec = body["tpu"]["nodeSpec"][0]
    if spec["parent"] != f"projects/{project}/locations/{zone}":
        raise error(400, "The parent of the node is another.")
    check_queue(version, spec["parent"], body)
    for node in names_of(spec):
        check_node("v2", node, spec["node"])
    tpu.queues[name] = {"body": body, "looks": 0, "created": time.strftime(
        "%Y-%m-%dT%H:%M:%S.123456789Z", time.gmtime())}
    return begin(server, "v2", project, zone, queue_id, None)


def look_queue(server, name, project, zone, queue_id):
    tpu = tpu_of(server)
    there = tpu.queues.get(name)
    if there is None:
        raise error(404, f"Resource '{name}' was not found")
    states = told_of(server, zone, queue_id).get(
        "queue", ["WAITING_FOR_RESOURCES", "PROVISIONING", "ACTIVE"])
    state = states[min(there["looks"], len(states) - 1)]
    there["looks"] += 1
    spec = there["body"]["tpu"]["nodeSpec"][0]
    # Once: what is gone after that stays so.
    if state in ("PROVISIONING", "ACTIVE") and not there.get("made"):
        there["made"] = True
        for node in nodes_of(there):
            tpu.nodes[node] = {"body": dict(
                spec["node"], queuedResource=name,
                multisliceNode="multisliceParams" in spec), "looks": 0}
    out = {"name": name, "state": {"state": state},
           "createTime": there["created"], "tpu": there["body"]["tpu"]}
    if state == "FAILED":
        out["state"]["failedData"] = {"error": {
            "code": 8, "message": "There is no more capacity in the zone"}}
    return out


def remove_queue(server, project, zone, queue_id, query):
    name = f"projects/{project}/locations/{zone}/queuedResources/{queue_id}"
    tpu = tpu_of(server)
    if name not in tpu.queues:
        raise error(404, f"Resource '{name}' was not found")
    nodes = nodes_of(tpu.queues[name])
    if any(node in tpu.nodes for node in nodes) and query.get("force") != ["true"]:
        raise error(400, "It has nodes.", "FAILED_PRECONDITION")

    there = tpu.queues[name]

    def end():
        if tpu.queues.get(name) is there:
            for node in nodes:
                tpu.nodes.pop(node, None)
            del tpu.queues[name]
    return begin(server, "v2", project, zone, queue_id, end)


def answer_queue(server, http, path, query, body):
    """One request that comes twice begins one operation."""
    if http == "GET":
        return answer_once(server, http, path, query, body)
    id_ = query.get("requestId", [""])[0]
    if not UUID.fullmatch(id_):
        raise error(400, "Every change needs a requestId, a UUID.")
    known = tpu_of(server).requests
    if id_ in known:
        return operation_now(server, known[id_])
    known[id_] = answer_once(server, http, path, query, body)
    return known[id_]


def operation_now(server, begun):
    """How far what was begun has come."""
    done = tpu_of(server).operations[begun["name"]]["act"] is None
    return {**begun, "done": True, "response": {}} if done else begun


def answer_once(server, http, path, query, body):
    match = QUEUES.fullmatch(path)
    if match and http == "GET":
        version, project, zone = match.groups()
        return list_all(server, version, project, zone, query,
                        "queuedResources")
    if match and http == "POST":
        version, project, zone = match.groups()
        return add_queue(server, version, project, zone,
                         query["queuedResourceId"][0], body)
    match = QUEUE.fullmatch(path)
    if match:
        version, project, zone, name = match.groups()
        if http == "GET":
            return look_queue(server, path[len(version) + 1:], project, zone,
                              name)
        if http == "DELETE":
            return remove_queue(server, project, zone, name, query)
    raise error(404, "Method not found.")


def attributes(server, zone, node, name):
    if name not in tpu_of(server).nodes:
        raise error(404, f"Resource '{name}' was not found", "NOT_FOUND")
    told = told_of(server, zone, node)
    one = tpu_of(server).nodes[name]
    count = told.get("hosts", len(told.get("endpoints", [])))
    one["asked"] = one.get("asked", 0) + 1
    known = one["asked"] > told.get("unnamed", 0)
    return {"guestAttributes": [
        {"queryPath": "", "queryValue": {"items": [
            {"namespace": "hostkeys", "key": "ssh-ed25519", "value": "AAAA"},
            *([{"namespace": "hostkeys", "key": "hostname",
                "value": f"t1v-n-{node}-w-{i}"}] if known else [])]}}
        for i in range(count)]}


def answer(server, http, path, query, body, headers):
    settle(server)
    match = OPERATION.fullmatch(path)
    if match and http == "GET":
        return operation(server, path[len(match[1]) + 1:])
    match = ATTRIBUTES.fullmatch(path)
    if match and http == "POST":
        return attributes(server, match[3], match[4],
                          path[len("v2/"):-len(":getGuestAttributes")])
    match = NODES.fullmatch(path)
    if match:
        version, project, zone = match.groups()
        if http == "GET":
            return list_all(server, version, project, zone, query, "nodes")
        if http == "POST":
            return add_node(server, version, project, zone,
                            query["nodeId"][0], body)
    match = NODE.fullmatch(path)
    if not match:
        return answer_queue(server, http, path, query, body)
    version, project, zone, node = match.groups()
    name = path[len(version) + 1:]
    if http == "GET":
        return look(server, version, name, zone, node)
    if http == "DELETE":
        return remove_node(server, version, project, zone, node)
    if http == "PATCH" and version == "v2":
        return patch_node(server, version, name, zone, node, query, body)
    raise error(404, "Method not found.")
