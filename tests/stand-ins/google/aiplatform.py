# SPDX-License-Identifier: Apache-2.0
"""REGION-aiplatform.googleapis.com: Vertex AI's custom jobs and
hyperparameter tuning jobs.  See jobs.py."""

import re

from answers import bad_request, error
from jobs import FINAL, Job, check_labels, check_quota, page_of

PATH = re.compile(r"v1/(projects/[^/]+/locations/[^/]+/"
                  r"(customJobs|hyperparameterTuningJobs))"
                  r"(?:/(\d+))?(:cancel)?")


def jobs_of(server, parent):
    if not hasattr(server, "vertex_jobs"):
        server.vertex_jobs = {}
    return server.vertex_jobs.setdefault(parent, {})


def made(server):
    return [[parent.split("/")[1], job.body["displayName"]] for parent, jobs
            in getattr(server, "vertex_jobs", {}).items()
            for job in jobs.values()]


def shown(job):
    state = {"PREPARING": "PENDING"}.get(job.state, job.state)
    out = dict(job.body, state="JOB_STATE_" + state, **job.times())
    if job.trials and job.started:
        out["trials"] = job.trials
    if job.message and job.state in FINAL:
        out["error"] = {"code": 1 if job.state == "CANCELLED" else 3,
                        "message": job.message}
    return out


def check(collection, body):
    wrong = []
    if not 0 < len(body.get("displayName", "")) <= 128:
        wrong.append(("custom_job.display_name", "Display name is required "
                      "and has at most 128 characters."))
    spec = body.get("jobSpec") if collection == "customJobs" \
        else body.get("trialJobSpec")
    pools = (spec or {}).get("workerPoolSpecs", [])
    if not pools or not pools[0]:
        wrong.append(("job_spec.worker_pool_specs", "The first worker pool "
                      "is required."))
    elif str(pools[0].get("replicaCount")) != "1":
        wrong.append(("job_spec.worker_pool_specs[0].replica_count",
                      "The first worker pool must have one replica."))
    for i, pool in enumerate(pools):
        if pool and ("containerSpec" in pool) == ("pythonPackageSpec" in pool):
            wrong.append((f"job_spec.worker_pool_specs[{i}]",
                          "One of container_spec and python_package_spec "
                          "must be set."))
    if collection != "customJobs" and "studySpec" not in body:
        wrong.append(("study_spec", "A study is required."))
    if wrong:
        raise bad_request(wrong)
    check_labels(body.get("labels", {}))


def create(server, parent, collection, body):
    check(collection, body)
    check_quota(server)
    server.vertex_number = getattr(server, "vertex_number",
                                   4611686018427387904) + 1
    number = str(server.vertex_number)
    job = Job(server, body["displayName"],
              dict(body, name=f"{parent}/{number}"))
    jobs_of(server, parent)[number] = job
    return shown(job)


def listing(server, parent, collection, query):
    match = re.fullmatch(r'labels\.([\w-]+)(?:="?([\w-]+)"?|:\*)',
                         query.get("filter", [""])[0])
    if "filter" in query and not match:
        raise error(400, "Invalid filter.")
    for job in jobs_of(server, parent).values():
        if job.state == "CANCELLING":
            job.look(server)
    items = [shown(job) for job in jobs_of(server, parent).values()
             if not match or match[1] in job.body.get("labels", {}) and
             match[2] in (None, job.body["labels"][match[1]])]
    return page_of(server, collection, items, query)


def answer(server, http, path, query, body, headers):
    match = PATH.fullmatch(path)
    if not match:
        raise error(404, "Method not found.")
    parent, collection, number, verb = match.groups()
    if number is None and http == "POST":
        return create(server, parent, collection, body)
    if number is None and http == "GET":
        return listing(server, parent, collection, query)
    job = jobs_of(server, parent).get(number)
    if not job:
        raise error(404, f"The CustomJob \"{parent}/{number}\" does not "
                    "exist.")
    if http == "POST" and verb:
        job.cancel(server)
        return {}
    if http == "DELETE":
        if job.state not in FINAL:
            raise error(400, "The job is still running.",
                        "FAILED_PRECONDITION")
        del jobs_of(server, parent)[number]
        return {"name": f"{parent}/{number}/operations/1", "done": True}
    if http == "GET":
        job.look(server)
        return shown(job)
    raise error(404, "Method not found.")
