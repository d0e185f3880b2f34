"""Building the invented board: run the programs, let the rubric look at every text, and put it all on a board.

Nothing is stored that can be computed: outputs come from running the generators on the inputs, judgments from running
the rubric on the outputs. The result is an ordinary board, the same every time.
"""

from __future__ import annotations

from collections.abc import Sequence

from billboards.board import Aggregate, Board, DataCard, Dimension, Generator, Instance, Judgments, row_of
from billboards.board.judgments import JudgmentColumns
from bulletins.generators import programs
from bulletins.judging import CAMPAIGN, DIMENSIONS, READERS, SEED, rate
from bulletins.rubric import Rubric
from bulletins.texts import read_human, read_instances, read_training, read_wordings

Written = tuple[Generator, tuple[str, ...]]

NAME = "bulletins"
HUMAN = Generator(
    "Cleo", kind="human", description="Written by hand and freely, not by a program; not among the references."
)
METRICS = (
    "BLEU",
    "chrF",
    "chrF++",
    "TER",
    "ROUGE-1",
    "ROUGE-2",
    "ROUGE-3",
    "ROUGE-L",
    "length",
    "repetition-3",
    "abstractness-2",
)
SCALES = {
    "adequacy": Dimension(
        "adequacy",
        range=(1.0, 5.0),
        to_100=(20.0, 0.0),
        definition="Does the bulletin say what the record says: nothing lost, nothing made up? 5 is all of it.",
    ),
    "fluency": Dimension(
        "fluency",
        range=(1.0, 5.0),
        to_100=(20.0, 0.0),
        definition="Does the bulletin read as if a careful writer had written it? 5 is flawless.",
    ),
}
CARD = DataCard(
    title="Bulletins of an imaginary coast",
    task="Write a bulletin of one or two sentences (a forecast, a travel notice, an announcement) from a small record.",
    source="Written for the billboards project: 48 records, two references each (Ada, Ben), one human generator "
    "(Cleo), all three pen names, and 36 training pairs; eight programs write the machine outputs.",
    licence="Apache-2.0",
    citation="The billboards developers: Bulletins of an imaginary coast, a board for tests of billboards.",
    protocol="Illustrative judgments, made by a program and not collected from people: a rubric counts facts lost and "
    "invented and marks of bad language, at prices set by hand, and three imaginary readers turn that into ratings "
    f"from 1 to 5 on two dimensions, each with a severity and noise of its own (seed {SEED}).",
    annotators="Three imaginary readers, each of whom rates every output. No person took part.",
    comments="For showing how a board works. No conclusion about real metrics or generators can be drawn from it.",
)


def build_board(*, seed: int = SEED) -> Board:
    """The complete board; the seed decides the readers' noise and nothing else."""
    instances = read_instances()
    inputs = [instance.input for instance in instances if instance.input is not None]
    written = _write_all(instances, inputs)
    return Board(
        name=NAME,
        instances=instances,
        rows=tuple(row_of(generator, instances, texts) for generator, texts in written),
        judgments=_judge_all(instances, inputs, written, seed),
        dimensions=SCALES,
        aggregates={"overall": Aggregate("overall", DIMENSIONS)},
        ranks="overall",
        metrics=METRICS,
        input_language="en",
        output_language="en",
        card=CARD,
    )


def _write_all(instances: Sequence[Instance], inputs: Sequence[str]) -> list[Written]:
    """Every generator's texts, by name as the board folder keeps them."""
    human = read_human()
    written: list[Written] = [(HUMAN, tuple(human[instance.id] for instance in instances))]
    for program in programs():
        generator = Generator(program.name, kind="machine", description=program.description)
        written.append((generator, tuple(map(program.write, inputs))))
    return sorted(written, key=lambda pair: pair[0].name)


def _judge_all(
    instances: Sequence[Instance], inputs: Sequence[str], written: Sequence[Written], seed: int
) -> Judgments:
    """Every reader's ratings of every text."""
    rubric = Rubric([*inputs, *(pair.input for pair in read_training())], read_wordings())
    columns = JudgmentColumns(DIMENSIONS)
    for k, (instance, source) in enumerate(zip(instances, inputs, strict=True)):
        for r, (generator, texts) in enumerate(written):
            findings = rubric.look_over(source, texts[k])
            for reader in READERS:
                ratings = rate(reader, findings, f"{instance.id}|{generator.name}", seed=seed)
                columns.add(k, r, ratings, annotator=reader.name, campaign=CAMPAIGN)
    return columns.build()
