"""What a route asks for before it answers: dependencies that name an action of `site.access`.

A route without one of these can't be written by accident: a test goes through the table of routes and asks each of
them as a visitor, an annotator, another team's submitter, the team itself and an owner.
"""

from __future__ import annotations

from dataclasses import dataclass

from fastapi import Request

from billboards.errors import NotAllowed
from billboards.site.accounts.access import Action, Viewer, may, require
from billboards.site.boards.masked import Look
from billboards.site.site import Site
from billboards.site.submissions import records as submissions
from billboards.site.submissions.records import Submission
from billboards.site.web.asking import Pages, check_csrf, viewer_of

SAFE = ("GET", "HEAD")


@dataclass(frozen=True)
class Permission:
    """The viewer, where the viewer may do `action`.

    A browser's session must send its CSRF token in the header `x-csrf-token` with what changes something: no other page
    can set that header.
    """

    action: Action

    def __call__(self, request: Request) -> Viewer:
        viewer = _viewer(request)
        if not may(viewer, self.action):
            require(viewer, self.action)
        return viewer


@dataclass(frozen=True)
class SubmissionPermission:
    """The viewer and the submission in the path, where the viewer may do `action` to it."""

    action: Action

    def __call__(self, request: Request, submission_id: str) -> tuple[Viewer, Submission]:
        viewer = _viewer(request)
        with site_of(request).database.reading() as connection:
            submission = submissions.get(connection, submission_id)
        require(viewer, self.action, submission)
        return viewer, submission


def site_of(request: Request) -> Site:
    """The site this process serves."""
    site: Site = request.app.state.site
    return site


def look_of(request: Request, board: str, viewer: Viewer) -> Look:
    """The board as a viewer may see it."""
    pages: Pages = request.app.state.pages
    return pages.look(board, viewer)


def _viewer(request: Request) -> Viewer:
    viewer, csrf = request.state.asker = viewer_of(request, request.app.state.pages)
    if viewer.account is None and "authorization" in request.headers:
        raise NotAllowed("this token is unknown or revoked; make a new one on the account page")
    if request.method not in SAFE:
        check_csrf(csrf, request.headers.get("x-csrf-token", ""))
    return viewer
