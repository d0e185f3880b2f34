"""`board.toml`: what a board's owner decides, checked key by key with the line each mistake stands on.

Pydantic models say which keys each table may have and what may stand there; what one key says of another is checked
after them. All mistakes are named in one pass. A value that can't be used is stood in for by its default, so that
reading goes on to the next mistake.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    create_model,
)
from pydantic_core import ErrorDetails, PydanticCustomError

from billboards.board.card import DataCard
from billboards.board.judgments import Aggregate, Dimension
from billboards.board.model import Generator, Kind, ReferenceFree
from billboards.board.names import board_name_mistake, file_name_mistake, generator_name_mistake, name_mistake
from billboards.board.trust import DOUBTS, DoubtKind, Flagged, TrustRules
from billboards.reading import Problems, shown, toml_document

FILE = "board.toml"
SCHEMA = 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """Everything in `board.toml`."""

    name: str = ""
    ranks: str | None = None
    metrics: tuple[str, ...] = ()
    lead: Literal["imported", "own"] = "imported"
    references: tuple[str, ...] | None = None
    input_language: str | None = None
    output_language: str | None = None
    dimensions: Mapping[str, Dimension] = field(default_factory=dict)
    aggregates: Mapping[str, Aggregate] = field(default_factory=dict)
    generators: Mapping[str, Generator] = field(default_factory=dict)
    scores: Mapping[str, ImportedSettings] = field(default_factory=dict)
    #: Names of rows in the order the board has them; those not named follow as their files do.
    order: tuple[str, ...] = ()
    card: DataCard = field(default_factory=DataCard)
    reference_free: ReferenceFree = "diagnostic"
    by: str | None = None
    anonymous: tuple[str, ...] = ()
    trust: TrustRules = field(default_factory=TrustRules)
    before: str | None = None
    #: The line each key stands on; None where the file could not be read at all.
    lines: Mapping[tuple[str, ...], int] | None = field(default=None, compare=False, repr=False)

    def line(self, *path: str) -> int | None:
        """The line a key stands on, or that of the nearest table around it."""
        return _nearest_line(self.lines or {}, path)


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportedSettings:
    """What `[scores.NAME]` says about a file of imported scores."""

    name: str
    references: tuple[str, ...] | None = None
    needs: tuple[str, ...] = ("references",)
    higher_is_better: bool = True
    is_ensemble: bool = False
    is_statistic: bool = False
    computed_by: str | None = None
    scores_only: bool = False


def read_settings(text: str, problems: Problems) -> Settings:
    """Settings from the text of `board.toml`; mistakes are added to `problems` and read past."""
    text = text.removeprefix("\ufeff")
    try:
        document = toml_document(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"line (\d+)", str(error))
        problems.error(FILE, int(line[1]) if line else None, f"not TOML: {error}")
        return Settings()
    return _settings(document, _Mistakes(key_lines(text), problems))


def _settings(document: dict[str, Any], mistakes: _Mistakes) -> Settings:
    tables = _tables(document, mistakes)
    _check_names(tables, mistakes)
    dimensions = {name: _dimension(name, table, mistakes) for name, table in tables.dimensions.items()}
    for name, wrong in levels_mistakes(dimensions):
        mistakes.add(wrong, "dimensions", name, "levels_of")
    return Settings(
        name=tables.name,
        ranks=_declared("ranks", tables.ranks, document, mistakes),
        metrics=tables.metrics,
        lead=tables.lead,
        references=tables.references,
        order=tables.order,
        input_language=tables.languages.input,
        output_language=tables.languages.output,
        dimensions=dimensions,
        aggregates=dict(_aggregates(tables, dimensions, mistakes)),
        generators={name: _generator(name, table, mistakes) for name, table in tables.generators.items()},
        scores={
            name: ImportedSettings(**{**dict(table), "name": table.name or name})
            for name, table in tables.scores.items()
        },
        card=DataCard(**dict(tables.card)),
        reference_free=tables.reference_free,
        by=tables.by,
        anonymous=tables.anonymous,
        trust=_trust(tables.trust, mistakes),
        before=_declared("before", tables.before, document, mistakes),
        lines=mistakes.lines,
    )


class _Mistakes:
    """What is wrong with the settings, each mistake at the line of its key."""

    def __init__(self, lines: Mapping[tuple[str, ...], int], problems: Problems) -> None:
        self.lines, self._problems = lines, problems
        #: The keys whose values can't be used.
        self.unusable: set[tuple[str, ...]] = set()

    def add(self, message: str, *key: str) -> None:
        self._problems.error(FILE, _nearest_line(self.lines, key), message)

    def within(self, *table: str) -> bool:
        """Whether a key of a table, or the key itself, can't be used, so that more would be said of the same thing."""
        return any(key[: len(table)] == table for key in self.unusable)


def _must_be(words: str) -> WrapValidator:
    """Whatever is wrong with a value, one sentence says what must stand there."""

    def check(value: object, handler: ValidatorFunctionWrapHandler) -> Any:
        try:
            return handler(value)
        except ValidationError:
            raise PydanticCustomError("unusable", "must be {words}", {"words": words}) from None

    return WrapValidator(check)


def _from_list(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def _all_different(value: object, handler: ValidatorFunctionWrapHandler) -> Any:
    names = handler(value)
    if len(set(names)) < len(names):
        raise PydanticCustomError("twice", "a name twice")
    return names


def _read_schema(value: object) -> object:
    if type(value) is not int or value != SCHEMA:
        raise PydanticCustomError("schema", "another schema")
    return value


_Text = Annotated[str, _must_be("text in quotes")]
_Truth = Annotated[bool, _must_be("true or false")]
_Number = Annotated[float, _must_be("a finite number")]
_Cost = Annotated[float, Field(ge=0), _must_be("a number of 0 or more")]
_Share = Annotated[float, Field(ge=0, le=1), _must_be("a share between 0 and 1")]
_PrivateShare = Annotated[float, Field(gt=0, lt=1), _must_be("a share between 0 and 1")]
_Pair = Annotated[tuple[float, float], BeforeValidator(_from_list), _must_be("two finite numbers, as in [1, 5]")]
_Names = Annotated[
    tuple[str, ...], BeforeValidator(_from_list), _must_be("a list of texts"), WrapValidator(_all_different)
]
_Needs = Annotated[
    tuple[Literal["references", "input"], ...],
    BeforeValidator(_from_list),
    _must_be('a list that may hold "references" and "input"'),
    WrapValidator(_all_different),
]


class _Table(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="forbid", allow_inf_nan=False)


class _LanguagesTable(_Table):
    input: _Text | None = None
    output: _Text | None = None


class _DimensionTable(_Table):
    range: _Pair | None = None
    higher_is_better: _Truth = True
    to_100: _Pair | None = None
    definition: _Text | None = None
    kind: Annotated[Literal["rating", "preference"], _must_be("'rating' or 'preference'")] = "rating"
    levels_of: _Text | None = None
    at_least: _Number | None = None


class _AggregateTable(_Table):
    dimensions: _Names = ()
    campaigns: _Names | None = None
    standardise: Annotated[Literal["annotator"], _must_be("'annotator'")] | None = None
    ddof: Annotated[Literal[0, 1], _must_be("0 or 1")] = 1


class _GeneratorTable(_Table):
    kind: Annotated[Kind, _must_be("'machine' or 'human' or 'optimised'")] = "machine"
    description: _Text | None = None
    paper: _Text | None = None
    url: _Text | None = None
    optimised_by: _Text | None = None
    latency: _Cost | None = None
    price: _Cost | None = None
    energy: _Cost | None = None
    parameters: _Cost | None = None
    training_tokens: _Cost | None = None


class _ScoresTable(_Table):
    name: _Text | None = None
    needs: _Needs = ("references",)
    references: _Names | None = None
    higher_is_better: _Truth = True
    is_ensemble: _Truth = False
    is_statistic: _Truth = False
    computed_by: _Text | None = None
    scores_only: _Truth = False


class _TrustTable(_Table):
    bars: Annotated[
        tuple[DoubtKind, ...],
        BeforeValidator(_from_list),
        _must_be(f"a list of doubts: {', '.join(DOUBTS)}"),
        WrapValidator(_all_different),
    ] = TrustRules().bars
    bars_from: _Share = TrustRules().bars_from
    private_share: _PrivateShare | None = None
    private_seed: Annotated[int, Field(ge=0), _must_be("a whole number, 0 or more")] = 0
    flagged: Annotated[Flagged, _must_be("'out' or 'count'")] = "out"
    admits: _Names = ()
    barred: Annotated[Mapping[str, str], _must_be('a table of reasons, as in "my-metric" = "has seen them"')] = {}


_CARD: dict[str, Any] = {f.name: (_Text | None, None) for f in fields(DataCard)}
_CardTable: type[_Table] = create_model("_CardTable", __base__=_Table, **_CARD)


class _Tables(_Table):
    """The whole of `board.toml`."""

    schema_: Annotated[Any, BeforeValidator(_read_schema)] = Field(default=SCHEMA, alias="schema")
    name: _Text = ""
    ranks: _Text | None = None
    metrics: _Names = ()
    lead: Annotated[Literal["imported", "own"], _must_be("'imported' or 'own'")] = "imported"
    references: _Names | None = None
    reference_free: Annotated[ReferenceFree, _must_be("'diagnostic' or 'ranks'")] = "diagnostic"
    order: _Names = ()
    by: _Text | None = None
    before: _Text | None = None
    anonymous: _Names = ()
    languages: _LanguagesTable = _LanguagesTable()
    dimensions: Mapping[str, _DimensionTable] = {}
    aggregates: Mapping[str, _AggregateTable] = {}
    generators: Mapping[str, _GeneratorTable] = {}
    scores: Mapping[str, _ScoresTable] = {}
    trust: _TrustTable = _TrustTable()
    card: _CardTable = _CardTable()  # type: ignore[valid-type]  # made from the facts that a card has


def _keys(model: type[BaseModel]) -> tuple[str, ...]:
    return tuple(field.alias or name for name, field in model.model_fields.items())


#: Every key that may stand in `board.toml`, by its table; docs/board-folder.md explains each.
KEYS: Mapping[str, tuple[str, ...]] = {
    "": _keys(_Tables),
    "languages": _keys(_LanguagesTable),
    "dimensions.NAME": _keys(_DimensionTable),
    "aggregates.NAME": _keys(_AggregateTable),
    "generators.NAME": _keys(_GeneratorTable),
    "scores.NAME": _keys(_ScoresTable),
    "trust": _keys(_TrustTable),
    "card": _keys(_CardTable),
}


def _tables(document: dict[str, Any], mistakes: _Mistakes) -> _Tables:
    """The document as the models have it, without what can't be used, of which each is a mistake."""
    while True:
        try:
            return _Tables.model_validate(document)
        except ValidationError as error:
            for detail in error.errors(include_url=False):
                path = tuple(map(str, detail["loc"]))
                mistakes.unusable.add(path)
                mistakes.add(_message(detail, path), *path)
                document = _without(document, path)


def _message(detail: ErrorDetails, path: tuple[str, ...]) -> str:
    """A mistake in words."""
    *around, key = path
    table, value = f"[{'.'.join(around)}]" if around else FILE, shown(detail["input"])
    match detail["type"]:
        case "unusable":
            return f"{key} in {table} {detail['msg']}, not {value}"
        case "twice":
            return f"{key} in {table} holds a name twice: {value}"
        case "schema":
            return f"schema {value} is not known to this version; it reads schema {SCHEMA}"
        case "extra_forbidden":
            keys = KEYS[".".join((*around[:1], *("NAME" for _ in around[1:])))]
            near = get_close_matches(key.casefold(), keys, n=1)
            return f"unknown key {shown(key)} in {table}; " + (
                f"did you mean {near[0]}?" if near else f"known: {', '.join(keys)}"
            )
    return f"{key} must be a table, written [{'.'.join(path)}]"


def _without(document: Mapping[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    """A document without one of its keys."""
    key, *inner = path
    if not inner:
        return {name: value for name, value in document.items() if name != key}
    return {**document, key: _without(document[key], tuple(inner))}


def _check_names(tables: _Tables, mistakes: _Mistakes) -> None:
    """The board's name, and those of the tables [KIND.NAME], must be such as can be names."""
    if not tables.name and not mistakes.within("name"):
        mistakes.add('the board has no name; write name = "my-board"', "name")
    elif tables.name and (wrong := board_name_mistake(tables.name)):
        mistakes.add(f"the name {shown(tables.name)} {wrong}", "name")
    kinds: Mapping[str, tuple[Mapping[str, Any], Callable[[str], str | None]]] = {
        "dimensions": (tables.dimensions, name_mistake),
        "aggregates": (tables.aggregates, name_mistake),
        "generators": (tables.generators, generator_name_mistake),
        "scores": (tables.scores, file_name_mistake),
    }
    for kind, (named, mistake) in kinds.items():
        for name in named:
            if wrong := mistake(name):
                mistakes.add(f"the name {shown(name)} in [{kind}] {wrong}", kind, name)


def _trust(table: _TrustTable, mistakes: _Mistakes) -> TrustRules:
    rules = TrustRules(**dict(table))
    for name in rules.admits:
        if name in rules.barred:
            mistakes.add(f"[trust] both admits and bars {shown(name)}; take it out of one", "trust", "admits")
    return rules


def _declared(key: str, name: str | None, document: Mapping[str, Any], mistakes: _Mistakes) -> str | None:
    """The judgments that a key names, if they are declared; by a table with mistakes too, of which enough is said."""
    declared = [document.get(table) for table in ("aggregates", "dimensions")]
    if name is not None and not any(isinstance(table, dict) and name in table for table in declared):
        mistakes.add(f"{key} names {shown(name)}, which is no aggregate and no dimension", key)
        return None
    return name


def _dimension(name: str, table: _DimensionTable, mistakes: _Mistakes) -> Dimension:
    dimension = Dimension(name, **dict(table))
    wrong = dimension_mistake(dimension)
    if wrong is None:
        return dimension
    if not mistakes.within("dimensions", name):
        key = next((key for key in KEYS["dimensions.NAME"] if wrong.startswith(key)), "range")
        mistakes.add(wrong, "dimensions", name, key)
    return Dimension(name, higher_is_better=dimension.higher_is_better, definition=dimension.definition)


def dimension_mistake(dimension: Dimension) -> str | None:
    """What is wrong with a dimension's scale, if anything."""
    name, limits, mapping = dimension.name, dimension.range, dimension.to_100
    if (dimension.levels_of is None) != (dimension.at_least is None):
        return f"levels_of and at_least of dimension {name} belong together: the levels' dimension, and which count"
    if dimension.kind == "preference" and (limits or mapping or dimension.levels_of):
        return f"kind of dimension {name} is preference, so it has no range, no to_100 and no levels"
    if dimension.levels_of is not None and limits is not None:
        return f"range of dimension {name} can't be stated: it is 1 where {dimension.levels_of} is high enough, else 0"
    if limits is not None and not limits[0] < limits[1]:
        return f"range of dimension {name} must rise, as in [1, 5]; found {list(limits)}"
    slope, intercept = dimension.affine()
    if slope == 0 or not (math.isfinite(slope) and math.isfinite(intercept)):
        if mapping is not None:
            return f"to_100 of dimension {name} must be a slope other than 0 and an intercept; found {list(mapping)}"
        return f"range of dimension {name} can't be stretched to 0-100; found {list(limits or ())}"
    if (slope > 0) != dimension.higher_is_better:
        better = "higher" if dimension.higher_is_better else "lower"
        return (
            f"to_100 of dimension {name} has slope {slope:g} although {better} is better; "
            "give the slope the other sign or change higher_is_better"
        )
    return None


def levels_mistakes(dimensions: Mapping[str, Dimension]) -> Iterator[tuple[str, str]]:
    """Dimensions that are read off levels which nobody declared, each with what is wrong."""
    for name, dimension in dimensions.items():
        levels = dimensions.get(dimension.levels_of or name)
        if levels is None or (dimension.levels_of is not None and levels.derivation()):
            yield name, f"levels_of dimension {name} must name a declared rating; found {shown(dimension.levels_of)}"


def standardise_mistake(
    aggregate: Aggregate, dimensions: Mapping[str, Dimension], anonymous: tuple[str, ...]
) -> str | None:
    """Why the ratings of an aggregate can't be standardised by their annotators, where that is asked."""
    name = aggregate.name
    if aggregate.standardise is None:
        return f"ddof of aggregate {name} is said without standardise" if aggregate.ddof != 1 else None
    if aggregate.ddof not in (0, 1):
        return f"ddof of aggregate {name} must be 0 or 1, not {aggregate.ddof}"
    if any(dimensions[used].kind == "preference" for used in aggregate.dimensions if used in dimensions):
        return f"standardise of aggregate {name}: preferences have no values, so there is nothing to standardise"
    nobody = [campaign for campaign in anonymous if aggregate.campaigns is None or campaign in aggregate.campaigns]
    if nobody:
        return (
            f"standardise of aggregate {name}: the annotators of campaign {shown(nobody[0])} are anonymous, places in "
            "a list and no persons; name the campaigns that can be standardised as its campaigns"
        )
    return None


def _aggregates(
    all_tables: _Tables, dimensions: Mapping[str, Dimension], mistakes: _Mistakes
) -> Iterator[tuple[str, Aggregate]]:
    for name, table in all_tables.aggregates.items():
        key = ("aggregates", name, "dimensions")
        if not table.dimensions and not mistakes.within(*key):
            mistakes.add(f'aggregate {name} names no dimensions; write dimensions = ["…"]', *key)
        undeclared = [dimension for dimension in table.dimensions if dimension not in dimensions]
        for dimension in undeclared:
            wrong = f"aggregate {name} uses dimension {shown(dimension)}, which [dimensions] doesn't declare"
            mistakes.add(wrong, *key)
        kinds = {dimensions[dimension].kind for dimension in table.dimensions if dimension in dimensions}
        if len(kinds) > 1:
            mistakes.add(f"aggregate {name} mixes ratings and preferences; make an aggregate of each", *key)
        elif table.dimensions and not undeclared:
            aggregate = Aggregate(
                name, table.dimensions, table.campaigns, standardise=table.standardise, ddof=table.ddof
            )
            unusable = standardise_mistake(aggregate, dimensions, all_tables.anonymous)
            if unusable and not mistakes.within("aggregates", name):
                mistakes.add(unusable, "aggregates", name, unusable.partition(" ")[0])
            yield name, Aggregate(name, table.dimensions, table.campaigns) if unusable else aggregate


def _generator(name: str, table: _GeneratorTable, mistakes: _Mistakes) -> Generator:
    if (table.optimised_by is not None) != (table.kind == "optimised") and not mistakes.within("generators", name):
        wrong = f'generator {name}: kind = "optimised" and optimised_by = "METRIC" belong together'
        mistakes.add(wrong, "generators", name, "optimised_by")
    return Generator(name, **dict(table))


_HEADER = re.compile(r"\s*(\[[^\[].*?\])\s*(?:#.*)?$")
_KEY = re.compile(r"""\s*((?:"(?:[^"\\]|\\.)*"|'[^']*'|[\w-]+)(?:\s*\.\s*(?:"(?:[^"\\]|\\.)*"|'[^']*'|[\w-]+))*)\s*=""")


def key_lines(text: str) -> dict[tuple[str, ...], int]:
    """The line on which each key and table of a TOML document stands, by its path.

    The TOML reader doesn't keep line numbers, so headers and keys are found line by line and read by it one by one.
    What looks like a key inside a text of several lines is taken for one, which at worst misplaces a message.
    """
    numbers: dict[tuple[str, ...], int] = {}
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.split("\n"), 1):
        if header := _HEADER.match(line):
            table = _path(header[1])
            numbers.setdefault(table, number)
        elif key := _KEY.match(line):
            numbers.setdefault((*table, *_path(f"{key[1]} = 0")), number)
    return numbers


def _nearest_line(lines: Mapping[tuple[str, ...], int], path: tuple[str, ...]) -> int | None:
    """The line of a path, else that of the nearest table around it."""
    while path and path not in lines:
        path = path[:-1]
    return lines.get(path)


def _path(line: str) -> tuple[str, ...]:
    try:
        inner: object = toml_document(line)
    except tomllib.TOMLDecodeError:
        return ()
    path = []
    while isinstance(inner, dict) and inner:
        name, inner = next(iter(inner.items()))
        path.append(name)
    return tuple(path)
