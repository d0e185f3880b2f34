"""Two to six generators or metrics side by side: is the difference real, where does it lie, which outputs decide it?

Numbers and tests are those of `analyses.compare`, asked for every two. What a reader chose (who, by what, which
instance, what is marked against what) stands in the address, so that the page can be shared as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from fastapi import APIRouter

from billboards.analyses._buckets import Bucket, Kind, buckets_of, generator_buckets, metric_buckets
from billboards.analyses.compare import (
    DecidingOutput,
    GeneratorComparison,
    GeneratorPairs,
    MetricComparison,
    generator_comparison_table,
    metric_comparison_table,
    metric_pairs_table,
)
from billboards.errors import InvalidInput, NotEnoughData, UnknownName
from billboards.show.table import Table, TableColumn, mean_digits
from billboards.show.words import LOWER, listed, p_text, sided, value_text
from billboards.site.boards.masked import Look
from billboards.site.pages.explorer import PEOPLE
from billboards.site.pages.marked_spans import MarkedText, mark_errors, spans_of
from billboards.site.pages.text_differences import TOO_LONG, Marker, Piece, marked
from billboards.site.web import addresses
from billboards.site.web.asking import Ask, reading
from billboards.site.web.rendering import Body

router = APIRouter()

#: As many as can be read beside each other.
MOST = 6
#: Fields for names on the form: two more than are chosen, so that a third and a fourth can be added.
SPARE = 2
#: Outputs on which a metric and people disagree most that are shown.
DISPUTED = 6
#: The reference, as the address names what texts are marked against.
REFERENCE = "reference"
KIND_WORDS: dict[Kind, str] = {
    "length": "By length of the source",
    "domain": "By domain",
    "document": "By document",
    "tag": "By tag",
}


def show_comparison(ask: Ask) -> Body:
    """The choice of names, and their comparison where two or more were chosen."""
    look = ask.look()
    generators = [generator.name for generator in look.board.generators]
    metrics = [] if look.ranking is None else [metric.name for metric in look.ranking.metrics]
    names = read_names(ask)
    by = ask.query.get("by") or None
    context: dict[str, Any] = {"table": None, "problem": None, "kind": "", "share": "", "texts": None}
    context |= {"tables": [], "links": {}, "sides": [], "buckets": [], "disputed": None, "choices": [], "headline": []}
    if len(names) > 1:
        kind = _kind(names, generators, metrics)
        context |= {"kind": kind, "share": _address(look, names, by=by, instance=ask.query.get("instance"))}
        try:
            context |= _of_generators(ask, look, names, by) if kind == "generators" else _of_metrics(look, names)
        except NotEnoughData as error:
            context["problem"] = str(error)
    return ask.board_page(
        "compare",
        look,
        "compare",
        heading=_heading(names),
        names=names,
        generators=generators,
        metrics=metrics if look.judged else [],
        places=[*names, *[""] * SPARE][: max(2 + SPARE, min(MOST, len(names) + SPARE))],
        most=MOST,
        by=by or "",
        kind_words=KIND_WORDS,
        instance=ask.query.get("instance") or "",
        against=ask.query.get("against") or "",
        **context,
    )


def read_names(ask: Ask) -> list[str]:
    """Who is compared: `of`, as often as wanted; `first` and `second` in addresses from before."""
    asked = [*ask.query.getlist("of"), ask.query.get("first") or "", ask.query.get("second") or ""]
    names = [name for name in asked if name]
    twice = next((name for k, name in enumerate(names) if name in names[:k]), None)
    if twice is not None:
        raise InvalidInput(f"{twice} is compared with itself; choose different ones")
    if len(names) > MOST:
        raise InvalidInput(f"{len(names)} are chosen; at most {MOST} can be compared at once")
    return names


def _heading(names: Sequence[str]) -> str:
    if len(names) < 2:
        return "Compare"
    return f"{names[0]} against {names[1]}" if len(names) == 2 else f"{listed(names, most=MOST)} compared"


def _kind(names: Sequence[str], generators: Sequence[str], metrics: Sequence[str]) -> str:
    """Whether generators or metrics are compared; one of each is refused."""
    are_generators = [name in generators for name in names]
    if all(are_generators):
        return "generators"
    if any(are_generators):
        generator, other = names[are_generators.index(True)], names[are_generators.index(False)]
        if other not in metrics:
            raise UnknownName("generator", other, generators)
        raise InvalidInput(f"{generator} is a generator and {other} is none; choose generators only, or metrics only")
    return "metrics"


def _address(look: Look, names: Sequence[str], **query: object) -> str:
    """The page as it is, to be shared."""
    return addresses.board(look.name, "compare", of=list(names), **query)


def _of_generators(ask: Ask, look: Look, names: Sequence[str], by: str | None) -> dict[str, Any]:
    pair = look.compare_generators(names[0], names[1], by)
    decided_by = pair.decided_by
    pairs = look.compare_every_two(names, decided_by)
    links = {("name", s.name): addresses.metric(look.name, s.name) for s in pair.scores if s.name != PEOPLE}
    tables = [generator_comparison_table(pair)]
    if len(names) > 2:
        tables = [means_table(look, names), generator_pairs_table(pairs)]
        scored = look.matrix.view.scores.names
        links = {("name", name): addresses.metric(look.name, name) for name in scored}
    rows = [look.board.row_position[name] for name in names]
    scores = look.matrix.shown(decided_by)[rows]
    deciding = [*pair.for_first, *pair.for_second]
    return {
        "headline": [_pair_words(pairs)],
        "tables": tables,
        "links": links,
        "choices": [score.name for score in pair.scores],
        "decided_by": decided_by,
        "buckets": _grouped(generator_buckets(buckets_of(look.board), scores)),
        "bucket_digits": mean_digits(float(score) for score in scores[np.isfinite(scores)]),
        "sides": _sides(pair) if len(names) == 2 else [],
        "disputed": _disputed(look, names, decided_by),
        "texts": _texts(ask, look, names, decided_by, [output.instance for output in deciding]),
    }


def _of_metrics(look: Look, names: Sequence[str]) -> dict[str, Any]:
    comparison = look.compare_metrics(names[0], names[1])
    tables = [metric_comparison_table(comparison)]
    if len(names) > 2:
        tables = [metric_pairs_table(look.compare_metrics_among(names))]
    view = look.matrix.view
    buckets = () if view.pairs is not None else metric_buckets(view, buckets_of(look.board), names)
    return {
        "headline": [_metrics_words(comparison)] if len(names) == 2 else [],
        "tables": tables,
        "buckets": _grouped(buckets),
        "sides": _sides(comparison) if len(names) == 2 else [],
        "of_pairs": comparison.statistic == "kendall",
        "decided_by": "",
    }


def _pair_words(pairs: GeneratorPairs) -> str:
    """Which differences are sure, in one sentence."""
    sure = [pair for pair in pairs.compared if pair.holm < 0.05]
    if not sure:
        return f"By {pairs.decided_by}, no difference here is sure: each of them may be chance."
    words = [f"{a} is above {b}" for a, b in (_ordered(pair.first, pair.second, pair) for pair in sure)]
    rest = "" if len(sure) == len(pairs.compared) else " The other differences may be chance."
    return f"By {pairs.decided_by}, {listed(words, most=5)}.{rest}"


def _ordered(first: str, second: str, pair: Any) -> tuple[str, str]:
    ahead = pair.tested.difference > 0
    return (first, second) if ahead == pair.tested.higher_is_better else (second, first)


def _metrics_words(comparison: MetricComparison) -> str:
    p, difference = comparison.p_permutation, comparison.difference
    if difference is None or p is None:
        return ""
    ahead, behind = (comparison.first, comparison.second) if difference > 0 else (comparison.second, comparison.first)
    if p >= 0.05:
        return f"{ahead} agrees a little better with people than {behind}, but this may be chance (p {p_text(p)})."
    return f"{ahead} agrees better with people than {behind} (p {p_text(p)})."


def means_table(look: Look, names: Sequence[str]) -> Table:
    """The means of several generators on the instances that all of them have, under people and every metric."""
    matrix = look.matrix
    rows = [look.board.row_position[name] for name in names]
    columns = [TableColumn("name", "score", align="left", kind="name")]
    columns += [TableColumn(f"g{k}", name, digits=3) for k, name in enumerate(names)]
    columns.append(TableColumn("n", "n", priority=4))
    lines = []
    for name in (*([PEOPLE] if matrix.has_people else []), *matrix.names):
        values = matrix.shown(name)[rows]
        both = values[:, np.isfinite(values).all(axis=0)]
        if both.shape[1]:
            means: dict[str, object] = {f"g{k}": float(mean) for k, mean in enumerate(both.mean(axis=1))}
            mark = LOWER if matrix.head(name) != name else ""
            lines.append({"name": name, "mark": mark, "n": both.shape[1], **means})
    title = f"{look.name}: means on the instances that all have"
    return Table(title, tuple(columns), tuple(lines), ("n: the instances that all of them have.",))


def generator_pairs_table(pairs: GeneratorPairs) -> Table:
    """Every two of several generators under one score."""
    columns = (
        TableColumn("first", "first", align="left"),
        TableColumn("second", "second", align="left"),
        TableColumn("difference", "difference", digits=3),
        TableColumn("p", "p", kind="p"),
        TableColumn("holm", "Holm", kind="p"),
        TableColumn("n", "n", priority=4),
    )
    rows = tuple(
        {
            "first": pair.first,
            "second": pair.second,
            "difference": pair.tested.difference,
            "p": pair.tested.p,
            "holm": pair.holm,
            "n": pair.tested.n,
        }
        for pair in pairs.compared
    )
    note = (
        f"difference: first minus second by {pairs.decided_by}. p: {sided(pairs.sides)} paired permutation test, "
        f"{pairs.draws:,} draws; Holm corrects it for {len(rows)} pairs."
    )
    return Table(f"{pairs.board}: every two by {pairs.decided_by}", columns, rows, (note,))


def _grouped(buckets: Sequence[Bucket]) -> list[tuple[str, list[Bucket]]]:
    """Buckets by their kind, with the kind in words."""
    kinds = dict.fromkeys(bucket.kind for bucket in buckets)
    return [(KIND_WORDS[kind], [bucket for bucket in buckets if bucket.kind == kind]) for kind in kinds]


def _disputed(look: Look, names: Sequence[str], decided_by: str) -> dict[str, Any] | None:
    """The outputs of the compared on which a metric and people disagree most; None where people said nothing."""
    matrix = look.matrix
    if not look.judged or not matrix.has_people or not matrix.names:
        return None
    lead = None if look.ranking is None else look.ranking.ranked_by
    metric = decided_by if decided_by in matrix.names else lead if lead in matrix.names else matrix.names[0]
    rows = [look.board.row_position[name] for name in names]
    apart = matrix.disagreement(metric)[rows]
    order = np.argsort(-np.abs(np.nan_to_num(apart)), axis=None, kind="stable")[:DISPUTED]
    outputs = []
    for k in order:
        side, place = divmod(int(k), apart.shape[1])
        if not np.isfinite(apart[side, place]) or not apart[side, place]:
            continue
        outputs.append(
            {
                "instance": look.board.instances[place].id,
                "generator": names[side],
                "text": look.board.rows[rows[side]].texts[place] or "",
                "people": float(matrix.view.human[rows[side], place]),
                "score": float(matrix.shown(metric)[rows[side], place]),
                "apart": float(apart[side, place]),
            }
        )
    every = addresses.board(look.name, "instances", metric=metric, sort="disagreement")
    return {"metric": metric, "outputs": outputs, "every": every} if outputs else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedText:
    """The output of one generator, marked against another text, with its errors and scores."""

    name: str
    pieces: tuple[Piece, ...]
    errors: MarkedText | None
    people: float | None
    score: float | None


def _texts(
    ask: Ask, look: Look, names: Sequence[str], decided_by: str, deciding: Sequence[str]
) -> dict[str, Any] | None:
    """Source, reference and all outputs of one instance: the one asked for, else the one that decides most."""
    asked = ask.query.get("instance") or ""
    if asked and asked not in look.board.position:
        raise UnknownName("instance", asked, look.board.position)
    shown = asked or next(iter(deciding), look.board.instances[0].id)
    k = look.board.position[shown]
    instance = look.board.instances[k]
    reference = instance.references[0].text if instance.references else ""
    outputs = {name: look.board.row(name).texts[k] for name in names}
    against = ask.query.get("against") or (REFERENCE if reference else names[0])
    if against not in (REFERENCE, *names):
        raise UnknownName("text to mark against", against, (REFERENCE, *names))
    base = reference if against == REFERENCE else outputs[against] or ""
    marker = Marker()
    texts = [_compared_text(look, name, text, k, marker, base, decided_by) for name, text in outputs.items()]
    place = list(deciding).index(shown) if shown in deciding else None
    return {
        "instance": instance,
        "reference": reference,
        "texts": texts,
        "against": against,
        "marked_against": [*([REFERENCE] if reference else []), *names],
        "unmarked": TOO_LONG if marker.is_cut else "",
        "decided_by": decided_by,
        "before": None if not place else deciding[place - 1],
        "after": deciding[place + 1] if place is not None and place + 1 < len(deciding) else None,
    }


def _compared_text(
    look: Look, name: str, text: str | None, k: int, marker: Marker, base: str, decided_by: str
) -> ComparedText:
    row = look.board.row_position[name]
    own = text or ""
    pieces = (Piece("same", own),) if not base or base == own else marker.marked(own, base)
    people = float(look.matrix.view.human[row, k])
    score = float(look.matrix.shown(decided_by)[row, k]) if decided_by != PEOPLE else np.nan
    return ComparedText(
        name=name,
        pieces=pieces,
        errors=mark_errors(own, spans_of(look.board, k, row)),
        people=None if np.isnan(people) else people,
        score=None if np.isnan(score) else score,
    )


def _sides(comparison: GeneratorComparison | MetricComparison) -> list[dict[str, Any]]:
    """What speaks for each of the two, with the texts that decide it marked against one another."""
    return [
        {"name": name, "outputs": [_deciding(output) for output in outputs]}
        for name, outputs in ((comparison.first, comparison.for_first), (comparison.second, comparison.for_second))
    ]


def _deciding(output: DecidingOutput) -> dict[str, Any]:
    return {
        "output": output,
        "first": marked(output.output, output.other) if output.other else marked(output.output, output.output),
        "second": marked(output.other, output.output) if output.other else (),
        "numbers": (value_text(output.first), value_text(output.second)),
    }


router.add_route(
    "/boards/{board}/compare",
    reading(show_comparison, words=("of", "first", "second", "by", "instance", "against")),
    include_in_schema=False,
)
