"""A board in the shape of mscoco: released scores against five references, one of them a judged person's caption."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from sacrebleu.metrics import bleu, chrf

import billboards as bb
from billboards.analyses._imported_scores import recompute
from billboards.board import Board
from billboards.board.writing import write_board
from billboards.importers.billboard import billboard
from billboards.metrics.discovery import installed_metric

TEXT = "a man and two dogs ride the red elephant over an old wooden bridge near some boats on still water"
WORDS = TEXT.split()
MACHINES = ("Up-Down", "Unified-VLP", "VinVL-base", "VinVL-large")
IMAGES = 30


def write_lines(path: Path, lines: Sequence[Mapping[str, object]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")


@pytest.fixture(scope="module")
def clones(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both repositories: the judged Human has ratings and neither outputs nor released scores."""
    root, random = tmp_path_factory.mktemp("clones"), np.random.default_rng(4)
    true = [[str(word) for word in random.permutation(WORDS)[:9]] for _ in range(IMAGES)]

    def caption(k: int, off: float) -> str:
        return " ".join(word for word in true[k] if random.random() > off) or "nothing"

    references = [[caption(k, 0.2) for _ in range(4)] for k in range(IMAGES)]
    people = [caption(k, 0.1) for k in range(IMAGES)]
    outputs = {name: [caption(k, 0.5 - 0.1 * place) for k in range(IMAGES)] for place, name in enumerate(MACHINES)}
    home = root / "billboard"
    ids = [{"seg_id": str(900 + k), "set_id": k} for k in range(IMAGES)]
    write_lines(
        home / "submissions/mscoco/source/mscoco_src.jsonl", [{**one, "src": f"{one['seg_id']}.jpg"} for one in ids]
    )
    for name, texts in outputs.items():
        lines = [{**one, "hyp": text} for one, text in zip(ids, texts, strict=True)]
        write_lines(home / f"submissions/mscoco/generators/mscoco_{name}.jsonl", lines)
    beside = root / "THumB/mscoco"
    write_lines(beside / "mscoco_references.json", [{**one, "refs": references[k]} for k, one in enumerate(ids)])
    rated = [
        {**one, "SYS": name, "hyp": texts[k], "image": "x.jpg", "P": p, "R": 4.0, "human_score": (p + 4.0) / 2}
        for name, texts in {**outputs, "Human": people}.items()
        for k, one in enumerate(ids)
        for p in [float(np.clip(round(len(texts[k].split()) * 5 / 9), 1, 5))]
    ]
    penalties = dict.fromkeys(("Fl", "Inc", "Con"), 0.0)
    write_lines(beside / "mscoco_THumB-1.0.jsonl", [{**line, **penalties} for line in rated])
    scorers = {"SentBLEU": bleu.BLEU(effective_order=True), "chrF": chrf.CHRF()}
    for name, texts in outputs.items():
        learned = [float(random.normal()) for _ in texts]
        scores = {
            metric: [scorer.sentence_score(texts[k], [*references[k], people[k]]).score for k in range(IMAGES)]
            for metric, scorer in scorers.items()
        } | {"RefCLIPS": learned}
        for metric, values in scores.items():
            rows = [
                f"{name},{one['seg_id']},{one['set_id']},{metric},{v!r}\n" for one, v in zip(ids, values, strict=True)
            ]
            path = home / f"results/mscoco/{name}||{metric}.csv"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("SYS,seg_id,set_id,metric,score\n" + "".join(rows), "utf-8")
    return root


@pytest.fixture
def board(clones: Path, tmp_path: Path) -> Board:
    made = billboard(clones / "billboard", board="mscoco", judgments=clones / "THumB").board
    write_board(made, tmp_path / "mscoco")
    return bb.open(tmp_path / "mscoco")


def test_the_judged_person_is_the_fifth_reference_and_no_metric_is_left_out(board: Board) -> None:
    assert board.references == ("ref1", "ref2", "ref3", "ref4", "Human")
    ranking = bb.rank(board, draws=0).value
    assert ranking.ensemble is not None
    assert ranking.ensemble.left_out == {}
    assert {m.n for m in ranking.metrics} == {4 * IMAGES}
    assert ranking.ensemble.n == 4 * IMAGES
    human = next(g for g in ranking.generators if g.name == "Human")
    assert (human.rank, human.reason) == (None, "the text is among the references")


def test_own_scores_equal_the_released_ones_and_complete_them(board: Board, clones: Path) -> None:
    columns, _ = recompute(board, lambda name: installed_metric(name) if name in ("BLEU", "chrF") else None, ())
    assert {column.name: len(column.equal) for column in columns} == {"BLEU": 4, "chrF": 4}
    home = board.home
    assert home is not None
    lines = (home / "generators" / "VinVL-base.jsonl").read_text("utf-8").splitlines()
    (home / "generators" / "newcomer.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    with_newcomer = bb.open(home)
    bb.score(with_newcomer, ["BLEU", "chrF"])
    ranking = bb.rank(with_newcomer, by="BLEU", draws=100).value
    placed = {g.name: g.rank for g in ranking.generators}
    assert placed["newcomer"] == placed["VinVL-base"] is not None
    assert next(m for m in ranking.metrics if m.name == "BLEU").completed == ("newcomer",)
    new = next(g for g in ranking.generators if g.name == "newcomer")
    references = [[texts[k] for texts in with_newcomer.reference_texts(with_newcomer.references)] for k in range(5)]
    outputs = [json.loads(line)["text"] for line in lines]
    assert new.corpus["BLEU"] == pytest.approx(bleu.BLEU().corpus_score(outputs, references).score, abs=1e-9)


def test_overrating_computes_what_can_be_computed(board: Board) -> None:
    report = bb.overrating(board, metrics=("BLEU", "chrF")).value
    assert (report.human, report.references) == ("Human", ("ref1", "ref2", "ref3", "ref4"))
    measured = {estimate.name: estimate.n for estimate in report.metrics}
    assert measured == {"BLEU": 5 * IMAGES, "chrF": 5 * IMAGES}
    assert "released scores used references" in report.missing["RefCLIP-S"]


def test_the_public_sample_reads_as_it_is_laid_out(shared_data: Path, tmp_path: Path) -> None:
    samples = shared_data.parent / "samples"
    made = billboard(samples / "billboard", board="mscoco", judgments=samples / "THumB")
    write_board(made.board, tmp_path / "mscoco")
    opened = bb.open(tmp_path / "mscoco")
    assert opened.references == ("ref1", "ref2", "ref3", "ref4", "Human")
    assert "CIDEr-D" in {column.name for column in opened.imported}
    columns, _ = recompute(
        opened, lambda name: installed_metric(name) if name in ("BLEU", "chrF", "TER", "ROUGE-L") else None, ()
    )
    assert {column.name: len(column.equal) for column in columns} == dict.fromkeys(
        ("BLEU", "chrF", "TER", "ROUGE-L"), 4
    )
    assert bb.rank(opened, draws=0).value.ensemble is not None
