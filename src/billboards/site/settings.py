"""What owners decide: about one board (phases, quotas, what stays hidden, how it is ranked), and about the whole site.

A board's settings lie in the database, are changed by its owners and read by every process; a site's lie in `site.toml`
in the data folder. Secrets come from the environment, never from a file. Times are written as people write them, in UTC
unless they say otherwise. Every value has a range, a key that nobody reads is refused, and all mistakes are named at
once.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, ValidationInfo, field_validator
from pydantic_core import ErrorDetails, PydanticCustomError

from billboards.analyses._families import AUTO
from billboards.analyses.ensemble import Method
from billboards.board import ReferenceFree
from billboards.board.trust import DoubtKind, Flagged, TrustRules
from billboards.errors import InvalidInput, InvalidSettings, Refused
from billboards.reading import shown, toml_document, unseen_sign
from billboards.site.colours import contrast_mistake
from billboards.stats.significance import Sides

FILE = "site.toml"
MAIL_PASSWORD, OIDC_SECRET = "BILLBOARDS_MAIL_PASSWORD", "BILLBOARDS_OIDC_SECRET"
METRICS_TOKEN = "BILLBOARDS_METRICS_TOKEN"
#: The most draws of a ranking, and metrics of an ensemble: of more no machine has the memory.
MOST_DRAWS, MOST_METRICS = 10**6, 1000
#: How many mistakes of one document are named.
LISTED = 100
#: Where a site's database is, before what site.toml says: an address may hold a password.
DATABASE = "BILLBOARDS_DATABASE"


def said_moment(seconds: float) -> str:
    """A time as people read it, in UTC because they sit everywhere."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")


def moment(seconds: float) -> str:
    """A time as documents hold it, in UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def read_moment(value: object) -> float:
    """Seconds since 1970 from a time as people write it."""
    try:
        time = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        time = None
    if time is None:
        raise PydanticCustomError("moment", "must be a time, as in 2026-05-01T12:00Z")
    try:
        # On the day before the first and after the last there is a time elsewhere, but none in UTC.
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC).timestamp()
    except OverflowError:
        raise PydanticCustomError("moment", "must be a time of the years 1 to 9999 in UTC") from None


def _read_days(value: object) -> int:
    if type(value) is not int or value < 1:
        raise PydanticCustomError("days", "must be a whole number of days, 1 or more")
    return value


def _read_list(value: object) -> object:
    """A list of a document as the tuple that it becomes."""
    return tuple(value) if isinstance(value, list) else value


#: Ranges that settings share. A whole number may stand where a number is asked for.
AtLeastOne = Annotated[int, Field(ge=1)]
NotNegative = Annotated[int, Field(ge=0)]
Seconds = Annotated[float, Field(gt=0)]
Step = Annotated[float, Field(gt=0, le=1)]
Moment = Annotated[float, BeforeValidator(read_moment)]
Days = Annotated[int, BeforeValidator(_read_days)]
Texts = Annotated[tuple[str, ...], BeforeValidator(_read_list)]


class _Settings(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="forbid", allow_inf_nan=False)


class Phase(_Settings):
    """A stretch of a shared task; results of a blind one stay hidden until the owner reveals them."""

    name: str = Field(min_length=1, max_length=100, title="Name", description="what the phase is called")
    opens: Moment | None = Field(
        default=None, title="Opens", description="when submissions are first taken; empty is at once (UTC)"
    )
    closes: Moment | None = Field(
        default=None, title="Closes", description="when submissions are no longer taken; empty is never (UTC)"
    )
    blind: bool = Field(
        default=False, title="Blind", description="results of this phase stay hidden until the organisers reveal them"
    )

    def is_open(self, now: float) -> bool:
        return (self.opens is None or self.opens <= now) and (self.closes is None or now < self.closes)


class TrustSettings(_Settings):
    """What an owner lets count on one board; see `board.trust`."""

    bars: Annotated[tuple[DoubtKind, ...], BeforeValidator(_read_list)] = Field(
        default=TrustRules().bars,
        title="Doubts that bar",
        description="a submitted generator with such a doubt gets no rank",
    )
    bars_from: Annotated[float, Field(ge=0, le=1)] = Field(
        default=TrustRules().bars_from,
        title="Share of outputs",
        description="a doubt bars from this share of a generator's outputs on",
    )
    private_share: Annotated[float, Field(gt=0, lt=1)] | None = Field(
        default=None,
        title="Private share of judgments",
        description="metrics are measured on this share of the judged instances, which only owners are shown; "
        "empty is none",
    )
    private_seed: NotNegative | None = Field(
        default=None,
        title="Seed of the private share",
        description="which instances are private; empty lets the site choose, and only owners are told",
    )
    flagged: Flagged = Field(
        default="out",
        title="Flagged metrics",
        description="out: a metric that something speaks against may not lead; count: it may",
    )
    admits: Texts = Field(
        default=(), title="Admitted", description="metrics and generators that count whatever the doubts"
    )
    barred: Mapping[str, str] = Field(
        default_factory=dict,
        title="Barred",
        description="metrics and generators that do not count, each with the reason that everybody reads",
    )

    @property
    def rules(self) -> TrustRules:
        return TrustRules(**{**dict(self), "private_seed": self.private_seed or 0})


class DatedLine(_Settings):
    """A line of a board's timeline beside its phases."""

    at: Moment = Field(title="When", description="the day and time (UTC)")
    words: str = Field(min_length=1, max_length=300, title="What", description="what happens then, in one line")


Colour = Annotated[str, Field(pattern=r"^#[0-9a-fA-F]{6}$")]
Words = Annotated[str, Field(max_length=20_000)]


class AboutSettings(_Settings):
    """What an owner tells readers of one board beside its data card; texts may hold Markdown."""

    title: Annotated[str, Field(max_length=150)] | None = Field(
        default=None, title="Title", description="what the board is called on pages; empty is what the data card says"
    )
    description: Words | None = Field(
        default=None, title="Description", description="what the board is for, on its first page and under About"
    )
    rules: Words | None = Field(default=None, title="Rules", description="what participants may and may not do")
    faq: Words | None = Field(
        default=None, title="Questions and answers", description="what people ask, with the answers"
    )
    contact: Annotated[str, Field(max_length=500)] | None = Field(
        default=None, title="Contact", description="whom to ask: a name, a mail address, a web address"
    )
    timeline: Annotated[tuple[DatedLine, ...], BeforeValidator(_read_list)] = Field(
        default=(), title="Timeline", description="dates beside those of the phases, such as a workshop"
    )
    accent: Colour | None = Field(
        default=None,
        title="Accent colour",
        description="of links and buttons on the light theme, as in #1d4ed8; it must stand out from the page (4.5:1)",
    )
    accent_dark: Colour | None = Field(
        default=None,
        title="Accent colour in the dark",
        description="the same on the dark theme; empty is a lighter shade of the other one",
    )

    @property
    def has_page(self) -> bool:
        """Whether there is something to tell on a page of its own."""
        return any((self.description, self.rules, self.faq, self.contact, self.timeline))

    @field_validator("accent", "accent_dark")
    @classmethod
    def _check_contrast(cls, colour: str | None, info: ValidationInfo) -> str | None:
        if colour is not None and (wrong := contrast_mistake(colour, dark=info.field_name == "accent_dark")):
            raise PydanticCustomError("contrast", "{words}", {"words": wrong})
        return colour


class BoardSettings(_Settings):
    """What an owner decides about one board; None is no limit."""

    phases: Annotated[tuple[Phase, ...], BeforeValidator(_read_list)] = Field(
        default=(), title="Phases", description="when submissions are taken; without phases, always"
    )
    per_day: NotNegative | None = Field(
        default=None, title="Submissions a day", description="of a kind by one team on a day (UTC); empty is no limit"
    )
    total: NotNegative | None = Field(
        default=None, title="Submissions in all", description="of a kind by one team; empty is no limit"
    )
    hidden_per_day: NotNegative | None = Field(
        default=3,
        title="Metrics a day where something is hidden",
        description="by one team where judgments or references are hidden, as each tells a little; empty is no limit",
    )
    hidden_total: NotNegative | None = Field(
        default=10,
        title="Metrics in all where something is hidden",
        description="by one team where judgments or references are hidden; empty is no limit",
    )
    accepts: Annotated[tuple[Literal["generator", "metric"], ...], BeforeValidator(_read_list)] = Field(
        default=("generator", "metric"), title="What is taken", description="kinds of submissions"
    )
    hidden_references: bool = Field(
        default=False,
        title="Hide references",
        description="only owners read them; what programs print is then kept from their teams too",
    )
    hidden_judgments: bool = Field(
        default=False,
        title="Hide judgments",
        description="only owners see what people said; numbers that rest on it have fewer digits",
    )
    inputs_from: str | None = Field(
        default=None,
        title="Show inputs from phase",
        description="only owners read the inputs until this phase opens; empty shows them always",
    )
    ladder: bool | Step = Field(
        default=False,
        title="Ladder",
        description="where judgments are hidden: tell a metric's agreement only where it beats its team's best by more "
        "than noise (yes), or by this step (0.01), else tell the best again",
    )
    open_programs: bool = Field(
        default=False,
        title="Open programs",
        description="everybody may download the programs of submitted metrics; those sent anonymously stay with owners",
    )
    revealed: bool = Field(
        default=False, title="Reveal blind phases", description="everybody sees the results of blind phases"
    )
    frozen: Moment | None = Field(
        default=None,
        title="Frozen since",
        description="nothing comes in or goes from then on; what was taken before is still scored (UTC)",
    )
    k: Annotated[int, Field(ge=1, le=MOST_METRICS)] = Field(
        default=3, title="Metrics in the ensemble (k)", description="the most metrics that an ensemble uses"
    )
    method: Method = Field(
        default=AUTO, title="Ensemble", description="the family of ensembles; auto takes the one that agrees best"
    )
    by: str | None = Field(
        default=None,
        title="Generators are ranked by",
        description="a metric, ensemble or people; empty is the metric that agrees best. People can't rank where "
        "judgments are hidden",
    )
    ranks: str | None = Field(
        default=None,
        title="Judgments that rank",
        description="an aggregate, a dimension or a campaign's template; empty is the folder's, else the first "
        "campaign's",
    )
    reference_free: ReferenceFree | None = Field(
        default=None,
        title="Metrics without references",
        description="diagnostic: they are shown and never rank alone; ranks: they may; empty is what the folder says",
    )
    draws: Annotated[int, Field(ge=0, le=MOST_DRAWS)] = Field(
        default=1000, title="Draws", description="samples that intervals and tests rest on; more take longer"
    )
    seed: NotNegative = Field(
        default=0, title="Seed", description="decides the samples; the same seed gives the same numbers"
    )
    sides: Sides = Field(
        default="two", title="Tests", description="two: do two entries differ; one: is the one ahead better"
    )
    quiet: Annotated[float, Field(ge=0)] = Field(
        default=0.0, title="Quiet seconds", description="seconds without a change before the board is ranked anew"
    )
    metrics: Texts | None = Field(
        default=None,
        title="Metrics that run",
        description="with their options, as in chrF or chrF(word_order=2); empty is what the folder names",
    )
    judge_tokens: NotNegative | None = Field(
        default=None,
        title="Judges' tokens",
        description="the most tokens, read and written, that judges may take on this board in all; empty is what "
        "whoever runs the site allows, 0 asks no judge",
    )
    gpu_hours: Annotated[float, Field(ge=0)] | None = Field(
        default=None,
        title="Hours on graphics cards",
        description="the most hours that submitted programs may use graphics cards on this board in all; empty is "
        "what whoever runs the site allows, 0 takes no such programs",
    )
    trust: TrustSettings | None = Field(
        default=None, title="What may count", description="the board's own rules; none is what the folder says"
    )
    about: AboutSettings = Field(
        default=AboutSettings(), title="About", description="what readers are told beside the data card"
    )

    @field_validator("phases")
    @classmethod
    def _check_phases(cls, phases: tuple[Phase, ...]) -> tuple[Phase, ...]:
        names = [phase.name for phase in phases]
        for name in names:
            if names.count(name) > 1:
                raise PydanticCustomError(
                    "phases", "{words}", {"words": f"must have a name each; two are named {name}"}
                )
        for phase in phases:
            if phase.opens is not None and phase.closes is not None and phase.closes <= phase.opens:
                words = f"have one, {phase.name}, that closes before it opens; exchange the two times"
                raise PydanticCustomError("phases", "{words}", {"words": words})
        return phases

    @field_validator("by")
    @classmethod
    def _check_leader(cls, by: str | None, info: ValidationInfo) -> str | None:
        """Whether there is such a metric, where the reader of the settings knows which there are."""
        leaders: Collection[str] | None = (info.context or {}).get("leaders")
        if by is not None and leaders is not None and by not in leaders:
            words = f"must be a metric of the board: {', '.join(sorted(leaders))}"
            raise PydanticCustomError("leader", "{words}", {"words": words})
        return by

    @field_validator("ranks")
    @classmethod
    def _check_judgments(cls, ranks: str | None, info: ValidationInfo) -> str | None:
        """Whether there are such judgments, where the reader of the settings knows which there are."""
        judgments: Collection[str] | None = (info.context or {}).get("judgments")
        if ranks is not None and judgments is not None and ranks not in judgments:
            names = f"there are {', '.join(sorted(judgments))}" if judgments else "there are none yet"
            words = f"must be judgments of the board; {names}"
            raise PydanticCustomError("judgments", "{words}", {"words": words})
        return ranks

    @field_validator("method")
    @classmethod
    def _check_family(cls, method: str, info: ValidationInfo) -> str:
        """Whether there is such a family of ensembles, where somebody chooses it."""
        families: Collection[str] | None = (info.context or {}).get("families")
        if families is not None and method not in families:
            words = f"must be one of {', '.join(families)}"
            raise PydanticCustomError("family", "{words}", {"words": words})
        return method

    @field_validator("inputs_from")
    @classmethod
    def _check_phase(cls, name: str | None, info: ValidationInfo) -> str | None:
        """Whether there is such a phase, and a time at which it opens."""
        phases: tuple[Phase, ...] | None = info.data.get("phases")
        if name is None or phases is None:
            return name
        opening = [phase.name for phase in phases if phase.opens is not None]
        if name not in opening:
            openings = f"there are {', '.join(opening)}" if opening else "there is none yet"
            words = f"must be a phase with a time at which it opens; {openings}"
            raise PydanticCustomError("phase", "{words}", {"words": words})
        return name

    @property
    def inputs_open(self) -> float | None:
        """When everybody may read the inputs; None where everybody always may."""
        return next((phase.opens for phase in self.phases if phase.name == self.inputs_from), None)

    def withholds_inputs(self, now: float) -> bool:
        """Whether nobody but owners may read the inputs yet."""
        return self.inputs_open is not None and now < self.inputs_open

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
            raise Refused(
                f"submissions open with phase {first.name} on {said_moment(first.opens or now)}; come back then"
            )
        last = max(self.phases, key=lambda phase: phase.closes or now)
        raise Refused(f"phase {last.name} closed on {said_moment(last.closes or now)}; submissions are over")

    def results_of(self, phase: Phase) -> str:
        """When the results of a phase are shown, in words."""
        if not phase.blind:
            return "shown at once"
        return "shown since the reveal" if self.revealed else "hidden until revealed"

    def hides(self, phase: str | None) -> bool:
        """Whether results of submissions to this phase are still hidden."""
        return not self.revealed and any(each.name == phase and each.blind for each in self.phases)

    def public_document(self) -> dict[str, Any]:
        """The settings as everybody may know them: without the seed of the private share."""
        document = self.document()
        if document["trust"] is not None:
            document["trust"].pop("private_seed")
        return document

    def document(self) -> dict[str, Any]:
        """The settings as they are kept and sent to owners."""
        document = self.model_dump(mode="json")
        phases = ((phase, ("opens", "closes")) for phase in document["phases"])
        lines = ((line, ("at",)) for line in document["about"]["timeline"])
        for times, words in ((document, ("frozen",)), *phases, *lines):
            times.update({word: moment(times[word]) for word in words if times[word] is not None})
        return document


def _read_address(value: object) -> object:
    """An address of the web; nothing else may stand in the pages that are published."""
    if isinstance(value, str) and not value.startswith(("https://", "http://")):
        raise PydanticCustomError("address", "must begin with https:// or http://")
    return value


WebAddress = Annotated[str, Field(max_length=300), BeforeValidator(_read_address)]


class FilesWanted(_Settings):
    """What an owner wants of a board that is published as files; see `site.publishing`."""

    instances: Literal["all", "judged", "none"] = Field(
        default="all", title="Pages of instances", description="of which instances a page is written"
    )
    most_instances: AtLeastOne | None = Field(
        default=None, title="At most so many", description="only the first so many of these; empty is all"
    )
    pairs: Annotated[int, Field(ge=0, le=2000)] = Field(
        default=150,
        title="Comparisons of two",
        description="pages for generators and for metrics each; of more pairs the nearest by rank",
    )
    parts: bool = Field(
        default=True, title="Rank parts of the board", description="each domain, tag and reference; takes longer"
    )
    analyses: bool = Field(default=True, title="Ask all analyses", description="a page for each; takes longer")
    base_url: WebAddress | None = Field(
        default=None,
        title="Where the pages will be",
        description="for link previews, badges and citations; links between pages work anywhere",
    )
    submit_to: WebAddress | None = Field(
        default=None, title="Where to hand in work", description="the repository that the page Submit leads to"
    )


def read_files_wanted(document: Mapping[str, Any]) -> FilesWanted:
    """What is wanted of published files, from a document."""
    return _read(FilesWanted, document, "files", {})


def read_board_settings(
    document: Mapping[str, Any],
    *,
    leaders: Collection[str] | None = None,
    judgments: Collection[str] | None = None,
    families: Collection[str] | None = None,
) -> BoardSettings:
    """A board's settings from a document; one that is absent has its default.

    `leaders` may rank its generators, `judgments` its metrics, `families` are ensembles; without them any name is
    taken, because it was checked when it was set.
    """
    context = {"leaders": leaders, "judgments": judgments, "families": families}
    return _read(BoardSettings, document, "settings", context)


class MailSettings(_Settings):
    """Where e-mail is handed over; the password comes from the environment."""

    host: str = Field(min_length=1)
    sender: str = Field(min_length=1)
    port: Annotated[int, Field(ge=1, le=65535)] = 25
    user: str | None = None
    starttls: bool = False

    @property
    def password(self) -> str | None:
        return os.environ.get(MAIL_PASSWORD)


class OidcSettings(_Settings):
    """Who vouches for people who log in elsewhere; the client's secret comes from the environment."""

    issuer: str = Field(min_length=1)
    client_id: str = Field(min_length=1)
    name: str = "single sign-on"
    role: Literal["owner", "submitter", "annotator"] = "submitter"
    #: The environment variable that holds the client's secret, where several providers have one each.
    secret_from: str = Field(default=OIDC_SECRET, min_length=1)

    @property
    def secret(self) -> str | None:
        return os.environ.get(self.secret_from)


def _read_providers(value: object) -> object:
    """One table, or a list of them, as the providers that they are."""
    return () if value is None else (value,) if isinstance(value, Mapping) else _read_list(value)


SignUp = Literal["closed", "request", "open"]


class AccountSettings(_Settings):
    """Who may come in."""

    #: Who may have an account by asking: nobody, who an owner approves, or everybody; None is "request" with mail.
    sign_up: SignUp | None = None
    #: Ends of e-mail addresses that may sign up, such as "example.org"; empty is all.
    domains: Texts = ()


class RetentionSettings(_Settings):
    """How many whole days a site keeps what nobody needs for ever; None is for ever. See `site.admin`."""

    #: Lines of the logs of submissions that are over.
    log_days: Days | None = None
    #: Entries of the audit trail.
    trail_days: Days | None = None
    #: Notices that were sent or given up.
    notice_days: Days | None = None
    #: Real names of annotators after their last campaign was closed.
    annotator_days: Days | None = None
    #: Every ranking; of older ones the last of each day stays, and so do those that are cited.
    ranking_days: Days | None = None
    #: Rankings' ids, as in their addresses.
    cited: Texts = ()
    #: Files of submissions that were withdrawn or rejected.
    withdrawn_days: Days | None = None
    #: Submitted files, unpacked metrics and environments that no submission names.
    orphan_days: Days | None = None


class CatalogueSettings(_Settings):
    """Where boards of the catalogue are fetched that owners make in the browser."""

    #: A folder or archive on the workers' machines, or a server with the same files; empty is the authors' own place.
    mirror: str = ""


class MetricSettings(_Settings):
    """How metrics may come in beside programs."""

    #: Whether scores are taken without what computes them.
    scores_only: Literal["allow", "refuse"] = "allow"
    #: Models of the hub that workers fetch, by name or pattern: "Unbabel/wmt22-comet-da", "org/*".
    hub: Texts = ()
    #: Whether OCI images are run, by podman or docker.
    images: bool = False
    #: Addresses of endpoints that texts are sent to, by name or pattern: "https://scores.example.org/*".
    endpoints: Texts = ()
    #: Whether such an address may lie in the server's own network.
    inside_endpoints: bool = False
    #: An index with builds of torch and others that need no CUDA, for programs that ask for no graphics card.
    cpu_index: str | None = None


class GpuSettings(_Settings):
    """Which programs may use graphics cards, and which files these are on machines whose workers declare them."""

    #: Device files that a program is given, such as /dev/nvidia0, /dev/nvidiactl and /dev/nvidia-uvm.
    devices: Texts = Field(min_length=1)
    #: SHA-256 of archives that the owner has vetted.
    programs: Texts = ()
    #: Accounts whose programs are vetted.
    accounts: Texts = ()
    #: Bytes of such a program's archive.
    metric_bytes: AtLeastOne = 16 * 2**30
    #: The most hours that such programs may take on one board in all, whatever its owners say; None is no limit.
    hours: Annotated[float, Field(ge=0)] | None = None


class JudgeSettings(_Settings):
    """What judges may take on a site, beside the caps of each process that the environment states."""

    #: The most tokens that judges may take on one board in all, whatever its owners say; None is no limit.
    tokens: NotNegative | None = None


class WorkerSettings(_Settings):
    """What workers have beside processors."""

    gpu: GpuSettings | None = None


class SiteSettings(_Settings):
    """What holds for a whole site. Times are in seconds, sizes in bytes."""

    title: str = "billboards"
    base_url: str = ""
    #: The database's address, such as postgresql://host/name; empty is a SQLite file in the data folder.
    database: str = ""
    #: Where submitted files are, such as s3://bucket/prefix; empty is a folder in the data folder.
    blobs: str = ""
    lease_seconds: Seconds = 60.0
    attempts: AtLeastOne = 3
    poll_seconds: Seconds = 0.5
    session_seconds: Seconds = 14 * 86400.0
    generator_bytes: AtLeastOne = 64 * 2**20
    metric_bytes: AtLeastOne = 256 * 2**20
    #: What a form or a JSON document may hold, and what a form may hold beside its file.
    form_bytes: AtLeastOne = 2**20
    #: Characters of one output.
    text_characters: AtLeastOne = 100_000
    reads_per_minute: AtLeastOne = 1200
    changes_per_minute: AtLeastOne = 60
    #: Places in one server process, and how many of them one address may have.
    requests: AtLeastOne = 1000
    requests_each: AtLeastOne = 400
    uploads: AtLeastOne = 8
    uploads_each: AtLeastOne = 4
    #: Connections that one server process holds, how many one address may have, and seconds for a request's head.
    connections: AtLeastOne = 2000
    connections_each: AtLeastOne = 200
    head_seconds: Seconds = 20.0
    streams: AtLeastOne = 256
    streams_each: AtLeastOne = 32
    #: Pages that one server process computes at the same time.
    pages_at_once: AtLeastOne = 8
    program_seconds: Seconds = 600.0
    program_memory: AtLeastOne = 4 * 2**30
    wheels: str | None = None
    #: Suites' files beside those in DATA/suites, relative to DATA.
    suites: Texts = ()
    #: How processes write their log: "text", or "json" for one object a line.
    logs: Literal["text", "json"] = "text"
    #: The file that processes write it to, relative to DATA; empty is standard error. SIGHUP opens it anew.
    log_file: str = ""
    #: What a team that is no owner's may send in a day, over all boards.
    submissions_per_day: AtLeastOne = 200
    #: Free space of the data folder's disk below which the site calls itself unready and takes no more files.
    free_bytes: NotNegative = 256 * 2**20
    mail: MailSettings | None = None
    #: Where people may log in elsewhere: one table [oidc], or several [[oidc]].
    oidc: Annotated[tuple[OidcSettings, ...], BeforeValidator(_read_providers)] = ()
    accounts: AccountSettings = Field(default_factory=AccountSettings)
    retention: RetentionSettings = Field(default_factory=RetentionSettings)
    metrics: MetricSettings = Field(default_factory=MetricSettings)
    catalogue: CatalogueSettings = Field(default_factory=CatalogueSettings)
    judges: JudgeSettings = Field(default_factory=JudgeSettings)
    workers: WorkerSettings = Field(default_factory=WorkerSettings)

    @field_validator("oidc")
    @classmethod
    def _check_providers(cls, providers: tuple[OidcSettings, ...]) -> tuple[OidcSettings, ...]:
        names = [provider.name for provider in providers]
        if len(set(names)) < len(names):
            raise PydanticCustomError("providers", "must have a name each, because people choose by it")
        return providers

    @field_validator("accounts")
    @classmethod
    def _check_sign_up(cls, accounts: AccountSettings, info: ValidationInfo) -> AccountSettings:
        sends_links = info.data.get("mail") is not None and info.data.get("base_url")
        if accounts.sign_up in ("request", "open") and not sends_links:
            raise PydanticCustomError("sign_up", "sign_up needs [mail] and base_url: people sign up by a mailed link")
        return accounts

    @property
    def sends_links(self) -> bool:
        """Whether the site can mail links; without its own address it could not say where they lead."""
        return self.mail is not None and bool(self.base_url)

    @property
    def sign_up(self) -> SignUp:
        """Who may have an account by asking for one."""
        return self.accounts.sign_up or ("request" if self.sends_links else "closed")

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
    return _read(SiteSettings, document, str(path), {})


S = TypeVar("S", bound=_Settings)


def _read(kind: type[S], document: Mapping[str, Any], where: str, context: dict[str, Any]) -> S:
    try:
        json.dumps(document, ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError as error:
        half = ord(error.object[error.start])
        raise InvalidSettings(where, [f"\\u{half:04x} is half of a character; write the character itself"]) from error
    unseen = [f"{place} has a sign that nobody sees ({sign}); take it out" for place, sign in _unseen(document)]
    if unseen:
        raise InvalidSettings(where, unseen[:LISTED], mistakes=len(unseen))
    try:
        return kind.model_validate(dict(document), context=context)
    except ValidationError as error:
        mistakes: dict[tuple[int | str, ...], list[ErrorDetails]] = {}
        for details in error.errors():
            mistakes.setdefault(_plain_place(details["loc"]), []).append(details)
        places = list(mistakes)[:LISTED]
        words = [_mistake(kind, place, mistakes[place]) for place in places]
        raise InvalidSettings(where, words, places, mistakes=len(mistakes)) from error


def _unseen(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Where a text of a document has a sign that nobody sees, and which; however deep it lies."""
    waiting: list[tuple[str, Any]] = [("", document)]
    while waiting:
        place, value = waiting.pop()
        if isinstance(value, str):
            sign = unseen_sign(value)
            if sign is not None:
                yield place, sign
        elif isinstance(value, Mapping):
            waiting += [(f"{place}.{shown(key)[1:-1]}".removeprefix("."), inner) for key, inner in value.items()]
        elif isinstance(value, list | tuple):
            waiting += [(f"{place} {k + 1}", inner) for k, inner in enumerate(value)]


def _plain_place(place: tuple[int | str, ...]) -> tuple[int | str, ...]:
    """Where a mistake stands, without the names of the kinds that a value was tried as."""
    kinds = {"bool", "float", "constrained-float", "function-before[_read_list(), tuple[str, ...]]"}
    return tuple(part for part in place if part not in kinds)


#: What is asked for, by pydantic's name of the mistake; the names in braces are of its context.
_ASKED = {
    "int_type": "must be a whole number",
    "float_type": "must be a number",
    "finite_number": "must be a finite number",
    "string_type": "must be a text",
    "bool_type": "must be true or false",
    "tuple_type": "must be a list",
    "model_type": "must be a table of settings",
    "literal_error": "must be {expected}",
    "greater_than_equal": "must be {ge} or more",
    "greater_than": "must be more than {gt:g}",
    "less_than_equal": "must be at most {le}",
    "string_too_short": "must not be empty",
    "string_unicode": "must be a text",
    "string_too_long": "must have at most {max_length} characters",
    "string_pattern_mismatch": "must be a colour, as in #1d4ed8",
}


def _mistake(kind: type[_Settings], at: tuple[int | str, ...], tried: Sequence[ErrorDetails]) -> str:
    """One mistake in one line: the key, what is asked for, and what stands there; a value may be of several kinds."""
    details = tried[0]
    # A name that is no text, with half a character in it, has no place.
    *tables, key = at or ("a name",)
    place = _place(tables)
    if details["type"] == "missing":
        return f"{place}{key} is missing"
    if details["type"] == "extra_forbidden":
        names = sorted(_keys(kind, tables))
        near = get_close_matches(str(key).casefold(), names, n=3, cutoff=0.5)
        hint = f"did you mean {', '.join(near)}?" if near else f"there are {', '.join(names)}"
        return f"{place}{key} is no setting; {hint}"
    if isinstance(key, int):
        place, key = _place(tables[:-1]), f"{tables[-1]} {key + 1}"
    kinds = dict.fromkeys(_asked_for(each) for each in tried)
    asked = " or ".join(kinds).replace(" or must be ", " or ")
    # Of a list of tables the words name the one that is wrong.
    given = "" if isinstance(details["input"], list | tuple | dict) else f"; found {shown(details['input'])}"
    return f"{place}{key} {asked}{given}"


def _asked_for(details: ErrorDetails) -> str:
    return _ASKED.get(details["type"], details["msg"]).format(**details.get("ctx", {}))


def _place(tables: list[int | str]) -> str:
    """Where a key stands: in a table, or in an entry of a list."""
    words: list[str] = []
    for part in tables:
        if isinstance(part, int):
            words[-1] = f"{words[-1].strip('[]')} {part + 1}"
        else:
            words.append(f"[{part}]")
    return "".join(f"{word}: " for word in words)


def _keys(kind: type[_Settings], tables: list[int | str]) -> Iterator[str]:
    """The settings there are in a table."""
    yield from (_TABLES[str(tables[-1] if isinstance(tables[-1], str) else tables[0])] if tables else kind).model_fields


_TABLES: Mapping[str, type[_Settings]] = MappingProxyType(
    {
        "phases": Phase,
        "trust": TrustSettings,
        "about": AboutSettings,
        "timeline": DatedLine,
        "mail": MailSettings,
        "oidc": OidcSettings,
        "accounts": AccountSettings,
        "retention": RetentionSettings,
        "metrics": MetricSettings,
        "catalogue": CatalogueSettings,
        "judges": JudgeSettings,
        "workers": WorkerSettings,
        "gpu": GpuSettings,
    }
)
