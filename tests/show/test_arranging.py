"""Tables as somebody wants to print them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from billboards.errors import UnknownName
from billboards.show.arranging import arrange, for_paper, names_in, short_caption
from billboards.show.frames import table_html
from billboards.show.latex import to_latex
from billboards.show.markdown import to_markdown
from billboards.show.table import Table, TableColumn, head_lines, records, shown

TABLE = Table(
    "A title",
    (
        TableColumn("name", "metric", "left", kind="name"),
        TableColumn("a", "SummEval", digits=2, heads=("summaries",), better="higher"),
        TableColumn("b", "WMT", digits=2, heads=("translation",), better="lower"),
        TableColumn("n", "n", paper=False),
    ),
    (
        {"name": "BLEU", "a": 0.125, "b": 3.0, "n": 10, "kind": "old"},
        {"name": "chrF(beta=1,order=6)", "a": 0.5, "b": 2.0, "n": 10, "kind": "old"},
        {"name": "COMET", "a": 0.51, "b": 1.0, "n": 9, "kind": "new"},
    ),
    ("A note.", "An aside."),
    "metrics",
    asides=("An aside.",),
    best={"a": frozenset({1, 2})},
    best_note="Bold: tested.",
    marks={"a": {2: "+"}},
    block="kind",
)


def test_columns_are_chosen_by_key_by_head_or_by_pattern_in_the_order_asked_for() -> None:
    assert [c.key for c in arrange(TABLE, {"columns": "b,name"}).visible] == ["b", "name"]
    assert [c.key for c in arrange(TABLE, {"columns": ["translation wmt", "n"]}).visible] == ["b", "n"]
    assert [c.key for c in arrange(TABLE, {"columns": "n*,?"}).visible] == ["name", "n", "a", "b"]
    assert set(records(arrange(TABLE, {"columns": "b"}))[0]) == {"b", "name", "a", "n"}


def test_chosen_rows_keep_what_stands_out_and_say_that_it_is_of_all_rows() -> None:
    chosen = arrange(TABLE, {"rows": "COMET,BLEU"})
    assert [row["name"] for row in chosen.rows] == ["COMET", "BLEU"]
    assert chosen.best == {"a": frozenset({0})}
    assert chosen.marks == {"a": {0: "+"}}
    assert chosen.best_note == "Bold: tested. Best of all 3 rows, of which 2 are shown."
    assert arrange(TABLE, {"rows": "chrF(beta=1,order=6)"}).rows == (TABLE.rows[1],)


@pytest.mark.parametrize(("options", "words"), [({"rows": "BLUE"}, "BLEU"), ({"columns": "nmae"}, "name")])
def test_what_is_not_there_is_named_with_what_is(options: dict[str, str], words: str) -> None:
    with pytest.raises(UnknownName, match=words):
        arrange(TABLE, options)


def test_names_are_parted_at_commas_outside_brackets() -> None:
    assert names_in("BLEU, chrF(beta=1,order=6),ROUGE-L[recall,f] ,") == [
        "BLEU",
        "chrF(beta=1,order=6)",
        "ROUGE-L[recall,f]",
    ]
    assert names_in("odd(name, b") == ["odd(name", "b"]


def test_digits_change_decimal_numbers_and_no_counts() -> None:
    assert shown(arrange(TABLE, {"digits": 1}))[0] == ("BLEU", "0.1", "3.0", "10")


def test_bold_is_what_was_tested_the_best_alone_or_nothing() -> None:
    assert arrange(TABLE, {}).best == {"a": frozenset({1, 2})}
    assert arrange(TABLE, {"bold": "best"}).best == {"a": frozenset({2}), "b": frozenset({2})}
    assert arrange(TABLE, {"bold": "none"}).best == {}


def test_heat_is_darkest_where_a_value_is_best_whichever_end_that_is() -> None:
    heat = arrange(TABLE, {"heat": True}).heat
    assert heat["b"] == {0: 0.0, 1: 0.5, 2: 1.0}
    assert "n" not in heat


def test_a_paper_has_fewer_columns_and_notes_and_is_told_how_bold_was_tested() -> None:
    printed = for_paper(TABLE)
    assert [c.key for c in printed.visible] == ["name", "a", "b"]
    assert printed.notes == ("A note.", "Bold: tested.")
    assert for_paper(arrange(TABLE, {"notes": "all"})).notes == ("A note.", "An aside.", "Bold: tested.")
    assert for_paper(arrange(TABLE, {"notes": "none"})).notes == ()
    assert for_paper(arrange(TABLE, {"columns": "name,b"})).notes == ("A note.",)


def test_a_long_title_is_a_short_caption_and_goes_on_below() -> None:
    table = replace(TABLE, title=f"{'What stands here. ' * 8}And more (of all kinds).")
    caption, rest = short_caption(table)
    assert len(caption) <= 150
    assert f"{caption} {rest}" == table.title
    assert short_caption(replace(table, caption="Short.")) == ("Short.", "")
    assert len(short_caption(replace(TABLE, title="word " * 60))[0]) <= 150


def test_heads_that_are_shared_are_spanned_and_those_below_others_only_with_them() -> None:
    columns = [
        TableColumn("name", "metric"),
        TableColumn("a", "1", heads=("x", "y")),
        TableColumn("b", "2", heads=("x", "y")),
        TableColumn("c", "3", heads=("z", "y")),
        TableColumn("d", "4", heads=("y",)),
    ]
    assert head_lines(columns) == [
        [("", 1), ("x", 2), ("z", 1), ("", 1)],
        [("", 1), ("y", 2), ("y", 1), ("y", 1)],
    ]


def test_latex_has_spanned_heads_rules_between_blocks_bold_and_raised_marks() -> None:
    lines = to_latex(TABLE).splitlines()
    assert r" & \multicolumn{1}{c}{summaries} & \multicolumn{1}{c}{translation} \\" in lines
    assert r"\cmidrule(lr){2-2} \cmidrule(lr){3-3}" in lines
    assert r"COMET & \textbf{0.51}\rlap{\textsuperscript{+}} & 1.00 \\" in lines
    assert lines[lines.index(r"COMET & \textbf{0.51}\rlap{\textsuperscript{+}} & 1.00 \\") - 1] == r"\midrule"


def test_latex_leaves_out_what_matters_least_where_a_column_is_too_narrow_and_says_so() -> None:
    extra = tuple(TableColumn(f"c{k}", f"a long head {k}", digits=2, priority=k) for k in range(1, 9))
    rows = tuple({**row, **{f"c{k}": 1.0 for k in range(1, 9)}} for row in TABLE.rows)
    table = replace(TABLE, columns=(*TABLE.columns, *extra), rows=rows)
    narrow, both, wide = to_latex(table), to_latex(table, star=True), to_latex(table, wide=True)
    assert "% left out, because they don't fit:" in narrow
    assert [text.count("1.00 &") for text in (narrow, both)] == [0, 22]
    assert r"\begin{table*}[t]" in both
    assert wide.count(r"a\\long\\head") == 8
    assert "% left out" not in wide


def test_markdown_has_one_line_of_heads_bold_marks_and_notes() -> None:
    assert to_markdown(TABLE).splitlines() == [
        "**A title**",
        "",
        "| metric | summaries: SummEval | translation: WMT |",
        "| --- | ---: | ---: |",
        "| BLEU | 0.12 | 3.00 |",
        "| chrF(beta=1,order=6) | **0.50** | 2.00 |",
        "| COMET | **0.51**<sup>+</sup> | 1.00 |",
        "",
        "A note.  ",
        "Bold: tested.",
    ]


def test_names_with_signs_of_markdown_stay_as_they_are() -> None:
    table = replace(TABLE, rows=({"name": "a|b*c_d<e>", "a": 1.0, "b": 1.0},), best={}, marks={})
    assert r"| a\|b\*c\_d\<e\> | 1.00 | 1.00 |" in to_markdown(table)


def test_html_spans_heads_and_marks_the_best() -> None:
    html = table_html(arrange(TABLE, {"heat": True}))
    assert '<th scope="colgroup" colspan="1" style="text-align:center">summaries</th>' in html
    assert "<strong>0.51</strong><sup>+</sup>" in html
    assert "background:rgba(70,140,200,0.60)" in html
    assert "<p>Bold: tested.</p>" in html
