# SPDX-License-Identifier: Apache-2.0
"""What an API server answers, in its words."""

import json

REASONS = {400: "BadRequest", 401: "Unauthorized", 403: "Forbidden",
           404: "NotFound", 409: "Conflict", 410: "Expired", 415:
           "UnsupportedMediaType", 422: "Invalid", 429: "TooManyRequests",
           500: "InternalError", 503: "ServiceUnavailable"}


class Answer(Exception):
    """An answer; raised where it is an error."""

    def __init__(self, status=200, body=None, headers=None,
                 type="application/json"):
        super().__init__(status)
        self.status = status
        self.headers = dict(headers or {})
        self.type = type
        if body is None:
            body = b""
        elif not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        self.body = body.encode() if isinstance(body, str) else body


def status(code, message, reason=None, details=None):
    body = {"kind": "Status", "apiVersion": "v1", "metadata": {},
            "status": "Failure", "message": message,
            "reason": reason or REASONS.get(code, "Unknown"), "code": code}
    if details:
        body["details"] = details
    return body


def error(code, message, reason=None, details=None):
    return Answer(code, status(code, message, reason, details))
