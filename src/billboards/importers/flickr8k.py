"""Flickr8k (Hodosh et al., 2013): captions paired with images, judged by experts from 1 to 4 and by a crowd, yes or no.

`ExpertAnnotations.txt` has image, caption id and three ratings; `CrowdFlowerAnnotations.txt` image, caption id, the
share of yes and the numbers of yes and no; `Flickr8k.token.txt` five captions per image. A caption was written for one
image and may be judged beside another, so outputs belong to no generator. One that was judged beside its own image is
among that image's references and left out: a metric would compare it with itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

from billboards.board import DataCard, Dimension, Instance, Judgment, Reference
from billboards.board.judgment_sources import Imported
from billboards.importers._assembling import (
    LooseOutputs,
    assemble,
    check_name,
    counts,
    find_file,
    read_fields,
    refuse_twice,
    value_within,
)
from billboards.importers._importer import importer
from billboards.reading import Problems, refuse_errors, shown, whole_number

EXPERT = Dimension(
    "expert",
    range=(1.0, 4.0),
    definition="Does the caption describe the image? 4: without any errors; 3: with minor errors; 2: it is somewhat "
    "related; 1: it is unrelated.",
)
CROWD = Dimension(
    "crowd", range=(0.0, 1.0), definition="Is the caption a good description of the image? Yes is 1, no is 0."
)
#: A count of votes beyond this is a slip of the file.
MOST_VOTES = 10_000
FILES = {"expert": "ExpertAnnotations.txt", "crowd": "CrowdFlowerAnnotations.txt"}
CARD = DataCard(
    title="Flickr8k, captions judged beside images",
    task="Describe a photograph in one sentence",
    source="Flickr8k_text, released with Hodosh et al. (2013); images: Flickr",
    licence="None stated; the corpus asks to be cited",
    citation="Hodosh, Young and Hockenmaier (2013): Framing Image Description as a Ranking Task: Data, Models and "
    "Evaluation Metrics, JAIR 47",
    protocol="People saw an image and a caption, most of them written for another image and retrieved by a system; "
    "experts rated from 1 to 4, the crowd said yes or no",
    annotators="Three experts per pair (native speakers; places in the file, not persons), and at least three workers "
    "of CrowdFlower per pair",
    comments="References are the five captions of an image. Captions judged beside their own image are left out.",
)

Pair = tuple[str, str]


@importer(card=CARD)
def flickr8k(
    source: Path,
    *,
    judgments: Annotated[
        Literal["expert", "crowd", "all"], "whose judgments: expert (default), crowd, or all for both"
    ] = "expert",
) -> Imported:
    """Flickr8k: captions judged beside images, by experts and by a crowd."""
    problems, notes = Problems(), list[str]()
    token = find_file(source, ("Flickr8k.token.txt",), "Flickr8k's captions")
    captions = _captions(token, problems, notes)
    by_pair: dict[Pair, list[Judgment]] = {}
    for campaign in FILES if judgments == "all" else (judgments,):
        path = find_file(source, (FILES[campaign],), f"{campaign} judgments")
        own = 0
        for pair, values in _pairs(path, campaign, captions, problems, notes):
            own += pair[1].rpartition("#")[0] == pair[0]
            by_pair.setdefault(pair, []).extend(values)
        notes.append(f"{path}: left out {own} captions beside their own image, whose references they are")
    refuse_errors(problems)
    judged = {pair: values for pair, values in by_pair.items() if pair[1].rpartition("#")[0] != pair[0]}
    dimensions = tuple(d for d in (EXPERT, CROWD) if judgments in (d.name, "all"))
    instances = _instances({image for image, _ in judged}, captions)
    outputs, all_judgments = LooseOutputs(), list[Judgment]()
    for image, caption in sorted(judged):
        row = outputs.add(image, captions[caption], f"{image}|{caption}")
        all_judgments += [replace(judgment, outputs=(row,)) for judgment in judged[image, caption]]
    name = "flickr8k" if judgments == "all" else f"flickr8k-{judgments}"
    board = assemble(
        name,
        instances,
        outputs.rows(instances),
        all_judgments,
        dimensions=dimensions,
        ranks=dimensions[0].name,
        output_language="en",
        anonymous=("expert",) if any(judgment.campaign == "expert" for judgment in all_judgments) else (),
    )
    return Imported(board, (counts(source, board), f"{token}: {len(captions)} captions", *notes))


def _captions(path: Path, problems: Problems, notes: list[str]) -> dict[str, str]:
    captions: dict[str, str] = {}
    seen: dict[str, int] = {}
    for line, (key, text) in read_fields(path, 2, problems, notes):
        check_name("output", key, str(path), line, problems)
        refuse_twice(seen, key, f"caption {shown(key)}", str(path), line, problems)
        if "#" not in key or not text.strip():
            problems.error(str(path), line, f"needs IMAGE#k and a caption; found {shown(key)} and {shown(text)}")
        captions[key] = text.strip()
    return captions


def _pairs(
    path: Path, campaign: str, captions: dict[str, str], problems: Problems, notes: list[str]
) -> Iterator[tuple[Pair, list[Judgment]]]:
    """Every image with a caption and what people said of the two."""
    seen: dict[Pair, int] = {}
    for line, (image, caption, *cells) in read_fields(path, 5, problems, notes):
        refuse_twice(seen, (image, caption), f"{caption} beside {image}", str(path), line, problems)
        if caption not in captions or f"{image}#0" not in captions:
            missing = caption if caption not in captions else f"{image}#0"
            problems.error(str(path), line, f"caption {shown(missing)} is not in Flickr8k.token.txt")
        read = _ratings if campaign == "expert" else _votes
        yield (image, caption), read(image, cells, str(path), line, problems)
    if not seen and not problems.errors:
        problems.error(str(path), None, "holds no judgments; fetch the file again")


def _ratings(image: str, cells: list[str], path: str, line: int, problems: Problems) -> list[Judgment]:
    values = [value_within(cell, EXPERT, path, line, problems) for cell in cells]
    return [
        Judgment(instance=image, outputs=(), values={"expert": value}, annotator=f"expert{k}", campaign="expert")
        for k, value in enumerate(values, 1)
    ]


def _votes(image: str, cells: list[str], path: str, line: int, problems: Problems) -> list[Judgment]:
    """A judgment per vote; the share of yes must agree with the votes."""
    share = value_within(cells[0], CROWD, path, line, problems)
    yes, no = whole_number(cells[1]), whole_number(cells[2])
    if yes is None or no is None or not 1 <= yes + no <= MOST_VOTES:
        problems.error(path, line, f"{shown(cells[1])} and {shown(cells[2])} must be the numbers of yes and of no")
        return []
    if abs(share - yes / (yes + no)) > 1e-6:
        problems.error(path, line, f"the share of yes is {cells[0]}, but {yes} of {yes + no} said so")
    return [
        Judgment(instance=image, outputs=(), values={"crowd": vote}, annotator=None, campaign="crowd")
        for vote in [1.0] * yes + [0.0] * no
    ]


def _instances(images: set[str], captions: dict[str, str]) -> tuple[Instance, ...]:
    """The judged images with their captions as references, by name."""
    own: dict[str, list[Reference]] = {image: [] for image in sorted(images)}
    for key, text in captions.items():
        image, _, number = key.rpartition("#")
        if image in own:
            own[image].append(Reference(f"caption{number}", text))
    return tuple(
        Instance(image, references=tuple(sorted(of_image, key=lambda reference: reference.name)), image=image)
        for image, of_image in own.items()
    )
