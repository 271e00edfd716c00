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
    name = signal.Signals(number).name
    sys.stderr.write(f"rank {RANK}: stopped by {name}\n")
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
LOG_STEPS = 100
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
            raise ConnectionError("it closed the connection")
        view = view[n:]
    return data


class Peers:
    """Sockets by rank: to each worker on the master, else to the master."""

    def __init__(self, size):
        self.size = size
        deadline = time.monotonic() + START_TIMEOUT_S
        if RANK == 0:
            self.sockets = self._accept(deadline) if WORLD > 1 else {}
        else:
            self.sockets = {0: self._connect(deadline)}
        for peer in self.sockets.values():
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
        return dict(sorted(workers.items()))

    def _connect(self, deadline):
        while True:
            try:
                peer = socket.create_connection(ADDRESS, timeout=2)
                if peer.getsockname() == peer.getpeername():
                    # With nobody listening, TCP may pick the very port that
                    # it connects to, and the socket then talks to itself.
                    peer.close()
                    raise ConnectionError("not listening yet")
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
        try:
            if RANK == 0:
                for rank, peer in self.sockets.items():
                    part = receive(peer, gradient.nbytes)
                    gradient += np.frombuffer(part, "<f4")
                gradient /= WORLD
            for rank, peer in self.sockets.items():
                peer.sendall(gradient)
            if RANK != 0:
                part = receive(peer, gradient.nbytes)
                gradient[:] = np.frombuffer(part, "<f4")
        except OSError as e:
            raise ConnectionError(f"exchange with rank {rank}: {e}") from None


# The bars of a digit on a pocket calculator, as (row, column, height, width),
# and which of them each digit lights.
BARS = [(0, 0, 1, 5), (0, 0, 5, 1), (0, 4, 5, 1), (4, 0, 1, 5),
        (4, 0, 5, 1), (4, 4, 5, 1), (8, 0, 1, 5)]
DIGITS = ["012456", "25", "02346", "02356", "1235",
          "01356", "013456", "025", "0123456", "012356"]


def image_set(count, seed, rank, world):
    """Draw the rank's shard, as long as all others, of a set of `count`."""
    glyphs = np.zeros((len(DIGITS), 9, 5), "<f4")
    for glyph, lit in zip(glyphs, DIGITS):
        for row, column, height, width in (BARS[int(bar)] for bar in lit):
            glyph[row:row + height, column:column + width] = 1

    # The same dice on every rank, of which each keeps every world-th throw.
    dice = np.random.default_rng(seed)
    mine = slice(rank, count - count % world, world)
    label = dice.integers(len(DIGITS), size=count)[mine]
    row, column = (dice.integers(2, 5, size=(count, 2))[mine] + [0, 2]).T

    noise = np.random.default_rng([seed, rank])
    image = .4 * noise.standard_normal((len(label), SIZE, SIZE), "f4")
    for i, digit in enumerate(label):
        image[i, row[i]:row[i] + 9, column[i]:column[i] + 5] += glyphs[digit]
    return image.reshape(len(label), -1), label


SHAPES = [(SIZE * SIZE, HIDDEN), (HIDDEN,), (HIDDEN, len(DIGITS)),
          (len(DIGITS),)]


class Net:
    """One hidden layer.  The weights and their gradients are parts of one
    array each, which can then be sent and added as a whole."""

    def __init__(self, seed):
        size = sum(math.prod(shape) for shape in SHAPES)
        self.flat = np.zeros(size, "<f4")
        self.gradient = np.zeros(size, "<f4")
        self.weights = self._parts(self.flat)
        self.gradients = self._parts(self.gradient)
        dice = np.random.default_rng(seed)
        for w in self.weights:
            if w.ndim == 2:
                w[:] = dice.standard_normal(w.shape) * (2 / len(w)) ** .5

    @staticmethod
    def _parts(flat):
        ends = np.cumsum([math.prod(shape) for shape in SHAPES])
        return [part.reshape(shape)
                for part, shape in zip(np.split(flat, ends[:-1]), SHAPES)]

    def forward(self, x):
        w1, b1, w2, b2 = self.weights
        hidden = np.maximum(x @ w1 + b1, 0)
        return hidden, hidden @ w2 + b2

    def backward(self, x, label):
        """Set the gradients for a batch and return its loss."""
        hidden, score = self.forward(x)
        # The largest score becomes 0, so that exp() cannot overflow.
        score -= score.max(1, keepdims=True)
        p = np.exp(score)
        total = p.sum(1, keepdims=True)
        rows = np.arange(len(label))
        loss = float((np.log(total[:, 0]) - score[rows, label]).mean())

        d_score = p / total
        d_score[rows, label] -= 1
        d_score /= len(label)
        d_hidden = (d_score @ self.weights[2].T) * (hidden > 0)
        for gradient, value in zip(self.gradients, (
                x.T @ d_hidden, d_hidden.sum(0),
                hidden.T @ d_score, d_score.sum(0))):
            gradient[:] = value
        return loss

    def accuracy(self, x, label):
        return 100 * float((self.forward(x)[1].argmax(1) == label).mean())

    def save(self, path):
        # A reader sees the old model or the new one, never half of one.
        with open(path + ".part", "wb") as f:
            np.savez(f, **dict(zip(("w1", "b1", "w2", "b2"), self.weights)))
        os.replace(path + ".part", path)


def say(text):
    # One write for the line and its end: print() makes two when unbuffered.
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def now():
    return time.strftime("%H:%M:%S")


def train_epoch(net, peers, images, labels, epoch, args):
    dice = np.random.default_rng([args.seed, epoch, RANK])
    order = dice.permutation(len(labels))
    start = last = time.monotonic()
    done = since = 0
    for step, at in enumerate(range(0, len(order), args.batch_size), 1):
        batch = order[at:at + args.batch_size]
        loss = net.backward(images[batch], labels[batch])
        peers.average(net.gradient)
        net.flat -= args.lr * net.gradient
        done += len(batch)
        since += len(batch)
        if step % LOG_STEPS == 0:
            t = time.monotonic()
            say(f"| Training Device=cpu:0/{RANK} Epoch={epoch} Step={step}"
                f" Loss={loss:.5f} Rate={since / (t - last):.2f}"
                f" GlobalRate={done / (t - start):.2f} Time={now()}")
            last, since = t, 0


def train(args):
    net = Net(args.seed)
    images, labels = image_set(args.samples, args.seed, RANK, WORLD)
    held_out = image_set(HELD_OUT, args.seed + 1, 0, 1)
    peers = Peers(net.flat.size)
    path = os.path.join(args.model_dir, "model.npz")
    best = -1.0
    for epoch in range(1, args.epochs + 1):
        train_epoch(net, peers, images, labels, epoch, args)
        if RANK != 0:
            continue
        say(f"Epoch {epoch} train end {now()}")
        accuracy = net.accuracy(*held_out)
        say(f"| Test Epoch={epoch} Accuracy={accuracy:.2f}")
        if accuracy > best:
            best = accuracy
            net.save(path)
    if RANK == 0:
        say(f"Max Accuracy={best:.2f}%")
        say(f"Best model saved to {os.path.abspath(path)}")


def parse_args():
    def positive(kind):
        def parse(text):
            value = kind(text)
            if not 0 < value < math.inf:
                raise ValueError
            return value
        parse.__name__ = f"positive {kind.__name__}"
        return parse

    count = positive(int)
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=count, default=6,
                        help="passes (%(default)s)")
    parser.add_argument("--batch-size", type=count, default=32,
                        help="images per step and process (%(default)s)")
    parser.add_argument("--lr", type=positive(float), default=.3,
                        help="learning rate (%(default)s)")
    parser.add_argument("--seed", type=count, default=1,
                        help="of images, weights and order (%(default)s)")
    parser.add_argument("--samples", type=count, default=20000,
                        help="training images of all processes (%(default)s)")
    parser.add_argument("--model-dir", help="where model.npz goes; otherwise "
                        "a local --job-dir, $JOBRUN_RUN_DIR or .")
    parser.add_argument("--job-dir", help="trainingInput.jobDir, as jobrun "
                        "passes it on")
    args = parser.parse_args()
    if args.samples < WORLD * args.batch_size:
        parser.error(f"--samples {args.samples} is less than one batch of "
                     f"{args.batch_size} for each of {WORLD} processes")
    if args.job_dir and "://" in args.job_dir:
        args.job_dir = None  # a bucket, which open() cannot write to
    args.model_dir = (args.model_dir or args.job_dir
                      or os.environ.get("JOBRUN_RUN_DIR") or ".")
    return args


def main():
    args = parse_args()
    try:
        os.makedirs(args.model_dir, exist_ok=True)
        train(args)
    except OSError as e:
        # When the whole job is stopped, a peer's end can be seen before our
        # own SIGTERM comes; that one should then decide how this rank ends.
        time.sleep(.5)
        sys.exit(f"rank {RANK}: training failed: {e}")


if __name__ == "__main__":
    main()
