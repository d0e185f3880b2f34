"""WebNLG 2017 (Shimorina et al., 2018): nine systems and the references put 223 sets of triples into words.

The release has a row per rating (`all_data_final_scores_anonymised.csv`: `X_worker_id`, `mr`, `team`, `text`,
`fluency`, `grammaticality`, `semantic_adequacy`, the challenge's own `bleu`, `meteor` and `ter`, and more), and files
with a line per input: `MRs.txt`, `sample-ids.txt` and up to three references each (`gold-sample-reference0.lex` and on;
a blank line is no reference). Copies have them in a folder `webnlg-human-evaluation-master`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path

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
)
from billboards.board.judgment_sources import Imported
from billboards.errors import ImportRefused
from billboards.importers._assembling import (
    Cells,
    assemble,
    check_name,
    counts,
    find_file,
    in_folder_order,
    read_cells,
    read_lines,
    refuse_twice,
    rows_of_generators,
    score_column,
    value_within,
)
from billboards.importers._importer import importer
from billboards.reading import Problems, read_number, refuse_errors, shown

CAMPAIGN = "crowd"
SCALE = (1.0, 3.0)
FLUENCY = Dimension("fluency", range=SCALE, definition="Does the text sound fluent and natural?")
GRAMMAR = Dimension("grammar", range=SCALE, definition="Is the text grammatical: no errors of spelling or grammar?")
SEMANTICS = Dimension("semantics", range=SCALE, definition="Does the text correctly represent the meaning in the data?")
COLUMNS = {"fluency": FLUENCY, "grammaticality": GRAMMAR, "semantic_adequacy": SEMANTICS}
NEEDED = ("X_worker_id", "mr", "team", "text", "category", "type", "triplesize", *COLUMNS)
HUMAN = "webnlg"
#: What stands where a rating doesn't say whose it is.
NOBODY = frozenset({"", "na"})
#: Released scores, and whether higher is better.
SCORES = {"bleu": True, "meteor": True, "ter": False}
CARD = DataCard(
    title="WebNLG 2017, human evaluation",
    task="Put one to five RDF triples into words",
    source="https://gitlab.com/webnlg/webnlg-human-evaluation",
    licence="None stated for the ratings; the WebNLG corpus is CC-BY-NC-SA-4.0",
    citation="Shimorina et al. (2018): WebNLG Challenge: Human Evaluation Results; Gardent et al. (2017): The WebNLG "
    "Challenge: Generating Text from RDF Data",
    protocol="Workers saw the triples and one text and answered three questions, each on a scale from 1 to 3",
    annotators="Crowd workers of CrowdFlower from English-speaking countries, three per text after the unreliable "
    "ones were removed; some texts kept fewer or more",
    comments="Texts and references are lowercased and tokenised as the challenge scored them. The generator webnlg is "
    "the first reference.",
)
QUALITY = Aggregate("quality", (FLUENCY.name, GRAMMAR.name, SEMANTICS.name))


@dataclass
class _Content:
    """What the rows read so far say, by the place of the input among the lines."""

    about: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    texts: dict[str, dict[str, str]] = field(default_factory=dict)
    judgments: list[Judgment] = field(default_factory=list)
    kinds: dict[str, str] = field(default_factory=dict)
    scores: dict[str, dict[tuple[str, str], float]] = field(default_factory=dict)
    unknown: int = 0


@importer(card=CARD)
def webnlg_2017(source: Path) -> Imported:
    """WebNLG 2017: triples put into words, rated by a crowd."""
    ratings = find_file(source, ("all_data_final_scores_anonymised.csv",), "WebNLG 2017's ratings")
    problems, notes = Problems(), list[str]()
    inputs = _inputs(ratings.parent, problems, notes)
    named = {text: key for key, text in inputs.items()}
    content = _Content()
    seen: dict[tuple[str, ...], int] = {}
    for line, cells in read_cells(ratings, NEEDED, problems, notes):
        if not refuse_twice(seen, tuple(cells.values()), "this very row", str(ratings), line, problems):
            _read_rating(cells, named, content, str(ratings), line, problems)
    refuse_errors(problems)
    instances = _instances(ratings.parent, inputs, content, problems, notes)
    refuse_errors(problems)
    generators = {name: _generator(name, content.kinds[name]) for name in content.texts}
    rows = rows_of_generators(instances, content.texts, generators)
    board = assemble(
        "webnlg-2017",
        instances,
        rows,
        content.judgments,
        dimensions=(FLUENCY, GRAMMAR, SEMANTICS),
        ranks=QUALITY.name,
        aggregates=(QUALITY,),
        output_language="en",
    )
    if content.scores:
        names = ", ".join(content.scores)
        notes.append(f"{ratings}: the challenge's own {names} come along, but for {HUMAN}, which is a reference itself")
    if content.unknown:
        notes.append(f"{ratings}: {content.unknown} ratings don't say whose they are")
    scored = replace(board, imported=in_folder_order(_columns(content, board)))
    return Imported(scored, (counts(ratings, board), *notes))


def _columns(content: _Content, board: Board) -> Iterator[ImportedColumn]:
    """The challenge's scores of every output, turned so that higher is better."""
    for name, scores in content.scores.items():
        sign = 1.0 if SCORES[name] else -1.0
        values = {
            team: np.array([sign * scores.get((team, instance.id), np.nan) for instance in board.instances])
            for team in content.texts
            if team != HUMAN
        }
        column = score_column(f"webnlg-{name}", values, references=board.reference_names)
        yield replace(column, higher_is_better=SCORES[name])


def _generator(name: str, kind: str) -> Generator:
    if name == HUMAN:
        return Generator(name, kind="human", description="The first reference")
    return Generator(name, description=f"System type: {kind}" if kind else None)


def _inputs(folder: Path, problems: Problems, notes: list[str]) -> dict[str, str]:
    """The sampled inputs by their ids, in the order of the lines."""
    ids = [(line, key) for line, key in read_lines(folder / "sample-ids.txt", problems, notes) if key.strip()]
    texts = [text for _, text in read_lines(folder / "MRs.txt", problems, notes)]
    if len(ids) != len(texts) and not problems.errors:
        raise ImportRefused(f"{folder}: sample-ids.txt has {len(ids)} lines and MRs.txt {len(texts)}; fetch them again")
    inputs: dict[str, str] = {}
    seen: dict[str, int] = {}
    for (line, key), text in zip_longest(ids, texts, fillvalue=(0, "")):
        check_name("instance", str(key), str(folder / "sample-ids.txt"), int(line), problems)
        refuse_twice(seen, key, f"id {shown(key)}", str(folder / "sample-ids.txt"), int(line), problems)
        refuse_twice(seen, f"input {text}", f"input {shown(text)}", str(folder / "MRs.txt"), int(line), problems)
        inputs[str(key)] = str(text)
    return inputs


def _read_rating(
    cells: Cells, named: dict[str, str], content: _Content, path: str, line: int, problems: Problems
) -> None:
    key, team = named.get(cells["mr"]), cells["team"]
    if key is None:
        problems.error(path, line, f"input {shown(cells['mr'])} is not among the lines of MRs.txt")
        return
    check_name("generator", team, path, line, problems)
    about = (cells["category"], cells["type"], cells["triplesize"])
    if content.about.setdefault(key, about) != about:
        problems.error(path, line, f"category, type or size of {shown(cells['mr'])} differ from another row's")
    text = cells["text"].strip()
    if content.texts.setdefault(team, {}).setdefault(key, text) != text:
        problems.error(path, line, f"{team} has two texts for one input")
    content.kinds[team] = cells.get("systemtype", "")
    for name in SCORES:
        if name in cells:
            score = read_number(cells[name], name, path, line, problems)
            if content.scores.setdefault(name, {}).setdefault((team, key), score) != score and not problems.errors:
                problems.error(path, line, f"{name} of {team} on one input differs from another row's")
    values = {d.name: value_within(cells[column], d, path, line, problems) for column, d in COLUMNS.items()}
    worker = cells["X_worker_id"].strip()
    annotator = None if worker.lower() in NOBODY else worker
    content.unknown += annotator is None
    content.judgments.append(
        Judgment(instance=key, outputs=(team,), values=values, annotator=annotator, campaign=CAMPAIGN)
    )


def _instances(
    folder: Path, inputs: dict[str, str], content: _Content, problems: Problems, notes: list[str]
) -> tuple[Instance, ...]:
    files = sorted(folder.glob("gold-sample-reference*.lex"))
    if not files:
        raise ImportRefused(f"{folder}: holds no references (looked for gold-sample-reference0.lex)")
    columns = []
    for path in files:
        lines = [text.strip() for _, text in read_lines(path, problems, notes)]
        if len(lines) != len(inputs) and not problems.errors:
            problems.error(str(path), None, f"{len(lines)} lines where {len(inputs)} inputs are; fetch the file again")
        columns.append((path.stem.removeprefix("gold-sample-"), [*lines, *[""] * (len(inputs) - len(lines))]))
    return tuple(
        Instance(
            key,
            references=tuple(Reference(name, lines[k]) for name, lines in columns if lines[k]),
            input=text,
            domain=content.about[key][0] if key in content.about else None,
            tags=content.about[key][1:] if key in content.about else (),
        )
        for k, (key, text) in enumerate(inputs.items())
    )
