"""Counter-based random numbers in numpy: same values as the core's ``Rng``, vectorised over streams.

A stream is identified by (seed, purpose, index). Purposes never share a stream: the core uses numbers below 16,
``Purpose`` has all others.
"""

from __future__ import annotations

import random
import sys
from contextlib import contextmanager
from enum import IntEnum, unique
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray

    Words = NDArray[np.uint64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


@unique
class Purpose(IntEnum):
    """Purpose of a stream. Changing a number changes results."""

    # Data sets: which of several optimal paths, the order of rows, which of several data sets a row is from, random
    # walks from the goal.
    TIES = 16
    SHUFFLE = 17
    MIX = 19
    WALK = 20
    # Training: the expert's path, the symmetry augmentation, where on its path a state is taken, depths and actions
    # that a policy samples, how an episode goes on, the order in a batch, a fixed distribution of depths, the
    # remaining decisions, each puzzle's own seed.
    PATH = 32
    AUGMENT = 33
    PLACE = 34
    SAMPLE = 35
    FOLLOW = 36
    ORDER = 37
    DEPTHS = 38
    REMAINING = 39
    GAME = 40
    # On which other cells the player is put.
    ELSEWHERE = 42
    # What a policy does in the episodes that it learns from by imitation.
    OWN_STATES = 44
    # States and plans that a world model learns from.
    WORLD_MODEL = 43
    # Evaluation: the agent of random actions, waits between requests, instances of zero-shot.
    RANDOM_ACTIONS = 49
    INSTANCES = 57
    # Plans that a commitment graph keeps besides the greedy one.
    GRAPH_SAMPLES = 58
    # What disturbs an environment at each tick, and its futures that are drawn again.
    BUMPS = 61
    FUTURES = 62


def mix(z: Words) -> Words:
    """SplitMix64's finaliser, on an array (unsigned arithmetic wraps)."""
    z = (z ^ (z >> np.uint64(30))) * _FIRST
    z = (z ^ (z >> np.uint64(27))) * _SECOND
    return z ^ (z >> np.uint64(31))


def _words(values: ArrayLike) -> Words:
    return np.atleast_1d(np.asarray(values)).astype(np.uint64)


def streams(seed: int, purpose: int, index: ArrayLike) -> Words:
    """The state of each stream (seed, purpose, index)."""
    key = mix(mix(_words(seed) + _GOLDEN) ^ (_words(purpose) + _GOLDEN))
    return mix(key ^ (_words(index) + _GOLDEN))


def draw(stream: Words, number: int | NDArray[np.int64]) -> Words:
    """Draw ``number`` = 0, 1, ... of each stream (one for all, or one each): 64 random bits."""
    return mix(stream + _words(number + 1) * _GOLDEN)


def uniform(stream: Words, number: int | NDArray[np.int64]) -> NDArray[np.float64]:
    """A float64 in [0, 1) of 53 random bits from draw ``number`` of each stream."""
    return (draw(stream, number) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def uniforms(stream: Words, count: int) -> NDArray[np.float32]:
    """[..., count] float32 in the open interval (0, 1), 23 random bits each: draws 0, 1, ... of each stream."""
    bits = np.stack([draw(stream, i) for i in range(count)], axis=-1) >> np.uint64(41)
    return (bits.astype(np.float32) + np.float32(0.5)) * np.float32(2.0**-23)


def below(words: Words, bound: ArrayLike) -> NDArray[np.int64]:
    """Uniform in 0..bound-1 from one word each, bound < 2**32 (off by at most 2**-32 per value; no rejection)."""
    return (((words >> np.uint64(32)) * _words(bound)) >> np.uint64(32)).astype(np.int64)


def derived_seed(seed: int, purpose: int, index: int) -> int:
    """A derived seed for (seed, purpose, index), in 0..2**63-1."""
    return int(draw(streams(seed, purpose, index), 0)[0] >> np.uint64(1))


@contextmanager
def kept_streams() -> Iterator[Any]:
    """Restore the global random states of Python, numpy and torch on exit. Yields torch if it is imported, else
    None."""
    torch: Any = sys.modules.get("torch")
    before = random.getstate(), np.random.get_state(), torch and torch.get_rng_state()  # noqa: NPY002
    on_gpus = torch.cuda.get_rng_state_all() if torch and torch.cuda.is_initialized() else None
    try:
        yield torch
    finally:
        random.setstate(before[0])
        np.random.set_state(before[1])  # noqa: NPY002
        if torch:
            torch.set_rng_state(before[2])
        if on_gpus is not None:
            torch.cuda.set_rng_state_all(on_gpus)
