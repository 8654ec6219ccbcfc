"""Recipes are read, changed and checked before anything runs."""

from __future__ import annotations

import pytest

from recommit.train.config import load


def test_changes_reach_their_value():
    config = load("laptop-sliding", ["optim.lr=3e-4", "model.shape.width=192", "targets.depths=[4]"])
    assert config.optim.lr == 3e-4
    assert config.model.shape == {"width": 192}
    assert config.targets.depths == (4,)
    assert config.optim.steps == load("laptop-sliding").optim.steps


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("optim.lr", r"set: expected NAME=VALUE, got 'optim\.lr'"),
        ("optim.rate=1", r"optim: expected fields of steps, .*, got rate"),
        ("optim.steps=true", r"optim\.steps: expected int, got True"),
        ("optim.steps=0", r"optim\.steps: expected at least 1, got 0"),
        ("optim.schedule=step", r"optim\.schedule: expected linear, cosine or constant, got step"),
        ("optim.steps.x=0", r"set: optim\.steps\.x: expected a mapping, got int"),
        ("targets.depths=[17]", r"targets\.depths: expected numbers 1\.\.16, got \(17,\)"),
        ("model.policy.decoder.heads=5", r"decoder\.width: expected a multiple of heads"),
    ],
)
def test_wrong_values_are_named(change, message):
    with pytest.raises(ValueError, match=message):
        load("laptop-sliding", [change])


def test_unknown_recipes_are_refused(tmp_path):
    with pytest.raises(ValueError, match="recipe: expected a file or one of boxoban, laptop-"):
        load("desktop")
    (tmp_path / "mine.yaml").write_text("sft: {optim: {steps: 7}}\n")
    assert load(tmp_path / "mine.yaml").optim.steps == 7
    with pytest.raises(ValueError, match="recipe: expected the stage grpo, got none"):
        load(tmp_path / "mine.yaml", stage="grpo")
    (tmp_path / "mine.yaml").write_text("[1, 2]\n")
    with pytest.raises(ValueError, match="recipe: expected a mapping with the stage sft, got list"):
        load(tmp_path / "mine.yaml")


def test_what_is_refused_is_said_in_bounded_words():
    for change in (f"optim.schedule={'x' * 9000}", f"targets.depths=[{'99, ' * 3000}99]"):
        with pytest.raises(ValueError, match=r"expected .*\.\.\.$") as caught:
            load("laptop-sliding", [change])
        assert len(str(caught.value)) < 2100
