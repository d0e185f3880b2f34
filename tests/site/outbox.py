"""What a site has written, or is about to write, to people and webhooks."""

from __future__ import annotations

from sqlalchemy import Connection, select

from billboards.site.admin.deliveries import Delivery
from billboards.site.database.schema import deliveries


def list_deliveries(connection: Connection) -> tuple[Delivery, ...]:
    """Notices, the latest first."""
    query = select(deliveries).order_by(deliveries.c.id.desc()).limit(100)
    return tuple(Delivery(**row) for row in connection.execute(query).mappings())
