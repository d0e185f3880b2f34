"""Submissions: who sent what, how far it has come, its log, and what its sender may do with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter

from billboards.errors import UnknownName
from billboards.site.accounts.access import Viewer, may
from billboards.site.boards import registry
from billboards.site.boards.live import live_board
from billboards.site.campaigns.judged_submissions import PeopleProgress, people_progress
from billboards.site.pages.long_lists import read_before, write_before
from billboards.site.settings import read_board_settings
from billboards.site.site import Site
from billboards.site.submissions import records as submissions
from billboards.site.submissions import sending as submitting
from billboards.site.submissions.consistency import inconsistency
from billboards.site.submissions.doubts import GONE, doubt_words, doubts_of
from billboards.site.submissions.given import given_hidden
from billboards.site.submissions.outcome import outcome_of
from billboards.site.submissions.records import TERMINAL, TRANSITIONS, Submission
from billboards.site.submissions.sending import get_submission, read_log
from billboards.site.web import addresses
from billboards.site.web.asking import Ask, changing, reading
from billboards.site.web.rendering import Body
from billboards.site.web.streams import send_events, send_generations, send_progress, status_of

router = APIRouter()

PAGE = 50
#: How a metric came in that is no program, in words.
COMES_AS = {"scores": "scores only", "hub": "a model on the hub", "image": "an image", "endpoint": "an endpoint"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A submission in a list, as a viewer may know it."""

    name: str
    href: str | None
    board: str
    kind: str
    version: int
    team: str
    entry: str
    state: str
    words: str
    created: float
    own: bool


def show_all(ask: Ask) -> Body:
    """Submissions to all boards."""
    return ask.page("all_submissions", lines=_lines(ask, None), **_older(ask, None))


def show_of_board(ask: Ask) -> Body:
    """Submissions to one board."""
    look = ask.look()
    lines = _lines(ask, look.name)
    return ask.board_page(
        "submissions",
        look,
        "submissions",
        heading="Submissions",
        lines=lines,
        running=any(line.state not in TERMINAL for line in lines),
        generation=look.live.generation,
        **_older(ask, look.name),
    )


def _lines(ask: Ask, board: str | None) -> list[Line]:
    with ask.site.database.reading() as connection:
        page = submissions.find(connection, board=board, before=read_before(ask.query), limit=PAGE)
        hiding = {
            registered.name: read_board_settings(registered.settings) for registered in registry.list_boards(connection)
        }
    seen = (
        submission
        for submission in page
        if _is_listed(ask.viewer, submission, hides=hiding[submission.board].hides(submission.phase))
    )
    return [_line(ask.viewer, ask.site, submission) for submission in seen]


def _is_listed(viewer: Viewer, submission: Submission, *, hides: bool) -> bool:
    """Everybody sees what is on the board; the rest is its team's and the owners' business."""
    return may(viewer, "see-submission", submission) or (submission.state == "scored" and not hides)


def _line(viewer: Viewer, site: Site, submission: Submission) -> Line:
    named = may(viewer, "see-submission", submission) or not submission.anonymous
    return Line(
        name=submission.name if named else submission.public_name,
        href=addresses.submission(submission.id) if named else None,
        board=submission.board,
        kind=submission.kind,
        version=submission.version,
        team=submission.team if named else "anonymous",
        entry=submission.entry,
        state=submission.state,
        words=status_of(site, submission).words if may(viewer, "see-submission", submission) else "",
        created=submission.created,
        own=viewer.account is not None and viewer.account.team_id == submission.team_id,
    )


def _older(ask: Ask, board: str | None) -> dict[str, Any]:
    with ask.site.database.reading() as connection:
        page = submissions.find(connection, board=board, before=read_before(ask.query), limit=PAGE + 1)
    if len(page) <= PAGE:
        return {"older": None}
    where = addresses.asked({"before": write_before(page[PAGE - 1].created, page[PAGE - 1].id)})
    return {"older": (addresses.board(board, "submissions") if board else "/submissions") + where}


def show_submission(ask: Ask) -> Body:
    """One submission with its state and log."""
    submission = get_submission(ask.site, ask.viewer, ask.params["submission"])
    own = may(ask.viewer, "see-submission", submission)
    look = ask.pages.look(submission.board, ask.viewer)
    lines = read_log(ask.site, ask.viewer, submission.id) if own else ()
    hidden = given_hidden(
        look.live.settings, submission, blind=look.live.has_blind_rows, inputs=look.live.inputs_hidden
    )
    on_board = next((name for name, row in look.live.generators.items() if row.id == submission.id), None)
    return ask.board_page(
        "submission",
        look,
        "submissions",
        heading=f"{submission.name}, version {submission.version}",
        submission=submission,
        own=own,
        progress=status_of(ask.site, submission),
        judged=_people(ask, submission) if own or look.judged else None,
        log=lines,
        last_line=lines[-1].id if lines else 0,
        actions=_actions(ask.viewer, submission),
        facts=_facts(submission),
        steps=_steps(submission),
        on_board=None if on_board is None else addresses.generator(look.name, on_board),
        took_part=next(
            (addresses.metric(look.name, n) for n, m in look.live.metrics.items() if m.id == submission.id), None
        ),
        doubts=doubt_words(submission, live_board(ask.site, submission.board)),
        kept_out=look.live.board.trust.bar(on_board or submission.public_name, doubts_of(submission)),
        outcome=outcome_of(submission, look.live),
        ranking=addresses.board(look.name, "rankings"),
        inconsistency=inconsistency(submission, counted=may(ask.viewer, "read-hidden") or not hidden),
    )


def _people(ask: Ask, submission: Submission) -> PeopleProgress | None:
    with ask.site.database.reading() as connection:
        return people_progress(connection, submission)


def _facts(submission: Submission) -> list[tuple[str, str]]:
    settings = submission.settings
    kind = submission.kind if submission.way == "program" else f"metric, {COMES_AS[submission.way]}"
    facts = [("kind", kind), ("entry", submission.entry), ("team", submission.team)]
    facts += [("phase", submission.phase)] if submission.phase else []
    facts += [("name on the board", submission.public_name)] if submission.anonymous else []
    return facts + [(word, str(settings[word])) for word in ("description", "paper", "url") if settings.get(word)]


def _steps(submission: Submission) -> list[tuple[str, bool, bool]]:
    """The way of a submission: each step, whether it is behind, and whether it is now."""
    is_tried = submission.kind == "metric" and submission.way != "scores"
    way = ["received", "checking", *(["trial"] if is_tried else []), "scoring", "scored"]
    if submission.state not in way:
        return []
    now = way.index(submission.state)
    return [(step, k < now or submission.state == "scored", k == now) for k, step in enumerate(way)]


Act = Callable[[Site, Viewer, str], Submission]

#: What can be done to a submission: the button's words, the state it must be able to reach, and what does it.
ACTIONS: Mapping[str, tuple[str, str, Act]] = {
    "cancel": ("Cancel", "cancelled", submitting.cancel),
    "retry": ("Try again", "received", submitting.retry),
    "withdraw": ("Withdraw", "withdrawn", submitting.withdraw),
    "reveal": ("Reveal its name", "", submitting.reveal),
    "primary": ("Make it primary", "", lambda site, viewer, name: submitting.set_entry(site, viewer, name, "primary")),
    "contrastive": (
        "Make it contrastive",
        "",
        lambda site, viewer, name: submitting.set_entry(site, viewer, name, "contrastive"),
    ),
    "trust": ("Trust it", "", lambda site, viewer, name: submitting.set_trusted(site, viewer, name, True)),
}


def _actions(viewer: Viewer, submission: Submission) -> list[tuple[str, str]]:
    """The buttons that would do something."""
    if not may(viewer, "change-submission", submission):
        return []
    fits = {
        "reveal": submission.anonymous,
        "primary": submission.entry == "contrastive" and submission.state not in GONE,
        "contrastive": submission.entry == "primary" and submission.state not in GONE,
        "trust": submission.kind == "metric"
        and not submission.settings.get("trusted")
        and submission.state == "failed"
        and may(viewer, "administer"),
    }
    actions = []
    for key, (words, state, _) in ACTIONS.items():
        if fits.get(key, state in TRANSITIONS[submission.state]):
            actions.append((key, words))
    return actions


def act_on_submission(ask: Ask, _: Mapping[str, Any]) -> str:
    """Do what a button says."""
    action = ask.params["action"]
    if action not in ACTIONS:
        raise UnknownName("action", action, ACTIONS)
    submission = ACTIONS[action][2](ask.site, ask.viewer, ask.params["submission"])
    return addresses.submission(submission.id)


router.add_route("/submissions", reading(show_all, kept=False), include_in_schema=False)
router.add_route("/boards/{board}/events", send_generations, include_in_schema=False)
router.add_route("/boards/{board}/progress", send_progress, include_in_schema=False)
router.add_route("/boards/{board}/submissions", reading(show_of_board, kept=False), include_in_schema=False)
router.add_route("/submissions/{submission}", reading(show_submission, kept=False), include_in_schema=False)
router.add_route("/submissions/{submission}/events", send_events, include_in_schema=False)
router.add_route(
    "/submissions/{submission}/{action}", changing(act_on_submission), methods=["POST"], include_in_schema=False
)
