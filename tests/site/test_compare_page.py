"""The page that compares two to six generators or metrics: tests of every pair, buckets, texts, marked errors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from page_sites import ODD, SLASHED, PageSite, page_board, page_site

from billboards.analyses._buckets import buckets_of, generator_buckets, metric_buckets
from billboards.analyses.compare import compare_every_two, compare_generators
from billboards.board import Instance, Outputs
from billboards.board.judgments import JudgmentColumns, join_judgments
from billboards.site.accounts.access import VISITOR
from billboards.site.boards.live import live_board
from billboards.site.boards.masked import Look
from billboards.site.pages.marked_spans import mark_errors

BOARD = "/boards/harbour"
SPAN = {"start": 0, "end": 5, "severity": "major", "category": "accuracy"}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageSite]:
    board = page_board(16)
    long = tuple(
        replace(i, input=f"input {k}" + " and more" * (k // 4), tags=("new",) if k < 6 else ())
        for k, i in enumerate(board.instances)
    )
    marked = JudgmentColumns(("adequacy",))
    marked.add(0, board.row_position["Cleo"], {"adequacy": 4.0}, annotator="ann", details={"spans": [SPAN]})
    board = replace(board, instances=long, judgments=join_judgments(board.judgments, marked.build()))
    made = page_site(tmp_path_factory.mktemp("compared"), board=board)
    made.work()
    yield made
    made.site.close()


def look_at(small: PageSite) -> Look:
    return Look(live_board(small.site, "harbour", audience=VISITOR.audience))


def test_several_generators_are_tested_as_two_alone_are(small: PageSite) -> None:
    live = live_board(small.site, "harbour")
    names = [ODD, SLASHED, "Cleo"]
    every = compare_every_two(live.board, live.cells, names, by="chrF")
    assert [(pair.first, pair.second) for pair in every.compared] == [(ODD, SLASHED), (ODD, "Cleo"), (SLASHED, "Cleo")]
    for pair in every.compared:
        alone = compare_generators(live.board, live.cells, pair.first, pair.second, by="chrF")
        assert pair.tested == next(score for score in alone.scores if score.name == "chrF")
    assert all(pair.holm >= pair.tested.p for pair in every.compared)


def test_the_page_compares_three_generators_and_says_what_is_sure(small: PageSite) -> None:
    page = small.client.get(f"{BOARD}/compare", params={"of": [ODD, SLASHED, "Cleo"], "by": "chrF"}).text
    assert "every two by chrF" in page
    assert "Holm corrects it for 3 pairs" in page
    assert 'id="headline"' in page
    assert "means on the instances that all have" in page
    assert 'rel="bookmark"' in page


def test_addresses_from_before_lead_to_the_same_comparison(small: PageSite) -> None:
    old = small.client.get(f"{BOARD}/compare", params={"first": ODD, "second": "Cleo"}).text
    new = small.client.get(f"{BOARD}/compare", params={"of": [ODD, "Cleo"]}).text
    assert old == new


@pytest.mark.parametrize(
    ("names", "status", "words"),
    [
        (["late", "late"], 422, "compared with itself"),
        (["late", "chrF"], 422, "choose generators only, or metrics only"),
        (["late", "nobody"], 404, "nobody"),
        ([f"x{k}" for k in range(7)], 422, "at most 6"),
    ],
)
def test_a_choice_that_can_not_be_compared_is_refused(
    small: PageSite, names: list[str], status: int, words: str
) -> None:
    answer = small.client.get(f"{BOARD}/compare", params={"of": names}, headers={"accept": "text/html"})
    assert answer.status_code == status
    assert words in answer.text


def test_buckets_part_instances_by_length_domain_and_tag(small: PageSite) -> None:
    buckets = buckets_of(look_at(small).board)
    assert {kind: {name: len(places) for name, places in named.items()} for kind, named in buckets.items()} == {
        "domain": {"land": 8, "sea": 8},
        "tag": {"new": 6},
    }
    board = look_at(small).board
    longer = tuple(Instance(f"x{k}", input="word " * (k + 1)) for k in range(40))
    rows = tuple(
        Outputs(name=r.name, generator=r.generator, version=r.version, load=lambda: ("",) * 40) for r in board.rows
    )
    lengths = buckets_of(replace(board, instances=longer, rows=rows, judgments=JudgmentColumns(("adequacy",)).build()))
    assert {name: len(places) for name, places in lengths["length"].items()} == {
        "1 to 10 words": 10,
        "11 to 20 words": 10,
        "21 to 30 words": 10,
        "31 to 40 words": 10,
    }


def test_a_buckets_difference_has_the_mean_and_an_interval_around_it(small: PageSite) -> None:
    scores = np.array([[3.0] * 8 + [1.0] * 8, [1.0] * 8 + [1.0] * 7 + [np.nan]])
    buckets = {"domain": {"a": np.arange(8), "b": np.arange(8, 16)}}
    first, second = generator_buckets(buckets, scores)  # type: ignore[arg-type]
    assert (first.n, first.values, first.difference, first.interval) == (8, (3.0, 1.0), 2.0, (2.0, 2.0))
    assert first.is_clear
    assert (second.n, second.difference) == (7, 0.0), "an instance that only one of them has is left out"
    assert not second.is_clear


def test_metrics_have_their_correlation_in_each_bucket(small: PageSite) -> None:
    look = look_at(small)
    view = look.matrix.view
    found = metric_buckets(view, buckets_of(look.board), ["chrF", "ROUGE-1"])
    sea = next(bucket for bucket in found if bucket.name == "sea")
    odd = [k for k, instance in enumerate(look.board.instances) if instance.domain == "sea"]
    scores, people = view.scores.of("chrF")[:, odd], view.judged_human[:, odd]
    used = np.isfinite(scores) & np.isfinite(people) & np.isfinite(view.scores.of("ROUGE-1")[:, odd])
    assert sea.values[0] == pytest.approx(np.corrcoef(scores[used], people[used])[0, 1])
    assert sea.n == used.sum()
    first, second = sea.values
    assert first is not None
    assert second is not None
    assert sea.difference == pytest.approx(first - second)
    low, high = sea.interval or (np.nan, np.nan)
    assert low < first - second < high
    turned = next(b for b in metric_buckets(view, buckets_of(look.board), ["ROUGE-1", "chrF"]) if b.name == "sea")
    assert turned.difference == pytest.approx(second - first)
    assert turned.interval == pytest.approx((-high, -low))
    page = small.get(f"{BOARD}/compare?of=chrF&of=ROUGE-1&of=length").text
    assert "Where the difference lies" in page
    assert f"{sea.values[0]:.3f}" in page


def test_texts_stand_with_source_reference_differences_and_marked_errors(small: PageSite) -> None:
    look = look_at(small)
    text = look.board.row("Cleo").texts[0] or ""
    page = small.get(f"{BOARD}/compare?of=Cleo&of=late&instance=i/0").text
    section = page.split('id="texts"')[1].split("<h2")[0]
    assert "<strong>source</strong> input 0" in section
    assert look.board.instances[0].references[0].text in section
    assert "<ins>" in section
    assert f'<mark class="error major">{text[:5]}<small> [major: accuracy]</small></mark>' in section
    assert "1 error marked by people" in section


def test_an_instance_that_is_not_there_is_named(small: PageSite) -> None:
    assert small.get(f"{BOARD}/compare?of=Cleo&of=late&instance=none").status_code == 404
    assert small.get(f"{BOARD}/compare?of=Cleo&of=late&against=none").status_code == 404


def test_where_a_metric_and_people_disagree_most_is_shown_largest_first(small: PageSite) -> None:
    look = look_at(small)
    page = small.client.get(f"{BOARD}/compare", params={"of": [ODD, "Cleo"], "by": "chrF"}).text
    rows = [look.board.row_position[name] for name in (ODD, "Cleo")]
    apart = np.abs(look.matrix.disagreement("chrF")[rows])
    _, place = np.unravel_index(np.nanargmax(apart), apart.shape)
    first = page.split('id="disputed"')[1].split('<li class="card">')[1]
    assert look.board.instances[place].id in first
    assert f"<b>{np.nanmax(apart):.1f}</b> standard deviations" in first


def test_marks_that_overlap_leave_the_text_whole() -> None:
    text = "the ferry leaves"
    spans = [
        {"start": 4, "end": 9, "severity": "minor", "category": "style"},
        {"start": 6, "end": 16, "severity": "critical"},
        {"start": 2, "end": 2, "missing": True, "severity": "major"},
    ]
    marked = mark_errors(text, spans)
    assert marked is not None
    assert "".join(piece.text for piece in marked.pieces) == text
    assert [(piece.text, piece.words, piece.severity) for piece in marked.pieces] == [
        ("the ", "", ""),
        ("fe", "minor: style", "minor"),
        ("rry", "minor: style; critical", "critical"),
        (" leaves", "critical", "critical"),
    ]
    assert marked.missing == ("major",)
    assert mark_errors(text, []) is None
