"""Fits a line to noisy points by gradient descent, in plain Python.

It is here so that the first job of this repository runs anywhere. What it
keeps goes to $JOBRUN_RUN_DIR, the folder of the run.
"""
import argparse
import json
import os
import random


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--lr", type=float, default=0.1)
    args = parser.parse_args()

    rng = random.Random(1)
    xs = [rng.uniform(-1, 1) for _ in range(1000)]
    points = [(x, 3 * x - 2 + rng.gauss(0, 0.1)) for x in xs]
    slope = offset = 0.0
    for epoch in range(1, args.epochs + 1):
        loss = 0.0
        rng.shuffle(points)
        for x, y in points:
            miss = slope * x + offset - y
            slope -= args.lr * miss * x
            offset -= args.lr * miss
            loss += miss * miss / len(points)
        print(f"Epoch={epoch} Loss={loss:.5f}")

    folder = os.environ.get("JOBRUN_RUN_DIR", ".")
    with open(os.path.join(folder, "model.json"), "w") as file:
        json.dump({"slope": slope, "offset": offset}, file)
    print(f"y = {slope:.2f} x {offset:+.2f}, saved to {folder}/model.json")


if __name__ == "__main__":
    main()
