"""docs/board-folder.md explains every key there is, and its examples are what they claim to be."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from billboards.board.check import check_board
from billboards.board.folder import INSTANCE_KEYS, OUTPUT_KEYS, TEXT_KEYS, open_board
from billboards.board.judgment_files import KEYS as JUDGMENT_KEYS
from billboards.board.settings import KEYS, read_settings
from billboards.board.writing import PARTS
from billboards.reading import Problems

TEXT = (Path(__file__).parents[2] / "docs" / "board-folder.md").read_text(encoding="utf-8")

SECTIONS = {
    "### Top level": KEYS[""],
    "## instances.jsonl": INSTANCE_KEYS,
    "## generators/NAME.jsonl": TEXT_KEYS,
    "## outputs.jsonl": OUTPUT_KEYS,
    "## judgments/NAME.jsonl": JUDGMENT_KEYS,
} | {f"### [{table}]": keys for table, keys in KEYS.items() if table}


def section(title: str) -> str:
    """The text under a title, up to the next one of any rank."""
    return re.split(r"\n#+ ", TEXT.split(f"\n{title}\n")[1])[0]


@pytest.mark.parametrize(("title", "keys"), SECTIONS.items(), ids=SECTIONS)
def test_every_key_is_documented_and_nothing_else(title: str, keys: Iterable[str]) -> None:
    assert re.findall(r"^\| `(\w+)` \|", section(title), re.MULTILINE) == list(keys)


def test_every_part_of_the_folder_is_documented() -> None:
    assert [part for part in PARTS if part not in TEXT] == []


def test_the_example_of_settings_is_sound() -> None:
    problems = Problems()
    (example,) = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)
    settings = read_settings(example, problems)
    assert list(problems) == []
    assert settings.name == "wmt20-zh-en"


def test_the_examples_of_lines_make_a_board(tmp_path: Path) -> None:
    """Every example of the page in its file, with the few things around it that they speak of."""
    files = {
        "board.toml": 'name = "b"\n[dimensions.adequacy]\n[dimensions.fluency]\n'
        '[dimensions.better]\nkind = "preference"\n',
        "instances.jsonl": _example("## instances.jsonl") + '{"id": "18"}\n',
        "generators/M.jsonl": _example("## generators/NAME.jsonl"),
        "generators/Human-A.jsonl": "",
        "generators/Online-A.jsonl": "",
        "generators/N.jsonl": '{"instance": "17", "text": "Nine."}\n',
        "outputs.jsonl": _example("## outputs.jsonl"),
        "judgments/all.jsonl": _example("## judgments/NAME.jsonl"),
        "scores/BLEU.tsv": re.sub(r"^ {4}", "", "\n".join(_table("## scores/NAME.tsv")), flags=re.MULTILINE),
    }
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content, encoding="utf-8")
    assert [problem for problem in check_board(tmp_path) if problem.severity == "error"] == []
    board = open_board(tmp_path)
    assert (len(board.judgments), board.row("#1").ids[0]) == (5, "caption-4")
    assert board.imported[0].values["#1"].tolist()[1] == 12


def _example(title: str) -> str:
    (found,) = re.findall(r"```json\n(.*?)```", section(title), re.DOTALL)
    return str(found)


def _table(title: str) -> list[str]:
    return [line for line in section(title).split("\n") if line.startswith("    ")]
