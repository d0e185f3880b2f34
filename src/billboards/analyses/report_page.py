"""One self-contained HTML page that says everything a board says: its facts, its sections, and how they were made.

A section whose result is not given is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from importlib import metadata

from billboards.analyses.audit.results import MetricAudit
from billboards.analyses.comparison_results import Sensitivity
from billboards.analyses.documents import dumps, ranking_document
from billboards.analyses.findings import citation, findings
from billboards.analyses.ranking_results import EnsembleStudy, OverratingReport, Ranking, ReferenceEffect
from billboards.analyses.ranking_tables import generator_table, resampled_text, statistic_name
from billboards.analyses.report_sections import (
    JudgedScores,
    audits_section,
    ensemble_section,
    metrics_section,
    overrating_section,
    references_section,
    sensitivity_section,
    studies_sections,
    swaps_section,
)
from billboards.analyses.study_results import BoardStudies
from billboards.board import Board
from billboards.show.page import data_uri, rendered
from billboards.show.table import Table, TableColumn
from billboards.show.words import one_line, value_text


def report_html(
    ranking: Ranking,
    *,
    board: Board | None = None,
    study: EnsembleStudy | None = None,
    overrating: OverratingReport | None = None,
    references: ReferenceEffect | None = None,
    judged: JudgedScores | None = None,
    sensitivity: Sensitivity | None = None,
    studies: BoardStudies | None = None,
    audits: Sequence[MetricAudit] = (),
    versions: Mapping[str, str] | None = None,
) -> str:
    """The report on a ranking, with a section for each further result that is given."""
    return rendered(
        "report.html.j2",
        ranking=ranking,
        title=_title(ranking, board),
        facts=_facts(ranking, board),
        findings=findings(ranking, overrating),
        metrics=metrics_section(ranking, judged),
        sensitivity=sensitivity_section(sensitivity),
        generators=generator_table(ranking),
        swaps=swaps_section(ranking),
        ensemble=ensemble_section(ranking, study),
        overrating=overrating_section(overrating),
        references=references_section(references),
        studies=studies_sections(studies),
        audits=audits_section(audits),
        card=_card(board),
        settings=_settings(ranking, versions or {"billboards": metadata.version("billboards")}),
        signatures=_signatures(ranking),
        citation=citation(ranking),
        download=data_uri("application/json", dumps(ranking_document(ranking))),
    )


def _title(ranking: Ranking, board: Board | None) -> str:
    return one_line((board and board.card.title) or ranking.board)


def _facts(ranking: Ranking, board: Board | None) -> list[tuple[str, str]]:
    """The board in figures; what can be counted is counted."""
    people = sum(standing.kind == "human" for standing in ranking.generators)
    real = sum(standing.kind != "optimised" for standing in ranking.generators)
    judged = sum(standing.judged for standing in ranking.generators)
    counted = [
        ("generators", f"{real}" + (f", {people} of them human" if people else "")),
        ("metrics", f"{len(ranking.metrics)}"),
        ("judged outputs", value_text(judged)),
        ("references", ", ".join(map(one_line, ranking.references)) or "none"),
        ("part", one_line(ranking.part)),
        ("board version", ranking.board_version),
    ]
    return counted if board is None else [("instances", value_text(len(board.instances))), *counted]


def _card(board: Board | None) -> list[tuple[str, str]]:
    """The data card, with what its owner did not state said to be missing."""
    if board is None:
        return []
    stated = [(f.name, getattr(board.card, f.name)) for f in fields(board.card)]
    languages = [("input language", board.input_language), ("output language", board.output_language)]
    judged = [(f"dimension {name}", dimension.definition) for name, dimension in board.dimensions.items()]
    return [(name, text or "not stated") for name, text in (*stated, *languages, *judged) if text or name != "comments"]


def _settings(ranking: Ranking, versions: Mapping[str, str]) -> list[tuple[str, str]]:
    drawn = resampled_text(ranking.resampled)
    return [
        ("statistic", statistic_name(ranking)),
        ("grouping", ranking.grouping),
        ("judgments", ranking.aggregate),
        ("intervals", f"95%, from {value_text(ranking.draws)} resamplings of {drawn}" if ranking.draws else "none"),
        ("seed", str(ranking.seed)),
        *versions.items(),
    ]


def _signatures(ranking: Ranking) -> Table:
    columns = (TableColumn("name", "metric", "left"), TableColumn("signature", "signature", "left"))
    rows = tuple({"name": m.name, "signature": m.signature} for m in ranking.metrics)
    return Table("Signatures of the metrics", columns, rows)
