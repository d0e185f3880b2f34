"""What every importer makes of a small source, of each of its options, and of a source that is spoilt in each way."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from approving import approve, changes, comparable
from importer_sources import MAKERS
from pascal_clone import pascal_clone
from plain_boards import board_words, files_below, told
from public_sets import write_json
from richer_sources import RICHER
from spoilt_files import outcomes

from billboards.board.judgment_sources import Imported
from billboards.board.writing import write_board
from billboards.errors import BillboardsError
from billboards.importers import IMPORTERS
from billboards.importers.mtme import export_board

#: By the name of a source its importer and how it is made.
SOURCES = {**{name: (name, make) for name, make in MAKERS.items() if name in IMPORTERS.own}, **RICHER}
#: Ways of which nothing right is said yet, by importer.
LEFT: Mapping[str, tuple[str, ...]] = {"helm": ("0.stats is",), "lm-eval": ("metrics.0 is", "resps.0.0 is")}
#: Sources that are read as another one is.
ALIKE = (
    "sfhot",
    "sfres",
    "flickr8k by experts",
    "flickr8k by the crowd",
    "esa of one campaign",
    "helm of a split",
    "multi-summeval in German",
    "psqm of a file",
    "webnlg-2020 with a corpus",
    *(source for source in RICHER if source.endswith("pickled")),
)
#: Most ways in which a file is spoilt.
MOST = 27
#: Most differences of a board that are kept, and most characters of them.
DIFFERENCES, LENGTH = 2, 70


@pytest.mark.parametrize("source", SOURCES)
def test_an_importer_makes_of_a_source_what_was_approved(source: str, tmp_path: Path) -> None:
    name, make = SOURCES[source]
    imported = make(tmp_path / "source").load(name)
    approve(f"sources/{source.replace(' ', '-')}", whole(imported, tmp_path / "board"), folder=tmp_path)


def whole(imported: Imported, target: Path) -> dict[str, Any]:
    """The files that the board is written to, with the notes."""
    return {
        "notes": list(imported.notes),
        "files": parsed(files_below(write_board(imported.board, target), without=(".git",))),
    }


@pytest.mark.parametrize("source", [source for source in SOURCES if source not in ALIKE])
def test_an_importer_says_of_a_spoilt_source_what_was_approved(source: str, tmp_path: Path) -> None:
    name, make = SOURCES[source]
    made = make(tmp_path)
    sound = comparable(content(made.load(name)), folder=str(tmp_path))

    def ask() -> str:
        try:
            now = comparable(content(made.load(name)), folder=str(tmp_path))
        except BillboardsError as error:
            return told(error).replace(str(tmp_path), "FOLDER")
        return shortly(sound, now)

    answers: dict[str, Any] = {}
    files = [path for path in made.files if path.is_file()]
    most = max(6, MOST // max(1, len(files)))
    for place, path in enumerate(files):
        own, whole = str(path.relative_to(tmp_path)), 8 if place < 2 else 3
        said = outcomes(path, ask, most=most, whole=whole, left=LEFT.get(name, ()))
        answers[own] = {words.replace(f"ImportRefused: FOLDER/{own}", "FILE"): ways for words, ways in said.items()}
    approve(f"spoilt-sources/{source.replace(' ', '-')}", answers, folder=tmp_path)


def parsed(files: dict[str, Any]) -> dict[str, Any]:
    """Settings and lines of JSON as what they say, which is shorter than as it is written."""
    return {
        name: clipped(tomllib.loads("\n".join(lines)))
        if name.endswith(".toml")
        else [read_line(line) for line in lines]
        for name, lines in files.items()
    }


def clipped(value: Any) -> Any:
    """Settings with the beginnings of long texts, which are kept whole as importers' cards."""
    if isinstance(value, dict):
        return {key: clipped(part) for key, part in value.items()}
    return value[:48] if isinstance(value, str) else value


def read_line(line: str) -> Any:
    return json.loads(line) if line.startswith("{") else line


def content(imported: Imported) -> dict[str, Any]:
    return {"notes": list(imported.notes), **board_words(imported.board)}


def shortly(sound: Any, now: Any) -> str:
    """What has become other, in a line."""
    unlike = [f"{where.removeprefix('$.')}: {new}" for where, (_, new) in islice(changes(sound, now), DIFFERENCES)]
    line = "; ".join(unlike)
    return f"read: {line[:LENGTH]}" if unlike else "read alike"


#: What importers may be asked beside what a source needs, by source; a text that holds FOLDER is a path.
ASKED: Mapping[str, tuple[Mapping[str, Any], ...]] = {
    "arena": ({"lenient": True}, {"name": "no name/"}, {"name": ""}, {"surplus": 1}, {"lenient": "no"}),
    "arena of talks": ({"name": "talks"},),
    "asset": ({"judgments": "pairwise"}, {"judgments": "all"}),
    "billboard": (
        {"board": "wmt20-en-de"},
        {"board": "../x"},
        {"judgments": None},
        {"references": ()},
        {"judgments": None, "references": ()},
        {"references": ("FOLDER/source",)},
        {"references": ("FOLDER/refs", "FOLDER/refs")},
        {"judgments": "FOLDER/nowhere"},
    ),
    "esa": ({"campaign": "none"}, {"campaign": "240315rc5ESA"}),
    "flickr8k": ({"judgments": "none"},),
    "helm": ({"split": "train"}, {"split": "test", "name": "x y"}),
    "hf-dataset": (
        {"output": ()},
        {"output": ("none",)},
        {"input": None},
        {"input": "none"},
        {"id": None},
        {"id": "answers"},
        {"id": "none"},
        {"references": ()},
        {"references": ("none",)},
        {"references": ("question", "answers")},
        {"score": ("exact_match=right",)},
        {"score": ("nobody:exact_match=right",)},
        {"score": ("poor:exact_match",)},
        {"score": ("poor:exact_match=none", "good:m=right")},
        {"split": "train"},
        {"split": "te", "name": "named"},
    ),
    "lm-eval": ({"task": "none"}, {"task": "facts"}, {"filter": "none"}, {"filter": "other"}, {"name": "named"}),
    "lm-eval with choices": ({"filter": "strict"}, {"task": None}),
    "mqm": ({"into": None}, {"into": "FOLDER/nowhere"}),
    "mqm raw": ({"language_pair": "en"}, {"language_pair": "de-en", "name": "x"}, {"name": "."}),
    "mtme": ({"language_pair": "de-en"}, {"judgments": "da"}, {"judgments": "da-sqm"}, {"name": "a b"}),
    "mtme with marked errors": (
        {"language_pair": None},
        {"test_set": "wmt98"},
        {"test_set": None},
        {"language_pair": "zh-en"},
        {"test_set": None, "language_pair": "fr-en"},
    ),
    "multi-summeval": ({"language": "EN"}, {"language": "FR"}, {"language": "de"}),
    "psqm": ({"language_pair": "zhen"}, {"name": "x"}),
    "qags": ({"articles": "cnn"}, {"articles": "xsum"}, {"articles": "bbc"}),
    "simplicity-da": ({"references": "FOLDER/nowhere"}, {"references": "FOLDER"}),
    "table": (
        {"judgment": ["none"]},
        {"judgment": [], "range": []},
        {"range": ["adequacy"]},
        {"range": ["adequacy=5:1"]},
        {"range": ["adequacy=1:1"]},
        {"range": ["adequacy=2:5"]},
        {"range": ["adequacy=a:5"]},
        {"range": ["fluency=1:5"]},
        {"score": ["none"]},
        {"score": []},
        {"generator": "none"},
        {"generator": "output"},
        {"output": "input"},
        {"instance": "document"},
        {"reference": ["reference_A", "input"]},
        {"reference": ["none"]},
        {"annotator": "input"},
        {"tags": "domain", "document": "domain"},
        {"image": "input"},
        {"output_id": "input"},
        {"name": "a/b"},
        {"judgments": "FOLDER/nowhere.csv"},
    ),
    "table tidy": ({"score": []}, {"judgment": ["rating", "BLEU"], "score": [], "range": []}),
    "table judged apart": ({"judgment": ["none"]}, {"range": ["score=0:0.5"]}, {"judgment": ["score"]}),
    "text": (
        {"output": []},
        {"output": ["FOLDER/nowhere.txt"]},
        {"output": ["x=FOLDER/one.txt", "x=FOLDER/two.txt"]},
        {"output": ["all/x=FOLDER/one.txt"]},
        {"reference": []},
        {"reference": ["A=FOLDER/reference.txt", "FOLDER/one.txt"]},
        {"judgments": None},
        {"judgments": None, "first": 0},
        {"first": 0},
        {"first": 2},
        {"by": "id"},
        {"by": "word"},
        {"segment": "none"},
        {"segment": "system"},
        {"system": "line"},
        {"annotator": "score"},
        {"dimension": "annotator"},
        {"judgment": ["line"]},
        {"range": ["score=1:5"]},
        {"range": ["score=1:3"]},
        {"range": ["other=1:3"]},
        {"ids": "FOLDER/human.csv"},
        {"documents": "FOLDER/reference.txt"},
    ),
    "text judged wide": ({"first": 1}, {"system": "one"}, {"by": "id"}, {"range": ["score=0:2"]}),
    "text judged by dimension": ({"judgment": []}, {"dimension": None}, {"segment": None}, {"system": None}),
    "text judged in columns": ({"judgment": ["Adequacy"]}, {"range": ["Adequacy=1:5", "fluency=1:5"]}, {"by": "line"}),
    "thumb": ({"into": "FOLDER/nowhere"},),
    "webnlg-2020": ({"language": "ru"}, {"language": "de"}, {"corpus": "FOLDER/nowhere"}),
    "wmt-da": ({"into": "FOLDER/nowhere"},),
    "wmt19-darr": ({"language_pair": "de-en"}, {"language_pair": "gu-en"}),
}


@pytest.mark.parametrize("source", ASKED)
def test_an_importer_answers_options_as_approved(source: str, tmp_path: Path) -> None:
    name, make = SOURCES[source]
    made = make(tmp_path)
    sound = comparable(content(made.load(name)), folder=str(tmp_path))
    answers = {}
    for options in ASKED[source]:
        try:
            now = IMPORTERS.load(name)(made.source, **{**made.options, **placed(options, tmp_path)})
            unlike = changes(sound, comparable(content(now), folder=str(tmp_path)))
            answers[str(dict(options))] = [f"{where}: {str(new)[:300]}" for where, (_, new) in islice(unlike, 12)]
        except BillboardsError as error:
            answers[str(dict(options))] = [told(error)]
    answers["nothing to read"] = [refusal(name, None, made.options), refusal(name, tmp_path / "absent", made.options)]
    empty = tmp_path / "empty folder"
    empty.mkdir()
    answers["nothing in it"] = [refusal(name, empty, made.options)]
    approve(f"asked-sources/{source.replace(' ', '-')}", answers, folder=tmp_path)


def placed(value: Any, folder: Path) -> Any:
    """Options with a folder of this run in the place of the word for it."""
    if isinstance(value, Mapping):
        return {key: placed(inner, folder) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(placed(inner, folder) for inner in value)
    return value.replace("FOLDER", str(folder)) if isinstance(value, str) else value


def refusal(name: str, source: Path | None, options: Mapping[str, Any]) -> str:
    try:
        return repr(IMPORTERS.load(name)(source, **options).board)
    except BillboardsError as error:
        return told(error)


def pairs_in_lists(path: Path, **changed: Any) -> Path:
    value = {"reference": [["A dog."]] * 4, "candidate": ["dog", "dog", "dog", "cat"], "score": [1, 0, 1, 0]}
    return write_json(path, {**value, **changed})


def test_pairs_of_captions_are_read_and_refused_as_approved(tmp_path: Path) -> None:
    results = np.zeros((1, 5), [("result", "O")])
    for k in range(5):
        results[0, k] = (np.array([[1, 2]]),)
    changes: Mapping[str, Mapping[str, Any]] = {
        "fewer categories": {"category": np.ones((1, 3))},
        "another category": {"category": np.array([[1, 2, 3, 4, 9]])},
        "other systems": {"new_data": np.full((5, 2), 8)},
        "half systems": {"new_data": np.full((5, 2), 1.5)},
        "no end": {"category": np.full((1, 5), np.inf)},
        "a text": {"new_input": "text"},
        "numbers": {"result": np.array([[1, 2]])},
        "votes for a third": {"result": results},
        "one category": {"category": np.ones((1, 5))},
        "votes as whole numbers": {"new_data": np.full((5, 2), 6, np.int16)},
    }
    words: dict[str, Any] = {}
    for name, changed in changes.items():
        words[name] = read_or_refused(pascal_clone(tmp_path / name.replace(" ", "-"), **changed))
    clone = pascal_clone(tmp_path / "cut")
    for name, length in (("cut in its head", 100), ("cut behind it", 200)):
        raw = (clone / "data" / "pair_pascal.mat").read_bytes()
        (clone / "data" / "pair_pascal.mat").write_bytes(raw[:length])
        words[name] = read_or_refused(clone)[:1]
        (clone / "data" / "pair_pascal.mat").write_bytes(raw)
    (clone / "data" / "pascal50S.mat").write_bytes(b"MATLAB 7.3 MAT-file" + b" " * 200)
    words["another version"] = read_or_refused(clone)
    lists: Mapping[str, Mapping[str, Any]] = {
        "repeated": {},
        "odd": {"score": [1, 0, 1]},
        "none": {"reference": [], "candidate": [], "score": []},
        "a text for a score": {"score": [1, 0, 1, "x"]},
        "references": {"reference": ["A dog."] * 4},
        "candidates": {"candidate": ["dog", None, "dog", "cat"]},
        "no list": {"score": 1},
    }
    for name, changed in lists.items():
        words[f"lists: {name}"] = read_or_refused(pairs_in_lists(tmp_path / f"{name}.json", **changed))
    approve("asked-sources/pairs-of-captions", words, folder=tmp_path)


def read_or_refused(source: Path) -> list[str]:
    try:
        imported = IMPORTERS.load("pascal-50s")(source)
        return [repr(imported.board), *imported.notes]
    except BillboardsError as error:
        return [told(error)]


def test_a_test_set_is_written_again_as_approved(tmp_path: Path) -> None:
    made = RICHER["mtme with marked errors"][1](tmp_path / "source")
    board = made.load("mtme").board
    columns = tuple(column for column in board.imported if column.references or not column.needs_references)
    rows = tuple(row for row in board.rows if not row.name.startswith("Human"))
    named = replace(board, rows=rows, imported=columns)
    words: dict[str, Any] = {}
    for name, target, asked in (
        ("first", "out", {}),
        ("again", "out", {}),
        ("in its place", "out", {"replace": True}),
        ("in another's place", "source", {"replace": True}),
        ("another pair", "other", {"language_pair": "en-de_AT"}),
    ):
        try:
            export_board(named, tmp_path / target, **asked)
            words[name] = sorted(files_below(tmp_path / target))
        except BillboardsError as error:
            words[name] = told(error)
    written = files_below(tmp_path / "out") if (tmp_path / "out").is_dir() else {}
    approve("asked-sources/mtme-written", {"answers": words, "files": written}, folder=tmp_path)
