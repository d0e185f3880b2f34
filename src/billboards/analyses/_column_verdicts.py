"""What `check --recompute` found of imported columns, kept beside the board so that pages can say it.

A verdict is kept by the column's own signature, a digest of its scores: a corrected file is another column, of which
nothing is known yet. Only counts are kept, no names of generators.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from billboards.analyses._imported_scores import Recomputed
from billboards.board import Board
from billboards.saving import save_file

FILE = Path(".billboards") / "recomputed.json"


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """How many generators' imported scores were compared with scores computed here, and how many differ."""

    generators: int
    different: int
    outputs: int

    @property
    def words(self) -> str:
        """What a reader must know of a column that is not what its name says; empty where all is well."""
        if not self.different:
            return ""
        whose = "all" if self.different == self.generators else f"{self.different} of {self.generators}"
        return (
            f"Its released scores differ from scores computed anew for {whose} generators "
            f"({self.outputs:,} outputs compared by `check --recompute`)."
        )


def keep_verdicts(board: Board, recomputed: Iterable[Recomputed]) -> None:
    """Keep what was found, beside the board; a board that lies nowhere keeps nothing."""
    if board.home is None:
        return
    signatures = {column.source_name: column.signature for column in board.imported}
    verdicts = {
        signatures[column.source_name]: asdict(
            Verdict(
                generators=len(column.equal) + len(column.different),
                different=len(column.different),
                outputs=column.compared,
            )
        )
        for column in recomputed
        if column.source_name in signatures
    }
    path = board.home / FILE
    path.parent.mkdir(exist_ok=True)
    save_file(path, json.dumps({**_read(path), **verdicts}, indent=1))


def read_verdicts(home: Path | None) -> dict[str, Verdict]:
    """What is known of imported columns, by their signatures."""
    return {} if home is None else {key: Verdict(**value) for key, value in _read(home / FILE).items()}


def _read(path: Path) -> Mapping[str, dict[str, int]]:
    try:
        document = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        # It is a note that can be made again; a board is shown without it.
        return {}
    words = set(Verdict.__dataclass_fields__)
    kept = document.items() if isinstance(document, dict) else ()
    return {str(key): value for key, value in kept if isinstance(value, dict) and set(value) == words}
