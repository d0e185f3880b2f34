"""Pascal-50S (Vedantam et al., 2015): two captions of an image that has 50 references; people say which fits better.

A clone of `cider-matlab` has the pairs in `data/pair_pascal.mat` (`new_input` with image and two sentences, `new_data`
with the systems behind them, `category`, and in `result` a vote for each reference that was shown: 1 for the first
sentence, -1 for the second) and the references in `data/pascal50S.mat`. A pair is an instance, and its category the
domain, so that results can be cut by it; the image is the document that pairs share.

BEAMetrics keeps the pairs as three lists of one length, `reference` (lists of captions), `candidate` and `score`, read
here from JSON, by themselves or under the key `pascal50s`: two entries that follow one another are a pair, and the
higher score is the better one. There an image is known by its references.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from billboards.board import DataCard, Dimension, Generator, Instance, Judgment
from billboards.board.judgment_sources import Imported
from billboards.errors import ImportRefused
from billboards.importers._assembling import (
    LooseOutputs,
    assemble,
    check_name,
    counts,
    find_file,
    read_json,
    references,
    rows_of_generators,
)
from billboards.importers._importer import importer
from billboards.importers._matlab import Value, read_matlab
from billboards.reading import Problems, is_number, refuse_errors, shown

LISTS = ("reference", "candidate", "score")
PAIRS, REFERENCES = "pair_pascal.mat", "pascal50S.mat"
BETTER = Dimension(
    "better",
    kind="preference",
    definition="Which of two captions is closer to the image, as 50 other people described it?",
)
#: What is compared, by the number of the category.
CATEGORIES = {
    1: ("HC", "two people's captions of the image"),
    2: ("HI", "a person's caption of the image and one of another image"),
    3: ("HM", "a person's caption and a machine's"),
    4: ("MM", "two machines' captions"),
}
#: Who wrote a caption, by the number that the release gives.
SYSTEMS = {
    **{number: Generator(f"machine{number}", description=f"System {number} of the release") for number in range(1, 6)},
    6: Generator("human", kind="human", description="System 6 of the release: a person who saw the image"),
    7: Generator(
        "random-human", kind="human", description="System 7 of the release: a person's caption of another image"
    ),
}
CARD = DataCard(
    title="Pascal-50S",
    task="Describe a photograph in one sentence",
    source="https://github.com/vrama91/cider-matlab; images: UIUC PASCAL sentences",
    licence="None stated; the authors ask for citation",
    citation="Vedantam, Zitnick and Parikh (2015): CIDEr: Consensus-based Image Description Evaluation",
    protocol="Workers saw a reference and two captions and chose the one more like it; votes over references decide",
    annotators="Workers of Amazon Mechanical Turk, a vote for each of several references",
    comments="The images are not part of the files.",
)


@importer(card=CARD)
def pascal_50s(source: Path) -> Imported:
    """Pascal-50S: pairs of captions, of which people chose one."""
    pairs = _matlab_file(source)
    if pairs is not None:
        return _of_matlab(pairs)
    path = find_file(
        source, ("*pascal50s*.json", "captioning_human_judgments.json"), f"Pascal-50S's pairs ({PAIRS}, or JSON)"
    )
    return _of_lists(path)


def _matlab_file(source: Path) -> Path | None:
    if source.is_file():
        return source if source.suffix == ".mat" else None
    try:
        return find_file(source, (f"data/{PAIRS}", PAIRS), "Pascal-50S's pairs")
    except ImportRefused:
        return None


# The authors' own files.


@dataclass(frozen=True, kw_only=True)
class _Pair:
    """Two captions of an image, who wrote them, what kind of pair it is, and the votes for each."""

    number: int
    image: str
    captions: tuple[str, str]
    systems: tuple[int, int]
    category: int
    votes: tuple[int, int]


def _of_matlab(path: Path) -> Imported:
    problems = Problems(limit=5)
    pairs = list(_pairs(path, problems))
    refuse_errors(problems)
    captions = _references(path.with_name(REFERENCES), problems)
    refuse_errors(problems)
    equal = [pair for pair in pairs if pair.captions[0] == pair.captions[1]]
    kept = [pair for pair in pairs if pair.captions[0] != pair.captions[1]]
    instances, texts, judgments = list[Instance](), dict[str, dict[str, str]](), list[Judgment]()
    times: Counter[tuple[str, int]] = Counter()
    for pair in kept:
        times[pair.image, pair.category] += 1
        instance = _instance(pair, times[pair.image, pair.category], captions.get(pair.image, ()))
        check_name("instance", instance.id, str(path), None, problems)
        instances.append(instance)
        names = _writers(pair)
        for name, text in zip(names, pair.captions, strict=True):
            texts.setdefault(name, {})[instance.id] = text
        judgments.append(_preference(instance.id, names, pair.votes))
    refuse_errors(problems)
    board = assemble(
        "pascal-50s",
        instances,
        rows_of_generators(instances, texts, {name: _generator(name) for name in texts}),
        judgments,
        dimensions=(BETTER,),
        ranks=BETTER.name,
        output_language="en",
        card=_card(kept),
    )
    return Imported(board, (counts(path, board), *_notes(path, kept, equal, captions)))


def _notes(
    path: Path, kept: Sequence[_Pair], equal: Sequence[_Pair], captions: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    kinds = Counter(CATEGORIES[pair.category][0] for pair in kept)
    yield f"{path}: " + ", ".join(f"{kinds[code]} pairs {code} ({text})" for code, text in CATEGORIES.values())
    if equal:
        first = equal[0]
        yield (
            f"{path}: left out {len(equal)} pairs of a caption with itself, the first of them pair {first.number} "
            f"({first.image}, {shown(first.captions[0])})"
        )
    if tied := sum(pair.votes[0] == pair.votes[1] for pair in kept):
        yield f"{path}: {tied} pairs have as many votes for the one as for the other; they are ties"
    if missing := {pair.image for pair in kept} - captions.keys():
        yield f"{path.with_name(REFERENCES)}: has no references of {len(missing)} images, first {min(missing)}"


def _card(pairs: Sequence[_Pair]) -> DataCard:
    """How many votes a pair has, which differs from what the paper says."""
    sizes = sorted({sum(pair.votes) for pair in pairs})
    span = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
    kinds = "; ".join(f"{code}: {text}" for code, text in CATEGORIES.values())
    return DataCard(
        annotators=f"Workers of Amazon Mechanical Turk, {span} votes per pair in the release",
        comments=f"A pair is an instance; the majority of its votes is the preference, and the votes are kept beside "
        f"it. Domains: {kinds}. The images are not part of the files.",
    )


def _instance(pair: _Pair, times: int, captions: Sequence[str]) -> Instance:
    code = CATEGORIES[pair.category][0]
    name = f"{Path(pair.image).stem}-{code}"
    return Instance(
        name if times == 1 else f"{name}-{times}",
        references=references(captions),
        image=pair.image,
        document=pair.image,
        domain=code,
    )


def _writers(pair: _Pair) -> tuple[str, str]:
    """The rows of a pair's captions; two of one system's stand in two rows."""
    first, second = (SYSTEMS[number].name for number in pair.systems)
    return (first, second) if first != second else (first, f"{first}-2")


def _generator(name: str) -> Generator:
    by_name = {system.name: system for system in SYSTEMS.values()}
    if name in by_name:
        return by_name[name]
    own = by_name[name.removesuffix("-2")]
    return Generator(name, kind=own.kind, description=f"{own.description}; the second caption of a pair")


def _preference(instance: str, names: tuple[str, str], votes: tuple[int, int]) -> Judgment:
    """What most votes were for; as many for both is a tie."""
    prefers: str | list[str] = [] if votes[0] == votes[1] else names[votes[1] > votes[0]]
    return Judgment(
        instance=instance,
        outputs=names,
        values={},
        annotator=None,
        campaign="votes",
        details={"dimension": BETTER.name, "prefers": prefers, "votes": dict(zip(names, votes, strict=True))},
    )


def _pairs(path: Path, problems: Problems) -> Iterator[_Pair]:
    variables = read_matlab(path)
    missing = {"new_input", "new_data", "category", "result"} - variables.keys()
    if missing:
        raise ImportRefused(f"{path}: has no {min(missing)}; it holds {', '.join(variables) or 'nothing'}")
    inputs, results = _records(path, "new_input", variables), _records(path, "result", variables)
    systems, categories = _whole(path, "new_data", variables), _whole(path, "category", variables)
    if systems.shape != (len(inputs), 2) or categories.size != len(inputs) or len(results) != len(inputs):
        raise ImportRefused(
            f"{path}: {len(inputs)} pairs, but new_data is {systems.shape}, category {categories.shape} and result "
            f"{len(results)}; the file may be cut off"
        )
    if not inputs:
        raise ImportRefused(f"{path}: holds no pairs; fetch the file again")
    for k, (item, result) in enumerate(zip(inputs, results, strict=True)):
        where, before = str(path), len(problems)
        image, first, second = (_text(item, key, where, k, problems) for key in ("name", "sent1", "sent2"))
        numbers, category = tuple(map(int, systems[k])), int(categories.flat[k])
        if any(number not in SYSTEMS for number in numbers) or category not in CATEGORIES:
            problems.error(where, None, f"pair {k + 1}: systems {numbers} and category {category} are not of the set")
        votes = _votes(result.get("result"), where, k, problems)
        if len(problems) == before:
            yield _Pair(
                number=k + 1,
                image=image,
                captions=(first, second),
                systems=(numbers[0], numbers[1]),
                category=category,
                votes=votes,
            )


def _votes(result: Value | None, where: str, k: int, problems: Problems) -> tuple[int, int]:
    """How many voted for the first caption and for the second; 0 is a vote for neither."""
    votes = result if isinstance(result, np.ndarray) and result.dtype.kind in "iuf" else np.empty(0)
    if not votes.size or not np.isin(votes, (-1, 0, 1)).all():
        problems.error(where, None, f"pair {k + 1}: its votes must be 1 or -1; found {shown(result)}")
        return 0, 0
    return int((votes == 1).sum()), int((votes == -1).sum())


def _references(path: Path, problems: Problems) -> dict[str, list[str]]:
    """The references by image."""
    variables = read_matlab(path)
    if "refs" not in variables:
        raise ImportRefused(f"{path}: has no refs; it holds {', '.join(variables) or 'nothing'}")
    captions: dict[str, list[str]] = {}
    for k, item in enumerate(_records(path, "refs", variables)):
        image, sentences = _text(item, "image", str(path), k, problems), item.get("sent")
        if image in captions:
            problems.error(str(path), None, f"refs {k + 1}: image {shown(image)} appears twice")
        if not isinstance(sentences, list) or not all(isinstance(text, str) for text in sentences):
            problems.error(str(path), None, f"refs {k + 1}: sent must be cells of text; found {shown(sentences)}")
            continue
        captions[image] = [str(text).strip() for text in sentences]
    return captions


def _records(path: Path, name: str, variables: Mapping[str, Value]) -> list[Mapping[str, Value]]:
    value = variables[name]
    if not isinstance(value, list) or not all(isinstance(item, Mapping) for item in value):
        raise ImportRefused(f"{path}: {name} must be a struct array; found {shown(value)}")
    return [item for item in value if isinstance(item, Mapping)]


def _whole(path: Path, name: str, variables: Mapping[str, Value]) -> Any:
    value = variables[name]
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "iuf" or not _is_whole(value):
        raise ImportRefused(f"{path}: {name} must be whole numbers; found {shown(value)}")
    return value


def _is_whole(values: Any) -> bool:
    return bool((np.isfinite(values) & (values == np.floor(values))).all())


def _text(item: Mapping[str, Value], key: str, where: str, k: int, problems: Problems) -> str:
    value = item.get(key)
    if not isinstance(value, str) or not value.strip():
        problems.error(where, None, f"entry {k + 1}: {key} must be text; found {shown(value)}")
        return ""
    return value.strip()


# BEAMetrics' lists.


def _of_lists(path: Path) -> Imported:
    captions, candidates, scores = _lists(path)
    place: dict[tuple[str, ...], Instance] = {}
    outputs, judgments = LooseOutputs(), list[Judgment]()
    named: dict[tuple[str, str], tuple[str, str]] = {}
    depth: Counter[str] = Counter()
    equal = repeated = 0
    for k in range(0, len(scores), 2):
        if captions[k] != captions[k + 1]:
            raise ImportRefused(f"{path}: entries {k} and {k + 1} should be a pair, but have other references")
        instance = place.setdefault(
            tuple(captions[k]), Instance(str(len(place) + 1), references=references(captions[k]))
        )
        pair = []
        for text in candidates[k : k + 2]:
            repeated += (instance.id, text) in named
            if (instance.id, text) not in named:
                depth[instance.id] += 1
                key = f"{instance.id}.{depth[instance.id]}"
                named[instance.id, text] = (outputs.add(instance.id, text, key), key)
            pair.append(named[instance.id, text])
        if pair[0] == pair[1]:
            equal += 1
            repeated -= 1
            continue
        prefers: str | list[str] = [] if scores[k] == scores[k + 1] else pair[scores[k + 1] > scores[k]][1]
        rows = tuple(row for row, _ in pair)
        judgments.append(
            Judgment(
                instance=instance.id,
                outputs=rows,
                values={},
                annotator=None,
                campaign="votes",
                details={"dimension": BETTER.name, "prefers": prefers},
            )
        )
    instances = tuple(place.values())
    board = assemble(
        "pascal-50s",
        instances,
        outputs.rows(instances),
        judgments,
        dimensions=(BETTER,),
        ranks=BETTER.name,
        output_language="en",
    )
    notes = [f"{path}: left out {equal} pairs of a caption with itself"] if equal else []
    if repeated:
        notes.append(f"{path}: {repeated} captions were in an earlier pair of their image; a caption is one output")
    return Imported(board, (counts(path, board), *notes))


def _lists(path: Path) -> tuple[Sequence[Sequence[str]], Sequence[str], Sequence[float]]:
    value: Any = read_json(path)
    value = value.get("pascal50s", value) if isinstance(value, Mapping) else value
    if not isinstance(value, Mapping) or any(not isinstance(value.get(name), list) for name in LISTS):
        raise ImportRefused(f"{path}: must hold the lists {', '.join(LISTS)}; found {shown(value)}")
    captions, candidates, scores = (value[name] for name in LISTS)
    if len({len(captions), len(candidates), len(scores)}) > 1 or len(scores) % 2 or not scores:
        raise ImportRefused(f"{path}: its lists must have one length, an even one; the file may be cut off")
    for k, (texts, candidate, score) in enumerate(zip(captions, candidates, scores, strict=True)):
        right = isinstance(texts, list) and all(isinstance(text, str) for text in texts)
        if not right or not isinstance(candidate, str) or not is_number(score):
            raise ImportRefused(
                f"{path}: entry {k} needs references, a candidate and a number; found {shown(candidate)}"
            )
    return captions, candidates, scores
