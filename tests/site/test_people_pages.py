"""A site that ranks by people: what its owner may choose, what a reader may ask for, and what stays hidden."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from page_sites import ODD, PageSite, page_board, page_site

from billboards.board.judgments import JudgmentColumns
from billboards.errors import InvalidInput
from billboards.site.boards.live import live_board
from billboards.site.boards.masked import Look
from billboards.site.pages.generators import score_lines

BOARD = "/boards/harbour"


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> PageSite:
    made = page_site(tmp_path_factory.mktemp("people"))
    made.work()
    return made


def patch(small: PageSite, **changes: object) -> tuple[int, dict[str, object]]:
    owner = {"authorization": f"Bearer {small.tokens['owner']}"}
    answer = small.client.patch(f"/api/v1{BOARD}/settings", json=changes, headers=owner)
    return answer.status_code, answer.json()


def ranking(small: PageSite) -> dict[str, object]:
    document: dict[str, object] = small.client.get(f"/api/v1{BOARD}/ranking").json()["ranking"]
    return document


def test_a_reader_may_ask_for_people(small: PageSite) -> None:
    page = small.get(f"{BOARD}?by=people")
    assert page.status_code == 200
    assert "Generators are ranked by <strong>people</strong> (overall), as you asked." in page.text
    assert "Ranked again on the whole board, by people." in page.text
    assert 'title="95% interval ' in page.text
    assert "late is not ranked: not judged by people." in page.text
    assert '<option value="people" selected>people</option>' in page.text
    assert small.get(f"{BOARD}?by=nonsense").status_code == 404


def test_everybody_sees_how_sure_people_are_whoever_ranks(small: PageSite) -> None:
    people = ranking(small)["people"]
    assert isinstance(people, dict)
    standings = {standing["name"]: standing for standing in people["overall"]["generators"]}
    assert set(standings) == {"Cleo", ODD, "a/b c?d#e%f"}
    assert standings["Cleo"]["rank"] == 1
    page = small.get(f"{BOARD}/generators/Cleo").text
    assert "95% interval" in page


def test_an_owner_may_let_people_rank_and_an_unknown_name_is_refused(tmp_path: Path) -> None:
    small = page_site(tmp_path)
    small.work()
    status, answer = patch(small, by="peopel")
    assert status == 422
    assert "people" in str(answer["problems"])
    assert patch(small, by="people")[0] == 200
    small.work()
    said = ranking(small)
    assert said["ranked_by"] == "people"
    page = small.get(BOARD).text
    assert "Generators are ranked by <strong>people</strong> (overall), chosen by the board’s owner." in page
    history = small.client.get(f"/api/v1{BOARD}/history/generator?name=Cleo").json()
    assert [place["rank"] for place in history][-1] == 1
    # What people said may be hidden later, so places keep ranks and no means.
    assert history[-1]["value"] is None


def test_hidden_judgments_never_rank_and_leave_no_trace(tmp_path: Path) -> None:
    small = page_site(tmp_path)
    small.settle(by="people")
    small.work()
    assert ranking(small)["ranked_by"] == "people"
    with pytest.raises(InvalidInput, match="hides its judgments, so people can't rank it"):
        small.settle(hidden_judgments=True)
    small.settle(by=None, hidden_judgments=True)
    # The last ranking was by people: until there is another, nobody learns the order they gave.
    before = ranking(small)
    assert before["people"] is None
    assert {g["rank"] for g in before["generators"]} == {None}  # type: ignore[attr-defined]
    small.work()
    after = ranking(small)
    assert after["ranked_by"] != "people"
    assert after["people"] is None
    refused = small.get(f"{BOARD}?by=people")
    assert refused.status_code != 200


def test_a_folder_that_asks_for_people_is_passed_over_where_judgments_are_hidden(tmp_path: Path) -> None:
    small = page_site(tmp_path)
    settings = small.site.data.parent / "harbour" / "board.toml"
    settings.write_text(settings.read_text("utf-8").replace('ranks = "overall"', 'ranks = "overall"\nby = "people"'))
    small.settle(hidden_judgments=True)
    small.work()
    said = ranking(small)
    assert said["ranked_by"] != "people"
    assert "not ranked by people: their judgments are hidden" in said["notes"]  # type: ignore[operator]


def test_a_generators_page_has_its_own_mean_on_each_dimension(tmp_path: Path) -> None:
    board = page_board()
    adequacy = board.dimensions["adequacy"]
    two = {"adequacy": adequacy, "style": replace(adequacy, name="style")}
    judged = JudgmentColumns(tuple(two))
    for k in range(len(board.instances)):
        for g, style in ((0, 1.0), (3, 5.0)):
            judged.add(k, g, {"adequacy": 2.0 + k % 3, "style": style}, annotator="ann")
    aggregates = {"overall": replace(board.aggregates["overall"], dimensions=tuple(two))}
    small = page_site(tmp_path, board=replace(board, judgments=judged.build(), dimensions=two, aggregates=aggregates))
    small.work()
    live = Look(live_board(small.site, "harbour")).ranking
    assert live is not None
    for name, mean in ((ODD, "0.0"), ("Cleo", "100.0")):
        lines = {line.name: line for line in score_lines(live, name)}
        assert (lines["people: style"].text, lines["people: style"].metric) == (mean, None)
    assert "metrics/people" not in small.get(f"{BOARD}/generators/Cleo").text
