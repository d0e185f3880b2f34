"""Ways to spoil a good text: each makes one kind of mistake that any metric should notice.

A perturbation gets a text, its input and a source of randomness that depends on seed, perturbation and instance alone,
so that the same challenge comes out everywhere. It returns nothing where it can't make its mistake: a text without a
number has no wrong number. Some know languages, and say which; the others go by marks and blanks.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from billboards.analyses.audit.sentences import split_sentences
from billboards.metrics.statistics import tokens

UNSPACED = ("zh", "ja")


@dataclass(frozen=True, kw_only=True)
class Original:
    """A text to spoil, with what it was written for, and names that stand in other texts of the board."""

    text: str
    input: str | None
    language: str | None
    names: Sequence[str]
    random: random.Random
    #: Of the input, where it is known.
    input_language: str | None = None

    @property
    def code(self) -> str:
        return (self.language or "").lower().replace("_", "-").split("-")[0]


@dataclass(frozen=True)
class Perturbation:
    """One way to spoil a text; `languages` are those it knows, None for any."""

    name: str
    summary: str
    spoil: Callable[[Original], str | None]
    languages: tuple[str, ...] | None = None

    def __call__(self, original: Original) -> str | None:
        """The spoilt text; None where it can't be spoilt in this way, or would stay as it is."""
        if self.languages is not None and original.code not in self.languages:
            return None
        spoilt = self.spoil(original)
        return None if spoilt is None or spoilt.split() == original.text.split() else spoilt

    def can_spoil(self, language: str | None) -> bool:
        """Whether it knows a language."""
        return self.languages is None or (language or "").lower().replace("_", "-").split("-")[0] in self.languages


#: In each language: what a negation follows (or precedes), the negation, and whether it comes after.
_NEGATIONS: dict[str, tuple[str, str, bool]] = {
    "en": (
        r"\b(?:is|are|was|were|has|have|had|will|would|can|could|should|must|may|might|do|does|did)\b(?!n't)",
        " not",
        True,
    ),
    "de": (r"\b(?:ist|sind|war|waren|hat|haben|hatte|wird|werden|wurde|kann|können|soll|muss|darf)\b", " nicht", True),
    "es": (r"\b(?:es|son|fue|era|está|están|ha|han|había|puede|pueden|será|debe)\b", "no ", False),
    "zh": (r"是|会|能|可以|应该|要", "不", False),
}
_NEGATED = {
    "en": re.compile(r"\s+not\b|(?<=\w)n't\b", re.I),
    "de": re.compile(r"\s+nicht\b"),
    "es": re.compile(r"\bno\s+"),
    "zh": re.compile(r"不(?=是|会|能|可以|应该|要)"),
}
_NUMBER = re.compile(r"\d+")
_NUMBER_WORDS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_NAME = re.compile(r"(?<=[a-zà-ÿ,;:] )(?:[A-ZÀ-Þ][\w'’-]+)(?: [A-ZÀ-Þ][\w'’-]+)*")


def negate(original: Original) -> str | None:
    """Deny what is said, or say what is denied."""
    text, code = original.text, original.code
    denied = list(_NEGATED[code].finditer(text))
    if denied:
        return _cut(text, original.random.choice(denied).span())
    pattern, word, after = _NEGATIONS[code]
    places = list(re.finditer(pattern, text))
    if not places:
        return None
    chosen = original.random.choice(places)
    place = chosen.end() if after else chosen.start()
    return text[:place] + word + text[place:]


def change_number(original: Original) -> str | None:
    """Another number of as many digits, or another number word."""
    numbers = list(_NUMBER.finditer(original.text))
    if numbers:
        chosen = original.random.choice(numbers)
        return _put(original.text, chosen.span(), _other_number(chosen[0], original.random))
    words = list(re.finditer(rf"\b(?:{'|'.join(_NUMBER_WORDS)})\b", original.text)) if original.code == "en" else []
    if not words:
        return None
    chosen = original.random.choice(words)
    return _put(original.text, chosen.span(), original.random.choice([w for w in _NUMBER_WORDS if w != chosen[0]]))


def _other_number(number: str, draw: random.Random) -> str:
    place = draw.randrange(len(number))
    digits = [d for d in "0123456789" if d != number[place] and (d != "0" or place or len(number) == 1)]
    return number[:place] + draw.choice(digits) + number[place + 1 :]


def change_entity(original: Original) -> str | None:
    """A name within a sentence becomes a name from elsewhere on the board."""
    names = names_in(original.text)
    others = [name for name in original.names if name not in original.text]
    if not names or not others:
        return None
    chosen = original.random.choice(list(_NAME.finditer(original.text)))
    return _put(original.text, chosen.span(), original.random.choice(others))


def names_in(text: str) -> list[str]:
    """Capitalised words that don't begin a sentence."""
    return [match[0] for match in _NAME.finditer(text)]


def shuffle(original: Original) -> str | None:
    """The words of the longest sentence in another order."""
    sentences = list(split_sentences(original.text))
    if not sentences:
        return None
    longest = max(range(len(sentences)), key=lambda k: len(sentences[k]))
    words = _words(sentences[longest], original.code)
    if len(set(words)) < 3:
        return None
    order = words[:]
    while order == words:
        original.random.shuffle(order)
    sentences[longest] = _blank(original.code).join(order)
    return _blank(original.code).join(sentences)


def truncate(original: Original) -> str | None:
    """The first half of the words."""
    words = _words(original.text, original.code)
    return _blank(original.code).join(words[: len(words) // 2]) if len(words) >= 4 else None


def repeat(original: Original) -> str | None:
    """The last sentence, or the second half of the only one, twice."""
    sentences = split_sentences(original.text)
    if not sentences:
        return None
    words = _words(original.text, original.code)
    again = sentences[-1] if len(sentences) > 1 else _blank(original.code).join(words[len(words) // 2 :])
    return original.text + _blank(original.code) + again


def copy_source(original: Original) -> str | None:
    """The input itself."""
    return original.input or None


PERTURBATIONS = (
    Perturbation("negation", "what is said is denied, or what is denied is said", negate, tuple(_NEGATIONS)),
    Perturbation("number", "one number is another", change_number),
    Perturbation(
        "entity", "one name is a name from elsewhere on the board", change_entity, ("en", "es", "fr", "it", "pt")
    ),
    Perturbation("word order", "the words of the longest sentence are shuffled", shuffle),
    Perturbation("truncation", "the second half is missing", truncate),
    Perturbation("repetition", "the end is said twice", repeat),
    Perturbation("copy", "the input stands in place of the output", copy_source),
)


#: Sentences that say nothing, by language.
_EMPTY = {
    "en": "It is important to note that there is more to be said about this.",
    "de": "Es ist wichtig festzuhalten, dass es dazu noch mehr zu sagen gibt.",
    "es": "Es importante señalar que hay más que decir sobre esto.",
    "fr": "Il est important de noter qu'il y a davantage à dire à ce sujet.",
    "zh": "值得注意的是，关于这一点还有更多可说的。",
}
#: Formal English, and what one says instead.
_CONTRACTED = {
    r"\b(do|does|did|is|are|was|were|has|have|had|would|could|should) not\b": r"\1n't",
    r"\b(it|that|he|she|who) is\b": r"\1's",
    r"\b(they|we|you) are\b": r"\1're",
    r"\b(i|they|we|you) have\b": r"\1've",
    r"\b(it|they|he|she|we|you|i) will\b": r"\1'll",
    r"\bgoing to\b": "gonna",
    r"\bwant to\b": "wanna",
}
_MARKS = re.compile(r"[.,;:!?…。，；：！？、]+(?=\s|$)|[。，；：！？、]")


def pad(original: Original) -> str | None:
    """Two sentences that say nothing, behind the text."""
    empty = _EMPTY[original.code]
    return _blank(original.code).join((original.text, empty, empty))


def capitals(original: Original) -> str | None:
    """Every letter a capital; None where there are none to be had."""
    upper = original.text.upper()
    return None if upper == original.text else upper


def small_letters(original: Original) -> str | None:
    """No capital at all."""
    lower = original.text.lower()
    return None if lower == original.text else lower


def unpunctuated(original: Original) -> str | None:
    """No full stop, comma or the like."""
    bare = _MARKS.sub("", original.text)
    return None if bare == original.text else bare


def informal(original: Original) -> str | None:
    """Contractions in place of formal forms."""
    text = original.text
    for formal, contracted in _CONTRACTED.items():
        text = re.sub(formal, contracted, text, flags=re.IGNORECASE)
    return None if text == original.text else text


def half_untranslated(original: Original) -> str | None:
    """The second half in the language of the input, as the input has it."""
    other = (original.input_language or "").lower().replace("_", "-").split("-")[0]
    if not original.input or not other or other == original.code:
        return None
    words, given = _words(original.text, original.code), _words(original.input, other)
    if len(words) < 2 or len(given) < 2:
        return None
    kept = _blank(original.code).join(words[: len(words) // 2])
    return f"{kept} {_blank(other).join(given[len(given) // 2 :])}"


#: Changes of length, style and language: none makes a text better, so no metric should prefer what comes of it.
ATTACKS = (
    Perturbation("padding", "two sentences that say nothing are added", pad, tuple(_EMPTY)),
    Perturbation("capitals", "every letter is a capital", capitals),
    Perturbation("small letters", "no letter is a capital", small_letters),
    Perturbation("no punctuation", "full stops, commas and the like are missing", unpunctuated),
    Perturbation("informal", "formal forms are contracted", informal, ("en",)),
    Perturbation("untranslated half", "the second half is left in the input's language", half_untranslated),
)


def _words(text: str, code: str) -> list[str]:
    return tokens(text) if code in UNSPACED else text.split()


def _blank(code: str) -> str:
    return "" if code in UNSPACED else " "


def _put(text: str, span: tuple[int, int], word: str) -> str:
    return text[: span[0]] + word + text[span[1] :]


def _cut(text: str, span: tuple[int, int]) -> str:
    return _put(text, span, "")
