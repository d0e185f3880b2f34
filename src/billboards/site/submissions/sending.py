"""Sending in, and what its sender or the owner may do with it afterwards.

A generator is checked at once: what is wrong is said before anything is written down, and costs no quota. A metric's
archive is looked through at once and built later; a metric may also come as scores only, which are checked at once
like outputs. Whether a phase is open, the name is free and the quota is not spent
is decided in the transaction that writes the submission down, so two at the same moment can't both be the last.
Sending the same thing again under the same name gives the submission that is there, so a lost answer can be asked for
again.
"""

from __future__ import annotations

import hashlib
import math
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

from sqlalchemy import Connection, delete

from billboards.analyses._families import AUTO
from billboards.analyses._people import PEOPLE
from billboards.analyses.ensemble import ENSEMBLE
from billboards.board import Board
from billboards.board.costs import COSTS, CostName
from billboards.board.names import deceiving_mistake, generator_name_mistake, look_alike
from billboards.ensembles import FAMILIES
from billboards.errors import (
    InvalidInput,
    InvalidSettings,
    MissingPart,
    NotAllowed,
    Problem,
    Refused,
    TooLarge,
    UnknownName,
)
from billboards.metrics.discovery import installed_metric, part_names
from billboards.reading import unseen_sign
from billboards.site.accounts.access import Viewer, may, require
from billboards.site.accounts.records import Account
from billboards.site.boards import registry, snapshots
from billboards.site.boards.budgets import CARDS, check_budgets, is_raised, purse_of
from billboards.site.boards.live import board_metrics, folder_board, hides_judgments, live_board
from billboards.site.campaigns.judgments import may_rank
from billboards.site.database import trail
from billboards.site.database.schema import cell_failures
from billboards.site.database.trail import LogLine
from billboards.site.settings import BoardSettings, moment, read_board_settings, said_moment
from billboards.site.site import Site
from billboards.site.submissions import records as submissions
from billboards.site.submissions.addressed_metrics import Addressed, check_allowed, read_address
from billboards.site.submissions.archive_process import declared_in
from billboards.site.submissions.archives import MOST_BYTES
from billboards.site.submissions.generator_files import Format, canonical, read_generator
from billboards.site.submissions.given import hidden_since
from billboards.site.submissions.metric_folders import check_vetted, most_bytes_sent
from billboards.site.submissions.records import Draft, Entry, Kind, Submission
from billboards.site.submissions.sent_scores import SentScores, doubtful_sign, kept_scores, read_sent

#: States of submissions that are no more on their way nor on the board.
GONE = ("withdrawn", "rejected", "failed", "cancelled")
#: What is said of a metric that its scores depend on, beside its file.
DECIDING = ("manifest", "higher_is_better", "needs_references", "needs_input", "references")
#: What a submission may say of itself beside its outputs or program.
WORDS = ("description", "paper", "url", "language", "human", *COSTS)
LONGEST_WORDS = 10_000
ENTRIES: tuple[Entry, ...] = ("primary", "contrastive")
WITHHELD = "(what the program wrote is withheld: it was given texts that its team may not read)"
#: Lines of a log that are looked through for those that are shown.
MOST_LINES = 100_000


@dataclass(frozen=True)
class Received:
    """A submission that was taken, and what is odd about it."""

    submission: Submission
    warnings: tuple[Problem, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Ready:
    """What was sent in to one board, checked as far as that can be done before it is written down."""

    registered: registry.Registered
    kind: Kind
    name: str
    content: bytes
    anonymous: bool
    entry: Entry
    settings: Mapping[str, Any]
    warnings: tuple[Problem, ...] = ()


def submit_generator(
    site: Site,
    viewer: Viewer,
    board: str,
    name: str,
    raw: bytes,
    *,
    file_name: str = "outputs",
    form: Format = "auto",
    anonymous: bool = False,
    entry: Entry = "primary",
    about: Mapping[str, Any] | None = None,
) -> Received:
    """Send in a generator's outputs; every mistake is named, and nothing is kept where there is one."""
    account = require(viewer, "submit")
    ready = prepare_generator(
        site, board, name, raw, file_name=file_name, form=form, anonymous=anonymous, entry=entry, about=about
    )
    return receive(site, account, [ready])[0]


def prepare_generator(
    site: Site,
    board: str,
    name: str,
    raw: bytes,
    *,
    file_name: str = "outputs",
    form: Format = "auto",
    anonymous: bool = False,
    entry: Entry = "primary",
    about: Mapping[str, Any] | None = None,
) -> Ready:
    """A generator's outputs, checked against a board; raises with every mistake."""
    registered = _board(site, board)
    check_size(raw, site.settings.generator_bytes, file_name)
    folder = folder_board(site, registered)
    _check_name(folder, "generator", name)
    outputs = read_generator(raw, folder, name=file_name, form=form, longest=site.settings.text_characters)
    return Ready(
        registered=registered,
        kind="generator",
        name=name,
        content=canonical(folder, outputs.texts),
        anonymous=anonymous,
        entry=entry,
        settings=_about(about),
        warnings=outputs.warnings,
    )


def submit_metric(
    site: Site,
    viewer: Viewer,
    board: str,
    raw: bytes,
    *,
    name: str | None = None,
    file_name: str = "metric",
    manifest: Mapping[str, Any] | None = None,
    anonymous: bool = False,
    entry: Entry = "primary",
    about: Mapping[str, Any] | None = None,
    trusted: bool = False,
) -> Received:
    """Send in a metric: an archive of a folder, or one Python file.

    `manifest` holds what a form says of it, where the folder has no `metric.toml`. Only an owner may call it trusted.
    """
    account = require(viewer, "submit")
    if trusted:
        require(viewer, "administer")
    ready = prepare_metric(
        site,
        account,
        board,
        raw,
        name=name,
        file_name=file_name,
        manifest=manifest,
        anonymous=anonymous,
        entry=entry,
        about=about,
        trusted=trusted,
    )
    return receive(site, account, [ready])[0]


def prepare_metric(
    site: Site,
    account: Account,
    board: str,
    raw: bytes,
    *,
    name: str | None = None,
    file_name: str = "metric",
    manifest: Mapping[str, Any] | None = None,
    anonymous: bool = False,
    entry: Entry = "primary",
    about: Mapping[str, Any] | None = None,
    trusted: bool = False,
) -> Ready:
    """A metric's program, looked through for a board; raises with what is wrong."""
    registered = _board(site, board)
    _check_early(site, account, registered, name, hashlib.sha256(raw).hexdigest())
    largest = most_bytes_sent(site, account.name)
    check_size(raw, largest, file_name)
    settings: dict[str, Any] = _about(about)
    declared = declared_in(raw, file_name=file_name, manifest=manifest, name=name, most=max(MOST_BYTES, largest))
    called = name or declared.name
    _check_name(folder_board(site, registered), "metric", called)
    settings |= {"trusted": trusted, "trained_on_this_board": declared.trained_on_this_board, "file": file_name[:200]}
    if manifest is not None:
        settings["manifest"] = dict(manifest)
    if declared.gpu:
        check_vetted(site, account.name, hashlib.sha256(raw).hexdigest())
        purse = purse_of(site, registered.name, read_board_settings(registered.settings), CARDS)
        if purse.left() <= 0.0:
            raise Refused(f"programs for graphics cards are not taken now: it would pass {purse.words}")
        settings["gpu"] = True
    return Ready(
        registered=registered,
        kind="metric",
        name=called,
        content=raw,
        anonymous=anonymous,
        entry=entry,
        settings=settings,
    )


def submit_scores(
    site: Site,
    viewer: Viewer,
    board: str,
    name: str,
    raw: bytes,
    *,
    higher_is_better: bool,
    training_data: str,
    needs: Sequence[str] = ("references",),
    references: Sequence[str] | None = None,
    trained_on_this_board: bool = False,
    file_name: str = "scores",
    anonymous: bool = False,
    entry: Entry = "primary",
    about: Mapping[str, Any] | None = None,
) -> Received:
    """Send in a metric as scores only; every mistake is named, and nothing is kept where there is one.

    Scores of generators that an earlier version has, and this file leaves out, stay as they were. Generators are those
    that the sender may see, so that nobody learns here of others.
    """
    account = require(viewer, "submit")
    if site.settings.metrics.scores_only == "refuse":
        raise Refused("this site takes no metrics as scores only; send a program that computes them")
    registered = _board(site, board)
    _check_early(site, account, registered, name)
    check_size(raw, site.settings.generator_bytes, file_name)
    live = live_board(site, board, audience=viewer.audience)
    _check_name(folder_board(site, registered), "metric", name)
    settings: dict[str, Any] = _about(about) | {
        "way": "scores",
        "higher_is_better": higher_is_better,
        **_needs(needs),
        "references": _references(live.board, needs, references),
        "training_data": _stated(training_data),
        "trained_on_this_board": trained_on_this_board,
        "file": file_name[:200],
    }
    sent = read_sent(raw, live.board, name=file_name)
    doubts = doubtful_sign(sent, live.shown, higher_is_better=higher_is_better, name=file_name)
    hides = live.settings.hidden_judgments or any(phase.blind for phase in live.settings.phases)
    warnings = (*sent.warnings, *(() if hides and not live.settings.revealed else doubts))
    ready = Ready(
        registered=registered,
        kind="metric",
        name=name,
        content=_with_earlier(site, account, board, name, sent, settings).content(),
        anonymous=anonymous,
        entry=entry,
        settings=settings,
        warnings=warnings,
    )
    return receive(site, account, [ready])[0]


def submit_address(
    site: Site,
    viewer: Viewer,
    board: str,
    way: Addressed,
    name: str,
    parts: Mapping[str, str],
    *,
    manifest: Mapping[str, Any] | None = None,
    anonymous: bool = False,
    entry: Entry = "primary",
    about: Mapping[str, Any] | None = None,
) -> Received:
    """Send in a metric as an address that the owner allows: a model of the hub, an image or an endpoint."""
    account = require(viewer, "submit")
    registered = _board(site, board)
    _check_early(site, account, registered, name)
    address = read_address(way, parts, manifest or {}, name)
    check_allowed(site.settings.metrics, read_board_settings(registered.settings), address, now=site.clock())
    _check_name(folder_board(site, registered), "metric", name)
    settings = _about(about) | {"way": way, "address": dict(address.parts)}
    settings["trained_on_this_board"] = bool(address.manifest.get("trained_on_this_board"))
    ready = Ready(
        registered=registered,
        kind="metric",
        name=name,
        content=address.content(),
        anonymous=anonymous,
        entry=entry,
        settings=settings,
    )
    return receive(site, account, [ready])[0]


def _with_earlier(
    site: Site, account: Account, board: str, name: str, sent: SentScores, settings: Mapping[str, Any]
) -> SentScores:
    """Scores together with those of the version before, where that says the same of itself."""
    with site.database.reading() as connection:
        earlier = submissions.find(connection, board=board, kind="metric", name=name, team_id=account.team_id)
    alive = [submission for submission in earlier if submission.state not in GONE and submission.way == "scores"]
    if not alive or any(alive[0].settings.get(word) != settings.get(word) for word in DECIDING):
        return sent
    return sent.with_earlier(kept_scores(site, alive[0]))


def _needs(needs: Sequence[str]) -> dict[str, bool]:
    if unknown := sorted(set(needs) - {"references", "input"}):
        raise UnknownName("thing that a metric can need", unknown[0], ("references", "input"))
    return {"needs_references": "references" in needs, "needs_input": "input" in needs}


def _references(board: Board, needs: Sequence[str], references: Sequence[str] | None) -> list[str] | None:
    """The references that a metric saw, in the board's order; None is all that the board uses."""
    if not references or "references" not in needs:
        return None
    for name in references:
        if name not in board.reference_names:
            raise UnknownName("reference", name, board.reference_names)
    return [name for name in board.reference_names if name in references]


def _stated(training_data: str) -> str:
    if not training_data.strip():
        raise InvalidInput("say what the metric was trained on, or `none`")
    if len(training_data) > LONGEST_WORDS:
        raise InvalidInput(f"training data must be told in at most {LONGEST_WORDS} characters")
    return training_data.strip()


def _put_back(site: Site, blob: str, content: bytes) -> None:
    """See that a file is there now that a row names it: an old one like it may just have been tidied away."""
    if not site.blobs.touched(blob):
        site.blobs.put(content)


def receive(site: Site, account: Account, ready: Sequence[Ready]) -> tuple[Received, ...]:
    """Write submissions down, all of them in one transaction, or none where any board refuses its own.

    Of several, every refusal is named with its board.
    """
    for each in ready:
        if each.entry not in ENTRIES:
            raise UnknownName("kind of entry", each.entry, ENTRIES)
    blobs = [site.blobs.put(each.content) for each in ready]
    refused: dict[str, str] = {}
    taken = []
    boards = {each.registered.name for each in ready}
    with site.database.writing(boards=boards, team=account.team_id) as connection:
        for each, blob in zip(ready, blobs, strict=True):
            try:
                taken.append(_written_down(site, connection, account, each, blob))
            except Refused as error:
                if len(ready) == 1:
                    raise
                refused[each.registered.name] = str(error)
        if refused:
            raise Refused("; ".join(f"board {board}: {reason}" for board, reason in refused.items()))
    for each, blob in zip(ready, blobs, strict=True):
        _put_back(site, blob, each.content)
    return tuple(Received(submission, each.warnings) for submission, each in zip(taken, ready, strict=True))


def _written_down(site: Site, connection: Connection, account: Account, ready: Ready, blob: str) -> Submission:
    """A submission as a row, or the one that is there already with the same content; raises where none may come in."""
    now, board, kind, name = site.clock(), ready.registered.name, ready.kind, ready.name
    board_settings = read_board_settings(registry.board(connection, board).settings)
    called_so = submissions.find(connection, board=board, kind=kind, name=name)
    _check_owner(called_so, account, name, board_settings)
    same = [submission for submission in called_so if submission.team_id == account.team_id]
    if not same:
        _check_alike(connection, board, kind, account, name, board_settings)
    if same and same[0].state not in GONE and _is_same(same[0], blob, ready.settings):
        return same[0]
    hides = _hides(board_settings, folder_board(site, ready.registered))
    per_day = site.settings.submissions_per_day
    phase = _check_open(connection, board_settings, board, kind, account, now, hides=hides, per_day=per_day)
    if ready.entry == "primary":
        _check_one_primary(connection, board, kind, account, name)
    draft = Draft(
        board=board,
        kind=kind,
        name=name,
        team_id=account.team_id,
        account_id=account.id,
        blob=blob,
        phase=phase,
        anonymous=ready.anonymous,
        entry=ready.entry,
        settings=ready.settings,
    )
    return submissions.create(connection, draft, actor=account.name, now=now)


def _is_same(submission: Submission, blob: str, settings: Mapping[str, Any]) -> bool:
    """Whether a file and what is said of it are those of a submission."""
    before, words = submission.settings, [word for word in ("way", *DECIDING) if word in settings]
    return submission.blob == blob and all(before.get(word) == settings[word] for word in words)


def _check_owner(same: Sequence[Submission], account: Account, name: str, settings: BoardSettings) -> None:
    """A name may be another team's only while nobody else can know that: refusing it would tell."""
    others = (submission for submission in same if submission.team_id != account.team_id)
    if any(not (submission.anonymous or settings.hides(submission.phase)) for submission in others):
        raise Refused(f"the name {name} is taken by another team; choose another")


def _check_alike(
    connection: Connection, board: str, kind: Kind, account: Account, name: str, settings: BoardSettings
) -> None:
    """A name must not be taken for another one, as far as the sender may know of that."""
    alike = [other for other in submissions.names(connection, board, kind) if other != name and look_alike(name, other)]
    for other in alike:
        for submission in submissions.find(connection, board=board, kind=kind, name=other):
            own = submission.team_id == account.team_id
            hidden = submission.anonymous or settings.hides(submission.phase)
            if submission.state not in GONE and (own or not hidden):
                raise Refused(f"the name {name!r} looks like {other}, which is there; choose another")


def _check_open(
    connection: Connection,
    settings: BoardSettings,
    board: str,
    kind: Kind,
    account: Account,
    now: float,
    *,
    hides: bool,
    per_day: int,
) -> str | None:
    """The phase a submission belongs to; raises where none may come in now.

    `hides` says that a metric's numbers tell of something hidden; `per_day` is what the site takes of a team in a day.
    """
    if kind not in settings.accepts:
        raise Refused(f"board {board} takes no {kind}s")
    if settings.frozen is not None:
        raise Refused(f"board {board} is frozen since {said_moment(settings.frozen)}; nothing more is taken")
    phase = settings.open_phase(now)
    day = datetime.fromtimestamp(now, UTC).replace(hour=0, minute=0, second=0, microsecond=0).timestamp()
    today = submissions.count_spent(connection, board, kind, account.team_id, since=day)
    if settings.per_day is not None and today >= settings.per_day:
        raise Refused(
            f"team {account.team} has sent its {settings.per_day} {kind}s of today; "
            f"the next may come after {said_moment(day + 86400)}"
        )
    if account.role != "owner" and submissions.count_sent(connection, account.team_id, since=day) >= per_day:
        raise Refused(
            f"team {account.team} has sent the {per_day} submissions that this site takes a day; "
            f"the next may come after {said_moment(day + 86400)}"
        )
    spent = submissions.count_spent(connection, board, kind, account.team_id)
    if settings.total is not None and spent >= settings.total:
        raise Refused(f"team {account.team} has sent all of its {settings.total} {kind}s for board {board}")
    if hides and kind == "metric" and account.role != "owner":
        _check_disclosed(settings, board, account.team, today, spent, day)
    return None if phase is None else phase.name


def limits_of(settings: BoardSettings, board: Board, kind: Kind, account: Account) -> tuple[int | None, int | None]:
    """How many submissions of a kind a team may send on a day and in all; None is no limit."""
    per_day, total = [settings.per_day], [settings.total]
    if kind == "metric" and account.role != "owner" and _hides(settings, board):
        per_day.append(settings.hidden_per_day)
        total.append(settings.hidden_total)
    a, b = ([limit for limit in limits if limit is not None] for limits in (per_day, total))
    return min(a, default=None), min(b, default=None)


def _hides(settings: BoardSettings, board: Board) -> bool:
    """Whether a metric's numbers tell something of what is hidden."""
    return settings.hidden_references or hides_judgments(settings, board)


def _check_disclosed(settings: BoardSettings, board: str, team: str, today: int, spent: int, day: float) -> None:
    """Whether a team may ask once more what is hidden: each metric's numbers tell a little of it."""
    why = "judgments or references are hidden, and the numbers of each metric tell a little of them"
    if settings.hidden_per_day is not None and today >= settings.hidden_per_day:
        raise Refused(
            f"team {team} has sent its {settings.hidden_per_day} metrics of today: {why}; "
            f"the next may come after {said_moment(day + 86400)}"
        )
    if settings.hidden_total is not None and spent >= settings.hidden_total:
        raise Refused(
            f"team {team} has sent all of its {settings.hidden_total} metrics for board {board}: {why}; ask its owner"
        )


def _check_early(
    site: Site, account: Account, registered: registry.Registered, name: str | None, blob: str | None = None
) -> None:
    """Refuse a metric that can't come in now before its file is looked at, unless it may be there already."""
    settings = read_board_settings(registered.settings)
    with site.database.reading() as connection:
        own = submissions.find(connection, board=registered.name, kind="metric", name=name, team_id=account.team_id)
        if any(submission.state not in GONE and blob in (None, submission.blob) for submission in own):
            return
        hides = _hides(settings, folder_board(site, registered))
        _check_open(
            connection,
            settings,
            registered.name,
            "metric",
            account,
            site.clock(),
            hides=hides,
            per_day=site.settings.submissions_per_day,
        )


def _check_one_primary(connection: Connection, board: str, kind: Kind, account: Account, name: str) -> None:
    """Where a board has phases, a team has one primary entry of a kind; another version of it takes its place."""
    settings = read_board_settings(registry.board(connection, board).settings)
    if not settings.phases:
        return
    alive = ("received", "checking", "trial", "scoring", "scored")
    for submission in submissions.find(connection, board=board, kind=kind, team_id=account.team_id, states=alive):
        if submission.entry == "primary" and submission.name != name:
            raise Refused(
                f"team {account.team} has a primary entry on this board already: {submission.name}; send this one as "
                f"contrastive, or open /submissions/{submission.id} and choose “Make it contrastive” there first"
            )


def withdraw(site: Site, viewer: Viewer, submission_id: str) -> Submission:
    """Take a submission off the board; what it scored before stays in past rankings."""
    return _move(site, viewer, submission_id, "withdrawn")


def cancel(site: Site, viewer: Viewer, submission_id: str) -> Submission:
    """Stop a submission that is still on its way."""
    return _move(site, viewer, submission_id, "cancelled")


def _move(site: Site, viewer: Viewer, submission_id: str, to: str) -> Submission:
    with site.database.writing() as connection:
        submission = submissions.get(connection, submission_id)
        require(viewer, "change-submission", submission)
        _check_not_frozen(connection, viewer, submission)
        return submissions.advance(connection, submission.id, to, actor=viewer.name, now=site.clock())


def retry(site: Site, viewer: Viewer, submission_id: str) -> Submission:
    """Let a submission that failed or was cancelled begin again; it costs no quota."""
    with site.database.writing() as connection:
        submission = submissions.get(connection, submission_id)
        require(viewer, "change-submission", submission)
        _check_not_frozen(connection, viewer, submission)
        forget = delete(cell_failures).where(cell_failures.c.board == submission.board)
        if submission.kind == "generator":
            connection.execute(forget.where(cell_failures.c.row_version == submission.blob[:16]))
        elif "signature" in submission.settings:
            connection.execute(forget.where(cell_failures.c.signature == submission.settings["signature"]))
        return submissions.advance(connection, submission.id, "received", actor=viewer.name, now=site.clock())


def retry_cells(site: Site, viewer: Viewer, board: str) -> int:
    """An owner lets every cell of a board that failed be computed again; returns how many."""
    require(viewer, "administer")
    with site.database.writing() as connection:
        registry.board(connection, board)
        count = _try_failed_again(connection, board, now=site.clock())
        detail = {"cells": count}
        trail.note(connection, viewer.name, "cells.retried", board, now=site.clock(), board=board, detail=detail)
        trail.raise_generation(connection, board, now=site.clock())
        return count


#: What the last ranking is said to rest on where failed cells are tried again: on no board as it is then.
RETRIED = "retried"


def _try_failed_again(connection: Connection, board: str, *, now: float) -> int:
    """Let every cell that failed be computed again, and the board be ranked when that is done; returns how many."""
    count = connection.execute(delete(cell_failures).where(cell_failures.c.board == board)).rowcount
    audiences: tuple[snapshots.Audience, ...] = ("public", "owners")
    for audience in audiences if count else ():
        kept = snapshots.latest(connection, board, audience)
        if kept is not None:
            # The same metrics on the same board, so nothing else would tell that its scores are other ones.
            snapshots.rebase(connection, kept, RETRIED, now=now)
    return count


def reveal(site: Site, viewer: Viewer, submission_id: str) -> Submission:
    """Let a submission stand under its own name."""
    with site.database.writing() as connection:
        submission = submissions.get(connection, submission_id)
        require(viewer, "change-submission", submission)
        if not submission.anonymous:
            raise Refused(f"submission {submission.name} is not anonymous")
        # Whose name was seen first keeps it, if another team has chosen the same meanwhile.
        settings = {**submission.settings, "revealed": site.clock()}
        return submissions.change(
            connection,
            submission.id,
            "submission.revealed",
            actor=viewer.name,
            now=site.clock(),
            anonymous=False,
            settings=settings,
        )


def set_entry(site: Site, viewer: Viewer, submission_id: str, entry: Entry) -> Submission:
    """Make a submission its team's primary entry, or a contrastive one."""
    if entry not in ENTRIES:
        raise UnknownName("kind of entry", entry, ENTRIES)
    with site.database.writing() as connection:
        submission = submissions.get(connection, submission_id)
        account = require(viewer, "change-submission", submission)
        _check_not_frozen(connection, viewer, submission)
        if entry == "primary" and account.team_id == submission.team_id:
            _check_one_primary(connection, submission.board, submission.kind, account, submission.name)
        return submissions.change(
            connection, submission.id, "submission.entry", actor=viewer.name, now=site.clock(), entry=entry
        )


def set_trusted(site: Site, viewer: Viewer, submission_id: str, trusted: bool) -> Submission:
    """An owner vouches for a metric, so that it may run where there is no sandbox; it still has to be retried."""
    require(viewer, "administer")
    with site.database.writing() as connection:
        submission = submissions.get(connection, submission_id)
        settings = {**submission.settings, "trusted": trusted}
        return submissions.change(
            connection, submission.id, "submission.trusted", actor=viewer.name, now=site.clock(), settings=settings
        )


def change_settings(site: Site, viewer: Viewer, board: str, changes: Mapping[str, Any]) -> BoardSettings:
    """An owner changes a board's settings; every value is checked, and those not named stay."""
    require(viewer, "administer")
    leaders = leaders_of(site, board) if "by" in changes else None
    judged = live_board(site, board, audience="owners").board if changes.get("ranks") is not None else None
    with site.database.writing() as connection:
        registered = registry.board(connection, board)
        settings = read_board_settings(
            _changed(registered.settings, changes),
            leaders=leaders,
            judgments=None if judged is None else may_rank(connection, judged),
            families=(AUTO, *FAMILIES) if "method" in changes else None,
        )
        if settings.by == PEOPLE and settings.hidden_judgments:
            words = f"board {board} hides its judgments, so people can't rank it; change by or hidden_judgments"
            raise InvalidSettings("settings", [words], [("by",)])
        if "metrics" in changes:
            _check_metrics(settings.metrics or ())
        before = read_board_settings(registered.settings)
        check_budgets(before, settings, site.settings)
        if is_raised(before, settings, site.settings):
            _try_failed_again(connection, board, now=site.clock())
        registry.change_board(
            connection,
            board,
            "board.settings",
            actor=viewer.name,
            now=site.clock(),
            detail={"changes": trail.changes(before.document(), settings.document())},
            settings=settings.document(),
        )
        return settings


def _check_metrics(specs: Sequence[str]) -> None:
    """Refuse metrics that nobody has written; one that only lacks a package is named on the board's page."""
    wrong: list[tuple[int, str]] = []
    for number, spec in enumerate(specs):
        try:
            installed_metric(spec)
        except MissingPart:
            continue
        except InvalidInput as error:
            wrong.append((number, str(error)))
    if wrong:
        raise InvalidSettings("settings", [words for _, words in wrong], [("metrics", number) for number, _ in wrong])


def _changed(kept: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Settings with what an owner changes; of `trust` and `about`, too, what is not named stays."""
    changed = {**kept, **changes}
    trust, sent = kept.get("trust"), changes.get("trust")
    if isinstance(sent, dict):
        rules = {**(trust or {}), **sent}
        if rules.get("private_share") is not None and rules.get("private_seed") is None:
            rules["private_seed"] = secrets.randbits(48)
        changed["trust"] = rules
    if isinstance(changes.get("about"), dict):
        changed["about"] = {**(kept.get("about") or {}), **changes["about"]}
    return changed


def leaders_of(site: Site, board: str) -> set[str]:
    """What a board may be ranked by: its metrics under every name they have, the ensemble, and people if any judged."""
    live = live_board(site, board, audience="owners")
    own, _ = board_metrics(live.board)
    imported = (name for column in live.board.imported for name in (column.name, column.source_name))
    ranked = (metric["name"] for metric in (live.document or {"ranking": {"metrics": ()}})["ranking"]["metrics"])
    named = {*(metric.name for metric in own), *part_names(live.board.metrics)}
    names = {ENSEMBLE, *named, *imported, *live.metrics, *ranked} - {PEOPLE}
    return names | {PEOPLE} if len(live.board.judgments) and live.board.ranks is not None else names


def freeze(site: Site, viewer: Viewer, board: str) -> BoardSettings:
    """An owner ends a board's changes: nothing comes in or goes; what was taken before is still scored."""
    return change_settings(site, viewer, board, {"frozen": moment(site.clock())})


def unfreeze(site: Site, viewer: Viewer, board: str) -> BoardSettings:
    """An owner lets a board change again."""
    return change_settings(site, viewer, board, {"frozen": None})


def reveal_results(site: Site, viewer: Viewer, board: str) -> BoardSettings:
    """An owner shows everybody the results of the board's blind phases."""
    return change_settings(site, viewer, board, {"revealed": True})


def get_submission(site: Site, viewer: Viewer, submission_id: str) -> Submission:
    """A submission, for those who may see it: its team, owners, and anybody once its results are public."""
    with site.database.reading() as connection:
        submission = submissions.get(connection, submission_id)
        settings = read_board_settings(registry.board(connection, submission.board).settings)
    if may(viewer, "see-submission", submission):
        return submission
    if submission.state == "scored" and not submission.anonymous and not settings.hides(submission.phase):
        return submission
    raise NotAllowed(f"submission {submission_id} is its team's and the owner's to see; log in with such an account")


def read_log(site: Site, viewer: Viewer, submission_id: str, *, after: int = 0) -> tuple[LogLine, ...]:
    """A submission's log, for its team and owners; a program's own words could tell its team what it may not read."""
    with site.database.reading() as connection:
        submission = submissions.get(connection, submission_id)
        require(viewer, "see-submission", submission)
        settings = read_board_settings(registry.board(connection, submission.board).settings)
        since = None if may(viewer, "read-hidden") else hidden_since(connection, settings, submission, now=site.clock())
        if since is None:
            return trail.read_log(connection, submission_id, after=after)
        lines = trail.read_log(connection, submission_id, limit=MOST_LINES)
    return without_words(lines, since, after)


def without_words(lines: Sequence[LogLine], since: float, after: int) -> tuple[LogLine, ...]:
    """A log without what a program wrote from a time on: one line stands for all of it.

    How many lines it wrote, and when, is its own choice too: so lines are counted anew, by those that are shown.
    """
    shown: list[LogLine] = []
    is_told = False
    for line in lines:
        hidden = line.stream == "program" and line.at >= since
        if hidden and is_told:
            continue
        is_told |= hidden
        at = shown[-1].at if hidden and shown else line.at
        shown.append(LogLine(len(shown) + 1, at, line.stream, WITHHELD if hidden else line.text))
    return tuple(line for line in shown if line.id > after)


def _check_not_frozen(connection: Connection, viewer: Viewer, submission: Submission) -> None:
    settings = read_board_settings(registry.board(connection, submission.board).settings)
    if settings.frozen is not None and not may(viewer, "administer"):
        raise Refused(f"board {submission.board} is frozen since {said_moment(settings.frozen)}; ask its owner")


def _board(site: Site, name: str) -> registry.Registered:
    with site.database.reading() as connection:
        return registry.board(connection, name)


def check_size(raw: bytes, most: int, name: str) -> None:
    """Refuse what has too many bytes."""
    if len(raw) > most:
        raise TooLarge([Problem(name, None, f"has more than the {most:,} bytes that are taken; send a smaller one")])


#: What a board calls something of its own: `by = "people"` is no metric.
OWN_NAMES: Mapping[Kind, tuple[str, ...]] = {
    "generator": (ENSEMBLE, "human"),
    "metric": (ENSEMBLE, "human", PEOPLE),
}


def _check_name(board: Board, kind: Kind, name: str) -> None:
    """A name must be one, and nobody's on the board: it would be taken for another row, reference or metric."""
    if wrong := generator_name_mistake(name):
        raise InvalidInput(f"the name {name[:80]!r} {wrong}")
    if wrong := deceiving_mistake(name):
        raise InvalidInput(f"the name {name[:80]!r} {wrong}; choose another")
    if len(name) > 100:
        raise InvalidInput(f"the name {name[:80]!r}… is too long; use at most 100 characters")
    if name.casefold().startswith("anonymous-") or any(look_alike(name, own) for own in OWN_NAMES[kind]):
        raise InvalidInput(f"the name {name} is the site's own; choose another")
    if kind == "metric" and set(name) & set("|(),"):
        raise InvalidInput(f"the name {name} holds one of | ( ) , which signatures use; choose another")
    if kind == "generator":
        taken = {*board.row_position, *board.reference_names}
    else:
        own, _ = board_metrics(board)
        taken = {*(metric.name for metric in own), *board.metrics, *(c.name for c in board.imported)}
        taken |= {column.source_name for column in board.imported}
    if alike := next((other for other in taken if look_alike(name, other)), None):
        also = "" if alike == name else f", which looks like {name!r}"
        raise Refused(
            f"there is a {kind} or reference {alike} on board {board.name} already{also}; choose another name"
        )


def _cost(word: str, value: object) -> float:
    """A cost as a submission states it: a finite number of 0 or more."""
    try:
        number = float(str(value))
    except ValueError:
        number = math.nan
    if isinstance(value, bool) or not math.isfinite(number) or number < 0:
        unit = COSTS[cast("CostName", word)].unit
        raise InvalidInput(f"{word} must be a number of 0 or more ({unit}); found {str(value)[:80]!r}")
    return number


def _about(about: Mapping[str, Any] | None) -> dict[str, Any]:
    """What a submission says of itself, checked."""
    settings: dict[str, Any] = {}
    for word, value in (about or {}).items():
        if word not in WORDS:
            raise UnknownName("field of a submission", str(word), WORDS)
        if value in (None, ""):
            continue
        if word in COSTS:
            settings[word] = _cost(word, value)
            continue
        wanted = bool if word == "human" else str
        if not isinstance(value, wanted) or (isinstance(value, str) and len(value) > LONGEST_WORDS):
            raise InvalidInput(f"{word} must be {wanted.__name__} of at most {LONGEST_WORDS} characters")
        if isinstance(value, str) and (sign := unseen_sign(value)):
            raise InvalidInput(f"{word} has a sign that nobody sees ({sign}); take it out")
        if word in ("paper", "url") and not str(value).startswith(("https://", "http://")):
            raise InvalidInput(f"{word} must be a web address that begins with https://; found {str(value)[:80]!r}")
        settings[word] = value
    return settings
