"""Which test files are near a change: those that name its module, its function, its words, its page or its command.

No test is run to find out. A test file is near when it imports the changed module, when it shares rare words with the
changed line, its function and its module, or when its path shares words with the module's path. Long test files share
many words with everything, so nearness is taken per length.
"""

from __future__ import annotations

import ast
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import PurePosixPath

from mutation.names import NameIndex
from mutation.operators import Mutant

WORD = re.compile(r"[^\W\d]\w{2,}")
#: How much a shared word counts: on the changed line, as the name of the function or class, in its body, as the name of
#: a function that calls it, and anywhere else in the module.
LINE, OWNER, BODY, CALLER, MODULE = 6.0, 12.0, 2.0, 4.0, 0.5
#: A test that imports the module, and one whose path has a word of the module's path.
IMPORTED, PATH = 60.0, 8.0
#: Most functions on the way from a test to the changed one.
STEPS = 2


class NearTests:
    """The texts of test files, and how near each is to a change of the source."""

    def __init__(self, texts: Mapping[str, str], files: Mapping[str, bytes], names: NameIndex) -> None:
        self.words = {file: frozenset(WORD.findall(text)) for file, text in texts.items()}
        self.paths = {file: path_words(file) for file in texts}
        self.texts = texts
        self.files = files
        self.names = names

    def order(self, mutant: Mutant) -> list[str]:
        """The test files that share anything with a change, nearest first."""
        weights = self._weights(mutant)
        imports = re.compile(import_pattern(mutant.path))
        nearness = {file: self._nearness(file, weights, imports, mutant.path) for file in self.texts}
        return sorted((file for file in nearness if nearness[file] > 0), key=lambda file: (-nearness[file], file))

    def _nearness(self, file: str, weights: Mapping[str, float], imports: re.Pattern[str], path: str) -> float:
        words = self.words[file]
        shared = sum(weight for word, weight in weights.items() if word in words)
        imported = IMPORTED if imports.search(self.texts[file]) else 0.0
        paths = PATH * sum(self._rarity_of_path[word] for word in path_words(path) & self.paths[file])
        return (shared + imported + paths) / math.sqrt(len(words) + 20)

    def _weights(self, mutant: Mutant) -> dict[str, float]:
        """How much each word counts when a test file has it, too."""
        source = self.files[mutant.path]
        module, lines = source.decode(), source.decode().splitlines()
        first, last = owner_lines(source, mutant.line)
        kinds = (
            (WORD.findall(module), MODULE),
            (WORD.findall("\n".join(lines[first - 1 : last])), BODY),
            (self._callers(mutant.place.owner), CALLER),
            (WORD.findall(lines[mutant.line - 1]), LINE),
            ((*mutant.place.owner, *innermost(source, mutant.line)), OWNER),
        )
        weights: dict[str, float] = {}
        for words, weight in kinds:
            for word in set(words):
                weights[word] = max(weights.get(word, 0.0), weight * self._rarity(word))
        return weights

    def _callers(self, names: Iterable[str]) -> set[str]:
        """The functions and classes that mention these, and those that mention them, a few steps on."""
        names = set(names)
        reached: set[str] = set()
        for _ in range(STEPS):
            lines = ((file, line) for name in names for file, numbers in self._mentions(name) for line in numbers)
            names = {owner for file, line in lines for owner in self._owners(file, line)} - reached
            reached |= names
        return reached

    def _mentions(self, name: str) -> Iterable[tuple[str, set[int]]]:
        return self.names.mentions.get(name, {}).items()

    def _owners(self, file: str, line: int) -> set[str]:
        return {name for first, last, name in self._functions.get(file, ()) if first <= line <= last}

    def _rarity(self, word: str) -> float:
        """Near zero for a word that is in all test files, and zero for one that is in none."""
        count = self._counts[word]
        return math.log((1 + len(self.words)) / count) if count else 0.0

    @cached_property
    def _counts(self) -> Counter[str]:
        return Counter(word for words in self.words.values() for word in words)

    @cached_property
    def _rarity_of_path(self) -> dict[str, float]:
        counts = Counter(word for words in self.paths.values() for word in words)
        return {word: math.log((1 + len(self.paths)) / count) for word, count in counts.items()}

    @cached_property
    def _functions(self) -> dict[str, list[tuple[int, int, str]]]:
        """The functions and classes at the top of each file, with their first and last lines."""
        return {
            file: [
                (node.lineno, node.end_lineno or node.lineno, node.name)
                for node in ast.parse(source).body
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            ]
            for file, source in self.files.items()
        }


def path_words(path: str) -> set[str]:
    """The words of a path: of its folders but the first, and of its file, also without the plural's ending."""
    parts = PurePosixPath(path).with_suffix("").parts[1:]
    words = {word for part in parts for word in part.split("_") if len(word) > 2 and word != "test"}
    return words | {word.removesuffix("s") for word in words}


def import_pattern(path: str) -> str:
    """What a test file says that imports a module."""
    parts = PurePosixPath(path).with_suffix("").parts
    parts = parts[:-1] if parts[-1] == "__init__" else parts
    package, name = ".".join(parts[:-1]), parts[-1]
    whole = re.escape(".".join(parts))
    return rf"\b{whole}\b|from {re.escape(package)} import [^\n]*\b{re.escape(name)}\b" if package else rf"\b{whole}\b"


def owner_lines(source: bytes, line: int) -> tuple[int, int]:
    """The first and last line of the statement at the top of a file that a line is in."""
    for node in ast.parse(source).body:
        if node.lineno <= line <= (node.end_lineno or node.lineno):
            return node.lineno, node.end_lineno or node.lineno
    return line, line


def innermost(source: bytes, line: int) -> list[str]:
    """The names of all functions and classes that a line is in."""
    return [
        node.name
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and node.lineno <= line <= (node.end_lineno or node.lineno)
    ]
