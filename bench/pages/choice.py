"""What a choice of depth solves and costs, with the same plans: the best fixed depth, a rule, and a world model by the
symmetries of its distance and the depths that it judges.

    python -m bench.pages.choice sokoban-7x7 --fresh 60 --out choice --csv docs/results/choice-sokoban.csv

Several policies are seeds of one method. Each is saved with its head among each set of depths, and evaluated; fixed
depths and thresholds are chosen on validation levels. Gain is a share of what eight symmetries among 2, 4 and 8 solve
beyond the best fixed depth. Milliseconds are CPU time, at 32 states a pass, of three passes the least.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

import recommit
from recommit.data import held_out
from recommit.evaluate import seeds
from recommit.evaluate.agent_names import AgentName
from recommit.evaluate.evaluation import evaluate
from recommit.evaluate.options import EvaluateOptions
from recommit.policy.checkpoint import local_folder
from recommit.results import intervals
from recommit.results.table import Grid, best, number, spread
from recommit.runs.directory import recipe_of
from recommit.train.heads.world_model import replace_head

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Row = dict[str, Any]

#: Figures of a row that are averaged over policies.
KEYS = ("actions_per_episode", "decisions_per_episode", "mflops", "episode", "ms")
EIGHT, RULE = tuple(range(1, 9)), "confidence-product"
ONE, ALL = "adaptive+aug{}x1", (0.0, 1.0)
#: Depths that are judged, and where; who chooses among them: symmetries of the distance. Full gain is the first's. All
#: but it ask one symmetry, or none: agents of one name behind the plus share what a policy says.
AMONG = {
    ((2, 4, 8), ALL): (*(f"adaptive+aug{{}}x{symmetries}" for symmetries in (8, 4, 2, 1)), RULE + "+aug{}x1"),
    (EIGHT, ALL): (ONE, RULE + "+aug{}x1"),
    ((4, 8), ALL): (ONE,),
    ((4, 6, 8), ALL): (ONE, RULE + "+aug{}x1", "adaptive+aug{}x8"),
    ((4, 6, 8), (0.3, 0.5)): (ONE,),
    ((2, 4, 6, 8), (0.1, 0.7)): (ONE,),
}
FIXED = tuple(f"fixed-{depth}+aug{{}}x1" for depth in EIGHT)


def evaluated(run: str, fresh: int, folder: Path, levels: int, also: list[float]) -> list[Row]:
    """Rows of an evaluation of a policy, each with its depths, milliseconds and levels solved."""
    names, further = list(FIXED), {(tuple(map(int, also[:-2])), (also[-2], also[-1])): (ONE,)} if also else {}
    for (depths, unsure), choosers in (AMONG | further).items():
        policy = recommit.CommitPolicy.from_pretrained(local_folder(run)).eval()
        replace_head(policy, policy.world_model, depths, unsure)
        place = policy.save_pretrained(folder / "-".join(("among", *map(str, depths + unsure))))
        names += [f"{each}@{place}" for each in choosers]
    agents = tuple(name.format(views) for views in (1, 8) for name in names)
    options = EvaluateOptions(Path(run), folder / "evaluation", agents, instances=levels, fresh=fresh, threads=1)
    rows, played = evaluate(options, quiet=False), seeds.read(options.out)
    for row in rows:
        name = AgentName.parse(row["agent"])
        policy = recommit.CommitPolicy.from_pretrained(local_folder(name.run or run)).eval()
        policy.replace_augmentations(name.augmentations, name.distance)
        row["levels"] = played.values(seeds.kind(row["agent"]), row["budget"], "solved")
        row["depths"] = [name.depth] if name.depth else policy.config.depths
        row["unsure"] = "{:g} to {:g}".format(*policy.config.head.unsure) if policy.config.head.gated else ""
        row["ms"] = milliseconds(policy, run, None if name.asks_head else 1)
        row["episode"] = row["mflops"] * row["decisions_per_episode"]
    return rows


def milliseconds(policy: recommit.CommitPolicy, run: str, depth: int | None) -> float:
    """CPU time of an observation."""
    states, times = held_out.starts(recipe_of(run), "validation", 32, ()).states, []
    for _ in range(3):
        began = time.process_time()
        policy.act(recipe_of(run).puzzle(), states, depth=depth)
        times.append(time.process_time() - began)
    return 1e3 * min(times) / len(states)


def beside_fixed(rows: list[Row], views: int, k: int) -> list[Row]:
    """The rows of one policy: the fixed depth that is best on validation levels, then the choosers."""
    own = [row for row in rows if row["decisions"] == k and AgentName.parse(row["agent"]).augmentations == views]
    fixed = best({i: row["validation_solve_rate"] for i, row in enumerate(own[:8])})
    return [own[fixed or 0], *own[8:]]


def table(every: list[list[Row]], views: int, k: int, rooms: NDArray[np.int64] | None) -> list[dict[str, str]]:
    """A line for each chooser: means over policies, each beside its own best fixed depth."""
    by_chooser = list(zip(*(beside_fixed(rows, views, k) for rows in every), strict=True))
    solved = [np.array([row["levels"] for row in line]) for line in by_chooser]
    solved = [each[0] if len(every) == 1 else each for each in solved]
    mean = [{key: float(np.mean([r[key] for r in line])) for key in KEYS} for line in by_chooser]
    names = [AgentName.parse(line[0]["agent"]) for line in by_chooser]
    return [
        {
            "views": str(views),
            "depth by": {"adaptive": "world model", RULE: "rule"}.get(name.base, "best fixed depth"),
            "depths": " ".join(map(str, line[0]["depths"])) if len(every) == 1 or not name.depth else "of each",
            "where the plan has": line[0]["unsure"],
            "symmetries": str(name.distance) if name.asks_head else "",
            "K": str(k),
            "solved, %": number(100 * each.mean()),
            "actions": number(own["actions_per_episode"], 2),
            "observations": number(own["decisions_per_episode"], 3),
            "MFLOP / observation": number(own["mflops"]),
            "times the plan's": number(own["mflops"] / mean[0]["mflops"], 2),
            "MFLOP / episode": number(own["episode"]),
            "ms / observation": number(own["ms"], 2),
            "points beyond fixed (95 %)": spread(intervals.difference(each, solved[0], rooms), 1, 100.0, sign=True),
            "gain (95 %)": spread(intervals.gain(each, solved[0], solved[1], rooms), 2),
        }
        for name, line, each, own in zip(names, by_chooser, solved, mean, strict=True)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("policies", nargs="+", help="runs with a world model's head, or names of recommit policies")
    parser.add_argument("--fresh", type=int, default=0, help="seed of a fresh split (0: the data's test split)")
    parser.add_argument("--levels", type=int, default=1024)
    parser.add_argument("--also", type=float, nargs="+", default=[], help="depths judged, and the bounds of where")
    parser.add_argument("--out", type=Path, required=True, help="where evaluations go, which go on from there")
    parser.add_argument("--csv", type=Path, required=True)
    asked = parser.parse_args()
    torch.set_num_threads(1)
    folders = {run: asked.out / Path(run).name for run in asked.policies}
    every = [evaluated(run, asked.fresh, folder, asked.levels, asked.also) for run, folder in folders.items()]
    rooms = seeds.rooms_of(next(iter(folders.values())) / "evaluation")
    budgets = dict.fromkeys(row["decisions"] for row in every[0])
    lines = [line for views in (1, 8) for k in budgets for line in table(every, views, k, rooms)]
    grid = Grid.of(list(lines[0]), [list(line.values()) for line in lines])
    asked.csv.write_text(grid.csv(), encoding="utf-8")
    print(grid.markdown())


if __name__ == "__main__":
    main()
