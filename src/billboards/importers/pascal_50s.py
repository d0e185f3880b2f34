"""Pascal-50S (Vedantam et al., 2015): two captions of an image that has 50 references; people say which fits better.

The pairs come as JSON with three lists of one length, `reference` (lists of captions), `candidate` and `score`, by
themselves or under the key `pascal50s`; two entries that follow one another are a pair, and the higher score is the
better one. That is how BEAMetrics keeps them; a pickle of theirs is not read, because opening one can run any program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from billboards.board import DataCard, Dimension, Instance, Judgment
from billboards.board.judgment_sources import Imported
from billboards.errors import ImportRefused
from billboards.importers._assembling import LooseOutputs, assemble, counts, find_file, read_json, references
from billboards.importers._importer import importer
from billboards.reading import is_number, shown

LISTS = ("reference", "candidate", "score")
BETTER = Dimension(
    "better",
    kind="preference",
    definition="Which of two captions is closer to the image, as 50 other people described it?",
)
CARD = DataCard(
    title="Pascal-50S",
    task="Describe a photograph in one sentence",
    source="http://vrama91.github.io/cider/; images: UIUC PASCAL sentences",
    licence="None stated; the authors ask for citation",
    citation="Vedantam, Zitnick and Parikh (2015): CIDEr: Consensus-based Image Description Evaluation",
    protocol="Workers saw a reference and two captions and chose the one more like it; votes over references decide",
    annotators="Workers of Amazon Mechanical Turk, 48 votes per pair",
    comments="An image is known by its references here; the images are not part of the file.",
)


@importer(card=CARD)
def pascal_50s(source: Path) -> Imported:
    """Pascal-50S: pairs of captions, of which people chose one."""
    path = find_file(source, ("*pascal50s*.json", "captioning_human_judgments.json"), "Pascal-50S's pairs")
    captions, candidates, scores = _lists(path)
    place: dict[tuple[str, ...], Instance] = {}
    outputs, judgments = LooseOutputs(), list[Judgment]()
    named: dict[tuple[str, str], tuple[str, str]] = {}
    for k in range(0, len(scores), 2):
        if captions[k] != captions[k + 1]:
            raise ImportRefused(f"{path}: entries {k} and {k + 1} should be a pair, but have other references")
        instance = place.setdefault(
            tuple(captions[k]), Instance(str(len(place) + 1), references=references(captions[k]))
        )
        pair = []
        for text in candidates[k : k + 2]:
            if (instance.id, text) not in named:
                key = f"{instance.id}.{sum(owner == instance.id for owner, _ in named) + 1}"
                named[instance.id, text] = (outputs.add(instance.id, text, key), key)
            pair.append(named[instance.id, text])
        if pair[0] == pair[1]:
            raise ImportRefused(f"{path}: entries {k} and {k + 1} compare a caption with itself")
        prefers: str | list[str] = [] if scores[k] == scores[k + 1] else pair[scores[k + 1] > scores[k]][1]
        rows = tuple(row for row, _ in pair)
        judgments.append(
            Judgment(
                instance=instance.id,
                outputs=rows,
                values={},
                annotator=None,
                campaign="votes",
                details={"dimension": "better", "prefers": prefers},
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
    return Imported(board, (counts(path, board),))


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
