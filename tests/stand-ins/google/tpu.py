# SPDX-License-Identifier: Apache-2.0
"""tpu.googleapis.com, v1 and v2: nodes.get, with states as told.

state["tpu"] maps "ZONE/NODE" to {"script": [{"state", "health"} …], "hosts":
N or "endpoints": [{"ipAddress", "port"} …], …}: each look takes the next entry
of the script; the last one stays.
"""

import re

from answers import error

NODE = re.compile(r"(v1|v2)/projects/([^/]+)/locations/([^/]+)/nodes/([^/]+)")


def node_json(version, name, told, step):
    hosts = told.get("hosts", 1)
    endpoints = told.get("endpoints") or [
        {"ipAddress": f"10.240.1.{i + 2}", "port": 8470}
        for i in range(hosts)]
    out = {"name": name, "acceleratorType": told.get("type", "v3-8"),
           "state": step.get("state", "READY"),
           "createTime": "2026-11-21T02:00:00.123456789Z"}
    for key in ("health", "healthDescription", "symptoms"):
        if key in step:
            out[key] = step[key]
    if version == "v1":
        out["tensorflowVersion"] = told.get("version", "2.2")
    else:
        out["runtimeVersion"] = told.get("version", "tpu-ubuntu2204-base")
        for i, one in enumerate(endpoints):
            one["accessConfig"] = {"externalIp": f"203.0.113.{i + 2}"}
    if out["state"] not in ("CREATING",):
        out["networkEndpoints"] = endpoints
    return out


def answer(server, http, path, query, body, headers):
    match = NODE.fullmatch(path)
    if not match or http != "GET":
        raise error(404, "Method not found.")
    version, _, zone, node = match.groups()
    name = path[len(version) + 1:]
    told = server.state.get("tpu", {}).get(f"{zone}/{node}")
    if told is None:
        raise error(404, f"Resource '{name}' was not found")
    script = told.get("script") or [{"state": "READY", "health": "HEALTHY"}]
    look = told.get("looks", 0)
    told["looks"] = look + 1
    return node_json(version, name, told, script[min(look, len(script) - 1)])
