"""A board: instances, and one row of outputs per generator (Billboards, §2.1).

A row holds one text per instance. Outputs that belong to no generator (Flickr8k, EfficientQA, paraphrase pairs) are
laid into nameless rows, the k-th output of each instance into row `#k`, so that everything downstream sees one matrix
of rows × instances; only generators are ranked.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal

from billboards.board.card import OF_JUDGMENTS, DataCard
from billboards.board.judgments import Aggregate, Dimension, Judgments
from billboards.board.scores import ImportedColumn
from billboards.board.trust import TrustRules
from billboards.errors import InvalidInput, UnknownName

Kind = Literal["machine", "human", "optimised"]
#: Whether a metric that uses no references may rank generators alone where there are references.
ReferenceFree = Literal["diagnostic", "ranks"]
Texts = tuple[str | None, ...]
ReferenceSet = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reference:
    """A human text for an instance, under the name of who wrote it."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Instance:
    """One test example: what goes in, what people wrote for it, and where it comes from."""

    id: str
    _: KW_ONLY
    references: tuple[Reference, ...] = ()
    input: str | None = None
    image: str | None = None
    document: str | None = None
    domain: str | None = None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Generator:
    """Who or what wrote a row of outputs.

    An `optimised` one was made to score high under the metric `optimised_by`: it is shown, and never ranked.
    """

    name: str
    _: KW_ONLY
    kind: Kind = "machine"
    description: str | None = None
    paper: str | None = None
    url: str | None = None
    optimised_by: str | None = None
    #: What it costs, as its authors state it; `board/costs.py` has the units.
    latency: float | None = None
    price: float | None = None
    energy: float | None = None
    parameters: float | None = None
    training_tokens: float | None = None

    @property
    def is_optimised(self) -> bool:
        return self.kind == "optimised"


@dataclass(frozen=True, kw_only=True)
class Outputs:
    """One row of the board: a generator's texts, or the k-th of the outputs that have no generator.

    `version` is a digest of the texts as they are written; the texts themselves are read when first asked for.
    """

    name: str
    generator: Generator | None
    version: str
    load: Callable[[], Texts] = field(repr=False, compare=False)
    ids: tuple[str | None, ...] = field(default=(), repr=False)

    @cached_property
    def texts(self) -> Texts:
        return self.load()

    @property
    def is_optimised(self) -> bool:
        """Whether the row was made to score high, so that it takes no part in what is said of others."""
        return self.generator is not None and self.generator.is_optimised


@dataclass(frozen=True, kw_only=True, slots=True)
class Slice:
    """The part of a board that a ranking speaks of; an empty one is the whole board."""

    domain: str | None = None
    document: str | None = None
    tag: str | None = None

    def __bool__(self) -> bool:
        return any(value is not None for value in (self.domain, self.document, self.tag))

    def holds(self, instance: Instance) -> bool:
        return (
            (self.domain is None or instance.domain == self.domain)
            and (self.document is None or instance.document == self.document)
            and (self.tag is None or self.tag in instance.tags)
        )

    def __str__(self) -> str:
        named = (("domain", self.domain), ("document", self.document), ("tag", self.tag))
        return ", ".join(f"{key} {value}" for key, value in named if value is not None) or "whole board"


@dataclass(frozen=True, kw_only=True, repr=False)
class Board:
    """One generation task with a test set, its rows and what people said of them."""

    name: str
    instances: tuple[Instance, ...]
    rows: tuple[Outputs, ...]
    judgments: Judgments = field(default_factory=Judgments)
    dimensions: Mapping[str, Dimension] = field(default_factory=dict)
    aggregates: Mapping[str, Aggregate] = field(default_factory=dict)
    ranks: str | None = None
    metrics: tuple[str, ...] = ()
    imported: tuple[ImportedColumn, ...] = ()
    lead: Literal["imported", "own"] = "imported"
    references_used: ReferenceSet | None = None
    input_language: str | None = None
    output_language: str | None = None
    card: DataCard = field(default_factory=DataCard)
    reference_free: ReferenceFree = "diagnostic"
    #: What ranks the generators unless somebody asks for another: a metric, "ensemble" or "people".
    by: str | None = None
    #: Campaigns whose annotators are not persons: their names stand for places in a list.
    anonymous: tuple[str, ...] = ()
    #: Judgments before those that rank, agreement with which stands beside.
    before: str | None = None
    #: What the owner lets count.
    trust: TrustRules = field(default_factory=TrustRules)
    #: The folder the board was opened from; where its computed scores and rankings are kept.
    home: Path | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        sizes = {
            "instances": len(self.instances),
            "generators": len(self.generators),
            "judgments": len(self.judgments),
            "imported metrics": len(self.imported),
        }
        return f"<Board {self.name}: {', '.join(f'{count:,} {what}' for what, count in sizes.items())}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: sizes, what ranks, and who takes part."""
        from html import escape

        facts = {
            "instances": f"{len(self.instances):,}",
            "generators": ", ".join(generator.name for generator in self.generators) or "none",
            "judgments": f"{len(self.judgments):,}",
            "ranked by people's": self.ranks or "–",
            "imported metrics": ", ".join(column.name for column in self.imported) or "none",
        }
        rows = "".join(
            f'<tr><th scope="row" style="text-align:left">{escape(fact)}</th>'
            f'<td style="text-align:left">{escape(value)}</td></tr>'
            for fact, value in facts.items()
        )
        return f"<table><caption>{escape(self.name)}</caption><tbody>{rows}</tbody></table>"

    @cached_property
    def generators(self) -> tuple[Generator, ...]:
        return tuple(row.generator for row in self.rows if row.generator is not None)

    @cached_property
    def position(self) -> Mapping[str, int]:
        """Where an instance stands, by its id."""
        return {instance.id: k for k, instance in enumerate(self.instances)}

    @cached_property
    def documents(self) -> tuple[str, ...]:
        """The document of every instance, by a name of its own; an instance without one is its own document."""
        return tuple(f"document {i.document}" if i.document else f"instance {i.id}" for i in self.instances)

    @cached_property
    def row_position(self) -> Mapping[str, int]:
        """Where a row stands, by its name."""
        return {row.name: k for k, row in enumerate(self.rows)}

    @cached_property
    def reference_names(self) -> ReferenceSet:
        """The names under which references stand, in order of first appearance."""
        return tuple(dict.fromkeys(ref.name for instance in self.instances for ref in instance.references))

    @property
    def references(self) -> ReferenceSet:
        """The reference set that ranks: the one the board names, else every reference there is."""
        return self.reference_names if self.references_used is None else self.references_used

    @property
    def free_may_rank(self) -> bool:
        """Whether a metric without references may rank generators alone: the owner says so, or there are none."""
        return self.reference_free == "ranks" or not self.references

    @cached_property
    def missing_facts(self) -> tuple[str, ...]:
        """The facts of the data card that a reader needs and nobody has stated; see `card_facts` for their names."""
        judged = len(self.judgments) > 0
        missing = [name for name in self.card.missing() if judged or name not in OF_JUDGMENTS]
        if self.output_language is None and not self.card.languages:
            missing.append("output-language")
        undefined = (name for name, dimension in self.dimensions.items() if not (dimension.definition or "").strip())
        return (*missing, *(f"definition.{name}" for name in undefined))

    @property
    def is_draft(self) -> bool:
        """Whether facts are missing from the data card: such a board is for its owner's eyes until they are stated."""
        return bool(self.missing_facts)

    def generator(self, name: str) -> Generator:
        for generator in self.generators:
            if generator.name == name:
                return generator
        raise UnknownName("generator", name, (g.name for g in self.generators))

    def row(self, name: str) -> Outputs:
        if name not in self.row_position:
            raise UnknownName("generator", name, self.row_position)
        return self.rows[self.row_position[name]]

    def aggregate(self, name: str | None = None) -> Aggregate:
        """The aggregate of judgments that ranks, or another one by name."""
        name = self.ranks if name is None else name
        if name is None:
            raise InvalidInput(
                f"board {self.name}: no judgments to rank metrics by; "
                "add judgments/*.jsonl and name an aggregate as `ranks` in board.toml"
            )
        if name in self.aggregates:
            return self.aggregates[name]
        if name in self.dimensions:
            return Aggregate(name, (name,))
        raise UnknownName("aggregate or dimension", name, (*self.aggregates, *self.dimensions))

    def check_references(self, names: Iterable[str]) -> ReferenceSet:
        """The names as a reference set, in the board's own order."""
        wanted = set(names)
        for name in sorted(wanted - set(self.reference_names)):
            raise UnknownName("reference", name, self.reference_names)
        return tuple(name for name in self.reference_names if name in wanted)

    def reference_texts(self, names: ReferenceSet) -> list[tuple[str, ...]]:
        """The texts of a reference set, instance by instance; an instance may lack some of them."""
        wanted = set(names)
        return [tuple(ref.text for ref in i.references if ref.name in wanted) for i in self.instances]

    def is_reference(self, row: Outputs, names: ReferenceSet) -> bool:
        """Whether a row's own text stands in a reference set, so that a metric would compare it with itself."""
        if row.name in names:
            return True
        if row.generator is None or row.generator.kind != "human":
            return False
        return any(self._written_by(row, name) for name in names)

    def _written_by(self, row: Outputs, reference: str) -> bool:
        """Whether every text of a row is this reference's; the first difference settles it."""
        written = False
        for own, instance in zip(row.texts, self.instances, strict=True):
            if own is not None:
                if own != next((ref.text for ref in instance.references if ref.name == reference), None):
                    return False
                written = True
        return written

    @cached_property
    def instances_version(self) -> str:
        return digest(i.id for i in self.instances)

    def context_version(self, *, references: ReferenceSet, inputs: bool) -> str:
        """A digest of all that a metric sees beside the output: instance ids, language, references, inputs."""
        if (references, inputs) not in self._contexts:
            self._contexts[references, inputs] = self._context_version(references, inputs)
        return self._contexts[references, inputs]

    @cached_property
    def _contexts(self) -> dict[tuple[ReferenceSet, bool], str]:
        return {}

    def _context_version(self, references: ReferenceSet, inputs: bool) -> str:
        parts: list[str] = [self.instances_version, self.output_language or ""]
        if references:
            wanted = set(references)
            chosen = ([(r.name, r.text) for r in i.references if r.name in wanted] for i in self.instances)
            parts.append(digest(map(_json, chosen)))
        if inputs:
            parts.append(digest(json.dumps([i.input, i.image]) for i in self.instances))
        return digest(parts)

    @cached_property
    def version(self) -> str:
        """A digest of everything a ranking can depend on."""
        return self.version_of(self.rows)

    def version_of(self, rows: Iterable[Outputs]) -> str:
        """The version that the board would have with these rows alone."""
        return digest(
            (
                self.context_version(references=self.reference_names, inputs=True),
                digest(json.dumps([i.document, i.domain, i.tags]) for i in self.instances),
                *(json.dumps([row.name, row.version, row.generator and row.generator.kind]) for row in rows),
                self.judgments.version,
                json.dumps([[name, *d.affine(), *d.derivation()] for name, d in self.dimensions.items()]),
                json.dumps(
                    [
                        [name, a.dimensions, a.campaigns, *((a.standardise, a.ddof) if a.standardise else ())]
                        for name, a in self.aggregates.items()
                    ]
                ),
                *(
                    json.dumps(
                        [
                            c.name,
                            c.signature,
                            c.references,
                            c.is_ensemble,
                            *([True] * c.is_statistic),
                            *filter(None, [c.computed_by]),
                            *(["scores only"] * c.scores_only),
                        ]
                    )
                    for c in self.imported
                ),
                json.dumps(
                    [self.lead, self.input_language, self.output_language]
                    + [self.reference_free] * (self.reference_free != "diagnostic")
                ),
                *((json.dumps([self.by, self.anonymous]),) if self.by or self.anonymous else ()),
                *((json.dumps(["trust", *self.trust.facts]),) if self.trust.facts else ()),
            )
        )

    def select(self, part: Slice) -> tuple[int, ...]:
        """Positions of the instances in a slice; never empty."""
        chosen = tuple(k for k, instance in enumerate(self.instances) if part.holds(instance))
        if not chosen:
            raise UnknownName("part of the board", str(part), self._parts())
        return chosen

    def _parts(self) -> set[str]:
        parts = {f"tag {tag}" for i in self.instances for tag in i.tags}
        parts |= {f"domain {i.domain}" for i in self.instances if i.domain is not None}
        return parts | {f"document {i.document}" for i in self.instances if i.document is not None}


#: JSON with characters as they are; an encoder that is made once writes a million short texts in half the time.
_json = json.JSONEncoder(ensure_ascii=False).encode


def digest(lines: Iterable[str]) -> str:
    """A short name for a sequence of strings; the same everywhere and for ever."""
    total = hashlib.sha256()
    for line in lines:
        total.update(line.encode("utf-8", "surrogatepass"))
        total.update(b"\n")
    return total.hexdigest()[:16]


def generator_lines(instances: Sequence[Instance], texts: Texts) -> list[str]:
    """A generator's file, line by line, as the folder format writes it."""
    return [
        f'{{"instance": {_json(instance.id)}, "text": {_json(text)}}}'
        for instance, text in zip(instances, texts, strict=True)
        if text is not None
    ]


def row_of(generator: Generator, instances: Sequence[Instance], texts: Texts) -> Outputs:
    """A generator's row from texts in memory, with the version its written file will have."""
    version = digest(generator_lines(instances, texts))
    return Outputs(name=generator.name, generator=generator, version=version, load=lambda: texts)


def loose_rows(instances: Sequence[Instance], outputs: Iterable[tuple[str, str, str]]) -> tuple[Outputs, ...]:
    """Rows `#1`, `#2`, … from outputs without a generator, given as (instance id, output id, text)."""
    of_instance: dict[str, list[tuple[str, str]]] = {instance.id: [] for instance in instances}
    for instance, name, text in outputs:
        of_instance[instance].append((name, text))
    depth = max((len(texts) for texts in of_instance.values()), default=0)
    return tuple(_loose_row(k, list(of_instance.values())) for k in range(depth))


def _loose_row(k: int, of_instance: list[list[tuple[str, str]]]) -> Outputs:
    chosen = [texts[k] if k < len(texts) else None for texts in of_instance]
    texts = tuple(None if output is None else output[1] for output in chosen)
    ids = tuple(None if output is None else output[0] for output in chosen)
    return Outputs(
        name=f"#{k + 1}",
        generator=None,
        version=digest(json.dumps(output) for output in chosen),
        load=lambda: texts,
        ids=ids,
    )
