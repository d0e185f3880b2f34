"""What two versions must have in common: documents made comparable in one place, and every difference named.

A later version may add keys to a document, entries of another name to a list of named ones, columns and rows to a
table, options to a metric, and sentences to a caption. It may not lose one, and may not change a value; numbers agree
to nine digits. One promise is another since 0.2: scores of which lower is better (`TURNED`) are shown as their users
know them, where 0.1 showed them negated. What no version can say twice (times, durations, paths of this machine,
versions of other people's packages) is replaced by a word before documents are kept or compared.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

RELATIVE, ABSOLUTE = 1e-9, 1e-12
#: Of models of annotators and of crossed effects: at its top a likelihood is so flat that points a square root of the
#: double's precision apart have the same one, and which of them a fit ends at hangs on the machine.
FITTED = 1e-6

#: Values under these keys are times or durations as measured.
MEASURED = frozenset({"created", "seconds", "per_second", "outputs_per_second", "measured_seconds"})
#: Facts about a metric that hang on what is installed, where it needs more than the package; and a card's prose.
INSTALLED = ("signature", "absent")
PROSE = ("summary", "training_data", "licence", "paper", "failures")
#: Columns of which lower is better, by the boards that are kept here, and what a comparison says of one.
TURNED = ("TER", "Rate", "ngram-perplexity", "repetition-2")
_SAID_OF_TURNED = ("first", "second", "difference", "means")
#: Outputs that decide between two metrics, with the score of each.
_DECIDING = re.compile(r"\.for_(first|second)\[\d+\]$")
#: The version of somebody else's package in a signature.
_PACKAGE = re.compile(r"\b(version|rouge-score|nltk|transformers|torch|sacrebleu|wordnet):[0-9a-f][0-9a-zA-Z.+]*")
#: Since 0.2 an ensemble's signature ends in a digest of its weights and inputs.
_ENSEMBLE = re.compile(r"(\+version\.\d+)\+[0-9a-f]{8}\b")
_STAMP = re.compile(r"20\d\d-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|\+00:00| UTC)?")
#: Where a document holds an object's place in memory, it says nothing.
_UNSAID = " object at 0x"
CAPTION = "\\caption{"
_HAS_DIGIT = re.compile(r"\S*\d\S*")


def normalised(value: Any, *, folder: str = "", times: bool = False) -> Any:
    """A document without what differs from run to run; `times` keeps stamps, for data that are kept with them."""
    if isinstance(value, Mapping):
        absent = (*PROSE, *(INSTALLED if value["needs_part"] else ())) if "needs_part" in value else ()
        return {
            key: "MEASURED" if key in MEASURED and not times else normalised(item, folder=folder, times=times)
            for key, item in value.items()
            if key not in absent and not (isinstance(item, str) and _UNSAID in item)
        }
    if isinstance(value, list):
        return [normalised(item, folder=folder, times=times) for item in value]
    if isinstance(value, str):
        return _plain(value, folder, times)
    # Twelve digits are more than are compared, and a quarter less to keep.
    return float(f"{value:.12g}") if isinstance(value, float) else value


def _plain(text: str, folder: str, times: bool) -> str:
    text = text.replace(folder, "FOLDER") if folder else text
    text = _PACKAGE.sub(r"\1:INSTALLED", text)
    text = _ENSEMBLE.sub(r"\1", text)
    return text if times else _STAMP.sub("TIME", text)


def differences(kept: Any, now: Any, where: str = "$", *, relative: float = RELATIVE) -> Iterator[str]:
    """Every place where a document says something else than the kept one; keys that were added are none."""
    if isinstance(kept, dict) and isinstance(now, dict):
        for key, value in kept.items():
            turned = key in TURNED or (kept.get("name") in TURNED and key in _SAID_OF_TURNED)
            turned |= key in _SAID_OF_TURNED and _DECIDING.search(where) is not None
            if key in now and not (turned and not any(differences(_negated(value), now[key], relative=relative))):
                yield from differences(value, now[key], f"{where}.{key}", relative=relative)
            elif key in now:
                continue
            else:
                yield f"{where}.{key}: is gone"
    elif _are_named(kept) and _are_named(now):
        names = {entry["name"] for entry in kept}
        yield from _in_turn(kept, [entry for entry in now if entry["name"] in names], where, relative)
    elif isinstance(kept, list) and isinstance(now, list):
        yield from _in_turn(kept, now, where, relative)
    elif where.endswith(".options") and isinstance(kept, str) and str(now).startswith(f"{kept}, "):
        # A metric may gain an option, whose default is what it did before.
        return
    elif where.endswith(".message") and isinstance(kept, str) and isinstance(now, str):
        # What is wrong with a file is said in words that may become better.
        return
    elif not same_value(kept, now, relative):
        yield f"{where}: {_short(kept)}, now {_short(now)}"


def _negated(value: Any) -> Any:
    if isinstance(value, list):
        return [_negated(item) for item in value]
    return 0.0 - value if isinstance(value, float | int) and not isinstance(value, bool) else value


def _unturned(text: str) -> str:
    """A text without what 0.2 adds where lower is better: arrows, and (−TER) for TER."""
    for name in TURNED:
        text = text.replace(f"(−{name})", name).replace(f"($-${name})", name).replace(rf"{name} $\downarrow$", name)
    # Titles in plainer words than those of 0.1.
    return text.replace(" ↓", "").replace(": reference lines", ": lines to read the metrics against")


def _are_named(value: Any) -> bool:
    """Whether a list is one of entries that each have a name of their own."""
    if not isinstance(value, list) or not value or not all(isinstance(entry, dict) for entry in value):
        return False
    names = [entry.get("name") for entry in value]
    return all(isinstance(name, str) for name in names) and len(set(names)) == len(names)


def _in_turn(kept: list[Any], now: list[Any], where: str, relative: float) -> Iterator[str]:
    if len(kept) != len(now):
        yield f"{where}: {len(kept)} items, now {len(now)}"
    for k, (old, new) in enumerate(zip(kept, now, strict=False)):
        yield from differences(old, new, f"{where}[{k}]", relative=relative)


def same_value(kept: Any, now: Any, relative: float = RELATIVE) -> bool:
    """Whether two values are one, numbers to nine digits; true is not 1."""
    if isinstance(kept, bool) or isinstance(now, bool):
        return kept is now
    if isinstance(kept, float | int) and isinstance(now, float | int):
        return math.isclose(kept, now, rel_tol=relative, abs_tol=ABSOLUTE)
    if isinstance(kept, str) and isinstance(now, str):
        return kept == _unturned(now)
    return type(kept) is type(now) and bool(kept == now)


def text_differences(kept: str, now: str, form: str, *, relative: float = RELATIVE) -> Iterator[str]:
    """Where a text says something else: CSV by cells, tables for people by what has digits, others by lines.

    Since 0.2 a CSV stream holds one table, where 0.1 printed all of them: it is compared with the first that was kept,
    and it must be the only one. The numbers of the others are compared by the JSON of the same command, which was kept
    for 15 of the 20 that printed several; of the other 5, only the first table is held.
    """
    if form == "csv":
        yield from differences(list(_tables(kept))[:1], list(_tables(now)), relative=relative)
    elif form == "table":
        # Signs of such scores are turned, which CSV and JSON are held to cell by cell.
        yield from differences(_unsigned_numbers(kept), _unsigned_numbers(now))
    elif form == "longer table":
        gone = Counter(_unsigned_numbers(kept)) - Counter(_unsigned_numbers(now))
        yield from (f"is gone: {word}" for word in gone.elements())
    else:
        yield from _lines_gone(kept.splitlines(), now.splitlines())


def _unsigned_numbers(text: str) -> list[str]:
    return [word.lstrip("-") for word in _HAS_DIGIT.findall(_unturned(text))]


def _lines_gone(kept: list[str], now: list[str]) -> Iterator[str]:
    """Lines that are not there any more; of LaTeX, what stands in them."""
    if not any(line.startswith(CAPTION) for line in kept):
        yield from differences(kept, now)
        return
    for old in kept:
        if (" & " in old or old.startswith(CAPTION)) and not any(_says(old, new) for new in now):
            yield f"is gone: {_short(old)}"


def _says(kept: str, now: str) -> bool:
    """Whether a row has all cells of the kept one, signs aside, or a caption all of its sentences."""
    kept, now = kept.replace("$-$", ""), _unturned(now).replace("$-$", "")
    if kept.startswith(CAPTION):
        return now.startswith(CAPTION) and all(part in now for part in kept.removesuffix("}").split(". "))
    return not Counter(kept.removesuffix(r" \\").split(" & ")) - Counter(now.removesuffix(r" \\").split(" & "))


def _tables(text: str) -> Iterator[list[dict[str, Any]]]:
    """The tables of a CSV stream, each a list of rows by column: a new one begins where a line is empty."""
    table: list[list[str]] = []
    for row in (*csv.reader(io.StringIO(text)), []):
        if row:
            table.append(row)
        elif table:
            head, *rows = table
            yield [{name: _number(cell) for name, cell in zip(head, cells, strict=False)} for cells in rows]
            table = []


def _number(cell: str) -> Any:
    try:
        return float(cell) if re.fullmatch(r"-?\d+(\.\d+)?(e-?\d+)?", cell) else cell
    except ValueError:
        return cell


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 200 else f"{text[:197]}..."
