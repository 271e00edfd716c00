# SPDX-License-Identifier: Apache-2.0
"""Checks requests, and our own answers, against discovery documents.

Says what Google's front end says: unknown names, wrong types and unknown enum
values are refused with the path of the field.
"""

import glob
import json
import os
import re

from answers import bad_request, unknown_method

COMMON = {"$.xgafv", "access_token", "alt", "callback", "fields", "key",
          "oauth_token", "prettyPrint", "quotaUser", "uploadType",
          "upload_protocol", "userIp"}


def snake(name):
    return re.sub(r"([A-Z])", lambda m: "_" + m.group(1).lower(), name)


def camel(name):
    return re.sub(r"_([a-z0-9])", lambda m: m.group(1).upper(), name)


def root_of(name):
    """What a body is called in messages: GoogleCloudMlV1__Job is "job", the
    fields of a FooRequest stand at the top."""
    name = re.sub(r"^GoogleCloud\w*?V\d+(beta\d+)?(__)?", "", name)
    return "" if name.endswith("Request") else snake(name).lstrip("_")


class Method:
    def __init__(self, document, method, path):
        self.document = document
        self.id = method["id"]
        self.http = method["httpMethod"]
        self.parameters = method.get("parameters", {})
        self.request = method.get("request", {}).get("$ref")
        self.response = method.get("response", {}).get("$ref")
        self.path = re.compile(self.pattern(path) + r"\Z")

    def pattern(self, path):
        def one(match):
            name = match.group(2)
            parameter = self.parameters.get(name, {})
            if match.group(1) == "+" or "pattern" in parameter:
                inside = parameter.get("pattern", "^.+$").strip("^$")
                return f"(?P<{name}>{inside})"
            return f"(?P<{name}>[^/]+)"
        out = ""
        for piece in re.split(r"(\{\+?\w+\})", path):
            match = re.fullmatch(r"\{(\+?)(\w+)\}", piece)
            out += one(match) if match else re.escape(piece)
        return out


class Document:
    def __init__(self, text):
        self.root = json.loads(text)
        self.name = self.root["name"]
        self.schemas = self.root.get("schemas", {})
        self.methods = []
        self.walk(self.root)

    def walk(self, node):
        for method in node.get("methods", {}).values():
            base = self.root.get("servicePath", "")
            self.methods.append(
                Method(self, method, base + method["path"]))
            upload = method.get("mediaUpload", {}).get("protocols", {})
            for protocol in upload.values():
                self.methods.append(
                    Method(self, method, protocol["path"].lstrip("/")))
        for resource in node.get("resources", {}).values():
            self.walk(resource)


class Checker:
    """All documents of a folder, by the name of their service."""

    def __init__(self, folder):
        self.documents = {}
        for path in sorted(glob.glob(os.path.join(folder, "*.json"))):
            with open(path, encoding="utf-8") as file:
                text = file.read()
            if '"discoveryVersion"' not in text and '"rootUrl"' not in text:
                continue
            document = Document(text)
            self.documents.setdefault(document.name, []).append(document)

    def find(self, service, http, path):
        for document in self.documents.get(service, []):
            for method in document.methods:
                if method.http == http and method.path.match(path):
                    return method
        return None

    def request(self, service, http, path, query, body):
        """Raises what Google would answer; returns the method, or None where
        there is no document for the service."""
        if service not in self.documents:
            return None
        method = self.find(service, http, path)
        if not method:
            raise unknown_method("/" + path)
        wrong = []
        for name, values in query.items():
            known = method.parameters.get(camel(name)) or \
                method.parameters.get(name)
            if not known and name not in COMMON:
                wrong.append(("", 'Invalid JSON payload received. Unknown '
                              f'name "{name}": Cannot bind query parameter. '
                              f'Field \'{name}\' could not be found in '
                              'request message.'))
            elif known and known.get("location") != "path":
                for value in values:
                    self.parameter(name, known, value, wrong)
        for name, known in method.parameters.items():
            if known.get("required") and known.get("location") == "query" \
                    and name not in query:
                wrong.append((name, f"Missing required parameter: {name}"))
        if method.request and body is not None:
            self.value(method.document, {"$ref": method.request}, body,
                       root_of(method.request), wrong)
        elif body:
            wrong.append(("", "Invalid JSON payload received: this method "
                          "takes no body."))
        if wrong:
            raise bad_request(wrong)
        return method

    def answer(self, method, body):
        """What is wrong with an answer of ours: a list of texts."""
        wrong = []
        if method and method.response:
            self.value(method.document, {"$ref": method.response}, body, "",
                       wrong)
        return [text for _, text in wrong]

    def parameter(self, name, schema, value, wrong):
        if schema.get("type") == "integer":
            value = int(value) if re.fullmatch(r"-?\d+", value) else value
        elif schema.get("type") == "boolean":
            value = {"true": True, "false": False}.get(value, value)
        self.value(None, dict(schema, repeated=None), value, name, wrong)

    def value(self, document, schema, value, path, wrong):
        if "$ref" in schema:
            schema = document.schemas[schema["$ref"]]
        kind = schema.get("type", "any")
        if value is None or kind == "any":
            return
        if kind == "object":
            self.object(document, schema, value, path, wrong)
        elif kind == "array":
            if not isinstance(value, list):
                value = [value]
            for i, item in enumerate(value):
                self.value(document, schema["items"], item, f"{path}[{i}]",
                           wrong)
        else:
            self.scalar(schema, kind, value, path, wrong)

    def object(self, document, schema, value, path, wrong):
        if not isinstance(value, dict):
            self.refuse(path, "TYPE_MESSAGE", value, wrong)
            return
        known = schema.get("properties", {})
        more = schema.get("additionalProperties")
        for key, item in value.items():
            below = f"{path}.{snake(key)}" if path else snake(key)
            if key in known or camel(key) in known:
                self.value(document, known.get(key) or known[camel(key)],
                           item, below, wrong)
            elif more is not None:
                self.value(document, more, item, below, wrong)
            elif not known:
                continue  # a free-form struct
            else:
                at = f" at '{path}'" if path else ""
                wrong.append((path, "Invalid JSON payload received. Unknown "
                              f'name "{key}"{at}: Cannot find field.'))

    def scalar(self, schema, kind, value, path, wrong):
        form = schema.get("format")
        if form in ("int64", "uint64", "int32", "uint32"):
            if isinstance(value, bool) or \
                    not re.fullmatch(r"-?\d+", str(value)) or \
                    (form[0] == "u" and str(value)[0] == "-") or \
                    abs(int(value)) >> (64 if "64" in form else 32):
                self.refuse(path, f"TYPE_{form.upper()}", value, wrong)
        elif form == "google-duration":
            if not isinstance(value, str) or \
                    not re.fullmatch(r"-?\d+(\.\d{1,9})?s", value):
                self.refuse(path, "type.googleapis.com/google.protobuf."
                            "Duration", value, wrong)
        elif kind == "string":
            if not isinstance(value, str):
                self.refuse(path, "TYPE_STRING", value, wrong)
            elif "enum" in schema and value not in schema["enum"]:
                self.refuse(path, "TYPE_ENUM", value, wrong)
        elif kind == "boolean" and not isinstance(value, bool):
            self.refuse(path, "TYPE_BOOL", value, wrong)
        elif kind in ("number", "integer") and (
                isinstance(value, bool) or
                not isinstance(value, (int, float))):
            self.refuse(path, "TYPE_DOUBLE", value, wrong)

    @staticmethod
    def refuse(path, kind, value, wrong):
        shown = json.dumps(value)
        wrong.append((path, f"Invalid value at '{path}' ({kind}), {shown}"))
