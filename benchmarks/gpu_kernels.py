"""The kernels of half precision on a GPU: that they are right, and what they save, beside torch's own.

Attention inside short texts beside torch's flash attention over cumulative lengths, and a sum with its norm beside
torch's two steps; both beside float64. Errors are the norm of the difference over the norm of the value.

    python benchmarks/gpu_kernels.py
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def main() -> None:
    import torch

    if not torch.cuda.is_available():
        raise SystemExit("no GPU here: nothing is measured")
    for dtype in (torch.bfloat16, torch.float16):
        for longest in (16, 41, 64, 100):
            attention(longest, dtype)
        for longest in (60, 200, 700):
            by_distance(longest, dtype)
        for width in (384, 1024, 2560):
            norms(width, dtype)


def attention(longest: int, dtype: Any) -> None:
    """Texts of up to so many tokens, 32,768 in all."""
    import torch
    from torch.nn.attention.varlen import varlen_attn

    from billboards.metrics.neural.gpu_kernels import attend_tiles, tiles_of

    random = np.random.default_rng(longest)
    lengths = np.sort(random.integers(max(1, longest // 2), longest + 1, 2 * 32768 // longest)).astype(np.int64)
    bounds = torch.tensor(np.concatenate(([0], np.cumsum(lengths))), dtype=torch.int32, device="cuda")
    three = torch.randn(int(lengths.sum()), 3, 16, 64, device="cuda", dtype=dtype)
    tiles = tiles_of(lengths)
    assert tiles is not None
    ours = attend_tiles(three, bounds, tiles)
    query, key, value = three[:, 0], three[:, 1], three[:, 2]

    def peer() -> Any:
        return varlen_attn(query, key, value, bounds, bounds, longest, longest)

    exact = _exact(three, lengths)
    seconds = [_seconds(lambda: attend_tiles(three, bounds, tiles)), _seconds(peer)]
    _print(f"attention, up to {longest} tokens", dtype, [_error(ours, exact), _error(peer(), exact)], seconds)


def by_distance(longest: int, dtype: Any) -> None:
    """T5's attention among texts of all lengths, beside a call of torch's for each length."""
    import torch
    from torch.nn.functional import scaled_dot_product_attention

    from billboards.metrics.neural.gpu_kernels import BLOCK, attend_by_distance, blocks_of

    random = np.random.default_rng(longest)
    lengths = np.sort(random.integers(max(1, longest - longest // 8), longest + 1, 32768 // longest)).astype(np.int64)
    bounds = torch.tensor(np.concatenate(([0], np.cumsum(lengths))), dtype=torch.int32, device="cuda")
    three = torch.randn(int(lengths.sum()), 3, 32, 64, device="cuda", dtype=dtype) / 2
    blocks = tuple(torch.tensor(values, device="cuda") for values in blocks_of(lengths))
    side = longest + BLOCK
    near = torch.randn(32, 2 * side + 1, device="cuda", dtype=dtype)
    rows = -(-longest // 16) * 16
    distance = torch.arange(rows)[None, :] - torch.arange(rows)[:, None] + side
    bias = near[:, distance].contiguous()[None]

    def ours() -> Any:
        return attend_by_distance(three, bounds, blocks, near)

    def peer() -> Any:
        attended = torch.empty_like(three[:, 0], memory_format=torch.contiguous_format)
        start = 0
        for length, count in zip(*np.unique(lengths, return_counts=True), strict=True):
            part = slice(start, start + length * count)
            shape = (count, length, 32, 64)
            query, key, value = (three[part, k].reshape(shape).transpose(1, 2) for k in range(3))
            near_by = bias[..., :length, :length]
            given = scaled_dot_product_attention(query, key, value, attn_mask=near_by, scale=1.0)
            attended[part].view(shape).copy_(given.transpose(1, 2))
            start = part.stop
        return attended

    parts = []
    for text in three.double().split(lengths.tolist()):
        query, key, value = (text[:, k].transpose(0, 1) for k in range(3))
        weights = (query @ key.transpose(1, 2) + bias[0, :, : len(text), : len(text)].double()).softmax(-1)
        parts.append((weights @ value).transpose(0, 1))
    exact = torch.cat(parts)
    seconds = [_seconds(ours), _seconds(peer)]
    _print(f"T5's, up to {longest} tokens", dtype, [_error(ours(), exact), _error(peer(), exact)], seconds)


def _exact(three: Any, lengths: Any) -> Any:
    import torch

    parts = []
    for text in three.double().split(lengths.tolist()):
        query, key, value = (text[:, k].transpose(0, 1) for k in range(3))
        weights = (query @ key.transpose(1, 2) / query.shape[-1] ** 0.5).softmax(-1)
        parts.append((weights @ value).transpose(0, 1))
    return torch.cat(parts)


def norms(width: int, dtype: Any) -> None:
    import torch

    from billboards.metrics.neural.gpu_kernels import add_and_norm

    first, second = (torch.randn(32768, width, device="cuda", dtype=dtype) for _ in range(2))
    norm = torch.nn.LayerNorm(width, eps=1e-5).to("cuda", dtype)
    torch.nn.init.normal_(norm.weight)
    torch.nn.init.normal_(norm.bias)
    double = torch.nn.LayerNorm(width, eps=1e-5).to("cuda", torch.float64)
    double.load_state_dict(norm.state_dict())
    with torch.inference_mode():
        exact = double((first + second).double())
        errors = [_error(add_and_norm(first, second, norm), exact), _error(norm(first + second), exact)]
        seconds = [_seconds(lambda: add_and_norm(first, second, norm)), _seconds(lambda: norm(first + second))]
    _print(f"sum and norm of {width}", dtype, errors, seconds)


def _error(given: Any, exact: Any) -> float:
    return float((given.double() - exact).norm() / exact.norm())


def _seconds(work: Callable[[], Any]) -> float:
    """The median of fifty runs, by the card's own clock."""
    import torch

    for _ in range(5):
        work()
    times = []
    for _ in range(50):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        work()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end) / 1000)
    return float(np.median(times))


def _print(what: str, dtype: Any, errors: list[float], seconds: list[float]) -> None:
    print(
        f"{what:28} {str(dtype).removeprefix('torch.'):9} ours {1e6 * seconds[0]:7.1f} µs, "
        f"torch {1e6 * seconds[1]:7.1f} µs: {seconds[1] / seconds[0]:4.2f}×; "
        f"errors {errors[0]:.1e} and {errors[1]:.1e}",
        flush=True,
    )


if __name__ == "__main__":
    main()
