"""Suites from Python: several boards that judge the same metrics, opened once, run, shown and ranked.

import billboards as bb
suite = bb.open_suite("suite.toml")
suite.run(add=["my_metric.py"])
suite.rank()
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Literal

from billboards.analyses._analysis import Result
from billboards.analyses._labels import relabelled
from billboards.analyses.suite.advice import Advice, Question, advice_tables, advice_words, advise
from billboards.analyses.suite.checked_boards import OpenBoard, open_boards
from billboards.analyses.suite.chosen import Chosen, choose_metrics, row_name
from billboards.analyses.suite.evidence import (
    Cost,
    Evidence,
    gather_evidence,
    language_code,
    task_of,
    with_imported,
    with_present,
)
from billboards.analyses.suite.keeping import Kept, keep_results, kept_document
from billboards.analyses.suite.metric_ranking import rank_suite
from billboards.analyses.suite.metric_report import SHOWN, report_metric
from billboards.analyses.suite.missing_scores import SuiteScoring, score_suite
from billboards.analyses.suite.page import suite_html
from billboards.analyses.suite.people import SuitePeople, rank_suite_by_people, suite_people_table
from billboards.analyses.suite.report_checks import check_metric
from billboards.analyses.suite.report_results import MetricReport
from billboards.analyses.suite.report_tables import metric_report_tables, metric_report_words
from billboards.analyses.suite.results import (
    KENDALL,
    PEARSON,
    Block,
    PreferencesIn,
    Role,
    Suite,
    SuiteBoard,
    SuiteRanking,
    SuiteResult,
    SuiteStatistic,
    measure_key,
)
from billboards.analyses.suite.settings import read_suite
from billboards.analyses.suite.shown_tables import STATISTICS, Shown, suite_ranking_table, suite_tables
from billboards.analyses.suite.tables import DRAWS, measure_suite
from billboards.board.missing_cells import Progress
from billboards.errors import InvalidInput, NotEnoughData, UnknownName
from billboards.metrics.discovery import Spec, is_name, metric, specs_listed
from billboards.run.local import executor
from billboards.saving import save_file
from billboards.show.documents import document_of
from billboards.stats.preferences import Ties
from billboards.stats.significance import Sides
from billboards.stats.yardsticks import preset as yardstick_preset
from billboards.stats.yardsticks import yardstick

#: Boards of one group, such as the languages of a campaign: one column together, or columns of their own.
Languages = Literal["one", "columns"]


@dataclass(frozen=True)
class SuiteRun:
    """What a run did, and what the suite says now."""

    scoring: SuiteScoring
    kept: Kept
    path: Path | None


@dataclass(frozen=True, kw_only=True)
class SuiteViews:
    """The tasks, languages and dimensions of a suite's boards, each once."""

    tasks: tuple[str, ...]
    languages: tuple[str, ...]
    dimensions: tuple[str, ...]


@dataclass(frozen=True)
class OpenSuite:
    """A suite whose boards are open; `metrics` says what is judged instead of the suite's own."""

    suite: Suite
    boards: tuple[OpenBoard, ...]
    metrics: tuple[Spec, ...] = ()
    #: The metrics as each board runs them, where somebody has chosen them already.
    rows: tuple[Chosen, ...] = ()
    #: The suite's boards that are left out here.
    left_out: tuple[OpenBoard, ...] = ()

    def measured(
        self,
        preset: str | None = None,
        statistics: str | Sequence[str] = (),
        *,
        grouping: str | None = None,
        ties: Ties | None = None,
        preferences: PreferencesIn | None = None,
        languages: Languages | None = None,
    ) -> OpenSuite:
        """The same suite, measured otherwise; what isn't said stays as the suite's file has it.

        preset: how a community reports, as in "summeval" or "wmt24" (`billboards.stats.yardsticks.PRESETS`).
        statistics: instead of a preset: "spearman", "kendall-c/by-item", "spa", … or several of them.
        grouping: of statistics that don't say theirs: pooled, by-item, by-system or system-level.
        ties: what a pair counts that a metric ties: wrong (as in WMT), half, or left-out.
        preferences: whether preferences stay "apart" from means of correlations or are "mixed" into them.
        languages: whether boards of one group make "one" column or have "columns" of their own.
        """
        named = [statistics] if isinstance(statistics, str) else list(statistics)
        if preset is not None and named:
            raise InvalidInput("name a preset or statistics, not both")
        suite = self.suite
        if preset is not None:
            suite = replace(suite, preset=preset, yardsticks=yardstick_preset(preset).yardsticks)
        elif named or grouping is not None:
            chosen = tuple(dict.fromkeys(yardstick(name, grouping) for name in named or ["pearson"]))
            suite = replace(suite, preset=None, yardsticks=chosen)
        suite = replace(suite, ties=ties or suite.ties, preferences=preferences or suite.preferences)
        if languages != "columns":
            return replace(self, suite=suite)
        apart = tuple(replace(member, entry=replace(member.entry, group=None)) for member in self.boards)
        return replace(self, suite=suite, boards=apart)

    @property
    def views(self) -> SuiteViews:
        """What the suite can be narrowed to."""
        return SuiteViews(
            tasks=_each_once(map(_task, self.boards)),
            languages=_each_once(map(_language, self.boards)),
            dimensions=_each_once(name for member in self.boards for name, _ in member.dimensions),
        )

    def only(self, *, task: str | None = None, language: str | None = None, dimension: str | None = None) -> OpenSuite:
        """The same suite on some of its boards; every average and ranking is then over these alone.

        task: boards of this task, as the suite's file or the board's data card calls it.
        language: boards whose outputs are in this language, as in "de".
        dimension: boards that have this dimension or aggregate, which then is the only column of each and what ranks.
        """
        boards = self.boards
        for what, wanted, of, names in (
            ("task", task, _task, self.views.tasks),
            ("language", language, _language, self.views.languages),
        ):
            if wanted is not None:
                if wanted not in names:
                    raise UnknownName(f"{what} of suite {self.suite.name}", wanted, names)
                boards = tuple(member for member in boards if of(member) == wanted)
        if dimension is not None:
            if dimension not in self.views.dimensions:
                raise UnknownName(f"dimension of suite {self.suite.name}", dimension, self.views.dimensions)
            having = [member for member in boards if dimension in dict(member.dimensions)]
            boards = tuple(replace(member, correctness=(dimension,), others=()) for member in having)
        if not boards:
            raise NotEnoughData(f"suite {self.suite.name} has no board of that task, language and dimension together")
        kept = {member.key for member in boards}
        left_out = tuple(member for member in self.boards if member.key not in kept)
        return replace(self, boards=boards, left_out=(*self.left_out, *left_out))

    def judging(self, metrics: Spec | Sequence[Spec] | None = None, add: Spec | Sequence[Spec] = ()) -> OpenSuite:
        """The same suite for other metrics: these instead of its own, and some, such as Python files, beside them."""
        own = tuple(spec if is_name(spec) else metric(spec) for spec in specs_listed(add))
        named = specs_listed(metrics or self.metrics or self.suite.metrics)
        if own and not named:
            named = tuple(row.name for row in choose_metrics(self.suite, self.boards, left_out=self.left_out))
        return replace(self, metrics=(*named, *own), rows=())

    @cached_property
    def chosen(self) -> tuple[Chosen, ...]:
        """The metrics, each as it runs on each board."""
        return self.rows or choose_metrics(self.suite, self.boards, self.metrics or None, left_out=self.left_out)

    @property
    def labels(self) -> dict[str, str]:
        """What heads the rows of metrics whose name says too little."""
        each = {row.name: [m for m in row.on.values() if m.label != m.name] for row in self.chosen}
        return {name: metrics[0].label for name, metrics in each.items() if len({m.label for m in metrics}) == 1}

    def score(self, *, jobs: int = 1, on_progress: Callable[[Progress], None] | None = None) -> SuiteScoring:
        """Compute every score that is missing, on every board."""
        return score_suite(self.boards, self.chosen, executor(jobs), on_progress=on_progress)

    def run(
        self,
        metrics: Spec | Sequence[Spec] | None = None,
        *,
        add: Spec | Sequence[Spec] = (),
        jobs: int = 1,
        draws: int = DRAWS,
        seed: int = 0,
        sides: Sides = "two",
        on_progress: Callable[[Progress], None] | None = None,
    ) -> Result[SuiteRun]:
        """Score what is missing, measure everything, and keep both tables and the ranking beside the suite's file."""
        own = self.judging(metrics, add)
        scoring = own.score(jobs=jobs, on_progress=on_progress)
        result = own.tables(draws=draws, seed=seed).value
        result = replace(result, missing={**result.missing, **scoring.failures})
        rankings = own.rankings(draws=draws, seed=seed, sides=sides)
        evidence = own.evidence(imported=not specs_listed(metrics or self.metrics), draws=draws, seed=seed)
        kept = Kept(result, rankings, evidence if evidence.boards else None)
        path = keep_results(self.suite, kept) if self.suite.path is not None else None
        headed = relabelled(Kept(result, rankings), own.labels)
        shown = (*suite_tables(headed.result), *map(suite_ranking_table, headed.rankings))
        return Result(value=SuiteRun(scoring, kept, path), tables=shown, document=kept_document(kept))

    def tables(
        self, statistic: SuiteStatistic | None = None, shown: Shown = "values", *, draws: int = DRAWS, seed: int = 0
    ) -> Result[SuiteResult]:
        """Both tables from the scores that there are: correctness, and the other dimensions.

        statistic: what they show, as in "kendall" or "spearman/by-item" (default: what the suite names).
        shown: "values", "p" or "intervals".
        """
        if statistic is not None and statistic not in STATISTICS:
            how = yardstick(statistic)
            statistic = measure_key(how)
            if how not in (PEARSON, KENDALL, *self.suite.yardsticks):
                added = replace(self.suite, yardsticks=(*self.suite.yardsticks, how))
                return replace(self, suite=added).tables(statistic, shown, draws=draws, seed=seed)
        result = measure_suite(self.suite, self.boards, self.chosen, draws=draws, seed=seed)
        tables = suite_tables(relabelled(result, self.labels), statistic, shown)
        return Result(value=result, tables=tables, document=document_of(result))

    def rank(
        self,
        role: Role = "correctness",
        block: Block = "all",
        *,
        draws: int = DRAWS,
        seed: int = 0,
        sides: Sides = "two",
    ) -> Result[SuiteRanking]:
        """One ranking of metrics over all boards, with clusters; tests ask whether two metrics differ, or (one side)
        whether the better one is."""
        ranking = rank_suite(
            self.suite, self.boards, self.chosen, role=role, block=block, draws=draws, seed=seed, sides=sides
        )
        table = suite_ranking_table(relabelled(ranking, self.labels))
        return Result(value=ranking, tables=(table,), document=document_of(ranking))

    def people(self, *, draws: int = DRAWS, seed: int = 0, sides: Sides = "two") -> Result[SuitePeople]:
        """Every board's generators by what people said, with intervals and clusters; no scores are needed."""
        result = rank_suite_by_people(self.suite, self.boards, draws=draws, seed=seed, sides=sides)
        return Result(value=result, tables=(suite_people_table(result),), document=document_of(result))

    def rankings(self, *, draws: int = DRAWS, seed: int = 0, sides: Sides = "two") -> tuple[SuiteRanking, ...]:
        """The ranking by correctness with all references, where any metric has scores on every board."""
        try:
            return (self.rank(draws=draws, seed=seed, sides=sides).value,)
        except NotEnoughData:
            return ()

    def evidence(self, *, imported: bool = True, draws: int = DRAWS, seed: int = 0) -> Evidence:
        """How far metrics agree with people on every board, from the scores that there are.

        imported: whether other metrics count, too, whose scores came with the boards.
        """
        rows = with_imported(self.suite, self.boards, self.chosen) if imported else self.chosen
        return gather_evidence(self.suite, self.boards, rows, draws=draws, seed=seed)

    def advise(
        self,
        task: str | None = None,
        language: str | None = None,
        *,
        references: bool = True,
        cost: Cost | None = None,
        board: str | None = None,
        imported: bool = True,
        draws: int = DRAWS,
        seed: int = 0,
    ) -> Result[Advice]:
        """Which metric to use for a task and a language, also where no board has judgments of them.

        task: as in "summarization" (default: any).
        language: of the outputs, as in "de" (default: any).
        references: whether there will be references.
        cost: the most that a metric may take: "instant", "slow", "gpu" or "paid" (default: any).
        board: a board of the suite, by its label, instead of task and language: what was measured there counts, too.
        imported: whether metrics beside the suite's count, whose scores came with the boards.
        draws: resamplings behind the errors of agreements.
        seed: the seed of what is random.

        Example:

            print(bb.open_suite("suite.toml").advise("summarization", "de", cost="instant"))
        """
        question = Question(task=task, language=language, references=references, cost=cost, board=board)
        advice = advise(self.evidence(imported=imported, draws=draws, seed=seed), question, seed=seed)
        shown = relabelled(advice, self.labels)
        return Result(
            value=advice, tables=advice_tables(shown), document=document_of(advice), words=advice_words(shown)
        )

    def report_metric(
        self,
        name: Spec,
        *,
        metrics: Spec | Sequence[Spec] | None = None,
        jobs: int = 1,
        draws: int = DRAWS,
        seed: int = 0,
        sides: Sides = "two",
        shown: int = SHOWN,
        imported: bool = True,
        audit: bool = False,
        challenge: bool = False,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> Result[MetricReport]:
        """One metric over all boards, beside the suite's or these; what is missing is scored first.

        metrics: those to compare with (default: the suite's and, on each board, every column that `rank` knows).
        shown: outputs of each kind and board on which it fails worst.
        imported: whether columns that came with boards are compared, too; without them, and where metrics are named,
        only the outputs that all metrics have scored count.
        audit, challenge: whether to audit and challenge the metric on every board as well, which takes longer.
        """
        own = self.judging(metrics, () if is_name(name) else (name,))
        rows = [row.name for row in own.chosen]
        asked = name if is_name(name) and name in rows else row_name(name, metric(name))
        if asked not in rows:
            own = replace(own, metrics=(*(own.metrics or rows), asked))
        own.score(jobs=jobs, on_progress=on_progress)
        rows_compared = with_present(own.suite, own.boards, own.chosen) if imported and not metrics else own.chosen
        among = [row.name for row in own.chosen] if metrics else None
        report = report_metric(
            own.suite,
            own.boards,
            rows_compared,
            asked,
            sides=sides,
            draws=draws,
            seed=seed,
            shown=shown,
            ranked=imported,
            among=among,
        )
        checks = tuple(check_metric(own.boards, report, name, audit=audit, challenge=challenge, seed=seed))
        report = replace(report, checks=checks)
        headed = relabelled(report, own.labels)
        return Result(
            value=report,
            tables=metric_report_tables(headed),
            document=document_of(report),
            words=metric_report_words(headed),
        )

    def report(self, path: str | Path, *, draws: int = DRAWS, seed: int = 0) -> Path:
        """One self-contained HTML page about the suite, from the scores that there are."""
        page = suite_html(self.tables(draws=draws, seed=seed).value, self.rankings(draws=draws, seed=seed))
        return save_file(path, page)


def _task(member: OpenBoard) -> str | None:
    return task_of(member.entry.task or member.board.card.task)


def _language(member: OpenBoard) -> str | None:
    return language_code(member.board.output_language)


def _each_once(names: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in names if name))


def open_suite(path: str | Path) -> OpenSuite:
    """The suite in a TOML file, with its boards.

    path: the suite's file

    Example:

        bb.open_suite("suite.toml")
    """
    return opened(read_suite(path))


def suite_of(folders: Sequence[str | Path], *, name: str = "boards") -> OpenSuite:
    """A suite of board folders without a file: what each board ranks by counts as correctness."""
    return opened(Suite(name, tuple(SuiteBoard(Path(folder).absolute()) for folder in folders)))


def opened(suite: Suite) -> OpenSuite:
    """A suite with its boards."""
    return OpenSuite(suite, open_boards(suite))
