"""Held-out instances: of a data set's spec alone, so that every agent can be given the same ones; and fresh ones."""

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


#: Instances that are played: as many as one file of a data set may have.
MOST_INSTANCES = 1 << 20


def starts(
    spec: DataSpec, split: str, count: int, length: tuple[int, ...], *, name: str = "instances"
) -> sampling.Starts:
    """Instances of a split, as many as asked for; but of training distinct up to symmetry. ``name``: of the count, for
    its caller."""
    if count > MOST_INSTANCES:
        raise WrongDataSpec(f"{name}: expected at most {MOST_INSTANCES} of a split together, got {count}")
    wanted = spec.of_length(length)
    train = spec.count if spec.published else max(spec.count, count)  # more than the data has, where there are more
    wanted = replace(wanted, count=train, test=count, validation=count, shard=max(spec.shard, count))
    return sampling.starts(wanted, split, 0).where(slice(count))  # a shard of the training split may have more


def fresh(spec: DataSpec, seed: int, count: int, length: tuple[int, ...]) -> sampling.Starts:
    """Unused test instances, of another seed than the data's.

    None of them is in the data's own test split, nor among as many test instances of this length; with ``disjoint:
    layouts`` no room is, and with ``regions`` all are of the regions that are for tests. What is trained or validated
    on cannot be among them, see ``assignment``.
    """
    if spec.published:
        raise WrongDataSpec(f"fresh: expected a generator, which has other instances, got the {spec.generator} levels")
    if seed == spec.seed:
        raise WrongDataSpec(f"fresh: expected another seed than that of the data, got {seed}")
    # Sorted keys of the data's own test split, and of an evaluation's on instances of this length.
    every = [starts(spec, "test", max(count, spec.test), reach) for reach in {(), length}]
    apart = np.unique(np.concatenate([assignment.split_keys(spec, each.states) for each in every]))
    wanted = replace(spec.of_length(length), seed=seed)
    sampled = sampling.sample(wanted, "fresh", 0, np.arange(count) % len(wanted.difficulties), apart=apart)
    refuse_shared(spec, sampled.states, apart)
    return sampled


def refuse_shared(spec: DataSpec, states: NDArray[np.uint8], read_before: NDArray[np.uint64]) -> None:
    """Refuse states of training, validation or the data's own test split, turned and mirrored ones included."""
    keys = assignment.split_keys(spec, states)
    trained, judged = ~assignment.members(spec, states, keys, "test"), np.isin(keys, read_before)
    if trained.any() or judged.any():
        raise WrongDataSpec(
            f"fresh: expected unused instances, got {trained.sum()} of training or validation and "
            f"{judged.sum()} of the test split"
        )


def rooms(spec: DataSpec, states: NDArray[np.uint8]) -> NDArray[np.int64] | None:
    """One number per instance, the same for those in the same room, where the data keeps rooms apart; else None."""
    if spec.disjoint != "layouts":
        return None
    return np.unique(assignment.split_keys(spec, states), return_inverse=True)[1].astype(np.int64)


def name(states: NDArray[np.uint8]) -> str:
    """Name a test set by its content."""
    digest = hashlib.sha256(repr(states.shape).encode())
    digest.update(states.tobytes())
    return digest.hexdigest()[:16]
