#!/usr/bin/python3
"""Asks yaml-language-server, as an editor does, what it offers in job files,
what it shows of a field, and what it finds wrong; prints a transcript.

usage: editor.py SERVER SCHEMA     (SERVER: its program, or the folder of npm)
"""

import json
import os
import subprocess
import sys
import threading

LIMIT_S = 120

# A job file with the cursor at "|", and what must be offered there, or must not
# be ("-").
COMPLETIONS = [
    ("|", ["jobId", "trainingInput", "jobrun", "labels", "-state"]),
    ("trainingInput:\n  |", ["scaleTier", "masterType", "region", "-createTime"]),
    ("trainingInput:\n  scaleTier: |", ["CUSTOM", "BASIC_GPU", "-null"]),
    ("trainingInput:\n  masterType: |", ["a3-highgpu-8g", "n1-standard-8", "g4-standard-384", "-null"]),
    ("trainingInput:\n  workerType: |", ["a4-highgpu-8g", "ct5lp-hightpu-4t"]),
    ("trainingInput:\n  region: |", ["us-central1", "europe-west4"]),
    ("trainingInput:\n  runtimeVersion: |", ["2.11"]),
    ("trainingInput:\n  masterConfig:\n    acceleratorConfig:\n      type: |",
     ["NVIDIA_H200_141GB", "NVIDIA_B200", "TPU_V6E", "AMD_INSTINCT_MI300X"]),
    ("trainingInput:\n  scheduling:\n    |", ["maxRunningTime", "priority"]),
    ("trainingInput:\n  hyperparameters:\n    goal: |", ["MAXIMIZE", "MINIMIZE", "-GOAL_TYPE_UNSPECIFIED"]),
    ("jobrun:\n  provider: |", ["local", "kubernetes", "vertex-ai", "-fake"]),
    ("jobrun:\n  zone: |", ["us-central1-a"]),
    ("jobrun:\n  cleanup: |", ["always", "onSuccess"]),
    ("jobrun:\n  slurm:\n    requeue: |", ["expedite"]),
    ("jobrun:\n  tpu-vm:\n    |", ["flexStart", "validUntil", "slices"]),
    ("jobrun:\n  kubernetes:\n    |", ["namespace", "queue"]),
    ("jobrun:\n  checkpoints:\n    |", ["metric", "goal", "to"]),
    ("jobrun:\n  vertex-ai:\n    strategy: |", ["SPOT", "FLEX_START", "-null"]),
    ("jobrun:\n  restart:\n    |", ["maxRestarts"]),
    ("trainingInput:\n  masterConfig:\n    |", ["imageUri", "acceleratorConfig", "diskConfig"]),
    ("trainingInput:\n  hyperparameters:\n    params:\n    - type: |", ["DOUBLE", "INTEGER", "CATEGORICAL"]),
]
# A field under "|", and words of what is shown of it.
HOVERS = [
    ("trainingInput:\n  scale|Tier: BASIC", "machines"),
    ("trainingInput:\n  master|Type: n1-standard-8", "machine"),
    ("jobrun:\n  grace|: 10s", "SIGTERM"),
    ("jobrun:\n  tpu-vm:\n    flex|Start: true", "queue"),
    ("jobrun:\n  slurm:\n    re|queue: true", "preemption"),
    ("jobrun:\n  processes|PerHost: 4", "process"),
    ("job|Id: a", "name"),
    ("trainingInput:\n  parameterServer|Count: 2", "servers"),
    ("trainingInput:\n  worker|Count: 2", "workers"),
    ("trainingInput:\n  reg|ion: us-central1", "region"),
    ("trainingInput:\n  runtime|Version: \"2.11\"", "runtime"),
    ("trainingInput:\n  job|Dir: gs://b/o", "output"),
    ("trainingInput:\n  masterConfig:\n    image|Uri: a", "container"),
    ("trainingInput:\n  scheduling:\n    maxRunning|Time: 60s", "run"),
    ("jobrun:\n  pro|vider: local", "run"),
    ("jobrun:\n  com|mand: [a]", "pythonModule"),
    ("jobrun:\n  set|up: [a]", "command"),
    ("jobrun:\n  clean|up: always", "run"),
    ("jobrun:\n  vertex-ai:\n    strat|egy: SPOT", "FLEX_START"),
    ("jobrun:\n  kubernetes:\n    name|space: a", "namespace"),
]
# What is found wrong, and where: a line, from 0.
DIAGNOSES = [
    ("trainingInput:\n  scaleTier: CUSTOM\n", 1, "[custom-master]"),
    ("trainingInput:\n  scaleTier: BASIC\n  workerType: n1-standard-4\n", 2, "[only-custom]"),
    ("trainingInput: {}\njobrun:\n  docker: {image: a}\n  conda: {env: b}\n", 3, "[docker-or-conda]"),
    ("trainingInput:\n  workerCount: four\n", 1, "must be a whole number"),
    ("trainingInput:\n  scaleTeir: BASIC\n", 1, "scaleTeir"),
    ("trainingInput: {scaleTier: BASIC}\njobrun:\n  grace: soon\n", 2, "must have a form like"),
]


class Server:
    def __init__(self, program):
        argv = [program, "--stdio"]
        if os.path.isdir(program):
            argv = ["node", os.path.join(program, "bin", "yaml-language-server"), "--stdio"]
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.count = 0
        # One that hangs ends this way, and fails the test.
        self.timer = threading.Timer(LIMIT_S, self.process.kill)
        self.timer.daemon = True
        self.timer.start()

    def send(self, method, params, id_=None, answer=False):
        message = {"jsonrpc": "2.0"}
        message.update({"result": params} if answer else {"method": method, "params": params})
        if id_ is not None:
            message["id"] = id_
        data = json.dumps(message).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        self.process.stdin.flush()

    def read(self):
        """The next message; requests to the editor are answered."""
        while True:
            size = 0
            while True:
                line = self.process.stdout.readline()
                if not line:
                    sys.exit("the server has ended")
                if line == b"\r\n":
                    break
                if line.lower().startswith(b"content-length:"):
                    size = int(line.split(b":")[1])
            message = json.loads(self.process.stdout.read(size))
            if "method" not in message or "id" not in message:
                return message
            items = message.get("params", {}).get("items", []) if isinstance(message.get("params"), dict) else []
            self.send(None, [None] * len(items) if message["method"] == "workspace/configuration" else None,
                      message["id"], answer=True)

    def ask(self, method, params):
        self.count += 1
        self.send(method, params, self.count)
        while True:
            message = self.read()
            if message.get("id") == self.count:
                assert "error" not in message, message
                return message["result"]

    def diagnose(self, uri):
        while True:
            message = self.read()
            if message.get("method") == "textDocument/publishDiagnostics" and \
                    message["params"]["uri"] == uri:
                return message["params"]["diagnostics"]

    def open(self, schema, number, text):
        """Opens a document; returns its address and the place of "|" in it."""
        uri = "file:///tmp/job-%d.yaml" % number
        text = "# yaml-language-server: $schema=file://%s\n" % schema + text
        before, _, after = text.partition("|")
        self.send("textDocument/didOpen", {"textDocument": {
            "uri": uri, "languageId": "yaml", "version": 1, "text": before + after}})
        lines = before.split("\n")
        return {"textDocument": {"uri": uri},
                "position": {"line": len(lines) - 1, "character": len(lines[-1])}}

    def close(self):
        self.ask("shutdown", None)
        self.send("exit", None)
        self.process.wait(LIMIT_S)
        self.timer.cancel()


def show(kind, text, said):
    print("%-10s %s\n           %s" % (kind, text.replace("\n", "\\n"), said))


def main():
    server = Server(sys.argv[1])
    schema = os.path.abspath(sys.argv[2])
    number = 0
    server.ask("initialize", {"processId": None, "rootUri": None, "capabilities": {
        "textDocument": {"completion": {}, "hover": {"contentFormat": ["plaintext"]},
                         "publishDiagnostics": {}}}})
    server.send("initialized", {})
    server.send("workspace/didChangeConfiguration", {"settings": {"yaml": {
        "validate": True, "hover": True, "completion": True,
        "schemaStore": {"enable": False}}}})
    for text, expected in COMPLETIONS:
        number += 1
        at = server.open(schema, number, text)
        answer = server.ask("textDocument/completion", at)
        items = answer["items"] if isinstance(answer, dict) else answer
        names = {item["label"].strip('"') for item in items}
        show("complete", text, "%d: %s" % (len(names), ", ".join(sorted(names)[:8])))
        for name in expected:
            assert (name[1:] not in names) if name[0] == "-" else (name in names), (text, name, names)
    for text, expected in HOVERS:
        number += 1
        at = server.open(schema, number, text)
        answer = server.ask("textDocument/hover", at)
        shown = json.dumps(answer["contents"] if answer else "", ensure_ascii=False)
        show("hover", text, shown[:160])
        assert expected in shown, (text, expected, shown)
    for text, line, expected in DIAGNOSES:
        number += 1
        at = server.open(schema, number, text)
        found = server.diagnose(at["textDocument"]["uri"])
        said = ["%d: %s" % (one["range"]["start"]["line"] - 1, one["message"]) for one in found]
        show("message", text, "; ".join(said)[:200])
        assert any(one.startswith("%d: " % line) and expected in one for one in said), (text, line, expected, said)
    server.close()
    print("%d completions, %d hovers, %d messages" % (len(COMPLETIONS), len(HOVERS), len(DIAGNOSES)))


if __name__ == "__main__":
    main()
