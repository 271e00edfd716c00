# SPDX-License-Identifier: Apache-2.0
"""How a JobSet starts its pods again: all of them, those of the Job that
failed, or in their places; and what its webhook says to that."""

MAX_INT = 2147483647


def refused(item, features):
    """Why the webhook refuses a JobSet, or None; `features` are those of its
    gates that are open."""
    policy = item["spec"].get("failurePolicy", {})
    if any(rule["action"].startswith("RestartJob") and
           not rule["action"].startswith("RestartJobSet")
           for rule in policy.get("rules", [])) and \
            "RestartJob" not in features:
        return ("RestartJob and RestartJobAndIgnoreMaxRestarts failure policy "
                "actions are not allowed when RestartJob feature gate is "
                "disabled")
    if policy.get("restartStrategy") != "InPlaceRestart":
        return None
    if "InPlaceRestart" not in features:
        return ("InPlaceRestart restart strategy cannot be set when "
                "InPlaceRestart feature gate is disabled")
    for one in item["spec"]["replicatedJobs"]:
        spec = one["template"]["spec"]
        if spec.get("backoffLimit") != MAX_INT:
            return f"replicatedJob {one['name']}: must be set to {MAX_INT}"
        if spec.get("podReplacementPolicy") != "Failed":
            return f"replicatedJob {one['name']}: must be set to Failed"
        if spec.get("completions") != spec.get("parallelism"):
            return f"replicatedJob {one['name']}: completions and parallelism"
        pod = spec["template"]["spec"]
        # Not the webhook's to see, but nothing starts without it.
        if not any(agent.get("restartPolicy") == "Always" and
                   "startupProbe" in agent and
                   agent["restartPolicyRules"][0]["action"] ==
                   "RestartAllContainers"
                   for agent in pod.get("initContainers", [])):
            return f"replicatedJob {one['name']}: no agent"
        if pod.get("automountServiceAccountToken") is False:
            return f"replicatedJob {one['name']}: its agent has no token"
    return None


def count(item, name=None):
    """How often all, or the Job of that name, were started again."""
    status = item.get("status", {})
    return status.get("restarts", 0) + sum(
        sum(one["jobRestarts"])
        for one in status.get("replicatedJobsStatus", [])
        if name in (None, one["name"]))


def action(policy, failure):
    """What the first rule that holds says to the failure of a Job."""
    for rule in policy.get("rules", []):
        if failure["reason"] in rule.get("onJobFailureReasons",
                                         [failure["reason"]]):
            return rule["action"]
    return "RestartJobSet"


def fail(cluster, item, jobs, failure):
    """A Job of a JobSet has failed."""
    policy = item["spec"].get("failurePolicy", {})
    what = action(policy, failure)
    again = count(item) < policy.get("maxRestarts", 0) and what != "FailJobSet"
    failed = next(one for one in jobs.values()
                  if failure in one["status"].get("conditions", []))
    if again and what == "RestartJob":
        cluster.objects.remove(failed)
        name = failed["metadata"]["labels"][
            "jobset.sigs.k8s.io/replicatedjob-name"]
        old = {one["name"]: one["jobRestarts"] for one in
               item.get("status", {}).get("replicatedJobsStatus", [])}
        old[name] = [old.get(name, [0])[0] + 1]
        cluster.set_status(item, replicatedJobsStatus=[
            {"name": key, "jobRestarts": value} for key, value in old.items()])
        return
    for job in jobs.values():
        if again or not cluster.over(job):
            cluster.objects.remove(job)
    if again:
        cluster.set_status(
            item, restarts=item.get("status", {}).get("restarts", 0) + 1)
    else:
        cluster.fail_jobset(item, "FailedJobs", "jobset failed due to one or "
                            "more job failures (first failed job: "
                            f"{failed['metadata']['name']})")


def matches(container, code):
    """Whether the end of a container starts its pod's again."""
    for rule in container.get("restartPolicyRules", []):
        codes = rule["exitCodes"]
        if (code in codes["values"]) == (codes["operator"] == "In"):
            return rule["action"] == "RestartAllContainers"
    return False


def in_place(pod, code):
    """Whether a pod whose program has ended starts again, and all others of its
    JobSet with it."""
    cluster, labels = pod.cluster, pod.item["metadata"]["labels"]
    with cluster.lock:
        if pod.called:
            return pod.begin_again()
        name = labels.get("jobset.sigs.k8s.io/jobset-name")
        item = cluster.objects.items.get(
            ("JobSet", pod.item["metadata"]["namespace"], name))
        if not item or not pod.there() or \
                not matches(pod.item["spec"]["containers"][0], code):
            return False
        attempt = item.get("status", {}).get("currentInPlaceRestartAttempt",
                                             0) + 1
        if attempt > item["spec"]["failurePolicy"]["maxRestarts"]:
            cluster.fail_jobset(item, "ReachedMaxRestarts",
                                "jobset failed due to reaching max number of "
                                "restarts")
            for job in cluster.owned(item, "Job"):
                cluster.objects.remove(job)
            return False
        cluster.set_status(item, currentInPlaceRestartAttempt=attempt)
        for other in cluster.pods.values():
            if not other.ended and other.item["metadata"]["labels"].get(
                    "jobset.sigs.k8s.io/jobset-name") == name:
                other.called = attempt
        return pod.begin_again()
