"""What every analysis says: its document, tables, words, charts, LaTeX and text, and what each option changes of them.

Every option is tried in turn on the board that the analysis is asked of: a choice in each of its other ways, a flag
turned, a number one higher, and names as they are listed here. Of those answers only what is unlike the plain one is
kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import pytest
from approving import approve, changes, comparable
from asked_boards import QUICK, asked_boards, board_of

import billboards as bb
from billboards.analyses import analysis_named, own_analyses
from billboards.analyses._analysis import Analysis, Result
from billboards.board import Board, Slice
from billboards.errors import BillboardsError
from billboards.options import Option
from billboards.show.table import Table, TableColumn

NAMES = list(own_analyses())
#: What a name may be instead, by option or by analysis and option.
OTHERWISE: Mapping[str, tuple[Any, ...]] = {
    "baseline": ("g1",),
    "before": ("chrF",),
    "compare by": ("chrF", "length"),
    "rank by": ("chrF", "length"),
    "campaign": (("spring",), ("none",)),
    "compare first": ("g0", "length"),
    "compare statistic": ("spearman", "kendall", "none"),
    "decompose draws": (0,),
    "dimension": (("adequacy",), ("none",)),
    "efficiency by": ("length",),
    "estimate generator": ("g1",),
    "estimate metric": ("chrF",),
    "generator": (("g0", "g1"),),
    "human": ("B", "g0"),
    # Beside B the ensemble is chrF itself, so their order hangs on the last bit.
    "overrating human": ("g0",),
    "kin": (("chrF",), ("g0",)),
    "most": (1,),
    "kinds": (("negation",), ("none",)),
    "lam": (0.1,),
    "level": (0.2,),
    "method": ("lasso", "none"),
    "metric": ("good", "length"),
    "metrics": (("chrF",), ("length",)),
    "power power": (0.6,),
    "prior": (1.0,),
    "rank draws": (0,),
    "rank statistic": ("spearman", "kendall", "none"),
    "references": ("A",),
    "spans dimension": ("fluency", "none"),
}
#: Most differences that are kept of an answer.
MOST = 40
#: Options whose next value says nothing new, takes long, or speaks of what was measured.
LEFT = (
    "efficiency side",
    "rounds",
    "mixtures",
    "sample",
    "candidates",
    "sets",
    "drawn",
    "model",
    "audit method",
    "audit against",
)
#: Questions of more than one option, by analysis.
MORE: Mapping[str, tuple[dict[str, Any], ...]] = {
    "agreement": ({"first": "adequacy", "second": "fluency"}, {"first": "none"}),
    "arena": ({"elo_step": 8.0}, {"certainty": "bootstrap", "seed": 1}),
    "challenge": ({"metrics": ("chrF",), "base": "references"}, {"metrics": ("chrF",), "base": "g0", "shown": 0}),
    "compare": (
        {"first": "g0", "second": "g1"},
        {"first": "g1", "second": "g2", "by": "chrF", "shown": 1},
        {"first": "g1", "second": "g2", "by": "length", "resampled": "documents"},
        {"first": "chrF", "second": "length", "unit": "generators"},
        {"first": "chrF", "second": "length", "resampled": "documents", "draws": None},
        {"first": "chrF", "second": "chrF"},
        {"first": "chrF", "second": "g0"},
        {"statistic": "accuracy", "ties": "half"},
        {"statistic": "accuracy", "ties": "left-out"},
    ),
    "efficiency": ({"side": "metrics", "by": "chrF"}, {"side": "metrics", "cost": "energy"}),
    "estimate": (
        {"generator": "g1", "labels": 5},
        {"generator": "g1", "labels": 5, "target": "population", "seed": 1},
        {"generator": "g1", "labels": 5, "next": 2},
        {"generator": "g1", "metric": "length"},
        {"generator": "nobody"},
    ),
    "hybrids": ({"parents": "3"}, {"parents": "none"}, {"mixtures": 3}),
    "next": (
        {"unit": "outputs", "aim": "means"},
        {"selector": "random"},
        {"selector": "variance", "draw": "chance"},
        {"selector": "disagreement"},
        {"selector": "none"},
        {"cost": "length", "budget": 100.0},
        {"cost": "none", "budget": 100.0},
    ),
    "overrating": ({"human": "A", "score": False, "metrics": ("length",)}, {"human": "nobody"}),
    "power": ({"first": "good", "second": "poor"}, {"first": "good", "second": "good"}, {"first": "good"}),
    "rank": (
        {"before": "adequacy"},
        {"method": "ridge"},
        {"method": "boosting"},
        {"method": "stacking"},
        {"method": "best-subset", "k": 1},
        {"statistic": "accuracy", "ties": "half"},
        {"statistic": "acc-eq"},
        {"statistic": "pdp"},
        {"statistic": "spa"},
        {"by": "nobody"},
    ),
    "ratings agreement": ({"by": "day"}, {"by": "campaign"}, {"dimension": ("adequacy",), "scale": "nominal"}),
    "ratings days": ({"by": "campaign"},),
    "ratings doubts": ({"shown": 2},),
    "trust": ({"kin": ("g0",)}, {"kin": ("g0", "g1"), "part": Slice(domain="sea")}),
    "watch": ({"unit": "document", "order": "random"}, {"target": "instances", "order": "random", "seed": 3}),
}
PARTS = (Slice(domain="sea"), Slice(document="d1"), Slice(domain="nowhere"))


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Board]:
    """The boards, scored, by name."""
    home = tmp_path_factory.mktemp("boards")
    boards = asked_boards(tmp_path_factory.mktemp("compared"))
    for name, board in boards.items():
        bb.score(bb.save(board, home / name))
    return {name: bb.open(home / name) for name in boards}


@pytest.mark.parametrize("name", NAMES)
def test_an_analysis_says_what_was_approved(name: str, opened: dict[str, Board]) -> None:
    asked, board = analysis_named(name), opened[board_of(name)]
    plain = comparable(answer(asked, board, {}), folder=str(board.home))
    changed = {}
    for words, options in variants(asked):
        now = comparable(answer(asked, board, options), folder=str(board.home))
        unlike = ((where, new) for where, (_, new) in changes(plain, now))
        changed[words] = now if "document" not in now else dict(islice(unlike, MOST))
    approve(f"analyses/{name.replace(' ', '-')}", {"plain": plain, "changed": changed})


def variants(asked: Analysis[Any, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """One option after the other, otherwise than in the plain answer."""
    quick = QUICK.get(asked.name, {})
    for option in asked.options:
        if {option.name, f"{asked.name} {option.name}"} & set(LEFT):
            continue
        for value in others(asked.name, option, quick.get(option.name, option.default)):
            yield f"{option.name}={value}", {option.name: value}
    if "aggregate" in asked.view:
        yield "aggregate", {"aggregate": "adequacy" if board_of(asked.name) == "small" else "fluency"}
    if "part" in asked.view:
        yield from ((f"part={part}", {"part": part}) for part in PARTS)
    for options in MORE.get(asked.name, ()):
        yield ", ".join(f"{option}={value}" for option, value in options.items()), options


def others(name: str, option: Option, usual: Any) -> tuple[Any, ...]:
    """What an option may be beside its usual value."""
    given = OTHERWISE.get(f"{name} {option.name}", OTHERWISE.get(option.name))
    if given is not None:
        return given
    if option.choices:
        return tuple((value,) if option.many else value for value in option.choices if value != usual)
    if option.type is bool:
        return (not usual,)
    if option.type is int and option.name != "draws":
        return (1 if usual is None else usual + 1,)
    return ()


def answer(asked: Analysis[Any, Any], board: Board, options: Mapping[str, Any]) -> dict[str, Any]:
    """All that is said, or why nothing is."""
    try:
        return said(asked(board, **{**QUICK.get(asked.name, {}), **options}))
    except BillboardsError as error:
        return {type(error).__name__: str(error)}


def said(result: Result[Any]) -> dict[str, Any]:
    return {
        "document": result.document,
        "tables": [table_facts(table) for table in result.tables],
        "words": result.words,
        "notes": result.notes,
        "charts": [drawn(draw("paper").to_dict()) for draw in result.drawn()],
        "latex": [] if result.latex is None else result.latex().splitlines(),
        "text": result.to_text().splitlines(),
    }


def table_facts(table: Table) -> dict[str, Any]:
    """A table; its rows are in the document, and are printed."""
    return {
        "title": table.title,
        "name": table.name,
        "caption": table.caption,
        "columns": [column_words(column) for column in table.columns],
        "rows": [list(row.values()) for row in table.rows],
        "notes": table.notes,
        "asides": table.asides,
        "best": {key: sorted(rows) for key, rows in table.best.items()},
        "best note": table.best_note,
        "marks": table.marks,
        "block": table.block,
        "notes of": table.notes_of,
        "all rows": len(table.all_rows),
        "heat": table.heat,
    }


def column_words(column: TableColumn) -> str:
    """A column in a line."""
    words = [column.key, repr(column.header), column.align, column.kind, f"digits {column.digits}"]
    words += [f"priority {column.priority}", f"better {column.better}"]
    words += [*(() if column.visible else ("hidden",)), *(() if column.paper else ("not in papers",)), *column.heads]
    return ", ".join(words)


def drawn(value: Any) -> Any:
    """A chart without what hangs on the library's version, or on how many charts were drawn before."""
    if isinstance(value, dict):
        gone = ("$schema", "config", "name")
        named = (
            value.items() if "datasets" not in value else [*value.items(), ("data", list(value["datasets"].values()))]
        )
        return {key: drawn(part) for key, part in named if key not in gone and key != "datasets"}
    return [drawn(part) for part in value] if isinstance(value, list) else value
