"""A site on a small board with odd names and secret words, and its pages asked without a network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from fastapi.testclient import TestClient

from billboards.board import Aggregate, Board, DataCard, Dimension, Generator, Instance, Reference, row_of
from billboards.board.judgments import JudgmentColumns
from billboards.board.writing import write_board
from billboards.site.accounts import access
from billboards.site.accounts.access import Viewer
from billboards.site.site import Site, open_site
from billboards.site.submissions.records import Submission
from billboards.site.submissions.sending import change_settings, submit_generator
from billboards.site.web.app import create_app
from billboards.site.work.jobs import run_job
from billboards.site.work.worklist import next_job

#: Names that break a page which forgets to escape, and an address which forgets to quote.
ODD, SLASHED = '<b>"A&B"</b>', "a/b c?d#e%f"
#: Words that stand in references only, so that a page that holds one has told a secret.
SECRET = "zyxwvut"
TEXT = "the ferry leaves at noon from pier two and calls at every island on its way back to the old harbour"


def page_board(instances: int = 8) -> Board:
    """Three machines of falling quality and a person, judged by one annotator; the last machine is judged by nobody."""
    random = np.random.default_rng(5)
    tested, texts = [], []
    for k in range(instances):
        words = [str(word) for word in random.permutation(TEXT.split())[:8]]
        references = (Reference("Ada", f"{' '.join(words)} {SECRET}"), Reference("Ben", f"{SECRET} {' '.join(words)}"))
        tested.append(Instance(f"i/{k}", references=references, input=f"input {k}", domain="sea" if k % 2 else "land"))
        texts.append(words)
    names = (ODD, SLASHED, "late")
    judged, rows = JudgmentColumns(("adequacy",)), []
    for g, name in enumerate(names):
        kept = [[word for word in words if random.random() > 0.15 * g] for words in texts]
        rows.append(row_of(Generator(name), tuple(tested), tuple(" ".join(words) or "none" for words in kept)))
        for k, words in enumerate(kept if name != "late" else []):
            judged.add(k, g, {"adequacy": float(np.clip(round(len(words) * 5 / 8), 1, 5))}, annotator="ann")
    human = tuple(f"{' '.join(reversed(words))} indeed" for words in texts)
    rows.append(row_of(Generator("Cleo", kind="human", description="writes by hand"), tuple(tested), human))
    for k in range(instances):
        judged.add(k, len(names), {"adequacy": 5.0 if k else 4.0}, annotator="ann")
    return Board(
        name="harbour",
        instances=tuple(tested),
        rows=tuple(rows),
        judgments=judged.build(),
        dimensions={"adequacy": Dimension("adequacy", range=(1, 5))},
        aggregates={"overall": Aggregate("overall", ("adequacy",))},
        ranks="overall",
        metrics=("chrF", "ROUGE-1", "length"),
        output_language="en",
        card=DataCard(title="Harbour & pier", task="Say when it leaves."),
    )


@dataclass
class PageSite:
    """A site with an owner, a team and its application."""

    site: Site
    board: Board
    owner: Viewer
    tokens: Mapping[str, str]
    client: TestClient = field(init=False)

    def __post_init__(self) -> None:
        self.client = TestClient(
            create_app(self.site), "http://localhost", raise_server_exceptions=False, follow_redirects=False
        )

    def get(self, path: str, asker: str | None = None, **headers: str) -> Any:
        """A page, as a visitor or as somebody with a token."""
        if asker is not None:
            headers["authorization"] = f"Bearer {self.tokens[asker]}"
        return self.client.get(path, headers={"accept": "text/html", **headers})

    def post(self, path: str, asker: str | None = None, headers: Mapping[str, str] | None = None, **sent: Any) -> Any:
        """A form, sent."""
        given = {"accept": "text/html", **(headers or {})}
        if asker is not None:
            given["authorization"] = f"Bearer {self.tokens[asker]}"
        return self.client.post(path, headers=given, **sent)

    def viewer(self, name: str) -> Viewer:
        found = access.viewer_of_token(self.site, self.tokens[name])
        assert found is not None
        return found

    def outputs(self, word: str = "boat") -> bytes:
        """A generator's outputs as plain text, each with this word in it."""
        return "\n".join(f"{word} {i.input}" for i in self.board.instances).encode()

    def submit(self, name: str, *, asker: str = "team", word: str = "boat", **how: Any) -> Submission:
        raw = self.outputs(word)
        return submit_generator(self.site, self.viewer(asker), self.board.name, name, raw, **how).submission

    def settle(self, **settings: Any) -> None:
        """Change the board's settings, as its owner."""
        change_settings(self.site, self.owner, self.board.name, settings)

    def work(self) -> None:
        """Do all that is to do."""
        while (job := next_job(self.site, "worker")) is not None:
            run_job(self.site, job)


def page_site(home: Path, *, board: Board | None = None, login_required: bool = True) -> PageSite:
    """A fresh site under a folder; it is scored and ranked as soon as somebody works."""
    board = board or page_board()
    folder = write_board(board, home / board.name)
    (home / "data").mkdir()
    (home / "data" / "site.toml").write_text("reads_per_minute = 1000000\nchanges_per_minute = 1000000\n")
    site = open_site(home / "data", boards=[folder], login_required=login_required)
    owner = access.viewer_of_token(site, token := access.new_owner_token(site, "owner"))
    assert owner is not None
    tokens = {"owner": token}
    for name in ("team", "stranger"):
        account = access.add_account(site, owner, name, "submitter", team=f"team of {name}")
        tokens[name] = access.add_token(site, owner, "test", account_id=account.id)[1]
    change_settings(site, owner, board.name, {"draws": 50})
    return PageSite(site, board, owner, tokens)
