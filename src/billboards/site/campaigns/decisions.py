"""What a campaign has decided so far, and whom it need not ask about any more.

Owners look at a campaign after each label, so what they are told stays valid while they do: confidence sequences of
generators' means and differences on the dimension that sums up, and pairs decided by e-values (`analyses.watch`). A
campaign that stops when decided (`stop` in its plan) asks instance by instance, and asks no more about a generator that
is told apart from all others. Who is left out is worked out anew from the answers that count whenever an instance is
complete or an annotator is excluded; it stands in the campaign's details, and the audit trail says since when.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection

from billboards.analyses.watch import WatchedMean, WatchedPair, watch_cells
from billboards.campaigns.quote import count_answers
from billboards.site.accounts.access import Viewer, require
from billboards.site.campaigns import answer_counts
from billboards.site.campaigns import campaign_records as campaigns
from billboards.site.campaigns.campaign import Campaign, campaign_with_id
from billboards.site.campaigns.campaign_records import ItemRow
from billboards.site.campaigns.judgments import Label, finished_rows, labels_of
from billboards.site.site import Site
from billboards.stats.watching import Cells, watch_pairs

ACTOR = "stopping rule"
#: With more pairs than this, only neighbours in the order of means have an interval of their difference.
MOST_INTERVALS = 30


@dataclass(frozen=True, kw_only=True)
class CampaignWatch:
    """How a campaign stands while one watches, on the dimension that sums up.

    `instances` are complete of all `planned`, after so many `labels`. `dropped` are generators that are no longer asked
    about, each with the labels given when that was decided; `saved` labels and `saved_money` (with the test questions
    that go with them) are not spent.
    """

    level: float
    stops: bool
    labels: int
    instances: int
    planned: int
    means: tuple[WatchedMean, ...]
    pairs: tuple[WatchedPair, ...]
    dropped: Mapping[str, int]
    saved: int
    saved_money: float
    currency: str

    @property
    def decided(self) -> int:
        """How many pairs are decided."""
        return sum(pair.decided for pair in self.pairs)


def watch_campaign(site: Site, viewer: Viewer, campaign_id: str, *, draws: int = 1000) -> CampaignWatch:
    """What is decided in a campaign, and what that saves."""
    require(viewer, "administer")
    with site.database.reading() as connection:
        campaign = campaign_with_id(connection, campaign_id)
        rows = _watched_rows(connection, campaign)
        labels = labels_of(connection, campaign)
        items = campaigns.list_items(connection, campaign_id, "label")
        saved = count_saved(connection, campaign)
    cells, asked = judged_cells(campaign, rows, items, labels)
    plan = campaign.plan
    means, pairs, watched = watch_cells(
        rows,
        cells,
        asked,
        ends=(0.0, 100.0),
        level=plan.stop_level,
        drop=plan.stop == "decided",
        draws=draws,
        seed=plan.seed,
        most_intervals=MOST_INTERVALS,
    )
    return CampaignWatch(
        level=plan.stop_level,
        stops=plan.stop == "decided",
        labels=len(labels),
        instances=watched.units,
        planned=asked.shape[1],
        means=means,
        pairs=pairs,
        dropped=dropped_rows(campaign),
        saved=saved,
        saved_money=count_answers(saved, plan)[1] * plan.price,
        currency=plan.currency,
    )


def watch_words(watch: CampaignWatch) -> list[str]:
    """How a campaign stands while one watches, in sentences."""
    sentences = [
        f"{watch.decided:,} of {len(watch.pairs):,} pairs are decided after {watch.labels:,} labels; "
        f"{watch.instances:,} of {watch.planned:,} instances are complete."
    ]
    for name, labels in watch.dropped.items():
        sentences.append(f"{name} is told apart from all others since {labels:,} labels and is no longer asked about.")
    if watch.saved:
        worth = f" ({watch.saved_money:,.2f} {watch.currency})" if watch.saved_money else ""
        sentences.append(f"Stopping early saved {watch.saved:,} labels{worth}.")
    if watch.stops and watch.pairs and watch.decided == len(watch.pairs):
        sentences.append("Everything is decided, and nothing more is asked: the campaign can be closed.")
    return sentences


def _watched_rows(connection: Connection, campaign: Campaign) -> list[str]:
    """The generators that are compared: all, or in a rolling campaign those that are fully judged."""
    if not campaign.rolling:
        return list(campaign.generators)
    finished = finished_rows(connection, campaign.id)
    return [name for name in campaign.generators if name in finished]


def dropped_rows(campaign: Campaign) -> dict[str, int]:
    """Generators that are no longer asked about, and the labels given when that was decided."""
    return dict(campaign.details.get("dropped", {}))


def count_saved(connection: Connection, campaign: Campaign) -> int:
    """The labels that were planned and need not be given."""
    rows = answer_counts.labels_by_row(connection, campaign.id)
    return sum(wanted - done for name, (done, wanted) in rows.items() if name in dropped_rows(campaign))


def judged_cells(
    campaign: Campaign, rows: Sequence[str], items: Iterable[ItemRow], labels: Iterable[Label]
) -> tuple[Cells, NDArray[np.bool_]]:
    """Outputs in the order in which each had all of its labels, and what is asked of whom (generators × instances).

    Values are means over labels on 0-100, on the dimension that sums up.
    """
    generators = {name: k for k, name in enumerate(rows)}
    instances = {instance: k for k, instance in enumerate(campaign.instances)}
    wanted = np.zeros((len(generators), len(instances)), np.int64)
    for item in items:
        for slot in item.slots:
            if slot["source"] == "generator" and slot["name"] in generators:
                wanted[generators[slot["name"]], instances[item.instance]] += item.wanted
    question = campaign.template.dimension(campaign.template.overall)
    given: dict[tuple[int, int], list[float]] = {}
    complete: list[tuple[int, int, float, int]] = []
    for count, label in enumerate(labels, 1):
        generator = generators.get(label.slot.name)
        if generator is None or label.slot.source != "generator":
            continue
        cell = (generator, instances[label.instance])
        shares = given.setdefault(cell, [])
        shares.append(100 * question.share(label.values[question.name]))
        if len(shares) == wanted[cell]:
            complete.append((*cell, sum(shares) / len(shares), count))
    columns = list(zip(*complete, strict=True)) if complete else [(), (), (), ()]
    generator_, unit, value, counts = columns
    cells = Cells(
        generator=np.array(generator_, np.int64),
        unit=np.array(unit, np.int64),
        value=np.array(value, np.float64),
        labels=np.array(counts, np.int64),
    )
    return cells, wanted > 0


def follow_decisions(connection: Connection, campaign: Campaign, *, now: float, instance: str | None = None) -> None:
    """Work out anew who is no longer asked about, if the plan wants it; with an `instance`, once that is complete."""
    if campaign.plan.stop != "decided" or campaign.state == "closed":
        return
    if instance is not None and not _is_complete(connection, campaign, instance):
        return
    rows = list(campaign.generators)
    items = campaigns.list_items(connection, campaign.id, "label")
    cells, asked = judged_cells(campaign, rows, items, labels_of(connection, campaign))
    on_unit = Cells(generator=cells.generator, unit=cells.unit, value=cells.value / 100, labels=cells.labels)
    watched = watch_pairs(on_unit, asked, level=campaign.plan.stop_level, drop=True)
    dropped = {rows[k]: labels for k, labels in watched.dropped.items()}
    if dropped == dropped_rows(campaign):
        return
    decided = int(watched.decisions.decided.sum())
    detail = {"dropped": dropped, "pairs_decided": decided, "pairs": len(watched.decisions.first)}
    details = {**campaign.details, "dropped": dropped}
    campaigns.change(connection, campaign.id, "campaign.decided", actor=ACTOR, now=now, detail=detail, details=details)


def _is_complete(connection: Connection, campaign: Campaign, instance: str) -> bool:
    """Whether everything that is still asked of an instance is judged."""
    rows = answer_counts.labels_by_row(connection, campaign.id, instance=instance)
    left_out = dropped_rows(campaign)
    return all(done >= wanted for name, (done, wanted) in rows.items() if name not in left_out)
