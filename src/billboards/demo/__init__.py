"""The demo board: SummEval, packed into the package, so that a real board opens without a network.

Summaries of 100 news articles by 16 systems, ten crowd-written references, and ratings by experts and by a crowd
(Fabbri et al., 2021, MIT). `data/README.md` says what is in the file and under which licence.
"""

from billboards.demo.board import build_board

__all__ = ["build_board"]
