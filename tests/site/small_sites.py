"""Small sites made in a test: one board in a folder, an owner, people with accounts, and a clock that tests turn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from sqlalchemy import select

from billboards.board import Aggregate, Board, Dimension, Generator, Instance, Reference, row_of
from billboards.board.judgments import JudgmentColumns
from billboards.site.accounts import records as accounts
from billboards.site.accounts.access import Viewer
from billboards.site.accounts.records import Role
from billboards.site.database.schema import cells, score_columns
from billboards.site.site import Site
from billboards.site.submissions import records as submissions
from billboards.site.submissions.records import Submission

TEXT = "the ferry leaves at noon from pier two and calls at every island on its way back to the old harbour"
WORDS = TEXT.split()
METRICS = ("chrF", "ROUGE-1", "ROUGE-L", "length")

DECLARED = {"higher_is_better": True, "needs": ["references"], "training_data": "none"}

SHARED_WORDS = """
def score(outputs, references, inputs):
    return [max(len(set(output.split()) & set(text.split())) for text in texts)
            for output, texts in zip(outputs, references)]
"""


def make_board(instances: int = 12, generators: int = 4, *, seed: int = 1, metrics: tuple[str, ...] = METRICS) -> Board:
    """Generators of falling quality and a person whose text is a reference too, judged from 1 to 5."""
    random = np.random.default_rng(seed)
    tested = []
    for k in range(instances):
        words = [str(word) for word in random.permutation(WORDS)[:9]]
        references = (Reference("Ada", " ".join(words)), Reference("Ben", " ".join(words[:7])))
        tested.append(Instance(f"i{k}", references=references, input=f"input {k}"))
    judged, rows = JudgmentColumns(("adequacy",)), []
    for g in range(generators):
        texts = []
        for k, instance in enumerate(tested):
            kept = [word for word in instance.references[0].text.split() if random.random() > 0.12 * g]
            texts.append(" ".join([*kept, *(["wrong"] * int(random.integers(0, g + 1)))]))
            rating = float(np.clip(round(5 * len(kept) / 9 + random.normal() / 3), 1, 5))
            judged.add(k, g, {"adequacy": rating}, annotator="ann")
        rows.append(row_of(Generator(f"g{g}"), tuple(tested), tuple(texts)))
    for k in range(instances):
        judged.add(k, generators, {"adequacy": 5.0}, annotator="ann")
    rows.append(row_of(Generator("Ben", kind="human"), tuple(tested), tuple(i.references[1].text for i in tested)))
    return Board(
        name="ferry",
        instances=tuple(tested),
        rows=tuple(rows),
        judgments=judged.build(),
        dimensions={"adequacy": Dimension("adequacy", range=(1, 5))},
        aggregates={"overall": Aggregate("overall", ("adequacy",))},
        ranks="overall",
        metrics=metrics,
        output_language="en",
    )


@dataclass
class Clock:
    """A time that stands still until a test turns it; leases and phases see no other."""

    now: float = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Harbour:
    """A site with what tests need around it."""

    site: Site
    clock: Clock
    owner: Viewer
    board: Board
    people: dict[str, Viewer] = field(default_factory=dict)

    def person(
        self, name: str, role: Role = "submitter", *, team: str | None = None, email: str | None = None
    ) -> Viewer:
        """Somebody with an account, made on first mention."""
        if name not in self.people:
            with self.site.database.writing() as connection:
                made = accounts.add_account(
                    connection, name, role, actor="test", now=self.clock(), team=team, email=email
                )
            self.people[name] = Viewer(made)
        return self.people[name]

    def now(self, one: Submission) -> Submission:
        """A submission as it stands by now."""
        with self.site.database.reading() as connection:
            return submissions.get(connection, one.id)

    def outputs(self, seed: int = 0) -> bytes:
        """A generator's outputs as plain text."""
        random = np.random.default_rng(seed)
        lines = []
        for instance in self.board.instances:
            words = instance.references[0].text.split()
            lines.append(" ".join(words[: int(random.integers(2, len(words) + 1))]))
        return "\n".join(lines).encode()


MakeHarbour = Callable[..., Harbour]


def all_cells(site: Site) -> dict[tuple[str, str, str, str], bytes]:
    """Every score of a site by what it depends on."""
    query = select(
        score_columns.c.signature, score_columns.c.context, cells.c.row_version, cells.c.part, cells.c.scores
    ).join(cells, cells.c.column_id == score_columns.c.id)
    with site.database.reading() as connection:
        return {(s, c, v, p): scores for s, c, v, p, scores in connection.execute(query)}
