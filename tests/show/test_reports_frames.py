"""Tables as data frames and notebook HTML."""

from __future__ import annotations

import sys

import pytest
from examples_of_results import RANKING

from billboards.analyses.rank import generator_table, metric_table
from billboards.errors import MissingPart
from billboards.show.frames import table_html, to_pandas, to_polars


def test_a_pandas_frame_has_a_number_where_there_is_one_and_nothing_where_not() -> None:
    pytest.importorskip("pandas")
    frame = to_pandas(metric_table(RANKING)).set_index("name")
    assert frame.loc["COMET", "correlation"] == 0.551
    assert frame["correlation"].isna().tolist() == [False, False, False, False, True]
    assert frame["correlation"].dtype == "float64"


def test_a_polars_frame_has_typed_columns_and_nulls() -> None:
    pytest.importorskip("polars")
    frame = to_polars(generator_table(RANKING))
    assert frame["rank"].to_list() == [1, 2, 2, 4, None]
    assert frame["ensemble"].null_count() == 1
    assert str(frame["ensemble"].dtype) == "Float64"


@pytest.mark.parametrize(("package", "convert"), [("pandas", to_pandas), ("polars", to_polars)])
def test_a_package_that_is_not_installed_is_named_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch, package: str, convert: object
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    assert callable(convert)
    with pytest.raises(
        MissingPart,
        match=rf"needs {package}, which is not installed; install it with `pip install 'billboards\[frames\]'`",
    ):
        convert(metric_table(RANKING))


def test_html_escapes_names_and_has_a_caption_and_scopes() -> None:
    html = table_html(generator_table(RANKING))
    assert "<caption><span>tiny: generators by ensemble</span></caption>" in html
    assert html.count('<th scope="col"') == 10
    assert html.count('<th scope="row"') == 5
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "<script>" not in html
    assert '<td style="text-align:right" class="missing">–</td>' in html
