"""The rows of the board's table: all generators put in order, one page of them laid out.

Order, ranks, shades and clusters are of the whole board, whatever part of it a page shows; so every column is sorted
once and each shown score finds its place in it. A board of ten thousand generators costs a page of one hundred.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from billboards.analyses.rank import GeneratorStanding, MetricStanding, Ranking
from billboards.show.table import mean_digits
from billboards.show.words import interval_text, rank_texts, value_text
from billboards.site.pages.board_wish import NAME, RANK, Wish
from billboards.site.pages.columns import CellDetail, Own, column_details, column_reader, has_corpus_values, own_columns
from billboards.site.pages.long_lists import Stretch, stretch

#: Rows of one page. A board that has no more is one page, and is sorted and searched without the server.
MOST_ROWS = 100
#: How many shades tell a column's best from its worst.
SHADES = 5
#: Names that a tooltip has room for; the others of a cluster are counted.
MOST_NAMED = 8

Cluster = Mapping[int | None, Sequence[str]]


@dataclass(frozen=True, slots=True)
class TableCell:
    """One score: what is shown, what is sorted by, how good it is among its column (0 worst), and its place there.

    `more` is what a reader learns who points at it.
    """

    text: str
    value: float | None
    shade: int | None
    rank: int | None
    more: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class TableRow:
    """One generator."""

    name: str
    human: bool
    rank: int | None
    rank_text: str
    more: tuple[str, ...]
    opens_cluster: bool
    cells: tuple[TableCell, ...]
    hidden: bool = False
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ColumnScale:
    """All values of a column from the lowest to the highest, to place single ones among them."""

    ascending: Sequence[float]
    digits: int
    shaded: bool
    #: Whether values were turned, so that the best is the highest; they are shown as they were.
    turned: bool = False
    #: How a value is written; None is with so many digits.
    text: Callable[[float], str] | None = None

    def cell(self, value: float | None) -> TableCell:
        """A score with its place; the best of a column is shaded most, unless more is not better there."""
        if value is None:
            return TableCell("–", None, None, None)
        above = len(self.ascending) - bisect_right(self.ascending, value)
        shade = max(SHADES - 1 - above * SHADES // len(self.ascending), 0)
        shown = 0.0 - value if self.turned else value
        text = value_text(shown, self.digits) if self.text is None else self.text(shown)
        return TableCell(text, value, shade if self.shaded else None, 1 + above)


def lay_rows(
    ranking: Ranking,
    columns: Sequence[tuple[str, bool]],
    wish: Wish,
    *,
    find: str = "",
    page: int = 1,
    own: Own | None = None,
) -> tuple[tuple[TableRow, ...], Stretch[int]]:
    """One page of rows in the order asked for; `columns` are keys, each with whether its best are shaded."""
    own = own_columns() if own is None else own
    wanted = find.strip().casefold()
    order = _order(ranking, wish, own)
    if len(order) > MOST_ROWS and wanted:
        order = [k for k in order if wanted in ranking.generators[k].name.casefold()]
    shown = stretch(order, page, MOST_ROWS)
    scales = [_scale(ranking, key, own, shaded=shaded) for key, shaded in columns]
    readers = [_oriented_reader(ranking, key, own) for key, _ in columns]
    details = [column_details(ranking, key) for key, _ in columns]
    of_corpus = {key for key, _ in columns if has_corpus_values(ranking, key)}
    ranks = rank_texts([standing.rank for standing in ranking.generators])
    alike = clusters(ranking.generators)
    by_rank = wish.sort == RANK and wish.way == "ascending"

    def row(k: int) -> TableRow:
        standing = ranking.generators[k]
        return TableRow(
            name=standing.name,
            human=standing.kind == "human",
            rank=standing.rank,
            rank_text=ranks[k],
            more=cluster_words(standing, alike),
            opens_cluster=by_rank and _opens_cluster(ranking, k),
            cells=tuple(
                _detailed(
                    _score_cell(key, standing, scale.cell(read(standing)), key in of_corpus), detail.get(standing.name)
                )
                for scale, read, detail, (key, _) in zip(scales, readers, details, columns, strict=True)
            ),
            hidden=wanted not in standing.name.casefold(),
            doubts=standing.doubts,
        )

    return tuple(row(k) for k in shown.entries), shown


def clusters(standings: Iterable[MetricStanding] | Iterable[GeneratorStanding]) -> Cluster:
    """Who stands in which cluster, in the order of ranks."""
    members: dict[int | None, list[str]] = defaultdict(list)
    for standing in standings:
        members[standing.cluster].append(standing.name)
    return members


def cluster_words(standing: MetricStanding | GeneratorStanding, alike: Cluster) -> tuple[str, ...]:
    """Whom this one can't be told apart from: the first few by name, the others counted."""
    if standing.rank is None:
        return (standing.reason or "not ranked",)
    if standing.cluster is None:
        return (f"Rank {standing.rank}",)
    members = alike[standing.cluster]
    if len(members) == 1:
        return (f"Rank {standing.rank}, told apart from all others (p ≤ .05)",)
    # One that would be counted alone is named as well: it takes no more room.
    most = MOST_NAMED + (len(members) - 1 == MOST_NAMED + 1)
    named = [name for name in members[: most + 1] if name != standing.name][:most]
    rest = len(members) - 1 - len(named)
    others = f" and {rest:,} others" if rest else ""
    return (f"Rank {standing.rank}, cluster {standing.cluster}", f"Not told apart from {', '.join(named)}{others}")


def column_values(ranking: Ranking, key: str, own: Own) -> list[float | None]:
    """What everybody has in a column, turned where lower is better: the best is the highest."""
    return list(map(_oriented_reader(ranking, key, own), ranking.generators))


def _oriented_reader(ranking: Ranking, key: str, own: Own) -> Callable[[GeneratorStanding], float | None]:
    """What reads a generator's value in a column, turned where lower is better."""
    read = column_reader(ranking, key, own)
    return lambda standing: ranking.oriented(key, read(standing))


def _score_cell(key: str, standing: GeneratorStanding, cell: TableCell, of_corpus: bool) -> TableCell:
    """A metric's value with its interval and, where it is one of a corpus, the mean of sentences."""
    words = []
    if key in standing.interval:
        low, high = standing.interval[key]
        words.append(f"95% interval {interval_text((low, high), mean_digits((low, high)))}")
    if of_corpus and (mean := standing.scores.get(key)) is not None:
        words.append(f"mean of sentences {value_text(mean, mean_digits([mean]))}")
    return replace(cell, more="; ".join(words)) if words else cell


def _detailed(cell: TableCell, detail: CellDetail | None) -> TableCell:
    """A cell with what its column has beside the number."""
    return cell if detail is None else replace(cell, rank=detail.rank, more=detail.more)


def _scale(ranking: Ranking, key: str, own: Own, *, shaded: bool) -> ColumnScale:
    numbers = sorted(value for value in column_values(ranking, key, own) if value is not None)
    declared = own.get(key)
    turned = key in ranking.lower or (declared is not None and declared.lower)
    text = None if declared is None else declared.text
    return ColumnScale(numbers, mean_digits(numbers), shaded, turned, text)


def _opens_cluster(ranking: Ranking, k: int) -> bool:
    standing, before = ranking.generators[k], ranking.generators[k - 1]
    return k > 0 and before.cluster != standing.cluster and standing.rank is not None


def _order(ranking: Ranking, wish: Wish, own: Own) -> list[int]:
    """Generators by the chosen column; those without a value last, in the board's own order, whichever way it goes."""
    keys = _keys(ranking, wish.sort, own)
    keyed = [(key, k) for k, key in enumerate(keys) if key is not None]
    keyed.sort(key=lambda pair: pair[0], reverse=wish.way == "descending")
    return [k for _, k in keyed] + [k for k, key in enumerate(keys) if key is None]


def _keys(ranking: Ranking, sort: str, own: Own) -> Sequence[float | str | None]:
    if sort == RANK:
        return [standing.rank for standing in ranking.generators]
    if sort == NAME:
        return [standing.name.casefold() for standing in ranking.generators]
    return column_values(ranking, sort, own)
