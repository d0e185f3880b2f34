"""Rankings kept compressed, most of them as what differs from an earlier one; those that are there stay plain text."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("rankings", sa.Column("packed", sa.LargeBinary(), nullable=True))
    op.add_column("rankings", sa.Column("base", sa.Integer(), nullable=True))


def downgrade() -> None:
    _unpack_all(op.get_bind())
    op.drop_column("rankings", "base")
    op.drop_column("rankings", "packed")


def _unpack_all(connection: sa.Connection) -> None:
    """Every document as plain text again, those first that rest on others."""
    from billboards.site.boards.packed_documents import read_text
    from billboards.site.database.schema import rankings

    key = (rankings.c.board, rankings.c.audience, rankings.c.number)
    is_packed = (rankings.c.packed.is_not(None), rankings.c.document == "")
    packed = sa.select(*key).where(*is_packed).order_by(rankings.c.base.is_(None), *key)
    for board, audience, number in connection.execute(packed).all():
        text = read_text(connection, board, audience, number)
        where = (key[0] == board, key[1] == audience, key[2] == number)
        connection.execute(sa.update(rankings).where(*where).values(document=text, packed=None, base=None))
