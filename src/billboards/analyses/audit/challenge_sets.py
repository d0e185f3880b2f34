"""Challenge sets in files: pairs of a good and an incorrect translation, by the phenomenon that is wrong.

Two public layouts are read. ACES (Amrhein, Moghe and Guillou 2022): a table with `source`, `good-translation`,
`incorrect-translation`, `reference`, `phenomena` and mostly `langpair`, as TSV or JSON lines. DEMETR (Karpinska et al.
2022): a JSON list for each perturbation with `src_sent`, `eng_sent` (the reference), `mt_sent`, `pert_sent` and
`pert_name`; what `pert_check` denies was not perturbed and is left out. ACES's tau is twice the share less one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from billboards.analyses.audit.bench import Bench
from billboards.analyses.audit.challenges import pair_result
from billboards.analyses.audit.results import ChallengeReport, ChallengeResult, ChallengeText
from billboards.board import Board, Generator, Instance, Reference, row_of
from billboards.board.cells import MemoryCells
from billboards.errors import InvalidInput, MetricFailed, MissingPart, NotEnoughData
from billboards.metrics.base import Metric
from billboards.reading import Problems, json_value, read_source, read_table, refuse_errors, shown

ACES = ("source", "good-translation", "incorrect-translation", "reference", "phenomena")
DEMETR = ("src_sent", "eng_sent", "mt_sent", "pert_sent", "pert_name")
SUFFIXES = (".tsv", ".csv", ".jsonl", ".json")
REFERENCE = "reference"
#: What the base of such a report is called.
PAIRS = "good translations"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """A good and an incorrect translation of one source, and what is wrong with the second."""

    source: str
    reference: str
    good: str
    incorrect: str
    phenomenon: str
    language: str | None


@dataclass(frozen=True, kw_only=True)
class ChallengeSet:
    """Pairs from some files; `left_out` counts those that are no challenge, by reason."""

    name: str
    contrasts: tuple[Contrast, ...]
    left_out: Mapping[str, int]


def read_challenge_set(paths: Sequence[Path], language: str | None = None) -> ChallengeSet:
    """The pairs of files, or of all such files in a folder; `language` is that of outputs where no file says."""
    files = [file for path in paths for file in _files(path)]
    contrasts: list[Contrast] = []
    left_out: Counter[str] = Counter()
    for file in files:
        for line, record in _records(file):
            contrast = _contrast(record, f"{file}:{line}", language)
            reason = _no_challenge(record, contrast)
            if reason is None:
                contrasts.append(contrast)
            else:
                left_out[reason] += 1
    if not contrasts:
        raise NotEnoughData(f"{', '.join(map(str, paths))}: holds no pair of a good and an incorrect text")
    name = ", ".join(path.name for path in paths)
    return ChallengeSet(name=name, contrasts=tuple(contrasts), left_out=dict(left_out))


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    files = sorted(file for file in path.iterdir() if file.suffix in SUFFIXES)
    if not files:
        raise InvalidInput(f"{path}: holds no file that ends in {', '.join(SUFFIXES)}; name a challenge set")
    return files


def _records(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    if path.suffix == ".json":
        try:
            listed = json_value(read_source(path))
        except ValueError as error:
            raise InvalidInput(f"{path}: can't be read as JSON: {error}") from error
        if not isinstance(listed, list) or not all(isinstance(record, dict) for record in listed):
            raise InvalidInput(f"{path}: must hold a list of objects, as DEMETR's files do")
        yield from enumerate(listed, 1)
        return
    problems = Problems(20)
    table = read_table(path, problems)
    yield from table.rows
    refuse_errors(problems)


def _contrast(record: Mapping[str, Any], where: str, language: str | None) -> Contrast:
    """A record of either layout."""
    for keys, target in ((ACES, _target(record) or language), (DEMETR, "en")):
        if all(key in record for key in keys[2:]):
            texts = [record.get(key) or "" for key in keys]
            if not all(isinstance(text, str) for text in texts):
                raise InvalidInput(f"{where}: {', '.join(keys)} must be texts; found {shown(texts)}")
            source, middle, third, fourth, phenomenon = texts
            good, incorrect, reference = (middle, third, fourth) if keys is ACES else (third, fourth, middle)
            return Contrast(
                source=source,
                reference=reference,
                good=good,
                incorrect=incorrect,
                phenomenon=phenomenon,
                language=target,
            )
    raise InvalidInput(
        f"{where}: is neither of ACES ({', '.join(ACES)}) nor of DEMETR ({', '.join(DEMETR)}); found "
        f"{shown(list(record))}"
    )


def _target(record: Mapping[str, Any]) -> str | None:
    """The language after the hyphen of `langpair`."""
    pair = record.get("langpair")
    return pair.rpartition("-")[2] or None if isinstance(pair, str) and "-" in pair else None


def _no_challenge(record: Mapping[str, Any], contrast: Contrast) -> str | None:
    """Why a pair asks nothing of a metric."""
    if record.get("pert_check") in (False, "false", "False"):
        return "not perturbed"
    if contrast.good.split() == contrast.incorrect.split():
        return "both texts are the same"
    if contrast.incorrect.strip() == contrast.reference.strip() and contrast.reference.strip():
        return "the incorrect text is the reference itself"
    return None


def challenge_by_set(
    pairs: ChallengeSet, metrics: Callable[[str | None], Sequence[Metric]], bench: Bench, *, examples: int
) -> ChallengeReport:
    """The share of pairs that each metric orders right, by phenomenon; `metrics` makes them for a language."""
    results: dict[tuple[str, str], list[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]] = {}
    missing = {reason: f"{count:,} pairs left out" for reason, count in pairs.left_out.items()}
    for language in dict.fromkeys(contrast.language for contrast in pairs.contrasts):
        own = [contrast for contrast in pairs.contrasts if contrast.language == language]
        board = set_board(pairs.name, own, language)
        here = Bench(board=board, store=MemoryCells(), executor=bench.executor, on_progress=bench.on_progress)
        for metric in metrics(language):
            try:
                good, bad = here.scores(metric, board.rows)
            except (MetricFailed, MissingPart) as error:
                missing[metric.name] = str(error)
                continue
            for phenomenon in dict.fromkeys(contrast.phenomenon for contrast in own):
                places = [k for k, contrast in enumerate(own) if contrast.phenomenon == phenomenon]
                results.setdefault((metric.name, phenomenon), []).append((good[places], bad[places]))
    return ChallengeReport(
        board=pairs.name,
        base=PAIRS,
        against=(REFERENCE,),
        language=None,
        seed=0,
        results=tuple(_summed(results)),
        missing=missing,
        texts=tuple(_examples(pairs.contrasts, examples)),
    )


def _summed(
    results: Mapping[tuple[str, str], Sequence[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]],
) -> Iterator[ChallengeResult]:
    for (metric, phenomenon), parts in results.items():
        good, bad = (np.concatenate([part[side] for part in parts]) for side in (0, 1))
        result = pair_result(metric, phenomenon, good, bad)
        if result is not None:
            yield result


def set_board(name: str, contrasts: Sequence[Contrast], language: str | None) -> Board:
    """Pairs of one language as a board in memory: a row of good texts and a row of incorrect ones."""
    instances = tuple(
        Instance(
            f"pair{k}",
            references=(Reference(REFERENCE, contrast.reference),) if contrast.reference else (),
            input=contrast.source,
        )
        for k, contrast in enumerate(contrasts, 1)
    )
    rows = (
        row_of(Generator("good"), instances, tuple(contrast.good for contrast in contrasts)),
        row_of(Generator("incorrect"), instances, tuple(contrast.incorrect for contrast in contrasts)),
    )
    return Board(name=name, instances=instances, rows=rows, output_language=language)


def _examples(contrasts: Iterable[Contrast], shown: int) -> Iterator[ChallengeText]:
    seen: Counter[str] = Counter()
    for k, contrast in enumerate(contrasts, 1):
        seen[contrast.phenomenon] += 1
        if seen[contrast.phenomenon] <= shown:
            yield ChallengeText(contrast.phenomenon, f"pair{k}", contrast.good, contrast.incorrect)
