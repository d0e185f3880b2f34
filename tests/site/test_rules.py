"""The rules of a shared task: phases, quotas, blind results, freeze, anonymity, entries, and who may see what."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from small_sites import DECLARED, SHARED_WORDS, Harbour

from billboards.errors import InvalidInput, NotAllowed, Refused
from billboards.site.accounts import access
from billboards.site.accounts.access import PERMISSIONS, VISITOR, Viewer, may
from billboards.site.boards import snapshots
from billboards.site.boards.live import live_board
from billboards.site.database import trail
from billboards.site.settings import BoardSettings, moment, read_board_settings
from billboards.site.submissions import records as submissions
from billboards.site.submissions import sending as submitting
from billboards.site.submissions.records import Submission
from billboards.site.work.worker import work_until_done


def at(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def send(harbour: Harbour, name: str = "tug", *, by: str = "ann", seed: int = 0, **said: Any) -> Submission:
    raw = harbour.outputs(seed)
    return submitting.submit_generator(harbour.site, harbour.person(by), "ferry", name, raw, **said).submission


def decide(harbour: Harbour, **changes: Any) -> BoardSettings:
    return submitting.change_settings(harbour.site, harbour.owner, "ferry", changes)


def test_uploads_are_taken_between_opening_and_closing_and_refused_with_the_time(harbour: Harbour) -> None:
    phase = {"name": "test", "opens": "2026-05-01T12:00Z", "closes": "2026-05-08T12:00:00Z"}
    decide(harbour, phases=[phase])
    harbour.clock.now = at("2026-05-01T11:59")
    with pytest.raises(Refused, match="open with phase test on 2026-05-01 12:00 UTC"):
        send(harbour)
    harbour.clock.now = at("2026-05-01T12:00")
    assert send(harbour).phase == "test"
    harbour.clock.now = at("2026-05-08T12:00")
    with pytest.raises(Refused, match="phase test closed on 2026-05-08 12:00 UTC"):
        send(harbour, "barge")


def test_quotas_hold_per_day_and_in_all_for_each_team(harbour: Harbour) -> None:
    decide(harbour, per_day=2, total=3)
    harbour.clock.now = at("2026-05-01T10:00")
    send(harbour, "a", seed=1)
    send(harbour, "b", seed=2)
    with pytest.raises(Refused, match="2 generators of today; the next may come after 2026-05-02 00:00 UTC"):
        send(harbour, "c", seed=3)
    send(harbour, "d", by="ben", seed=4)
    harbour.clock.now = at("2026-05-02T00:00")
    send(harbour, "c", seed=3)
    with pytest.raises(Refused, match="all of its 3 generators for board ferry"):
        send(harbour, "e", seed=5)


def test_mistakes_cost_no_quota(harbour: Harbour) -> None:
    decide(harbour, total=1)
    with pytest.raises(InvalidInput, match="2 lines for 12 instances"):
        submitting.submit_generator(harbour.site, harbour.person("ann"), "ferry", "tug", b"one\ntwo\n")
    send(harbour)


def test_results_of_a_blind_phase_are_the_owners_until_they_are_revealed(harbour: Harbour) -> None:
    work_until_done(harbour.site)
    decide(harbour, phases=[{"name": "blind", "blind": True}])
    one = send(harbour)
    work_until_done(harbour.site)
    assert harbour.now(one).state == "scored"
    public, owners = live_board(harbour.site, "ferry"), live_board(harbour.site, "ferry", audience="owners")
    assert "tug" not in public.board.row_position
    assert "tug" in owners.board.row_position
    for live, seen in ((public, False), (owners, True)):
        assert live.document is not None
        assert ("tug" in [g["name"] for g in live.document["ranking"]["generators"]]) is seen
    with harbour.site.database.reading() as connection:
        assert "tug" not in str([snapshots.document_text(connection, s) for s in _public(connection)])
    submitting.reveal_results(harbour.site, harbour.owner, "ferry")
    work_until_done(harbour.site)
    assert "tug" in live_board(harbour.site, "ferry").board.row_position
    with harbour.site.database.reading() as connection:
        assert "tug" in snapshots.document_text(connection, _public(connection)[0])


def _public(connection: Any) -> tuple[snapshots.Snapshot, ...]:
    return snapshots.list_snapshots(connection, "ferry", "public")


def test_a_stranger_sees_nothing_of_a_blind_or_anonymous_submission(harbour: Harbour) -> None:
    decide(harbour, phases=[{"name": "blind", "blind": True}])
    one = send(harbour, anonymous=True)
    for stranger in (VISITOR, harbour.person("ben")):
        with pytest.raises(NotAllowed, match="its team's and the owner's to see"):
            submitting.get_submission(harbour.site, stranger, one.id)
        with pytest.raises(NotAllowed):
            submitting.read_log(harbour.site, stranger, one.id)
    assert submitting.get_submission(harbour.site, harbour.person("ann"), one.id).id == one.id


def test_after_the_freeze_nothing_comes_in_or_goes_but_what_was_taken_is_scored(harbour: Harbour) -> None:
    early = send(harbour)
    harbour.clock.now = at("2026-06-01T00:00")
    submitting.freeze(harbour.site, harbour.owner, "ferry")
    with pytest.raises(Refused, match="frozen since 2026-06-01 00:00 UTC"):
        send(harbour, "late", seed=2)
    work_until_done(harbour.site)
    assert harbour.now(early).state == "scored"
    with pytest.raises(Refused, match="frozen since"):
        submitting.withdraw(harbour.site, harbour.person("ann"), early.id)


def test_an_anonymous_generator_has_a_pseudonym_everywhere_until_it_is_revealed(harbour: Harbour) -> None:
    one = send(harbour, "Secret-9000", anonymous=True, about={"url": "https://secret.example.org"})
    work_until_done(harbour.site)
    live = live_board(harbour.site, "ferry")
    assert one.public_name in live.board.row_position
    with harbour.site.database.reading() as connection:
        written = snapshots.document_text(connection, _public(connection)[0]) + str(live.board.rows)
    assert "ecret" not in written
    submitting.reveal(harbour.site, harbour.person("ann"), one.id)
    work_until_done(harbour.site)
    live = live_board(harbour.site, "ferry")
    assert "Secret-9000" in live.board.row_position
    assert live.document is not None
    assert "Secret-9000" in [g["name"] for g in live.document["ranking"]["generators"]]


def test_a_team_has_one_primary_entry_and_may_change_which(harbour: Harbour) -> None:
    decide(harbour, phases=[{"name": "open"}])
    first = send(harbour, "a", seed=1)
    with pytest.raises(Refused, match="has a primary entry on this board already: a; send this one as contrastive"):
        send(harbour, "b", seed=2)
    second = send(harbour, "b", seed=2, entry="contrastive")
    assert send(harbour, "a", seed=3).version == 2
    ann = harbour.person("ann")
    with harbour.site.database.reading() as connection:
        versions = submissions.find(connection, board="ferry", name="a")
    for one in versions:
        submitting.set_entry(harbour.site, ann, one.id, "contrastive")
    assert submitting.set_entry(harbour.site, ann, second.id, "primary").entry == "primary"
    assert harbour.now(first).entry == "contrastive"


def test_hidden_references_and_judgments_are_not_on_the_board_that_is_shown(harbour: Harbour) -> None:
    decide(harbour, hidden_references=True, hidden_judgments=True)
    work_until_done(harbour.site)
    live = live_board(harbour.site, "ferry")
    assert not any(instance.references for instance in live.shown.instances)
    assert set(live.shown.row("Ben").texts) == {None}
    assert live.shown.row("g0").texts == live.board.row("g0").texts
    assert len(live.shown.judgments) == 0
    assert live.document is not None
    assert live.document["ranking"]["metrics"][0]["correlation"] is not None
    owners = live_board(harbour.site, "ferry", audience="owners")
    assert owners.shown.instances == harbour.board.instances


@pytest.mark.long
def test_a_program_cannot_tell_hidden_references_through_its_log(harbour: Harbour) -> None:
    decide(harbour, hidden_references=True)
    code = "import sys\n" + SHARED_WORDS.replace("    return", "    print(references, flush=True)\n    return")
    ann = harbour.person("ann")
    one = submitting.submit_metric(harbour.site, ann, "ferry", code.encode(), name="leak", manifest=DECLARED).submission
    work_until_done(harbour.site)
    secret = harbour.board.instances[0].references[0].text
    theirs = "".join(line.text for line in submitting.read_log(harbour.site, ann, one.id))
    ours = "".join(line.text for line in submitting.read_log(harbour.site, harbour.owner, one.id))
    assert secret in ours
    assert secret not in theirs
    assert submitting.WITHHELD in theirs


def test_a_program_cannot_tell_hidden_references_through_the_reason_it_fails_for(harbour: Harbour) -> None:
    decide(harbour, hidden_references=True)
    code = b"def score(outputs, references, inputs):\n    raise ValueError(str(references))\n"
    ann = harbour.person("ann")
    one = submitting.submit_metric(harbour.site, ann, "ferry", code, name="leak", manifest=DECLARED).submission
    work_until_done(harbour.site)
    found = submitting.get_submission(harbour.site, ann, one.id)
    assert found.state == "rejected"
    said = f"{found.reason}" + "".join(line.text for line in submitting.read_log(harbour.site, ann, one.id))
    assert not any(ref.text in said for instance in harbour.board.instances for ref in instance.references)


@pytest.mark.parametrize("action", PERMISSIONS)
def test_every_action_is_for_the_roles_in_the_table_and_no_other(harbour: Harbour, action: Any) -> None:
    one = send(harbour)
    people = {
        "visitor": VISITOR,
        "annotator": harbour.person("nan", "annotator"),
        "submitter": harbour.person("ben"),
        "team": harbour.person("ann"),
        "owner": harbour.owner,
    }
    for role, viewer in people.items():
        needed = PERMISSIONS[action]
        expected = role in needed or (role == "team" and "submitter" in needed)
        assert may(viewer, action, one) is expected, role


def test_only_owners_administer(harbour: Harbour) -> None:
    ann = harbour.person("ann")
    one = send(harbour)
    refused: list[Any] = [
        lambda: submitting.change_settings(harbour.site, ann, "ferry", {"total": 9}),
        lambda: submitting.set_trusted(harbour.site, ann, one.id, True),
        lambda: submitting.retry_cells(harbour.site, ann, "ferry"),
        lambda: access.add_account(harbour.site, ann, "eve", "owner"),
        lambda: access.add_token(harbour.site, ann, "x", account_id=1),
        lambda: submitting.submit_metric(
            harbour.site, ann, "ferry", SHARED_WORDS.encode(), name="m", manifest=DECLARED, trusted=True
        ),
    ]
    for call in refused:
        with pytest.raises(NotAllowed, match="ann may not"):
            call()
    with pytest.raises(NotAllowed, match="visitor may not submit"):
        submitting.submit_generator(harbour.site, VISITOR, "ferry", "x", harbour.outputs())
    with pytest.raises(NotAllowed, match="ben may not change submission"):
        submitting.withdraw(harbour.site, harbour.person("ben"), one.id)


def test_without_log_in_everybody_is_the_owner_and_with_it_a_visitor(harbour: Harbour) -> None:
    assert access.nobody(harbour.site).role == "owner"
    harbour.site.login_required = True
    assert access.nobody(harbour.site).role == "visitor"


def test_a_token_logs_in_and_a_session_ends(harbour: Harbour) -> None:
    text = access.new_owner_token(harbour.site, "olga")
    viewer = access.viewer_of_token(harbour.site, text)
    assert viewer is not None
    assert (viewer.name, viewer.role, viewer.audience) == ("olga", "owner", "owners")
    pair = access.log_in(harbour.site, text)
    assert pair is not None
    found = access.session_of(harbour.site, pair[0])
    assert found is not None
    assert found.csrf == pair[1]
    access.log_out(harbour.site, pair[0])
    assert access.session_of(harbour.site, pair[0]) is None
    assert access.log_in(harbour.site, "bb_wrong") is None


def test_somebody_who_logs_in_elsewhere_gets_an_account_once(harbour: Harbour) -> None:
    first = access.account_of_oidc(harbour.site, "issuer|7", "ann", "a@example.org")
    harbour.person("zoe")
    again = access.account_of_oidc(harbour.site, "issuer|7", "another name", None)
    other = access.account_of_oidc(harbour.site, "issuer|8", "ann", None)
    assert first == again
    assert first.role == "submitter"
    assert other.name != "ann"


def test_every_change_of_settings_is_in_the_trail_and_wrong_ones_change_nothing(harbour: Harbour) -> None:
    decide(harbour, total=5)
    for wrong, says in (
        ({"totl": 3}, "totl is no setting; did you mean total"),
        ({"total": "three"}, "total must be a whole number; found 'three'"),
        ({"per_day": -1}, "per_day must be 0 or more; found -1"),
        ({"phases": [{"opens": "2026-05-01"}]}, "phases 1: name is missing"),
        ({"phases": ["test"]}, "phases 1 must be a table of settings; found 'test'"),
        ({"phases": [{"name": "a"}, {"name": "a"}]}, "phases must have a name each; two are named a"),
        ({"phases": [{"name": "a", "opens": "soon"}]}, "phases 1: opens must be a time"),
        ({"phases": [{"name": "a", "opens": "2026-05-02", "closes": "2026-05-01"}]}, "before it opens"),
        ({"accepts": ["poem"]}, "accepts 1 must be 'generator' or 'metric'; found 'poem'"),
        ({"k": 0}, "k must be 1 or more"),
        ({"seed": -1}, "seed must be 0 or more"),
        ({"frozen": 3}, "frozen must be a time"),
        ({"method": "nonsense"}, "method must be one of auto, "),
        ({"ranks": "nonsense"}, "ranks must be judgments of the board; there are "),
        ({"by": "nonsense"}, "by must be a metric of the board: ROUGE-1, ROUGE-L, chrF, ensemble, length"),
    ):
        with pytest.raises(InvalidInput, match=says):
            decide(harbour, **wrong)
    with harbour.site.database.reading() as connection:
        said = [entry for entry in trail.entries(connection, board="ferry") if entry.action == "board.settings"]
    assert [entry.detail["settings"]["total"] for entry in said] == [5]


def test_settings_come_back_as_they_were_written() -> None:
    document = {"phases": [{"name": "a", "opens": "2026-05-01T12:00:00Z", "closes": None, "blind": True}], "total": 4}
    settings = read_board_settings(document)
    assert read_board_settings(settings.document()) == settings
    assert settings.phases[0].opens == at("2026-05-01T12:00")
    assert moment(at("2026-05-01T12:00")) == "2026-05-01T12:00:00Z"


def test_a_viewer_without_an_account_is_a_visitor() -> None:
    assert (Viewer().role, Viewer().audience, Viewer().name) == ("visitor", "public", "visitor")


def test_an_owner_changes_roles_teams_and_addresses_and_nobody_else_does(harbour: Harbour) -> None:
    ann, ben = harbour.person("ann"), harbour.person("ben")
    assert ann.account is not None
    assert ben.account is not None
    assert harbour.owner.account is not None
    changed = access.change_account(harbour.site, harbour.owner, ben.account.id, team="ann", role="annotator")
    assert (changed.team_id, changed.role) == (ann.account.team_id, "annotator")
    given = access.change_account(harbour.site, harbour.owner, ann.account.id, email="a@example.org")
    assert (given.email, given.confirmed) == ("a@example.org", None)
    with pytest.raises(NotAllowed, match="ann may not administer"):
        access.change_account(harbour.site, ann, ann.account.id, role="owner")
    with pytest.raises(NotAllowed, match="ann may not administer"):
        access.change_account(harbour.site, ann, ben.account.id, email="eve@example.org")
    with pytest.raises(Refused, match="the only owner"):
        access.change_account(harbour.site, harbour.owner, harbour.owner.account.id, role="submitter")


@pytest.mark.parametrize("email", ["ann", "ann@example.org\nBcc: eve@example.org", "a@b, c@d", "a b@c", "<a@b>", ""])
def test_what_is_no_address_is_refused(harbour: Harbour, email: str) -> None:
    with pytest.raises(InvalidInput, match="is no e-mail address"):
        access.add_account(harbour.site, harbour.owner, "zoe", "submitter", email=email)
    assert access.account_of_oidc(harbour.site, "issuer|9", "zoe", email).email is None
