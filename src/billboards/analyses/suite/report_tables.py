"""The report on one metric: tables for the terminal, and one self-contained page for whoever develops the metric."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import metadata

from billboards.analyses.overrating import verdict
from billboards.analyses.suite.report_results import FailedOutput, MetricOnBoard, MetricOnColumn, MetricReport
from billboards.analyses.suite.results import Measure
from billboards.analyses.suite.rivals import Rival
from billboards.analyses.suite.shown_tables import column_header, draft_notes, statistic_words
from billboards.show.documents import document_of, dumps
from billboards.show.page import READ, data_uri, rendered
from billboards.show.table import STATISTIC, Table, TableColumn
from billboards.show.words import clipped, interval_text, listed, one_line, p_text, value_text


def metric_report_tables(report: MetricReport) -> tuple[Table, ...]:
    """Agreement column by column, what holds for whole boards, the worst failures, and every other metric."""
    failures = [failures_table(board) for board in report.boards if board.too_high or board.too_low]
    rivals = [rivals_table(report)] if _has_rivals(report) else []
    return (columns_table(report), boards_table(report), *failures, *rivals)


def _has_rivals(report: MetricReport) -> bool:
    return bool(report.rivals) or any(entry.rivals for entry in report.columns)


def metric_report_words(report: MetricReport) -> tuple[str, ...]:
    """What a report says, in sentences: what was compared and what left out first, then the verdicts."""
    return (
        *_compared_words(report),
        overall_words(report),
        *_overall_verdict(report),
        *_board_verdicts(report),
        *_check_words(report),
    )


def _compared_words(report: MetricReport) -> Iterator[str]:
    name = one_line(report.metric)
    counted = sum(map(len, report.compared.values()))
    if counted:
        kinds = [
            f"{len(names)} {_SOURCES[kind]} ({listed(sorted(names), 8)})" for kind, names in report.compared.items()
        ]
        yield f"{name} is compared with {counted} other metrics: {'; '.join(kinds)}."
    else:
        yield f"{name} is compared with no other metric: none has scores on these boards."
    by_reason: dict[str, list[str]] = {}
    for metric, reason in report.left_out.items():
        by_reason.setdefault(reason, []).append(metric)
    for reason, metrics in by_reason.items():
        yield f"Left out of the mean over all boards: {listed(sorted(metrics), 12)} ({one_line(reason)})."
    for key, reason in report.columns_left_out.items():
        yield f"Left out of the mean over all boards: the column {one_line(key)}, because {one_line(reason)}."
    for entry in report.columns:
        if entry.unranked and entry.block != "one":
            unranked = [f"{one_line(metric)} ({one_line(reason)})" for metric, reason in entry.unranked.items()]
            yield f"Without a rank on {column_header(entry.column)}: {listed(unranked, 6)}."
    for board, reason in report.missing.items():
        yield f"Not run on {one_line(board)}: {one_line(reason)}"


_SOURCES = {
    "computed here": "computed here",
    "imported": "imported with a board",
    "sent as scores": "sent as scores alone",
}


def _overall_verdict(report: MetricReport) -> Iterator[str]:
    """Who is beaten, tied and not beaten over all boards."""
    yield from _verdicts("Over all boards it", report.rivals)


def _board_verdicts(report: MetricReport) -> Iterator[str]:
    """The same on each board."""
    for entry in report.columns:
        if entry.rivals and entry.block != "one":
            place = "" if entry.rank is None else f" (place {_place(entry)})"
            yield from _verdicts(f"On {column_header(entry.column)}{place} it", entry.rivals)


def _verdicts(start: str, rivals: Sequence[Rival]) -> Iterator[str]:
    parts = []
    for word in ("loses to", "ties with", "beats"):
        names = [_rival_text(rival) for rival in rivals if rival.verdict == word]
        if names:
            parts.append(f"{word} {listed(names, 5)}")
    if parts:
        yield f"{start} {'; '.join(parts)}."


def _rival_text(rival: Rival) -> str:
    """X (difference, interval, p)."""
    interval = None if rival.interval is None else interval_text(_hundredths(rival.interval), 1)
    facts = [f"{100 * rival.difference:+.1f}", interval, None if rival.p is None else f"p {p_text(rival.p)}"]
    return f"{one_line(rival.metric)} ({', '.join(fact for fact in facts if fact)})"


def _hundredths(interval: tuple[float, float]) -> tuple[float, float]:
    return 100 * interval[0], 100 * interval[1]


def _check_words(report: MetricReport) -> Iterator[str]:
    for check in report.checks:
        words = " ".join(check.words) if check.words else check.reason or "nothing to say"
        yield f"{check.kind.capitalize()} on {one_line(check.board)}: {one_line(words)}"


def _place(entry: MetricOnColumn) -> str:
    return f"{entry.rank}{'=' if entry.shared else ''} of {entry.of}"


def rivals_table(report: MetricReport) -> Table:
    """A line for each other metric in each column, and over all boards."""
    rows = [_rival_row("all boards", "all", rival) for rival in report.rivals]
    for entry in report.columns:
        rows += [_rival_row(column_header(entry.column), entry.block, rival) for rival in entry.rivals]
    columns = (
        TableColumn("column", "column", "left"),
        TableColumn("block", "refs", "left", priority=3),
        TableColumn("verdict", "it", "left"),
        TableColumn("name", "metric", "left", kind="name"),
        TableColumn("difference", "difference", digits=1),
        TableColumn("interval", "95% interval", digits=1, kind="interval", priority=1),
        TableColumn("p", "p", kind="p"),
        TableColumn("n", "n", priority=4),
        TableColumn("value", "the other’s", digits=1, priority=5),
        TableColumn("source", "scores", "left", priority=2),
    )
    title = f"{one_line(report.metric)} against every other metric"
    notes = (
        "Differences in agreement with people × 100, on the outputs that both have scored; beats, loses to: p ≤ .05.",
        "On single boards as `billboards rank` has it; over all boards on the outputs that all metrics have scored.",
    )
    return Table(title, columns, tuple(rows), notes, "rivals")


def _rival_row(column: str, block: str, rival: Rival) -> dict[str, object]:
    return {
        "column": column,
        "block": block,
        "verdict": rival.verdict,
        "name": rival.metric,
        "mark": STATISTIC if rival.is_statistic else "",
        "difference": 100 * rival.difference,
        "interval": None if rival.interval is None else _hundredths(rival.interval),
        "p": rival.p,
        "n": rival.n or None,
        "value": None if rival.value is None else 100 * rival.value,
        "source": rival.source,
    }


def columns_table(report: MetricReport) -> Table:
    """A line per column and block."""
    rows = tuple(_column_row(entry, report.statistic) for entry in report.columns if entry.measures or entry.reason)
    columns = (
        TableColumn("column", "column", "left"),
        TableColumn("dimension", "dimension", "left", visible=False),
        TableColumn("block", "refs", "left"),
        TableColumn("value", "agreement", digits=1),
        TableColumn("interval", "95% interval", digits=1, kind="interval", priority=2),
        TableColumn("p", "p", kind="p", priority=6),
        TableColumn("kendall", "Kendall", digits=1, priority=5),
        TableColumn("n", "n", priority=7),
        TableColumn("place", "place", "left"),
        TableColumn("best", "best here", "left", priority=1),
        TableColumn("ranks", "places otherwise", "left", priority=3),
        TableColumn("beats", "beats", "left", visible=False),
        TableColumn("beaten_by", "beaten by", "left", visible=False),
        TableColumn("reason", "why not", "left", visible=False),
    )
    title = f"{one_line(report.metric)} over {one_line(report.suite)}: agreement with people × 100"
    return Table(title, columns, rows, tuple(_column_notes(report)))


def _column_row(entry: MetricOnColumn, statistic: str) -> dict[str, object]:
    shown = entry.measures.get(statistic) or entry.measures.get("preferences")
    tau = entry.measures.get("kendall")
    best = (
        None
        if entry.best is None or entry.best_value is None
        else f"{entry.best} {value_text(100 * entry.best_value, 1)}"
    )
    return {
        "column": column_header(entry.column),
        "dimension": entry.column.dimension,
        "block": entry.block,
        "value": None if shown is None else 100 * shown.value,
        "interval": _ends(shown),
        "p": None if shown is None else shown.p,
        "kendall": None if tau is None else 100 * tau.value,
        "n": entry.n or None,
        "place": None if entry.rank is None else _place(entry),
        "best": best,
        "ranks": None if entry.ranks is None else f"{entry.ranks[0]} to {entry.ranks[1]}",
        "beats": entry.beats,
        "beaten_by": entry.beaten_by,
        "reason": entry.reason,
    }


def _ends(measure: Measure | None) -> tuple[float, float] | None:
    if measure is None or measure.interval is None:
        return None
    return 100 * measure.interval[0], 100 * measure.interval[1]


def _column_notes(report: MetricReport) -> Iterator[str]:
    yield overall_words(report)
    if report.statistic != "pearson":
        yield f"Agreement is {statistic_words(report.statistic)}."
    if any(entry.ranks for entry in report.columns):
        yield "Places otherwise: best and worst under other statistics, dimensions, and without single generators."
    compared = {entry.column.label for entry in report.columns if entry.column.given == "preferences"}
    if compared:
        yield f"{listed(sorted(compared))}: people gave preferences; (C − D)/(C + D) over pairs."
    yield from draft_notes(report.drafts)
    for board, reason in report.missing.items():
        yield f"Not run on {one_line(board)}: {one_line(reason)}"


def overall_words(report: MetricReport) -> str:
    """A metric's place over the whole suite, in a sentence."""
    standing, name = report.standing, one_line(report.metric)
    if standing is None or standing.rank is None or standing.value is None:
        return f"{name} has no place over all boards: {standing.reason if standing else 'no metric has one'}."
    beaten = f"; beaten by {listed(report.beaten_by, 6)}" if report.beaten_by else "; no metric beats it significantly"
    return (
        f"{name} is {standing.rank} of {report.of} over all boards, mean {value_text(100 * standing.value, 1)}{beaten}."
    )


def boards_table(report: MetricReport) -> Table:
    """Speed and overrating, board by board."""
    rows = tuple(
        {
            "board": entry.board,
            "metric": entry.metric if entry.metric != report.metric else None,
            "speed": None if entry.speed is None else entry.speed.per_second,
            "measured": None if entry.speed is None else entry.speed.measured,
            "human": entry.human,
            "overrating": None if entry.overrating is None else entry.overrating.beta0,
            "interval90": None if entry.overrating is None else entry.overrating.interval90,
            "verdict": None if entry.overrating is None else verdict(entry.overrating),
            "signature": entry.signature,
        }
        for entry in report.boards
    )
    judged = any(row["overrating"] is not None for row in rows)
    columns = (
        TableColumn("board", "board", "left"),
        TableColumn("metric", "run as", "left", visible=any(row["metric"] for row in rows)),
        TableColumn("speed", "outputs per second", digits=0),
        TableColumn("measured", "measured", "left"),
        TableColumn("human", "person", "left", visible=judged, priority=2),
        TableColumn("overrating", "overrating of machines", digits=2, visible=judged),
        TableColumn("interval90", "90% interval", digits=2, kind="interval", visible=judged, priority=1),
        TableColumn("verdict", "verdict", "left", visible=judged, priority=3),
        TableColumn("signature", "signature", "left", visible=False),
    )
    return Table(f"{one_line(report.metric)}: speed and overrating", columns, rows)


def failures_table(entry: MetricOnBoard) -> Table:
    """The outputs that a metric places furthest from where people do."""
    rows = tuple(_failure_row(failed) for failed in (*entry.too_high, *entry.too_low))
    compared = any(row["other"] for row in rows)
    columns = (
        TableColumn("metric_place", "its place" if compared else "metric", digits=2),
        TableColumn("human_place", "the other’s" if compared else "people", digits=2),
        TableColumn("instance", "instance", "left"),
        TableColumn("generator", "generator", "left", priority=2),
        TableColumn("output", "people prefer" if compared else "output", "left"),
        TableColumn("other", "the metric prefers", "left", visible=compared),
        TableColumn("reference", "reference", "left", priority=1),
    )
    by = "by the metric" if compared else "by the metric and by people"
    note = f"Places among the judged outputs {by}: 0 is the worst, 1 the best."
    return Table(f"{one_line(entry.board)}: where {one_line(entry.metric)} fails worst", columns, rows, (note,))


def _failure_row(failed: FailedOutput) -> dict[str, object]:
    return {
        "metric_place": failed.metric_place,
        "human_place": failed.human_place,
        "instance": clipped(failed.instance, 40),
        "generator": failed.generator or None,
        "output": clipped(failed.output),
        "other": clipped(failed.other) or None,
        "reference": clipped(failed.reference) or None,
    }


def metric_report_html(report: MetricReport) -> str:
    """The page."""
    return rendered(
        "metric_report.html.j2",
        title=one_line(report.metric),
        count=len(report.boards),
        words=(overall_words(report), *_overall_verdict(report), *_compared_words(report)),
        verdicts=tuple(_board_verdicts(report)),
        rivals=rivals_table(report) if _has_rivals(report) else None,
        checks=[(f"{c.kind.capitalize()} on {one_line(c.board)}", c.words or (c.reason or "",)) for c in report.checks],
        columns=columns_table(report),
        boards=boards_table(report),
        failures=[_failures(board) for board in report.boards if board.too_high or board.too_low],
        card=list(report.card.items()),
        settings=[
            ("intervals", f"95%, from {value_text(report.draws)} draws over instances"),
            ("seed", str(report.seed)),
            ("billboards", metadata.version("billboards")),
        ],
        signatures=[(entry.board, entry.signature) for entry in report.boards],
        download=data_uri("application/json", dumps(document_of(report))),
    )


def _failures(entry: MetricOnBoard) -> dict[str, object]:
    compared = any(failed.other for failed in entry.too_high)
    first = "Decided the wrong way" if compared else "Placed too high"
    sides = [(first, entry.too_high), ("Placed too low", entry.too_low)]
    return {
        "board": one_line(entry.board),
        "sides": [(title, [_as_read(f) for f in some]) for title, some in sides if some],
    }


def _as_read(failed: FailedOutput) -> dict[str, str]:
    places = f"metric {value_text(failed.metric_place, 2)}, people {value_text(failed.human_place, 2)}"
    return {
        "places": "" if failed.other else places,
        "where": " · ".join(filter(None, (one_line(failed.instance), one_line(failed.generator)))),
        "output": clipped(failed.output, READ),
        "other": clipped(failed.other, READ),
        "reference": clipped(failed.reference, READ),
    }
