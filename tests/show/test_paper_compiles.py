"""Tables and figures in a paper: compiled by a real TeX, in one column and in two, and read back from the PDF."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from examples_of_results import OVERRATING, RANKING

from billboards.analyses._standing_out import StandsOut
from billboards.analyses.overrating import overrating_forest, overrating_latex
from billboards.analyses.rank import correlation_bars, generator_table, metric_table
from billboards.show.arranging import arrange
from billboards.show.figures import save_chart
from billboards.show.latex import to_latex
from billboards.show.table import Table, TableColumn

pytestmark = pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex (texlive-latex-recommended)")

ARTICLE = r"\documentclass{article}"
#: A page as that of the ACL's conferences: two columns of 7.7 cm.
TWO_COLUMNS = r"""\documentclass[11pt,a4paper,twocolumn]{article}
\usepackage[margin=2.5cm]{geometry}
\setlength{\columnsep}{0.6cm}"""
NAMES = ["a_b & 100%", "{x} #1 ~ ^ \\", "naïve Łódź ő", "中 Ω ≤", "[1] *", 'say "so" `now`', "<b> | $5", "Ħ ŋ"]


def many_heads() -> Table:
    """Two tasks over three boards, a block for each kind of metric, marks, and names that TeX would trip over."""
    columns = (
        TableColumn("name", "metric", "left", kind="name"),
        TableColumn("a", "A&B", digits=1, heads=("summarization", "English"), better="higher"),
        TableColumn("b", "C_1", digits=1, heads=("summarization", "English"), better="higher"),
        TableColumn("c", "D%", digits=1, heads=("summarization", "German"), better="higher"),
        TableColumn("d", "E#", digits=1, heads=("translation", "German"), better="lower"),
    )
    rows = tuple(
        {"name": name, "a": 40.0 + k, "b": -3.0 * k, "c": None, "d": 0.5 * k, "block": k // 4}
        for k, name in enumerate(NAMES)
    )
    return Table(
        "Agreement: 100% of A & B_1",
        columns,
        rows,
        ("+: better than a_b & 100% (p ≤ .05).",),
        "many",
        best={"a": frozenset({6, 7})},
        best_note="Bold: the best, and all not significantly worse.",
        marks={"a": {7: "+"}, "b": {2: "†"}},
        block="block",
    )


def ranked() -> StandsOut:
    return StandsOut(
        metrics=("COMET", "COMET-QE"),
        generators={"ensemble": ("Huoshan", "THUNLP")},
        baseline="THUNLP",
        p_generators={"ensemble": {"trans_base & 100%": 0.001, "Huoshan": 0.2}},
    )


@pytest.fixture(scope="module")
def papers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The text of each paper's PDF, as a reader finds it."""
    folder = tmp_path_factory.mktemp("paper")
    ranking = replace(RANKING, outstanding=ranked())
    tables = {
        "metrics": to_latex(metric_table(ranking), label="tab:metrics"),
        "generators": to_latex(arrange(generator_table(ranking), {"heat": True}), star=True, label="tab:generators"),
        "many": to_latex(many_heads(), label="tab:many"),
        "overrating": overrating_latex([OVERRATING], per_line=3, label="tab:overrating"),
    }
    for name, text in tables.items():
        (folder / f"{name}.tex").write_text(text, encoding="utf-8")
    save_chart(correlation_bars(RANKING, theme="paper"), folder / "agreement.pdf")
    save_chart(overrating_forest(OVERRATING, theme="paper"), folder / "forest.pdf")
    return {name: compiled(folder, name, head) for name, head in (("one", ARTICLE), ("two", TWO_COLUMNS))}


def compiled(folder: Path, name: str, head: str) -> str:
    inputs = [rf"\input{{{table}}}" for table in ("metrics", "generators", "many", "overrating")]
    figures = [
        rf"\begin{{figure}}[t]\centering\includegraphics{{{chart}.pdf}}\caption{{{chart}}}\end{{figure}}"
        for chart in ("agreement", "forest")
    ]
    body = r"See Tables~\ref{tab:metrics}, \ref{tab:generators}, \ref{tab:many} and \ref{tab:overrating}. "
    packages = r"\usepackage{booktabs,colortbl,xcolor,graphicx}"
    parts = [head, packages, r"\begin{document}", body, *inputs, *figures, r"\end{document}"]
    (folder / f"{name}.tex").write_text("\n".join(parts), encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", f"{name}.tex"]
    for _ in range(2):
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True, errors="replace", check=False)
        assert run.returncode == 0, run.stdout[-3000:]
    log = (folder / f"{name}.log").read_text("utf-8", "replace")
    assert "undefined" not in log
    assert "Missing character" not in log
    if name == "two":
        wide = [line for line in log.splitlines() if line.startswith("Overfull") and _points(line) > 2]
        assert wide == []
    read = subprocess.run(
        ["pdftotext", "-layout", f"{name}.pdf", "-"], cwd=folder, capture_output=True, text=True, check=True
    )
    return read.stdout


def _points(line: str) -> float:
    return float(line.split("(")[1].split("pt")[0])


@pytest.mark.parametrize("paper", ["one", "two"])
def test_four_tables_and_two_figures_compile_and_read_as_they_were_meant(papers: dict[str, str], paper: str) -> None:
    text = " ".join(papers[paper].split())
    for words in (
        "tiny: metrics by Pearson correlation with people (mqm).",
        "tiny: generators by ensemble.",
        "Agreement: 100% of A & B 1.",
        "summarization translation",
        "a b & 100%",
        "47.0+",
        "U+4E2D",
        "Pearson correlation with people (mqm)",
        "beta0, in standard deviations of the metric",
        "Tables 1, 2, 3 and 4",
    ):
        assert words in text, words


def test_the_text_of_figures_is_text_in_an_embedded_font(tmp_path: Path) -> None:
    (file,) = save_chart(overrating_forest(OVERRATING, theme="paper"), tmp_path / "forest.pdf")
    fonts = subprocess.run(["pdffonts", str(file)], capture_output=True, text=True, check=True).stdout.splitlines()[2:]
    assert fonts
    assert all(line.split()[-5] == "yes" for line in fonts)
    size = subprocess.run(["pdfinfo", str(file)], capture_output=True, text=True, check=True).stdout
    width = float(size.split("Page size:")[1].split()[0])
    assert width == pytest.approx(3.03 * 72, abs=1)
