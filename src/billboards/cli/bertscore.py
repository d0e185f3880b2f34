"""What BERTScore needs beside a board: a model, a layer, a baseline, and a look at one matching.

billboards bertscore score -r REFS -c OUTPUTS    BERTScore of text files, with bert-score's options
billboards bertscore fetch MODEL                 download a model from the hub; scoring never does
billboards bertscore tune BOARD                  which layer agrees best with people
billboards bertscore ablation BOARD              greedy matching beside word mover's distance
billboards bertscore baseline TEXTS -o FILE      the baseline for rescaling, from sentences, one a line
billboards bertscore match OUTPUT REFERENCE      which tokens are matched, as an SVG picture
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from billboards.cli import options
from billboards.cli.metrics import add_fetching, fetch_model

if TYPE_CHECKING:
    from billboards.board import Board


def add_arguments(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    _add_score(actions.add_parser("score", help="BERTScore of a text file, one output a line, as bert-score prints it"))
    fetch = actions.add_parser("fetch", help="download a model from the hub, as `billboards metrics --fetch` does")
    fetch.add_argument("model", metavar="MODEL", help="its name there, such as roberta-large")
    add_fetching(fetch)
    options.add_json(fetch)
    _add_tune(actions.add_parser("tune", help="which layer agrees best with people"))
    ablation = actions.add_parser("ablation", help="greedy matching beside word mover's distance, setting by setting")
    _add_study(ablation)
    ablation.add_argument(
        "--layer", type=options.none_or_more, metavar="N", help="the layer (default: the recommended one)"
    )
    _add_baseline(actions.add_parser("baseline", help="the baseline for rescaling, from a text file"))
    match = actions.add_parser("match", help="which tokens are matched, as an SVG picture")
    match.add_argument("output", metavar="OUTPUT", help="the output's text")
    match.add_argument("reference", metavar="REFERENCE", help="the reference's text")
    _add_model(match)
    match.add_argument(
        "--layer", type=options.none_or_more, metavar="N", help="the layer (default: the recommended one)"
    )
    match.add_argument("-o", "--out", type=Path, metavar="FILE", help="write it here (default: print it)")


def _add_score(parser: ArgumentParser) -> None:
    """The options of bert-score's command, which people have in their scripts."""
    parser.add_argument("-c", "--cand", type=Path, required=True, metavar="FILE", help="outputs, one a line")
    parser.add_argument(
        "-r", "--ref", type=Path, required=True, nargs="+", metavar="FILE", help="references, line by line; one or more"
    )
    parser.add_argument("--lang", metavar="CODE", help="the language, such as en: chooses model and baseline")
    parser.add_argument("-m", "--model", metavar="MODEL", help="minilm, a folder, or a model fetched before")
    parser.add_argument("-l", "--num_layers", "--layer", type=options.none_or_more, metavar="N", help="the layer")
    parser.add_argument("--idf", action="store_true", help="weigh tokens by how rare they are among the references")
    parser.add_argument(
        "--rescale_with_baseline", "--rescale", action="store_true", help="rescale by the model's baseline"
    )
    parser.add_argument("--baseline_path", "--baseline", metavar="FILE", help="rescale by this baseline")
    parser.add_argument("-s", "--seg_level", action="store_true", help="print P, R and F1 of every line")
    options.add_json(parser)
    parser.add_argument("-v", "--verbose", action="store_true", help="say how long it took")


def _add_tune(parser: ArgumentParser) -> None:
    _add_study(parser)
    parser.add_argument("--idf", action="store_true", help="weigh tokens by how rare they are among the references")


def _add_study(parser: ArgumentParser) -> None:
    """A study of a board's judged outputs with one model."""
    options.add_board(parser)
    _add_model(parser)
    options.add_view(parser)
    parser.add_argument("--references", metavar="A,B", help="these references only (default: the board's)")
    options.add_seed(parser)
    options.add_format(parser)


def _add_baseline(parser: ArgumentParser) -> None:
    parser.add_argument("texts", type=Path, metavar="TEXTS", help="sentences of the language, one a line")
    _add_model(parser)
    parser.add_argument(
        "--pairs",
        type=options.positive,
        default=10_000,
        metavar="N",
        help="random pairs (default 10000; the paper used 1M)",
    )
    options.add_seed(parser)
    parser.add_argument("-o", "--out", type=Path, required=True, metavar="FILE", help="the file to write")


def _add_model(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--model", default="minilm", metavar="MODEL", help="minilm (default), a folder, or a model fetched before"
    )
    parser.add_argument(
        "--precision", default="fp32", choices=("fp32", "bf16", "fp16"), help="of the arithmetic (default fp32)"
    )


def run(arguments: Namespace) -> int:
    actions = {
        "score": _score,
        "fetch": _fetch,
        "tune": _tune,
        "ablation": _ablate,
        "baseline": _baseline,
        "match": _match,
    }
    return actions[arguments.action](arguments)


def _score(arguments: Namespace) -> int:
    from billboards.cli.output import print_document
    from billboards.errors import InvalidInput
    from billboards.metrics.neural.bert_score import score
    from billboards.reading import text_lines

    outputs, *references = [text_lines(path) for path in (arguments.cand, *arguments.ref)]
    for path, lines in zip(arguments.ref, references, strict=True):
        if len(lines) != len(outputs):
            raise InvalidInput(
                f"{path} has {len(lines)} lines and {arguments.cand} {len(outputs)}; each line needs its own reference"
            )
    parts, code = score(
        outputs,
        list(zip(*references, strict=True)),
        arguments.model,
        arguments.num_layers,
        verbose=arguments.verbose,
        idf=arguments.idf,
        lang=arguments.lang,
        return_hash=True,
        rescale_with_baseline=arguments.rescale_with_baseline or arguments.baseline_path is not None,
        baseline_path=arguments.baseline_path,
    )
    if arguments.json:
        names = ("P", "R", "F1")
        document = {name: float(part.mean()) for name, part in zip(names, parts, strict=True)}
        texts = [dict(zip(names, map(float, values), strict=True)) for values in zip(*parts, strict=True)]
        print_document("bertscore", {"hash": code, **document, "texts": texts if arguments.seg_level else None})
        return 0
    if arguments.seg_level:
        for values in zip(*parts, strict=True):
            print("\t".join(f"{float(value):.6f}" for value in values))
    precision, recall, f1 = (float(part.mean()) for part in parts)
    print(f"{code}: P: {precision:.6f} R: {recall:.6f} F1: {f1:.6f}")
    return 0


def _fetch(arguments: Namespace) -> int:
    return fetch_model(arguments.model, arguments)


def _tune(arguments: Namespace) -> int:
    from dataclasses import asdict

    from billboards.analyses._layers import layers_table, tune_layer
    from billboards.board.folder import open_board
    from billboards.cli.output import emit
    from billboards.cli.progress import scoring_progress
    from billboards.metrics.neural.bertscore import BERTScore

    board = open_board(arguments.board)
    # Every layer is read; the one named here is not used.
    metric = BERTScore(arguments.model, 0, arguments.idf, precision=arguments.precision)
    with scoring_progress("reading layers"):
        study = tune_layer(board, metric, **_asked(arguments, board))
    emit(arguments, [layers_table(study)], lambda: {"kind": "layers", **asdict(study)})
    return 0


def _ablate(arguments: Namespace) -> int:
    from dataclasses import asdict

    from billboards.analyses._matchings import ablate_matching, matchings_table
    from billboards.board.folder import open_board
    from billboards.cli.output import emit
    from billboards.cli.progress import scoring_progress
    from billboards.metrics.neural.bertscore import BERTScore

    board = open_board(arguments.board)
    metric = BERTScore(arguments.model, arguments.layer, precision=arguments.precision)
    with scoring_progress("matching"):
        study = ablate_matching(board, metric, **_asked(arguments, board))
    emit(arguments, [matchings_table(study)], lambda: {"kind": "matchings", **asdict(study)})
    return 0


def _asked(arguments: Namespace, board: Board) -> dict[str, Any]:
    """The part of a board that a study was asked for."""
    return {
        "aggregate": arguments.aggregate,
        "references": options.chosen_references(board, arguments.references),
        "part": options.chosen_slice(arguments),
        "seed": arguments.seed,
    }


def _baseline(arguments: Namespace) -> int:
    from billboards.cli.output import note
    from billboards.errors import InvalidInput
    from billboards.metrics.neural.baselines import estimate_baseline, write_baseline

    try:
        lines = arguments.texts.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{arguments.texts}: can't be read as text: {error}") from error
    baseline = estimate_baseline(
        lines, arguments.model, pairs=arguments.pairs, precision=arguments.precision, seed=arguments.seed
    )
    write_baseline(baseline, arguments.out)
    note(f"{arguments.out}: b of {len(baseline.values)} layers from {arguments.pairs:,} random pairs")
    return 0


def _match(arguments: Namespace) -> int:
    from billboards.metrics.neural.heatmap import match
    from billboards.saving import save_file

    heatmap = match(
        arguments.output,
        arguments.reference,
        model=arguments.model,
        layer=arguments.layer,
        precision=arguments.precision,
    )
    if arguments.out is None:
        print(heatmap.svg())
    else:
        save_file(arguments.out, heatmap.svg() + "\n")
    return 0
