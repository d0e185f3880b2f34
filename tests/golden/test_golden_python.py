"""What older versions gave in Python is still given: metrics on texts, statistics on arrays, results as documents."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from frozen_documents import differences, normalised
from frozen_metrics import learned_numbers, metric_numbers
from frozen_numbers import numbers
from frozen_runs import copied, kept_run, precision, working_in

import billboards as bb

HERE = Path(__file__).parent
VERSIONS = sorted(path.name for path in HERE.glob("v*"))

#: A command line that is frozen as JSON, and the same from Python. Version 0.1 tested with one side.
IN_PYTHON: Mapping[str, Callable[[Any], Any]] = {
    "rank harbour --no-save": lambda board: bb.rank(board, sides="one"),
    "rank harbour --domain weather --no-save --draws 100": lambda board: bb.rank(
        board, part=bb.Slice(domain="weather"), draws=100, sides="one"
    ),
    "rank harbour --k 5 --no-save --draws 100": lambda board: bb.rank(board, k=5, draws=100, sides="one"),
    "rank harbour --ensemble best-subset --k 2 --no-save --draws 100": lambda board: bb.rank(
        board, method="best-subset", k=2, draws=100, sides="one"
    ),
    "rank versus --no-save": lambda board: bb.rank(board, sides="one"),
    "ensemble study harbour": bb.ensemble,
    "overrating harbour --human Mara --crossed --no-score --jobs 1": lambda board: bb.overrating(
        board, "Mara", crossed=True, score=False
    ),
    "compare harbour chrF BLEU --draws 200": lambda board: bb.compare(
        board, "chrF", "BLEU", draws=200, shown=5, sides="one"
    ),
    "sensitivity harbour --draws 100": lambda board: bb.sensitivity(board, draws=100),
    "hybrids harbour --mixtures 500": lambda board: bb.hybrids(board, mixtures=500, sides="one"),
    "estimate harbour Brisk --labels 10": lambda board: bb.estimate(board, "Brisk", labels=10),
    "power harbour chrF BLEU": lambda board: bb.power(board, "chrF", "BLEU"),
    "agreement harbour overall crowd --show 2": lambda board: bb.agreement(board, "overall", "crowd", shown=2),
    "references harbour --jobs 1 --metric chrF --metric TER": lambda board: bb.references(board, ["chrF", "TER"]),
    "challenge harbour --jobs 1 --metric chrF --metric length": lambda board: bb.challenge(board, ["chrF", "length"]),
    "card harbour": bb.card,
}


@pytest.mark.parametrize("version", VERSIONS)
def test_metrics_score_texts_as_they_did(version: str) -> None:
    kept = json.loads((HERE / version / "metrics.json").read_text("utf-8"))
    assert list(differences(kept["plain"], normalised(metric_numbers()))) == []


@pytest.mark.parametrize("version", VERSIONS)
def test_metrics_on_the_embedded_model_score_texts_as_they_did(version: str) -> None:
    kept = json.loads((HERE / version / "metrics.json").read_text("utf-8"))
    assert list(differences(kept["learned"], normalised(learned_numbers()), relative=1e-4)) == []


@pytest.mark.parametrize("line", IN_PYTHON)
@pytest.mark.parametrize("version", VERSIONS)
def test_python_gives_what_the_command_line_gave(version: str, line: str, tmp_path: Path) -> None:
    kept = kept_run(HERE / version, line)
    copied(HERE / version / "workspace", tmp_path, kept["argv"])
    with working_in(tmp_path):
        result = IN_PYTHON[line](bb.open(next(word for word in kept["argv"] if (tmp_path / word).is_dir())))
    document = json.loads(json.dumps(result.document))
    now = normalised(document, folder=str(tmp_path))
    assert list(differences(kept["stdout"], now, relative=precision(kept["argv"]))) == []


@pytest.mark.parametrize("version", VERSIONS)
def test_a_kept_suite_says_the_same_from_python(version: str, tmp_path: Path) -> None:
    kept = kept_run(HERE / version, "suite rank suite.toml --draws 100")
    copied(HERE / version / "workspace", tmp_path, kept["argv"])
    with working_in(tmp_path):
        # Version 0.1 mixed preferences with correlations.
        suite = bb.open_suite("suite.toml").measured(preferences="mixed")
        document = json.loads(json.dumps(suite.rank(draws=100, sides="one").document))
    assert list(differences(kept["stdout"], normalised(document))) == []


@pytest.mark.parametrize("version", VERSIONS)
def test_statistics_standings_and_frames_are_as_they_were(version: str, tmp_path: Path) -> None:
    kept = json.loads((HERE / version / "numbers.json").read_text("utf-8"))
    copied(HERE / version / "workspace", tmp_path, ["harbour"])
    now = normalised(numbers(tmp_path / "harbour"))
    # Tables may be added before others; each that was there is there.
    lost = [k for k, frame in enumerate(kept["frames"]) if all(any(differences(frame, one)) for one in now["frames"])]
    assert lost == []
    unlike = [one for part in ("statistics", "standings") for one in differences(kept[part], now[part], part)]
    assert not unlike, "\n".join(unlike[:30])
