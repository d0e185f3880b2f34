"""Rank19 (Falke et al., 2019): two summary sentences for a sentence of an article, of which one is correct.

BARTScore's repository has them as a pickle (`SUM/Rank19/data.pkl`): for each article sentence `src`, and under
`sys_summs` the sentences `correct` and `incorrect`. Which system wrote them is not said, so they belong to nobody. The
article's sentence stands in the place of a reference there; it is the input here.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from billboards.board import DataCard, Dimension, Instance, Judgment
from billboards.board.judgment_sources import Imported
from billboards.importers._assembling import LooseOutputs, assemble, check_name, counts, find_file
from billboards.importers._importer import importer
from billboards.importers._rated_outputs import RatedOutput, ReleasedScores, read_rated_outputs
from billboards.reading import Problems, refuse_errors

SIDES = ("correct", "incorrect")
#: BARTScore's number for which side a sentence is on.
FACT = "fact"
CORRECT = Dimension(
    "correct",
    kind="preference",
    definition="Which of two sentences the article's sentence supports; the other says something that is not there.",
)
CARD = DataCard(
    title="Rank19",
    task="Say in a sentence what a sentence of a news article says",
    source="https://aclanthology.org/P19-1213, as released with BARTScore "
    "(https://github.com/neulab/BARTScore); articles: CNN/DailyMail",
    licence="CC-BY-SA-4.0 (the authors' release); the articles are CNN's and the Daily Mail's",
    citation="Falke, Ribeiro, Utama, Dagan and Gurevych (2019): Ranking Generated Summaries by Correctness: An "
    "Interesting but Challenging Application for Natural Language Inference",
    protocol="Workers said of generated summaries whether they are correct; sentences of a correct and of an incorrect "
    "one that draw on one sentence of the article make a pair",
    annotators="Crowd workers; the pairs are derived from their labels",
    comments="The first and second sentence of a pair stand in alphabetical order.",
)


@importer(card=CARD)
def rank19(source: Path) -> Imported:
    """Rank19: pairs of summary sentences, of which one is correct.

    The source is a clone of BARTScore, its folder `SUM/Rank19`, or the file.
    """
    path, problems = find_file(source, ("Rank19/data.pkl", "data.pkl", "*rank19*.pkl"), "Rank19's pairs"), Problems()
    pairs: dict[str, dict[str, RatedOutput]] = {}
    for output in read_rated_outputs(path, problems):
        check_name("instance", output.document, str(path), None, problems)
        pairs.setdefault(output.document, {})[output.system] = output
    outputs, scores = LooseOutputs(), ReleasedScores(str(path), problems)
    instances: list[Instance] = []
    judgments: list[Judgment] = []
    equal = 0
    for document, pair in pairs.items():
        if set(pair) != set(SIDES):
            problems.error(
                str(path), None, f"document {document}: needs {' and '.join(SIDES)}; found {', '.join(pair)}"
            )
            continue
        instances.append(Instance(document, input=pair["correct"].input))
        equal += pair["correct"].text == pair["incorrect"].text
        judgments.append(_judgment(document, pair, outputs, scores))
    refuse_errors(problems)
    board = assemble(
        "rank19",
        instances,
        outputs.rows(instances),
        judgments,
        dimensions=(CORRECT,),
        ranks=CORRECT.name,
        input_language="en",
        output_language="en",
    )
    board = replace(board, imported=scores.columns(instances))
    refuse_errors(problems)
    notes = [f"{path}: the article's sentences, which stand in the place of references too, are the inputs"]
    if equal:
        notes.append(f"{path}: {equal} pairs are of equal sentences, which no metric can tell apart; each counts")
    return Imported(board, (counts(path, board), *notes, *scores.notes()))


def _judgment(document: str, pair: dict[str, RatedOutput], outputs: LooseOutputs, scores: ReleasedScores) -> Judgment:
    rows: dict[str, str] = {}
    keys: dict[str, str] = {}
    for k, side in enumerate(sorted(SIDES, key=lambda side: (pair[side].text, side)), 1):
        keys[side] = f"{document}.{k}"
        rows[side] = outputs.add(document, pair[side].text, keys[side])
        place = pair[side].place
        scores.add(pair[side].scores, row=rows[side], instance=document, place=place, without=(FACT,))
    return Judgment(
        instance=document,
        outputs=tuple(sorted(rows.values())),
        values={},
        annotator=None,
        campaign="labels",
        details={"dimension": CORRECT.name, "prefers": keys["correct"]},
    )
