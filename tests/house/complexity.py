#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""complexity.py [ROOT]: no function is longer than LINES or has a cyclomatic
complexity over BRANCHES (McCabe's, a switch counting once for each case, as
pmccabe measures it).  Both may only fall."""
import os
import subprocess

import tree

LINES = 83
BRANCHES = 21


def main():
    os.chdir(tree.root())
    said = subprocess.run(["pmccabe"] + tree.sources(suffixes=(".c",)),
                          check=False, capture_output=True, text=True).stdout
    faults = []
    for row in said.splitlines():
        columns = row.split()
        _, branches, _, _, lines = map(int, columns[:5])
        if branches > BRANCHES:
            faults.append(f"{columns[5]}: {columns[6]}() has a complexity of "
                          f"{branches}, more than {BRANCHES}")
        if lines > LINES:
            faults.append(f"{columns[5]}: {columns[6]}() has {lines} lines, "
                          f"more than {LINES}")
    if not said:
        faults.append("pmccabe measured nothing")
    tree.finish(faults)


main()
