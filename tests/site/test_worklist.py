"""What a worker finds out step by step is what a look from nothing finds: after any history, for both audiences."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import count

import numpy as np
import pytest
from asked_statements import statements
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from plain_worklist import PlainList, list_plainly
from small_sites import Harbour, MakeHarbour, make_board
from sqlalchemy import Connection

from billboards.board import Board
from billboards.board.missing_cells import Cell, CellId
from billboards.board.writing import write_board
from billboards.site.accounts.records import Account
from billboards.site.cache import Cache
from billboards.site.site import Site, notice_changes, register_board
from billboards.site.submissions import records as submissions
from billboards.site.submissions import sending as submitting
from billboards.site.submissions.generator_files import canonical
from billboards.site.submissions.records import TRANSITIONS, Draft, Submission
from billboards.site.work.cells import write_cell, write_failure
from billboards.site.work.worker import work_until_done
from billboards.site.work.worklist import BACKOFF, Scorer, Standing, ids_of, progress, settle, standing

BLIND = {"phases": [{"name": "blind", "blind": True}]}
ONWARDS = {"received": "checking", "checking": "scoring", "scoring": "scored"}
SENT = ("generator", "generator", "metric", "accept", "accept", "move", "move", "reveal", "settle")
STEPS = (*SENT, "cell", "cell", "failure", "retry cells", "settings", "edit", "wait")
#: What is done, to which of all it could be done to, and whether the worker looks afterwards.
HISTORIES = st.lists(st.tuples(st.sampled_from(STEPS), st.integers(0, 999), st.booleans()), min_size=5, max_size=30)


@dataclass(frozen=True)
class History:
    """A board to which things happen."""

    harbour: Harbour
    name: str
    account: Account
    blobs: list[str]

    @property
    def site(self) -> Site:
        return self.harbour.site

    def do(self, step: str, which: int) -> None:
        site, owner = self.site, self.harbour.owner
        if step in ("generator", "metric"):
            with site.database.writing() as connection:
                submissions.create(connection, self._draft(step, which), actor="test", now=site.clock())
        elif step in ("accept", "move", "reveal"):
            self._change(step, which)
        elif step in ("cell", "failure"):
            self._compute(step, which)
        elif step == "retry cells":
            submitting.retry_cells(site, owner, self.name)
        elif step == "settings":
            submitting.change_settings(site, owner, self.name, BLIND | {"revealed": bool(which % 2)})
        elif step == "edit":
            self._edit()
        elif step == "settle":
            settle(site, standing(site, self.name))
        else:
            self.harbour.clock.now += BACKOFF

    def _draft(self, kind: str, which: int) -> Draft:
        """A few names, texts and programs, so that versions follow each other and different names hold the same."""
        said: dict[str, object] = {"human": which % 5 == 0}
        if kind == "metric":
            said = {"column": "m", "signature": f"m|{which % 3}", "needs_references": which % 3 > 0}
            said |= {"needs_input": False, "higher_is_better": True}
        return Draft(
            board=self.name,
            kind="metric" if kind == "metric" else "generator",
            name=f"{kind} {which // 2 % 2}",
            team_id=self.account.team_id,
            account_id=self.account.id,
            blob=self.blobs[which % len(self.blobs)],
            phase=(None, "blind")[which % 2],
            anonymous=which % 11 == 0,
            entry="primary",
            settings=said,
        )

    def _change(self, step: str, which: int) -> None:
        with self.site.database.writing() as connection:
            sent = submissions.find(connection, board=self.name)
            if not sent:
                return
            one = sent[which % len(sent)]
            if step == "accept":
                while one.state in ONWARDS:
                    one = submissions.advance(connection, one.id, ONWARDS[one.state], actor="test", now=1.0)
            elif step == "move":
                self._move(connection, one, which // len(sent))
            else:
                submissions.change(connection, one.id, step, actor="test", now=1.0, anonymous=not one.anonymous)

    def _move(self, connection: Connection, one: Submission, which: int) -> None:
        """Into another state that it may come into: mostly onwards, sometimes out or back to the beginning."""
        states = sorted(TRANSITIONS[one.state] - {"trial"})
        if one.state in ONWARDS and which % 4:
            states = [ONWARDS[one.state]]
        if states:
            submissions.advance(connection, one.id, states[which % len(states)], actor="test", now=self.site.clock())

    def _compute(self, step: str, which: int) -> None:
        """Write a cell that is missing, or that it could not be computed, as another worker would."""
        fresh = standing(replace(self.site, cache=Cache()), self.name)
        missing = list(fresh.plan.cells(fresh.missing))
        if not missing:
            return
        cell, now = missing[which % len(missing)], self.site.clock()
        parts = {"": np.zeros(2), "precision": np.ones(2)}
        with self.site.database.writing() as connection:
            if step == "cell":
                write_cell(connection, self.name, cell.key, cell.row.version, parts, seconds=1.0, now=now)
            else:
                write_failure(connection, self.name, cell.id, reason="no", platform=bool(which % 2), now=now)

    def _edit(self) -> None:
        """Another text of a reference, or the first again."""
        path = self.site.data / "boards" / self.name / "instances.jsonl"
        before, after = ("harbour", "quay") if "harbour" in path.read_text() else ("quay", "harbour")
        path.write_text(path.read_text().replace(before, after))
        notice_changes(self.site)


MakeHistory = Callable[[], History]


@pytest.fixture
def make_history(make_harbour: MakeHarbour) -> MakeHistory:
    """Histories, each of a new board of one site."""
    harbour, numbers = make_harbour(), count()
    account = harbour.person("ann").account
    assert account is not None

    def make() -> History:
        board = replace(make_board(2, 2, metrics=("chrF", "length")), name=f"b{next(numbers)}")
        folder = harbour.site.data / "boards" / board.name
        write_board(board, folder)
        register_board(harbour.site, folder)
        submitting.change_settings(harbour.site, harbour.owner, board.name, BLIND)
        return History(harbour, board.name, account, [harbour.site.blobs.put(text) for text in _sayings(board)])

    return make


def _sayings(board: Board) -> list[bytes]:
    """A few generators' outputs; the last is a person's whose texts are references."""
    written = tuple(instance.references[1].text for instance in board.instances)
    return [canonical(board, texts) for texts in (("a ferry", "at noon"), ("at noon", "a ferry"), written)]


@pytest.mark.long
@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=HISTORIES)
def test_after_any_history_a_worker_misses_what_a_look_from_nothing_misses(
    make_history: MakeHistory, steps: list[tuple[str, int, bool]]
) -> None:
    history = make_history()
    for step, which, looks in steps:
        history.do(step, which)
        if looks:
            check(history, standing(history.site, history.name))
    last, first = standing(history.site, history.name), standing(replace(history.site, cache=Cache()), history.name)
    check(history, last)
    assert (last.missing, last.failed, last.open) == (first.missing, first.failed, first.open)


def check(history: History, now: Standing) -> None:
    """What a worker found out is what is found by listing everything."""
    plain, clock = list_plainly(history.site, history.name), history.site.clock()
    assert told(now.plan.cells()) == told(plain.wanted.values())
    missing = [cell for cell in plain.wanted if cell not in plain.present]
    failed = {cell: plain.failed[cell] for cell in missing if cell in plain.failed}
    given_up = {cell for cell, one in failed.items() if not one.platform or one.attempts >= now.attempts}
    unfinished = [cell for cell in missing if cell not in given_up]
    until = {cell: one.created + BACKOFF * one.attempts for cell, one in failed.items()}
    assert list(now.plan.ids(now.missing)) == missing
    assert now.failed == failed
    assert list(now.plan.ids(now.open)) == unfinished
    assert [cell for cell in plain.wanted if not now.is_over(cell)] == unfinished
    assert [cell.id for cell in now.due()] == [cell for cell in unfinished if clock >= until.get(cell, 0.0)]
    for audience, blocks in now.plan.shown.items():
        assert ids_of(blocks) == plain.shown[audience]
        assert now.is_complete(blocks) == plain.shown[audience].isdisjoint(unfinished)
    assert list(now.plan.waits) == list(plain.waits)
    for key, waits in plain.waits.items():
        assert ids_of(now.plan.waits[key]) == waits
        assert now.is_complete(now.plan.waits[key]) == waits.isdisjoint(unfinished)
        check_progress(history, key, plain, len(waits & given_up))


def told(cells: Iterable[Cell[Scorer]]) -> list[tuple[CellId, str, str, Submission | None]]:
    """Cells by all that a job takes from them."""
    return [(cell.id, cell.row.name, cell.metric.name, getattr(cell.metric, "submission", None)) for cell in cells]


def check_progress(history: History, key: str, plain: PlainList, failed: int) -> None:
    with history.site.database.reading() as connection:
        found = progress(history.site, submissions.get(connection, key))
    waits = plain.waits[key]
    assert (found.done, found.failed, found.total) == (len(waits & plain.present), failed, len(waits))


@pytest.mark.long
def test_a_worker_asks_for_new_cells_and_never_again_for_those_that_are_there(harbour: Harbour) -> None:
    work_until_done(harbour.site)
    assert asked_versions(harbour) == set()
    one = submitting.submit_generator(
        harbour.site, harbour.person("ann"), "ferry", "tug", harbour.outputs(), file_name="tug.txt"
    ).submission
    with harbour.site.database.writing() as connection:
        for state in ("checking", "scoring"):
            submissions.advance(connection, one.id, state, actor="test", now=1.0)
    assert asked_versions(harbour) == {one.blob[:16]}
    work_until_done(harbour.site)
    assert asked_versions(harbour) == set()


def asked_versions(harbour: Harbour) -> set[str]:
    """The rows whose cells the database is asked for when a worker looks what is missing."""
    with statements(harbour.site.database) as asked:
        now = standing(harbour.site, "ferry")
    known = {version for rows in now.plan.versions.values() for version in rows}
    return known & {word for _, parameters in asked for word in parameters}
