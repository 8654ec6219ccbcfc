"""Sampled commitments or episodes compared within groups: the paper's advantage estimator, and its two relatives.

Source: "When to Re-Commit" (one-step rewards within groups of one state; group-relative advantages are GRPO's, Shao et
al., 2024), the episode's return from the same paper, and branches as `recommit.train.grpo` plays them.

state     ``size`` depths drawn in one state, rewarded for their own commitments alone: success and 0.2 tanh(progress
          per action)
episode   ``size`` whole episodes from one start, each rewarded by its return
branch    ``size`` depths drawn in one state, each rewarded by the return of one continuation of its own

Ours: the head's net and inputs, plain gradient steps of Adam (a batch is used once, so that nothing is clipped), and
counter-based draws. In training, episodes of ``state`` take the paper's five observations at most.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch

from recommit.graph.episodes import sampled_columns
from recommit.train.baselines import rollouts
from recommit.train.grpo.advantages import in_groups
from recommit.train.heads.network import HeadLearner

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.train.baselines.rollouts import DepthProbs
    from recommit.train.heads.problem import HeadProblem

    Floats = NDArray[np.float64]
    Nodes = NDArray[np.int64]
    #: Nodes, columns of depths, and advantages of decisions that a step learns from.
    Decisions = tuple[Nodes, Nodes, Floats]

KINDS = ("state", "episode", "branch")
#: Numbers of streams that one group may use.
TWINS = 16


@dataclass(frozen=True)
class GroupConfig:
    """Values of a head by groups."""

    lr: float = 1e-3
    hidden: int = 64
    entropy: float = 0.01
    kind: str = "state"
    size: int = 4
    #: Are advantages divided by the deviation of their group (the paper)?
    scaled: bool = True
    #: Observations of a training episode at most, 0 for the budgets.
    observations: int = 0
    episodes: int = 512


class GroupLearner(HeadLearner):
    """New episodes for every update."""

    def __init__(self, problem: HeadProblem, config: GroupConfig, seed: int) -> None:
        if config.kind not in KINDS:
            raise ValueError(f"kind: expected one of {', '.join(KINDS)}, got {config.kind}")
        budgets = tuple(min(k, config.observations or k) for k in problem.budgets)
        super().__init__(problem.over(budgets=budgets), config, seed)

    def update(self, number: int) -> None:
        """Play, compare within groups, and take one step."""
        nodes, column, advantage = decisions(
            self.problem, self.config, self.net.probs, number * self.config.episodes, self.seed
        )
        logs = self.net(nodes).log_softmax(-1)
        own = logs.gather(1, torch.from_numpy(column)[:, None])[:, 0]
        spread = -(logs.exp() * logs).sum(-1).mean()
        gain = (own * torch.from_numpy(advantage).to(own)).mean() + self.config.entropy * spread
        self.maximize(gain)


def decisions(problem: HeadProblem, config: GroupConfig, probs: DepthProbs, first: int, seed: int) -> Decisions:
    """What ``config.episodes`` episodes teach, the first of which has this number; of ``episode`` a group is one."""
    count = config.episodes // config.size if config.kind == "episode" else config.episodes
    starts, remaining = rollouts.sample_starts(problem, count, first, seed)
    numbers = np.arange(first, first + count) * (1 + TWINS)
    if config.kind == "episode":
        return _by_episode(problem, config, probs, starts, remaining, numbers, seed)
    played = rollouts.sample(problem, starts, remaining, numbers, probs, seed)
    turn, who = np.nonzero(played.alive)
    nodes, after = played.node[turn, who], remaining[who] - turn - 1
    own = [played.column[turn, who]]
    streams = numbers[who] * rollouts.TURNS + turn
    own += [sampled_columns(probs(nodes), streams * TWINS + i, seed ^ 1) for i in range(1, config.size)]
    columns = np.stack(own, axis=1)
    rewards = one_step(problem)[_rows(problem, nodes)[:, None], columns]
    if config.kind == "branch":
        rewards = _continued(problem, probs, nodes, columns, after, streams, seed)
    advantage = in_groups(rewards, scaled=config.scaled)
    return np.repeat(nodes, config.size), columns.ravel(), advantage.ravel()


def one_step(problem: HeadProblem) -> Floats:
    """[rows, depths] the paper's reward of a commitment by itself: success, and bounded progress per action."""
    distance = problem.graph.distance.astype(np.float64)
    here, there = distance[problem.rows, None], distance[problem.landing]
    won = np.where((there < 0) | (here < 0), 0.0, here - there)
    executed = problem.graph.executed[problem.rows]
    result: Floats = problem.graph.goal[problem.landing] + 0.2 * np.tanh(won / executed)
    return result


def _by_episode(
    problem: HeadProblem,
    config: GroupConfig,
    probs: DepthProbs,
    starts: Nodes,
    remaining: Nodes,
    numbers: Nodes,
    seed: int,
) -> Decisions:
    copies = (numbers[:, None] + np.arange(config.size)).ravel()
    played = rollouts.sample(
        problem, np.repeat(starts, config.size), np.repeat(remaining, config.size), copies, probs, seed
    )
    advantage = in_groups(played.returns().reshape(-1, config.size), scaled=config.scaled).ravel()
    _, who = np.nonzero(played.alive)
    return played.node[played.alive], played.column[played.alive], advantage[who]


def _continued(
    problem: HeadProblem, probs: DepthProbs, nodes: Nodes, columns: Nodes, after: Nodes, streams: Nodes, seed: int
) -> Floats:
    """[groups, size] what each commitment and one continuation of its own bring."""
    rows, size = np.repeat(_rows(problem, nodes), columns.shape[1]), columns.shape[1]
    there = problem.landing[rows, columns.ravel()]
    copies = (streams[:, None] * TWINS + np.arange(size)).ravel()
    played = rollouts.sample(problem, there, np.repeat(after, size), copies, probs, seed ^ 2)
    returns = problem.graph.goal[there] - problem.cost[rows, columns.ravel()] + played.returns()
    return returns.reshape(-1, size)


def _rows(problem: HeadProblem, nodes: Nodes) -> Nodes:
    return np.searchsorted(problem.rows, nodes)
