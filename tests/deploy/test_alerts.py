"""Alerts, the dashboard and the runbook speak of metrics that there are, and of one another."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from api_sites import small_site
from fastapi.testclient import TestClient

from billboards.site.web.app import create_app

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"


def rules() -> list[dict[str, Any]]:
    document = yaml.safe_load((DEPLOY / "alerts.yml").read_text("utf-8"))
    return [rule for group in document["groups"] for rule in group["rules"]]


def panels() -> list[dict[str, Any]]:
    document: dict[str, Any] = json.loads((DEPLOY / "grafana.json").read_text("utf-8"))
    return list(document["panels"])


def expressions() -> Iterator[str]:
    yield from (rule["expr"] for rule in rules())
    yield from (target["expr"] for panel in panels() for target in panel["targets"])


def names(expression: str) -> set[str]:
    return set(re.findall(r"\bbillboards_\w+", expression))


@pytest.fixture(scope="module")
def metrics(tmp_path_factory: pytest.TempPathFactory) -> str:
    """What a site with a ranking and a submission says at /metrics."""
    small = small_site(tmp_path_factory.mktemp("site"))
    small.submit()
    small.work()
    client = TestClient(create_app(small.site), client=("127.0.0.1", 50_000))
    client.get("/health")
    return client.get("/metrics").text


@pytest.mark.long
def test_every_expression_asks_for_metrics_that_there_are(metrics: str) -> None:
    samples = set(re.findall(r"^(billboards_\w+)[{ ]", metrics, re.MULTILINE))
    asked = set().union(*map(names, expressions()))
    assert len(asked) > 15
    assert asked <= samples


def test_every_label_that_an_expression_goes_by_is_one_of_its_metrics(metrics: str) -> None:
    for expression in expressions():
        for name, inside in re.findall(r"(billboards_\w+)\{([^}]*)\}", expression):
            lines = [line for line in metrics.splitlines() if line.startswith(f"{name}{{")]
            for label, relation, value in re.findall(r'(\w+)(=~?)"([^"]*)"', inside):
                values = {found for line in lines for found in re.findall(rf'{label}="([^"]*)"', line)}
                assert values, f"{name} has no label {label}"
                assert relation == "=~" or value in values, f"{name} is never {label}={value}"


def test_every_alert_has_a_runbook_entry_and_every_entry_an_alert() -> None:
    text = (ROOT / "docs" / "runbook.md").read_text("utf-8")
    entries = re.findall(r"^## (\w+)$", text, re.MULTILINE)
    assert [rule["alert"] for rule in rules()] == entries
    for rule in rules():
        assert rule["annotations"]["runbook"] == f"docs/runbook.md#{rule['alert'].lower()}"
        assert rule["labels"]["severity"] in ("page", "ticket")
        body = text.partition(f"## {rule['alert']}\n")[2].partition("\n## ")[0]
        assert re.search(r"^1\. ", body, re.MULTILINE), f"{rule['alert']}: nothing to do"


def test_every_metric_is_explained_and_what_must_be_watched_is_on_the_dashboard(metrics: str) -> None:
    families = set(re.findall(r"^# TYPE (billboards_\w+) ", metrics, re.MULTILINE))
    explained = names((ROOT / "docs" / "deployment.md").read_text("utf-8"))
    assert families <= explained
    shown = set().union(*(names(target["expr"]) for panel in panels() for target in panel["targets"]))
    assert families - {"billboards_info", "billboards_boards", "billboards_oldest_notice_seconds"} <= {
        re.sub(r"_bucket$", "", name) for name in shown
    } | {"billboards_database_statements_total"}


def test_panels_of_the_dashboard_lie_beside_one_another() -> None:
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels()]
    assert len(set(places)) == len(places) == len({panel["id"] for panel in panels()})
    assert max(panel["gridPos"]["x"] + panel["gridPos"]["w"] for panel in panels()) <= 24


def test_thresholds_are_those_that_the_pages_name() -> None:
    by_name = {rule["alert"]: rule for rule in rules()}
    sizing = (ROOT / "docs" / "sizing.md").read_text("utf-8")
    assert "billboards_disk_free_bytes < 5e9" in by_name["DiskFilling"]["expr"]
    assert "warns at 5 GB" in sizing
    from billboards.site.database.engine import Database

    pool: Any = Database("postgresql://nobody@127.0.0.1/none").engine.pool
    assert pool.size() + pool._max_overflow == 30
    assert "up to 30 (10 that stay open, 20 more under load)" in sizing
