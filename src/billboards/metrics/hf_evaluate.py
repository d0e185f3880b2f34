"""Modules of Hugging Face's `evaluate` as metrics: `evaluate:google_bleu`, `evaluate:rouge(use_stemmer=True)[rouge1]`.

A module gets the outputs as `predictions`, and `references` and `sources` where it takes them. What stands in brackets
goes to its `compute`. Where `compute` gives a list with a number for each output (BERTScore), these are the sentence
scores, and their mean is the generator's value. Where it gives one number, that of all outputs together is the
generator's value, and each sentence score is the number of a call with this output alone.

Modules are code. One is run only where it was named by a path, or fetched before by whoever uses this machine: nothing
is downloaded here, and a board's file can name no path.
"""

from __future__ import annotations

import ast
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from numbers import Real
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from billboards.errors import InvalidInput, MetricFailed, MissingPart, UnknownName
from billboards.metrics.base import Batch, CardedMetric, Counts, Floats, Item, MetricCard
from billboards.metrics.parts import split_part
from billboards.metrics.spelling import cut_name, cut_options, read_value

PREFIX = "evaluate:"
#: Which of the numbers that a module gives is the score, unless another is named in square brackets.
PRIMARY = {
    "bertscore": "f1",
    "bleu": "bleu",
    "bleurt": "scores",
    "character": "cer_score",
    "charcut_mt": "charcut_mt",
    "chrf": "score",
    "comet": "scores",
    "exact_match": "exact_match",
    "frugalscore": "scores",
    "google_bleu": "google_bleu",
    "mauve": "mauve",
    "meteor": "meteor",
    "nist_mt": "nist_mt",
    "rouge": "rougeL",
    "sacrebleu": "score",
    "sari": "sari",
    "ter": "score",
}
#: Modules that run a model: what each gives for every output is known, so that none is loaded merely to look.
LISTS = {"bertscore": ("f1", "precision", "recall"), "bleurt": ("scores",), "comet": ("scores",)}
#: Modules under which lower is better.
LOWER = frozenset({"cer", "character", "charcut_mt", "perplexity", "ter", "wer"})
#: Modules that compare two sets of texts: a single output has no score.
SETS = frozenset({"mauve"})
#: What a module may be given, under the names that `evaluate` has for outputs, references and inputs.
ROLES = ("predictions", "references", "sources")
#: The seed of modules that draw at random, such as the bootstrap behind ROUGE's numbers.
SEED = 0
#: A module is tried on these, to learn what it gives; there are as many as no list of n-gram orders has.
_TRIAL = tuple(
    f"The {vehicle} was late again, and nobody said why."
    for vehicle in ("bus", "boat", "train", "plane", "tram", "coach", "cab")
)
#: The modules of `evaluate` keep what they are given until they have computed, so only one call runs at a time.
_ALONE = threading.RLock()


@dataclass(frozen=True)
class EvaluateMetric(CardedMetric):
    """A module of `evaluate`: where it is, what goes to its `compute`, and which of its numbers is the score."""

    module: str
    config_name: str | None
    #: Options of `compute`, each as Python writes it, in the order in which they were given.
    arguments: tuple[tuple[str, str], ...]
    #: The digest of the module's code, and the version of `evaluate`.
    digest: str
    version: str
    #: The numbers that are kept, the score first, and whether the module gives a list of each.
    numbers: tuple[str, ...]
    has_lists: bool
    #: Whether it takes several references for an output.
    takes_several: bool
    may_abstain: ClassVar[bool] = True

    def __post_init__(self) -> None:
        # What the contract asks of a class is here a matter of the module.
        object.__setattr__(self, "corpus", "mean" if self.has_lists else "system")

    @property
    def full_name(self) -> str:
        return self.name

    @property
    def signature(self) -> str:
        needs = (("references", self.card.needs_references), ("input", self.card.needs_input))
        facts = (
            *(f"{option}:{value}" for option, value in self.arguments),
            *(() if self.config_name is None else (f"config_name:{self.config_name}",)),
            f"number:{self.numbers[0]}",
            f"seed:{SEED}",
            f"module:{self.digest}",
            f"evaluate:{self.version}",
            f"needs:{'+'.join(need for need, has in needs if has) or 'none'}",
            f"higher_is_better:{'yes' if self.card.higher_is_better else 'no'}",
        )
        return "|".join((f"{PREFIX}{_shown(self.module)}", *facts))

    def score_batch(self, batch: Batch) -> Mapping[str, Floats]:
        if not self.has_lists:
            return self._alone(batch)
        given = self._computed(batch) if len(batch) else {}
        return {number: self._list(given, number, len(batch)) for number in self.numbers}

    def score_counted(self, batch: Batch) -> tuple[Mapping[str, Floats], Counts | None]:
        counts = np.array([[self._together(batch), len(batch)]]) if len(batch) and not self.has_lists else None
        return self.score_batch(batch), counts

    def corpus_score(self, batch: Batch) -> float:
        return self._together(batch) if len(batch) and not self.has_lists else super().corpus_score(batch)

    def _together(self, batch: Batch) -> float:
        """The number of all outputs in one call."""
        value = self._number(self._computed(batch), self.numbers[0])
        if not np.isfinite(value):
            raise MetricFailed(f"{self.name}: scored {len(batch)} outputs together as {value}; it must be finite")
        return value

    def _alone(self, batch: Batch) -> dict[str, Floats]:
        """The numbers of calls with one output each; what appears twice is asked for once."""
        rows: dict[Item, list[float]] = {}
        for item in batch.items() if _short(self.module) not in SETS else ():
            if item not in rows:
                given = self._computed(Batch([item.output], [item.references], [item.input or ""], batch.language))
                rows[item] = [self._number(given, number) for number in self.numbers]
        none = [np.nan] * len(self.numbers)
        scores = np.array([rows.get(item, none) for item in batch.items()]).reshape(len(batch), len(self.numbers))
        return {number: scores[:, k] for k, number in enumerate(self.numbers)}

    def _computed(self, batch: Batch) -> Mapping[str, Any]:
        """What the module gives for these outputs."""
        several = [k for k, texts in enumerate(batch.references) if len(texts) > 1 and not self.takes_several]
        if several:
            raise MetricFailed(
                f"{self.name} takes one reference for an output, and {batch.outputs[several[0]][:60]!r} has "
                f"{len(batch.references[several[0]])}; choose one, as with --references"
            )
        given: dict[str, Any] = {"predictions": list(batch.outputs)}
        if self.card.needs_references:
            texts = [list(row) for row in batch.references]
            given["references"] = texts if self.takes_several else [row[0] for row in texts]
        if self.card.needs_input:
            given["sources"] = list(batch.inputs)
        arguments = {option: ast.literal_eval(value) for option, value in self.arguments}
        return _computed(self.module, _loaded(self.module, self.config_name, self.digest), {**given, **arguments})

    def _number(self, given: Mapping[str, Any], number: str) -> float:
        value: Any = given.get(number)
        if not _is_number(value):
            raise MetricFailed(f"{self.name}: gave no number {number} this time, but {value!r}")
        return float(value)

    def _list(self, given: Mapping[str, Any], number: str, outputs: int) -> Floats:
        values = given.get(number, [])
        if not _is_list(values, outputs):
            raise MetricFailed(
                f"{self.name}: gave no list of {outputs} numbers {number}; one for each output is needed"
            )
        return np.array([float(value) for value in values], np.float64)


def open_evaluate(what: str, **options: Any) -> EvaluateMetric:
    """The metric that a module of `evaluate` is.

    what: a module's name as the hub has it, or a path to one that begins with "." or "/", with options in brackets and
        the number that is meant in square ones: "rouge(use_stemmer=True)[rouge1]", "./my_module".
    options: further options of the module's `compute`; `config_name` goes to its constructor, and
        `higher_is_better=False` says that lower is better.
    """
    asked, number, written = read_spec(what)
    given = {**written, **options}
    values = ",".join(f"{option}={_plain(value)}" for option, value in given.items())
    code = _code(asked)
    name = f"{PREFIX}{_shown(code.module)}{f'({values})' if values else ''}"
    config, higher = given.pop("config_name", None), given.pop("higher_is_better", _short(code.module) not in LOWER)
    if not isinstance(higher, bool):
        raise InvalidInput(f"{name}: higher_is_better must be True or False; found {higher!r}")
    if config is not None and not isinstance(config, str):
        raise InvalidInput(f"{name}: config_name must be a text; found {config!r}")
    arguments = tuple((option, _written(name, option, value)) for option, value in given.items())
    instance = _loaded(code.module, config, code.digest)
    takes = _inputs(name, instance)
    numbers, has_lists = LISTS.get(_short(code.module), ()), True
    if not numbers:
        tried = _computed(code.module, instance, {**_trial(takes), **given})
        numbers, has_lists = _numbers(name, _short(code.module), tried, number)
    first = _chosen(name, _short(code.module), numbers, number)
    card = MetricCard(
        name=name if number is None else f"{name}[{first}]",
        summary=f"{first} of the module {_shown(code.module)} of Hugging Face's evaluate",
        needs_references="references" in takes,
        needs_input="sources" in takes,
        higher_is_better=higher,
        licence=str(getattr(instance.info, "license", "")) or None,
        slow=_short(code.module) in LISTS,
        parts=(first, *(each for each in numbers if each != first)),
    )
    return EvaluateMetric(
        card=card,
        module=code.module,
        config_name=config,
        arguments=arguments,
        digest=code.digest,
        version=_package().__version__,
        numbers=card.parts,
        has_lists=has_lists,
        takes_several=takes.get("references") == "several",
    )


def names_path(what: str) -> bool:
    """Whether a module is named by where it lies, or an option by what may be a file."""
    module, _, written = read_spec(what)
    texts = (repr(value) for value in written.values() if not isinstance(value, int | float))
    return _is_path(module) or any(re.search(r"[/\\.]", text) for text in texts)


def read_spec(what: str) -> tuple[str, str | None, dict[str, object]]:
    """A module's name or path, the number that is meant, and its options, of "rouge(use_stemmer=True)[rouge1]"."""
    whole, number = split_part(what)
    module, brackets = cut_name(whole)
    if not _is_path(module) and not re.fullmatch(r"[\w.-]+(/[\w.-]+)?", module):
        raise InvalidInput(f"{PREFIX}{what}: {module!r} is no module's name; a path begins with ./ or /")
    return module, number, {key: read_value(value) for key, value in cut_options(f"{PREFIX}{what}", brackets)}


@dataclass(frozen=True)
class _Code:
    """A module as it is named here, and its code as Python imports it."""

    module: str
    imported: str
    digest: str


def _code(module: str) -> _Code:
    """Where a module's code is: beside the user, or among the modules that were fetched before."""
    _package()
    from evaluate.loading import LocalEvaluationModuleFactory, init_dynamic_modules

    if _is_path(module):
        path = Path(module).expanduser()
        script = path if path.suffix == ".py" else path / f"{path.resolve().name}.py"
        if not script.is_file():
            raise InvalidInput(
                f"{PREFIX}{module}: there is no file {script}; a module is a folder with a script of its name"
            )
        with _offline(module):
            local = LocalEvaluationModuleFactory(str(script.resolve())).get_module()
        return _Code(module, local.module_path, local.hash)
    fetched = Path(init_dynamic_modules()) / "metrics"
    folders = {_hub_name(folder.name): folder for folder in sorted(fetched.glob("*--*"))}
    named = {name.casefold(): name for name in folders}.get(module.casefold())
    stem = _short(named or module)
    scripts = (
        [] if named is None else sorted(folders[named].glob(f"*/{stem}.py"), key=lambda path: path.stat().st_mtime)
    )
    if named is None or not scripts:
        raise MissingPart(
            f"{PREFIX}{module} is not on this machine, and nothing is downloaded unasked; this fetches it: "
            f"python -c \"import evaluate; evaluate.load('{module}')\""
        )
    digest = scripts[-1].parent.name
    return _Code(named, f"{fetched.parent.name}.metrics.{folders[named].name}.{digest}.{stem}", digest)


@cache
def _loaded(module: str, config: str | None, digest: str) -> Any:
    """A module, ready to compute; its code must still be the one that the signature names."""
    code = _code(module)
    if code.digest != digest:
        raise MetricFailed(f"{PREFIX}{module} has changed while it was in use; run the same command again")
    from evaluate.loading import import_main_class

    with _ALONE, _offline(module):
        instance = import_main_class(code.imported)(config_name=config, keep_in_memory=True, hash=digest, seed=SEED)
        instance.download_and_prepare()
    return instance


def _package() -> Any:
    try:
        import evaluate
    except ImportError as error:
        raise MissingPart(
            f"{PREFIX}NAME needs Hugging Face's evaluate, which is not installed; "
            "install it with `pip install 'billboards[evaluate]'`"
        ) from error
    return evaluate


@contextmanager
def _offline(module: str) -> Iterator[None]:
    """Nothing is fetched meanwhile, as far as `evaluate` and the hub's own package do it."""
    import evaluate
    import huggingface_hub

    switches = ((evaluate.config, "HF_EVALUATE_OFFLINE"), (huggingface_hub.constants, "HF_HUB_OFFLINE"))
    before = [getattr(place, switch) for place, switch in switches]
    try:
        for place, switch in switches:
            setattr(place, switch, True)
        yield
    except ImportError as error:
        raise MissingPart(f"{PREFIX}{module} needs what is not installed: {error}") from error
    except (MetricFailed, InvalidInput, MissingPart):
        raise
    except Exception as error:  # anybody's code may raise anything, and whoever asked for it wants to know what
        raise MetricFailed(f"{PREFIX}{module}: {type(error).__name__}: {error}") from error
    finally:
        for (place, switch), value in zip(switches, before, strict=True):
            setattr(place, switch, value)


def _computed(module: str, instance: Any, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a module's `compute` returns, by name; a number alone is named as the module."""
    with _ALONE, _offline(module):
        result = instance.compute(**given)
    if isinstance(result, Mapping):
        return result
    return {_short(module): result} if _is_number(result) else dict(vars(result))


def _inputs(name: str, instance: Any) -> dict[str, str]:
    """What a module takes, by its names; of references whether one or several for an output."""
    features = instance.features if isinstance(instance.features, list) else [instance.features]
    for form in sorted(features, key=lambda form: not _is_texts(form.get("references"))):
        references = form.get("references")
        takes_texts = all(_is_text(kind) or (role == "references" and _is_texts(kind)) for role, kind in form.items())
        if "predictions" in form and set(form) <= set(ROLES) and takes_texts:
            return {**dict.fromkeys(form, "one"), **({"references": "several"} if _is_texts(references) else {})}
    raise InvalidInput(
        f"{name} can't score texts: it takes {features[0]}; what has predictions, references and sources can"
    )


def _trial(takes: Mapping[str, str]) -> dict[str, Any]:
    """Texts to try a module on."""
    others = [text.replace("nobody", "no one") for text in _TRIAL]
    given: dict[str, Any] = {role: list(_TRIAL) for role in takes}
    if "references" in takes:
        given["references"] = [[text] for text in others] if takes["references"] == "several" else others
    return given


def _numbers(name: str, module: str, tried: Mapping[str, Any], number: str | None) -> tuple[tuple[str, ...], bool]:
    """The numbers that a module gives, and whether each is a list with one for every output."""
    single = tuple(key for key, value in tried.items() if _is_number(value))
    lists = tuple(key for key, value in tried.items() if _is_list(value, len(_TRIAL)))
    if not single and not lists:
        raise MetricFailed(f"{name}: gave no number, but {', '.join(tried) or 'nothing'}")
    wanted = number or PRIMARY.get(module)
    return (lists, True) if wanted in lists or not single else (single, False)


def _chosen(name: str, module: str, numbers: Sequence[str], number: str | None) -> str:
    """The number that is the score: the one named, the usual one, or the only one."""
    if number is not None:
        written = {each.casefold(): each for each in numbers}.get(number.casefold())
        if written is None:
            raise UnknownName(f"number of {name}", number, numbers)
        return written
    if PRIMARY.get(module) in numbers:
        return PRIMARY[module]
    if len(numbers) > 1:
        listed = ", ".join(f"{name}[{each}]" for each in numbers)
        raise InvalidInput(f"{name} gives {len(numbers)} numbers; say which is the score: {listed}")
    return numbers[0]


def _is_path(module: str) -> bool:
    return module.startswith((".", "/", "~"))


def _short(module: str) -> str:
    """A module's name, without its folder or whose it is on the hub."""
    return (Path(module).resolve() if _is_path(module) else Path(module)).name.removesuffix(".py")


def _shown(module: str) -> str:
    """A module's name in tables: where it lies is nobody's business, whose it is on the hub is."""
    return _short(module) if _is_path(module) else module


def _hub_name(folder: str) -> str:
    """A module's name on the hub, of the folder in which it was kept; the hub's own modules have no owner."""
    owner, _, name = folder.partition("--")
    return name if owner == "evaluate-metric" else f"{owner}/{name}"


def _written(name: str, option: str, value: object) -> str:
    """An option's value as Python writes it, where that says everything."""
    text = repr(value)
    try:
        same = ast.literal_eval(text) == value
    except (ValueError, SyntaxError):
        same = False
    if not same or "|" in text:
        raise InvalidInput(f"{name}: option {option} must be a number, a text or a list of them; found {value!r}")
    return text


def _plain(value: object) -> str:
    """A value as it is written in brackets."""
    return value if isinstance(value, str) and re.fullmatch(r"[A-Za-z_][\w/.-]*", value) else repr(value)


def _is_text(kind: Any) -> bool:
    return getattr(kind, "dtype", None) in ("string", "large_string")


def _is_texts(kind: Any) -> bool:
    return _is_text(kind[0] if isinstance(kind, list) and kind else getattr(kind, "feature", None))


def _is_number(value: object) -> bool:
    return isinstance(value, Real | np.number) and not isinstance(value, bool)


def _is_list(values: object, outputs: int) -> bool:
    if isinstance(values, np.ndarray):
        values = values.tolist()
    return isinstance(values, list | tuple) and len(values) == outputs and all(map(_is_number, values))
