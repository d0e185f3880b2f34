"""A campaign's answers.csv goes straight into `billboards ratings`, and says the same as the campaign."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pytest
from campaign_sites import CampaignSite, campaign_site
from small_campaigns import by_reference, carelessly, distinct_board, people, small_campaign
from small_sites import Harbour, MakeHarbour

from billboards.analyses.ratings._ratings import TableColumns, board_ratings, table_ratings
from billboards.cli.main import main
from billboards.show.csv import csv_text
from billboards.site.campaigns.results import board_of_campaign, campaign_answers
from billboards.site.campaigns.views import ANSWER_COLUMNS, answer_rows

COLUMNS = TableColumns(("instance",), "value", "annotator", "generator", "dimension", "at", (0.0, 1.0))


def _written(harbour: Harbour, campaign_id: str, path: Path, *, history: bool = False) -> Path:
    lines = campaign_answers(harbour.site, harbour.owner, campaign_id, history=history)
    path.write_text(csv_text(ANSWER_COLUMNS, answer_rows(lines)))
    return path


@pytest.fixture
def port(make_harbour: MakeHarbour) -> Harbour:
    return make_harbour(distinct_board(8, 2))


@pytest.mark.parametrize("history", [False, True])
def test_ratings_read_from_the_file_are_those_of_the_board(port: Harbour, tmp_path: Path, history: bool) -> None:
    campaign = small_campaign(port, instances=6, labels=2, positive=0.1, negative=0.1, early=0, exclusion="model")
    for person in people(port, campaign, by_reference, carelessly):
        person.answer_all()
    path = _written(port, campaign.id, tmp_path / "answers.csv", history=history)
    rows = list(csv.DictReader(io.StringIO(path.read_text())))
    assert any(row["test"] for row in rows), "test questions are in the file, with their worth"
    assert all(bool(row["value"]) == (row["purpose"] == "label") for row in rows)
    (read,) = table_ratings(path, COLUMNS).values()
    board, _ = board_of_campaign(port.site, port.owner, campaign.id)
    kept = board_ratings(board, "genie-translation.adequacy")
    assert len(read) == len(kept) == 24
    assert sorted(read.on_100.tolist()) == pytest.approx(sorted(kept.on_100.tolist()))
    for name in ("g0", "g1"):
        of_file = read.on_100[read.generator == read.generators.index(name)]
        of_board = kept.on_100[kept.generator == kept.generators.index(name)]
        assert np.sort(of_file) == pytest.approx(np.sort(of_board))
    assert sorted(read.time.round().tolist()) == pytest.approx(sorted(kept.time.round().tolist()), abs=1.0)


def test_the_command_takes_the_download_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ferry: CampaignSite = campaign_site(tmp_path)
    campaign, links = ferry.start("first", people=("ann", "ben"), labels=2)
    for link in links:
        for chosen in (1, 4, 2, 3):
            ferry.answer(link, chosen)
    path = tmp_path / "answers.csv"
    path.write_text(ferry.read(f"{ferry.home(campaign)}/answers.csv"))
    words = ["--item", "instance", "--generator", "generator", "--annotator", "annotator", "--dimensions", "dimension"]
    assert main(["ratings", "agreement", str(path), "--value", "value", *words, "--resamples", "10"]) == 0
    assert "adequacy" in capsys.readouterr().out


def test_a_comparison_has_a_line_for_each_output(port: Harbour, tmp_path: Path) -> None:
    campaign = small_campaign(port, template="pairwise", instances=3, positive=0.0, negative=0.0)
    (ann,) = people(port, campaign, carelessly)
    ann.answer_all()
    rows = list(csv.DictReader(io.StringIO(_written(port, campaign.id, tmp_path / "a.csv").read_text())))
    assert len(rows) == 6
    assert [row["place"] for row in rows] == ["0", "1"] * 3
    for first, second in zip(rows[::2], rows[1::2], strict=True):
        assert {first["generator"], second["generator"]} == {"g0", "g1"}
        assert float(first["value"]) + float(second["value"]) == pytest.approx(1.0)
