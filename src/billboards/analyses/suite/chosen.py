"""The metrics that a suite judges, each as it is run on each board.

A row of the tables bears the name under which a metric was asked for. What stands for it on a board may differ: a
tokenizer of the board's language, or what the suite's file says under `instead`. A metric that can't run here, or not
in a board's language, is left out there, with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from billboards.analyses.suite.checked_boards import OpenBoard
from billboards.analyses.suite.languages import language_mistake, spec_for
from billboards.analyses.suite.results import Block, Suite
from billboards.errors import InvalidInput, MissingPart
from billboards.metrics.base import Metric
from billboards.metrics.discovery import Spec, canonical, is_name, metric, metric_names, refuse_files, specs_listed


@dataclass(frozen=True)
class Chosen:
    """One row's metric: what runs on each board, by the board's name, and why nothing does on others."""

    name: str
    on: Mapping[str, Metric]
    missing: Mapping[str, str] = field(default_factory=dict)
    is_statistic: bool = False
    needs_references: bool = True

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks that the metric has rows in."""
        return ("all", "one") if self.needs_references else ("none",)

    @property
    def substitutes(self) -> dict[str, str]:
        """What stands in for the metric, by board."""
        return {board: metric.full_name for board, metric in self.on.items() if metric.full_name != self.name}


def choose_metrics(
    suite: Suite,
    boards: Sequence[OpenBoard],
    asked: Spec | Sequence[Spec] | None = None,
    *,
    left_out: Sequence[OpenBoard] = (),
) -> tuple[Chosen, ...]:
    """The metrics asked for, else the suite's, else all that its boards name; each name once.

    left_out: the suite's boards that nothing is asked of, with which scores of a metric may have come.
    """
    specs: list[Spec] = [*specs_listed(asked or suite.metrics)]
    if not specs:
        specs = [*dict.fromkeys(name for opened in boards for name in opened.board.metrics)]
        for name in specs:
            refuse_files(str(name))
    if not specs:
        raise InvalidInput(
            f'suite {suite.name} names no metrics; add `metrics = ["ROUGE-1"]` to its file or use --metric'
        )
    chosen = [_chosen(spec, boards, left_out) for spec in specs]
    return tuple({row.name: row for row in chosen}.values())


def _chosen(asked: Spec, boards: Sequence[OpenBoard], left_out: Sequence[OpenBoard]) -> Chosen:
    if isinstance(asked, str) and (imported := _only_imported(asked, boards, left_out)) is not None:
        return imported
    base = metric(asked)
    is_made = isinstance(asked, Metric)
    name = row_name(asked, base)
    made: dict[str, Metric] = {}
    on: dict[str, Metric] = {}
    missing: dict[str, str] = {}
    for member in boards:
        language = member.board.output_language
        spec = _spec(asked, name, member) if is_name(asked) else name
        stands_in = base if spec == name else made.setdefault(spec, metric(spec))
        stands_in = stands_in if is_made else stands_in.for_language(language)
        reason = language_mistake(stands_in, language) or _unfit(stands_in, member) or _absent(stands_in)
        if reason is None:
            on[member.key] = stands_in
        else:
            missing[member.key] = reason
    return Chosen(name, on, missing, base.card.is_statistic, base.card.needs_references)


def _only_imported(name: str, boards: Sequence[OpenBoard], left_out: Sequence[OpenBoard]) -> Chosen | None:
    """A metric that nobody can run here, but whose scores came with a board."""
    every = (*boards, *left_out)
    columns = [column for member in every for column in member.columns if name in (column.name, column.source_name)]
    if name in metric_names() or not columns:
        return None
    missing = dict.fromkeys((member.key for member in boards), "it came with other boards and can't be run here")
    return Chosen(name, {}, missing, columns[0].is_statistic, columns[0].needs_references)


def row_name(asked: Spec, base: Metric) -> str:
    """A name as its metric writes it; an option that was written stays, also where it says what is usual."""
    written = canonical(asked) if is_name(asked) else base.name
    return base.name if written.replace(" ", "").casefold() == base.name.replace(" ", "").casefold() else written


def _spec(asked: str, name: str, member: OpenBoard) -> str:
    instead = member.entry.instead
    return instead.get(asked) or instead.get(name) or spec_for(name, member.board.output_language)


def _unfit(metric: Metric, member: OpenBoard) -> str | None:
    """Why a statistic of the input's words says nothing on a board: it has none to count."""
    instances = member.board.instances
    if metric.card.is_statistic and metric.card.needs_input and not any(i.input is not None for i in instances):
        return "counts words of the input, and there the inputs are " + _kind(member)
    return None


def _kind(member: OpenBoard) -> str:
    return "images" if any(i.image is not None for i in member.board.instances) else "not given"


def _absent(metric: Metric) -> str | None:
    """Why a metric can't run on this machine: to sign, it looks for the parts that it needs."""
    try:
        _ = metric.signature
    except MissingPart as error:
        return str(error)
    return None
