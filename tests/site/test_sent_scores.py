"""A metric that comes as scores only: read in each layout, ranked, marked, and never filled up where it has none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from api_sites import small_site
from page_sites import page_site
from small_sites import Harbour, MakeHarbour

from billboards.analyses.rank import rank_board
from billboards.board.cells import SqliteCells
from billboards.board.folder import open_board
from billboards.errors import InvalidInput, InvalidSubmission, Refused
from billboards.site.boards.board_folder import write_folder
from billboards.site.boards.live import live_board
from billboards.site.boards.masked import Look
from billboards.site.submissions import sending
from billboards.site.submissions.records import Submission
from billboards.site.submissions.sent_scores import read_sent
from billboards.site.work.worker import work_until_done


def quality(harbour: Harbour, generators: tuple[str, ...], *, turned: bool = False) -> bytes:
    """WMT's layout: a system and a score a line, higher for generators that people rate higher."""
    lines = []
    for g in generators:
        for k in range(len(harbour.board.instances)):
            score = -float(g[1:]) + 0.01 * k
            lines.append(f"{g}\t{-score if turned else score}")
    return "\n".join(lines).encode() + b"\n"


def send(harbour: Harbour, raw: bytes, *, higher: bool = True, name: str = "oracle") -> sending.Received:
    return sending.submit_scores(
        harbour.site,
        harbour.person("ann"),
        "ferry",
        name,
        raw,
        higher_is_better=higher,
        training_data="none",
        file_name="oracle.seg.score",
    )


def done(harbour: Harbour, received: sending.Received) -> Submission:
    work_until_done(harbour.site)
    return harbour.now(received.submission)


ALL = ("g0", "g1", "g2", "g3")


def test_a_score_file_ends_in_a_ranked_column_that_is_marked_and_neither_leads_nor_joins(harbour: Harbour) -> None:
    sent = done(harbour, send(harbour, quality(harbour, ALL)))
    assert (sent.state, sent.way) == ("scored", "scores"), sent.reason
    live = live_board(harbour.site, "ferry")
    assert live.document is not None
    ranking = live.document["ranking"]
    column = next(m for m in ranking["metrics"] if m["name"] == "oracle")
    assert column["scores_only"]
    assert column["rank"] is not None
    assert column["n"] == 48
    assert ranking["ranked_by"] != "oracle"
    assert "oracle" not in ranking["ensemble"]["candidates"]
    assert ranking["ensemble"]["left_out"]["oracle"].startswith("scores only")
    means = {g["name"]: g["scores"]["oracle"] for g in ranking["generators"]}
    assert means["g0"] == pytest.approx(0.055)
    assert means["Ben"] is None


def test_a_later_generator_stays_missing_until_its_author_scores_it(harbour: Harbour) -> None:
    first = done(harbour, send(harbour, quality(harbour, ALL)))
    newcomer = sending.submit_generator(harbour.site, harbour.person("bea"), "ferry", "g7", harbour.outputs(3))
    work_until_done(harbour.site)
    assert harbour.now(newcomer.submission).state == "scored"
    scores = _scores(harbour, "g7")
    assert scores is None
    second = done(harbour, send(harbour, quality(harbour, ("g7",))))
    assert (second.version, second.state) == (2, "scored")
    assert second.id != first.id
    assert _scores(harbour, "g7") == pytest.approx(-7 + 0.055)
    # What the second file left out is as it was.
    assert _scores(harbour, "g0") == pytest.approx(0.055)


def _scores(harbour: Harbour, generator: str) -> float | None:
    document = live_board(harbour.site, "ferry").document
    assert document is not None
    (standing,) = [g for g in document["ranking"]["generators"] if g["name"] == generator]
    value: float | None = standing["scores"]["oracle"]
    return value


def test_a_new_version_of_a_generator_loses_the_scores_of_its_old_texts(harbour: Harbour) -> None:
    for seed in (3, 4):
        sending.submit_generator(harbour.site, harbour.person("bea"), "ferry", "g7", harbour.outputs(seed))
        work_until_done(harbour.site)
        if seed == 3:
            done(harbour, send(harbour, quality(harbour, (*ALL, "g7"))))
            assert _scores(harbour, "g7") is not None
    assert _scores(harbour, "g7") is None


def test_lower_is_better_is_declared_and_a_wrong_sign_is_asked_about(harbour: Harbour) -> None:
    wrong = send(harbour, quality(harbour, ALL, turned=True))
    (warning,) = [w for w in wrong.warnings if "correlates" in w.message]
    assert "is a lower score better?" in warning.message
    done(harbour, wrong)
    document = live_board(harbour.site, "ferry").document
    assert document is not None
    assert any("oracle correlates with people" in n and "--lower-is-better" in n for n in document["ranking"]["notes"])
    # The same file, said to be the other way round, is another version.
    right = send(harbour, quality(harbour, ALL, turned=True), higher=False)
    assert not [w for w in right.warnings if "correlates" in w.message]
    assert done(harbour, right).version == 2
    column = next(m for m in _metrics(harbour) if m["name"] == "oracle")
    assert column["correlation"] > 0.5
    assert column["higher_is_better"] is False


def _metrics(harbour: Harbour) -> list[dict[str, Any]]:
    document = live_board(harbour.site, "ferry").document
    assert document is not None
    metrics: list[dict[str, Any]] = document["ranking"]["metrics"]
    return metrics


def test_every_layout_gives_the_same_scores(harbour: Harbour) -> None:
    board = harbour.board
    given = {g: [float(k) + len(g) for k in range(len(board.instances))] for g in ("g0", "g1")}
    rows = [(g, i.id, v) for g, values in given.items() for i, v in zip(board.instances, values, strict=True)]
    layouts = {
        "wmt": "".join(f"{g} {v}\n" for g, _, v in rows),
        "tabs": "".join(f"{g}\t{i}\t{v}\n" for g, i, v in reversed(rows)),
        "table": "score\tinstance\tsystem\n" + "".join(f"{v}\t{i}\t{g}\n" for g, i, v in rows),
        "lines": "".join(json.dumps({"generator": g, "instance": i, "score": v}) + "\n" for g, i, v in rows),
    }
    for name, text in layouts.items():
        sent = read_sent(text.encode(), board, name=name)
        assert {row.generator: row.scores.tolist() for row in sent.rows} == given, name


def test_none_is_missing_and_never_zero(harbour: Harbour) -> None:
    lines = [f"g0\t{'None' if k == 3 else 1.5}" for k in range(12)]
    sent = read_sent("\n".join(lines).encode(), harbour.board)
    assert np.isnan(sent.rows[0].scores[3])
    assert np.isfinite(sent.rows[0].scores).sum() == 11
    assert any("g0: 11 of 12 outputs have a score" in w.message for w in sent.warnings)
    assert any("no score for 4 generators" in w.message for w in sent.warnings)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("g0\t1\n", "1 lines of g0 for 12 instances"),
        ("g0\ti0\tnan\n", "'nan' is no score"),
        ("g0\ti0\tinf\n", "'inf' is no score"),
        ("g0\ti0\t1e999\n", "'1e999' is no score"),
        ("g0\tnowhere\t1\n", "no instance 'nowhere'"),
        ("g0\ti0\t1\ng0\ti0\t2\n", "a second score of g0"),
        ("g9\ti0\t1\n", "holds no score of a generator of board ferry; it names 'g9'"),
        ('{"generator": "g0", "score": 1}\n', "write {"),
        ('{"generator": "g0", "instance": "i0", "score": true}\n', "is no score"),
        ("a b c d\n", "write lines of"),
        ("", "holds no score"),
    ],
)
def test_what_is_no_score_is_refused_with_its_line(harbour: Harbour, text: str, wrong: str) -> None:
    with pytest.raises(InvalidSubmission) as refused:
        read_sent(text.encode(), harbour.board)
    assert wrong in str(refused.value)


def test_a_flood_of_lines_is_refused_before_it_is_read(harbour: Harbour) -> None:
    with pytest.raises(InvalidSubmission, match="5,000 lines for 5 generators"):
        read_sent(b"g0\t1\n" * 5_000, harbour.board)


def test_an_owner_may_refuse_scores_alone(make_harbour: MakeHarbour) -> None:
    harbour = make_harbour(settings='[metrics]\nscores_only = "refuse"\n')
    with pytest.raises(Refused, match="takes no metrics as scores only"):
        send(harbour, quality(harbour, ALL))


def test_what_it_was_trained_on_and_which_references_it_saw_are_checked(harbour: Harbour) -> None:
    with pytest.raises(InvalidInput, match="trained on"):
        sending.submit_scores(
            harbour.site, harbour.owner, "ferry", "x", b"g0\t1\n", higher_is_better=True, training_data=" "
        )
    with pytest.raises(InvalidInput, match="no reference named 'Eve'"):
        sending.submit_scores(
            harbour.site,
            harbour.owner,
            "ferry",
            "x",
            quality(harbour, ALL),
            higher_is_better=True,
            training_data="none",
            references=["Eve"],
        )


def test_a_sender_learns_nothing_of_generators_of_a_blind_phase(make_harbour: MakeHarbour) -> None:
    harbour = make_harbour()
    sending.change_settings(harbour.site, harbour.owner, "ferry", {"phases": [{"name": "test", "blind": True}]})
    hidden = sending.submit_generator(harbour.site, harbour.person("bea"), "ferry", "g7", harbour.outputs(3))
    work_until_done(harbour.site)
    assert harbour.now(hidden.submission).state == "scored"
    received = send(harbour, quality(harbour, (*ALL, "g7")))
    assert [w.message for w in received.warnings if "g7" in w.message] == [
        "1 names are no generators of board ferry and were left out: g7"
    ]
    with pytest.raises(InvalidSubmission, match="holds no score of a generator"):
        send(harbour, quality(harbour, ("g7",)), name="other")


def test_the_board_that_is_downloaded_has_the_column_and_its_mark(harbour: Harbour, tmp_path: Path) -> None:
    done(harbour, send(harbour, quality(harbour, ALL, turned=True), higher=False))
    live = live_board(harbour.site, "ferry", audience="owners")
    folder = write_folder(Look(live), tmp_path / "download")
    board = open_board(folder)
    (column,) = [c for c in board.imported if c.name == "oracle"]
    assert (column.scores_only, column.higher_is_better) == (True, False)
    again = next(m for m in rank_board(board, SqliteCells(folder)).metrics if m.name == "oracle")
    there = next(m for m in _metrics(harbour) if m["name"] == "oracle")
    assert (again.rank, again.correlation) == (there["rank"], there["correlation"])


def test_the_route_takes_them_and_everything_says_what_they_are(tmp_path: Path) -> None:
    small = small_site(tmp_path)
    board = live_board(small.site, "small").board
    lines = [f"{g.name}\t{k * len(g.name)}" for g in board.generators for k in range(len(board.instances))]
    files = {"file": ("mine.seg.score", "\n".join(lines).encode())}
    said = {"name": "mine", "higher_is_better": "true", "training_data": "none"}
    lacking = small.ask("team", "POST", "/boards/small/metrics/scores", data={"name": "mine"}, files=files)
    assert lacking.status_code == 422
    sent = small.ask("team", "POST", "/boards/small/metrics/scores", data=said, files=files)
    assert sent.status_code == 201, sent.text
    small.work()
    answer = small.ask("team", "GET", f"/submissions/{sent.json()['id']}").json()
    assert (answer["state"], answer["settings"]["way"]) == ("scored", "scores")
    columns = {c["name"]: c["scores_only"] for c in small.ask("visitor", "GET", "/boards/small/metrics").json()}
    assert columns["mine"] is True
    assert columns["BLEU"] is False
    page = small.client.get("/boards/small/metrics/mine").text
    assert "Scores only" in page
    assert 'title="¶ scores only' in small.client.get("/boards/small").text


def test_the_form_takes_pasted_scores_and_asks_for_the_direction(tmp_path: Path) -> None:
    small = page_site(tmp_path)
    pasted = "".join(f"{g.name}\t{i.id}\t0.5\n" for g in small.board.generators for i in small.board.instances[:3])
    where = "/boards/harbour/submit/scores"
    assert "Submit the scores" in small.get(where, "team").text
    refused = small.post(where, "team", data={"name": "mine", "pasted": pasted, "training_data": "none"})
    assert refused.status_code == 422
    assert "higher or lower" in refused.text
    fields = {"name": "mine", "pasted": pasted, "training_data": "none", "direction": "higher"}
    sent = small.post(where, "team", data=fields)
    assert sent.status_code == 303, sent.text
    small.work()
    assert "metric, scores only" in small.get(sent.headers["location"], "team").text
