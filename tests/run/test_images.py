"""Metrics as images: which walls an engine is asked for, what an image reads and writes, and how each end is told.

A stand-in engine runs a program where an image would be run. A real one is tried too where BILLBOARDS_IMAGE names an
image, with its digest, that writes the number of words of each output.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from image_engine import ImageEngine

from billboards.errors import InvalidInput, MissingPart
from billboards.metrics.base import Batch, MetricCard
from billboards.run.images import ImageMetric, checked_image, fetch_image, find_engine
from billboards.run.limits import Limits

DIGEST = "sha256:" + "a1" * 32
IMAGE = f"registry.example.org/team/metric@{DIGEST}"
CARD = MetricCard(name="own", needs_references=True, needs_input=False)
BATCH = Batch(["one", "two words"], [["a", "b"], ["c"]], ["x", "y"])
WORDS = "import json, sys\nfor line in sys.stdin:\n    print(len(json.loads(line)['hyp'].split()))\n"
REAL = os.environ.get("BILLBOARDS_IMAGE", "")


def metric(tmp_path: Path, program: str, *, limits: Limits | None = None) -> tuple[ImageMetric, ImageEngine]:
    engine = ImageEngine(tmp_path / "engine", program)
    return ImageMetric(CARD, IMAGE, str(engine.path), limits or Limits(wall_seconds=60)), engine


def test_an_image_reads_a_line_for_each_output_and_writes_a_score_a_line(tmp_path: Path) -> None:
    program = "import sys\ntext = sys.stdin.read()\nprint(text, file=sys.stderr)\nprint('1.5\\n2.5')\n"
    own, _ = metric(tmp_path, program)
    (done,) = own.run([BATCH])
    assert done.problem is None
    assert done.scores is not None
    assert done.scores.tolist() == [1.5, 2.5]
    given = [json.loads(line) for line in done.outcome.stderr.splitlines()[:2]]
    assert [set(line) for line in given] == [{"seg_id", "set_id", "hyp", "src", "refs"}] * 2
    assert [(line["hyp"], line["src"], line["refs"]) for line in given] == [
        ("one", "", ["a", "b"]),
        ("two words", "", ["c"]),
    ]


def test_it_is_run_without_network_read_only_as_nobody_and_within_limits(tmp_path: Path) -> None:
    own, engine = metric(tmp_path, WORDS, limits=Limits(memory_bytes=2**30, processes=64, cpu_seconds=30))
    own.run([BATCH])
    (words,) = engine.asked
    asked = dict(pairwise(words))
    assert words[:2] == ["run", "--rm"]
    assert {"--read-only", "--interactive"} <= set(words)
    assert asked["--network"] == "none"
    assert asked["--pull"] == "never"
    assert asked["--cap-drop"] == "ALL"
    assert asked["--security-opt"] == "no-new-privileges"
    assert asked["--user"] == "65534:65534"
    assert (asked["--memory"], asked["--memory-swap"], asked["--pids-limit"]) == (str(2**30), str(2**30), "64")
    assert asked["--cpus"] == "2"
    assert "cpu=31" in words
    assert words[-1] == IMAGE
    assert not {"--privileged", "--volume", "-v", "--mount", "--device"} & set(words)


def test_its_signature_is_the_images_digest_and_what_it_declares() -> None:
    own = ImageMetric(CARD, IMAGE, "/usr/bin/podman")
    assert own.signature == f"own|image:{DIGEST}|needs:references|higher_is_better:yes"
    assert replace(own, engine="/usr/bin/docker").signature == own.signature


@pytest.mark.parametrize(
    ("program", "verdict", "words"),
    [
        ("raise ValueError('no wrong words')", "exit code", "exit code 1; 0 is needed; its last words: ValueError"),
        ("import sys; sys.exit(125)", "broken", "no fault of the image"),
        ("import sys; sys.exit(137)", "memory", "may use 4096 MiB of memory"),
        ("print(1)", "finished", "wrote 1 scores for 2 outputs"),
        ("print('1\\nnan')", "finished", "nan is not finite"),
        ("print('1\\n' * 3000000)", "file size", "1 MiB of scores"),
    ],
)
def test_how_it_ends_is_told(tmp_path: Path, program: str, verdict: str, words: str) -> None:
    own, _ = metric(tmp_path, program, limits=Limits(wall_seconds=60, result_bytes=2**20))
    (done,) = own.run([BATCH])
    assert done.scores is None
    assert words in str(done.problem)
    assert (done.outcome.verdict, done.outcome.platform) == (verdict, verdict == "broken")


def test_nothing_that_it_wrote_is_quoted_where_references_are_hidden(tmp_path: Path) -> None:
    own, _ = metric(tmp_path, "import sys; sys.exit(sys.stdin.read())")
    (done,) = own.run([BATCH], quoting=False)
    assert "refs" in done.outcome.stderr
    assert str(done.problem) == (
        "own: ended with an exit code that is not 0; more is withheld, because it was given texts that its author may "
        "not read"
    )


@pytest.mark.long
def test_one_that_takes_too_long_is_ended_and_removed(tmp_path: Path) -> None:
    own, engine = metric(tmp_path, "import time; time.sleep(60)", limits=Limits(wall_seconds=8.0))
    (done,) = own.run([BATCH])
    assert "ran longer than 8 s" in str(done.problem)
    ran, removed = engine.asked
    assert removed == ["rm", "--force", ran[ran.index("--name") + 1]]


def test_one_that_is_cancelled_is_ended(tmp_path: Path) -> None:
    own, _ = metric(tmp_path, "import time; time.sleep(60)")
    (done,) = own.run([BATCH], cancelled=lambda: True)
    assert done.outcome.verdict == "cancelled"


def test_an_image_is_fetched_once_by_its_digest(tmp_path: Path) -> None:
    engine = ImageEngine(tmp_path / "engine", WORDS)
    for _ in range(2):
        fetch_image(str(engine.path), IMAGE)
    assert engine.asked == [["image", "inspect", IMAGE], ["pull", "--quiet", IMAGE], ["image", "inspect", IMAGE]]


def test_an_image_that_is_not_there_is_said_with_the_engines_words(tmp_path: Path) -> None:
    engine = ImageEngine(tmp_path / "engine", WORDS)
    with pytest.raises(MissingPart, match="could not be fetched: manifest unknown"):
        fetch_image(str(engine.path), f"missing@{DIGEST}")


@pytest.mark.parametrize("name", ["metric", "metric:latest", f"a b@{DIGEST}", f"--privileged@{DIGEST}", "m@sha256:12"])
def test_an_image_needs_its_digest_and_a_plain_name(name: str) -> None:
    with pytest.raises(InvalidInput, match="is no image with its digest"):
        checked_image(name)


def test_an_engine_is_found_on_the_path_podman_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingPart, match="no podman or docker is installed"):
        find_engine()
    engine = ImageEngine(tmp_path / "engine", WORDS)
    monkeypatch.setenv("PATH", str(engine.home))
    assert find_engine() == str(engine.path)


if REAL:

    def test_a_real_engine_runs_a_real_image() -> None:
        engine, image = find_engine(), checked_image(REAL)
        fetch_image(engine, image)
        (done,) = ImageMetric(CARD, image, engine).run([BATCH])
        assert done.problem is None
        assert done.scores is not None
        assert done.scores.tolist() == [1.0, 2.0]
