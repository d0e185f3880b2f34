r"""Tables as LaTeX with booktabs rules, ready to \input into a paper.

The caption is short, and what else must be said stands as notes below the table. The best of a column is bold, signs
behind values are raised, columns under one head are spanned. A table fits one column of a two-column page, or with
`star` both: letters get smaller first, then the columns that matter least are left out, which a comment says.

Every text is escaped, so a generator called `a_b & 100%` compiles. Letters that pdfLaTeX has no font for, such as
Chinese ones, are set by XeLaTeX and LuaLaTeX, and by pdfLaTeX as their numbers. The preamble needs booktabs, and
colortbl where cells are coloured; the first line of a table says which.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from billboards.options import Named, options_of
from billboards.show.arranging import for_paper, short_caption
from billboards.show.table import Table, TableColumn, head_lines, shown
from billboards.show.words import MISSING, interval_text

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
    # Doubled, or behind one another, these would be other signs.
    "`": r"\textasciigrave{}",
    '"': r"\char34{}",
    "–": "--",
    "—": "---",
    "‐": "-",
    "‑": "-",
    "−": "$-$",
    "·": r"$\cdot$",
    "×": r"$\times$",
    "÷": r"$\div$",
    "±": r"$\pm$",
    "¬": r"$\neg$",
    "°": r"$^{\circ}$",
    "²": "$^2$",
    "³": "$^3$",
    "¹": "$^1$",
    "µ": r"$\mu$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "≠": r"$\neq$",
    "≈": r"$\approx$",
    "∞": r"$\infty$",
    "√": r"$\surd$",
    "Σ": r"$\Sigma$",
    "←": r"$\leftarrow$",
    "→": r"$\rightarrow$",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "↔": r"$\leftrightarrow$",
    "½": "1/2",
    "¼": "1/4",
    "¾": "3/4",
    "‘": "`",
    "’": "'",
    "“": "``",
    "”": "''",
    "…": r"\ldots{}",
    "†": r"$\dagger$",
    "‡": r"$\ddagger$",
    "§": r"$\mathsection$",
    "¶": r"$\mathparagraph$",
    "•": r"$\bullet$",
    "©": r"\textcopyright{}",
    "®": r"\textregistered{}",
    "™": r"\texttrademark{}",
    "\N{NO-BREAK SPACE}": "~",
    "\N{THIN SPACE}": r"\,",
    "\N{NARROW NO-BREAK SPACE}": r"\,",
}
_GREEK = {
    "α": r"$\alpha$",
    "β": r"$\beta$",
    "γ": r"$\gamma$",
    "δ": r"$\delta$",
    "ε": r"$\varepsilon$",
    "ζ": r"$\zeta$",
    "η": r"$\eta$",
    "θ": r"$\theta$",
    "ι": r"$\iota$",
    "κ": r"$\kappa$",
    "λ": r"$\lambda$",
    "μ": r"$\mu$",
    "ν": r"$\nu$",
    "ξ": r"$\xi$",
    "π": r"$\pi$",
    "ρ": r"$\rho$",
    "σ": r"$\sigma$",
    "τ": r"$\tau$",
    "υ": r"$\upsilon$",
    "φ": r"$\varphi$",
    "χ": r"$\chi$",
    "ψ": r"$\psi$",
    "ω": r"$\omega$",
    "Γ": r"$\Gamma$",
    "Δ": r"$\Delta$",
    "Θ": r"$\Theta$",
    "Λ": r"$\Lambda$",
    "Ξ": r"$\Xi$",
    "Π": r"$\Pi$",
    "Φ": r"$\Phi$",
    "Ψ": r"$\Psi$",
    "Ω": r"$\Omega$",
}
#: Letters beyond ASCII that LaTeX sets in every usual font.
_LETTERS = frozenset("ÆæŒœØøÅåŁłßıȷ¡¿£")
#: Accents, as they combine with a letter, and their commands.
_ACCENTS = {
    "\N{COMBINING GRAVE ACCENT}": r"\`",
    "\N{COMBINING ACUTE ACCENT}": r"\'",
    "\N{COMBINING CIRCUMFLEX ACCENT}": r"\^",
    "\N{COMBINING TILDE}": r"\~",
    "\N{COMBINING MACRON}": r"\=",
    "\N{COMBINING BREVE}": r"\u",
    "\N{COMBINING DOT ABOVE}": r"\.",
    "\N{COMBINING DIAERESIS}": '\\"',
    "\N{COMBINING RING ABOVE}": r"\r",
    "\N{COMBINING DOUBLE ACUTE ACCENT}": r"\H",
    "\N{COMBINING CARON}": r"\v",
    "\N{COMBINING CEDILLA}": r"\c",
}
#: What sets a letter that pdfLaTeX may have no font for; a paper may define it otherwise.
OTHER_LETTER = (
    r"\providecommand{\otherletter}[2]{\ifx\Umathchardef\undefined{\ttfamily U+#2}\else#1\fi}"
    r"% a letter that pdfLaTeX may have no font for"
)
#: Words that a paper writes as symbols.
_SYMBOLS = {"beta0": r"$\beta_0$", "lambda": r"$\lambda$"}
#: The ground of the darkest cell of a heat map, light enough for black figures; grey prints keep the order.
_DARKEST = (0.55, 0.72, 0.88)
#: How wide one column and both columns of a two-column page are, in points, and the sizes of letters.
COLUMN, PAGE = 219.0, 455.0
_SIZES = {r"\small": 10.0, r"\footnotesize": 9.0, r"\scriptsize": 8.0}
_GAP = 8.0


def escape_latex(text: str) -> str:
    """A text that LaTeX sets as it reads."""
    return "".join(map(_letter, unicodedata.normalize("NFC", text)))


def _letter(letter: str) -> str:
    if letter in _ESCAPED:
        return _ESCAPED[letter]
    if letter in _GREEK:
        return _GREEK[letter]
    if letter.isascii() or letter in _LETTERS:
        return letter
    base, *accents = list(unicodedata.normalize("NFD", letter))
    if len(accents) == 1 and accents[0] in _ACCENTS and base.isascii() and base.isalpha():
        # As a command, because single fonts of pdfLaTeX know some of these letters, and every one knows the accents.
        dotless = rf"\{base}" if base in "ij" and accents[0] != "\N{COMBINING CEDILLA}" else base
        return rf"{_ACCENTS[accents[0]]}{{{dotless}}}"
    return rf"\otherletter{{{letter}}}{{{ord(letter):04X}}}"


def to_latex(
    table: Table,
    *,
    label: Annotated[str | None, Named(metavar="KEY"), r"LaTeX: the key that \ref takes, as in tab:metrics"] = None,
    star: Annotated[bool, "LaTeX: a table* over both columns of a page"] = False,
    wide: bool = False,
) -> str:
    """A table as a float: rules, a short caption, and notes below; `wide` leaves no column out, however many."""
    printed = for_paper(table) if not wide else replace(for_paper(table), columns=table.columns)
    fit = _fitting(printed, PAGE if star else COLUMN, wide=wide)
    left_out = [column.header for column in printed.visible if column not in fit.columns]
    printed = printed.without(column.key for column in printed.visible if column not in fit.columns)
    caption, rest = short_caption(table)
    notes = [_sentence(text) for text in (rest, *printed.notes) if text]
    head = list(_heads(printed.visible, broken=fit.broken))
    blocks = _blocks(printed)
    comment = f"left out, because they don't fit: {', '.join(left_out)}; --columns or --wide" if left_out else ""
    if fit.too_wide:
        comment = "too wide for a page: choose fewer --columns" if star else "too wide for one column: --star has two"
    return latex_float(
        _layout(printed.visible),
        head,
        blocks,
        _sentence(caption),
        label,
        notes=notes,
        size=fit.size,
        star=star,
        packages=("booktabs", "colortbl") if printed.heat else ("booktabs",),
        comment=comment,
    )


LATEX = tuple(option for option in options_of(to_latex) if option.name != "wide")


def latex_float(
    layout: str,
    head: list[str],
    blocks: Sequence[list[str]],
    caption: str,
    label: str | None,
    *,
    notes: Sequence[str] = (),
    size: str = r"\small",
    star: bool = False,
    packages: Sequence[str] = ("booktabs",),
    comment: str = "",
) -> str:
    """Lines of a table in their float; caption and notes are plain words, everything else is LaTeX."""
    environment = "table*" if star else "table"
    lines = [f"% The preamble needs: {', '.join(packages)}"]
    lines += [f"% {_ascii(comment)}"] if comment else []
    body = [line for block in ([head] if head else []) + list(blocks) for line in block]
    words = [escape_latex(caption), *map(escape_latex, notes)]
    lines += [OTHER_LETTER] if any(r"\otherletter" in text for text in (*body, *words)) else []
    lines += [rf"\begin{{{environment}}}[t]", rf"\centering{size}", r"\setlength{\tabcolsep}{4pt}"]
    lines += [rf"\begin{{tabular}}{{@{{}}{layout}@{{}}}}", r"\toprule"]
    for k, block in enumerate([*([head] if head else []), *blocks]):
        lines += [r"\midrule"] if k else []
        lines += [line if line.startswith(r"\cmidrule") else rf"{line} \\" for line in block]
    lines += [r"\bottomrule", r"\end{tabular}"]
    if notes:
        lines += [r"\par\vspace{3pt}", r"\begin{minipage}{0.98\linewidth}\footnotesize\raggedright"]
        lines += words[1:]
        lines += [r"\end{minipage}"]
    lines += [rf"\caption{{{words[0]}}}"]
    lines += [rf"\label{{{label}}}"] if label else []
    return "\n".join((*lines, rf"\end{{{environment}}}", ""))


def _ascii(text: str) -> str:
    """A text for a comment: one line, whose letters no encoding changes."""
    return " ".join(text.split()).encode("ascii", "replace").decode()


@dataclass(frozen=True, kw_only=True)
class _Fit:
    """Which columns a width holds, in which size of letters, and whether heads stand on several lines."""

    columns: tuple[TableColumn, ...]
    size: str
    broken: bool
    too_wide: bool = False


def _fitting(table: Table, width: float, *, wide: bool) -> _Fit:
    """The columns that fit, in the largest letters; heads are broken before letters get tiny or a column goes."""
    texts = dict(zip((c.key for c in table.visible), zip(*_texts(table), strict=True), strict=False))
    columns = table.visible
    while True:
        for broken in (False, True):
            for size, points in list(_SIZES.items())[:2]:
                if _width(columns, texts, points, broken=broken) <= width:
                    return _Fit(columns=columns, size=size, broken=broken)
        if wide or not any(column.priority for column in columns):
            size, points = list(_SIZES.items())[-1]
            too_wide = _width(columns, texts, points, broken=True) > width
            return _Fit(columns=columns, size=size, broken=True, too_wide=too_wide)
        least = max(columns, key=lambda column: column.priority)
        columns = tuple(column for column in columns if column is not least)


def _width(columns: Sequence[TableColumn], texts: Mapping[str, Sequence[str]], size: float, *, broken: bool) -> float:
    """How many points columns take in letters of a size, heads that span them among these."""
    own = [max(map(_letters, (*_parts_of(c, broken=broken), *texts.get(c.key, ())))) * size / 10 for c in columns]
    for line in reversed(head_lines(columns)):
        place = 0
        for text, span in line:
            below = sum(own[place : place + span]) + _GAP * (span - 1)
            own[place + span - 1] += max(0.0, _letters(text) * size / 10 - below)
            place += span
    return sum(own) + _GAP * (len(columns) - 1)


def _parts_of(column: TableColumn, *, broken: bool) -> list[str]:
    return (column.header.split() or [""]) if broken else [column.header]


def _letters(text: str) -> float:
    """About how wide a text is in letters of ten points."""
    return sum(map(_letter_width, text))


def _letter_width(letter: str) -> float:
    if letter in "iljtfr.,:;'|![]() ":
        return 3.5
    if letter in "mwMW%@-–−+<>=—&":
        return 8.3
    if letter.isascii() or letter in _ESCAPED or letter in _GREEK:
        return 7.2 if letter.isupper() else 5.2
    # Four or five digits behind U+ where there is no such letter.
    return 33.0 if r"\otherletter" in _letter(letter) else 5.5


def _layout(columns: Sequence[TableColumn]) -> str:
    return "".join("l" if column.align == "left" else "r" for column in columns)


def _heads(columns: Sequence[TableColumn], *, broken: bool) -> Iterator[str]:
    """The lines of the head; those above the last have a thin rule under each head that spans."""
    for line in head_lines(columns):
        cells, rules, start = [], [], 1
        for text, span in line:
            spanned = text != ""
            cells.append(rf"\multicolumn{{{span}}}{{c}}{{{escape_latex(text)}}}" if spanned else "")
            rules += [rf"\cmidrule(lr){{{start}-{start + span - 1}}}"] if spanned else []
            start += span
        yield " & ".join(cells)
        yield " ".join(rules)
    yield " & ".join(_head(column, broken=broken) for column in columns)


def _head(column: TableColumn, *, broken: bool) -> str:
    text = _SYMBOLS.get(column.header) or _raised(escape_latex(column.header))
    if broken and " " in column.header:
        text = rf"\shortstack[{column.align[0]}]{{{text.replace(' ', chr(92) * 2)}}}"
    return rf"\multicolumn{{1}}{{c}}{{{text}}}" if column.heads else text


def _blocks(table: Table) -> list[list[str]]:
    blocks: list[list[str]] = []
    rules = table.rules
    for k, texts in enumerate(_texts(table)):
        if k in rules or not blocks:
            blocks.append([])
        cells = zip(table.visible, texts, strict=True)
        blocks[-1].append(" & ".join(_cell(table, k, column, text) for column, text in cells))
    return blocks


def _texts(table: Table) -> list[tuple[str, ...]]:
    """What stands in the cells; intervals in brackets, as papers have them."""
    return [
        tuple(
            _bracketed(row.get(column.key), column.digits) if column.kind == "interval" else text
            for column, text in zip(table.visible, texts, strict=True)
        )
        for row, texts in zip(table.rows, shown(table), strict=True)
    ]


def _bracketed(interval: object, digits: int | None) -> str:
    text = interval_text(interval, digits)
    return text if text == MISSING else f"[{text.replace(' to ', ', ')}]"


def _cell(table: Table, row: int, column: TableColumn, text: str) -> str:
    """A cell with its ground, its weight and its sign; a number's minus is a minus, not a hyphen."""
    escaped = escape_latex(text)
    if column.align == "right":
        escaped = re.sub(r"(?<![\w.])-(?=\d)", "$-$", escaped)
    if column.kind == "name":
        escaped = _raised(escaped)
    if table.is_best(row, column.key):
        escaped = rf"\textbf{{{escaped}}}".replace("$-$", r"$\mathbf{-}$")
    mark = table.mark(row, column.key)
    if mark:
        # Beside the number and not part of its width, so that decimal points stay in line.
        escaped += rf"\rlap{{\textsuperscript{{{escape_latex(mark)}}}}}"
    shade = table.heat.get(column.key, {}).get(row)
    return escaped if shade is None else rf"\cellcolor[rgb]{{{_ground(shade)}}}{escaped}"


_SIGN = re.compile(r" (\$\\(?:dagger|ddagger|mathsection|mathparagraph)\$)$")


def _raised(escaped: str) -> str:
    """A sign behind a name as papers set it."""
    return _SIGN.sub(r"\\textsuperscript{\1}", escaped)


def _ground(shade: float) -> str:
    return ",".join(f"{1 - shade * (1 - end):.3f}" for end in _DARKEST)


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."
