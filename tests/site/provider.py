"""A small OpenID Connect provider that vouches for one person, as a real server on loopback."""

from __future__ import annotations

import base64
import hashlib
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey


class Provider(ThreadingHTTPServer):
    """Hands out codes and signed identities; `claims` and `key` can be spoiled to see whether anybody notices."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.key = RSAKey.generate_key(2048, {"kid": "one", "use": "sig", "alg": "RS256"})
        self.signing_key = self.key
        self.issuer = f"http://127.0.0.1:{self.server_port}"
        self.codes: dict[str, dict[str, str]] = {}
        self.claims: dict[str, Any] = {}

    def identity(self, nonce: str) -> str:
        now = int(time.time())
        stated = {"iss": self.issuer, "aud": "boards", "sub": "person-1", "exp": now + 60, "iat": now, "nonce": nonce}
        stated |= {"preferred_username": "Ada", "email": "ada@example.org", "email_verified": True, **self.claims}
        return jwt.encode({"alg": "RS256", "kid": "one"}, stated, self.signing_key)


class _Handler(BaseHTTPRequestHandler):
    server: Provider

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        path, asked = urlsplit(self.path).path, parse_qs(urlsplit(self.path).query)
        issuer = self.server.issuer
        if path == "/.well-known/openid-configuration":
            self._say(
                {
                    "issuer": issuer,
                    "authorization_endpoint": f"{issuer}/authorize",
                    "token_endpoint": f"{issuer}/token",
                    "jwks_uri": f"{issuer}/keys",
                }
            )
        elif path == "/keys":
            self._say(KeySet([self.server.key]).as_dict(private=False))
        else:
            code = f"code-{len(self.server.codes)}"
            self.server.codes[code] = {word: asked[word][0] for word in ("nonce", "code_challenge")}
            back = urlencode({"code": code, "state": asked["state"][0]})
            self.send_response(302)
            self.send_header("location", f"{asked['redirect_uri'][0]}?{back}")
            self.end_headers()

    def do_POST(self) -> None:
        sent = parse_qs(self.rfile.read(int(self.headers["content-length"])).decode())
        kept = self.server.codes.pop(sent["code"][0], None)
        hashed = hashlib.sha256(sent["code_verifier"][0].encode()).digest()
        challenge = base64.urlsafe_b64encode(hashed).decode().rstrip("=")
        if kept is None or kept["code_challenge"] != challenge:
            self._say({"error": "invalid_grant"}, 400)
            return
        identity = self.server.identity(kept["nonce"])
        self._say({"access_token": "a", "token_type": "Bearer", "id_token": identity})

    def _say(self, said: Any, status: int = 200) -> None:
        body = json.dumps(said).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def running_provider() -> Iterator[Provider]:
    with Provider() as provider:
        Thread(target=provider.serve_forever, daemon=True).start()
        try:
            yield provider
        finally:
            provider.shutdown()
