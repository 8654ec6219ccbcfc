"""Settings of this process: threads, memory, random state."""

from __future__ import annotations

import ctypes
import random
import sys
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from recommit.policy.threads import threads
from recommit.rng import kept_streams

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Parameters of glibc's ``mallopt``: M_TRIM_THRESHOLD and M_MMAP_THRESHOLD.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3


@contextmanager
def torch_settings(count: int = 0, *, inference: bool = False) -> Iterator[None]:
    """Within this context, use ``count`` torch threads (0: suited to each network); restores threads and global random
    state on exit. ``inference`` keeps freed memory in the process.

    By default glibc returns the memory of a large batch to the system and requests it again at the next pass, which
    took a fifth of the time for 256 pictures with eight augmentations.
    """
    before = torch.get_num_threads()
    if inference and (library := _library()) is not None:
        for threshold in (_TRIM_THRESHOLD, _MMAP_THRESHOLD):
            library.mallopt(threshold, 1 << 30)
    try:
        with kept_streams(), threads(count):
            yield
    finally:
        torch.set_num_threads(before)


@cache
def _library() -> Any:
    """The C library, if it has ``malloc_trim``."""
    own = ctypes.CDLL(None) if sys.platform == "linux" else None
    return own if hasattr(own, "malloc_trim") else None


def trim() -> None:
    """Return unused memory to the system; takes some 40 ms.

    Tensors of many sizes fragment glibc's heap, so that a run of hours grew from 0.6 to 2.8 GiB. No-op with other C
    libraries.
    """
    library = _library()
    if library is not None:
        library.malloc_trim(ctypes.c_size_t(0))


def capture_random_state() -> dict[str, Any]:
    """State of Python's, numpy's and torch's global generators, as JSON values."""
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


def restore_random_state(state: dict[str, Any]) -> None:
    """Inverse of ``capture_random_state``."""
    version, words, tail = state["python"]
    random.setstate((version, tuple(words), tail))
    kind, keys, position, has_gauss, gauss = state["numpy"]
    if not 0 <= position <= len(keys):  # numpy does not check it and would read out of bounds
        raise ValueError(f"numpy: expected a position of 0..{len(keys)}, got {position}")
    np.random.set_state((kind, np.array(keys, np.uint32), position, has_gauss, gauss))  # noqa: NPY002
    torch.set_rng_state(_tensor(state["torch"]))
    if state["cuda"] and torch.cuda.device_count() == len(state["cuda"]):
        torch.cuda.set_rng_state_all([_tensor(text) for text in state["cuda"]])


def seed_everything(value: int) -> None:
    """Seed all global generators."""
    random.seed(value)
    np.random.seed(value % 2**32)  # noqa: NPY002
    torch.manual_seed(value)


def _tensor(text: str) -> torch.Tensor:
    return torch.frombuffer(bytearray.fromhex(text), dtype=torch.uint8)
