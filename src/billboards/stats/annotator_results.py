"""Annotators as their test questions show them: the model that judges them, its prior, and what it says of each.

An annotator answers test questions right with an accuracy that is drawn from a mixture of beta distributions (GENIE,
section 5). Questions of different kinds, positive and negative, are modelled apart; an annotator who is noisy on one
kind is noisy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

from billboards.errors import InvalidInput
from billboards.reading import whole_number

Interval = tuple[float, float]
Criterion = Literal["class", "rate"]
Prior = Literal["fixed", "learned", "jeffreys", "uniform"]


@dataclass(frozen=True, slots=True)
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
        for what, word, known in (
            ("criterion", self.criterion, get_args(Criterion)),
            ("prior", self.prior, get_args(Prior)),
        ):
            if word not in known:
                raise InvalidInput(f"no {what} {word!r} of an annotator model; use one of {', '.join(known)}")
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


@dataclass(frozen=True, slots=True)
class BetaMixture:
    """A prior of annotators' accuracy: betas with their weights, the least accurate first and the best last.

    A fitted one says its log-likelihood (of the answers in one order, pseudo-annotators included) and how many steps
    it took. Of a component whose annotators are all alike only the mean is known: its concentration is a bound.
    """

    weights: tuple[float, ...]
    alphas: tuple[float, ...]
    betas: tuple[float, ...]
    log_likelihood: float | None = None
    iterations: int = 0
    converged: bool = True

    @property
    def means(self) -> tuple[float, ...]:
        return tuple(a / (a + b) for a, b in zip(self.alphas, self.betas, strict=True))

    @property
    def concentrations(self) -> tuple[float, ...]:
        return tuple(a + b for a, b in zip(self.alphas, self.betas, strict=True))


@dataclass(frozen=True, slots=True)
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
        return frozenset(one.annotator for one in self.verdicts if one.noisy)


@dataclass(frozen=True, slots=True)
class Detection:
    """How well a model finds noisy annotators among those with some number of test questions, 0 to 1.

    Of `noisy` annotators and `marked` ones, `found` are both. Intervals are 95%; what can't be said is None.
    """

    found: int
    marked: int
    noisy: int
    precision: float | None
    recall: float | None
    precision_interval: Interval | None
    recall_interval: Interval | None


@dataclass(frozen=True)
class ModelDetection:
    """One model's detections by bucket, and the published precision and recall of each (per cent), where there are."""

    model: AnnotatorModel
    detections: tuple[Detection, ...]
    published: tuple[tuple[int, int], ...] | None = None


@dataclass(frozen=True)
class DetectionStudy:
    """Models on simulated annotators (GENIE, Table 1): rounds of annotators with these numbers of test questions.

    `buckets` are the fewest and the most questions of each column; None is no limit.
    """

    DOCUMENT: ClassVar[str] = "annotator_simulation"

    rounds: int
    seed: int
    questions: tuple[int, ...]
    buckets: tuple[tuple[int, int | None], ...]
    models: tuple[ModelDetection, ...]


@dataclass(frozen=True, slots=True)
class CorruptionLevel:
    """Detection of annotators who answer at random with the chance `rate`; `right` is how often they are right then."""

    rate: float
    right: float | None
    detection: Detection


@dataclass(frozen=True)
class CorruptionStudy:
    """Real annotators, some of whom are made noisy: `share` of them in each round, at several rates.

    Annotators whom the model marks as they are (`left_out`) take no part, for nobody knows whether they are noisy.
    """

    model: AnnotatorModel
    annotators: int
    left_out: tuple[str, ...]
    share: float
    rounds: int
    seed: int
    levels: tuple[CorruptionLevel, ...]


@dataclass(frozen=True)
class ControlStudy:
    """A campaign's attention checks: verdicts, the items whose original is not there, and how noise would be found."""

    DOCUMENT: ClassVar[str] = "annotator_checks"

    report: AnnotatorReport
    unpaired: int
    corruption: CorruptionStudy | None = None
