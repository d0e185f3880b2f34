"""What every public function of `stats` says of small samples: plain ones, with gaps, ties, flat scores, and of two.

Each option is tried in turn: a choice in each of its other ways, a flag turned, another seed, level or number of draws.
Of those answers only what is unlike the plain one is kept. Tests beside this file say what is right and why; this one
says that nothing has changed.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import pytest
from approving import approve, changes, comparable
from stats_samples import ASKED, SIZES, Call, Sample

from billboards import stats
from billboards.errors import BillboardsError

#: Most numbers of an array that are kept one by one, and most differences of an answer.
MOST, TOLD = 60, 6
#: What hangs on the processor: how many steps a fit takes, and sums in single precision.
CHANCE = ("iterations", "steps", "exchanged")
#: Numbers that say how thoroughly something is done, and another one to try.
THOROUGH: Mapping[str, int] = {"draws": 25, "resamples": 25, "rounds": 5, "exchanges": 25}
#: Public functions that only serve others here: what they give is seen in what those say.
SERVING = frozenset(
    {
        "alignment.aligned", "alignment.finite_or_missing", "allocation.combine_batches", "annotator_recall.is_open",
        "annotator_simulation.detection", "annotator_simulation.mark",
        "annotator_simulation.tally", "annotators.is_noisy",
        "annotators.prior_of", "annotators.question_standings", "beta_mixture.advance", "beta_mixture.climb",
        "beta_mixture.distinct_counts", "beta_mixture.em_step", "beta_mixture.log_likelihood", "beta_mixture.urns",
        "beta_mixture.values", "bootstrap.sums_by_document", "bradley_terry.best_worst_scores",
        "bradley_terry.comparison_scores", "bradley_terry.difference_z", "bradley_terry.separated",
        "correlation.cell_sums", "correlation.instance_sums", "correlation.pearson_of_sums",
        "correlation.resampling_weights", "designs.halved", "designs.labels_of", "designs.majority",
        "disclosure.mean_decimals", "disclosure.round_to", "disclosure.varying_outputs", "ensemble.apply_linear",
        "ensemble.gather_blocks", "ensemble.held_out_correlation", "group_sums.check_design",
        "group_sums.gather_grid", "group_sums.gather_rows", "group_sums.mean_weights",
        "grouped.correlations_of_groups", "grouped.ranks_within", "kendall.kendall", "kendall.kendall_with_p",
        "ladder.climb", "lasso.lasso_path", "lasso.segment_with", "lasso.weights_at", "likelihood.compare_deviances",
        "likelihood.profile", "likelihood.scan", "likelihood.t_test", "mixed.fit_random_intercepts", "mixed.fit_sums",
        "pairwise.pair_differences", "pairwise.pair_index", "pooling.thinned", "ratings.ratings_in_table",
        "ratings.within_unit_pairs", "reliability.krippendorff_alpha_of_columns", "reliability.percentile_interval",
        "reliability.resampled_units", "resampling.bounds_of", "resampling.randomisation_p", "selection.centred",
        "sequences.log_asymptotic_evidence", "sequences.log_evidence", "sequences.log_evidence_of_error",
        "sequences.log_mean", "severity.connected_parts", "significance.cluster_rows",
        "significance.exchange_correlations", "significance.random_signs", "significance.reached",
        "significance.sign_rows", "spans.overlap", "system_level.standardised", "system_pairs.one_sided_p",
        "system_pairs.random_swaps", "watching.cells_by_unit", "within_items.pair_sums", "within_items.pdp_of_sums",
        "yardsticks.ratio_draws",
    }
)  # fmt: skip


def public_functions() -> Iterator[str]:
    for module in iter_modules(stats.__path__):
        loaded = import_module(f"billboards.stats.{module.name}")
        for name, member in vars(loaded).items():
            if inspect.isfunction(member) and member.__module__ == loaded.__name__ and not name.startswith("_"):
                yield f"{module.name}.{name}"


def test_what_is_taken_and_by_default_is_as_approved() -> None:
    """Of classes, and of functions that serve others; what the others take is kept with what they say."""
    taken = {name: signature_of(name) for name in sorted({*SERVING, *public_classes()})}
    approve("stats/signatures", taken)


def signature_of(name: str) -> str:
    module, member = name.split(".")
    return str(inspect.signature(getattr(import_module(f"billboards.stats.{module}"), member)))


def public_classes() -> Iterator[str]:
    for module in iter_modules(stats.__path__):
        loaded = import_module(f"billboards.stats.{module.name}")
        for name, member in vars(loaded).items():
            if is_dataclass(member) and member.__module__ == loaded.__name__ and not name.startswith("_"):
                yield f"{module.name}.{name}"


def test_every_public_function_is_asked() -> None:
    assert {*ASKED} | SERVING == set(public_functions())
    assert not {*ASKED} & SERVING


@pytest.mark.parametrize("name", ASKED)
def test_a_function_says_what_was_approved(name: str) -> None:
    module, function = name.split(".")
    asked = getattr(import_module(f"billboards.stats.{module}"), function)
    said: dict[str, Any] = {"takes": str(inspect.signature(asked))}
    for sample in map(Sample, SIZES):
        answers = [answer(asked, call) for call in prepared(name, sample)]
        # What says the same of every sample needn't be said again.
        if answers not in said.values():
            said[sample.name] = answers
    approve(f"stats/{name}", said)


def prepared(name: str, sample: Sample) -> list[Call]:
    """The calls; none where what is asked can't be made of the sample, as strengths of entries nobody has beaten."""
    try:
        return ASKED[name](sample)
    except BillboardsError:
        return []


def answer(asked: Callable[..., Any], call: Mapping[str, Any]) -> Any:
    plain = comparable(called(asked, call))
    others = {}
    for option, value in other_ways(asked, call):
        now = comparable(called(asked, {**call, option: value}))
        unlike = list(changes(plain, now))
        if unlike:
            told = {where: new for where, (_, new) in unlike[:TOLD]}
            others[f"{option} {value}"] = {**told, "changes": len(unlike)} if len(unlike) > TOLD else told
    return {"says": plain, **others}


def other_ways(asked: Callable[..., Any], call: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Each option in each other way that is worth a try."""
    hints = get_type_hints(asked)
    for name, option in inspect.signature(asked).parameters.items():
        if option.default is option.empty or name in (*CHANCE, "tolerance"):
            continue
        now = call.get(name, option.default)
        if get_origin(hints[name]) is Literal:
            yield from ((name, choice) for choice in get_args(hints[name]) if choice != now)
        elif isinstance(now, bool):
            yield name, not now
        elif name == "seed":
            yield name, now + 1
        elif name in THOROUGH:
            if now and now != THOROUGH[name]:
                yield name, THOROUGH[name]
        elif isinstance(now, float):
            yield name, now / 2 if now else 0.5
        elif isinstance(now, int):
            yield name, now + 1


def called(asked: Callable[..., Any], call: Mapping[str, Any]) -> Any:
    by_name = {name: given for name, given in call.items() if name != "*"}
    try:
        return plain_values(asked(*call.get("*", ()), **by_name))
    except BillboardsError as error:
        return f"{type(error).__name__}: {error}"


def plain_values(value: Any) -> Any:
    """A result as plain values: fields and properties by name, arrays as lists, long ones in short."""
    if is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in fields(value) if not field.name.startswith("_")]
        own = [name for name, member in inspect.getmembers(type(value), lambda m: isinstance(m, property))]
        kept = [name for name in [*names, *own] if not name.startswith("_") and name not in CHANCE]
        return {name: plain_values(getattr(value, name)) for name in kept}
    if hasattr(value, "toarray"):
        return plain_values(value.toarray())
    if isinstance(value, np.ndarray):
        return plain_array(value)
    if isinstance(value, Mapping):
        return {str(key): plain_values(item) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(value)
    if isinstance(value, list | tuple):
        return [plain_values(item) for item in value]
    if isinstance(value, str | int | float | np.generic) or value is None:
        return value
    return {name: plain_values(item) for name, item in vars(value).items() if not name.startswith("_")}


def plain_array(values: np.ndarray[Any, Any]) -> Any:
    if values.size <= MOST or values.dtype.kind not in "biuf":
        return values.tolist()
    flat = values.astype(float).ravel()
    finite = np.isfinite(flat)
    weights = np.cos(np.arange(flat.size))[finite]
    return {
        "shape": list(values.shape),
        "begins": flat[:5].tolist(),
        "missing": int((~finite).sum()),
        "sum": float(flat[finite].sum()),
        "weighted": float(flat[finite] @ weights),
    }
