"""One self-contained HTML page that says everything a board says.

The page makes no request, runs no script and keeps both out by its own content policy. Charts are static pictures, one
for light and one for dark screens; each is followed by the table of its numbers. Every text from a board is escaped.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from importlib import metadata, resources
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from billboards.domain import (
    AgreementStudy,
    Board,
    BoardStudies,
    Disagreement,
    EnsembleStudy,
    MetricAudit,
    OverratingReport,
    Ranking,
    ReferenceEffect,
    Sensitivity,
)
from billboards.reports import comparisons, tables
from billboards.reports import studies as study_tables
from billboards.reports.findings import best_metric, citation, findings, popular_metric
from billboards.reports.frames import table_html
from billboards.reports.wording import clipped, linear_combination, one_line, resampled_text, statistic_name, value_text
from billboards.store.documents import dumps, ranking_document

if TYPE_CHECKING:
    import altair as alt

    from billboards.reports.plots import Theme

Floats = NDArray[np.float64]

#: Points of a scatter plot on the page; each costs a quarter of a kilobyte, twice.
POINTS = 600
#: Characters of an output that are shown where it is there to be read.
READ = 600


@dataclass(frozen=True)
class JudgedScores:
    """One metric's scores beside people's, generators × instances, NaN where missing."""

    metric: str
    human: Floats
    scores: Floats
    generators: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart on the page: its finding as text, and its picture for light and for dark screens."""

    title: str
    subtitle: str
    description: str
    light: str
    dark: str
    width: int
    height: int


def report_html(
    ranking: Ranking,
    *,
    board: Board | None = None,
    study: EnsembleStudy | None = None,
    overrating: OverratingReport | None = None,
    references: ReferenceEffect | None = None,
    judged: JudgedScores | None = None,
    sensitivity: Sensitivity | None = None,
    studies: BoardStudies | None = None,
    audits: Sequence[MetricAudit] = (),
    versions: Mapping[str, str] | None = None,
) -> str:
    """The report on a ranking, with a section for each further result that is given."""
    return rendered(
        "report.html.j2",
        ranking=ranking,
        title=_title(ranking, board),
        facts=_facts(ranking, board),
        findings=findings(ranking, overrating),
        metrics=_metrics_section(ranking, judged),
        sensitivity=_sensitivity_section(sensitivity),
        generators=tables.generator_table(ranking),
        swaps=_swaps_section(ranking),
        ensemble=_ensemble_section(ranking, study),
        overrating=_overrating_section(overrating),
        references=_references_section(references),
        studies=_studies_sections(studies),
        audits=_audits_section(audits),
        card=_card(board),
        settings=_settings(ranking, versions or {"billboards": metadata.version("billboards")}),
        signatures=_signatures(ranking),
        citation=citation(ranking),
        download=data_uri("application/json", dumps(ranking_document(ranking))),
    )


def rendered(template: str, **context: Any) -> str:
    """A page from one of the templates beside this module: every text escaped, tables as the notebook shows them."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined
    from markupsafe import Markup

    loader = FunctionLoader(resource)
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["table"] = lambda table: Markup(table_html(table))
    environment.filters["number"] = value_text
    page = environment.get_template(template).render(style=Markup(resource("report.css")), **context)
    # Half a character, as JSON can smuggle in, would keep the page from being written as UTF-8.
    return page.encode("utf-8", "replace").decode()


def picture(draw: Callable[[Theme], alt.LayerChart]) -> Picture:
    """A chart drawn for both themes, with its title taken out to be the page's own text."""
    from billboards.reports.plots import to_svg

    light, dark = draw("light"), draw("dark")
    svg = to_svg(light, titled=False)
    drawn = ElementTree.fromstring(svg).attrib
    return Picture(
        " ".join(light.title.text),
        " ".join(light.title.subtitle),
        light.description,
        data_uri("image/svg+xml", svg),
        data_uri("image/svg+xml", to_svg(dark, titled=False)),
        round(float(drawn["width"])),
        round(float(drawn["height"])),
    )


def resource(name: str) -> str:
    return (resources.files("billboards.reports") / name).read_text(encoding="utf-8")


def data_uri(kind: str, text: str) -> str:
    return f"data:{kind};base64,{base64.b64encode(text.encode()).decode()}"


def _title(ranking: Ranking, board: Board | None) -> str:
    return one_line((board and board.card.title) or ranking.board)


def _facts(ranking: Ranking, board: Board | None) -> list[tuple[str, str]]:
    """The board in figures; what can be counted is counted."""
    people = sum(standing.kind == "human" for standing in ranking.generators)
    real = sum(standing.kind != "optimised" for standing in ranking.generators)
    judged = sum(standing.judged for standing in ranking.generators)
    counted = [
        ("generators", f"{real}" + (f", {people} of them human" if people else "")),
        ("metrics", f"{len(ranking.metrics)}"),
        ("judged outputs", value_text(judged)),
        ("references", ", ".join(map(one_line, ranking.references)) or "none"),
        ("part", one_line(ranking.part)),
        ("board version", ranking.board_version),
    ]
    return counted if board is None else [("instances", value_text(len(board.instances))), *counted]


def _metrics_section(ranking: Ranking, judged: JudgedScores | None) -> dict[str, Any]:
    from billboards.reports.plots import correlation_bars

    bars = picture(lambda theme: correlation_bars(ranking, theme=theme)) if best_metric(ranking) else None
    told_above = {m.references for m in ranking.metrics if not m.reference_free} <= {ranking.references}
    hidden = ("signature", "origin", "references") if told_above else ("signature", "origin")
    return {
        "bars": bars,
        "table": tables.metric_table(ranking).without(hidden),
        "lines": tables.lines_table(ranking) if ranking.lines else None,
        "scatter": _scatter(ranking, judged),
    }


def _sensitivity_section(report: Sensitivity | None) -> dict[str, Any] | None:
    if report is None:
        return None
    return {
        "ranges": comparisons.sensitivity_table(report),
        "conditions": comparisons.conditions_table(report),
    }


def _scatter(ranking: Ranking, judged: JudgedScores | None) -> Picture | None:
    from billboards.reports.plots import scatter

    if judged is None or np.count_nonzero(np.isfinite(judged.human) & np.isfinite(judged.scores)) < 2:
        return None
    people = {standing.name for standing in ranking.generators if standing.kind == "human"}
    correlation = next((m.correlation for m in ranking.metrics if m.name == judged.metric), None)
    return picture(
        lambda theme: scatter(
            judged.human,
            judged.scores,
            judged.generators,
            judged.metric,
            human_name=f"people ({ranking.aggregate})",
            human_generators=people,
            correlation=correlation,
            sample=POINTS,
            seed=ranking.seed,
            theme=theme,
        )
    )


def _swaps_section(ranking: Ranking) -> Picture | None:
    """Generators under the best metric and under the popular one, where at least two have both."""
    from billboards.reports.plots import rank_swaps

    best, popular = best_metric(ranking), popular_metric(ranking)
    if best is None or popular is None:
        return None
    left, right = best.name, popular.name
    scored = [g for g in ranking.generators if g.scores.get(left) is not None and g.scores.get(right) is not None]
    return picture(lambda theme: rank_swaps(ranking, left, right, theme=theme)) if len(scored) > 1 else None


def _ensemble_section(ranking: Ranking, study: EnsembleStudy | None) -> dict[str, Any] | None:
    from billboards.reports.plots import metric_correlations

    ensemble = ranking.ensemble
    if ensemble is None:
        return None
    section: dict[str, Any] = {
        "combination": linear_combination(ensemble.weights),
        "table": tables.ensemble_table(ensemble),
        "study": None,
    }
    if study is not None:
        comparable = any(r is not None for i, row in enumerate(study.correlations) for r in (*row[:i], *row[i + 1 :]))
        section["study"] = {
            "ablations": tables.ablation_table(study),
            "gains": tables.gains_table(study),
            "alike": picture(lambda theme: metric_correlations(study, theme=theme)) if comparable else None,
        }
    return section


def _overrating_section(report: OverratingReport | None) -> dict[str, Any] | None:
    from billboards.reports.plots import overrating_forest

    if report is None:
        return None
    forest = picture(lambda theme: overrating_forest(report, theme=theme)) if report.metrics else None
    table = tables.overrating_table(report)
    measured = tuple(row for row in table.rows if row.get("beta0") is not None)
    return {"forest": forest, "table": replace(table, rows=measured)}


def _references_section(effect: ReferenceEffect | None) -> dict[str, Any] | None:
    from billboards.reports.plots import reference_curves

    if effect is None:
        return None
    curves = picture(lambda theme: reference_curves(effect, theme=theme)) if any(effect.curves.values()) else None
    return {"curves": curves, "table": tables.reference_table(effect)}


def _studies_sections(found: BoardStudies | None) -> dict[str, Any]:
    """Tables of each study that there is, and what is left out."""
    found = found or BoardStudies()
    return {
        "hybrids": found.hybrids and study_tables.hybrids_table(found.hybrids),
        "power": [study_tables.power_table(one) for one in found.power],
        "estimates": study_tables.estimates_table(found.estimates) if found.estimates else None,
        "agreement": found.agreement and study_tables.agreement_table(found.agreement),
        "corners": _corners(found.agreement),
        "left_out": found.left_out,
    }


def _audits_section(audits: Sequence[MetricAudit]) -> dict[str, Any] | None:
    """The verdicts, and each audit with its charts and gallery."""
    if not audits:
        return None
    from billboards.reports.audit_page import audit_section
    from billboards.reports.audits import audits_table

    return {"table": audits_table(audits), "each": [audit_section(one) for one in audits]}


def _corners(found: AgreementStudy | None) -> list[tuple[str, list[dict[str, str]]]]:
    """The outputs that two sources differ on most: a title and the outputs, as texts to read."""
    if found is None or not found.first_above:
        return []
    titled = zip(study_tables.corner_tables(found), (found.first_above, found.second_above), strict=True)
    return [(corner.title, [_as_read(one, found) for one in outputs]) for corner, outputs in titled]


def _as_read(one: Disagreement, found: AgreementStudy) -> dict[str, str]:
    said = ((found.first, one.first), (found.second, one.second))
    return {
        "where": one_line(f"{one.instance} · {one.generator}"),
        "said": ", ".join(f"{one_line(name)} {value_text(value, 1)}" for name, value in said),
        "output": clipped(one.output, READ),
        "reference": clipped(one.reference, READ),
    }


def _card(board: Board | None) -> list[tuple[str, str]]:
    """The data card, with what its owner did not state said to be missing."""
    if board is None:
        return []
    stated = [(f.name, getattr(board.card, f.name)) for f in fields(board.card)]
    languages = [("input language", board.input_language), ("output language", board.output_language)]
    judged = [(f"dimension {name}", dimension.definition) for name, dimension in board.dimensions.items()]
    return [(name, text or "not stated") for name, text in (*stated, *languages, *judged) if text or name != "comments"]


def _settings(ranking: Ranking, versions: Mapping[str, str]) -> list[tuple[str, str]]:
    drawn = resampled_text(ranking.resampled)
    return [
        ("statistic", statistic_name(ranking)),
        ("grouping", ranking.grouping),
        ("judgments", ranking.aggregate),
        ("intervals", f"95%, from {value_text(ranking.draws)} resamplings of {drawn}" if ranking.draws else "none"),
        ("seed", str(ranking.seed)),
        *versions.items(),
    ]


def _signatures(ranking: Ranking) -> tables.Table:
    columns = (tables.TableColumn("name", "metric", "left"), tables.TableColumn("signature", "signature", "left"))
    rows = tuple({"name": m.name, "signature": m.signature} for m in ranking.metrics)
    return tables.Table("Signatures of the metrics", columns, rows)
