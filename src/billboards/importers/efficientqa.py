"""EfficientQA (Min et al., 2021): systems' answers to open questions, rated on three levels; outputs have no system.

`NQ-open.efficientqa.test.1.1.jsonl` has a line per question with its known answers and the rated predictions in three
lists: definitely correct, possibly correct, definitely incorrect. Two dimensions are read off these levels, as
BEAMetrics does: an answer is correct unless it is definitely incorrect, and obvious if it is definitely correct.
"""

from __future__ import annotations

from pathlib import Path

from billboards.board import DataCard, Dimension, Instance, Judgment
from billboards.board.judgment_sources import Imported
from billboards.importers._assembling import (
    LooseOutputs,
    assemble,
    counts,
    find_file,
    references,
    refuse_twice,
    text_in,
    texts_in,
)
from billboards.importers._importer import importer
from billboards.reading import Problems, json_lines, read_source, refuse_errors, shown

#: A clone has the development set beside it, with and without annotations.
FILE = "NQ-open.efficientqa.test.1.1.jsonl"
CAMPAIGN = "raters"
LEVELS = {"def_correct_predictions": 2.0, "poss_correct_predictions": 1.0, "def_incorrect_predictions": 0.0}
LEVEL = Dimension(
    "level",
    range=(0.0, 2.0),
    definition="Is the answer right? 0: definitely incorrect; 1: possibly correct; 2: definitely correct.",
)
CORRECTNESS = Dimension(
    "correctness",
    definition="The answer is possibly or definitely correct.",
    levels_of=LEVEL.name,
    at_least=1.0,
)
OBVIOUSNESS = Dimension(
    "obviousness",
    definition="The answer is definitely correct: what one expects to hear.",
    levels_of=LEVEL.name,
    at_least=2.0,
)
CARD = DataCard(
    title="EfficientQA 2020, rated predictions",
    task="Answer an open question in a few words",
    source="https://github.com/google-research-datasets/natural-questions (nq_open)",
    licence="CC-BY-SA-3.0",
    citation="Min et al. (2021): NeurIPS 2020 EfficientQA Competition: Systems, Analyses and Lessons Learned",
    protocol="Predictions that match no known answer were rated as definitely correct, possibly correct or definitely "
    "incorrect",
    annotators="Raters of the competition; the release has one level per prediction and names nobody",
    comments="Predictions that match a known answer were not rated and are not here, which makes the set hard for "
    "metrics that compare words. The systems behind the predictions are not named.",
)


@importer(card=CARD)
def efficientqa(source: Path) -> Imported:
    """EfficientQA: answers to questions, rated on three levels."""
    path = find_file(source, (f"nq_open/{FILE}", FILE, "NQ-open.efficientqa*.jsonl"), "EfficientQA's rated predictions")
    problems, outputs, where = Problems(), LooseOutputs(), str(path)
    instances: list[Instance] = []
    judgments: list[Judgment] = []
    seen: dict[object, int] = {}
    for line, item in json_lines(read_source(path), where, problems):
        question, key = text_in(item, "question", where, line, problems), f"q{line}"
        refuse_twice(seen, question, f"question {shown(question)}", where, line, problems)
        answers = texts_in(item, "answer", where, line, problems)
        instances.append(Instance(key, references=references(answers, "answer"), input=question))
        for name, level in LEVELS.items():
            for text in texts_in(item, name, where, line, problems):
                refuse_twice(seen, (key, text), f"prediction {shown(text)}", where, line, problems)
                judgments.append(
                    Judgment(
                        instance=key,
                        outputs=(outputs.add(key, text),),
                        values={LEVEL.name: level},
                        annotator=None,
                        campaign=CAMPAIGN,
                    )
                )
    if not judgments and not problems.errors:
        problems.error(where, None, "holds no rated predictions; fetch the file again")
    refuse_errors(problems)
    board = assemble(
        "efficientqa",
        instances,
        outputs.rows(instances),
        judgments,
        dimensions=(LEVEL, CORRECTNESS, OBVIOUSNESS),
        ranks=CORRECTNESS.name,
        input_language="en",
        output_language="en",
    )
    return Imported(board, (counts(path, board),))
