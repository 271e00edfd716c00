"""Trains a CNN on CIFAR-10 from WebDataset shards: POSIX tar files, in which
NAME.bin (3072 bytes, red, green and blue) and NAME.cls are one sample.

Each host reads shards of its own, and each process of a host some of those, as
nodesplitter and splitter of WebDataset do.  Without torch_xla it trains on the
CPU, and without TRAIN_SHARDS on images that it draws: a rehearsal.
"""

import argparse
import os
import re
import subprocess
import tarfile
import time

import torch
from torch import nn
from torch.nn.functional import cross_entropy

try:
    import torch_xla
    import torch_xla.core.xla_model as xm
    import torch_xla.runtime as xr
except ImportError:
    torch_xla = None


def expand(url):
    """gs://b/train-{000..639}.tar: all of them."""
    found = re.fullmatch(r"(.*)\{(\d+)\.\.(\d+)\}(.*)", url)
    if not found:
        return [url]
    before, first, last, after = found.groups()
    return [f"{before}{i:0{len(first)}d}{after}"
            for i in range(int(first), int(last) + 1)]


def read_shard(url):
    """The images and labels of a shard, as it streams."""
    reader = ["gsutil", "-q"] if url.startswith("gs://") else []
    with subprocess.Popen([*reader, "cat", url],
                          stdout=subprocess.PIPE) as process:
        parts = {}
        with tarfile.open(fileobj=process.stdout, mode="r|") as shard:
            for member in shard:
                name, _, kind = member.name.partition(".")
                one = parts.setdefault(name, {})
                one[kind] = shard.extractfile(member).read()
                if {"bin", "cls"} <= one.keys():
                    del parts[name]
                    image = torch.tensor(list(one["bin"])) / 255
                    yield image.view(3, 32, 32), int(one["cls"])


def draw(count, seed):
    random = torch.Generator().manual_seed(seed)
    for label in torch.randint(10, (count,), generator=random).tolist():
        image = torch.rand(3, 32, 32, generator=random) / 2
        image[:, 3 * label:3 * label + 3] += 0.5
        yield image, label


def batches(args, rank, world, epoch):
    if args.shards:
        mine = expand(args.shards)[rank::world]
        stream = (one for url in mine for one in read_shard(url))
    else:
        stream = draw(args.rehearse * args.batch_size, 1000 * epoch + rank)
    images, labels = [], []
    for image, label in stream:
        images.append(image)
        labels.append(label)
        if len(images) == args.batch_size:
            yield torch.stack(images), torch.tensor(labels)
            images, labels = [], []


def train(index, args):
    tpu = torch_xla is not None
    device = xm.xla_device() if tpu else torch.device("cpu")
    rank = xr.global_ordinal() if tpu else int(os.environ.get("RANK", 0))
    world = xr.world_size() if tpu else int(os.environ.get("WORLD_SIZE", 1))
    torch.manual_seed(1)
    model = nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(4),
        nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(4),
        nn.Flatten(), nn.Linear(256, 10)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), args.lr, momentum=0.9)
    for epoch in range(1, args.epochs + 1):
        start = time.monotonic()
        for step, (images, labels) in enumerate(
                batches(args, rank, world, epoch)):
            optimizer.zero_grad()
            loss = cross_entropy(model(images.to(device)), labels.to(device))
            loss.backward()
            if tpu:
                xm.optimizer_step(optimizer, barrier=True)
            else:
                optimizer.step()
            if step % args.log_steps == 0:
                rate = (step + 1) * args.batch_size / (
                    time.monotonic() - start)
                print(f"| Training Device=xla:0/{rank} Epoch={epoch} "
                      f"Step={step} Loss={loss.item():.5f} Rate={rate:.2f} "
                      f"GlobalRate={rate * world:.2f} "
                      f"Time={time.strftime('%H:%M:%S')}", flush=True)
    if rank == 0:
        torch.save(model.cpu().state_dict(), os.path.join(
            os.environ.get("JOBRUN_RUN_DIR", "."), "model.pt"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--batch-size", type=int, default=128)
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--log-steps", type=int, default=10)
    parser.add_argument("--shards", default=os.environ.get("TRAIN_SHARDS"))
    parser.add_argument("--rehearse", type=int, default=20,
                        help="steps of an epoch without shards")
    args = parser.parse_args()
    if torch_xla is not None:
        torch_xla.launch(train, args=(args,))
    else:
        train(0, args)


if __name__ == "__main__":
    main()
