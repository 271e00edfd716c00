#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A proxy that knows CONNECT, and nothing else.

    proxy.py --port-file FILE --log FILE

Writes its port into one file, and the host and port that it is asked for into
the other, a line each.  Ends when its standard input does.
"""

import argparse
import os
import socket
import sys
import threading


def pump(source, sink):
    try:
        while data := source.recv(65536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def serve(client, log):
    head = b""
    while b"\r\n\r\n" not in head:
        data = client.recv(65536)
        if not data:
            return
        head += data
    method, target = head.split()[:2]
    log.write(f"{method.decode()} {target.decode()}\n")
    log.flush()
    if method != b"CONNECT":
        client.sendall(b"HTTP/1.1 405 Method Not Allowed\r\n\r\n")
        client.close()
        return
    host, port = target.decode().rsplit(":", 1)
    server = socket.create_connection((host, int(port)))
    client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
    threading.Thread(target=pump, args=(server, client), daemon=True).start()
    pump(client, server)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port-file", required=True)
    parser.add_argument("--log", required=True)
    args = parser.parse_args()
    listener = socket.create_server(("127.0.0.1", 0))
    log = open(args.log, "a", encoding="ascii")

    def accept():
        while True:
            client, _ = listener.accept()
            threading.Thread(target=serve, args=(client, log),
                             daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    with open(args.port_file + ".new", "w", encoding="ascii") as file:
        file.write(f"{listener.getsockname()[1]}\n")
    os.rename(args.port_file + ".new", args.port_file)
    sys.stdin.read()
    os._exit(0)


main()
