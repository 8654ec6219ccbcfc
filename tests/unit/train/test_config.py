"""Recipes are read, changed and checked before anything runs; what a configuration means, and what it refuses."""

from __future__ import annotations

import shlex

import pytest
from tests.refusals import refused

pytest.importorskip("torch")
from tests.unit.train.runs import plan_of

from recommit.cli import main
from recommit.prices import Prices
from recommit.train.config import TargetConfig, load, parse, plain
from recommit.train.grpo.config import GrpoConfig, of_variant
from recommit.train.options import GrpoOptions

EXACT = {"advantage": {"estimator": "exact"}}
LAST = {"steps": 2, "head_only": True, "head_updates": 7}


def test_changes_reach_their_value():
    config = load("laptop-sliding", ["optim.lr=3e-4", "model.shape.width=192", "targets.depths=[4]"])
    assert config.optim.lr == 3e-4
    assert config.model.shape == {"width": 192}
    assert config.targets.depths == (4,)
    assert config.optim.steps == load("laptop-sliding").optim.steps


def test_what_a_recipe_does_not_name_is_the_stages_own_default():
    """A GRPO run has its own learning rates and validation, whatever of them is set."""
    usual, set_one = (
        parse(GrpoConfig, values) for values in ({}, {"optim": {"steps": 7}, "validation": {"budget": 3}})
    )
    assert (set_one.optim.lr, set_one.validation.every) == (usual.optim.lr, usual.validation.every) == (3e-5, 20)
    assert parse(GrpoConfig, plain(set_one)) == set_one


def test_the_depths_of_the_policy_are_imitated_unless_others_are_named():
    config = load("quick-sliding", ["model.policy.depths=[2, 16]"])
    assert config.targets.of(config.model.policy).depths == (2, 16)
    one = load("quick-sliding", ["model.policy.depths=[2, 16]", "targets.depths=[2]"])
    assert one.targets.of(one.model.policy).depths == (2,)
    told = load("laptop-sokoban", ["model.policy.decoder.depth_conditioning=embedding"])
    refused([(lambda: told.targets.of(told.model.policy), "targets.dense: expected 0 for plans that are told")])


def test_wrong_recipes_are_refused(tmp_path):
    (tmp_path / "mine.yaml").write_text("sft: {optim: {steps: 7}}\n")
    (tmp_path / "list.yaml").write_text("[1, 2]\n")
    assert load(tmp_path / "mine.yaml").optim.steps == 7
    laptop = lambda change: lambda: load("laptop-sliding", [change])

    def variant_of(text):
        """Values of another kind, which mutated recipes found: each was a TypeError or an AttributeError."""
        (tmp_path / "r.yaml").write_text(text)
        recipe = str(tmp_path / "r.yaml")
        return load(recipe, cls=GrpoConfig, stage="grpo", values=of_variant(recipe, "adaptive"))

    refused(
        [
            (lambda: load("desktop"), "recipe: expected a file or one of boxoban, laptop-"),
            (lambda: load(tmp_path / "mine.yaml", stage="grpo"), "recipe: expected the stage grpo, got none"),
            (lambda: load(tmp_path / "list.yaml"), "recipe: expected a mapping with the stage sft, got list"),
            (laptop("optim.lr"), "set: expected NAME=VALUE, got 'optim.lr'"),
            (laptop("optim.rate=1"), "optim: expected fields of steps, "),
            (laptop("optim.steps=true"), "optim.steps: expected int, got True"),
            (laptop("optim.steps=0"), "optim.steps: expected at least 1, got 0"),
            (laptop("optim.schedule=step"), "optim.schedule: expected linear, cosine or constant, got step"),
            (laptop("optim.steps.x=0"), "set: optim.steps.x: expected a mapping, got int"),
            (laptop("targets.depths=[17]"), "targets.depths: expected numbers 1..16, got (17,)"),
            (laptop("validation.length=[3]"), "validation.length: expected 2 values, got [3]"),
            (laptop("model.policy.depths=[1, 17]"), "depths: expected numbers 1..16, got (1, 17)"),
            (laptop("model.policy.depths=16"), "model.policy.depths"),
            (laptop("model.policy.decoder.heads=5"), "decoder.width: expected a multiple of heads"),
            (lambda: variant_of("grpo: {advantage: {estimator: [[]]}}"), "advantage.estimator: expected "),
            (lambda: variant_of("grpo: {optim: soon, phases: [{steps: 1}]}"), "optim: expected a mapping, got str"),
            (lambda: variant_of("grpo: {phases: [{head_updates: 1}]}"), "phases[0]: expected a value of steps"),
            (lambda: variant_of("family: {adaptive: true}"), "family.adaptive: expected a mapping, got bool"),
            (lambda: variant_of("family: {adaptive: {variant: []}}"), "variant: expected text, got"),
            (lambda: parse(TargetConfig, {"dagger": 1.5}), "0..1"),
            (lambda: parse(TargetConfig, {"dagger": 0.5, "paths": "dataset"}), "paths: resample"),
        ]
    )
    for change in (f"optim.schedule={'x' * 9000}", f"targets.depths=[{'99, ' * 3000}99]"):
        with pytest.raises(ValueError, match=r"expected .*\.\.\.$") as caught:
            load("laptop-sliding", [change])
        assert len(str(caught.value)) < 2100


def test_what_cannot_be_is_refused():
    made = lambda **values: lambda: parse(GrpoConfig, values)
    phase = lambda **values: lambda: plan_of(**EXACT, phases=[{"steps": 4, **values}])
    unread = lambda name, value: lambda: plan_of(phases=[{"steps": 3}, {"steps": 1, name: value}])
    by_length, joint = {"loss_normalization": "length"}, {"ratio": "joint"}
    one = {"advantage": {"estimator": "exact", "group_size": 1}}
    refused(
        [
            (made(advantage={"estimator": "all"}), "advantage.estimator: expected state, "),
            (made(advantage={"estimator": "exact", "progress": 0.1}), "advantage.progress: expected no such field"),
            (made(advantage={"max_expansions": 2}), "advantage.max_expansions: expected no such field"),
            (made(advantage={"estimator": "episode", "follow": "best"}), "advantage.follow: expected no such field"),
            (made(finish={"share": 0.1}), "recipe: expected fields of "),
            (made(tasks=["sliding-3x3", "slidng"]), "task: expected one of sliding, sokoban, ice, got 'slidng'"),
            (made(validation={"budgets": [0]}), "validation.budgets: expected numbers from 1 on"),
            (made(depths=[2, 1]), "depths: expected"),
            (made(depths=[8, 17]), "depths: expected"),
            (made(prices={"action": [0.1, -0.1]}), "prices.action: expected"),
            (made(prices={"action": "dear"}), "prices.action: expected"),
            (made(variant="fixed-4", objective=joint), "objective.ratio: expected factor with variant fixed-4"),
            (made(objective={**joint, **by_length}), "objective.loss_normalization: expected surrogate with"),
            (made(**EXACT, objective=by_length), "objective.loss_normalization: expected surrogate or constant with"),
            (made(variant="depth-only", objective=by_length), "or constant with variant depth-only, got length"),
            (made(**one), "advantage.group_size: expected at least 2 with advantage.estimator exact"),
            (lambda: plan_of(**one, phases=[{"steps": 2}, LAST]), "advantage.group_size: expected at least 2"),
            (made(**EXACT, objective={"kl": 0.3}, phases=[LAST]), "objective.kl: expected 0 (or objective.kl_depth="),
            (unread("head_updates", 3), "phases[1].head_updates: expected no such field with advantage.estimator"),
            (unread("starts", 12), "phases[1].starts: expected no such field"),
            (unread("budgets", [2]), "phases[1].budgets: expected no such field"),
            (phase(head_only=True), "phases.head_updates: expected at least 1 with phases.head_only, got 0"),
            (phase(depth_head_lr=0.1), "phases.depth_head_lr: expected 0 without phases.head_updates, got 0.1"),
            (phase(starts=7), "phases[0].starts: expected a multiple of rollout.instances 6, got 7"),
            (phase(budgets=[0]), "phases.budgets: expected numbers from 1 on, got (0,)"),
            (phase(price_action=-1), "phases.price_action: expected at least 0, got -1.0"),
            (
                lambda: plan_of(**EXACT, variant="random", phases=[LAST]),
                "phases[0].head_updates: expected 0 with variant random",
            ),
            (
                lambda: plan_of(**EXACT, phases=[LAST], optim={"steps": 9}),
                "phases: expected optim.steps 9 in all, got 2",
            ),
            (made(by_task={"sokoban": {"optim.lr": 1}}), "by_task.sokoban: expected values of advantage.NAME, "),
            (made(by_task={"sokoban": {"advantage.sise": 3}}), "got advantage.sise"),
            (made(by_task={"chess": {}}), "task: expected one of sliding, sokoban, ice, got 'chess'"),
            (made(by_task={"ice": {"advantage.group_size": 1}}), "advantage.group_size: expected at least 2"),
        ]
    )
    assert parse(GrpoConfig, {**one, "variant": "depth-only"}).advantage.group_size == 1
    assert plan_of(**one, phases=[LAST]).advantage.group_size == 1, "one plan is enough where plans do not learn"


def test_phases_have_all_steps():
    plan = plan_of(**EXACT, phases=[{"steps": 23}, {"steps": 13, "head_updates": 10}, LAST])
    assert [plan.phase_at(step).steps for step in (0, 22, 23, 35, 36, 37)] == [23, 23, 13, 13, 2, 2]
    assert plan_of(phases=[{"steps": 4, "price_action": 0.1}]).last_prices == Prices(0.1, 0.0)


def test_steps_of_more_starts_take_shards_that_no_other_step_takes():
    phases = [{"steps": 2}, {"steps": 1, "head_updates": 1, "starts": 18}, {"steps": 1}]
    plan = plan_of(**EXACT, phases=phases)
    assert [plan.shards_before(step) for step in range(5)] == [0, 1, 2, 5, 6]
    assert plan.starts == 6 * 6


def test_prices_move_from_the_first_to_the_last_step_and_a_phase_may_have_one():
    run = {"prices": {"action": [0.001, 0.005], "observation": [0.0, 0.04]}, "optim": {"steps": 5}}
    plan = plan_of(**run, phases=[{"steps": 3}, {"steps": 2, "price_action": 0.002}])
    expected = [Prices(0.001, 0.0), Prices(0.002, 0.01), Prices(0.003, 0.02), Prices(0.002, 0.03), Prices(0.002, 0.04)]
    found = [plan.prices_at(step) for step in range(5)]
    for own, wanted in zip(found, expected, strict=True):
        assert vars(own) == pytest.approx(vars(wanted))
    assert plan.last_prices == found[-1]
    assert plan_of(**run).last_prices == Prices(0.005, 0.04)
    assert parse(GrpoConfig, plain(plan)) == plan


def test_a_variant_has_what_the_recipe_says_of_it():
    fixed, paper, own = (GrpoOptions("laptop-sliding", variant=name).config() for name in ("fixed-4", "paper", None))
    assert (fixed.variant, fixed.head, fixed.phases, fixed.optim.steps) == ("fixed-4", None, (), 70)
    assert (paper.variant, paper.advantage.estimator, own.variant) == ("adaptive", "state", "adaptive")
    changed = GrpoOptions("laptop-sliding", variant="fixed-4", set=("optim.steps=3",)).config()
    assert changed.optim.steps == 3


@pytest.mark.parametrize(
    "words",
    [
        ["--variant", "fixed-4", "--set", "phases=[{steps: 70, head_updates: 1}]"],
        ["--set", "advantage.estimator=state"],
        ["--steps", "3"],
    ],
)
def test_a_recipe_that_does_not_fit_is_refused_with_what_does(words, capsys):
    """Nothing of it is left out unseen."""
    call = ["train", "grpo", "--recipe", "laptop-sliding", "--show"]
    seen = set()
    while main([*call, *words]) == 2:
        said = capsys.readouterr().err
        more = shlex.split(said.partition("--set ")[2])[0]
        assert more not in seen, said
        seen.add(more)
        words = [*words, *([] if "--set" in words else ["--set"]), more]
        assert len(seen) < 4
    assert seen
