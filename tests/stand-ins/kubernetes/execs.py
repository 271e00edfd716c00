# SPDX-License-Identifier: Apache-2.0
"""pods/exec: commands in containers over WebSockets, as the API server and the
kubelet have them (v5.channel.k8s.io and v4.channel.k8s.io; the first byte of
a message is its channel).

state["exec"] tells how things are to go:

    protocols   those that the server knows; without v5 it is an old one
    refuse      a status for the upgrade
    cut         the connection breaks when so many bytes of output have come

A command runs on this machine, with the variables of its container.  As there,
one whose client has gone only finds the end of its input: nobody ends it.
"""

import base64
import hashlib
import json
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import threading

from answers import error, status

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)),
                             "..", "google"))
from iap import GUID, Connection, Wrong  # noqa: E402

PROTOCOLS = ["v5.channel.k8s.io", "v4.channel.k8s.io"]
INPUT, OUTPUT, ERRORS, STATUS, SIZE, END = 0, 1, 2, 3, 4, 255
FLAGS = ("stdin", "stdout", "stderr", "tty")


def shake_hands(handler, known):
    """The answer to the key, and the protocol: the client's first that is
    known."""
    headers = handler.headers
    if headers.get("Upgrade", "").lower() != "websocket" or \
            "upgrade" not in headers.get("Connection", "").lower():
        raise error(400, "Upgrade request required")
    if headers.get("Sec-WebSocket-Version") != "13" or \
            len(base64.b64decode(headers.get("Sec-WebSocket-Key", ""))) != 16:
        raise error(400, "bad handshake")
    wanted = [one.strip() for one in
              headers.get("Sec-WebSocket-Protocol", "").split(",")]
    for one in wanted:
        if one in known:
            return base64.b64encode(hashlib.sha1(
                (headers["Sec-WebSocket-Key"] + GUID).encode()
            ).digest()).decode(), one
    raise error(403, f"requested protocol(s) are not supported: {wanted}")


def upgrade(handler, accept, protocol):
    handler.send_response(101)
    for name, value in {"Upgrade": "websocket", "Connection": "Upgrade",
                        "Sec-WebSocket-Accept": accept,
                        "Sec-WebSocket-Protocol": protocol}.items():
        handler.send_header(name, value)
    handler.end_headers()
    return Connection(handler)


class Command:
    """One that runs in a container."""

    def __init__(self, pod, query, words):
        container = pod.item["spec"]["containers"][0]
        env = pod.environment(container, pod.item["metadata"])
        cwd = "/"
        if pod.folder:
            cwd = pod.place(container.get("workingDir", pod.folder.name))
        words = [pod.place(word) for word in words]
        self.terminal = query["tty"]
        self.ends = {}  # descriptors to read: their channels
        self.input = None
        self.unread = b""  # by the command, of its input
        self.input_ends = False
        if self.terminal:
            master, slave = pty.openpty()
            self.input = master
            self.ends[master] = OUTPUT
            self.process = subprocess.Popen(
                ["setsid", "-c", *words], env=env, cwd=cwd, stdin=slave,
                stdout=slave, stderr=slave)
            os.close(slave)
        else:
            self.process = subprocess.Popen(
                words, env=env, cwd=cwd, stdout=subprocess.PIPE,
                stdin=subprocess.PIPE if query["stdin"] else
                subprocess.DEVNULL,
                stderr=subprocess.PIPE if query["stderr"] else
                subprocess.DEVNULL, start_new_session=True)
            self.ends[self.process.stdout.fileno()] = OUTPUT
            if query["stderr"]:
                self.ends[self.process.stderr.fileno()] = ERRORS
            if query["stdin"]:
                self.input = os.dup(self.process.stdin.fileno())
                self.process.stdin.close()
        if self.input is not None:
            # Both directions go on, whichever of them is full.
            os.set_blocking(self.input, False)

    def end_input(self):
        """When it has read all that came before."""
        self.input_ends = True
        self.feed()

    def feed(self):
        try:
            while self.unread and self.input is not None:
                self.unread = self.unread[os.write(self.input, self.unread):]
        except BlockingIOError:
            return
        except OSError:
            self.unread = b""  # it has ended
        if self.input_ends and self.input is not None and not self.terminal:
            os.close(self.input)
            self.input = None

    def resize(self, size):
        import fcntl
        import termios
        fcntl.ioctl(self.input, termios.TIOCSWINSZ, struct.pack(
            "HHHH", size["Height"], size["Width"], 0, 0))

    def kill(self):
        """With its container."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except OSError:
            pass

    def drain(self):
        """What it writes for nobody."""
        while self.ends:
            for fd in select.select(list(self.ends), self.hungry(), [])[0]:
                self.read(fd)
            self.feed()
        self.process.wait()

    def hungry(self):
        return [self.input] if self.unread and self.input is not None else []

    def read(self, fd):
        try:
            data = os.read(fd, 8192)
        except BlockingIOError:
            return None
        except OSError:
            data = b""  # a terminal that nobody has open any more
        if not data:
            del self.ends[fd]
            if self.terminal:
                self.input = None
        return data

    def status(self):
        code = self.process.wait()
        code = 128 - code if code < 0 else code
        if not code:
            return {"metadata": {}, "status": "Success"}
        return status(500, "command terminated with non-zero exit code: "
                      f"exit status {code}", "NonZeroExitCode", {
                          "causes": [{"reason": "ExitCode",
                                      "message": str(code)}]})


def from_client(command, protocol, opcode, payload):
    """False: it is over."""
    if opcode == 8:
        return False
    if opcode in (9, 10):
        return True
    if opcode != 2 or not payload:
        raise Wrong(f"a message of kind {opcode}")
    channel, data = payload[0], payload[1:]
    if channel == INPUT and command.input is not None:
        command.unread += data
        command.feed()
    elif channel == INPUT and command.ends:
        pass  # for one that has closed it
    elif channel == SIZE and command.terminal:
        command.resize(json.loads(data))
    elif channel == END and protocol == PROTOCOLS[0] and data == b"\0":
        command.end_input()
    else:
        raise Wrong(f"a message {payload[:10]!r} in {protocol}")
    return True


def relay(told, command, connection, protocol):
    """True: the command has ended."""
    sent = 0
    while command.ends:
        held = getattr(connection.sock, "pending", int)()
        ready = select.select([connection.sock, *command.ends],
                              command.hungry(), [], 0 if held else None)[0]
        command.feed()
        if held or connection.sock in ready:
            more = connection.sock.recv(65536)
            if not more:
                return False
            connection.data += more
            while frame := connection.take():
                if not from_client(command, protocol, *frame):
                    return False
        for fd in [fd for fd in command.ends if fd in ready]:
            channel = command.ends[fd]
            data = command.read(fd) or b""
            sent += len(data)
            if told.get("cut") is not None and sent >= told["cut"]:
                return False
            if data:
                connection.send(2, bytes([channel]) + data)
    connection.send(2, bytes([STATUS]) + json.dumps(
        command.status()).encode())
    connection.send(8, struct.pack(">H", 1000))
    return True


def serve(handler, pod, query):
    """The whole of a connection; an Answer is raised before it is one."""
    server = handler.server
    told = server.state.get("exec") or {}
    one = {name: query.get(name, ["false"])[-1] == "true" for name in FLAGS}
    words = query.get("command")
    if told.get("refuse"):
        raise error(told["refuse"], "the upgrade is refused")
    if not words:
        raise error(400, "you must specify at least 1 command")
    if not (one["stdin"] or one["stdout"] or one["stderr"]):
        raise error(400, "you must specify at least 1 of stdin, stdout, "
                    "stderr")
    if one["tty"] and one["stderr"]:
        raise error(400, "tty and stderr cannot both be true")
    if query.get("container", ["main"])[-1] != "main":
        raise error(400, "container not found in pod")
    accept, protocol = shake_hands(handler, told.get("protocols", PROTOCOLS))
    connection = upgrade(handler, accept, protocol)
    for channel in (INPUT, OUTPUT, ERRORS, STATUS):
        connection.send(2, bytes([channel]))
    try:
        command = Command(pod, one, words)
    except OSError as why:
        connection.send(2, bytes([STATUS]) + json.dumps(status(
            500, f"error executing command in container: {why}")).encode())
        connection.send(8, struct.pack(">H", 1000))
        return
    pod.commands.append(command)
    whole = False
    try:
        whole = relay(told, command, connection, protocol)
    except Wrong as why:
        server.wrong.append(["exec", str(why)])
    except OSError:
        pass
    finally:
        command.end_input()
        if not whole:
            threading.Thread(target=command.drain, daemon=True).start()
        handler.hang_up()
