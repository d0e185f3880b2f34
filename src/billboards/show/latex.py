r"""Tables as LaTeX with booktabs rules, ready to \input into a paper.

Every text is escaped, so a generator called `a_b & 100%` compiles. Overrating has the compact form of the paper's
Table 12: a pair of lines per eight metrics, the half-width of the 90% interval as a subscript, red where machines are
significantly overrated and blue where people are. The preamble needs booktabs, and xcolor for overrating.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from billboards.analyses.ranking_results import OverratingEstimate, OverratingReport
from billboards.show.table import Table, TableColumn, shown
from billboards.show.words import value_text, verdict

_ESCAPED = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    # Right behind the \\ of the row above, these two would be read as its arguments.
    "[": "{[}",
    "*": "{*}",
    "–": "--",
    "−": "$-$",
    "·": r"$\cdot$",
    "×": r"$\times$",
    "±": r"$\pm$",
    "†": r"\textdagger{}",
    "‡": r"\textdaggerdbl{}",
    "§": r"\S{}",
}
#: Words that a paper writes as symbols.
_SYMBOLS = {"beta0": r"$\beta_0$", "lambda": r"$\lambda$"}


def escape_latex(text: str) -> str:
    """A text that LaTeX sets as it reads."""
    return "".join(_ESCAPED.get(character, character) for character in text)


def to_latex(table: Table, *, label: str | None = None) -> str:
    """A table as a float with its title and notes as the caption."""
    head = " & ".join(_SYMBOLS.get(column.header) or escape_latex(column.header) for column in table.visible)
    body = [" & ".join(_cell(c, t) for c, t in zip(table.visible, texts, strict=True)) for texts in shown(table)]
    layout = "".join("l" if column.align == "left" else "r" for column in table.visible)
    return _float(layout, [head], [body], " ".join((_sentence(table.title), *map(_sentence, table.notes))), label)


def overrating_latex(reports: Sequence[OverratingReport], *, per_line: int = 8, label: str | None = None) -> str:
    """Overrating on one or more boards in the form of the paper's Table 12."""
    blocks = [_overrating_lines(report, per_line) for report in reports]
    widest = max((min(per_line, len(report.metrics)) for report in reports), default=0)
    return _float("l" + "c" * widest, [], blocks, _overrating_caption(reports), label)


def _float(layout: str, head: list[str], blocks: Sequence[list[str]], caption: str, label: str | None) -> str:
    ruled = [*([head] if head else []), *blocks]
    lines = [r"\begin{table}[t]", r"\centering", rf"\begin{{tabular}}{{@{{}}{layout}@{{}}}}", r"\toprule"]
    for k, block in enumerate(ruled):
        lines += [r"\midrule"] if k else []
        lines += [rf"{line} \\" for line in block]
    lines += [r"\bottomrule", r"\end{tabular}", rf"\caption{{{escape_latex(caption)}}}"]
    lines += [rf"\label{{{label}}}"] if label else []
    return "\n".join((*lines, r"\end{table}", ""))


def _cell(column: TableColumn, text: str) -> str:
    """A number's minus is a minus, not a hyphen."""
    escaped = escape_latex(text)
    return re.sub(r"(?<![\w.])-(?=\d)", "$-$", escaped) if column.align == "right" else escaped


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


def _overrating_lines(report: OverratingReport, per_line: int) -> list[str]:
    estimates = sorted(report.metrics, key=lambda estimate: estimate.beta0)
    lines = []
    for start in range(0, len(estimates), per_line):
        part = estimates[start : start + per_line]
        name = escape_latex(report.board) if start == 0 else ""
        lines.append(" & ".join((name, *(escape_latex(estimate.name) for estimate in part))))
        lines.append(" & ".join(("", *map(_overrating_cell, part))))
    return lines


def _overrating_cell(estimate: OverratingEstimate) -> str:
    low, high = estimate.interval90
    value = value_text(estimate.beta0, 2).replace("-", "$-$")
    cell = rf"{value}$_{{\pm {value_text((high - low) / 2, 2)}}}$"
    colour = {"overrates machines": "red", "overrates people": "blue"}.get(verdict(estimate))
    return rf"\textcolor{{{colour}}}{{{cell}}}" if colour else cell


def _overrating_caption(reports: Sequence[OverratingReport]) -> str:
    against = "; ".join(f"{r.board}: {r.human} against {', '.join(r.references) or 'no references'}" for r in reports)
    return (
        "Fixed-effect coefficients of the mixed-effects models: how much metrics overrate machines over people, in "
        "their standard deviations. 0 is neutral, red significantly positive, blue significantly negative; subscripts "
        f"are 90% confidence intervals. {against}."
    )
