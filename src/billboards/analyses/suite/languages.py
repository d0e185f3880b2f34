"""Metrics as a suite's boards ask for them, where that is more than each board's language decides by itself.

A suite spans languages and compares them, so ROUGE keeps words whole in every one but English: its own tokenizer, which
a single board in Latin letters keeps for the sake of published numbers, cuts them at each accent. A metric that was
named with options is taken at its word, and one that declares other languages than the board's is left out.
"""

from __future__ import annotations

from billboards.metrics.base import Metric
from billboards.metrics.languages import language_of

_ENGLISH = "en"


def spec_for(spec: str, language: str | None) -> str:
    """The metric that stands for this one on a board whose outputs are in this language."""
    spoken = language_of(language)
    if spoken is None or "(" in spec or spoken.script != "Latn" or spoken.code == _ENGLISH:
        return spec
    return f"{spec}(tokenizer=unicode)" if spec.startswith("ROUGE-") else spec


def language_mistake(metric: Metric, language: str | None) -> str | None:
    """Why a metric can't judge texts in a language, if it says so itself."""
    spoken, languages = language_of(language), metric.card.languages
    if spoken is None or languages is None or spoken.code in {own.code for own in map(language_of, languages) if own}:
        return None
    return f"made for {', '.join(languages)}, not for {language}"


#: Languages by family, for what metrics do in a language of which little is known.
_FAMILIES = """
Germanic af da de en is nb nl nn no sv
Romance ca es fr gl it pt ro
Slavic be bg bs cs hr mk pl ru sk sl sr uk
Baltic lt lv
Celtic cy ga
Indo-Aryan as bn gu hi mr ne or pa si ur
Iranian fa ps tg
Uralic et fi hu
Turkic az kk ky tr uz
Dravidian kn ml ta te
Semitic am ar he
Sinitic yue zh
Austronesian id ms tl
"""
_FAMILY = {code: line.split()[0] for line in _FAMILIES.split("\n") if line for code in line.split()[1:]}
#: How alike two languages of one family count.
KIN = 0.5


def language_family(code: str | None) -> str | None:
    """The family of a language; of one that is listed in none, nothing is known."""
    return _FAMILY.get(code or "")


def alike(first: str | None, second: str | None) -> float:
    """How alike two languages are: 1 for one and the same, some for two of one family; an unknown one is like none."""
    if first is None or second is None:
        return 0.0
    if first == second:
        return 1.0
    return KIN if language_family(first) is not None and language_family(first) == language_family(second) else 0.0
