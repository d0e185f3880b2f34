"""Campaigns as tables: quote, status, results, annotators and links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from billboards.show.table import Table, TableColumn
from billboards.stats.annotator_signs import ENOUGH, SIGN_NAMES, e_value_words

if TYPE_CHECKING:
    from billboards.campaigns.quote import Quote
    from billboards.site.campaigns.annotators import AnnotatorLine, Invitation
    from billboards.site.campaigns.campaign import Campaign
    from billboards.site.campaigns.decisions import CampaignWatch
    from billboards.site.campaigns.lifecycle import SourceChange
    from billboards.site.campaigns.meta_evaluation import Corner
    from billboards.site.campaigns.results import Results
    from billboards.site.campaigns.status import Status
    from billboards.site.campaigns.surveys import PageLine


def _facts(title: str, facts: Sequence[tuple[str, object]], notes: Sequence[str] = ()) -> Table:
    """A short table of what and how much."""
    columns = (TableColumn("what", "", "left"), TableColumn("value", "", "left"))
    return Table(title, columns, tuple({"what": what, "value": value} for what, value in facts), tuple(notes))


def _money(amount: float | None, currency: str) -> str | None:
    return None if amount is None else f"{amount:,.2f} {currency}"


def quote_table(name: str, quote: Quote) -> Table:
    """What a campaign will cost, and what that buys."""
    facts: list[tuple[str, object]] = [
        ("generators", quote.generators),
        ("instances", quote.instances),
        ("labels", f"{quote.labels:,}"),
        ("test questions", f"{quote.test_answers:,}"),
        ("answers to be paid", f"{quote.answers:,}"),
        ("cost", _money(quote.cost, quote.currency)),
        ("per generator", _money(quote.cost_per_generator, quote.currency)),
        ("of that, fees", _money(quote.fees, quote.currency)),
        ("worst-case standard error", f"{100 * quote.worst_se:.2f} of 100"),
        ("an hour is paid", _money(quote.hourly, quote.currency)),
        ("people who share it", quote.annotators),
        ("answers of each", f"{quote.answers_per_person:.0f}, {quote.questions_per_person:.0f} to test questions"),
        ("found if answering at random", f"{quote.recall_random:.0%}"),
        ("found if half at random", f"{quote.recall_half_random:.0%}"),
    ]
    return _facts(f"{name}: quote", facts, [f"careful: {warning}" for warning in (*quote.warnings, *quote.advice)])


def effect_table(effect: SourceChange) -> Table:
    """What ranks the board before and after, and what each source covers."""
    columns = (
        TableColumn("when", "", "left"),
        TableColumn("source", "judgments of", "left", kind="name"),
        TableColumn("generators", "generators"),
        TableColumn("outputs", "outputs"),
        TableColumn("judgments", "judgments"),
    )
    told = (("ranks now", effect.before), ("ranks then", effect.after), ("this campaign", effect.own))
    rows = tuple({"when": when, **asdict(source), "source": source.source or "nothing"} for when, source in told)
    return Table(f"{effect.campaign}: what ranks the board", columns, rows, (f"{effect.why}.",))


def campaigns_table(campaigns: Sequence[Campaign]) -> Table:
    columns = (
        TableColumn("name", "campaign", "left", kind="name"),
        TableColumn("board", "board", "left"),
        TableColumn("state", "state", "left"),
        TableColumn("template", "template", "left", priority=1),
        TableColumn("generators", "generators"),
        TableColumn("instances", "instances"),
        TableColumn("rolling", "rolling", "left", priority=2),
        TableColumn("id", "id", "left", priority=3),
    )
    rows = tuple(
        {
            "name": campaign.name,
            "board": campaign.board,
            "state": campaign.state,
            "template": campaign.template.name,
            "generators": len(campaign.generators),
            "instances": len(campaign.instances),
            "rolling": "yes" if campaign.rolling else "no",
            "id": campaign.id,
        }
        for campaign in campaigns
    )
    return Table("campaigns", columns, rows)


def repetitions_table(name: str, planned: Sequence[Campaign], quotes: Sequence[Quote]) -> Table:
    """The days on which a campaign is repeated, and what each costs."""
    columns = (
        TableColumn("name", "campaign", "left", kind="name"),
        TableColumn("state", "state", "left"),
        TableColumn("generators", "generators"),
        TableColumn("instances", "instances"),
        TableColumn("labels", "labels"),
        TableColumn("cost", "cost", "left"),
    )
    rows = tuple(
        {
            "name": campaign.name,
            "state": campaign.state,
            "generators": len(campaign.generators),
            "instances": len(campaign.instances),
            "labels": quote.labels,
            "cost": _money(quote.cost, quote.currency),
        }
        for campaign, quote in zip(planned, quotes, strict=True)
    )
    return Table(f"{name}: repetitions", columns, rows)


def status_tables(status: Status) -> list[Table]:
    """How a campaign stands, in all and by generator."""
    currency = status.campaign.plan.currency
    people = ", ".join(f"{count} {state}" for state, count in sorted(status.annotators.items())) or "nobody yet"
    facts: list[tuple[str, object]] = [
        ("state", status.campaign.state),
        ("labels", f"{status.done:,} of {status.wanted:,}, {status.leased:,} in hands"),
        ("answers", f"{status.answers:,}, {status.tests:,} of them to test questions"),
        ("annotators", people),
        ("spent", _money(status.spent, currency)),
        ("committed", _money(status.committed, currency)),
        ("left", _money(status.left, currency)),
        ("median time", None if status.median_seconds is None else f"{status.median_seconds:.0f} s"),
        ("an hour is paid", _money(status.hourly, currency)),
    ]
    if status.campaign.plan.stop == "decided":
        facts.append(("saved by stopping", f"{status.saved:,} labels, {_money(status.saved_money, currency)}"))
    wage = f"careful: that is less than {status.campaign.plan.hourly:.2f} {currency} an hour"
    columns = (
        TableColumn("name", "generator", "left", kind="name"),
        TableColumn("done", "labels"),
        TableColumn("wanted", "wanted"),
    )
    rows = tuple({"name": name, "done": done, "wanted": wanted} for name, done, wanted in status.by_generator)
    tables = [
        _facts(status.campaign.name, facts, [wage] if status.hourly_ok is False else []),
        Table(f"{status.campaign.name}: by generator", columns, rows),
    ]
    return [*tables, waiting_table(status)] if status.waiting else tables


def waiting_table(status: Status) -> Table:
    """Generators that wait to join a rolling campaign, with their prices."""
    columns = (
        TableColumn("generator", "generator", "left", kind="name"),
        TableColumn("labels", "labels"),
        TableColumn("price", f"price, {status.campaign.plan.currency}", digits=2),
        TableColumn("reason", "why it waits", "left"),
    )
    rows = tuple({**asdict(newcomer), "reason": newcomer.reason} for newcomer in status.waiting)
    notes = (f"`billboards campaign admit {status.campaign.name} GENERATOR --confirm` lets one in.",)
    return Table(f"{status.campaign.name}: waiting to join", columns, rows, notes)


def results_table(results: Results) -> Table:
    """Means on 0-100 by dimension and generator."""
    columns = (
        TableColumn("dimension", "dimension", "left"),
        TableColumn("name", "generator", "left", kind="name"),
        TableColumn("mean", "mean", digits=1),
        TableColumn("crossed", "95%, looked at once", digits=1, kind="interval"),
        TableColumn("rank", "rank", priority=1),
        TableColumn("cluster", "cluster", priority=2),
        # What version 0.1 told, for programs that read it: over instances alone.
        TableColumn("interval", "95%, instances alone", digits=1, kind="interval", visible=False),
        TableColumn("worst_se", "worst-case SE", digits=2, priority=1),
        TableColumn("instances", "instances", priority=2),
        TableColumn("labels", "labels", priority=3),
        TableColumn("annotators", "annotators", priority=3),
    )
    rows = tuple(
        {
            "dimension": estimate.dimension,
            "name": estimate.generator,
            "rank": estimate.rank,
            "mean": estimate.mean,
            "crossed": estimate.interval,
            "cluster": estimate.cluster,
            "annotators": estimate.annotators,
            "interval": (estimate.low, estimate.high),
            "worst_se": estimate.worst_se,
            "instances": estimate.instances,
            "labels": estimate.labels,
        }
        for estimate in results.estimates
    )
    whose = "with" if results.with_excluded else "without"
    over = "Intervals are over instances and annotators; generators of one cluster share a rank."
    notes = (over,) if rows else ("No answer counts yet; `billboards campaign status` says how far it is.",)
    return Table(f"{results.campaign.name}: results {whose} excluded annotators", columns, rows, notes)


def watch_tables(name: str, watch: CampaignWatch) -> list[Table]:
    """Means and pairs of generators, valid however often one looks."""
    from billboards.analyses.watch import ONCE, verdict
    from billboards.site.campaigns.decisions import watch_words

    means = (
        TableColumn("generator", "generator", "left", kind="name"),
        TableColumn("mean", "mean", digits=1),
        TableColumn("interval", "95%, valid while you watch", digits=1, kind="interval"),
        TableColumn("once", f"95%, {ONCE}", digits=1, kind="interval", priority=1),
        TableColumn("n", "instances", priority=2),
    )
    pairs = (
        TableColumn("better", "better", "left", kind="name"),
        TableColumn("other", "than", "left"),
        TableColumn("difference", "difference", digits=1),
        TableColumn("interval", "95%, valid while you watch", digits=1, kind="interval"),
        TableColumn("once", f"95%, {ONCE}", digits=1, kind="interval", priority=2),
        TableColumn("e", "e-value", priority=1),
        TableColumn("verdict", "decided", "left"),
    )
    return [
        Table(f"{name}: means while you watch", means, tuple(map(asdict, watch.means)), tuple(watch_words(watch))),
        Table(
            f"{name}: pairs of generators",
            pairs,
            tuple({**asdict(pair), "verdict": verdict(pair.labels)} for pair in watch.pairs),
            (f"At most {watch.level:.0%} of what is decided is expected to be wrong, whenever one stops.",),
        ),
    ]


def annotators_table(name: str, lines: Sequence[AnnotatorLine]) -> Table:
    """How annotators stand, by pseudonym."""
    columns = (
        TableColumn("name", "annotator", "left", kind="name"),
        TableColumn("state", "state", "left"),
        TableColumn("answers", "answers"),
        TableColumn("seconds", "median s", digits=0, priority=2),
        TableColumn("positive", "positive right", "left"),
        TableColumn("negative", "negative right", "left"),
        TableColumn("noisy", "P(noisy)", digits=3, priority=1),
        *(
            TableColumn(sign, sign, "right", priority=2 if sign in ("questions", "speed", "agreement") else 4)
            for sign in SIGN_NAMES
        ),
        TableColumn("evidence", "evidence", "right"),
        TableColumn("reason", "why", "left", priority=3),
    )
    rows = tuple(
        {
            "name": line.pseudonym,
            "state": line.state,
            "answers": line.answers,
            "seconds": line.median_seconds,
            "positive": f"{line.positive.right} of {line.positive.right + line.positive.wrong}",
            "negative": f"{line.negative.right} of {line.negative.right + line.negative.wrong}",
            "noisy": max((p for p in (line.positive.noisy, line.negative.noisy) if p is not None), default=None),
            **_signs(line),
            "reason": line.reason,
        }
        for line in lines
    )
    notes = (
        f"Evidence is an e-value of answers without reading: each sign's, and all together; {ENOUGH:.0f} is enough.",
    )
    return Table(f"{name}: annotators", columns, rows, notes)


def _signs(line: AnnotatorLine) -> dict[str, str | None]:
    """Each sign's evidence against an annotator, and all of it."""
    if line.evidence is None:
        return {}
    signs = {sign: line.evidence.signs.get(sign) for sign in SIGN_NAMES} | {"evidence": line.evidence.total}
    return {sign: None if e is None else e_value_words(e) for sign, e in signs.items()}


def survey_table(campaign: Campaign, lines: Sequence[PageLine]) -> Table:
    """What annotators accepted and said of themselves, a page each."""
    asked = [survey.question.name for survey in campaign.template.survey]
    columns = (
        TableColumn("annotator", "annotator", "left", kind="name"),
        TableColumn("page", "page", "left"),
        TableColumn("digest", "digest", "left", priority=2),
        *(TableColumn(f"answer:{name}", name, "left", priority=1) for name in asked),
    )
    rows = tuple(
        {
            "annotator": line.annotator,
            "page": line.page,
            "digest": line.digest,
            **{f"answer:{name}": words for name, words in line.words.items()},
        }
        for line in lines
    )
    return Table(f"{campaign.name}: consent and survey", columns, rows)


def links_table(name: str, base: str, links: Sequence[Invitation]) -> Table:
    """Magic links, which are shown once."""
    columns = (
        TableColumn("name", "annotator", "left", kind="name"),
        TableColumn("pseudonym", "pseudonym", "left"),
        TableColumn("link", "link", "left"),
    )
    rows = tuple(
        {"name": invitation.name, "pseudonym": invitation.pseudonym, "link": f"{base}{invitation.path}"}
        for invitation in links
    )
    return Table(f"{name}: links (shown once)", columns, rows)


def meta_table(name: str, corners: Sequence[Corner]) -> Table:
    """What blind judges said where two sources disagree."""
    columns = (
        TableColumn("higher", "rated higher by", "left"),
        TableColumn("judged", "outputs"),
        TableColumn("good", "found good"),
        TableColumn("interval", "share, 95% interval", digits=2, kind="interval"),
        TableColumn("sides_with", "judges side with", "left"),
    )
    rows = tuple(
        {
            "higher": corner.higher,
            "judged": corner.judged,
            "good": corner.good,
            "interval": (corner.low, corner.high),
            "sides_with": corner.sides_with,
        }
        for corner in corners
    )
    return Table(f"{name}: blind checks", columns, rows)
