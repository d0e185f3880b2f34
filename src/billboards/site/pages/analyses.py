"""Every analysis on the site: a page with a form, words, tables and charts, and a route for programs.

Both are made from the analysis' own declaration, and ask the view that their audience may have. The owner's settings of
a board are the defaults of options by the same names. Where an analysis would have to compute scores, the page says
with which command that is done.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Hashable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Union

from anyio import to_thread
from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.responses import Response

from billboards.analyses import Analysis, Result, analysis_named, summaries
from billboards.board import Slice
from billboards.errors import InvalidInput, NotEnoughData, UnknownName
from billboards.options import Option
from billboards.reading import shown
from billboards.show.documents import document_model
from billboards.show.table import Table
from billboards.site.accounts.access import Viewer
from billboards.site.accounts.permissions import Permission, look_of
from billboards.site.boards.masked import Look
from billboards.site.cache import Shelf
from billboards.site.pages.charts import Drawer, chart_file, leading_to, split_ending
from billboards.site.pages.figures import Figure, living_files, source_words
from billboards.site.pages.table_files import (
    FORMATS,
    TABLE_OPTIONS,
    arranged_tables,
    table_file,
    table_names,
    table_options,
)
from billboards.site.web import addresses
from billboards.site.web.api import tagged_router
from billboards.site.web.asking import Ask, reading
from billboards.site.web.rendering import Body

router = APIRouter()
routes = tagged_router("analyses")
Reader = Annotated[Viewer, Depends(Permission("read"))]

#: What a page can't be asked for: files on the server.
_HIDDEN_TYPES = (Path,)
#: As much a visitor may have computed where a number says how much, or as much as by default. The owner may set more.
MOST_ASKED = 10_000
#: The parts of a view that may be chosen, and what each means.
_VIEW = {
    "aggregate": "the aggregate or dimension of judgments",
    "domain": "only the instances of this domain",
    "document": "only the instances of this document",
    "tag": "only the instances with this tag",
}


#: Answers of a site that is being published.
_ANSWERS = Shelf[tuple[Hashable, ...], Result[Any]]()


class AnalysisHead(BaseModel):
    """An analysis that can be asked."""

    name: str
    summary: str
    address: str = Field(description="where its answer is read")


def offered(asked: Analysis[Any, Any]) -> tuple[Option, ...]:
    """The options that the site offers: all that name no file."""
    return tuple(option for option in asked.options if option.type not in _HIDDEN_TYPES)


def chosen_words(asked: Analysis[Any, Any]) -> list[str]:
    """The parts of the view that may be chosen, as a query names them."""
    words = ["aggregate"] if "aggregate" in asked.view else []
    return words + (["domain", "document", "tag"] if "part" in asked.view else [])


def _words(params: Mapping[str, str]) -> tuple[str, ...]:
    """The words of an address that the page of an analysis reads."""
    asked = analysis_named(_name(params["analysis"]))
    own = (option.outer for option in offered(asked))
    return (*dict.fromkeys((*chosen_words(asked), *own, *TABLE_OPTIONS, "asked", "theme", "file")),)


def answer(look: Look, asked: Analysis[Any, Any], query: Mapping[str, Any]) -> Result[Any]:
    """An analysis asked of what this audience may see."""
    chosen: dict[str, Any] = {"aggregate": query.get("aggregate") or None}
    if "part" in asked.view:
        chosen["part"] = Slice(**{word: query.get(word) or None for word in ("domain", "document", "tag")})
    options = options_of_owner(look, asked) | _given(asked, query)
    if look.live.site.published is None:
        return asked.run(look.view.choosing(**chosen), **options)
    # Page, files, charts and document of one answer are written one after the other.
    key = look.name, look.live.generation, asked.name, repr(sorted(options.items())), repr(sorted(chosen.items()))
    kept = look.live.site.cache.get(_ANSWERS, key)
    return kept or look.live.site.cache.put(_ANSWERS, key, asked.run(look.view.choosing(**chosen), **options))


def options_of_owner(look: Look, asked: Analysis[Any, Any]) -> dict[str, Any]:
    """What the board's owner has set of the options that this analysis has."""
    settings = look.live.settings
    own: dict[str, Any] = {"k": settings.k, "method": settings.method, "seed": settings.seed}
    if asked.name == "rank":
        own |= {"draws": settings.draws, "by": settings.by}
    names = {option.name for option in asked.options}
    return {name: value for name, value in own.items() if name in names and value is not None}


def _given(asked: Analysis[Any, Any], query: Mapping[str, Any]) -> dict[str, Any]:
    given = {option.name: query[option.name] for option in offered(asked) if query.get(option.name) is not None}
    for option in offered(asked):
        most = max(MOST_ASKED, option.default or 0) if option.type is int and option.name != "seed" else None
        if most is not None and given.get(option.name, 0) > most:
            raise InvalidInput(
                f"{asked.name}: {option.outer} is {shown(given[option.name])}; a site takes at most {most:,}, "
                "the command line as much as you like"
            )
    return given


def _from_address(asked: Analysis[Any, Any], ask: Ask) -> dict[str, Any]:
    """What the address says, read as each option's type asks."""
    query: dict[str, Any] = {word: ask.query.get(word) for word in chosen_words(asked)}
    for option in offered(asked):
        texts = [text for text in ask.query.getlist(option.outer) if text.strip()]
        if texts:
            query[option.name] = tuple(map(option.parse, texts)) if option.many else option.parse(texts[-1])
        elif option.is_flag and "asked" in ask.query:
            query[option.name] = False
    return query


def list_analyses(ask: Ask) -> Body:
    """What can be asked of a board."""
    look = ask.look()
    listed = [
        {"name": name, "summary": text, "href": addresses.board(look.name, "analyses", _slug(name))}
        for name, text in summaries().items()
    ]
    return ask.board_page("analyses", look, "analyses", heading="Analyses", analyses=listed)


def show_analysis(ask: Ask) -> Body:
    """One analysis: its form, and its answer with the options that the address names."""
    look, asked = ask.look(), analysis_named(_name(ask.params["analysis"]))
    query = _from_address(asked, ask)
    result, problem = None, None
    try:
        result = answer(look, asked, query)
    except (NotEnoughData, InvalidInput) as error:
        problem = str(error)
    tables: list[tuple[Table, list[tuple[str, str]]]] = []
    try:
        tables = [] if result is None else _shown_tables(ask, look, result)
    except InvalidInput as error:
        problem = str(error)
    defaults = options_of_owner(look, asked)
    fields = [_field(option, query.get(option.name, defaults.get(option.name))) for option in offered(asked)]
    own = addresses.board(look.name, "analyses", ask.params["analysis"])
    asking = ask.query.multi_items()
    drawn = [] if result is None else result.drawn()
    charts = [_figure(look, draw, own, asking, k) for k, draw in enumerate(drawn)]
    return ask.board_page(
        "analysis",
        look,
        "analyses",
        heading=asked.name[:1].upper() + asked.name[1:],
        asked=asked,
        fields=fields,
        choices=[{"name": word, "help": _VIEW[word], "value": query.get(word) or ""} for word in chosen_words(asked)],
        result=result,
        problem=problem,
        tables=tables,
        arranging={word: ask.query.get(word, "") for word in TABLE_OPTIONS},
        charts=charts,
        living=living_files(),
        document=f"/api/v1{own}{addresses.asked(dict(asking))}",
    )


def _shown_tables(ask: Ask, look: Look, result: Result[Any]) -> list[tuple[Table, list[tuple[str, str]]]]:
    """The tables as the address wants them, each with the addresses of its files."""
    options, asking = table_options(ask.query), dict(ask.query.multi_items())
    own = addresses.board(look.name, "analyses", ask.params["analysis"], "files")
    shown = []
    for name, table in zip(table_names(result.tables), result.tables, strict=True):
        with suppress(UnknownName):
            files = [(words, f"{own}/{name}.{end}{addresses.asked(asking)}") for end, (words, _) in FORMATS.items()]
            shown.append((arranged_tables([table], options)[0], files))
    if result.tables and not shown:
        arranged_tables(result.tables, options)
    return shown


def send_table_of(ask: Ask) -> Body:
    """A table of an analysis as it is shown, as a file."""
    look, asked = ask.look(), analysis_named(_name(ask.params["analysis"]))
    tables = answer(look, asked, _from_address(asked, ask)).tables
    prefix = re.sub(r"[^\w.-]+", "-", f"{look.name}-{asked.name}", flags=re.ASCII)
    return table_file(tables, table_options(ask.query), ask.params["file"], prefix)


def show_chart_of(ask: Ask) -> Body:
    """A chart of an analysis: as a picture, for a browser to bring to life, or its data."""
    look, asked = ask.look(), analysis_named(_name(ask.params["analysis"]))
    drawn = answer(look, asked, _from_address(asked, ask)).drawn()
    number, ending = split_ending(ask.params["number"])
    if not number.isdecimal() or int(number) >= len(drawn):
        raise NotEnoughData(f"{asked.name} has no chart {number} here")
    name = f"{look.name}-{asked.name}-{number}"
    return chart_file(drawn[int(number)], ending or ".svg", name, ask.query, leading_to(look))


def _figure(look: Look, draw: Drawer, own: str, asking: list[tuple[str, str]], number: int) -> Figure:
    """A chart of an answer, under its finding."""
    from billboards.show.browser_charts import title_of

    title, subtitle = title_of(draw("light"))
    return Figure(
        title=title,
        description=f"Chart: {title}. {subtitle} The numbers are in the table above.",
        address=f"{own}/charts/{number}",
        query=addresses.asked(dict(asking)),
        source=source_words(look),
    )


def _field(option: Option, value: Any) -> dict[str, Any]:
    """An option as a form asks for it."""
    current = option.default if value is None else value
    if isinstance(current, tuple | list):
        current = ", ".join(map(str, current))
    least = next((limit.ge for limit in option.limits if hasattr(limit, "ge")), None)
    return {
        "name": option.outer,
        "help": option.help,
        "kind": "flag" if option.is_flag else "choice" if option.choices else "text",
        "numeric": option.type in (int, float),
        "step": "1" if option.type is int else "any",
        "least": least,
        "choices": [str(choice) for choice in option.choices],
        "value": "" if current is None else str(current),
        "on": bool(current),
    }


def _slug(name: str) -> str:
    return name.replace(" ", ".")


def _name(slug: str) -> str:
    return slug.replace(".", " ")


@routes.get("/boards/{board}/analyses")
def read_analyses(request: Request, board: str, viewer: Reader) -> list[AnalysisHead]:
    """What can be asked of a board."""
    look = look_of(request, board, viewer)
    own = f"/api/v1{addresses.board(look.name, 'analyses')}"
    return [AnalysisHead(name=name, summary=text, address=f"{own}/{_slug(name)}") for name, text in summaries().items()]


def add_route(asked: Analysis[Any, Any]) -> None:
    """The route of one analysis: its options as query parameters, its result as a typed document."""

    def answer_board(request: Request, board: str, viewer: Viewer, query: Mapping[str, Any]) -> Response:
        return JSONResponse(answer(look_of(request, board, viewer), asked, query).document)

    async def ask_board(request: Request, board: str, viewer: Viewer, **query: Any) -> Response:
        work = partial(answer_board, request, board, viewer, query)
        return await to_thread.run_sync(work, limiter=request.app.state.pages.analysing)

    kind = inspect.Parameter.KEYWORD_ONLY
    place = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [
        inspect.Parameter("request", place, annotation=Request),
        inspect.Parameter("board", place, annotation=str),
        inspect.Parameter("viewer", place, annotation=Reader),
    ]
    parameters += [
        inspect.Parameter(word, kind, default=None, annotation=Annotated[str | None, Query(description=_VIEW[word])])
        for word in chosen_words(asked)
    ]
    parameters += [_parameter(option) for option in offered(asked)]
    ask_board.__signature__ = inspect.Signature(parameters, return_annotation=Response)  # type: ignore[attr-defined]
    ask_board.__name__ = f"ask_{asked.__name__}"
    ask_board.__doc__ = asked.explanation
    models = tuple(document_model(answered) for answered in asked.result_types)
    routes.get(
        f"/boards/{{board}}/analyses/{_slug(asked.name)}",
        response_model=Union[models] if len(models) > 1 else models[0],  # noqa: UP007 - made here
        summary=asked.summary,
        operation_id=ask_board.__name__,
    )(ask_board)


def _parameter(option: Option) -> inspect.Parameter:
    settings: dict[str, Any] = {} if option.outer == option.name else {"alias": option.outer}
    for limit in option.limits:
        settings |= {word: getattr(limit, word) for word in ("ge", "gt", "le", "lt") if hasattr(limit, word)}
    query = Query(description=option.help, **settings)
    annotation = list[option.type] | None if option.many else _single(option)  # type: ignore[name-defined]
    return inspect.Parameter(
        option.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[annotation, query]
    )


def _single(option: Option) -> Any:
    from typing import Literal

    return Literal[option.choices] | None if option.choices else option.type | None


def add_every_route() -> None:
    """Routes of this package's analyses and of those that are installed; one that can't be loaded has none."""
    for name in summaries():
        add_route(analysis_named(name))


add_every_route()
router.add_route("/boards/{board}/analyses", reading(list_analyses), include_in_schema=False)
router.add_route(
    "/boards/{board}/analyses/{analysis}", reading(show_analysis, words=_words, analyses=True), include_in_schema=False
)
router.add_route(
    "/boards/{board}/analyses/{analysis}/files/{file}",
    reading(send_table_of, words=_words, analyses=True),
    include_in_schema=False,
)
router.add_route(
    "/boards/{board}/analyses/{analysis}/charts/{number}",
    reading(show_chart_of, words=_words, analyses=True),
    include_in_schema=False,
)
