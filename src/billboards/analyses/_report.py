"""One self-contained HTML page about a board: its ranking laid out by hand, and a section for every other analysis.

A section whose data are missing is left out, and the page says why.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from billboards.analyses import analysis_named, summaries
from billboards.analyses._analysis import Analysis, Result
from billboards.analyses._archive import home_of
from billboards.analyses._families import AUTO
from billboards.analyses._labels import relabelled
from billboards.analyses._people import PEOPLE
from billboards.analyses._view import Floats, Scoring, View, look_at
from billboards.analyses._within_items import leaders_words
from billboards.analyses.audit.results import MetricAudit
from billboards.analyses.ensemble import EnsembleStudy, Method, ablation_table, ensemble, ensemble_table, gains_table
from billboards.analyses.overrating import (
    OverratingReport,
    human_generators,
    overrating,
    overrating_sentence,
    overrating_table,
)
from billboards.analyses.rank import (
    Ranking,
    _best_metric,
    _ensemble,
    _generators,
    best_metric,
    citation,
    generator_table,
    leader_name,
    lines_table,
    metric_table,
    popular_metric,
    rank,
    resampled_text,
    statistic_name,
    what_ranks,
)
from billboards.analyses.references import ReferenceEffect, reference_table, references
from billboards.analyses.sensitivity import Sensitivity, conditions_table, sensitivity, sensitivity_table
from billboards.board import Board, Slice
from billboards.board.card_facts import draft_note
from billboards.board.missing_cells import Progress
from billboards.errors import InvalidInput, NotEnoughData
from billboards.saving import save_file
from billboards.show.documents import document_of, dumps
from billboards.show.page import Picture, data_uri, picture, rendered
from billboards.show.table import Table, TableColumn
from billboards.show.words import headed, one_line, value_text

#: References that are named one by one.
MOST_REFERENCES = 4
#: Places between what ranks and people that are worth a sentence.
APART = 3
#: Points of a scatter plot on the page; each costs a quarter of a kilobyte, twice.
POINTS = 600


@dataclass(frozen=True)
class JudgedScores:
    """One metric's scores beside people's, generators × instances, NaN where missing."""

    metric: str
    human: Floats
    scores: Floats
    generators: tuple[str, ...]


def metrics_section(ranking: Ranking, judged: JudgedScores | None) -> dict[str, Any]:
    """Metrics by agreement with people, the lines to read them against, and the best one in a scatter plot."""
    from billboards.analyses.rank import correlation_bars

    bars = picture(lambda theme: correlation_bars(ranking, theme=theme)) if best_metric(ranking) else None
    told_above = {m.references for m in ranking.metrics if not m.reference_free} <= {ranking.references}
    hidden = ("signature", "origin", "references") if told_above else ("signature", "origin")
    return {
        "bars": bars,
        "table": metric_table(ranking).without(hidden),
        "lines": lines_table(ranking) if ranking.lines else None,
        "scatter": _scatter(ranking, judged),
    }


def sensitivity_section(report: Sensitivity | None) -> dict[str, Any] | None:
    """Metrics' places under other statistics."""
    if report is None:
        return None
    return {
        "ranges": sensitivity_table(report),
        "conditions": conditions_table(report),
    }


def swaps_section(ranking: Ranking) -> tuple[Picture, ...]:
    """Generators under people and under what ranks, and under the best metric and the popular one."""
    from billboards.analyses._rank_swaps import can_swap, rank_swaps

    best, popular = best_metric(ranking), popular_metric(ranking)
    metrics = None if best is None or popular is None else (best.name, popular.name)
    lead = None if ranking.ranked_by is None else (PEOPLE, ranking.ranked_by)

    def drawn(left: str, right: str) -> Picture:
        return picture(lambda theme: rank_swaps(ranking, left, right, theme=theme))

    return tuple(drawn(*pair) for pair in (lead, metrics) if pair is not None and can_swap(ranking, *pair))


def ensemble_section(ranking: Ranking, study: EnsembleStudy | None) -> dict[str, Any] | None:
    """The ensemble, and what each metric is worth to it where that was studied."""
    from billboards.analyses.ensemble import metric_correlations

    ensemble = ranking.ensemble
    if ensemble is None:
        return None
    section: dict[str, Any] = {
        "combination": ensemble.formula,
        "table": ensemble_table(ensemble),
        "study": None,
    }
    if study is not None:
        comparable = any(r is not None for i, row in enumerate(study.correlations) for r in (*row[:i], *row[i + 1 :]))
        section["study"] = {
            "ablations": ablation_table(study),
            "gains": gains_table(study),
            "alike": picture(lambda theme: metric_correlations(study, theme=theme)) if comparable else None,
        }
    return section


def overrating_section(report: OverratingReport | None) -> dict[str, Any] | None:
    """How much each metric overrates machines; those without an estimate are left to the notes."""
    from billboards.analyses.overrating import overrating_forest

    if report is None:
        return None
    forest = picture(lambda theme: overrating_forest(report, theme=theme)) if report.metrics else None
    table = overrating_table(report)
    measured = tuple(row for row in table.rows if row.get("beta0") is not None)
    return {"forest": forest, "table": replace(table, rows=measured)}


def references_section(effect: ReferenceEffect | None) -> dict[str, Any] | None:
    """What one reference more is worth."""
    from billboards.analyses.references import reference_curves

    if effect is None:
        return None
    curves = picture(lambda theme: reference_curves(effect, theme=theme)) if any(effect.curves.values()) else None
    return {"curves": curves, "table": reference_table(effect)}


def audits_section(audits: Sequence[MetricAudit]) -> dict[str, Any] | None:
    """The verdicts, and each audit with its charts and gallery."""
    if not audits:
        return None
    from billboards.analyses.audit.page import audit_section
    from billboards.analyses.audit.tables import audits_table

    return {"table": audits_table(audits), "each": [audit_section(audit) for audit in audits]}


def _scatter(ranking: Ranking, judged: JudgedScores | None) -> Picture | None:
    from billboards.analyses.rank import scatter

    if judged is None or np.count_nonzero(np.isfinite(judged.human) & np.isfinite(judged.scores)) < 2:
        return None
    people = {standing.name for standing in ranking.generators if standing.kind == "human"}
    correlation = next((m.correlation for m in ranking.metrics if m.name == judged.metric), None)
    return picture(
        lambda theme: scatter(
            judged.human,
            judged.scores,
            judged.generators,
            headed(judged.metric, higher_is_better=judged.metric not in ranking.lower),
            human_name=f"people ({ranking.aggregate})",
            human_generators=people,
            correlation=correlation,
            sample=POINTS,
            seed=ranking.seed,
            theme=theme,
        )
    )


def report_html(
    ranking: Ranking,
    *,
    board: Board | None = None,
    study: EnsembleStudy | None = None,
    overrating: OverratingReport | None = None,
    references: ReferenceEffect | None = None,
    judged: JudgedScores | None = None,
    sensitivity: Sensitivity | None = None,
    audits: Sequence[MetricAudit] = (),
    sections: Sequence[Section] = (),
    left_out: Sequence[str] = (),
    versions: Mapping[str, str] | None = None,
) -> str:
    """The report on a ranking, with a section for each further result that is given."""
    labels, download = ranking.labels, data_uri("application/json", dumps(document_of(ranking)))
    ranking, study, judged = relabelled(ranking, labels), relabelled(study, labels), relabelled(judged, labels)
    overrating, references = relabelled(overrating, labels), relabelled(references, labels)
    sensitivity, audits = relabelled(sensitivity, labels), relabelled(tuple(audits), labels)
    return rendered(
        "report.html.j2",
        ranking=ranking,
        title=_title(ranking, board),
        draft=None if board is None else draft_note(board),
        what_ranks=what_ranks(ranking),
        facts=_facts(ranking, board),
        findings=(*findings(ranking, overrating), *(w for s in sections if s.name == "agreement" for w in s.words)),
        metrics=metrics_section(ranking, judged),
        sensitivity=sensitivity_section(sensitivity),
        generators=generator_table(ranking),
        swaps=swaps_section(ranking),
        ensemble=ensemble_section(ranking, study),
        overrating=overrating_section(overrating),
        references=references_section(references),
        left_out=left_out,
        audits=audits_section(audits),
        sections=sections,
        card=_card(board),
        settings=_settings(ranking, versions or {"billboards": metadata.version("billboards")}),
        signatures=_signatures(ranking),
        citation=citation(ranking),
        download=download,
    )


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
        ("references", reference_words(ranking.references)),
        ("part", one_line(ranking.part)),
        ("board version", ranking.board_version),
    ]
    return counted if board is None else [("instances", value_text(len(board.instances))), *counted]


def reference_words(names: Sequence[str]) -> str:
    """Which references there are: a few by name, of many their number, the first and the last."""
    if len(names) <= MOST_REFERENCES:
        return ", ".join(map(one_line, names)) or "none"
    return f"{value_text(len(names))}: {one_line(names[0])} … {one_line(names[-1])}"


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


def _signatures(ranking: Ranking) -> Table:
    columns = (TableColumn("name", "metric", "left"), TableColumn("signature", "signature", "left"))
    rows = tuple({"name": m.name, "signature": m.signature} for m in ranking.metrics)
    return Table("Signatures of the metrics", columns, rows)


def findings(ranking: Ranking, overrating: OverratingReport | None = None) -> tuple[str, ...]:
    """A few sentences that say what the board says."""
    ranking = ranking.shown
    sentences = (
        _best_metric(ranking),
        leaders_words(ranking),
        _ensemble(ranking),
        _generators(ranking),
        _other_places(ranking),
        overrating and overrating_sentence(overrating),
    )
    return tuple(sentence for sentence in sentences if sentence)


def _other_places(ranking: Ranking) -> str | None:
    """Whom people put elsewhere than what ranks does, where that is several places."""
    lead = ranking.ranked_by
    both = [g for g in ranking.generators if g.rank is not None and g.human is not None]
    if lead is None or lead == PEOPLE or not both:
        return None
    places = {g.name: k for k, g in enumerate(both, 1)}
    people = {g.name: k for k, g in enumerate(sorted(both, key=lambda g: -(g.human or 0.0)), 1)}
    lifted, lowered = (sign(places, key=lambda name: places[name] - people[name]) for sign in (min, max))
    moved = [name for name in (lifted, lowered) if abs(places[name] - people[name]) >= APART]
    lead = leader_name(ranking)
    told = " and ".join(f"{one_line(n)} (place {places[n]} by {lead}, {people[n]} by people)" for n in moved)
    return f"People and {lead} differ most on {told}, of {len(both)} judged generators." if moved else None


#: Analyses that the page has sections of its own for.
BY_HAND = ("rank", "sensitivity", "ensemble", "overrating", "references", "audit", "card")


@dataclass(frozen=True, kw_only=True)
class Section:
    """One analysis on the page."""

    name: str
    title: str
    words: tuple[str, ...]
    tables: tuple[Table, ...]
    pictures: tuple[Picture, ...]
    #: What tells it from another section of the same analysis, such as the two that are compared.
    about: str = ""

    @property
    def anchor(self) -> str:
        words = re.sub(r"\W+", "-", f"{self.name} {self.about}".strip())
        return words.strip("-")

    @property
    def label(self) -> str:
        """Its name in the contents."""
        return self.name.capitalize() + (f": {self.about}" if self.about else "")


def sections_of(view: View, names: Sequence[str], left_out: list[str]) -> list[Section]:
    """A section for each of these analyses; what the board doesn't allow is said, with the reason."""
    sections = []
    for name in names:
        asked = analysis_named(name)
        every = asked.asked_in_report(view)
        for options in every:
            about = " and ".join(map(str, options.values())) if len(every) > 1 else ""
            try:
                result = asked.run(view, **options)
            except (NotEnoughData, InvalidInput) as error:
                left_out.append(f"{asked.summary.rstrip('.')}: {error}.")
                continue
            sections.append(section(asked, result, about=about))
    return sections


def section(asked: Analysis[Any, Any], result: Result[Any], *, about: str = "") -> Section:
    """An answer as a section."""
    pictures = [picture(draw) for draw in result.drawn()]
    return Section(
        name=asked.name,
        title=asked.summary.rstrip("."),
        about=about,
        words=result.words,
        tables=result.tables,
        pictures=tuple(pictures),
    )


def report(
    board: Board,
    path: str | Path,
    *,
    human: str | None = None,
    aggregate: str | None = None,
    part: Slice | None = None,
    k: int = 3,
    lam: float | None = None,
    method: Method = AUTO,
    by: str | None = None,
    seed: int = 0,
    with_references: bool = True,
    with_studies: bool = True,
    also: Sequence[str] = (),
    jobs: int = 1,
    on_progress: Callable[[Progress], None] | None = None,
) -> Path:
    """One self-contained HTML page about a board; scores that overrating and references need are computed first.

    board: a board in a folder
    path: the page to write
    human: the person to measure overrating with (default: the first judged one)
    aggregate: the judgments that rank (default: the board's)
    part: a slice of the board
    k: metrics in the ensemble
    lam: the ensemble's lambda, instead of k
    method: how the ensemble is fitted
    by: what ranks the generators: a metric, "ensemble" or "people" (default: the board's choice, else the best)
    seed: seed of what is random
    with_references: whether to study what one more reference is worth
    with_studies: whether to add every other quick analysis that the board allows
    also: further analyses by name, slow ones too
    jobs: processes that compute missing scores
    on_progress: called with every step of scoring

    Example:

        bb.report(bb.open("my-board"), "report.html")
    """
    scoring = Scoring(jobs=jobs, on_progress=on_progress)
    view = look_at(board, aggregate=aggregate, part=part, scoring=scoring)
    home_of(board)
    how: dict[str, Any] = {"k": k, "lam": lam, "method": method}
    ranking = rank.run(view, seed=seed, **rank.naming(board, {"by": by}), **how).value
    compared = human or next(iter(human_generators(board)), None) if board.ranks else None
    left_out: list[str] = []
    names = [name for name in summaries() if name not in BY_HAND and analysis_named(name).quick] if with_studies else []
    sections = sections_of(view, [*names, *also], left_out)
    whole = replace(view, part=Slice())
    page = report_html(
        ranking,
        board=board,
        study=None if ranking.ensemble is None else ensemble.run(view, **how).value,
        judged=_best_metric_scores(view, ranking),
        sensitivity=_sensitivity(view, ranking, seed),
        audits=() if view.archive is None else view.archive.audits(),
        sections=sections,
        left_out=left_out,
        # Last, because these two compute scores: until then every section has seen the same ones as the ranking.
        overrating=None if compared is None else overrating.run(whole, human=compared, **how).value,
        references=_references(whole, seed) if with_references else None,
    )
    return save_file(path, page)


def _sensitivity(view: View, ranking: Ranking, seed: int) -> Sensitivity | None:
    if all(metric.correlation is None for metric in ranking.metrics):
        return None
    return sensitivity.run(view, seed=seed).value


def _references(view: View, seed: int) -> ReferenceEffect | None:
    """What one more reference is worth, where there are references to add one by one, and judgments to measure it."""
    asked = references.asked_in_report(view)
    return references.run(view, seed=seed).value if asked else None


def _best_metric_scores(view: View, ranking: Ranking) -> JudgedScores | None:
    """What the scatter plot shows: the best metric beside people, on the judged rows."""
    best = best_metric(ranking)
    if best is None:
        return None
    matrix = view.matrix(aggregate=ranking.aggregate)
    names = tuple(name for name, judged in zip(matrix.scores.rows, matrix.judged, strict=True) if judged)
    return JudgedScores(best.name, matrix.human[matrix.judged], matrix.scores.natural(best.name)[matrix.judged], names)
