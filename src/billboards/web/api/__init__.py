"""The HTTP interface for programs, under /api/v1; one module per kind of thing.

Every route states by `Permission` who may use it, in the one vocabulary of `site.access`; a test goes through the table
of routes and fails for one that doesn't. What a route shows comes through `Look` and `live_board`, which mask it.
"""

from __future__ import annotations

from fastapi import APIRouter

from billboards.web.api import accounts, annotating, boards, campaigns, rankings, settings, submissions, templates

ROUTERS: tuple[APIRouter, ...] = tuple(
    module.router for module in (boards, rankings, submissions, accounts, settings, campaigns, templates, annotating)
)
