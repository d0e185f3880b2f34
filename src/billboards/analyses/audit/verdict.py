"""The verdict: an audit's numbers in words, and what they amount to.

Three signs count. An attack score of a half or more: what is made for the metric is no better than average elsewhere
(§5.1). Most machines put above people, and clearly more than reference-based metrics put there (§5.2). Likeness to its
own output rewarded at equal quality (§5.3). The first alone, or any two, flag a metric; one of the others makes it
suspect. Equivalence to a pseudo-reference is stated and is no sign by itself: of a good metric it is a good reference.
"""

from __future__ import annotations

from collections.abc import Sequence

from billboards.analyses.audit.results import Equivalence, HumanPlace, Landing, Level

Interval = tuple[float, float]
#: From this attack score on the optimised output is, elsewhere, an average generator at best.
ATTACK = 0.5
#: Most machines above people, and this much more of them than reference-based metrics put there.
ABOVE_PEOPLE, MORE_THAN_OTHERS = 0.5, 0.25
#: The weakest kinship that counts; its interval must lie above 0 as well.
KINSHIP = 0.3


def signs_of(
    metric: str,
    attack: float | None,
    interval: Interval | None,
    bias: Sequence[HumanPlace],
    kinship: float | None,
    kinship_interval: Interval | None,
) -> tuple[str, ...]:
    """The signs that something is wrong, by name."""
    signs = []
    if attack is not None and attack >= ATTACK and (interval is None or interval[0] > 0):
        signs.append("optimised at the cost of quality")
    own, others = share_above(bias, metric), _others(bias, metric)
    if own is not None and own > ABOVE_PEOPLE and (others is None or own >= others + MORE_THAN_OTHERS):
        signs.append("biased against people")
    if kinship is not None and kinship >= KINSHIP and kinship_interval is not None and kinship_interval[0] > 0:
        signs.append("rewards its relatives")
    return tuple(signs)


def level_of(signs: Sequence[str]) -> Level:
    """What the signs amount to."""
    if "optimised at the cost of quality" in signs or len(signs) > 1:
        return "flagged"
    return "suspect" if signs else "clear"


def verdict_words(
    metric: str,
    how: str,
    own: Landing,
    judges: Sequence[Landing],
    attack: float | None,
    interval: Interval | None,
    bias: Sequence[HumanPlace],
    equivalences: Sequence[Equivalence],
    kinship: float | None,
    level: Level,
) -> str:
    """The verdict as a paragraph with its numbers."""
    sentences = [
        {"clear": f"Nothing speaks against {metric} here.", "suspect": f"{metric} is suspect.", "flagged": ""}[level]
        or f"{metric} is flagged: a high score here is no sign of quality.",
        _landing_words(metric, how, own, judges),
        _attack_words(attack, interval),
        _bias_words(bias, metric),
        _equivalence_words(equivalences),
        _kinship_words(kinship),
    ]
    return " ".join(filter(None, sentences))


def share_above(bias: Sequence[HumanPlace], judge: str) -> float | None:
    """The mean share of machines that a metric puts above a person's text."""
    shares = [place.above for place in bias if place.judge == judge]
    return sum(shares) / len(shares) if shares else None


def _others(bias: Sequence[HumanPlace], metric: str) -> float | None:
    """The same for the other metrics together."""
    shares = [place.above for place in bias if place.judge != metric]
    return sum(shares) / len(shares) if shares else None


def _landing_words(metric: str, how: str, own: Landing, judges: Sequence[Landing]) -> str:
    margin = "" if own.margin is None else f" ({own.margin:+.1f} standard deviations from the best machine)"
    elsewhere = "; ".join(f"{landing.rank} of {landing.machines + 1} under {landing.judge}" for landing in judges)
    ranks = f", and {elsewhere}" if elsewhere else ""
    return f"Outputs made for it by {how} rank {own.rank} of {own.machines + 1} under {metric}{margin}{ranks}."


def _attack_words(attack: float | None, interval: Interval | None) -> str:
    if attack is None:
        return "No other judge can say how good they are, so there is no attack score."
    between = "" if interval is None else f" (95% interval {interval[0]:.2f} to {interval[1]:.2f})"
    return f"Attack score {attack:.2f}{between}."


def _bias_words(bias: Sequence[HumanPlace], metric: str) -> str:
    own, others = share_above(bias, metric), _others(bias, metric)
    if own is None:
        return ""
    beside = "" if others is None else f"; reference-based metrics put {others:.0%} there"
    return f"It puts {own:.0%} of the machines above people{beside}."


def _equivalence_words(equivalences: Sequence[Equivalence]) -> str:
    measured = [equivalence for equivalence in equivalences if equivalence.correlation is not None]
    if not measured:
        return ""
    listed = ", ".join(f"{equivalence.judge} r = {equivalence.correlation:.2f}" for equivalence in measured)
    return f"Its system scores against those of reference-based metrics with its own output as the reference: {listed}."


def _kinship_words(kinship: float | None) -> str:
    return (
        "" if kinship is None else f"At equal quality, likeness to its output and its score correlate by {kinship:.2f}."
    )
