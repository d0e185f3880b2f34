"""A gallery: instances where the optimised output beats a person's text under the metric, and is worse (Fig. 1).

Worse is what the other judges say: few machines' outputs of that instance stand below it. The best human text under the
metric is the one to beat, so that no exhibit rests on a weak reference.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from billboards.analyses.audit.bench import Bench, given_text
from billboards.analyses.audit.landing import Compared
from billboards.analyses.audit.results import Exhibit
from billboards.board import Outputs, Texts

Floats = NDArray[np.float64]
SHOWN = 10


def exhibits(
    bench: Bench,
    texts: Texts,
    own: Floats,
    persons: Sequence[tuple[Outputs, Floats]],
    judges: Sequence[Compared],
    shown: int = SHOWN,
) -> tuple[Exhibit, ...]:
    """The instances that show it best: lowest standing first, then the widest lead over the human text."""
    if not persons or not judges:
        return ()
    human = np.stack([scores for _, scores in persons])
    standing = _mean_of(np.stack([_standing(judge) for judge in judges]))
    best = np.where(np.isfinite(human), human, -np.inf).argmax(axis=0)
    to_beat = human[best, np.arange(len(best))]
    lead = own - to_beat
    worse = np.isfinite(lead) & (lead > 0) & (standing < 0.5)
    order = sorted(np.flatnonzero(worse).tolist(), key=lambda k: (round(float(standing[k]), 6), -float(lead[k])))
    return tuple(
        Exhibit(
            instance=bench.board.instances[k].id,
            input=given_text(bench.board.instances[k]),
            person=persons[best[k]][0].name,
            reference=persons[best[k]][0].texts[k] or "",
            optimised=texts[k] or "",
            reference_score=float(to_beat[k]),
            optimised_score=float(own[k]),
            standing=float(standing[k]),
        )
        for k in order[:shown]
    )


def _mean_of(standings: Floats) -> Floats:
    """The mean over the judges that can say something; NaN where none can."""
    judged = np.isfinite(standings)
    count = judged.sum(axis=0)
    return np.where(count > 0, np.where(judged, standings, 0.0).sum(axis=0) / np.maximum(count, 1), np.nan)


def _standing(compared: Compared) -> Floats:
    """The share of machines' outputs below the optimised one, instance by instance; NaN where nobody can say."""
    scored = np.isfinite(compared.leads)
    wins = np.where(scored, (np.sign(compared.leads) + 1) / 2, 0.0).sum(axis=0)
    count = scored.sum(axis=0)
    return np.where(count > 0, wins / np.maximum(count, 1), np.nan)
