"""Answers of campaigns as judgments on the board.

A campaign's judgments stand on the board once it is closed; those of a rolling one, generator by generator, as soon as
everything asked about a generator is answered. They are a source beside others and replace none: they have dimensions
of their own (`template.dimension`), and all campaigns of one template that rank make one aggregate under the template's
name, apart from whatever the board's folder calls so. What ranks stays until the owner says otherwise; a campaign ranks
by itself only where nothing else does. One that is withdrawn is as if it had never been closed. A judgment counts
only for the exact text that annotators saw.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
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


@dataclass(frozen=True)
class _Source:
    """A campaign whose judgments stand on the board: of which generators (None is all), and those that it has."""

    campaign: Campaign
    rows: frozenset[str] | None
    labels: tuple[Label, ...] = field(default=(), repr=False)

    @property
    def ranks(self) -> bool:
        """Whether it was decided that it ranks; one that runs and was left to the rule is decided when it closes."""
        return self.campaign.ranks and (self.campaign.is_chosen or self.campaign.state == "closed")


def with_campaigns(
    connection: Connection,
    board: Board,
    kept: Cache,
    *,
    ranks: str | None = None,
    with_excluded: bool = False,
    assumed: Campaign | None = None,
    without: str | None = None,
) -> Board:
    """A board with the judgments of its campaigns; `ranks` is the aggregate its owner wants it ranked by.

    assumed: a campaign to be taken as it is given here, closed for example, whatever the database says
    without: the id of a campaign to be left out
    """
    places = _places(board)
    standing = []
    for source in _standing(connection, board.name, assumed, without):
        labels = kept_labels(connection, source.campaign, kept, with_excluded=with_excluded)
        wanted = (label for label in labels if source.rows is None or label.slot.name in source.rows)
        on_board = tuple(label for label in wanted if _place(board, places, label) is not None)
        # One without a counting answer says nothing, not even the name of a dimension.
        standing += [replace(source, labels=on_board)] if on_board else []
    if not standing:
        return board if ranks is None else _ranked(board, ranks)
    names = {source.campaign.id: dimension_names(board, source.campaign.template) for source in standing}
    dimensions: dict[str, Dimension] = dict(board.dimensions)
    for source in standing:
        for question, dimension in zip(names[source.campaign.id], _dimensions(source.campaign), strict=True):
            name = names[source.campaign.id][question]
            dimensions[name] = replace(dimension, name=name)
    columns = JudgmentColumns(tuple(dict.fromkeys((*board.judgments.dimensions, *dimensions))))
    for source in standing:
        _lay(board, columns, source.campaign, source.labels, names[source.campaign.id])
    aggregates, latest = _aggregates(board, standing, names)
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


def may_rank(connection: Connection, board: Board) -> set[str]:
    """The judgments that an owner may want a board ranked by: those it has, and those that its campaigns will bring."""
    names = {*board.aggregates, *board.dimensions}
    for row in campaigns.find(connection, board=board.name):
        campaign = campaign_of(row)
        names |= {campaign.template.name, pooled_name(board, campaign.template), source_name(campaign)}
        names |= {dimension.name for dimension in _dimensions(campaign)}
    return names


def _standing(connection: Connection, board: str, assumed: Campaign | None, without: str | None) -> Iterator[_Source]:
    """Campaigns whose judgments stand on a board, those that were withdrawn aside."""
    for row in campaigns.find(connection, board=board, states=("draft", "open", "paused", "closed")):
        if row.kind != "labels" or row.id == without:
            continue
        campaign = assumed if assumed is not None and assumed.id == row.id else campaign_of(row)
        if campaign.state == "closed" and campaign.withdrawn is None:
            yield _Source(campaign, None)
        elif campaign.state in ("open", "paused") and row.rolling and (finished := finished_rows(connection, row.id)):
            yield _Source(campaign, finished)


def dimension_names(board: Board, template: Template) -> dict[str, str]:
    """A board's names of a template's questions; what the folder calls so already stays apart."""
    names = {question.name: template.board_dimension(question).name for question in template.valued}
    return {own: _apart(board, name) if name in board.dimensions else name for own, name in names.items()}


def _apart(board: Board, name: str) -> str:
    """A name for what campaigns say where the folder has an aggregate or dimension of that name."""
    taken = {*board.aggregates, *board.dimensions}
    return f"{name} (campaigns)" if name in taken else name


def finished_rows(connection: Connection, campaign_id: str) -> frozenset[str]:
    """The generators of a campaign of which everything asked is answered."""
    progress = answer_counts.labels_by_row(connection, campaign_id)
    return frozenset(row for row, (done, wanted) in progress.items() if done >= wanted)


def check_scales(connection: Connection, board: Board, template: Template) -> None:
    """Refuse a template that would give values on another scale to a dimension that the board has already."""
    dimensions: dict[str, Dimension] = {}
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


def _aggregates(
    board: Board, sources: Sequence[_Source], names: Mapping[str, Mapping[str, str]]
) -> tuple[dict[str, Aggregate], str | None]:
    """One aggregate per template over its campaigns that rank, each other campaign's own; and which of them ranks.

    The last campaign to close ranks, of those of which that was decided; where there is none and the folder has no
    judgments, the last of those that were left to the rule.
    """
    aggregates: dict[str, Aggregate] = {}
    ranking = _ranking(board, sources)
    for source in sources:
        template = source.campaign.template
        overall = (names[source.campaign.id][template.overall],)
        pool = [other.campaign.name for other in ranking if other.campaign.template.name == template.name]
        if source in ranking:
            name = pooled_name(board, template)
            aggregates[name] = Aggregate(name, overall, tuple(pool))
        if source not in ranking or len(pool) > 1:
            name = source_name(source.campaign)
            aggregates[name] = Aggregate(name, overall, (source.campaign.name,))
    last = max(ranking, key=_since, default=None)
    # Judgments that join a dimension of the board are ranked with what they have joined.
    return aggregates, None if last is None or last.campaign.joins else pooled_name(board, last.campaign.template)


def _ranking(board: Board, sources: Sequence[_Source]) -> list[_Source]:
    """The campaigns that may rank: those of which that was decided, else, where nothing ranks, one template's."""
    decided = [source for source in sources if source.ranks]
    if decided or (len(board.judgments) and board.ranks is not None):
        return decided
    left = [source for source in sources if not source.campaign.is_chosen]
    last = max(left, key=_since, default=None)
    return [source for source in left if last and source.campaign.template.name == last.campaign.template.name]


def _since(source: _Source) -> float:
    return source.campaign.closed or source.campaign.changed


def pooled_name(board: Board, template: Template) -> str:
    """What the aggregate over a template's campaigns is called on a board."""
    return _apart(board, template.name)


def source_name(campaign: Campaign) -> str:
    """What one campaign's own judgments are called on a board."""
    return f"{campaign.template.name}/{campaign.name}"


def _lay(
    board: Board, columns: JudgmentColumns, campaign: Campaign, labels: Sequence[Label], names: Mapping[str, str]
) -> None:
    """Labels as judgments, on the rows that hold the very outputs that were seen."""
    places = _places(board)
    template = campaign.template
    scales = {own: (template.dimension(own), board.dimensions[joined]) for own, joined in campaign.joins.items()}
    for label in labels:
        row = _place(board, places, label)
        if row is None:
            continue
        values = {names[name]: value for name, value in label.values.items()}
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


def _place(board: Board, places: Mapping[tuple[str, str], int], label: Label) -> int | None:
    """The row that holds the very output that was seen; None where it, or its instance, is not on the board."""
    if label.instance not in board.position:
        return None
    return places.get((label.slot.name, label.slot.version), places.get(("", label.slot.version)))


def _places(board: Board) -> dict[tuple[str, str], int]:
    """Where a row stands, by name and version, and by version alone: an anonymous one gets another name one day."""
    by_version = {("", row.version): k for k, row in enumerate(board.rows)}
    return by_version | {(row.name, row.version): k for k, row in enumerate(board.rows)}


def judgments_of(connection: Connection, board: Board, campaign: Campaign, *, with_excluded: bool = False) -> Judgments:
    """One campaign's judgments on a board, whether it is closed or not."""
    template = campaign.template
    names = {question.name: template.board_dimension(question).name for question in template.valued}
    columns = JudgmentColumns(tuple(dict.fromkeys((*names.values(), *campaign.joins.values()))))
    _lay(board, columns, campaign, labels_of(connection, campaign, with_excluded=with_excluded), names)
    return columns.build()
