"""A board of the site as a board folder: what an audience may have, so that ranking it gives what the site says.

Rows and judgments stand in the site's order, files of generators and of imported scores are the very bytes that the
site read, computed scores lie where `billboards score` would put them, and rankings and ensembles where `rank --keep`
would. What the audience may not see is absent: then the folder opens and ranks by what is left. Scores that rest on
hidden references can't be computed again by who has the folder; they stand in it as imported ones.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from shlex import quote

import numpy as np
import tomli_w

from billboards.analyses._archive import Archive
from billboards.analyses._findings import Findings
from billboards.analyses.rank import RankingOptions
from billboards.board import ImportedColumn
from billboards.board._parts import named_files
from billboards.board.added_scores import score_lines
from billboards.board.cells import SqliteCells
from billboards.board.folder import TextsFile, open_board
from billboards.board.names import file_name
from billboards.board.settings import FILE
from billboards.board.writing import write_board, write_lines
from billboards.reading import Problems, toml_document
from billboards.site.boards import snapshots
from billboards.site.boards.live import BlobTexts
from billboards.site.boards.masked import Look
from billboards.site.boards.ranking_options import ranking_options, ruled
from billboards.site.boards.signatures import can_sign, signed_ranking, site_keys
from billboards.site.submissions.metric_folders import program_folder

#: Rankings that a folder holds; a site keeps more of them under its history.
RANKINGS = 100
READ_ME = "RANKING.txt"


def write_folder(look: Look, target: Path) -> Path:
    """Write what an audience may have of a board as a folder that opens and ranks without the site."""
    before = ranking_options(look.live).before if look.judged else None
    board = replace(look.board, reference_free=ruled(look.live).reference_free, before=before)
    whole = look.referenced and look.shows_inputs
    if not whole:
        board = replace(board, imported=_scores_alone(look))
    folder = write_board(board, target, in_order=True)
    for row in board.rows:
        if isinstance(row.load, TextsFile | BlobTexts):
            (folder / "generators" / f"{file_name(row.name)}.jsonl").write_bytes(row.load.raw())
    if whole:
        _copy_imported(look, folder)
        _copy_cells(look, folder)
    _keep_rankings(look, folder)
    _copy_programs(look, folder)
    (folder / READ_ME).write_text(_read_me(look), "utf-8")
    return folder


def _scores_alone(look: Look) -> tuple[ImportedColumn, ...]:
    """Every column of scores without the references it rests on, which may not be named."""
    matrix = look.matrix.view.scores
    own = [
        ImportedColumn(
            name=column.name,
            source_name=column.name,
            signature=column.signature,
            values={row: scores for row, scores in zip(matrix.rows, values, strict=True) if np.isfinite(scores).any()},
            needs_references=column.needs_references,
            needs_input=column.needs_input,
            is_statistic=column.is_statistic,
        )
        for column, values in zip(matrix.columns, matrix.values, strict=True)
        if column.origin == "own"
    ]
    taken = {column.source_name for column in own}
    return (*(replace(c, references=()) for c in look.board.imported if c.source_name not in taken), *own)


def _copy_imported(look: Look, folder: Path) -> None:
    """The owner's own files of imported scores, and what `board.toml` says of them: their identity is their bytes."""
    home = look.live.board.home
    if home is None or not look.board.imported:
        return
    stated = toml_document((home / FILE).read_text("utf-8-sig")).get("scores", {})
    paths = named_files(home, "scores", ".tsv", lambda _: None, Problems())
    own = {column.source_name: column.signature for column in open_board(home).imported}
    written = toml_document((folder / FILE).read_text("utf-8"))["scores"]
    stated = {name: stated.get(name, {}) if name in own else written[name] for name in written}
    for column in look.board.imported:
        name = column.source_name
        target = folder / "scores" / f"{file_name(name)}.tsv"
        if name not in own:
            # Sent in as scores only: written with the board, as its author knows them.
            continue
        if own[name] == column.signature:
            shutil.copyfile(paths[name], target)
        elif not stated.get(name, {}).get("higher_is_better", True):
            # Scores were added on the site: the table is written anew, as its users know it.
            turned = {row: 0.0 - scores for row, scores in column.values.items()}
            write_lines(target, score_lines([instance.id for instance in look.board.instances], turned))
    document = toml_document((folder / FILE).read_text("utf-8"))
    document["scores"] = stated
    (folder / FILE).write_text(tomli_w.dumps(document), "utf-8", newline="\n")


def _copy_cells(look: Look, folder: Path) -> None:
    """Scores that the site computed, of built-in and of submitted metrics.

    Counts tell more of the references than scores do (their lengths): they stay where references are hidden.
    """
    board, store = look.live.board, SqliteCells(folder)
    versions = [row.version for row in board.rows]
    for key in look.live.told_cells.columns():
        look.live.told_cells.copy_to(store, key, versions, counts=not look.live.settings.hidden_references)
    snapshot = look.live.snapshot
    if look.live.site.published is not None and snapshot is not None:
        store.date(datetime.fromtimestamp(snapshot.created, UTC).isoformat(timespec="seconds"))


def _keep_rankings(look: Look, folder: Path) -> None:
    """The latest rankings as this audience read them, and every ensemble that it may know."""
    archive, owners = Archive(folder), look.live.audience == "owners"
    with look.live.site.database.reading() as connection:
        kept = snapshots.list_snapshots(connection, look.name, look.past_audience, limit=RANKINGS)
        documents = [(snapshot, snapshots.document(connection, snapshot)) for snapshot in kept]
        ensembles = snapshots.list_ensembles(connection, look.name, hidden=owners)
    for ensemble, _ in ensembles:
        archive.put_ensemble(look.masked_ensemble(ensemble))
    for snapshot, document in documents:
        ranking = look.ranking_document(document["ranking"])
        made = datetime.fromtimestamp(snapshot.created, UTC)
        name = archive.keep_document(ranking, created=made, findings=Findings.read(document).document())
        signed = signed_ranking(look, snapshot, document)
        if signed is not None:
            archive.keep_signed(name, signed)
    if can_sign(look.live.site):
        archive.keep_keys(site_keys(look.live.site).keys)


def _copy_programs(look: Look, folder: Path) -> None:
    """Programs of submitted metrics, where the board's owner lets everybody have them; never one sent anonymously."""
    if not (look.live.settings.open_programs or look.live.audience == "owners"):
        return
    for name, submission in sorted(look.live.metrics.items()):
        if not submission.anonymous and submission.way == "program":
            target = folder / "programs" / file_name(name)
            shutil.copytree(program_folder(look.live.site, submission), target)


def _read_me(look: Look) -> str:
    """How the site ranks the board, as a command for who has the folder."""
    options = ranking_options(look.live)
    usual = RankingOptions()
    words = ["billboards", "rank", look.name]
    for option in ("k", "method", "by", "draws", "seed", "sides"):
        word = "ensemble" if option == "method" else option
        if getattr(options, option) != getattr(usual, option):
            words += [f"--{word}", quote(str(getattr(options, option)))]
    lines = [f"The board {look.name}, as its site had it. Its ranking there:", "", f"    {' '.join(words)}", ""]
    against = {**look.trust.barred, **look.trust.flagged}
    if against:
        lines.append("On the site these submitted metrics may not lead:")
        lines += [f"    {name}: {reason}" for name, reason in sorted(against.items())]
    if look.trust.out:
        lines.append("On the site these generators have no rank:")
        lines += [f"    {name}: {reason}" for name, reason in sorted(look.trust.out.items())]
    if look.ranking is not None and look.ranking.private is not None and look.live.audience != "owners":
        lines.append("On the site metrics are measured on private judgments, which are not in this folder.")
    if look.withheld:
        lines.append(look.withheld_words)
    if look.view.hidden:
        lines.append(f"The site hides {' and '.join(look.view.hidden)}, so the folder can't be ranked as it is there.")
    return "\n".join(lines).rstrip() + "\n"
