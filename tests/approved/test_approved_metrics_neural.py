"""Learned metrics on tiny models: what every option changes of scores, and how models that don't fit are refused."""

from __future__ import annotations

import json
import math
import os
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from approving import APPROVE, approve
from command_transcripts import ran, steady
from punkt_data import sentence_data

from billboards.errors import BillboardsError
from billboards.metrics.base import Batch, Metric, score_checked, score_rows_checked
from billboards.metrics.discovery import metric

pytest.importorskip("torch", reason="torch is not installed: pip install 'billboards[neural]'")
pytest.importorskip("transformers", reason="transformers is not installed: pip install 'billboards[neural]'")
pytest.importorskip("yaml")

from tiny_checkpoints import tiny_checkpoints

LONG = " ".join(["the small dog ran under a mat ,"] * 12)
BATCH = Batch(
    [
        "the cat sat on the mat .",
        "Then Carol left Rome in 1999 . a dog ran away .",
        "",
        "Alice met Bob . 7 cat ran .",
        LONG,
        "Carol saw Bob in Oslo .",
    ],
    [
        ["a cat sat on the mat .", "the cat sat"],
        ["Carol left Paris in 1999 .", "the dog ran"],
        ["Bob met the cat ."],
        ["Bob met Alice .", ""],
        [LONG[:60]],
        ["in Oslo Carol met Alice .", "7 dog ran"],
    ],
    [
        "the small cat sat . a dog ran under the mat .",
        "Carol left Rome in 1999 . a small dog ran . it ran away",
        "Alice saw 12 cat .",
        "Alice met Bob in Paris . Then 7 cat ran in Oslo .",
        "the dog and Bob",
        "",
    ],
    "en",
)
#: Metrics by their names, each with its checkpoints and the options that are tried beside the plain ones.
ASKED: Mapping[str, tuple[dict[str, str], tuple[dict[str, Any], ...]]] = {
    "COMET": ({"model": "comet"}, ({"precision": "bf16"}, {"precision": "fp8"}, {"revision": "main"})),
    "COMET-QE": ({"model": "comet-qe"}, ()),
    "COMETKiwi": ({"model": "kiwi"}, ()),
    "UniTE": ({"model": "unite"}, ()),
    "XCOMET": ({"model": "xcomet"}, ()),
    "XCOMET-QE": ({"model": "xcomet"}, ()),
    "LENS": ({"model": "lens"}, ({"rescale": False},)),
    "BLEURT": ({"model": "bleurt"}, ({"precision": "bf16"},)),
    "AlignScore": (
        {"model": "align"},
        (
            {"mode": "nli"},
            {"mode": "bin"},
            {"mode": "bin_sp"},
            {"mode": "reg"},
            {"mode": "none"},
            {"size": "large"},
            {"size": "huge"},
        ),
    ),
    "SummaC-ZS": (
        {"model": "nli"},
        (
            {"granularity": "document"},
            {"granularity": "paragraph"},
            {"granularity": "2sents"},
            {"granularity": "words"},
            {"op1": "mean"},
            {"op2": "min"},
            {"op1": "none"},
            {"use_ent": False},
            {"use_con": False},
            {"use_ent": False, "use_con": False},
            {"labels": "2,1,0"},
            {"labels": "0"},
        ),
    ),
    "SummaC-Conv": (
        {"model": "nli", "convolution": "layer"},
        (
            {"agg": "min"},
            {"agg": "none"},
            {"bins": "even5"},
            {"bins": "even23"},
            {"bins": "none"},
            {"nli_labels": "ec"},
            {"nli_labels": "x"},
        ),
    ),
    "MetricX": (
        {"model": "metricx-24-hybrid-large-v2p6", "tokenizer": "mt5"},
        ({"generation": "23"}, {"generation": "25"}, {"precision": "bf16"}),
    ),
    "MetricX-QE": ({"model": "metricx-24-hybrid-large-v2p6", "tokenizer": "mt5"}, ({"generation": "23"},)),
    "UniEval": (
        {"model": "unieval"},
        (
            {"task": "dialogue"},
            {"task": "fact"},
            {"task": "none"},
            {"dimensions": "fluency+coherence"},
            {"dimensions": "wit"},
            {"dimensions": "fluency+fluency"},
        ),
    ),
    "BERTScore": (
        {"model": "BERT"},
        (
            {"layer": 1},
            {"layer": 2, "idf": True},
            {"layer": 0},
            {"layer": 9},
            {"layer": -1},
            {"layer": 1, "baseline": "known"},
            {"layer": 1, "baseline": "nowhere.tsv"},
            {"layer": 1, "language": "en"},
        ),
    ),
    "MoverScore": (
        {"model": "BERT"},
        (
            {"layers": 1},
            {"layers": 2, "idf": False},
            {"layers": 3, "ngram": 2},
            {"layers": 1, "squared": True},
            {"ngram": 0},
            {"layers": 0},
        ),
    ),
    "sentence-cosine": ({"model": "BERT"}, ({"precision": "fp16"},)),
    "source-cosine": ({"model": "XLM-R"}, ()),
    "YiSi-1": (
        {"model": "BERT"},
        ({"layer": 1}, {"layer": 2, "n": 2}, {"layer": 2, "alpha": 0.5}, {"layer": 9}, {"layer": 1, "n": 0}),
    ),
    "WMD": ({"model": "vectors"}, ({"norm": False}, {"tokenize": "none"}, {"tokenize": "x"})),
    "MAUVE": (
        {"model": "GPT-2"},
        (
            {"references": "first"},
            {"buckets": 2},
            {"buckets": 3, "smoothed": True},
            {"buckets": 2, "scaling": 2.0},
            {"buckets": -1},
            {"variance": 0.0},
            {"scaling": 0.0},
            {"starts": 0},
            {"references": "none"},
        ),
    ),
    "perplexity": ({"model": "GPT-2"}, ({"precision": "bf16"},)),
    "BARTScore": (
        {"model": "BART"},
        (
            {"direction": "precision"},
            {"direction": "recall"},
            {"normalised": False},
            {"direction": "x"},
            {"language": "en"},
        ),
    ),
    "BARTScore-src": ({"model": "T5"}, ({"normalised": False}, {"source_language": "de"})),
    "Prism-ref": ({"model": "BART"}, ({"language": "en"},)),
    "Prism-src": ({"model": "BART"}, ()),
    "SummaQA": (
        {"qa": "reader"},
        ({"mask": "the"}, {"window": 32, "overlap": 8}, {"longest_answer": 2}, {"overlap": 400}),
    ),
    "QAEval": (
        {"qa": "reader", "qg": "writer"},
        (
            {"scope": "text"},
            {"scope": "none"},
            {"beams": 1, "longest_question": 6},
            {"beams": 0},
            {"template": "{answer} </s> {context}"},
            {"template": "x"},
        ),
    ),
    "QuestEval": (
        {"qa": "reader", "qg": "writer"},
        ({"weighter": "none", "similarity": "EM"}, {"used": "none"}, {"no_answer": ""}),
    ),
    "QuestEval-ref": ({"qa": "reader", "qg": "writer"}, ()),
    "QuestEval-both": ({"qa": "reader", "qg": "writer"}, ()),
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tiny")


@pytest.fixture(scope="module")
def made(home: Path) -> Callable[[str], Path]:
    (home / "vectors.txt").write_text(vectors_text(), "utf-8")
    make = tiny_checkpoints(home)
    return lambda name: home / "vectors.txt" if name == "vectors" else make(name)


@pytest.fixture(autouse=True)
def punkt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Sentences as nltk cuts them, and nothing of the machine's own settings."""
    for name in [name for name in os.environ if name.startswith(("BILLBOARDS_", "HF_"))]:
        if name != APPROVE:
            monkeypatch.delenv(name)
    monkeypatch.setenv("BILLBOARDS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("COLUMNS", "132")
    with sentence_data(tmp_path / "nltk"):
        yield


def vectors_text() -> str:
    words = dict.fromkeys(
        word for texts in (*BATCH.references, BATCH.outputs) for text in texts for word in text.split()
    )
    numbers = np.random.RandomState(3).standard_normal((len(words), 5))
    return "".join(f"{word} {' '.join(f'{x:.4f}' for x in row)}\n" for word, row in zip(words, numbers, strict=True))


def numbers(values: Any) -> str:
    """Scores in a line, to the digits that every processor gives."""
    return " ".join("–" if math.isnan(value) else f"{value + 0.0:.4f}" for value in np.ravel(values).tolist())


def scored(made: Metric, batch: Batch = BATCH) -> Any:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            told: dict[str, Any] = {
                part or "scores": numbers(values) for part, values in score_checked(made, batch).items()
            }
            if made.corpus == "system":
                told["together"] = numbers(made.corpus_score(batch))
        except BillboardsError as error:
            told = {type(error).__name__: str(error)}
    ours = [str(each.message) for each in caught if type(each.message).__module__.startswith("billboards")]
    return told | ({"warned": ours} if ours else {})


def signature(made: Metric) -> str:
    try:
        return f"|{made.signature}"
    except BillboardsError as error:
        return f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("name", ASKED)
def test_a_learned_metric_scores_with_every_option_as_approved(
    name: str, made: Callable[[str], Path], home: Path, tmp_path: Path
) -> None:
    parts, variants = ASKED[name]
    given = {option: str(made(part)) for option, part in parts.items()}
    if name in ("BERTScore", "YiSi-1"):
        given["layer"] = 2  # type: ignore[assignment]
    if name == "MoverScore":
        given["layers"] = 2  # type: ignore[assignment]
    plain = metric(name, **given)
    told: dict[str, Any] = {
        "name": plain.name.replace(str(home), "HOME"),
        "signature": signature(plain),
        "parts": plain.parts,
        "scores": scored(plain),
    }
    rotated = Batch([*BATCH.outputs[1:], BATCH.outputs[0]], BATCH.references, BATCH.inputs, "en")
    if plain.scores_together and plain.corpus != "system":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rows = score_rows_checked(plain, [rotated, BATCH])
        told["together"] = [{part: numbers(values) for part, values in row.items()} for row in rows]
    changed = {}
    for options in variants:
        words = ",".join(f"{option}={value}" for option, value in options.items())
        try:
            varied = metric(name, **{**given, **options})
            facts = [fact for fact in signature(varied).split("|") if fact not in signature(plain).split("|")]
            # Half the digits are rounded otherwise by every processor.
            changed[words] = {"signature": facts, **({} if facts and facts[0].endswith("16") else scored(varied))}
        except BillboardsError as error:
            changed[words] = {type(error).__name__: str(error)}
    told["changed"] = changed
    told["without a model"] = (
        scored(metric(name))
        if name not in ("sentence-cosine", "source-cosine", "BERTScore", "MoverScore")
        else "minilm"
    )
    told["nowhere"] = scored(metric(name, **{**given, next(iter(parts)): str(home / "nowhere")}))
    told["a model that is not here"] = scored(metric(name, **{**given, next(iter(parts)): "nobody/nothing"}))
    approve(f"learned/{name}", placed(steady(told), home, tmp_path))


WRONG: Mapping[str, Mapping[str, str]] = {
    "no config": {},
    "no weights": {
        "config.json": json.dumps({"model_type": "t5", "d_model": 8}),
        "hparams.yaml": "class_identifier: x\n",
    },
    "other hparams": {"hparams.yaml": "- 1\n", "checkpoints/model.ckpt": "x"},
    "broken weights": {
        "hparams.yaml": "class_identifier: regression_metric\npretrained_model: x\nencoder_model: BERT\n",
        "checkpoints/model.ckpt": "x",
        "AlignScore-base.ckpt": "x",
    },
    "another kind": {"hparams.yaml": "class_identifier: ranking_metric\n", "checkpoints/model.ckpt": "x"},
}
#: Metrics that read a folder as billboards does, without transformers' own words.
READING = ("COMET", "XCOMET", "COMETKiwi", "UniTE", "LENS", "BLEURT", "AlignScore", "MetricX", "UniEval")


def test_folders_that_hold_no_model_are_refused_as_approved(
    made: Callable[[str], Path], home: Path, tmp_path: Path
) -> None:
    told: dict[str, Any] = {}
    for kind, files in WRONG.items():
        folder = tmp_path / kind.replace(" ", "-")
        folder.mkdir()
        for name, text in files.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text, "utf-8")
        # What of these transformers reads is refused in its words.
        for name in (
            READING
            if kind == "no config"
            else [each for each in READING if each not in ("BLEURT", "UniEval", "MetricX")]
        ):
            more = {"tokenizer": str(made("mt5"))} if name == "MetricX" else {}
            told[f"{name}: {kind}"] = scored(metric(name, model=str(folder), **more))
    swapped = {
        "COMET": "comet-qe",
        "COMET-QE": "comet",
        "COMETKiwi": "unite",
        "UniTE": "kiwi",
        "XCOMET": "comet",
        "LENS": "comet",
        "BLEURT": "BERT",
        "UniEval": "metricx-23-large-v2p0",
        "perplexity": "BART",
        "BARTScore": "GPT-2",
    }
    for name, other in swapped.items():
        told[f"{name} of {other}"] = scored(metric(name, model=str(made(other))))
    approve("learned/refused", placed(steady(told), home, tmp_path))


def test_errors_that_a_model_marks_are_as_approved(made: Callable[[str], Path]) -> None:
    from billboards.metrics.neural.comet_spans import XComet, XCometQE

    told = {}
    for kind in (XComet, XCometQE):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            spans = kind(str(made("xcomet"))).error_spans(BATCH)
        rounded = [[{**asdict(span), "confidence": numbers([span.confidence])} for span in each] for each in spans]
        told[kind.__name__] = rounded
    approve("learned/spans", told)


def test_commands_about_learned_metrics_print_what_was_approved(
    made: Callable[[str], Path],
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "outputs.txt").write_text("the cat sat\na dog ran away\n", "utf-8")
    (tmp_path / "references.txt").write_text("a cat sat\nthe dog ran\n", "utf-8")
    (tmp_path / "one.txt").write_text("a cat sat\n", "utf-8")
    (tmp_path / "many.txt").write_text(
        "".join(f"{text}\n" for text in LONG.split(" , ")) + "the cat sat\nnot very small\n", "utf-8"
    )
    model = made("BERT")
    commands = (
        f"bertscore score -c outputs.txt -r references.txt -m {model} -l 2",
        f"bertscore score -c outputs.txt -r references.txt references.txt -m {model} -l 2 --idf -s",
        f"bertscore score -c outputs.txt -r references.txt -m {model} -l 1 -s --json",
        f"bertscore score -c outputs.txt -r references.txt -m {model} -l 9",
        f"bertscore score -c outputs.txt -r one.txt -m {model} -l 1",
        f"bertscore score -c nowhere.txt -r one.txt -m {model} -l 1",
        f"bertscore score -c outputs.txt -r references.txt -m {model} -l 1 --rescale",
        "bertscore score -c outputs.txt -r references.txt -m nobody/nothing -l 1",
        "bertscore score -c outputs.txt -r references.txt",
        f"bertscore match 'the cat sat' 'a cat sat' --model {model} --layer 1 -o match.svg",
        f"bertscore match '' 'a cat sat' --model {model} --layer 1",
        f"bertscore match 'the cat sat' 'a cat sat' --model {model}",
        f"bertscore baseline many.txt --model {model} --pairs 5 -o baseline.tsv",
        f"bertscore baseline one.txt --model {model} --pairs 5 -o baseline.tsv",
        f"bertscore baseline nowhere.txt --model {model} -o baseline.tsv",
        f"bertscore score -c outputs.txt -r references.txt -m {model} -l 1 --baseline baseline.tsv",
        "bertscore fetch nobody/none --offline",
        "bertscore fetch nobody/none --offline --json",
        f"metrics 'BERTScore(model={model},layer=1)'",
        f"metrics 'COMET(model={made('comet')})' --json",
        f"metrics 'XCOMET(model={made('comet')})'",
        (
            "score --output outputs.txt --reference references.txt "
            f"--metric 'BERTScore(model={model},layer=1)' --draws 20 --json"
        ),
        (
            f"score --output outputs.txt --reference references.txt --source references.txt "
            f"--metric 'COMET(model={made('comet')})' --json --draws 20"
        ),
    )
    told: dict[str, Any] = {command.replace(str(home), "HOME"): ran(capsys, command) for command in commands}
    told["baseline.tsv"] = [
        [f"{float(cell):.4f}" if "." in cell else cell for cell in line.split(",")]
        for line in (tmp_path / "baseline.tsv").read_text().splitlines()
    ]
    approve("learned/commands", rounded(placed(steady(told), home, tmp_path)))


def placed(value: Any, home: Path, here: Path) -> Any:
    """A plain value that names no folder of this run, and no version of a library."""
    text = json.dumps(value, ensure_ascii=False).replace(str(here), "HERE").replace(str(home), "HOME")
    text = re.sub(r"weights:[\w.-]+", "weights:SOME", text)
    text = re.sub(r"(hug_trans=|billboards-)[\d.]+\w*", r"\1VERSION", text)
    return json.loads(text)


def rounded(value: Any) -> Any:
    """A plain value with its numbers to four digits."""
    if isinstance(value, dict):
        return {key: rounded(part) for key, part in value.items()}
    if isinstance(value, list):
        return [rounded(part) for part in value]
    if isinstance(value, float):
        return f"{value:.4f}"
    return (
        re.sub(r"(?<![\w.:])\d+\.\d{5,}(?![\w.])", lambda number: f"{float(number[0]):.4f}", value)
        if isinstance(value, str)
        else value
    )
