"""Rank metrics from a data frame of one's own: one row per judged output, one column per metric, no board needed."""

from __future__ import annotations

import pandas as pd

import billboards as bb

outputs = pd.DataFrame(
    {
        "instance": ["a", "a", "a", "b", "b", "b", "c", "c", "c"],
        "human": [90, 70, 40, 85, 60, 65, 95, 50, 30],
        "overlap": [0.41, 0.38, 0.20, 0.30, 0.22, 0.29, 0.52, 0.31, None],
        "words": [12, 14, 9, 20, 18, 22, 10, 11, 7],
    }
)

# Rows of one instance are resampled together; a missing score is left out, not taken for 0.
result = bb.rank_metrics(outputs[["overlap", "words"]], outputs["human"], instances=outputs["instance"])
print(result)
print(result.to_pandas()[["name", "correlation", "interval_low", "interval_high", "n"]])
