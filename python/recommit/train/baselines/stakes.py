"""One depth head for every price and every number of looks left: it reads both, beside where the plan should lead.

It learns on a commitment graph of the policy's own plans by exact credit, as ``methods.exact`` does, but under other
prices at every update, and with a program that has a row of probabilities for each number of looks left. It does not
climb a gradient: it imitates what is a little better than itself, its own probabilities times e to the advantage. So
many steps on one program do no harm, where a gradient that is out of date goes too far. What it reads
of a state is what the policy will read: its foresight, how sure its plan is, and z if that is wanted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import torch.nn.functional as F

from recommit import rng
from recommit.graph import attribution
from recommit.graph.commitments import Prices
from recommit.policy.config import CONDITIONS, HeadConfig
from recommit.policy.depth_head import DepthHead, conditions
from recommit.train.baselines.problem import HeadProblem, head_inputs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from recommit.policy.policy import CommitPolicy
    from recommit.puzzles.puzzle import Puzzle

    Floats = NDArray[np.float64]
    Nodes = NDArray[np.int64]

#: What an action costs at least and at most while it learns, and a look in actions; both by their logarithms.
ACTION, LOOK = (0.0025, 0.02), (0.125, 8.0)
#: One update of so many has no prices at all.
FREE = 8
#: What a check on the held-out starts is the mean of.
CHECKED = (Prices(), *(Prices(0.01, 0.01 * ratio) for ratio in (0.125, 0.5, 1.0, 2.0, 4.0)))
#: Nodes whose numbers are worked out at once.
PIECE = 8192
#: The least probability and the most advantage that an improvement goes by.
LEAST, MOST = 1e-6, 8.0


@dataclass(frozen=True)
class StakesConfig:
    """How it learns."""

    updates: int = 80
    lr: float = 3e-3
    hidden: int = 64
    states: int = 2048
    steps: int = 12
    seed: int = 0
    #: Those of every update and every check; other ones each time if there are none.
    prices: Prices | None = None
    #: Whether it reads z.
    z: bool = False

    @property
    def head_config(self) -> HeadConfig:
        """That of the policy's head."""
        return HeadConfig("z+conditioned" if self.z else "conditioned", self.hidden, gelu="tanh")

    def __post_init__(self) -> None:
        for name in ("updates", "hidden", "states", "steps"):
            if getattr(self, name) < 1:
                raise ValueError(f"stakes.{name}: expected at least 1, got {getattr(self, name)}")


def credit(problem: HeadProblem, probs: Floats) -> tuple[Floats, Floats]:
    """Shares of all visits [K + 1, rows], and Q - V [K + 1, rows, depths] with a mean square of 1, by the looks left;
    ``chance`` has these axes too, and nobody chooses with none left."""
    visits = np.zeros((problem.longest + 1, len(problem.graph)))
    for k in range(problem.longest, 0, -1):
        if k in problem.budgets:
            np.add.at(visits[k], problem.starts, 1.0)
        visits[k, problem.graph.goal] = 0.0
        moved = visits[k, problem.rows, None] * probs[k]
        visits[k - 1] += np.bincount(problem.landing.ravel(), moved.ravel(), len(problem.graph))
    share, advantage, value = visits[:, problem.rows], np.zeros_like(probs), np.zeros(len(problem.graph))
    share[0], value[problem.graph.goal] = 0.0, 1.0
    for k in range(1, problem.longest + 1):
        q_values = value[problem.landing] - problem.cost
        own = (probs[k] * q_values).sum(axis=1)
        advantage[k], value[problem.rows] = q_values - own[:, None], own
    share /= share.sum()
    scale = np.sqrt((share[..., None] * probs * advantage**2).sum())
    return share, advantage / max(float(scale), 1e-9)


def improved(probs: Floats, advantage: Floats) -> Floats:
    """[N, depths] probabilities that are better than ``chance``: times e to the advantage. No depth is ever out of
    question, and no advantage counts for more than ``MOST``."""
    result: Floats = np.maximum(probs, LEAST) * np.exp(advantage.clip(-MOST, MOST))
    result /= result.sum(axis=-1, keepdims=True)
    return result


class Reader:
    """What the head reads at the nodes of a graph, under prices and with so many looks left."""

    def __init__(self, policy: CommitPolicy, task: Puzzle, problem: HeadProblem, z: bool = False) -> None:
        graph, rows = problem.graph, problem.rows
        looked = None if graph.features is None or not z else graph.features[rows]
        sure = head_inputs(looked, graph.probabilities[rows], "z+confidence" if z else "confidence").astype(np.float32)
        ahead = [_foreseen(policy, task, problem, rows[at : at + PIECE]) for at in range(0, len(rows), PIECE)]
        #: What foresight says of the nodes.
        self.ahead = torch.cat(ahead)
        #: What is read of a node whatever is at stake.
        self.own = torch.cat([torch.from_numpy(sure), self.ahead], dim=1)

    @property
    def width(self) -> int:
        """Numbers in all."""
        return int(self.own.shape[1]) + CONDITIONS

    def __call__(
        self, rows: NDArray[np.int64] | slice, remaining: NDArray[np.int64] | int, prices: Prices
    ) -> torch.Tensor:
        """[rows, width] of places in ``problem.rows``."""
        own = self.own[rows]
        looks = np.broadcast_to(remaining, len(own))
        return torch.cat([own, conditions(looks, (prices.action, prices.look), len(own))], dim=1)


def _foreseen(policy: CommitPolicy, task: Puzzle, problem: HeadProblem, nodes: Nodes) -> torch.Tensor:
    graph = problem.graph
    cells = policy.vision.kinds(task, graph.states[nodes])
    if policy.world_model is None or cells is None:
        raise ValueError("policy: expected one with a world model (recommit train world-model), got one without")
    with torch.no_grad():
        result: torch.Tensor = policy.world_model(cells, torch.from_numpy(graph.plans[nodes]).long(), problem.depths)
    return result


class StakesLearner:
    """The head, and its updates: the same ones for the same seed."""

    def __init__(self, problem: HeadProblem, reader: Reader, config: StakesConfig) -> None:
        self.problem, self.reader, self.config = problem, reader, config
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(config.seed)
            self.head = self._new()
        some = [reader(slice(None, None, 17), k, prices) for k in (1, problem.longest) for prices in CHECKED]
        every = torch.cat(some)
        #: The head reads numbers of about mean 0 and deviation 1 while it learns.
        self.mean, self.deviation = every.mean(dim=0), every.std(dim=0).clamp(min=1e-3)
        self._optimizer = torch.optim.Adam(self.head.parameters(), lr=config.lr)

    def _new(self) -> DepthHead:
        features = self.problem.graph.features
        width = 0 if features is None else features.shape[1]
        return DepthHead(width, len(self.problem.depths), self.config.head_config)

    def logs(self, rows: NDArray[np.int64] | slice, remaining: NDArray[np.int64] | int, prices: Prices) -> torch.Tensor:
        """Logarithms of the depths' probabilities."""
        read = (self.reader(rows, remaining, prices) - self.mean) / self.deviation
        return F.log_softmax(self.head(read), dim=-1)

    def chances(self, problem: HeadProblem) -> Floats:
        """[K + 1, rows, depths]; 0 where no episode of the problem comes with so many looks left.

        What the hidden layer sums up of a node is the same with any number of looks left, but for a constant.
        """
        result = np.zeros((problem.longest + 1, len(problem.rows), len(problem.depths)))
        head, looks, prices = self.folded(), np.arange(1, problem.longest + 1), problem.prices
        assert head.hidden is not None
        earliest = problem.earliest[problem.rows]
        order = np.argsort(earliest, kind="stable")
        within = np.searchsorted(earliest[order], problem.longest - looks, side="right")
        own, stakes = head.hidden.weight[:, :-CONDITIONS], head.hidden.weight[:, -CONDITIONS:]
        with torch.no_grad():
            shifts = conditions(looks, (prices.action, prices.look), len(looks)) @ stakes.T
            for at in range(0, len(order), PIECE):
                rows = order[at : at + PIECE]
                sums = F.linear(self.reader.own[rows], own, head.hidden.bias)
                for k, shift, most in zip(looks, shifts, within - at, strict=True):
                    near = rows[: max(most, 0)]
                    logits = head.from_hidden(sums[: len(near)] + shift)
                    result[k, near] = logits.double().softmax(dim=-1).numpy()
        return result

    def update(self, number: int) -> None:
        """One program under prices of its own, and the steps on it."""
        config, (first, second) = self.config, _uniform(self.config.seed, number, 2)
        action = ACTION[0] * (ACTION[1] / ACTION[0]) ** first
        drawn = Prices(action, action * LOOK[0] * (LOOK[1] / LOOK[0]) ** second) if number % FREE else Prices()
        prices = config.prices or drawn
        problem = self.problem.over(prices=prices)
        probs = self.chances(problem)
        share, advantage = credit(problem, probs)
        edges = np.cumsum(share.ravel())
        for step in range(config.steps):
            uniform = _uniform(config.seed, (1 << 32) + number * config.steps + step, config.states)
            picks = np.searchsorted(edges, uniform * edges[-1], side="right").clip(max=len(edges) - 1)
            remaining, rows = np.divmod(picks, len(self.problem.rows))
            logs = self.logs(rows, remaining, prices)
            better = torch.from_numpy(improved(probs[remaining, rows], advantage[remaining, rows])).to(logs)
            self._descend(-(better * logs).sum(-1).mean())

    def _descend(self, loss: torch.Tensor) -> None:
        self._optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.head.parameters(), 10.0)
        self._optimizer.step()

    def worth(self, held: HeadProblem) -> float:
        """The mean value of its likeliest depths on held-out starts, over the prices of ``CHECKED``,
        or under its own."""
        checked = (self.config.prices,) if self.config.prices else CHECKED
        return float(np.mean([value for prices in checked for value in self._values(held.over(prices=prices))]))

    def _values(self, held: HeadProblem) -> Iterator[float]:
        columns = np.zeros((held.longest + 1, len(held.graph)), np.int64)
        columns[:, held.rows] = self.chances(held).argmax(axis=2)
        for budget in held.budgets:
            solved, actions, looks = attribution.outcome(
                held.edges, held.starts, budget, lambda remaining, _episodes, path: columns[remaining, path[-1]]
            )
            yield float((solved - held.prices.action * actions - held.prices.look * looks).mean())

    def folded(self) -> DepthHead:
        """The head for numbers as they are."""
        assert self.head.hidden is not None
        result = self._new()
        result.load_state_dict(self.head.state_dict())
        assert result.hidden is not None
        with torch.no_grad():
            scaled = self.head.hidden.weight.double() / self.deviation.double()
            result.hidden.weight.copy_(scaled)
            result.hidden.bias.copy_(self.head.hidden.bias.double() - scaled @ self.mean.double())
        return result


def fit(
    policy: CommitPolicy,
    task: Puzzle,
    learn: HeadProblem,
    held: HeadProblem,
    config: StakesConfig,
    tell: Callable[[str], None],
) -> dict[str, Any]:
    """Give a policy with foresight the head, the best of eight checks on the ``held`` starts; what it came to."""
    if policy.world_model is None:
        raise ValueError("policy: expected one with a world model (recommit train world-model), got one without")
    _refuse_other_plans(policy, task, learn)
    learner = StakesLearner(learn, Reader(policy, task, learn, config.z), config)
    best, curve = None, []
    for number in range(config.updates):
        learner.update(number)
        if (number + 1) % max(config.updates // 8, 1) and number + 1 < config.updates:
            continue
        curve.append({"updates": number + 1, "value": learner.worth(held)})
        tell(f"update {number + 1}, value {100 * curve[-1]['value']:.2f}")
        if best is None or curve[-1]["value"] > best[0]["value"]:
            best = curve[-1], learner.folded()
    assert best is not None
    policy.replace_head(config.head_config, depths=learn.depths)
    policy.depth_head.load_state_dict(best[1].state_dict())
    return best[0] | {"curve": curve}


def _refuse_other_plans(policy: CommitPolicy, task: Puzzle, problem: HeadProblem) -> None:
    """A head that learned from other plans would know nothing of these."""
    nodes = problem.rows[:32]
    _, plans = policy.act(task, problem.graph.states[nodes], depth=1, remaining=np.ones(len(nodes), np.int64))
    if not np.array_equal(plans, problem.graph.plans[nodes]):
        raise ValueError("graph: expected one of this policy's plans (with as many --views), got one of others")


def _uniform(seed: int, number: int, many: int) -> Floats:
    words = rng.draw(rng.streams(seed, rng.Purpose.ORDER, np.arange(many)), number)
    result: Floats = (words >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return result
