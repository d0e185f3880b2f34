"""WebNLG 2020 (Castro Ferreira et al., 2020): systems put sets of triples into words, rated for five qualities.

A clone of the challenge's repository, for English or Russian: `evaluation/human-evaluation/results/LANG/` has a list of
standardised mean ratings (`submission_id`, `sample_id`, `category`, `size` and five dimensions), `data/LANG/test/` the
inputs with their references as XML, and `submissions/rdf2text/LANG/TEAM/primary.LANG` a line per input. A sample is the
entry of that number, and the line of that number.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from billboards.board import DataCard, Dimension, Instance, Judgment
from billboards.board.judgment_sources import Imported
from billboards.errors import ImportRefused
from billboards.importers._assembling import (
    assemble,
    check_name,
    counts,
    find_file,
    read_json,
    read_lines,
    references,
    rows_of_generators,
)
from billboards.importers._importer import importer
from billboards.reading import Problems, is_number, read_source, refuse_errors, shown

LANGUAGES = {"en": "english", "ru": "russian"}
DIMENSIONS = {
    "Correctness": "Does the text describe the predicates it mentions with the right objects and subjects?",
    "DataCoverage": "Does the text include descriptions of all predicates in the data?",
    "Fluency": "Does the text progress naturally and form a coherent whole, easy to understand?",
    "Relevance": "Does the text describe only predicates that are in the data?",
    "TextStructure": "Is the text grammatical, well structured, and in acceptable language?",
}
SCALES = tuple(Dimension(name, definition=f"{text} Standardised by worker.") for name, text in DIMENSIONS.items())
CARD = DataCard(
    title="WebNLG 2020, human evaluation",
    task="Put one to seven RDF triples into words",
    source="https://github.com/WebNLG/challenge-2020",
    licence="None stated for the ratings; the WebNLG corpus is CC-BY-NC-SA-4.0",
    citation="Castro Ferreira et al. (2020): The 2020 Bilingual, Bi-Directional WebNLG+ Shared Task",
    protocol="Workers saw the triples and one text and rated five dimensions on sliders from 0 to 100; ratings are "
    "standardised by worker and averaged",
    annotators="Crowd workers, mostly three per text; the release used here has the means",
)


@importer(card=CARD)
def webnlg_2020(source: Path, *, language: Annotated[Literal["en", "ru"], "en (default) or ru"] = "en") -> Imported:
    """WebNLG 2020: triples put into words, rated for five qualities."""
    path = find_file(source, (f"{LANGUAGES[language]}_humeval_data_all_teams.json",), "WebNLG 2020's ratings")
    problems, notes = Problems(), list[str]()
    rated = _rated(path, problems)
    test = find_file(source, (f"rdf-to-text-generation-test-data-with-refs-{language}.xml",), "the test set")
    instances, entries = _instances(test, {item["sample_id"]: item for item in rated}, problems)
    refuse_errors(problems)
    texts, judgments = dict[str, dict[str, str]](), list[Judgment]()
    outputs = _outputs(source, language, entries, problems, notes)
    for item in rated:
        team, key = item["submission_id"], item["sample_id"]
        text = outputs.get(_folded(team), {}).get(key)
        if text is None:
            problems.error(str(path), None, f"{team} has no text for sample {key} among the submissions")
            continue
        check_name("generator", team, str(path), None, problems)
        if texts.setdefault(team, {}).setdefault(key, text) is not text:
            problems.error(str(path), None, f"{team} is rated twice on sample {key}")
        values = {d.name: float(item[d.name]) for d in SCALES}
        judgments.append(Judgment(instance=key, outputs=(team,), values=values, annotator=None, campaign="crowd"))
    refuse_errors(problems)
    board = assemble(
        f"webnlg-2020-{language}",
        instances,
        rows_of_generators(instances, texts),
        judgments,
        dimensions=SCALES,
        ranks="Correctness",
        output_language=language,
    )
    return Imported(board, (counts(path, board), *notes))


def _rated(path: Path, problems: Problems) -> list[Mapping[str, Any]]:
    items = read_json(path)
    if not isinstance(items, list) or not items:
        raise ImportRefused(f"{path}: must be a list of ratings; found {shown(items)}")
    for k, item in enumerate(items):
        right = isinstance(item, dict) and all(
            isinstance(item.get(key), str) for key in ("submission_id", "sample_id", "category", "size")
        )
        if not right or not all(is_number(item.get(name)) for name in DIMENSIONS):
            problems.error(str(path), None, f"entry {k} lacks its names or one of {', '.join(DIMENSIONS)}")
    refuse_errors(problems)
    return items


def _instances(
    path: Path, wanted: Mapping[str, Mapping[str, Any]], problems: Problems
) -> tuple[tuple[Instance, ...], int]:
    """The inputs that were rated, in the order of the test set, and how many it has."""
    raw = read_source(path)
    if b"<!DOCTYPE" in raw or b"<!ENTITY" in raw:
        raise ImportRefused(f"{path}: declares entities, which this data set doesn't; fetch the file again")
    try:
        raw.decode("utf-8")
        entries = ElementTree.fromstring(raw).iter("entry")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ImportRefused(f"{path}:{line}: not UTF-8; fetch the file again") from error
    except ElementTree.ParseError as error:
        raise ImportRefused(f"{path}:{error.position[0]}: not XML: {error}; fetch the file again") from error
    except (LookupError, ValueError) as error:
        raise ImportRefused(f"{path}: names an encoding that it isn't in: {error}; fetch the file again") from error
    instances: dict[str, Instance] = {}
    keys: set[str] = set()
    for entry in entries:
        key = (entry.get("eid") or "").removeprefix("Id")
        if key in keys:
            problems.error(str(path), None, f"entry {key} appears twice")
        keys.add(key)
        if key in wanted:
            rating = wanted[key]
            if (entry.get("category"), entry.get("size")) != (rating["category"], rating["size"]):
                problems.error(str(path), None, f"entry {key} is of another category or size than the ratings say")
            triples = "<br>".join(element.text or "" for element in entry.iter("mtriple"))
            texts = references(element.text or "" for element in entry.iter("lex"))
            instances[key] = Instance(
                key, references=texts, input=triples, domain=rating["category"], tags=(f"{rating['size']}triple",)
            )
    missing = sorted(wanted.keys() - instances.keys())
    if missing:
        problems.error(str(path), None, f"has no entry {missing[0]}; the file may be cut off")
    return tuple(instances.values()), len(keys)


def _outputs(
    source: Path, language: str, entries: int, problems: Problems, notes: list[str]
) -> dict[str, dict[str, str]]:
    """Every team's lines by their number; each must have as many as the test set has entries."""
    root = source / "submissions" / "rdf2text" / language
    files = sorted(root.glob(f"*/primary.{language}")) + sorted(root.glob(f"*/*/primary.{language}"))
    if not files:
        raise ImportRefused(f"{root}: holds no submissions (looked for TEAM/primary.{language})")
    outputs = {}
    for path in files:
        team = path.relative_to(root).parts[0]
        lines = {str(line): text.strip() for line, text in read_lines(path, problems, notes)}
        if len(lines) != entries and not problems.errors:
            problems.error(str(path), None, f"{len(lines)} lines where the test set has {entries} entries; cut off?")
        outputs[_folded(team)] = lines
    return outputs


def _folded(team: str) -> str:
    """A team's name as folders and ratings write it alike."""
    return re.sub(r"[\W_]+", "", team).casefold()
