# SPDX-License-Identifier: Apache-2.0
"""compute.googleapis.com v1: images, instance templates, managed groups, their
VMs, and VMs of somebody else.

state["compute"] tells how things are to go: "addresses", of the VMs in their
order; "stuck", how many VMs never run; "starting" (1), at how many looks at a
new group none does; "preempt", the name of a VM that is taken away at the next
look, once: its group makes it again; "operation_looks" (1); "vms", those of
somebody else, {NAME: {"status": "TERMINATED", "disk": NAME}}; "image", the
states of a new image, look by look (["READY"]); "images", the paths of those
of somebody else.
"""

import re
import time

from answers import error
from jobs import check_labels

IMAGES = re.compile(r"projects/([^/]+)/global/images")
IMAGE = re.compile(r"projects/([^/]+)/global/images/([^/]+)")
TEMPLATES = re.compile(r"projects/([^/]+)/global/instanceTemplates")
TEMPLATE = re.compile(r"projects/([^/]+)/global/instanceTemplates/([^/]+)")
GROUPS = re.compile(r"projects/([^/]+)/zones/([^/]+)/instanceGroupManagers")
GROUP = re.compile(
    r"projects/([^/]+)/zones/([^/]+)/instanceGroupManagers/([^/]+)")
MANAGED = re.compile(GROUP.pattern + r"/listManagedInstances")
INSTANCES = re.compile(r"projects/([^/]+)/zones/([^/]+)/instances")
INSTANCE = re.compile(
    r"projects/([^/]+)/zones/([^/]+)/instances/([^/]+)(/stop)?")
OPERATION = re.compile(
    r"projects/([^/]+)/(?:global|zones/[^/]+)/operations/([^/]+)")
NAME = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")

# A VM that is preempted, look by look.
GONE = [("STOPPING", "NONE"), ("TERMINATED", "NONE"),
        ("TERMINATED", "RECREATING"), ("PROVISIONING", "RECREATING")]


class Compute:
    def __init__(self):
        self.images = {}  # by path
        self.templates = {}
        self.groups = {}
        self.operations = {}
        self.requests = {}


def compute_of(server):
    if not hasattr(server, "compute"):
        server.compute = Compute()
    return server.compute


def made(server):
    all_ = compute_of(server)
    return [[path.split("/")[1], path]
            for path in [*all_.images, *all_.templates, *all_.groups]]


def now():
    return time.strftime("%Y-%m-%dT%H:%M:%S.000-00:00", time.gmtime())


def begin(server, act):
    all_ = compute_of(server)
    name = f"operation-{len(all_.operations) + 1}"
    looks = server.state.get("compute", {}).get("operation_looks", 1)
    all_.operations[name] = [looks, act]
    return {"kind": "compute#operation", "name": name, "status": "RUNNING"}


def operation(server, name):
    one = compute_of(server).operations.get(name)
    if one is None:
        raise error(404, "The resource was not found")
    one[0] -= 1
    if one[0] > 0:
        return {"name": name, "status": "RUNNING"}
    if one[1]:
        one[1]()
        one[1] = None
    return {"name": name, "status": "DONE"}


def vms_of(server, path, group):
    """The VMs of a group: (name, IP, status)."""
    told = server.state.get("compute", {})
    size = group["body"]["targetSize"]
    addresses = told.get("addresses", [f"10.164.0.{i}"
                                       for i in range(2, 2 + size)])
    group["looks"] = group.get("looks", 0) + 1
    ready = size - told.get("stuck", 0) if group["looks"] > told.get(
        "starting", 1) else 0
    base = group["body"]["baseInstanceName"]
    names = [f"{base}-{i:04x}" for i in range(size)]
    if told.get("preempt") in names:
        group["gone"] = {told.pop("preempt"): list(GONE)}
    return [(name, addresses[i], *state_of(group, name, i < ready))
            for i, name in enumerate(names)]


def state_of(group, name, ready):
    """Its status, and what its group does about it."""
    left = group.get("gone", {}).get(name)
    if left:
        return left.pop(0)
    return ("RUNNING", "NONE") if ready else ("PROVISIONING", "CREATING")


def managed(server, path, group):
    zone = path.rsplit("/", 2)[0]
    return {"managedInstances": [
        {"instance": f"https://www.googleapis.com/compute/v1/{zone}/"
                     f"instances/{name}",
         "instanceStatus": status, "currentAction": action}
        for name, _, status, action in vms_of(server, path, group)]}


def instances(server, project, zone, query):
    start = f"projects/{project}/zones/{zone}/"
    found = re.fullmatch(r"labels\.jobrun-job=([a-z0-9_-]+)",
                         query.get("filter", [""])[0])
    items = []
    for path, group in compute_of(server).groups.items():
        template = compute_of(server).templates[group["template"]]
        labels = template["properties"].get("labels", {})
        if not path.startswith(start) or (
                found and labels.get("jobrun-job") != found[1]):
            continue
        # Backwards: the order of a list says nothing.
        for name, ip, status, _ in reversed(vms_of(server, path, group)):
            items.append({"name": name, "status": status, "labels": labels,
                          "networkInterfaces": [{
                              "networkIP": ip,
                              "accessConfigs": [{"natIP": ip}]}]})
    return {"items": items} if items else {}


def others(server):
    return server.state.get("compute", {}).get("vms", {})


def instance(server, path, name, act):
    one = others(server).get(name)
    if one is None:
        raise error(404, f"The resource '{path}' was not found")
    if not act:
        return {"name": name, "status": one["status"], "disks": [
            {"boot": False, "source": f"{path}-data"},
            {"boot": True, "source":
             "https://www.googleapis.com/compute/v1/" +
             path.replace(f"/instances/{name}", f"/disks/{one['disk']}")}]}
    return begin(server, lambda: one.update(status="TERMINATED"))


def add_image(server, project, body):
    path = f"projects/{project}/global/images/{body['name']}"
    all_ = compute_of(server)
    if path in all_.images:
        raise error(409, f"The resource '{path}' already exists")
    disk = body.get("sourceDisk", "").rsplit("/", 1)[-1]
    users = [one for one in others(server).values() if one["disk"] == disk]
    if not NAME.fullmatch(body["name"]) or not users:
        raise error(400, "Invalid value for field 'resource.sourceDisk'.")
    if users[0]["status"] != "TERMINATED":
        raise error(400, f"The disk resource '{disk}' is already being used")
    check_labels(body.get("labels", {}))
    states = server.state["compute"].get("image", ["READY"])
    all_.images[path] = {"states": list(states),
                         "body": dict(body, creationTimestamp=now())}
    return begin(server, None)


def images_of(server):
    """By path, those of somebody else, too."""
    all_ = compute_of(server).images
    for path in server.state.get("compute", {}).pop("images", []):
        all_[path] = {"states": ["READY"],
                      "body": {"name": path.rsplit("/", 1)[-1]}}
    return all_


def image(one):
    """As it is at this look."""
    states = one["states"]
    return dict(one["body"],
                status=states.pop(0) if len(states) > 1 else states[0])


def images(server, path, query):
    if query.get("filter") != ["labels.jobrun-job:*"]:
        raise error(400, "Invalid value for field 'filter'.")
    items = [image(one) for name, one in images_of(server).items()
             if name.startswith(path + "/")
             and "jobrun-job" in one["body"].get("labels", {})]
    return {"items": items} if items else {}


def one_image(server, http, path):
    all_ = images_of(server)
    if path not in all_:
        raise error(404, f"The resource '{path}' was not found")
    if http == "DELETE":
        return begin(server, lambda: all_.pop(path, None))
    return image(all_[path])


def find_image(server, project, properties):
    """Of a template: one of the project's own has to be there."""
    name = properties["disks"][0].get("initializeParams", {}).get(
        "sourceImage", "")
    if name.startswith("global/images/") and \
            f"projects/{project}/{name}" not in compute_of(server).images:
        raise error(404, f"The resource '{name}' was not found")


def add_template(server, project, body):
    path = f"projects/{project}/global/instanceTemplates/{body['name']}"
    all_ = compute_of(server)
    if path in all_.templates:
        raise error(409, f"The resource '{path}' already exists")
    properties = body["properties"]
    if not NAME.fullmatch(body["name"]) or not properties.get("disks") or \
            not properties.get("machineType"):
        raise error(400, "Invalid value for field 'resource'.")
    find_image(server, project, properties)
    check_labels(properties.get("labels", {}))
    all_.templates[path] = dict(body, creationTimestamp=now())
    return begin(server, None)


def add_group(server, project, zone, body):
    path = (f"projects/{project}/zones/{zone}/instanceGroupManagers/"
            f"{body['name']}")
    all_ = compute_of(server)
    if path in all_.groups:
        raise error(409, f"The resource '{path}' already exists")
    # A whole URL, or from "projects/" on.
    template = re.sub(r".*/(?=projects/)", "", body["instanceTemplate"])
    if template not in all_.templates:
        raise error(404, "The resource 'instanceTemplate' was not found")
    if len(body["baseInstanceName"]) > 58:
        raise error(400, "Invalid value for field 'baseInstanceName'.")
    all_.groups[path] = {"body": dict(body, creationTimestamp=now()),
                         "template": template}
    return begin(server, None)


def remove_template(server, path):
    all_ = compute_of(server)
    if path not in all_.templates:
        raise error(404, f"The resource '{path}' was not found")
    if any(one["template"] == path for one in all_.groups.values()):
        raise error(400, "The instance_template resource is already being "
                    "used.", "FAILED_PRECONDITION")
    return begin(server, lambda: all_.templates.pop(path, None))


def remove_group(server, path):
    all_ = compute_of(server)
    if path not in all_.groups:
        raise error(404, f"The resource '{path}' was not found")
    return begin(server, lambda: all_.groups.pop(path, None))


UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-"
                  r"[0-9a-f]{12}")


def answer(server, http, path, query, body, headers):
    """One request that comes twice begins one operation."""
    path = path[len("compute/v1/"):] if path.startswith("compute/v1/") \
        else path
    if http == "GET" or MANAGED.fullmatch(path):
        return answer_once(server, http, path, query, body)
    id_ = query.get("requestId", [""])[0]
    if not UUID.fullmatch(id_):
        raise error(400, "Every change needs a requestId, a UUID.")
    known = compute_of(server).requests
    if id_ in known:
        return operation_now(server, known[id_])
    known[id_] = answer_once(server, http, path, query, body)
    return known[id_]


def operation_now(server, begun):
    """How far what was begun has come."""
    done = compute_of(server).operations[begun["name"]][1] is None
    return {**begun, "status": "DONE"} if done else begun


def answer_once(server, http, path, query, body):
    all_ = compute_of(server)
    match = OPERATION.fullmatch(path)
    if match and http == "GET":
        return operation(server, match[2])
    match = IMAGES.fullmatch(path)
    if match and http == "POST":
        return add_image(server, match[1], body)
    if match and http == "GET":
        return images(server, path, query)
    if IMAGE.fullmatch(path) and http in ("GET", "DELETE"):
        return one_image(server, http, path)
    match = INSTANCE.fullmatch(path)
    if match and http == ("POST" if match[4] else "GET"):
        return instance(server, path, match[3], match[4])
    match = TEMPLATES.fullmatch(path)
    if match and http == "POST":
        return add_template(server, match[1], body)
    if match and http == "GET":
        items = [one for name, one in all_.templates.items()
                 if name.startswith(path + "/")]
        return {"items": items} if items else {}
    match = GROUPS.fullmatch(path)
    if match and http == "POST":
        return add_group(server, *match.groups(), body)
    match = INSTANCES.fullmatch(path)
    if match and http == "GET":
        return instances(server, *match.groups(), query)
    match = MANAGED.fullmatch(path)
    if match and http == "POST":
        path = path.rsplit("/", 1)[0]
        if path not in all_.groups:
            raise error(404, f"The resource '{path}' was not found")
        return managed(server, path, all_.groups[path])
    if TEMPLATE.fullmatch(path):
        if http == "DELETE":
            return remove_template(server, path)
        if http == "GET" and path in all_.templates:
            return all_.templates[path]
    if GROUP.fullmatch(path):
        if http == "DELETE":
            return remove_group(server, path)
        if http == "GET" and path in all_.groups:
            return all_.groups[path]["body"]
    raise error(404, f"The resource '{path}' was not found")
