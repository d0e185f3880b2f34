"""Assignments and answers: who has which item, and everything that was ever answered.

An item is given to an annotator for some minutes; what is not answered by then goes to others without anything having
to happen. Answers are only added to: a draft at every change, the submission, and, where it is undone, a row that
supersedes it. Each has an id that the client made, so that one sent twice is kept once. When a writing transaction
with an answer in it has ended, the answer is on disk.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, Select, and_, func, insert, or_, select, update

from billboards.site.database.ids import new_id
from billboards.site.database.schema import answers, assignments, items

AssignmentState = Literal["open", "submitted", "released", "void", "struck"]
AnswerKind = Literal["draft", "submitted", "undone"]
#: What has been answered, whatever was decided about it since.
ANSWERED = ("submitted", "void", "struck")


@dataclass(frozen=True, kw_only=True)
class Assignment:
    """An item in an annotator's hands, or what became of it; `shown_order` is the order of its outputs there."""

    id: str
    campaign_id: str
    item_id: int
    annotator_id: int
    state: AssignmentState
    shown_order: list[int]
    opened: float
    expires: float
    changed: float
    #: What was given at one time has one of these, such as a document; its segments stand at places from 0 on.
    dealing: str | None = None
    place: int | None = None


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One row of the history."""

    id: int
    annotator_id: int
    answer_id: str
    assignment_id: str
    campaign_id: str
    kind: AnswerKind
    answers: Mapping[str, Any]
    is_right: bool | None
    seconds: float
    at: float
    template: str
    supersedes: int | None


@dataclass(frozen=True)
class OpenItem:
    """An item that still needs a label."""

    id: int
    instance: str
    row: str | None
    batch: str | None = None


def counts_as_label(now: float) -> ColumnElement[bool]:
    """Which assignments take up one of an item's labels: answered, or in somebody's hands."""
    held = and_(assignments.c.state == "open", assignments.c.expires > now)
    return or_(assignments.c.state == "submitted", held)


def open_items(
    connection: Connection,
    campaign_id: str,
    annotator_id: int,
    *,
    now: float,
    limit: int | None = None,
    in_order: bool = False,
    without: Collection[str] = (),
) -> list[OpenItem]:
    """Items with a label to be given, which this annotator has not had yet, in their planned order.

    With a `limit`, the first so many on instances that are new to the annotator, or else on any; `in_order` does not
    look farther for new ones. Items of the generators in `without` are no longer asked.
    """
    query = _open(campaign_id, annotator_id, now).limit(limit)
    query = query.where(items.c.row.not_in(list(without))) if without else query
    if limit is not None and not in_order:
        own = select(items.c.instance).join(assignments, assignments.c.item_id == items.c.id)
        own = own.where(assignments.c.campaign_id == campaign_id, assignments.c.annotator_id == annotator_id)
        fresh = [OpenItem(*row) for row in connection.execute(query.where(items.c.instance.not_in(own)))]
        if fresh:
            return fresh
    return [OpenItem(*row) for row in connection.execute(query)]


def _open(campaign_id: str, annotator_id: int, now: float) -> Select[Any]:
    taken = select(func.count()).where(assignments.c.item_id == items.c.id, counts_as_label(now)).scalar_subquery()
    query = select(items.c.id, items.c.instance, items.c.row, items.c.batch).where(
        items.c.campaign_id == campaign_id,
        items.c.purpose == "label",
        items.c.wanted > taken,
        items.c.id.not_in(_mine(campaign_id, annotator_id)),
    )
    return query.order_by(items.c.id)


def open_batch(
    connection: Connection, campaign_id: str, annotator_id: int, batch: str, *, now: float
) -> list[OpenItem]:
    """What an annotator may still get of a batch, in its order."""
    query = _open(campaign_id, annotator_id, now).where(items.c.batch == batch)
    return [OpenItem(*row) for row in connection.execute(query)]


def unseen_items(
    connection: Connection, campaign_id: str, annotator_id: int, purpose: str, test: str | None = None
) -> list[OpenItem]:
    """Test or qualification items that this annotator has not had yet; these are everybody's, and never used up."""
    query = select(items.c.id, items.c.instance, items.c.row).where(
        items.c.campaign_id == campaign_id,
        items.c.purpose == purpose,
        items.c.id.not_in(_mine(campaign_id, annotator_id)),
    )
    query = query if test is None else query.where(items.c.test == test)
    return [OpenItem(*row) for row in connection.execute(query.order_by(items.c.id))]


def _mine(campaign_id: str, annotator_id: int) -> Select[tuple[int]]:
    return select(assignments.c.item_id).where(
        assignments.c.campaign_id == campaign_id, assignments.c.annotator_id == annotator_id
    )


def labels_left(connection: Connection, campaign_id: str, *, without: Collection[str] = ()) -> int:
    """How many labels are still wanted that nobody has given, whether somebody is at them or not.

    Those of the generators in `without` are no longer wanted.
    """
    submissions = select(assignments.c.item_id, func.count().label("labels"))
    submissions = submissions.where(assignments.c.campaign_id == campaign_id, assignments.c.state == "submitted")
    counts = submissions.group_by(assignments.c.item_id).subquery()
    left = items.c.wanted - func.coalesce(counts.c.labels, 0)
    query = select(func.sum(left)).select_from(items).join(counts, counts.c.item_id == items.c.id, isouter=True)
    where = (items.c.campaign_id == campaign_id, items.c.purpose == "label", left > 0)
    query = query.where(items.c.row.not_in(list(without))) if without else query
    return int(connection.execute(query.where(*where)).scalar() or 0)


def seen(connection: Connection, campaign_id: str, annotator_id: int) -> tuple[set[str], dict[str, int]]:
    """The instances an annotator has met in a campaign, and how often each generator."""
    query = select(items.c.instance, items.c.row).join(assignments, assignments.c.item_id == items.c.id)
    query = query.where(assignments.c.campaign_id == campaign_id, assignments.c.annotator_id == annotator_id)
    instances: set[str] = set()
    rows: dict[str, int] = {}
    for instance, row in connection.execute(query):
        instances.add(instance)
        if row is not None:
            rows[row] = rows.get(row, 0) + 1
    return instances, rows


def is_free(connection: Connection, assignment: Assignment, *, now: float) -> bool:
    """Whether an item still has room for this assignment beside everybody else's; tests always have."""
    taken = select(func.count()).where(
        assignments.c.item_id == assignment.item_id, assignments.c.id != assignment.id, counts_as_label(now)
    )
    wanted, purpose = connection.execute(
        select(items.c.wanted, items.c.purpose).where(items.c.id == assignment.item_id)
    ).one()
    return purpose != "label" or int(connection.execute(taken).scalar_one()) < int(wanted)


def assign(
    connection: Connection, campaign_id: str, item_id: int, annotator_id: int, order: list[int], *, now: float,
    seconds: float, dealing: str | None = None, place: int | None = None,
) -> Assignment:  # fmt: skip
    """Give an item to an annotator for so long, by itself or at its place in what is dealt together."""
    made = Assignment(
        id=new_id(),
        campaign_id=campaign_id,
        item_id=item_id,
        annotator_id=annotator_id,
        state="open",
        shown_order=order,
        opened=now,
        expires=now + seconds,
        changed=now,
        dealing=dealing,
        place=place,
    )
    connection.execute(insert(assignments).values(**vars(made)))
    return made


def assignment(connection: Connection, assignment_id: str) -> Assignment | None:
    row = connection.execute(select(assignments).where(assignments.c.id == assignment_id)).mappings().one_or_none()
    return None if row is None else Assignment(**row)


def held_by(connection: Connection, campaign_id: str, annotator_id: int) -> Assignment | None:
    """The item an annotator has in hands, if any, even if its time is over."""
    query = select(assignments).where(
        assignments.c.campaign_id == campaign_id,
        assignments.c.annotator_id == annotator_id,
        assignments.c.state == "open",
    )
    # What was put aside has the earlier end; of a document, the first segment that is left.
    order = (assignments.c.changed.desc(), assignments.c.expires.desc(), assignments.c.place)
    row = connection.execute(query.order_by(*order)).mappings().first()
    return None if row is None else Assignment(**row)


def dealt(connection: Connection, held: Assignment) -> list[Assignment]:
    """Everything that was given together with an item, in order; what went back to others is left out."""
    query = select(assignments).where(
        assignments.c.campaign_id == held.campaign_id,
        assignments.c.annotator_id == held.annotator_id,
        assignments.c.dealing == held.dealing if held.dealing is not None else assignments.c.id == held.id,
        assignments.c.state != "released",
    )
    return [Assignment(**row) for row in connection.execute(query.order_by(assignments.c.place)).mappings()]


def labels_given(connection: Connection, item_id: int) -> int:
    """How many annotators have had an item."""
    return int(connection.execute(select(func.count()).where(assignments.c.item_id == item_id)).scalar_one())


def set_state(
    connection: Connection, assignment_id: str, state: AssignmentState, *, now: float, expires: float | None = None
) -> None:
    values: dict[str, Any] = {"state": state, "changed": now}
    values |= {} if expires is None else {"expires": expires}
    connection.execute(update(assignments).where(assignments.c.id == assignment_id).values(**values))


def renew(connection: Connection, assignment_id: str, *, expires: float) -> None:
    connection.execute(update(assignments).where(assignments.c.id == assignment_id).values(expires=expires))


def set_all(
    connection: Connection, campaign_id: str, annotator_id: int, before: Collection[str], to: str, *, now: float
) -> int:
    """Change the state of all of an annotator's assignments that are in one of these; returns how many."""
    where = (
        assignments.c.campaign_id == campaign_id,
        assignments.c.annotator_id == annotator_id,
        assignments.c.state.in_(list(before)),
    )
    return connection.execute(update(assignments).where(*where).values(state=to, changed=now)).rowcount


def add_answer(connection: Connection, values: Mapping[str, Any]) -> Answer:
    """Add a row to the history."""
    made = connection.execute(insert(answers).values(**values)).inserted_primary_key
    assert made is not None
    return Answer(id=int(made[0]), **values)


def answer_with_id(connection: Connection, annotator_id: int, answer_id: str) -> Answer | None:
    """What an annotator sent under an id of the client's."""
    query = select(answers).where(answers.c.annotator_id == annotator_id, answers.c.answer_id == answer_id)
    row = connection.execute(query).mappings().one_or_none()
    return None if row is None else Answer(**row)


def last_answer(connection: Connection, assignment_id: str, kind: AnswerKind | None = None) -> Answer | None:
    """The latest row of an assignment's history."""
    query = select(answers).where(answers.c.assignment_id == assignment_id).order_by(answers.c.id.desc()).limit(1)
    query = query if kind is None else query.where(answers.c.kind == kind)
    row = connection.execute(query).mappings().one_or_none()
    return None if row is None else Answer(**row)


def last_submitted(connection: Connection, campaign_id: str, annotator_id: int) -> Answer | None:
    """An annotator's latest submission that was not undone."""
    query = select(answers).join(assignments, assignments.c.id == answers.c.assignment_id)
    query = query.where(
        answers.c.campaign_id == campaign_id,
        answers.c.annotator_id == annotator_id,
        answers.c.kind == "submitted",
        assignments.c.state == "submitted",
    )
    row = connection.execute(query.order_by(answers.c.id.desc()).limit(1)).mappings().one_or_none()
    return None if row is None else Answer(**row)
