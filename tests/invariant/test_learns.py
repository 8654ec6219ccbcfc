"""T6: a small policy learns the 2x3 board by imitation, and reinforcement does not lose it."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("pyarrow")

import recommit
from recommit.graph.build import PolicyGraph
from recommit.graph.episodes import always, head, play
from recommit.train import config
from recommit.train.grpo import trainer as grpo
from recommit.train.grpo.config import GrpoConfig
from recommit.train.sft import trainer as sft

pytestmark = pytest.mark.nightly
TASK = recommit.Sliding(2, 3)
QUICK = ["run.threads=1", "run.tensorboard=false", "validation.instances=0"]
SFT = ["model.shape={width: 32, blocks: 3, z: 64, reach: 2}", "optim.steps=500", "optim.batch=64"]
LAST = "{steps: 2, head_only: true, head_updates: 20, depth_head_lr: 3e-3, starts: 512, "
LAST += "budgets: [10, 15], price_action: 0.01}"
GRPO = [
    "rollout.instances=64",
    "rollout.length=[4, 21]",
    "rollout.states=400",
    "optim.batch=128",
    "optim.steps=10",
    f"phases=[{{steps: 6}}, {{steps: 2, head_updates: 10}}, {LAST}]",
]


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    from recommit.data import DataSpec, Difficulty, build

    folder = tmp_path_factory.mktemp("data") / "2x3"
    build(DataSpec("sliding", (2, 3), (Difficulty((4, 21)),), count=300, ties="random"), folder)
    return folder


def every_state() -> np.ndarray:
    boards = np.array(list(permutations(range(6))), np.uint8).reshape(-1, 2, 3)
    return np.ascontiguousarray(boards[TASK.distance(boards) > 0])


def best(policy, *, adaptive=False):
    """Share of all 359 unsolved boards solved in 15 decisions; without ``adaptive`` by the best fixed depth."""
    reach = PolicyGraph(policy.eval(), TASK, policy.config.depths)
    chosen = [head(reach)] if adaptive else [always(reach, depth) for depth in policy.config.depths]
    return max(play(reach, reach.nodes(every_state(), 15), 15, each).solve_rate for each in chosen)


@pytest.mark.parametrize("seed", range(3))
def test_imitation_learns_and_reinforcement_keeps(data, tmp_path, seed, record_property):
    seeded = [*QUICK, f"run.seed={seed}"]
    assert sft.train(config.load("laptop-sliding", [*SFT, *seeded]), data, tmp_path / "sft", quiet=True) == 0
    imitated = best(last(tmp_path / "sft"))
    plan = config.load("laptop-sliding", [*GRPO, *seeded], GrpoConfig, "grpo")
    assert grpo.train(plan, tmp_path / "sft" / newest(tmp_path / "sft"), tmp_path / "rl", data=data, quiet=True) == 0
    reinforced = best(last(tmp_path / "rl"), adaptive=True)
    record_property("executed", 2 * len(every_state()))
    print(f"seed {seed}: imitation {100 * imitated:.1f} %, reinforcement {100 * reinforced:.1f} %")
    assert imitated >= 0.95
    assert reinforced >= imitated - 0.02


def test_a_policy_that_learned_nothing_is_noticed(data, tmp_path):
    plan = config.load("laptop-sliding", [*SFT, *QUICK, "optim.steps=1"])
    assert sft.train(replace(plan), data, tmp_path / "sft", quiet=True) == 0
    assert best(last(tmp_path / "sft")) < 0.5


def newest(run) -> str:
    return f"{max((run / 'checkpoints').glob('step-*')).relative_to(run)}/policy"


def last(run):
    return recommit.CommitPolicy.from_pretrained(run / newest(run))
