"""Ways to cut a text into words, by the name a metric's option gives them.

Metrics of the papers differ more by their tokenizers than by their formulas, so the tokenizer is always an option and
part of the signature. Stems are Porter's, as nltk computes them, and kept, because texts of one board share most words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from typing import Any

from billboards.errors import UnknownName

Tokenizer = Callable[[str], list[str]]


def split(text: str) -> list[str]:
    """What stands between white space: for texts that are tokenised already."""
    return text.split()


def unicode_words(text: str) -> list[str]:
    """Runs of letters, marks and digits of any script in lower case; Chinese and Japanese character by character."""
    words: list[str] = _unicode_pattern().findall(text.lower())
    return words


def caption_words(text: str) -> list[str]:
    """Words in lower case without punctuation, much as captions are prepared for CIDEr with the Stanford tokenizer.

    Clitics stand alone (`do n't`, `girl 's`), words with hyphens stay whole, round brackets become `-lrb-` and `-rrb-`
    and stay, as they do there. Differs from the Java tokenizer in some abbreviations and quotation marks.
    """
    plain = text.lower().translate(_PLAIN).replace("cannot", "can not")
    return _CAPTION.findall(_CLITICS.sub(r" \1", plain))


def tokenizer(metric: str, name: str, tokenizers: Mapping[str, Tokenizer]) -> Tokenizer:
    """The tokenizer of that name among those that a metric offers."""
    if name not in tokenizers:
        raise UnknownName(f"tokenizer of {metric}", name, tokenizers)
    return tokenizers[name]


@lru_cache(maxsize=1 << 17)
def stem(word: str) -> str:
    """A word's stem by Porter's rules with nltk's extensions."""
    stem: str = _stemmer().stem(word)
    return stem


_PLAIN = {ord("’"): "'", ord("("): " -lrb- ", ord(")"): " -rrb- ", ord("£"): "#"}
_CLITIC = r"n't\b|'(?:s|m|d|ll|re|ve)\b"
_CLITICS = re.compile(rf"(?<=\w)({_CLITIC})")
_CAPTION = re.compile(
    rf"-[lr]rb-|{_CLITIC}"
    r"|(?<!\w)(?:[a-z]\.)+(?!\w)|\b(?:mr|mrs|ms|dr|jr|sr|st)\."  # initials and titles keep their full stop
    r"|\w+(?:(?:[-./']|(?<=\d),(?=\d)|(?<=\d):(?=\d))\w+)*|[#&$%]"
)


@cache
def _stemmer() -> Any:
    from nltk.stem.porter import PorterStemmer

    return PorterStemmer()


@cache
def _unicode_pattern() -> Any:
    # Unlike re, regex knows scripts and counts the vowel signs of Hindi or Thai as parts of words.
    import regex  # type: ignore[import-untyped]

    alone = r"[\p{Han}\p{Hiragana}\p{Katakana}]"
    return regex.compile(rf"{alone}|[[\p{{L}}\p{{M}}\p{{N}}]--{alone}]+", regex.VERSION1)
