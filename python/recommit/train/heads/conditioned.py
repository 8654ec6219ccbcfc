"""``recommit train head``: one depth head for all prices and remaining budgets. It reads both, the plan's confidence,
and a world model's predictions for the plan.

It is trained with exact advantages on a commitment graph of the policy's own plans, under new prices at every update,
with separate probabilities for each number of observations left. Instead of a policy gradient it fits an
advantage-weighted target, its own probabilities times exp(advantage) (as in MPO and AWR): many steps on one evaluation
are safe, where a stale gradient would overshoot.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import torch.nn.functional as F

from recommit import rng
from recommit.data.assignment import learnable
from recommit.data.spec import DataSpec
from recommit.graph import files
from recommit.graph.episodes import by_state, play
from recommit.graph.policy_evaluation import PolicyEvaluation
from recommit.policy.config import CONDITIONS, FEATURES, HeadConfig
from recommit.policy.depth_head import DepthHead, conditions, confidence
from recommit.policy.policy import CommitPolicy
from recommit.prices import Prices
from recommit.runs.process import torch_settings
from recommit.storage.ownership import refuse_foreign
from recommit.storage.schema import refuse
from recommit.train.heads.world_model import policy_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from recommit.graph.graph import CommitmentGraph, Floats, Nodes
    from recommit.puzzles.puzzle import Puzzle
    from recommit.train.options import HeadOptions


#: Training ranges of the price of an action, and of an observation in actions; both log-uniform.
ACTION, RATIO = (0.0025, 0.02), (0.125, 8.0)
#: Every FREE-th update has zero prices.
FREE = 8
#: Prices over which a check on the held-out starts averages.
CHECKED = (Prices(), *(Prices(0.01, 0.01 * ratio) for ratio in (0.125, 0.5, 1.0, 2.0, 4.0)))
#: Batch size in nodes.
PIECE = 8192
#: Clipping of targets: smallest probability, largest absolute advantage.
LEAST, MOST = 1e-6, 8.0
#: Number of checks per fit, and share of the start groups that is held out for them.
CHECKS, HELD = 8, 0.25
#: Default prices of the saved policy; evaluations may set others.
USUAL = Prices(0.01, 0.01)
NO_WORLD_MODEL = "policy: expected one with a world model (recommit train world-model), got one without"


@dataclass(frozen=True)
class HeadTraining:
    """Hyper-parameters of the head and its updates."""

    features: str = "conditioned"
    lr: float = 3e-3
    hidden: int = 64
    states: int = 2048
    steps: int = 12
    updates: int = 80
    seed: int = 0

    @property
    def head(self) -> HeadConfig:
        """Configuration of the policy's head."""
        return HeadConfig(self.features, self.hidden, gelu="tanh")


@dataclass(frozen=True, eq=False)
class HeadProblem:
    """Choosing depths (the graph's columns) on a graph; ``budgets`` are spread evenly over the episodes."""

    graph: CommitmentGraph
    budgets: tuple[int, ...]
    #: Start nodes of the episodes.
    starts: Nodes
    #: [N] fewest commitments after which an episode can be at a node; the number of nodes if never.
    earliest: Nodes
    prices: Prices
    #: [N] mask of the training nodes; other nodes have values, but no loss. None: all.
    learnable: NDArray[np.bool_] | None = None

    @classmethod
    def of(
        cls,
        graph: CommitmentGraph,
        depths: Sequence[int],
        budgets: Sequence[int],
        learnable: NDArray[np.bool_] | None = None,
    ) -> HeadProblem:
        """The problem for all starts of a graph."""
        budget = f"one for {graph.budget} observations; build it without --budget"
        refuse(
            (not graph.closed, "graph", "one whose edges all lead to nodes", "one that was cut"),
            (graph.budget, "graph", "one of every state", budget),
            (min(budgets, default=0) < 1, "budgets", "numbers from 1 on", tuple(budgets)),
        )
        graph, starts = graph.only(tuple(depths)), graph.starts.astype(np.int64)
        return cls(graph, tuple(budgets), starts, _earliest(graph, starts), Prices(), learnable)

    def within_reach(self) -> HeadProblem:
        """Mask nodes that no episode reaches: the graph may have been built with more depths than the head."""
        planned = self.graph.planned & (self.earliest < self.longest)
        return replace(self, graph=replace(self.graph, planned=planned))

    def split(self, held: float, seed: int) -> tuple[HeadProblem, HeadProblem]:
        """Split the starts by whole groups into a training and a held-out problem; ``held`` is the held-out share,
        drawn by ``seed``. Duplicates of a state are on one side."""
        _, first, same = np.unique(self.starts, return_index=True, return_inverse=True)
        groups, names = np.unique(self.graph.groups[first[same]], return_inverse=True)
        order = np.argsort(rng.draw(rng.streams(seed, rng.Purpose.SHUFFLE, np.arange(len(groups))), 0))
        away = np.isin(names, order[: max(1, round(held * len(groups)))])
        if away.all():
            raise ValueError(f"graph: expected starts in at least 2 groups, some to learn from, got {len(groups)}")
        parts = (self.starts[~away], self.starts[away])
        learn, check = (replace(self, starts=part, earliest=_earliest(self.graph, part)) for part in parts)
        return learn, check

    @property
    def depths(self) -> tuple[int, ...]:
        """The depths to choose from."""
        return self.graph.depths

    @property
    def longest(self) -> int:
        """The largest budget."""
        return max(self.budgets)

    @cached_property
    def rows(self) -> Nodes:
        """The nodes at which a depth is chosen."""
        return self.graph.rows

    @cached_property
    def evaluation(self) -> PolicyEvaluation:
        """Exact values, visits and advantages."""
        return PolicyEvaluation(
            self.graph, self.starts, self.longest, self.prices, self.budgets, learnable=self.learnable
        )

    def returns(self, columns: Nodes) -> list[float]:
        """Mean return by budget of episodes that take the columns [K, rows], with row k - 1 for k observations left."""
        chosen = np.zeros((*columns.shape[:-1], len(self.graph)), np.int64)
        chosen[..., self.rows] = columns
        played = [play(self.graph, self.starts, budget, by_state(chosen, budget)) for budget in self.budgets]
        return [float(self.prices.returns(*each.outcome()).mean()) for each in played]


def _earliest(graph: CommitmentGraph, starts: Nodes) -> Nodes:
    result = np.full(len(graph), len(graph))
    here, commitments = np.unique(starts), 0
    while len(here):
        result[here] = commitments
        there = np.unique(graph.landing[here[graph.planned[here] & ~graph.goal[here]]])
        here, commitments = there[result[there] == len(graph)], commitments + 1
    return result


def advantages(problem: HeadProblem, probs: Floats) -> tuple[Floats, Floats]:
    """Visit shares [K + 1, rows], and advantages Q - V [K + 1, rows, depths] normalized to mean square 1, by
    observations left; ``probs`` has the same axes. Row 0 has no share: no choice is made with none left."""
    evaluation = problem.evaluation
    advantage, share = evaluation.advantages_by_budget(probs), evaluation.visits(probs)
    share[0] = 0.0
    share /= share.sum()
    scale = np.sqrt((share[..., None] * probs * advantage**2).sum())
    return share, advantage / max(float(scale), 1e-9)


def weighted_target(probs: Floats, advantage: Floats) -> Floats:
    """Improved probabilities [N, depths]: ``probs`` times exp(advantage), normalized. Probabilities are floored at
    ``LEAST``, so that every depth stays possible; advantages are clipped to ``MOST``."""
    result: Floats = np.maximum(probs, LEAST) * np.exp(advantage.clip(-MOST, MOST))
    result /= result.sum(axis=-1, keepdims=True)
    return result


def drawn(edges: Floats, seed: int, number: int, count: int) -> NDArray[np.int64]:
    """Sample ``count`` indices in proportion to weights whose cumulative sums are ``edges``."""
    uniform = rng.uniform(rng.streams(seed, rng.Purpose.ORDER, np.arange(count)), number)
    return np.searchsorted(edges, uniform * edges[-1], side="right").clip(max=len(edges) - 1)


class ConditionedInputs:
    """Inputs of the head at the nodes of a graph, by prices and observations left."""

    def __init__(self, policy: CommitPolicy, task: Puzzle, problem: HeadProblem, features: str = "conditioned") -> None:
        graph, rows, parts = problem.graph, problem.rows, []
        if "z" in FEATURES[features]:
            if graph.features is None:
                raise ValueError("graph: expected one with features (recommit graph build --features), got none")
            parts = [torch.from_numpy(graph.features[rows])]
        logs = torch.from_numpy(np.log(np.maximum(graph.probs[rows].astype(np.float64), 1e-30)))
        pieces = [rows[begin : begin + PIECE] for begin in range(0, len(rows), PIECE)]
        #: The world model's predictions at the nodes.
        self.expected = torch.cat([_expected(policy, task, problem, piece) for piece in pieces])
        #: Inputs that do not depend on prices and budget.
        self.own = torch.cat([*parts, confidence(logs).float(), self.expected], dim=1)

    def __call__(
        self, rows: NDArray[np.int64] | slice, remaining: NDArray[np.int64] | int, prices: Prices
    ) -> torch.Tensor:
        """Inputs [rows, features] for indices into ``problem.rows``."""
        own = self.own[rows]
        left = np.broadcast_to(remaining, len(own))
        return torch.cat([own, conditions(left, prices, len(own))], dim=1)


def _expected(policy: CommitPolicy, task: Puzzle, problem: HeadProblem, nodes: Nodes) -> torch.Tensor:
    graph = problem.graph
    cells = policy.vision.kinds(task, graph.states[nodes])
    if policy.world_model is None or cells is None:
        raise ValueError(NO_WORLD_MODEL)
    with torch.no_grad():
        return policy.world_model(cells, torch.from_numpy(graph.plans[nodes]).long(), problem.depths)


class ConditionedLearner:
    """The head and its updates, deterministic given the seed."""

    def __init__(self, problem: HeadProblem, inputs: ConditionedInputs, config: HeadTraining) -> None:
        self.problem, self.inputs, self.config = problem, inputs, config
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(config.seed)
            self.head = self._new()
        rows = np.flatnonzero(problem.evaluation.learnable[problem.rows])[::17]
        some = [inputs(rows, k, prices) for k in (1, problem.longest) for prices in CHECKED]
        every = torch.cat(some)
        #: Input normalization during training.
        self.mean, self.deviation = every.mean(dim=0), every.std(dim=0).clamp(min=1e-3)
        self._optimizer = torch.optim.Adam(self.head.parameters(), lr=config.lr)

    def _new(self) -> DepthHead:
        features = self.problem.graph.features
        width = 0 if features is None else features.shape[1]
        return DepthHead(width, len(self.problem.depths), self.config.head)

    def log_probs(
        self, rows: NDArray[np.int64] | slice, remaining: NDArray[np.int64] | int, prices: Prices
    ) -> torch.Tensor:
        """Log probabilities of the depths."""
        read = (self.inputs(rows, remaining, prices) - self.mean) / self.deviation
        return F.log_softmax(self.head(read), dim=-1)

    def probs(self, problem: HeadProblem) -> Floats:
        """Depth probabilities [K + 1, rows, depths] by observations left; 0 where no episode can have that many left.

        The conditions only shift the hidden pre-activations, so the rest is computed once per node.
        """
        result = np.zeros((problem.longest + 1, len(problem.rows), len(problem.depths)))
        head, left, prices = self.without_norm(), np.arange(1, problem.longest + 1), problem.prices
        assert head.hidden is not None
        earliest = problem.earliest[problem.rows]
        order = np.argsort(earliest, kind="stable")
        within = np.searchsorted(earliest[order], problem.longest - left, side="right")
        own, told = head.hidden.weight[:, :-CONDITIONS], head.hidden.weight[:, -CONDITIONS:]
        with torch.no_grad():
            shifts = conditions(left, prices, len(left)) @ told.T
            for begin in range(0, len(order), PIECE):
                rows = order[begin : begin + PIECE]
                sums = F.linear(self.inputs.own[rows], own, head.hidden.bias)
                for k, shift, most in zip(left, shifts, within - begin, strict=True):
                    near = rows[: max(most, 0)]
                    logits = head.from_hidden(sums[: len(near)] + shift)
                    result[k, near] = logits.double().softmax(dim=-1).numpy()
        return result

    def update(self, number: int) -> None:
        """One evaluation under newly drawn prices, and ``config.steps`` optimizer steps on it."""
        config, prices = self.config, self._prices(number)
        problem = replace(self.problem, prices=prices)
        probs = self.probs(problem)
        share, advantage = advantages(problem, probs)
        edges = np.cumsum(share.ravel())
        for step in range(config.steps):
            picks = drawn(edges, config.seed, (1 << 32) + number * config.steps + step, config.states)
            remaining, rows = np.divmod(picks, len(self.problem.rows))
            logs = self.log_probs(rows, remaining, prices)
            target = torch.from_numpy(weighted_target(probs[remaining, rows], advantage[remaining, rows])).to(logs)
            self._optimizer.zero_grad()
            (-(target * logs).sum(-1).mean()).backward()
            torch.nn.utils.clip_grad_norm_(self.head.parameters(), 10.0)
            self._optimizer.step()

    def _prices(self, number: int) -> Prices:
        if not number % FREE:
            return Prices()
        first, second = rng.uniform(rng.streams(self.config.seed, rng.Purpose.ORDER, np.arange(2)), number)
        action = ACTION[0] * (ACTION[1] / ACTION[0]) ** first
        return Prices(action, action * RATIO[0] * (RATIO[1] / RATIO[0]) ** second)

    def value(self, held: HeadProblem) -> float:
        """Mean return of the greedy depths on held-out starts, over the prices of ``CHECKED``."""
        checked = [replace(held, prices=prices) for prices in CHECKED]
        return float(np.mean([each.returns(self.probs(each)[1:].argmax(axis=2)) for each in checked]))

    def without_norm(self) -> DepthHead:
        """The head with the input normalization folded into its weights."""
        assert self.head.hidden is not None
        result = self._new()
        result.load_state_dict(self.head.state_dict())
        assert result.hidden is not None
        with torch.no_grad():
            scaled = self.head.hidden.weight.double() / self.deviation.double()
            result.hidden.weight.copy_(scaled)
            result.hidden.bias.copy_(self.head.hidden.bias.double() - scaled @ self.mean.double())
        return result


@torch_settings(1, inference=True)
def train_head(options: HeadOptions, tell: Callable[[str], None]) -> dict[str, Any]:
    """Train a head on a graph, and save the policy with it; returns the record of the best check."""
    refuse_foreign(options.out, ("heads.safetensors", "config.json"), "a head")
    refuse((options.updates < 1, "updates", "at least 1", options.updates))
    graph = files.read(options.graph)
    named = "one that recommit graph build wrote of a run, which names its data"
    refuse(("data" not in graph.source, "graph", named, "none"))
    starts, named = str(graph.source.get("starts")), "one from training starts (recommit graph build --split train)"
    refuse((not starts.endswith(" of train"), "graph", named, starts))
    policy: CommitPolicy = CommitPolicy.from_pretrained(options.policy).eval()
    policy.replace_augmentations(int(graph.source.get("augmentations", 1)))
    trained = learnable(DataSpec.from_dict(graph.source["data"]), graph.states)
    problem = HeadProblem.of(graph, policy.config.depths, options.budget or graph.usual_budgets, trained)
    learn, held = problem.within_reach().split(HELD, options.seed)
    training = HeadTraining(options.features, updates=options.updates, seed=options.seed)
    record = fit(policy, graph.puzzle, learn, held, training, tell)
    policy.replace_prices(USUAL)
    with policy_folder(options.out) as folder:
        policy.save_pretrained(folder)
    return record


def fit(
    policy: CommitPolicy,
    task: Puzzle,
    learn: HeadProblem,
    held: HeadProblem,
    config: HeadTraining,
    tell: Callable[[str], None] = lambda _line: None,
) -> dict[str, Any]:
    """Fit a head for a policy with a world model and install the best by checks on the ``held`` starts; returns the
    record."""
    _refuse_other_plans(policy, task, learn)
    inputs = ConditionedInputs(policy, task, learn, config.features)
    best, record = _best_check(ConditionedLearner(learn, inputs, config), held, tell)
    policy.replace_head(config.head, depths=learn.depths)
    policy.depth_head.load_state_dict(best.state_dict())
    return record


def _best_check(
    learner: ConditionedLearner, held: HeadProblem, tell: Callable[[str], None]
) -> tuple[DepthHead, dict[str, Any]]:
    """Run all updates; returns the head of the best check, and the record."""
    updates, curve, best = learner.config.updates, [], None
    for number in range(updates):
        learner.update(number)
        done = number + 1
        if done * CHECKS // updates == number * CHECKS // updates:
            continue
        value = learner.value(held)
        curve.append({"updates": done, "value": value})
        tell(f"update {done}, value {100 * value:.2f}")
        if best is None or value > best[0]:
            best = value, done, learner.without_norm()
    assert best is not None  # the last update is always checked
    return best[2], {"value": best[0], "updates": best[1], "curve": curve}


def _refuse_other_plans(policy: CommitPolicy, task: Puzzle, problem: HeadProblem) -> None:
    """Refuse a graph of another policy's plans: a head trained on it would not fit this policy."""
    nodes = problem.rows[:32]
    _, plans = policy.act(task, problem.graph.states[nodes], depth=1, remaining=np.ones(len(nodes), np.int64))
    if not np.array_equal(plans, problem.graph.plans[nodes]):
        raise ValueError("graph: expected one of this policy's plans (with as many --augmentations), got one of others")
