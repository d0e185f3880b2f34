"""A setting is declared once: its form field, its line in the docs and its schema follow, and lead back to it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from billboards.errors import InvalidSettings
from billboards.site.colours import contrast, contrast_mistake, least_contrast, lightened
from billboards.site.organise.setting_fields import (
    SECTIONS,
    SettingsChanges,
    SettingsFacts,
    about_fields,
    board_fields,
    fields_of,
    shown_values,
    typed_document,
)
from billboards.site.settings import (
    AboutSettings,
    BoardSettings,
    DatedLine,
    FilesWanted,
    Phase,
    TrustSettings,
    read_board_settings,
)

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = "\n".join((DOCS / name).read_text("utf-8") for name in ("running-a-site.md", "publishing.md"))
FULL: dict[str, Any] = {
    "phases": [
        {"name": "dev", "closes": "2026-05-01T12:00Z"},
        {"name": "test", "opens": "2026-05-01T12:00:30Z", "blind": True},
    ],
    "per_day": 2,
    "accepts": ["metric"],
    "inputs_from": "test",
    "ladder": 0.01,
    "k": 5,
    "by": "chrF",
    "sides": "one",
    "quiet": 1.5,
    "metrics": ["chrF", "BLEU"],
    "trust": {"bars": ["tokenised", "empty"], "private_share": 0.25, "private_seed": 7, "barred": {"me": "has = seen"}},
    "about": {
        "title": "Ferries",
        "rules": "One\n\ntwo",
        "timeline": [{"at": "2026-09-01T00:00Z", "words": "Workshop"}],
        "accent": "#0f766e",
    },
}


def test_every_setting_stands_in_exactly_one_section_of_the_form() -> None:
    listed = [key for keys in SECTIONS.values() for key in keys]
    assert sorted(listed) == sorted(set(BoardSettings.model_fields) - {"trust", "about"})
    assert sorted(key for key in board_fields() if "." not in key) == sorted(listed)


def test_every_setting_has_a_title_and_a_sentence() -> None:
    fields = (*board_fields().values(), *about_fields().values())
    inner = [part for field in fields for part in field.fields]
    assert [field.key for field in (*fields, *inner) if not field.title or not field.sentence] == []


@pytest.mark.parametrize("document", [{"trust": {}}, FULL])
def test_what_a_form_shows_is_read_back_as_the_same_settings(document: dict[str, Any]) -> None:
    settings = read_board_settings(document)
    fields = (*board_fields().values(), *about_fields().values())
    typed = typed_document(fields, shown_values(fields, settings.document()))
    assert read_board_settings(typed) == settings


def test_mistakes_in_a_form_are_named_at_their_places_and_keep_what_was_typed() -> None:
    fields = tuple(board_fields().values())
    values = shown_values(fields, read_board_settings({"trust": {}}).document())
    values |= {"k": "three", "draws": "-1", "phases.0.name": "", "phases.0.opens": "soon", "trust.bars_from": "2"}
    with pytest.raises(InvalidSettings) as refused:
        read_board_settings(typed_document(fields, values))
    at = dict(zip(refused.value.places, refused.value.problems, strict=True))
    assert at["k",] == "k must be a whole number; found 'three'"
    assert at["draws",] == "draws must be 0 or more; found -1"
    assert at["phases", 0, "name"] == "phases 1: name must not be empty; found ''"
    assert at["phases", 0, "opens"] == "phases 1: opens must be a time, as in 2026-05-01T12:00Z; found 'soon'"
    assert at["trust", "bars_from"] == "[trust]: bars_from must be at most 1.0; found 2"


def test_entries_that_are_empty_or_removed_are_left_out() -> None:
    fields = (board_fields()["phases"],)
    sent = {"phases.0.name": "dev", "phases.0.remove": "yes", "phases.3.name": "test", "phases.4.name": ""}
    assert typed_document(fields, sent)["phases"] == [{"name": "test", "opens": None, "closes": None, "blind": False}]


def docs_table(model: type[BaseModel]) -> str:
    """The settings of a model as a table of the docs."""
    lines = ["| key | meaning | default |", "| --- | --- | --- |"]
    for field in fields_of(model):
        info = model.model_fields[field.key]
        sentence = f"{field.title}: {field.sentence}" + (f" ({field.range})" if field.range else "")
        lines.append(f"| `{field.key}` | {sentence} | {_default_words(info)} |")
    return "\n".join(lines)


def _default_words(info: FieldInfo) -> str:
    value = info.get_default(call_default_factory=True) if not info.is_required() else PydanticUndefined
    if value is PydanticUndefined:
        return "must be stated"
    if value in (None, (), {}):
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(value) if isinstance(value, tuple) else f"{value:g}" if isinstance(value, float) else str(value)


def board_docs() -> Iterator[tuple[str, str]]:
    """The tables of docs/running-a-site.md and docs/publishing.md, by what they are about."""
    yield "settings", docs_table(BoardSettings)
    yield "phases", docs_table(Phase)
    yield "trust", docs_table(TrustSettings)
    yield "about", docs_table(AboutSettings)
    yield "files", docs_table(FilesWanted)
    yield "timeline", docs_table(DatedLine)


def test_the_docs_have_the_tables_that_the_declarations_make() -> None:
    for name, table in board_docs():
        written = re.search(rf"<!-- {name} -->\n(.*?)\n<!-- end -->", PAGE, re.S)
        assert written is not None, name
        assert written[1] == table, f"docs: write the table of {name} anew"


def test_the_schema_of_changes_knows_every_setting_and_needs_none() -> None:
    schema = SettingsChanges.model_json_schema()
    assert set(schema["properties"]) == set(BoardSettings.model_fields)
    assert "required" not in schema
    assert schema["properties"]["per_day"]["anyOf"][0] == {"minimum": 0, "type": "integer"}
    assert schema["properties"]["k"]["description"] == "the most metrics that an ensemble uses"


def test_answers_are_the_settings_as_they_are_kept() -> None:
    document = read_board_settings(FULL).document()
    assert SettingsFacts.model_validate(document).model_dump(mode="json") == document


def test_an_accent_colour_must_be_readable_in_its_theme() -> None:
    assert round(contrast("#ffffff", "#000000"), 2) == 21.0
    assert contrast_mistake("#1d4ed8", dark=False) is None
    assert "contrast is 3.6 to 1" in str(contrast_mistake("#ff0000", dark=False))
    assert "choose a lighter colour" in str(contrast_mistake("#1d4ed8", dark=True))
    for colour in ("#1d4ed8", "#000000", "#7c3aed", "#14532d"):
        assert least_contrast(lightened(colour), dark=True) >= 4.5
    with pytest.raises(InvalidSettings, match="can't be read well on the light theme"):
        read_board_settings({"about": {"accent": "#eeeeee"}})
    with pytest.raises(InvalidSettings, match="accent must be a colour"):
        read_board_settings({"about": {"accent": "red;}body{display:none"}})


def test_inputs_wait_for_a_phase_that_opens() -> None:
    with pytest.raises(InvalidSettings, match="a phase with a time at which it opens; there is none"):
        read_board_settings({"phases": [{"name": "dev"}], "inputs_from": "dev"})
    settings = read_board_settings(FULL)
    assert settings.inputs_open is not None
    assert [settings.withholds_inputs(settings.inputs_open + seconds) for seconds in (-1, 0)] == [True, False]


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"about": {"rules": "a\u202eb"}}, "about.rules has a sign that nobody sees (U+202E)"),
        (
            {"about": {"timeline": [{"at": "2026-05-01", "words": "x\0"}]}},
            "about.timeline 1.words has a sign that nobody",
        ),
        ({"\u2066": "a\x1b[2J"}, "(U+001B)"),
    ],
)
def test_signs_that_nobody_sees_are_refused_in_every_text(document: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidSettings) as refused:
        read_board_settings(document)
    assert message in str(refused.value)


def test_line_ends_and_tabs_are_no_such_signs() -> None:
    assert read_board_settings({"about": {"rules": "a\n\tb\r\n"}}).about.rules
