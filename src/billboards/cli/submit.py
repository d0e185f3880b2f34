"""Submit a generator or a metric to a site, and wait for the result.

billboards submit generator outputs.jsonl --to http://127.0.0.1:8000 --board demo --name my-system
billboards submit metric my-metric/ --to http://127.0.0.1:8000 --board demo
billboards submit metric overlap.py --to http://127.0.0.1:8000 --board demo --training-data none
billboards submit metric mine.seg.score --to http://127.0.0.1:8000 --board demo --training-data none --higher-is-better
billboards submit metric overlap.py --to http://127.0.0.1:8000 --suite tasks --training-data none
billboards submit generator outputs/ --to http://127.0.0.1:8000 --suite tasks --name my-system

A metric says what it is in its folder's metric.toml; for one without, such as a single Python file, --lower-is-better,
--needs and --training-data say it.

A file that ends in .seg.score, .tsv, .jsonl or .txt holds a metric's scores: `system<TAB>score` lines, each system's in
the board's order, or generator, instance and score. The metric is then marked "scores only", and generators
that come later stay without a score until you send theirs under the same name.

Where the site's owner allows it, a metric comes as an address: hub:METRIC=OWNER/MODEL@COMMIT, image:NAME@sha256:DIGEST,
or endpoint:URL with --model-version.

With --suite in the place of --board a metric's program goes to every board of a suite, and a generator comes as a
folder or zip archive with one file of outputs for each board, called as the board is: summeval.jsonl, asset.txt. All
boards take it, or none does and every reason is printed.

The command waits for the ranking and prints what came of it: rank, agreement, weight in the ensemble, who moved.
--no-wait leaves at once.

A token is read from the environment variable BILLBOARDS_TOKEN, so that it stands in no history of commands. The command
ends with 0 when the submission is scored, 2 when it is rejected for a mistake, and 1 when it failed; the site's log is
printed then. Ctrl-C stops the waiting, not the submission.
"""

from __future__ import annotations

import json
import os
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

if TYPE_CHECKING:
    from billboards.client import Client

TOKEN = "BILLBOARDS_TOKEN"
#: How an address begins, of a metric that is no file here.
ADDRESSES = ("hub", "image", "endpoint")
#: What the command ends with, by the submission's state.
_STATUS = {"rejected": 2, "failed": 1, "cancelled": 1, "withdrawn": 1}
#: How files end that hold a metric's scores.
SCORES = (".score", ".tsv", ".jsonl", ".txt")


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("kind", choices=("generator", "metric"), help="what is submitted")
    parser.add_argument(
        "path",
        type=_place,
        metavar="PATH",
        help="a generator's outputs, or a metric's folder, zip, .py or scores",
    )
    parser.add_argument("--to", required=True, metavar="URL", help="the site, as in http://127.0.0.1:8000")
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--board", metavar="NAME", help="the board on that site")
    where.add_argument("--suite", metavar="NAME", help="the suite on that site: all of its boards take it, or none")
    parser.add_argument("--name", help="the entry's name (default: metric.toml's, else the file's)")
    parser.add_argument("--description", metavar="TEXT", help="what it is, in a sentence")
    parser.add_argument("--paper", metavar="URL", help="where it is described")
    parser.add_argument("--url", metavar="URL", help="its home or code")
    parser.add_argument("--anonymous", action="store_true", help="show a pseudonym until it is revealed")
    parser.add_argument("--contrastive", action="store_true", help="a second entry, not the team's primary one")
    direction = parser.add_mutually_exclusive_group()
    direction.add_argument("--lower-is-better", action="store_true", help="of a metric without metric.toml")
    direction.add_argument("--higher-is-better", action="store_true", help="of a metric's scores: one of the two")
    parser.add_argument(
        "--references", metavar="LIST", help="the references that a metric's scores saw (default: the board's)"
    )
    parser.add_argument(
        "--needs",
        metavar="LIST",
        default="references",
        help="what a metric without metric.toml is shown: references, input, both with a comma, or nothing; a program "
        "also corpus, all outputs of a generator at once (default references)",
    )
    parser.add_argument(
        "--training-data", metavar="TEXT", help="what a metric without metric.toml was trained on, or none"
    )
    parser.add_argument("--model-version", metavar="TEXT", help="what runs at an endpoint")
    parser.add_argument("--no-wait", dest="wait", action="store_false", help="end once the site has it")
    parser.add_argument("--json", action="store_true", help="print the submission as JSON")


def _place(text: str) -> Path | str:
    """A file or folder, or as it stands the address of a model, an image or an endpoint."""
    return text if text.partition(":")[0] in ADDRESSES else Path(text)


def run(arguments: Namespace) -> int:
    from billboards.client import Client

    with Client(arguments.to, os.environ.get(TOKEN)) as site:
        address, path = _address(arguments), Path(arguments.path)
        details = _details(arguments) | _declared(arguments, path, address)
        if arguments.suite is not None:
            return _submit_to_suite(site, arguments, path, address, details)
        if address is not None:
            way, name, parts = address
            stated = {key: details[key] for key in details if key != "url"}
            sent = site.submit_address(arguments.board, way, arguments.name or name, **parts, **stated)
        elif arguments.kind == "generator":
            sent = site.submit_generator(arguments.board, arguments.name or path.stem, path, **details)
        elif _holds_scores(path):
            sent = site.submit_scores(arguments.board, arguments.name or _scores_name(path), path, **details)
        else:
            # A folder that states its metric's name needs no other.
            usual = None if (path / "metric.toml").is_file() else path.stem
            sent = site.submit_metric(arguments.board, arguments.name or usual, path, **details)
        for warning in sent.get("warnings") or ():
            print(f"warning: {warning}", file=sys.stderr)
        print(f"received as {sent['id']}; {_page(arguments.to, sent['id'])} shows how it goes", file=sys.stderr)
        submission = site.wait(sent["id"], on_progress=_Teller(), ranked=True) if arguments.wait else sent
        return _report(site, submission, arguments)


def _submit_to_suite(
    site: Client,
    arguments: Namespace,
    path: Path,
    address: tuple[str, str, dict[str, str]] | None,
    details: dict[str, Any],
) -> int:
    """Send to every board of a suite, and wait until each has said what came of it."""
    from billboards.errors import InvalidInput

    if address is not None or (arguments.kind == "metric" and _holds_scores(path)):
        raise InvalidInput("a suite takes a metric's program; send scores and addresses to each board with --board")
    if arguments.kind == "generator":
        sent = site.submit_generator_to_suite(arguments.suite, arguments.name or path.stem, path, **details)
    else:
        usual = None if (path / "metric.toml").is_file() else path.stem
        sent = site.submit_metric_to_suite(arguments.suite, arguments.name or usual, path, **details)
    page = f"{arguments.to.rstrip('/')}/suites/{quote(arguments.suite, safe='')}"
    print(f"received by {len(sent)} boards; {page} shows how it goes", file=sys.stderr)
    over = []
    for submission in sent:
        for warning in submission.get("warnings") or ():
            print(f"warning: {submission['board']}: {warning}", file=sys.stderr)
        over.append(
            site.wait(submission["id"], on_progress=_Teller(submission["board"]), ranked=True)
            if arguments.wait
            else submission
        )
    if arguments.json:
        print(json.dumps(over, indent=1, ensure_ascii=False))
    else:
        scored = [submission for submission in over if submission["state"] == "scored"]
        print(f"scored on {len(scored)} of {len(over)} boards: {page}")
        for submission in over:
            if submission["reason"]:
                print(f"{submission['board']}: {submission['state']}: {submission['reason']}")
            for sentence in (submission.get("outcome") or {}).get("words") or ():
                print(f"{submission['board']}: {sentence}")
    for submission in over:
        if submission["state"] == "failed":
            for line in site.log(submission["id"]):
                print(f"{submission['board']}: {line['text']}".rstrip("\n"), file=sys.stderr)
    return max(_STATUS.get(submission["state"], 0) for submission in over)


def _details(arguments: Namespace) -> dict[str, Any]:
    words = ("description", "paper", "url")
    entry = "contrastive" if arguments.contrastive else "primary"
    return {**{word: getattr(arguments, word) for word in words}, "anonymous": arguments.anonymous, "entry": entry}


def _holds_scores(path: Path) -> bool:
    """Whether a metric comes as scores only."""
    return path.suffix in SCORES and not path.is_dir()


def _scores_name(path: Path) -> str:
    return path.name.removesuffix(path.suffix).removesuffix(".seg")


def _address(arguments: Namespace) -> tuple[str, str, dict[str, str]] | None:
    """The way, a name and the parts of an address; None where a file or folder is meant."""
    from billboards.errors import InvalidInput

    way, colon, rest = str(arguments.path).partition(":")
    if arguments.kind == "generator" or not colon or way not in ADDRESSES:
        return None
    if way == "image":
        return way, rest.partition("@")[0].rpartition("/")[2].partition(":")[0], {"image": rest}
    if way == "endpoint":
        if not arguments.model_version or not arguments.name:
            raise InvalidInput("say what runs there with --model-version, and its --name")
        return way, arguments.name, {"url": rest, "version": arguments.model_version}
    metric, equals, pinned = rest.partition("=")
    model, at, revision = pinned.partition("@")
    if not equals or not at:
        raise InvalidInput(f"{arguments.path!r}: write hub:METRIC=OWNER/MODEL@COMMIT")
    return way, model.rpartition("/")[2], {"metric": metric, "model": model, "revision": revision}


def _declared(arguments: Namespace, path: Path, address: tuple[str, str, dict[str, str]] | None) -> dict[str, Any]:
    """What a metric without a manifest of its own says of itself."""
    from billboards.errors import InvalidInput

    if arguments.kind == "generator" or (address is not None and address[0] == "hub"):
        return {}
    scores = address is None and _holds_scores(path)
    if not scores and address is None and path.suffix != ".py" and arguments.training_data is None:
        return {}
    if arguments.training_data is None:
        raise InvalidInput("say what the metric was trained on with --training-data, or --training-data none")
    if scores:
        if not (arguments.higher_is_better or arguments.lower_is_better):
            raise InvalidInput("say which scores are better, with --higher-is-better or --lower-is-better")
        declared = {"higher_is_better": arguments.higher_is_better, "training_data": arguments.training_data}
        return declared | {"needs": arguments.needs, "references": arguments.references}
    manifest = {
        "higher_is_better": not arguments.lower_is_better,
        "needs": [word for word in arguments.needs.replace("nothing", "").split(",") if word],
        "training_data": arguments.training_data,
    }
    return {"manifest": manifest if address is not None else json.dumps(manifest)}


def _page(site: str, submission: str) -> str:
    return f"{site.rstrip('/')}/submissions/{submission}"


class _Teller:
    """Says each new state once, and each doubt about what was sent as soon as there is one."""

    def __init__(self, board: str | None = None) -> None:
        self.last: Any = None
        self.told: set[str] = set()
        self.board = "" if board is None else f"{board}: "

    def __call__(self, submission: dict[str, Any]) -> None:
        progress = submission.get("progress") or {}
        cells = f", {progress['done']} of {progress['total']} cells" if progress.get("total") else ""
        for doubt in submission.get("doubts") or ():
            if doubt not in self.told:
                print(f"{self.board}doubt: {doubt}; is this what you meant to send?", file=sys.stderr)
                self.told.add(doubt)
        queued = f" ({words})" if (words := (submission.get("waiting") or {}).get("words")) else ""
        ranking = (submission.get("outcome") or {}).get("state") == "ranking"
        line = f"{submission['state']}{cells}{queued}" if not ranking else "scored, the ranking is being made"
        if line != self.last:
            print(f"{self.board}{line}", file=sys.stderr)
            self.last = line


def _people(submission: dict[str, Any]) -> list[str]:
    """How far people have judged it, in a sentence."""
    people = submission.get("people")
    if not people:
        return []
    rest = "people’s judging has ended" if people["ended"] else "people go on judging it"
    return [f"People gave {people['done']:,} of {people['wanted']:,} answers about its outputs; {rest}."]


def _report(site: Client, submission: dict[str, Any], arguments: Namespace) -> int:
    if arguments.json:
        print(json.dumps(submission, indent=1, ensure_ascii=False))
    elif submission["state"] == "scored":
        outcome = submission.get("outcome") or {}
        if outcome.get("state") in ("hidden", "replaced", "stuck"):
            print(f"{submission['name']} is scored: {_page(arguments.to, submission['id'])}")
        else:
            print(f"{submission['name']} is on the board: {arguments.to.rstrip('/')}/boards/{arguments.board}")
        for sentence in (*(outcome.get("words") or ()), *_people(submission)):
            print(f"  {sentence}")
    elif submission["reason"]:
        print(f"{submission['state']}: {submission['reason']}")
    if submission["state"] == "failed":
        for line in site.log(submission["id"]):
            print(line["text"].rstrip("\n"), file=sys.stderr)
    return _STATUS.get(submission["state"], 0)
