#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A stand-in for the API server of a Kubernetes cluster, and for what runs in
the cluster; as strict as it.

    server.py --port-file FILE [--credentials FOLDER] [--tls CERT KEY]
              [--client-ca CERT]

Writes its port into FILE once it answers, a kubeconfig with a token into
FOLDER, and ends when its standard input does, so that it outlives nobody.
Tests talk to it below /_/:

    POST /_/faults    the list of ../google/faults.py
    POST /_/state     an object, merged into the server's state: "pods" is what
                      pods do (cluster.py), "jobset": false takes JobSets away,
                      "tokens" are those that are good, "deny" what admission
                      says to Jobs and JobSets, "warn" what it warns of,
                      "drops" the fields of a Job's spec that it is too old
                      to know,
                      "paused" stops the controllers,
                      "role" the rules of a Role, that of whoever asks; null:
                      everything is allowed,
                      "hung" a part of the names of pods whose node answers
                      nothing: their logs are a 500, "hungSeconds" (10) later,
                      "labels" those of the namespace, by which PodSecurity
                      warns and enforces 'restricted',
                      "expire": true ends the time that objects with a ttl
                      stay after their end,
                      "features" those of JobSet that are on: RestartJob,
                      InPlaceRestart; by default neither,
                      "identity": false: it is too old to say who asks,
                      "noPods" why no pod is admitted,
                      "finalizers": true lets everybody block deletions,
                      "quota" how many objects of a kind there may be:
                      {"configmaps": 0},
                      "kueue" true: it has Kueue's v1beta1, or another version,
                      "exec" how commands in pods go (execs.py),
                      "ports" how connections to their ports go (ports.py),
                      "positions" those of Workloads in Kueue's queues, by
                      their names
    POST /_/make      an object, put there by somebody else
    POST /_/compact   forgets what watches could go on from
    POST /_/many      {"count", "state"}: so many JobSets that were made by
                      jobrun and are in that state; "Pending": with a pod each
                      that waits for a node
    GET  /_/requests  what was asked so far, and answered
    GET  /_/wrong     what broke a schema
    GET  /_/secrets   everything that must never be shown: tokens, and the values
                      that its Secrets have had, in base 64 and without
    GET  /_/used      the rights that were needed since "role" was set:
                      ["get secrets"]
    GET  /_/made      the objects that there are: [KIND, NAME] each

With JOBRUN_API_SCHEMAS, a folder that holds kubernetes/swagger.json and
kubernetes/jobset-crd.json, what is applied is checked against them.
"""

import argparse
import base64
import http.server
import json
import os
import re
import signal
import socket
import ssl
import sys
import threading
import time
import urllib.parse

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)),
                             "..", "google"))

import execs  # noqa: E402
import ports  # noqa: E402
import restarts  # noqa: E402
from answers import Answer, error, status  # noqa: E402
from cluster import Cluster, violations  # noqa: E402
from faults import Faults  # noqa: E402
from objects import KIND, KINDS, LOCAL_QUEUE, NAMESPACE, Objects, now  # noqa: E402,E501
from schemas import Schemas  # noqa: E402

KUBECONFIG = """apiVersion: v1
kind: Config
current-context: test
clusters:
- name: stand-in
  cluster: {{server: "{base}"{ca}}}
contexts:
- name: test
  context: {{cluster: stand-in, user: tester, namespace: team}}
users:
- name: tester
  user: {{token: {token}}}
"""
TOKEN = "token-that-nobody-may-see"
WATCH_S = 30
VISIBILITY = "apis/visibility.kueue.x-k8s.io"
REVIEWS = "/apis/authorization.k8s.io/v1/"
WHO = "/apis/authentication.k8s.io/v1/selfsubjectreviews"


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.lock = threading.Condition(threading.RLock())
        self.state = {"tokens": [TOKEN]}
        self.faults = Faults()
        self.objects = Objects(self.lock)
        self.cluster = Cluster(self.lock, self.objects, self.state)
        self.requests = []
        self.wrong = []
        self.used = set()
        self.secrets = {TOKEN}
        schemas = os.environ.get("JOBRUN_API_SCHEMAS")
        self.checker = Schemas(schemas) if schemas else None

    def handle_error(self, request, client_address):
        # A client that goes away is no news here.
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)

    def control(self, method, what, body):
        with self.lock:
            if (method, what) == ("POST", "faults"):
                self.faults.set(json.loads(body))
            elif (method, what) == ("POST", "state"):
                self.state.update(json.loads(body))
                if b'"role"' in body:
                    self.used.clear()
                self.secrets.update(self.state["tokens"])
            elif (method, what) == ("POST", "make"):
                item = json.loads(body)
                space = item["metadata"].get("namespace", "team")
                self.keep_secret(item)
                self.objects.make(KIND[item["kind"]], space, item)
            elif (method, what) == ("POST", "compact"):
                self.objects.forget()
            elif (method, what) == ("POST", "many"):
                self.make_many(json.loads(body))
            elif (method, what) == ("GET", "requests"):
                return Answer(body=self.requests)
            elif (method, what) == ("GET", "wrong"):
                return Answer(body=self.wrong)
            elif (method, what) == ("GET", "secrets"):
                return Answer(body=sorted(self.secrets))
            elif (method, what) == ("GET", "used"):
                return Answer(body=sorted(self.used))
            elif (method, what) == ("GET", "made"):
                return Answer(body=sorted([k, n] for k, _, n in
                                          self.objects.items
                                          if k != "Event"))
            else:
                raise error(404, f"no such control: {what}")
        return Answer(body={})

    def keep_secret(self, item):
        """Its values must never be shown, as they are or in base 64."""
        if item.get("kind") == "Secret":
            # A rehearsal has none.
            for value in filter(None, (item.get("data") or {}).values()):
                self.secrets |= {value, base64.b64decode(value).decode()}

    def make_many(self, what):
        self.state["paused"] = True
        for i in range(what["count"]):
            self.objects.make(KIND["JobSet"], "team", {
                "metadata": {
                    "name": f"job{i}",
                    "labels": {"jobrun-job": f"job{i}",
                               "jobrun-attempt": "1"},
                    "annotations": {"jobrun-job": f"job{i}",
                                    "jobrun-digest": "0" * 64}},
                "spec": {"replicatedJobs": [],
                         "suspend": what["state"] == "Suspended"},
                "status": {"conditions": [{"type": what["state"],
                                           "status": "True"}]}})
            if what["state"] == "Pending":
                self.objects.make(KIND["Pod"], "team", {
                    "metadata": {"name": f"job{i}-node-0-0-abcde",
                                 "labels": {"jobrun-job": f"job{i}"}},
                    "spec": {}, "status": {
                        "phase": "Pending", "conditions": [
                            {"type": "PodScheduled", "status": "False"}]}})

    # What the API server answers

    def authenticate(self, headers, certificate):
        if certificate:
            return
        kind, _, token = headers.get("Authorization", "").partition(" ")
        if kind != "Bearer" or token not in self.state["tokens"]:
            raise error(401, "Unauthorized")

    def check_quota(self, kind, namespace, name):
        most = (self.state.get("quota") or {}).get(kind.plural)
        if most is None or (kind.name, namespace, name) in self.objects.items:
            return
        used = sum(k == kind.name and s == namespace
                   for k, s, _ in self.objects.items)
        if used >= most:
            what = f"count/{kind.title}"
            raise error(403, f'{kind.title} "{name}" is forbidden: exceeded '
                        f"quota: q, requested: {what}=1, used: {what}={used}, "
                        f"limited: {what}={most}")

    def admission(self, item):
        for name in self.state.get("drops", []):
            item["spec"].pop(name, None)
        if item["kind"] == "JobSet":
            why = restarts.refused(item, self.state.get("features") or [])
            if why:
                raise error(403, "admission webhook \"vjobset.kb.io\" denied "
                            f"the request: {why}")
        if item["kind"] in ("Job", "JobSet") and self.state.get("deny"):
            raise error(403, 'admission webhook "policy.example.com" denied '
                        f"the request: {self.state['deny']}")

    # What a Role grants

    def may(self, verb, group, resource):
        rules = self.state.get("role")
        return rules is None or any(
            group in rule["apiGroups"] and resource in rule["resources"] and
            verb in rule["verbs"] for rule in rules)

    def authorize(self, verb, kind, name, sub, namespace):
        resource = kind.plural + (f"/{sub}" if sub else "")
        self.used.add(f"{verb} {resource}")
        if not self.may(verb, kind.group, resource):
            named = f' "{name}"' if name else ""
            raise error(403, f'{kind.title}{named} is forbidden: User '
                        f'"tester" cannot {verb} resource "{resource}" in API '
                        f'group "{kind.group}" in the namespace '
                        f'"{namespace}"')

    def verbs(self, method, kind, namespace, name, query):
        """What a request takes the right to do."""
        if method == "GET":
            return ["get" if name else
                    "watch" if query.get("watch") else "list"]
        if method == "DELETE":
            return ["delete" if name else "deletecollection"]
        there = (kind.name, namespace, name) in self.objects.items
        return ["patch"] if there else ["patch", "create"]

    def review(self, what, body):
        """Everybody may ask what he may do."""
        spec = json.loads(body)["spec"]
        if what == "selfsubjectrulesreviews":
            rules = self.state.get("role")
            if rules is None:
                rules = [{"verbs": ["*"], "apiGroups": ["*"],
                          "resources": ["*"]}]
            # Another authorizer may grant more: then it is "incomplete".
            return Answer(201, {"status": {
                "incomplete": True, "nonResourceRules": [],
                "resourceRules": rules[:len(rules) // 2 + 1]}})
        one = spec["resourceAttributes"]
        resource = "/".join(filter(None, (one["resource"],
                                          one.get("subresource"))))
        return Answer(201, {"status": {"allowed": self.may(
            one["verb"], one["group"], resource)}})

    def check_owners(self, item):
        """OwnerReferencesPermissionEnforcement: nobody here has a right on
        finalizers, but in a cluster without that plugin."""
        if self.state.get("finalizers"):
            return
        for one in item.get("metadata", {}).get("ownerReferences", []):
            if one.get("blockOwnerDeletion"):
                raise error(403, "cannot set blockOwnerDeletion if an "
                            "ownerReference refers to a resource you can't "
                            "set finalizers on")

    def route(self, handler, method, path, query, headers, body):
        self.authenticate(headers, handler.certificate())
        if path == "/version":
            return Answer(body={"major": "1", "minor": "33",
                                "gitVersion": "v1.33.1"})
        if (method, path) == ("POST", WHO) and \
                self.state.get("identity") is not False:
            return Answer(201, {"status": {"userInfo": {
                "username": headers.get("Impersonate-User", "tester")}}})
        if method == "POST" and path.startswith(REVIEWS):
            return self.review(path[len(REVIEWS):], body)
        match = re.fullmatch("/api/v1/namespaces/([^/]+)", path)
        if match and method == "GET":
            return self.namespace(match[1])
        queues = f"/{VISIBILITY}/{self.kueue_version()}"
        match = re.fullmatch(f"{queues}/namespaces/([^/]+)/"
                             "localqueues/([^/]+)/pendingworkloads", path)
        if self.state.get("kueue") and (match or path == queues):
            return self.pending(*match.groups() if match else (None, None))
        kinds = self.kinds()
        if path == "/api":
            return Answer(body={"kind": "APIVersions", "versions": ["v1"]})
        if path == "/apis":
            return Answer(body={
                "kind": "APIGroupList", "apiVersion": "v1",
                "groups": [self.group(kind) for kind in kinds if kind.group]})
        for kind in kinds:
            if path == "/" + kind.root:
                return self.discovery(kind.root, kind.api)
            match = re.fullmatch(f"/{kind.root}(?:/namespaces/([^/]+))?/"
                                 f"{kind.plural}(?:/([^/]+))?(?:/(log|exec|portforward))?",
                                 path)
            if match:
                return self.resource(handler, kind, method, match, query,
                                     headers, body)
        raise error(404, "the server could not find the requested resource")

    def namespace(self, name):
        with self.lock:
            self.authorize("get", NAMESPACE, name, None, name)
            return Answer(body={
                "kind": "Namespace", "apiVersion": "v1", "metadata": {
                    "name": name, "labels": self.state.get("labels") or {}}})

    def pending(self, namespace, queue):
        """What a server of Kueue's own says of its queues."""
        if not queue:
            return Answer(body={"kind": "APIResourceList"})
        with self.lock:
            self.authorize("get", LOCAL_QUEUE, queue, "pendingworkloads",
                           namespace)
            return Answer(body={
                "kind": "PendingWorkloadsSummary", "items": [
                    {"metadata": {"name": name, "namespace": namespace},
                     "positionInLocalQueue": at}
                    for name, at in self.state.get("positions", {}).items()]})

    def kinds(self):
        """Those that the cluster has."""
        def is_there(kind):
            if kind.name == "JobSet":
                return self.state.get("jobset") is not False
            return kind.name != "Workload" or kind.api.endswith(
                "/" + self.kueue_version())
        return [kind for kind in KINDS if is_there(kind)]

    def kueue_version(self):
        kueue = self.state.get("kueue")
        return kueue if isinstance(kueue, str) else \
            "v1beta1" if kueue else "none"

    @staticmethod
    def group(kind):
        version = {"groupVersion": kind.api,
                   "version": kind.api.rpartition("/")[2]}
        return {"name": kind.group, "versions": [version],
                "preferredVersion": version}

    @staticmethod
    def discovery(root, api):
        return Answer(body={
            "kind": "APIResourceList", "groupVersion": api,
            "resources": [{"name": kind.plural, "kind": kind.name,
                           "singularName": "", "namespaced": True,
                           "verbs": ["get", "list", "watch", "patch",
                                     "create", "delete"]}
                          for kind in KINDS if kind.root == root]})

    def resource(self, handler, kind, method, match, query, headers, body):
        namespace, name, sub = match.groups()
        if sub in ("exec", "portforward"):
            return self.enter(handler, kind, namespace, name, sub, query)
        query = {key: values[-1] for key, values in query.items()}
        with self.lock:
            for verb in self.verbs(method, kind, namespace, name, query):
                self.authorize(verb, kind, name, sub, namespace)
        if sub:
            return self.follow_log(handler, kind, namespace, name, query)
        if method == "GET" and not name and query.get("watch"):
            return self.watch(handler, kind, namespace, query)
        with self.lock:
            if method == "GET" and not name and \
                    "as=Table" in headers.get("Accept", ""):
                return Answer(body=self.objects.table(kind, namespace, query))
            if method == "GET" and not name:
                return Answer(body=self.objects.list(kind, namespace, query))
            if method == "GET":
                return Answer(body=self.objects.find(kind, namespace, name))
            if method == "DELETE" and name:
                options = json.loads(body) if body else {}
                options.setdefault("propagationPolicy",
                                   query.get("propagationPolicy",
                                             "Background"))
                return Answer(body=self.objects.delete(kind, namespace, name,
                                                       options))
            if method == "DELETE" and kind.name == "Pod":
                for item in self.objects.list(kind, namespace,
                                              query)["items"]:
                    self.objects.remove(item)
                return Answer(body={"kind": "PodList"})
            if method == "PATCH" and name:
                return self.patch(kind, namespace, name, query, headers, body)
        raise error(405, f"{method} is not allowed here", "MethodNotAllowed")

    def enter(self, handler, kind, namespace, name, sub, query):
        """An upgrade takes both rights: since 1.35 the second, too."""
        with self.lock:
            for verb in ("get", "create"):
                self.authorize(verb, kind, name, sub, namespace)
            item = self.objects.find(kind, namespace, name)
            pod = self.cluster.pods.get(item["metadata"]["uid"])
            if not pod or item["status"].get("phase") != "Running":
                raise error(500, "unable to upgrade connection: container "
                            'not found ("main")')
        if sub == "exec":
            execs.serve(handler, pod, query)
        else:
            ports.serve(handler, name, query)

    def patch(self, kind, namespace, name, query, headers, body):
        form = headers.get("Content-Type")
        data = json.loads(body)
        self.keep_secret({**data, "kind": kind.name})
        self.check_owners(data)
        if form == "application/merge-patch+json":
            return Answer(body=self.objects.patch(kind, namespace, name, data))
        if form != "application/apply-patch+yaml":
            raise error(415, "the body of the request was in an unknown "
                        f"format: {form}")
        self.check_quota(kind, namespace, name)
        try:
            answer = self.objects.apply(kind, namespace, name, data, query,
                                        self.checker, self.admission)
        except Answer as refused:
            if refused.status in (400, 422):
                self.wrong.append([name, refused.body.decode()])
            raise
        warnings = []
        if kind.name in ("Job", "JobSet"):
            warn = self.state.get("warn") or []
            warnings += [warn] if isinstance(warn, str) else warn
        # A controller's pods are looked at when they are made.
        if kind.name == "Job" and self.cluster.restricts("warn"):
            wrong = violations(data["spec"]["template"]["spec"])
            if wrong:
                warnings.append('would violate PodSecurity '
                                f'"restricted:latest": {wrong}')
        if warnings:
            answer.headers["Warning"] = [
                '299 - "' + re.sub(r'([\\"])', r"\\\1", text) + '"'
                for text in warnings]
        return answer

    def watch(self, handler, kind, namespace, query):
        at = int(query.get("resourceVersion") or 0)
        if not at:
            # From what there is.
            with self.lock:
                at = self.objects.version
                items = self.objects.list(kind, namespace, query)["items"]
                first = [json.dumps({"type": "ADDED", "object": item})
                         for item in items]
        else:
            first = []
        until = time.monotonic() + min(
            float(query.get("timeoutSeconds", WATCH_S)), WATCH_S)
        handler.start_stream("application/json")
        for event in first:
            handler.send_line(event)
        while True:
            with self.lock:
                try:
                    events = self.objects.since(kind, namespace, query, at)
                except Answer as gone:
                    handler.send_line(json.dumps({
                        "type": "ERROR", "object": json.loads(gone.body)}))
                    break
                at = self.objects.version if not events else events[-1][0]
            for _, event, item in events:
                handler.send_line(json.dumps({"type": event,
                                               "object": item}))
            if not events and query.get("allowWatchBookmarks"):
                handler.send_line(json.dumps({
                    "type": "BOOKMARK", "object": {
                        "kind": kind.name, "apiVersion": kind.api,
                        "metadata": {"resourceVersion": str(at)}}}))
            if time.monotonic() > until:
                break
            with self.lock:
                if self.objects.version == at:
                    self.lock.wait(1)
        handler.end_stream()
        return None

    def follow_log(self, handler, kind, namespace, name, query):
        if self.state.get("hung") and self.state["hung"] in name:
            time.sleep(self.state.get("hungSeconds", 10))
            raise error(500, "Get https://10.0.0.9:10250/containerLogs: "
                        "dial tcp 10.0.0.9:10250: i/o timeout")
        with self.lock:
            item = self.objects.find(kind, namespace, name)
            pod = self.cluster.pods.get(item["metadata"]["uid"])
            if not pod or item["status"].get("phase") == "Pending":
                raise error(400, f'container "main" in pod "{name}" is '
                            "waiting to start: ContainerCreating")
        time.sleep(pod.script.get("slow", 0))
        stamps = query.get("timestamps") == "true"
        since = query.get("sinceTime", "")[:19]
        handler.start_stream("text/plain")
        sent, whole = 0, True
        while True:
            with self.lock:
                lines, sent = pod.log[sent:], len(pod.log)
                ended = pod.ended or query.get("follow") != "true" or \
                    not pod.there()
                if not lines and not ended:
                    self.lock.wait(1)
            # Only the first piece of a line has a stamp, as of a kubelet.
            text = ""
            for at, piece in lines:
                if at[:19] >= since:
                    text += (f"{at} " if stamps and whole else "") + piece
                    whole = piece.endswith("\n")
            if text:
                handler.send_chunk(text)
            if ended and not lines:
                break
        handler.end_stream()
        return None


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Small answers at once: Nagle and delayed ACKs cost 40 ms each.
    disable_nagle_algorithm = True

    def log_message(self, format, *args):
        pass

    def certificate(self):
        peer = getattr(self.connection, "getpeercert", None)
        return peer() if peer else None

    def handle_one(self):
        server = self.server
        url = urllib.parse.urlsplit(self.path)
        query = urllib.parse.parse_qs(url.query, keep_blank_values=True)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.fault = None
        if url.path.startswith("/_/"):
            try:
                self.reply(server.control(self.command, url.path[3:], body))
            except Answer as answer:
                self.reply(answer)
            return
        fault = server.faults.find(self.command, self.path) or {}
        record = {"method": self.command, "path": self.path,
                  "body": body[:65536].decode("ascii", "replace")
                  if b'"Secret"' not in body else "(secret)",
                  "fault": fault.get("do"), "status": None,
                  "as": self.headers.get("Impersonate-User"),
                  "groups": self.headers.get_all("Impersonate-Group")}
        with server.lock:
            server.requests.append(record)
        do = fault.get("do")
        if do == "delay":
            time.sleep(fault.get("seconds", 1))
        elif do == "status":
            record["status"] = fault["status"]
            self.reply(Answer(fault["status"], status(
                fault["status"], fault.get("body", "fault")),
                fault.get("headers")))
            return
        elif do in ("cut", "kill"):
            if do == "kill":
                self.kill(fault)
            self.hang_up()
            return
        self.fault = fault if do in ("cut-body", "stall") else None
        try:
            answer = server.route(self, self.command, url.path, query,
                                  self.headers, body)
        except Answer as refused:
            answer = refused
        if answer is None:
            record["status"] = 200
            return
        record["status"] = answer.status
        if do == "kill-after":
            self.kill(fault)
        if do in ("drop-answer", "kill-after"):
            self.hang_up()
            return
        self.reply(answer)

    @staticmethod
    def kill(fault):
        with open(fault["pid-file"], encoding="ascii") as file:
            os.kill(int(file.read()), signal.SIGKILL)

    def reply(self, answer):
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.type)
        self.send_header("Content-Length", str(len(answer.body)))
        for name, value in answer.headers.items():
            for one in [value] if isinstance(value, str) else value:
                self.send_header(name, one)
        self.end_headers()
        if self.fault:
            self.wfile.write(answer.body[:len(answer.body) // 2])
            self.hang_up()
        else:
            self.wfile.write(answer.body)

    def start_stream(self, form):
        self.send_response(200)
        self.send_header("Content-Type", form)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def send_line(self, text):
        self.send_chunk(text.rstrip("\n") + "\n")

    def send_chunk(self, text):
        # What a pod writes need not be text.
        data = text.encode(errors="surrogateescape")
        if self.fault:
            # In the middle of what there is.
            data = data[:len(data) // 2 + 1]
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()
        if self.fault:
            self.hang_up()
            raise ConnectionResetError

    def end_stream(self):
        self.wfile.write(b"0\r\n\r\n")

    def hang_up(self):
        self.close_connection = True
        try:
            self.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_one


def write_kubeconfig(folder, base, certificate):
    os.makedirs(folder, exist_ok=True)
    ca = f', certificate-authority: "{certificate}"' if certificate else ""
    path = os.path.join(folder, "kubeconfig")
    with open(path, "w", encoding="utf-8") as file:
        file.write(KUBECONFIG.format(base=base, ca=ca, token=TOKEN))
    os.chmod(path, 0o600)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port-file", required=True)
    parser.add_argument("--credentials")
    parser.add_argument("--tls", nargs=2)
    parser.add_argument("--client-ca")
    args = parser.parse_args()
    server = Server()
    scheme = "http"
    if args.tls:
        scheme = "https"
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*args.tls)
        if args.client_ca:
            context.verify_mode = ssl.CERT_OPTIONAL
            context.load_verify_locations(args.client_ca)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    port = server.server_address[1]
    if args.credentials:
        write_kubeconfig(args.credentials, f"{scheme}://127.0.0.1:{port}",
                         args.tls and args.tls[0])
    threading.Thread(target=server.cluster.loop, daemon=True).start()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with open(args.port_file + ".new", "w", encoding="utf-8") as file:
        file.write(f"{port}\n")
    os.rename(args.port_file + ".new", args.port_file)
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main()
