#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""stale.py [ROOT]: no file includes a header of which it uses no name, and
none includes one twice."""
import os
import re

import tree

MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.M)
TAG = re.compile(r"\b(?:struct|enum|union)\s+(\w+)\s*\{")
# The last name before a parameter list, an array or the end of a declaration.
DECLARED = re.compile(r"\b(\w+)\s*(?:\[[^\]]*\]\s*)*(?:\(|;|=|,)")
CONSTANT = re.compile(r"^\s*([A-Z][A-Z0-9_]+)\s*(?:=[^,}]*)?[,}]?", re.M)


def names(path):
    """Whatever a header gives a name to, and a little more."""
    text = tree.code(tree.read(path))
    found = set(MACRO.findall(text)) | set(TAG.findall(text))
    for body in re.findall(r"\benum\b[^;{]*\{([^}]*)\}", text):
        found |= set(CONSTANT.findall(body))
    # Without the insides of structs: members are no names of the header.
    flat = re.sub(r"\b(?:struct|union)\s+\w+\s*\{.*?^\}", "", text,
                  flags=re.S | re.M)
    found |= set(re.findall(r"\b(\w+)\s*\(", flat))
    found |= set(re.findall(r"\bextern\b[^;]*?\b(\w+)\s*(?:\[[^\]]*\])*\s*;",
                            flat))
    found |= set(re.findall(r"^typedef\b.*?\b(\w+)\s*;", flat, re.M | re.S))
    # A header may be there for a struct that it only announces.
    found |= set(re.findall(r"^struct (\w+);", flat, re.M))
    return found


def main():
    os.chdir(tree.root())
    known = {}
    faults = []
    for path in tree.sources(tree.TOP + ("tests",)):
        text = tree.read(path)
        used = set(re.findall(r"\b\w+\b", tree.code(text)))
        seen = set()
        for found in tree.INCLUDE.finditer(text):
            header = found.group(2)
            at = f"{path}:{tree.line_of(text, found.start())}"
            if header in seen:
                faults.append(f"{at}: {header} is included twice")
            seen.add(header)
            if not os.path.exists(header) or header[:-2] == path[:-2]:
                continue
            if header not in known:
                known[header] = names(header)
            if not known[header] & used:
                faults.append(f"{at}: no name of {header} is used")
    tree.finish(faults)


main()
