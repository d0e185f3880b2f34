"""Boards that owners publish as files by a button, how far a draft's board has come, and what boards have spent."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "publications",
        sa.Column("board", sa.String(200), nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("actor", sa.String(200), nullable=False),
        sa.Column("wanted", sa.JSON(), nullable=False),
        sa.Column("asked", sa.Float(), nullable=False),
        sa.Column("changed", sa.Float(), nullable=False),
        sa.Column("done", sa.Integer(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=True),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["board"], ["boards.name"], name=op.f("fk_publications_board")),
        sa.PrimaryKeyConstraint("board", name=op.f("pk_publications")),
    )
    op.create_table(
        "spending",
        sa.Column("board", sa.String(200), nullable=False),
        sa.Column("what", sa.String(20), nullable=False),
        sa.Column("amount", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["board"], ["boards.name"], name=op.f("fk_spending_board")),
        sa.PrimaryKeyConstraint("board", "what", name=op.f("pk_spending")),
    )
    op.add_column("board_drafts", sa.Column("wanted", sa.JSON(), nullable=True))
    op.add_column("board_drafts", sa.Column("progress", sa.Text(), nullable=False, server_default=""))


def downgrade() -> None:
    op.drop_column("board_drafts", "progress")
    op.drop_column("board_drafts", "wanted")
    op.drop_table("spending")
    op.drop_table("publications")
