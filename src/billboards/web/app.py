"""The site as one ASGI application: pages for people, an API for programs, errors answered in one place."""

from __future__ import annotations

from importlib import metadata

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from billboards.errors import BillboardsError
from billboards.site.home import Site
from billboards.web import faults
from billboards.web.api import ROUTERS
from billboards.web.asking import Pages
from billboards.web.health import Health
from billboards.web.kept import Kept
from billboards.web.limits import Limits
from billboards.web.measures import Measures
from billboards.web.pages import (
    account,
    annotating,
    board,
    boards,
    campaign_acting,
    campaign_planning,
    campaigns,
    card,
    charts,
    comparing,
    downloads,
    generators,
    history,
    instances,
    logging_in,
    matching,
    metrics,
    pictures,
    submissions,
    submitting,
    suites,
    templates,
)
from billboards.web.request_log import RequestLog, patterns_of
from billboards.web.security import Guard

#: The pages' routers; a board's own page comes last, because its address is the shortest.
PAGES = (
    boards,
    account,
    annotating,
    logging_in,
    metrics,
    generators,
    instances,
    matching,
    comparing,
    history,
    card,
    submissions,
    submitting,
    downloads,
    charts,
    pictures,
    suites,
    templates,
    campaign_planning,
    campaigns,
    campaign_acting,
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
    app.add_middleware(Health, site=site, measures=measures)
    app.add_middleware(Guard, local=not site.login_required)
    patterns = patterns_of((*(page.router for page in PAGES), *ROUTERS))
    app.add_middleware(RequestLog, measures=measures, patterns=patterns)
    return app
