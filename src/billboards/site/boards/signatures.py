"""The site's key, and what it signs: the rankings that everybody sees, as everybody sees them.

The key pair lies in the data folder, in a file that only the site's own account may read; the public half is
published with the times from when to when it signed. A statement is made and signed when a ranking is served, over the
very document that is served: what is masked for everybody is masked before it is signed, and what only owners see is
never signed. The same ranking under the same key has the same signature.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from billboards.analyses._findings import Findings
from billboards.errors import StoreFailed
from billboards.reading import json_value
from billboards.show.documents import document_of, dumps, read_fields
from billboards.signing import (
    PublicKey,
    Signed,
    Statement,
    document_digest,
    key_id,
    new_private_key,
    public_key_of,
    sign,
)
from billboards.site.boards.live import hides_judgments, live_board
from billboards.site.boards.masked import Look
from billboards.site.boards.snapshots import Snapshot
from billboards.site.settings import moment
from billboards.site.site import SIGNING, Site

#: What a file of keys calls itself.
KIND = "site keys"


@dataclass(frozen=True, kw_only=True)
class SiteKeys:
    """A site's key pairs: the private half of the one that signs, and the public halves of all there ever were."""

    private_key: str
    keys: tuple[PublicKey, ...]

    @property
    def current(self) -> PublicKey:
        """The key that signs; it stands last."""
        return self.keys[-1]


def can_sign(site: Site) -> bool:
    """Whether the site has a key that anybody could trust: one made for a moment has none."""
    return site.published is None or site.published.signs


def site_keys(site: Site) -> SiteKeys:
    """The keys of a site, made on first use; read anew each time, because another process may have made a new one."""
    path = site.data / SIGNING
    if not path.exists():
        _write(path, _with_new_key((), site.clock()), fresh=True)
    return _read(path)


def change_key(site: Site) -> PublicKey:
    """Sign with a new key from now on; the old one's private half is forgotten, its public half stays published."""
    before, now = site_keys(site), site.clock()
    retired = (*before.keys[:-1], replace(before.current, retired=moment(now)))
    made = _with_new_key(retired, now)
    _write(site.data / SIGNING, made, fresh=False)
    return made.current


def _with_new_key(keys: tuple[PublicKey, ...], now: float) -> SiteKeys:
    private_key = new_private_key()
    public_key = public_key_of(private_key)
    made = PublicKey(id=key_id(public_key), public_key=public_key, created=moment(now))
    return SiteKeys(private_key=private_key, keys=(*keys, made))


def _read(path: Path) -> SiteKeys:
    try:
        document = json_value(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise StoreFailed(f"{path}: can't be read: {error}; restore it from a backup") from error
    if not isinstance(document, Mapping) or document.get("kind") != KIND:
        raise StoreFailed(f"{path}: holds no keys of a site; restore it from a backup")
    return read_fields(SiteKeys, document, str(path))


def _write(path: Path, keys: SiteKeys, *, fresh: bool) -> None:
    """Put the keys down whole, for this account alone; of two processes that make the first key one succeeds."""
    try:
        handle, name = tempfile.mkstemp(prefix=".", suffix=".part", dir=path.parent)
        work = Path(name)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(dumps({"kind": KIND, **asdict(keys)}))
                file.flush()
                os.fsync(file.fileno())
            if fresh:
                try:
                    path.hardlink_to(work)
                except FileExistsError:
                    return
            else:
                work.replace(path)
        finally:
            work.unlink(missing_ok=True)
    except OSError as error:
        raise StoreFailed(f"{path}: can't be written: {error.strerror or error}") from error


def signed_ranking(look: Look, snapshot: Snapshot, kept: Mapping[str, Any]) -> Signed | None:
    """A statement about a snapshot's document as it is served now; None where not everybody is served the same."""
    document, overrating = look.ranking_document(kept["ranking"]), look.overrating_document(kept.get("overrating"))
    if snapshot.audience != "public" or not _is_everybodys(look, snapshot, document):
        return None
    site = look.live.site
    if not can_sign(site):
        return None
    keys = site_keys(site)
    digests = {"ranking": document_digest(document)}
    if overrating is not None:
        digests["overrating"] = document_digest(overrating)
    if findings := Findings.read(kept).document():
        digests["findings"] = document_digest(findings)
    statement = Statement(
        site=site.settings.title,
        address=site.settings.base_url,
        board=look.name,
        audience="public",
        ranking=snapshot.id,
        number=snapshot.number,
        created=moment(snapshot.created),
        documents=digests,
        hidden=_hidden(look),
        key=keys.current.id,
    )
    return sign(document_of(statement), keys.private_key)


def _is_everybodys(look: Look, snapshot: Snapshot, document: Mapping[str, Any]) -> bool:
    """Whether a document that somebody is served is the one that everybody is."""
    if look.live.audience == "public":
        return True
    public = Look(live_board(look.live.site, look.name))
    return public.served_ranking(snapshot) == document


def _hidden(look: Look) -> tuple[str, ...]:
    """What the board keeps from everybody."""
    settings = look.live.settings
    judgments = hides_judgments(settings, look.live.board)
    parts = {"inputs": look.live.inputs_hidden, "references": settings.hidden_references, "judgments": judgments}
    return tuple(part for part, hidden in parts.items() if hidden)
