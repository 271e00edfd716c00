#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""unique.py [ROOT]: a header's name and a struct's tag mean one thing in the
whole tree."""
import collections
import os
import re

import tree

DEFINED = re.compile(r"^(?:static |const )*struct (\w+) \{", re.M)


def main():
    os.chdir(tree.root())
    headers = collections.defaultdict(list)
    tags = collections.defaultdict(list)
    for path in tree.sources():
        if path.endswith(".h"):
            headers[os.path.basename(path)].append(path)
        text = tree.code(tree.read(path))
        for found in DEFINED.finditer(text):
            tags[found.group(1)].append(
                f"{path}:{tree.line_of(text, found.start(1))}")
    tree.finish([f"{places[0]}: the {what} '{name}' is also in "
                 + ", ".join(places[1:])
                 for what, all_names in (("header", headers), ("tag", tags))
                 for name, places in sorted(all_names.items())
                 if len(places) > 1])


main()
