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
from billboards.metrics.languages import HAN, Language

Tokenizer = Callable[[str], list[str]]


def split(text: str) -> list[str]:
    """What stands between white space: for texts that are tokenised already."""
    return text.split()


def unicode_words(text: str) -> list[str]:
    """Runs of letters, marks and digits of any script in lower case; Chinese and Japanese character by character."""
    words: list[str] = _unicode_pattern().findall(text.lower())
    return words


def unicode_characters(text: str) -> list[str]:
    """As `unicode_words`, with Thai, Lao, Khmer, Burmese and Tibetan letter by letter, each with its marks, too."""
    words: list[str] = _character_pattern().findall(text.lower())
    return words


def spaced_characters(text: str) -> str:
    """A text with a blank on either side of each character of a script that puts none between words."""
    spaced: str = _unspaced_pattern().sub(r" \g<0> ", text)
    return spaced


def tokenizer_for(language: Language) -> dict[str, object]:
    """The tokenizer, as an option, of metrics that cut texts at spaces: characters where a script has none."""
    return {"tokenizer": "unicode" if language.script in HAN else "characters"} if language.unspaced else {}


def uncut(language: Language, tokenizer: str) -> str | None:
    """What is wrong where a tokenizer leaves a script without spaces in one piece."""
    if tokenizer == "characters" or not language.unspaced or (tokenizer == "unicode" and language.script in HAN):
        return None
    return f"takes whole sentences in {language.code} for words (tokenizer={tokenizer})"


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
def stem(word: str, language: str = "en") -> str:
    """A word's stem: in English by Porter's rules with nltk's extensions, else by Snowball's, as nltk has them."""
    stem: str = _stemmer(language).stem(word)
    return stem


#: Languages beside English that nltk has Snowball's rules for.
STEMMED = {
    "ar": "arabic",
    "da": "danish",
    "de": "german",
    "es": "spanish",
    "fi": "finnish",
    "fr": "french",
    "hu": "hungarian",
    "it": "italian",
    "nb": "norwegian",
    "nl": "dutch",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sv": "swedish",
}


_PLAIN = {ord("’"): "'", ord("("): " -lrb- ", ord(")"): " -rrb- ", ord("£"): "#"}
_CLITIC = r"n't\b|'(?:s|m|d|ll|re|ve)\b"
_CLITICS = re.compile(rf"(?<=\w)({_CLITIC})")
_CAPTION = re.compile(
    rf"-[lr]rb-|{_CLITIC}"
    r"|(?<!\w)(?:[a-z]\.)+(?!\w)|\b(?:mr|mrs|ms|dr|jr|sr|st)\."  # initials and titles keep their full stop
    r"|\w+(?:(?:[-./']|(?<=\d),(?=\d)|(?<=\d):(?=\d))\w+)*|[#&$%]"
)


@cache
def _stemmer(language: str) -> Any:
    from nltk.stem.porter import PorterStemmer
    from nltk.stem.snowball import SnowballStemmer

    return PorterStemmer() if language == "en" else SnowballStemmer(STEMMED[language])


_ALONE = r"[\p{Han}\p{Hiragana}\p{Katakana}]"
_LETTERS = r"[[\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}]&&[\p{L}\p{N}]]"


@cache
def _unicode_pattern() -> Any:
    # Unlike re, regex knows scripts and counts the vowel signs of Hindi or Thai as parts of words.
    import regex

    return regex.compile(rf"{_ALONE}|[[\p{{L}}\p{{M}}\p{{N}}]--{_ALONE}]+", regex.VERSION1)


@cache
def _character_pattern() -> Any:
    import regex

    words = rf"[[\p{{L}}\p{{M}}\p{{N}}]--[{_ALONE}{_LETTERS}]]+"
    return regex.compile(rf"{_ALONE}|{_LETTERS}\p{{M}}*|{words}", regex.VERSION1)


@cache
def _unspaced_pattern() -> Any:
    import regex

    return regex.compile(rf"{_ALONE}|{_LETTERS}\p{{M}}*", regex.VERSION1)
