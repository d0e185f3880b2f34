"""Two generators or two metrics side by side: is the difference real, and which outputs decide it?"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from billboards.analyses.compare import (
    DecidingOutput,
    GeneratorComparison,
    MetricComparison,
    generator_comparison_table,
    metric_comparison_table,
)
from billboards.errors import InvalidInput, NotEnoughData, UnknownName
from billboards.site.boards.masked import Look
from billboards.site.pages.text_differences import marked
from billboards.site.web import addresses
from billboards.site.web.asking import Ask, reading
from billboards.site.web.rendering import Body

router = APIRouter()


def show_comparison(ask: Ask) -> Body:
    """The choice of two, and their comparison where two were chosen."""
    look = ask.look()
    first, second = ask.query.get("first") or "", ask.query.get("second") or ""
    generators = [generator.name for generator in look.board.generators]
    metrics = [] if look.ranking is None else [metric.name for metric in look.ranking.metrics]
    context: dict[str, Any] = {"comparison": None, "problem": None}
    if first and second:
        try:
            context |= _compared(look, first, second, ask.query.get("by") or None, generators)
        except NotEnoughData as error:
            context["problem"] = str(error)
    return ask.board_page(
        "compare",
        look,
        "compare",
        heading=f"{first} against {second}" if first and second else "Compare",
        first=first,
        second=second,
        generators=generators,
        metrics=metrics if look.judged else [],
        by=ask.query.get("by") or "",
        **context,
    )


def _compared(look: Look, first: str, second: str, by: str | None, generators: list[str]) -> dict[str, Any]:
    if first == second:
        raise InvalidInput(f"{first} is compared with itself; choose two different ones")
    if (first in generators) != (second in generators):
        generator, other = (first, second) if first in generators else (second, first)
        if look.ranking is None or other not in {metric.name for metric in look.ranking.metrics}:
            raise UnknownName("generator", other, generators)
        raise InvalidInput(f"{generator} is a generator and {other} is none; choose two generators or two metrics")
    if first in generators:
        pair = look.compare_generators(first, second, by)
        table = generator_comparison_table(pair)
        links = {("name", s.name): addresses.metric(look.name, s.name) for s in pair.scores if s.name != "people"}
        return {"comparison": pair, "table": table, "links": links, "kind": "generators", "sides": _sides(pair)}
    comparison = look.compare_metrics(first, second)
    table = metric_comparison_table(comparison)
    return {"comparison": comparison, "table": table, "links": {}, "kind": "metrics", "sides": _sides(comparison)}


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
    }


router.add_route(
    "/boards/{board}/compare", reading(show_comparison, words=("first", "second", "by")), include_in_schema=False
)
