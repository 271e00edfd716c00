#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""comments.py [ROOT]: a comment names its subject; no sentence in one begins
with Of, Those, Who or That."""
import os
import re

import tree

# Between the parts of a comment stand blanks and the stars of its lines.
BLANK = r"[\s*]"
BEGINS = re.compile(
    rf"(?:\A/[*/]{BLANK}*|[.!?]['\")]*{BLANK}+|\n[ \t]*\*?[ \t]*\n{BLANK}*)"
    rf"((?:Of|Those|Who|That){BLANK}+[a-z][\w'-]*)")


def main():
    os.chdir(tree.root())
    faults = []
    for path in tree.sources():
        text = tree.read(path)
        for offset, comment in tree.comments(text):
            for found in BEGINS.finditer(comment):
                line = tree.line_of(text, offset + found.start(1))
                said = re.sub(rf"{BLANK}+", " ", found.group(1))
                faults.append(f"{path}:{line}: a sentence begins with "
                              f"'{said}': name its subject")
    tree.finish(faults)


main()
