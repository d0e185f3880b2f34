"""Answers are read strictly: exactly the agreed form, or not at all."""

from __future__ import annotations

import json

import pytest

from billboards.metrics.judges.parsing import Unreadable, read_aspects, read_assessment, read_errors

ASPECTS = ("fluency", "relevance")


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ('{"score": 87}', 87.0),
        (' {"score": 0.5}\n', 0.5),
        ('{"score": 0}', 0.0),
        ('{"score": 100}', 100.0),
        ('```json\n{"score": 87}\n```', 87.0),
        ('```\n{"score": 87}\n```\n', 87.0),
    ],
)
def test_an_assessment_is_read(text: str, score: float) -> None:
    assert read_assessment(text) == {"": score}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not one JSON object"),
        ("87", "a JSON object with score"),
        ("Score: 87", "not one JSON object"),
        ('The score is {"score": 87}', "not one JSON object"),
        ('{"score": 87} because it is good', "not one JSON object"),
        ('{"score": 87}{"score": 10}', "not one JSON object"),
        ('{"score": 8', "not one JSON object"),
        ('```json\n{"score": 87}\n``` is my answer', "not one JSON object"),
        ('{"score": 87, "why": "good"}', "score and nothing else"),
        ('{"score": 87, "score": 10}', "a key twice"),
        ('{"points": 87}', "score and nothing else"),
        ('[{"score": 87}]', "a JSON object with score"),
        ('{"score": "87"}', "must be a number, found '87'"),
        ('{"score": true}', "must be a number, found True"),
        ('{"score": null}', "must be a number, found None"),
        ('{"score": 101}', "from 0 to 100, found 101"),
        ('{"score": -1}', "from 0 to 100, found -1"),
        ('{"score": 1e999}', "from 0 to 100, found inf"),
        ('{"score": NaN}', "NaN is no number"),
        ('{"score": ' + "9" * 5000 + "}", "not one JSON object"),
        ("[" * 100_000, "not one JSON object"),
        ("I'm sorry, but I can't help with that.", "not one JSON object"),
    ],
)
def test_what_is_no_assessment_is_unreadable_and_says_why(text: str, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        read_assessment(text)


def error(severity: object = "minor", **more: object) -> str:

    return json.dumps({"span": "x", "category": "other", "severity": severity, **more})


@pytest.mark.parametrize(
    ("found", "score"),
    [
        ([], 0.0),
        ([error("minor")], -1.0),
        ([error("major"), error("minor")], -6.0),
        ([error("critical")], -25.0),
        ([error("critical"), error("major")], -25.0),
        ([error("major")] * 4 + [error("minor")] * 4, -24.0),
    ],
)
def test_errors_cost_what_their_severity_says_and_25_at_most(found: list[str], score: float) -> None:
    assert read_errors('{"errors": [' + ",".join(found) + "]}") == {"": score}


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        ('"none"', "must be a list, found 'none'"),
        ("{}", "must be a list"),
        ("[1]", "span, category and severity, found 1"),
        ('[{"span": "x", "severity": "minor"}]', "span, category and severity"),
        (f"[{error('fatal')}]", "critical, major, minor, found 'fatal'"),
        (f"[{error('Major')}]", "found 'Major'"),
        (f"[{error(5)}]", "must be texts"),
        (f"[{error(why='?')}]", "span, category and severity"),
    ],
)
def test_an_error_of_another_form_is_unreadable_and_never_costs_nothing(found: str, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        read_errors(f'{{"errors": {found}}}')


def test_aspects_are_read_with_their_mean_first() -> None:
    found = read_aspects('{"relevance": 2, "fluency": 5}', ASPECTS)
    assert list(found.items()) == [("mean", 3.5), ("fluency", 5.0), ("relevance", 2.0)]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"fluency": 5}', "fluency, relevance and nothing else"),
        ('{"fluency": 5, "relevance": 2, "style": 1}', "nothing else"),
        ('{"fluency": 0, "relevance": 2}', "fluency must be a whole number from 1 to 5, found 0"),
        ('{"fluency": 6, "relevance": 2}', "found 6"),
        ('{"fluency": 4.5, "relevance": 2}', "found 4.5"),
        ('{"fluency": true, "relevance": 2}', "found True"),
    ],
)
def test_aspects_of_another_form_are_unreadable(text: str, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        read_aspects(text, ASPECTS)
