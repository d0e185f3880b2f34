"""Rankings as papers print them: several boards with a row each, and generators with one score each.

The layout is that of Billboards' Table 1 and Tables 6 to 9.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from billboards.analyses._people import PEOPLE
from billboards.analyses.rank import Ranking, leader_name, leading_value, metric_mark
from billboards.show.table import HUMAN, NOTES, MarkNotes, Table, TableColumn, column_digits, finite


def summary_table(rankings: Sequence[Ranking]) -> Table:
    """Several boards, a row each, as in the paper's Table 1."""
    columns = (
        TableColumn("board", "Dataset", "left"),
        TableColumn("generators", "generators"),
        TableColumn("metrics", "metrics"),
        TableColumn("top_generator", "Top Gen.", "left"),
        TableColumn("top_metric", "Top Metric", "left", kind="name"),
        TableColumn("correlation", "Corr.", digits=2),
        TableColumn("combination", "Linear Combination", "left"),
        TableColumn("ensemble_correlation", "Corr.", digits=2),
    )
    notes = MarkNotes()
    rows = tuple(_summary_row(ranking, notes) for ranking in rankings)
    return Table("Summary of the boards", columns, rows, notes.texts())


def score_table(ranking: Ranking, descriptions: Mapping[str, str] | None = None) -> Table:
    """Generators with only the score that ranks them, as in the paper's Tables 6 to 9."""
    scored = [g for g in ranking.generators if g.rank is not None]
    rows = tuple(
        {
            "name": g.name,
            "description": (descriptions or {}).get(g.name),
            "score": finite(leading_value(ranking, g)),
            "mark": HUMAN if g.kind == "human" else "",
        }
        for g in scored
    )
    columns = (
        TableColumn("name", "Generator", "left", kind="name"),
        TableColumn("description", "Description", "left", visible=descriptions is not None),
        TableColumn("score", "Score", digits=column_digits(rows, "score")),
    )
    notes = (NOTES[HUMAN],) if any(row["mark"] for row in rows) else ()
    what = "mean of what people said" if ranking.ranked_by == PEOPLE else "from the metric that ranks"
    title = f"{ranking.board} generators. The score is {what} ({leader_name(ranking) or 'none yet'})."
    return Table(title, columns, rows, notes)


def _summary_row(ranking: Ranking, notes: MarkNotes) -> Mapping[str, object]:
    metrics = [m for m in ranking.metrics if not m.is_statistic]
    best = next((m for m in metrics if m.rank == 1), None)
    ensemble = ranking.ensemble
    return {
        "board": ranking.board,
        "generators": sum(g.kind == "machine" for g in ranking.generators),
        "metrics": len(metrics),
        "top_generator": next((g.name for g in ranking.generators if g.rank == 1), None),
        "top_metric": None if best is None else best.name,
        "mark": "" if best is None else notes.mark(metric_mark(best)),
        "correlation": None if best is None else finite(best.correlation),
        "combination": None if ensemble is None else ensemble.formula,
        "ensemble_correlation": None if ensemble is None else finite(ensemble.correlation),
    }
