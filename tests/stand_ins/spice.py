"""Stands in for `java -jar spice-1.0.jar`: the same arguments, the same JSON in and out, words in the place of tuples.

What is written in the jar's file makes it misbehave: `crash`, `garbage`, `silence`, `hang` or `gap`.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any


def f_measure(output: str, references: list[str]) -> float:
    ours, theirs = set(output.lower().split()), {word for text in references for word in text.lower().split()}
    both = len(ours & theirs)
    return 2 * both / (len(ours) + len(theirs)) if both else 0.0


def scores(question: dict[str, Any]) -> dict[str, Any]:
    f = f_measure(question["test"], question["refs"])
    return {"image_id": question["image_id"], "scores": {"All": {"pr": f, "re": f, "f": f, "fn": 0.0}}}


def main(memory: str, jar_option: str, jar: str, asked: str, *options: str) -> None:
    assert (memory[:4], jar_option, options[0], options[2:]) == ("-Xmx", "-jar", "-out", ("-subset", "-silent"))
    misbehaviour = Path(jar).read_text("utf-8").strip()
    if misbehaviour == "crash":
        sys.exit("Exception in thread main: no parser models")
    if misbehaviour == "hang":
        time.sleep(60)
    answers = [scores(question) for question in json.loads(Path(asked).read_text("utf-8"))]
    # The real program answers in an order of its own.
    text = json.dumps(answers[1:] if misbehaviour == "gap" else answers[::-1])
    if misbehaviour != "silence":
        Path(options[1]).write_text("not JSON" if misbehaviour == "garbage" else text, "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
