"""What a preset says of each puzzle and what it cannot say, the runs that follow from it, and changes by hand."""

from __future__ import annotations

import copy
from collections import Counter
from dataclasses import asdict
from pathlib import Path

import pytest

pytest.importorskip("torch")
yaml = pytest.importorskip("yaml")

from recommit.data import held_out
from recommit.policy.backbones.random_init import resized
from recommit.reproduce import preset, stages
from recommit.train.family.runs import family_configs

PAPER = Path("OUT")


def plans(*changes):
    return {plan.name: plan for plan in preset.entries(preset.load("paper", changes), PAPER)}


@pytest.mark.parametrize("name", ["paper", "paper-small"])
def test_the_papers_runs(name):
    """42 of two puzzles, three seeds and seven variants; other depths, one depth alone, other training budgets."""
    every = preset.entries(preset.load(name), PAPER)
    joint = ["sft", *(f"single-{depth}-init" for depth in (1, 2, 4, 8))]
    for plan, budgets in zip(every, ((4, 10), (3, 10)), strict=True):
        names = [run.name for run in plan.runs]
        assert len(names) == len(set(names)) == 1 + 21 + 4 + 8 + 10
        assert Counter(run.verb for run in plan.runs) == {"sft": 5, "grpo": 39}
        by_name = {run.name: run for run in plan.runs}
        assert [by_name[f"adaptive-k{k}-s42"].config.rollout.budget for k in budgets] == list(budgets)
        alone = by_name["single-4-s42"]
        assert (alone.config.variant, alone.source) == ("fixed-4", PAPER / "joint" / "single-4-init")
        assert by_name["single-4-init"].config.targets.depths == (4,)
        assert by_name["adaptive-s15"].config.run.seed == 15
        assert by_name["adaptive-s42"].config.run.keep == 99
        assert by_name["fixed-3-s42"].source == PAPER / "joint" / "sft"
        assert [by_name[each].folder for each in joint] == [PAPER / "joint" / each for each in joint]
        data = ("sliding/data-3x3", "sliding/data-4x4", "sokoban/data")
        assert by_name["sft"].sources == tuple(PAPER / folder for folder in data)
    runs = [run for _, run in preset.every_run(every)]
    assert Counter(run.verb for run in runs) == {"sft": 5, "grpo": 78}
    assert len({run.folder for run in runs}) == 83


@pytest.mark.parametrize("name", preset.names())
def test_every_warm_start_has_a_network(name):
    """A preset that changes the shape of a transformer changes a recipe of one."""
    every = [
        run.config.model for plan in preset.entries(preset.load(name), PAPER) for run in plan.runs if run.verb == "sft"
    ]
    for model in every:
        if model.backbone.startswith(("random:", "conv:")):
            assert resized(model.backbone.removeprefix("random:"), model.shape)


def test_small_runs_differ_from_the_papers_by_size_alone():
    """Advantages, objective, rollout budgets, targets and variants are those of the paper's recipes."""
    for large, small in zip(plans().values(), preset.entries(preset.load("paper-small"), PAPER), strict=True):
        for one, other in zip(large.runs, small.runs, strict=True):
            assert (one.name, one.verb) == (other.name, other.verb)
            if one.verb == "sft":
                assert one.config.targets == other.config.targets
                continue
            assert (one.config.variant, one.config.advantage, one.config.objective, one.config.head) == (
                other.config.variant,
                other.config.advantage,
                other.config.objective,
                other.config.head,
            )
            assert one.config.rollout.budget == other.config.rollout.budget


def test_a_preset_without_joint_has_warm_starts_of_its_own():
    plan = preset.entries(preset.load("laptop", ["singles=[4]"]), PAPER)[0]
    by_name = {run.name: run for run in plan.runs}
    assert by_name["sft-s1"].sources == (PAPER / "sliding" / "data",)
    assert by_name["single-4-init"].folder == PAPER / "sliding" / "family" / "single-4-init"


def test_changes_of_all_puzzles_and_of_one():
    changed = plans(
        "sft.optim.steps=3",
        "grpo.rollout.instances=8",
        "sft.model.backbone=random:tiny",
        "evaluate.instances=16",
        "data.count=60",
        "seeds=[7]",
        "sokoban.grpo.optim.steps=9",
        "sokoban.evaluate={}",
        "recipe=paper-sliding",
    )
    for name, steps, evaluated, sizes in (("sliding", 100, 16, 2), ("sokoban", 9, None, 1)):
        plan = changed[name]
        warm, run = plan.warm_runs()[0], plan.main_runs()[0]
        assert (warm.config.optim.steps, warm.config.model.backbone) == (3, "random:tiny")
        assert (run.config.rollout.instances, run.config.optim.steps, run.name) == (8, steps, "adaptive-s7")
        assert ([spec.count for spec in plan.data.values()], plan.values["recipe"]) == ([60] * sizes, "paper-sliding")
        assert plan.values["evaluate"].get("instances") == evaluated


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            "steps=3",
            (
                r"set: expected NAME=VALUE with a name of data, .*\(of all puzzles, or after sliding\. or sokoban\. of "
                r"one\)"
            ),
        ),
        ("sft.optim.steps", "got 'sft.optim.steps'"),
        ("ice.seeds=[3]", r"got 'ice\.seeds=\[3\]'"),
        ("seeds=3", r"tasks\.sliding\.seeds: expected a list, got 3"),
        ("seeds=[", r"set: expected a value in YAML, got 'seeds=\['"),
    ],
)
def test_changes_that_fit_nothing(change, message):
    with pytest.raises(ValueError, match=message):
        preset.load("paper", [change])


def test_files_that_are_no_presets(tmp_path):
    for text, message in [
        ("[1]", "preset: expected a mapping with tasks, got list in"),
        ("tasks: {a: {data: {}, recpie: x}}", r"tasks\.a: expected keys of data, recipe, .*, got recpie"),
        ("tasks: {a: {data: {}, recipe: x, variants: []}}", r"tasks\.a: expected seeds, got data, recipe, variants"),
    ]:
        (tmp_path / "p.yaml").write_text(text)
        with pytest.raises(ValueError, match=message):
            preset.load(str(tmp_path / "p.yaml"))


def test_a_fresh_split_is_drawn_in_full_and_lies_beside_what_was_read():
    for plan in preset.entries(preset.load("laptop"), PAPER):
        told = plan.values["evaluate"]
        (spec,) = plan.data.values()
        drawn = held_out.fresh(spec, told["fresh"], told["instances"], tuple(told.get("length", ())))
        assert len(drawn) == told["instances"]
        assert plan.evaluation(0, spec).name == "fresh-s0"
    (plan,) = preset.entries(preset.load("laptop", ["evaluate.fresh=0"]), PAPER)[:1]
    assert [plan.evaluation(0, spec).name for spec in plan.data.values()] == ["eval-s0"]


def test_sizes_are_trained_together_and_evaluated_each_by_itself():
    plan, _ = preset.entries(preset.load("paper", ["evaluate={regret: true}"]), PAPER)
    assert {folder.name: spec.size for folder, spec in plan.data.items()} == {"data-3x3": (3, 3), "data-4x4": (4, 4)}
    assert all(spec.disjoint == "regions" for spec in plan.data.values())
    assert plan.main_runs()[0].data == (PAPER / "sliding" / "data-3x3", PAPER / "sliding" / "data-4x4")
    evaluations = [plan.evaluation(42, spec).name for spec in plan.data.values()]
    assert evaluations == ["eval-3x3-s42", "eval-4x4-s42"]
    assert {plan.folder / name for name in evaluations} <= set(plan.folders())
    assert [stages._settings(plan, spec)["task"] for spec in plan.data.values()] == ["sliding-3x3", "sliding-4x4"]


def test_heads_are_steps_of_every_seed():
    """A world model on the plans of the warm start or of the adaptive run; a conditioned head on a graph of them."""
    (boxes,) = (entry for entry in preset.entries(preset.load("laptop"), PAPER) if entry.name == "sokoban")
    first = boxes.head_steps()[0]
    assert first.command[:4] == ["recommit", "train", "world-model", "OUT/sokoban/sft-s0"]
    assert first.command[4:6] == ["--out", "OUT/sokoban/family/world-model-s0"]
    assert "--augmentations" in first.command
    (tiles,) = (entry for entry in preset.entries(preset.load("laptop"), PAPER) if entry.name == "sliding")
    verbs = [step.verb for step in tiles.head_steps()]
    assert verbs == ["train world-model", "graph build", "train head"] * 3
    world_model, graph, conditioned = tiles.head_steps()[3:6]
    assert world_model.sources == graph.sources == (PAPER / "sliding" / "family" / "adaptive-s1",)
    assert conditioned.sources == (graph.out, world_model.out)
    assert {step.out for step in tiles.head_steps()} <= set(tiles.folders())
    assert not plans()["sliding"].head_steps()


ABLATIONS = ("inputs", "observations", "objective", "episode", "exact")
ROWS = ("paper", *(f"ablation-{name}" for name in ABLATIONS), "adaptive")
#: Fields that may differ from the row before, and the one that must.
CHANGES = {
    "ablation-inputs": ({"head"}, "head"),
    "ablation-observations": ({"rollout", "optim"}, "rollout"),
    "ablation-objective": ({"objective"}, "objective"),
    "ablation-episode": ({"advantage", "prices", "rollout"}, "advantage"),
    "ablation-exact": ({"advantage", "prices", "optim", "validation"}, "advantage"),
    "adaptive": ({"phases"}, "phases"),
}


@pytest.fixture(scope="module")
def configs():
    return {name: asdict(config) for name, config in family_configs("laptop-sliding", ROWS, [], {}).items()}


@pytest.mark.parametrize("row", ROWS[1:])
def test_a_row_changes_one_thing(configs, row):
    before, now = configs[ROWS[ROWS.index(row) - 1]], configs[row]
    allowed, must = CHANGES[row]
    differ = {name for name in now if now[name] != before[name]}
    assert must in differ
    assert differ <= allowed


def test_the_preset_runs_every_row():
    values = preset.load("cumulative-ablation")["tasks"]["sliding"]
    assert {*values["variants"], *values["ablations"]} == set(ROWS)


GOOD = {"data": {"task": "sliding"}, "recipe": "laptop-sliding", "variants": ["adaptive", "fixed-4"], "seeds": [0, 1]}


def saying(**changes):
    return {"tasks": {"sliding": copy.deepcopy(GOOD) | changes}}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"steps": 3}, "tasks.sliding: expected keys of data"),
        ({"recipe": 3}, "tasks.sliding.recipe: expected a text, got 3"),
        ({"data": []}, "tasks.sliding.data: expected a mapping, got []"),
        ({"sizes": [3, 4], "heads": {"world_model": {}}}, "tasks.sliding.heads: expected none beside several sizes"),
        ({"variants": [["adaptive"]]}, "tasks.sliding.variants: expected a text, got ['adaptive']"),
        ({"seeds": [True]}, "tasks.sliding.seeds: expected a number, got True"),
        ({"seeds": []}, "tasks.sliding.seeds: expected numbers, got none"),
        ({"seeds": [0, 1, 0]}, "tasks.sliding.seeds: expected each number once, got [0, 1, 0]"),
        (
            {"data": {"task": "sokoban", "generator": "medium"}, "evaluate": {"fresh": 3}},
            "tasks.sliding.evaluate.fresh: expected 0 beside the medium levels, of which there are no others, got 3",
        ),
        ({"evaluate": {"out": "/x"}}, "tasks.sliding.evaluate: expected keys of instances"),
        (
            {"training_budgets": {"budgets": [3]}},
            "tasks.sliding.training_budgets: expected variants, got budgets",
        ),
        ({"heads": {"conditioned": {}}}, "tasks.sliding.heads: expected world_model, got conditioned"),
        ({"heads": {"world_model": {"steps": "3"}}}, "heads.world_model.steps: expected a number, got '3'"),
        ({"heads": {"world_model": {}, "plans": "mine"}}, "heads.plans: expected warm-start or adaptive, got 'mine'"),
        ({"warm_starts": "all"}, "tasks.sliding.warm_starts: expected one or each, got 'all'"),
    ],
)
def test_the_entry_and_the_value_are_named(changes, said):
    with pytest.raises(ValueError, match=r".") as caught:
        preset.check(saying(**changes))
    assert said in str(caught.value)


@pytest.mark.parametrize("name", ["", "../x", "/x", "a/b", "\x1b", "x" * 65, ".x"])
def test_a_puzzle_whose_name_is_no_folder_is_refused(name):
    with pytest.raises(ValueError, match="tasks: expected names of letters"):
        preset.check({"tasks": {name: GOOD}})


BARE = {
    "data": {"task": "sliding", "size": 2, "difficulties": [{"length": [1, 3]}], "count": 2},
    "recipe": "laptop-sliding",
    "variants": ["adaptive"],
    "seeds": [0],
}
