"""Sending in a metric or a generator to all boards of a suite by form; what any board objects to is named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import APIRouter

from billboards.errors import InvalidInput, NotAllowed, Refused
from billboards.show.words import one_line
from billboards.site.accounts.access import may
from billboards.site.submissions.forms import (
    mistakes_of,
    rules_of,
    sent_content,
    sent_manifest,
    sent_texts,
    sent_words,
)
from billboards.site.submissions.sending import Received
from billboards.site.submissions.suite_sending import (
    submit_generator_to_suite,
    submit_metric_to_suite,
    suite_taking,
)
from billboards.site.web import addresses
from billboards.site.web.asking import Ask, changing, reading
from billboards.site.web.rendering import Body

router = APIRouter()


def show_metric_form(ask: Ask) -> Body:
    """The empty form for a metric."""
    return _form(ask, "metric", {"needs_references": "yes", "direction": "higher"}, [], 200)


def show_generator_form(ask: Ask) -> Body:
    """The empty form for a generator."""
    return _form(ask, "generator", {}, [], 200)


def _form(ask: Ask, kind: str, sent: Mapping[str, Any], problems: list[str], status: int) -> Body:
    taking = suite_taking(ask.site, ask.params["suite"])
    if status == 200 and not may(ask.viewer, "submit"):
        title = one_line(taking.suite.title or taking.suite.name)
        return ask.page("submit_first_suite", kind=kind, next=ask.path, suite=taking.suite.name, title=title)
    rules = {board: rules_of(ask, ask.pages.look(board, ask.viewer)) for board in taking.labels}
    boards = [
        {
            "name": board,
            "label": label,
            "closed": rules[board]["closed"]
            or (f"board {board} takes no {kind}s" if kind not in rules[board]["accepts"] else None),
            "quota": [line for line in rules[board]["quota"] if line.startswith(kind)],
            "instances": len(ask.pages.look(board, ask.viewer).board.instances),
        }
        for board, label in taking.labels.items()
    ]
    return ask.page(
        f"submit_{kind}_suite",
        status=status,
        suite=taking.suite.name,
        title=one_line(taking.suite.title or taking.suite.name),
        boards=boards,
        sent=sent_texts(sent),
        problems=problems,
        has_phases=any(rule["has_phases"] for rule in rules.values()),
        is_owner=may(ask.viewer, "administer"),
    )


def receive_metric(ask: Ask, sent: Mapping[str, Any]) -> Body | str:
    """Take a metric on all boards, or say all that any of them objects to."""
    name = str(sent.get("name", "")).strip()
    try:
        raw, file_name = sent_content(sent, "metric.py", "the program")
        received = submit_metric_to_suite(
            ask.site,
            ask.viewer,
            ask.params["suite"],
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
        return _form(ask, "metric", sent, *mistakes_of(ask, error))
    return _after(ask, received)


def receive_generator(ask: Ask, sent: Mapping[str, Any]) -> Body | str:
    """Take a generator on all boards, or say all that is wrong."""
    try:
        raw, file_name = sent_content(sent, "outputs.zip", "the archive of outputs")
        received = submit_generator_to_suite(
            ask.site,
            ask.viewer,
            ask.params["suite"],
            str(sent.get("name", "")).strip(),
            raw,
            file_name=file_name,
            anonymous=bool(sent.get("anonymous")),
            entry=sent.get("entry") or "primary",
            about={**sent_words(sent), **({"human": True} if sent.get("human") else {})},
        )
    except (InvalidInput, Refused, NotAllowed) as error:
        return _form(ask, "generator", sent, *mistakes_of(ask, error))
    return _after(ask, received)


def _after(ask: Ask, received: Sequence[Received]) -> str:
    """The suite's page, which shows how far the entry is on every board."""
    return f"{addresses.suite(ask.params['suite'], sent=received[0].submission.id)}#entries"


METRIC, GENERATOR = "/suites/{suite}/submit/metric", "/suites/{suite}/submit/generator"

router.add_route(METRIC, reading(show_metric_form, kept=False), include_in_schema=False)
router.add_route(METRIC, changing(receive_metric), methods=["POST"], include_in_schema=False)
router.add_route(GENERATOR, reading(show_generator_form, kept=False), include_in_schema=False)
router.add_route(GENERATOR, changing(receive_generator), methods=["POST"], include_in_schema=False)
