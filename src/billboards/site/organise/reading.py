"""A board read from what an owner sent, in a process of its own with limits of memory and time.

The process is told a folder with `asked.json` and the files that were sent. It writes the board into `board/` beside
them, with `answer.json`: notes of the importer and what `billboards check` finds, or what is wrong. A process that
breaks, fills its memory or takes too long leaves no answer; nothing of the site is open in it.
"""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from billboards.errors import (
    BillboardsError,
    DownloadFailed,
    InvalidBoard,
    InvalidInput,
    InvalidSubmission,
    StoreFailed,
)
from billboards.site.settings import DATABASE, MAIL_PASSWORD, METRICS_TOKEN, OIDC_SECRET

ASKED, ANSWER, BOARD, SENT = "asked.json", "answer.json", "board", "sent"
#: How far the process is, in a line that it writes anew; seconds between two looks at it, and between two lines.
PROGRESS, LOOK = "progress.txt", 0.5
BEGINNING = "beginning"
#: Bytes of memory beside eight times what was sent, seconds, and findings that are kept.
MEMORY, SECONDS, LISTED = 6 * 2**30, 600, 200
#: What the process need not know.
SECRETS = (DATABASE, MAIL_PASSWORD, METRICS_TOKEN, OIDC_SECRET)


def read_in_process(
    work: Path,
    asked: Mapping[str, Any],
    *,
    seconds: float = SECONDS,
    tell: Callable[[str], None] = lambda _: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> dict[str, Any]:
    """What became of reading a folder's files: `notes` and `findings`, or `problems`; `tell` hears how far it is."""
    (work / ASKED).write_text(json.dumps(dict(asked)), "utf-8")
    environment = {name: value for name, value in os.environ.items() if name not in SECRETS}
    with subprocess.Popen(
        [sys.executable, "-m", __name__, str(work)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
    ) as process:
        try:
            in_time = _wait(process, work, seconds, tell, cancelled)
        finally:
            process.kill()
    if not in_time:
        return {
            "problems": [f"took more than {seconds:.0f} seconds to read; make a smaller board, or import it by hand"]
        }
    if not (work / ANSWER).exists():
        return {"problems": ["took more memory or time to read than there is; make a smaller board"]}
    answer: dict[str, Any] = json.loads((work / ANSWER).read_text("utf-8"))
    return answer


def _wait(
    process: subprocess.Popen[bytes],
    work: Path,
    seconds: float,
    tell: Callable[[str], None],
    cancelled: Callable[[], bool],
) -> bool:
    """Wait until a process has ended, and pass on how far it says it is; False where it takes too long.

    Words are passed on although they are the same: whoever hears them looks whether the board is still wanted.
    """
    ends = time.monotonic() + seconds
    while time.monotonic() < ends and not cancelled():
        try:
            process.wait(LOOK)
            return True
        except subprocess.TimeoutExpired:
            tell((work / PROGRESS).read_text("utf-8") if (work / PROGRESS).exists() else BEGINNING)
    return cancelled()


def main(work: Path) -> int:
    """Read what lies in a folder, and say what became of it."""
    _limit(work)
    asked = json.loads((work / ASKED).read_text("utf-8"))
    try:
        notes = _MAKERS[asked["source"]](work, asked)
        answer: dict[str, Any] = {"notes": list(notes), "findings": _findings(work / BOARD)}
    except (InvalidBoard, InvalidSubmission) as error:
        answer = {"problems": [_plain(work, str(problem)) for problem in error.problems][:LISTED]}
    except (BillboardsError, OSError) as error:
        answer = {"problems": [_plain(work, str(error))]}
    beside = work / f".{ANSWER}"
    beside.write_text(json.dumps(answer), "utf-8")
    beside.replace(work / ANSWER)
    return 0


def _limit(work: Path) -> None:
    size = sum(path.stat().st_size for path in work.rglob("*") if path.is_file())
    most = MEMORY + 8 * size
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _plain(work: Path, text: str) -> str:
    """A message about files as their sender named them, and as a form's fields are called."""
    sent = sorted((work / SENT).iterdir()) if (work / SENT).is_dir() else []
    for place in (*(f"{part}/" for part in sent), f"{work / BOARD}/", f"{work}/", str(work)):
        text = text.replace(place, "")
    text = text.replace("are for `billboards import text`", "make a board under “Text files”")
    text = text.replace("choose another as `ranks` in board.toml", "choose another in the settings after publishing")
    return _OPTION.sub(lambda option: f"in the field “{option[1].capitalize()}”", text)


#: How messages name an option of `billboards import`, which is a field of a form here.
_OPTION = re.compile(r"\bwith --([a-z]+)(?: [A-Z]+(?:=[A-Z]+)?)?")


def _findings(folder: Path) -> list[dict[str, Any]]:
    from billboards.board.check import check_board

    fields = ("path", "line", "message", "severity")
    return [{field: getattr(problem, field) for field in fields} for problem in check_board(folder)[:LISTED]]


def _written(work: Path, asked: Mapping[str, Any], board: Any, notes: Sequence[str]) -> Sequence[str]:
    from billboards.board.writing import write_board

    write_board(replace(board, name=asked["name"]), work / BOARD)
    # Languages are fields of the draft's data card.
    return [_plain(work, note) for note in notes if not note.startswith("say in board.toml which [languages]")]


def _demo(work: Path, asked: Mapping[str, Any]) -> Sequence[str]:
    from billboards.demo import build_board

    return _written(work, asked, build_board(), ())


def _catalogue(work: Path, asked: Mapping[str, Any]) -> Sequence[str]:
    from billboards.catalogue import Place, Telling, get_board, read_catalogue
    from billboards.catalogue._cache import cache_folder

    say = _Progress(work / PROGRESS)
    # The form names the licence, and who sends it agrees.
    telling = Telling(note=say.note, progress=say.progress, agree=lambda *_: True)
    place = Place(cache=cache_folder(), mirror=asked.get("mirror") or None)
    try:
        imported = get_board(read_catalogue().entry(asked["entry"]), place, telling)
    except DownloadFailed as error:
        reason = str(error)
        for hint in FROM_HINTS:
            reason = reason.replace(hint, "")
        raise InvalidInput(f"its files can't be fetched: {reason}. {MIRROR}") from error
    return _written(work, asked, imported.board, imported.notes)


#: What a command suggests where files can't be fetched, which a site can't do for whoever asks,
FROM_HINTS = (" or give --from DIR", "; is there a network? `--from DIR` takes files from clones and archives instead")
#: and what helps there instead.
MIRROR = (
    "Try again when the network is back. A site without one takes the files from a folder or a server of its own: "
    "whoever runs it names that as mirror under [catalogue] in site.toml."
)


class _Progress:
    """How far fetching is, as one line in a file; a line takes the place of the one before, whole."""

    def __init__(self, path: Path) -> None:
        self._path, self._next = path, 0.0

    def note(self, words: str) -> None:
        beside = self._path.with_name(f".{self._path.name}")
        beside.write_text(words, "utf-8")
        beside.replace(self._path)

    def progress(self, label: str, done: int, total: int | None) -> None:
        if time.monotonic() < self._next:
            return
        self._next = time.monotonic() + LOOK
        of = "" if total is None else f" of {total / 1e6:,.1f}"
        self.note(f"fetching {label}: {done / 1e6:,.1f}{of} MB")


def _table(work: Path, asked: Mapping[str, Any]) -> Sequence[str]:
    from billboards.importers.table import table

    (source,) = _files(work, "file")
    judgments = _files(work, "judgments")
    options = dict(asked["options"]) | ({"judgments": judgments[0]} if judgments else {})
    imported = table(source, **options, name=asked["name"])
    return _written(work, asked, imported.board, imported.notes)


def _text(work: Path, asked: Mapping[str, Any]) -> Sequence[str]:
    from billboards.importers.text import text

    options: dict[str, Any] = dict(asked["options"])
    for part in ("output", "reference"):
        options[part] = tuple(f"{_called(path)}={path}" for path in _files(work, part))
    for part in ("judgments", "documents", "ids"):
        if given := _files(work, part):
            options[part] = given[0]
    source = next(iter(_files(work, "source")), None)
    imported = text(source, **options, name=asked["name"])
    return _written(work, asked, imported.board, imported.notes)


def _called(path: Path) -> str:
    """The name of a system or reference: its file's, without the ending."""
    return path.name.removesuffix(".gz").removesuffix(".txt")


def _folder(work: Path, asked: Mapping[str, Any]) -> Sequence[str]:
    from billboards.board.folder import open_board
    from billboards.board.settings import FILE
    from billboards.board.writing import PARTS
    from billboards.site.submissions.archives import unpack_folder

    (archive,) = _files(work, "file")
    unpacked = work / "unpacked"
    unpack_folder(archive.read_bytes(), unpacked, name=archive.name, most=int(asked["most"]))
    if not (unpacked / FILE).is_file():
        raise InvalidInput(f"{archive.name}: holds no {FILE}; pack the board's folder itself")
    others = sorted(path.name for path in unpacked.iterdir() if path.name not in PARTS)
    for name in others:
        # Kept scores and rankings are the site's to make.
        shutil.rmtree(unpacked / name) if (unpacked / name).is_dir() else (unpacked / name).unlink()
    board = open_board(unpacked)
    if board.name != asked["name"]:
        raise InvalidInput(
            f"the board in {archive.name} is called {board.name}; give that name, or change it in {FILE}"
        )
    unpacked.rename(work / BOARD)
    return [f"left out: {', '.join(others[:20])}; a site computes scores and rankings itself"] if others else []


def _check(work: Path, asked: Mapping[str, Any]) -> Sequence[str]:
    """Only look at a board that is there."""
    (work / BOARD).symlink_to(Path(asked["folder"]))
    return ()


def _files(work: Path, part: str) -> list[Path]:
    """The files that were sent for one part of a form."""
    folder = work / SENT / part
    return sorted(folder.iterdir()) if folder.is_dir() else []


_MAKERS = {
    "demo": _demo,
    "catalogue": _catalogue,
    "table": _table,
    "text": _text,
    "folder": _folder,
    "check": _check,
}


def save_sent(work: Path, files: Mapping[str, Sequence[tuple[str, bytes]]]) -> None:
    """Lay down what was sent, each file under its own name without any folder."""
    for part, given in files.items():
        for name, content in given:
            plain = Path(name.replace("\\", "/")).name.replace("=", "-").strip(". ")[:150] or part
            path = work / SENT / part / plain
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.exists():
                raise InvalidInput(f"two files are called {plain}; give one of them another name")
            try:
                path.write_bytes(content)
            except OSError as error:
                raise StoreFailed(f"{plain}: can't be kept: {error.strerror or error}") from error


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
