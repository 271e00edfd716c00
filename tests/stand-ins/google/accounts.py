# SPDX-License-Identifier: Apache-2.0
"""Who may do what: tokens, keys, and the endpoints that give tokens.

Writes credential files of every kind that point to this server.
"""

import base64
import datetime
import json
import os
import secrets
import threading
import time
import urllib.parse

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from answers import Answer, error, oauth_error

SCOPE = "https://www.googleapis.com/auth/cloud-platform"
POOL = ("//iam.googleapis.com/projects/123456/locations/global/"
        "workloadIdentityPools/ci/providers/github")
EMAIL = "trainer@proj-1.iam.gserviceaccount.com"
TARGET = "deployer@proj-1.iam.gserviceaccount.com"
JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token"
JWT_TYPE = "urn:ietf:params:oauth:token-type:jwt"


def b64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def unb64url(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


class Accounts:
    def __init__(self, state):
        self.state = state
        self.lock = threading.Lock()
        self.tokens = {}  # token: (account, scopes, end)
        self.key = rsa.generate_private_key(65537, 2048)
        self.key_id = secrets.token_hex(20)
        self.issuer_key = rsa.generate_private_key(65537, 2048)
        self.client_secret = "GOCSPX-" + secrets.token_urlsafe(20)
        self.refresh_token = "1//0g" + secrets.token_urlsafe(40)
        self.request_token = "gh-" + secrets.token_urlsafe(30)
        self.source_key = "src-" + secrets.token_urlsafe(30)
        self.subjects = []  # every subject token that was made

    # ---- tokens

    def issue(self, account, scopes, life=None):
        life = life or self.state.get("token_life", 3600)
        token = "ya29." + secrets.token_urlsafe(60)
        with self.lock:
            self.tokens[token] = (account, scopes, time.time() + life)
        return token, life

    def check(self, headers):
        """Raises 401 as Google does; returns whose the token is."""
        value = headers.get("Authorization", "")
        if not value:
            raise error(401, "Request is missing required authentication "
                        "credential. Expected OAuth 2 access token, login "
                        "cookie or other valid authentication credential.",
                        details=[self.info("CREDENTIALS_MISSING")])
        with self.lock:
            known = self.tokens.get(value.removeprefix("Bearer "))
        if not known or known[2] <= time.time():
            raise error(401, "Request had invalid authentication "
                        "credentials. Expected OAuth 2 access token, login "
                        "cookie or other valid authentication credential.",
                        details=[self.info("ACCESS_TOKEN_EXPIRED" if known
                                           else "ACCESS_TOKEN_TYPE_"
                                           "UNSUPPORTED")])
        if SCOPE not in known[1]:
            raise error(403, "Request had insufficient authentication "
                        "scopes.", details=[
                            self.info("ACCESS_TOKEN_SCOPE_INSUFFICIENT")])
        return known[0]

    @staticmethod
    def info(reason):
        return {"@type": "type.googleapis.com/google.rpc.ErrorInfo",
                "reason": reason, "domain": "googleapis.com",
                "metadata": {"service": "stand-in"}}

    def forget(self):
        """All tokens end now."""
        with self.lock:
            self.tokens = {token: (account, scopes, 0) for
                           token, (account, scopes, _) in self.tokens.items()}

    def secrets(self):
        """Everything that must never be shown."""
        pem = self.pem(self.key).splitlines()[1:-1]
        return [*self.tokens, self.client_secret, self.refresh_token,
                self.request_token, self.source_key, *self.subjects, *pem]

    # ---- JSON Web Tokens

    @staticmethod
    def pem(key):
        return key.private_bytes(serialization.Encoding.PEM,
                                 serialization.PrivateFormat.PKCS8,
                                 serialization.NoEncryption()).decode()

    @staticmethod
    def sign(key, claims):
        head = {"alg": "RS256", "typ": "JWT"}
        text = ".".join(b64url(json.dumps(part).encode())
                        for part in (head, claims))
        return text + "." + b64url(key.sign(
            text.encode(), padding.PKCS1v15(), hashes.SHA256()))

    @staticmethod
    def verify(key, token):
        """(header, claims), or raises ValueError."""
        try:
            head, claims, signature = token.split(".")
            key.public_key().verify(
                unb64url(signature), f"{head}.{claims}".encode(),
                padding.PKCS1v15(), hashes.SHA256())
            return json.loads(unb64url(head)), json.loads(unb64url(claims))
        except (InvalidSignature, ValueError) as why:
            raise ValueError("Invalid JWT Signature.") from why

    def subject_token(self, audience):
        now = int(time.time())
        token = self.sign(self.issuer_key, {
            "iss": "https://token.actions.githubusercontent.com",
            "sub": "repo:acme/jobs:ref:refs/heads/main", "aud": audience,
            "iat": now, "exp": now + 300, "jti": secrets.token_hex(8)})
        self.subjects.append(token)
        return token

    # ---- endpoints

    def token(self, form, url):
        """oauth2.googleapis.com/token"""
        grant = form.get("grant_type")
        if grant == JWT_BEARER:
            return self.token_of_jwt(form, url)
        if grant == "refresh_token":
            return self.token_of_refresh(form)
        raise oauth_error("unsupported_grant_type",
                          f"Invalid grant_type: {grant}")

    def token_of_jwt(self, form, url):
        try:
            head, claims = self.verify(self.key, form.get("assertion", ""))
        except ValueError as why:
            raise oauth_error("invalid_grant", str(why)) from why
        now = time.time()
        if head.get("alg") != "RS256" or head.get("typ") != "JWT" or \
                head.get("kid") != self.key_id:
            raise oauth_error("invalid_grant", "Invalid JWT Signature.")
        if claims.get("iss") != EMAIL:
            raise oauth_error("invalid_grant", "Invalid grant: account not "
                              "found")
        if claims.get("aud") != url:
            raise oauth_error("invalid_grant", "Invalid JWT: Failed audience "
                              "check. The right audience is " + url)
        if not isinstance(claims.get("iat"), int) or \
                not isinstance(claims.get("exp"), int) or \
                claims["exp"] - claims["iat"] > 3600 or \
                claims["exp"] < now or claims["iat"] > now + 60:
            raise oauth_error("invalid_grant", "Invalid JWT: Token must be a "
                              "short-lived token (60 minutes) and in a "
                              "reasonable timeframe. Check your iat and exp "
                              "values in the JWT claim.")
        if not claims.get("scope"):
            raise oauth_error("invalid_scope", "Invalid OAuth scope or ID "
                              "token audience provided.")
        token, life = self.issue(EMAIL, claims["scope"].split())
        # A string, as some of Google's endpoints have it.
        return Answer(body={"access_token": token, "expires_in": str(life),
                            "token_type": "Bearer"})

    def token_of_refresh(self, form):
        if (form.get("client_id"), form.get("client_secret")) != \
                ("client-1.apps.googleusercontent.com", self.client_secret):
            raise oauth_error("invalid_client", "The OAuth client was not "
                              "found.", 401)
        if form.get("refresh_token") != self.refresh_token or \
                self.state.get("refresh_revoked"):
            raise oauth_error("invalid_grant", "Token has been expired or "
                              "revoked: " + form.get("refresh_token", ""))
        token, life = self.issue("user@example.com", [SCOPE])
        return Answer(body={"access_token": token, "expires_in": life,
                            "token_type": "Bearer", "scope": SCOPE})

    def exchange(self, form):
        """sts.googleapis.com/v1/token"""
        if form.get("grant_type") != EXCHANGE or \
                form.get("requested_token_type") != ACCESS_TOKEN or \
                form.get("subject_token_type") != JWT_TYPE or \
                not form.get("scope"):
            raise oauth_error("invalid_request", "Invalid value for a "
                              "parameter of the exchange")
        if form.get("audience") != POOL:
            raise oauth_error("invalid_target", "The target service indicated "
                              "by the \"audience\" parameters is invalid.")
        try:
            _, claims = self.verify(self.issuer_key,
                                    form.get("subject_token", ""))
        except ValueError as why:
            raise oauth_error("invalid_grant", "Unable to verify the ID "
                              "Token signature") from why
        if claims["aud"] != "https:" + POOL:
            raise oauth_error("invalid_grant", "The audience in ID Token "
                              f"[{claims['aud']}] does not match the expected "
                              f"audience https:{POOL}.")
        if claims["exp"] < time.time():
            raise oauth_error("invalid_grant", "ID Token issued at "
                              f"{claims['iat']} is stale to sign-in.")
        token, life = self.issue("principal://ci", form["scope"].split())
        return Answer(body={"access_token": token, "expires_in": life,
                            "issued_token_type": ACCESS_TOKEN,
                            "token_type": "Bearer"})

    def impersonate(self, email, body, headers):
        """iamcredentials: generateAccessToken"""
        caller = self.check(headers)
        if email != TARGET:
            raise error(403, "Permission 'iam.serviceAccounts.getAccessToken' "
                        "denied on resource (or it may not exist).")
        if set(body) - {"scope", "lifetime", "delegates"}:
            raise error(400, "Invalid JSON payload received. Unknown name.")
        if not body.get("scope"):
            raise error(400, "Request contains an invalid argument.")
        wants = self.state.get("delegates")
        if wants is not None and body.get("delegates") != wants:
            raise error(403, f"{caller} may not act through these delegates")
        life = int(body.get("lifetime", "3600s").rstrip("s"))
        token, _ = self.issue(email, body["scope"], life)
        end = datetime.datetime.fromtimestamp(time.time() + life,
                                              datetime.timezone.utc)
        return Answer(body={"accessToken": token,
                            "expireTime": end.strftime("%Y-%m-%dT%H:%M:%SZ")})

    def github(self, query, headers):
        if headers.get("Authorization", "").lower() != \
                "bearer " + self.request_token.lower():
            raise Answer(401, {"message": "Unauthorized"})
        audience = query.get("audience", ["https://github.com/acme"])[0]
        return Answer(body={"count": 1, "value": self.subject_token(audience)})

    def subject_url(self, headers):
        if headers.get("X-Source-Key") != self.source_key:
            raise Answer(403, "no", type="text/plain")
        return Answer(body=self.subject_token("https:" + POOL),
                      type="text/plain")

    # ---- files

    def write(self, folder, base):
        """Credential files of all kinds, and github.env."""
        os.makedirs(folder, exist_ok=True)

        def put(name, value):
            path = os.path.join(folder, name)
            with open(path, "w", encoding="utf-8") as file:
                file.write(value if isinstance(value, str)
                           else json.dumps(value, indent=2))
            return path

        service = {
            "type": "service_account", "project_id": "proj-1",
            "private_key_id": self.key_id, "private_key": self.pem(self.key),
            "client_email": EMAIL, "client_id": "1",
            "token_uri": f"{base}/oauth2/token",
            "universe_domain": "googleapis.com"}
        user = {
            "type": "authorized_user", "account": "",
            "client_id": "client-1.apps.googleusercontent.com",
            "client_secret": self.client_secret,
            "refresh_token": self.refresh_token,
            "quota_project_id": "quota-1",
            "token_uri": f"{base}/oauth2/token"}
        external = {
            "type": "external_account", "audience": POOL,
            "subject_token_type": JWT_TYPE,
            "token_url": f"{base}/sts/v1/token"}
        impersonation = (f"{base}/iamcredentials/v1/projects/-/"
                         f"serviceAccounts/{TARGET}:generateAccessToken")
        subject = put("subject.json", {
            "id_token": self.subject_token("https:" + POOL)})
        put("service_account.json", service)
        put("authorized_user.json", user)
        put("external_file.json", dict(external, credential_source={
            "file": subject, "format": {
                "type": "json", "subject_token_field_name": "id_token"}}))
        put("external_url.json", dict(
            external, service_account_impersonation_url=impersonation,
            service_account_impersonation={"token_lifetime_seconds": 1800},
            credential_source={"url": f"{base}/subject",
                               "headers": {"X-Source-Key": self.source_key}}))
        put("external_github.json", dict(
            external, credential_source={"environment_id": "github1"}))
        put("impersonated.json", {
            "type": "impersonated_service_account",
            "source_credentials": user, "delegates": [],
            "service_account_impersonation_url": impersonation})
        put("github.env",
            f"ACTIONS_ID_TOKEN_REQUEST_URL={base}/github?api-version=2.0\n"
            f"ACTIONS_ID_TOKEN_REQUEST_TOKEN={self.request_token}\n")


def form_of(body):
    pairs = urllib.parse.parse_qs(body.decode(), keep_blank_values=True)
    return {name: values[0] for name, values in pairs.items()}
