"""Pages that only a published site has: how to submit where there is no server to send a form to."""

from __future__ import annotations

from fastapi import APIRouter

from billboards.site.web.asking import Ask, reading
from billboards.site.web.rendering import Body

router = APIRouter()


def show_how_to_submit(ask: Ask) -> Body:
    """How a generator or a metric comes to a board that is published as files."""
    look = ask.look()
    published = ask.site.published
    return ask.board_page(
        "how_to_submit",
        look,
        "submit",
        heading="Submit",
        submit_to="" if published is None else published.submit_to,
        instances=len(look.board.instances),
        example=look.board.instances[0].id if look.board.instances else "1",
    )


router.add_route("/boards/{board}/submit", reading(show_how_to_submit), include_in_schema=False)
