"""What a mail says: plain text, short, with the site's name in the subject.

A notice of the outbox names what it is about; its words are made when it is sent. So are the secrets in links: a link's
text is drawn here, goes into the mail, and only its digest is kept. Every mail that a person may switch off ends with
the address where that is done, which mail programs read from the header too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.message import EmailMessage
from email.utils import formatdate, make_msgid
from typing import Any
from urllib.parse import quote

from billboards.errors import InvalidInput
from billboards.site.accounts import link_records as links
from billboards.site.admin.deliveries import MAIL, Delivery
from billboards.site.admin.mail_kinds import KINDS, unsubscribe_word
from billboards.site.settings import MailSettings, said_moment
from billboards.site.site import Site

#: What comes of a notice that no mail can be made of.
UNWRITABLE = (ValueError, LookupError, TypeError, AttributeError, InvalidInput)


@dataclass(frozen=True)
class Letter:
    """What a mail is about, and its lines."""

    subject: str
    lines: list[str]


def write_letter(site: Site, settings: MailSettings, delivery: Delivery) -> EmailMessage:
    """The mail that a notice becomes."""
    letter = _LETTERS.get(delivery.event, _result)(site, delivery.payload)
    message = EmailMessage()
    message["From"], message["To"] = settings.sender, delivery.target.removeprefix("mailto:")
    message["Subject"] = _one_line(f"[{site.settings.title}] {letter.subject}")[:200]
    message["Date"] = formatdate(site.clock(), usegmt=True)
    message["Message-ID"] = make_msgid(f"notice-{delivery.id}", domain=settings.sender.rpartition("@")[2].strip("> "))
    message["Auto-Submitted"] = "auto-generated"
    lines = letter.lines
    if (leave := _leave_address(site, delivery)) is not None:
        message["List-Unsubscribe"] = f"<{leave}>"
        message["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
        kind = KINDS[delivery.payload[MAIL]["kind"]]
        lines = [*lines, "", "-- ", f"You get this mail because of: {kind}.", f"Stop these mails: {leave}"]
    message.set_content("\n".join(lines) + "\n")
    return message


def _leave_address(site: Site, delivery: Delivery) -> str | None:
    """Where a person switches this kind of mail off; None where there is nothing to switch off, or no address."""
    about = delivery.payload.get(MAIL)
    if about is None or not site.settings.base_url:
        return None
    with site.database.writing() as connection:
        return _address(site, f"/unsubscribe/{unsubscribe_word(connection, about['account'], about['kind'])}")


def _address(site: Site, path: str) -> str:
    return f"{site.settings.base_url.rstrip('/')}{path}"


def _where(site: Site, path: str) -> list[str]:
    """The address of a page as a line, where the site knows its own."""
    return ["", _address(site, path)] if site.settings.base_url else []


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _enter(site: Site, payload: Mapping[str, Any]) -> Letter:
    """The link that logs in or signs up."""
    link, text = _minted(site, payload)
    lines = [
        f"Somebody, we hope you, asked to log in to {site.settings.title} with this address.",
        f"Open this link before {said_moment(link.expires or 0)}. It works once:",
        "",
        _address(site, f"/enter/{text}"),
        "",
        "If it was not you, do nothing: without the link nobody comes in.",
    ]
    return Letter("Your link to log in", lines)


def _welcome(site: Site, payload: Mapping[str, Any]) -> Letter:
    """The first link after an owner said yes."""
    link, text = _minted(site, payload)
    lines = [
        f"You now have an account on {site.settings.title}: {_one_line(str(payload['name']))}, "
        f"in team {_one_line(str(payload['team']))}.",
        f"Log in with this link before {said_moment(link.expires or 0)}. It works once; later, ask for another one:",
        "",
        _address(site, f"/enter/{text}"),
    ]
    return Letter("Your request was approved", lines)


def _confirm(site: Site, payload: Mapping[str, Any]) -> Letter:
    """The link that shows an address to be somebody's."""
    link, text = _minted(site, payload)
    lines = [
        f"The account {_one_line(str(payload['name']))} on {site.settings.title} wants to use this address.",
        f"If that is you, open this link before {said_moment(link.expires or 0)}:",
        "",
        _address(site, f"/enter/{text}"),
        "",
        "If it is not you, do nothing.",
    ]
    return Letter("Confirm your address", lines)


def _minted(site: Site, payload: Mapping[str, Any]) -> tuple[links.EntryLink, str]:
    with site.database.writing() as connection:
        return links.mint_link(connection, int(payload["link"]), now=site.clock())


def _invited(site: Site, payload: Mapping[str, Any]) -> Letter:
    with site.database.writing() as connection:
        invitation, text = links.mint_invitation(connection, int(payload["invitation"]), now=site.clock())
    lines = [
        f"{_one_line(str(payload['from']))} invites you to join team {_one_line(invitation.team)} "
        f"on {site.settings.title}.",
        f"Open this link before {said_moment(invitation.expires or 0)}. It works once:",
        "",
        _address(site, f"/join/{text}"),
        "",
        "If you don't know what this is about, do nothing: nothing is kept of you but this address, for 30 days.",
    ]
    return Letter(f"Invitation to team {invitation.team}", lines)


def _declined(site: Site, payload: Mapping[str, Any]) -> Letter:
    lines = [f"The organisers of {site.settings.title} did not approve your request for an account."]
    lines += [f"Their reason: {payload['reason']}"] if payload["reason"] else []
    return Letter("Your request was declined", lines)


def _asked(site: Site, payload: Mapping[str, Any]) -> Letter:
    """For owners: somebody wants to come in."""
    name, team = _one_line(str(payload["name"])), _one_line(str(payload["team"] or "a new team"))
    lines = [f"{name} ({payload['email']}), team {team}, asks for an account.", "", str(payload["words"])]
    return Letter(f"{name} asks for an account", lines + _where(site, "/people#requests"))


def _received(site: Site, payload: Mapping[str, Any]) -> Letter:
    name = _one_line(str(payload["name"]))
    lines = [
        f"{payload['kind']} {name}, version {payload['version']}, on board {payload['board']} was received "
        f"at {said_moment(payload['created'])}.",
        "You get another mail when it is scored.",
    ]
    return Letter(f"{payload['board']}: {name} was received", lines + _where(site, f"/submissions/{payload['id']}"))


def _ranked(site: Site, payload: Mapping[str, Any]) -> Letter:
    """Where an entry stands, and who moved when it came."""
    name, kind = _one_line(str(payload["name"])), payload["kind"]
    place = "no rank" if payload["rank"] is None else f"rank {payload['rank']} of {payload['ranked']} {kind}s"
    lines = [f"{kind} {name}, version {payload['version']}, on board {payload['board']} has {place}.", ""]
    lines += [_one_line(str(line)) for line in payload["words"]]
    return Letter(f"{payload['board']}: {name} has {place}", lines + _where(site, f"/submissions/{payload['id']}"))


def _closing(site: Site, payload: Mapping[str, Any]) -> Letter:
    days = int(payload["days"])
    when = "in 1 day" if days == 1 else f"in {days} days"
    lines = [
        f"Phase {_one_line(str(payload['phase']))} of board {payload['board']} closes "
        f"at {said_moment(payload['closes'])}.",
        "What comes later is not taken.",
    ]
    subject = f"{payload['board']}: phase {_one_line(str(payload['phase']))} closes {when}"
    return Letter(subject, lines + _where(site, f"/boards/{quote(payload['board'])}/submit"))


def _written(site: Site, payload: Mapping[str, Any]) -> Letter:
    """What the organisers write to the teams of a board."""
    lines = [f"The organisers of board {payload['board']} write:", "", str(payload["text"])]
    subject = f"{payload['board']}: {payload['subject']}"
    return Letter(subject, lines + _where(site, f"/boards/{quote(payload['board'])}"))


def _result(site: Site, payload: Mapping[str, Any]) -> Letter:
    """How something ended: a submission, a campaign, a board's folder."""
    name = _one_line(str(payload["name"]))
    says = payload.get("says", payload["state"])
    lines = [f"{payload['kind']} {name}, version {payload['version']}, on board {payload['board']}: {says}"]
    lines += [f"Reason: {payload['reason']}"] if payload["reason"] else []
    lines += ["The platform was at fault; this did not cost any quota."] if payload["platform"] else []
    lines.append(f"At {said_moment(payload['changed'])}.")
    path = payload.get("path", f"/submissions/{payload['id']}")
    return Letter(f"{payload['board']}: {name} is {says}", lines + _where(site, path))


#: What is written about which event; about all others, how something ended.
_LETTERS: Mapping[str, Callable[[Site, Mapping[str, Any]], Letter]] = {
    "link.enter": _enter,
    "link.welcome": _welcome,
    "link.address": _confirm,
    "account.invited": _invited,
    "access.asked": _asked,
    "access.declined": _declined,
    "submission.received": _received,
    "submission.ranked": _ranked,
    "phase.closes": _closing,
    "board.message": _written,
}
