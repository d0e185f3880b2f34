"""The HTTP interface for programs, under /api/v1; one module per kind of thing.

Every route states by `Permission` who may use it, in the one vocabulary of `site.access`; a test goes through the table
of routes and fails for one that doesn't. What a route shows comes through `Look` and `live_board`, which mask it.
"""

from __future__ import annotations

from fastapi import APIRouter

from billboards.site.accounts import coming_in_routes, messages
from billboards.site.accounts import routes as accounts
from billboards.site.boards import ranking_routes as rankings
from billboards.site.boards import routes as boards
from billboards.site.boards import settings_routes as settings
from billboards.site.boards import suite_routes as suites
from billboards.site.campaigns import annotating_routes as annotating
from billboards.site.campaigns import protocol
from billboards.site.campaigns import routes as campaigns
from billboards.site.organise import draft_routes as drafts
from billboards.site.pages import advice, analyses
from billboards.site.publishing import publication_routes as publications
from billboards.site.submissions import routes as submissions

ROUTERS: tuple[APIRouter, ...] = (
    *(module.router for module in (boards, rankings, suites, submissions, accounts, settings, campaigns)),
    coming_in_routes.router,
    messages.routes,
    protocol.routes,
    annotating.router,
    drafts.router,
    publications.router,
    analyses.routes,
    advice.routes,
)
