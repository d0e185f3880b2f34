"""Metrics as a board's language asks for them.

Some metrics cut texts into words in a way that is made for English: ROUGE's tokenizer blanks Chinese and Russian,
BLEU's 13a leaves a Chinese sentence in one piece, and nltk's METEOR knows English synonyms only. A suite spans
languages, so a metric that was named without options gets a tokenizer of the board's language; one that was named with
options is taken at its word, and one that declares other languages than the board's is left out.
"""

from __future__ import annotations

from billboards.metrics.base import Metric

#: BLEU's tokenizers for scripts that 13a can't cut.
_BLEU = {"zh": "zh", "ja": "char", "th": "char", "lo": "char", "km": "char", "my": "char"}
_ENGLISH = "en"


def spec_for(spec: str, language: str | None) -> str:
    """The metric that stands for this one on a board whose outputs are in this language."""
    code = _code(language)
    if code is None or "(" in spec:
        return spec
    if spec.startswith("ROUGE-") and code != _ENGLISH:
        return f"{spec}(tokenizer=unicode)"
    if spec == "BLEU" and code in _BLEU:
        return f"BLEU(tokenize={_BLEU[code]})"
    return spec


def language_mistake(metric: Metric, language: str | None) -> str | None:
    """Why a metric can't judge texts in a language, if it says so itself."""
    code, languages = _code(language), metric.card.languages
    if code is None or languages is None or code in {_code(name) for name in languages}:
        return None
    return f"made for {', '.join(languages)}, not for {language}"


def _code(language: str | None) -> str | None:
    """The language without its region or script: zh of zh-Hans."""
    return None if not language else language.replace("_", "-").partition("-")[0].lower()
