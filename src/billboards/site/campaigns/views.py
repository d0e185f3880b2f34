"""A campaign as its owner reads it: figures in words, results with and without the excluded, answers as records.

Money and times are put into words here, once, so that a page and the stream that keeps it fresh say the same. A preview
is an item like any other, made of the template's first example.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from billboards.analyses.rank import Ranking
from billboards.board.coverage import Coverage
from billboards.campaigns.quote import Quote
from billboards.campaigns.templates import Template
from billboards.site.campaigns.annotators import TestCount
from billboards.site.campaigns.item_view import ItemView, view_item
from billboards.site.campaigns.lifecycle import SourceChange
from billboards.site.campaigns.results import AnswerLine, Estimated, Results
from billboards.site.campaigns.shown_items import Shown
from billboards.site.campaigns.status import Status
from billboards.site.campaigns.surveys import PageLine
from billboards.site.web.rendering import stamp
from billboards.stats.annotator_signs import SIGN_NAMES, AnnotatorEvidence, e_value_words

#: What a state looks like: the classes of its tag.
TAGS = {"open": "good", "paused": "busy", "draft": "", "closed": "", "active": "good", "qualifying": "busy"}
NOTHING = "–"
#: Generators, annotators or decisions that a page of a campaign lists.
MOST_ROWS = 100


@dataclass(frozen=True)
class Fact:
    """A figure under a key by which a script finds it again."""

    key: str
    name: str
    text: str


def money(amount: float | None, currency: str) -> str:
    """An amount as people write it."""
    return NOTHING if amount is None else f"{amount:,.2f} {currency}"


def status_facts(status: Status) -> tuple[Fact, ...]:
    """Where a campaign stands: answers, people, money, time."""
    currency = status.campaign.plan.currency
    people = ", ".join(f"{count} {state}" for state, count in sorted(status.annotators.items())) or "nobody yet"
    middle = NOTHING if status.median_seconds is None else f"{status.median_seconds:.0f} s"
    facts = [
        Fact("labels", "labels", f"{status.done:,} of {status.wanted:,}"),
        Fact("hands", "in hands", f"{status.leased:,}"),
        Fact("answers", "answers", f"{status.answers:,} ({status.tests:,} to test questions)"),
        Fact("people", "annotators", people),
        Fact("seconds", "median time", middle),
    ]
    if status.campaign.plan.pay:
        facts += [
            Fact("spent", "spent", money(status.spent, currency)),
            Fact("committed", "committed", money(status.committed, currency)),
            Fact("left", "left", "no limit" if status.left is None else money(status.left, currency)),
            Fact("hourly", "an hour is paid", money(status.hourly, currency)),
        ]
    if status.waiting:
        prices = sum(newcomer.price for newcomer in status.waiting)
        worth = f", {money(prices, currency)}" if prices else ""
        facts.append(Fact("waiting", "generators that wait", f"{len(status.waiting):,}{worth}"))
    if status.campaign.plan.stop == "decided":
        worth = f", {money(status.saved_money, currency)}" if status.campaign.plan.pay else ""
        facts.append(Fact("saved", "saved by stopping", f"{status.saved:,} labels{worth}"))
    return tuple(facts)


def live_document(status: Status) -> dict[str, Any]:
    """What the stream sends: all that changes on the page while people annotate."""
    return {
        "state": status.campaign.state,
        "done": status.done,
        "total": status.wanted,
        "facts": {fact.key: fact.text for fact in status_facts(status)},
        "generators": [[done, wanted] for _, done, wanted in status.by_generator[:MOST_ROWS]],
    }


def effect_words(effect: SourceChange) -> str:
    """What closing or withdrawing a campaign does to the board, in a sentence."""
    before, after = (coverage_words(source) for source in (effect.before, effect.after))
    if effect.is_other:
        return f"now {before} ranks the board, then {after}: {effect.why}"
    return f"what ranks the board stays, {before} now and {after} then: {effect.why}"


def coverage_words(source: Coverage) -> str:
    """A source of judgments and what it covers."""
    if source.source is None:
        return "nothing"
    return (
        f"{source.source} ({source.generators:,} generators, {source.outputs:,} outputs, "
        f"{source.judgments:,} judgments)"
    )


def quote_facts(quote: Quote) -> tuple[tuple[str, str], ...]:
    """What a campaign costs, and what that buys."""
    facts = [
        ("generators", f"{quote.generators:,}"),
        ("instances", f"{quote.instances:,}"),
        ("labels", f"{quote.labels:,}"),
        ("test questions", f"about {quote.test_answers:,}"),
        ("answers", f"{quote.answers:,}"),
        ("cost", money(quote.cost, quote.currency)),
        ("per generator", money(quote.cost_per_generator, quote.currency)),
        ("fees in it", money(quote.fees, quote.currency)),
        ("an hour is paid", money(quote.hourly, quote.currency)),
        ("standard error at worst", f"{100 * quote.worst_se:.2f} of 100"),
        ("people who share it", f"{quote.annotators:,}"),
        (
            "answers of each",
            f"about {quote.answers_per_person:.0f}, {quote.questions_per_person:.0f} to test questions",
        ),
        ("found if answering at random", f"{quote.recall_random:.0%}"),
        ("found if half at random", f"{quote.recall_half_random:.0%}"),
    ]
    paid = {"cost", "per generator", "fees in it", "an hour is paid"}
    return tuple(fact for fact in facts if quote.cost or fact[0] not in paid)


@dataclass(frozen=True)
class ResultRow:
    """A generator on one dimension, as it counts and with the excluded annotators' answers in it."""

    dimension: str
    generator: str
    counted: Estimated | None
    everybody: Estimated


def result_rows(without: Results, everybody: Results) -> tuple[ResultRow, ...]:
    """Both results side by side, in the order of those that count."""
    counted = {(estimate.dimension, estimate.generator): estimate for estimate in without.estimates}
    rows = [
        ResultRow(
            estimate.dimension, estimate.generator, counted.get((estimate.dimension, estimate.generator)), estimate
        )
        for estimate in everybody.estimates
    ]
    order = {key: k for k, key in enumerate(counted)}
    dimensions = list(dict.fromkeys(row.dimension for row in rows))
    rows.sort(key=lambda row: (dimensions.index(row.dimension), order.get((row.dimension, row.generator), len(order))))
    return tuple(rows)


@dataclass(frozen=True)
class PlaceRow:
    """A generator's or metric's place on the board, as it counts and with the excluded annotators' answers in it."""

    kind: str
    name: str
    counted: int | None
    everybody: int | None


def place_rows(counted: Ranking, everybody: Ranking) -> tuple[PlaceRow, ...]:
    """Both rankings side by side."""
    rows = []
    for kind in ("generators", "metrics"):
        other = {standing.name: standing.rank for standing in getattr(everybody, kind)}
        rows += [
            PlaceRow(kind[:-1], standing.name, standing.rank, other.get(standing.name))
            for standing in getattr(counted, kind)
        ]
    return tuple(rows)


def test_words(count: TestCount) -> str:
    """An annotator's test questions of one kind, with what the model makes of them."""
    asked = count.right + count.wrong
    if not asked:
        return NOTHING
    words = f"{count.right} of {asked} right"
    if count.accuracy is None or count.low is None or count.high is None or count.noisy is None:
        return words
    return f"{words}; accuracy {count.accuracy:.2f} [{count.low:.2f}, {count.high:.2f}], P(noisy) {count.noisy:.3f}"


def sign_words(evidence: AnnotatorEvidence | None) -> tuple[tuple[str, str], ...]:
    """Each sign's evidence against an annotator, in the order of the signs; those beyond make up none of the total."""
    if evidence is None:
        return ()
    return tuple((name, e_value_words(evidence.signs[name])) for name in SIGN_NAMES if name in evidence.signs)


def answer_records(lines: Iterable[AnswerLine]) -> Iterator[dict[str, Any]]:
    """Answers for download, annotators under their pseudonyms."""
    for line in lines:
        yield {**asdict(line), "at": stamp(line.at)}


#: The columns of answers as a table, one line for each output and question.
ANSWER_COLUMNS = (
    *(
        "answer_id",
        "campaign",
        "item",
        "kind",
        "state",
        "purpose",
        "test",
        "is_right",
        "instance",
        "generator",
        "place",
    ),
    *("dimension", "answer", "worth", "value", "annotator", "seconds", "at", "template"),
)


def answer_rows(lines: Iterable[AnswerLine]) -> Iterator[dict[str, Any]]:
    """Answers as `billboards ratings` reads them: `value` is what an answer is worth where it counts as a label.

    `worth` says it of test questions and of what was struck out too; a text is worth nothing and has its own words.
    """
    same = [column for column in ANSWER_COLUMNS if column in AnswerLine.__dataclass_fields__]
    for line in lines:
        counts = line.state == "valid" and line.purpose == "label"
        common = {**{column: getattr(line, column) for column in same}, "at": stamp(line.at)}
        for place, generator in enumerate(line.outputs):
            values = line.values[place] if line.values else {}
            for dimension, answer in line.answers.items():
                worth = values.get(dimension)
                if worth is not None or (place == 0 and not any(dimension in other for other in line.values)):
                    own = {"generator": generator, "place": place, "dimension": dimension, "answer": _as_json(answer)}
                    yield {**common, **own, "worth": worth, "value": worth if counts else None}


def survey_records(lines: Iterable[PageLine], *, flat: bool) -> Iterator[dict[str, Any]]:
    """What annotators said of themselves, for download; `flat` has a column for each question, answers in words."""
    for line in lines:
        record = {**asdict(line), "at": stamp(line.at)}
        yield {**{k: record[k] for k in ("annotator", "page", "at", "digest")}, **line.words} if flat else record


def _as_json(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | tuple | dict) else value


def preview_item(template: Template) -> ItemView:
    """The page of an item at its last stage, the first example standing for an item."""
    example = template.examples[0] if template.examples else None
    outputs = tuple(f"(output {k + 1})" for k in range(template.outputs)) if example is None else example.outputs

    def example_text(word: str) -> str:
        return getattr(example, word, None) or f"(the {word}, where there is one)"

    answers = {question.name: None for question in template.dimensions}
    shown = Shown(
        assignment="",
        template=template,
        input=example_text("input") if template.shows("input") else None,
        image=None,
        context=(example_text("context"),) if template.shows("context") else (),
        references=(example_text("reference"),) if template.shows("reference") else (),
        outputs=outputs,
        output_names=template.output_names,
        input_language=None,
        output_language=None,
        answers=answers,
        seconds=0.0,
        expires=0.0,
        qualifying=False,
    )
    return view_item(shown)
