"""A shared task from its first click to a folder of files: an organiser, two teams and an annotator, none with a shell.

The board is made of SummEval, three teams are invited by a table, two send outputs and a metric to a blind phase, one
takes something back, the results are revealed, somebody judges, and the board is published and opened from disk.
"""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from time import sleep
from zipfile import ZipFile

import pytest
import uvicorn
from browser_pages import OpenPage, watched_pages
from mail_boxes import Letters, mail_server, words
from playwright.sync_api import Browser, Page, expect

from billboards.site.accounts import access
from billboards.site.admin.notices import send_due
from billboards.site.site import Site, open_site
from billboards.site.web.app import create_app
from billboards.site.work.worker import work_until_done

BOARD = "/boards/summaries"
TEAMS = "team,email\nNorth,nora@example.org\nSouth,sam@example.org\nWest,wanda@example.org\n"
METRIC = """
def score(outputs, references, inputs):
    return [min(len(output.split()), 60) / 60 for output in outputs]
"""


@dataclass(kw_only=True)
class Task:
    """A site that is served, its mail server, and the owner's token."""

    site: Site
    box: Letters
    address: str
    token: str

    def work(self) -> None:
        """Do all that waits, and send every mail."""
        work_until_done(self.site)
        while send_due(self.site):
            pass

    def link(self, address: str) -> str:
        """The link in the last letter to somebody."""
        self.work_mail()
        return str(re.findall(r"http://\S+/(?:enter|join)/\S+", words(self.box.to(address)[-1]))[0])

    def work_mail(self) -> None:
        while send_due(self.site):
            pass


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Task]:
    """A site without a board, with mail, on a free port of this machine."""
    home = tmp_path_factory.mktemp("task")
    listening = socket.create_server(("127.0.0.1", 0))
    address = f"http://127.0.0.1:{listening.getsockname()[1]}"
    with mail_server() as box:
        (home / "site.toml").write_text(box.settings(base_url=address))
        site = open_site(home, login_required=True)
        token = access.new_owner_token(site, "olga")
        server = uvicorn.Server(uvicorn.Config(create_app(site), log_config=None, log_level="error", lifespan="off"))
        web = Thread(target=server.run, args=([listening],), daemon=True)
        web.start()
        while not server.started:
            sleep(0.02)
        yield Task(site=site, box=box, address=address, token=token)
        server.should_exit = True
        web.join(20)
        site.close()


@pytest.fixture
def visit(chromium: Browser, task: Task) -> Iterator[OpenPage]:
    """Opens pages of this site, each call in a browser of its own."""
    with watched_pages(chromium, task.address, viewport={"width": 1280, "height": 900}) as make:
        yield make


def join(page: Page, task: Task, address: str, name: str) -> None:
    page.goto(task.link(address))
    page.get_by_label("Your name").fill(name)
    page.get_by_role("button", name=re.compile("Join")).click()
    expect(page.get_by_role("link", name=name, exact=True)).to_be_visible()


def send_generator(page: Page, name: str, outputs: str) -> None:
    page.goto(f"{BOARD}/submit/generator")
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("or paste a column").fill(outputs)
    page.get_by_role("button", name="Submit the generator").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(name)


def rows(page: Page) -> list[str]:
    page.goto(BOARD)
    return [str(row.get_attribute("data-name")) for row in page.locator("#board tbody tr").all()]


@pytest.mark.long
def test_a_shared_task_from_the_first_click_to_a_folder_of_files(
    task: Task, visit: OpenPage, chromium: Browser, tmp_path: Path
) -> None:
    olga = visit("/login")
    olga.get_by_label("Token").fill(task.token)
    olga.get_by_role("button", name="Log in", exact=True).click()
    make_board(olga, task)
    nora, sam = invite_teams(olga, task, visit)

    lines = [json.loads(line) for line in olga.request.get(f"{BOARD}/downloads/outputs.jsonl").text().splitlines()]
    own = [line for line in lines if line["generator"] == "BART"]
    shortened = {line["instance"]: " ".join(line["text"].split()[:25]) for line in own}
    texts = "".join(json.dumps({"instance": key, "text": text}) + "\n" for key, text in shortened.items())
    send_generator(nora, "Brief", texts)
    send_generator(sam, "Regret", texts.replace(" the ", " a "))
    sam.goto(f"{BOARD}/submit/metric")
    sam.get_by_label("Name", exact=True).fill("sixty words")
    sam.get_by_label("or paste the Python file").fill(METRIC)
    sam.get_by_label("Training data").fill("none")
    sam.get_by_role("button", name="Submit the metric").click()
    task.work()
    sam.goto("/submissions")
    sam.get_by_role("link", name="Regret").first.click()
    sam.get_by_text("Withdraw").first.click()
    if sam.get_by_role("button", name=re.compile("Withdraw")).count():
        sam.get_by_role("button", name=re.compile("Withdraw")).first.click()
    task.work()

    visitor = visit("/")
    assert "Brief" not in rows(visitor), "the phase is blind"
    assert not any("Brief" in words(letter) and "rank" in words(letter) for letter in task.box.to("nora@example.org"))
    olga.goto(f"{BOARD}/organise")
    olga.get_by_role("button", name="Reveal the results").click()
    expect(olga.get_by_text("shown to everybody")).to_be_visible()
    task.work()
    shown = rows(visitor)
    assert "Brief" in shown
    assert "Regret" not in shown
    visitor.goto(f"{BOARD}/metrics")
    expect(visitor.get_by_role("link", name="sixty words").first).to_be_visible()
    assert any("Brief has rank" in subject for subject in task.box.subjects("nora@example.org"))

    run_campaign(olga, visit)
    task.work()
    publish(olga, task, chromium, tmp_path, shown)


def make_board(olga: Page, task: Task) -> None:
    """From SummEval to a board with a blind phase; two metrics are enough here."""
    olga.goto("/")
    olga.get_by_role("link", name="New board").click()
    olga.get_by_role("link", name="SummEval").click()
    olga.get_by_label("Name").fill("summaries")
    olga.get_by_role("button", name="Make the draft").click()
    expect(olga.get_by_text("The data card is complete.")).to_be_visible(timeout=120_000)
    olga.get_by_role("button", name="Publish").click()
    olga.get_by_role("link", name="Change the settings").click()
    phase = olga.locator("fieldset.entry").first
    phase.get_by_label("Name").fill("test")
    phase.get_by_label("Opens").fill("2020-01-01T00:00")
    phase.get_by_label("Closes").fill("2099-01-01T00:00")
    phase.get_by_label("Blind").check()
    olga.locator("[name=draws]").fill("50")
    olga.get_by_label("Metrics that run").fill("ROUGE-1\nlength")
    olga.get_by_role("button", name="Save the settings").click()
    expect(olga.get_by_text("Saved.", exact=True)).to_be_visible()
    task.work()


def invite_teams(olga: Page, task: Task, visit: OpenPage) -> tuple[Page, Page]:
    """Three teams by a table; two come."""
    olga.goto("/people")
    olga.get_by_label("or paste it").fill(TEAMS)
    olga.get_by_role("button", name="Check the table").click()
    olga.get_by_role("button", name="Send 3 invitations").click()
    nora, sam = visit("/"), visit("/")
    join(nora, task, "nora@example.org", "Nora")
    join(sam, task, "sam@example.org", "Sam")
    return nora, sam


def run_campaign(olga: Page, visit: OpenPage) -> None:
    """Somebody judges three outputs of the newcomer."""
    olga.goto(f"{BOARD}/campaigns/new")
    olga.get_by_label("Name").fill("people")
    olga.get_by_label("Template").select_option("genie-translation")
    olga.get_by_label("Generators, one a line").fill("Brief")
    olga.get_by_label("Instances", exact=True).fill("3")
    for kind in ("Positive", "Negative"):
        olga.get_by_label(f"{kind} test questions").fill("0")
    olga.get_by_role("button", name="Plan it").click()
    olga.get_by_role("button", name="Open the campaign").click()
    expect(olga.locator("[data-fact=labels]")).to_have_text("0 of 3")
    progress = olga.url
    olga.get_by_role("link", name="Annotators", exact=True).first.click()
    olga.get_by_label("Names or e-mail addresses").fill("ann@example.org")
    olga.get_by_role("button", name="Make links").click()
    annotator = visit(olga.locator("a[data-link]").first.inner_text())
    olga.goto(progress)
    for answered in range(1, 4):
        annotator.keyboard.press("4")
        annotator.keyboard.press("Enter")
        expect(olga.locator("[data-fact=labels]")).to_have_text(f"{answered} of 3")


def publish(olga: Page, task: Task, chromium: Browser, folder: Path, shown: list[str]) -> None:
    """As files, by a button; opened from disk with scripts and without: the same rows."""
    olga.goto(f"{BOARD}/organise")
    olga.locator("main").get_by_role("link", name="Publish as files").last.click()
    olga.get_by_label("At most so many").fill("3")
    olga.get_by_label("Comparisons of two").fill("1")
    olga.get_by_label("Rank parts of the board").uncheck()
    olga.get_by_label("Ask all analyses").uncheck()
    olga.get_by_role("button", name="Publish as files").click()
    expect(olga.get_by_role("heading", name="The files are being written")).to_be_visible()
    task.work()
    expect(olga.get_by_role("heading", name="The files are ready")).to_be_visible()
    with olga.expect_download() as download:
        olga.get_by_role("link", name="Download the archive").click()
    download.value.save_as(folder / "files.zip")
    with ZipFile(folder / "files.zip") as archive:
        archive.extractall(folder)
    for scripts in (True, False):
        context = chromium.new_context(java_script_enabled=scripts)
        page = context.new_page()
        page.goto((folder / "summaries" / "index.html").as_uri())
        page.get_by_role("link", name=re.compile("SummEval|summaries")).first.click()
        names = [str(row.get_attribute("data-name")) for row in page.locator("#board tbody tr").all()]
        assert set(names) == set(shown)
        assert page.get_by_role("link", name="Organise").count() == 0
        context.close()
