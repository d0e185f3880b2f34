"""Ensembles of every family, fitted, written down, read again and spoilt; what their parts compute; selectors."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from approving import approve
from numpy.typing import NDArray
from plain_boards import told
from simulated_judgments import simulated
from spoilt_files import AWAY, places

from billboards.ensembles import FAMILIES, Model
from billboards.ensembles._choosing import choose_family, compare_predictions, why_too_few
from billboards.ensembles._family import Training, dealt, family, inner_folds, standardising
from billboards.ensembles._held_out import (
    SCHEMES,
    Judged,
    fit_family,
    generator_folds,
    parts_of,
    pearson,
    predict_held_out,
)
from billboards.ensembles._inputs import expanded, input_directions, learn_filling, lengths, make_cells, read_filling
from billboards.ensembles._intervals import coverage, error_quantiles, widened
from billboards.ensembles._models import read_model
from billboards.errors import BillboardsError
from billboards.selectors import SELECTORS, Candidates, selector

Floats = NDArray[np.float64]
NAMES = tuple(FAMILIES.own)


def refused(ask: Callable[[], Any]) -> Any:
    try:
        return ask()
    except BillboardsError as error:
        return told(error)


def rounded(values: Floats) -> Any:
    """Numbers of an array, in lists."""
    if np.ndim(values) == 0:
        return float(f"{float(values):.9g}")
    return [rounded(value) for value in np.asarray(values)]


def judgments(**changed: Any) -> Judged:
    return simulated(**{"generators": 6, "documents": 8, "each": 3, "metrics": 4, "seed": 11, **changed})[0]


def gapped() -> Judged:
    judged = judgments()
    table = judged.table.copy()
    table[judged.generator == 2, 3] = np.nan
    table[5:20:3, 0] = np.nan
    table[7] = np.nan
    return replace(judged, table=table)


@pytest.mark.parametrize("name", NAMES)
def test_a_family_fits_as_approved(name: str) -> None:
    chosen = FAMILIES.load(name)
    words: dict[str, Any] = {"facts": [chosen.small, chosen.items, chosen.summary]}
    for what, judged in (("whole", judgments()), ("with gaps", gapped())):
        for k in (1, 3) if chosen.small else (3,):
            fitted = fit_family(chosen, judged, k=k, seed=2)
            said = fitted.predict(judged.table)
            words[f"{what} {k}"] = {
                "said": rounded(said[::11]),
                "agreement": rounded(np.array(pearson(said, judged.target))),
                "model": shortened(fitted.model.document()),
            }
    if name != "stacking":
        held_out = predict_held_out(chosen, judgments(generators=5, documents=5), most_generators=2, seed=1)
        words["held out"] = {
            "predicted": rounded(held_out.predicted[::9]),
            "raw": rounded(held_out.raw[::9]),
            "constants": rounded(held_out.constants),
            "agreement": rounded(np.array(held_out.correlation(held_out.judged))),
        }
        if name in ("ridge", "lasso"):
            parts = list(held_out.parts)
            words["without"] = rounded(held_out.without[:, ::25])
            words["covered"] = rounded(np.array(coverage(held_out, held_out.judged, parts)))
    same = replace(judgments(), target=np.full(len(judgments().target), 3.0))
    words["nothing to learn"] = refused(lambda: fit_family(chosen, same))
    words["one output"] = refused(lambda: fit_family(chosen, judgments().only(np.arange(144) == 3)))
    approve(f"ensembles/{name}", words)


def shortened(document: Any) -> Any:
    """A model's document with rounded numbers; of many trees the first."""
    if isinstance(document, dict):
        return {
            key: [len(value), shortened(value[0])] if key == "trees" else shortened(value)
            for key, value in document.items()
        }
    if isinstance(document, list):
        return [shortened(value) for value in document]
    return rounded(np.array(document)) if isinstance(document, float) else document


@pytest.mark.parametrize("name", ["ridge", "boosting", "stacking"])
def test_a_spoilt_model_is_refused_as_approved(name: str) -> None:
    training = judgments(generators=3, documents=4, each=2, metrics=2)
    model = fit_family(FAMILIES.load(name), training).model
    document = json.loads(json.dumps(model.document()))
    inputs = expanded(training.table, items=True).shape[1]
    for trees in (document, *document.get("members", ())):
        if "trees" in trees:
            trees["trees"] = trees["trees"][:2]
    table = expanded(training.table, items=True)[:3]
    sound = read_model(document, inputs).predict(table)
    answers: dict[str, list[str]] = {}
    for words, change in places(document):
        for value in ("x", "", -1, 0, 1.5, True, [], {}, [1, 2], float("nan"), 1e308, AWAY):
            said = refused(partial(judged_alike, change(value), inputs, table, sound))
            answers.setdefault(str(said), []).append(f"{words} is {'away' if value is AWAY else value}")
    deep: dict[str, Any] = document
    for _ in range(6):
        deep = {"kind": "mixed", "members": [deep], "weights": [1.0], "intercept": 0.0}
    odd = [({"kind": "none"}, 3), ({}, 3), (document, inputs + 1), (deep, inputs)]
    answers["odd"] = [str(refused(partial(judged_alike, *one, table, sound))) for one in odd]
    approve(f"ensembles/spoilt-{name}", answers)


def judged_alike(document: Any, inputs: int, table: Floats, sound: Floats) -> str:
    """Whether a model that is read says what the sound one does."""
    model = read_model(document, inputs)
    with np.errstate(all="ignore"):
        said = model.predict(table)
    return "read alike" if np.allclose(said, sound, equal_nan=True) else "read otherwise"


def training_of(judged: Judged, **changed: Any) -> Training:
    return Training(
        inputs=expanded(judged.table, items=True),
        target=judged.target,
        generator=judged.generator,
        document=judged.document,
        metrics=judged.metrics,
        directions=input_directions(judged.metrics, items=True),
        **changed,
    )


def test_parts_of_ensembles_compute_as_approved() -> None:
    judged = judgments()
    training = training_of(judged, seed=4)
    random = np.random.default_rng(8)
    errors, documents = random.normal(size=60), np.repeat(np.arange(12), 5)
    alike = np.repeat(random.normal(size=12), 5) + 0.1 * errors
    filling, whole = learn_filling(gapped().table), learn_filling(judged.table)
    scores = np.array([[1.0, 2.0], [3.0, np.nan], [5.0, 6.0]])
    cells = make_cells([scores], lengths([["ab", None], ["a", "b"], ["", "abc"]]), np.array([True, True, False]))
    first, other = judged.target + errors.sum() + random.normal(size=len(judged.target)) * 8, judged.table[:, 3]
    predicted = {"first": lambda: other, "second": lambda: first, "third": lambda: judged.table[:, 0]}
    few = {
        "generators": judgments(generators=3),
        "documents": judgments(documents=19),
        "outputs": judgments(documents=20, each=1, generators=5),
        "metrics": judgments(documents=20, each=4, metrics=2),
        "enough": judgments(documents=20, each=4),
    }

    @family(small=True)
    def my_own(training: Training) -> Model:
        """Its first line.

        And more.
        """
        raise AssertionError

    approve(
        "ensembles/parts",
        {
            "dealt": [dealt(judged.generator, groups, seed).tolist()[::24] for groups in (2, 3, 10) for seed in (0, 1)],
            "inner": [part.tolist()[::7] for part in inner_folds(training, 3, 2)],
            "standardising": [rounded(part) for part in standardising(np.array([[1.0, 5.0], [3.0, 5.0]]))],
            "folds": [generator_folds(outputs) for outputs in (0, 1, 3999, 4001, 5000, 7999, 8001, 10**6)],
            "parts": {
                scheme: [[int(part.held.sum()), int(part.seen.sum())] for part in parts_of(judged, scheme, seed=1)]
                for scheme in SCHEMES
            },
            "quantiles": [error_quantiles(*one) for one in quantiles(errors, alike, documents)],
            "other levels": [error_quantiles(errors, documents, level) for level in (0.5, 0.8, 0.99)],
            "widened": [
                widened((-2.0, 3.0), [(-2.5, 3.5), (-1.0, 2.0)]),
                widened((1.0, 3.0), [(2.0, 5.0)]),
                widened((-1.0, 1.0), []),
            ],
            "filled": rounded(filling.fill(gapped().table)[[5, 7, 8, 50]]),
            "filling": rounded(filling.covariance[0]),
            "whole": [rounded(whole.mean), bool((whole.fill(judged.table) == judged.table).all())],
            "filling read": refused(lambda: rounded(read_filling(filling.document(), 10).mean)),
            "filling refused": [
                refused(lambda one=one: read_filling(one, 10))  # type: ignore[misc]
                for one in (
                    {},
                    {"mean": "x", "covariance": []},
                    {"mean": [1.0], "covariance": [[1.0]]},
                    {"mean": [0.0] * 10, "covariance": [[float("nan")] * 10] * 10},
                )
            ],
            "cells": [rounded(cells.own), rounded(cells.around), cells.metrics],
            "at": rounded(cells.at(np.array([0, 2]), np.array([0, 1]))),
            "expanded": [
                rounded(expanded(cells.at(np.array([0]), np.array([0])), items=items)) for items in (True, False)
            ],
            "directions": [input_directions(2, items=items).tolist() for items in (True, False)],
            "blocks": str(type(training.blocks()).__name__),
            "too few": {name: why_too_few(part) for name, part in few.items()},
            "compared": {
                name: round(value, 6)
                for name, value in asdict(compare_predictions(first, other, judged, seed=3)).items()
            },
            "chosen": str(choose_family(judged, predicted, seed=3).name),
            "reached": {name: round(value, 6) for name, value in choose_family(judged, predicted).reached.items()},
            "not chosen": choose_family(judged, dict(reversed(predicted.items()))).beaten,
            "declared": [my_own.name, my_own.small, my_own.items, my_own.summary],
        },
    )


def quantiles(errors: Floats, alike: Floats, documents: NDArray[np.int64]) -> list[tuple[Floats, NDArray[np.int64]]]:
    single = np.arange(len(errors))
    return [
        (errors, documents),
        (alike, documents),
        (errors, single),
        (errors, np.zeros(len(errors), np.int64)),
        (errors[:7], np.array([0, 0, 0, 0, 1, 1, 2])),
        (errors[:2], np.array([0, 1])),
    ]


def candidates(**changed: Any) -> Candidates:
    random = np.random.default_rng(5)
    scores = random.normal(size=(3, 4, 8))
    scores[1, 2, 3] = np.nan
    scores[0, :, 7] = np.nan
    labels = np.full((4, 8), np.nan)
    labels[:, :3] = random.normal(size=(4, 3))
    texts = tuple(
        tuple(None if (g, i) == (1, 2) else f"{'word ' * g}text {i} {g % 2}" if i < 6 else "same" for i in range(8))
        for g in range(4)
    )
    usual = {"scores": scores, "metrics": ("a", "b", "c"), "metric": 0, "texts": texts, "labels": labels, "seed": 3}
    return Candidates(**{**usual, **changed})


@pytest.mark.parametrize("name", tuple(SELECTORS.own))
def test_a_selector_chooses_as_approved(name: str) -> None:
    chosen = SELECTORS.load(name)
    cases = {
        "usual": candidates(),
        "another metric": candidates(metric=1),
        "no metric": candidates(metric=None),
        "one metric": candidates(scores=candidates().scores[:1], metrics=("a",)),
        "no metrics": candidates(scores=candidates().scores[:0], metrics=(), metric=None),
        "no labels": candidates(labels=np.full((4, 8), np.nan)),
        "one generator": candidates(
            scores=candidates().scores[:, :1], labels=candidates().labels[:1], texts=candidates().texts[:1]
        ),
        "equal scores": candidates(scores=np.ones((2, 4, 8)), metrics=("a", "b")),
    }
    words = {case: refused(lambda given=given: rounded(chosen(given))) for case, given in cases.items()}  # type: ignore[misc]
    approve(f"selectors/{name}", {"summary": chosen.summary, "worth": words})


def test_what_a_selector_may_not_say_is_refused_as_approved() -> None:
    @selector()
    def my_own(candidates: Candidates) -> Floats:
        """Its first line."""
        return np.full(candidates.seed, -1.0 if candidates.seed == 8 else np.inf)

    own = selector("named")(my_own.function)
    answers = [refused(lambda seed=seed: rounded(own(candidates(seed=seed)))) for seed in (3, 8, 9)]  # type: ignore[misc]
    approve("selectors/refused", {"names": [my_own.name, own.name, own.summary], "said": answers})
