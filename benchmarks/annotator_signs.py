"""Who answers without reading: all signs together beside the paper's model alone, after 20, 40, 60 and 100 answers.

Three sets of people. GENIE's own simulation (Appendix B.2: 1 to 10% noisy, with a mean accuracy from 0 to .5). Twenty
people of whom five are careless, some at random and some every second time, who also give labels that overlap and take
time. And the ESA campaign with its BAD items, on real people: five of 33 are made careless in each round by drawing
their scores anew from their own, in all or in half of the cases; labels are compared with the second campaign's scores
of the same outputs. Test questions are dealt as campaigns deal them now, or as before, two in twenty; in the ESA
campaign they come where they came. Recall is the share of careless people who are excluded by then, false exclusions
that of the others.

    python benchmarks/annotator_signs.py [folder of the shared data] [rounds, default 40]
"""

from __future__ import annotations

import gzip
import json
import math
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from measuring import shared_data
from numpy.typing import NDArray

from billboards.analyses._annotators import _COPY
from billboards.board.appraise_answers import AppraiseAnswer, last_answers, read_appraise
from billboards.stats.annotator_recall import is_open
from billboards.stats.annotator_signs import (
    ENOUGH,
    CountSign,
    agreement_evidence,
    combine_signs,
    hasty_answers,
    pooled_evidence,
    repeated_answers,
    repetition_evidence,
    speed_evidence,
)
from billboards.stats.annotators import judge_annotators
from billboards.stats.system_level import wilson_interval

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
LOOKS = (20, 40, 60, 100)
BLOCK, EARLY, LATER = 20, 12, 2


@dataclass
class Tally:
    """Careless people found of all, and others excluded of all, by number of answers."""

    found: dict[tuple[str, int], list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0]))

    def add(self, who: str, look: int, excluded: Bools) -> None:
        self.found[who, look][0] += int(excluded.sum())
        self.found[who, look][1] += len(excluded)

    def line(self, name: str, who: str) -> str:
        return f"  {name:42} {who:18}" + "".join(f" {_rate(*self.found[who, look]):>20}" for look in LOOKS)


def _rate(hits: int, n: int) -> str:
    if not n:
        return "–"
    low, high = wilson_interval(hits, n)
    return f"{hits / n:.1%} ({low:.1%}-{high:.1%})"


def show(title: str, tallies: dict[str, Tally], kinds: Sequence[str]) -> None:
    print(title)
    print(f"  {'':42} {'':18}" + "".join(f" {f'{look} answers':>20}" for look in LOOKS))
    for name, tally in tallies.items():
        for who in kinds:
            print(tally.line(name, who), flush=True)


def by_model(right: Ints, asked: Ints) -> Bools:
    """The paper's model on positive and negative questions, arrays (people, 2)."""
    names = [str(k) for k in range(len(right))]
    counts = {kind: (right[:, k], asked[:, k] - right[:, k]) for k, kind in enumerate(("positive", "negative"))}
    noisy = judge_annotators(names, counts).noisy
    return np.array([name in noisy for name in names])


def by_questions(right: Ints, asked: Ints) -> Floats:
    """The logarithm of the evidence of both kinds of questions together."""
    kinds = [CountSign(usual=right[:, k], unusual=asked[:, k] - right[:, k]) for k in (0, 1)]
    return pooled_evidence(kinds)


@dataclass
class Dealing:
    """Test questions as they are dealt to people of some accuracy, one answer after another."""

    accuracy: Floats
    early: int
    random: np.random.Generator

    def __post_init__(self) -> None:
        people = len(self.accuracy)
        self.right, self.asked = np.zeros((people, 2), np.int64), np.zeros((people, 2), np.int64)
        self.is_label = np.zeros((people, max(LOOKS)), bool)

    def answer(self, step: int, still_in: Bools) -> None:
        for k in np.flatnonzero(still_in):
            right, wrong = int(self.right[k].sum()), int((self.asked[k] - self.right[k]).sum())
            share = self.early if self.early and is_open(right, wrong) else LATER
            if self.random.random() < share / BLOCK:
                kind = int(self.asked[k].sum()) % 2
                self.asked[k, kind] += 1
                self.right[k, kind] += self.random.random() < self.accuracy[k]
            else:
                self.is_label[k, step] = True


def genie(rounds: int) -> None:
    """GENIE's annotators, by questions alone: that simulation has no labels and no times."""
    tallies = {name: Tally() for name in ("paper's model, 2 in 20", "paper's model, early", "questions pooled, early")}
    random = np.random.default_rng(1)
    for _ in range(rounds):
        noisy = random.uniform(size=88) < random.uniform(0.01, 0.1)
        bad, bad_size = random.uniform(0, 0.5), random.uniform(5, 50)
        good, good_size = random.uniform(0.95, 1), random.uniform(100, 1_000)
        accuracy = np.where(
            noisy,
            random.beta(bad * bad_size, (1 - bad) * bad_size, 88),
            random.beta(good * good_size, (1 - good) * good_size, 88),
        )
        for early in (0, EARLY):
            dealt = Dealing(accuracy, early, random)
            out = {name: np.zeros(88, bool) for name in tallies}
            for step in range(max(LOOKS)):
                dealt.answer(step, np.ones(88, bool))
                if (step + 1) % 10 == 0:
                    if not early:
                        out["paper's model, 2 in 20"] |= by_model(dealt.right, dealt.asked)
                    else:
                        out["paper's model, early"] |= by_model(dealt.right, dealt.asked)
                        enough = by_questions(dealt.right, dealt.asked) >= math.log(ENOUGH)
                        out["questions pooled, early"] |= enough
                if step + 1 in LOOKS:
                    for name in [name for name in tallies if ("early" in name) == bool(early)]:
                        tallies[name].add("noisy", step + 1, out[name][noisy])
                        tallies[name].add("others", step + 1, out[name][~noisy])
    show(
        f"GENIE's simulation, 88 annotators, {rounds} rounds, looked at after every 10 answers",
        tallies,
        ("noisy", "others"),
    )


#: How careless people of the second study answer.
KINDS = ("at random", "half at random", "others")


def twenty(rounds: int, *, hurry: bool) -> None:
    """Twenty people, five of them careless; a fifth of the labels is given twice. With `hurry` careless ones click.

    Times are a sign of their own, so with `hurry` only all signs together are shown.
    """
    rules = ("paper's model, 2 in 20", "paper's model, early", "questions pooled, early", "all signs, early")
    names = rules[-1:] if hurry else rules
    tallies = {name: Tally() for name in names}
    random = np.random.default_rng(2)
    for number in range(rounds):
        rate = np.zeros(20)
        rate[:5] = [1.0, 0.5, 1.0, 0.5, 0.5 if number % 2 else 1.0]
        good, good_size = random.uniform(0.95, 1), random.uniform(100, 1_000)
        accuracy = (1 - rate) * random.beta(good * good_size, (1 - good) * good_size, 20) + rate / 2
        kind = {"at random": rate == 1, "half at random": rate == 0.5, "others": rate == 0}
        for early in (EARLY,) if hurry else (0, EARLY):
            mine = [name for name in names if ("early" in name) == bool(early)]
            for name, seen in _answers(accuracy, rate, early, random, mine, hurry=hurry).items():
                for look, excluded in seen.items():
                    for who in KINDS:
                        tallies[name].add(who, look, excluded[kind[who]])
                    tallies[name].add("careless", look, excluded[~kind["others"]])
    what = "careless people take a fifth of the time" if hurry else "careless people take as long as others"
    title = f"20 people, 5 careless, {rounds} rounds, looked at after every 10 answers; {what}"
    show(title, tallies, ("careless", *KINDS))


def _answers(
    accuracy: Floats,
    rate: Floats,
    early: int,
    random: np.random.Generator,
    names: Sequence[str],
    *,
    hurry: bool,
) -> dict[str, dict[int, Bools]]:
    """Who is excluded by each rule after so many answers."""
    dealt = Dealing(accuracy, early, random)
    steps = max(LOOKS)
    values, items = _labels(rate, random, steps)
    pace = np.exp(random.normal(3.0, 0.35, 20))[:, None] * np.exp(random.normal(0, 0.5, (20, steps)))
    struck = random.random((20, steps)) < rate[:, None]
    seconds = np.where(struck & hurry, pace / 5, pace)
    out = {name: np.zeros(20, bool) for name in names}
    seen: dict[str, dict[int, Bools]] = {name: {} for name in names}
    for step in range(steps):
        dealt.answer(step, np.ones(20, bool))
        if (step + 1) % 10 == 0:
            for name in names:
                if "model" in name:
                    out[name] |= by_model(dealt.right, dealt.asked)
                elif "questions" in name:
                    out[name] |= by_questions(dealt.right, dealt.asked) >= math.log(ENOUGH)
                else:
                    out[name] |= _all_signs(dealt, values, items, seconds, step + 1)
        if step + 1 in LOOKS:
            for name in names:
                seen[name][step + 1] = out[name].copy()
    return seen


def _labels(rate: Floats, random: np.random.Generator, steps: int) -> tuple[Floats, Ints]:
    """Labels on five levels: one in five is of an item that somebody else labels too; random ones have any level."""
    quality = random.normal(size=20 * steps)
    items = np.arange(20 * steps).reshape(20, steps)
    for step in range(0, steps, 5):
        order = random.permutation(20)
        items[order[:10], step] = items[order[10:], step]
    severity = random.normal(0, 0.3, (20, 1))
    honest = np.digitize(quality[items] + severity + 0.6 * random.normal(size=(20, steps)), [-1, -0.3, 0.3, 1])
    struck = random.random((20, steps)) < rate[:, None]
    return np.where(struck, random.integers(0, 5, (20, steps)), honest).astype(float), items


def _all_signs(dealt: Dealing, values: Floats, items: Ints, seconds: Floats, answers: int) -> Bools:
    people, step = np.nonzero(dealt.is_label[:, :answers])
    changes, repeats = repeated_answers(people, values[people, step], 20)
    everyone = np.repeat(np.arange(20), answers)
    took, hasty = hasty_answers(everyone, seconds[:, :answers].ravel(), 20)
    signs = {
        "questions": by_questions(dealt.right, dealt.asked),
        "agreement": agreement_evidence(people, items[people, step], values[people, step], 20),
        "repetition": repetition_evidence(changes, repeats),
        "speed": speed_evidence(took, hasty),
    }
    return np.array([one.careless for one in combine_signs([str(k) for k in range(20)], signs)])


@dataclass(frozen=True)
class EsaPerson:
    """One annotator's scores in the order given, with the second campaign's scores and the places of BAD items."""

    scores: Floats
    others: Floats
    #: Of each BAD item the place of its own answer and of the original's.
    pairs: tuple[tuple[int, int], ...]
    #: Seconds since the answer before.
    seconds: Floats


def esa_people(folder: Path) -> list[EsaPerson]:
    """The campaign's annotators; an output's score in the second campaign is found by its source and system."""
    other = _second_scores(folder)
    texts = {
        (item["documentID"], str(item["itemID"])): item["sourceText"]
        for task in json.loads(gzip.decompress((folder / "batches_wmt23_en-de_esa.json.gz").read_bytes()))
        for item in task["items"]
    }
    by_annotator: dict[str, list[AppraiseAnswer]] = defaultdict(list)
    for answer in last_answers(list(read_appraise(folder / "240315rc5ESA.scores.csv"))):
        if "tutorial" not in answer.document:
            by_annotator[answer.annotator].append(answer)
    people = []
    for answers in by_annotator.values():
        answers.sort(key=lambda answer: answer.ended)
        seconds = np.diff([answer.ended for answer in answers], prepend=np.nan)
        beside = [
            math.nan
            if answer.kind == "BAD"
            else other.get(
                (texts.get((answer.document, answer.item), ""), answer.system.removeprefix("wmt23.")), math.nan
            )
            for answer in answers
        ]
        people.append(
            EsaPerson(np.array([answer.score for answer in answers]), np.array(beside), tuple(_pairs(answers)), seconds)
        )
    return people


def _pairs(answers: Sequence[AppraiseAnswer]) -> list[tuple[int, int]]:
    documents: dict[str, list[int]] = defaultdict(list)
    for place, answer in enumerate(answers):
        documents[answer.document].append(place)
    pairs = []
    for document, places in documents.items():
        originals = documents.get(_COPY.sub("", document), [])
        if answers[places[0]].kind == "BAD" and originals is not places and len(originals) == len(places):
            order = [sorted(some, key=lambda place: int(answers[place].item)) for some in (places, originals)]
            pairs += list(zip(*order, strict=True))
    return pairs


def _second_scores(folder: Path) -> dict[tuple[str, str], float]:
    sources = (folder.parent / "mtme_wmt23_en-de" / "sources" / "en-de.txt").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in (folder / "en-de.ESA-2.seg.score").read_text().splitlines()]
    by_system: dict[str, list[str]] = defaultdict(list)
    for system, score in rows:
        by_system[system].append(score)
    return {
        (source, system): float(score)
        for system, scores in by_system.items()
        for source, score in zip(sources, scores, strict=True)
        if score != "None"
    }


def esa(folder: Path, rounds: int) -> None:
    """Real annotators, five of 33 of them made careless; and nobody made so, to see who is excluded as they are."""
    people = esa_people(folder)
    shared = sum(int(np.isfinite(person.others).sum()) for person in people)
    print(
        f"ESA: {len(people)} annotators, {sum(len(p.pairs) for p in people)} BAD items, "
        f"{shared} labels in both campaigns"
    )
    names = ("paper's model", "questions", "all signs")
    for rate, words in ((1.0, "at random"), (0.5, "half at random")):
        tallies = {name: Tally() for name in names}
        random = np.random.default_rng(3)
        for _ in range(rounds):
            careless = np.zeros(len(people), bool)
            careless[random.choice(len(people), 5, replace=False)] = True
            scores = [
                np.where(random.random(len(p.scores)) < rate, random.choice(p.scores, len(p.scores)), p.scores)
                if bad
                else p.scores
                for p, bad in zip(people, careless, strict=True)
            ]
            _esa_looks(people, scores, careless, tallies)
        show(f"ESA campaign, 5 of 33 made careless, {words}, {rounds} rounds", tallies, ("careless", "others"))
    tallies = {name: Tally() for name in names}
    _esa_looks(people, [p.scores for p in people], np.zeros(len(people), bool), tallies)
    show("ESA campaign as it is", tallies, ("others",))


def _esa_looks(
    people: Sequence[EsaPerson], scores: Sequence[Floats], careless: Bools, tallies: dict[str, Tally]
) -> None:
    out = {name: np.zeros(len(people), bool) for name in tallies}
    for look in range(20, max(LOOKS) + 1, 20):
        counts = np.array([_checks(p, own, look) for p, own in zip(people, scores, strict=True)])
        right, asked = counts[:, 0], counts.sum(axis=1)
        names = [str(k) for k in range(len(people))]
        marked = judge_annotators(names, {"BAD": (right, asked - right)}).noisy
        questions = pooled_evidence([CountSign(usual=right, unusual=asked - right)])
        signs = {"questions": questions, **_esa_signs(people, scores, look)}
        out["paper's model"] |= np.array([name in marked for name in names])
        out["questions"] |= questions >= math.log(ENOUGH)
        out["all signs"] |= np.array([one.careless for one in combine_signs(names, signs)])
        if look in LOOKS:
            for name, excluded in out.items():
                tallies[name].add("careless", look, excluded[careless])
                tallies[name].add("others", look, excluded[~careless])


def _checks(person: EsaPerson, scores: Floats, look: int) -> tuple[int, int]:
    answered = [scores[bad] < scores[good] for bad, good in person.pairs if max(bad, good) < look]
    return sum(answered), len(answered) - sum(answered)


def _esa_signs(people: Sequence[EsaPerson], scores: Sequence[Floats], look: int) -> dict[str, Floats]:
    """Agreement with the second campaign, whose annotators are one more person each; repetition; speed."""
    who, item, value, number = [], [], [], 0
    for k, (person, own) in enumerate(zip(people, scores, strict=True)):
        places = [place for place in range(min(look, len(own))) if np.isfinite(person.others[place])]
        for place in places:
            who += [k, len(people) + k]
            item += [number, number]
            value += [own[place], person.others[place]]
            number += 1
    everybody = np.concatenate([np.full(min(look, len(own)), k) for k, own in enumerate(scores)])
    given = np.concatenate([own[:look] for own in scores])
    spent = np.concatenate([person.seconds[:look] for person in people])
    timed = np.isfinite(spent)
    return {
        "agreement": agreement_evidence(who, item, value, 2 * len(people))[: len(people)],
        "repetition": repetition_evidence(*repeated_answers(everybody, given, len(people))),
        "speed": speed_evidence(*hasty_answers(everybody[timed], spent[timed], len(people))),
    }


if __name__ == "__main__":
    given_rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 40
    data = Path(sys.argv[1]) if len(sys.argv) > 1 else shared_data()
    twenty(given_rounds, hurry=False)
    twenty(given_rounds, hurry=True)
    genie(given_rounds)
    if data is None:
        sys.exit("no shared data; name its folder for the ESA campaign")
    esa(data / "esa_campaign", given_rounds)
