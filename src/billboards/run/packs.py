"""Packs: metrics of one's own that need an environment of their own, built once and then used by name.

A pack is a folder like any submitted metric's. Building it installs what it requires and writes down the folder's
digest, so that what runs later is what was built; a folder that has changed since is refused until it is built again.
Whoever builds a pack decides whether it is trusted, and that holds for this content only.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from billboards.errors import InvalidInput, MissingPart, StoreFailed, UnknownName
from billboards.reading import json_value
from billboards.run.environments import Environment, build_environment, find_environment, parse_requirements
from billboards.run.manifest import Manifest, read_manifest
from billboards.run.program import ProgramMetric, folder_digest, open_program

#: The variable that names the folder in which packs are kept.
VARIABLE = "BILLBOARDS_PACKS"
ENVIRONMENTS = "environments"


@dataclass(frozen=True, kw_only=True, slots=True)
class Pack:
    """A pack as it was built: its name, its folder and what lay there, and whether it is trusted."""

    name: str
    folder: Path
    digest: str
    wheels: Path | None = None
    trusted: bool = False
    cpu_index: str | None = None


@dataclass(frozen=True, slots=True)
class Built:
    """What building gave: the pack, its environment if it requires any, and the folder whose pack it replaces."""

    pack: Pack
    environment: Environment | None
    replaced: Path | None


def packs_home(named: Path | None = None) -> Path:
    """The folder of packs: the one named, else that of BILLBOARDS_PACKS, else one among the user's data."""
    if named is not None or os.environ.get(VARIABLE):
        return Path(named or os.environ[VARIABLE])
    data = os.environ.get("XDG_DATA_HOME")
    return (Path(data) if data else Path.home() / ".local" / "share") / "billboards" / "packs"


def build_pack(
    folder: Path,
    *,
    home: Path | None = None,
    wheels: Path | None = None,
    cpu_index: str | None = None,
    trusted: bool = False,
) -> Built:
    """Install what a pack requires and remember the pack; what is installed already is found again."""
    manifest, kept = _manifest(folder), packs_home(home)
    # Refused here rather than at the first score: a folder that its own user could not read.
    name = open_program(folder, manifest=manifest).name
    environment = build_environment(manifest.requirements, kept / ENVIRONMENTS, wheels=wheels, cpu_index=cpu_index)
    before = _remembered(kept / f"{name}.json")
    pack = Pack(
        name=name,
        folder=folder.resolve(),
        digest=folder_digest(folder),
        wheels=wheels and wheels.resolve(),
        trusted=trusted,
        cpu_index=cpu_index,
    )
    _remember(pack, kept)
    return Built(pack, environment, None if before is None or before.folder == pack.folder else before.folder)


def open_pack(where: str, *, home: Path | None = None) -> ProgramMetric:
    """The metric in a pack that was built, by its name or its folder."""
    kept = packs_home(home)
    folder = Path(where)
    if folder.is_dir():
        pack = _remembered(kept / f"{_manifest(folder).card.name}.json")
        if pack is None:
            raise MissingPart(f"the pack in {where} is not built; `billboards pack build {where}` builds it")
        return _opened(pack, folder, kept)
    built = {pack.name: pack for pack in built_packs(home=home)}
    if where not in built:
        raise UnknownName("pack", where, built)
    return _opened(built[where], built[where].folder, kept)


def built_packs(*, home: Path | None = None) -> list[Pack]:
    """Every pack that was built, by name."""
    return sorted(_all(packs_home(home)), key=lambda pack: pack.name)


def pack_state(pack: Pack, *, home: Path | None = None) -> str:
    """`ready`, or what keeps a pack from being used."""
    try:
        _opened(pack, pack.folder, packs_home(home))
    except (InvalidInput, MissingPart, StoreFailed) as error:
        return str(error)
    return "ready"


def _opened(pack: Pack, folder: Path, home: Path) -> ProgramMetric:
    """A pack's metric, from a folder that holds what was built."""
    manifest, again = _manifest(folder), f"`billboards pack build {folder}` builds it"
    environment = find_environment(
        manifest.requirements, home / ENVIRONMENTS, wheels=pack.wheels, cpu_index=pack.cpu_index
    )
    program = open_program(folder, manifest=manifest, environment=environment, trusted=pack.trusted)
    # Asked here and now: the signature will name this digest, whatever happens to the folder later.
    if program.digest != pack.digest:
        raise MissingPart(f"the pack in {folder} is not what was built as {pack.name}; {again} again")
    if environment is None and parse_requirements(manifest.requirements):
        raise MissingPart(f"the environment of {pack.name} is not in {home}, or is another Python's; {again}")
    return program


def _manifest(folder: Path) -> Manifest:
    # Unlike Path.is_dir, this says no to what can be no name at all.
    if not os.path.isdir(folder):  # noqa: PTH112
        raise InvalidInput(f"{folder} is no folder; a pack is a folder with metric.toml and run.sh or metric.py")
    return read_manifest(folder)


def _all(home: Path) -> Iterator[Pack]:
    for path in home.glob("*.json"):
        pack = _remembered(path)
        if pack is not None:
            yield pack


def _remember(pack: Pack, home: Path) -> None:
    """Write a pack down, whole or not at all."""
    record = {
        "name": pack.name,
        "folder": str(pack.folder),
        "digest": pack.digest,
        "wheels": None if pack.wheels is None else str(pack.wheels),
        "trusted": pack.trusted,
        "cpu_index": pack.cpu_index,
    }
    try:
        home.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=home, suffix=".part", delete=False) as file:
            json.dump(record, file, indent=1, ensure_ascii=False)
        Path(file.name).replace(home / f"{pack.name}.json")
    except OSError as error:
        raise StoreFailed(f"{home}: the pack can't be kept there: {error.strerror or error}") from error


def _remembered(path: Path) -> Pack | None:
    try:
        record = json_value(path.read_text("utf-8"))
        wheels = None if record["wheels"] is None else Path(record["wheels"])
        index = record.get("cpu_index")
        return Pack(
            name=str(record["name"]),
            folder=Path(record["folder"]),
            digest=str(record["digest"]),
            wheels=wheels,
            trusted=record["trusted"] is True,
            cpu_index=None if index is None else str(index),
        )
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreFailed(f"{path}: unreadable ({error}); delete it and build the pack again") from error
