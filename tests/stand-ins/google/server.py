#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A stand-in for Google's services, as strict as they are.

    server.py --port-file FILE [--credentials FOLDER] [--tls CERT KEY]

Writes its port into FILE once it answers, credential files of all kinds into
FOLDER, and ends when its standard input does, so that it outlives nobody.
Each service is below a path of its own: CLOUDSDK_API_ENDPOINT_OVERRIDES_TPU
is http://127.0.0.1:PORT/tpu/.  Tests talk to it below /_/:

    POST /_/faults    the list of faults.py
    POST /_/state     an object, merged into the server's state
    POST /_/forget    all tokens end now
    GET  /_/requests  what was asked so far, and answered
    GET  /_/wrong     what broke a discovery document, ours included
    GET  /_/secrets   everything that must never be shown
    GET  /_/policies  the IAM policy of each project
    GET  /_/made      the objects and jobs that there are: [PLACE, NAME] each

With JOBRUN_API_SCHEMAS, a folder of discovery documents, every request and
every answer of a service is checked against them.
"""

import argparse
import glob
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

import accounts
import aiplatform
import compute
import iam
import iap
import logs
import metadata
import ml
import storage
import tpu
from answers import Answer, error, unknown_method
from discovery import Checker
from faults import Faults

# By the first part of the path: answer(server, method, path, query, body,
# headers), under the server's lock.
SERVICES = {"tpu": tpu, "compute": compute, "storage": storage, "ml": ml,
            "aiplatform": aiplatform, "logging": logs,
            "serviceusage": iam, "cloudresourcemanager": iam}


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.lock = threading.RLock()
        self.state = {}
        self.faults = Faults()
        self.accounts = accounts.Accounts(self.state)
        self.requests = []
        self.wrong = []
        schemas = os.environ.get("JOBRUN_API_SCHEMAS")
        self.checker = Checker(schemas) if schemas else None
        self.base = ""

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
            elif (method, what) == ("POST", "object"):
                storage.plant(self, **json.loads(body))
            elif (method, what) == ("POST", "forget"):
                self.accounts.forget()
            elif (method, what) == ("GET", "requests"):
                return Answer(body=self.requests)
            elif (method, what) == ("GET", "wrong"):
                return Answer(body=self.wrong)
            elif (method, what) == ("GET", "secrets"):
                return Answer(body=self.accounts.secrets())
            elif (method, what) == ("GET", "policies"):
                return Answer(body=iam.bindings(self))
            elif (method, what) == ("GET", "made"):
                return Answer(body=[*storage.made(self), *ml.made(self),
                                    *aiplatform.made(self), *tpu.made(self),
                                    *compute.made(self)])
            else:
                raise unknown_method(what)
        return Answer(body={})

    def route(self, method, path, query, headers, body):
        first, _, rest = path.lstrip("/").partition("/")
        if first == "echo":
            return self.echo(query, headers, body, method)
        if first in ("", "computeMetadata") and method == "GET":
            return metadata.answer(self, path, query, headers)
        if first in ("oauth2", "sts") and method == "POST":
            if headers.get("Content-Type") != \
                    "application/x-www-form-urlencoded":
                raise error(400, "The request's content type is wrong.")
            form = accounts.form_of(body)
            if path == "/oauth2/token":
                return self.accounts.token(form, self.base + path)
            if path == "/sts/v1/token":
                return self.accounts.exchange(form)
        if first == "github" and method == "GET":
            return self.accounts.github(query, headers)
        if first == "subject" and method == "GET":
            return self.accounts.subject_url(headers)
        match = re.fullmatch(r"iamcredentials/v1/projects/-/serviceAccounts/"
                             r"([^/:]+):generateAccessToken", path[1:])
        if match and method == "POST":
            return self.accounts.impersonate(match.group(1),
                                             json.loads(body), headers)
        if path.startswith("/upload/storage/") and method == "PUT":
            return storage.put(self, query, headers, body)
        if path.startswith(("/storage/", "/upload/storage/")):
            return self.service("storage", method, path[1:], query, headers,
                                body)
        if first in SERVICES:
            return self.service(first, method, rest, query, headers, body)
        raise unknown_method(path)

    def service(self, name, method, path, query, headers, body):
        # As an emulator, and as a bucket that anybody may read.
        if not (name == "storage" and self.state.get("public") and
                not headers.get("Authorization")):
            self.accounts.check(headers)
        data = sent = None
        if query.get("uploadType") == ["multipart"]:
            body, sent = storage.parts(headers, body)
        if body:
            try:
                data = json.loads(body)
            except ValueError as why:
                raise error(400, "Invalid JSON payload received. "
                            f"{why}") from why
        known = None
        if self.checker:
            try:
                known = self.checker.request(name, method, path, query, data)
            except Answer as refused:
                self.wrong.append([method, path, refused.body.decode()])
                raise
        if sent is not None:
            query = dict(query, bytes=sent)
        with self.lock:
            out = SERVICES[name].answer(self, method, path, query, data,
                                        headers)
        if isinstance(out, Answer):
            return out
        if self.checker:
            for text in self.checker.answer(known, out):
                self.wrong.append([method, path, "our answer: " + text])
        return Answer(body=out)

    @staticmethod
    def echo(query, headers, body, method):
        """For tests of the client itself: what came, or as many bytes."""
        if "bytes" in query:
            data = b"0123456789abcdef" * (int(query["bytes"][0]) // 16)
            got = re.fullmatch(r"bytes=(\d+)-(\d*)", headers.get("Range", ""))
            if got:
                end = int(got[2]) + 1 if got[2] else len(data)
                return Answer(206, data[int(got[1]):end],
                              type="application/octet-stream")
            return Answer(body=data, type="application/octet-stream")
        return Answer(body={"method": method, "bytes": len(body),
                            "headers": dict(headers.items()),
                            "body": shown(body[:1000])})


def shown(body):
    """What can stand in any JSON: text as it is."""
    text = body[:65536].decode("ascii", "replace")
    return re.sub(r"[\x00-\x08\x0e-\x1f]", "?", text)


def client_of(connection):
    """The process on this machine that is at its other end."""
    # As the kernel shows them: 127.0.0.1 is 0100007F.
    ends = [f"{socket.htonl(int.from_bytes(socket.inet_aton(ip))):08X}"
            f":{port:04X}"
            for ip, port in (connection.getpeername(),
                             connection.getsockname())]
    with open("/proc/net/tcp", encoding="ascii") as file:
        rows = [line.split() for line in file]
    [inode] = [row[9] for row in rows if row[1:3] == ends]
    for link in glob.iglob("/proc/[0-9]*/fd/*"):
        try:
            if os.readlink(link) == f"socket:[{inode}]":
                return int(link.split("/")[2])
        except OSError:  # it has ended meanwhile, or is not ours
            pass
    raise ValueError(f"nobody is at the other end of {ends}")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "ESF"
    # Small answers at once: Nagle and delayed ACKs cost 40 ms each.
    disable_nagle_algorithm = True

    def log_message(self, format, *args):
        pass

    def read_body(self):
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            data = b""
            while True:
                size = int(self.rfile.readline().split(b";")[0], 16)
                data += self.rfile.read(size)
                self.rfile.readline()
                if not size:
                    return data
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def handle_one(self):
        server = self.server
        url = urllib.parse.urlsplit(self.path)
        path = url.path
        query = urllib.parse.parse_qs(url.query, keep_blank_values=True)
        body = self.read_body()
        if path.startswith("/_/"):
            try:
                self.reply(server.control(self.command, path[3:], body))
            except Answer as answer:
                self.reply(answer)
            return
        fault = server.faults.find(self.command, self.path) or {}
        record = {"method": self.command, "path": self.path,
                  "headers": dict(self.headers.items()),
                  "connection": self.client_address[1],
                  "body": shown(body),
                  "fault": fault.get("do"), "status": None}
        with server.lock:
            server.requests.append(record)
        do = fault.get("do")
        if do == "delay":
            time.sleep(fault.get("seconds", 1))
        elif do == "status":
            answer = Answer(fault["status"], fault.get("body", ""),
                            fault.get("headers"))
            record["status"] = answer.status
            return self.reply(answer)
        elif do == "cut":
            return self.hang_up()
        elif do == "kill":
            self.kill(fault)
            return self.hang_up()
        elif do == "garbage":
            self.wfile.write(b"SSH-2.0-OpenSSH_9.2\r\n\r\n")
            return self.hang_up()
        if do == "cut-request":
            body = body[:len(body) // 2]
        try:
            if path.startswith("/iap_tunnel/v4/"):
                return iap.serve(self, path, query, record)
            answer = server.route(self.command, path, query, self.headers,
                                  body)
        except Answer as refused:
            answer = refused
        record["status"] = answer.status
        if do == "kill-after":
            self.kill(fault)
        elif do == "kill-client":
            os.kill(client_of(self.connection), signal.SIGKILL)
        if do in ("drop-answer", "cut-request", "kill-after", "kill-client"):
            return self.hang_up()
        self.reply(answer, fault if do in ("cut-body", "stall") else None)

    @staticmethod
    def kill(fault):
        with open(fault["pid-file"], encoding="ascii") as file:
            os.kill(int(file.read()), signal.SIGKILL)

    def reply(self, answer, fault=None):
        self.send_response(answer.status)
        self.send_header("Content-Type", answer.type)
        self.send_header("Content-Length", str(len(answer.body)))
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.end_headers()
        body = answer.body if self.command != "HEAD" else b""
        if fault:
            self.wfile.write(body[:len(body) // 2])
            self.wfile.flush()
            if fault["do"] == "stall":
                time.sleep(fault.get("seconds", 10))
            self.hang_up()
        else:
            self.wfile.write(body)

    def hang_up(self):
        self.close_connection = True
        try:
            self.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = handle_one


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port-file", required=True)
    parser.add_argument("--credentials")
    parser.add_argument("--tls", nargs=2)
    args = parser.parse_args()
    server = Server()
    scheme = "http"
    if args.tls:
        scheme = "https"
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*args.tls)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    port = server.server_address[1]
    server.base = f"{scheme}://127.0.0.1:{port}"
    if args.credentials:
        server.accounts.write(args.credentials, server.base)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with open(args.port_file + ".new", "w", encoding="utf-8") as file:
        file.write(f"{port}\n")
    os.rename(args.port_file + ".new", args.port_file)
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main()
