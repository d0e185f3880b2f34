"""What is declared for people and programs: commands with their help, metrics, importers, settings, addresses."""

from __future__ import annotations

import argparse
import os
import random
from collections.abc import Iterable, Iterator
from dataclasses import MISSING, asdict, fields
from pathlib import Path
from typing import Any

import pytest
from approving import approve

from billboards.analyses.audit.perturbations import ATTACKS, PERTURBATIONS, Original
from billboards.board import schema as board_schema
from billboards.campaigns.questions import question_kind
from billboards.catalogue import read_catalogue
from billboards.cli.main import command_groups, command_parser, every_command
from billboards.cli.mcp_server import input_schema, readers
from billboards.ensembles import FAMILIES
from billboards.formats import FORMATS
from billboards.importers import IMPORTERS
from billboards.metrics.base import Metric
from billboards.metrics.cards import card_facts
from billboards.metrics.discovery import _own_metrics, metric_class
from billboards.options import Option
from billboards.selectors import SELECTORS
from billboards.site.database.schema import metadata
from billboards.site.settings import BoardSettings, SiteSettings
from billboards.site.site import open_site
from billboards.site.web.app import create_app


@pytest.mark.parametrize("name", every_command())
def test_a_command_explains_itself_as_approved(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2}, raising=False)
    approve(f"commands/{name}", explained(command_parser(name)))


def test_commands_are_listed_as_approved() -> None:
    approve("commands", {"all": every_command(), "groups": command_groups()})


def explained(parser: argparse.ArgumentParser) -> dict[str, Any]:
    """What a command takes; how it is laid out is Python's."""
    # Commands of an analysis add their arguments when they are first asked for.
    parser.format_help()
    words: dict[str, Any] = {
        "says": (parser.description or "").splitlines(),
        "ends": (parser.epilog or "").splitlines(),
    }
    for group in parser._action_groups:
        for action in group._group_actions:
            if isinstance(action, argparse._SubParsersAction):
                words |= {f"{name} …": explained(each) for name, each in action.choices.items()}
            else:
                words[" ".join(action.option_strings) or action.dest] = argument_facts(action, group.title)
    return words


def argument_facts(action: argparse.Action, group: str | None) -> dict[str, Any]:
    facts = {
        "help": action.help,
        "in": group,
        "shown as": action.metavar,
        "default": None if action.default == argparse.SUPPRESS else plain(action.default),
        "choices": None if action.choices is None else [str(choice) for choice in action.choices],
        "times": action.nargs,
        "always": action.const,
        "required": action.required or None,
    }
    return {name: fact for name, fact in facts.items() if fact is not None}


def plain(value: Any) -> Any:
    return str(value) if isinstance(value, Path) else value


@pytest.mark.parametrize("name", sorted(_own_metrics()))
def test_a_metric_is_as_approved(name: str) -> None:
    made = metric_class(name)
    approve(f"metrics/{name}", {"card": asdict(made.card), **dict(metric_facts(made))})


def metric_facts(made: type[Metric]) -> Iterator[tuple[str, Any]]:
    flags = ("multiple_references", "needs_corpus", "corpus", "scores_together", "submodular", "may_abstain", "travels")
    yield "class", {flag: getattr(made, flag) for flag in flags} | {"resources": made.resources}
    options = {}
    for option in fields(made):
        default = option.default if option.default is not MISSING else "made anew"
        options[option.name] = {"default": default, "type": str(option.type), **option.metadata}
    yield "options", options
    if not made.card.needs_part:
        yield "in words", card_facts(made())


def option_facts(options: Iterable[Option]) -> dict[str, Any]:
    return {
        option.outer: {
            "help": option.help,
            "type": getattr(option.type, "__name__", str(option.type)),
            "default": plain(option.default),
            "choices": option.choices,
            "limits": [str(limit) for limit in option.limits],
            "is": [word for word in ("required", "positional", "many", "argument") if getattr(option, word)],
        }
        for option in options
    }


@pytest.mark.parametrize("name", IMPORTERS.own)
def test_an_importer_is_as_approved(name: str) -> None:
    importer = IMPORTERS.load(name)
    card = None if importer.card is None else asdict(importer.card)
    options = option_facts(importer.options)
    approve(f"importers/{name}", {"reads": importer.summary, "card": card, "options": options})


def test_what_is_chosen_by_name_is_as_approved() -> None:
    forms = {name: [FORMATS.summary(name), FORMATS.load(name).can_write] for name in FORMATS.own}
    approve(
        "names",
        {
            "formats": forms,
            "selectors": {name: SELECTORS.summary(name) for name in SELECTORS.own},
            "ensembles": {name: FAMILIES.summary(name) for name in FAMILIES.own},
        },
    )


@pytest.mark.parametrize("name", ["best-worst", "preference", "scale", "slider", "spans", "text"])
def test_a_kind_of_question_is_as_approved(name: str) -> None:
    kind = question_kind(name)
    facts = ("compares", "has_value", "asks_people")
    keys = {
        key: {"default": field.get_default(), "is": field.description, "required": field.is_required()}
        for key, field in kind.model_fields.items()
    }
    approve(f"questions/{name}", {"class": {fact: getattr(kind, fact) for fact in facts}, "keys": keys})


def test_the_catalogue_is_as_approved() -> None:
    said = ("title", "task", "languages", "judged", "licence", "citation", "importer", "source", "options")
    approve("catalogue", {entry.name: {word: getattr(entry, word) for word in said} for entry in read_catalogue()})


def test_settings_are_as_approved() -> None:
    approve("settings/site", SiteSettings.model_json_schema())
    approve("settings/board-on-a-site", BoardSettings.model_json_schema())
    approve("settings/board", board_schema.board_schema())


def test_tables_of_the_database_are_as_approved() -> None:
    tables = {}
    for table in metadata.sorted_tables:
        columns = {column.name: column_facts(column) for column in table.columns}
        indexes = {str(index.name): [str(part) for part in index.expressions] for index in table.indexes}
        tables[table.name] = {"columns": columns, "indexes": dict(sorted(indexes.items()))}
    approve("database", tables)


def column_facts(column: Any) -> str:
    default = None if column.default is None else getattr(column.default, "arg", None)
    words = [str(column.type)]
    words += ["key"] if column.primary_key else []
    words += [] if column.nullable else ["needed"]
    words += [f"default {default}"] if default is not None and not callable(default) else []
    words += [f"server default {column.server_default.arg}"] if column.server_default is not None else []
    words += [f"to {key.target_fullname}" for key in column.foreign_keys]
    return ", ".join(words)


def test_what_an_assistant_may_ask_is_as_approved() -> None:
    tools = {name: [asked.explanation, input_schema(asked, ["small"])] for name, asked in readers().items()}
    approve("assistant", tools)


def test_addresses_for_programs_are_as_approved(tmp_path: Path) -> None:
    site = open_site(tmp_path / "data")
    try:
        document = create_app(site).openapi()
    finally:
        site.close()
    for address, methods in document["paths"].items():
        for method in methods.values():
            method.pop("operationId", None)
            method.pop("responses", None)
        document["paths"][address] = methods
    approve("addresses", {"paths": document["paths"]})


#: Texts to spoil: plain ones in several languages, one with all that can be changed, and hardly any.
SPOILT = (
    ("en", "Mary Jones was in Paris on 3 May, and two friends of hers will not have seen it; isn't that odd?"),
    ("en", "it is"),
    (
        "en",
        "The council has said that the ferry can leave at 12:30. It will call at seven islands! No one is left out.",
    ),
    ("de", "Der Rat hat gesagt, dass Anna Schmidt kommt. Das Schiff ist nicht weg, es wird um 9 Uhr da sein."),
    ("es", "El barco es grande y puede salir a las 10. María está en la isla."),
    ("zh", "轮船是大的，可以在10点离开。他们会来。"),
    ("xx", "abc def ghi jkl mno pqr stu vwx"),
)


def test_texts_are_spoilt_as_approved() -> None:
    spoilt = {}
    for language, text in SPOILT:
        for perturbation in (*PERTURBATIONS, *ATTACKS):
            given = Original(
                text=text,
                input="Le bateau est parti à midi. Il fait beau.",
                language=language,
                names=("Rome", "Peter Smith"),
                random=random.Random(7),
                input_language="fr",
            )
            spoilt[f"{perturbation.name}: {text[:24]}"] = perturbation(given)
    summaries = {one.name: [one.summary, one.languages] for one in (*PERTURBATIONS, *ATTACKS)}
    approve("spoilt", {"summaries": summaries, "texts": spoilt})
