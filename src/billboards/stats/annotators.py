"""Which annotators are noisy, judged by their test questions (GENIE, section 5).

An annotator answers test questions right with an accuracy that is drawn from a mixture of beta distributions. Questions
of different kinds, positive and negative, are modelled apart; an annotator who is noisy on one kind is noisy. A verdict
depends on the task's counts and the model alone, not on what was said before, so it may be asked for again after every
answer.

Priors (Appendix B.1): two know nothing, two are fixed, and a learned one is a mixture of betas fitted to the
annotators' own answers, beside 40 pseudo-annotators of 20 questions each who keep the fit in place where there are few
real ones.

Betas are conjugate to right and wrong answers: after r and w of them each component is Beta(α + r, β + w), and the
weights are those of the prior times how likely each component made the answers. Class and accuracy follow from that
without sampling; only the ends of an interval are searched for, by halving.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from billboards.errors import InvalidInput
from billboards.reading import whole_number
from billboards.stats.beta_mixture import BetaMixture, fit_beta_mixture, log_likelihood, whole_counts

Interval = tuple[float, float]
Criterion = Literal["class", "rate"]
Prior = Literal["fixed", "learned", "jeffreys", "uniform"]
JEFFREYS = BetaMixture(weights=(1.0,), alphas=(0.5,), betas=(0.5,))
UNIFORM = BetaMixture(weights=(1.0,), alphas=(1.0,), betas=(1.0,))
FIXED_1 = BetaMixture(weights=(1.0,), alphas=(4.0,), betas=(1.0,))
FIXED_2 = BetaMixture(weights=(0.05, 0.95), alphas=(0.5, 9.5), betas=(4.5, 0.5))
#: 36 who had 19 of 20 questions right, and four noisy ones.
PSEUDO_RIGHT = np.array([19] * 36 + [1, 1, 5, 10])
PSEUDO_WRONG = 20 - PSEUDO_RIGHT
_GIVEN = {("jeffreys", 1): JEFFREYS, ("uniform", 1): UNIFORM, ("fixed", 1): FIXED_1, ("fixed", 2): FIXED_2}
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
#: Halvings of [0, 1], after which an end of an interval is known to 1e-12.
HALVINGS = 40
#: What rounding may add to a probability: one wrong answer under a uniform prior is 0.99, which is not above 0.99.
ROUNDING = 1e-9
#: The tails that a 95% interval leaves on either side.
TAIL = 0.025


@dataclass(frozen=True, kw_only=True, slots=True)
class AnnotatorModel:
    """Who counts as noisy: by which criterion, under which prior, and how sure one must be.

    `class` is noisy who is not of the mixture's best component, `rate` whose accuracy is at most `accuracy`; an
    annotator is marked where the probability of that is above `threshold`. `seed` is that of a learned prior's starts.
    """

    criterion: Criterion = "class"
    prior: Prior = "learned"
    components: int = 2
    threshold: float = 0.99
    accuracy: float = 0.9
    seed: int = 0

    def __post_init__(self) -> None:
        self._check_words()
        if self.prior in ("jeffreys", "uniform") and self.components != 1:
            raise InvalidInput(f"annotator model {self.name}: the {self.prior} prior has 1 component")
        if self.prior == "fixed" and self.components not in (1, 2):
            raise InvalidInput(f"annotator model {self.name}: the fixed prior has 1 or 2 components")
        if self.criterion == "class" and self.components < 2:
            raise InvalidInput(f"annotator model {self.name}: telling classes apart takes 2 components or more")
        if not (0 < self.threshold < 1 and 0 < self.accuracy < 1):
            raise InvalidInput(
                f"annotator model {self.name}: threshold and accuracy lie between 0 and 1; "
                f"found {self.threshold:g} and {self.accuracy:g}"
            )

    def _check_words(self) -> None:
        for what, word, words in (
            ("criterion", self.criterion, get_args(Criterion)),
            ("prior", self.prior, get_args(Prior)),
        ):
            if word not in words:
                raise InvalidInput(f"no {what} {word!r} of an annotator model; use one of {', '.join(words)}")
        if self.components < 1:
            raise InvalidInput(f"annotator model {self.name}: a mixture has 1 component or more")

    @property
    def name(self) -> str:
        """Criterion, prior and components, as options and records spell them: class/learned/2."""
        return f"{self.criterion}/{self.prior}/{self.components}"

    @classmethod
    def named(cls, name: str, **others: float) -> AnnotatorModel:
        """The model of a name such as class/learned/2, or one of these words for the rest: class/learned."""
        criterion, _, rest = name.partition("/")
        prior, _, components = rest.partition("/")
        count = whole_number(components or ("1" if prior in ("jeffreys", "uniform") else "2"))
        if not prior or count is None:
            raise InvalidInput(f"no annotator model {name!r}; write it as class/learned/2 or rate/uniform/1")
        words = {"criterion": criterion, "prior": prior, "components": count}
        settings: dict[str, Any] = words | others
        return cls(**settings)  # checked by __post_init__


@dataclass(frozen=True, kw_only=True, slots=True)
class QuestionStanding:
    """What the test questions of one kind say of an annotator: the accuracy's posterior mean and 95% interval.

    A learned prior knows the accuracy of annotators who are all alike from all of them, so `interval` may be narrow
    after few answers; `own_interval` is what the annotator's own answers say without the others (Jeffreys prior).
    """

    kind: str
    right: int
    wrong: int
    p_noisy: float
    accuracy: float
    interval: Interval
    own_interval: Interval
    noisy: bool


@dataclass(frozen=True, slots=True)
class AnnotatorVerdict:
    """Whether an annotator is noisy, on either kind of questions, and why."""

    annotator: str
    noisy: bool
    reason: str
    standings: tuple[QuestionStanding, ...]


@dataclass(frozen=True)
class AnnotatorReport:
    """The annotators of one task, with the prior of each kind of questions."""

    DOCUMENT: ClassVar[str] = "annotators"

    model: AnnotatorModel
    mixtures: Mapping[str, BetaMixture]
    verdicts: tuple[AnnotatorVerdict, ...]

    @property
    def noisy(self) -> frozenset[str]:
        return frozenset(verdict.annotator for verdict in self.verdicts if verdict.noisy)


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
    beliefs = posterior(mixture, pairs[:, 0], pairs[:, 1])
    p_noisy = probability_noisy(model, mixture, beliefs)
    intervals, own = _intervals(beliefs), _intervals(posterior(JEFFREYS, pairs[:, 0], pairs[:, 1]))
    columns = p_noisy.tolist(), beliefs.mean().tolist(), intervals, own, is_noisy(model, mixture, beliefs).tolist()
    distinct = [
        QuestionStanding(
            kind=kind,
            right=right,
            wrong=wrong,
            p_noisy=p,
            accuracy=mean,
            interval=interval,
            own_interval=alone,
            noisy=noisy,
        )
        for (right, wrong), p, mean, interval, alone, noisy in zip(pairs.tolist(), *columns, strict=True)
    ]
    return [distinct[place] for place in which.reshape(-1).tolist()]


def follow_annotator(
    answers: Sequence[bool], *, mixture: BetaMixture, model: AnnotatorModel | None = None, kind: str = "all"
) -> tuple[QuestionStanding, ...]:
    """One annotator after each test question, under a prior that is known."""
    right = np.cumsum(np.asarray(answers, dtype=np.int64))
    wrong = np.arange(1, len(right) + 1) - right
    return tuple(question_standings(kind, right, wrong, mixture=mixture, model=model or AnnotatorModel()))


def prior_of(model: AnnotatorModel, right: ArrayLike, wrong: ArrayLike) -> BetaMixture:
    """The prior that a model asks for; a learned one is fitted to these annotators' right and wrong answers."""
    if model.prior != "learned":
        return _GIVEN[model.prior, model.components]
    return learned_prior(right, wrong, components=model.components, seed=model.seed)


def learned_prior(right: ArrayLike, wrong: ArrayLike, *, components: int = 2, seed: int = 0) -> BetaMixture:
    """A mixture of betas fitted to annotators and pseudo-annotators, all of one task and one kind of questions."""
    return fit_beta_mixture(
        np.concatenate([whole_counts(right), PSEUDO_RIGHT]),
        np.concatenate([whole_counts(wrong), PSEUDO_WRONG]),
        components=components,
        seed=seed,
    )


@dataclass(frozen=True)
class Posterior:
    """Mixtures of betas, one per annotator: weights, alphas and betas, each (annotators, components)."""

    weights: Floats
    alphas: Floats
    betas: Floats

    def mean(self) -> Floats:
        """Expected accuracy."""
        return np.asarray((self.weights * self.alphas / (self.alphas + self.betas)).sum(axis=1))

    def cdf(self, accuracy: ArrayLike) -> Floats:
        """The probability that the accuracy is at most this; one for all annotators, or one for each."""
        from scipy.special import betainc

        at = np.broadcast_to(np.asarray(accuracy, dtype=np.float64), len(self.weights))[:, None]
        return np.asarray((self.weights * betainc(self.alphas, self.betas, at)).sum(axis=1))

    def quantile(self, share: float) -> Floats:
        """The accuracy below which lies this share of each annotator's posterior."""
        from scipy.special import betaincinv

        if self.weights.shape[1] == 1:
            return np.asarray(betaincinv(self.alphas[:, 0], self.betas[:, 0], share))
        low, high = np.zeros(len(self.weights)), np.ones(len(self.weights))
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            below = self.cdf(middle) < share
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return np.asarray((low + high) / 2)


def posterior(mixture: BetaMixture, right: ArrayLike, wrong: ArrayLike) -> Posterior:
    """Each annotator's posterior under a prior."""
    rights, wrongs = whole_counts(right), whole_counts(wrong)
    alphas, betas = np.array(mixture.alphas), np.array(mixture.betas)
    size = alphas + betas
    log = log_likelihood(alphas / size, betas / size, 1 / (1 + size), rights, wrongs).T
    with np.errstate(divide="ignore"):
        log += np.log(mixture.weights)
    weights = np.exp(log - log.max(axis=1, keepdims=True))
    return Posterior(weights / weights.sum(axis=1, keepdims=True), alphas + rights[:, None], betas + wrongs[:, None])


def probability_noisy(model: AnnotatorModel, mixture: BetaMixture, beliefs: Posterior) -> Floats:
    """By class: not of the component whose mean is highest. By rate: of an accuracy that is not above the model's."""
    if model.criterion == "rate":
        return beliefs.cdf(model.accuracy)
    return np.asarray(np.delete(beliefs.weights, int(np.argmax(mixture.means)), axis=1).sum(axis=1))


def is_noisy(model: AnnotatorModel, mixture: BetaMixture, beliefs: Posterior) -> NDArray[np.bool_]:
    """Whom the model marks: above the threshold by more than rounding, and not for being too good.

    Thousands of right answers don't fit a best component with a mean of .95 any better than wrong ones do, so by class
    their author belongs elsewhere; whose accuracy is expected to be above that mean is not noisy for it.
    """
    likely = probability_noisy(model, mixture, beliefs) > model.threshold + ROUNDING
    return np.asarray(likely & ((beliefs.mean() <= max(mixture.means)) | (model.criterion == "rate")))


def _intervals(beliefs: Posterior) -> list[Interval]:
    return list(zip(beliefs.quantile(TAIL).tolist(), beliefs.quantile(1 - TAIL).tolist(), strict=True))


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
    failed = [standing for standing in standings if standing.noisy]
    reasons = "; ".join(_reason(standing, model) for standing in failed or standings if standing.right + standing.wrong)
    if failed:
        return AnnotatorVerdict(
            annotator, True, f"noisy, above {model.threshold:g} by {model.name}: {reasons}", standings
        )
    return AnnotatorVerdict(annotator, False, f"kept: {reasons or 'no test question answered yet'}", standings)


def _reason(standing: QuestionStanding, model: AnnotatorModel) -> str:
    too_good = ", but more accurate than the best" if standing.p_noisy > model.threshold and not standing.noisy else ""
    asked, p_noisy = standing.right + standing.wrong, _probability(standing.p_noisy)
    return f"{standing.right} of {asked} {standing.kind} questions right, P(noisy) = {p_noisy}{too_good}"


def _probability(p: float) -> str:
    """As many digits as tell it from 0 and from 1."""
    return "<0.0001" if p < 0.0001 else ">0.9999" if p > 0.9999 else f"{p:.4f}"
