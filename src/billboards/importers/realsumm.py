"""REALSumm (Bhandari et al., 2020): 25 systems' summaries of 100 news articles, judged by lightweight pyramids.

The authors' repository has two pickled dicts, `scores_dicts/abs.pkl` and `ext.pkl`: `doc_id`, `ref_summ`, and
`system_summaries` with for each system its `system_summary` and `scores`, of which `litepyramid_recall` is people's and
14 are metrics'. BART's summaries are in both files; they stay two generators, as published numbers count them.
BARTScore's copy (`SUM/REALSumm/data.pkl`) and JSON of the same dicts are read as well. The articles lie in the
repository line by line, or in a file of lines `doc_id`, `src`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from billboards.board import DataCard, Dimension, Generator, Instance, Judgment, Reference
from billboards.board.judgment_sources import Imported
from billboards.errors import ImportRefused
from billboards.importers._assembling import assemble, check_name, counts, read_objects, rows_of_generators, text_in
from billboards.importers._importer import importer
from billboards.importers._rated_outputs import RatedOutput, ReleasedScores, people_said, read_rated_outputs
from billboards.reading import Problems, numbered_lines, read_source, refuse_errors

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
    comments="Sentence marks <t> and </t> are taken out of the texts. 14 systems are abstractive, 11 extractive; BART "
    "is in both groups with the same summaries and scores, so it stands here twice.",
)
KINDS = {"abs": "abstractive", "ext": "extractive"}
#: Where score dictionaries lie, the first that is found: the authors' clone, its folder, JSON, BARTScore's clone.
PLACES = (
    ("scores_dicts/abs.pkl", "scores_dicts/ext.pkl"),
    ("abs.pkl", "ext.pkl"),
    ("*realsumm*_abs.json*", "*realsumm*_ext.json*"),
    ("REALSumm/data.pkl", "REALSumm/data.pkl.gz"),
    ("data.pkl", "data.pkl.gz"),
)
ARTICLES = "realsumm_src.jsonl"
#: The share of two texts' words that both have, if one is the other with its words cut otherwise.
ALIKE = 0.5


@dataclass
class _Content:
    """What the files read so far say."""

    instances: dict[str, Instance] = field(default_factory=dict)
    texts: dict[str, dict[str, str]] = field(default_factory=dict)
    generators: dict[str, Generator] = field(default_factory=dict)
    judgments: list[Judgment] = field(default_factory=list)
    #: Names that a later file has again, by what they are called there.
    again: dict[str, str] = field(default_factory=dict)


@importer(card=CARD)
def realsumm(source: Path) -> Imported:
    """REALSumm: summaries of news, judged by lightweight pyramids.

    The source is a clone of REALSumm or BARTScore, a folder with `abs` and `ext`, or one file of score dictionaries.
    """
    problems, content = Problems(), _Content()
    scores = ReleasedScores(str(source), problems)
    articles = _articles(source, problems)
    files = _files(source)
    for path in files:
        _read_file(path, articles, content, scores, problems)
    refuse_errors(problems)
    every, missing = _with_articles(source, tuple(content.instances.values()), problems)
    board = assemble(
        "realsumm",
        every,
        rows_of_generators(every, content.texts, content.generators),
        content.judgments,
        dimensions=(RECALL,),
        ranks=RECALL.name,
        input_language="en",
        output_language="en",
    )
    board = replace(board, imported=scores.columns(every))
    refuse_errors(problems)
    return Imported(
        board, (counts(source, board), *scores.notes(), *_kept_apart(source, content), *_alone(files), *missing)
    )


def _files(source: Path) -> Sequence[Path]:
    if source.is_file():
        return [source]
    if not source.exists():
        raise ImportRefused(f"{source}: no such file or folder; it should hold REALSumm's score dictionaries")
    for patterns in PLACES:
        files = [path for pattern in patterns for path in sorted(source.rglob(pattern))]
        if len(files) > 2 or (len(files) > 1 and patterns[0].endswith("data.pkl")):
            names = ", ".join(str(path.relative_to(source)) for path in files[:6])
            raise ImportRefused(f"{source}: holds several candidates for the score dictionaries: {names}; give one")
        if files:
            return files
    tried = ", ".join(pattern for patterns in PLACES for pattern in patterns)
    raise ImportRefused(f"{source}: holds no score dictionaries of REALSumm (looked for {tried})")


def _kind(path: Path) -> str | None:
    return next((kind for kind in KINDS if re.search(rf"(?:^|_){kind}\.", path.name)), None)


def _read_file(
    path: Path, articles: dict[str, str], content: _Content, scores: ReleasedScores, problems: Problems
) -> None:
    kind, earlier = _kind(path), frozenset(content.texts)
    for output in read_rated_outputs(path, problems):
        key = output.document
        check_name("instance", key, str(path), None, problems)
        named = tuple(Reference("original", _plain(text)) for text in output.references[:1])
        article = articles.get(key) if output.input is None else _plain(output.input)
        instance = Instance(key, references=named, input=article)
        if content.instances.setdefault(key, instance) != instance:
            problems.error(str(path), None, f"document {key}: another file has another reference")
        system = output.system
        if system in earlier:
            system = content.again.setdefault(system, f"{system} ({kind or path.stem})")
        check_name("generator", system, str(path), None, problems)
        content.generators[system] = Generator(system, description=KINDS.get(kind or ""))
        content.texts.setdefault(system, {})[key] = _plain(output.text)
        content.judgments.append(_judgment(output, system, str(path), problems))
        scores.add(output.scores, row=system, instance=key, place=output.place, without=(RECALL.name,))


def _judgment(output: RatedOutput, system: str, path: str, problems: Problems) -> Judgment:
    values = people_said(output, (RECALL,), path, problems)
    return Judgment(instance=output.document, outputs=(system,), values=values, annotator=None, campaign="litepyramid")


def _kept_apart(source: Path, content: _Content) -> Iterator[str]:
    for name, other in content.again.items():
        ours, theirs = content.texts[name], content.texts[other]
        equal = sum(text == ours.get(key) for key, text in theirs.items())
        yield (
            f"{source}: {name} is in both files, with equal texts of {equal} of {len(theirs)} documents; the two are "
            f"kept apart, as {name} and {other}"
        )


def _alone(files: Sequence[Path]) -> Iterator[str]:
    kinds = {kind for path in files if (kind := _kind(path))}
    if len(kinds) == 1:
        (kind,) = kinds
        other = next(name for name in KINDS if name != kind)
        yield f"{files[0]}: holds the {KINDS[kind]} systems alone; the {KINDS[other]} ones are in a file {other}"


def _articles(source: Path, problems: Problems) -> dict[str, str]:
    path = (source.parent if source.is_file() else source) / ARTICLES
    if not path.exists():
        return {}
    return {key: text_in(item, "src", str(path), None, problems) for key, item in read_objects(path, "doc_id").items()}


def _with_articles(
    source: Path, instances: tuple[Instance, ...], problems: Problems
) -> tuple[tuple[Instance, ...], tuple[str, ...]]:
    """The instances with the clone's articles, where line N of the references beside them is document N's."""
    bare = sum(instance.input is None for instance in instances)
    if not bare:
        return instances, ()
    for path in sorted(source.rglob("src.txt")) if source.is_dir() else ():
        articles, beside = (_lines(path.with_name(name), problems) for name in ("src.txt", "ref.txt"))
        if len(articles) == len(beside) and all(_is_line(instance, beside) for instance in instances):
            with_articles = tuple(replace(each, input=_plain(articles[int(each.id)])) for each in instances)
            return with_articles, (f"{path}: its lines are the articles; their references are those of the documents",)
    return instances, (f"{source}: {bare} documents have no article",)


def _lines(path: Path, problems: Problems) -> list[str]:
    if not path.is_file():
        return []
    return [text for _, text in numbered_lines(read_source(path), str(path), problems)]


def _is_line(instance: Instance, lines: Sequence[str]) -> bool:
    """Whether the line of a document's number is its reference, however both were cut into words."""
    number = int(instance.id) if instance.id.isascii() and instance.id.isdecimal() and len(instance.id) < 9 else -1
    if not 0 <= number < len(lines) or not instance.references:
        return False
    line, text = (set(re.findall(r"\w+", words.casefold())) for words in (lines[number], instance.references[0].text))
    return len(line & text) >= ALIKE * len(line | text)


def _plain(text: str) -> str:
    """A summary without the marks around its sentences."""
    return " ".join(text.replace("<t>", " ").replace("</t>", " ").split())
