"""What billboards keeps and reads again: results, searches, cells, answers, packs; and files that studies are given.

Whoever wrote these files was this program, yet they lie on disks that fill up and in folders that people edit. What is
read back must be usable: a table is made of every result that was read.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import fields, is_dataclass, replace
from functools import partial
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from page_sites import page_board
from target import Target, in_place

import billboards as bb
from billboards.analyses._archive import Archive, open_home
from billboards.analyses.audit.bench import Bench
from billboards.analyses.audit.extracting import Extraction
from billboards.analyses.audit.reranking import read_candidates
from billboards.analyses.audit.results import MetricAudit
from billboards.analyses.audit.tables import audit_tables
from billboards.analyses.ensemble import Ensemble, read_metric_scores
from billboards.analyses.estimate import read_chances
from billboards.analyses.overrating import OverratingReport
from billboards.analyses.rank import Ranking, rank_board
from billboards.analyses.ratings._ratings import TableColumns, table_ratings
from billboards.analyses.suite.keeping import Kept, kept_document, read_results
from billboards.analyses.suite.results import Suite, SuiteRanking, SuiteResult
from billboards.analyses.suite.shown_tables import suite_ranking_table
from billboards.api.claims import unpacked_board
from billboards.board import _kept as kept_numbers
from billboards.board.card_facts import read_facts
from billboards.board.cells import MemoryCells
from billboards.board.folder import open_board
from billboards.board.missing_cells import score_board
from billboards.board.writing import write_board
from billboards.metrics.discovery import metric
from billboards.metrics.executor import InProcess
from billboards.metrics.judges.answers import Answers, question_key
from billboards.metrics.judges.responses import Answer
from billboards.metrics.neural.baselines import read_baseline
from billboards.metrics.neural.comet_checkpoint import locate_checkpoint
from billboards.metrics.wordnet import WordNet
from billboards.run.environments import (
    RECORD,
    Source,
    _place_digest,
    find_environment,
    made_environments,
    parse_requirements,
)
from billboards.run.packs import built_packs, pack_state
from billboards.show.documents import document_of, dumps, result_of
from billboards.show.table import shown
from billboards.signing import Statement, document_digest, key_id, public_key_of, read_keys, sign


def example(kind: Any) -> Any:
    """A value of a type with something in every field."""
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        return kind(**{f.name: example(hints[f.name]) for f in fields(kind)})  # type: ignore[operator]
    origin, inside = get_origin(kind), get_args(kind)
    if origin is Literal:
        return inside[0]
    if origin in (Union, UnionType):
        return example(inside[0])
    if origin is tuple:
        return tuple(example(one) for one in inside if one is not ...)
    if origin is not None and issubclass(origin, Mapping):
        return {"text": example(inside[1])}
    return {str: "text", int: 3, float: 0.5, bool: True, Any: "text"}[kind]


def kept(home: Path) -> Iterator[Target]:
    """Everything that is kept, and what studies are given beside a board."""
    folder = write_board(page_board(), home / "kept-board")
    for part in (_results, _signed, _suites, _numbers, _cells, _searches, _studies, _judges, _packs, _resources):
        yield from part(home, folder)


def _results(home: Path, folder: Path) -> Iterator[Target]:
    archive = Archive(home / "archive")
    archive.keep_ensemble(example(Ensemble))
    name = archive.keep_ranking(example(Ranking))
    audit = archive.keep_audit(example(MetricAudit))
    (ensemble,) = (archive.home / "ensembles").iterdir()

    def read_rankings() -> None:
        for each in archive.rankings():
            dumps(document_of(archive.ranking(each)))

    def read_ensembles() -> None:
        for each in archive.ensembles():
            dumps(document_of(archive.ensemble(each.signature)))
        archive.versioned(example(Ensemble))

    yield in_place("kept ranking", archive.home / "rankings" / f"{name}.json", read_rankings)
    yield in_place("kept ensemble", ensemble, read_ensembles)
    yield in_place(
        "kept audit", audit, lambda: [shown(table) for one in archive.audits() for table in audit_tables(one)]
    )
    overrating = json.dumps(document_of(example(OverratingReport))).encode()
    yield Target("kept overrating", overrating, lambda raw: result_of(OverratingReport, _json(raw)))


def _signed(home: Path, folder: Path) -> Iterator[Target]:
    """A ranking that somebody quotes, the keys that one trusts, and a board's download."""
    private, place = "11" * 32, home / "signed-ranking.json"
    key = public_key_of(private)
    said = document_of(example(Ranking))
    statement = replace(
        example(Statement), documents={"ranking": document_digest(said)}, audience="public", key=key_id(key)
    )
    place.write_text(dumps({**sign(document_of(statement), private).as_document(), "ranking": said}))
    yield in_place("kept signed ranking", place, lambda: str(bb.verify(place, key=key)))
    keys = home / "keys.json"
    keys.write_text(json.dumps([{"id": key_id(key), "public_key": key, "created": "", "retired": None}]))
    yield in_place("kept keys", keys, lambda: read_keys(str(keys)))
    archive = home / "board.zip"
    with zipfile.ZipFile(archive, "w") as packing:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                packing.write(path, f"board/{path.relative_to(folder).as_posix()}")

    def unpack() -> None:
        with tempfile.TemporaryDirectory() as work:
            open_board(unpacked_board(archive, Path(work) / "out"))

    yield in_place("kept download", archive, unpack)


def _json(raw: bytes) -> Any:
    """What a database gives back: always some JSON."""
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return None


def _suites(home: Path, folder: Path) -> Iterator[Target]:
    suite = Suite("ports", (), (), path=home / "ports.toml")
    results = home / "ports.results.json"
    ranking = replace(example(SuiteRanking), yardsticks=("pearson", "spearman/by-item"))
    results.write_text(dumps(kept_document(Kept(example(SuiteResult), (ranking,)))))

    def read() -> None:
        for ranking in ((found := read_results(suite)) and found.rankings) or ():
            shown(suite_ranking_table(ranking))

    yield in_place("kept suite", results, read)


def _numbers(home: Path, folder: Path) -> Iterator[Target]:
    """Judgments as columns, kept as they were read; they are kept only of large files, so all are taken for large."""

    def read() -> object:
        before, kept_numbers.LARGE = kept_numbers.LARGE, 1
        try:
            board = open_board(folder)
            return list(
                board.judgments.each(tuple(i.id for i in board.instances), tuple(row.name for row in board.rows))
            )
        finally:
            kept_numbers.LARGE = before

    read()
    yield in_place("kept judgments", folder / ".billboards" / "read" / "judgments", read)


def _cells(home: Path, folder: Path) -> Iterator[Target]:
    board = open_home(folder)
    score_board(board.board, board.cells, [metric("chrF"), metric("length")], InProcess())
    path = folder / ".billboards" / "cells.sqlite"
    settle(path)
    yield in_place("kept cells", path, lambda: rank_board(board.board, board.cells, draws=0))


def settle(path: Path) -> None:
    """All of a SQLite database in its one file."""
    with closing(sqlite3.connect(path)) as database:
        database.execute("pragma wal_checkpoint(truncate)")
        database.execute("pragma journal_mode = delete")


def _searches(home: Path, folder: Path) -> Iterator[Target]:
    board = open_board(folder)
    search = partial(Extraction(k=2).optimise, Bench(board=board, store=MemoryCells()), metric("length"))
    search()
    (path,) = (folder / ".billboards" / "audit").iterdir()
    yield in_place("kept search", path, search)


def _studies(home: Path, folder: Path) -> Iterator[Target]:
    board = open_board(folder)
    draw = home / "draw.json"
    draw.write_text(json.dumps({"kind": "next_items", "generator": "late", "probabilities": {"i/1": 0.5, "i/2": 1.0}}))
    yield in_place("study draw", draw, lambda: read_chances(draw, "late"))
    candidates = home / "candidates.jsonl"
    candidates.write_text('{"instance": "i/1", "texts": ["a", "b"]}\n{"instance": "i/2", "text": "c"}\n')
    yield in_place("study candidates", candidates, lambda: read_candidates(candidates, board))
    scores = home / "scores.tsv"
    scores.write_text("instance\ttext\n" + "".join(f"{one.id}\t{k}.5\n" for k, one in enumerate(board.instances)))
    yield in_place("study scores", scores, lambda: read_metric_scores(scores, board, example(Ensemble)))
    facts = home / "facts.toml"
    facts.write_text('task = "Say it"\n[languages]\ninput = "en"\n[dimensions.adequacy]\ndefinition = "All of it"\n')
    yield in_place("study facts", facts, lambda: read_facts([], facts))
    ratings = home / "ratings.csv"
    ratings.write_text("doc,worker,rating\na,ann,3\na,bob,4.5\nb,ann,1\n")
    yield in_place("study ratings", ratings, lambda: table_ratings(ratings, TableColumns(("doc",), "rating", "worker")))


def _judges(home: Path, folder: Path) -> Iterator[Target]:
    path, question = home / "answers.sqlite", {"model": "m", "messages": [{"role": "user", "content": "?"}]}
    answers = Answers(path)
    answers.keep(question_key("http://judge", question), "http://judge", question, Answer('{"score": 5}', False, 7, 3))
    settle(path)

    def read() -> None:
        found = Answers(path)
        found.find(question_key("http://judge", question))
        found.spent()
        list(found.lines())

    yield in_place("kept answers", path, read)


def _packs(home: Path, folder: Path) -> Iterator[Target]:
    packs, source = home / "packs", home / "pack-source"
    packs.mkdir()
    source.mkdir()
    (source / "metric.toml").write_text('name = "a"\nhigher_is_better = true\nneeds = []\ntraining_data = "none"\n')
    (source / "metric.py").write_text("def score(outputs, references, inputs):\n    return [1.0 for _ in outputs]\n")
    said = {"name": "a", "folder": str(source), "digest": "0" * 32, "wheels": None, "trusted": True}
    (packs / "a.json").write_text(json.dumps(said))
    yield in_place(
        "kept pack", packs / "a.json", lambda: [pack_state(one, home=packs) for one in built_packs(home=packs)]
    )
    asked, environments = "numpy==1.26.0", home / "environments"
    place = environments / _place_digest(parse_requirements(asked), Source())
    place.mkdir(parents=True)
    made = {"installed": [asked], "digest": "abc", "log": "fine", "asked": [asked]}
    (place / RECORD).write_text(json.dumps(made))

    def read() -> object:
        return find_environment(asked, environments), list(made_environments(environments))

    yield in_place("kept environment", place / RECORD, read)


def _resources(home: Path, folder: Path) -> Iterator[Target]:
    """What metrics read beside a board: baselines, settings of checkpoints, WordNet."""
    baseline = home / "baseline.csv"
    baseline.write_text("LAYER,P,R,F\n0,0.1,0.2,0.3\n1,0.4,0.5,0.6\n")
    yield in_place("resource baseline", baseline, lambda: read_baseline(baseline))
    model = home / "comet"
    (model / "checkpoints").mkdir(parents=True)
    import torch

    # Bare weights, so that the settings are those of the file that is damaged.
    torch.save({"state_dict": {"estimator.ff.0.bias": torch.zeros(1)}}, model / "checkpoints" / "model.ckpt")
    (model / "config.json").write_text("{}")
    (model / "hparams.yaml").write_text(
        "class_identifier: regression_metric\npretrained_model: xlm\nlayer: mix\npool: avg\nlayer_norm: true\n"
    )
    read = partial(locate_checkpoint, "COMET", str(model), "regression_metric", example="Unbabel/wmt22-comet-da")
    yield in_place("resource hparams.yaml", model / "hparams.yaml", read)
    wordnet = home / "wordnet"
    shutil.copytree(Path(__file__).with_name("wordnet"), wordnet)
    for name in ("index.noun", "data.noun", "noun.exc"):
        yield in_place(f"resource {name}", wordnet / name, partial(_look_up, wordnet))


def _look_up(folder: Path) -> None:
    wordnet = WordNet(folder)
    for word in ("cat", "mice", "mouse", "kitties", "mats", "rug"):
        wordnet.synonyms(word, deep=True)
