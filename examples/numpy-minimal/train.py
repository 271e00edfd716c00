"""Data-parallel training of a small network on drawn digits, with NumPy only.

Every process of the job runs this file.  The master (RANK 0) listens at
MASTER_ADDR:MASTER_PORT.  After each batch the workers send it their gradients
and get back the average over all processes, so that all of them take the same
step and their weights stay equal.  Without these variables it trains alone.
"""

import argparse
import math
import os
import signal
import socket
import struct
import sys
import time

RANK = int(os.environ.get("RANK", "0"))
WORLD = int(os.environ.get("WORLD_SIZE", "1"))
ADDRESS = (os.environ.get("MASTER_ADDR", "127.0.0.1"),
           int(os.environ.get("MASTER_PORT", "29500")))


def stop(number, frame):
    sys.stderr.write(f"rank {RANK}: stopped by {signal.Signals(number).name}\n")
    sys.exit(128 + number)


# Before the import below, which can take a second.
signal.signal(signal.SIGTERM, stop)
signal.signal(signal.SIGINT, stop)

try:
    import numpy as np
except ImportError as e:
    sys.exit(f"cannot import numpy ({e}): install python3-numpy")

SIZE = 16
HIDDEN = 64
HELD_OUT = 2000
LOG_STEPS = 40
START_TIMEOUT_S = 60  # until all processes are there
STEP_TIMEOUT_S = 30   # until a peer has done its batch

# What a worker says first: its rank, the size of the job, of the gradient.
HELLO = struct.Struct("!4sIII")
MAGIC = b"jrnp"


def receive(peer, size):
    data = bytearray(size)
    view = memoryview(data)
    while view:
        n = peer.recv_into(view)
        if n == 0:
            raise ConnectionError("a peer closed the connection")
        view = view[n:]
    return data


class Peers:
    """The sockets to the other processes: one on a worker, WORLD - 1 on the
    master."""

    def __init__(self, size):
        self.size = size
        deadline = time.monotonic() + START_TIMEOUT_S
        if RANK == 0:
            self.sockets = self._accept(deadline) if WORLD > 1 else []
        else:
            self.sockets = [self._connect(deadline)]
        for peer in self.sockets:
            peer.settimeout(STEP_TIMEOUT_S)
            # A gradient ends in a short packet that must not wait for an ACK.
            peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def _accept(self, deadline):
        workers = {}
        with socket.create_server(ADDRESS) as server:
            while len(workers) < WORLD - 1:
                server.settimeout(max(deadline - time.monotonic(), .001))
                try:
                    peer, _ = server.accept()
                except TimeoutError:
                    raise TimeoutError(f"only {len(workers)} of {WORLD - 1} "
                                       "workers came") from None
                peer.settimeout(2)
                try:
                    magic, rank, world, size = HELLO.unpack(
                        receive(peer, HELLO.size))
                except OSError:
                    magic = rank = None
                # A port scanner or a process of another job is not a worker.
                if (magic == MAGIC and (world, size) == (WORLD, self.size)
                        and 0 < rank < WORLD and rank not in workers):
                    workers[rank] = peer
                else:
                    peer.close()
        # Sums of floats depend on their order: keep it from run to run.
        return [workers[rank] for rank in sorted(workers)]

    def _connect(self, deadline):
        while True:
            try:
                peer = socket.create_connection(ADDRESS, timeout=2)
                peer.sendall(HELLO.pack(MAGIC, RANK, WORLD, self.size))
                return peer
            except OSError as e:
                # Processes start in any order; the master may come later.
                if time.monotonic() > deadline:
                    raise TimeoutError(f"no master at {ADDRESS[0]}:"
                                       f"{ADDRESS[1]}: {e}") from None
                time.sleep(.1)

    def average(self, gradient):
        """Replace `gradient` by its mean over all processes."""
        if RANK == 0:
            for peer in self.sockets:
                gradient += np.frombuffer(receive(peer, gradient.nbytes), "<f4")
            gradient /= WORLD
        for peer in self.sockets:
            peer.sendall(gradient)
        if RANK != 0:
            gradient[:] = np.frombuffer(
                receive(self.sockets[0], gradient.nbytes), "<f4")


# The bars of a digit on a pocket calculator, as (row, column, height, width).
BARS = [(0, 0, 1, 5), (0, 0, 5, 1), (0, 4, 5, 1), (4, 0, 1, 5), (4, 0, 5, 1),
        (4, 4, 5, 1), (8, 0, 1, 5)]
DIGITS = ["0124560"[:0] + bars for bars in (
    "012456", "25", "02346", "02356", "1235", "01356", "013456", "025",
    "0123456", "012356")]
