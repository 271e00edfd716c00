"""Trains a CNN on WebDataset shards: a command gives this process's share of
them as one tar file, in which NAME.bin and NAME.cls are a sample.
"""

import argparse
import os
import subprocess
import tarfile
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.functional import cross_entropy


def samples(epoch):
    """The samples of this process in an epoch: as many for everyone."""
    left = int(os.environ["JOBRUN_DATA_TRAIN_SAMPLES"])
    command = os.environ["JOBRUN_DATA_TRAIN_STREAM"]
    env = {**os.environ, "JOBRUN_EPOCH": str(epoch)}
    with subprocess.Popen(command, shell=True, env=env,
                          stdout=subprocess.PIPE) as reader:
        # All shards come as one tar file.
        with tarfile.open(fileobj=reader.stdout, mode="r|") as shards:
            parts = {}
            for member in shards:
                name, _, kind = member.name.partition(".")
                one = parts.setdefault(name, {})
                one[kind] = shards.extractfile(member).read()
                if {"bin", "cls"} <= one.keys() and left:
                    del parts[name]
                    left -= 1
                    image = torch.frombuffer(bytearray(one["bin"]),
                                             dtype=torch.uint8)
                    yield image.view(3, 32, 32) / 255, int(one["cls"])
        # Only this says whether what came was all.
        if reader.wait():
            raise RuntimeError(f"{command}: exit status {reader.returncode}")
    if left:
        raise RuntimeError(f"{left} samples are missing")


def batches(epoch, size):
    images, labels = [], []
    for image, label in samples(epoch):
        images.append(image)
        labels.append(label)
        if len(images) == size:
            yield torch.stack(images), torch.tensor(labels)
            images, labels = [], []


def average(model):
    for parameter in model.parameters():
        dist.all_reduce(parameter.grad)
        parameter.grad /= dist.get_world_size()


def train_epoch(model, optimizer, epoch, args):
    """Returns the share of all images that were recognised, in percent."""
    start = time.monotonic()
    seen = torch.zeros(2)  # right ones, and all
    for step, (images, labels) in enumerate(batches(epoch, args.batch_size)):
        optimizer.zero_grad()
        scores = model(images)
        loss = cross_entropy(scores, labels)
        loss.backward()
        average(model)
        optimizer.step()
        seen += torch.tensor([float((scores.argmax(1) == labels).sum()),
                              len(labels)])
        if step % args.log_steps == 0:
            rate = seen[1].item() / (time.monotonic() - start)
            print(f"| Training Device=cpu:0/{dist.get_rank()} "
                  f"Epoch={epoch + 1} Step={step} Loss={loss.item():.5f} "
                  f"Rate={rate:.2f}", flush=True)
    dist.all_reduce(seen)
    return 100 * seen[0].item() / seen[1].item()


def save(model, epoch):
    """Whole or not at all: written beside, then renamed."""
    folder = os.environ["JOBRUN_CHECKPOINT_DIR"]
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, f"model-{epoch + 1}.pt")
    torch.save({"model": model.state_dict(), "epoch": epoch + 1},
               path + ".tmp")
    os.rename(path + ".tmp", path)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--log-steps", type=int, default=10)
    args = parser.parse_args()
    dist.init_process_group("gloo")
    torch.manual_seed(1)
    model = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(4),
        nn.Flatten(), nn.Linear(1024, 10))
    optimizer = torch.optim.SGD(model.parameters(), args.lr, momentum=0.9)
    first = 0
    if os.environ.get("JOBRUN_CHECKPOINT"):
        saved = torch.load(os.environ["JOBRUN_CHECKPOINT"])
        model.load_state_dict(saved["model"])
        first = saved["epoch"]
    for epoch in range(first, args.epochs):
        accuracy = train_epoch(model, optimizer, epoch, args)
        if dist.get_rank() == 0:
            print(f"| Train Epoch={epoch + 1} Accuracy={accuracy:.2f}",
                  flush=True)
            save(model, epoch)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
