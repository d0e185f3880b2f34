"""A site that version 0.1 made is completed and ranked anew once by what ranks now, and then left alone."""

from __future__ import annotations

import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from billboards.site.site import open_site
from billboards.site.work.worker import work_until_done

ARCHIVES = sorted((Path(__file__).resolve().parents[1] / "golden").glob("v*/site/data.zip"))


@pytest.mark.long
@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda archive: str(archive.parents[1].name))
def test_an_older_site_ranks_each_board_anew_once(archive: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(archive) as files:
        files.extractall(tmp_path)
    done = []
    for _ in range(2):
        with closing(open_site(tmp_path / "data")) as site:
            done.append((work_until_done(site), len(site.boards())))
    (first, boards), (again, _) = done
    # Cells of 0.1 have no counts for corpus values: they are filled in before the boards are ranked.
    assert first > boards
    assert again == 0
