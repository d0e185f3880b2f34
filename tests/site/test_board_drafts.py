"""Boards made without a shell: from the demo, a table, texts or an archive, as a draft first, then on the site."""

from __future__ import annotations

import io
import json
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from api_sites import SmallSite, small_site

from billboards.site.accounts.access import viewer_of_token
from billboards.site.database import trail
from billboards.site.organise import draft_records, drafts
from billboards.site.organise.drafts import Wanted, begin_draft
from billboards.site.site import open_site

ROWS = [(k, g, f"the {g} boat {k}", f"the boat {k}", 1 + (k + len(g)) % 5) for k in range(5) for g in ("slow", "quick")]
TABLE = "instance,system,output,reference,adequacy\n" + "".join(",".join(map(str, row)) + "\n" for row in ROWS)
FACTS = {
    "task": "Name a boat.",
    "licence": "CC0",
    "citation": "None yet.",
    "protocol": "Rated from 1 to 5.",
    "annotators": "The crew.",
    "output-language": "en",
    "definition.adequacy": "Whether it is the right boat.",
}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallSite]:
    made = small_site(tmp_path_factory.mktemp("drafts"))
    yield made
    made.site.close()


def begin(small: SmallSite, source: str, name: str, files: Any = None, **words: Any) -> Any:
    return small.ask("owner", "POST", "/drafts", data={"name": name, "source": source, **words}, files=files)


def folder_archive(name: str, extra: dict[str, str] | None = None) -> bytes:
    files = {
        "board.toml": f'name = "{name}"\nmetrics = ["chrF"]\n',
        "instances.jsonl": json.dumps({"id": "a", "references": [{"name": "r", "text": "a boat"}]}) + "\n",
        "generators/one.jsonl": json.dumps({"instance": "a", "text": "a ship"}) + "\n",
        **(extra or {}),
    }
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as archive:
        for path, text in files.items():
            archive.writestr(f"{name}/{path}", text)
    return raw.getvalue()


@pytest.mark.long
def test_a_table_becomes_a_draft_is_completed_and_published(small: SmallSite) -> None:
    made = begin(small, "table", "boats", {"file": ("boats.csv", TABLE.encode())}, option=["judgment=adequacy"])
    assert made.status_code == 201, made.text
    draft = made.json()
    assert (draft["state"], draft["origin"], draft["problems"]) == ("ready", "boats.csv", [])
    assert draft["missing"] == [*FACTS]
    assert any("5 instances" in note or "instances" in note for note in draft["notes"])
    assert "boats" not in [board["name"] for board in small.ask("owner", "GET", "/boards").json()]
    refused = small.ask("owner", "POST", "/drafts/boats/publish")
    assert (refused.status_code, "lacks task, licence" in refused.json()["detail"]) == (409, True)
    half = dict(list(FACTS.items())[:2])
    assert small.ask("owner", "PATCH", "/drafts/boats/card", json={"facts": half}).json()["missing"] == [*FACTS][2:]
    whole = small.ask("owner", "PATCH", "/drafts/boats/card", json={"facts": FACTS}).json()
    assert whole["missing"] == []
    assert not any("card lacks" in finding["message"] for finding in whole["findings"])
    assert small.ask("owner", "POST", "/drafts/boats/publish").json() == {"board": "boats"}
    assert small.ask("owner", "GET", "/drafts/boats").status_code == 404
    board = small.ask("visitor", "GET", "/boards/boats").json()
    assert (board["instances"], board["generators"], board["draft"]) == (5, 2, [])
    assert (small.site.data / "boards" / "boats" / "board.toml").is_file()
    with small.site.database.reading() as connection:
        actions = [entry.action for entry in trail.entries(connection, subject="boats")]
    assert actions[:1] == ["board.published"]
    assert {"draft.begun", "draft.ready", "draft.facts", "board.added"} <= set(actions)


def test_a_published_board_is_there_when_the_site_is_opened_again(tmp_path: Path) -> None:
    made = small_site(tmp_path)
    begin(made, "table", "boats", {"file": ("boats.csv", TABLE.encode())}, option=["judgment=adequacy"])
    made.ask("owner", "PATCH", "/drafts/boats/card", json={"facts": FACTS})
    made.ask("owner", "POST", "/drafts/boats/publish")
    made.site.close()
    again = open_site(tmp_path / "data")
    assert [board.name for board in again.boards()] == ["boats", "small"]
    again.close()


def test_texts_become_a_draft_with_a_name_from_each_file(small: SmallSite) -> None:
    files = [
        ("output", ("slow.txt", b"a slow boat\na slow ship\n")),
        ("output", ("quick.txt", b"a quick boat\na quick ship\n")),
        ("reference", ("Ada.txt", b"the boat\nthe ship\n")),
        ("inputs", ("asked.txt", b"boat?\nship?\n")),
    ]
    draft = begin(small, "text", "lines", files).json()
    assert draft["state"] == "ready", draft
    board = drafts.draft_board(small.site, drafts.get_draft(small.site, owner(small), "lines"))
    assert [generator.name for generator in board.generators] == ["quick", "slow"]
    assert board.reference_names == ("Ada",)
    assert board.instances[1].input == "ship?"


def owner(small: SmallSite) -> Any:
    return viewer_of_token(small.site, small.tokens["owner"])


def test_what_is_wrong_with_files_is_said_without_paths_of_the_server(small: SmallSite) -> None:
    files = [("output", ("a.txt", b"1\n2\n")), ("output", ("b.txt", b"1\n"))]
    draft = begin(small, "text", "uneven", files).json()
    assert draft["state"] == "failed"
    assert "has 2 lines and" in draft["problems"][0]
    assert str(small.site.data) not in draft["problems"][0]
    draft = begin(small, "table", "broken", {"file": ("x.csv", b"a,b\n1,2\n")}).json()
    assert draft["problems"] == [
        "x.csv: no column for the instance among a, b; name it in the field “Instance”. "
        "A table has a row for each output, with the generator's name in a column"
    ]
    assert small.ask("owner", "POST", "/drafts/broken/publish").status_code == 409
    assert small.ask("owner", "DELETE", "/drafts/broken").status_code == 204
    assert small.ask("owner", "GET", "/drafts/broken").status_code == 404


def test_an_archive_of_a_folder_keeps_its_parts_and_nothing_else(small: SmallSite) -> None:
    extra = {"programs/evil.sh": "rm -rf /", "rankings/1.json": "{}", ".billboards/cells.sqlite": "x"}
    draft = begin(small, "folder", "packed", {"file": ("packed.zip", folder_archive("packed", extra))}).json()
    assert draft["state"] == "ready", draft
    assert draft["notes"] == ["left out: .billboards, programs, rankings; a site computes scores and rankings itself"]
    folder = drafts.folder_of(small.site, "packed")
    assert sorted(path.name for path in folder.iterdir()) == ["board.toml", "generators", "instances.jsonl"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"def score(): pass", "is neither a zip nor a tar archive"),
        (folder_archive("other"), "is called other; give that name"),
        (folder_archive("unsafe", {"../../evil.jsonl": "x"}), "leads out of the folder"),
    ],
)
def test_an_archive_that_is_no_board_is_refused(small: SmallSite, content: bytes, words: str) -> None:
    draft = begin(small, "folder", "unsafe", {"file": ("unsafe.zip", content)}).json()
    small.ask("owner", "DELETE", "/drafts/unsafe")
    assert draft["state"] == "failed"
    assert words in draft["problems"][0]


@pytest.mark.parametrize(
    ("name", "source", "words", "status"),
    [
        ("small", "demo", "there is a board or draft small already", 409),
        ("a b", "demo", "may hold letters, digits", 422),
        ("../up", "demo", "may hold letters, digits", 422),
        ("fetched", "catalogue", "public board", 422),
        ("empty", "table", "send a file", 422),
        ("empty", "text", "send at least one file of outputs", 422),
    ],
)
def test_what_can_be_refused_is_refused_before_anything_is_kept(
    small: SmallSite, name: str, source: str, words: str, status: int
) -> None:
    answer = begin(small, source, name, entry="no-such-board")
    assert (answer.status_code, words in answer.json()["detail"]) == (status, True)


def test_a_draft_whose_server_was_stopped_has_failed_after_a_while(small: SmallSite) -> None:
    wanted = Wanted(name="lost", source="demo")
    with small.site.database.writing() as connection:
        draft_records.add_draft(connection, "lost", "demo", wanted.origin, actor="owner", now=small.site.clock() - 9000)
    draft = small.ask("owner", "GET", "/drafts/lost").json()
    assert (draft["state"], draft["problems"][0][:27]) == ("failed", "reading it was interrupted;")
    assert small.ask("owner", "DELETE", "/drafts/lost").status_code == 204


@pytest.mark.long
def test_what_takes_longer_than_somebody_waits_goes_on(small: SmallSite) -> None:
    draft = begin_draft(small.site, owner(small), Wanted(name="later", source="demo"), patience=0.0)
    assert draft.state == "reading"
    assert small.ask("owner", "DELETE", "/drafts/later").status_code == 409
    while drafts.get_draft(small.site, owner(small), "later").state == "reading":
        time.sleep(0.1)
    ready = small.ask("owner", "GET", "/drafts/later").json()
    assert (ready["state"], ready["missing"]) == ("ready", [])


def test_a_board_begun_again_takes_the_place_of_one_that_could_not_be_read(small: SmallSite) -> None:
    assert begin(small, "table", "again", {"file": ("x.csv", b"a,b\n1,2\n")}).json()["state"] == "failed"
    table = "id;system;output;adequacy\n1;ann;a cat;4\n1;bob;a dog;2\n".encode("utf-8-sig")
    draft = begin(small, "table", "again", {"file": ("x.csv", table)}).json()
    assert draft["state"] == "ready", draft["problems"]
    assert "x.csv: its columns are separated by semicolons" in draft["notes"]
    assert begin(small, "demo", "again").status_code == 409
    assert small.ask("owner", "DELETE", "/drafts/again").status_code == 204


def test_a_spreadsheet_is_asked_for_as_csv(small: SmallSite) -> None:
    draft = begin(small, "table", "sheet", {"file": ("x.xlsx", b"PK")}).json()
    assert draft["problems"][0].startswith("x.xlsx: is a spreadsheet; save the sheet as CSV in UTF-8")
    page = small.client.get("/organise/drafts/sheet", headers={"Authorization": f"Bearer {small.tokens['owner']}"})
    assert "<li>x.xlsx: is a spreadsheet" in page.text
    assert small.ask("owner", "DELETE", "/drafts/sheet").status_code == 204
