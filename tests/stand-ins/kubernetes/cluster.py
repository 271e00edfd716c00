# SPDX-License-Identifier: Apache-2.0
"""What runs in the cluster: the controllers of Jobs and JobSets, and pods that
follow a script, or run their command here.

The script is in the server's state, "pods": a list of what pods do, the first
whose "pod" (a regular expression on POOL/INDEX/RESTART) matches:

  lines    what it writes: texts, each its own line
  every    seconds between them (0)
  slow     how many seconds its node takes to answer for what it wrote (0)
  exit     its exit code (0)
  run      true: its command runs on this machine instead, where folders
           stand for its volumes; paths in them are rewritten in its command
           and variables
  path     what its init containers find first in their PATH then
  init     how its init container ends, if not well: {"exit", "message"}; or
           why it does not start: {"reason", "message"}
  hold     true: it writes, and goes on until it is deleted
  pending  why it can't be scheduled, and for how many seconds:
           {"message": "0/3 nodes are available", "seconds": 1}
  waiting  why its container does not start: {"reason", "message"}
  lost     true: its node is taken away while it runs
  evicted  why kubelet ends it: "The node was low on resource: memory."
"""

import base64
import os
import random
import re
import subprocess
import tempfile
import threading
import time

import restarts
from objects import KIND, now

INDEX = "batch.kubernetes.io/job-completion-index"
# A container runtime passes a longer line on in pieces.
PIECE = 16384


def condition(kind, reason="", message="", value="True"):
    return {"type": kind, "status": value, "reason": reason,
            "message": message, "lastTransitionTime": now()}


def ranges(indexes):
    """[0, 2, 3, 4] is "0,2-4", as the status of a Job has it."""
    found = []
    for index in indexes:
        if found and found[-1][1] == index - 1:
            found[-1][1] = index
        else:
            found.append([index, index])
    return ",".join(f"{a}-{b}" if b > a else str(a) for a, b in found)


def expand(text, env):
    """As kubelet does: $(NAME) is a known variable's value, $$ is $."""
    return re.sub(
        r"\$(\$|\(([^)]*)\))",
        lambda at: "$" if at[1] == "$" else env.get(at[2], at[0]), text)


def violations(spec):
    """What PodSecurity 'restricted' misses in a pod, in its words."""
    pod, found = spec.get("securityContext", {}), []
    for one in spec.get("initContainers", []) + spec["containers"]:
        own = one.get("securityContext", {})
        if own.get("allowPrivilegeEscalation") is not False:
            found.append("allowPrivilegeEscalation != false")
        if "ALL" not in own.get("capabilities", {}).get("drop", []):
            found.append("unrestricted capabilities")
        if not own.get("runAsNonRoot", pod.get("runAsNonRoot")):
            found.append("runAsNonRoot != true")
        if not own.get("seccompProfile", pod.get("seccompProfile")):
            found.append("seccompProfile")
    found += ["restricted volume types" for volume in spec.get("volumes", [])
              if "hostPath" in volume]
    return ", ".join(sorted(set(found)))


class Pod:
    """One that is there, and what it writes."""

    def __init__(self, cluster, name, item, script):
        self.cluster = cluster
        self.name = name
        self.item = item
        self.script = script
        self.log = []  # (time, a line or a piece of one)
        self.ended = False
        self.called = 0  # the attempt at which it is to start again in place
        self.process = None
        self.commands = []  # that were started beside it: execs.py
        self.folder = None  # while its command runs here
        self.places = {}
        threading.Thread(target=self.live, daemon=True).start()

    def there(self):
        key = "Pod", self.item["metadata"]["namespace"], self.name
        item = self.cluster.objects.items.get(key)
        return item if item and item["metadata"]["uid"] == \
            self.item["metadata"]["uid"] else None

    def status(self, **fields):
        with self.cluster.lock:
            item = self.there()
            if item:
                item.setdefault("status", {}).update(fields)
                self.cluster.objects.store(item, "MODIFIED")
            return item is not None

    def write(self, text):
        with self.cluster.lock:
            self.log.append((now(True), text))
            self.cluster.lock.notify_all()

    def live(self):
        pending = self.script.get("pending")
        if pending:
            self.status(conditions=[condition(
                "PodScheduled", "Unschedulable", pending["message"],
                "False")])
            self.cluster.event(self.item, "FailedScheduling",
                               pending["message"])
            time.sleep(pending.get("seconds", 0.5))
        waiting = self.script.get("waiting")
        if waiting:
            self.status(containerStatuses=[{
                "name": "main", "state": {"waiting": waiting}}])
            time.sleep(waiting.get("seconds", 0.5))
        if not self.prepare():
            return
        started = now()
        if not self.status(phase="Running", startTime=started,
                           podIP="10.0.0.9", containerStatuses=[{
                               "name": "main", "ready": True,
                               "state": {"running": {
                                   "startedAt": started}}}]):
            return
        code = self.run() if self.script.get("run") else self.play()
        while restarts.in_place(self, code):
            code = self.play()
        self.discard()
        with self.cluster.lock:
            self.ended = True
            self.cluster.lock.notify_all()
        lost, evicted = self.script.get("lost"), self.script.get("evicted")
        if evicted:
            self.status(reason="Evicted", message=evicted)
            code = 137
        self.status(
            phase="Failed" if code or lost else "Succeeded",
            conditions=[condition("DisruptionTarget", "DeletionByTaintManager",
                                  "the node was taken away")] if lost else [],
            containerStatuses=[{"name": "main", "state": {"terminated": {
                "exitCode": code, "reason": "Error" if code else "Completed",
                "startedAt": started, "finishedAt": now()}}}])

    def prepare(self):
        """The init containers.  False: it got no further."""
        init = self.script.get("init", {})
        names = self.item["spec"].get("initContainers", [])
        if self.script.get("run"):
            self.folder = tempfile.TemporaryDirectory()
            self.places = self.make_places()
            for one in names:
                init = self.run_init(one)
        if not names:
            return True
        before = {"name": names[0]["name"], "ready": False}
        after = {"name": "main", "state": {
            "waiting": {"reason": "PodInitializing"}}}
        if "reason" in init:
            self.status(containerStatuses=[after], initContainerStatuses=[
                {**before, "state": {"waiting": init}}])
            time.sleep(init.get("seconds", 0.5))
            init = {}
        end = {"exitCode": init.get("exit", 0), "finishedAt": now(),
               "message": init.get("message", "")}
        fields = {"initContainerStatuses": [
            {**before, "state": {"terminated": end}}]}
        if end["exitCode"]:
            self.discard()
            with self.cluster.lock:
                self.ended = True
                self.cluster.lock.notify_all()
            fields.update(phase="Failed", containerStatuses=[after])
        return self.status(**fields) and not end["exitCode"]

    def run_init(self, container):
        env = self.environment(container, self.item["metadata"])
        env["PATH"] = self.script.get("path", "") + ":" + env["PATH"]
        done = subprocess.run(
            [self.place(word) for word in container["command"]], env=env,
            cwd=self.folder.name, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        return {"exit": done.returncode,
                "message": done.stdout.decode(errors="replace")[-2048:]}

    def discard(self):
        for command in self.commands:
            command.kill()
        if self.folder:
            self.folder.cleanup()
            self.folder = None

    def play(self):
        for line in self.script.get("lines", []):
            self.write(line + "\n")
            time.sleep(self.script.get("every", 0))
        while self.script.get("hold") and self.there() and not self.called:
            time.sleep(0.02)
        return 137 if self.script.get("lost") else self.script.get("exit", 0)

    def begin_again(self):
        """The next attempt, in its place."""
        meta = self.item["metadata"]
        pool = meta["labels"]["jobset.sigs.k8s.io/replicatedjob-name"]
        self.script = self.cluster.script(
            f"{pool}/{meta['annotations'][INDEX]}/{self.called}")
        self.called = 0
        return True

    def environment(self, container, meta):
        out = {"PATH": os.environ["PATH"], "HOME": tempfile.gettempdir(),
               "JOB_COMPLETION_INDEX": meta["annotations"][INDEX]}
        for one in container.get("env", []):
            ref = one.get("valueFrom", {})
            if "fieldRef" in ref:
                out[one["name"]] = meta["annotations"][INDEX]
            elif "secretKeyRef" in ref:
                secret = self.cluster.objects.items[
                    "Secret", meta["namespace"], ref["secretKeyRef"]["name"]]
                out[one["name"]] = base64.b64decode(
                    secret["data"][ref["secretKeyRef"]["key"]]).decode()
            else:
                out[one["name"]] = self.place(
                    expand(one.get("value", ""), out))
        # There is no DNS here.
        if "MASTER_ADDR" in out:
            out["MASTER_ADDR"] = "127.0.0.1"
        return out

    def make_places(self):
        """The folder that stands for each path that is mounted."""
        spec, out = self.item["spec"], {}
        for volume in spec.get("volumes", []):
            path = os.path.join(self.folder.name, volume["name"])
            if "hostPath" in volume:
                path = volume["hostPath"]["path"]
            os.makedirs(path, exist_ok=True)
            self.fill(path, volume.get("configMap"),
                      self.item["metadata"]["namespace"])
            for container in spec["containers"]:
                for mount in container.get("volumeMounts", []):
                    if mount["name"] == volume["name"]:
                        out[mount["mountPath"]] = path
        return out

    def place(self, text):
        for path in sorted(self.places, key=len, reverse=True):
            text = text.replace(path, self.places[path])
        return text

    def run(self):
        container = self.item["spec"]["containers"][0]
        words = container.get("command", []) + container.get("args", [])
        env = self.environment(container, self.item["metadata"])
        self.process = subprocess.Popen(
            [self.place(expand(word, env)) for word in words], env=env,
            cwd=self.place(container.get("workingDir", self.folder.name)),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT)
        if not self.there():
            self.end()
        while piece := self.process.stdout.readline(PIECE):
            self.write(piece.decode(errors="surrogateescape"))
        code = self.process.wait()
        return 128 - code if code < 0 else code

    def fill(self, folder, volume, namespace):
        if not volume:
            return
        data = self.cluster.objects.items[
            "ConfigMap", namespace, volume["name"]]["binaryData"]
        for item in volume["items"]:
            path = os.path.join(folder, item["path"])
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(base64.b64decode(data[item["key"]]))

    def end(self):
        if self.process and self.process.poll() is None:
            self.process.terminate()


class Cluster:
    def __init__(self, lock, objects, state):
        self.lock = lock
        self.objects = objects
        self.state = state
        self.pods = {}  # uid to Pod
        self.refused = set()  # uids of Jobs whose pods are not admitted

    def event(self, about, reason, message):
        with self.lock:
            self.objects.make(KIND["Event"], about["metadata"]["namespace"], {
                "metadata": {"name": f"e{random.getrandbits(48):012x}"},
                "type": "Warning", "reason": reason, "message": message,
                "lastTimestamp": now(),
                "involvedObject": {"kind": about["kind"],
                                   "name": about["metadata"]["name"],
                                   "uid": about["metadata"]["uid"]}})

    def script(self, what):
        for one in self.state.get("pods", []):
            if re.search(one.get("pod", ""), what):
                return one
        return {}

    def loop(self):
        """Until the process ends."""
        while True:
            with self.lock:
                if not self.state.get("paused"):
                    self.step()
            time.sleep(0.02)

    def step(self):
        self.objects.sweep()
        for key, item in list(self.objects.items.items()):
            # What came before it here may have deleted it.
            if key not in self.objects.items or \
                    "deletionTimestamp" in item["metadata"]:
                continue
            if self.is_expired(item):
                self.objects.remove(item)
            elif item["kind"] == "JobSet" and not self.over(item):
                self.step_jobset(item)
            elif item["kind"] == "Job" and not self.over(item):
                self.step_job(item)
        alive = {item["metadata"]["uid"]
                 for item in self.objects.items.values()
                 if item["kind"] == "Pod"}
        for uid in set(self.pods) - alive:
            self.pods.pop(uid).end()

    def is_expired(self, item):
        """What has a ttl and has ended goes when a test says so."""
        return self.state.get("expire") and self.over(item) and \
            item.get("spec", {}).get("ttlSecondsAfterFinished") is not None

    @staticmethod
    def over(item):
        return any(c["type"] in ("Complete", "Failed", "Completed") and
                   c["status"] == "True" for c in
                   item.get("status", {}).get("conditions", []))

    def set_status(self, item, **fields):
        old = item.get("status", {})
        new = {**old, **fields}
        if new != old:
            item["status"] = new
            self.objects.store(item, "MODIFIED")

    # Jobs

    def step_job(self, job):
        if job["spec"].get("suspend"):
            return
        spec, count = job["spec"], job["spec"].get("completions", 1)
        pods = {}
        for pod in self.owned(job, "Pod"):
            index = int(pod["metadata"]["annotations"][INDEX])
            pods.setdefault(index, []).append(pod)
        done, lost, free, verdict, failed, active = [], [], [], None, 0, 0
        for index in range(count):
            state, mine, verdict = self.step_index(
                spec, pods.get(index, []), verdict)
            failed += mine
            active += state == "active"
            {"done": done, "lost": lost, "free": free}.get(
                state, []).append(index)
        for index in free:
            # What has its own limit for each index has none for all.
            if "backoffLimitPerIndex" not in spec and \
                    failed > spec.get("backoffLimit", 6):
                break
            if active < spec.get("parallelism", count):
                active += self.make_pod(job, index, len(pods.get(index, [])))
        fields = {"active": active, "failed": failed, "succeeded": len(done)}
        if done:
            fields["completedIndexes"] = ranges(done)
        if "backoffLimitPerIndex" in spec:
            fields["failedIndexes"] = ranges(lost)
        if "startTime" not in job.get("status", {}):
            fields["startTime"] = now()
        verdict = verdict or self.verdict(job, failed, done, lost)
        if verdict:
            self.stop_pods(job)
            fields.update(active=0,
                          conditions=[condition("Failed", *verdict)])
        elif len(done) == count:
            fields.update(completionTime=now(),
                          conditions=[condition("Complete")])
        self.set_status(job, **fields)

    def step_index(self, spec, pods, verdict):
        """How one stands, how many of its pods have failed, and what that
        means for all."""
        phases = [p.get("status", {}).get("phase", "Pending") for p in pods]
        failed, over = 0, False
        for pod, phase in zip(pods, phases):
            if phase == "Failed":
                failed += 1
                action, why = self.judge(spec, pod)
                over = over or action == "FailIndex"
                if action == "FailJob":
                    verdict = verdict or why
        if "Succeeded" in phases:
            return "done", failed, verdict
        if "Pending" in phases or "Running" in phases:
            return "active", failed, verdict
        if over or failed > spec.get("backoffLimitPerIndex", failed):
            return "lost", failed, verdict
        return "free", failed, verdict

    def verdict(self, job, failed, done, lost):
        """Why a Job has failed, or None."""
        spec = job["spec"]
        if "backoffLimitPerIndex" not in spec and \
                failed > spec.get("backoffLimit", 6):
            return ("BackoffLimitExceeded",
                    "Job has reached the specified backoff limit")
        if len(lost) > spec.get("maxFailedIndexes", len(lost)):
            return ("MaxFailedIndexesExceeded",
                    "Job has exceeded the specified maximal number of failed "
                    "indexes")
        if lost and len(done) + len(lost) == spec.get("completions", 1):
            return ("FailedIndexes", "Job has failed indexes")
        if spec.get("activeDeadlineSeconds") is not None and \
                self.age(job) > spec["activeDeadlineSeconds"]:
            return ("DeadlineExceeded",
                    "Job was active longer than specified deadline")
        return None

    @staticmethod
    def age(job):
        started = job.get("status", {}).get("startTime")
        return time.time() - time.mktime(time.strptime(
            started, "%Y-%m-%dT%H:%M:%SZ")) + time.timezone if started else 0

    @staticmethod
    def judge(spec, pod):
        """What the podFailurePolicy says to it: the action of the first rule
        that holds, or None, and why the Job fails, if that is FailJob."""
        ends = [c["state"]["terminated"]["exitCode"] for c in
                pod["status"].get("initContainerStatuses", []) +
                pod["status"].get("containerStatuses", [])
                if "terminated" in c["state"]]
        code = ends[-1] if ends else 0
        lost = any(c["type"] == "DisruptionTarget"
                   for c in pod["status"].get("conditions", []))
        for i, rule in enumerate(
                spec.get("podFailurePolicy", {}).get("rules", [])):
            codes = rule.get("onExitCodes")
            holds = lost if codes is None else \
                (code in codes["values"]) == (codes["operator"] == "In")
            if holds:
                return rule["action"], (
                    "PodFailurePolicy", "Container main for pod "
                    f"{pod['metadata']['namespace']}/"
                    f"{pod['metadata']['name']} failed with exit code "
                    f"{code} matching FailJob rule at index {i}")
        return None, None

    def restricts(self, mode):
        labels = self.state.get("labels") or {}
        return labels.get("pod-security.kubernetes.io/" + mode) == "restricted"

    def is_refused(self, job):
        """What admission says to the pods of a Job, once."""
        why = self.state.get("noPods")
        wrong = violations(job["spec"]["template"]["spec"])
        if not why and self.restricts("enforce") and wrong:
            why = f'violates PodSecurity "restricted:latest": {wrong}'
        if why and job["metadata"]["uid"] not in self.refused:
            self.refused.add(job["metadata"]["uid"])
            self.event(job, "FailedCreate", "Error creating: pods "
                       f'"{job["metadata"]["name"]}-0-abcde" is forbidden: '
                       + why)
        return bool(why)

    def make_pod(self, job, index, earlier):
        if self.is_refused(job):
            return False
        meta, template = job["metadata"], job["spec"]["template"]
        end = "".join(random.choices("bcdfghjklmnpqrstvwxz", k=5))
        labels = {**template.get("metadata", {}).get("labels", {}),
                  "batch.kubernetes.io/job-name": meta["name"],
                  INDEX: str(index)}
        notes = {INDEX: str(index)}
        for key in ("jobset-name", "replicatedjob-name", "restart-attempt"):
            key = "jobset.sigs.k8s.io/" + key
            if key in meta.get("labels", {}):
                labels[key] = meta["labels"][key]
        pod = self.objects.make(KIND["Pod"], meta["namespace"], {
            "metadata": {"name": f"{meta['name']}-{index}-{end}",
                         "labels": labels, "annotations": notes,
                         "ownerReferences": [self.owner(job)]},
            "spec": template["spec"], "status": {"phase": "Pending"}})
        pool = labels.get("jobset.sigs.k8s.io/replicatedjob-name", "node")
        restart = labels.get("jobset.sigs.k8s.io/restart-attempt") or \
            (earlier if "backoffLimitPerIndex" in job["spec"]
             else job.get("status", {}).get("failed", 0))
        self.pods[pod["metadata"]["uid"]] = Pod(
            self, pod["metadata"]["name"], pod,
            self.script(f"{pool}/{index}/{restart}"))
        return True

    def owned(self, item, kind):
        return [other for other in self.objects.owned(item)
                if other["kind"] == kind]

    @staticmethod
    def owner(item):
        return {"apiVersion": item["apiVersion"], "kind": item["kind"],
                "name": item["metadata"]["name"],
                "uid": item["metadata"]["uid"], "controller": True}

    def stop_pods(self, job):
        for pod in self.owned(job, "Pod"):
            if pod.get("status", {}).get("phase") in ("Pending", "Running"):
                self.objects.remove(pod)

    # JobSets

    def step_jobset(self, item):
        self.suspend(item, item["spec"].get("suspend", False))
        if item["spec"].get("suspend"):
            return
        meta, spec = item["metadata"], item["spec"]
        if item.get("status", {}).get("conditions"):
            self.set_status(item, conditions=[])
        jobs = {job["metadata"]["name"]: job
                for job in self.owned(item, "Job")}
        failure, done = None, set()
        for one in spec["replicatedJobs"]:
            name = f"{meta['name']}-{one['name']}-0"
            job = jobs.get(name) or self.make_job(
                item, one, name, restarts.count(item, one["name"]))
            for c in job.get("status", {}).get("conditions", []):
                if c["type"] == "Failed":
                    failure = failure or c
                if c["type"] == "Complete":
                    done.add(one["name"])
        if failure:
            restarts.fail(self, item, jobs, failure)
            return
        success = spec.get("successPolicy", {})
        wanted = set(success.get("targetReplicatedJobs") or
                     [one["name"] for one in spec["replicatedJobs"]])
        if wanted <= done:
            for job in jobs.values():
                if not self.over(job):
                    self.objects.remove(job)
            self.set_status(item, terminalState="Completed", conditions=[
                condition("Completed", "AllJobsCompleted",
                          "jobset completed successfully")])

    def suspend(self, item, is_so):
        """Its Jobs stay, without their pods."""
        for job in self.owned(item, "Job"):
            if job["spec"].get("suspend", False) != is_so:
                job["spec"]["suspend"] = is_so
                self.objects.store(job, "MODIFIED")
            if is_so:
                self.stop_pods(job)
        if is_so and not item.get("status", {}).get("conditions"):
            self.set_status(item, conditions=[condition(
                "Suspended", "SuspendedJobs", "jobset is suspended")])

    def fail_jobset(self, item, reason, message):
        self.set_status(item, terminalState="Failed", conditions=[
            condition("Failed", reason, message)])

    def make_job(self, item, one, name, attempt):
        meta = item["metadata"]
        labels = {"jobset.sigs.k8s.io/jobset-name": meta["name"],
                  "jobset.sigs.k8s.io/replicatedjob-name": one["name"],
                  "jobset.sigs.k8s.io/restart-attempt": str(attempt)}
        return self.objects.make(KIND["Job"], meta["namespace"], {
            "metadata": {"name": name, "labels": labels,
                         "ownerReferences": [self.owner(item)]},
            "spec": one["template"]["spec"]})
