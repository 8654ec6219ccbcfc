"""Between host and device, and what comes back from a look. Only ``to_host`` waits for the device, and once for all
that it brings.

A GPU works through a queue; whoever asks for a number from it stops the host until the queue is empty, and then the GPU
until the host has filled it again. Nothing but the results of a whole pass or step is worth that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import torch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from torch import Tensor


class ActedDepths(NamedTuple):
    """What ``act`` answers; unpack it, or name what you want."""

    depths: NDArray[np.int32]  #: [N]: how many actions of the plan are committed
    plans: NDArray[np.uint8]  #: [N, 8]


class PlannedDepths(NamedTuple):
    """What ``plan`` answers."""

    inputs: NDArray[np.float32]  #: [N, inputs]: what the depth head reads
    logits: NDArray[np.float32]  #: [N, |H|]: of the policy's own depths
    plans: NDArray[np.uint8]  #: [N, D, 8]: greedy actions for each depth that was asked about


class PlannedChances(NamedTuple):
    """What ``plan_with_probabilities`` answers: ``PlannedDepths``, and how sure each action is."""

    inputs: NDArray[np.float32]
    logits: NDArray[np.float32]
    plans: NDArray[np.uint8]
    probabilities: NDArray[np.float32]  #: [N, 1 or D, 8, 4]


Answer = TypeVar("Answer", ActedDepths, PlannedDepths, PlannedChances)


def single(answer: Answer, one: bool) -> Answer:
    """The first row of each array, where a single state was looked at."""
    rows: Any = (array[0, ...] for array in answer)
    return type(answer)(*rows) if one else answer


def slice_batch(
    noise: tuple[NDArray[np.float32], NDArray[np.float32]] | None, remaining: NDArray[np.integer] | None, part: slice
) -> tuple[tuple[NDArray[np.float32], NDArray[np.float32]] | None, NDArray[np.integer] | None]:
    """The rows of ``act``'s noise and of its decisions left that belong to a part of its states."""
    return noise and (noise[0][part], noise[1][part]), None if remaining is None else remaining[part]


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
