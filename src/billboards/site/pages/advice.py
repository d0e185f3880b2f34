"""Which metric should I use? A form, its state in the address, over all boards of the site or of one suite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import JSONResponse
from starlette.datastructures import QueryParams

from billboards.analyses.suite.advice import Advice, Question, advice_tables, advice_words, advise
from billboards.analyses.suite.evidence import COST_WORDS, COSTS, Cost, Evidence
from billboards.errors import InvalidInput, NotEnoughData
from billboards.show.documents import document_model, document_of, dumps
from billboards.show.words import one_line
from billboards.site.accounts.access import Viewer
from billboards.site.accounts.permissions import Permission
from billboards.site.boards.advice import latest, site_evidence
from billboards.site.boards.masked import Look
from billboards.site.boards.suites import shown_results
from billboards.site.web import addresses
from billboards.site.web.api import tagged_router
from billboards.site.web.asking import Ask, Pages, reading
from billboards.site.web.rendering import Body

router = APIRouter()

#: The words of an address that say what advice is asked for.
WORDS = ("task", "language", "references", "cost")
routes = tagged_router("advice")
Reader = Annotated[Viewer, Depends(Permission("read"))]

#: A name that somebody writes is no longer than this.
_LONGEST = 100


def show_advice(ask: Ask) -> Body:
    """The answer of all boards of the site."""
    evidence = _site_evidence(ask.pages, ask.viewer)
    return _page(ask, evidence, "/advice")


def show_suite_advice(ask: Ask) -> Body:
    """The answer of one suite's boards."""
    name = ask.params["suite"]
    return _page(ask, _suite_evidence(ask), addresses.suite(name, "advice"))


def send_suite_advice(ask: Ask) -> Body:
    """The same as a document."""
    advice = advise(_suite_evidence(ask), _question(ask.query))
    return Body(dumps(document_of(advice)).encode(), "application/json")


@routes.get("/advice", response_model=document_model(Advice))
def read_advice(
    request: Request,
    viewer: Reader,
    task: Annotated[str | None, Query(max_length=_LONGEST, description="as in summarization")] = None,
    language: Annotated[str | None, Query(max_length=_LONGEST, description="of the outputs, as in de")] = None,
    references: Annotated[Literal["yes", "no"], Query(description="whether there will be references")] = "yes",
    cost: Annotated[Cost | None, Query(description="the most that a metric may take")] = None,
) -> Response:
    """Which metric to use for a task and a language, by what all boards say: agreement, interval, probability."""
    question = Question(task=task, language=language, references=references == "yes", cost=cost)
    return JSONResponse(document_of(advise(_site_evidence(request.app.state.pages, viewer), question)))


def _site_evidence(pages: Pages, viewer: Viewer) -> Evidence:
    site = pages.site

    def seconds(look: Look, signatures: Sequence[str]) -> Mapping[str, float]:
        return site.cells(look.name).seconds_per_cell(signatures)

    looks = (pages.look(name, viewer) for name in latest(site.boards()))
    return site_evidence(site.settings.title, looks, seconds)


def _suite_evidence(ask: Ask) -> Evidence:
    suite, kept = shown_results(ask.site, ask.params["suite"], ask.viewer)
    if kept is None or kept.evidence is None:
        raise NotEnoughData(f"suite {suite.name} keeps no agreements yet; `billboards suite run` makes them")
    return kept.evidence


def _question(query: QueryParams) -> Question:
    """What the address asks; a word that means nothing is refused."""
    words = {key: query.get(key, "").strip() for key in WORDS}
    for key, word in words.items():
        if len(word) > _LONGEST:
            raise InvalidInput(f"{key} is longer than {_LONGEST} letters")
    if words["references"] not in ("", "yes", "no"):
        raise InvalidInput(f"references must be yes or no; found {words['references']!r}")
    cost = next((cost for cost in COSTS if cost == words["cost"]), None)
    if words["cost"] and cost is None:
        raise InvalidInput(f"cost must be one of {', '.join(COSTS)}; found {words['cost']!r}")
    with_references = words["references"] != "no"
    return Question(
        task=words["task"] or None, language=words["language"] or None, references=with_references, cost=cost
    )


def _page(ask: Ask, evidence: Evidence, address: str) -> Body:
    question = _question(ask.query)
    advice, problem = None, None
    try:
        advice = advise(evidence, question)
    except NotEnoughData as error:
        problem = str(error)
    return ask.page(
        "advice",
        address=address,
        source=one_line(evidence.source),
        question=question if advice is None else advice.question,
        tasks=sorted({board.task for board in evidence.boards if board.task}),
        languages=sorted({board.language for board in evidence.boards if board.language}),
        costs=COST_WORDS,
        problem=problem,
        words=() if advice is None else advice_words(advice),
        tables=() if advice is None else advice_tables(advice),
        document=_document_address(ask, address, advice),
    )


def _document_address(ask: Ask, address: str, advice: Advice | None) -> str | None:
    """Where the same answer is as JSON."""
    if advice is None:
        return None
    base = "/api/v1/advice" if address == "/advice" else f"{address}.json"
    return base + addresses.asked({key: ask.query.get(key) for key in WORDS})


router.add_route("/advice", reading(show_advice, words=WORDS), include_in_schema=False)
# Results of suites change without a board's doing; see suites.py.
router.add_route("/suites/{suite}/advice", reading(show_suite_advice, kept=False), include_in_schema=False)
router.add_route("/suites/{suite}/advice.json", reading(send_suite_advice, kept=False), include_in_schema=False)
