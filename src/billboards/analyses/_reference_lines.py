"""Reference lines of every metric ranking: sentinels that see too little to judge, and people.

A sentinel gets part of what a metric gets: only the output, only the input, only a length, or nothing. What it reaches
anyway is what can be had on this board without judging. Two of them are fitted, by ridge regression on a few surface
features and always on other documents than the one predicted. Where judgments name annotators, each one is held out and
measured like a metric against the others' mean: what people reach among themselves.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from billboards.analyses._preferences import pairs_in
from billboards.board import (
    Aggregate,
    Board,
    Judgments,
    Outputs,
    Preferences,
    ReferenceSet,
    Slice,
    human_scores,
    is_preference,
    judged_values,
)
from billboards.stats.correlation import pearson
from billboards.stats.preferences import decisions, preference_correlations
from billboards.stats.within_items import within_groups

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, kw_only=True, slots=True)
class ReferenceLine:
    """Something that is no metric, measured like one: a sentinel that sees too little to judge, or a person.

    A metric near a sentinel has learned what the sentinel sees; a metric near a person is as good as this board's
    judgments can tell.
    """

    name: str
    kind: Literal["sentinel", "annotator"]
    correlation: float | None
    n: int
    summary: str
    #: Its agreement within items: over pairs of outputs of one instance.
    within: float | None = None


Floats = NDArray[np.float64]

#: Strength of the ridge, in rows, on standardised features; folds over documents.
RIDGE, FOLDS = 10.0, 10
#: An annotator with fewer outputs in common with the others is not measured.
FEWEST = 30
#: Of a board with more judged generators or outputs than this, a seeded sample of both is enough for a sentinel.
MOST_GENERATORS, MOST_OUTPUTS = 100, 50_000
_CHANCE, _LENGTH = "a number drawn for every output", "the output's characters"
FEATURES = ("characters", "words", "characters per word", "distinct words", "capitals", "digits", "punctuation")


def rows_ranked(board: Board, references: ReferenceSet) -> NDArray[np.bool_]:
    """The rows that rankings speak of: neither a reference's own text nor made to score high under a metric."""
    return np.array([not (row.is_optimised or board.is_reference(row, references)) for row in board.rows], bool)


def reference_lines(
    board: Board,
    part: Slice,
    aggregate: str | None = None,
    references: ReferenceSet | None = None,
    *,
    seed: int = 0,
) -> tuple[ReferenceLine, ...]:
    """Sentinels and held-out annotators on a slice of the board, best first within each kind."""
    chosen = board.aggregate(aggregate)
    shape = (len(board.rows), len(board.instances))
    human = human_scores(board.judgments, chosen, board.dimensions, shape)
    used = board.references if references is None else references
    if is_preference(board, chosen):
        return _preference_lines(board, part, pairs_in(board, chosen, part, rows_ranked(board, used)).decided, seed)
    judged = np.isfinite(human).any(axis=1) & rows_ranked(board, used)
    keep = list(board.select(part))
    rows = _sampled(np.flatnonzero(judged).tolist(), MOST_GENERATORS, seed)
    if not rows:
        return ()
    seen = _sampled(keep, MOST_OUTPUTS // max(len(rows), 1), seed)
    people_say = human[np.ix_(rows, seen)]
    lines = [
        _line(name, "sentinel", scores, people_say, np.broadcast_to(seen, people_say.shape), summary)
        for name, scores, summary in _sentinels(board, people_say, [board.rows[k] for k in rows], seen, seed)
    ]
    people = _annotator_lines(board, chosen, judged, keep)
    ordered = sorted(lines, key=_strength), sorted(people, key=_strength)
    return tuple(line for kind in ordered for line in kind)


@dataclass(frozen=True, kw_only=True)
class PeoplesAgreement:
    """How far people agree among themselves: the best annotator with the others' mean, and what that allows a metric.

    `ceiling` is the correlation with people's means that perfect knowledge of what they have in common would reach.
    """

    best: float
    ceiling: float


def peoples_agreement(
    board: Board, part: Slice, aggregate: str | None = None, references: ReferenceSet | None = None
) -> PeoplesAgreement | None:
    """How far annotators agree on a slice of the board; None where they are not known, or compared outputs."""
    chosen = board.aggregate(aggregate)
    if is_preference(board, chosen) or not len(board.judgments.annotators):
        return None
    shape = (len(board.rows), len(board.instances))
    human = human_scores(board.judgments, chosen, board.dimensions, shape)
    used = board.references if references is None else references
    judged, keep = np.isfinite(human).any(axis=1) & rows_ranked(board, used), list(board.select(part))
    lines = [line.correlation for line in _annotator_lines(board, chosen, judged, keep)]
    measured = [correlation for correlation in lines if correlation is not None]
    if not measured:
        return None
    return PeoplesAgreement(best=max(measured), ceiling=_ceiling(board, chosen, judged, keep))


def _ceiling(board: Board, aggregate: Aggregate, judged: NDArray[np.bool_], keep: list[int]) -> float:
    """The square root of how reliable people's means are: their variance less what single annotators add by chance.

    An annotator's severity, which is the same for all outputs, is no chance and is taken off first.
    """
    judgments, instances = board.judgments, len(board.instances)
    averages = judged_values(judgments, aggregate, board.dimensions).mean(axis=1)
    kept = np.isin(np.arange(instances), keep)
    usable = judgments.counted(aggregate.campaigns) & judged[judgments.row] & kept[judgments.instance]
    usable &= np.isfinite(averages) & (judgments.annotator >= 0)
    output = judgments.row[usable].astype(np.int64) * instances + judgments.instance[usable]
    _, place, counts = np.unique(output, return_inverse=True, return_counts=True)
    who, values = judgments.annotator[usable], averages[usable]
    means = np.bincount(place, values) / counts
    apart = values - means[place]
    shared = counts[place] > 1
    people = len(judgments.annotators)
    rated = np.maximum(np.bincount(who[shared], minlength=people), 1)
    severity = np.bincount(who[shared], apart[shared], minlength=people) / rated
    rest = apart[shared] - severity[who[shared]]
    free = int(shared.sum()) - int((counts > 1).sum()) - len(np.unique(who[shared])) + 1
    spread = float(np.var(means))
    if free < 1 or spread == 0:
        return 1.0
    chance = float((rest**2).sum()) / free * float(np.mean(1 / counts))
    return float(np.sqrt(max(0.0, 1 - chance / spread)))


def _preference_lines(board: Board, part: Slice, pairs: Preferences, seed: int) -> tuple[ReferenceLine, ...]:
    """The sentinels that need no values to learn from, on the pairs that people compared."""
    keep = board.select(part)
    lengths = np.array([[_length(row.texts[k]) for k in keep] for row in board.rows])
    chance = _random([row.name for row in board.rows], [board.instances[k].id for k in keep], seed)
    lines = []
    for name, scores, summary in (("random", chance, _CHANCE), ("length", lengths, _LENGTH)):
        choices = decisions(scores[None], pairs.better, pairs.worse, pairs.instance)
        correlations = preference_correlations(choices, pairs.instance, draws=0)
        lines.append(
            ReferenceLine(
                name=name,
                kind="sentinel",
                correlation=_defined(float(correlations.r[0])),
                n=int(correlations.n[0]),
                summary=summary,
            )
        )
    return tuple(sorted(lines, key=_strength))


def _length(text: str | None) -> float:
    return np.nan if text is None else float(len(text))


def _defined(value: float) -> float | None:
    return None if np.isnan(value) else value


def _sampled(every: list[int], most: int, seed: int) -> list[int]:
    """All of them, or as many as are allowed."""
    if len(every) <= most:
        return every
    return sorted(np.random.default_rng(seed).choice(every, most, replace=False).tolist())


def _strength(line: ReferenceLine) -> float:
    return -(line.correlation if line.correlation is not None else -np.inf)


def _line(
    name: str,
    kind: Literal["sentinel", "annotator"],
    scores: Floats,
    human: Floats,
    item: NDArray[np.int64],
    summary: str,
) -> ReferenceLine:
    """A line from scores and judgments of the same outputs, with the instance of each."""
    r, n = pearson(scores[None], human)
    within, _ = within_groups(scores.ravel(), human.ravel(), item.ravel())
    return ReferenceLine(
        name=name, kind=kind, correlation=_defined(float(r[0])), n=int(n[0]), summary=summary, within=_defined(within)
    )


def _sentinels(
    board: Board, human: Floats, rows: Sequence[Outputs], keep: list[int], seed: int
) -> Iterator[tuple[str, Floats, str]]:
    """Name, scores (rows × instances kept) and summary of every sentinel."""
    # The texts of a sample are read for this once; those of a whole small board are worth having again.
    of_rows = (row.texts if len(rows) < MOST_GENERATORS else row.load() for row in rows)
    features = [np.array([_features(texts[k]) for k in keep]) for texts in of_rows]
    outputs = np.array(features).reshape(len(rows), len(keep), -1)
    names = [row.name for row in rows]
    yield "random", _random(names, [board.instances[k].id for k in keep], seed), _CHANCE
    yield "length", outputs[:, :, 0], _LENGTH
    documents = np.array([board.instances[k].document or board.instances[k].id for k in keep])
    fold = np.unique(documents, return_inverse=True)[1] % FOLDS
    yield "output only", _cross_fitted(outputs, human, fold), "surface of the output, fitted on other documents"
    inputs = np.array([_features(board.instances[k].input) for k in keep])
    if np.isfinite(inputs).any():
        of_input = np.broadcast_to(inputs, outputs.shape)
        yield "input only", _cross_fitted(of_input, human, fold), "surface of the input, fitted on other documents"


def _features(text: str | None) -> tuple[float, ...]:
    """What can be seen of a text without understanding it; NaN where there is none."""
    if text is None:
        return (np.nan,) * len(FEATURES)
    size, words = max(len(text), 1), text.split()
    return (
        float(len(text)),
        float(len(words)),
        len(text) / max(len(words), 1),
        len(set(words)) / max(len(words), 1),
        text.translate(_CAPITALS).count(_Marked.MARK) / size,
        text.translate(_DIGITS).count(_Marked.MARK) / size,
        text.translate(_PUNCTUATION).count(_Marked.MARK) / size,
    )


class _Marked(dict[int, str]):
    """Marks the characters of a kind; asking each character once, not each of its occurrences, is 5 times as fast."""

    MARK, OTHER = "x", "."

    def __init__(self, is_of_kind: Callable[[str], bool]) -> None:
        super().__init__()
        self.is_of_kind = is_of_kind

    def __missing__(self, code: int) -> str:
        self[code] = self.MARK if self.is_of_kind(chr(code)) else self.OTHER
        return self[code]


_CAPITALS, _DIGITS = _Marked(str.isupper), _Marked(str.isdigit)
_PUNCTUATION = _Marked(lambda character: not (character.isalnum() or character.isspace()))


def _random(rows: list[str], instances: list[str], seed: int) -> Floats:
    """Numbers that depend on generator, instance and seed alone, so that adding a generator changes no other's."""

    def number(row: str, instance: str) -> float:
        key = f"{seed}\t{row}\t{instance}".encode("utf-8", "surrogatepass")
        return int.from_bytes(hashlib.blake2b(key, digest_size=6).digest(), "big") / 2**48

    return np.array([[number(row, instance) for instance in instances] for row in rows]).reshape(len(rows), -1)


def _cross_fitted(features: Floats, human: Floats, fold: NDArray[np.intp]) -> Floats:
    """Ridge predictions of people's scores for each fold of documents from the others; NaN where a feature is."""
    used = np.isfinite(features).all(axis=2) & np.isfinite(human)
    predicted = np.full(human.shape, np.nan)
    for held in np.unique(fold):
        train, test = used & (fold != held), np.isfinite(features).all(axis=2) & (fold == held)
        if train.sum() <= features.shape[2] or not test.any():
            continue
        x, y = features[train], human[train]
        centre, scale = x.mean(axis=0), x.std(axis=0)
        scale = np.where(scale > 0, scale, 1.0)
        z = (x - centre) / scale
        weights = np.linalg.solve(z.T @ z + RIDGE * np.eye(z.shape[1]), z.T @ (y - y.mean()))
        predicted[test] = y.mean() + (features[test] - centre) / scale @ weights
    return predicted


def _annotator_lines(
    board: Board, aggregate: Aggregate, judged: NDArray[np.bool_], keep: list[int]
) -> Iterator[ReferenceLine]:
    """Each annotator against the mean of the others, on the outputs that both judged."""
    judgments, instances = board.judgments, len(board.instances)
    values = judged_values(judgments, aggregate, board.dimensions)
    kept = np.isin(np.arange(instances), keep)
    usable = judgments.counted(aggregate.campaigns) & judged[judgments.row] & kept[judgments.instance]
    output = judgments.row.astype(np.int64) * instances + judgments.instance
    for code in np.unique(judgments.annotator[usable]):
        if code < 0:
            continue
        own = judgments.annotator == code
        theirs = np.unique(output[own & usable])
        is_theirs = np.zeros(len(board.rows) * instances, bool)
        is_theirs[theirs] = True
        about = usable & is_theirs[output]
        mine, others = (
            _means_of(values[about & side], np.searchsorted(theirs, output[about & side]), len(theirs))
            for side in (own, ~own)
        )
        if (np.isfinite(mine) & np.isfinite(others)).sum() >= FEWEST:
            summary = "one annotator against the mean of the others"
            yield _line(judgments.annotators[code], "annotator", mine, others, theirs % instances, summary)


def _means_of(values: Floats, place: NDArray[np.intp], places: int) -> Floats:
    """People's scores from some judgments (judgments × dimensions), with the place each speaks of, as 1 × places."""
    some = Judgments(instance=place.astype(np.int32), row=np.zeros(len(place), np.int32))
    total: Floats = np.zeros((1, places))
    for column in values.T:
        total += some.cell_means(column, (1, places))
    total /= values.shape[1]
    return total
