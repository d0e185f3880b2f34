"""Error Span Annotation (Kocmi et al., 2024): translations of WMT23 English-German, scored in several campaigns.

A clone of `ErrorSpanAnnotation` has in `data/campaign-ruction-rc5/` a score file of Appraise for each campaign
(`240315rc5ESA.scores.csv`; ESA, ESA with spans that a model marked before, named GEMBA, and MQM), in `data/` below it
the batches that annotators saw (`batches_wmt23_en-de_esa.json`), and in `data/` who was behind which log-in
(`Annotators_mapping.csv`). An answer names document and item; its batch has the texts, the system and the segment.

Some items were spoiled on purpose, to see whether annotators read (`BAD`). Their texts are nobody's output: what people
said of them is kept as answers to test questions, which nothing counts as judgments of the system.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from billboards.board import Aggregate, DataCard, Dimension, Generator, Instance, Judgment, Reference
from billboards.board.appraise_answers import OWN, AppraiseAnswer, last_answers, read_appraise, span_details
from billboards.board.judgment_sources import Imported
from billboards.errors import ImportRefused, UnknownName
from billboards.importers._assembling import (
    assemble,
    check_name,
    counts,
    note_unended,
    read_json,
    read_lines,
    rows_of_generators,
)
from billboards.importers._importer import importer
from billboards.reading import Problems, read_source, refuse_errors, shown, whole_number

SCORE = Dimension(
    "score",
    range=(0.0, 100.0),
    definition="How good is the translation as a whole, once its errors are marked? 0: no meaning is preserved; 100: "
    "perfect.",
)
MQM = Dimension(
    "mqm",
    definition="Minus the weighted errors that were marked: a major one counts 5, a minor one 1, punctuation 0.1.",
)
WEIGHTS = {"major": 5.0, "minor": 1.0}
PUNCTUATION = 0.1
#: Kinds of campaigns by what their names end in: the aggregate, its dimension, and the batches they used.
KINDS = {"ESA": ("esa", SCORE, "esa"), "GEMBA": ("esa-ai", SCORE, "gemba"), "MQM": ("mqm-campaign", MQM, "mqm")}
ENDING = ".scores.csv"
REFERENCE = "refA"
CARD = DataCard(
    title="Error Span Annotation on WMT23, English-German",
    task="Translate segments of news, reviews, meetings and social media",
    languages="English to German",
    source="https://github.com/wmt-conference/ErrorSpanAnnotation",
    licence="GPL-3.0, as the repository states; the texts of WMT23 are Apache-2.0 in mt-metrics-eval",
    citation="Kocmi, Zouhar et al. (2024): Error Span Annotation: A Balanced Approach for Human Evaluation of Machine "
    "Translation; Zouhar, Kocmi and Sachan (2024): AI-Assisted Human Evaluation of Machine Translation",
    protocol="Annotators saw source and translation in context, marked spans of minor and major errors, and then gave "
    "a score from 0 to 100 (ESA); spans that a model found were there beforehand (GEMBA, ESA-AI); or they marked and "
    "named errors without a score (MQM)",
    annotators="Paid translators and bilingual annotators, one per translation and campaign, checked by spoiled items",
    comments="Segments are numbered as lines of WMT23's test set. The reference refA was judged like the systems. "
    "Answers to spoiled items are test questions and count nowhere.",
)


@importer(card=CARD)
def esa(
    source: Path,
    *,
    campaign: Annotated[str | None, "one campaign, such as 240315rc5ESA (default: all that are there)"] = None,
) -> Imported:
    """Error Span Annotation: translations of WMT23 scored by ESA, ESA-AI and MQM."""
    folder = _campaign_folder(source)
    files = {path.name.removesuffix(ENDING): path for path in sorted(folder.glob(f"*{ENDING}"))}
    if campaign is not None and campaign not in files:
        raise UnknownName("campaign", campaign, files)
    problems, notes = Problems(limit=5), list[str]()
    batches = _batches(folder, problems)
    persons = _persons(source, folder, problems, notes)
    refuse_errors(problems)
    content = _Content()
    for name, path in files.items():
        if campaign in (None, name):
            try:
                content.add(_read_campaign(name, path, batches, persons, notes), path)
            except ImportRefused as refusal:
                if len(files) == 1 or campaign is not None:
                    raise
                notes.append(f"left out campaign {name}: {refusal}")
    if not content.judgments:
        raise ImportRefused(f"{folder}: no campaign's answers are to the items of its batches; fetch both again")
    instances = _instances(content)
    for name in content.texts:
        check_name("generator", name, str(folder), None, problems)
    refuse_errors(problems)
    aggregates = tuple(_aggregates(content))
    board = assemble(
        "esa-wmt23-en-de" if campaign is None else f"esa-wmt23-en-de-{campaign}",
        instances,
        rows_of_generators(instances, content.texts, {name: _generator(name) for name in content.texts}),
        content.judgments,
        dimensions=tuple({d.name: d for _, d in content.campaigns.values()}.values()),
        ranks=aggregates[0].name,
        aggregates=aggregates,
        input_language="en",
        output_language="de",
    )
    return Imported(board, (counts(folder, board), *notes))


@dataclass(frozen=True, kw_only=True)
class _Item:
    """What an annotator saw: a translation of a segment, spoiled or not; a tutorial's has no system."""

    batch: int
    is_bad: bool
    source: str
    text: str
    system: str | None
    segment: int
    document: str


#: The items of a file of batches by document and number; some numbers appear in two batches.
Batches = Mapping[tuple[str, str], Sequence[_Item]]


@dataclass
class _Content:
    """What campaigns read so far say: sources and documents by segment, texts by system and instance, judgments."""

    sources: dict[int, tuple[str, str]] = field(default_factory=dict)
    texts: dict[str, dict[str, str]] = field(default_factory=dict)
    judgments: list[Judgment] = field(default_factory=list)
    #: The kind of each campaign and its dimension.
    campaigns: dict[str, tuple[str, Dimension]] = field(default_factory=dict)

    def add(self, other: _Content, path: Path) -> None:
        """Add a campaign whose texts must be those of the campaigns before it."""
        for segment, (source, _) in other.sources.items():
            if self.sources.get(segment, (source,))[0] != source:
                raise ImportRefused(f"{path}: segment {segment + 1} has another source than in other campaigns")
        for system, texts in other.texts.items():
            for key, text in texts.items():
                if self.texts.get(system, {}).get(key, text) != text:
                    raise ImportRefused(f"{path}: {system} has another translation of {key} than in other campaigns")
        self.sources |= other.sources
        for system, texts in other.texts.items():
            self.texts.setdefault(system, {}).update(texts)
        self.judgments += other.judgments
        self.campaigns |= other.campaigns


def _campaign_folder(source: Path) -> Path:
    if not source.exists():
        raise ImportRefused(f"{source}: no such file or folder; give a clone of wmt-conference/ErrorSpanAnnotation")
    places = ("data/campaign-ruction-rc5", "campaign-ruction-rc5", ".")
    for folder in (source / place for place in places):
        if folder.is_dir() and any(folder.glob(f"*{ENDING}")):
            return folder
    raise ImportRefused(
        f"{source}: holds no campaign (looked for {places[0]}/*{ENDING}); give a clone of "
        "wmt-conference/ErrorSpanAnnotation"
    )


def _batches(folder: Path, problems: Problems) -> dict[str, Batches]:
    """Every file of batches by the end of its name, such as esa."""
    files = sorted(path for place in (folder / "data", folder) for path in place.glob("batches_*.json*"))
    if not files:
        raise ImportRefused(f"{folder}: holds no batches with texts (looked for data/batches_*.json)")
    return {path.name.split(".")[0].rpartition("_")[2]: dict(_items(path, problems)) for path in files}


def _items(path: Path, problems: Problems) -> Iterator[tuple[tuple[str, str], list[_Item]]]:
    batches: Any = read_json(path)
    if not isinstance(batches, list) or not batches:
        raise ImportRefused(f"{path}: must be a list of batches; found {shown(batches)}")
    items: dict[tuple[str, str], list[_Item]] = {}
    for number, batch in enumerate(batches, 1):
        listed = batch.get("items") if isinstance(batch, dict) else None
        if not isinstance(listed, list):
            problems.error(str(path), None, f"batch {number} has no items; found {shown(batch)}")
            continue
        for k, item in enumerate(listed, 1):
            read = _item(item, number)
            if read is None:
                problems.error(str(path), None, f"batch {number}, item {k} lacks its texts or ids; found {shown(item)}")
            else:
                items.setdefault((item["documentID"], str(item["itemID"])), []).append(read)
    yield from items.items()


def _item(item: object, batch: int) -> _Item | None:
    if not isinstance(item, dict) or "itemID" not in item:
        return None
    texts = [item.get(key) for key in ("documentID", "sourceText", "targetText", "itemType")]
    place = item.get("_item", "")
    if not all(isinstance(text, str) for text in (*texts, place)):
        return None
    _, source, text, kind = map(str, texts)
    system, number, document = [*map(str.strip, place.split(" | ")), "", ""][:3] if place else (None, "0", "")
    segment = whole_number(number)
    if segment is None or system == "":
        return None
    return _Item(
        batch=batch,
        is_bad=kind not in OWN,
        source=source.strip(),
        text=text.strip(),
        system=system,
        segment=segment,
        document=document,
    )


def _persons(source: Path, folder: Path, problems: Problems, notes: list[str]) -> Mapping[str, str]:
    """Who was behind which log-in, where that is told."""
    name = "Annotators_mapping.csv"
    for path in dict.fromkeys((source / "data" / name, folder.parent / name, folder / name)):
        if path.is_file():
            return {login: person for person, login in _mapping(path, problems, notes) if login and person}
    notes.append(f"{folder}: no {name}, so a log-in is taken for a person; several may be one person's")
    return {}


def _mapping(path: Path, problems: Problems, notes: list[str]) -> Iterator[tuple[str, str]]:
    """Person and log-in of each line; lines end in a changing number of empty cells."""
    places: tuple[int, int] | None = None
    for line, text in read_lines(path, problems, notes):
        cells = [cell.strip() for cell in text.split(",")]
        if places is None:
            if not {"AnnotatorID", "login"} <= set(cells):
                raise ImportRefused(f"{path}:{line}: the first line must name AnnotatorID and login")
            places = cells.index("AnnotatorID"), cells.index("login")
        elif len(cells) > max(places):
            yield cells[places[0]], cells[places[1]]
        elif any(cells):
            problems.error(str(path), line, f"needs AnnotatorID and login; found {shown(text)}")


def _read_campaign(
    name: str,
    path: Path,
    batches: Mapping[str, Batches],
    persons: Mapping[str, str],
    notes: list[str],
) -> _Content:
    """What was said in a campaign."""
    kind = next((kind for kind in KINDS if re.sub(r"[^A-Z]", "", name.upper()).endswith(kind)), None)
    if kind is None:
        raise ImportRefused(f"{path}: its name ends in none of {', '.join(KINDS)}, so what it asked is unknown")
    _, dimension, own = KINDS[kind]
    answers = [answer for answer in last_answers(read_appraise(path)) if not answer.is_document]
    note_unended(path, read_source(path), notes)
    matched = _matched(answers, batches, own)
    if matched is None:
        names = ", ".join(batches)
        raise ImportRefused(
            f"{path}: its answers are not to the items of any batches at hand ({names}); fetch this campaign's batches"
        )
    told: Counter[str] = Counter()
    content = _Content(campaigns={name: (kind, dimension)})
    for answer, item in matched:
        if item.system is None:
            told["tutorial"] += 1
            continue
        told["bad" if item.is_bad else "own"] += 1
        _add(answer, item, name, dimension, persons, content, path, told)
    notes.append(
        f"{path}: {told['own']} answers; {told['bad']} more to spoiled items stand apart as test questions, and "
        f"{told['tutorial']} of the tutorial are left out"
    )
    if told["unweighted"]:
        notes.append(f"{path}: {told['unweighted']} marked spans are neither major nor minor and count nothing")
    return content


def _matched(
    answers: Sequence[AppraiseAnswer], batches: Mapping[str, Batches], own: str
) -> list[tuple[AppraiseAnswer, _Item]] | None:
    """Every answer with its item, from the first file of batches that has them all; the campaign's own comes first."""
    for _, items in sorted(batches.items(), key=lambda named: (named[0] != own, named[0])):
        pairs = [(answer, _item_of(answer, items)) for answer in answers]
        matched = [(answer, item) for answer, item in pairs if item is not None]
        if len(matched) == len(pairs):
            return matched
    return None


def _item_of(answer: AppraiseAnswer, items: Batches) -> _Item | None:
    """The item that an answer is to; where two batches have its number, the log-in's last digits name the batch."""
    candidates = [
        item
        for item in items.get((answer.document, answer.item), ())
        if item.is_bad == (answer.kind not in OWN) and answer.system.endswith(item.system or "")
    ]
    texts = {(item.system, item.segment, item.text) for item in candidates}
    if len(texts) > 1:
        digits = re.search(r"[0-9a-f]{2}$", answer.annotator)
        candidates = [item for item in candidates if digits and item.batch == int(digits[0], 16)]
    return candidates[0] if candidates else None


def _add(
    answer: AppraiseAnswer,
    item: _Item,
    campaign: str,
    dimension: Dimension,
    persons: Mapping[str, str],
    content: _Content,
    path: Path,
    told: Counter[str],
) -> None:
    system, key = item.system or "", str(item.segment + 1)
    first = content.sources.setdefault(item.segment, (item.source, item.document))
    if first[0] != item.source:
        raise ImportRefused(f"{path}:{answer.line}: segment {key} has two sources; are the batches of one test set?")
    texts = content.texts.setdefault(system, {})
    if not item.is_bad and texts.setdefault(key, item.text) != item.text:
        raise ImportRefused(f"{path}:{answer.line}: {system} has two translations of segment {key}")
    value = answer.score
    if dimension is MQM:
        value = -sum(_weight(span.severity, span.error_type, told) for span in answer.spans) + 0.0
    elif not 0 <= value <= 100:
        raise ImportRefused(f"{path}:{answer.line}: score {value:g} lies outside [0, 100]")
    details: dict[str, Any] = {"spans": [span_details(span) for span in answer.spans]} if answer.spans else {}
    if answer.ended == answer.ended:
        details["time"] = answer.ended
    if item.is_bad:
        details["test"] = answer.kind
    content.judgments.append(
        Judgment(
            instance=key,
            outputs=(system,),
            values={dimension.name: value},
            annotator=persons.get(answer.annotator, answer.annotator),
            campaign=campaign,
            details=details,
        )
    )


def _weight(severity: str, error_type: str | None, told: Counter[str]) -> float:
    told["unweighted"] += severity not in WEIGHTS
    if severity == "minor" and "punctuation" in (error_type or "").lower():
        return PUNCTUATION
    return WEIGHTS.get(severity, 0.0)


def _aggregates(content: _Content) -> Iterator[Aggregate]:
    """One for each kind of campaign, over all of that kind."""
    for kind, (name, dimension, _) in KINDS.items():
        campaigns = tuple(campaign for campaign, (own, _) in content.campaigns.items() if own == kind)
        if campaigns:
            yield Aggregate(name, (dimension.name,), campaigns)


def _instances(content: _Content) -> tuple[Instance, ...]:
    """The segments in the order of the test set, with the judged reference as their reference."""
    written = content.texts.get(REFERENCE, {})
    return tuple(
        Instance(
            str(segment + 1),
            references=(Reference(REFERENCE, written[str(segment + 1)]),) if str(segment + 1) in written else (),
            input=source,
            document=document or None,
        )
        for segment, (source, document) in sorted(content.sources.items())
    )


def _generator(name: str) -> Generator:
    return Generator(name, kind="human" if re.fullmatch(r"ref[A-Z]", name) else "machine")
