"""Answers of campaigns as judgments on the board.

A campaign's judgments stand on the board once it is closed; those of a rolling one, generator by generator, as soon as
everything asked about a generator is answered. They have dimensions of their own (`template.dimension`), and all
closed campaigns of one template make one aggregate under the template's name, which ranks the board unless its owner
decided otherwise. Judgments are laid only on the very outputs that annotators saw.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection

from billboards.board import Aggregate, Board, Dimension, Judgments
from billboards.board.judgments import JudgmentColumns, join_judgments
from billboards.campaigns.answers import answer_details, answer_values
from billboards.campaigns.items import Slot, read_slot
from billboards.campaigns.templates import Template
from billboards.errors import InvalidInput
from billboards.site.cache import Cache, Shelf
from billboards.site.campaigns import annotator_records as annotators
from billboards.site.campaigns import answer_counts
from billboards.site.campaigns import campaign_records as campaigns
from billboards.site.campaigns.campaign import Campaign, campaign_of
from billboards.site.settings import moment

#: Answers that count; those of excluded annotators are void.
VALID = ("submitted",)
WITH_EXCLUDED = ("submitted", "void")


@dataclass(frozen=True, kw_only=True)
class Label:
    """What one answer says of one output, on the questions' own ranges."""

    answer_id: str
    item: int
    instance: str
    slot: Slot
    part: str | None
    values: Mapping[str, float]
    annotator: str
    at: float
    template: str
    is_void: bool
    #: What the judgment keeps beside its values, such as marked errors under `spans`.
    details: Mapping[str, list[Any]]


#: A campaign's labels, with or without those that are void, and the mark of the answers they were read from.
_LABELS = Shelf[tuple[str, bool], tuple[object, list[Label]]]()


def labels_of(connection: Connection, campaign: Campaign, *, with_excluded: bool = False) -> list[Label]:
    """What a campaign's answers say, without test questions, in the order they were given."""
    people = annotators.in_campaign(connection, campaign.id)
    items = {item.id: item for item in campaigns.list_items(connection, campaign.id, "label")}
    states = WITH_EXCLUDED if with_excluded else VALID
    labels = []
    for current in answer_counts.current_answers(connection, campaign.id, states=states, purpose="label"):
        item = items[current.item_id]
        values = answer_values(campaign.template, current.answer.answers, current.shown_order)
        for slot, slot_values in values.items():
            labels.append(
                Label(
                    answer_id=current.answer.answer_id,
                    item=item.id,
                    instance=item.instance,
                    slot=read_slot(item.slots[slot]),
                    part=item.part,
                    values=slot_values,
                    annotator=people[current.annotator_id].pseudonym,
                    at=current.answer.at,
                    template=current.answer.template,
                    is_void=current.state == "void",
                    details=answer_details(campaign.template, current.answer.answers, current.shown_order.index(slot)),
                )
            )
    return labels


def kept_labels(connection: Connection, campaign: Campaign, kept: Cache, *, with_excluded: bool = False) -> list[Label]:
    """The same labels, read anew only when an answer came, or who gave them was excluded or forgotten."""
    key, mark = (campaign.id, with_excluded), answer_counts.mark(connection, campaign.id)
    last = kept.get(_LABELS, key)
    if last is None or last[0] != mark:
        last = kept.put(_LABELS, key, (mark, labels_of(connection, campaign, with_excluded=with_excluded)))
    return last[1]


def with_campaigns(
    connection: Connection, board: Board, kept: Cache, *, ranks: str | None = None, with_excluded: bool = False
) -> Board:
    """A board with the judgments of its campaigns; `ranks` is the aggregate its owner wants it ranked by."""
    standing = list(_standing(connection, board.name))
    if not standing:
        return board if ranks is None else _ranked(board, ranks)
    dimensions: dict[str, Dimension] = dict(board.dimensions)
    for campaign, _ in standing:
        dimensions |= {dimension.name: dimension for dimension in _dimensions(campaign)}
    columns = JudgmentColumns(tuple(dict.fromkeys((*board.judgments.dimensions, *dimensions))))
    for campaign, rows in standing:
        labels = kept_labels(connection, campaign, kept, with_excluded=with_excluded)
        _lay(board, columns, campaign, [label for label in labels if rows is None or label.slot.name in rows])
    aggregates, latest = _aggregates([campaign for campaign, _ in standing])
    joined = replace(
        board,
        judgments=join_judgments(board.judgments, columns.build()),
        dimensions=dimensions,
        aggregates={**board.aggregates, **aggregates},
        ranks=latest or board.ranks,
    )
    return joined if ranks is None else _ranked(joined, ranks)


def _ranked(board: Board, ranks: str) -> Board:
    """A board ranked by what its owner wants, where it has that; a campaign may not be closed yet."""
    return replace(board, ranks=ranks) if ranks in board.aggregates or ranks in board.dimensions else board


def _standing(connection: Connection, board: str) -> Iterator[tuple[Campaign, frozenset[str] | None]]:
    """Campaigns whose judgments stand on a board, each with the generators they stand for; None is all."""
    for row in campaigns.find(connection, board=board, states=("open", "paused", "closed")):
        if row.kind != "labels":
            continue
        if row.state == "closed":
            yield campaign_of(row), None
        elif row.rolling and (finished := finished_rows(connection, row.id)):
            yield campaign_of(row), finished


def finished_rows(connection: Connection, campaign_id: str) -> frozenset[str]:
    """The generators of a campaign of which everything asked is answered."""
    progress = answer_counts.labels_by_row(connection, campaign_id)
    return frozenset(row for row, (done, wanted) in progress.items() if done >= wanted)


def check_scales(connection: Connection, board: Board, template: Template) -> None:
    """Refuse a template that would give values on another scale to a dimension that the board has already."""
    dimensions = dict(board.dimensions)
    for row in campaigns.find(connection, board=board.name):
        dimensions |= {dimension.name: dimension for dimension in _dimensions(campaign_of(row))}
    for question in template.valued:
        own = template.board_dimension(question)
        existing = dimensions.get(own.name, own)
        if (existing.range, existing.higher_is_better) != (own.range, own.higher_is_better):
            raise InvalidInput(
                f"board {board.name} has judgments of a template {template.name} whose {question.name} has another "
                "scale, and all of one name are counted together; give your template a name of its own"
            )


def _dimensions(campaign: Campaign) -> list[Dimension]:
    return [campaign.template.board_dimension(question) for question in campaign.template.valued]


def _aggregates(standing: Sequence[Campaign]) -> tuple[dict[str, Aggregate], str | None]:
    """One aggregate per template over all of its campaigns, and which of them ranks: that of the last to close."""
    aggregates: dict[str, Aggregate] = {}
    ranking = [campaign for campaign in standing if campaign.ranks]
    for campaign in ranking:
        template = campaign.template
        names = tuple(campaign.name for campaign in ranking if campaign.template.name == template.name)
        overall = template.board_dimension(template.dimension(template.overall)).name
        aggregates[template.name] = Aggregate(template.name, (overall,), names)
    last = max(ranking, key=lambda candidate: candidate.closed or candidate.changed, default=None)
    # Judgments that join a dimension of the board are ranked with what they have joined.
    return aggregates, None if last is None or last.joins else last.template.name


def _lay(board: Board, columns: JudgmentColumns, campaign: Campaign, labels: Sequence[Label]) -> None:
    """Labels as judgments, on the rows that hold the very outputs that were seen."""
    places = _places(board)
    template = campaign.template
    scales = {own: (template.dimension(own), board.dimensions[joined]) for own, joined in campaign.joins.items()}
    for label in labels:
        row = places.get((label.slot.name, label.slot.version), places.get(("", label.slot.version)))
        if row is None or label.instance not in board.position:
            continue
        values = {f"{template.name}.{name}": value for name, value in label.values.items()}
        for own, (question, dimension) in scales.items():
            slope, intercept = dimension.affine()
            values[dimension.name] = (100 * question.share(label.values[own]) - intercept) / slope
        columns.add(
            board.position[label.instance],
            row,
            values,
            annotator=label.annotator,
            campaign=campaign.name,
            # In the order in which a file gives them back: a board that was written and read is the same board.
            details={**label.details, "time": moment(label.at), "template": label.template},
        )


def _places(board: Board) -> dict[tuple[str, str], int]:
    """Where a row stands, by name and version, and by version alone: an anonymous one gets another name one day."""
    by_version = {("", row.version): k for k, row in enumerate(board.rows)}
    return by_version | {(row.name, row.version): k for k, row in enumerate(board.rows)}


def judgments_of(connection: Connection, board: Board, campaign: Campaign, *, with_excluded: bool = False) -> Judgments:
    """One campaign's judgments on a board, whether it is closed or not."""
    names = tuple(dimension.name for dimension in _dimensions(campaign))
    columns = JudgmentColumns((*names, *campaign.joins.values()))
    _lay(board, columns, campaign, labels_of(connection, campaign, with_excluded=with_excluded))
    return columns.build()
