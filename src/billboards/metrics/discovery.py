"""Metrics by name, file or function: the one place where what somebody writes becomes a metric.

`metric` takes a name with options (`chrF(beta=1)`, in any case) or a part (`ROUGE-L[recall]`), `pack:NAME`,
`evaluate:NAME`, a Python file (`./mine.py`), a Python function, or a metric that is made already. Names are those of
this package and of any other that declares the entry point `billboards.metrics`, whose name is the metric's and whose
value is the class. An option takes values of its default's type, so that `lowercase=no` is refused and not taken for
yes.

What comes with data may be anybody's: `board_metric` reads a name that stands in a board's file, and runs no file that
lies beside it; `installed_metric` reads names of installed metrics only.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, fields
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, TypeGuard

from billboards.errors import InvalidInput, MissingPart, UnknownName
from billboards.metrics.base import Metric
from billboards.metrics.parts import part_of, split_part
from billboards.metrics.spelling import cut_name, cut_options, read_value

#: Whatever a metric may be named by.
Spec = str | Path | Metric | type[Metric] | Callable[..., Sequence[float]]

GROUP = "billboards.metrics"
#: What reads `PREFIX:WHAT`, by where it stands: packs stand in a room above this one, which is entered when asked for.
READERS = {
    "pack": EntryPoint("pack", "billboards.run.packs:open_pack", "billboards.metric_readers"),
    "evaluate": EntryPoint("evaluate", "billboards.metrics.hf_evaluate:open_evaluate", "billboards.metric_readers"),
}
#: Readers of what takes options.
_TAKE_OPTIONS = frozenset({"evaluate"})


def metric(spec: Spec, **options: Any) -> Metric:
    """The metric that is meant by a name, a file or a function.

    spec: an installed name, with options or without, in any case: "BLEU", "chrF(beta=1)", "bertscore"; a part of its
        scores: "ROUGE-L[recall]"; "pack:NAME" or "pack:FOLDER" of a pack that was built; "evaluate:NAME" of a module
        of Hugging Face's evaluate that was fetched before, or "evaluate:./FOLDER" of one that lies here; a Python
        file with `score(outputs, references, inputs)`: "./mine.py"; a function that takes `outputs`, and `references`
        or `inputs` where it needs them, and returns a number for each output; or a metric, which is given back.
    options: an installed metric's options, as in `metric("chrF", beta=1)`; those of `compute` for a module of
        evaluate; for a function `name` and `higher_is_better`.

    Example:

        bb.metric("chrF(beta=1)").score(["a cat"], ["the cat"])
        bb.score(board, ["BLEU", "./mine.py", function])
    """
    if isinstance(spec, str) and (reader := _reader(spec)) is not None:
        if reader not in _TAKE_OPTIONS:
            _refuse_options(spec, options)
        opened: Metric = READERS[reader].load()(spec.partition(":")[2].strip(), **options)
        return opened
    if isinstance(spec, str) and not is_file(spec):
        return _installed_metric(spec, options)
    if isinstance(spec, str | Path):
        from billboards.metrics.own import open_metric_file

        _refuse_options(str(spec), options)
        return open_metric_file(spec)
    if isinstance(spec, Metric):
        _refuse_options(spec.name, options)
        return spec
    if isinstance(spec, type) and issubclass(spec, Metric):
        return _made(spec.card.name, spec, options)
    if callable(spec) and not isinstance(spec, type):
        from billboards.metrics.own import function_metric

        return function_metric(spec, **options)
    raise InvalidInput(f"{spec!r} is no metric; give a name, a Python file, a function or a Metric")


def metric_for(language: str | None, spec: Spec) -> Metric:
    """The metric meant by a name, file or function, as texts in a language ask for it; one made already as it is."""
    made = metric(spec)
    return made if isinstance(spec, Metric) else made.for_language(language)


def metrics_named(specs: Spec | Iterable[Spec], language: str | None = None) -> list[Metric]:
    """The metrics meant by some names, files and functions, or by a single one, for a language; each once."""
    made = [metric_for(language, spec) for spec in specs_listed(specs)]
    return list({each.signature: each for each in made}.values())


def specs_listed(specs: Spec | Iterable[Spec]) -> tuple[Spec, ...]:
    """Some names, files and functions, or a single one, as a list."""
    if isinstance(specs, str | Path | Metric | type) or not isinstance(specs, Iterable):
        return (specs,)
    return tuple(specs)


def board_metric(spec: str, language: str | None) -> Metric:
    """A metric that a board's file names: an installed one, a pack or a module fetched before; never a file."""
    refuse_files(spec)
    if _reader(spec) is not None:
        return metric_for(language, spec)
    return installed_metric(spec).for_language(language)


def column_name(spec: Any) -> Any:
    """The name of the column that a file, a function or the like fills; names, and what is no metric, as they are."""
    if is_name(spec):
        return spec
    if not (isinstance(spec, str | Path | Metric | type) or callable(spec)):
        return spec
    try:
        return metric(spec).name
    except MissingPart:
        # A board may hold scores of what can't be run here.
        if isinstance(spec, str):
            return spec
        raise


def refuse_files(spec: str) -> None:
    """A board may be anybody's: what its file names is no file to be run."""
    if is_file(spec):
        raise InvalidInput(f"{spec}: a board's file can't name a Python file; name it yourself, with --metric {spec}")
    if _reader(spec) == "evaluate":
        from billboards.metrics.hf_evaluate import names_path

        if names_path(spec.partition(":")[2]):
            raise InvalidInput(f"{spec}: a board's file can't name a path; name it yourself, with --metric '{spec}'")


def installed_metric(spec: str, **options: Any) -> Metric:
    """An installed metric from its name and options: ("chrF", beta=1) or "chrF(beta=1)"; no option names a file."""
    return _installed_metric(spec, options, names_files=False)


def _installed_metric(spec: str, options: Mapping[str, Any], *, names_files: bool = True) -> Metric:
    whole, part = split_part(spec)
    name, written = cut_name(whole)
    wanted = metric_class(name)
    takes = _options(wanted)
    given = {**_written_options(spec, written, takes), **options}
    if not names_files:
        _refuse_files(spec, given, takes)
    made = _made(wanted.card.name, wanted, given)
    return made if part is None else part_of(made, part)


def is_file(spec: object) -> bool:
    """Whether a metric is named by a Python file."""
    return isinstance(spec, Path) or (isinstance(spec, str) and spec.endswith(".py") and _reader(spec) is None)


def is_name(spec: object) -> TypeGuard[str]:
    """Whether a metric is given by an installed name, which a language may add options to."""
    return isinstance(spec, str) and not is_file(spec) and _reader(spec) is None


def _reader(spec: str) -> str | None:
    """What reads a name, where it is written PREFIX:WHAT."""
    reader, colon, _ = spec.partition(":")
    reader = reader.strip().casefold()
    return reader if colon and reader in READERS else None


def canonical(spec: str) -> str:
    """A name as its metric writes it, its options kept: BLEU(tokenize=zh) of bleu(tokenize=zh); others as they are."""
    match = re.match(r"\s*([^()\[\]]+?)\s*(?=[(\[]|$)", spec)
    name = None if match is None else _installed_name(match[1])
    return spec if match is None or name is None else name + spec[match.end() :]


def part_names(specs: Iterable[str]) -> tuple[str, ...]:
    """Those of some names that mean a part of a metric, as the metric writes itself."""
    return tuple(canonical(spec) for spec in specs if split_part(spec)[1] is not None)


def metric_names() -> tuple[str, ...]:
    """The names of all metrics that are installed, sorted."""
    return tuple(_offers())


def metric_class(name: str) -> type[Metric]:
    """The class behind an installed metric's name, in any case."""
    written = _installed_name(name)
    if written is None:
        raise UnknownName("metric", name, metric_names())
    _check_unique(written)
    point = _offers()[written][0]
    try:
        loaded = point.load()
    except ImportError as error:
        raise MissingPart(f"metric {written} needs a package that is not installed: {error}") from error
    except AttributeError as error:
        raise InvalidInput(f"entry point {written} = {point.value} leads nowhere: {error}") from error
    if not (isinstance(loaded, type) and issubclass(loaded, Metric)):
        raise InvalidInput(f"entry point {written} = {point.value} is not a billboards Metric class")
    return loaded


def _installed_name(name: str) -> str | None:
    """An installed name as it is written: this one, or the only one that differs in case alone."""
    if name in _offers():
        return name
    alike = [other for other in _offers() if other.casefold() == name.casefold()]
    return alike[0] if len(alike) == 1 else None


@cache
def _offers() -> Mapping[str, tuple[EntryPoint, ...]]:
    """Where each installed name leads: to one class, or to several, of which none can be preferred."""
    own = _own_metrics()
    offers = {name: [point] for name, point in own.items()}
    for point in entry_points(group=GROUP):
        # An installation in place may still carry the entry points of an older version of this package.
        if point.name not in own or point.dist is None or point.dist.name != "billboards":
            offers.setdefault(point.name, []).append(point)
    return {name: tuple(offers[name]) for name in sorted(offers)}


def _own_metrics() -> dict[str, EntryPoint]:
    """This package's metrics: what each module lists as `METRICS = {"NAME": Class}`, read without importing any."""
    here = Path(__file__).parent
    points = {}
    for path in here.rglob("*.py"):
        text = path.read_text("utf-8")
        start = text.find("\nMETRICS = {")
        if start >= 0:
            listed: Any = ast.parse(text[start : text.index("}", start) + 1]).body[0]
            module = ".".join(("billboards", "metrics", *path.relative_to(here).with_suffix("").parts))
            for key, value in zip(listed.value.keys, listed.value.values, strict=True):
                points[key.value] = EntryPoint(key.value, f"{module}:{value.id}", GROUP)
    return points


def _check_unique(name: str) -> None:
    """Two packages may not answer to one name: which of them scored would depend on the order of installation."""
    points = _offers()[name]
    if len(points) > 1:
        packages = ", ".join(point.dist.name if point.dist else "billboards" for point in points)
        raise InvalidInput(f"{len(points)} packages offer a metric named {name}: {packages}; keep one of them")


def _options(wanted: type[Metric]) -> dict[str, Field[Any]]:
    return {field.name: field for field in fields(wanted) if field.init}


def _made(name: str, wanted: type[Metric], given: Mapping[str, object]) -> Metric:
    takes = _options(wanted)
    for option in given:
        if option not in takes:
            raise UnknownName(f"option of {name}", option, takes)
    made = wanted(**{option: _checked(name, takes[option], value) for option, value in given.items()})
    return made.remembering(written=given)


def _refuse_files(spec: str, given: Mapping[str, object], takes: Mapping[str, Field[Any]]) -> None:
    """What comes with a board may be anybody's, and sends no file of this machine anywhere."""
    for option, value in given.items():
        if option in takes and takes[option].metadata.get("file") and re.search(r"[/\\.]", str(value)):
            raise InvalidInput(f"{spec}: a board's file can't name a file; name it yourself, with --metric '{spec}'")


def _refuse_options(name: str, options: Mapping[str, object]) -> None:
    if options:
        raise InvalidInput(f"{name} takes no options here; found {', '.join(options)}")


def _written_options(spec: str, text: str, takes: Mapping[str, Field[Any]]) -> dict[str, object]:
    return {
        key: read_value(value, takes_text=key in takes and isinstance(takes[key].default, str))
        for key, value in cut_options(spec, text)
    }


def _checked(name: str, option: Field[Any], value: object) -> object:
    """An option's value, of the type of its default."""
    wanted = type(option.default)
    if option.default is MISSING or option.default is None or type(value) is wanted:
        return value
    if wanted is float and type(value) is int and abs(value) < 2**63:
        return float(value)
    raise InvalidInput(
        f"{name}: option {option.name} must be of type {wanted.__name__}, "
        f"as in {option.name}={option.default!r}; found {value!r}"
    )
