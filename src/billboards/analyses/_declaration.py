"""What an analysis declares, read from its file without running it: help and completion wait for no numpy.

The file of an analysis imports what it computes with, and that takes fifty times as long as Python's own start. Its
declaration is a signature and a docstring, and the names in the signature are types, which stand in this package's
files, too. So the signature is built from the text, with an empty body, and read as that of the loaded function is.
Nothing is kept that could grow old. An analysis of another package is imported, as is one that this can't read.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from types import CodeType
from typing import TYPE_CHECKING, Any, Protocol

from billboards.analyses import analysis_named, own_analyses
from billboards.options import Option, options_of

if TYPE_CHECKING:
    from billboards.analyses._analysis import Chooses

_PACKAGE = os.path.dirname(os.path.dirname(__file__))  # noqa: PTH120 - help may be asked for without pathlib
#: Where a module's functions and classes begin; imports and, mostly, the types of its signatures stand before.
_CODE = re.compile(r"^(@|def |class )", re.MULTILINE)
_DECORATOR = "\n@analysis("


class Declared(Protocol):
    """What doors need to know of an analysis before it is asked: all of an `Analysis` that is no computation."""

    @property
    def view(self) -> Sequence[Chooses]: ...
    @property
    def scores(self) -> bool: ...
    @property
    def paper(self) -> str: ...
    @property
    def keeps(self) -> bool: ...
    @property
    def has_chart(self) -> bool: ...
    @property
    def summary(self) -> str: ...
    @property
    def explanation(self) -> str: ...
    @property
    def options(self) -> tuple[Option, ...]: ...


@dataclass(frozen=True, kw_only=True)
class Declaration:
    """An analysis as its file declares it."""

    explanation: str
    options: tuple[Option, ...]
    keeps: bool
    has_chart: bool
    view: tuple[Chooses, ...] = ("aggregate", "part")
    scores: bool = False
    quick: bool = True
    group: str = ""
    paper: str = ""

    @property
    def summary(self) -> str:
        """The question in one sentence."""
        return self.explanation.partition("\n")[0]


def declared(name: str) -> Declared:
    """What an analysis declares; only one of another package is imported for it."""
    module = own_analyses().get(name)
    try:
        return analysis_named(name) if module is None else read_declaration(module)
    except (_Unreadable, NameError):
        return analysis_named(name)


class _Unreadable(Exception):
    """A declaration says more than its text shows."""


@cache
def read_declaration(module: str) -> Declaration:
    """The declaration in a module of this package."""
    text = _text(module)
    function, decorator = _declaring(text)
    stub = ast.FunctionDef(
        name=function.name,
        args=_without_first_type(function.args),
        body=[ast.Expr(ast.Constant(ast.get_docstring(function) or ""))],
        decorator_list=[],
    )
    made: dict[str, Any] = _Names(module)
    exec(_compiled(ast.Module([stub], [])), {}, made)
    built = made[function.name]
    try:
        settings = {word.arg: ast.literal_eval(word.value) for word in decorator.keywords if word.arg}
    except ValueError as error:
        raise _Unreadable(module) from error
    return Declaration(
        explanation=inspect.getdoc(built) or "",
        options=options_of(built),
        keeps=f"\n@{function.name}.keep\n" in text,
        has_chart=f"\n@{function.name}.chart\n" in text,
        **settings,
    )


def _declaring(text: str) -> tuple[ast.FunctionDef, ast.Call]:
    """The function that is an analysis, and the decorator that says so."""
    start = text.find(_DECORATOR)
    for part in (text[start : text.find("\n\n\n", start)], text):
        for statement in _parsed(part):
            for decorator in getattr(statement, "decorator_list", ()):
                if isinstance(statement, ast.FunctionDef) and _is_declaration(decorator):
                    return statement, decorator
    raise _Unreadable(_DECORATOR)


def _is_declaration(decorator: ast.expr) -> bool:
    return isinstance(decorator, ast.Call) and isinstance(decorator.func, ast.Name) and decorator.func.id == "analysis"


def _without_first_type(arguments: ast.arguments) -> ast.arguments:
    """The parameters, the first without its type: it is the view, and no option."""
    first, *others = arguments.posonlyargs + arguments.args
    return ast.arguments(
        posonlyargs=[],
        args=[ast.arg(first.arg), *others],
        vararg=arguments.vararg,
        kwonlyargs=arguments.kwonlyargs,
        kw_defaults=arguments.kw_defaults,
        kwarg=arguments.kwarg,
        defaults=arguments.defaults,
    )


class _Names(dict[str, Any]):
    """The names of a module, each looked for when it is needed."""

    def __init__(self, module: str) -> None:
        super().__init__()
        self._module = module

    def __missing__(self, name: str) -> Any:
        statement = _binding(self._module, name)
        if statement is None:
            raise KeyError(name)
        self[name] = value = _value(self._module, statement, name)
        return value


def _value(module: str, statement: ast.stmt, name: str) -> Any:
    """What a module's statement makes of a name; a class or a function can only come from the module itself."""
    if isinstance(statement, ast.ImportFrom):
        source = statement.module or ""
        inner = next(alias.name for alias in statement.names if _bound(alias) == name)
        if source.startswith("billboards.") and (behind := _binding(source, inner)) is not None:
            return _value(source, behind, inner)
        return getattr(import_module(source), inner)
    if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
        return eval(_compiled(ast.Expression(statement.value)), {}, _Names(module))
    return getattr(import_module(module), name)


def _binding(module: str, name: str) -> ast.stmt | None:
    """The statement that binds a name in a module; builtins are looked for where types mostly stand, and no further."""
    text = _text(module)
    code = _CODE.search(text)
    parts = [text[: code.start()] if code else text, "" if hasattr(builtins, name) else text]
    return next((statement for part in parts for statement in _parsed(part) if name in _binds(statement)), None)


def _binds(statement: ast.stmt) -> Iterator[str]:
    match statement:
        case ast.ImportFrom(names=aliases):
            yield from map(_bound, aliases)
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            yield name
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
            yield name


def _bound(alias: ast.alias) -> str:
    return alias.asname or alias.name


@cache
def _parsed(text: str) -> list[ast.stmt]:
    """The statements of a text; none where a part of a file can't be read alone."""
    try:
        return ast.parse(text).body
    except SyntaxError:
        return []


@cache
def _text(module: str) -> str:
    place = "/".join((_PACKAGE, *module.split(".")[1:]))
    file = f"{place}/__init__.py" if os.path.isdir(place) else f"{place}.py"  # noqa: PTH112 - as above
    with open(file, encoding="utf-8") as lines:  # noqa: PTH123 - as above
        return lines.read()


def _compiled(tree: ast.Module | ast.Expression) -> CodeType:
    mode = "exec" if isinstance(tree, ast.Module) else "eval"
    return compile(ast.fix_missing_locations(tree), __file__, mode, dont_inherit=True)
