"""Exact quantities of small categorical distributions, in float32 for logits of any dtype; and transfers between host
and device.

Reading a value from a GPU blocks the host until its queue is empty. Only ``to_host`` waits, once for all its tensors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F
from torch import Tensor

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def log_probabilities(logits: Tensor) -> Tensor:
    """Log softmax over the last axis."""
    return F.log_softmax(logits.float(), dim=-1)


def log_prob(logits: Tensor, choice: Tensor) -> Tensor:
    """Log probability of ``choice`` (indices, one axis fewer than ``logits``)."""
    return log_probabilities(logits).gather(-1, choice[..., None])[..., 0]


def entropy(logits: Tensor) -> Tensor:
    """Entropy in nats, as the exact sum over all outcomes."""
    logs = log_probabilities(logits)
    return -(logs.exp() * logs).sum(-1)


def kl(logits: Tensor, reference: Tensor) -> Tensor:
    """KL(logits || reference) in nats, as the exact sum over all outcomes."""
    logs = log_probabilities(logits)
    return (logs.exp() * (logs - log_probabilities(reference))).sum(-1)


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
