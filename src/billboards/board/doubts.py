"""Doubts about a generator's outputs: copies, disguised or not, other languages, other orders, cut texts.

A copy with a changed full stop is still a copy: texts are compared by their shingles (all runs of five letters and
digits, whatever stands between them), hashed, so that spaces, case, punctuation and a few changed words hide nothing.
What outputs are compared with is the board's own: references, inputs, the other rows, earlier versions. So nothing is
doubted that is usual there, and no list of languages is needed.

The cost grows with the new row, and hardly with the others: a sample of instances decides which of the others are
looked at in full.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import islice
from typing import Literal

from billboards.board import check_texts
from billboards.board.check_texts import Passage, Passages
from billboards.board.model import Board, Outputs
from billboards.board.trust import DoubtKind

#: Letters and digits of a shingle.
LENGTH = 5
#: Two texts are nearly the same when they share this part of their shingles, taken together.
NEAR = 0.8
#: Copies are worth a word from this share of outputs on, of those that are long enough to tell.
COPIED = 0.1
#: And from so many times the share that other machines have.
TIMES = 3
#: Generators of one task write many texts alike: a quarter of them in translation. Half of them is another matter.
ALIKE = 0.5
#: A text with fewer shingles says little about where it comes from: short ones are alike by chance.
TELLING = 12
#: Outputs that are looked at, of a board with more; and those that decide which other rows are looked at in full.
MOST, FEW = 5_000, 200
#: An output fits another instance better when it shares so many rare shingles with it, and so many times as many.
RARE, CLEARLY = 10, 3
#: Outputs of another order are worth a word from this share on.
MOVED = 0.2
#: Shingles that more instances than this share tell nothing about which one a text belongs to.
COMMON = 8
#: Letters by which a language is told: as many as a text has, for one of more letters looks more usual.
LENGTHS = (80, 160, 320)
#: Examples that are named.
EXAMPLES = 3


@dataclass(frozen=True, kw_only=True)
class Doubt:
    """What speaks against a generator's outputs being what they should be."""

    kind: DoubtKind
    #: Outputs of which it is true, and how many could be looked at.
    count: int
    of: int
    #: A sentence, which names nobody.
    words: str
    #: The other generator or reference that it is about; it may be hidden from some.
    about: str | None = None
    #: Some of the instances.
    examples: tuple[str, ...] = ()

    @property
    def share(self) -> float:
        return self.count / self.of if self.of else 0.0

    def __str__(self) -> str:
        return self.words if self.about is None else f"{self.words} ({self.about})"


Shingles = frozenset[int]


@lru_cache(maxsize=20_000)
def shingles(text: str) -> Shingles:
    """Hashes of all runs of letters and digits of a text, whatever stands between them and in any case."""
    letters = "".join(filter(str.isalnum, text.casefold()))
    # `hash` differs between processes, which is fine: no hash leaves this one.
    return frozenset(hash(letters[k : k + LENGTH]) for k in range(max(1, len(letters) - LENGTH + 1)) if letters)


def likeness(first: Shingles, second: Shingles) -> float:
    """The part of all shingles that two texts share (Jaccard)."""
    both = len(first & second)
    return both / (len(first) + len(second) - both) if both else 0.0


@dataclass(frozen=True)
class Row:
    """Texts by the position of their instance."""

    texts: Mapping[int, str]

    @classmethod
    def of(cls, texts: Iterable[str | None]) -> Row:
        return cls({k: text for k, text in enumerate(texts) if text is not None})

    def telling(self, k: int) -> Shingles | None:
        """The shingles of a text that is long enough to say where it comes from."""
        own = shingles(self.texts[k]) if k in self.texts else frozenset()
        return own if len(own) >= TELLING else None

    @cached_property
    def telling_places(self) -> tuple[int, ...]:
        return tuple(k for k in _sample(tuple(self.texts), MOST) if self.telling(k) is not None)


@dataclass(frozen=True)
class Surroundings:
    """What outputs for a board are compared with: its references, inputs and rows; worked out once for many rows."""

    board: Board

    def doubts(
        self, outputs: Outputs, *, others: Sequence[Outputs] | None = None, earlier: Sequence[Outputs] = ()
    ) -> tuple[Doubt, ...]:
        """What speaks against a machine's outputs, the gravest first.

        outputs: the outputs.
        others: rows that they may be copies of (default: the board's other rows).
        earlier: earlier versions of the same generator.
        """
        row = Row.of(outputs.texts)
        if others is None:
            # What was optimised is made of others' sentences, and says so.
            others = [other for other in self.board.rows if other.name != outputs.name and not other.is_optimised]
        doubts = (
            _copied_references(self.board, row, others),
            _copied_rows(self.board, row, others, "copies a generator"),
            _copied_rows(self.board, row, earlier, "copies an earlier version"),
            _copied_inputs(self.board, row),
            _other_order(self, row),
            _other_language(self, row),
            _looks(self, outputs),
            _cut_off(self, row),
        )
        return tuple(doubt for each in doubts for doubt in each)

    @cached_property
    def references(self) -> list[str]:
        return [reference.text for instance in self.board.instances for reference in instance.references]

    @cached_property
    def expected(self) -> dict[int, Shingles]:
        """What an output of each instance should resemble: its references; else what two other rows have in common."""
        expected: dict[int, Shingles] = {
            k: frozenset().union(*(shingles(reference.text) for reference in instance.references))
            for k, instance in enumerate(self.board.instances)
            if instance.references
        }
        if expected:
            return expected
        rows = [Row.of(other.texts) for other in islice((other for other in self.board.rows if other.generator), 6)]
        for k in range(len(self.board.instances)):
            seen = Counter(part for other in rows if k in other.texts for part in shingles(other.texts[k]))
            if common := frozenset(part for part, times in seen.items() if times > 1):
                expected[k] = common
        return expected

    @cached_property
    def places(self) -> Mapping[int, Sequence[int]]:
        """The instances whose outputs should have a shingle, of those that few of them should have."""
        places: dict[int, list[int]] = {}
        for k, parts in self.expected.items():
            for part in parts:
                places.setdefault(part, []).append(k)
        return {part: where for part, where in places.items() if len(where) <= COMMON}

    @cached_property
    def language(self) -> tuple[Profile, Mapping[int, float]]:
        """How letters follow one another in references, or other rows, and how unlike that a text is at most."""
        texts = self.references or [text for other in islice(self.board.rows, 6) for text in other.texts if text]
        usual = Profile.of(random.Random(0).sample(texts, min(MOST, len(texts))))
        bars = {length: _least_likeness(texts, usual, length) for length in LENGTHS}
        return usual, {length: bar for length, bar in bars.items() if bar is not None}

    @cached_property
    def usual(self) -> check_texts.Usual:
        return check_texts.usual(check_texts.references(self.board), self.board.instances)

    @cached_property
    def open_ends(self) -> float:
        """The share of references that end in a letter."""
        texts = [text for text in self.references if text.strip()]
        return sum(map(_is_open, texts)) / len(texts) if texts else 0.0


def output_doubts(
    board: Board, outputs: Outputs, *, others: Sequence[Outputs] | None = None, earlier: Sequence[Outputs] = ()
) -> tuple[Doubt, ...]:
    """What speaks against a machine's outputs, the gravest first; `Surroundings` serves many rows of a board."""
    return Surroundings(board).doubts(outputs, others=others, earlier=earlier)


def _copied_references(board: Board, row: Row, others: Sequence[Outputs]) -> Iterator[Doubt]:
    """References among the outputs, more than other machines have: good translations are often the reference."""
    copied, telling = _references_in(board, row, row.telling_places)
    if not _many(copied, telling):
        return
    shares = []
    for other in others:
        if other.generator is not None and other.generator.kind == "machine" and not other.is_optimised:
            theirs = Row.of(other.texts)
            hits, of = _references_in(board, theirs, [k for k in _sample(row.telling_places, FEW) if k in theirs.texts])
            shares += [len(hits) / of] if of else []
    # Rows that are copies must not excuse another: half of the others must have as many.
    usual = sorted(shares)[len(shares) // 2] if shares else 0.0
    if _many(copied, telling, least=min(0.9, max(COPIED, TIMES * usual))):
        yield _doubt(
            board,
            "copies references",
            copied,
            telling,
            "are references, or nearly; a generator must not have seen them",
        )


def _references_in(board: Board, row: Row, places: Iterable[int]) -> tuple[list[int], int]:
    """Outputs that are references, or nearly, and how many could be."""
    copied, telling = [], 0
    for k in places:
        own = row.telling(k)
        texts = [shingles(reference.text) for reference in board.instances[k].references]
        if own is not None and texts:
            telling += 1
            copied += [k] if any(_holds(own, text) for text in texts) else []
    return copied, telling


def _holds(own: Shingles, text: Shingles) -> bool:
    """Whether a text is another one, nearly, or holds all of it with something added."""
    if likeness(own, text) >= NEAR:
        return True
    return len(text) >= TELLING and len(own & text) >= 0.95 * len(text) and len(own) <= 3 * len(text)


def _copied_rows(
    board: Board,
    row: Row,
    others: Sequence[Outputs],
    kind: Literal["copies a generator", "copies an earlier version"],
) -> Iterator[Doubt]:
    sample = _sample(row.telling_places, FEW)
    for other in others:
        theirs = Row.of(other.texts)
        if not _many(_near(row, theirs, sample), len(sample), least=ALIKE):
            continue
        places = [k for k in row.telling_places if k in theirs.texts]
        copied = _near(row, theirs, places)
        if _many(copied, len(places), least=ALIKE):
            words = "are another row's, or nearly" if kind == "copies a generator" else "are an earlier version's"
            yield _doubt(board, kind, copied, len(places), words, about=other.name)


def _near(row: Row, other: Row, places: Iterable[int]) -> list[int]:
    return [
        k
        for k in places
        if k in other.texts and (own := row.telling(k)) is not None and likeness(own, shingles(other.texts[k])) >= NEAR
    ]


def _copied_inputs(board: Board, row: Row) -> Iterator[Doubt]:
    inputs = {k: shingles(text) for k in row.texts if (text := board.instances[k].input)}
    telling = [k for k in row.telling_places if k in inputs]
    copied = [k for k in telling if (own := row.telling(k)) is not None and likeness(own, inputs[k]) >= NEAR]
    usual = [
        k
        for k in telling
        if any(likeness(shingles(reference.text), inputs[k]) >= NEAR for reference in board.instances[k].references)
    ]
    if _many(copied, len(telling)) and len(copied) > 2 * len(usual):
        yield _doubt(board, "copies inputs", copied, len(telling), "are the input, or nearly")


def _other_order(around: Surroundings, row: Row) -> Iterator[Doubt]:
    """Outputs that belong to another instance, told by the rare shingles that it should have."""
    moved: dict[int, int] = {}
    compared = [k for k in row.telling_places if k in around.expected]
    for k in compared:
        votes = Counter(j for part in row.telling(k) or () for j in around.places.get(part, ()))
        ((j, best),) = votes.most_common(1) or ((k, 0),)
        if j != k and best >= RARE and best > CLEARLY * votes[k]:
            moved[k] = j
    if _many(list(moved), len(compared), least=MOVED):
        (offset, times), *_ = Counter(j - k for k, j in moved.items()).most_common(1)
        steps = f"{abs(offset)} {'later' if offset > 0 else 'earlier'}"
        shifted = f", most of them {steps}" if 2 * times > len(moved) else ""
        yield _doubt(
            around.board,
            "other order",
            list(moved),
            len(compared),
            f"fit another instance better than their own{shifted}; look whether each stands with its own instance",
        )


def _other_language(around: Surroundings, row: Row) -> Iterator[Doubt]:
    """Outputs whose letters follow one another as in hardly any reference, or where there is none, other row's text."""
    usual, bars = around.language
    strange, telling = [], 0
    for k in row.telling_places:
        length = max((length for length in bars if length <= len(row.texts[k])), default=None)
        if length is not None:
            telling += 1
            strange += [k] if Profile.of([row.texts[k][:length]]).likeness(usual) < bars[length] else []
    if _many(strange, telling, least=MOVED):
        words = "are not in the language of the references"
        yield _doubt(around.board, "other language", strange, telling, words)


def _least_likeness(texts: Sequence[str], usual: Profile, length: int) -> float | None:
    """How unlike all texts of a language one of so many letters is at most, one in fifty aside."""
    long = [text[:length] for text in texts if len(text) >= length]
    near = sorted(Profile.of([text]).likeness(usual) for text in random.Random(0).sample(long, min(FEW, len(long))))
    return 0.9 * near[len(near) // 50] if len(near) >= 20 else None


@dataclass(frozen=True)
class Profile:
    """How often each three letters follow one another in some texts, on a scale of roots, and the length of that."""

    shares: Mapping[str, float]

    @classmethod
    def of(cls, texts: Iterable[str]) -> Profile:
        counts: Counter[str] = Counter()
        for text in texts:
            letters = f" {text.casefold()} "
            counts.update(letters[k : k + 3] for k in range(len(letters) - 2))
        return cls({part: math.sqrt(count) for part, count in counts.items()})

    @cached_property
    def length(self) -> float:
        return math.sqrt(sum(value * value for value in self.shares.values()))

    def __bool__(self) -> bool:
        return bool(self.shares)

    def likeness(self, other: Profile) -> float:
        """The cosine of the two; the shorter one comes first."""
        dot = sum(value * other.shares[part] for part, value in self.shares.items() if part in other.shares)
        return dot / (self.length * other.length) if dot else 0.0


def _looks(around: Surroundings, outputs: Outputs) -> Iterator[Doubt]:
    """What the check of a board folder says of single texts, about these outputs."""
    items = tuple(Passage(k, text, None) for k, text in enumerate(outputs.texts) if text is not None)
    passages = Passages(path=outputs.name, what="outputs", items=items, row=outputs)
    board, usual = around.board, around.usual
    checks: tuple[tuple[DoubtKind, Iterator[check_texts.Finding]], ...] = (
        ("tokenised", check_texts.tokenised(passages, usual)),
        ("lower case", check_texts.lowercased(passages, usual)),
        ("repeats itself", check_texts.repeated(passages, usual, board.instances)),
        ("empty", check_texts.empty(passages)),
    )
    for kind, finds in checks:
        for find in finds:
            yield _doubt(board, kind, [item.instance for item in find.items], len(items), find.brief or find.message)


def _cut_off(around: Surroundings, row: Row) -> Iterator[Doubt]:
    """Outputs that stop in the middle, where references don't: shorter ones, or many of the greatest length."""
    telling = [k for k in row.telling_places if row.texts[k].strip()]
    open_ended = [k for k in telling if _is_open(row.texts[k])]
    usual = around.open_ends
    if not around.references or not telling or len(open_ended) / len(telling) < max(0.3, 3 * usual):
        return
    words = sorted(len(row.texts[k].split()) for k in telling)
    theirs = sorted(len(text.split()) for text in around.references)
    shorter = words[len(words) // 2] < 0.8 * theirs[len(theirs) // 2]
    commonest, times = Counter(words).most_common(1)[0]
    if shorter or (commonest >= words[-1] - 1 and times > 0.2 * len(words)):
        message = f"end without a full stop ({usual:.0%} of the references do) and look cut off"
        yield _doubt(around.board, "cut off", open_ended, len(telling), message)


def _is_open(text: str) -> bool:
    """Whether a text ends in a letter or digit: in the middle of something, where people close with a mark."""
    return text.rstrip()[-1:].isalnum()


def _sample(places: Sequence[int], size: int) -> list[int]:
    """Some places, the same ones each time."""
    return sorted(random.Random(len(places)).sample(list(places), min(size, len(places))))


def _many(hits: Sequence[int], of: int, *, least: float = COPIED) -> bool:
    return len(hits) >= 2 and len(hits) >= least * of


def _doubt(
    board: Board, kind: DoubtKind, hits: Sequence[int], of: int, message: str, *, about: str | None = None
) -> Doubt:
    return Doubt(
        kind=kind,
        count=len(hits),
        of=of,
        words=f"{len(hits):,} of {of:,} outputs {message}",
        about=about,
        examples=tuple(board.instances[k].id for k in hits[:EXAMPLES]),
    )
