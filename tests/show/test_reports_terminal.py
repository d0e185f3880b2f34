"""Tables in a terminal."""

from __future__ import annotations

import io
from dataclasses import replace

from examples_of_results import OVERRATING, RANKING
from rich.console import Console

from billboards.analyses.compare import DecidingOutput, MetricPair, MetricPairs, deciding_table, metric_pairs_table
from billboards.analyses.overrating import overrating_table
from billboards.analyses.rank import MetricStanding, Ranking, generator_table, metric_table, rank
from billboards.show.table import Table, TableColumn
from billboards.show.terminal import print_table


def printed(table: Table, width: int, *, wide: bool = False, colour: bool = False) -> str:
    console = Console(
        file=io.StringIO(), width=width, force_terminal=colour, color_system="standard" if colour else None
    )
    print_table(table, console, wide=wide)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def broad(metrics: int = 16) -> Ranking:
    """The same board with so many metrics, the best first."""
    names = [f"metric-{k:02}" for k in range(metrics)]
    standings = tuple(
        MetricStanding(
            name=name,
            signature=name,
            rank=k + 1,
            correlation=0.9 - k / 100,
            n=300,
            interval=None,
            references=(),
            origin="own",
            source_name=None,
            reference_free=False,
        )
        for k, name in enumerate(names)
    )
    scores = {"ensemble": 78.85, **dict.fromkeys(names, 0.4321)}
    generators = tuple(replace(g, scores=scores) for g in RANKING.generators)
    return replace(RANKING, metrics=standings, generators=generators)


def test_a_printed_result_says_in_python_how_to_see_all_columns() -> None:
    result = rank.show(broad())
    assert "columns don't fit here; to_text(wide=True) shows all." in str(result)
    assert "--wide" not in str(result)
    assert "don't fit" not in result.to_text(wide=True)


def test_names_of_compared_metrics_stay_whole_on_80_columns() -> None:
    names = "BERTScore(layer=17,idf)", "ROUGE-Lsum(stemmer=True)"
    pair = MetricPair(
        first=names[0], second=names[1], difference=0.1, p=0.01, holm=0.02, bh=0.03, n=300, accuracy=0.1,
        p_accuracy=0.01, pairs=900,
    )  # fmt: skip
    text = printed(
        metric_pairs_table(
            MetricPairs(board="b", aggregate="mqm", part="", unit="both", draws=1000, seed=0, compared=(pair,))
        ),
        80,
    )
    assert all(name in text for name in names)
    assert "Holm" in text
    assert max(map(len, text.splitlines()[:4])) <= 80


def test_names_of_compared_generators_stay_whole_on_80_columns() -> None:
    names = "Pegasus-dynamic-mix", "Closed-book-decoder"
    output = DecidingOutput(
        instance="1",
        generator=names[0],
        weight=1.0,
        human=83.3,
        first=83.3,
        second=41.7,
        output="some words " * 9,
        other="other words " * 9,
    )
    text = printed(deciding_table("outputs", (output,), names), 80)
    assert "first: Pegasus-dynamic-mix; second: Closed-book-decoder" in text
    assert {"first", "second", "output", "of"} <= set(text.split())
    assert "output of Atlas" in printed(deciding_table("outputs", (output,), ("Atlas", "Brisk")), 120)


def test_a_table_fits_the_terminal_keeps_what_ranks_and_says_what_it_left_out() -> None:
    text = printed(generator_table(broad()), 100)
    assert max(map(len, text.splitlines())) <= 100
    header = text.splitlines()[1].split()
    assert header[:5] == ["#", "generator", "ensemble", "people", "(mqm)"]
    assert "metric-00" in header
    assert "metric-01" in header
    assert "metric-15" not in header
    hidden = 16 - sum(name.startswith("metric-") for name in header)
    assert f"{hidden + ('judged' not in header)} of 21 columns don't fit here; --wide shows all." in text


def test_wide_shows_every_column_on_one_line_each_whatever_the_terminal() -> None:
    text = printed(generator_table(broad()), 60, wide=True)
    header = text.splitlines()[1].split()
    assert [f"metric-{k:02}" in header for k in range(16)] == [True] * 16
    assert "don't fit" not in text
    assert sum("Huoshan" in line for line in text.splitlines()) == 1


def test_numbers_are_aligned_at_their_right() -> None:
    lines = printed(overrating_table(OVERRATING), 100).splitlines()
    ends = [line.index(value) + len(value) for line, value in zip(lines[3:6], ("-0.58", "0.02", "0.62"), strict=True)]
    assert len(set(ends)) == 1


def test_a_name_is_never_taken_for_markup_and_cannot_colour_the_terminal() -> None:
    odd = replace(RANKING.generators[0], name="[bold red]x[/] \x1b[31m:smile:")
    text = printed(generator_table(replace(RANKING, generators=(odd,))), 120)
    assert "[bold red]x[/] \N{REPLACEMENT CHARACTER}[31m:smile:" in text
    assert "\x1b" not in text


def test_missing_values_are_dim() -> None:
    assert "\x1b[2m–" in printed(metric_table(RANKING), 120, colour=True).replace("\x1b[2m  ", "\x1b[2m")


def test_a_long_name_is_folded_and_not_cut() -> None:
    name = "generator-" + "x" * 90
    text = printed(generator_table(replace(RANKING, generators=(replace(RANKING.generators[0], name=name),))), 80)
    assert "".join(text.split()).count("x") >= 90


def test_a_table_without_rows_is_still_printed() -> None:
    assert "generator" in printed(generator_table(replace(RANKING, generators=())), 80)


def test_a_long_signature_goes_on_behind_a_bar_and_never_within_a_word() -> None:
    signature = "BLEU|case:mixed|eff:yes|tok:flores200-and-its-options|smooth:exp|version:2.6.0|kernel:1|asian:no"
    columns = (TableColumn("metric", "metric", "left"), TableColumn("signature", "signature", "left"))
    table = Table(title="signatures", columns=columns, rows=({"metric": "BLEU", "signature": signature},))
    lines = [line.split()[-1] for line in printed(table, 80).splitlines() if "|" in line]
    assert len(lines) == 3
    assert "".join(lines) == signature
    assert all(line.endswith("|") for line in lines[:-1])
