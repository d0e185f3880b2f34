"""BEAMetrics' data sets as the paper lays them out: a row per judged output, references at their places.

`restore` puts texts back as the paper had them, as far as that can be told, to explain what differs without.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: The columns that each data set fills, with its dimension.
SETS = {
    "WMT": {"WMT": "better"},
    "Web": {"Web": "semantics", "Web flu": "fluency"},
    "Asv": {"Asv": "meaning", "Asv flu": "fluency", "Asv sim": "simplicity"},
    "Fli": {"Fli": "expert"},
    "mSu": {"mSu": "focus", "mSu rel": "coverage"},
    "SumE": {"SumE": "consistency", "SumE rel": "relevance", "SumE coh": "coherence", "SumE flu": "fluency"},
    "OpQA": {"OpQA": "correctness", "OpQA obv": "obviousness"},
}
PAIRS = ("gu-en", "kk-en", "lt-en")
LANGUAGES = ("de", "en", "es", "fr", "id", "ru", "tr", "zh")


@dataclass(frozen=True)
class Judged:
    """Judged outputs of one data set, as the paper lays them out: a row each, references at their places."""

    outputs: Sequence[str]
    references: Sequence[Sequence[str]]
    inputs: Sequence[str | None]
    people: dict[str, Floats]
    writers: Sequence[str]


def read_set(name: str, data: Path) -> Iterator[Judged]:
    """A data set's judged outputs; of WMT one language pair after the other."""
    import billboards as bb

    if name == "WMT":
        for pair in PAIRS:
            yield _labelled(bb.import_board("wmt19-darr", data / "wmt19_darr", language_pair=pair), "WMT")
        return
    kinds = {"Web": "webnlg-2017", "Asv": "asset", "Fli": "flickr8k", "mSu": "multi-summeval", "SumE": "summeval"}
    folders = {"Web": "webnlg2017", "mSu": "multi_summeval", "OpQA": "efficientqa"}
    board = bb.import_board(kinds.get(name, "efficientqa"), data / folders.get(name, kinds.get(name, "")))
    yield _valued(board, SETS[name], standardised=name == "Asv")


def _valued(board: Any, columns: dict[str, str], *, standardised: bool) -> Judged:
    """A row per output that people gave a value; the text of a reference takes no part."""
    from billboards.board import human_scores

    if standardised:
        board = replace(board, judgments=_by_worker(board.judgments))
    shape = len(board.rows), len(board.instances)
    people = {
        column: human_scores(board.judgments, board.aggregate(d), board.dimensions, shape)
        for column, d in columns.items()
    }
    rows, instances = np.nonzero(np.isfinite(next(iter(people.values()))))
    keep = [not board.is_reference(board.rows[r], board.references) for r in rows]
    rows, instances = rows[keep], instances[keep]
    return Judged(
        [board.rows[r].texts[i] or "" for r, i in zip(rows, instances, strict=True)],
        [_padded(board, int(i)) for i in instances],
        [board.instances[i].input for i in instances],
        {column: values[rows, instances] for column, values in people.items()},
        [board.rows[r].name for r in rows],
    )


def read_pascal(clone: Path) -> Judged:
    """Pascal-50S from a clone of cider-matlab, the better caption of each pair before the worse one."""
    import billboards as bb

    return _labelled(bb.import_board("pascal-50s", clone), "Pas")


def _labelled(board: Any, column: str) -> Judged:
    """Both outputs of every pair as rows of their own: 1 for the better one, 0 for the worse."""
    from billboards.board import preferred_pairs

    pairs = preferred_pairs(board, board.aggregate()).decided
    rows, instances = np.stack([pairs.better, pairs.worse], 1).ravel(), np.repeat(pairs.instance, 2)
    return Judged(
        [board.rows[r].texts[i] or "" for r, i in zip(rows, instances, strict=True)],
        [_padded(board, int(i)) for i in instances],
        [board.instances[i].input for i in instances],
        {column: np.tile([1.0, 0.0], len(pairs))},
        [board.rows[r].name for r in rows],
    )


def _padded(board: Any, instance: int) -> list[str]:
    """The references at their places, an absent one as an empty text."""
    own = {reference.name: reference.text for reference in board.instances[instance].references}
    return [own.get(name, "") for name in board.reference_names]


def _by_worker(judgments: Any) -> Any:
    """Ratings less the worker's mean over the worker's variance, as the paper's code has it."""
    values = judgments.values.copy()
    for code in np.unique(judgments.annotator):
        own = judgments.annotator == code
        values[own] = (values[own] - np.nanmean(values[own])) / np.nanvar(values[own])
    return replace(judgments, values=values)


def restore(name: str, judged: Judged) -> Judged | None:
    """The texts as the paper had them, as far as that can be told; None where they are.

    SummEval: the copy at hand capitalises sentences of systems that wrote lower case, and its references and articles
    are tokenised. WebNLG: some teams left punctuation on words, the references have it apart.
    """
    if name == "Web":
        return replace(judged, outputs=[re.sub(r'([,.;:!?()"])', r" \1 ", text) for text in judged.outputs])
    if name != "SumE":
        return None
    lower = _lowercased(judged)
    outputs = [t.lower() if w in lower else t for t, w in zip(judged.outputs, judged.writers, strict=True)]
    references = [[_joined(text) for text in texts] for texts in judged.references]
    return replace(judged, outputs=outputs, references=references, inputs=[_joined(t or "") for t in judged.inputs])


def _lowercased(judged: Judged) -> set[str]:
    """Writers with hardly a capital inside their sentences."""
    capitals, words = Counter[str](), Counter[str]()
    for text, writer in zip(judged.outputs, judged.writers, strict=True):
        capitals[writer] += len(re.findall(r"(?<![.!?] )(?<!^)\b[A-Z]", text))
        words[writer] += len(text.split())
    return {writer for writer in words if capitals[writer] < 0.02 * words[writer]}


def _joined(text: str) -> str:
    """A text whose punctuation stands on its words again."""
    text = re.sub(r"([(]) ", r"\1", re.sub(r" ([.,!?;:)])", r"\1", text))
    return text.replace(" 's", "'s").replace(" n't", "n't")
