"""Inspect (UK AISI): what models said and how that was scored, from its logs, as `.json` or as `.eval`.

A log has `eval` (the task and the model) and `samples`: each an id, an epoch, an input (a text or messages), a target
(a text or several), an output with its completion, and scores by scorer. An `.eval` file is a zip archive with
`header.json` and a JSON file for each sample. Values C, I, P and N count 1, 0, ½ and 0, as Inspect counts them. Of
several epochs the first is read.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from billboards.board import DataCard
from billboards.board.judgment_sources import Imported
from billboards.errors import ImportRefused
from billboards.importers._assembling import read_json
from billboards.importers._harness import Sample, Samples, files_below, generator_name, plain_text
from billboards.importers._importer import importer
from billboards.reading import is_number, shown

CARD = DataCard(title="Logs of Inspect")
LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
#: The most that a log may unpack to.
MOST = 1 << 30


@importer(card=CARD)
def inspect_log(
    source: Path,
    *,
    name: Annotated[str | None, "the board's name (default: the task's)"] = None,
) -> Imported:
    """Outputs and scores of Inspect's logs (.json or .eval)."""
    samples, tasks = Samples(), list[str]()
    for path in files_below(source, ["*.eval", "*.json"], "logs of Inspect (.json or .eval)"):
        log = _archive(path) if path.suffix == ".eval" else read_json(path)
        if not isinstance(log, dict) or not isinstance(log.get("eval"), dict):
            samples.problems.error(str(path), None, f'must be an object with "eval" and "samples"; found {shown(log)}')
            continue
        if log.get("status") not in (None, "success"):
            samples.notes.append(f"{path}: the run ended with status {shown(log['status'])}")
        tasks.append(str(log["eval"].get("task", "inspect")).rpartition("/")[2])
        _read(path, log, generator_name(str(log["eval"].get("model", path.stem))), samples)
    return samples.board(source, name, tasks[0].lower() if tasks else "inspect", CARD)


def _archive(path: Path) -> dict[str, Any]:
    """The log in an .eval file."""
    try:
        with zipfile.ZipFile(path) as archive:
            if sum(entry.file_size for entry in archive.infolist()) > MOST:
                raise ImportRefused(f"{path}: unpacks to more than {MOST >> 20} MiB; export it with `inspect log dump`")
            header = json.loads(archive.read("header.json"))
            members = sorted(n for n in archive.namelist() if n.startswith("samples/") and n.endswith(".json"))
            return {**header, "samples": [json.loads(archive.read(member)) for member in members]}
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError, OSError) as error:
        raise ImportRefused(f"{path}: no log of Inspect: {error}; export it with `inspect log dump`") from error


def _read(path: Path, log: Mapping[str, Any], generator: str, samples: Samples) -> None:
    where = str(path)
    entries = log.get("samples")
    for k, entry in enumerate(entries if isinstance(entries, list) else (), 1):
        key = entry.get("id") if isinstance(entry, dict) else None
        if not isinstance(key, int | str):
            samples.problems.error(where, None, f"sample {k} has no id; found {shown(entry)}")
            continue
        if entry.get("epoch", 1) != 1:
            continue
        output = _completion(entry.get("output"))
        if output is None:
            samples.problems.error(where, None, f"sample {key} has no completion")
            continue
        target = entry.get("target")
        targets = [target] if isinstance(target, str) else target if isinstance(target, list) else []
        sample = Sample(
            instance=str(key),
            input=plain_text(entry.get("input")),
            targets=tuple(text for text in targets if isinstance(text, str)),
            output=output,
            scores=dict(_scores(entry.get("scores"))),
        )
        samples.add(generator, sample, where)


def _completion(output: object) -> str | None:
    if not isinstance(output, dict):
        return None
    if isinstance(output.get("completion"), str):
        return str(output["completion"])
    choices = output.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return plain_text(first.get("message")) if isinstance(first, dict) else None


def _scores(scores: object) -> Iterator[tuple[str, float]]:
    """A scorer's value, or each of its values where it has several."""
    for scorer, score in scores.items() if isinstance(scores, dict) else ():
        value = score.get("value") if isinstance(score, dict) else score
        if isinstance(value, dict):
            for part, each in value.items():
                if (number := _number(each)) is not None:
                    yield f"{scorer}.{part}", number
        elif (number := _number(value)) is not None:
            yield str(scorer), number


def _number(value: object) -> float | None:
    if isinstance(value, bool) or is_number(value):
        return float(value)
    return LETTERS.get(value) if isinstance(value, str) else None
