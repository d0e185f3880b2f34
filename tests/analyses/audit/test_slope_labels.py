"""The names at both sides of the chart that sets a metric's order of machines against people's."""

from __future__ import annotations

from itertools import pairwise

from billboards.analyses.audit.plots import _labels


def test_both_sides_name_people_the_optimised_output_and_the_first_and_last_machine() -> None:
    values = {"low": 0.0, "middle": 1.0, "high": 2.0, "people": 2.05, "made for it": 4.0}
    roles = {"people": "people", "made for it": "optimised"}
    ends = [
        {"side": side, "value": value if side == 0 else 4.0 - value, "name": name, "role": roles.get(name, "machine")}
        for side in (0, 1)
        for name, value in values.items()
    ]
    labels = _labels(ends)
    named = {side: [label["name"] for label in labels if label["side"] == side] for side in (0, 1)}
    assert named == {0: ["low", "high", "people", "made for it"], 1: ["made for it", "people", "high", "low"]}
    for side in (0, 1):
        places = [label["value"] for label in labels if label["side"] == side]
        assert places == sorted(places)
        assert min(high - low for low, high in pairwise(places)) > 0.2, "kept apart"
