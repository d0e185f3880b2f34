"""One self-contained HTML page about a suite: both tables, one ranking, the figure, and how all of it was computed."""

from __future__ import annotations

from importlib import metadata

from billboards.analyses.suite.results import SuiteRanking, SuiteResult
from billboards.analyses.suite.shown_tables import STATISTICS, suite_ranking_table, suite_tables
from billboards.show.documents import document_of, dumps
from billboards.show.page import data_uri, picture, rendered
from billboards.show.table import Table, TableColumn
from billboards.show.words import listed, one_line, value_text


def suite_html(result: SuiteResult, rankings: tuple[SuiteRanking, ...] = ()) -> str:
    """The page of a suite, with a section for each ranking that is given."""
    from billboards.analyses.suite.plots import difficulty_lines, suite_bars

    drawn = [ranking for ranking in rankings if any(s.value is not None for s in ranking.standings)]
    return rendered(
        "suite.html.j2",
        title=one_line(result.title or result.suite),
        name=one_line(result.suite),
        facts=suite_facts(result),
        pearson=[
            *(table for each in result.yardsticks if each not in STATISTICS for table in suite_tables(result, each)),
            *suite_tables(result, "pearson"),
        ],
        kendall=suite_tables(result, "kendall"),
        sure=[*suite_tables(result, "pearson", "intervals"), *suite_tables(result, "kendall", "intervals")],
        p_values=[*suite_tables(result, "pearson", "p"), *suite_tables(result, "kendall", "p")],
        rankings=[suite_ranking_table(ranking) for ranking in rankings],
        bars=picture(lambda theme: suite_bars(drawn[0], theme=theme)) if drawn else None,
        difficulty=picture(lambda theme: difficulty_lines(result, theme=theme)) if result.families else None,
        signatures=signature_table(result),
        settings=_settings(result),
        download=data_uri("application/json", dumps(document_of(result))),
    )


def suite_facts(result: SuiteResult) -> list[tuple[str, str]]:
    """A suite in figures."""
    tasks = list(dict.fromkeys(column.task for column in result.columns if column.task))
    metrics = dict.fromkeys(row.metric for row in result.rows)
    return [
        ("boards", str(len(result.boards))),
        ("columns", str(len(result.columns))),
        ("metrics", str(len(metrics))),
        *([("tasks", listed(tasks, 12))] if tasks else []),
    ]


def signature_table(result: SuiteResult) -> Table:
    """What ran under each name."""
    signatures: dict[str, dict[str, None]] = {}
    for cell in (*result.cells, *result.parts):
        signatures.setdefault(cell.metric, {}).update(dict.fromkeys(cell.signatures))
    rows = tuple(
        {"name": name, "signature": signature} for name, several in signatures.items() for signature in several
    )
    columns = (TableColumn("name", "metric", "left"), TableColumn("signature", "signature", "left"))
    return Table("Signatures of the metrics", columns, rows)


def _settings(result: SuiteResult) -> list[tuple[str, str]]:
    drawn = f"95%, over instances: {value_text(result.draws)} resamplings; of Kendall’s tau by jackknife"
    versions = ", ".join(f"{one_line(label)} {version}" for label, version in result.boards.items())
    return [
        ("intervals", drawn if result.draws else "none"),
        ("p-values", "two-sided, of no agreement; those of groups from the standard errors of their boards"),
        ("seed", str(result.seed)),
        ("board versions", versions),
        ("billboards", metadata.version("billboards")),
    ]
