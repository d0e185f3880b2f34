"""What works on this machine, and what to do about the rest: nothing is changed, and nothing is fetched.

The exit code is 0 where billboards itself works, whatever optional part is absent, and 1 where it does not.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from billboards.cli import options

if TYPE_CHECKING:
    from billboards.show.table import Table

#: Below this a computed board, a report or a download may not fit.
LITTLE_DISK = 1 << 30

State = Literal["works", "absent", "broken"]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One part of the machine: whether it works, what is there, and what to do where it does not."""

    part: str
    state: State
    detail: str
    remedy: str = ""
    #: Whether billboards can't do its work without it.
    needed: bool = False


def add_arguments(parser: ArgumentParser) -> None:
    options.add_format(parser, arranging=False)


def run(arguments: Namespace) -> int:
    from dataclasses import asdict

    from billboards.cli.output import emit

    findings = list(examine())
    broken = [finding for finding in findings if finding.needed and finding.state == "broken"]
    emit(arguments, (_table(findings),), lambda: {"works": not broken, "parts": [asdict(part) for part in findings]})
    return 1 if broken else 0


def _table(findings: list[Finding]) -> Table:
    from billboards.show.table import Table, TableColumn

    columns = (
        TableColumn("part", "part", align="left"),
        TableColumn("state", "", align="left"),
        TableColumn("detail", "what is there, or what to do", align="left"),
    )
    rows = tuple(
        {"part": finding.part, "state": finding.state, "detail": finding.remedy or finding.detail}
        for finding in findings
    )
    return Table("What works on this machine", columns, rows)


def examine() -> Iterator[Finding]:
    """Every part, what is needed first."""
    yield _python()
    yield _kernels()
    yield _disk("folder for temporary files", Path(tempfile.gettempdir()))
    yield _disk("this folder", Path.cwd())
    yield _cache()
    yield _sandbox()
    yield _graphics()
    yield _wordnet()
    yield _java()
    yield from map(_extra, _extras())


def _python() -> Finding:
    from importlib.metadata import version

    detail = (
        f"billboards {version('billboards')} on Python {platform.python_version()}, {sys.platform} {platform.machine()}"
    )
    return Finding(part="billboards", state="works", detail=detail, needed=True)


def _kernels() -> Finding:
    """The compiled parts, found out by scoring something."""
    from billboards.errors import BillboardsError
    from billboards.metrics.discovery import metric

    part = "lexical metrics (C)"
    try:
        metric("chrF").score(["a text"], ["a text"])
    except (BillboardsError, OSError) as error:
        return Finding(part=part, state="broken", detail=str(error), remedy=str(error), needed=True)
    return Finding(part=part, state="works", detail="the compiled libraries load and score", needed=True)


def _disk(part: str, folder: Path) -> Finding:
    free = shutil.disk_usage(folder).free
    detail = f"{free / (1 << 30):.1f} GiB free in {folder}"
    if not os.access(folder, os.W_OK):
        remedy = f"{folder} can't be written to; work in a folder of your own"
        return Finding(part=part, state="broken", detail=detail, remedy=remedy)
    if free < LITTLE_DISK:
        return Finding(part=part, state="broken", detail=detail, remedy=f"{detail}; make room: 1 GiB is soon used")
    return Finding(part=part, state="works", detail=detail)


def _cache() -> Finding:
    from billboards.catalogue._cache import VARIABLE, cache_folder

    folder = cache_folder()
    detail = f"{folder} ({VARIABLE} names another)"
    return Finding(part="downloaded boards", state="works" if folder.is_dir() else "absent", detail=detail)


def _sandbox() -> Finding:
    """Whether programs of strangers can be confined, found out by confining one."""
    part = "sandbox"
    if sys.platform != "linux":
        remedy = "submitted programs need Linux and bubblewrap; all else works without"
        return Finding(part=part, state="absent", detail=remedy, remedy=remedy)
    from billboards.run.sandbox import sandbox_available

    available = sandbox_available()
    if available:
        return Finding(part=part, state="works", detail="programs that a site is sent can be confined (bubblewrap)")
    state: State = "broken" if shutil.which("bwrap") else "absent"
    return Finding(part=part, state=state, detail=str(available.reason), remedy=str(available.reason))


def _graphics() -> Finding:
    part = "graphics card"
    if find_spec("torch") is None:
        remedy = "not looked for: learned metrics are not installed"
        return Finding(part=part, state="absent", detail=remedy, remedy=remedy)
    import torch

    if torch.cuda.is_available():
        names = {torch.cuda.get_device_name(k) for k in range(torch.cuda.device_count())}
        return Finding(part=part, state="works", detail=", ".join(sorted(names)))
    if torch.backends.mps.is_available():
        return Finding(part=part, state="works", detail="Apple's (mps)")
    remedy = f"none that torch {torch.__version__} can use; learned metrics run on the processor, slowly"
    return Finding(part=part, state="absent", detail=remedy, remedy=remedy)


def _wordnet() -> Finding:
    from billboards.errors import BillboardsError
    from billboards.metrics.wordnet import wordnet

    try:
        digest = wordnet().digest
    except (BillboardsError, OSError) as error:
        return Finding(part="WordNet (METEOR)", state="absent", detail=str(error), remedy=str(error))
    return Finding(part="WordNet (METEOR)", state="works", detail=f"its files are there (digest {digest})")


def _java() -> Finding:
    path = shutil.which("java")
    if path:
        return Finding(part="Java (SPICE)", state="works", detail=path)
    remedy = "install a Java runtime (Debian: default-jre), if you want SPICE"
    return Finding(part="Java (SPICE)", state="absent", detail=remedy, remedy=remedy)


def _extras() -> tuple[str, ...]:
    from billboards.extras import EXTRAS

    return tuple(EXTRAS)


def _extra(extra: str) -> Finding:
    from billboards.extras import EXTRAS, install_command

    purpose, modules = EXTRAS[extra]
    missing = [module for module in modules if find_spec(module) is None]
    part = f"[{extra}]"
    if not missing:
        return Finding(part=part, state="works", detail=purpose)
    remedy = f"{purpose}: {install_command(extra)}"
    return Finding(part=part, state="absent", detail=f"lacks {', '.join(missing)}", remedy=remedy)
