"""What test splits share with training: the paths of every preset's data; or, with policies of sliding puzzles, the
states that the laptop's recipe learns in, with and without those of other splits.

python -m bench.pages.overlaps              # some ten minutes; docs/results.md quotes both
python -m bench.pages.overlaps sliding-3x3 laptop/sliding/family/adaptive-s0
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from bench.pages import blocks

import recommit.data
from recommit.data import assignment, held_out
from recommit.data.spec import GATE
from recommit.graph.build import PolicyGraph
from recommit.policy.checkpoint import local_folder
from recommit.policy.policy import CommitPolicy
from recommit.reproduce import preset
from recommit.results.table import Grid
from recommit.rollout.rollout import Actor
from recommit.rollout.variants import variant
from recommit.runs.directory import recipe_of
from recommit.train.config import load
from recommit.train.grpo import rollout
from recommit.train.grpo.config import GrpoConfig

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recommit.data.spec import DataSpec

RESULTS = Path(__file__).resolve().parents[2] / "docs" / "results"
HEAD = (
    "presets | puzzle | training instances | splits never share | test starts on training paths | "
    "states of test paths on training paths"
)
OF_GRAPHS = "puzzle | regions | states | test starts among them | decisions of test play among them"


def users() -> dict[DataSpec, list[str]]:
    """Everything that presets train on, and which of them."""
    found: dict[DataSpec, list[str]] = {}
    for name in preset.names():
        for line in preset.load(name, Path()):
            if line.verb == "data build":
                found.setdefault(line.options.spec(), []).append(name)
    return found


def share(hit: int, of: int) -> str:
    return f"{hit:,} of {of:,} ({100 * hit / of:.1f} %)"


def row(spec: DataSpec, presets: list[str]) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        seen = recommit.data.build(spec, folder, workers=2).overlap
    boxes = sorted({difficulty.boxes for difficulty in spec.difficulties})
    many = f"{boxes[0]} to {boxes[-1]}" if boxes[1:] else str(boxes[0])
    words = f", {many} {'box' if many == '1' else 'boxes'}" if boxes[0] else ""
    cells = [", ".join(dict.fromkeys(presets)), f"{spec.task} {spec.size[0]}x{spec.size[1]}{words}"]
    shares = (share(seen[f"test_{what}_on_training_paths"], seen[f"test_{what}"]) for what in ("starts", "states"))
    return [*cells, f"{spec.count:,}", spec.disjoint, *shares]


def of_graphs(run: str) -> Iterator[list[str]]:
    """The graph of a step of the last phase, against 256 fresh test instances and their greedy episodes,
    up to symmetry; of decisions those that are farther than the actions that all paths share."""
    spec, policy = recipe_of(run), CommitPolicy.from_pretrained(local_folder(run)).eval()
    task, config, depths = spec.puzzle(), load("laptop-sliding", (), GrpoConfig, "grpo"), policy.config.depths
    tests = here = np.ascontiguousarray(held_out.fresh(spec, 23, 256, (8, 20)).states)
    decisions = []
    for _ in range(config.rollout.budget):
        here = np.ascontiguousarray(here[~task.is_solved(here)])
        decisions.append(here[task.distance(here) > GATE])
        taken, plans = policy.act(task, here)
        here = task.execute(here, plans, taken.astype(np.int32)).states
    reach = PolicyGraph(policy, task, depths)
    actor, instances = Actor(policy, task, variant("adaptive"), seed=0), rollout.instances_of(spec, config)
    rollout.explore(actor, config, reach, rollout.starts(instances, config, 0, config.optim.steps - 1))
    learned = reach.states[reach.planned]
    for kept, states in (("all", learned), ("of training", learned[assignment.learnable(spec, learned)])):
        names = assignment.keys(spec.task, states)
        among = (np.isin(assignment.keys(spec.task, each), names) for each in (tests, np.concatenate(decisions)))
        shares = (share(int(each.sum()), len(each)) for each in among)
        yield [f"{spec.task} {task.size_name}", kept, f"{len(states):,}", *shares]


def main() -> None:
    runs = sys.argv[1:]
    rows = [each for run in runs for each in of_graphs(run)] or [row(*each) for each in users().items()]
    table = Grid.of(OF_GRAPHS if runs else HEAD, rows)
    blocks.write({RESULTS / f"overlaps{'-graphs' if runs else ''}.csv": table.csv()}, check=False)


if __name__ == "__main__":
    main()
