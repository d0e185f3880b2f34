"""The devices that compute: which there are, and how arrays get there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from billboards.errors import InvalidInput
from billboards.metrics.neural.installed import need

if TYPE_CHECKING:
    from torch import Tensor


#: What a metric on this engine asks of a worker of a cluster.
ONE_GPU: Mapping[str, float] = {"GPU": 1.0}


def find_devices(named: str | None = None) -> tuple[str, ...]:
    """The devices named (`cuda:0,cuda:1`), else every GPU there is, else the CPU."""
    need("this metric", "torch")
    import torch

    if named:
        return tuple(_checked_device(name.strip()) for name in named.split(","))
    return tuple(f"cuda:{k}" for k in range(torch.cuda.device_count())) or ("cpu",)


def _checked_device(name: str) -> str:
    import torch

    try:
        device: Any = torch.device(name)
    except RuntimeError as error:
        raise InvalidInput(f"{name!r} is no device; name cpu, cuda or cuda:N") from error
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise InvalidInput(f"there is no device {name} here; {torch.cuda.device_count()} GPUs are seen")
    return name


def upload(array: NDArray[Any], device: Any) -> Tensor:
    """An array on a device. To a GPU it goes through pinned memory, so that nobody waits for the work queued there."""
    import torch

    here = torch.from_numpy(np.ascontiguousarray(array))
    if torch.device(device).type != "cuda":
        return here.to(device)
    return here.pin_memory().to(device, non_blocking=True)
