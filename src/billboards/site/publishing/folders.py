"""The folder that a site is published to: never somebody else's, and changed only where something changed.

Files are written beside the folder first and moved into it one by one, so that a stopped run leaves what was there. A
list of the files that are ours lies in it: what is no longer part of the site goes, and whatever else lies there (a
CNAME, a README, .git) stays as it is. Files that are the same are not touched, so that git shows what changed.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from billboards.errors import InvalidInput, StoreFailed
from billboards.reading import json_value

#: The list of published files, in the folder itself.
LIST = ".billboards-published.json"
KIND = "billboards-published"


@dataclass(frozen=True, kw_only=True)
class Changes:
    """What became of a folder's files."""

    new: int
    changed: int
    same: int
    gone: int


def check_target(target: Path) -> None:
    """Refuse a folder that holds something else than a published site."""
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        raise InvalidInput(f"{target}: is no folder; name another with -o")
    if not target.exists() or (target / LIST).exists():
        _read_list(target)
        return
    strange = sorted(path.name for path in target.iterdir() if not path.name.startswith("."))
    if strange:
        raise InvalidInput(
            f"{target}: holds {strange[0]!r} and was not written by `billboards publish`; "
            "name an empty or a new folder with -o"
        )


def publish_into(target: Path, write: Callable[[Path], None]) -> Changes:
    """Have a site written beside a folder, then put it there."""
    check_target(target)
    target = target.absolute()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent))
    except OSError as error:
        raise StoreFailed(f"{target.parent}: can't be written to: {error.strerror or error}") from error
    try:
        write(work)
        return _settle(work, target)
    except OSError as error:
        why = error.strerror or error
        raise StoreFailed(f"{target}: can't be written: {why}; make room, then try again") from error
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _settle(work: Path, target: Path) -> Changes:
    """Move what is new or changed into the folder, and delete what was ours and is no more."""
    files = {path.relative_to(work).as_posix(): path for path in sorted(work.rglob("*")) if path.is_file()}
    digests = {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in files.items()}
    before = _read_list(target)
    target.mkdir(exist_ok=True)
    new = changed = same = gone = 0
    for name, path in files.items():
        place = target / name
        exists = place.is_file()
        if exists and hashlib.sha256(place.read_bytes()).hexdigest() == digests[name]:
            same += 1
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        path.chmod(0o644)
        path.replace(place)
        new, changed = new + (not exists), changed + exists
    for name in sorted(set(before) - set(files)):
        place = target / name
        if place.is_file():
            place.unlink()
            gone += 1
            _drop_empty(place.parent, target)
    document = {"kind": KIND, "schema": 1, "files": digests}
    listing = work / LIST
    listing.write_text(json.dumps(document, indent=0, sort_keys=True) + "\n", "utf-8")
    listing.replace(target / LIST)
    return Changes(new=new, changed=changed, same=same, gone=gone)


def _drop_empty(folder: Path, root: Path) -> None:
    while folder != root and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent


def _read_list(target: Path) -> list[str]:
    """The files that were published before."""
    path = target / LIST
    if not path.exists():
        return []
    try:
        document = json_value(path.read_text("utf-8"))
        names = list(document["files"]) if document.get("kind") == KIND else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidInput(f"{path}: can't be read: {error}; delete it with the pages beside it") from error
    # A list that names files elsewhere is not ours.
    if names is None or any(Path(name).is_absolute() or ".." in Path(name).parts for name in names):
        raise InvalidInput(f"{path}: is no list of published files; name another folder with -o")
    return names
