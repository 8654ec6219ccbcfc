"""What a preset says of each puzzle, the runs that follow from it, and changes by hand."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("yaml")

import yaml

from recommit.data.starts import held_out
from recommit.reproduce import preset

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
        assert by_name["sft"].sources == (PAPER / "sliding" / "data", PAPER / "sokoban" / "data")
    runs = [run for _, run in preset.every_run(every)]
    assert Counter(run.verb for run in runs) == {"sft": 5, "grpo": 78}
    assert len({run.folder for run in runs}) == 83


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


def test_the_laptop_trains_plans_under_random_depths_with_every_seed():
    for plan in preset.entries(preset.load("laptop"), PAPER):
        names = [run.name for run in plan.runs]
        assert {f"{name}-s{seed}" for name in ("adaptive", "fixed-8", "random") for seed in plan.seeds} <= set(names)
        assert len(names) == len(set(names))


def test_joint_is_checked():
    for joint, message in [
        ("{}", "joint: expected recipe, and sft if need be, got nothing"),
        ("{recipe: paper-sliding, steps: 3}", "joint: expected recipe, and sft if need be, got steps"),
        ("{recipe: paper-sliding, sft: 3}", "joint.sft: expected a list, got 3"),
    ]:
        with pytest.raises(ValueError, match=message):
            preset.check({"joint": yaml.safe_load(joint), "tasks": {}})
    with pytest.raises(ValueError, match=r"tasks\.sliding\.warm_starts: expected none beside joint, got 'each'"):
        preset.load("paper", ["sliding.warm_starts=each"])


def test_the_main_table_needs_the_first_seed_alone():
    main = [run.name for run in plans()["sliding"].main_runs()]
    assert main == ["adaptive-s42", "fixed-1-s42", "fixed-2-s42", "fixed-4-s42", "fixed-8-s42"]


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
    for name, steps, evaluated in (("sliding", 100, 16), ("sokoban", 9, None)):
        plan = changed[name]
        warm, run = plan.warm_runs()[0], plan.main_runs()[0]
        assert (warm.config.optim.steps, warm.config.model.backbone) == (3, "random:tiny")
        assert (run.config.rollout.instances, run.config.optim.steps, run.name) == (8, steps, "adaptive-s7")
        assert (plan.data.count, plan.values["recipe"]) == (60, "paper-sliding")
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
        ("seeds.first=3", "got 'seeds.first=3'"),
        ("ice.seeds=[3]", r"got 'ice\.seeds=\[3\]'"),
        ("sliding=3", "got 'sliding=3'"),
        ("seeds=3", r"tasks\.sliding\.seeds: expected a list, got 3"),
        ("sokoban.seeds=[a]", r"tasks\.sokoban\.seeds: expected numbers, got \['a'\]"),
        ("seeds=[", r"set: expected a value in YAML, got 'seeds=\['"),
        ("warm_starts=all", r"tasks\.sliding\.warm_starts: expected one or each, got all"),
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


@pytest.mark.parametrize("name", ["laptop", "hard"])
def test_a_fresh_split_is_drawn_in_full_and_lies_beside_what_was_read(name):
    for plan in preset.entries(preset.load(name), PAPER):
        told = plan.values["evaluate"]
        drawn = held_out.fresh(plan.data, told["fresh"], told["instances"], tuple(told.get("length", ())))
        assert len(drawn) == told["instances"]
        assert plan.evaluation(0).name == "fresh-s0"
    (plan,) = preset.entries(preset.load(name, ["evaluate.fresh=0"]), PAPER)[:1]
    assert plan.evaluation(0).name == "eval-s0"


def test_hard_levels_are_as_long_as_the_papers():
    """8 to 32 actions; half of the instances have 17 or more."""
    (plan,) = preset.entries(preset.load("hard"), PAPER)
    drawn = held_out.fresh(plan.data, 23, plan.values["evaluate"]["instances"], ())
    lengths = plan.data.puzzle().distance(np.ascontiguousarray(drawn.states))
    assert (lengths.min(), np.median(lengths) >= 16, lengths.max()) == (8, True, 32)
    assert [run.name for run in plan.main_runs()][:1] == ["adaptive-s0"]


def test_heads_are_steps_of_every_seed():
    """Foresight on the plans of the warm start or of the adaptive run; stakes on a graph of the same plans besides."""
    (boxes,) = (entry for entry in preset.entries(preset.load("laptop"), PAPER) if entry.name == "sokoban")
    first = boxes.head_steps()[0]
    assert first.command[:4] == ["recommit", "train", "world-model", "OUT/sokoban/sft-s0"]
    assert first.command[4:6] == ["--out", "OUT/sokoban/family/foresight-s0"]
    assert "--views" in first.command
    (tiles,) = (entry for entry in preset.entries(preset.load("laptop"), PAPER) if entry.name == "sliding")
    verbs = [step.verb for step in tiles.head_steps()]
    assert verbs == ["train world-model", "graph build", "train stakes"] * 3
    foresight, graph, stakes = tiles.head_steps()[3:6]
    assert foresight.sources == graph.sources == (PAPER / "sliding" / "family" / "adaptive-s1",)
    assert stakes.sources == (foresight.out, graph.out)
    assert {step.out for step in tiles.head_steps()} <= set(tiles.folders())
    assert not plans()["sliding"].head_steps()


def test_a_graph_has_what_its_head_will_read():
    whole = preset.load("laptop", ["sliding.heads.stakes={starts: 8, z: true, hidden: 256}"])
    (tiles,) = (entry for entry in preset.entries(whole, PAPER) if entry.name == "sliding")
    _, graph, stakes = tiles.head_steps()[:3]
    assert graph.command[-3:] == ["--starts", "8", "--features"]
    assert stakes.command[-5:] == ["--z", "--hidden", "256", "--seed", "0"]
