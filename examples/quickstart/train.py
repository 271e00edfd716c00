"""Data-parallel training of a small CNN on drawn shapes, on CPUs only.

Every process of the job runs this file.  It learns its place from the
variables of torch.distributed (RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT),
and trains alone where they are not set.
"""

import argparse
import datetime
import math
import os
import signal
import sys
import threading
import time

RANK = int(os.environ.setdefault("RANK", "0"))
WORLD = int(os.environ.setdefault("WORLD_SIZE", "1"))
MASTER = os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
os.environ.setdefault("MASTER_PORT", "29500")

# The failures that torch logs also come as exceptions, and those we report.
os.environ.setdefault("TORCH_CPP_LOG_LEVEL", "FATAL")
# Gloo looks up the host's name otherwise, in vain on a laptop without network.
if MASTER in ("127.0.0.1", "localhost"):
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")


def stop_on_signals():
    """End with 128 + signal, also while torch waits for another process.

    Python runs its own handlers only between two bytecodes, and a wait for
    gradients inside torch may last minutes.  That does not hold up sigwait.
    """
    stops = {signal.SIGTERM, signal.SIGINT}
    signal.pthread_sigmask(signal.SIG_BLOCK, stops)

    def wait():
        number = signal.sigwait(stops)
        name = signal.Signals(number).name
        os.write(2, f"rank {RANK}: stopped by {name}\n".encode())
        os._exit(128 + number)

    threading.Thread(target=wait, daemon=True).start()


# Before the import below, so that the threads of torch inherit the mask.
stop_on_signals()

try:
    import torch
    import torch.distributed as dist
    from torch import nn
    from torch.nn.functional import cross_entropy
    from torch.nn.parallel import DistributedDataParallel
except ImportError as e:
    sys.exit(f"cannot import torch ({e}): install python3-torch, "
             "or run examples/numpy-minimal")

SIZE = 28
HELD_OUT = 3000
LOG_STEPS = 20
PEER_TIMEOUT = datetime.timedelta(seconds=60)

# Each takes the two coordinates of a pixel in the frame of the shape, and the
# distances from its centre: round and square.
SHAPES = [
    lambda u, v, r, s: r < .50,                                      # disc
    lambda u, v, r, s: (r < .50) & (r > .30),                        # ring
    lambda u, v, r, s: s < .45,                                      # square
    lambda u, v, r, s: (s < .45) & (s > .27),                        # frame
    lambda u, v, r, s: u.abs() + v.abs() < .60,                      # diamond
    lambda u, v, r, s: (v < .45) & (2 * u.abs() - .5 < v),           # triangle
    lambda u, v, r, s: (s < .50) & ((u * v).abs() < .13 * s),        # plus
    lambda u, v, r, s: (s < .45) & (abs(u.abs() - v.abs()) < .18),   # cross
    lambda u, v, r, s: (v.abs() < .14) & (u.abs() < .50),            # bar
    lambda u, v, r, s: (abs(v.abs() - .25) < .10) & (u.abs() < .5),  # two bars
]


def image_set(count, seed):
    """Draw this rank's images and labels out of a set of `count`.

    All ranks roll the same dice for the whole set and keep every WORLD-th
    image.  The shards are equally long: a rank with one batch more than the
    others would wait for their gradients for ever.
    """
    dice = torch.Generator().manual_seed(seed)
    label = torch.randint(len(SHAPES), (count,), generator=dice)
    pose = torch.rand(count, 5, 1, 1, generator=dice)
    mine = slice(RANK, count - count % WORLD, WORLD)
    label = label[mine]
    turn, scale, left, up, light = pose[mine].unbind(1)

    turn = (turn - .5) * math.radians(30)
    scale = .75 + .45 * scale
    axis = torch.linspace(-1, 1, SIZE)
    x = axis.view(1, 1, SIZE) - .8 * (left - .5)
    y = axis.view(1, SIZE, 1) - .8 * (up - .5)
    u = (x * turn.cos() + y * turn.sin()) / scale
    v = (y * turn.cos() - x * turn.sin()) / scale

    image = torch.empty_like(u)
    for i, shape in enumerate(SHAPES):
        a, b = u[label == i], v[label == i]
        image[label == i] = shape(a, b, torch.hypot(a, b),
                                  torch.maximum(a.abs(), b.abs())).float()
    dice.manual_seed(seed + 1000 * (RANK + 1))
    noise = torch.randn(image.shape, generator=dice)
    return ((.6 + .4 * light) * image + .3 * noise).unsqueeze(1), label


def make_net():
    return nn.Sequential(
        nn.Conv2d(1, 16, 5, padding=2, stride=2), nn.ReLU(),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 32, 3, padding=1), nn.ReLU(),
        nn.Flatten(), nn.Linear(32 * (SIZE // 4) ** 2, 64), nn.ReLU(),
        nn.Linear(64, len(SHAPES)))


def say(text):
    # One write for the line and its end: print() makes two when unbuffered.
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def now():
    return time.strftime("%H:%M:%S")


def train_epoch(net, optimizer, images, labels, epoch, args):
    dice = torch.Generator().manual_seed(args.seed + 100 * epoch + RANK)
    order = torch.randperm(len(labels), generator=dice)
    start = last = time.monotonic()
    done = since = 0
    for step, batch in enumerate(order.split(args.batch_size), 1):
        loss = cross_entropy(net(images[batch]), labels[batch])
        optimizer.zero_grad()
        loss.backward()  # averages the gradients of all ranks
        optimizer.step()
        done += len(batch)
        since += len(batch)
        if step % LOG_STEPS == 0:
            t = time.monotonic()
            say(f"| Training Device=cpu:0/{RANK} Epoch={epoch} Step={step}"
                f" Loss={loss.item():.5f} Rate={since / (t - last):.2f}"
                f" GlobalRate={done / (t - start):.2f} Time={now()}")
            last, since = t, 0


@torch.no_grad()
def evaluate(net, images, labels):
    """Return the accuracy over the shards of all ranks, in percent."""
    right = sum((net(x).argmax(1) == y).sum()
                for x, y in zip(images.split(500), labels.split(500)))
    counts = torch.stack([right, torch.tensor(len(labels))])
    dist.all_reduce(counts)
    return 100 * counts[0].item() / counts[1].item()


def save(net, path):
    # A reader sees the old model or the new one, never half of one.
    torch.save(net.state_dict(), path + ".part")
    os.replace(path + ".part", path)


def train(args):
    dist.init_process_group("gloo", timeout=PEER_TIMEOUT)
    images, labels = image_set(args.samples, args.seed)
    held_out = image_set(HELD_OUT, args.seed + 1)
    torch.manual_seed(args.seed)
    net = make_net()
    ddp = DistributedDataParallel(net)
    optimizer = torch.optim.Adam(ddp.parameters(), lr=args.lr)
    path = os.path.join(args.model_dir, "model.pt")
    best = -1.0
    for epoch in range(1, args.epochs + 1):
        for group in optimizer.param_groups:
            # Smaller steps towards the end settle down in the minimum.
            group["lr"] = args.lr * (1 - (epoch - 1) / args.epochs)
        train_epoch(ddp, optimizer, images, labels, epoch, args)
        if RANK == 0:
            say(f"Epoch {epoch} train end {now()}")
        accuracy = evaluate(net, *held_out)
        if RANK == 0:
            say(f"| Test Epoch={epoch} Accuracy={accuracy:.2f}")
            if accuracy > best:
                save(net, path)
        best = max(best, accuracy)
    if RANK == 0:
        say(f"Max Accuracy={best:.2f}%")
        say(f"Best model saved to {os.path.abspath(path)}")
    # The job ends when its master does, so it must not leave first.
    dist.barrier()
    dist.destroy_process_group()


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
    parser.add_argument("--epochs", type=count, default=5,
                        help="passes (%(default)s)")
    parser.add_argument("--batch-size", type=count, default=40,
                        help="images per step and process (%(default)s)")
    parser.add_argument("--lr", type=positive(float), default=.003,
                        help="learning rate (%(default)s)")
    parser.add_argument("--seed", type=count, default=1,
                        help="of images, weights and order (%(default)s)")
    parser.add_argument("--samples", type=count, default=12000,
                        help="training images of all processes (%(default)s)")
    parser.add_argument("--model-dir", help="where model.pt goes; otherwise a "
                        "local --job-dir, $JOBRUN_RUN_DIR or .")
    parser.add_argument("--job-dir", help="trainingInput.jobDir, as jobrun "
                        "passes it on")
    args = parser.parse_args()
    if args.samples < WORLD * args.batch_size:
        parser.error(f"--samples {args.samples} is less than one batch of "
                     f"{args.batch_size} for each of {WORLD} processes")
    if args.job_dir and "://" in args.job_dir:
        args.job_dir = None  # a bucket, which torch.save cannot write to
    args.model_dir = (args.model_dir or args.job_dir
                      or os.environ.get("JOBRUN_RUN_DIR") or ".")
    return args


def main():
    args = parse_args()
    try:
        os.makedirs(args.model_dir, exist_ok=True)
        train(args)
    except (OSError, RuntimeError) as e:
        # When the whole job is stopped, a peer's end can be seen before our
        # own SIGTERM comes; that one should then decide how this rank ends.
        time.sleep(.5)
        text = str(e).strip().split("\n")[0]
        sys.stderr.write(f"rank {RANK}: training failed: {text}\n")
        # The usual way out waits for gloo's threads, and they for the peers.
        os._exit(1)


if __name__ == "__main__":
    main()
