"""On a site, a reference-free metric that was sent in is audited before it may lead a ranking."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient
from small_sites import Harbour

from billboards.site.boards.live import LiveBoard, live_board
from billboards.site.boards.refresh import audit_live, find_against
from billboards.site.submissions import sending as submitting
from billboards.site.web.app import create_app
from billboards.site.work.worker import work_until_done

LIKES_NOBODY = b"def score(outputs, references, inputs):\n    return [float(len(text) < 0) for text in outputs]\n"
LIKES_SHORT = b"def score(outputs, references, inputs):\n    return [-len(text) for text in outputs]\n"
ALONE = {"higher_is_better": True, "needs": [], "training_data": "none"}


def audited(harbour: Harbour, program: bytes, name: str) -> tuple[LiveBoard, dict[str, Any]]:
    """The board with a metric that was sent in, and what it says."""
    sent = submitting.submit_metric(
        harbour.site, harbour.person("ann"), "ferry", program, name=name, manifest=ALONE
    ).submission
    work_until_done(harbour.site)
    assert harbour.now(sent).state == "scored", harbour.now(sent).reason
    live = live_board(harbour.site, "ferry")
    assert live.document is not None
    return live, live.document


@pytest.mark.long
def test_a_metric_that_rewards_short_outputs_is_flagged_and_may_not_lead(harbour: Harbour) -> None:
    submitting.change_settings(harbour.site, harbour.owner, "ferry", {"reference_free": "ranks"})
    live, document = audited(harbour, LIKES_SHORT, "short")
    said = document["audits"]["short"]
    assert (said["level"], said["method"]) == ("flagged", "rerank")
    assert said["attack"] > 0.5
    assert "short is flagged" in said["words"]
    assert find_against(live, *audit_live(live)).flagged == {"short": "is flagged by its audit"}
    assert document["ranking"]["ranked_by"] != "short"
    assert "short" not in (document["ranking"]["ensemble"] or {"weights": {}})["weights"]
    assert "short" not in (document["ranking"]["alternative"] or {"weights": {}})["weights"]
    page = TestClient(create_app(harbour.site), base_url="http://127.0.0.1").get("/boards/ferry/metrics/short").text
    assert "attack score <strong>0.75</strong>" in page
    assert "1 of 5" in page


def test_a_metric_that_no_choice_pleases_is_inconclusive_on_its_page(harbour: Harbour) -> None:
    _, document = audited(harbour, LIKES_NOBODY, "nobody")
    said = document["audits"]["nobody"]
    assert (said["level"], said["outcome"]) == ("inconclusive", "failed")
    page = TestClient(create_app(harbour.site), base_url="http://127.0.0.1").get("/boards/ferry/metrics/nobody").text
    assert "<strong>inconclusive</strong>" in page
    assert "so nothing is shown for nobody or against it" in page
    assert "a random choice, nobody" in page


def test_a_metric_that_cannot_be_audited_may_not_lead_either(harbour: Harbour) -> None:
    live = live_board(harbour.site, "ferry")
    audits, refused = audit_live(live)
    assert (audits, refused) == ({}, {})
    assert find_against(live, audits, {"unknown": "too few machines"}).barred == {}
