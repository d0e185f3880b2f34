"""REALSumm (Bhandari et al., 2020): 25 systems' summaries of 100 news articles, judged by lightweight pyramids.

The release's score dictionaries, as JSON lines or as one JSON object: `doc_id`, `ref_summ`, and `system_summaries` with
for each system its `system_summary` and `scores` with `litepyramid_recall` among them. Articles may come in a
second file of lines `doc_id`, `src`. The release's own pickles are not read, because opening one can run any program.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from billboards.board import DataCard, Dimension, Generator, Instance, Judgment, Reference
from billboards.board.judgment_sources import Imported
from billboards.errors import ImportRefused
from billboards.importers._assembling import assemble, check_name, counts, read_objects, rows_of_generators, text_in
from billboards.importers._importer import importer
from billboards.reading import Problems, read_number, refuse_errors, shown

RECALL = Dimension(
    "litepyramid_recall",
    range=(0.0, 1.0),
    definition="The share of the reference's content units that the summary holds, as people see it.",
)
CARD = DataCard(
    title="REALSumm",
    task="Summarise a news article in a few sentences",
    source="https://github.com/neulab/REALSumm; articles and references: CNN/DailyMail",
    licence="CC-BY-4.0 (judgments)",
    citation="Bhandari et al. (2020): Re-evaluating Evaluation in Text Summarization; protocol: Shapira et al. (2019): "
    "Crowdsourcing Lightweight Pyramids for Manual Summary Evaluation",
    protocol="Content units were taken from each reference; workers said of each unit whether a summary holds it, and "
    "the score is the share that it holds",
    annotators="Workers of Amazon Mechanical Turk, four per summary; the release has one score per summary",
    comments="Sentence marks <t> and </t> are taken out of the texts. 14 systems are abstractive, 11 extractive.",
)
KINDS = {"abs": "abstractive", "ext": "extractive"}


@importer(card=CARD)
def realsumm(source: Path) -> Imported:
    """REALSumm: summaries of news, judged by lightweight pyramids.

    The source is one file of score dictionaries, or a folder with `abs` and `ext`.
    """
    files = [source] if source.is_file() else sorted(p for p in source.glob("*realsumm*.json*") if _kind(p))
    if not files:
        raise ImportRefused(f"{source}: holds no score dictionaries (looked for realsumm_abs.jsonl, realsumm_ext.json)")
    problems = Problems()
    instances: dict[str, Instance] = {}
    texts: dict[str, dict[str, str]] = {}
    judgments: list[Judgment] = []
    generators: dict[str, Generator] = {}
    articles = _articles(source, problems)
    for path in files:
        for place, item in read_objects(path, "doc_id").items():
            key = str(item.get("doc_id", place))
            check_name("instance", key, str(path), None, problems)
            reference = Reference("original", _plain(text_in(item, "ref_summ", str(path), None, problems)))
            instance = Instance(key, references=(reference,), input=articles.get(key))
            if instances.setdefault(key, instance) != instance:
                problems.error(str(path), None, f"document {key}: another file has another reference")
            for system, entry in _systems(item, key, str(path), problems).items():
                generators[system] = Generator(system, description=KINDS.get(_kind(path) or ""))
                summary = _plain(text_in(entry, "system_summary", str(path), None, problems))
                if texts.setdefault(system, {}).setdefault(key, summary) != summary:
                    problems.error(str(path), None, f"{system} has two summaries of document {key}")
                judgments.append(_judgment(entry, system, key, str(path), problems))
    refuse_errors(problems)
    every = tuple(instances.values())
    board = assemble(
        "realsumm",
        every,
        rows_of_generators(every, texts, generators),
        judgments,
        dimensions=(RECALL,),
        ranks=RECALL.name,
        input_language="en",
        output_language="en",
    )
    bare = sum(instance.input is None for instance in every)
    return Imported(board, (counts(source, board), *([f"{source}: {bare} documents have no article"] * (bare > 0))))


def _kind(path: Path) -> str | None:
    return next((kind for kind in KINDS if f"_{kind}." in path.name), None)


def _articles(source: Path, problems: Problems) -> dict[str, str]:
    path = (source.parent if source.is_file() else source) / "realsumm_src.jsonl"
    if not path.exists():
        return {}
    return {key: text_in(item, "src", str(path), None, problems) for key, item in read_objects(path, "doc_id").items()}


def _systems(item: Mapping[str, Any], key: str, path: str, problems: Problems) -> Mapping[str, Mapping[str, Any]]:
    summaries = item.get("system_summaries")
    if not isinstance(summaries, dict) or not all(isinstance(entry, dict) for entry in summaries.values()):
        problems.error(path, None, f'document {key}: "system_summaries" must hold summaries by system')
        return {}
    for system in summaries:
        check_name("generator", system, path, None, problems)
    return summaries


def _judgment(entry: Mapping[str, Any], system: str, key: str, path: str, problems: Problems) -> Judgment:
    scores = entry.get("scores")
    value = scores.get(RECALL.name) if isinstance(scores, dict) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        problems.error(path, None, f"document {key}, {system}: {RECALL.name} {shown(value)} is not a number")
        value = 0.0
    number = read_number(repr(value), RECALL.name, path, None, problems)
    if not 0 <= number <= 1:
        problems.error(path, None, f"document {key}, {system}: {RECALL.name} {number:g} lies outside [0, 1]")
    return Judgment(
        instance=key, outputs=(system,), values={RECALL.name: number}, annotator=None, campaign="litepyramid"
    )


def _plain(text: str) -> str:
    """A summary without the marks around its sentences."""
    return " ".join(text.replace("<t>", " ").replace("</t>", " ").split())
