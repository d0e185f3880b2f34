"""Make a board folder from a public data set, or from a table of your own.

    billboards import billboard DIR --board wmt20-zh-en --judgments MQM_DIR --references REFS -o OUT
    billboards import table outputs.csv --generator system --judgment adequacy -o OUT
    billboards import text --source src.txt --reference A=ref.txt --output X=x.txt Y=y.txt --judgments human.csv -o OUT

A board has a data card. Importers of public sets know what goes into it; of your own data you say it yourself, with
`--fact task="…"` or a file of facts (`--card FILE`), now or later: until then the board is a draft, which no site
publishes, and `billboards card OUT --template` writes the file to fill in. `billboards import KIND --help` lists the
options of each kind.
"""

from __future__ import annotations

import shlex
from argparse import ArgumentParser, Namespace
from functools import partial
from pathlib import Path

from billboards.cli._arguments import LateParser, add_options, given_options
from billboards.importers import IMPORTERS


def add_arguments(parser: ArgumentParser) -> None:
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="KIND", parser_class=LateParser)
    for name in IMPORTERS:
        summary = IMPORTERS.summary(name).replace("%", "%%")
        kinds.add_parser(name, help=summary, description=summary, complete=partial(_add_kind, name=name))


def _add_kind(parser: ArgumentParser, name: str) -> None:
    importer = IMPORTERS.load(name)
    if importer.needs_source:
        parser.add_argument("source", type=Path, metavar="SOURCE", help="the folder or file to read")
    else:
        parser.add_argument("--source", type=Path, metavar="FILE", help="the inputs, where there are any")
    add_options(parser, importer.options, lists=not importer.needs_source)
    parser.add_argument(
        "--fact",
        action="append",
        default=[],
        metavar="KEY=TEXT",
        help="a fact for the data card: title, task, source, licence, citation, protocol, annotators, comments, "
        "languages, input-language, output-language, definition.DIMENSION; may be repeated",
    )
    parser.add_argument("--card", type=Path, metavar="FILE", help="a TOML file with such facts")
    parser.add_argument("-o", "--out", type=Path, required=True, metavar="OUT", help="the board folder to write")
    parser.add_argument("--force", action="store_true", help="replace OUT if it exists")
    parser.add_argument("--scored", action="store_true", help="compute the scores of the board's metrics at once")


def run(arguments: Namespace) -> int:
    from billboards.board.card_facts import draft_note, read_facts, with_facts
    from billboards.board.writing import write_board
    from billboards.cli.main import refuse_endless
    from billboards.cli.output import note
    from billboards.cli.progress import scoring_progress

    importer = IMPORTERS.load(arguments.kind)
    for text in (str(word) for value in vars(arguments).values() if isinstance(value, list) for word in value):
        # Files that stand behind a name, as in NAME=FILE.
        refuse_endless(Namespace(files=[Path(text), Path(text.partition("=")[2])]))
    with scoring_progress("importing"):
        imported = importer(arguments.source, **given_options(arguments, importer.options))
        board = with_facts(imported.board, read_facts(arguments.fact, arguments.card))
        path = write_board(board, arguments.out, replace=arguments.force)
    for text in imported.notes:
        note(f"note: {text}")
    note(
        f"wrote {path}: {len(board.instances)} instances, {len(board.generators)} generators, "
        f"{len(board.judgments)} judgments, {len(board.imported)} columns of imported scores"
    )
    if draft := draft_note(board, shlex.quote(str(path))):
        note(draft)
    return _score(path) if arguments.scored else 0


def _score(path: Path) -> int:
    """Compute what the new board lacks."""
    from billboards.api.board_scores import score
    from billboards.board.folder import open_board
    from billboards.cli.output import note
    from billboards.cli.progress import scoring_progress

    with scoring_progress() as show:
        report = score(open_board(path), on_progress=show)
    note(f"{report.computed} cells computed")
    for name, reason in report.failures.items():
        note(f"failed: {name}: {reason}")
    return 1 if report.failures else 0
