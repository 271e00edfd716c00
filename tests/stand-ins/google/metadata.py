# SPDX-License-Identifier: Apache-2.0
"""The metadata server."""

from accounts import EMAIL, SCOPE
from answers import Answer, error

VALUES = {
    "project/project-id": "proj-metadata",
    "project/numeric-project-id": "123456",
    "instance/zone": "projects/123456/zones/europe-west4-a",
    "instance/attributes/accelerator-type": "v4-16",
    "instance/attributes/agent-worker-number": "1",
    "instance/service-accounts/default/email": EMAIL,
    "instance/service-accounts/default/scopes": SCOPE + "\n",
}
FLAVOR = {"Metadata-Flavor": "Google", "Server": "Metadata Server for VM"}


def answer(server, path, query, headers):
    if server.state.get("no_metadata"):
        return Answer(200, "not Google", type="text/plain")
    if headers.get("Metadata-Flavor") != "Google":
        return Answer(403, "Missing Metadata-Flavor:Google header.",
                      type="text/html", headers=FLAVOR)
    if path in ("", "/"):
        return Answer(200, "computeMetadata/\n", type="application/text",
                      headers=FLAVOR)
    prefix = "/computeMetadata/v1/"
    if not path.startswith(prefix):
        return Answer(404, "not found", type="text/html", headers=FLAVOR)
    path = path[len(prefix):]
    if path == "instance/service-accounts/default/token":
        if server.state.get("no_service_account"):
            return Answer(404, "no service account", type="text/html",
                          headers=FLAVOR)
        scopes = query.get("scopes", [SCOPE])[0].split(",")
        if SCOPE not in scopes:
            raise error(400, "bad scopes")
        token, life = server.accounts.issue(EMAIL, scopes)
        return Answer(body={"access_token": token, "expires_in": life,
                            "token_type": "Bearer"}, headers=FLAVOR)
    values = dict(VALUES, **server.state.get("metadata", {}))
    if path not in values:
        return Answer(404, f"The requested URL <code>/{path}</code> was not "
                      "found on this server.", type="text/html",
                      headers=FLAVOR)
    return Answer(200, values[path], type="application/text", headers=FLAVOR)
