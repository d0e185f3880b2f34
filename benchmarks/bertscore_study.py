"""What BERTScore with the embedded model is worth: the experiments of its paper that the data at hand allow.

WMT17 direct assessment (Pearson with people per language pair, beside the paper's Table 13), PAWS (area under the ROC
curve, beside Table 30), greedy matching against word mover's distance (beside Table 9), and the Billboard paper's two
boards (correlation among the released metrics, and whether BERTScore's is really higher than BLEU's). The model,
all-MiniLM-L6-v2, is far smaller than those of the paper, and no other is at hand; the tables show what that costs.

    python benchmarks/bertscore_study.py [--part wmt17] [--part paws] [--part ablation] [--part zh-en] [--part cnndm]
"""

from __future__ import annotations

import argparse
import ast
import csv
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from measuring import shared_data
from numpy.typing import NDArray

Floats = NDArray[np.float64]

PARTS = ("wmt17", "paws", "ablation", "zh-en", "cnndm")
PAIRS = ("cs-en", "de-en", "fi-en", "lv-en", "ru-en", "tr-en", "zh-en")
#: Rows of the paper's Table 13 (560 outputs a pair).
TABLE_13 = {
    "sentBLEU": (0.435, 0.432, 0.571, 0.393, 0.484, 0.538, 0.512),
    "chrF": (0.514, 0.531, 0.671, 0.525, 0.599, 0.607, 0.591),
    "F, BERT-base": (0.654, 0.671, 0.811, 0.692, 0.707, 0.731, 0.714),
    "F, RoBERTa-large": (0.710, 0.745, 0.833, 0.756, 0.746, 0.751, 0.775),
}

#: Rows of its Table 9 (BERT-base, uncased) that need no other model.
TABLE_9 = {
    "Vanilla WMD1": (0.628, 0.655, 0.795, 0.692, 0.701, 0.715, 0.699),
    "Vanilla WMD2": (0.638, 0.661, 0.797, 0.695, 0.700, 0.728, 0.714),
    "Vanilla F": (0.659, 0.680, 0.817, 0.702, 0.719, 0.727, 0.717),
    "IDF WMD1": (0.636, 0.662, 0.824, 0.709, 0.716, 0.728, 0.713),
    "IDF WMD2": (0.643, 0.662, 0.821, 0.708, 0.712, 0.732, 0.715),
    "IDF F": (0.657, 0.681, 0.823, 0.713, 0.725, 0.718, 0.711),
    "IDF + SEP WMD1": (0.651, 0.660, 0.819, 0.703, 0.714, 0.724, 0.715),
    "IDF + SEP WMD2": (0.659, 0.662, 0.816, 0.702, 0.712, 0.729, 0.715),
    "IDF + SEP F": (0.664, 0.681, 0.818, 0.709, 0.724, 0.716, 0.710),
    "IDF + SEP + RM WMD1": (0.651, 0.686, 0.803, 0.681, 0.730, 0.730, 0.720),
    "IDF + SEP + RM WMD2": (0.664, 0.687, 0.797, 0.679, 0.728, 0.735, 0.718),
    "IDF + SEP + RM F": (0.659, 0.695, 0.800, 0.683, 0.734, 0.722, 0.712),
    "IDF + SEP + PMEANS WMD1": (0.658, 0.663, 0.820, 0.707, 0.717, 0.725, 0.712),
    "IDF + SEP + PMEANS WMD2": (0.667, 0.665, 0.817, 0.707, 0.717, 0.727, 0.712),
    "IDF + SEP + PMEANS F": (0.671, 0.682, 0.819, 0.708, 0.725, 0.715, 0.704),
}
#: What the files of WMT17 don't say of themselves, for their data card.
WMT17_CARD = {
    "task": "Translate sentences of news into English.",
    "licence": "Apache-2.0, as the repository states",
    "citation": "Bojar et al. 2017, Results of the WMT17 Metrics Shared Task",
    "protocol": "Direct assessment: how adequately the translation expresses the reference, from 0 to 100.",
    "annotators": "Crowd workers; each value is a mean of at least 15 standardised ratings.",
    "output-language": "en",
    "definition.HUMAN_score": "Mean standardised direct assessment.",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", action="append", choices=PARTS, help="only this part; may be repeated")
    parts, data = parser.parse_args().part or PARTS, shared_data()
    if data is None:
        print("not measured, data absent; set BILLBOARDS_SHARED or put shared/ beside the checkout")
        return
    for part in parts:
        if part == "wmt17":
            study_wmt17(data / "wmt17_da")
        elif part == "paws":
            study_paws(data / "paws_qqp" / "dev_and_test.tsv")
        elif part == "ablation":
            study_matchings(data / "wmt17_da")
        else:
            study_board(data, part)


def layer_scores(outputs: Sequence[str], references: Sequence[str], *, idf: bool) -> Floats:
    """P, R and F1 at every layer: layers × outputs × 3."""
    from billboards.metrics.base import Batch
    from billboards.metrics.neural.bertscore import BERTScore

    return BERTScore(idf=idf).score_layers([Batch(outputs, [[text] for text in references])])[0]


def study_wmt17(folder: Path) -> None:
    """Pearson with direct assessment, pair by pair, for every layer and for P, R and F1 of the default one."""
    from billboards.metrics.neural.models import EMBEDDED, layer_for

    judged = {pair: read_wmt17(folder / f"testset_{pair}.tsv") for pair in PAIRS}
    print("WMT17 direct assessment, Pearson (paper: Table 13)")
    print(f"{'':32}" + "".join(f"{pair:>8}" for pair in PAIRS) + "    mean")
    print(f"{'n':32}" + "".join(f"{len(human):8}" for *_, human in judged.values()))
    for name, row in TABLE_13.items():
        say(f"paper: {name}", row)
    say("sentBLEU of these files", [r(bleu, human) for _, _, bleu, human in judged.values()])
    default = layer_for(EMBEDDED)
    for idf in (False, True):
        found = {p: layer_scores(outputs, references, idf=idf) for p, (outputs, references, *_) in judged.items()}
        ending = " (idf)" if idf else ""
        for layer in range(len(found["cs-en"])):
            say(f"F, minilm layer {layer}{ending}", [r(found[p][layer, :, 2], judged[p][3]) for p in PAIRS])
        for k, part in enumerate(("P", "R")):
            say(f"{part}, minilm layer {default}{ending}", [r(found[p][default, :, k], judged[p][3]) for p in PAIRS])


def read_wmt17(path: Path) -> tuple[list[str], list[str], Floats, Floats]:
    """Outputs, references, sentence BLEU as given, and people's scores."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    bleu, human = (np.array([float(row[key]) for row in rows]) for key in ("sentBLEU", "HUMAN_score"))
    return [row["translation"] for row in rows], [row["reference"] for row in rows], bleu, human


def r(scores: Floats, human: Floats) -> float:
    return float(np.corrcoef(scores, human)[0, 1])


def say(name: str, row: Sequence[float]) -> None:
    print(f"{name:32}" + "".join(f"{value:8.3f}" for value in row) + f"{np.mean(row):8.3f}", flush=True)


def study_paws(path: Path) -> None:
    """How well a threshold on the score tells paraphrases from pairs that only share their words."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    first, second = ([ast.literal_eval(row[key]).decode() for row in rows] for key in ("sentence1", "sentence2"))
    label = np.array([row["label"] == "1" for row in rows])
    print(f"\nPAWS-QQP, area under the ROC curve, n {len(rows)} (paper, Table 30: F of RoBERTa-large .685, BLEU .527)")
    print(f"{'layer':10}{'P':>8}{'R':>8}{'F1':>8}{'P idf':>8}{'R idf':>8}{'F1 idf':>8}")
    even, weighted = (layer_scores(first, second, idf=idf) for idf in (False, True))
    for layer in range(len(even)):
        areas = [area(scores[layer, :, k], label) for scores in (even, weighted) for k in range(3)]
        print(f"{layer:<10}" + "".join(f"{value:8.3f}" for value in areas), flush=True)


def area(scores: Floats, positive: NDArray[np.bool_]) -> float:
    """The chance that a positive pair scores higher than a negative one, ties counting half."""
    from scipy.stats import mannwhitneyu

    wins = mannwhitneyu(scores[positive], scores[~positive]).statistic
    return float(wins / (positive.sum() * (~positive).sum()))


def study_matchings(folder: Path) -> None:
    """`billboards bertscore ablation` on every pair as a board."""
    import billboards as bb
    from billboards.analyses._matchings import MatchingStudy, ablate_matching
    from billboards.metrics.neural.bertscore import BERTScore

    studies: dict[str, MatchingStudy] = {}
    with tempfile.TemporaryDirectory(prefix="billboards-study-") as work:
        for pair in PAIRS:
            table = with_numbers(folder / f"testset_{pair}.tsv", Path(work) / f"{pair}.tsv")
            columns: dict[str, Any] = {"instance": "id", "generator": "LP", "output": "translation"}
            columns |= {"reference": ["reference"], "judgment": ["HUMAN_score"]}
            board = bb.import_board("table", table, facts=WMT17_CARD, **columns)
            studies[pair] = ablate_matching(board, BERTScore(), draws=0)
            print(f"{pair}: n {studies[pair].n}", flush=True)
    print(f"\nWMT17, Pearson (paper: Table 9)\n{'':32}" + "".join(f"{pair:>8}" for pair in PAIRS) + "    mean")
    for own in zip(*(study.variants for study in studies.values()), strict=True):
        name = f"{own[0].setting} {own[0].matching}"
        if name in TABLE_9:
            say(f"paper: {name}", TABLE_9[name])
        say(name, [one.correlation or np.nan for one in own])
        unbeaten = [pair for pair, one in zip(PAIRS, own, strict=True) if not one.is_outperformed]
        print(f"{'':4}not outperformed: {', '.join(unbeaten) or 'nowhere'}", flush=True)


def with_numbers(path: Path, out: Path) -> Path:
    """The same table with a column of ids, which an import asks for."""
    head, *lines = path.read_text("utf-8").splitlines()
    out.write_text("\n".join((f"id\t{head}", *(f"{k}\t{line}" for k, line in enumerate(lines, 1)))) + "\n", "utf-8")
    return out


def study_board(data: Path, part: str) -> None:
    """BERTScore among the released metrics of a board, and whether it really correlates better than BLEU."""
    import billboards as bb
    from billboards.analyses._archive import home_of
    from billboards.analyses._view import judged_matrix
    from billboards.board.missing_cells import score_board
    from billboards.metrics.neural.bertscore import BERTScore
    from billboards.run.local import executor

    given: dict[str, Any] = (
        {"judgments": data / "wmt-mqm-human-evaluation", "references": data / "wmt20_references"}
        if part == "zh-en"
        else {"judgments": data / "THumB"}
    )
    name = "wmt20-zh-en" if part == "zh-en" else part
    with tempfile.TemporaryDirectory(prefix="billboards-study-") as work:
        imported = bb.import_board("billboard", data / "billboard", board=name, **given)
        board = bb.save(imported, Path(work) / name)
        view = judged_matrix(board, None)
        rows = [row for row, judged in zip(board.rows, view.judged, strict=True) if judged]
        # Named with its layer, so that the released column of the same name stands beside it.
        metric = BERTScore(layer=BERTScore().used_layer)
        report = score_board(board, home_of(board).cells, [metric], executor(1), rows=rows)
        assert not report.failures, report.failures
        print(f"\n{name}: {metric.signature}")
        print(bb.rank(board).tables[0].title)
        for one in bb.rank(board).value.metrics:
            low, high = one.interval or (np.nan, np.nan)
            print(f"  {one.rank or '':>3} {one.name:24} {one.correlation or np.nan:7.3f}  [{low:.3f}, {high:.3f}]")
        found = bb.compare(board, metric.name, "BLEU")
        print(found, flush=True)


if __name__ == "__main__":
    main()
