"""Between host and device. Only ``to_host`` waits for the device, and once for all that it brings.

A GPU works through a queue; whoever asks for a number from it stops the host until the queue is empty, and then the GPU
until the host has filled it again. Nothing but the results of a whole pass or step is worth that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor


def to_device(values: NDArray[np.generic], device: torch.device) -> Tensor:
    """The values on ``device``; from pinned memory, since an upload from elsewhere may wait for the queue."""
    tensor = torch.from_numpy(values)
    if device.type == "cuda":
        tensor = tensor.contiguous().pin_memory()
    return tensor.to(device, non_blocking=True)


def to_host(*tensors: Tensor) -> list[NDArray[Any]]:
    """The values of tensors of one device, after a single wait."""
    copies = [tensor.detach().to("cpu", non_blocking=tensor.is_cuda) for tensor in tensors]
    if tensors[0].is_cuda:
        torch.cuda.current_stream(tensors[0].device).synchronize()
    return [copy.numpy() for copy in copies]
