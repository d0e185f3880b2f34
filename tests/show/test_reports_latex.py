"""Tables as LaTeX."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from examples_of_results import OVERRATING, RANKING, STUDY

from billboards.analyses.ensemble import ablation_table
from billboards.analyses.overrating import overrating_latex
from billboards.analyses.rank import generator_table
from billboards.show.latex import escape_latex, to_latex
from billboards.show.table import Table, TableColumn

SCORES = Table(
    "tiny generators. The score is from the metric that ranks (ensemble).",
    (TableColumn("name", "Generator", "left", kind="name"), TableColumn("score", "Score", digits=2)),
    tuple({"name": g.name, "score": g.scores["ensemble"]} for g in RANKING.generators if g.rank is not None),
)


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("a_b & 100%", r"a\_b \& 100\%"),
        (r"\input{x}", r"\textbackslash{}input\{x\}"),
        ("$x^2$ #1 ~", r"\$x\textasciicircum{}2\$ \#1 \textasciitilde{}"),
        ("1.72·COMET", r"1.72$\cdot$COMET"),
        ("Human-B ‡", r"Human-B $\ddagger$"),
        ("café ō ř İ", r"caf\'{e} \={o} \v{r} \.{I}"),
        ("naïve", r"na\"{\i}ve"),
        ("α → 中", r"$\alpha$ $\rightarrow$ \otherletter{中}{4E2D}"),
        ("[x]*", "{[}x]{*}"),
    ],
)
def test_every_character_that_latex_would_read_as_a_command_is_escaped(text: str, latex: str) -> None:
    assert escape_latex(text) == latex


def test_a_table_of_scores_is_a_booktabs_table_as_in_the_paper() -> None:
    assert to_latex(SCORES, label="tab:tiny").splitlines() == [
        "% The preamble needs: booktabs",
        r"\begin{table}[t]",
        r"\centering\small",
        r"\setlength{\tabcolsep}{4pt}",
        r"\begin{tabular}{@{}lr@{}}",
        r"\toprule",
        r"Generator & Score \\",
        r"\midrule",
        r"Huoshan & 78.85 \\",
        r"THUNLP & 78.50 \\",
        r"\textless{}script\textgreater{}alert(1)\textless{}/script\textgreater{} & 78.50 \\",
        r"trans\_base \& 100\% & 73.10 \\",
        r"\bottomrule",
        r"\end{tabular}",
        r"\caption{tiny generators. The score is from the metric that ranks (ensemble).}",
        r"\label{tab:tiny}",
        r"\end{table}",
    ]


def test_every_row_has_as_many_cells_as_the_table_has_columns() -> None:
    for wide, cells in ((True, 9), (False, 3)):
        latex = to_latex(generator_table(RANKING), wide=wide)
        rows = [line for line in latex.splitlines() if line.endswith(r" \\")]
        assert len(rows) == 6
        assert {len(re.findall(r"(?<!\\)&", row)) for row in rows} == {cells}


def test_a_minus_is_a_minus_and_lambda_a_letter() -> None:
    latex = to_latex(ablation_table(STUDY), wide=True)
    assert "COMET-QE & 0.575 & $-$0.030 &" in latex
    assert r"$\lambda$" in latex


def test_overrating_has_half_intervals_as_subscripts_and_colours_for_significance() -> None:
    lines = overrating_latex([OVERRATING]).splitlines()
    assert r"tiny & TER & COMET & BLEU \\" in lines
    assert (
        r" & \textcolor{blue}{\textbf{$-$0.58}$_{\pm 0.14}$} & 0.02$_{\pm 0.11}$ & "
        r"\textcolor{red}{\textbf{0.62}$_{\pm 0.02}$} \\" in lines
    )


def test_more_metrics_than_fit_go_on_below_and_boards_are_parted_by_a_rule() -> None:
    lines = overrating_latex([OVERRATING, replace(OVERRATING, board="second")], per_line=2).splitlines()
    assert r"\begin{tabular}{@{}lcc@{}}" in lines
    body = lines[lines.index(r"\toprule") + 1 : lines.index(r"\bottomrule")]
    assert [line.split(" & ")[0].strip() for line in body] == ["tiny", "", "", "", r"\midrule", "second", "", "", ""]
