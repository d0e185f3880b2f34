"""Accounts that are disabled, and the token that a session began with, whose end is the session's."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("accounts", sa.Column("disabled", sa.Float(), nullable=True))
    op.add_column("sessions", sa.Column("token_id", sa.Integer(), nullable=True))


def downgrade() -> None:
    op.drop_column("sessions", "token_id")
    op.drop_column("accounts", "disabled")
