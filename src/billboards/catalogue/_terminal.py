"""What a person sees of a download: the licence before it begins, its progress, and notes; all on stderr."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from billboards.catalogue._entry import Entry
from billboards.catalogue._fetch import Telling


def size_text(size: int | None) -> str:
    """A number of bytes as people read it."""
    if size is None:
        return "unknown"
    return f"{size / 1e6:,.1f} MB" if size >= 50_000 else f"{size / 1e3:,.1f} kB"


@contextmanager
def on_terminal(cache: Path, *, ask: bool) -> Iterator[Telling]:
    """Tell a person at a terminal; `ask` whether they agree to the licence, where somebody is there to be asked."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        TaskID,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    unwatched = not console.is_terminal or bool(os.environ.get("BILLBOARDS_QUIET"))
    bar = Bar(*columns, console=console, transient=True, disable=unwatched)
    task: TaskID | None = None

    def progress(label: str, done: int, total: int | None) -> None:
        nonlocal task
        if task is None:
            bar.start()
            task = bar.add_task(label, total=total)
        bar.update(task, description=label[-32:], completed=done, total=total)

    def note(text: str) -> None:
        if bar.live.is_started:
            bar.console.print(text, markup=False, highlight=False, soft_wrap=True)
        else:
            print(text, file=sys.stderr)

    def agree(entry: Entry, size: int | None, hosts: Sequence[str]) -> bool:
        for line in offer(entry, size, hosts, cache):
            note(line)
        if not ask or not sys.stdin.isatty() or not sys.stderr.isatty():
            return True
        print("Download it under these terms? [y/N] ", end="", file=sys.stderr, flush=True)
        return sys.stdin.readline().strip().lower() in ("y", "yes")

    try:
        yield Telling(note=note, progress=progress, agree=agree)
    finally:
        if task is not None:
            bar.stop()


def offer(entry: Entry, size: int | None, hosts: Sequence[str], cache: Path) -> Iterator[str]:
    """What somebody should know before the first download."""
    yield f"{entry.name}: {entry.title}"
    yield f"licence: {entry.licence}"
    yield from (f"  {source.label}: {source.licence}" for source in entry.sources)
    yield f"cite: {entry.citation}"
    if entry.remark:
        yield f"note: {entry.remark}"
    amount = "files of a size that is not known" if size is None else f"files of {size_text(size)}"
    yield f"download: {amount} from {', '.join(hosts)} to {cache}"
