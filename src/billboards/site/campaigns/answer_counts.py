"""Answers counted and read: what progress, money, the annotator model and results are made of."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Subquery, func, select

from billboards.errors import UnknownName
from billboards.site.campaigns.answer_records import ANSWERED, Answer, Assignment
from billboards.site.database.schema import annotators, answers, assignments, items, participations


@dataclass(frozen=True, kw_only=True)
class CurrentAnswer:
    """A submitted answer with the item it is about; `state` is its assignment's."""

    answer: Answer
    state: str
    item_id: int
    annotator_id: int
    shown_order: list[int]
    purpose: str


def _latest(campaign_ids: Collection[str], annotator_id: int | None = None) -> Subquery:
    """The last submission of each assignment, of everybody or of one annotator."""
    query = select(func.max(answers.c.id).label("id"), answers.c.assignment_id)
    query = query.where(answers.c.campaign_id.in_(list(campaign_ids)), answers.c.kind == "submitted")
    query = query if annotator_id is None else query.where(answers.c.annotator_id == annotator_id)
    return query.group_by(answers.c.assignment_id).subquery()


def current_answers(
    connection: Connection, campaign_id: str, *, states: Collection[str] = ANSWERED, purpose: str | None = None
) -> Iterator[CurrentAnswer]:
    """The answers that stand, in the order they were given."""
    last = _latest([campaign_id])
    query = (
        select(
            answers,
            assignments.c.state,
            assignments.c.item_id,
            assignments.c.shown_order,
            items.c.purpose,
        )
        .join(last, last.c.id == answers.c.id)
        .join(assignments, assignments.c.id == answers.c.assignment_id)
        .join(items, items.c.id == assignments.c.item_id)
        .where(answers.c.campaign_id == campaign_id, assignments.c.state.in_(list(states)))
    )
    query = query if purpose is None else query.where(items.c.purpose == purpose)
    for row in connection.execute(query.order_by(answers.c.id)).mappings():
        values = {column.name: row[column.name] for column in answers.c}
        answer = Answer(**values)
        yield CurrentAnswer(
            answer=answer,
            state=row["state"],
            item_id=row["item_id"],
            annotator_id=answer.annotator_id,
            shown_order=row["shown_order"],
            purpose=row["purpose"],
        )


def mark(connection: Connection, campaign_id: str) -> tuple[object, ...]:
    """What is another whenever the answers that stand, or those who gave them, are; found without reading answers."""
    held = select(assignments.c.annotator_id, assignments.c.state, func.count(), func.max(assignments.c.changed))
    held = held.where(assignments.c.campaign_id == campaign_id)
    held = held.group_by(assignments.c.annotator_id, assignments.c.state)
    last = select(func.max(answers.c.id)).where(answers.c.campaign_id == campaign_id)
    people = select(annotators.c.id, annotators.c.pseudonym).join(participations)
    people = people.where(participations.c.campaign_id == campaign_id).order_by(annotators.c.id)
    states = sorted(tuple(row) for row in connection.execute(held))
    return connection.execute(last).scalar(), tuple(states), tuple(tuple(row) for row in connection.execute(people))


def submitted(connection: Connection, campaign_id: str, answer_id: str) -> Answer:
    """A submitted answer of a campaign by the id its client made."""
    query = select(answers).where(
        answers.c.campaign_id == campaign_id, answers.c.answer_id == answer_id, answers.c.kind == "submitted"
    )
    rows = list(connection.execute(query).mappings())
    if len(rows) != 1:
        raise UnknownName("submitted answer", answer_id, ())
    return Answer(**rows[0])


def history(connection: Connection, campaign_id: str) -> Iterator[tuple[Answer, Assignment]]:
    """Every row ever written, with its assignment, in order."""
    columns = [column.label(f"held_{column.name}") for column in assignments.c]
    query = select(answers, *columns).join(assignments, assignments.c.id == answers.c.assignment_id)
    query = query.where(answers.c.campaign_id == campaign_id).order_by(answers.c.id)
    for row in connection.execute(query).mappings():
        answer = Answer(**{column.name: row[column.name] for column in answers.c})
        yield answer, Assignment(**{column.name: row[f"held_{column.name}"] for column in assignments.c})


def counts_of_tests(
    connection: Connection, campaign_ids: Collection[str], *, purposes: Collection[str] = ("test",)
) -> dict[tuple[int, str], tuple[int, int]]:
    """How many test questions of each kind annotators answered right and wrong: (annotator, kind) → (right, wrong)."""
    last = _latest(campaign_ids)
    query = (
        select(answers.c.annotator_id, items.c.test, answers.c.is_right, func.count())
        .join(last, last.c.id == answers.c.id)
        .join(assignments, assignments.c.id == answers.c.assignment_id)
        .join(items, items.c.id == assignments.c.item_id)
        .where(
            answers.c.campaign_id.in_(list(campaign_ids)),
            items.c.purpose.in_(list(purposes)),
            answers.c.is_right.is_not(None),
            assignments.c.state.in_(ANSWERED),
        )
        .group_by(answers.c.annotator_id, items.c.test, answers.c.is_right)
    )
    counts: dict[tuple[int, str], tuple[int, int]] = {}
    for annotator, kind, is_right, count in connection.execute(query):
        right, wrong = counts.get((annotator, kind), (0, 0))
        counts[annotator, kind] = (right + count, wrong) if is_right else (right, wrong + count)
    return counts


def last_tests(connection: Connection, campaign_id: str, *, annotator_id: int | None = None) -> dict[int, int]:
    """The latest answer of each annotator, or of one, to a test question."""
    query = (
        select(answers.c.annotator_id, func.max(answers.c.id))
        .join(assignments, assignments.c.id == answers.c.assignment_id)
        .join(items, items.c.id == assignments.c.item_id)
        .where(answers.c.campaign_id == campaign_id, items.c.purpose == "test", answers.c.kind != "draft")
        .group_by(answers.c.annotator_id)
    )
    query = query if annotator_id is None else query.where(answers.c.annotator_id == annotator_id)
    return {int(annotator): int(last) for annotator, last in connection.execute(query)}


def own_tests(
    connection: Connection, campaign_id: str, annotator_id: int, *, purposes: Collection[str] = ("test",)
) -> tuple[int, int]:
    """How many questions with a known answer an annotator answered right and wrong, by default the test questions."""
    last = _latest([campaign_id], annotator_id)
    query = (
        select(answers.c.is_right, func.count())
        .join(last, last.c.id == answers.c.id)
        .join(assignments, assignments.c.id == answers.c.assignment_id)
        .join(items, items.c.id == assignments.c.item_id)
        .where(
            answers.c.campaign_id == campaign_id,
            answers.c.annotator_id == annotator_id,
            answers.c.is_right.is_not(None),
            items.c.purpose.in_(list(purposes)),
            assignments.c.state.in_(ANSWERED),
        )
        .group_by(answers.c.is_right)
    )
    counts = {bool(is_right): int(count) for is_right, count in connection.execute(query)}
    return counts.get(True, 0), counts.get(False, 0)


def answered(connection: Connection, campaign_id: str, *, annotator_id: int | None = None) -> dict[str, int]:
    """How many assignments of each purpose were answered, and thereby earned."""
    query = (
        select(items.c.purpose, func.count())
        .join(assignments, assignments.c.item_id == items.c.id)
        .where(assignments.c.campaign_id == campaign_id, assignments.c.state.in_(ANSWERED))
        .group_by(items.c.purpose)
    )
    query = query if annotator_id is None else query.where(assignments.c.annotator_id == annotator_id)
    return {purpose: int(count) for purpose, count in connection.execute(query)}


def in_hands(connection: Connection, campaign_id: str, *, now: float) -> int:
    """How many items annotators are at."""
    query = select(func.count()).where(
        assignments.c.campaign_id == campaign_id, assignments.c.state == "open", assignments.c.expires > now
    )
    return int(connection.execute(query).scalar_one())


def count_items(connection: Connection, campaign_id: str, purpose: str = "label") -> int:
    """How many items there are for a purpose."""
    query = select(func.count()).where(items.c.campaign_id == campaign_id, items.c.purpose == purpose)
    return int(connection.execute(query).scalar_one())


def labels_by_row(
    connection: Connection, campaign_id: str, *, row: str | None = None, instance: str | None = None
) -> dict[str, tuple[int, int]]:
    """Of each generator, or one, how many labels there are and are wanted; more than wanted count as wanted.

    With an `instance`, of its outputs alone.
    """
    counts = (
        select(assignments.c.item_id, func.count().label("labels"))
        .where(assignments.c.campaign_id == campaign_id, assignments.c.state == "submitted")
        .group_by(assignments.c.item_id)
        .subquery()
    )
    query = (
        select(items.c.row, items.c.wanted, func.coalesce(counts.c.labels, 0))
        .join(counts, counts.c.item_id == items.c.id, isouter=True)
        .where(items.c.campaign_id == campaign_id, items.c.purpose == "label")
    )
    query = query if row is None else query.where(items.c.row == row)
    query = query if instance is None else query.where(items.c.instance == instance)
    progress: dict[str, tuple[int, int]] = {}
    for name, wanted, count in connection.execute(query):
        done, total = progress.get(name, (0, 0))
        progress[name] = (done + min(count, wanted), total + wanted)
    return progress


@dataclass(frozen=True, slots=True)
class GivenAnswer:
    """An answer that somebody gave, with what signs are read from; `slots` are the texts of its item."""

    annotator_id: int
    item_id: int
    purpose: str
    answers: Mapping[str, Any]
    shown_order: list[int]
    slots: list[dict[str, Any]]
    seconds: float


def given_answers(connection: Connection, campaign_id: str, *, most: int) -> list[GivenAnswer]:
    """The answers of a campaign to labels and test questions, whatever was decided about them since, in order.

    `most` is how many of the latest are read.
    """
    last = _latest([campaign_id])
    query = (
        select(
            answers.c.annotator_id,
            assignments.c.item_id,
            items.c.purpose,
            answers.c.answers,
            assignments.c.shown_order,
            items.c.slots,
            answers.c.seconds,
        )
        .join(last, last.c.id == answers.c.id)
        .join(assignments, assignments.c.id == answers.c.assignment_id)
        .join(items, items.c.id == assignments.c.item_id)
        .where(assignments.c.state.in_(("submitted", "void")), items.c.purpose != "qualification")
    )
    rows = connection.execute(query.order_by(answers.c.id.desc()).limit(most)).all()
    return [GivenAnswer(*row) for row in reversed(rows)]


def answer_to(
    connection: Connection, campaign_id: str, annotator_id: int, *, instance: str, test: str
) -> tuple[Mapping[str, Any], list[int]] | None:
    """What an annotator answered to a test question of a kind on an instance, and in which order it was shown."""
    last = _latest([campaign_id], annotator_id)
    query = (
        select(answers.c.answers, assignments.c.shown_order)
        .join(last, last.c.id == answers.c.id)
        .join(assignments, assignments.c.id == answers.c.assignment_id)
        .join(items, items.c.id == assignments.c.item_id)
        .where(
            answers.c.campaign_id == campaign_id,
            answers.c.annotator_id == annotator_id,
            items.c.instance == instance,
            items.c.test == test,
            items.c.purpose == "test",
            assignments.c.state.in_(ANSWERED),
        )
    )
    row = connection.execute(query.limit(1)).one_or_none()
    return None if row is None else (row[0], row[1])


def answered_instances(connection: Connection, campaign_id: str, annotator_id: int, test: str) -> set[str]:
    """The instances on which an annotator has answered a test question of a kind."""
    query = select(items.c.instance).join(assignments, assignments.c.item_id == items.c.id)
    query = query.where(
        assignments.c.campaign_id == campaign_id,
        assignments.c.annotator_id == annotator_id,
        assignments.c.state.in_(ANSWERED),
        items.c.purpose == "test",
        items.c.test == test,
    )
    return set(connection.execute(query).scalars())


def seconds_spent(connection: Connection, campaign_id: str, *, annotator_id: int | None = None) -> list[float]:
    """The time that each answer took."""
    last = _latest([campaign_id])
    query = select(answers.c.seconds).join(last, last.c.id == answers.c.id)
    query = query.where(answers.c.campaign_id == campaign_id)
    query = query if annotator_id is None else query.where(answers.c.annotator_id == annotator_id)
    return list(connection.execute(query).scalars())


def times(connection: Connection, campaign_id: str) -> list[float]:
    """When each answer that stands was given."""
    last = _latest([campaign_id])
    query = select(answers.c.at).join(last, last.c.id == answers.c.id).order_by(answers.c.id)
    return list(connection.execute(query).scalars())
