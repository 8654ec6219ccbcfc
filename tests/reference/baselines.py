"""What trained heads learn from, in plain Python: one state, one depth, one episode at a time, by definition.

``edges`` are those of ``tests.reference.graphs``; ``probs`` gives a list of probabilities for a state's key and the
observations left, in the order of ``depths``.
"""

from __future__ import annotations

import math
from itertools import product
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


def generalised(
    rewards: list[float], actions: list[int], values: list[float], gamma: float, gae_lambda: float
) -> list[float]:
    """GAE as a sum over all later decisions; ``values`` are those of the states where decisions are made."""
    deltas = []
    for t, reward in enumerate(rewards):
        later = values[t + 1] if t + 1 < len(values) else 0.0
        deltas.append(reward + gamma ** actions[t] * later - values[t])
    result = []
    for t in range(len(rewards)):
        result.append(
            sum(gamma ** sum(actions[t:u]) * gae_lambda ** (u - t) * deltas[u] for u in range(t, len(rewards)))
        )
    return result


def target(
    edges: Edges, here: Key, depth: int, later: Callable[[Key], float], gamma: float, action: float, observation: float
) -> float:
    """What Q of a depth should be, by the edge that the simulator gave."""
    after, executed, solved = edges[here][depth]
    onward = 1.0 if solved else gamma**executed * later(after)
    return onward - action * executed - observation


def hazard_probs(stops: list[float]) -> list[float]:
    """Probabilities of depths from probabilities of stopping; the last stops surely."""
    result = []
    for place in range(len(stops) + 1):
        passed = math.prod(1 - stop for stop in stops[:place])
        result.append(passed * (stops[place] if place < len(stops) else 1.0))
    return result


def compared(rewards: list[float]) -> list[float]:
    """Against the mean, over the deviation; equal ones are nothing."""
    mean = sum(rewards) / len(rewards)
    deviation = math.sqrt(sum((each - mean) ** 2 for each in rewards) / len(rewards))
    return [0.0 if deviation < 1e-12 else (each - mean) / deviation for each in rewards]


def group_gradient(probs: list[float], rewards: list[float], size: int) -> list[float]:
    """The expected gradient by logits of one group of depths drawn in one state, by every sequence of draws."""
    many = len(probs)
    result = [0.0] * many
    for drawn in product(range(many), repeat=size):
        likely = math.prod(probs[i] for i in drawn)
        for advantage, column in zip(compared([rewards[i] for i in drawn]), drawn, strict=True):
            for j in range(many):
                result[j] += likely * advantage * ((j == column) - probs[j]) / size
    return result
