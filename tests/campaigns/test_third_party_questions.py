"""A kind of question from another package: in a template, on the page, in answers, results and exports."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from installed_packages import lay_down, run_with

from billboards.campaigns.questions import kind_names, question_kind
from billboards.errors import UnknownName

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "third_party_question"
HELPERS = [ROOT / "tests" / "site", ROOT / "tests" / "stand_ins"]

TEMPLATE = """
name = "starred"
version = 1
title = "Give stars"
task = "stars"
instructions = "Say how good it is."
[[stages]]
shows = ["outputs"]
dimensions = ["quality"]
[[dimensions]]
name = "quality"
kind = "stars"
question = "How many stars?"
most = 4
[[examples]]
outputs = ["A good one."]
answers = { quality = 4 }
why = "Nothing is wrong."
"""


@pytest.fixture
def installed(tmp_path: Path) -> list[Path]:
    """The example's folder and its metadata, as after its installation."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text("utf-8"))["project"]
    points = project["entry-points"]["billboards.questions"]
    return [EXAMPLE, lay_down(tmp_path / "site-packages", project["name"], "billboards.questions", points), *HELPERS]


@pytest.mark.long
def test_a_campaign_with_a_kind_from_outside_runs_to_a_closed_result(tmp_path: Path, installed: list[Path]) -> None:
    (tmp_path / "starred.toml").write_text(TEMPLATE)
    program = f"""
        import base64, hashlib, json, re
        from pathlib import Path
        from campaign_sites import campaign_judgments, campaign_site
        from billboards.campaigns.preview import preview
        from billboards.campaigns.template_files import open_template
        from billboards.site.boards.live import live_board
        from billboards.site.campaigns.lifecycle import close_campaign
        from billboards.site.campaigns.results import campaign_answers, campaign_results

        home = Path({str(tmp_path)!r})
        ferry = campaign_site(home / "site")
        campaign, (link,) = ferry.start("starry", str(home / "starred.toml"))
        page = ferry.pages.get(link)
        script = re.search(r'src="(/static/[0-9a-f]+/question-stars.js)"', page.text)[1]
        styles = re.findall(r"<style>(.*?)</style>", page.text, re.S)
        hashes = ["sha256-" + base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in styles]
        served = ferry.pages.get(script)
        refused = ferry.answer(link, 5)
        answers = [ferry.answer(link, stars).status_code for stars in (4, 4, 1, 3)]
        site, owner = ferry.pages.site, ferry.pages.owner
        close_campaign(site, owner, campaign.id, ranks=True)
        facts = {{
            "preview": preview(open_template(home / "starred.toml")),
            "first script": page.text.index("question-stars.js") < page.text.index("annotate.js"),
            "options": page.text.count('type="radio" name="answer:quality"'),
            "style": "letter-spacing: .1em" in styles[1],
            "allowed": all(f"'{{one}}'" in page.headers["content-security-policy"] for one in hashes),
            "script": [served.status_code, served.headers["content-type"], "fieldset.question.stars" in served.text],
            "old address": ferry.pages.get("/static/000000000000/question-stars.js").status_code,
            "refused": [refused.status_code, "is no number of stars; send one from 1 to 4" in refused.text],
            "answers": answers,
            "task": ferry.pages.get(f"/api/v1{{link}}").json()["questions"][0]["most"],
            "shown": "4 of 4 stars" in ferry.read(ferry.home(campaign) + "/preview"),
            "exported": [line.answers["quality"] for line in campaign_answers(site, owner, campaign.id)],
            "download": '"quality": 4' in ferry.read(ferry.home(campaign) + "/answers.jsonl"),
            "mean": [one.mean for one in campaign_results(site, owner, campaign.id).estimates],
            "judgments": len(campaign_judgments(site, campaign.id)),
            "ranks": live_board(site, "ferry", audience="owners").board.ranks,
        }}
        site.close()
        print(json.dumps(facts))
    """
    facts = json.loads(run_with(installed, program))
    assert "    give 1 to 4 stars\n" in facts.pop("preview")
    assert facts.pop("mean") == [pytest.approx(100 * (1 + 1 + 0 + 2 / 3) / 4)]
    assert facts == {
        "first script": True,
        "options": 4,
        "style": True,
        "allowed": True,
        "script": [200, "text/javascript; charset=utf-8", True],
        "old address": 404,
        "refused": [422, True],
        "answers": [303, 303, 303, 303],
        "task": 4,
        "shown": True,
        "exported": [4, 4, 1, 3],
        "download": True,
        "judgments": 4,
        "ranks": "starred",
    }


def test_a_mistake_under_a_foreign_kind_is_named_like_any_other(installed: list[Path]) -> None:
    wrong = TEMPLATE.replace("most = 4", "most = 12\nlabels = []")
    program = f"""
        from billboards.campaigns.template_files import read_template
        for problem in read_template({wrong!r}, "mine.toml")[1]:
            print(problem)
    """
    said = run_with(installed, program).splitlines()
    assert "mine.toml: error: dimension quality: most: must be a whole number from 2 to 9; found 12" in said
    assert any("labels: no key of a stars question named 'labels'" in line for line in said)


def test_kinds_that_lead_nowhere_or_stand_twice_are_explained(tmp_path: Path) -> None:
    points = {"absent": "no_such_package:X", "nowhere": "json:NoSuch", "other": "json:JSONDecoder"}
    points |= {"scale": "billboards.campaigns.questions.slider:Slider"}
    points["misnamed"] = "billboards.campaigns.questions.slider:Slider"
    folder = lay_down(tmp_path, "broken", "billboards.questions", points)
    program = """
        from billboards.campaigns.questions import question_kind
        from billboards.errors import BillboardsError
        for name in ("absent", "nowhere", "other", "misnamed", "scale"):
            try:
                question_kind(name)
            except BillboardsError as error:
                print(type(error).__name__, error)
    """
    slider = "billboards.campaigns.questions.slider:Slider"
    assert run_with([folder], program).splitlines() == [
        "MissingPart question kind absent needs a package that is not installed: No module named 'no_such_package'",
        "InvalidInput entry point nowhere = json:NoSuch leads nowhere: module 'json' has no attribute 'NoSuch'",
        "InvalidInput entry point other = json:JSONDecoder is not a billboards Question class of that kind",
        f"InvalidInput entry point misnamed = {slider} is not a billboards Question class of that kind",
        "InvalidInput 2 packages offer a question kind named scale: "
        "billboards.campaigns.questions.scale:Scale, broken; keep one of them",
    ]


def test_without_the_package_its_kind_is_unknown() -> None:
    assert "stars" not in kind_names()
    with pytest.raises(UnknownName, match="no kind of question named 'stars'"):
        question_kind("stars")


def test_the_how_to_page_shows_the_example_as_it_is() -> None:
    page = (ROOT / "docs" / "how-to-add-a-question-kind.md").read_text("utf-8")
    module = (EXAMPLE / "stars" / "__init__.py").read_text("utf-8")
    assert len(module.splitlines()) < 40
    assert module[module.index("class Stars") :].strip() in page
    assert (EXAMPLE / "stars" / "question.html.j2").read_text("utf-8").strip() in page
    assert 'stars = "stars:Stars"' in page
