"""BEAMetrics' Tables 2, 3, 5 and 6, cell by cell: published, ours in the paper's ways, the difference, and our default.

The paper's ways are not this package's defaults: ROUGE and METEOR are the mean over references, an absent reference
counts as an empty one, BLEU has no effective order, METEOR is early nltk's, words are cut in a way made for English,
EfficientQA knows its first answer only, and pairs of translations are rows labelled 1 and 0. `restored` is the same on
texts put back as the paper had them, an experiment that explains what is left. The default numbers are those of
`examples/suite/beametrics.toml`.

Pascal-50S is not among the shared data: `--pascal-50s` names a clone of vrama91/cider-matlab.

    python benchmarks/beametrics.py [--set SumE] [--no-default]
    python benchmarks/beametrics.py --pascal-50s cider-matlab
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import regex
from beametrics_sets import LANGUAGES, PAIRS, SETS, Judged, read_pascal, read_set, restore
from measuring import shared_data
from numpy.typing import NDArray

from billboards.analyses.published import printed_cells, read_publication
from billboards.analyses.suite.results import Block

Floats = NDArray[np.float64]
#: A cell by table, block (Max: all references, 1: one, 0: none), row and column.
Cell = tuple[int, str, str, str]

#: Rows of the paper by our names.
DEFAULTS = {"Abstr": "abstractness", "Length": "length", "Repet": "repetition"}
BLOCKS: dict[str, Block] = {"Max": "all", "1": "one", "0": "none"}
#: Rows of Table 2 that are computed on Pascal-50S.
PASCAL_ROWS = ("ROUGE-1", "ROUGE-L", "BLEU")


@cache
def published() -> dict[Cell, float]:
    """Every cell of the paper's tables."""
    cells = printed_cells(read_publication("beametrics"))
    return {(int(cell.table), cell.block, cell.row, cell.column): cell.theirs for cell in cells}


@cache
def pascal() -> dict[tuple[str, str], float]:
    """Table 2's column of Pascal-50S, by block and row."""
    cells = published().items()
    return {(b, row): value for (t, b, row, c), value in cells if (t, c) == (2, "Pas") and row in PASCAL_ROWS}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", action="append", choices=tuple(SETS), help="only this data set; may be repeated")
    parser.add_argument("--no-default", action="store_true", help="leave out the default numbers, which take a minute")
    parser.add_argument("--pascal-50s", type=Path, metavar="CLONE", help="only the cells of Pascal-50S, from a clone")
    arguments, data = parser.parse_args(), shared_data()
    if arguments.pascal_50s is not None:
        for (block, row), value in pascal_cells(arguments.pascal_50s).items():
            theirs = pascal()[block, row]
            print(f"{block:4} {row:9}{theirs:7.1f}{value:7.1f}{value - theirs:+7.1f}")
        return
    if data is None:
        print("not measured, data absent; set BILLBOARDS_SHARED or put shared/ beside the checkout")
        return
    chosen = arguments.set or tuple(SETS)
    ours: dict[Cell, list[float]] = {}
    restored: dict[Cell, list[float]] = {}
    for name in chosen:
        for judged in read_set(name, data):
            _gather(ours, cells(name, judged))
            if (back := restore(name, judged)) is not None:
                _gather(restored, cells(name, back))
    defaults = {} if arguments.no_default else default_cells(data, chosen)
    mean = {cell: float(np.mean(values)) for cell, values in ours.items()}
    mean_restored = {cell: float(np.mean(values)) for cell, values in restored.items()}
    _print(mean, mean_restored, defaults)
    if "Asv" in chosen:
        _print_asset(next(read_set("Asv", data)))
    if "WMT" in chosen:
        _print_wmt(ours)


def _gather(found: dict[Cell, list[float]], some: dict[Cell, float]) -> None:
    for cell, value in some.items():
        found.setdefault(cell, []).append(value)


def _print(ours: dict[Cell, float], restored: dict[Cell, float], defaults: dict[Cell, float]) -> None:
    head = f"{'table':5} {'refs':4} {'row':9}{'column':10}{'paper':>7}{'ours':>7}{'diff':>7}"
    print(f"{head}{'restored':>9}{'diff':>7}{'default':>9}")
    verdicts: Counter[str] = Counter()
    for cell, said in published().items():
        if cell not in ours:
            continue
        table, block, row, column = cell
        own, back, default = ours[cell], restored.get(cell), defaults.get(cell)
        verdicts[_verdict(said, own, back, column)] += 1
        texts = [
            f"{own:7.1f}{own - said:+7.1f}",
            _or_dash(back, 9),
            _or_dash(None if back is None else back - said, 7, "+"),
        ]
        print(f"{table:<5} {block:4} {row:9}{column:10}{said:7.1f}{''.join(texts)}{_or_dash(default, 9)}")
    for verdict, count in sorted(verdicts.items()):
        print(f"{count:4} {verdict}")


def _or_dash(value: float | None, width: int, sign: str = "") -> str:
    return f"{'–':>{width}}" if value is None else f"{value:{sign}{width}.1f}"


def _verdict(said: float, own: float, back: float | None, column: str) -> str:
    difference = abs(round(own, 1) - said)
    if difference <= 0.3001:
        return "cells within .3"
    if difference <= 2.0001:
        return "cells within 2"
    if back is not None and abs(round(back, 1) - said) <= 2.0001:
        return "cells within 2 once texts are restored"
    return f"cells further off, {column.split()[0]}"


# The metrics, in the paper's ways.


def cells(name: str, judged: Judged, rows: Sequence[str] | None = None) -> dict[Cell, float]:
    """Every cell of the four tables that a data set gives, or those of some rows."""
    found: dict[Cell, float] = {}
    for block, row, scores in _scores(name, judged, rows):
        for cell in published():
            table, *place, column = cell
            if place == [block, row] and column in judged.people:
                found[cell] = 100 * _agreement(table, scores, judged.people[column])
    return found


def pascal_cells(clone: Path) -> dict[tuple[str, str], float]:
    """The cells of Pascal-50S in the paper's way: metric and people both say which of two captions is better.

    A pair is 1 and 0 for people and for the metric, and Pearson's r of these is the share of pairs on which the two
    agree less the share on which they don't; a metric's tie is half right.
    """
    judged = read_pascal(clone)
    return {
        (block, row): 100 * float(np.sign(scores[0::2] - scores[1::2]).mean())
        for block, row, scores in _scores("Pas", judged, PASCAL_ROWS)
        if (block, row) in pascal()
    }


def _agreement(table: int, scores: Floats, people: Floats) -> float:
    from scipy.stats import kendalltau, pearsonr

    found = pearsonr(scores, people) if table in (2, 3) else kendalltau(scores, people)
    return float(found.statistic)


def _scores(name: str, judged: Judged, rows: Sequence[str] | None = None) -> Iterator[tuple[str, str, Floats]]:
    """Block, row and scores of everything that the paper reports and that can be computed here."""
    first = [texts[:1] for texts in judged.references]
    every = first if name == "OpQA" else judged.references
    for row, score in _based().items():
        if rows is not None and row not in rows:
            continue
        own = row == "BLEU"
        yield "1", row, score(judged.outputs, first)
        yield "Max", row, score(judged.outputs, every) if own else _mean(score, judged.outputs, every)
    for n in (1, 2, 3) if rows is None else ():
        yield "0", f"Repet-{n}", np.array([_repetition(text, n) for text in judged.outputs])
        if judged.inputs[0] is not None:
            pairs = zip(judged.outputs, judged.inputs, strict=True)
            yield "0", f"Abstr-{n}", np.array([_abstractness(text, given or "", n) for text, given in pairs])
    if rows is None:
        yield "0", "Length", np.array([float(len(_words(text))) for text in judged.outputs])


Score = Callable[[Sequence[str], Sequence[Sequence[str]]], Floats]


def _based() -> dict[str, Score]:
    """The metrics with references, as they were run: no stemmer, no effective order, early nltk."""
    specs = {f"ROUGE-{n}": f"ROUGE-{n}" for n in "12L"}
    specs |= {"BLEU": "BLEU(effective_order=False)", "METEOR": "METEOR(early_nltk=True)"}
    return {row: _primary(spec) for row, spec in specs.items()}


def _primary(spec: str) -> Score:
    from billboards.metrics.base import Batch, score_checked
    from billboards.metrics.discovery import metric

    found = metric(spec)
    return lambda outputs, references: next(iter(score_checked(found, Batch(outputs, references)).values()))


def _mean(score: Score, outputs: Sequence[str], references: Sequence[Sequence[str]]) -> Floats:
    """The mean over references, one after the other; against an empty one every metric has 0."""
    places = range(max(len(texts) for texts in references))
    mean: Floats = np.mean([score(outputs, [[texts[k]] for texts in references]) for k in places], axis=0)
    return mean


def _words(text: str) -> list[str]:
    found: list[str] = regex.findall(r"[\p{L}\p{M}\p{N}_]+|\S", text)
    return found


def _ngrams(text: str, n: int) -> list[tuple[str, ...]]:
    words = _words(text)
    return [tuple(words[k : k + n]) for k in range(len(words) - n + 1)]


def _abstractness(text: str, given: str, n: int) -> float:
    """Distinct n-grams that are new, over distinct n-grams and a hair: where all are new, longer outputs come first."""
    own, known = set(_ngrams(text, n)), set(_ngrams(given, n))
    return len(own - known) / (len(own) + 1e-5)


def _repetition(text: str, n: int) -> float:
    """The number of n-grams less 1: a division that was meant for the whole binds to its last term."""
    found = _ngrams(text, n)
    return len(found) - len(set(found)) / (len(set(found)) + 1e-5)


# What is left, explained by experiment.


def _print_asset(judged: Judged, draws: int = 1000) -> None:
    """Whether a published cell on 162 outputs lies in the 95% interval of ours on 100 of them."""
    random = np.random.default_rng(0)
    picked = random.integers(len(judged.outputs), size=(draws, len(judged.outputs)))
    inside, total, wide = 0, 0, []
    for block, row, scores in _scores("Asv", judged):
        for (table, *place, column), said in published().items():
            if place == [block, row] and column in judged.people:
                drawn = [100 * _agreement(table, scores[k], judged.people[column][k]) for k in picked[: draws // 4]]
                low, high = np.nanquantile(drawn, (0.025, 0.975))
                inside, total = inside + int(low <= said <= high), total + 1
                wide.append((high - low) / 2)
    half = np.median(wide)
    print(
        f"ASSET, 100 of 162 outputs: {inside} of {total} published cells lie in the 95% interval of ours (± {half:.0f})"
    )


def _print_wmt(ours: dict[Cell, list[float]]) -> None:
    """What the four absent language pairs must reach on average so that all seven give the published mean."""
    print(
        f"WMT, 3 of 7 language pairs: {', '.join(PAIRS)}, and what the other four must average for the published mean"
    )
    for cell, values in ours.items():
        table, block, row, column = cell
        if column == "WMT" and block != "Max" and row in ("ROUGE-1", "ROUGE-L", "BLEU", "METEOR", "Length"):
            others = (7 * published()[cell] - sum(values)) / 4
            print(f"{table:<5} {block:4} {row:9}" + "".join(f"{value:7.1f}" for value in values) + f"{others:9.1f}")


# Our own defaults, from the suite.


def default_cells(data: Path, chosen: Sequence[str]) -> dict[Cell, float]:
    """The same cells as the suite gives them: every reference, best of them, tokenizers of the language."""
    from billboards.analyses.suite.open import open_suite

    suite = Path(__file__).resolve().parents[1] / "examples" / "suite" / "beametrics.toml"
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        text = suite.read_text("utf-8")
        kept = [part for part in text.split("[[boards]]")[1:] if _set_of(part) in chosen]
        (home / "suite.toml").write_text("[[boards]]".join([text.split("[[boards]]")[0], *kept]), encoding="utf-8")
        for part in kept:
            _import(data, _value(part, "folder"), home)
        result = open_suite(home / "suite.toml").run(draws=2).value.kept.result
        return dict(_default_cells(result))


def _value(part: str, key: str) -> str:
    match = re.search(rf'^{key} = "(.*)"$', part, re.MULTILINE)
    return match[1] if match else ""


def _set_of(part: str) -> str:
    return _value(part, "group") or _value(part, "label")


def _import(data: Path, folder: str, home: Path) -> None:
    import billboards as bb

    sources: dict[str, tuple[str, str, dict[str, Any]]] = {
        "webnlg-2017": ("webnlg-2017", "webnlg2017", {}),
        "asset": ("asset", "asset", {}),
        "flickr8k-expert": ("flickr8k", "flickr8k", {}),
        "summeval": ("summeval", "summeval", {}),
        "efficientqa": ("efficientqa", "efficientqa", {}),
        **{f"wmt19-darr-{pair}": ("wmt19-darr", "wmt19_darr", {"language_pair": pair}) for pair in PAIRS},
        **{f"multi-summeval-{la}": ("multi-summeval", "multi_summeval", {"language": la}) for la in LANGUAGES},
    }
    kind, source, options = sources[folder]
    bb.save(bb.import_board(kind, data / source, **options), home / folder)


def _default_cells(result: Any) -> Iterator[tuple[Cell, float]]:
    from billboards.analyses.suite.results import SuiteRow

    placed = {(c.label, c.dimension): c for c in result.columns}
    for cell in published():
        table, block, row, column = cell
        stem, dash, n = row.partition("-")
        metric = f"{DEFAULTS.get(stem, stem)}{dash}{n}" if stem in DEFAULTS else row
        dimension = next((d for columns in SETS.values() for name, d in columns.items() if name == column), None)
        where = placed.get((column.split()[0], dimension))
        found = where and result.cell(SuiteRow(metric, BLOCKS[block]), where)
        statistic = "preferences" if column == "WMT" else "pearson" if table in (2, 3) else "kendall"
        if found and statistic in found.measures:
            yield cell, 100 * found.measures[statistic].value


if __name__ == "__main__":
    main()
