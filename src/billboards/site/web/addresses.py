"""Where things are found on the site: one function per kind of page, so that names with odd characters lead home."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote, urlencode

Query = Mapping[str, object]


def board(name: str, *rest: str, **query: object) -> str:
    """A board's page, or one below it."""
    return "/".join(("/boards", *(quote(part, safe="") for part in (name, *rest)))) + asked(query)


def metric(name: str, metric_name: str) -> str:
    return board(name, "metrics", metric_name)


def generator(name: str, generator_name: str) -> str:
    return board(name, "generators", generator_name)


def instance(name: str, instance_id: str, **query: object) -> str:
    return board(name, "instances", instance_id, **query)


def matching(name: str, instance_id: str, **query: object) -> str:
    return board(name, "matching", instance_id, **query)


def submission(identity: str, *rest: str) -> str:
    return "/".join(("/submissions", *(quote(part, safe="") for part in (identity, *rest))))


def campaign(identity: str, *rest: str) -> str:
    """A campaign wherever its board is: what links in mails lead to, and where people with accounts annotate."""
    return "/".join(("/campaigns", *(quote(part, safe="") for part in (identity, *rest))))


def draft(name: str, *rest: str) -> str:
    """A board that is being made."""
    return "/".join(("/organise/drafts", *(quote(part, safe="") for part in (name, *rest))))


def template(name: str) -> str:
    return f"/templates/{quote(name, safe='')}"


def suite(name: str, *rest: str, **query: object) -> str:
    """A suite's page, or one below it."""
    return "/".join(("/suites", *(quote(part, safe="") for part in (name, *rest)))) + asked(query)


def chart(name: str, *rest: str, **query: object) -> str:
    return board(name, "charts", *rest, **query)


def asked(query: Query) -> str:
    """A query string without what is empty; a list asks for the same thing several times."""
    pairs = [
        (key, str(item))
        for key, value in query.items()
        for item in (value if isinstance(value, list | tuple) else [value])
        if item not in (None, "")
    ]
    return f"?{urlencode(pairs)}" if pairs else ""
