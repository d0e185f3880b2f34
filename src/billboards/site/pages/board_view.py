"""What stands around the bidimensional table: what it is ranked by, what it says, and how to cite it.

Everything on it comes from one ranking: the latest snapshot, a past one by its permalink, or one made for the part of
the board that the reader asked for. Sorting, ordering, pinning and hiding are part of the address.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from markupsafe import Markup
from starlette.datastructures import QueryParams

from billboards.analyses._people import PEOPLE
from billboards.analyses._rank_swaps import can_swap, swap_title
from billboards.analyses._report import findings, reference_words
from billboards.analyses.ensemble import ENSEMBLE, unseen_words
from billboards.analyses.overrating import OverratingReport, overrating_words
from billboards.analyses.rank import (
    MOST_SWAPS,
    NOT_ALONE,
    WITHIN_MEANING,
    Ranking,
    best_metric,
    best_metric_words,
    citation,
    common_table,
    flag_notes,
    lines_table,
    metric_mark,
    newcomer_words,
    popular_metric,
    share_notes,
)
from billboards.board import Board, Slice
from billboards.show.table import DOUBTED, NOTES
from billboards.show.words import interval_text, listed, one_line, value_text
from billboards.site.pages.board_table import BoardTable, board_table
from billboards.site.pages.board_wish import ORDERS, Wish, read_wish
from billboards.site.pages.columns import Own, own_columns, people_keys
from billboards.site.pages.explanations import EXPLANATIONS
from billboards.site.pages.long_lists import pager, read_page
from billboards.site.web import addresses

#: A select with more choices than this is no help; a board of a thousand documents is filtered by domain or tag.
MOST_CHOICES = 60
#: Values that the description of a chart reads out.
MOST_SPOKEN = 12
#: Generators without a rank that are named under the table.
MOST_UNRANKED = 10
_ARROWS = {"ascending": "↑", "descending": "↓", None: "↕"}


@dataclass(frozen=True, slots=True)
class Filter:
    """The part of the board, the judgments and the references that a reader wants it ranked by."""

    part: Slice = field(default_factory=Slice)
    aggregate: str | None = None
    references: tuple[str, ...] | None = None
    by: str | None = None

    def __bool__(self) -> bool:
        return bool(self.part) or any(value is not None for value in (self.aggregate, self.references, self.by))

    @property
    def words(self) -> str:
        parts = [str(self.part)] if self.part else []
        parts += [f"judgments {self.aggregate}"] if self.aggregate else []
        parts += [f"references {', '.join(self.references)}"] if self.references else []
        if self.by is not None:
            parts = [*(parts or ["the whole board"]), f"by {self.by}"]
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class Select:
    """A choice on the page, as a form writes it."""

    name: str
    label: str
    options: tuple[tuple[str, str], ...]
    chosen: str


def read_filter(board: Board, query: QueryParams) -> Filter:
    """Which part of the board the reader asks for."""
    part = Slice(
        domain=query.get("domain") or None, document=query.get("document") or None, tag=query.get("tag") or None
    )
    named = query.get("references")
    return Filter(
        part,
        query.get("aggregate") or None,
        board.check_references(named.split(",")) if named else None,
        query.get("by") or None,
    )


def table_context(
    ranking: Ranking,
    overrating: OverratingReport | None,
    query: QueryParams,
    address: str,
    wrong: Mapping[str, str] | None = None,
    own: Own | None = None,
) -> dict[str, Any]:
    """What the template needs to write the table, for a board or for a past ranking of it."""
    own = own_columns() if own is None else own
    wish, find = read_wish(query), (query.get("find") or "").strip()
    table = board_table(ranking, overrating, wish, find=find, page=read_page(query), wrong=wrong, own=own)
    kept = [(key, value) for key, value in query.multi_items() if key in _FILTERS and value]
    page = [("page", str(table.shown.number))] if table.shown.number > 1 else []
    # A script sorts a whole board in place; where the page is loaded anew, it opens where the reader was.
    at = "#pages" if table.is_part else ""

    def leading_to(other: Wish, rest: Sequence[tuple[str, str]] = ()) -> str:
        return address + addresses.asked({**_listed(kept), **other.query(), **dict(rest)}) + at

    return {
        "ranking": ranking,
        "wish": wish,
        "table": table,
        "find": find,
        "pager": pager(table.shown.number, table.shown.last, address, {**_listed(kept), **wish.query()}, at="#pages"),
        "unfound": address + addresses.asked({**_listed([p for p in kept if p[0] != "find"]), **wish.query()}),
        "sorter": _sorter(wish, leading_to),
        "orders": [(order, leading_to(replace(wish, order=order), page)) for order in _orders(table)],
        "shown_as": leading_to(replace(wish, ranks=not wish.ranks), page),
        "choices": _choices(ranking, wish, table.hidden_keys, own),
        "all_columns": leading_to(replace(wish, every=True, hidden=frozenset()), page),
        "default_columns": address + addresses.asked({**_listed(kept), "columns": "default"}) + at,
        "kept": _flat(wish.query()),
        "kept_for_finding": [*((k, v) for k, v in kept if k != "find"), *_flat(wish.query())],
        "kept_for_columns": [
            *kept,
            *((k, v) for k, v in _flat(wish.query()) if k not in ("hide", "pin", "columns")),
            *page,
        ],
        "marks": NOTES,
        "doubted": DOUBTED,
        "ranked_by": ranked_by_words(ranking, asked=bool(query.get("by"))),
        "notes": _notes(ranking, overrating),
        "findings": findings(ranking, overrating),
        "lines": lines_table(ranking) if ranking.lines else None,
        "common": common_table(ranking, ranking.common) if ranking.common is not None else None,
        "newcomers": newcomer_words(ranking),
        "explanations": EXPLANATIONS,
        "citation": citation(ranking),
    }


_FILTERS = ("domain", "document", "tag", "aggregate", "references", "by", "since", "find")
#: All words of an address that say what a board's table shows.
TABLE_WORDS = (*_FILTERS, "sort", "direction", "order", "hide", "pin", "show", "columns", "page")


def filter_selects(board: Board, chosen: Filter, ranking: Ranking | None = None) -> list[Select]:
    """The choices that this board has; a choice of one is none."""
    leaders = [] if ranking is None else [(name, name) for name in _leaders(ranking)]
    aggregates = list(dict.fromkeys((*board.aggregates, *board.dimensions)))
    domains = sorted({i.domain for i in board.instances if i.domain})
    tags = sorted({tag for i in board.instances for tag in i.tags})
    documents = sorted({i.document for i in board.instances if i.document})
    references = [(",".join((name,)), name) for name in board.reference_names]
    selects = [
        _select("domain", "domain", [(d, d) for d in domains], chosen.part.domain, "all domains"),
        _select("tag", "tag", [(t, t) for t in tags], chosen.part.tag, "all instances"),
        _select("document", "document", [(d, d) for d in documents], chosen.part.document, "all documents"),
        _select("aggregate", "judgments", [(a, a) for a in aggregates], chosen.aggregate, f"{board.ranks} (default)"),
        _select("references", "references", references, ",".join(chosen.references or ()), "all references"),
        _select("by", "ranked by", leaders, chosen.by, "the board's choice"),
    ]
    return [select for select in selects if 2 < len(select.options) <= MOST_CHOICES]


def _leaders(ranking: Ranking) -> list[str]:
    """What the generators can be ranked by."""
    people = [PEOPLE] if ranking.people is not None else []
    fitted = [ENSEMBLE] if ranking.ensemble is not None else []
    return [*people, *fitted, *(metric.name for metric in ranking.metrics if metric.name != PEOPLE)]


def _select(name: str, label: str, options: Sequence[tuple[str, str]], chosen: str | None, every: str) -> Select:
    return Select(name, label, (("", every), *options), chosen or "")


def ranked_by_words(ranking: Ranking, *, asked: bool = False) -> Markup:
    """What ranks the generators and why: it agrees best with people, or the board's owner or the reader chose it."""
    lead, ensemble = ranking.ranked_by, ranking.ensemble
    chosen = "as you asked" if asked else "chosen by the board’s owner"
    if lead is None:
        if not ranking.aggregate:
            return Markup(
                "Generators are not ranked yet: nobody has judged an output, so nothing says which metric agrees with "
                "people. Judgments come with the board’s files or from a campaign. Or its owner chooses a metric that "
                "ranks."
            )
        return Markup("Generators are not ranked yet: no metric has a correlation with people.")
    if lead == PEOPLE:
        words = best_metric_words(ranking)
        beside = "" if words is None else f" Of the metrics, {words}."
        on = f" ({one_line(ranking.aggregate)}), {chosen}.{beside}"
        return Markup("Generators are ranked by <strong>people</strong>{}").format(on)
    agreement = {m.name: m.correlation for m in ranking.metrics if m.correlation is not None}
    by_itself = {m.name for m in ranking.metrics if m.name in agreement and not m.is_statistic}
    if ensemble is not None and ensemble.correlation is not None:
        agreement[ENSEMBLE] = ensemble.correlation
        by_itself.add(ENSEMBLE)
    best = max(sorted(by_itself), key=lambda name: agreement[name], default=None)
    if best is None:
        why = f", {chosen}: no metric has a correlation with people"
    elif lead in by_itself and (agreement[lead] >= agreement[best] or _bars_the_best(ranking)):
        others = "" if agreement[lead] >= agreement[best] else " of those that may rank alone"
        unseen = f" on {unseen_words(ensemble)} it has not seen" if lead == ENSEMBLE and ensemble is not None else ""
        why = f", which agrees best with people{others} ({value_text(agreement[lead], 3)}{unseen})"
    else:
        own = "not known" if lead not in agreement else value_text(agreement[lead], 3)
        why = (
            f", {chosen}: its agreement with people is {own}, and {one_line(best)} agrees best "
            f"({value_text(agreement[best], 3)})"
        )
    name = Markup("<strong>{}</strong>").format(lead)
    if lead == ENSEMBLE and ensemble is not None:
        name = Markup("the <strong>ensemble</strong> {}").format(ensemble.formula)
    return Markup("Generators are ranked by {}{}.").format(name, why)


def _bars_the_best(ranking: Ranking) -> bool:
    """Whether a rule, and not the owner's choice, keeps what agrees best from ranking the generators alone."""
    if ranking.ranked_by == ENSEMBLE and ranking.references:
        measured = [m for m in ranking.metrics if m.correlation is not None and not m.is_statistic]
        if all(m.reference_free for m in measured):
            return True
    return any(note.endswith(NOT_ALONE) for note in ranking.notes)


def card_lines(board: Board) -> list[tuple[str, str]]:
    """The data card as its owner wrote it."""
    stated = [(f.name, getattr(board.card, f.name)) for f in fields(board.card) if f.name not in ("title", "task")]
    languages = [("input language", board.input_language), ("output language", board.output_language)]
    judged = [(f"dimension {name}", dimension.definition) for name, dimension in board.dimensions.items()]
    return [(name, text) for name, text in (*stated, *languages, *judged) if text]


def has_scale(board: Board, aggregate: str) -> bool:
    """Whether the judgments behind a human score have a known scale, and so are turned into 0 to 100."""
    behind = board.aggregates.get(aggregate)
    names = (aggregate,) if behind is None else behind.dimensions
    dimensions = [board.dimensions.get(name) for name in names]
    standardised = behind is not None and behind.standardise is not None
    return not standardised and all(
        dimension is not None and (dimension.range or dimension.to_100 or dimension.levels_of) is not None
        for dimension in dimensions
    )


def standing_lines(ranking: Ranking, board: Board) -> list[tuple[str, str, str]]:
    """Who leads by what, and how sure that is: what it is, who, and the figures."""
    lines = []
    ranked = [standing for standing in ranking.generators if standing.rank is not None]
    first = [standing.name for standing in ranked if standing.rank == 1]
    if first and ranking.ranked_by is not None:
        shared = (
            "told apart from all others" if len(first) == 1 else f"{value_text(len(first))} that tests can't tell apart"
        )
        lines.append(
            (f"First of {value_text(len(ranked))} generators", listed(first), f"by {ranking.ranked_by}; {shared}")
        )
    judged = [standing for standing in ranked if standing.human is not None]
    if judged and ranking.ranked_by != PEOPLE:
        top = max(judged, key=lambda standing: standing.human or 0.0)
        of = " of 100" if has_scale(board, ranking.aggregate) else ""
        lines.append(("First by people", top.name, f"{value_text(top.human, 2)}{of} ({ranking.aggregate})"))
    best = best_metric(ranking)
    if best is not None:
        interval = "" if best.interval is None else f", 95% interval {interval_text(best.interval, 3)}"
        lines.append(("Best metric", best.label, f"correlation {value_text(best.correlation, 3)}{interval}"))
    ensemble = ranking.ensemble
    if ensemble is not None and ensemble.correlation is not None:
        figure = f"correlation {value_text(ensemble.correlation, 3)} on {unseen_words(ensemble)} it has not seen"
        lines.append(("Ensemble", ensemble.formula, figure))
    return lines


def fact_lines(board: Board, ranking: Ranking | None) -> list[tuple[str, str]]:
    """The board in figures."""
    people = sum(generator.kind == "human" for generator in board.generators)
    generators = value_text(len(board.generators)) + (f", {people} human" if people else "")
    facts = [("instances", value_text(len(board.instances))), ("generators", generators)]
    if ranking is not None:
        judged = sum(standing.judged for standing in ranking.generators)
        facts += [("metrics", value_text(len(ranking.metrics))), ("judged outputs", value_text(judged))]
    return [*facts, ("references", reference_words(board.references))]


def chart_list(ranking: Ranking, overrating: OverratingReport | None) -> list[tuple[str, str, str]]:
    """The charts of a board: the name of each, its finding, and what it shows in words."""
    best, popular = best_metric(ranking), popular_metric(ranking)
    charts = []
    lead = ranking.ranked_by
    if lead is not None and can_swap(ranking, PEOPLE, lead):
        title = swap_title(ranking, PEOPLE, lead)
        caption = f"Lines join each generator's ranks by people and by {one_line(lead)}."
        charts.append(("people", title, f"{title}. {caption}"))
    if best is not None:
        words = best_metric_words(ranking) or ""
        charts.append(
            ("correlations", words, "; ".join(_few_values((m.name, m.correlation, 3) for m in ranking.metrics)))
        )
    if overrating is not None and overrating.metrics:
        values = _few_values((e.name, e.beta0, 2) for e in overrating.metrics)
        charts.append(("overrating", overrating_words(overrating), "; ".join(values)))
    if best is not None and popular is not None:
        many = f"The first {MOST_SWAPS} generators" if len(ranking.generators) > MOST_SWAPS else "Generators"
        title = f"{many} under {best.name} and under {popular.name}"
        caption = "Lines join each generator's two ranks; the numbers are in the table above."
        charts.append(("swaps", title, f"{title}. {caption}"))
    return charts


def _few_values(values: Iterable[tuple[str, float | None, int]]) -> list[str]:
    """Values in words for who can't see a chart: the first dozen, the others counted."""
    words = [f"{name} {value_text(value, digits)}" for name, value, digits in values]
    rest = len(words) - MOST_SPOKEN
    return words if rest <= 1 else [*words[:MOST_SPOKEN], f"and {rest} more, in the chart's data"]


def _orders(table: BoardTable) -> list[str]:
    return [order for order in ORDERS if order != "overrating" or table.measured]


def _sorter(wish: Wish, leading_to: Callable[[Wish], str]) -> Callable[[str, str], Markup]:
    """Writes the link that sorts by a column, or turns the one that is sorted by."""

    def link(key: str, words: str) -> Markup:
        way = wish.way if wish.sort == key else None
        chosen = Markup(' data-direction="{}"').format(way) if way else ""
        label = f"Sort by {words}" if way is None else f"Sorted by {words}, {way}; turn"
        return Markup(' <a class="sort" href="{}" aria-label="{}"{}>{}</a>').format(
            leading_to(wish.turned(key)), label, chosen, _ARROWS[way]
        )

    return link


def _choices(ranking: Ranking, wish: Wish, hidden: Collection[str], own: Own) -> list[dict[str, object]]:
    declared = {
        name: column.lower
        for name, column in own.items()
        if any(column.value(standing) is not None for standing in ranking.generators)
    }
    fitted = [ENSEMBLE] if ranking.ensemble is not None else []
    keys = {name: name for name, is_cost in declared.items() if not is_cost} | people_keys(ranking)
    keys |= {name: name for name in (*fitted, *(metric.name for metric in ranking.metrics))}
    keys |= {name: name for name, is_cost in declared.items() if is_cost}
    return [
        {"key": key, "name": name, "pinned": key in wish.pinned, "hidden": key in hidden} for key, name in keys.items()
    ]


def _notes(ranking: Ranking, overrating: OverratingReport | None) -> list[str]:
    marks = {metric_mark(metric) for metric in ranking.metrics}
    marks |= {DOUBTED} if any(generator.doubts for generator in ranking.generators) else set()
    notes = [note for mark, note in NOTES.items() if mark in marks]
    if any(metric.within is not None for metric in ranking.metrics):
        notes.append(WITHIN_MEANING)
    if overrating is not None:
        against = ", ".join(overrating.references) or "no references"
        notes.append(
            f"Overrating: by how many of its standard deviations a metric scores machines above {overrating.human} at "
            f"equal human judgment (references: {against}); 0 is neutral."
        )
    return [*notes, *share_notes(ranking), *flag_notes(ranking), *_unranked(ranking)]


def _unranked(ranking: Ranking) -> Iterator[str]:
    """Who has no rank and why: the first few, because on a large board there may be thousands."""
    unranked = [g for g in ranking.generators if g.rank is None and g.reason]
    yield from (f"{g.name} is not ranked: {g.reason}." for g in unranked[:MOST_UNRANKED])
    if (rest := len(unranked) - MOST_UNRANKED) > 0:
        yield f"{value_text(rest)} more are not ranked; each one’s dash in the table says why."


def _flat(query: dict[str, object]) -> list[tuple[str, str]]:
    return [
        (key, str(item))
        for key, value in query.items()
        for item in (value if isinstance(value, list) else [value])
        if item not in (None, "")
    ]


def _listed(pairs: Sequence[tuple[str, str]]) -> dict[str, object]:
    return {key: [value for name, value in pairs if name == key] for key, _ in pairs}
