"""The tables of paid studies."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "studies",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("campaign_id", sa.String(length=32), nullable=False),
        sa.Column("platform", sa.String(length=100), nullable=False),
        sa.Column("platform_id", sa.String(length=200), nullable=False),
        sa.Column("code", sa.String(length=40), nullable=False),
        sa.Column("items_per_place", sa.Integer(), nullable=False),
        sa.Column("quote", sa.JSON(), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("changed", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaigns.id"], name=op.f("fk_studies_campaign_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_studies")),
    )
    op.create_index("ix_studies_campaign_id", "studies", ["campaign_id"], unique=False)
    op.create_table(
        "payments",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("study_id", sa.String(length=32), nullable=False),
        sa.Column("batch_id", sa.String(length=200), nullable=False),
        sa.Column("amounts", sa.JSON(), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("changed", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["studies.id"], name=op.f("fk_payments_study_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_payments")),
    )
    op.create_index("ix_payments_study_id", "payments", ["study_id"], unique=False)


def downgrade() -> None:
    op.drop_table("payments")
    op.drop_table("studies")
