"""Illustrative judgments: the rubric's findings, seen by three readers of different severity.

A reader's rating is what the rubric found, turned into marks from 1 to 5, moved by the reader's own severity and by
noise. The noise is drawn from a digest of seed, reader, dimension, instance and generator, so that a rating never
depends on the order of work. These are not people's judgments and say so wherever they are shown.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist

from bulletins.rubric import Findings

SEED = 2024
CAMPAIGN = "illustrative"
DIMENSIONS = ("adequacy", "fluency")


@dataclass(frozen=True, slots=True)
class Reader:
    """An imaginary annotator: how much kinder than the rubric on each dimension, and how steady."""

    name: str
    kindness: Mapping[str, float]
    noise: float


READERS = (
    Reader("reader-1", {"adequacy": 0.2, "fluency": 0.1}, 0.6),
    Reader("reader-2", {"adequacy": -0.1, "fluency": -0.4}, 0.7),
    Reader("reader-3", {"adequacy": -0.4, "fluency": 0.2}, 0.9),
)


def marks(findings: Findings) -> dict[str, float]:
    """The rubric's own marks, before any reader: what is lost or invented, and what is badly put."""
    fluency = max(1.0, 5.0 - sum(findings.flaws.values()))
    invented = min(1.2, 0.5 + 0.3 * len(findings.invented)) if findings.invented else 0.0
    adequacy = 5.0 - 4.5 * findings.share_lost - invented
    # Readers take in less of what is badly written.
    return {"adequacy": max(1.0, adequacy - 0.25 * (5.0 - fluency)), "fluency": fluency}


def rate(reader: Reader, findings: Findings, output: str, *, seed: int = SEED) -> dict[str, int]:
    """One reader's ratings of one output, which `output` names."""
    ratings = {}
    for dimension, mark in marks(findings).items():
        noise = reader.noise * _noise(f"{seed}|{reader.name}|{dimension}|{output}")
        ratings[dimension] = round(min(5.0, max(1.0, mark + reader.kindness[dimension] + noise)))
    return ratings


def _noise(key: str) -> float:
    """A standard normal number that the key alone decides."""
    digest = hashlib.sha256(key.encode()).digest()
    return NormalDist().inv_cdf((int.from_bytes(digest[:6], "big") + 0.5) / 2**48)
