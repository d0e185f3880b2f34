"""Submitted files in a real S3 server: the same promises as a folder's, and a site that lives on it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from s3_server import BUCKET, S3Server
from small_sites import MakeHarbour, make_board

from billboards.errors import InvalidInput, StoreFailed
from billboards.site.admin import operations
from billboards.site.admin.backup import back_up, restore
from billboards.site.admin.expiry import files_of_withdrawn, remove_unnamed, remove_withdrawn, unnamed_files
from billboards.site.admin.operations import verify_files
from billboards.site.boards.live import live_board
from billboards.site.database.retention import DAY, Amount
from billboards.site.site import open_site
from billboards.site.submissions import sending as submitting
from billboards.site.submissions.blobs import Blobs, ObjectBlobs
from billboards.site.web.app import create_app
from billboards.site.work.worker import work_until_done


@pytest.fixture(scope="module")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    """A server; tests that need it skip, saying so, where it is not installed."""
    if find_spec("moto") is None or find_spec("s3fs") is None:
        pytest.skip("moto's S3 server and s3fs are not installed; the extra `test` has them")
    with S3Server(tmp_path_factory.mktemp("s3") / "log") as server, pytest.MonkeyPatch.context() as patch:
        for name, value in server.environment.items():
            patch.setenv(name, value)
        yield server


def test_what_is_put_is_read_by_another_client_and_gone_when_removed(s3: S3Server) -> None:
    ours, theirs = ObjectBlobs(f"s3://{BUCKET}/one"), ObjectBlobs(f"s3://{BUCKET}/one/")
    name = ours.put(b"lines")
    assert ours.put(b"lines") == name
    assert theirs.read(name) == b"lines"
    assert theirs.touched(name) > 1_700_000_000
    theirs.remove(name)
    theirs.remove(name)
    assert ours.touched(name) == 0.0
    with pytest.raises(StoreFailed, match="can't be read"):
        ours.read(name)


def test_damaged_content_and_a_bucket_that_is_not_there_are_named(s3: S3Server) -> None:
    blobs = ObjectBlobs(f"s3://{BUCKET}/two")
    name = blobs.put(b"lines")
    blobs._files.pipe_file(f"{BUCKET}/two/{name[:2]}/{name}", b"other")
    with pytest.raises(StoreFailed, match="is damaged"):
        blobs.read(name)
    with pytest.raises(StoreFailed, match="see that the bucket is there"):
        ObjectBlobs("s3://no-such-bucket/x").put(b"lines")
    with pytest.raises(InvalidInput, match="no address of object storage"):
        ObjectBlobs("bucket/prefix")


def test_a_site_whose_bucket_is_gone_or_refuses_is_not_ready_and_names_no_bucket(
    s3: S3Server, make_harbour: MakeHarbour, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operations, "BELIEVED", 0.0)
    harbour = make_harbour(make_board(6, 2, metrics=("length",)), settings=f'blobs = "s3://{BUCKET}/watched"\n')
    site = harbour.site
    sent = submitting.submit_generator(site, harbour.owner, "ferry", "tug", harbour.outputs(0)).submission
    client = TestClient(create_app(site), "http://127.0.0.1", client=("127.0.0.1", 50_000))
    assert client.get("/ready").status_code == 200
    site.blobs.remove(sent.blob)
    assert client.get("/ready").json()["obstacles"] == ["submitted files are missing"]
    lost = verify_files(site).lost
    assert [(file.file, file.state) for file in lost] == [(sent.blob, "missing")]
    gone = replace(site, blobs=ObjectBlobs("s3://no-such-bucket/x"))
    answer = TestClient(create_app(gone), "http://127.0.0.1").get("/ready")
    assert answer.json()["obstacles"] == ["the store of submitted files can't be reached"]
    work_until_done(site)
    failed = harbour.now(sent)
    assert failed.state == "failed"
    assert BUCKET not in str(failed.reason)


def test_a_site_on_s3_scores_is_saved_and_restored_into_a_folder(
    s3: S3Server, make_harbour: MakeHarbour, tmp_path: Path
) -> None:
    harbour = make_harbour(make_board(6, 2, metrics=("chrF", "length")), settings=f'blobs = "s3://{BUCKET}/three"\n')
    site = harbour.site
    sent = submitting.submit_generator(site, harbour.person("ann"), "ferry", "tug", harbour.outputs(0)).submission
    work_until_done(site)
    assert set(live_board(site, "ferry").generators) == {"tug"}
    assert not (site.data / "blobs").exists()
    back_up(site, tmp_path / "a.tar.gz")
    restore(tmp_path / "a.tar.gz", tmp_path / "new")
    with closing(open_site(tmp_path / "new", clock=harbour.clock)) as restored:
        assert isinstance(restored.blobs, Blobs)
        assert restored.blobs.read(sent.blob) == site.blobs.read(sent.blob)


def test_objects_that_nobody_names_go_when_they_are_old_and_nothing_else_does(
    s3: S3Server, make_harbour: MakeHarbour
) -> None:
    assert list(ObjectBlobs(f"s3://{BUCKET}/empty").listed()) == []
    harbour = make_harbour(make_board(6, 2, metrics=("chrF",)), settings=f'blobs = "s3://{BUCKET}/four"\n')
    site, now = harbour.site, time.time()
    sent = submitting.submit_generator(site, harbour.owner, "ferry", "tug", harbour.outputs(0)).submission
    size, orphan = site.blobs.size(sent.blob), site.blobs.put(b"nobody's")
    assert isinstance(site.blobs, ObjectBlobs)
    site.blobs._files.pipe_file(f"{BUCKET}/four/no/notes.txt", b"the owner's own")
    assert unnamed_files(site, now - DAY) == {}
    assert unnamed_files(site, now + DAY) == {orphan: 8}
    assert remove_unnamed(site, orphan, 8, before=now - DAY) == Amount()
    assert remove_unnamed(site, sent.blob, size, before=now + DAY) == Amount()
    assert remove_unnamed(site, orphan, 8, before=now + DAY) == Amount(1, 8)
    assert dict(site.blobs.listed()) == {sent.blob: size}
    submitting.withdraw(site, harbour.owner, sent.id)
    harbour.clock.now += 1
    found = files_of_withdrawn(site, site.clock(), now + DAY)
    assert found == {sent.blob: size}
    assert remove_withdrawn(site, sent.blob, size, over=site.clock(), sent=now - DAY) == Amount()
    assert remove_withdrawn(site, sent.blob, size, over=site.clock(), sent=now + DAY) == Amount(1, size)
    assert (harbour.now(sent).blob, list(site.blobs.listed())) == ("", [])
    assert site.blobs._files.exists(f"{BUCKET}/four/no/notes.txt")
