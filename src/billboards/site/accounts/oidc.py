"""Logging in elsewhere, by OpenID Connect: the authorization code flow with PKCE.

What must come back unchanged (state, nonce, verifier) waits in a cookie of the browser that began, so that an answer
can't be handed to another browser. The identity token is checked by its signature, issuer, audience, time and nonce;
nothing else of what the provider says is trusted.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import httpx
from authlib.common.security import generate_token
from authlib.integrations.base_client import OAuthError
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from billboards.errors import NotAllowed, SiteFailed
from billboards.reading import json_value
from billboards.site.settings import OidcSettings

if TYPE_CHECKING:
    from authlib.integrations.httpx_client import OAuth2Client

SCOPE = "openid profile email"
ALGORITHMS = ["RS256", "ES256", "PS256", "EdDSA"]
TIMEOUT = 10.0
#: Addresses that a provider must name.
PARTS = ("authorization_endpoint", "token_endpoint", "jwks_uri")
#: What comes of a document in which something else stands where a text or an object belongs.
UNREADABLE = (ValueError, KeyError, TypeError, AttributeError, RecursionError)


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
    place = _provider(settings)["authorization_endpoint"]
    try:
        with _client(settings, redirect) as client:
            address, state = client.create_authorization_url(place, nonce=nonce, code_verifier=verifier)
    except ValueError as error:
        raise SiteFailed(f"the log-in service names {place[:200]!r} as its page, which is no address") from error
    return Began(address, state, nonce, verifier)


def finish(settings: OidcSettings, redirect: str, began: Began, answer: str) -> Identity:
    """Who came back with `answer`, the whole address the provider sent the browser to."""
    provider, client = _provider(settings), _client(settings, redirect)
    try:
        with client:
            token = client.fetch_token(
                provider["token_endpoint"],
                authorization_response=answer,
                state=began.state,
                code_verifier=began.verifier,
            )
    except (OAuthError, *_network_errors(client), *UNREADABLE) as error:
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
    except (JoseError, *UNREADABLE) as error:
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


def _network_errors(client: OAuth2Client) -> tuple[type[Exception], ...]:
    """What the client's network raises: its package is httpx2 where that is installed, else httpx."""
    base = next(kind for kind in type(client).__mro__ if kind.__name__ == "Client")
    package = import_module(base.__module__.partition(".")[0])
    return package.HTTPError, package.InvalidURL


def _provider(settings: OidcSettings) -> dict[str, Any]:
    """Where the provider's parts are; its own word on who it is must match the settings."""
    configuration = _fetched(f"{settings.issuer.rstrip('/')}/.well-known/openid-configuration")
    if configuration.get("issuer") != settings.issuer:
        raise SiteFailed(
            f"the log-in service calls itself {configuration.get('issuer')!r}, not {settings.issuer!r}; "
            "correct [oidc] issuer in site.toml"
        )
    missing = next((part for part in PARTS if not isinstance(configuration.get(part), str)), None)
    if missing is not None:
        raise SiteFailed(f"the log-in service does not say where its {missing} is; ask who runs it")
    return configuration


def _fetched(address: str) -> dict[str, Any]:
    try:
        response = httpx.get(address, timeout=TIMEOUT).raise_for_status()
        document = json_value(response.content)
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        raise SiteFailed(f"the log-in service can't be reached at {address}: {error}") from error
    if not isinstance(document, dict):
        raise SiteFailed(f"the log-in service answers at {address} with what is no document; ask who runs it")
    return document
