"""WMT19 DArr (Ma et al., 2019): pairs of translations, one of them rated at least 25 points above the other.

A file per language pair, `gu-en.jsonl` and so on (it may be gzipped), has a line per pair: `src`, `ref`, `better_sys`,
`better`, `worse_sys`, `worse`. The lines have no segment ids, so a segment is its source sentence, numbered in order of
appearance; a sentence that occurs twice in the test set is one instance here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from billboards.board import DataCard, Dimension, Instance, Judgment, Reference
from billboards.board.judgment_sources import Imported
from billboards.errors import ImportRefused
from billboards.importers._assembling import assemble, check_name, counts, find_file, rows_of_generators, text_in
from billboards.importers._importer import importer
from billboards.reading import Problems, json_lines, read_source, refuse_errors, shown

CAMPAIGN = "darr"
BETTER = Dimension(
    "better",
    kind="preference",
    definition="The translation whose meaning is closer to the reference's: the one that was rated at least 25 of 100 "
    "points higher.",
)
NAMES = {"gu": "Gujarati", "kk": "Kazakh", "lt": "Lithuanian", "de": "German", "fi": "Finnish", "ru": "Russian"}
NAMES |= {"zh": "Chinese", "en": "English", "cs": "Czech", "fr": "French"}
KEYS = ("src", "ref", "better_sys", "better", "worse_sys", "worse")


@dataclass
class _Content:
    """What the lines read so far say, by the place of the sentence."""

    place: dict[str, str] = field(default_factory=dict)
    instances: dict[str, Instance] = field(default_factory=dict)
    texts: dict[str, dict[str, str]] = field(default_factory=dict)
    judgments: list[Judgment] = field(default_factory=list)
    pairs: dict[tuple[str, str, str], int] = field(default_factory=dict)
    again: int = 0


@importer()
def wmt19_darr(
    source: Path,
    *,
    language_pair: Annotated[str | None, "such as gu-en; needed where the folder holds several"] = None,
) -> Imported:
    """WMT19 DArr: pairs of translations, of which people found one better."""
    pattern = f"{language_pair or '*-*'}.jsonl"
    path = find_file(source, (pattern, f"{pattern}.gz"), "DArr pairs of a language pair")
    pair = path.name.partition(".")[0]
    languages = pair.split("-")
    if len(languages) != 2 or (language_pair or pair) != pair:
        raise ImportRefused(f"{path}: its name must be that of its language pair, as in gu-en.jsonl")
    problems, content = Problems(), _Content()
    for line, item in json_lines(read_source(path), str(path), problems):
        pair_texts = {key: text_in(item, key, str(path), line, problems) for key in KEYS}
        if item.get("lp", pair) != pair:
            problems.error(str(path), line, f'"lp" is {shown(item["lp"])} in a file of {pair}')
        _read_pair(pair_texts, content, str(path), line, problems)
    if not content.judgments and not problems.errors:
        problems.error(str(path), None, "holds no pairs; fetch the file again")
    refuse_errors(problems)
    instances = tuple(content.instances.values())
    rows = rows_of_generators(instances, content.texts)
    board = assemble(
        f"wmt19-darr-{pair}",
        instances,
        rows,
        content.judgments,
        dimensions=(BETTER,),
        ranks=BETTER.name,
        input_language=languages[0],
        output_language=languages[1],
        card=_card(*languages),
    )
    again = (
        (f"{path}: {content.again} pairs are stated again or the other way round; each counts",)
        if content.again
        else ()
    )
    return Imported(board, (counts(path, board), *again))


def _read_pair(pair: dict[str, str], content: _Content, path: str, line: int, problems: Problems) -> None:
    key = content.place.setdefault(pair["src"], str(len(content.place) + 1))
    instance = Instance(key, references=(Reference("ref", pair["ref"]),), input=pair["src"])
    if content.instances.setdefault(key, instance) != instance:
        problems.error(path, line, f"{shown(pair['src'])} has another reference on another line")
    for side in ("better", "worse"):
        system, text = pair[f"{side}_sys"], pair[side]
        check_name("generator", system, path, line, problems)
        if content.texts.setdefault(system, {}).setdefault(key, text) != text:
            problems.error(path, line, f"{system} has two translations of {shown(pair['src'])}")
    better, worse = pair["better_sys"], pair["worse_sys"]
    if better == worse:
        problems.error(path, line, f"{better} is compared with itself")
    first, second = sorted((better, worse))
    content.again += content.pairs.setdefault((key, first, second), line) != line
    details = {"dimension": BETTER.name, "prefers": better}
    content.judgments.append(
        Judgment(instance=key, outputs=(better, worse), values={}, annotator=None, campaign=CAMPAIGN, details=details)
    )


def _card(source: str, target: str) -> DataCard:
    names = f"{NAMES.get(source, source)} to {NAMES.get(target, target)}"
    return DataCard(
        title=f"WMT19 DArr, {names}",
        task=f"Translate news from {names}, sentence by sentence",
        source="WMT19 metrics task (https://www.statmt.org/wmt19/results.html), pairs as released with BARTScore",
        licence="None stated for the judgments; WMT's data are free for research",
        citation="Ma, Wei, Bojar and Graham (2019): Results of the WMT19 Metrics Shared Task: Segment-Level and Strong "
        "MT Systems Pose Big Challenges",
        protocol="Direct assessment: a translation was rated against the reference from 0 to 100; two translations of "
        "a sentence whose mean ratings lie at least 25 points apart make a pair, the higher one the better",
        annotators="Crowd workers who passed quality control; mostly one rating per translation",
        comments="The ratings behind the pairs are not part of this release, nor are pairs less than 25 points apart.",
    )
