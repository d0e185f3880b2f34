"""What a chart says and which data it draws."""

from __future__ import annotations

from typing import Any


def data_of(chart: Any) -> list[dict[str, Any]]:
    """The rows of a chart's largest data set."""
    return max(data_sets(chart), key=len)


def data_sets(chart: Any) -> list[list[dict[str, Any]]]:
    return list(chart.to_dict(validate=False)["datasets"].values())


def title_of(chart: Any) -> str:
    return " ".join(chart.title.text)


def subtitle_of(chart: Any) -> str:
    return " ".join(chart.title.subtitle)
