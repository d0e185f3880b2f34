"""Several texts read as one: an output with its input, its reference or both, end to end (Wan et al. 2022, §3).

An estimator reads the first token of the whole; where words are judged, a tagger reads the output's tokens, which come
first. Distinct texts are tokenised once and distinct sequences read once, sorted by length. As in unbabel-comet each
text is cut at four tokens less than the model has positions, and the whole at two less, without a last separator.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from billboards.errors import InvalidInput
from billboards.metrics.base import Floats
from billboards.metrics.neural.comet_checkpoint import SEPARATORS, Checkpoint, estimator, tagger
from billboards.metrics.neural.devices import upload
from billboards.metrics.neural.encoder import Embedded, Precision, batches
from billboards.metrics.neural.engine import Engine, Where, start_engine
from billboards.metrics.neural.tokens import Tokens
from billboards.metrics.neural.windows import TokenWindow

if TYPE_CHECKING:
    from torch import Tensor

Words = NDArray[np.float32]
#: Texts that are read as one, the output first.
Sequenced = tuple[str, ...]


@dataclass(frozen=True)
class Reading:
    """What a model makes of joined texts: a score for each; and for each token of its output the labels' probabilities.

    `words` is empty where words are not judged. The tokens are those of the output with the two that stand around it.
    """

    scores: Floats
    words: Sequence[Words]


@dataclass(frozen=True)
class _Piece:
    """A text's tokens, without those that every text gets; and whether it was cut."""

    ids: NDArray[np.int32]
    cut: bool


@dataclass(frozen=True)
class _Heads:
    """What stands above the encoder, on one device."""

    estimate: Callable[[Tensor], Tensor]
    tag: Callable[[Tensor], Tensor] | None


class JoinedReader:
    """A checkpoint's model on all devices, ready to read texts that are joined."""

    def __init__(self, checkpoint: Checkpoint, precision: Precision) -> None:
        import torch

        # No embeddings are kept on disk: a text's depend on those that it is read with.
        where = Where(Where.from_environment().devices)
        self.checkpoint = checkpoint
        self.engine: Engine = start_engine(checkpoint, checkpoint.top, precision, where, checkpoint.readout())
        tokenizer: Any = self.engine.tokenizer.inner
        if not tokenizer.is_fast:
            raise InvalidInput(f"{checkpoint.name}: its tokenizer has no fast form, which is needed to join texts")
        self.tokenizer, self.limit = tokenizer, checkpoint.longest_joined
        self.separators = [tokenizer.sep_token_id] * SEPARATORS[checkpoint.encoder_model]
        devices = [torch.empty(0, device=encoder.device).device for encoder in self.engine.encoders]
        self.heads: Mapping[Any, _Heads] = {device: self._heads(device) for device in devices}

    def _heads(self, device: Any) -> _Heads:
        judges_words = self.checkpoint.word_layer is not None
        return _Heads(estimator(self.checkpoint, device), tagger(self.checkpoint, device) if judges_words else None)

    def read(self, wanted: Sequence[Sequenced]) -> Reading:
        """What the model makes of each sequence."""
        numbers = {texts: k for k, texts in enumerate(dict.fromkeys(wanted))}
        pieces = self._pieces({text for texts in numbers for text in texts})
        parts = [[pieces[text] for text in texts] for texts in numbers]
        # The first text's tokens have one before and one after them.
        of_output = np.array([len(texts[0].ids) + 2 for texts in parts], np.int64)

        def judge(window: TokenWindow, embedded: Embedded) -> Tensor:
            return self._judge(window, embedded, of_output[window.items])

        scores, words = np.empty(len(parts)), [np.empty((0, 0), np.float32)] * len(parts)
        for items, values in self.engine.run_tokenised(self._windows(parts), judge):
            numbers_read = values.float().cpu().numpy()
            scores[items] = numbers_read[: len(items)]
            labels = numbers_read[len(items) :].reshape(int(of_output[items].sum()), -1)
            for k, own in zip(items, np.split(labels, np.cumsum(of_output[items])[:-1]), strict=True):
                words[k] = own
        chosen = [numbers[texts] for texts in wanted]
        return Reading(scores[chosen], [words[k] for k in chosen])

    def offsets(self, text: str) -> list[tuple[int, int]]:
        """Where in an output each of its tokens begins and ends, as they stand in `Reading.words`."""
        return list(self.tokenizer.backend_tokenizer.encode(text).offsets)

    def text_of(self, text: str, first: int, last: int) -> str:
        """Some of an output's tokens as text."""
        ids = self.tokenizer.backend_tokenizer.encode(text).ids[first:last]
        return str(self.tokenizer.decode(ids))

    def _pieces(self, texts: Iterable[str]) -> dict[str, _Piece]:
        listed, padding = list(texts), self.tokenizer.pad_token_id
        encoded = self.tokenizer.backend_tokenizer.encode_batch_fast(listed, add_special_tokens=True)
        pieces = {}
        for text, encoding in zip(listed, encoded, strict=True):
            ids = np.array(encoding.ids[1:-1], np.int32)
            pieces[text] = _Piece(ids[ids != padding], bool(encoding.overflowing))
        return pieces

    def _join(self, pieces: Sequence[_Piece]) -> NDArray[np.int32]:
        first, separators = [self.tokenizer.cls_token_id], np.array(self.separators, np.int32)
        between = [part for piece in pieces[1:] for part in (separators, piece.ids)]
        return np.concatenate((np.array(first, np.int32), pieces[0].ids, *between, separators[:1]))

    def _windows(self, sequences: Sequence[Sequence[_Piece]]) -> Iterator[TokenWindow]:
        """The sequences in windows, short ones first; no fewer windows than there are devices."""
        joined = [self._join(pieces) for pieces in sequences]
        over = np.array([len(ids) > self.limit for ids in joined])
        over |= [any(piece.cut for piece in pieces) for pieces in sequences]
        lengths = np.array([min(len(ids), self.limit) for ids in joined], np.int64)
        order = np.argsort(lengths, kind="stable")
        most = min(self.engine.window_tokens, -(-int(lengths.sum()) // len(self.engine.encoders)))
        for part in batches(lengths[order], most):
            items = order[part]
            starts = np.concatenate(([0], np.cumsum(lengths[items]))).astype(np.int64)
            ids = np.concatenate([joined[k][: self.limit] for k in items])
            tokens = Tokens(ids, starts, np.zeros(len(items), bool), int(over[items].sum()))
            own = np.arange(len(items))
            yield TokenWindow([""] * len(items), own, own, items, tokens)

    def _judge(self, window: TokenWindow, embedded: Embedded, of_output: NDArray[np.int64]) -> Tensor:
        """The scores of a window's sequences, and after them the probabilities of their outputs' tokens."""
        import torch

        values, heads = embedded.values, self.heads[embedded.values.device]
        width = values.shape[-1] // (1 if heads.tag is None else 2)
        starts = embedded.starts[window.outputs]
        scores = heads.estimate(values[upload(starts, values.device), :width].float())
        if heads.tag is None:
            return scores
        ends = np.cumsum(of_output)
        rows = np.arange(ends[-1]) + np.repeat(starts - ends + of_output, of_output)
        return torch.cat((scores, heads.tag(values[upload(rows, values.device), width:].float()).flatten()))
