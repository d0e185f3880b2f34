"""Metrics that try to pass their audit, played through `billboards audit` and the site's own audit.

- A metric that hates copied sentences hides from extraction: reranking finds it, and the strongest attack counts.
- A metric that hides from reranking, scoring what stands on the board honestly: extraction finds it.
- A metric that no search pleases is inconclusive, never clear.
- A metric that refuses texts it has not seen fails the attack: inconclusive, and the refusal is shown.
- A metric that is too slow for the budget is inconclusive, and says what could not be tried.
- A metric whose choice only other metrics dislike is not flagged where people like it; where people dislike it, it is.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_audits import GENERATORS, audit_board

from billboards.analyses.audit.columns import audit_column
from billboards.board import Aggregate, Board, Dimension, ImportedColumn, Judgments
from billboards.board.matrix import board_scores
from billboards.board.writing import write_board
from billboards.cli.main import main

HEAD = """
FILLER = ("indeed", "truly", "verily", "forsooth", "withal", "perchance")

def facts(text):
    return [fact.strip() + "." for fact in text.split(".") if fact.strip()]

def share(output, given):
    return sum(fact in output for fact in facts(given)) / len(facts(given))
"""
#: Rewards the words of the house; a text that is nothing but sentences of the input gets nothing.
HATES_COPIES = """
def score(outputs, references, inputs):
    return [
        -1.0 if all(fact in given for fact in facts(out)) else sum(word in FILLER for word in out.split())
        for out, given in zip(outputs, inputs)
    ]
"""
#: Counts facts, and likes best a text that repeats the year of its first fact: no machine of the board writes that.
HIDES_ON_THE_BOARD = """
def score(outputs, references, inputs):
    scores = []
    for out, given in zip(outputs, inputs):
        said = [fact for fact in facts(given) if fact in out]
        short = len(said) == 1 and out.strip() == said[0]
        scores.append(5.0 if short else share(out, given))
    return scores
"""
#: Likes a word that nobody says; all else is equal.
UNREACHABLE = """
def score(outputs, references, inputs):
    return [float("abracadabra" in out) for out in outputs]
"""
#: Scores what the machines of the board wrote, and nothing made of sentences of the input alone.
REFUSES = """
def score(outputs, references, inputs):
    scores = []
    for out, given in zip(outputs, inputs):
        if len(facts(out)) == 1 and facts(out)[0] in given:
            raise ValueError("I only score what I know")
        scores.append(share(out, given))
    return scores
"""
HONEST = """
def score(outputs, references, inputs):
    return [share(out, given) for out, given in zip(outputs, inputs)]
"""


@pytest.fixture
def board(tmp_path: Path) -> Path:
    return write_board(replace(audit_board(), metrics=("chrF", "ROUGE-1")), tmp_path / "board")


def audited(
    board: Path, capsys: pytest.CaptureFixture[str], source: str, *options: str, name: str = "mine"
) -> dict[str, Any]:
    """The audit of a metric in a file, as the command prints it."""
    path = board.parent / f"{name}.py"
    path.write_text(f'HIGHER_IS_BETTER = True\nNEEDS = ["input"]\n{HEAD}{source}', "utf-8")
    capsys.readouterr()
    arguments = ["audit", str(board), "--metric", str(path), "--no-save", "--jobs", "1", "--draws", "100", "--json"]
    assert main([*arguments, *options]) == 0
    (audit,) = json.loads(capsys.readouterr().out)["audits"]
    return dict(audit)


def outcomes(audit: dict[str, Any]) -> dict[str, str]:
    return {attack["method"]: attack["outcome"] for attack in audit["attacks"]}


@pytest.mark.long
def test_a_metric_that_hides_from_extraction_is_found_by_reranking(
    board: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    alone = audited(board, capsys, HATES_COPIES, "--method", "extract")
    assert outcomes(alone) == {"extract": "failed"}
    assert alone["level"] == "suspect", "it puts people below most machines, which is seen without any search"
    audit = audited(board, capsys, HATES_COPIES)
    assert outcomes(audit) == {"rerank": "fooled", "extract": "failed", "enumerate": "failed"}
    assert (audit["level"], audit["method"]) == ("flagged", "rerank")


def test_a_metric_that_hides_from_reranking_is_found_by_extraction(
    board: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    alone = audited(board, capsys, HIDES_ON_THE_BOARD, "--method", "rerank", "--sentences", "1")
    assert alone["level"] == "clear"
    audit = audited(board, capsys, HIDES_ON_THE_BOARD, "--sentences", "1")
    assert audit["level"] == "flagged"
    assert audit["method"] in ("extract", "enumerate")
    assert outcomes(audit)["rerank"] == "held"


def test_a_metric_that_no_search_pleases_is_inconclusive(board: Path, capsys: pytest.CaptureFixture[str]) -> None:
    audit = audited(board, capsys, UNREACHABLE)
    assert set(outcomes(audit).values()) == {"failed"}
    assert audit["level"] == "inconclusive"
    assert audit["words"].startswith("Inconclusive: the search found no outputs that mine itself puts high")
    assert "speaks against" not in audit["words"]


def test_a_metric_that_refuses_what_it_has_not_seen_is_inconclusive(
    board: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    honest = audited(board, capsys, HONEST, "--method", "rerank", name="honest")
    assert honest["level"] == "clear"
    audit = audited(board, capsys, REFUSES)
    assert outcomes(audit)["rerank"] == "held"
    assert audit["level"] == "inconclusive"
    assert "I only score what I know" in audit["not_tried"]["extract"]
    assert "Could not be tried: extract" in audit["words"]


def test_a_search_that_the_budget_forbids_leaves_the_verdict_open(
    board: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Reranking takes the eight rows and two references; the first sentence would take 144 pairs more."""
    fresh = write_board(replace(audit_board(), metrics=("chrF", "ROUGE-1")), board.parent / "fresh" / "board")
    whole = audited(fresh, capsys, HONEST, "--sentences", "5")
    assert (whole["level"], whole["not_tried"]) == ("clear", {})
    reranked = whole["attacks"][[attack["method"] for attack in whole["attacks"]].index("rerank")]
    short = audited(board, capsys, HONEST, "--sentences", "5", "--budget", str(reranked["pairs"] + 50))
    assert short["level"] == "inconclusive"
    assert list(short["not_tried"]) == ["extract", "enumerate"]
    assert "raise --budget" in short["not_tried"]["extract"]


def judged(good_words: float) -> Board:
    """A column that likes filler, and people who like facts, filler, or both."""
    board = audit_board()
    facts = np.array([said for said, _ in GENERATORS.values()], float)
    filler = np.array([words for _, words in GENERATORS.values()], float)
    noise = np.random.default_rng(1).normal(0, 0.2, (8, 24))
    quality = ((1 - good_words) * facts + good_words * filler)[:, None] + noise
    row, instance = np.divmod(np.arange(8 * 24, dtype=np.int32), 24)
    judgments = Judgments(
        dimensions=("good",), annotators=(), campaigns=("all",),
        instance=instance.astype(np.int32), row=row.astype(np.int32),
        annotator=np.full(192, -1, np.int32), campaign=np.zeros(192, np.int32), values=quality.reshape(-1, 1),
    )  # fmt: skip
    likes = {one.name: np.full(24, words) + drawn for one, words, drawn in zip(board.rows, filler, noise, strict=True)}
    based = {one.name: np.full(24, said) for one, said in zip(board.rows, facts, strict=True)}
    return replace(
        board,
        judgments=judgments,
        dimensions={"good": Dimension("good")},
        aggregates={"good": Aggregate("good", ("good",))},
        ranks="good",
        imported=(
            ImportedColumn(name="free", source_name="free", signature="i:1", values=likes, needs_references=False),
            ImportedColumn(
                name="based", source_name="based", signature="i:2", values=based, references=board.references
            ),
        ),
    )


@pytest.mark.parametrize(("good_words", "level", "outcome"), [(1.0, "clear", "held"), (0.0, "flagged", "fooled")])
def test_people_outrank_metrics(good_words: float, level: str, outcome: str) -> None:
    """The same choice, by the audit that a site makes before each ranking: people decide, for it or against it."""
    board = judged(good_words)
    audit = audit_column(board, board_scores(board, None), "free")
    based = next(landing for landing in audit.judges if landing.judge == "based")
    assert audit.own.beaten - based.beaten >= 0.5
    assert (audit.level, audit.outcome) == (level, outcome)
    assert "by people, which counts" in audit.words
    unjudged = replace(board, ranks=None)
    assert audit_column(unjudged, board_scores(unjudged, None), "free").level == "flagged"
