"""A metric's card in words: what a reader must know before trusting the metric.

The card states what can't be derived; needs, treatment of several references and options come from the metric itself,
so that they can't be wrong. The same facts are printed by `billboards metrics NAME` and stand in docs/metrics.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields

from billboards.metrics.base import Metric, MetricCard


def card_facts(metric: Metric) -> dict[str, str]:
    """Every fact that a metric's card states, and those that follow from the metric, in reading order."""
    card = metric.card
    facts: Mapping[str, str | None] = {
        "measures": card.summary,
        "needs": _needs(metric),
        "several references": _several(metric),
        "range": _range(card),
        "direction": _direction(card),
        "parts": _parts(metric),
        "languages": ", ".join(card.languages) if card.languages else None,
        "deterministic": None if card.deterministic else "no",
        "training data": card.training_data,
        "licence": card.licence,
        "paper": card.paper,
        "known failures": card.failures,
        "speed": "slow" if card.slow else None,
        "options": _options(metric),
    }
    return {fact: statement for fact, statement in facts.items() if statement}


def markdown(metrics: Iterable[Metric]) -> str:
    """The cards of metrics as sections of a page."""
    return "\n".join(_section(metric) for metric in metrics)


def _section(metric: Metric) -> str:
    facts = card_facts(metric)
    lines = [f"- **{fact.capitalize()}**: {statement}" for fact, statement in facts.items() if fact != "measures"]
    return "\n".join((f"### {metric.card.name}", "", f"{facts['measures']}.", "", *lines, ""))


def _needs(metric: Metric) -> str:
    card = metric.card
    needs = (
        "references" if card.needs_references else None,
        "the input" if card.needs_input else None,
        "all outputs of a generator at once" if metric.needs_corpus else None,
        card.needs_part,
    )
    return "; ".join(filter(None, needs)) or "the output alone"


def _several(metric: Metric) -> str | None:
    if not metric.card.needs_references:
        return None
    return "the best score over them" if metric.takes_best_reference else "all at once, by the metric's own definition"


def _range(card: MetricCard) -> str | None:
    if card.range is None:
        return None
    low, high = ("no bound" if end is None else f"{end:g}" for end in card.range)
    return f"{low} to {high}"


def _direction(card: MetricCard) -> str:
    if card.is_statistic:
        return "describes an output without judging it: never leads a ranking or joins an ensemble"
    return "higher is better" if card.higher_is_better else "lower is better (a board turns it only inside)"


def _parts(metric: Metric) -> str | None:
    names = [f"{part} (the score)" if k == 0 else part for k, part in enumerate(metric.parts)]
    return f"{', '.join(names)}; each may be named, as in `{metric.card.name}[{metric.parts[-1]}]`" if names else None


def _options(metric: Metric) -> str | None:
    chosen = [f for f in fields(metric) if f.init and f.default is not MISSING]
    return ", ".join(f"`{f.name}={f.default}`" for f in chosen) or None
