"""Scores of plain texts, without a board: outputs of one or more systems, their references, some metrics.

Each system has a value under each metric with a 95% interval; where there are several, each is tested against the
first, the baseline, by a paired bootstrap and by approximate randomisation. Values, intervals, p-values and signatures
of BLEU, chrF and TER are sacreBLEU's (`sacrebleu REF -i A B --paired-bs`, `--paired-ar`); other metrics get theirs in
the same way, from the scores of the outputs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isfinite
from typing import TYPE_CHECKING, Any, ClassVar

from billboards.errors import InvalidInput
from billboards.metrics.base import Metric
from billboards.metrics.discovery import Spec, metrics_named
from billboards.metrics.texts import TextScores, score_outputs
from billboards.stats.resampling import DRAWS, SEED, TRIALS, Resampling, Swaps

if TYPE_CHECKING:
    from billboards.show.table import Table

#: What is computed where nobody says it.
METRICS = ("BLEU", "chrF")
#: Below this a difference is marked.
LEVEL = 0.05

Texts = Sequence[str]


@dataclass(frozen=True, kw_only=True)
class SystemScore:
    """One system's value under a metric; the tests compare it with the baseline's."""

    output: str
    score: float
    #: Bounds of the 95% interval and the mean of resampled values; NaN where there is none.
    low: float
    high: float
    mean: float
    #: The value less the baseline's, and the p-values of both tests; None for the baseline and where nothing is tested.
    difference: float | None = None
    p_bootstrap: float | None = None
    p_randomisation: float | None = None

    @property
    def half_width(self) -> float:
        """Half the interval: what sacreBLEU prints after ±."""
        return (self.high - self.low) / 2


@dataclass(frozen=True, kw_only=True)
class MetricScores:
    """What a metric says of every system, with the signatures that a paper cites."""

    metric: str
    signature: str
    higher_is_better: bool
    scores: tuple[SystemScore, ...]
    #: That of the approximate randomisation, where there was one.
    randomisation_signature: str | None = None
    #: What stands above its scores: the metric's name, and for BERTScore the model, too.
    label: str = ""

    @property
    def best(self) -> float:
        """The best value of a system."""
        return (max if self.higher_is_better else min)(each.score for each in self.scores)


@dataclass(frozen=True, kw_only=True, repr=False)
class TextReport:
    """The scores of texts: it prints as tables and turns into frames, JSON, LaTeX and Markdown."""

    DOCUMENT: ClassVar[str] = "text-scores"

    metrics: tuple[MetricScores, ...]
    #: The system that the others are compared with; None where there is one alone or nothing was compared.
    baseline: str | None
    lines: int
    references: int
    language: str | None = None
    draws: int = DRAWS
    trials: int = TRIALS
    seed: int = SEED

    @cached_property
    def tables(self) -> tuple[Table, ...]:
        """A table for each metric."""
        from billboards.api._text_tables import metric_table

        return tuple(metric_table(self, each) for each in self.metrics)

    @property
    def table(self) -> Table:
        """One long table: a row for each metric and system."""
        from billboards.api._text_tables import long_table

        return long_table(self)

    def to_document(self) -> Mapping[str, Any]:
        """All of it as JSON has it."""
        from billboards.show.documents import document_of

        return document_of(self)

    def to_pandas(self) -> Any:
        """The long table as a pandas data frame."""
        from billboards.show.frames import to_pandas

        return to_pandas(self.table)

    def to_latex(self, *, bold: bool = False) -> str:
        """A table for a paper: a row for each system, a column for each metric; `bold` sets the best in bold."""
        from billboards.api._text_tables import report_latex

        return report_latex(self, bold=bold)

    def to_markdown(self, *, bold: bool = False) -> str:
        """The same for a README."""
        from billboards.api._text_tables import report_markdown

        return report_markdown(self, bold=bold)

    def to_polars(self) -> Any:
        """The long table as a polars data frame."""
        from billboards.show.frames import to_polars

        return to_polars(self.table)

    def _repr_html_(self) -> str:
        from billboards.show.notebooks import tables_html

        return tables_html(self.tables)

    def __str__(self) -> str:
        from billboards.show.terminal import tables_text

        return tables_text(self.tables)

    __repr__ = __str__


def score_texts(
    outputs: Texts | Mapping[str, Texts],
    references: Texts | Sequence[Sequence[str | None]] = (),
    sources: Texts | None = None,
    *,
    metrics: Spec | Sequence[Spec] | None = None,
    language: str | None = None,
    compare: bool = True,
    draws: int = DRAWS,
    trials: int = TRIALS,
    seed: int = SEED,
) -> TextReport:
    """The scores of texts under some metrics, with intervals and, for several systems, paired tests.

    outputs: the texts of one system, or those of several by their names; the first is the baseline.
    references: the texts of one reference, or a list of texts for each reference; None where a text has none there.
    sources: the inputs, for metrics that read them.
    metrics: names, Python files, functions or `Metric` objects, as `metric` takes them (default: BLEU and chrF).
    language: the language of the outputs, which chooses how some metrics cut them, as in "zh".
    compare: whether to test the other systems against the baseline.
    draws: resampled corpora of intervals and of the bootstrap.
    trials: those of the approximate randomisation.
    seed: the seed of both.

    Example:

        bb.score_texts({"A": ["It is late."], "B": ["Late it is."]}, ["It's late."], metrics=["BLEU", "chrF"])
    """
    if draws < 1 or trials < 1:
        raise InvalidInput(f"intervals and tests need at least one draw and one trial; got {draws} and {trials}")
    systems = _systems(outputs)
    lines = len(next(iter(systems.values())))
    streams = _streams(references)
    _check_lengths(systems, streams, sources)
    chosen = metrics_named(METRICS if metrics is None else metrics, language)
    _check_needs(chosen, bool(streams), sources is not None)
    each = [tuple(text for text in texts if text is not None) for texts in zip(*streams, strict=True)]
    _check_referenced(chosen, each)
    tested = compare and len(systems) > 1
    resampling, swaps = Resampling(draws, seed), Swaps(trials, seed) if tested else None
    return TextReport(
        metrics=tuple(
            _metric_scores(
                metric,
                {
                    name: score_outputs(metric, texts, each, sources or (), language=language)
                    for name, texts in systems.items()
                },
                resampling,
                swaps,
            )
            for metric in chosen
        ),
        baseline=next(iter(systems)) if tested else None,
        lines=lines,
        references=len(streams),
        language=language,
        draws=draws,
        trials=trials,
        seed=seed,
    )


def _systems(outputs: Texts | Mapping[str, Texts]) -> dict[str, Texts]:
    if isinstance(outputs, str):
        raise InvalidInput("outputs are a list of texts, also where there is only one")
    systems = dict(outputs) if isinstance(outputs, Mapping) else {"output": outputs}
    if not systems or not all(len(texts) for texts in systems.values()):
        raise InvalidInput("no output to score; give at least one")
    return systems


def _streams(references: Texts | Sequence[Sequence[str | None]]) -> list[Sequence[str | None]]:
    """References as lists of texts, one for each reference."""
    if isinstance(references, str):
        raise InvalidInput("references are a list of texts, or such a list for each reference")
    if references and all(isinstance(text, str) for text in references):
        return [[text for text in references if isinstance(text, str)]]
    return [texts for texts in references if not isinstance(texts, str)]


def _check_lengths(
    systems: Mapping[str, Texts], streams: Sequence[Sequence[str | None]], sources: Texts | None
) -> None:
    """Refuse texts that are not as many as the others, naming both sides and both numbers."""
    (first, texts), *others = systems.items()
    sides = [(name, len(texts)) for name, texts in others]
    sides += [("the reference" if len(streams) == 1 else f"reference {k}", len(s)) for k, s in enumerate(streams, 1)]
    sides += [] if sources is None else [("the sources", len(sources))]
    for name, size in sides:
        if size != len(texts):
            raise InvalidInput(
                f"{first} has {len(texts):,} texts and {name} {size:,}; all must be as many, one for one"
            )


def _check_needs(metrics: Sequence[Metric], referenced: bool, sourced: bool) -> None:
    for what, given, needs in (
        ("references", referenced, [m.name for m in metrics if m.card.needs_references]),
        ("sources", sourced, [m.name for m in metrics if m.card.needs_input]),
    ):
        if needs and not given:
            verb = "needs" if len(needs) == 1 else "need"
            raise InvalidInput(
                f"{', '.join(needs)} {verb} {what}; give them (--{what[:-1]} FILE on the command line), or choose "
                "other metrics"
            )


def _check_referenced(metrics: Sequence[Metric], each: Sequence[tuple[str, ...]]) -> None:
    bare = [k for k, texts in enumerate(each, 1) if not texts]
    if bare and (needs := [m.name for m in metrics if m.card.needs_references]):
        raise InvalidInput(f"{', '.join(needs)}: text {bare[0]} has no reference, nor have {len(bare) - 1} others")


def _metric_scores(
    metric: Metric, systems: Mapping[str, TextScores], resampling: Resampling, swaps: Swaps | None
) -> MetricScores:
    baseline = next(iter(systems.values()))
    scored = tuple(_system_scores(systems, baseline, resampling, swaps))
    draws = resampling.draws if any(isfinite(each.low) for each in scored) else None
    trials = None if swaps is None or all(each.p_randomisation is None for each in scored) else swaps.trials
    return MetricScores(
        metric=metric.name,
        label=metric.label,
        signature=metric.corpus_signature(baseline.references, draws=draws, seed=resampling.seed),
        higher_is_better=metric.card.higher_is_better,
        scores=scored,
        randomisation_signature=(
            metric.corpus_signature(baseline.references, trials=trials, seed=resampling.seed) if trials else None
        ),
    )


def _system_scores(
    systems: Mapping[str, TextScores], baseline: TextScores, resampling: Resampling, swaps: Swaps | None
) -> Iterator[SystemScore]:
    for name, scores in systems.items():
        value = scores.value(resampling)
        score = SystemScore(output=name, score=value.value, low=value.low, high=value.high, mean=value.mean)
        tests = None if swaps is None or scores is baseline else baseline.tests(scores, resampling, swaps)
        if tests is not None:
            score = replace(
                score,
                difference=tests.difference,
                p_bootstrap=tests.bootstrap,
                p_randomisation=tests.randomisation,
            )
        yield score
