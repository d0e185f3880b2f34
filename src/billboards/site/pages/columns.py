"""Columns of the board page beside the metrics': what people said of a generator, and whatever else a package brings.

A column is a function from a generator's standing to a number, or None where it has none:

    @board_column("judged", "How many outputs of the generator people judged.")
    def judged(standing: GeneratorStanding) -> float | None:
        return standing.judged or None

Packages add theirs by the entry point `billboards.columns`. A column that has no number for anybody isn't shown; all of
them are sorted, pinned and hidden as metrics are. What generators cost stands with the board and not in its ranking, so
those columns are made for each board.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points

from billboards.analyses._people import PEOPLE, PeopleColumn, PeopleStanding
from billboards.analyses.rank import GeneratorStanding, Ranking
from billboards.board import Board
from billboards.board.costs import COSTS, Cost, amount_text
from billboards.errors import InvalidInput
from billboards.show.words import interval_text

GROUP = "billboards.columns"

Value = Callable[[GeneratorStanding], float | None]
#: What a column means: a sentence, or sentences that depend on the ranking.
Explanation = str | Callable[[Ranking], tuple[str, ...]]


@dataclass(frozen=True, kw_only=True)
class BoardColumn:
    """A column of the board page: its name, what it means, and its number for each generator."""

    name: str
    explanation: Explanation
    value: Value
    #: Whether more is better, so that the best are shaded.
    shaded: bool = False
    #: Whether less is better, so that the lowest stand first.
    lower: bool = False
    #: How a number is written; None is as scores are.
    text: Callable[[float], str] | None = None
    #: Whether it stays on a board that is too wide to show all columns.
    stays: bool = False
    #: Whether a generator's rank in it stands beside the number.
    ranked: bool = False

    def explained(self, ranking: Ranking) -> tuple[str, ...]:
        """What a reader learns of the column who asks for more."""
        return (self.explanation,) if isinstance(self.explanation, str) else self.explanation(ranking)


def board_column(
    name: str, explanation: Explanation, *, shaded: bool = False, stays: bool = False, ranked: bool = False
) -> Callable[[Value], BoardColumn]:
    """Declare a function to be a column of the board page."""

    def declare(value: Value) -> BoardColumn:
        return BoardColumn(name=name, explanation=explanation, value=value, shaded=shaded, stays=stays, ranked=ranked)

    return declare


def _people_explained(ranking: Ranking) -> tuple[str, ...]:
    judged = sum(standing.judged for standing in ranking.generators)
    return f"Mean human score ({ranking.aggregate}): 0 to 100 where its scale is known.", f"{judged:,} judged outputs."


@board_column(PEOPLE, _people_explained, shaded=True, stays=True, ranked=True)
def people(standing: GeneratorStanding) -> float | None:
    return standing.human


def people_keys(ranking: Ranking) -> dict[str, str]:
    """The columns of single human dimensions, by key, with what stands above each."""
    people = ranking.people
    return {} if people is None else {f"{PEOPLE}:{column.name}": column.name for column in people.dimensions}


def people_column(ranking: Ranking, key: str) -> PeopleColumn | None:
    """What people said in a column: on what ranks the board, or on one dimension."""
    if ranking.people is None:
        return None
    columns = (ranking.people.overall, *ranking.people.dimensions)
    keys = (PEOPLE, *people_keys(ranking))
    return dict(zip(keys, columns, strict=True)).get(key)


@dataclass(frozen=True, kw_only=True, slots=True)
class CellDetail:
    """What a cell has beside its number: the rank that tests give it, and what a reader learns who points at it."""

    rank: int | None
    more: str


def column_details(ranking: Ranking, key: str) -> Mapping[str, CellDetail]:
    """What a column has beside its numbers, by generator: how sure people's means are; nothing in other columns."""
    judged = people_column(ranking, key)
    return {} if judged is None else {name: _judged_detail(standing) for name, standing in judged.standings.items()}


def _judged_detail(judged: PeopleStanding) -> CellDetail:
    interval = () if judged.interval is None else (f"95% interval {interval_text(judged.interval, 2)}",)
    by = () if judged.annotators is None else (f"{judged.annotators:,} annotators",)
    counts = f"{judged.judgments:,} judgments of {judged.instances:,} outputs"
    return CellDetail(rank=judged.rank, more="; ".join((*interval, counts, *by)))


#: Columns that are no metrics', by their names.
Own = Mapping[str, BoardColumn]


def own_columns(board: Board | None = None) -> Own:
    """Every declared column, and what the generators of a board cost, where anybody stated it."""
    return {**board_columns(), **({} if board is None else cost_columns(board))}


def cost_columns(board: Board) -> Own:
    """A column for each cost that somebody stated of a generator."""
    columns = {}
    for name, cost in COSTS.items():
        stated = {g.name: value for g in board.generators if (value := getattr(g, name)) is not None}
        if stated:
            columns[cost.head] = _cost_column(cost, stated)
    return columns


def _cost_column(cost: Cost, stated: Mapping[str, float]) -> BoardColumn:
    words = f"{cost.title.capitalize()}: {cost.unit}, as its authors state it. Less is better; a dash is unknown."

    def value(standing: GeneratorStanding) -> float | None:
        return stated.get(standing.name)

    return BoardColumn(name=cost.head, explanation=words, value=value, lower=True, text=amount_text)


def column_reader(ranking: Ranking, key: str, own: Own) -> Value:
    """What reads a generator's number in a column: a metric's, a human dimension's, or one that is declared here.

    Where less is better the number is turned, so that the best is the highest.
    """
    column = own.get(key)
    if column is not None:
        return _turned(column.value) if column.lower else column.value
    judged = people_column(ranking, key)
    if judged is not None:
        return lambda standing: judged.mean(standing.name)
    if has_corpus_values(ranking, key):
        return lambda standing: standing.corpus.get(key)
    return lambda standing: standing.scores.get(key)


def _turned(read: Value) -> Value:
    def value(standing: GeneratorStanding) -> float | None:
        number = read(standing)
        return None if number is None else 0.0 - number

    return value


def has_corpus_values(ranking: Ranking, key: str) -> bool:
    """Whether a metric's column shows corpus values: where everybody who has a mean has one."""
    scored = (standing for standing in ranking.generators if standing.scores.get(key) is not None)
    first = next(scored, None)
    return first is not None and key in first.corpus and all(key in standing.corpus for standing in scored)


@cache
def board_columns() -> Mapping[str, BoardColumn]:
    """Every column by its name: this package's own, and those that are installed."""
    columns = {people.name: people}
    for point in entry_points(group=GROUP):
        column = point.load()
        if not isinstance(column, BoardColumn):
            raise InvalidInput(f"entry point {point.name} = {point.value} is no column; declare it with @board_column")
        columns.setdefault(column.name, column)
    return columns
