"""A downloaded board is the board: ranking it gives what the site says, to the last bit."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from page_sites import PageSite, page_site
from small_campaigns import by_reference, distinct_board, people
from small_sites import SHARED_WORDS, Clock, Harbour

import billboards as bb
from billboards.board import Aggregate, Board, Dimension
from billboards.board.judgments import JudgmentColumns
from billboards.board.matrix import board_scores
from billboards.campaigns.plan import CampaignPlan
from billboards.cli.main import main
from billboards.site.campaigns.lifecycle import close_campaign, create_campaign, open_campaign

TERSE = "def score(outputs, references, inputs):\n    return [-len(output) for output in outputs]\n"
MANIFEST = """name = "{name}"
higher_is_better = true
needs = ["references"]
training_data = "none"
"""


def judged_board() -> Board:
    """A board whose folder has judgments of two campaigns, given in turns, so that their order is no file's."""
    board = distinct_board(instances=10)
    judged = JudgmentColumns(("adequacy",))
    for k in range(len(board.instances)):
        for row in range(3):
            for campaign, value in (("west", 5 - row), ("east", 5 - row - (k % 3) / 3), (None, 4 - row + k / 10)):
                judged.add(k, row, {"adequacy": float(value)}, annotator=f"of {campaign}", campaign=campaign)
    return replace(
        board,
        judgments=judged.build(),
        dimensions={"adequacy": Dimension("adequacy")},
        aggregates={"overall": Aggregate("overall", ("adequacy",))},
        ranks="overall",
    )


def write_odd_files(folder: Path, board: Board) -> None:
    """Files as a person writes them: other spaces, another order of lines, an imported metric where lower is better."""
    outputs = folder / "generators" / "g1.jsonl"
    lines = [line.replace('": "', '":"') for line in outputs.read_text().splitlines()]
    outputs.write_text("\n".join(reversed(lines)) + "\n")
    (folder / "scores").mkdir()
    rows = [f"{i.id}\t{1 + k / 7:.3f}\t2.50\t{3 + k % 3}.0" for k, i in enumerate(board.instances)]
    (folder / "scores" / "errors.tsv").write_text("instance\tg0\tg1\tg2\n" + "\n".join(rows) + "\n")
    with (folder / "board.toml").open("a") as file:
        file.write('\n[scores.errors]\nname = "Errors"\nhigher_is_better = false\nneeds = []\n')


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageSite]:
    """A site after two submitted generators, two submitted metrics of which one was withdrawn, and a campaign."""
    home = tmp_path_factory.mktemp("busy")
    board = judged_board()
    site = page_site(home, board=board)
    write_odd_files(home / "ferry", board)
    site.settle(draws=1000)
    site.work()
    for name, words in (("Aged", 4), ("zest", 6)):
        texts = [" ".join(i.references[0].text.split()[:words]) for i in board.instances]
        send(site, "generators", name, "outputs.txt", "\n".join(texts).encode())
    kept = send(site, "metrics", "shared", "shared.zip", packed("shared", SHARED_WORDS))
    gone = send(site, "metrics", "terse", "terse.zip", packed("terse", TERSE))
    site.work()
    headers = {"authorization": f"Bearer {site.tokens['team']}"}
    assert site.client.post(f"/api/v1/submissions/{gone['id']}/withdraw", headers=headers).status_code == 200
    assert kept["state"] != "failed"
    harbour = Harbour(site.site, Clock(), site.owner, board)
    plan = CampaignPlan(instances=10, positive=0.0, negative=0.0)
    made = create_campaign(
        site.site, site.owner, "ferry", "first", "genie-translation", generators=["Aged", "g0", "g2"], plan=plan
    )
    open_campaign(site.site, site.owner, made.id)
    for person in people(harbour, made, by_reference):
        person.answer_all()
    close_campaign(site.site, site.owner, made.id, ranks=True)
    site.work()
    yield site
    site.site.close()


def packed(name: str, program: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("metric.toml", MANIFEST.format(name=name))
        archive.writestr("metric.py", program)
    return file.getvalue()


def send(site: PageSite, kind: str, name: str, file: str, raw: bytes) -> Any:
    headers = {"authorization": f"Bearer {site.tokens['team']}"}
    answer = site.client.post(
        f"/api/v1/boards/ferry/{kind}", headers=headers, data={"name": name}, files={"file": (file, raw)}
    )
    assert answer.status_code == 201, answer.text
    return answer.json()


def unpacked(site: PageSite, target: Path, asker: str | None = None) -> Path:
    answer = site.get("/boards/ferry/downloads/board.zip", asker)
    assert answer.status_code == 200, answer.text
    zipfile.ZipFile(io.BytesIO(answer.content)).extractall(target)
    return target / "ferry"


def said(site: PageSite) -> Any:
    return site.client.get("/api/v1/boards/ferry/ranking").json()["ranking"]


@pytest.mark.long
def test_ranking_the_download_gives_the_ranking_of_the_site_to_the_last_bit(busy: PageSite, tmp_path: Path) -> None:
    on_site = said(busy)
    assert {"shared", "Errors", "chrF"} <= {metric["name"] for metric in on_site["metrics"]}
    assert "terse" not in {metric["name"] for metric in on_site["metrics"]}
    assert on_site["aggregate"] == "genie-translation"
    assert {"Aged", "zest"} <= {generator["name"] for generator in on_site["generators"]}
    assert on_site["ensemble"] is not None
    assert bb.rank(bb.open(unpacked(busy, tmp_path))).document == on_site


def test_the_download_holds_the_ensembles_and_rankings_that_were_kept(
    busy: PageSite, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = unpacked(busy, tmp_path)
    ensemble = bb.rank(bb.open(folder)).value.ensemble
    assert ensemble is not None
    assert ensemble.signature in {path.stem for path in (folder / "ensembles").iterdir()}
    scores = tmp_path / "scores.tsv"
    names = list(ensemble.weights)
    rows = ["\t".join([instance.id, *("0.5" for _ in names)]) for instance in busy.board.instances]
    scores.write_text("\n".join(["\t".join(["instance", *names]), *rows]) + "\n")
    outputs = str(folder / "generators" / "Aged.jsonl")
    asked = ["ensemble", "apply", ensemble.signature, outputs, "--board", str(folder), "--scores", str(scores)]
    assert main([*asked, "--json"]) == 0
    assert ensemble.signature in capsys.readouterr().out
    assert main(["history", str(folder)]) == 0
    assert len(capsys.readouterr().out.splitlines()) >= 2
    assert "billboards rank ferry\n" in (folder / "RANKING.txt").read_text()


def test_programs_come_along_where_the_owner_allows_it(busy: PageSite, tmp_path: Path) -> None:
    assert not (unpacked(busy, tmp_path / "closed") / "programs").exists()
    busy.settle(open_programs=True)
    folder = unpacked(busy, tmp_path / "open")
    assert {path.name for path in (folder / "programs").iterdir()} == {"shared"}
    assert (folder / "programs" / "shared" / "metric.py").read_text() == SHARED_WORDS
    busy.settle(open_programs=False)


def test_a_board_that_hides_its_references_can_be_downloaded_with_its_scores(tmp_path: Path) -> None:
    site = page_site(tmp_path, board=replace(judged_board(), imported=()))
    write_odd_files(tmp_path / "ferry", site.board)
    with (tmp_path / "ferry" / "board.toml").open("a") as file:
        file.write('[scores.learned]\nreferences = ["Ada"]\n')
    scores = (tmp_path / "ferry" / "scores" / "errors.tsv").read_text()
    (tmp_path / "ferry" / "scores" / "learned.tsv").write_text(scores)
    site.settle(hidden_references=True, hidden_judgments=True)
    site.work()
    folder = unpacked(site, tmp_path / "out")
    board = bb.open(folder)
    assert board.reference_names == ()
    assert len(board.judgments) == 0
    matrix = board_scores(board, None)
    assert {"chrF", "Errors", "learned"} <= set(matrix.names)
    (first,) = [row for row in said(site)["generators"] if row["name"] == "g0"]
    assert matrix.of("chrF")[board.row_position["g0"]].mean() == first["scores"]["chrF"]
    assert not (folder / ".billboards").exists()
    assert "can't be ranked as it is there" in (folder / "RANKING.txt").read_text()
    site.site.close()


def test_scores_that_an_owner_adds_over_http_rank_a_submitted_generator_and_come_along(tmp_path: Path) -> None:
    board = judged_board()
    site = page_site(tmp_path, board=board)
    write_odd_files(tmp_path / "ferry", board)
    site.settle(by="Errors", draws=10)
    texts = [" ".join(i.references[0].text.split()[:4]) for i in board.instances]
    send(site, "generators", "late", "outputs.txt", "\n".join(texts).encode())
    site.work()
    ranks = {row["name"]: row["rank"] for row in said(site)["generators"]}
    assert ranks["late"] is None
    lines = "".join(f"{i.id}\t{word}\t0.25\n" for word in ("late", "Ada") for i in board.instances)
    sent = {"file": ("errors.tsv", b"instance\tgenerator\tscore\n" + lines.encode())}
    address, asked = "/api/v1/boards/ferry/scores", {"metric": "Errors"}
    headers = {name: {"authorization": f"Bearer {site.tokens[name]}"} for name in ("team", "owner")}
    assert site.client.post(address, headers=headers["team"], data=asked, files=sent).status_code == 403
    answer = site.client.post(address, headers=headers["owner"], data=asked, files=sent)
    assert answer.status_code == 200, answer.text
    expected = {"metric": "errors", "new": False, "added": {"Ada": 10, "late": 10}, "replaced": {}, "same": 0}
    assert answer.json() == {"columns": [expected]}
    other = {"file": ("errors.tsv", b"instance\tscore\ni0\t9\n")}
    asked["generator"] = "late"
    assert site.client.post(address, headers=headers["owner"], data=asked, files=other).status_code == 422
    site.work()
    late = next(row for row in said(site)["generators"] if row["name"] == "late")
    assert (late["rank"], late["scores"]["Errors"]) == (1, 0.25)
    again = bb.rank(bb.open(unpacked(site, tmp_path / "out")), by="Errors", draws=10).document
    assert [(row["name"], row["rank"], row["scores"]) for row in again["generators"]] == [
        (row["name"], row["rank"], row["scores"]) for row in said(site)["generators"]
    ]
    site.site.close()
