"""What the metrics share that sacreBLEU defines: its words for a signature.

sacreBLEU (Post 2018, A Call for Clarity in Reporting BLEU Scores, WMT) says what BLEU, chrF and TER are; here they are
computed by compiled kernels that tests hold to its numbers. The signature is that of the sacreBLEU object with the same
options (`BLEU|case:mixed|eff:yes|tok:13a|smooth:exp|version:2.6.0`), less the number of references, which belongs to
the column and not to the metric, and with the revision of the kernel at its end. A corpus value
has sacreBLEU's own, word for word (`nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0`), as papers cite it.
"""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar, Literal

from billboards.errors import UnknownName
from billboards.metrics.summed import SummedMetric

if TYPE_CHECKING:
    from sacrebleu.metrics.base import Metric as Scorer


#: Advice of sacreBLEU's that was given already.
_GIVEN: set[str] = set()


@contextmanager
def _advice_once() -> Iterator[None]:
    """Let sacreBLEU advise on options once, and not whenever a signature is asked for."""

    def is_new(record: logging.LogRecord) -> bool:
        text = record.getMessage()
        new = text not in _GIVEN
        _GIVEN.add(text)
        return new

    logger = logging.getLogger("sacrebleu")
    logger.addFilter(is_new)
    try:
        yield
    finally:
        logger.removeFilter(is_new)


class SacreMetric(SummedMetric):
    """A metric of sacreBLEU's; a subclass says which, and with which parameters."""

    #: Counts up whenever the kernel's numbers change.
    revision: ClassVar[int] = 1

    @abstractmethod
    def scorer(self) -> Scorer:
        """The sacreBLEU object that these options describe."""

    def corpus_scorer(self) -> Scorer:
        """The sacreBLEU object that computes corpora with these options."""
        return self.scorer()

    def corpus_signature(
        self,
        references: int | Literal["var"] | None = None,
        *,
        draws: int | None = None,
        trials: int | None = None,
        seed: int = 12345,
    ) -> str:
        """What sacreBLEU prints beside a corpus score, an interval or a paired test."""
        scorer = self.corpus_scorer()
        scorer.num_refs = 0 if references is None else -1 if references == "var" else references
        signature = scorer.get_signature()
        if references is None:
            signature.update("nrefs", None)
        for word, number in (("bs", draws), ("ar", trials)):
            if number:
                signature.update(word, number)
                signature.update("seed", str(seed))
        return str(signature.format())

    def sacrebleu_signature(self, references: int | None = None) -> str:
        """The signature as sacreBLEU prints it, for a number of references or, as on a board, for any."""
        scorer = self.scorer()
        # sacreBLEU knows a signature only after a first score; its name carries what the rest leaves out (chrF's beta).
        with _advice_once():
            name = scorer.sentence_score("", [""]).name
        signature = scorer.get_signature()
        signature.update("nrefs", references)
        return f"{name}|{signature.format()}"

    @property
    def signature(self) -> str:
        return "|".join((self.sacrebleu_signature(), *self.own_words(), f"kernel:{self.revision}"))

    def own_words(self) -> Iterable[str]:
        """Options that sacreBLEU's signature leaves out."""
        return ()


def check_choice(what: str, name: str, names: Iterable[str]) -> None:
    """Refuse a name that is not among those known."""
    if name not in names:
        raise UnknownName(what, name, names)
