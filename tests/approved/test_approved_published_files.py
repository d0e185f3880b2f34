"""What a site becomes as files: their names, where their links lead, what takes the place of a server."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from approving import approve
from page_sites import page_board
from read_sites import BEGIN, ReadSite, fixed_identities, new_site
from told_pages import compact, main_lines, page_lines, steadied, steady, told, unlike, without

from billboards.board import DataCard
from billboards.board.writing import write_board
from billboards.errors import BillboardsError
from billboards.site.database import trail
from billboards.site.publishing.publications import find_old, remove_old
from billboards.site.publishing.repositories import write_repository
from billboards.site.publishing.repository import leaderboard
from billboards.site.publishing.source import momentary_site
from billboards.site.publishing.walking import choose, write_site
from billboards.site.web.app import create_app


class _Leads(HTMLParser):
    """Where a page leads, and what its scripts read."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.leads: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        wanted = ("href", "src", "srcset", "action", "data-chart", "data-files", "data-board")
        self.leads += [f"{value}" for name, value in attrs if name in wanted or name.startswith("data-of")]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small board as files; whoever publishes says where others hand something in."""
    home = tmp_path_factory.mktemp("files")
    board = replace(page_board(4), card=replace(page_board().card, licence="none"))
    folder = write_board(board, home / "harbour")
    told_steps: list[str] = []
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("SOURCE_DATE_EPOCH", str(int(BEGIN)))
        about: dict[str, Any] = {"title": "Files", "base_url": "https://files.example.org/x", "drafts": True}
        about |= {"submit_to": "https://files.example.org/hand-in", "settings": {"draws": 20}}
        with momentary_site([folder], tell=told_steps.append, **about) as site:
            outcome = write_site(site, home / "out", pairs=1, most_instances=2, analyses=False)
    steps = {"steps": told_steps, "pages": outcome.pages, "instances": outcome.instances, "refused": outcome.refused}
    (home / "outcome.json").write_text(json.dumps(steps))
    return home / "out"


def named_files(folder: Path) -> list[Path]:
    """The files of a folder, but for Parquet, which not every machine writes."""
    return [path for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix != ".parquet"]


def test_the_files_of_a_site_are_as_approved(files: Path) -> None:
    names = [steady(path.relative_to(files).as_posix()) for path in named_files(files)]
    leads = {
        steady(path.relative_to(files).as_posix()): json.dumps(
            list(dict.fromkeys(map(steady, _Leads(path.read_text("utf-8")).leads))), ensure_ascii=False
        )
        for path in named_files(files)
        if path.suffix == ".html"
        and not any(word in path.name for word in ("-sort-", "-generator-", "-order-", "a-b-c", "late"))
    }
    outcome = json.loads((files.parent / "outcome.json").read_text())
    sitemap = [steady(line) for line in (files / "sitemap.xml").read_text().splitlines()]
    told_files = {re.sub(r"-[0-9a-f]{8}\b", "-DIGEST", name) for name in names}
    approve(
        "published/files", {"outcome": outcome, "files": sorted(told_files), "leads": leads, "sitemap": sitemap[:12]}
    )


#: Pages that are told whole: what a server does elsewhere is done otherwise on them.
WHOLE = ("index", "boards/harbour/submit", "boards/harbour/index", "boards/harbour/compare", "boards/harbour/instances")


def test_what_stands_in_files_is_as_approved(files: Path) -> None:
    said: dict[str, Any] = {name: page_lines((files / f"{name}.html").read_text("utf-8")) for name in WHOLE}
    table = said["boards/harbour/index"]
    said["boards/harbour/index"] = [
        line for line in table if re.search(r"<form|<script|<button|data-|<picture|submit", line)
    ]
    said["advice"] = main_lines((files / "advice.html").read_text("utf-8"))
    said["sorted"] = unlike(table, page_lines((files / "boards/harbour/index-sort-people.html").read_text("utf-8")))
    for path in named_files(files / "boards" / "harbour" / "data"):
        said[path.name] = steady(path.read_text("utf-8")).splitlines()
    for name in ("correlations.csv", "overrating.csv"):
        said[name] = steady((files / "boards/harbour/charts" / name).read_text("utf-8")).splitlines()
    approve("published/contents", said)


def refusals(home: Path) -> Iterator[tuple[str, str]]:
    """What keeps a folder from being published, and what is said then."""
    board = write_board(replace(page_board(4), card=DataCard()), home / "draft")
    ready = write_board(page_board(4), home / "other" / "harbour")
    for name, folders, options in (
        ("a draft", [board], {}),
        ("two of one name", [board, ready], {"drafts": True}),
        ("no board", [home], {}),
        ("a wrong setting", [board], {"drafts": True, "settings": {"draws": -1}}),
        ("an unknown suite", [board], {"drafts": True, "suites": [home / "none.toml"]}),
    ):
        try:
            with momentary_site(folders, **options):
                yield name, "is written"
        except BillboardsError as error:
            yield name, f"{type(error).__name__}: {error}"


def test_what_can_not_be_published_says_why(tmp_path: Path) -> None:
    approve("published/refusals", dict(refusals(tmp_path)), folder=tmp_path)


@pytest.fixture
def running(tmp_path: Path) -> ReadSite:
    with fixed_identities():
        read = new_site(tmp_path, replace(page_board(2), metrics=()))
        read.work()
    return read


def test_files_of_a_running_site_are_asked_for_and_thrown_away_as_approved(running: ReadSite) -> None:
    api, page = "/api/v1/boards/harbour/files", "/boards/harbour/organise/files"
    said: dict[str, Any] = {}

    def note(step: str, path: str = api, asker: str = "owner", method: str = "GET", **sent: Any) -> None:
        headers = {"accept": "text/html"}
        if asker != "visitor":
            headers["authorization"] = f"Bearer {running.tokens[asker]}"
        answer = running.client.request(method, path, headers=headers, **sent)
        content = told(answer)
        if "zip" in answer.headers.get("content-type", ""):
            content["content"] = len(content["content"])
        said[step] = compact(without(content, ("size", "seconds", "done", "total")))

    for asker in ("visitor", "team", "owner"):
        note(f"nothing asked, {asker}", asker=asker)
        note(f"page, {asker}", page, asker)
        note(f"no archive, {asker}", f"{api}/archive", asker)
    note("asked by PUT", method="PUT", json={})
    mistakes: tuple[Any, ...] = (
        {"instances": "some"},
        {"instances": -1},
        {"pairs": -1, "odd": 1},
        {"base_url": "x"},
        [],
    )
    for wrong in mistakes:
        note(f"asked wrongly {wrong}", method="POST", json=wrong)
    wanted = {"instances": "none", "pairs": 0, "parts": False, "analyses": False}
    for fields in ({"instances": "none"}, {"act": "odd"}, {"act": "publish", "pairs": "x", "base_url": "y"}):
        note(f"form, wrong {fields}", page, method="POST", data=fields)
    note("asked", method="POST", json=wanted)
    note("waiting")
    note("page, waiting", page)
    note("archive, waiting", f"{api}/archive")
    running.work()
    note("written")
    note("page, written", page)
    note("archive", f"{api}/archive")
    note("archive of the page", f"{page}/archive")
    said["old"] = [sorted(find_old(running.site, running.clock.now - 8 * 86_400.0))]
    said["old"].append(remove_old(running.site, "harbour", running.clock.now - 8 * 86_400.0))
    running.clock.now += 8 * 86_400.0
    note("after a week")
    said["older"] = sorted(find_old(running.site, running.clock.now))
    said["removed"] = remove_old(running.site, "harbour", running.clock.now)
    note("removed")
    note("discarded", method="DELETE")
    with running.site.database.reading() as connection:
        entries = trail.entries(connection, board="harbour", limit=50)
        said["trail"] = [[e.action, e.actor, sorted(e.detail)] for e in entries if e.action.startswith("files")]
    approve("published/asked", said)


def test_what_of_a_board_becomes_files_is_chosen_as_approved(tmp_path: Path) -> None:
    read = new_site(tmp_path, page_board(4))
    read.work()
    pages = create_app(read.site).state.pages
    said: dict[str, Any] = {}
    for wanted in ("all", "judged", "none", "0", "1", "3", "9"):
        for most in (None, 0, 2):
            choice, _ = choose(read.site, pages, instances=wanted, most_instances=most, pairs=2)
            said[f"{wanted}, {most}"] = sorted(choice.instances["harbour"])
    for count in (0, 1, 3, 99):
        choice, _ = choose(read.site, pages, pairs=count, parts=False)
        said[f"{count} pairs"] = [sorted(choice.pairs["harbour"]), choice.boards, choice.parts, choice.analyses]
    approve("published/chosen", said)


def test_a_repository_around_boards_is_as_approved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    board = write_board(page_board(4), tmp_path / "harbour")
    said: dict[str, Any] = {}
    for host in ("github", "space"):
        for boards in ([], [board]):
            target = tmp_path / f"{host}{len(boards)}"
            written = write_repository(host, target, boards)
            said[f"{host}, {len(boards)} boards"] = [
                written,
                [path.relative_to(target).as_posix() for path in sorted(target.rglob("*")) if path.is_file()],
            ]
    with pytest.raises(BillboardsError) as refused:
        write_repository("github", tmp_path / "github0")
    said["refused"] = str(refused.value)
    said[".gitignore"] = (tmp_path / "github0" / ".gitignore").read_text().splitlines()
    said["space's .gitignore"] = (tmp_path / "space0" / ".gitignore").read_text().splitlines()
    repository = tmp_path / "github1"
    monkeypatch.chdir(repository)
    metrics = {
        "share.py": "HIGHER_IS_BETTER = False\nNEEDS = []\ndef score(o, r, i):\n    return [len(x) for x in o]\n",
        "short.py": "def score(o, r, i):\n    return [1.0]\n",
        "wrong.py": "def score(o, r, i):\n    raise ValueError('no')\n",
    }
    for name, text in metrics.items():
        (repository / "metrics" / name).write_text(text)
    leaderboard.main(["give", str(tmp_path / "given")])
    given = json.loads((tmp_path / "given" / "harbour.json").read_text())
    said["given"] = {part: values if part != "outputs" else sorted(values) for part, values in given.items()}
    leaderboard.main(["score", str(tmp_path / "given"), str(tmp_path / "scored")])
    for path in sorted((tmp_path / "scored").iterdir()):
        said[path.name] = json.loads(path.read_text())
    commands: list[list[str]] = []

    def run(*arguments: str) -> str:
        commands.append([argument.replace(str(tmp_path), "HOME") for argument in arguments])
        ranked = {"ranked_by": "chrF", "metrics": [{"name": "chrF", "rank": 1}]}
        here = not arguments[1].startswith(str(tmp_path))
        generators = [{"name": "a|<b>", "rank": 1 if here else 2}, {"name": "c", "rank": None}]
        return json.dumps({**ranked, "generators": generators[: 2 if here else 1]})

    monkeypatch.setattr(leaderboard, "run_billboards", run)
    for step, arguments in (("take", ["take", str(tmp_path / "scored")]), ("nothing", []), ("odd", ["odd"])):
        try:
            leaderboard.main(arguments)
            said[step] = "done"
        except SystemExit as end:
            said[step] = str(end).splitlines()
    leaderboard.main(["compare", str(tmp_path)])
    (tmp_path / "boards").mkdir()
    write_board(page_board(4), tmp_path / "boards" / "harbour")
    leaderboard.main(["compare", str(tmp_path)])
    said["compared"] = capsys.readouterr().out.splitlines()
    said["commands"] = [
        [re.sub(r"/tmp\S*/scores.csv|HOME\S*scores.csv|\S+/scores.csv", "TABLE", w) for w in c] for c in commands
    ]
    said["declared"] = {name: leaderboard.declared(repository / "metrics" / name) for name in metrics}
    approve("published/repository", steadied(said), folder=tmp_path)
