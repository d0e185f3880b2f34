"""Results as JSON documents, and rankings and ensembles back from them.

A document holds every field of its result under the names that scripts rely on, with a schema version and its kind; it
is strict JSON, so what is not a number is null. A ranking or an ensemble that was read back equals the one written,
which is what makes a snapshot a snapshot.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any

from billboards.domain import (
    AgreementStudy,
    Ensemble,
    EnsembleStudy,
    GeneratorComparison,
    GeneratorStanding,
    HybridStudy,
    MeanEstimate,
    MetricComparison,
    MetricStanding,
    OverratingReport,
    PowerStudy,
    Ranking,
    ReferenceEffect,
    ReferenceLine,
    Sensitivity,
)
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
    document = _head("ranking") | _fields(ranking)
    document["metrics"] = [_fields(standing) for standing in ranking.metrics]
    document["generators"] = [_fields(standing) for standing in ranking.generators]
    document["ensemble"] = None if ranking.ensemble is None else _ensemble(ranking.ensemble)
    document["alternative"] = None if ranking.alternative is None else _ensemble(ranking.alternative)
    document["lines"] = [_fields(line) for line in ranking.lines]
    return document


def ensemble_document(ensemble: Ensemble) -> Document:
    """An ensemble, complete enough to be applied from this alone."""
    return _head("ensemble") | _ensemble(ensemble)


def study_document(study: EnsembleStudy) -> Document:
    """What each metric is worth to the ensemble."""
    document = _head("ensemble_study") | _fields(study)
    document["ensemble"] = _ensemble(study.ensemble)
    document["ablations"] = [_fields(ablation) for ablation in study.ablations]
    return document


def overrating_document(report: OverratingReport) -> Document:
    """How much each metric overrates machines, and why the others can't be measured."""
    document = _head("overrating") | _fields(report)
    document["metrics"] = [_fields(estimate) for estimate in report.metrics]
    return document


def reference_document(effect: ReferenceEffect) -> Document:
    """Correlations by the number of references."""
    document = _head("references") | _fields(effect)
    document["curves"] = {name: [_fields(point) for point in curve] for name, curve in effect.curves.items()}
    return document


def sensitivity_document(report: Sensitivity) -> Document:
    """Ranks of metrics under every condition."""
    document = _head("sensitivity") | _fields(report)
    document["conditions"] = [_fields(condition) for condition in report.conditions]
    document["metrics"] = [_fields(metric) for metric in report.metrics]
    return document


def comparison_document(found: MetricComparison | GeneratorComparison) -> Document:
    """Two entries compared."""
    document = _head("comparison") | _fields(found)
    if isinstance(found, GeneratorComparison):
        document["scores"] = [_fields(difference) for difference in found.scores]
    for side in ("for_first", "for_second"):
        document[side] = [_fields(output) for output in getattr(found, side)]
    return document


def hybrids_document(study: HybridStudy) -> Document:
    """Metrics over mixtures of generators."""
    document = _head("hybrids") | _fields(study)
    document["metrics"] = [_fields(standing) for standing in study.metrics]
    return document


def estimate_document(found: MeanEstimate) -> Document:
    """A generator's mean human score from labels and a metric."""
    document = _head("estimate") | _fields(found) | {"saved": _plain(found.saved)}
    document["with_metric"], document["plain"] = _fields(found.with_metric), _fields(found.plain)
    return document


def power_document(study: PowerStudy) -> Document:
    """What it takes to tell two entries apart."""
    document = _head("power") | _fields(study)
    document["needs"] = [_fields(need) for need in study.needs]
    return document


def agreement_document(study: AgreementStudy) -> Document:
    """Two sources of judgments, and where they differ most."""
    document = _head("agreement") | _fields(study)
    for key in ("levels", "first_above", "second_above"):
        document[key] = [_fields(one) for one in getattr(study, key)]
    return document


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


def ensemble_from_document(document: Mapping[str, Any]) -> Ensemble:
    """The ensemble that a document was made from."""
    _check_head(document, "ensemble")
    return Ensemble(**_values(Ensemble, document, "ensemble"))


def _head(kind: str) -> Document:
    return {"schema": SCHEMA, "kind": kind}


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


def _ensemble(ensemble: Ensemble) -> Document:
    return _fields(ensemble) | {"signature": ensemble.signature}


def _fields(result: Any) -> Document:
    """A result's own fields under the document's words; nested results are the caller's to replace."""
    return {_WORDS.get(f.name, f.name): _plain(getattr(result, f.name)) for f in fields(result)}


def _plain(value: Any) -> Any:
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
