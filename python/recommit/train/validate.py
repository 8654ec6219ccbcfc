"""How good the policy is on instances that no training set contains."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
import torch

from recommit.data import draws, errors, labels, sampling
from recommit.data.recipe import Variant
from recommit.policy.config import MAX_ACTIONS
from recommit.train import losses, targets
from recommit.train.config import TargetConfig

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from recommit.data.recipe import Recipe
    from recommit.policy.policy import CommitPolicy
    from recommit.puzzles.puzzle import Puzzle
    from recommit.train.config import ValidationConfig
    from recommit.train.engine import Engine
    from recommit.train.targets import Targets

T = TypeVar("T")

#: Purpose of the random stream that says where on its path a state is taken.
PLACE = 34
#: States per pass.
BATCH = 512


class Run(Protocol):
    """How a pass through the policy is made; see ``Engine.run``."""

    def __call__(self, work: Callable[[], T]) -> T:
        """The result of ``work``."""


def _plainly(work: Callable[[], T]) -> T:
    return work()


@dataclass(frozen=True)
class Instances:
    """What is validated on: start states, and states on the way with what is optimal there."""

    starts: NDArray[np.uint8]
    states: Targets


def instances(recipe: Recipe, config: ValidationConfig, *, threads: int | None = 1) -> Instances:
    """Instances of the validation split: by their start states alone, they are in nobody's training data."""
    wanted = replace(recipe, validation=config.instances, shard=max(recipe.shard, config.instances))
    if config.length:
        boxes = sorted({variant.boxes for variant in recipe.variants}) or [0]
        wanted = replace(wanted, variants=tuple(Variant((config.length[0], config.length[1]), b) for b in boxes))
    if not wanted.variants:
        raise errors.WrongRecipe("validation.length: expected the lengths to validate on, since the data names none")
    task = recipe.puzzle()
    starts = _starts(wanted, threads)
    solutions = task.solve(starts.states, ties="random", seed=1, threads=threads)
    length = np.asarray(solutions.length)
    place = draws.below(draws.draw(draws.streams(1, PLACE, np.arange(len(length))), 0), np.maximum(length, 1))
    plans = np.zeros((len(length), max(int(place.max(initial=0)), 1)), np.uint8)
    for i, (begin, steps) in enumerate(zip(solutions.offsets[:-1], place, strict=True)):
        plans[i, :steps] = solutions.actions[begin : begin + steps]
    states = task.execute(starts.states, plans, place.astype(np.int32), threads=threads).states
    rows = labels.label(task, states, threads=threads)
    return Instances(starts.states, targets.make(task, rows, TargetConfig(), seed=1, first=0, threads=threads))


def _starts(wanted: Recipe, threads: int | None) -> sampling.Starts:
    """As many as asked for, or on the smallest boards, which have few, about as many as there are."""
    try:
        return sampling.starts(wanted, "validation", 0, threads=threads)
    except errors.NotEnough:
        if wanted.validation < 2:
            raise
        return _starts(replace(wanted, validation=wanted.validation * 3 // 4), threads)


@torch.no_grad()
def measure(
    policy: CommitPolicy, task: Puzzle, given: Instances, config: ValidationConfig, engine: Engine | None = None
) -> dict[str, Any]:
    """Loss and accuracy on the states, and how many starts each fixed depth solves; dropout is off meanwhile."""
    training = policy.training
    policy.eval()
    through: Run = engine.run if engine else _plainly
    agree = engine.team.largest if engine else int
    try:
        found = imitation(policy, task, given.states, through)
        return {**found, **episodes(policy, task, given.starts, config, through, agree)}
    finally:
        policy.train(training)


def imitation(policy: CommitPolicy, task: Puzzle, states: Targets, through: Run = _plainly) -> dict[str, Any]:
    """``loss`` per action, ``accuracy`` per position after an optimal prefix, ``optimal`` first actions."""
    config = TargetConfig()
    total = losses.total_weight(states, config)
    loss, right, asked = 0.0, np.zeros(8), np.zeros(8)
    for begin in range(0, len(states), BATCH):
        part = states[begin : begin + BATCH]
        value, logits = through(partial(losses.sft_loss, policy, task, part, config, total))
        hits, live = losses.accuracy(logits, torch.from_numpy(part.optimal).to(logits.device))
        loss += float(value)
        right, asked = right + hits.cpu().numpy(), asked + live.cpu().numpy()
    accuracy = right / np.maximum(asked, 1)
    return {
        "loss": round(loss, 6),
        "optimal": round(float(accuracy[0]), 4),
        "accuracy": [round(float(a), 4) for a in accuracy],
    }


def episodes(
    policy: CommitPolicy,
    task: Puzzle,
    starts: NDArray[np.uint8],
    config: ValidationConfig,
    through: Run = _plainly,
    agree: Callable[[int], int] = int,
) -> dict[str, Any]:
    """Greedy episodes at each fixed depth: share solved within the budget, and actions per episode."""
    planner = Planner(policy, task, through, agree)
    solved, actions = {}, {}
    for depth in config.depths:
        states, done, taken = starts, task.is_solved(starts), np.zeros(len(starts), np.int64)
        for _ in range(config.budget):
            alive = np.flatnonzero(~done)
            if not agree(len(alive)):
                break
            plans = planner.plans(states[alive], depth)
            outcome = task.execute(states[alive], plans, np.full(len(alive), depth, np.int32))
            states = states.copy()
            states[alive] = outcome.states
            done = done.copy()
            done[alive] = outcome.solved
            taken[alive] += outcome.executed
        solved[str(depth)] = round(float(done.mean()), 4)
        actions[str(depth)] = round(float(taken.mean()), 2)
    return {"solved": solved, "actions": actions}


class Planner:
    """Greedy plans, each state's made once: a deterministic policy in a cycle looks at the same states again."""

    def __init__(
        self, policy: CommitPolicy, task: Puzzle, through: Run = _plainly, agree: Callable[[int], int] = int
    ) -> None:
        self.policy, self.task, self.through, self.agree = policy, task, through, agree
        #: What a rank without questions asks, so that it goes through the model like the others.
        self.idle: NDArray[np.uint8] | None = None
        self._known: dict[tuple[int, bytes], NDArray[np.uint8]] = {}
        self._asks_depth = policy.config.decoder.depth_conditioning != "none"

    def plans(self, states: NDArray[np.uint8], depth: int) -> NDArray[np.uint8]:
        """Eight actions per state.

        All ranks go through the model equally often, with an idle state where one has nothing to ask: split weights
        are gathered by all ranks together, and ranks may differ by one rounding in one tie of one state.
        """
        keys = [(depth if self._asks_depth else 0, state.tobytes()) for state in states]
        missing = list({key: i for i, key in enumerate(keys) if key not in self._known}.values())
        for begin in range(0, self.agree(len(missing)), BATCH):
            chosen = missing[begin : begin + BATCH]
            asked = states[chosen] if chosen or self.idle is None else self.idle
            _, made = self.through(partial(self.policy.act, self.task, asked, depth=depth))
            self._known |= {keys[i]: plan for i, plan in zip(chosen, made[: len(chosen)], strict=True)}
            self.idle = asked[:1]
        return np.array([self._known[key] for key in keys], np.uint8).reshape(-1, MAX_ACTIONS)


def score(found: dict[str, Any]) -> tuple[float, float]:
    """Larger is better: the best fixed depth's solve rate, then the loss."""
    return max(found["solved"].values()), -found["loss"]
