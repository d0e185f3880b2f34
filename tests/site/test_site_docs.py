"""The owner's page explains every setting and every state there is."""

from __future__ import annotations

import re
from inspect import signature
from pathlib import Path

from billboards.site.admin.notices import ATTEMPTS, FIRST_WAIT, SIGNATURE
from billboards.site.settings import (
    MAIL_PASSWORD,
    OIDC_SECRET,
    AccountSettings,
    BoardSettings,
    CatalogueSettings,
    MailSettings,
    MetricSettings,
    OidcSettings,
    Phase,
    RetentionSettings,
    SiteSettings,
)
from billboards.site.submissions import routes
from billboards.site.submissions.records import TRANSITIONS

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "running-a-site.md").read_text("utf-8")


def test_every_setting_is_explained() -> None:
    words = set(re.findall(r"`\[?([\w]+)\]?`", PAGE))
    tables = (MailSettings, OidcSettings, AccountSettings, RetentionSettings, MetricSettings, CatalogueSettings)
    for kind in (BoardSettings, Phase, SiteSettings, *tables):
        assert kind.model_fields.keys() - words == set(), kind.__name__
    assert {MAIL_PASSWORD, OIDC_SECRET} <= words


def test_every_state_is_named() -> None:
    assert [state for state in TRANSITIONS if state not in PAGE] == []


def test_the_numbers_of_the_page_are_the_programs() -> None:
    assert SIGNATURE in PAGE
    assert f"after {FIRST_WAIT:.0f} seconds" in PAGE
    assert {8: "eight"}[ATTEMPTS] in PAGE
    assert f"| {SiteSettings().lease_seconds:.0f}, {SiteSettings().attempts} |" in PAGE


def test_every_field_of_a_submission_is_explained() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "http-interface.md").read_text("utf-8")
    section = page.split("## Fields of a submission")[1].split("\n## ")[0]
    for sending in (routes.submit_generator, routes.submit_metric, routes.submit_scores):
        fields = signature(sending).parameters.keys() - {"request", "response", "board", "viewer"}
        assert {field for field in fields if f"`{field}`" not in section} == set(), sending.__name__
