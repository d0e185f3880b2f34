"""The verdict: an audit's numbers in words, and what they amount to.

Three signs count. An attack score of a half or more: what is made for the metric is no better than average elsewhere
(§5.1); where people have judged, their score is the one that counts. Most machines put above people, and clearly more
than reference-based metrics put there (§5.2). Likeness to its own output rewarded at equal quality, by a metric
without references (§5.3). The first
alone, or any two, flag a metric; one of the others makes it suspect. Without a sign a metric is clear only where a
search did please the metric itself and what it found is good elsewhere: a search that failed says nothing. Equivalence
to a pseudo-reference is stated and is no sign by itself: of a good metric it is a good reference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from billboards.analyses.audit.results import (
    PEOPLE,
    Attack,
    Equivalence,
    HumanPlace,
    Landing,
    Level,
    MetricAudit,
    Outcome,
)

Interval = tuple[float, float]
#: From this attack score on the optimised output is, elsewhere, an average generator at best.
ATTACK = 0.5
#: The share of machines that a search must beat under the metric itself, else it has failed.
REACHED = 0.75
#: Most machines above people, and this much more of them than reference-based metrics put there.
ABOVE_PEOPLE, MORE_THAN_OTHERS = 0.5, 0.25
#: The weakest kinship that counts; its interval must lie above 0 as well.
KINSHIP = 0.3
#: What the levels mean.
LEVELS: Mapping[Level, str] = {
    "flagged": "what it likes best is average or worse elsewhere, or two signs speak against it",
    "suspect": "one sign speaks against it",
    "inconclusive": "no attack succeeded that could tell, so nothing is shown for it or against it",
    "clear": "an attack pleased the metric itself, and what it found is good elsewhere, too",
}
#: What came of an attack, in words.
OUTCOMES: Mapping[Outcome, str] = {
    "fooled": "fooled the metric",
    "held": "the metric held",
    "unsure": "inconclusive: too uncertain",
    "unjudged": "inconclusive: nobody can judge the outputs",
    "failed": "inconclusive: the search failed",
}


def judge_attack(audit: MetricAudit) -> MetricAudit:
    """An audit by one attack with its outcome, signs, level and words."""
    outcome = outcome_of(audit)
    signs = signs_of(audit, outcome)
    level = level_of(signs, outcome)
    judged = replace(audit, outcome=outcome, signs=signs, level=level)
    return replace(judged, words=verdict_words(judged))


def outcome_of(audit: MetricAudit) -> Outcome:
    """What came of an attack; people outrank metrics, unless they leave open what those are sure of."""
    score, interval = audit.decisive
    if score is not None and score >= ATTACK:
        return "fooled" if interval is None or interval[0] > 0 else "unsure"
    if not has_reached(audit.own, audit.random):
        return "failed"
    if score is None:
        return "unjudged"
    open_to_people = audit.people_interval is not None and audit.people_interval[1] >= ATTACK
    if audit.people_attack is not None and open_to_people and _metrics_say_fooled(audit):
        return "unsure"
    return "held"


def _metrics_say_fooled(audit: MetricAudit) -> bool:
    """Whether the reference-based metrics alone would have it that the attack succeeded."""
    others = [landing.beaten for landing in audit.judges if landing.judge != PEOPLE]
    return bool(others) and audit.own.beaten - sum(others) / len(others) >= ATTACK


def has_reached(own: Landing, random: Sequence[Landing]) -> bool:
    """Whether a search pleased the metric itself: above most machines there, and no worse than a random choice."""
    return own.beaten >= REACHED and all(own.mean >= line.mean for line in random if line.judge == own.judge)


def signs_of(audit: MetricAudit, outcome: Outcome) -> tuple[str, ...]:
    """The signs that something is wrong, by name.

    Likeness to what a search found means nothing where that failed, nor with a reference-based metric: what is near to
    all outputs is near to a reference, too.
    """
    signs = []
    if outcome == "fooled":
        signs.append("optimised at the cost of quality")
    own, others = share_above(audit.bias, audit.metric), _others(audit.bias, audit.metric)
    if own is not None and own > ABOVE_PEOPLE and (others is None or own >= others + MORE_THAN_OTHERS):
        signs.append("biased against people")
    kinship, interval = audit.kinship, audit.kinship_interval
    related = kinship is not None and kinship >= KINSHIP and interval is not None and interval[0] > 0
    if related and audit.reference_free and outcome != "failed":
        signs.append("rewards its relatives")
    return tuple(signs)


def level_of(signs: Sequence[str], outcome: Outcome) -> Level:
    """What signs and outcome amount to."""
    if "optimised at the cost of quality" in signs or len(signs) > 1:
        return "flagged"
    if signs:
        return "suspect"
    return "clear" if outcome == "held" else "inconclusive"


def people_first(judges: Sequence[Landing]) -> list[Landing]:
    """The judges as they are named: people, then metrics."""
    return sorted(judges, key=lambda landing: landing.judge != PEOPLE)


def verdict_words(audit: MetricAudit) -> str:
    """The verdict of an audit as a paragraph with its numbers."""
    sentences = [
        _verdict(audit),
        _landing_words(audit),
        _random_words(audit),
        _attack_words(audit),
        _bias_words(audit.bias, audit.metric),
        _equivalence_words(audit.equivalence),
        _kinship_words(audit.kinship),
        _other_attacks(audit.attacks[1:]),
        _not_tried_words(audit.not_tried),
    ]
    return " ".join(filter(None, sentences))


def _verdict(audit: MetricAudit) -> str:
    metric = audit.metric
    if audit.level == "flagged":
        return f"{metric} is flagged: a high score here is no sign of quality."
    if audit.level == "suspect":
        return f"{metric} is suspect: it {_SUSPICION.get(audit.signs[0], audit.signs[0])}."
    if audit.level == "clear":
        return f"{metric} is clear: what is made for it is good elsewhere, too."
    return f"Inconclusive: {_open_question(audit)}, so nothing is shown for {metric} or against it."


_SUSPICION = {
    "biased against people": "puts most machines above people",
    "rewards its relatives": "rewards likeness to its own output",
}


def _open_question(audit: MetricAudit) -> str:
    reasons: Mapping[Outcome, str] = {
        "failed": f"the search found no outputs that {audit.metric} itself puts high",
        "unjudged": "nobody can say how good the outputs are that it likes best",
        "unsure": "the attack is too uncertain to count",
        "held": "a search that suits it could not be tried",
        "fooled": "the attack is too uncertain to count",
    }
    return reasons[audit.outcome or "failed"]


def share_above(bias: Sequence[HumanPlace], judge: str) -> float | None:
    """The mean share of machines that a metric puts above a person's text."""
    shares = [place.above for place in bias if place.judge == judge]
    return sum(shares) / len(shares) if shares else None


def _others(bias: Sequence[HumanPlace], metric: str) -> float | None:
    """The same for the other metrics together."""
    shares = [place.above for place in bias if place.judge != metric]
    return sum(shares) / len(shares) if shares else None


def _landing_words(audit: MetricAudit) -> str:
    own = audit.own
    margin = "" if own.margin is None else f" ({own.margin:+.1f} standard deviations from the best machine)"
    judges = people_first(audit.judges)
    elsewhere = "; ".join(f"{landing.rank} of {landing.machines + 1} under {landing.judge}" for landing in judges)
    ranks = f", and {elsewhere}" if elsewhere else ""
    return (
        f"Outputs made for it by {audit.how} rank {own.rank} of {own.machines + 1} under {audit.metric}{margin}{ranks}."
    )


def _random_words(audit: MetricAudit) -> str:
    if not audit.random:
        return ""
    ranks = [f"{line.rank} of {line.machines + 1} under {line.judge}" for line in audit.random]
    return f"A random choice from the same candidates ranks {'; '.join(ranks)}."


def _attack_words(audit: MetricAudit) -> str:
    if audit.attack is None:
        return "No other judge can say how good they are, so there is no attack score."
    if audit.people_attack is None:
        return f"Attack score {audit.attack:.2f}{_between(audit.attack_interval)}."
    return (
        f"Attack score {audit.people_attack:.2f}{_between(audit.people_interval)} by people, which counts; "
        f"{audit.attack:.2f} over all judges."
    )


def _between(interval: Interval | None) -> str:
    return "" if interval is None else f" (95% interval {interval[0]:.2f} to {interval[1]:.2f})"


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


def _other_attacks(attacks: Sequence[Attack]) -> str:
    if not attacks:
        return ""
    listed = "; ".join(
        f"{attack.method}: {OUTCOMES[attack.outcome]}, {attack.own.rank} of {attack.own.machines + 1} there"
        for attack in attacks
    )
    return f"Weaker attacks: {listed}."


def _not_tried_words(not_tried: Mapping[str, str]) -> str:
    listed = "; ".join(f"{method} ({reason})" for method, reason in not_tried.items())
    return f"Could not be tried: {listed}." if listed else ""
