"""The metrics page holds the card of every metric of this package, as the metric itself states it."""

from __future__ import annotations

import re
from pathlib import Path

from billboards.metrics.cards import markdown
from billboards.metrics.discovery import metric, metric_class, metric_names

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "metrics.md").read_text("utf-8")


def own_metrics() -> list[str]:
    return [name for name in metric_names() if metric_class(name).__module__.startswith("billboards.")]


def test_every_metric_has_its_card_on_the_page_word_for_word() -> None:
    cards = PAGE.partition("## Cards\n\n")[2]
    assert cards == markdown(map(metric, own_metrics())), "write them anew with `python tools/metric_cards.py`"


def test_every_script_and_test_that_the_page_names_is_there() -> None:
    named = re.findall(r"`((?:benchmarks|tests)/[\w/]+\.py)`", PAGE)
    assert len(named) >= 5
    assert [path for path in named if not (ROOT / path).is_file()] == []
