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
