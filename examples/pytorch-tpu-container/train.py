"""Trains a small classifier on drawn bars: on the TPU that the environment
names, else on the CPU.

On a TPU node XRT_TPU_CONFIG says where the TPU is, on a TPU VM PJRT_DEVICE
says that it is here; jobrun launch sets the right one of them.
"""

import argparse
import os
import time

import torch
from torch import nn
from torch.nn.functional import cross_entropy

CLASSES = 4  # bars in four directions
SIZE = 16


def draw(count, seed):
    """Images with one noisy bar each, and its direction."""
    random = torch.Generator().manual_seed(seed)
    labels = torch.randint(CLASSES, (count,), generator=random)
    images = 1.5 * torch.randn(count, 1, SIZE, SIZE, generator=random)
    line = torch.arange(SIZE)
    for image, label in zip(images, labels):
        at = int(torch.randint(4, SIZE - 4, (1,), generator=random))
        across = torch.full((SIZE,), at)
        rows, columns = [(line, across), (across, line), (line, line),
                         (line, SIZE - 1 - line)][int(label)]
        image[0, rows, columns] += 2
    return images, labels


def train(index, args, xm=None):
    device = xm.xla_device() if xm else torch.device("cpu")
    torch.manual_seed(1)
    model = nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(4),
        nn.Flatten(), nn.Linear(16 * (SIZE // 4) ** 2, CLASSES)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    start = time.monotonic()
    for step in range(1, args.steps + 1):
        images, labels = draw(args.batch_size, seed=1000 * index + step)
        optimizer.zero_grad()
        loss = cross_entropy(model(images.to(device)), labels.to(device))
        loss.backward()
        if xm:
            xm.optimizer_step(optimizer, barrier=True)
        else:
            optimizer.step()
        if step % 20 == 0:
            rate = step * args.batch_size / (time.monotonic() - start)
            print(f"| Training Device={device}/{index} Epoch=1 Step={step} "
                  f"Loss={loss.item():.5f} Rate={rate:.2f}", flush=True)
    images, labels = draw(500, seed=0)
    with torch.no_grad():
        right = model(images.to(device)).cpu().argmax(1) == labels
    if index == 0:
        print(f"| Test Epoch=1 Accuracy={100 * right.float().mean():.2f}",
              flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--batch-size", type=int, default=32)
    args = parser.parse_args()
    node = os.environ.get("XRT_TPU_CONFIG")
    if node or os.environ.get("PJRT_DEVICE") == "TPU":
        import torch_xla.core.xla_model as xm
        import torch_xla.distributed.xla_multiprocessing as xmp
        # XRT must be told how many; PJRT sees for itself.
        count = int(os.environ["TPU_NUM_DEVICES"]) if node else None
        xmp.spawn(train, args=(args, xm), nprocs=count)
    else:
        train(0, args)


if __name__ == "__main__":
    main()
