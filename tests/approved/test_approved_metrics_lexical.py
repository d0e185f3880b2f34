"""Metrics that read words and letters: every option, on texts of many languages, each by each and all together."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from approving import approve
from command_transcripts import steady
from multilingual_texts import CHINESE, ENGLISH, TEXTS

from billboards.api.texts import score_texts
from billboards.errors import BillboardsError
from billboards.metrics import spelling
from billboards.metrics.base import (
    Batch,
    CardedMetric,
    Metric,
    score_checked,
    score_counted_checked,
    score_rows_checked,
)
from billboards.metrics.cards import card_facts, markdown
from billboards.metrics.discovery import (
    board_metric,
    canonical,
    column_name,
    installed_metric,
    is_file,
    is_name,
    metric,
    metric_for,
    metrics_named,
    part_names,
)
from billboards.metrics.labels import column_label, relabelled_text, shown_model
from billboards.metrics.languages import language_of
from billboards.metrics.texts import read_references
from billboards.metrics.words import (
    caption_words,
    spaced_characters,
    split,
    stem,
    unicode_characters,
    unicode_words,
)
from billboards.stats.resampling import Resampling, Swaps

NAMES = (
    "BLEU",
    "CDER",
    "CER",
    "CIDEr",
    "CIDEr-D",
    "CharacTER",
    "EED",
    "METEOR",
    "NIST",
    "PER",
    *(f"ROUGE-{n}" for n in (1, 2, 3, 4, 5, 9)),
    "ROUGE-L",
    "ROUGE-Lsum",
    "SARI",
    "SARI-corpus",
    "TER",
    "WER",
    "YiSi-0",
    *(f"abstractness-{n}" for n in (1, 2, 3)),
    "chrF",
    "chrF++",
    "length",
    "ngram-perplexity",
    *(f"repetition-{n}" for n in (1, 2, 3)),
)
#: What options that take words may be, beside their defaults.
WORDS = {
    "tokenize": ("none", "zh", "intl", "char", "13a", "nothing"),
    "smooth": ("none", "floor", "floor[0.05]", "add-k", "add-k[2]", "floor[x]", "exp[1]", "none-such"),
    "tokenizer": ("unicode", "characters", "split", "spaces", "captions", "13a", "rouge-score", "nothing"),
    "references": ("mean", "best", "all"),
    "definition": ("beametrics", "corrected", "original", "nothing"),
    "language": ("de", "auto", "xx"),
}
#: Metrics whose options are many: those are tried on texts that differ, the others on English ones.
SHOWN = ("English", "Chinese")


def others(name: str, default: object) -> tuple[Any, ...]:
    """What an option may be beside its default."""
    if isinstance(default, bool):
        return (not default,)
    if isinstance(default, int):
        return (default + 1, max(default - 1, 0), 0, -1)
    if isinstance(default, float):
        return (default * 2, default / 4, 0.0, -1.0)
    return tuple(word for word in WORDS.get(name, ()) if word != default)


def numbers(values: Any) -> str:
    """Numbers in a line, to six digits."""
    plain = [0.0 if abs(value) < 1e-12 else value for value in np.ravel(values).tolist()]
    return " ".join("–" if math.isnan(value) else f"{value:.6g}" for value in plain)


def scored(made: Metric, batch: Batch) -> Any:
    """What is said of texts, each by each and together; or why nothing is."""
    try:
        parts, counts = score_counted_checked(made, batch)
        told = {part or "scores": numbers(scores) for part, scores in parts.items()}
        told["together"] = numbers(made.corpus_score(batch))
        if counts is not None:
            told["counts"] = f"{counts.shape} {numbers(counts.sum(axis=0))}"
    except BillboardsError as error:
        return f"{type(error).__name__}: {error}"
    return told


def variants(name: str) -> Iterator[dict[str, Any]]:
    """An option after the other, otherwise than by default."""
    for option in fields(type(metric(name))):
        if option.init:
            yield from ({option.name: value} for value in others(option.name, option.default))


@pytest.mark.parametrize("name", NAMES)
def test_a_metric_says_of_texts_what_was_approved(name: str, small_wordnet: Path) -> None:
    made = metric(name)
    told: dict[str, Any] = {"plain": {kind: scored(made, batch) for kind, batch in TEXTS.items()}}
    languages = {}
    for kind, batch in TEXTS.items():
        # Japanese is cut by a program that may be absent.
        if kind == "Japanese":
            continue
        fitted = made.for_language(batch.language)
        languages[kind] = {"signature": fitted.signature.split("|"), "name": [fitted.name, fitted.full_name]}
        if fitted.signature != made.signature:
            languages[kind]["scores"] = scored(fitted, batch)
    told["languages"] = languages
    doubts = {
        code: made.language_doubt(language)
        for code in ("en", "zh", "th", "ru", "ja", "de", "he")
        if (language := language_of(code))
    }
    told["doubts"] = {code: doubt for code, doubt in doubts.items() if doubt}
    changed: dict[str, Any] = {}
    for options in variants(name):
        words = ",".join(f"{option}={value}" for option, value in options.items())
        try:
            varied = metric(name, **options)
        except BillboardsError as error:
            changed[words] = f"{type(error).__name__}: {error}"
            continue
        unlike = {kind: scored(varied, TEXTS[kind]) for kind in SHOWN}
        same = {kind for kind in SHOWN if unlike[kind] == told["plain"][kind]}
        changed[words] = {"name": varied.name, "takes best": varied.takes_best_reference} | {
            kind: "the same" if kind in same else of for kind, of in unlike.items()
        }
    told["changed"] = changed
    told["corpus signatures"] = [
        made.corpus_signature(),
        made.corpus_signature(2, draws=1000),
        made.corpus_signature("var", trials=10, seed=3),
    ]
    told["facts"] = [made.needs_all_outputs, made.takes_best_reference, made.parts, made.corpus]
    alone = Batch(ENGLISH.outputs[:1], ENGLISH.references[:1], ENGLISH.inputs[:1], "en")
    told["alone"] = scored(made, alone)
    told["nothing"] = "no formula" if name == "SARI-corpus" else scored(made, Batch([], [], [], "en"))
    approve(f"lexical/{name}", steady(told))


def test_values_of_corpora_have_the_intervals_and_tests_that_were_approved(small_wordnet: Path) -> None:
    told: dict[str, Any] = {}
    resampling, swaps = Resampling(40, 5), Swaps(40, 5)
    rotated = [*ENGLISH.outputs[1:], ENGLISH.outputs[0]]
    for name in NAMES:
        made = metric(name)
        first = made.score(list(ENGLISH.outputs), list(ENGLISH.references), list(ENGLISH.inputs), nesting="output")
        second = made.score(rotated, list(ENGLISH.references), list(ENGLISH.inputs), nesting="output")
        value, tests = first.value(resampling), first.tests(second, resampling, swaps)
        told[name] = {
            "text": str(first),
            "signature": first.signature,
            "references": first.references,
            "value": numbers([value.value, value.low, value.high, value.mean, value.sentence_mean, value.half_width]),
            "n": value.n,
            "tests": None if tests is None else numbers([tests.difference, tests.bootstrap, tests.randomisation]),
            "interval": numbers(first.interval(draws=20, seed=1)),
            "same": numbers([float(first), first[0], len(first), *first[1:3], *list(first)[:1], np.asarray(first)[1]]),
        }
    approve("lexical/corpora", steady(told))


def test_rows_that_are_scored_together_are_as_alone(small_wordnet: Path) -> None:
    rotated = Batch([*ENGLISH.outputs[1:], ENGLISH.outputs[0]], ENGLISH.references, ENGLISH.inputs, "en")
    for name in NAMES:
        made = metric(name)
        together = score_rows_checked(made, [ENGLISH, rotated])
        for batch, row in zip((ENGLISH, rotated), together, strict=True):
            for part, values in score_checked(made, batch).items():
                np.testing.assert_allclose(values, row[part], err_msg=f"{name}[{part}]", rtol=1e-12)


def test_words_are_cut_and_stemmed_as_approved() -> None:
    cutters: dict[str, Callable[[str], Any]] = {
        "split": split,
        "unicode": unicode_words,
        "characters": unicode_characters,
        "captions": caption_words,
        "spaced": lambda text: spaced_characters(text).split(),
    }
    texts = dict.fromkeys(text for batch in TEXTS.values() for text in (*batch.outputs, *batch.inputs))
    told: dict[str, Any] = {
        text: {name: "·".join(cut(text)) for name, cut in cutters.items()} for text in texts if text
    }
    words = ("running", "houses", "happily", "flies", "relational", "Häuser", "gegangen", "corriendo", "домами", "x")
    codes = ("en", "de", "es", "fr", "ru", "sv", "fi", "nl")
    told["stems"] = {code: " ".join(stem(word, code) for word in words) for code in codes}
    written = (
        "zh",
        "zh-CN",
        "zh_TW",
        "zho_Hans",
        "cmn",
        "Chinese",
        "chinese",
        "EN-gb",
        "eng",
        "Thai",
        "tha",
        "xx",
        "xx-Arab",
        "ja",
        "jpn",
        "nb",
        "Norwegian",
        "hbs",
        "sr_Latn",
        "sr",
        "",
        "  de ",
        "klingon",
        "e",
        "English (US)",
        None,
    )
    told["languages"] = {str(word): str(language_of(word)) for word in written}
    approve("lexical/words", steady(told))


SPECS = (
    "BLEU",
    "bleu",
    " chrF ( beta = 1 ) ",
    "chrF(beta=1,lowercase=True)",
    "chrF(beta=1.5)",
    "chrF(beta=yes)",
    "chrF(beta)",
    "chrF(colour=red)",
    "chrF(bet=1)",
    "chrF()",
    "chrF(",
    "chrF)beta=1(",
    "ROUGE-L[recall]",
    "rouge-l[RECALL]",
    "ROUGE-L[nothing]",
    "ROUGE-L[]",
    "ROUGE-L(stemmer=True)[precision]",
    "ROUGE-L[recall](stemmer=True)",
    "TER[x]",
    "BLEU(smooth=floor[0.05])",
    "BLEU(smooth='add-k')",
    "BLEU(tokenize=zh)",
    "BLEU(lowercase=no)",
    "BLEU(lowercase=1)",
    "BLEU(max_ngram_order=2)",
    "EED(alpha=1)",
    "EED(alpha=99999999999999999999)",
    "METEOR(early_nltk=True)",
    "BLUE",
    "",
    "  ",
    "judge",
    "pack:none",
    "pack:none(x=1)",
    "nothing:none",
    "mine.py",
    "nowhere.py",
    "wrong.py",
    "bad name.py",
    "needs.py",
    "higher.py",
    "empty.py",
    "folder.py",
    "two.py",
)
FILES = {
    "mine.py": '"""Capitals.\n\nMore."""\nNAME = "capitals"\nNEEDS = []\nHIGHER_IS_BETTER = False\n'
    "def score(outputs, references, inputs):\n    return [sum(c.isupper() for c in o) for o in outputs]\n",
    "wrong.py": "raise KeyError(3)\n",
    "bad name.py": 'NAME = "a|b"\ndef score(outputs, references, inputs):\n    return outputs\n',
    "needs.py": 'NEEDS = ["colour"]\ndef score(outputs, references, inputs):\n    return outputs\n',
    "higher.py": 'HIGHER_IS_BETTER = "no"\ndef score(outputs, references, inputs):\n    return outputs\n',
    "empty.py": "",
    "two.py": "def score(outputs, inputs):\n    return [len(o) - len(i) for o, i in zip(outputs, inputs)]\n",
}


def words_only(outputs: list[str]) -> list[float]:
    """The number of words.

    Nothing else.
    """
    return [len(output.split()) for output in outputs]


def shared(outputs: list[str], references: list[list[str]], inputs: list[str], *, most: int = 5) -> list[float]:
    return [min(most, len(texts)) + len(given) for _, texts, given in zip(outputs, references, inputs, strict=True)]


def too_few(outputs: list[str]) -> list[float]:
    return [1.0] * (len(outputs) - 1)


def not_finite(outputs: list[str]) -> list[float]:
    return [float("inf") if output == "x" else 1.0 for output in outputs]


def no_numbers(outputs: list[str]) -> list[Any]:
    return list(outputs)


def other_words(outputs: list[str], colour: str) -> list[float]:
    return [1.0 for _ in outputs if colour]


def without_outputs(references: list[list[str]]) -> list[float]:
    return [float(len(texts)) for texts in references]


FUNCTIONS = (words_only, shared, too_few, not_finite, no_numbers, other_words, without_outputs)


def facts(make: Callable[[], Metric]) -> Any:
    """A metric that was made: how it is called and what it needs; or why none was."""
    try:
        made = make()
        card = made.card
        return {
            # Of what brings a card of its own the full name is no name.
            "name": [made.name, made.label, *([] if isinstance(made, CardedMetric) else [made.full_name])],
            "signature": re.sub(r"(file|function):[0-9a-f]+", r"\1:DIGEST", made.signature),
            "needs": [card.needs_references, card.needs_input, made.needs_corpus, made.travels],
            "card": [card.name, card.summary, card.higher_is_better, card.parts, card.range],
            "written": sorted(made.written),
            "missing": card.missing(),
        }
    except BillboardsError as error:
        return f"{type(error).__name__}: {error}"


def test_names_files_and_functions_become_the_metrics_that_were_approved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BILLBOARDS_PACKS", str(tmp_path / "packs"))
    (tmp_path / "folder.py").mkdir()
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, "utf-8")
    told: dict[str, Any] = {"metrics": {spec: facts(partial(metric, spec)) for spec in SPECS}}
    for name, read in (("board", lambda spec: board_metric(spec, "zh")), ("installed", installed_metric)):
        unlike = {}
        for spec in SPECS:
            made = facts(partial(read, spec))
            if made != told["metrics"][spec]:
                unlike[spec] = made
        told[name] = unlike
    told["for Chinese"] = {
        name: [made.name, made.full_name, made.signature, sorted(made.by_language), sorted(made.against_language)]
        for name in (
            "BLEU",
            "BLEU(tokenize=13a)",
            "BLEU(tokenize=zh)",
            "TER",
            "ROUGE-L",
            "ROUGE-L[recall]",
            "WER",
            "CIDEr",
        )
        for made in [metric_for("zh", name)]
    }
    told["functions"] = {function.__name__: facts(partial(metric, function)) for function in FUNCTIONS}
    told["function scores"] = {function.__name__: scored(metric(function), ENGLISH) for function in FUNCTIONS[:5]}
    told["file scores"] = {name: scored(metric(name), ENGLISH) for name in ("mine.py", "two.py")}
    told["named functions"] = {
        name: facts(partial(metric, words_only, name=name, higher_is_better=False))
        for name in ("a", "a|b", "", "<lambda>")
    }
    given: tuple[Any, ...] = (
        3,
        None,
        lambda outputs: outputs,
        len,
        metric("TER"),
        type(metric("chrF")),
        Path("mine.py"),
    )
    told["others"] = [facts(partial(metric, spec)) for spec in given]
    told["others with options"] = [facts(partial(metric, spec, beta=3)) for spec in given[4:]]
    told["several"] = [made.name for made in metrics_named(["BLEU", "bleu", "chrF(beta=2)", "chrF", words_only])]
    told["spelled"] = {
        spec: [
            told_by(partial(canonical, spec)),
            is_file(spec),
            is_name(spec),
            told_by(partial(part_names, [spec])),
            told_by(partial(column_name, spec)),
        ]
        for spec in SPECS
    }
    told["cut"] = {
        text: told_by(partial(cut, text))
        for text in ("a=1", "a=1,b=[2,3],c='x,y'", ' a = "q" ,', "a", "a=", "=1", "a=b=c")
    }
    told["read"] = {
        text: [
            told_by(partial(spelling.read_value, text)),
            told_by(partial(spelling.read_value, text, takes_text=True)),
        ]
        for text in ("1", "1.5", "'a'", "a", "True", "None", "[1]", "1 +", "(" * 300)
    }
    told["labels"] = [
        column_label(name, signature)
        for name in ("BERTScore", "BERTScore(model=x,idf=True)", "BERTScore(idf=True)[P] (own)", "chrF", "BERTScore-2")
        for signature in (
            "BERTScore|model:minilm|idf:False",
            "BERTScore|model:a/roberta-large",
            "chrF|model:x",
            "",
            None,
        )
    ]
    told["models"] = [shown_model(name) for name in ("minilm", "x/all-MiniLM-L6-v2/", "roberta-large", "a/b/c")]
    labels = {"BERTScore": "BERTScore (MiniLM)", "chrF": "the letters"}
    told["relabelled"] = [
        relabelled_text(text, labels)
        for text in ("BERTScore beats chrF.", "BERTScore (MiniLM), chrF++ and chrF|x", "xchrF chrF2 chrF(beta=1) chrF")
    ]
    approve("lexical/names", steady(told), folder=tmp_path)


def cut(text: str) -> list[tuple[str, str]]:
    return list(spelling.cut_options("X", text))


def told_by(make: Callable[[], Any]) -> Any:
    """What comes of it, or the complaint."""
    try:
        return repr(make())
    except BillboardsError as error:
        return f"{type(error).__name__}: {error}"


def test_references_in_any_nesting_are_read_as_approved() -> None:
    outputs = ["the cat sat", "a dog ran"]
    given: tuple[Any, ...] = (
        None,
        "the cat",
        ["the cat", "a dog"],
        ["the cat"],
        ["a", "b", "c"],
        [["the cat"], ["a dog"]],
        [["the cat", "a dog"]],
        [["the cat", "a dog"], ["a cat", "the dog"]],
        [["the cat", "a cat sat"], ["a dog", "the dog ran"]],
        [["q", "r"], ["s", "t"]],
        [["the cat", None], ["a dog", "dog"]],
        [["the cat"], None],
        [None, "a dog"],
        ["the cat", ["a dog"]],
        [["a", "b", "c"], ["d"]],
        [["a", "b", "c"]],
        [["a", 3], ["b", "c"]],
        [3],
        3,
        b"bytes",
        {"a": "b"},
        [],
        [[], []],
        (text for text in ("the cat", "a dog")),
        [("the cat", "cat"), ("a dog", "ran")],
    )
    told = []
    for references in given:
        for nesting in (None, "output", "reference", "both"):
            for alone in (False, True) if nesting is None else (False,):
                chosen = outputs[:1] if alone else outputs
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    shown_given = "made as it is read" if isinstance(references, Iterator) else repr(references)
                    try:
                        read: Any = read_references(references, chosen, alone=alone, nesting=nesting)  # type: ignore[arg-type]
                    except BillboardsError as error:
                        read = f"{type(error).__name__}: {error}"
                told.append([shown_given, nesting, alone, read, [str(each.message) for each in caught]])
    made = metric("chrF")
    calls: dict[str, Callable[[], Any]] = {
        "one text": lambda: made.score("a cat", "the cat"),
        "one text, several references": lambda: made.score("a cat", ["the cat", "a cat"]),
        "no references": lambda: made.score(["a cat"]),
        "no outputs": lambda: made.score([], []),
        "outputs that are none": lambda: made.score([3], ["a"]),  # type: ignore[list-item]
        "outputs are bytes": lambda: made.score(b"a", ["a"]),  # type: ignore[arg-type]
        "too many": lambda: made.score(["a"], ["a", "b"]),
        "a batch": lambda: made.score(ENGLISH),
        "a batch and references": lambda: made.score(ENGLISH, ["a"]),
        "a language": lambda: metric("BLEU").score(
            list(CHINESE.outputs), [list(r) for r in CHINESE.references], language="zh"
        ),
        "no source": lambda: metric("SARI").score(["a"], ["b"]),
        "sources": lambda: metric("SARI").score(["a"], ["b"], ["c"]),
        "one source": lambda: metric("SARI").score("a", "b", "c"),
        "too many sources": lambda: metric("SARI").score(["a"], ["b"], ["c", "d"]),
        "sources that are none": lambda: metric("SARI").score(["a"], ["b"], [None]),  # type: ignore[list-item]
        "a part": lambda: metric("ROUGE-L[recall]").score(["a b"], ["a c"]),
        "a batch of unlike lengths": lambda: Batch(["a"], [["b"], ["c"]]),
        "a batch of texts": lambda: Batch(["a"], ["b"]),
    }
    approve(
        "lexical/references", steady({"read": told, "called": {name: told_by(call) for name, call in calls.items()}})
    )


def test_texts_of_several_systems_are_compared_as_approved() -> None:
    systems = {
        "first": list(ENGLISH.outputs),
        "second": [*ENGLISH.outputs[1:], ENGLISH.outputs[0]],
        "reference": [texts[0] for texts in ENGLISH.references],
    }
    references = [
        list(texts) for texts in zip(*([*texts, *[texts[-1]] * 4][:3] for texts in ENGLISH.references), strict=True)
    ]
    told: dict[str, Any] = {}
    for compare in (True, False):
        report = score_texts(
            systems,
            references,
            list(ENGLISH.inputs),
            metrics=[metric(name) for name in ("BLEU", "TER", "ROUGE-L", "SARI", "length", "CIDEr")],
            language="en",
            compare=compare,
            draws=30,
            trials=30,
            seed=3,
        )
        told[f"compared: {compare}"] = {
            "document": report.to_document(),
            "tables": [
                [table.title, [column.header for column in table.columns], table.notes] for table in report.tables
            ],
            "latex": report.to_latex(bold=True).splitlines(),
            "plain latex": report.to_latex(bold=False).splitlines(),
            "markdown": report.to_markdown(bold=True).splitlines(),
            "columns": [column.header for column in report.table.columns],
        }
    approve("lexical/systems", steady(told))


def test_cards_are_written_as_approved() -> None:
    made = [metric(name) for name in ("BLEU", "TER", "SARI", "ROUGE-L[recall]", "judge-MQM", "length", "chrF(beta=1)")]
    bare = replace(
        made[0].card, paper=None, failures=" ", range=(None, None), languages=("en", "de"), needs_part="a part"
    )
    cards = [card_facts(each) for each in made]
    approve(
        "lexical/cards", steady({"markdown": markdown(made).splitlines(), "facts": cards, "missing": bare.missing()})
    )
