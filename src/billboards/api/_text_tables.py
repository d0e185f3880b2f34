"""Scores of texts as tables: one for each metric on a terminal, a long one for data, one of all metrics for a paper."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite

from billboards.api.texts import LEVEL, MetricScores, SystemScore, TextReport
from billboards.show.latex import escape_latex, latex_float
from billboards.show.table import Table, TableColumn, mean_digits
from billboards.show.words import headed, listed, one_line, value_text

_BOOTSTRAP, _RANDOMISATION = "*", "†"


def metric_table(report: TextReport, metric: MetricScores) -> Table:
    """Every system under one metric."""
    digits = _digits(metric)
    compared, sure = report.baseline is not None, any(isfinite(each.low) for each in metric.scores)
    columns = (
        TableColumn("output", "output", "left", kind="name"),
        TableColumn("score", headed(metric.label, higher_is_better=metric.higher_is_better), digits=digits),
        TableColumn("interval", "95% interval", digits=digits, kind="interval", visible=sure),
        TableColumn("difference", "difference", digits=digits, kind="change", visible=compared),
        TableColumn("p_bootstrap", "p (bs)", kind="p", visible=compared),
        TableColumn("p_randomisation", "p (ar)", kind="p", visible=compared),
    )
    rows = tuple(_row(each) for each in metric.scores)
    return Table(f"{metric.label}: {metric.signature}", columns, rows, tuple(_notes(report, metric)), metric.metric)


def long_table(report: TextReport) -> Table:
    """A row for each metric and system, with everything that is known of it."""
    columns = (
        TableColumn("metric", "metric", "left"),
        TableColumn("output", "output", "left", kind="name"),
        TableColumn("score", "score"),
        TableColumn("interval", "95% interval", kind="interval"),
        TableColumn("mean", "mean", visible=False),
        TableColumn("difference", "difference", kind="change"),
        TableColumn("p_bootstrap", "p (bs)", kind="p"),
        TableColumn("p_randomisation", "p (ar)", kind="p"),
        TableColumn("signature", "signature", "left", visible=False),
    )
    rows = (
        {"metric": metric.metric, **_row(each), "signature": metric.signature}
        for metric in report.metrics
        for each in metric.scores
    )
    return Table(_title(report), columns, tuple(rows), name="scores")


def report_latex(report: TextReport, *, bold: bool) -> str:
    r"""Systems by metrics with booktabs rules, ready to \input."""
    head = " & ".join(["System", *(escape_latex(head) for head in _heads(report))])
    body = []
    for k, system in enumerate(_names(report)):
        cells = [_latex_cell(metric, metric.scores[k], bold=bold) for metric in report.metrics]
        body.append(" & ".join([escape_latex(one_line(system)), *cells]))
    caption, *notes = _caption(report, bold=bold)
    return latex_float("l" + "r" * len(report.metrics), [head], [body], caption, None, notes=notes)


def report_markdown(report: TextReport, *, bold: bool) -> str:
    """Systems by metrics as a Markdown table with its explanation below."""
    lines = [f"| System | {' | '.join(_heads(report))} |", f"| --- |{' ---: |' * len(report.metrics)}"]
    for k, system in enumerate(_names(report)):
        cells = [_markdown_cell(metric, metric.scores[k], bold=bold) for metric in report.metrics]
        lines.append(f"| {' | '.join([_plain(system), *cells])} |")
    return "\n".join([*lines, "", _plain(" ".join(_caption(report, bold=bold))), ""])


def _row(each: SystemScore) -> dict[str, object]:
    return {
        "output": each.output,
        "score": each.score,
        "interval": (each.low, each.high),
        "mean": each.mean,
        "difference": each.difference,
        "p_bootstrap": each.p_bootstrap,
        "p_randomisation": each.p_randomisation,
    }


def _notes(report: TextReport, metric: MetricScores) -> Iterator[str]:
    if report.baseline is None:
        return
    if metric.randomisation_signature is None:
        yield f"{metric.metric} has no scores of single outputs: nothing to resample."
        return
    yield (
        f"p: whether a system differs from {report.baseline}; bs: paired bootstrap ({report.draws:,} resamples), "
        f"ar: approximate randomisation ({report.trials:,} trials), as sacreBLEU computes them."
    )
    if metric is report.metrics[0]:
        yield f"Signature of the randomisation: {metric.randomisation_signature}"
    equal = [each.output for each in metric.scores if each.difference == 0]
    if equal:
        yield f"{listed(equal)}: the same value as {report.baseline}; a p-value says nothing of no difference."


def _caption(report: TextReport, *, bold: bool) -> Iterator[str]:
    yield f"{_title(report)}."
    if any(isfinite(each.low) for metric in report.metrics for each in metric.scores):
        yield f"±: half the 95% interval ({report.draws:,} bootstrap resamples)."
    if report.baseline is not None:
        yield (
            f"{_BOOTSTRAP}, {_RANDOMISATION}: differs from {one_line(report.baseline)}, p < {LEVEL:.2f}, by paired "
            f"bootstrap, by approximate randomisation ({report.trials:,} trials)."
        )
    if bold:
        yield "Bold: the best value."
    yield f"Signatures: {'; '.join(f'{metric.label} {metric.signature}' for metric in report.metrics)}."


def _title(report: TextReport) -> str:
    systems, references = len(_names(report)), report.references
    of = f"{systems} systems" if systems > 1 else "One system"
    by = {0: "no reference", 1: "one reference"}.get(references, f"{references} references")
    return f"{of} on {report.lines:,} texts with {by}"


def _names(report: TextReport) -> list[str]:
    return [each.output for each in report.metrics[0].scores] if report.metrics else []


def _heads(report: TextReport) -> list[str]:
    return [headed(metric.label, higher_is_better=metric.higher_is_better) for metric in report.metrics]


def _digits(metric: MetricScores) -> int:
    return mean_digits(each.score for each in metric.scores)


def _marks(each: SystemScore) -> str:
    tests = ((_BOOTSTRAP, each.p_bootstrap), (_RANDOMISATION, each.p_randomisation))
    return "".join(mark for mark, p in tests if p is not None and p < LEVEL and each.difference)


def _texts(metric: MetricScores, each: SystemScore) -> tuple[str, str | None]:
    """A value and half its interval."""
    digits = _digits(metric)
    half = value_text(each.half_width, max(0, digits - 1)) if isfinite(each.low) else None
    return value_text(each.score, digits), half


def _latex_cell(metric: MetricScores, each: SystemScore, *, bold: bool) -> str:
    value, half = _texts(metric, each)
    value = rf"\textbf{{{value}}}" if bold and each.score == metric.best else value
    marks = "".join("{*}" if mark == _BOOTSTRAP else r"\dagger" for mark in _marks(each))
    around = "" if half is None else rf" {{\small $\pm$ {half}}}"
    return f"{value}{f'$^{{{marks}}}$' if marks else ''}{around}".replace("-", "$-$")


def _markdown_cell(metric: MetricScores, each: SystemScore, *, bold: bool) -> str:
    value, half = _texts(metric, each)
    value = f"**{value}**" if bold and each.score == metric.best else value
    return f"{value}{_marks(each).replace('*', chr(92) + '*')}{'' if half is None else f' ± {half}'}"


def _plain(text: str) -> str:
    """A text that Markdown shows as it is."""
    return "".join(f"\\{sign}" if sign in "\\`*_[]<>#|" else sign for sign in one_line(text))
