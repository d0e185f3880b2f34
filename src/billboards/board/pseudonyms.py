"""Pseudonyms: names that stand for persons and lead back to nobody.

Crowd platforms know their workers by ids, and so does everybody who has ever paid them: an id of Mechanical Turk leads
to a profile, to reviews, to other data sets. On import such ids become `W001` and so on; on export every annotator's
name becomes a keyed digest. Names that are pseudonyms already (`rater1`, `W001`, `M0123`) stay on import.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Iterable

#: Workers as platforms know them: Mechanical Turk, a number (CrowdFlower, Upwork), Prolific, a UUID, an address.
_PLATFORM_ID = re.compile(
    r"A(?=[0-9]*[A-Z])(?=[A-Z]*[0-9])[0-9A-Z]{5,}"
    r"|[0-9]{5,}"
    r"|[0-9a-f]{24}"
    r"|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
    r"|[^@\s]+@[^@\s]+"
)
_DIGITS = 3


def pseudonym(name: str, key: bytes) -> str:
    """A name's pseudonym under a key, such as `a-3f9c0d12`: the same name, the same pseudonym, and no way back.

    A keyed digest, because names and platform ids can be listed and tried: without a key anybody could look them up.

    name: an annotator's
    key: a secret

    Example:

        pseudonym("Ann", b"a secret of the campaign")
    """
    return f"a-{hmac.new(key, name.encode('utf-8', 'surrogatepass'), 'sha256').hexdigest()[:12]}"


def is_platform_id(name: str) -> bool:
    """Whether a name looks like a crowd worker's id on a platform, or like an address, and is no pseudonym.

    name: an annotator's, as the data have it

    Example:

        is_platform_id("A2M98OTRS1XX7F")
    """
    return _PLATFORM_ID.fullmatch(name) is not None


def pseudonyms(names: Iterable[str]) -> dict[str, str]:
    """A pseudonym for every name that is a platform's id: `W001` and so on; other names are not among the keys.

    The numbers follow a digest that is keyed with all ids together: the same ids have the same pseudonyms whatever
    their order, and one id alone tells nothing of its number.

    names: annotators, as the data have them

    Example:

        pseudonyms(["A2M98OTRS1XX7F", "Ann"])
    """
    every = set(names)
    ids = {name for name in every if is_platform_id(name)}
    key = hashlib.sha256("\n".join(sorted(ids)).encode()).digest()
    ordered = sorted(ids, key=lambda name: pseudonym(name, key))
    width = max(_DIGITS, len(str(len(ids))))
    numbered = (f"W{k:0{width}}" for k in range(1, len(every) + len(ids) + 1))
    free = (name for name in numbered if name not in every)
    return dict(zip(ordered, free, strict=False))
