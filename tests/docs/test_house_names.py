"""Names say what a thing is: no value is called found or said, and no two modules differ by a verb's ending alone."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import billboards

HOUSE = Path(billboards.__file__).parent

#: Words that read like a tale and tell nobody what a value is.
VAGUE = {"found", "said", "one", "known", "there"}
#: Fields of public results and options, which callers name.
PUBLIC = {
    ("stats/annotator_signs.py", "known"),
    ("stats/annotator_simulation.py", "found"),
    ("stats/power.py", "found"),
    ("stats/ratings.py", "known"),
}
#: Counts of what a file itself calls found and missed.
QUOTED = {("board/mqm_ratings.py", "found")}

ENDINGS = ("ings", "ing", "ed", "ers", "er", "ors", "or", "e", "s", "")
#: Rooms that are called what is done or offered in them, beside the one who does it and what is offered.
APART = {
    frozenset({"work", "worker"}): "a room, and the process in it that users start by that name",
    frozenset({"selection", "selector"}): "public statistics of choosing, and what other packages offer",
    frozenset({"publishing", "published"}): "a room of the site, and the analysis of that name",
    frozenset({"watch", "watching"}): "the analysis of that name, and its public statistics",
}


def sources() -> Iterator[Path]:
    return (path for path in sorted(HOUSE.rglob("*.py")) if "versions" not in path.parts)


def values(tree: ast.AST) -> Iterator[str]:
    """What values, parameters and functions are called, wherever they get their names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name


def stems(word: str) -> set[str]:
    cut = {word.removesuffix(ending) for ending in ENDINGS if word.endswith(ending) and len(word) > len(ending) + 2}
    doubled = {stem[:-1] for stem in cut if stem[-1] == stem[-2]}
    return cut | doubled


def differ_by_an_ending(first: str, second: str) -> bool:
    """Whether two names are the same but for verbs' endings; a plural is another thing's name."""
    words = [name.split("_") for name in (first, second)]
    if len(words[0]) != len(words[1]) or first.rstrip("s") == second.rstrip("s"):
        return False
    return all(a == b or stems(a) & stems(b) for a, b in zip(*words, strict=True))


def module_names() -> dict[str, list[str]]:
    """Modules by name, but for the command line's: a file there is called what users type."""
    places = defaultdict(list)
    for path in sources():
        place = path.relative_to(HOUSE)
        if place.parts[0] != "cli":
            places[(path.parent if path.name == "__init__.py" else path).stem.strip("_")].append(place.as_posix())
    return places


def test_no_value_has_a_name_that_tells_nothing() -> None:
    vague = {
        (path.relative_to(HOUSE).as_posix(), name)
        for path in sources()
        for name in values(ast.parse(path.read_text("utf-8")))
        if name.strip("_") in VAGUE
    }
    assert vague == PUBLIC | QUOTED


def test_no_two_modules_differ_by_a_verbs_ending() -> None:
    modules = module_names()
    alike = {
        frozenset({first, second}): (modules[first], modules[second])
        for first, second in combinations(modules, 2)
        if differ_by_an_ending(first, second) and frozenset({first, second}) not in APART
    }
    assert alike == {}


def test_such_endings_are_seen() -> None:
    assert differ_by_an_ending("plan", "planning")
    assert differ_by_an_ending("compare", "comparing")
    assert differ_by_an_ending("work", "worker")
    assert differ_by_an_ending("publish_board", "published_board")
    assert not differ_by_an_ending("board", "boards")
    assert not differ_by_an_ending("rank", "tank")


def test_names_that_may_stay_are_those_of_modules() -> None:
    assert [pair for pair in APART if not pair <= set(module_names())] == []
