"""The encoder engine: texts of a whole board in, whatever a metric makes of their embeddings out.

Windows are tokenised ahead, embedded on every device there is, and handed to the metric's epilogue on the device where
the embeddings lie; only its result comes back. A metric brings an encoder, the pairs of texts and an epilogue, and
needs to know nothing of batches, devices, memory or the cache on disk.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from billboards.metrics.neural.cache import EmbeddingCache
from billboards.metrics.neural.devices import find_devices
from billboards.metrics.neural.encoder import Embedded, Encoder, Precision, encoder
from billboards.metrics.neural.readout import Readout, TopLayer
from billboards.metrics.neural.tokens import Tokenizer
from billboards.metrics.neural.weights import Weights
from billboards.metrics.neural.windows import (
    Ahead,
    Indices,
    TokenWindow,
    Window,
    free_memory,
    ran_out_of_memory,
    tokenised,
)

if TYPE_CHECKING:
    from torch import Tensor

#: Bytes of embeddings in a window, by kind of device; and characters beyond which a larger window gains nothing.
WINDOW_BYTES = {"cpu": 192 << 20, "cuda": 2 << 30}
WINDOW_CHARACTERS = 1_000_000
#: A token is rarely shorter than this many characters on average; scripts that are get windows larger in bytes.
CHARACTERS_PER_TOKEN = 2

Epilogue = Callable[[TokenWindow, Embedded], "Tensor"]
#: The outputs that a window's pairs belong to, and what the epilogue made of those pairs.
Found = tuple[Indices, "Tensor"]


@dataclass(frozen=True)
class Where:
    """Where to compute and what to keep, which changes no score: devices, and a folder for embeddings."""

    devices: str | None = None
    cache: Path | None = None

    @staticmethod
    def from_environment() -> Where:
        """As the variables BILLBOARDS_DEVICES and BILLBOARDS_EMBEDDINGS say."""
        folder = os.environ.get("BILLBOARDS_EMBEDDINGS")
        return Where(os.environ.get("BILLBOARDS_DEVICES"), Path(folder) if folder else None)


@dataclass
class Tally:
    """What a run met: distinct texts, tokens, texts that were cut, texts that are empty, embeddings found on disk."""

    texts: int = 0
    tokens: int = 0
    cut: int = 0
    empty: int = 0
    cached: int = 0

    def add(self, window: TokenWindow) -> None:
        self.texts += len(window.texts)
        self.tokens += len(window.tokens.ids)
        self.cut += window.tokens.cut
        self.empty += int(window.tokens.empty.sum())


@dataclass
class Engine:
    """A model's encoders on all devices."""

    encoders: Sequence[Encoder]
    cache: EmbeddingCache | None = None
    tally: Tally = field(default_factory=Tally)
    counting: Lock = field(default_factory=Lock, repr=False)

    @property
    def tokenizer(self) -> Tokenizer:
        return self.encoders[0].tokenizer

    @property
    def all_layers(self) -> bool:
        return self.encoders[0].readout.apart

    @property
    def window_tokens(self) -> int:
        """How many tokens fill a window."""
        encoder = self.encoders[0]
        size = 4 if encoder.precision == "fp32" else 2
        return WINDOW_BYTES.get(encoder.device.type, WINDOW_BYTES["cuda"]) // (encoder.width * encoder.depth * size)

    @property
    def window_characters(self) -> int:
        """How many characters of text fill a window."""
        return min(self.window_tokens * CHARACTERS_PER_TOKEN, WINDOW_CHARACTERS)

    def run(self, windows: Iterable[Window], epilogue: Epilogue) -> list[Found]:
        """The epilogue's result for each window, in no particular order, still on its device."""
        return self.run_tokenised(tokenised(windows, self.tokenizer), epilogue)

    def run_tokenised(self, windows: Iterable[TokenWindow], epilogue: Epilogue) -> list[Found]:
        """The same for windows whose tokens are there already."""
        ready = Ahead(windows)
        with ThreadPoolExecutor(len(self.encoders)) as pool:
            work = [pool.submit(list, self._drain(encoder, ready, epilogue)) for encoder in self.encoders]
            try:
                return [result for encoder in work for result in encoder.result()]
            finally:
                # After an error or Ctrl-C the other devices end with the window in hand.
                ready.stop()

    def _drain(self, encoder: Encoder, ready: Iterator[TokenWindow], epilogue: Epilogue) -> Iterator[Found]:
        import torch

        with torch.inference_mode():
            for window in ready:
                with self.counting:
                    self.tally.add(window)
                yield from self._work(encoder, window, epilogue)

    def _work(self, encoder: Encoder, window: TokenWindow, epilogue: Epilogue) -> list[Found]:
        """A window's result; where memory doesn't hold all its embeddings at once, the results of its halves."""
        try:
            return [(window.items, epilogue(window, self._embed(encoder, window)))]
        except RuntimeError as error:
            if not ran_out_of_memory(error) or len(window.items) < 2:
                raise
        free_memory()
        return [result for half in window.halves() for result in self._work(encoder, half, epilogue)]

    def _embed(self, encoder: Encoder, window: TokenWindow) -> Embedded:
        if self.cache is None:
            return encoder.encode(window.tokens)
        embedded, hits = self.cache.embed(encoder, window.texts, window.tokens)
        with self.counting:
            self.tally.cached += hits
        return embedded


def start_engine(
    weights: Weights, layer: int | None, precision: Precision, where: Where, readout: Readout | None = None
) -> Engine:
    """The engine for a model up to a layer, or the whole of it; by default its top layer is read."""
    reads = TopLayer() if readout is None else readout
    encoders = [encoder(weights, layer, precision, device, reads) for device in find_devices(where.devices)]
    name = f"{weights.digest}-{encoders[0].top}-{reads.name}-{precision}"
    cache = None if where.cache is None else EmbeddingCache(where.cache / f"{name}.sqlite")
    return Engine(encoders, cache)
