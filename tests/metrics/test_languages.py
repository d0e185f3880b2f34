"""A board's language chooses the options that nobody wrote: named in the signature, never in the column's name."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest
import sacrebleu.metrics.bleu as sacre

from billboards.board import Board, Generator, Instance, Reference, row_of
from billboards.board.missing_cells import chosen_metrics, named_metrics
from billboards.errors import MissingPart
from billboards.metrics import bleu
from billboards.metrics.base import Batch, score_checked
from billboards.metrics.bleu import BLEU
from billboards.metrics.discovery import metric, metric_for, metric_names
from billboards.metrics.languages import language_of
from billboards.metrics.words import spaced_characters, unicode_characters
from billboards.site.boards.live import board_metrics

TEXTS = {
    "zh": ("今天天气很好，我喜欢北京。", "今天天气不错，我爱北京。"),
    "ja": ("今日は天気がいいです。", "今日の天気はよいです。"),
    "ko": ("오늘은 날씨가 정말 좋습니다.", "오늘은 날씨가 정말 좋아요."),
    "th": ("วันนี้อากาศดีมาก", "วันนี้อากาศดี"),
    "ru": ("Сегодня хорошая погода, и я рад.", "Сегодня погода хорошая, и я рад."),
    "de": ("Das Wetter ist heute schön.", "Heute ist das Wetter schön."),
    "en": ("The weather is good today.", "Today the weather is fine."),
}
WORDS = ("BLEU", "TER", "ROUGE-1", "ROUGE-L", "METEOR", "WER")


def primary(name: str, language: str) -> float:
    output, reference = TEXTS[language]
    parts = score_checked(metric_for(language, name), Batch([output], [[reference]]))
    return float(next(iter(parts.values()))[0])


@pytest.mark.parametrize(
    ("word", "code", "script"),
    [
        ("zh", "zh", "Hans"),
        ("zh-CN", "zh", "Hans"),
        ("zh_TW", "zh", "Hans"),
        ("zho_Hant", "zh", "Hant"),
        ("cmn", "zh", "Hans"),
        ("Chinese", "zh", "Hans"),
        ("Traditional Chinese", "zh", "Hans"),
        ("jpn", "ja", "Jpan"),
        ("EN-us", "en", "Latn"),
        ("ger", "de", "Latn"),
        ("sr-Latn", "sr", "Latn"),
        ("srp_Cyrl", "sr", "Cyrl"),
        ("tlh", "tlh", "Latn"),
    ],
)
def test_a_language_is_known_by_codes_and_names(word: str, code: str, script: str) -> None:
    language = language_of(word)
    assert language is not None
    assert (language.code, language.script) == (code, script)


def test_no_language_is_none() -> None:
    assert language_of(None) is None
    assert language_of("  ") is None
    assert metric("BLEU").for_language(None).signature == BLEU().signature


@pytest.mark.parametrize("language", ["en", "en-GB", "tlh"])
def test_in_english_every_metric_is_what_it_was(language: str) -> None:
    for name in ("BLEU", "chrF++", "TER", "SARI", "WER", "CER", "CIDEr-D", "ROUGE-L", "METEOR", "length"):
        plain = metric(name)
        assert plain.for_language("en") is plain
    assert metric_for(language, "BLEU").signature == metric("BLEU").signature


def test_in_german_words_are_cut_as_before_and_stems_are_german() -> None:
    for name in metric_names():
        if name != "METEOR":
            plain = metric(name)
            assert plain.for_language("de") is plain
    german = metric_for("de", "METEOR")
    assert german.name == "METEOR"
    assert "|language:de|" in german.signature
    score = score_checked(german, Batch(["die Häuser"], [["die Hauses"]]))
    assert score[""][0] == pytest.approx(1 - 0.5 * (1 / 2) ** 3)


@pytest.mark.parametrize(
    ("language", "words"), [("zh", "tok:zh|"), ("ja", "tok:ja-mecab-"), ("ko", "tok:ko-mecab-"), ("th", "tok:char|")]
)
def test_the_name_stays_and_the_signature_names_the_choice(language: str, words: str) -> None:
    chosen = metric_for(language, "BLEU")
    assert chosen.name == "BLEU"
    assert chosen.full_name.startswith("BLEU(tokenize=")
    assert words in chosen.signature


@pytest.mark.parametrize("language", ["zh", "ja", "ko", "ru", "de", "en"])
def test_bleu_is_sacrebleus_for_the_target_language(language: str) -> None:
    output, reference = TEXTS[language]
    peer = sacre.BLEU(effective_order=True, trg_lang=language)
    expected = peer.sentence_score(output, [reference]).score
    assert primary("BLEU", language) == pytest.approx(expected, abs=1e-9)
    corpus = sacre.BLEU(trg_lang=language).corpus_score([output], [[reference]]).score
    ours = replace(metric_for(language, "BLEU"), effective_order=False)
    assert ours.corpus_score(Batch([output], [[reference]])) == pytest.approx(corpus, abs=1e-9)


@pytest.mark.parametrize("language", TEXTS)
@pytest.mark.parametrize("name", WORDS)
def test_no_language_makes_alike_texts_differ_throughout(language: str, name: str) -> None:
    score = primary(name, language)
    worst = 100.0 if name in ("TER", "WER") else 0.0
    assert score != worst or (name, language) == ("TER", "th")


def test_what_is_written_stands() -> None:
    written = metric_for("zh", "BLEU(tokenize=13a,lowercase=True)")
    assert written.name == "BLEU(tokenize=13a,lowercase=True)"
    assert "tok:13a" in written.signature
    assert metric_for("zh", "BLEU(lowercase=True)").full_name == "BLEU(tokenize=zh,lowercase=True)"
    assert metric_for("zh", "BLEU(tokenize=zh)").name == "BLEU(tokenize=zh)"
    assert metric_for("en", "BLEU(tokenize=13a)").name == "BLEU"
    half = metric_for("ja", "TER(normalized=False)")
    assert half.name == "TER(normalized=False)"
    assert "norm:no" in half.signature
    assert "asian:yes" in half.signature


def test_a_metric_that_is_made_already_is_taken_as_it_is() -> None:
    assert metric_for("zh", BLEU()).signature == BLEU().signature
    assert metric_for("zh", BLEU).signature == BLEU(tokenize="zh").signature


def test_what_a_language_chose_goes_to_other_processes() -> None:
    chosen = metric_for("zh", "BLEU(lowercase=True)")
    sent = pickle.loads(pickle.dumps(chosen))
    assert (sent.name, sent.signature) == (chosen.name, chosen.signature)


def test_stems_and_synonyms_are_english_or_named() -> None:
    assert metric_for("ru", "METEOR").signature.startswith("METEOR|tokenizer:split|early_nltk:False|language:ru|nltk:")
    assert metric_for("zh", "METEOR").signature == "METEOR|tokenizer:unicode|early_nltk:False|language:zh"
    assert metric_for("de", "METEOR(early_nltk=True)").full_name == "METEOR(early_nltk=True)"


def test_scripts_without_spaces_are_cut_into_letters_with_their_marks() -> None:
    assert unicode_characters("ดีมาก COVID 北京") == ["ดี", "ม", "า", "ก", "covid", "北", "京"]
    assert spaced_characters("我爱Paris。").split() == ["我", "爱", "Paris。"]


def test_a_missing_dictionary_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: object) -> None:
        raise RuntimeError('Japanese tokenization requires extra dependencies: pip install "sacrebleu[ja]"')

    monkeypatch.setattr(sacre.BLEU, "__init__", lambda _, **options: refuse(**options))
    bleu.tokenizer.cache_clear()
    try:
        with pytest.raises(MissingPart, match=r"BLEU\(tokenize=ja-mecab\) needs .* pip install 'billboards\[ja\]'"):
            assert metric_for("ja", "BLEU").signature
    finally:
        bleu.tokenizer.cache_clear()


@pytest.mark.parametrize(
    ("spec", "language", "doubt"),
    [
        ("BLEU", "zh", None),
        ("BLEU(tokenize=13a)", "zh", "leaves texts in zh uncut (tokenize=13a), so that nearly every score is 0"),
        ("ROUGE-L(tokenizer=rouge-score)", "ru", "knows only a-z and 0-9"),
        ("TER", "th", "takes whole sentences in th for words"),
        ("TER", "zh", None),
        ("SARI(tokenizer=13a)", "ja", "takes whole sentences in ja for words (tokenizer=13a)"),
        ("WER", "lo", None),
        ("METEOR", "en", None),
        ("METEOR", "fr", "matches words of fr by form and stem, without synonyms"),
        ("METEOR", "cs", "matches words of cs by form alone, without synonyms"),
        ("METEOR(language=en)", "fr", "matches stems and synonyms of en, not of fr"),
        ("SPICE", "de", "is made for en, not for de"),
    ],
)
def test_what_can_not_work_is_doubted(spec: str, language: str, doubt: str | None) -> None:
    spoken = language_of(language)
    assert spoken is not None
    said = metric_for(language, spec).language_doubt(spoken)
    assert said is None if doubt is None else said is not None and said.startswith(doubt)


def test_every_door_to_a_boards_metrics_asks_the_language() -> None:
    instances = (Instance("a", references=(Reference("r", TEXTS["zh"][1]),)),)
    row = row_of(Generator("g"), instances, (TEXTS["zh"][0],))
    board = Board(name="b", instances=instances, rows=(row,), metrics=("BLEU", "TER"), output_language="Chinese")
    expected = [metric_for("zh", name).signature for name in board.metrics]
    assert [made.signature for made in named_metrics(board)] == expected
    assert [made.signature for made in chosen_metrics(board, None)] == expected
    assert [made.signature for made in chosen_metrics(board, ["BLEU", "TER"])] == expected
    assert [made.signature for made in board_metrics(board)[0]] == expected
