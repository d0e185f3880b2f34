"""Small sources in the public layouts, of which tests change one file at a time."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

Write = Callable[..., Path]


def jsonl(*items: Mapping[str, Any]) -> str:
    return "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items)


def segments(key: str, *values: Any) -> str:
    """Lines of the billboard layout: s1 with set_id 0, s2 with set_id 1, …"""
    return jsonl(*({"seg_id": f"s{k + 1}", "set_id": k, key: value} for k, value in enumerate(values)))


def scores(system: str, metric: str, *values: object) -> str:
    lines = (f"{system},s{k + 1},{k},{metric},{value}\n" for k, value in enumerate(values))
    return "SYS,seg_id,set_id,metric,score\n" + "".join(lines)


CAPTIONS: Mapping[str, str] = {
    "billboard/submissions/mscoco/source/mscoco_src.jsonl": segments("src", "1.jpg", "2.jpg"),
    "billboard/submissions/mscoco/generators/mscoco_Up-Down.jsonl": segments("hyp", "A dog.", "A cat."),
    "billboard/results/mscoco/Up-Down||CLIPS.csv": scores("Up-Down", "CLIPS", 0.5, 0.75),
    "billboard/results/mscoco/Up-Down||RefCLIPS.csv": scores("Up-Down", "RefCLIPS", 0.5, 0.75),
    "billboard/results/mscoco/Up-Down||RefOnlyCLIPS.csv": scores("Up-Down", "RefOnlyCLIPS", 0.5, 0.75),
    "billboard/results/mscoco/Up-Down||ensemble.csv": scores("Up-Down", "ensemble", 70, 80),
    "THumB/mscoco/mscoco_references.json": segments("refs", ["Dog!", "The dog."], ["Cat!", "The cat."]),
    "THumB/mscoco/mscoco_THumB-1.0.jsonl": jsonl(
        *(
            {"SYS": system, "seg_id": f"s{k + 1}", "set_id": k, "hyp": hyp, "image": f"{k + 1}.jpg"}
            | {"P": 4.0, "R": 3.0, "Fl": fl, "Inc": -0.0, "Con": -0.0, "human_score": 3.5 + fl}
            for system, k, hyp, fl in (
                ("Up-Down", 0, "A dog.", -0.0),
                ("Up-Down", 1, "A cat.", -0.5),
                ("Human", 0, "Somebody's dog.", -0.0),
                ("Human", 1, "Somebody's cat.", -0.25),
            )
        )
    ),
}

TRANSLATIONS: Mapping[str, str] = {
    "billboard/submissions/wmt20-en-de/source/wmt20-en-de_src.jsonl": segments("src", "one", "two", "three"),
    "billboard/submissions/wmt20-en-de/generators/wmt20-en-de_X.1.jsonl": segments("hyp", "x1", "x2", "x3"),
    "billboard/submissions/wmt20-en-de/generators/wmt20-en-de_Y.2.jsonl": segments("hyp", "y1", "y2", "y3"),
    "billboard/results/wmt20-en-de/X.1||SentBLEU.csv": scores("X.1", "SentBLEU", 1, 2, 3),
    "billboard/results/wmt20-en-de/Y.2||SentBLEU.csv": scores("Y.2", "SentBLEU", 4, 5, 6),
    "mqm/newstest2020/ende/mqm_newstest2020_ende.avg_seg_scores.tsv": "system mqm_avg_score seg_id\n"
    + "".join(f"{system} -{k}.000000 {k}\n" for system in ("X.1", "Y.2", "Human-P.0") for k in (1, 2, 3)),
    "mqm/newstest2020/zhen/mqm_newstest2020_zhen.avg_seg_scores.tsv": "system mqm_avg_score seg_id\nX.1 -1 1\n",
    "references/en-de/Human-P.txt": "p1\np2\np3\n",
    "references/en-de/Human-A.txt": "a1\na2\na3\n",
    "references/en-de/src.txt": "one\ntwo\nthree\n",
}


Changes = Mapping[str, str | bytes | None]


def write(root: Path, files: Mapping[str, str], changed: Changes) -> Path:
    """Write files with some of them changed (a name's ending and its new content) or left out (None)."""
    contents: dict[str, str | bytes | None] = dict(files)
    for ending, content in changed.items():
        contents[next(name for name in files if name.endswith(ending))] = content
    for name, content in contents.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if content is None:
            path.unlink(missing_ok=True)
        else:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


@pytest.fixture
def captions(tmp_path: Path) -> Write:
    """A clone of billboard and THumB with a board mscoco of two images."""
    return lambda changed=None: write(tmp_path, CAPTIONS, changed or {})


@pytest.fixture
def translations(tmp_path: Path) -> Write:
    """A clone of billboard, MQM and references with a board wmt20-en-de of three segments."""
    return lambda changed=None: write(tmp_path, TRANSLATIONS, changed or {})


@pytest.fixture(scope="session")
def samples(shared_data: Path) -> Path:
    """A few entries of public repositories, laid out as they are cloned."""
    folder = shared_data.parent / "samples"
    if not folder.is_dir():
        pytest.skip("the samples of public repositories are absent: put them beside the human-evaluation data")
    return folder
