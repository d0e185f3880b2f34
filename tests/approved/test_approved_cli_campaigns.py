"""What commands about campaigns print and write, from the first plan to the last result, and what is left of a site."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from approving import approve
from command_transcripts import files_below, ran, steady
from small_campaigns import by_reference, distinct_board, fix_key

from billboards.board.writing import write_board
from billboards.site.campaigns.annotator_work import enter, next_item, submit_answer
from billboards.site.site import open_site


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A site with a small board, as its owner has it on the command line."""
    board = distinct_board(6, 3)
    write_board(board, tmp_path / "site" / "boards" / "ferry")
    write_board(replace(board, name="other"), tmp_path / "site" / "boards" / "other")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "132")
    for name in ("BILLBOARDS_TOKEN", "BILLBOARDS_QUIET", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    site = open_site(tmp_path / "site")
    fix_key(site)
    site.close()
    return tmp_path / "site"


def answer_all(data: Path, link: str, *, most: int = 100, wrong: bool = False) -> None:
    """Everything that a person is given, answered."""
    site = open_site(data)
    who = enter(site, link.rpartition("/")[2])
    for k in range(most):
        item = next_item(site, who).item
        if item is None:
            break
        value = 0 if wrong or not item.references else by_reference(item, random.Random(1))
        given = {question.name: value for question in item.template.dimensions}
        submit_answer(site, who, item.assignment, f"{link[-6:]}{k}", given, seconds=2.0 + k)
    site.close()


BEFORE = """
    campaign list
    campaign template list
    campaign template list --json
    campaign template show binary
    campaign template show nothing
    campaign template check binary
    campaign template check esa --json
    campaign template check wrong.toml
    campaign template check wrong.toml --json
    campaign template preview binary
    campaign template preview genie-translation
    campaign new fery first --template binary
    campaign new ferry first --template nothing
    campaign new ferry first --template genie-translation --positive 0.07
    campaign new ferry first --template genie-translation --instances 0
    campaign new ferry first --template genie-translation --pay -1
    campaign new ferry first --template genie-translation --hours 25-26
    campaign new ferry first --template genie-translation --days mon,noday
    campaign new ferry first --template genie-translation --opens yesterday
    campaign new ferry first --template genie-translation --zone Nowhere/City
    campaign new ferry first --template genie-translation --generator g9
    campaign new ferry first --template genie-translation --aim means --stop-level 2
    campaign new ferry first --template genie-translation --instances 4 --pay 0.5 --fee 0.25 \
--seconds 60 --budget 50 --hours 0-24 --early 0 --annotators 2 --labels 2 --overlap 0.5 --seed 3
    campaign new ferry first --template genie-translation
    campaign new ferry free --template binary --generator g0 --generator g1 --instances 2 --early 0 --rolling --json
    campaign new ferry watched --template genie-translation --instances 3 --early 0 --stop decided \
--stop-level 0.1 --exclusion model --currency EUR --hourly 9 --pay 0.01 --seconds 30 --no-rank --csv
    campaign list
    campaign list --json
    campaign quote first
    campaign quote first --json
    campaign quote firs
    campaign status first
    campaign results first
    campaign annotators first
    campaign survey first
    campaign survey first --json
    campaign open first
    campaign pause first
    campaign resume first
    campaign invite first
    campaign invite first ann --count 2
    campaign open first --confirm --reason begun
    campaign open first --confirm
    campaign invite first ann@example.org ben@example.org
    campaign invite first --count 1 --csv
    campaign invite free cleo@example.org
    campaign open free
"""
BETWEEN = """
    campaign status first
    campaign status first --json
    campaign annotators first
    campaign annotators first --json
    campaign results first --csv
    campaign pause first --reason lunch
    campaign resume first
    campaign resume first --confirm
    campaign top-up first --budget 10
    campaign top-up first --budget 10 --labels 3 --confirm
    campaign top-up first --generator g9 --confirm
    campaign exclude first nobody --reason bad
    campaign exclude first PERSON --reason "answers without reading"
    campaign exclude first PERSON
    campaign results first
    campaign results first --json
    campaign readmit first PERSON --reason "a mistake"
    campaign annotators first --csv
    campaign judgments first --format csv
    campaign judgments first --format label-studio -o answers.json
    campaign judgments first --format mqm
    campaign judgments first --format nothing
    campaign withdraw first
    campaign close first
    campaign close first --json
    campaign close first --confirm --reason "all done"
    campaign close first --confirm
    campaign results first --latex
    campaign results first
    campaign repeat first --days 2 --first 2099-05-01 --every 7 --annotators fresh --instances 2
    campaign repeat first --days 0
    campaign repeat first --days 1 --first tomorrow
    campaign repeat first --days 1 --first 2099-06-01 --anchors g0 --open
    campaign repeat first --days 1 --first 2099-07-01 --anchors g9
    campaign withdraw first --csv
    campaign withdraw first --confirm --reason "wrong scale"
    campaign withdraw first --confirm
    campaign admit free g2
    campaign admit first g2 --confirm
    campaign close watched
    campaign meta ferry check chrF adequacy --per-corner 2
    campaign list --csv
    campaign status nothing
    tidy site
    tidy site --json
    tidy site --confirm
    tidy nowhere
    forget site ann@example.org
    forget site nobody
    forget site ann@example.org --confirm --json
    forget nowhere ann
    crowd quote first --platform nothing
    crowd settle first --reason paid
    crowd status first
    backup site kept.zip
    backup nowhere kept.zip
    restore kept.zip again
    restore kept.zip again
    restore nowhere.zip other
    campaign list --data again
"""


def with_site(command: str) -> str:
    """A command with the site that it is about, where none is named."""
    needs = command.startswith(("campaign", "crowd")) and "template" not in command.split()[:2]
    return f"{command} --data site" if needs and "--data" not in command else command


def test_campaigns_are_led_as_approved(data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = ran(capsys, "campaign template show binary")["out"]
    wrong = "\n".join(source).replace('kind = "scale"', 'kind = "scales"')
    (tmp_path / "wrong.toml").write_text(f"{wrong}\nnonsense = 1\n", "utf-8")
    told: dict[str, Any] = {}
    links: list[tuple[str, str]] = []

    def run_all(commands: str, person: str = "") -> None:
        for _k, command in enumerate(filter(None, map(str.strip, commands.splitlines()))):
            printed = ran(capsys, with_site(command.replace("PERSON", person)))
            links.extend(re.findall(r"(\S+?)[\s,]+(/annotate/\S+)", " ".join(map(str, printed.get("out", [])))))
            told[f"{len(told)} {command}" if command in told else command] = printed

    run_all(BEFORE)
    for place, (_, link) in enumerate(links[:4]):
        answer_all(data, link, wrong=place == 1, most=(100, 100, 3, 1)[place])
    run_all(BETWEEN, links[1][0].rpartition(",")[2])
    told["files"] = sorted(name for name in files_below(tmp_path / "again") if "boards/" in name)
    for command in told:
        if "kept.zip" in command:
            # Packed rows are as long as their stamps and ids let them be.
            told[command] = {stream: str(lines).partition(",")[0][:40] for stream, lines in told[command].items()}
    approve("transcripts/campaigns", steady(told), folder=tmp_path)
