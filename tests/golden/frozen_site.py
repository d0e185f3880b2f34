"""A site served by the command line on this machine, asked over HTTP as its owner, a team, or a visitor.

Everything here works on a data folder that any version made. What a site says of itself is a list of addresses and
their documents; times in them were kept with the data, so they stay. `go_on` does on such a site what people do next: a
generator comes in, annotators finish a campaign, and the board is ranked anew.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from frozen_documents import normalised
from frozen_runs import ENVIRONMENT

#: States in which a submission stays.
OVER = ("scored", "rejected", "failed", "cancelled", "withdrawn")
PATIENCE = 120.0


class Asker:
    """Somebody who asks a site."""

    def __init__(self, address: str, token: str | None) -> None:
        headers = {"authorization": f"Bearer {token}"} if token else {}
        self._http = httpx.Client(base_url=f"{address}/api/v1", headers=headers, trust_env=False, timeout=60)
        self._pages = httpx.Client(base_url=address, headers=headers, trust_env=False, timeout=60)

    def close(self) -> None:
        self._http.close()
        self._pages.close()

    def page(self, path: str) -> httpx.Response:
        """Something that is not under /api."""
        return self._pages.get(path.removeprefix("/pages:"))

    def get(self, path: str) -> httpx.Response:
        return self._http.get(path)

    def document(self, path: str) -> Any:
        """A document that must be there."""
        return self._http.get(path).raise_for_status().json()

    def send(self, method: str, path: str, **sent: Any) -> Any:
        """Change something, which must be allowed."""
        answer = self._http.request(method, path, **sent)
        if answer.status_code >= 300:
            raise AssertionError(f"{method} {path}: {answer.status_code} {answer.text}")
        return answer.json() if answer.content else None

    def wait_for(self, submission: str) -> Any:
        """A submission once it is over."""
        return eventually(lambda: self.document(f"/submissions/{submission}"), lambda one: one["state"] in OVER)

    def answer_all(self, link: str, judge: Callable[[str, Mapping[str, Any]], Any], most: int = 500) -> int:
        """Answer by an annotator's link until nothing is left; how many were answered."""
        for k in range(most):
            turn = self.send("POST", f"/annotate/{link}/next")
            item = turn["item"]
            if item is None:
                return k
            answers = {name: judge(name, item) for name in item["asked"]}
            sent = {"assignment": item["assignment"], "answer_id": f"{link[:8]}-{time.time_ns()}", "answers": answers}
            last = item["stage"] == item["stages"] - 1
            self.send("POST", f"/annotate/{link}/{'submit' if last else 'save'}", json={**sent, "seconds": 9.0})
        return most


@contextmanager
def serving(data: Path, *, workers: int) -> Iterator[str]:
    """The address of a site for as long as it is served."""
    log = data.parent / f"{data.name}.log"
    command = [sys.executable, "-m", "billboards", "serve", str(data), "--port", "0", "--workers", str(workers)]
    with log.open("w") as notes:
        server = subprocess.Popen(command, stderr=notes, stdout=notes, env=os.environ | ENVIRONMENT)
    try:

        def address() -> str:
            if server.poll() is not None:
                raise AssertionError(f"the site ended: {log.read_text()}")
            found = re.search(r"http://127\.0\.0\.1:\d+", log.read_text())
            return found[0] if found else ""

        where = eventually(address, bool)
        eventually(lambda: _is_healthy(where), bool)
        yield where
    finally:
        server.terminate()
        server.wait(60)


def eventually(ask: Callable[[], Any], is_right: Callable[[Any], bool]) -> Any:
    """An answer, once it is as it should be."""
    deadline = time.monotonic() + PATIENCE
    while not is_right(answer := ask()):
        if time.monotonic() > deadline:
            raise AssertionError(f"it never came; at last it was {str(answer)[:1000]}")
        time.sleep(0.05)
    return answer


def _is_healthy(address: str) -> bool:
    try:
        return httpx.get(f"{address}/health", trust_env=False, timeout=10).status_code == 200
    except httpx.HTTPError:
        return False


@contextmanager
def asking(address: str, tokens: Mapping[str, str | None]) -> Iterator[dict[str, Asker]]:
    """Everybody who has a token, by name, and a visitor."""
    askers = {name: Asker(address, token) for name, token in {**tokens, "visitor": None}.items()}
    try:
        yield askers
    finally:
        for one in askers.values():
            one.close()


def say(asker: Asker, path: str) -> dict[str, Any]:
    """What a site answers at an address, made comparable; of a page, only that it is there."""
    answer = asker.page(path) if path.startswith("/pages:") else asker.get(path)
    is_json = answer.headers.get("content-type", "").startswith("application/json")
    said = unmoved(normalised(answer.json(), times=True)) if is_json and answer.status_code == 200 else None
    return {"path": path, "status": answer.status_code, "document": said}


def unmoved(value: Any) -> Any:
    """A document without what follows from a data folder's new place: the trail says so, and boards are read again."""
    if isinstance(value, list):
        moved = ("board.moved",)
        return [unmoved(item) for item in value if not (isinstance(item, dict) and item.get("action") in moved)]
    if isinstance(value, dict):
        return {key: unmoved(item) for key, item in value.items() if key != "generation"}
    return value


def by_words(name: str, item: Mapping[str, Any]) -> int:
    """An honest answer on five levels: the share of the reference's words that the output has, half of it for free."""
    wanted = set(item["references"][0].split())
    share = len(wanted & set(item["outputs"][0].split())) / len(wanted)
    return sum(share >= level for level in (0.3, 0.75, 0.85, 0.95))


def by_length(name: str, item: Mapping[str, Any]) -> int:
    """A preference between two outputs on five levels: the one that says more, clearly so if by twenty characters."""
    gap = len(item["outputs"][0]) - len(item["outputs"][1])
    return 2 if gap == 0 else (0 if gap > 20 else 1) if gap > 0 else (4 if gap < -20 else 3)


def contrary(name: str, item: Mapping[str, Any]) -> int:
    """The opposite of an honest answer."""
    return 4 - by_words(name, item)


def go_on(askers: Mapping[str, Asker], plan: Mapping[str, Any]) -> dict[str, Any]:
    """Send a generator in, finish and close a campaign, and say what came of both."""
    team, owner = askers["team"], askers["owner"]
    before = owner.document("/boards/harbour/rankings?limit=100")["items"]
    sent = team.send(
        "POST",
        "/boards/harbour/generators",
        data={"name": "Latecomer", "description": "Came later"},
        files={"file": ("late.jsonl", plan["outputs"].encode())},
    )
    scored = team.wait_for(sent["id"])
    ranking = eventually(
        lambda: owner.document("/boards/harbour/ranking"),
        lambda one: any(g["name"] == "Latecomer" for g in one["ranking"]["generators"]),
    )
    after = owner.document("/boards/harbour/rankings?limit=100")["items"]
    for link in plan["links"]:
        askers["visitor"].answer_all(link, by_length)
    campaign = plan["campaign"]
    closed = owner.send("POST", f"/campaigns/{campaign}/close", json={"reason": "enough"})
    judged = eventually(
        lambda: owner.document("/boards/versus/ranking"), lambda one: one["ranking"]["aggregate"] == "pairwise"
    )
    status = owner.document(f"/campaigns/{campaign}")
    return {
        "submission": {word: scored[word] for word in ("board", "kind", "name", "state", "reason")},
        "ranking": ranking["ranking"],
        "kept": [one["id"] for one in before],
        "kept_still": [one["id"] for one in after if one["number"] <= before[0]["number"]],
        "scores": {
            metric: owner.document(f"/boards/harbour/metrics/{metric}/scores?limit=100")
            for metric in ("chrF", "shared-words")
        },
        "campaign": {word: status[word] for word in ("wanted", "done", "generators")} | {"state": closed["state"]},
        "results": owner.document(f"/campaigns/{campaign}/results")["estimates"],
        "judged": _without_version(judged["ranking"]),
    }


def _without_version(value: Any) -> Any:
    """A ranking without the board's digest, which has the times of answers in it."""
    if not isinstance(value, dict):
        return value
    return {key: _without_version(item) for key, item in value.items() if key != "board_version"}
