"""MAUVE (Pillutla et al. 2021): how like people's texts a generator's outputs are, all of them taken together.

Every text is a vector: the last hidden state of a language model at the text's last token. The vectors of outputs and
of references are brought to length 1, reduced to the principal components that explain nine tenths of their variance,
and clustered together by k-means; so both sides are histograms over the clusters. The score is the area under the curve
of their divergences from mixtures of the two: 1 where the histograms are equal, near 0 where they share nothing.

Parameters are those of the authors' package (mauve-text): a tenth as many clusters as texts of the smaller side, the
best of five starts, 25 mixtures, a scaling of 5. Its k-means is faiss'; this is Lloyd's algorithm from randomly chosen
texts, so that clusters, and with them scores, differ from its numbers as they do from seed to seed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from billboards.errors import InvalidInput, MissingPart
from billboards.metrics.base import LATER, Batch, Floats, MetricCard, SystemMetric
from billboards.metrics.neural.devices import ONE_GPU, find_devices
from billboards.metrics.neural.encoder import BATCH, PRECISIONS, Precision, batches
from billboards.metrics.neural.engine import Where
from billboards.metrics.neural.installed import installed_version, need
from billboards.metrics.neural.learned import check_language, checked_precision, pinned, warn_of_cut_texts
from billboards.metrics.neural.padded import quiet
from billboards.metrics.neural.weights import Weights, locate
from billboards.metrics.sacre import check_choice

Labels = NDArray[np.intp]

#: Points of the curve, and how close to the ends it begins.
MIXTURES, EDGE = 25, 1e-6
#: Tokens that are read of a text.
LONGEST = 1024
#: Distances that are computed at a time.
_AT_ONCE = 1 << 23
SIDES = ("all", "first")


@dataclass(frozen=True)
class MAUVE(SystemMetric):
    """The area under the divergence curve of outputs and references.

    `model` is a model's folder, the name of a hub model that was fetched before (the authors take gpt2-large), or
    `minilm`, the small English sentence encoder that comes as a package. `references` says whether all references of an
    output take part or the first alone. `buckets` is the number of clusters, 0 for a tenth of the smaller side's texts.
    `smoothed` adds half a text to each cluster, as in MAUVE* (Pillutla et al. 2023).
    """

    model: str = ""
    references: str = "all"
    buckets: int = 0
    variance: float = 0.9
    scaling: float = 5.0
    starts: int = 5
    iterations: int = 500
    seed: int = 25
    smoothed: bool = False
    precision: str = "fp32"
    revision: str = field(default="", kw_only=True, metadata=LATER)

    resources: ClassVar[Mapping[str, float]] = ONE_GPU
    card: ClassVar[MetricCard] = MetricCard(
        making="learned",
        name="MAUVE",
        summary="Area under the curve of divergences between outputs and references, as histograms over clusters of a "
        "language model's vectors",
        needs_part="torch, transformers and a model that lies on this machine; none is chosen for you",
        range=(0.0, 1.0),
        training_data="none of its own; that of the model",
        licence="Apache-2.0 (this code, from the papers); the model has its own",
        paper="Pillutla et al. 2021, MAUVE: Measuring the Gap Between Neural Text and Human Text using Divergence "
        "Frontiers, NeurIPS; Pillutla et al. 2023, MAUVE Scores for Generative Models: Theory and Practice, JMLR 24",
        failures="Made for open-ended generation: it compares two heaps of texts and never an output with its own "
        "reference, so that right texts in the wrong order are perfect. Needs thousands of texts on either side; with "
        "fewer it is high and noisy. Numbers depend on the model, the number of texts, their lengths and the seed: "
        "compare only systems with equally many outputs under one signature. Texts are cut at 1,024 tokens or where "
        "the model's input ends.",
        slow=True,
    )

    @property
    def signature(self) -> str:
        need(self.card.name, "torch", "transformers")
        self._check()
        weights = self._weights()
        parts: dict[str, object] = {"model": weights.label, **pinned(weights, self.revision), "weights": weights.digest}
        parts |= {f.name: getattr(self, f.name) for f in self._options() if f.name not in ("model", "revision")}
        return "|".join((self.card.name, *(f"{key}:{value}" for key, value in {**parts, **self.versions()}.items())))

    def versions(self) -> Mapping[str, str]:
        return {"transformers": installed_version("transformers"), "revision": "1"}

    def score_system(self, batch: Batch) -> float:
        self._check()
        weights = self._weights()
        check_language(self, self.model, [batch])
        most = None if self.references == "all" else 1
        sides = [[*batch.outputs], [text for texts in batch.references for text in texts[:most]]]
        outputs, references = ([text for text in side if text.strip()] for side in sides)
        if not outputs or not references:
            return 1.0 if not outputs and not references else 0.0
        vectors = self._vectors(weights, [*outputs, *references])
        buckets = self.buckets or max(2, round(min(len(outputs), len(references)) / 10))
        labels = cluster(
            reduced(vectors, self.variance), buckets, starts=self.starts, iterations=self.iterations, seed=self.seed
        )
        added = 0.5 if self.smoothed else 0.0
        written, wanted = (histogram(part, buckets, added) for part in np.split(labels, [len(outputs)]))
        return area(divergence_curve(wanted, written, self.scaling))

    def _vectors(self, weights: Weights, texts: Sequence[str]) -> Floats:
        distinct = list(dict.fromkeys(texts))
        device = find_devices(Where.from_environment().devices)[0]
        vectors, cut, limit = last_states(weights, distinct, checked_precision(self, self.precision), device)
        warn_of_cut_texts(self, cut, len(distinct), limit)
        places = {text: k for k, text in enumerate(distinct)}
        return vectors[[places[text] for text in texts]]

    def _weights(self) -> Weights:
        if not self.model:
            raise MissingPart(
                "MAUVE needs a model: name its folder, or a hub model that was fetched before, as in "
                "MAUVE(model=gpt2-large); MAUVE(model=minilm) takes the small English encoder that comes as a package, "
                "and is another metric"
            )
        return locate(self.model, self.revision)

    def _check(self) -> None:
        check_choice("references of MAUVE", self.references, SIDES)
        if not (0 < self.variance < 1 and 0 < self.scaling < float("inf")):
            raise InvalidInput(f"{self.name}: variance must lie between 0 and 1, scaling above 0")
        if min(self.buckets, self.seed) < 0 or min(self.starts, self.iterations) < 1 or self.buckets == 1:
            raise InvalidInput(f"{self.name}: buckets are 0 or at least 2, starts and iterations 1, the seed 0 or more")


def last_states(weights: Weights, texts: Sequence[str], precision: Precision, device: str) -> tuple[Floats, int, int]:
    """The last hidden state of each text's last token; how many texts were cut, and at how many tokens."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(weights.folder, local_files_only=True)
    with quiet():
        model = AutoModel.from_pretrained(weights.folder, local_files_only=True)
    model = model.to(device, getattr(torch, PRECISIONS[precision])).eval()
    limit = min(LONGEST, tokenizer.model_max_length, weights.longest_input(model.config) or LONGEST)
    tokens, cut = _tokens(tokenizer, texts, limit)
    lengths = np.array([len(ids) for ids in tokens], np.int64)
    order = np.argsort(-lengths, kind="stable")
    states = np.empty((len(texts), int(model.config.hidden_size)))
    with torch.inference_mode():
        for part in batches(lengths[order], BATCH.get(torch.device(device).type, BATCH["cuda"])):
            some = order[part]
            ids = torch.zeros((len(some), int(lengths[some].max())), dtype=torch.long)
            mask = torch.zeros_like(ids)
            for row, text in enumerate(some):
                ids[row, : lengths[text]], mask[row, : lengths[text]] = torch.tensor(tokens[text]), 1
            hidden = model(input_ids=ids.to(device), attention_mask=mask.to(device)).last_hidden_state
            last = torch.from_numpy(lengths[some] - 1).to(device)
            states[some] = hidden[torch.arange(len(some), device=device), last].double().cpu().numpy()
    return states, cut, limit


def _tokens(tokenizer: Any, texts: Sequence[str], limit: int) -> tuple[list[list[int]], int]:
    """The tokens of each text, cut at a limit, and how many texts were."""
    tokens: list[list[int]] = [tokenizer.encode(text) for text in texts]
    cut = [k for k, ids in enumerate(tokens) if len(ids) > limit]
    for k in cut:
        tokens[k] = tokenizer.encode(texts[k], max_length=limit, truncation=True)
    for ids, text in zip(tokens, texts, strict=True):
        if not ids:
            raise InvalidInput(f"MAUVE: the model's tokenizer finds no token in {text[:60]!r}; leave such texts out")
    return tokens, len(cut)


def reduced(vectors: Floats, variance: float) -> Floats:
    """Vectors of length 1 on the principal components that explain so much of their variance."""
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True).clip(1e-12)
    centred = unit - unit.mean(axis=0)
    _, strengths, axes = np.linalg.svd(centred, full_matrices=False)
    explained = np.cumsum(strengths**2)
    if explained[-1] <= 1e-24 * len(unit):
        return np.zeros((len(unit), 1))
    kept = int(np.argmax(explained / explained[-1] >= variance)) + 1
    components: Floats = centred @ axes[:kept].T
    return components


def cluster(points: Floats, clusters: int, *, starts: int, iterations: int, seed: int) -> Labels:
    """The cluster of each point by Lloyd's algorithm: of several starts the one with the smallest sum of squares."""
    draw = np.random.default_rng(seed)
    clusters = min(clusters, len(points))
    runs = (
        _lloyd(points, points[draw.choice(len(points), clusters, replace=False)], iterations) for _ in range(starts)
    )
    return min(runs, key=lambda run: run[1])[0]


def _lloyd(points: Floats, centres: Floats, iterations: int) -> tuple[Labels, float]:
    """Points go to the nearest centre and centres to the mean of their points, until nothing changes."""
    labels = np.full(len(points), -1)
    for _ in range(iterations):
        before, (labels, squares) = labels, _nearest(points, centres)
        if (labels == before).all():
            break
        sizes = np.bincount(labels, minlength=len(centres))
        # A cluster that lost its last point takes the one that lies worst.
        for empty in np.flatnonzero(sizes == 0):
            worst = int(np.where(sizes[labels] > 1, squares, -1.0).argmax())
            sizes[labels[worst]] -= 1
            labels[worst], squares[worst], sizes[empty] = empty, 0.0, 1
        sums = np.zeros_like(centres)
        np.add.at(sums, labels, points)
        centres = sums / np.maximum(sizes, 1)[:, None]
    labels, squares = _nearest(points, centres)
    return labels, float(squares.sum())


def _nearest(points: Floats, centres: Floats) -> tuple[Labels, Floats]:
    """The nearest centre of each point, and the square of its distance."""
    labels, squares = np.empty(len(points), np.intp), np.empty(len(points))
    lengths, step = (centres**2).sum(axis=1), max(1, _AT_ONCE // len(centres))
    for start in range(0, len(points), step):
        part = slice(start, start + step)
        apart = lengths - 2 * points[part] @ centres.T
        labels[part] = apart.argmin(axis=1)
        squares[part] = apart.min(axis=1) + (points[part] ** 2).sum(axis=1)
    return labels, squares.clip(0.0)


def histogram(labels: Labels, clusters: int, added: float = 0.0) -> Floats:
    """The share of each cluster, with so much added to each count."""
    counts = np.bincount(labels, minlength=clusters) + added
    shares: Floats = counts / counts.sum()
    return shares


def divergence_curve(first: Floats, other: Floats, scaling: float) -> Floats:
    """Points of the curve: exp of minus the scaled divergences of either histogram from mixtures of the two."""
    weights = np.linspace(EDGE, 1 - EDGE, MIXTURES)
    mixtures = weights[:, None] * first + (1 - weights[:, None]) * other
    inner = np.column_stack([[_divergence(side, mixture) for mixture in mixtures] for side in (other, first)])
    points: Floats = np.exp(-scaling * np.vstack(([0.0, np.inf], inner, [np.inf, 0.0])))
    return points


def _divergence(shares: Floats, mixture: Floats) -> float:
    """Kullback and Leibler's divergence; a mixture has whatever either of its histograms has.

    It is never below 0. Rounding may say so of histograms that are nearly equal, and then the curve would turn back.
    """
    present = shares > 0
    return max(0.0, float(np.sum(shares[present] * np.log(shares[present] / mixture[present]))))


def area(curve: Floats) -> float:
    """The area under the curve, the mean of both ways to look at it; the curve falls, also where points coincide."""
    x, y = curve.T
    by_x, by_y = np.lexsort((-y, x)), np.lexsort((-x, y))
    return float(0.5 * (np.trapezoid(y[by_x], x[by_x]) + np.trapezoid(x[by_y], y[by_y])))


METRICS = {"MAUVE": MAUVE}
