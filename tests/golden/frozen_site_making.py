"""The site that a version is frozen with, made as people make one: by the command line and over HTTP.

Three boards; an owner, a team and an annotator; generators and metrics that were scored, failed, were withdrawn or
stand under a pseudonym; a closed campaign whose judgments rank a board, with somebody excluded; a paid one that is half
done; a draft; the results of a suite. Addresses are then asked as everybody, and what was said is kept.
"""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from frozen_boards import SHARED_WORDS, SUITE, write_harbour, write_quiet, write_versus
from frozen_documents import differences, normalised
from frozen_runs import run_line
from frozen_site import Asker, asking, by_length, by_words, contrary, eventually, go_on, say, serving

SITE = """title = "A frozen coast"
reads_per_minute = 100000
changes_per_minute = 100000
poll_seconds = 0.1

[retention]
log_days = 36500
"""
MANIFEST = {"higher_is_better": True, "needs": ["references"], "training_data": "none"}
FAILING = "def score(outputs, references, inputs):\n    return [1 / len(output[:0]) for output in outputs]\n"

#: What a browser is shown.
PAGES = (
    "/", "/boards/harbour", "/boards/versus", "/boards/quiet", "/boards/harbour/card", "/boards/harbour/card.json",
    "/boards/harbour/card.md", "/boards/harbour/rankings", "/boards/harbour/ensembles",
    "/boards/harbour/generators/Fulmar", "/boards/harbour/metrics/shared-words", "/boards/harbour/instances",
    "/boards/harbour/instances/n01", "/boards/harbour/downloads", "/boards/harbour/badges/metric.svg",
    "/boards/quiet/campaigns", "/submissions", "/suites", "/suites/coast", "/suites/coast/results.json", "/templates",
)  # fmt: skip

#: What a site is asked on the command line; DATA is its folder.
LINES = (
    "campaign list --data DATA --json",
    "campaign status CLOSED --data DATA --json",
    "campaign results CLOSED --data DATA --json",
    "campaign results CLOSED --data DATA --csv",
    "campaign annotators CLOSED --data DATA --json",
    "campaign quote DRAFT --data DATA --json",
    "campaign status OPEN --data DATA --json",
    "campaign results OPEN --data DATA --json",
    "forget DATA team --json",
    "tidy DATA --json",
)


def make_site(target: Path, workspace: Path) -> None:
    """Make the site, and keep its data folder, a backup, and all it says."""
    with TemporaryDirectory() as scratch:
        data = Path(scratch) / "data"
        _write_folder(data, workspace)
        tokens: dict[str, Any] = {"owner": _command("serve", str(data), "--token", "olga").strip()}
        with serving(data, workers=1) as address:
            plan = _live(address, tokens)
        target.mkdir(parents=True)
        _command("backup", str(data), str(target / "backup.tar.gz"))
        _zip(data, target / "data.zip")
        kept = {"tokens": tokens, "plan": plan, "documents": _documents(data, tokens, plan)}
    # From here on the folder lies elsewhere, as it will for whoever opens it.
    kept["commands"] = _runs(target / "data.zip", plan)
    kept["went_on"] = _went_on_twice(target / "data.zip", tokens, plan)
    text = json.dumps(kept, ensure_ascii=False, separators=(",", ":"))
    (target / "site.json.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


def unpacked(archive: Path, folder: Path) -> Path:
    """The data folder in an archive."""
    with zipfile.ZipFile(archive) as files:
        files.extractall(folder)
    return folder / "data"


def _write_folder(data: Path, workspace: Path) -> None:
    write_harbour(data / "boards" / "harbour")
    write_versus(data / "boards" / "versus")
    write_quiet(data / "boards" / "quiet")
    (data / "site.toml").write_text(SITE, "utf-8")
    (data / "suites").mkdir()
    (data / "suites" / "coast.toml").write_text(SUITE.replace('folder = "', 'folder = "../boards/'), "utf-8")
    shutil.copy(workspace / "suite.results.json", data / "suites" / "coast.results.json")


def _live(address: str, tokens: dict[str, Any]) -> dict[str, Any]:
    """What happens on the site until it is frozen; returns what goes on from there."""
    with asking(address, tokens) as askers:
        owner = askers["owner"]
        for board, settings in (("harbour", {"k": 2, "draws": 200}), ("versus", {"draws": 200}), ("quiet", {})):
            owner.send("PATCH", f"/boards/{board}/settings", json=settings)
            _wait_for_ranking(owner, board)
        for name, role, team in (("team", "submitter", "Terns"), ("ann", "annotator", None)):
            sent = {"name": name, "role": role, "team": team, "email": f"{name}@example.org"}
            made = owner.send("POST", "/accounts", json=sent)
            tokens[name] = owner.send("POST", f"/accounts/{made['id']}/tokens", json={"label": "frozen"})["token"]
    with asking(address, tokens) as askers:
        _submit(askers)
        plan = _hold_campaigns(askers)
        _wait_until_still(askers["owner"])
        return plan


def _wait_for_ranking(owner: Asker, board: str) -> None:
    eventually(lambda: owner.get(f"/boards/{board}/ranking").status_code, lambda code: bool(code == 200))


def _submit(askers: Mapping[str, Asker]) -> None:
    """Generators and metrics from a team and the owner, one after the other."""
    team, owner = askers["team"], askers["owner"]
    for name, version, options in (
        ("Fulmar", 0, {"description": "First version", "url": "https://example.org/fulmar"}),
        ("Fulmar", 1, {"description": "Second version", "paper": "https://example.org/paper"}),
        ("Guillemot", 2, {"anonymous": "true"}),
        ("Kittiwake", 3, {"human": "true"}),
        ("Puffin", 4, {}),
    ):
        files = {"file": (f"{name}.jsonl", _outputs(owner, version).encode())}
        sent = team.send("POST", "/boards/harbour/generators", data={"name": name, **options}, files=files)
        ended = team.wait_for(sent["id"])
        if ended["state"] != "scored":
            raise AssertionError(ended)
    team.send("POST", f"/submissions/{sent['id']}/withdraw")
    for name, text, asker, options in (
        ("shared-words", SHARED_WORDS, owner, {"trusted": "true", "description": "Words in common"}),
        ("failing", FAILING, owner, {"trusted": "true"}),
    ):
        files = {"file": (f"{name}.py", text.encode())}
        manifest = {"name": name, "manifest": json.dumps(MANIFEST), **options}
        ended = asker.wait_for(asker.send("POST", "/boards/harbour/metrics", data=manifest, files=files)["id"])
        if (ended["state"] == "scored") != (name == "shared-words"):
            raise AssertionError(ended)


def _outputs(owner: Asker, version: int) -> str:
    """A generator's file: the first reference of every instance, with some words left out."""
    lines = []
    for k, instance in enumerate(owner.document("/boards/harbour/instances?limit=1000")["items"]):
        words = instance["references"][version % 3]["text"].split()
        kept = [word for place, word in enumerate(words) if (place + k) % (4 + version)]
        lines.append(json.dumps({"instance": instance["id"], "text": " ".join(kept)}) + "\n")
    return "".join(lines)


def _hold_campaigns(askers: Mapping[str, Asker]) -> dict[str, Any]:
    """One campaign is closed, with somebody excluded; one is half answered; one is a draft."""
    owner, visitor = askers["owner"], askers["visitor"]
    plan = {"instances": 8, "labels": 2, "positive": 0.1, "negative": 0.1, "seed": 4}
    closed = owner.send(
        "POST", "/boards/quiet/campaigns", json={"name": "first", "template": "genie-translation", "plan": plan}
    )
    links = owner.send("POST", f"/campaigns/{closed['id']}/annotators", json={"names": ["Una", "Vic", "Wen"]})
    owner.send("POST", f"/campaigns/{closed['id']}/open", json={})
    visitor.answer_all(links[2]["token"], contrary, most=12)
    owner.send(
        "POST",
        f"/campaigns/{closed['id']}/annotators/{links[2]['annotator']}/exclude",
        json={"reason": "answered the contrary"},
    )
    for link in links[:2]:
        visitor.answer_all(link["token"], by_words)
    owner.send("POST", f"/campaigns/{closed['id']}/close", json={"reason": "all is answered"})
    eventually(
        lambda: owner.document("/boards/quiet/ranking"), lambda one: one["ranking"]["aggregate"] == "genie-translation"
    )
    plan = {"instances": 10, "pay": 0.2, "fee": 0.1, "budget": 90.0, "seconds_per_item": 30.0, "seed": 5}
    running = owner.send(
        "POST", "/boards/versus/campaigns", json={"name": "second", "template": "pairwise", "plan": plan}
    )
    links = owner.send("POST", f"/campaigns/{running['id']}/annotators", json={"names": ["Xan", "Yan"]})
    owner.send("POST", f"/campaigns/{running['id']}/open", json={"confirm": True})
    visitor.answer_all(links[0]["token"], by_length, most=7)
    draft = owner.send(
        "POST",
        "/boards/harbour/campaigns",
        json={"name": "third", "template": "direct-assessment", "generators": ["Atlas", "Brisk"], "rolling": True},
    )
    return {
        "closed": closed["id"],
        "campaign": running["id"],
        "draft": draft["id"],
        "links": [link["token"] for link in links],
        "outputs": _outputs(owner, 5),
    }


def _wait_until_still(owner: Asker) -> None:
    """Until nothing has changed for two seconds."""
    last: tuple[Any, float] = (None, time.monotonic())

    def is_still(now: Any) -> bool:
        nonlocal last
        if now != last[0]:
            last = (now, time.monotonic())
        return time.monotonic() - last[1] > 2

    boards = ("harbour", "versus", "quiet")
    eventually(lambda: [owner.document(f"/boards/{board}/rankings") for board in boards], is_still)


def _documents(data: Path, tokens: Mapping[str, str], plan: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What everybody is told at every address, with nobody at work."""
    with serving(data, workers=0) as address, asking(address, tokens) as askers:
        told = []
        for who, path in _addresses(askers["owner"], plan):
            told.append({"asker": who, **say(askers[who], path)})
        return told


def _addresses(owner: Asker, plan: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    everybody = ("owner", "team", "visitor")
    for who in everybody:
        yield from (
            (who, path) for path in ("/boards", "/submissions?limit=100", "/account", "/accounts", "/templates")
        )
        for board in ("harbour", "versus", "quiet"):
            for word in ("", "/generators", "/metrics", "/ranking", "/rankings", "/ensembles", "/campaigns"):
                if who == "owner" or word not in ("/metrics", "/ensembles", "/ranking"):
                    yield who, f"/boards/{board}{word}"
        yield who, f"/campaigns/{plan['campaign']}"
    for board in ("harbour", "versus", "quiet"):
        for word in ("ranking", "ranking/generators", "history/metric", "history/generator"):
            yield "visitor", f"/boards/{board}/{word}"
        yield "owner", f"/boards/{board}/audit"
        yield "visitor", f"/boards/{board}/instances?limit=3"
        yield "visitor", f"/boards/{board}/judgments?limit=5"
        first, *_ = owner.document(f"/boards/{board}/rankings?limit=100")["items"][::-1]
        yield "owner", f"/boards/{board}/rankings/{first['id']}"
    for generator in ("Fulmar", "Mara"):
        yield "visitor", f"/boards/harbour/generators/{generator}/outputs?limit=4"
    for metric in ("chrF", "shared-words", "CIDEr-D", "QE"):
        yield "visitor", f"/boards/harbour/metrics/{metric}/scores?limit=100"
    for submission in owner.document("/submissions?limit=100")["items"]:
        yield "team", f"/submissions/{submission['id']}"
        yield "owner", f"/submissions/{submission['id']}/log"
    for campaign in (plan["closed"], plan["campaign"], plan["draft"]):
        for word in ("", "/quote", "/annotators", "/results", "/results?with_excluded=true", "/answers?limit=1000"):
            yield "owner", f"/campaigns/{campaign}{word}"
    yield "owner", f"/campaigns/{plan['campaign']}/answers?history=true&limit=1000"
    yield "visitor", f"/annotate/{plan['links'][0]}"
    for who in ("owner", "visitor"):
        for page in PAGES:
            yield who, f"/pages:{page}"


def _runs(archive: Path, plan: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What the command line says of the site."""
    words = {"DATA": "data", "CLOSED": plan["closed"], "OPEN": plan["campaign"], "DRAFT": plan["draft"]}
    runs = []
    for line in LINES:
        with TemporaryDirectory() as folder:
            unpacked(archive, Path(folder))
            runs.append(run_line([words.get(word, word) for word in line.split()], Path(folder)))
    return runs


def _went_on_twice(archive: Path, tokens: Mapping[str, str], plan: Mapping[str, Any]) -> dict[str, Any]:
    """What comes of the site when it goes on, the same in two copies."""
    ends = []
    for _ in range(2):
        with TemporaryDirectory() as folder:
            data = unpacked(archive, Path(folder))
            with serving(data, workers=1) as address, asking(address, tokens) as askers:
                ends.append(dict(normalised(go_on(askers, plan))))
    unlike = list(differences(ends[0], ends[1]))
    if unlike:
        raise SystemExit(f"the site goes on in two ways: {unlike[:10]}")
    return ends[0]


def _zip(data: Path, target: Path) -> None:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as files:
        for path in sorted(data.rglob("*")):
            if path.is_file():
                files.write(path, f"data/{path.relative_to(data).as_posix()}")


def _command(*argv: str) -> str:
    command = [sys.executable, "-m", "billboards", *argv]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout
