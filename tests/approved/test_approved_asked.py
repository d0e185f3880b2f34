"""What analyses answer on boards of other kinds, and to options that only some boards have an answer to."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from approving import approve
from asked_boards import asked_boards
from small_boards import small_board
from told_commands import told_by
from varied_boards import varied_boards

import billboards as bb
from billboards.board import Board
from billboards.board.judgments import JudgmentColumns

#: Folders of boards, and the analyses that are asked of each, by name.
ASKED: dict[str, dict[str, tuple[object, ...]]] = {
    "compared": {
        "two metrics": ("compare", "chrF", "length", "--draws", 20),
        "two metrics the other way": ("compare", "length", "chrF", "--draws", 20, "--sides", "one", "--show", 1),
        "two metrics by documents": ("compare", "chrF", "length", "--draws", 20, "--resample", "documents"),
        "two metrics on generators": ("compare", "chrF", "length", "--draws", 20, "--unit", "generators"),
        "two metrics by another statistic": ("compare", "--draws", 20, "--statistic", "spearman"),
        "all metrics": ("compare", "--draws", 20),
        "all metrics, ties half": ("compare", "--draws", 20, "--ties", "half"),
        "two generators": ("compare", "A", "C", "--draws", 20),
        "power of metrics": ("power", "chrF", "length"),
        "power of generators": ("power", "A", "B"),
        "power of two that are alike": ("power", "A", "A"),
        "strengths": ("arena",),
        "ranking": ("rank", "--draws", 20),
        "ranking by half ties": ("rank", "--draws", 20, "--ties", "half"),
        "ranking by people": ("rank", "--draws", 20, "--by", "people"),
        "sensitivity": ("sensitivity", "--draws", 10),
        "estimate": ("estimate",),
        "estimate of one": ("estimate", "A"),
        "next": ("next", "--items", 2),
        "trust": ("trust", "--draws", 10),
        "watch": ("watch", "--draws", 10),
    },
    "crowded": {
        "estimate": ("estimate",),
        "estimate of one": ("estimate", "g1", "--metric", "length"),
        "estimate of a population": ("estimate", "g1", "--target", "population"),
        "estimate with few labels": ("estimate", "g1", "--labels", 3),
        "estimate with too many labels": ("estimate", "g1", "--labels", 300),
        "estimate of another dimension": ("estimate", "--aggregate", "fluency"),
        "estimate of nobody, next": ("estimate", "--next", 3),
        "next and labels": ("estimate", "g1", "--next", 3, "--labels", 3),
        "next of a part": ("estimate", "g1", "--next", 3, "--domain", "sea"),
        "next outputs": ("estimate", "g3", "--next", 3, "--metric", "length"),
        "next outputs, too many": ("estimate", "g3", "--next", 300, "--metric", "length"),
        "ranking": ("rank", "--draws", 20),
        "ranking by documents": ("rank", "--draws", 20, "--resample", "documents"),
        "ranking by both": ("rank", "--draws", 20, "--resample", "both"),
        "ranking by generators": ("rank", "--draws", 20, "--resample", "generators"),
        "overrating": ("overrating",),
        "hybrids": ("hybrids", "--mixtures", 20, "--sample", 5),
    },
    "alone": {
        "ranking": ("rank", "--draws", 20),
        "two generators": ("compare", "g0", "g1", "--draws", 20),
        "by a metric that is not there": ("compare", "g0", "g1", "--by", "chrF", "--draws", 20),
        "people's ranking": ("rank", "--draws", 20, "--by", "people"),
        "documents": ("rank", "--draws", 20, "--resample", "documents"),
        "card": ("card",),
        "agreement": ("agreement", "first", "second"),
        "power": ("power", "g0", "g1"),
        "designs": ("ratings", "designs", "--rounds", 5),
        "severity": ("ratings", "severity"),
    },
    "newcomers": {
        "ranking": ("rank", "--draws", 20),
        "two generators": ("compare", "copy", "half", "--draws", 20),
        "estimate": ("estimate", "half"),
        "power": ("power", "copy", "half"),
        "next": ("next", "--generator", "copy", "--items", 3, "--aim", "means"),
        "every method": ("rank", "--draws", 20, "--ensemble", "auto"),
        "no such reference": ("rank", "--draws", 20, "--references", "none"),
        "against a generator": ("rank", "--draws", 20, "--baseline", "g1"),
        "against a metric": ("rank", "--draws", 20, "--baseline", "chrF"),
        "against nobody": ("rank", "--draws", 20, "--baseline", "none"),
        "one reference": ("rank", "--draws", 20, "--references", "A"),
        "ensembles": ("ensemble", "study"),
    },
}


def annotated_here_and_there() -> Board:
    """Three people on most generators, one alone on another, one whose only values lie on half of the instances."""
    board, numbers = small_board(instances=18), np.random.default_rng(9)
    judged = JudgmentColumns(("first", "second"))
    for g, row in enumerate(board.rows):
        for k in range(18):
            if row.texts[k] is None or (g == 2 and k % 2):
                continue
            for person in ("ann", "bob", "cleo")[: 1 if g == 1 else 3]:
                value = float(np.clip(round(4.4 - 0.6 * min(g, 3) + numbers.normal()), 1, 5))
                given = {"first": value} if person == "bob" else {"first": value, "second": 6 - value}
                judged.add(k, g, given, annotator=person)
    one = board.dimensions["adequacy"] if "adequacy" in board.dimensions else next(iter(board.dimensions.values()))
    dimensions = {name: replace(one, name=name, range=(1, 5)) for name in ("first", "second")}
    return replace(board, name="alone", judgments=judged.build(), dimensions=dimensions, aggregates={}, ranks="first")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The boards' folders by name; nothing is scored on the last."""
    home = tmp_path_factory.mktemp("asked")
    boards = asked_boards(tmp_path_factory.mktemp("compared"))
    for name in ("compared", "crowded"):
        bb.score(bb.save(boards[name], home / name))
    varied_boards(home)["newcomers"]()
    bb.save(annotated_here_and_there(), home / "alone")
    return {name: home / name for name in ASKED}


@pytest.mark.parametrize("name", ASKED)
def test_what_is_asked_of_a_board_is_answered_as_approved(
    name: str, folders: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    folder, told = folders[name], {}
    for what, (action, *more) in ASKED[name].items():
        words = [action, more.pop(0), folder] if action in ("ratings", "ensemble") else [action, folder]
        told[what] = told_by([*words, *more, "--wide"], capsys)
    approve(f"asked/{name}", told, folder=folder.parent)


def test_draws_are_weighed_as_approved(folders: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    folder = folders["crowded"]
    drawn, chosen = folder.parent / "drawn.json", folder.parent / "chosen.json"
    draw = told_by(["estimate", folder, "g3", "--next", 3, "--metric", "length", "--json"], capsys)
    chance = told_by(["next", folder, "--items", 6, "--aim", "means", "--draw", "chance", "--json"], capsys)
    top = told_by(["next", folder, "--items", 6, "--draw", "top", "--json"], capsys)
    told: dict[str, Any] = {"draw": draw, "chance": chance, "top": top}

    def asked(name: str, document: Any, *more: object) -> None:
        path = drawn if document is draw["out"] else chosen
        path.write_text(document if isinstance(document, str) else json.dumps(document), "utf-8")
        told[name] = told_by(["estimate", folder, *more, "--drawn", path, "--wide"], capsys)

    asked("by its draw", draw["out"], "g3", "--metric", "length")
    asked("of another", draw["out"], "g1")
    asked("of nobody", draw["out"])
    asked("with labels", draw["out"], "g3", "--labels", 3)
    asked("by chances", chance["out"])
    asked("by chances, of one", chance["out"], "g1", "--metric", "length")
    asked("by chances, of nobody", chance["out"], "nobody")
    asked("by worth", top["out"])
    asked("no JSON", "x")
    asked("no draw", "[]", "g3")
    chances = chance["out"]["probabilities"]
    first = next(iter(chances))
    wrong: dict[str, Any] = {
        "chances that are none": {"probabilities": 3},
        "no chances": {"probabilities": {}},
        "chances that are words": {"probabilities": {first: {"i0": "often"}}},
        "a chance above 1": {"probabilities": {first: {"i0": 1.5}}},
        "a chance of 0": {"probabilities": {first: {"i0": 0}}},
        "no generators": {"generators": []},
        "generators that are numbers": {"generators": [1]},
        "a metric that is a number": {"metric": 3},
        "other instances": {"probabilities": {name: {"other": 0.5} for name in chances}},
    }
    for name, change in wrong.items():
        asked(name, {**chance["out"], **change})
    for name, change in {"chance above 1": {"i0": 2.0}, "words": {"i0": "x"}, "unknown": {"other": 0.5}}.items():
        asked(f"draw: {name}", {**draw["out"], "probabilities": change}, "g3")
    approve("asked/draws", told, folder=folder.parent)


def test_kept_ensembles_are_applied_as_approved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told: dict[str, Any] = {}
    for name in ("newcomers", "released otherwise"):
        board = varied_boards(tmp_path)[name]()
        folder, texts = Path(str(board.home)), board.rows[0].texts
        outputs = tmp_path / "mine.jsonl"
        lines = [
            json.dumps({"instance": instance.id, "text": f"{text} wrong"})
            for instance, text in zip(board.instances, texts, strict=True)
        ]
        outputs.write_text("\n".join(lines) + "\n", "utf-8")
        for method in ("lasso", "ridge", "boosting", "stacking"):
            told_by(["rank", folder, "--draws", 0, "--ensemble", method], capsys)
        told[name] = {"list": told_by(["ensemble", "list", folder], capsys)}
        scores = tmp_path / "scores.tsv"
        heads = ("instance", "chrF", "errors")
        rows = ["\t".join(heads), *(f"{instance.id}\t{50 + k}\t{-k}" for k, instance in enumerate(board.instances))]
        scores.write_text("\n".join(rows) + "\n", "utf-8")
        for path in sorted((folder / "ensembles").iterdir()):
            how = ["ensemble", "apply", path, outputs, "--board", folder, "--jobs", 1]
            told[name][path.stem] = {
                "text": told_by(how, capsys),
                "json": told_by([*how, "--json"], capsys),
                "scores": told_by([*how, "--scores", scores], capsys),
            }
        outputs.write_text(f'{lines[0]}\n{lines[0]}\n{{"instance": "none", "text": "x"}}\n{{"text": 3}}\nx\n', "utf-8")
        told[name]["wrong lines"] = told_by(how, capsys)
        outputs.write_text("", "utf-8")
        told[name]["no outputs"] = told_by(how, capsys)
        told[name]["no file"] = told_by([*how[:3], tmp_path / "none.jsonl", *how[4:]], capsys)
        told[name]["no ensemble"] = told_by(["ensemble", "apply", "none", outputs, "--board", folder], capsys)
        scores.write_text("instance\tnobody\ni0\tx\n", "utf-8")
        outputs.write_text("\n".join(lines) + "\n", "utf-8")
        told[name]["wrong scores"] = told_by([*how, "--scores", scores], capsys)
    approve("asked/ensembles", told, folder=tmp_path)


def test_cards_are_as_approved_in_every_form(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    boards = varied_boards(tmp_path)
    told: dict[str, Any] = {}
    for name in (
        "released",
        "private",
        "chinese",
        "crowd alone",
        "a constant metric",
        "no judgments",
        "all-tied judgments",
    ):
        board = boards[name]()
        folder = Path(str(board.home)) if board.home else tmp_path / f"{name} here"
        if not board.home:
            bb.save(board, folder)
        told[name] = {
            form: told_by(["card", folder, *([f"--{form}"] if form != "text" else ["--wide"])], capsys)["out"]
            for form in ("text", "markdown", "html", "template", "csv")
        }
    facts = tmp_path / "facts.toml"
    folder = tmp_path / "released"
    told["template"] = told_by(["card", folder, "--template", "-o", facts], capsys, files=(facts,))
    told["again"] = told_by(["card", folder, "--template", "-o", facts], capsys)
    filled = facts.read_text("utf-8").replace('title = ""', 'title = "Ports [of] call | here"')
    facts.write_text(filled, "utf-8")
    told["filled"] = told_by(["card", folder, "--fill", facts], capsys, files=(folder / "board.toml",))
    told["markdown"] = told_by(["card", folder, "--markdown"], capsys)
    for name, text in {"unknown": 'colour = "red"\n', "no text": "title = 3\n", "nothing": ""}.items():
        facts.write_text(text, "utf-8")
        told[name] = told_by(["card", folder, "--fill", facts], capsys)
    told["no file"] = told_by(["card", folder, "--fill", tmp_path / "none.toml"], capsys)
    approve("asked/cards", told, folder=tmp_path)
