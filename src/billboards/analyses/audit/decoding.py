"""Direct decoding: a metric that is a language model writes what it likes best itself (§4.1).

The beams of a search with the metric's own model are scored by the metric, and the best of each instance is kept: a
beam search compares hypotheses as they grow, the metric compares whole outputs.
"""

from __future__ import annotations

from dataclasses import dataclass

from billboards.analyses.audit.bench import Bench, Checkpoint, given_text
from billboards.analyses.audit.optimised import Optimised
from billboards.analyses.audit.reranking import best_candidates, random_candidates
from billboards.analyses.audit.results import OptimisationMethod
from billboards.errors import InvalidInput
from billboards.metrics.base import Decodes, Metric

#: Tokens of an output at most.
LONGEST = 200


@dataclass(frozen=True)
class Decoding:
    """Beam search with the metric's own model."""

    beams: int = 5
    longest: int = LONGEST
    method: OptimisationMethod = "decode"

    def optimise(self, bench: Bench, metric: Metric) -> Optimised:
        if not isinstance(metric, Decodes) or metric.card.needs_references:
            raise InvalidInput(
                f"{metric.name} is no generation model that reads only the input, so nothing can be decoded with it; "
                "use --method extract or rerank"
            )
        instances = bench.board.instances
        kept = bench.checkpoint("decode", metric.signature, _inputs(bench), str(self.beams), str(self.longest))
        beams = _kept_beams(kept)
        if len(beams) != len(instances):
            beams = metric.decode(
                [given_text(instance) for instance in instances], beams=self.beams, longest=self.longest
            )
            kept.save({"beams": beams})
        spent = bench.budget.spent
        texts = best_candidates(bench, metric, beams)
        how = f"beam search with its own model, {self.beams} beams"
        pairs = bench.budget.spent - spent
        return Optimised(
            method="decode", how=how, texts=texts, pairs=pairs, random_texts=random_candidates(bench, beams)
        )


def _kept_beams(kept: Checkpoint) -> list[tuple[str, ...]]:
    """What was decoded before; nothing where what is kept is no texts."""
    stored = kept.load().get("beams")
    beams = stored if isinstance(stored, list) else []
    fit = all(isinstance(own, list) and all(isinstance(text, str) for text in own) for own in beams)
    return [tuple(own) for own in beams] if fit else []


def _inputs(bench: Bench) -> str:
    return bench.board.context_version(references=(), inputs=True)
