"""Trains on shards.Shards, and resumes in the middle of an epoch."""

import argparse
import os
import sys

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader

from shards import Shards


def save(step, weight, state):
    """A folder, which gets its name when it is whole."""
    states = [b""] * dist.get_world_size()
    dist.all_gather_object(states, state)
    if dist.get_rank() > 0:
        return
    folder = os.path.join(os.environ["JOBRUN_CHECKPOINT_DIR"], f"step-{step}")
    os.makedirs(folder + ".tmp", exist_ok=True)
    torch.save({"weight": weight, "step": step},
               os.path.join(folder + ".tmp", "model.pt"))
    with open(os.path.join(folder + ".tmp", "jobrun-data"), "wb") as file:
        file.write(b"".join(states))
    os.rename(folder + ".tmp", folder)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--save-every", type=int, default=5)
    parser.add_argument("--steps", type=int, help="fail after so many steps")
    parser.add_argument("--workers", type=int, default=2)
    args = parser.parse_args()
    dist.init_process_group("gloo")
    weight, step, taken = torch.zeros(1), 0, {}
    if os.environ.get("JOBRUN_CHECKPOINT"):
        saved = torch.load(os.path.join(os.environ["JOBRUN_CHECKPOINT"],
                                        "model.pt"))
        weight, step = saved["weight"], saved["step"]
        print(f"resumes after step {step}", flush=True)
    train = Shards("train", args.workers)
    loader = iter(DataLoader(train, batch_size=4, num_workers=args.workers))
    while True:
        batch = next(loader, None)
        # Shares may differ: go on while anybody has samples.
        gradient = torch.zeros(2)
        if batch:
            workers, numbers, sample = batch
            taken.update(zip(workers.tolist(), numbers.tolist()))
            values = torch.tensor([float(text) for text in sample["txt"]])
            gradient[0] = (weight - values).sum()
            gradient[1] = len(values)
        dist.all_reduce(gradient)
        if not gradient[1]:
            break
        weight -= 0.1 * gradient[0] / gradient[1]
        step += 1
        for key in sample["key"] if batch else []:
            print(f"step {step} sample {key}", flush=True)
        if step % args.save_every == 0:
            save(step, weight, train.state(taken))
        if step == args.steps:
            sys.exit(1)
    print(f"done: {weight.item():.2f} after {step} steps", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
