"""Work that doesn't fit into memory is done in halves.

What memory holds is known only by trying: other programs use it, too, and it is cut up by what came before. So a batch
is tried, and one that fails for want of memory is halved and tried again, down to a single item.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from billboards.errors import MetricFailed

if TYPE_CHECKING:
    from torch import Tensor


def halve_until_it_fits(items: NDArray[np.intp], work: Callable[[NDArray[np.intp]], Tensor]) -> Tensor:
    """What `work` gives for these items, along the last dimension but one."""
    import torch

    try:
        return work(items)
    except RuntimeError as error:
        if not ran_out_of_memory(error):
            raise
        if len(items) == 1:
            raise MetricFailed("memory doesn't suffice for a single text; use another device or model") from error
    # The error is gone here, and with it the tensors its traceback held.
    free_memory()
    middle = len(items) // 2
    return torch.cat([halve_until_it_fits(half, work) for half in (items[:middle], items[middle:])], -2)


def free_memory() -> None:
    """Give back what torch holds on to, so that smaller pieces fit."""
    import torch

    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def ran_out_of_memory(error: RuntimeError) -> bool:
    """Whether torch failed for want of memory; on a CPU it says so in words only."""
    import torch

    return isinstance(error, torch.OutOfMemoryError) or "can't allocate memory" in str(error)
