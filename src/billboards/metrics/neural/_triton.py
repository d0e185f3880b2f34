"""The kernels' programs, in Triton's part of Python; imported only where Triton is."""

# mypy: ignore-errors
# Triton reads these functions' source: names of constants are in capitals, and types are the kernel's.

import triton
import triton.language as tl


@triton.jit
def attend(
    three,
    attended,
    bounds,
    token_stride,
    kind_stride,
    head_stride,
    out_stride,
    scale,
    ROWS: tl.constexpr,
    WIDTH: tl.constexpr,
):
    """One head of one text: softmax of its scaled products with all keys of the text, times their values."""
    text, head = tl.program_id(0), tl.program_id(1)
    start = tl.load(bounds + text).to(tl.int64)
    length = tl.load(bounds + text + 1) - start
    row, column = tl.arange(0, ROWS), tl.arange(0, WIDTH)
    inside = row < length
    place = three + (start + row)[:, None] * token_stride + head * head_stride + column[None, :]
    query = tl.load(place, mask=inside[:, None], other=0.0)
    key = tl.load(place + kind_stride, mask=inside[:, None], other=0.0)
    value = tl.load(place + 2 * kind_stride, mask=inside[:, None], other=0.0)
    weights = tl.dot(query, tl.trans(key)) * scale
    weights = tl.where(inside[None, :], weights, -float("inf"))
    weights = tl.exp(weights - tl.max(weights, 1)[:, None])
    total = tl.sum(weights, 1)
    mixed = tl.dot(weights.to(value.dtype), value) / total[:, None]
    out = attended + (start + row)[:, None] * out_stride + head * WIDTH + column[None, :]
    tl.store(out, mixed.to(value.dtype), mask=inside[:, None])


@triton.jit
def add_and_norm(first, second, weight, bias, normed, width, eps, SIZE: tl.constexpr):
    """One row: the sum of two, centred, scaled to variance 1, then by the norm's own weights."""
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, SIZE)
    inside = column < width
    place = row * width + column
    loaded = tl.load(first + place, mask=inside, other=0.0)
    total = (loaded.to(tl.float32) + tl.load(second + place, mask=inside, other=0.0).to(tl.float32)).to(loaded.dtype)
    total = total.to(tl.float32)
    mean = tl.sum(total, 0) / width
    centred = tl.where(inside, total - mean, 0.0)
    scaled = centred * tl.rsqrt(tl.sum(centred * centred, 0) / width + eps)
    scaled = scaled * tl.load(weight + column, mask=inside, other=0.0).to(tl.float32)
    scaled = scaled + tl.load(bias + column, mask=inside, other=0.0).to(tl.float32)
    tl.store(normed + place, scaled.to(loaded.dtype), mask=inside)


@triton.jit
def attend_by_distance(
    three,
    attended,
    bounds,
    block_text,
    block_row,
    near,
    token_stride,
    kind_stride,
    head_stride,
    out_stride,
    near_stride,
    middle,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
    WIDTH: tl.constexpr,
):
    """Some rows of one head of one text, key by key block: products with a bias for the distance of the two places."""
    block, head = tl.program_id(0), tl.program_id(1)
    text = tl.load(block_text + block)
    start = tl.load(bounds + text).to(tl.int64)
    length = (tl.load(bounds + text + 1) - start).to(tl.int32)
    row, column = tl.load(block_row + block) + tl.arange(0, ROWS), tl.arange(0, WIDTH)
    place = three + head * head_stride + column[None, :]
    query = tl.load(place + (start + row)[:, None] * token_stride, mask=(row < length)[:, None], other=0.0)
    highest = tl.full([ROWS], -float("inf"), tl.float32)
    total = tl.zeros([ROWS], tl.float32)
    mixed = tl.zeros([ROWS, WIDTH], tl.float32)
    for begin in range(0, length, COLUMNS):
        other = begin + tl.arange(0, COLUMNS)
        inside = other < length
        beside = place + kind_stride + (start + other)[:, None] * token_stride
        key = tl.load(beside, mask=inside[:, None], other=0.0)
        value = tl.load(beside + kind_stride, mask=inside[:, None], other=0.0)
        distance = other[None, :] - row[:, None] + middle
        weights = tl.dot(query, tl.trans(key)) + tl.load(near + head * near_stride + distance).to(tl.float32)
        weights = tl.where(inside[None, :], weights, -float("inf"))
        higher = tl.maximum(highest, tl.max(weights, 1))
        weights = tl.exp(weights - higher[:, None])
        shrunk = tl.exp(highest - higher)
        total = total * shrunk + tl.sum(weights, 1)
        mixed = mixed * shrunk[:, None] + tl.dot(weights.to(value.dtype), value)
        highest = higher
    out = attended + (start + row)[:, None] * out_stride + head * WIDTH + column[None, :]
    tl.store(out, (mixed / total[:, None]).to(query.dtype), mask=(row < length)[:, None])
