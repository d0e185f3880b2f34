"""WebNLG 2020 (Castro Ferreira et al., 2020): systems put sets of triples into words, rated for five qualities.

Two repositories, below one folder or named one by one. `challenge-2020` has for English and Russian
`evaluation/human-evaluation/results/LANG/TEAM/primary.json`, every worker's ratings by sample, a list of all teams'
means beside them, and `submissions/rdf2text/LANG/TEAM/primary.LANG`, a line per input. `webnlg-dataset` has the inputs
with their references, `release_v3.0/LANG/test/rdf-to-text-generation-test-data-with-refs-LANG.xml`. Sample N is entry
`IdN` and line N. Where only the means are there, these are read.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, isclose
from pathlib import Path
from typing import Annotated, Literal

from billboards.board import DataCard, Dimension, Generator, Instance, Judgment
from billboards.board.judgment_sources import Imported
from billboards.errors import ImportRefused
from billboards.importers._assembling import (
    assemble,
    check_name,
    counts,
    find_file,
    read_json,
    read_lines,
    references,
    rows_of_generators,
)
from billboards.importers._importer import importer
from billboards.reading import Problems, is_number, read_source, refuse_errors, shown, some, whole_number

LANGUAGES = {"en": "english", "ru": "russian"}
DIMENSIONS = {
    "Correctness": "Does the text describe the predicates it mentions with the right objects and subjects?",
    "DataCoverage": "Does the text include descriptions of all predicates in the data?",
    "Fluency": "Does the text progress naturally and form a coherent whole, easy to understand?",
    "Relevance": "Does the text describe only predicates that are in the data?",
    "TextStructure": "Is the text grammatical, well structured, and in acceptable language?",
}
RAW = tuple(Dimension(name, range=(0.0, 100.0), definition=text) for name, text in DIMENSIONS.items())
STANDARDISED = tuple(Dimension(name, definition=f"{text} Standardised by worker.") for name, text in DIMENSIONS.items())
RESULTS = "evaluation/human-evaluation/results"
SUBMISSIONS = "submissions/rdf2text"
#: The rated reference; which of an input's references it is, is said nowhere.
REFERENCE = "webnlg2020reference"
CARD = DataCard(
    title="WebNLG 2020, human evaluation",
    task="Put one to seven RDF triples into words",
    source="https://github.com/WebNLG/challenge-2020; references: the WebNLG corpus, release 3.0",
    licence="None stated for the ratings; the WebNLG corpus is CC-BY-NC-SA-4.0",
    citation="Castro Ferreira et al. (2020): The 2020 Bilingual, Bi-Directional WebNLG+ Shared Task",
    protocol="Workers saw the triples and one text and rated five dimensions on sliders from 0 to 100",
    annotators="Crowd workers, mostly three per text, under the release's own pseudonyms",
    comments="Ratings are as workers gave them, not standardised. A reference was rated too, WebNLG-2020-reference; "
    "where an input has several, the release doesn't say which one it was, and the row has no text there.",
)


@importer(card=CARD)
def webnlg_2020(
    source: Path,
    *,
    language: Annotated[Literal["en", "ru"], "en (default) or ru"] = "en",
    corpus: Annotated[
        Path | None, "a clone of the WebNLG corpus (webnlg-dataset), where it isn't below the same folder"
    ] = None,
) -> Imported:
    """WebNLG 2020: triples put into words, rated for five qualities."""
    problems, notes = Problems(limit=5), list[str]()
    test = _test_set(source if corpus is None else corpus, language)
    ratings = _ratings(source, language, problems, notes)
    refuse_errors(problems)
    instances, entries = _instances(test, {rating.sample for rating in ratings.every}, problems)
    refuse_errors(problems)
    notes += _disagreements(ratings, instances)
    outputs = _outputs(source, language, entries, problems, notes)
    refuse_errors(problems)
    texts = _texts(ratings, instances, outputs, notes)
    judgments = [rating.judgment() for rating in ratings.every if rating.team in texts]
    for rating in ratings.every:
        if rating.team in texts and rating.sample not in texts[rating.team] and not _is_reference(rating.team):
            problems.error(rating.path, None, f"{rating.team} has no line {rating.sample} among the submissions")
    refuse_errors(problems)
    if not judgments:
        raise ImportRefused(f"{source}: no team has both ratings and a submission; fetch {SUBMISSIONS}/{language}")
    board = assemble(
        f"webnlg-2020-{language}",
        instances,
        rows_of_generators(instances, texts, {team: _generator(team) for team in texts}),
        judgments,
        dimensions=ratings.scales,
        ranks="Correctness",
        output_language=language,
        card=None if ratings.by_worker else _MEANS_CARD,
    )
    return Imported(board, (counts(source, board), *notes))


_MEANS_CARD = DataCard(
    annotators="Crowd workers, mostly three per text; the files read here have the means",
    comments="Means over workers.",
)


@dataclass(frozen=True, kw_only=True)
class _Rating:
    """What a worker said of a team's text, or the mean of what workers said."""

    path: str
    team: str
    sample: str
    worker: str | None
    values: Mapping[str, float]

    def judgment(self) -> Judgment:
        return Judgment(
            instance=self.sample, outputs=(self.team,), values=self.values, annotator=self.worker, campaign="crowd"
        )


@dataclass(frozen=True, kw_only=True)
class _Ratings:
    """All ratings on their scales, and what the list of means says of each sample."""

    every: Sequence[_Rating]
    scales: tuple[Dimension, ...]
    by_worker: bool
    about: Mapping[str, tuple[str, str]]


def _test_set(root: Path, language: str) -> Path:
    name = f"rdf-to-text-generation-test-data-with-refs-{language}.xml"
    places = (f"release_v3.0/{language}/test/{name}", f"webnlg-dataset/release_v3.0/{language}/test/{name}", name)
    return find_file(root, places, "WebNLG's test set with references; name its clone by --corpus")


def _folder(source: Path, inside: str) -> Path:
    """A folder of the challenge's repository, which is the source or lies below it."""
    if not source.exists():
        raise ImportRefused(f"{source}: no such file or folder; it should hold a clone of WebNLG/challenge-2020")
    for root in (source, source / "challenge-2020"):
        if (root / inside).is_dir():
            return root / inside
    matches = sorted(path for path in source.rglob(inside) if path.is_dir())
    if len(matches) != 1:
        what = f"{len(matches)} folders {inside}" if matches else f"no folder {inside}"
        raise ImportRefused(f"{source}: holds {what}; give a clone of WebNLG/challenge-2020, or a folder above it")
    return matches[0]


# Ratings.


def _ratings(source: Path, language: str, problems: Problems, notes: list[str]) -> _Ratings:
    """Every worker's ratings, else the means."""
    folder = _folder(source, f"{RESULTS}/{language}")
    listed = folder / f"{LANGUAGES[language]}_humeval_data_all_teams.json"
    files = sorted(folder.glob("*/primary.json"))
    if not files and not listed.is_file():
        raise ImportRefused(f"{folder}: holds no ratings (looked for TEAM/primary.json and {listed.name})")
    means = list(_means(listed, problems)) if listed.is_file() else []
    about = {rating.sample: facts for rating, facts in means}
    if files:
        every = [rating for path in files for rating in _of_workers(path, problems, notes)]
        if not problems.errors:
            notes += _compare(listed, every, [rating for rating, _ in means])
            own = {_folded(rating.team) for rating in every}
            if others := sorted({rating.team for rating, _ in means if _folded(rating.team) not in own}):
                notes.append(f"{listed}: left out {some(others)}: means alone, no worker's own ratings")
        return _Ratings(every=every, scales=RAW, by_worker=True, about=about)
    single = [rating for rating, _ in means]
    is_raw = all(0 <= value <= 100 for rating in single for value in rating.values.values())
    notes.append(
        f"{listed}: means over workers" + ("" if is_raw else "; some are negative, so they are taken as standardised")
    )
    return _Ratings(every=single, scales=RAW if is_raw else STANDARDISED, by_worker=False, about=about)


def _of_workers(path: Path, problems: Problems, notes: list[str]) -> Iterator[_Rating]:
    team, where = path.parent.name, str(path)
    check_name("generator", team, where, None, problems)
    samples = read_json(path)
    if not isinstance(samples, dict) or not samples:
        problems.error(where, None, f"must hold ratings by sample and worker; found {shown(samples)}")
        return
    feedback = unrated = 0
    for sample, workers in samples.items():
        if whole_number(sample) is None or not isinstance(workers, dict):
            problems.error(where, None, f"sample {shown(sample)} must have ratings by worker; found {shown(workers)}")
            continue
        for worker, ratings in workers.items():
            values = ratings if isinstance(ratings, dict) else {"": ratings}
            feedback += "feedback" in values
            scores = {name: values[name] for name in DIMENSIONS if values.get(name) is not None}
            if not scores and values.keys() <= {*DIMENSIONS, "feedback"}:
                unrated += 1
                continue
            if not scores or not all(is_number(value) and 0 <= value <= 100 for value in scores.values()):
                what = f"sample {sample}, {worker}: {', '.join(DIMENSIONS)} must be numbers from 0 to 100"
                problems.error(where, None, f"{what}; found {shown(ratings)}")
                continue
            floats = {name: float(value) for name, value in scores.items()}
            yield _Rating(path=where, team=team, sample=str(int(sample)), worker=worker, values=floats)
    if feedback:
        notes.append(f"{path}: {feedback} remarks in workers' own words are left out")
    if unrated:
        notes.append(f"{path}: {unrated} workers gave no rating of a text they saw")


def _means(path: Path, problems: Problems) -> Iterator[tuple[_Rating, tuple[str, str]]]:
    items = read_json(path)
    if not isinstance(items, list) or not items:
        raise ImportRefused(f"{path}: must be a list of ratings; found {shown(items)}")
    seen: dict[tuple[str, str], int] = {}
    for k, item in enumerate(items):
        right = isinstance(item, dict) and all(
            isinstance(item.get(key), str) for key in ("submission_id", "sample_id", "category", "size")
        )
        if not right or not all(is_number(item.get(name)) for name in DIMENSIONS):
            problems.error(str(path), None, f"entry {k} lacks its names or one of {', '.join(DIMENSIONS)}")
            continue
        team, sample = item["submission_id"], item["sample_id"]
        check_name("generator", team, str(path), None, problems)
        if (team, sample) in seen:
            problems.error(
                str(path), None, f"{team} is rated twice on sample {sample}, in entries {seen[team, sample]} and {k}"
            )
        seen[team, sample] = k
        values = {name: float(item[name]) for name in DIMENSIONS}
        rating = _Rating(path=str(path), team=team, sample=sample, worker=None, values=values)
        yield rating, (item["category"], item["size"])


def _compare(path: Path, every: Sequence[_Rating], means: Sequence[_Rating]) -> Iterator[str]:
    """Whether the listed means are those of the workers' ratings; these are what the board has."""
    of_text: dict[tuple[str, str, str], list[float]] = {}
    for rating in every:
        for name, value in rating.values.items():
            of_text.setdefault((_folded(rating.team), rating.sample, name), []).append(value)
    both = [
        (listed, of_text[key])
        for mean in means
        for name, listed in mean.values.items()
        if (key := (_folded(mean.team), mean.sample, name)) in of_text
    ]
    if not both:
        return
    equal = sum(isclose(listed, fsum(own) / len(own), abs_tol=1e-6) for listed, own in both)
    if equal == len(both):
        yield f"{path}: its {equal} means are the plain means of the workers' ratings"
        return
    negative = sum(listed < 0 for listed, _ in both)
    why = f"; {negative} of them are negative: they are standardised by worker" if negative else ""
    yield (
        f"{path}: {len(both) - equal} of {len(both)} means are not those of the workers' ratings{why}. The board has "
        "the ratings as the workers gave them"
    )


def _disagreements(ratings: _Ratings, instances: Sequence[Instance]) -> Iterator[str]:
    """How many samples are of another category or size in the list of means than in the corpus."""
    other = [
        instance.id
        for instance in instances
        if ratings.about.get(instance.id, (instance.domain, instance.tags[0].removesuffix("triple")))
        != (instance.domain, instance.tags[0].removesuffix("triple"))
    ]
    if other:
        yield (
            f"the ratings and the corpus disagree on category or size of {len(other)} of {len(instances)} samples, "
            f"first {other[0]}; samples are matched by number, and category and size are the corpus's"
        )


# Inputs and references.


def _instances(path: Path, wanted: set[str], problems: Problems) -> tuple[tuple[Instance, ...], int | None]:
    """The inputs that were rated, in the order of the test set, and how many it has where none are missing."""
    instances: dict[str, Instance] = {}
    keys: set[str] = set()
    for entry in _entries(path):
        key = (entry.get("eid") or "").removeprefix("Id")
        if key in keys:
            problems.error(str(path), None, f"entry {key} appears twice")
        keys.add(key)
        if key in wanted:
            triples = "<br>".join(element.text or "" for element in entry.iter("mtriple"))
            texts = references((element.text or "").strip() for element in entry.iter("lex"))
            instances[key] = Instance(
                key,
                references=texts,
                input=triples,
                domain=entry.get("category"),
                tags=(f"{entry.get('size')}triple",),
            )
    missing = sorted(wanted - instances.keys(), key=lambda key: (len(key), key))
    if missing:
        problems.error(str(path), None, f"has no entry {missing[0]}; the file may be cut off")
    is_whole = keys == {str(number) for number in range(1, len(keys) + 1)}
    return tuple(instances.values()), len(keys) if is_whole else None


def _entries(path: Path) -> Iterator[ElementTree.Element]:
    raw = read_source(path)
    # Zero bytes would be another encoding, in which the words below are written otherwise.
    if b"<!DOCTYPE" in raw or b"<!ENTITY" in raw or b"\0" in raw:
        raise ImportRefused(f"{path}: declares entities, which this data set doesn't; fetch the file again")
    try:
        raw.decode("utf-8")
        yield from ElementTree.fromstring(raw).iter("entry")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ImportRefused(f"{path}:{line}: not UTF-8; fetch the file again") from error
    except ElementTree.ParseError as error:
        raise ImportRefused(f"{path}:{error.position[0]}: not XML: {error}; fetch the file again") from error
    except (LookupError, ValueError) as error:
        raise ImportRefused(f"{path}: names an encoding that it isn't in: {error}; fetch the file again") from error


# Outputs.


def _outputs(
    source: Path, language: str, entries: int | None, problems: Problems, notes: list[str]
) -> dict[str, dict[str, str]]:
    """Every team's lines by their number, under the team's folded name."""
    root = _folder(source, f"{SUBMISSIONS}/{language}")
    files = sorted(root.glob(f"*/primary.{language}")) + sorted(root.glob(f"*/*/primary.{language}"))
    if not files:
        raise ImportRefused(f"{root}: holds no submissions (looked for TEAM/primary.{language})")
    outputs: dict[str, dict[str, str]] = {}
    sizes: dict[Path, int] = {}
    for path in files:
        team = _folded(path.relative_to(root).parts[0])
        lines = [text.strip() for _, text in read_lines(path, problems, notes)]
        while entries is not None and len(lines) > entries and not lines[-1]:
            lines.pop()
        if team in outputs:
            problems.error(str(path), None, "another submission of this team is there; which one was rated is not said")
        outputs[team] = {str(number): text for number, text in enumerate(lines, 1)}
        sizes[path] = len(lines)
    if not problems.errors:
        _check_sizes(root, sizes, entries, problems, notes)
    return outputs


def _check_sizes(
    root: Path, sizes: Mapping[Path, int], entries: int | None, problems: Problems, notes: list[str]
) -> None:
    """Every team must have as many lines as the test set has entries, or else as all other teams."""
    usual = Counter(sizes.values()).most_common(1)[0][0]
    expected = entries if entries in sizes.values() else usual
    owner = "the test set has" if expected == entries else "other teams have"
    for path, size in sizes.items():
        if size != expected:
            problems.error(str(path), None, f"{size} lines where {owner} {expected}; is one missing, or too many?")
    if expected != entries:
        have = "lacks entries" if entries is None else f"has {entries} entries"
        notes.append(f"{root}: {usual} lines a team, and the test set {have}; a line is the sample of its number")


def _texts(
    ratings: _Ratings, instances: Sequence[Instance], outputs: Mapping[str, Mapping[str, str]], notes: list[str]
) -> dict[str, dict[str, str]]:
    """The rated texts by team and sample; teams without a submission are left out."""
    texts: dict[str, dict[str, str]] = {}
    absent: Counter[str] = Counter()
    for rating in ratings.every:
        lines = outputs.get(_folded(rating.team))
        if _is_reference(rating.team):
            texts[rating.team] = _single_references(instances)
        elif lines is None:
            absent[rating.team] += 1
        else:
            texts.setdefault(rating.team, {})
            if rating.sample in lines:
                texts[rating.team][rating.sample] = lines[rating.sample]
    if absent:
        notes.append(f"left out {sum(absent.values())} ratings of {some(sorted(absent))}: no submission is there")
    for team in filter(_is_reference, texts):
        notes.append(
            f"{team}: a reference was rated; its text is known on {len(texts[team])} of {len(instances)} samples, "
            "which have a single one. Its ratings are all there"
        )
    return texts


def _single_references(instances: Sequence[Instance]) -> dict[str, str]:
    """The text of an input's reference where it has only one."""
    return {
        instance.id: instance.references[0].text
        for instance in instances
        if len({reference.text for reference in instance.references}) == 1
    }


def _generator(team: str) -> Generator:
    if _is_reference(team):
        return Generator(team, kind="human", description="A reference of the corpus, rated like the systems' texts")
    return Generator(team)


def _is_reference(team: str) -> bool:
    return _folded(team) == REFERENCE


def _folded(team: str) -> str:
    """A team's name as folders and ratings write it alike."""
    return re.sub(r"[\W_]+", "", team).casefold()
