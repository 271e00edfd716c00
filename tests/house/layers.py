#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""layers.py [ROOT [BUILD]]: holds the includes against layers.txt, both ways:
an include that the table does not allow, a permission that nobody uses, a
folder that it does not name, a circle.  With a build folder the same for what
the linker sees: a call without an include, and a symbol that is exported
though nobody outside its file uses it."""
import collections
import glob
import os
import subprocess
import sys

import tree

# What the start of a program or a library calls by name.
EXCUSED = {"main"}
# One line for each provider there is all that knows them; it needs no header.
REGISTRY = "providers/registry.c"


def includes(layers, files, faults):
    uses = collections.defaultdict(set)
    used = collections.defaultdict(set)
    for path in files:
        room = layers.room(path)
        if not room:
            faults.append(f"{path}: no room of layers.txt has this folder")
            continue
        text = tree.read(path)
        for found in tree.INCLUDE.finditer(text):
            name = found.group(2)
            at = f"{path}:{tree.line_of(text, found.start())}"
            if not os.path.exists(name):
                beside = os.path.join(os.path.dirname(path), name)
                if found.group(1) == '"' and os.path.exists(beside):
                    faults.append(f"{at}: '{name}' is not named from the root")
                continue
            other = layers.room(name)
            if not other:
                faults.append(f"{at}: no room of layers.txt has '{name}'")
                continue
            if other == room:
                continue
            uses[room].add(other)
            permits = layers.permit(room, name)
            if not permits:
                faults.append(f"{at}: {room} may not include {name}")
            used[room].update(permits)
    for room, names in layers.may.items():
        for name in names:
            if name not in used[room]:
                faults.append(f"layers.txt: {room} does not use {name}")
    for circle in layers.circles(uses):
        faults.append("circle: " + " -> ".join(circle))


def symbols(build):
    """Yields (object, name, whether it is defined there)."""
    objects = glob.glob(build + "/**/*.o", recursive=True)
    for start in range(0, len(objects), 200):
        said = subprocess.run(["nm", "-P", "-A", "-g"] +
                              objects[start:start + 200],
                              check=True, capture_output=True, text=True)
        for line in said.stdout.splitlines():
            path, name, kind = line.split()[:3]
            yield path.rstrip(":"), name, kind not in "Uvw"


def linked(layers, build, faults):
    """The agent is a program of its own, with objects of its own: what a name
    means is looked up among the objects that are linked together."""
    defined = collections.defaultdict(dict)
    users = collections.defaultdict(lambda: collections.defaultdict(set))
    for path, name, is_defined in symbols(build):
        source = os.path.relpath(path, build)[:-2] + ".c"
        program = "jobrun"
        if source.startswith("agent/"):
            program = "agent"
            source = source[len("agent/"):]
        # What is generated uses names, and exports none of its own.
        if not os.path.exists(source) and (
                is_defined or not os.path.exists(path[:-2] + ".c")):
            continue
        if is_defined:
            defined[program][name] = source
        else:
            users[program][name].add(source)
    uses = collections.defaultdict(set)
    wanted = {(source, name) for program in defined
              for name, source in defined[program].items()
              if users[program][name]}
    for program in defined:
        for name, source in sorted(defined[program].items()):
            if source.split("/")[0] not in tree.TOP or name.startswith("__"):
                continue
            if (source, name) not in wanted and name not in EXCUSED:
                faults.append(f"{source}: '{name}' is used in this file only")
            room = layers.room(source)
            for user in sorted(users[program][name]):
                by = layers.room(user)
                if not by or by == room:
                    continue
                uses[by].add(room)
                if user == REGISTRY and name.startswith("provider_"):
                    continue
                if not layers.permit(by, source[:-2] + ".h") and \
                        not opened(layers, by, source):
                    faults.append(f"{user}: {by} may not use '{name}' of "
                                  f"{source}")
    for circle in layers.circles(uses):
        faults.append("circle of symbols: " + " -> ".join(circle))


def opened(layers, by, source):
    """A header that opens one door of a room stands for the files it is
    about: those of the same folder."""
    return any(os.path.dirname(name) == os.path.dirname(source)
               for name in layers.may[by] if name.endswith(".h"))


def main():
    build = os.path.abspath(sys.argv[2]) if len(sys.argv) > 2 else None
    table = os.path.abspath(os.path.join(tree.root(), "tests/house/layers.txt"))
    os.chdir(tree.root())
    layers = tree.Layers(table)
    faults = []
    includes(layers, tree.sources(), faults)
    if build:
        linked(layers, build, faults)
    tree.finish(sorted(set(faults)))


main()
