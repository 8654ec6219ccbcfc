"""One rank of several short reinforcement runs: python -m tests.invariant.credit_rank FOLDER CASE-STAGE-WORLD..."""

from __future__ import annotations

import json
import os
import signal
import sys
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import torch
from tests.unit.train.runs import plan_of

from recommit.graph.build import PolicyGraph
from recommit.runs import distributed
from recommit.train.grpo import trainer as run

if TYPE_CHECKING:
    from collections.abc import Iterator

STEPS = 3
EXACT = {"estimator": "exact"}
#: The last of three steps is the depth head's alone.
LAST = {"steps": 1, "head_only": True, "head_updates": 8, "depth_head_lr": 3e-3, "starts": 16, "budgets": [2, 4]}
MOVES = [{"steps": 3, "head_updates": 8}]
#: Changes to the plan by case.
CASES: dict[str, dict[str, Any]] = {
    "state": {},
    "state-best": {"advantage": {"follow": "best", "scale": "batch", "deadlock": "penalty"}},
    "episode": {"advantage": {"estimator": "episode"}},
    "branch": {"advantage": {"estimator": "branch", "follow": "random"}},
    "exact": {"advantage": {**EXACT, "depth_weighting": "chosen"}},
    "exact-uniform": {"advantage": {**EXACT, "depth_weighting": "uniform", "max_expansions": 1}},
    "exact-budgets": {"advantage": EXACT, "phases": [{"steps": 3, "budgets": [2, 4]}], "rollout": {"states": 20}},
    "exact-price": {"advantage": EXACT, "prices": {"action": [0.02, 0.005]}},
    "moves": {"advantage": EXACT, "phases": MOVES},
    "finish": {"head": {"features": "z+confidence", "hidden": 6}, "advantage": EXACT, "phases": [{"steps": 2}, LAST]},
    # What the laptop recipes have, all of it together.
    "sound": {
        "head": {"features": "z+confidence", "hidden": 6},
        "advantage": {**EXACT, "depth_weighting": "uniform", "max_expansions": 1},
        "prices": {"action": [0.02, 0.005]},
        "phases": [{"steps": 2, "head_updates": 8}, {**LAST, "price_action": 0.01}],
        "rollout": {"states": 20},
    },
    # Fewer states to learn from than there are ranks.
    "few": {"advantage": EXACT, "rollout": {"instances": 4, "budget": 2, "states": 2}},
}
for name in ("fixed-4", "random", "depth-only"):
    CASES |= {f"{name}-{group}": {"variant": name, "advantage": {"estimator": group}} for group in ("state", "exact")}
CASES["sound-lora"] = CASES["sound"]
CASES["depth-only-moves"] = {"variant": "depth-only", "advantage": EXACT, "phases": MOVES}


def plan(case: str, stage: str) -> Any:
    """The configuration of a run of a ``case``: by ``plain`` PyTorch, or by DeepSpeed of a stage."""
    changes = dict(CASES[case.partition("@")[0]])
    changes["optim"] = {
        "steps": STEPS,
        "batch": 16,
        "micro_batch": 4,
        "lr": 1e-4,
        "decoder_lr": 2e-4,
        "depth_head_lr": 1e-3,
    }
    changes["rollout"] = {"instances": 8, "budget": 4, **changes.get("rollout", {})}
    changes["validation"] = {"every": STEPS}
    changes["run"] = {"save_every": STEPS, "device": "cpu"}
    if stage != "plain":
        changes["engine"] = {"kind": "deepspeed", "stage": int(stage)}
    return plan_of(**changes)


@torch.no_grad()
def forgotten_masters(_: Any, parameter: Any, value: Any) -> None:
    """A planted defect: the moved head is not written where DeepSpeed steps from."""
    parameter.copy_(value)


def forgotten_ranks(parameters: Any, team: Any) -> None:
    """A planted defect: every rank moves the head by what it has seen itself."""


DEFECTS = {
    "masters": ("recommit.train.engine.deepspeed.ZeroEngine._set_weight", forgotten_masters),
    "ranks": ("recommit.train.grpo.depth_head_optimizer._sum_gradients", forgotten_ranks),
}


@contextmanager
def noted() -> Iterator[list[list[str]]]:
    """Graph by graph, the states that this process looks at."""
    graphs: list[list[str]] = []
    begin, plan = PolicyGraph.__init__, PolicyGraph._plan

    def begun(self: Any, *arguments: Any, **options: Any) -> None:
        begin(self, *arguments, **options)
        self.noted = []
        graphs.append(self.noted)

    def planned(self: Any, piece: Any, others: Any) -> Any:
        self.noted.extend(self.states[i].tobytes().hex() for i in piece)
        return plan(self, piece, others)

    with mock.patch.object(PolicyGraph, "__init__", begun), mock.patch.object(PolicyGraph, "_plan", planned):
        yield graphs


def stopping(step: Any, rank: int) -> Any:
    """Ctrl-C on the last rank, in the second of three steps."""

    def stepping(self: Any) -> Any:
        if self.state.step == 1 and rank == self.team.world - 1:
            signal.raise_signal(signal.SIGINT)
        return step(self)

    return stepping


def play(place: Path, case: str, stage: str, rank: int = 0, world: int = 1) -> int:
    """One run from a warm start in ``place``; what happens to it may stand behind the case."""
    init = place / ("lora" if case.endswith("lora") else "init")
    out, defect = place / f"{case}-{stage}-{world}", case.partition("@")[2]
    planted = mock.patch(*DEFECTS[defect]) if defect in DEFECTS else nullcontext()
    if defect == "stopped":
        with mock.patch.object(run.GrpoTrainer, "_step", stopping(run.GrpoTrainer._step, rank)):
            assert run.train(plan(case, stage), init, out, quiet=True) == 130
    with planted, noted() as graphs:
        status = run.train(plan(case, stage), init, out, quiet=True)
    (out / f"looks-{rank}.json").write_text(json.dumps(graphs))
    return status


def main(place: str, *names: str) -> int:
    """The runs of these names, one after the other."""
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    cases = (name.rsplit("-", 2)[:2] for name in names)
    return max(play(Path(place), case, stage, rank, world) for case, stage in cases)


if __name__ == "__main__":
    distributed.end(main(*sys.argv[1:]))
