"""A site's state taken to another database while nobody has the site open."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from billboards.errors import InvalidInput
from billboards.site.admin.in_use import alone
from billboards.site.database.engine import Database
from billboards.site.database.moving import Tally, Tell, move_database
from billboards.site.settings import read_site_settings
from billboards.site.site import database_address

#: Stands for the file in the data folder.
SQLITE = "sqlite"


def move_site(data: Path, to: str, tell: Tell | None = None) -> tuple[Mapping[str, Tally], str]:
    """Copy a stopped site's state to an empty database; returns what was moved and the address as people may see it."""
    if not data.is_dir():
        raise InvalidInput(f"{data}: there is no such data folder")
    root = data.absolute()
    address = f"sqlite:///{root / 'site.sqlite'}" if to == SQLITE else to
    with (
        alone(root),
        closing(Database(database_address(root, read_site_settings(root)))) as source,
        closing(Database(address)) as target,
    ):
        if source.revision() is None:
            raise InvalidInput(f"{source.shown}: holds no site; name the data folder of one")
        return move_database(source, target, tell), target.shown
