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
from billboards.web.kept import Kept
from billboards.web.limits import Limits
from billboards.web.pages import (
    account,
    board,
    boards,
    charts,
    comparing,
    downloads,
    generators,
    history,
    instances,
    logging_in,
    metrics,
    pictures,
    submissions,
    submitting,
)
from billboards.web.security import Guard

#: The pages' routers; a board's own page comes last, because its address is the shortest.
PAGES = (
    boards,
    account,
    logging_in,
    metrics,
    generators,
    instances,
    comparing,
    history,
    submissions,
    submitting,
    downloads,
    charts,
    pictures,
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
    app.add_middleware(Guard, local=not site.login_required)
    return app
