"""What somebody has read and found right, kept beside the tests, and every difference from it named.

`approve("help/rank", said)` compares with `kept/help/rank.json`: numbers to six digits, and those that stand in a text
to one in their last decimal, so that another processor's rounding changes nothing. Where BILLBOARDS_APPROVE is set it
keeps what is said now instead: `make approve` does that, and `git diff` then shows what a change has changed, to be
read before it is committed.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

APPROVE = "BILLBOARDS_APPROVE"
KEPT = Path(__file__).with_name("kept")
RELATIVE, ABSOLUTE = 1e-6, 1e-9
#: Most characters of a line of a kept file that could be several.
WIDTH = 118
#: Stands where there is nothing.
GONE = "nothing"
#: Most differences that are told.
TOLD = 25

#: What no two runs say alike, and the word for it.
_STAMP = re.compile(r"20\d\d-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|\+00:00| UTC)?)?")
_IDENTITY = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
#: An annotator's name may be of digits alone.
_DIGEST = re.compile(r"(?<=\ba-)[0-9a-f]{12}\b|\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{8,64}\b")
_PYTHON = re.compile(r"python:3\.\d+\.\d+")
_TRACE = re.compile(r"Traceback \(most recent call last\):.*?(?=\b[A-Z]\w*(Error|Exception): )", re.DOTALL)
_LONG = re.compile(r"-?\d+\.\d{10,}(e[+-]?\d+)?")
_DECIMAL = re.compile(r"[+-]?\d+\.\d+")
#: A secret has no digit once in some hundreds of times; then its length and its mixture of letters tell.
_SECRET = re.compile(
    r"(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[A-Z])(?=[\w-]*[a-z])[\w-]{24,}(?![\w-])"
    r"|(?<=/annotate/)[\w-]{32}(?![\w-])"
    r"|(?<![\w-])(?=(?:[\w-]*?[a-z][A-Z]){4})(?:[\w-]{32}|[\w-]{43})(?![\w-])"
)


def approve(name: str, said: Any, *, folder: Path | str = "") -> None:
    """Fail where something else is said than what is kept under a name; `folder` is a place of this run alone."""
    now = comparable(said, folder=str(folder))
    path = KEPT / f"{name}.json"
    if os.environ.get(APPROVE):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{written(now)}\n", "utf-8")
        return
    assert path.is_file(), f"nothing is kept as {name}: read what is said, then keep it with `make approve`"
    unlike = list(differences(json.loads(path.read_text("utf-8")), now))
    more = f"\n  and {len(unlike) - TOLD} more" if len(unlike) > TOLD else ""
    told = "\n  ".join(unlike[:TOLD])
    assert not unlike, f"{name} says something else; `make approve` keeps it if it is right:\n  {told}{more}"


def comparable(value: Any, *, folder: str = "", seen: dict[str, str] | None = None) -> Any:
    """Plain values without what differs from run to run; what is named by chance is numbered as it comes."""
    seen = {} if seen is None else seen
    if isinstance(value, Mapping):
        return {
            _plain(str(key), folder, seen): comparable(item, folder=folder, seen=seen) for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [comparable(item, folder=folder, seen=seen) for item in value]
    if isinstance(value, set | frozenset):
        return sorted(comparable(item, folder=folder, seen=seen) for item in value)
    if isinstance(value, str):
        return _plain(value, folder, seen)
    if isinstance(value, bool) or value is None or isinstance(value, int):
        return value
    if hasattr(value, "item"):
        return comparable(value.item(), folder=folder, seen=seen)
    if isinstance(value, float):
        # Twelve digits are more than are compared; JSON has no words for what is no number.
        return float(f"{value:.12g}") if math.isfinite(value) else str(value)
    return _plain(str(value), folder, seen)


def _plain(text: str, folder: str, seen: dict[str, str]) -> str:
    text = text.replace(folder, "FOLDER") if folder else text
    text = _TRACE.sub("TRACE ", _PYTHON.sub("python:VERSION", text))
    text = _LONG.sub(lambda number: f"{float(number[0]):.6g}", _STAMP.sub("TIME", text))
    for word, pattern in (("ID", _IDENTITY), ("SECRET", _SECRET), ("DIGEST", _DIGEST)):
        for found in pattern.findall(text):
            text = text.replace(found, seen.setdefault(found, f"{word}-{len(seen) + 1}"))
    return text


def written(value: Any, indent: str = "") -> str:
    """JSON with one thing on a line, and what is short on one."""
    line = json.dumps(value, ensure_ascii=False)
    if len(indent) + len(line) <= WIDTH or not isinstance(value, dict | list) or not value:
        return line
    deeper = f"{indent} "
    if isinstance(value, dict):
        parts = [
            f"{deeper}{json.dumps(key, ensure_ascii=False)}: {written(part, deeper)}" for key, part in value.items()
        ]
        return "{\n" + ",\n".join(parts) + f"\n{indent}}}"
    parts = [f"{deeper}{written(part, deeper)}" for part in value]
    return "[\n" + ",\n".join(parts) + f"\n{indent}]"


def differences(kept: Any, now: Any) -> Iterator[str]:
    """Every place where something else is said, is gone or is new."""
    for where, (old, new) in changes(kept, now):
        yield f"{where}: {_short(old)}, now {_short(new)}"


def changes(kept: Any, now: Any, where: str = "$") -> Iterator[tuple[str, tuple[Any, Any]]]:
    """Every place where two plain values differ, with what stands there in each; `GONE` where one has nothing."""
    if isinstance(kept, dict) and isinstance(now, dict):
        for key in dict.fromkeys([*kept, *now]):
            if key in kept and key in now:
                yield from changes(kept[key], now[key], f"{where}.{key}")
            else:
                yield f"{where}.{key}", (kept.get(key, GONE), now.get(key, GONE))
    elif isinstance(kept, list) and isinstance(now, list):
        if len(kept) != len(now):
            yield f"length of {where}", (len(kept), len(now))
        for k, (old, new) in enumerate(zip(kept, now, strict=False)):
            yield from changes(old, new, f"{where}[{k}]")
    elif not same(kept, now):
        yield where, (kept, now)


def same(kept: Any, now: Any) -> bool:
    """Whether two plain values are one, numbers nearly; true is not 1."""
    if isinstance(kept, str) and isinstance(now, str):
        return kept == now or same_text(kept, now)
    if isinstance(kept, bool) or isinstance(now, bool):
        return kept is now
    if isinstance(kept, float | int) and isinstance(now, float | int):
        return math.isclose(kept, now, rel_tol=RELATIVE, abs_tol=ABSOLUTE)
    return type(kept) is type(now) and bool(kept == now)


def same_text(kept: str, now: str) -> bool:
    """Whether two texts are one but for the last decimal of numbers in them; 0.50 is not 0.500."""
    if _DECIMAL.sub("#", kept) != _DECIMAL.sub("#", now):
        return False
    pairs = zip(_DECIMAL.findall(kept), _DECIMAL.findall(now), strict=True)
    return all(_nearly(Decimal(old), Decimal(new)) for old, new in pairs)


def _nearly(old: Decimal, new: Decimal) -> bool:
    last = old.as_tuple().exponent
    return last == new.as_tuple().exponent and abs(old - new) <= Decimal(1).scaleb(int(last))


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 200 else f"{text[:197]}..."
