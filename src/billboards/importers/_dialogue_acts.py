"""What BAGEL, SFHOT and SFRES share: utterances of dialogue systems with crowd ratings by Novikova et al. (2017).

Each has a dialogue act (`inform(name=X,area=centre)`), a system's utterance, what people wrote for the same act, and
ratings on three dimensions from 1 to 6. BARTScore has them as pickles (`D2T/BAGEL/data.pkl`: `src`, `sys_summ`,
`ref_summs`, `scores`), UniEval two of them as JSON with one reference each (`sfhot.json`). Which system wrote an
utterance is not said.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from billboards.board import DataCard, Dimension, Judgment
from billboards.board.judgment_sources import Imported
from billboards.importers._assembling import assemble, check_name, counts, find_file
from billboards.importers._rated_outputs import (
    ReleasedScores,
    SharedInputs,
    people_said,
    read_rated_outputs,
    renamed,
)
from billboards.reading import Problems, refuse_errors

_SIX = (1.0, 6.0)
DIMENSIONS = (
    Dimension("quality", range=_SIX, definition="The overall quality of the utterance: is it grammatical and fluent?"),
    Dimension("informativeness", range=_SIX, definition="Whether the utterance says all that the dialogue act holds."),
    Dimension("naturalness", range=_SIX, definition="Whether a native speaker could have said it."),
)


def card(name: str, *, acts: str, citation: str, comments: str) -> DataCard:
    """The data card of a set; the ratings are the same study's."""
    return DataCard(
        title=name,
        task=f"Put a dialogue act about {acts} into words",
        source="https://github.com/jeknov/EMNLP_17_submission, as released with BARTScore "
        "(https://github.com/neulab/BARTScore)",
        licence="MIT (the ratings' repository); BARTScore's repository: Apache-2.0",
        citation="Novikova, Dušek, Cercas Curry and Rieser (2017): Why We Need New Evaluation Metrics for NLG; acts "
        f"and references: {citation}",
        protocol="Workers saw the dialogue act and a system's utterance and rated it on three dimensions from 1 to 6",
        annotators="Three crowd workers per utterance; the release has one number, their median or mean",
        comments=comments,
    )


def import_dialogue_acts(source: Path, name: str) -> Imported:
    """The board of a set, by its name."""
    places = (f"{name.upper()}/data.pkl", f"{name}.json", f"*{name}*.pkl", "data.pkl")
    path, problems = find_file(source, places, f"{name.upper()}'s ratings"), Problems()
    scores, content = ReleasedScores(str(path), problems), SharedInputs()
    for output in renamed(read_rated_outputs(path, problems), {"overall": "quality"}):
        check_name("output", output.document, str(path), None, problems)
        instance, row = content.add(output)
        values = people_said(output, DIMENSIONS, str(path), problems)
        content.judgments.append(
            Judgment(instance=instance, outputs=(row,), values=values, annotator=None, campaign="crowd")
        )
        scores.add(output.scores, row=row, instance=instance, place=output.place, without=tuple(values))
    refuse_errors(problems)
    instances = tuple(content.instances.values())
    board = assemble(
        name,
        instances,
        content.outputs.rows(instances),
        content.judgments,
        dimensions=DIMENSIONS,
        ranks=DIMENSIONS[0].name,
        output_language="en",
    )
    board = replace(board, imported=scores.columns(instances))
    refuse_errors(problems)
    return Imported(board, (counts(path, board), *content.notes(path), *scores.notes()))
