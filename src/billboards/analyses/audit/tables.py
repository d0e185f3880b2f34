"""Tables of audits and of challenge sets: the verdicts, and the numbers behind each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from billboards.analyses.audit.results import (
    PEOPLE,
    Attack,
    ChallengeReport,
    ChallengeResult,
    HumanPlace,
    Landing,
    MetricAudit,
)
from billboards.analyses.audit.verdict import LEVELS, OUTCOMES, people_first
from billboards.board.scores import natural
from billboards.show.table import REFERENCE_FREE, Table, TableColumn, reason_notes
from billboards.show.words import clipped, headed

DEFINITION = (
    "attack: share of machines that outputs made for the metric beat under it, less the share they beat under the "
    "other judges; 1 is first here and last elsewhere, 0 as good elsewhere as here."
)
#: Characters of a text in a table.
READ_AT_ONCE = 200
BY_PEOPLE = "by people: the same over people alone; where there is one, it counts and the other does not."


def audits_table(audits: Sequence[MetricAudit]) -> Table:
    """One line per audit: where the optimised output lands, and the verdict."""
    columns = (
        TableColumn("name", "metric", "left", kind="name"),
        TableColumn("level", "verdict", "left"),
        TableColumn("method", "strongest attack", "left", priority=3),
        TableColumn("rank", "rank"),
        TableColumn("margin", "margin", digits=2, priority=4),
        TableColumn("elsewhere", "ranks elsewhere", "left"),
        TableColumn("attack", "attack", digits=2),
        TableColumn("attack_interval", "95% interval", digits=2, kind="interval", priority=2),
        TableColumn("people_attack", "by people", digits=2),
        TableColumn("people_interval", "95% interval", digits=2, kind="interval", priority=1),
        TableColumn("random", "random choice", "left", priority=2),
        TableColumn("attacks", "attacks", "left", priority=2),
        TableColumn("above", "machines above people", digits=2, priority=1),
        TableColumn("kinship", "kinship", digits=2, priority=1),
        TableColumn("signature", "signature", "left", visible=False),
    )
    rows = tuple(_audit_row(audit) for audit in audits)
    free = (
        (f"{REFERENCE_FREE} uses no references: diagnostic",) if any(audit.reference_free for audit in audits) else ()
    )
    levels = dict.fromkeys(audit.level for audit in audits)
    notes = (
        DEFINITION,
        *((BY_PEOPLE,) if any(audit.people_attack is not None for audit in audits) else ()),
        *(f"{level}: {LEVELS[level]}." for level in levels),
        "margin: to the best machine, in standard deviations between machines. kinship: correlation of score and "
        "likeness to the optimised output at equal quality.",
        *free,
    )
    title = ", ".join(dict.fromkeys(audit.board for audit in audits))
    empty = [key for key in ("people_attack", "people_interval", "random", "attacks") if not any(r[key] for r in rows)]
    return Table(f"{title}: what the metrics reward", columns, rows, notes).without(empty)


def _place(landing: Landing) -> str:
    return f"{landing.rank}/{landing.machines + 1}"


def _audit_row(audit: MetricAudit) -> Mapping[str, object]:
    elsewhere = ", ".join(f"{landing.judge} {_place(landing)}" for landing in audit.judges)
    return {
        "name": audit.metric,
        "mark": REFERENCE_FREE if audit.reference_free else "",
        "level": audit.level,
        "method": audit.method,
        "rank": f"{audit.own.rank}/{audit.own.machines + 1}",
        "margin": audit.own.margin,
        "elsewhere": elsewhere,
        "attack": audit.attack,
        "attack_interval": audit.attack_interval,
        "people_attack": audit.people_attack,
        "people_interval": audit.people_interval,
        "random": _place(audit.random[0]) if audit.random else "",
        "attacks": ", ".join(f"{attack.method} {attack.outcome}" for attack in audit.attacks),
        "above": audit.share_above_people(),
        "kinship": audit.kinship,
        "signature": audit.signature,
    }


def audit_tables(audit: MetricAudit) -> tuple[Table, ...]:
    """Everything behind one verdict."""
    landing = landing_table(audit)
    with_verdict = replace(landing, notes=(audit.words, *landing.notes))
    attacks = attacks_table(audit)
    tables = (with_verdict, attacks, equivalence_table(audit), people_table(audit), relatives_table(audit))
    return tuple(table for table in tables if table.rows)


def attacks_table(audit: MetricAudit) -> Table:
    """Every attack that was tried, and under each where a random choice from the same candidates lands."""
    judges = [landing.judge for attack in audit.attacks for landing in people_first(attack.judges)]
    names = dict.fromkeys(judges)
    columns = (
        TableColumn("attack", "attack", "left", kind="name"),
        TableColumn("outcome", "outcome", "left"),
        TableColumn("own", audit.metric),
        *(TableColumn(f"rank_{name}", name) for name in names),
        TableColumn("score", "attack", digits=2),
        TableColumn("interval", "95% interval", digits=2, kind="interval", priority=2),
        TableColumn("people_attack", "by people", digits=2),
        TableColumn("people_interval", "95% interval", digits=2, kind="interval", priority=1),
        TableColumn("pairs", "pairs", priority=1),
    )
    rows = tuple(row for attack in audit.attacks for row in _attack_rows(attack))
    notes = (
        "Ranks among the machines, under the metric itself and under each judge. A search fails where what it found "
        "beats less than three quarters of the machines under the metric itself, or less than a random choice does.",
        *reason_notes("Could not be tried:", audit.not_tried),
    )
    table = Table(f"{audit.metric}: every attack", columns, rows, notes)
    return table if PEOPLE in names else table.without(["people_attack", "people_interval"])


def _attack_rows(attack: Attack) -> tuple[Mapping[str, object], ...]:
    ranks = {f"rank_{landing.judge}": _place(landing) for landing in attack.judges}
    row = {
        "attack": attack.method,
        "outcome": OUTCOMES[attack.outcome],
        "own": _place(attack.own),
        **ranks,
        "score": attack.attack,
        "interval": attack.attack_interval,
        "people_attack": attack.people_attack,
        "people_interval": attack.people_interval,
        "pairs": attack.pairs,
    }
    if not attack.random:
        return (row,)
    own, *others = attack.random
    line = {f"rank_{landing.judge}": _place(landing) for landing in others}
    return row, {"attack": f"{attack.method}, random choice", "outcome": "", "own": _place(own), **line}


def landing_table(audit: MetricAudit) -> Table:
    """Where the optimised output stands under its own metric and under every other judge."""
    columns = (
        TableColumn("judge", "judge", "left", kind="name"),
        TableColumn("mean", "mean", digits=3),
        TableColumn("rank", "rank"),
        TableColumn("random", "random choice", priority=4),
        TableColumn("best", "best machine", "left", priority=1),
        TableColumn("best_mean", "its mean", digits=3, priority=2),
        TableColumn("margin", "margin", digits=2),
        TableColumn("beaten", "machines beaten", digits=2),
        TableColumn("n", "instances", priority=3),
    )
    pool = audit.method in ("rerank", "risk")
    note = ("Each machine is held against the best of the others: it never supplies what beats it.",) if pool else ()
    judges = (audit.own, *people_first(audit.judges))
    at_random = {landing.judge: _place(landing) for landing in audit.random}
    rows = tuple(
        {**_landing_row(landing, landing.judge not in audit.lower), "random": at_random.get(landing.judge, "")}
        for landing in judges
    )
    title = f"{audit.metric}: outputs made for it by {audit.how}"
    table = Table(title, columns, rows, (*note, *audit.notes))
    return table if audit.random else table.without(["random"])


def _landing_row(landing: Landing, higher_is_better: bool) -> Mapping[str, object]:
    return {
        "judge": headed(landing.judge, higher_is_better=higher_is_better),
        "mean": natural(landing.mean, higher_is_better=higher_is_better),
        "rank": f"{landing.rank}/{landing.machines + 1}",
        "best": landing.best,
        "best_mean": natural(landing.best_mean, higher_is_better=higher_is_better),
        "margin": landing.margin,
        "beaten": landing.beaten,
        "n": landing.n,
    }


def people_table(audit: MetricAudit) -> Table:
    """Human texts as outputs, and the share of machines that each metric puts above them."""
    columns = (
        TableColumn("judge", "metric", "left", kind="name"),
        TableColumn("texts", "human texts"),
        TableColumn("above", "machines above", digits=2),
        TableColumn("range", "over the texts", digits=2, kind="interval"),
    )
    judges = dict.fromkeys(place.judge for place in audit.bias)
    rows = tuple(_people_row(judge, [place for place in audit.bias if place.judge == judge]) for judge in judges)
    notes = ["machines above: share with a higher mean than the human text. References are scored without themselves."]
    if audit.overrating is not None and audit.overrating_interval is not None:
        low, high = audit.overrating_interval
        notes.append(f"Overrating of machines by {audit.metric}: {audit.overrating:.2f} (90% {low:.2f} to {high:.2f}).")
    return Table(f"{audit.metric}: people scored as if they were generators", columns, rows, tuple(notes))


def _people_row(judge: str, places: Sequence[HumanPlace]) -> Mapping[str, object]:
    shares = [place.above for place in places]
    mean = sum(shares) / len(shares)
    return {"judge": judge, "texts": len(places), "above": mean, "range": (min(shares), max(shares))}


def equivalence_table(audit: MetricAudit) -> Table:
    """The metric's system scores against reference-based ones with its own output as the reference."""
    columns = (
        TableColumn("judge", "reference-based metric", "left", kind="name"),
        TableColumn("correlation", "Pearson r", digits=2),
        TableColumn("interval", "95% interval", digits=2, kind="interval"),
        TableColumn("with_own", "r with own outputs", digits=2, priority=1),
        TableColumn("systems", "machines"),
    )
    rows = tuple(
        {
            "judge": equivalence.judge,
            "correlation": equivalence.correlation,
            "interval": equivalence.interval,
            "with_own": equivalence.with_own,
            "systems": equivalence.systems,
        }
        for equivalence in audit.equivalence
    )
    left_out = any(equivalence.leaving_out for equivalence in audit.equivalence)
    note = ("r leaves the scored machine out of the pool; `with own outputs` doesn't.",) if left_out else ()
    table = Table(f"{audit.metric}: the same as comparing with its own output?", columns, rows, note)
    return table if left_out else table.without(["with_own"])


def relatives_table(audit: MetricAudit) -> Table:
    """Each machine's likeness to the optimised output, and what the metric gives it beyond its quality."""
    columns = (
        TableColumn("name", "machine", "left", kind="name"),
        TableColumn("similarity", "likeness", digits=2),
        TableColumn("quality", "quality", digits=2),
        TableColumn("residual", "beyond quality", digits=2),
    )
    rows = tuple(
        {
            "name": relative.name,
            "similarity": relative.similarity,
            "quality": relative.quality,
            "residual": relative.residual,
        }
        for relative in audit.relatives
    )
    notes = (f"All in standard deviations between machines; quality by {audit.quality}.",)
    return Table(f"{audit.metric}: does it reward its relatives?", columns, rows, notes)


def challenge_tables(report: ChallengeReport) -> tuple[Table, ...]:
    """Shares of pairs ordered right, metrics × ways of spoiling; every number behind them; and texts to be read."""
    against = ", ".join(report.against) or "none"
    right = (
        f"Share of pairs in which the metric prefers {report.base} as it was; a tie is not right. "
        f"Reference-based metrics compare with {against}."
    )
    left_out = reason_notes("Left out:", report.missing)
    title = f"{report.board}: challenge set made from {report.base}"
    style = "Changes of length, style and language make no text better: a metric should not prefer what comes of them."
    best = (
        f"For metrics that have no other reference: outputs of {report.machine}, the best machine by "
        f"{report.machine_by}, spoilt."
    )
    tables = (
        _shares(title, report.results, (right, *left_out)),
        _details(f"{report.board}: every challenge", report.results),
        _shares(f"{report.board}: length, style and language", report.attacks, (style, right), name="attacks"),
        _details(f"{report.board}: every change of length, style and language", report.attacks),
        _shares(f"{report.board}: challenges made from {report.machine}", report.machine_results, (best,), "machine"),
        _texts_table(report),
    )
    return tables[:2] + tuple(table for table in tables[2:] if table.rows)


def set_tables(report: ChallengeReport) -> tuple[Table, ...]:
    """Shares of pairs ordered right, phenomena × metrics; every number behind them; and texts to be read."""
    metrics = list(dict.fromkeys(result.metric for result in report.results))
    cells = {(result.metric, result.perturbation): result for result in report.results}
    columns = (
        TableColumn("phenomenon", "phenomenon", "left", kind="name"),
        TableColumn("pairs", "pairs"),
        *(TableColumn(metric, metric, digits=2) for metric in metrics),
    )
    kinds = dict.fromkeys(result.perturbation for result in report.results)
    rows = [
        {
            "phenomenon": kind,
            "pairs": max(cells[metric, kind].pairs for metric in metrics if (metric, kind) in cells),
            **{metric: cells[metric, kind].share for metric in metrics if (metric, kind) in cells},
        }
        for kind in kinds
    ]
    notes = (
        "Share of pairs in which the good text scores higher than the incorrect one; a tie is not right. ACES's tau is "
        "twice the share less one.",
        *reason_notes("Left out:", report.missing),
    )
    whole = Table(f"{report.board}: pairs ordered right, by phenomenon", columns, tuple(rows), notes)
    return whole, _details(f"{report.board}: every phenomenon", report.results), _texts_table(report)


def _texts_table(report: ChallengeReport) -> Table:
    columns = (
        TableColumn("perturbation", "spoilt by", "left", kind="name"),
        TableColumn("instance", "instance", "left", priority=1),
        TableColumn("text", "as it was", "left"),
        TableColumn("spoilt", "spoilt", "left"),
    )
    rows = tuple(
        {
            "perturbation": shown.perturbation,
            "instance": shown.instance,
            "text": clipped(shown.text, READ_AT_ONCE),
            "spoilt": clipped(shown.spoilt, READ_AT_ONCE),
        }
        for shown in report.texts
    )
    return Table(f"{report.board}: texts to be read", columns, rows, name="texts")


def _shares(title: str, results: Sequence[ChallengeResult], notes: tuple[str, ...], name: str = "") -> Table:
    kinds = list(dict.fromkeys(result.perturbation for result in results))
    cells = {(result.metric, result.perturbation): result for result in results}
    metrics = list(dict.fromkeys(result.metric for result in results))
    columns = (
        TableColumn("metric", "metric", "left", kind="name"),
        *(TableColumn(kind, kind, digits=2) for kind in kinds),
        TableColumn("mean", "mean", digits=2),
    )
    rows = tuple(_challenge_row(metric, kinds, cells) for metric in metrics)
    return Table(title, columns, rows, notes, name)


def _challenge_row(
    metric: str, kinds: Sequence[str], cells: Mapping[tuple[str, str], ChallengeResult]
) -> Mapping[str, object]:
    shares = {kind: cells[metric, kind].share for kind in kinds if (metric, kind) in cells}
    return {"metric": metric, **shares, "mean": sum(shares.values()) / len(shares)}


def _details(title: str, results: Sequence[ChallengeResult]) -> Table:
    columns = (
        TableColumn("metric", "metric", "left", kind="name"),
        TableColumn("perturbation", "spoilt by", "left"),
        TableColumn("share", "right", digits=2),
        TableColumn("interval", "95% interval", digits=2, kind="interval"),
        TableColumn("tied", "tied"),
        TableColumn("pairs", "pairs"),
    )
    rows = tuple(
        {
            "metric": result.metric,
            "perturbation": result.perturbation,
            "share": result.share,
            "interval": result.interval,
            "tied": result.tied,
            "pairs": result.pairs,
        }
        for result in results
    )
    return Table(title, columns, rows)
