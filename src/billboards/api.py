"""Boards from Python and notebooks: the same verbs as on the command line, with results that print and become frames.

import billboards as bb
board = bb.open("my-board")
bb.score(board)
bb.rank(board)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from billboards.audit.bench import Bench, Budget
from billboards.audit.boards import audit_board
from billboards.audit.challenges import challenge as run_challenge
from billboards.audit.choosing import Method as SearchMethod
from billboards.audit.choosing import Search
from billboards.audit.entering import enter as enter_optimised
from billboards.boards.folder import open_board
from billboards.boards.writing import write_board
from billboards.domain import (
    AgreementStudy,
    Board,
    ChallengeReport,
    Column,
    EnsembleStudy,
    GeneratorComparison,
    HybridStudy,
    MeanEstimate,
    MeasuredCard,
    Method,
    MetricAudit,
    MetricComparison,
    MetricPairs,
    MetricStanding,
    OverratingReport,
    PowerStudy,
    Ranking,
    ReferenceEffect,
    Resampled,
    Sensitivity,
    Slice,
    Unit,
)
from billboards.errors import InvalidInput, NotEnoughData
from billboards.execution.local import executor
from billboards.execution.packs import named_metric
from billboards.metrics.base import Metric
from billboards.reports import audits, comparisons, studies, tables
from billboards.reports.cards import card_tables
from billboards.reports.frames import table_html, to_pandas, to_polars
from billboards.service.agreement import study_agreement
from billboards.service.board_studies import study_board
from billboards.service.cards import measure_card
from billboards.service.comparing import compare_generators, compare_metrics
from billboards.service.ensembles import study_ensemble
from billboards.service.estimating import estimate_generator
from billboards.service.home import Home, home_of
from billboards.service.hybrids import study_hybrids
from billboards.service.metric_pairs import compare_all_metrics
from billboards.service.overrating import (
    human_generators,
    measure_overrating,
    references_without,
    rows_compared,
)
from billboards.service.power import power_of_generators, power_of_metrics
from billboards.service.ranking import fit_view, rank_board, view_board
from billboards.service.ranking import rank_metrics as _rank_columns
from billboards.service.references import reference_effect
from billboards.service.scoring import Progress, ScoringReport, score_board
from billboards.service.sensitivity import measure_sensitivity
from billboards.service.snapshots import keep, numbered
from billboards.stats.correlation import pearson_with_intervals
from billboards.stats.estimate import Target
from billboards.stats.significance import permute_correlations
from billboards.store import documents
from billboards.store.base import CellStore
from billboards.store.memory import MemoryCells

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from billboards.reports.html import JudgedScores

Value = TypeVar("Value")


@dataclass(frozen=True)
class Result(Generic[Value]):
    """A result that prints as tables, shows as HTML in a notebook, and turns into frames or a JSON document."""

    value: Value
    tables: tuple[tables.Table, ...]
    document: Mapping[str, Any]

    def to_pandas(self, table: int = 0) -> Any:
        """One of the tables as a pandas data frame."""
        return to_pandas(self.tables[table])

    def to_polars(self, table: int = 0) -> Any:
        """One of the tables as a polars data frame."""
        return to_polars(self.tables[table])

    def _repr_html_(self) -> str:
        return "\n".join(map(table_html, self.tables))

    def __str__(self) -> str:
        import io

        from rich.console import Console

        from billboards.reports.terminal import print_table

        text = io.StringIO()
        for table in self.tables:
            print_table(table, Console(file=text, width=120))
        return text.getvalue().rstrip()

    __repr__ = __str__


def open(path: str | Path) -> Board:
    """The board in a folder; raises `InvalidBoard` with every mistake found."""
    return open_board(path)


def save(board: Board, path: str | Path, *, force: bool = False) -> Board:
    """Write a board as a folder and open it there; `force` replaces a folder that exists."""
    return open_board(write_board(board, path, replace=force))


def import_board(kind: str, source: str | Path, *, facts: Mapping[str, str] | None = None, **options: Any) -> Board:
    """A board from a public data set or a table, in memory; `save` writes it.

    Its data card must be complete: `facts` states what the source doesn't tell, such as `{"task": "Translate news"}`.
    """
    from billboards.boards.cards import require_card, with_facts
    from billboards.boards.importers import IMPORTERS, load_importer

    load = load_importer(kind)
    paths = {argument.keyword for argument in IMPORTERS[kind].arguments if argument.is_path}
    given = {name: Path(value) if name in paths else value for name, value in options.items()}
    return require_card(with_facts(load(Path(source), **given).board, facts or {}))


def score(
    board: Board,
    metrics: Sequence[str | Metric] | None = None,
    *,
    references: Sequence[str] | None = None,
    jobs: int = 1,
    on_progress: Callable[[Progress], None] | None = None,
) -> ScoringReport:
    """Compute every score of these metrics (default: those the board names) that is missing.

    With `jobs` above 1 a script needs the usual `if __name__ == "__main__":` guard, as for all of Python's processes.
    """
    home = home_of(board)
    used = None if references is None else board.check_references(references)
    return score_board(
        board, home.cells, _metrics(board, metrics), executor(jobs), references=used, on_progress=on_progress
    )


def rank(
    board: Board,
    *,
    aggregate: str | None = None,
    references: Sequence[str] | None = None,
    part: Slice | None = None,
    k: int = 3,
    lam: float | None = None,
    by: str | None = None,
    method: Method = "lasso",
    resampled: Resampled = "instances",
    draws: int = 1000,
    seed: int = 0,
    save: bool = False,
) -> Result[Ranking]:
    """Metrics by agreement with people, generators by the best metric; `save` keeps a snapshot in the folder.

    `resampled` is what the intervals' bootstrap draws: which other instances, documents or generators they are about.
    """
    home = home_of(board) if board.home is not None else None
    ranking = rank_board(
        board,
        None if home is None else home.cells,
        aggregate=aggregate,
        references=None if references is None else board.check_references(references),
        part=part,
        k=k,
        lam=lam,
        by=by,
        method=method,
        resampled=resampled,
        draws=draws,
        seed=seed,
    )
    if home is not None:
        ranking = keep(home, ranking)[0] if save else numbered(home, ranking)
    shown = [tables.metric_table(ranking), tables.generator_table(ranking)]
    if ranking.lines:
        shown.append(tables.lines_table(ranking))
    return Result(ranking, tuple(shown), documents.ranking_document(ranking))


def ensemble(
    board: Board,
    *,
    aggregate: str | None = None,
    part: Slice | None = None,
    k: int = 3,
    lam: float | None = None,
    method: Method = "lasso",
) -> Result[EnsembleStudy]:
    """The ensemble, its ablations, and what each metric adds."""
    study = _study(home_of(board) if board.home is not None else None, board, aggregate, part, k, lam, method)
    shown = (tables.ensemble_table(study.ensemble), tables.ablation_table(study), tables.gains_table(study))
    return Result(study, shown, documents.study_document(study))


def overrating(
    board: Board,
    human: str | None = None,
    *,
    references: Sequence[str] | None = None,
    aggregate: str | None = None,
    k: int = 3,
    lam: float | None = None,
    method: Method = "lasso",
    crossed: bool = False,
    score: bool = True,
    metrics: Sequence[str | Metric] | None = None,
    jobs: int = 1,
    on_progress: Callable[[Progress], None] | None = None,
) -> Result[OverratingReport]:
    """How much each metric overrates machines over a person; `score` computes what that needs first.

    The paper's model asks about these machines; `crossed`, with generators as a sample, about machines like them.
    """
    home = home_of(board)
    human = human or _only_human(board)
    used = references_without(board, human, None if references is None else tuple(references))
    failures: Mapping[str, str] = {}
    if score and (metrics or board.metrics):
        failures = score_board(
            board,
            home.cells,
            _metrics(board, metrics),
            executor(jobs),
            references=used,
            rows=rows_compared(board, human, aggregate),
            on_progress=on_progress,
        ).failures
    report = measure_overrating(
        board, home.cells, human, references=used, aggregate=aggregate, k=k, lam=lam, method=method, crossed=crossed
    )
    report = replace(report, missing={**report.missing, **failures})
    return Result(report, (tables.overrating_table(report),), documents.overrating_document(report))


def sensitivity(
    board: Board,
    *,
    aggregate: str | None = None,
    part: Slice | None = None,
    draws: int = 1000,
    seed: int = 0,
    values: bool = False,
) -> Result[Sensitivity]:
    """The metric ranking under every statistic, grouping and dimension, and without each generator in turn.

    Its tables are of ranks, or with `values` of every statistic's value, p and n.
    """
    found = measure_sensitivity(board, _cells(board), aggregate=aggregate, part=part, draws=draws, seed=seed)
    ranks = (comparisons.sensitivity_table(found), comparisons.conditions_table(found))
    shown = (comparisons.values_table(found),) if values else ranks
    return Result(found, shown, documents.sensitivity_document(found))


def compare(
    board: Board,
    first: str,
    second: str,
    *,
    aggregate: str | None = None,
    part: Slice | None = None,
    by: str | None = None,
    unit: Unit = "both",
    resampled: Resampled = "instances",
    draws: int = 1000,
    seed: int = 0,
    shown: int = 10,
) -> Result[MetricComparison] | Result[GeneratorComparison]:
    """Two metrics or two generators: is the difference real, and which outputs decide it?

    `by` is what decides between generators, `unit` what the permutation test between metrics exchanges, and
    `resampled` what the bootstrap of their difference draws.
    """
    how: dict[str, Any] = {"aggregate": aggregate, "part": part, "draws": draws, "seed": seed, "shown": shown}
    if _are_generators(board, first, second):
        pair = compare_generators(board, _cells(board), first, second, by=by, **how)
        table = comparisons.generator_comparison_table(pair)
        return Result(pair, (table, *_deciding(pair)), documents.comparison_document(pair))
    found = compare_metrics(board, _cells(board), first, second, unit=unit, resampled=resampled, **how)
    table = comparisons.metric_comparison_table(found)
    return Result(found, (table, *_deciding(found)), documents.comparison_document(found))


def compare_all(
    board: Board,
    *,
    aggregate: str | None = None,
    part: Slice | None = None,
    unit: Unit = "both",
    draws: int = 10_000,
    seed: int = 0,
) -> Result[MetricPairs]:
    """Every two metrics, with p-values corrected for there being so many pairs (Holm, Benjamini-Hochberg)."""
    found = compare_all_metrics(board, _cells(board), aggregate=aggregate, part=part, unit=unit, draws=draws, seed=seed)
    return Result(found, (comparisons.metric_pairs_table(found),), documents.pairs_document(found))


def _are_generators(board: Board, first: str, second: str) -> bool:
    """Whether both names are generators'; one that is and one that isn't can't be compared."""
    generators = {generator.name for generator in board.generators}
    if (first in generators) != (second in generators):
        one, other = (first, second) if first in generators else (second, first)
        raise InvalidInput(f"{one} is a generator and {other} is none: name two metrics or two generators")
    return first in generators


def _deciding(found: MetricComparison | GeneratorComparison) -> tuple[tables.Table, ...]:
    names = (found.first, found.second)
    return (
        comparisons.deciding_table(f"Outputs that speak most for {found.first}", found.for_first, names),
        comparisons.deciding_table(f"Outputs that speak most for {found.second}", found.for_second, names),
    )


def hybrids(
    board: Board,
    *,
    aggregate: str | None = None,
    part: Slice | None = None,
    mixtures: int = 10_000,
    parents: int | None = 2,
    sample: int = 100,
    seed: int = 0,
) -> Result[HybridStudy]:
    """Metrics over random mixtures of generators: how well each orders them, and how good its pick is."""
    found = study_hybrids(
        board,
        _cells(board),
        aggregate=aggregate,
        part=part,
        mixtures=mixtures,
        parents=parents,
        sample=sample,
        seed=seed,
    )
    return Result(found, (studies.hybrids_table(found),), documents.hybrids_document(found))


def estimate(
    board: Board,
    generator: str,
    *,
    labels: int | None = None,
    metric: str = "ensemble",
    target: Target | None = None,
    aggregate: str | None = None,
    part: Slice | None = None,
    seed: int = 0,
) -> Result[MeanEstimate]:
    """A generator's mean human score from some or all of its labels, with a metric as control variate."""
    found = estimate_generator(
        board,
        _cells(board),
        generator,
        labels=labels,
        metric=metric,
        target=target,
        aggregate=aggregate,
        part=part,
        seed=seed,
    )
    return Result(found, (studies.estimate_table(found),), documents.estimate_document(found))


def power(
    board: Board,
    first: str,
    second: str,
    *,
    aggregate: str | None = None,
    part: Slice | None = None,
    power: float = 0.8,
    level: float = 0.05,
) -> Result[PowerStudy]:
    """How many instances, labels or generators it takes to tell two generators or two metrics apart."""
    measure = power_of_generators if _are_generators(board, first, second) else power_of_metrics
    found = measure(board, _cells(board), first, second, aggregate=aggregate, part=part, power=power, level=level)
    return Result(found, (studies.power_table(found),), documents.power_document(found))


def agreement(
    board: Board, first: str, second: str, *, part: Slice | None = None, shown: int = 10
) -> Result[AgreementStudy]:
    """Two aggregates or dimensions of judgments: how far they agree, and the outputs on which they don't."""
    found = study_agreement(board, first, second, part=part, shown=shown)
    shown_tables = (studies.agreement_table(found), *studies.corner_tables(found))
    return Result(found, shown_tables, documents.agreement_document(found))


def card(board: Board) -> Result[MeasuredCard]:
    """A board's data card: what its owner states, and everything about the data that can be counted."""
    found = measure_card(board)
    return Result(found, card_tables(found), documents.card_document(found))


def audit_metrics(
    board: Board,
    metrics: Sequence[str] | None = None,
    *,
    method: SearchMethod = "auto",
    sentences: int = 3,
    candidates: str | Path | None = None,
    model: str | None = None,
    beams: int = 5,
    against: Sequence[str] | None = None,
    budget: int | None = None,
    save: bool = False,
    html: str | Path | None = None,
    draws: int = 1000,
    seed: int = 0,
    jobs: int = 1,
    on_progress: Callable[[Progress], None] | None = None,
) -> Result[tuple[MetricAudit, ...]]:
    """What metrics reward (default: every reference-free one): outputs made for each, and what others say of them.

    `save` enters the outputs as generators that are never ranked, and keeps the verdicts in the folder.
    """
    bench = Bench(board, _cells(board) or MemoryCells(), executor(jobs), Budget(budget), on_progress)
    search = Search(method, sentences, beams, candidates=None if candidates is None else Path(candidates), model=model)
    done = audit_board(bench, metrics, against=against, search=search, draws=draws, seed=seed)
    for one in done.found if save else ():
        home_of(board).archive.keep_audit(one.audit)
        enter_optimised(board, one.row, one.audit.how)
    found = tuple(one.audit for one in done.found)
    if html is not None:
        from billboards.reports.audit_page import audit_html

        Path(html).write_text(audit_html(found), encoding="utf-8")
    shown = (audits.audits_table(found), *(table for one in found for table in audits.audit_tables(one)))
    return Result(found, shown, documents.audits_document(found) | {"left_out": dict(done.left_out)})


def challenge(
    board: Board,
    metrics: Sequence[str | Metric] | None = None,
    *,
    base: str | None = None,
    kinds: Sequence[str] | None = None,
    seed: int = 0,
    jobs: int = 1,
    on_progress: Callable[[Progress], None] | None = None,
) -> Result[ChallengeReport]:
    """How often each metric puts a reference above its spoilt copy, for every way to spoil it."""
    bench = Bench(board, _cells(board) or MemoryCells(), executor(jobs), on_progress=on_progress)
    found = run_challenge(bench, _metrics(board, metrics), base=base, kinds=kinds, seed=seed)
    return Result(found, audits.challenge_tables(found), documents.challenge_document(found))


def _cells(board: Board) -> CellStore | None:
    return None if board.home is None else home_of(board).cells


def references(
    board: Board,
    metrics: Sequence[str | Metric] | None = None,
    *,
    aggregate: str | None = None,
    most: int = 50,
    seed: int = 0,
    jobs: int = 1,
    on_progress: Callable[[Progress], None] | None = None,
) -> Result[ReferenceEffect]:
    """What one more reference is worth to each metric, scoring what is missing; slow metrics only when named."""
    chosen = _metrics(board, metrics)
    effect = reference_effect(
        board,
        home_of(board).cells,
        chosen if metrics is not None else [one for one in chosen if not one.card.slow],
        executor(jobs),
        aggregate=aggregate,
        most=most,
        seed=seed,
        on_progress=on_progress,
    )
    return Result(effect, (tables.reference_table(effect),), documents.reference_document(effect))


def report(
    board: Board,
    path: str | Path,
    *,
    human: str | None = None,
    aggregate: str | None = None,
    part: Slice | None = None,
    k: int = 3,
    lam: float | None = None,
    method: Method = "lasso",
    seed: int = 0,
    with_references: bool = True,
    with_studies: bool = True,
    jobs: int = 1,
    on_progress: Callable[[Progress], None] | None = None,
) -> Path:
    """One self-contained HTML page about a board; scores that overrating and references need are computed first.

    With studies it has hybrids, power, means from few labels and a second source of judgments, as the board allows.
    """
    from billboards.reports.html import report_html

    home = home_of(board)
    ranking = numbered(
        home, rank_board(board, home.cells, aggregate=aggregate, part=part, k=k, lam=lam, method=method, seed=seed)
    )
    compared = human or next(iter(human_generators(board)), None) if board.ranks else None
    how: dict[str, Any] = {"aggregate": aggregate, "jobs": jobs, "on_progress": on_progress}
    page = report_html(
        ranking,
        board=board,
        study=None if ranking.ensemble is None else _study(home, board, aggregate, part, k, lam, method),
        judged=_best_metric_scores(home, ranking, part),
        sensitivity=_sensitivity(home, ranking, aggregate, part, seed),
        studies=study_board(board, home.cells, ranking, part=part) if with_studies else None,
        audits=home.archive.audits(),
        # Last, because these two compute scores: until then every section has seen the same ones as the ranking.
        overrating=None if compared is None else overrating(board, compared, k=k, lam=lam, method=method, **how).value,
        references=references(board, seed=seed, **how).value if with_references and _can_add(board) else None,
    )
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(page, encoding="utf-8")
    return target


def _sensitivity(
    home: Home, ranking: Ranking, aggregate: str | None, part: Slice | None, seed: int
) -> Sensitivity | None:
    if all(metric.correlation is None for metric in ranking.metrics):
        return None
    return measure_sensitivity(home.board, home.cells, aggregate=aggregate, part=part, seed=seed)


def _can_add(board: Board) -> bool:
    """Whether there are references to add one by one, metrics to see the effect of it, and judgments to measure it."""
    return len(board.references) > 1 and bool(board.metrics) and board.ranks is not None


def _best_metric_scores(home: Home, ranking: Ranking, part: Slice | None) -> JudgedScores | None:
    """What the scatter plot shows: the best metric beside people, on the judged rows."""
    from billboards.reports.html import JudgedScores

    best = next((m.name for m in ranking.metrics if m.correlation is not None and not m.is_statistic), None)
    if best is None:
        return None
    view = view_board(home.board, home.cells, aggregate=ranking.aggregate, part=part)
    names = tuple(name for name, judged in zip(view.scores.rows, view.judged, strict=True) if judged)
    return JudgedScores(best, view.human[view.judged], view.scores.of(best)[view.judged], names)


def rank_metrics(
    scores: Any, human: ArrayLike, *, instances: ArrayLike | None = None, draws: int = 1000, seed: int = 0
) -> Result[tuple[MetricStanding, ...]]:
    """Metrics by correlation with human scores, for plain arrays or data frames: one row per judged output.

    `scores` is a data frame, a mapping of names to columns, or an array with a column per metric. `instances` says
    which rows belong to the same instance, so that the bootstrap keeps them together.
    """
    columns = _columns(scores)
    judged = np.asarray(human, np.float64).ravel()
    for name, values in columns.items():
        if len(values) != len(judged):
            raise InvalidInput(
                f"metric {name} has {len(values)} scores for {len(judged)} human ones; one each is needed"
            )
    matrix, people = _by_instance(np.array(list(columns.values())).reshape(-1, len(judged)), judged, instances)
    found = pearson_with_intervals(matrix, people, draws=draws, seed=seed)
    tests = permute_correlations(matrix, people, draws=draws, seed=seed).p if draws else None
    standings = _rank_columns([Column(name, "given") for name in columns], found, tests)
    ranking = Ranking(
        "scores", "", "pearson", "pooled", "human", "whole board", (), seed, draws, standings, (), None, None
    )
    return Result(standings, (tables.metric_table(ranking),), documents.ranking_document(ranking))


def _columns(scores: Any) -> dict[str, Any]:
    if isinstance(scores, Mapping) or hasattr(scores, "columns"):
        names = list(scores.columns if hasattr(scores, "columns") else scores)
        return {str(name): np.asarray(scores[name], np.float64).ravel() for name in names}
    matrix = np.asarray(scores, np.float64)
    matrix = matrix[:, None] if matrix.ndim == 1 else matrix
    if matrix.ndim != 2:
        raise InvalidInput(f"scores must have one row per output and one column per metric; found shape {matrix.shape}")
    return {f"metric {k}": column for k, column in enumerate(matrix.T, 1)}


def _by_instance(matrix: Any, judged: Any, instances: ArrayLike | None) -> tuple[Any, Any]:
    """Rows laid out as (k-th output of an instance) × instances, NaN where an instance has fewer outputs."""
    if instances is None:
        return matrix[:, None, :], judged[None, :]
    group = np.asarray(instances).ravel()
    if len(group) != len(judged):
        raise InvalidInput(f"instances names {len(group)} rows where there are {len(judged)}")
    _, code = np.unique(group, return_inverse=True)
    order = np.argsort(code, kind="stable")
    starts = np.searchsorted(code[order], np.arange(code.max(initial=-1) + 1))
    place = np.empty(len(code), int)
    place[order] = np.arange(len(code)) - starts[code[order]]
    shape = (place.max(initial=0) + 1, code.max(initial=-1) + 1)
    laid, people = np.full((len(matrix), *shape), np.nan), np.full(shape, np.nan)
    laid[:, place, code] = matrix
    people[place, code] = judged
    return laid, people


def _metrics(board: Board, chosen: Sequence[str | Metric] | None) -> list[Metric]:
    names = board.metrics if chosen is None else chosen
    if not names:
        raise InvalidInput(f"board {board.name} names no metrics; name some, as in ['BLEU', 'chrF']")
    return [one if isinstance(one, Metric) else named_metric(one) for one in names]


def _only_human(board: Board) -> str:
    people = human_generators(board)
    if not people:
        raise NotEnoughData(f"board {board.name} has no judged human generator, and overrating compares with one")
    if len(people) > 1:
        names = ", ".join(people)
        raise InvalidInput(
            f"board {board.name}: choose the human generator with --human (or human=…); judged ones: {names}"
        )
    return people[0]


def _study(
    home: Home | None,
    board: Board,
    aggregate: str | None,
    part: Slice | None,
    k: int,
    lam: float | None,
    method: Method,
) -> EnsembleStudy:
    view = view_board(board, None if home is None else home.cells, aggregate=aggregate, part=part)
    fitted = fit_view(board, view, k=k, lam=lam, method=method)
    if home is not None:
        fitted = replace(fitted, ensemble=home.archive.versioned(fitted.ensemble))
    return study_ensemble(fitted, view.scores, view.judged_human)
