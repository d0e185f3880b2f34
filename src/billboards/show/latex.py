r"""Tables as LaTeX with booktabs rules, ready to \input into a paper.

Every text is escaped, so a generator called `a_b & 100%` compiles. Overrating has the compact form of the paper's
Table 12: a pair of lines per eight metrics, the half-width of the 90% interval as a subscript, red where machines are
significantly overrated and blue where people are. The preamble needs booktabs, and xcolor for overrating.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from billboards.show.table import Table, TableColumn, shown

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
    "↓": r"$\downarrow$",
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
    return latex_float(layout, [head], [body], " ".join((_sentence(table.title), *map(_sentence, table.notes))), label)


def latex_float(layout: str, head: list[str], blocks: Sequence[list[str]], caption: str, label: str | None) -> str:
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
