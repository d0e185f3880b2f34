"""Everything that can go wrong in a way a user can act on, as one tree.

    BillboardsError
    ├── InvalidInput            what was given is wrong: the command line ends with exit code 2
    │   ├── InvalidBoard        a board folder with mistakes, each with file and line
    │   ├── InvalidSubmission   a submission with mistakes, each with file and line
    │   │   └── TooLarge        a file with more bytes than are taken
    │   ├── InvalidTemplate     a template of a campaign with mistakes, all of them named
    │   ├── InvalidSettings     settings of a site or a board with mistakes, all of them named
    │   ├── ImportRefused       a public data set that is not what its format promises
    │   ├── Gone                what was there once and is no longer kept
    │   ├── UnknownName         a metric, generator, reference, dimension or signature that is not there
    │   └── NotEnoughData       a statistic that has no defined answer on what there is
    ├── Refused                 a right request at the wrong time: a closed phase, a spent quota, a finished submission
    ├── NotAllowed              a request that this viewer may not make
    ├── MetricFailed            a metric raised, or broke its contract
    ├── MissingPart             an optional package or program is not installed
    │   └── MissingSetting      an address or a model's name that was not given: exit code 2, as of bad input
    ├── StoreFailed             the disk or database below the board refused
    │   ├── StoreAway           it may do what was asked a moment later: a lost connection, a full disk
    │   ├── OtherSchema         the database is of another version of the program
    │   ├── BoardUnreadable     a board's folder can't be read, and no good state of it is kept
    │   └── FileLost            a submitted file is missing or damaged
    ├── ClusterFailed           the machines that compute can't be reached, are gone, or run another version
    ├── DownloadFailed          a public file can't be fetched, or is not what the catalogue promises
    ├── SiteFailed              a site can't be reached, or refused a request
    └── PlatformFailed          a crowd platform can't be reached, or answers what can't be understood

Every message says what, where, and what to do next, and names the offender.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import total_ordering
from typing import Literal


class BillboardsError(Exception):
    """The root of the tree; never raised itself."""


class InvalidInput(BillboardsError):
    """What was given is wrong."""


@total_ordering
@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake or doubt about a board, at a place a person can open in an editor.

    Problems sort as one reads: by file, those of the file as a whole before those of its lines.
    """

    path: str
    line: int | None
    message: str
    severity: Literal["error", "warning"] = "error"

    def __lt__(self, other: object) -> bool:
        return self._order < other._order if isinstance(other, Problem) else NotImplemented

    @property
    def _order(self) -> tuple[str, int, str, str]:
        return self.path, -1 if self.line is None else self.line, self.message, self.severity

    @property
    def stands_for(self) -> int:
        """How many mistakes or doubts it is."""
        return 1

    def __str__(self) -> str:
        place = self.path if self.line is None else f"{self.path}:{self.line}"
        return f"{place}: {self.severity}: {self.message}"


@dataclass(frozen=True, slots=True)
class RestOfProblems(Problem):
    """The mistakes of a file that are counted and not listed, as one."""

    mistakes: int = 1

    @property
    def stands_for(self) -> int:
        return self.mistakes


def count_problems(problems: Iterable[Problem]) -> int:
    """How many mistakes and doubts there are, with those that are only counted."""
    return sum(problem.stands_for for problem in problems)


class InvalidBoard(InvalidInput):
    """A board folder with mistakes; `problems` holds every one of them."""

    def __init__(self, where: str, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        first = self.problems[0]
        place = first.path if first.line is None else f"{first.path}:{first.line}"
        others = count_problems(self.problems) - 1
        more = f" (and {others} more: `billboards check {where}` lists all)" if others else ""
        super().__init__(f"{place}: {first.message}{more}")


class InvalidSubmission(InvalidInput):
    """A submission with mistakes; `problems` holds every one of them."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        first = self.problems[0]
        place = first.path if first.line is None else f"{first.path}:{first.line}"
        others = count_problems(self.problems) - 1
        super().__init__(f"{place}: {first.message}{f' (and {others} more)' if others else ''}")


class TooLarge(InvalidSubmission):
    """A file with more bytes than are taken."""


class InvalidTemplate(InvalidInput):
    """A template file with mistakes; `problems` holds every one of them."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        first, others = self.problems[0], count_problems(self.problems) - 1
        super().__init__(f"{first.path}: {first.message}{f' (and {others} more mistakes)' if others else ''}")


class InvalidSettings(InvalidInput):
    """Settings with mistakes; `problems` holds them, and so does the message.

    `places` says of each where it stands: the key, with the tables and entries of lists around it. `mistakes` is how
    many there are, where more were found than are named.
    """

    def __init__(
        self,
        where: str,
        problems: Sequence[str],
        places: Sequence[tuple[int | str, ...]] = (),
        *,
        mistakes: int | None = None,
    ) -> None:
        self.problems, self.places = tuple(problems), tuple(places)
        self.mistakes = len(self.problems) if mistakes is None else mistakes
        several = f"{self.mistakes:,} mistakes:\n  " if self.mistakes > 1 else ""
        more = self.mistakes - len(self.problems)
        rest = (f"and {more:,} more; mend those listed first",) if more else ()
        super().__init__(f"{where}: {several}" + "\n  ".join((*self.problems, *rest)))


class ImportRefused(InvalidInput):
    """A data set that is not what its format promises."""


class Gone(InvalidInput):
    """What was there once and is no longer kept."""


class UnknownName(InvalidInput):
    """A name that is not there; the message offers the nearest ones that are."""

    def __init__(self, kind: str, name: str, names: Iterable[str]) -> None:
        listed = sorted(names)
        near = nearest(name, listed)
        hint = (
            f"did you mean {', '.join(near)}?"
            if near
            else f"known: {', '.join(listed[:12]) or 'none'}{', …' if listed[12:] else ''}"
        )
        super().__init__(f"no {kind} named {name!r}; {hint}")


def nearest(name: str, names: Iterable[str], *, cutoff: float = 0.5) -> list[str]:
    """The names most like this one, at most three; upper and lower case are alike."""
    folded: dict[str, list[str]] = {}
    for candidate in names:
        folded.setdefault(candidate.casefold(), []).append(candidate)
    close = get_close_matches(name.casefold(), folded, n=3, cutoff=cutoff)
    return [candidate for key in close for candidate in folded[key]][:3]


class NotEnoughData(InvalidInput):
    """A statistic that has no defined answer on what there is."""


class Refused(BillboardsError):
    """A right request at the wrong time, or once too often."""


class NotAllowed(BillboardsError):
    """A request that this viewer may not make."""


class MetricFailed(BillboardsError):
    """A metric raised, or broke its contract."""


class MissingPart(BillboardsError):
    """An optional package or program is not installed."""


class MissingSetting(MissingPart):
    """An address or a model's name that only the user knows was not given."""


class StoreFailed(BillboardsError):
    """The disk or database below the board refused.

    The message names paths, addresses and buckets, so it is for the console and the log of whoever runs the site;
    `public_words` are for everybody else.
    """

    public_words = "The site's storage refuses or can't be reached now. Try again in a moment."


class StoreAway(StoreFailed):
    """The database is not there or the disk is full: the same may succeed a moment later."""


class OtherSchema(StoreFailed):
    """The database's tables are of another version of the program; nothing is written to them."""

    public_words = "The site is being brought to another version. Try again in a few minutes."


class BoardUnreadable(StoreFailed):
    """A board's folder can't be read, and no good state of it is kept."""

    public_words = "This board can't be read now; whoever runs the site has to mend its files."


class FileLost(StoreFailed):
    """A submitted file is missing, or damaged: `state` says which."""

    public_words = "A submitted file is missing or damaged; whoever runs the site must restore it from a backup."

    def __init__(self, message: str, *, state: Literal["missing", "damaged"] = "missing") -> None:
        self.state = state
        super().__init__(message)


class ClusterFailed(BillboardsError):
    """The machines that compute can't be reached, are gone, or run another version."""


class DownloadFailed(BillboardsError):
    """A public file can't be fetched, or is not what the catalogue promises."""


class SiteFailed(BillboardsError):
    """A site can't be reached, or refused a request."""


class PlatformFailed(BillboardsError):
    """A crowd platform can't be reached, or answers what can't be understood."""
