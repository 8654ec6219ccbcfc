"""The networks of a world model, used to choose the plan instead of the depth, or both, at the same cost; and other
policies at fixed depths, which had the world model's training time themselves.

    python -m bench.pages.controls sokoban-7x7 --others larger=RUN longer=RUN --fresh 60 --csv choice-controls.csv

Plans are the greedy one and sampled ones; the first part of each is predicted, and that of the least distance executed.
Fixed depths are chosen on validation levels. Several policies, or runs with commas, are seeds of one method.
"""

from __future__ import annotations

import argparse
from functools import cache
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
Played = dict[str, "NDArray[Any]"]
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


@cache
def evaluated(run: str, fresh: int, levels: int, how: How) -> Played:
    """By split and budget, how the episodes of a policy end; and the cost of an observation."""
    policy, recipe = recommit.CommitPolicy.from_pretrained(local_folder(run)).eval(), recipe_of(run)
    policy.replace_augmentations(1, 1)
    puzzle = recipe.puzzle()
    test = held_out.fresh(recipe, fresh, levels, ()) if fresh else held_out.starts(recipe, "test", levels, ())
    splits = {"test": test.states, "validation": held_out.starts(recipe, "validation", 512, ()).states}
    with Watch() as watch:
        decide(policy, puzzle, test.states[:STATES], 0, *how)
    found = {"mflops": np.array(watch.flops / STATES / 1e6)}
    for (split, starts), (budget, k) in product(splits.items(), puzzle.budgets(puzzle.shape).items()):
        found[f"{split} {budget}"] = played(policy, puzzle, starts, k, *how)
    return found


def lines(methods: dict[str, list[str]], fresh: int, levels: int) -> list[list[str]]:
    """The best fixed depth of one plan, then each choice beside it, and the best fixed depth of each other method."""
    recipe = recipe_of(methods[""][0])
    starts = held_out.fresh(recipe, fresh, levels, ()) if fresh else held_out.starts(recipe, "test", levels, ())
    rooms, result = held_out.rooms(recipe, starts.states), []

    def picked(budget: str, name: str, plans: int, depths: tuple[int, ...]) -> list[tuple[How, Played]]:
        """Of each seed; without ``depths`` the fixed one that is best on validation levels."""
        hows = [(plans, depths)] if depths else [*product((plans,), FIXED)]
        seeds = [[(how, evaluated(run, fresh, levels, how)) for how in hows] for run in methods[name]]
        return [max(each, key=lambda one: one[1][f"validation {budget}"][0].mean()) for each in seeds]

    for budget in recipe.puzzle().budgets(recipe.puzzle().shape):
        base = picked(budget, "", 1, ())
        for name, plans, depths in (*product(("",), PLANS, ((), *CHOSEN)), *product([*methods][1:], (1,), ((),))):
            own = picked(budget, name, plans, depths)
            ends, others = (np.stack([each[f"test {budget}"] for _, each in every]) for every in (own, base))
            cost, plain = (float(np.mean([each["mflops"] for _, each in every])) for every in (own, base))
            solved, actions, observations = map(float, ends.mean((0, 2)))
            one, other = (each[0, 0] if len(own) == 1 else each[: len(own), 0] for each in (ends, others))
            beyond = spread(difference(one, other, rooms), 1, 100, sign=True) if depths or name or plans > 1 else NONE
            named = " ".join(map(str, depths)) or "fixed " + " ".join(dict.fromkeys(str(how[1][0]) for how, _ in own))
            figures = [number(100 * solved), number(actions, 2), number(observations, 3), number(cost / plain, 2)]
            figures.append(number(cost / plain * observations / float(others.mean((0, 2))[2]), 2))
            result.append([budget, name or str(plans), named, *figures, beyond])
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("policies", nargs="+", help="runs with a world model's head, or names of recommit policies")
    parser.add_argument("--others", nargs="+", default=[], help="NAME=RUN[,RUN...]: runs of the same seeds, in order")
    parser.add_argument("--fresh", type=int, default=0, help="seed of a fresh split (0: the data's test split)")
    parser.add_argument("--levels", type=int, default=1024)
    parser.add_argument("--csv", type=Path, required=True)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    methods = {"": asked.policies} | {n: runs.split(",") for n, _, runs in (o.partition("=") for o in asked.others)}
    head = "budget", "plans or method", "depths", "solved, %", "actions", "observations", "FLOPs / observation"
    grid = Grid.of((*head, "FLOPs / episode", "points beyond fixed (95 %)"), lines(methods, asked.fresh, asked.levels))
    print(grid.markdown())
    asked.csv.write_text(grid.csv(), encoding="utf-8")


if __name__ == "__main__":
    main()
