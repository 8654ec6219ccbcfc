"""What a preset cannot say is named with its entry and its value, before anything runs."""

from __future__ import annotations

import copy

import pytest

from recommit.reproduce.preset_check import check

GOOD = {"data": {"task": "sliding"}, "recipe": "laptop-sliding", "variants": ["adaptive", "fixed-4"], "seeds": [0, 1]}


def preset(**changes):
    return {"tasks": {"sliding": copy.deepcopy(GOOD) | changes}}


def test_a_preset_that_says_everything_is_fine():
    more = {
        "sft": ["optim.steps=3"],
        "grpo": [],
        "ablations": ["paper"],
        "singles": [1, 4],
        "warm_starts": "each",
        "training_budgets": {"budgets": [3, 6], "variants": ["adaptive"]},
        "heads": {
            "plans": "warm-start",
            "views": 8,
            "foresight": {"steps": 3, "starts": 9},
            "stakes": {
                "starts": 8,
                "length": [4, 8],
                "z": True,
                "hidden": 8,
                "updates": 2,
                "budget": [3],
                "price_observation": 0.1,
            },
        },
        "zero_shot": [{"model": "tiny", "endpoint": "vllm"}],
        "evaluate": {"instances": 8, "length": [4, 8], "budgets": ["loose"], "stop_on_deadlock": True},
    }
    check(preset())
    check(preset(**more))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"steps": 3}, "tasks.sliding: expected keys of data"),
        ({"recipe": 3}, "tasks.sliding.recipe: expected a text, got 3"),
        ({"recipe": "a\0b"}, r"tasks.sliding.recipe: expected a text, got 'a\x00b'"),
        ({"data": []}, "tasks.sliding.data: expected a mapping, got []"),
        ({"sft": [3]}, "tasks.sliding.sft: expected texts, got [3]"),
        ({"variants": "adaptive"}, "tasks.sliding.variants: expected a list, got 'adaptive'"),
        ({"variants": [["adaptive"]]}, "tasks.sliding.variants: expected texts, got [['adaptive']]"),
        ({"seeds": [True]}, "tasks.sliding.seeds: expected numbers, got [True]"),
        ({"seeds": []}, "tasks.sliding.seeds: expected numbers, got none"),
        ({"singles": ["4"]}, "tasks.sliding.singles: expected numbers, got ['4']"),
        ({"zero_shot": ["tiny"]}, "tasks.sliding.zero_shot: expected mappings with a model, got ['tiny']"),
        ({"zero_shot": [{}]}, "tasks.sliding.zero_shot: expected mappings with a model, got {}"),
        ({"zero_shot": [{"model": 3}]}, "tasks.sliding.zero_shot.model: expected a text, got 3"),
        ({"zero_shot": [{"model": "tiny"}], "evaluate": {"fresh": 3}}, "expected none beside evaluate.fresh"),
        ({"seconds": {"data": 0}}, "tasks.sliding.seconds: expected seconds above 0 of each stage, got {'data': 0}"),
        ({"evaluate": {"out": "/x"}}, "tasks.sliding.evaluate: expected keys of instances"),
        (
            {"training_budgets": {"budgets": [3]}},
            "tasks.sliding.training_budgets: expected budgets and variants, got budgets",
        ),
        (
            {"training_budgets": {"budgets": [3.5], "variants": []}},
            "training_budgets.budgets: expected numbers, got [3.5]",
        ),
        ({"heads": {"stakes": {}}}, "tasks.sliding.heads: expected foresight, which stakes begin with, got stakes"),
        ({"heads": {"foresight": {"lr": 1}}}, "tasks.sliding.heads.foresight: expected keys of steps, starts, got lr"),
        ({"heads": {"foresight": 3}}, "tasks.sliding.heads.foresight: expected keys of steps, starts, got int"),
        ({"heads": {"foresight": {"steps": "3"}}}, "tasks.sliding.heads: expected a number for steps, got '3'"),
        ({"heads": {"foresight": {}, "plans": "mine"}}, "heads.plans: expected warm-start or adaptive, got 'mine'"),
        ({"heads": {"foresight": {}, "stakes": {"budget": 3}}}, "heads.stakes.budget: expected a list, got 3"),
        ({"heads": {"foresight": {}, "stakes": {"z": 3}}}, "tasks.sliding.heads: expected true or false for z, got 3"),
        ({"warm_starts": "all"}, "tasks.sliding.warm_starts: expected one or each, got all"),
    ],
)
def test_the_entry_and_the_value_are_named(changes, said):
    with pytest.raises(ValueError, match=r".") as caught:
        check(preset(**changes))
    assert said in str(caught.value)


@pytest.mark.parametrize("name", ["", "../x", "/x", "a/b", "\x1b", "x" * 65, ".x"])
def test_a_puzzle_whose_name_is_no_folder_is_refused(name):
    with pytest.raises(ValueError, match="tasks: expected names of letters"):
        check({"tasks": {name: GOOD}})


def test_what_is_missing_is_named():
    for key in GOOD:
        with pytest.raises(ValueError, match=f"tasks.sliding: expected {key}, got "):
            check({"tasks": {"sliding": {name: value for name, value in GOOD.items() if name != key}}})
