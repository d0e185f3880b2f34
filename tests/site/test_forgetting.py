"""A person's data deleted on request: nothing of it is left anywhere, and the numbers still stand."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from small_campaigns import by_reference, distinct_board, people, small_campaign
from small_sites import DECLARED, SHARED_WORDS, Harbour, MakeHarbour, make_board
from sqlalchemy import select

from billboards.cli.main import main
from billboards.errors import Refused, UnknownName
from billboards.site.accounts import access
from billboards.site.admin.erasure import forget, plan_forgetting
from billboards.site.boards import snapshots
from billboards.site.boards.live import live_board
from billboards.site.campaigns.campaign import Campaign
from billboards.site.campaigns.judgments import judgments_of
from billboards.site.campaigns.lifecycle import close_campaign
from billboards.site.database import trail
from billboards.site.database.row_lines import line_of, read_rows
from billboards.site.database.schema import metadata, rankings, standings
from billboards.site.site import Site
from billboards.site.submissions import sending as submitting
from billboards.site.submissions.metric_folders import program_folder
from billboards.site.work.worker import work_until_done


@pytest.fixture
def harbour(make_harbour: MakeHarbour) -> Harbour:
    return make_harbour(make_board(6, 2, metrics=("chrF", "length")))


def everything(site: Site) -> str:
    """All that the database says, in one text."""
    with site.database.reading() as connection:
        return "\n".join(
            line_of(table, row) for table in metadata.sorted_tables for row in read_rows(connection, table)
        )


def send(harbour: Harbour, who: str, name: str, seed: int) -> str:
    about = {"description": f"secret-description-{seed}", "url": "https://secret-address.example"}
    viewer = harbour.person(who, email=f"{who}@secret.example")
    return submitting.submit_generator(
        harbour.site, viewer, "ferry", name, harbour.outputs(seed), about=about
    ).submission.blob


def grow_old(site: Site) -> None:
    """As if everything had been sent an hour ago."""
    for path in (site.data / "blobs").rglob("*"):
        if path.is_file():
            os.utime(path, (path.stat().st_atime, path.stat().st_mtime - 3600))


def test_nothing_of_a_submitter_is_left_and_past_rankings_keep_their_numbers(harbour: Harbour) -> None:
    site, ann = harbour.site, harbour.person("annabel", email="annabel@secret.example")
    access.add_token(site, harbour.owner, "secret-label", account_id=ann.account.id if ann.account else 0)
    blob = send(harbour, "annabel", "annabels-tug", 0)
    metric = submitting.submit_metric(
        site, ann, "ferry", SHARED_WORDS.encode(), name="words", file_name="secret-file.py", manifest=DECLARED
    ).submission
    submitting.cancel(site, ann, metric.id)
    assert any(program_folder(site, metric).iterdir())
    send(harbour, "bob", "barge", 1)
    work_until_done(site)
    with site.database.reading() as connection:
        numbers = connection.execute(select(standings.c.rank, standings.c.value).order_by(*standings.primary_key)).all()
        ids = connection.execute(select(rankings.c.id)).scalars().all()
    grow_old(site)
    assert plan_forgetting(site, "annabel").deleted == {"files": 2}
    assert site.blobs.touched(blob)

    found = forget(site, "annabel", actor="owner")
    assert (found.submissions, found.deleted["files"], found.deleted["tokens"], found.files_kept) == (2, 2, 1, 0)
    left = everything(site)
    assert [word for word in ("annabel", "secret-label", "secret-file", blob) if word in left] == []
    assert left.count("secret-description-0") == 0
    assert "bob@secret.example" in left
    # The site is still open: neither pages of the file nor SQLite's log beside it may hold what was deleted.
    raw = b"".join(path.read_bytes() for path in site.data.glob("site.sqlite*"))
    assert b"bob@secret.example" in raw
    assert [word for word in (b"annabel", b"secret-label", b"secret-description-0") if word in raw] == []
    assert site.blobs.touched(blob) == 0.0
    assert not (site.data / "metrics" / metric.blob).exists()
    with site.database.reading() as connection:
        kept = connection.execute(select(standings.c.rank, standings.c.value)).all()
        assert sorted(map(str, kept)) == sorted(map(str, numbers))
        assert connection.execute(select(rankings.c.id)).scalars().all() == ids
        last = snapshots.latest(connection, "ferry")
        assert last is not None
        names = [generator.name for generator in snapshots.ranking(connection, last).generators]
        entry = trail.entries(connection, limit=1)[0]
    assert sum(name.startswith("forgotten-") for name in names) == 1
    assert (entry.action, entry.actor) == ("account.forgotten", "owner")
    work_until_done(site)
    assert set(live_board(site, "ferry").generators) == {"barge"}


def test_what_another_sent_too_stays_and_so_does_what_was_sent_a_moment_ago(harbour: Harbour) -> None:
    shared = send(harbour, "ann", "tug", 0)
    assert send(harbour, "bob", "barge", 0) == shared
    fresh = send(harbour, "ann", "raft", 1)
    work_until_done(harbour.site)
    assert plan_forgetting(harbour.site, "ann").files_kept == 1
    assert forget(harbour.site, "ann", actor="owner").files_kept == 2
    assert harbour.site.blobs.touched(shared)
    assert harbour.site.blobs.touched(fresh)


def test_a_team_mates_version_keeps_its_name(harbour: Harbour) -> None:
    site = harbour.site
    for k, who in enumerate(("ann", "bob")):
        viewer = harbour.person(who, team="crew")
        submitting.submit_generator(site, viewer, "ferry", "tug", harbour.outputs(k))
    work_until_done(site)
    forget(site, "ann", actor="owner")
    assert set(live_board(site, "ferry").generators) == {"tug"}
    assert "crew" in everything(site)


def test_it_waits_for_submissions_on_their_way_and_spares_the_last_owner(harbour: Harbour) -> None:
    send(harbour, "ann", "tug", 0)
    with pytest.raises(Refused, match="cancel it first"):
        plan_forgetting(harbour.site, "ann")
    with pytest.raises(UnknownName, match="did you mean ann"):
        plan_forgetting(harbour.site, "anna")
    with pytest.raises(Refused, match="only owner"):
        forget(harbour.site, harbour.owner.name, actor="x")


def test_an_annotators_name_goes_and_the_answers_stay(make_harbour: MakeHarbour) -> None:
    harbour = make_harbour(distinct_board())
    site = harbour.site
    campaign = small_campaign(harbour, early=0)
    (eve,) = people(harbour, campaign, by_reference)
    eve.answer_all(most=5)
    old = eve.participant.annotator.pseudonym
    judged = _judged(harbour, campaign)
    found = forget(site, "person 0", actor="owner")
    assert (found.annotators, found.submissions, found.pseudonym) == (1, 0, None)
    assert [word for word in ("person 0", old) if word in everything(site)] == []
    assert _judged(harbour, campaign) == judged
    assert len(judged) > 0
    with pytest.raises(UnknownName):
        forget(site, "person 0", actor="owner")
    assert len(people(harbour, campaign, by_reference)) == 1, "who comes back begins anew"


def _judged(harbour: Harbour, campaign: Campaign) -> list[tuple[int, float]]:
    """Which instances were judged, and how."""
    with harbour.site.database.reading() as connection:
        found = judgments_of(connection, harbour.board, campaign)
    return list(zip(found.instance.tolist(), found.values[:, 0].tolist(), strict=True))


def test_outputs_go_from_closed_campaigns_and_an_open_one_is_named(make_harbour: MakeHarbour) -> None:
    harbour = make_harbour(distinct_board())
    site = harbour.site
    submitting.submit_generator(site, harbour.person("ann"), "ferry", "tug", b"\n".join([b"secret output"] * 12))
    work_until_done(site)
    campaign = small_campaign(harbour)
    assert "secret output" in everything(site)
    with pytest.raises(Refused, match="campaign first on board ferry"):
        forget(site, "ann", actor="owner")
    close_campaign(site, harbour.owner, campaign.id)
    work_until_done(site)
    assert forget(site, "ann", actor="owner").deleted["texts in campaigns"] > 0
    left = everything(site)
    assert "secret output" not in left
    assert '"tug"' not in left


def test_the_command_only_says_what_it_would_do_until_it_is_confirmed(
    harbour: Harbour, capsys: pytest.CaptureFixture[str]
) -> None:
    harbour.person("ann", email="ann@secret.example")
    data = str(harbour.site.data)
    assert main(["forget", data, "ann"]) == 0
    shown = capsys.readouterr()
    assert "would be deleted" in shown.out
    assert "--confirm" in shown.err
    assert "ann@secret.example" in everything(harbour.site)
    assert main(["forget", data, "ann", "--confirm"]) == 0
    assert "ann@secret.example" not in everything(harbour.site)
    assert main(["forget", str(Path(data) / "none"), "ann"]) == 2
