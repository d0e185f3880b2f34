"""Signed statements: what a site said, in a form that proves it later and elsewhere.

A statement names a board, one of its rankings, when and where it was said, and the SHA-256 of each document that it
speaks of. A site signs it with Ed25519; whoever has the site's public key can prove a quoted ranking without the site.
Both digests and signatures are of canonical JSON: keys sorted, no spaces, ASCII, so that a document that was read and
written again by any program is still the same.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from billboards.errors import InvalidInput, MissingPart
from billboards.reading import json_value, shown
from billboards.show.documents import SCHEMA, read_fields

#: What is signed begins with these words, so that no other text of a site can be taken for a statement.
DOMAIN = b"billboards statement 1\n"
#: How a ranking names its board's draft: a mark of the moment, no part of what the ranking says.
DRAFT = "draft"
#: The largest file that is read as a key or a signed ranking.
LARGEST = 256 * 2**20
_KEY, _SIGNATURE = re.compile("[0-9a-f]{64}"), re.compile("[0-9a-f]{128}")


@dataclass(frozen=True, kw_only=True)
class Statement:
    """What a site vouches for: that it showed everybody these documents as a ranking of this board."""

    DOCUMENT: ClassVar[str] = "statement"

    site: str
    #: The site's address as its owner states it; empty where none is stated.
    address: str
    board: str
    audience: str
    #: The ranking's id and number on the site.
    ranking: str
    number: int
    created: str
    #: The SHA-256 of each document's canonical JSON, by kind: "ranking", "overrating".
    documents: Mapping[str, str]
    #: What the site keeps from everybody, so that others can't compute all numbers again.
    hidden: tuple[str, ...] = ()
    #: The id of the key that signs.
    key: str


@dataclass(frozen=True, kw_only=True)
class PublicKey:
    """A site's public key, by its id, and from when to when it signed."""

    id: str
    public_key: str
    created: str = ""
    retired: str | None = None


@dataclass(frozen=True, kw_only=True)
class Signed:
    """A statement as it was signed, word by word, with its signature and the key that came along."""

    document: Mapping[str, Any]
    signature: str
    public_key: str

    @property
    def statement(self) -> Statement:
        return read_fields(Statement, self.document, "statement")

    def as_document(self) -> dict[str, Any]:
        """The statement with its signature, as sites serve it."""
        head = {"schema": SCHEMA, "kind": "signed"}
        return head | {
            "statement": dict(self.document),
            "signature": self.signature,
            "public_key": self.public_key,
        }


def canonical(document: Mapping[str, Any]) -> bytes:
    """The one text of a document, whoever wrote it down."""
    try:
        text = json.dumps(document, sort_keys=True, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"a document that is no strict JSON: {error}; download it anew") from error
    return text.encode("ascii")


def document_digest(document: Mapping[str, Any]) -> str:
    """The SHA-256 of a document's canonical text; whether its board is a draft now is no part of it."""
    lasting = {key: value for key, value in document.items() if key != DRAFT}
    return hashlib.sha256(canonical(lasting)).hexdigest()


def key_id(public_key: str) -> str:
    """The name of a public key: the first digits of its own SHA-256."""
    return hashlib.sha256(bytes.fromhex(public_key)).hexdigest()[:16]


def new_private_key() -> str:
    """A fresh private key."""
    return bytes(_ed25519().Ed25519PrivateKey.generate().private_bytes_raw()).hex()


def public_key_of(private_key: str) -> str:
    """The public key that belongs to a private one."""
    opened = _ed25519().Ed25519PrivateKey.from_private_bytes(bytes.fromhex(private_key))
    return bytes(opened.public_key().public_bytes_raw()).hex()


def sign(statement: Mapping[str, Any], private_key: str) -> Signed:
    """A statement under a key; the same statement and key give the same signature."""
    opened = _ed25519().Ed25519PrivateKey.from_private_bytes(bytes.fromhex(private_key))
    signature = opened.sign(DOMAIN + canonical(statement)).hex()
    return Signed(document=statement, signature=signature, public_key=public_key_of(private_key))


def is_signed_by(signed: Signed, public_key: str) -> bool:
    """Whether a statement was signed with the private key that belongs to this public one."""
    from cryptography.exceptions import InvalidSignature

    try:
        opened = _ed25519().Ed25519PublicKey.from_public_bytes(bytes.fromhex(public_key))
        opened.verify(bytes.fromhex(signed.signature), DOMAIN + canonical(signed.document))
    except (InvalidSignature, ValueError):
        return False
    return True


def can_check() -> bool:
    """Whether signatures can be checked here."""
    from importlib.util import find_spec

    return find_spec("cryptography") is not None


def read_signed(document: Any, where: str) -> Signed:
    """A signed statement from JSON; what it says of itself is not believed here."""
    if not isinstance(document, Mapping) or not isinstance(document.get("statement"), Mapping):
        raise InvalidInput(f"{where}: holds no signed statement")
    signature, public_key = document.get("signature"), document.get("public_key")
    if not isinstance(signature, str) or not _SIGNATURE.fullmatch(signature):
        raise InvalidInput(f"{where}: its signature is {shown(signature)}, not 128 hexadecimal digits")
    if not isinstance(public_key, str) or not _KEY.fullmatch(public_key):
        raise InvalidInput(f"{where}: its public key is {shown(public_key)}, not 64 hexadecimal digits")
    signed = Signed(document=document["statement"], signature=signature, public_key=public_key)
    read_fields(Statement, signed.document, f"{where}, statement")
    return signed


def read_keys(text: str) -> tuple[PublicKey, ...]:
    """Public keys that somebody names: 64 hexadecimal digits, a file of them, or the JSON that sites publish."""
    if _KEY.fullmatch(text):
        return (PublicKey(id=key_id(text), public_key=text),)
    path = Path(text)
    try:
        if not path.is_file() or path.stat().st_size > LARGEST:
            raise InvalidInput(f"{shown(text)} is neither a public key (64 hexadecimal digits) nor a file of one")
        content = path.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise InvalidInput(
            f"{shown(text)} is neither a public key (64 hexadecimal digits) nor a file: {error}"
        ) from error
    if _KEY.fullmatch(content):
        return (PublicKey(id=key_id(content), public_key=content),)
    try:
        return keys_of(json_value(content), text)
    except ValueError as error:
        raise InvalidInput(f"{path}: holds neither a public key nor JSON: {error}") from error


def keys_of(document: Any, where: str) -> tuple[PublicKey, ...]:
    """The public keys in a JSON document: a list of them, an object with `keys`, or with a `public_key`."""
    listed = document.get("keys", [document]) if isinstance(document, Mapping) else document
    if not isinstance(listed, list) or not listed:
        raise InvalidInput(f"{where}: holds no public key; give one from the site's /api/v1/keys")
    keys = tuple(read_fields(PublicKey, _with_id(entry), f"{where}, key") for entry in listed)
    for key in keys:
        if not _KEY.fullmatch(key.public_key) or key.id != key_id(key.public_key):
            raise InvalidInput(f"{where}: key {shown(key.id)} is not the one of that id; it is damaged")
    return keys


def _with_id(entry: Any) -> Any:
    """A key's entry, its id computed where a signed statement names only the key."""
    text = entry.get("public_key") if isinstance(entry, Mapping) else None
    if not isinstance(text, str) or not _KEY.fullmatch(text) or not isinstance(entry, Mapping):
        return entry
    return {"id": key_id(text), **entry}


def _ed25519() -> Any:
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError as error:
        raise MissingPart(
            "signatures need the package cryptography; install it with `pip install 'billboards[site]'`"
        ) from error
    return ed25519
