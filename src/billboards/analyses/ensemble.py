"""Study the ensemble of a few metrics: its weights, itself without each of them, and what each metric adds.

The ensemble on a board: which metrics may join, the fit under a signature, what each is worth, and using it again.

Statistics never join: they describe an output without judging it. A metric joins only when it has scored the judged
outputs; one that lacks many is left out by name, because keeping it would throw those outputs away for all.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from billboards.analyses._analysis import analysis
from billboards.analyses._ensemble_card import EnsembleCard, card_tables, make_card
from billboards.analyses._families import (
    AUTO,
    FEWEST_PRESENT,
    SMALL,
    FamilyOption,
    Learning,
    choose_for,
    fit_named,
    held_out_of,
    interval_without,
    learning_of,
    model_document,
    output_lengths,
    predict_cells,
    within_of,
)
from billboards.analyses._probation import trusted_matrix
from billboards.analyses._view import Floats, JudgedMatrix, View, only_rows
from billboards.board import Board, Generator, Outputs, Scores, Slice, row_of
from billboards.board.cells import CellStore, MemoryCells
from billboards.board.folder import read_texts
from billboards.board.matrix import BoardColumns, board_scores
from billboards.board.missing_cells import Progress, column_key, score_board
from billboards.board.score_files import read_score_table
from billboards.ensembles import FAMILIES
from billboards.ensembles._inputs import lengths
from billboards.errors import InvalidInput, MetricFailed, NotEnoughData, count_problems
from billboards.metrics.base import Metric
from billboards.metrics.discovery import installed_metric, metric_names
from billboards.metrics.executor import Executor
from billboards.metrics.parts import split_part
from billboards.options import Named
from billboards.reading import Problems
from billboards.registry import first_line
from billboards.show.table import Table, TableColumn, column_digits, finite
from billboards.show.words import linear_combination, listed, value_text
from billboards.stats.correlation import between_metrics
from billboards.stats.ensemble import Blocks, EnsembleFit, Linear, apply_linear, fit_ensemble, gather_blocks
from billboards.stats.subsets import fit_best_subset

if TYPE_CHECKING:
    import altair as alt

    from billboards.show.plot import Points, Theme


#: A family's name (see `billboards.ensembles`), or "auto": the small one unless another is significantly better.
Method = str


@dataclass(frozen=True, kw_only=True)
class Ensemble:
    """A combination of metrics, complete enough to be recomputed from this alone (§2.2).

    A small one's score is intercept + Σ weight · (score - centre) / scale, on the judgments' scale: 0-100, or z-scores.
    That of another family is what its `model` says; it has no weights.
    """

    DOCUMENT: ClassVar[str] = "ensemble"
    ALSO: ClassVar[tuple[str, ...]] = ("signature",)

    board: str
    board_version: str
    version: int
    references: tuple[str, ...]
    lam: float
    lam_range: tuple[float, float] | None
    k: int
    weights: Mapping[str, float]
    centres: Mapping[str, float]
    scales: Mapping[str, float]
    signatures: Mapping[str, str]
    intercept: float
    correlation: float | None
    n: int
    aggregate: str
    candidates: tuple[str, ...]
    left_out: Mapping[str, str] = field(default_factory=dict)
    part: str = ""
    method: Method = "lasso"
    #: Judged generators that it was not fitted on, because most metrics have no scores of them.
    generators_left_out: tuple[str, ...] = ()
    #: The digest under which it was first kept: a refit that differs by rounding alone keeps it.
    first_digest: str = ""
    #: Metrics of which a lower score is better: their scores were turned before they were weighed.
    turned: tuple[str, ...] = ()
    #: Whether the judgments are z-scores of their annotators, so that scores are such too.
    standardised: bool = False
    #: The fitted model of a family that is not small: everything that is needed to use it elsewhere.
    model: Mapping[str, Any] | None = None
    #: Correlation with people by what was unseen: "both" generators and documents, only "generators", only "documents".
    held_out: Mapping[str, float] = field(default_factory=dict)
    #: The correlation of differences between outputs of one instance, on unseen generators and documents.
    within: float | None = None
    #: What other families reach on unseen generators and documents, where they were tried.
    tried: Mapping[str, float] = field(default_factory=dict)
    #: What to add to a score for the interval in which 95% of people's values lie, and the same without single metrics.
    interval: tuple[float, float] | None = None
    wider: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def is_small(self) -> bool:
        """Whether weights of a few metrics say all of it."""
        return self.model is None

    @property
    def inputs(self) -> tuple[str, ...]:
        """The metrics that it takes in; of a small one, the heaviest first."""
        return tuple(self.weights) if self.model is None else tuple(self.signatures)

    @property
    def formula(self) -> str:
        """The ensemble as the paper writes it, heaviest metric first; of other families their name."""
        if self.model is not None:
            return f"{self.method} over {len(self.signatures)} metrics"
        return linear_combination(self.weights, self.turned)

    def __post_init__(self) -> None:
        of_metrics = (self.weights.keys(), self.centres.keys(), self.scales.keys())
        if self.model is None and not all(names == self.signatures.keys() for names in of_metrics):
            raise InvalidInput("an ensemble whose weights, centres, scales and signatures are of different metrics")

    @property
    def digest(self) -> str:
        """Eight letters that tell this combination from every other: of its weights, and of what it takes in."""
        if self.first_digest:
            return self.first_digest
        tables = (self.weights, self.centres, self.scales)
        numbers = [[name, *(f"{table[name]:.9g}" for table in tables)] for name in sorted(self.weights)]
        inputs = [self.signatures[name] for name in sorted(self.signatures)]
        content = [numbers, f"{self.intercept:.9g}", inputs, list(self.references), self.aggregate]
        if self.model is not None:
            content.append(_rounded(self.model))
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:8]

    @property
    def signature(self) -> str:
        """What a paper cites: board, part, method, references, version, and a digest that no other ensemble has."""
        return f"{self.short_signature}+{self.digest}"

    @property
    def short_signature(self) -> str:
        """The signature without its digest, as version 0.1 wrote it."""
        part = f"+part.{self.part}" if self.part else ""
        method = "" if self.method == "lasso" else f"+{self.method}"
        return f"ensemble.{self.board}{part}{method}+refs.{_short(self.references)}+version.{self.version}"


def _rounded(document: Any) -> Any:
    """A model's document with numbers of nine digits: the last ones differ between machines."""
    if isinstance(document, Mapping):
        return {name: _rounded(value) for name, value in sorted(document.items())}
    if isinstance(document, list | tuple):
        return [_rounded(value) for value in document]
    return f"{document:.9g}" if isinstance(document, float) else document


def _short(references: tuple[str, ...]) -> str:
    """Names in as few letters as tell them apart: Human-A, Human-B become AB."""
    if not references:
        return "none"
    if len(references) > 4:
        return f"{len(references)}"
    prefix = 0
    while len(references) > 1 and all(len(r) > prefix + 1 and r[prefix] == references[0][prefix] for r in references):
        prefix += 1
    tails = [r[prefix:] for r in references]
    return "".join(tails) if all(len(t) == 1 for t in tails) else ",".join(tails)


@dataclass(frozen=True, slots=True)
class Ablation:
    """The ensemble without one of its metrics, tuned and measured anew (Table 11)."""

    removed: str
    correlation: float | None
    weights: Mapping[str, float]
    lam: float


@dataclass(frozen=True, kw_only=True)
class EnsembleStudy:
    """What each metric is worth to the ensemble.

    `gains` says, for every candidate, how much the leave-one-generator-out correlation falls when the metric is not
    among the candidates; `correlations` is the Pearson correlation of every pair of metrics on the judged outputs.
    """

    DOCUMENT: ClassVar[str] = "ensemble_study"

    ensemble: Ensemble
    ablations: tuple[Ablation, ...]
    gains: Mapping[str, float | None]
    names: tuple[str, ...]
    correlations: tuple[tuple[float | None, ...], ...]
    #: What is known of it from outputs that its fit has not seen.
    card: EnsembleCard | None = None


#: The name under which the ensemble's scores stand beside the metrics'.
ENSEMBLE = "ensemble"
#: A metric that lacks more than this share of the judged outputs does not join.
MOST_MISSING = 0.1
#: A judged generator takes part in the fit when at least this share of the metrics has scored any of its outputs.
FEWEST_METRICS = 0.5


@dataclass(frozen=True)
class Candidates:
    """The metrics that may join, by their columns' positions, and why the others may not; and the rows to fit on.

    A row that most metrics have no score for leaves the fit: it must not disqualify every metric.
    """

    columns: tuple[int, ...]
    left_out: Mapping[str, str]
    rows: NDArray[np.bool_]
    rows_left_out: tuple[str, ...] = ()


def candidates(scores: Scores, human: Floats) -> Candidates:
    """Which metrics may join an ensemble, and which judged rows they are fitted on."""
    judged = np.isfinite(human)
    if not judged.any():
        raise NotEnoughData("no output is judged")
    rows = np.asarray(judged.any(axis=1), bool)
    metrics = [k for k, column in enumerate(scores.columns) if not (column.is_statistic or column.scores_only)]
    having = np.array([(np.isfinite(scores.values[k]) & judged).any(axis=1) for k in metrics]).reshape(-1, len(rows))
    enough = having.mean(axis=0) >= FEWEST_METRICS if metrics else rows
    unscored = tuple(scores.rows[k] for k in np.flatnonzero(rows & ~enough))
    if (rows & enough).any():
        rows = rows & enough
    judged = judged & rows[:, None]
    columns, left_out = [], {}
    for k, column in enumerate(scores.columns):
        scored = np.isfinite(scores.values[k]) & judged
        if column.is_statistic:
            left_out[column.name] = "a statistic, not a metric"
        elif column.scores_only:
            left_out[column.name] = "scores only: it can't score generators that come later"
        elif not scored[rows].any(axis=1).all():
            left_out[column.name] = (
                f"scores {int(scored[rows].any(axis=1).sum())} of {int(rows.sum())} judged generators"
            )
        elif scored.sum() < (1 - MOST_MISSING) * judged.sum():
            left_out[column.name] = f"scores {int(scored.sum())} of {int(judged.sum())} judged outputs"
        elif np.ptp(scores.values[k][scored]) == 0:
            left_out[column.name] = "has the same score for every judged output"
        else:
            columns.append(k)
    return Candidates(tuple(columns), left_out, rows, unscored if not rows[~enough].any() else ())


@dataclass(frozen=True)
class FittedEnsemble:
    """An ensemble with the sums it was fitted on, so that its study costs nothing more."""

    ensemble: Ensemble
    #: None of a family that is not small.
    blocks: Blocks | None
    names: tuple[str, ...]


def fit_board_ensemble(
    board: Board,
    scores: Scores,
    human: Floats,
    *,
    aggregate: str,
    references: tuple[str, ...],
    part: Slice | None = None,
    k: int = 3,
    lam: float | None = None,
    method: Method = "lasso",
) -> FittedEnsemble:
    """Fit the ensemble of k metrics (or at a given lambda) on judged rows; `version` is still 0."""
    candidates_of = candidates(scores, human)
    if not candidates_of.columns:
        reasons = "; ".join(f"{name}: {why}" for name, why in candidates_of.left_out.items()) or "there are no scores"
        raise NotEnoughData(f"no metric can join an ensemble ({reasons})")
    fitting = only_rows(human, candidates_of.rows)
    if np.ptp(fitting[np.isfinite(fitting)]) == 0:
        raise NotEnoughData("every judgment is the same, so there is nothing to fit an ensemble to")
    part, tried, within = part or Slice(), dict[str, float](), None
    if method == AUTO:
        method = "lasso"
        if lam is None:
            learning = learning_of(board, scores, human, part)
            choice = choose_for(learning, k=k)
            method, tried = choice.name, choice.reached
            within = within_of(learning, held_out_of(learning, method, k=k)) if tried else None
    about = _About(
        board=board.name,
        board_version=board.version,
        references=references,
        aggregate=aggregate,
        part=str(part) if part else "",
        k=k,
        method=method,
        tried=tried,
        within=within,
        standardised=aggregate in board.aggregates and board.aggregates[aggregate].standardise is not None,
    )
    if method in SMALL:
        return _fit_small(scores, fitting, candidates_of, about, lam)
    if lam is not None:
        raise InvalidInput(f"lambda belongs to the lasso; {method} chooses its own settings: leave it out")
    return _fit_flexible(scores, learning_of(board, scores, human, part), about)


@dataclass(frozen=True, kw_only=True)
class _About:
    """What every ensemble of a board says of itself."""

    board: str
    board_version: str
    references: tuple[str, ...]
    aggregate: str
    part: str
    k: int
    method: Method
    tried: Mapping[str, float]
    #: Its agreement within items, where families were tried.
    within: float | None
    standardised: bool


def _fit_small(scores: Scores, human: Floats, chosen: Candidates, about: _About, lam: float | None) -> FittedEnsemble:
    """A few metrics with a weight each."""
    blocks = gather_blocks([scores.values[column] for column in chosen.columns], human)
    fit = _fit(blocks, about.k, lam, about.method)
    names = tuple(scores.columns[column].name for column in chosen.columns)
    used = [n for n, weight in enumerate(fit.linear.weights) if weight != 0.0]
    both = about.tried.get(about.method)
    ensemble = Ensemble(
        board=about.board,
        board_version=about.board_version,
        version=0,
        references=about.references,
        lam=fit.lam,
        lam_range=fit.lam_range,
        k=about.k,
        weights=_by_weight({names[n]: float(fit.linear.weights[n]) for n in used}),
        centres={names[n]: float(fit.linear.centre[n]) for n in used},
        scales={names[n]: float(fit.linear.scale[n]) for n in used},
        signatures={names[n]: scores.columns[chosen.columns[n]].signature for n in used},
        intercept=fit.linear.intercept,
        correlation=_defined(fit.correlation),
        n=fit.n,
        aggregate=about.aggregate,
        candidates=names,
        left_out=chosen.left_out,
        part=about.part,
        method=about.method,
        generators_left_out=chosen.rows_left_out,
        turned=tuple(names[n] for n, c in enumerate(chosen.columns) if not scores.columns[c].higher_is_better),
        standardised=about.standardised,
        held_out={} if both is None else {"both": both},
        within=about.within,
        tried={name: reached for name, reached in about.tried.items() if name != about.method},
    )
    return FittedEnsemble(ensemble, blocks, names)


def _fit_flexible(scores: Scores, learning: Learning, about: _About) -> FittedEnsemble:
    """A family that takes all metrics."""
    fit = fit_named(learning, about.method, k=about.k)
    columns = [scores.columns[k] for k in learning.columns]
    ensemble = Ensemble(
        board=about.board,
        board_version=about.board_version,
        version=0,
        references=about.references,
        lam=0.0,
        lam_range=None,
        k=about.k,
        weights={},
        centres={},
        scales={},
        signatures={column.name: column.signature for column in columns},
        intercept=float(learning.judged.target.mean()),
        correlation=_defined(fit.correlation),
        n=len(learning.judged.target),
        aggregate=about.aggregate,
        candidates=learning.metrics,
        left_out=learning.left_out,
        part=about.part,
        method=about.method,
        turned=tuple(column.name for column in columns if not column.higher_is_better),
        standardised=about.standardised,
        model=model_document(learning, fit, scores.rows),
        held_out={"both": fit.correlation},
        within=within_of(learning, held_out_of(learning, about.method, k=about.k)),
        tried={name: reached for name, reached in about.tried.items() if name != about.method},
        interval=fit.interval,
        wider=fit.wider,
    )
    return FittedEnsemble(ensemble, None, learning.metrics)


def _fit(blocks: Blocks, k: int, lam: float | None, method: Method) -> EnsembleFit:
    if method == "lasso":
        return fit_ensemble(blocks, k=k, lam=lam)
    if lam is not None:
        raise InvalidInput("lambda belongs to the lasso; the best subset shrinks nothing: give k alone")
    return fit_best_subset(blocks, k=k)


def study_ensemble(
    board: Board, fitted: FittedEnsemble, scores: Scores, human: Floats, part: Slice | None = None
) -> EnsembleStudy:
    """What each metric is worth: ablations of those selected, the gain from each candidate, and their correlations."""
    ensemble, names = fitted.ensemble, fitted.names
    learning = learning_of(board, scores, human, part or Slice())
    card = make_card(board, learning, ensemble.method, k=ensemble.k, interval=ensemble.interval)
    if fitted.blocks is None:
        ablations: tuple[Ablation, ...] = ()
        gains: Mapping[str, float | None] = {} if card is None else {name: _defined(v) for name, v in card.adds.items()}
    else:
        without = {name: _without(fitted.blocks, fitted, name) for name in names}
        ablations = tuple(_ablation(name, without[name], names) for name in ensemble.weights)
        # Without a metric lambda is tuned anew, so the whole is too: a gain is no difference between two lambdas.
        tuned = _fit(fitted.blocks, ensemble.k, None, ensemble.method).correlation
        gains = {name: _gain(tuned, fit) for name, fit in without.items()}
    judged = np.where(np.isfinite(human), 1.0, np.nan)
    matrix = between_metrics(np.stack([scores.of(name) * judged for name in names]))
    correlations = tuple(tuple(_defined(r) for r in row) for row in matrix)
    return EnsembleStudy(
        ensemble=ensemble, ablations=ablations, gains=gains, names=names, correlations=correlations, card=card
    )


def _without(blocks: Blocks, fitted: FittedEnsemble, name: str) -> EnsembleFit | None:
    try:
        rest = blocks.without_metrics([fitted.names.index(name)])
        return _fit(rest, fitted.ensemble.k, None, fitted.ensemble.method)
    except NotEnoughData:
        return None


def _ablation(removed: str, fit: EnsembleFit | None, names: tuple[str, ...]) -> Ablation:
    if fit is None:
        return Ablation(removed, None, {}, float("nan"))
    rest = [name for name in names if name != removed]
    weights = {name: float(weight) for name, weight in zip(rest, fit.linear.weights, strict=True) if weight}
    return Ablation(removed, _defined(fit.correlation), _by_weight(weights), fit.lam)


def _gain(whole: float, fit: EnsembleFit | None) -> float | None:
    return None if fit is None else _defined(whole - fit.correlation)


def ensemble_scores(
    ensemble: Ensemble, scores: Scores | BoardColumns, board: Board, part: Slice | None = None
) -> Floats:
    """The ensemble's score of every output (rows × instances) of a board, or of the part that scores are of.

    A small one scores what all of its metrics have scored, other families what any of theirs has.
    """
    names = ensemble_inputs(ensemble, scores)
    if ensemble.model is not None:
        length = output_lengths(board, part or Slice())
        return predict_cells(ensemble.model, {name: scores.of(name) for name in names}, length, scores.rows)
    return combine(ensemble, {name: scores.of(name) for name in names})


def ensemble_inputs(ensemble: Ensemble, scores: Scores | BoardColumns) -> tuple[str, ...]:
    """The metrics of an ensemble that these scores have, each checked to be what the ensemble was fitted with."""
    names = tuple(name for name in ensemble.inputs if ensemble.is_small or name in scores.names)
    for name in names:
        column = scores.columns[scores.column(name)]
        if column.signature != ensemble.signatures[name]:
            raise InvalidInput(
                f"{ensemble.signature} was fitted with {name} as {ensemble.signatures[name]}, "
                f"but the scores at hand are {column.signature}; score with that version, or fit a new ensemble"
            )
    return names


def combine(ensemble: Ensemble, scores: Mapping[str, Floats]) -> Floats:
    """The ensemble's scores from its metrics' scores, by name."""
    names = tuple(ensemble.weights)
    linear = Linear(
        np.array([ensemble.weights[name] for name in names]),
        np.array([ensemble.centres[name] for name in names]),
        np.array([ensemble.scales[name] for name in names]),
        ensemble.intercept,
    )
    return apply_linear(linear, np.stack([scores[name] for name in names]))


def _by_weight(weights: Mapping[str, float]) -> dict[str, float]:
    return dict(sorted(weights.items(), key=lambda item: -abs(item[1])))


def _defined(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


@dataclass(frozen=True)
class Applied:
    """An ensemble's scores of new outputs."""

    signature: str
    instances: tuple[str, ...]
    scores: Floats
    #: Metrics of the ensemble that the scores were made without.
    missing: tuple[str, ...] = ()
    #: What to add to a score for the interval in which 95% of people's values lie, where that is known.
    interval: tuple[float, float] | None = None

    @property
    def n(self) -> int:
        return int(np.isfinite(self.scores).sum())

    @property
    def mean(self) -> float:
        return float(np.nanmean(self.scores))

    def document(self) -> dict[str, Any]:
        pairs = zip(self.instances, self.scores.tolist(), strict=True)
        scores = {instance: None if np.isnan(score) else score for instance, score in pairs}
        more = {} if self.interval is None else {"interval": list(self.interval), "missing": list(self.missing)}
        return {"schema": 1, "signature": self.signature, "mean": self.mean, "n": self.n, **more, "scores": scores}


def apply_ensemble(
    ensemble: Ensemble,
    board: Board,
    outputs: Path,
    executor: Executor,
    *,
    scores: Mapping[str, Floats] | None = None,
    cells: CellStore | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Applied:
    """The ensemble's score of every output in a file.

    scores: scores of metrics that can't be computed here.
    cells: the board's own scores, with which families that look at other generators compare.
    """
    scores = scores or {}
    row = _read_row(outputs, board)
    metrics, missing = _computable(ensemble, board.output_language, scores)
    store = MemoryCells()
    references = board.check_references(ensemble.references)
    report = score_board(
        board, store, list(metrics.values()), executor, references=references, rows=[row], on_progress=on_progress
    )
    for name, reason in report.failures.items():
        raise MetricFailed(f"{name}: {reason}")
    own = {
        name: store.load(column_key(board, metric, references), [row.version])[row.version]
        for name, metric in metrics.items()
    }
    instances, values = tuple(i.id for i in board.instances), {**scores, **own}
    if ensemble.model is None:
        return Applied(ensemble.signature, instances, combine(ensemble, values))
    beside = board_scores(board, cells, references=references)
    empty = np.full((len(board.rows), len(board.instances)), np.nan)
    everyone = {
        name: np.vstack([beside.of(name) if name in beside.names else empty, values.get(name, empty[0])])
        for name in ensemble.inputs
    }
    length = np.vstack([output_lengths(board, Slice()), lengths([row.texts])])
    # A generator of the board is not among the others that it is compared with; nor is anybody without a name.
    for place in (k for k, other in enumerate(board.rows) if other.version == row.version):
        length[place] = np.nan
        for table in everyone.values():
            table[place] = np.nan
    predicted = predict_cells(ensemble.model, everyone, length, (*(other.name for other in board.rows), ""))[-1]
    interval = None if ensemble.interval is None else interval_without(ensemble.interval, ensemble.wider, missing)
    return Applied(ensemble.signature, instances, predicted, missing, interval)


def _computable(
    ensemble: Ensemble, language: str | None, given: Mapping[str, Floats]
) -> tuple[dict[str, Metric], tuple[str, ...]]:
    """The metrics to compute, and those that an ensemble which takes gaps must do without."""
    metrics: dict[str, Metric] = {}
    missing: dict[str, InvalidInput] = {}
    for name in ensemble.inputs:
        if name in given:
            continue
        try:
            metrics[name] = _metric(ensemble, name, language)
        except InvalidInput as error:
            if ensemble.is_small:
                raise
            missing[name] = error
    if missing and len(missing) > (1 - FEWEST_PRESENT) * len(ensemble.inputs):
        raise InvalidInput(
            f"{len(missing)} of {len(ensemble.inputs)} metrics are missing: {next(iter(missing.values()))}"
        )
    return metrics, tuple(missing)


def read_metric_scores(path: Path, board: Board, ensemble: Ensemble) -> dict[str, Floats]:
    """Scores of metrics that can't run here: a line per instance, a metric per column, higher is better."""
    problems = Problems()
    is_part, rows = ensemble.signatures.__contains__, ("metric", "of this ensemble")
    scores = read_score_table(_bytes(path), path.name, board.position, is_part, problems, rows=rows)
    _refuse(problems)
    return scores


def _metric(ensemble: Ensemble, name: str, language: str | None) -> Metric:
    signature = ensemble.signatures[name]
    if signature.startswith("imported:") or split_part(name)[0].partition("(")[0] not in metric_names():
        raise InvalidInput(
            f"{ensemble.signature} uses {name} ({signature}), which can't be computed here; "
            f"compute it where you can and give its scores with --scores FILE.tsv"
        )
    metric = installed_metric(name).for_language(language)
    if metric.signature != signature:
        raise InvalidInput(
            f"{ensemble.signature} was fitted with {signature}, but this installation has {metric.signature}; "
            "install that version, or give the scores with --scores FILE.tsv"
        )
    return metric


def _read_row(path: Path, board: Board) -> Outputs:
    problems = Problems()
    texts = read_texts(_bytes(path), path.name, board.position, problems)
    _refuse(problems)
    if not any(text is not None for text in texts):
        raise InvalidInput(f'{path}: holds no outputs; write a line {{"instance": …, "text": …}} for each instance')
    return row_of(Generator(path.stem), board.instances, texts)


def _refuse(problems: Problems) -> None:
    if problems.errors:
        more = f" (and {count_problems(problems.errors) - 1} more)" if len(problems.errors) > 1 else ""
        raise InvalidInput(f"{problems.errors[0]}{more}")


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InvalidInput(f"{path}: can't be read: {error.strerror}") from error


def ensemble_table(ensemble: Ensemble) -> Table:
    """The metrics of an ensemble: weight, and the centre and scale that standardise each."""
    if ensemble.model is not None:
        return _model_table(ensemble)
    heaviest = sorted(ensemble.weights, key=lambda name: -abs(ensemble.weights[name]))
    rows = tuple(
        {
            "name": name,
            "weight": finite(ensemble.weights[name]),
            "centre": finite(ensemble.centres.get(name)),
            "scale": finite(ensemble.scales.get(name)),
            "signature": ensemble.signatures.get(name),
        }
        for name in heaviest
    )
    columns = (
        TableColumn("name", "metric", "left"),
        TableColumn("weight", "weight", digits=3),
        TableColumn("centre", "centre", digits=column_digits(rows, "centre"), priority=1),
        TableColumn("scale", "scale", digits=column_digits(rows, "scale"), priority=1),
        TableColumn("signature", "signature", "left", priority=2),
    )
    return Table(ensemble.signature, columns, rows, _ensemble_facts(ensemble), "ensemble")


def _model_table(ensemble: Ensemble) -> Table:
    """The metrics of an ensemble that is not small, and how much wider intervals are without each."""
    low, high = ensemble.interval or (math.nan, math.nan)
    rows = tuple(
        {
            "name": name,
            "wider": finite((wide[1] - wide[0]) - (high - low)) if (wide := ensemble.wider.get(name)) else None,
            "signature": signature,
        }
        for name, signature in ensemble.signatures.items()
    )
    columns = (
        TableColumn("name", "metric", "left"),
        TableColumn("wider", "interval wider without it", digits=2, kind="change"),
        TableColumn("signature", "signature", "left", priority=2),
    )
    return Table(ensemble.signature, columns, rows, _ensemble_facts(ensemble), "ensemble")


def ablation_table(study: EnsembleStudy) -> Table:
    """The ensemble without each of its metrics, tuned and measured anew (Table 11)."""
    whole = study.ensemble
    kept = Ablation("nothing", whole.correlation, whole.weights, whole.lam)
    others = (_ablation_row(ablation, whole.correlation, whole.turned) for ablation in study.ablations)
    rows = (_ablation_row(kept, None, whole.turned), *others)
    columns = (
        TableColumn("removed", "removed", "left"),
        TableColumn("correlation", "correlation", digits=3),
        TableColumn("change", "change", digits=3, kind="change"),
        TableColumn("combination", "what is left, tuned anew", "left", priority=1),
        TableColumn("lambda", "lambda", digits=3, priority=2),
    )
    note = "A fall says that the other metrics can't stand in for the one removed."
    return Table(
        f"{study.ensemble.board}: the ensemble without each of its metrics", columns, rows, (note,), "without-each"
    )


def gains_table(study: EnsembleStudy) -> Table:
    """What each candidate adds to the ensemble, and the metric it resembles most."""
    rows = tuple(_gain_row(study, name) for name in sorted(study.gains, key=lambda name: _gain_order(study, name)))
    columns = (
        TableColumn("name", "metric", "left"),
        TableColumn("gain", "adds", digits=3, kind="change"),
        TableColumn("weight", "weight", digits=3),
        TableColumn("nearest", "most like", "left"),
        TableColumn("similarity", "their correlation", digits=3),
    )
    note = "What a metric adds: how much the ensemble's correlation falls when the metric is not among the candidates."
    return Table(f"{study.ensemble.board}: what each metric adds to the ensemble", columns, rows, (note,), "added")


def _how_fitted(ensemble: Ensemble) -> str:
    among = f"{len(ensemble.weights)} of {len(ensemble.candidates)} metrics"
    if ensemble.method == "best-subset":
        return f"The best subset of {among}, nothing shrunk."
    if ensemble.lam_range is None:
        return f"lambda {value_text(ensemble.lam)} as given, which selects {among}."
    low, high = map(value_text, ensemble.lam_range)
    return f"lambda {value_text(ensemble.lam)} (the same metrics from {low} to {high}), chosen for {among}."


def _ensemble_facts(ensemble: Ensemble) -> tuple[str, ...]:
    scale = f"{'z-scores' if ensemble.standardised else '0-100 scale'} of {ensemble.aggregate}"
    if ensemble.model is None:
        facts = [
            f"Score = {ensemble.intercept:.4g} + the sum of weight × (score − centre) / scale, on the {scale}.",
            _how_fitted(ensemble),
            f"Correlation on generators it has not seen: {value_text(ensemble.correlation, 3)} (n = {ensemble.n:,}).",
        ]
    else:
        facts = [
            f"{first_line(_family_words(ensemble.method))}; scores are on the {scale}.",
            f"Correlation on generators and documents it has not seen: {value_text(ensemble.correlation, 3)} "
            f"(n = {ensemble.n:,}).",
        ]
    if ensemble.within is not None:
        facts.append(f"Within items, on the same unseen outputs: {value_text(ensemble.within, 3)}.")
    facts += tried_words(ensemble)
    if turned := [name for name in ensemble.weights if name in ensemble.turned]:
        facts.append(f"Lower is better for {listed(turned)}: the score is turned (−) before it is centred and weighed.")
    if ensemble.generators_left_out:
        without = listed(ensemble.generators_left_out)
        facts.append(f"Fitted without {without}: judged, but most metrics have no scores of these outputs.")
    facts += [f"{name} was no candidate: {reason}" for name, reason in sorted(ensemble.left_out.items())]
    return tuple(facts)


def _family_words(method: str) -> str:
    return FAMILIES.summary(method) if method in FAMILIES else f"The family {method}, which is not installed here"


def unseen_words(ensemble: Ensemble) -> str:
    """What its correlation is measured on."""
    return "generators" if ensemble.is_small else "generators and documents"


def tried_words(ensemble: Ensemble) -> list[str]:
    """What the families that were tried reach, on the same unseen outputs."""
    if not ensemble.tried:
        return []
    own = {ensemble.method: ensemble.held_out["both"]} if "both" in ensemble.held_out else {}
    reached = ", ".join(f"{name} {value_text(r, 3)}" for name, r in {**own, **ensemble.tried}.items())
    return [
        f"On generators and documents that a fit has not seen: {reached}. "
        "The small ensemble is replaced only by one that is significantly better there."
    ]


def _ablation_row(ablation: Ablation, whole: float | None, turned: tuple[str, ...]) -> Mapping[str, object]:
    left, whole = finite(ablation.correlation), finite(whole)
    return {
        "removed": ablation.removed,
        "correlation": left,
        "change": None if left is None or whole is None else left - whole,
        "combination": linear_combination(ablation.weights, turned),
        "lambda": finite(ablation.lam),
    }


def _gain_row(study: EnsembleStudy, name: str) -> Mapping[str, object]:
    nearest, similarity = _nearest(study, name)
    weight = study.ensemble.weights.get(name)
    gain = study.gains[name]
    return {"name": name, "gain": finite(gain), "weight": weight, "nearest": nearest, "similarity": similarity}


def _gain_order(study: EnsembleStudy, name: str) -> float:
    gain = finite(study.gains[name])
    return math.inf if gain is None else -gain


def _nearest(study: EnsembleStudy, name: str) -> tuple[str | None, float | None]:
    """The other metric with the highest correlation, where one is defined."""
    if name not in study.names:
        return None, None
    row = study.correlations[study.names.index(name)]
    others = [(r, other) for other, r in zip(study.names, row, strict=True) if other != name and finite(r) is not None]
    if not others:
        return None, None
    similarity, nearest = max(others, key=lambda pair: pair[0] or 0.0)
    return nearest, similarity


def metric_correlations(study: EnsembleStudy, *, theme: Theme = "light") -> alt.LayerChart:
    """Which metrics say the same: the correlation of every pair on the judged outputs, in hundredths."""
    import altair as alt

    from billboards.show.plot import PALETTES, distinct, themed

    names = distinct(study.names)
    cells: Points = [
        {"row": names[i], "column": names[j], "value": r, "label": f"{round(100 * r)}"}
        for i, row in enumerate(study.correlations)
        for j, r in enumerate(row)
        if i != j and r is not None and np.isfinite(r)
    ]
    if not cells:
        raise NotEnoughData(f"{study.ensemble.board}: no two metrics can be compared; nothing to draw")
    colours = PALETTES[theme]
    x = alt.X("column:N", sort=names, title=None, axis=alt.Axis(orient="top", labelAngle=-60, domain=False))
    y = alt.Y("row:N", sort=names, title=None, axis=alt.Axis(domain=False))
    scale = alt.Scale(domain=[-1, 0, 1], range=[colours.people, colours.grid, colours.accent])
    weak, strong = (alt.value(colour) for colour in colours.figures)
    legible = alt.condition(f"abs(datum.value) > {colours.turn}", strong, weak)
    base = alt.Chart(alt.InlineData(values=cells)).encode(x, y)
    tooltip = ["row:N", "column:N", alt.Tooltip("value:Q", format=".3f")]
    squares = base.mark_rect().encode(alt.Color("value:Q", scale=scale, legend=None), tooltip=tooltip)
    figures = base.mark_text(fontSize=10).encode(text="label:N", color=legible)
    side = max(20, min(34, 360 // len(names))) * len(names)
    most, least = max(cells, key=lambda cell: cell["value"]), min(cells, key=lambda cell: cell["value"])
    title = f"{most['row']} and {most['column']} are most alike ({value_text(most['value'], 2)})"
    words = f"Least alike are {least['row']} and {least['column']} ({value_text(least['value'], 2)})"
    subtitle = "Correlation of each pair of metrics on the judged outputs, × 100."
    return themed((squares + figures).properties(width=side, height=side), theme, title, subtitle, words)


def fit_view(
    board: Board, view: JudgedMatrix, *, k: int = 3, lam: float | None = None, method: Method = "lasso"
) -> FittedEnsemble:
    """The ensemble on what a view looks at; only generators take part, since one of them is held out at a time."""
    if view.pairs is not None:
        raise NotEnoughData(f"people compared outputs on {view.aggregate} and gave no values to fit")
    generators = np.array([board.row(name).generator is not None for name in view.scores.rows], bool)
    human = only_rows(view.judged_human, generators)
    return fit_board_ensemble(
        board,
        view.scores,
        human,
        aggregate=view.aggregate,
        references=view.references,
        part=view.part,
        k=k,
        lam=lam,
        method=method,
    )


@analysis(paper="Billboards, section 2.2 and Table 11")
def ensemble(
    view: View,
    *,
    k: Annotated[int, Ge(1), Named(metavar="N"), "tune lambda so that N metrics take part"] = 3,
    lam: Annotated[
        float | None, Ge(0), Named(name="lambda", metavar="X"), "use this lambda (scikit-learn's alpha) instead"
    ] = None,
    method: FamilyOption = AUTO,
) -> EnsembleStudy:
    """Study the ensemble of a few metrics: its weights, itself without each of them, and what each metric adds."""
    matrix = trusted_matrix(view.counted, view.matrix())
    fitted = fit_view(view.counted, matrix, k=k, lam=lam, method=method)
    if view.archive is not None:
        fitted = replace(fitted, ensemble=view.archive.versioned(fitted.ensemble))
    generators = np.array([row.generator is not None for row in view.counted.rows], bool)
    return study_ensemble(view.counted, fitted, matrix.scores, only_rows(matrix.judged_human, generators), matrix.part)


@ensemble.table
def _ensemble_tables(study: EnsembleStudy) -> tuple[Table, ...]:
    card = () if study.card is None else card_tables(study.ensemble.board, study.card, study.ensemble.tried)
    if not study.ensemble.is_small:
        return (ensemble_table(study.ensemble), *card)
    return (ensemble_table(study.ensemble), ablation_table(study), gains_table(study), *card)


@ensemble.chart
def _alike(study: EnsembleStudy, theme: Theme) -> alt.LayerChart | None:
    others = (r for i, row in enumerate(study.correlations) for r in (*row[:i], *row[i + 1 :]))
    return metric_correlations(study, theme=theme) if any(r is not None for r in others) else None


@ensemble.keep
def _keep_ensemble(view: View, study: EnsembleStudy) -> EnsembleStudy:
    assert view.archive is not None
    return replace(study, ensemble=view.archive.keep_ensemble(study.ensemble))
