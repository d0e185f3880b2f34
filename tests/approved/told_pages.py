"""Answers of a site as plain lines: what stands on a page, and how one page differs from another."""

from __future__ import annotations

import difflib
import io
import json
import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Sequence
from html.parser import HTMLParser
from typing import Any

#: Elements whose text says nothing to a reader.
SILENT = frozenset(["script", "style"])
#: Elements that stand in a line of text.
_INLINE = (
    "a abbr b bdi br button cite code dd del em figcaption i img input ins kbd label mark meter option optgroup output "
    "path circle line rect polyline text title tspan g small source span strong sub summary sup td th time u use var q"
)
INLINE = frozenset(_INLINE.split())
#: Attributes that only say how a page looks or is loaded, and those that are random.
_DULL = "integrity nonce srcset autocomplete spellcheck viewbox xmlns focusable loading decoding stroke-width"
DULL = frozenset(_DULL.split())
#: Elements whose look never says anything.
_PLAIN = "dl ul section form table header button li main fieldset label input select"
PLAIN = frozenset(_PLAIN.split())
#: Headers that say something about the answer itself.
TOLD_HEADERS = (
    *("content-type", "content-disposition", "location", "link", "cache-control", "vary", "retry-after", "allow"),
    *("cross-origin-resource-policy", "www-authenticate"),
)
#: Numbers of more digits than any processor's rounding leaves alone, and times that were measured.
_LONG = re.compile(r"(?<![\w.])[+-]?\d+\.\d{7,}(?:e[+-]?\d+)?")
_STATIC = re.compile(r"/static/[^/\"]+/")
#: What nobody chose: names of submissions without one, their identities, digests of what has such a name in it.
_CHANCE = (
    (re.compile(r"anonymous-[a-z2-7]{6}\b"), "anonymous-NAME"),
    (re.compile(r"\b[a-z2-7]{26}\b"), "SUBMISSION"),
    (re.compile(r"(?<![.\w])[0-9a-f]{16,128}\b"), "DIGEST"),
    (re.compile(r"(?<=[+-])[0-9a-f]{8}\b"), "DIGEST"),
    (re.compile(r"DIGEST(, DIGEST)+"), "DIGESTS"),
)
#: The program's version, which is another one soon.
_VERSION = re.compile(r"(billboards |version=\"|version \{)\d+\.\d+[.\w]*")
#: Outputs a second, beside what a metric costs.
_SPEED = re.compile(r"((?:instant|slow)<td>)[\d,.]+")
#: Times by the clock of the site, which stands still; only others differ from run to run.
_OWN_TIME = re.compile(r"\b(204\d)-(\d\d)-(\d\d)")
_POLICY = re.compile(r"'sha256-[^']+'")


def steady(text: str) -> str:
    """A text whose long numbers have six digits, without the digests of files."""
    text = _LONG.sub(lambda number: f"{float(number[0]):.6g}", text)
    for pattern, word in _CHANCE:
        text = pattern.sub(word, text)
    text = _VERSION.sub(r"\1VERSION", text)
    text = _SPEED.sub(r"\1SPEED", text)
    text = _OWN_TIME.sub(r"\1/\2/\3", text)
    return _POLICY.sub("'DIGEST'", _STATIC.sub("/static/", text))


class _Lines(HTMLParser):
    """The elements of a page, one line for each that begins one."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.lines: list[str] = [""]
        self._silent = 0
        self._pre = 0
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = []
        for name, value in attrs:
            if name in DULL or (tag == "link" and name == "href" and "static" in (value or "")):
                continue
            if name in ("class", "tabindex") and tag in PLAIN:
                continue
            if name == "value" and ("name", "csrf") in attrs:
                continue
            told.append(name if value is None else f'{name}="{value}"')
        inner = " ".join([tag, *told])
        if tag in SILENT:
            self._silent += 1
        self._add(f"<{inner}>", begins=tag not in INLINE)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag in SILENT:
            self._silent -= 1

    def handle_endtag(self, tag: str) -> None:
        if tag in SILENT:
            self._silent -= 1
        elif tag not in INLINE:
            self.lines.append("")

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self._add(re.sub(r"\s+", " ", data), begins=False)

    def _add(self, text: str, *, begins: bool) -> None:
        if begins:
            self.lines.append("")
        self.lines[-1] += text


def page_lines(page: str) -> list[str]:
    """What stands on a page: a line for each block, row and paragraph, with its links, labels and values.

    Whether tokens can be matched depends on what else is installed.
    """
    lines = (line.strip() for line in _Lines(page).lines)
    return [steady(line) for line in lines if line and "/matching/" not in line]


def main_lines(page: str) -> list[str]:
    """The same of the page's own part, without what stands on every page."""
    lines = page_lines(page)
    begin = next((k for k, line in enumerate(lines) if line.startswith("<main")), 0)
    end = next((k for k, line in enumerate(lines) if line.startswith("<footer")), len(lines))
    lines = lines[begin:end]
    tabs = next((k for k, line in enumerate(lines) if line.startswith('<nav class="tabs"')), None)
    if tabs is None:
        return lines
    # The tabs are told with the whole page of a board.
    behind = next((k for k in range(tabs + 2, len(lines)) if not lines[k].startswith("<li><a")), len(lines))
    return lines[:tabs] + lines[behind:]


def unlike(base: Sequence[str], other: Sequence[str], *, known_before: Sequence[str] = ()) -> list[str]:
    """What another page has in the place of what; nothing where they are one.

    Lines that the first page has too are only begun; of a line that resembles one of its lines, what is new is told.
    """
    told_before = {*base, *known_before}
    heads = _heads([*base, *known_before])
    lines = []
    matched = difflib.SequenceMatcher(None, base, other, autojunk=False)
    for kind, first, last, begin, end in matched.get_opcodes():
        if kind == "equal":
            continue
        gone = base[first:last]
        lines += [f"-{line[:50]}" for line in gone[:1]] + [f"-and {len(gone) - 1} more"] * (len(gone) > 1)
        for k, line in enumerate(other[begin:end]):
            like = heads.get(_head(line)) or (gone[k] if len(gone) == end - begin else None)
            short = f"+{line[:50]}" if line in told_before else f"+{line if like is None else renewed(like, line)}"
            lines.append(short)
    return lines


def _head(line: str) -> str:
    """The first element of a line, with all that it says; empty where that says little."""
    head = line.partition(">")[0]
    return head if "=" in head else ""


def _heads(lines: Iterable[str]) -> dict[str, str]:
    """Lines by their first elements, as far as no two begin alike."""
    heads: dict[str, str] = {}
    for line in lines:
        head = _head(line)
        heads[head] = "" if head in heads else line
    return {head: line for head, line in heads.items() if head and line}


def renewed(old: str, new: str) -> str:
    """A line with what an older one has as well left out."""
    before, now = _words(old), _words(new)
    parts = []
    for kind, first, last, begin, end in difflib.SequenceMatcher(None, before, now, autojunk=False).get_opcodes():
        if kind == "equal":
            words = "".join(now[begin:end])
            parts.append(words if len(words) < 25 else f"{words[:12]}…")
        elif kind == "delete":
            parts.append(f"[-{''.join(before[first:last])[:30]}]")
        else:
            parts.append("".join(now[begin:end]))
    return "".join(parts)


def _words(line: str) -> list[str]:
    return [word for word in re.split(r"(?<=[\s&?])|(?=<)", line) if word]


def headers_of(answer: Any) -> dict[str, str]:
    """The headers that tell something of an answer."""
    return {name: answer.headers[name] for name in TOLD_HEADERS if name in answer.headers}


def told(answer: Any, *, whole: bool = False) -> dict[str, Any]:
    """Status, headers and content of an answer, read by its kind."""
    kind = answer.headers.get("content-type", "")
    content: Any
    if not answer.content:
        content = None
    elif "html" in kind or "svg" in kind:
        content = page_lines(answer.text) if whole or "svg" in kind else main_lines(answer.text)
    elif "json" in kind and answer.content.count(b"\n{") == 0:
        content = steadied(answer.json())
    elif "zip" in kind:
        content = zipped_files(answer.content)
    elif kind.startswith(("image/", "application/octet", "application/vnd")):
        content = f"{answer.content[:4]!r}"
    else:
        content = steady(answer.text).splitlines()
    return {"status": answer.status_code, **headers_of(answer), "content": content}


def steadied(document: Any) -> Any:
    """A document whose texts are steady."""
    if isinstance(document, dict):
        return {steady(key): steadied(value) for key, value in document.items()}
    if isinstance(document, list):
        return [steadied(value) for value in document]
    return steady(document) if isinstance(document, str) else document


def zipped_files(raw: bytes) -> dict[str, int]:
    """The files of an archive, each with how many lines it has; how many there are of those that digests name.

    Parquet is there only where its library is.
    """
    told: Counter[str] = Counter()
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        for name in sorted(name for name in archive.namelist() if not name.endswith(".parquet")):
            if "/rankings/" in name or "/signed/" in name or name.endswith(".sqlite"):
                told[f"{name.rpartition('/')[0]}: files"] += 1
            else:
                told[steady(name)] = len(archive.read(name).splitlines())
    return dict(told)


def without(document: Any, names: Iterable[str]) -> Any:
    """A document without what is measured or made anew in each run, wherever it stands."""
    left_out = frozenset(names)
    if isinstance(document, dict):
        return {key: "…" if key in left_out else without(value, left_out) for key, value in document.items()}
    if isinstance(document, list):
        return [without(value, left_out) for value in document]
    return document


def compact(document: Any) -> Any:
    """Lists of plain values as one text each, so that a long document takes few lines."""
    if isinstance(document, dict):
        return {key: compact(value) for key, value in document.items()}
    if isinstance(document, list):
        if document and all(isinstance(value, str | int | bool) or value is None for value in document):
            return json.dumps(document, ensure_ascii=False)
        return [compact(value) for value in document]
    return document
