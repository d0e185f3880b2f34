"""Results as JSON documents, and what is kept (rankings, ensembles, overrating) back from them.

A document holds every field of its result under the names that scripts rely on, with a schema version and its kind; it
is strict JSON, so what is not a number is null. What was read back equals what was written, which is what makes a
snapshot a snapshot.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

from billboards.domain import (
    AgreementStudy,
    AnnotatorReport,
    ChallengeReport,
    ControlStudy,
    DetectionStudy,
    Ensemble,
    EnsembleStudy,
    Equivalence,
    Exhibit,
    FamilyPoint,
    GeneratorComparison,
    GeneratorStanding,
    HumanPlace,
    HybridStudy,
    Landing,
    MeanEstimate,
    Measure,
    MeasuredCard,
    MetricAudit,
    MetricComparison,
    MetricPairs,
    MetricReport,
    MetricStanding,
    OverratingEstimate,
    OverratingReport,
    PowerStudy,
    Ranking,
    ReferenceEffect,
    ReferenceLine,
    Relative,
    Sensitivity,
    SuiteAverage,
    SuiteCell,
    SuiteColumn,
    SuiteRanking,
    SuiteResult,
    SuiteRow,
    SuiteStanding,
    SystemScores,
)
from billboards.domain.human_studies import RatingStudy
from billboards.errors import InvalidInput

SCHEMA = 1

#: Where a document's word is not the field's: `lambda` is no name in Python, `slice` one of its own.
_WORDS = {"lam": "lambda", "lam_range": "lambda_range", "part": "slice", "interval90": "ci90"}

Document = dict[str, Any]


def dumps(document: Mapping[str, Any]) -> str:
    """A document as strict JSON text; half a character, which UTF-8 can't hold, is written as its escape."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2)
    return re.sub(r"[\ud800-\udfff]", lambda half: f"\\u{ord(half[0]):04x}", text) + "\n"


def ranking_document(ranking: Ranking) -> Document:
    """A ranking, complete; the ensemble has a key of its own and is not listed among the metrics."""
    return _document("ranking", ranking)


def ensemble_document(ensemble: Ensemble) -> Document:
    """An ensemble, complete enough to be applied from this alone."""
    return _document("ensemble", ensemble)


def study_document(study: EnsembleStudy) -> Document:
    """What each metric is worth to the ensemble."""
    return _document("ensemble_study", study)


def overrating_document(report: OverratingReport) -> Document:
    """How much each metric overrates machines, and why the others can't be measured."""
    return _document("overrating", report)


def reference_document(effect: ReferenceEffect) -> Document:
    """Correlations by the number of references."""
    return _document("references", effect)


def sensitivity_document(report: Sensitivity) -> Document:
    """Ranks of metrics under every condition."""
    return _document("sensitivity", report)


def comparison_document(found: MetricComparison | GeneratorComparison) -> Document:
    """Two entries compared."""
    return _document("comparison", found)


def pairs_document(found: MetricPairs) -> Document:
    """Every two metrics compared."""
    return _document("metric_pairs", found)


def hybrids_document(study: HybridStudy) -> Document:
    """Metrics over mixtures of generators."""
    return _document("hybrids", study)


def estimate_document(found: MeanEstimate) -> Document:
    """A generator's mean human score from labels and a metric."""
    return _document("estimate", found) | {"saved": _plain(found.saved)}


def power_document(study: PowerStudy) -> Document:
    """What it takes to tell two entries apart."""
    return _document("power", study)


def agreement_document(study: AgreementStudy) -> Document:
    """Two sources of judgments, and where they differ most."""
    return _document("agreement", study)


def card_document(card: MeasuredCard) -> Document:
    """A measured data card as JSON."""
    return _document("data-card", card)


def annotators_document(report: AnnotatorReport) -> Document:
    """Annotators judged by their test questions."""
    return _document("annotators", report)


def annotator_checks_document(study: ControlStudy) -> Document:
    """Annotators judged by a campaign's attention checks."""
    return _document("annotator_checks", study)


def annotator_simulation_document(study: DetectionStudy) -> Document:
    """Models of annotators on made-up ones."""
    return _document("annotator_simulation", study)


def suite_document(result: SuiteResult) -> Document:
    """Both tables of a suite."""
    return _document("suite", result)


def suite_ranking_document(ranking: SuiteRanking) -> Document:
    """One ranking over the boards of a suite."""
    return _document("suite_ranking", ranking)


def metric_report_document(report: MetricReport) -> Document:
    """One metric over all boards of a suite."""
    return _document("metric_report", report)


def suite_from_document(document: Mapping[str, Any]) -> SuiteResult:
    """The result that a document was made from."""
    _check_head(document, "suite")
    values = _values(SuiteResult, document, "suite")
    for key in ("cells", "parts"):
        values[key] = tuple(_suite_cell(item) for item in document.get(key, ()))
    kinds = {"columns": SuiteColumn, "rows": SuiteRow, "averages": SuiteAverage, "families": FamilyPoint}
    for key, kind in kinds.items():
        values[key] = tuple(kind(**_values(kind, item, key)) for item in document.get(key, ()))
    return SuiteResult(**values)


def _suite_cell(item: Mapping[str, Any]) -> SuiteCell:
    measures = {name: Measure(**_values(Measure, one, "measure")) for name, one in item["measures"].items()}
    return SuiteCell(**{**_values(SuiteCell, item, "cell"), "measures": measures})


def suite_ranking_from_document(document: Mapping[str, Any]) -> SuiteRanking:
    """The ranking that a document was made from."""
    _check_head(document, "suite_ranking")
    values = _values(SuiteRanking, document, "suite ranking")
    values["columns"] = tuple(SuiteColumn(**_values(SuiteColumn, item, "column")) for item in document["columns"])
    values["standings"] = tuple(
        SuiteStanding(**_values(SuiteStanding, item, "standing")) for item in document["standings"]
    )
    return SuiteRanking(**values)


def audit_document(audit: MetricAudit) -> Document:
    """What a metric rewards, with the verdict."""
    return _document("audit", audit)


def audits_document(audits: Sequence[MetricAudit]) -> Document:
    """Several audits of one board."""
    return {"schema": SCHEMA, "kind": "audits", "audits": [audit_document(one) for one in audits]}


def challenge_document(report: ChallengeReport) -> Document:
    """How often each metric notices a spoilt text."""
    return _document("challenge", report)


def audit_from_document(document: Mapping[str, Any]) -> MetricAudit:
    """The audit that a document was made from."""
    _check_head(document, "audit")
    values = _values(MetricAudit, document, "audit")
    values["own"] = Landing(**_values(Landing, document["own"], "landing"))
    lists: tuple[tuple[str, type], ...] = (
        ("judges", Landing),
        ("bias", HumanPlace),
        ("equivalence", Equivalence),
        ("relatives", Relative),
        ("gallery", Exhibit),
        ("systems", SystemScores),
    )
    for key, kind in lists:
        values[key] = tuple(kind(**_values(kind, one, key)) for one in document[key])
    return MetricAudit(**values)


def ratings_document(kind: str, study: RatingStudy) -> Document:
    """A study of people's ratings: agreement, designs, severity, consensus, estimates, or ratings to look at again."""
    return _document(kind, study)


def ranking_from_document(document: Mapping[str, Any]) -> Ranking:
    """The ranking that a document was made from."""
    _check_head(document, "ranking")
    values = _values(Ranking, document, "ranking")
    values["metrics"] = tuple(MetricStanding(**_values(MetricStanding, m, "metric")) for m in document["metrics"])
    values["generators"] = tuple(
        GeneratorStanding(**_values(GeneratorStanding, g, "generator")) for g in document["generators"]
    )
    for key in ("ensemble", "alternative"):
        fitted = document.get(key)
        values[key] = None if fitted is None else Ensemble(**_values(Ensemble, fitted, "ensemble"))
    lines = document.get("lines", [])
    values["lines"] = tuple(ReferenceLine(**_values(ReferenceLine, line, "line")) for line in lines)
    return Ranking(**values)


def overrating_from_document(document: Mapping[str, Any]) -> OverratingReport:
    """The report that a document was made from."""
    _check_head(document, "overrating")
    values = _values(OverratingReport, document, "overrating")
    values["metrics"] = tuple(
        OverratingEstimate(**_values(OverratingEstimate, one, "estimate")) for one in document["metrics"]
    )
    return OverratingReport(**values)


def ensemble_from_document(document: Mapping[str, Any]) -> Ensemble:
    """The ensemble that a document was made from."""
    _check_head(document, "ensemble")
    return Ensemble(**_values(Ensemble, document, "ensemble"))


def _document(kind: str, result: Any) -> Document:
    """A result under its head; a field that bears a name of the head would be lost, so it is refused."""
    head: Document = {"schema": SCHEMA, "kind": kind}
    body: Document = _plain(result)
    taken = sorted(head.keys() & body.keys())
    if taken:
        raise InvalidInput(f"a {kind} has a field named {taken[0]!r}, which its document needs; rename the field")
    return head | body


def _check_head(document: Any, kind: str) -> None:
    if not isinstance(document, Mapping):
        raise InvalidInput(
            f"a {kind} document is a JSON object, not {type(document).__name__}; give a {kind}'s document"
        )
    if document.get("schema") != SCHEMA:
        raise InvalidInput(
            f"{kind} document of schema {document.get('schema')!r}; this version of billboards reads schema {SCHEMA}: "
            "update billboards, or write the document anew"
        )
    if document.get("kind") != kind:
        raise InvalidInput(f"document of kind {document.get('kind')!r} where a {kind} was expected; give a {kind}'s")


def _plain(value: Any) -> Any:
    """A value as JSON knows it; a result's fields stand under the document's words, an ensemble with its signature."""
    if is_dataclass(value):
        own = {_WORDS.get(f.name, f.name): _plain(getattr(value, f.name)) for f in fields(value)}
        return own | {"signature": value.signature} if isinstance(value, Ensemble) else own
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, tuple | list) else value


def _values(result: Any, document: Mapping[str, Any], what: str) -> dict[str, Any]:
    """A result's fields from a document; one that the result can do without may be absent."""
    values = {}
    for f in fields(result):
        word = _WORDS.get(f.name, f.name)
        if word in document:
            values[f.name] = _frozen(document[word])
        elif f.default is MISSING and f.default_factory is MISSING:
            raise InvalidInput(f"{what} document without {word!r}; it is incomplete: write it anew")
    return values


def _frozen(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _frozen(item) for key, item in value.items()}
    return tuple(_frozen(item) for item in value) if isinstance(value, list) else value
