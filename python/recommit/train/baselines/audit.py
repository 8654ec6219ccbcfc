"""The credit audit: how far the gradient that each credit gives a head is from the exact one, by number of episodes.

For one head, the exact gradient g of its expected value is known. A credit c gives an estimate from n sampled episodes,
whose expectation E[c] is worked out by enumeration too where that is possible:

    cosine    of an estimate with g, its mean over repeats
    bias      1 - cosine of E[c] with g: what no number of episodes mends
    noise     the root of E|c - E[c]|^2 / |E[c]|^2: relative deviation, which falls as 1 / sqrt(n)

exact     the exact program over the drawn starts
state     the paper's one-step credit: E over all groups of ``size`` depths, at most five looks
branch    continuations, and ``episode`` whole returns: against the group's mean their expectation is g itself, less the
          share 1 / size that each is compared with itself; divided by the group's deviation it is estimated by the
          mean of all draws
ppo-gae   advantages with gamma, lambda and a value head at its best: the mean discounted value of the states' visits
q         the values of the best depths by Q's own fixed point, in the states that the head visits
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement
from math import factorial
from typing import TYPE_CHECKING

import numpy as np
import torch

from recommit.graph.policy_evaluation import PolicyEvaluation
from recommit.train.baselines import episodes
from recommit.train.baselines.methods import groups, ppo, prefix_q
from recommit.train.baselines.network import Net, chances

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from recommit.train.baselines.problem import HeadProblem

    Floats = NDArray[np.float64]
    Nodes = NDArray[np.int64]
    #: An estimate [rows, depths] of the gradient by logits from so many episodes, the first of which has this number.
    Estimate = Callable[[int, int], Floats]

GAMMA, TRACE = ppo.PpoConfig.gamma, ppo.PpoConfig.trace
CREDITS = ("exact", "branch", "episode", "episode-scaled", "state", "ppo-gae", "q")


@dataclass(frozen=True)
class AuditRow:
    """A credit at a number of episodes."""

    credit: str
    episodes: int
    cosine: float
    bias: float
    noise: float
    #: Was the expectation worked out, or is it the mean of all draws?
    enumerated: bool


@dataclass(frozen=True, eq=False)
class Audit:
    """A head whose gradients are compared."""

    problem: HeadProblem
    net: Net
    size: int = 4
    seed: int = 0

    def run(self, names: Sequence[str], counts: Sequence[int], repeats: int) -> list[AuditRow]:
        """A row per credit and number of episodes."""
        exact = self._by_weights(self.problem.gradient(self._chance))
        rows = []
        for name in names:
            draws_of = {
                count: [self._by_weights(self._estimates()[name](count, i * count)) for i in range(repeats)]
                for count in counts
            }
            mean = self._expected(name)
            center = np.mean(draws_of[max(counts)], axis=0) if mean is None else self._by_weights(mean)
            rows += [self._row(name, count, each, center, exact, mean) for count, each in draws_of.items()]
        return rows

    def _row(
        self, name: str, count: int, each: list[Floats], center: Floats, exact: Floats, mean: Floats | None
    ) -> AuditRow:
        spread = np.mean([np.sum((one - center) ** 2) for one in each]) / max(float(np.sum(center**2)), 1e-300)
        cosine = float(np.mean([cosine_of(one, exact) for one in each]))
        return AuditRow(name, count, cosine, 1.0 - cosine_of(center, exact), float(np.sqrt(spread)), mean is not None)

    @cached_property
    def _chance(self) -> Floats:
        return chances(self.net)(self.problem.rows)

    @cached_property
    def _value(self) -> Floats:
        return best_values(self.problem, self._chance, GAMMA)

    @cached_property
    def _quality(self) -> Floats:
        return fixed_point(self.problem, prefix_q.QConfig.gamma)

    def _by_weights(self, gradient: Floats) -> Floats:
        """The gradient by the net's weights, from that by logits [rows, depths]."""
        busy = np.flatnonzero(np.abs(gradient).any(axis=1))
        logits = self.net(self.problem.rows[busy])
        parts = torch.autograd.grad(logits, self.net.parameters, torch.from_numpy(gradient[busy]).float())
        return np.concatenate([part.numpy().ravel() for part in parts]).astype(np.float64)

    def _estimates(self) -> dict[str, Estimate]:
        return {
            "exact": self._exact,
            "branch": lambda count, first: self._sampled("branch", count, first, scaled=False),
            "episode": lambda count, first: self._sampled("episode", count, first, scaled=False),
            "episode-scaled": lambda count, first: self._sampled("episode", count, first, scaled=True),
            "state": lambda count, first: self._sampled("state", count, first, scaled=True),
            "ppo-gae": self._gae,
            "q": self._q,
        }

    def _expected(self, name: str) -> Floats | None:
        problem, probs = self.problem, self._chance
        if name == "state":
            return state_expectation(_short(problem), probs, self.size)
        if name == "ppo-gae":
            return gae_expectation(problem, probs, self._value, GAMMA, TRACE)
        if name == "q":
            visits = problem.visits(probs).sum(axis=0)[:, None]
            result: Floats = visits * centred(probs, self._quality)
            return result
        exact = problem.gradient(probs)
        shares = {"exact": 1.0, "branch": 1 - 1 / self.size, "episode": 1 - 1 / self.size}
        return exact * shares[name] if name in shares else None

    def _exact(self, count: int, first: int) -> Floats:
        starts, _ = episodes.drawn_starts(self.problem, count, first, self.seed)
        return self.problem.over(starts=starts).gradient(self._chance)

    def _sampled(self, kind: str, count: int, first: int, *, scaled: bool) -> Floats:
        problem = _short(self.problem) if kind == "state" else self.problem
        config = groups.GroupConfig(kind=kind, size=self.size, scaled=scaled, episodes=count)
        nodes, column, advantage = groups.credited(problem, config, chances(self.net), first, self.seed)
        return self._scattered(nodes, column, advantage) / (count if kind == "episode" else count * self.size)

    def _walks(self, count: int, first: int) -> episodes.Walks:
        starts, remaining = episodes.drawn_starts(self.problem, count, first, self.seed)
        numbers = np.arange(first, first + count)
        return episodes.play(self.problem, starts, remaining, numbers, chances(self.net), self.seed)

    def _gae(self, count: int, first: int) -> Floats:
        walks, value = self._walks(count, first), self._value
        here = np.where(walks.alive, value[walks.node], 0.0)
        advantage = ppo.advantages(walks, here, ppo.later(walks, here), GAMMA, TRACE)
        alive = walks.alive
        return self._scattered(walks.node[alive], walks.column[alive], advantage[alive]) / count

    def _q(self, count: int, first: int) -> Floats:
        walks = self._walks(count, first)
        rows = np.searchsorted(self.problem.rows, walks.node[walks.alive])
        visits = np.bincount(rows, minlength=len(self.problem.rows)) / count
        return visits[:, None] * centred(self._chance, self._quality)

    def _scattered(self, nodes: Nodes, column: Nodes, advantage: Floats) -> Floats:
        """The gradient by logits of the sum of advantages times logarithms of probabilities."""
        rows, probs = np.searchsorted(self.problem.rows, nodes), self._chance
        result = np.zeros_like(probs)
        np.add.at(result, (rows, column), advantage)
        total = np.bincount(rows, advantage, len(probs))
        return result - total[:, None] * probs


def cosine_of(one: Floats, other: Floats) -> float:
    """The cosine of two gradients; 0 where one of them is nothing."""
    length = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(one @ other) / length if length > 0 else 0.0


def centred(probs: Floats, q_values: Floats) -> Floats:
    """[rows, depths] pi (Q - V)."""
    result: Floats = probs * (q_values - (probs * q_values).sum(axis=1, keepdims=True))
    return result


def state_expectation(problem: HeadProblem, probs: Floats, size: int) -> Floats:
    """[rows, depths] of the paper's credit, by all groups of ``size`` depths that can be drawn in a state."""
    rewards, many = groups.one_step(problem), probs.shape[1]
    result = np.zeros_like(probs)
    for group in combinations_with_replacement(range(many), size):
        counts = np.bincount(group, minlength=many)
        ways = factorial(size) / np.prod([factorial(c) for c in counts.tolist()])
        likely = ways * np.prod(probs**counts, axis=1, keepdims=True)
        advantage = groups.compared(rewards[:, list(group)], scaled=True)
        for place, column in enumerate(group):
            result[:, column] += likely[:, 0] * advantage[:, place] / size
    result -= result.sum(axis=1, keepdims=True) * probs
    result *= problem.visits(probs).sum(axis=0)[:, None]
    return result


def best_values(problem: HeadProblem, probs: Floats, gamma: float) -> Floats:
    """[N] the value head at its best: discounted values of states, as the looks left are when they are visited."""
    visits, result = problem.visits(probs), np.zeros(len(problem.graph))
    discounted = PolicyEvaluation(problem.edges, problem.starts, problem.longest, problem.prices, discount=gamma)
    value, seen = discounted.value(probs)[:, problem.rows], visits.sum(axis=0)
    weight = np.where(seen > 0, visits / np.maximum(seen, 1e-300), 1.0 / (len(value) - 1))
    weight[0] = 0.0
    result[problem.rows] = (weight * value).sum(axis=0)
    return result


def gae_expectation(problem: HeadProblem, probs: Floats, value: Floats, gamma: float, trace: float) -> Floats:
    """[rows, depths] of PPO's first step, with values [N] of a value head; an episode's end counts nothing."""
    discount = gamma ** problem.edges.executed[problem.rows].astype(np.float64)
    visits, goal = problem.visits(probs), problem.graph.goal[problem.landing]
    result, running = np.zeros_like(probs), np.zeros(len(problem.graph))
    for k in range(1, problem.longest + 1):
        later = np.where(goal | (k == 1), 0.0, value[problem.landing])
        delta = goal - problem.cost + discount * later - value[problem.rows, None]
        advantage = delta + discount * trace * np.where(goal, 0.0, running[problem.landing])
        running = np.zeros(len(problem.graph))
        running[problem.rows] = (probs * advantage).sum(axis=1)
        result += visits[k, :, None] * centred(probs, advantage)
    return result


def fixed_point(problem: HeadProblem, gamma: float, rounds: int = 400) -> Floats:
    """[rows, depths] Q where its targets are met everywhere."""
    rows, later = np.arange(len(problem.rows)), np.zeros(len(problem.graph))
    q_values = np.zeros(problem.landing.shape)
    for _ in range(rounds):
        q_values = prefix_q.prefix_targets(problem, rows, later, gamma)
        best = q_values.max(axis=1)
        if np.allclose(best, later[problem.rows], rtol=0, atol=1e-12):
            break
        later[problem.rows] = best
    return q_values


def _short(problem: HeadProblem) -> HeadProblem:
    """With at most the five looks of the paper's training episodes."""
    return problem.over(budgets=[min(k, 5) for k in problem.budgets])
