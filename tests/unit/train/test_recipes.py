"""Every recipe parses in every stage it has, and the paper's values are the paper's."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from recommit.train import config
from recommit.train.config import SftConfig, plain
from recommit.train.grpo.config import GrpoConfig, of_variant

#: Section 13.7 of the specification, "RL (Sliding | Sokoban)", and the reward's weight.
PAPER = {
    "advantage.group_size": (4, 8),
    "rollout.budget": (5, 6),
    "advantage.progress": (0.2, 0.2),
    "objective.clip": (0.05, 0.05),
    "objective.kl": (0.05, 0.20),
    "objective.entropy_depth": (0.01, 0.01),
    "objective.entropy_actions": (0.001, 0.001),
    "optim.lr": (5e-7, 2e-7),
    "optim.decoder_lr": (7e-6, 3e-6),
    "optim.depth_head_lr": (7e-6, 3e-6),
    "advantage.estimator": ("state", "state"),
}
#: Where the paper can be read in two ways: its own recipes, and the laptop's, which was measured with the older
#: reading.
READINGS = {
    "advantage.progress_per": ("action", "commitment"),
    "objective.loss_normalization": ("surrogate", "surrogate"),
}


def readings(given, column):
    owners = {path: path.split(".") for path in READINGS}
    found = {path: getattr(getattr(given, owner), field) for path, (owner, field) in owners.items()}
    return found == {path: values[column] for path, values in READINGS.items()}


@pytest.mark.parametrize("name", config.recipes())
def test_recipes_parse(name):
    parsed = [config.load(name, cls=cls, stage=stage) for stage, cls in STAGES.items() if config.section(name, stage)]
    assert [config.parse(type(each), json.loads(json.dumps(plain(each)))) for each in parsed] == parsed
    for kind, changes in config.section(name, "family").items():
        own = "fixed-4" if kind == "fixed" else kind
        assert changes
        assert config.load(name, cls=GrpoConfig, stage="grpo", values=of_variant(name, own)).phases is not None


STAGES = {"sft": SftConfig, "grpo": GrpoConfig}


def test_the_quick_recipe_is_the_laptops_cut_short():
    """What docs/start.md trains, whose figures were printed with these values."""
    sft = config.load("quick-sliding", cls=SftConfig, stage="sft")
    cut = ("optim.steps=600", "validation.every=600")
    assert sft == config.load("laptop-sliding", cut, cls=SftConfig, stage="sft")
    last = "head_only: true, head_updates: 60, depth_head_lr: 3e-3, starts: 3840, budgets: [10, 15], price_action: 0.01"
    phases = f"phases=[{{steps: 7}}, {{steps: 5, head_updates: 10}}, {{steps: 1, {last}}}]"
    cut = (phases, "optim.steps=13", "validation.every=13", "validation.instances=128")
    grpo = config.load("quick-sliding", cls=GrpoConfig, stage="grpo")
    assert grpo == config.load("laptop-sliding", cut, cls=GrpoConfig, stage="grpo")


@pytest.mark.parametrize(("name", "column"), [("laptop-sliding", 0), ("laptop-sokoban", 1)])
def test_the_papers_own_advantages_beside_ours(name, column):
    """In small, learning rates and steps are ours; what is judged, and how, is the paper's."""
    given = config.load(name, cls=GrpoConfig, stage="grpo", values=of_variant(name, "paper"))
    for path, values in PAPER.items():
        owner, field = path.split(".")
        if owner in ("advantage", "objective") or path == "rollout.budget":
            assert getattr(getattr(given, owner), field) == values[column], path
    assert readings(given, 1)
    assert (given.variant, given.head, given.phases) == ("adaptive", None, ())


@pytest.mark.parametrize(("name", "column"), [("paper-sliding", 0), ("paper-sokoban", 1)])
def test_the_papers_values(name, column):
    given = config.load(name, cls=GrpoConfig, stage="grpo")
    for path, values in PAPER.items():
        owner, field = path.split(".")
        assert getattr(getattr(given, owner), field) == values[column], path
    assert readings(given, 0)
    start = config.load(name)
    lora, decoder = start.model.policy.lora, start.model.policy.decoder
    assert start.optim.lr == 1e-4
    assert (lora.rank, lora.alpha, lora.dropout) == (16, 32, 0.05)
    assert (decoder.width, decoder.layers, decoder.heads, decoder.ffn) == (512, 2, 4, 1024)
    assert start.model.policy.depths == (1, 2, 4, 8)


def test_both_puzzles_of_the_paper_have_one_warm_start():
    """Budgets are the puzzles'; all else must agree, or a warm start of both would be two things."""
    sliding, sokoban, both = (plain(config.load(f"paper-{name}")) for name in ("sliding", "sokoban", "joint"))
    assert [each["validation"].pop("budget") for each in (sliding, sokoban, both)] == [15, 6, 0]
    assert sliding == sokoban == both


@pytest.mark.parametrize("task", ["sliding", "sokoban"])
def test_the_papers_values_of_both_tasks_at_once(task):
    """The joint recipe is that of each task, but for what both must share."""
    alone = config.load(f"paper-{task}", cls=GrpoConfig, stage="grpo")
    both = config.load("paper-joint", cls=GrpoConfig, stage="grpo").of(task)
    assert (both.advantage, both.prices, both.objective, both.rollout) == (
        alone.advantage,
        alone.prices,
        alone.objective,
        alone.rollout,
    )
    slow = config.load("paper-sokoban", cls=GrpoConfig, stage="grpo").optim
    assert both.optim == replace(slow, batch=2 * alone.optim.batch), "one optimizer: the lower rates"
    start, joint = config.load(f"paper-{task}"), config.load("paper-joint")
    assert (joint.model, joint.optim, joint.targets) == (start.model, start.optim, start.targets)
