"""What a suite said, kept beside its file: NAME.results.json, written whole or not at all.

It holds numbers and names, no texts and no judgments, so it can be shown wherever the suite is: a site shows the tables
of the suites it is given from these files.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from billboards.analyses.suite.evidence import Evidence
from billboards.analyses.suite.results import Suite, SuiteRanking, SuiteResult
from billboards.errors import InvalidInput, StoreFailed
from billboards.reading import json_value
from billboards.show.documents import SCHEMA, document_of, dumps, result_of

KIND = "suite_results"


@dataclass(frozen=True)
class Kept:
    """A suite's tables, its rankings over all boards, and what advice on metrics is made from."""

    result: SuiteResult
    rankings: tuple[SuiteRanking, ...] = ()
    evidence: Evidence | None = None


def results_path(suite: Suite) -> Path:
    """Where a suite's results are kept: beside its file."""
    if suite.path is None:
        raise InvalidInput(f"suite {suite.name} was read from no file; nothing can be kept beside it")
    return suite.path.with_suffix(".results.json")


def kept_document(kept: Kept) -> dict[str, Any]:
    """Tables and rankings as one document."""
    rankings = [document_of(ranking) for ranking in kept.rankings]
    document = {"schema": SCHEMA, "kind": KIND, "tables": document_of(kept.result), "rankings": rankings}
    return document if kept.evidence is None else {**document, "evidence": document_of(kept.evidence)}


def keep_results(suite: Suite, kept: Kept) -> Path:
    """Write what a suite said; a kill or a full disk leaves what was there before."""
    path = results_path(suite)
    try:
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, suffix=".part", delete=False) as file:
            file.write(dumps(kept_document(kept)))
        Path(file.name).replace(path)
        path.chmod(0o644)
    except OSError as error:
        raise StoreFailed(f"{path}: the results can't be kept there: {error.strerror or error}") from error
    return path


def read_results(suite: Suite) -> Kept | None:
    """What a suite said last; None where it was never run."""
    path = results_path(suite)
    try:
        document = json_value(path.read_text("utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{path}: can't be read ({error}); delete it and run the suite again") from error
    if not isinstance(document, dict) or document.get("kind") != KIND:
        raise InvalidInput(f"{path}: holds no results of a suite; delete it and run the suite again")
    if not isinstance(document.get("rankings"), list):
        raise InvalidInput(f"{path}: holds no list of rankings; delete it and run the suite again")
    try:
        return kept_of(document)
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}") from error


def kept_of(document: Mapping[str, Any]) -> Kept:
    """Tables and rankings from their document."""
    evidence = document.get("evidence")
    return Kept(
        result_of(SuiteResult, document.get("tables", {})),
        tuple(result_of(SuiteRanking, ranking) for ranking in document.get("rankings", ())),
        None if evidence is None else result_of(Evidence, evidence),
    )
