"""Sending in generators and metrics, and following what comes of them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, Literal

from fastapi import Depends, File, Form, Request, Response, UploadFile
from pydantic import BaseModel, Field

from billboards.board.added_scores import read_needs
from billboards.errors import InvalidInput
from billboards.reading import json_value, refuse_half_characters
from billboards.site.accounts.access import Viewer, may
from billboards.site.accounts.permissions import Permission, SubmissionPermission, site_of
from billboards.site.boards.live import live_board
from billboards.site.campaigns.judged_submissions import people_progress
from billboards.site.database.trail import LogLine
from billboards.site.submissions import records as submissions
from billboards.site.submissions import sending as submitting
from billboards.site.submissions.addressed_metrics import PARTS, Addressed
from billboards.site.submissions.consistency import KEPT
from billboards.site.submissions.doubts import DOUBTS, doubts_of
from billboards.site.submissions.generator_files import Format
from billboards.site.submissions.metric_folders import most_bytes_sent
from billboards.site.submissions.outcome import outcome_of
from billboards.site.submissions.records import Submission
from billboards.site.web.api import Cursor, Limit, Page, page_of, read_cursor, tagged_router, write_cursor
from billboards.site.work.waiting import waiting
from billboards.site.work.worklist import progress, unmet_need

router = tagged_router("submissions")
Reader = Annotated[Viewer, Depends(Permission("read"))]
Submitter = Annotated[Viewer, Depends(Permission("submit"))]
Owner = Annotated[Viewer, Depends(Permission("administer"))]
Seen = Annotated[tuple[Viewer, Submission], Depends(SubmissionPermission("see-submission"))]
Changed = Annotated[tuple[Viewer, Submission], Depends(SubmissionPermission("change-submission"))]

Words = Annotated[str | None, Form(max_length=10_000)]
State = Literal["received", "checking", "trial", "scoring", "scored", "rejected", "failed", "cancelled", "withdrawn"]


class ProgressFacts(BaseModel):
    """How many of its cells are computed, and about how long the others will take."""

    done: int
    total: int
    seconds_left: float | None


class PeopleFacts(BaseModel):
    """How many of the answers that are wanted about its outputs people have given, and whether no more come."""

    done: int
    wanted: int
    ended: bool


class WaitingFacts(BaseModel):
    """How many submissions are before it, and about how many seconds it takes until it is ranked."""

    before: int
    seconds: float | None = Field(description="null where something on the way was never measured")
    words: str


class ShiftFacts(BaseModel):
    """Somebody else whose place changed with the ranking that it came in with."""

    side: str
    name: str
    before: int | None
    after: int | None
    change: str = Field(description="new, gone or moved")


class OutcomeFacts(BaseModel):
    """What the board says of it, as far as you may know."""

    state: Literal["hidden", "ranking", "ranked", "unranked", "replaced", "stuck"] = Field(
        description="hidden: of a blind phase; ranking: the ranking with it is being made; replaced: a later version "
        "stands on the board; stuck: the board could not be ranked"
    )
    name: str = Field(description="its name on the board")
    rank: int | None
    ranked: int = Field(description="how many have a rank on its side of the board")
    cluster: list[str] = Field(description="others that share its rank")
    ranked_by: str | None
    score: float | None = Field(description="of a generator: its value under what ranks")
    agreement: float | None = Field(description="of a metric: its correlation with people")
    interval: tuple[float, float] | None = Field(description="the 95% interval of that")
    n: int = Field(description="of a metric: the judged outputs that it rests on")
    weight: float | None = Field(description="of a metric: its weight in the board's ensemble")
    moved: list[ShiftFacts] = Field(description="who else changed place; mere renumbering is no change")
    warnings: list[str]
    reason: str | None
    common: tuple[int, int, str] | None = Field(
        description="where what leads can't score it: its rank among all generators, of how many, and by what"
    )
    ranking: str | None = Field(description="the ranking that it came in with")
    words: list[str] = Field(description="all of it in sentences")


class SubmissionFacts(BaseModel):
    """A submission, and how far it has come."""

    id: str
    board: str
    kind: str
    name: str
    version: int
    team: str
    phase: str | None
    state: State
    reason: str | None
    platform_fault: bool = Field(description="it failed through no fault of the submitter; the quota is given back")
    anonymous: bool
    entry: str
    settings: dict[str, Any]
    created: float
    changed: float
    progress: ProgressFacts | None = Field(None, description="of a single submission that is being scored")
    people: PeopleFacts | None = Field(None, description="of a single generator that people judge")
    waiting: WaitingFacts | None = Field(None, description="of a single submission that is on its way")
    outcome: OutcomeFacts | None = Field(None, description="of a single submission that is scored")
    waits: str | None = Field(None, description="what a single submission waits for that nobody does now")
    warnings: list[str] = Field(default_factory=list, description="what is odd about it, when it is sent in")
    doubts: list[str] = Field(default_factory=list, description="what speaks against its outputs, once it is checked")


class LogFacts(BaseModel):
    """Some text of a log; `stream` is the site's own words, or the program's."""

    id: int
    at: float
    stream: str
    text: str


class AddressSent(BaseModel):
    """What is said of a metric that comes as an address."""

    name: str = Field(max_length=200)
    manifest: dict[str, Any] = Field(default_factory=dict, description="metric.toml's values, but for the name")
    description: str | None = Field(None, max_length=10_000)
    paper: str | None = Field(None, max_length=10_000)
    anonymous: bool = False
    entry: Literal["primary", "contrastive"] = "primary"


class HubModel(AddressSent):
    """A model on the hub; the metric that reads it says the rest."""

    metric: str = Field(max_length=100, description="the installed metric that reads it, such as COMET")
    model: str = Field(max_length=200, description="owner/name")
    revision: str = Field(max_length=40, description="the commit, 40 hexadecimal digits")


class ImageSent(AddressSent):
    """An OCI image."""

    image: str = Field(max_length=400, description="registry/name@sha256:…")


class EndpointSent(AddressSent):
    """An endpoint."""

    url: str = Field(max_length=1_000)
    version: str = Field(max_length=60, description="what runs there; another version is another column")


class Trust(BaseModel):
    trusted: bool


class EntryChange(BaseModel):
    entry: Literal["primary", "contrastive"]


@router.post("/boards/{board}/generators", status_code=201)
def submit_generator(
    request: Request,
    response: Response,
    board: str,
    viewer: Submitter,
    file: Annotated[UploadFile, File(description="JSON lines, or one text a line")],
    name: Annotated[str, Form(max_length=200)],
    form: Annotated[Format, Form(description="how the file is written")] = "auto",
    description: Words = None,
    paper: Words = None,
    url: Words = None,
    human: Annotated[bool, Form(description="written by people")] = False,
    anonymous: Annotated[bool, Form(description="shown under a pseudonym until revealed")] = False,
    entry: Annotated[Literal["primary", "contrastive"], Form()] = "primary",
    latency: Annotated[float | None, Form(ge=0, description="seconds per output")] = None,
    price: Annotated[float | None, Form(ge=0, description="US dollars per 1,000 outputs")] = None,
    energy: Annotated[float | None, Form(ge=0, description="watt-hours per output")] = None,
    parameters: Annotated[float | None, Form(ge=0, description="number of trained parameters")] = None,
    training_tokens: Annotated[float | None, Form(ge=0, description="tokens of training data")] = None,
) -> SubmissionFacts:
    """Send in a generator's outputs; every mistake is named at once."""
    about: dict[str, Any] = {"description": description, "paper": paper, "url": url, "human": human}
    about |= {"latency": latency, "price": price, "energy": energy}
    about |= {"parameters": parameters, "training_tokens": training_tokens}
    received = submitting.submit_generator(
        site_of(request),
        viewer,
        board,
        name,
        sent_bytes(file, site_of(request).settings.generator_bytes),
        file_name=file.filename or "outputs",
        form=form,
        anonymous=anonymous,
        entry=entry,
        about=about,
    )
    return _received(response, received)


@router.post("/boards/{board}/metrics", status_code=201)
def submit_metric(
    request: Request,
    response: Response,
    board: str,
    viewer: Submitter,
    file: Annotated[UploadFile, File(description="a zip archive with run.sh, or a Python file with `score`")],
    name: Annotated[str | None, Form(max_length=200)] = None,
    manifest: Annotated[str | None, Form(max_length=20_000, description="metric.toml's values as JSON")] = None,
    description: Words = None,
    paper: Words = None,
    url: Words = None,
    anonymous: Annotated[bool, Form()] = False,
    entry: Annotated[Literal["primary", "contrastive"], Form()] = "primary",
    trusted: Annotated[bool, Form(description="an owner vouches for it")] = False,
) -> SubmissionFacts:
    """Send in a metric; it is looked through at once, tried out, and then scores every generator."""
    received = submitting.submit_metric(
        site_of(request),
        viewer,
        board,
        sent_bytes(file, most_bytes_sent(site_of(request), viewer.name)),
        name=name,
        file_name=file.filename or "metric",
        manifest=read_manifest_text(manifest),
        anonymous=anonymous,
        entry=entry,
        about={"description": description, "paper": paper, "url": url},
        trusted=trusted,
    )
    return _received(response, received)


@router.post("/boards/{board}/metrics/scores", status_code=201)
def submit_scores(
    request: Request,
    response: Response,
    board: str,
    viewer: Submitter,
    file: Annotated[UploadFile, File(description="system and score a line; generator, instance, score; or JSON lines")],
    name: Annotated[str, Form(max_length=200)],
    higher_is_better: Annotated[bool, Form(description="whether a higher score is a better one")],
    training_data: Annotated[str, Form(max_length=10_000, description="what it was trained on, or none")],
    needs: Annotated[str, Form(description="what it saw: references, input, both with a comma, or nothing")] = (
        "references"
    ),
    references: Annotated[str | None, Form(description="the references it saw, commas between; left out, all")] = None,
    trained_on_this_board: Annotated[bool, Form()] = False,
    description: Words = None,
    paper: Words = None,
    url: Words = None,
    anonymous: Annotated[bool, Form()] = False,
    entry: Annotated[Literal["primary", "contrastive"], Form()] = "primary",
) -> SubmissionFacts:
    """Send in a metric as scores only; generators that come later stay without a score until they are sent, too."""
    received = submitting.submit_scores(
        site_of(request),
        viewer,
        board,
        name,
        sent_bytes(file, site_of(request).settings.generator_bytes),
        higher_is_better=higher_is_better,
        training_data=training_data,
        needs=read_needs(needs),
        references=None if not references else [word.strip() for word in references.split(",")],
        trained_on_this_board=trained_on_this_board,
        file_name=file.filename or "scores",
        anonymous=anonymous,
        entry=entry,
        about={"description": description, "paper": paper, "url": url},
    )
    return _received(response, received)


@router.post("/boards/{board}/metrics/hub", status_code=201)
def submit_hub_model(
    request: Request, response: Response, board: str, viewer: Submitter, sent: HubModel
) -> SubmissionFacts:
    """Send in a metric as a model on the hub, where the site's owner allows it; a worker fetches it."""
    return _submitted_address(request, response, board, viewer, "hub", sent)


@router.post("/boards/{board}/metrics/image", status_code=201)
def submit_image(
    request: Request, response: Response, board: str, viewer: Submitter, sent: ImageSent
) -> SubmissionFacts:
    """Send in a metric as an OCI image, where the site's owner allows it."""
    return _submitted_address(request, response, board, viewer, "image", sent)


@router.post("/boards/{board}/metrics/endpoint", status_code=201)
def submit_endpoint(
    request: Request, response: Response, board: str, viewer: Submitter, sent: EndpointSent
) -> SubmissionFacts:
    """Send in a metric as an endpoint that the site's owner allows; it is sent texts and answers with scores."""
    return _submitted_address(request, response, board, viewer, "endpoint", sent)


def _submitted_address(
    request: Request, response: Response, board: str, viewer: Viewer, way: Addressed, sent: AddressSent
) -> SubmissionFacts:
    received = submitting.submit_address(
        site_of(request),
        viewer,
        board,
        way,
        sent.name,
        {part: str(getattr(sent, part)) for part in PARTS[way]},
        manifest=sent.manifest,
        anonymous=sent.anonymous,
        entry=sent.entry,
        about={"description": sent.description, "paper": sent.paper},
    )
    return _received(response, received)


@router.get("/submissions")
def list_submissions(
    request: Request,
    viewer: Reader,
    board: str | None = None,
    kind: Literal["generator", "metric"] | None = None,
    state: State | None = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[SubmissionFacts]:
    """The submissions one may follow, the latest first: one's own team's, and for owners all."""
    place = read_cursor(cursor, float, str)
    if viewer.account is None:
        return Page(items=[], next=None)
    team = None if may(viewer, "read-hidden") else viewer.account.team_id
    with site_of(request).database.reading() as connection:
        latest = submissions.find(
            connection,
            board=board,
            kind=kind,
            states=None if state is None else (state,),
            team_id=team,
            before=None if place is None else (place[0], place[1]),
            limit=limit + 1,
        )
    page: Page[SubmissionFacts] = page_of(
        latest, limit, _facts, lambda submission: write_cursor(submission.created, submission.id)
    )
    return page


@router.get("/submissions/{submission_id}")
def read_submission(request: Request, seen: Seen) -> SubmissionFacts:
    """How far a submission has come, and what came of it."""
    viewer, submission = seen
    site, facts = site_of(request), _facts(submission)
    facts.waits = unmet_need(site, submission)
    if not submission.is_terminal:
        queued = waiting(site, submission)
        facts.waiting = WaitingFacts(before=queued.before, seconds=queued.seconds, words=queued.words)
    if submission.state == "scoring":
        now = progress(site, submission)
        facts.progress = ProgressFacts(done=now.done, total=now.total, seconds_left=now.seconds)
        return facts
    with site.database.reading() as connection:
        judged = people_progress(connection, submission)
    facts.people = None if judged is None else PeopleFacts(**asdict(judged))
    outcome = outcome_of(submission, live_board(site, submission.board, audience=viewer.audience))
    facts.outcome = None if outcome is None else OutcomeFacts(**asdict(outcome))
    return facts


@router.get("/submissions/{submission_id}/log")
def read_log(request: Request, seen: Seen, limit: Limit = 1000, cursor: Cursor = None) -> Page[LogFacts]:
    """A submission's log, oldest first."""
    place = read_cursor(cursor, int)
    viewer, submission = seen
    lines = submitting.read_log(site_of(request), viewer, submission.id, after=place[0] if place else 0)
    page: Page[LogFacts] = page_of(lines, limit, _line, lambda line: write_cursor(line.id))
    return page


@router.post("/submissions/{submission_id}/cancel")
def cancel(request: Request, changed: Changed) -> SubmissionFacts:
    """Stop a submission that is still on its way."""
    return _facts(submitting.cancel(site_of(request), changed[0], changed[1].id))


@router.post("/submissions/{submission_id}/retry")
def retry(request: Request, changed: Changed) -> SubmissionFacts:
    """Let a submission that failed or was cancelled begin again."""
    return _facts(submitting.retry(site_of(request), changed[0], changed[1].id))


@router.post("/submissions/{submission_id}/withdraw")
def withdraw(request: Request, changed: Changed) -> SubmissionFacts:
    """Take a submission off the board; past rankings keep it."""
    return _facts(submitting.withdraw(site_of(request), changed[0], changed[1].id))


@router.post("/submissions/{submission_id}/reveal")
def reveal(request: Request, changed: Changed) -> SubmissionFacts:
    """Let an anonymous submission stand under its own name."""
    return _facts(submitting.reveal(site_of(request), changed[0], changed[1].id))


@router.patch("/submissions/{submission_id}")
def change_entry(request: Request, sent: EntryChange, changed: Changed) -> SubmissionFacts:
    """Make a submission its team's primary entry, or a contrastive one."""
    return _facts(submitting.set_entry(site_of(request), changed[0], changed[1].id, sent.entry))


@router.put("/submissions/{submission_id}/trust")
def trust(request: Request, submission_id: str, sent: Trust, viewer: Owner) -> SubmissionFacts:
    """Vouch for a metric, so that it may run where there is no sandbox."""
    return _facts(submitting.set_trusted(site_of(request), viewer, submission_id, sent.trusted))


def sent_bytes(file: UploadFile, most: int) -> bytes:
    """What was sent, and one byte too many where it is too much, so that it is refused for that."""
    return file.file.read(most + 1)


def read_manifest_text(text: str | None) -> dict[str, Any] | None:
    """What a metric says of itself beside its file, from JSON."""
    if not text:
        return None
    try:
        manifest = json_value(text)
        refuse_half_characters(manifest)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"manifest is no JSON that can be used: {error}") from error
    if not isinstance(manifest, dict):
        raise InvalidInput("manifest must be a JSON object with the keys of metric.toml")
    return manifest


def _received(response: Response, received: submitting.Received) -> SubmissionFacts:
    response.headers["location"] = f"/api/v1/submissions/{received.submission.id}"
    return received_facts(received)


def received_facts(received: submitting.Received) -> SubmissionFacts:
    """A submission that was just taken, with what is odd about it."""
    facts = _facts(received.submission)
    return facts.model_copy(update={"warnings": [str(warning) for warning in received.warnings]})


def _facts(submission: Submission) -> SubmissionFacts:
    words = ("id", "board", "kind", "name", "version", "team", "phase", "state", "reason", "anonymous", "entry")
    return SubmissionFacts(
        **{word: getattr(submission, word) for word in words},
        platform_fault=submission.platform,
        # What the Ladder keeps holds a digest of hidden judgments; doubts may be about rows that are hidden; a metric
        # chooses in how many outputs it differs.
        settings={name: value for name, value in submission.settings.items() if name not in ("ladder", DOUBTS, KEPT)},
        doubts=[doubt.words for doubt in doubts_of(submission)],
        created=submission.created,
        changed=submission.changed,
    )


def _line(line: LogLine) -> LogFacts:
    return LogFacts(id=line.id, at=line.at, stream=line.stream, text=line.text)
