"""OpenAI evals: what models said and how that was scored, from the JSON lines that a run records.

The first line is the run's `spec` (the completion function and the eval's name), then come events of samples, by
`sample_id`: `sampling` has the prompt and what was sampled, `match` what was expected and whether the answer is
correct, `metrics` further numbers. The last line is the `final_report`. A run is a generator; several files are
several.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from billboards.board import DataCard
from billboards.board.judgment_sources import Imported
from billboards.importers._harness import Sample, Samples, files_below, generator_name, numeric, plain_text
from billboards.importers._importer import importer
from billboards.reading import json_lines, read_source

CARD = DataCard(title="Records of OpenAI evals")


@dataclass
class _Events:
    """What the events of one sample said."""

    line: int
    prompt: str | None = None
    sampled: str | None = None
    targets: tuple[str, ...] = ()
    scores: dict[str, float] = field(default_factory=dict)


@importer(card=CARD)
def openai_evals(
    source: Path,
    *,
    name: Annotated[str | None, "the board's name (default: the eval's)"] = None,
) -> Imported:
    """Outputs and scores that a run of OpenAI evals recorded, as JSON lines."""
    samples, evals = Samples(), list[str]()
    for path in files_below(source, ["*.jsonl"], "records of OpenAI evals (.jsonl)"):
        evals.append(_read(path, samples))
        samples.check(path)
    return samples.board(source, name, evals[0].partition(".")[0].lower() or "evals", CARD)


def _read(path: Path, samples: Samples) -> str:
    where, spec, events = str(path), dict[str, Any](), dict[str, _Events]()
    seen = dict[object, int]()
    for line, item in json_lines(read_source(path), where, samples.problems):
        if "spec" in item or "final_report" in item:
            kind = "spec" if "spec" in item else "final_report"
            if kind in seen:
                samples.problems.error(where, line, f"{kind} appears twice, first on line {seen[kind]}")
            seen[kind] = line
            spec = item["spec"] if kind == "spec" and isinstance(item["spec"], dict) else spec
            continue
        key, data, event = item.get("sample_id"), item.get("data"), item.get("event_id")
        if not isinstance(key, str) or not isinstance(data, dict):
            samples.problems.error(where, line, "an event needs a sample_id and data")
            continue
        if event is not None and event in seen:
            samples.problems.error(where, line, f"event {event} appears twice, first on line {seen[event]}")
            continue
        seen[event] = line
        _take(events.setdefault(key, _Events(line)), str(item.get("type")), data)
    if "final_report" not in seen and not samples.problems.errors:
        samples.notes.append(f"{path}: has no final report; the run may have ended early")
    functions = spec.get("completion_fns")
    model = functions[0] if isinstance(functions, list) and functions else spec.get("model_name") or path.stem
    for key, of_sample in events.items():
        if of_sample.sampled is None:
            samples.problems.error(where, of_sample.line, f"sample {key} has no sampled text")
            continue
        sample = Sample(
            instance=key,
            input=of_sample.prompt,
            targets=of_sample.targets,
            output=of_sample.sampled,
            scores=of_sample.scores,
        )
        samples.add(generator_name(str(model)), sample, where, of_sample.line)
    return str(spec.get("base_eval") or spec.get("eval_name") or "evals")


def _take(events: _Events, kind: str, data: Mapping[str, Any]) -> None:
    """What one event says of its sample."""
    if kind == "sampling":
        events.prompt = plain_text(data.get("prompt"))
    sampled = plain_text(data.get("sampled"))
    if sampled is not None and (kind == "sampling" or events.sampled is None):
        events.sampled = sampled
    expected = data.get("expected")
    if expected is not None:
        given = expected if isinstance(expected, list) else [expected]
        events.targets = tuple(text for text in given if isinstance(text, str))
    if kind == "match" and isinstance(data.get("correct"), bool):
        events.scores["correct"] = float(data["correct"])
    elif kind != "sampling":
        events.scores |= numeric(data)
