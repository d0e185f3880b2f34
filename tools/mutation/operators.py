"""The small changes that mutation testing makes, each as a piece of a source file and what replaces it.

A file is read with `ast`, which says where each piece begins and ends, so that the rest of the file stays as it is,
byte for byte. What can't change how a program runs is left alone: docstrings, annotations, what only type checkers
read, `__all__`, log lines and decorators.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

COMPARISONS: dict[type[ast.cmpop], tuple[str, ...]] = {
    ast.Eq: ("!=",),
    ast.NotEq: ("==",),
    ast.Lt: ("<=", ">="),
    ast.LtE: ("<", ">"),
    ast.Gt: (">=", "<="),
    ast.GtE: (">", "<"),
    ast.In: ("not in",),
    ast.NotIn: ("in",),
    ast.Is: ("is not",),
    ast.IsNot: ("is",),
}
ARITHMETIC: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "/"),
    ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"),
    ast.Mod: ("%", "*"),
    ast.Pow: ("**", "*"),
}
COMPARISON = re.compile(r"==|!=|<=|>=|<|>|\bnot\s+in\b|\bin\b|\bis\s+not\b|\bis\b")
LOGGER = re.compile(r"_?log(ger|ging)?", re.IGNORECASE)
LOG_METHODS = ("debug", "info", "warning", "error", "exception", "critical", "log")
#: Calls and subscripts that are for type checkers; of `cast` it is the first argument only.
TYPE_MAKERS = ("TypeVar", "ParamSpec", "TypeVarTuple", "NewType")
#: Conditions that no other operator changes.
PLAIN_CONDITIONS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.NamedExpr)


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where in a file a piece of code stands: the lines that show whether a test ran it, and the name it belongs to."""

    first: int
    last: int
    #: The function, class or variable of the module that the statement makes, or is a part of.
    owner: tuple[str, ...] = ()
    #: Runs when the module is imported, so that any test that uses the owner depends on it.
    at_import: bool = True
    #: Runs for the first caller only, so that the test that ran it is not the only one that depends on it.
    kept: bool = False


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """One change: the bytes from `start` to `end` of a file become `text`."""

    path: str
    line: int
    start: int
    end: int
    text: str
    operator: str
    place: Place

    def apply(self, source: bytes) -> bytes:
        """The file with the change."""
        return source[: self.start] + self.text.encode() + source[self.end :]

    def lines(self, source: bytes) -> tuple[str, str]:
        """The changed lines before and after, on one line each."""
        begin = source.rfind(b"\n", 0, self.start) + 1
        end = source.find(b"\n", self.end)
        end = len(source) if end < 0 else end
        before = source[begin:end]
        after = source[begin : self.start] + self.text.encode() + source[self.end : end]
        return " ".join(before.decode().split()), " ".join(after.decode().split())


def mutants_of(path: str, source: bytes) -> list[Mutant]:
    """Every change of a file that is tried; one that isn't Python in the end is for the caller to leave out."""
    return sorted(_File(path, source).mutants(), key=lambda mutant: (mutant.start, mutant.end, mutant.text))


def is_python(source: bytes) -> bool:
    try:
        compile(source, "mutant", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


class _File:
    """A file's text and tree, and the walk over it."""

    def __init__(self, path: str, source: bytes) -> None:
        self.path = path
        self.source = source
        self.tree = ast.parse(source)
        self.line_starts = [0]
        for line in source.splitlines(keepends=True):
            self.line_starts.append(self.line_starts[-1] + len(line))

    def mutants(self) -> Iterator[Mutant]:
        for statement in self.tree.body:
            yield from self.walk(statement, Place(first=0, last=0, owner=bound_names(statement)))

    def walk(self, node: ast.AST, place: Place) -> Iterator[Mutant]:
        """The changes of a node and of all that is in it."""
        if _is_left_alone(node):
            return
        place = _place_of(node, place)
        for start, end, text, operator in self.changes(node):
            line = self.source.count(b"\n", 0, start) + 1
            yield Mutant(path=self.path, line=line, start=start, end=end, text=text, operator=operator, place=place)
        for child, child_place in self.children(node, place):
            yield from self.walk(child, child_place)

    def children(self, node: ast.AST, place: Place) -> Iterator[tuple[ast.AST, Place]]:
        """What is in a node and may be changed, with its place."""
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                inside = replace(place, at_import=False, kept=_is_cached(node))
                # A default is read where the function runs.
                whole = replace(inside, first=node.body[0].lineno, last=node.end_lineno or node.lineno)
                yield from ((default, whole) for default in defaults_of(node))
                yield from ((child, inside) for child in node.body)
            case ast.Lambda():
                yield from ((default, place) for default in defaults_of(node))
                yield node.body, replace(place, at_import=False)
            case ast.ClassDef():
                yield from ((child, place) for child in (*node.bases, *node.keywords, *node.body))
            case ast.If() if _is_name(node.test, "TYPE_CHECKING"):
                yield from ((child, place) for child in node.orelse)
            case ast.AnnAssign():
                yield node.target, place
                if node.value is not None:
                    yield node.value, place
            case ast.JoinedStr():
                values = [part.value for part in node.values if isinstance(part, ast.FormattedValue)]
                yield from ((value, place) for value in values if self.stands_where_it_says(value))
            case ast.Call() if _is_name(node.func, "cast"):
                yield from ((child, place) for child in node.args[1:])
            case _:
                yield from ((child, place) for child in ast.iter_child_nodes(node))

    def changes(self, node: ast.AST) -> Iterator[tuple[int, int, str, str]]:
        """The changes of a node itself: from where to where, the new text, and what kind it is."""
        match node:
            case ast.Compare():
                yield from self.comparisons(node)
            case ast.BoolOp():
                old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
                for left, right in zip(node.values, node.values[1:], strict=False):
                    yield from self.between(left, right, re.compile(rf"\b{old}\b"), (new,), "and, or")
            case ast.UnaryOp(op=ast.Not() | ast.USub()):
                start, end = self.span(node)
                text = self.source[start:end].decode().removeprefix("not").removeprefix("-").lstrip()
                yield start, end, text, "not" if isinstance(node.op, ast.Not) else "minus"
            case ast.BinOp() if type(node.op) in ARITHMETIC:
                old, new = ARITHMETIC[type(node.op)]
                yield from self.between(node.left, node.right, re.compile(re.escape(old)), (new,), "arithmetic")
            case ast.Constant() | ast.JoinedStr():
                start, end = self.span(node)
                # The same quotes, because other ones would end an f-string around it.
                quote = self.source[end - 1 : end].decode()
                yield from ((start, end, text.replace('"', quote), "constant") for text in _other_values(node))
            case ast.Return(value=ast.expr() as value) if not _is_none(value):
                yield *self.span(value), "None", "return value"
            case ast.Slice():
                bounds = (node.lower, node.upper, node.step)
                yield from ((*self.span(bound), "", "slice bound") for bound in bounds if bound is not None)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                for default in defaults_of(node):
                    if not isinstance(default, ast.Constant):
                        yield *self.span(default), "None", "default"
                    elif default.value is None:
                        yield *self.span(default), "0", "default"
        yield from self.conditions(node)
        yield from self.whole_statements(node)

    def comparisons(self, node: ast.Compare) -> Iterator[tuple[int, int, str, str]]:
        operands = [node.left, *node.comparators]
        for left, comparison, right in zip(operands, node.ops, node.comparators, strict=False):
            yield from self.between(left, right, COMPARISON, COMPARISONS[type(comparison)], "comparison")

    def conditions(self, node: ast.AST) -> Iterator[tuple[int, int, str, str]]:
        tests: Sequence[ast.expr] = ()
        if isinstance(node, ast.If | ast.While | ast.IfExp):
            tests = [node.test]
        elif isinstance(node, ast.comprehension):
            tests = node.ifs
        for test in tests:
            if isinstance(test, PLAIN_CONDITIONS) and not _is_name(test, "TYPE_CHECKING"):
                start, end = self.span(test)
                yield start, end, f"not ({self.source[start:end].decode()})", "not"

    def whole_statements(self, node: ast.AST) -> Iterator[tuple[int, int, str, str]]:
        match node:
            case ast.Expr(value=ast.Call() | ast.Await(value=ast.Call())):
                yield *self.span(node), "pass", "call removed"
            case (
                ast.Assign(targets=[ast.Attribute()])
                | ast.AnnAssign(target=ast.Attribute(), value=ast.expr())
                | ast.AugAssign(target=ast.Attribute())
            ):
                yield *self.span(node), "pass", "assignment removed"
        if isinstance(node, ast.AugAssign) and type(node.op) in ARITHMETIC:
            old, new = ARITHMETIC[type(node.op)]
            pattern = re.compile(re.escape(f"{old}="))
            yield from self.between(node.target, node.value, pattern, (f"{new}=",), "arithmetic")

    def between(
        self, left: ast.expr, right: ast.expr, pattern: re.Pattern[str], texts: Sequence[str], operator: str
    ) -> Iterator[tuple[int, int, str, str]]:
        """Changes of the operator between two operands, where nothing but brackets stands beside it."""
        start, end = self.span(left)[1], self.span(right)[0]
        gap = self.source[start:end].decode()
        place = None if "#" in gap else pattern.search(gap)
        if place is not None:
            yield from ((start + place.start(), start + place.end(), text, operator) for text in texts)

    def span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """The bytes of a node."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return (
            self.line_starts[node.lineno - 1] + node.col_offset,
            self.line_starts[node.end_lineno - 1] + node.end_col_offset,
        )

    def stands_where_it_says(self, node: ast.expr) -> bool:
        """Whether a piece of an f-string is at its position; Python 3.11 miscounts in some."""
        start, end = self.span(node)
        try:
            again = ast.parse(b"(" + self.source[start:end] + b")", mode="eval").body
        except (SyntaxError, ValueError):
            return False
        return ast.dump(again) == ast.dump(node)


def bound_names(statement: ast.stmt) -> tuple[str, ...]:
    """The names that a statement of a module gives a value to."""
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return (statement.name,)
        case ast.Import() | ast.ImportFrom():
            return ()
    inside = [
        names
        for child in ast.iter_child_nodes(statement)
        if isinstance(child, ast.stmt)
        for names in bound_names(child)
    ]
    stored = [node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    return tuple(dict.fromkeys([*stored, *inside]))


def _place_of(node: ast.AST, place: Place) -> Place:
    """The lines of a statement, or of a compound statement's beginning; all else stands where its statement does."""
    if not isinstance(node, ast.stmt | ast.ExceptHandler):
        return place
    body = getattr(node, "body", None) or getattr(node, "cases", None)
    last = node.end_lineno or node.lineno
    if body:
        following = body[0].pattern.lineno if isinstance(body[0], ast.match_case) else body[0].lineno
        last = max(node.lineno, following - 1)
    return replace(place, first=node.lineno, last=last)


def _is_left_alone(node: ast.AST) -> bool:
    match node:
        case ast.Expr(value=ast.Constant()) | ast.arguments():
            return True
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=receiver, attr=method))):
            name = _last_name(receiver.func if isinstance(receiver, ast.Call) else receiver)
            return method in LOG_METHODS and (LOGGER.fullmatch(name) is not None or name == "getLogger")
        case ast.Assign() | ast.AugAssign() | ast.AnnAssign():
            if isinstance(node, ast.AnnAssign) and _is_name(node.annotation, "TypeAlias"):
                return True
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            return any(_is_name(target, "__all__") for target in targets)
        case ast.Subscript():
            return _is_name(node.value, "Literal")
        case ast.Call():
            return _last_name(node.func) in TYPE_MAKERS
        case ast.keyword(arg="strict"):
            # `zip(…, strict=True)` guards against what never happens; no test can see it go.
            return True
    return False


def _other_values(node: ast.Constant | ast.JoinedStr) -> Iterator[str]:
    """What else a constant could be."""
    if isinstance(node, ast.JoinedStr):
        yield '"XX"'
        return
    match node.value:
        case bool():
            yield repr(not node.value)
        case str():
            yield '""' if node.value == "XX" else '"XX"'
        case bytes():
            yield 'b""' if node.value == b"XX" else 'b"XX"'
        case 1:
            yield "0" if isinstance(node.value, int) else "0.0"
        case int():
            yield repr(node.value + 1)
        case float():
            yield repr(node.value + 1 if node.value + 1 != node.value else node.value * 2)


def defaults_of(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> list[ast.expr]:
    """The defaults of a function's arguments; a stub's are for type checkers."""
    if not isinstance(node, ast.Lambda) and all(_says_nothing(statement) for statement in node.body):
        return []
    return [*node.args.defaults, *(default for default in node.args.kw_defaults if default is not None)]


def _says_nothing(statement: ast.stmt) -> bool:
    match statement:
        case ast.Pass() | ast.Expr(value=ast.Constant()):
            return True
    return False


def _is_cached(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    decorators = [item.func if isinstance(item, ast.Call) else item for item in node.decorator_list]
    return any("cache" in _last_name(decorator) for decorator in decorators)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_name(node: ast.expr, name: str) -> bool:
    return _last_name(node) == name


def _last_name(node: ast.AST) -> str:
    """The name, or what stands after the last dot."""
    match node:
        case ast.Name():
            return node.id
        case ast.Attribute():
            return node.attr
    return ""
