# SPDX-License-Identifier: Apache-2.0
"""ml.googleapis.com: AI Platform Training's jobs.  See jobs.py."""

import re

import iam
import storage
from answers import error
from jobs import Job, check_labels, check_quota, page_of

PATH = re.compile(r"v1/projects/([^/:]+)/jobs(?:/([^/:]+))?(:cancel)?")


def field_error(field, text):
    return error(400, f"Field: {field} Error: {text}", details=[{
        "@type": "type.googleapis.com/google.rpc.BadRequest",
        "fieldViolations": [{"field": field, "description": text}]}])


def jobs_of(server, project):
    if not hasattr(server, "ml_jobs"):
        server.ml_jobs = {}
    return server.ml_jobs.setdefault(project, {})


def made(server):
    return [[project, name] for project, jobs
            in getattr(server, "ml_jobs", {}).items() for name in jobs]


def shown(job):
    out = dict(job.body, state=job.state, etag="BwX=", **job.times())
    if job.message:
        out["errorMessage"] = job.message
    if job.trials and job.started:
        out["trainingOutput"] = {"isHyperparameterTuningJob": True,
                                 "trials": job.trials}
    if job.state == "QUEUED" and job.position:
        out["jobPosition"] = str(job.position)
    return out


def check(body):
    name = body.get("jobId", "")
    spec = body.get("trainingInput")
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,127}", name):
        raise field_error("job.job_id", "A name should start with a letter "
                          "and contain only letters, numbers and "
                          "underscores.")
    if not spec:
        raise field_error("job", "The job has no input.")
    if "scaleTier" not in spec:
        raise field_error("scale_tier", "Scale tier is required.")
    if not spec.get("region"):
        raise field_error("region", "Region is required.")
    image = spec.get("masterConfig", {}).get("imageUri")
    if spec["scaleTier"] == "CUSTOM" and not spec.get("masterType"):
        raise field_error("master_type", "Master type must be set.")
    if not image and not spec.get("packageUris"):
        raise field_error("package_uris",
                          "Non-custom jobs must have packages.")
    if image and spec.get("runtimeVersion"):
        raise field_error("runtime_version", "Runtime version must not be "
                          "set with a container image.")
    check_labels(body.get("labels", {}))


def packages_are_there(server, spec):
    store = storage.store_of(server)
    return all(tuple(url[5:].split("/", 1)) in store.objects
               for url in spec.get("packageUris", []))


def create(server, jobs, body):
    check(body)
    if body["jobId"] in jobs:
        raise error(409, "Field: job.job_id Error: A job with this id "
                    "already exists.")
    check_quota(server)
    job = Job(server, body["jobId"], body)
    if not packages_are_there(server, body["trainingInput"]):
        job.script = ["FAILED"]
        job.error = "The packages of the job are not there."
    jobs[body["jobId"]] = job
    return shown(job)


def listing(server, jobs, query):
    match = re.fullmatch(r"jobId:(\w+)\*", query.get("filter", [""])[0])
    if "filter" in query and not match:
        raise error(400, "Invalid filter.")
    items = [shown(job) for name, job in jobs.items()
             if not match or name.startswith(match[1])]
    return page_of(server, "jobs", items, query)


def patch(job, query, body):
    mask = query.get("updateMask", [""])[0].split(",")
    if set(mask) - {"labels", "etag"}:
        raise error(400, "Only labels can be changed.")
    if body.get("etag", "BwX=") != "BwX=":
        raise error(409, "The etag is not current.", "ABORTED")
    check_labels(body.get("labels", {}))
    job.body["labels"] = body.get("labels", {})
    return shown(job)


def answer(server, http, path, query, body, headers):
    match = re.fullmatch(r"v1/projects/([^/:]+):getConfig", path)
    if match and http == "GET":
        return iam.config(match[1])
    match = PATH.fullmatch(path)
    if not match:
        raise error(404, "Method not found.")
    project, name, verb = match.groups()
    jobs = jobs_of(server, project)
    if name is None and http == "POST":
        return create(server, jobs, body)
    if name is None and http == "GET":
        return listing(server, jobs, query)
    job = jobs.get(name)
    if not job:
        raise error(404, "Field: name Error: The specified job was not "
                    "found.")
    if http == "POST" and verb:
        job.cancel(server)
        return {}
    if http == "PATCH":
        return patch(job, query, body)
    if http == "GET":
        job.look(server)
        return shown(job)
    raise error(404, "Method not found.")
