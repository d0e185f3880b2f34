"""What owners decide: about one board (phases, quotas, what stays hidden, how it is ranked), and about the whole site.

A board's settings lie in the database, are changed by its owners and read by every process; a site's lie in `site.toml`
in the data folder. Secrets come from the environment, never from a file. Times are written as people write them, in UTC
unless they say otherwise.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

from billboards.analyses.ranking_results import Method
from billboards.board import ReferenceFree
from billboards.errors import InvalidInput, Refused, UnknownName
from billboards.reading import toml_document

FILE = "site.toml"
KINDS = ("generator", "metric")
MAIL_PASSWORD, OIDC_SECRET = "BILLBOARDS_MAIL_PASSWORD", "BILLBOARDS_OIDC_SECRET"
METRICS_TOKEN = "BILLBOARDS_METRICS_TOKEN"
#: Where a site's database is, before what site.toml says: an address may hold a password.
DATABASE = "BILLBOARDS_DATABASE"


@dataclass(frozen=True)
class Phase:
    """A stretch of a shared task; results of a blind one stay hidden until the owner reveals them."""

    name: str
    opens: float | None = None
    closes: float | None = None
    blind: bool = False

    def is_open(self, now: float) -> bool:
        return (self.opens is None or self.opens <= now) and (self.closes is None or now < self.closes)


@dataclass(frozen=True)
class BoardSettings:
    """What an owner decides about one board; None is no limit."""

    phases: tuple[Phase, ...] = ()
    per_day: int | None = None
    total: int | None = None
    accepts: tuple[str, ...] = KINDS
    hidden_references: bool = False
    hidden_judgments: bool = False
    revealed: bool = False
    frozen: float | None = None
    k: int = 3
    method: Method = "lasso"
    by: str | None = None
    #: The aggregate or dimension of judgments that ranks; None is the last campaign's, else the folder's.
    ranks: str | None = None
    #: Whether a metric without references may rank generators alone: "diagnostic" or "ranks"; None is the folder's.
    reference_free: ReferenceFree | None = None
    draws: int = 1000
    seed: int = 0
    quiet: float = 0.0

    def open_phase(self, now: float) -> Phase | None:
        """The phase that takes submissions now; raises, with the time, where all are closed."""
        if not self.phases:
            return None
        for phase in self.phases:
            if phase.is_open(now):
                return phase
        coming = [phase for phase in self.phases if phase.opens is not None and phase.opens > now]
        if coming:
            first = min(coming, key=lambda phase: phase.opens or now)
            raise Refused(f"submissions open with phase {first.name} on {moment(first.opens or now)}; come back then")
        last = max(self.phases, key=lambda phase: phase.closes or now)
        raise Refused(f"phase {last.name} closed on {moment(last.closes or now)}; submissions are over")

    def hides(self, phase: str | None) -> bool:
        """Whether results of submissions to this phase are still hidden."""
        return not self.revealed and any(one.name == phase and one.blind for one in self.phases)

    def document(self) -> dict[str, Any]:
        """The settings as they are kept and sent."""
        found: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(self)}
        found["accepts"] = list(self.accepts)
        found["frozen"] = None if self.frozen is None else moment(self.frozen)
        found["phases"] = [
            {
                "name": phase.name,
                "opens": None if phase.opens is None else moment(phase.opens),
                "closes": None if phase.closes is None else moment(phase.closes),
                "blind": phase.blind,
            }
            for phase in self.phases
        ]
        return found


def read_board_settings(document: Mapping[str, Any], *, where: str = "settings") -> BoardSettings:
    """A board's settings from a document; every key is checked, one that is absent has its default."""
    values = _checked(BoardSettings, document, where)
    if "phases" in values:
        values["phases"] = _phases(values["phases"], where)
    if values.get("frozen") is not None:
        values["frozen"] = _moment(values["frozen"], f"{where}: frozen")
    for kind in values.get("accepts", ()):
        if kind not in KINDS:
            raise UnknownName("kind of submission", str(kind), KINDS)
    if values.get("method", "lasso") not in ("lasso", "best-subset"):
        raise UnknownName("method", str(values["method"]), ("lasso", "best-subset"))
    if values.get("reference_free") not in (None, "diagnostic", "ranks"):
        raise UnknownName("rule for reference-free metrics", str(values["reference_free"]), ("diagnostic", "ranks"))
    for word, least in (("per_day", 0), ("total", 0), ("k", 1), ("draws", 0), ("quiet", 0)):
        if values.get(word) is not None and values[word] < least:
            raise InvalidInput(f"{where}: {word} must be {least} or more; found {values[word]!r}")
    return BoardSettings(**values)


def _phases(items: Any, where: str) -> tuple[Phase, ...]:
    found: list[Phase] = []
    for k, item in enumerate(items, 1):
        place = f"{where}: phase {k}"
        if not isinstance(item, Mapping):
            raise InvalidInput(f'{place} must be an object, as in {{"name": "test", "closes": "2026-05-01T12:00Z"}}')
        values = _checked(Phase, item, place)
        for word in ("opens", "closes"):
            if values.get(word) is not None:
                values[word] = _moment(values[word], f"{place}: {word}")
        phase = Phase(**values)
        if phase.name in {one.name for one in found} or not phase.name:
            raise InvalidInput(f"{place} needs a name of its own; found {phase.name!r}")
        if phase.opens is not None and phase.closes is not None and phase.closes <= phase.opens:
            raise InvalidInput(f"{place} ({phase.name}) closes before it opens; exchange the two times")
        found.append(phase)
    return tuple(found)


@dataclass(frozen=True)
class MailSettings:
    """Where e-mail is handed over; the password comes from the environment."""

    host: str
    sender: str
    port: int = 25
    user: str | None = None
    starttls: bool = False

    @property
    def password(self) -> str | None:
        return os.environ.get(MAIL_PASSWORD)


@dataclass(frozen=True)
class OidcSettings:
    """Who vouches for people who log in elsewhere; the client's secret comes from the environment."""

    issuer: str
    client_id: str
    name: str = "single sign-on"
    role: str = "submitter"

    @property
    def secret(self) -> str | None:
        return os.environ.get(OIDC_SECRET)


@dataclass(frozen=True)
class RetentionSettings:
    """How many whole days a site keeps what nobody needs for ever; None is for ever. See `site.tidying`."""

    #: Lines of the logs of submissions that are over.
    log_days: int | None = None
    #: Entries of the audit trail.
    trail_days: int | None = None
    #: Notices that were sent or given up.
    notice_days: int | None = None
    #: Real names of annotators after their last campaign was closed.
    annotator_days: int | None = None
    #: Every ranking; of older ones the last of each day stays, and so do those that are cited.
    ranking_days: int | None = None
    cited: tuple[str, ...] = ()
    #: Files of submissions that were withdrawn or rejected.
    withdrawn_days: int | None = None
    #: Submitted files, unpacked metrics and environments that no submission names.
    orphan_days: int | None = None


@dataclass(frozen=True)
class SiteSettings:
    """What holds for a whole site. Times are in seconds, sizes in bytes."""

    title: str = "billboards"
    base_url: str = ""
    #: The database's address, such as postgresql://host/name; empty is a SQLite file in the data folder.
    database: str = ""
    #: Where submitted files are, such as s3://bucket/prefix; empty is a folder in the data folder.
    blobs: str = ""
    lease_seconds: float = 60.0
    attempts: int = 3
    poll_seconds: float = 0.5
    session_seconds: float = 14 * 86400.0
    generator_bytes: int = 64 * 2**20
    metric_bytes: int = 256 * 2**20
    #: What a form or a JSON document may hold, and what a form may hold beside its file.
    form_bytes: int = 2**20
    #: Characters of one output.
    text_characters: int = 100_000
    reads_per_minute: int = 1200
    changes_per_minute: int = 60
    #: Places in one server process, and how many of them one address may have.
    requests: int = 1000
    requests_each: int = 400
    uploads: int = 8
    uploads_each: int = 4
    streams: int = 256
    streams_each: int = 32
    #: Pages that one server process computes at the same time.
    pages_at_once: int = 8
    program_seconds: float = 600.0
    program_memory: int = 4 * 2**30
    wheels: str | None = None
    #: Suites' files beside those in DATA/suites, relative to DATA.
    suites: tuple[str, ...] = ()
    #: How processes write their log: "text", or "json" for one object a line.
    logs: str = "text"
    #: Free space of the data folder's disk below which the site calls itself unready.
    free_bytes: int = 256 * 2**20
    mail: MailSettings | None = None
    oidc: OidcSettings | None = None
    retention: RetentionSettings = field(default_factory=RetentionSettings)

    @property
    def metrics_token(self) -> str | None:
        """What a program elsewhere must send to read /metrics; without one only this machine may."""
        return os.environ.get(METRICS_TOKEN)


def read_site_settings(data: Path) -> SiteSettings:
    """The settings in a data folder; without a file, the defaults."""
    path = data / FILE
    if not path.exists():
        return SiteSettings()
    try:
        document = toml_document(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InvalidInput(f"{path}: can't be read: {error}") from error
    values = _checked(SiteSettings, document, str(path))
    _check_retention(values.get("retention", {}), f"{path}: [retention]")
    for word, kind in (("mail", MailSettings), ("oidc", OidcSettings), ("retention", RetentionSettings)):
        if values.get(word) is not None:
            values[word] = kind(**_checked(kind, values[word], f"{path}: [{word}]"))
    if values.get("logs", "text") not in ("text", "json"):
        raise UnknownName(f"form of logs in {path}", values["logs"], ("text", "json"))
    return SiteSettings(**values)


def _check_retention(said: Mapping[str, Any], where: str) -> None:
    for word, days in said.items():
        if word.endswith("_days") and (type(days) is not int or days < 1):
            raise InvalidInput(f"{where}: {word} must be a whole number of days, 1 or more; found {days!r}")
    cited = said.get("cited", [])
    if not isinstance(cited, list) or not all(isinstance(one, str) for one in cited):
        raise InvalidInput(f"{where}: cited must be a list of rankings' ids, as in their addresses; found {cited!r}")


def moment(seconds: float) -> str:
    """A time as people read it, in UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _moment(value: object, where: str) -> float:
    try:
        found = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        found = None
    if found is None:
        raise InvalidInput(f"{where} must be a time, as in 2026-05-01T12:00Z; found {value!r}")
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


#: What may stand where a type is annotated, by the annotation's first word; a whole number is a number.
_TYPES: Mapping[str, tuple[type, ...]] = MappingProxyType(
    {
        "int": (int,),
        "float": (int, float),
        "str": (str,),
        "bool": (bool,),
        "tuple": (list, tuple),
        "Method": (str,),
        "ReferenceFree": (str,),
    }
)


def _checked(kind: Any, document: Mapping[str, Any], where: str) -> dict[str, Any]:
    """A settings class's values from a document: known keys, of the right types, none missing."""
    known = {f.name: f for f in fields(kind)}
    for key in document:
        if key not in known:
            raise UnknownName(f"setting in {where}", str(key), known)
    for name, f in known.items():
        if f.default is MISSING and f.default_factory is MISSING and name not in document:
            raise InvalidInput(f"{where}: {name} is missing")
    return {key: _typed(known[key], value, f"{where}: {key}") for key, value in document.items()}


def _typed(setting: Any, value: Any, where: str) -> Any:
    words = str(setting.type).replace("[", " ").split()
    if value is None and "None" in words:
        return None
    if setting.name in ("opens", "closes", "frozen"):
        return value
    wanted = _TYPES.get(words[0], (Mapping,))
    if not isinstance(value, wanted) or (isinstance(value, bool) and bool not in wanted):
        raise InvalidInput(f"{where} must be {words[0]}; found {value!r}")
    return tuple(value) if isinstance(value, list) else value
