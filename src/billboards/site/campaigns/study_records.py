"""Studies on crowd platforms, and payments beyond their rewards, as rows.

A payment is written down as `prepared` before anything is sent, and as `sent` in a transaction of its own before the
one request that pays. If no answer comes it stays so: nobody sends it again before a person has looked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from sqlalchemy import Connection, insert, select, update

from billboards.errors import Refused, UnknownName
from billboards.site.database.ids import new_id
from billboards.site.database.schema import payments, studies

StudyStanding = Literal["drafted", "published", "ended"]
PaymentState = Literal["prepared", "sent", "paid", "not paid"]
#: What may become of a payment, and from what.
PAYMENT_STEPS: Mapping[PaymentState, tuple[PaymentState, ...]] = {
    "sent": ("prepared",),
    "paid": ("sent",),
    "not paid": ("prepared", "sent"),
}


@dataclass(frozen=True, kw_only=True)
class StudyRow:
    """A study as the site knows it; where it stands on the platform only the platform knows."""

    id: str
    campaign_id: str
    platform: str
    platform_id: str
    code: str
    items_per_place: int
    quote: Mapping[str, Any]
    state: StudyStanding
    created: float
    changed: float


@dataclass(frozen=True, kw_only=True)
class Payment:
    """Bonuses by the platform's ids of participants, in the currency's smallest unit."""

    id: str
    study_id: str
    batch_id: str
    amounts: Mapping[str, int]
    state: PaymentState
    reason: str | None
    created: float
    changed: float


def add_study(connection: Connection, values: Mapping[str, Any], *, now: float) -> StudyRow:
    row = {**values, "id": new_id(), "state": "drafted", "created": now, "changed": now}
    connection.execute(insert(studies).values(**row))
    return StudyRow(**row)


def study(connection: Connection, study_id: str) -> StudyRow:
    """A study by its id."""
    row = connection.execute(select(studies).where(studies.c.id == study_id)).mappings().one_or_none()
    if row is None:
        raise UnknownName("study", study_id, connection.execute(select(studies.c.id)).scalars())
    return StudyRow(**row)


def list_studies(connection: Connection, campaign_id: str) -> tuple[StudyRow, ...]:
    """A campaign's studies, the oldest first."""
    query = select(studies).where(studies.c.campaign_id == campaign_id).order_by(studies.c.created, studies.c.id)
    return tuple(StudyRow(**row) for row in connection.execute(query).mappings())


def set_study(connection: Connection, study_id: str, state: StudyStanding, *, now: float) -> None:
    connection.execute(update(studies).where(studies.c.id == study_id).values(state=state, changed=now))


def add_payment(
    connection: Connection, study_id: str, batch_id: str, amounts: Mapping[str, int], *, now: float
) -> Payment:
    made = Payment(
        id=new_id(),
        study_id=study_id,
        batch_id=batch_id,
        amounts=dict(amounts),
        state="prepared",
        reason=None,
        created=now,
        changed=now,
    )
    connection.execute(insert(payments).values(**asdict(made)))
    return made


def payment(connection: Connection, payment_id: str) -> Payment:
    """A payment by its id."""
    row = connection.execute(select(payments).where(payments.c.id == payment_id)).mappings().one_or_none()
    if row is None:
        raise UnknownName("payment", payment_id, connection.execute(select(payments.c.id)).scalars())
    return Payment(**row)


def move_payment(
    connection: Connection, payment_id: str, to: PaymentState, *, now: float, reason: str | None = None
) -> None:
    """One step of a payment; a step that is not there refuses, so that no two processes both pay."""
    allowed = PAYMENT_STEPS[to]
    values = {"state": to, "reason": reason, "changed": now}
    where = (payments.c.id == payment_id) & payments.c.state.in_(allowed)
    if connection.execute(update(payments).where(where).values(**values)).rowcount != 1:
        state = payment(connection, payment_id).state
        raise Refused(f"payment {payment_id} is {state!r} and can't become {to!r}; look on the platform what was paid")
