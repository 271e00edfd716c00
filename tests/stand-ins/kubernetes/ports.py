# SPDX-License-Identifier: Apache-2.0
"""pods/portforward: connections to ports of pods over WebSockets, as the API
server and the kubelet have them (v4.channel.k8s.io; the first byte of a message
is its channel: 0 the data, 1 an error; each begins with the port, two bytes,
the lower first).

state["ports"] tells how things are to go:

    refuse      a status for the upgrade
    cut         the connection breaks when so many bytes have come from the port

A pod's network is that of this machine.
"""

import select
import socket
import struct

from answers import error
from execs import Wrong, shake_hands, upgrade

PROTOCOL = "v4.channel.k8s.io"


def relay(told, connection, port):
    """False: the connection breaks."""
    sent = 0
    while True:
        held = getattr(connection.sock, "pending", int)()
        ready = select.select([connection.sock, port], [], [],
                              0 if held else None)[0]
        if held or connection.sock in ready:
            more = connection.sock.recv(65536)
            if not more:
                return True
            connection.data += more
            while frame := connection.take():
                opcode, payload = frame
                if opcode == 8:
                    return True
                if opcode != 2 or payload[:1] != b"\0":
                    raise Wrong(f"a message of kind {opcode}, {payload[:10]!r}")
                port.sendall(payload[1:])
        if port in ready:
            data = port.recv(8192)
            sent += len(data)
            if told.get("cut") is not None and sent >= told["cut"]:
                return False
            if not data:
                return True
            connection.send(2, b"\0" + data)


def serve(handler, pod, query):
    """The whole of a connection; an Answer is raised before it is one."""
    server = handler.server
    told = server.state.get("ports") or {}
    if told.get("refuse"):
        raise error(told["refuse"], "the upgrade is refused")
    numbers = query.get("ports", [])
    if len(numbers) != 1 or not numbers[0].isdigit() or \
            not 0 < int(numbers[0]) < 65536:
        raise error(400, 'query parameter "ports" is required')
    number = int(numbers[0])
    connection = upgrade(handler, *shake_hands(handler, [PROTOCOL]))
    for channel in (0, 1):
        connection.send(2, bytes([channel]) + struct.pack("<H", number))
    whole = True
    try:
        with socket.create_connection(("127.0.0.1", number)) as port:
            whole = relay(told, connection, port)
    except ConnectionRefusedError:
        connection.send(2, b"\1" + (
            f"error forwarding port {number} to pod {pod}, uid : failed to "
            f"connect to localhost:{number} inside namespace: connection "
            "refused\n").encode())
    except Wrong as why:
        server.wrong.append(["portforward", str(why)])
    except OSError:
        pass
    finally:
        if whole:
            try:
                connection.send(8, struct.pack(">H", 1000))
            except OSError:
                pass
        handler.hang_up()
