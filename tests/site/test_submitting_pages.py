"""Sending in by form, and following what was sent until it is on the board."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from page_sites import PageSite, page_site

from billboards.site.submissions import records as submissions

BOARD = "/boards/harbour"
FORM = f"{BOARD}/submit/generator"


@pytest.fixture
def small(tmp_path: Path) -> PageSite:
    return page_site(tmp_path)


def sent_in(small: PageSite, path: str = FORM, asker: str = "team", **fields: str) -> str:
    """Send a form that is right; the address of the submission."""
    answer = small.post(path, asker, data=fields)
    assert answer.status_code == 303, answer.text
    return str(answer.headers["location"])


def test_a_pasted_column_becomes_a_submission_and_then_a_row(small: PageSite) -> None:
    where = sent_in(small, name="mine", pasted=small.outputs().decode(), description="by form")
    page = small.get(where, "team").text
    assert "waiting for a worker" in page
    assert 'data-events="/boards/harbour/events"' in small.get(f"{BOARD}/submissions", "team").text
    assert "by form" in page
    small.work()
    assert "on the board" in small.get(where, "team").text
    assert 'data-name="mine"' in small.get(BOARD).text
    assert "mine came in" in small.get(f"{BOARD}/rankings").text


def test_a_file_of_json_lines_is_taken(small: PageSite) -> None:
    lines = "".join(json.dumps({"instance": i.id, "text": "a boat"}) + "\n" for i in small.board.instances)
    files = {"file": ("mine.jsonl", lines.encode())}
    answer = small.post(FORM, "team", data={"name": "mine"}, files=files)
    assert answer.status_code == 303


def test_every_mistake_of_a_file_is_named_and_what_was_written_stays(small: PageSite) -> None:
    lines = '{"instance": "i/0", "text": "a"}\n{"instance": "i/0", "text": "b"}\n{"instance": "nowhere", "text": "c"}\n'
    answer = small.post(FORM, "team", data={"name": "mine", "pasted": lines, "description": "kept"})
    assert answer.status_code == 422
    assert "line 2" in answer.text
    assert "line 3" in answer.text
    assert "nowhere" in answer.text
    assert 'value="kept"' in answer.text
    assert "nothing was sent in yet" in answer.text
    with small.site.database.reading() as connection:
        assert submissions.find(connection) == ()


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"name": "mine"}, "choose a file with the outputs, or paste it"),
        ({"name": "", "pasted": "a"}, "empty"),
        ({"name": "late", "pasted": "a"}, "late"),
        ({"name": "mine", "pasted": "a\n" * 8, "paper": "javascript:x"}, "web address"),
        ({"name": "mine", "pasted": "a\n" * 8, "entry": "main"}, "no kind of entry named"),
    ],
)
def test_a_form_that_is_wrong_is_shown_again_with_what_is_wrong(
    small: PageSite, fields: dict[str, str], words: str
) -> None:
    answer = small.post(FORM, "team", data={"pasted": "", **fields})
    assert answer.status_code in (409, 422)
    assert words.lower() in answer.text.lower()
    assert 'role="alert"' in answer.text


def test_a_visitor_is_told_to_log_in_and_nothing_is_kept(small: PageSite) -> None:
    answer = small.post(FORM, data={"name": "mine", "pasted": small.outputs().decode()})
    assert answer.status_code == 401
    assert "log in" in answer.text
    with small.site.database.reading() as connection:
        assert submissions.find(connection) == ()


def test_a_form_sent_from_another_site_is_refused(small: PageSite) -> None:
    for headers in ({"origin": "https://evil.example"}, {"origin": "null"}, {"sec-fetch-site": "cross-site"}):
        answer = small.post(FORM, "team", headers=headers, data={"name": "mine", "pasted": "a"})
        assert answer.status_code == 403
        assert "another site" in answer.text


def test_a_closed_phase_is_said_before_and_after_sending(small: PageSite) -> None:
    small.settle(phases=[{"name": "test", "closes": "2020-01-01T00:00Z"}])
    assert "submissions are over" in small.get(FORM, "team").text
    answer = small.post(FORM, "team", data={"name": "mine", "pasted": small.outputs().decode()})
    assert answer.status_code == 409
    assert "test closed on 2020-01-01" in answer.text


def test_what_is_left_of_a_quota_is_shown(small: PageSite) -> None:
    small.settle(per_day=2)
    sent_in(small, name="mine", pasted=small.outputs().decode())
    assert "1 of 2 today" in small.get(FORM, "team").text


def test_a_submission_can_be_cancelled_and_tried_again(small: PageSite) -> None:
    where = sent_in(small, name="mine", pasted=small.outputs().decode())
    assert small.post(f"{where}/cancel", "team").headers["location"] == where
    page = small.get(where, "team").text
    assert "cancelled" in page
    assert "Try again" in page
    small.post(f"{where}/retry", "team")
    small.work()
    assert "on the board" in small.get(where, "team").text
    assert small.post(f"{where}/cancel", "team").status_code == 409


def test_nobody_else_may_change_a_submission(small: PageSite) -> None:
    where = sent_in(small, name="mine", pasted=small.outputs().decode())
    assert small.post(f"{where}/cancel", "stranger").status_code == 403
    assert small.post(f"{where}/cancel").status_code == 401
    assert small.get(where, "stranger").status_code == 403
    assert small.post(f"{where}/explode", "team").status_code == 404


def events(text: str) -> list[tuple[str, object]]:
    """The events of a stream that has ended."""
    found = []
    for block in text.split("\n\n"):
        fields = dict(line.partition(": ")[::2] for line in block.splitlines() if not line.startswith(":"))
        if "event" in fields:
            found.append((fields["event"], json.loads(fields["data"])))
    return found


def test_the_stream_of_a_submission_tells_its_state_and_log_and_ends(small: PageSite) -> None:
    where = sent_in(small, name="mine", pasted=small.outputs().decode())
    small.post(f"{where}/cancel", "team")
    answer = small.get(f"{where}/events", "team")
    assert answer.headers["content-type"].startswith("text/event-stream")
    kind, status = events(answer.text)[-1]
    assert (kind, status["state"], status["ended"]) == ("status", "cancelled", True)  # type: ignore[index]
    assert small.get(f"{where}/events", "stranger").status_code == 403


def test_a_metric_is_sent_in_by_form_with_what_it_declares(small: PageSite) -> None:
    code = "def score(outputs, references, inputs):\n    return [float(len(output)) for output in outputs]\n"
    path = f"{BOARD}/submit/metric"
    answer = small.post(path, "team", data={"name": "letters", "pasted": code, "direction": "higher"})
    assert answer.status_code == 422
    assert "training_data" in answer.text
    fields = {"name": "letters", "pasted": code, "direction": "lower", "training_data": "none", "needs_input": "yes"}
    where = sent_in(small, path, **fields)
    page = small.get(where, "team").text
    assert "letters" in page
    assert "trial" in page


def test_only_owners_are_offered_to_trust_a_program(small: PageSite) -> None:
    assert "I trust this program" in small.get(f"{BOARD}/submit/metric", "owner").text
    assert "I trust this program" not in small.get(f"{BOARD}/submit/metric", "team").text


def test_a_session_must_send_its_own_word_along(small: PageSite) -> None:
    from billboards.site.accounts.access import log_in
    from billboards.site.web.asking import SESSION

    session = log_in(small.site, small.tokens["team"])
    assert session is not None
    cookie, csrf = session
    small.client.cookies.set(SESSION, cookie)
    fields = {"name": "mine", "pasted": small.outputs().decode()}
    assert small.post(FORM, data=fields).status_code == 403
    assert f'name="csrf" value="{csrf}"' in small.get(FORM).text
    assert small.post(FORM, data={**fields, "csrf": csrf}).status_code == 303


def test_where_no_log_in_is_needed_the_local_owner_sends_in(tmp_path: Path) -> None:
    small = page_site(tmp_path, login_required=False)
    answer = small.post(FORM, data={"name": "mine", "pasted": small.outputs().decode()})
    assert answer.status_code == 303
    small.work()
    assert "on the board" in small.get(answer.headers["location"]).text
