"""The tables of paid studies: what was put on a crowd platform, and every payment, before and after it is made."""

from __future__ import annotations

from sqlalchemy import JSON, Column, Float, ForeignKey, Index, Integer, String, Table, Text

from billboards.site.database.metadata import metadata

studies = Table(
    "studies",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("campaign_id", String(32), ForeignKey("campaigns.id"), nullable=False),
    Column("platform", String(100), nullable=False),
    Column("platform_id", String(200), nullable=False),
    Column("code", String(40), nullable=False),
    Column("items_per_place", Integer, nullable=False),
    Column("quote", JSON, nullable=False),
    Column("state", String(20), nullable=False),
    Column("created", Float, nullable=False),
    Column("changed", Float, nullable=False),
    Index("ix_studies_campaign_id", "campaign_id"),
)

payments = Table(
    "payments",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("study_id", String(32), ForeignKey("studies.id"), nullable=False),
    Column("batch_id", String(200), nullable=False),
    Column("amounts", JSON, nullable=False),
    Column("state", String(20), nullable=False),
    Column("reason", Text),
    Column("created", Float, nullable=False),
    Column("changed", Float, nullable=False),
    Index("ix_payments_study_id", "study_id"),
)
