"""What a site does by itself: letters, reminders, jobs, tidying and forgetting, step by step as it was approved."""

from __future__ import annotations

import json
import logging
import tarfile
from collections.abc import Iterator
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from mail_boxes import Letters, mail_server
from people_diaries import START, no_chance
from people_gates import Gate, make_gate, problems
from small_sites import make_board

from billboards.site.accounts import access, sign_up
from billboards.site.admin import deliveries, erasure, expiry, letters, operations, reminders
from billboards.site.admin.backup import back_up, without_addresses
from billboards.site.admin.deliveries import Delivery
from billboards.site.admin.logs import JsonLines, Rate
from billboards.site.admin.notices import send_due, sign
from billboards.site.submissions.sending import cancel, change_settings, submit_generator, submit_metric, withdraw
from billboards.site.work import cells, leases, waiting, worklist
from billboards.site.work.jobs import run_job

__all__ = ["no_chance"]
pytestmark = pytest.mark.usefixtures("no_chance")
DECLARED = {"higher_is_better": True, "needs": ["references"], "training_data": "none"}
RETENTION = """
[retention]
log_days = 30
trail_days = 60
notice_days = 7
ranking_days = 30
withdrawn_days = 10
orphan_days = 2
"""
DAY = 86400.0
#: Headers that the site writes; the others are the library's.
SAID = ("From", "To", "Subject", "Date", "Auto-Submitted", "List-")
#: Fields of results that are no plain values.
HIDDEN = ("chores", "_sum")


@pytest.fixture
def box() -> Iterator[Letters]:
    with mail_server() as server:
        yield server


@pytest.fixture
def pier(tmp_path: Path, box: Letters) -> Gate:
    board = make_board(5, 3, metrics=("chrF", "length", "nowhere"))
    settings = box.settings(more=f'[accounts]\nsign_up = "request"\n{RETENTION}')
    gate = make_gate(tmp_path, board, settings=settings, box=box)
    change_settings(gate.site, gate.owner, "ferry", {"draws": 20})
    for name in ("ann", "bob"):
        gate.person(name)
    gate.person("chief", "owner")
    return gate


def outputs(word: str) -> bytes:
    return "\n".join(f"{word} ferry noon {k}" for k in range(5)).encode()


def send(gate: Gate, name: str, asker: str = "ann", **said: Any) -> str:
    gate.clock.now += 7
    return submit_generator(gate.site, gate.viewer(asker), "ferry", name, outputs(name), **said).submission.id


def facts(thing: Any) -> dict[str, Any]:
    """The fields of a dataclass."""
    return {field.name: getattr(thing, field.name) for field in fields(thing) if field.name not in HIDDEN}


def amounts(tidied: expiry.Tidied) -> dict[str, Any]:
    """How much goes of everything; rankings are packed, and not everywhere to as many bytes."""
    told: dict[str, Any] = {what: amount and [amount.count, amount.bytes] for what, amount in tidied.amounts.items()}
    # What rankings and entries take hangs on how names that are drawn are written.
    some = ("rankings", "audit")
    told |= {
        what: amount and amount.count for what, amount in tidied.amounts.items() if any(map(what.__contains__, some))
    }
    return {"amounts": told, "notes": tidied.notes, "done": tidied.done}


def job_words(job: worklist.Job | None) -> Any:
    """A job by its kind and what it is about."""
    if job is None:
        return None
    cell = None if job.cell is None else [job.cell.row.name, *job.cell.key.column.references]
    return [job.kind, job.board, None if job.submission is None else job.submission.name, cell, job.lease.taken]


def test_letters_of_every_event_are_those_approved(pier: Gate, box: Letters) -> None:
    note = pier.diary.note
    base = {
        "id": "x",
        "kind": "generator",
        "name": "tug\nboat",
        "version": 2,
        "board": "ferry",
        "created": START,
        "changed": START + 61,
    }
    base |= {"state": "failed", "reason": "it broke", "platform": True}
    events: dict[str, list[dict[str, Any]]] = {
        "submission.received": [base],
        "submission.failed": [
            base,
            base | {"platform": False, "reason": None, "says": "judged by people", "path": "/here"},
        ],
        "submission.ranked": [
            base | {"rank": rank, "ranked": 7, "words": ["One.", "Two\nlines."]} for rank in (None, 1)
        ],
        "phase.closes": [base | {"phase": "dev", "closes": START, "days": days} for days in (1, 7)],
        "board.message": [base | {"subject": "News", "text": "Late.\n\nVery."}],
        "access.asked": [
            base | {"email": "x@example.org", "team": team, "words": "Please."} for team in (None, "Pier")
        ],
        "access.declined": [base | {"reason": reason} for reason in ("", "Full.")],
        "board.unreadable": [base],
        "campaign.closed": [base],
        "nothing.known": [{}],
    }
    mail = pier.site.settings.mail
    assert mail is not None
    for event, payloads in events.items():
        for k, payload in enumerate(payloads):
            delivery = Delivery(
                id=7,
                event=event,
                target="mailto:ann@example.org",
                webhook_id=None,
                payload={},
                state="waiting",
                attempts=0,
                next_at=START,
                reason=None,
                created=START,
            )
            about = {deliveries.MAIL: {"account": 2, "kind": "result"}} if k == 0 and payload else {}
            delivery = replace(delivery, payload=payload | about)
            try:
                letter = letters.write_letter(pier.site, mail, delivery)
            except letters.UNWRITABLE as error:
                note(f"{event} {k}", f"{type(error).__name__}: {error}")
                continue
            heads = {name: str(value) for name, value in letter.items() if name.startswith(SAID)}
            note(f"{event} {k}", [heads, letter.get_content().splitlines()])
    note("signed", [sign("secret", b"{}"), sign("", b"")])
    note(
        "settings",
        without_addresses(
            'title = "x"\nbase_url = "https://a"\n[mail]\nhost = "h"\nport = 3\n[accounts]\nsign_up = "open"\n'
        ),
    )
    box.refused.add("bob@example.org")
    phases = [
        {"name": "dev", "closes": "2033-05-25T03:35:00Z", "opens": "2033-05-18T03:33:00Z"},
        {"name": "test", "opens": "2033-05-26T03:33:20Z"},
    ]
    change_settings(pier.site, pier.owner, "ferry", {"phases": phases})
    send(pier, "tug")
    send(pier, "barge", "bob")
    sign_up.mute(pier.site, pier.viewer("chief"), ["site"])
    for days in (0.0, 0.001, 1.0, 6.0, 6.5, 7.0, 7.1):
        pier.clock.now = START + days * DAY + 50
        note(f"reminded after {days}", reminders.remind(pier.site))
    for seconds in (0, 1, 59, 60, 61, 600, 3600, 4000, 86400, 200000, 400000, 10**6):
        pier.clock.now += seconds
        note(f"sent after {seconds}", send_due(pier.site))
        pier.diary.rows(f"outbox after {seconds}", pier.site, ("deliveries",))
    pier.diary.letters("letters", box)
    record = logging.LogRecord("billboards.site", logging.WARNING, "f", 1, "%s is late by %d", ("it", 3), None)
    record.created = START
    record.fields = {"board": "ferry", "seconds": 1.5}
    said = json.loads(JsonLines().format(record))
    note("line", {key: value for key, value in said.items() if key not in ("process", "thread")})
    rate, told = Rate(2), []
    for k, after in enumerate((0, 1, 2, 59, 60, 61, 130)):
        line = logging.LogRecord("x", logging.INFO if k == 2 else logging.WARNING, "f", 1, "again", None, None)
        line.created = START + after
        told.append([rate.filter(line), line.getMessage()])
    note("rate", told)
    pier.keep("letters")


def test_jobs_are_done_in_the_order_approved(pier: Gate) -> None:
    site, note = pier.site, pier.diary.note
    note(
        "time words",
        {
            str(seconds): waiting.time_words(seconds)
            for seconds in (
                None,
                0,
                59,
                60,
                89,
                90,
                91,
                119,
                120,
                3540,
                3599,
                3600,
                5400,
                7199,
                7200,
                86400,
                172800,
                1e7,
            )
        },
    )
    ids = [send(pier, "tug"), send(pier, "barge", "bob"), send(pier, "raft")]
    metric = submit_metric(
        site,
        pier.owner,
        "ferry",
        b"def score(outputs, references, inputs):\n    return [1.0] * len(outputs)\n",
        name="flat",
        file_name="flat.py",
        manifest=DECLARED,
        trusted=True,
    ).submission
    cancel(site, pier.viewer("ann"), ids[2])
    for worker in ("first", "second"):
        note(f"jobs of {worker}", [job_words(worklist.next_job(site, worker)) for _ in range(4)])
    with site.database.reading() as connection:
        note(
            "held",
            [leases.count_held(connection, now=site.clock()), leases.count_workers(connection, now=site.clock())],
        )
    for seconds in (59.0, 0.9, 0.2):
        pier.clock.now += seconds
        note(f"after {seconds}", job_words(worklist.next_job(site, "third")))
    pier.clock.now += 61
    done: list[Any] = []
    while (job := worklist.next_job(site, "fourth")) is not None:
        run_job(site, job)
        done.append(job_words(job))
        if len(done) in (1, 4, 9, 25):
            told = facts(operations.look_at(site))
            note(
                f"looked after {len(done)}",
                {
                    key: value
                    for key, value in told.items()
                    if not isinstance(value, float) or key in ("waiting", "unranked")
                },
            )
            for k, number in enumerate((*ids, metric.id)):
                pier.ask(f"{k} after {len(done)}", "owner", "GET", f"/api/v1/submissions/{number}")
    note("done", done)
    now = worklist.standing(site, "ferry")
    note("standing", {"missing": len(now.missing), "failed": len(getattr(now, "failed", ()))})
    note(
        "failures",
        [[failure.reason, failure.platform, failure.attempts] for failure in cells.failed_cells_of(site, "ferry")]
        if hasattr(cells, "failed_cells_of")
        else [],
    )
    with site.database.writing() as connection:
        note("none held", leases.count_held(connection, now=site.clock()))
        leases.note_alive(connection, "w", now=site.clock(), seconds=60, gpu=True)
        note("alive", [leases.has_gpu_worker(connection, now=site.clock() + after) for after in (0, 60, 61, 181)])
    pier.ask("progress", None, "GET", "/api/v1/boards/ferry/progress")
    pier.ask("health", None, "GET", "/ready")
    pier.diary.rows("rows", site, ("cell_failures", "leases", "submissions", "audit"))
    pier.keep("jobs")


def test_what_is_tidied_and_forgotten_is_what_was_approved(pier: Gate) -> None:
    site, note = pier.site, pier.diary.note
    pier.person("zed", team="team of zed")
    gone = [send(pier, "tug"), send(pier, "boat", "zed"), send(pier, "raft", "zed")]
    access.add_webhook(site, pier.viewer("zed"), "https://zed.example/hook")
    pier.work()
    withdraw(site, pier.viewer("ann"), gone[0])
    pier.mail()
    for name in ("nobody", "zed", "owner"):
        note(f"forgetting {name}", problems(partial(erasure.plan_forgetting, site, name)))
    note("forgotten", facts(erasure.forget(site, "zed", actor="owner")))
    note("forgotten again", problems(lambda: erasure.forget(site, "zed", actor="owner")))
    pier.diary.rows(
        "rows after forgetting", site, ("accounts", "teams", "tokens", "submissions", "webhooks", "deliveries")
    )
    for days in (6.9, 7.1, 9.0, 10.1, 30.1, 60.1, 61.0):
        pier.clock.now = START + days * DAY
        note(f"to tidy after {days}", amounts(expiry.plan_tidying(site)))
    note("chores", [[chore.what, chore.setting, chore.days] for chore in expiry.list_chores(site)])
    note("tidied", amounts(expiry.tidy(site, actor="owner")))
    note("tidied again", amounts(expiry.tidy(site, actor="owner")))
    pier.diary.rows("rows after tidying", site, ("audit", "deliveries", "submissions"))
    note("verified", facts(operations.verify_files(site)))
    operations.note_backup(site, 7)
    note("backup noted", operations.look_at(site).last_backup)
    file = pier.home / "site.tar.gz"
    note("backed up", {key: value for key, value in facts(back_up(site, file)).items() if "byte" not in key})
    with tarfile.open(file) as archive:
        names = sorted(name for name in archive.getnames() if "blobs" not in name)
        manifest = archive.extractfile("manifest.json") if "manifest.json" in names else None
        note("files", names)
        if manifest is not None:
            told = json.loads(manifest.read())
            note("manifest", {key: value for key, value in told.items() if not isinstance(value, dict)})
            note("tables", {name: said["rows"] for name, said in told["tables"].items()})
    pier.keep("tidied")
