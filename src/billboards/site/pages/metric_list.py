"""The metric side of a board: a row for each metric, with how well it agrees with people, and what kind it is.

Search, kind and order are part of the address. The numbers are those of the ranking that the generators' side shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from fastapi import APIRouter
from starlette.datastructures import QueryParams

from billboards.analyses.efficiency import card_of, seconds_per_output
from billboards.analyses.ensemble import ENSEMBLE
from billboards.analyses.overrating import OverratingEstimate, verdict
from billboards.analyses.rank import MetricStanding, Ranking
from billboards.board.costs import amount_text
from billboards.errors import InvalidInput
from billboards.show.words import interval_text, rank_texts, value_text
from billboards.site.boards.masked import Look
from billboards.site.pages.board_rows import cluster_words, clusters
from billboards.site.pages.explanations import EXPLANATIONS
from billboards.site.pages.long_lists import pager, read_page, stretch
from billboards.site.web import addresses
from billboards.site.web.asking import Ask, reading
from billboards.site.web.rendering import Body
from billboards.stats.correlation import pearson

router = APIRouter()

#: Rows of one page.
MOST_ROWS = 200
#: Width of the picture of an interval, and the margin at both ends.
WIDTH, MARGIN = 160.0, 6.0

#: Kinds that a reader can ask for, each with its words.
KINDS = {
    "reference": "with references",
    "reference-free": "reference-free",
    "learned": "learned",
    "judge": "judges",
    "submitted": "submitted",
    "imported": "imported",
    "statistic": "statistics",
    "flagged": "flagged",
}
#: What may be sorted by; None sorts last.
SORTS: Mapping[str, Callable[[MetricLine], float | str | None]] = {
    "rank": lambda line: line.rank,
    "metric": lambda line: line.label.casefold(),
    "agreement": lambda line: line.agreement,
    "within": lambda line: line.within,
    "overrating": lambda line: line.overrating,
    "weight": lambda line: line.weight,
    "ensemble": lambda line: line.ensemble,
    "speed": lambda line: line.speed,
    "price": lambda line: line.price,
    "parameters": lambda line: line.parameters,
}
#: What begins at the top; everything else begins with the highest.
ASCENDING = ("rank", "metric", "speed", "price", "parameters")


@dataclass(frozen=True, kw_only=True)
class Dot:
    """Where a value and the ends of its interval stand in a picture of fixed width."""

    value: float
    low: float
    high: float
    zero: float | None


@dataclass(frozen=True, kw_only=True)
class MetricLine:
    """One row: a metric's standing, in numbers to sort by and in words to read."""

    name: str
    label: str
    rank: int | None
    rank_text: str
    kinds: tuple[str, ...]
    agreement: float | None
    agreement_text: str
    agreement_interval: str
    dot: Dot | None
    n: int
    within: float | None
    within_text: str
    overrating: float | None
    overrating_text: str
    overrating_role: str
    weight: float | None
    weight_text: str
    flags: tuple[str, ...]
    reason: str | None
    opens_cluster: bool
    #: Who it can't be told apart from, in words.
    cluster: tuple[str, ...] = ()
    within_interval: str = ""
    overrating_interval: str = ""
    #: Correlation with the ensemble, over all outputs.
    ensemble: float | None = None
    ensemble_text: str = ""
    #: Seconds per output here, the stated price of a thousand, and the stated size of its model.
    speed: float | None = None
    speed_text: str = ""
    price: float | None = None
    price_text: str = ""
    parameters: float | None = None
    parameters_text: str = ""
    summary: str = ""
    #: What was found of its scores or of what it rewards.
    wrong: str = ""
    audit: str = ""


def show_metrics(ask: Ask) -> Body:
    """All metrics of the board."""
    look = ask.look()
    sort, way, kind, wanted = _read_wish(ask.query)
    context: dict[str, Any] = {"ranking": look.ranking, "explanations": EXPLANATIONS, "widest": WIDTH}
    if look.ranking is not None:
        lines = metric_lines(look)
        kinds = {key: words for key, words in KINDS.items() if any(key in line.kinds for line in lines)}
        chosen = [line for line in lines if _is_wanted(line, kind, wanted)]
        shown = stretch(_sorted(chosen, sort, way), read_page(ask.query), MOST_ROWS)
        address = addresses.board(look.name, "metrics")
        query = {"kind": kind, "find": wanted, "sort": sort if (sort, way) != ("rank", "ascending") else None}
        query["direction"] = way if way != _first_way(sort) else None
        context |= {
            "lines": shown.entries,
            "total": len(lines),
            "chosen": len(chosen),
            "kinds": kinds,
            "kind": kind,
            "find": wanted,
            "sort": sort,
            "way": way,
            "by_rank": sort == "rank" and way == "ascending",
            "has": {key for key in SORTS if any(SORTS[key](line) is not None for line in lines)},
            "sorted_by": {key: _sort_address(address, query, key, sort, way) for key in SORTS},
            "pager": pager(shown.number, shown.last, address, query),
            "address": address,
        }
    return ask.board_page("metric_list", look, "metrics", **context)


def metric_lines(look: Look) -> list[MetricLine]:
    """Every metric of the ranking, in its order."""
    ranking = look.ranking
    if ranking is None:
        return []
    report = look.overrating
    measured = {} if report is None else {estimate.name: estimate for estimate in report.metrics}
    scale = _scale(ranking.metrics)
    alike = clusters(ranking.metrics)
    own = {metric.name: metric.signature for metric in ranking.metrics if metric.origin == "own"}
    seconds = seconds_per_output(look.live.told_cells, own, len(look.board.instances))
    beside = _Beside(seconds=seconds, ensemble=ensemble_agreement(look))
    texts = rank_texts([metric.rank for metric in ranking.metrics])
    return [
        _line(
            look,
            ranking,
            metric,
            rank_text=text,
            estimate=measured.get(metric.name),
            scale=scale,
            beside=beside,
            cluster=cluster_words(metric, alike),
            opens_cluster=k > 0 and metric.cluster is not None and metric.cluster != ranking.metrics[k - 1].cluster,
        )
        for k, (metric, text) in enumerate(zip(ranking.metrics, texts, strict=True))
    ]


def _line(
    look: Look,
    ranking: Ranking,
    metric: MetricStanding,
    *,
    rank_text: str,
    estimate: OverratingEstimate | None,
    scale: tuple[float, float],
    beside: _Beside,
    cluster: tuple[str, ...],
    opens_cluster: bool,
) -> MetricLine:
    card = None if metric.origin == "imported" else card_of(metric.name)
    speed, together = beside.seconds.get(metric.name), beside.ensemble.get(metric.name)
    audit = look.audits.get(metric.name)
    weight = None if ranking.ensemble is None else ranking.ensemble.weights.get(metric.name)
    beta = None if estimate is None else estimate.beta0
    outcome = "" if estimate is None else verdict(estimate)
    return MetricLine(
        name=metric.name,
        label=metric.label,
        rank=metric.rank,
        rank_text=rank_text,
        kinds=metric_kinds(look, metric),
        agreement=metric.correlation,
        agreement_text=value_text(metric.correlation, 3),
        agreement_interval="" if metric.interval is None else interval_text(metric.interval, 3),
        dot=_dot(metric, scale),
        n=metric.n,
        within=metric.within,
        within_text=value_text(metric.within, 3),
        overrating=beta,
        overrating_text=value_text(beta, 2),
        overrating_role={"overrates machines": "down", "overrates people": "up"}.get(outcome, ""),
        weight=weight,
        weight_text=value_text(weight, 2),
        flags=metric.flags,
        reason=metric.reason,
        opens_cluster=opens_cluster,
        cluster=cluster,
        within_interval="" if metric.within_interval is None else interval_text(metric.within_interval, 3),
        overrating_interval="" if estimate is None else interval_text(estimate.interval90, 2),
        ensemble=together,
        ensemble_text=value_text(together, 3),
        speed=speed,
        speed_text="–" if speed is None else seconds_text(speed),
        price=None if card is None else card.price,
        price_text="–" if card is None or card.price is None else f"${card.price:,.4g}",
        parameters=None if card is None else card.parameters,
        parameters_text="–" if card is None or card.parameters is None else amount_text(card.parameters),
        summary="" if card is None else card.summary,
        wrong=look.recomputed.get(metric.name, ""),
        audit=audit.level if audit is not None and audit.signature == metric.signature else "",
    )


@dataclass(frozen=True, kw_only=True)
class _Beside:
    """What is known of metrics beside the ranking: seconds per output, and correlation with the ensemble."""

    seconds: Mapping[str, float]
    ensemble: Mapping[str, float]


def ensemble_agreement(look: Look) -> dict[str, float]:
    """How closely each metric follows the ensemble, over all outputs that both score."""
    matrix = look.matrix
    if ENSEMBLE not in matrix.names or not look.judged:
        return {}
    names = [name for name in matrix.view.scores.names if name not in look.withheld]
    if not names:
        return {}
    values, _ = pearson(np.stack([matrix.of(name) for name in names]), matrix.of(ENSEMBLE))
    return {name: float(r) for name, r in zip(names, values, strict=True) if np.isfinite(r)}


def seconds_text(seconds: float) -> str:
    """A short time as people read it."""
    if seconds >= 1:
        return f"{seconds:.3g} s"
    return f"{1000 * seconds:.3g} ms" if seconds >= 0.001 else f"{1_000_000 * seconds:.3g} µs"


def metric_kinds(look: Look, metric: MetricStanding) -> tuple[str, ...]:
    """What a metric is: what it needs, how it was made, and where it comes from."""
    kinds = ["reference-free" if metric.reference_free else "reference"]
    if metric.name in look.live.metrics:
        kinds.append("submitted")
    elif metric.origin == "imported":
        kinds.append("imported")
    else:
        kinds += _making(metric.name)
    kinds += ["statistic"] if metric.is_statistic else []
    kinds += ["flagged"] if metric.flags or not metric.counts else []
    return tuple(kinds)


def _making(name: str) -> list[str]:
    """Whether an installed metric is a trained model or asks one, as its card says."""
    card = card_of(name)
    return [card.making] if card is not None and card.making else []


def _scale(metrics: Iterable[MetricStanding]) -> tuple[float, float]:
    """The lowest and the highest value that a picture of these metrics has to hold; 0 is always inside."""
    ends = [end for metric in metrics for end in (metric.correlation, *(metric.interval or ())) if end is not None]
    return min([0.0, *ends]), max([0.0, *ends])


def _dot(metric: MetricStanding, scale: tuple[float, float]) -> Dot | None:
    low, high = scale
    if metric.correlation is None or high <= low:
        return None

    def place(value: float) -> float:
        return round(MARGIN + (WIDTH - 2 * MARGIN) * (value - low) / (high - low), 1)

    ends = metric.interval or (metric.correlation, metric.correlation)
    zero = place(0.0) if low < 0.0 else None
    return Dot(value=place(metric.correlation), low=place(ends[0]), high=place(ends[1]), zero=zero)


def _read_wish(query: QueryParams) -> tuple[str, str, str, str]:
    """Order, direction, kind and search, as the address has them."""
    sort = query.get("sort") or "rank"
    if sort not in SORTS:
        raise InvalidInput(f"sort={sort}: metrics are sorted by {', '.join(SORTS)}")
    way = query.get("direction") or _first_way(sort)
    if way not in ("ascending", "descending"):
        raise InvalidInput(f"direction={way}: it is ascending or descending")
    kind = query.get("kind") or ""
    if kind and kind not in KINDS:
        raise InvalidInput(f"kind={kind}: kinds are {', '.join(KINDS)}")
    return sort, way, kind, (query.get("find") or "").strip()


def _first_way(sort: str) -> str:
    return "ascending" if sort in ASCENDING else "descending"


def _is_wanted(line: MetricLine, kind: str, wanted: str) -> bool:
    return (not kind or kind in line.kinds) and wanted.casefold() in line.label.casefold()


def _sorted(lines: Sequence[MetricLine], sort: str, way: str) -> list[MetricLine]:
    """By the chosen column; what has no value stands last, whichever way it goes."""
    read = SORTS[sort]
    keyed = [(key, line) for line in lines if (key := read(line)) is not None]
    keyed.sort(key=lambda pair: pair[0], reverse=way == "descending")
    return [line for _, line in keyed] + [line for line in lines if read(line) is None]


def _sort_address(address: str, query: Mapping[str, object], key: str, sort: str, way: str) -> str:
    """Leads to the same rows sorted by a column, or the other way round where they are."""
    turned = {"ascending": "descending", "descending": "ascending"}[way] if key == sort else _first_way(key)
    direction = turned if turned != _first_way(key) else None
    return address + addresses.asked(
        {**query, "sort": key if key != "rank" or direction else None, "direction": direction}
    )


#: What the address may say.
WORDS = ("find", "kind", "sort", "direction", "page")

router.add_route("/boards/{board}/metrics", reading(show_metrics, words=WORDS), include_in_schema=False)
