"""Signs that somebody answers without reading, each weighed by a likelihood ratio, all of them one evidence.

A sign counts answers: test questions right and wrong, answers that come faster than reading takes, answers that repeat
the one before. Attentive annotators differ, so each has a rate of their own from a beta distribution, which is learned
from the others; a careless one answers as if at random with a chance from a half to always, and then has a rate that
is known. The evidence is how likely the counts are of a careless annotator over how likely of an attentive one. It is
above 1/α with a probability of α at most, whenever one looks, if attentive annotators are as they were learned to be
(Ville 1939): so people can be stopped as soon as it is 100.

Signs that read the same answers are averaged, which keeps that bound whatever they have in common; those that read
other things (test questions, labels, times) are multiplied. A careless annotator need not show a sign, so the absence
of one hardly speaks for anybody. Habits and speed can be an honest person's way to work, so each counts 10 at most:
without missed test questions or disagreement with others nobody is found careless.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from billboards.errors import InvalidInput
from billboards.stats.beta_mixture import whole_counts

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

#: The shares of answers that a careless annotator gives at random, in all or in half of the cases.
RANDOM_SHARES: Floats = np.array([0.5, 1.0])
#: How likely each of these shares is.
SHARE_WEIGHTS: Floats = np.array([0.6, 0.4])
#: An e-value from which on somebody is excluded: of attentive people one in a hundred at most.
ENOUGH = 100.0
#: What a habit or speed may count at most.
MOST_OF_HABITS = 10.0
#: The signs that make up the evidence, in the order they are told.
SIGN_NAMES = ("questions", "agreement", "repetition", "position", "length", "speed")
#: How alike attentive people are, as concentrations of a beta: in test questions, and in habits.
ALIKE = (100.0, 400.0)
UNLIKE = (5.0, 20.0, 80.0)
#: An answer in less than this share of the usual time is hasty; so many first answers say what is usual for a person.
HASTY, FIRST_ANSWERS = 1 / 3, 10
#: Somebody with fewer labels has no order of their own to be compared with others'.
LEAST_LABELS = 5
#: Into how many equal parts an annotator's answers are divided by rank, and how many pairs speak for no agreement
#: at all before anybody has answered.
PARTS, NO_AGREEMENT = 4, 16.0
#: What is known of attentive people before anybody has answered: 19 of 20 test questions right.
USUAL = (19.0, 1.0)
#: What is larger than the exponential of this is told as that.
_LARGEST = 34.5
#: Rates at the middle of so many equal steps from 0 to 1.
_RATES: Floats = (np.arange(200) + 0.5) / 200
#: Means of attentive annotators' rates, and shares of careless annotators, that are thought possible.
_MEANS: Floats = np.concatenate([np.arange(0.05, 0.86, 0.05), np.arange(0.88, 0.995, 0.02), [0.99]])
_CARELESS: Floats = np.array([0.02, 0.1, 0.2, 0.3, 0.4])


@dataclass(frozen=True, kw_only=True, slots=True)
class CountSign:
    """A sign that counts: `usual` is what attentive people do, `unusual` what a careless one does more often.

    careless: how often somebody who does not read does what is usual
    known: what is known of attentive people before anybody has answered, as counts of usual and unusual
    alike: how alike attentive people may be, as concentrations of a beta
    """

    usual: ArrayLike
    unusual: ArrayLike
    careless: float = 0.5
    known: tuple[float, float] = USUAL
    alike: tuple[float, ...] = ALIKE


@dataclass(frozen=True, kw_only=True, slots=True)
class SignWeights:
    """What goes into one evidence: of labels the weights of their signs, of times that of speed; the rest is 1."""

    agreement: float = 0.25
    repetition: float = 0.05
    position: float = 0.05
    length: float = 0.05
    speed: float = 0.1


@dataclass(frozen=True, kw_only=True, slots=True)
class AnnotatorEvidence:
    """What speaks for an annotator's answering without reading: an e-value of each sign, and of all together.

    `signs` are test questions, agreement, repetition, position, length and speed; one that nothing was counted for is
    absent. `total` is that of test questions, times the mean of those on labels, times that of speed.
    """

    annotator: str
    signs: Mapping[str, float]
    total: float

    @property
    def careless(self) -> bool:
        """Whether the evidence is enough to leave somebody out."""
        return self.total >= ENOUGH

    @property
    def reason(self) -> str:
        """The evidence in words, with the signs that speak against the person, the strongest first."""
        against = [(name, self.signs[name]) for name in SIGN_NAMES if self.signs.get(name, 0.0) > 1]
        each = ", ".join(f"{name} {e_value_words(e)}" for name, e in sorted(against, key=lambda sign: -sign[1]))
        return f"evidence {e_value_words(self.total)} of answers without reading{f': {each}' if each else ''}"


def e_value_words(e: float) -> str:
    """An e-value with as many digits as say something."""
    if e < 0.001:
        return "<0.001"
    return "above a million" if e > 1e6 else f"{e:,.0f}" if e >= 100 else f"{e:.1f}" if e >= 10 else f"{e:.2g}"


@dataclass(frozen=True, slots=True)
class _Likelihoods:
    """Logarithms for each annotator: of the counts if attentive, and if careless at each of the random shares."""

    attentive: Floats
    careless: Floats


def count_evidence(sign: CountSign, *, learning: bool = True) -> Floats:
    """The logarithm of the evidence of one sign against each annotator; 0 for whom nothing was counted.

    learning: whether what attentive people do is learned from the others; if not, it is what is known before
    """
    return _ratio([_likelihoods(sign, learning)])


def pooled_evidence(signs: Sequence[CountSign]) -> Floats:
    """One evidence of several signs that read different answers, such as positive and negative test questions.

    Attentive annotators have a rate of their own for each; a careless one answers the same share of all at random.
    """
    if not signs:
        raise InvalidInput("no sign is given to be pooled; give one or more")
    return _ratio([_likelihoods(sign) for sign in signs])


def _ratio(parts: Sequence[_Likelihoods]) -> Floats:
    careless = sum(part.careless for part in parts) + np.log(SHARE_WEIGHTS)[:, None]
    attentive = sum(part.attentive for part in parts)
    return np.asarray(np.logaddexp.reduce(careless, axis=0) - attentive)


def _likelihoods(sign: CountSign, learning: bool = True) -> _Likelihoods:
    usual, unusual = whole_counts(sign.usual), whole_counts(sign.unusual)
    if len(usual) != len(unusual):
        raise InvalidInput(f"a sign has two counts of each annotator; there are {len(usual)} and {len(unusual)}")
    if not 0 < sign.careless < 1:
        raise InvalidInput(f"what a careless annotator does has a chance between 0 and 1; found {sign.careless:g}")
    pairs, which = np.unique(np.stack([usual, unusual], 1), axis=0, return_inverse=True)
    which = which.reshape(-1)
    times = np.bincount(which, minlength=len(pairs))
    attentive, careless = _grid_likelihoods(pairs, sign)
    prior = _prior(sign)
    weighed = _learned(attentive, careless, times, prior) if learning else prior[:, None]
    logs = _expected(attentive, weighed), np.stack([_expected(part, weighed) for part in careless])
    return _Likelihoods(logs[0][which], logs[1][:, which])


@cache
def _densities(alike: tuple[float, ...]) -> Floats:
    """How likely each rate is under each mean and concentration: (rates, grid)."""
    from scipy.special import logsumexp, xlog1py, xlogy

    means, sizes = (axis.ravel() for axis in np.meshgrid(_MEANS, alike, indexing="ij"))
    density = xlogy(means * sizes - 1, _RATES[:, None]) + xlog1py((1 - means) * sizes - 1, -_RATES[:, None])
    return np.asarray(np.exp(density - logsumexp(density, axis=0)))


def _grid_likelihoods(pairs: Ints, sign: CountSign) -> tuple[Floats, Floats]:
    """Log-likelihoods of counts under each mean and concentration: (grid, pairs), and (shares, grid, pairs)."""
    from scipy.special import xlog1py, xlogy

    densities = _densities(sign.alike)
    usual, unusual = pairs[:, 0], pairs[:, 1]

    def averaged(rates: Floats) -> Floats:
        logs = xlogy(usual, rates[:, None]) + xlog1py(unusual, -rates[:, None])
        top = logs.max(axis=0)
        return np.asarray(np.log(densities.T @ np.exp(logs - top)) + top)

    shares = [averaged((1 - share) * _RATES + share * sign.careless) for share in RANDOM_SHARES]
    return averaged(_RATES), np.stack(shares)


def _prior(sign: CountSign) -> Floats:
    """How likely each mean and concentration is before anybody has answered, as logarithms."""
    from scipy.special import logsumexp

    usual, unusual = sign.known
    prior = (usual - 1) * np.log(_MEANS) + (unusual - 1) * np.log1p(-_MEANS) + np.log(np.gradient(_MEANS))
    prior = np.repeat(prior, len(sign.alike))
    return np.asarray(prior - logsumexp(prior))


def _learned(attentive: Floats, careless: Floats, times: Ints, prior: Floats) -> Floats:
    """How likely each mean and concentration is by what the others of each annotator did, logarithms (grid, pairs)."""
    from scipy.special import logsumexp

    any_share = logsumexp(careless + np.log(SHARE_WEIGHTS)[:, None, None], axis=0)
    mixed = np.stack([np.logaddexp(np.log1p(-c) + attentive, np.log(c) + any_share) for c in _CARELESS])
    whole = prior + (mixed * times).sum(axis=2)
    weighed = logsumexp(whole[:, :, None] - mixed, axis=0)
    return np.asarray(weighed - logsumexp(weighed, axis=0))


def _expected(logs: Floats, weighed: Floats) -> Floats:
    return np.asarray(np.logaddexp.reduce(logs + weighed, axis=0))


def combine_signs(
    annotators: Sequence[str], signs: Mapping[str, Floats], weights: SignWeights | None = None
) -> tuple[AnnotatorEvidence, ...]:
    """The evidence against each annotator from the logarithms of each sign's; NaN where nothing was counted.

    signs: by name, `questions`, `agreement`, `repetition`, `position`, `length` and `speed`, as far as there are
    weights: how much each sign counts
    """
    weights = weights or SignWeights()
    e = {name: np.exp(np.minimum(np.asarray(logs, np.float64), _LARGEST)) for name, logs in signs.items()}
    shares = {name: getattr(weights, name) for name in ("agreement", "repetition", "position", "length")}
    labels, speed = _mixed(e, shares, len(annotators)), _mixed(e, {"speed": weights.speed}, len(annotators))
    questions = np.nan_to_num(e.get("questions", np.ones(len(annotators))), nan=1.0)
    total = questions * labels * speed
    return tuple(
        AnnotatorEvidence(
            annotator=annotator,
            signs={name: float(values[k]) for name, values in e.items() if np.isfinite(values[k])},
            total=float(total[k]),
        )
        for k, annotator in enumerate(annotators)
    )


def _mixed(e: Mapping[str, Floats], shares: Mapping[str, float], annotators: int) -> Floats:
    """The mean of some e-values by their shares; what is left, and a sign that is not there, counts as 1."""
    mean = np.full(annotators, 1 - sum(shares.values()))
    for name, share in shares.items():
        mean += share * np.nan_to_num(e.get(name, np.ones(annotators)), nan=1.0)
    return mean


def hasty_answers(annotator: ArrayLike, seconds: ArrayLike, annotators: int) -> tuple[Ints, Ints]:
    """How many answers of each annotator took their time, and how many came in less than a third of the usual one.

    Usual is the median over annotators of their medians, and, once there are more, the median of a person's own first
    ten answers. `annotator` holds a number from 0 for each answer, in the order they were given.
    """
    who, spent = np.asarray(annotator, np.int64), np.asarray(seconds, np.float64)
    own = [spent[who == k] for k in range(annotators)]
    typical = [float(np.median(times)) for times in own if len(times)]
    others = float(np.median(typical)) if len(typical) > 1 else 0.0
    counts = np.array([_hasty(times, others) for times in own], np.int64).reshape(annotators, 2)
    return counts[:, 0], counts[:, 1]


def _hasty(times: Floats, others: float) -> tuple[int, int]:
    """Answers that took their time and hasty ones; none where nothing says what is usual."""
    own = float(np.median(times[:FIRST_ANSWERS])) if len(times) > FIRST_ANSWERS else 0.0
    hasty = int((times < HASTY * max(others, own)).sum())
    return (len(times) - hasty, hasty) if max(others, own) > 0 else (0, 0)


def repeated_answers(annotator: ArrayLike, values: ArrayLike, annotators: int) -> tuple[Ints, Ints]:
    """How many answers of each annotator differ from the one before, and how many repeat it, in the order given."""
    who, given = np.asarray(annotator, np.int64), np.asarray(values, np.float64)
    steps = [np.diff(given[who == k]) for k in range(annotators)]
    changes = np.array([int((step != 0).sum()) for step in steps], np.int64).reshape(annotators)
    return changes, np.array([len(step) for step in steps], np.int64).reshape(annotators) - changes


def followed_lengths(annotator: ArrayLike, values: ArrayLike, lengths: ArrayLike, annotators: int) -> tuple[Ints, Ints]:
    """Of each annotator's answers in a row, how often a longer output got the lower value, and how often the higher.

    Steps between equal values or equal lengths say nothing and are not counted.
    """
    who, given, long = np.asarray(annotator, np.int64), np.asarray(values, np.float64), np.asarray(lengths, np.float64)
    shorter, longer = np.zeros(annotators, np.int64), np.zeros(annotators, np.int64)
    for k in range(annotators):
        direction = np.sign(np.diff(given[who == k])) * np.sign(np.diff(long[who == k]))
        shorter[k], longer[k] = int((direction < 0).sum()), int((direction > 0).sum())
    return shorter, longer


def speed_evidence(took_time: ArrayLike, hasty: ArrayLike) -> Floats:
    """The logarithm of the evidence that somebody answers faster than reading takes: 10 at most."""
    return _habit(took_time, hasty, careless=0.2, known=USUAL)


def repetition_evidence(changes: ArrayLike, repeats: ArrayLike) -> Floats:
    """The logarithm of the evidence that somebody gives one answer throughout: 10 at most."""
    return _habit(changes, repeats, careless=0.03, known=(3.0, 2.0))


def length_evidence(shorter: ArrayLike, longer: ArrayLike) -> Floats:
    """The logarithm of the evidence that somebody goes by length alone, long or short: 10 at most."""
    either = [
        _habit(usual, unusual, careless=0.05, known=(2.0, 2.0), most=np.inf)
        for usual, unusual in ((shorter, longer), (longer, shorter))
    ]
    return _at_most(np.logaddexp(*either) - math.log(2))


def position_evidence(first: ArrayLike, other: ArrayLike) -> Floats:
    """The logarithm of the e-value that somebody goes by the place on the page: 10 at most.

    Orders are drawn by lot, so whoever reads prefers what stands first as often as what stands elsewhere, whatever the
    outputs are. The evidence is exact: any other chance is as likely as another, over one half.
    """
    from scipy.special import betaln

    firsts, others = whole_counts(first), whole_counts(other)
    return _at_most(betaln(firsts + 1.0, others + 1.0) + (firsts + others) * math.log(2))


def _habit(
    usual: ArrayLike, unusual: ArrayLike, *, careless: float, known: tuple[float, float], most: float = MOST_OF_HABITS
) -> Floats:
    sign = CountSign(usual=usual, unusual=unusual, careless=careless, known=known, alike=UNLIKE)
    return _at_most(count_evidence(sign), most)


def _at_most(logs: ArrayLike, most: float = MOST_OF_HABITS) -> Floats:
    """What is cut off makes an e-value smaller, so it stays one."""
    return np.minimum(np.asarray(logs, np.float64), math.log(most) if most < np.inf else np.inf)


def agreement_evidence(annotator: ArrayLike, item: ArrayLike, values: ArrayLike, annotators: int) -> Floats:
    """The logarithm of the evidence that an annotator's labels have nothing to do with others' of the same items.

    Each annotator's labels are ranked and divided into four equal parts, so that strict and lenient people count the
    same. How attentive people's parts go together is counted on pairs of the others alone; somebody who answers at
    random has any part beside any other. Arrays hold a number from 0 of the annotator and of the item, and the value.
    """
    who, what = np.asarray(annotator, np.int64), np.asarray(item, np.int64)
    places = _own_places(who, np.asarray(values, np.float64), annotators)
    used = np.isfinite(places)
    who, what, places = who[used], what[used], places[used]
    tables, pairs = _pair_tables(who, what, places, annotators)
    whole = tables.sum(axis=0) / 2
    logs = np.zeros(annotators)
    for k in range(annotators):
        if pairs[k]:
            logs[k] = _disagreement(np.array(pairs[k]), np.maximum(whole - tables[k], 0.0))
    return logs


def _own_places(who: Ints, values: Floats, annotators: int) -> Floats:
    """Where each label lies among its annotator's own, 0 to 1; NaN for those with too few of them."""
    from scipy.stats import rankdata

    places = np.full(len(values), np.nan)
    for k in range(annotators):
        own = who == k
        if own.sum() >= LEAST_LABELS:
            places[own] = (rankdata(values[own]) - 0.5) / own.sum()
    return places


def _pair_tables(
    who: Ints, what: Ints, places: Floats, annotators: int
) -> tuple[Floats, list[list[tuple[float, float]]]]:
    """For each annotator a table of parts beside parts in all pairs they are in, and own places beside others' mean."""
    tables = np.zeros((annotators, PARTS, PARTS))
    pairs: list[list[tuple[float, float]]] = [[] for _ in range(annotators)]
    for labels in np.split(np.argsort(what, kind="stable"), np.flatnonzero(np.diff(np.sort(what))) + 1):
        if len(labels) < 2:
            continue
        parts, whole = _part(places[labels]), places[labels].sum()
        for a in range(len(labels)):
            mine = who[labels[a]]
            pairs[mine].append((places[labels[a]], (whole - places[labels[a]]) / (len(labels) - 1)))
            # Of an item with many labels each pair counts less, so that all items count alike for an annotator.
            for b in range(len(labels)):
                if a != b:
                    share = 1 / (len(labels) - 1)
                    tables[mine, parts[a], parts[b]] += share / 2
                    tables[mine, parts[b], parts[a]] += share / 2
    return tables, pairs


def _part(places: Floats) -> Ints:
    return np.minimum((places * PARTS).astype(np.int64), PARTS - 1)


def _disagreement(pairs: Floats, table: Floats) -> float:
    """How much likelier own places are beside others' ones if they have nothing to do with them."""
    alone = (table.sum(axis=0) + 1) / (table.sum() + PARTS)
    joint = table + NO_AGREEMENT * alone[:, None] * alone
    beside = joint / joint.sum(axis=0)
    ratio = alone[_part(pairs[:, 0])] / beside[_part(pairs[:, 0]), _part(pairs[:, 1])]
    logs = np.log1p(RANDOM_SHARES[:, None] * (ratio - 1)).sum(axis=1)
    return float(np.logaddexp.reduce(logs + np.log(SHARE_WEIGHTS)))
