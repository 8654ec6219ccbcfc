"""Every stream of randomness that a step could read, as JSON."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import torch


def capture() -> dict[str, Any]:
    """Python's, numpy's and torch's global generators."""
    kind, keys, position, has_gauss, gauss = np.random.get_state(legacy=True)  # noqa: NPY002
    version, words, tail = random.getstate()
    return {
        "python": [version, list(words), tail],
        "numpy": [kind, np.asarray(keys).tolist(), position, has_gauss, gauss],
        "torch": torch.get_rng_state().numpy().tobytes().hex(),
        "cuda": [s.numpy().tobytes().hex() for s in torch.cuda.get_rng_state_all()]
        if torch.cuda.is_available()
        else [],
    }


def restore(state: dict[str, Any]) -> None:
    """Set them as they were."""
    version, words, tail = state["python"]
    random.setstate((version, tuple(words), tail))
    kind, keys, position, has_gauss, gauss = state["numpy"]
    np.random.set_state((kind, np.array(keys, np.uint32), position, has_gauss, gauss))  # noqa: NPY002
    torch.set_rng_state(_tensor(state["torch"]))
    if state["cuda"] and torch.cuda.device_count() == len(state["cuda"]):
        torch.cuda.set_rng_state_all([_tensor(text) for text in state["cuda"]])


def seed(value: int) -> None:
    """Start all of them."""
    random.seed(value)
    np.random.seed(value % 2**32)  # noqa: NPY002
    torch.manual_seed(value)


def _tensor(text: str) -> torch.Tensor:
    return torch.frombuffer(bytearray.fromhex(text), dtype=torch.uint8)
