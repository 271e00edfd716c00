# SPDX-License-Identifier: Apache-2.0
"""logging.googleapis.com: entries.list.

state["log"] maps a job's id to its entries, in the order of their coming:
{"at": seconds after T0, "late": at which look it is first found (0), "text" or
"json", "task", "trial", "severity"}.  Each list without a pageToken is a look.
"""

import datetime
import re

from answers import bad_request, error

FILTER = re.compile(
    r'\(resource\.type="ml_job" OR resource\.type="cloudml_job"\) AND '
    r'resource\.labels\.job_id="(\w+)"(?: AND receiveTimestamp>="([^"]+)")?')
T0 = datetime.datetime(2026, 11, 21, 2, 0, tzinfo=datetime.timezone.utc)


def stamp(seconds):
    moment = T0 + datetime.timedelta(seconds=seconds)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%f") + "789Z"


def entry(job, number, told):
    task = told.get("task", "master-replica-0")
    out = {"insertId": f"x{number}", "severity": told.get("severity", "INFO"),
           "timestamp": stamp(told["at"]),
           "receiveTimestamp": stamp(told["at"] + 30 * told.get("late", 0)),
           "logName": f"projects/proj-1/logs/{task}",
           "resource": {"type": "ml_job", "labels": {
               "job_id": job, "project_id": "proj-1", "task_name": task}}}
    if "trial" in told:
        out["labels"] = {"ml.googleapis.com/trial_id": told["trial"]}
    if "json" in told:
        out["jsonPayload"] = {"message": told["json"], "levelname": "INFO"}
    else:
        out["textPayload"] = told["text"]
    return out


def answer(server, http, path, query, body, headers):
    if (http, path) != ("POST", "v2/entries:list"):
        raise error(404, "Method not found.")
    match = FILTER.fullmatch(body.get("filter", ""))
    if not match or body.get("orderBy") != "timestamp asc" or \
            not body.get("resourceNames"):
        raise bad_request([("filter", "Unparseable filter")])
    told = server.state.get("log", {}).get(match[1], [])
    looks = server.state.setdefault("log_looks", {})
    if "pageToken" not in body:
        looks[match[1]] = looks.get(match[1], 0) + 1
    found = [entry(match[1], i, one) for i, one in enumerate(told)
             if one.get("late", 0) < looks[match[1]]]
    found = sorted((one for one in found
                    if one["receiveTimestamp"] >= (match[2] or "")),
                   key=lambda one: (one["timestamp"], one["insertId"]))
    start = int(body.get("pageToken", "0"))
    size = min(body.get("pageSize", 50), server.state.get("log_page", 3))
    out = {"entries": found[start:start + size]} if found[start:] else {}
    if found[start + size:]:
        out["nextPageToken"] = str(start + size)
    return out
