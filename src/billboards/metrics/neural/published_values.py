"""Values that others published for a model, and whether this machine gives the same.

`published/` holds what papers, model cards and packages print: texts, scores, where they stand and how exactly. Whoever
has a model, from the hub or in a folder, can compute them anew; a file of one's own in the same form is compared in the
same way.

    metric = "COMET"                       # as users name it, with options where they matter
    model = "Unbabel/wmt22-comet-da"
    revision = ""                          # of the hub, where it is stated
    source = "where the values were published"
    tolerance = 0.001
    released = "wmt23/COMET"               # a released column that `billboards check --recompute` compares with
    [[examples]]
    source = "…"                           # where the metric reads one
    output = "…"
    references = ["…"]                     # where the metric reads them
    score = 0.839
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any

from billboards.errors import InvalidInput, NotEnoughData, UnknownName
from billboards.metrics.base import Batch, Metric, score_checked
from billboards.metrics.discovery import canonical, metric
from billboards.metrics.neural.weights import Weights
from billboards.reading import is_number, shown, toml_document

#: What comes with the package.
FOLDER = Path(__file__).parent / "published"
_KEYS = ("metric", "model", "revision", "source", "tolerance", "released", "examples")
_EXAMPLE_KEYS = ("source", "output", "references", "score")


@dataclass(frozen=True, kw_only=True)
class Example:
    """Texts, and the score that was published for them."""

    output: str
    references: tuple[str, ...] = ()
    source: str | None = None
    score: float


@dataclass(frozen=True, kw_only=True)
class Published:
    """What was published for one model."""

    name: str
    metric: str
    model: str
    revision: str = ""
    #: Where the values stand.
    source: str = ""
    tolerance: float = 1e-3
    #: The column of released scores that the model's own can be compared with.
    released: str = ""
    examples: tuple[Example, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Verified:
    """One example's score as published and as this machine computes it."""

    example: Example
    score: float
    within: bool

    @property
    def difference(self) -> float:
        return self.score - self.example.score


@dataclass(frozen=True, kw_only=True)
class Verification:
    """The examples of one model, computed here."""

    published: Published
    model: str
    commit: str | None
    signature: str
    rows: tuple[Verified, ...]

    @property
    def holds(self) -> bool:
        return all(row.within for row in self.rows)


@cache
def all_published() -> tuple[Published, ...]:
    """Everything that comes with the package."""
    return tuple(read_published(path) for path in sorted(FOLDER.glob("*.toml")))


def published_for(name: str) -> tuple[Published, ...]:
    """What was published for a metric, a model or under a file's name, in any case."""
    wanted = name.casefold()
    matching = [
        each
        for each in all_published()
        if wanted in (text.casefold() for text in (each.name, each.metric, each.metric.partition("(")[0], each.model))
    ]
    if not matching:
        raise UnknownName("published value", name, {each.metric for each in all_published()})
    return tuple(matching)


def read_published(path: Path) -> Published:
    """What a file says was published; a mistake is told with where it stands."""
    try:
        table = toml_document(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InvalidInput(f"{path}: can't be read: {error}") from error
    _check_keys(path, "", table, _KEYS)
    texts = {key: table.get(key, "") for key in ("metric", "model", "revision", "source", "released")}
    for key, text in texts.items():
        if not isinstance(text, str) or (key == "metric" and not text):
            raise InvalidInput(f"{path}: {key} must be a text, found {shown(text)}")
    tolerance, examples = table.get("tolerance", Published.tolerance), table.get("examples", [])
    if not is_number(tolerance) or not tolerance > 0:
        raise InvalidInput(f"{path}: tolerance must be a number above 0, found {shown(tolerance)}")
    if not isinstance(examples, list):
        raise InvalidInput(f"{path}: examples must be tables, each under [[examples]]")
    read = tuple(_example(path, number, example) for number, example in enumerate(examples, 1))
    return Published(name=path.stem, tolerance=float(tolerance), examples=read, **texts)


def _example(path: Path, number: int, table: object) -> Example:
    if not isinstance(table, dict):
        raise InvalidInput(f"{path}: example {number} must be a table under [[examples]]")
    _check_keys(path, f"example {number}: ", table, _EXAMPLE_KEYS)
    output, source, references = table.get("output"), table.get("source"), table.get("references", [])
    if not isinstance(output, str) or not (source is None or isinstance(source, str)):
        raise InvalidInput(f"{path}: example {number}: output and source must be texts")
    if not isinstance(references, list) or not all(isinstance(text, str) for text in references):
        raise InvalidInput(f"{path}: example {number}: references must be a list of texts")
    if not is_number(table.get("score")):
        raise InvalidInput(f"{path}: example {number}: score must be a number, found {shown(table.get('score'))}")
    return Example(output=output, source=source, references=tuple(references), score=float(table["score"]))


def _check_keys(path: Path, where: str, table: Mapping[str, Any], keys: Sequence[str]) -> None:
    unknown = [key for key in table if key not in keys]
    if unknown:
        raise InvalidInput(f"{path}: {where}unknown key {shown(unknown[0])}; there are {', '.join(keys)}")


def verify(published: Published, model: str = "") -> Verification:
    """Compute the examples with a model on this machine: the published one, or another that is named."""
    if not published.examples:
        released = (
            f"; compare with the released column {published.released} by `billboards check BOARD --recompute`"
            if published.released
            else ""
        )
        raise NotEnoughData(f"no example of {published.metric} with {published.model} is published{released}")
    scorer = _with_model(published, model)
    examples = published.examples
    batch = Batch(
        [example.output for example in examples],
        [example.references for example in examples] if scorer.card.needs_references else (),
        [_source(published, example) for example in examples] if scorer.card.needs_input else (),
    )
    # The signature asks for the model first, and says how to get it.
    signature = scorer.signature
    scores = next(iter(score_checked(scorer, batch).values()))
    weights = scorer.weights() if hasattr(scorer, "weights") else None
    return Verification(
        published=published,
        model=model or published.model,
        commit=weights.commit if isinstance(weights, Weights) else None,
        signature=signature,
        rows=tuple(
            Verified(example=example, score=score, within=abs(score - example.score) <= published.tolerance)
            for example, score in zip(examples, scores.tolist(), strict=True)
        ),
    )


def _with_model(published: Published, model: str) -> Metric:
    scorer = metric(canonical(published.metric))
    options = {field.name for field in fields(scorer) if field.init}
    asked = {"model": model or published.model, "revision": "" if model else published.revision}
    return replace(scorer, **{name: value for name, value in asked.items() if name in options and value})


def _source(published: Published, example: Example) -> str:
    if example.source is None:
        raise InvalidInput(
            f"{published.name}: {published.metric} reads inputs; example {shown(example.output)} has none"
        )
    return example.source
