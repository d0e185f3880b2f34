"""Who was preferred to whom on a board, as the models of comparisons need it.

Preferences are stated as such, or follow from values that were given together: by one person, in one answer, to
several outputs of an instance, as campaigns ask for them. Of two outputs with equal values the answer is a tie. Of
three or more, as in a choice of the best and the worst, equal values only say that nobody asked about these two.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby

import numpy as np
from numpy.typing import NDArray

from billboards.analyses._preferences import pairs_in
from billboards.board import Aggregate, Board, Slice, is_preference, judged_values
from billboards.errors import NotEnoughData
from billboards.stats.bradley_terry import BestWorst, Outcomes
from billboards.stats.people import UNKNOWN

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """The values that one answer gave to several outputs of an instance; `rows` are the outputs' places."""

    rows: tuple[int, ...]
    values: tuple[float, ...]
    instance: int
    annotator: int


@dataclass(frozen=True, kw_only=True)
class Compared:
    """Comparisons of generators in the order they stand on the board, the preferred one first.

    `choices` are there where every answer chose a best and a worst of the same number of outputs; `outcomes` are then
    the pairs that they imply. `instance` and `annotator` (-1 for unknown) are those of each choice, else of each
    comparison.
    """

    names: tuple[str, ...]
    outcomes: Outcomes
    instance: Ints
    annotator: Ints
    choices: BestWorst | None = None

    @property
    def annotators_known(self) -> bool:
        """Whether every answer has its person, and there are several."""
        return bool((self.annotator != UNKNOWN).all()) and len(np.unique(self.annotator)) > 1


def compared_generators(board: Board, aggregate: Aggregate, part: Slice) -> Compared:
    """What people's comparisons on a part of a board say of its generators; `NotEnoughData` where there are none."""
    takes_part = np.array([row.generator is not None and not row.is_optimised for row in board.rows], bool)
    if is_preference(board, aggregate):
        compared = _stated(board, aggregate, part, takes_part)
    else:
        given = answers_together(board, aggregate, part)
        names = [row.name for row in board.rows]
        compared = of_answers(names, (answer for answer in given if takes_part[list(answer.rows)].all()))
    if not len(compared.outcomes):
        raise NotEnoughData(_reason(board, aggregate))
    return compared


def _reason(board: Board, aggregate: Aggregate) -> str:
    if not len(board.judgments):
        return f"nobody compared outputs of {board.name}, so its generators have no strengths"
    if is_preference(board, aggregate):
        return (
            f"people's comparisons on {aggregate.name} are not of generators' outputs, so generators have no strengths"
        )
    return (
        f"people rated single outputs on {aggregate.name} and compared none, so generators have no strengths; "
        "`rank --by people` ranks by their ratings, and --aggregate names other judgments"
    )


def _stated(board: Board, aggregate: Aggregate, part: Slice, takes_part: Bools) -> Compared:
    pairs = pairs_in(board, aggregate, part, takes_part)
    rows, place = np.unique(np.concatenate((pairs.better, pairs.worse)), return_inverse=True)
    first, second = place.reshape(2, -1).astype(np.int64)
    nobody = np.unique(board.judgments.annotator[_anonymous(board)])
    annotator = np.where(np.isin(pairs.annotator, nobody), UNKNOWN, pairs.annotator)
    return Compared(
        names=tuple(board.rows[k].name for k in rows.tolist()),
        outcomes=Outcomes(first=first, second=second, result=np.where(pairs.tied, 0, 1).astype(np.int64)),
        instance=pairs.instance.astype(np.int64),
        annotator=annotator.astype(np.int64),
    )


def _anonymous(board: Board) -> Bools:
    """Which judgments are of campaigns whose annotators are nobody in particular."""
    none = np.zeros(len(board.judgments), bool)
    return board.judgments.of_campaigns(board.anonymous) if board.anonymous else none


def answers_together(board: Board, aggregate: Aggregate, part: Slice) -> Iterator[Answer]:
    """Values that stand one after the other with the same person, moment, campaign and instance."""
    judgments = board.judgments
    place = np.full(len(board.instances), -1, np.int64)
    keep = board.select(part)
    place[list(keep)] = np.arange(len(keep))
    values = judged_values(judgments, aggregate, board.dimensions).mean(axis=1)
    used = judgments.counted(aggregate.campaigns) & np.isfinite(values) & (place[judgments.instance] >= 0)
    person = np.where(_anonymous(board), UNKNOWN, judgments.annotator)

    def answer(k: int) -> tuple[object, ...]:
        time = judgments.details.get(k, {}).get("time")
        own = (judgments.campaign[k], judgments.annotator[k], judgments.instance[k])
        return (k,) if time is None else (time, *own)

    for _, group in groupby(np.flatnonzero(used).tolist(), key=answer):
        given = list(group)
        if len(given) > 1:
            yield Answer(
                rows=tuple(int(judgments.row[k]) for k in given),
                values=tuple(float(values[k]) for k in given),
                instance=int(place[judgments.instance[given[0]]]),
                annotator=int(person[given[0]]),
            )


def of_answers(generators: Sequence[str], answers: Iterable[Answer]) -> Compared:
    """Answers that gave values to several outputs as comparisons of generators, which the answers' rows count."""
    given = list(answers)
    rows = sorted({k for answer in given for k in answer.rows})
    place = {k: position for position, k in enumerate(rows)}
    names = tuple(generators[k] for k in rows)
    ends = _ends(given)
    if ends is not None:
        best, worst = ends
        choices = BestWorst(
            sets=np.array([[place[k] for k in answer.rows] for answer in given], np.int64), best=best, worst=worst
        )
        return Compared(
            names=names,
            outcomes=choices.pairs(),
            instance=np.array([answer.instance for answer in given], np.int64),
            annotator=np.array([answer.annotator for answer in given], np.int64),
            choices=choices,
        )
    lines = [
        (place[better], place[worse], result, answer.instance, answer.annotator)
        for answer in given
        for better, worse, result in _pairs(answer)
    ]
    first, second, result, instance, annotator = np.array(lines, np.int64).reshape(-1, 5).T
    return Compared(
        names=names,
        outcomes=Outcomes(first=first, second=second, result=result),
        instance=instance,
        annotator=annotator,
    )


def _pairs(answer: Answer) -> Iterator[tuple[int, int, int]]:
    """The better output, the worse one, and 1; or 0 where an answer about two outputs is a tie."""
    for (a, x), (b, y) in combinations(zip(answer.rows, answer.values, strict=True), 2):
        if x != y:
            yield (a, b, 1) if x > y else (b, a, 1)
        elif len(answer.rows) == 2:
            yield a, b, 0


def _ends(answers: Sequence[Answer]) -> tuple[Ints, Ints] | None:
    """Where the best and the worst stand in each answer; None unless all chose these of equally many outputs."""
    sizes = {len(answer.rows) for answer in answers}
    if len(sizes) != 1 or sizes == {2}:
        return None
    values = np.array([answer.values for answer in answers])
    high, low = values.max(axis=1, keepdims=True), values.min(axis=1, keepdims=True)
    between = ((values == high) | (values == low)).sum(axis=1) == 2
    middle = np.where((values == high) | (values == low), np.nan, values)
    same = np.nanmax(middle, axis=1) == np.nanmin(middle, axis=1) if between.all() else between
    if not same.all():
        return None
    return values.argmax(axis=1).astype(np.int64), values.argmin(axis=1).astype(np.int64)
