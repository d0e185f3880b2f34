"""Rated outputs in the layouts that BARTScore, REALSumm and UniEval publish, and boards made of them.

BARTScore and REALSumm have a pickled dict of documents, each with `src`, `ref_summ` or `ref_summs`, and the systems'
texts with scores (`sys_summs` or `system_summaries`), or with one text alone (`sys_summ`). UniEval has a JSON list of
records `doc_id`, `system_id`, `source`, `reference`, `system_output`, `scores`. Among the scores of a text are people's
and, in files that were scored, those of metrics under their own names: these become imported columns.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from billboards._pickles import read_pickle
from billboards.board import Aggregate, DataCard, Dimension, Generator, ImportedColumn, Instance, Judgment
from billboards.board.judgment_sources import Imported
from billboards.errors import ImportRefused
from billboards.importers._assembling import (
    LooseOutputs,
    assemble,
    check_name,
    counts,
    in_folder_order,
    read_json,
    read_objects,
    references,
    rows_of_generators,
    score_column,
)
from billboards.reading import Problems, decimal_number, is_number, refuse_errors, shown

#: A system's text and the systems' texts, as BARTScore and REALSumm call them.
_TEXTS = ("sys_summ", "system_summary")
_SYSTEMS = ("sys_summs", "system_summaries")
#: In a metric's name: it compares the text with its source, not with a reference.
_OF_SOURCE = "src_hypo"
_PREDICTED = "UniEval-"


@dataclass(frozen=True, kw_only=True)
class RatedOutput:
    """A system's text for a document, with everything that its source says of both."""

    place: str
    document: str
    input: str | None
    references: tuple[str, ...]
    system: str
    text: str
    scores: Mapping[str, Any]


def is_pickled(path: Path) -> bool:
    """Whether a file's name says that it is a pickle, gzipped or not."""
    return (path.with_suffix("") if path.suffix == ".gz" else path).suffix in (".pkl", ".pickle", ".p")


def read_rated_outputs(path: Path, problems: Problems) -> list[RatedOutput]:
    """Every rated output of a file, in its order."""
    if is_pickled(path):
        value = read_pickle(path)
    else:
        value = read_objects(path, "doc_id") if ".jsonl" in path.suffixes else read_json(path)
    if isinstance(value, Mapping) and value:
        return list(_documents(value, str(path), problems))
    if isinstance(value, list) and value:
        return list(_records(value, str(path), problems))
    raise ImportRefused(f"{path}: should hold documents by their ids, or a list of records; found {shown(value)}")


def _documents(value: Mapping[Any, Any], path: str, problems: Problems) -> Iterator[RatedOutput]:
    ids: set[str] = set()
    for key, item in value.items():
        if not isinstance(item, Mapping):
            problems.error(path, None, f"document {shown(key)} must be a dict; found {shown(item)}")
            continue
        document = str(item.get("doc_id", key))
        if document in ids:
            problems.error(path, None, f"document {shown(document)} appears twice")
            continue
        ids.add(document)
        yield from _texts(document, item, path, problems)


def _texts(document: str, item: Mapping[str, Any], path: str, problems: Problems) -> Iterator[RatedOutput]:
    place = f"document {shown(document)}"
    texts = _references(item.get("ref_summs", item.get("ref_summ")), place, path, problems)
    source = item.get("src")
    systems = next((item[key] for key in _SYSTEMS if key in item), None)
    if systems is None:
        systems = {"": item}
    if not isinstance(systems, Mapping) or not systems or (source is not None and not isinstance(source, str)):
        problems.error(path, None, f'{place}: "sys_summs" must hold texts by system, and "src" a text')
        return
    for system, entry in systems.items():
        where = f"{place}, {system}" if system != "" else place
        entry = entry if isinstance(entry, Mapping) else {}
        text, scores = next((entry[key] for key in _TEXTS if key in entry), None), entry.get("scores", {})
        if not isinstance(text, str) or not isinstance(scores, Mapping):
            problems.error(path, None, f"{where}: needs a text and its scores; found {shown(entry)}")
            continue
        yield RatedOutput(
            place=where,
            document=document,
            input=source,
            references=texts,
            system=str(system),
            text=text,
            scores=scores,
        )


def _references(value: Any, place: str, path: str, problems: Problems) -> tuple[str, ...]:
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
        problems.error(path, None, f"{place}: its references must be texts; found {shown(value)}")
        return ()
    return tuple(texts)


def _records(value: Sequence[Any], path: str, problems: Problems) -> Iterator[RatedOutput]:
    seen: set[tuple[str, str]] = set()
    for k, item in enumerate(value):
        place = f"record {k}"
        texts = (item.get("source"), item.get("system_output")) if isinstance(item, Mapping) else (None, None)
        if not all(isinstance(text, str) for text in texts) or not isinstance(item.get("scores"), Mapping):
            problems.error(path, None, f"{place}: needs source, system_output and scores; found {shown(item)}")
            continue
        document, system = str(item.get("doc_id", k)), str(item.get("system_id", ""))
        if (document, system) in seen:
            problems.error(path, None, f"{place}: {system} on document {shown(document)} appears twice")
            continue
        seen.add((document, system))
        predicted = item.get("predict_scores")
        own = {f"{_PREDICTED}{name}": score for name, score in predicted.items()} if _is_dict(predicted) else {}
        yield RatedOutput(
            place=f"{place}, {system} on document {shown(document)}" if system else place,
            document=document,
            input=texts[0],
            references=_references(item.get("reference", []), place, path, problems),
            system=system,
            text=str(texts[1]),
            scores={**item["scores"], **own},
        )


def _is_dict(value: object) -> bool:
    return isinstance(value, Mapping)


def people_said(
    output: RatedOutput, dimensions: Iterable[Dimension], path: str, problems: Problems
) -> dict[str, float]:
    """An output's rating on every dimension, each on its scale."""
    return {dimension.name: _rating(output, dimension, path, problems) for dimension in dimensions}


def _rating(output: RatedOutput, dimension: Dimension, path: str, problems: Problems) -> float:
    value = _number(output.scores.get(dimension.name))
    if not is_number(value):
        problems.error(path, None, f"{output.place}: {dimension.name} {shown(value)} is not a number")
        return 0.0
    low, high = dimension.range or (-np.inf, np.inf)
    if not low <= value <= high:
        problems.error(path, None, f"{output.place}: {dimension.name} {value:g} lies outside [{low:g}, {high:g}]")
    return float(value)


def _number(value: Any) -> Any:
    """The number in an array that holds one alone; anything else as it is."""
    return value.item() if isinstance(value, np.ndarray) and value.size == 1 else value


@dataclass
class ReleasedScores:
    """The scores of metrics that came with outputs, as they are read."""

    path: str
    problems: Problems
    values: dict[str, dict[str, dict[str, float]]] = field(default_factory=dict)
    absent: int = 0

    def add(
        self, scores: Mapping[Any, Any], *, row: str, instance: str, place: str, without: Collection[str] = ()
    ) -> None:
        """Keep what an output has beside people's scores; a score may be written as text, to save space.

        One that is no finite number counts as absent: some metrics have none for an empty text.
        """
        for name, score in scores.items():
            if name in without:
                continue
            number = _number(decimal_number(score) if isinstance(score, str) else score)
            if isinstance(number, float) and not math.isfinite(number):
                self.absent += 1
            elif not isinstance(name, str) or not is_number(number):
                self.problems.error(self.path, None, f"{place}: {shown(name)} {shown(score)} is not a number")
            elif self.values.setdefault(name, {}).setdefault(row, {}).setdefault(instance, number) != number:
                self.problems.error(self.path, None, f"{place}: {name} has another value elsewhere")

    def columns(self, instances: Sequence[Instance]) -> tuple[ImportedColumn, ...]:
        """A column for each metric; it is missing where the files have no score."""
        names = tuple(dict.fromkeys(reference.name for each in instances for reference in each.references))
        for metric in self.values:
            check_name("scores", metric, self.path, None, self.problems)
        return in_folder_order(
            score_column(
                metric,
                {
                    row: np.array([scores.get(instance.id, np.nan) for instance in instances])
                    for row, scores in rows.items()
                },
                references=names,
                needs_references=bool(names) and _OF_SOURCE not in metric,
                needs_input=_OF_SOURCE in metric or not names,
            )
            for metric, rows in self.values.items()
        )

    def notes(self) -> tuple[str, ...]:
        """What there is to say of them, if there are any."""
        came = f"{self.path}: {len(self.values)} metrics' scores came along, higher taken as better in all"
        absent = f"{self.path}: {self.absent} scores of metrics are no finite numbers and count as absent"
        return ((came,) if self.values else ()) + ((absent,) if self.absent else ())


def renamed(outputs: Iterable[RatedOutput], names: Mapping[str, str]) -> list[RatedOutput]:
    """The outputs with scores under other names, where a source calls a dimension otherwise."""
    return [
        replace(each, scores={names.get(name, name): score for name, score in each.scores.items()}) for each in outputs
    ]


def board_of_systems(
    path: Path,
    name: str,
    outputs: Sequence[RatedOutput],
    problems: Problems,
    *,
    dimensions: Sequence[Dimension],
    generators: Mapping[str, Generator],
    campaign: str,
    aggregate: Aggregate | None = None,
    card: DataCard | None = None,
) -> Imported:
    """The board of outputs by named systems, each with one rating on every dimension.

    generators: who a system is, by its name in the file; one that is not there keeps its name
    campaign: what people's ratings are called
    aggregate: what ranks; the first dimension unless another is given
    """
    scores, content = ReleasedScores(str(path), problems), _Systems()
    for output in outputs:
        check_name("instance", output.document, str(path), None, problems)
        check_name("generator", output.system, str(path), None, problems)
        who = generators.get(output.system, Generator(output.system))
        values = people_said(output, dimensions, str(path), problems)
        content.add(output, who, values, campaign, str(path), problems)
        scores.add(output.scores, row=who.name, instance=output.document, place=output.place, without=tuple(values))
    refuse_errors(problems)
    instances = tuple(content.instances.values())
    board = assemble(
        name,
        instances,
        rows_of_generators(instances, content.texts, content.generators),
        content.judgments,
        dimensions=dimensions,
        ranks=aggregate.name if aggregate else dimensions[0].name,
        aggregates=(aggregate,) if aggregate else (),
        input_language="en",
        output_language="en",
        card=card,
    )
    board = replace(board, imported=scores.columns(instances))
    refuse_errors(problems)
    return Imported(board, (counts(path, board), *content.notes(path), *scores.notes()))


@dataclass
class _Systems:
    """What outputs of named systems say, as they are read."""

    instances: dict[str, Instance] = field(default_factory=dict)
    texts: dict[str, dict[str, str]] = field(default_factory=dict)
    generators: dict[str, Generator] = field(default_factory=dict)
    judgments: list[Judgment] = field(default_factory=list)
    copied: set[str] = field(default_factory=set)

    def add(
        self,
        output: RatedOutput,
        who: Generator,
        values: Mapping[str, float],
        campaign: str,
        path: str,
        problems: Problems,
    ) -> None:
        key, texts = output.document, output.references
        if texts == (output.input,):
            texts = ()
            self.copied.add(key)
        instance = Instance(key, references=references(texts), input=output.input)
        if self.instances.setdefault(key, instance) != instance:
            problems.error(path, None, f"{output.place}: source or references differ from another place")
        if key in self.texts.setdefault(who.name, {}):
            problems.error(path, None, f"{output.place}: {who.name} appears twice")
        self.texts[who.name][key] = output.text
        self.generators[who.name] = who
        self.judgments.append(
            Judgment(instance=key, outputs=(who.name,), values=dict(values), annotator=None, campaign=campaign)
        )

    def notes(self, path: Path) -> Iterator[str]:
        if self.copied:
            yield f"{path}: the references of {len(self.copied)} documents are the sources themselves and are left out"
        equal = sum(
            len(texts) - len(set(texts))
            for texts in ([by[key] for by in self.texts.values() if key in by] for key in self.instances)
        )
        if equal:
            yield f"{path}: {equal} outputs equal another system's of their document; they are kept apart"
        for name, texts in self.texts.items():
            if len(texts) < len(self.instances):
                yield f"{path}: {name} has no output for {len(self.instances) - len(texts)} documents"


@dataclass(kw_only=True)
class SharedInputs:
    """Instances of outputs that nobody's name stands under: one for each input with its references."""

    instances: dict[tuple[str | None, tuple[str, ...]], Instance] = field(default_factory=dict)
    outputs: LooseOutputs = field(default_factory=LooseOutputs)
    judgments: list[Judgment] = field(default_factory=list)
    again: int = 0
    texts: set[tuple[str, str]] = field(default_factory=set)
    equal: int = 0

    def add(self, output: RatedOutput) -> tuple[str, str]:
        """The instance and the row of one more output; references that say the same count once."""
        every = tuple(dict.fromkeys(output.references))
        self.again += len(output.references) - len(every)
        key = (output.input, every)
        instance = self.instances.setdefault(
            key, Instance(str(len(self.instances) + 1), references=references(every), input=output.input)
        )
        self.equal += (instance.id, output.text) in self.texts
        self.texts.add((instance.id, output.text))
        return instance.id, self.outputs.add(instance.id, output.text, output.document)

    def notes(self, path: Path) -> Iterator[str]:
        if self.again:
            yield f"{path}: {self.again} references repeat another of their instance and are left out"
        if self.equal:
            yield f"{path}: {self.equal} outputs equal another of their instance; they are kept apart"
