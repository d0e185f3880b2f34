"""Small sites as fixtures, closed at the end."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from small_sites import Clock, Harbour, MakeHarbour, make_board

from billboards.board import Board
from billboards.board.writing import write_board
from billboards.site.accounts.access import local_viewer
from billboards.site.site import Site, open_site


@pytest.fixture
def make_harbour(tmp_path: Path) -> Iterator[MakeHarbour]:
    """Sites, closed at the end."""
    opened: list[Site] = []

    def make(board: Board | None = None, *, settings: str = "", name: str = "data") -> Harbour:
        board = make_board() if board is None else board
        data = tmp_path / name
        write_board(board, data / "boards" / board.name)
        (data / "site.toml").write_text(settings)
        clock = Clock()
        site = open_site(data, clock=clock)
        opened.append(site)
        return Harbour(site, clock, local_viewer(site), board)

    yield make
    for site in opened:
        site.close()


@pytest.fixture
def harbour(make_harbour: MakeHarbour) -> Harbour:
    return make_harbour()


@pytest.fixture
def metric_zip() -> Callable[..., bytes]:
    """A zip of a metric's folder from the texts of its files."""

    def pack(files: dict[str, str], *, top: str = "") -> bytes:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            for name, text in files.items():
                archive.writestr(f"{top}{name}", text)
        return packed.getvalue()

    return pack
