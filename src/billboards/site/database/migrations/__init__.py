"""The history of the site's tables, one module per step, and how a database is brought from one step to another."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.util.exc import CommandError
from sqlalchemy import Connection

from billboards.errors import StoreFailed


def migrate(connection: Connection, revision: str) -> None:
    """Bring a database up to a step, in the caller's transaction; one newer than this program is refused."""
    try:
        command.upgrade(alembic_config(connection), revision)
    except CommandError as error:
        raise StoreFailed(f"the site's database is of another version: {error}; update billboards") from error


def alembic_config(connection: Connection) -> Config:
    """What Alembic's commands need to work on a connection."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent).replace("%", "%%"))
    config.attributes["connection"] = connection
    return config
