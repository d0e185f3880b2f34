"""What `verify` says of a folder that is sound, and of every way in which one is not."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from approving import approve
from told_commands import told_by
from verified_boards import edit_ranking, edit_scores, ferry_folder

from billboards.board.trust import TrustRules

Scores = np.ndarray[Any, Any]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return ferry_folder(tmp_path_factory.mktemp("sound") / "ferry")


def nudged(scores: Scores) -> None:
    scores[3] = np.nextafter(scores[3], 2.0)


def moved(scores: Scores) -> None:
    scores[3] += 0.25


def emptied(scores: Scores) -> None:
    scores[:2] = np.nan


def raised(scores: Scores) -> None:
    scores += 0.25


def first_metric(ranking: dict[str, Any]) -> None:
    ranking["metrics"][0]["correlation"] += 0.001
    ranking["metrics"][0]["interval"] = [0.0, 1.0]
    ranking["metrics"][1]["n"] += 1


def other_order(ranking: dict[str, Any]) -> None:
    ranking["generators"] = ranking["generators"][::-1]


def other_options(ranking: dict[str, Any]) -> None:
    ranking["seed"] = 7
    ranking["draws"] = 10


def no_metric(ranking: dict[str, Any]) -> None:
    ranking["metrics"] = ranking["metrics"][1:]


def other_board(ranking: dict[str, Any]) -> None:
    ranking["board_version"] = "none"
    ranking["statistic"] = "spearman"


def without_judgments(folder: Path) -> None:
    """Nothing that people said is left."""
    for path in (folder / "judgments").iterdir():
        path.write_text("", "utf-8")


def shortened(told: dict[str, Any]) -> dict[str, Any]:
    """Numbers in texts are told to every digit: to nine here, and without what makes columns as wide as they are."""
    return {
        name: [_short(line) for line in lines] if isinstance(lines, list) else lines for name, lines in told.items()
    }


def _short(line: str) -> str:
    short = re.sub(r"\d+\.\d{9,}(e-\d+)?", lambda number: f"{float(number[0]):.9g}", line)
    return re.sub(r"─+", "─", re.sub(r"  +", "  ", short))


def one_bit(folder: Path) -> None:
    """What one bit changes in a ranking hangs on the processor, so there is none."""
    edit_scores(folder, "ROUGE-L", "g1", nudged)
    shutil.rmtree(folder / "rankings")


#: What happens to a folder before it is verified, by name.
HARM: dict[str, Callable[[Path], object]] = {
    "nothing": lambda folder: None,
    "one bit of a score": one_bit,
    "one score": lambda folder: edit_scores(folder, "length", "g1", moved),
    "scores gone": lambda folder: edit_scores(folder, "chrF", "g0", emptied),
    "scores raised": lambda folder: edit_scores(folder, "length", "g2", raised),
    "scores cut": lambda folder: edit_scores(folder, "ROUGE-1", "g1", nudged, kept=4),
    "scores of two metrics": lambda folder: (
        edit_scores(folder, "ROUGE-1", "g1", raised),
        edit_scores(folder, "ROUGE-L", "g3", raised),
    ),
    "numbers of metrics": lambda folder: edit_ranking(folder, first_metric),
    "generators in another order": lambda folder: edit_ranking(folder, other_order),
    "other options": lambda folder: edit_ranking(folder, other_options),
    "a metric gone": lambda folder: edit_ranking(folder, no_metric),
    "another board": lambda folder: edit_ranking(folder, other_board),
    "no judgments": without_judgments,
    "no ranking": lambda folder: shutil.rmtree(folder / "rankings"),
    "no scores": lambda folder: shutil.rmtree(folder / ".billboards"),
}


@pytest.mark.parametrize("name", HARM)
def test_a_folder_is_verified_as_approved(
    name: str, sound: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "ferry"
    shutil.copytree(sound, folder)
    HARM[name](folder)
    told = shortened(told_by(["verify", folder, "--jobs", 1, "--wide"], capsys))
    told["json"] = told_by(["verify", folder, "--jobs", 1, "--json"], capsys)["out"]
    approve(f"verify/{name.replace(' ', '-')}", told, folder=tmp_path)


def test_a_folder_is_verified_in_part_or_nearly_as_approved(
    sound: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "ferry"
    shutil.copytree(sound, folder)
    edit_scores(folder, "length", "g1", moved)
    (kept,) = (folder / "rankings").iterdir()
    quoted = tmp_path / "quoted.json"
    quoted.write_text(kept.read_text("utf-8"), "utf-8")
    plain = ["verify", folder, "--jobs", 1, "--wide"]
    asked: dict[str, list[Any]] = {
        "one metric": ["--metric", "length"],
        "another metric": ["--metric", "chrF"],
        "no such metric": ["--metric", "BLEU"],
        "a sample": ["--sample", 2, "--seed", 1],
        "an empty sample": ["--sample", 0],
        "nearly": ["--tolerance", 0.1],
        "not as nearly": ["--tolerance", 1e-9],
        "less than nothing": ["--tolerance", -1],
        "by number": ["--ranking", 1],
        "by another number": ["--ranking", 2],
        "by identity": ["--ranking", kept.stem],
        "quoted": ["--ranking", quoted],
        "no such ranking": ["--ranking", "none"],
        "a key": ["--key", "0" * 64],
        "no key": ["--key", "12"],
        "as CSV": ["--csv"],
        "as LaTeX": ["--latex"],
        "programs": ["--programs"],
    }
    told = {name: shortened(told_by([*plain, *more], capsys)) for name, more in asked.items()}
    told["quoted alone"] = told_by(["verify", quoted, "--wide"], capsys)
    quoted.write_text("[]", "utf-8")
    told["no quote"] = told_by(["verify", quoted], capsys)
    told["not there"] = told_by(["verify", tmp_path / "none"], capsys)
    told["no address"] = told_by(["verify", "https://"], capsys)
    told["no board"] = told_by(["verify", tmp_path], capsys)
    approve("verify/asked", told, folder=tmp_path)


def test_a_folder_with_a_private_share_is_verified_as_approved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = TrustRules(private_share=0.25, barred={"g3": "copied"}, admits=("chrF", "ROUGE-1"))
    folder = ferry_folder(tmp_path / "ferry", trust=rules, references="Ada")
    edit_ranking(folder, first_metric)
    told = shortened(told_by(["verify", folder, "--jobs", 1, "--wide"], capsys))
    told["json"] = told_by(["verify", folder, "--jobs", 1, "--json"], capsys)["out"]
    approve("verify/private", told, folder=tmp_path)
