#!/usr/bin/env python3
"""discovery.py DOCUMENT SCHEMA[,SCHEMA] FILE: is the JSON in FILE a message
that a Google API discovery document knows?  One of several will do."""

import json
import sys


def problems(schemas, value, schema, path):
    """Yields what is wrong with a value, each with its place."""
    if "$ref" in schema:
        schema = schemas[schema["$ref"]]
    kind = schema.get("type")
    python = {"object": dict, "array": list, "string": str, "boolean": bool}
    if kind in python and not isinstance(value, python[kind]):
        yield f"{path}: {value!r} is no {kind}"
    elif kind in ("integer", "number"):
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            yield f"{path}: {value!r} is no {kind}"
    elif kind == "array":
        for i, item in enumerate(value):
            yield from problems(schemas, item, schema["items"], f"{path}[{i}]")
    elif kind == "object":
        for key, item in value.items():
            below = schema.get("properties", {}).get(key)
            below = below or schema.get("additionalProperties")
            if below is None:
                yield f"{path}.{key}: cannot find field"
            else:
                yield from problems(schemas, item, below, f"{path}.{key}")
    elif kind == "string" and value not in schema.get("enum", [value]):
        yield f"{path}: {value!r} is none of {schema['enum']}"


def main():
    document, names, file = sys.argv[1:]
    with open(document, encoding="utf-8") as stream:
        schemas = json.load(stream)["schemas"]
    with open(file, encoding="utf-8") as stream:
        value = json.load(stream)
    found = []
    for name in names.split(","):
        full = next(s for s in schemas if s.endswith(name) and
                    s[: -len(name)].rstrip("_") in
                    ("", "GoogleCloudMlV1", "GoogleCloudAiplatformV1"))
        found = list(problems(schemas, value, {"$ref": full}, name))
        if not found:
            return 0
    print("\n".join(found))
    return 1


if __name__ == "__main__":
    sys.exit(main())
