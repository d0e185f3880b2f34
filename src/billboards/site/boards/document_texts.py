"""Rankings as documents and as text, in which what the last one said too is not written again.

A thousand generators under fifty metrics are 200,000 numbers, and with one more generator nearly all of them are said
once more: only places change. So a process keeps what the numbers of each generator are in a document and in its two
texts: the one that is stored, and the one that the document is named by. All three are, to the last character, what
they would be if they were made from nothing.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from billboards.analyses.rank import GeneratorStanding, Ranking
from billboards.show.documents import COMPACT, Document, document_of, escaped, plain
from billboards.site.boards.snapshots import NAMED, digest_of

#: What is said of a generator under every metric, and everything that is said of one, in its order.
NUMBERS = ("scores", "covered", "corpus", "interval")
_FIELDS = tuple(field.name for field in fields(GeneratorStanding))
#: Stands in a text where something is put in; nobody who sends in names can know it.
_HERE = secrets.token_hex(16)


@dataclass(frozen=True, kw_only=True)
class _Numbers:
    """What is said of one generator under every metric: as it was computed, in the document, and in the texts."""

    computed: tuple[list[Any], ...]
    plain: dict[str, Any]
    stored: dict[str, str]
    named: dict[str, str]


@dataclass(frozen=True)
class KeptTexts:
    """What a process keeps of the last ranking's document."""

    _numbers: dict[str, _Numbers] = field(default_factory=dict)

    def ranking_document(self, ranking: Ranking) -> Document:
        """What `document_of` says of a ranking."""
        numbers = {standing.name: self._of(standing) for standing in ranking.generators}
        self._numbers.clear()
        self._numbers.update(numbers)
        document = document_of(replace(ranking, generators=()))
        document["generators"] = [
            {name: numbers[g.name].plain[name] if name in NUMBERS else plain(getattr(g, name)) for name in _FIELDS}
            for g in ranking.generators
        ]
        return document

    def _of(self, standing: GeneratorStanding) -> _Numbers:
        computed = tuple(list(getattr(standing, name).items()) for name in NUMBERS)
        kept = self._numbers.get(standing.name)
        if kept is not None and kept.computed == computed:
            return kept
        plain_numbers = {name: plain(getattr(standing, name)) for name in NUMBERS}
        return _Numbers(
            computed=computed,
            plain=plain_numbers,
            stored={name: json.dumps(plain_numbers[name], **COMPACT) for name in NUMBERS},
            named={name: json.dumps(plain_numbers[name], **NAMED) for name in NUMBERS},
        )

    def stored_text(self, document: Mapping[str, Any]) -> str:
        """The text that a document with the last ranking in it is stored as."""
        generators = document["ranking"]["generators"]
        return escaped(_text(document, generators, [self._numbers[g["name"]].stored for g in generators], COMPACT))

    def document_id(self, document: Mapping[str, Any]) -> str:
        """The name of a document with the last ranking in it."""
        generators = document["ranking"]["generators"]
        return digest_of(_text(document, generators, [self._numbers[g["name"]].named for g in generators], NAMED))


def _text(
    document: Mapping[str, Any],
    generators: Sequence[Mapping[str, Any]],
    numbers: Sequence[Mapping[str, str]],
    how: Mapping[str, Any],
) -> str:
    """A document as text, into which the texts of generators' numbers are put."""
    holes = {name: _HERE + name for name in NUMBERS}
    encode = json.JSONEncoder(**how).encode
    written = []
    for generator, own in zip(generators, numbers, strict=True):
        text = encode({**generator, **holes})
        for name in NUMBERS:
            text = text.replace(f'"{holes[name]}"', own[name], 1)
        written.append(text)
    around = {**document, "ranking": {**document["ranking"], "generators": _HERE}}
    comma = how.get("separators", (", ",))[0]
    return encode(around).replace(f'"{_HERE}"', f"[{comma.join(written)}]", 1)
