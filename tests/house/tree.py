# SPDX-License-Identifier: Apache-2.0
"""What the checks of the house share: which files there are, the rooms they
are in, and C with its comments and strings taken out."""
import os
import re
import subprocess
import sys

TOP = ("core", "schema", "providers", "cmd")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]', re.M)
_LEXEME = re.compile(
    r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def root():
    """The tree to look at: the first argument, else this one."""
    here = os.path.dirname(os.path.abspath(__file__))
    return sys.argv[1] if len(sys.argv) > 1 else os.path.join(here, "../..")


def sources(top=TOP, suffixes=(".c", ".h")):
    """Paths from the root, of what git tracks or would; of every file where
    the tree is no checkout."""
    try:
        names = subprocess.run(
            ["git", "ls-files", "-co", "--exclude-standard"],
            check=True, capture_output=True, text=True).stdout.split("\n")
    except (OSError, subprocess.CalledProcessError):
        names = [os.path.relpath(os.path.join(at, name), ".")
                 for at, _, files in os.walk(".") for name in files]
    return sorted({name for name in names
                   if name.split("/")[0] in top and name.endswith(suffixes)
                   and os.path.exists(name)})


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def _blank(found):
    text = found.group(0)
    kept = '""' if text[0] == '"' else " "
    return kept + "\n" * text.count("\n")


def code(text):
    """The text without comments and without what strings say; its lines stay
    where they are."""
    return _LEXEME.sub(_blank, text)


def comments(text):
    """The comments of the text, as (offset, comment)."""
    return [(found.start(), found.group(0))
            for found in _LEXEME.finditer(text) if found.group(0)[0] == "/"]


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


class Layers:
    """The table of layers.txt."""

    def __init__(self, path):
        self.may = {}
        for number, line in enumerate(read(path).split("\n"), 1):
            line = line.split("#")[0].strip()
            if not line:
                continue
            room, _, rest = line.partition(":")
            if room in self.may:
                sys.exit(f"{path}:{number}: '{room}' stands twice")
            self.may[room] = rest.split()

    def room(self, path):
        """The longest prefix of the path that the table names, or None."""
        while path:
            path = os.path.dirname(path)
            if path in self.may:
                return path
        return None

    def permit(self, room, path):
        """Which permissions let a file of the room use what is at path."""
        other = self.room(path)
        return [name for name in self.may[room]
                if name in (path, other)
                or not name.endswith(".h") and path.startswith(name + "/")]

    def circles(self, uses):
        """Rooms that use each other, as lists; `uses` maps rooms to sets."""
        found = []
        state = {}

        def visit(room, way):
            state[room] = "open"
            for other in sorted(uses.get(room, ())):
                if state.get(other) == "open":
                    found.append(way[way.index(other):] + [other])
                elif other not in state:
                    visit(other, way + [other])
            state[room] = "done"

        for room in sorted(uses):
            if room not in state:
                visit(room, [room])
        return found


def finish(faults):
    for fault in faults:
        print(fault)
    sys.exit(1 if faults else 0)
