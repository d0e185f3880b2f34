"""What suites of the site's boards said, ranking by ranking."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "suite_rankings",
        sa.Column("suite", sa.String(length=200), nullable=False),
        sa.Column("audience", sa.String(length=20), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("basis", sa.String(length=64), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("boards", sa.JSON(), nullable=False),
        sa.Column("places", sa.JSON(), nullable=False),
        sa.Column("document", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("suite", "audience", "number", name=op.f("pk_suite_rankings")),
    )


def downgrade() -> None:
    op.drop_table("suite_rankings")
