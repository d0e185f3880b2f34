"""A site for readers: a board with everything a table can show, one that hides, one that lacks, one of comparisons."""

from __future__ import annotations

import base64
import hashlib
import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from fastapi.testclient import TestClient
from page_sites import ODD, SECRET, SLASHED, page_board
from small_sites import Clock
from small_suites import compared_board
from sqlalchemy import select, update

from billboards.board import (
    Aggregate,
    Board,
    DataCard,
    Dimension,
    Generator,
    ImportedColumn,
    Instance,
    Reference,
    row_of,
)
from billboards.board.cells import Floats
from billboards.board.judgments import JudgmentColumns
from billboards.board.trust import TrustRules
from billboards.board.writing import write_board
from billboards.site.accounts import access
from billboards.site.accounts.access import Viewer
from billboards.site.database.schema import cells, score_columns
from billboards.site.site import Site, open_site
from billboards.site.submissions.records import Submission
from billboards.site.submissions.sending import (
    cancel,
    change_settings,
    submit_generator,
    submit_scores,
    withdraw,
)
from billboards.site.web.app import create_app
from billboards.site.work.jobs import run_job
from billboards.site.work.worklist import next_job

TEXT = "the ferry leaves at noon from pier two and calls at every island on its way back to the old harbour"
#: A day, by the clock of the site.
DAY = 86_400.0
#: When the site begins: on Christmas Day of 2040, so that no time of it is one of these days.
BEGIN = 2_240_000_000.0
#: Machines of the rich board, each with what it states of itself.
MACHINES = (
    Generator(ODD, description="Reads *slowly* & writes <fast>", latency=1.5, price=0.25, parameters=7e9),
    Generator(SLASHED, paper="Slash et al., 2024", url="https://slash.example/a?b=c", latency=0.5, price=2.0),
    Generator("gull", latency=3.25, parameters=1.1e8, energy=0.125, training_tokens=2e12),
    Generator("heron", url="https://heron.example"),
    Generator("ibis"),
    Generator("late", description="came after the judgments"),
    Generator("climber", kind="optimised", optimised_by="chrF"),
)
#: How many of the machines people judged.
JUDGED = 5


def rich_board(instances: int = 12) -> Board:
    """Machines of falling quality with ties and gaps, two people, three annotators, columns that came along."""
    random = np.random.default_rng(51)
    tested, texts = [], []
    for k in range(instances):
        words = [str(word) for word in random.permutation(TEXT.split())[:8]]
        references = (Reference("Ada", f"{' '.join(words)} {SECRET}"), Reference("Ben", f"{SECRET} {' '.join(words)}"))
        tested.append(
            Instance(
                f"i/{k}" if k % 3 else f"No. {k}?",
                references=references,
                input=f"input {k}: when does\nthe *ferry* leave & <why>?",
                document=f"notice {k // 4}",
                domain=("sea", "land", None)[k % 3],
                tags=(("short",) if k % 2 else ("short", "with numbers"))[: k % 4],
            )
        )
        texts.append(words)
    judged = JudgmentColumns(("adequacy", "fluency", "defects"))
    rows, ones = [], tuple(tested)
    for g, generator in enumerate(MACHINES):
        written: list[str | None] = []
        for k, words in enumerate(texts):
            # The fourth machine writes what the third does, so that both share every rank.
            share = 0.12 * min(g, 2) if g in (2, 3) else 0.12 * g
            same = np.random.default_rng(1000 * min(g, 2) + k) if g in (2, 3) else random
            kept = [word for word in words if same.random() > share] or ["none"]
            written.append(None if generator.name == "ibis" and k % 5 == 4 else " ".join(kept))
            if g >= JUDGED or written[-1] is None:
                continue
            # Only the first two people judge all; the last one judges every third, and marks errors.
            value = float(np.clip(round(len(kept) * 5 / 8), 1, 5))
            details = {"spans": [{"start": 0, "end": 3, "severity": "major", "category": "accuracy"}]}
            judged.add(k, g, {"adequacy": value, "fluency": 3.0 + k % 3, "defects": float(g)}, annotator="ann")
            judged.add(k, g, {"adequacy": min(5.0, value + k % 2), "fluency": 4.0, "defects": 1.0}, annotator="bob")
            if k % 3 == 0:
                judged.add(k, g, {"adequacy": value, "fluency": 2.0, "defects": 9.0}, annotator="cleo", details=details)
        rows.append(row_of(generator, ones, tuple(written)))
    people = (Generator("Cleo", kind="human", description="writes by hand"), Generator("Dana", kind="human"))
    for p, person in enumerate(people):
        own = tuple(" ".join(reversed(words[p:])) + (" indeed" if p else "") for words in texts)
        rows.append(row_of(person, ones, own))
        for k in range(instances):
            for annotator in ("ann", "bob"):
                values = {"adequacy": 5.0 - (k == p), "fluency": 5.0 - p, "defects": 0.0}
                judged.add(k, len(MACHINES) + p, values, annotator=annotator)
    board = Board(
        name="bay",
        instances=ones,
        rows=tuple(rows),
        judgments=judged.build(),
        dimensions={
            "adequacy": Dimension("adequacy", range=(1, 5), definition="does it say what it should"),
            "fluency": Dimension("fluency", range=(1, 5), to_100=(20, 0)),
            "defects": Dimension("defects", range=(0, 25), higher_is_better=False),
        },
        aggregates={
            "overall": Aggregate("overall", ("adequacy", "fluency")),
            "strict": Aggregate("strict", ("adequacy", "fluency", "defects")),
        },
        ranks="overall",
        metrics=("chrF", "ROUGE-1", "TER", "length"),
        input_language="de",
        output_language="en",
        card=DataCard(
            title="Bay & pier",
            task="Translate notices of ferries.",
            source="https://bay.example/data",
            licence="CC-BY-4.0",
            citation="@misc{bay, title={Bay}, author={A and B}, year={2024}}",
            protocol="Each output is judged alone.",
            annotators="three sailors",
            comments="None of the ferries *is* real.",
        ),
        trust=TrustRules(barred={"ROUGE-1": "counts words alone"}),
    )
    return with_columns(board)


def with_columns(board: Board) -> Board:
    """The board with scores that came along: one by another name, one of errors with gaps, one that is often unlike."""
    random, count = np.random.default_rng(3), len(board.instances)
    machines = [row.name for row in board.rows if row.generator is not None and row.generator.kind == "machine"]
    quality: dict[str, Floats] = {
        name: np.round(0.9 - 0.07 * g + 0.05 * random.normal(size=count), 4) for g, name in enumerate(machines)
    }
    quality["late"] = np.where(np.arange(count) < count // 2, quality["late"], np.nan)
    places = np.arange(count, dtype=np.float64)
    errors: dict[str, Floats] = {name: -(places % 4.0) - g * 1.5 for g, name in enumerate(machines[:-1])}
    released: dict[str, Floats] = {name: np.round(40 + 5 * random.normal(size=count), 2) for name in machines}
    columns = (
        ImportedColumn(
            name="COMET", source_name="comet-22", signature="imported:comet-22", values=quality, needs_input=True
        ),
        ImportedColumn(
            name="errors", source_name="errors", signature="imported:errors", values=errors, higher_is_better=False
        ),
        ImportedColumn(
            name="chrF", source_name="chrF.refA", signature="imported:chrF", values=released, references=("Ada",)
        ),
    )
    return replace(board, imported=columns)


def bare_board() -> Board:
    """One machine, no judgments, no metrics, and a card that says nothing."""
    instances = tuple(Instance(f"{k}", input=f"input {k}") for k in range(3))
    rows = (row_of(Generator("only"), instances, ("one", None, "three")),)
    return Board(name="bare", instances=instances, rows=rows, card=DataCard())


def hiding_board() -> Board:
    """The small board of pages, under a name of its own."""
    return replace(page_board(10), name="cove", card=replace(page_board().card, title="Cove", licence="none"))


def long_board(machines: int = 101, instances: int = 2) -> Board:
    """So many machines that the table has a second page, and many of one score."""
    ones = tuple(Instance(f"i{k}", references=(Reference("Ada", TEXT),), input=f"input {k}") for k in range(instances))
    judged, rows = JudgmentColumns(("adequacy",)), []
    for g in range(machines):
        words = TEXT.split()[: 20 - g // 6]
        rows.append(row_of(Generator(f"m{g:03}"), ones, tuple(" ".join(words) for _ in ones)))
        for k in range(instances):
            judged.add(k, g, {"adequacy": float(5 - g // 25)}, annotator="ann")
    return Board(
        name="long",
        instances=ones,
        rows=tuple(rows),
        judgments=judged.build(),
        dimensions={"adequacy": Dimension("adequacy", range=(0, 5))},
        ranks="adequacy",
        metrics=("length",),
        output_language="en",
        card=DataCard(title="Long list", task="Repeat."),
    )


@dataclass
class ReadSite:
    """A site with everybody who may read it, and its application."""

    site: Site
    clock: Clock
    tokens: dict[str, str]
    client: TestClient
    #: What was sent in, by name.
    submissions: dict[str, Submission] = field(default_factory=dict)

    def get(self, path: str, asker: str = "visitor", **headers: str) -> Any:
        """An answer to a visitor, or to somebody with a token."""
        if asker != "visitor":
            headers["authorization"] = f"Bearer {self.tokens[asker]}"
        return self.client.get(path, headers={"accept": "text/html", **headers})

    def viewer(self, name: str) -> Viewer:
        found = access.viewer_of_token(self.site, self.tokens[name])
        assert found is not None
        return found

    def settle(self, board: str, **settings: Any) -> None:
        change_settings(self.site, self.viewer("owner"), board, settings)

    def send(self, asker: str, board: str, name: str, raw: bytes, **how: Any) -> None:
        """A generator's outputs, sent in, and a minute after it."""
        sent = submit_generator(self.site, self.viewer(asker), board, name, raw, **how).submission
        self.submissions[name] = sent
        self.clock.now += 60.0

    def work(self) -> None:
        """Do all that is to do, and let a day pass."""
        while (job := next_job(self.site, "worker")) is not None:
            run_job(self.site, job)
        self.clock.now += DAY


@contextmanager
def fixed_identities() -> Iterator[None]:
    """What is sent in gets the same identities in every run."""
    count = itertools.count()

    def next_identity() -> str:
        digest = hashlib.sha256(f"sent {next(count)}".encode()).digest()[:16]
        return base64.b32encode(digest).decode().rstrip("=").lower()

    with patch("billboards.site.submissions.records.new_id", next_identity):
        yield


def fix_seconds(site: Site) -> None:
    """Let every cell have taken a time that only its metric decides, as if nothing else ran on the machine."""
    with site.database.writing() as connection:
        for number, signature in connection.execute(select(score_columns.c.id, score_columns.c.signature)).all():
            seconds = 0.001 * len(signature)
            connection.execute(update(cells).where(cells.c.column_id == number).values(seconds=seconds))


def new_site(home: Path, *boards: Board, settings: str = "") -> ReadSite:
    """A site on these boards with an owner, two teams and an annotator; nothing is scored yet."""
    folders = [write_board(board, home / board.name) for board in boards]
    (home / "data").mkdir()
    (home / "data" / "site.toml").write_text(
        f"reads_per_minute = 1000000\nchanges_per_minute = 1000000\n{settings}", "utf-8"
    )
    clock = Clock(BEGIN)
    site = open_site(home / "data", boards=folders, login_required=True, clock=clock)
    tokens = {"owner": access.new_owner_token(site, "owner")}
    owner = access.viewer_of_token(site, tokens["owner"])
    assert owner is not None
    for name in ("team", "stranger"):
        account = access.add_account(site, owner, name, "submitter", team=f"team of {name}")
        tokens[name] = access.add_token(site, owner, "test", account_id=account.id)[1]
    account = access.add_account(site, owner, "annotator", "annotator")
    tokens["annotator"] = access.add_token(site, owner, "test", account_id=account.id)[1]
    client = TestClient(create_app(site), "http://localhost", raise_server_exceptions=False, follow_redirects=False)
    read = ReadSite(site, clock, tokens, client)
    for board in boards:
        read.settle(board.name, draws=50)
    return read


def outputs(board: Board, word: str) -> bytes:
    """Outputs as plain text, each with a word in it."""
    return "\n".join(f"{word} the ferry leaves {k}" for k in range(len(board.instances))).encode()


def sent_scores(board: Board) -> bytes:
    """Scores of every machine on every instance, as a table."""
    lines = ["generator\tinstance\tscore"]
    for g, row in enumerate(board.rows):
        if row.generator is not None and row.generator.kind == "machine":
            there = [(k, i) for k, i in enumerate(board.instances) if row.texts[k] is not None]
            lines += [f"{row.name}\t{i.id}\t{10 - g + k % 3}" for k, i in there]
    return ("\n".join(lines) + "\n").encode()


def read_site(home: Path) -> ReadSite:
    """The site with a history: rankings before and after what was sent in, and something that was stopped."""
    with fixed_identities():
        read = told_site(home)
    fix_seconds(read.site)
    return read


def told_site(home: Path) -> ReadSite:
    boards = (rich_board(), hiding_board(), bare_board(), compared_board("pairs", 9, seed=3), long_board())
    read = new_site(home, *boards, settings='title = "Harbours & boards"\nbase_url = "https://boards.example.org/"\n')
    rich, hiding = boards[0], boards[1]
    read.settle(
        "bay",
        open_programs=True,
        k=2,
        about={
            "title": "The bay, ranked",
            "description": "What the *bay* is for.\n\n- one\n- two <b>",
            "rules": "No tugs.",
            "faq": "Why? Because.",
            "contact": "harbour@bay.example",
            "timeline": [{"at": "2027-03-01T00:00Z", "words": "a workshop"}],
            "accent": "#1d4ed8",
        },
    )
    read.work()
    about = {
        "description": "a *boat*",
        "url": "https://boat.example",
        "paper": "https://boat.example/p",
        "latency": 0.75,
    }
    read.send("team", "bay", "boat", outputs(rich, "boat"), about=about)
    read.send("team", "bay", "veiled", outputs(rich, "veil"), anonymous=True)
    sent = sent_scores(rich)
    submit_scores(read.site, read.viewer("stranger"), "bay", "sonar", sent, higher_is_better=True, training_data="none")
    read.work()
    read.send("stranger", "bay", "gone", outputs(rich, "gone"), entry="contrastive")
    read.send("stranger", "cove", "diver", outputs(hiding, "dive"))
    read.work()
    withdraw(read.site, read.viewer("stranger"), read.submissions["gone"].id)
    read.settle("cove", hidden_references=True, hidden_judgments=True, ladder=True)
    read.work()
    read.send("team", "bay", "copycat", "\n".join(i.references[0].text for i in rich.instances).encode())
    read.work()
    read.send("team", "bay", "stopped", outputs(rich, "stop"))
    cancel(read.site, read.viewer("team"), read.submissions["stopped"].id)
    return read
