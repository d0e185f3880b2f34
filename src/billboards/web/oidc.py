"""Logging in elsewhere, by OpenID Connect: the authorization code flow with PKCE.

What must come back unchanged (state, nonce, verifier) waits in a cookie of the browser that began, so that an answer
can't be handed to another browser. The identity token is checked by its signature, issuer, audience, time and nonce;
nothing else of what the provider says is trusted.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx
from authlib.common.security import generate_token
from authlib.integrations.base_client import OAuthError
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from billboards.errors import NotAllowed, SiteFailed
from billboards.site.settings import OidcSettings

if TYPE_CHECKING:
    from authlib.integrations.httpx_client import OAuth2Client

SCOPE = "openid profile email"
ALGORITHMS = ["RS256", "ES256", "PS256", "EdDSA"]
TIMEOUT = 10.0


@dataclass(frozen=True)
class Began:
    """A log-in that was begun: where the browser goes, and what it must bring back."""

    address: str
    state: str
    nonce: str
    verifier: str


@dataclass(frozen=True)
class Identity:
    """Who the provider says somebody is."""

    subject: str
    name: str
    email: str | None


def begin(settings: OidcSettings, redirect: str) -> Began:
    """Where to send a browser that wants to log in."""
    nonce, verifier = secrets.token_urlsafe(24), generate_token(64)
    with _client(settings, redirect) as client:
        address, state = client.create_authorization_url(
            _provider(settings)["authorization_endpoint"], nonce=nonce, code_verifier=verifier
        )
    return Began(address, state, nonce, verifier)


def finish(settings: OidcSettings, redirect: str, began: Began, answer: str) -> Identity:
    """Who came back with `answer`, the whole address the provider sent the browser to."""
    provider = _provider(settings)
    try:
        with _client(settings, redirect) as client:
            token = client.fetch_token(
                provider["token_endpoint"],
                authorization_response=answer,
                state=began.state,
                code_verifier=began.verifier,
            )
    except (OAuthError, httpx.HTTPError, ValueError) as error:
        raise NotAllowed(f"{settings.name} did not vouch for you ({error}); try to log in again") from error
    return _identity(settings, provider, token.get("id_token"), began.nonce)


def _identity(settings: OidcSettings, provider: dict[str, Any], id_token: Any, nonce: str) -> Identity:
    registry = jwt.JWTClaimsRegistry(
        leeway=60,
        iss={"essential": True, "value": settings.issuer},
        aud={"essential": True, "value": settings.client_id},
        exp={"essential": True},
        nonce={"essential": True, "value": nonce},
        sub={"essential": True},
    )
    try:
        keys = KeySet.import_key_set(_fetched(provider["jwks_uri"]))  # type: ignore[arg-type]
        claims = jwt.decode(str(id_token), keys, algorithms=ALGORITHMS).claims
        registry.validate(claims)
    except (JoseError, ValueError, KeyError) as error:
        raise NotAllowed(f"{settings.name} sent an identity that can't be trusted ({error})") from error
    name = claims.get("preferred_username") or claims.get("name") or claims.get("email") or claims["sub"]
    verified = claims.get("email") if claims.get("email_verified") else None
    return Identity(f"{settings.issuer} {claims['sub']}", _one_line(str(name)), verified)


def _one_line(name: str) -> str:
    """A name that can stand on a page; what can't be shown is left out."""
    kept = "".join(letter for letter in name if letter.isprintable()).strip()[:60]
    return kept or "somebody"


def _client(settings: OidcSettings, redirect: str) -> OAuth2Client:
    # Only a site with a provider needs it, and loading it says on stderr that its httpx is growing old.
    from authlib.integrations.httpx_client import OAuth2Client

    return OAuth2Client(
        settings.client_id,
        settings.secret,
        scope=SCOPE,
        redirect_uri=redirect,
        code_challenge_method="S256",
        timeout=TIMEOUT,
    )


def _provider(settings: OidcSettings) -> dict[str, Any]:
    """Where the provider's parts are; its own word on who it is must match the settings."""
    found = _fetched(f"{settings.issuer.rstrip('/')}/.well-known/openid-configuration")
    if found.get("issuer") != settings.issuer:
        raise SiteFailed(
            f"the log-in service calls itself {found.get('issuer')!r}, not {settings.issuer!r}; "
            "correct [oidc] issuer in site.toml"
        )
    return found


def _fetched(address: str) -> dict[str, Any]:
    try:
        response = httpx.get(address, timeout=TIMEOUT).raise_for_status()
        found: dict[str, Any] = response.json()
    except (httpx.HTTPError, ValueError) as error:
        raise SiteFailed(f"the log-in service can't be reached at {address}: {error}") from error
    return found
