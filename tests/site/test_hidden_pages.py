"""What stays hidden on every page there is, the table of routes being the application's own.

The board keeps its references and judgments hidden, one submission is anonymous, another belongs to a blind phase. A
visitor and a submitter of another team ask every page, picture and download; none of the secrets may be in any answer.
"""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest
from fastapi.routing import APIRoute
from page_sites import ODD, SECRET, PageSite, page_board, page_site
from starlette.routing import Route

from billboards.analyses import own_analyses
from billboards.analyses.suite.open import open_suite
from billboards.board import Generator, row_of
from billboards.campaigns.plan import CampaignPlan
from billboards.formats import FORMATS
from billboards.site.boards import snapshots
from billboards.site.campaigns import campaign_records as campaigns
from billboards.site.campaigns.lifecycle import create_campaign, open_campaign
from billboards.site.database import trail
from billboards.site.pages.bundles import FILES
from billboards.site.submissions import records as submissions
from billboards.site.work.worker import notice_openings

BOARD = "/boards/harbour"
TRUE_NAME, BLIND_NAME, BLIND_WORD = "veryunmaskedname", "blindentryname", "submarine"
CAMPAIGN = "secretcampaign"
#: A word that stands in inputs alone, which are withheld until a phase opens.
INPUT_WORD = "lighthouse"


@pytest.fixture(scope="module")
def hiding(tmp_path_factory: pytest.TempPathFactory) -> PageSite:
    board = page_board()
    written = tuple(instance.references[0].text for instance in board.instances)
    board = replace(board, rows=(*board.rows, row_of(Generator("Ada", kind="human"), board.instances, written)))
    asked = tuple(replace(instance, input=f"{INPUT_WORD} {k}") for k, instance in enumerate(board.instances))
    found = page_site(tmp_path_factory.mktemp("hidden"), board=replace(board, instances=asked))
    # Generators are sent in by who does not know the inputs.
    found.board = board
    found.submit(TRUE_NAME, anonymous=True)
    found.work()
    closes = "2100-01-01T00:00Z"
    found.settle(
        phases=[{"name": "blind", "blind": True, "closes": closes}, {"name": "test", "opens": closes}],
        hidden_references=True,
        hidden_judgments=True,
        inputs_from="test",
    )
    found.submit(BLIND_NAME, word=BLIND_WORD, entry="contrastive")
    found.work()
    run_suite(found)
    plan = CampaignPlan(instances=4)
    made = create_campaign(found.site, found.owner, "harbour", CAMPAIGN, "genie-translation", plan=plan)
    open_campaign(found.site, found.owner, made.id)
    return found


def run_suite(found: PageSite) -> None:
    """A suite of the board, run with a metric that fails and quotes a reference while it does."""
    leaky, file = found.site.data / "leaky.py", found.site.data / "suites" / "harbours.toml"
    leaky.write_text("def score(outputs, references, inputs):\n    raise ValueError(references[0][0])\n")
    file.parent.mkdir()
    board = '[[boards]]\nfolder = "../../harbour"\ndifficulty = 1\n'
    file.write_text(f'metrics = ["chrF", "ROUGE-1", "length"]\nfamilies = {{ letters = ["chrF"] }}\n{board}')
    open_suite(file).run(add=[leaky], draws=20)


def test_a_suite_of_a_board_with_hidden_judgments_has_two_digits(hiding: PageSite) -> None:
    told, exact = (hiding.get("/suites/harbours/results.json", asker).json() for asker in (None, "owner"))
    values = [
        [measure["value"] for cell in result["tables"]["cells"] for measure in cell["measures"].values()]
        for result in (told, exact)
    ]
    assert values[0]
    assert all(value == round(value, 2) for value in values[0])
    assert not set(values[1]) <= set(values[0])
    for ranking in told["rankings"]:
        assert all(s["value"] is None or s["value"] == round(s["value"], 2) for s in ranking["standings"])


def test_advice_rests_on_what_a_viewer_is_told_of_hidden_judgments(hiding: PageSite) -> None:
    told, exact = (hiding.get("/suites/harbours/results.json", asker).json()["evidence"] for asker in (None, "owner"))
    assert all(value == round(value, 2) for board in told["boards"] for value in board["values"])
    assert all(board["correlations"] == [] for board in told["boards"])
    assert all(board["correlations"] for board in exact["boards"])
    answers = [hiding.get("/api/v1/advice", asker).json() for asker in (None, "stranger", "owner")]
    assert answers[0] == answers[1]
    assert answers[0]["boards"] == 1
    assert answers[0]["metrics"] != answers[2]["metrics"]


def page_routes(small: PageSite) -> list[Route]:
    """Every page, picture and download; what log-in needs has tests of its own."""
    routes = small.client.app.router.routes  # type: ignore[attr-defined]
    found = [route for route in _flat(routes) if not isinstance(route, APIRoute)]
    own = ("/api/", "/login", "/logout", "/account", "/oidc", "/accounts", "/admin")
    return [r for r in found if "GET" in (r.methods or ()) and not r.path.startswith(own)]


def _flat(routes: object) -> Iterator[Route]:
    for route in routes:  # type: ignore[attr-defined]
        if isinstance(route, Route):
            yield route
        elif hasattr(route, "routes"):
            yield from _flat(route.routes)
        elif hasattr(route, "original_router"):
            yield from _flat(route.original_router.routes)


def addresses(small: PageSite) -> dict[str, list[str]]:
    """For every route, addresses that lead to something; the stream of generations, a number that rises, never ends."""
    with small.site.database.reading() as connection:
        kept = snapshots.list_snapshots(connection, "harbour", "public")
        owners = snapshots.list_snapshots(connection, "harbour", "owners")
        ensembles = [one.signature for one, _ in snapshots.list_ensembles(connection, "harbour", hidden=True)]
        sent = [one.id for one in submissions.find(connection)]
        (asked,) = (one.id for one in campaigns.find(connection))
    campaign = f"{BOARD}/campaigns/{asked}"
    generators = [ODD, "late", "Cleo", "Ada", TRUE_NAME, BLIND_NAME, *(f"anonymous-{one[:6]}" for one in sent)]
    names = [quote(name, safe="") for name in generators]
    return {
        "/": ["/"],
        "/help": ["/help"],
        "/sign-up": ["/sign-up"],
        "/people": ["/people"],
        "/enter/{token}": ["/enter/nothing"],
        "/join/{token}": ["/join/nothing"],
        "/unsubscribe/{token}": ["/unsubscribe/nothing"],
        "/boards/{board}/message": [f"{BOARD}/message"],
        "/static/{digest}/{name}": ["/static/0/board.js"],
        "/suites": ["/suites"],
        "/suites/{suite}": [
            "/suites/harbours",
            "/suites/harbours?statistic=spearman&block=one",
            "/suites/harbours?ranking=1",
        ],
        "/suites/{suite}/run": ["/suites/harbours/run"],
        "/suites/{suite}/files/{file}": [f"/suites/harbours/files/correctness.{end}" for end in ("csv", "tex", "md")],
        "/suites/{suite}/submit/metric": ["/suites/harbours/submit/metric"],
        "/suites/{suite}/submit/generator": ["/suites/harbours/submit/generator"],
        "/suites/{suite}/results.json": ["/suites/harbours/results.json"],
        "/suites/{suite}/advice": ["/suites/harbours/advice", "/suites/harbours/advice?references=no"],
        "/suites/{suite}/advice.json": ["/suites/harbours/advice.json"],
        "/advice": ["/advice", "/advice?task=Say+when+it+leaves&language=en&references=yes&cost=instant"],
        "/suites/{suite}/charts/{chart}": [f"/suites/harbours/charts/{one}.svg" for one in ("difficulty", "ranking")],
        "/templates": ["/templates"],
        "/templates/{template}": ["/templates/esa", "/templates/..%2Fsecret.toml"],
        "/templates/{template}/file": ["/templates/esa/file", "/templates/..%2Fsecret.toml/file"],
        "/annotate/{token}": ["/annotate/nothing"],
        "/campaigns/{campaign}": [f"/campaigns/{asked}"],
        "/campaigns/{campaign}/annotate": [f"/campaigns/{asked}/annotate"],
        "/organise": ["/organise"],
        "/organise/new": ["/organise/new"],
        "/organise/new/{source}": ["/organise/new/demo"],
        "/organise/drafts/{draft}": ["/organise/drafts/nothing"],
        "/organise/audit": ["/organise/audit"],
        "/boards/{board}/organise": [f"{BOARD}/organise"],
        "/boards/{board}/organise/settings": [f"{BOARD}/organise/settings"],
        "/boards/{board}/organise/about": [f"{BOARD}/organise/about"],
        "/boards/{board}/organise/audit": [f"{BOARD}/organise/audit"],
        "/boards/{board}/organise/files": [f"{BOARD}/organise/files"],
        "/boards/{board}/organise/files/archive": [f"{BOARD}/organise/files/archive"],
        "/boards/{board}/about": [f"{BOARD}/about"],
        "/boards/{board}/logo": [f"{BOARD}/logo"],
        "/boards/{board}/campaigns": [f"{BOARD}/campaigns"],
        "/boards/{board}/campaigns/new": [f"{BOARD}/campaigns/new"],
        "/boards/{board}/campaigns/blind-check": [f"{BOARD}/campaigns/blind-check"],
        "/boards/{board}/campaigns/{campaign}": [campaign],
        **{
            f"/boards/{{board}}/campaigns/{{campaign}}/{part}": [f"{campaign}/{part}"]
            for part in (
                "annotators",
                "agreement",
                "results",
                "preview",
                "protocol",
                "events",
                "answers.csv",
                "answers.jsonl",
                "survey.csv",
                "survey.jsonl",
            )
        },
        "/boards/{board}/campaigns/{campaign}/judgments/{form}": [
            *(f"{campaign}/judgments/{form}" for form in FORMATS),
            f"{campaign}/judgments/nothing",
        ],
        "/submissions": ["/submissions"],
        "/submissions/{submission}": [f"/submissions/{one}" for one in sent],
        "/submissions/{submission}/events": [f"/submissions/{one}/events" for one in sent],
        "/boards/{board}": [BOARD, f"{BOARD}?domain=sea", f"{BOARD}?references=Ada", f"{BOARD}?sort=people"],
        "/boards/{board}/metrics": [f"{BOARD}/metrics", f"{BOARD}/metrics?find={quote(TRUE_NAME)}"],
        "/boards/{board}/metrics/{metric:path}": [f"{BOARD}/metrics/chrF", f"{BOARD}/metrics/chrF?firm=yes"],
        "/boards/{board}/generators/{generator:path}": [f"{BOARD}/generators/{name}" for name in names],
        "/boards/{board}/instances": [
            f"{BOARD}/instances",
            f"{BOARD}/instances?text={SECRET}",
            f"{BOARD}/instances?text={BLIND_WORD}",
            f"{BOARD}/instances?text={INPUT_WORD}",
            f"{BOARD}/instances?metric=people",
            f"{BOARD}/instances?sort=disagreement&people_low=0",
            f"{BOARD}/instances?text={SECRET}&within=reference",
            f"{BOARD}/instances?judgment=judged&disputed=1",
            f"{BOARD}/instances?metric=chrF&versus=ROUGE-1&sort=disagreement&domain=sea",
        ],
        "/boards/{board}/instances/{instance:path}": [
            f"{BOARD}/instances/i%2F0",
            f"{BOARD}/instances/i%2F0?against=Ada",
            f"{BOARD}/instances/i%2F0?metric=people",
            f"{BOARD}/instances/i%2F0?against=late&metric=length",
        ],
        "/boards/{board}/matching/{instance:path}": [
            f"{BOARD}/matching/i%2F0",
            f"{BOARD}/matching/i%2F0?output=late&reference=Ada",
            f"{BOARD}/matching/i%2F0?output=Ada&reference=Ben",
            f"{BOARD}/matching/i%2F0?output={BLIND_NAME}",
        ],
        "/boards/{board}/compare": [
            f"{BOARD}/compare",
            f"{BOARD}/compare?first=late&second=Cleo",
            f"{BOARD}/compare?first=late&second=Cleo&by=people",
            f"{BOARD}/compare?first=chrF&second=ROUGE-1",
            f"{BOARD}/compare?first=late&second={BLIND_NAME}",
            f"{BOARD}/compare?first=late&second=Ada",
            f"{BOARD}/compare?first=Ada&second=late&by=length",
            f"{BOARD}/compare?of=late&of=Cleo&of=Ada&instance=i/1&against=reference",
            f"{BOARD}/compare?of=late&of=Cleo&instance=i/1&against=Cleo",
            f"{BOARD}/compare?of=late&of={BLIND_NAME}&of=Cleo",
            f"{BOARD}/compare?of=chrF&of=ROUGE-1&of=length",
        ],
        "/boards/{board}/analyses": [f"{BOARD}/analyses"],
        "/boards/{board}/analyses/{analysis}": [
            *(f"{BOARD}/analyses/{name.replace(' ', '.')}" for name in own_analyses()),
            f"{BOARD}/analyses/compare?first=late&second=Cleo",
            f"{BOARD}/analyses/compare?first=late&second=Cleo&by=people",
            f"{BOARD}/analyses/compare?first=chrF&second=ROUGE-1",
            f"{BOARD}/analyses/compare?first=late&second={BLIND_NAME}",
            f"{BOARD}/analyses/estimate?generator=late",
            f"{BOARD}/analyses/ratings.doubts?metric=chrF",
        ],
        "/boards/{board}/analyses/{analysis}/files/{file}": [
            f"{BOARD}/analyses/rank/files/{file}" for file in ("metrics.csv", "generators.tex", "metrics.md?digits=9")
        ],
        "/boards/{board}/analyses/{analysis}/charts/{number}": [
            f"{BOARD}/analyses/{name}/charts/0{ending}"
            for name in ("rank", "overrating", "ensemble")
            for ending in (".svg", ".json", ".csv", ".data.json")
        ],
        "/boards/{board}/card": [f"{BOARD}/card"],
        "/boards/{board}/card.md": [f"{BOARD}/card.md"],
        "/boards/{board}/card.json": [f"{BOARD}/card.json"],
        "/boards/{board}/rankings": [f"{BOARD}/rankings"],
        "/boards/{board}/rankings/{ranking}": [f"{BOARD}/rankings/{one.id}" for one in (*kept, *owners)],
        "/boards/{board}/changes": [f"{BOARD}/changes?since=1&ranking=1"],
        "/boards/{board}/ensembles": [f"{BOARD}/ensembles"],
        "/boards/{board}/ensembles/{signature:path}": [f"{BOARD}/ensembles/{quote(one)}.json" for one in ensembles],
        "/boards/{board}/events": [],
        "/boards/{board}/progress": [f"{BOARD}/progress"],
        "/boards/{board}/submissions": [f"{BOARD}/submissions"],
        "/boards/{board}/submit": [f"{BOARD}/submit"],
        "/boards/{board}/submit/generator": [f"{BOARD}/submit/generator"],
        "/boards/{board}/submit/metric": [f"{BOARD}/submit/metric"],
        "/boards/{board}/submit/scores": [f"{BOARD}/submit/scores"],
        "/boards/{board}/submit/address": [f"{BOARD}/submit/address"],
        "/boards/{board}/downloads": [f"{BOARD}/downloads"],
        "/boards/{board}/downloads/{file}": [f"{BOARD}/downloads/{name}" for name in FILES],
        "/boards/{board}/charts/{chart:path}": [
            *(
                f"{BOARD}/charts/{chart}{ending}"
                for chart in ("correlations", "overrating", "swaps", "people", "scatter/chrF")
                for ending in ("", ".svg", ".json", ".csv", ".data.json")
            ),
            *(f"{BOARD}/charts/scatter{ending}?x=chrF&y=ROUGE-1" for ending in ("", ".json", ".csv")),
            f"{BOARD}/charts/scatter.json?x=people&y=chrF",
            f"{BOARD}/charts/scatter.csv?x=chrF&y=people&colour=generator",
        ],
        "/boards/{board}/badges/metric.svg": [f"{BOARD}/badges/metric.svg"],
        "/boards/{board}/badges/generators/{name:path}": [f"{BOARD}/badges/generators/{name}.svg" for name in names],
        "/boards/{board}/badges/metrics/{name:path}": [f"{BOARD}/badges/metrics/chrF.svg"],
        "/boards/{board}/badges/rankings/{ranking}": [f"{BOARD}/badges/rankings/{one.id}.svg" for one in kept],
        "/boards/{board}/preview.png": [f"{BOARD}/preview.png"],
        "/embed/boards/{board}": [f"/embed{BOARD}", f"/embed{BOARD}?side=metrics&rows=100&theme=dark"],
    }


def content(raw: bytes) -> str:
    """Everything that an answer says, archives unpacked."""
    if raw[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            return "\n".join(f"{name}\n{content(archive.read(name))}" for name in archive.namelist())
    if raw[:2] == b"\x1f\x8b":
        raw = gzip.decompress(raw)
    if raw[:4] == b"PAR1":
        import pyarrow.parquet as pq

        return str(pq.read_table(io.BytesIO(raw)).to_pylist())
    return raw.decode("utf-8", "replace")


def test_every_page_there_is_is_asked_here(hiding: PageSite) -> None:
    assert {route.path for route in page_routes(hiding)} == set(addresses(hiding))


@pytest.mark.long
@pytest.mark.parametrize("asker", [None, "stranger"])
def test_no_page_tells_hidden_references_names_or_blind_results(hiding: PageSite, asker: str | None) -> None:
    for path, examples in addresses(hiding).items():
        for address in examples:
            answer = hiding.get(address, asker)
            assert answer.status_code < 500, address
            said = content(answer.content)
            for secret in (TRUE_NAME, BLIND_NAME, SECRET, CAMPAIGN, INPUT_WORD):
                # What the asker has written itself may be repeated to it.
                assert secret not in said or secret in address, (path, address, secret)
            if BLIND_WORD not in address:
                assert BLIND_WORD not in said, (path, address)
            assert "team of team" not in said, (path, address)


@pytest.mark.parametrize("asker", [None, "stranger"])
def test_no_page_tells_what_people_said_of_outputs_or_generators(hiding: PageSite, asker: str | None) -> None:
    assert ">people</th>" not in hiding.get(BOARD, asker).text
    assert 'data-key="people"' not in hiding.get(BOARD, asker).text
    assert hiding.get(f"{BOARD}?domain=sea", asker).status_code == 409
    assert "people" not in hiding.get(f"{BOARD}/downloads/scores.csv", asker).text
    assert "residual" not in hiding.get(f"{BOARD}/metrics/chrF", asker).text
    card = hiding.get(f"{BOARD}/card.json", asker).json()
    assert (card["hidden"], card["judgments"], card["annotators"]) == (["inputs", "references", "judgments"], 0, 0)
    assert [(use["judgments"], use["values"], use["agreement"]["alpha"]) for use in card["dimensions"]] == [
        (0, None, None) for _ in card["dimensions"]
    ]
    assert (card["references"], card["copies"]["leaked"]) == (None, 0)
    assert hiding.get(f"{BOARD}/charts/scatter/chrF.svg", asker).status_code == 422
    for ending in ("", ".json", ".csv", ".data.json", ".png"):
        assert hiding.get(f"{BOARD}/charts/scatter{ending}?x=people&y=chrF", asker).status_code == 422
        assert hiding.get(f"{BOARD}/charts/scatter{ending}?x=chrF&y=people", asker).status_code == 422
    assert hiding.get(f"{BOARD}/compare?first=chrF&second=ROUGE-1", asker).status_code == 409
    assert "<b>100" not in hiding.get(f"{BOARD}/instances/i%2F1", asker).text
    assert "judgments/" not in "".join(
        name
        for name in zipfile.ZipFile(io.BytesIO(hiding.get(f"{BOARD}/downloads/board.zip", asker).content)).namelist()
        if name.endswith(".jsonl") and name.startswith("harbour/judgments")
    )


def test_an_owner_sees_all_of_it(hiding: PageSite) -> None:
    assert SECRET in hiding.get(f"{BOARD}/instances/i%2F0", "owner").text
    assert INPUT_WORD in hiding.get(f"{BOARD}/instances/i%2F0", "owner").text
    assert INPUT_WORD in content(hiding.get(f"{BOARD}/downloads/board.zip", "owner").content)
    assert BLIND_NAME in hiding.get(BOARD, "owner").text
    assert 'data-key="people"' in hiding.get(BOARD, "owner").text
    assert TRUE_NAME in hiding.get("/submissions", "owner").text
    assert CAMPAIGN in hiding.get(f"{BOARD}/campaigns", "owner").text


def test_a_suite_shows_everybody_its_tables_and_only_owners_why_a_metric_failed(hiding: PageSite) -> None:
    for asker in (None, "stranger", "owner"):
        page = hiding.get("/suites/harbours/run", asker).text
        assert "chrF" in page
        assert "One ranking over all boards" in page
        assert (SECRET in page) == (asker == "owner")
    assert "it could not run" in hiding.get("/suites/harbours/run").text
    assert hiding.get("/suites/harbours/charts/difficulty.svg").headers["content-type"] == "image/svg+xml"
    assert hiding.get("/suites/nowhere").status_code == 404


def test_a_suite_tells_everybody_nothing_new_of_a_board_that_hides_its_judgments(hiding: PageSite) -> None:
    hiding.work()
    page = hiding.get("/suites/harbours").text
    assert "harbour takes no part here: its judgments are hidden" in page
    assert "Agreement with people" not in page
    assert "Agreement with people" in hiding.get("/suites/harbours", "owner").text


def test_a_broken_suite_is_an_owners_matter(hiding: PageSite) -> None:
    broken = hiding.site.data / "suites" / "broken.toml"
    broken.write_text("name = [")
    try:
        assert hiding.get("/suites").status_code == 200
        assert "broken" not in hiding.get("/suites").text
        assert "broken.toml: is no TOML" in hiding.get("/suites", "owner").text
    finally:
        broken.unlink()


def test_its_own_team_sees_its_submission_and_its_name(hiding: PageSite) -> None:
    page = hiding.get("/submissions", "team").text
    assert TRUE_NAME in page
    assert BLIND_NAME in page
    assert "anonymous-" in hiding.get(BOARD, "team").text
    assert BLIND_NAME not in hiding.get(BOARD, "team").text


def test_pages_kept_for_one_viewer_are_never_shown_to_another(hiding: PageSite) -> None:
    for _ in range(2):
        assert BLIND_NAME in hiding.get(BOARD, "owner").text
        assert BLIND_NAME not in hiding.get(BOARD).text


def test_a_revealed_submission_stands_under_its_name(tmp_path: Path) -> None:
    small = page_site(tmp_path)
    sent = small.submit(TRUE_NAME, anonymous=True)
    small.work()
    assert TRUE_NAME not in small.get(BOARD).text
    answer = small.post(f"/submissions/{sent.id}/reveal", "team")
    assert answer.status_code == 303
    small.work()
    assert TRUE_NAME in small.get(BOARD).text


#: What programs read of a board, each with what leads to something.
API = "/api/v1/boards/harbour"
ROUTES = ["", "/instances", "/generators", "/generators/late/outputs", "/metrics", "/metrics/chrF/scores", "/judgments"]


@pytest.mark.long
def test_inputs_are_withheld_on_every_page_where_nothing_else_is_hidden(hiding: PageSite) -> None:
    kept = hiding.site.boards()[0].settings
    hiding.settle(hidden_references=False, hidden_judgments=False, revealed=True)
    try:
        hiding.work()
        for asker in (None, "stranger"):
            for address in (
                *(one for group in addresses(hiding).values() for one in group),
                *(API + r for r in ROUTES),
            ):
                answer = hiding.get(address, asker)
                assert answer.status_code < 500, address
                assert INPUT_WORD not in content(answer.content) or INPUT_WORD in address, address
        page = hiding.get(BOARD).text
        assert "The inputs of this board are hidden. Inputs can be read from 2100-01-01 00:00 UTC on." in page
        assert SECRET in hiding.get(f"{BOARD}/instances/i%2F0").text
        assert INPUT_WORD in hiding.get(f"{API}/instances", "owner").text
    finally:
        hiding.settle(**{word: kept[word] for word in ("hidden_references", "hidden_judgments", "revealed")})


def test_inputs_are_shown_when_their_phase_opens_on_pages_that_were_kept_too(tmp_path: Path) -> None:
    small = page_site(tmp_path)
    now = 1_800_000_000.0
    small.site.clock = lambda: now
    small.settle(phases=[{"name": "test", "opens": "2027-06-01T00:00Z"}], inputs_from="test")
    page = f"{BOARD}/instances/i%2F0"
    assert ["<dd>input 0</dd>" in small.get(page, asker).text for asker in (None, "team", "owner")] == [
        False,
        False,
        True,
    ]
    now = 1_812_000_000.0
    notice_openings(small.site)
    assert "<dd>input 0</dd>" in small.get(page).text
    with small.site.database.reading() as connection:
        opened = trail.entries(connection, action="board.inputs-opened")
    assert [(entry.actor, entry.detail) for entry in opened] == [("site", {"phase": "test"})]
    notice_openings(small.site)
    with small.site.database.reading() as connection:
        assert len(trail.entries(connection, action="board.inputs-opened")) == 1
