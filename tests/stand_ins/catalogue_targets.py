"""What the catalogue reads: entries and lists of digests, archives, gzipped files of a mirror, and what it keeps."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from catalogue_entries import TABLE, sha256, toml
from target import Target, in_place

from billboards.catalogue._catalogue import read_catalogue
from billboards.catalogue._entry import Entry, File, read_entries
from billboards.catalogue._fetch import _keep_list, _list_file, _unpacked_before
from billboards.catalogue._mirror import from_mirror
from billboards.catalogue._unpack import Unpacked, unpack

LISTED = """
[[sources]]
repository = "somebody/ratings"
commit = "0123456789012345678901234567890123456789"
licence = "CC0-1.0"
files = ["*.csv"]
"""


def catalogue(home: Path) -> Iterator[Target]:
    """Every file that comes from outside, or lies in a cache that others may write to."""
    folder = home / "catalogue"
    folder.mkdir()
    entry = folder / "entry.toml"
    entry.write_text(toml("ratings", LISTED + 'digests = "digests.tsv"\n'), "utf-8")
    digests = folder / "digests.tsv"
    digests.write_text(f"{len(TABLE)}\t{sha256(TABLE)}\tratings.csv\n", "utf-8")
    yield in_place("catalogue entry", entry, partial(read_catalogue, [entry]))
    yield in_place("catalogue digests", digests, partial(read_entries, entry))
    for ending, raw in (("tar.gz", _tar()), ("zip", _zip())):
        archive = folder / f"ratings.{ending}"
        archive.write_bytes(raw)
        yield in_place(f"catalogue archive {ending}", archive, _unpacking(archive, folder / f"from-{ending}"))
    (single,) = read_entries(entry)
    assert isinstance(single, Entry)
    packed = folder / "mirror" / "ratings" / "ratings.csv.gz"
    packed.parent.mkdir(parents=True)
    packed.write_bytes(gzip.compress(TABLE, mtime=0))
    reading = partial(from_mirror, single.sources[0], packed.parents[1], folder / "scratch")
    yield in_place("catalogue mirror", packed, reading)
    yield from _kept(folder / "kept", single)


def _kept(folder: Path, entry: Entry) -> Iterator[Target]:
    """The list of what was unpacked before."""
    source = entry.sources[0].model_copy(update={"files": ()})
    folder.mkdir()
    (folder / "ratings.csv").write_bytes(TABLE)
    file = File(path="ratings.csv")
    unpacked = Unpacked(file=file, place=folder / "ratings.csv", size=len(TABLE), sha256=sha256(TABLE))
    _keep_list(source, folder, {"ratings.csv": unpacked})
    listed = _list_file(source, folder)
    yield in_place("catalogue list", listed, partial(_unpacked_before, source, folder))


def _unpacking(archive: Path, into: Path) -> Callable[[], object]:
    wanted = {"ratings.csv": File(path="ratings.csv", size=len(TABLE), sha256=sha256(TABLE))}
    return lambda: unpack(archive, wanted.get, into, at_most=10**6)


def _tar() -> bytes:
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w:gz") as archive:
        member = tarfile.TarInfo("ratings-0123/ratings.csv")
        member.size = len(TABLE)
        archive.addfile(member, io.BytesIO(TABLE))
    return raw.getvalue()


def _zip() -> bytes:
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w") as archive:
        archive.writestr("ratings-0123/ratings.csv", TABLE)
    return raw.getvalue()
