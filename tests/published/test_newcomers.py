"""A new generator put into the folder of the paper's boards: a place, a corpus BLEU and an interval."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sacrebleu.metrics import bleu

import billboards as bb

#: A new generator takes its outputs in turn from these two.
PARENTS = {"wmt20-zh-en": ("Huoshan_Translate.919", "Online-A.1585"), "cnndm": ("BART", "Bottom-Up")}


@pytest.mark.long
@pytest.mark.data
@pytest.mark.parametrize("name", [pytest.param("wmt20-zh-en", marks=pytest.mark.study), "cnndm"])
def test_a_newcomer_of_the_papers_boards_is_ranked(name: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    board = bb.save(request.getfixturevalue("zh_en" if name == "wmt20-zh-en" else name), tmp_path / name)
    first, second = (board.row(parent).texts for parent in PARENTS[name])
    outputs = [str(second[k] if k % 2 else first[k]) for k in range(len(board.instances))]
    lines = [json.dumps({"instance": i.id, "text": text}) for i, text in zip(board.instances, outputs, strict=True)]
    (tmp_path / name / "generators" / "my-mix.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    board = bb.open(tmp_path / name)
    before = bb.rank(board, draws=0).value
    assert before.newcomers == "common"
    bb.score(board, ["BLEU", "ROUGE-L"])
    ranking = bb.rank(board).value
    assert ranking.ranked_by == before.ranked_by
    new = next(g for g in ranking.generators if g.name == "my-mix")
    assert new.rank is None
    assert ranking.common is not None
    assert ranking.common.unscored == ("my-mix",)
    placed = {g.name: g.rank for g in ranking.common.generators}
    assert len(placed) == len([g for g in ranking.generators if g.rank is not None]) + 1
    assert (placed[PARENTS[name][0]] or 0) <= (placed["my-mix"] or 0) <= (placed[PARENTS[name][1]] or 0)
    completed = {metric.name: metric.completed for metric in ranking.metrics if metric.completed}
    assert completed == {"BLEU": ("my-mix",), "ROUGE-L": ("my-mix",)}
    by_bleu = bb.rank(board, by="BLEU", draws=0).value
    assert next(g.rank for g in by_bleu.generators if g.name == "my-mix") is not None
    texts = board.reference_texts(board.references)
    references = [[some[k] for some in texts] for k in range(len(board.references))]
    peer = bleu.BLEU().corpus_score(outputs, references)
    assert new.corpus["BLEU"] == pytest.approx(peer.score, abs=1e-9)
    assert new.interval["BLEU"][0] < new.corpus["BLEU"] < new.interval["BLEU"][1]
    assert {m.name: m.correlation for m in before.metrics} == {m.name: m.correlation for m in ranking.metrics}
