"""Embeddings kept on disk, by model, layer and text, for those who score the same texts again and again.

One SQLite file per model, layer and precision; a text's key is a digest of the text. It is used only when asked for: a
token's embedding takes a kilobyte or more, so a board takes gigabytes.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from billboards.errors import StoreFailed
from billboards.metrics.neural.encoder import Embedded, Encoder
from billboards.metrics.neural.tokens import Tokens

if TYPE_CHECKING:
    from torch import Tensor

#: How many keys a query asks for at once; SQLite allows a thousand or so.
ASKED = 500


class EmbeddingCache:
    """The embeddings of one model's layer in one precision, in one file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with closing(self._open()) as database, database:
                database.execute("CREATE TABLE IF NOT EXISTS embeddings (text BLOB PRIMARY KEY, tokens BLOB)")
        except (OSError, sqlite3.Error) as error:
            raise StoreFailed(f"{self.path}: no embeddings can be kept here: {error}") from error

    def embed(self, encoder: Encoder, texts: Sequence[str], tokens: Tokens) -> tuple[Embedded, int]:
        """The texts' embeddings, from disk where they lie there, and how many those were; new ones are kept."""
        import torch

        keys = [hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest() for text in texts]
        kept = self._read(keys)
        new = np.array([k for k, key in enumerate(keys) if key not in kept], np.intp)
        fresh = encoder.encode(tokens.some(new))
        self._write([keys[k] for k in new], fresh)
        old = [k for k, key in enumerate(keys) if key in kept]
        pieces = [_tensor(kept[keys[k]], fresh.values, int(tokens.lengths[k])) for k in old]
        starts = np.empty(len(texts), np.int64)
        starts[new] = fresh.starts
        lengths = tokens.lengths[old]
        starts[old] = fresh.values.shape[-2] + np.cumsum(lengths) - lengths
        return Embedded(torch.cat([fresh.values, *pieces], -2), starts, tokens.lengths), len(old)

    def _read(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        kept: dict[bytes, bytes] = {}
        try:
            with closing(self._open()) as database:
                for start in range(0, len(keys), ASKED):
                    some = keys[start : start + ASKED]
                    marks = ",".join("?" * len(some))
                    kept.update(database.execute(f"SELECT text, tokens FROM embeddings WHERE text IN ({marks})", some))
        except sqlite3.Error as error:
            raise StoreFailed(f"{self.path}: embeddings can't be read: {error}; delete the file") from error
        return kept

    def _write(self, keys: Sequence[bytes], fresh: Embedded) -> None:
        import torch

        values = fresh.values.cpu()
        parts = (values[..., s : s + n, :] for s, n in zip(fresh.starts, fresh.lengths, strict=True))
        kept = (part.contiguous().view(torch.uint8).numpy().tobytes() for part in parts)
        rows = list(zip(keys, kept, strict=True))
        try:
            with closing(self._open()) as database, database:
                database.executemany("INSERT OR IGNORE INTO embeddings VALUES (?, ?)", rows)
        except sqlite3.Error as error:
            raise StoreFailed(f"{self.path}: embeddings could not be kept: {error}") from error

    def _open(self) -> sqlite3.Connection:
        database = sqlite3.connect(self.path, timeout=60)
        database.execute("PRAGMA journal_mode=WAL")
        return database


def _tensor(kept: bytes, like: Tensor, length: int) -> Tensor:
    """Kept bytes as embeddings of the same kind and on the same device as others."""
    import torch

    flat = torch.frombuffer(bytearray(kept), dtype=like.dtype)
    return flat.view(*like.shape[:-2], length, like.shape[-1]).to(like.device)
