"""A small sound board folder, of which tests change one file at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

FILES: Mapping[str, str] = {
    "board.toml": """\
name = "small"
ranks = "quality"
[languages]
output = "en"
[dimensions]
adequacy = {range = [1, 5], definition = "Is it all there?"}
errors = {higher_is_better = false, definition = "Marks of bad language."}

[aggregates.quality]
dimensions = ["adequacy", "errors"]
[generators.H]
kind = "human"
[card]
title = "Small"
task = "Testing"
source = "Made up"
licence = "CC0-1.0"
citation = "None"
protocol = "None"
annotators = "None"
""",
    "instances.jsonl": """\
{"id": "a", "input": "Eins", "references": [{"name": "A", "text": "One."}, {"name": "B", "text": "The one."}]}
{"id": "b", "input": "Zwei", "references": [{"name": "A", "text": "Two."}, {"name": "B", "text": "The two."}]}
{"id": "c", "input": "Drei", "references": [{"name": "A", "text": "Three."}, {"name": "B", "text": "The three."}]}
""",
    "generators/M.jsonl": """\
{"instance": "a", "text": "A one."}
{"instance": "b", "text": "A two."}
{"instance": "c", "text": "A three."}
""",
    "generators/H.jsonl": """\
{"instance": "a", "text": "Number one."}
{"instance": "b", "text": "Number two."}
{"instance": "c", "text": "Number three."}
""",
    "outputs.jsonl": """\
{"instance": "a", "id": "x1", "text": "Someone's one."}
{"instance": "a", "id": "x2", "text": "Another's one."}
{"instance": "c", "id": "x3", "text": "Someone's three."}
""",
    "judgments/experts.jsonl": """\
{"instance": "a", "generator": "M", "values": {"adequacy": 4, "errors": 2}, "annotator": "ann", "campaign": "experts"}
{"instance": "b", "generator": "M", "values": {"adequacy": 2.5, "errors": 0}}
{"instance": "a", "output": "x2", "values": {"adequacy": 1}}
{"instance": "c", "generators": ["M", "H"], "prefers": "H"}
""",
    "scores/BLEU.tsv": "instance\tM\tH\t#1\na\t0.25\t1.5\t3\nb\t\t-2\t\nc\t1e-3\t0\t1\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Callable[..., Path]:
    """Writes the small board with some files changed (a path and its new text or bytes) or left out (None)."""

    def write(changed: Mapping[str, str | bytes | None] | None = None) -> Path:
        root = tmp_path / "small"
        for name, content in {**FILES, **(changed or {})}.items():
            if content is not None:
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return root

    return write
