"""How alike two short answers are, by SQuAD's rules (Rajpurkar et al. 2016).

Case, ASCII punctuation and the articles a, an and the don't count. What remains are words: equal lists match exactly,
and F1 weighs the words that both have. Two answers of which nothing remains are equal, one such answer is wrong.
"""

from __future__ import annotations

import re
import string
from collections import Counter

_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


def answer_words(text: str) -> list[str]:
    """The words of an answer that count."""
    return _ARTICLES.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split()


def exact_match(given: str, right: str) -> float:
    """1 where nothing that counts differs, else 0."""
    return float(answer_words(given) == answer_words(right))


def overlap_f1(given: str, right: str) -> float:
    """F1 of the words that an answer shares with the right one."""
    said, wanted = answer_words(given), answer_words(right)
    if not said or not wanted:
        return float(said == wanted)
    shared = sum((Counter(said) & Counter(wanted)).values())
    return 2 * shared / (len(said) + len(wanted))
