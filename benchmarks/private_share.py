"""Do private judgments expose metrics that have seen the public ones? On real boards, with planted cheats.

The judged documents of a board are dealt into a public share and a private one, again and again. The cheat looks the
public judgments up, with noise of five strengths, and is an honest metric elsewhere; all other columns are honest.
Printed: how often the cheat is exposed at the level of rankings (1%, after Holm's correction), and in how many deals
any honest metric is.

    python benchmarks/private_share.py [--deals 100] [--share 0.3] [--only cnndm]
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from measuring import shared_data

import billboards as bb
from billboards.analyses._probation import EXPOSED
from billboards.analyses._view import judged_matrix
from billboards.stats.correlation import pearson
from billboards.stats.exposure import compare_shares, private_documents

#: Strength of the noise on what is looked up, in standard deviations of the judgments.
NOISE = (0.0, 0.5, 1.0, 2.0, 4.0)


def boards(data: Path) -> list[bb.Board]:
    """Boards with the columns that were released with them."""
    return [
        bb.import_board("billboard", data / "billboard", board="cnndm", judgments=data / "THumB"),
        bb.import_board("mtme", data / "mtme_wmt23_en-de"),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--deals", type=int, default=100, help="how often documents are dealt (default 100)")
    parser.add_argument("--share", type=float, default=0.3, help="the private share (default 0.3)")
    parser.add_argument("--only", metavar="BOARD", help="one of the boards, by the beginning of its name")
    options = parser.parse_args()
    data = shared_data()
    if data is None:
        raise SystemExit("the human-evaluation data are absent: set BILLBOARDS_SHARED, or put shared/ beside this")
    for board in boards(data):
        if board.name.startswith(options.only or ""):
            study(board, options.deals, options.share)


def study(board: bb.Board, deals: int, share: float) -> None:
    """Print what is found on one board."""
    begun = time.perf_counter()
    matrix = judged_matrix(board, None)
    rows = matrix.judged
    human, scores = matrix.human[rows], matrix.scores.values[:, rows]
    documents = [instance.document or instance.id for instance in board.instances]
    agreement = pearson(scores, human)[0]
    base = int(np.nanargmax(agreement))
    spread = float(np.nanstd(human))
    alarms, exposed, shown = 0, dict.fromkeys(NOISE, 0), {noise: [0.0, 0.0] for noise in NOISE}
    for deal in range(deals):
        private = private_documents(documents, share, seed=deal)
        honest = compare_shares(scores, human, documents, private, seed=deal)
        alarms += bool((honest.corrected <= EXPOSED).any())
        random = np.random.default_rng(deal)
        for noise in NOISE:
            seen = human + noise * spread * random.normal(size=human.shape)
            centred = (scores[base] - np.nanmean(scores[base])) / np.nanstd(scores[base]) * spread + np.nanmean(human)
            cheat = np.where(private, centred, np.where(np.isfinite(seen), seen, centred))
            shares = compare_shares(np.concatenate([scores, cheat[np.newaxis]]), human, documents, private, seed=deal)
            exposed[noise] += bool(shares.corrected[-1] <= EXPOSED)
            shown[noise][0] += float(shares.public[-1]) / deals
            shown[noise][1] += float(shares.private[-1]) / deals
    units = len({documents[k] for k in np.flatnonzero(np.isfinite(human).any(axis=0))})
    print(f"{board.name}: {len(scores)} honest metrics, {units} judged documents, {share:.0%} private, {deals} deals")
    print(f"  any honest metric exposed: {alarms} of {deals} deals (at most {EXPOSED:.0%} expected)")
    for noise in NOISE:
        public, inside = shown[noise]
        print(
            f"  look-up with noise {noise:3.1f}: public r {public:6.3f}, private r {inside:6.3f}, "
            f"exposed in {exposed[noise]} of {deals}"
        )
    print(f"  {time.perf_counter() - begun:.0f} s", flush=True)


if __name__ == "__main__":
    main()
