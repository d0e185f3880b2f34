"""Attacks that read hidden texts and judgments out of what a board says, played through its own doors.

- one-hot metric against hidden judgments: prevented, it gets no correlation, and the board says why;
- one-hot metric under noise: prevented in the same way;
- correlations, intervals and weights with 16 digits: prevented, two or three digits on every door;
- the order of two metrics as a comparison finer than their digits: prevented, who reads alike stands alike;
- metric that writes a reference's bytes into its scores: prevented, nobody but owners sees its single scores;
- metric that writes them into generators' means: narrowed to ten bits a generator, which docs/security.md counts;
- metric that prints what it is given, or fails with it: prevented, its team sees no word of it, owners do;
- metric that speaks by its exit code, or by how many lines it prints: prevented;
- many metrics, each asking a little more: refused after three a day, before the file is read;
- boosting by random metrics: stopped by the limit, and by the Ladder where the board has one;
- withdrawing a metric to climb the Ladder anew: prevented, what was told stays told;
- asking for a name to learn whether it is taken: prevented, a name that is hidden is free.
"""

from __future__ import annotations

import io
import json
import math
import re
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from page_sites import PageSite, page_site
from small_sites import DECLARED, make_board

from billboards.analyses._view import judged_matrix
from billboards.board import Board
from billboards.errors import Refused
from billboards.site.boards.live import live_board
from billboards.site.pages.bundles import FILES
from billboards.site.submissions import records as submissions
from billboards.site.submissions import sending as submitting
from billboards.site.submissions.records import Submission

BOARD, API = "/boards/ferry", "/api/v1/boards/ferry"
CLOSES = "2100-01-01T00:00Z"
#: What a metric makes of the first bytes of a reference: a number of 15 digits.
SPELL = """
def number(text):
    return float(int.from_bytes(text.encode()[:6], "big"))

def score(outputs, references, inputs):
    return [number(texts[0]) for texts in references]
"""
PRINT = """
import sys

def score(outputs, references, inputs):
    for output in outputs:
        print(output, flush=True)
    return [float(len(output)) for output in outputs]
"""
WITHOUT = {**DECLARED, "needs": []}


@pytest.fixture
def ferry(tmp_path: Path) -> Iterator[PageSite]:
    """A site on a small board, scored and ranked."""
    small = page_site(tmp_path, board=make_board(12, 5))
    small.work()
    yield small
    small.site.close()


def send_scores(small: PageSite, name: str, scores: np.ndarray[Any, Any], *, by: str = "team") -> Submission:
    """A metric as scores only, of the board's own generators."""
    rows = small.board.rows
    lines = [
        f"{row.name}\t{instance.id}\t{float(scores[r, k])!r}"
        for r, row in enumerate(rows)
        for k, instance in enumerate(small.board.instances)
    ]
    return submitting.submit_scores(
        small.site,
        small.viewer(by),
        "ferry",
        name,
        "\n".join(lines).encode(),
        higher_is_better=True,
        training_data="none",
        needs=(),
    ).submission


def send_program(
    small: PageSite, name: str, code: str, *, by: str = "team", needs: Any = DECLARED, **how: Any
) -> Submission:
    viewer = small.viewer(by)
    return submitting.submit_metric(
        small.site, viewer, "ferry", code.encode(), name=name, manifest=needs, **how
    ).submission


def shape(board: Board) -> tuple[int, int]:
    return len(board.rows), len(board.instances)


def ranking(small: PageSite, asker: str | None = None) -> dict[str, Any]:
    found: dict[str, Any] = small.get(f"{API}/ranking", asker).json()["ranking"]
    return found


def standing(document: dict[str, Any], name: str) -> dict[str, Any]:
    return next(metric for metric in document["metrics"] if metric["name"] == name)


def numbers(value: Any) -> Iterator[float]:
    """Every number with a point in a document."""
    if isinstance(value, float):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from numbers(inner)


def state_of(small: PageSite, sent: Submission) -> Submission:
    with small.site.database.reading() as connection:
        return submissions.get(connection, sent.id)


@pytest.mark.long
@pytest.mark.parametrize("noise", [0.0, 1e-3])
def test_attack_one_hot_metric_gets_no_correlation_and_the_board_says_why(ferry: PageSite, noise: float) -> None:
    ferry.settle(hidden_judgments=True)
    scores = noise * np.random.default_rng(0).normal(size=shape(ferry.board))
    scores[1, 3] += 1.0
    send_scores(ferry, "probe", scores)
    ferry.work()
    told = standing(ranking(ferry), "probe")
    assert told["correlation"] is None
    assert told["rank"] is None
    assert told["interval"] is None
    assert re.fullmatch(
        r"its scores hardly vary: their variance lies in about \d of \d+ judged outputs", told["reason"]
    )
    assert "hardly vary" in ferry.get(f"{BOARD}/downloads/metrics.csv").text
    # The owner is told what it would have told everybody: the judgment itself.
    exact = standing(ranking(ferry, "owner"), "probe")["correlation"]
    live = live_board(ferry.site, "ferry", audience="owners")
    matrix = judged_matrix(live.board, live.cells)
    human = matrix.judged_human[np.isfinite(matrix.judged_human)]
    read = human.mean() + exact * human.std() * math.sqrt(len(human) - 1)
    assert read == pytest.approx(matrix.judged_human[1, 3], abs=0.3 if noise else 1e-9)


@pytest.mark.long
def test_attack_sixteen_digits_are_on_no_door_where_judgments_are_hidden(ferry: PageSite) -> None:
    exact = ranking(ferry)
    assert any(len(repr(metric["correlation"])) > 8 for metric in exact["metrics"])
    ferry.settle(hidden_judgments=True)
    ferry.work()
    documents = [
        ranking(ferry),
        ferry.get(f"{API}/rankings/1").json()["ranking"],
        ferry.get(f"{API}/rankings/2").json()["ranking"],
        json.loads(ferry.get(f"{BOARD}/downloads/ranking.json").text),
    ]
    for document in documents:
        for metric in document["metrics"]:
            assert all(value == round(value, 3) for value in numbers([metric["correlation"], metric["interval"]]))
        ensemble = document["ensemble"]
        assert all(float(f"{value:.2g}") == value for value in numbers([ensemble["intercept"], ensemble["lambda"]]))
        assert all(float(f"{value:.2g}") == value for value in ensemble["weights"].values())
        assert ensemble["lambda_range"] is None
        assert document["alternative"] is None
        assert document["people"] is None
        assert all(line["correlation"] == round(line["correlation"], 3) for line in document["lines"])
    for place in ferry.get(f"{API}/history/metric").json():
        assert place["value"] is None or place["value"] == round(place["value"], 2)
    for kept in ferry.get(f"{API}/ensembles").json():
        assert all(float(f"{value:.2g}") == value for value in kept["ensemble"]["weights"].values())
        assert kept["ensemble"]["correlation"] == round(kept["ensemble"]["correlation"], 3)
    overrating = ferry.get(f"{API}/ranking").json()["overrating"]
    assert all(value == round(value, 2) for metric in overrating["metrics"] for value in numbers(metric["ci90"]))
    with zipfile.ZipFile(io.BytesIO(ferry.get(f"{BOARD}/downloads/board.zip").content)) as archive:
        files = [name for name in archive.namelist() if "/rankings/" in name or "/ensembles/" in name]
        assert files
        for name in files:
            assert not re.search(r'"(correlation|intercept|lam)": -?\d+\.\d{4,}', archive.read(name).decode())
    assert "rounded to the digits that their intervals support" in ferry.get(BOARD).text
    # Owners have what is exact, and so does everybody once the judgments are shown.
    assert any(len(repr(metric["correlation"])) > 8 for metric in ranking(ferry, "owner")["metrics"])
    ferry.settle(hidden_judgments=False)
    ferry.work()
    assert [metric["correlation"] for metric in ranking(ferry)["metrics"]] == [
        metric["correlation"] for metric in exact["metrics"]
    ]


@pytest.mark.long
def test_attack_the_order_of_two_metrics_says_no_more_than_their_digits(ferry: PageSite) -> None:
    ferry.settle(hidden_judgments=True, draws=0)
    random = np.random.default_rng(4)
    base = random.normal(size=shape(ferry.board))
    send_scores(ferry, "zeta", base)
    send_scores(ferry, "alpha", base + 1e-6 * random.normal(size=base.shape))
    send_scores(ferry, "mid", base + 1e-6 * random.normal(size=base.shape))
    ferry.work()
    told = [standing(ranking(ferry), name) for name in ("alpha", "mid", "zeta")]
    exact = [standing(ranking(ferry, "owner"), name)["correlation"] for name in ("alpha", "mid", "zeta")]
    assert len(set(exact)) == 3
    assert len({metric["correlation"] for metric in told}) == 1
    assert len({metric["rank"] for metric in told}) == 1
    names = [metric["name"] for metric in ranking(ferry)["metrics"] if metric["name"] in ("alpha", "mid", "zeta")]
    assert names == ["alpha", "mid", "zeta"]


@pytest.mark.long
def test_attack_a_reference_spelt_in_scores_is_read_by_nobody(ferry: PageSite) -> None:
    ferry.settle(hidden_references=True)
    sent = send_program(ferry, "speller", SPELL)
    ferry.work()
    assert state_of(ferry, sent).state == "scored"
    spelt = {float(int.from_bytes(i.references[0].text.encode()[:6], "big")) for i in ferry.board.instances}
    first = ferry.board.instances[0].id
    pages = [
        BOARD,
        f"{BOARD}/metrics/speller",
        f"{BOARD}/instances",
        f"{BOARD}/instances/{first}",
        f"{BOARD}/generators/g0",
        f"{BOARD}/compare?first=g0&second=g1",
        f"{BOARD}/downloads",
        f"{API}/ranking",
        *(f"{BOARD}/downloads/{name}" for name, (_, kind, _) in FILES.items() if "zip" not in kind),
        *(f"{API}/analyses/{name}" for name in ("rank", "compare.generators?first=g0&second=g1", "power", "card")),
    ]
    for asker in (None, "team", "stranger"):
        for page in pages:
            text = ferry.get(page, asker).text.replace(",", "")
            assert not any(f"{value:.0f}" in text for value in spelt), page
        assert "speller" not in ferry.get(f"{BOARD}/downloads/scores.csv", asker).text.splitlines()[0]
        content = ferry.get(f"{BOARD}/downloads/everything.zip", asker).content
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for name in archive.namelist():
                inside = archive.read(name).decode("latin-1")
                assert not any(f"{value:.0f}" in inside for value in spelt), name
                assert "speller" not in name or "programs" in name
        refused = ferry.get(f"{BOARD}/instances?metric=speller", asker)
        assert refused.status_code == 404
        assert "withheld until the organisers reveal what is hidden" in ferry.get(BOARD, asker).text
        assert "it was given references that are hidden" in ferry.get(f"{BOARD}/metrics/speller", asker).text
    assert "speller" in ferry.get(f"{BOARD}/downloads/scores.csv", "owner").text.splitlines()[0]
    # Other metrics, and scores that their author computed, stay as they were.
    assert "chrF" in ferry.get(f"{BOARD}/downloads/scores.csv").text.splitlines()[0]


@pytest.mark.long
def test_attack_a_reference_spelt_in_means_is_cut_to_three_digits(ferry: PageSite) -> None:
    ferry.settle(hidden_references=True)
    # The same number for every output, which only a metric may give that needs all outputs of a generator at once.
    spell = SPELL.replace("number(texts[0]) for texts in references", "number(min(references)[0])] * len(outputs) + [")
    send_program(ferry, "speller", spell, needs={**DECLARED, "needs": ["references", "corpus"]})
    ferry.work()
    exact, told = (
        {mean for row in ranking(ferry, asker)["generators"] if (mean := row["scores"]["speller"]) is not None}
        for asker in ("owner", None)
    )
    assert all(len(f"{value:.0f}") == 15 for value in exact)
    assert all(float(f"{value:.3g}") == value for value in told)
    assert standing(ranking(ferry), "speller")["correlation"] is None


@pytest.fixture
def blind(ferry: PageSite) -> PageSite:
    """A board with a blind phase, in which the other team has sent a generator."""
    ferry.settle(phases=[{"name": "blind", "blind": True, "closes": CLOSES}])
    ferry.submit("darkhorse", asker="stranger", word="periscope")
    ferry.work()
    return ferry


@pytest.mark.long
@pytest.mark.parametrize("fails", [False, True], ids=["prints", "fails"])
def test_attack_a_blind_row_is_in_no_word_of_a_metric_that_its_team_sees(blind: PageSite, fails: bool) -> None:
    code = PRINT.replace("    return", "    raise SystemExit(outputs[0])\n    return") if fails else PRINT
    # A program sees a few rows at its trial, and all of them when it scores.
    code = code.replace("for output in outputs:", "for output in outputs * 3:")
    sent = send_program(blind, "parrot", code, needs=WITHOUT)
    blind.work()
    after = state_of(blind, sent)
    words = f"{after.reason}{blind.get(f'/submissions/{sent.id}', 'team').text}"
    words += blind.get(f"/api/v1/submissions/{sent.id}", "team").text
    words += blind.get(f"/api/v1/submissions/{sent.id}/log", "team").text
    row = blind.board.rows[0].texts[0] or ""
    assert "periscope" not in words
    assert row not in words
    assert words.count(submitting.WITHHELD) == 2
    owners = blind.get(f"/api/v1/submissions/{sent.id}/log", "owner").text
    assert any((text or "") in owners for each in blind.board.rows for text in each.texts)
    if not fails:
        assert after.state == "scored"
        assert "periscope" in owners
        # Its scores may hold what it saw as well.
        blind.settle(revealed=True)
        blind.work()
        assert "parrot" in blind.get(f"{BOARD}/downloads/scores.csv").text.splitlines()[0]
        assert row in blind.get(f"/api/v1/submissions/{sent.id}/log", "team").text


@pytest.mark.long
def test_a_log_from_before_the_blind_phase_stays_readable(ferry: PageSite) -> None:
    sent = send_program(ferry, "early", PRINT, needs=WITHOUT)
    ferry.work()
    row = ferry.board.rows[0].texts[0] or ""
    assert row in ferry.get(f"/api/v1/submissions/{sent.id}/log", "team").text
    ferry.settle(phases=[{"name": "blind", "blind": True, "closes": CLOSES}])
    ferry.submit("darkhorse", asker="stranger")
    ferry.work()
    assert row in ferry.get(f"/api/v1/submissions/{sent.id}/log", "team").text
    assert "early" not in ferry.get(f"{BOARD}/downloads/scores.csv").text.splitlines()[0]


@pytest.mark.long
@pytest.mark.parametrize(
    "speaks",
    ["raise SystemExit(len(references[0][0]) % 200)", "print('x\\n' * len(references[0][0]), flush=True)"],
    ids=["exit code", "lines"],
)
def test_attack_neither_exit_codes_nor_counts_of_lines_speak(ferry: PageSite, speaks: str) -> None:
    ferry.settle(hidden_references=True)
    code = f"def score(outputs, references, inputs):\n    {speaks}\n    return [0.5 * len(o) for o in outputs]\n"
    sent = send_program(ferry, "morse", code)
    ferry.work()
    after = state_of(ferry, sent)
    length = len(ferry.board.instances[0].references[0].text)
    log = ferry.get(f"/api/v1/submissions/{sent.id}/log", "team").json()["items"]
    assert [line["id"] for line in log] == list(range(1, len(log) + 1))
    assert sum(line["stream"] == "program" for line in log) <= 1
    assert not re.search(rf"\b{length % 200}\b", f"{after.reason}")
    if "Exit" in speaks:
        assert after.reason == (
            "morse: ended with an exit code that is not 0, or by a signal; more is withheld, because it was given "
            "texts that its author may not read"
        )


def test_attack_the_fourth_metric_of_a_day_is_refused_before_it_is_looked_at(ferry: PageSite) -> None:
    ferry.settle(hidden_judgments=True)
    random = np.random.default_rng(5)
    for k in range(3):
        send_scores(ferry, f"try{k}", random.normal(size=shape(ferry.board)))
    with pytest.raises(
        Refused, match="team of team has sent its 3 metrics of today: judgments or references are hidden"
    ):
        submitting.submit_metric(ferry.site, ferry.viewer("team"), "ferry", b"no archive, and no program", name="x")
    assert "metrics of team team of team: 3 of 3 today, 3 of 10 in all" in ferry.get(f"{BOARD}/submit", "team").text
    # What is there already can be asked for again, and others have tries of their own.
    again = send_scores(ferry, "try2", np.random.default_rng(5).normal(size=(3, *shape(ferry.board)))[2])
    assert again.version == 1
    send_scores(ferry, "theirs", random.normal(size=shape(ferry.board)), by="stranger")
    ferry.settle(hidden_per_day=None, hidden_total=4)
    send_scores(ferry, "try3", random.normal(size=shape(ferry.board)))
    with pytest.raises(Refused, match="has sent all of its 4 metrics for board ferry"):
        send_scores(ferry, "try4", random.normal(size=shape(ferry.board)))
    ferry.settle(hidden_judgments=False)
    assert send_scores(ferry, "try4", random.normal(size=shape(ferry.board))).version == 1


@pytest.mark.long
@pytest.mark.parametrize("ladder", [True, 0.1])
def test_attack_boosting_learns_nothing_from_the_ladder_and_withdrawing_does_not_reset_it(
    ferry: PageSite, ladder: bool | float
) -> None:
    ferry.settle(hidden_judgments=True, ladder=ladder, hidden_per_day=None, draws=0, trust={"flagged": "count"})
    right = [[sum(word != "wrong" for word in (text or "").split()) for text in row.texts] for row in ferry.board.rows]
    human = np.array(right, float)
    random = np.random.default_rng(6)
    first = human + 2.0 * random.normal(size=human.shape)
    send = [
        ("first", first),
        ("worse", random.normal(size=human.shape)),
        ("alike", first + 1e-3 * random.normal(size=human.shape)),
    ]
    for name, scores in send:
        send_scores(ferry, name, scores)
        ferry.work()
    told = {name: standing(ranking(ferry), name) for name, _ in send}
    exact = {name: standing(ranking(ferry, "owner"), name)["correlation"] for name, _ in send}
    assert exact["worse"] < exact["first"] - 0.05
    assert told["worse"]["correlation"] == told["alike"]["correlation"] == told["first"]["correlation"]
    assert told["worse"]["interval"] is None
    assert told["worse"]["rank"] == told["first"]["rank"]
    assert any("worse is not better than its team's best" in note for note in ranking(ferry)["notes"])
    assert "only where it beats its team" in ferry.get(BOARD).text
    assert '"ladder"' not in ferry.get("/api/v1/submissions", "team").text
    with ferry.site.database.reading() as connection:
        (best,) = submissions.find(connection, board="ferry", name="first")
    submitting.withdraw(ferry.site, ferry.viewer("team"), best.id)
    send_scores(ferry, "again", random.normal(size=human.shape))
    ferry.work()
    assert standing(ranking(ferry), "again")["correlation"] == told["first"]["correlation"]
    better = human + 0.05 * random.normal(size=human.shape)
    send_scores(ferry, "better", better)
    ferry.work()
    improved = standing(ranking(ferry), "better")
    assert improved["correlation"] > told["first"]["correlation"]
    assert improved["correlation"] == pytest.approx(
        standing(ranking(ferry, "owner"), "better")["correlation"], abs=0.051
    )


@pytest.mark.long
def test_attack_a_name_that_is_hidden_is_free(blind: PageSite) -> None:
    sent = blind.submit("darkhorse", asker="team", word="submarine")
    assert (sent.name, sent.version) == ("darkhorse", 1)
    blind.submit("masked", asker="stranger", anonymous=True, entry="contrastive")
    own = blind.submit("masked", asker="team", entry="contrastive")
    assert own.version == 1
    again = blind.submit("darkhorse", asker="team", word="galleon")
    assert again.version == 2
    blind.work()
    owners = live_board(blind.site, "ferry", audience="owners").generators
    assert {"darkhorse", "darkhorse-2", "masked"} <= owners.keys()
    blind.settle(revealed=True)
    blind.work()
    shown = live_board(blind.site, "ferry").generators
    assert shown["darkhorse"].team == "team of stranger"
    assert shown["darkhorse-2"].team == "team of team"
    assert shown["darkhorse-2"].id == again.id
    assert "galleon" in blind.get(f"{BOARD}/generators/darkhorse-2").text
    assert f"{BOARD}/generators/darkhorse-2" in blind.get(f"/submissions/{again.id}", "team").text
    # Who reveals a name that everybody knows as another team's gets a number behind it.
    (anonymous,) = (s for s in shown.values() if s.anonymous)
    submitting.reveal(blind.site, blind.viewer("stranger"), anonymous.id)
    names = live_board(blind.site, "ferry").generators
    assert names["masked"].team == "team of team"
    assert names["masked-2"].id == anonymous.id
    # A name that everybody can see is taken.
    with pytest.raises(Refused, match="the name masked is taken by another team"):
        blind.submit("masked", asker="owner", entry="contrastive")


@pytest.mark.long
def test_two_metrics_of_one_hidden_name_are_told_apart(blind: PageSite) -> None:
    by_length, by_words = (
        f"def score(outputs, references, inputs):\n    return [float(len(o{how})) for o in outputs]\n"
        for how in ("", ".split()")
    )
    first = send_program(blind, "ruler", by_length, by="stranger", needs=WITHOUT, entry="contrastive")
    second = send_program(blind, "ruler", by_words, needs=WITHOUT)
    assert second.version == 1
    blind.work()
    assert "ruler-2" not in blind.get(f"/api/v1/submissions/{second.id}", "team").text
    blind.settle(revealed=True)
    blind.work()
    live = live_board(blind.site, "ferry")
    assert (live.metrics["ruler"].id, live.metrics["ruler-2"].id) == (first.id, second.id)
    means = {row["name"]: row["scores"] for row in ranking(blind)["generators"]}
    words = np.mean([len((text or "").split()) for text in blind.board.rows[0].texts])
    letters = np.mean([len(text or "") for text in blind.board.rows[0].texts])
    assert means["g0"]["ruler"] == pytest.approx(letters)
    assert means["g0"]["ruler-2"] == pytest.approx(words)


def test_scripted_attackers_read_far_less_than_before() -> None:
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
    import leakage

    told = {(leak.attack, leak.submissions): leak.bits for leak in leakage.leaks(1)}
    assert told["one-hot", 100]["before"] > 500
    assert told["packed", 10]["before"] > 300
    for attack in ("one-hot", "packed", "bytes", "printing"):
        assert told[attack, 100]["rounded"] == 0
    for attack in ("random", "boosting"):
        assert told[attack, 100]["before"] > 20
        assert told[attack, 100]["limited"] <= 10 * math.log2(201)
        assert told[attack, 100]["ladder"] < 1
    assert told["means", 1]["before"] == 432
    assert told["means", 1]["rounded"] == 81
    assert told["bytes", 1]["before"] == 19_200
