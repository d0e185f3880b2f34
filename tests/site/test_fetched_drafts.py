"""A board of the catalogue made in the browser: a worker fetches it, says how far it is, and what is wrong."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from api_sites import SmallSite, small_site
from file_server import FileServer, Handler
from importer_sources import MTME_ARCHIVE as ARCHIVE
from importer_sources import mtme_archive

from billboards.site.database import trail
from billboards.site.settings import CatalogueSettings
from billboards.site.work.worker import work_once, work_until_done

WANTED = {"name": "newest", "source": "catalogue", "entry": "mtme-wmt99-en-de"}


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FileServer]:
    """A server on this machine that has the archive of mt-metrics-eval, as far as it is needed."""
    monkeypatch.setenv("BILLBOARDS_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("BILLBOARDS_OFFLINE", raising=False)
    with FileServer() as server:
        server.files[ARCHIVE] = mtme_archive(tmp_path / "made")
        yield server


@pytest.fixture
def small(tmp_path: Path) -> Iterator[SmallSite]:
    made = small_site(tmp_path)
    work_until_done(made.site)
    yield made
    made.site.close()


def use(small: SmallSite, mirror: str) -> None:
    catalogue = CatalogueSettings(mirror=mirror)
    small.site.settings = small.site.settings.model_copy(update={"catalogue": catalogue})


def draft(small: SmallSite) -> dict[str, object]:
    found: dict[str, object] = small.ask("owner", "GET", "/drafts/newest").json()
    return found


def page(small: SmallSite) -> str:
    headers = {"authorization": f"Bearer {small.tokens['owner']}"}
    return str(small.client.get("/organise/drafts/newest", headers=headers).text)


def test_the_form_asks_for_the_entry_that_was_chosen(small: SmallSite) -> None:
    headers = {"authorization": f"Bearer {small.tokens['owner']}"}
    form = small.client.get("/organise/new/catalogue", headers=headers).text
    mark = re.search(r'name="check" value="([^"]+)"', form)
    sent = {"name": "newest", "entry": "mtme-wmt98-none", **({"check": mark[1]} if mark else {})}
    refused = small.client.post("/organise/new/catalogue", headers=headers, data=sent)
    assert refused.status_code == 422
    assert "No public board named &#39;mtme-wmt98-none&#39;" in refused.text


def test_a_worker_fetches_the_board_from_the_sites_own_mirror(small: SmallSite, mirror: FileServer) -> None:
    use(small, mirror.url)
    begun = small.ask("owner", "POST", "/drafts", data=WANTED)
    assert (begun.status_code, begun.json()["state"]) == (201, "waiting")
    assert "none is there now" in page(small)
    assert mirror.requests == []
    assert work_until_done(small.site) == 1
    assert [path for path, _ in mirror.requests] == [ARCHIVE]
    made = draft(small)
    assert (made["state"], made["progress"], made["problems"]) == ("ready", "", [])
    assert "First instances" in page(small)
    with small.site.database.reading() as connection:
        actions = [entry.action for entry in trail.entries(connection, subject="newest")]
    assert actions == ["draft.ready", "draft.begun"]


def test_the_page_says_how_far_it_is_and_stopping_it_stops_the_fetching(small: SmallSite, mirror: FileServer) -> None:
    use(small, mirror.url)
    begun, over = threading.Event(), threading.Event()

    def dawdle(handler: Handler) -> bool:
        whole = mirror.files[ARCHIVE]
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(whole)))
        handler.end_headers()
        handler.send(whole[:100])
        begun.set()
        over.wait(60)
        return True

    mirror.tricks[ARCHIVE] = [dawdle]
    small.ask("owner", "POST", "/drafts", data=WANTED)
    worker = threading.Thread(target=work_once, args=(small.site, "worker"))
    worker.start()
    assert begun.wait(60)
    assert draft(small)["state"] == "reading"
    assert "Stop it" in page(small)
    assert small.ask("owner", "POST", "/drafts/newest/publish").status_code == 409
    assert small.ask("owner", "DELETE", "/drafts/newest").status_code == 204
    # The reader may hang on the silent server; the worker looks twice a second whether anybody still wants it.
    worker.join(60)
    assert not worker.is_alive()
    over.set()
    assert small.ask("owner", "GET", "/drafts/newest").status_code == 404
    assert [path.name for path in (small.site.data / "drafts").iterdir()] == []


def test_without_a_network_the_message_says_what_to_do(
    small: SmallSite, mirror: FileServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BILLBOARDS_OFFLINE", "1")
    small.ask("owner", "POST", "/drafts", data=WANTED)
    work_until_done(small.site)
    made = draft(small)
    problem = str(made["problems"])
    assert made["state"] == "failed"
    assert "its files can't be fetched: mt-metrics-eval-v2.tgz is not in the cache" in problem
    assert "mirror under [catalogue]" in problem
    assert "--from" not in problem
    assert "Begin again" in page(small)


def test_a_mirror_that_lacks_the_files_is_named(small: SmallSite, mirror: FileServer, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    use(small, str(tmp_path / "empty"))
    small.ask("owner", "POST", "/drafts", data=WANTED)
    work_until_done(small.site)
    assert "holds nothing of" in str(draft(small)["problems"])
