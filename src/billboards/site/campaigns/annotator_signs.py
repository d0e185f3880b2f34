"""Signs that annotators of a campaign don't read, read from all that they have answered.

Test questions count over every campaign of the task, and those of the qualification test with them; labels and times
count in the campaign itself. Whom a person has left out is weighed too: the evidence says what the answers say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from billboards.campaigns.answers import answer_values
from billboards.campaigns.templates import Template
from billboards.site.campaigns.answer_counts import GivenAnswer
from billboards.stats.annotator_signs import (
    AnnotatorEvidence,
    CountSign,
    agreement_evidence,
    combine_signs,
    count_evidence,
    followed_lengths,
    hasty_answers,
    length_evidence,
    pooled_evidence,
    position_evidence,
    repeated_answers,
    repetition_evidence,
    speed_evidence,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
#: The kinds of test questions.
KINDS = ("positive", "negative", "attention")
#: Labels and times of so many of a campaign's latest answers are read.
MOST_ANSWERS = 5_000


@dataclass(frozen=True)
class _Labels:
    """Labels in the order they were given: whose, of what, the value on 0-1, and of pairs what stood where."""

    who: Ints
    item: Ints
    value: Floats
    #: The length of the output in question, or by how much what stands first is longer.
    length: Floats
    #: The share by which what stands first was preferred; NaN where nothing was compared.
    first: Floats


def weigh_signs(
    annotators: Mapping[int, str],
    tests: Mapping[tuple[int, str], tuple[int, int]],
    template: Template,
    given: Sequence[GivenAnswer],
) -> dict[str, AnnotatorEvidence]:
    """The evidence against each annotator, by pseudonym.

    annotators: pseudonyms by the numbers that answers have
    tests: right and wrong answers to test questions by annotator and kind
    template: what was asked
    given: answers of the campaign, in the order they were given
    """
    if not annotators:
        return {}
    place = {annotator_id: k for k, annotator_id in enumerate(annotators)}
    counted = [answer for answer in given if answer.annotator_id in place]
    signs = _question_signs(list(annotators), tests)
    signs |= _label_signs(_labels(counted, place, template), len(place), compares=template.outputs == 2)
    who = [place[answer.annotator_id] for answer in counted]
    took_time, hasty = hasty_answers(who, [answer.seconds for answer in counted], len(place))
    signs["speed"] = _counted(speed_evidence(took_time, hasty), took_time + hasty)
    return {evidence.annotator: evidence for evidence in combine_signs(list(annotators.values()), signs)}


def _question_signs(annotators: Sequence[int], tests: Mapping[tuple[int, str], tuple[int, int]]) -> dict[str, Floats]:
    """Test questions of all kinds as one sign, and beside it those of each kind."""
    counts = {
        kind: np.array([tests.get((annotator, kind), (0, 0)) for annotator in annotators], np.int64) for kind in KINDS
    }
    kinds = {kind: CountSign(usual=count[:, 0], unusual=count[:, 1]) for kind, count in counts.items() if count.any()}
    if not kinds:
        return {}
    asked = np.sum([counts[kind] for kind in kinds], axis=(0, 2))
    signs = {"questions": _counted(pooled_evidence(list(kinds.values())), asked)}
    return signs | {kind: _counted(count_evidence(sign), counts[kind].sum(axis=1)) for kind, sign in kinds.items()}


def _label_signs(labels: _Labels, annotators: int, *, compares: bool) -> dict[str, Floats]:
    if not len(labels.who):
        return {}
    own = np.bincount(labels.who, minlength=annotators)
    shared = np.bincount(labels.who, weights=np.bincount(labels.item)[labels.item] > 1, minlength=annotators)
    signs = {"agreement": _counted(agreement_evidence(labels.who, labels.item, labels.value, annotators), shared)}
    answered = labels.first if compares else labels.value
    changes, repeats = repeated_answers(labels.who, answered, annotators)
    signs["repetition"] = _counted(repetition_evidence(changes, repeats), np.maximum(own - 1, 0))
    if compares:
        first, other = (
            np.bincount(labels.who, weights=side, minlength=annotators).astype(np.int64)
            for side in (labels.first > 0.5, labels.first < 0.5)
        )
        signs["position"] = _counted(position_evidence(first, other), first + other)
        direction = np.sign(labels.first - 0.5) * np.sign(labels.length)
        shorter, longer = (
            np.bincount(labels.who, weights=side, minlength=annotators).astype(np.int64)
            for side in (direction < 0, direction > 0)
        )
    else:
        shorter, longer = followed_lengths(labels.who, labels.value, labels.length, annotators)
    signs["length"] = _counted(length_evidence(shorter, longer), shorter + longer)
    return signs


def _counted(logs: Floats, count: NDArray[np.generic]) -> Floats:
    """NaN for those of whom nothing was counted."""
    return np.where(np.asarray(count) > 0, logs, np.nan)


def _labels(given: Sequence[GivenAnswer], place: Mapping[int, int], template: Template) -> _Labels:
    question = template.dimension(template.overall)
    rows = []
    for answer in given:
        if answer.purpose != "label" or template.overall not in answer.answers:
            continue
        values = answer_values(template, answer.answers, answer.shown_order)
        share = question.share(values[0][template.overall])
        texts = [str(answer.slots[slot]["text"]) for slot in answer.shown_order]
        length, first = float(len(texts[0])), np.nan
        if template.outputs == 2:
            length = float(len(texts[0]) - len(texts[1]))
            first = share if answer.shown_order[0] == 0 else 1 - share
        rows.append((place[answer.annotator_id], answer.item_id, share, length, first))
    table = np.array(rows, np.float64).reshape(len(rows), 5)
    items = np.unique(table[:, 1], return_inverse=True)[1].reshape(-1)
    return _Labels(table[:, 0].astype(np.int64), items, table[:, 2], table[:, 3], table[:, 4])
