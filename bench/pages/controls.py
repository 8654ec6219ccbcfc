"""The networks of a world model, used to choose the plan instead of the depth, or both, at the same cost; and other
policies at fixed depths, which had the world model's training time themselves.

    python -m bench.pages.controls sokoban-7x7 --fresh 60 --views 1 --csv docs/results/choice-controls.csv
    python -m bench.pages.controls sokoban-7x7 --others larger=RUN longer=RUN --fresh 60 --csv controls.csv

Plans are the greedy one and sampled ones; the first part of each is predicted, and that of the least distance executed.
Fixed depths are chosen on validation levels. Several policies, or runs with commas, are seeds of one method.
"""

from __future__ import annotations

import argparse
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

import recommit
from recommit import rng
from recommit.data import held_out
from recommit.policy.checkpoint import local_folder
from recommit.policy.flop_counter import Watch
from recommit.policy.tensors import to_device
from recommit.results.intervals import difference
from recommit.results.table import NONE, Grid, number, spread
from recommit.runs.directory import recipe_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Plans to choose among, and depths: a single one is fixed.
PLANS, CHOSEN = (1, 2, 4), ((2, 4, 8), (4, 6, 8))
FIXED = tuple((depth,) for depth in range(4, 9))
How = tuple[int, tuple[int, ...]]
#: Of the pass whose FLOPs are counted: they share the kinds of their cells.
STATES = 32


@torch.no_grad()
def decide(
    policy: recommit.CommitPolicy,
    puzzle: recommit.Puzzle,
    states: NDArray[np.uint8],
    turn: int,
    plans: int,
    depths: tuple[int, ...],
) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
    """The plan and the depth with the least predicted distance; ties to the greedy plan and the smaller depth."""
    z, index, rows = policy.encode(puzzle, states), policy.task_index(puzzle), len(states)
    every = [policy.decoder.plans(z, index)[0]]
    for plan in range(1, plans):
        numbers = np.arange(rows, dtype=np.uint64) + np.uint64(turn * 4096 + plan * 65536)
        drawn = rng.uniforms(rng.streams(0, rng.Purpose.SAMPLE, numbers), 4 * policy.config.plan_length)
        every.append(policy.decoder.plans(z, index, noise=to_device(drawn, z.device).view(rows, -1, 4).to(z))[0])
    candidates = torch.stack(every, 1)
    if plans == len(depths) == 1 or policy.world_model is None:
        return candidates[:, 0].byte().numpy(), np.full(rows, depths[0], np.int32)
    cells = torch.repeat_interleave(policy.vision.kinds(puzzle, states), plans, dim=0)
    ahead = policy.world_model(cells, candidates.flatten(0, 1), depths, False).unflatten(-1, (2, -1))[:, 0, 1:]
    best = ahead.reshape(rows, -1).argmin(-1)
    chosen = candidates[torch.arange(rows), best // len(depths)]
    return chosen.byte().numpy(), np.array(depths, np.int32)[(best % len(depths)).numpy()]


def played(
    policy: recommit.CommitPolicy,
    puzzle: recommit.Puzzle,
    starts: NDArray[np.uint8],
    budget: int,
    plans: int,
    depths: tuple[int, ...],
) -> NDArray[np.int64]:
    """[3, episodes]: solved, actions, observations."""
    states, result = starts.copy(), np.zeros((3, len(starts)), np.int64)
    for turn in range(budget):
        who = np.flatnonzero(result[0] == 0)
        for part in np.split(who, range(512, len(who), 512)):
            if len(part):
                actions, depth = decide(policy, puzzle, states[part], turn, plans, depths)
                outcome = puzzle.execute(states[part], actions, depth)
                states[part] = outcome.states
                result[:, part] += np.stack([outcome.solved, outcome.executed, np.ones_like(depth)])
    return result


def evaluated(run: str, fresh: int, levels: int, views: int, how: How) -> dict[str, NDArray[Any]]:
    """By split and budget, how the episodes of a policy end; and the cost of an observation."""
    policy, recipe = recommit.CommitPolicy.from_pretrained(local_folder(run)).eval(), recipe_of(run)
    policy.replace_augmentations(views, 1)
    puzzle = recipe.puzzle()
    test = held_out.fresh(recipe, fresh, levels, ()) if fresh else held_out.starts(recipe, "test", levels, ())
    splits = {"test": test.states, "validation": held_out.starts(recipe, "validation", 512, ()).states}
    with Watch() as watch:
        decide(policy, puzzle, test.states[:STATES], 0, *how)
    found = {"mflops": np.array(watch.flops / STATES / 1e6)}
    for (split, starts), (budget, k) in product(splits.items(), puzzle.budgets(puzzle.shape).items()):
        found[f"{split} {budget}"] = played(policy, puzzle, starts, k, *how)
    return found


def lines(policies: list[str], others: dict[str, list[str]], fresh: int, levels: int, views: int) -> list[list[str]]:
    """The best fixed depth of one plan, then each choice beside it, and the best fixed depth of each other method."""
    hows = [*product((1,), FIXED), *product(PLANS[1:], FIXED), *product(PLANS, CHOSEN)]
    methods: dict[str, dict[How, list[dict[str, NDArray[Any]]]]] = {
        "": {how: [evaluated(run, fresh, levels, views, how) for run in policies] for how in hows}
    }
    for name, runs in others.items():
        methods[name] = {how: [evaluated(run, fresh, levels, views, how) for run in runs] for how in hows[: len(FIXED)]}
    recipe = recipe_of(policies[0])
    starts = held_out.fresh(recipe, fresh, levels, ()) if fresh else held_out.starts(recipe, "test", levels, ())
    rooms, result = held_out.rooms(recipe, starts.states), []
    agents = [*product(("",), PLANS, ((), *CHOSEN)), *product(others, (1,), ((),))]
    for budget in recipe.puzzle().budgets(recipe.puzzle().shape):

        def best(name: str, seed: int, plans: int) -> How:
            every = methods[name]
            rates = {how: every[how][seed][f"validation {budget}"][0].mean() for how in product((plans,), FIXED)}  # noqa: B023
            return max(rates, key=lambda how: rates[how])

        base = [methods[""][best("", seed, 1)][seed] for seed in range(len(policies))]
        played_by_base: NDArray[Any] = np.stack([each[f"test {budget}"] for each in base])
        plain = np.mean([each["mflops"] for each in base])
        for name, plans, depths in agents:
            many = range(len(others.get(name, policies)))
            own = [(plans, depths) if depths else best(name, seed, plans) for seed in many]
            ends: NDArray[Any] = np.stack([methods[name][how][seed][f"test {budget}"] for seed, how in enumerate(own)])
            cost = float(np.mean([methods[name][how][seed]["mflops"] for seed, how in enumerate(own)]) / plain)
            solved, actions, observations = map(float, ends.mean((0, 2)))
            one, other = (found[0, 0] if len(own) == 1 else found[:, 0] for found in (ends, played_by_base[: len(own)]))
            beyond = spread(difference(one, other, rooms), 1, 100, sign=True) if depths or name or plans > 1 else NONE
            named = " ".join(map(str, depths)) or "fixed " + " ".join(dict.fromkeys(str(how[1][0]) for how in own))
            figures = [number(100 * solved), number(actions, 2), number(observations, 3), number(cost, 2)]
            figures.append(number(cost * observations / float(played_by_base.mean((0, 2))[2]), 2))
            result.append([str(views), budget, name or str(plans), named, *figures, beyond])
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("policies", nargs="+", help="runs with a world model's head, or names of recommit policies")
    parser.add_argument("--others", nargs="+", default=[], help="NAME=RUN[,RUN...]: runs of the same seeds, in order")
    parser.add_argument("--fresh", type=int, default=0, help="seed of a fresh split (0: the data's test split)")
    parser.add_argument("--levels", type=int, default=1024)
    parser.add_argument("--views", type=int, nargs="+", default=[1, 8], help="augmentations of the policy's picture")
    parser.add_argument("--csv", type=Path, required=True)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    others = {name: runs.split(",") for name, _, runs in (each.partition("=") for each in asked.others)}
    rows = [line for views in asked.views for line in lines(asked.policies, others, asked.fresh, asked.levels, views)]
    header = ("views", "budget", "plans or method", "depths", "solved, %", "actions", "observations")
    costs = ("times FLOPs / observation", "times FLOPs / episode")
    grid = Grid.of((*header, *costs, "points beyond fixed (95 %)"), rows)
    asked.csv.write_text(grid.csv(), encoding="utf-8")
    print(grid.markdown())


if __name__ == "__main__":
    main()
