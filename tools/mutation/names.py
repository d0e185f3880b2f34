"""Which lines depend on code that runs at import: those that mention the name that it gives a value to.

coverage.py says of such code only which test happened to import the module first. A constant matters to the functions
that mention it, and to the constants made from it, and so on; a class's body matters to its methods and to whoever
mentions the class.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from mutation.operators import bound_names, defaults_of

Lines = dict[str, set[int]]


@dataclass(kw_only=True)
class NameIndex:
    """Where names of modules are mentioned."""

    #: Lines in functions, by name and file.
    mentions: dict[str, Lines] = field(default_factory=lambda: defaultdict(lambda: defaultdict(set)))
    #: Names that get their values at import with the help of a name.
    made_from: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def dependent_lines(self, names: Iterable[str]) -> Lines:
        """The lines in functions that depend on what these names are."""
        waiting, seen = list(names), set[str]()
        lines: Lines = defaultdict(set)
        while waiting:
            name = waiting.pop()
            if name in seen:
                continue
            seen.add(name)
            for file, numbers in self.mentions.get(name, {}).items():
                lines[file] |= numbers
            waiting += self.made_from.get(name, ())
        return lines


def index_names(files: Mapping[str, bytes]) -> NameIndex:
    """Read all files of the source."""
    index = NameIndex()
    for file, source in files.items():
        for statement in ast.parse(source).body:
            _index_statement(index, file, statement)
    return index


def _index_statement(index: NameIndex, file: str, statement: ast.stmt) -> None:
    bound = bound_names(statement)
    for node, in_function in _parts(statement, in_function=False):
        name = _mentioned(node)
        if in_function and name:
            index.mentions[name][file].add(node.lineno)
        elif name:
            index.made_from[name].update(bound)
        if in_function and isinstance(statement, ast.ClassDef):
            index.mentions[statement.name][file].add(node.lineno)


def _parts(node: ast.AST, *, in_function: bool) -> Iterator[tuple[ast.expr | ast.stmt, bool]]:
    """All that runs in a piece of code, and whether it is called, or runs at import."""
    if isinstance(node, ast.expr | ast.stmt):
        yield node, in_function
    called, at_once = _children(node)
    for child in at_once:
        yield from _parts(child, in_function=in_function)
    for child in called:
        yield from _parts(child, in_function=True)


def _children(node: ast.AST) -> tuple[Sequence[ast.AST], Sequence[ast.AST]]:
    """What of a node runs when it is called, and what at once; annotations are neither."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return node.body, [*node.decorator_list, *defaults_of(node)]
        case ast.Lambda():
            return [node.body], defaults_of(node)
        case ast.AnnAssign():
            return [], [child for child in (node.target, node.value) if child is not None]
    return [], list(ast.iter_child_nodes(node))


def _mentioned(node: ast.expr | ast.stmt) -> str | None:
    match node:
        case ast.Name():
            return node.id
        case ast.Attribute():
            return node.attr
    return None
