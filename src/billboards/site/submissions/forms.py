"""Sending in a generator or a metric by form; what is wrong is named, all of it, beside what was written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter

from billboards.analyses.rank import newcomer_words
from billboards.board.costs import COSTS
from billboards.errors import BillboardsError, InvalidInput, InvalidSubmission, NotAllowed, Problem, Refused, TooLarge
from billboards.site.accounts.access import may
from billboards.site.boards.masked import Look
from billboards.site.settings import said_moment
from billboards.site.submissions import records as submissions
from billboards.site.submissions.addressed_metrics import ADDRESSED, PARTS, Addressed
from billboards.site.submissions.sending import (
    limits_of,
    submit_address,
    submit_generator,
    submit_metric,
    submit_scores,
)
from billboards.site.web import addresses
from billboards.site.web.asking import Ask, Upload, changing, reading
from billboards.site.web.rendering import Body

router = APIRouter()

#: Instances whose ids the form shows, so that a submitter knows what a line looks like.
EXAMPLES = 3


def show_choice(ask: Ask) -> Body:
    """What can be sent in, and whether it is taken now."""
    look = ask.look()
    return ask.board_page("submit", look, "submit", heading="Submit", **rules_of(ask, look))


def show_generator_form(ask: Ask) -> Body:
    """The empty form for a generator."""
    return _generator_form(ask, {}, [], 200)


def show_metric_form(ask: Ask) -> Body:
    """The empty form for a metric."""
    return _metric_form(ask, {"needs_references": "yes", "direction": "higher"}, [], 200)


def show_scores_form(ask: Ask) -> Body:
    """The empty form for a metric's scores."""
    return _scores_form(ask, {"needs_references": "yes"}, [], 200)


def show_address_form(ask: Ask) -> Body:
    """The empty form for a metric's address."""
    return _address_form(ask, {"needs_references": "yes", "direction": "higher"}, [], 200)


def _generator_form(ask: Ask, sent: Mapping[str, Any], problems: list[str], status: int) -> Body:
    look = ask.look()
    newcomers = None if look.ranking is None else newcomer_words(look.ranking)
    facts = _examples(look) | {"newcomers": newcomers}
    return _form(ask, look, "submit_generator", "Submit a generator", sent, problems, status, facts)


def _metric_form(ask: Ask, sent: Mapping[str, Any], problems: list[str], status: int) -> Body:
    facts = {"is_owner": may(ask.viewer, "administer")}
    return _form(ask, ask.look(), "submit_metric", "Submit a metric", sent, problems, status, facts)


def _scores_form(ask: Ask, sent: Mapping[str, Any], problems: list[str], status: int) -> Body:
    look = ask.look()
    facts = _examples(look) | {"reference_names": look.board.reference_names}
    return _form(ask, look, "submit_scores", "Submit a metric’s scores", sent, problems, status, facts)


def _address_form(ask: Ask, sent: Mapping[str, Any], problems: list[str], status: int) -> Body:
    settings = ask.site.settings.metrics
    facts = {"allowed": {"hub": settings.hub, "endpoint": settings.endpoints}}
    return _form(ask, ask.look(), "submit_address", "Submit a metric by its address", sent, problems, status, facts)


def _form(
    ask: Ask,
    look: Look,
    template: str,
    heading: str,
    sent: Mapping[str, Any],
    problems: list[str],
    status: int,
    facts: Mapping[str, Any],
) -> Body:
    """A form with what was sent before, what is wrong with it, and the rules of the board.

    Who may not submit is told what that takes before they write anything.
    """
    if status == 200 and not may(ask.viewer, "submit"):
        return ask.board_page("submit_first", look, "submit", heading=heading, next=ask.path, **rules_of(ask, look))
    shown = {"heading": heading, "sent": sent_texts(sent), "problems": problems, **facts, **rules_of(ask, look)}
    return ask.board_page(template, look, "submit", status=status, **shown)


def _examples(look: Look) -> dict[str, Any]:
    """Some instances, and how many there are."""
    return {"examples": look.board.instances[:EXAMPLES], "instances": len(look.board.instances)}


def sent_texts(sent: Mapping[str, Any]) -> dict[str, str]:
    """What was written into a form, but for files."""
    return {key: value for key, value in sent.items() if isinstance(value, str)}


def rules_of(ask: Ask, look: Look) -> dict[str, Any]:
    """What the owner decided about sending in, and what is left of the team's quota."""
    settings, now = look.live.settings, ask.site.clock()
    closed = None
    try:
        settings.open_phase(now)
    except Refused as error:
        closed = str(error)
    if settings.frozen is not None:
        closed = f"this board is frozen since {said_moment(settings.frozen)}; nothing more is taken"
    return {
        "closed": closed,
        "accepts": settings.accepts,
        "phases": [(p.name, p.opens, p.closes, settings.results_of(p), p.is_open(now)) for p in settings.phases],
        "quota": _quota(ask, look, now),
        "has_phases": bool(settings.phases),
        "ways": _ways(ask),
        "takes_scores": ask.site.settings.metrics.scores_only == "allow",
    }


def _quota(ask: Ask, look: Look, now: float) -> list[str]:
    settings, account = look.live.settings, ask.viewer.account
    if account is None:
        return []
    lines = []
    with ask.site.database.reading() as connection:
        for kind in settings.accepts:
            spent = submissions.count_spent(connection, look.name, kind, account.team_id)
            today = submissions.count_spent(connection, look.name, kind, account.team_id, since=now - now % 86400)
            per_day, total = limits_of(settings, look.live.board, kind, account)
            limits = [f"{today} of {per_day} today"] if per_day is not None else []
            limits += [f"{spent} of {total} in all"] if total is not None else []
            lines += [f"{kind}s of team {account.team}: {', '.join(limits)}"] if limits else []
    return lines


def receive_generator(ask: Ask, sent: Mapping[str, Any]) -> Body | str:
    """Take a generator, or say all that is wrong with it."""
    try:
        raw, name = sent_content(sent, "outputs", "the outputs")
        received = submit_generator(
            ask.site,
            ask.viewer,
            ask.board_name,
            str(sent.get("name", "")).strip(),
            raw,
            file_name=name,
            form=sent.get("form") or "auto",
            anonymous=bool(sent.get("anonymous")),
            entry=sent.get("entry") or "primary",
            about={**sent_words(sent), **sent_costs(sent), **({"human": True} if sent.get("human") else {})},
        )
    except (InvalidInput, Refused, NotAllowed) as error:
        return _generator_form(ask, sent, *mistakes_of(ask, error))
    return addresses.submission(received.submission.id)


def receive_metric(ask: Ask, sent: Mapping[str, Any]) -> Body | str:
    """Take a metric, or say all that is wrong with it."""
    name = str(sent.get("name", "")).strip()
    try:
        raw, file_name = sent_content(sent, "metric.py", "the program")
        received = submit_metric(
            ask.site,
            ask.viewer,
            ask.board_name,
            raw,
            name=name or None,
            file_name=file_name,
            manifest=sent_manifest(sent, name),
            anonymous=bool(sent.get("anonymous")),
            entry=sent.get("entry") or "primary",
            about=sent_words(sent),
            trusted=bool(sent.get("trusted")),
        )
    except (InvalidInput, Refused, NotAllowed) as error:
        return _metric_form(ask, sent, *mistakes_of(ask, error))
    return addresses.submission(received.submission.id)


def receive_scores(ask: Ask, sent: Mapping[str, Any]) -> Body | str:
    """Take a metric's scores, or say all that is wrong with them."""
    try:
        if sent.get("direction") not in ("higher", "lower"):
            raise InvalidInput("say whether higher or lower scores are better")
        raw, file_name = sent_content(sent, "scores", "the scores")
        references = [name.strip() for name in str(sent.get("references") or "").split(",") if name.strip()]
        received = submit_scores(
            ask.site,
            ask.viewer,
            ask.board_name,
            str(sent.get("name", "")).strip(),
            raw,
            higher_is_better=sent["direction"] == "higher",
            training_data=str(sent.get("training_data") or ""),
            needs=[need for need in ("references", "input") if sent.get(f"needs_{need}")],
            references=references or None,
            trained_on_this_board=bool(sent.get("trained_here")),
            file_name=file_name,
            anonymous=bool(sent.get("anonymous")),
            entry=sent.get("entry") or "primary",
            about=sent_words(sent),
        )
    except (InvalidInput, Refused, NotAllowed) as error:
        return _scores_form(ask, sent, *mistakes_of(ask, error))
    return addresses.submission(received.submission.id)


def receive_address(ask: Ask, sent: Mapping[str, Any]) -> Body | str:
    """Take a metric's address, or say all that is wrong with it."""
    name = str(sent.get("name", "")).strip()
    try:
        way = next((way for way in _ways(ask) if way == sent.get("way")), None)
        if way is None:
            raise InvalidInput("choose what it is, of what this site takes")
        manifest = (
            {} if way == "hub" else {key: value for key, value in sent_manifest(sent, name).items() if key != "name"}
        )
        received = submit_address(
            ask.site,
            ask.viewer,
            ask.board_name,
            way,
            name,
            {part: str(sent.get(part) or "").strip() for part in PARTS[way]},
            manifest=manifest,
            anonymous=bool(sent.get("anonymous")),
            entry=sent.get("entry") or "primary",
            about=sent_words(sent),
        )
    except (InvalidInput, Refused, NotAllowed) as error:
        return _address_form(ask, sent, *mistakes_of(ask, error))
    return addresses.submission(received.submission.id)


def _ways(ask: Ask) -> tuple[Addressed, ...]:
    """The kinds of address that the site's owner allows."""
    settings = ask.site.settings.metrics
    allowed = {"hub": settings.hub, "image": settings.images, "endpoint": settings.endpoints}
    return tuple(way for way in ADDRESSED if allowed[way])


def sent_content(sent: Mapping[str, Any], pasted_name: str, what: str) -> tuple[bytes, str]:
    """What was sent: a file or a pasted text, not both and not neither."""
    upload, pasted = sent.get("file"), str(sent.get("pasted") or "")
    has_file = isinstance(upload, Upload) and (upload.name or upload.content)
    if has_file and pasted.strip():
        raise InvalidInput(f"{what} came twice, as a file and as pasted text; send one of them")
    if isinstance(upload, Upload) and has_file:
        return upload.content, upload.name or pasted_name
    if not pasted.strip():
        raise InvalidInput(f"nothing was sent: choose a file with {what}, or paste it")
    return pasted.replace("\r\n", "\n").encode("utf-8", "replace"), f"pasted {pasted_name}"


def sent_words(sent: Mapping[str, Any]) -> dict[str, Any]:
    """What a form says of an entry."""
    return {word: str(sent.get(word) or "").strip() for word in ("description", "paper", "url")}


def sent_costs(sent: Mapping[str, Any]) -> dict[str, Any]:
    """What a form says a generator costs; an empty field says nothing."""
    return {name: str(sent.get(name) or "").strip() for name in COSTS}


def sent_manifest(sent: Mapping[str, Any], name: str) -> dict[str, Any]:
    """What the form declares; a folder's own metric.toml goes before it."""
    needs = [need for need in ("references", "input", "corpus") if sent.get(f"needs_{need}")]
    declared: dict[str, Any] = {"name": name, "higher_is_better": sent.get("direction") != "lower", "needs": needs}
    declared["training_data"] = str(sent.get("training_data") or "").strip()
    declared["trained_on_this_board"] = bool(sent.get("trained_here"))
    if sent.get("description"):
        declared["summary"] = str(sent["description"]).strip()[:2000]
    return declared


def problem_words(problem: Problem) -> str:
    """A mistake and where it stands."""
    return f"{problem.path}{'' if problem.line is None else f', line {problem.line}'}: {problem.message}"


def mistakes_of(ask: Ask, error: BillboardsError) -> tuple[list[str], int]:
    """Every mistake in words, and the status."""
    if isinstance(error, InvalidSubmission):
        return list(map(problem_words, error.problems)), 413 if isinstance(error, TooLarge) else 422
    if isinstance(error, NotAllowed):
        return [str(error)], 403 if ask.viewer.account else 401
    return [str(error)], 409 if isinstance(error, Refused) else 422


GENERATOR, METRIC = "/boards/{board}/submit/generator", "/boards/{board}/submit/metric"
SCORES, ADDRESS = "/boards/{board}/submit/scores", "/boards/{board}/submit/address"

router.add_route("/boards/{board}/submit", reading(show_choice, kept=False), include_in_schema=False)
router.add_route(GENERATOR, reading(show_generator_form, kept=False), include_in_schema=False)
router.add_route(GENERATOR, changing(receive_generator), methods=["POST"], include_in_schema=False)
router.add_route(METRIC, reading(show_metric_form, kept=False), include_in_schema=False)
router.add_route(METRIC, changing(receive_metric), methods=["POST"], include_in_schema=False)
router.add_route(SCORES, reading(show_scores_form, kept=False), include_in_schema=False)
router.add_route(SCORES, changing(receive_scores), methods=["POST"], include_in_schema=False)
router.add_route(ADDRESS, reading(show_address_form, kept=False), include_in_schema=False)
router.add_route(ADDRESS, changing(receive_address), methods=["POST"], include_in_schema=False)
