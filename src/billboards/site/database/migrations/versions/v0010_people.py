"""Sign-up by link, requests, invitations, leads of teams, scopes of tokens, and reminders.

The first account of a team that is there already becomes its lead.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("accounts", sa.Column("confirmed", sa.Float(), nullable=True))
    op.add_column("accounts", sa.Column("lead", sa.Boolean(), server_default=sa.false(), nullable=False))
    op.add_column("accounts", sa.Column("muted", sa.JSON(), nullable=True))
    op.add_column("tokens", sa.Column("scope", sa.String(length=20), nullable=True))
    op.add_column("tokens", sa.Column("expires", sa.Float(), nullable=True))
    op.add_column("sessions", sa.Column("last_used", sa.Float(), nullable=True))
    op.add_column("sessions", sa.Column("agent", sa.String(length=200), nullable=True))
    accounts = sa.table("accounts", sa.column("id"), sa.column("team_id"), sa.column("lead"))
    first = sa.select(sa.func.min(accounts.c.id)).group_by(accounts.c.team_id)
    op.execute(sa.update(accounts).where(accounts.c.id.in_(first)).values(lead=sa.true()))
    _make_links()
    _make_requests()
    _make_invitations()
    op.create_table(
        "reminders",
        sa.Column("board", sa.String(length=200), nullable=False),
        sa.Column("phase", sa.String(length=200), nullable=False),
        sa.Column("closes", sa.Float(), nullable=False),
        sa.Column("days", sa.Integer(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("board", "phase", "closes", "days", name=op.f("pk_reminders")),
    )


def _make_links() -> None:
    op.create_table(
        "entry_links",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=True),
        sa.Column("purpose", sa.String(length=20), nullable=False),
        sa.Column("email", sa.String(length=320), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=True),
        sa.Column("next", sa.Text(), nullable=False),
        sa.Column("client", sa.String(length=64), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("expires", sa.Float(), nullable=True),
        sa.Column("used", sa.Float(), nullable=True),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_entry_links_account_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_entry_links")),
        sa.UniqueConstraint("digest", name=op.f("uq_entry_links_digest")),
    )
    op.create_index("ix_entry_links_email_created", "entry_links", ["email", "created"])
    op.create_index("ix_entry_links_client_created", "entry_links", ["client", "created"])


def _make_requests() -> None:
    op.create_table(
        "access_requests",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("email", sa.String(length=320), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("team", sa.String(length=200), nullable=True),
        sa.Column("words", sa.Text(), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("decided", sa.Float(), nullable=True),
        sa.Column("decided_by", sa.String(length=200), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_access_requests")),
    )


def _make_invitations() -> None:
    op.create_table(
        "account_invitations",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=True),
        sa.Column("email", sa.String(length=320), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=True),
        sa.Column("team", sa.String(length=200), nullable=False),
        sa.Column("role", sa.String(length=20), nullable=False),
        sa.Column("lead", sa.Boolean(), nullable=False),
        sa.Column("invited_by", sa.Integer(), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("sent", sa.Float(), nullable=True),
        sa.Column("expires", sa.Float(), nullable=True),
        sa.Column("accepted", sa.Float(), nullable=True),
        sa.Column("revoked", sa.Float(), nullable=True),
        sa.Column("account_id", sa.Integer(), nullable=True),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_account_invitations_account_id")),
        sa.ForeignKeyConstraint(["invited_by"], ["accounts.id"], name=op.f("fk_account_invitations_invited_by")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_account_invitations")),
        sa.UniqueConstraint("digest", name=op.f("uq_account_invitations_digest")),
    )


def downgrade() -> None:
    for table in ("reminders", "account_invitations", "access_requests", "entry_links"):
        op.drop_table(table)
    added = {"sessions": ("agent", "last_used"), "tokens": ("expires", "scope")}
    for table, columns in (added | {"accounts": ("muted", "lead", "confirmed")}).items():
        for column in columns:
            op.drop_column(table, column)
