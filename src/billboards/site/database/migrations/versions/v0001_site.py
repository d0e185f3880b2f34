"""The tables a site begins with."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "audit",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("actor", sa.String(length=200), nullable=False),
        sa.Column("action", sa.String(length=100), nullable=False),
        sa.Column("board", sa.String(length=200), nullable=True),
        sa.Column("subject", sa.String(length=200), nullable=False),
        sa.Column("detail", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit")),
    )
    op.create_index("ix_audit_board_id", "audit", ["board", "id"], unique=False)
    op.create_index("ix_audit_subject_id", "audit", ["subject", "id"], unique=False)
    op.create_table(
        "boards",
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("folder", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.String(length=64), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("changed", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_boards")),
    )
    op.create_table(
        "deliveries",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("event", sa.String(length=100), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("webhook_id", sa.Integer(), nullable=True),
        sa.Column("payload", sa.JSON(), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("next_at", sa.Float(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("created", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_deliveries")),
    )
    op.create_index("ix_deliveries_state_next_at", "deliveries", ["state", "next_at"], unique=False)
    op.create_table(
        "leases",
        sa.Column("board", sa.String(length=200), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("subject", sa.String(length=200), nullable=False),
        sa.Column("worker", sa.String(length=200), nullable=False),
        sa.Column("acquired", sa.Float(), nullable=False),
        sa.Column("expires", sa.Float(), nullable=False),
        sa.Column("taken", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("board", "kind", "subject", name=op.f("pk_leases")),
    )
    op.create_table(
        "standings",
        sa.Column("board", sa.String(length=200), nullable=False),
        sa.Column("audience", sa.String(length=20), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("side", sa.String(length=20), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("rank", sa.Integer(), nullable=True),
        sa.Column("value", sa.Float(), nullable=True),
        sa.PrimaryKeyConstraint("board", "audience", "side", "name", "number", name=op.f("pk_standings")),
    )
    op.create_table(
        "teams",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_teams")),
        sa.UniqueConstraint("name", name=op.f("uq_teams_name")),
    )
    op.create_table(
        "accounts",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("email", sa.String(length=320), nullable=True),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("role", sa.String(length=20), nullable=False),
        sa.Column("oidc_subject", sa.String(length=500), nullable=True),
        sa.Column("created", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name=op.f("fk_accounts_team_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_accounts")),
        sa.UniqueConstraint("name", name=op.f("uq_accounts_name")),
        sa.UniqueConstraint("oidc_subject", name=op.f("uq_accounts_oidc_subject")),
    )
    op.create_table(
        "cell_failures",
        sa.Column("board", sa.String(length=200), nullable=False),
        sa.Column("signature", sa.Text(), nullable=False),
        sa.Column("context", sa.String(length=64), nullable=False),
        sa.Column("row_version", sa.String(length=64), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("platform", sa.Boolean(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["board"], ["boards.name"], name=op.f("fk_cell_failures_board")),
        sa.PrimaryKeyConstraint("board", "signature", "context", "row_version", name=op.f("pk_cell_failures")),
    )
    op.create_table(
        "ensembles",
        sa.Column("board", sa.String(length=200), nullable=False),
        sa.Column("signature", sa.Text(), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("public", sa.Boolean(), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["board"], ["boards.name"], name=op.f("fk_ensembles_board")),
        sa.PrimaryKeyConstraint("board", "signature", name=op.f("pk_ensembles")),
    )
    op.create_table(
        "rankings",
        sa.Column("board", sa.String(length=200), nullable=False),
        sa.Column("audience", sa.String(length=20), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("basis", sa.String(length=64), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("cause", sa.JSON(), nullable=False),
        sa.Column("moves", sa.JSON(), nullable=False),
        sa.Column("ensemble", sa.Text(), nullable=True),
        sa.Column("document", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["board"], ["boards.name"], name=op.f("fk_rankings_board")),
        sa.PrimaryKeyConstraint("board", "audience", "number", name=op.f("pk_rankings")),
    )
    op.create_index(op.f("ix_rankings_id"), "rankings", ["id"], unique=False)
    op.create_table(
        "score_columns",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("board", sa.String(length=200), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("signature", sa.Text(), nullable=False),
        sa.Column("references", sa.JSON(), nullable=False),
        sa.Column("context", sa.String(length=64), nullable=False),
        sa.Column("needs_references", sa.Boolean(), nullable=False),
        sa.Column("needs_input", sa.Boolean(), nullable=False),
        sa.Column("is_statistic", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(["board"], ["boards.name"], name=op.f("fk_score_columns_board")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_score_columns")),
        sa.UniqueConstraint("board", "signature", "context", name=op.f("uq_score_columns_board_signature_context")),
    )
    op.create_table(
        "cells",
        sa.Column("column_id", sa.Integer(), nullable=False),
        sa.Column("row_version", sa.String(length=64), nullable=False),
        sa.Column("part", sa.String(length=200), nullable=False),
        sa.Column("is_primary", sa.Boolean(), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("scores", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["column_id"], ["score_columns.id"], name=op.f("fk_cells_column_id")),
        sa.PrimaryKeyConstraint("column_id", "row_version", "part", name=op.f("pk_cells")),
    )
    op.create_table(
        "sessions",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("csrf", sa.String(length=64), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("expires", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_sessions_account_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sessions")),
    )
    op.create_table(
        "submissions",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("board", sa.String(length=200), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("team_id", sa.Integer(), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("phase", sa.String(length=200), nullable=True),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("platform", sa.Boolean(), nullable=False),
        sa.Column("refunded", sa.Boolean(), nullable=False),
        sa.Column("anonymous", sa.Boolean(), nullable=False),
        sa.Column("entry", sa.String(length=20), nullable=False),
        sa.Column("blob", sa.String(length=64), nullable=False),
        sa.Column("settings", sa.JSON(), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("changed", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_submissions_account_id")),
        sa.ForeignKeyConstraint(["board"], ["boards.name"], name=op.f("fk_submissions_board")),
        sa.ForeignKeyConstraint(["team_id"], ["teams.id"], name=op.f("fk_submissions_team_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_submissions")),
        sa.UniqueConstraint("board", "kind", "name", "version", name=op.f("uq_submissions_board_kind_name_version")),
    )
    op.create_index("ix_submissions_board_state", "submissions", ["board", "state"], unique=False)
    op.create_index(
        "ix_submissions_team_id_board_created", "submissions", ["team_id", "board", "created"], unique=False
    )
    op.create_table(
        "tokens",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("label", sa.String(length=200), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("last_used", sa.Float(), nullable=True),
        sa.Column("revoked", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_tokens_account_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tokens")),
        sa.UniqueConstraint("digest", name=op.f("uq_tokens_digest")),
    )
    op.create_index(op.f("ix_tokens_account_id"), "tokens", ["account_id"], unique=False)
    op.create_table(
        "webhooks",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("board", sa.String(length=200), nullable=True),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("secret", sa.String(length=100), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_webhooks_account_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhooks")),
    )
    op.create_table(
        "logs",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("submission_id", sa.String(length=32), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("stream", sa.String(length=20), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["submission_id"], ["submissions.id"], name=op.f("fk_logs_submission_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_logs")),
    )
    op.create_index("ix_logs_submission_id_id", "logs", ["submission_id", "id"], unique=False)


def downgrade() -> None:
    op.drop_index("ix_logs_submission_id_id", table_name="logs")
    op.drop_table("logs")
    op.drop_table("webhooks")
    op.drop_index(op.f("ix_tokens_account_id"), table_name="tokens")
    op.drop_table("tokens")
    op.drop_index("ix_submissions_team_id_board_created", table_name="submissions")
    op.drop_index("ix_submissions_board_state", table_name="submissions")
    op.drop_table("submissions")
    op.drop_table("sessions")
    op.drop_table("cells")
    op.drop_table("score_columns")
    op.drop_index(op.f("ix_rankings_id"), table_name="rankings")
    op.drop_table("rankings")
    op.drop_table("ensembles")
    op.drop_table("cell_failures")
    op.drop_table("accounts")
    op.drop_table("teams")
    op.drop_table("standings")
    op.drop_table("leases")
    op.drop_index("ix_deliveries_state_next_at", table_name="deliveries")
    op.drop_table("deliveries")
    op.drop_table("boards")
    op.drop_index("ix_audit_subject_id", table_name="audit")
    op.drop_index("ix_audit_board_id", table_name="audit")
    op.drop_table("audit")
