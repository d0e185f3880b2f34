"""How many bits of hidden judgments and hidden references do scripted attackers read out of a board's numbers?

A made-up board of 10 generators and 40 instances, judged from 0 to 100. An attacker sends 1, 10 or 100 metrics and sees
what a visitor sees of each: its correlation with people, generators' means, single scores. Told by four kinds of board:
one that prints all of it with 16 digits (before), one that rounds and withholds, the same with the default limit of 10
metrics a team, and one with the Ladder on top. The attackers are given what they would have to guess: the judgments'
mean and spread, and which reference is where.

- one-hot: 1 on one output, 0 elsewhere; r is that output's judgment.
- packed: powers of 101 on six outputs; r holds six judgments as digits.
- random: random signs; the judgments that fit all correlations best (ridge).
- boosting: random signs, each turned to where it agrees, and added up (Blum and Hardt 2015, Section 4).
- bytes: six bytes of a reference in each score.
- means: one number for all outputs of a generator, with as many digits as come through.
- printing: the references, line by line, on standard output.

A bit is a halving of what is not known. Judgments that are read exactly count with their entropy; a guess that
correlates with n of them at R counts n/2 · log2(1 / (1 - R²)), less what a guess by chance has.

    python benchmarks/leakage.py [--seed 1]
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from billboards.analyses._disclosed import Disclosure, disclosed_generators
from billboards.analyses.rank import GeneratorStanding
from billboards.site.database.trail import LogLine
from billboards.site.settings import BoardSettings
from billboards.site.submissions.sending import without_words
from billboards.stats.correlation import pearson
from billboards.stats.disclosure import hardly_varies, round_to, supported_decimals
from billboards.stats.ladder import climb, paired_noise

Floats = NDArray[np.float64]

GENERATORS, INSTANCES, HIGHEST = 10, 40, 100
SUBMISSIONS = (1, 10, 100)
#: Outputs whose judgments one correlation can hold as digits, and bytes that one score can.
PACKED, BYTES = 6, 6
LIMIT = BoardSettings().hidden_total or 0


@dataclass(frozen=True)
class Secrets:
    """What a board hides: a judgment of every output, and a reference for every instance."""

    judgments: Floats
    references: tuple[bytes, ...]

    @property
    def entropy(self) -> float:
        """Bits of one judgment."""
        counts = np.unique(self.judgments, return_counts=True)[1] / self.judgments.size
        return float(-(counts * np.log2(counts)).sum())


def make_secrets(seed: int) -> Secrets:
    random = np.random.default_rng(seed)
    quality = random.normal(size=(GENERATORS, 1)) + 1.5 * random.normal(size=(GENERATORS, INSTANCES))
    judgments = np.clip(np.rint(60 + 12 * quality), 0, HIGHEST)
    letters = random.integers(97, 123, size=(INSTANCES, 120), dtype=np.uint8)
    return Secrets(judgments, tuple(row.tobytes() for row in letters))


@dataclass
class Door:
    """What a board tells of one metric after the other."""

    secrets: Secrets
    guarded: bool = False
    limit: int | None = None
    ladder: bool = False
    sent: int = 0
    best: tuple[float, Floats] | None = None

    def takes(self) -> bool:
        """Whether one more metric may come in."""
        self.sent += 1
        return self.limit is None or self.sent <= self.limit

    def correlation(self, scores: Floats) -> float | None:
        """What is told of a metric's agreement with people."""
        human = self.secrets.judgments
        r, n = (float(value[0]) for value in pearson(scores[None], human))
        if not self.guarded:
            return r
        if math.isnan(r) or hardly_varies(scores) is not None:
            return None
        decimals = supported_decimals(int(n))
        if not self.ladder:
            return round_to(r, decimals)
        noise = paired_noise(scores.ravel(), None if self.best is None else self.best[1], human.ravel())
        rung = climb(r, None if self.best is None else self.best[0], noise, unit=10.0**-decimals)
        if rung.improves:
            self.best = rung.value, scores.ravel()
        return rung.value

    def means(self, scores: Floats) -> Floats:
        """What is told of generators' means under a metric that was given hidden references."""
        standings = [
            GeneratorStanding(
                name=f"g{g}",
                kind="machine",
                rank=None,
                scores={"metric": float(row.mean())},
                covered={},
                human=None,
                judged=0,
                interval={"metric": _interval(row)},
            )
            for g, row in enumerate(scores)
        ]
        disclosure = Disclosure(columns=frozenset({"metric"}) if self.guarded else frozenset())
        told = disclosed_generators(standings, None, disclosure)
        return np.array([standing.scores["metric"] for standing in told], np.float64)

    def single(self, scores: Floats) -> Floats | None:
        """What is told of single outputs."""
        return None if self.guarded else scores

    def log(self, lines: list[str]) -> list[str]:
        """What its team is shown of what a metric prints."""
        written = [LogLine(k, float(k), "program", line) for k, line in enumerate(lines, 1)]
        return lines if not self.guarded else [line.text for line in without_words(written, 0.0, 0)]


def _interval(row: Floats) -> tuple[float, float]:
    half = 1.96 * float(row.std()) / math.sqrt(len(row))
    return float(row.mean()) - half, float(row.mean()) + half


def bits_of_guess(guess: Floats, truth: Floats) -> float:
    """Bits that a guess of all judgments holds, less those of a guess by chance."""
    if guess.std() == 0:
        return 0.0
    r = float(np.corrcoef(guess.ravel(), truth.ravel())[0, 1])
    return max(0.0, -truth.size / 2 * math.log2(max(1 - r * r, 1e-12)) - 0.5 / math.log(2))


def one_hot(door: Door, submissions: int) -> float:
    truth, bits = door.secrets.judgments, 0.0
    for k in range(submissions):
        scores = np.zeros(truth.size)
        scores[k] = 1.0
        r = door.correlation(scores.reshape(truth.shape)) if door.takes() else None
        if r is not None:
            guess = truth.mean() + r * truth.std() * math.sqrt(truth.size - 1)
            bits += _bits_of_single(guess, float(truth.ravel()[k]), door.secrets)
    return bits


def _bits_of_single(guess: float, truth: float, secrets: Secrets) -> float:
    if round(guess) == truth:
        return secrets.entropy
    return max(0.0, math.log2(float(secrets.judgments.std()) / abs(guess - truth)))


def packed(door: Door, submissions: int) -> float:
    truth, bits = door.secrets.judgments, 0.0
    flat, base = truth.ravel(), HIGHEST + 1
    for k in range(submissions):
        chosen = np.arange(k * PACKED, min((k + 1) * PACKED, truth.size))
        if not len(chosen) or not door.takes():
            continue
        scores = np.zeros(truth.size)
        scores[chosen] = [float(base**j) for j in range(len(chosen))]
        r = door.correlation(scores.reshape(truth.shape))
        if r is None:
            continue
        # Σ score · judgment from r: an integer, and its digits are the judgments.
        total = round(r * scores.std() * truth.std() * truth.size + scores.sum() * truth.mean())
        digits = [total // base**j % base for j in range(len(chosen))]
        bits += door.secrets.entropy * sum(a == b for a, b in zip(digits, flat[chosen], strict=True))
    return bits


def random_signs(door: Door, submissions: int) -> float:
    truth = door.secrets.judgments
    random = np.random.default_rng(7)
    asked, told = [], []
    for _ in range(submissions):
        scores = random.choice((-1.0, 1.0), size=truth.shape)
        r = door.correlation(scores) if door.takes() else None
        if r is not None:
            asked.append((scores - scores.mean()).ravel() / scores.std())
            told.append(r)
    if not asked:
        return 0.0
    x, y = np.array(asked), np.array(told) * truth.size
    guess = x.T @ np.linalg.solve(x @ x.T + 1.0 * np.eye(len(y)), y)
    return bits_of_guess(guess, truth)


def boosting(door: Door, submissions: int) -> float:
    truth = door.secrets.judgments
    random = np.random.default_rng(8)
    total, last = np.zeros(truth.shape), 0.0
    for _ in range(submissions):
        scores = random.choice((-1.0, 1.0), size=truth.shape)
        r = door.correlation(scores) if door.takes() else None
        if r is not None:
            # Under the Ladder only a rise says anything of these signs.
            total += scores * (np.sign(r) if not door.ladder else float(r > last))
            last = r if door.ladder else 0.0
    return bits_of_guess(total, truth)


def encoded_bytes(door: Door, submissions: int) -> float:
    """Six bytes a score; a submission covers 60 bytes of every instance, one stretch under each generator."""
    bits = 0.0
    for k in range(submissions):
        starts = [(k * GENERATORS + g) * BYTES for g in range(GENERATORS)]
        pieces = [text[start : start + BYTES] for start in starts for text in door.secrets.references]
        scores = np.array([float(int.from_bytes(piece, "big")) for piece in pieces]).reshape(GENERATORS, INSTANCES)
        seen = door.single(scores) if door.takes() else None
        if seen is not None:
            guesses = (int(value).to_bytes(BYTES, "big") for value in seen.ravel())
            told = (piece for piece, guess in zip(pieces, guesses, strict=True) if guess.endswith(piece))
            bits += 8.0 * sum(map(len, told))
    return bits


def encoded_means(door: Door, submissions: int) -> float:
    """A number for each generator: the largest sets the scale, the others hold what comes through."""
    whole = b"".join(door.secrets.references)
    secret = int.from_bytes(whole, "big")
    width = 9 if door.guarded else 8 * BYTES
    place, bits = 0, 0.0
    for _ in range(submissions):
        if not door.takes():
            continue
        given = [(secret >> (place + g * width)) & ((1 << width) - 1) for g in range(GENERATORS - 1)]
        top = (1 << width) if not door.guarded else 999
        scores = np.repeat(np.array([float(top), *map(float, given)])[:, None], INSTANCES, axis=1)
        told = door.means(scores)[1:]
        bits += sum(width for number, value in zip(given, told, strict=True) if round(float(value)) == number)
        place += width * len(given)
    return min(bits, 8.0 * len(whole))


def printed(door: Door, submissions: int) -> float:
    references, told = door.secrets.references, set[bytes]()
    for _ in range(submissions):
        if door.takes():
            told |= {line.encode() for line in door.log([text.decode() for text in references])}
    return 8.0 * sum(len(text) for text in references if text in told)


Attack = Callable[[Door, int], float]
JUDGMENTS: dict[str, Attack] = {
    "one-hot": one_hot,
    "packed": packed,
    "random": random_signs,
    "boosting": boosting,
}
REFERENCES: dict[str, Attack] = {"bytes": encoded_bytes, "means": encoded_means, "printing": printed}


def doors(secrets: Secrets) -> dict[str, Door]:
    """The four kinds of board."""
    return {
        "before": Door(secrets),
        "rounded": Door(secrets, guarded=True),
        "limited": Door(secrets, guarded=True, limit=LIMIT),
        "ladder": Door(secrets, guarded=True, limit=LIMIT, ladder=True),
    }


@dataclass(frozen=True, kw_only=True)
class Leak:
    """Bits that an attacker read with so many submissions, by the kind of board."""

    hidden: str
    attack: str
    submissions: int
    bits: dict[str, float]


def leaks(seed: int) -> Iterator[Leak]:
    """Every attack with every number of submissions."""
    secrets = make_secrets(seed)
    for hidden, attacks in (("judgments", JUDGMENTS), ("references", REFERENCES)):
        for name, attack in attacks.items():
            for submissions in SUBMISSIONS:
                told = {kind: attack(door, submissions) for kind, door in doors(secrets).items()}
                yield Leak(hidden=hidden, attack=name, submissions=submissions, bits=told)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1, help="of the secrets (default 1)")
    seed = parser.parse_args().seed
    secrets = make_secrets(seed)
    size = secrets.judgments.size
    print(f"{size} judgments of {secrets.entropy:.2f} bits: {size * secrets.entropy:,.0f} bits; ", end="")
    print(f"{INSTANCES} references: {8 * sum(map(len, secrets.references)):,} bits")
    print("| hidden | attacker | submissions | before | rounded, withheld | and at most 10 | and the Ladder |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    for leak in leaks(seed):
        numbers = " | ".join(f"{leak.bits[kind]:,.0f}" for kind in ("before", "rounded", "limited", "ladder"))
        print(f"| {leak.hidden} | {leak.attack} | {leak.submissions} | {numbers} |")


if __name__ == "__main__":
    main()
