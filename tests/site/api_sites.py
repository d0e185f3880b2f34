"""A site on a small board with one account of every role, and its interface asked without a network."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from fastapi.testclient import TestClient
from small_boards import small_board

from billboards.board.writing import write_board
from billboards.site.accounts import access
from billboards.site.accounts.access import Viewer
from billboards.site.site import Site, open_site
from billboards.site.web.app import create_app
from billboards.site.work.jobs import run_job
from billboards.site.work.worklist import next_job

#: Who asks, by the word tests use for them: two teams, so that one can try to reach what is the other's.
ASKERS = ("visitor", "annotator", "stranger", "team", "owner")


@dataclass
class SmallSite:
    """A site that wants a log-in, its application, and a token for everybody."""

    site: Site
    tokens: Mapping[str, str]
    client: TestClient = field(init=False)

    def __post_init__(self) -> None:
        self.client = TestClient(create_app(self.site), raise_server_exceptions=False)

    def ask(self, asker: str, method: str, path: str, **sent: Any) -> Any:
        """An answer, as somebody."""
        headers = dict(sent.pop("headers", {}))
        if asker != "visitor":
            headers["authorization"] = f"Bearer {self.tokens[asker]}"
        address = path if path.startswith(("/api", "/login")) else f"/api/v1{path}"
        return self.client.request(method, address, headers=headers, **sent)

    def outputs(self, *, word: str = "") -> bytes:
        """A generator's file for the board: its first reference, with a word before it."""
        board = small_board()
        lines = [{"instance": i.id, "text": f"{word} {i.references[1].text}".strip()} for i in board.instances]
        return "".join(json.dumps(line) + "\n" for line in lines).encode()

    def submit(self, asker: str = "team", name: str = "mine", **said: Any) -> Any:
        """A generator, sent in."""
        files = {"file": ("outputs.jsonl", said.pop("raw", None) or self.outputs())}
        return self.ask(asker, "POST", "/boards/small/generators", data={"name": name, **said}, files=files)

    def work(self) -> None:
        """Do all that is to do."""
        while (job := next_job(self.site, "worker")) is not None:
            run_job(self.site, job)


def small_site(home: Path) -> SmallSite:
    """A fresh site under a folder, with nothing submitted and nothing scored."""
    board = replace(small_board(), metrics=("BLEU", "length"))
    folder = write_board(board, home / "small")
    (home / "data").mkdir()
    (home / "data" / "site.toml").write_text("reads_per_minute = 1000000\nchanges_per_minute = 1000000\n")
    site = open_site(home / "data", boards=[folder], login_required=True)
    owner = access.new_owner_token(site, "owner")
    viewer = access.viewer_of_token(site, owner)
    assert viewer is not None
    return SmallSite(site, {"owner": owner, **tokens_for(site, viewer)})


def tokens_for(site: Site, owner: Viewer) -> dict[str, str]:
    """A token for everybody but the owner and visitors."""
    roles = {"annotator": "annotator", "stranger": "submitter", "team": "submitter"}
    found = {}
    for name, role in roles.items():
        account = access.add_account(site, owner, name, "annotator" if role == "annotator" else "submitter")
        found[name] = access.add_token(site, owner, "test", account_id=account.id)[1]
    return found
