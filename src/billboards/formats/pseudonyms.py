"""Names of annotators as pseudonyms: the same name, the same pseudonym, and no way back without the key.

A keyed digest, because names and platform ids can be listed and tried: without a key anybody could look them up.
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Iterator
from dataclasses import replace

from billboards.board import Judgment


def pseudonym(name: str, key: bytes) -> str:
    """A name's pseudonym under a key, such as `a-3f9c0d12`."""
    return f"a-{hmac.new(key, name.encode(), 'sha256').hexdigest()[:12]}"


def pseudonymise(judgments: Iterable[Judgment], key: bytes) -> Iterator[Judgment]:
    """The judgments with every annotator's name replaced; who is unknown stays unknown."""
    for one in judgments:
        yield one if one.annotator is None else replace(one, annotator=pseudonym(one.annotator, key))
