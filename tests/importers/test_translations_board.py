"""A board in the shape of wmt20-en-de: released scores against two of three references, and a newcomer beside them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sacrebleu.metrics import bleu

import billboards as bb
from billboards.board.writing import write_board
from billboards.importers.billboard import billboard

SEGMENTS = 30
WORDS = ("Haus", "Baum", "Fluss", "Berg", "Wald", "Stadt", "Hafen", "Turm", "Feld", "Dorf", "Steg", "Tal")
BOARD = "wmt20-en-de"
PEOPLE = ("Human-A.0", "Human-B.0", "Human-P.0")


def sentence(k: int, wrong: int = 0, *, variant: int = 0) -> str:
    """A sentence of ten words, of which some are wrong."""
    words = [WORDS[(k * 5 + j * 7 + k // 3 + variant * (j % 3)) % len(WORDS)] for j in range(10)]
    for j in range(wrong):
        words[(k + 3 * j) % 10] = f"falsch{j}"
    return " ".join(words) + "."


def mistakes(system: str, k: int) -> int:
    return {"Huoshan.1": k % 2, "Online-A.2": 2 + k % 3, "zlabs.3": 5 + k % 2}[system]


OUTPUTS = {
    name: [sentence(k, mistakes(name, k)) for k in range(SEGMENTS)] for name in ("Huoshan.1", "Online-A.2", "zlabs.3")
}
REFERENCES = {
    name.removesuffix(".0"): [sentence(k, variant=variant) for k in range(SEGMENTS)]
    for variant, name in enumerate(PEOPLE)
}


def released_bleu(outputs: list[str]) -> list[float]:
    peer = bleu.BLEU(effective_order=True)
    pairs = zip(outputs, REFERENCES["Human-A"], REFERENCES["Human-B"], strict=True)
    return [peer.sentence_score(text, [first, second]).score for text, first, second in pairs]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The imported folder: three judged systems, with released SentBLEU and a metric that can't be run here."""
    clone, mqm = tmp_path / "billboard", tmp_path / "mqm/newstest2020/ende"
    ids = [{"seg_id": f"s{k}", "set_id": k} for k in range(SEGMENTS)]
    texts = {f"submissions/{BOARD}/source/{BOARD}_src.jsonl": ("src", [f"text {k}" for k in range(SEGMENTS)])}
    texts |= {f"submissions/{BOARD}/generators/{BOARD}_{name}.jsonl": ("hyp", text) for name, text in OUTPUTS.items()}
    for place, (key, values) in texts.items():
        lines = [json.dumps({**at, key: value}) + "\n" for at, value in zip(ids, values, strict=True)]
        (clone / place).parent.mkdir(parents=True, exist_ok=True)
        (clone / place).write_text("".join(lines), "utf-8")
    (clone / "results" / BOARD).mkdir(parents=True)
    for name, outputs in OUTPUTS.items():
        learned = [90.0 - 8 * mistakes(name, k) - k % 4 for k in range(SEGMENTS)]
        for metric, scores in {"SentBLEU": released_bleu(outputs), "BLEURT": learned}.items():
            rows = [f"{name},s{k},{k},{metric},{score!r}\n" for k, score in enumerate(scores)]
            (clone / f"results/{BOARD}/{name}||{metric}.csv").write_text(
                "SYS,seg_id,set_id,metric,score\n" + "".join(rows)
            )
    mqm.mkdir(parents=True)
    judged = [(name, k, float(mistakes(name, k))) for name in OUTPUTS for k in range(SEGMENTS)]
    judged += [(name, k, place / 4) for place, name in enumerate(PEOPLE) for k in range(SEGMENTS)]
    (mqm / "mqm_newstest2020_ende.avg_seg_scores.tsv").write_text(
        "system mqm_avg_score seg_id\n" + "".join(f"{name} -{value} {k + 1}\n" for name, k, value in judged)
    )
    (tmp_path / "references/en-de").mkdir(parents=True)
    for name, lines in REFERENCES.items():
        (tmp_path / f"references/en-de/{name}.txt").write_text("\n".join(lines) + "\n", "utf-8")
    (tmp_path / "references/en-de/src.txt").write_text("".join(f"text {k}\n" for k in range(SEGMENTS)))
    imported = billboard(clone, board=BOARD, judgments=tmp_path / "mqm", references=tmp_path / "references")
    return write_board(imported.board, tmp_path / "board")


@pytest.mark.long
def test_a_newcomer_has_a_place_among_everyone_and_a_corpus_bleu(home: Path) -> None:
    outputs = [OUTPUTS["zlabs.3" if k % 3 else "Huoshan.1"][k] for k in range(SEGMENTS)]
    lines = [json.dumps({"instance": f"s{k}", "text": text}) + "\n" for k, text in enumerate(outputs)]
    (home / "generators/my-mix.jsonl").write_text("".join(lines), "utf-8")
    board = bb.open(home)
    assert board.reference_names == ("Human-A", "Human-B", "Human-P")
    bb.score(board, ["BLEU"])
    ranking = bb.rank(board).value
    bleu_column = next(metric for metric in ranking.metrics if metric.name == "BLEU")
    assert (bleu_column.completed, bleu_column.equal) == (("my-mix",), 1.0)
    assert ranking.common is not None
    places = {g.name: g.rank for g in ranking.common.generators}
    machines = sorted((*OUTPUTS, "my-mix"), key=lambda name: places[name] or 99)
    assert machines == ["Huoshan.1", "Online-A.2", "my-mix", "zlabs.3"]
    new = next(g for g in ranking.generators if g.name == "my-mix")
    assert (new.rank, ranking.common.unscored) == (None, ("my-mix",))
    used = [REFERENCES[name] for name in board.references]
    assert new.corpus["BLEU"] == pytest.approx(bleu.BLEU().corpus_score(outputs, used).score, abs=1e-9)
    assert new.interval["BLEU"][0] < new.corpus["BLEU"] < new.interval["BLEU"][1]
