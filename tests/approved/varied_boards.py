"""Boards that differ in what they have: scores that came along or are computed, doubts, a private share, pairs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from crowded_boards import crowded_board
from edge_boards import EDGES
from small_audits import audit_board
from small_boards import small_board
from verified_boards import ferry_folder

import billboards as bb
from billboards.board import Board, Dimension, Generator, ImportedColumn, Reference, row_of
from billboards.board.judgments import JudgmentColumns
from billboards.board.trust import TrustRules
from billboards.metrics.discovery import metric

#: Own metrics that are quick.
METRICS = ("chrF", "ROUGE-1", "length")
#: Rules of trust: a share that nobody sees, a generator that is barred, the metrics that are admitted.
KEPT_BACK = TrustRules(private_share=0.25, barred={"g3": "a test"}, admits=("length",))


def scored(board: Board, folder: Path) -> Board:
    """The board in a folder, with its missing cells computed."""
    bb.score(bb.save(board, folder))
    return bb.open(folder)


def with_released(board: Board, *, changed: float) -> Board:
    """A board that brings chrF for its machines: ours but for a share of the outputs, and for one that lacks."""
    scorer = metric("chrF")
    machines = [row for row in board.rows if row.generator is not None and row.generator.kind == "machine"]
    rows = {}
    for place, row in enumerate(machines):
        references = [[reference.text for reference in instance.references] for instance in board.instances]
        values = np.array(scorer.score([text or "" for text in row.texts], references), np.float64)
        values[: round(changed * len(values))] += 7.0
        if place == 1:
            values[2] = np.nan
        rows[row.name] = values
    column = ImportedColumn(
        name="chrF", source_name="chrF.refA", signature="imported:chrF", values=rows, references=("A", "B")
    )
    errors = {row.name: np.arange(float(len(board.instances))) % 4 + place * 1.5 for place, row in enumerate(machines)}
    worse = ImportedColumn(
        name="errors", source_name="errors", signature="imported:errors", values=errors, higher_is_better=False
    )
    return replace(board, imported=(column, worse), metrics=METRICS)


def with_newcomers(board: Board) -> Board:
    """Two more machines that nobody judged: one copies another's outputs, one lacks half of its own."""
    count = len(board.instances)
    copied = row_of(Generator("copy"), board.instances, board.rows[1].texts)
    texts = tuple(text if k % 2 else None for k, text in enumerate(board.rows[0].texts[:count]))
    half = row_of(Generator("half", url="https://half.example", paper="Half, 2024"), board.instances, texts)
    return replace(board, rows=(*board.rows, copied, half), metrics=METRICS)


def judged_by_many(rules: TrustRules) -> Board:
    """Forty instances judged by three people on two dimensions, with rules of trust."""
    board, numbers = small_board(instances=40), np.random.default_rng(4)
    judged = JudgmentColumns(("adequacy", "fluency"))
    for g in range(len(board.rows)):
        for k in range(40):
            truth = 4.5 - 0.7 * min(g, 3) + numbers.normal()
            for person in ("ann", "bob", "cleo"):
                first, second = (float(np.clip(round(truth + numbers.normal() / 2), 1, 5)) for _ in range(2))
                judged.add(k, g, {"adequacy": first, "fluency": second}, annotator=person)
    dimensions = {name: Dimension(name, range=(1, 5)) for name in ("adequacy", "fluency")}
    return replace(board, judgments=judged.build(), dimensions=dimensions, trust=rules, metrics=METRICS)


def chinese_board() -> Board:
    """Outputs in Chinese for German inputs, one reference, and a generator that answers in English."""
    board = small_board(instances=8, generators=3)
    signs = "轮船中午离开二号码头停靠每个岛屿"

    def turned(text: str | None) -> str | None:
        return None if text is None else "".join(signs[len(word) % len(signs)] for word in text.split()) + "。"

    instances = tuple(
        replace(
            instance, references=(Reference("A", turned(instance.references[0].text) or ""),), input=f"Das Schiff {k}"
        )
        for k, instance in enumerate(board.instances)
    )
    rows = [
        row if row.generator is None else row_of(row.generator, instances, tuple(turned(text) for text in row.texts))
        for row in board.rows[:4]
    ]
    english = row_of(Generator("English"), instances, tuple("The ferry leaves at noon." for _ in instances))
    judged = JudgmentColumns(("adequacy",))
    for g in range(5):
        for k in range(8):
            judged.add(k, g, {"adequacy": float(1 + (g * k + k) % 5)}, annotator="ann")
    return replace(
        board,
        instances=instances,
        rows=(*rows, english),
        judgments=judged.build(),
        input_language="de",
        output_language="zh",
        metrics=("BLEU", "chrF", "TER", "length"),
    )


def varied_boards(home: Path) -> Mapping[str, Callable[[], Board]]:
    """How each board is made, by name; folders lie in `home`."""
    own: dict[str, Callable[[], Board]] = {
        "released": lambda: scored(with_newcomers(with_released(small_board(), changed=0.0)), home / "released"),
        "released otherwise": lambda: scored(with_released(small_board(), changed=0.5), home / "otherwise"),
        "newcomers": lambda: scored(with_newcomers(small_board()), home / "newcomers"),
        "ferry": lambda: bb.open(ferry_folder(home / "ferry")),
        "private": lambda: scored(judged_by_many(KEPT_BACK), home / "private"),
        "chinese": lambda: scored(chinese_board(), home / "chinese"),
        "audited": lambda: scored(replace(audit_board(), metrics=("chrF", "ROUGE-1")), home / "audited"),
        "crowd alone": lambda: replace(crowded_board(unlabelled=3), name="crowd"),
    }
    return {**own, **EDGES}
