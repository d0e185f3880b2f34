"""HELM: what models said and how that was scored, from a run's folder or a suite's.

A run's folder has `scenario_state.json` (the adapter's model, and for each request its instance with input and
references, and the result's completions) and `per_instance_stats.json` (each instance's statistics by name). Several
runs of one scenario, as `benchmark_output/runs/SUITE` holds them, are several generators. Of several trials the first
is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated

from billboards.board import DataCard
from billboards.board.judgment_sources import Imported
from billboards.importers._assembling import read_json
from billboards.importers._harness import Sample, Samples, files_below, generator_name
from billboards.importers._importer import importer
from billboards.reading import is_number, shown

CARD = DataCard(title="Runs of HELM")
STATE, STATS = "scenario_state.json", "per_instance_stats.json"


@importer(card=CARD)
def helm(
    source: Path,
    *,
    split: Annotated[str, "the split of instances that is read"] = "test",
    name: Annotated[str | None, "the board's name (default: helm)"] = None,
) -> Imported:
    """Outputs and scores of HELM's runs."""
    samples = Samples()
    for path in files_below(source, [STATE], f"runs of HELM ({STATE})"):
        _read(path, split, samples)
        samples.check(path)
    return samples.board(source, name, "helm", CARD)


def _read(path: Path, split: str, samples: Samples) -> None:
    where, state = str(path), read_json(path)
    requests = state.get("request_states") if isinstance(state, dict) else None
    if not isinstance(requests, list):
        samples.problems.error(where, None, 'must be an object with a list of "request_states"')
        return
    spec = state.get("adapter_spec")
    model = spec.get("model") or spec.get("model_deployment") if isinstance(spec, dict) else None
    generator = generator_name(str(model or path.parent.name))
    scores = dict(_scores(path.with_name(STATS), samples)) if path.with_name(STATS).exists() else {}
    if not scores:
        samples.notes.append(f"{path.parent}: no {STATS}, so there are no scores")
    for k, request in enumerate(requests, 1):
        instance = request.get("instance") if isinstance(request, dict) else None
        if not isinstance(instance, dict) or not isinstance(instance.get("id"), str):
            samples.problems.error(where, None, f"request {k} has no instance with an id; found {shown(instance)}")
            continue
        if instance.get("split", split) != split or request.get("train_trial_index", 0) != 0:
            continue
        output = _completion(request.get("result"))
        if output is None:
            samples.problems.error(where, None, f"request {k} has no completion with a text")
            continue
        targets = tuple(_targets(instance.get("references")))
        text = _text(instance.get("input"))
        sample = Sample(
            instance=instance["id"], input=text, targets=targets, output=output, scores=scores.get(instance["id"], {})
        )
        samples.add(generator, sample, where)


def _scores(path: Path, samples: Samples) -> Iterator[tuple[str, dict[str, float]]]:
    """Each instance's statistics: of one name the mean, where it was computed."""
    entries = read_json(path)
    if not isinstance(entries, list):
        samples.problems.error(
            str(path), None, f"must be a list with an entry for each instance; found {shown(entries)}"
        )
        return
    for entry in entries:
        if not isinstance(entry, dict) or entry.get("train_trial_index", 0) != 0:
            continue
        scores = {}
        stats = entry.get("stats")
        for stat in stats if isinstance(stats, list) else ():
            called = stat.get("name") if isinstance(stat, dict) else None
            if isinstance(called, dict) and "perturbation" not in called and is_number(stat.get("mean")):
                scores[str(called.get("name"))] = float(stat["mean"])
        yield str(entry.get("instance_id")), scores


def _completion(result: object) -> str | None:
    completions = result.get("completions") if isinstance(result, dict) else None
    first = completions[0] if isinstance(completions, list) and completions else None
    text = first.get("text") if isinstance(first, dict) else None
    return text if isinstance(text, str) else None


def _targets(given: object) -> Iterator[str]:
    """References that are correct, or all where none is marked so."""
    entries = [each for each in given if isinstance(each, dict)] if isinstance(given, list) else []
    correct = [each for each in entries if "correct" in (each.get("tags") or ())]
    for entry in correct or entries:
        text = _text(entry.get("output"))
        if text is not None:
            yield text


def _text(value: object) -> str | None:
    """A text, by itself or in an object."""
    if isinstance(value, Mapping):
        value = value.get("text")
    return value if isinstance(value, str) else None
