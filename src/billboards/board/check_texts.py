"""How texts look: metrics expect them as people write them, detokenised and truecased (Billboards, §3.1).

Whether a text looks odd depends on the language and the task, so outputs are compared with the board's references: what
is common there is not remarked on. Where a board has no references, ordinary running text is assumed. Each text comes
with its file and line, for messages that a person can follow up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from billboards.board._parts import INSTANCES
from billboards.board.model import Board, Instance, Outputs
from billboards.errors import Problem

#: A trait is worth a word when this share of the outputs has it, and this many times as many as of the references.
SHARE, TIMES, AT_LEAST = 0.1, 3, 2
#: The share from which on repeated texts are worth a word; short ones repeat by chance.
REPEATED = 0.02
#: What tokenisers leave between words and nobody writes: looked for as they stand, which is fast.
_MARKS = (" , ", " . ", " n't ", " 's ", " 're ", " 've ", " 'll ", " 'd ", " 'm ", "-LRB-", "-RRB-", "-LSB-", "-RSB-",
          "``", "@-@", "@@ ", "\u2581")  # fmt: skip
_CJK = "\u3040-\u30ff\u3400-\u9fff"
_SPACED = re.compile(f"[{_CJK}] [{_CJK}]")


@dataclass(frozen=True, slots=True)
class Passage:
    """One text of an instance (by its position on the board) and the line it stands on."""

    instance: int
    text: str
    line: int | None


@dataclass(frozen=True, kw_only=True)
class Passages:
    """Texts of one kind from one file; `row` is the generator's row where they are a generator's."""

    path: str
    what: str
    items: tuple[Passage, ...]
    row: Outputs | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.items)

    @cached_property
    def joined(self) -> str:
        """All texts in one, to look quickly for what is rarely there."""
        return "\n".join(item.text for item in self.items)

    @cached_property
    def by_instance(self) -> Mapping[int, Passage]:
        return {item.instance: item for item in self.items}


def references(board: Board, lines: Mapping[str, int] | None = None) -> Passages:
    """Every reference of a board; with the lines of instances, also where each stands."""
    lines = lines or {}
    items = (Passage(k, r.text, lines.get(i.id)) for k, i in enumerate(board.instances) for r in i.references)
    return Passages(path=INSTANCES, what="references", items=tuple(items))


@dataclass(frozen=True, kw_only=True, slots=True)
class Oddity:
    """Characters that hardly ever belong in a text, what they are, and what to do about them.

    Every case holds one of the `signs`, which are looked for first because that is fast.
    """

    signs: str
    pattern: re.Pattern[str]
    what: str
    advice: str


_CONTROL = "".join(chr(k) for k in (*range(32), *range(127, 160)) if chr(k) not in "\t\n\r")
ODDITIES = (
    Oddity(
        signs=_CONTROL, pattern=re.compile(f"[{re.escape(_CONTROL)}]"), what="control characters", advice="remove them"
    ),
    Oddity(
        signs="\ufffd",
        pattern=re.compile("\ufffd"),
        what="the replacement character U+FFFD",
        advice="decode the text again from its source",
    ),
    Oddity(
        signs="\ufeff", pattern=re.compile("\ufeff"), what="an invisible byte order mark U+FEFF", advice="remove it"
    ),
    Oddity(
        signs="ÃÂâï",
        pattern=re.compile("[ÃÂ][\u0080-\u00bf]|â€|ï¿½|ï»¿"),
        what="UTF-8 that was read as Latin-1, as in “Ã©”",
        advice="decode the text again from its source",
    ),
    Oddity(
        signs="&",
        pattern=re.compile(r"&(?:quot|amp|apos|lt|gt|nbsp|#\d{2,5});"),
        what="HTML escapes, as in “&amp;”",
        advice="unescape them",
    ),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """Texts of which something is true, and what that is, to be read after their number."""

    items: tuple[Passage, ...]
    message: str
    #: The same without any text, where the message quotes one.
    brief: str = ""


def odd_characters(passages: Passages) -> Iterator[Problem]:
    for oddity in ODDITIES:
        if any(sign in passages.joined for sign in oddity.signs):
            hits = [item for item in passages.items if oddity.pattern.search(item.text)]
            if hits:
                yield _warning(passages, hits, f"hold {oddity.what}; {oddity.advice}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Usual:
    """What is usual on a board: the shares of references that look tokenised, have a capital, repeat another's text."""

    tokenised: float = 0.0
    capitals: float = 1.0
    repeated: float = 0.0
    from_references: bool = False

    def compared(self, share: float) -> str:
        return f" ({share:.0%} of the references do)" if self.from_references else ""


ORDINARY = Usual()


def usual(references: Passages, instances: tuple[Instance, ...]) -> Usual:
    """What is usual among the references; ordinary running text where there are none."""
    if not references:
        return ORDINARY
    cased = [item for item in references.items if _has_case(item.text)]
    marked = sum(token_mark(item.text) is not None for item in references.items)
    return Usual(
        tokenised=marked / len(references),
        capitals=sum(item.text != item.text.lower() for item in cased) / len(cased) if cased else 0.0,
        repeated=len(_repeats(references, instances)) / len(references),
        from_references=True,
    )


def looks(passages: Passages, usual: Usual, instances: tuple[Instance, ...]) -> Iterator[Problem]:
    """Everything about how single texts look, as warnings."""
    yield from unusual(passages, usual)
    for finding in lowercased(passages, usual):
        yield _warning(passages, finding.items, finding.message)
    yield from odd_characters(passages)
    for finding in repeated(passages, usual, instances):
        yield _warning(passages, finding.items, finding.message)


def unusual(passages: Passages, usual: Usual) -> Iterator[Problem]:
    """Empty and tokenised texts, as warnings."""
    for finding in (*empty(passages), *tokenised(passages, usual)):
        yield _warning(passages, finding.items, finding.message)


def empty(passages: Passages) -> Iterator[Finding]:
    hits = tuple(item for item in passages.items if not item.text.strip())
    if hits:
        yield Finding(items=hits, message="are empty; leave the line out where there is no output")


def tokenised(passages: Passages, usual: Usual) -> Iterator[Finding]:
    hits = [(item, mark) for item in passages.items if (mark := token_mark(item.text))]
    if len(hits) >= AT_LEAST and len(hits) / len(passages) > max(SHARE, TIMES * usual.tokenised):
        compared = usual.compared(usual.tokenised)
        message = f"look tokenised{compared}, the first by {hits[0][1]!r}; detokenise them, metrics expect running text"
        yield Finding(items=tuple(item for item, _ in hits), message=message)


def token_mark(text: str) -> str | None:
    """The first sign that a text was cut into tokens, if there is one."""
    padded = f"{text} "
    for mark in _MARKS:
        if mark in padded:
            return mark
    spaced = None if text.isascii() else _SPACED.search(text)
    return spaced[0] if spaced else None


def lowercased(passages: Passages, usual: Usual) -> Iterator[Finding]:
    """Outputs in a script with case that have almost no capital, where most references have one."""
    cased = [item for item in passages.items if _has_case(item.text)]
    plain = tuple(item for item in cased if item.text == item.text.lower())
    if len(plain) >= AT_LEAST and usual.capitals > 0.5 and 1 - len(plain) / len(cased) < SHARE * usual.capitals:
        compared = f" ({usual.capitals:.0%} of the references have one)" if usual.from_references else ""
        message = f"have no capital letter{compared}; restore the case, metrics expect it"
        yield Finding(items=plain, message=message)


def _has_case(text: str) -> bool:
    return text.upper() != text.lower()


def repeated(passages: Passages, usual: Usual, instances: tuple[Instance, ...]) -> Iterator[Finding]:
    """Outputs that are the same for instances with different inputs, more often than references are."""
    hits = _repeats(passages, instances)
    if len(hits) >= AT_LEAST and len(hits) / len(passages) > max(REPEATED, TIMES * usual.repeated):
        item, first = hits[0]
        other = f"line {first.line}" if first.line else instances[first.instance].id
        where = f"the first repeats {other}: {item.text[:40]!r}"
        message = f"are the text of another instance too ({where}); look whether each stands with its own instance"
        brief = "are the text of another instance too; look whether each stands with its own instance"
        yield Finding(items=tuple(item for item, _ in hits), message=message, brief=brief)


def _repeats(passages: Passages, instances: tuple[Instance, ...]) -> list[tuple[Passage, Passage]]:
    first: dict[str, Passage] = {}
    repeats = []
    for item in passages.items:
        other = first.setdefault(item.text, item)
        if other is not item and item.text.strip() and _differ(instances[other.instance], instances[item.instance]):
            repeats.append((item, other))
    return repeats


def _differ(first: Instance, other: Instance) -> bool:
    """Whether two instances ask for something else, as far as the board tells."""
    if first.input is None and first.image is None:
        return first.id != other.id
    return (first.input, first.image) != (other.input, other.image)


def _warning(passages: Passages, hits: Sequence[Passage], message: str) -> Problem:
    text = f"{len(hits)} of {len(passages)} {passages.what} {message}"
    return Problem(passages.path, hits[0].line, text, "warning")
