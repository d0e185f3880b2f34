"""Results as JSON, and back."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from typing import Any

import pytest
from examples_of_results import EFFECT, ENSEMBLE, OVERRATING, RANKING, STUDY

from billboards.analyses.ensemble import Ensemble
from billboards.analyses.overrating import OverratingReport
from billboards.analyses.rank import Ranking
from billboards.errors import InvalidInput
from billboards.show.documents import document_of, dumps, result_of


def through_text(document: dict[str, Any]) -> dict[str, Any]:
    """A document as a reader of its file sees it, refusing what is not strict JSON."""
    found: dict[str, Any] = json.loads(dumps(document), parse_constant=lambda name: pytest.fail(f"{name} in JSON"))
    return found


@dataclass(frozen=True)
class Kinded:
    """A result with a field that its document's head is called by."""

    kind: str = "own"


def test_a_field_named_as_the_documents_head_is_refused_rather_than_lost() -> None:
    with pytest.raises(InvalidInput, match="a kinded has a field named 'kind'"):
        document_of(Kinded())


def test_a_ranking_has_the_keys_that_scripts_rely_on() -> None:
    document = through_text(document_of(RANKING))
    assert document["schema"] == 1
    assert document["kind"] == "ranking"
    assert (document["statistic"], document["grouping"]) == ("pearson", "pooled")
    assert (document["slice"], document["ranked_by"]) == ("whole board", "ensemble")
    first = document["metrics"][0]
    assert first == {
        "name": "COMET",
        "signature": "imported:11",
        "rank": 1,
        "correlation": 0.551,
        "n": 300,
        "interval": [0.5, 0.6],
        "references": ["Human-A", "Human-B"],
        "origin": "imported",
        "source_name": "wmt20-comet",
        "reference_free": False,
        "is_statistic": False,
        "cluster": 1,
        "reason": None,
        "beside": None,
        "scores_only": False,
        "completed": [],
        "equal": None,
        "tied": None,
        "corpus_signature": None,
        "higher_is_better": True,
        "flags": [],
        "counts": True,
        "public": None,
        "public_n": 0,
        "exposure": None,
        "before": None,
        "before_n": 0,
        "within": None,
        "within_n": 0,
        "within_interval": None,
    }
    fitted = document["ensemble"]
    assert fitted["weights"] == {"COMET": 1.48, "COMET-QE": 1.72}
    assert (fitted["lambda"], fitted["lambda_range"]) == (7.65, [7.64, 10.43])
    assert (fitted["correlation"], fitted["n"], fitted["intercept"]) == (0.605, 300, 78.69)
    assert fitted["signature"].rpartition("+")[0] == "ensemble.tiny+refs.AB+version.2"
    human = document["generators"][4]
    assert (human["name"], human["kind"], human["rank"], human["human"]) == ("Human-B", "human", None, 86.25)
    assert human["scores"] == {"ensemble": None, "COMET": 0.55, "BLEU": 40.0}


def test_overrating_has_the_keys_that_scripts_rely_on() -> None:
    document = through_text(document_of(OVERRATING))
    assert (document["schema"], document["human"], document["references"]) == (1, "Human-B", ["Human-A"])
    assert document["metrics"][0] == {
        "name": "BLEU",
        "signature": "imported:44",
        "beta0": 0.62,
        "se": 0.0122,
        "ci90": [0.6, 0.64],
        "n": 900,
        "instances": 100,
        "p": None,
        "components": {},
    }
    assert document["crossed"] is False
    assert result_of(OverratingReport, document) == OVERRATING
    assert document["missing"] == {"Prism-ref": "scored only against Human-B itself; score it against Human-A"}


def test_references_and_studies_have_documents_too() -> None:
    references = through_text(document_of(EFFECT))
    assert references["curves"]["BLEU"][0] == {"size": 1, "correlation": 0.25, "low": 0.22, "high": 0.28, "subsets": 2}
    assert references["reference_free"] == {"COMET-QE": 0.541}
    document = through_text(document_of(STUDY))
    assert document["ablations"][0]["removed"] == "COMET-QE"
    assert document["ablations"][0]["lambda"] == 3.65
    assert document["gains"]["METEOR"] is None
    assert document["correlations"][0] == [1.0, 0.67, 0.58]


def test_a_ranking_read_back_equals_the_one_written() -> None:
    assert result_of(Ranking, through_text(document_of(RANKING))) == RANKING
    without = replace(RANKING, ensemble=None, ranked_by=None)
    assert result_of(Ranking, through_text(document_of(without))) == without


def test_an_ensemble_read_back_equals_the_one_written() -> None:
    assert result_of(Ensemble, through_text(document_of(ENSEMBLE))) == ENSEMBLE
    unbounded = replace(ENSEMBLE, lam_range=None, correlation=None, part="domain news")
    assert result_of(Ensemble, through_text(document_of(unbounded))) == unbounded


def test_what_is_not_a_number_is_null() -> None:
    odd = replace(RANKING.metrics[0], correlation=math.nan, interval=(-math.inf, 0.5))
    document = through_text(document_of(replace(RANKING, metrics=(odd,))))
    assert document["metrics"][0]["correlation"] is None
    assert document["metrics"][0]["interval"] == [None, 0.5]


def test_half_a_character_survives_the_way_through_a_file() -> None:
    odd = replace(RANKING, notes=("half \ud83d 翻译",))
    text = dumps(document_of(odd))
    assert "翻译" in text
    assert result_of(Ranking, json.loads(text.encode("utf-8"))) == odd


def test_a_document_of_another_schema_or_kind_is_refused() -> None:
    with pytest.raises(InvalidInput, match="schema 2; this version of billboards reads schema 1"):
        result_of(Ranking, document_of(RANKING) | {"schema": 2})
    with pytest.raises(InvalidInput, match="kind 'ensemble' where a ranking was expected"):
        result_of(Ranking, document_of(ENSEMBLE))


def test_an_incomplete_document_is_refused_by_the_name_of_what_it_lacks() -> None:
    document = document_of(ENSEMBLE)
    del document["centres"]
    with pytest.raises(InvalidInput, match="ensemble document without 'centres'"):
        result_of(Ensemble, document)


def test_a_document_from_before_a_field_existed_gets_its_default() -> None:
    document = document_of(ENSEMBLE)
    del document["slice"]
    assert result_of(Ensemble, document) == ENSEMBLE


def test_what_is_no_object_is_no_document() -> None:
    with pytest.raises(InvalidInput, match="a ranking document is a JSON object, not list"):
        result_of(Ranking, [])
