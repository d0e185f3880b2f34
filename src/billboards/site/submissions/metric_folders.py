"""A submitted metric made into a folder that can be run.

The archive is the source; the unpacked folder and the environment can be made from it again at any time, so a killed
worker or a deleted folder costs time and nothing else. A folder appears under its name whole or not at all.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from billboards.errors import InvalidInput, Refused, StoreAway
from billboards.run.environments import Environment, build_environment, parse_requirements
from billboards.run.manifest import Manifest
from billboards.run.program import ProgramMetric, open_program
from billboards.run.sandbox import Limits
from billboards.site.site import Site
from billboards.site.submissions.archives import MOST_BYTES, folder_manifest, unpack_metric
from billboards.site.submissions.records import Submission

NO_GPU = "this site has no graphics card for programs; send it without gpu = true"


def open_submitted(
    site: Site, submission: Submission, *, cancelled: Callable[[], bool] | None = None
) -> tuple[ProgramMetric, str]:
    """A submitted metric, ready to run under its name on the board, and the log of building its environment."""
    folder = program_folder(site, submission)
    settings = submission.settings
    where = str(settings.get("file", "metric"))
    manifest = folder_manifest(folder, settings.get("manifest"), submission.name, where)
    manifest = replace(manifest, card=replace(manifest.card, name=column_name(submission)))
    environment = _environment(site, manifest, cancelled)
    seconds = site.settings.program_seconds
    limits = Limits(wall_seconds=seconds, cpu_seconds=2 * seconds, memory_bytes=site.settings.program_memory)
    trusted = bool(settings.get("trusted"))
    program = open_program(
        folder,
        manifest=manifest,
        environment=environment,
        trusted=trusted,
        limits=limits,
        devices=_devices(site, manifest),
    )
    return program, "" if environment is None else environment.log


def _devices(site: Site, manifest: Manifest) -> tuple[str, ...]:
    """The files of graphics cards that a program asks for; it is opened by workers that declared them."""
    if not manifest.gpu:
        return ()
    gpu = site.settings.workers.gpu
    if gpu is None:
        raise InvalidInput(NO_GPU)
    return gpu.devices


def most_bytes_sent(site: Site, account: str) -> int:
    """How large an archive of an account's may be: weights of vetted programs for graphics cards may be larger."""
    gpu = site.settings.workers.gpu
    vetted = gpu is not None and account in gpu.accounts
    return (
        max(site.settings.metric_bytes, gpu.metric_bytes) if gpu is not None and vetted else site.settings.metric_bytes
    )


def check_vetted(site: Site, account: str, blob: str) -> None:
    """Refuse a program for graphics cards that the owner has not vetted, by its digest or its account."""
    gpu = site.settings.workers.gpu
    if gpu is None:
        raise Refused(NO_GPU)
    if account not in gpu.accounts and blob not in gpu.programs:
        raise Refused(
            "programs for graphics cards are vetted by the site's owner first: ask for its SHA-256 under programs, or "
            f"your account under accounts, of [workers.gpu]; it is {blob}"
        )


def column_name(submission: Submission) -> str:
    """The name of a metric's column, once and for all: a metric sent in anonymously keeps its pseudonym there."""
    return str(submission.settings.get("column", submission.public_name))


def requirements_of(site: Site, submission: Submission) -> tuple[str, ...]:
    """The packages that a submitted metric asks for."""
    settings = submission.settings
    where = str(settings.get("file", "metric"))
    manifest = folder_manifest(program_folder(site, submission), settings.get("manifest"), submission.name, where)
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
            unpack_metric(site.blobs.read(submission.blob), work / "metric", **_bounds(site, submission))
            _move_into_place(work / "metric", folder)
        finally:
            shutil.rmtree(work, ignore_errors=True)
    return folder


def _bounds(site: Site, submission: Submission) -> dict[str, Any]:
    """The name that messages give an archive, and what it may unpack to."""
    return {
        "name": str(submission.settings.get("file")),
        "most": max(MOST_BYTES, most_bytes_sent(site, submission.account)),
    }


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
    index = None if manifest.gpu else site.settings.metrics.cpu_index
    home = site.data / "environments"
    return build_environment(manifest.requirements, home, wheels=wheels, cpu_index=index, cancelled=cancelled)
