"""Stands in for the parts of GitHub's and GitLab's APIs that examples/gitops
uses, with one change request, number 7, and its comments:

    forge.py FOLDER

FOLDER/port gets the port, FOLDER/log every request, FOLDER/comments.json
the comments. Strangers have written 130 comments, one of them with the
marker. FOLDER/saved.plan, if it is there, is the artifact of the change.
Whoever has no token, or shows it to the store of artifacts, gets 401."""
import http.server
import io
import json
import os
import re
import sys
import zipfile

FOLDER = sys.argv[1]
ME = {"id": 99, "login": "jobrun[bot]", "type": "Bot"}
STRANGER = {"id": 5, "login": "somebody", "type": "User"}
MARKER = "<!-- jobrun plan -->"
COMMENTS = [{"id": i, "body": (MARKER if i == 3 else "+1"), "user": STRANGER,
             "author": STRANGER} for i in range(1, 131)]


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def answer(self, status, value=None, raw=None, **headers):
        body = raw if raw is not None else json.dumps(value).encode()
        self.send_response(status)
        for name, text in headers.items():
            self.send_header(name, text)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def body(self):
        assert self.headers["Content-Type"] == "application/json"
        value = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert list(value) == ["body"] and len(value["body"]) <= 65536
        return value["body"]

    def plan(self):
        with open(os.path.join(FOLDER, "saved.plan"), "rb") as file:
            return file.read()

    def do(self):
        path, _, query = self.path.partition("?")
        with open(os.path.join(FOLDER, "log"), "a") as log:
            log.write(f"{self.command} {self.path}\n")
        token = (self.headers["Authorization"] == "Bearer t0ken" or
                 self.headers["PRIVATE-TOKEN"] == "t0ken")
        if token == path.startswith("/store/"):
            return self.answer(401, {})
        there = os.path.exists(os.path.join(FOLDER, "saved.plan"))
        lists = re.fullmatch(r"/(repos/o/r/issues/7/comments|projects/1/merge_requests/7/notes)", path)
        one = re.fullmatch(r"/(repos/o/r/issues/comments|projects/1/merge_requests/7/notes)/(\d+)", path)
        if self.command == "GET" and lists:
            number = int(re.search(r"\bpage=(\d+)", query)[1])
            assert "per_page=100" in query
            return self.answer(200, COMMENTS[100 * (number - 1):100 * number])
        if self.command == "POST" and lists:
            COMMENTS.append({"id": 1000 + len(COMMENTS), "body": self.body(),
                             "user": ME, "author": ME})
            self.keep()
            return self.answer(201, COMMENTS[-1])
        if self.command == ("PATCH" if path.startswith("/repos") else "PUT") and one:
            for comment in COMMENTS:
                if comment["id"] == int(one[2]) and comment["user"] == ME:
                    comment["body"] = self.body()
                    self.keep()
                    return self.answer(200, comment)
            return self.answer(403, {})
        if path == "/user":
            return self.answer(200, {"id": 99})
        if path == "/repos/o/r/actions/artifacts":
            return self.answer(200, {"artifacts": [
                {"id": 1, "expired": True, "created_at": "2026-02-01T00:00:00Z"},
                {"id": 2, "expired": False, "created_at": "2026-01-02T00:00:00Z"},
                {"id": 3, "expired": False, "created_at": "2026-01-01T00:00:00Z"},
            ] if there else []})
        if path in ("/repos/o/r/actions/artifacts/2/zip",
                    "/projects/1/jobs/21/artifacts/ci/out/jobs.plan"):
            return self.answer(302, raw=b"", Location=(
                f"http://127.0.0.1:{self.server.server_port}/store/"
                + ("zip" if path.endswith("zip") else "raw")))
        if path == "/store/zip":
            out = io.BytesIO()
            with zipfile.ZipFile(out, "w") as archive:
                archive.writestr("comment.md", "x")
                archive.writestr("jobs.plan", self.plan())
            return self.answer(200, raw=out.getvalue())
        if path == "/store/raw":
            return self.answer(200, raw=self.plan())
        if re.fullmatch(r"/projects/1/repository/commits/[0-9a-f]{40}/merge_requests", path):
            return self.answer(200, [{"iid": 6, "state": "closed"},
                                     {"iid": 7, "state": "merged"}] if there else [])
        if path == "/projects/1/merge_requests/7/pipelines":
            return self.answer(200, [{"id": 12, "status": "failed"},
                                     {"id": 11, "status": "success"}])
        if path == "/projects/1/pipelines/11/jobs":
            return self.answer(200, [{"id": 20, "name": "other"},
                                     {"id": 21, "name": "plan"}])
        self.answer(404, {})

    do_GET = do_POST = do_PATCH = do_PUT = do

    def keep(self):
        with open(os.path.join(FOLDER, "comments.json"), "w") as file:
            json.dump([c["body"] for c in COMMENTS if c["user"] == ME], file)


server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
with open(os.path.join(FOLDER, "port.new"), "w") as port:
    port.write(str(server.server_port))
os.rename(os.path.join(FOLDER, "port.new"), os.path.join(FOLDER, "port"))
server.serve_forever()
