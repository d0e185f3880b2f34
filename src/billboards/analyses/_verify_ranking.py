"""A kept ranking against the ranking of the same board computed again, number by number.

The kept ranking says how it was made (seed, draws, judgments, references, part and sides; its ensemble says k, method
and lambda), and is made again so. Every number and name in it is compared to the last bit. What rests on judgments or
scores that a folder doesn't hold is said to be so, and is neither equal nor different.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from billboards.analyses._archive import Archive
from billboards.analyses._families import AUTO
from billboards.analyses._findings import Findings
from billboards.analyses._people import PEOPLE
from billboards.analyses._preferences import WMT_GROUPING, WMT_STATISTIC
from billboards.analyses._verify_scores import Outcome, worst
from billboards.analyses.ensemble import ENSEMBLE
from billboards.analyses.rank import Ranking, RankingOptions, rank_board
from billboards.board import Board, Slice
from billboards.board.cells import CellStore
from billboards.errors import InvalidInput, StoreFailed, UnknownName
from billboards.show.documents import document_of, read_fields
from billboards.stats.yardsticks import yardstick

#: Where a number stands: "metrics", "BLEU", "correlation".
Place = tuple[str, ...]
#: What is no number or name of a ranking: words for people, and marks of the moment.
UNCOMPARED = ("notes", "draft", "schema", "kind")
#: What a document's parts are called.
SECTIONS = {
    "metrics": "metrics",
    "generators": "generators",
    "ensemble": "ensemble",
    "alternative": "ensemble",
    "common": "generators",
    "people": "people",
    "lines": "metrics",
}
_PART = re.compile(r"(?:domain (?P<domain>.+?))?(?:(?:^|, )document (?P<document>.+?))?(?:(?:^|, )tag (?P<tag>.+))?")


@dataclass(frozen=True, kw_only=True, slots=True)
class NumberVerdict:
    """One number or name of a ranking that isn't equal: where it stands, what was kept, and what it is here."""

    place: str
    outcome: Outcome
    kept: Any = None
    here: Any = None
    reason: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class SectionVerdict:
    """A part of a ranking: how many of its numbers are equal, differ or can't be computed here."""

    section: str
    outcome: Outcome
    equal: int
    differ: int
    not_computed: int


@dataclass(frozen=True, kw_only=True)
class RankingVerdict:
    """A kept ranking computed again; `numbers` are those that aren't equal."""

    id: str
    created: str
    ranked_by: str | None
    outcome: Outcome
    sections: tuple[SectionVerdict, ...]
    numbers: tuple[NumberVerdict, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Quoted:
    """A ranking to be computed again: as it was said, and what its site found to speak against entries."""

    id: str
    created: str
    ranking: Ranking
    #: `barred`, `flagged`, `marked`, `out` and `doubts`, as a site gives them to its rankings.
    findings: Mapping[str, Any]


def verify_ranking(
    board: Board, cells: CellStore, archive: Archive, quoted: Quoted, *, hidden: Collection[str] = ()
) -> RankingVerdict:
    """Every number of a ranking against what the board gives here; `hidden` is what its site keeps from everybody."""
    kept = quoted.ranking
    try:
        here, notes = _rank_again(board, cells, kept, options_of(kept, board, quoted.findings))
    except (InvalidInput, StoreFailed) as error:
        return _impossible(quoted, str(error))
    here = archive.numbered(here)
    ours, theirs = (dict(_known_then(_leaves(document_of(each)), kept)) for each in (here, kept))
    lacking = _lacking(board, kept, here, hidden)
    numbers, counts = [], dict[str, list[Outcome]]()
    for place in dict.fromkeys((*theirs, *ours)):
        verdict = _compared(place, theirs, ours, lacking)
        counts.setdefault(_section(place), []).append("equal" if verdict is None else verdict.outcome)
        if verdict is not None:
            numbers.append(verdict)
    sections = tuple(
        SectionVerdict(
            section=section,
            outcome=worst(iter(outcomes)),
            equal=outcomes.count("equal"),
            differ=outcomes.count("differs"),
            not_computed=outcomes.count("not computed"),
        )
        for section, outcomes in counts.items()
    )
    return RankingVerdict(
        id=quoted.id,
        created=quoted.created,
        ranked_by=kept.ranked_by,
        outcome=worst(section.outcome for section in sections),
        sections=sections,
        numbers=tuple(numbers),
        notes=notes,
    )


def _section(place: Place) -> str:
    """The part of a ranking that a number belongs to; who stands out does so among metrics or among generators."""
    if place[0] == OUTSTANDING:
        return "metrics" if place[1] in _METRICS_APART else "generators"
    return SECTIONS.get(place[0], "board")


def _impossible(quoted: Quoted, reason: str) -> RankingVerdict:
    """A ranking that can't be of this board: it names what the board has not, or scores that it needs are damaged."""
    number = NumberVerdict(place="board", outcome="differs", reason=reason)
    section = SectionVerdict(section="board", outcome="differs", equal=0, differ=1, not_computed=0)
    return RankingVerdict(
        id=quoted.id,
        created=quoted.created,
        ranked_by=quoted.ranking.ranked_by,
        outcome="differs",
        sections=(section,),
        numbers=(number,),
    )


def options_of(kept: Ranking, board: Board, findings: Mapping[str, Any]) -> RankingOptions:
    """The options that a ranking was made with, as far as it shows them; who leads is found out."""
    kept_findings = read_fields(Findings, findings, "findings")
    fitted = kept.ensemble or kept.alternative
    usual = RankingOptions()
    method = usual.method
    if kept.ensemble is not None:
        method = AUTO if kept.ensemble.tried else kept.ensemble.method
    elif kept.alternative is not None:
        method = "lasso" if kept.alternative.method == "best-subset" else "best-subset"
    given = kept.ensemble is not None and kept.ensemble.method == "lasso" and kept.ensemble.lam_range is None
    own = board.ranks if board.ranks is not None else ""
    by_pairs = (kept.statistic, kept.grouping) == (WMT_STATISTIC, WMT_GROUPING)
    return RankingOptions(
        aggregate=None if kept.aggregate in ("", own) else kept.aggregate,
        references=None if kept.references == board.references else kept.references,
        part=slice_of(kept.part),
        k=usual.k if fitted is None else fitted.k,
        lam=kept.ensemble.lam if given and kept.ensemble is not None else None,
        method=method,
        resampled=kept.resampled,
        draws=kept.draws,
        seed=kept.seed,
        sides=kept.sides,
        before=kept.before,
        yardstick=usual.yardstick if by_pairs else yardstick(kept.statistic, kept.grouping),
        ties=kept.ties,
        baseline=None if kept.outstanding is None else kept.outstanding.baseline,
        **vars(kept_findings),
    )


def slice_of(text: str) -> Slice:
    """The part of a board that a ranking names in words."""
    if text == str(Slice()):
        return Slice()
    match = _PART.fullmatch(text)
    part = Slice() if match is None else Slice(**match.groupdict())
    if str(part) != text:
        raise InvalidInput(f"the ranking is of {text!r}, which names no part of a board; it is damaged")
    return part


def _rank_again(
    board: Board, cells: CellStore, kept: Ranking, options: RankingOptions
) -> tuple[Ranking, tuple[str, ...]]:
    """The board ranked anew; by what led the kept ranking, if that is not what would lead by itself."""
    if not len(board.judgments):
        options = replace(options, aggregate=None)
    try:
        here = rank_board(board, cells, options)
    except UnknownName:
        if options.baseline not in {metric.name for metric in kept.metrics}:
            raise
        # A metric without scores here: nothing can be tested against it.
        options = replace(options, baseline=None)
        here = rank_board(board, cells, options)
    if here.ranked_by == kept.ranked_by or kept.ranked_by is None:
        return here, ()
    try:
        asked = rank_board(board, cells, replace(options, by=kept.ranked_by))
    except InvalidInput:
        return here, ()
    if here.ranked_by is None:
        return asked, ()
    return asked, (f"{kept.ranked_by} leads by choice: by itself {here.ranked_by} would lead this board",)


#: What of a metric, a generator or an ensemble tells which references there are.
_BY_REFERENCES = frozenset(
    {"board_version", "references", "signature", "signatures", "origin", "source_name", "corpus_signature", "beside"}
    | {"completed", "equal", "reference_free", "first_digest", "version", "reason", "corpus", "newcomers", "p_corpus"}
)
#: What of a metric rests on judgments.
_BY_JUDGMENTS = frozenset(
    {"correlation", "interval", "n", "reason", "flags", "counts"}
    | {"public", "public_n", "exposure", "before", "before_n"}
    | {"within", "within_n", "within_interval", "tied"}
)
#: What of a whole ranking does.
_OF_JUDGMENTS = frozenset({"board_version", "aggregate", "statistic", "grouping", "private", "before"})
#: Parts of a ranking that rest on all judgments and all scores together.
_BY_ALL = frozenset({"ensemble", "alternative", "common", "people", "lines", "ranked_by", "newcomers", "leaders"})
#: What rankings of version 0.1 had no word for.
_WITHIN = frozenset({"within", "within_n", "within_interval"})
#: Who is best or not significantly worse in each column: what of it is about metrics, and where it lists names.
OUTSTANDING = "outstanding"
_METRICS_APART = frozenset({"metrics", "p_metrics"})
_NAMED_APART = frozenset({"metrics", "generators", "corpus"})


@dataclass(frozen=True, kw_only=True)
class _Lacking:
    """What a folder lacks of what a ranking rests on, each with the words that say so."""

    kept: Ranking
    #: Metrics of the ranking that have no scores here.
    metrics: frozenset[str]
    judgments: str | None
    references: str | None

    @property
    def scores(self) -> str | None:
        return f"scores of {', '.join(sorted(self.metrics))} are not in this folder" if self.metrics else None

    def reason(self, place: Place) -> str | None:
        """Why a number can't be computed here; None where it can."""
        head, name, field, deeper = (*place, "", "", "", "")[:4]
        if head == "metrics":
            reason = self._of_metric(name, field)
        elif head == "generators":
            reason = self._of_generator(name, field, deeper)
        elif head == OUTSTANDING:
            reason = self._of_outstanding(name, field)
        elif head in _BY_ALL:
            reason = self.judgments or self.scores
        else:
            reason = self.judgments if head in _OF_JUDGMENTS else None
        by_references = head in ("lines", "common") or bool(_BY_REFERENCES & set(place)) or name == "order"
        return reason or (self.references if by_references or self._is_corpus_interval(place) else None)

    def _of_metric(self, name: str, field: str) -> str | None:
        if name in self.metrics:
            return f"scores of {name} are not in this folder"
        if name == "order" or field in ("rank", "cluster"):
            return self.judgments or self.scores
        return self.judgments if field in _BY_JUDGMENTS else None

    def _of_generator(self, name: str, field: str, metric: str) -> str | None:
        """A generator's number under a metric, by people, or its place."""
        if metric in self.metrics:
            return f"scores of {metric} are not in this folder"
        if metric in (ENSEMBLE, PEOPLE):
            return self.judgments or self.scores
        if field in ("human", "judged"):
            return self.judgments
        if name == "order" or field in ("rank", "cluster", "reason"):
            led = self.kept.ranked_by
            by_all = led in (None, ENSEMBLE, PEOPLE) or led in self.metrics
            return (self.judgments or self.scores) if by_all else None
        return None

    def _of_outstanding(self, kind: str, column: str) -> str | None:
        """Who stands out in a column, or a p-value there: it rests on what the column does."""
        baseline = None if self.kept.outstanding is None else self.kept.outstanding.baseline
        if kind == "baseline":
            return f"scores of {baseline} are not in this folder" if baseline in self.metrics else None
        if kind == "metrics":
            return self.judgments or self.scores
        for name in (column, baseline if kind == "p_metrics" else None):
            if name in self.metrics:
                return f"scores of {name} are not in this folder"
        if kind == "p_metrics":
            return self.judgments
        return (self.judgments or self.scores) if column in (ENSEMBLE, PEOPLE) else None

    def _is_corpus_interval(self, place: Place) -> bool:
        """Whether an interval is of a value of all outputs together, whose counts tell of references."""
        head, name, field, metric = (*place, "", "", "", "")[:4]
        if head != "generators" or field != "interval":
            return False
        return any(g.name == name and metric in g.corpus for g in self.kept.generators)


def _lacking(board: Board, kept: Ranking, here: Ranking, hidden: Collection[str]) -> _Lacking:
    theirs, own = ({m.name: m.n for m in ranking.metrics} for ranking in (kept, here))
    most_there, most_here = max(theirs.values(), default=0), max(own.values(), default=0)
    judgments = None
    if most_there and not len(board.judgments):
        judgments = "people's judgments are not in this folder"
    elif kept.private is not None and board.trust.private_share is None:
        judgments = "metrics are measured on private judgments, which are not in this folder"
    elif most_here < most_there:
        judgments = f"it rests on {most_there:,} judged outputs, and this folder holds {most_here:,} of them"
    elif "judgments" in hidden:
        judgments = "its site keeps judgments hidden"
    unread = kept.references and not board.references
    return _Lacking(
        kept=kept,
        metrics=frozenset(theirs.keys() - own.keys()),
        judgments=judgments,
        references="the references are not in this folder" if unread else None,
    )


def _compared(
    place: Place, theirs: Mapping[Place, Any], ours: Mapping[Place, Any], lacking: _Lacking
) -> NumberVerdict | None:
    """What to say of one number; None where it is equal."""
    kept, here = theirs.get(place), ours.get(place)
    if kept == here and type(kept) is type(here):
        return None
    reason = lacking.reason(place)
    return NumberVerdict(
        place=", ".join(place),
        outcome="differs" if reason is None else "not computed",
        kept=kept,
        here=None if reason is not None else here,
        reason=reason,
    )


def _known_then(leaves: Iterator[tuple[Place, Any]], kept: Ranking) -> Iterator[tuple[Place, Any]]:
    """What can be compared with a kept ranking: what it says nothing of, it may be too old to know, or may not tell."""
    untold = frozenset(_untold(kept))
    for place, value in leaves:
        head = place[0]
        about = {
            "leaders": (head,),
            OUTSTANDING: (head,),
            "metrics": place[2:3],
            "lines": place[2:3],
            "people": place[-1:],
        }
        if not untold.isdisjoint(about.get(head, ())):
            continue
        # Who stands out is told by names, whose order says nothing.
        unordered = head == OUTSTANDING and place[1] in _NAMED_APART and isinstance(value, list)
        yield place, sorted(map(str, value)) if unordered else value


def _untold(kept: Ranking) -> Iterator[str]:
    """Words of rankings that a kept one has none of."""
    if all(metric.within is None for metric in kept.metrics):
        yield from ("leaders", *_WITHIN)
    if all(metric.tied is None for metric in kept.metrics):
        yield "tied"
    if kept.outstanding is None:
        yield OUTSTANDING
    columns = () if kept.people is None else (kept.people.overall, *kept.people.dimensions)
    if not any(standing.best for column in columns for standing in column.generators):
        yield "best"


def _leaves(document: Any, place: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Every number and name of a document by its place; what a list names is found by its name."""
    if isinstance(document, Mapping):
        for key, value in document.items():
            if place or key not in UNCOMPARED:
                yield from _leaves(value, (*place, str(key)))
    elif isinstance(document, list) and document and all(isinstance(entry, Mapping) for entry in document):
        names = [str(entry.get("name", number)) for number, entry in enumerate(document)]
        yield (*place, "order"), names
        for name, entry in zip(names, document, strict=True):
            yield from _leaves({key: value for key, value in entry.items() if key != "name"}, (*place, name))
    elif document is not None:
        yield place, document
