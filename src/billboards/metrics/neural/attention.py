"""Attention inside texts of different lengths that lie end to end, without padding.

Half precision on a GPU has a kernel for exactly that (flash attention over cumulative lengths). Everywhere else texts
come sorted by length, so those of one length lie together: each run of them is one dense, unmasked call.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from billboards.metrics.neural.devices import upload

if TYPE_CHECKING:
    from torch import Tensor


class Layout:
    """Where each text of a batch lies, in the forms that attention needs."""

    def __init__(self, lengths: NDArray[np.int64], device: object, *, varlen: bool) -> None:
        self.longest = int(lengths.max(initial=0))
        self.runs = [(length, len(list(same))) for length, same in groupby(lengths.tolist())]
        self.bounds = None
        if varlen:
            bounds = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
            self.bounds = upload(bounds, device)


def attend(query: Tensor, key: Tensor, value: Tensor, layout: Layout) -> Tensor:
    """Attention of every token to the tokens of its own text: tokens × heads × width in and out."""
    if layout.bounds is not None:
        from torch.nn.attention.varlen import varlen_attn

        bounds, longest = layout.bounds, layout.longest
        return varlen_attn(query, key, value, bounds, bounds, longest, longest)
    return _attend_by_runs(query, key, value, layout.runs)


def _attend_by_runs(query: Tensor, key: Tensor, value: Tensor, runs: list[tuple[int, int]]) -> Tensor:
    import torch
    from torch.nn.functional import scaled_dot_product_attention

    _, heads, width = query.shape
    found = torch.empty(query.shape, dtype=query.dtype, device=query.device)
    start = 0
    for length, texts in runs:
        part = slice(start, start + length * texts)
        shape = (texts, length, heads, width)
        run = [one[part].view(shape).transpose(1, 2) for one in (query, key, value)]
        found[part].view(shape).copy_(scaled_dot_product_attention(*run).transpose(1, 2))
        start = part.stop
    return found


def has_varlen(device: object, dtype: object) -> bool:
    """Whether the kernel for lengths of all sorts can be used: half precision on an NVIDIA GPU of 2020 or later."""
    import torch

    if torch.device(device).type != "cuda" or dtype not in (torch.float16, torch.bfloat16):
        return False
    try:
        import torch.nn.attention.varlen
    except ImportError:
        return False
    return torch.version.hip is None and torch.cuda.get_device_capability(device) >= (8, 0)
