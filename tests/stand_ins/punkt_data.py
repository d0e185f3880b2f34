"""Parameters of nltk's sentence splitter, as Punkt writes them; "Mr" is an abbreviation."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import nltk

from billboards.metrics import nltk_words


@contextmanager
def sentence_data(folder: Path | None) -> Iterator[None]:
    """The parameters lie where nltk looks for them, or nowhere."""
    if folder is not None:
        english = folder / "tokenizers" / "punkt_tab" / "english"
        english.mkdir(parents=True)
        for name, text in (("abbrev_types.txt", "mr"), ("collocations.tab", ""), ("sent_starters.txt", "")):
            (english / name).write_text(text)
        (english / "ortho_context.tab").write_text("smith\t2\n")
    kept = (nltk_words._parameters, nltk_words._sentence_splitter)
    with mock.patch.object(nltk.data, "path", [] if folder is None else [str(folder)]):
        for each in kept:
            each.cache_clear()
        yield
    for each in kept:
        each.cache_clear()
