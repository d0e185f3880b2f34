"""Tables in every form that they are shown in, with every option; charts as data and for browsers; documents."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import altair as alt
import pytest
from approving import approve
from examples_of_results import EFFECT, OVERRATING, RANKING
from plain_boards import files_below, told
from rich.console import Console
from spoilt_files import AWAY, places

from billboards.analyses.overrating import overrating_forest
from billboards.analyses.rank import correlation_bars, generator_table, metric_table
from billboards.analyses.references import reference_curves
from billboards.errors import BillboardsError
from billboards.show.arranging import arrange, for_paper, names_in, naming_key, short_caption
from billboards.show.browser_charts import data_of, living, title_of
from billboards.show.csv import csv_text, to_csv
from billboards.show.documents import document_model, document_of, dumps, kind_of, part_model, plain, result_of
from billboards.show.figures import for_column, save_chart
from billboards.show.frames import table_html
from billboards.show.latex import escape_latex, latex_float, to_latex
from billboards.show.markdown import escape_markdown, to_markdown
from billboards.show.notebooks import tables_html
from billboards.show.plot import PALETTES, apart, cycle, distinct, themed, untitled
from billboards.show.table import NOTES, MarkNotes, Table, TableColumn, mean_digits, reason_notes, records, shown
from billboards.show.terminal import print_table, tables_text
from billboards.show.words import (
    clipped,
    headed,
    interval_text,
    linear_combination,
    listed,
    one_line,
    p_text,
    part_note,
    rank_texts,
    sided,
    value_text,
)

ROWS: tuple[Mapping[str, object], ...] = (
    {
        "rank": 1,
        "name": "a_b & 100%",
        "mark": "†",
        "score": 78.854,
        "error": 3.25,
        "ci": (77.1, 80.25),
        "change": 1.5,
        "p": 0.00001,
        "count": 12345,
        "held": True,
        "tags": ("x", "y"),
        "instance": "0123456789abcdef0123456789abcdef",
        "signature": "BLEU|nrefs:2|case:mixed|eff:no|tok:13a|smooth:exp|version:2.4.0|more:of it",
        "group": "first",
    },
    {
        "rank": 2,
        "name": "[red]*x*|é",
        "mark": "‡",
        "score": 78.846,
        "error": -0.001,
        "ci": (float("nan"), 1.0),
        "change": -0.25,
        "p": 0.04996,
        "count": 0,
        "held": False,
        "tags": (),
        "instance": "i2",
        "signature": "short",
        "group": "first",
    },
    {
        "rank": 2,
        "name": "=SUM(A1)\nnext",
        "score": float("nan"),
        "error": None,
        "ci": None,
        "change": 0.0,
        "p": None,
        "count": -7,
        "held": None,
        "tags": None,
        "instance": None,
        "signature": "",
        "group": "second",
    },
    {"rank": None, "name": "中文 \u202e turned", "score": 5, "error": 1e-9, "p": 1.0, "count": 1.5, "group": "second"},
)
TABLE = Table(
    title="How good generators are, and how much of that is chance; every column has a number of digits that it needs, "
    "and notes say what else must be known (in brackets, at the end)",
    columns=(
        TableColumn("rank", "#", kind="rank", digits=0),
        TableColumn("name", "generator", align="left", kind="name"),
        TableColumn("score", "human score", digits=2, better="higher", heads=("people", "mean")),
        TableColumn("ci", "95% CI", kind="interval", digits=1, priority=2, heads=("people", "mean")),
        TableColumn("error", "errors ↓", digits=3, better="lower", priority=1, heads=("people",)),
        TableColumn("change", "change", kind="change", digits=2, priority=3, heads=("metrics",)),
        TableColumn("p", "p", kind="p", priority=4, heads=("metrics",)),
        TableColumn("count", "judgments", priority=5),
        TableColumn("held", "held", align="left", priority=6, paper=False),
        TableColumn("tags", "tags", align="left", priority=7),
        TableColumn("instance", "instance", align="left", priority=8),
        TableColumn("signature", "signature", align="left", priority=9),
        TableColumn("group", "group", align="left", visible=False),
    ),
    rows=ROWS,
    notes=(NOTES["†"], NOTES["‡"], NOTES["§"], "The p-values are of one side.", "Of the errors.", "An aside."),
    name="generators",
    asides=("An aside.",),
    best={"score": frozenset({0, 1}), "error": frozenset({1})},
    best_note="Bold: not significantly worse than the best (permutation test).",
    marks={"score": {0: "*", 1: "**"}, "p": {1: "a"}},
    block="group",
    notes_of={"Of the errors.": "error", "The p-values are of one side.": "p"},
)
BARE = Table(title="", columns=(TableColumn("x", ""),), rows=())
FORMS: Mapping[str, Callable[[Table], Any]] = {
    "csv": lambda table: to_csv(table).split("\n"),
    "markdown": lambda table: to_markdown(table).split("\n"),
    "markdown, wide": lambda table: to_markdown(table, wide=True).split("\n"),
    "latex": lambda table: to_latex(table).split("\n"),
    "latex, two columns": lambda table: to_latex(table, star=True, label="tab:x").split("\n"),
    "latex, wide": lambda table: to_latex(table, wide=True).split("\n"),
    "html": lambda table: table_html(table).replace("</th>", "</th>\n").replace("</td>", "</td>\n").split("\n"),
    "records": records,
    "shown": shown,
}
OPTIONS: Mapping[str, Mapping[str, Any]] = {
    "columns": {"columns": "score, NAME,p*"},
    "columns by head": {"columns": ["people mean human score", "#"]},
    "one column": {"columns": "name"},
    "group": {"columns": "group,name"},
    "rows": {"rows": ["*red*", "a_b & 100%"]},
    "digits": {"digits": 0},
    "more digits": {"digits": 5, "columns": "score,count,p,ci,change"},
    "best": {"bold": "best"},
    "no bold": {"bold": "none"},
    "heat": {"heat": True},
    "heat of rows": {"heat": True, "rows": "中文*,a_b*", "bold": "best"},
    "caption": {"caption": "My caption\nof two lines"},
    "all notes": {"notes": "all"},
    "no notes": {"notes": "none"},
}
WRONG: Mapping[str, Mapping[str, Any]] = {
    "a column": {"columns": "scor"},
    "a pattern": {"columns": "x*"},
    "a row": {"rows": "a_b"},
    "digits": {"digits": 13},
    "fewer digits": {"digits": -1},
    "bold": {"bold": "all"},
    "notes": {"notes": "some"},
    "surplus": {"surplus": 1},
}


def refused(ask: Callable[[], Any]) -> Any:
    try:
        return ask()
    except BillboardsError as error:
        return told(error)


@pytest.mark.parametrize("form", FORMS)
def test_a_table_is_shown_as_approved(form: str) -> None:
    show = FORMS[form]
    words = {"plain": show(TABLE), "bare": show(BARE), "ranking": show(generator_table(RANKING))}
    words |= {name: show(arrange(TABLE, options)) for name, options in OPTIONS.items()}
    if form == "html":
        words = {name: words[name] for name in ("plain", "bare", "heat", "heat of rows", "no bold", "columns")}
    if form in ("records", "shown"):
        words = {name: words[name] for name in ("plain", "bare", "rows", "columns", "more digits")}
    if form == "latex, wide" or form == "markdown, wide":
        words = {name: words[name] for name in ("plain", "heat", "columns")}
    approve(f"shown/{form.replace(', ', '-').replace(' ', '-')}", words)


def test_a_table_is_printed_as_approved() -> None:
    words: dict[str, Any] = {}
    tables = {"rich": TABLE, "bare": BARE, "metrics": metric_table(RANKING), "hot": arrange(TABLE, {"bold": "best"})}
    for name, table in tables.items():
        for width in (30, 90, 400):
            words[f"{name} of {width}"] = printed(table, width)
        words[f"{name}, wide"] = printed(table, 60, wide=True)
        words[f"{name}, in colours"] = printed(table, 100, coloured=True)
    words["several"] = tables_text([TABLE, BARE], 70).split("\n")
    words["several, wide"] = tables_text([TABLE], 70, wide=True).split("\n")
    approve("shown/terminal", words)


def printed(table: Table, width: int, *, wide: bool = False, coloured: bool = False) -> list[str]:
    text = io.StringIO()
    console = Console(
        file=text,
        width=width,
        force_terminal=coloured,
        color_system="standard" if coloured else None,
        no_color=False,
        legacy_windows=False,
        _environ={},
    )
    print_table(table, console, wide=wide, hint="so")
    return text.getvalue().split("\n")


def test_wrong_choices_are_refused_as_approved() -> None:
    words = {name: refused(lambda options=options: arrange(TABLE, options).title) for name, options in WRONG.items()}  # type: ignore[misc]
    approve("shown/wrong", words)


TEXTS = (
    "plain",
    "a_b & 100% #1 {x} ~ ^ < > | $5 \\",
    "“quotes” ‘single’ – — − · × ± ≤ ≥ … † ‡ § ¶ • © ™",
    "é ü ñ ç ő ř ï í ı å ø Æ ß ¡ ¿ £ ẹ",
    "α β Ω λ 中文 Привет",
    '[1] *x* `code` "said"',
    "tab\there\nline \x1b[31m \u202e end \ud83d",
    "",
)


def test_words_are_as_approved() -> None:
    values = (None, math.nan, math.inf, True, False, 0, -0.0, 1234567, 0.00012345, 123456.789, (), ("a", 1), "x\ny", "")
    approve(
        "shown/words",
        {
            "latex": {ascii(text): escape_latex(text).encode("ascii", "backslashreplace").decode() for text in TEXTS},
            "markdown": {ascii(text): ascii(escape_markdown(text)) for text in TEXTS},
            "one line": {ascii(text): one_line(text) for text in TEXTS},
            "values": [[repr(value), *(value_text(value, digits) for digits in (None, 0, 3))] for value in values],
            "p": [p_text(value) for value in (0.0, 0.0001, 0.00009999, 0.5, None, 1)],
            "intervals": [interval_text(value, 2) for value in (None, (1.0, 2.0), (None, 1.0), (-0.001, 1e6), 3)],
            "ranks": [rank_texts([1, 2, 2, None, 4]), rank_texts([1, 2], [1, 1, 2, 3]), rank_texts([])],
            "sums": [
                linear_combination({}),
                linear_combination({"a": 0.5, "b": -1.25, "c": 1.2}, turned=("c",)),
                linear_combination({"a": -0.004}),
                linear_combination({"a": 1.0, "b": 1.0}),
            ],
            "listed": [listed([f"n{k}" for k in range(count)]) for count in range(7)] + [listed(["a", "b", "c"], 1)],
            "clipped": [len(clipped("x" * length)) for length in (159, 160, 161, 500)] + [clipped("abcdef", 4)],
            "headed": [headed("TER", higher_is_better=False), headed("BLEU")],
            "sided": [sided("one"), sided("two")],
            "parts": [part_note(part) for part in ("", "whole board", "domain sea")],
            "names": [names_in(text) for text in ("a, b", "f(a,b),c[1,2],", "(open, b", ["x", "y"], "")],
            "naming": [naming_key(TABLE), naming_key(BARE), naming_key(replace(BARE, columns=()))],
            "digits": [
                mean_digits(values) for values in ([], [0.0], [0.4521], [9.99, None], [99.95], [1234.5, math.nan])
            ],
            "captions": [short_caption(replace(BARE, title=title)) for title in captions()],
            "paper": [list(for_paper(table).notes) for table in (TABLE, TABLE.without(["p"]), BARE)],
            "reasons": reason_notes("metric", {"a": "so", "b": None, "c": "so", "d": "other\nline"}),
            "marks": mark_notes(),
            "csv": csv_text(("a", "b"), [{"a": "=1+1", "b": "-5"}, {"a": "x\ry", "b": '"q", r'}, {"b": "+x"}, {}]),
            "float": latex_float("ll", [], [["a & b"], ["c & d"]], "Cap", None, notes=["中 note"], comment="é\nx"),
            "notebook": tables_html([BARE], ["a < b", "c"]),
        },
    )


def captions() -> list[str]:
    start = "x" * 60
    return [
        "short",
        "y" * 150,
        "y" * 151,
        f"{start}. {'z ' * 60}",
        f"{start}; {'z' * 100}",
        f"{start} ({'z ' * 60})",
        f"{start}, {'z' * 100}",
        f"{start} {'z' * 120}",
        f"a, {'z ' * 90}",
    ]


def mark_notes() -> list[Any]:
    notes = MarkNotes()
    return [notes.mark("‡"), notes.mark(""), notes.mark("†"), notes.texts()]


def charts() -> Mapping[str, Any]:
    data = alt.Data(
        values=[{"x": 1.5, "y": 2, "name": "a_b", "href": None}, {"x": None, "y": 3, "name": "c {d}", "ok": True}]
    )
    points = alt.Chart(data).mark_point().encode(x="x:Q", y="y:Q")
    labels = alt.Chart(data).mark_text(fontSize=14).encode(x="x:Q", text="name:N")
    rule = alt.Chart(alt.Data(values=[{"x": 1}])).mark_rule().encode(x="x:Q")
    plain_chart = alt.layer(points, labels, rule).properties(width=480)
    return {
        "made": themed(plain_chart, "light", "A long title " * 9, "What is plotted " * 8, "In words."),
        "bars": correlation_bars(RANKING, theme="dark"),
        "forest": overrating_forest(OVERRATING, theme="paper"),
        "curves": reference_curves(EFFECT),
    }


def without_versions(value: Any) -> Any:
    """A specification without what hangs on the library's version, or on how many charts were drawn before."""
    if isinstance(value, dict):
        kept = {key: part for key, part in value.items() if key not in ("$schema", "name", "datasets")}
        named = {"data sets": list(value["datasets"].values())} if "datasets" in value else {}
        return {key: without_versions(part) for key, part in {**kept, **named}.items()}
    return [without_versions(part) for part in value] if isinstance(value, list) else value


def test_charts_are_as_approved(tmp_path: Path) -> None:
    words: dict[str, Any] = {}
    for name, chart in charts().items():
        led = living(chart, lead=lambda point: f"/to/{point['name']}" if "name" in point else None)
        saved = [save_chart(chart, tmp_path / f"{name}{ending}") for ending in (".csv", ".dat", ".CSV")]
        words[name] = {
            "drawn": without_versions(chart.to_dict(validate=False)) if name == "made" else "as its analysis has it",
            "living": {key: part for key, part in without_versions(led).items() if key != "config" or name == "made"},
            "for a column": without_versions(for_column(chart))["config"],
            "width": for_column(chart)["width"],
            "title": title_of(chart),
            "untitled": untitled(chart.to_dict(validate=False)).get("title"),
            "data": [points[:2] for points in data_of(chart)],
            "saved": [[path.name for path in paths] for paths in saved],
        }
    words["palettes"] = {name: str(palette) for name, palette in PALETTES.items()}
    words["wrong"] = [refused(partial(save_chart, charts()["made"], tmp_path / name)) for name in ("x", "x.gif")]
    words["apart"] = [apart([1.0, 1.1, 5.0], 1.0), apart([], 1.0), apart([0.0, 0.0, 0.0], 0.5)]
    words["named"] = [distinct(["a", "b", "a", "a\nb", "a"]), cycle(("r", "g"), 5)]
    words["files"] = {name: lines for name, lines in files_below(tmp_path).items() if name.startswith(("made", "bars"))}
    approve("shown/charts", words, folder=tmp_path)


@dataclass(frozen=True, kw_only=True)
class Inner:
    """A part."""

    name: str
    value: float


@dataclass(frozen=True, kw_only=True)
class Whole:
    """A result with fields of every kind."""

    text: str
    count: int
    share: float
    held: bool
    lam: float
    part: str | None
    choice: Literal["a", "b"]
    inner: Inner
    several: tuple[Inner, ...]
    by_name: Mapping[str, float]
    pairs: tuple[tuple[str, int], ...]
    interval: tuple[float, float] | None = None
    made: tuple[str, ...] = field(default_factory=tuple)
    left: int = field(default=3, metadata={"document": False})
    ALSO = ("size",)
    DOCUMENT = "whole"

    @property
    def size(self) -> int:
        return len(self.several)


@dataclass(frozen=True)
class Kindred:
    """A result whose field bears a name of the head."""

    kind: str = "x"


WHOLE = Whole(
    text="é",
    count=2**40,
    share=math.nan,
    held=True,
    lam=0.5,
    part=None,
    choice="a",
    inner=Inner(name="x", value=math.inf),
    several=(Inner(name="y", value=1.0), Inner(name="z", value=-0.0)),
    by_name={"a": 1.0, "b": math.nan},
    pairs=(("a", 1), ("b", 2)),
    interval=(0.1, 0.9),
)


def test_documents_are_as_approved() -> None:
    document = document_of(WHOLE)
    answers: dict[str, list[str]] = {}
    for words, change in places(json.loads(dumps(document))):
        for value in ("x", 101.5, None, True, [], AWAY, 2**63):
            changed = change(value)
            said = refused(lambda changed=changed: differing(result_of(Whole, changed)))  # type: ignore[misc]
            answers.setdefault(str(said), []).append(f"{words} is {'away' if value is AWAY else value}")
    odd: tuple[Any, ...] = (
        None,
        [],
        {"schema": 2, "kind": "whole"},
        {"schema": 1, "kind": "other"},
        {**document, "surplus": 1},
    )
    approve(
        "shown/documents",
        {
            "dumped": dumps(document).encode("ascii", "backslashreplace").decode().splitlines(),
            "half a character": dumps({"text": "é \ud83d"}),
            "compact": dumps(document, compact=True).encode("ascii", "backslashreplace").decode(),
            "table": document_of(replace(TABLE, rows=ROWS[:2])),
            "kinds": [kind_of(WHOLE), kind_of(WHOLE, "said"), kind_of(RANKING)],
            "taken": refused(lambda: document_of(Kindred())),
            "odd": [refused(lambda value=value: differing(result_of(Whole, value))) for value in odd],  # type: ignore[misc]
            "spoilt": answers,
            "plain": plain({"a": (1, 2.5, math.nan), 3: [None, {"b": {"c": True}}]}),
            "model": sorted(document_model(Whole).model_fields),
            "table's model": sorted(document_model(Table).model_fields),
            "part": sorted(part_model(Inner).model_fields),
        },
    )


def differing(result: Whole) -> str:
    """The fields that are read otherwise than they were written."""
    return ", ".join(
        f"{name}: {getattr(result, name)!r}"
        for name in Whole.__dataclass_fields__
        if repr(getattr(result, name)) != repr(getattr(WHOLE, name)) and name not in ("inner", "text")
    )
