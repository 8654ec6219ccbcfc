"""Agents with several augmentations or other rounds: another policy in the same evaluation, and what a look costs."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

torch = pytest.importorskip("torch")

from tests.unit.train import runs

import recommit
from recommit.cli import main
from recommit.estimate.meta_model import Shadow
from recommit.estimate.schedule import Passes
from recommit.evaluate import policy_plans
from recommit.policy.config import PolicyConfig
from recommit.policy.world_model import WorldModel
from recommit.train.config import ModelConfig, SftConfig, parse
from recommit.train.heads import world_model
from recommit.train.sft import trainer as sft

SHAPE = {"width": 8, "blocks": 1, "z": 16, "reach": 1, "rounds": 2}
THINKS = runs.TINY | {"model": {**runs.TINY["model"], "backbone": "conv:small", "shape": SHAPE}}
BARE = PolicyConfig(lora=None, prompts=("bare-v1", "bare-v1"))


@pytest.fixture(scope="module")
def levels_run(tmp_path_factory):
    """A small warm start on Sokoban, of a network that thinks."""
    data = runs.small_levels(tmp_path_factory.mktemp("augmentations") / "data")
    out = tmp_path_factory.mktemp("augmentations") / "run"
    assert sft.train(parse(SftConfig, THINKS), data, out, quiet=True) == 0
    return out


def call(run, out, agents, *more):
    line = ["evaluate", str(run), "--out", str(out), "--instances", "6", "--validation", "4", "--quiet"]
    return main([*line, "--agents", *agents, *more])


def test_eight_augmentations_stand_beside_none(levels_run, tmp_path, capsys):
    out = tmp_path / "eval"
    assert call(levels_run, out, ["fixed-4", "fixed-4+aug8", "fixed-4+rounds8", "solver"]) == 0
    text = capsys.readouterr().out
    assert "MFLOP / observation" in text
    assert "MFLOP / episode" in text
    rows = {(row["agent"], row["budget"]): row for row in json.loads((out / "summary.json").read_text())}
    assert rows["fixed-4+aug8", "loose"]["uses"] == "picture"
    assert rows["solver", "loose"]["uses"] == "simulator"
    costs = json.loads((out / "compute.json").read_text())
    assert {name: cost["augmentations"] for name, cost in costs.items()} == {
        f"@{levels_run}": 1,
        f"+aug8@{levels_run}": 8,
        f"+rounds8@{levels_run}": 1,
    }
    one, eight, rounds = (costs[f"{name}@{levels_run}"]["flops"] for name in ("", "+aug8", "+rounds8"))
    assert eight > 6 * one > 0
    assert one < rounds < 4 * one


@pytest.mark.parametrize("augmentations", [1, 8])
def test_operations_are_those_of_an_estimate(tiny, augmentations):
    """Counted of a policy at work, and of its shadow before anybody has one."""
    config = replace(BARE, augmentations=augmentations)
    model, task = ModelConfig(backbone="random:tiny", policy=config), recommit.Sokoban(6, 1)
    policy = recommit.CommitPolicy.from_backbone(tiny, config).eval()
    states = task.generate(4, seed=0).states
    shadow = Shadow(SftConfig(model=model), model, task)
    estimate = shadow.flops(Passes("plan", 4, 4)) + shadow.flops(Passes("encode", 4, 4))
    assert policy_plans.measure(policy, task, states)["flops"] == pytest.approx(estimate / 4, rel=0.01)


def test_symmetries_of_the_distance_are_a_number_of_a_saved_policy(tiny, tmp_path):
    """They cost as much each, and nothing where the depth is fixed."""
    policy, task = recommit.CommitPolicy.from_backbone(tiny, BARE).eval(), recommit.Sokoban(6, 1)
    world_model.replace_head(policy, WorldModel(world_model.config_of(policy, task)))
    states, costs, read = task.generate(4, seed=0).states, {}, policy
    for number in (8, 1, 2):
        policy.replace_augmentations(1, number)
        read = recommit.CommitPolicy.from_pretrained(policy.save_pretrained(tmp_path / f"saved-{number}")).eval()
        costs[number] = policy_plans.measure(read, task, states)
    assert len({cost["plan_flops"] for cost in costs.values()}) == 1
    assert costs[1]["flops"] > costs[1]["plan_flops"]
    assert costs[8]["flops"] - costs[1]["flops"] == 7 * (costs[2]["flops"] - costs[1]["flops"]) > 0
