"""Command lines, run by the package's outer door in a folder of their own, and what came of them.

A run is a document: the arguments, the exit code, what was printed (JSON as a document, all else as text), and the
files that were written beside what is computed anew from them. Kept and repeated runs are made alike, so that they can
be compared.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import re
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from frozen_documents import FITTED, RELATIVE, TURNED, differences, normalised, text_differences

import billboards as bb
from billboards.__main__ import main

#: Files whose contents are a matter of taste, or of no interest: that they are written is enough.
UNREAD = (".html", ".svg", ".parquet")
#: What a database writes at any time.
RESTLESS = (".sqlite", "-wal", "-shm", ".lock")
#: Characters of a text for other tools that are kept as they are.
LONGEST = 1500
#: A command that prints nothing and says in a note how much it did.
COUNTING = ("score",)
ENVIRONMENT = {"COLUMNS": "200", "NO_COLOR": "1", "TERM": "dumb", "BILLBOARDS_OFFLINE": "1"}


def form_of(argv: Sequence[str]) -> str:
    """What a command line prints: json, csv, latex, html, lines (for other tools) or a table (for people)."""
    for form in ("json", "csv", "latex", "html"):
        if f"--{form}" in argv:
            return form
    return "lines" if "write" in argv or "--markdown" in argv or "template" in argv else "table"


def abridged(text: str) -> Any:
    """A text's lines; of a long one its beginning, and a digest of all of it."""
    lines = text.splitlines()
    if len(text) <= LONGEST:
        return lines
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    return {"begins": [line[:200] for line in lines[:3]], "lines": len(lines), "digest": digest}


def one_sided(argv: Sequence[str]) -> list[str]:
    """How a line is asked now: version 0.1 tested with one side, in the direction seen, and had no word for it."""
    pairs = ("suite run", "suite rank", "metric report")
    tested = argv[0] in ("rank", "compare", "hybrids") or " ".join(argv[:2]) in pairs
    return ["--sides", "one"] if tested else []


def mixed(argv: Sequence[str]) -> list[str]:
    """How a suite is asked now: version 0.1 mixed preferences with correlations in the mean over boards."""
    asked = argv[0] == "metric" or " ".join(argv[:2]) in ("suite run", "suite rank", "suite tables")
    # A report on a metric left columns out that came with boards.
    own = ["--imported", "no"] if argv[0] == "metric" else []
    return ["--preferences", "mixed", *own] if asked else []


def one_attack(argv: Sequence[str]) -> list[str]:
    """How an audit is asked now: version 0.1 tried one attack, which was reranking where it chose one by itself."""
    return ["--method", "rerank"] if argv[0] == "audit" and "--method" not in argv else []


#: What an audit amounts to: since 0.2 people outrank metrics there, and a search that failed clears nobody.
VERDICT = ("level", "words", "signs")


def _without_verdict(document: Any) -> Any:
    """Audits without their verdicts, whose numbers stay."""
    if isinstance(document, dict) and document.get("kind") == "audits":
        return {**document, "audits": [_without_verdict(audit) for audit in document["audits"]]}
    if isinstance(document, dict) and document.get("kind") == "audit":
        return {key: value for key, value in document.items() if key not in VERDICT}
    return document


def compares_all(argv: Sequence[str]) -> bool:
    """Whether a line compares every two metrics: version 0.1 doubled one side's p there, now both sides are counted."""
    return argv[0] == "compare" and (len(argv) == 2 or argv[2].startswith("-"))


def _without_p(document: Any) -> Any:
    """A comparison of every two metrics without its p-values."""
    if isinstance(document, dict) and "compared" in document:
        gone = ("p", "holm", "bh", "p_accuracy")
        pairs = [{k: v for k, v in pair.items() if k not in gone} for pair in document["compared"]]
        document = {**document, "compared": sorted(pairs, key=lambda pair: (pair["first"], pair["second"]))}
    return document


def _without_ties(document: Any) -> Any:
    """A comparison that names none of the examples that decide equally: their order hung on version 0.1's processor.

    The last example may be as good as one that is not shown.
    """
    if not isinstance(document, dict):
        return document
    for side in ("for_first", "for_second"):
        if shown := document.get(side):
            often = Counter(example["weight"] for example in [*shown, shown[-1]])
            alone = [example if often[example["weight"]] == 1 else {"weight": example["weight"]} for example in shown]
            document = {**document, side: alone}
    return document


def _general_words(contents: Any) -> Any:
    """A message without the list of what is known, which grows."""
    return json.loads(re.sub(r"; known: [^\"]*", "; known", json.dumps(contents)))


def run_line(argv: Sequence[str], folder: Path) -> dict[str, Any]:
    """Run a command line in a folder; what it printed and wrote, made comparable."""
    before = _digests(folder)
    printed = io.StringIO()
    with working_in(folder), contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()) as notes:
        try:
            rc = main([*argv, *one_sided(argv), *mixed(argv), *one_attack(argv)])
        except SystemExit as ended:
            rc = ended.code if isinstance(ended.code, int) else 2
    text = printed.getvalue()
    record: dict[str, Any] = {"argv": list(argv), "rc": rc}
    record["stdout"] = _printed(text, form_of(argv))
    written = {name: path for name, path, mark in _files(folder) if before.get(name) != mark}
    if form_of(argv) == "json":
        # A suite's results are what is printed.
        written = {name: path for name, path in written.items() if not name.endswith(".results.json")}
    if written and form_of(argv) not in ("csv", "latex"):
        record["files"] = {_general(name): _contents(path) for name, path in sorted(written.items())}
    record = dict(normalised(record, folder=str(folder)))
    record |= {"files": {normalised(name): file for name, file in record["files"].items()}} if "files" in record else {}
    if rc:
        # What was wrong is said in words that may become better; which exit code it has may not change.
        record["said"] = bool(notes.getvalue().strip())
    if argv[0] in COUNTING:
        record["counts"] = [int(word) for word in re.findall(r"\b\d+\b", notes.getvalue().replace(str(folder), ""))]
    return record


def kept_run(version: Path, line: str) -> dict[str, Any]:
    """The kept run of a command line that prints JSON, from a version's folder."""
    for path in (version / "commands").glob("*.json"):
        run: dict[str, Any] = json.loads(path.read_text("utf-8"))
        if run["argv"] == [*line.split(), "--json"]:
            return run
    raise LookupError(line)


#: Since 0.2 there are more templates.
TEMPLATES = ["campaign", "template", "list"]
#: Version 0.1 refused a board whose card lacked facts; now it is a draft.
FACTLESS = ["import", "table", "inputs/notices.csv", "-o", "out"]


def precision(argv: Sequence[str]) -> float:
    """How nearly a line's numbers must agree."""
    return FITTED if {"annotators", "severity", "--crossed"} & set(argv) else RELATIVE


def run_differences(kept: dict[str, Any], now: dict[str, Any]) -> Iterator[str]:
    """Where a run that was repeated came to something else."""
    if kept["argv"] == FACTLESS:
        yield from differences({"rc": 0}, now, "run")
        return
    yield from differences({word: kept[word] for word in ("rc", "said") if word in kept}, now, "run")
    # Cells of version 0.1 are scored again for their counts: computed and present change places, their sum does not.
    yield from differences(sum(kept.get("counts", ())), sum(now.get("counts", ())), "run.counts")
    if compares_all(kept["argv"]) and form_of(kept["argv"]) != "json":
        return
    relative = precision(kept["argv"])
    if form_of(kept["argv"]) == "latex":
        # Since 0.2 LaTeX is laid out for papers, with short captions and columns that fit; CSV and JSON are compared.
        if "\\begin{tabular" not in str(now["stdout"]):
            yield "LaTeX has no table"
        return
    if kept["argv"] == TEMPLATES:
        yield from (f"is gone: {line}" for line in kept["stdout"] if line not in now["stdout"])
        return
    if kept["argv"][:2] == ["ratings", "agreement"] and "appeal" in kept["argv"]:
        # Since 0.2 weighted kappa counts steps of the whole scale, not of the values that occur.
        if isinstance(kept["stdout"], dict):
            yield from differences(_without_kappa(kept["stdout"]), now["stdout"])
        return
    if compares_all(kept["argv"]):
        yield from differences(_without_p(kept["stdout"]), _without_p(now["stdout"]))
    elif isinstance(kept["stdout"], str) and isinstance(now["stdout"], str):
        form = form_of(kept["argv"])
        # An audit's tables have further columns and rows since 0.2; every number of before is still there.
        form = "longer table" if kept["argv"][0] == "audit" and form == "table" else form
        yield from text_differences(kept["stdout"], now["stdout"], form, relative=relative)
    else:
        before = _without_ties(_without_verdict(_general_words(kept["stdout"])))
        after = _without_ties(_general_words(_told_before(now["stdout"])))
        yield from differences(_without_chance(before, after), after, relative=relative)
    for name, contents in kept.get("files", {}).items():
        if name not in now.get("files", {}):
            yield f"{name}: was not written"
        elif kept["argv"][0] != "new" and kept["argv"][:2] != ["suite", "new"]:
            # A skeleton explains every key there is, also those that came later.
            yield from _file_differences(name, contents, now["files"][name])


def _without_kappa(document: Any) -> Any:
    if isinstance(document, dict):
        return {key: _without_kappa(item) for key, item in document.items() if key != "kappa"}
    return [_without_kappa(item) for item in document] if isinstance(document, list) else document


def _without_chance(kept: Any, now: Any) -> Any:
    """A document without what hangs on the machine (a fit's steps) or on time (what has expired since)."""
    if isinstance(kept, dict) and isinstance(now, dict):
        later = {key for key in ("count", "bytes") if "what" in kept and (now.get(key) or 0) > (kept.get(key) or 0)}
        return {
            key: _without_chance(item, now.get(key))
            for key, item in kept.items()
            if key not in later and not (key == "iterations" and "alphas" in kept)
        }
    if isinstance(kept, list) and isinstance(now, list) and len(kept) == len(now):
        return [_without_chance(old, new) for old, new in zip(kept, now, strict=True)]
    return kept


#: What `check` says of since 0.2: copies in disguise, and outputs in another language.
FURTHER_DOUBTS = ("outputs are references, or nearly", "outputs are another row's", "are not in the language of")


def _told_before(document: Any) -> Any:
    """A document without the doubts that version 0.1 did not have."""
    if not isinstance(document, dict) or "problems" not in document:
        return document
    told = [each for each in document["problems"] if not any(words in each["message"] for words in FURTHER_DOUBTS)]
    return document | {"problems": told}


def _file_differences(name: str, kept: Any, now: Any) -> Iterator[str]:
    """Where a file that was written says something else.

    Since 0.2 a table of scores of which lower is better is written as it came, and board.toml says so in one line more.
    """
    if any(name.endswith(f"scores/{turned}.tsv") for turned in TURNED):
        yield from differences(_unsigned(kept), _unsigned(now), name)
    elif name.endswith("out/board.toml") and isinstance(kept, dict) and now.get("lines") == kept.get("lines", 0) + 1:
        return
    else:
        yield from differences(_without_verdict(kept), now, name)


def _unsigned(lines: list[str]) -> list[list[str]]:
    return [[cell.lstrip("-") for cell in line.split("\t")] for line in lines]


@contextlib.contextmanager
def working_in(folder: Path) -> Iterator[None]:
    """Be in a folder, with surroundings that are the same everywhere."""
    kept = dict(os.environ)
    back = Path.cwd()
    os.chdir(folder)
    os.environ.update(ENVIRONMENT, BILLBOARDS_PACKS=str(folder / ".packs"))
    os.environ.update(BILLBOARDS_JUDGE_CACHE=str(folder / ".judges" / "answers.sqlite"))
    try:
        yield
    finally:
        os.chdir(back)
        os.environ.clear()
        os.environ.update(kept)


def board_facts(workspace: Path) -> dict[str, Any]:
    """What Python sees of every board; its version is a digest of all that a ranking can depend on."""
    facts = {}
    for path in sorted(workspace.glob("*/board.toml")):
        board = bb.open(str(path.parent))
        facts[path.parent.name] = {
            "name": board.name,
            "version": board.version,
            "instances": [instance.id for instance in board.instances],
            "generators": {generator.name: generator.kind for generator in board.generators},
            "references": list(board.reference_names),
            "dimensions": sorted(board.dimensions),
            "aggregates": sorted(board.aggregates),
            "metrics": list(board.metrics),
        }
    return facts


def copied(source: Path, target: Path, argv: Sequence[str]) -> Path:
    """A copy, that may be changed, of what a command line names; a suite names boards."""
    named = {word.partition("/")[0] for word in argv}
    for path in source.iterdir():
        if path.name in named or "suite.toml" in named:
            (shutil.copytree if path.is_dir() else shutil.copy)(path, target / path.name)
    return target


def _files(folder: Path) -> Iterator[tuple[str, Path, bytes]]:
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if (
            path.is_file()
            and not name.endswith(RESTLESS)
            and not any(part.startswith(".") for part in path.relative_to(folder).parts)
        ):
            yield name, path, path.read_bytes()


def _digests(folder: Path) -> dict[str, bytes]:
    return {name: mark for name, _, mark in _files(folder)}


def _general(name: str) -> str:
    """A file's name; one that is a digest of all that the file says changes when a key is added."""
    folder, _, file = name.rpartition("/")
    return f"{folder}/ID.json" if folder.endswith("/rankings") and file.endswith(".json") else name


def _printed(text: str, form: str) -> Any:
    if form == "json" and text.strip():
        return json.loads(text)
    if form == "html":
        return text.strip()[:15].lower()
    return abridged(text) if form == "lines" else text


def _contents(path: Path) -> Any:
    if path.suffix in UNREAD:
        return None
    text = path.read_text("utf-8")
    if path.suffix != ".json":
        return abridged(text)
    document = json.loads(text)
    if isinstance(document, dict) and path.parent.name == "rankings":
        document.pop("id", None)
    return document
