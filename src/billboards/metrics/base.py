"""The contract every metric keeps (Billboards, §2.1): outputs in, one score per output out.

A metric is a frozen dataclass whose fields are its options. Its signature is computed from those fields, so it can't
promise what the object doesn't do. A board's language may choose options that nobody wrote (`for_language`): the
signature names them, the column keeps the metric's plain name. A metric is called once per generator with all of that
generator's outputs; a metric that treats outputs one by one says so, and may then be called with parts of them.

A generator's value under a metric is its corpus value: the mean of its sentence scores unless the metric is defined on
a corpus. Then it is computed from counts that are kept for each output (`SummedMetric`), or, where there are no
sentence scores at all, from all outputs together (`SystemMetric`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import Field, dataclass, fields, replace
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from billboards.errors import InvalidInput, MetricFailed
from billboards.metrics.languages import Language, language_of

if TYPE_CHECKING:
    from billboards.metrics.texts import Nesting, TextScores

Floats = NDArray[np.float64]
#: What a corpus value is computed from: one row of numbers for each output.
Counts = NDArray[Any]
#: What a generator's value is: the mean of its sentence scores, the score of summed counts, or `score_system`.
CorpusKind = Literal["mean", "counts", "system"]

#: Of an option that came after the first release (`field(default=…, metadata=LATER)`): it stands in the signature only
#: where it differs from its default, so that scores which were computed before it came keep their signature.
LATER: Mapping[str, bool] = MappingProxyType({"later": True})
#: Of an option that may name a file on this machine: what comes with a board can't name one.
FILE: Mapping[str, bool] = MappingProxyType({"file": True})


class Item(NamedTuple):
    """One output, with what it is scored by."""

    output: str
    references: tuple[str, ...]
    input: str | None


@dataclass(frozen=True)
class Batch:
    """What a metric is given: outputs, and what it said it needs, position by position.

    `references` and `inputs` are empty when the metric did not ask for them; every output given has at least one
    reference when it did.
    """

    outputs: Sequence[str]
    references: Sequence[Sequence[str]] = ()
    inputs: Sequence[str] = ()
    language: str | None = None

    def __post_init__(self) -> None:
        for what, given in (("lists of references", self.references), ("inputs", self.inputs)):
            if len(given) not in (0, len(self.outputs)):
                raise InvalidInput(f"{len(self.outputs)} outputs and {len(given)} {what}; give one for each, or none")
        if any(isinstance(texts, str) for texts in self.references):
            raise InvalidInput("references are a list of texts for each output, also where there is only one")

    def __len__(self) -> int:
        return len(self.outputs)

    def part(self, start: int, stop: int) -> Batch:
        return Batch(self.outputs[start:stop], self.references[start:stop], self.inputs[start:stop], self.language)

    def items(self) -> Iterator[Item]:
        """The outputs one by one."""
        inputs: Sequence[str | None] = self.inputs or [None] * len(self)
        references = self.references or [()] * len(self)
        for output, texts, given in zip(self.outputs, references, inputs, strict=True):
            yield Item(output, tuple(texts), given)


class Metric(ABC):
    """One way to score outputs. Subclasses are frozen dataclasses; their fields are the options."""

    card: ClassVar[MetricCard]
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    #: Several references: the metric's own definition, or the best score over single ones.
    multiple_references: ClassVar[Literal["own", "best"]] = "best"
    #: Whether an output's score depends on the other outputs (idf, CIDEr); such a metric is never called in parts.
    needs_corpus: ClassVar[bool] = False
    #: How all outputs of a generator become one value.
    corpus: ClassVar[CorpusKind] = "mean"
    #: Whether several generators cost less together than one by one; such a metric overrides `score_rows`.
    scores_together: ClassVar[bool] = False
    #: Whether a sentence never gains more in a longer output than in a shorter part of it, so that an audit may pass
    #: over sentences that can't win any more. A metric that declares this gives a score to the empty output.
    submodular: ClassVar[bool] = False
    #: Whether an output may have no score (NaN), as where nothing can be asked about it; it then counts as missing.
    may_abstain: ClassVar[bool] = False
    #: What a worker of a cluster must offer to run it, by the names under which workers declare it.
    resources: ClassVar[Mapping[str, float]] = {}
    #: Whether class and options say it all, so that it may run on another machine; not where files or keys lie here.
    travels: ClassVar[bool] = True
    #: Of one object: options that were written by name, those that a language chose, and those written against it.
    written: ClassVar[frozenset[str]] = frozenset()
    by_language: ClassVar[frozenset[str]] = frozenset()
    against_language: ClassVar[frozenset[str]] = frozenset()

    @property
    def name(self) -> str:
        """The name of the column: the metric's, with the options that differ from what is usual on the board."""
        changed = {f.name for f in self._options() if getattr(self, f.name) != f.default}
        return self._spelled((changed - self.by_language) | self.against_language)

    @property
    def full_name(self) -> str:
        """The name with every option that differs from its default, also those that a language chose."""
        return self._spelled({f.name for f in self._options() if getattr(self, f.name) != f.default})

    @property
    def label(self) -> str:
        """What stands above its column: its name, and where the name says too little, more."""
        return self.name

    @property
    def signature(self) -> str:
        """The metric's identity: name, every option, and the versions that matter."""
        options = (
            f"{f.name}:{getattr(self, f.name)}"
            for f in self._options()
            if not f.metadata.get("later") or getattr(self, f.name) != f.default
        )
        versions = (f"{package}:{version}" for package, version in self.versions().items())
        return "|".join((self.card.name, *options, *versions))

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the scores that are kept of an output, the primary first; empty where there is only one."""
        return self.card.parts

    @property
    def scored_as(self) -> Metric:
        """The metric whose cells hold these scores: the metric itself, or the one that it is a part of."""
        return self

    @property
    def takes_best_reference(self) -> bool:
        """Whether, with these options, the score is exactly the best over single references."""
        return self.multiple_references == "best"

    def versions(self) -> Mapping[str, str]:
        """Packages (or the metric's own revision) whose change may change a score."""
        return {}

    def language_options(self, language: Language) -> Mapping[str, object]:
        """Options that texts in a language ask for, where they are other than the defaults."""
        del language
        return {}

    def language_doubt(self, language: Language) -> str | None:
        """Why, with these options, the metric says little about texts in a language; None where nothing is wrong."""
        languages = self.card.languages
        if languages is None or language.code in {own.code for own in map(language_of, languages) if own}:
            return None
        return f"is made for {', '.join(languages)}, not for {language.code}"

    def for_language(self, language: str | None) -> Self:
        """The same metric with the options that a language asks for; what was written by name stays as it is."""
        spoken = language_of(language)
        asked = {} if spoken is None else self.language_options(spoken)
        defaults = {f.name: f.default for f in self._options()}
        unchanged = {option for option in asked if getattr(self, option) == defaults[option] != asked[option]}
        chosen = unchanged - self.written
        if not unchanged:
            return self
        made = replace(self, **{option: asked[option] for option in chosen})
        return made.remembering(by_language=chosen, against_language=unchanged & self.written, written=self.written)

    def remembering(self, **facts: Iterable[str]) -> Self:
        """This object, made just now, with what is known about how its options were chosen."""
        for fact, options in facts.items():
            object.__setattr__(self, fact, frozenset(options))
        return self

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # Before version 0.2 what is now `score_batch` was called `score`.
        if "score" in vars(cls):
            cls.score_batch = vars(cls)["score"]  # type: ignore[method-assign]  # under its new name
            del cls.score

    def score(
        self,
        outputs: str | Iterable[str] | Batch,
        references: str | Iterable[str | Iterable[str | None] | None] | None = None,
        sources: str | Iterable[str] | None = None,
        *,
        language: str | None = None,
        nesting: Nesting | None = None,
    ) -> TextScores:
        """The scores of some texts, without a board.

        outputs: the text of one output, or those of several.
        references: one text for each output; or several, as a list for each output or as a list for each reference
            (sacreBLEU's way).
        sources: the inputs, for metrics that read them.
        language: the language of the outputs, which chooses how some metrics cut them, as in "zh".
        nesting: how the references are nested, "output" (a list for each output) or "reference" (a list for each
            reference); only where both fit and it can't be seen from the texts.

        Example:

            scores = bb.metric("bleu").score(["It is late."], ["It's late."])
            print(scores.corpus, scores.sentences, scores.interval(), scores.signature)
        """
        from billboards.metrics.texts import score_given

        return score_given(self, outputs, references, sources, language=language, nesting=nesting)

    @abstractmethod
    def score_batch(self, batch: Batch) -> Floats | Mapping[str, Floats]:
        """One score per output, or several named parts of which the first is primary: what a metric must define."""

    def score_rows(self, batches: Sequence[Batch]) -> Sequence[Floats | Mapping[str, Floats]]:
        """The scores of several generators, each as if it were alone."""
        return [self.score_batch(batch) for batch in batches]

    def score_counted(self, batch: Batch) -> tuple[Floats | Mapping[str, Floats], Counts | None]:
        """The scores, and what corpus values are computed from where the mean of scores is not enough."""
        return self.score_batch(batch), None

    def corpus_score(self, batch: Batch) -> float:
        """The value of all outputs together; of a metric that is not defined on a corpus, the mean of their scores."""
        scores = next(iter(score_checked(self, batch).values()))
        scored = scores[~np.isnan(scores)]
        if not len(scored):
            raise InvalidInput(f"{self.name}: no output to score; give at least one")
        return float(scored.mean())

    def corpus_signature(
        self,
        references: int | Literal["var"] | None = None,
        *,
        draws: int | None = None,
        trials: int | None = None,
        seed: int = 12345,
    ) -> str:
        """The identity of a corpus value: the metric's, how outputs become one value, and how an interval was drawn.

        references: the number of references that every output has; "var" where it differs.
        draws: resampled corpora behind the interval (default: no interval).
        trials: those of an approximate randomisation (default: no such test).
        seed: the seed of those draws.
        """
        words = [self.signature, f"corpus:{self.corpus}"]
        words += [] if references is None else [f"nrefs:{references}"]
        words += [f"bs:{draws}"] if draws else []
        words += [f"ar:{trials}"] if trials else []
        words += [f"seed:{seed}"] if draws or trials else []
        return "|".join(words)

    @property
    def needs_all_outputs(self) -> bool:
        """Whether a sample has other scores than the same outputs among all; last digits do not count."""
        return self.needs_corpus

    def _spelled(self, options: Set[str]) -> str:
        """The metric's name with these options' values in brackets."""
        values = ",".join(f"{f.name}={getattr(self, f.name)}" for f in self._options() if f.name in options)
        return f"{self.card.name}({values})" if values else self.card.name

    def _options(self) -> tuple[Field[object], ...]:
        return tuple(f for f in fields(self) if f.init)


class SystemMetric(Metric):
    """A metric that exists on the level of systems only: all outputs in, one number out, and no sentence scores."""

    corpus: ClassVar[CorpusKind] = "system"
    multiple_references: ClassVar[Literal["own", "best"]] = "own"
    needs_corpus: ClassVar[bool] = True
    may_abstain: ClassVar[bool] = True

    @abstractmethod
    def score_system(self, batch: Batch) -> float:
        """The score of all outputs of a generator together; there is at least one."""

    def score_batch(self, batch: Batch) -> Floats:
        """No output has a score of its own."""
        return np.full(len(batch), np.nan)

    def corpus_score(self, batch: Batch) -> float:
        if not len(batch):
            raise InvalidInput(f"{self.name}: no output to score; give at least one")
        value = float(self.score_system(batch))
        if not np.isfinite(value):
            raise MetricFailed(f"{self.name}: scored {len(batch)} outputs together as {value}; it must be finite")
        return value

    def score_counted(self, batch: Batch) -> tuple[Floats, Counts | None]:
        return self.score_batch(batch), np.array([[self.corpus_score(batch), len(batch)]]) if len(batch) else None


@runtime_checkable
class Decodes(Protocol):
    """A metric that is a generation model: its own model can write what it likes best."""

    def decode(self, inputs: Sequence[str], *, beams: int, longest: int) -> list[tuple[str, ...]]:
        """The outputs of a beam search with the metric's own model, for each input, the likeliest first."""


def score_each(batch: Batch, score: Callable[[Item], float]) -> Floats:
    """The scores of a metric that treats outputs one by one; what appears twice in the batch is worked out once."""
    once = cache(score)
    return np.array([once(item) for item in batch.items()], np.float64)


def score_checked(metric: Metric, batch: Batch) -> dict[str, Floats]:
    """A metric's parts, the primary one first, with the contract enforced: needs met, right count, finite numbers."""
    _check_needs(metric, batch)
    return _check_scores(metric, batch, metric.score_batch(batch))


def score_counted_checked(metric: Metric, batch: Batch) -> tuple[dict[str, Floats], Counts | None]:
    """A metric's parts with the same contract enforced, and the counts of its corpus value where it has some."""
    _check_needs(metric, batch)
    given, counts = metric.score_counted(batch)
    parts = _check_scores(metric, batch, given)
    if metric.corpus == "mean" or not len(batch):
        return parts, None if metric.corpus == "mean" else counts
    if counts is None:
        raise MetricFailed(f"{metric.name}: returned no counts; its corpus value is computed from them")
    rows = len(batch) if metric.corpus == "counts" else 1
    if counts.ndim != 2 or len(counts) != rows:
        raise MetricFailed(f"{metric.name}: returned {counts.shape} counts for {len(batch)} outputs; {rows} are needed")
    if not np.isfinite(counts).all():
        raise MetricFailed(f"{metric.name}: a count is no finite number")
    return parts, counts


def score_rows_checked(metric: Metric, batches: Sequence[Batch]) -> list[dict[str, Floats]]:
    """The parts of several generators, scored together, with the same contract enforced for each."""
    for batch in batches:
        _check_needs(metric, batch)
    rows = metric.score_rows(batches)
    return [_check_scores(metric, batch, scores) for batch, scores in zip(batches, rows, strict=True)]


def _check_scores(metric: Metric, batch: Batch, given: Floats | Mapping[str, Floats]) -> dict[str, Floats]:
    parts = dict(given) if isinstance(given, Mapping) else {"": given}
    checked = {part: np.asarray(scores, np.float64) for part, scores in parts.items()}
    if not checked:
        raise MetricFailed(f"{metric.name}: returned no part at all; at least the primary one is needed")
    for part, scores in checked.items():
        what = f"{metric.name}[{part}]" if part else metric.name
        if scores.shape != (len(batch),):
            raise MetricFailed(f"{what}: returned {scores.shape} scores for {len(batch)} outputs; one each is needed")
        wrong = np.isinf(scores) if metric.may_abstain else ~np.isfinite(scores)
        if wrong.any():
            k = int(np.flatnonzero(wrong)[0])
            raise MetricFailed(f"{what}: scored {batch.outputs[k][:60]!r} as {scores[k]}; scores must be finite")
    return checked


def _check_needs(metric: Metric, batch: Batch) -> None:
    if metric.card.needs_input and len(batch.inputs) != len(batch):
        raise InvalidInput(f"{metric.name} needs the input of every output; {len(batch.inputs)} were given")
    for item in batch.items() if metric.card.needs_references else ():
        if not item.references:
            raise InvalidInput(f"{metric.name} needs a reference for every output; {item.output[:60]!r} has none")


@dataclass(frozen=True, kw_only=True, slots=True)
class MetricCard:
    """What a metric says of itself."""

    name: str
    summary: str = ""
    needs_references: bool = True
    needs_input: bool = False
    #: A program or data files beside the package, such as WordNet's.
    needs_part: str | None = None
    higher_is_better: bool = True
    #: Lowest and highest score there can be; None for an end without bound.
    range: tuple[float | None, float | None] | None = None
    languages: tuple[str, ...] | None = None
    deterministic: bool = True
    training_data: str | None = None
    licence: str | None = None
    paper: str | None = None
    failures: str | None = None
    slow: bool = False
    #: The names of the scores that are kept of an output, the primary first; empty where there is only one score.
    parts: tuple[str, ...] = ()
    #: Parts for which the other direction is better than for the metric itself.
    turned_parts: tuple[str, ...] = ()
    #: A statistic describes an output (its length, say) without judging it: shown, but it never leads or joins.
    is_statistic: bool = False
    #: How it was made: `learned` is a trained model, `judge` asks a language model; empty is neither.
    making: Literal["", "learned", "judge"] = ""
    #: What it costs, as its authors state it: seconds and watt-hours per output, US dollars per 1,000 outputs, trained
    #: parameters, tokens of training data.
    latency: float | None = None
    price: float | None = None
    energy: float | None = None
    parameters: float | None = None
    training_tokens: float | None = None

    def missing(self) -> tuple[str, ...]:
        """The facts that a complete card states and this one doesn't."""
        facts = {
            "summary": self.summary,
            "range": self.range,
            "training data": self.training_data,
            "licence": self.licence,
            "paper": self.paper,
            "failures": self.failures,
        }
        return tuple(
            fact
            for fact, statement in facts.items()
            if not statement or (isinstance(statement, str) and not statement.strip())
        )


@dataclass(frozen=True)
class CardedMetric(Metric):
    """A metric that brings a card of its own, and not its class's: a file, a function, a program, a part of another.

    It is somebody's code: called once per generator, with every reference of each output, and where it lies.
    """

    card: MetricCard  # type: ignore[misc]  # the one place where a card belongs to an object
    multiple_references: ClassVar[Literal["own", "best"]] = "own"
    needs_corpus: ClassVar[bool] = True
    travels: ClassVar[bool] = False

    @property
    def name(self) -> str:
        return self.card.name

    @property
    def full_name(self) -> str:
        """The name: what else such an object holds, as its file or its card, is no option."""
        return self.name
