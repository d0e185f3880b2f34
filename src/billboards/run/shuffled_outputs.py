"""Outputs as a stranger's program gets them: mixed, in a random order, under ids that mean nothing.

A program that knew which outputs come from one generator could treat that generator as it likes. So the outputs of the
generators that are scored in one job are dealt out over calls of about one generator's size, each call with one output
of each instance and each generator's outputs spread over all calls; strays from generators that were scored before may
come in between. A program that declares to need whole generators gets these, each in a random order.

All of this follows from a seed, which follows from a secret: the owner can do it again, and nobody can foresee it. A
score that belongs to its own output is the same in every mix, and `compare` counts those that aren't.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from billboards.metrics.base import Batch

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

#: Differences that the arithmetic of doubles may make, in units of a score's own size.
ROUNDING = 8 * float(np.finfo(np.float64).eps)
#: Who declares not to repeat itself may differ by so much of the scores' spread, beyond it in so many outputs.
NOISE, NOISY = 0.5, 0.1


def keyed(secret: bytes, *words: str) -> bytes:
    """A seed that follows from a secret and some words, and tells neither."""
    text = "".join(f"{len(word)}:{word}" for word in words)
    return hmac.new(secret, text.encode("utf-8", "surrogatepass"), hashlib.sha256).digest()


def line_ids(seed: bytes, count: int) -> list[tuple[str, int]]:
    """So many ids as a program gets them, a text and a number each: random, and other ones under another seed."""
    whole = hashlib.shake_256(keyed(seed, "ids")).hexdigest(8 * count)
    texts = [whole[start : start + 16] for start in range(0, 16 * count, 16)]
    # 52 bits are a whole number also where numbers are doubles.
    return [(text, int(text[:13], 16)) for text in texts]


@dataclass(frozen=True, kw_only=True)
class Call:
    """What one call is given, and where each of its outputs comes from: which batch, and which place in it."""

    batch: Batch
    origins: Places
    places: Places

    def __len__(self) -> int:
        return len(self.places)


def mix(batches: Sequence[Batch], strays: Batch, seed: bytes) -> list[Call]:
    """Generators' outputs dealt out over as many calls, strays among them; strays come from batch `len(batches)`."""
    drawn = _generator(seed, "deal")
    longest = max(map(len, batches))
    # Row c of this says whose output of each place is in call c.
    turns = drawn.permuted(np.repeat(np.arange(len(batches))[:, None], longest, axis=1), axis=0)
    lengths, everywhere = np.array([len(batch) for batch in batches]), np.arange(longest)
    calls_of_strays = drawn.integers(len(batches), size=len(strays))
    calls = []
    for number, origins in enumerate(turns):
        has_output = everywhere < lengths[origins]
        own = np.flatnonzero(calls_of_strays == number)
        origins = np.concatenate([origins[has_output], np.full(len(own), len(batches))])
        places = np.concatenate([everywhere[has_output], own])
        if len(places):
            calls.append(_shuffled([*batches, strays], origins, places, drawn))
    return calls


def shuffle_whole(batches: Sequence[Batch], seed: bytes) -> list[Call]:
    """Whole generators in a random order, and so are the outputs of each."""
    drawn = _generator(seed, "whole")
    return [
        _shuffled(batches, np.full(len(batches[k]), k), np.arange(len(batches[k])), drawn)
        for k in drawn.permutation(len(batches))
    ]


def sample(batches: Sequence[Batch], count: int, seed: bytes) -> Call:
    """At most so many outputs of all generators in one call, in a random order."""
    drawn = _generator(seed, "sample")
    origins = np.repeat(np.arange(len(batches)), [len(batch) for batch in batches])
    places = np.concatenate([np.arange(len(batch)) for batch in batches])
    few = drawn.choice(len(places), size=min(count, len(places)), replace=False)
    return _shuffled(batches, origins[few], places[few], drawn)


def put_back(calls: Sequence[Call], scores: Sequence[Floats], sizes: Sequence[int]) -> list[Floats]:
    """The scores of each batch, of so many outputs, in its own order."""
    whole = [np.full(size, np.nan) for size in sizes]
    for call, given in zip(calls, scores, strict=True):
        for k, scored in enumerate(whole):
            own = call.origins == k
            scored[call.places[own]] = given[own]
    return whole


def chosen(batch: Batch, places: Sequence[int] | Places) -> Batch:
    """Some outputs of a batch, in the order asked for."""
    return gathered([batch], np.zeros(len(places), np.intp), np.asarray(places, np.intp))


def joined(batches: Sequence[Batch]) -> Batch:
    """All outputs of several batches, one after the other."""
    origins = np.repeat(np.arange(len(batches)), [len(batch) for batch in batches])
    return gathered(batches, origins, np.concatenate([np.arange(len(batch)) for batch in batches]))


def gathered(batches: Sequence[Batch], origins: Places, places: Places) -> Batch:
    """Outputs from several batches, each with its references and input."""
    pairs = list(zip(origins.tolist(), places.tolist(), strict=True))
    given = [batches[k] for k in sorted(set(origins.tolist()))]
    return Batch(
        [batches[k].outputs[place] for k, place in pairs],
        [batches[k].references[place] for k, place in pairs] if any(batch.references for batch in given) else (),
        [batches[k].inputs[place] for k, place in pairs] if any(batch.inputs for batch in given) else (),
        batches[0].language,
    )


def _shuffled(batches: Sequence[Batch], origins: Places, places: Places, drawn: np.random.Generator) -> Call:
    order = drawn.permutation(len(places))
    origins, places = origins[order], places[order]
    return Call(batch=gathered(batches, origins, places), origins=origins, places=places)


def _generator(seed: bytes, purpose: str) -> np.random.Generator:
    # Ids come from another seed: who sees them must not learn how outputs were dealt out.
    return np.random.default_rng(int.from_bytes(keyed(seed, purpose), "big"))


@dataclass(frozen=True, slots=True)
class Comparison:
    """How many outputs were scored twice, and how many of them differently."""

    outputs: int
    differing: int

    def is_inconsistent(self, *, deterministic: bool = True) -> bool:
        """Whether the differences are more than the metric said there would be."""
        return self.differing > (0 if deterministic else NOISY * self.outputs)


def compare(first: Floats, second: Floats, *, tolerance: float, deterministic: bool = True) -> Comparison:
    """Scores of the same outputs in two mixes.

    Two scores differ when they lie further apart than `tolerance` times the interquartile range of the first ones: not
    of their size, since adding a large number to every score would hide any difference.
    """
    scored = np.isfinite(first)
    low, high = np.percentile(first[scored], [25, 75]) if scored.any() else (0.0, 0.0)
    share = tolerance if deterministic else max(tolerance, NOISE)
    allowed = share * (high - low) + ROUNDING * np.maximum(np.abs(first), np.abs(second))
    differs = (np.abs(first - second) > allowed) | (scored != np.isfinite(second))
    return Comparison(len(first), int(differs.sum()))
