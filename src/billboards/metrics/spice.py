"""SPICE (Anderson et al. 2016) through its authors' program, where the user has it.

SPICE parses captions into scene graphs with Stanford's parser, which no reimplementation equals; so the official jar is
called, with all outputs of a batch in one JSON file and its answer in another. It runs with bounded memory and time,
in a folder of its own that is removed afterwards.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from billboards.errors import MetricFailed, MissingPart
from billboards.metrics.base import Batch, Floats, Metric, MetricCard
from billboards.reading import json_value

#: The environment variable that names the jar.
VARIABLE = "BILLBOARDS_SPICE"
#: Java's memory, and the seconds it may take: to load its models, and for each output with its references.
MEMORY, LOADING, PER_OUTPUT = "8G", 300, 10


@dataclass(frozen=True)
class SPICE(Metric):
    """F measure of the objects, attributes and relations that output and references speak of."""

    multiple_references: ClassVar[Literal["own", "best"]] = "own"
    #: Loading the parser takes longer than most batches, so the program is called once for all outputs of a generator.
    needs_corpus: ClassVar[bool] = True
    card: ClassVar[MetricCard] = MetricCard(
        name="SPICE",
        summary="F measure of the objects, attributes and relations that a caption shares with its references",
        needs_part="Java, and SPICE-1.0 with its libraries where BILLBOARDS_SPICE says",
        range=(0.0, 1.0),
        languages=("en",),
        training_data="the Stanford parser's treebanks and scene graphs of images; WordNet for synonyms",
        licence="AGPL-3.0 (the authors' program, not part of billboards), GPL-3.0 (Stanford CoreNLP)",
        paper="Anderson et al. 2016, SPICE: Semantic Propositional Image Caption Evaluation, ECCV",
        failures="Blind to fluency: a list of the right tuples scores well. Only as good as its parser, on captions; "
        "other kinds of text parse badly. Needs Java and about 8 GB of memory, and seconds for each output.",
        slow=True,
    )

    @property
    def needs_all_outputs(self) -> bool:
        return False

    def versions(self) -> dict[str, str]:
        return {"jar": _digest(jar())}

    def score_batch(self, batch: Batch) -> Floats:
        if not len(batch):
            return np.empty(0)
        with tempfile.TemporaryDirectory(prefix="billboards-spice-") as folder:
            answers = _ask(jar(), _questions(batch), Path(folder))
        scores = {answer["image_id"]: answer["scores"]["All"]["f"] for answer in answers}
        if missing := [k for k in range(len(batch)) if scores.get(k) is None]:
            raise MetricFailed(f"SPICE: no score for {batch.outputs[missing[0]][:60]!r} in the program's answer")
        return np.array([scores[k] for k in range(len(batch))], np.float64)


def jar() -> Path:
    """The program's file, as the environment names it."""
    named = os.environ.get(VARIABLE)
    if not named or not Path(named).is_file():
        state = f"{VARIABLE}={named} is no file" if named else f"{VARIABLE} is not set"
        raise MissingPart(
            f"SPICE needs its authors' program, and {state}: get SPICE-1.0 with its folder lib and the Stanford "
            f"CoreNLP 3.6.0 jars in it, and set {VARIABLE} to the path of spice-1.0.jar"
        )
    return Path(named).resolve()


@cache
def _digest(path: Path) -> str:
    return blake2b(path.read_bytes(), digest_size=4).hexdigest()


def _questions(batch: Batch) -> list[dict[str, object]]:
    return [{"image_id": k, "test": item.output, "refs": list(item.references)} for k, item in enumerate(batch.items())]


def _ask(program: Path, questions: list[dict[str, object]], folder: Path) -> list[Any]:
    """The program's answers; it reads one file and writes another."""
    asked, answered = folder / "input.json", folder / "output.json"
    asked.write_text(json.dumps(questions), "utf-8")
    java = shutil.which("java")
    if java is None:
        raise MissingPart(
            "SPICE needs Java, and there is no program `java`; install a Java runtime (Debian: default-jre)"
        )
    options = [str(asked), "-out", str(answered), "-subset", "-silent"]
    _run([java, f"-Xmx{MEMORY}", "-jar", str(program), *options], program.parent, LOADING + PER_OUTPUT * len(questions))
    try:
        answers: list[Any] = json_value(answered.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise MetricFailed(f"SPICE: the program ended without a readable answer ({error})") from error
    return answers


def _run(command: list[str], folder: Path, seconds: int) -> None:
    try:
        subprocess.run(command, cwd=folder, capture_output=True, check=True, timeout=seconds, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired as error:
        raise MetricFailed(f"SPICE: no answer after {seconds} s; score fewer outputs at a time") from error
    except subprocess.CalledProcessError as error:
        complaint = error.stderr.decode("utf-8", "replace").strip().splitlines() or ["(nothing)"]
        raise MetricFailed(f"SPICE: the program failed with code {error.returncode}: {complaint[0]}") from error


METRICS = {"SPICE": SPICE}
