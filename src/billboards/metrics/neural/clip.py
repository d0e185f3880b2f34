"""CLIP-S, RefCLIP-S and RefOnlyC (Hessel et al. 2021): captions judged by a model that reads images and texts.

CLIP-S is 2.5 times the cosine of caption and image, and not less than 0; RefCLIP-S the harmonic mean of that and of the
caption's best cosine with a reference, not less than 0 either; RefOnlyC that best cosine alone. An instance's input is
the name of its image, in the folder that BILLBOARDS_IMAGES names or else the current one.
"""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from billboards.errors import InvalidInput, MissingPart
from billboards.metrics.base import Batch, Floats, Item, MetricCard
from billboards.metrics.neural.devices import find_devices
from billboards.metrics.neural.encoder import PRECISIONS, Precision
from billboards.metrics.neural.engine import Where
from billboards.metrics.neural.installed import need
from billboards.metrics.neural.learned import Learned, checked_precision, split_rows, warn_of_cut_texts
from billboards.metrics.neural.sentences import parts_of
from billboards.metrics.neural.weights import Weights, locate

if TYPE_CHECKING:
    from torch import Tensor

#: What stands before every caption and reference (§3), and by what CLIP-S is stretched.
PREFIX, STRETCH = "A photo depicts ", 2.5
TEXTS, IMAGES = 256, 32

NEEDS = "torch, transformers, pillow and a CLIP model that lies on this machine; none comes with the metric"
TRAINING = (
    "that of the model; OpenAI's CLIP was trained on 400 million images of the Web with their captions (Radford et al. "
    "2021)"
)
LICENCE = "Apache-2.0 (this code); MIT (OpenAI's models)"
PAPER = "Hessel et al. 2021, CLIPScore: A Reference-free Evaluation Metric for Image Captioning, EMNLP"
FAILURES = (
    "Blind to counts, positions and who does what (Yuksekgonul et al. 2023, ICLR); prefers captions with the words of "
    "the Web. Captions are cut at 77 tokens. Takes over the model's biases about people. OpenAI's models read English "
    "only."
)


@dataclass(frozen=True)
class _Clip(Learned):
    """What the three do; `model` is a CLIP model's folder or a hub model fetched before."""

    model: str = ""

    def weights(self) -> Weights:
        name = self.card.name
        need(name, "torch", "transformers", "PIL")
        if not self.model:
            raise MissingPart(
                f"{name} needs a CLIP model: name its folder, or a hub model that was fetched before, "
                f"as in {name}(model=openai/clip-vit-base-patch32)"
            )
        return locate(self.model, self.revision)

    def score_rows(self, batches: Sequence[Batch]) -> list[Floats]:
        precision = checked_precision(self, self.precision)
        towers = clip_towers(self.weights(), precision, find_devices(Where.from_environment().devices)[0])
        items = [item for batch in batches for item in batch.items()]
        scores, cut, texts = np.empty(len(items)), 0, 0
        for part in parts_of(items):
            embedded = _Embedded(towers, [items[k] for k in part], self.card)
            scores[part] = [self.judge(embedded, items[k]) for k in part]
            cut, texts = cut + embedded.cut, texts + len(embedded.texts)
        warn_of_cut_texts(self, cut, texts, towers.limit)
        return split_rows(scores, batches)

    @abstractmethod
    def judge(self, embedded: _Embedded, item: Item) -> float:
        """The score of one caption."""


class _Embedded:
    """The images and texts of some captions as unit vectors, each distinct one once."""

    def __init__(self, towers: ClipTowers, items: Sequence[Item], card: MetricCard) -> None:
        references = (text for item in items for text in item.references if card.needs_references)
        texts = list(dict.fromkeys((*(item.output for item in items), *references)))
        images = list(dict.fromkeys(item.input or "" for item in items)) if card.needs_input else []
        vectors, self.cut = towers.read_texts(texts)
        self.texts = dict(zip(texts, vectors, strict=True))
        self.images = dict(zip(images, towers.read_images([find_image(name) for name in images]), strict=True))

    def clip_s(self, item: Item) -> float:
        return STRETCH * max(float(self.texts[item.output] @ self.images[item.input or ""]), 0.0)

    def best_reference(self, item: Item) -> float:
        return max(float(self.texts[item.output] @ self.texts[text]) for text in item.references)


def find_image(name: str) -> Path:
    """The image that an instance's input names."""
    folder = Path(os.environ.get("BILLBOARDS_IMAGES", "."))
    path = folder / name
    if not name or not path.is_file() or not path.resolve().is_relative_to(folder.resolve()):
        raise InvalidInput(
            f"no image {name!r} lies in {folder}: an instance's input must name its image, in the folder that "
            "BILLBOARDS_IMAGES names"
        )
    return path


class ClipTowers:
    """A CLIP model on a device: its text tower and its image tower."""

    def __init__(self, weights: Weights, precision: Precision, device: str) -> None:
        import torch
        from transformers import AutoTokenizer, CLIPImageProcessorPil, CLIPModel

        from billboards.metrics.neural.padded import quiet

        with quiet():
            self.tokenizer: Any = AutoTokenizer.from_pretrained(weights.folder, local_files_only=True)
            model: Any = CLIPModel.from_pretrained(weights.folder, local_files_only=True)
        if model.config.model_type != "clip":
            raise InvalidInput(f"{weights.name} is a {model.config.model_type} model; a CLIP model is needed")
        self.processor = CLIPImageProcessorPil.from_pretrained(weights.folder, local_files_only=True)
        self.device, self.kind = torch.device(device), getattr(torch, PRECISIONS[precision])
        self.model = model.to(self.device, self.kind).eval().requires_grad_(False)
        self.limit = int(model.config.text_config.max_position_embeddings)

    def read_texts(self, texts: Sequence[str]) -> tuple[Floats, int]:
        """Unit vectors of captions (texts × width), and how many were cut."""
        import torch

        written = [PREFIX + text for text in texts]
        cut = (
            sum(len(ids) > self.limit for ids in self.tokenizer(written, verbose=False)["input_ids"]) if written else 0
        )
        vectors: list[Floats] = []
        with torch.inference_mode():
            for start in range(0, len(written), TEXTS):
                some = written[start : start + TEXTS]
                given = self.tokenizer(some, padding=True, truncation=True, max_length=self.limit, return_tensors="pt")
                ids, mask = given["input_ids"].to(self.device), given["attention_mask"].to(self.device)
                pooled = self.model.text_model(input_ids=ids, attention_mask=mask).pooler_output
                vectors.append(_unit(self.model.text_projection(pooled)))
        return _stacked(vectors), cut

    def read_images(self, paths: Sequence[Path]) -> Floats:
        """Unit vectors of images: images × width."""
        import torch

        vectors: list[Floats] = []
        with torch.inference_mode():
            for start in range(0, len(paths), IMAGES):
                images = [_open(path) for path in paths[start : start + IMAGES]]
                pixels = self.processor(images=images, return_tensors="pt")["pixel_values"].to(self.device, self.kind)
                pooled = self.model.vision_model(pixel_values=pixels).pooler_output
                vectors.append(_unit(self.model.visual_projection(pooled)))
        return _stacked(vectors)


@lru_cache(maxsize=2)
def clip_towers(weights: Weights, precision: Precision, device: str) -> ClipTowers:
    """A model that is kept for the next call."""
    return ClipTowers(weights, precision, device)


def _open(path: Path) -> Any:
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(path) as image:
            return image.convert("RGB")
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, ValueError, SyntaxError) as error:
        raise InvalidInput(f"{path} can't be read as an image: {error}") from error


def _unit(values: Tensor) -> Floats:
    single = values.double()
    vector: Floats = (single / single.norm(dim=-1, keepdim=True).clamp_min(1e-12)).cpu().numpy()
    return vector


def _stacked(vectors: list[Floats]) -> Floats:
    return np.concatenate(vectors) if vectors else np.empty((0, 0))


@dataclass(frozen=True)
class ClipS(_Clip):
    """CLIP-S: caption and image."""

    card: ClassVar[MetricCard] = MetricCard(
        making="learned",
        name="CLIP-S",
        summary="2.5 times the cosine of a caption's and its image's CLIP embeddings, not less than 0",
        needs_references=False,
        needs_input=True,
        needs_part=NEEDS,
        range=(0.0, STRETCH),
        training_data=TRAINING,
        licence=LICENCE,
        paper=PAPER,
        failures=FAILURES,
        slow=True,
    )

    def judge(self, embedded: _Embedded, item: Item) -> float:
        return embedded.clip_s(item)


@dataclass(frozen=True)
class RefClipS(_Clip):
    """RefCLIP-S: caption, image and references."""

    card: ClassVar[MetricCard] = MetricCard(
        making="learned",
        name="RefCLIP-S",
        summary="Harmonic mean of CLIP-S and of the caption's best cosine with a reference in CLIP embeddings",
        needs_input=True,
        needs_part=NEEDS,
        range=(0.0, 2 * STRETCH / (1 + STRETCH)),
        training_data=TRAINING,
        licence=LICENCE,
        paper=PAPER,
        failures=FAILURES,
        slow=True,
    )

    def judge(self, embedded: _Embedded, item: Item) -> float:
        image, text = embedded.clip_s(item), max(embedded.best_reference(item), 0.0)
        return 2 * image * text / (image + text) if image + text else 0.0


@dataclass(frozen=True)
class RefOnlyC(_Clip):
    """RefOnlyC: caption and references, without the image."""

    card: ClassVar[MetricCard] = MetricCard(
        making="learned",
        name="RefOnlyC",
        summary="Best cosine of a caption with a reference in CLIP embeddings, without the image",
        needs_part=NEEDS,
        range=(-1.0, 1.0),
        training_data=TRAINING,
        licence=LICENCE,
        paper=f"{PAPER}; the name: Kasai et al. 2022, Bidimensional Leaderboards, NAACL",
        failures=FAILURES,
        slow=True,
    )

    def judge(self, embedded: _Embedded, item: Item) -> float:
        return min(max(embedded.best_reference(item), -1.0), 1.0)


METRICS = {"CLIP-S": ClipS, "RefCLIP-S": RefClipS, "RefOnlyC": RefOnlyC}
