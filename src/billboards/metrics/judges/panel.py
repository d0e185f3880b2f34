"""Several models as one judge: the mean over those that have a say, each member's score kept beside it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from billboards.errors import InvalidInput, MissingSetting, UnknownName
from billboards.metrics.base import Batch, Floats, Metric, MetricCard
from billboards.metrics.judges.endpoint import need_httpx
from billboards.metrics.judges.esa import ESA
from billboards.metrics.judges.judge import COMMON, FAILURES, REVISION, DirectAssessment, Likert, TemplateJudge
from billboards.metrics.judges.mqm import MQM
from billboards.metrics.judges.settings import MODEL

JUDGES: dict[str, type[TemplateJudge]] = {"DA": DirectAssessment, "MQM": MQM, "Likert": Likert, "ESA": ESA}


@dataclass(frozen=True)
class Panel(Metric):
    """The mean over several models at one endpoint.

    `models` are their names, joined by `+`; `judge` is what each is asked: DA, MQM, Likert or ESA.
    """

    models: str = ""
    judge: str = "DA"
    endpoint: str = ""
    kind: str = "text"
    temperature: float = 0.0
    max_tokens: int = 0
    abstain: float = 0.05

    multiple_references: ClassVar[Literal["own", "best"]] = "own"
    scores_together: ClassVar[bool] = True
    may_abstain: ClassVar[bool] = True
    travels: ClassVar[bool] = False
    card: ClassVar[MetricCard] = replace(
        COMMON,
        name="judge-panel",
        summary="The mean over several language models that are asked the same; each one's score is kept too",
        range=(0.0, 100.0),
        paper="Verga et al. 2024, Replacing Judges with Juries: Evaluating LLM Generations with a Panel of Diverse "
        "Models, arXiv:2404.18796; the prompts are our own",
        failures=f"{FAILURES} Models of one family err alike, and their mean with them. A member that abstains from an "
        "output is left out there, so that means are over different members.",
    )

    def __post_init__(self) -> None:
        if self.judge not in JUDGES:
            raise UnknownName("judge of a panel", self.judge, JUDGES)
        names = self.models.split("+")
        if self.models and (len(set(names)) < len(names) or not all(name.strip() for name in names)):
            raise InvalidInput(f"judge-panel: models={self.models!r} must be names, each once, as in models=a+b+c")
        asked = self._member("").card
        card = replace(
            type(self).card,
            needs_input=asked.needs_input,
            needs_references=asked.needs_references,
            range=asked.range,
        )
        object.__setattr__(self, "card", card)

    @property
    def members(self) -> tuple[TemplateJudge, ...]:
        """The judges, one for each model."""
        models = self.models or os.environ.get(MODEL, "")
        if not models:
            raise MissingSetting(f"judge-panel needs models: name them, as in judge-panel(models=a+b+c), or {MODEL}")
        return tuple(map(self._member, models.split("+")))

    @property
    def parts(self) -> tuple[str, ...]:
        return ("mean", *(self.models.split("+") if self.models else ()))

    @property
    def signature(self) -> str:
        need_httpx()
        members = self.members
        parts = {f.name: getattr(self, f.name) for f in self._options()}
        used = {"endpoint": members[0].used_endpoint, "models": "+".join(member.used_model for member in members)}
        parts |= used | {"prompt": members[0].digest, "revision": REVISION}
        return "|".join((self.card.name, *(f"{key}:{value}" for key, value in parts.items())))

    def score_batch(self, batch: Batch) -> Mapping[str, Floats]:
        return self.score_rows([batch])[0]

    def score_rows(self, batches: Sequence[Batch]) -> list[Mapping[str, Floats]]:
        members = self.members
        scored = [member.score_rows(batches) for member in members]
        return [self._together([rows[k] for rows in scored]) for k in range(len(batches))]

    def _together(self, given: Sequence[Floats | Mapping[str, Floats]]) -> Mapping[str, Floats]:
        """The mean over members that have a say, and what each says."""
        primary = [next(iter(scores.values())) if isinstance(scores, Mapping) else scores for scores in given]
        table = np.array(primary, np.float64)
        saying = np.isfinite(table).sum(axis=0)
        total = np.where(np.isfinite(table), table, 0.0).sum(axis=0)
        mean = np.divide(total, saying, out=np.full(table.shape[1], np.nan), where=saying > 0)
        own = dict(zip(self.models.split("+"), table, strict=True)) if self.models else {}
        return {"mean": mean, **own}

    def _member(self, model: str) -> TemplateJudge:
        return JUDGES[self.judge](
            model=model,
            endpoint=self.endpoint,
            kind=self.kind,
            temperature=self.temperature,
            max_tokens=self.max_tokens,
            abstain=self.abstain,
        )


METRICS = {"judge-panel": Panel}
