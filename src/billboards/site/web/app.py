"""The site as one ASGI application: pages for people, an API for programs, errors answered in one place."""

from __future__ import annotations

from importlib import metadata

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from billboards.errors import BillboardsError
from billboards.site.accounts import entering, messages, people_pages
from billboards.site.accounts import login as logging_in
from billboards.site.accounts import pages as account
from billboards.site.campaigns import annotating_pages as annotating
from billboards.site.campaigns import pages as campaigns
from billboards.site.campaigns import planning_pages as campaign_planning
from billboards.site.campaigns import protocol
from billboards.site.campaigns import template_pages as templates
from billboards.site.organise import draft_pages, trail_pages
from billboards.site.organise import pages as organising
from billboards.site.pages import (
    advice,
    analyses,
    board,
    card,
    charts,
    downloads,
    embed,
    generators,
    help,
    history,
    instances,
    matching,
    metric_list,
    metrics,
    pictures,
    preview,
    side_by_side,
    suites,
)
from billboards.site.pages import home as boards
from billboards.site.publishing import pages as publishing
from billboards.site.publishing import publication_pages
from billboards.site.site import Site
from billboards.site.submissions import forms as submitting
from billboards.site.submissions import pages as submissions
from billboards.site.submissions import suite_forms as suite_submitting
from billboards.site.web import faults
from billboards.site.web.asking import Kept, Pages
from billboards.site.web.health import Health
from billboards.site.web.limits import Limits
from billboards.site.web.measures import Measures
from billboards.site.web.request_log import RequestLog, patterns_of
from billboards.site.web.routers import ROUTERS
from billboards.site.web.security import Guard
from billboards.site.web.start_token import StartToken

#: The pages' routers; a board's own page comes last, because its address is the shortest.
PAGES = (
    boards,
    account,
    people_pages,
    annotating,
    logging_in,
    entering,
    help,
    metric_list,
    metrics,
    generators,
    instances,
    matching,
    side_by_side,
    analyses,
    history,
    card,
    submissions,
    submitting,
    downloads,
    charts,
    pictures,
    preview,
    embed,
    suite_submitting,
    suites,
    advice,
    templates,
    campaign_planning,
    campaigns,
    protocol,
    messages,
    organising,
    publication_pages,
    trail_pages,
    draft_pages,
    board,
)


def create_app(site: Site) -> FastAPI:
    """The application on an open site."""
    app = FastAPI(
        title=site.settings.title,
        version=metadata.version("billboards"),
        openapi_url="/api/v1/openapi.json",
        docs_url=None,
        redoc_url=None,
    )
    app.state.site = site
    app.state.pages = Pages(site)
    if site.published is not None:
        # Before the others: it has pages of its own in the place of theirs.
        app.include_router(publishing.router)
    for page in PAGES:
        app.include_router(page.router)
    for router in ROUTERS:
        app.include_router(router)
    app.add_exception_handler(BillboardsError, faults.answer_error)
    app.add_exception_handler(HTTPException, faults.answer_http)
    app.add_exception_handler(RequestValidationError, faults.answer_validation)
    app.add_exception_handler(Exception, faults.answer_unforeseen)
    app.add_middleware(Kept, pages=app.state.pages)
    app.add_middleware(Limits, site=site)
    measures = Measures()
    measures.watch(site.database.engine)
    if site.start_token is not None:
        app.add_middleware(StartToken, site=site)
    app.add_middleware(Health, site=site, measures=measures)
    app.add_middleware(Guard, local=not site.login_required)
    patterns = patterns_of((*(page.router for page in PAGES), *ROUTERS))
    app.add_middleware(RequestLog, measures=measures, patterns=patterns)
    return app
