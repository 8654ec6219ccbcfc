"""Held-out instances, a function of the data set's spec alone, so that all agents get the same; and fresh ones."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from recommit.data import assignment, sampling
from recommit.storage.errors import WrongDataSpec

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.data.spec import DataSpec


#: Most instances of a split: as many as one file of a data set may have.
MOST_INSTANCES = 1 << 20


def starts(
    spec: DataSpec, split: str, count: int, length: tuple[int, ...], *, name: str = "instances"
) -> sampling.Starts:
    """``count`` instances of a split, distinct up to symmetry except in training; ``name``: of the count in errors."""
    if count > MOST_INSTANCES:
        raise WrongDataSpec(f"{name}: expected at most {MOST_INSTANCES} of a split together, got {count}")
    wanted = spec.of_length(length)
    train = spec.count if spec.published else max(spec.count, count)  # more than the data has, where there are more
    wanted = replace(wanted, count=train, test=count, validation=count, shard=max(spec.shard, count))
    return sampling.starts(wanted, split, 0).where(slice(count))  # a shard of the training split may have more


def fresh(spec: DataSpec, seed: int, count: int, length: tuple[int, ...]) -> sampling.Starts:
    """Unused test instances, from another seed than the data's.

    None is in the data's own test split, nor among the first ``count`` test instances of this length; with ``disjoint:
    layouts`` no room is, and with ``regions`` all lie in test regions. Training and validation instances are excluded
    by ``assignment``.
    """
    if spec.published:
        raise WrongDataSpec(f"fresh: expected a generator, which has other instances, got the {spec.generator} levels")
    if seed == spec.seed:
        raise WrongDataSpec(f"fresh: expected another seed than that of the data, got {seed}")
    # Sorted keys of the data's own test split, and of a usual evaluation on instances of this length.
    every = [starts(spec, "test", max(count, spec.test), reach) for reach in {(), length}]
    apart = np.unique(np.concatenate([assignment.split_keys(spec, each.states) for each in every]))
    wanted = replace(spec.of_length(length), seed=seed)
    sampled = sampling.sample(wanted, "fresh", 0, np.arange(count) % len(wanted.difficulties), apart=apart)
    refuse_shared(spec, sampled.states, apart)
    return sampled


def refuse_shared(spec: DataSpec, states: NDArray[np.uint8], read_before: NDArray[np.uint64]) -> None:
    """Refuse states that are, up to symmetry, in training, validation or the data's own test split."""
    keys = assignment.split_keys(spec, states)
    trained, judged = ~assignment.members(spec, states, keys, "test"), np.isin(keys, read_before)
    if trained.any() or judged.any():
        raise WrongDataSpec(
            f"fresh: expected unused instances, got {trained.sum()} of training or validation and "
            f"{judged.sum()} of the test split"
        )


def rooms(spec: DataSpec, states: NDArray[np.uint8]) -> NDArray[np.int64] | None:
    """A room id per instance, for data with ``disjoint: layouts``; else None."""
    if spec.disjoint != "layouts":
        return None
    return np.unique(assignment.split_keys(spec, states), return_inverse=True)[1].astype(np.int64)


def name(states: NDArray[np.uint8]) -> str:
    """Name of a test set: a hash of its content."""
    digest = hashlib.sha256(repr(states.shape).encode())
    digest.update(states.tobytes())
    return digest.hexdigest()[:16]
