"""Pairs of texts that a network reads as one: what BLEURT, AlignScore and SummaC have in common.

Because a pair is read as one, nothing can be embedded once for several outputs; equal pairs are read once. Pairs are
sorted by length and cut into batches by their number of tokens, so that little is padded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from billboards.errors import InvalidInput, MissingPart
from billboards.metrics.base import Floats
from billboards.metrics.neural.encoder import BATCH, PRECISIONS, Precision, batches
from billboards.metrics.neural.pieces import Pieces, read_pieces
from billboards.metrics.neural.windows import halve_until_it_fits
from billboards.metrics.nltk_words import NO_PARAMETERS, punkt_version
from billboards.reading import json_value

if TYPE_CHECKING:
    from torch import Tensor

    from billboards.metrics.neural.weights import Weights

#: The text that is read first, and the other.
Pair = tuple[str, str]
#: Which text of a pair loses tokens where the pair is too long: the longer one, or the first.
Truncation = Literal["longest_first", "only_first"]
#: Pairs that are tokenised at once.
PART = 8192


@dataclass(frozen=True)
class PairTokens:
    """Pairs as tokens, with the text that each token is of (0 or 1) where the model is told; how many were cut."""

    ids: Sequence[Sequence[int]]
    sides: Sequence[Sequence[int]] | None
    cut: int


class PairTokenizer(Protocol):
    """What makes tokens of pairs, at most `limit` of each; `padding` fills up a shorter pair."""

    limit: int
    padding: int

    def __call__(self, pairs: Sequence[Pair]) -> PairTokens:
        """The tokens of each pair."""


class HubPairs:
    """A tokenizer of transformers."""

    def __init__(self, tokenizer: Any, limit: int, truncation: Truncation, *, sided: bool) -> None:
        self.tokenizer, self.limit, self.truncation, self.sided = tokenizer, limit, truncation, sided
        self.padding: int = tokenizer.pad_token_id or 0

    def __call__(self, pairs: Sequence[Pair]) -> PairTokens:
        given = self._tokens(pairs)
        long = [k for k, ids in enumerate(given["input_ids"]) if len(ids) > self.limit]
        for k in long:
            shortened = self._shortened(pairs[k])
            for name, rows in given.items():
                rows[k] = shortened[name][0]
        return PairTokens(given["input_ids"], given["token_type_ids"] if self.sided else None, len(long))

    def _tokens(self, pairs: Sequence[Pair], **options: Any) -> dict[str, list[list[int]]]:
        first, second = [text for text, _ in pairs], [text for _, text in pairs]
        given = self.tokenizer(first, second, verbose=False, return_token_type_ids=self.sided, **options)
        return {name: given[name] for name in ("input_ids", *(("token_type_ids",) if self.sided else ()))}

    def _shortened(self, pair: Pair) -> dict[str, list[list[int]]]:
        room = self.limit - self.tokenizer.num_special_tokens_to_add(pair=True)
        other = len(self.tokenizer(pair[1], add_special_tokens=False, verbose=False)["input_ids"])
        # Where the other text leaves no room for the first, both lose tokens.
        truncation = self.truncation if other < room else "longest_first"
        return self._tokens([pair], truncation=truncation, max_length=self.limit)


class PiecePairs:
    """A model of SentencePiece's: the longer text loses tokens, one by one, the second where both are as long."""

    def __init__(self, pieces: Pieces, limit: int) -> None:
        self.pieces, self.limit, self.padding = pieces, limit, 0
        self.first, self.last = pieces.number("[CLS]"), pieces.number("[SEP]")

    def __call__(self, pairs: Sequence[Pair]) -> PairTokens:
        texts = {text: k for k, text in enumerate(dict.fromkeys(text for pair in pairs for text in pair))}
        cut = self.pieces.cut(list(texts))
        rows, sides, count = [], [], 0
        for left, other in pairs:
            first, second = cut[texts[left]], cut[texts[other]]
            sizes = fitting(len(first), len(second), self.limit - 3)
            count += sizes != (len(first), len(second))
            first, second = first[: sizes[0]], second[: sizes[1]]
            rows.append([self.first, *first, self.last, *second, self.last])
            sides.append([0] * (len(first) + 2) + [1] * (len(second) + 1))
        return PairTokens(rows, sides, count)


def fitting(first: int, second: int, room: int) -> tuple[int, int]:
    """The lengths of two texts after the longer has lost tokens one by one, the second where both are as long."""
    over = max(first + second - room, 0)
    level = min(over, abs(first - second))
    first, second = (first - level, second) if first > second else (first, second - level)
    over -= level
    return first - over // 2, second - (over - over // 2)


class PairReader:
    """A network on one device that gives some numbers for each pair."""

    def __init__(self, tokenizer: PairTokenizer, network: Callable[..., Tensor], device: Any) -> None:
        self.tokenizer, self.network, self.device = tokenizer, network, device

    @property
    def limit(self) -> int:
        """How many tokens of a pair are read."""
        return self.tokenizer.limit

    def read(self, pairs: Sequence[Pair]) -> tuple[Floats, int]:
        """Pairs × numbers, and how many pairs were cut."""
        parts = [self._part(pairs[start : start + PART]) for start in range(0, len(pairs), PART)]
        numbers = [part for part, _ in parts]
        return np.concatenate(numbers) if numbers else np.empty((0, 1)), sum(cut for _, cut in parts)

    def _part(self, pairs: Sequence[Pair]) -> tuple[Floats, int]:
        import torch

        tokens = self.tokenizer(pairs)
        lengths = np.array([len(ids) for ids in tokens.ids], np.int64)
        order, rows = np.argsort(lengths, kind="stable"), []
        with torch.inference_mode():
            for run in batches(lengths[order], BATCH.get(self.device.type, BATCH["cuda"])):
                read = halve_until_it_fits(order[run], lambda some: self._read(tokens, some))
                rows.append(read.double().cpu().numpy())
        numbers = np.empty_like(joined := np.concatenate(rows))
        numbers[order] = joined
        return numbers, tokens.cut

    def _read(self, tokens: PairTokens, some: NDArray[np.intp]) -> Tensor:
        ids = [tokens.ids[k] for k in some]
        given = {"input_ids": self._padded(ids, self.tokenizer.padding)}
        given["attention_mask"] = self._padded([[1] * len(row) for row in ids], 0)
        if tokens.sides is not None:
            given["token_type_ids"] = self._padded([tokens.sides[k] for k in some], 0)
        return self.network(**given)

    def _padded(self, rows: Sequence[Sequence[int]], padding: int) -> Tensor:
        import torch

        longest = max(len(row) for row in rows)
        return torch.tensor([[*row, *[padding] * (longest - len(row))] for row in rows], device=self.device)


def read_distinct(reader: PairReader, pairs: Iterable[Pair]) -> tuple[dict[Pair, Floats], int]:
    """The numbers of each pair, equal ones read once; and how many were cut."""
    distinct = list(dict.fromkeys(pairs))
    numbers, cut = reader.read(distinct)
    return dict(zip(distinct, numbers, strict=True)), cut


def need_sentences(metric: str) -> None:
    """Refuse to go on without the parameters by which a text is cut into sentences."""
    if punkt_version() == NO_PARAMETERS:
        raise MissingPart(
            f"{metric} cuts texts into sentences by nltk's Punkt data, which are not on this machine: "
            "python -c 'import nltk; nltk.download(\"punkt_tab\")' fetches them"
        )


def logits(model: Any, precision: Precision, device: Any) -> Callable[..., Tensor]:
    """A classifier of transformers, ready to read."""
    import torch

    model = model.to(device, getattr(torch, PRECISIONS[precision])).eval().requires_grad_(False)
    return lambda **given: model(**given).logits


def told_sides(config: Any) -> bool:
    """Whether a model is told which of two texts a token is of."""
    return getattr(config, "type_vocab_size", 0) > 1


def hub_classifier(weights: Weights) -> Any:
    """The classifier in a model's folder, as transformers reads it."""
    from transformers import AutoModelForSequenceClassification

    from billboards.metrics.neural.padded import quiet

    with quiet():
        try:
            return AutoModelForSequenceClassification.from_pretrained(weights.folder, local_files_only=True)
        except ValueError as error:
            reason = str(error).strip().splitlines()[0]
            raise InvalidInput(f"{weights.name} is no checkpoint that transformers can read: {reason}") from error


def hub_tokenizer(folder: Path) -> Any:
    """The tokenizer of a model's folder; an ALBERT's model of SentencePiece's is read without sentencepiece."""
    from transformers import AlbertTokenizer, AutoTokenizer, PreTrainedTokenizerFast

    from billboards.metrics.neural.padded import quiet

    settings = read_settings(folder / "tokenizer_config.json") if (folder / "tokenizer_config.json").is_file() else {}
    kind = read_settings(folder / "config.json").get("model_type")
    with quiet():
        if kind == "bleurt":
            return PreTrainedTokenizerFast.from_pretrained(folder, local_files_only=True)
        if kind != "albert" or (folder / "tokenizer.json").is_file() or not (folder / "spiece.model").is_file():
            return AutoTokenizer.from_pretrained(folder, local_files_only=True)
        pieces = read_pieces(folder / "spiece.model")
        kept = ("do_lower_case", "keep_accents", "model_max_length")
        return AlbertTokenizer(
            vocab=[(piece, score - 100 * _ends_number(piece)) for piece, score in pieces.rows()],
            _spm_precompiled_charsmap=pieces.characters.compiled or None,
            **{name: settings[name] for name in kept if name in settings},
        )


def _ends_number(piece: str) -> bool:
    """Whether a piece ends in a digit and a comma, which ALBERT's tokenizer keeps apart."""
    return len(piece) > 1 and piece[-1] == "," and piece[-2].isdigit()


def weight_file(folder: Path) -> Path:
    """The file with a model's weights, the safer kind where there are two."""
    for name in ("model.safetensors", "pytorch_model.bin"):
        if (folder / name).is_file():
            return folder / name
    raise InvalidInput(f"{folder} holds no weights: model.safetensors or pytorch_model.bin is missing there")


def load_state(name: str, model: Any, state: Mapping[str, Tensor]) -> None:
    """Put a checkpoint's weights into a network of transformers."""
    try:
        missing, unknown = model.load_state_dict(state, strict=False)
    except RuntimeError as error:
        reason = str(error).strip().splitlines()[-1].strip()
        raise InvalidInput(f"{name}: its weights don't fit its settings: {reason}") from error
    wrong = [weight for weight in (*missing, *unknown) if not weight.endswith("position_ids")]
    if wrong:
        raise InvalidInput(f"{name}: {len(wrong)} weights don't fit its settings, first {wrong[0]}")


def read_settings(path: Path) -> Mapping[str, Any]:
    """A file of settings in JSON."""
    try:
        value = json_value(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{path} can't be read: {error}") from error
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{path} holds no settings")
    return value
