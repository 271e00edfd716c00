#!/usr/bin/python3
"""foreign.py JOBRUN FILE...: imports each file, whose comments say what must
come out ("# want: path=value"; null: nothing) and what is lost
("# lost: text"), no less and no more, and other comments ("# note: text");
what comes out is valid."""

import json
import re
import subprocess
import sys

import yaml


def at(value, path):
    for word in path.split("."):
        value = value[word]
    return value


def problems(jobrun, file):
    with open(file, encoding="utf-8") as stream:
        text = stream.read()
    wanted = [w for line in re.findall(r"^# want: (.*)", text, re.M) for w in
              ([line] if "=[" in line and line.count("=") == 1 else re.findall(r'\S+=(?:\[.*?\](?= |$)|\S*)', line))]
    lost = re.findall(r"^# lost: (.*)", text, re.M)
    run = subprocess.run([jobrun, "import", file], capture_output=True, text=True, check=False)
    for note in re.findall(r"^# (note: .*)", text, re.M):
        if run.stdout.count(f"# {note[6:]}\n") != 1:
            yield f"does not say once {note}: {run.stdout}"
    if run.returncode != (65 if lost else 0):
        yield f"exits {run.returncode}: {run.stderr}"
    comments = [line for line in run.stdout.splitlines() if line.startswith(f"# {file}:")]
    if len(comments) != len(lost):
        yield f"{len(comments)} lost, not {len(lost)}: {comments}"
    for one in lost:
        if not any(one in comment for comment in comments):
            yield f"does not say that it lost {one}: {comments}"
    job = next(yaml.safe_load_all(run.stdout), None) or {}
    for want in wanted:
        path, value = want.split("=", 1)
        try:
            have = at(job, path)
        except (KeyError, TypeError):
            have = None
        have = have if isinstance(have, str) else json.dumps(have, separators=(",", ":"))
        if have != value:
            yield f"{path} is {have}, not {value}"
    if run.stdout:
        checked = subprocess.run([jobrun, "validate", "-"], input=run.stdout, capture_output=True, text=True, check=False)
        if checked.returncode:
            yield f"is not valid: {checked.stdout}{checked.stderr}"
    named = subprocess.run([jobrun, "validate", file], capture_output=True, text=True, check=False)
    if "'jobrun import FILE' converts it to a job file" not in named.stdout:
        yield f"validate does not name import: {named.stdout}"


def main():
    jobrun, *files = sys.argv[1:]
    found = [f"{file}: {line}" for file in files for line in problems(jobrun, file)]
    print("\n".join(found))
    return 1 if found or len(files) < 40 else 0


if __name__ == "__main__":
    sys.exit(main())
