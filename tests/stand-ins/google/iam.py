# SPDX-License-Identifier: Apache-2.0
"""serviceusage.googleapis.com v1beta1 and cloudresourcemanager.googleapis.com
v1: identities of services, and the IAM policy of a project.

A project's policy begins with bindings of others, one of them conditional, and
an audit configuration: who writes must send back what it does not know.

state["operation"] is how many looks find an operation under way (1),
state["others"] how many times somebody else writes a policy between a read of
it and the next write (0), and state["unknown"] how many times a new identity
is not known yet (0).
"""

import base64
import re

from answers import error

OWNER = "123456789012"
GENERATE = re.compile(r"v1beta1/projects/([^/]+)/services/([^/:]+)"
                      r":generateServiceIdentity")
POLICY = re.compile(r"v1/projects/([^/:]+):(get|set)IamPolicy")
OTHERS = [
    {"role": "roles/owner", "members": ["user:owner@example.com"]},
    {"role": "roles/ml.serviceAgent",
     "members": ["serviceAccount:other@x.iam.gserviceaccount.com"],
     "condition": {"title": "until", "expression": "request.time < "
                   "timestamp('2030-01-01T00:00:00Z')"}},
]
AUDIT = [{"service": "allServices",
          "auditLogConfigs": [{"logType": "ADMIN_READ"}]}]


def account(owner):
    return f"service-{owner}@cloud-tpu.iam.gserviceaccount.com"


def config(project):
    """What AI Platform's projects.getConfig says."""
    owner = OWNER + re.sub(r"\D", "", project)
    return {"serviceAccount": f"service-{owner}@cloud-ml.google.com"
            ".iam.gserviceaccount.com",
            "serviceAccountProject": owner,
            "config": {"tpuServiceAccount": account(owner)}}


class World:
    def __init__(self):
        self.accounts = {}  # name: how often it is still unknown
        self.operations = {}  # name: looks until it is done
        self.policies = {}  # project: [policy, number of writes]

    def policy(self, project):
        return self.policies.setdefault(project, [
            {"version": 3, "bindings": [dict(b) for b in OTHERS],
             "auditConfigs": AUDIT}, 0])


def world_of(server):
    if not hasattr(server, "iam"):
        server.iam = World()
    return server.iam


def bindings(server):
    """For tests: each project's policy."""
    return {project: policy for project, (policy, _)
            in world_of(server).policies.items()}


def shown(policy, writes):
    etag = base64.b64encode(f"etag{writes}".encode()).decode()
    return dict(policy, etag=etag)


def operation(name, looks, email):
    if looks > 0:
        return {"name": name, "done": False}
    return {"name": name, "done": True,
            "response": {"@type": "type.googleapis.com/google.api."
                         "serviceusage.v1beta1.ServiceIdentity",
                         "email": email, "uniqueId": "1"}}


def generate(server, owner, service):
    world = world_of(server)
    if service != "tpu.googleapis.com":
        raise error(403, f"Service {service} has no identity.")
    email = account(owner)
    world.accounts.setdefault(email, server.state.get("unknown", 0))
    name = f"operations/{owner}.{len(world.operations)}"
    world.operations[name] = [server.state.get("operation", 1), email]
    return operation(name, *world.operations[name])


def look(server, name):
    known = world_of(server).operations.get(name)
    if not known:
        raise error(404, "Operation not found.")
    known[0] -= 1
    return operation(name, *known)


def members(policy):
    return [(b["role"], member, bool(b.get("condition")))
            for b in policy.get("bindings", []) for member in b["members"]]


def check_members(world, policy):
    for _, member, _ in members(policy):
        email = member.partition(":")[2]
        if not email.endswith("@cloud-tpu.iam.gserviceaccount.com"):
            continue
        left = world.accounts.get(email)
        if left:
            world.accounts[email] = left - 1
        if left != 0:
            raise error(400, f"Service account {email} does not exist.")


def write(server, project, policy):
    world = world_of(server)
    stored = world.policy(project)
    if server.state.get("others", 0) > 0:
        server.state["others"] -= 1
        stored[0].setdefault("bindings", []).append(
            {"role": f"roles/other{stored[1]}",
             "members": ["user:other@example.com"]})
        stored[1] += 1
    if policy.get("etag") != shown(*stored)["etag"]:
        raise error(409, "There were concurrent policy changes. Please retry "
                    "the whole read-modify-write with exponential backoff.",
                    "ABORTED")
    if any(b.get("condition") for b in policy.get("bindings", [])) and \
            policy.get("version") != 3:
        raise error(400, "A policy with conditions has version 3.")
    check_members(world, policy)
    stored[0] = {key: value for key, value in policy.items() if key != "etag"}
    stored[1] += 1
    return shown(*stored)


def answer(server, http, path, query, body, headers):
    match = GENERATE.fullmatch(path)
    if match and http == "POST":
        return generate(server, *match.groups())
    match = re.fullmatch(r"v1beta1/(operations/[\w.]+)", path)
    if match and http == "GET":
        return look(server, match[1])
    match = POLICY.fullmatch(path)
    if not match or http != "POST":
        raise error(404, "Method not found.")
    project, verb = match.groups()
    if verb == "set":
        return write(server, project, (body or {}).get("policy", {}))
    out = shown(*world_of(server).policy(project))
    options = (body or {}).get("options", {})
    if options.get("requestedPolicyVersion", 1) < 3:
        out["bindings"] = [b for b in out["bindings"]
                           if not b.get("condition")]
    return out
