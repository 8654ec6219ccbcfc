"""Small problems: plans that are right or wrong by a hash, features in which the best depth can be read."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from tests.reference import graphs as slow
from tests.unit.graph import cases

from recommit.graph.values import optimal_values
from recommit.prices import Prices
from recommit.train.heads.problem import HeadProblem

DEPTHS = (1, 2, 4, 8)
PRICES = Prices(0.01, 0.03)


def graph(name: str = "sliding", count: int = 12, wrong: int = 4) -> Any:
    """A graph whose features say, among noise, how long each plan stays optimal."""
    bare = cases.some(name, count, wrong)
    best = bare.distance[bare.landing] - bare.distance[:, None]
    right = (best == -np.arange(1, 9)).cumprod(axis=1)
    noise = np.random.default_rng(7).normal(size=(len(bare), 3))
    features = np.concatenate([right, noise, (bare.distance[:, None] <= 8)], axis=1).astype(np.float32)
    return dataclasses.replace(bare, features=features)


def problem(name: str = "sliding", count: int = 12, budgets: tuple[int, ...] = (2, 3), **more: Any) -> HeadProblem:
    plans = graph(name, count, more.pop("wrong", 4))
    return HeadProblem.of(plans, DEPTHS, budgets, more.pop("prices", PRICES), **more)


def edges(problem: HeadProblem) -> Any:
    """The same edges, executed one after the other in plain Python."""
    graph = problem.graph
    plans = {state.tobytes(): plan.tolist() for state, plan in zip(graph.states, graph.plans, strict=True)}
    starts = [graph.states[i] for i in problem.starts]
    return slow.explore(cases.TASKS[graph.task], starts, lambda state: plans[state.tobytes()])


def keys(problem: HeadProblem) -> list[bytes]:
    return [state.tobytes() for state in problem.graph.states]


def probs(problem: HeadProblem, seed: int = 1) -> Any:
    """Probabilities [rows, depths] of some head."""
    return np.random.default_rng(seed).dirichlet([1.0] * len(problem.depths), len(problem.rows))


def ceiling(problem: HeadProblem) -> float:
    """The value of the best choice of these depths, which may know the observations left."""
    values = [optimal_values(problem.graph, k, problem.prices)[k, problem.starts].mean() for k in problem.budgets]
    return float(np.mean(values))
