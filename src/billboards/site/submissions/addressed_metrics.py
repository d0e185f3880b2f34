"""Metrics that come as an address: a model on the hub, an OCI image, an endpoint; each only where the owner allows it.

An address is pinned as far as it can be: a model by its commit, an image by its digest, an endpoint by the version that
its author states. What was allowed when it came in is asked again when it is opened: an owner may have thought better.
A model is fetched by a worker and read by the installed metric that it is for; nothing in it is run. An image runs
behind its engine's walls. An endpoint is sent texts, so it gets none that not everybody may read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fnmatch import fnmatchcase
from typing import Any, Literal

from billboards.errors import InvalidInput, MissingPart, Refused, UnknownName
from billboards.metrics.base import Batch, CardedMetric, Floats, Metric, MetricCard
from billboards.metrics.discovery import canonical, installed_metric, metric_class, metric_names
from billboards.metrics.languages import Language
from billboards.run.endpoints import EndpointMetric, checked_address
from billboards.run.images import ImageMetric, checked_image, fetch_image, find_engine
from billboards.run.manifest import declared_from
from billboards.run.sandbox import Limits
from billboards.site.settings import BoardSettings, MetricSettings
from billboards.site.site import Site
from billboards.site.submissions.records import Submission

Addressed = Literal["hub", "image", "endpoint"]
ADDRESSED: tuple[Addressed, ...] = ("hub", "image", "endpoint")
#: What an address of each way consists of.
PARTS: Mapping[Addressed, tuple[str, ...]] = {
    "hub": ("metric", "model", "revision"),
    "image": ("image",),
    "endpoint": ("url", "version"),
}
SPEC = re.compile(r"[\w+-]{1,60}(?:\((?:\w+=[\w-]+(?:,\w+=[\w-]+)*)\))?", re.ASCII)
MODEL = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)
REVISION = re.compile(r"[0-9a-f]{40}", re.ASCII)
VERSION = re.compile(r"[\w.+-]{1,60}", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class Address:
    """Where a metric is, and what is said of it; a model on the hub is described by the metric that reads it."""

    way: Addressed
    parts: Mapping[str, str]
    manifest: Mapping[str, Any]

    def content(self) -> bytes:
        """What is kept of it."""
        kept = {"way": self.way, **self.parts, "manifest": self.manifest}
        return json.dumps(kept, sort_keys=True, ensure_ascii=False).encode("utf-8", "replace")


def read_address(way: Addressed, parts: Mapping[str, str], manifest: Mapping[str, Any], name: str) -> Address:
    """An address with all its parts, each of the right form."""
    for part in PARTS[way]:
        if not parts.get(part):
            raise InvalidInput(f"{part} is missing; an address of this kind has {', '.join(PARTS[way])}")
    given = {part: str(parts[part]).strip() for part in PARTS[way]}
    if way == "hub":
        given["metric"] = _installed_spec(given["metric"])
        if MODEL.fullmatch(given["model"]) is None or len(given["model"]) > 200:
            raise InvalidInput(f"{given['model'][:80]!r} is no model of the hub; write owner/name")
        if REVISION.fullmatch(given["revision"]) is None:
            raise InvalidInput(f"{given['revision'][:80]!r} is no commit; pin the model by its 40 hexadecimal digits")
        return Address(way=way, parts=given, manifest={})
    if way == "image":
        checked_image(given["image"])
    else:
        checked_address(given["url"])
        if VERSION.fullmatch(given["version"]) is None:
            raise InvalidInput(f"{given['version'][:80]!r} is no version; use letters, digits and . + - _")
    named = {**manifest, "name": name}
    declared = declared_from(named, where="manifest")
    if way == "endpoint" and declared.contract().whole_generators:
        raise InvalidInput("an endpoint is sent a few outputs at a time, so it can't need the corpus; send a program")
    return Address(way=way, parts=given, manifest=named)


def _installed_spec(spec: str) -> str:
    """An installed metric as it is written, with plain options; it is loaded by a worker, not here."""
    if SPEC.fullmatch(spec) is None:
        raise InvalidInput(f"{spec[:80]!r} is no metric; write NAME or NAME(option=value), with plain words as values")
    written = canonical(spec)
    if written.partition("(")[0] not in metric_names():
        raise UnknownName("metric", spec, metric_names())
    return written


def check_allowed(settings: MetricSettings, board: BoardSettings, address: Address, *, now: float) -> None:
    """Refuse what the owner does not allow, with the reason."""
    parts = address.parts
    if address.way == "hub" and not _matches(parts["model"], settings.hub):
        raise Refused(f"this site fetches no model {parts['model']}; its owner allows {_allowed(settings.hub)}")
    if address.way == "image" and not settings.images:
        raise Refused("this site runs no images; send a program, or ask its owner for images = true under [metrics]")
    if address.way == "endpoint":
        if not _matches(parts["url"], settings.endpoints):
            raise Refused(f"this site asks no endpoint {parts['url'][:200]}; it asks {_allowed(settings.endpoints)}")
        needs = address.manifest["needs"]
        if hidden := hidden_from_endpoints(
            board, needs_references="references" in needs, inputs="input" in needs and board.withholds_inputs(now)
        ):
            raise Refused(f"an endpoint would be sent {hidden}, which not everybody may read; send a program")


def hidden_from_endpoints(board: BoardSettings, *, needs_references: bool, inputs: bool) -> str | None:
    """What of a board may not be sent out of the site."""
    if board.hidden_references and needs_references:
        return "this board's references"
    if inputs:
        return "this board's inputs"
    if not board.revealed and any(phase.blind for phase in board.phases):
        return "outputs of a blind phase"
    return None


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _allowed(patterns: Sequence[str]) -> str:
    return ", ".join(patterns) or "none"


def kept_address(site: Site, submission: Submission) -> Address:
    """The address that a submission was sent in with."""
    kept = json.loads(site.blobs.read(submission.blob))
    way: Addressed = kept["way"]
    return Address(way=way, parts={part: kept[part] for part in PARTS[way]}, manifest=kept["manifest"])


def open_address(
    site: Site, submission: Submission, board: BoardSettings, column: str, cancelled: Callable[[], bool] | None
) -> tuple[Metric, str]:
    """The metric at an address, under the name of its column, and the log of getting it."""
    address = kept_address(site, submission)
    check_allowed(site.settings.metrics, board, address, now=site.clock())
    parts = address.parts
    if address.way == "hub":
        return _fetched(parts["metric"], parts["model"], parts["revision"], column)
    declared = declared_from(address.manifest, where="manifest")
    card, contract = replace(declared.card(), name=column), declared.contract()
    seconds = site.settings.program_seconds
    if address.way == "endpoint":
        inside = site.settings.metrics.inside_endpoints
        metric = EndpointMetric(
            card, url=parts["url"], version=parts["version"], inside=inside, seconds=seconds, contract=contract
        )
        return metric, ""
    engine = find_engine()
    log = fetch_image(engine, parts["image"], cancelled=cancelled)
    limits = Limits(wall_seconds=seconds, cpu_seconds=2 * seconds, memory_bytes=site.settings.program_memory)
    return ImageMetric(card, parts["image"], engine, limits, contract), log


def _fetched(spec: str, model: str, revision: str, column: str) -> tuple[Metric, str]:
    """An installed metric with a model of the hub, which is fetched where it is not here."""
    from billboards.metrics.neural.weights import fetch, locate_folder

    wanted = metric_class(spec.partition("(")[0])
    if not {"model", "revision"} <= {field.name for field in fields(wanted)}:
        raise InvalidInput(f"{spec} reads no model of the hub; name a metric that does, such as COMET")
    try:
        locate_folder(model, revision)
        log = f"{model} at {revision} is here"
    except MissingPart:
        fetch(model, revision)
        log = f"fetched {model} at {revision}"
    opened = installed_metric(spec, model=model, revision=revision)
    return HubMetric(replace(opened.card, name=column), opened), log


@dataclass(frozen=True)
class HubMetric(CardedMetric):
    """An installed metric that reads a model of the hub, under a name of its own."""

    whole: Metric

    def __post_init__(self) -> None:
        # What the contract asks of a class is here a matter of the metric that does the work.
        for fact in ("multiple_references", "needs_corpus", "scores_together", "may_abstain", "resources"):
            object.__setattr__(self, fact, getattr(self.whole, fact))

    @property
    def signature(self) -> str:
        return "|".join((self.card.name, self.whole.signature))

    @property
    def takes_best_reference(self) -> bool:
        return self.whole.takes_best_reference

    def language_doubt(self, language: Language) -> str | None:
        return self.whole.language_doubt(language)

    def score_batch(self, batch: Batch) -> Floats | Mapping[str, Floats]:
        return self.whole.score_batch(batch)

    def score_rows(self, batches: Sequence[Batch]) -> Sequence[Floats | Mapping[str, Floats]]:
        return self.whole.score_rows(batches)


def described(card: MetricCard) -> Mapping[str, Any]:
    """What a submission's settings say of its metric once it is open."""
    return {
        "column": card.name,
        "needs_references": card.needs_references,
        "needs_input": card.needs_input,
        "higher_is_better": card.higher_is_better,
        "training_data": card.training_data,
        "deterministic": card.deterministic,
        "summary": card.summary,
    }
