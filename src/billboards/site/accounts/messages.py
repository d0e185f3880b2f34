"""What the organisers write to the teams of a board: one mail to each member, through the outbox."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy import Connection

from billboards.errors import InvalidInput, Refused
from billboards.site.accounts import records as accounts
from billboards.site.accounts.access import Viewer, require
from billboards.site.accounts.permissions import Permission, site_of
from billboards.site.accounts.records import Account
from billboards.site.admin import deliveries
from billboards.site.boards import registry
from billboards.site.database import trail
from billboards.site.site import Site
from billboards.site.submissions import records as submissions
from billboards.site.web.api import tagged_router
from billboards.site.web.asking import Ask, changing, reading
from billboards.site.web.rendering import Body

#: Characters of a message and of its subject.
LONGEST_TEXT, LONGEST_SUBJECT = 10_000, 150
#: Who is written to: members of teams that have sent something in to the board, or everybody who may submit.
To = Literal["teams", "submitters"]

router = APIRouter()
routes = tagged_router("accounts")


def send_message(site: Site, viewer: Viewer, board: str, subject: str, text: str, *, to: To = "teams") -> int:
    """An owner writes to the people of a board; returns to how many. Who has switched messages off gets none."""
    require(viewer, "administer")
    subject, text = " ".join(subject.split()), text.strip()
    if not subject or len(subject) > LONGEST_SUBJECT:
        raise InvalidInput(f"give the message a subject of at most {LONGEST_SUBJECT} characters")
    if not text or len(text) > LONGEST_TEXT:
        raise InvalidInput(f"write a message of at most {LONGEST_TEXT:,} characters")
    if site.settings.mail is None:
        raise Refused("this site sends no mail; set [mail] in site.toml")
    now, told = site.clock(), {"board": board, "subject": trail.storable(subject), "text": trail.storable(text)}
    with site.database.writing() as connection:
        registry.board(connection, board)
        count = sum(
            deliveries.mail_account(connection, "board.message", told, person.id, now=now, kind="message")
            for person in _people(connection, board, to)
        )
        detail = {"subject": told["subject"], "to": to, "mails": count}
        trail.note(connection, viewer.name, "board.message", board, now=now, board=board, detail=detail)
    return count


def _people(connection: Connection, board: str, to: To) -> list[Account]:
    everybody = [person for person in accounts.list_accounts(connection) if person.disabled is None]
    if to == "submitters":
        return [person for person in everybody if person.role == "submitter"]
    teams = {submission.team_id for submission in submissions.find(connection, board=board)}
    return [person for person in everybody if person.team_id in teams]


def count_people(site: Site, board: str) -> dict[str, int]:
    """How many people with an address each choice writes to, those who want no messages left out."""
    with site.database.reading() as connection:
        return {to: sum(_wants(person) for person in _people(connection, board, to)) for to in ("teams", "submitters")}


def _wants(person: Account) -> bool:
    return bool(person.email) and "message" not in (person.muted or ())


class NewMessage(BaseModel):
    model_config = ConfigDict(extra="forbid")

    subject: Annotated[str, Field(max_length=LONGEST_SUBJECT)]
    text: Annotated[str, Field(max_length=LONGEST_TEXT)]
    to: To = "teams"


class MessageFacts(BaseModel):
    """To how many people a message goes."""

    mails: int


@routes.post("/boards/{board}/messages", status_code=201)
def post_message(
    request: Request, board: str, sent: NewMessage, viewer: Annotated[Viewer, Depends(Permission("administer"))]
) -> MessageFacts:
    """Write to all teams of a board; one mail to each member who has not switched messages off."""
    return MessageFacts(mails=send_message(site_of(request), viewer, board, sent.subject, sent.text, to=sent.to))


def show_message(ask: Ask) -> Body:
    """The form for a message to a board's teams."""
    return _form(ask, {}, None, 200)


def _form(ask: Ask, sent: Mapping[str, Any], problem: str | None, status: int, mails: int | None = None) -> Body:
    require(ask.viewer, "administer")
    look = ask.look()
    texts = {word: str(sent.get(word, "")) for word in ("subject", "text", "to")}
    return ask.board_page(
        "message",
        look,
        "",
        heading="Write to the teams",
        status=status,
        sent=texts,
        problem=problem,
        mails=mails,
        counts=count_people(ask.site, look.name),
    )


def receive_message(ask: Ask, sent: Mapping[str, Any]) -> Body | str:
    """Send a message, or say what is wrong with it."""
    to: To = "submitters" if sent.get("to") == "submitters" else "teams"
    try:
        subject, text = str(sent.get("subject", "")), str(sent.get("text", "")).replace("\r\n", "\n")
        mails = send_message(ask.site, ask.viewer, ask.board_name, subject, text, to=to)
    except (InvalidInput, Refused) as error:
        return _form(ask, sent, str(error), 409 if isinstance(error, Refused) else 422)
    return _form(ask, {}, None, 200, mails=mails)


PAGE = "/boards/{board}/message"

router.add_route(PAGE, reading(show_message, kept=False), methods=["GET"], include_in_schema=False)
router.add_route(PAGE, changing(receive_message), methods=["POST"], include_in_schema=False)
