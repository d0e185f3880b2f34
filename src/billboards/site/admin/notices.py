"""Notices sent: webhooks and e-mail, from the outbox, until they are taken or given up.

A webhook is a POST of the event as JSON, signed with the webhook's secret (`X-Billboards-Signature: sha256=…`, an HMAC
of the body), so that the receiver can tell it from a forgery. What is not taken is tried again, later each time. A
webhook that is not an owner's may not point into the server's own network.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import smtplib
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import select

from billboards.run.addresses import NoAddress, outside_address, posted
from billboards.site.admin import deliveries
from billboards.site.admin.deliveries import Delivery
from billboards.site.admin.letters import UNWRITABLE, write_letter
from billboards.site.database.schema import accounts, webhooks
from billboards.site.settings import MailSettings
from billboards.site.site import Site

SIGNATURE = "X-Billboards-Signature"
#: Seconds a receiver has to answer, those before the second attempt (twice as many before each next), and attempts.
PATIENCE, FIRST_WAIT, ATTEMPTS = 10.0, 10.0, 8


@dataclass(frozen=True)
class Refusal:
    """Why a receiver did not take a notice; `final` where trying again is no use."""

    reason: str
    final: bool = False


def send_due(site: Site) -> int:
    """Send every notice whose time has come; returns how many were taken."""
    with site.database.reading() as connection:
        waiting = deliveries.due(connection, now=site.clock())
    return sum(_send(site, delivery) for delivery in waiting)


def _send(site: Site, delivery: Delivery) -> bool:
    now = site.clock()
    later = now + FIRST_WAIT * 2**delivery.attempts
    with site.database.claiming() as connection:
        if not deliveries.claim(connection, delivery, until=max(later, now + 3 * PATIENCE)):
            return False
    refusal = _mail(site, delivery) if delivery.is_mail else _post(site, delivery)
    with site.database.claiming() as connection:
        if refusal is None:
            deliveries.settle(connection, delivery.id, "sent")
        elif refusal.final or delivery.attempts + 1 >= ATTEMPTS:
            deliveries.settle(connection, delivery.id, "given up", reason=refusal.reason)
        else:
            deliveries.postpone(connection, delivery.id, until=later, reason=refusal.reason)
    return refusal is None


def sign(secret: str, body: bytes) -> str:
    """What a webhook's receiver compares: an HMAC of the body under the webhook's secret."""
    return "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def _post(site: Site, delivery: Delivery) -> Refusal | None:
    import httpx

    if delivery.secret is None:
        return Refusal("the webhook was removed", final=True)
    address = None if _is_owners(site, delivery) else _outside(delivery.target)
    if isinstance(address, Refusal):
        return address
    message: dict[str, Any] = {"event": delivery.event, "id": delivery.id, "submission": dict(delivery.payload)}
    body = json.dumps(message, ensure_ascii=False, sort_keys=True).encode()
    headers = {"Content-Type": "application/json", SIGNATURE: sign(delivery.secret, body)}
    try:
        with posted(
            delivery.target, address=address, patience=PATIENCE, seconds=2 * PATIENCE, content=body, headers=headers
        ) as answer:
            # What else it says is not read: it may have no end.
            status = int(answer.status_code)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return Refusal(f"{type(error).__name__}: {error}")
    except ValueError as error:
        return Refusal(f"no address that can be asked: {error}", final=True)
    return None if 200 <= status < 300 else Refusal(f"answered {status}", final=status == 410)


def _is_owners(site: Site, delivery: Delivery) -> bool:
    query = select(accounts.c.role).join(webhooks, webhooks.c.account_id == accounts.c.id)
    with site.database.reading() as connection:
        return connection.execute(query.where(webhooks.c.id == delivery.webhook_id)).scalar() == "owner"


def _outside(url: str) -> str | Refusal:
    """Where to ask what is not an owner's; or why not to: it lies in the server's own network, or nowhere."""
    try:
        host, address = urlsplit(url).hostname, outside_address(url)
    except NoAddress as error:
        return Refusal(f"its host can't be found: {error}")
    except ValueError as error:
        return Refusal(f"no web address: {error}", final=True)
    return address or Refusal(f"{host} lies in the server's own network", final=True)


def _mail(site: Site, delivery: Delivery) -> Refusal | None:
    settings = site.settings.mail
    if settings is None:
        return Refusal("there is no [mail] in site.toml", final=True)
    if reason := _unwanted(site, delivery):
        return Refusal(reason, final=True)
    try:
        message = write_letter(site, settings, delivery)
        with smtplib.SMTP(settings.host, settings.port, timeout=PATIENCE) as server:
            _log_in(server, settings)
            server.send_message(message)
    except smtplib.SMTPRecipientsRefused as error:
        return Refusal(f"refused: {error}", final=True)
    except (smtplib.SMTPException, OSError) as error:
        return Refusal(f"{type(error).__name__}: {error}")
    except UNWRITABLE as error:
        # An address, name or notice of which no mail can be made: it would fail again each time.
        return Refusal(f"no e-mail can be written: {error}", final=True)
    return None


def _unwanted(site: Site, delivery: Delivery) -> str | None:
    """Why a mail that waits is no longer wanted: the person has switched it off, or has another address."""
    about = delivery.payload.get(deliveries.MAIL)
    if about is None:
        return None
    words = (accounts.c.email, accounts.c.muted, accounts.c.disabled)
    with site.database.reading() as connection:
        row = connection.execute(select(*words).where(accounts.c.id == about["account"])).one_or_none()
    if row is None or row.disabled is not None or f"mailto:{row.email}" != delivery.target:
        return "the account is disabled or has another address"
    return "the person has switched this kind of mail off" if about["kind"] in (row.muted or ()) else None


def _log_in(server: smtplib.SMTP, settings: MailSettings) -> None:
    if settings.starttls:
        server.starttls()
    if settings.user is not None:
        server.login(settings.user, settings.password or "")
