#!/usr/bin/python3
"""Feeds the samples of job files, and many mutations of them, to the
published JSON Schema and to `jobrun validate`, and compares what they say.

usage: schema.py JOBRUN FOLDER...
"""

import copy
import glob
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import warnings

import yaml

warnings.simplefilter("ignore")
import jsonschema  # noqa: E402  (warns about itself)

# ---- where they may differ --------------------------------------------------
# What `validate` refuses by these rules, the schema may take.  What the schema
# refuses, `validate` refuses too: that has no exception.
DIFFERENCES = {
    # A schema sees one document at a time.
    "duplicate-job": "two documents with one jobId",
    "unnamed-job": "several documents, and one without a jobId",
    # A minimum or maximum is of numbers; and a pattern can't count.
    "range": "the range of a number in quotes, and of a duration",
    "duration": "how long a duration can be at most",
    # Functions of C, of which forms.c gives the pattern where there is one.
    "format": "the form of what only providers know",
    # It reads no other file, either, and looks at no directory.
    "source-missing": "the source is not there",
    "extends": "what the file extends can't be read or merged",
    # Below what a schema looks at.
    "yaml-text": "a NUL that an escape puts into a text",
}
# Besides: all of `jobrun explain rules`.  Many reach further than a schema can
# see, or follow the catalogue.
#
# A null is mostly no value to `validate`.  An editor would offer it, so the
# schema has none: it may refuse one that `validate` takes.

MUTATIONS = 1500
VALUES = [None, "", "x", "8", "-1", -1, 0, 3, 3.5, 1e9, True, "true", "yes",
          "7200s", "1h", "gs://b/o", [], ["a"], [1], [None], [["a"]], {},
          {"a": "b"}, {"a": 1}, {"count": 1}, "BASIC", "custom"]


class Loader(yaml.SafeLoader):
    """Scalars as jobrun takes them: no dates, and keys are texts."""


Loader.yaml_implicit_resolvers = {
    first: [(tag, regexp) for tag, regexp in resolvers
            if not tag.endswith((":timestamp", ":int", ":float", ":value"))]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
Loader.add_implicit_resolver(
    "tag:yaml.org,2002:int",
    re.compile(r"^[-+]?(0b[01_]+|0x[0-9a-fA-F_]+|0[0-7_]+|0"
               r"|[1-9][0-9_]*(:[0-5]?[0-9])*)$"),
    list("-+0123456789"))
Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^[-+]?([0-9][0-9_]*\.[0-9_]*([eE][-+]?[0-9]+)?"
               r"|\.[0-9][0-9_]*([eE][-+]?[0-9]+)?|[0-9]+[eE][-+]?[0-9]+)$"),
    list("-+.0123456789"))


def construct_mapping(loader, node, deep=False):
    seen = set()
    for key, _ in node.value:
        if key.tag == "tag:yaml.org,2002:merge":
            continue
        if not isinstance(key, yaml.ScalarNode) or key.value in seen:
            raise yaml.constructor.ConstructorError(
                None, None, "no text, or twice", key.start_mark)
        seen.add(key.value)
    loader.flatten_mapping(node)
    return {key.value: loader.construct_object(value, deep=True)
            for key, value in node.value}


Loader.add_constructor("tag:yaml.org,2002:map", construct_mapping)


def weight(value, known):
    """How many values there are with aliases expanded."""
    if not isinstance(value, (dict, list)):
        return 1
    if id(value) not in known:
        known[id(value)] = 1000000  # contains itself
        items = value.values() if isinstance(value, dict) else value
        known[id(value)] = 1 + sum(weight(item, known) for item in items)
    return known[id(value)]


def read(path):
    """The documents of a file, or None if it is no YAML."""
    try:
        with open(path, "rb") as file:
            documents = [d for d in yaml.load_all(file, Loader)
                         if d is not None]
        if weight(documents, {}) > 100000:  # aliases of aliases
            return None
        json.dumps(documents, allow_nan=False)
        return documents
    except (yaml.YAMLError, ValueError, RecursionError, UnicodeError):
        return None


# ---- mutations --------------------------------------------------------------
def places(value, path=()):
    """Paths of all values in a document, from the outside in."""
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], path + (key,))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from places(item, path + (index,))


def at(value, path):
    for step in path:
        value = value[step]
    return value


def rename(owner, old, new):
    items = [(new if key == old else key, value)
             for key, value in owner.items()]
    owner.clear()
    owner.update(items)


def snake(name):
    return re.sub("[A-Z]", lambda m: "_" + m.group().lower(), name)


def mutations(document):
    for path in places(document):
        if not path:
            continue
        owner, key = path[:-1], path[-1]
        for new in VALUES:
            changed = copy.deepcopy(document)
            at(changed, owner)[key] = new
            yield changed
        if isinstance(at(document, path), str):
            for change in (str.lower, str.upper, lambda s: s + " ",
                           lambda s: s + "x", lambda s: s[:-1]):
                changed = copy.deepcopy(document)
                at(changed, owner)[key] = change(at(document, path))
                yield changed
        if isinstance(at(document, path), dict):
            changed = copy.deepcopy(document)
            at(changed, path)["unknownKey"] = 1
            yield changed
        if isinstance(key, int):
            continue
        for new in (key[:-1], key + "s", snake(key), key.upper(), "x-" + key):
            changed = copy.deepcopy(document)
            rename(at(changed, owner), key, new)
            yield changed
        changed = copy.deepcopy(document)
        at(changed, owner)[snake(key)] = at(document, path)
        yield changed
        changed = copy.deepcopy(document)
        del at(changed, owner)[key]
        yield changed


def without_nulls(value):
    if isinstance(value, dict):
        return {key: without_nulls(one) for key, one in value.items()
                if one is not None}
    if isinstance(value, list):
        return [without_nulls(one) for one in value]
    return value


def complaints_of(validator, documents):
    return [error for document in documents
            for error in validator.iter_errors(document)]


# ---- the comparison ---------------------------------------------------------
def main():
    jobrun, folders = sys.argv[1], sys.argv[2:]
    samples = sorted(path for folder in folders
                     for path in glob.glob(os.path.join(folder, "*.y*ml")))
    assert samples
    schema = json.loads(subprocess.check_output([jobrun, "schema"]))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    rules = {entry["id"] for entry in json.loads(subprocess.check_output(
        [jobrun, "explain", "rules", "--format", "json"]))["entries"]}
    allowed = DIFFERENCES.keys() | rules

    cases = {path: read(path) for path in samples}
    mutants, seen = [], set()
    for path, documents in cases.items():
        if documents and len(documents) == 1 and validator.is_valid(documents[0]):
            for mutant in mutations(documents[0]):
                text = json.dumps(mutant, ensure_ascii=False)
                if text not in seen:
                    seen.add(text)
                    mutants.append((path, mutant, text))
    random.Random(1).shuffle(mutants)

    with tempfile.TemporaryDirectory() as folder:
        for number, (_, mutant, text) in enumerate(mutants[:MUTATIONS]):
            path = os.path.join(folder, "m%04d.yaml" % number)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            cases[path] = [mutant]
        answer = subprocess.run(
            [jobrun, "validate", "--format", "json", "--max-problems", "0",
             *cases],
            stdout=subprocess.PIPE, check=False)
        assert answer.returncode in (0, 65), answer.returncode
    found = {}
    for problem in json.loads(answer.stdout)["problems"]:
        if problem["severity"] == "error":
            found.setdefault(problem["file"], []).append(problem)

    wrong = refused = 0
    for path, documents in cases.items():
        errors = found.get(path, [])
        if documents is None:  # no YAML: the schema is not asked
            complaints = ["no YAML"]
        else:
            complaints = complaints_of(validator, documents)
            if complaints and not errors:
                complaints = complaints_of(validator, without_nulls(documents))
            if not documents:
                complaints = ["empty"]
        refused += bool(errors)
        if bool(errors) == bool(complaints):
            continue
        if errors and all(e["rule"] in allowed for e in errors):
            continue
        wrong += 1
        if wrong <= 20:
            print("%s\n  validate: %s\n  schema: %s\n  %s" % (
                path,
                "; ".join(e["message"] for e in errors) or "valid",
                "; ".join(getattr(c, "message", c)[:200]
                          for c in complaints) or "valid",
                json.dumps(documents)[:600]))
    print("%d files, %d refused by both or by one, %d disagreements"
          % (len(cases), refused, wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
