"""metric.toml: what must be declared, and every way of getting it wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from billboards.errors import InvalidSubmission
from billboards.run.manifest import DECLARED, KEYS, manifest_from, read_manifest

DOCS = Path(__file__).parents[2] / "docs" / "submit-a-metric.md"
FULL = """
name = "Vowels"
higher_is_better = false
needs = ["references", "input"]
training_data = "none"
trained_on_this_board = true
deterministic = false
summary = "Counts vowels."
languages = ["en"]
range = [0, 1]
licence = "MIT"
paper = "A paper"
failures = "Ignores y."
entry = "vowels.py"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "run.sh").write_text("true\n")
    return tmp_path


def declared(**more: object) -> dict[str, object]:
    return {"name": "Vowels", "higher_is_better": True, "needs": [], "training_data": "none", **more}


def test_everything_declared_reaches_the_card(folder: Path) -> None:
    (folder / "metric.toml").write_text(FULL)
    (folder / "vowels.py").write_text("")
    (folder / "requirements.txt").write_text("numpy\n")
    manifest = read_manifest(folder)
    card = manifest.card
    assert (manifest.entry, manifest.requirements, manifest.trained_on_this_board) == ("vowels.py", "numpy\n", True)
    assert (card.name, card.summary, card.range, card.languages) == ("Vowels", "Counts vowels.", (0.0, 1.0), ("en",))
    assert (card.needs_references, card.needs_input, card.higher_is_better, card.deterministic) == (
        True,
        True,
        False,
        False,
    )
    assert (card.training_data, card.licence, card.paper, card.failures) == ("none", "MIT", "A paper", "Ignores y.")


def test_what_is_left_out_has_a_default(folder: Path) -> None:
    manifest = manifest_from(declared(), folder)
    assert (manifest.entry, manifest.requirements, manifest.trained_on_this_board) == ("run.sh", "", False)
    assert (manifest.card.needs_references, manifest.card.needs_input, manifest.card.deterministic) == (
        False,
        False,
        True,
    )


def test_the_only_python_file_is_the_entry(tmp_path: Path) -> None:
    (tmp_path / "vowels.py").write_text("")
    assert manifest_from(declared(), tmp_path).entry == "vowels.py"


@pytest.mark.parametrize("key", DECLARED)
def test_what_nobody_else_can_know_must_be_declared(key: str, folder: Path) -> None:
    values = declared()
    del values[key]
    with pytest.raises(
        InvalidSubmission, match=f"{key} is missing; name, higher_is_better, needs, training_data must be"
    ):
        manifest_from(values, folder)


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("name", "", "name is empty"),
        ("name", 3, "name must be a text"),
        ("name", "a|b", "name holds one of"),
        ("name", "a\nb", "control characters"),
        ("higher_is_better", "yes", "must be true or false"),
        ("needs", ["judgments"], 'must be a list of "references", "input" and "corpus"'),
        ("tolerance", 0.5, "must be a number from 0 to 0.01"),
        ("tolerance", True, "must be a number from 0 to 0.01"),
        ("needs", "input", "must be a list"),
        ("training_data", " ", "is empty; write `none` where there is none"),
        ("languages", "en", "must be a list of language codes"),
        ("range", [1, 0], "must be two numbers"),
        ("range", [0, float("inf")], "must be two numbers"),
        ("entry", "../run.sh", "must be run.sh or a Python file of the folder"),
        ("entry", "other.sh", "must be run.sh or a Python file of the folder"),
        ("entry", "absent.py", "absent.py: is not there"),
        ("need", [], "need is no key of a metric; did you mean needs?"),
        ("summary", "x" * 3000, "summary has 3000 characters"),
    ],
)
def test_a_wrong_value_is_named(key: str, value: object, words: str, folder: Path) -> None:
    with pytest.raises(InvalidSubmission) as caught:
        manifest_from(declared(**{key: value}), folder)
    assert words in str(caught.value)


def test_every_mistake_is_listed(folder: Path) -> None:
    with pytest.raises(InvalidSubmission) as caught:
        manifest_from({"name": "x", "higher_is_better": 1, "nonsense": 2}, folder)
    assert [problem.message.split()[0] for problem in caught.value.problems] == [
        "needs", "training_data", "higher_is_better", "nonsense",
    ]  # fmt: skip


def test_a_mistake_in_a_file_has_its_line(folder: Path) -> None:
    (folder / "metric.toml").write_text(FULL.replace("range = [0, 1]", "range = [1, 0]").replace("MIT", ""))
    (folder / "vowels.py").write_text("")
    with pytest.raises(InvalidSubmission, match=r"^metric.toml:10: range must be two numbers"):
        read_manifest(folder)


def test_a_folder_without_manifest_or_program_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidSubmission, match=r"metric.toml: is not there; it declares name"):
        read_manifest(tmp_path)
    with pytest.raises(InvalidSubmission, match=r"a metric is a folder with run.sh or metric.py"):
        manifest_from(declared(), tmp_path)


@pytest.mark.parametrize(("content", "words"), [(b"name = ", "is no TOML"), (b"\xff", "is no UTF-8 text")])
def test_a_manifest_that_cannot_be_read_is_refused(content: bytes, words: str, folder: Path) -> None:
    (folder / "metric.toml").write_bytes(content)
    with pytest.raises(InvalidSubmission, match=words):
        read_manifest(folder)


def test_links_are_not_followed(folder: Path, tmp_path: Path) -> None:
    (folder / "metric.py").symlink_to("/etc/passwd")
    with pytest.raises(InvalidSubmission, match=r"metric.py: is not there"):
        manifest_from(declared(entry="metric.py"), folder)


def test_every_key_is_documented() -> None:
    text = DOCS.read_text("utf-8")
    assert [key for key in KEYS if f"`{key}`" not in text] == []
