"""Simplicity-DA (Alva-Manchego et al., 2021): simplified sentences of six systems, rated from 0 to 100 by 15 workers.

A clone of feralvam/metaeval-simplification holds three files in `data/`:

    ratings_per_annotator/simplicity_DA_ratings.csv     a row per rating: sentence, system, rater, simplicity
    simplicity_DA.csv                                   a row per output: means and z-scores of three aspects
    metrics_per_sentence/metrics_simplicity_DA.csv      a row per output and reference set: 20 metrics

Single ratings are given for simplicity alone; fluency and meaning come as means. Z-scores are those of a rater's own
ratings, divided by n (scipy's `zscore`), and the released ones are held against those computed here. The paper's
correlations are with `simplicity_zscore` over all 600 outputs, of the metrics against ASSET's references: BLEU .496,
SARI .359, BERTScore-P .617. Its values are absolute.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

import numpy as np

from billboards.board import (
    Aggregate,
    Board,
    DataCard,
    Dimension,
    Generator,
    ImportedColumn,
    Instance,
    Judgment,
    Reference,
    human_scores,
)
from billboards.board.judgment_sources import Imported
from billboards.errors import ImportRefused
from billboards.importers._assembling import (
    Floats,
    assemble,
    check_name,
    counts,
    find_file,
    in_folder_order,
    read_cells,
    refuse_twice,
    rows_of_generators,
    score_column,
    value_within,
)
from billboards.importers._importer import importer
from billboards.importers.asset import RATED, Sentences, sentences
from billboards.reading import Problems, read_number, read_table, refuse_errors, some, whole_number

OUTPUT = ("sent_id", "sys_name", "orig_sent", "simp_sent")
RATINGS, MEANS, METRICS = "simplicity_DA_ratings.csv", "simplicity_DA.csv", "metrics_simplicity_DA.csv"
SINGLE, RELEASED = "ratings", "released"
#: The z-scores that the authors released, and the aggregate that computes them from single ratings.
STANDARDISED = {d.name: f"{d.name}_zscore" for d in RATED}
COMPUTED = "simplicity_z"
#: How the columns of metrics are named here; those without an entry are means of others: amean_bleu_sari.
NAMES = {
    "bleu": "BLEU",
    "sari": "SARI",
    "sari_add": "SARI-add",
    "sari_keep": "SARI-keep",
    "sari_del": "SARI-delete",
    "ibleu": "iBLEU",
    "fkgl": "FKGL",
    "fkbleu": "FKBLEU",
    "bertscore_P": "BERTScore-P",
    "bertscore_R": "BERTScore-R",
    "bertscore_F1": "BERTScore-F1",
    "samsa": "SAMSA",
}
REFERENCE_FREE, LOWER_IS_BETTER = ("fkgl", "samsa"), ("fkgl",)
#: Metrics that are told apart from means: the words in the names of those.
WORDS = {"bleu": "BLEU", "sari": "SARI", "samsa": "SAMSA"}
CARD = DataCard(
    title="Simplicity-DA",
    task="Rewrite a sentence so that it is easier to understand",
    source="https://github.com/feralvam/metaeval-simplification; sentences: TurkCorpus; references: ASSET",
    licence="CC-BY-NC-SA-4.0",
    citation="Alva-Manchego, Scarton and Specia (2021): The (Un)Suitability of Automatic Evaluation Metrics for Text "
    "Simplification, Computational Linguistics 47",
    protocol="Direct assessment: workers saw original and simplification and said on a slider from 0 to 100 how far "
    "they agree with a statement on an aspect",
    annotators="15 crowd workers per sentence and aspect, who passed a qualification test",
    comments="Single ratings are released for simplicity; fluency and meaning as means of 15 ratings. Z-scores are of "
    "a rater's own ratings, divided by n. Metric columns are as released, named by their reference set: ASSET (10 "
    "references), TurkCorpus (8), HSplit (4) or all of them; the paper's correlations are with ASSET's.",
)


@dataclass
class _Content:
    """What the files say, as they are read."""

    problems: Problems = field(default_factory=Problems)
    notes: list[str] = field(default_factory=list)
    inputs: dict[str, str] = field(default_factory=dict)
    texts: dict[str, dict[str, str]] = field(default_factory=dict)
    references: dict[str, tuple[Reference, ...]] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    judgments: list[Judgment] = field(default_factory=list)
    #: Outputs, and sentences, of which a file has another text than what was read before it.
    others: list[tuple[str, str]] = field(default_factory=list)
    other_inputs: list[str] = field(default_factory=list)


@importer(card=CARD)
def simplicity_da(
    source: Path,
    *,
    references: Annotated[Path | None, "a folder with ASSET's asset.test.orig and asset.test.simp.*"] = None,
) -> Imported:
    """Simplicity-DA: simplified sentences of six systems, rated from 0 to 100, with z-scores and released metrics."""
    ratings, means, metrics = _files(source)
    content = _Content()
    rated = _read_ratings(ratings, content) if ratings else ()
    averaged = _read_means(means, rated, content) if means else ()
    refuse_errors(content.problems)
    originals = _originals(references, ratings or means or source, content)
    instances = [_instance(key, content, originals) for key in sorted(content.inputs, key=_numbered)]
    dimensions = _dimensions(rated, averaged)
    aggregates = (Aggregate(COMPUTED, ("simplicity",), (SINGLE,), standardise="annotator", ddof=0),)
    generators = {
        system: Generator(system, description=f"System type: {content.kinds[system]}") for system in content.kinds
    }
    board = assemble(
        "simplicity-da",
        instances,
        rows_of_generators(instances, content.texts, generators),
        content.judgments,
        dimensions=dimensions,
        aggregates=aggregates if "simplicity" in rated else (),
        ranks=dimensions[0].name,
        input_language="en",
        output_language="en",
    )
    board, choice = _ranked(board)
    if metrics:
        board = replace(board, imported=_read_metrics(metrics, board, content))
    files = [path for path in (ratings, means) if path]
    return Imported(board, (*(counts(path, board) for path in files[:1]), *choice, *content.notes))


def _files(source: Path) -> tuple[Path | None, Path | None, Path | None]:
    """Ratings, means and metrics, of which there must be one of the first two."""
    if not source.exists():
        raise ImportRefused(f"{source}: no such file or folder; it should hold Simplicity-DA's ratings")
    if source.is_file():
        columns = read_table(source, Problems(), numbered=True).columns
        return (source, None, None) if "rater_id" in columns else (None, source, None)
    ratings, means, metrics = (
        find_file(source, (name,), "Simplicity-DA") if any(source.rglob(name)) else None
        for name in (RATINGS, MEANS, METRICS)
    )
    if ratings is None and means is None:
        raise ImportRefused(f"{source}: holds no Simplicity-DA (looked for {RATINGS} and {MEANS})")
    return ratings, means, metrics


def _rows(path: Path, needed: Sequence[str], content: _Content) -> Iterator[tuple[int, Mapping[str, str]]]:
    """The rows of a file, whose outputs are noted down on the way."""
    own: dict[tuple[str, str], str] = {}
    where, empty = str(path), True
    for line, cells in read_cells(path, needed, content.problems, content.notes):
        empty = False
        key, system = cells["sent_id"], cells["sys_name"]
        check_name("instance", key, where, line, content.problems)
        check_name("generator", system, where, line, content.problems)
        original, text = cells["orig_sent"], cells["simp_sent"]
        if own.setdefault((key, system), text) != text:
            content.problems.error(where, line, f"{system} has two simplifications of sentence {key}")
        elif content.texts.setdefault(system, {}).setdefault(key, text).split() != text.split():
            content.others.append((key, system))
        if content.inputs.setdefault(key, original).split() != original.split():
            content.other_inputs.append(key)
        yield line, cells
    if empty and not content.problems.errors:
        content.problems.error(where, 1, "holds nothing below its first line; fetch the file again")
    if content.others:
        (key, system), *_ = others = list(dict.fromkeys(content.others))
        content.notes.append(
            f"{path}: has another text of {len(others)} outputs than the single ratings, which are kept; "
            f"the first is {system}'s of sentence {key}"
        )
        content.others.clear()
    if content.other_inputs:
        keys = some(dict.fromkeys(content.other_inputs))
        content.notes.append(f"{path}: has several originals of the same sentence, of which the first is kept: {keys}")
        content.other_inputs.clear()


def _read_ratings(path: Path, content: _Content) -> tuple[str, ...]:
    """Single ratings; the aspects that they are of."""
    aspects = tuple(d for d in RATED if d.name in read_table(path, content.problems, numbered=True).columns)
    if not aspects:
        raise ImportRefused(f"{path}: has no column {', '.join(d.name for d in RATED)}")
    seen: dict[object, int] = {}
    for line, cells in _rows(path, (*OUTPUT, "rater_id"), content):
        key, system, rater = cells["sent_id"], cells["sys_name"], cells["rater_id"]
        what = f"{rater}'s rating of {system} on {key}"
        refuse_twice(seen, (key, system, rater), what, str(path), line, content.problems)
        values = {d.name: value_within(cells[d.name], d, str(path), line, content.problems) for d in aspects}
        content.judgments.append(
            Judgment(instance=key, outputs=(system,), values=values, annotator=rater or None, campaign=SINGLE)
        )
    return tuple(d.name for d in aspects)


def _read_means(path: Path, rated: Sequence[str], content: _Content) -> tuple[str, ...]:
    """Means and z-scores of each output; means only of aspects that have no single ratings of it."""
    columns = read_table(path, content.problems, numbered=True).columns
    means = tuple(d for d in RATED if d.name in columns)
    z_scores = tuple(name for name in STANDARDISED.values() if name in columns)
    if not means and not z_scores:
        raise ImportRefused(f"{path}: has no column {', '.join((*(d.name for d in RATED), *STANDARDISED.values()))}")
    single = {(judgment.instance, judgment.outputs[0]) for judgment in content.judgments}
    seen: dict[object, int] = {}
    for line, cells in _rows(path, OUTPUT, content):
        key, system = cells["sent_id"], cells["sys_name"]
        refuse_twice(seen, (key, system), f"{system}'s output on {key}", str(path), line, content.problems)
        values = {d.name: value_within(cells[d.name], d, str(path), line, content.problems) for d in means}
        if (key, system) in single:
            values = {name: value for name, value in values.items() if name not in rated}
        values |= {name: read_number(cells[name], name, str(path), line, content.problems) for name in z_scores}
        present = {name: value for name, value in values.items() if not np.isnan(value)}
        if present:
            content.judgments.append(Judgment(instance=key, outputs=(system,), values=present, campaign=RELEASED))
        if cells.get("sys_type"):
            content.kinds.setdefault(system, cells["sys_type"])
        content.references.setdefault(key, _written_references(cells))
    content.notes.append(f"{path}: {len(seen)} outputs with means and z-scores")
    return (*(d.name for d in means), *z_scores)


def _written_references(cells: Mapping[str, str]) -> tuple[Reference, ...]:
    """References that stand in columns of their own, ref_1 or reference, where a file has such."""
    names = [name for name in cells if re.fullmatch(r"ref(erence)?s?([_ .-]?\w+)?", name)]
    return tuple(Reference(name, cells[name]) for name in names if cells[name].strip())


def _originals(references: Path | None, beside: Path, content: _Content) -> Sentences:
    """ASSET's sentences with their simplifications, from the folder given or beside the ratings."""
    folder = find_file(references, ("asset.test.orig",), "ASSET's sentences").parent if references else beside.parent
    beside_them = (folder / "asset.test.orig").exists()
    originals = sentences(folder, content.problems, content.notes) if beside_them else Sentences()
    if not originals and not any(content.references.values()):
        content.notes.append(f"{beside}: no references; fetch ASSET's and name their folder with --references")
    return originals


def _instance(key: str, content: _Content, originals: Sentences) -> Instance:
    """A sentence with ASSET's simplifications of it, whose numbers begin at 1 here."""
    references = content.references.get(key, ())
    if 1 <= (whole_number(key) or 0) <= len(originals):
        references = (*references, *originals[int(key) - 1][1])
    return Instance(key, references=references, input=content.inputs[key])


def _numbered(key: str) -> tuple[int, str]:
    number = whole_number(key)
    return (-1 if number is None else number, key)


def _dimensions(rated: Sequence[str], averaged: Sequence[str]) -> tuple[Dimension, ...]:
    """The dimensions that there are values on, simplicity first."""
    raw = [d for d in reversed(RATED) if d.name in (*rated, *averaged)]
    z_scores = (
        Dimension(name, definition=f"Released z-score: the mean over raters of {aspect}, standardised by rater.")
        for aspect, name in reversed(STANDARDISED.items())
        if name in averaged
    )
    return (*raw, *z_scores)


def _ranked(board: Board) -> tuple[Board, tuple[str, ...]]:
    """The board ranked by z-scores: by computed ones where single ratings cover what the released ones do."""
    released = STANDARDISED["simplicity"]
    if COMPUTED not in board.aggregates:
        return replace(board, ranks=released if released in board.dimensions else board.ranks), ()
    shape = (len(board.rows), len(board.instances))
    own = {
        ddof: human_scores(board.judgments, replace(board.aggregates[COMPUTED], ddof=ddof), board.dimensions, shape)
        for ddof in (0, 1)
    }
    computed = np.isfinite(own[0])
    if released not in board.dimensions:
        return replace(board, ranks=COMPUTED), ()
    given = board.judgments.means(released, shape)
    both = computed & np.isfinite(given)
    covered = f"{int(both.sum())} of {int(np.isfinite(given).sum())} outputs with a released z-score"
    if int(both.sum()) < int(np.isfinite(given).sum()):
        board = replace(board, ranks=released)
        return board, (f"the released z-scores rank: the single ratings give z-scores of {covered}",)
    apart = {ddof: float(np.abs(scores - given)[both].max()) for ddof, scores in own.items()}
    best = min(apart, key=lambda ddof: apart[ddof])
    chosen = replace(board.aggregates[COMPUTED], ddof=best)
    divided = "n" if best == 0 else "n - 1"
    note = (
        f"{COMPUTED} ranks: z-scores of single ratings for {covered}, which differ by {apart[best]:.2g} at most with "
        f"the standard deviation divided by {divided} (else by {apart[1 - best]:.2g})"
    )
    return replace(board, aggregates={COMPUTED: chosen}, ranks=COMPUTED), (note,)


def _read_metrics(path: Path, board: Board, content: _Content) -> tuple[ImportedColumn, ...]:
    """A column for every released metric and reference set; one for a metric that uses no references."""
    needed = ("sent_id", "sys_name", "test_set")
    columns = read_table(path, content.problems, numbered=True).columns
    metrics = [name for name in columns if name.strip() and name not in needed]
    values: dict[tuple[str, str], dict[str, Floats]] = {}
    seen: dict[object, int] = {}
    unknown: list[str] = []
    for line, cells in read_cells(path, needed, content.problems, content.notes):
        key, system, references = cells["sent_id"], cells["sys_name"], cells["test_set"]
        what = f"{system}'s scores on {key} against {references}"
        if refuse_twice(seen, (key, system, references), what, str(path), line, content.problems):
            continue
        check_name("scores", f"bleu-{references}", str(path), line, content.problems)
        if key not in board.position or system not in board.row_position:
            unknown.append(f"{system} on {key}")
            continue
        for metric in metrics:
            score = read_number(cells[metric], metric, str(path), line, content.problems)
            rows = values.setdefault((metric, references), {})
            rows.setdefault(system, np.full(len(board.instances), np.nan))[board.position[key]] = score
    sets = some(dict.fromkeys(references for _, references in values))
    content.notes.append(f"{path}: {len(seen) * len(metrics):,} scores of {len(metrics)} metrics against {sets}")
    if unknown:
        content.notes.append(f"{path}: left out scores of outputs that nobody judged: {some(dict.fromkeys(unknown))}")
    refuse_errors(content.problems)
    return in_folder_order(_columns(values, board, path, content))


def _columns(
    values: Mapping[tuple[str, str], dict[str, Floats]], board: Board, path: Path, content: _Content
) -> Iterator[ImportedColumn]:
    written: dict[str, dict[str, Floats]] = {}
    own = tuple(name for name in board.reference_names if name.startswith("simp."))
    for (metric, references), rows in values.items():
        is_free = metric in REFERENCE_FREE
        source_name = metric if is_free else f"{metric}-{references}"
        if is_free and source_name in written:
            if not _equal(written[source_name], rows):
                content.notes.append(
                    f"{path}: {metric} differs between reference sets though it uses none; the first is kept"
                )
            continue
        written[source_name] = rows
        turned = {row: 0.0 - scores for row, scores in rows.items()} if metric in LOWER_IS_BETTER else rows
        column = score_column(
            source_name,
            turned,
            name=_name(metric) if is_free else f"{_name(metric)}-{references}",
            references=own if references == "asset" else (),
            needs_references=not is_free,
            needs_input=metric != "fkgl",
        )
        yield replace(column, higher_is_better=metric not in LOWER_IS_BETTER)


def _equal(first: Mapping[str, Floats], second: Mapping[str, Floats]) -> bool:
    """Whether scores are the same wherever both are given."""
    return all(not np.any(np.abs(first[row] - scores) > 1e-9) for row, scores in second.items() if row in first)


def _name(metric: str) -> str:
    """A metric's name as its users write it: amean_bleu_sari is amean(BLEU,SARI)."""
    if metric in NAMES:
        return NAMES[metric]
    kind, *words = metric.split("_")
    return f"{kind}({','.join(WORDS.get(word, word) for word in words)})" if words else metric
