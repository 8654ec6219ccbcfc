"""Small batches of plans of every kind. Numbers are multiples of 1/8 or 1/4, so sums, products and ties are exact."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from recommit.horizon import Plans, Tail


@dataclass(frozen=True)
class Sizes:
    """Plans, actions per plan, samples per plan, actions to choose from or coordinates of one."""

    plans: int
    horizon: int
    samples: int
    width: int


@st.composite
def sizes(draw: st.DrawFn, most_plans: int = 4) -> Sizes:
    counts = [(0, most_plans), (1, 5), (1, 4), (2, 3)]
    return Sizes(*(draw(st.integers(low, high)) for low, high in counts))


@st.composite
def generators(draw: st.DrawFn) -> np.random.Generator:
    return np.random.default_rng(draw(st.integers(0, 2**32 - 1)))


FLOATS = st.sampled_from([np.float32, np.float64])
#: Both likelier than their share, where products and minima are level for long.
CHANCES = np.array([0.0, 0.125, 0.25, 0.5, 0.75, 0.875, 1.0, 1.0, 1.0])


def distributions(rng: np.random.Generator, shape: tuple[int, ...], width: int) -> np.ndarray:
    """Multiples of 1/8 that add up to 1 over a last axis."""
    return rng.multinomial(8, rng.dirichlet(np.full(width, 0.3)), shape) / 8


def flags(rng: np.random.Generator, size: Sizes, share: float) -> np.ndarray:
    return rng.random((size.plans, size.horizon)) < share


def tail(rng: np.random.Generator, size: Sizes, actions: np.ndarray, noise: np.ndarray) -> Tail:
    """The plan itself with noise, of which some actions remain."""
    return Tail((actions + noise).astype(actions.dtype), rng.integers(0, size.horizon + 1, size.plans))


@st.composite
def numbered(draw: st.DrawFn) -> Plans:
    """Plans of numbered actions with everything that a rule may read but distributions."""
    size, rng, kind = draw(sizes()), draw(generators()), draw(FLOATS)
    shape = (size.plans, size.horizon)
    actions = rng.integers(0, size.width, shape).astype(draw(st.sampled_from([np.uint8, np.int32, np.int64])))
    others = rng.integers(0, size.width, (size.plans, size.samples, size.horizon))
    alike = rng.random(others.shape) < 0.7
    return Plans(
        actions,
        rng.choice(CHANCES, shape).astype(kind),
        np.where(alike, actions[:, None], others),
        tail(rng, size, actions, rng.random(shape) < 0.2),
        entropies=(rng.integers(0, 5, shape) / 4).astype(kind),
        events=flags(rng, size, 0.2),
        keys=rng.integers(0, 3, (size.plans, 2)),
    )


@st.composite
def with_distributions(draw: st.DrawFn) -> Plans:
    """Plans of numbered actions with the probability of every action."""
    size, rng, kind = draw(sizes()), draw(generators()), draw(FLOATS)
    shape = (size.plans, size.horizon)
    return Plans(rng.integers(0, size.width, shape), distributions(rng, shape, size.width).astype(kind))


@st.composite
def with_samples(draw: st.DrawFn) -> Plans:
    """Plans of numbered actions with samples alone."""
    size, rng = draw(sizes()), draw(generators())
    shape = (size.plans, size.samples, size.horizon)
    return Plans(rng.integers(0, size.width, (size.plans, size.horizon)), samples=rng.integers(0, size.width, shape))


@st.composite
def continuous(draw: st.DrawFn) -> Plans:
    """Plans of vectors with samples, a tail and events."""
    size, rng, kind = draw(sizes()), draw(generators()), draw(FLOATS)
    shape = (size.plans, size.horizon, size.width)
    actions = (rng.integers(0, 2, shape) / 4).astype(kind)
    off = rng.integers(-1, 2, (size.plans, size.samples, *shape[1:])) * (rng.random((size.samples, *shape[1:])) < 0.4)
    return Plans(
        actions,
        samples=(actions[:, None] + off / 4).astype(kind),
        previous=tail(rng, size, actions, rng.integers(0, 2, shape) / 4 * (rng.random(shape) < 0.3)),
        events=flags(rng, size, 0.2),
    )


def many(kind: str, plans: int = 400, horizon: int = 5) -> Plans:
    """One large batch of a kind: ``numbered`` or ``continuous``, with everything that a rule may read."""
    rng, size = np.random.default_rng(7), Sizes(plans, horizon, 4, 3)
    shape = (size.plans, size.horizon)
    actions = rng.integers(0, 3, shape) if kind == "numbered" else rng.integers(0, 2, (*shape, 3)) / 4
    others = rng.permutation(actions)[:, None] + np.zeros((1, size.samples, *[1] * (actions.ndim - 1)), actions.dtype)
    alike = rng.random((*others.shape[:3], *[1] * (actions.ndim - 2))) < 0.8
    return Plans(
        actions,
        rng.choice(CHANCES, shape),
        np.where(alike, actions[:, None], others).astype(actions.dtype),
        tail(rng, size, actions, (rng.random(actions.shape) < 0.1).astype(actions.dtype)),
        entropies=rng.integers(0, 5, shape) / 4,
        events=flags(rng, size, 0.2),
        keys=rng.integers(0, 3, size.plans),
    )
