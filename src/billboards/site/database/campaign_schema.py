"""The tables of campaigns: what is asked, of whom, and every answer that was ever given.

`answers` and `rulings` are only added to. What state an item is in stands in `assignments`: who has it, until when, and
what became of it. Who annotators really are stands in `annotators` and nowhere else; everything that leaves the site
names them by their pseudonym.
"""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    UniqueConstraint,
)

from billboards.site.database.metadata import metadata

campaigns = Table(
    "campaigns",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("board", String(200), ForeignKey("boards.name"), nullable=False),
    Column("name", String(200), nullable=False),
    Column("kind", String(20), nullable=False),
    Column("state", String(20), nullable=False),
    Column("template", Text, nullable=False),
    Column("plan", JSON, nullable=False),
    Column("generators", JSON, nullable=False),
    Column("instances", JSON, nullable=False),
    Column("rolling", Boolean, nullable=False),
    Column("ranks", Boolean, nullable=False),
    Column("joins", JSON, nullable=False),
    Column("details", JSON, nullable=False),
    Column("reason", Text),
    Column("account_id", Integer, ForeignKey("accounts.id"), nullable=False),
    Column("created", Float, nullable=False),
    Column("changed", Float, nullable=False),
    Column("opened", Float),
    Column("closed", Float),
    UniqueConstraint("board", "name"),
)

items = Table(
    "items",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("campaign_id", String(32), ForeignKey("campaigns.id"), nullable=False),
    Column("instance", Text, nullable=False),
    Column("row", String(200)),
    Column("purpose", String(20), nullable=False),
    Column("test", String(20)),
    Column("wanted", Integer, nullable=False),
    Column("part", String(200)),
    Column("shown_order", JSON, nullable=False),
    Column("slots", JSON, nullable=False),
    Index("ix_items_campaign_id_purpose_id", "campaign_id", "purpose", "id"),
)

annotators = Table(
    "annotators",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("pseudonym", String(40), nullable=False, unique=True),
    Column("name", String(400), nullable=False, unique=True),
    Column("account_id", Integer, ForeignKey("accounts.id")),
    Column("created", Float, nullable=False),
)

invitations = Table(
    "invitations",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("campaign_id", String(32), ForeignKey("campaigns.id"), nullable=False),
    Column("digest", String(64), nullable=False, unique=True),
    Column("annotator_id", Integer, ForeignKey("annotators.id")),
    Column("platform", String(100)),
    Column("created", Float, nullable=False),
    Column("expires", Float),
    Column("revoked", Float),
)

participations = Table(
    "participations",
    metadata,
    Column("campaign_id", String(32), ForeignKey("campaigns.id"), nullable=False),
    Column("annotator_id", Integer, ForeignKey("annotators.id"), nullable=False),
    Column("state", String(20), nullable=False),
    Column("reviewed", Integer, nullable=False),
    Column("joined", Float, nullable=False),
    Column("changed", Float, nullable=False),
    PrimaryKeyConstraint("campaign_id", "annotator_id"),
)

assignments = Table(
    "assignments",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("campaign_id", String(32), ForeignKey("campaigns.id"), nullable=False),
    Column("item_id", Integer, ForeignKey("items.id"), nullable=False),
    Column("annotator_id", Integer, ForeignKey("annotators.id"), nullable=False),
    Column("state", String(20), nullable=False),
    Column("shown_order", JSON, nullable=False),
    Column("opened", Float, nullable=False),
    Column("expires", Float, nullable=False),
    Column("changed", Float, nullable=False),
    Index("ix_assignments_item_id", "item_id"),
    Index("ix_assignments_campaign_id_annotator_id_state", "campaign_id", "annotator_id", "state"),
)

answers = Table(
    "answers",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("annotator_id", Integer, ForeignKey("annotators.id"), nullable=False),
    Column("answer_id", String(64), nullable=False),
    Column("assignment_id", String(32), ForeignKey("assignments.id"), nullable=False),
    Column("campaign_id", String(32), ForeignKey("campaigns.id"), nullable=False),
    Column("kind", String(20), nullable=False),
    Column("answers", JSON, nullable=False),
    #: Of an answer to a test question: whether it is the right one.
    Column("is_right", Boolean),
    Column("seconds", Float, nullable=False),
    Column("at", Float, nullable=False),
    Column("template", String(250), nullable=False),
    Column("supersedes", Integer),
    UniqueConstraint("annotator_id", "answer_id"),
    Index("ix_answers_assignment_id_id", "assignment_id", "id"),
    Index("ix_answers_campaign_id_kind_id", "campaign_id", "kind", "id"),
)

rulings = Table(
    "rulings",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("campaign_id", String(32), ForeignKey("campaigns.id"), nullable=False),
    Column("at", Float, nullable=False),
    Column("actor", String(200), nullable=False),
    Column("subject", String(20), nullable=False),
    Column("name", String(200), nullable=False),
    Column("verdict", String(20), nullable=False),
    Column("reason", Text, nullable=False),
    Column("detail", JSON, nullable=False),
    Index("ix_rulings_campaign_id_id", "campaign_id", "id"),
)

keys = Table(
    "keys",
    metadata,
    Column("name", String(100), primary_key=True),
    Column("value", String(200), nullable=False),
)
