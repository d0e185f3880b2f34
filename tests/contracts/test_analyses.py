"""What every analysis keeps to, and that all its doors say the same: command, Python, HTTP, page, report."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from asked_boards import QUICK, asked_boards, board_of
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
#: What is new to score is scored once: the second to ask finds it, and says that it scored nothing.
SPENT = {"audit": "pairs"}


@pytest.fixture(scope="module")
def boards(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Board]:
    """The boards that analyses are asked of, by name."""
    return asked_boards(tmp_path_factory.mktemp("compared"))


@pytest.fixture(scope="module")
def folders(boards: dict[str, Board], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    homes = {name: tmp_path_factory.mktemp("doors") / name for name in boards}
    for name, board in boards.items():
        bb.score(bb.save(board, homes[name]))
    return homes


@pytest.fixture(scope="module")
def served(boards: dict[str, Board], tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """The same boards on a site, scored and ranked there."""
    data = tmp_path_factory.mktemp("site")
    for name, board in boards.items():
        bb.save(board, data / "boards" / name)
    site = open_site(data)
    while (job := next_job(site, "doors")) is not None:
        run_job(site, job)
    yield TestClient(create_app(site), base_url="http://127.0.0.1")
    site.close()


@pytest.fixture(scope="module")
def answers(folders: dict[str, Path]) -> dict[str, dict[str, Any] | str]:
    """What Python's verb says for each analysis."""
    return {name: python_answer(analysis_named(name), bb.open(folders[board_of(name)])) for name in NAMES}


def flags_of(asked: Analysis[Any, Any]) -> list[str]:
    """The quick options as words of a command."""
    words: list[str] = []
    for option in asked.options:
        value = QUICK.get(asked.name, {}).get(option.name)
        if option.argument:
            words += [] if value is None else [str(value)]
        elif isinstance(value, bool):
            words.append(option.flag if value else option.flag.replace("--", "--no-", 1))
        elif value is not None:
            words += [f"{option.flag}={each}" for each in (value if isinstance(value, tuple) else (value,))]
    return words


def query_of(asked: Analysis[Any, Any]) -> list[tuple[str, str | int | float | bool | None]]:
    """The quick options as words of an address."""
    return [
        (option.outer, str(each).lower() if isinstance(each, bool) else str(each))
        for option in asked.options
        if (value := QUICK.get(asked.name, {}).get(option.name)) is not None
        for each in (value if isinstance(value, tuple) else (value,))
    ]


def python_answer(asked: Analysis[Any, Any], board: Board) -> dict[str, Any] | str:
    """The document that Python's verb gives, or why there is none."""
    try:
        return dict(asked(board, **QUICK.get(asked.name, {})).document)
    except NotEnoughData as error:
        return str(error)


def test_every_analysis_has_an_answer_here(answers: dict[str, dict[str, Any] | str]) -> None:
    """Doors that all refuse would be alike, too."""
    assert {name: answer for name, answer in answers.items() if isinstance(answer, str)} == {}


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
def test_the_command_says_what_python_says(
    name: str,
    folders: dict[str, Path],
    answers: dict[str, dict[str, Any] | str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked, expected = analysis_named(name), answers[name]
    words = ["ensemble", "study"] if name == "ensemble" else name.split(" ")
    save = ["--no-save"] if asked.keeps else []
    jobs = ["--jobs", "1"] if asked.scores else []
    code = main([*words, str(folders[board_of(name)]), *flags_of(asked), "--json", *save, *jobs])
    printed = capsys.readouterr()
    if isinstance(expected, str):
        assert code != 0
        assert " ".join(expected.split()) in " ".join(printed.err.split())
    else:
        assert code == 0, printed.err
        spent = SPENT.get(name)
        assert close(without(json.loads(printed.out), spent), without(expected, spent))


@pytest.mark.parametrize("name", [name for name in NAMES if analysis_named(name).quick])
def test_the_route_says_what_python_says_in_the_shape_it_declares(
    name: str, answers: dict[str, dict[str, Any] | str], served: TestClient
) -> None:
    asked, expected = analysis_named(name), answers[name]
    address = f"/api/v1/boards/{board_of(name)}/analyses/{name.replace(' ', '.')}"
    answered = served.get(address, params=query_of(asked))
    assert answered.status_code == 200, answered.text
    assert not isinstance(expected, str)
    document = answered.json()
    # A folder numbers its ensembles, and a site's owner has settings of a ranking: there the numbers are compared.
    numbers = {"rank": ("metrics", "generators", "lines"), "ensemble": ("gains", "correlations")}.get(name, expected)
    assert close({key: document[key] for key in numbers}, {key: expected[key] for key in numbers})
    models = [document_model(kind) for kind in asked.result_types]
    assert any(valid(model, document) for model in models)


@pytest.mark.parametrize("name", NAMES)
def test_every_analysis_has_a_page_with_its_question_and_its_form(name: str, served: TestClient) -> None:
    asked, board = analysis_named(name), board_of(name)
    listed = served.get(f"/boards/{board}/analyses")
    address = f"/boards/{board}/analyses/{name.replace(' ', '.')}"
    assert f'href="{address}"' in listed.text
    page = served.get(address)
    assert page.status_code == 200
    for option in asked.options:
        assert option.outer in page.text or str(option.type).endswith("Path'>")


def test_a_page_names_the_paper_that_its_analysis_follows_and_none_where_it_follows_none(served: TestClient) -> None:
    designs, consensus = (
        served.get(f"/boards/crowded/analyses/ratings.{name}").text for name in ("designs", "consensus")
    )
    assert "After GENIE, section 4, Figures 2 and 3." in designs
    assert '<span class="quiet">After' not in consensus


def test_every_quick_analysis_is_in_the_report(folders: dict[str, Path], tmp_path: Path) -> None:
    written = bb.report(bb.open(folders["small"]), tmp_path / "report.html", with_references=False).read_text("utf-8")
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


def without(document: Any, word: str | None) -> Any:
    """A document without what a word says, however deep."""
    if isinstance(document, dict):
        return {key: without(value, word) for key, value in document.items() if key != word}
    return [without(part, word) for part in document] if isinstance(document, list | tuple) else document


def close(one: Any, other: Any) -> bool:
    """Whether two documents are the same, floats to rounding; lists and tuples are alike."""
    if isinstance(one, float) or isinstance(other, float):
        return one == other or math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
    if isinstance(one, dict):
        return isinstance(other, dict) and one.keys() == other.keys() and all(close(one[k], other[k]) for k in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(close(a, b) for a, b in zip(one, other, strict=True))
    return bool(one == other)
