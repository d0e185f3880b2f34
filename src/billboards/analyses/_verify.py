"""Whether a board says what it can: its scores, its ranking, and that its site said so.

Three questions about a board folder: are the scores those that the metrics give here, is the kept ranking the one that
scores and judgments give, and did the site whose key one trusts sign that ranking. What can't be computed here is
neither equal nor different, and the reason is given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from billboards.analyses._analysis import Result
from billboards.analyses._archive import Archive, Home
from billboards.analyses._verify_ranking import Quoted, RankingVerdict, verify_ranking
from billboards.analyses._verify_scores import ColumnVerdict, Comparison, counted, verify_scores
from billboards.analyses.rank import Ranking
from billboards.board.missing_cells import Progress
from billboards.errors import InvalidInput, MissingPart, UnknownName
from billboards.metrics.executor import Executor
from billboards.show.documents import document_of, result_of
from billboards.show.table import Table, TableColumn
from billboards.show.words import one_line
from billboards.signing import (
    PublicKey,
    Signed,
    Statement,
    can_check,
    document_digest,
    is_signed_by,
    key_id,
    read_signed,
)

#: Lines of detail in a table; JSON has all of them.
MOST_LINES = 40
#: The fewest digits of a document's digest that name it.
FEWEST_DIGITS = 8


@dataclass(frozen=True, kw_only=True)
class Proof:
    """A signed statement about a ranking, held against the ranking and the key that is trusted."""

    #: The ranking's id in the folder it was found in.
    id: str
    statement: Statement
    #: The SHA-256 of the document that is here.
    digest: str
    public_key: str
    #: Whether the signature was checked: that takes the package cryptography.
    checked: bool
    #: Whether the key is one that the reader named, and until when the site signed with it, if that is over.
    pinned: bool
    retired: str | None = None
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Verification:
    """What was found out about a board folder or a quoted ranking."""

    DOCUMENT: ClassVar[str] = "verification"
    ALSO: ClassVar[tuple[str, ...]] = ("differs",)

    board: str
    board_version: str | None
    sample: int | None
    tolerance: float
    columns: tuple[ColumnVerdict, ...]
    ranking: RankingVerdict | None
    #: The proof of the ranking that was computed again, or of the one that is quoted; None where nobody signed it.
    proof: Proof | None
    #: Proofs of the other rankings in the folder.
    others: tuple[Proof, ...] = ()
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def proofs(self) -> tuple[Proof, ...]:
        return (*(() if self.proof is None else (self.proof,)), *self.others)

    @property
    def differs(self) -> bool:
        """Whether anything is not as it was said to be."""
        return (
            bool(self.problems)
            or any(column.outcome == "differs" for column in self.columns)
            or (self.ranking is not None and self.ranking.outcome == "differs")
            or any(proof.problems for proof in self.proofs)
        )


def verify_home(
    home: Home,
    executor: Executor,
    how: Comparison,
    *,
    ranking: str | Mapping[str, Any] | None = None,
    keys: Sequence[PublicKey] = (),
    on_progress: Callable[[Progress], None] | None = None,
) -> Verification:
    """Scores, ranking and signatures of a board folder; `ranking` is an id, or the document of one that is quoted."""
    proofs = dict(_proofs(home, keys))
    quoted: Quoted | None
    problems: tuple[str, ...] = ()
    if isinstance(ranking, Mapping):
        quote = read_quote(ranking, "the quoted ranking")
        quoted, proof = _with_findings(quote.quoted, home.archive), quote.proof(keys, board=home.board.name)
        problems += () if proof is None else tuple(_two_tongues(proof, proofs.values()))
    else:
        name = _chosen_ranking(home.archive, proofs, ranking)
        quoted = None if name is None else _kept(home.archive, name)
        proof = None if name is None else proofs.pop(name, None)
    if keys and quoted is not None and proof is None:
        problems += (f"ranking {quoted.id} is not signed, although a key is named",)
    columns = verify_scores(home.board, home.cells, executor, how, on_progress=on_progress)
    hidden = () if proof is None or proof.problems else proof.statement.hidden
    verdict = None
    if quoted is not None:
        verdict = verify_ranking(home.board, home.cells, home.archive, quoted, hidden=hidden)
    return Verification(
        board=home.board.name,
        board_version=home.board.version,
        sample=how.sample,
        tolerance=how.tolerance,
        columns=columns,
        ranking=verdict,
        proof=proof,
        others=tuple(proofs.values()),
        problems=problems,
        notes=() if quoted else ("no ranking is kept in this folder, so none was computed again",),
    )


def verify_quote(document: Any, where: str, *, keys: Sequence[PublicKey] = ()) -> Verification:
    """A ranking that was downloaded earlier, proven by its signed statement alone."""
    quote = read_quote(document, where)
    proof = quote.proof(keys)
    if proof is None:
        raise InvalidInput(
            f"{where}: holds no signed statement, so it proves nothing alone; download signed-ranking.json, or give "
            "a board and this file as --ranking"
        )
    return Verification(
        board=proof.statement.board,
        board_version=None,
        sample=None,
        tolerance=0.0,
        columns=(),
        ranking=None,
        proof=proof,
    )


@dataclass(frozen=True, kw_only=True)
class Quote:
    """A ranking's document in somebody's hand, with the statement that came along."""

    quoted: Quoted
    document: Mapping[str, Any]
    signed: Signed | None

    def proof(self, keys: Sequence[PublicKey], board: str | None = None) -> Proof | None:
        """What the statement proves, where there is one."""
        if self.signed is None:
            return None
        findings = self.quoted.findings or None
        return prove(self.document, self.signed, keys, id=self.quoted.id, board=board, findings=findings)


def read_quote(document: Any, where: str) -> Quote:
    """A ranking from JSON: a signed one, one of a site's interface, one that a folder keeps, or the bare document."""
    if not isinstance(document, Mapping):
        raise InvalidInput(f"{where}: holds no ranking; give a JSON document that a site or `rank` wrote")
    inside = document.get("ranking")
    body = inside if isinstance(inside, Mapping) else document
    statement = document if "statement" in document else document.get("signed")
    signed = None if statement is None else read_signed(statement, where)
    try:
        ranking = result_of(Ranking, body)
    except InvalidInput as error:
        raise InvalidInput(f"{where}: {error}") from error
    quoted = Quoted(
        id=document_digest(body)[:16],
        created=str(document.get("created", "")) if signed is None else signed.statement.created,
        ranking=ranking,
        findings=_findings(document),
    )
    return Quote(quoted=quoted, document=body, signed=signed)


def prove(
    document: Mapping[str, Any],
    signed: Signed,
    keys: Sequence[PublicKey],
    *,
    id: str,
    board: str | None = None,
    findings: Mapping[str, Any] | None = None,
) -> Proof:
    """A signed statement held against the document it comes with, and against the keys that somebody trusts.

    `findings` are what the site is said to have found about entries; None where they don't come along.
    """
    checked = can_check()
    if keys and not checked:
        raise MissingPart("signatures need the package cryptography; install it with `pip install 'billboards[site]'`")
    statement, digest = signed.statement, document_digest(document)
    trusted = {key.public_key: key for key in keys}
    pinned = trusted.get(signed.public_key)
    problems = []
    if keys and pinned is None:
        named = ", ".join(key.id for key in keys)
        problems.append(f"is signed with key {key_id(signed.public_key)}, not with the one named ({named})")
    if checked and not is_signed_by(signed, signed.public_key):
        problems.append("has a signature that is not of this statement and key")
    if statement.key != key_id(signed.public_key):
        problems.append(f"names key {statement.key}, and comes with key {key_id(signed.public_key)}")
    if statement.documents.get("ranking") != digest:
        problems.append("is about another document: this one was changed, or its statement is another's")
    if findings is not None and statement.documents.get("findings") != (
        document_digest(findings) if findings else None
    ):
        problems.append("is about other findings than those that come along")
    if statement.audience != "public":
        problems.append(f"is about what {statement.audience} see, not everybody")
    if board is not None and statement.board != board:
        problems.append(f"is about board {statement.board}, not {board}")
    return Proof(
        id=id,
        statement=statement,
        digest=digest,
        public_key=signed.public_key,
        checked=checked,
        pinned=pinned is not None,
        retired=None if pinned is None else pinned.retired,
        problems=tuple(problems),
    )


def _proofs(home: Home, keys: Sequence[PublicKey]) -> Iterator[tuple[str, Proof]]:
    """What is proven of each kept ranking that comes with a statement."""
    for name in home.archive.rankings():
        signed = home.archive.signed(name)
        if signed is not None:
            kept_ranking, findings = _ranking_in(home.archive, name), _findings(home.archive.kept_document(name))
            yield name, prove(kept_ranking, signed, keys, id=name, board=home.board.name, findings=findings)


def _two_tongues(proof: Proof, others: Iterable[Proof]) -> Iterator[str]:
    """That a site signed another document under the number of a quoted ranking."""
    for other in others:
        same = (other.statement.number, other.public_key) == (proof.statement.number, proof.public_key)
        if same and not (proof.problems or other.problems) and other.digest != proof.digest:
            yield (
                f"the site signed two different documents as ranking {proof.statement.number}: {proof.digest[:16]}, as "
                f"quoted, and {other.digest[:16]}, in this folder; it hides more or less now, or tells people "
                "different things"
            )


def _ranking_in(archive: Archive, name: str) -> Mapping[str, Any]:
    file = archive.kept_document(name)
    inside = file.get("ranking", file)
    return inside if isinstance(inside, Mapping) else {}


def _kept(archive: Archive, name: str) -> Quoted:
    """A kept ranking by its id."""
    file = archive.kept_document(name)
    return Quoted(
        id=name,
        created=str(file.get("created", "")),
        ranking=archive.ranking(name),
        findings=_findings(file),
    )


def _findings(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a site found about entries, as it stands beside a ranking."""
    findings = document.get("findings")
    return findings if isinstance(findings, Mapping) else {}


def _with_findings(quoted: Quoted, archive: Archive) -> Quoted:
    """A quoted ranking with the findings of the same one in the folder, where it came without them."""
    if quoted.findings:
        return quoted
    same = (name for name in archive.rankings() if document_digest(_ranking_in(archive, name))[:16] == quoted.id)
    return replace(quoted, findings=next((_findings(archive.kept_document(name)) for name in same), {}))


def _chosen_ranking(archive: Archive, proofs: Mapping[str, Proof], asked: str | None) -> str | None:
    """The ranking asked for, by its id here or on its site, its number or its digest; by default the latest."""
    times = archive.rankings()
    if asked is not None:
        fitting = [name for name in times if _is_named(asked, name, proofs.get(name), archive)]
        if not fitting:
            raise UnknownName("ranking", asked, times)
        return fitting[-1]
    numbers = {name: proof.statement.number for name, proof in proofs.items()}
    return max(times, key=lambda name: (times[name], numbers.get(name, 0)), default=None)


def _is_named(asked: str, name: str, proof: Proof | None, archive: Archive) -> bool:
    if asked == name:
        return True
    if proof is not None and asked in (proof.statement.ranking, str(proof.statement.number)):
        return True
    return len(asked) >= FEWEST_DIGITS and document_digest(_ranking_in(archive, name)).startswith(asked)


def as_result(verification: Verification) -> Result[Verification]:
    """A verification with the tables and words that show it."""
    return Result(
        value=verification,
        tables=tuple(_tables(verification)),
        document=document_of(verification),
        words=summary(verification),
        notes=verification.notes,
    )


def _tables(verification: Verification) -> Iterator[Table]:
    if verification.columns:
        yield _score_table(verification)
        yield from _cell_table(verification)
    if verification.ranking is not None:
        yield _ranking_table(verification.ranking)
        yield from _number_table(verification.ranking)
    if verification.proofs:
        yield _proof_table(verification)


def _score_table(verification: Verification) -> Table:
    rows = tuple(
        {
            "metric": column.metric,
            "outcome": column.outcome,
            "equal": column.count("equal"),
            "close": column.count("close"),
            "differ": column.count("differs"),
            "not_computed": column.count("not computed"),
            "compared": sum(cell.compared for cell in column.cells),
            "origin": column.origin,
            "references": ", ".join(column.references),
            "reason": column.reason or "",
            "signature": column.signature,
        }
        for column in verification.columns
    )
    columns = (
        TableColumn("metric", "metric", "left", kind="name"),
        TableColumn("references", "references", "left", visible=len({row["metric"] for row in rows}) < len(rows)),
        TableColumn("outcome", "scores", "left"),
        TableColumn("equal", "equal"),
        TableColumn("close", "close", visible=verification.tolerance > 0),
        TableColumn("differ", "differ"),
        TableColumn("not_computed", "not computed"),
        TableColumn("compared", "numbers compared", priority=2),
        TableColumn("origin", "origin", "left", visible=False),
        TableColumn("reason", "why not", "left"),
        TableColumn("signature", "signature", "left", visible=False),
    )
    notes = ["columns count generators; equal is bit for bit"]
    if verification.sample is not None:
        notes.append(
            f"on {verification.sample:,} instances of each generator, where a metric scores outputs one by one"
        )
    return Table(
        f"{one_line(verification.board)}: scores computed again", columns, rows, notes=tuple(notes), name="scores"
    )


def _cell_table(verification: Verification) -> Iterator[Table]:
    """Where scores differ, generator by generator; nothing where none do."""
    rows = tuple(
        {
            "metric": column.metric,
            "generator": cell.generator,
            "outcome": cell.outcome,
            "different": cell.different,
            "compared": cell.compared,
            "largest": None if cell.largest is None else f"{cell.largest:.3g}",
            "instance": cell.instance or "",
            "reason": cell.reason or ("one has a score, the other none" if cell.largest is None else ""),
        }
        for column in verification.columns
        for cell in column.cells
        if cell.outcome in ("differs", "close")
    )
    columns = (
        TableColumn("metric", "metric", "left", kind="name"),
        TableColumn("generator", "generator", "left"),
        TableColumn("outcome", "scores", "left"),
        TableColumn("different", "different"),
        TableColumn("compared", "of"),
        TableColumn("largest", "by up to"),
        TableColumn("instance", "first at", "left"),
        TableColumn("reason", "because", "left"),
    )
    if rows:
        yield Table("scores that differ", columns, rows[:MOST_LINES], notes=_more(rows), name="cells")


def _ranking_table(verdict: RankingVerdict) -> Table:
    rows = tuple(
        {
            "section": section.section,
            "outcome": section.outcome,
            "equal": section.equal,
            "differ": section.differ,
            "not_computed": section.not_computed,
        }
        for section in verdict.sections
    )
    columns = (
        TableColumn("section", "part", "left", kind="name"),
        TableColumn("outcome", "numbers", "left"),
        TableColumn("equal", "equal"),
        TableColumn("differ", "differ"),
        TableColumn("not_computed", "not computed"),
    )
    reasons: dict[str, int] = {}
    for number in verdict.numbers:
        if number.outcome == "not computed" and number.reason is not None:
            reasons[number.reason] = reasons.get(number.reason, 0) + 1
    notes = [f"{count:,} not computed: {one_line(reason)}" for reason, count in reasons.items()]
    title = f"ranking {verdict.id}, made {verdict.created or 'at an unknown time'}, computed again"
    return Table(title, columns, rows, notes=(*map(one_line, verdict.notes), *notes), name="ranking")


def _number_table(verdict: RankingVerdict) -> Iterator[Table]:
    """Numbers of the ranking that differ; nothing where none do."""
    rows = tuple(
        {
            "place": number.place,
            "kept": _shown(number.kept),
            "here": _shown(number.here),
            "reason": number.reason or "",
        }
        for number in verdict.numbers
        if number.outcome == "differs"
    )
    columns = (
        TableColumn("place", "number", "left", kind="name"),
        TableColumn("kept", "in the ranking"),
        TableColumn("here", "computed here"),
        TableColumn("reason", "because", "left", visible=any(row["reason"] for row in rows)),
    )
    if rows:
        yield Table("numbers that differ", columns, rows[:MOST_LINES], notes=_more(rows), name="numbers")


def _proof_table(verification: Verification) -> Table:
    shown = [proof for proof in verification.proofs if proof is verification.proof or proof.problems]
    rows = tuple(
        {
            "number": proof.statement.number,
            "ranking": proof.statement.ranking,
            "made": proof.statement.created,
            "key": key_id(proof.public_key),
            "verdict": _proof_words(proof),
            "digest": proof.digest,
            "board": proof.statement.board,
            "site": proof.statement.site,
            "address": proof.statement.address,
        }
        for proof in shown
    )
    columns = (
        TableColumn("number", "ranking"),
        TableColumn("ranking", "id", "left"),
        TableColumn("made", "made", "left", priority=2),
        TableColumn("key", "key", "left"),
        TableColumn("verdict", "the statement", "left"),
        TableColumn("digest", "SHA-256 of the ranking", "left", priority=3),
        TableColumn("board", "board", "left", priority=4),
        TableColumn("site", "site", "left", priority=4),
        TableColumn("address", "address", "left", priority=5),
    )
    fine = len(verification.proofs) - len(shown)
    notes = [f"{fine:,} more signed rankings are as their statements say"] if fine else []
    return Table("signed statements", columns, rows, notes=tuple(notes), name="statements")


def _proof_words(proof: Proof) -> str:
    if proof.problems:
        return one_line("; ".join(proof.problems))
    if not proof.checked:
        return "fits the ranking; its signature can't be checked without the package cryptography"
    retired = f", which signed until {proof.retired}" if proof.retired else ""
    return f"is signed with the key named{retired}" if proof.pinned else "is signed with the key that came along"


def _more(rows: Sequence[object]) -> tuple[str, ...]:
    return (f"and {len(rows) - MOST_LINES:,} more; --json lists all",) if len(rows) > MOST_LINES else ()


def _shown(value: Any) -> str:
    """A number with all its digits, so that a difference in the last one is seen."""
    text = "–" if value is None else repr(value) if isinstance(value, float) else str(value)
    return one_line(text if len(text) <= 60 else f"{text[:57]}…")


def summary(verification: Verification) -> tuple[str, ...]:
    """What was found, in sentences."""
    return tuple(_sentences(verification))


def _sentences(verification: Verification) -> Iterator[str]:
    cells = counted(verification.columns)
    if verification.columns:
        close = f", {cells['close']:,} close" if cells["close"] else ""
        yield (
            f"Scores of generators under metrics: {cells['equal']:,} equal to the last bit{close}, "
            f"{cells['differs']:,} different, {cells['not computed']:,} can't be computed here."
        )
    verdict = verification.ranking
    if verdict is not None:
        equal, differ, unknown = (
            sum(getattr(section, field) for section in verdict.sections)
            for field in ("equal", "differ", "not_computed")
        )
        yield (
            f"Numbers of ranking {verdict.id}: {equal:,} equal, {differ:,} different, "
            f"{unknown:,} can't be computed here."
        )
    yield from _proof_sentences(verification)
    yield from (f"{problem[:1].upper()}{problem[1:]}." for problem in verification.problems)
    yield "Something is not as it was said." if verification.differs else "Nothing differs."


def _proof_sentences(verification: Verification) -> Iterator[str]:
    proof = verification.proof
    if proof is None:
        if verification.ranking is not None and not verification.problems:
            yield "Nobody signed the ranking."
        return
    claim = proof.statement
    if proof.problems:
        yield f"The statement about ranking {claim.number} does not hold: it {'; it '.join(proof.problems)}."
        return
    if not proof.checked:
        yield "The signature was not checked: install cryptography with `pip install 'billboards[site]'`."
        return
    who = f"{one_line(claim.site)}{f' ({one_line(claim.address)})' if claim.address else ''}"
    yield (
        f"{who} signed ranking {claim.number} ({claim.ranking}) of {one_line(claim.board)}, made {claim.created}, "
        f"SHA-256 {proof.digest}, with key {key_id(proof.public_key)}."
    )
    if not proof.pinned:
        yield (
            "The key came from the same place as the ranking, so this shows only that the two belong together (trust "
            f"on first use). It is {proof.public_key}: compare it with the one that the site's owner tells you another "
            "way, and name that with --key."
        )
