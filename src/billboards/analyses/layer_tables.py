"""The layers of a model as a table: which one agrees best with people."""

from __future__ import annotations

from billboards.analyses.layers import LayerStudy
from billboards.show.table import Table, TableColumn


def layers_table(study: LayerStudy) -> Table:
    """Correlations of P, R and F1 with people, layer by layer."""
    columns = (
        TableColumn("layer", "layer"),
        TableColumn("precision", "P", digits=3),
        TableColumn("recall", "R", digits=3),
        TableColumn("f1", "F1", digits=3),
        TableColumn("interval", "95% interval of F1", digits=3, kind="interval"),
        TableColumn("best", "", "left"),
    )
    rows = tuple(
        {
            "layer": one.layer,
            "precision": one.precision,
            "recall": one.recall,
            "f1": one.f1,
            "interval": one.interval,
            "best": "best" if one.layer == study.best else "",
        }
        for one in study.layers
    )
    weighting = ", idf" if study.idf else ""
    title = f"{study.board}: BERTScore by layer of {study.model}{weighting} ({study.aggregate})"
    facts = (
        f"Pearson with people over {study.n:,} outputs, references {', '.join(study.references)}; part: {study.part}.",
        "The best of several layers looks better here than it will elsewhere.",
    )
    return Table(title, columns, rows, facts)
