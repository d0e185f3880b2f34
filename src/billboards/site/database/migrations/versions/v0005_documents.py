"""Documents that are dealt to an annotator as a whole: which items go together, and what was given at one time."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("items", sa.Column("batch", sa.String(length=64), nullable=True))
    op.add_column("assignments", sa.Column("dealing", sa.String(length=32), nullable=True))
    op.add_column("assignments", sa.Column("place", sa.Integer(), nullable=True))


def downgrade() -> None:
    op.drop_column("assignments", "place")
    op.drop_column("assignments", "dealing")
    op.drop_column("items", "batch")
