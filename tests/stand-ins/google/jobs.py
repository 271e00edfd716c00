# SPDX-License-Identifier: Apache-2.0
"""What the job services have in common: states as told, times, lists.

state["jobs"] maps the name of a job (jobId, displayName), or "*", to what
becomes of it:

  script   the states that looks at it find, one after the other; the last
           one stays (QUEUED, SUCCEEDED)
  error    what is said of one that failed
  position where it is in the queue while it is QUEUED
  trials   what has come of its trials, once it has started, in the service's
           own form

state["quota"] is the message that the making of any job is refused with,
state["page"] how many are on a page of a list (2), and state["skew"] how many
seconds the service's clock is ahead of ours (-3600).
"""

import datetime
import re
import time

from answers import bad_request, error

FINAL = ("SUCCEEDED", "FAILED", "CANCELLED")


def when(server, seconds=0):
    skew = server.state.get("skew", -3600)
    moment = datetime.datetime.fromtimestamp(time.time() + skew + seconds,
                                             datetime.timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%f") + "123Z"


class Job:
    def __init__(self, server, title, body):
        told = server.state.get("jobs", {})
        told = told.get(title) or told.get("*") or {}
        self.body = body
        self.script = list(told.get("script",
                                    ["QUEUED", "SUCCEEDED"]))
        self.error = told.get("error", "The replica master 0 exited with a "
                              "non-zero status of 1.")
        self.position = told.get("position", 0)
        self.trials = told.get("trials", [])
        self.created = when(server)
        self.started = self.ended = None
        self.message = None
        self.enter(server, self.script.pop(0))

    def enter(self, server, state):
        self.state = state
        if state not in ("QUEUED", "PREPARING", "CANCELLING",
                         "CANCELLED") and not self.started:
            self.started = when(server)
        if state in FINAL:
            self.ended = when(server)
        if state == "FAILED":
            self.message = self.error

    def look(self, server):
        if self.state == "CANCELLING":
            self.enter(server, "CANCELLED")
        elif self.state not in FINAL and self.script:
            self.enter(server, self.script.pop(0))

    def cancel(self, server):
        if self.state in FINAL:
            raise error(400, "Cannot cancel a job that has ended.",
                        "FAILED_PRECONDITION")
        self.message = "Job is cancelled by the user."
        self.enter(server, "CANCELLING")

    def times(self):
        out = {"createTime": self.created}
        if self.started:
            out["startTime"] = self.started
        if self.ended:
            out["endTime"] = self.ended
        return out


def check_labels(labels):
    wrong = [name for name, value in labels.items()
             if not re.fullmatch(r"[a-z][a-z0-9_-]{0,62}", name) or
             not re.fullmatch(r"[a-z0-9_-]{0,63}", value)]
    if wrong or len(labels) > 64:
        raise bad_request([("labels", f"Invalid label: {wrong}")])


def check_quota(server):
    message = server.state.get("quota")
    if message:
        raise error(429, message, details=[{
            "@type": "type.googleapis.com/google.rpc.QuotaFailure",
            "violations": [{"subject": "proj-1", "description": message}]}])


def page_of(server, field, items, query):
    """Newest first, as both services have it."""
    size = min(server.state.get("page", 2),
               int(query.get("pageSize", ["20"])[0]))
    start = int(query.get("pageToken", ["0"])[0])
    items = items[::-1]
    out = {}
    if items[start:start + size]:
        out[field] = items[start:start + size]
    if len(items) > start + size:
        out["nextPageToken"] = str(start + size)
    return out
