"""What every analysis keeps to, and that all its doors say the same: command, Python, HTTP, page, report."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from small_boards import small_board
from starlette.testclient import TestClient

import billboards as bb
from billboards.__main__ import main
from billboards.analyses import analysis_named, own_analyses, summaries
from billboards.analyses._analysis import Analysis
from billboards.analyses._report import BY_HAND
from billboards.board import Board
from billboards.errors import NotEnoughData
from billboards.show.documents import document_model
from billboards.site.site import open_site
from billboards.site.web.app import create_app
from billboards.site.work.jobs import run_job
from billboards.site.work.worklist import next_job

NAMES = list(own_analyses())
BOARD = small_board().name
#: Options that make an analysis quick here.
QUICK: dict[str, dict[str, Any]] = {
    "rank": {"draws": 20},
    "compare": {"draws": 20},
    "sensitivity": {"draws": 20},
    "trust": {"draws": 20},
    "watch": {"draws": 20},
    "decompose": {"draws": 20},
    "spans": {"draws": 20},
    "overrating": {"human": "A"},
    "hybrids": {"mixtures": 50, "sample": 10},
    "ratings agreement": {"resamples": 20},
    "ratings designs": {"rounds": 20},
}


@pytest.fixture(scope="module")
def board() -> Board:
    return replace(small_board(), metrics=("chrF", "length"))


@pytest.fixture(scope="module")
def folder(board: Board, tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("doors") / board.name
    bb.score(bb.save(board, home))
    return home


@pytest.fixture(scope="module")
def served(board: Board, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """The same board on a site, scored and ranked there."""
    data = tmp_path_factory.mktemp("site")
    bb.save(board, data / "boards" / board.name)
    site = open_site(data)
    while (job := next_job(site, "doors")) is not None:
        run_job(site, job)
    yield TestClient(create_app(site), base_url="http://127.0.0.1")
    site.close()


def python_answer(asked: Analysis[Any, Any], board: Board) -> dict[str, Any] | str:
    """The document that Python's verb gives, or why there is none."""
    try:
        return dict(asked(board, **QUICK.get(asked.name, {})).document)
    except NotEnoughData as error:
        return str(error)


@pytest.mark.parametrize("name", NAMES)
def test_every_option_has_a_sentence_and_a_default(name: str) -> None:
    asked = analysis_named(name)
    assert asked.summary.endswith((".", "?"))
    assert summaries()[name] == asked.summary, "the first line of the module is what lists say"
    for option in asked.options:
        assert option.help, f"{name}: {option.name} has no sentence"
        assert not option.required, f"{name}: {option.name} has no default"


@pytest.mark.parametrize("name", NAMES)
def test_help_explains_every_parameter_with_an_example(name: str) -> None:
    verb = getattr(bb, name.replace("-", "_").replace(" ", "_"))
    assert verb is analysis_named(name)
    for option in verb.options:
        assert f"{option.name}: {option.help}" in verb.__doc__
    assert f"bb.{verb.__name__}(" in verb.__doc__


@pytest.mark.parametrize("name", NAMES)
def test_the_command_says_what_python_says(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked, expected = analysis_named(name), python_answer(analysis_named(name), bb.open(folder))
    words = ["ensemble", "study"] if name == "ensemble" else name.split(" ")
    flags = [
        f"{option.flag}={QUICK[name][option.name]}" for option in asked.options if option.name in QUICK.get(name, {})
    ]
    save = ["--no-save"] if asked.keeps else []
    jobs = ["--jobs", "1"] if asked.scores else []
    code = main([*words, str(folder), "--json", *flags, *save, *jobs])
    printed = capsys.readouterr()
    if isinstance(expected, str):
        assert code != 0
        assert " ".join(expected.split()) in " ".join(printed.err.split())
    else:
        assert code == 0, printed.err
        assert close(json.loads(printed.out), expected)


@pytest.mark.parametrize("name", [name for name in NAMES if analysis_named(name).quick])
def test_the_route_says_what_python_says_in_the_shape_it_declares(name: str, folder: Path, served: TestClient) -> None:
    asked, expected = analysis_named(name), python_answer(analysis_named(name), bb.open(folder))
    query = {option.outer: QUICK[name][option.name] for option in asked.options if option.name in QUICK.get(name, {})}
    answered = served.get(f"/api/v1/boards/{BOARD}/analyses/{name.replace(' ', '.')}", params=query)
    if isinstance(expected, str):
        assert answered.status_code in (409, 422)
        return
    assert answered.status_code == 200, answered.text
    document = answered.json()
    # A folder numbers its ensembles, and a site's owner has settings of a ranking: there the numbers are compared.
    numbers = {"rank": ("metrics", "generators", "lines"), "ensemble": ("gains", "correlations")}.get(name, expected)
    assert close({key: document[key] for key in numbers}, {key: expected[key] for key in numbers})
    models = [document_model(kind) for kind in asked.result_types]
    assert any(valid(model, document) for model in models)


@pytest.mark.parametrize("name", NAMES)
def test_every_analysis_has_a_page_with_its_question_and_its_form(name: str, served: TestClient) -> None:
    asked = analysis_named(name)
    listed = served.get(f"/boards/{BOARD}/analyses")
    address = f"/boards/{BOARD}/analyses/{name.replace(' ', '.')}"
    assert f'href="{address}"' in listed.text
    page = served.get(address)
    assert page.status_code == 200
    for option in asked.options:
        assert option.outer in page.text or str(option.type).endswith("Path'>")


def test_every_quick_analysis_is_in_the_report(folder: Path, tmp_path: Path) -> None:
    written = bb.report(bb.open(folder), tmp_path / "report.html", with_references=False).read_text("utf-8")
    page = html.unescape(written)
    for name in NAMES:
        asked = analysis_named(name)
        if name in BY_HAND or not asked.quick:
            continue
        assert f'id="{name.replace(" ", "-")}"' in page or asked.summary.rstrip(".") in page, name


def test_help_lists_every_analysis(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    listed = capsys.readouterr().out
    for name in summaries():
        assert name.split(" ")[0] in listed


def valid(model: Any, document: dict[str, Any]) -> bool:
    from pydantic import ValidationError

    try:
        model.model_validate(document)
    except ValidationError:
        return False
    return True


def close(one: Any, other: Any) -> bool:
    """Whether two documents are the same, floats to rounding; lists and tuples are alike."""
    if isinstance(one, float) or isinstance(other, float):
        return one == other or math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
    if isinstance(one, dict):
        return isinstance(other, dict) and one.keys() == other.keys() and all(close(one[k], other[k]) for k in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(close(a, b) for a, b in zip(one, other, strict=True))
    return bool(one == other)
