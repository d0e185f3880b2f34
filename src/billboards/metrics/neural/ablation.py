"""What sets MoverScore apart from BERTScore, one thing after the other (BERTScore, Appendix C, Table 9).

Two texts are compared by greedy matching (F, as in BERTScore) or by word mover's distance of words or of pairs of
neighbours (WMD1 and WMD2, as in MoverScore), each under the same settings: idf, idf of the outputs' own (SEP), power
means of the last layers (PMEANS), punctuation and pieces of words left out (RM). A text is embedded once for all of it.
The paper's other two differences are no settings: MNLI is another model, IDF-L a larger set of references.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from billboards.metrics.base import Batch, Floats
from billboards.metrics.kernels.transport import Transport, least_costs
from billboards.metrics.neural.bertscore import BERTScore
from billboards.metrics.neural.encoder import Embedded
from billboards.metrics.neural.engine import Engine, Where, start_engine
from billboards.metrics.neural.idf import even_weights, idf_weights, scored_together
from billboards.metrics.neural.learned import check_language, checked_precision, warn_of_cuts
from billboards.metrics.neural.moverscore import Grams, Heaps, Table, join_grams, left_out_tokens, moving, unit
from billboards.metrics.neural.readout import AllLayers
from billboards.metrics.neural.weights import locate
from billboards.metrics.neural.windows import TokenWindow, plan_windows

if TYPE_CHECKING:
    from torch import Tensor

MATCHINGS = ("WMD1", "WMD2", "F")
#: How many last layers power means are taken of, as MoverScore's authors do.
LAST_LAYERS = 5


@dataclass(frozen=True)
class Setting:
    """What is done before two texts are matched."""

    idf: bool = False
    separate: bool = False
    power_means: bool = False
    removed: bool = False

    @property
    def name(self) -> str:
        """In the paper's words."""
        switches = (("IDF", self.idf), ("SEP", self.separate), ("PMEANS", self.power_means), ("RM", self.removed))
        return " + ".join(word for word, is_so in switches if is_so) or "Vanilla"


#: The paper's rows, as far as one model and one set of references go; the last is the whole of MoverScore.
SETTINGS = (
    Setting(),
    Setting(idf=True),
    Setting(idf=True, separate=True),
    Setting(idf=True, separate=True, removed=True),
    Setting(idf=True, separate=True, power_means=True),
    Setting(idf=True, separate=True, power_means=True, removed=True),
)


def score_variants(metric: BERTScore, batches: Sequence[Batch]) -> list[Floats]:
    """Each setting with each matching, for each batch as settings × matchings × outputs; the best over references."""
    check_language(metric, metric.model, batches)
    precision = checked_precision(metric, metric.precision)
    engine = start_engine(locate(metric.model, metric.revision), None, precision, Where.from_environment(), AllLayers())
    scores: dict[int, Floats] = {}
    # idf is counted over references, so only what has the same ones goes together.
    for group in scored_together(batches, idf=True):
        some = [batches[k] for k in group]
        ends = np.cumsum([len(batch) for batch in some])
        scores |= zip(group, np.split(_score(engine, metric.used_layer, some), ends[:-1], axis=-1), strict=True)
    warn_of_cuts(metric, engine)
    return [scores[k] for k in range(len(batches))]


def _score(engine: Engine, layer: int, batches: Sequence[Batch]) -> Floats:
    outputs = [text for batch in batches for text in batch.outputs]
    references = [texts for batch in batches for texts in batch.references]
    tables = _Tables.of(engine, batches)
    generator = np.repeat(np.arange(len(batches)), [len(batch) for batch in batches])
    left_out, around = left_out_tokens(engine.tokenizer), sorted(engine.tokenizer.around)

    def work(window: TokenWindow, embedded: Embedded) -> Tensor:
        import torch

        variants = _Variants(_heaps(window, embedded, layer, left_out, around), tables)
        return torch.from_numpy(variants.scores(generator[window.items]))

    best = np.full((len(outputs), len(SETTINGS), len(MATCHINGS)), -np.inf)
    for items, scores in engine.run(plan_windows(outputs, references, engine.window_characters), work):
        np.maximum.at(best, items, scores.numpy())
    return best.transpose(1, 2, 0)


@dataclass(frozen=True)
class _Tables:
    """Weights of tokens: all alike, by the references, and by each generator's own outputs."""

    even: Table
    idf: Table
    own: Sequence[Table]

    @staticmethod
    def of(engine: Engine, batches: Sequence[Batch]) -> _Tables:
        tokenizer = engine.tokenizer
        own = [idf_weights(tokenizer, [batch.outputs]) for batch in batches]
        return _Tables(even_weights(tokenizer), idf_weights(tokenizer, batches[0].references), own)

    def chosen(self, setting: Setting, generator: int) -> tuple[Table, Table]:
        """The table for an output, and that for its references."""
        reference = self.idf if setting.idf else self.even
        return self.own[generator] if setting.separate else reference, reference


def _heaps(
    window: TokenWindow, embedded: Embedded, layer: int, left_out: NDArray[np.bool_], around: Sequence[int]
) -> dict[tuple[bool, bool], Heaps]:
    """The window's texts by one layer or by power means, and with all tokens or without some."""
    import torch

    last = embedded.values[-LAST_LAYERS:].float()
    means = torch.cat((last.amin(0), last.mean(0), last.amax(0)), -1).cpu().numpy()
    rows = embedded.values[layer].float().cpu().numpy()
    nothing = np.zeros_like(left_out)
    return {
        (power_means, removed): Heaps(
            window, means if power_means else rows, embedded.starts, left_out if removed else nothing, around
        )
        for power_means in (False, True)
        for removed in (False, True)
    }


@dataclass(frozen=True)
class _Variants:
    """The pairs of a window under every setting."""

    heaps: dict[tuple[bool, bool], Heaps]
    tables: _Tables

    def scores(self, generator: NDArray[np.intp]) -> Floats:
        """Pairs × settings × matchings."""
        return np.stack([self._under(setting, generator) for setting in SETTINGS], axis=1)

    def _under(self, setting: Setting, generator: NDArray[np.intp]) -> Floats:
        """Pairs × matchings."""
        wmd = (1.0 - least_costs(self._problems(setting, n, generator)) for n in (1, 2))
        f1 = [greedy_f1(*texts) for texts in self._pairs(setting, generator)]
        return np.stack((*wmd, np.array(f1)), axis=1)

    def _problems(self, setting: Setting, n: int, generator: NDArray[np.intp]) -> Iterator[Transport]:
        for written, wanted in self._pairs(setting, generator):
            yield moving(join_grams(*written, n), join_grams(*wanted, n))

    def _pairs(self, setting: Setting, generator: NDArray[np.intp]) -> Iterator[tuple[Grams, Grams]]:
        """The words of each pair's output and reference."""
        heaps = self.heaps[setting.power_means, setting.removed]
        pairs = zip(heaps.window.outputs.tolist(), heaps.window.references.tolist(), generator.tolist(), strict=True)
        for output, reference, who in pairs:
            of_output, of_reference = self.tables.chosen(setting, who)
            yield heaps.words(output, of_output), heaps.words(reference, of_reference)


def greedy_f1(written: Grams, wanted: Grams) -> float:
    """F1 of greedy matching, from words and their weights; 0 where a text has none."""
    (values, weights), (others, other_weights) = written, wanted
    if not (len(weights) and len(other_weights)):
        return 0.0
    cosines = unit(values) @ unit(others).T
    precision = float(np.average(cosines.max(1), weights=weights))
    recall = float(np.average(cosines.max(0), weights=other_weights))
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0
