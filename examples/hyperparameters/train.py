"""Fits a line by gradient descent, with the learning rate and the batch size
that a trial is given, and reports how well.  Needs nothing but Python."""
import argparse
import json
import os
import random
import time

parser = argparse.ArgumentParser()
parser.add_argument("--learning-rate", type=float, required=True)
parser.add_argument("--batch-size", type=int, required=True)
parser.add_argument("--init", choices=["zero", "one"], required=True)
parser.add_argument("--epochs", type=int, default=20)
args = parser.parse_args()

rng = random.Random(0)
data = [(x, 3 * x - 1 + rng.gauss(0, 0.1)) for x in (rng.uniform(-1, 1) for _ in range(400))]
train, test = data[:320], data[320:]
a = b = 0.0 if args.init == "zero" else 1.0


def report(metric, step):
    """As cloudml-hypertune does: HyperTune().report_hyperparameter_tuning_metric()."""
    path = os.environ.get("CLOUD_ML_HP_METRIC_FILE")
    if path:
        with open(path, "a") as file:
            json.dump({"test_loss": str(metric), "global_step": str(step),
                       "timestamp": time.time(),
                       "trial": os.environ.get("CLOUD_ML_TRIAL_ID", "0")}, file)
            file.write("\n")


for epoch in range(1, args.epochs + 1):
    rng.shuffle(train)
    for i in range(0, len(train), args.batch_size):
        batch = train[i:i + args.batch_size]
        errors = [(x, a * x + b - y) for x, y in batch]
        a -= args.learning_rate * 2 * sum(e * x for x, e in errors) / len(batch)
        b -= args.learning_rate * 2 * sum(e for _, e in errors) / len(batch)
    loss = sum((a * x + b - y) ** 2 for x, y in test) / len(test)
    print(f"Epoch={epoch} test_loss={loss:.6f}", flush=True)
    report(loss, epoch)
