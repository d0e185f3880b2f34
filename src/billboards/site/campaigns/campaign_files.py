"""A campaign's judgments in the files of other tools: whatever `billboards.formats` can write.

Annotators stand under the pseudonyms that they have on the site, the same in every file.
"""

from __future__ import annotations

from billboards.errors import NotEnoughData, UnknownName
from billboards.formats import FORMATS
from billboards.site.accounts.access import Viewer
from billboards.site.campaigns.results import board_of_campaign
from billboards.site.site import Site


def written_formats() -> tuple[str, ...]:
    """The formats that can be written, by name."""
    return tuple(name for name in FORMATS if FORMATS.load(name).can_write)


def campaign_file(site: Site, viewer: Viewer, campaign_id: str, form: str) -> str:
    """The judgments of a campaign as the text of a file; answers to test questions are none."""
    if form not in FORMATS:
        raise UnknownName("format of judgments", form, FORMATS)
    board, _ = board_of_campaign(site, viewer, campaign_id)
    ids, rows = tuple(instance.id for instance in board.instances), tuple(row.name for row in board.rows)
    judgments = list(board.judgments.each(ids, rows))
    if not judgments:
        raise NotEnoughData("nothing has been judged yet, so there is nothing to write")
    return FORMATS.load(form).write(board, judgments)
