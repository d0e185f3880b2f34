"""Logos of boards, and boards that owners are making in the browser."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "board_logos",
        sa.Column("board", sa.String(200), nullable=False),
        sa.Column("media_type", sa.String(50), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("changed", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["board"], ["boards.name"], name=op.f("fk_board_logos_board")),
        sa.PrimaryKeyConstraint("board", name=op.f("pk_board_logos")),
    )
    op.create_table(
        "board_drafts",
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("source", sa.String(20), nullable=False),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("problems", sa.JSON(), nullable=False),
        sa.Column("notes", sa.JSON(), nullable=False),
        sa.Column("findings", sa.JSON(), nullable=False),
        sa.Column("actor", sa.String(200), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("changed", sa.Float(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_board_drafts")),
    )


def downgrade() -> None:
    op.drop_table("board_drafts")
    op.drop_table("board_logos")
