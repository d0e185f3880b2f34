"""The ensemble of a few metrics.

billboards ensemble study BOARD              weights, ablations, and what each metric adds
billboards ensemble list BOARD               every ensemble this board has kept
billboards ensemble apply SIGNATURE OUTPUTS  score new outputs with a kept ensemble
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from pathlib import Path

from billboards.cli import options


def add_arguments(parser: ArgumentParser) -> None:
    from billboards.analyses._declaration import declared
    from billboards.cli import _analyses

    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    study = actions.add_parser("study", help="weights, ablations, and what each metric adds")
    _analyses.add_arguments(study, declared("ensemble"))
    listing = actions.add_parser("list", help="every ensemble this board has kept")
    options.add_board(listing)
    listing.add_argument("--json", action="store_true", help="print JSON")
    apply = actions.add_parser("apply", help="score new outputs with a kept ensemble")
    apply.add_argument("signature", metavar="SIGNATURE", help="the ensemble's signature, or its JSON file")
    apply.add_argument("outputs", type=Path, metavar="OUTPUTS", help="JSON lines with instance and text")
    apply.add_argument("--board", type=Path, default=Path(), metavar="BOARD", help="the board folder (default: here)")
    apply.add_argument(
        "--scores",
        type=Path,
        metavar="TSV",
        help="scores of metrics that can't run here: instance, then a metric per column",
    )
    options.add_jobs(apply)
    apply.add_argument("--json", action="store_true", help="print JSON with every instance's score")


def run(arguments: Namespace) -> int:
    return {"study": _study, "list": _list, "apply": _apply}[arguments.action](arguments)


def _study(arguments: Namespace) -> int:
    from billboards.analyses.ensemble import ensemble
    from billboards.cli import _analyses

    return _analyses.run(arguments, ensemble)


def _list(arguments: Namespace) -> int:
    from billboards.analyses._archive import open_home
    from billboards.show.words import value_text

    if arguments.json:
        from billboards.show.documents import SCHEMA, document_of, dumps

        kept = [document_of(ensemble) for ensemble in open_home(arguments.board).archive.ensembles()]
        print(dumps({"schema": SCHEMA, "ensembles": kept}), end="")
        return 0
    for ensemble in open_home(arguments.board).archive.ensembles():
        fitted = f"lambda = {ensemble.lam:g}  {ensemble.formula}" if ensemble.is_small else ensemble.formula
        print(f"{ensemble.signature}  r = {value_text(ensemble.correlation, 3)}  {fitted}")
    return 0


def _apply(arguments: Namespace) -> int:
    from billboards.analyses._archive import open_home
    from billboards.analyses.ensemble import apply_ensemble, read_metric_scores
    from billboards.cli.output import note
    from billboards.cli.progress import scoring_progress
    from billboards.run.local import executor

    home = open_home(arguments.board)
    ensemble = home.archive.named(arguments.signature)
    scores = read_metric_scores(arguments.scores, home.board, ensemble) if arguments.scores else {}
    with scoring_progress() as show:
        applied = apply_ensemble(
            ensemble,
            home.board,
            arguments.outputs,
            executor(arguments.jobs),
            scores=scores,
            cells=home.cells,
            on_progress=show,
        )
    if arguments.json:
        print(json.dumps(applied.document(), indent=1, ensure_ascii=False))
    else:
        print(f"{applied.mean:.4f}")
        note(f"mean of {ensemble.signature} over {applied.n} of {len(home.board.instances)} instances")
        if applied.missing:
            note(f"without {', '.join(applied.missing)}, which can't be computed here: the others stand in for them")
        if applied.interval is not None:
            low, high = applied.interval
            note(f"95% of people's values lie between {low:+.1f} and {high:+.1f} of a single output's score")
    return 0
