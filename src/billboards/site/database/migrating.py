"""Moving a database from one migration to another, in the transaction of whoever asks."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.util.exc import CommandError
from sqlalchemy import Connection

from billboards.errors import StoreFailed


def migrate(connection: Connection, revision: str) -> None:
    """Move up to a migration; one that is newer than this program is refused."""
    try:
        command.upgrade(_config(connection), revision)
    except CommandError as error:
        raise StoreFailed(f"the site's database is of another version: {error}; update billboards") from error


def unmigrate(connection: Connection, revision: str) -> None:
    """Move down to a migration; `base` is an empty database."""
    command.downgrade(_config(connection), revision)


def _config(connection: Connection) -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    config.attributes["connection"] = connection
    return config
