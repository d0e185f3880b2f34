"""The help page: what a board is, and every number explained as the tooltips do."""

from __future__ import annotations

from fastapi import APIRouter

from billboards.site.pages.explanations import EXPLANATIONS
from billboards.site.web.asking import Ask, reading
from billboards.site.web.rendering import Body

router = APIRouter()


def show_help(ask: Ask) -> Body:
    """All numbers explained."""
    return ask.page("help", explanations=EXPLANATIONS)


router.add_route("/help", reading(show_help), include_in_schema=False)
