"""The catalogue: entries read and spoilt, boards fetched from a server and from mirrors, archives, and what is told."""

from __future__ import annotations

import gzip
import io
import re
import tarfile
import tomllib
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import tomli_w
from approving import approve
from catalogue_entries import TABLE, sha256, toml, url_source
from file_server import FileServer, cut, status
from plain_boards import files_below, told
from spoilt_files import AWAY, places

from billboards.catalogue import Place, Telling, check_entry, get_board, import_command, read_catalogue, read_entries
from billboards.catalogue._download import Downloader
from billboards.catalogue._entry import Entry, File, Template
from billboards.catalogue._paths import fixed_folder, is_pattern, is_safe, matches
from billboards.catalogue._terminal import offer, size_text
from billboards.catalogue._unpack import unpack
from billboards.errors import BillboardsError

COMMIT = "0123456789" * 4
FILES = {"data/ratings.csv": TABLE, "data/more.txt": b"more\n"}


def refused(ask: Callable[[], Any]) -> Any:
    try:
        return ask()
    except BillboardsError as error:
        return told(error)


@dataclass
class Heard:
    """Somebody who is told of downloads, and agrees or not."""

    agrees: bool = True
    words: list[str] = field(default_factory=list)

    def telling(self, cache: Path) -> Telling:
        def progress(label: str, done: int, total: int | None) -> None:
            if done == total:
                self.words.append(f"{label}: all of it")

        def agree(entry: Entry, size: int | None, hosts: Any) -> bool:
            self.words.extend(offer(entry, size, list(hosts), cache))
            return self.agrees

        return Telling(note=self.words.append, progress=progress, agree=agree)


@pytest.fixture(autouse=True)
def unwatched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BILLBOARDS_OFFLINE", raising=False)
    monkeypatch.setattr("billboards.catalogue._download.PAUSES", (0.0, 0.0))
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


def written(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def repository(folder: Path, **changed: str) -> Path:
    listed = "".join(f"{len(data)}\t{sha256(data)}\t{path}\n" for path, data in FILES.items())
    lines = {
        "repository": '"some/body"',
        "commit": f'"{COMMIT}"',
        "licence": '"CC0-1.0"',
        "files": '["data/*"]',
        "digests": '"list.tsv"',
        **changed,
    }
    source = "[[sources]]\n" + "".join(f"{key} = {value}\n" for key, value in lines.items())
    written(folder / "list.tsv", listed)
    return written(folder / "entry.toml", toml("two", source, source='"body/data/ratings.csv"'))


def entry_words(entry: Entry | Template) -> Any:
    if isinstance(entry, Template):
        return {"name": entry.name, "patterns": dict(entry.patterns), "example": entry_words(entry.example)}
    return {
        **entry.model_dump(),
        "size": entry.size,
        "verified": entry.is_verified,
        "addresses": [
            source.archive_url if source.comes_as_archive else [source.file_url(file) for file in source.files]
            for source in entry.sources
        ],
        "places": [[source.label, source.place] for source in entry.sources],
        "command": import_command(entry),
    }


TEMPLATE = """\
name = "my-{set}-{pair}"
title = "Set {set}"
task = "translation"
languages = ["en"]
licence = "CC0-1.0"
citation = "Nobody (2024): {set}"
importer = "mtme"
source = "x/{set}"
options = { language-pair = "{pair}" }

[patterns]
set = "wmt[0-9]+"
pair = "[a-z]{2}-[a-z]{2}"

[[sources]]
url = "https://example.org/{set}.tgz"
archive = true
folder = "x"
licence = "CC0-1.0"
files = ["{set}/sources/{pair}.txt", "{set}/**/{pair}.*"]
"""
EXPANDED = """\
name = "own-{pair}"
title = "{words}"
task = "translation"
languages = ["en"]
licence = "CC0-1.0"
citation = "Nobody (2024): x"
importer = "mtme"
remark = "Large."
facts = { annotators = "People" }

[[sources]]
url = "https://example.org/{pair}.txt"
licence = "CC0-1.0"
files = [{ path = "{pair}.txt", size = 3, sha256 = "SHA" }]

[parameters.pair.en-de]
words = "English to German"
judged = 12

[parameters.pair.zh-en]
words = "Chinese to English"
languages = ["zh", "en"]
""".replace("SHA", "ab" * 32)
WRONG: tuple[Any, ...] = ("", -1, True, [], ["x", "x"], "../x", "http://u:p@h/x")


def test_entries_are_read_and_refused_as_approved(tmp_path: Path) -> None:
    files = {
        "repository": repository(tmp_path / "repository"),
        "template": written(tmp_path / "template.toml", TEMPLATE),
        "expanded": written(tmp_path / "expanded.toml", EXPANDED),
        "address": written(tmp_path / "address.toml", toml("url", url_source("https://example.org/r.csv", TABLE))),
    }
    words: dict[str, Any] = {name: [entry_words(entry) for entry in read_entries(path)] for name, path in files.items()}
    for name, path in files.items():
        document = tomllib.loads(path.read_text("utf-8"))
        answers: dict[str, list[str]] = {}
        for place, change in places(document):
            for value in (*WRONG, AWAY):
                spoilt = path.with_name("spoilt.toml")
                spoilt.write_text(tomli_w.dumps(change(value)), "utf-8")
                said = refused(partial(names_read, spoilt))
                answers.setdefault(str(said), []).append(f"{place} is {'away' if value is AWAY else value}")
        words[f"spoilt {name}"] = answers
    (template,) = read_entries(files["template"])
    assert isinstance(template, Template)
    named = ("my-wmt23-en-de", "my-wmt-en-de", "my-wmt23-EN-de", "My-wmt23-en-de", "my-wmt23-en-de-x")
    words["of the template"] = [getattr(template.entry(name), "title", None) for name in named]
    odd = {"none": "no", "TOML": "x", "a list": "sources = 1\n"}
    words["odd"] = [refused(partial(names_read, written(tmp_path / "odd.toml", text))) for text in odd.values()]
    words["absent"] = refused(partial(names_read, tmp_path / "absent.toml"))
    catalogue = read_catalogue([files["template"], files["expanded"]])
    asked = ("own-en-de", "OWN-EN-DE", "own-en-dx", "realsum", "my-wmt9-zh-en", "REALSUMM")
    words["asked"] = [refused(lambda name=name: catalogue.entry(name).name) for name in asked]  # type: ignore[misc]
    words["first"] = [entry.name for entry in catalogue][:5]
    words["folders"] = [
        refused(lambda: len(list(read_catalogue([tmp_path / "repository"]))) > 5),
        refused(lambda: read_catalogue([written(tmp_path / "bare" / "x", "").parent])),
    ]
    options = (
        "{ none = 1 }",
        '{ instance = "item", judgment = "../x" }',
        '{ judgments = "../x" }',
        '{ range = ["q=1"] }',
    )
    words["options"] = [refused(partial(checked, tmp_path, text)) for text in options]
    words["importer"] = refused(partial(checked, tmp_path, "{}", importer='"none"'))
    approve("catalogue-entries", words, folder=tmp_path)


def names_read(path: Path) -> list[str]:
    return [entry.name for entry in read_entries(path)]


def checked(folder: Path, options: str, **changed: str) -> str:
    source = url_source("https://example.org/r.csv", TABLE)
    (entry,) = read_entries(written(folder / "checked.toml", toml("url", source, options=options, **changed)))
    assert isinstance(entry, Entry)
    return check_entry(entry).name


def archive(kind: str, members: Mapping[str, bytes]) -> bytes:
    raw = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(raw, "w") as opened:
            for name, data in members.items():
                opened.writestr(name, data)
    else:
        with tarfile.open(fileobj=raw, mode=f"w:{kind}") as opened_tar:  # type: ignore[call-overload]
            for name, data in members.items():
                info = tarfile.TarInfo(name)
                info.size = len(data)
                opened_tar.addfile(info, io.BytesIO(data))
    return raw.getvalue()


def fetched(path: Path, place: Place, heard: Heard) -> Any:
    """What becomes of an entry: the board's notes, or what is refused, and all that was told."""
    (entry,) = read_entries(path)
    assert isinstance(entry, Entry)
    said = refused(lambda: get_board(entry, place, heard.telling(place.cache)))
    words = said if isinstance(said, str) else [repr(said.board), said.board.card.source, *said.notes]
    return {"said": words, "told": heard.words}


def test_boards_are_fetched_as_approved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words: dict[str, Any] = {}
    with FileServer() as server:
        server.files["/ratings.csv"] = TABLE
        url = f"{server.url}/ratings.csv"
        sources = {
            "right": url_source(url, TABLE),
            "unverified": url_source(url, None),
            "of another digest": url_source(url, TABLE, sha256=f'"{"0" * 63}1"'),
            "larger": url_source(url, TABLE, size="1"),
            "smaller": url_source(url, TABLE, size="5000"),
            "missing": url_source(f"{server.url}/none.csv", TABLE),
            "bounded": url_source(url, None, at_most="10"),
        }
        packed = archive("gz", {f"top-{COMMIT}/ratings.csv": TABLE, "top/other.txt": b"x"})
        server.files["/packed.tgz"] = packed
        server.files["/broken.tgz"] = packed[: len(packed) // 2]
        server.files["/other.tgz"] = archive("gz", {"top/other.txt": b"x"})
        for name in ("packed", "broken", "other"):
            lines = {"archive": "true", "files": f'[{{ path = "ratings.csv", sha256 = "{sha256(TABLE)}" }}]'}
            sources[f"archive {name}"] = url_source(f"{server.url}/{name}.tgz", None, **lines)
        sources["archive of patterns"] = url_source(f"{server.url}/packed.tgz", None, archive="true", files='["*.csv"]')
        for name, source in sources.items():
            place = Place(cache=tmp_path / f"cache {name}")
            path = written(tmp_path / f"{name}.toml", toml("two", source))
            words[name] = [fetched(path, place, Heard()), fetched(path, place, Heard())]
        path = written(tmp_path / "right.toml", toml("two", sources["right"], remark='"Mind."', facts='{ task = "T" }'))
        words["not agreed"] = fetched(path, Place(cache=tmp_path / "other"), Heard(agrees=False))
        monkeypatch.setenv("BILLBOARDS_OFFLINE", "1")
        words["offline"] = fetched(path, Place(cache=tmp_path / "other"), Heard())
        monkeypatch.delenv("BILLBOARDS_OFFLINE")
        for trick in (
            cut(20),
            status(503),
            status(404),
            status(429, Retry_After="500"),
            status(302, Location="ftp://x/y"),
        ):
            server.tricks["/ratings.csv"].append(trick)
            words.setdefault("tricks", []).append(downloaded(url, tmp_path / "tricked", len(words.get("tricks", []))))
        wrong = toml("two", sources["right"], options='{ instance = "none" }')
        words["no board"] = fetched(
            written(tmp_path / "wrong.toml", wrong), Place(cache=tmp_path / "cache right"), Heard()
        )
        port = server.url.rpartition(":")[2]
    approve("catalogue-fetched", normal(words, port, tmp_path), folder=tmp_path)


def downloaded(url: str, folder: Path, number: int) -> Any:
    """A file that a server has trouble with."""
    waits: list[float] = []
    downloader = Downloader(partial=folder / "partial", sleep=waits.append, pauses=(0.5, 1.0))
    said = refused(lambda: downloader.fetch(url, folder / str(number), label="it", at_most=10_000))
    return [said if isinstance(said, str) else said[0], waits]


def normal(value: Any, port: str, folder: Path) -> Any:
    """Words without this run's port and folders of its own."""
    if isinstance(value, dict):
        return {key: normal(part, port, folder) for key, part in value.items()}
    if isinstance(value, list):
        return [normal(part, port, folder) for part in value]
    if not isinstance(value, str):
        return value
    return re.sub(r"\[Errno \d+\] ", "", value.replace(f":{port}", ":PORT"))


def test_boards_come_from_mirrors_as_approved(tmp_path: Path) -> None:
    path = repository(tmp_path / "entry")
    mirrors: dict[str, Callable[[Path], object]] = {
        "a clone": lambda root: clone(root / "body"),
        "a clone by owner": lambda root: clone(root / "some" / "body"),
        "a clone of a branch": lambda root: clone(root / "body-main"),
        "itself": clone,
        "an archive": lambda root: written(
            root / "body.tar.gz", archive("gz", {f"b/{k}": v for k, v in FILES.items()})
        ),
        "a zip": lambda root: written(root / f"body-{COMMIT}.zip", archive("zip", FILES)),
        "a broken archive": lambda root: written(root / "body.tar.gz", archive("gz", FILES)[:90]),
        "gzipped": lambda root: clone(root / "body", {f"{k}.gz": gzip.compress(v, mtime=0) for k, v in FILES.items()}),
        "badly gzipped": lambda root: clone(root / "body", {**FILES, "data/more.txt.gz": b"x"}, "data/more.txt"),
        "elsewhere": lambda root: clone(root / "deep" / "down", {"x": TABLE, "y": b"more\n"}),
        "one lacks": lambda root: clone(root / "body", FILES, "data/more.txt"),
        "one differs": lambda root: clone(root / "body", {**FILES, "data/more.txt": b"less!"}),
        "both differ": lambda root: clone(root / "body", {"data/ratings.csv": TABLE + b"\n", "data/more.txt": b"x"}),
        "other line ends": lambda root: clone(root / "body", {**FILES, "data/more.txt": b"more\r\n"}),
        "a pointer": lambda root: clone(root / "body", {**FILES, "data/more.txt": b"version https://git-lfs.x"}),
        "others' files": lambda root: clone(root / "body", {"other.txt": b"x"}),
        "nothing": lambda root: root.mkdir(),
    }
    words: dict[str, Any] = {}
    for name, make in mirrors.items():
        root = tmp_path / name.replace(" ", "-")
        make(root)
        words[name] = [
            fetched(path, Place(cache=tmp_path / "cache", mirror=str(root), unverified=unverified), Heard())
            for unverified in (False, True)
        ]
    words["no such folder"] = fetched(path, Place(cache=tmp_path / "cache", mirror=str(tmp_path / "none")), Heard())
    approve("catalogue-mirrors", normal(words, "none", tmp_path), folder=tmp_path)


def clone(folder: Path, files: Mapping[str, bytes] = FILES, without: str = "") -> None:
    for name, data in files.items():
        if name != without:
            written(folder / name, data)


WANTED = {"a.txt": File(path="a.txt"), "sub/b.txt": File(path="sub/b.txt", size=3)}


def test_archives_and_paths_are_as_approved(tmp_path: Path) -> None:
    members: dict[str, Mapping[str, bytes]] = {
        "plain": {"a.txt": b"A" * 70, "other.txt": b"?" * 1000, "sub/b.txt": b"bbb"},
        "below a folder": {"top/a.txt": b"A", "top/sub/b.txt": b"bbb"},
        "with a dot": {"./a.txt": b"A"},
        "too large": {"a.txt": b"A" * 101},
        "just large enough": {"a.txt": b"A" * 100},
        "of another size": {"sub/b.txt": b"bbbb"},
        "twice": {"a.txt": b"A", "top/a.txt": b"B"},
        "leading out": {"../a.txt": b"A", "/a.txt": b"A", "x/../a.txt": b"A"},
        "nothing": {},
    }
    words: dict[str, Any] = {}
    for kind in ("gz", "zip", "bz2", "xz", ""):
        for name, files in members.items():
            packed = written(tmp_path / f"packed {name}", archive(kind, files))
            out = tmp_path / f"out {kind} {name}"
            said = refused(lambda packed=packed, out=out: sorted(unpack(packed, WANTED.get, out, at_most=100)))  # type: ignore[misc]
            kept = sorted(files_below(out)) if out.is_dir() else []
            words.setdefault(name, {}).setdefault(str([said, kept]), []).append(kind or "tar")
    whole = archive("gz", members["plain"])
    for name, raw in {"cut": whole[:60], "no archive": b"hello", "empty": b""}.items():
        packed = written(tmp_path / name, raw)
        said = refused(lambda packed=packed: unpack(packed, WANTED.get, tmp_path / "out", at_most=100))  # type: ignore[misc]
        words[name] = said.partition(" archive")[0] if isinstance(said, str) else sorted(said)
    linked = io.BytesIO()
    with tarfile.open(fileobj=linked, mode="w") as opened:
        info = tarfile.TarInfo("a.txt")
        info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
        opened.addfile(info)
    packed = written(tmp_path / "linked", linked.getvalue())
    words["a link"] = refused(lambda: unpack(packed, WANTED.get, tmp_path / "out", at_most=100))
    paths = (
        "a",
        "a/b",
        "",
        "/a",
        "a//b",
        "a/../b",
        "./a",
        "..",
        "C:x",
        "a\\b",
        "a\nb",
        "x" * 255,
        "x" * 256,
        "é" * 127,
    )
    patterns = ("*", "**", "a/*", "a/**", "*.txt", "a/**/c.txt", "a.txt", "a/b?")
    several = ("a", "a/b", "a/b/c.txt", "a.txt", "a/c.txt", "axtxt")
    words["paths"] = {f"{path[:20]} {len(path)}": is_safe(path) for path in paths}
    words["patterns"] = {
        pattern: [is_pattern(pattern), fixed_folder(pattern), [path for path in several if matches(path, pattern)]]
        for pattern in patterns
    }
    words["sizes"] = [size_text(size) for size in (None, 0, 49_999, 50_000, 123_456_789, 5 * 10**12)]
    approve("catalogue-archives", words, folder=tmp_path)
