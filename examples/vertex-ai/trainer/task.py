"""Fits a line, with nothing but the standard library."""
import argparse


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=20)
    args = parser.parse_args()
    data = [(x / 10, 3 * x / 10 + 1) for x in range(10)]
    a = b = 0.0
    for step in range(1, args.steps + 1):
        errors = [a * x + b - y for x, y in data]
        a -= 0.3 * sum(e * x for e, (x, _) in zip(errors, data)) / len(data)
        b -= 0.3 * sum(errors) / len(data)
        loss = sum(e * e for e in errors) / len(data)
        print(f"Training Epoch=1 Step={step} Loss={loss:.5f}", flush=True)


if __name__ == "__main__":
    main()
