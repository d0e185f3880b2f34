"""Stands in for Prolific: a real HTTP server on this machine with the shapes and rules that its documentation states.

Studies go from draft to published; places grow and never shrink; a submission that times out or is returned gives its
place back; a rejection needs a category and 100 characters; paying a batch of bonuses twice pays twice. People are
played by the test, through `take_place` and what follows.
"""

from __future__ import annotations

import itertools
import json
import re
import threading
from collections import Counter, deque
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

FEE = 0.428
NEEDED = ("name", "description", "external_study_url", "completion_codes", "estimated_completion_time", "reward")
MOVES = {
    ("UNPUBLISHED", "PUBLISH"): "ACTIVE",
    ("UNPUBLISHED", "SCHEDULE_PUBLISH"): "SCHEDULED",
    ("ACTIVE", "PAUSE"): "PAUSED",
    ("PAUSED", "START"): "ACTIVE",
    ("ACTIVE", "STOP"): "COMPLETED",
    ("PAUSED", "STOP"): "COMPLETED",
}
HOLDING = ("RESERVED", "ACTIVE", "AWAITING REVIEW", "APPROVED")


class Refusal(Exception):
    """A request that Prolific answers with a status above 399."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status, self.detail = status, detail


@dataclass
class ProlificServer:
    """The server; `address` is what a client would name instead of Prolific's."""

    key: str = "a-key"
    studies: dict[str, dict[str, Any]] = field(default_factory=dict)
    submissions: dict[str, dict[str, Any]] = field(default_factory=dict)
    batches: dict[str, dict[str, float]] = field(default_factory=dict)
    paid: Counter[str] = field(default_factory=Counter)
    #: Statuses that the next requests get, whatever they ask.
    trouble: deque[int] = field(default_factory=deque)
    requests: list[tuple[str, str]] = field(default_factory=list)
    #: When set, the next request that pays is done and its answer is lost on the way.
    lose_answer: bool = False

    def __post_init__(self) -> None:
        self._ids = (f"{n:024x}" for n in itertools.count(1))
        server = self

        class Handler(BaseHTTPRequestHandler):
            def _answer(self) -> None:
                length = int(self.headers.get("content-length") or 0)
                body = json.loads(self.rfile.read(length) or b"{}")
                status, document = server.handle(self.command, self.path, self.headers.get("authorization"), body)
                if status == 0:
                    self.close_connection = True
                    return
                raw = json.dumps(document).encode()
                self.send_response(status)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(raw)))
                self.end_headers()
                self.wfile.write(raw)

            do_GET = do_POST = do_PATCH = _answer  # noqa: N815 - the names that the library calls

            def log_message(self, format: str, *args: Any) -> None:
                """Say nothing."""

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def handle(self, method: str, path: str, key: str | None, body: dict[str, Any]) -> tuple[int, Any]:
        self.requests.append((method, path))
        if self.trouble:
            return self.trouble.popleft(), {"error": "busy"}
        if key != f"Token {self.key}":
            return 401, {"detail": "Invalid token."}
        route, _, query = path.removeprefix("/api/v1").partition("?")
        try:
            answer = self._route(method, route, dict(pair.split("=") for pair in query.split("&") if pair), body)
        except Refusal as refusal:
            return refusal.status, {"error": {"status": refusal.status, "detail": refusal.detail}}
        if self.lose_answer and route.endswith("/pay/"):
            return 0, None
        return 200, answer

    def _route(self, method: str, route: str, query: dict[str, str], body: dict[str, Any]) -> Any:
        if (method, route) == ("POST", "/studies/"):
            return self._draft(body)
        if (method, route) == ("GET", "/submissions/"):
            return self._list(query)
        if (method, route) == ("POST", "/submissions/bonus-payments/"):
            return self._prepare(body)
        for pattern, handler in (
            (r"GET /studies/(\w+)/", self._study),
            (r"PATCH /studies/(\w+)/", self._grow),
            (r"POST /studies/(\w+)/transition/", self._move),
            (r"POST /submissions/(\w+)/transition/", self._review),
            (r"POST /bulk-bonus-payments/(\w+)/pay/", self._pay),
        ):
            if found := re.fullmatch(pattern, f"{method} {route}"):
                return handler(found.group(1), body)
        raise Refusal(404, "Not found.")

    def _draft(self, body: dict[str, Any]) -> dict[str, Any]:
        missing = [name for name in NEEDED if name not in body]
        if missing:
            raise Refusal(400, f"{missing[0]}: This field is required.")
        if body["reward"] * 60 / body["estimated_completion_time"] < 800:
            raise Refusal(400, "reward: below the minimum hourly rate")
        study = {**body, "id": next(self._ids), "status": "UNPUBLISHED", "presentment_currency_code": "USD"}
        self.studies[study["id"]] = study
        return self._study(study["id"], {})

    def _study(self, study_id: str, _: dict[str, Any]) -> dict[str, Any]:
        if study_id not in self.studies:
            raise Refusal(404, "No study with that id.")
        study = self.studies[study_id]
        cost = study["reward"] * study["total_available_places"] * (1 + FEE)
        return {**study, "total_cost": cost, "places_taken": len(self._holding(study_id))}

    def _grow(self, study_id: str, body: dict[str, Any]) -> dict[str, Any]:
        study = self.studies[study_id]
        if study["status"] != "UNPUBLISHED" and set(body) != {"total_available_places"}:
            raise Refusal(400, "a published study takes no other change")
        if body["total_available_places"] < study["total_available_places"]:
            raise Refusal(400, "total_available_places can only be increased")
        study.update(body)
        return self._study(study_id, {})

    def _move(self, study_id: str, body: dict[str, Any]) -> dict[str, Any]:
        study = self.studies[study_id]
        target = MOVES.get((study["status"], body["action"]))
        if target is None:
            raise Refusal(400, f"{body['action']} is not possible for a study that is {study['status']}")
        study["status"] = target
        if "publish_at" in body:
            study["publish_at"] = body["publish_at"]
        return self._study(study_id, {})

    def _list(self, query: dict[str, str]) -> dict[str, Any]:
        page, size = int(query.get("page", "1")), int(query.get("page_size", "20"))
        mine = [entry for entry in self.submissions.values() if entry["study_id"] == query["study"]]
        following = f"{self.address}/api/v1/submissions/?page={page + 1}" if page * size < len(mine) else None
        return {"results": mine[(page - 1) * size : page * size], "_links": {"next": {"href": following}}}

    def _review(self, submission_id: str, body: dict[str, Any]) -> dict[str, Any]:
        entry = self.submissions[submission_id]
        target = {"APPROVE": "APPROVED", "REJECT": "REJECTED"}[body["action"]]
        if entry["status"] == target:
            return entry
        if entry["status"] != "AWAITING REVIEW":
            raise Refusal(400, f"a submission that is {entry['status']} can't be reviewed")
        if target == "REJECTED" and (len(body.get("message", "")) < 100 or not body.get("rejection_category")):
            raise Refusal(400, "message: at least 100 characters; rejection_category: required")
        entry["status"] = target
        return entry

    def _prepare(self, body: dict[str, Any]) -> dict[str, Any]:
        took_part = {entry["participant_id"] for entry in self.submissions.values()}
        amounts = {
            name: float(amount) for name, amount in (line.split(",") for line in body["csv_bonuses"].split("\n"))
        }
        if unknown := set(amounts) - took_part:
            raise Refusal(400, f"unable to bonus {min(unknown)}: they have not submitted")
        batch = next(self._ids)
        self.batches[batch] = amounts
        return {"id": batch, "study": body["study_id"], "total_amount": sum(amounts.values())}

    def _pay(self, batch_id: str, _: dict[str, Any]) -> dict[str, Any]:
        for participant, amount in self.batches[batch_id].items():
            self.paid[participant] += round(amount * 100)
        return {}

    # What people do.

    def _holding(self, study_id: str) -> list[dict[str, Any]]:
        mine = (entry for entry in self.submissions.values() if entry["study_id"] == study_id)
        return [entry for entry in mine if entry["status"] in HOLDING]

    def take_place(self, study_id: str, participant: str) -> str:
        study = self.studies[study_id]
        if study["status"] != "ACTIVE" or len(self._holding(study_id)) >= study["total_available_places"]:
            raise Refusal(409, "no place is free")
        submission_id = next(self._ids)
        entry = {
            "id": submission_id,
            "study_id": study_id,
            "participant_id": participant,
            "status": "ACTIVE",
            "started_at": "2026-05-04T10:00:00Z",
            "completed_at": None,
            "study_code": None,
        }
        self.submissions[submission_id] = entry
        return submission_id

    def finish(self, submission_id: str, code: str) -> None:
        done = {"status": "AWAITING REVIEW", "completed_at": "2026-05-04T10:12:00Z", "study_code": code}
        self.submissions[submission_id].update(done)

    def leave(self, submission_id: str, status: str) -> None:
        self.submissions[submission_id]["status"] = status
