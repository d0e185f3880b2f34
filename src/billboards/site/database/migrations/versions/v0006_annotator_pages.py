"""What annotators accepted or said of themselves, apart from what they judged."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "annotator_pages",
        sa.Column("campaign_id", sa.String(length=32), nullable=False),
        sa.Column("annotator_id", sa.Integer(), nullable=False),
        sa.Column("page", sa.String(length=20), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("answers", sa.JSON(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["annotator_id"], ["annotators.id"], name=op.f("fk_annotator_pages_annotator_id")),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaigns.id"], name=op.f("fk_annotator_pages_campaign_id")),
        sa.PrimaryKeyConstraint("campaign_id", "annotator_id", "page", name=op.f("pk_annotator_pages")),
    )


def downgrade() -> None:
    op.drop_table("annotator_pages")
