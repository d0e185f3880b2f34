"""What an audit does when nobody says otherwise: which metrics, how each is attacked, and who is asked.

Every search that suits a metric is tried. All without references rerank the generators' outputs; a summary is also
extracted, where input and output share a language and inputs are long; a metric that is a model decodes; a
reference-based metric gets minimum Bayes risk; a language model writes where its user asks for that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Literal

from billboards.analyses.audit.bench import Bench
from billboards.analyses.audit.decoding import LONGEST, Decoding
from billboards.analyses.audit.extracting import Enumeration, Extraction, short_inputs
from billboards.analyses.audit.landing import FEWEST
from billboards.analyses.audit.optimised import Optimiser
from billboards.analyses.audit.reranking import PoolReranking, model_candidates, read_candidates
from billboards.analyses.audit.risk import MinimumRisk
from billboards.analyses.audit.sentences import split_sentences
from billboards.analyses.audit.subject import Subject, program, released
from billboards.analyses.audit.writing import DEFAULT_WRITTEN, Writing
from billboards.board import Board
from billboards.board.missing_cells import named_metrics
from billboards.errors import InvalidInput, MissingPart, NotEnoughData
from billboards.metrics.base import Decodes, Metric
from billboards.metrics.discovery import Spec, canonical, is_file, metric_for, metrics_named

Method = Literal["auto", "decode", "extract", "enumerate", "rerank", "risk", "write"]
#: Judges asked by default, in this order, as far as the board computes them; at most so many.
PREFERRED, MOST_JUDGES = ("ROUGE-2", "chrF", "BLEU", "METEOR", "TER"), 3
#: Pairs that a search may score beside the board's own rows, for a metric that is quick and one that isn't.
QUICK_PAIRS, SLOW_PAIRS = 1_000_000, 50_000


@dataclass(frozen=True)
class Search:
    """How to look for outputs that a metric likes."""

    method: Method = "auto"
    sentences: int = 3
    beams: int = 5
    longest: int = LONGEST
    candidates: Path | None = None
    model: str | None = None
    #: Outputs that a language model is asked to write for each instance; 0 asks none.
    written: int = 0


def default_subjects(board: Board) -> tuple[str | Metric, ...]:
    """Every reference-free metric of the board that is no statistic; of those there may be none."""
    released_ones = [c.name for c in board.imported if not (c.needs_references or c.is_ensemble or c.is_statistic)]
    own = named_metrics(board)
    programs = {
        program.name: program for program in own if not (program.card.needs_references or program.card.is_statistic)
    }
    subjects: dict[str, str | Metric] = {name: name for name in released_ones} | programs
    if not subjects:
        raise NotEnoughData(f"board {board.name} has no reference-free metric; name one to audit with --metric")
    return tuple(subjects.values())


def subject_named(board: Board, name: Spec) -> Subject:
    """A metric by name, file or function: its program where it can run here, else scores that came with the data."""
    came_along = any(name in (column.name, column.source_name) for column in board.imported)
    if isinstance(name, str) and came_along and (is_file(name) or canonical(name) != name):
        # What came with the data is meant, not what bears its name in another case, nor a file to be run.
        return released(board, name)
    try:
        made = metric_for(board.output_language, name)
        assert made.signature
    except (InvalidInput, MissingPart):
        if isinstance(name, str) and came_along:
            return released(board, name)
        raise
    return program(made)


def chosen_judges(board: Board, names: Sequence[Spec] | None) -> list[Metric]:
    """The reference-based metrics to ask: those named, or some quick ones that the board computes."""
    if names is not None:
        asked = metrics_named(names, board.output_language)
        for judge in asked:
            if not judge.card.needs_references:
                raise InvalidInput(
                    f"{judge.name} uses no references, so it can't say how good outputs are; name others"
                )
        return asked
    own = named_metrics(board)
    quick = {judge.name: judge for judge in own if judge.card.needs_references and not judge.card.slow}
    ordered = [*(name for name in PREFERRED if name in quick), *(name for name in quick if name not in PREFERRED)]
    return [quick[name] for name in ordered[:MOST_JUDGES]] or metrics_named(["ROUGE-2", "chrF"], board.output_language)


def default_budget(board: Board, subject: Subject) -> int:
    """The pairs that may be scored for a metric where nobody says: all rows ten times over, and some to search with."""
    slow = subject.metric is not None and subject.metric.card.slow
    return 10 * len(board.rows) * len(board.instances) + (SLOW_PAIRS if slow else QUICK_PAIRS)


def optimisers_for(bench: Bench, subject: Subject, search: Search) -> list[Optimiser | None]:
    """Every search that suits, or the one asked for; None stands for reranking over scores that are there."""
    if search.candidates is not None and search.model is not None:
        raise InvalidInput("candidates come from a file or from a model, not from both: give one of the two")
    if subject.metric is None:
        _check_released(subject, search)
        return [None]
    methods = _suitable(bench.board, subject.metric, search) if search.method == "auto" else (search.method,)
    if search.method != "auto" and (search.candidates is not None or search.model is not None):
        methods = ("rerank",)
    return [_optimiser(bench, method, search) for method in methods]


def _optimiser(bench: Bench, method: Method, search: Search) -> Optimiser:
    if method == "rerank" and search.candidates is not None:
        return read_candidates(search.candidates, bench.board)
    if method == "rerank" and search.model is not None:
        return model_candidates(bench, search.model, beams=search.beams, longest=search.longest)
    optimisers: dict[Method, Optimiser] = {
        "decode": Decoding(search.beams, search.longest),
        "extract": Extraction(search.sentences),
        "enumerate": Enumeration(search.sentences),
        "rerank": PoolReranking(),
        "risk": MinimumRisk(),
        "write": Writing(search.written or DEFAULT_WRITTEN),
    }
    return optimisers[method]


def _check_released(subject: Subject, search: Search) -> None:
    if search.method not in ("auto", "rerank") or search.candidates is not None or search.model is not None:
        raise InvalidInput(
            f"only scores of {subject.name} are here, and no program: they can rerank the board's own outputs, "
            "and nothing else"
        )


def _suitable(board: Board, metric: Metric, search: Search) -> tuple[Method, ...]:
    """Every method that suits, the cheapest first."""
    if metric.card.needs_references:
        return ("risk",)
    methods: list[Method] = ["rerank"]
    same = board.input_language is not None and board.input_language == board.output_language
    lengths = [len(split_sentences(instance.input)) for instance in board.instances if instance.input]
    if isinstance(metric, Decodes):
        methods.append("decode")
    if same and lengths and median(lengths) > search.sentences:
        methods.append("extract")
        if short_inputs(board, search.sentences) >= min(FEWEST, len(board.instances)):
            methods.append("enumerate")
    if search.written:
        methods.append("write")
    return tuple(methods)
