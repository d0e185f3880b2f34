"""Making a board in the browser: choose what it is made of, look at the draft, complete its card, publish it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

from fastapi import APIRouter

from billboards.board import Board
from billboards.board.card_facts import DEFINITION, LANGUAGES, STATED
from billboards.board.card_template import QUESTIONS
from billboards.board.check import CARD_DOUBTS
from billboards.catalogue import read_catalogue
from billboards.errors import InvalidInput, Refused, UnknownName
from billboards.importers.table import table
from billboards.importers.text import text
from billboards.site.accounts.access import require
from billboards.site.organise import drafts
from billboards.site.organise.draft_records import BoardDraft, Source
from billboards.site.organise.drafts import SEVERAL, TABLE_OPTIONS, TEXT_OPTIONS, Wanted
from billboards.site.web import addresses
from billboards.site.web.asking import Ask, Upload, changing, reading
from billboards.site.web.rendering import Body
from billboards.site.work import leases

router = APIRouter()

#: What a board may be made of, with the words for it.
SOURCES: Mapping[Source, tuple[str, str]] = {
    "demo": (
        "SummEval",
        "Summaries of 100 news articles by 16 systems, judged by experts and a crowd. Good for a try.",
    ),
    "catalogue": ("The catalogue", "A public data set, fetched from where its authors keep it."),
    "table": ("A table", "CSV, TSV, JSON lines or Parquet, with one output in each row."),
    "text": ("Text files", "One text on each line: a file for each system and reference."),
    "folder": ("A board folder", "A zip or tar archive, such as board.zip of another site."),
}
#: Files that a form may bring along, by part.
PARTS = ("file", "judgments", "source", "output", "reference", "documents", "ids")
#: What is shown of a draft.
SHOWN, TEXT = 5, 600
FILES = 400


@dataclass(frozen=True, kw_only=True)
class FactField:
    """A fact of a data card as a form asks for it."""

    name: str
    title: str
    question: str
    value: str
    is_missing: bool


def show_home(ask: Ask) -> Body:
    """What there is to organise: drafts, boards, and the way to a new one."""
    require(ask.viewer, "administer")
    names = [board.name for board in ask.site.boards()]
    return ask.page(
        "organise_home",
        drafts=drafts.list_drafts(ask.site, ask.viewer),
        boards=[(name, addresses.board(name, "organise")) for name in names],
    )


def show_choice(ask: Ask) -> Body:
    """What a new board may be made of."""
    require(ask.viewer, "administer")
    return ask.page("new_board", sources=SOURCES)


def show_form(ask: Ask) -> Body:
    """The form for a board of one source."""
    require(ask.viewer, "administer")
    return _form(ask, _source(ask), {"name": "summeval"} if ask.params["source"] == "demo" else {})


def _source(ask: Ask) -> Source:
    wanted = ask.params["source"]
    source = next((each for each in get_args(Source) if each == wanted), None)
    if source is None:
        raise UnknownName("source of a board", wanted, get_args(Source))
    return source  # type: ignore[no-any-return]  # one of the words of the type


def _form(ask: Ask, source: Source, sent: Mapping[str, Any], problem: str = "") -> Body:
    importer = {"table": table, "text": text}.get(source)
    chosen = {"table": TABLE_OPTIONS, "text": TEXT_OPTIONS}.get(source, ())
    options = [] if importer is None else [option for option in importer.options if option.name in chosen]
    return ask.page(
        "new_board_form",
        status=422 if problem else 200,
        source=source,
        titles=SOURCES[source],
        options=[(option.name, option.help, option.name in SEVERAL) for option in options],
        entries=list(read_catalogue()) if source == "catalogue" else [],
        sent={key: value for key, value in sent.items() if isinstance(value, str)},
        most=ask.site.settings.metric_bytes,
        problem=problem,
    )


def begin(ask: Ask, sent: Mapping[str, Any]) -> Body | str:
    """Begin a draft, or show the form again with what is wrong."""
    require(ask.viewer, "administer")
    source = _source(ask)
    files = {
        part: [(upload.name, upload.content) for upload in sent[part] if isinstance(upload, Upload) and upload.name]
        for part in PARTS
    }
    words = {word: str(sent.get(word) or "").strip() for word in (*TABLE_OPTIONS, *TEXT_OPTIONS) if word not in PARTS}
    words |= {word: str(sent.get(f"{word}_column") or "").strip() for word in ("reference",)}
    options: dict[str, Any] = {
        word: [line.strip() for line in value.splitlines() if line.strip()] if word in SEVERAL else value
        for word, value in words.items()
        if value
    }
    wanted = Wanted(
        name=str(sent.get("name") or ""),
        source=source,
        entry=str(sent.get("entry") or ""),
        options=options,
        files={part: given for part, given in files.items() if given},
    )
    try:
        draft = drafts.begin_draft(ask.site, ask.viewer, wanted)
    except (InvalidInput, Refused) as error:
        return _form(ask, source, sent, str(error))
    return _address(draft.name)


def _address(name: str, *rest: str) -> str:
    return addresses.draft(name, *rest)


def show_draft(ask: Ask) -> Body:
    """A draft: what could be read, what is odd about it, and what its card lacks."""
    return _draft_page(ask, drafts.get_draft(ask.site, ask.viewer, ask.params["draft"]))


def _draft_page(ask: Ask, draft: BoardDraft, problem: str = "", sent: Mapping[str, Any] | None = None) -> Body:
    board = drafts.draft_board(ask.site, draft) if draft.state == "ready" else None
    # What the data card lacks stands in its form.
    findings = [placed(finding) for finding in draft.findings if not finding["message"].startswith(CARD_DOUBTS)]
    with ask.site.database.reading() as connection:
        workers = leases.count_workers(connection, now=ask.site.clock())
    return ask.page(
        "board_draft",
        status=422 if problem else 200,
        draft=draft,
        source=SOURCES[draft.source][0],
        home=_address(draft.name),
        problem=problem,
        workers=workers,
        findings=findings,
        mistakes=sum(finding["severity"] == "error" for finding in findings),
        **({"board": None} if board is None else _preview(board, sent or {})),
    )


def placed(finding: Mapping[str, Any]) -> dict[str, Any]:
    """A finding with the place it stands at, as one reads it."""
    line = finding["line"]
    return {**finding, "place": finding["path"] if line is None else f"{finding['path']}:{line}"}


def _preview(board: Board, sent: Mapping[str, Any]) -> dict[str, Any]:
    """What a reader would see first of a board."""
    first, card = board.instances[:SHOWN], _card_fields(board, sent)
    rows = [row for row in board.rows if row.generator is not None]
    return {
        "board": board,
        "facts": [
            ("instances", len(board.instances)),
            ("generators", len(board.generators)),
            ("references", len(board.reference_names)),
            ("judgments", len(board.judgments)),
        ],
        "instances": [
            {
                "id": instance.id,
                "input": (instance.input or "")[:TEXT],
                "reference": instance.references[0].text[:TEXT] if instance.references else "",
                "output": next((row.texts[k][:TEXT] for row in rows[:1] if row.texts[k]), ""),  # type: ignore[index]
            }
            for k, instance in enumerate(first)
        ],
        "first_row": rows[0].name if rows else None,
        "generators": [(g.name, g.kind, g.description or "") for g in board.generators],
        "dimensions": [
            (d.name, "" if d.range is None else f"{d.range[0]:g} to {d.range[1]:g}", d.definition or "")
            for d in board.dimensions.values()
        ],
        "card": card,
        "missing": [field.title for field in card if field.is_missing],
        "metrics": board.metrics,
    }


def _card_fields(board: Board, sent: Mapping[str, Any]) -> list[FactField]:
    """Every fact of a board's card, those that are missing first."""
    missing = set(board.missing_facts)
    values = {fact: getattr(board.card, fact) or "" for fact in STATED}
    values |= {"input-language": board.input_language or "", "output-language": board.output_language or ""}
    values |= {f"{DEFINITION}{d.name}": d.definition or "" for d in board.dimensions.values()}
    questions = dict(QUESTIONS) | dict.fromkeys(LANGUAGES, "Its code, such as en or pt-BR.")
    fields = [
        FactField(
            name=fact,
            title=fact.removeprefix(DEFINITION).replace("-", " ").capitalize()
            if not fact.startswith(DEFINITION)
            else f"Definition of {fact.removeprefix(DEFINITION)}",
            question=questions.get(fact, "What the value means."),
            value=str(sent.get(f"fact.{fact}", value)),
            is_missing=fact in missing,
        )
        for fact, value in values.items()
    ]
    return sorted(fields, key=lambda field: not field.is_missing)


def state_facts(ask: Ask, sent: Mapping[str, Any]) -> Body | str:
    """State what the card lacks."""
    draft = drafts.get_draft(ask.site, ask.viewer, ask.params["draft"])
    board = drafts.draft_board(ask.site, draft)
    was = {field.name: field.value for field in _card_fields(board, {})}
    facts = {key.removeprefix("fact."): str(value) for key, value in sent.items() if key.startswith("fact.")}
    changed = {name: value for name, value in facts.items() if value.strip() and value.strip() != was.get(name)}
    try:
        drafts.state_facts(ask.site, ask.viewer, draft.name, changed)
    except InvalidInput as error:
        return _draft_page(ask, draft, str(error), sent)
    return _address(draft.name)


def publish(ask: Ask, _: Mapping[str, Any]) -> Body | str:
    """Put a draft's board on the site."""
    name = ask.params["draft"]
    try:
        board = drafts.publish_draft(ask.site, ask.viewer, name)
    except Refused as error:
        return _draft_page(ask, drafts.get_draft(ask.site, ask.viewer, name), str(error))
    return addresses.board(board, "organise")


def discard(ask: Ask, _: Mapping[str, Any]) -> Body | str:
    """Throw a draft away."""
    name = ask.params["draft"]
    try:
        drafts.discard_draft(ask.site, ask.viewer, name)
    except Refused as error:
        return _draft_page(ask, drafts.get_draft(ask.site, ask.viewer, name), str(error))
    return "/organise"


router.add_route("/organise", reading(show_home, kept=False), include_in_schema=False)
router.add_route("/organise/new", reading(show_choice, kept=False), include_in_schema=False)
router.add_route("/organise/new/{source}", reading(show_form, kept=False), include_in_schema=False)
router.add_route(
    "/organise/new/{source}",
    changing(begin, files=FILES, fields=60, many=PARTS),
    methods=["POST"],
    include_in_schema=False,
)
router.add_route("/organise/drafts/{draft}", reading(show_draft, kept=False), include_in_schema=False)
router.add_route(
    "/organise/drafts/{draft}/card", changing(state_facts, fields=500), methods=["POST"], include_in_schema=False
)
router.add_route("/organise/drafts/{draft}/publish", changing(publish), methods=["POST"], include_in_schema=False)
router.add_route("/organise/drafts/{draft}/discard", changing(discard), methods=["POST"], include_in_schema=False)
