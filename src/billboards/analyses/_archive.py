"""What a board has said and fitted, kept for ever as small JSON files a person can read and git can keep.

An ensemble's file is named by its signature and a ranking's by a digest of its content, so keeping the same thing
twice changes nothing. Files are written whole under a temporary name and moved into place.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from billboards.analyses.audit.results import MetricAudit
from billboards.analyses.ensemble import Ensemble
from billboards.analyses.rank import Ranking
from billboards.board import Board
from billboards.board.cells import SqliteCells
from billboards.board.folder import open_board
from billboards.errors import InvalidInput, StoreFailed, UnknownName
from billboards.reading import json_value
from billboards.show.documents import document_of, result_of
from billboards.signing import PublicKey, Signed, read_signed

#: The folder of signed statements about kept rankings, and the file of a site's public keys in it.
SIGNED, KEYS = "signed", "keys.json"

Result = TypeVar("Result")


class Archive:
    """The kept ensembles and rankings of one board folder."""

    def __init__(self, home: Path) -> None:
        self.home = home

    def ensembles(self) -> tuple[Ensemble, ...]:
        """Every ensemble ever kept, in order of signature."""
        return tuple(
            _result(path, lambda kept: result_of(Ensemble, kept))
            for path in sorted((self.home / "ensembles").glob("*.json"))
        )

    def ensemble(self, signature: str) -> Ensemble:
        """The ensemble behind a signature, or behind one that a paper cites as version 0.1 wrote it."""
        ensembles = self.ensembles()
        kept = {ensemble.signature: ensemble for ensemble in ensembles}
        if signature not in kept:
            kept |= {ensemble.short_signature: ensemble for ensemble in ensembles}
        if signature not in kept:
            raise UnknownName("ensemble", signature, kept)
        return kept[signature]

    def named(self, signature: str) -> Ensemble:
        """The ensemble behind a signature, or in a JSON file somebody sent."""
        path = Path(signature)
        if path.suffix == ".json" and path.is_file():
            return _result(path, lambda kept: result_of(Ensemble, kept))
        return self.ensemble(signature)

    def versioned(self, ensemble: Ensemble) -> Ensemble:
        """The ensemble under the version it has, or the next free one if it is new."""
        return next_version(ensemble, self.ensembles())

    def keep_ensemble(self, ensemble: Ensemble) -> Ensemble:
        """Keep an ensemble under its version; one that is kept already stays as it was first written."""
        kept = self.ensembles()
        named = next_version(ensemble, kept)
        if named.signature not in {earlier.signature for earlier in kept}:
            self.put_ensemble(named)
        return named

    def put_ensemble(self, ensemble: Ensemble) -> None:
        """Keep an ensemble under the version it has elsewhere; one of the same signature stays as it is."""
        path = self.home / "ensembles" / f"{ensemble.signature}.json"
        if not path.exists():
            _write(path, document_of(ensemble))

    def keep_ranking(self, ranking: Ranking, *, created: datetime | None = None) -> str:
        """Keep a ranking, by default as made now, and return its id; the same content has the same id."""
        return self.keep_document(document_of(ranking), created=created)

    def keep_document(
        self,
        document: Mapping[str, Any],
        *,
        created: datetime | None = None,
        findings: Mapping[str, Any] | None = None,
    ) -> str:
        """Keep a ranking's document as it was said, with what its site found to speak against entries."""
        name = hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()[:12]
        path = self.home / "rankings" / f"{name}.json"
        if not path.exists():
            made = (created or datetime.now(UTC)).isoformat(timespec="seconds")
            beside = {"findings": dict(findings)} if findings else {}
            _write(path, {"id": name, "created": made, **beside, "ranking": document})
        return name

    def kept_document(self, name: str) -> dict[str, Any]:
        """A kept ranking's file: `id`, `created`, `ranking`, and `findings` where a site found something."""
        if name not in self.rankings():
            raise UnknownName("ranking", name, self.rankings())
        return _read(self.home / "rankings" / f"{name}.json")

    def keep_signed(self, name: str, signed: Signed) -> None:
        """Keep a site's signed statement about a kept ranking."""
        _write(self.home / SIGNED / f"{name}.json", signed.as_document())

    def signed(self, name: str) -> Signed | None:
        """The signed statement about a kept ranking, if there is one."""
        path = self.home / SIGNED / f"{name}.json"
        return read_signed(_read(path), str(path)) if path.is_file() else None

    def keep_keys(self, keys: Iterable[PublicKey]) -> None:
        """Keep the public keys of the site that a folder comes from."""
        _write(self.home / SIGNED / KEYS, {"keys": [asdict(key) for key in keys]})

    def numbered(self, ranking: Ranking) -> Ranking:
        """A ranking whose ensemble has the version it would be kept under."""
        if ranking.ensemble is None:
            return ranking
        return replace(ranking, ensemble=self.versioned(ranking.ensemble))

    def keep(self, ranking: Ranking) -> Ranking:
        """Keep a ranking and its ensemble; it comes back with the ensemble's version."""
        if ranking.ensemble is not None:
            ranking = replace(ranking, ensemble=self.keep_ensemble(ranking.ensemble))
        self.keep_ranking(ranking)
        return ranking

    def keep_audit(self, audit: MetricAudit) -> Path:
        """Keep the latest audit of a metric by a method; returns its file."""
        path = self.home / "audits" / _file_name(audit)
        _write(path, document_of(audit))
        return path

    def audits(self) -> tuple[MetricAudit, ...]:
        """The latest audits, in order of their files' names."""
        return tuple(
            _result(path, lambda kept: result_of(MetricAudit, kept))
            for path in sorted((self.home / "audits").glob("*.json"))
        )

    def rankings(self) -> Mapping[str, str]:
        """The time each kept ranking was made, by id, oldest first."""
        times = {path.stem: str(_read(path).get("created")) for path in (self.home / "rankings").glob("*.json")}
        return dict(sorted(times.items(), key=lambda item: item[1]))

    def ranking(self, name: str) -> Ranking:
        """A kept ranking, by id."""
        path = self.home / "rankings" / f"{name}.json"
        if name not in self.rankings():
            raise UnknownName("ranking", name, self.rankings())
        return _result(path, lambda kept: result_of(Ranking, kept.get("ranking", kept)))


def _file_name(audit: MetricAudit) -> str:
    """A file of its own for each metric and method, whatever characters the metric's name has."""
    plain = re.sub(r"[^\w.+-]+", "_", audit.metric)[:60]
    return f"{plain}.{audit.method}.{hashlib.sha256(audit.metric.encode()).hexdigest()[:6]}.json"


def next_version(ensemble: Ensemble, kept: Iterable[Ensemble]) -> Ensemble:
    """The ensemble under the version it has among those kept, or the next free one if it is new."""
    alike = [e for e in kept if replace(ensemble, version=e.version).short_signature == e.short_signature]
    earlier = next((e for e in alike if _same_fit(e, ensemble)), None)
    if earlier is not None:
        return replace(ensemble, version=earlier.version, first_digest=earlier.digest)
    version = 1 + max((e.version for e in alike), default=0)
    return replace(ensemble, version=version, first_digest=ensemble.digest)


def _same_fit(fit: Ensemble, other: Ensemble) -> bool:
    """Whether two ensembles are the same combination of the same metrics, to rounding."""
    if (fit.signatures, fit.aggregate, fit.references) != (other.signatures, other.aggregate, other.references):
        return False
    if fit.model is not None or other.model is not None:
        return replace(fit, first_digest="").digest == replace(other, first_digest="").digest
    ours, theirs = _numbers(fit), _numbers(other)
    return ours.shape == theirs.shape and bool(np.allclose(ours, theirs, rtol=1e-9, atol=1e-12))


def _numbers(ensemble: Ensemble) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    tables = (ensemble.weights, ensemble.centres, ensemble.scales)
    return np.array([ensemble.intercept, *(table[name] for table in tables for name in sorted(ensemble.weights))])


def _result(path: Path, read: Callable[[Mapping[str, Any]], Result]) -> Result:
    """The result that a file holds."""
    try:
        return read(_read(path))
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}") from error


def _read(path: Path) -> dict[str, Any]:
    try:
        document = json_value(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{path}: can't be read: {error}; restore it from git or a backup") from error
    if not isinstance(document, dict):
        raise InvalidInput(f"{path}: holds no JSON object; restore it from git or a backup")
    return document


def _write(path: Path, document: Mapping[str, Any]) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=".", suffix=".part", dir=path.parent)
        work = Path(name)
        try:
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                file.write(json.dumps(document, indent=1, ensure_ascii=False) + "\n")
                file.flush()
                os.fsync(file.fileno())
            work.chmod(0o644)
            work.replace(path)
        finally:
            work.unlink(missing_ok=True)
    except OSError as error:
        raise StoreFailed(f"{path}: can't be written: {error.strerror or error}") from error


@dataclass(frozen=True)
class Home:
    """A board, where its scores are kept, and where its ensembles and rankings are."""

    board: Board
    cells: SqliteCells
    archive: Archive


def open_home(path: str | Path) -> Home:
    """The board in a folder with its store and archive."""
    return home_of(open_board(path))


def home_of(board: Board) -> Home:
    """What is kept beside a board that was opened from a folder."""
    if board.home is None:
        raise InvalidInput(f"board {board.name} lies in no folder yet; write it with save(board, path) and open that")
    return Home(board, SqliteCells(board.home), Archive(board.home))


def numbered(home: Home, ranking: Ranking) -> Ranking:
    """The ranking with its ensemble under the version it has or would get."""
    if ranking.ensemble is None:
        return ranking
    return replace(ranking, ensemble=home.archive.versioned(ranking.ensemble))


def keep(home: Home, ranking: Ranking) -> tuple[Ranking, str]:
    """Keep a ranking and its ensemble; returns it with the ensemble's version, and its id."""
    if ranking.ensemble is not None:
        ranking = replace(ranking, ensemble=home.archive.keep_ensemble(ranking.ensemble))
    return ranking, home.archive.keep_ranking(ranking)
