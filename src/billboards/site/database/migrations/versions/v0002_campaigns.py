"""The tables of campaigns."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "keys",
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("value", sa.String(length=200), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_keys")),
    )
    op.create_table(
        "annotators",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("pseudonym", sa.String(length=40), nullable=False),
        sa.Column("name", sa.String(length=400), nullable=False),
        sa.Column("account_id", sa.Integer(), nullable=True),
        sa.Column("created", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_annotators_account_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_annotators")),
        sa.UniqueConstraint("name", name=op.f("uq_annotators_name")),
        sa.UniqueConstraint("pseudonym", name=op.f("uq_annotators_pseudonym")),
    )
    op.create_table(
        "campaigns",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("board", sa.String(length=200), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("template", sa.Text(), nullable=False),
        sa.Column("plan", sa.JSON(), nullable=False),
        sa.Column("generators", sa.JSON(), nullable=False),
        sa.Column("instances", sa.JSON(), nullable=False),
        sa.Column("rolling", sa.Boolean(), nullable=False),
        sa.Column("ranks", sa.Boolean(), nullable=False),
        sa.Column("joins", sa.JSON(), nullable=False),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("account_id", sa.Integer(), nullable=False),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("changed", sa.Float(), nullable=False),
        sa.Column("opened", sa.Float(), nullable=True),
        sa.Column("closed", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(["account_id"], ["accounts.id"], name=op.f("fk_campaigns_account_id")),
        sa.ForeignKeyConstraint(["board"], ["boards.name"], name=op.f("fk_campaigns_board")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_campaigns")),
        sa.UniqueConstraint("board", "name", name=op.f("uq_campaigns_board_name")),
    )
    op.create_table(
        "invitations",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("campaign_id", sa.String(length=32), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("annotator_id", sa.Integer(), nullable=True),
        sa.Column("platform", sa.String(length=100), nullable=True),
        sa.Column("created", sa.Float(), nullable=False),
        sa.Column("expires", sa.Float(), nullable=True),
        sa.Column("revoked", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(["annotator_id"], ["annotators.id"], name=op.f("fk_invitations_annotator_id")),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaigns.id"], name=op.f("fk_invitations_campaign_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_invitations")),
        sa.UniqueConstraint("digest", name=op.f("uq_invitations_digest")),
    )
    op.create_table(
        "items",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("campaign_id", sa.String(length=32), nullable=False),
        sa.Column("instance", sa.Text(), nullable=False),
        sa.Column("row", sa.String(length=200), nullable=True),
        sa.Column("purpose", sa.String(length=20), nullable=False),
        sa.Column("test", sa.String(length=20), nullable=True),
        sa.Column("wanted", sa.Integer(), nullable=False),
        sa.Column("part", sa.String(length=200), nullable=True),
        sa.Column("shown_order", sa.JSON(), nullable=False),
        sa.Column("slots", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaigns.id"], name=op.f("fk_items_campaign_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_items")),
    )
    op.create_index("ix_items_campaign_id_purpose_id", "items", ["campaign_id", "purpose", "id"], unique=False)
    op.create_table(
        "participations",
        sa.Column("campaign_id", sa.String(length=32), nullable=False),
        sa.Column("annotator_id", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("reviewed", sa.Integer(), nullable=False),
        sa.Column("joined", sa.Float(), nullable=False),
        sa.Column("changed", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["annotator_id"], ["annotators.id"], name=op.f("fk_participations_annotator_id")),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaigns.id"], name=op.f("fk_participations_campaign_id")),
        sa.PrimaryKeyConstraint("campaign_id", "annotator_id", name=op.f("pk_participations")),
    )
    op.create_table(
        "rulings",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("campaign_id", sa.String(length=32), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("actor", sa.String(length=200), nullable=False),
        sa.Column("subject", sa.String(length=20), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("verdict", sa.String(length=20), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("detail", sa.JSON(), nullable=False),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaigns.id"], name=op.f("fk_rulings_campaign_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_rulings")),
    )
    op.create_index("ix_rulings_campaign_id_id", "rulings", ["campaign_id", "id"], unique=False)
    op.create_table(
        "assignments",
        sa.Column("id", sa.String(length=32), nullable=False),
        sa.Column("campaign_id", sa.String(length=32), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("annotator_id", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=20), nullable=False),
        sa.Column("shown_order", sa.JSON(), nullable=False),
        sa.Column("opened", sa.Float(), nullable=False),
        sa.Column("expires", sa.Float(), nullable=False),
        sa.Column("changed", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["annotator_id"], ["annotators.id"], name=op.f("fk_assignments_annotator_id")),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaigns.id"], name=op.f("fk_assignments_campaign_id")),
        sa.ForeignKeyConstraint(["item_id"], ["items.id"], name=op.f("fk_assignments_item_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_assignments")),
    )
    op.create_index(
        "ix_assignments_campaign_id_annotator_id_state",
        "assignments",
        ["campaign_id", "annotator_id", "state"],
        unique=False,
    )
    op.create_index("ix_assignments_item_id", "assignments", ["item_id"], unique=False)
    op.create_table(
        "answers",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("annotator_id", sa.Integer(), nullable=False),
        sa.Column("answer_id", sa.String(length=64), nullable=False),
        sa.Column("assignment_id", sa.String(length=32), nullable=False),
        sa.Column("campaign_id", sa.String(length=32), nullable=False),
        sa.Column("kind", sa.String(length=20), nullable=False),
        sa.Column("answers", sa.JSON(), nullable=False),
        sa.Column("is_right", sa.Boolean(), nullable=True),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("at", sa.Float(), nullable=False),
        sa.Column("template", sa.String(length=250), nullable=False),
        sa.Column("supersedes", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["annotator_id"], ["annotators.id"], name=op.f("fk_answers_annotator_id")),
        sa.ForeignKeyConstraint(["assignment_id"], ["assignments.id"], name=op.f("fk_answers_assignment_id")),
        sa.ForeignKeyConstraint(["campaign_id"], ["campaigns.id"], name=op.f("fk_answers_campaign_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_answers")),
        sa.UniqueConstraint("annotator_id", "answer_id", name=op.f("uq_answers_annotator_id_answer_id")),
    )
    op.create_index("ix_answers_assignment_id_id", "answers", ["assignment_id", "id"], unique=False)
    op.create_index("ix_answers_campaign_id_kind_id", "answers", ["campaign_id", "kind", "id"], unique=False)


def downgrade() -> None:
    op.drop_index("ix_answers_campaign_id_kind_id", table_name="answers")
    op.drop_index("ix_answers_assignment_id_id", table_name="answers")
    op.drop_table("answers")
    op.drop_index("ix_assignments_item_id", table_name="assignments")
    op.drop_index("ix_assignments_campaign_id_annotator_id_state", table_name="assignments")
    op.drop_table("assignments")
    op.drop_index("ix_rulings_campaign_id_id", table_name="rulings")
    op.drop_table("rulings")
    op.drop_table("participations")
    op.drop_index("ix_items_campaign_id_purpose_id", table_name="items")
    op.drop_table("items")
    op.drop_table("invitations")
    op.drop_table("campaigns")
    op.drop_table("annotators")
    op.drop_table("keys")
