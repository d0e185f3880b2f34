"""Damage done to sound files: what is cut, doubled, overwritten or exchanged, and by what.

A case is a short list of changes, each with a place between 0 and 1, so that the same case means something for a file
of any length. What is put in is what has broken readers before: other types of JSON, numbers at the edge, bytes that
are no text, texts that are markup, and words as long as a file. Tests take a handful of cases, the same at every run;
with `BILLBOARDS_FUZZ` set to a number they take that many, new ones each time.
"""

from __future__ import annotations

import os
import random
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

FUZZ = "BILLBOARDS_FUZZ"

#: What is put into files and forms.
HOSTILE: tuple[bytes, ...] = (
    b"", b"\0", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\xff\xfe", b"\r", b"\n", b"\r\n", b"\n\n", b"\t", b" ",
    b",", b'"', b'""', b"'", b"\\", b"\\ud800", b'"\\ud83d"', b"\\u0000", b"{", b"}", b"[", b"]", b"[]", b"{}", b"[[]]",
    b"null", b"true", b"NaN", b"Infinity", b"-inf", b"nan", b"0", b"-0", b"-1", b"1e999", b"1e-999", b"0x10", b"1_000",
    b"9" * 25, b"9" * 400, b"9" * 5000, b"1.5", b"1" + b"0" * 400 + b".5", "١٢٣".encode(), "²".encode(),
    b'"a"', b'["a", 1, null]', b'{"a": {"b": []}}', b"[" * 2000, b'{"a":' * 2000, b"x" * 5000, b"a.b.c", b"=1+1",
    b"<script>alert(1)</script>", b"<v>", b"</v>", "\u202egnp.exe".encode(), "\u2028".encode(), "\U0001f4a9".encode(),
    b"../../etc/passwd", b"/", b"..", b"%00", b"%s%n", b"{0.__class__}", b"${x}", b"#", b"PK\x03\x04", b"\x1f\x8b",
    b"1979-05-27T07:32:00Z", b"inf", b"=", b"a = 1\na = 2\n", b"[a]\n", b"[[a]]\n", b"\x1b[31m",
)  # fmt: skip

_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")
_VALUE = re.compile(rb'"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?|true|false|null|\[\]|\{\}')


def _span(raw: bytes, at: float, share: float) -> tuple[int, int]:
    first = int(at * len(raw))
    return first, min(len(raw), first + max(1, int(share * 40)))


def _cut(raw: bytes, at: float, share: float, put: bytes) -> bytes:
    return raw[: int(at * len(raw))]


def _remove(raw: bytes, at: float, share: float, put: bytes) -> bytes:
    first, last = _span(raw, at, share)
    return raw[:first] + raw[last:]


def _insert(raw: bytes, at: float, share: float, put: bytes) -> bytes:
    first, _ = _span(raw, at, share)
    return raw[:first] + put + raw[first:]


def _overwrite(raw: bytes, at: float, share: float, put: bytes) -> bytes:
    first, last = _span(raw, at, share)
    return raw[:first] + put + raw[last:]


def _flip(raw: bytes, at: float, share: float, put: bytes) -> bytes:
    first, last = _span(raw, at, 0)
    return raw[:first] + bytes(byte ^ (1 << int(share * 7)) for byte in raw[first:last]) + raw[last:]


def _double(raw: bytes, at: float, share: float, put: bytes) -> bytes:
    lines = raw.split(b"\n")
    k = min(int(at * len(lines)), len(lines) - 1)
    return b"\n".join([*lines[: k + 1], *lines[k:]])


def _drop_line(raw: bytes, at: float, share: float, put: bytes) -> bytes:
    lines = raw.split(b"\n")
    del lines[min(int(at * len(lines)), len(lines) - 1)]
    return b"\n".join(lines)


def _exchange(pattern: re.Pattern[bytes], raw: bytes, at: float, put: bytes) -> bytes:
    found = [match.span() for match in pattern.finditer(raw)]
    if not found:
        return raw + put
    first, last = found[min(int(at * len(found)), len(found) - 1)]
    return raw[:first] + put + raw[last:]


def _number(raw: bytes, at: float, share: float, put: bytes) -> bytes:
    return _exchange(_NUMBER, raw, at, put)


def _value(raw: bytes, at: float, share: float, put: bytes) -> bytes:
    return _exchange(_VALUE, raw, at, put)


KINDS: Mapping[str, Callable[[bytes, float, float, bytes], bytes]] = {
    "value": _value,
    "number": _number,
    "overwrite": _overwrite,
    "insert": _insert,
    "remove": _remove,
    "flip": _flip,
    "double": _double,
    "drop": _drop_line,
    "cut": _cut,
}


@dataclass(frozen=True)
class Change:
    """One thing that happens to a file."""

    kind: str
    at: float
    share: float
    put: bytes

    def to(self, raw: bytes) -> bytes:
        return KINDS[self.kind](raw, self.at, self.share, self.put)


Damage = list[Change]


def damaged(raw: bytes, damage: Damage) -> bytes:
    """A file after all that happened to it."""
    return reduce(lambda found, change: change.to(found), damage, raw)


def damaged_often(raw: bytes, count: int, *, seed: int) -> Iterator[bytes]:
    """A file after each of so many accidents, the same ones for a seed."""
    chance = random.Random(seed)
    for _ in range(count):
        kinds = chance.choices(tuple(KINDS), k=chance.randint(1, 3))
        yield damaged(raw, [Change(kind, chance.random(), chance.random(), chance.choice(HOSTILE)) for kind in kinds])


def damages(most: int = 3) -> st.SearchStrategy[Damage]:
    """Short lists of changes."""
    places = st.integers(0, 999).map(lambda k: k / 1000)
    changes = st.builds(Change, st.sampled_from(tuple(KINDS)), places, places, st.sampled_from(HOSTILE))
    return st.lists(changes, min_size=1, max_size=most)


def cases(few: int, slow: int = 1) -> Callable[[Any], Any]:
    """Settings for a test with this many cases, or as many as were asked for; `slow` times fewer of slow ones."""
    asked = os.environ.get(FUZZ)
    return settings(
        max_examples=max(1, int(asked) // slow) if asked else few,
        derandomize=not asked,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
