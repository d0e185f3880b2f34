"""Every lexical metric on hostile texts, each in a process of its own: processor seconds, or the clear refusal.

    python benchmarks/bounds.py [--metric NAME] [--limit 60]

An output of each kind is scored against a reference of the same kind that differs from it here and there, and against
an ordinary sentence. A process that takes more than the limit is ended and counts as a failure, as does any other error
than InvalidInput. The last column is what an interrupt (Ctrl-C) takes to end a score that is under way.
"""

from __future__ import annotations

import argparse
import random
import resource
import signal
import subprocess
import sys
import time

from billboards.errors import InvalidInput, MissingPart
from billboards.metrics.base import Batch, score_counted_checked
from billboards.metrics.discovery import metric, metric_class, metric_names

SENTENCE = "The ferry leaves the old pier at noon, and nobody knows when it will be back."
#: What a metric may take for one output, in processor seconds.
BOUND = 10.0


def kinds() -> dict[str, tuple[str, str]]:
    """Hostile texts: an output and a reference that is much like it."""
    draw = random.Random(1)
    distinct = [f"w{draw.randrange(10**9)}" for _ in range(20_000)]
    mixed = [*distinct]
    for _ in range(200):
        mixed[draw.randrange(len(mixed))] = "other"
    letters = "".join(chr(draw.randrange(0x4E00, 0x9FA5)) for _ in range(50_000))
    word = "".join(draw.choices("abcdefgh", k=1_000_000))
    grams = [*"abcdefgh"] * 2500
    shuffled = draw.sample(grams, len(grams))
    return {
        "100,000 times the": (" ".join(["the"] * 100_000), " ".join(["the"] * 99_000 + ["a"] * 1000)),
        "20,000 distinct words": (" ".join(distinct), " ".join(mixed)),
        "one word of 1 MB": (word, word[::-1]),
        "50,000 CJK characters": (letters, letters[25_000:] + letters[:25_000]),
        "repeated n-grams": (" ".join(grams), " ".join(shuffled)),
        "a b against a c, 2,000 words": ("a b " * 1000, "a c " * 1000),
    }


def lexical_names() -> list[str]:
    """Metrics that need no model, no program and no judge."""
    classes = {name: metric_class(name) for name in metric_names()}
    return [
        name
        for name, found in classes.items()
        if found.__module__.startswith("billboards.metrics.")
        and ".neural." not in found.__module__
        and ".judges." not in found.__module__
        and _is_here(name)
    ]


def _is_here(name: str) -> bool:
    try:
        return bool(metric(name).signature)
    except MissingPart:
        return False


def score(name: str, kind: str) -> None:
    """Score one kind of text, as a process of its own; prints what happened."""
    output, reference = kinds()[kind]
    for text in (reference, SENTENCE):
        batch = Batch([output], [[text]], [text])
        before = time.process_time()
        try:
            score_counted_checked(metric(name), batch)
            print(f"{time.process_time() - before:.2f}", flush=True)
        except InvalidInput as error:
            print(f"refused: {str(error)[:90]}", flush=True)


def measured(name: str, kind: str, limit: int) -> list[str]:
    """What a process of its own says of both references; "over" where it was ended."""
    command = [sys.executable, __file__, "--score", name, kind]
    child = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1)),
    )
    lines = child.stdout.splitlines()
    if child.returncode == 0:
        return lines
    return [*lines, "over" if child.returncode < 0 else f"failed: {child.stderr.strip().splitlines()[-1][:80]}"]


def interrupted(name: str, kind: str) -> str:
    """How long a score that is under way takes to end after an interrupt; "done" where it was over before."""
    child = subprocess.Popen([sys.executable, __file__, "--score", name, kind], stdout=subprocess.DEVNULL, stderr=-3)
    time.sleep(3)
    if child.poll() is not None:
        return "done"
    before = time.monotonic()
    child.send_signal(signal.SIGINT)
    try:
        child.wait(60)
    except subprocess.TimeoutExpired:
        child.kill()
        return "over 60 s"
    return f"{time.monotonic() - before:.1f} s"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--metric", action="append", help="only this one; may be repeated")
    parser.add_argument("--kind", action="append", help="only this kind of text; may be repeated")
    parser.add_argument("--limit", type=int, default=60, help="processor seconds after which a process is ended")
    parser.add_argument("--interrupt", action="store_true", help="measure interrupts, too")
    parser.add_argument("--score", nargs=2, metavar=("NAME", "KIND"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.score:
        score(*arguments.score)
        return 0
    too_long = 0
    print(f"{'metric':<18} {'text':<30} {'like it':>10} {'sentence':>10}  interrupt")
    for name in arguments.metric or lexical_names():
        for kind in arguments.kind or kinds():
            lines = measured(name, kind, arguments.limit)
            too_long += any(line == "over" or line.startswith("failed") or _seconds(line) > BOUND for line in lines)
            like, sentence = (line if len(line) < 11 else "refused" for line in [*lines, "", ""][:2])
            ended = interrupted(name, kind) if arguments.interrupt else ""
            print(f"{name:<18} {kind:<30} {like:>10} {sentence:>10}  {ended}", flush=True)
    return too_long


def _seconds(line: str) -> float:
    return float(line) if line.replace(".", "", 1).isdigit() else 0.0


if __name__ == "__main__":
    sys.exit(main() > 0)
