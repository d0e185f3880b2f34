"""Forged rankings, changed downloads and swapped keys, through `billboards verify`.

- a score changed in the download: visible (metric, generator, instance; exit 1)
- a number changed in the ranking of the download: visible, as a number and as a statement about another document
- scores and ranking changed together: visible at the scores, which the metric doesn't give
- a ranking signed anew with the forger's own key: prevented for who names the site's key; else the page says that the
  key came along
- a statement of another board, or of another ranking, put beside a ranking: prevented
- a statement of what owners see: never signed
- a later ranking that nobody signed: prevented for who names a key
- a cut-off, hostile or huge archive: prevented (exit 2, nothing written outside, bounded)
- a cache smuggled into the archive: ignored
- a site that leads elsewhere, or sends without end: prevented
- a site that signs different rankings for different people: visible to both, by number, digest and key
- the private key: in no page, download or answer
"""

from __future__ import annotations

import io
import json
import sqlite3
import stat
import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from page_sites import PageSite, page_site
from serving import served
from small_sites import make_board
from verified_boards import edit_scores

import billboards as bb
from billboards.api import claims
from billboards.cli.main import main
from billboards.show.documents import document_of
from billboards.signing import document_digest, key_id, new_private_key, public_key_of, read_signed, sign
from billboards.site.admin.backup import back_up, restore
from billboards.site.boards.packed_documents import pack, unpack
from billboards.site.boards.signatures import change_key, site_keys
from billboards.site.site import SIGNING

Edit = Callable[[Path], object]


@pytest.fixture(scope="module")
def ferry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageSite]:
    """A site with a ranked board, whose rankings before and after a submitted generator are signed."""
    site = page_site(tmp_path_factory.mktemp("ferry"), board=make_board())
    site.settle(draws=20)
    site.work()
    site.submit("newcomer", word="ferry")
    site.work()
    yield site
    site.site.close()


@pytest.fixture(scope="module")
def packed(ferry: PageSite) -> bytes:
    """The board as everybody downloads it."""
    return bytes(ferry.get("/boards/ferry/downloads/board.zip").content)


@pytest.fixture(scope="module")
def key(ferry: PageSite) -> str:
    """The site's public key, as it is published."""
    (listed,) = ferry.client.get("/api/v1/keys").json()
    return str(listed["public_key"])


def edited(packed: bytes, target: Path, edit: Edit) -> Path:
    """The download after somebody has changed it."""
    zipfile.ZipFile(io.BytesIO(packed)).extractall(target)
    edit(target / "ferry")
    archive = target / "changed.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packing:
        for path in sorted((target / "ferry").rglob("*")):
            if path.is_file():
                packing.write(path, path.relative_to(target))
    return archive


def latest(folder: Path) -> tuple[Path, dict[str, Any]]:
    """The file of the latest ranking, and what is in it."""
    files = {path: json.loads(path.read_text()) for path in (folder / "rankings").iterdir()}
    numbers = {path.stem: json.loads(path.read_text())["statement"]["number"] for path in statements(folder)}
    path = max(files, key=lambda file: numbers.get(file.stem, 0))
    return path, files[path]


def statements(folder: Path) -> list[Path]:
    return [path for path in (folder / "signed").iterdir() if path.name != "keys.json"]


def change_ranking(folder: Path) -> None:
    """The second generator changes places with the first."""
    path, document = latest(folder)
    first, second = document["ranking"]["generators"][:2]
    first["name"], second["name"] = second["name"], first["name"]
    path.write_text(json.dumps(document))


def test_an_untouched_download_is_proven_to_the_last_bit(packed: bytes, key: str, tmp_path: Path) -> None:
    archive = tmp_path / "board.zip"
    archive.write_bytes(packed)
    answer = bb.verify(archive, key=key)
    verified = answer.value
    assert not verified.differs
    statements = next(table for table in answer.tables if table.name == "statements")
    assert {column.key for column in statements.columns} == set(statements.rows[0])
    assert {column.outcome for column in verified.columns} == {"equal"}
    assert verified.ranking is not None
    assert verified.ranking.outcome == "equal"
    assert verified.proof is not None
    assert (verified.proof.pinned, verified.proof.checked, verified.proof.statement.number) == (True, True, 2)
    assert [proof.statement.number for proof in verified.others] == [1]
    assert bb.verify(archive, ranking="1", metrics="length").value.differs, "it rests on fewer generators"


def test_a_changed_score_is_named(packed: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def raise_score(folder: Path) -> None:
        edit_scores(folder, "ROUGE-L", "g3", lambda scores: scores.__setitem__(5, scores[5] + 0.2))

    archive = edited(packed, tmp_path, raise_score)
    assert main(["verify", str(archive), "--jobs", "1", "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    wrong = [(c["metric"], cell) for c in document["columns"] for cell in c["cells"] if cell["outcome"] == "differs"]
    assert {(m, cell["generator"]) for m, cell in wrong} == {("ROUGE-L", "g3")}
    assert "i5" in [cell["instance"] for _, cell in wrong]


def test_a_changed_ranking_is_no_longer_what_the_site_signed(packed: bytes, key: str, tmp_path: Path) -> None:
    archive = edited(packed, tmp_path, change_ranking)
    verified = bb.verify(archive, key=key, metrics="length").value
    assert verified.proof is not None
    assert verified.proof.problems == (
        "is about another document: this one was changed, or its statement is another's",
    )
    assert verified.ranking is not None
    places = {number.place for number in verified.ranking.numbers if number.outcome == "differs"}
    assert "generators, order" in places


def test_scores_and_ranking_that_were_changed_together_are_found_at_the_scores(packed: bytes, tmp_path: Path) -> None:
    def forge(folder: Path) -> None:
        edit_scores(folder, "chrF", "g3", lambda scores: scores.fill(99.0))
        for path in (folder / "rankings").iterdir():
            path.unlink()
        bb.rank(bb.open(folder), draws=20, save=True)

    verified = bb.verify(edited(packed, tmp_path, forge)).value
    assert verified.ranking is not None
    assert verified.ranking.outcome == "equal"
    wrong = [
        (column.metric, cell.generator)
        for column in verified.columns
        for cell in column.cells
        if cell.outcome == "differs"
    ]
    assert ("chrF", "g3") in wrong
    assert {metric for metric, _ in wrong} == {"chrF"}
    assert verified.differs


def sign_anew(folder: Path, private_key: str) -> None:
    """Put the forger's signature and key in the place of the site's."""
    path, document = latest(folder)
    place = folder / "signed" / path.name
    said = json.loads(place.read_text())["statement"]
    said |= {"documents": {"ranking": document_digest(document["ranking"])}, "key": key_id(public_key_of(private_key))}
    place.write_text(json.dumps(sign(said, private_key).as_document()))
    listed = {"id": said["key"], "public_key": public_key_of(private_key), "created": "", "retired": None}
    (folder / "signed" / "keys.json").write_text(json.dumps({"keys": [listed]}))


def test_a_swapped_key_is_refused_by_who_names_the_sites_own(
    packed: bytes, key: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    forger = new_private_key()

    def forge(folder: Path) -> None:
        change_ranking(folder)
        sign_anew(folder, forger)

    archive = edited(packed, tmp_path, forge)
    naming = bb.verify(archive, key=key, metrics="length").value
    assert naming.proof is not None
    assert naming.proof.problems == (
        f"is signed with key {key_id(public_key_of(forger))}, not with the one named ({key_id(key)})",
    )
    # Without a key the signature holds, and the page says what that is worth; the numbers differ all the same.
    trusting = bb.verify(archive, metrics="length")
    assert trusting.value.proof is not None
    assert trusting.value.proof.problems == ()
    assert any("The key came from the same place as the ranking" in words for words in trusting.words)
    assert trusting.value.differs


def test_another_rankings_or_another_boards_statement_proves_nothing(
    ferry: PageSite, packed: bytes, key: str, tmp_path: Path
) -> None:
    def replay(folder: Path) -> None:
        path, _ = latest(folder)
        (other,) = [each for each in statements(folder) if each.stem != path.stem]
        (folder / "signed" / path.name).write_text(other.read_text())

    replayed = bb.verify(edited(packed, tmp_path / "replayed", replay), key=key, metrics="length").value
    assert any("is about another document" in problem for problem in _problems(replayed))

    def rename(folder: Path) -> None:
        """The same board under another name, with its statements."""
        toml = folder / "board.toml"
        toml.write_text(toml.read_text().replace('"ferry"', '"harbour"'))

    renamed = bb.verify(edited(packed, tmp_path / "renamed", rename), key=key, metrics="length").value
    assert any("is about board ferry, not harbour" in problem for problem in _problems(renamed))

    keys = site_keys(ferry.site)

    def owners(folder: Path) -> None:
        """A statement about what owners see, by the site's own key."""
        path, _ = latest(folder)
        place = folder / "signed" / path.name
        said = json.loads(place.read_text())["statement"] | {"audience": "owners"}
        place.write_text(json.dumps(sign(said, keys.private_key).as_document()))

    shown = bb.verify(edited(packed, tmp_path / "owners", owners), key=key, metrics="length").value
    assert any("is about what owners see" in problem for problem in _problems(shown))


def _problems(verified: Any) -> list[str]:
    return [problem for proof in verified.proofs for problem in proof.problems]


def test_a_signature_that_is_not_of_the_statement_is_refused(packed: bytes, tmp_path: Path) -> None:
    def forge(folder: Path) -> None:
        path, _ = latest(folder)
        place = folder / "signed" / path.name
        document = json.loads(place.read_text())
        document["statement"]["site"] = "A better site"
        place.write_text(json.dumps(document))

    verified = bb.verify(edited(packed, tmp_path, forge), metrics="length").value
    assert _problems(verified) == ["has a signature that is not of this statement and key"]


def test_a_later_ranking_that_nobody_signed_is_not_passed_for_a_signed_one(
    packed: bytes, key: str, tmp_path: Path
) -> None:
    def add(folder: Path) -> None:
        _, document = latest(folder)
        later = document | {"created": "2999-01-01T00:00:00+00:00"}
        (folder / "rankings" / "ffffffffffff.json").write_text(json.dumps(later))

    archive = edited(packed, tmp_path, add)
    verified = bb.verify(archive, key=key, metrics="length")
    assert verified.value.problems == ("ranking ffffffffffff is not signed, although a key is named",)
    assert "Nobody signed the ranking." in bb.verify(archive, metrics="length").words


def test_a_quoted_ranking_is_proven_alone_and_one_changed_digit_is_seen(
    ferry: PageSite, key: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sources = {
        "downloaded.json": ferry.get("/boards/ferry/downloads/signed-ranking.json").json(),
        "interface.json": ferry.client.get("/api/v1/boards/ferry/ranking").json(),
        "earlier.json": ferry.client.get("/api/v1/boards/ferry/rankings/1").json(),
    }
    for name, document in sources.items():
        path = tmp_path / name
        path.write_text(json.dumps(document, indent=4))
        assert main(["verify", str(path), "--key", key]) == 0, name
        assert "signed with the key named" in capsys.readouterr().out
        document["ranking"]["metrics"][0]["correlation"] += 1e-15
        path.write_text(json.dumps(document))
        assert main(["verify", str(path), "--key", key]) == 1, name
        assert "is about another document" in capsys.readouterr().out


@pytest.mark.parametrize("share", [0.0, 0.5, 0.99])
def test_a_cut_off_download_is_refused(
    packed: bytes, share: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = tmp_path / "board.zip"
    archive.write_bytes(packed[: int(share * len(packed))])
    assert main(["verify", str(archive)]) == 2
    assert "cut off" in capsys.readouterr().err


def test_a_bomb_is_not_unpacked(packed: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    archive = tmp_path / "board.zip"
    archive.write_bytes(packed)
    with zipfile.ZipFile(archive, "a", zipfile.ZIP_DEFLATED) as packing:
        packing.writestr("ferry/zeros", bytes(100 * 2**20))
    assert archive.stat().st_size < 300_000
    assert main(["verify", str(archive)]) == 2
    assert "more than the" in capsys.readouterr().err


def test_nothing_of_an_archive_lands_outside_and_no_link_is_followed(
    packed: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("a secret")
    archive = tmp_path / "board.zip"
    archive.write_bytes(packed)
    with zipfile.ZipFile(archive, "a") as packing:
        packing.writestr("../outside.txt", "here")
        packing.writestr("ferry/../../outside.txt", "here")
    folder = claims.unpacked_board(archive, tmp_path / "a" / "b")
    assert bb.open(folder).name == "ferry"
    assert not list(tmp_path.rglob("outside.txt"))
    link = zipfile.ZipInfo("ferry/instances.txt")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(archive, "a") as packing:
        packing.writestr(link, str(secret))
    assert main(["verify", str(archive)]) == 2
    assert "link" in capsys.readouterr().err


def test_no_cache_comes_out_of_an_archive(packed: bytes, tmp_path: Path) -> None:
    archive = tmp_path / "board.zip"
    archive.write_bytes(packed)
    with zipfile.ZipFile(archive, "a") as packing:
        packing.writestr("ferry/.billboards/read/judgments.npz", b"numbers that no file holds")
        packing.writestr("ferry/.hidden", b"")
    folder = claims.unpacked_board(archive, tmp_path / "out")
    hidden = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.name.startswith(".")]
    assert hidden == [".billboards"]
    assert [path.name for path in (folder / ".billboards").iterdir()] == ["cells.sqlite"]


class _Answer:
    """What a hostile server answers everything with."""

    status = 200
    headers: dict[str, str]
    body: Callable[[], Iterator[bytes]]

    def __init__(self, status: int, headers: dict[str, str], body: Callable[[], Iterator[bytes]]) -> None:
        self.status, self.headers, self.body = status, headers, body


@contextmanager
def answering(answer: _Answer) -> Iterator[str]:
    """A server on loopback that answers so."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.end_headers()
            try:
                for chunk in answer.body():
                    self.wfile.write(chunk)
            except OSError:
                return

        def log_message(self, *_: object) -> None:
            """Tests are quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join(10)


def test_a_site_that_leads_elsewhere_is_not_followed(capsys: pytest.CaptureFixture[str]) -> None:
    asked = []

    def body() -> Iterator[bytes]:
        asked.append(True)
        yield b""

    with (
        answering(_Answer(200, {}, body)) as elsewhere,
        answering(_Answer(302, {"location": f"{elsewhere}/boards/ferry"}, lambda: iter([b""]))) as site,
    ):
        assert main(["verify", f"{site}/boards/ferry"]) == 1
    assert "leads elsewhere" in capsys.readouterr().err
    assert asked == []


def test_a_download_without_end_is_cut_at_the_bound(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(claims, "MOST_PACKED", 1 << 20)

    def endless() -> Iterator[bytes]:
        while True:
            yield bytes(1 << 16)

    with answering(_Answer(200, {}, endless)) as site:
        assert main(["verify", f"{site}/boards/ferry"]) == 1
    assert "more than 1,048,576 bytes" in capsys.readouterr().err
    with answering(_Answer(200, {"content-length": "99999999"}, endless)) as site:
        assert main(["verify", f"{site}/boards/ferry"]) == 1
    assert "99,999,999 bytes, more than" in capsys.readouterr().err
    with answering(_Answer(200, {"content-encoding": "gzip"}, endless)) as site:
        assert main(["verify", f"{site}/boards/ferry"]) == 1
    assert "is sent compressed" in capsys.readouterr().err


def test_a_board_on_a_site_is_fetched_and_proven(
    ferry: PageSite, key: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "key.txt"
    path.write_text(key)
    with served(ferry, working=False) as address:  # type: ignore[arg-type]
        assert main(["verify", f"{address}/boards/ferry", "--key", str(path), "--jobs", "1"]) == 0
        assert main(["verify", f"{address}/boards/nobodys", "--jobs", "1"]) == 2
    assert "signed with the key named" in capsys.readouterr().out


def test_two_different_rankings_under_one_number_are_seen_by_both(
    ferry: PageSite, packed: bytes, key: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The site itself lies: with its own key it signs another ranking for one reader."""
    told = ferry.get("/boards/ferry/downloads/signed-ranking.json").json()
    told["ranking"]["generators"].reverse()
    said = told["statement"] | {"documents": {"ranking": document_digest(told["ranking"])}}
    lie = sign(said, site_keys(ferry.site).private_key).as_document() | {"ranking": told["ranking"]}
    quoted, archive = tmp_path / "quoted.json", tmp_path / "board.zip"
    quoted.write_text(json.dumps(lie))
    archive.write_bytes(packed)
    # Each of the two holds: the key can't tell them apart.
    first, second = bb.verify(quoted, key=key).value, bb.verify(archive, key=key, metrics="length").value
    assert first.proof is not None
    assert second.proof is not None
    assert not first.differs
    assert not second.differs
    one, other = first.proof, second.proof
    assert (one.statement.number, one.statement.ranking) == (other.statement.number, other.statement.ranking)
    assert one.digest != other.digest
    # Whoever has both has the proof that the site told two people different things.
    assert main(["verify", str(archive), "--ranking", str(quoted), "--key", key, "--metric", "length"]) == 1
    assert "signed two different documents as ranking 2" in capsys.readouterr().err
    # And whoever was given the digest finds nothing under it.
    assert main(["verify", str(archive), "--ranking", one.digest[:16], "--key", key]) == 2
    assert main(["verify", str(archive), "--ranking", other.digest[:16], "--key", key, "--metric", "length"]) == 0


def test_what_only_owners_see_is_never_signed_and_hidden_numbers_are_said_to_be_so(tmp_path: Path) -> None:
    site = page_site(tmp_path, board=make_board())
    site.settle(draws=20, hidden_judgments=True, hidden_references=True)
    site.work()
    headers = {"authorization": f"Bearer {site.tokens['owner']}"}
    everybody = site.client.get("/api/v1/boards/ferry/ranking").json()
    owners = site.client.get("/api/v1/boards/ferry/ranking", headers=headers).json()
    assert everybody["ranking"]["generators"][0]["human"] is None
    assert owners["ranking"]["generators"][0]["human"] is not None
    assert owners["signed"] is None
    assert site.get("/boards/ferry/downloads/signed-ranking.json", "owner").status_code == 422
    signed = read_signed(everybody["signed"], "answer")
    assert signed.statement.hidden == ("references", "judgments")
    assert signed.statement.documents["ranking"] == document_digest(everybody["ranking"])
    archive = tmp_path / "board.zip"
    archive.write_bytes(site.get("/boards/ferry/downloads/board.zip").content)
    verified = bb.verify(archive, key=signed.public_key).value
    assert not verified.differs
    assert verified.ranking is not None
    assert {column.reason for column in verified.columns if column.metric == "chrF"} == {
        "the references that it saw are not in this folder"
    }
    reasons = {number.reason for number in verified.ranking.numbers}
    assert reasons == {"people's judgments are not in this folder", "the references are not in this folder"}
    equal = {section.section: section.equal for section in verified.ranking.sections}
    assert equal["generators"] > 20
    with zipfile.ZipFile(io.BytesIO(site.get("/boards/ferry/downloads/everything.zip", "owner").content)) as owned:
        assert [name for name in owned.namelist() if "signed" in name] == ["ferry/signed/keys.json"]
    site.site.close()


def test_the_private_key_is_for_the_sites_account_alone_and_in_nothing_that_is_served(
    ferry: PageSite, packed: bytes
) -> None:
    path = ferry.site.data / SIGNING
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    private = site_keys(ferry.site).private_key
    assert private in path.read_text()
    answers = ["/boards/ferry/downloads", "/boards/ferry", "/boards/ferry/downloads/signed-ranking.json"]
    answers += ["/api/v1/keys", "/api/v1/boards/ferry/ranking", f"/{SIGNING}", f"/boards/ferry/downloads/{SIGNING}"]
    for address in answers:
        assert private not in ferry.get(address, "owner").text, address
    assert key_id(public_key_of(private)) in ferry.get("/api/v1/keys").text
    assert public_key_of(private) in ferry.get("/boards/ferry/downloads").text
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        assert not [name for name in archive.namelist() if private.encode() in archive.read(name)]


def test_a_new_key_signs_from_now_on_and_the_old_one_stays_published(tmp_path: Path) -> None:
    site = page_site(tmp_path, board=make_board())
    site.settle(draws=0)
    site.work()
    quoted = site.client.get("/api/v1/boards/ferry/ranking").json()
    assert main(["serve", str(site.site.data), "--new-key"]) == 0
    old, new = site.client.get("/api/v1/keys").json()
    assert (old["public_key"], bool(old["retired"])) == (quoted["signed"]["public_key"], True)
    assert (new["public_key"], new["retired"]) == (site_keys(site.site).current.public_key, None)
    again = site.client.get("/api/v1/boards/ferry/ranking").json()
    assert again["signed"]["public_key"] == new["public_key"]
    assert again["ranking"] == quoted["ranking"]
    keys, path = tmp_path / "keys.json", tmp_path / "quoted.json"
    keys.write_text(json.dumps([old, new]))
    path.write_text(json.dumps(quoted))
    proof = bb.verify(path, key=keys).value.proof
    assert proof is not None
    assert (proof.pinned, proof.retired) == (True, old["retired"])
    # The private half of the old key is gone: what was stolen with the new one can't sign as of old.
    text = (site.site.data / SIGNING).read_text()
    assert text.count("private_key") == 1
    site.site.close()


def test_a_backup_holds_the_key_and_a_restored_site_signs_as_before(ferry: PageSite, tmp_path: Path) -> None:
    back_up(ferry.site, tmp_path / "backup")
    restore(tmp_path / "backup", tmp_path / "restored")
    path = tmp_path / "restored" / SIGNING
    assert path.read_bytes() == (ferry.site.data / SIGNING).read_bytes()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_processes_that_make_the_first_key_together_agree_on_one(tmp_path: Path) -> None:
    site = page_site(tmp_path, board=make_board()).site
    made: list[str] = []
    threads = [threading.Thread(target=lambda: made.append(site_keys(site).private_key)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(made)) == 1
    assert len(made) == 8
    assert not [path for path in site.data.iterdir() if path.name.endswith(".part")]
    before = made[0]
    assert change_key(site).public_key != public_key_of(before)
    site.close()


def test_a_ranking_in_the_database_that_was_changed_is_signed_and_differs(ferry: PageSite, tmp_path: Path) -> None:
    """Who can write to the site's database can have a lie signed; whoever computes the board again sees it."""
    own = page_site(tmp_path, board=make_board())
    own.settle(draws=20)
    own.work()
    with closing(sqlite3.connect(own.site.data / "site.sqlite")) as database, database:
        (packed,) = database.execute("select packed from rankings where number = 1").fetchone()
        document = json.loads(unpack(packed))
        document["ranking"]["metrics"][-1]["correlation"] = 0.99
        database.execute("update rankings set packed = ?, base = null", (pack(json.dumps(document)),))
    archive = tmp_path / "board.zip"
    archive.write_bytes(own.get("/boards/ferry/downloads/board.zip").content)
    verified = bb.verify(archive, metrics="length").value
    assert _problems(verified) == []
    assert verified.ranking is not None
    name = document["ranking"]["metrics"][-1]["name"]
    assert [number.place for number in verified.ranking.numbers] == [f"metrics, {name}, correlation"]
    own.site.close()


def test_statements_about_one_ranking_are_the_same_wherever_they_are_served(ferry: PageSite) -> None:
    downloaded = ferry.get("/boards/ferry/downloads/signed-ranking.json").json()
    answered = ferry.client.get("/api/v1/boards/ferry/ranking").json()["signed"]
    assert answered["statement"] == downloaded["statement"]
    assert answered["signature"] == downloaded["signature"]
    statement = read_signed(downloaded, "download").statement
    assert document_of(replace(statement)) == downloaded["statement"]
    assert (statement.board, statement.audience, statement.number) == ("ferry", "public", 2)
