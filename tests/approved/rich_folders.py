"""A board folder that has everything a folder may have, and boards in memory that can't be written."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from billboards.board import (
    Aggregate,
    Board,
    Dimension,
    Generator,
    ImportedColumn,
    Instance,
    Outputs,
    Reference,
    row_of,
)
from billboards.board.judgments import JudgmentColumns

SETTINGS = """\
# An owner's remark.
schema = 1
name = "rich"
ranks = "quality"
metrics = ["chrF", "length", "BLEU"]
lead = "own"
references = ["A", "B"]
reference_free = "ranks"
order = ["M", "H", "N", "K"]
by = "chrF"
before = "spoken"
anonymous = ["places"]

[languages]
input = "de"
output = "en"

[dimensions.adequacy]
range = [1, 5]
to_100 = [25, -25]
definition = "Is it all there?"

[dimensions.errors]
higher_is_better = false
definition = '''
Marks of bad language,
one by one.'''

[dimensions.good]
levels_of = "adequacy"
at_least = 4
definition = "Whether it is good."

[dimensions.better]
kind = "preference"
definition = "Which is better?"

[dimensions."two words"]
range = [0, 100]

[aggregates.quality]
dimensions = ["adequacy", "errors"]
campaigns = ["experts", "crowd"]

[aggregates.spoken]
dimensions = ["adequacy"]
standardise = "annotator"
ddof = 0
campaigns = ["experts"]

[aggregates.pairs]
dimensions = ["better"]

[generators.H]
kind = "human"
description = "A person."

[generators.M]
description = "A machine."
paper = "Doe (2024)"
url = "https://example.org/m"
latency = 1.5
price = 0.25
energy = 3
parameters = 7000000
training_tokens = 1000000000

[generators.K]
kind = "optimised"
optimised_by = "chrF"

[scores.BLEU]
name = "BLEU"
references = ["A"]
needs = ["references", "input"]

[scores.ter]
name = "TER"
higher_is_better = false
is_statistic = true

[scores.ensemble]
needs = []
is_ensemble = true
scores_only = true
computed_by = "chrF"

[trust]
bars = ["copies references", "other order"]
bars_from = 0.25
private_share = 0.3
private_seed = 4
flagged = "count"
admits = ["length"]

[trust.barred]
N = "It has seen them."

[card]
title = "Rich"
task = "Testing"
source = "Made up"
licence = "CC-BY-4.0, for all of it"
citation = "Nobody (2024)"
protocol = "Asked"
annotators = "People"
comments = "None"
"""


def _lines(*items: Mapping[str, Any]) -> str:
    return "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items)


_SAID = {"a": "one", "b": "two", "c": "three", "d": "four"}
_EXPERTS = {"campaign": "experts"}
_THREE = {"generators": ["M", "H", "N"], "order": ["H", ["M", "N"]]}
FILES: Mapping[str, str] = {
    "board.toml": SETTINGS,
    "instances.jsonl": _lines(
        {
            "id": "a",
            "input": "Eins é",
            "references": [{"name": "A", "text": "One."}, {"name": "B", "text": "The one."}],
            "document": "d1",
            "domain": "news",
            "tags": ["short", "first"],
        },
        {"id": "b", "input": "Zwei", "references": [{"name": "A", "text": "Two."}, {"name": "B", "text": "The two."}]},
        {"id": "c", "image": "c.png", "references": [{"name": "A", "text": "Three."}], "document": "d1"},
        {"id": "d", "input": "Vier", "references": [{"name": "B", "text": "The four."}], "domain": "sea", "tags": []},
    ),
    "generators/M.jsonl": _lines(*({"instance": key, "text": f"A {word}."} for key, word in _SAID.items())),
    "generators/H.jsonl": _lines(*({"instance": key, "text": f"Number {key}."} for key in "abcd")),
    "generators/N.jsonl": _lines({"instance": "d", "text": "four"}, {"instance": "a", "text": ""}),
    "generators/K.jsonl": _lines({"instance": "a", "text": "One, one."}, {"instance": "b", "text": "Two\ntwo."}),
    "outputs.jsonl": _lines(
        {"instance": "a", "id": "x1", "text": "Someone's one."},
        {"instance": "a", "id": "x2", "text": "Another's one."},
        {"instance": "c", "id": "x3", "text": "Someone's three."},
    ),
    "judgments/experts.jsonl": _lines(
        {
            "instance": "a",
            "generator": "M",
            "values": {"adequacy": 4, "errors": 2},
            "annotator": "ann",
            "campaign": "experts",
            "spans": [{"start": 0, "end": 1, "severity": "minor", "category": "Fluency"}],
            "time": 12.5,
            "template": "v1",
        },
        {
            "instance": "b",
            "generator": "M",
            "values": {"adequacy": 2.5, "errors": 0},
            "annotator": "ann",
            "campaign": "experts",
        },
        {"instance": "b", "generator": "H", "values": {"adequacy": 5}, "annotator": "ann", "campaign": "experts"},
        {"instance": "a", "generator": "H", "values": {"adequacy": 1}, "annotator": "bob", "campaign": "experts"},
        {
            "instance": "d",
            "generator": "N",
            "values": {"adequacy": 3},
            "annotator": "bob",
            "campaign": "experts",
            "test": "copy",
        },
    ),
    "judgments/crowd.jsonl": _lines(
        {"instance": "a", "output": "x2", "values": {"adequacy": 1}, "campaign": "crowd"},
        {"instance": "a", "output": "x1", "values": {"two words": 50}, "annotator": "1", "campaign": "places"},
    ),
    "judgments/pairs.jsonl": _lines(
        {
            "instance": "c",
            "generators": ["M", "H"],
            "dimension": "better",
            "prefers": "H",
            "votes": {"M": 2, "H": 3},
            "annotator": "ann",
            "campaign": "pairs",
        },
        {
            "instance": "a",
            "generators": ["M", "H", "N"],
            "dimension": "better",
            "order": ["H", ["M", "N"]],
            "time": "noon",
        },
        {"instance": "a", "outputs": ["x1", "x2"], "dimension": "better", "prefers": []},
    ),
    "scores/BLEU.tsv": "instance\tM\tH\t#1\na\t0.25\t1.5\t3\nb\t\t-2\t\nc\t1e-3\t0\t1\nd\t4\t5\t\n",
    "scores/ter.tsv": "instance\tM\tH\na\t25\t5\nb\t3\t2\nc\t0\t0\nd\t4\t\n",
    "scores/ensemble.tsv": "instance\tM\na\t2\nb\t3\nc\t0.125\nd\t4\n",
}


def rich_folder(root: Path) -> Path:
    """The folder, as its files are."""
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return root


def plain_board(count: int = 3) -> Board:
    """A small board in memory with two generators, ratings and released scores."""
    instances = tuple(
        Instance(f"i{k}", references=(Reference("A", f"text {k}"),), input=f"input {k}", document=f"d{k // 2}")
        for k in range(count)
    )
    rows = tuple(row_of(Generator(name), instances, tuple(f"{name} {k}" for k in range(count))) for name in ("g", "h"))
    judged = JudgmentColumns(("adequacy",))
    for k in range(count):
        judged.add(k, k % 2, {"adequacy": float(k)}, annotator="ann", campaign="spring")
    return Board(
        name="plain",
        instances=instances,
        rows=rows,
        judgments=judged.build(),
        dimensions={"adequacy": Dimension("adequacy", range=(0.0, 10.0))},
        aggregates={"overall": Aggregate("overall", ("adequacy",))},
        ranks="overall",
    )


def _rows(board: Board, *changed: Outputs) -> Board:
    return replace(board, rows=(*board.rows, *changed))


def _instance(board: Board, **changed: Any) -> Board:
    return replace(board, instances=(replace(board.instances[0], **changed), *board.instances[1:]))


def _loose(name: str, ids: tuple[str | None, ...], texts: tuple[str | None, ...]) -> Outputs:
    return Outputs(name=name, generator=None, version="0", load=lambda: texts, ids=ids)


def _column(board: Board, **changed: Any) -> Board:
    import numpy as np

    column = ImportedColumn(
        name="BLEU", source_name="BLEU", signature="imported:0", values={"g": np.arange(3.0)}, references=("A",)
    )
    return replace(board, imported=(replace(column, **changed),))


def _judged(board: Board, *judgments: tuple[int, int, Mapping[str, float], Mapping[str, Any]]) -> Board:
    columns = JudgmentColumns(tuple(board.dimensions))
    for instance, row, values, more in judgments:
        columns.add(instance, row, values, **more)
    return replace(board, judgments=columns.build())


def _scaled(board: Board, **changed: Any) -> Board:
    return replace(board, dimensions={"adequacy": replace(board.dimensions["adequacy"], **changed)})


def _aggregated(board: Board, aggregate: Aggregate, name: str = "overall") -> Board:
    return replace(board, aggregates={name: aggregate})


def _nan(count: int) -> Any:
    import numpy as np

    return np.full(count, np.nan)


def _infinite(count: int) -> Any:
    import numpy as np

    return np.full(count, np.inf)


UNWRITABLE: Mapping[str, Callable[[Board], Board]] = {
    "sound": lambda board: board,
    "no name": lambda board: replace(board, name=""),
    "a name with a slash": lambda board: replace(board, name="a/b"),
    "no instance": lambda board: replace(board, instances=(), rows=(), judgments=JudgmentColumns(()).build()),
    "an instance without an id": lambda board: _instance(board, id=""),
    "an id with a tab": lambda board: _instance(board, id="a\tb"),
    "two of an id": lambda board: _instance(board, id="i1"),
    "two references of a name": lambda board: _instance(board, references=(Reference("A", "x"), Reference("A", "y"))),
    "a reference without a name": lambda board: _instance(board, references=(Reference("", "x"),)),
    "half a character": lambda board: _instance(board, input="\ud83d"),
    "two rows of a name": lambda board: _rows(board, board.rows[0]),
    "a row of another name": lambda board: _rows(board, replace(board.rows[0], name="other")),
    "a generator's name with a hash": lambda board: _rows(
        board, replace(board.rows[0], name="#9", generator=Generator("#9"))
    ),
    "a row that is too short": lambda board: _rows(board, row_of(Generator("short"), board.instances[:1], ("x",))),
    "a loose row of another name": lambda board: _rows(board, _loose("#2", ("x", None, None), ("t", None, None))),
    "a loose output without an id": lambda board: _rows(board, _loose("#1", (None, None, None), ("t", None, None))),
    "a loose output without a text": lambda board: _rows(board, _loose("#1", ("x", "y", None), ("t", None, None))),
    "a loose row below a gap": lambda board: _rows(
        board,
        _loose("#1", ("x", None, None), ("t", None, None)),
        _loose("#2", (None, "y", None), (None, "t", None)),
    ),
    "two outputs of an id": lambda board: _rows(board, _loose("#1", ("x", "x", None), ("t", "u", None))),
    "a loose id that is blank": lambda board: _rows(board, _loose("#1", (" ", None, None), ("t", None, None))),
    "a dimension of another name": lambda board: _scaled(board, name="other"),
    "a range that falls": lambda board: _scaled(board, range=(5.0, 1.0)),
    "a range without end": lambda board: _scaled(board, range=(0.0, float("inf"))),
    "a slope of nothing": lambda board: _scaled(board, to_100=(0.0, 1.0)),
    "a slope that falls": lambda board: _scaled(board, to_100=(-1.0, 1.0)),
    "levels without a bar": lambda board: _scaled(board, levels_of="adequacy"),
    "levels of itself": lambda board: _scaled(board, levels_of="adequacy", at_least=1.0, range=None),
    "a preference with a range": lambda board: _scaled(board, kind="preference"),
    "an aggregate of nothing": lambda board: _aggregated(board, Aggregate("overall", ())),
    "an aggregate of another name": lambda board: _aggregated(board, Aggregate("other", ("adequacy",))),
    "an aggregate of what is not there": lambda board: _aggregated(board, Aggregate("overall", ("none",))),
    "an aggregate with a tab": lambda board: _aggregated(board, Aggregate("a\tb", ("adequacy",)), "a\tb"),
    "ddof alone": lambda board: _aggregated(board, Aggregate("overall", ("adequacy",), ddof=0)),
    "ddof of two": lambda board: _aggregated(
        board, Aggregate("overall", ("adequacy",), standardise="annotator", ddof=2)
    ),
    "standardised nobody": lambda board: replace(
        _aggregated(board, Aggregate("overall", ("adequacy",), standardise="annotator")), anonymous=("spring",)
    ),
    "ranked by what is not there": lambda board: replace(board, ranks="none"),
    "references that are not there": lambda board: replace(board, references_used=("Z",)),
    "references twice": lambda board: replace(board, references_used=("A", "A")),
    "metrics twice": lambda board: replace(board, metrics=("chrF", "chrF")),
    "a value beyond its range": lambda board: _judged(board, (0, 0, {"adequacy": 11.0}, {})),
    "a value at the end of its range": lambda board: _judged(board, (0, 0, {"adequacy": 10.0}, {})),
    "an infinite value": lambda board: _judged(board, (0, 0, {"adequacy": float("inf")}, {})),
    "a campaign with a slash": lambda board: _judged(board, (0, 0, {"adequacy": 1.0}, {"campaign": "a/b"})),
    "a detail of another kind": lambda board: _judged(
        board, (0, 0, {"adequacy": 1.0}, {"details": {"time": [1], "spans": "x", "surplus": 1}})
    ),
    "a judgment that says nothing": lambda board: _judged(board, (0, 0, {}, {})),
    "scores of nobody": lambda board: _column(board, values={"none": _nan(3)}),
    "scores that are too few": lambda board: _column(board, values={"g": _nan(2)}),
    "infinite scores": lambda board: _column(board, values={"g": _infinite(3)}),
    "scores of a name with a slash": lambda board: _column(board, source_name="a/b"),
    "scores by references that are not there": lambda board: _column(board, references=("Z",)),
    "scores by references that are not needed": lambda board: _column(board, needs_references=False),
    "two columns of a name": lambda board: replace(
        _column(board), imported=(*_column(board).imported, *_column(board).imported)
    ),
}
