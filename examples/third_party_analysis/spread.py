"""How far apart a metric puts the generators."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from billboards.analyses import Table, TableColumn, View, analysis


@dataclass(frozen=True, kw_only=True)
class Spread:
    """A metric's lowest and highest mean over the generators."""

    metric: str
    lowest: float
    highest: float


@analysis()
def spread(view: View, *, metric: Annotated[str, "the metric to look at"] = "chrF") -> Spread:
    """How far apart does a metric put the generators?"""
    means = np.nanmean(view.matrix().scores.of(metric), axis=1)
    return Spread(metric=metric, lowest=float(np.nanmin(means)), highest=float(np.nanmax(means)))


@spread.table
def _table(result: Spread) -> Table:
    columns = (
        TableColumn("metric", "metric", "left"),
        TableColumn("lowest", "lowest"),
        TableColumn("highest", "highest"),
    )
    return Table(f"Spread of {result.metric}", columns, (vars(result),))


@spread.words
def _words(result: Spread) -> list[str]:
    return [f"{result.metric} puts the generators {result.highest - result.lowest:.2f} apart."]
