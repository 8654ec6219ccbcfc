"""Which instances are played: by the data's spec alone, so that every agent can be given the same ones."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from recommit.data.starts import sampling, symmetry

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.data.spec import DataSpec


def starts(spec: DataSpec, split: str, count: int, length: tuple[int, ...]) -> sampling.Starts:
    """Instances of a split: as many as asked for, distinct up to symmetry."""
    wanted = spec.of_length(length)
    wanted = replace(wanted, test=count, validation=count, shard=max(spec.shard, count), states="")
    return sampling.starts(wanted, split, 0)


def rooms(spec: DataSpec, states: NDArray[np.uint8]) -> NDArray[np.int64] | None:
    """One number per instance, the same for those in the same room, where the data keeps rooms apart; else None."""
    if spec.disjoint == "starts":
        return None
    return np.unique(symmetry.split_keys(spec, states), return_inverse=True)[1].astype(np.int64)


def name(states: NDArray[np.uint8]) -> str:
    """Name a test set by its content."""
    digest = hashlib.sha256(repr(states.shape).encode())
    digest.update(states.tobytes())
    return digest.hexdigest()[:16]
