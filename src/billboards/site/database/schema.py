"""The tables of a site: all of its state but the board folders and the submitted files.

Times are seconds since 1970 in UTC, so that comparing them means the same on every database. Documents that must come
back bit for bit are kept as text; settings and details, which are only read, as JSON. What is large (scores, logs,
documents) stands in tables or behind keys of its own, so that listing and polling never touch it.

Of campaigns, `answers` and `rulings` are only added to. What state an item is in stands in `assignments`: who has it,
until when, and what became of it. Who annotators really are stands in `annotators` and nowhere else; everything that
leaves the site names them by their pseudonym. Of paid studies every payment is written down before and after it is
made.
"""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    UniqueConstraint,
    false,
)

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

#: The migration that brings a database to these tables.
REVISION = "0012"

boards = Table(
    "boards",
    metadata,
    Column("name", String(200), primary_key=True),
    Column("folder", Text, nullable=False),
    Column("fingerprint", String(64), nullable=False),
    Column("settings", JSON, nullable=False),
    Column("generation", Integer, nullable=False),
    Column("changed", Float, nullable=False),
)

board_logos = Table(
    "board_logos",
    metadata,
    Column("board", String(200), ForeignKey("boards.name"), primary_key=True),
    Column("media_type", String(50), nullable=False),
    Column("digest", String(64), nullable=False),
    Column("content", LargeBinary, nullable=False),
    Column("changed", Float, nullable=False),
)

#: Boards that owners make in the browser and have not published; their folders lie in DATA/drafts.
board_drafts = Table(
    "board_drafts",
    metadata,
    Column("name", String(200), primary_key=True),
    Column("source", String(20), nullable=False),
    Column("origin", Text, nullable=False),
    Column("state", String(20), nullable=False),
    Column("problems", JSON, nullable=False),
    Column("notes", JSON, nullable=False),
    Column("findings", JSON, nullable=False),
    Column("actor", String(200), nullable=False),
    Column("created", Float, nullable=False),
    Column("changed", Float, nullable=False),
    # What a worker is to read, where one does, and how far it has come, in words.
    Column("wanted", JSON),
    Column("progress", Text, nullable=False, server_default=""),
)

#: The files that an owner had a board published as, the last time; the archive lies in DATA/published.
publications = Table(
    "publications",
    metadata,
    Column("board", String(200), ForeignKey("boards.name"), primary_key=True),
    Column("state", String(20), nullable=False),
    Column("actor", String(200), nullable=False),
    Column("wanted", JSON, nullable=False),
    Column("asked", Float, nullable=False),
    Column("changed", Float, nullable=False),
    Column("done", Integer, nullable=False),
    Column("total", Integer, nullable=False),
    Column("seconds", Float),
    Column("size", BigInteger, nullable=False),
    Column("reason", Text),
)

#: What a board has used up of what is dear: judges' tokens, and seconds on graphics cards.
spending = Table(
    "spending",
    metadata,
    Column("board", String(200), ForeignKey("boards.name"), nullable=False),
    Column("what", String(20), nullable=False),
    Column("amount", Float, nullable=False),
    PrimaryKeyConstraint("board", "what"),
)

teams = Table(
    "teams",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String(200), nullable=False, unique=True),
    Column("created", Float, nullable=False),
)

accounts = Table(
    "accounts",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("name", String(200), nullable=False, unique=True),
    Column("email", String(320)),
    Column("team_id", Integer, ForeignKey("teams.id"), nullable=False),
    Column("role", String(20), nullable=False),
    Column("oidc_subject", String(500), unique=True),
    Column("created", Float, nullable=False),
    Column("disabled", Float),
    #: When the person showed, by a link, that the address is theirs.
    Column("confirmed", Float),
    Column("lead", Boolean, nullable=False, server_default=false()),
    #: Kinds of mail that the person has switched off.
    Column("muted", JSON),
)

tokens = Table(
    "tokens",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("account_id", Integer, ForeignKey("accounts.id"), nullable=False, index=True),
    Column("digest", String(64), nullable=False, unique=True),
    Column("label", String(200), nullable=False),
    Column("created", Float, nullable=False),
    Column("last_used", Float),
    Column("revoked", Float),
    #: What it is good for; None is everything that its account may do.
    Column("scope", String(20)),
    Column("expires", Float),
)

sessions = Table(
    "sessions",
    metadata,
    Column("id", String(64), primary_key=True),
    Column("account_id", Integer, ForeignKey("accounts.id"), nullable=False),
    Column("csrf", String(64), nullable=False),
    Column("created", Float, nullable=False),
    Column("expires", Float, nullable=False),
    Column("token_id", Integer),
    Column("last_used", Float),
    Column("agent", String(200)),
)

#: Links that let somebody in once. The text in the mail is made when the mail is sent, and only its digest is kept.
entry_links = Table(
    "entry_links",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("digest", String(64), unique=True),
    Column("purpose", String(20), nullable=False),
    Column("email", String(320), nullable=False),
    Column("account_id", Integer, ForeignKey("accounts.id")),
    Column("next", Text, nullable=False),
    Column("client", String(64), nullable=False),
    Column("created", Float, nullable=False),
    Column("expires", Float),
    Column("used", Float),
    Column("tries", Integer, nullable=False),
    Index("ix_entry_links_email_created", "email", "created"),
    Index("ix_entry_links_client_created", "client", "created"),
)

access_requests = Table(
    "access_requests",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("email", String(320), nullable=False),
    Column("name", String(200), nullable=False),
    Column("team", String(200)),
    Column("words", Text, nullable=False),
    Column("state", String(20), nullable=False),
    Column("created", Float, nullable=False),
    Column("decided", Float),
    Column("decided_by", String(200)),
    Column("reason", Text),
)

account_invitations = Table(
    "account_invitations",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("digest", String(64), unique=True),
    Column("email", String(320), nullable=False),
    Column("name", String(200)),
    Column("team", String(200), nullable=False),
    Column("role", String(20), nullable=False),
    Column("lead", Boolean, nullable=False),
    Column("invited_by", Integer, ForeignKey("accounts.id"), nullable=False),
    Column("created", Float, nullable=False),
    Column("sent", Float),
    Column("expires", Float),
    Column("accepted", Float),
    Column("revoked", Float),
    Column("account_id", Integer, ForeignKey("accounts.id")),
    Column("tries", Integer, nullable=False),
)

#: Reminders of a phase's end that were put into the outbox, so that each goes out once.
reminders = Table(
    "reminders",
    metadata,
    Column("board", String(200), nullable=False),
    Column("phase", String(200), nullable=False),
    Column("closes", Float, nullable=False),
    Column("days", Integer, nullable=False),
    Column("at", Float, nullable=False),
    PrimaryKeyConstraint("board", "phase", "closes", "days"),
)

submissions = Table(
    "submissions",
    metadata,
    Column("id", String(32), primary_key=True),
    Column("board", String(200), ForeignKey("boards.name"), nullable=False),
    Column("kind", String(20), nullable=False),
    Column("name", String(200), nullable=False),
    Column("version", Integer, nullable=False),
    Column("team_id", Integer, ForeignKey("teams.id"), nullable=False),
    Column("account_id", Integer, ForeignKey("accounts.id"), nullable=False),
    Column("phase", String(200)),
    Column("state", String(20), nullable=False),
    Column("reason", Text),
    Column("platform", Boolean, nullable=False),
    Column("refunded", Boolean, nullable=False),
    Column("anonymous", Boolean, nullable=False),
    Column("entry", String(20), nullable=False),
    Column("blob", String(64), nullable=False),
    Column("settings", JSON, nullable=False),
    Column("created", Float, nullable=False),
    Column("changed", Float, nullable=False),
    UniqueConstraint("board", "kind", "name", "version"),
    Index("ix_submissions_board_state", "board", "state"),
    Index("ix_submissions_team_id_board_created", "team_id", "board", "created"),
)

score_columns = Table(
    "score_columns",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("board", String(200), ForeignKey("boards.name"), nullable=False),
    Column("name", Text, nullable=False),
    Column("signature", Text, nullable=False),
    Column("references", JSON, nullable=False),
    Column("context", String(64), nullable=False),
    Column("needs_references", Boolean, nullable=False),
    Column("needs_input", Boolean, nullable=False),
    Column("is_statistic", Boolean, nullable=False),
    UniqueConstraint("board", "signature", "context"),
)

cells = Table(
    "cells",
    metadata,
    Column("column_id", Integer, ForeignKey("score_columns.id"), nullable=False),
    Column("row_version", String(64), nullable=False),
    Column("part", String(200), nullable=False),
    Column("is_primary", Boolean, nullable=False),
    Column("seconds", Float, nullable=False),
    Column("created", Float, nullable=False),
    Column("scores", LargeBinary, nullable=False),
    PrimaryKeyConstraint("column_id", "row_version", "part"),
)

cell_counts = Table(
    "cell_counts",
    metadata,
    Column("column_id", Integer, ForeignKey("score_columns.id"), nullable=False),
    Column("row_version", String(64), nullable=False),
    Column("packed", LargeBinary, nullable=False),
    PrimaryKeyConstraint("column_id", "row_version"),
)

cell_failures = Table(
    "cell_failures",
    metadata,
    Column("board", String(200), ForeignKey("boards.name"), nullable=False),
    Column("signature", Text, nullable=False),
    Column("context", String(64), nullable=False),
    Column("row_version", String(64), nullable=False),
    Column("reason", Text, nullable=False),
    Column("platform", Boolean, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("created", Float, nullable=False),
    PrimaryKeyConstraint("board", "signature", "context", "row_version"),
)

leases = Table(
    "leases",
    metadata,
    Column("board", String(200), nullable=False),
    Column("kind", String(20), nullable=False),
    Column("subject", String(200), nullable=False),
    Column("worker", String(200), nullable=False),
    Column("acquired", Float, nullable=False),
    Column("expires", Float, nullable=False),
    Column("taken", Integer, nullable=False),
    PrimaryKeyConstraint("board", "kind", "subject"),
)

logs = Table(
    "logs",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("submission_id", String(32), ForeignKey("submissions.id"), nullable=False),
    Column("at", Float, nullable=False),
    Column("stream", String(20), nullable=False),
    Column("text", Text, nullable=False),
    Index("ix_logs_submission_id_id", "submission_id", "id"),
)

rankings = Table(
    "rankings",
    metadata,
    Column("board", String(200), ForeignKey("boards.name"), nullable=False),
    Column("audience", String(20), nullable=False),
    Column("number", Integer, nullable=False),
    Column("id", String(64), nullable=False, index=True),
    Column("basis", String(64), nullable=False),
    Column("created", Float, nullable=False),
    Column("cause", JSON, nullable=False),
    Column("moves", JSON, nullable=False),
    Column("ensemble", Text),
    Column("document", Text, nullable=False),
    #: The document where it is kept packed, and the number of the ranking that it differs from; see `packed_documents`.
    Column("packed", LargeBinary),
    Column("base", Integer),
    PrimaryKeyConstraint("board", "audience", "number"),
)

standings = Table(
    "standings",
    metadata,
    Column("board", String(200), nullable=False),
    Column("audience", String(20), nullable=False),
    Column("number", Integer, nullable=False),
    Column("side", String(20), nullable=False),
    Column("name", String(200), nullable=False),
    Column("rank", Integer),
    Column("value", Float),
    PrimaryKeyConstraint("board", "audience", "side", "name", "number"),
)

suite_rankings = Table(
    "suite_rankings",
    metadata,
    Column("suite", String(200), nullable=False),
    Column("audience", String(20), nullable=False),
    Column("number", Integer, nullable=False),
    Column("id", String(64), nullable=False),
    Column("basis", String(64), nullable=False),
    Column("created", Float, nullable=False),
    Column("boards", JSON, nullable=False),
    Column("places", JSON, nullable=False),
    Column("document", Text, nullable=False),
    PrimaryKeyConstraint("suite", "audience", "number"),
)

ensembles = Table(
    "ensembles",
    metadata,
    Column("board", String(200), ForeignKey("boards.name"), nullable=False),
    Column("signature", Text, nullable=False),
    Column("created", Float, nullable=False),
    Column("public", Boolean, nullable=False),
    Column("document", Text, nullable=False),
    PrimaryKeyConstraint("board", "signature"),
)

audit = Table(
    "audit",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("at", Float, nullable=False),
    Column("actor", String(200), nullable=False),
    Column("action", String(100), nullable=False),
    Column("board", String(200)),
    Column("subject", String(200), nullable=False),
    Column("detail", JSON, nullable=False),
    Index("ix_audit_board_id", "board", "id"),
    Index("ix_audit_subject_id", "subject", "id"),
)

webhooks = Table(
    "webhooks",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("account_id", Integer, ForeignKey("accounts.id"), nullable=False),
    Column("board", String(200)),
    Column("url", Text, nullable=False),
    Column("secret", String(100), nullable=False),
    Column("created", Float, nullable=False),
)

deliveries = Table(
    "deliveries",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("event", String(100), nullable=False),
    Column("target", Text, nullable=False),
    Column("webhook_id", Integer),
    Column("payload", JSON, nullable=False),
    Column("state", String(20), nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("next_at", Float, nullable=False),
    Column("reason", Text),
    Column("created", Float, nullable=False),
    Index("ix_deliveries_state_next_at", "state", "next_at"),
)

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
    #: What is dealt together to one annotator, a document; in the order of the items.
    Column("batch", String(64)),
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

#: What annotators accepted or said of themselves, apart from what they judged; `digest` is that of the page's text.
annotator_pages = Table(
    "annotator_pages",
    metadata,
    Column("campaign_id", String(32), ForeignKey("campaigns.id"), nullable=False),
    Column("annotator_id", Integer, ForeignKey("annotators.id"), nullable=False),
    Column("page", String(20), nullable=False),
    Column("digest", String(64), nullable=False),
    Column("answers", JSON, nullable=False),
    Column("at", Float, nullable=False),
    PrimaryKeyConstraint("campaign_id", "annotator_id", "page"),
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
    #: What was given at one time, as a document, and the place in it.
    Column("dealing", String(32)),
    Column("place", Integer),
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
