#!/usr/bin/python3
"""Says where a provider is called by its name away from its folder.

usage: names.py [TREE]

What a provider can do it says by traits (core/job/traits.h), and fields, rules
and commands ask for those: so a folder and a line in the registry are all that
makes a provider.  Read are the string literals of all C files but tests.  A
name counts wherever it is a word of a literal; "local", a word of English, only
where it is the whole of one.
"""

import fnmatch
import glob
import os
import re
import sys

ENGLISH = {"local"}

# (file, or folder with a slash at its end; literals, as fnmatch has them; why).
# Each must be needed.
EXCUSED = [
    ("schema/rules/rules_machine.c", "jobrun.provider: vertex-ai *", "a hint"),
    ("schema/rules/rules_tpu.c", "jobrun.provider: tpu-vm *", "a hint"),
    ("schema/read/reading.c", "* jobrun.provider: kubernetes", "a hint"),
    ("providers/google/tpu/tpu_run.c", "*set jobrun.provider to vertex-ai",
     "a hint"),
    ("providers/kubernetes/", "*provider tpu-vm", "a hint"),
    ("providers/kubernetes/", "*and vertex-ai have trials*", "a hint"),
    ("providers/tpunode/", "*jobrun.provider to tpu-vm", "a hint"),
    ("providers/tpunode/", "*the provider tpu-vm has *", "a hint"),
    ("cmd/jobrun/doctor.c", "needed for *", "why to install it"),
    ("schema/import/", "*ai-platform jobs submit *", "gcloud's words"),
    ("cmd/jobrun/import.c", "*ai-platform jobs submit *", "gcloud's words"),
    ("schema/import/", "local", "gcloud's key"),
    ("schema/import/import_custom.c", "*vertex-ai*", "gcloud ai is this one"),
    # Formats to render and places to be found in have names of their own, and
    # some are those of providers.
    ("cmd/jobrun/render.c", "*render --to *", "formats"),
    ("core/topology/", "local", "a place"),
    # Digests outlive the registry.
    ("schema/tables/jobrun_block.c", "local", "what digest 1 filled in"),
]

# A comment, a character or a string: whichever begins first.
TOKEN = re.compile(
    r"//[^\n]*|/\*.*?\*/|'(?:\\.|[^'\\])+'|\"((?:\\.|[^\"\\\n])*)\"", re.S)
TABLE = re.compile(r"^const struct provider provider_\w+ = \{(.*?)^\};",
                   re.S | re.M)
NAME = re.compile(r'\.name = "([^"]+)"')


def sources(tree):
    for top in ("core", "schema", "cmd", "providers"):
        for path in sorted(glob.glob(f"{tree}/{top}/**/*.[ch]", recursive=True)):
            with open(path, encoding="utf-8") as file:
                yield os.path.relpath(path, tree), file.read()


def literals(text):
    """Each literal with its line; those that follow one another are one, and
    what is included is none."""
    text = re.sub(r"^[ \t]*#[ \t]*include[^\n]*", "", text, flags=re.M)
    end, begun, parts = None, 0, []
    for token in TOKEN.finditer(text):
        apart = end is None or text[end:token.start()].strip()
        if token.group(1) is None:
            if not apart and token.group().startswith("/"):
                end = token.end()
            continue
        if apart:
            if parts:
                yield begun, "".join(parts)
            begun, parts = text.count("\n", 0, token.start()) + 1, []
        parts.append(token.group(1))
        end = token.end()
    if parts:
        yield begun, "".join(parts)


def says(literal, name):
    if name in ENGLISH:
        return literal == name
    return re.search(rf"(?<![\w./-]){re.escape(name)}(?![\w/-])", literal)


def main():
    tree = sys.argv[1] if len(sys.argv) > 1 else "."
    files = list(sources(tree))
    homes = {}
    for path, text in files:
        for table in TABLE.findall(text):
            homes[NAME.search(table).group(1)] = os.path.dirname(path) + "/"
    if not homes:
        sys.exit("names.py: no provider was found")
    needed, wrong = set(), 0
    for path, text in files:
        for line, literal in literals(text):
            for name, home in homes.items():
                if path.startswith(home) or not says(literal, name):
                    continue
                excuses = [e for e in EXCUSED if
                           (path == e[0] or
                            e[0].endswith("/") and path.startswith(e[0])) and
                           fnmatch.fnmatchcase(literal, e[1])]
                needed.update(excuses)
                if not excuses:
                    wrong += 1
                    print(f"{path}:{line}: names the provider {name}: "
                          f'"{literal}"')
    for excuse in EXCUSED:
        if excuse not in needed:
            wrong += 1
            print(f"{excuse[0]}: the excuse for '{excuse[1]}' "
                  "is not needed")
    sys.exit(1 if wrong else 0)


main()
