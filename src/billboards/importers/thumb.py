"""THumB's two releases (jungokasai/THumB): SummEval's ratings of summaries, and THumB 1.0 for image captions.

Summaries have every annotator's ratings (Fabbri et al., 2021), three experts and mostly five crowd workers, on four
dimensions from 1 to 5. Captions have one rating each (Kasai et al., 2022): precision and recall from 1 to 5, penalties
for fluency, inclusive language and conciseness, and the published total of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from billboards.board import Aggregate, Dimension
from billboards.board.folder import open_board
from billboards.board.judgment_sources import Imported, JudgmentSource, SourceJudgment, lay_judgments
from billboards.importers._assembling import check_name, find_file
from billboards.importers._importer import importer
from billboards.reading import Problems, is_number, json_lines, read_source, refuse_errors, shown

FIVE = (1.0, 5.0)
TWENTY = (20.0, 0.0)

SUMMARIES = (
    Dimension(
        "coherence",
        range=FIVE,
        higher_is_better=True,
        to_100=TWENTY,
        definition="How well all sentences of the summary hang together as one text.",
    ),
    Dimension(
        "consistency",
        range=FIVE,
        higher_is_better=True,
        to_100=TWENTY,
        definition="Whether the article supports every fact; inventions are penalised.",
    ),
    Dimension(
        "fluency",
        range=FIVE,
        higher_is_better=True,
        to_100=TWENTY,
        definition="The quality of the single sentences: grammar, form, ease of reading.",
    ),
    Dimension(
        "relevance",
        range=FIVE,
        higher_is_better=True,
        to_100=TWENTY,
        definition="Whether the summary selects what is important, and only that.",
    ),
)
CAPTIONS = (
    Dimension(
        "P",
        range=FIVE,
        higher_is_better=True,
        to_100=TWENTY,
        definition="Precision: how much of what the caption says is true of the image.",
    ),
    Dimension(
        "R",
        range=FIVE,
        higher_is_better=True,
        to_100=TWENTY,
        definition="Recall: how much of what matters in the image the caption tells.",
    ),
    Dimension("Fl", definition="Penalty, 0 or below, for language that is not fluent."),
    Dimension("Inc", definition="Penalty, 0 or below, for language that is not inclusive."),
    Dimension("Con", definition="Penalty, 0 or below, for words that are not needed."),
    Dimension("human_score", to_100=TWENTY, definition="The published total: (P + R) / 2 + Fl + Inc + Con."),
)
_QUALITIES = tuple(dimension.name for dimension in SUMMARIES)
EXPERT = Aggregate("expert", _QUALITIES, ("expert",))
CROWD = Aggregate("crowd", _QUALITIES, ("crowd",))
THUMB = Aggregate("thumb", ("human_score",), ("thumb",))

ABOUT_SUMMARIES = (
    "Campaigns expert and crowd: ratings of four qualities from 1 to 5. The annotators expert1 to expert3 and turker1 "
    "to turker5 are places in the released lists, not persons: nobody is known to be the same from output to output."
)
ABOUT_CAPTIONS = "Campaign thumb: THumB 1.0 ratings with a rubric, one per caption; human_score is the published total."


@importer()
def thumb(source: Path, *, into: Annotated[Path, "the board folder whose outputs were judged"]) -> Imported:
    """THumB ratings of summaries or captions, added to a board."""
    board = open_board(into)
    path = find_file(source, (f"{board.name}_THumB-*.jsonl", "*_THumB-*.jsonl"), "THumB ratings")
    return lay_judgments(board, read_thumb(path), may_lack_systems=True)


def find_thumb(source: Path, board: str) -> Path:
    """The ratings of a public board, in a clone of the repository, in its folder there, or the file itself."""
    return find_file(source, (f"{board}_THumB-*.jsonl",), f"THumB ratings for {board}")


def read_thumb(path: Path, set_ids: Mapping[str, int] | None = None) -> JudgmentSource:
    """The ratings in a file; `set_ids`, where known, must agree with the file's."""
    problems = Problems()
    judgments: list[SourceJudgment] = []
    captions = 0
    odd: list[int] = []
    for line, item in json_lines(read_source(path), str(path), problems, nan=True):
        if not _check_row(item, set_ids, str(path), line, problems):
            continue
        if "expert_annotations" in item:
            judgments += _summary_ratings(item, str(path), line, problems)
        else:
            captions += 1
            judgments += _caption_rating(item, str(path), line, odd, problems)
    if captions and any(judgment.campaign != "thumb" for judgment in judgments):
        problems.error(str(path), None, "mixes ratings of summaries and of captions")
    if not judgments:
        problems.error(str(path), None, "holds no ratings; fetch the file again")
    refuse_errors(problems)
    if captions:
        return JudgmentSource(
            path=str(path),
            dimensions=CAPTIONS,
            aggregates=(THUMB,),
            judgments=tuple(judgments),
            about=ABOUT_CAPTIONS,
            notes=_odd(path, odd),
        )
    note = "annotators expert1-3 and turker1-5 are places in THumB's lists, not persons"
    return JudgmentSource(
        path=str(path),
        dimensions=SUMMARIES,
        aggregates=(EXPERT, CROWD),
        judgments=tuple(judgments),
        about=ABOUT_SUMMARIES,
        notes=(note,),
        anonymous=("expert", "crowd"),
    )


def _check_row(
    item: Mapping[str, Any], set_ids: Mapping[str, int] | None, path: str, line: int, problems: Problems
) -> bool:
    for key in ("SYS", "seg_id", "hyp"):
        if not isinstance(item.get(key), str):
            problems.error(path, line, f'"{key}" must be text; found {shown(item.get(key))}')
            return False
    check_name("generator", item["SYS"], path, line, problems)
    expected = (set_ids or {}).get(item["seg_id"])
    if expected is not None and item.get("set_id") != expected:
        problems.error(path, line, f"set_id {item.get('set_id')!r} of {item['seg_id']!r} is {expected} in the sources")
    return True


def _summary_ratings(item: Mapping[str, Any], path: str, line: int, problems: Problems) -> Iterator[SourceJudgment]:
    for campaign, prefix in (("expert", "expert"), ("crowd", "turker")):
        ratings = item.get(f"{prefix}_annotations")
        if campaign == "crowd" and isinstance(ratings, float) and math.isnan(ratings):
            continue
        if not isinstance(ratings, list) or not ratings or not all(isinstance(rating, dict) for rating in ratings):
            problems.error(path, line, f'"{prefix}_annotations" must be a list of ratings; found {shown(ratings)}')
            continue
        for k, rating in enumerate(ratings, 1):
            values = summary_rating(rating, f"{prefix}{k}", path, line, problems)
            yield SourceJudgment(
                line=line,
                system=item["SYS"],
                segment=item["seg_id"],
                values=values,
                campaign=campaign,
                annotator=f"{prefix}{k}",
                text=item["hyp"],
            )


def summary_rating(rating: object, who: str, path: str, line: int, problems: Problems) -> dict[str, float]:
    """One rating of a summary on the four dimensions."""
    if not isinstance(rating, dict):
        problems.error(path, line, f"{who} must rate {', '.join(_QUALITIES)}; found {shown(rating)}")
        return {}
    if set(rating) != set(_QUALITIES):
        problems.error(path, line, f"{who} must rate {', '.join(_QUALITIES)}; found {', '.join(rating)}")
    return {d.name: _rating(rating, d, path, line, problems) for d in SUMMARIES if d.name in rating}


def _caption_rating(
    item: Mapping[str, Any], path: str, line: int, odd: list[int], problems: Problems
) -> Iterator[SourceJudgment]:
    values = {d.name: _rating(item, d, path, line, problems) for d in CAPTIONS}
    total = (values["P"] + values["R"]) / 2 + values["Fl"] + values["Inc"] + values["Con"]
    if not math.isclose(total, values["human_score"], abs_tol=1e-6):
        odd.append(line)
    yield SourceJudgment(
        line=line,
        system=item["SYS"],
        segment=item["seg_id"],
        values=values,
        campaign="thumb",
        annotator=None,
        text=item["hyp"],
    )


def _rating(item: Mapping[str, Any], dimension: Dimension, path: str, line: int, problems: Problems) -> float:
    value: Any = item.get(dimension.name)
    if not is_number(value):
        problems.error(path, line, f'"{dimension.name}" must be a number; found {shown(value)}')
        return math.nan
    if dimension.range is not None and not dimension.range[0] <= value <= dimension.range[1]:
        problems.error(path, line, f"{dimension.name} = {value} lies outside {list(dimension.range)}")
    return float(value)


def _odd(path: Path, lines: list[int]) -> tuple[str, ...]:
    if not lines:
        return ()
    return (f"{path}: human_score is not (P + R) / 2 + Fl + Inc + Con on {len(lines)} lines, first line {lines[0]}",)
