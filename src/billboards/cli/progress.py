"""A progress bar on stderr, with the time that is left, for whatever takes longer than two seconds.

Nothing is drawn where nobody watches: where stderr is no terminal, and with --quiet.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer
from typing import TYPE_CHECKING

from billboards.board.missing_cells import Progress
from billboards.metrics.neural.progress import watched_by

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

#: Seconds after which somebody wants to know that something is going on.
PATIENCE = 2.0

#: The bars that are on the screen.
_bars: list[Bar] = []


#: Set by --quiet.
QUIET = "BILLBOARDS_QUIET"


@contextmanager
def scoring_progress(what: str = "computing") -> Iterator[Callable[[Progress], None]]:
    """A function to call with every step; the bar appears with the first one, or says `what` is done after a while."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Task, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar
    from rich.text import Text

    console = Console(stderr=True)
    if not console.is_terminal or os.environ.get(QUIET):
        yield _nobody_watches
        return

    class Steps(MofNCompleteColumn):
        """Steps done of all; where nobody knows how many there are, those that were done."""

        def render(self, task: Task) -> Text:
            return super().render(task) if task.total else Text(str(int(task.completed)) if task.completed else "")

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        Steps(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=console, transient=True) as bar, _listed(bar):
        working = bar.add_task(what, total=None, visible=False)
        # What takes long without steps to count shows that it is at work.
        patience = Timer(PATIENCE, lambda: bar.update(working, visible=True))
        patience.daemon = True
        patience.start()
        task = bar.add_task("scoring", total=None, visible=False)
        reading = bar.add_task("", total=None, visible=False)

        def show(progress: Progress) -> None:
            bar.update(working, visible=False)
            patience.cancel()
            bar.update(task, description=progress.cell, completed=progress.done, total=progress.total, visible=True)

        def read(texts: int) -> None:
            """A model reads for hours between two steps: its texts are counted."""
            bar.update(reading, description="texts read by the model", advance=texts, visible=True)

        try:
            with watched_by(read):
                yield show
        finally:
            patience.cancel()


@contextmanager
def without_bar() -> Iterator[None]:
    """No bar on the screen as long as this lasts, so that somebody can be asked something."""
    for bar in _bars:
        bar.stop()
    try:
        yield
    finally:
        for bar in _bars:
            bar.start()


@contextmanager
def _listed(bar: Bar) -> Iterator[None]:
    _bars.append(bar)
    try:
        yield
    finally:
        _bars.remove(bar)


def _nobody_watches(progress: Progress) -> None:
    """What a bar does where there is no terminal."""
