"""Writes the cards of the metrics that this package installs into docs/metrics.md, below its last heading."""

from __future__ import annotations

from pathlib import Path

from billboards.metrics.cards import markdown
from billboards.metrics.discovery import metric, metric_class, metric_names

PAGE = Path(__file__).resolve().parents[1] / "docs" / "metrics.md"
HEADING = "## Cards\n\n"


def cards() -> str:
    """The cards of this package's own metrics, by name."""
    return markdown(metric(name) for name in metric_names() if metric_class(name).__module__.startswith("billboards."))


if __name__ == "__main__":
    before, heading, _ = PAGE.read_text("utf-8").partition(HEADING)
    PAGE.write_text(before + heading + cards(), "utf-8")
