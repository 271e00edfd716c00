#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""commits.py [ROOT [SINCE]]: each commit after SINCE that is no merge has a
first line "area: what to do", in lower case and without a full stop, and a
body that says what was wrong and why this mends it."""
import os
import re
import subprocess
import sys

import tree

# The last commit before this rule.
SINCE = "ec54a13"
SUBJECT = re.compile(r"[a-z][\w./, -]*: [^A-Z\s].*[^.\s]$")


def git(*words):
    return subprocess.run(["git", *words], check=False, capture_output=True,
                          text=True)


def main():
    os.chdir(tree.root())
    since = sys.argv[2] if len(sys.argv) > 2 else SINCE
    if git("rev-parse", "--verify", "-q", since + "^{commit}").returncode:
        print(f"skipped: this repository does not reach back to {since}")
        return
    said = git("log", "--no-merges", "--format=%h%x00%s%x00%b%x01",
               since + "..HEAD").stdout
    faults = []
    for entry in said.split("\x01"):
        if not entry.strip():
            continue
        name, subject, body = entry.strip("\n").split("\0")
        if not SUBJECT.match(subject):
            faults.append(f"{name}: '{subject}' is not 'area: what to do'")
        if not re.search(r"[a-z]{3}", body):
            faults.append(f"{name}: '{subject}' has no body")
    tree.finish(faults)


main()
