"""Bias and variance of the gradient that each advantage estimator gives a head, by number of episodes.

recommit graph build run --split train --starts 64 --features --out graph
python bench/pages/gradient_bias.py graph --episodes 16 64 --repeats 4 --out gradients

For one head, the exact gradient g of its expected return is known. An estimator gives c from n sampled episodes, whose
expectation E[c] is worked out by enumeration too where that is possible:

    cosine          of an estimate with g, its mean over repeats
    bias            1 - cosine of E[c] with g: what no number of episodes mends
    relative_std    the root of E|c - E[c]|^2 / |E[c]|^2, which falls as 1 / sqrt(n)

exact     exact policy evaluation over the drawn starts
state     the paper's one-step rewards: E over all groups of ``size`` depths, at most five observations
branch    continuations, and ``episode`` whole returns: against the group's mean their expectation is g itself, less the
          share 1 / size that each is compared with itself; divided by the group's deviation it is estimated by the
          mean of all draws
ppo-gae   advantages with gamma, lambda and a value head at its best: the mean discounted value of the states' visits
q         the values of the best depths by Q's own fixed point, in the states that the head visits
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement
from math import factorial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch

from recommit.graph import files
from recommit.graph.policy_evaluation import PolicyEvaluation
from recommit.prices import Prices
from recommit.results.grid import Grid
from recommit.train.baselines import critics, groups, rollouts
from recommit.train.grpo.advantages import in_groups
from recommit.train.head import problem_of
from recommit.train.heads import fitted
from recommit.train.heads.network import Net

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from recommit.train.heads.problem import HeadProblem

    Floats = NDArray[np.float64]
    Nodes = NDArray[np.int64]

GAMMA, LAMBDA = critics.PpoConfig.gamma, critics.PpoConfig.gae_lambda
ESTIMATORS = ("exact", "branch", "episode", "episode-scaled", "state", "ppo-gae", "q")


@dataclass(frozen=True)
class GradientRow:
    """An estimator at a number of episodes."""

    estimator: str
    episodes: int
    cosine: float
    bias: float
    relative_std: float
    #: Was the expectation worked out, or is it the mean of all draws?
    enumerated: bool


@dataclass(frozen=True, eq=False)
class GradientBias:
    """A head whose gradients are compared."""

    problem: HeadProblem
    net: Net
    size: int = 4
    seed: int = 0

    def rows(self, estimators: Sequence[str], counts: Sequence[int], repeats: int) -> list[GradientRow]:
        """A row per estimator and number of episodes."""
        if wrong := [name for name in estimators if name not in ESTIMATORS]:
            raise ValueError(f"estimators: expected some of {', '.join(ESTIMATORS)}, got {wrong[0]}")
        exact, rows = self.by_weights(self.problem.gradient(self._probs)), []
        for name in estimators:
            drawn = {
                count: [self.by_weights(self.estimate(name, count, i * count)) for i in range(repeats)]
                for count in counts
            }
            expected = self.expectation(name)
            mean = np.mean(drawn[max(counts)], axis=0) if expected is None else self.by_weights(expected)
            for count, each in drawn.items():
                variance = np.mean([np.sum((one - mean) ** 2) for one in each]) / max(float(np.sum(mean**2)), 1e-300)
                cosine, bias = float(np.mean([cosine_of(one, exact) for one in each])), 1.0 - cosine_of(mean, exact)
                rows.append(GradientRow(name, count, cosine, bias, float(np.sqrt(variance)), expected is not None))
        return rows

    def estimate(self, name: str, count: int, first: int) -> Floats:
        """[rows, depths] of the gradient by logits from so many episodes, the first of which has this number."""
        if name == "exact":
            starts, _ = rollouts.sample_starts(self.problem, count, first, self.seed)
            return self.problem.over(starts=starts).gradient(self._probs)
        if name in ("ppo-gae", "q"):
            batch = rollouts.sample_batch(self.problem, count, first, self.net.probs, self.seed)
            return (self._by_gae if name == "ppo-gae" else self._by_q)(batch) / count
        kind, scaled = name.partition("-")[0], name in ("state", "episode-scaled")
        problem = _short(self.problem) if kind == "state" else self.problem
        config = groups.GroupConfig(kind=kind, size=self.size, scaled=scaled, episodes=count)
        nodes, column, advantage = groups.decisions(problem, config, self.net.probs, first, self.seed)
        return self._scattered(nodes, column, advantage) / (count if kind == "episode" else count * self.size)

    def expectation(self, name: str) -> Floats | None:
        """[rows, depths] of the same, by enumeration; None where that is not possible."""
        problem, probs = self.problem, self._probs
        if name == "state":
            return state_expectation(_short(problem), probs, self.size)
        if name == "ppo-gae":
            return gae_expectation(problem, probs, self._value, GAMMA, LAMBDA)
        if name == "q":
            visits: Floats = problem.visits(probs).sum(axis=0)[:, None]
            return visits * centred(probs, self._q_values)
        shares = {"exact": 1.0, "branch": 1 - 1 / self.size, "episode": 1 - 1 / self.size}
        return problem.gradient(probs) * shares[name] if name in shares else None

    def by_weights(self, gradient: Floats) -> Floats:
        """The gradient by the net's weights, from that by logits [rows, depths]."""
        busy = np.flatnonzero(np.abs(gradient).any(axis=1))
        logits = self.net(self.problem.rows[busy])
        parts = torch.autograd.grad(logits, self.net.parameters, torch.from_numpy(gradient[busy]).float())
        return np.concatenate([part.numpy().ravel() for part in parts]).astype(np.float64)

    @cached_property
    def _probs(self) -> Floats:
        return self.net.probs(self.problem.rows)

    @cached_property
    def _value(self) -> Floats:
        return best_values(self.problem, self._probs, GAMMA)

    @cached_property
    def _q_values(self) -> Floats:
        return fixed_point(self.problem, critics.QConfig.gamma)

    def _by_gae(self, batch: rollouts.Rollouts) -> Floats:
        alive = batch.alive
        advantage = critics.advantages(batch, np.where(alive, self._value[batch.node], 0.0), GAMMA, LAMBDA)
        return self._scattered(batch.node[alive], batch.column[alive], advantage[alive])

    def _by_q(self, batch: rollouts.Rollouts) -> Floats:
        rows = np.searchsorted(self.problem.rows, batch.node[batch.alive])
        visits = np.bincount(rows, minlength=len(self.problem.rows))
        return visits[:, None] * centred(self._probs, self._q_values)

    def _scattered(self, nodes: Nodes, column: Nodes, advantage: Floats) -> Floats:
        """The gradient by logits of the sum of advantages times logarithms of probabilities."""
        rows, probs = np.searchsorted(self.problem.rows, nodes), self._probs
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
    """[rows, depths] of the paper's estimator, by all groups of ``size`` depths that can be drawn in a state."""
    rewards, many = groups.one_step(problem), probs.shape[1]
    result = np.zeros_like(probs)
    for group in combinations_with_replacement(range(many), size):
        counts = np.bincount(group, minlength=many)
        ways = factorial(size) / np.prod([factorial(c) for c in counts.tolist()])
        likely = ways * np.prod(probs**counts, axis=1, keepdims=True)
        advantage = in_groups(rewards[:, list(group)], scaled=True)
        for place, column in enumerate(group):
            result[:, column] += likely[:, 0] * advantage[:, place] / size
    result -= result.sum(axis=1, keepdims=True) * probs
    result *= problem.visits(probs).sum(axis=0)[:, None]
    return result


def best_values(problem: HeadProblem, probs: Floats, gamma: float) -> Floats:
    """[N] the value head at its best: discounted values of states, with the observations left of their visits."""
    visits, result = problem.visits(probs), np.zeros(len(problem.graph))
    discounted = PolicyEvaluation(problem.graph, problem.starts, problem.longest, problem.prices, discount=gamma)
    value, seen = discounted.value(probs)[:, problem.rows], visits.sum(axis=0)
    weight = np.where(seen > 0, visits / np.maximum(seen, 1e-300), 1.0 / (len(value) - 1))
    weight[0] = 0.0
    result[problem.rows] = (weight * value).sum(axis=0)
    return result


def gae_expectation(problem: HeadProblem, probs: Floats, value: Floats, gamma: float, gae_lambda: float) -> Floats:
    """[rows, depths] of PPO's first step, with values [N] of a value head; an episode's end counts nothing."""
    discount = gamma ** problem.graph.executed[problem.rows].astype(np.float64)
    visits, goal = problem.visits(probs), problem.graph.goal[problem.landing]
    result, running = np.zeros_like(probs), np.zeros(len(problem.graph))
    for k in range(1, problem.longest + 1):
        later = np.where(goal | (k == 1), 0.0, value[problem.landing])
        delta = goal - problem.cost + discount * later - value[problem.rows, None]
        advantage = delta + discount * gae_lambda * np.where(goal, 0.0, running[problem.landing])
        running = np.zeros(len(problem.graph))
        running[problem.rows] = (probs * advantage).sum(axis=1)
        result += visits[k, :, None] * centred(probs, advantage)
    return result


def fixed_point(problem: HeadProblem, gamma: float, rounds: int = 400) -> Floats:
    """[rows, depths] Q where its targets are met everywhere."""
    rows, later = np.arange(len(problem.rows)), np.zeros(len(problem.graph))
    q_values = np.zeros(problem.landing.shape)
    for _ in range(rounds):
        q_values = critics.prefix_targets(problem, rows, later, gamma)
        best = q_values.max(axis=1)
        if np.allclose(best, later[problem.rows], rtol=0, atol=1e-12):
            break
        later[problem.rows] = best
    return q_values


def _short(problem: HeadProblem) -> HeadProblem:
    """With at most the five observations of the paper's training episodes."""
    return problem.over(budgets=[min(k, 5) for k in problem.budgets])


def parsed(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("graph", type=Path, help="written by recommit graph build with --features")
    parser.add_argument(
        "--head", type=Path, help="by recommit train head, of one price; one that has learned nothing if not said"
    )
    parser.add_argument("--estimators", nargs="+", default=ESTIMATORS)
    parser.add_argument("--episodes", type=int, nargs="+", default=[16, 64, 256, 1024], help="of an estimate")
    parser.add_argument("--repeats", type=int, default=8, help="estimates of each size")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--depths", type=int, nargs="+", default=[], help="those of the policy's own head if not said")
    parser.add_argument("--budget", type=int, nargs="+", default=[], help="those of the puzzle if not said")
    parser.add_argument("--price-action", type=float, default=0.01)
    parser.add_argument("--price-observation", type=float, default=0.02)
    parser.add_argument("--out", type=Path, help="a folder for gradients.json and gradients.md")
    return parser.parse_args(words)


def rows(options: argparse.Namespace) -> list[GradientRow]:
    """A row per estimator and number of episodes."""
    prices = Prices(options.price_action, options.price_observation)
    problem = problem_of(files.read(options.graph), options.depths, options.budget, prices, "z+confidence")
    net = Net(problem, len(problem.depths), 64, options.seed)
    if options.head is not None:
        net.load(fitted.read(options.head).weights)
    return GradientBias(problem, net, seed=options.seed).rows(options.estimators, options.episodes, options.repeats)


def table(rows: Sequence[GradientRow]) -> str:
    """A line per estimator, cosines by number of episodes."""
    counts = sorted({row.episodes for row in rows})
    head = ["estimator", *(f"cosine, {count:,}" for count in counts), "bias", f"relative std, {counts[-1]:,}"]
    lines = []
    for name in dict.fromkeys(row.estimator for row in rows):
        own = {row.episodes: row for row in rows if row.estimator == name}
        last = own[counts[-1]]
        bias = f"{last.bias:.3f}" if last.enumerated else f"about {last.bias:.3f}"
        lines.append([name, *(f"{own[count].cosine:.3f}" for count in counts), bias, f"{last.relative_std:.2f}"])
    return Grid.of(head, lines).markdown()


def main() -> int:
    options = parsed()
    torch.set_num_threads(1)
    every = rows(options)
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "gradients.json").write_text(json.dumps([vars(row) for row in every], indent=2) + "\n")
        (options.out / "gradients.md").write_text(table(every) + "\n")
    print(table(every))
    return 0


if __name__ == "__main__":
    sys.exit(main())
