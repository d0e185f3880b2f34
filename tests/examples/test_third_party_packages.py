"""Packages of somebody else's, installed as people install them and used through the real command line."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from judged_boards import judged_board
from small_boards import small_board

from billboards.board.folder import open_board
from billboards.board.writing import write_board

pytestmark = pytest.mark.long
ROOT = Path(__file__).resolve().parents[2]
LINES = "a\teins\tX\tone\t5\na\teins\tY\tun\t2\nb\tzwei\tX\ttwo\t4\nb\tzwei\tY\tdeux\t1\n"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which both packages are installed."""
    home = tmp_path_factory.mktemp("packages")
    rooms = ("importer", "format", "analysis", "column", "ensemble")
    for name in (f"third_party_{room}" for room in rooms):
        shutil.copytree(ROOT / "examples" / name, home / name)
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-deps", "--no-index"]
        quiet = ["--disable-pip-version-check", "--target", str(home / "site")]
        subprocess.run([*pip, *quiet, str(home / name)], check=True, capture_output=True)
    return home / "site"


def run(installed: Path, *command: str, cwd: Path = ROOT) -> str:
    """What a command prints, with the packages installed."""
    path = os.pathsep.join([str(installed), str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, *command],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout + done.stderr


def billboards(installed: Path, *arguments: str) -> str:
    return run(installed, "-W", "error", "-m", "billboards", *arguments)


def test_an_importer_is_listed_explained_and_used(installed: Path, tmp_path: Path) -> None:
    summary = "Rated outputs as tab-separated lines of id, input, system, output and rating"
    assert summary in " ".join(billboards(installed, "import", "--help").split())
    explained = " ".join(billboards(installed, "import", "rated-lines", "--help").split())
    assert "--best BEST the highest rating" in explained
    source, out = tmp_path / "rated.tsv", tmp_path / "board"
    source.write_text(LINES, encoding="utf-8")
    printed = billboards(installed, "import", "rated-lines", str(source), "--best", "9", "-o", str(out))
    assert f"note: {source}: 2 instances, 4 outputs, 4 judgments" in printed
    board = open_board(out)
    assert board.dimensions["quality"].range == (1.0, 9.0)
    assert board.row("Y").texts == ("un", "deux")
    assert board.card.title == "Rated lines"


def test_an_importer_is_called_from_python(installed: Path, tmp_path: Path) -> None:
    source = tmp_path / "rated.tsv"
    source.write_text(LINES, encoding="utf-8")
    program = f"import billboards as bb; print(bb.import_board('rated-lines', {str(source)!r}, best=7).ranks)"
    assert run(installed, "-c", program) == "quality\n"


def test_a_format_is_written_and_read(installed: Path, tmp_path: Path) -> None:
    board = write_board(judged_board("csv"), tmp_path / "board")
    votes = tmp_path / "votes.tsv"
    billboards(installed, "judgments", "write", str(board), "--format", "vote-lines", "--key", "k", "-o", str(votes))
    header, *lines = votes.read_text(encoding="utf-8").splitlines()
    assert header.split("\t") == ["instance", "generator", "annotator", "dimension", "value"]
    assert [line.split("\t")[:2] for line in lines] == [["s1", "A"], ["s2", "B"], ["s3", "A"]]
    added = ("judgments", "add", str(board), str(votes), "--format", "vote-lines", "--campaign", "votes")
    billboards(installed, *added, "-o", str(tmp_path / "both"))
    assert len(open_board(tmp_path / "both").judgments) == 6


def test_both_are_held_to_the_contracts_once_they_are_installed(installed: Path) -> None:
    files = ("tests/contracts/test_importers.py", "tests/contracts/test_formats.py")
    options = ("-rp", "-p", "no:cacheprovider", "-p", "no:xdist", "-k", "rated-lines or vote-lines")
    printed = run(installed, "-m", "pytest", *options, *files)
    held = re.findall(r"^PASSED .*\[.*(rated-lines|vote-lines)\]", printed, re.MULTILINE)
    assert (held.count("rated-lines"), held.count("vote-lines")) == (10, 5)


@pytest.mark.parametrize(
    ("page", "example", "first"),
    [
        ("how-to-add-an-importer.md", "third_party_importer/rated_lines.py", "from pathlib"),
        ("how-to-add-a-format.md", "third_party_format/vote_lines.py", "from collections"),
        ("how-to-add-an-analysis.md", "third_party_analysis/spread.py", "from dataclasses"),
        ("how-to-add-an-ensemble.md", "third_party_ensemble/equal_weights.py", "import numpy"),
        ("how-to-add-a-column.md", "third_party_column/judged_column.py", "from billboards"),
    ],
)
def test_the_how_to_pages_show_the_examples_as_they_are(page: str, example: str, first: str) -> None:
    module = (ROOT / "examples" / example).read_text(encoding="utf-8")
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    assert module[module.index(first) :].strip() in text
    assert len(module.splitlines()) < 40


def test_an_ensemble_from_outside_is_studied_ranks_and_is_applied(installed: Path, tmp_path: Path) -> None:
    folder = write_board(small_board(), tmp_path / "judged")
    billboards(installed, "score", str(folder), "--metric", "chrF", "--metric", "BLEU", "--metric", "ROUGE-L")
    printed = billboards(installed, "ensemble", "study", str(folder), "--ensemble", "equal-weights")
    assert "Every metric with the same weight" in printed
    ranked = billboards(
        installed, "rank", str(folder), "--ensemble", "equal-weights", "--by", "ensemble", "--draws", "0"
    )
    assert "equal-weights over 3 metrics" in ranked
    signature = re.search(r"ensemble\.\S+\+equal-weights\S+\+version\.\d+\+\w{8}", printed)
    assert signature is not None
    outputs = tmp_path / "new.jsonl"
    board = open_board(folder)
    lines = [f'{{"instance": "{instance.id}", "text": "some words"}}' for instance in board.instances]
    outputs.write_text("\n".join(lines) + "\n", encoding="utf-8")
    applied = billboards(installed, "ensemble", "apply", signature[0], str(outputs), "--board", str(folder))
    assert "95% of people's values lie between" in applied


def test_an_analysis_from_outside_is_a_command_a_verb_a_route_a_page_and_a_section(
    installed: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "judged"
    write_board(small_board(), folder)
    assert "spread" in billboards(installed, "--help")
    assert "--metric METRIC the metric to look at" in " ".join(billboards(installed, "spread", "--help").split())
    script = f"""
import billboards as bb
from starlette.testclient import TestClient
from billboards.site.site import open_site
from billboards.site.web.app import create_app
from billboards.site.work.jobs import run_job
from billboards.site.work.worklist import next_job
board = bb.open({str(folder)!r})
bb.score(board, ["chrF"])
verb = bb.spread(board, metric="chrF")
print("verb", verb.words[0])
from dataclasses import replace
import pathlib
data = pathlib.Path({str(tmp_path / "site")!r})
bb.save(replace(board, metrics=("chrF",)), data / "boards" / board.name)
site = open_site(data)
while (job := next_job(site, "one")) is not None:
    run_job(site, job)
client = TestClient(create_app(site), base_url="http://127.0.0.1")
route = client.get(f"/api/v1/boards/{{board.name}}/analyses/spread", params={{"metric": "chrF"}})
print("route", route.status_code, route.json()["highest"] == verb.value.highest)
page = client.get(f"/boards/{{board.name}}/analyses/spread", params={{"metric": "chrF"}})
print("page", page.status_code, verb.words[0] in page.text)
print("column", "judged outputs" in client.get(f"/boards/{{board.name}}").text)
print("schema", "SpreadDocument" in client.get("/api/v1/openapi.json").text)
site.close()
report = bb.report(board, {str(tmp_path / "report.html")!r}, with_references=False).read_text("utf-8")
print("section", 'id="spread"' in report)
"""
    printed = run(installed, "-c", script)
    assert "verb chrF puts the generators" in printed
    for line in ("route 200 True", "page 200 True", "column True", "schema True", "section True"):
        assert line in printed


def test_the_examples_are_short() -> None:
    for path in (ROOT / "examples").glob("third_party_*/**/*.py"):
        assert len(path.read_text("utf-8").splitlines()) < 40, path
