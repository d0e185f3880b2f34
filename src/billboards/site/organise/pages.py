"""A board's pages for its organisers: what is decided, what readers are told, who is shown what; and its About page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import isinf
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from billboards.analyses._families import AUTO
from billboards.ensembles import FAMILIES
from billboards.errors import InvalidInput, InvalidSettings, UnknownName
from billboards.site.accounts.access import AUDIENCES, Viewer, may, require
from billboards.site.boards.budgets import CARDS, HOUR, JUDGES, Purse, purse_of
from billboards.site.boards.masked import Look
from billboards.site.database import trail
from billboards.site.organise.dress import logo_of, set_logo
from billboards.site.organise.prose import contact_prose, prose
from billboards.site.organise.setting_fields import (
    SECTIONS,
    SPARE,
    FormField,
    about_fields,
    board_fields,
    entries_in,
    shown_values,
    typed_document,
)
from billboards.site.settings import BoardSettings
from billboards.site.site import Site
from billboards.site.submissions.sending import change_settings, freeze, leaders_of, reveal_results, unfreeze
from billboards.site.web import addresses
from billboards.site.web.asking import SEEN_AS, Ask, Upload, changing, check_csrf, own_viewer_of, reading
from billboards.site.web.rendering import Body

router = APIRouter()

PARTS = (
    ("", "Overview"),
    ("settings", "Settings"),
    ("about", "About"),
    ("files", "Publish as files"),
    ("audit", "Audit trail"),
)
#: Fields of a form that may come in; phases and dated lines take several each.
FIELDS = 2000
SAVED = "saved"


def organise_page(ask: Ask, template: str, look: Look, section: str, **context: Any) -> Body:
    """A page of the organisers' part of a board."""
    home = addresses.board(look.name, "organise")
    words = dict(PARTS)[section]
    heading = "Organise" if not section else f"Organise: {words[0].lower()}{words[1:]}"
    return ask.board_page(
        template, look, "organise", heading=heading, home=home, sections=PARTS, section=section, **context
    )


def show_overview(ask: Ask) -> Body:
    """What stands about a board, and what organisers do most."""
    require(ask.viewer, "administer")
    look = ask.look()
    with ask.site.database.reading() as connection:
        latest = trail.entries(connection, board=look.name, limit=5)
    now = ask.site.clock()
    return organise_page(
        ask,
        "organise",
        look,
        "",
        settings=look.live.settings,
        phases=[(phase, phase_state(phase.opens, phase.closes, now)) for phase in look.live.settings.phases],
        blind=any(phase.blind for phase in look.live.settings.phases),
        audiences=AUDIENCES,
        latest=latest,
        gpu=ask.site.settings.workers.gpu,
        budgets=[_budget_words(purse_of(ask.site, look.name, look.live.settings, what)) for what in (JUDGES, CARDS)],
    )


def _budget_words(purse: Purse) -> str:
    """How much of a budget is used, in words."""
    unit, size, digits = ("tokens", 1.0, 0) if purse.what == JUDGES else ("hours", HOUR, 2)
    used = f"{purse.spent() / size:,.{digits}f}"
    if isinf(purse.limit):
        return f"{used} {unit} used, no limit"
    return f"{used} of {purse.limit / size:,.{digits}f} {unit} used"


def phase_state(opens: float | None, closes: float | None, now: float) -> str:
    """Whether a phase is coming, open or over."""
    if opens is not None and now < opens:
        return "coming"
    return "over" if closes is not None and now >= closes else "open"


def act(ask: Ask, sent: Mapping[str, Any]) -> str:
    """What organisers do with one button."""
    require(ask.viewer, "administer")
    acts: Mapping[str, Callable[[Site, Viewer, str], BoardSettings]] = {
        "freeze": freeze,
        "unfreeze": unfreeze,
        "reveal": reveal_results,
        "hide": lambda site, viewer, board: change_settings(site, viewer, board, {"revealed": False}),
    }
    wanted = str(sent.get("act", ""))
    if wanted not in acts:
        raise UnknownName("thing to do", wanted, acts)
    acts[wanted](ask.site, ask.viewer, ask.board_name)
    return addresses.board(ask.board_name, "organise")


def show_settings(ask: Ask) -> Body:
    """The form with everything that is decided about a board."""
    require(ask.viewer, "administer")
    look = ask.look()
    return _settings_form(ask, look, _shown_settings(look), {}, saved=ask.query.get(SAVED) == "yes")


def _shown_settings(look: Look) -> dict[str, str]:
    """What the form shows before anybody has typed; without rules of its own, the rules of the board's folder."""
    document = look.live.settings.document()
    if document["trust"] is None:
        rules = look.live.board.trust
        keys = (field.name for key, field in board_fields().items() if key.startswith("trust."))
        document["trust"] = {key: getattr(rules, key) for key in keys} | {"private_seed": None}
    values = shown_values(tuple(board_fields().values()), document)
    values["own_trust"] = "yes" if look.live.settings.trust is not None else ""
    return values


def save_settings(ask: Ask, sent: Mapping[str, Any]) -> Body | str:
    """Change what was changed in the form, or show it again with every mistake at its field."""
    require(ask.viewer, "administer")
    document = typed_document(tuple(board_fields().values()), sent)
    if not sent.get("own_trust"):
        document["trust"] = None
    try:
        _refuse_idle_rules(ask.look(), sent)
        change_settings(ask.site, ask.viewer, ask.board_name, document)
    except InvalidSettings as error:
        error = titled(error, board_fields())
        body = _settings_form(ask, ask.look(), dict(sent), mistakes_at(error, sent), problems=error.problems)
        return refused(body)
    return addresses.board(ask.board_name, "organise", "settings", saved="yes")


def _refuse_idle_rules(look: Look, sent: Mapping[str, Any]) -> None:
    """Refuse rules of trust that somebody typed and that would not be saved."""
    shown = _shown_settings(look)
    fields = tuple(field for key, field in board_fields().items() if key.startswith("trust."))
    if sent.get("own_trust") or shown["own_trust"] or not any(field.key in sent for field in fields):
        return
    if typed_document(fields, sent) != typed_document(fields, shown):
        words = "The rules under “What may count” were changed: tick “The rules below hold” so that they count"
        raise InvalidSettings(look.name, [words], [("own_trust",)])


def titled(error: InvalidSettings, fields: Mapping[str, FormField]) -> InvalidSettings:
    """The same mistakes, with each setting called as the form calls it."""
    pairs = zip(error.places, error.problems, strict=True)
    return InvalidSettings("settings", [_titled(place, words, fields) for place, words in pairs], error.places)


def _titled(place: tuple[int | str, ...], words: str, fields: Mapping[str, FormField]) -> str:
    names = [part for part in place if isinstance(part, str)]
    field = next((fields[name] for name in (".".join(names[:2]), ".".join(names[:1])) if name in fields), None)
    _, named, rest = words.partition(f"{names[-1]} " if names else ": ")
    if field is None or not named:
        return words
    inner = next((f": {each.title}" for each in field.fields if each.key == names[-1]), "")
    numbers = [f" {part + 1}" for part in place if isinstance(part, int)] if inner else []
    return f"{field.title}{''.join(numbers)}{inner} {rest}"


def refused(body: Body) -> Body:
    """A form that is shown again because something in it is wrong."""
    return replace(body, status=422)


def mistakes_at(error: InvalidSettings, sent: Mapping[str, Any], prefix: str = "") -> dict[str, list[str]]:
    """Mistakes by the names of the inputs that they belong to; entries of lists have the numbers that the form had."""
    mistakes: dict[str, list[str]] = {}
    for place, words in zip(error.places, error.problems, strict=True):
        mistakes.setdefault(_input_of(place, sent, prefix), []).append(words)
    return mistakes


def _input_of(place: tuple[int | str, ...], sent: Mapping[str, Any], prefix: str) -> str:
    name = prefix
    for k, part in enumerate(place):
        if isinstance(part, int):
            if k + 1 == len(place):
                # One of several lines or choices, which one input holds.
                break
            numbers = entries_in(sent, name)
            part = numbers[part] if part < len(numbers) else part
        name = f"{name}.{part}" if name else str(part)
    return name


def _settings_form(
    ask: Ask,
    look: Look,
    values: Mapping[str, Any],
    mistakes: Mapping[str, Sequence[str]],
    *,
    problems: Sequence[str] = (),
    saved: bool = False,
) -> Body:
    fields = board_fields()
    groups = [(title, [fields[key] for key in keys]) for title, keys in SECTIONS.items()]
    return organise_page(
        ask,
        "organise_settings",
        look,
        "settings",
        groups=groups,
        trust=[field for key, field in fields.items() if key.startswith("trust.")],
        values=values,
        mistakes=mistakes,
        problems=problems,
        saved=saved,
        entries=_entry_numbers((*fields.values(),), values),
        offered=_offered(ask, look),
    )


def _entry_numbers(fields: Sequence[FormField], values: Mapping[str, Any]) -> dict[str, list[int]]:
    """The numbers of the entries that a form shows of each list, and empty ones after them."""
    numbers = {}
    for field in fields:
        if field.kind == "entries":
            shown = entries_in({k: v for k, v in values.items() if not k.endswith(".remove")}, field.key)
            after = max(shown, default=-1) + 1
            numbers[field.key] = [*shown, *range(after, after + SPARE)]
    return numbers


def _offered(ask: Ask, look: Look) -> dict[str, list[str]]:
    """What an input offers to choose from, beside what may be typed."""
    board = look.live.board
    return {
        "by": sorted(leaders_of(ask.site, look.name)),
        "ranks": [*board.aggregates, *board.dimensions],
        "method": [AUTO, *FAMILIES],
        "inputs_from": [phase.name for phase in look.live.settings.phases if phase.opens is not None],
    }


def show_about_form(ask: Ask) -> Body:
    """The form with what readers are told."""
    require(ask.viewer, "administer")
    look = ask.look()
    values = shown_values(tuple(about_fields().values()), look.live.settings.document())
    return _about_form(ask, look, values, {}, saved=ask.query.get(SAVED) == "yes")


def save_about(ask: Ask, sent: Mapping[str, Any]) -> Body | str:
    """Change what readers are told, or show the form again with every mistake at its field."""
    require(ask.viewer, "administer")
    document = typed_document(tuple(about_fields().values()), sent)
    logo = sent.get("logo")
    try:
        if isinstance(logo, Upload) and logo.content:
            set_logo(ask.site, ask.viewer, ask.board_name, logo.content)
        elif sent.get("no_logo"):
            set_logo(ask.site, ask.viewer, ask.board_name, None)
        change_settings(ask.site, ask.viewer, ask.board_name, document)
    except InvalidSettings as error:
        error = titled(error, about_fields())
        mistakes, problems = mistakes_at(error, sent), error.problems
    except InvalidInput as error:
        mistakes, problems = {"logo": [str(error)]}, (str(error),)
    else:
        return addresses.board(ask.board_name, "organise", "about", saved="yes")
    return refused(_about_form(ask, ask.look(), dict(sent), mistakes, problems=problems))


def _about_form(
    ask: Ask,
    look: Look,
    values: Mapping[str, Any],
    mistakes: Mapping[str, Sequence[str]],
    *,
    problems: Sequence[str] = (),
    saved: bool = False,
) -> Body:
    fields = about_fields()
    return organise_page(
        ask,
        "organise_about",
        look,
        "about",
        fields=[*fields.values()],
        values=values,
        mistakes=mistakes,
        problems=problems,
        saved=saved,
        entries=_entry_numbers((*fields.values(),), values),
        offered={},
    )


def show_about(ask: Ask) -> Body:
    """What the organisers tell readers: for what the board is, its rules, answers, dates and whom to ask."""
    look = ask.look()
    about = look.live.settings.about
    texts = (("Description", about.description), ("Rules", about.rules), ("Questions and answers", about.faq))
    return ask.board_page(
        "board_about",
        look,
        "about",
        heading="About",
        texts=[(title, prose(text)) for title, text in texts if text],
        contact=contact_prose(about.contact) if about.contact else None,
        timeline=timeline(look, ask.site.clock()),
        organises=may(ask.viewer, "administer"),
    )


def timeline(look: Look, now: float) -> list[dict[str, Any]]:
    """The dates of phases and the organisers' own lines, the earliest first."""
    settings = look.live.settings
    lines = [(line.at, line.words) for line in settings.about.timeline]
    for phase in settings.phases:
        blind = " (blind)" if phase.blind else ""
        lines += [(phase.opens, f"Phase {phase.name}{blind} opens")] if phase.opens is not None else []
        lines += [(phase.closes, f"Phase {phase.name}{blind} closes")] if phase.closes is not None else []
    return [{"at": at, "words": words, "is_over": at <= now} for at, words in sorted(lines)]


def send_logo(ask: Ask) -> Body:
    """A board's logo."""
    with ask.site.database.reading() as connection:
        logo = logo_of(connection, ask.look().name)
    if logo is None:
        raise UnknownName("logo of a board", ask.board_name, ())
    return Body(logo.content, logo.media_type)


def _here(page: str) -> str:
    """A page of this site; whatever else was sent leads to the first one."""
    plain = page.startswith("/") and not page.startswith(("//", "/\\"))
    return quote(page, safe="/%") if plain and page.isprintable() else "/"


async def see_as(request: Request) -> Response:
    """Let an owner look at the site as somebody else, or go back."""
    pages = request.app.state.pages
    viewer, csrf = request.state.asker = await run_in_threadpool(own_viewer_of, request, pages)
    async with request.form(max_files=0, max_fields=10) as form:
        audience, back, sent = (str(form.get(word, "")) for word in ("audience", "back", "csrf"))
    check_csrf(csrf, sent)
    require(viewer, "administer")
    response = RedirectResponse(_here(back), 303)
    if audience in AUDIENCES:
        secure = request.url.scheme == "https" or pages.site.settings.base_url.startswith("https://")
        response.set_cookie(SEEN_AS, audience, max_age=3600, httponly=True, samesite="lax", secure=secure)
    else:
        response.delete_cookie(SEEN_AS)
    return response


router.add_route("/boards/{board}/organise", reading(show_overview, kept=False), include_in_schema=False)
router.add_route("/boards/{board}/organise/act", changing(act), methods=["POST"], include_in_schema=False)
router.add_route(
    "/boards/{board}/organise/settings",
    reading(show_settings, kept=False),
    include_in_schema=False,
)
router.add_route(
    "/boards/{board}/organise/settings",
    changing(save_settings, fields=FIELDS),
    methods=["POST"],
    include_in_schema=False,
)
router.add_route("/boards/{board}/organise/about", reading(show_about_form, kept=False), include_in_schema=False)
router.add_route(
    "/boards/{board}/organise/about", changing(save_about, fields=FIELDS), methods=["POST"], include_in_schema=False
)
router.add_route("/boards/{board}/about", reading(show_about, kept=False), include_in_schema=False)
router.add_route("/boards/{board}/logo", reading(send_logo, words=("v",)), include_in_schema=False)
router.add_route("/see-as", see_as, methods=["POST"], include_in_schema=False)
