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
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

from billboards.analyses.audit.results import ChallengeReport, MetricAudit
from billboards.analyses.comparison_results import GeneratorComparison, MetricComparison, MetricPairs, Sensitivity
from billboards.analyses.ranking_results import Ensemble, EnsembleStudy, OverratingReport, Ranking, ReferenceEffect
from billboards.analyses.rating_results import RatingStudy
from billboards.analyses.study_results import AgreementStudy, HybridStudy, MeanEstimate, PowerStudy
from billboards.analyses.suite.report_results import MetricReport
from billboards.analyses.suite.results import SuiteRanking, SuiteResult
from billboards.board import MeasuredCard
from billboards.errors import InvalidInput
from billboards.show.typed import WORDS, typed_result
from billboards.stats.annotator_results import AnnotatorReport, ControlStudy, DetectionStudy

SCHEMA = 1

Document = dict[str, Any]
Result = TypeVar("Result")


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
    return _result(SuiteResult, document, "suite")


def suite_ranking_from_document(document: Mapping[str, Any]) -> SuiteRanking:
    """The ranking that a document was made from."""
    return _result(SuiteRanking, document, "suite_ranking")


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
    return _result(MetricAudit, document, "audit")


def ratings_document(kind: str, study: RatingStudy) -> Document:
    """A study of people's ratings: agreement, designs, severity, consensus, estimates, or ratings to look at again."""
    return _document(kind, study)


def ranking_from_document(document: Mapping[str, Any]) -> Ranking:
    """The ranking that a document was made from."""
    return _result(Ranking, document, "ranking")


def overrating_from_document(document: Mapping[str, Any]) -> OverratingReport:
    """The report that a document was made from."""
    return _result(OverratingReport, document, "overrating")


def ensemble_from_document(document: Mapping[str, Any]) -> Ensemble:
    """The ensemble that a document was made from."""
    found = _result(Ensemble, document, "ensemble")
    if not found.weights.keys() == found.centres.keys() == found.scales.keys() == found.signatures.keys():
        raise InvalidInput("ensemble document whose weights, centres, scales and signatures are of different metrics")
    return found


def _result(result: type[Result], document: Mapping[str, Any], kind: str) -> Result:
    """A result from its document, its head checked first."""
    _check_head(document, kind)
    found: Result = typed_result(result, document, kind)
    return found


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
        own = {WORDS.get(f.name, f.name): _plain(getattr(value, f.name)) for f in fields(value)}
        return own | {"signature": value.signature} if isinstance(value, Ensemble) else own
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, tuple | list) else value
