"""A template of somebody's own, sent to a site as a file or a text instead of being opened by its path.

It is read as any template file is, with every mistake named; before that it must be text in UTF-8, and not too large.
What it says is only ever shown as text.
"""

from __future__ import annotations

from dataclasses import dataclass

from billboards.errors import InvalidTemplate, Problem

#: Bytes; the longest of the shipped templates has less than a fiftieth of it.
LARGEST = 200_000
#: How much of a file's name is said back.
_SHOWN = 80


@dataclass(frozen=True, slots=True)
class SentTemplate:
    """The text of a template file, and what messages call it."""

    name: str
    text: str


def sent_template(raw: bytes, name: str) -> SentTemplate:
    """A template file as it came in; what can't be one is refused before it is parsed."""
    name = name[:_SHOWN]
    if len(raw) > LARGEST:
        raise InvalidTemplate(
            [Problem(name, None, f"has {len(raw):,} bytes; a template may have {LARGEST:,}, shorten its texts")]
        )
    try:
        return SentTemplate(name, raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise InvalidTemplate(
            [Problem(name, line, "is not UTF-8; save the file as UTF-8 and send it again")]
        ) from error
