"""WMT19 DArr (Ma et al., 2019): pairs of translations, one of them rated at least 25 points above the other.

BARTScore's repository has a pickle per language pair, `WMT/gu-en/data.pkl` and so on: for each pair `src`, `ref`, and
under `better` and `worse` a `sys_name`, its translation `sys` and `scores`. Lines of JSON are read as well
(`gu-en.jsonl`: `src`, `ref`, `better_sys`, `better`, `worse_sys`, `worse`). There are no segment ids, so a segment is
its source sentence with its reference, numbered in order of appearance; one that occurs twice in the test set is one
instance, unless a system translated it in two ways.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

from billboards._pickles import read_pickle
from billboards.board import DataCard, Dimension, Instance, Judgment, Reference
from billboards.board.judgment_sources import Imported
from billboards.errors import ImportRefused
from billboards.importers._assembling import assemble, check_name, counts, find_file, rows_of_generators, text_in
from billboards.importers._importer import importer
from billboards.importers._rated_outputs import ReleasedScores, is_pickled
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
SIDES = ("better", "worse")
KEYS = ("src", "ref", "better_sys", "better", "worse_sys", "worse")


PAIR = "[a-z][a-z]-[a-z][a-z]"


@dataclass
class _Content:
    """What the pairs read so far say."""

    scores: ReleasedScores
    #: The instances of a sentence and its reference; there are several where a system translated it in several ways.
    places: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    instances: dict[str, Instance] = field(default_factory=dict)
    texts: dict[str, dict[str, str]] = field(default_factory=dict)
    judgments: list[Judgment] = field(default_factory=list)
    pairs: dict[tuple[str, str, str], int] = field(default_factory=dict)
    again: int = 0
    equal: int = 0


@importer()
def wmt19_darr(
    source: Path,
    *,
    language_pair: Annotated[str | None, "such as gu-en; needed where the folder holds several"] = None,
) -> Imported:
    """WMT19 DArr: pairs of translations, of which people found one better.

    The source is a clone of BARTScore, one of its folders, or a file of pairs.
    """
    pattern = language_pair or PAIR
    places = (f"{pattern}.jsonl", f"{pattern}.jsonl.gz", f"{pattern}/data.pkl", "data.pkl")
    several = sorted(path.parent.name for path in source.rglob(places[2])) if source.is_dir() else []
    if len(several) > 1 and not language_pair:
        raise ImportRefused(f"{source}: holds pairs of several languages: {', '.join(several)}; say --language-pair")
    path = find_file(source, places, "DArr pairs of a language pair")
    languages = _languages(path, language_pair)
    pair = "-".join(languages)
    problems = Problems()
    content = _Content(ReleasedScores(str(path), problems))
    for place, texts in _pairs(path, pair, problems):
        _read_pair(texts, content, str(path), place, problems)
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
    board = replace(board, imported=content.scores.columns(instances))
    refuse_errors(problems)
    return Imported(board, (counts(path, board), *_notes(path, content), *content.scores.notes()))


def _languages(path: Path, asked: str | None) -> tuple[str, str]:
    """The two languages of a file, whose name or folder tells them."""
    name = path.parent.name if is_pickled(path) else path.name.partition(".")[0]
    told = name.split("-") if len(name.split("-")) == 2 else (asked or "").split("-")
    if len(told) != 2 or not all(told) or (asked or "-".join(told)) != "-".join(told):
        kind, example = ("folder", "gu-en/data.pkl") if is_pickled(path) else ("file", "gu-en.jsonl")
        raise ImportRefused(
            f"{path}: the {kind}'s name must be its language pair, as in {example}; found {shown(name)}"
        )
    return told[0], told[1]


def _notes(path: Path, content: _Content) -> Iterator[str]:
    if content.again:
        yield f"{path}: {content.again} pairs are stated again or the other way round; each counts"
    if content.equal:
        yield f"{path}: {content.equal} pairs are of two equal translations, which no metric tells apart; each counts"
    apart = sum(len(places) > 1 for places in content.places.values())
    if apart:
        yield f"{path}: {apart} sentences were translated in several ways by one system; each way is an instance"


@dataclass(frozen=True, kw_only=True)
class _Place:
    """Where a pair stands: on a line, or under a key."""

    line: int | None = None
    text: str = ""


def _pairs(path: Path, pair: str, problems: Problems) -> Iterator[tuple[_Place, Mapping[str, Any]]]:
    """Every pair of a file as JSON lines have it: texts by `KEYS`, and metrics' scores under `scores`."""
    if not is_pickled(path):
        for line, item in json_lines(read_source(path), str(path), problems):
            if item.get("lp", pair) != pair:
                problems.error(str(path), line, f'"lp" is {shown(item["lp"])} in a file of {pair}')
            texts = {key: text_in(item, key, str(path), line, problems) for key in KEYS}
            yield _Place(line=line), {**texts, "scores": {}}
        return
    value = read_pickle(path)
    if not isinstance(value, dict):
        raise ImportRefused(f"{path}: should hold pairs by their numbers; found {shown(value)}")
    for key, item in value.items():
        place = _Place(text=f"pair {shown(key)}: ")
        sides: dict[str, Any] = {side: item.get(side) for side in SIDES} if isinstance(item, dict) else {}
        if not sides or not all(isinstance(side, dict) for side in sides.values()):
            problems.error(str(path), None, f"{place.text}needs src, ref, better and worse; found {shown(item)}")
            continue
        flat: dict[str, Any] = {"src": item.get("src"), "ref": item.get("ref"), "scores": {}}
        for name, side in sides.items():
            flat |= {name: side.get("sys"), f"{name}_sys": side.get("sys_name")}
            if isinstance(side.get("scores"), dict):
                flat["scores"][name] = side["scores"]
        if all(isinstance(flat[key], str) for key in KEYS):
            yield place, flat
        else:
            problems.error(str(path), None, f"{place.text}needs texts and systems' names; found {shown(item)}")


def _read_pair(pair: Mapping[str, Any], content: _Content, path: str, place: _Place, problems: Problems) -> None:
    better, worse = pair["better_sys"], pair["worse_sys"]
    for system in (better, worse):
        check_name("generator", system, path, place.line, problems)
    if better == worse:
        problems.error(path, place.line, f"{place.text}{better} is compared with itself")
        return
    key = _instance_of(pair, content)
    for side in SIDES:
        content.texts.setdefault(pair[f"{side}_sys"], {})[key] = pair[side]
        where = f"{place.text}{side}"
        content.scores.add(pair["scores"].get(side, {}), row=pair[f"{side}_sys"], instance=key, place=where)
    first, second = sorted((better, worse))
    count = len(content.judgments)
    content.again += content.pairs.setdefault((key, first, second), count) != count
    content.equal += pair["better"] == pair["worse"]
    details = {"dimension": BETTER.name, "prefers": better}
    content.judgments.append(
        Judgment(instance=key, outputs=(better, worse), values={}, annotator=None, campaign=CAMPAIGN, details=details)
    )


def _instance_of(pair: Mapping[str, Any], content: _Content) -> str:
    """The instance of a pair's sentence in which neither system has another translation; a new one if there is none."""
    places = content.places.setdefault((pair["src"], pair["ref"]), [])
    for key in places:
        if all(content.texts.get(pair[f"{side}_sys"], {}).get(key, pair[side]) == pair[side] for side in SIDES):
            return key
    key = str(len(content.instances) + 1)
    places.append(key)
    content.instances[key] = Instance(key, references=(Reference("ref", pair["ref"]),), input=pair["src"])
    return key


def _card(source: str, target: str) -> DataCard:
    names = f"{NAMES.get(source, source)} to {NAMES.get(target, target)}"
    return DataCard(
        title=f"WMT19 DArr, {names}",
        task=f"Translate news from {names}, sentence by sentence",
        source="WMT19 metrics task (https://www.statmt.org/wmt19/results.html), pairs as released with BARTScore",
        licence="None stated for the judgments; WMT's data are free for research; BARTScore's repository: Apache-2.0",
        citation="Ma, Wei, Bojar and Graham (2019): Results of the WMT19 Metrics Shared Task: Segment-Level and Strong "
        "MT Systems Pose Big Challenges",
        protocol="Direct assessment: a translation was rated against the reference from 0 to 100; two translations of "
        "a sentence whose mean ratings lie at least 25 points apart make a pair, the higher one the better",
        annotators="Crowd workers who passed quality control; mostly one rating per translation",
        comments="The ratings behind the pairs are not part of this release, nor are pairs less than 25 points apart.",
    )
