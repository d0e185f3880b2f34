"""Compute the scores of a board that are missing, or score text files.

    billboards score BOARD
    billboards score --output A.txt B.txt --reference ref.txt --metric BLEU chrF

Of a board, every score that is missing is computed and each cell saved when it is done; what is there already costs
nothing. Ctrl-C stops; the same command goes on from there.

Of text files, one text on each line, you get each system's corpus score with its 95% interval and sacreBLEU's
signature. Two or more outputs are compared with the first: paired bootstrap and approximate randomisation, the same
numbers as `sacrebleu ref.txt -i A.txt B.txt --paired-bs` and `--paired-ar`. Files may be gzipped; - reads from stdin.
"""

from __future__ import annotations

import shlex
import sys
from argparse import ArgumentParser, BooleanOptionalAction, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from billboards.cli import options

if TYPE_CHECKING:
    from billboards.metrics.base import Metric
    from billboards.metrics.judges.budget import Attendant

#: What goes with a board, and what with text files.
_OF_BOARDS = ("references", "generator", "address")
_OF_TEXTS = ("reference", "source", "language", "tokenize", "compare", "bold", "draws", "trials", "seed")


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("board", type=Path, nargs="?", metavar="BOARD", help="the board folder")
    parser.add_argument(
        "--metric",
        action="extend",
        nargs="+",
        metavar="NAME",
        help="metrics, options in brackets as in 'chrF(beta=1)', a part as in 'ROUGE-L[recall]', pack:NAME, "
        "evaluate:NAME, or a Python file of your own; may be repeated (default: the board's; for texts BLEU and chrF)",
    )
    boards = parser.add_argument_group("a board")
    boards.add_argument(
        "--references", metavar="A,B", help="score against these references only (default: the board's)"
    )
    boards.add_argument("--generator", action="append", metavar="NAME", help="only this generator; may be repeated")
    parser.add_argument(
        "--yes", action="store_true", help="let LLM judges spend more than their cap, without a question"
    )
    options.add_jobs(parser)
    options.add_engine(parser)
    texts = parser.add_argument_group("text files")
    texts.add_argument(
        "--output",
        action="extend",
        nargs="+",
        metavar="FILE",
        help="the outputs of a system, one on each line; NAME=FILE names it; the first is the baseline",
    )
    texts.add_argument("--reference", action="extend", nargs="+", metavar="FILE", help="references, line by line")
    texts.add_argument("--source", metavar="FILE", help="the inputs, for metrics that read them")
    texts.add_argument("--language", metavar="CODE", help="the language of the outputs, as in zh: how they are cut")
    texts.add_argument("--tokenize", metavar="NAME", help="BLEU's tokenizer (default 13a, or the language's)")
    texts.add_argument(
        "--compare",
        action=BooleanOptionalAction,
        help="test the other outputs against the first (default: where there are several)",
    )
    texts.add_argument("--bold", action="store_true", default=None, help="the best in bold (LaTeX, Markdown)")
    texts.add_argument("--draws", type=options.positive, metavar="N", help="bootstrap resamples (default 1000)")
    texts.add_argument(
        "--trials", type=options.positive, metavar="N", help="trials of the randomisation (default 10000)"
    )
    texts.add_argument("--seed", type=options.none_or_more, metavar="N", help="seed of both (default 12345)")
    options.add_format(parser, out=False, arranging=False)


def run(arguments: Namespace) -> int:
    from billboards.errors import InvalidInput

    if arguments.output:
        if arguments.board is not None:
            raise InvalidInput(f"give a board folder or text files with --output, not both: {arguments.board}")
        _refuse(arguments, _OF_BOARDS, "goes with a board folder, not with --output")
        return _score_texts(arguments)
    if arguments.board is None and arguments.metric and Path(arguments.metric[-1]).is_dir():
        # `--metric BLEU BOARD`: a list of names takes what follows it.
        arguments.board = Path(arguments.metric.pop())
    if arguments.board is None:
        raise InvalidInput(
            "nothing to score; give a board folder, or text files: "
            "billboards score --output A.txt B.txt --reference ref.txt"
        )
    if arguments.board.is_file():
        raise InvalidInput(
            f"{arguments.board}: is a file, not a board folder; text files are scored with "
            f"`billboards score --output {arguments.board} --reference FILE`"
        )
    _refuse(arguments, _OF_TEXTS, "goes with --output FILE, not with a board folder")
    if arguments.format != "terminal" or arguments.table is not None:
        raise InvalidInput(f"scores of a board are kept in it; `billboards rank {arguments.board}` shows them")
    return _score_board(arguments)


def _refuse(arguments: Namespace, names: tuple[str, ...], why: str) -> None:
    from billboards.errors import InvalidInput

    for name in names:
        if getattr(arguments, name) is not None:
            raise InvalidInput(f"--{name} {why}")


def _score_board(arguments: Namespace) -> int:
    from billboards.analyses._archive import open_home
    from billboards.board.missing_cells import chosen_metrics, score_board
    from billboards.cli.output import note
    from billboards.cli.progress import scoring_progress
    from billboards.metrics.judges.budget import attended
    from billboards.run.dask import DaskExecutor
    from billboards.run.local import executor

    home = open_home(arguments.board)
    metrics = chosen_metrics(home.board, arguments.metric or None)
    rows = [home.board.row(name) for name in arguments.generator] if arguments.generator else None
    with options.chosen_cluster(arguments) as cluster, scoring_progress() as show, attended(_attendant(arguments)):
        report = score_board(
            home.board,
            home.cells,
            metrics,
            executor(arguments.jobs) if cluster is None else DaskExecutor(cluster),
            references=options.chosen_references(home.board, arguments.references),
            rows=rows,
            counted=True,
            on_progress=show,
        )
    note(f"{report.computed} cells computed, {report.present} were there already")
    unmet = [m.name for m in metrics if m.card.needs_references and not home.board.reference_names]
    if unmet:
        note(f"not scored, because the board has no references: {', '.join(unmet)}")
    for name, (missing, outputs) in report.abstained.items():
        note(f"{name}: no score for {missing:,} of {outputs:,} outputs, from which the metric abstained")
    for name in report.zero:
        note(f"{name} is 0 for every output; `billboards check {arguments.board}` says what may be wrong")
    for name, reason in report.failures.items():
        note(f"failed: {name}: {reason}")
    return 1 if report.failures else 0


def _attendant(arguments: Namespace) -> Attendant:
    """The person at the terminal, who is told what judges will take and may let them pass a cap."""
    from billboards.cli.output import note
    from billboards.cli.progress import without_bar
    from billboards.metrics.judges.budget import Attendant

    def allow(question: str) -> bool:
        if arguments.yes:
            return True
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            return False
        with without_bar():
            print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
            return sys.stdin.readline().strip().casefold() in ("y", "yes")

    return Attendant(note, allow, f"billboards {shlex.join(sys.argv[1:])}")


def _score_texts(arguments: Namespace) -> int:
    from billboards.api.texts import METRICS, score_texts
    from billboards.cli.output import emit
    from billboards.errors import InvalidInput
    from billboards.metrics.judges.budget import attended
    from billboards.stats.resampling import DRAWS, SEED, TRIALS

    if arguments.compare and len(arguments.output) < 2:
        raise InvalidInput("--compare needs two or more outputs: --output BASELINE OTHER …")
    files = _named_files(arguments.output)
    texts = _Texts()
    outputs = {name: texts.read(file) for name, file in files.items()}
    references = [texts.read(file) for file in arguments.reference or ()]
    sources = None if arguments.source is None else texts.read(arguments.source)
    texts.check_lengths()
    with attended(_attendant(arguments)):
        report = score_texts(
            outputs,
            references,
            sources,
            metrics=[_metric(spec, arguments) for spec in arguments.metric or METRICS],
            language=arguments.language,
            compare=arguments.compare is not False,
            draws=arguments.draws or DRAWS,
            trials=arguments.trials or TRIALS,
            seed=SEED if arguments.seed is None else arguments.seed,
        )
    if arguments.format == "latex":
        print(report.to_latex(bold=bool(arguments.bold)), end="")
    elif arguments.format == "markdown":
        print(report.to_markdown(bold=bool(arguments.bold)), end="")
    else:
        tables = (report.table,) if arguments.format == "csv" else report.tables
        emit(arguments, tables, report.to_document)
    return 0


def _metric(spec: str, arguments: Namespace) -> Metric:
    """A metric as the options ask for it; what is written in its brackets comes first."""
    from dataclasses import fields

    from billboards.metrics.bleu import BLEU
    from billboards.metrics.discovery import metric_for

    made = metric_for(arguments.language, spec)
    if arguments.tokenize is None or not isinstance(made, BLEU) or "tokenize" in made.written:
        return made
    own = {each.name: getattr(made, each.name) for each in fields(made)}
    return BLEU(**{**own, "tokenize": arguments.tokenize})


def _named_files(written: list[str]) -> dict[str, str]:
    """Files by the names of their systems: those written before =, else the file's own, in full where two are alike."""
    from billboards.errors import InvalidInput

    pairs = []
    for text in written:
        name, equals, file = text.partition("=")
        pairs.append((name, file) if equals and name and not Path(text).exists() else ("", text))
    short = [Path(file).name for name, file in pairs if not name]
    names = [name or (file if short.count(Path(file).name) > 1 else Path(file).name) for name, file in pairs]
    for name in names:
        if names.count(name) > 1:
            raise InvalidInput(f"two outputs are called {name}; name them apart: --output NAME=FILE")
    return dict(zip(names, (file for _, file in pairs), strict=True))


class _Texts:
    """Reads text files line by line, and compares how many lines they have."""

    def __init__(self) -> None:
        self._sizes: dict[str, int] = {}

    def read(self, file: str) -> list[str]:
        from billboards.cli.main import refuse_endless
        from billboards.cli.output import note
        from billboards.errors import InvalidInput
        from billboards.reading import text_lines

        if file == "-" and file in self._sizes:
            raise InvalidInput("- can be read only once; give the other texts as files")
        refuse_endless(Namespace(file=Path(file)))
        lines = text_lines(Path(file), raw=sys.stdin.buffer.read() if file == "-" else None)
        if lines[0].startswith("\ufeff"):
            note(
                f"{file}: begins with a byte-order mark, which counts as a character of its first line, as in sacreBLEU"
            )
        self._sizes[file] = len(lines)
        return lines

    def check_lengths(self) -> None:
        """Refuse files of different lengths, naming both with their numbers of lines."""
        from billboards.errors import InvalidInput

        (first, size), *others = self._sizes.items()
        for other, count in others:
            if count != size:
                raise InvalidInput(
                    f"{first} has {size:,} lines and {other} {count:,}; each line must stand for the same text"
                )
