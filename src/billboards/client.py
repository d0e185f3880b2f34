"""A site from Python: read boards and rankings, submit generators and metrics, wait for what comes of them.

    from billboards.client import Client

    site = Client("https://boards.example.org", token="bb_…")
    sent = site.submit_generator("wmt20-zh-en", "my-system", "outputs.jsonl")
    print(site.wait(sent["id"])["state"])

Answers are the interface's own JSON objects (described under /docs of the site). A network that fails is tried again
where that can't do anything twice; every refusal is an `InvalidInput` or a `SiteFailed` that says what the site said.
"""

from __future__ import annotations

import io
import json
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, quote, urlsplit

from billboards.errors import InvalidInput, MissingPart, SiteFailed

TERMINAL = frozenset({"scored", "rejected", "failed", "cancelled", "withdrawn"})
#: How often a request is tried when the site can't be reached or asks to wait.
ATTEMPTS = 4
#: Mistakes of a submission that are told one by one.
SHOWN = 10
#: How a file is asked for: as it is, and with errors in JSON.
PLAIN = {"accept-encoding": "identity", "accept": "application/json, */*;q=0.5"}
#: Bytes of an error that are read.
MOST_WORDS = 1 << 20

Json = dict[str, Any]


class Client:
    """A connection to one site, as a visitor or as who holds a token."""

    def __init__(self, url: str, token: str | None = None, *, timeout: float = 60.0) -> None:
        try:
            import httpx
        except ImportError as error:
            raise MissingPart("the client needs httpx; install it with `pip install 'billboards[site]'`") from error
        headers = {"user-agent": "billboards-client"} | ({"authorization": f"Bearer {token}"} if token else {})
        self._failures = (httpx.TransportError,)
        self._site = url.rstrip("/")
        try:
            self._http = httpx.Client(base_url=f"{url.rstrip('/')}/api/v1", headers=headers, timeout=timeout)
        except (httpx.InvalidURL, ValueError) as error:
            raise InvalidInput(f"{url!r} is no address of a site: {error}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def account(self) -> Json:
        """Who the token belongs to."""
        return self._object("GET", "/account")

    def boards(self) -> list[Json]:
        """Every board of the site."""
        return list(self._lists("/boards"))

    def board(self, board: str) -> Json:
        """What a board is, and how it takes submissions."""
        return self._object("GET", f"/boards/{_word(board)}")

    def ranking(self, board: str, key: str | int | None = None) -> Json:
        """What a board says now, or said in a kept ranking, by its id or number."""
        kept = "ranking" if key is None else f"rankings/{_word(str(key))}"
        return self._object("GET", f"/boards/{_word(board)}/{kept}")

    def rankings(self, board: str) -> Iterator[Json]:
        """Every ranking a board has had, the latest first, without what they say."""
        return self._pages(f"/boards/{_word(board)}/rankings")

    def instances(self, board: str) -> Iterator[Json]:
        """The instances of a board."""
        return self._pages(f"/boards/{_word(board)}/instances", limit=1000)

    def generators(self, board: str) -> Iterator[Json]:
        """The generators of a board, in its order."""
        return self._lists(f"/boards/{_word(board)}/generators")

    def standings(self, board: str) -> Iterator[Json]:
        """The generators of the latest ranking in their order, each with its rank and mean scores."""
        return self._pages(f"/boards/{_word(board)}/ranking/generators")

    def outputs(self, board: str, generator: str) -> Iterator[Json]:
        """A generator's outputs."""
        return self._pages(f"/boards/{_word(board)}/generators/{_word(generator)}/outputs", limit=1000)

    def scores(self, board: str, metric: str) -> Iterator[Json]:
        """A metric's scores, generator by generator."""
        return self._pages(f"/boards/{_word(board)}/metrics/{_word(metric)}/scores")

    def judgments(self, board: str) -> Iterator[Json]:
        """What people said."""
        return self._pages(f"/boards/{_word(board)}/judgments", limit=1000)

    def download(self, board: str, file: str, target: str | Path, *, at_most: int) -> Path:
        """Fetch one of a board's downloads, such as board.zip, to a file; one of more bytes than `at_most` is refused.

        It comes from the site itself: where the site leads elsewhere nothing is fetched.
        """
        address = f"{self._site}/boards/{_word(board)}/downloads/{_word(file)}"
        path, size = Path(target), 0
        try:
            with self._http.stream("GET", address, headers=PLAIN) as response:
                self._check_download(response, address, at_most)
                with path.open("wb") as out:
                    for chunk in response.iter_raw():
                        size += len(chunk)
                        if size > at_most:
                            raise SiteFailed(f"{address}: sends more than {at_most:,} bytes; nothing is taken")
                        out.write(chunk)
        except self._failures as error:
            raise SiteFailed(f"{address}: can't be fetched: {error}") from error
        except OSError as error:
            raise InvalidInput(f"{path}: can't be written: {error.strerror or error}") from error
        return path

    def _check_download(self, response: Any, address: str, at_most: int) -> None:
        """Refuse an answer that is no file, is elsewhere, is packed once more, or is too large by its own word."""
        if response.status_code >= 400:
            body = b""
            for chunk in response.iter_raw():
                body += chunk
                if len(body) > MOST_WORDS:
                    break
            raise _refusal(response.status_code, _document(body))
        if response.status_code != 200:
            raise SiteFailed(f"{address}: leads elsewhere or has nothing (status {response.status_code})")
        if response.headers.get("content-encoding", "identity") != "identity":
            raise SiteFailed(f"{address}: is sent compressed, although that was not asked for")
        stated = response.headers.get("content-length", "")
        if stated.isdecimal() and int(stated) > at_most:
            raise SiteFailed(f"{address}: has {int(stated):,} bytes, more than {at_most:,}; nothing is taken")

    def submit_generator(self, board: str, name: str, outputs: str | Path, **fields: Any) -> Json:
        """Send a generator's outputs (JSON lines, or one text a line); `fields` are what the form asks beside them."""
        path = Path(outputs)
        files = {"file": (path.name, _bytes(path))}
        return self._object("POST", f"/boards/{_word(board)}/generators", data=_fields(name, fields), files=files)

    def submit_metric(self, board: str, name: str | None, program: str | Path, **fields: Any) -> Json:
        """Send a metric: a folder or zip archive with run.sh, or one Python file with a function `score`.

        Without a `name` it has the one that its `metric.toml` states.
        """
        files = {"file": _program(Path(program))}
        return self._object("POST", f"/boards/{_word(board)}/metrics", data=_fields(name, fields), files=files)

    def suites(self) -> list[Json]:
        """The suites of the site."""
        return list(self._lists("/suites"))

    def suite(self, suite: str) -> Json:
        """A suite's boards and views, and how far everything is that was sent in to them."""
        return self._object("GET", f"/suites/{_word(suite)}")

    def suite_ranking(self, suite: str, **view: str) -> Json:
        """One ranking of metrics over a suite's boards; `view` may say `task`, `language`, `dimension`, `block` and
        the other choices of the route."""
        return self._object("GET", f"/suites/{_word(suite)}/ranking", params=view)

    def submit_metric_to_suite(self, suite: str, name: str | None, program: str | Path, **fields: Any) -> list[Json]:
        """Send a metric to all boards of a suite, which all take it or none; returns the submission of each board."""
        return self._submit_to_suite(suite, "metrics", name, _program(Path(program)), fields)

    def submit_generator_to_suite(self, suite: str, name: str, outputs: str | Path, **fields: Any) -> list[Json]:
        """Send outputs to all boards of a suite: a folder or zip archive with a file for each board, BOARD.jsonl."""
        return self._submit_to_suite(suite, "generators", name, _program(Path(outputs)), fields)

    def _submit_to_suite(
        self, suite: str, kind: str, name: str | None, file: tuple[str, bytes], fields: Mapping[str, Any]
    ) -> list[Json]:
        path = f"/suites/{_word(suite)}/{kind}"
        sent = self._object("POST", path, data=_fields(name, fields), files={"file": file}).get("submissions")
        if not isinstance(sent, list) or not sent:
            raise self._odd(path)
        return sent

    def submit_scores(self, board: str, name: str, scores: str | Path, **fields: Any) -> Json:
        """Send a metric as scores only: `system<TAB>score` lines as WMT has them, or generator, instance and score.

        `fields` are what the form asks beside them; `higher_is_better` and `training_data` must be among them.
        """
        path = Path(scores)
        files = {"file": (path.name, _bytes(path))}
        return self._object("POST", f"/boards/{_word(board)}/metrics/scores", data=_fields(name, fields), files=files)

    def submit_address(self, board: str, way: str, name: str, **fields: Any) -> Json:
        """Send a metric as an address: `way` is `hub`, `image` or `endpoint`, `fields` are those of the route."""
        return self._object("POST", f"/boards/{_word(board)}/metrics/{_word(way)}", json={"name": name, **fields})

    def add_scores(self, board: str, scores: str | Path, **fields: Any) -> list[Json]:
        """Add scores that were computed elsewhere, as an owner; `fields` are those of the form."""
        path = Path(scores)
        files, data = {"file": (path.name, _bytes(path))}, _fields(None, fields)
        columns: list[Json] = self._object("POST", f"/boards/{_word(board)}/scores", data=data, files=files)["columns"]
        return columns

    def submissions(self, **chosen: str) -> Iterator[Json]:
        """Submissions one may see, the latest first; `board`, `kind` and `state` choose among them."""
        return self._pages("/submissions", **chosen)

    def submission(self, submission: str) -> Json:
        """How far a submission has come."""
        return self._object("GET", f"/submissions/{_word(submission)}")

    def log(self, submission: str) -> Iterator[Json]:
        """A submission's log, oldest first."""
        return self._pages(f"/submissions/{_word(submission)}/log", limit=1000)

    def act(self, submission: str, action: str) -> Json:
        """`cancel`, `retry`, `withdraw` or `reveal` a submission."""
        return self._object("POST", f"/submissions/{_word(submission)}/{_word(action)}")

    def wait(
        self,
        submission: str,
        *,
        timeout: float | None = None,
        poll: float = 1.0,
        on_progress: Callable[[Json], None] | None = None,
        ranked: bool = False,
    ) -> Json:
        """Wait until a submission is scored, rejected, failed, cancelled or withdrawn; returns it as it then is.

        With `ranked`, wait for the ranking with it too: its `outcome` then says what came of it.
        """
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            status = self.submission(submission)
            if on_progress is not None:
                on_progress(status)
            state = status.get("state")
            if not isinstance(state, str):
                raise self._odd(f"/submissions/{submission}")
            outcome = status.get("outcome") or {}
            if state in TERMINAL and not (ranked and outcome.get("state") == "ranking"):
                return status
            if end is not None and time.monotonic() > end:
                raise SiteFailed(f"submission {submission} is still {state}; ask for it again later")
            time.sleep(poll)

    def _pages(self, path: str, **query: Any) -> Iterator[Json]:
        cursor: str | None = None
        while True:
            page = self._object("GET", path, params=query if cursor is None else {**query, "cursor": cursor})
            items, following = page.get("items"), page.get("next")
            # A page that leads to itself, or on from nothing, would be asked for without end.
            if not isinstance(items, list) or (following is not None and (following == cursor or not items)):
                raise self._odd(path)
            yield from items
            if following is None:
                return
            cursor = str(following)

    def _lists(self, path: str, **query: Any) -> Iterator[Json]:
        """A plain list, page by page: the header Link names the next one, of which only the cursor is believed."""
        cursor: list[str] | None = None
        while True:
            response = self._response("GET", path, params=query if cursor is None else {**query, "cursor": cursor[0]})
            rows = _answer(response)
            if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
                raise self._odd(path)
            yield from rows
            following = urlsplit(response.links.get("next", {}).get("url", ""))
            cursor = parse_qs(following.query).get("cursor")
            if cursor is None:
                return

    def _object(self, method: str, path: str, **sent: Any) -> Json:
        answer = self._json(method, path, **sent)
        if not isinstance(answer, dict):
            raise self._odd(path)
        return answer

    def _odd(self, path: str) -> SiteFailed:
        return SiteFailed(f"{self._http.base_url}: answers {path} as no site does; see that this is its address")

    def _json(self, method: str, path: str, **sent: Any) -> Any:
        return _answer(self._response(method, path, **sent))

    def _response(self, method: str, path: str, **sent: Any) -> Any:
        for attempt in range(1, ATTEMPTS + 1):
            try:
                response = self._http.request(method, path, **sent)
            except self._failures as error:
                if method != "GET" or attempt == ATTEMPTS:
                    raise SiteFailed(f"{self._http.base_url}: can't be reached: {error}") from error
                time.sleep(0.2 * 2**attempt)
                continue
            if response.status_code not in (429, 503) or attempt == ATTEMPTS:
                return response
            time.sleep(_patience(response.headers.get("retry-after"), attempt))
        raise AssertionError("the last attempt returns or raises")


def _answer(response: Any) -> Any:
    """What the site said; a refusal is raised with its own words."""
    document = _document(response.content)
    if response.status_code < 400:
        return document
    raise _refusal(response.status_code, document)


def _document(content: bytes) -> Any:
    """What a body says; None where it is no JSON."""
    try:
        return json.loads(content) if content else None
    except (ValueError, RecursionError):
        return None


def _refusal(status: int, document: Any) -> InvalidInput | SiteFailed:
    """A refusal in the site's own words."""
    detail = document.get("detail") if isinstance(document, Mapping) else None
    problems = document.get("problems") if isinstance(document, Mapping) else None
    text = _listed(problems, document.get("mistakes")) if problems else str(detail or f"status {status}")
    return (InvalidInput if status in (400, 404, 413, 422) else SiteFailed)(text)


def _patience(stated: str | None, attempt: int) -> float:
    return min(float(stated), 30.0) if stated is not None and stated.isdecimal() else 0.2 * 2**attempt


def _listed(problems: Sequence[object], mistakes: object = None) -> str:
    """Mistakes, one to a line where there are several; of many the first, and how many more there are.

    A site lists many mistakes of one file as one, and says how many `mistakes` there are.
    """
    lines = [str(problem) for problem in problems[:SHOWN]]
    count = mistakes if isinstance(mistakes, int) else len(problems)
    more = [f"and {count - SHOWN} more mistakes"] if len(problems) > SHOWN else []
    return "\n  ".join([*lines, *more])


def _fields(name: str | None, fields: Mapping[str, Any]) -> dict[str, Any]:
    """What a form sends; what is None is not sent, and truth is written as JSON writes it."""
    values = {"name": name, **fields}
    return {
        key: str(value).lower() if isinstance(value, bool) else value
        for key, value in values.items()
        if value is not None
    }


def _word(text: str) -> str:
    return quote(text, safe="")


def _program(path: Path) -> tuple[str, bytes]:
    """A file as it is, or a folder as an archive, with its name."""
    return (f"{path.name}.zip", _zipped(path)) if path.is_dir() else (path.name, _bytes(path))


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InvalidInput(f"{path}: can't be read: {error.strerror or error}") from error


def _zipped(folder: Path) -> bytes:
    """A folder as a zip archive; the same files give the same bytes, so that a program's digest stays."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            hidden = any(part.startswith(".") or part == "__pycache__" for part in path.relative_to(folder).parts)
            if path.is_file() and not hidden:
                entry = zipfile.ZipInfo(path.relative_to(folder).as_posix(), (1980, 1, 1, 0, 0, 0))
                entry.external_attr = 0o644 << 16
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, path.read_bytes())
    return buffer.getvalue()
