"""The counts beside cells, from which corpus values are computed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "cell_counts",
        sa.Column("column_id", sa.Integer(), nullable=False),
        sa.Column("row_version", sa.String(length=64), nullable=False),
        sa.Column("packed", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["column_id"], ["score_columns.id"], name=op.f("fk_cell_counts_column_id")),
        sa.PrimaryKeyConstraint("column_id", "row_version", name=op.f("pk_cell_counts")),
    )


def downgrade() -> None:
    op.drop_table("cell_counts")
