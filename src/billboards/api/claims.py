"""Verifying what a board says: in a folder, in a download, on a site, or in a ranking that somebody quotes."""

from __future__ import annotations

import shutil
import stat
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from billboards.analyses._analysis import Result
from billboards.analyses._archive import open_home
from billboards.analyses._verify import Verification, as_result, verify_home, verify_quote
from billboards.analyses._verify_scores import PROGRAMS, Comparison
from billboards.board.cells import FILE as CELLS
from billboards.board.missing_cells import Progress
from billboards.board.settings import FILE as BOARD
from billboards.catalogue import File
from billboards.catalogue._paths import is_safe
from billboards.catalogue._unpack import ALLOWANCE, RATIO, unpack
from billboards.client import Client
from billboards.errors import DownloadFailed, InvalidInput
from billboards.reading import json_value
from billboards.run.local import executor
from billboards.signing import LARGEST, read_keys

#: The largest download of a board, and what it may unpack to.
MOST_PACKED, MOST_UNPACKED = 4 * 2**30, 16 * 2**30
#: Seconds that a site may take before it begins to answer: it packs the board first.
PATIENCE = 600.0
ZIP = "board.zip"


def verify(
    source: str | Path,
    *,
    metrics: str | Sequence[str] | None = None,
    sample: int | None = None,
    seed: int = 0,
    tolerance: float = 0.0,
    ranking: str | Path | None = None,
    key: str | Path | None = None,
    programs: bool = False,
    jobs: int = 1,
    token: str | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> Result[Verification]:
    """Compute a board's scores and ranking again, check what its site signed, and say what is equal and what differs.

    source: a board's folder, a board.zip, the address of a board on a site, or a signed ranking's JSON file.
    metrics: only the scores of these metrics (default: all).
    sample: instances of each generator to score, where a metric scores outputs one by one (default: all).
    seed: which instances those are.
    tolerance: relative differences up to this are called close and are no failure (default 0: bit for bit).
    ranking: the ranking to compute again, by id, number or digest, or a JSON file (default: the latest kept).
    key: the site's public key, as 64 hexadecimal digits or a file; it must have signed the ranking.
    programs: run submitted metrics' programs that the folder holds.
    jobs: processes to use; above 1 a script needs the usual `if __name__ == "__main__":` guard.
    token: for a site that asks for one.
    on_progress: called with every step.

    Example:

        result = bb.verify("board.zip", key="signing-key.txt")
        print(result.value.differs)
    """
    how = Comparison(
        metrics=(metrics,) if isinstance(metrics, str) else None if metrics is None else tuple(metrics),
        sample=sample,
        seed=seed,
        tolerance=tolerance,
        programs=programs,
    )
    keys = () if key is None else read_keys(str(key))
    if Path(source).suffix == ".json" and not is_address(source):
        if ranking is not None:
            raise InvalidInput(
                f"{source}: is a ranking itself; to compute it again name a board and --ranking {source}"
            )
        return as_result(verify_quote(_json_file(Path(source)), str(source), keys=keys))
    quoted = _quoted(ranking)
    with _folder(source, token, programs=programs) as folder:
        made = verify_home(open_home(folder), executor(jobs), how, ranking=quoted, keys=keys, on_progress=on_progress)
    return as_result(made)


def is_address(source: str | Path) -> bool:
    """Whether a board is named by its address on a site."""
    return str(source).startswith(("http://", "https://"))


def site_and_board(address: str) -> tuple[str, str]:
    """The site and the board that an address names, such as https://host/boards/NAME."""
    parts = urlsplit(address)
    before, separator, after = parts.path.partition("/boards/")
    name = unquote(after.partition("/")[0])
    if not parts.hostname or not separator or not name:
        raise InvalidInput(f"{address!r} is no address of a board; give one as in https://HOST/boards/NAME")
    prefix = before.removesuffix("/api/v1")
    return f"{parts.scheme}://{parts.netloc}{prefix}", name


@contextmanager
def _folder(source: str | Path, token: str | None, *, programs: bool) -> Iterator[Path]:
    """The board's folder; of an archive or an address a copy that is gone afterwards."""
    path = Path(source)
    if not is_address(source) and not path.is_file():
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="billboards-verify-") as work:
        if is_address(source):
            site, board = site_and_board(str(source))
            path = Path(work) / ZIP
            with Client(site, token, timeout=PATIENCE) as client:
                client.download(board, ZIP, path, at_most=MOST_PACKED)
        yield unpacked_board(path, Path(work) / "board", programs=programs)


def unpacked_board(archive: Path, into: Path, *, programs: bool = False) -> Path:
    """A board's folder out of an archive that anybody may have packed; of hidden files only the kept scores."""
    if not zipfile.is_zipfile(archive):
        raise InvalidInput(f"{archive}: is no zip archive, or was cut off; download the board again")
    room = shutil.disk_usage(archive.parent).free
    at_most = min(MOST_UNPACKED, RATIO * archive.stat().st_size + ALLOWANCE, room)
    into.mkdir(parents=True)
    try:
        files = unpack(archive, _wanted, into, at_most=at_most)
    except DownloadFailed as error:
        raise InvalidInput(str(error)) from error
    homes = sorted((path for path in files if Path(path).name == BOARD), key=lambda path: path.count("/"))
    if not homes:
        raise InvalidInput(f"{archive}: holds no {BOARD}; it is no board's folder")
    home = (into / homes[0]).parent
    if programs:
        _mark_executables(archive, into, home)
    return home


def _wanted(name: str) -> File | None:
    """Every plain file of a board; hidden ones may be caches, which a stranger could have filled with anything."""
    parts = Path(name).parts
    hidden = any(part.startswith(".") for part in parts)
    if not is_safe(name) or (hidden and Path(*parts[-2:]) != CELLS):
        return None
    return File(path=name)


def _mark_executables(archive: Path, into: Path, home: Path) -> None:
    """Files of programs that were executable are so again: a program's digest counts that."""
    with zipfile.ZipFile(archive) as opened:
        for info in opened.infolist():
            path = into / info.filename
            inside = path.is_file() and path.is_relative_to(home / PROGRAMS)
            if inside and info.external_attr >> 16 & stat.S_IXUSR:
                path.chmod(0o755)


def _quoted(ranking: str | Path | None) -> str | Mapping[str, Any] | None:
    """A ranking by its id, or the document in a file."""
    if ranking is None or not str(ranking).endswith(".json"):
        return None if ranking is None else str(ranking)
    document = _json_file(Path(ranking))
    if not isinstance(document, Mapping):
        raise InvalidInput(f"{ranking}: holds no ranking; give a JSON document that a site or `rank` wrote")
    return document


def _json_file(path: Path) -> Any:
    try:
        if not path.is_file() or path.stat().st_size > LARGEST:
            raise InvalidInput(f"{path}: is no file, or larger than any ranking; give a ranking's JSON file")
        return json_value(path.read_text("utf-8"))
    except OSError as error:
        raise InvalidInput(f"{path}: can't be read: {error.strerror or error}") from error
    except ValueError as error:
        raise InvalidInput(f"{path}: is no JSON, or was cut off: {error}; download it again") from error
