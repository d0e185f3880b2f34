"""lm-evaluation-harness: what models said and how that was scored, from `--log_samples --output_path DIR`.

Each task's `samples_TASK_TIME.jsonl` lies in a folder of its model and has a line per sample: `doc_id`, `arguments`
(the prompt), `target`, `filtered_resps` (what was scored) or `resps`, the names of its `metrics`, and their values
under these names. A sample may be there once for each filter; the first is read, or the one that is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from billboards.board import DataCard
from billboards.board.judgment_sources import Imported
from billboards.importers._harness import Sample, Samples, files_below, generator_name, numeric, plain_text
from billboards.importers._importer import importer
from billboards.reading import json_lines, read_source, shown

CARD = DataCard(title="Samples of lm-evaluation-harness")
_FILE = re.compile(r"samples_(?P<task>.+?)(_\d{4}-\d\d-\d\dT[\d.:-]+)?\.jsonl$")


@importer(card=CARD)
def lm_eval(
    source: Path,
    *,
    task: Annotated[str | None, "the task, where the folder holds several"] = None,
    filter: Annotated[str | None, "the filter whose answers are read (default: each sample's first)"] = None,
    name: Annotated[str | None, "the board's name (default: the task's)"] = None,
) -> Imported:
    """Outputs and scores that lm-evaluation-harness logged with --log_samples."""
    files = files_below(source, ["samples_*.jsonl"], "samples of lm-evaluation-harness (samples_TASK_TIME.jsonl)")
    samples = Samples()
    tasks = {path: match["task"] for path in files if (match := _FILE.search(path.name))}
    wanted = [path for path in files if task is None or tasks.get(path) == task]
    several = sorted({tasks.get(path, path.stem) for path in wanted})
    if len(several) != 1:
        names = ", ".join(sorted(set(tasks.values())))
        what = f"no task {task!r}" if not several else "several tasks"
        samples.problems.error(str(source), None, f"holds {what}; say --task with one of {names}")
    for path in wanted:
        _read(path, filter, samples)
        samples.check(path)
    return samples.board(source, name, several[0].lower() if several else "lm-eval", CARD)


def _read(path: Path, wanted: str | None, samples: Samples) -> None:
    where, read = str(path), dict[str, str]()
    model = generator_name(path.parent.name)
    for line, item in json_lines(read_source(path), where, samples.problems):
        key = item.get("doc_id")
        if not isinstance(key, int | str):
            samples.problems.error(where, line, f'"doc_id" must be a number or text; found {shown(key)}')
            continue
        by = str(item.get("filter", "none"))
        if (wanted is not None and by != wanted) or (wanted is None and read.setdefault(str(key), by) != by):
            continue
        output = _output(item)
        if output is None:
            samples.problems.error(where, line, '"filtered_resps" or "resps" must hold a text')
            continue
        target = plain_text(item.get("target"))
        names = item.get("metrics")
        scores = numeric({m: item.get(m) for m in names if isinstance(m, str)} if isinstance(names, list) else {})
        samples.add(
            model,
            Sample(
                instance=str(key),
                input=_prompt(item.get("arguments")),
                targets=() if target is None else (target,),
                output=output,
                scores=scores,
            ),
            where,
            line,
        )


def _output(item: Mapping[str, Any]) -> str | None:
    """The answer that was scored; of log-likelihoods the choice that is most probable."""
    for key in ("filtered_resps", "resps"):
        value = item.get(key)
        while isinstance(value, list) and len(value) == 1:
            value = value[0]
        if isinstance(value, str):
            return value
        if isinstance(value, list) and value and all(isinstance(each, list) and each for each in value):
            try:
                likely = [float(each[0][0] if isinstance(each[0], list) else each[0]) for each in value]
                return str(max(range(len(likely)), key=likely.__getitem__))
            except (IndexError, TypeError, ValueError):
                return None
        if isinstance(value, list) and value and isinstance(value[0], str):
            return str(value[0])
    return None


def _prompt(arguments: object) -> str | None:
    """The first prompt: arguments are a list of lists, or an object of objects in newer versions."""
    while isinstance(arguments, list | dict) and arguments:
        arguments = arguments[0] if isinstance(arguments, list) else next(iter(arguments.values()))
    return arguments if isinstance(arguments, str) else None
