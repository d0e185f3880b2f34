"""A board whose people compared outputs, with numbers that can be counted by hand."""

from __future__ import annotations

from pathlib import Path

from public_sets import write_json_lines

from billboards.board import Board
from billboards.importers.wmt19_darr import wmt19_darr

REFERENCE = "the ferry leaves the old harbour at noon on day {}"
LONGER = "other words, and many more of them than anybody would ever need to say it"


def compared_board(folder: Path) -> Board:
    """A beats B on five of six instances and C on all; BLEU has all twelve pairs right, length all but two of them."""
    items = []
    for k in range(1, 7):
        texts = {"A": REFERENCE.format(k), "B": "words" if k > 2 else LONGER}
        texts |= {"A": f"the ferry leaves at noon on day {k}", "B": REFERENCE.format(k)} if k == 6 else {}
        texts["C"] = "no"
        for better, worse in (("B" if k == 6 else "A", "A" if k == 6 else "B"), ("A", "C")):
            said = {"better_sys": better, "better": texts[better], "worse_sys": worse, "worse": texts[worse]}
            items.append({"lp": "gu-en", "src": f"s{k}", "ref": REFERENCE.format(k), **said})
    return wmt19_darr(write_json_lines(folder / "gu-en.jsonl", items)).board
