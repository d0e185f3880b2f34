"""Submitted metrics as programs that can be run: unpacked, with their environment, from what was sent in.

The archive is the source; the unpacked folder and the environment can be made from it again at any time, so a killed
worker or a deleted folder costs time and nothing else. A folder appears under its name whole or not at all.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from billboards.errors import StoreAway
from billboards.run.environments import Environment, build_environment, parse_requirements
from billboards.run.manifest import Manifest, manifest_from, read_manifest
from billboards.run.program import ProgramMetric, open_program
from billboards.run.sandbox import Limits
from billboards.site.site import Site
from billboards.site.submissions.metric_folders import unpack_metric
from billboards.site.submissions.records import Submission


def open_submitted(
    site: Site, submission: Submission, *, cancelled: Callable[[], bool] | None = None
) -> tuple[ProgramMetric, str]:
    """A submitted metric, ready to run under its name on the board, and the log of building its environment."""
    folder = program_folder(site, submission)
    said = submission.settings
    where = str(said.get("file", "metric"))
    manifest = folder_manifest(folder, said.get("manifest"), submission.name, where)
    manifest = replace(manifest, card=replace(manifest.card, name=column_name(submission)))
    environment = _environment(site, manifest, cancelled)
    seconds = site.settings.program_seconds
    limits = Limits(wall_seconds=seconds, cpu_seconds=2 * seconds, memory_bytes=site.settings.program_memory)
    trusted = bool(said.get("trusted"))
    program = open_program(folder, manifest=manifest, environment=environment, trusted=trusted, limits=limits)
    return program, "" if environment is None else environment.log


def column_name(submission: Submission) -> str:
    """The name of a metric's column, once and for all: a metric sent in anonymously keeps its pseudonym there."""
    return str(submission.settings.get("column", submission.public_name))


def folder_manifest(folder: Path, manifest: Mapping[str, Any] | None, name: str | None, where: str) -> Manifest:
    """The manifest of an unpacked metric: its own `metric.toml`, else what was said beside it."""
    if (folder / "metric.toml").exists():
        return read_manifest(folder)
    values: dict[str, Any] = dict(manifest or {})
    if name is not None:
        values.setdefault("name", name)
    return manifest_from(values, folder, where=where)


def requirements_of(site: Site, submission: Submission) -> tuple[str, ...]:
    """The packages that a submitted metric asks for."""
    said = submission.settings
    where = str(said.get("file", "metric"))
    manifest = folder_manifest(program_folder(site, submission), said.get("manifest"), submission.name, where)
    return parse_requirements(manifest.requirements)


def program_folder(site: Site, submission: Submission) -> Path:
    """The unpacked folder of a metric, unpacked now where it is missing."""
    folder = site.data / "metrics" / submission.blob
    if not folder.exists():
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            work = Path(tempfile.mkdtemp(prefix=".", dir=folder.parent))
        except OSError as error:
            raise StoreAway(f"{folder}: can't be made: {error.strerror or error}; free some space") from error
        try:
            unpack_metric(site.blobs.read(submission.blob), work / "metric", name=str(submission.settings.get("file")))
            _move_into_place(work / "metric", folder)
        finally:
            shutil.rmtree(work, ignore_errors=True)
    return folder


def _move_into_place(work: Path, folder: Path) -> None:
    try:
        work.rename(folder)
    except OSError as error:
        # Another worker was faster; what it put there was made from the same archive.
        if not folder.exists():
            raise StoreAway(f"{folder}: can't be made: {error.strerror or error}; free some space") from error


def _environment(site: Site, manifest: Manifest, cancelled: Callable[[], bool] | None) -> Environment | None:
    if not manifest.requirements.strip():
        return None
    wheels = None if site.settings.wheels is None else Path(site.settings.wheels)
    return build_environment(manifest.requirements, site.data / "environments", wheels=wheels, cancelled=cancelled)
