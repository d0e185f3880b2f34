"""Corpus scores and intervals are sacreBLEU 2.6's: of every generator of three boards, and in nine target languages.

`sacrebleu_corpora.json` holds what sacreBLEU 2.6.0 with numpy 2.4 says of every generator of wmt20-zh-en (both
references), cnndm (ten) and WMT23 English-German: score, mean and half the width of the interval of 1,000 draws. TER,
which takes it from a tenth of a second to some seconds for an output, is kept for the first 20 instances, 2 of cnndm's
and 5 of WMT23's. `python benchmarks/corpus.py --whole --write FILE` writes such entries. In other languages sacreBLEU
is asked here and now.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

import billboards as bb
from billboards.board import Board, Generator, Instance, Reference, row_of
from billboards.board.cells import MemoryCells
from billboards.board.corpus import CorpusColumn, corpus_values
from billboards.board.missing_cells import column_key, score_board
from billboards.metrics.executor import InProcess

KEPT = json.loads(Path(__file__).with_name("sacrebleu_corpora.json").read_text("utf-8"))
#: sacreBLEU goes on in single precision where it resamples.
SINGLE = 5e-5


def corpus_column(board: Board, name: str, instances: int | None = None, draws: int = 1000) -> CorpusColumn:
    """The values of every generator, of the first instances or of all."""
    some = board.instances[:instances]
    rows = tuple(row_of(row.generator, some, row.texts[: len(some)]) for row in board.rows if row.generator)
    part = Board(name=board.name, instances=some, rows=rows, references_used=board.references)
    metric, cells = bb.metric(name), MemoryCells()
    assert score_board(part, cells, [metric], InProcess()).failures == {}
    return corpus_values(part, cells, [column_key(part, metric, part.references)], draws=draws)[0]


@pytest.fixture(scope="session")
def wmt23(shared_data: Path) -> Board:
    return bb.import_board("mtme", shared_data / "mtme_wmt23_en-de")


@pytest.mark.data
@pytest.mark.parametrize("kept", KEPT, ids=lambda kept: f"{kept['board']}-{kept['metric']}")
def test_every_generator_has_sacrebleus_corpus_score_and_interval(
    kept: dict[str, Any], request: pytest.FixtureRequest
) -> None:
    fixture = {"wmt20-zh-en": "zh_en", "cnndm": "cnndm", "wmt23-en-de": "wmt23"}[kept["board"]]
    column = corpus_column(request.getfixturevalue(fixture), kept["metric"], kept["instances"])
    assert column.signature == kept["signature"]
    assert column.values.keys() == kept["values"].keys()
    for generator, (score, mean, half_width) in kept["values"].items():
        value = column.values[generator]
        assert value.value == pytest.approx(score, rel=1e-13), generator
        assert value.mean == pytest.approx(mean, abs=SINGLE), generator
        assert value.half_width == pytest.approx(half_width, abs=SINGLE), generator


def assert_like_sacrebleu(
    outputs: Sequence[str], references: Sequence[Sequence[str]], pairs: dict[str, Callable[[], Any]]
) -> None:
    """Scores and intervals of a corpus, with the same references for each output."""
    instances = tuple(
        Instance(f"i{k}", references=tuple(Reference(f"r{n}", text) for n, text in enumerate(texts)))
        for k, texts in enumerate(references)
    )
    board = Board(name="b", instances=instances, rows=(row_of(Generator("g"), instances, tuple(outputs)),))
    for name, peer in pairs.items():
        theirs, column = peer(), corpus_column(board, name, draws=100)
        expected = theirs.corpus_score(list(outputs), list(map(list, zip(*references, strict=True))), n_bootstrap=100)
        value = column.values["g"]
        assert value.value == pytest.approx(expected.score, rel=1e-13)
        assert value.mean == pytest.approx(float(expected._mean), abs=SINGLE)
        assert value.half_width == pytest.approx(float(expected._ci), abs=SINGLE)
        assert column.signature == str(theirs.get_signature())
        assert 0 < value.value < 150


@pytest.mark.data
@pytest.mark.parametrize("language", ["DE", "ES", "FR", "ID", "RU", "TR", "ZH"])
def test_summaries_in_seven_languages_have_sacrebleus_corpus_scores(shared_data: Path, language: str) -> None:
    with (shared_data / "multi_summeval" / "texts.jsonl").open(encoding="utf-8") as file:
        texts = [line for line in map(json.loads, file) if line["lang"] == language][:20]
    tokenize = "zh" if language == "ZH" else "13a"
    pairs: dict[str, Callable[[], Any]] = {
        f"BLEU(tokenize={tokenize})": lambda: BLEU(tokenize=tokenize),
        "BLEU(tokenize=intl)": lambda: BLEU(tokenize="intl"),
        "chrF++": lambda: CHRF(word_order=2),
        "TER(normalized=True,asian_support=True)": lambda: TER(normalized=True, asian_support=True),
    }
    assert_like_sacrebleu([line["pred_BERT"] for line in texts], [[line["gold"]] for line in texts], pairs)


PHRASES = {
    "ja": ["猫は", "小さな", "椅子の", "上に", "座っています", "。", "東京で", "雨が", "降りました", "静かな", "夜"],
    "ko": ["고양이가", "작은", "의자", "위에", "앉아", "있습니다", ".", "서울에는", "비가", "왔습니다", "조용한", "밤"],
}


@pytest.mark.parametrize(("language", "package"), [("ja", "MeCab"), ("ko", "mecab_ko")])
def test_japanese_and_korean_cut_by_mecab_have_sacrebleus_corpus_scores(language: str, package: str) -> None:
    pytest.importorskip(package, reason=f"BLEU(tokenize={language}-mecab) needs MeCab: pip install 'billboards[test]'")
    draw, between = random.Random(language), "" if language == "ja" else " "
    references, outputs = [], []
    for _ in range(30):
        phrases = draw.choices(PHRASES[language], k=draw.randint(4, 12))
        references.append([between.join(phrases), between.join(draw.sample(phrases, k=len(phrases)))])
        outputs.append(between.join(phrase for phrase in phrases if draw.random() < 0.8))
    tokenize = f"{language}-mecab"
    pairs: dict[str, Callable[[], Any]] = {
        f"BLEU(tokenize={tokenize})": lambda: BLEU(tokenize=tokenize),
        "chrF": CHRF,
        "TER(normalized=True,asian_support=True)": lambda: TER(normalized=True, asian_support=True),
    }
    assert_like_sacrebleu(outputs, references, pairs)
