"""SummEval (Fabbri et al., 2021): summaries of 100 news articles by 16 or more systems, rated on four dimensions.

The authors' release has a line per summary with every rating (`model_annotations.aligned.jsonl`: `id`, `model_id`,
`decoded`, `references`, `expert_annotations`, `turker_annotations`, and `text` once paired with the articles). The
others have the experts' means: BARTScore a pickle (`SUM/SummEval/data.pkl`: for each article `src`, `ref_summs`,
`sys_summs`), also as JSON lines, and UniEval a JSON list of records (`doc_id`, `system_id`, `source`, `reference`,
`system_output`, `scores`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from billboards.board import DataCard, Generator, Instance, Judgment, Reference
from billboards.board.judgment_sources import Imported
from billboards.importers._assembling import (
    assemble,
    check_name,
    counts,
    find_file,
    refuse_twice,
    rows_of_generators,
    text_in,
    texts_in,
)
from billboards.importers._importer import importer
from billboards.importers._rated_outputs import RatedOutput, ReleasedScores, people_said, read_rated_outputs
from billboards.importers.thumb import CROWD, EXPERT, SUMMARIES, summary_rating
from billboards.reading import Problems, json_lines, read_source, refuse_errors, shown

#: The systems by the number they have in the release.
SYSTEMS = {
    "M0": "Lead-3",
    "M1": "NEUSUM",
    "M2": "BanditSum",
    "M5": "RNES",
    "M8": "Pointer-Generator",
    "M9": "Fast-abs-rl",
    "M10": "Bottom-Up",
    "M11": "Improve-abs",
    "M12": "Unified-ext-abs",
    "M13": "ROUGESal",
    "M14": "Multi-task-Ent-QG",
    "M15": "Closed-book-decoder",
    "M17": "T5",
    "M20": "GPT-2-zero-shot",
    "M22": "BART",
    "M23": "Pegasus-huge-news",
}
#: UniEval's mean of the four dimensions, which the board computes itself.
OVERALL = "overall"
CARD = DataCard(
    title="SummEval",
    task="Summarise a news article in a few sentences",
    source="https://github.com/Yale-LILY/SummEval; articles and first references: CNN/DailyMail",
    licence="MIT (ratings and code); the articles are CNN's and the Daily Mail's",
    citation="Fabbri et al. (2021): SummEval: Re-evaluating Summarization Evaluation, TACL 9; further references: "
    "Kryściński et al. (2019)",
    protocol="Each summary is rated beside its article on four dimensions from 1 to 5; experts rated in two rounds and "
    "saw one another's scores where they lay far apart",
    annotators="Three experts and five crowd workers per summary",
    comments="The first reference is the article's own highlights, the other ten were written by crowd workers. What "
    "stands as expert1 to expert3 and turker1 to turker5 are places in the released lists, not persons.",
)


@dataclass
class _Content:
    """What the lines read so far say."""

    instances: dict[str, Instance] = field(default_factory=dict)
    texts: dict[str, dict[str, str]] = field(default_factory=dict)
    judgments: list[Judgment] = field(default_factory=list)
    lines: dict[Any, int] = field(default_factory=dict)


#: Where ratings lie, the first that is found: with articles, without, BARTScore's, UniEval's.
PLACES = (
    "model_annotations*.paired.jsonl*",
    "model_annotations*.jsonl*",
    "SummEval/data.pkl",
    "*summeval*.jsonl*",
    "summeval.json",
    "*summeval*.json",
    "data.pkl",
)


@importer(card=CARD)
def summeval(source: Path) -> Imported:
    """SummEval: summaries of news, rated on four dimensions.

    The source is the authors' file of annotations, or a clone of BARTScore or UniEval. The board has every rating where
    the file has them, and the experts' means else.
    """
    path = find_file(source, PLACES, "SummEval's annotations")
    problems, content = Problems(), _Content()
    scores = ReleasedScores(str(path), problems)
    if ".jsonl" in path.suffixes:
        for line, item in json_lines(read_source(path), str(path), problems):
            (_read_summary if "model_id" in item else _read_article)(item, content, str(path), line, problems)
    else:
        for output in read_rated_outputs(path, problems):
            _read_output(output, content, scores, str(path), problems)
    if not content.judgments and not problems.errors:
        problems.error(str(path), None, "holds no ratings; fetch the file again")
    refuse_errors(problems)
    single = any(judgment.annotator is not None for judgment in content.judgments)
    instances = tuple(content.instances.values())
    generators = {name: Generator(name, description=_described(name)) for name in content.texts}
    rows = rows_of_generators(instances, content.texts, generators)
    board = assemble(
        "summeval",
        instances,
        rows,
        content.judgments,
        dimensions=SUMMARIES,
        ranks=EXPERT.name,
        aggregates=(EXPERT, CROWD) if single else (EXPERT,),
        input_language="en",
        output_language="en",
        anonymous=("expert", "crowd") if single else (),
    )
    board = replace(board, imported=scores.columns(instances))
    refuse_errors(problems)
    note = "annotators are places in the lists, not persons" if single else "the ratings are means over three experts"
    notes = (counts(path, board), f"{path}: {note}", *_gaps(path, content), *_references_noted(path, content))
    return Imported(board, (*notes, *scores.notes()))


def _described(name: str) -> str | None:
    return next((f"{key} in the release" for key, system in SYSTEMS.items() if system == name), None)


def _gaps(path: Path, content: _Content) -> Iterator[str]:
    for name, texts in content.texts.items():
        if len(texts) < len(content.instances):
            yield f"{path}: {name} has no summary of {len(content.instances) - len(texts)} articles"


def _references_noted(path: Path, content: _Content) -> Iterator[str]:
    if all(len(instance.references) == 1 for instance in content.instances.values()):
        yield f"{path}: has one reference for each article; the authors' release and BARTScore's have eleven"


def _read_output(output: RatedOutput, content: _Content, scores: ReleasedScores, path: str, problems: Problems) -> None:
    """A summary with the experts' mean ratings, of a file that is no JSON lines."""
    key, name = output.document, _system(output.system, path, None, problems)
    instance = _instance(key, output.input, list(output.references), path, None, problems)
    if content.instances.setdefault(key, instance) != instance:
        problems.error(path, None, f"{output.place}: article or references differ from another place")
    if key in content.texts.setdefault(name, {}):
        problems.error(path, None, f"{output.place}: {name} appears twice")
    content.texts[name][key] = output.text
    values = people_said(output, SUMMARIES, path, problems)
    content.judgments.append(Judgment(instance=key, outputs=(name,), values=values, annotator=None, campaign="expert"))
    scores.add(output.scores, row=name, instance=key, place=output.place, without=(*values, OVERALL))


def _read_article(item: Mapping[str, Any], content: _Content, path: str, line: int, problems: Problems) -> None:
    """An article with every system's summary and mean ratings."""
    key, summaries = text_in(item, "doc_id", path, line, problems), item.get("sys_summs")
    if not isinstance(summaries, dict) or not all(isinstance(entry, dict) for entry in summaries.values()):
        problems.error(path, line, f'"sys_summs" must hold summaries by system; found {shown(summaries)}')
        return
    if not refuse_twice(content.lines, key, f"article {shown(key)}", path, line, problems):
        texts = texts_in(item, "ref_summs", path, line, problems)
        content.instances[key] = _instance(key, text_in(item, "src", path, line, problems), texts, path, line, problems)
        for system, entry in summaries.items():
            name = _system(system, path, line, problems)
            content.texts.setdefault(name, {})[key] = text_in(entry, "sys_summ", path, line, problems)
            values = summary_rating(entry.get("scores"), system, path, line, problems)
            content.judgments.append(
                Judgment(instance=key, outputs=(name,), values=values, annotator=None, campaign="expert")
            )


def _read_summary(item: Mapping[str, Any], content: _Content, path: str, line: int, problems: Problems) -> None:
    """One system's summary with every annotator's ratings."""
    key = text_in(item, "id", path, line, problems)
    name = _system(text_in(item, "model_id", path, line, problems), path, line, problems)
    if refuse_twice(content.lines, (key, name), f"{name}'s summary of {shown(key)}", path, line, problems):
        return
    article = item.get("text")
    texts = texts_in(item, "references", path, line, problems)
    instance = _instance(key, article if isinstance(article, str) else None, texts, path, line, problems)
    if content.instances.setdefault(key, instance) != instance:
        problems.error(path, line, f"article or references of {shown(key)} differ from another line's")
    content.texts.setdefault(name, {})[key] = text_in(item, "decoded", path, line, problems)
    for campaign, prefix in (("expert", "expert"), ("crowd", "turker")):
        ratings = item.get(f"{prefix}_annotations")
        if not isinstance(ratings, list) or not ratings:
            problems.error(path, line, f'"{prefix}_annotations" must be a list of ratings; found {shown(ratings)}')
            continue
        for k, rating in enumerate(ratings, 1):
            values = summary_rating(rating, f"{prefix}{k}", path, line, problems)
            content.judgments.append(
                Judgment(instance=key, outputs=(name,), values=values, annotator=f"{prefix}{k}", campaign=campaign)
            )


def _instance(
    key: str, article: str | None, texts: list[str], path: str, line: int | None, problems: Problems
) -> Instance:
    check_name("instance", key, path, line, problems)
    if not texts or not all(text.strip() for text in texts):
        problems.error(path, line, f"article {shown(key)} needs references, none of them empty")
    names = ("original", *(f"crowd{k}" for k in range(1, len(texts))))
    named = tuple(Reference(name, text) for name, text in zip(names, texts, strict=False))
    return Instance(key, references=named, input=article)


def _system(key: str, path: str, line: int | None, problems: Problems) -> str:
    name = SYSTEMS.get(key, key)
    check_name("generator", name, path, line, problems)
    return name
