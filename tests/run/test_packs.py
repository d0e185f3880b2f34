"""Packs: built from a wheel made here, found again by what was built, and used as a metric of a board."""

from __future__ import annotations

import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from small_boards import small_board

import billboards as bb
from billboards.analyses._archive import home_of
from billboards.board.missing_cells import column_key
from billboards.cli.main import main
from billboards.errors import InvalidInput, MetricFailed, MissingPart, StoreFailed, UnknownName
from billboards.metrics.base import Batch
from billboards.run.packs import build_pack, built_packs, open_pack, pack_state, packs_home
from billboards.run.sandbox import sandbox_available

MANIFEST = 'name = "doubled"\nhigher_is_better = true\nneeds = []\ntraining_data = "none"\n'
CODE = """import doubling


def score(outputs, references, inputs):
    return [doubling.twice(len(output)) for output in outputs]
"""


def write_pack(folder: Path, *, code: str = CODE, requirements: str = "doubling==1.0\n") -> Path:
    folder.mkdir()
    (folder / "metric.toml").write_text(MANIFEST)
    (folder / "metric.py").write_text(code)
    (folder / "requirements.txt").write_text(requirements)
    return folder


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BILLBOARDS_PACKS", str(tmp_path / "packs"))
    return tmp_path / "packs"


@pytest.fixture
def wheels(tmp_path: Path) -> Path:
    """A folder with one wheel: a module that is nowhere else."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    info = "doubling-1.0.dist-info"
    with zipfile.ZipFile(folder / "doubling-1.0-py3-none-any.whl", "w") as archive:
        archive.writestr("doubling.py", "def twice(n):\n    return 2 * n\n")
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: doubling\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", f"doubling.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")
    return folder


@pytest.fixture
def board(tmp_path: Path) -> bb.Board:
    return bb.save(replace(small_board(instances=3), metrics=("length",)), tmp_path / "board")


def need_sandbox() -> None:
    if not sandbox_available():
        pytest.skip(str(sandbox_available().reason))


def test_a_pack_is_built_tried_and_scores_a_board(
    tmp_path: Path, wheels: Path, board: bb.Board, capsys: pytest.CaptureFixture[str]
) -> None:
    need_sandbox()
    folder = write_pack(tmp_path / "own")
    assert main(["pack", "build", str(folder), "--wheels", str(wheels)]) == 0
    said = capsys.readouterr()
    assert (said.out, said.err) == ("pack:doubled\n", "installed: doubling==1.0\n")
    assert main(["pack", "check", str(folder), str(board.home)]) == 0
    assert capsys.readouterr().out.startswith("passed: ")
    assert main(["score", str(board.home), "--metric", f"pack:{folder}", "--jobs", "1"]) == 0
    assert "6 cells computed" in capsys.readouterr().err
    # The same column by its name, from Python: nothing is left to do.
    report = bb.score(board, ["pack:doubled"])
    assert (report.computed, report.present, report.failures) == (0, 6, {})


def test_its_scores_come_from_the_package_it_required(tmp_path: Path, wheels: Path) -> None:
    need_sandbox()
    folder = write_pack(tmp_path / "own")
    built = build_pack(folder, wheels=wheels)
    assert built.environment is not None
    program = open_pack(str(folder))
    assert program.score_batch(Batch(["a", "four"])).tolist() == [2.0, 8.0]
    assert f"|environment:{built.environment.digest[:32]}|" in program.signature
    assert not program.trusted


def test_a_board_may_name_a_pack_among_its_metrics(tmp_path: Path) -> None:
    need_sandbox()
    code = "def score(outputs, references, inputs):\n    return [len(output) for output in outputs]\n"
    build_pack(write_pack(tmp_path / "own", code=code, requirements=""))
    board = bb.save(replace(small_board(instances=3), metrics=("pack:doubled", "length")), tmp_path / "naming")
    report = bb.score(bb.open(tmp_path / "naming"))
    assert (report.computed, report.failures) == (12, {})
    column = column_key(board, open_pack("doubled"), board.references)
    row = board.row("g0")
    assert home_of(board).cells.load(column, [row.version])[row.version].tolist() == [len(t or "") for t in row.texts]


def test_a_pack_that_was_never_built_says_how_to_build_it(tmp_path: Path) -> None:
    folder = write_pack(tmp_path / "own")
    with pytest.raises(MissingPart, match=f"not built; `billboards pack build {folder}` builds it"):
        bb.metric(f"pack:{folder}")
    with pytest.raises(UnknownName, match="no pack named 'doubled'; known: none"):
        bb.metric("pack:doubled")
    with pytest.raises(InvalidInput, match="gone is no folder"):
        build_pack(tmp_path / "gone")


def test_an_environment_that_was_deleted_is_asked_for_again(tmp_path: Path, wheels: Path, home: Path) -> None:
    pack = build_pack(write_pack(tmp_path / "own"), wheels=wheels).pack
    (home / "environments").rename(home / "elsewhere")
    with pytest.raises(MissingPart, match="the environment of doubled is not in"):
        open_pack("doubled")
    assert pack_state(pack).startswith("the environment of doubled is not in")
    # It was built from a folder of wheels; the same requirements from elsewhere are another environment.
    build_pack(tmp_path / "own", wheels=wheels)
    assert pack_state(pack) == "ready"


def test_a_folder_that_changed_since_is_refused_until_it_is_built_again(tmp_path: Path) -> None:
    folder = write_pack(tmp_path / "own", requirements="# nothing\n")
    built = build_pack(folder, trusted=True)
    assert built.environment is None
    before = open_pack("doubled")
    assert before.trusted
    (folder / "metric.py").write_text("def score(outputs, references, inputs):\n    return [1.0] * len(outputs)\n")
    with pytest.raises(MissingPart, match="is not what was built as doubled"):
        open_pack("doubled")
    # Trust was given to what lay there; it is asked for again.
    build_pack(folder)
    after = open_pack("doubled")
    assert not after.trusted
    assert after.signature != before.signature


def test_another_pack_of_the_same_name_replaces_the_first_and_gets_none_of_its_trust(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = write_pack(tmp_path / "first", requirements="")
    second = write_pack(tmp_path / "second", code=CODE + "# another\n", requirements="")
    build_pack(first, trusted=True)
    with pytest.raises(MissingPart, match="is not what was built as doubled"):
        open_pack(str(second))
    assert main(["pack", "build", str(second)]) == 0
    assert f"replaces the pack of the same name in {first}" in capsys.readouterr().err
    assert [(pack.folder, pack.trusted) for pack in built_packs()] == [(second, False)]


def test_the_list_says_which_packs_can_be_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write_pack(tmp_path / "own", requirements="")
    elsewhere = tmp_path / "other-home"
    assert main(["pack", "build", str(folder), "--trusted", "--home", str(elsewhere)]) == 0
    capsys.readouterr()
    assert main(["pack", "list"]) == 0
    assert capsys.readouterr().out == ""
    assert main(["pack", "list", "--home", str(elsewhere)]) == 0
    assert capsys.readouterr().out == f"{'doubled':16}{folder} (trusted): ready\n"
    folder.rename(tmp_path / "moved")
    main(["pack", "list", "--home", str(elsewhere)])
    assert "own is no folder" in capsys.readouterr().out


def test_a_trial_that_fails_ends_with_1_and_the_reason(
    tmp_path: Path, board: bb.Board, capsys: pytest.CaptureFixture[str]
) -> None:
    need_sandbox()
    folder = write_pack(tmp_path / "own", requirements="")
    main(["pack", "build", str(folder)])
    assert main(["pack", "check", "doubled", str(board.home)]) == 1
    assert "name every package in requirements.txt" in capsys.readouterr().err
    with pytest.raises(MetricFailed, match="name every package"):
        open_pack("doubled").score_batch(Batch(["a"]))


def test_a_record_that_is_damaged_is_named(home: Path) -> None:
    home.mkdir()
    (home / "doubled.json").write_text("{")
    with pytest.raises(StoreFailed, match=r"doubled\.json: unreadable"):
        built_packs()


def test_packs_lie_among_the_users_data_unless_said_otherwise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert packs_home() == tmp_path / "packs"
    assert packs_home(tmp_path) == tmp_path
    monkeypatch.delenv("BILLBOARDS_PACKS")
    monkeypatch.setenv("XDG_DATA_HOME", "data")
    assert packs_home() == Path("data/billboards/packs")
