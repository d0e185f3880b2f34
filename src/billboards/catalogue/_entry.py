"""One entry of the catalogue: a small TOML file that says what a public board is and where its files lie.

    name = "realsumm"
    title = "REALSumm: summaries of news"
    task = "summarisation"
    languages = ["en"]
    judged = 2500
    licence = "CC-BY-4.0"
    citation = "Bhandari et al. (2020): Re-evaluating Evaluation in Text Summarization"
    importer = "realsumm"
    source = "REALSumm"

    [[sources]]
    repository = "neulab/REALSumm"
    commit = "a5900e3e36c66ab064823831f7496c2d449a5545"
    licence = "CC-BY-4.0"
    files = ["scores_dicts/abs.pkl", "scores_dicts/ext.pkl"]
    digests = "../digests/neulab--REALSumm.tsv"

The importer sees a folder in which each source stands under its repository's name, as if it were cloned there; `source`
and options that are paths are meant from this folder. A file without a known SHA-256 is *unverified*. An entry with
`parameters` or `patterns` stands for several boards: `{pair}` in its texts is the value of the parameter.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote, urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from billboards.catalogue._paths import is_pattern, is_safe, matches
from billboards.errors import InvalidInput
from billboards.reading import toml_document

#: The largest file that is taken where an entry does not say how large it is.
AT_MOST = 4 * 1024**3
#: More files than this are fetched as one archive.
SINGLY = 120
_PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


def _safe(path: str) -> str:
    if not is_safe(path):
        raise ValueError(f"{path!r} must be a relative path with slashes, without '..'")
    return path


def _address(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("https", "http") or not parts.hostname or parts.username or parts.password:
        raise ValueError(f"{url!r} must be an https address without a user")
    return url


def _place(path: str) -> str:
    return path if path == "." else _safe(path)


def _line(text: str) -> str:
    if not text.strip() or not text.isprintable():
        raise ValueError("must be a line of text")
    return text


Line = Annotated[str, AfterValidator(_line)]
SafePath = Annotated[str, AfterValidator(_safe)]
Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class File(_Strict):
    """A file of a source: its path there, and how to know it."""

    path: SafePath
    size: Annotated[int, Field(ge=0)] | None = None
    sha256: Sha256 | None = None

    @property
    def is_verified(self) -> bool:
        """Whether its bytes can be told from others."""
        return self.sha256 is not None


class Source(_Strict):
    """Where some files of a board come from: a repository at a commit, or an address."""

    repository: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+$")] | None = None
    commit: Annotated[str, Field(pattern="^[0-9a-f]{40}$")] | None = None
    url: Annotated[str, AfterValidator(_address)] | None = None
    #: Whether the address is that of an archive (.tar.gz, .tgz, .zip) whose files are meant.
    archive: bool = False
    licence: Line
    files: tuple[File, ...]
    #: Patterns of files whose number and digests are not known; they are taken from archives.
    patterns: tuple[SafePath, ...] = ()
    #: The folder below which the importer finds them; the repository's name unless said.
    folder: SafePath | None = None
    #: Of the file at an address.
    size: Annotated[int, Field(ge=0)] | None = None
    sha256: Sha256 | None = None
    at_most: Annotated[int, Field(gt=0)] = AT_MOST

    @property
    def label(self) -> str:
        """What the source is called in messages."""
        return self.repository or urlsplit(str(self.url)).path.rpartition("/")[2]

    @property
    def place(self) -> str:
        """The folder below which the importer finds the files; empty for the root."""
        return self.folder or (self.repository or "").partition("/")[2]

    @property
    def comes_as_archive(self) -> bool:
        """Whether one archive is fetched instead of file after file."""
        return self.archive or bool(self.patterns) or (self.repository is not None and len(self.files) > SINGLY)

    @property
    def archive_url(self) -> str:
        """The address of the archive."""
        if self.repository is None:
            return str(self.url)
        return f"https://codeload.github.com/{self.repository}/tar.gz/{self.commit}"

    def file_url(self, file: File) -> str:
        """The address of one file."""
        if self.repository is None:
            return str(self.url)
        return f"https://raw.githubusercontent.com/{self.repository}/{self.commit}/{quote(file.path)}"

    def wanted(self, path: str) -> File | None:
        """The file that this source wants under a path, if any."""
        listed = self._by_path.get(path)
        if listed is None and any(matches(path, pattern) for pattern in self.patterns):
            return File(path=path)
        return listed

    @cached_property
    def _by_path(self) -> dict[str, File]:
        return {file.path: file for file in self.files}


class Entry(_Strict):
    """A public board: what it is, where its files lie, and how they become a board."""

    name: Annotated[str, Field(pattern=r"^[a-zA-Z0-9][a-zA-Z0-9._-]*$", max_length=100)]
    title: Line
    task: Line
    languages: tuple[Line, ...]
    #: How many outputs people judged; unknown where the entry stands for sets of any size.
    judged: Annotated[int, Field(gt=0)] | None = None
    licence: Line
    citation: Line
    importer: Line
    #: The importer's folder or file, from the folder in which all sources stand.
    source: Annotated[str, AfterValidator(_place)] = "."
    options: Mapping[str, Any] = {}
    #: What the importer doesn't know for the data card.
    facts: Mapping[str, str] = {}
    #: What a user should know before, such as a part that can't be fetched.
    remark: Line | None = None
    sources: Annotated[tuple[Source, ...], Field(min_length=1)]

    @property
    def size(self) -> int | None:
        """Bytes of all files, where every size is known."""
        sizes = [size for source in self.sources for size in _sizes(source)]
        return None if None in sizes else sum(size for size in sizes if size is not None)

    @property
    def is_verified(self) -> bool:
        """Whether every file has a known digest."""
        return all(
            (source.archive and source.sha256 is not None)
            or (not source.patterns and all(file.is_verified for file in source.files))
            for source in self.sources
        )


def _sizes(source: Source) -> Iterable[int | None]:
    if source.archive:
        return [source.size]
    return [*(file.size for file in source.files), *([None] if source.patterns else [])]


@dataclass(frozen=True, kw_only=True)
class Template:
    """An entry for boards of any name of one shape, such as `mtme-{set}-{pair}`."""

    document: Mapping[str, Any]
    patterns: Mapping[str, str]
    where: Path

    @property
    def name(self) -> str:
        """The shape of its names."""
        return str(self.document["name"])

    def entry(self, name: str) -> Entry | None:
        """The entry of a name, if it has the shape."""
        parts = re.split(_PLACEHOLDER, self.name)
        shape = "".join(
            f"(?P<{part}>{self.patterns[part]})" if k % 2 else re.escape(part) for k, part in enumerate(parts)
        )
        match = re.fullmatch(shape, name)
        return None if match is None else _entry(_filled(self.document, match.groupdict(), self.where), self.where)

    @property
    def example(self) -> Entry:
        """An entry in which capitals stand for the parameters."""
        return _entry(_filled(self.document, {key: key.upper() for key in self.patterns}, self.where), self.where)


def read_entries(path: Path) -> tuple[Entry | Template, ...]:
    """The entries in a file, each checked; raises `InvalidInput` with the file and what is wrong in it."""
    try:
        document = toml_document(path.read_text("utf-8"))
    except OSError as error:
        raise InvalidInput(f"{path}: can't be read: {error.strerror or error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path}: not TOML: {error}") from error
    parameters, patterns = document.pop("parameters", None), document.pop("patterns", None)
    if patterns is not None:
        return (_template(document, patterns, path),)
    if parameters is None:
        return (_entry(_filled(document, {}, path), path),)
    return tuple(_entry(changed, path) for changed in _expanded(document, parameters, path))


def _template(document: Mapping[str, Any], patterns: Any, path: Path) -> Template:
    named = set(_PLACEHOLDER.findall(str(document.get("name", ""))))
    if (
        not isinstance(patterns, dict)
        or set(patterns) != named
        or not all(isinstance(p, str) for p in patterns.values())
    ):
        raise InvalidInput(
            f"{path}: patterns must hold a pattern for each of {', '.join(sorted(named)) or 'no'} in name"
        )
    try:
        template = Template(document=document, patterns=patterns, where=path)
        template.entry(template.name)
    except re.error as error:
        raise InvalidInput(f"{path}: patterns: {error}") from error
    return template


def _expanded(document: Mapping[str, Any], parameters: Any, path: Path) -> Iterator[dict[str, Any]]:
    """The document once for each value of its parameter; keys of an entry in a value's table replace its own."""
    if not isinstance(parameters, dict) or len(parameters) != 1:
        raise InvalidInput(f"{path}: parameters must be one table of values, such as [parameters.pair.en-de]")
    ((key, values),) = parameters.items()
    if not isinstance(values, dict) or not all(isinstance(table, dict) for table in values.values()):
        raise InvalidInput(f"{path}: parameters.{key} must hold a table for each value")
    for value, table in values.items():
        texts = {name: text for name, text in table.items() if name not in Entry.model_fields}
        own = {name: text for name, text in table.items() if name in Entry.model_fields}
        yield {**_filled(document, {key: value, **texts}, path), **own}


def _filled(value: Any, texts: Mapping[str, Any], path: Path) -> Any:
    """A document with every `{name}` in its texts replaced."""
    if isinstance(value, dict):
        return {key: _filled(part, texts, path) for key, part in value.items()}
    if isinstance(value, list):
        return [_filled(part, texts, path) for part in value]
    if not isinstance(value, str):
        return value

    def text(match: re.Match[str]) -> str:
        if not isinstance(texts.get(match[1]), str):
            raise InvalidInput(f"{path}: {match[0]} has no value; declare it under parameters or patterns")
        return str(texts[match[1]])

    return _PLACEHOLDER.sub(text, value)


def _entry(document: Mapping[str, Any], path: Path) -> Entry:
    sources = document.get("sources")
    if isinstance(sources, list) and all(isinstance(source, dict) for source in sources):
        document = {**document, "sources": [_with_files(source, path) for source in sources]}
    try:
        entry = Entry.model_validate(_tuples(document))
    except ValidationError as error:
        raise InvalidInput(f"{path}: {_mistakes(error)}") from error
    for source in entry.sources:
        mistake = _mistake(source)
        if mistake:
            raise InvalidInput(f"{path}: source {source.label}: {mistake}")
    return entry


def _mistakes(error: ValidationError) -> str:
    first, *others = error.errors()
    place = ".".join(map(str, first["loc"]))
    return f"{place}: {first['msg']}" + (f" (and {len(others)} more mistakes)" if others else "")


def _mistake(source: Source) -> str:
    """What is wrong with a source as a whole, if anything."""
    if (source.repository is None) == (source.url is None):
        return "needs either a repository with a commit or a url"
    if (source.repository is None) != (source.commit is None):
        return "a repository needs its commit, so that everybody gets the same files"
    if source.repository is not None and (source.archive or source.size or source.sha256):
        return "archive, size and sha256 belong to a url"
    if source.url is not None and not source.archive and (len(source.files) != 1 or source.patterns):
        return "a url without `archive = true` is one file; give it one path"
    if not source.files and not source.patterns:
        return "names no file"
    if len({file.path for file in source.files}) < len(source.files):
        return "names a file twice"
    loose = source.sha256 is None and not all(file.is_verified for file in source.files)
    if str(source.url).startswith("http:") and loose and urlsplit(str(source.url)).hostname not in _LOOPBACK:
        return "an http address needs the sha256 of its files; use https"
    return ""


def _with_files(source: dict[str, Any], path: Path) -> dict[str, Any]:
    """A source whose files are written out: paths and patterns are looked up in its list of digests."""
    source = dict(source)
    digests, listed = source.pop("digests", None), source.pop("files", [])
    rows = {} if digests is None else _read_digests(path.parent / str(digests))
    files, patterns = list[Any](), list[Any]()
    for item in listed if isinstance(listed, list) else [listed]:
        if isinstance(item, str) and is_pattern(item):
            matching = [row for row in rows.values() if matches(row["path"], item)]
            files.extend(matching)
            patterns.extend([] if matching else [item])
        elif isinstance(item, str):
            files.append(rows.get(item, {"path": item}))
        else:
            files.append(item)
    if "url" in source and not source.get("archive") and len(files) == 1 and isinstance(files[0], dict):
        own = {key: source.pop(key) for key in ("size", "sha256") if key in source}
        files = [{**files[0], **own}]
    return {**source, "files": files, **({"patterns": patterns} if patterns else {})}


def _read_digests(path: Path) -> dict[str, dict[str, Any]]:
    """Files by path from lines of size, SHA-256 and path; what is not known is a dash."""
    rows = dict[str, dict[str, Any]]()
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path}: can't be read: {error}") from error
    for number, line in enumerate(lines, 1):
        cells = line.split("\t")
        if len(cells) != 3 or not re.fullmatch(r"\d{1,15}|-", cells[0]):
            raise InvalidInput(f"{path}:{number}: must hold size, sha256 and path with tabs between")
        size, sha256, name = cells
        rows[name] = {"path": name}
        if size != "-":
            rows[name]["size"] = int(size)
        if sha256 != "-":
            rows[name]["sha256"] = sha256
    return rows


def _tuples(value: Any) -> Any:
    """Lists of TOML as the tuples that frozen data hold."""
    if isinstance(value, dict):
        return {key: part if key == "options" else _tuples(part) for key, part in value.items()}
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
