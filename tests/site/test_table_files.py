"""Tables on pages of analyses: arranged by the address, and downloaded as they are shown."""

from __future__ import annotations

import csv
import io

import pytest
from page_sites import PageSite, page_site

ANALYSIS = "/boards/harbour/analyses/rank"


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> PageSite:
    made = page_site(tmp_path_factory.mktemp("tables"))
    made.work()
    return made


def test_digits_columns_and_rows_of_a_table_are_chosen_in_the_address(harbour: PageSite) -> None:
    usual = harbour.get(f"{ANALYSIS}?draws=50").text
    chosen = harbour.get(f"{ANALYSIS}?draws=50&digits=1&columns=name,correlation&rows=chrF").text
    assert '<th scope="col">95% interval</th>' in usual
    assert "95% interval</th>" not in chosen
    assert "ROUGE-1</td>" in usual
    assert "ROUGE-1</td>" not in chosen
    assert 'name="digits" type="number" min="0" max="12" value="1"' in chosen


def test_each_table_is_downloaded_as_it_is_shown(harbour: PageSite) -> None:
    page = harbour.get(f"{ANALYSIS}?draws=50&rows=chrF").text
    assert f'href="{ANALYSIS}/files/metrics.csv?draws=50&amp;rows=chrF"' in page
    sent = harbour.get(f"{ANALYSIS}/files/metrics.csv?draws=50&rows=chrF")
    assert sent.headers["content-type"] == "text/csv; charset=utf-8"
    assert sent.headers["content-disposition"] == 'attachment; filename="harbour-rank-metrics.csv"'
    (row,) = csv.DictReader(io.StringIO(sent.text))
    assert row["name"] == "chrF"
    latex = harbour.get(f"{ANALYSIS}/files/metrics.tex?draws=50&digits=1")
    assert latex.text.startswith("% The preamble needs: booktabs")
    markdown = harbour.get(f"{ANALYSIS}/files/metrics.md?draws=50&columns=name,correlation")
    assert "| metric | correlation |" in markdown.text


def test_what_is_not_there_is_said_with_what_is(harbour: PageSite) -> None:
    assert "no row of the table" in harbour.get(f"{ANALYSIS}?draws=50&rows=nothing").text
    assert harbour.get(f"{ANALYSIS}/files/nothing.csv?draws=50").status_code == 404
    assert harbour.get(f"{ANALYSIS}/files/metrics.exe?draws=50").status_code == 404
    assert "digits must be a whole number" in harbour.get(f"{ANALYSIS}?draws=50&digits=many").text
