"""OkVQA-Eval (Scialom and Hill, 2021): answers to questions about images, rated for three qualities by experts.

The ratings come in BEAMetrics' layout, `OkVQA.json`: `source_question`, `hypothesis`, `references`, and every
annotator's `possibility` (1: impossible), `obviousness` (1 to 100) and `correctness` (0: correct, 2: incorrect).
"""

from __future__ import annotations

from pathlib import Path

from billboards.board import DataCard, Dimension
from billboards.board.judgment_sources import Imported
from billboards.importers._assembling import find_file
from billboards.importers._examples import import_examples
from billboards.importers._importer import importer

DIMENSIONS = (
    Dimension(
        "correctness",
        range=(0.0, 2.0),
        higher_is_better=False,
        definition="Is the answer factually correct? 0: definitely; 1: can't say; 2: definitely incorrect.",
    ),
    Dimension(
        "possibility",
        range=(0.0, 1.0),
        higher_is_better=False,
        definition="Is the answer possible? 0: in some conceivable situation; 1: impossible, or it makes no sense.",
    ),
    Dimension(
        "obviousness",
        range=(0.0, 100.0),
        definition="If 100 people saw the image and the question, how many would give this answer?",
    ),
)
CARD = DataCard(
    title="OkVQA-Eval",
    task="Answer a question about an image that needs knowledge beyond it",
    source="https://github.com/ThomasScialom/BEAMetrics; questions: OK-VQA",
    licence="None stated for the ratings",
    citation="Scialom and Hill (2021): BEAMetrics: A Benchmark for Language Generation Evaluation Evaluation; Marino "
    "et al. (2019): OK-VQA",
    protocol="Annotators saw image, question and answer, and answered three questions about the answer",
    annotators="Experts of Sorbonne University; places in the released lists, not persons",
    comments="The images are not part of the file.",
)


@importer(card=CARD)
def okvqa_eval(source: Path) -> Imported:
    """OkVQA-Eval: answers about images, rated for three qualities."""
    path = find_file(source, ("OkVQA*.json", "OkVQA*.jsonl"), "OkVQA-Eval's ratings")
    return import_examples(path, "okvqa-eval", DIMENSIONS, source_key="source_question", language="en")
