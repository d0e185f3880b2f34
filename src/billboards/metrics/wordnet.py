"""WordNet's synonyms, read from the files of a WordNet distribution where the user has one.

METEOR asks one thing of WordNet: the words that share a synset with a word or with one of its base forms. The index is
read once, synsets are looked up where they stand in the mapped files. Base forms follow WordNet's own rules (morphy):
the exception lists first, else any of the suffix rules.
"""

from __future__ import annotations

import mmap
import os
import re
from collections.abc import Iterator
from functools import cache, cached_property, lru_cache
from hashlib import blake2b
from pathlib import Path

from billboards.errors import InvalidInput, MissingPart

#: The environment variable that names WordNet's folder.
VARIABLE = "BILLBOARDS_WORDNET"
#: Where Debian's and Ubuntu's package wordnet-base puts the files.
USUAL_PLACE = Path("/usr/share/wordnet")

_RULES = {
    "noun": ("s>", "ses>s", "ves>f", "xes>x", "zes>z", "ches>ch", "shes>sh", "men>man", "ies>y"),
    "verb": ("s>", "ies>y", "es>e", "es>", "ed>e", "ed>", "ing>e", "ing>"),
    "adj": ("er>", "est>", "er>e", "est>e"),
    "adv": (),
}
FILES = tuple(name for part in _RULES for name in (f"index.{part}", f"data.{part}", f"{part}.exc"))


class WordNet:
    """The files of one WordNet distribution."""

    def __init__(self, folder: Path) -> None:
        absent = [name for name in FILES if not (folder / name).is_file()]
        if absent:
            raise MissingPart(f"{folder} is no complete WordNet: {', '.join(absent)} missing; {how_to_get_it()}")
        self.folder = folder

    @cached_property
    def digest(self) -> str:
        """Names the content of the files, so that scores from another WordNet are another column."""
        digest = blake2b(digest_size=4)
        for name in FILES:
            digest.update((self.folder / name).read_bytes())
        return digest.hexdigest()

    def synonyms(self, word: str, *, deep: bool = False) -> frozenset[str]:
        """Every single word in a synset of this word or its base forms; deep, also of base forms of unknown ones."""
        names = (name for part in _RULES for form in self._forms(word, part, deep) for name in self._names(form, part))
        try:
            return frozenset(name for name in names if "_" not in name)
        except (ValueError, LookupError, OverflowError, OSError) as error:
            raise InvalidInput(f"{self.folder} is no WordNet, or is damaged: {error}; {how_to_get_it()}") from error

    def _forms(self, word: str, part: str, deep: bool) -> list[str]:
        exceptions = self._exceptions[part].get(word)
        if exceptions is not None:
            return [word, *exceptions]
        forms = [word, *_by_rule(word, part)]
        # As nltk did until 2021: holdings is no verb, nor is holding, but hold is.
        while deep and forms and not any(_key(form) in self._index[part] for form in forms):
            forms = [base for form in forms for base in _by_rule(form, part)]
        return forms

    def _names(self, form: str, part: str) -> Iterator[str]:
        """The words of every synset that has this form."""
        line = self._index[part].get(_key(form))
        if line is None:
            return
        fields = line.split()
        for offset in fields[-int(fields[2]) :]:
            yield from self._synset(part, int(offset))

    def _synset(self, part: str, offset: int) -> Iterator[str]:
        """The words at an offset of a data file; markers as in `galore(ip)` are no part of them."""
        file = self._data[part]
        fields = file[offset : file.find(b"\n", offset)].decode("utf-8").split()
        for k in range(int(fields[3], 16)):
            yield re.sub(r"\([^()]*\)$", "", fields[4 + 2 * k])

    @cached_property
    def _index(self) -> dict[str, dict[bytes, bytes]]:
        return {part: _lines_by_word(self.folder / f"index.{part}") for part in _RULES}

    @cached_property
    def _data(self) -> dict[str, mmap.mmap]:
        return {part: _map(self.folder / f"data.{part}") for part in _RULES}

    @cached_property
    def _exceptions(self) -> dict[str, dict[str, list[str]]]:
        return {part: _exception_list(self.folder / f"{part}.exc") for part in _RULES}


def _key(form: str) -> bytes:
    return form.encode("utf-8", "surrogatepass")


def _by_rule(word: str, part: str) -> list[str]:
    """What a word may be a form of, by the suffix rules of a part of speech."""
    rules = (rule.partition(">") for rule in _RULES[part])
    return [word.removesuffix(suffix) + ending for suffix, _, ending in rules if word.endswith(suffix)]


def _lines_by_word(path: Path) -> dict[bytes, bytes]:
    """The lines of an index by the word they begin with; those of the licence begin with blanks."""
    with path.open("rb") as file:
        return {line[: line.index(b" ")]: line for line in file if not line.startswith(b" ")}


def _map(path: Path) -> mmap.mmap:
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _exception_list(path: Path) -> dict[str, list[str]]:
    lines = (line.split() for line in path.read_text("utf-8").splitlines())
    return {form: bases for form, *bases in filter(None, lines)}


def how_to_get_it() -> str:
    return (
        f"install the Debian package wordnet-base, or set {VARIABLE} to the folder that holds index.noun, data.noun, … "
        "of a WordNet distribution"
    )


def wordnet() -> WordNet:
    """The WordNet that is configured, or the one in the usual place."""
    named = os.environ.get(VARIABLE)
    if not named and not USUAL_PLACE.is_dir():
        raise MissingPart(f"METEOR needs WordNet, which is not here: {how_to_get_it()}")
    return opened(Path(named) if named else USUAL_PLACE)


@cache
def opened(folder: Path) -> WordNet:
    return WordNet(folder)


@lru_cache(maxsize=1 << 16)
def synonyms(lexicon: WordNet, word: str, *, deep: bool = False) -> frozenset[str]:
    """A word's synonyms, kept for the next sentence that has it."""
    return lexicon.synonyms(word, deep=deep)
