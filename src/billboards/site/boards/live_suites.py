"""Suites whose boards are all on the site: measured on what the site holds now, as one audience may see it.

A metric that a team sent in stands in the suite under one name wherever it stands on a board; it has a rank once it is
scored on every board. Boards that keep judgments hidden take no part for the public, since every further statistic of
a metric would tell a little more of them, and a program whose scores are withheld on a board lacks that board.
Otherwise all is as `billboards suite` has it on the same boards: the same metrics, references, draws and seed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from billboards.analyses._archive import home_of
from billboards.analyses.suite.checked_boards import OpenBoard, member_of, told_apart
from billboards.analyses.suite.chosen import Chosen, choose_metrics
from billboards.analyses.suite.open import OpenSuite
from billboards.analyses.suite.results import Suite, SuiteBoard
from billboards.analyses.suite.settings import read_suite
from billboards.board import ImportedColumn, digest
from billboards.board.missing_cells import column_key
from billboards.errors import InvalidInput
from billboards.metrics.base import Metric, MetricCard
from billboards.metrics.discovery import is_file
from billboards.site.boards.live import LiveBoard, live_board
from billboards.site.boards.registry import Registered
from billboards.site.boards.snapshots import Audience
from billboards.site.boards.suites import suite_files
from billboards.site.cache import Shelf
from billboards.site.site import Site
from billboards.site.submissions.records import Submission

#: Why a board takes no part for the public.
HIDES = "its judgments are hidden"
#: Why a metric of a suite's file is not run by the site.
IS_FILE = "it is a file beside the suite’s; a site runs it when it is sent in as a metric"
#: Why a submitted metric has no scores on a board.
NOT_SENT, NOT_YET = "it is not on that board", "it has no scores there with these references"

#: A suite's file as it was when it was read: its path, time and size.
_Stamp = tuple[str, int, int]
_READ = Shelf[str, tuple[_Stamp, Suite | None]]()


@dataclass(frozen=True, kw_only=True)
class SubmittedColumn:
    """What a suite knows of a submitted program: enough to find its scores."""

    name: str
    signature: str
    card: MetricCard


@dataclass(frozen=True, kw_only=True)
class LiveSuite:
    """A suite on the boards of a site, as one audience may see it."""

    suite: Suite
    audience: Audience
    #: Every board of the suite with the label that it has there, in the suite's order.
    boards: Mapping[str, LiveBoard]
    #: Boards that take no part, by label, and why.
    left_out: Mapping[str, str]
    #: The suite with the boards that take part; None where no board does.
    opened: OpenSuite | None
    #: What a reader must know about submitted metrics.
    notes: tuple[str, ...] = ()


def stamps(site: Site) -> tuple[_Stamp, ...]:
    """Which suites' files there are, and which state each is in."""
    return tuple(stamp for path in suite_files(site) if (stamp := _stamp(path)) is not None)


def _stamp(path: Path) -> _Stamp | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return str(path), status.st_mtime_ns, status.st_size


def live_suites(site: Site) -> dict[str, Suite]:
    """The suites that the site measures itself, by name: all their boards are here. A file with mistakes is none."""
    suites: dict[str, Suite] = {}
    for stamp in stamps(site):
        cached = site.cache.get(_READ, stamp[0])
        if cached is None or cached[0] != stamp:
            cached = site.cache.put(_READ, stamp[0], (stamp, _readable(stamp[0])))
        suite = cached[1]
        if suite is not None:
            suites.setdefault(suite.name, suite)
    return {name: suite for name, suite in suites.items() if is_live(site, suite)}


def _readable(path: str) -> Suite | None:
    try:
        return read_suite(path)
    except InvalidInput:
        return None


def is_live(site: Site, suite: Suite) -> bool:
    """Whether all boards of a suite are on the site."""
    return not missing_boards(site, suite)


def missing_boards(site: Site, suite: Suite) -> list[str]:
    """The folders of a suite's boards that are not on the site."""
    here = _registered(site)
    return [entry.folder.name for entry in suite.boards if _registered_as(here, entry) is None]


def registered_boards(site: Site, suite: Suite) -> list[tuple[SuiteBoard, Registered]]:
    """A suite's boards as the site knows them; those that are elsewhere are left out."""
    here = _registered(site)
    pairs = ((entry, _registered_as(here, entry)) for entry in suite.boards)
    return [(entry, registered) for entry, registered in pairs if registered is not None]


def _registered(site: Site) -> Mapping[Path | str, Registered]:
    boards = site.boards()
    by_name: dict[Path | str, Registered] = {registered.name: registered for registered in boards}
    return by_name | {Path(registered.folder).resolve(): registered for registered in boards}


def _registered_as(here: Mapping[Path | str, Registered], entry: SuiteBoard) -> Registered | None:
    """A board by its folder; where that folder is gone, as after a move of the site, by the folder's name."""
    registered = here.get(entry.folder.resolve())
    return registered if registered is not None or entry.folder.exists() else here.get(entry.folder.name)


def live_suite(site: Site, suite: Suite, audience: Audience) -> LiveSuite:
    """A suite of the site's boards with everything that an audience may see."""
    pairs = [
        (entry, live_board(site, registered.name, audience=audience))
        for entry, registered in registered_boards(site, suite)
    ]
    taking_part = [(entry, live) for entry, live in pairs if not live.judgments_rest_hidden]
    left_out = {_label(entry, live): HIDES for entry, live in pairs if live.judgments_rest_hidden}
    boards = {_label(entry, live): live for entry, live in pairs}
    if not taking_part:
        return LiveSuite(suite=suite, audience=audience, boards=boards, left_out=left_out, opened=None)
    members = told_apart(suite, [_member(entry, live) for entry, live in taking_part])
    chosen = suite_metrics(suite, members)
    rows = _submitted(members, [live for _, live in taking_part], {row.name for row in chosen})
    seen = tuple(_seeing(member, live, chosen, rows) for member, (_, live) in zip(members, taking_part, strict=True))
    every = (*chosen, *(row.chosen(seen) for row in rows))
    return LiveSuite(
        suite=suite,
        audience=audience,
        boards=boards,
        left_out=left_out,
        opened=OpenSuite(suite, seen, rows=every),
        notes=tuple(note for row in rows for note in row.notes(seen)),
    )


def _label(entry: SuiteBoard, live: LiveBoard) -> str:
    return entry.label or live.name


def _member(entry: SuiteBoard, live: LiveBoard) -> OpenBoard:
    """A board without the scores that teams sent in: the suite has these under names of its own."""
    sent = {name for name, metric in live.metrics.items() if metric.way == "scores"}
    imported = tuple(column for column in live.board.imported if column.name not in sent)
    return member_of(entry, home_of(replace(live.board, imported=imported)))


def suite_metrics(suite: Suite, members: Sequence[OpenBoard]) -> tuple[Chosen, ...]:
    """The metrics of a suite's file, or of its boards, as each board runs them; its files are not run by a site."""
    files = [name for name in suite.metrics if is_file(name)]
    named = [name for name in suite.metrics if not is_file(name)]
    on_boards = any(member.board.metrics for member in members)
    chosen = choose_metrics(suite, members, named) if named or (not files and on_boards) else ()
    reasons = {member.key: IS_FILE for member in members}
    return (*chosen, *(Chosen(Path(name).stem, {}, reasons) for name in files))


@dataclass(frozen=True, kw_only=True)
class _Submitted:
    """A team's metric over the boards of a suite: its name there, and its submission and name on each board."""

    name: str
    on: Mapping[str, tuple[str, Submission]]
    withheld: Mapping[str, str]

    @property
    def needs_references(self) -> bool:
        submission = next(iter(self.on.values()))[1]
        return bool(submission.settings.get("needs_references", True))

    def chosen(self, members: Sequence[OpenBoard]) -> Chosen:
        missing = {
            member.key: self.withheld.get(member.key) or (NOT_YET if member.key in self.on else NOT_SENT)
            for member in members
        }
        return Chosen(self.name, {}, missing, is_statistic=False, needs_references=self.needs_references)

    def notes(self, members: Sequence[OpenBoard]) -> Iterator[str]:
        """What differs between the boards."""
        blobs = {member.label: self.on[member.key][1] for member in members if member.key in self.on}
        if len({submission.blob for submission in blobs.values()}) > 1:
            versions = ", ".join(f"version {submission.version} on {label}" for label, submission in blobs.items())
            yield f"{self.name} is not the same program everywhere: {versions}."


def _submitted(members: Sequence[OpenBoard], lives: Sequence[LiveBoard], taken: set[str]) -> tuple[_Submitted, ...]:
    """Every metric that was sent in to any of the boards; one team's of one name is one, another team's is another."""
    together: dict[tuple[int, str], dict[str, tuple[str, Submission]]] = {}
    withheld: dict[tuple[int, str], dict[str, str]] = {}
    for member, live in zip(members, lives, strict=True):
        for name, submission in sorted(live.metrics.items()):
            # A pseudonym is the same on all boards of a suite, because the metric was sent to the suite.
            shown = str(submission.settings.get("column", submission.public_name))
            together.setdefault((submission.team_id, shown), {})[member.key] = (name, submission)
            if name in live.withheld:
                withheld.setdefault((submission.team_id, shown), {})[member.key] = live.withheld[name]
    rows = []
    for (team, shown), on in sorted(together.items(), key=lambda item: _since(item[1])):
        name, number = shown, 1
        while name in taken:
            number += 1
            name = f"{shown}-{number}"
        taken = {*taken, name}
        rows.append(_Submitted(name=name, on=on, withheld=withheld.get((team, shown), {})))
    return tuple(rows)


def _since(on: Mapping[str, tuple[str, Submission]]) -> tuple[float, str]:
    return min((submission.created, submission.id) for _, submission in on.values())


def _seeing(member: OpenBoard, live: LiveBoard, chosen: Sequence[Chosen], rows: Sequence[_Submitted]) -> OpenBoard:
    """A board with the scores that its audience may see, of the suite's metrics and of those that were sent in."""
    own = [metric for row in chosen if (metric := row.on.get(member.key)) is not None]
    told = live.told_cells.signatures or frozenset()
    scores = live.site.cells(live.name).only({*told, *(metric.scored_as.signature for metric in own)})
    placed = replace(member, scores=scores)
    columns = (
        column
        for row in rows
        if member.key in row.on and member.key not in row.withheld
        for column in _columns(placed, live, row)
    )
    return replace(placed, beside=tuple(columns))


def _columns(member: OpenBoard, live: LiveBoard, row: _Submitted) -> Iterator[ImportedColumn]:
    """What a submitted metric said of a board, once for each set of references that it saw."""
    name, submission = row.on[member.key]
    if submission.way == "scores":
        sent = (column for column in live.board.imported if column.name == name)
        yield from (replace(column, name=row.name, source_name=row.name) for column in sent)
        return
    needs = row.needs_references
    card = MetricCard(
        name=row.name, needs_references=needs, needs_input=bool(submission.settings.get("needs_input", False))
    )
    declared = SubmittedColumn(name=row.name, signature=str(submission.settings["signature"]), card=card)
    for references in dict.fromkeys((member.references("all"), member.references("one")) if needs else ((),)):
        key = column_key(member.board, declared, references)
        stored = member.cells.load(key, [outputs.version for outputs in member.board.rows])
        values = {o.name: stored[o.version] for o in member.board.rows if o.version in stored}
        if values:
            yield ImportedColumn(
                name=row.name,
                source_name=row.name,
                signature=declared.signature,
                values=values,
                references=references,
                needs_references=needs,
                needs_input=card.needs_input,
            )


def suite_scorers(suite: Suite, members: Sequence[OpenBoard], member: OpenBoard) -> tuple[Metric, ...]:
    """The metrics of a suite that a board's worker runs there; of a part, its metric."""
    on = (row.on.get(member.key) for row in suite_metrics(suite, members))
    return tuple({metric.scored_as.signature: metric.scored_as for metric in on if metric is not None}.values())


def state_of(live: LiveSuite) -> str:
    """A digest of everything that a suite says rests on, but for which cells are there."""
    facts = [
        f"{label} {board.board.version} {' '.join(sorted(board.told_cells.signatures or ()))}"
        for label, board in live.boards.items()
        if label not in live.left_out
    ]
    settings = repr(replace(live.suite, path=None))
    return digest((settings, *facts, *live.left_out))
