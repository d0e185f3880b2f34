"""One submission to all boards of a suite: checked on every board first, then taken by all of them or by none.

A metric is one program, which every board gets. A generator is an archive with one file of outputs for each board,
named as the board is on the site or in the suite. What the boards take are submissions like any others: each is
checked, scored, withdrawn by itself. They have a word in common, so that an anonymous one has one pseudonym everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from billboards.analyses.suite.results import Suite
from billboards.errors import InvalidInput, InvalidSubmission, Problem, Refused, UnknownName
from billboards.site.accounts.access import VISITOR, Viewer, require
from billboards.site.boards.live_suites import missing_boards, registered_boards
from billboards.site.boards.suites import site_suites
from billboards.site.database.ids import new_id
from billboards.site.site import Site
from billboards.site.submissions.archive_process import files_in
from billboards.site.submissions.records import SENT, SUITE, Entry
from billboards.site.submissions.sending import (
    Ready,
    Received,
    check_size,
    prepare_generator,
    prepare_metric,
    receive,
)

#: Files that an archive of outputs may hold beside one for each board; a system's own small files count.
MOST_BESIDE = 100
#: Ends of names of files with outputs.
_ENDS = (".jsonl", ".json", ".txt", ".text", ".tsv")


@dataclass(frozen=True, kw_only=True)
class SuiteBoards:
    """A suite that takes submissions, and its boards on the site by name, with the label of each."""

    suite: Suite
    labels: Mapping[str, str]


def suite_taking(site: Site, name: str) -> SuiteBoards:
    """A suite whose boards all are on this site; raises for any other."""
    suites = site_suites(site, VISITOR)
    if name not in suites:
        raise UnknownName("suite", name, suites)
    suite = suites[name]
    if missing := missing_boards(site, suite):
        raise Refused(
            f"suite {name} takes no submissions: {', '.join(missing)} {'is' if len(missing) == 1 else 'are'} not on "
            "this site; send to each board that is"
        )
    labels = {registered.name: entry.label or registered.name for entry, registered in registered_boards(site, suite)}
    return SuiteBoards(suite=suite, labels=labels)


def submit_metric_to_suite(
    site: Site,
    viewer: Viewer,
    suite: str,
    raw: bytes,
    *,
    name: str | None = None,
    file_name: str = "metric",
    manifest: Mapping[str, Any] | None = None,
    anonymous: bool = False,
    entry: Entry = "primary",
    about: Mapping[str, Any] | None = None,
    trusted: bool = False,
) -> tuple[Received, ...]:
    """Send in a metric to every board of a suite, or to none, with every board's reasons."""
    account = require(viewer, "submit")
    if trusted:
        require(viewer, "administer")
    boards = suite_taking(site, suite).labels

    def prepare(board: str) -> Ready:
        return prepare_metric(
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

    return receive(site, account, _together(suite, _prepared(boards, prepare)))


def submit_generator_to_suite(
    site: Site,
    viewer: Viewer,
    suite: str,
    name: str,
    archive: bytes,
    *,
    file_name: str = "outputs.zip",
    anonymous: bool = False,
    entry: Entry = "primary",
    about: Mapping[str, Any] | None = None,
) -> tuple[Received, ...]:
    """Send in a generator's outputs on every board of a suite, one file each in a zip archive, or on none."""
    account = require(viewer, "submit")
    labels, most = suite_taking(site, suite).labels, site.settings.generator_bytes
    check_size(archive, most, file_name)
    files = outputs_by_board(archive, labels, most=most, name=file_name)

    def prepare(board: str) -> Ready:
        inside, raw = files[board]
        return prepare_generator(
            site, board, name, raw, file_name=inside, anonymous=anonymous, entry=entry, about=about
        )

    return receive(site, account, _together(suite, _prepared(labels, prepare)))


def _prepared(boards: Mapping[str, str], prepare: Callable[[str], Ready]) -> list[Ready]:
    """What each board would take; raises with everything that is wrong on any of them."""
    ready, refusals = [], dict[str, str]()
    problems: dict[Problem, list[str]] = {}
    for board in boards:
        try:
            ready.append(prepare(board))
        except InvalidSubmission as error:
            for problem in error.problems:
                problems.setdefault(problem, []).append(board)
        except Refused as error:
            refusals[board] = str(error)
        except InvalidInput as error:
            problems.setdefault(Problem("", None, str(error)), []).append(board)
    if problems:
        told = [_told(problem, where, boards) for problem, where in problems.items()]
        raise InvalidSubmission([*told, *(Problem(board, None, reason) for board, reason in refusals.items())])
    if refusals:
        raise Refused("; ".join(f"board {board}: {reason}" for board, reason in refusals.items()))
    return ready


def _told(problem: Problem, where: Sequence[str], boards: Mapping[str, str]) -> Problem:
    """A mistake with the boards that have it; one that all have is told once."""
    names = "every board" if len(where) == len(boards) else ", ".join(where)
    return replace(problem, path=f"{names}: {problem.path}" if problem.path else names)


def _together(suite: str, ready: Sequence[Ready]) -> list[Ready]:
    """Submissions that say which suite they were sent to."""
    common = {SUITE: suite, SENT: new_id()}
    return [replace(each, settings={**each.settings, **common}) for each in ready]


def outputs_by_board(
    archive: bytes, labels: Mapping[str, str], *, most: int, name: str
) -> dict[str, tuple[str, bytes]]:
    """The file of each board in a zip archive, by the board's name; raises with all that is missing or too much."""
    files: dict[str, tuple[str, bytes]] = {}
    problems = []
    for inside, raw in files_in(archive, file_name=name, most=most, most_files=len(labels) + MOST_BESIDE):
        board = _board_of(PurePosixPath(inside).name, labels)
        if board is None:
            names = ", ".join(f"{each}.jsonl" for each in labels)
            problems.append(Problem(inside, None, f"is named like no board of the suite; there are {names}"))
        elif board in files:
            problems.append(Problem(inside, None, f"is a second file for board {board}; send one"))
        else:
            files[board] = (inside, raw)
    for board in labels:
        if board not in files:
            problems.append(Problem(name, None, f"has no outputs for board {board}; add a file {board}.jsonl or .txt"))
    if problems:
        raise InvalidSubmission(problems)
    return files


def _board_of(file: str, labels: Mapping[str, str]) -> str | None:
    """The board that a file is named after, by its name on the site or its label in the suite."""
    for stem in _stems(file):
        if stem in labels:
            return stem
        named = [board for board, label in labels.items() if label == stem]
        if len(named) == 1:
            return named[0]
    return None


def _stems(file: str) -> Iterator[str]:
    yield file
    for end in _ENDS:
        if file.endswith(end):
            yield file.removesuffix(end)
