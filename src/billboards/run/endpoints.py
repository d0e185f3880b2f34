"""A metric as an endpoint: somebody's server that is sent texts and answers with scores.

It is sent `POST {"outputs": […], "references": [[…]], "inputs": […]}`, some outputs at a time, and answers
`{"scores": […]}`, one finite number for each output, in order. What it doesn't declare to need is empty. What may pass
(no answer, too many requests, a server's fault) is tried again; redirections are not followed, answers are bounded, and
an address in the server's own network is refused unless the owner of the site allows such.

What is sent is out of the board's hands: who may be sent what is for the caller to decide.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from billboards.errors import InvalidInput, MetricFailed
from billboards.metrics.base import Batch
from billboards.run.addresses import NoAddress, outside_address, posted
from billboards.run.manifest import Contract
from billboards.run.program_metrics import ProgramRun, WatchedMetric, facts_signed
from billboards.run.sandbox import Listener, Outcome

#: Outputs in one request, how often one is put, the seconds before the second time, and those for which an answer may
#: keep silent; all of it may take twice as long.
PART, ATTEMPTS, FIRST_WAIT, PATIENCE = 64, 4, 1.0, 120.0
#: Bytes of an answer that are read.
MOST = 1 << 20
#: Statuses that pass; those from 500 on do too.
PASSING = frozenset({408, 425, 429})
LONGEST = 1_000
DEFAULT_CONTRACT = Contract()
Floats = NDArray[np.float64]


def checked_address(url: str) -> str:
    """An address that a request can go to."""
    try:
        parts = urlsplit(url)
        plain = parts.scheme in ("http", "https") and parts.hostname and not parts.username and not parts.fragment
        usable = plain and len(url) <= LONGEST and url.isprintable() and " " not in url and parts.port != 0
    except ValueError:
        usable = False
    if not usable:
        raise InvalidInput(f"{url[:80]!r} is no address of an endpoint; write https://host/path")
    return url


class _Passing(Exception):
    """What may be different the next time."""


class _Lasting(Exception):
    """What will not pass: the endpoint's own fault."""


@dataclass(frozen=True)
class EndpointMetric(WatchedMetric):
    """An endpoint that scores; `version` is what its author says runs there."""

    url: str
    version: str
    inside: bool = False
    seconds: float = 600.0
    contract: Contract = DEFAULT_CONTRACT

    @property
    def signature(self) -> str:
        # The address itself may tell who an anonymous author is.
        place = hashlib.sha256(self.url.encode()).hexdigest()[:16]
        parts = {"endpoint": place, "version": self.version, **facts_signed(self.card, self.contract)}
        return "|".join((self.card.name, *(f"{key}:{value}" for key, value in parts.items())))

    def run(
        self,
        batches: Sequence[Batch],
        *,
        listen: Listener | None = None,  # noqa: ARG002 - an endpoint says nothing beside its scores
        cancelled: Callable[[], bool] | None = None,
        quoting: bool = True,
        seed: bytes | None = None,  # noqa: ARG002 - it is sent no ids
        times: float | None = None,
    ) -> list[ProgramRun]:
        (batch,) = batches
        if not len(batch):
            raise MetricFailed(f"{self.name}: there is no output to score")
        seconds = self.seconds * (1.0 if times is None else times)
        began, scores, problem, platform = time.monotonic(), list[float](), None, False
        try:
            for part in _parts(batch):
                if cancelled is not None and cancelled():
                    problem = "was cancelled while it ran"
                    break
                if time.monotonic() - began > seconds:
                    problem = f"took longer than {seconds:g} s for {len(batch)} outputs; make it faster"
                    break
                scores += self._answered(part, quoting=quoting)
        except _Passing as error:
            problem, platform = str(error), True
        except _Lasting as error:
            problem = str(error)
        outcome = _outcome(time.monotonic() - began, problem, platform=platform)
        if problem is not None:
            return [ProgramRun(None, f"{self.name}: {problem}", outcome)]
        return [ProgramRun(np.array(scores, np.float64), None, outcome)]

    def _answered(self, part: Batch, *, quoting: bool) -> list[float]:
        """The scores of a part, asked for until they come or will not come."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return self._asked(part, quoting=quoting)
            except _Passing:
                if attempt == ATTEMPTS:
                    raise
                time.sleep(FIRST_WAIT * 2 ** (attempt - 1))
        raise AssertionError("the last attempt returns or raises")

    def _asked(self, part: Batch, *, quoting: bool) -> list[float]:
        import httpx

        address = None if self.inside else self._outside()
        try:
            with posted(
                self.url, address=address, patience=PATIENCE, seconds=2 * PATIENCE, json=self._sent(part)
            ) as response:
                content = _read(response.iter_bytes())
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise _Passing(f"the endpoint did not answer: {type(error).__name__}") from error
        if response.status_code in PASSING or response.status_code >= 500:
            raise _Passing(f"the endpoint answered {response.status_code}")
        if response.status_code != 200:
            quoted = f": {content[:200].decode('utf-8', 'replace')}" if quoting else ""
            raise _Lasting(f"the endpoint answered {response.status_code}{quoted}")
        return _scores(content, len(part))

    def _outside(self) -> str:
        """The address to ask, which lies in the public network."""
        try:
            address = outside_address(self.url)
        except NoAddress as error:
            raise _Passing(f"{urlsplit(self.url).hostname}: {error}") from error
        if address is None:
            raise _Lasting(f"{urlsplit(self.url).hostname} lies in the server's own network")
        return address

    def _sent(self, part: Batch) -> dict[str, Any]:
        empty = [""] * len(part)
        return {
            "outputs": list(part.outputs),
            "references": [list(refs) for refs in part.references]
            if self.card.needs_references and part.references
            else [[] for _ in empty],
            "inputs": list(part.inputs) if self.card.needs_input and part.inputs else empty,
        }


def _parts(batch: Batch) -> Iterator[Batch]:
    for start in range(0, len(batch), PART):
        yield batch.part(start, start + PART)


def _read(blocks: Iterator[bytes]) -> bytes:
    content = b""
    for block in blocks:
        content += block
        if len(content) > MOST:
            raise _Lasting(f"the endpoint's answer is longer than {MOST} bytes")
    return content


def _scores(content: bytes, outputs: int) -> list[float]:
    """The numbers of an answer, checked."""
    try:
        answer = json.loads(content)
    except (ValueError, RecursionError):
        raise _Lasting('the endpoint\'s answer is no JSON; answer {"scores": […]}') from None
    scores = answer.get("scores") if isinstance(answer, dict) else None
    if not isinstance(scores, list):
        raise _Lasting('the endpoint\'s answer has no list of scores; answer {"scores": […]}')
    if len(scores) != outputs:
        raise _Lasting(f"the endpoint gave {len(scores)} scores for {outputs} outputs; give one for each, in order")
    if not all(type(score) in (int, float) and abs(score) < 1e300 for score in scores):
        raise _Lasting("the endpoint gave something that is no finite number as a score")
    return [float(score) for score in scores]


def _outcome(seconds: float, problem: str | None, *, platform: bool) -> Outcome:
    return Outcome(
        verdict="finished" if problem is None else "exit code",
        exit_code=None,
        stdout="",
        stderr="",
        seconds=seconds,
        cpu_seconds=0.0,
        peak_memory=0,
        result=None,
        problem=problem,
        platform=platform,
    )
