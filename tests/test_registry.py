"""Importers and formats by name: how they are listed and loaded, from this package and from others."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from billboards.errors import InvalidInput, MissingPart
from billboards.formats import FORMATS
from billboards.importers import IMPORTERS, Importer
from billboards.registry import Registry

SOUND = '''
"""A module of somebody else's."""
from billboards.importers import importer

@importer()
def {name}(source, *, depth: int = 1):
    """Trees of texts.

    And more of them.
    """
'''


def installed(folder: Path, package: str, group: str, points: dict[str, str], **modules: str) -> Path:
    """Lay down what an installer would: a package's modules, and its metadata with its entry points."""
    metadata = folder / f"{package}-0.1.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 0.1\n")
    lines = (f"{name} = {value}" for name, value in points.items())
    (metadata / "entry_points.txt").write_text("\n".join((f"[{group}]", *lines, "")))
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(text)
    return folder


def importers() -> Registry[Importer]:
    """The importers as a new process would find them."""
    return Registry(kind="importer", room="billboards.importers", type=Importer)


@pytest.fixture
def others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def test_files_without_an_underscore_are_importers_of_that_name() -> None:
    assert "wmt-da" in IMPORTERS.own
    assert "table" in IMPORTERS
    assert not [name for name in (*IMPORTERS, *FORMATS) if name.startswith("-") or "_" in name]
    assert list(FORMATS) == ["appraise", "csv", "label-studio", "mqm"]


def test_listing_loads_neither_numpy_nor_any_importer() -> None:
    code = (
        "import sys; from billboards.importers import IMPORTERS; from billboards.formats import FORMATS; "
        "print(*map(IMPORTERS.summary, IMPORTERS), *map(FORMATS.summary, FORMATS)); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    listed, loaded = done.stdout.splitlines()
    assert "REALSumm: summaries of news, judged by lightweight pyramids" in listed
    assert "Label Studio's JSON" in listed
    assert "billboards.importers" in loaded.split()
    assert not {"numpy", "billboards.importers.table", "billboards.formats.csv"} & set(loaded.split())


def test_another_package_offers_an_importer_by_its_entry_point(others: Path) -> None:
    points = {"deep-trees": "trees_package:deep_trees"}
    installed(others, "trees", "billboards.importers", points, trees_package=SOUND.format(name="deep_trees"))
    found = importers()
    assert "deep-trees" not in found.own
    assert found.summary("deep-trees") == "Trees of texts"
    assert "trees_package" not in sys.modules
    assert [option.flag for option in found.load("deep-trees").options] == ["--depth"]


def test_a_module_inside_a_package_is_listed_without_importing_the_package(others: Path) -> None:
    installed(others, "nested", "billboards.importers", {"nested": "nested_package.inside:nested"})
    (others / "nested_package").mkdir()
    (others / "nested_package" / "__init__.py").write_text("1 / 0")
    (others / "nested_package" / "inside.py").write_text(SOUND.format(name="nested"))
    assert importers().summary("nested") == "Trees of texts"


def test_an_option_that_every_import_has_is_refused(others: Path) -> None:
    text = SOUND.format(name="greedy").replace("depth", "card")
    installed(others, "greedy", "billboards.importers", {"greedy": "greedy_package:greedy"}, greedy_package=text)
    with pytest.raises(InvalidInput, match="importer greedy: every import has an option card; rename it"):
        importers().load("greedy").options  # noqa: B018


def test_a_signature_that_names_what_is_not_imported_is_refused(others: Path) -> None:
    text = "from __future__ import annotations\n" + SOUND.format(name="vague").replace("depth: int", "depth: Depth")
    installed(others, "vague", "billboards.importers", {"vague": "vague_package:vague"}, vague_package=text)
    with pytest.raises(InvalidInput, match=r"vague_package\.vague: name .Depth. is not defined; its signature needs"):
        importers().load("vague").options  # noqa: B018


def test_two_packages_with_one_name_are_refused_where_it_is_asked_for(others: Path) -> None:
    installed(others, "other-tables", "billboards.importers", {"table": "json:loads"})
    assert importers().load("mqm").name == "mqm"
    with pytest.raises(InvalidInput, match="2 packages offer the importer table: billboards, other-tables; keep one"):
        importers().load("table")


@pytest.mark.parametrize(
    ("point", "error", "message"),
    [
        ("no_such_package:x", MissingPart, "importer broken needs a package that is not installed: No module named"),
        ("json:nothing", InvalidInput, "importer broken: json:nothing of broken is broken: AttributeError"),
        ("json:loads", InvalidInput, "importer broken: json:loads is not declared as one"),
        ("half_written:x", InvalidInput, "importer broken: half_written:x of broken is broken: SyntaxError"),
    ],
)
def test_what_is_broken_is_named_when_it_is_asked_for(
    others: Path, point: str, error: type[Exception], message: str
) -> None:
    installed(others, "broken", "billboards.importers", {"broken": point}, half_written="def x(:")
    with pytest.raises(error, match=message):
        importers().load("broken")


def command(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    line = [sys.executable, "-W", "error", "-m", "billboards", *arguments]
    return subprocess.run(line, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False)


def test_help_is_whole_where_one_importer_is_broken(tmp_path: Path) -> None:
    points = {"absent": "no_such_package:x", "halved": "half_written:halved"}
    installed(tmp_path, "broken", "billboards.importers", points, half_written="def halved(:")
    listed = command(tmp_path, "import", "--help")
    assert listed.returncode == 0, listed.stderr
    words = " ".join(listed.stdout.split())
    assert "absent can't be found: there is no module no_such_package" in words
    assert "halved can't be found: half_written.py has no explained halved" in words
    assert "table Any CSV, TSV, JSONL or Parquet file with one output per row" in words
    for name, code, said in (("absent", 1, "needs a package that is not installed"), ("halved", 2, "SyntaxError")):
        done = command(tmp_path, "import", name, "--help")
        assert done.returncode == code
        assert said in done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_options_of_an_importer_are_checked_on_the_command_line() -> None:
    done = command(Path.cwd(), "import", "flickr8k", "nowhere", "--judgments", "cats", "-o", "out")
    assert done.returncode == 2
    assert done.stderr == (
        "billboards import flickr8k: argument --judgments: must be one of expert, crowd, all; found 'cats'; "
        "`billboards import flickr8k --help` explains\n"
    )
