"""Label Studio's JSON: tasks with their data, and under each the annotations of everyone who did it.

A task's data must say what was judged: `instance` and `generator`. A result becomes a value under its control's name:
ratings and numbers as they are, a choice by its place in the labels of the board's dimension or as the number that it
is; labels on the text become spans. Cancelled annotations are skipped.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from billboards.board import Board, Judgment
from billboards.board.judgment_sources import JudgmentSource, SourceJudgment
from billboards.errors import ImportRefused
from billboards.formats._format import judged_text, judgment_format, single_generator
from billboards.reading import Problems, read_source, refuse_errors, shown

NEEDED = ("instance", "generator")


@judgment_format()
def label_studio(path: Path, board: Board, campaign: str) -> JudgmentSource:
    """Label Studio's JSON, with ratings, numbers and labelled spans.

    Every annotation of every task; its number in the file stands for a line.
    """
    problems = Problems()
    judgments = tuple(_each(path, _tasks(path), campaign, problems))
    refuse_errors(problems)
    return JudgmentSource.of_campaign(
        path, board, campaign, judgments, f"Campaign {campaign}: annotated in Label Studio."
    )


def _tasks(path: Path) -> list[Any]:
    try:
        tasks = json.loads(read_source(path))
    except (ValueError, RecursionError) as error:
        raise ImportRefused(f"{path}: is no JSON: {error}; export from Label Studio as JSON") from error
    if not isinstance(tasks, list) or not all(isinstance(task, dict) for task in tasks):
        raise ImportRefused(f"{path}: is no list of tasks; export from Label Studio as JSON, not as JSON-MIN")
    return tasks


def _each(path: Path, tasks: list[Any], campaign: str, problems: Problems) -> Iterator[SourceJudgment]:
    for number, task in enumerate(tasks, 1):
        data = task.get("data")
        if not isinstance(data, dict) or not all(isinstance(data.get(key), str) for key in NEEDED):
            problems.error(str(path), number, "a task's data must hold instance and generator, in quotes")
            continue
        annotations = task.get("annotations")
        if not isinstance(annotations, list):
            problems.error(str(path), number, "a task without a list of annotations")
            continue
        for annotation in annotations:
            if not _is_annotation(annotation):
                problems.error(
                    str(path), number, "an annotation must hold a list of results, each an object with its value"
                )
            elif not annotation.get("was_cancelled"):
                yield _judgment(path, number, data, annotation, campaign, problems)


def _is_annotation(annotation: Any) -> bool:
    results = annotation.get("result", []) if isinstance(annotation, dict) else None
    return isinstance(results, list) and all(
        isinstance(result, dict) and isinstance(result.get("value", {}), dict) for result in results
    )


def _judgment(
    path: Path, number: int, data: Mapping[str, Any], annotation: Mapping[str, Any], campaign: str, problems: Problems
) -> SourceJudgment:
    values: dict[str, float] = {}
    spans: list[dict[str, Any]] = []
    for result in annotation.get("result", ()):
        kind, value, name = result.get("type"), result.get("value", {}), result.get("from_name")
        if kind == "labels":
            if (span := _span(value)) is None:
                problems.error(str(path), number, f"a labelled span needs start, end and a label; found {shown(value)}")
            else:
                spans.append(span)
        elif (rating := _number(kind, value)) is None or not isinstance(name, str):
            problems.error(str(path), number, f"a result of type {shown(kind)} that gives no number: {shown(value)}")
        else:
            values[name] = rating
    details: dict[str, Any] = {"spans": spans} if spans else {}
    if annotation.get("created_at"):
        details["time"] = _seconds(path, number, annotation["created_at"], problems)
    who, target = _annotator(annotation.get("completed_by")), data.get("target")
    text = target if isinstance(target, str) else None
    return SourceJudgment(
        line=number,
        system=data["generator"],
        segment=data["instance"],
        values=values,
        campaign=campaign,
        annotator=who,
        text=text,
        details=details,
    )


def _span(value: Mapping[str, Any]) -> dict[str, Any] | None:
    start, end, labels = value.get("start"), value.get("end"), value.get("labels")
    places = all(isinstance(place, int) and not isinstance(place, bool) for place in (start, end))
    if not places or not isinstance(labels, list) or not labels:
        return None
    return {"start": start, "end": end, "severity": str(labels[0]).lower()}


def _number(kind: object, value: Mapping[str, Any]) -> float | None:
    """A result's number; a choice must be one, since words have no order of their own."""
    written, choices = value.get("rating", value.get("number")), value.get("choices")
    if kind == "choices" and isinstance(choices, list) and len(choices) == 1:
        written = choices[0]
    try:
        number = math.nan if written is None or isinstance(written, bool) else float(written)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _annotator(written: object) -> str | None:
    if isinstance(written, dict):
        written = written.get("email") or written.get("id")
    return None if written is None else str(written)


def _seconds(path: Path, number: int, written: object, problems: Problems) -> float | None:
    try:
        moment = datetime.fromisoformat(str(written).replace("Z", "+00:00"))
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        problems.error(str(path), number, f"created_at is no time: {shown(written)}")
        return None


@label_studio.writer
def _write(board: Board, judgments: Iterable[Judgment]) -> str:
    """A task for every output, with the annotations of all who judged it."""
    tasks: dict[tuple[str, str], dict[str, Any]] = {}
    for number, judgment in enumerate(judgments, 1):
        key = (judgment.instance, single_generator(judgment, "label-studio"))
        task = tasks.setdefault(key, _task(board, len(tasks) + 1, *key))
        task["annotations"].append(_annotation(number, judgment, judged_text(board, *key)))
    return json.dumps(list(tasks.values()), ensure_ascii=False, indent=1) + "\n"


def _task(board: Board, number: int, instance: str, generator: str) -> dict[str, Any]:
    source = board.instances[board.position[instance]].input
    data = {
        "instance": instance,
        "generator": generator,
        "source": source,
        "target": judged_text(board, instance, generator),
    }
    return {"id": number, "data": data, "annotations": []}


def _annotation(number: int, judgment: Judgment, text: str) -> dict[str, Any]:
    results: list[dict[str, Any]] = [
        {"from_name": name, "to_name": "target", "type": "number", "value": {"number": value}}
        for name, value in judgment.values.items()
    ]
    for span in judgment.details.get("spans", ()):
        if {"start", "end"} <= span.keys() and not span.get("missing"):
            place = {"start": span["start"], "end": span["end"], "text": text[span["start"] : span["end"]]}
            marked = {**place, "labels": [str(span["severity"]).capitalize()]}
            results.append({"from_name": "errors", "to_name": "target", "type": "labels", "value": marked})
    time = judgment.details.get("time")
    when = {"created_at": datetime.fromtimestamp(time, UTC).isoformat()} if isinstance(time, int | float) else {}
    who = {"email": judgment.annotator} if judgment.annotator else None
    return {"id": number, "completed_by": who, "was_cancelled": False, "result": results, **when}
