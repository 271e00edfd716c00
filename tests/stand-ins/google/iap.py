# SPDX-License-Identifier: Apache-2.0
"""tunnel.cloudproxy.app, Identity-Aware Proxy's relay: TCP over WebSockets.

state["iap"] tells how things are to go:

    hosts       {INSTANCE: IP}: where the VMs are; others are not found
    cut         [N …]: the connection breaks when so many bytes have come from
                the VM, in all
    cut_input   [N …]: the same of bytes for it; what comes next is lost
    close       [CODE, WHY]: how it is closed once it is there
    lie         {HEADER: VALUE} of its handshake, in place of what is right
    say         [HEX …]: messages of its own, once it is there
    away        how many connections to a session that was cut are refused

Who does not keep to the protocol is noted in /_/wrong.
"""

import base64
import hashlib
import select
import socket
import struct
import threading

from answers import error

GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
PROTOCOL = "relay.tunnel.cloudproxy.app"
DATA_MAX = 16384
# Sent and not acknowledged: no more until it is.
WINDOW = 8 * DATA_MAX
SID, RECONNECTED, DATA, ACK = 1, 2, 4, 7


class Wrong(Exception):
    """The client does what it must not."""


class Session:
    def __init__(self, sid, backend):
        self.sid = sid
        self.backend = backend
        self.acked = 0            # of what the VM has sent
        self.unacked = b""
        self.got = 0              # for the VM
        self.told = 0             # of that
        self.busy = threading.Lock()


class Connection:
    def __init__(self, handler):
        self.sock = handler.connection
        self.data = b""

    def send(self, opcode, payload):
        head = bytes([0x80 | opcode])
        if len(payload) < 126:
            head += bytes([len(payload)])
        elif len(payload) < 65536:
            head += struct.pack(">BH", 126, len(payload))
        else:
            head += struct.pack(">BQ", 127, len(payload))
        self.sock.sendall(head + payload)

    def take(self):
        """The next frame that is here whole: opcode and payload, or None."""
        if len(self.data) < 2:
            return None
        first, size = self.data[0], self.data[1] & 127
        if not self.data[1] & 128:
            raise Wrong("a frame without a mask")
        if first & 0x70 or not first & 0x80:
            raise Wrong(f"a frame with {first:#x}")
        at = 2
        if size > 125:
            at = 4 if size == 126 else 10
            if len(self.data) < at:
                return None
            size = int.from_bytes(self.data[2:at], "big")
        if len(self.data) < at + 4 + size:
            return None
        mask = self.data[at:at + 4] * (size // 4 + 1)
        payload = self.data[at + 4:at + 4 + size]
        self.data = self.data[at + 4 + size:]
        return first & 15, bytes(a ^ b for a, b in zip(payload, mask))


def shake_hands(handler):
    """Refuses whom the relay would refuse."""
    headers = handler.headers
    handler.server.accounts.check(headers)
    if headers.get("Upgrade", "").lower() != "websocket" or \
            "upgrade" not in headers.get("Connection", "").lower() or \
            headers.get("Sec-WebSocket-Version") != "13" or \
            headers.get("Sec-WebSocket-Protocol") != PROTOCOL or \
            headers.get("Origin") != "bot:iap-tunneler":
        raise error(400, "This is no tunneler.")
    key = headers.get("Sec-WebSocket-Key", "")
    if len(base64.b64decode(key)) != 16:
        raise error(400, "The key is wrong.")
    return base64.b64encode(
        hashlib.sha1((key + GUID).encode()).digest()).decode()


def find_session(server, path, query):
    """Of /connect a new one, of /reconnect the one that is meant; or what to
    close the connection with."""
    told = server.state.get("iap", {})
    sessions = server.__dict__.setdefault("iap_sessions", {})
    one = {name: values[0] for name, values in query.items()}
    if one.get("newWebsocket") != "True":
        raise Wrong("newWebsocket is not True")
    if path.endswith("/reconnect"):
        if set(one) != {"sid", "ack", "zone", "newWebsocket"}:
            raise Wrong(f"reconnects with {sorted(one)}")
        if told.get("away", 0) > 0:
            told["away"] -= 1
            raise error(503, "Try again.")
        session = sessions.get(one["sid"])
        if not session:
            return None, (4004, "no such session")
        acked(session, int(one["ack"]), True)
        return session, None
    if set(one) != {"project", "zone", "instance", "interface", "port",
                    "newWebsocket"} or one["interface"] != "nic0":
        raise Wrong(f"connects with {sorted(one)}")
    ip = told.get("hosts", {}).get(one["instance"])
    if not ip:
        return None, (4047, "failed to lookup instance")
    try:
        backend = socket.create_connection((ip, int(one["port"])), 5)
    except OSError:
        return None, (4003, "failed to connect to backend")
    backend.settimeout(None)
    sid = f"sid+{len(sessions) + 1}/="
    sessions[sid] = Session(sid, backend)
    return sessions[sid], None


def acked(session, count, again=False):
    new = count - session.acked
    if new < 0 or (new == 0 and not again) or new > len(session.unacked):
        raise Wrong(f"acknowledges {count} after {session.acked}, with "
                    f"{len(session.unacked)} on their way")
    session.acked = count
    session.unacked = session.unacked[new:]


def is_cut(told, name, count):
    """Once for each number."""
    if told.get(name) and count >= told[name][0]:
        told[name].pop(0)
        return True
    return False


def from_client(told, session, connection, opcode, payload):
    """False: it is over."""
    if opcode == 8:
        # For good, where all else may come back.
        session.backend.close()
        return False
    if opcode in (9, 10):
        return True
    if opcode != 2 or len(payload) < 2:
        raise Wrong(f"a message of kind {opcode}")
    tag = int.from_bytes(payload[:2], "big")
    if tag == ACK and len(payload) == 10:
        acked(session, int.from_bytes(payload[2:], "big"))
        return True
    size = int.from_bytes(payload[2:6], "big")
    if tag != DATA or not 0 < size <= DATA_MAX or len(payload) != 6 + size:
        raise Wrong(f"a message {payload[:10]!r}")
    if is_cut(told, "cut_input", session.got):
        return False
    session.backend.sendall(payload[6:])
    session.got += size
    if session.got - session.told > 2 * DATA_MAX:
        session.told = session.got
        connection.send(2, struct.pack(">HQ", ACK, session.got))
    return True


def from_vm(told, session, connection):
    """False: it is over."""
    data = session.backend.recv(DATA_MAX)
    if not data:
        connection.send(8, struct.pack(">H", 1000))
        return False
    session.unacked += data
    if is_cut(told, "cut", session.acked + len(session.unacked)):
        return False
    connection.send(2, struct.pack(">HI", DATA, len(data)) + data)
    return True


def relay(server, session, connection):
    told = server.state.get("iap", {})
    while True:
        ends = [connection.sock]
        if len(session.unacked) < WINDOW:
            ends.append(session.backend)
        # What TLS holds back makes nothing readable.
        held = getattr(connection.sock, "pending", int)()
        ready = select.select(ends, [], [], 0 if held else None)[0]
        if held or connection.sock in ready:
            more = connection.sock.recv(65536)
            if not more:
                return
            connection.data += more
            while True:
                frame = connection.take()
                if not frame:
                    break
                if not from_client(told, session, connection, *frame):
                    return
        if session.backend in ready and \
                not from_vm(told, session, connection):
            return


def begin(told, session, connection, path):
    if path.endswith("/connect"):
        sid = session.sid.encode()
        # As a peer may: in two frames, after a ping.
        connection.send(9, b"ping")
        message = struct.pack(">HI", SID, len(sid)) + sid
        connection.sock.sendall(bytes([2, 4]) + message[:4])
        connection.sock.sendall(bytes([0x80, len(message) - 4]) + message[4:])
        for text in told.get("say", []):
            connection.send(2, bytes.fromhex(text))
        return
    connection.send(2, struct.pack(">HQ", RECONNECTED, session.got))
    session.told = session.got
    for at in range(0, len(session.unacked), DATA_MAX):
        piece = session.unacked[at:at + DATA_MAX]
        connection.send(2, struct.pack(">HI", DATA, len(piece)) + piece)


def serve(handler, path, query, record):
    """The whole of a connection; an Answer is raised before it is one."""
    server = handler.server
    try:
        accept = shake_hands(handler)
        with server.lock:
            session, refusal = find_session(server, path, query)
    except Wrong as why:
        server.wrong.append(["GET", path, str(why)])
        raise error(400, str(why)) from why
    record["status"] = 101
    handler.send_response(101)
    for name, value in {"Upgrade": "websocket", "Connection": "Upgrade",
                        "Sec-WebSocket-Accept": accept,
                        "Sec-WebSocket-Protocol": PROTOCOL,
                        **server.state.get("iap", {}).get("lie", {})}.items():
        handler.send_header(name, value)
    handler.end_headers()
    connection = Connection(handler)
    try:
        if refusal:
            connection.send(8, struct.pack(">H", refusal[0]) +
                            refusal[1].encode())
            return
        close = server.state.get("iap", {}).get("close")
        if close:
            connection.send(8, struct.pack(">H", close[0]) +
                            close[1].encode())
            return
        # One that was cut may not have noticed yet.
        with session.busy:
            begin(server.state.get("iap", {}), session, connection, path)
            relay(server, session, connection)
    except Wrong as why:
        server.wrong.append(["GET", path, str(why)])
    except OSError:
        pass
    finally:
        handler.hang_up()

