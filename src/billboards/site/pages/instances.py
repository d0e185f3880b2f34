"""The instance explorer: outputs found by text, score and disagreement, and all texts of one instance side by side."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from fastapi import APIRouter

from billboards.board import Instance
from billboards.errors import InvalidInput, UnknownName
from billboards.reading import decimal_number
from billboards.show.table import mean_digits
from billboards.site.boards.masked import Look
from billboards.site.pages.explorer import JUDGMENTS, PEOPLE, SORTS, WITHINS, OutputPage, Search, explore
from billboards.site.pages.long_lists import Pager, pager, read_page, stretch
from billboards.site.pages.matching_view import can_match
from billboards.site.pages.text_differences import TOO_LONG, Marker, Piece, mark_matches
from billboards.site.web import addresses
from billboards.site.web.asking import Ask, reading
from billboards.site.web.rendering import Body

router = APIRouter()

#: Outputs of one instance on a page.
MOST_OUTPUTS = 100
#: The words of an address that say what is looked for.
SEARCH_WORDS = (
    *("text", "within", "metric", "versus", "generator", "low", "high", "people_low", "people_high", "disputed"),
    *("judgment", "domain", "document", "tag", "sort", "page"),
)
#: Of more parts than these, the name is written instead of chosen.
MOST_PARTS = 200
#: Longer texts are cut in the list; the page of an instance shows all of them.
CLIPPED = 420


def show_instances(ask: Ask) -> Body:
    """The outputs that a search finds."""
    look = ask.look()
    names = look.matrix.names
    search = read_search(ask, look)
    result = explore(look.board, look.matrix, search) if names else OutputPage((), 0, 1, 1)
    return ask.board_page(
        "instances",
        look,
        "instances",
        heading="Instances",
        search=search,
        result=result,
        marks={k: mark_matches(output.text[:CLIPPED], search.text) for k, output in enumerate(result.outputs)},
        clipped=CLIPPED,
        metrics=names,
        digits=mean_digits(output.score for output in result.outputs),
        generators=list(look.board.row_position),
        sorts=list(SORTS.items()),
        withins=[(key, words) for key, words in WITHINS.items() if key != "reference" or look.referenced],
        judgments=list(JUDGMENTS.items()),
        parts=_parts(look),
        narrowed=any((search.within, search.low, search.high, search.people_low, search.people_high, search.disputed))
        or any((search.judgment, search.domain, search.document, search.tag)),
        apart=(look.judged and look.matrix.has_people) or search.versus != PEOPLE,
        chosen=_chosen(ask, look),
        every=addresses.board(look.name, "instances"),
        judged=look.judged and look.matrix.has_people,
        page=_pager(ask, look, result),
        plural="" if result.total == 1 else "s",
    )


def read_search(ask: Ask, look: Look) -> Search:
    """What the reader looks for, from the address; what is no number is named."""
    query, ranking = ask.query, look.ranking
    names = look.matrix.names
    default = ranking.ranked_by if ranking is not None and ranking.ranked_by in names else next(iter(names), "")
    asked = query.get("sort") or "instance"
    sort = _one_of(SORTS, asked, "order of outputs")
    judged = look.judged
    metric, versus = query.get("metric") or default or "", query.get("versus") or PEOPLE
    if versus == metric:
        raise InvalidInput(f"{metric} is held against itself; choose another metric, or people")
    return Search(
        text=query.get("text") or "",
        within=_one_of(WITHINS, query.get("within") or "", "place of a text"),
        metric=metric,
        versus=versus,
        judgment=_one_of(JUDGMENTS, query.get("judgment") or "", "choice by judgment") if judged else "",
        domain=query.get("domain") or "",
        document=query.get("document") or "",
        tag=query.get("tag") or "",
        generator=query.get("generator") or "",
        low=_number(ask, "low"),
        high=_number(ask, "high"),
        people_low=_number(ask, "people_low") if judged else None,
        people_high=_number(ask, "people_high") if judged else None,
        disputed=_number(ask, "disputed") if judged or versus != PEOPLE else None,
        sort=sort,
        page=_page(ask),
    )


Word = TypeVar("Word", bound=str)


def _one_of(words: Mapping[Word, str], asked: str, what: str) -> Word:
    """One of the words that an address may have here."""
    word = next((key for key in words if key == asked), None)
    if word is None:
        raise UnknownName(what, asked, words)
    return word


def _parts(look: Look) -> list[tuple[str, list[str]]]:
    """The domains, documents and tags of a board, as far as it has several."""
    instances = look.board.instances
    parts = {
        "domain": sorted({i.domain for i in instances if i.domain is not None}),
        "document": sorted({i.document for i in instances if i.document is not None}),
        "tag": sorted({tag for i in instances for tag in i.tags}),
    }
    return [(kind, names) for kind, names in parts.items() if names]


def _chosen(ask: Ask, look: Look) -> list[tuple[str, str]]:
    """What the reader has asked for, word by word, each with the address without it."""
    asked = [(word, ask.query.get(word) or "") for word in SEARCH_WORDS if word not in ("page", "sort", "metric")]
    asked = [(word, value) for word, value in asked if value and (word, value) != ("versus", PEOPLE)]
    kept = {word: ask.query.get(word) for word in SEARCH_WORDS if word != "page"}
    return [
        (f"{word.replace('_', ' ')}: {value}", addresses.board(look.name, "instances", **{**kept, word: None}))
        for word, value in asked
    ]


def _number(ask: Ask, name: str) -> float | None:
    text = (ask.query.get(name) or "").strip()
    if not text:
        return None
    value = decimal_number(text)
    if value is None or abs(value) > 1e15:
        raise InvalidInput(f"{name} must be a number; found {text[:40]!r}")
    return value


def _page(ask: Ask) -> int:
    """The page asked for, the first unless another is; one beyond the last is the last."""
    number = _number(ask, "page")
    if number is not None and (number < 1 or number != int(number)):
        raise InvalidInput(f"page must be a whole number above 0; found {number:g}")
    return 1 if number is None else int(number)


def _pager(ask: Ask, look: Look, result: OutputPage) -> Pager:
    kept = {key: value for key, value in ask.query.items() if key != "page"}
    return pager(result.page, result.last, addresses.board(look.name, "instances"), kept)


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownText:
    """One text of an instance: an output or a reference, marked against another, with its scores."""

    name: str
    kind: str
    pieces: tuple[Piece, ...]
    people: float | None
    scores: tuple[tuple[str, float], ...]
    is_compared: bool


def show_instance(ask: Ask) -> Body:
    """All texts of one instance."""
    look = ask.look()
    instance = instance_named(look, ask.params["instance"])
    k = look.board.position[instance.id]
    texts = texts_of(look, instance, k)
    against = ask.query.get("against")
    if against is None:
        against = instance.references[0].name if instance.references else ""
    if against and against not in texts:
        raise UnknownName("text of this instance", against, texts)
    metric = ask.query.get("metric") or ""
    references = [name for name, (kind, _) in texts.items() if kind == "reference"]
    outputs = stretch(_best_first(look, texts, k, metric), read_page(ask.query), MOST_OUTPUTS)
    kept = {key: value for key, value in ask.query.items() if key in ("against", "metric")}

    def shown(name: str) -> ShownText:
        kind, text = texts[name]
        plain = not against or name == against
        pieces = (Piece("same", text),) if plain else marker.marked(text, texts[against][1])
        return _shown(look, name, kind, pieces, k, name == against)

    marker = Marker()
    shown_texts = {name: shown(name) for name in (*references, *outputs.entries)}
    return ask.board_page(
        "instance",
        look,
        "instances",
        heading=f"Instance {instance.id}",
        instance=instance,
        references=[shown_texts[name] for name in references],
        outputs=[shown_texts[name] for name in outputs.entries],
        unmarked=TOO_LONG if marker.is_cut else "",
        pages=pager(outputs.number, outputs.last, addresses.instance(look.name, instance.id), kept, at="#outputs"),
        against=against,
        names=list(texts),
        metric=metric,
        metrics=look.matrix.names,
        lead=_lead(look),
        head=look.matrix.head,
        matched=_matched_with(look, instance, against),
        before=None if k == 0 else look.board.instances[k - 1].id,
        after=None if k + 1 == len(look.board.instances) else look.board.instances[k + 1].id,
    )


def instance_named(look: Look, name: str) -> Instance:
    if name not in look.board.position:
        raise UnknownName("instance", name, look.board.position)
    return look.board.instances[look.board.position[name]]


def texts_of(look: Look, instance: Instance, k: int) -> dict[str, tuple[str, str]]:
    """Every text by its name, with its kind: references as far as they may be read, then outputs."""
    texts: dict[str, tuple[str, str]] = {ref.name: ("reference", ref.text) for ref in instance.references}
    for row in look.board.rows:
        text = row.texts[k]
        if text is not None and not (row.name in texts and texts[row.name][1] == text):
            kind = "machine" if row.generator is None else row.generator.kind
            texts[row.name if row.name not in texts else f"{row.name} (output)"] = (kind, text)
    return texts


def _shown(look: Look, name: str, kind: str, pieces: tuple[Piece, ...], k: int, is_compared: bool) -> ShownText:
    row = look.board.row_position.get(name.removesuffix(" (output)"))
    if row is None:
        return ShownText(name=name, kind=kind, pieces=pieces, people=None, scores=(), is_compared=is_compared)
    scores = ((metric, float(look.matrix.shown(metric)[row, k])) for metric in look.matrix.names)
    people = float(look.matrix.view.human[row, k])
    human = None if np.isnan(people) else people
    return ShownText(
        name=name,
        kind=kind,
        pieces=pieces,
        people=human,
        scores=tuple((m, s) for m, s in scores if not np.isnan(s)),
        is_compared=is_compared,
    )


def _matched_with(look: Look, instance: Instance, against: str) -> str:
    """The reference that outputs are matched with, where this can be shown."""
    names = [reference.name for reference in instance.references] if can_match(look.board) else []
    return against if against in names else next(iter(names), "")


def _best_first(look: Look, texts: Mapping[str, tuple[str, str]], k: int, metric: str) -> list[str]:
    """Outputs by the chosen metric, else by people, those without a score last."""
    column = metric if metric in look.matrix.names else PEOPLE if metric in ("", PEOPLE) else None
    scores = None if column is None else look.matrix.of(column)[:, k]

    def key(name: str) -> tuple[bool, float]:
        row = look.board.row_position.get(name.removesuffix(" (output)"))
        value = math.nan if scores is None or row is None else float(scores[row])
        return math.isnan(value), 0.0 if math.isnan(value) else -value

    return sorted((name for name, (kind, _) in texts.items() if kind != "reference"), key=key)


def _lead(look: Look) -> str:
    ranking = look.ranking
    return "" if ranking is None or ranking.ranked_by is None else ranking.ranked_by


router.add_route("/boards/{board}/instances", reading(show_instances, words=SEARCH_WORDS), include_in_schema=False)
router.add_route(
    "/boards/{board}/instances/{instance:path}",
    reading(show_instance, words=("against", "metric", "page")),
    include_in_schema=False,
)
