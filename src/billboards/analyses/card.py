"""Measuring a board for its data card: counts, lengths, copies, use of scales, and whether people agree.

Nothing here is claimed by anyone. Agreement is Krippendorff's alpha over the outputs that several people judged, an
annotator's second judgment of an output aside; where each output has one value, a mean over people say, there is none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from billboards.analyses.scale_use import measure_dimension
from billboards.board import Board, Copies, Lengths, MeasuredCard, Spread
from billboards.board.card_facts import missing_facts

Texts = Sequence[str]

LOOSE = "outputs without a generator"


def measure_card(board: Board, *, hidden: Sequence[str] = (), draws: int = 200, seed: int = 0) -> MeasuredCard:
    """The data card of a board as its reader may see it; `hidden` says which parts were taken out of it before."""
    judgments = board.judgments
    kinds = Counter(generator.kind for generator in board.generators)
    outputs = [[text for text in row.texts if text is not None] for row in board.rows]
    loose = sum(len(texts) for row, texts in zip(board.rows, outputs, strict=True) if row.generator is None)
    counts = [len(instance.references) for instance in board.instances]
    return MeasuredCard(
        board=board.name,
        version=board.version,
        stated=board.card,
        input_language=board.input_language,
        output_language=board.output_language,
        instances=len(board.instances),
        documents=len({i.document for i in board.instances if i.document is not None}),
        domains=len({i.domain for i in board.instances if i.domain is not None}),
        machines=kinds["machine"],
        people=kinds["human"],
        loose_outputs=loose,
        outputs=sum(map(len, outputs)),
        reference_names=board.reference_names,
        references=_spread(counts) if any(counts) else None,
        judgments=len(judgments),
        annotators=len(judgments.annotators),
        unnamed=int((judgments.annotator < 0).sum()),
        campaigns=judgments.campaigns,
        dimensions=tuple(measure_dimension(board, d, draws=draws, seed=seed) for d in board.dimensions.values()),
        lengths=tuple(_lengths(board, [text for texts in outputs for text in texts])),
        copies=_copies(board),
        missing=missing_facts(board),
        hidden=tuple(hidden),
    )


def _spread(values: Sequence[float]) -> Spread:
    numbers = np.asarray(values, np.float64)
    return Spread(
        lowest=float(numbers.min()),
        median=float(np.median(numbers)),
        mean=float(numbers.mean()),
        highest=float(numbers.max()),
    )


def _lengths(board: Board, outputs: Texts) -> Iterable[Lengths]:
    inputs = [instance.input for instance in board.instances if instance.input is not None]
    references = [reference.text for instance in board.instances for reference in instance.references]
    for kind, texts in (("inputs", inputs), ("references", references), ("outputs", outputs)):
        written = [text for text in texts if text.strip()]
        words = _spread([len(text.split()) for text in written]) if written else None
        characters = _spread([len(text) for text in written]) if written else None
        yield Lengths(kind=kind, texts=len(texts), empty=len(texts) - len(written), words=words, characters=characters)


def _copies(board: Board) -> Copies:
    """Inputs, outputs and references that are the same but for case, spacing and punctuation at the ends."""
    inputs = [(i.input, i.image) for i in board.instances if i.input or i.image]
    folded = [tuple(map(_folded, row.texts)) for row in board.rows]
    references = [{_folded(reference.text) for reference in i.references} for i in board.instances]
    leaking: Counter[str] = Counter()
    for row, texts in zip(board.rows, folded, strict=True):
        if not board.is_reference(row, board.reference_names):
            name = LOOSE if row.generator is None else row.name
            leaking[name] += sum(bool(t) and t in known for t, known in zip(texts, references, strict=True))
    return Copies(
        inputs=len(inputs) - len(set(inputs)),
        outputs=sum(_again(column) for column in zip(*folded, strict=True)),
        repeated=sum(_repeated(texts, board) for row, texts in zip(board.rows, folded, strict=True) if row.generator),
        leaked=leaking.total(),
        leaking={name: count for name, count in leaking.most_common() if count},
    )


def _folded(text: str | None) -> str:
    return "" if text is None else " ".join(text.casefold().split()).strip(" .")


def _again(texts: Iterable[str]) -> int:
    written = [text for text in texts if text]
    return len(written) - len(set(written))


def _repeated(texts: Sequence[str], board: Board) -> int:
    """How many of a row's texts stand at an instance with another input as well."""
    first: dict[str, object] = {}
    count = 0
    for text, instance in zip(texts, board.instances, strict=True):
        asked = (instance.input, instance.image) if instance.input or instance.image else instance.id
        count += bool(text) and first.setdefault(text, asked) != asked
    return count
