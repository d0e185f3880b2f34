"""Words as nltk's `word_tokenize` cuts them, which Hugging Face's `evaluate` uses for METEOR.

nltk cuts a text into sentences first, by parameters that Punkt learned (Kiss and Strunk 2006), then sentences into
words: a full stop becomes a word at the end of a sentence only. The parameters are data of their own, which
`nltk.download("punkt_tab")` fetches and nobody states a licence for; they are used where nltk finds them. Without them
the whole text is one sentence: nothing changes for texts of one sentence, but a full stop inside a longer text stays a
part of its word. Which of the two holds is named in the signature.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

#: What a signature says where the parameters are absent.
NO_PARAMETERS = "none"


def nltk_words(text: str) -> list[str]:
    """The words of a text, marks of punctuation among them."""
    return [word for sentence in nltk_sentences(text) for word in _word_tokenizer().tokenize(sentence)]


def nltk_sentences(text: str) -> list[str]:
    """The sentences of an English text, as nltk's `sent_tokenize` cuts it; without parameters the whole text."""
    splitter = _sentence_splitter()
    sentences: list[str] = [text] if splitter is None else splitter.tokenize(text)
    return sentences


def punkt_version() -> str:
    """A digest of Punkt's parameters for English, or that there are none."""
    folder = _parameters()
    if folder is None:
        return NO_PARAMETERS
    whole = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        whole.update(path.name.encode() + b"\0" + path.read_bytes())
    return whole.hexdigest()[:12]


@cache
def _parameters() -> Path | None:
    from nltk import data

    try:
        folder = Path(str(data.find("tokenizers/punkt_tab/english/")))
    except LookupError:
        return None
    return folder if folder.is_dir() else None


@cache
def _sentence_splitter() -> Any:
    from nltk.tokenize.punkt import PunktTokenizer

    return None if _parameters() is None else PunktTokenizer("english")


@cache
def _word_tokenizer() -> Any:
    from nltk.tokenize.destructive import NLTKWordTokenizer

    return NLTKWordTokenizer()
