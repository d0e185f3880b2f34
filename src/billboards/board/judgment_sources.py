"""Laying judgments from a public source on a board: by the names of systems and segments, never by guesswork.

MQM, THumB and direct assessment come without texts of their own, so each is read into a `JudgmentSource` and laid on a
board that has the texts. What is judged twice, unknown, incomplete, or said of another text than the board's is named.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from billboards.board import Aggregate, Board, DataCard, Dimension, Judgment
from billboards.board.judgments import JudgmentColumns
from billboards.board.names import folder_order, is_human, plain_name
from billboards.errors import ImportRefused
from billboards.reading import Problems, refuse_errors, some

#: The scale of MQM averages, which come as files of several kinds.
MQM = Dimension(
    "mqm",
    range=(-25.0, 0.0),
    to_100=(4.0, 100.0),
    definition="Minus the weighted errors that a professional translator marked in context: a major error counts 5, "
    "a minor one 1 (punctuation 0.1), a text beyond repair 25; averaged over annotators.",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceJudgment:
    """One judgment as its source gives it; without values, the source says that nobody judged."""

    line: int
    system: str
    segment: str
    values: Mapping[str, float]
    campaign: str
    annotator: str | None = None
    text: str | None = field(default=None, repr=False)
    #: What the source says beyond values: spans, the kind of test question, the time, the template.
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgmentSource:
    """All judgments of a file, with the scales they are on; the first aggregate is the one meant to rank."""

    path: str
    dimensions: tuple[Dimension, ...]
    aggregates: tuple[Aggregate, ...]
    judgments: tuple[SourceJudgment, ...]
    about: str
    #: Whether the format promises every segment for every system that it names.
    complete: bool = True
    notes: tuple[str, ...] = ()
    #: Campaigns whose annotators are places in a list, not persons.
    anonymous: tuple[str, ...] = ()

    @classmethod
    def of_campaign(
        cls, path: Path, board: Board, campaign: str, judgments: Iterable[SourceJudgment], about: str
    ) -> JudgmentSource:
        """What people said in one campaign, on the board's scales where it has them; not every output need be judged.

        path: the file that was read
        campaign: the name the judgments go by on the board; their mean over all dimensions goes by it too
        about: a sentence for the board's data card
        """
        every = tuple(judgments)
        names = tuple(dict.fromkeys(name for judgment in every for name in judgment.values))
        return cls(
            path=str(path),
            dimensions=tuple(board.dimensions.get(name, Dimension(name)) for name in names),
            aggregates=(Aggregate(campaign, names, (campaign,)),),
            judgments=every,
            about=about,
            complete=False,
        )

    @property
    def campaigns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(judgment.campaign for judgment in self.judgments))

    @property
    def systems(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(judgment.system for judgment in self.judgments))

    def ranking_as(self, name: str) -> JudgmentSource:
        """The same source with its first aggregate under another name."""
        first, *others = self.aggregates
        return replace(self, aggregates=(replace(first, name=name), *others))


def lay_judgments(board: Board, source: JudgmentSource, *, may_lack_systems: bool) -> Imported:
    """The board with a source's judgments added; systems it lacks are noted, or refused unless people wrote them.

    board: the board
    source: whose judgments they are
    may_lack_systems: systems that the board lacks are noted instead of refused

    Example:

        lay_judgments(board, source, may_lack_systems=True)
    """
    problems = Problems()
    _check_new(board, source, problems)
    rows = _matched(board, source)
    unknown = [system for system in source.systems if system not in rows]
    for system in unknown:
        if not may_lack_systems and not is_human(system):
            problems.error(source.path, None, f"judges system {system!r}, which has no outputs on board {board.name}")
    if not rows:
        raise ImportRefused(f"{source.path}: judges {some(unknown)}, none of which is on board {board.name}")
    on_board = [judgment for judgment in source.judgments if judgment.system in rows]
    _check_segments(board, source, on_board, rows, problems)
    refuse_errors(problems)
    judged = [judgment for judgment in on_board if judgment.values or judgment.details]
    if not judged:
        raise ImportRefused(f"{source.path}: says of every output on board {board.name} that nobody judged it")
    kept, notes = _of_the_same_text(board, source, judged, rows)
    systems = {judgment.system for judgment in kept}
    notes += (f"{source.path}: {len(kept)} judgments of {len(systems)} systems in {' and '.join(source.campaigns)}",)
    if unknown:
        notes += (f"{source.path}: left out the judgments of {some(unknown)}: no texts on board {board.name}",)
    if len(judged) < len(on_board):
        notes += (f"{source.path}: {len(on_board) - len(judged)} lines say that nobody judged; they stay missing",)
    return Imported(_with(board, source, kept, rows), (*source.notes, *notes))


def _check_new(board: Board, source: JudgmentSource, problems: Problems) -> None:
    for campaign in source.campaigns:
        if campaign in board.judgments.campaigns:
            problems.error(source.path, None, f"board {board.name} has judgments of campaign {campaign!r} already")
    for dimension in source.dimensions:
        # Two sources may describe one scale in different words; the board's stand.
        own = board.dimensions.get(dimension.name, dimension)
        if replace(own, definition=dimension.definition) != dimension:
            problems.error(source.path, None, f"board {board.name} declares {dimension.name} on another scale")
    for aggregate in source.aggregates:
        if board.aggregates.get(aggregate.name, aggregate) != aggregate:
            problems.error(source.path, None, f"board {board.name} has another aggregate named {aggregate.name}")


def _matched(board: Board, source: JudgmentSource) -> dict[str, str]:
    """The row of each system that is on the board: the exact name first, else the name without WMT's number."""
    rows: dict[str, str] = {}
    for system in source.systems:
        for name in (system, plain_name(system)):
            if system not in rows and name in board.row_position:
                rows[system] = name
    return rows


def _check_segments(
    board: Board,
    source: JudgmentSource,
    judgments: Iterable[SourceJudgment],
    rows: Mapping[str, str],
    problems: Problems,
) -> None:
    lines: dict[tuple[str, str, str, str | None], int] = {}
    judged: dict[str, set[str]] = {}
    for judgment in judgments:
        key = (rows[judgment.system], judgment.segment, judgment.campaign, judgment.annotator)
        if judgment.segment not in board.position:
            problems.error(source.path, judgment.line, f"segment {judgment.segment!r} is not on board {board.name}")
        elif key in lines:
            first = lines[key]
            problems.error(
                source.path,
                judgment.line,
                f"{judgment.system} is judged twice on {judgment.segment!r}, first on line {first}",
            )
        lines[key] = judgment.line
        judged.setdefault(judgment.system, set()).add(judgment.segment)
    for system, segments in judged.items():
        missing = [i.id for i in board.instances if i.id not in segments]
        if source.complete and missing:
            problems.error(
                source.path,
                None,
                f"{system}: no judgment of {len(missing)} of {len(board.instances)} segments, first {missing[0]!r}; "
                "the file may be cut off",
            )


def _of_the_same_text(
    board: Board, source: JudgmentSource, judgments: list[SourceJudgment], rows: Mapping[str, str]
) -> tuple[list[SourceJudgment], tuple[str, ...]]:
    """The judgments of the very texts on the board, where the source repeats the text that was judged."""
    kept: list[SourceJudgment] = []
    others: list[SourceJudgment] = []
    for judgment in judgments:
        own = board.row(rows[judgment.system]).texts[board.position[judgment.segment]]
        same = judgment.text is None or (own is not None and judgment.text.split() == own.split())
        (kept if same else others).append(judgment)
    if not others:
        return kept, ()
    other = others[0]
    difference = f"another text of {other.system} on {other.segment!r} than board {board.name} has (line {other.line})"
    if not kept:
        raise ImportRefused(
            f"{source.path}: every judgment is of another text, as {difference}; is it the right board?"
        )
    return kept, (f"{source.path}: left out {len(others)} judgments, the first of {difference}",)


def _with(board: Board, source: JudgmentSource, kept: list[SourceJudgment], rows: Mapping[str, str]) -> Board:
    dimensions = {**board.dimensions, **{d.name: d for d in source.dimensions if d.name not in board.dimensions}}
    aggregates = {**board.aggregates, **{a.name: a for a in source.aggregates}}
    new = (
        Judgment(
            instance=judgment.segment,
            outputs=(rows[judgment.system],),
            values=judgment.values,
            annotator=judgment.annotator,
            campaign=judgment.campaign,
            details=judgment.details,
        )
        for judgment in sorted(kept, key=lambda judgment: _place(board, judgment, rows))
    )
    every = (*_existing(board), *new)
    extended = replace(
        board,
        dimensions=dimensions,
        aggregates=aggregates,
        ranks=board.ranks or source.aggregates[0].name,
        card=_with_comment(board.card, source.about),
        anonymous=tuple(dict.fromkeys((*board.anonymous, *source.anonymous))),
        home=None,
    )
    return judgment_columns(extended, every)


def _place(board: Board, judgment: SourceJudgment, rows: Mapping[str, str]) -> tuple[int, int, str]:
    """Where a judgment stands among those of its campaign, whatever the order of the file's lines."""
    return board.row_position[rows[judgment.system]], board.position[judgment.segment], judgment.annotator or ""


def _existing(board: Board) -> Iterator[Judgment]:
    return board.judgments.each(tuple(i.id for i in board.instances), tuple(row.name for row in board.rows))


def judgment_columns(board: Board, judgments: Iterable[Judgment]) -> Board:
    """The board with these judgments as columns, campaign by campaign as a board folder keeps them in files."""
    columns = JudgmentColumns(tuple(board.dimensions))
    for judgment in sorted(judgments, key=lambda judgment: folder_order(judgment.campaign or "judgments")):
        first, *others = (board.row_position[name] for name in judgment.outputs)
        details = {**judgment.details, "others": tuple(others)} if others else judgment.details
        columns.add(
            board.position[judgment.instance],
            first,
            {name: value + 0.0 for name, value in judgment.values.items()},  # a rating of -0.0 is 0
            annotator=judgment.annotator,
            campaign=judgment.campaign,
            details=details,
        )
    return replace(board, judgments=columns.build())


def _with_comment(card: DataCard, about: str) -> DataCard:
    return replace(card, comments=about if card.comments is None else f"{card.comments}\n{about}")


@dataclass(frozen=True)
class Imported:
    """A board from elsewhere, and what its reader should know."""

    board: Board
    notes: tuple[str, ...] = ()
