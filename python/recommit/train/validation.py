"""Validation of the policy on held-out instances."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from recommit import rng
from recommit.data import labels, sampling
from recommit.graph.build import PolicyGraph
from recommit.graph.episodes import always, head, play, sampled
from recommit.policy.config import PLAN_LENGTH
from recommit.runs.distributed import rank_batches, split_batches
from recommit.storage import errors
from recommit.train.config import TargetConfig
from recommit.train.sft import loss, targets

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from recommit.data.spec import DataSpec
    from recommit.graph.episodes import Chooser, Episodes
    from recommit.policy.policy import CommitPolicy
    from recommit.prices import Prices
    from recommit.puzzles.puzzle import Puzzle
    from recommit.rollout.variants import Variant
    from recommit.train.config import ValidationConfig
    from recommit.train.engine.base import Engine
    from recommit.train.sft.targets import Targets


@dataclass(frozen=True)
class ValidationTask:
    """The validation set of one puzzle; a run on several data sets has several."""

    name: str
    task: Puzzle
    config: ValidationConfig
    starts: NDArray[np.uint8]
    #: States on optimal paths, with their targets.
    states: Targets


def tasks_of(
    name: str, spec: DataSpec, config: ValidationConfig, length: int = PLAN_LENGTH, budget: int = 15
) -> list[ValidationTask]:
    """The validation tasks of a recipe: instances of its validation split, whose start states alone keep them out of
    all training data. Plans are compared over ``length`` actions, by prompts that show up to ``budget`` decisions, if
    they show any. Empty if ``config.instances`` is 0."""
    if not config.instances:
        return []
    wanted = replace(spec, validation=config.instances, shard=max(spec.shard, config.instances))
    wanted = wanted.of_length(config.length or ())
    if not wanted.difficulties:
        raise errors.WrongDataSpec("validation.length: expected the lengths to validate on, since the data names none")
    task = spec.puzzle()
    starts = _starts(wanted)
    solutions = task.solve(starts, ties="random", seed=1, threads=1)
    optimal = np.asarray(solutions.length)
    place = rng.below(rng.draw(rng.streams(1, rng.Purpose.PLACE, np.arange(len(optimal))), 0), np.maximum(optimal, 1))
    plans = np.zeros((len(optimal), max(int(place.max(initial=0)), 1)), np.uint8)
    for i, (begin, steps) in enumerate(zip(solutions.offsets[:-1], place, strict=True)):
        plans[i, :steps] = solutions.actions[begin : begin + steps]
    rows = labels.label(task, task.execute(starts, plans, place.astype(np.int32), threads=1).states)
    states = targets.make(task, rows, TargetConfig(budget=budget), seed=1, first=0, length=length)
    return [ValidationTask(name, task, config.of(task), starts, states)]


def _starts(wanted: DataSpec) -> NDArray[np.uint8]:
    """The start states; on the smallest boards, which have too few, about as many as exist."""
    try:
        return sampling.starts(wanted, "validation", 0).states
    except errors.NotEnough:
        if wanted.validation < 2:
            raise
        return _starts(replace(wanted, validation=wanted.validation * 3 // 4))


@torch.no_grad()
def measure(policy: CommitPolicy, task: ValidationTask, engine: Engine) -> dict[str, Any]:
    """Loss and accuracy on the states, and solve rates of the fixed depths; in eval mode."""
    training = policy.training
    policy.eval()
    try:
        return {**imitation(policy, task, engine), **episodes(policy, task, engine)}
    finally:
        policy.train(training)


def imitation(policy: CommitPolicy, task: ValidationTask, engine: Engine) -> dict[str, Any]:
    """``loss`` per action, ``accuracy`` per position after an optimal prefix, and ``optimal``, that of first actions;
    the states are divided among ranks."""
    config, states, team = TargetConfig(depths=policy.config.depths), task.states, engine.team
    total, length = max(loss.total_weight(states, config), 1.0), states.actions.shape[1]
    sums = np.zeros(1 + 2 * length)  # loss, then correct and counted actions by position
    for rows in rank_batches(split_batches(np.arange(len(states)), team.world), team, engine.equal_passes):
        part = states[rows] if len(rows) else targets.nothing(states)
        value, logits = engine.run(partial(loss.sft_loss, policy, task.task, part, config, total))
        hits, live = loss.accuracy(logits, torch.from_numpy(part.optimal).to(logits.device))
        if len(rows):
            sums += np.concatenate([[float(value)], hits.cpu().numpy(), live.cpu().numpy()])
    per_action, right, counted = np.split(team.all_reduce_sum(sums.tolist()), [1, 1 + length])
    accuracy = right / np.maximum(counted, 1)
    return {
        "loss": round(float(per_action[0]), 6),
        "optimal": round(float(accuracy[0]), 4),
        "accuracy": [round(float(a), 4) for a in accuracy],
    }


def episodes(policy: CommitPolicy, task: ValidationTask, engine: Engine) -> dict[str, Any]:
    """Greedy episodes at each fixed depth: solve rate within the budget, and actions per episode."""
    depths, budget = policy.config.depths, task.config.budget
    graph = PolicyGraph(policy, task.task, depths, run_pass=engine.run, team=engine.team, together=engine.equal_passes)
    nodes = graph.nodes(task.starts, budget)
    return rates({str(depth): play(graph, nodes, budget, always(graph, depth)) for depth in depths})


def of_variant(
    graph: PolicyGraph, variant: Variant, task: ValidationTask, budgets: tuple[int, ...], prices: Prices
) -> dict[str, Any]:
    """Episodes of a variant's own agent and of controls for its depth head (depths sampled from it, and drawn from its
    mean distribution in every state); the own agent's solve rate within each of ``budgets``, and its value at these
    prices, averaged over them."""
    starts, budget, choose = task.starts, task.config.budget, _own_agent(graph, variant)
    nodes = graph.nodes(starts, budget)
    own = play(graph, nodes, budget, choose)
    agents = {str(variant.depth or "uniform"): own}
    if variant.head:
        share = own.depths / max(own.depths.sum(), 1)
        controls = {"sampled": sampled(graph, None, 0), "shuffled": sampled(graph, share, 1)}
        agents = {"adaptive": own, **{name: play(graph, nodes, budget, each) for name, each in controls.items()}}
    every = {k: play(graph, graph.nodes(starts, k), k, choose) for k in sorted({budget, *budgets})}
    by_budget = {str(k): round(one.solve_rate, 4) for k, one in every.items()}
    return {**rates(agents), "by_budget": by_budget, "value": round(value(list(every.values()), prices), 5)}


def _own_agent(graph: PolicyGraph, variant: Variant) -> Chooser:
    """The chooser of a variant's depths, greedy where it has a head."""
    if variant.depth:
        return always(graph, variant.depth)
    return head(graph) if variant.head else sampled(graph, np.full(len(graph.depths), 1 / len(graph.depths)), 0)


def value(played: list[Episodes], prices: Prices) -> float:
    """Solve rate minus prices of actions and observations, averaged over budgets."""
    each = (prices.returns(one.solve_rate, one.mean_actions, one.mean_observations) for one in played)
    return float(sum(each) / len(played))


def rates(episodes: dict[str, Episodes]) -> dict[str, Any]:
    """Solve rate and actions per episode, by name."""
    return {
        "solved": {name: round(played.solve_rate, 4) for name, played in episodes.items()},
        "actions": {name: round(played.mean_actions, 2) for name, played in episodes.items()},
    }


def mean_over_sets(measured: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Combine validations by data set: a single one as it is, several as their mean with each under ``sets``."""
    if len(measured) == 1:
        return next(iter(measured.values()))
    return {**mean_of(list(measured.values())), "sets": measured}


def mean_of(values: list[Any]) -> Any:
    """Mean of numbers, rounded to six decimals, or of nested lists and mappings, over those that have a key."""
    if isinstance(values[0], dict):
        names = dict.fromkeys(name for each in values for name in each)
        return {name: mean_of([each[name] for each in values if name in each]) for name in names}
    if isinstance(values[0], list):
        return [mean_of(list(each)) for each in zip(*values, strict=True)]
    return round(sum(values) / len(values), 6)


def score(validation: dict[str, Any]) -> tuple[float, ...]:
    """Sort key for the best policy, larger is better: the ``value`` of the run's own agent, without controls (if none:
    the solve rate of the best fixed depth), then minus the loss. Averaged over data sets."""
    every = [
        (each.get("value", max(each["solved"].values())), -each["loss"])
        for each in validation.get("sets", {"": validation}).values()
    ]
    return tuple(sum(column) / len(every) for column in zip(*every, strict=True))


def line_of(validation: dict[str, Any]) -> str:
    """One-line summary of a validation."""
    if "sets" in validation:
        return "; ".join(f"{name}: {line_of(each)}" for name, each in validation["sets"].items())
    rates = "  ".join(
        f"{f'h={depth}' if depth.isdigit() else depth}: {100 * rate:.1f}% at {validation['actions'][depth]:.0f}"
        for depth, rate in validation["solved"].items()
    )
    return f"solved {rates}  optimal {100 * validation['optimal']:.1f}%  loss {validation['loss']:.4f}"
