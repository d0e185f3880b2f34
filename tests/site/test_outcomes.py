"""What came of a submission and how long it takes: by HTTP, on its page, in the notice; never of a blind one."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from outbox import list_deliveries
from page_sites import PageSite, page_site
from sqlalchemy import update

from billboards.analyses.rank import Ranking
from billboards.errors import Refused
from billboards.run.trial import Trial
from billboards.show.documents import result_of
from billboards.site.admin import deliveries
from billboards.site.boards import registry
from billboards.site.boards.live import live_board
from billboards.site.database.schema import audit, cells
from billboards.site.submissions import records as submissions
from billboards.site.submissions.outcome import outcome_of
from billboards.site.submissions.records import Submission
from billboards.site.work.jobs import run_job
from billboards.site.work.waiting import Waiting, board_progress, time_words, waiting
from billboards.site.work.worklist import next_job

BOARD = "/boards/harbour"


@pytest.fixture
def small(tmp_path: Path) -> Iterator[PageSite]:
    made = page_site(tmp_path)
    yield made
    made.site.close()


def asked(small: PageSite, submission: Submission, asker: str = "team") -> dict:  # type: ignore[type-arg]
    answer = small.get(f"/api/v1/submissions/{submission.id}", asker, accept="application/json")
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def step(small: PageSite, times: int = 1) -> None:
    for _ in range(times):
        job = next_job(small.site, "worker")
        assert job is not None
        run_job(small.site, job)


def test_a_generator_is_told_its_rank_its_score_and_who_moved(small: PageSite) -> None:
    small.work()
    sent = small.submit("tug")
    small.work()
    document = live_board(small.site, "harbour").document
    assert document is not None
    ranking = result_of(Ranking, document["ranking"])
    own = next(g for g in ranking.generators if g.name == "tug")
    outcome = asked(small, sent)["outcome"]
    assert outcome["state"] == "ranked"
    assert (outcome["rank"], outcome["ranked"]) == (own.rank, sum(g.rank is not None for g in ranking.generators))
    assert outcome["score"] == pytest.approx(own.scores[ranking.ranked_by or ""])
    assert outcome["cluster"] == [g.name for g in ranking.generators if g.rank == own.rank and g.name != "tug"]
    assert outcome["words"][0].startswith(f"Rank {own.rank} of {outcome['ranked']} by {ranking.ranked_by} (")
    assert "Nobody else changed place." in outcome["words"] or outcome["moved"]
    page = small.get(f"/submissions/{sent.id}", "team").text
    assert f"Rank {own.rank} of {outcome['ranked']}" in page
    assert f"/rankings/{outcome['ranking']}" in page


def test_while_the_ranking_is_made_the_submission_says_so_and_is_not_over(small: PageSite) -> None:
    small.work()
    sent = small.submit("tug")
    # The worker that finds all cells there settles the submission, and holds the job of ranking.
    while (job := next_job(small.site, "worker")) is not None and asked(small, sent)["state"] != "scored":
        run_job(small.site, job)
    now = asked(small, sent)
    assert now["outcome"]["state"] == "ranking"
    page = small.get(f"/submissions/{sent.id}", "team").text
    assert "the ranking with it is being made" in page
    assert "live.js" in page
    assert job is not None
    run_job(small.site, job)
    assert asked(small, sent)["outcome"]["state"] == "ranked"
    assert "live.js" not in small.get(f"/submissions/{sent.id}", "team").text


def test_nothing_is_told_of_a_blind_entry_to_its_team(small: PageSite) -> None:
    small.work()
    small.settle(phases=[{"name": "dev", "blind": True}])
    sent = small.submit("tug")
    small.work()
    facts = asked(small, sent)
    assert facts["state"] == "scored"
    assert facts["outcome"]["state"] == "hidden"
    told = {facts["outcome"][word] for word in ("rank", "score", "agreement", "weight", "ranking")}
    assert told == {None}
    assert facts["outcome"]["words"] == ["Its results stay hidden until the organisers reveal the phase dev."]
    page = small.get(f"/submissions/{sent.id}", "team").text
    assert "on the board" not in page.split("<h2>Log</h2>")[0].split('id="live"')[1]
    assert "results stay hidden until the organisers reveal the phase dev" in page
    assert asked(small, sent, "owner")["outcome"]["rank"] is not None
    with small.site.database.reading() as connection:
        assert "submission.ranked" not in {notice.event for notice in list_deliveries(connection)}


def test_a_later_version_takes_the_place_of_the_earlier_one(small: PageSite) -> None:
    small.work()
    first = small.submit("tug")
    small.work()
    small.submit("tug", word="ship")
    small.work()
    assert asked(small, first)["outcome"]["words"] == ["A later version of it stands on the board."]


def test_the_notice_says_the_rank_once_the_board_is_ranked(small: PageSite) -> None:
    small.work()
    account = small.viewer("team").account
    assert account is not None
    with small.site.database.writing() as connection:
        deliveries.add_webhook(connection, account.id, "http://127.0.0.1:9/", "s", board=None, now=0.0)
    sent = small.submit("tug")
    small.work()
    outcome = asked(small, sent)["outcome"]
    with small.site.database.reading() as connection:
        notices = {notice.event: notice.payload for notice in list_deliveries(connection)}
    ranked = notices["submission.ranked"]
    assert ranked["id"] == sent.id
    assert ranked["says"] == f"rank {outcome['rank']} of {outcome['ranked']}"
    assert ranked["words"] == outcome["words"]
    assert len([event for event in notices if event == "submission.ranked"]) == 1


def test_a_queue_is_told_with_its_place_and_a_time_from_measured_cells(small: PageSite) -> None:
    small.work()
    # Three metrics score each generator; each cell is made to have taken 60 s, and the last ranking 30 s.
    with small.site.database.writing() as connection:
        connection.execute(update(cells).values(seconds=60.0))
        connection.execute(
            update(audit).where(audit.c.action == "ranking.kept").values(detail={"number": 1, "seconds": 30.0})
        )
    small.submit("first", word="tug")
    second = small.submit("second", word="ship")
    with small.site.database.reading() as connection:
        second = submissions.get(connection, second.id)
    assert waiting(small.site, second) == Waiting(before=1, seconds=2 * 3 * 60.0 + 30.0)
    assert asked(small, second)["waiting"]["words"] == "about 6 minutes, 1 submission before yours"
    page = small.get(f"/submissions/{second.id}", "team").text
    assert "waiting for a worker; about 6 minutes, 1 submission before yours" in page


def test_a_time_that_nobody_measured_is_not_known(small: PageSite) -> None:
    sent = small.submit("tug")
    assert waiting(small.site, sent) == Waiting(before=0, seconds=None)
    assert asked(small, sent)["waiting"]["words"] == "time not known yet, no submission before yours"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (None, "time not known yet"),
        (14.0, "less than a minute"),
        (64.0, "about 1 minute"),
        (180.0, "about 3 minutes"),
        (3476.0, "about 58 minutes"),
        (9000.0, "about 2 hours"),
        (260_000.0, "about 3 days"),
    ],
)
def test_times_are_told_as_people_tell_them(seconds: float | None, words: str) -> None:
    assert time_words(seconds) == words


def test_a_new_board_shows_how_many_scores_are_computed_until_it_is_ranked(small: PageSite) -> None:
    # Four generators under three metrics, none of them computed.
    first = small.get(BOARD)
    assert "0 of 12 scores are computed" in first.text
    assert "no ranking yet" not in first.text
    assert "board_progress.js" in first.text
    assert "board.js" not in first.text.replace("board_progress.js", "")
    step(small, 5)
    assert "5 of 12 scores are computed" in small.get(BOARD).text, "the page is not kept while the board is on its way"
    facts = small.get("/api/v1/boards/harbour/progress", accept="application/json").json()
    assert (facts["done"], facts["total"], facts["is_ranked"]) == (5, 12, False)
    small.work()
    assert 'id="board-progress"' not in small.get(BOARD).text
    assert small.get("/api/v1/boards/harbour/progress", accept="application/json").json()["is_ranked"] is True


def test_progress_names_what_is_computed_now_and_how_long_the_rest_takes(small: PageSite) -> None:
    step(small, 5)
    with small.site.database.writing() as connection:
        connection.execute(update(cells).values(seconds=60.0))
    job = next_job(small.site, "worker")
    assert job is not None
    assert job.cell is not None
    now = board_progress(small.site, "harbour")
    assert now.now == (f"{job.cell.metric.name} of {job.cell.row.name}",)
    while now.seconds is None and now.done < 12:
        run_job(small.site, job)
        job = next_job(small.site, "worker")
        assert job is not None
        with small.site.database.writing() as connection:
            connection.execute(update(cells).values(seconds=60.0))
        now = board_progress(small.site, "harbour")
    assert now.seconds == pytest.approx(60.0 * (12 - now.done))
    assert f"About {12 - now.done} minute" in now.words
    assert replace(now, now=()).words.count("No worker is computing at this moment.") == 1


def test_a_board_that_can_not_be_ranked_says_so(small: PageSite) -> None:
    stuck = replace(board_progress(small.site, "harbour"), ranking=True, stuck=True)
    assert "could not be ranked" in stuck.words


def test_a_ranked_board_whose_last_change_can_not_be_ranked_says_so(small: PageSite) -> None:
    small.work()
    with small.site.database.writing() as connection:
        kept = registry.board(connection, "harbour").settings
        # As a family of ensembles does that was installed once.
        gone = {**kept, "method": "gone"}
        registry.change_board(
            connection, "harbour", "board.settings", actor="owner", now=small.site.clock(), settings=gone
        )
    assert "a new ranking is being made" in small.get(BOARD).text
    small.work()
    assert "The board could not be ranked after its last change" in small.get(BOARD).text
    assert "Read why" not in small.get(BOARD).text
    assert f'<a href="{BOARD}/organise/audit">Read why</a>' in small.get(BOARD, "owner").text


def test_only_what_is_scored_has_an_outcome(small: PageSite) -> None:
    sent = small.submit("tug")
    assert outcome_of(sent, live_board(small.site, "harbour")) is None
    assert asked(small, sent)["outcome"] is None


def test_the_button_that_a_refusal_names_is_there(small: PageSite) -> None:
    small.work()
    small.settle(phases=[{"name": "dev"}])
    first = small.submit("tug")
    small.work()
    with pytest.raises(
        Refused, match=rf"tug; send this one as contrastive, or open /submissions/{first.id} and choose"
    ):
        small.submit("other", word="ship")
    assert "Make it contrastive" in small.get(f"/submissions/{first.id}", "team").text
    assert small.post(f"/submissions/{first.id}/contrastive", "team").status_code == 303
    second = small.submit("other", word="ship")
    assert second.entry == "primary"
    page = small.get(f"/submissions/{first.id}", "team").text
    assert "Make it primary" in page
    assert "Make it contrastive" not in page


def test_the_table_of_phases_says_what_is_so_after_the_reveal(small: PageSite) -> None:
    small.settle(phases=[{"name": "dev", "blind": True}, {"name": "open"}])
    page = small.get(f"{BOARD}/submit/generator", "team").text
    assert "hidden until revealed" in page
    assert "shown at once" in page
    small.settle(revealed=True)
    page = small.get(f"{BOARD}/submit/generator", "team").text
    assert "hidden until revealed" not in page
    assert "shown since the reveal" in page


def test_a_download_that_can_not_be_made_says_why(small: PageSite, monkeypatch: pytest.MonkeyPatch) -> None:
    small.work()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    page = small.get(f"{BOARD}/downloads").text
    assert "this server can’t write Parquet: pyarrow is not installed" in page
    assert "not there yet" not in page


@pytest.mark.parametrize(
    ("estimate", "words"),
    [
        ((14.0, 3476.0), "the whole board takes at most 58 minutes; how much less is not known yet"),
        ((120.0, 180.0), "the whole board takes 2 minutes to 3 minutes"),
        ((1.0, 40.0), "the whole board takes less than a minute"),
    ],
)
def test_a_trial_says_no_more_than_it_knows_of_the_time(estimate: tuple[float, float], words: str) -> None:
    trial = Trial(problem=None, repeatable=True, scores=(), seconds=1.0, estimate=estimate, runs=())
    assert trial.time_words.startswith(words)
