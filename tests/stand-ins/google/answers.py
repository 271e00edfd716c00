# SPDX-License-Identifier: Apache-2.0
"""What Google's services answer, in their words."""

import json

STATUS = {
    400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED",
    404: "NOT_FOUND", 409: "ALREADY_EXISTS", 412: "FAILED_PRECONDITION",
    429: "RESOURCE_EXHAUSTED", 500: "INTERNAL", 503: "UNAVAILABLE",
}


class Answer(Exception):
    """An answer; raised where it is an error."""

    def __init__(self, status=200, body=None, headers=None,
                 type="application/json; charset=UTF-8"):
        super().__init__(status)
        self.status = status
        self.headers = dict(headers or {})
        self.type = type
        if body is None:
            body = b""
        elif not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        self.body = body.encode() if isinstance(body, str) else body


def error(code, message, status=None, details=None):
    body = {"code": code, "message": message,
            "status": status or STATUS.get(code, "UNKNOWN")}
    if details:
        body["details"] = details
    return Answer(code, {"error": body})


def bad_request(violations, message=None):
    """`violations` are (field, description) pairs."""
    return error(400, message or "\n".join(text for _, text in violations),
                 details=[{
                     "@type": "type.googleapis.com/google.rpc.BadRequest",
                     "fieldViolations": [
                         {"field": field, "description": text}
                         if field else {"description": text}
                         for field, text in violations]}])


def unknown_method(path):
    return Answer(404, "<!DOCTYPE html>\n<title>Error 404 (Not Found)!!1"
                  f"</title>\n<p>The requested URL <code>{path}</code> was "
                  "not found on this server.", type="text/html")


def oauth_error(name, description, status=400):
    return Answer(status, {"error": name, "error_description": description})
