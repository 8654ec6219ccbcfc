"""What trained heads learn from, in plain Python: one state, one depth, one episode at a time, by definition.

``edges`` are those of ``tests.reference.graphs``; ``probs`` gives a list of probabilities for a state's key and the
observations left, in the order of ``depths``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.reference.graphs import Edges, Key

    DepthProbs = Callable[[Key, int], list[float]]


def value_by_budget(
    edges: Edges,
    probs: DepthProbs,
    depths: tuple[int, ...],
    here: Key,
    remaining: int,
    action: float,
    observation: float,
) -> float:
    """The expected value of an episode, by walking down every way it can take."""
    if here not in edges or remaining == 0:
        return float(here not in edges)
    total = 0.0
    for likely, depth in zip(probs(here, remaining), depths, strict=True):
        after, executed, _ = edges[here][depth]
        onward = value_by_budget(edges, probs, depths, after, remaining - 1, action, observation)
        total += likely * (onward - action * executed - observation)
    return total


def visits_by_budget(
    edges: Edges, probs: DepthProbs, depths: tuple[int, ...], here: Key, remaining: int
) -> Iterator[tuple[float, Key, int]]:
    """Every decision that an episode may come to, with its probability, its state and the observations left there."""
    if here not in edges or remaining == 0:
        return
    yield 1.0, here, remaining
    for likely, depth in zip(probs(here, remaining), depths, strict=True):
        for further, state, k in visits_by_budget(edges, probs, depths, edges[here][depth][0], remaining - 1):
            yield likely * further, state, k
