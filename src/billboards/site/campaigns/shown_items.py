"""An item as an annotator sees it: only what the template shows, and nothing that tells a test question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from billboards.board import Board, Instance
from billboards.campaigns.items import reference_of
from billboards.campaigns.templates import Stage, Template
from billboards.errors import Refused
from billboards.site.boards import registry
from billboards.site.boards.live import folder_board
from billboards.site.campaigns.answer_records import Answer, Assignment
from billboards.site.campaigns.campaign import Campaign
from billboards.site.campaigns.campaign_records import ItemRow
from billboards.site.site import Site

#: How many instances before this one are shown as context.
CONTEXT = 3


@dataclass(frozen=True, kw_only=True)
class Shown:
    """What stands on an annotator's page; what no stage shows is absent."""

    assignment: str
    template: Template
    input: str | None
    image: str | None
    #: What came before in the same document, the nearest last.
    context: tuple[str, ...]
    references: tuple[str, ...]
    #: In the order to show.
    outputs: tuple[str, ...]
    output_names: tuple[str, ...]
    input_language: str | None
    output_language: str | None
    #: What was kept of this item so far, and the time it took.
    answers: Mapping[str, Any]
    seconds: float
    expires: float
    qualifying: bool
    document: str | None = None

    @property
    def stages(self) -> tuple[Stage, ...]:
        return self.template.stages

    @property
    def stage(self) -> int:
        """The first stage with something unanswered; the last where nothing is."""
        for k, stage in enumerate(self.stages):
            if any(name not in self.answers for name in stage.dimensions):
                return k
        return len(self.stages) - 1

    def visible(self, stage: int) -> frozenset[str]:
        """All that is to be seen in a stage."""
        return self.template.visible(stage)


def shown_item(
    site: Site, campaign: Campaign, item: ItemRow, assignment: Assignment | None, kept: Answer | None
) -> Shown:
    """An item with what was kept of it; one that is only to be read has no assignment."""
    board = campaign_board(site, campaign)
    if item.instance not in board.position:
        raise Refused(f"instance {item.instance} is no longer on board {campaign.board}; tell the board's owner")
    instance = board.instances[board.position[item.instance]]
    template = campaign.template
    reference = reference_of(board, item.instance)
    order = item.shown_order if assignment is None else assignment.shown_order
    return Shown(
        assignment="" if assignment is None else assignment.id,
        template=template,
        input=instance.input if template.shows("input") else None,
        image=instance.image if template.shows("image") else None,
        context=_context(board, instance) if template.shows("context") else (),
        references=(reference.text,) if template.shows("reference") and reference is not None else (),
        outputs=tuple(str(item.slots[slot]["text"]) for slot in order),
        output_names=template.output_names,
        input_language=board.input_language,
        output_language=board.output_language,
        answers={} if kept is None else kept.answers,
        seconds=0.0 if kept is None else kept.seconds,
        expires=0.0 if assignment is None else assignment.expires,
        document=instance.document,
        qualifying=item.purpose == "qualification",
    )


def campaign_board(site: Site, campaign: Campaign) -> Board:
    """The board whose instances a campaign shows; outputs are kept with the items."""
    with site.database.reading() as connection:
        entry = registry.board(connection, campaign.board)
    return folder_board(site, entry)


def _context(board: Board, instance: Instance) -> tuple[str, ...]:
    """The inputs just before this one in its document."""
    if instance.document is None:
        return ()
    before = board.instances[max(0, board.position[instance.id] - CONTEXT) : board.position[instance.id]]
    return tuple(
        earlier.input for earlier in before if earlier.document == instance.document and earlier.input is not None
    )
