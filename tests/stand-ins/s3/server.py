"""A store that speaks S3's protocol, as strictly as AWS does: it checks the
signature of each URL by itself, its time, and the checksum of each body.  It
also stands for the token service, a container's and an instance's credentials.
POST /_/fail {"count": N} makes the next N requests fail with 503, /_/cut the
next N downloads break in the middle; /_/seen lists methods, paths and signers.
"""
import argparse
import base64
import calendar
import hashlib
import hmac
import http.server
import json
import os
import sys
import threading
import time
import urllib.parse
import xml.sax.saxutils

REGION = "eu-test-1"
PAGE = 2
KEYS = {  # by id: secret, token
    "AKIDENVIRONMENT": ("env/secret+1", None),
    "AKIDPROFILE": ("profile/secret+2", None),
    "AKIDWEB": ("web/secret+3", "web/token=="),
    "AKIDCONTAINER": ("container/secret+4", "container/token=="),
    "AKIDINSTANCE": ("instance/secret+5", "instance/token=="),
}
TABLE = []  # two bytes at a time
for n in range(65536):
    for _ in range(16):
        n = n >> 1 ^ (0x82F63B78 if n & 1 else 0)
    TABLE.append(n)


def crc32c(data):
    crc, table = 0xFFFFFFFF, TABLE
    for word in memoryview(data[:len(data) & ~1]).cast("H"):
        crc = crc >> 16 ^ table[(crc ^ word) & 65535]
    for byte in data[len(data) & ~1:]:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return base64_of(crc ^ 0xFFFFFFFF)


def base64_of(number):
    return base64.b64encode(number.to_bytes(4, "big")).decode()


def quote(text, safe=""):
    return urllib.parse.quote(text, safe=safe + "-._~")


class Refused(Exception):
    def __init__(self, status, code, message=""):
        super().__init__(code)
        self.status, self.code, self.message = status, code, message


class Store:
    def __init__(self):
        self.lock = threading.Lock()
        self.objects = {}  # (bucket, key): (data, tag, checksum)
        self.uploads = {}  # id: (bucket, key, {number: (data, tag)})
        self.fail = 0
        self.cut = 0
        self.seen = []


def expired(date, seconds):
    began = calendar.timegm(time.strptime(date, "%Y%m%dT%H%M%SZ"))
    age = time.time() - began
    return age > int(seconds) or age < -900


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def answer(self, status, body=b"", headers=None):
        if isinstance(body, str):
            body = body.encode()
        headers = headers or {}
        self.send_response(status)
        if status != 204 and "Content-Length" not in headers:
            self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def check(self, path, query):
        """Returns who has signed, or None."""
        given = dict(query)
        amz = [n.lower() for n in self.headers if n.lower().startswith("x-amz")]
        if "X-Amz-Signature" not in given:
            if amz and self.command != "HEAD":
                raise Refused(403, "AccessDenied", "unsigned headers")
            return None
        who, day, region, service, last = given["X-Amz-Credential"].split("/")
        if who not in KEYS:
            raise Refused(403, "InvalidAccessKeyId")
        secret, token = KEYS[who]
        if given.get("X-Amz-Security-Token") != token:
            raise Refused(403, "InvalidToken")
        if (region, service, last) != (REGION, "s3", "aws4_request"):
            raise Refused(400, "AuthorizationQueryParametersError",
                          f"the region '{region}' is wrong")
        if expired(given["X-Amz-Date"], given["X-Amz-Expires"]):
            raise Refused(403, "AccessDenied", "Request has expired")
        names = given["X-Amz-SignedHeaders"].split(";")
        if names != sorted(names) or "host" not in names:
            raise Refused(403, "AccessDenied", "headers are not sorted")
        if [n for n in amz if n not in names]:
            raise Refused(403, "AccessDenied",
                          "There were headers present in the request which "
                          "were not signed")
        pairs = sorted((quote(n), quote(v)) for n, v in query
                       if n != "X-Amz-Signature")
        canonical = "\n".join([
            self.command, quote(path, "/"),
            "&".join(f"{n}={v}" for n, v in pairs),
            "".join(f"{n}:{' '.join(self.headers[n].split())}\n"
                    for n in names),
            ";".join(names), "UNSIGNED-PAYLOAD"])
        text = "\n".join([
            "AWS4-HMAC-SHA256", given["X-Amz-Date"],
            f"{day}/{region}/{service}/aws4_request",
            hashlib.sha256(canonical.encode()).hexdigest()])
        key = ("AWS4" + secret).encode()
        for step in (day, region, service, "aws4_request", text):
            key = hmac.new(key, step.encode(), hashlib.sha256).digest()
        if not hmac.compare_digest(key.hex(), given["X-Amz-Signature"]):
            raise Refused(403, "SignatureDoesNotMatch", canonical)
        return who

    def handle_one(self):
        store = self.server.store
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        path, _, text = self.path.partition("?")
        path = urllib.parse.unquote(path)
        query = urllib.parse.parse_qsl(text, keep_blank_values=True)
        if path.startswith("/_/"):
            return self.talk(path[3:], body)
        if self.elsewhere(path, body):
            return None
        with store.lock:
            failing = store.fail > 0
            store.fail -= failing
        try:
            if failing:
                raise Refused(503, "SlowDown", "Please reduce your request "
                              "rate.")
            who = self.check(path, query)
            store.seen.append(f"{self.command} {path} {who}")
            bucket, _, key = path[1:].partition("/")
            if not who and not bucket.startswith("public"):
                raise Refused(403, "AccessDenied", "Access Denied")
            if bucket == "missing":
                raise Refused(404, "NoSuchBucket",
                              "The specified bucket does not exist")
            with store.lock:
                self.serve(bucket, key, dict(query), body)
        except Refused as why:
            self.answer(why.status, "<?xml version=\"1.0\"?>\n<Error><Code>"
                        f"{why.code}</Code><Message>"
                        f"{xml.sax.saxutils.escape(why.message)}</Message>"
                        "</Error>")
        return None

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = handle_one

    def talk(self, what, body):
        store = self.server.store
        if what == "seen":
            return self.answer(200, json.dumps(store.seen))
        setattr(store, what, json.loads(body)["count"])
        return self.answer(200, "{}")

    def elsewhere(self, path, body):
        """Answers where credentials come from."""
        form = dict(urllib.parse.parse_qsl(body.decode("latin-1")))
        key = None
        if path == "/sts/":
            good = (form.get("Action") == "AssumeRoleWithWebIdentity" and
                    form.get("RoleArn") == "arn:aws:iam::1:role/trainer" and
                    form.get("WebIdentityToken") == "web-identity")
            secret, token = KEYS["AKIDWEB"]
            self.answer(200 if good else 403, "<AssumeRoleWithWebIdentity"
                        "Response><Credentials><AccessKeyId>AKIDWEB"
                        f"</AccessKeyId><SecretAccessKey>{secret}"
                        f"</SecretAccessKey><SessionToken>{token}"
                        "</SessionToken><Expiration>2099-01-01T00:00:00Z"
                        "</Expiration></Credentials></AssumeRoleWithWeb"
                        "IdentityResponse>" if good else "no")
            return True
        if path == "/container":
            key = ("AKIDCONTAINER" if self.headers.get("Authorization") ==
                   "let-me-in" else "")
        elif path == "/latest/api/token" and self.command == "PUT":
            self.answer(200 if self.headers.get(
                "X-aws-ec2-metadata-token-ttl-seconds") else 400, "session")
            return True
        elif path.startswith("/latest/"):
            if self.headers.get("X-aws-ec2-metadata-token") != "session":
                key = ""
            elif path.endswith("/security-credentials/"):
                self.answer(200, "trainer")
                return True
            else:
                key = "AKIDINSTANCE" if path.endswith("/trainer") else ""
        if key is None:
            return False
        if not key:
            self.answer(401, "no")
            return True
        secret, token = KEYS[key]
        self.answer(200, json.dumps({
            "AccessKeyId": key, "SecretAccessKey": secret, "Token": token,
            "Expiration": "2099-01-01T00:00:00Z"}))
        return True

    def serve(self, bucket, key, query, body):
        at = (bucket, key)
        objects = self.server.store.objects
        if self.command in ("GET", "HEAD"):
            if not key:
                self.list(bucket, query)
            else:
                self.get(at)
        elif self.command == "DELETE":
            if "uploadId" in query:
                self.server.store.uploads.pop(query["uploadId"], None)
            else:
                objects.pop(at, None)
            self.answer(204)
        elif self.command == "POST":
            self.multipart(at, query, body)
        else:
            self.put(at, query, body)

    def meets(self, at):
        found = self.server.store.objects.get(at)
        if self.headers.get("If-None-Match") == "*" and found:
            raise Refused(412, "PreconditionFailed")
        tag = self.headers.get("If-Match")
        if tag and (not found or found[1] != tag):
            raise Refused(412, "PreconditionFailed")

    def keep(self, at, data, tag, checksum):
        self.meets(at)
        self.server.store.objects[at] = (data, tag, checksum)

    def put(self, at, query, body):
        checksum = crc32c(body)
        if self.headers.get("x-amz-checksum-crc32c", checksum) != checksum:
            raise Refused(400, "BadDigest")
        tag = '"' + hashlib.md5(body).hexdigest() + '"'
        if "partNumber" not in query:
            self.keep(at, body, tag, checksum)
        else:
            upload = self.server.store.uploads.get(query["uploadId"])
            if not upload or upload[0] != at:
                raise Refused(404, "NoSuchUpload")
            upload[1][int(query["partNumber"])] = (body, tag)
        self.answer(200, b"", {"ETag": tag})

    def multipart(self, at, query, body):
        uploads = self.server.store.uploads
        if "uploads" in query:
            name = f"upload/{len(uploads)}+{os.urandom(4).hex()}"
            uploads[name] = (at, {})
            return self.answer(200, "<R><UploadId>" + name + "</UploadId></R>")
        upload = uploads.get(query.get("uploadId"))
        if not upload or upload[0] != at:
            raise Refused(404, "NoSuchUpload")
        parts = upload[1]
        if any(len(data) < 5 << 20 for number, (data, _) in parts.items()
               if number < len(parts)):
            raise Refused(400, "EntityTooSmall")
        for number, (_, tag) in parts.items():
            if f"<ETag>{tag}</ETag>" not in body.decode():
                raise Refused(400, "InvalidPart")
        data = b"".join(parts[n][0] for n in sorted(parts))
        checksum = crc32c(data)
        if self.headers.get("x-amz-checksum-crc32c") != checksum:
            raise Refused(400, "BadDigest")
        self.keep(at, data, f'"{os.urandom(8).hex()}-{len(parts)}"', checksum)
        del uploads[query["uploadId"]]
        return self.answer(200, "<R><ETag>x</ETag></R>")

    def get(self, at):
        store = self.server.store
        found = store.objects.get(at)
        if not found:
            raise Refused(404, "NoSuchKey", "The specified key does not exist.")
        self.meets(at)
        data, tag, checksum = found
        headers = {"ETag": tag, "Accept-Ranges": "bytes"}
        if self.headers.get("x-amz-checksum-mode") == "ENABLED":
            headers["x-amz-checksum-crc32c"] = checksum
        status, size = 200, len(data)
        wanted = self.headers.get("Range")
        if wanted:
            first, last = wanted.removeprefix("bytes=").split("-")
            first, last = int(first), min(int(last or size), size - 1)
            if first >= size:
                raise Refused(416, "InvalidRange")
            data, status = data[first:last + 1], 206
            headers["Content-Range"] = f"bytes {first}-{last}/{size}"
        headers["Content-Length"] = str(len(data))
        if store.cut > 0 and self.command == "GET" and len(data) > 1:
            store.cut -= 1
            data = data[:len(data) // 2]
            self.close_connection = True
        self.answer(status, data, headers)

    def list(self, bucket, query):
        if query.get("list-type") != "2" or query.get("encoding-type") != "url":
            raise Refused(400, "InvalidArgument")
        prefix = query.get("prefix", "")
        after = query.get("continuation-token", "")
        names = sorted(key for b, key in self.server.store.objects
                       if b == bucket and key.startswith(prefix) and
                       "next+" + key > after)
        out = f"<ListBucketResult><KeyCount>{len(names)}</KeyCount>"
        for key in names[:PAGE]:
            data, tag, _ = self.server.store.objects[(bucket, key)]
            out += (f"<Contents><Key>{urllib.parse.quote_plus(key)}</Key><ETag>"
                    f"{xml.sax.saxutils.escape(tag, {chr(34): '&quot;'})}"
                    f"</ETag><Size>{len(data)}</Size></Contents>")
        more = len(names) > PAGE
        out += f"<IsTruncated>{str(more).lower()}</IsTruncated>"
        if more:
            out += ("<NextContinuationToken>next+" + names[PAGE - 1] +
                    "</NextContinuationToken>")
        self.answer(200, out + "</ListBucketResult>")


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.store = Store()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port-file", required=True)
    parser.add_argument("--credentials")
    args = parser.parse_args()
    server = Server()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with open(args.port_file + ".new", "w", encoding="utf-8") as file:
        file.write(f"{server.server_address[1]}\n")
    os.rename(args.port_file + ".new", args.port_file)
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main()
