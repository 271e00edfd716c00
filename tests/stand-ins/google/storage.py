# SPDX-License-Identifier: Apache-2.0
"""storage.googleapis.com: objects, uploads, ranges, preconditions.

All buckets are there.  state["storage"] may hold "page" (objects on a page of
a list; 2) and "rot" (a name: its contents change after their checksum is
made).
"""

import base64
import re
import secrets
import struct
import urllib.parse

from answers import Answer, error

CHUNK = 262144


def make_table():
    table = []
    for i in range(256):
        for _ in range(8):
            i = i >> 1 ^ (0x82F63B78 if i & 1 else 0)
        table.append(i)
    return table


TABLE = make_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 255]
    return base64.b64encode(struct.pack(">I", crc ^ 0xFFFFFFFF)).decode()


class Store:
    def __init__(self):
        self.objects = {}   # (bucket, name): Object
        self.sessions = {}  # id: Session
        self.generation = 1700000000000000


class Object:
    def __init__(self, store, bucket, name, data, type, components=None):
        store.generation += 1
        self.bucket, self.name, self.type = bucket, name, type
        self.data, self.crc = data, crc32c(data)
        self.generation = store.generation
        self.components = components

    def json(self):
        out = {"kind": "storage#object", "bucket": self.bucket,
               "name": self.name, "size": str(len(self.data)),
               "generation": str(self.generation), "metageneration": "1",
               "crc32c": self.crc, "contentType": self.type}
        if self.components:
            out["componentCount"] = self.components
        return out


class Session:
    def __init__(self, bucket, name, type, match):
        self.bucket, self.name, self.type = bucket, name, type
        self.match = match
        self.data = b""
        self.done = None


def store_of(server):
    if not hasattr(server, "store"):
        server.store = Store()
    return server.store


def made(server):
    return [list(key) for key in store_of(server).objects]


def failed(code, reason, message):
    answer = error(code, message)
    return Answer(code, {"error": {"code": code, "message": message,
                                   "errors": [{"domain": "global",
                                               "reason": reason,
                                               "message": message}]}},
                  answer.headers)


def precondition(store, bucket, name, match):
    """ifGenerationMatch, a text or None."""
    if match is None:
        return
    there = store.objects.get((bucket, name))
    if int(match) != (there.generation if there else 0):
        raise failed(412, "conditionNotMet", "At least one of the "
                     "pre-conditions you specified did not hold.")


def finish(server, store, session):
    precondition(store, session.bucket, session.name, session.match)
    made = Object(store, session.bucket, session.name, session.data,
                  session.type)
    if server.state.get("storage", {}).get("rot") == session.name:
        made.data = b"rotten" + made.data[6:]
        made.crc = crc32c(made.data)
    store.objects[session.bucket, session.name] = made
    session.done = made
    return Answer(body=made.json())


def put(server, query, headers, body):
    """The session's URL is all the authority that is needed."""
    with server.lock:
        store = store_of(server)
        session = store.sessions.get(query.get("upload_id", [""])[0])
        if not session:
            raise Answer(404, "Not Found", type="text/plain")
        if session.done:
            return Answer(body=session.done.json())
        asked = headers.get("Content-Range", "")
        match = re.fullmatch(r"bytes (?:(\d+)-(\d+)|\*)/(\d+|\*)", asked)
        if not match:
            raise failed(400, "invalid", f"Bad Content-Range: {asked}")
        first, last, total = match.groups()
        if first is not None:
            if int(first) != len(session.data):
                raise failed(503, "backendError", "wrong offset")
            session.data += body
            if len(body) != int(last) - int(first) + 1 or total == "*" or \
                    int(last) + 1 < int(total):
                # Only whole chunks are kept.
                session.data = session.data[:len(session.data) //
                                            CHUNK * CHUNK]
        if total != "*" and len(session.data) == int(total):
            return finish(server, store, session)
        kept = {"Range": f"bytes=0-{len(session.data) - 1}"} \
            if session.data else {}
        return Answer(308, headers=kept)


def begin(server, store, bucket, query, body, headers):
    if query.get("uploadType") != ["resumable"]:
        raise error(400, "The upload is of no known type.")
    name = query.get("name", [None])[0] or (body or {}).get("name")
    if not name:
        raise failed(400, "required", "Required object name is missing.")
    match = query.get("ifGenerationMatch", [None])[0]
    precondition(store, bucket, name, match)
    session = Session(bucket, name, headers.get(
        "X-Upload-Content-Type", "application/octet-stream"), match)
    key = "AH" + secrets.token_urlsafe(40)
    store.sessions[key] = session
    server.accounts.subjects.append(key)  # as secret as a token
    return Answer(headers={"Location": f"{server.base}/upload/storage/v1/b/"
                           f"{bucket}/o?uploadType=resumable&upload_id={key}"})


def parts(headers, body):
    """What is in a message of multipart/related: JSON, and bytes."""
    match = re.fullmatch(r"multipart/related; boundary=(\w+)",
                         headers.get("Content-Type", ""))
    if not match:
        raise failed(400, "badContent", "Malformed multipart body.")
    mark = b"--" + match[1].encode()
    if not body.endswith(b"\r\n" + mark + b"--\r\n"):
        raise failed(400, "badContent", "Malformed multipart body.")
    _, about, data = body[:-len(mark) - 6].split(mark + b"\r\n")
    return (about.partition(b"\r\n\r\n")[2].removesuffix(b"\r\n"),
            data.partition(b"\r\n\r\n")[2])


def insert(server, store, bucket, query, about, data):
    """An upload in one request."""
    if not about.get("name"):
        raise failed(400, "required", "Required object name is missing.")
    if about.get("crc32c", crc32c(data)) != crc32c(data):
        raise failed(400, "invalid", "Provided CRC32C does not match.")
    session = Session(bucket, about["name"], about.get("contentType"),
                      query.get("ifGenerationMatch", [None])[0])
    session.data = data
    return finish(server, store, session)


def plant(server, bucket, name, text="", hex=""):
    """For tests: somebody else writes an object."""
    store = store_of(server)
    store.objects[bucket, name] = Object(
        store, bucket, name, text.encode() or bytes.fromhex(hex),
        "text/plain")


def listing(server, store, bucket, query):
    prefix = query.get("prefix", [""])[0]
    after = query.get("pageToken", [""])[0]
    page = server.state.get("storage", {}).get("page", 2)
    names = sorted(name for where, name in store.objects
                   if where == bucket and name.startswith(prefix)
                   and name > after)
    out = {}
    if names:
        out["items"] = [store.objects[bucket, name].json()
                        for name in names[:page]]
    if len(names) > page:
        out["nextPageToken"] = names[page - 1]
    return out


def media(found, query, headers):
    wanted = query.get("generation", [None])[0]
    if wanted and int(wanted) != found.generation:
        raise failed(404, "notFound", f"No such object: {found.bucket}/"
                     f"{found.name}#{wanted}")
    kept = query.get("ifGenerationNotMatch", [None])[0]
    if kept and int(kept) == found.generation:
        return Answer(304)
    extra = {"x-goog-hash": f"crc32c={found.crc}",
             "x-goog-generation": str(found.generation)}
    match = re.fullmatch(r"bytes=(\d+)-(\d*)", headers.get("Range", ""))
    if not match:
        return Answer(200, found.data, extra, type=found.type)
    first = int(match[1])
    last = min(int(match[2] or len(found.data)), len(found.data) - 1)
    if first > last:
        raise Answer(416, "", {"Content-Range":
                               f"bytes */{len(found.data)}"})
    extra["Content-Range"] = f"bytes {first}-{last}/{len(found.data)}"
    return Answer(206, found.data[first:last + 1], extra, type=found.type)


def compose(store, bucket, name, query, body):
    precondition(store, bucket, name,
                 query.get("ifGenerationMatch", [None])[0])
    sources = body.get("sourceObjects", [])
    if not 1 <= len(sources) <= 32:
        raise failed(400, "invalid", "The number of source components "
                     f"provided ({len(sources)}) exceeds the maximum (32)")
    data = b""
    for source in sources:
        found = store.objects.get((bucket, source["name"]))
        if not found:
            raise failed(404, "notFound",
                         f"Object {source['name']} not found")
        data += found.data
    made = Object(store, bucket, name, data, "application/octet-stream",
                  len(sources))
    store.objects[bucket, name] = made
    return made.json()


def answer(server, http, path, query, body, headers):
    store = store_of(server)
    match = re.fullmatch(r"(upload/)?storage/v1/b/([^/]+)/o(?:/([^/]+))?"
                         r"(/compose)?", path)
    if not match:
        raise error(404, "Not Found")
    upload, bucket, name, more = match.groups()
    name = urllib.parse.unquote(name) if name else None
    if upload and http == "POST" and "bytes" in query:
        return insert(server, store, bucket, query, body, query["bytes"])
    if upload and http == "POST":
        return begin(server, store, bucket, query, body, headers)
    if name is None and http == "GET":
        return listing(server, store, bucket, query)
    if more and http == "POST":
        return compose(store, bucket, name, query, body)
    found = store.objects.get((bucket, name))
    if not found:
        raise failed(404, "notFound", f"No such object: {bucket}/{name}")
    if http == "GET" and query.get("alt") == ["media"]:
        return media(found, query, headers)
    if http == "GET":
        return found.json()
    if http == "DELETE":
        precondition(store, bucket, name,
                     query.get("ifGenerationMatch", [None])[0])
        del store.objects[bucket, name]
        return Answer(204)
    raise error(404, "Method not found.")
