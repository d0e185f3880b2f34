"""Annotators made in a test: they know the truth, answer by it or at random, and go on until nothing is left."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from small_sites import Harbour
from sqlalchemy import insert, select

from billboards.board import Board, Generator, Instance, Reference, row_of
from billboards.campaigns.plan import CampaignPlan
from billboards.site.campaigns.annotator_records import KEY
from billboards.site.campaigns.annotator_work import Participant, enter, next_item, submit_answer
from billboards.site.campaigns.annotators import invite
from billboards.site.campaigns.campaign import Campaign
from billboards.site.campaigns.lifecycle import create_campaign, open_campaign
from billboards.site.campaigns.shown_items import Shown
from billboards.site.campaigns.turns import Turn
from billboards.site.database.schema import keys
from billboards.site.site import Site

#: Words that only one instance's texts have.
NOUNS = ("ferry", "pier", "island", "harbour", "captain", "ticket", "storm", "bridge", "lantern")


def distinct_board(instances: int = 12, generators: int = 3) -> Board:
    """References that share no word with one another, and generators that get ever fewer of the words right."""
    tested, rows = [], []
    for k in range(instances):
        text = " ".join(f"{noun}{k}" for noun in NOUNS)
        tested.append(Instance(f"i{k}", references=(Reference("Ada", text),), input=f"input {k}"))
    for g in range(generators):
        texts = []
        for k in range(instances):
            wrong = min(len(NOUNS), 2 * g + (k + g) % 2)
            texts.append(" ".join([f"{noun}{k}" for noun in NOUNS[wrong:]] + ["wrong"] * wrong))
        rows.append(row_of(Generator(f"g{g}"), tuple(tested), tuple(texts)))
    rows.append(row_of(Generator("Ada", kind="human"), tuple(tested), tuple(i.references[0].text for i in tested)))
    metrics = ("chrF", "ROUGE-1", "length")
    return Board(
        name="ferry",
        instances=tuple(tested),
        rows=tuple(rows),
        ranks=None,
        metrics=metrics,
        output_language="en",
    )


Answering = Callable[[Shown, random.Random], int]


def by_reference(shown: Shown, chance: random.Random) -> int:
    """An honest answer on five levels: the share of the reference's words that the output has."""
    wanted = set(shown.references[0].split())
    return round(4 * len(wanted & set(shown.outputs[0].split())) / len(wanted))


def carelessly(shown: Shown, chance: random.Random) -> int:
    return chance.randrange(5)


def the_contrary(shown: Shown, chance: random.Random) -> int:
    return 4 - by_reference(shown, chance)


@dataclass
class Person:
    """Somebody who came by a link and answers in their own way."""

    harbour: Harbour
    participant: Participant
    answering: Answering = by_reference
    chance: random.Random = field(default_factory=lambda: random.Random(1))
    seconds: float = 10.0
    sent: list[str] = field(default_factory=list)

    def new_id(self) -> str:
        return str(UUID(int=self.chance.getrandbits(128)))

    def turn(self) -> Turn:
        return next_item(self.harbour.site, self.participant)

    def answer(self) -> Turn:
        """Ask for an item and answer it; returns what was asked."""
        turn = self.turn()
        if turn.item is not None:
            self.harbour.clock.now += self.seconds
            raw = {question.name: self.answering(turn.item, self.chance) for question in turn.item.template.dimensions}
            made = self.new_id()
            submit_answer(self.harbour.site, self.participant, turn.item.assignment, made, raw, seconds=self.seconds)
            self.sent.append(made)
        return turn

    def answer_all(self, most: int = 10_000) -> Turn:
        """Answer until nothing more is given; returns the last turn."""
        for _ in range(most):
            turn = self.answer()
            if turn.item is None:
                break
        return turn


def fix_key(site: Site) -> None:
    """Give annotators the pseudonyms, and so the test questions, of every other run."""
    with site.database.writing() as connection:
        if connection.execute(select(keys).where(keys.c.name == KEY)).first() is None:
            connection.execute(insert(keys).values(name=KEY, value="07" * 32))


def people(harbour: Harbour, campaign: Campaign, *answering: Answering) -> list[Person]:
    """Invited annotators who answer like this. Their test questions are the same in every run."""
    fix_key(harbour.site)
    links = invite(harbour.site, harbour.owner, campaign.id, [f"person {k}" for k in range(len(answering))])
    return [
        Person(harbour, enter(harbour.site, link.token), how, random.Random(k))
        for k, (link, how) in enumerate(zip(links, answering, strict=True))
    ]


def small_campaign(
    harbour: Harbour, name: str = "first", *, template: str = "genie-translation", rolling: bool = False, **plan: Any
) -> Campaign:
    """An open campaign on the harbour's board; by default translation against the reference."""
    settings = CampaignPlan(**{"instances": 12, **plan})
    made = create_campaign(harbour.site, harbour.owner, "ferry", name, template, plan=settings, rolling=rolling)
    return open_campaign(harbour.site, harbour.owner, made.id)
