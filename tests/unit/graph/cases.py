"""Policies without a network: plans that are right or wrong by a hash of the state, as graphs."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

import recommit
from recommit.graph.graph import ALL_DEPTHS, NOWHERE, PLAN, CommitmentGraph

TASKS = {"sliding": recommit.Sliding(2, 3), "sokoban": recommit.Sokoban(6, 1)}


def plan_of(task: Any, state: Any, wrong: int = 4) -> list[int]:
    """Optimal actions, of which about one in ``wrong`` is another."""
    word = int.from_bytes(np.asarray(state, np.uint8).tobytes()[-8:], "little") * 0x9E3779B97F4A7C15 % 2**64 >> 20
    plan, here = [], np.asarray(state, np.uint8)
    for place in range(PLAN):
        right = task.optimal_actions(here[None])[0]
        by_hash = word >> (2 * place) & 3
        mistaken = (word >> (16 + 2 * place)) % wrong == 0 or not right.any()
        plan.append(int(by_hash if mistaken else right.argmax()))
        here = task.step(here[None], np.array([plan[-1]], np.uint8))[0]
    return plan


def graph(name: str, starts: Any, wrong: int = 4) -> CommitmentGraph:
    """All states that plans of this kind lead to."""
    task = TASKS[name]
    states, number, landing, executed, plans = [], {}, [], [], []

    def node(state: Any) -> int:
        if state.tobytes() not in number:
            number[state.tobytes()] = len(states)
            states.append(state)
        return number[state.tobytes()]

    first = [node(state) for state in starts]
    for state in states:  # grows
        plan = plan_of(task, state, wrong)
        solved, here, ends, after = bool(task.is_solved(state[None])[0]), state, PLAN, []
        plans.append([0] * PLAN if solved else plan)
        for place, action in enumerate(plan):
            if ends == PLAN:
                here = task.step(here[None], np.array([action], np.uint8))[0]
                ends = place + 1 if task.is_solved(here[None])[0] and not solved else PLAN
            after.append(NOWHERE if solved else node(here))
        landing.append(after)
        executed.append([0 if solved else min(depth, ends) for depth in ALL_DEPTHS])
    every = np.array(states, np.uint8)
    distance = task.distance(every)
    generator = np.random.default_rng(5)
    probs = generator.dirichlet([1.0] * 4, (len(every), PLAN)).astype(np.float32)
    return CommitmentGraph(
        task=name,
        depths=ALL_DEPTHS,
        head_depths=(1, 2, 4, 8),
        states=every,
        distance=distance,
        goal=distance == 0,
        planned=distance != 0,
        plans=np.array(plans, np.uint8),
        probs=probs,
        logits=generator.normal(size=(len(every), 4)).astype(np.float32),
        landing=np.array(landing, np.int32),
        executed=np.array(executed, np.int8),
        starts=np.array(first, np.int32),
        groups=np.arange(len(first), dtype=np.int32) // 2,
        source={"made": "in a test"},
        samples=_samples(np.array(plans, np.uint8), generator),
    )


def _samples(plans: Any, generator: Any) -> Any:
    """Six other plans of each observation, of which a tenth of the actions are others."""
    others = np.repeat(plans[:, None], 6, axis=1)
    apart = generator.random(others.shape) < 0.1
    return np.where(apart, generator.integers(0, 4, others.shape), others).astype(np.uint8)


def some(name: str, count: int = 12, wrong: int = 4) -> CommitmentGraph:
    """The graph of a few starts."""
    return graph(name, TASKS[name].generate(count, seed=3, length=(3, 12)).states, wrong)


def changed(graph: CommitmentGraph, **columns: Any) -> CommitmentGraph:
    """With other columns."""
    return dataclasses.replace(graph, **columns)
