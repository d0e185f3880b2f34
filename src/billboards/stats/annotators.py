"""Which annotators are noisy, judged by their test questions (GENIE, section 5).

Each kind of questions has a prior and posteriors of its own; an annotator who is noisy on one kind is noisy. A verdict
depends on the task's counts and the model alone, not on what was said before, so it may be asked for again after every
answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from billboards.errors import InvalidInput
from billboards.stats.annotator_posterior import Posterior, is_noisy, posterior, probability_noisy
from billboards.stats.annotator_priors import JEFFREYS, prior_of
from billboards.stats.annotator_results import (
    AnnotatorModel,
    AnnotatorReport,
    AnnotatorVerdict,
    BetaMixture,
    Interval,
    QuestionStanding,
)
from billboards.stats.beta_mixture import whole_counts

#: The tails that a 95% interval leaves on either side.
TAIL = 0.025


def judge_annotators(
    annotators: Sequence[str],
    counts: Mapping[str, tuple[ArrayLike, ArrayLike]],
    model: AnnotatorModel | None = None,
) -> AnnotatorReport:
    """A verdict on every annotator of one task, from right and wrong answers for each kind of test questions."""
    model = model or AnnotatorModel()
    _check(annotators, counts)
    mixtures = {kind: prior_of(model, right, wrong) for kind, (right, wrong) in counts.items()}
    standings = [
        question_standings(kind, right, wrong, mixture=mixtures[kind], model=model)
        for kind, (right, wrong) in counts.items()
    ]
    verdicts = tuple(
        _verdict(annotator, tuple(kind[place] for kind in standings), model)
        for place, annotator in enumerate(annotators)
    )
    return AnnotatorReport(model, mixtures, verdicts)


def question_standings(
    kind: str, right: ArrayLike, wrong: ArrayLike, *, mixture: BetaMixture, model: AnnotatorModel
) -> list[QuestionStanding]:
    """What the questions of one kind say of each annotator; equal counts are worked out once."""
    pairs, which = np.unique(np.stack([whole_counts(right), whole_counts(wrong)], 1), axis=0, return_inverse=True)
    found = posterior(mixture, pairs[:, 0], pairs[:, 1])
    p_noisy = probability_noisy(model, mixture, found)
    intervals, own = _intervals(found), _intervals(posterior(JEFFREYS, pairs[:, 0], pairs[:, 1]))
    columns = p_noisy.tolist(), found.mean().tolist(), intervals, own, is_noisy(model, mixture, found).tolist()
    distinct = [
        QuestionStanding(kind, right, wrong, p, mean, interval, alone, noisy)
        for (right, wrong), p, mean, interval, alone, noisy in zip(pairs.tolist(), *columns, strict=True)
    ]
    return [distinct[place] for place in which.reshape(-1).tolist()]


def _intervals(found: Posterior) -> list[Interval]:
    return list(zip(found.quantile(TAIL).tolist(), found.quantile(1 - TAIL).tolist(), strict=True))


def follow_annotator(
    answers: Sequence[bool], *, mixture: BetaMixture, model: AnnotatorModel | None = None, kind: str = "all"
) -> tuple[QuestionStanding, ...]:
    """One annotator after each test question, under a prior that is known."""
    right = np.cumsum(np.asarray(answers, dtype=np.int64))
    wrong = np.arange(1, len(right) + 1) - right
    return tuple(question_standings(kind, right, wrong, mixture=mixture, model=model or AnnotatorModel()))


def _check(annotators: Sequence[str], counts: Mapping[str, tuple[ArrayLike, ArrayLike]]) -> None:
    if not counts:
        raise InvalidInput("no kind of test questions is given; name one, such as positive, with its counts")
    twice = [name for name, times in Counter(annotators).items() if times > 1]
    if twice:
        raise InvalidInput(f"annotator {twice[0]!r} is there more than once; give each one's counts in one place")
    for kind, columns in counts.items():
        lengths = {np.size(column) for column in columns}
        if lengths != {len(annotators)}:
            raise InvalidInput(
                f"{kind} questions: {' and '.join(map(str, sorted(lengths)))} counts for {len(annotators)} annotators"
            )


def _verdict(annotator: str, standings: tuple[QuestionStanding, ...], model: AnnotatorModel) -> AnnotatorVerdict:
    failed = [one for one in standings if one.noisy]
    said = "; ".join(_said(one, model) for one in failed or standings if one.right + one.wrong)
    if failed:
        return AnnotatorVerdict(annotator, True, f"noisy, above {model.threshold:g} by {model.name}: {said}", standings)
    return AnnotatorVerdict(annotator, False, f"kept: {said or 'no test question answered yet'}", standings)


def _said(one: QuestionStanding, model: AnnotatorModel) -> str:
    too_good = ", but more accurate than the best" if one.p_noisy > model.threshold and not one.noisy else ""
    asked = one.right + one.wrong
    return f"{one.right} of {asked} {one.kind} questions right, P(noisy) = {_probability(one.p_noisy)}{too_good}"


def _probability(p: float) -> str:
    """As many digits as tell it from 0 and from 1."""
    return "<0.0001" if p < 0.0001 else ">0.9999" if p > 0.9999 else f"{p:.4f}"
