"""What pydantic finds wrong with a table, in words: under which key, what must stand there, what was found.

A field's description says what it must be ("a number from 0 to 1"), so that one text serves whoever reads the code and
whoever made the mistake.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from billboards.errors import UnknownName
from billboards.reading import shown


def mistakes(
    error: ValidationError, model: type[BaseModel], table: Mapping[str, Any], what: str, *, also: Sequence[str] = ()
) -> Iterator[str]:
    """Every mistake in a table, one message for each key.

    what: what messages call the table
    also: keys that it may have beside the model's
    """
    details: dict[str, ErrorDetails] = {}
    for detail in error.errors(include_url=False):
        # A name that is no text, with half a character in it, has no place.
        key = str((detail["loc"] or ("a name",))[0])
        if detail["type"] == "extra_forbidden":
            details[key] = detail
        else:
            details.setdefault(key, detail)
    # One by one as they are asked for: looking for names like an unknown one takes long, and there may be many.
    for key, detail in details.items():
        if detail["type"] == "extra_forbidden":
            yield f"{key}: {UnknownName(f'key of {what}', key, (*model.model_fields, *also))}"
        else:
            field = model.model_fields.get(key)
            yield f"{key}: {_message(detail, None if field is None else field.description, table, key)}"


def _message(detail: ErrorDetails, wanted: str | None, table: Mapping[str, Any], key: str) -> str:
    if detail["type"] == "value_error":
        return str(detail["ctx"]["error"])
    if key not in table:
        return f"is missing{f'; write it as {wanted}' if wanted else ''}"
    if wanted is None:
        return f"{detail['msg']}; found {shown(table[key])}"
    return f"must be {wanted}; found {shown(table[key])}"
