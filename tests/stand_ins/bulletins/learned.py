"""Two generators that learn from the training pairs: one copies the nearest example, one chains words.

The neighbour is fluent and mostly wrong, because somebody else's bulletin is a good text about something else. The
babbler learns which word follows which with the facts cut out of the texts, puts the new facts into the gaps, and keeps
the best of a few tries; it seldom lies and often stumbles.
"""

from __future__ import annotations

import random
import re
import zlib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import pairwise

from bulletins.records import Facts, domain_of, facts_of
from bulletins.texts import Pair

_START, _END = "<s>", "</s>"
_TOKEN = re.compile(r"</?\w+>|[^\s,.;:!?]+|[,.;:!?]")
_CHAIN_LIMIT = 60


class Neighbour:
    """Copies the text of the training example that shares the most facts with the input."""

    def __init__(self, training: Sequence[Pair]) -> None:
        self._examples = [(facts_of(pair.input), pair.text) for pair in training]

    def __call__(self, text: str) -> str:
        facts = facts_of(text)
        _, copied = max(self._examples, key=lambda example: _shared(facts, example[0]))
        return copied


class Babbler:
    """A word-bigram model of the training texts, one per domain, with the facts as gaps."""

    def __init__(self, training: Sequence[Pair], *, tries: int = 5) -> None:
        self._tries = tries
        self._follows: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
        for pair in training:
            facts = facts_of(pair.input)
            tokens = [_START, *_TOKEN.findall(with_gaps(pair.text, facts)), _END]
            for before, after in pairwise(tokens):
                self._follows[domain_of(facts)][before][after] += 1

    def __call__(self, text: str) -> str:
        facts = facts_of(text)
        dice = random.Random(zlib.crc32(text.encode()))
        chains = [self._chain(facts, dice) for _ in range(self._tries)]
        return _spelled(max(chains, key=_facts_stated), facts)

    def _chain(self, facts: Facts, dice: random.Random) -> list[str]:
        """One walk from start to end that only enters gaps the facts can fill."""
        follows = self._follows[domain_of(facts)]
        chain = [_START]
        while chain[-1] != _END and len(chain) < _CHAIN_LIMIT:
            possible = {token: n for token, n in follows[chain[-1]].items() if _fillable(token, facts)}
            chain.append(_drawn(possible, dice) if possible else _END)
        return [token for token in chain if token not in (_START, _END)]


def with_gaps(text: str, facts: Facts) -> str:
    """A text with each fact that it states word for word replaced by the fact's name, as in `<day>`."""
    for name, value in sorted(facts.items(), key=lambda fact: -len(fact[1])):
        text = re.sub(rf"(?<![\w<-]){re.escape(value)}(?![\w>-])", f"<{name}>", text, flags=re.IGNORECASE)
    return text


def _shared(facts: Facts, others: Facts) -> float:
    """How alike two records are: the share of facts in common, and of kinds of facts."""
    same = len(facts.items() & others.items()) / len(facts.items() | others.items())
    return same + len(facts.keys() & others.keys()) / len(facts.keys() | others.keys())


def _fillable(token: str, facts: Facts) -> bool:
    return token == _END or not token.startswith("<") or token[1:-1] in facts


def _drawn(possible: Mapping[str, int], dice: random.Random) -> str:
    """One token, as likely as it was frequent."""
    tickets = [token for token, n in possible.items() for _ in range(n)]
    return tickets[int(dice.random() * len(tickets))]


def _facts_stated(chain: Sequence[str]) -> int:
    """How many facts a chain states, less those that it states again."""
    gaps = [token for token in chain if token.startswith("<")]
    return 2 * len(set(gaps)) - len(gaps)


def _spelled(chain: Sequence[str], facts: Facts) -> str:
    """A chain as text: gaps filled, punctuation attached, sentences with capital letters."""
    words = (facts[token[1:-1]] if token.startswith("<") else token for token in chain)
    text = re.sub(r" (?=[,.;:!?]|'s\b)", "", " ".join(words))
    return re.sub(r"(?:^|(?<=[.!?] ))[a-z]", lambda match: match[0].upper(), text)
