"""Policies on Boxoban's own levels, beside what DRC solves there: in a closed loop (one observation per action, at most
120 actions, as DRC plays), and when they observe a half, a quarter or an eighth as often.

    recommit data import boxoban FOLDER
    python -m bench.pages.boxoban NAME=RUN [NAME=RUN ...] --csv docs/results/boxoban.csv

Levels are for measuring alone: nothing is chosen on them. ``augmentations``: the mean over the eight symmetries of the
picture. ``memory``: where a state comes back, the best of the actions that were not taken in it before. Both
in the closed loop, and augmentations also where the policy chooses its depths. Intervals are of Wilson, over levels.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import recommit
from recommit.data import held_out
from recommit.data.spec import DataSpec
from recommit.policy.checkpoint import local_folder
from recommit.results.intervals import share
from recommit.results.table import Grid, number, spread

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The first 1,000 levels of each, as others report them.
SETS = {"unfiltered": "unfiltered test", "medium": "medium valid", "hard": "hard"}
ACTIONS = 120
#: AlignmentResearch/learned-planner, plot/data: solved in 120 steps, in percent, by frames of experience.
PUBLISHED = {
    "DRC(3,3), 10 M frames": (40.6, 2.0, 0.3),
    "DRC(3,3), 50 M frames": (93.4, 36.8, 11.8),
    "DRC(3,3), 100 M frames": (95.4, 47.9, 17.5),
    "DRC(3,3), 2,000 M frames": (99.3, 76.6, 42.8),
    "ResNet, 2,000 M frames": (97.9, 59.4, 26.2),
}
#: What an episode remembers: which actions were taken in a state, by its bytes.
Memory = dict[bytes, "NDArray[np.bool_]"]


def spec_of(name: str, many: int) -> DataSpec:
    """A data set with nothing but test levels."""
    every = {"task": "sokoban", "size": 10, "difficulties": [{"length": [1, 254], "boxes": 4}]}
    return DataSpec.from_dict({**every, "generator": name, "count": 0, "test": many})


def play(
    policy: recommit.CommitPolicy, task: recommit.Puzzle, starts: NDArray[np.uint8], depth: int | None, memory: bool
) -> tuple[NDArray[np.bool_], NDArray[np.int64], NDArray[np.int64]]:
    """Which levels are solved, and observations and actions of each. ``depth``: None for the policy's own."""
    now, solved = starts.copy(), task.is_solved(starts)
    looks, moves = np.zeros(len(now), np.int64), np.zeros(len(now), np.int64)
    taken: list[Memory] = [{} for _ in now]
    while len(who := np.flatnonzero(~solved & (moves < ACTIONS))):
        states = np.ascontiguousarray(now[who])
        depths, plans = policy.act(task, states, depth=depth)
        if memory:
            plans[:, 0] = untried(policy, task, states, [taken[level] for level in who])
        outcome = task.execute(states, plans, np.minimum(depths, ACTIONS - moves[who]).astype(np.int32))
        now[who], solved[who] = outcome.states, outcome.solved
        looks[who] += 1
        moves[who] += np.maximum(outcome.executed, 1)
    return solved, looks, moves


def untried(
    policy: recommit.CommitPolicy, task: recommit.Puzzle, states: NDArray[np.uint8], taken: list[Memory]
) -> NDArray[np.int64]:
    """The best action that an episode has not taken in this state, while there is one; ``taken`` remembers it."""
    pieces = np.array_split(states, -(-len(states) // 256))
    probs = np.concatenate([policy.plan(task, piece, (1,)).probs[:, 0, 0] for piece in pieces])
    keys = (state.tobytes() for state in states)
    before = [memory.setdefault(key, np.zeros(4, bool)) for memory, key in zip(taken, keys, strict=True)]
    for each in before:
        each &= not each.all()
    actions = np.where(before, -1.0, probs).argmax(-1)
    for each, action in zip(before, actions, strict=True):
        each[action] = True
    return actions


def rows(name: str, run: Path, many: int, sets: list[str]) -> list[dict[str, Any]]:
    """What one policy does."""
    policy, result = recommit.CommitPolicy.from_pretrained(local_folder(run)), []
    for which in sets:
        spec = spec_of(which, many)
        task, starts = spec.puzzle(), np.ascontiguousarray(held_out.starts(spec, "test", many, ()).states)
        agents: list[tuple[str, int | None, int, bool]] = [(name, depth, 1, False) for depth in (1, 2, 4, 8)]
        agents += [(f"{name}, memory", 1, 1, True), (f"{name}, 8 augmentations", 1, 8, False)]
        agents += [(f"{name}, 8 augmentations, memory", 1, 8, True)]
        if policy.depth_head.weight.any():
            agents += [(name, None, 1, False), (f"{name}, 8 augmentations", None, 8, False)]
        for agent, depth, views, memory in agents:
            policy.replace_augmentations(views)
            solved, looks, moves = play(policy, task, starts, depth, memory)
            row = {"policy": agent, "depth": depth or "its own", "set": SETS[which], "levels": len(solved)}
            row["solved"] = spread(share(solved), 1, 100.0)
            result.append(row | {"observations": number(looks.mean()), "actions": number(moves.mean())})
            print(json.dumps(result[-1]), flush=True)
    return result


def table(every: list[dict[str, Any]]) -> Grid:
    """A line for each policy and depth, with the sets beside each other; then what others report."""
    lines: dict[tuple[str, Any], dict[str, Any]] = {}
    for row in every:
        line = lines.setdefault((row["policy"], row["depth"]), {})
        line[row["set"]] = row["solved"]
        if row["set"] == SETS["unfiltered"]:
            line |= {name: row[name] for name in ("observations", "actions")}
    for name, solved in PUBLISHED.items():
        lines[name, 1] = dict(zip(SETS.values(), solved, strict=True))
    first, *others = SETS.values()
    names = (first, "observations", "actions", *others)
    head = ["policy", "depth", *(f"{name}, %" if name in SETS.values() else name for name in names)]
    return Grid.of(head, [[*map(str, key), *(str(line.get(n, "")) for n in names)] for key, line in lines.items()])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", metavar="NAME=RUN", help="runs or policies, by the names of their rows")
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--levels", type=int, default=1000, help="of each set")
    parser.add_argument("--csv", type=Path, help="where the table is written, too")
    arguments = parser.parse_args()
    every = []
    for text in arguments.runs:
        name, _, run = text.partition("=")
        every += rows(name, Path(run), arguments.levels, arguments.sets)
    if arguments.csv:
        arguments.csv.write_text(table(every).csv(), encoding="utf-8")


if __name__ == "__main__":
    main()
